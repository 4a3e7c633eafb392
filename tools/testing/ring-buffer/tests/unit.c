// SPDX-License-Identifier: GPL-2.0
/* The functions of the API, one after the other, in one thread. */
#include "test.h"

const struct scenario unit_scenarios[] = {
	{ }
};
