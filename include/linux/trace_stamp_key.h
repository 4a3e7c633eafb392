/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take the stamps of tasks only while they are wanted.
 */
#ifndef _LINUX_TRACE_STAMP_KEY_H
#define _LINUX_TRACE_STAMP_KEY_H

#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/trace_stamp.h>

#ifdef CONFIG_TRACE_PROC_VIEW
DECLARE_STATIC_KEY_FALSE(trace_view_used);

/**
 * trace_stamp_new() - note that a task begins to have its PID or program
 * @task: the task: current, or one that does not run yet
 *
 * The caller publishes them afterwards. While no stamp is wanted, none is taken: see the section
 * on the key in kernel/trace/proc_view/internal.h.
 *
 * Context: Any context.
 */
static __always_inline void trace_stamp_new(struct task_struct *task)
{
	if (static_branch_unlikely(&trace_view_used))
		trace_stamp_task(task);
}

/**
 * trace_stamp_begin() - note that a task begins to have its credentials
 * @task: current
 *
 * The caller publishes them until trace_stamp_end(), and so before a grace period of RCU ends.
 *
 * Context: Any context. Disables preemption until trace_stamp_end().
 */
static __always_inline void trace_stamp_begin(struct task_struct *task)
{
	preempt_disable();
	trace_stamp_new(task);
}

/**
 * trace_stamp_end() - end trace_stamp_begin()
 *
 * Context: Any context.
 */
static __always_inline void trace_stamp_end(void)
{
	preempt_enable();
}
#else
static inline void trace_stamp_new(struct task_struct *task) { }
static inline void trace_stamp_begin(struct task_struct *task) { }
static inline void trace_stamp_end(void) { }
#endif

#endif /* _LINUX_TRACE_STAMP_KEY_H */
