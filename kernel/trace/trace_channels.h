/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The channels of a session: the one place that says which they are; a part of trace.h.
 *
 * A session publishes an array, which never changes, and replaces it when a channel joins or
 * leaves. So it can be walked in any context.
 */
#ifndef _KERNEL_TRACE_CHANNELS_H
#define _KERNEL_TRACE_CHANNELS_H

#include <linux/rcupdate.h>

struct seq_file;
struct trace_array;
struct trace_buffer;

/**
 * struct trace_channels - the channels of a session
 * @rcu: frees it where nobody waits for that
 * @nr:  number of channels, 1 at least
 * @ch:  the channels
 */
struct trace_channels {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct trace_array	*ch[] __counted_by(nr);
};

/**
 * struct trace_member_iter - a walk of a session
 * @own:      the session itself, until it was found; NULL to walk its channels only
 * @channels: the channels, or NULL
 * @i:        number of the next one
 */
struct trace_member_iter {
	struct trace_array		*own;
	const struct trace_channels	*channels;
	unsigned int			i;
};

static inline struct trace_array *trace_next_member(struct trace_member_iter *it)
{
	struct trace_array *own = it->own;

	it->own = NULL;
	if (own)
		return own;
	return it->channels && it->i < it->channels->nr ? it->channels->ch[it->i++] : NULL;
}

/*
 * Under trace_types_lock or RCU; or under the mutex or the lock of the session's snapshots; of a
 * kept snapshot, also under event_mutex. A walk goes on with the array that it began with.
 */
#define trace_channels_of(tr)	rcu_dereference_raw((tr)->channels)
#define for_each_channel(ch, tr)						\
	for (struct trace_member_iter it_ = { .channels = trace_channels_of(tr) };	\
	     ((ch) = trace_next_member(&it_));)
#define for_each_session_member(m, tr)						\
	for (struct trace_member_iter it_ = trace_members_of(tr);		\
	     ((m) = trace_next_member(&it_));)

static inline unsigned int trace_count_channels(const struct trace_channels *channels)
{
	return channels ? channels->nr : 0;
}

#define trace_nr_channels(tr)	trace_count_channels(trace_channels_of(tr))

struct trace_member_iter trace_members_of(struct trace_array *tr);
struct trace_channels *trace_channels_with(struct trace_array *tr, struct trace_array *ch);
struct trace_channels *trace_channels_without(struct trace_array *tr, struct trace_array *ch);
struct trace_channels *
trace_channels_set(struct trace_array *tr, struct trace_channels *channels,
		   struct trace_array *ch, struct trace_array *session);

unsigned long trace_lost(struct trace_buffer *buffer, int cpu);
void trace_show_channel(struct seq_file *m, struct trace_array *ch, bool on, unsigned long kb);

#endif /* _KERNEL_TRACE_CHANNELS_H */
