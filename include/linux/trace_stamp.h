/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since when a task has its PID, program and credentials, in the clocks of tracing.
 */
#ifndef _LINUX_TRACE_STAMP_H
#define _LINUX_TRACE_STAMP_H

#include <linux/atomic.h>
#include <linux/types.h>

/* The clocks that have a stamp, by their names in trace_clock */
enum trace_stamp_clock {
	TRACE_STAMP_LOCAL,
	TRACE_STAMP_GLOBAL,
	TRACE_STAMP_MONO,
	TRACE_STAMP_BOOT,
	TRACE_STAMP_NR
};

/**
 * struct trace_stamp - one moment in all clocks
 * @at: the time of each clock
 */
struct trace_stamp {
	atomic64_t	at[TRACE_STAMP_NR];
};

struct task_struct;

#ifdef CONFIG_TRACE_PROC_VIEW
void trace_stamp_task(struct task_struct *task);
#else
static inline void trace_stamp_task(struct task_struct *task) { }
#endif

#endif /* _LINUX_TRACE_STAMP_H */
