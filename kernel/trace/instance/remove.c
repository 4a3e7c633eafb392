// SPDX-License-Identifier: GPL-2.0
/*
 * Remove instances that nothing holds.
 */
#include "internal.h"

/**
 * instance_stop() - end what user space and function probes have set up
 * @tr: the instance; it is retired, or nothing finds it any more
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 */
void instance_stop(struct trace_array *tr)
{
	int i;

	tracing_set_nop(tr);
	/* The nop tracer refuses no change of a flag. */
	for (i = 0; i < TRACE_FLAGS_MAX_SIZE; i++) {
		if (INSTANCE_OWN_FLAGS & 1ULL << i)
			set_tracer_flag(tr, 1ULL << i, 0);
	}
	trace_forget_maxlat(tr);
	clear_ftrace_function_probes(tr);
}

/**
 * instance_remove() - remove an instance
 * @tr: the instance; it may be one that shows a kept snapshot
 *
 * Its events, triggers and snapshots go with it; its channels become normal instances.
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0; -EBUSY if it has references, is a channel, or a kept snapshot of it is open.
 */
int instance_remove(struct trace_array *tr)
{
	struct trace_channels *channels;
	int ret;

	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	if (tr->ref > 1 || tr->trace_ref || tr->session)
		return -EBUSY;
	ret = trace_snapshot_remove(tr);
	if (ret)
		return min(ret, 0);
	list_del_init(&tr->list);
	channels = instance_disband_session(tr);
	instance_stop(tr);
	instance_dismantle(tr);
	/* There was a grace period. */
	instance_let_go(channels);
	return 0;
}
