// SPDX-License-Identifier: GPL-2.0
/*
 * Stops by a panic, an oops, a warning.
 */
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "internal.h"

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

/**
 * stop_crash() - stop each trace array that has a line for it
 * @kind: the crash
 *
 * Context: Any context, including NMI.
 */
void stop_crash(enum stop_kind kind)
{
	struct stop_line *line;

	/* Without RCU watching, the list cannot be walked: a warning may come from there. */
	if (list_empty(&stop_crash_lines) || !rcu_is_watching())
		return;
	guard(preempt_notrace)();
	list_for_each_entry_rcu(line, &stop_crash_lines, crash, true) {
		if (line->kind == kind)
			stop_by(line);
	}
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

static int stop_die(struct notifier_block *self, unsigned long event, void *unused)
{
	if (event == DIE_OOPS)
		stop_crash(STOP_OOPS);
	return NOTIFY_DONE;
}

static int stop_panic(struct notifier_block *self, unsigned long event, void *unused)
{
	stop_crash(STOP_PANIC);
	return NOTIFY_DONE;
}

/*
 * Before the snapshots of snapshot_on: else other CPUs record behind them, and the recorder of
 * the next boot has that as its snapshot. They have the same priority, and come later: those
 * are registered by fs_initcall().
 */
static struct notifier_block stop_die_notifier = {
	.notifier_call	= stop_die,
	.priority	= INT_MAX - 2,
};

static struct notifier_block stop_panic_notifier = {
	.notifier_call	= stop_panic,
	.priority	= INT_MAX - 2,
};

static int __init stop_crash_init(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &stop_panic_notifier);
	register_die_notifier(&stop_die_notifier);
	return 0;
}
early_initcall(stop_crash_init);
