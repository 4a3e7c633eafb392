// SPDX-License-Identifier: GPL-2.0
/*
 * Construct trace arrays: instances, and those that show kept snapshots.
 *
 * Inodes of tracefs and eventfs point to a trace array and to its options. Such an inode can be
 * opened long after its file was removed, because somebody may have an O_PATH descriptor of
 * it. So two counts keep a trace array:
 *
 * &trace_array.ref    It is in use. It stays in the list of trace arrays, with all its parts.
 * &trace_array.pins   Its memory, which open() looks at. One is that of its existence, and one
 *		       that of its directory: each dentry below holds the directory.
 *
 * open() takes a reference by trace_array_get(), which fails as soon as the trace array has
 * left the list. No address has to be compared, and none is that of another trace array.
 *
 * The channels of a session, see trace_channels.h, are changed and shown here as well: instances
 * and kept snapshots have them.
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracefs.h>

#include "trace.h"

/* Only memory is freed here: the locks of the caller are unknown. */
static void trace_array_unpin(struct trace_array *tr)
{
	int i;

	if (!refcount_dec_and_test(&tr->pins))
		return;
	for (i = 0; i < tr->nr_topts; i++)
		kfree(tr->topts[i].topts);
	kfree(tr->topts);
	free_cpumask_var(tr->tracing_cpumask);
	kfree(tr->name);
	kfree(tr);
}

static void trace_array_end_dir(struct tracefs_pin *pin)
{
	trace_array_unpin(container_of(pin, struct trace_array, pin));
}

/**
 * trace_array_alloc() - construct a trace array that records nothing
 * @name: its name
 *
 * The trace array is in no list, so its files cannot be opened.
 *
 * Context: May sleep.
 * Return: the trace array, for trace_array_free(); NULL if there is not enough memory.
 */
struct trace_array *trace_array_alloc(const char *name)
{
	struct trace_array *tr = kzalloc(sizeof(*tr), GFP_KERNEL);

	if (!tr)
		return NULL;
	refcount_set(&tr->pins, 1);
	tr->pin.release = trace_array_end_dir;
	tr->name = kstrdup(name, GFP_KERNEL);
	if (!tr->name || !alloc_cpumask_var(&tr->tracing_cpumask, GFP_KERNEL)) {
		trace_array_unpin(tr);
		return NULL;
	}
	cpumask_setall(tr->tracing_cpumask);
	tr->current_trace = &nop_trace;
	raw_spin_lock_init(&tr->start_lock);
	INIT_LIST_HEAD(&tr->list);
	INIT_LIST_HEAD(&tr->systems);
	INIT_LIST_HEAD(&tr->events);
	INIT_LIST_HEAD(&tr->hist_vars);
	INIT_LIST_HEAD(&tr->err_log);
	ftrace_init_trace_array(tr);
	return tr;
}

/**
 * trace_array_mkdir() - create the directory of a trace array
 * @tr:   the trace array; tracefs_remove() has to follow before trace_array_free()
 * @like: it gets mode and owner of this directory; NULL: the default
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int trace_array_mkdir(struct trace_array *tr, struct dentry *like)
{
	refcount_inc(&tr->pins);
	tr->dir = tracefs_create_pinned_dir(tr->name, trace_instance_dir, like, &tr->pin);
	if (tr->dir)
		return 0;
	refcount_dec(&tr->pins);
	return -ENOMEM;
}

/**
 * trace_array_free() - free a trace array when no inode points to it any more
 * @tr: the trace array; it is in no list, and what it has besides is freed
 *
 * Context: Any context that may free memory.
 */
void trace_array_free(struct trace_array *tr)
{
	trace_array_unpin(tr);
}

/**
 * trace_members_of() - begin a walk of a session, and then of its channels
 * @tr: the session, or any other trace array
 *
 * Context: As for_each_session_member().
 * Return: the walk.
 */
struct trace_member_iter trace_members_of(struct trace_array *tr)
{
	return (struct trace_member_iter){ tr, trace_channels_of(tr) };
}

/**
 * trace_channels_with() - the channels of a session, and another one
 * @tr: the session
 * @ch: the other one
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: the channels, for trace_channels_set(); NULL without memory.
 */
struct trace_channels *trace_channels_with(struct trace_array *tr, struct trace_array *ch)
{
	const struct trace_channels *old = trace_channels_of(tr);
	unsigned int nr = old ? old->nr : 0;
	struct trace_channels *new = kvmalloc(struct_size(new, ch, nr + 1), GFP_KERNEL);

	lockdep_assert_held(&trace_types_lock);
	if (!new)
		return NULL;
	new->nr = nr + 1;
	if (old)
		memcpy(new->ch, old->ch, nr * sizeof(*new->ch));
	new->ch[nr] = ch;
	return new;
}

/**
 * trace_channels_without() - the channels of a session but one
 * @tr: the session
 * @ch: that one
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: the channels, for trace_channels_set(); NULL if there is no other one.
 */
struct trace_channels *trace_channels_without(struct trace_array *tr, struct trace_array *ch)
{
	const struct trace_channels *old = trace_channels_of(tr);
	struct trace_channels *new;
	struct trace_array *other;
	unsigned int nr = 0;

	lockdep_assert_held(&trace_types_lock);
	if (old->nr == 1)
		return NULL;
	/* The removal of an instance cannot fail. */
	new = kvmalloc(struct_size(new, ch, old->nr - 1), GFP_KERNEL | __GFP_NOFAIL);
	new->nr = old->nr - 1;
	for_each_channel(other, tr) {
		if (other != ch)
			new->ch[nr++] = other;
	}
	return new;
}

/**
 * trace_channels_set() - publish the channels of a session
 * @tr:       the session
 * @channels: its channels from now on; NULL if it has none
 * @ch:       the one that joins or leaves; NULL if all leave
 * @session:  @tr if @ch joins, or NULL
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: the channels of before, or NULL. Others use them until a grace period has passed.
 */
struct trace_channels *
trace_channels_set(struct trace_array *tr, struct trace_channels *channels,
		   struct trace_array *ch, struct trace_array *session)
{
	struct trace_channels *old = rcu_dereference_protected(tr->channels, true);
	struct trace_member_iter it = { .channels = old };
	struct trace_array *each;

	lockdep_assert_held(&trace_types_lock);
	/* Between two of these, a crash finds a channel with its session, or takes it alone. */
	if (session)
		rcu_assign_pointer(tr->channels, channels);
	if (ch)
		WRITE_ONCE(ch->session, session);
	while (!ch && (each = trace_next_member(&it)))
		WRITE_ONCE(each->session, NULL);
	if (!session)
		rcu_assign_pointer(tr->channels, channels);
	return old;
}

/**
 * trace_lost() - count the records that a CPU has lost
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: the number of records that were overwritten or refused.
 */
unsigned long trace_lost(struct trace_buffer *buffer, int cpu)
{
	return ring_buffer_overrun_cpu(buffer, cpu) + ring_buffer_commit_overrun_cpu(buffer, cpu) +
	       ring_buffer_dropped_events_cpu(buffer, cpu);
}

/**
 * trace_show_channel() - print the line of a channel, or of its part of a snapshot
 * @m:  the file "channels"
 * @ch: the channel
 * @on: records are taken
 * @kb: its memory, in KiB
 *
 * Context: trace_types_lock is held.
 */
void trace_show_channel(struct seq_file *m, struct trace_array *ch, bool on, unsigned long kb)
{
	struct trace_buffer *buffer = ch->array_buffer.buffer;
	unsigned long lost = 0;
	int cpu;

	for_each_tracing_cpu(cpu)
		lost += trace_lost(buffer, cpu);
	seq_printf(m, "%s mode=%s on=%d kb=%lu records=%lu lost=%lu\n", ch->name,
		   ch->trace_flags & TRACE_ITER(OVERWRITE) ? "overwrite" : "discard", on, kb,
		   ring_buffer_entries(buffer), lost);
}
