// SPDX-License-Identifier: GPL-2.0
/*
 * The hook at the race points: none, until a test sets one.
 */
#include "../internal.h"

void (*rb_race_hook)(enum rb_race point, const char *name);
