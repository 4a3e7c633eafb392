/* SPDX-License-Identifier: GPL-2.0 */
/* With CONFIG_PREEMPT cond_resched() is nothing. Here a CPU that waits has to say so. */
#include_next <linux/sched.h>

#undef cond_resched
#define cond_resched()	__cond_resched()
int __cond_resched(void);
