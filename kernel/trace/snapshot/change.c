// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of a trace array that its snapshots follow: size, clock, tracer, contents.
 */
#include "../trace_output.h"
#include "internal.h"

/*
 * A cut exchanges the live buffer's ring with that of a spare buffer: both have to have
 * the same size. So a new spare buffer of the size to come is allocated first, because
 * that can fail. While &trace_snapshots.gen is odd, no buffer fits: requests of the user
 * are postponed, others are refused.
 */

/* Allocate @slot->next of the new size, if @slot has or needs a buffer. */
static int snap_alloc_next(struct trace_snapshots *s, struct snap_slot *slot, unsigned long size,
			   int cpu, int order)
{
	struct trace_snap *next, *spare = READ_ONCE(slot->spare);
	bool needed = snap_is_needed(s, slot);
	struct trace_buffer *buffer;
	unsigned long kb;
	int ret;

	/* Memory that survives a reboot has a fixed size, and an unexpanded buffer has none yet. */
	if (s->tr->range_addr_start || (!needed && !snap_is_ready(s, slot)) ||
	    !ring_buffer_is_expanded(s->tr->array_buffer.buffer))
		return 0;
	next = snap_alloc_like(s);
	if (IS_ERR(next))
		return PTR_ERR(next);
	buffer = next->buf.buffer;
	ret = order < 0 ? ring_buffer_resize(buffer, size, cpu) :
			  ring_buffer_subbuf_order_set(buffer, order);
	if (ret)
		goto free;

	/* @next takes the place of the empty buffer: the limit is for both sizes in turn. */
	kb = snap_buffer_kb(buffer);
	ret = snap_check_limit(s, (long)kb - (spare ? (long)spare->kb : 0));
	if (!ret) {
		snap_recount(next);
		next->gen = s->gen + 2;
		slot->next = next;
		return 0;
	}
	/* The slot does without a spare buffer if its snapshot is larger than that. */
	if (!needed && !slot->spare && kb < slot->last->kb)
		ret = 0;
free:
	snap_free(s, next);
	return ret;
}

/* Discard the buffers that do not fit; a snapshot stays. */
static void snap_use_next(struct trace_snapshots *s, struct snap_slot *slot, bool done)
{
	if (done)
		swap(slot->spare, slot->next);
	snap_discard(s, slot->next);
	slot->next = NULL;
}

/**
 * trace_snapshot_begin_change() - prepare for another size of the live buffer
 * @tr:    the trace array
 * @size:  bytes for records, for each CPU
 * @cpu:   the CPU, or RING_BUFFER_ALL_CPUS
 * @order: pages of a sub-buffer, as a power of two; then @size stays as it is. -1 to keep it
 *
 * Until trace_snapshot_end_change(), requests for snapshots are postponed. Those of a
 * crash or of a latency tracer are refused and counted.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM, or -ENOSPC as snap_check_limit(); -EINVAL for an @order that is not
 *	   possible. On an error nothing has changed, and trace_snapshot_end_change() must
 *	   not follow.
 */
int trace_snapshot_begin_change(struct trace_array *tr, unsigned long size, int cpu, int order)
{
	struct trace_snapshots *s = tr->snapshots;
	const char *file = order < 0 ? "buffer_size_kb" : "buffer_subbuf_size_kb";
	char kb[24];
	int ret;

	mutex_lock(&s->mutex);
	ret = snap_alloc_next(s, &s->user, size, cpu, order);
	ret = ret ?: snap_alloc_next(s, &s->max, size, cpu, order);
	snprintf(kb, sizeof(kb), "%lu", order < 0 ? size >> 10 : PAGE_SIZE >> 10 << order);
	if (ret == -ENOSPC)
		snap_report(s, NULL, file, kb, ret);
	scoped_guard(snap_change, s) {
		WRITE_ONCE(s->gen, s->gen + 1);
		s->past.moves++;
	}
	if (ret)
		trace_snapshot_end_change(tr, false);
	return ret;
}

/**
 * trace_snapshot_end_change() - use the new size, or keep the old one
 * @tr:   the trace array
 * @done: the live buffer has the new size
 *
 * Context: May sleep, after trace_snapshot_begin_change().
 */
void trace_snapshot_end_change(struct trace_array *tr, bool done)
{
	struct trace_snapshots *s = tr->snapshots;

	done &= !tr->range_addr_start;
	scoped_guard(snap_change, s) {
		WRITE_ONCE(s->gen, done ? s->gen + 1 : s->gen - 1);
		snap_use_next(s, &s->user, done);
		snap_use_next(s, &s->max, done);
	}
	snap_collect(s);
	mutex_unlock(&s->mutex);
}

/* Time stamps of two clocks do not compare: erase what has those of the old one. */
static void snap_set_clock(struct trace_snapshots *s, struct snap_slot *slot, u64 (*clock)(void))
{
	struct trace_snap *spare, *last = READ_ONCE(slot->last);

	/* Times of the last boot never compare with those of the live buffer. */
	if (!last || !last->last_boot)
		snap_erase(s, slot, RING_BUFFER_ALL_CPUS);
	/* A taker may use it now, but only a task frees it. */
	spare = READ_ONCE(slot->spare);
	if (spare)
		ring_buffer_set_clock(spare->buf.buffer, clock);
}

/* One that is kept stays in its instance, and that of the last boot stays, too. */
static unsigned long snap_clock_entries(const struct snap_slot *slot)
{
	struct trace_snap *last = READ_ONCE(slot->last);

	return last && !last->kept && !last->last_boot ? ring_buffer_entries(last->buf.buffer) : 0;
}

/**
 * trace_snapshot_entries() - count the records that trace_snapshot_set_clock() will erase
 * @tr: the trace array
 *
 * Context: May sleep.
 * Return: how many there are.
 */
unsigned long trace_snapshot_entries(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;

	/* Nobody else frees one. */
	guard(mutex)(&s->mutex);
	return snap_clock_entries(&s->user) + snap_clock_entries(&s->max);
}

/**
 * trace_snapshot_set_clock() - change the clock of the live buffer and of snapshots
 * @tr:       the trace array; its live buffer is empty, and records nothing
 * @clock_id: number of the new clock
 * @clock:    the new clock
 *
 * Context: May sleep.
 */
void trace_snapshot_set_clock(struct trace_array *tr, int clock_id, u64 (*clock)(void))
{
	struct trace_buffer *live = tr->array_buffer.buffer;
	struct trace_snapshots *s = tr->snapshots;

	guard(mutex)(&s->mutex);
	/* A cut has times of one clock. */
	scoped_guard(snap_change, s) {
		tr->clock_id = clock_id;
		ring_buffer_set_clock(live, clock);
		s->past.on_all = tracing_all_generation();
		s->past.off = snap_off_now(s);
		s->past.end = ring_buffer_time_stamp(live);
		trace_read_clocks(live, &s->past.clocks);
	}
	snap_set_clock(s, &s->user, clock);
	snap_set_clock(s, &s->max, clock);
	last_boot_keep_clock(tr);
}

/**
 * trace_snapshot_arm_tracer() - provide what a tracer needs before it becomes the current one
 * @tr: the trace array
 * @t:  the tracer
 *
 * Context: May sleep.
 * Return: 0; for a latency tracer as snap_provide().
 */
int trace_snapshot_arm_tracer(struct trace_array *tr, struct tracer *t)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret;

	if (!t->use_max_tr)
		return 0;
	guard(mutex)(&s->mutex);
	ret = snap_arm(s, &s->max);
	snap_report(s, NULL, "current_tracer", t->name, ret);
	return ret;
}

/**
 * trace_snapshot_disarm_tracer() - free what a tracer needed that is no longer the current one
 * @tr: the trace array
 * @t:  the tracer
 *
 * The snapshot of its longest latency is freed.
 *
 * Context: May sleep.
 */
void trace_snapshot_disarm_tracer(struct trace_array *tr, struct tracer *t)
{
	struct trace_snapshots *s = tr->snapshots;

	if (!t->use_max_tr)
		return;
	/* A tracer takes snapshots with interrupts off, and only while it is current. */
	synchronize_rcu();
	guard(mutex)(&s->mutex);
	snap_disarm(&s->max);
	if (snap_is_needed(s, &s->max))
		snap_erase(s, &s->max, RING_BUFFER_ALL_CPUS);
	else
		snap_free_slot(s, &s->max, true);
}

/**
 * trace_snapshot_trim() - free the buffer for the next snapshot
 * @tr: the trace array
 *
 * Unless a trigger, one of a session, the kernel, snapshot_on or a pending request relies on
 * it. A snapshot that was taken stays.
 *
 * Context: May sleep.
 */
void trace_snapshot_trim(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *last;

	guard(mutex)(&s->mutex);
	if (snap_is_needed(s, &s->user))
		return;
	snap_free_slot(s, &s->user, false);
	last = s->tr->range_addr_start ? NULL : snap_get_last(s, &s->user);
	if (!last)
		return;
	snap_settle(last);
	WRITE_ONCE(last->gen, 0);
	/* A kept one was trimmed before, and its trace.dat may be open: its rings stay. */
	if (!last->kept)
		snap_trim(s, last);
	snap_put(s, last);
}

/**
 * trace_snapshot_is_used() - does anything need a live buffer to take snapshots from?
 * @tr: the trace array
 *
 * Context: May sleep.
 * Return: true if there is a snapshot or a buffer for one, or a buffer would be allocated.
 */
bool trace_snapshot_is_used(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;

	guard(mutex)(&s->mutex);
	/* A tracer has none of these when it is disarmed. */
	return snap_is_needed(s, &s->user) || snap_is_needed(s, &s->max) || s->keeper.want.nr ||
	       s->user.spare || s->user.last;
}

/* Empty its rings as well: an iterator of the live buffer can be in the middle of them. */
static void snap_erase_records(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *last = snap_get_last(s, slot);

	if (last) {
		if (!last->kept)
			ring_buffer_reset(last->buf.buffer);
		snap_put(s, last);
	}
	snap_erase(s, slot, RING_BUFFER_ALL_CPUS);
}

/* Whatever the limit is: without this memory the records would have to go. */
static void snap_alloc_ended(struct trace_snap *snap)
{
	guard(mutex)(&snap->owner->mutex);
	snap->buf.ended = kzalloc(SNAP_ENDED_BYTES, GFP_KERNEL);
	snap_recount(snap);
}

/* Note that the events of these types are removed. Without memory for that, erase the records. */
static void snap_end_types(struct trace_snap *snap, unsigned int first, unsigned int last)
{
	lockdep_assert_held_write(&trace_event_sem);
	if (!snap->buf.ended)
		snap_alloc_ended(snap);
	/* Readers of "snapshot" and of the instance each have one of these. */
	snap->kept->array_buffer.ended = snap->buf.ended;
	if (snap->buf.ended) {
		bitmap_set(snap->buf.ended, first, last - first + 1);
		/* Later records of these types are of other events: it is no spare buffer again. */
		WRITE_ONCE(snap->gen, 0);
		return;
	}
	pr_warn("%s: no memory to note a removed event, erased\n", snap->kept->name);
	ring_buffer_reset(snap->buf.buffer);
}

/**
 * trace_snapshot_end_event() - note that an event of a kept snapshot is removed
 * @tr:   the trace array; nothing happens unless it is the instance of a kept snapshot
 * @type: type of the event's records
 *
 * The next event may get this type. The records stay: the instance has trace.dat, with the
 * format of the event. Without memory for the note, the snapshot is erased.
 *
 * Context: May sleep, event_mutex is held, and trace_event_sem for writing.
 */
void trace_snapshot_end_event(struct trace_array *tr, int type)
{
	if (tr->shows)
		snap_end_types(tr->shows, type, type);
}

/**
 * trace_snapshot_erase() - erase all snapshots that are not kept
 * @tr: the trace array, or the instance of a kept snapshot, which has no others
 *
 * The types of their records lose their meaning, as those of the live buffer. One that is about
 * to be kept is erased as well. One that was removed while it is open keeps its records, since
 * its reader can have trace.dat open, but they have no events any more.
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_snapshot_erase(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap;

	lockdep_assert_held(&trace_types_lock);
	if (!s)
		return;
	/* Of removed instances nobody knows any more which events they have: end all. */
	scoped_guard(rwsem_write, &trace_event_sem) {
		list_for_each_entry(snap, &s->keeper.leaving, node)
			snap_end_types(snap, __TRACE_LAST_TYPE, TRACE_EVENT_TYPE_MAX);
	}
	guard(mutex)(&s->mutex);
	snap_erase_records(s, &s->user);
	snap_erase_records(s, &s->max);
	/* Readers hold the rest. */
	llist_for_each_entry(snap, s->gone.first, gone) {
		if (!snap->kept)
			ring_buffer_reset(snap->buf.buffer);
	}
}

/**
 * trace_snapshot_erase_max() - erase the snapshot of the longest latency
 * @tr:  the trace array
 * @cpu: the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 * Return: 0; -EBUSY while somebody reads it, for one CPU.
 */
int trace_snapshot_erase_max(struct trace_array *tr, int cpu)
{
	struct trace_snapshots *s = tr->snapshots;

	guard(mutex)(&s->mutex);
	return snap_erase(s, &s->max, cpu);
}

/**
 * trace_snapshot_begin_anew() - note that the live buffer is erased, or that all were off
 * @tr: the trace array; it records nothing until its buffer is empty, or was switched on
 *
 * The next snapshot is complete from now on, not before.
 *
 * Context: May sleep.
 */
void trace_snapshot_begin_anew(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;

	/* Buffers of the boot have none yet. */
	if (!s)
		return;
	guard(snap_change)(s);
	s->past.on_all = tracing_all_generation();
	s->past.off = snap_off_now(s);
	s->past.end = ring_buffer_time_stamp(tr->array_buffer.buffer);
	trace_read_clocks(tr->array_buffer.buffer, &s->past.clocks);
}

/**
 * trace_snapshot_moves() - count how often records have moved to snapshots
 * @tr: the trace array
 *
 * A cut in progress moves the records of one CPU after the other: this waits for its end.
 *
 * Context: May sleep.
 * Return: the number of moves.
 */
unsigned int trace_snapshot_moves(struct trace_array *tr)
{
	guard(snap_change)(tr->snapshots);
	return tr->snapshots->past.moves;
}
