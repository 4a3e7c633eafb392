// SPDX-License-Identifier: GPL-2.0
/*
 * What the spare buffers of snapshots do when something of their trace array changes.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>

#include "internal.h"

/*
 * The live buffer and the ring of a spare one change places: it must not be cut while
 * the two differ in size. So spare ones of the size to come are allocated first, which is
 * what can fail; then the old ones are put aside until it is clear which are right.
 * The user's requests that come meanwhile are put off.
 */
static void snap_park(struct snap_slot *slot)
{
	slot->parked = slot->spare;
	slot->spare = NULL;
	if (slot->last) {
		slot->was_misfit = slot->last->misfit;
		slot->last->misfit = true;
	}
}

static void snap_unpark(struct trace_snapshots *s, struct snap_slot *slot, bool done)
{
	struct trace_snap *useless = done ? slot->parked : slot->next;

	slot->spare = done ? slot->next : slot->parked;
	if (slot->last && !done)
		slot->last->misfit = slot->was_misfit;
	snap_discard(s, useless);
	slot->next = NULL;
	slot->parked = NULL;
}

/* As much more memory as a buffer may need for another size, in KiB. */
static unsigned long
snap_growth(struct trace_buffer *buffer, unsigned long size, int cpu, int order)
{
	unsigned int subbuf = max_t(unsigned int, PAGE_SIZE << max(order, 0),
				    ring_buffer_subbuf_size_get(buffer));
	unsigned long kb = 0;
	int i;

	for_each_tracing_cpu(i) {
		if ((cpu != RING_BUFFER_ALL_CPUS && cpu != i) || !ring_buffer_size(buffer, i))
			continue;
		/* A reader's, two others at least, and one that is not full. */
		kb += 4 * (subbuf / 1024) + size / 1024 + size / PAGE_SIZE;
	}
	/* There are both, for a moment. */
	return order < 0 ? kb : kb + ring_buffer_memory(buffer) / 1024;
}

static int snap_next(struct trace_snapshots *s, struct snap_slot *slot, unsigned long size,
		     int cpu, int order)
{
	struct trace_buffer *buffer;
	struct trace_snap *next;
	unsigned long growth;
	int ret;

	/* What survives a reboot does not change. */
	if (s->tr->range_addr_start || (!atomic_read(&slot->armed) && !snap_is_ready(slot)))
		return 0;
	next = snap_alloc_spare(s);
	if (IS_ERR(next))
		return PTR_ERR(next);
	slot->next = next;
	buffer = next->buf.buffer;
	growth = snap_growth(buffer, size, cpu, order);
	ret = snap_charge(s, growth);
	if (ret)
		return ret;
	ret = order < 0 ? ring_buffer_resize(buffer, size, cpu) :
			  ring_buffer_subbuf_order_set(buffer, order);
	s->kb -= growth + next->kb;
	next->kb = ring_buffer_memory(buffer) / 1024;
	s->kb += next->kb;
	return ret;
}

static int snap_begin_change(struct trace_array *tr, unsigned long size, int cpu, int order)
{
	struct trace_snapshots *s = tr->snapshots;
	unsigned long flags;
	int ret;

	mutex_lock(&s->mutex);
	ret = snap_next(s, &s->user, size, cpu, order);
	if (!ret)
		ret = snap_next(s, &s->max, size, cpu, order);
	flags = snap_change_begin(s);
	snap_park(&s->user);
	snap_park(&s->max);
	WRITE_ONCE(s->changing, true);
	snap_change_end(s, flags);
	if (ret)
		trace_snapshot_end_change(tr, false);
	return ret;
}

/**
 * trace_snapshot_begin_resize() - the size of the live buffer is about to change
 * @tr:   whose
 * @size: bytes for records, for each CPU
 * @cpu:  of which CPU, or RING_BUFFER_ALL_CPUS
 *
 * Until trace_snapshot_end_change(), requests for snapshots are put off. Those that
 * can't be, as of a crash, are refused and counted.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM, or -ENOSPC as snap_charge(); then nothing has changed, and
 *	   trace_snapshot_end_change() must not follow.
 */
int trace_snapshot_begin_resize(struct trace_array *tr, unsigned long size, int cpu)
{
	return snap_begin_change(tr, size, cpu, -1);
}

/**
 * trace_snapshot_begin_order() - the sub-buffers of the live buffer are about to change
 * @tr:    whose
 * @order: pages of a sub-buffer, as a power of two
 *
 * Context: May sleep.
 * Return: as trace_snapshot_begin_resize(); -EINVAL for a size that is not possible.
 */
int trace_snapshot_begin_order(struct trace_array *tr, int order)
{
	return snap_begin_change(tr, 0, RING_BUFFER_ALL_CPUS, order);
}

/**
 * trace_snapshot_end_change() - the live buffer has changed
 * @tr:   whose
 * @done: or rather, it could not be changed
 *
 * Context: May sleep.
 */
void trace_snapshot_end_change(struct trace_array *tr, bool done)
{
	struct trace_snapshots *s = tr->snapshots;
	unsigned long flags;

	done &= !tr->range_addr_start;
	flags = snap_change_begin(s);
	snap_unpark(s, &s->user, done);
	snap_unpark(s, &s->max, done);
	WRITE_ONCE(s->changing, false);
	snap_change_end(s, flags);
	snap_collect(s);
	mutex_unlock(&s->mutex);
}

/* Times of before and after can't be compared, so nothing of before stays. */
static void snap_new_clock(struct trace_snapshots *s, struct snap_slot *slot, u64 (*clock)(void))
{
	struct trace_snap *spare, *last = READ_ONCE(slot->last);

	/* But what the last boot has left never could be. */
	if (last && last->last_boot)
		ring_buffer_set_clock(last->buf.buffer, clock);
	else
		snap_erase(s, slot);
	/* A taker may have it now, but nobody frees it. */
	spare = READ_ONCE(slot->spare);
	if (spare)
		ring_buffer_set_clock(spare->buf.buffer, clock);
}

/**
 * trace_snapshot_new_clock() - the clock of the live buffer has changed
 * @tr:    whose
 * @clock: what it is now
 *
 * Context: May sleep.
 */
void trace_snapshot_new_clock(struct trace_array *tr, u64 (*clock)(void))
{
	struct trace_snapshots *s = tr->snapshots;
	unsigned long flags;

	mutex_lock(&s->mutex);
	/* A taker stores it, too. */
	flags = snap_change_begin(s);
	s->end = 0;
	snap_change_end(s, flags);
	snap_new_clock(s, &s->user, clock);
	snap_new_clock(s, &s->max, clock);
	mutex_unlock(&s->mutex);
}

/**
 * trace_snapshot_arm_tracer() - a tracer is about to be the current one
 * @tr: whose
 * @t:  which
 *
 * Context: May sleep.
 * Return: 0; for a latency tracer as snap_provide().
 */
int trace_snapshot_arm_tracer(struct trace_array *tr, struct tracer *t)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret = 0;

	if (t->use_max_tr) {
		mutex_lock(&s->mutex);
		ret = snap_arm(s, &s->max);
		mutex_unlock(&s->mutex);
	}
	return ret;
}

/**
 * trace_snapshot_disarm_tracer() - a tracer is not the current one any more
 * @tr: whose
 * @t:  which
 *
 * What a latency tracer has kept is gone.
 *
 * Context: May sleep.
 */
void trace_snapshot_disarm_tracer(struct trace_array *tr, struct tracer *t)
{
	struct trace_snapshots *s = tr->snapshots;

	if (!t->use_max_tr)
		return;
	/* It takes them with interrupts off, and only if it is the current one. */
	synchronize_rcu();
	mutex_lock(&s->mutex);
	snap_disarm(&s->max);
	if (atomic_read(&s->max.armed))
		snap_erase(s, &s->max);
	else
		snap_release(s, &s->max, true);
	mutex_unlock(&s->mutex);
}

/**
 * trace_snapshot_trim() - free the memory for the next snapshot
 * @tr: whose
 *
 * But for what a trigger, the kernel or a snapshot that is due needs. A snapshot that was
 * taken stays.
 *
 * Context: May sleep.
 */
void trace_snapshot_trim(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;

	mutex_lock(&s->mutex);
	if (!atomic_read(&s->user.armed) && !s->pinned && !READ_ONCE(s->due.pending))
		snap_release(s, &s->user, false);
	mutex_unlock(&s->mutex);
}

/**
 * trace_snapshot_erase() - nothing that was recorded may be looked at any more
 * @tr: whose
 *
 * As for the live buffer, when the types of its records lose their meaning.
 *
 * Context: May sleep.
 */
void trace_snapshot_erase(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap;

	mutex_lock(&s->mutex);
	snap_erase(s, &s->user);
	snap_erase(s, &s->max);
	/* Some are read. */
	llist_for_each_entry(snap, s->held, gone)
		ring_buffer_reset(snap->buf.buffer);
	mutex_unlock(&s->mutex);
}

/**
 * trace_snapshot_erase_max() - forget what a latency tracer has kept
 * @tr:  whose
 * @cpu: of which CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 * Return: 0; -EBUSY if somebody reads it, and only one CPU is asked for.
 */
int trace_snapshot_erase_max(struct trace_array *tr, int cpu)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret = 0;

	mutex_lock(&s->mutex);
	if (cpu == RING_BUFFER_ALL_CPUS)
		snap_erase(s, &s->max);
	else
		ret = snap_erase_cpu(s, &s->max, cpu);
	mutex_unlock(&s->mutex);
	return ret;
}

/**
 * trace_snapshot_begin_anew() - the live buffer was emptied
 * @tr: whose
 *
 * What the next snapshot holds is not complete from before.
 *
 * Context: May sleep.
 */
void trace_snapshot_begin_anew(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	unsigned long flags = snap_change_begin(s);

	s->end = ring_buffer_time_stamp(tr->array_buffer.buffer);
	snap_change_end(s, flags);
}
