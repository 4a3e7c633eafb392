// SPDX-License-Identifier: GPL-2.0
/*
 * Stops by a panic, an oops, a warning.
 */
#include <linux/rculist.h>
#include <linux/trace_stop.h>

#include "internal.h"

/*
 * A crash of this CPU stops tracing: a second one, within the stop, would not end. (No bool: on
 * s390, xchg() of a byte returns the bytes beside it as well, which make a bool true.)
 */
static DEFINE_PER_CPU(int, stop_crashes);

/* The lines of all trace arrays, in a list that can be walked in any context. */
static LIST_HEAD(stop_crash_lines);

/**
 * stop_crash_add() - let crashes stop a trace array
 * @line: a line for a crash
 *
 * Context: May sleep, stop_mutex is held.
 */
void stop_crash_add(struct stop_line *line)
{
	lockdep_assert_held(&stop_mutex);
	list_add_tail_rcu(&line->crash, &stop_crash_lines);
}

/**
 * stop_crash_del() - no longer let crashes stop a trace array
 * @line: the line; crashes may find it for another grace period of RCU
 *
 * Context: May sleep, stop_mutex is held.
 */
void stop_crash_del(struct stop_line *line)
{
	lockdep_assert_held(&stop_mutex);
	list_del_rcu(&line->crash);
}

/* Stop each trace array that has a line for it. Any context, including NMI. */
static void stop_crash(enum stop_kind kind)
{
	struct stop_line *line;

	/* Without RCU watching, the list cannot be walked: a warning may come from there. */
	if (list_empty(&stop_crash_lines) || !rcu_is_watching())
		return;
	guard(preempt_notrace)();
	if (this_cpu_xchg(stop_crashes, 1))
		return;
	list_for_each_entry_rcu(line, &stop_crash_lines, crash, true) {
		if (line->kind == kind)
			stop_by(line);
	}
	this_cpu_write(stop_crashes, 0);
}

/**
 * trace_stop_warn() - stop because of a warning
 *
 * Context: Any context, including NMI.
 */
void trace_stop_warn(void)
{
	stop_crash(STOP_WARN);
}

/**
 * trace_stop_oops() - stop because of an oops
 *
 * The snapshot of snapshot_on comes later, behind what ftrace_dump_on_oops prints.
 *
 * Context: Any context, including NMI. Called where an oops begins.
 */
void trace_stop_oops(void)
{
	stop_crash(STOP_OOPS);
}

/**
 * trace_stop_panic() - stop because of a panic
 *
 * Before other CPUs are stopped, and before a crash kernel is started. The snapshot comes
 * later, as in an oops.
 *
 * Context: Any context, including NMI. Called where a panic begins, on its CPU.
 */
void trace_stop_panic(void)
{
	stop_crash(STOP_PANIC);
}
