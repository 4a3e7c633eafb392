// SPDX-License-Identifier: GPL-2.0
/*
 * Since when a task has its PID, program and credentials, and records are cleared.
 *
 * The clocks are those that CPUs agree on. "local" is one where the clock of the scheduler is
 * stable. While the kernel adjusts the time, "mono" and "boot" may go back by some nanoseconds, see
 * ktime_get_mono_fast_ns(): a record so shortly before a stamp may have a later time than that.
 */
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>

#include "internal.h"

static u64 (*const stamp_clocks[TRACE_STAMP_NR])(void) = {
	[TRACE_STAMP_LOCAL]	= trace_clock_local,
	[TRACE_STAMP_GLOBAL]	= trace_clock_global,
	[TRACE_STAMP_MONO]	= ktime_get_mono_fast_ns,
	[TRACE_STAMP_BOOT]	= ktime_get_boot_fast_ns,
};

/* An instance is shown, or a copy of one is open: see the section on the key in internal.h. */
DEFINE_STATIC_KEY_FALSE(trace_view_used);

/**
 * trace_stamp_take() - take the time in all clocks
 * @stamp: where it is stored
 *
 * Context: Any context.
 */
void trace_stamp_take(struct trace_stamp *stamp)
{
	int i;

	for (i = 0; i < TRACE_STAMP_NR; i++)
		atomic64_set(&stamp->at[i], stamp_clocks[i]());
}

/**
 * trace_stamp_task() - note that a task begins to have its PID, program or credentials
 * @task: the task: current, or one that does not run yet
 *
 * The caller publishes them afterwards.
 *
 * Context: Any context.
 */
void trace_stamp_task(struct task_struct *task)
{
	trace_stamp_take(&task->trace_stamp);
	/*
	 * A reader that sees the new PID or credentials sees the stamp. Pairs with
	 * view_thread_read:A and view_thread_check:A. RBB(trace_stamp_task:A)
	 */
	smp_wmb();
}

/* Do CPUs agree on it? */
static bool stamp_clock_is_exact(enum trace_stamp_clock clock)
{
#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
	return clock != TRACE_STAMP_LOCAL || sched_clock_stable();
#else
	return true;
#endif
}

/**
 * trace_stamp_clock() - find the stamp for the clock of an instance
 * @tr: the instance
 *
 * Context: Any context.
 * Return: an &enum trace_stamp_clock; -EOPNOTSUPP if the clock has none, or CPUs do not agree
 *	   on it.
 */
int trace_stamp_clock(struct trace_array *tr)
{
	int i;

	for (i = 0; i < TRACE_STAMP_NR; i++) {
		if (trace_array_clock_is(tr, stamp_clocks[i]))
			return stamp_clock_is_exact(i) ? i : -EOPNOTSUPP;
	}
	return -EOPNOTSUPP;
}

/**
 * trace_stamp_now() - read a clock
 * @clock: the clock
 *
 * Context: Any context.
 * Return: its time.
 */
u64 trace_stamp_now(enum trace_stamp_clock clock)
{
	return stamp_clocks[clock]();
}

/**
 * trace_stamp_at() - read a stamp
 * @stamp: the stamp
 * @clock: the clock
 *
 * Context: Any context.
 * Return: the time.
 */
u64 trace_stamp_at(const struct trace_stamp *stamp, enum trace_stamp_clock clock)
{
	return atomic64_read(&stamp->at[clock]);
}
