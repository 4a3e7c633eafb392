// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: which channels an instance has, and what it does to all of them.
 *
 * A channel is an instance that a session groups, and a session is a trace array that has
 * channels. Each keeps its files, events, options and rings.
 *
 * The array of trace_channels.h says which channels there are. A channel joins in this order: the
 * array is published, then the channel takes over the switch of the session. It leaves in this
 * order: the array is published, a grace period passes, then its own switch counts again.
 *
 * ========================  ====================  =====================================
 * Writer                    Reader                What it orders
 * ========================  ====================  =====================================
 * trace_session_switched:A  session_add:A         a switch; the channels
 * ========================  ====================  =====================================
 */
#include <linux/context_tracking.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/stringhash.h>

#include "../trace_text.h"
#include "internal.h"

/* A cut has interrupts off for so many rings at most, if a session has several channels. */
unsigned int session_cut_max = 4096;

/*
 * May the writer of "channels" do to an instance what the session does: read, erase and switch it?
 * It could if it can open its "trace".
 */
static int session_permission(struct trace_array *ch, const struct cred *opener)
{
	struct qstr name = QSTR_INIT("trace", strlen("trace"));
	struct dentry *trace;
	int ret = -EACCES;

	/* At the boot there was not enough memory for it. */
	if (!ch->dir)
		return ret;
	name.hash = full_name_hash(ch->dir, name.name, name.len);
	trace = d_lookup(ch->dir, &name);
	if (trace && d_really_is_positive(trace))
		ret = trace_text_permission(trace, MAY_READ | MAY_WRITE, opener);
	dput(trace);
	return ret;
}

static int session_may_add(struct trace_array *tr, struct trace_array *ch,
			   const struct cred *opener)
{
	int ret;

	if (tr->retired)
		return -ENODEV;
	if (!ch || ch->retired)
		return -ENOENT;
	if (trace_is_kept(ch))
		return -EPERM;
	if (ch->session == tr)
		return -EEXIST;
	ret = session_permission(ch, opener);
	if (ret)
		return ret;
	if (ch == tr || tr->session || trace_channels_of(ch))
		return -ELOOP;
	if (ch->session)
		return -EBUSY;
	if (ch->clock_id != tr->clock_id)
		return -EINVAL;
	/* The session itself, its channels, and this one, unless that is the first. */
	return trace_nr_channels(tr) &&
	       (2 + trace_nr_channels(tr)) * num_possible_cpus() > session_cut_max ? -E2BIG : 0;
}

static int session_add(struct trace_array *tr, struct trace_array *ch)
{
	struct trace_channels *channels, *old;

	lockdep_assert_held(&trace_types_lock);
	channels = trace_channels_with(tr, ch);
	if (!channels)
		return -ENOMEM;
	old = trace_snapshot_set_channels(tr, channels, ch, tr);
	if (IS_ERR(old)) {
		kvfree(channels);
		return PTR_ERR(old);
	}
	kvfree_rcu(old, rcu);
	/* Pairs with trace_session_switched:A. RBB(session_add:A) */
	smp_mb();
	ring_buffer_follow_switch(ch->array_buffer.buffer, tr->array_buffer.buffer);
	/* The channel may have got its rings meanwhile. */
	trace_snapshot_add_rings(ch);
	return 0;
}

/**
 * trace_session_join() - make an instance a channel of a session
 * @tr:     the session
 * @name:   name of the instance
 * @opener: as of trace_text_permission()
 *
 * Context: May sleep, with the credentials of the writer.
 * Return: 0; -ENODEV if @tr is retired; -ENOENT if there is no such instance; -ELOOP if @tr
 *	   is a channel, or the instance is @tr or a session; -EEXIST if it is a channel of @tr
 *	   already, -EBUSY of another session; -EPERM if it is read-only, as a kept snapshot is;
 *	   -EACCES if the writer or @opener may not read and write its "trace"; -EINVAL if it has
 *	   another clock; -E2BIG if a snapshot of @tr would exchange more than session_cut_max
 *	   rings; -EXFULL as trace_snapshot_set_channels(); -ENOMEM. On an error nothing has
 *	   changed.
 */
int trace_session_join(struct trace_array *tr, const char *name, const struct cred *opener)
{
	struct trace_array *ch;

	guard(mutex)(&trace_types_lock);
	ch = trace_array_find(name);
	return session_may_add(tr, ch, opener) ?: session_add(tr, ch);
}

/**
 * trace_session_switched() - have the channels of a session be on or off with it
 * @tr: the session, or any other trace array; its switch was changed
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void trace_session_switched(struct trace_array *tr)
{
	struct trace_array *ch;
	bool rcu;

	/*
	 * Pairs with session_add:A. Either this finds the channel, or that sees the switch.
	 * RBB(trace_session_switched:A)
	 */
	smp_mb();
	guard(preempt_notrace)();
	if (!READ_ONCE(tr->channels))
		return;
	/* A CPU in hotplug cannot use the channels. A work comes back to this. */
	if (!ring_buffer_is_alive()) {
		ring_buffer_tell_off();
		return;
	}
	/* RCU may not watch here. This makes it watch, and is not only for warnings. */
	rcu = warn_rcu_enter();
	rcu_read_lock();
	for_each_channel(ch, tr)
		ring_buffer_follow_switch(ch->array_buffer.buffer, tr->array_buffer.buffer);
	rcu_read_unlock();
	warn_rcu_exit(rcu);
}

/**
 * instance_leave_session() - end the membership of a trace array
 * @tr: the trace array; nothing happens if it is no channel
 *
 * Its own switch counts again.
 *
 * Context: May sleep, trace_types_lock is held.
 */
void instance_leave_session(struct trace_array *tr)
{
	struct trace_array *session = tr->session;
	struct trace_channels *old;

	lockdep_assert_held(&trace_types_lock);
	if (!session)
		return;
	old = trace_snapshot_set_channels(session, trace_channels_without(session, tr), tr, NULL);
	/* Until then trace_session_switched() may switch it. */
	synchronize_rcu();
	ring_buffer_follow_switch(tr->array_buffer.buffer, NULL);
	kvfree(old);
}

/**
 * trace_session_leave() - end the membership of a channel
 * @tr:   the session
 * @name: name of the channel
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
 * @tr: the trace array
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: the channels, for instance_let_go() under the same lock; or NULL.
 */
struct trace_channels *instance_disband_session(struct trace_array *tr)
{
	return trace_channels_of(tr) ? trace_snapshot_set_channels(tr, NULL, NULL, NULL) : NULL;
}

/**
 * instance_let_go() - end what instance_disband_session() has begun
 * @channels: its return value; a grace period has passed since
 *
 * Context: May sleep, trace_types_lock is held.
 */
void instance_let_go(struct trace_channels *channels)
{
	struct trace_member_iter it = { .channels = channels };
	struct trace_array *ch;

	lockdep_assert_held(&trace_types_lock);
	while ((ch = trace_next_member(&it)))
		ring_buffer_follow_switch(ch->array_buffer.buffer, NULL);
	kvfree(channels);
}

/**
 * trace_session_end() - end the memberships of all channels of a trace array
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void trace_session_end(struct trace_array *tr)
{
	struct trace_channels *channels;

	guard(mutex)(&trace_types_lock);
	channels = instance_disband_session(tr);
	if (!channels)
		return;
	synchronize_rcu();
	instance_let_go(channels);
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
	lockdep_assert_held(&trace_types_lock);
	if (!tr->session || tr->clock_id == clock_id)
		return 0;
	tracing_log(tr, "trace_clock", "error", tr->session->name ?: "top",
		    "The clock is that of the session: set it there", 0);
	return -EBUSY;
}

/**
 * trace_session_erase() - erase the records of the channels of a trace array
 * @tr:  the trace array; its own records were erased
 * @cpu: CPU of the records, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 * Return: 0; -EBUSY if the snapshot of a channel's latency tracer is read: that one stays.
 */
int trace_session_erase(struct trace_array *tr, int cpu)
{
	struct trace_array *ch;
	int err, ret = 0;

	guard(mutex)(&trace_types_lock);
	for_each_channel(ch, tr) {
		err = ch->current_trace->print_max ? trace_snapshot_erase_max(ch, cpu) : 0;
		ret = ret ?: err;
		if (cpu == RING_BUFFER_ALL_CPUS)
			tracing_reset_all_cpus(&ch->array_buffer);
		else
			tracing_reset_cpu(&ch->array_buffer, cpu);
	}
	return ret;
}
