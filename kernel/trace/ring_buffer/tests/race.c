// SPDX-License-Identifier: GPL-2.0
/*
 * What happens at the race points: nothing, until a test wants it.
 */
#include "../internal.h"

void (*rb_race_hook)(enum rb_race point, const char *name);
