// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: which channels an instance has, and what it does to all of them.
 *
 * A channel is an instance that a session groups, and a session is a trace array that has
 * channels. Each keeps its files, events, options and rings.
 */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>

#include "internal.h"

static int session_may_add(struct trace_array *tr, struct trace_array *ch)
{
	if (tr->retired)
		return -ENODEV;
	if (!ch || ch->retired)
		return -ENOENT;
	if (trace_is_kept(ch))
		return -EPERM;
	if (ch == tr || tr->session || !list_empty(&ch->channels))
		return -ELOOP;
	if (ch->session)
		return ch->session == tr ? -EEXIST : -EBUSY;
	return ch->clock_id == tr->clock_id ? 0 : -EINVAL;
}

/**
 * trace_session_join() - make an instance a channel of a session
 * @tr:   the session
 * @name: name of the instance
 *
 * Context: May sleep.
 * Return: 0; -ENODEV if @tr is retired; -ENOENT if there is no such instance; -ELOOP if @tr
 *	   is a channel, or the instance is @tr or a session; -EEXIST if it is a channel of @tr
 *	   already, -EBUSY of another session; -EPERM for the instance of a kept snapshot;
 *	   -EINVAL if it has another clock; -EXFULL as trace_snapshot_add_channel(). On an error
 *	   nothing has changed.
 */
int trace_session_join(struct trace_array *tr, const char *name)
{
	struct trace_array *ch;
	int ret;

	guard(mutex)(&trace_types_lock);
	ch = trace_array_find(name);
	ret = session_may_add(tr, ch);
	if (ret)
		return ret;
	ret = trace_snapshot_add_channel(tr, ch);
	if (ret)
		return ret;
	ch->session = tr;
	list_add_tail(&ch->channel, &tr->channels);
	ring_buffer_follow(ch->array_buffer.buffer, tr->array_buffer.buffer);
	return 0;
}

static void session_remove(struct trace_array *ch)
{
	trace_snapshot_del_channel(ch->session, ch);
	list_del(&ch->channel);
	ch->session = NULL;
}

/**
 * instance_leave_session() - end the membership of a trace array
 * @tr: the trace array
 *
 * Context: May sleep, trace_types_lock is held.
 */
void instance_leave_session(struct trace_array *tr)
{
	lockdep_assert_held(&trace_types_lock);
	if (!tr->session)
		return;
	session_remove(tr);
	ring_buffer_unfollow(tr->array_buffer.buffer);
}

/**
 * trace_session_leave() - end the membership of a channel
 * @tr:   the session
 * @name: name of the channel
 *
 * Its own switch counts again.
 *
 * Context: May sleep.
 * Return: 0, or -ENOENT if @tr has no such channel.
 */
int trace_session_leave(struct trace_array *tr, const char *name)
{
	struct trace_array *ch;

	guard(mutex)(&trace_types_lock);
	ch = trace_array_find(name);
	if (!ch || ch->session != tr)
		return -ENOENT;
	instance_leave_session(ch);
	return 0;
}

/**
 * instance_disband_session() - begin to end the memberships of all channels of a trace array
 * @tr:   the trace array, which is about to be removed
 * @left: gets their ring buffers; behind a grace period ring_buffer_let_go() has to follow,
 *	  under the same lock
 *
 * Context: May sleep, trace_types_lock is held.
 */
void instance_disband_session(struct trace_array *tr, struct hlist_head *left)
{
	struct trace_array *ch, *next;

	lockdep_assert_held(&trace_types_lock);
	list_for_each_entry_safe(ch, next, &tr->channels, channel)
		session_remove(ch);
	ring_buffer_disband(tr->array_buffer.buffer, left);
}

/**
 * instance_end_session() - end the memberships of all channels of a trace array
 * @tr: the trace array
 *
 * Context: May sleep, trace_types_lock is held.
 */
void instance_end_session(struct trace_array *tr)
{
	HLIST_HEAD(left);

	if (list_empty(&tr->channels))
		return;
	instance_disband_session(tr, &left);
	synchronize_rcu();
	ring_buffer_let_go(&left);
}

/**
 * trace_session_end() - end the memberships of all channels of a trace array
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void trace_session_end(struct trace_array *tr)
{
	guard(mutex)(&trace_types_lock);
	instance_end_session(tr);
}

/**
 * trace_session_may_set_clock() - can a trace array get this clock?
 * @tr:       the trace array
 * @clock_id: the clock
 *
 * A session and its channels have one clock.
 *
 * Context: trace_types_lock is held.
 * Return: 0; -EBUSY if @tr is a channel and the session has another clock.
 */
int trace_session_may_set_clock(struct trace_array *tr, int clock_id)
{
	static const char * const errs[] = { "The clock is that of the session: set it there" };

	lockdep_assert_held(&trace_types_lock);
	if (!tr->session || tr->clock_id == clock_id)
		return 0;
	tracing_log_err(tr, "trace_clock", tr->session->name ?: "top", (const char **)errs, 0, 0);
	return -EBUSY;
}

/**
 * trace_session_erase() - erase the records of the channels of a trace array
 * @tr:  the trace array; its own records were erased
 * @cpu: CPU of the records, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 */
void trace_session_erase(struct trace_array *tr, int cpu)
{
	struct trace_array *ch;

	guard(mutex)(&trace_types_lock);
	for_each_channel(ch, tr) {
		if (ch->current_trace->print_max)
			trace_snapshot_erase_max(ch, cpu);
		if (cpu == RING_BUFFER_ALL_CPUS)
			tracing_reset_all_cpus(&ch->array_buffer);
		else
			tracing_reset_cpu(&ch->array_buffer, cpu);
	}
}
