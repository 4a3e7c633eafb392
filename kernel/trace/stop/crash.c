// SPDX-License-Identifier: GPL-2.0
/*
 * Stops by a panic, an oops, a warning.
 */
#include <linux/kexec.h>
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
/* How many of them are for a panic */
static unsigned int stop_panics;

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
	if (line->kind == STOP_PANIC)
		WRITE_ONCE(stop_panics, stop_panics + 1);
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
	if (line->kind == STOP_PANIC)
		WRITE_ONCE(stop_panics, stop_panics - 1);
}

/*
 * Stop each trace array that has a line for it. Any context, including NMI. Return: true if the
 * stop of the top one is delayed.
 */
static bool stop_crash(enum stop_kind kind)
{
	struct stop_line *line;
	bool later = false;

	if (list_empty(&stop_crash_lines))
		return false;
	guard(preempt_notrace)();
	/*
	 * RCU waits for no walk of the list where it does not watch, nor on a CPU in hotplug. A
	 * warning may come from there, or from a walk. A panic stops all: nothing records behind
	 * it.
	 */
	if (!rcu_is_watching() || !ring_buffer_is_alive() || this_cpu_xchg(stop_crashes, 1)) {
		if (kind == STOP_PANIC && READ_ONCE(stop_panics))
			tracing_off_all();
		return false;
	}
	list_for_each_entry_rcu(line, &stop_crash_lines, crash, true) {
		if (line->kind != kind)
			continue;
		stop_by(line);
		if (line->tr->flags & TRACE_ARRAY_FL_GLOBAL)
			later = READ_ONCE(line->pending);
	}
	this_cpu_write(stop_crashes, 0);
	return later;
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
 * stop_oops() - stop because of an oops
 * @last: a crash kernel starts at the end of the oops, and no panic comes
 *
 * Context: Any context, including NMI.
 * Return: as trace_stop_oops().
 */
bool stop_oops(bool last)
{
	bool later = stop_crash(STOP_OOPS);

	if (last)
		stop_crash(STOP_PANIC);
	return later;
}

/**
 * trace_stop_oops() - stop because of an oops
 *
 * An oops that would end in a panic starts the crash kernel itself, if there is one: it stops as
 * a panic does. The snapshot of snapshot_on comes later, behind what ftrace_dump_on_oops prints.
 *
 * Context: Any context, including NMI. Called where an oops begins.
 * Return: true if a line stops the top trace array later: until then that records the oops.
 */
bool trace_stop_oops(void)
{
	return stop_oops(kexec_crash_loaded() && kexec_should_crash(current));
}

/**
 * trace_stop_panic() - stop because of a panic
 *
 * Before other CPUs are stopped, and before a crash kernel is started. The snapshot comes
 * later, as in an oops. On a CPU in hotplug, one line is enough to stop all ring buffers.
 *
 * Context: Any context, including NMI. Called where a panic begins, on its CPU.
 */
void trace_stop_panic(void)
{
	stop_crash(STOP_PANIC);
}
