// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of snapshots: allocate, charge, trim, settle, free.
 */
#include <linux/percpu.h>

#include "internal.h"

/* In KiB, with what describes a snapshot. */
static unsigned long snap_memory_kb(size_t bytes)
{
	bytes += sizeof(struct trace_snap) + num_possible_cpus() * sizeof(struct trace_array_cpu);
	return DIV_ROUND_UP(bytes, 1024);
}

/**
 * snap_buffer_kb() - tell the memory of a snapshot
 * @buffer: its ring buffer, or the live one that it is to fit
 *
 * Context: Any context.
 * Return: the memory in KiB.
 */
unsigned long snap_buffer_kb(struct trace_buffer *buffer)
{
	return snap_memory_kb(ring_buffer_memory(buffer));
}

/* The only place that changes the number of a snapshot's memory, and the sum with it. */
static void snap_set_kb(struct trace_snap *snap, unsigned long kb)
{
	struct trace_snapshots *s = snap->owner;

	lockdep_assert_held(&s->mutex);
	WRITE_ONCE(s->memory.kb, s->memory.kb + kb - snap->kb);
	WRITE_ONCE(snap->kb, kb);
}

/**
 * snap_recount() - count the memory of a snapshot anew
 * @snap: the snapshot
 *
 * A task calls this behind each change of that memory. A CPU that comes online adds to all
 * buffers: snap_recount_all() finds that.
 *
 * Context: &trace_snapshots.mutex is held.
 */
void snap_recount(struct trace_snap *snap)
{
	unsigned long kb = snap_memory_kb(ring_buffer_memory(snap->buf.buffer));

	if (snap->kept)
		kb += snap->kept_kb;
	if (snap->buf.ended)
		kb += SNAP_ENDED_BYTES / 1024;
	snap_set_kb(snap, kb);
}

static void snap_recount_list(struct list_head *list)
{
	struct trace_snap *snap;

	list_for_each_entry(snap, list, node)
		snap_recount(snap);
}

static void snap_recount_slot(struct snap_slot *slot)
{
	struct trace_snap *last = READ_ONCE(slot->last), *spare = READ_ONCE(slot->spare);

	/* A taker may use them now, but only a task frees them. */
	if (last)
		snap_recount(last);
	if (spare)
		snap_recount(spare);
}

/**
 * snap_recount_all() - count the memory of all snapshots anew
 * @s: the snapshots of a trace array
 *
 * Context: &trace_snapshots.mutex is held.
 */
void snap_recount_all(struct trace_snapshots *s)
{
	struct trace_snap *snap;

	lockdep_assert_held(&s->mutex);
	snap_recount_slot(&s->user);
	snap_recount_slot(&s->max);
	/* These lists change under the mutex and under another lock. */
	snap_recount_list(&s->keeper.kept);
	snap_recount_list(&s->keeper.parts);
	snap_recount_list(&s->keeper.owned);
	snap_recount_list(&s->keeper.leaving);
	llist_for_each_entry(snap, s->gone.first, gone) {
		/* An empty one, for a reader without a snapshot, is not counted. */
		if (snap->kb)
			snap_recount(snap);
	}
}

/**
 * snap_check_limit() - may snapshots have more memory?
 * @s:    the snapshots of a trace array
 * @more: memory to be allocated, in KiB; negative if some is freed
 *
 * Nothing is counted here: snap_recount() follows the allocation.
 *
 * Context: &trace_snapshots.mutex is held until the allocation is counted.
 * Return: 0; -ENOSPC if snapshot_limit_kb does not allow it, &snap_memory.needs_kb would.
 */
int snap_check_limit(struct trace_snapshots *s, long more)
{
	lockdep_assert_held(&s->mutex);
	if (!s->memory.limit_kb)
		return 0;
	snap_recount_all(s);
	if (s->memory.kb + more <= s->memory.limit_kb)
		return 0;
	WRITE_ONCE(s->memory.needs_kb, s->memory.kb + more);
	return -ENOSPC;
}

/**
 * trace_snapshot_charge() - count memory of the instance of a kept snapshot
 * @tr: the instance; the memory is freed with it
 * @kb: the memory, in KiB
 *
 * Context: May sleep.
 * Return: 0; -ENOSPC if snapshot_limit_kb does not allow it.
 */
int trace_snapshot_charge(struct trace_array *tr, unsigned long kb)
{
	struct trace_snap *snap = tr->shows;
	int ret;

	guard(mutex)(&snap->owner->mutex);
	ret = snap_check_limit(snap->owner, kb);
	if (ret)
		return ret;
	snap->kept_kb += kb;
	snap_recount(snap);
	return 0;
}

/**
 * snap_alloc() - describe a ring buffer as a snapshot
 * @tr:     the trace array
 * @buffer: the ring buffer; its owner is the snapshot from here on
 *
 * Context: May sleep.
 * Return: the snapshot; NULL without memory, then @buffer is freed.
 */
struct trace_snap *snap_alloc(struct trace_array *tr, struct trace_buffer *buffer)
{
	struct trace_snap *snap = kzalloc(sizeof(*snap), GFP_KERNEL);

	if (snap)
		snap->buf.data = alloc_percpu(struct trace_array_cpu);
	if (!snap || !snap->buf.data) {
		kfree(snap);
		ring_buffer_free(buffer);
		return NULL;
	}
	snap->buf.tr = tr;
	snap->buf.buffer = buffer;
	snap->owner = tr->snapshots;
	snap->settled = true;
	return snap;
}

/**
 * snap_alloc_like() - allocate a buffer of the size of the live one, and charge nothing
 * @s: the snapshots of a trace array
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: the buffer, or as ring_buffer_alloc_spare().
 */
struct trace_snap *snap_alloc_like(struct trace_snapshots *s)
{
	struct trace_buffer *buffer = ring_buffer_alloc_spare(s->tr->array_buffer.buffer);
	struct trace_snap *snap;

	if (IS_ERR(buffer))
		return ERR_CAST(buffer);
	snap = snap_alloc(s->tr, buffer);
	if (!snap)
		return ERR_PTR(-ENOMEM);
	snap->gen = s->gen;
	return snap;
}

/**
 * snap_alloc_spare() - allocate a buffer for a snapshot
 * @s: the snapshots of a trace array
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: the buffer, of the size of the live one; -ENOSPC as snap_check_limit(), or as
 *	   ring_buffer_alloc_spare().
 */
struct trace_snap *snap_alloc_spare(struct trace_snapshots *s)
{
	unsigned long kb = snap_buffer_kb(s->tr->array_buffer.buffer);
	struct trace_snap *snap;
	int ret = snap_check_limit(s, kb);

	if (ret)
		return ERR_PTR(ret);
	snap = snap_alloc_like(s);
	if (!IS_ERR(snap))
		snap_recount(snap);
	return snap;
}

/**
 * snap_free() - free a snapshot
 * @s:    the snapshots of the trace array
 * @snap: the snapshot; nobody reads it or can find it
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_free(struct trace_snapshots *s, struct trace_snap *snap)
{
	lockdep_assert_held(&s->mutex);
	snap_set_kb(snap, 0);
	snap_settle(snap);
	snap_unsave(snap);
	ring_buffer_free(snap->buf.buffer);
	free_percpu(snap->buf.data);
	kfree(snap->buf.ended);
	kfree(snap);
}

/**
 * snap_trimmed_kb() - tell the memory of a trimmed snapshot
 * @snap: the snapshot
 *
 * Context: Any context but NMI.
 * Return: the memory in KiB.
 */
unsigned long snap_trimmed_kb(struct trace_snap *snap)
{
	return snap_memory_kb(ring_buffer_trimmed_memory(snap->buf.buffer));
}

/**
 * snap_trim() - free the sub-buffers of a snapshot that hold no records
 * @s:    the snapshots of the trace array
 * @snap: a snapshot that the caller holds
 *
 * For a moment it takes the memory before and after. A trimmed buffer does not fit the
 * live one again.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, also if it saves nothing or memory is short; -ENOSPC if the limit does not
 *	   allow that moment.
 */
int snap_trim(struct trace_snapshots *s, struct trace_snap *snap)
{
	struct trace_buffer *buffer = snap->buf.buffer;
	unsigned long kb = snap_trimmed_kb(snap);
	int ret;

	if (!READ_ONCE(snap->settled) || kb >= snap_buffer_kb(buffer))
		return 0;

	ret = snap_check_limit(s, kb);
	if (ret)
		return ret;
	WRITE_ONCE(snap->gen, 0);
	ring_buffer_trim(buffer);
	snap_recount(snap);
	return 0;
}

/**
 * snap_settle() - wait until all writers have committed to a snapshot, and leave older records out
 * @snap: a snapshot that the caller holds, or that nobody can find
 *
 * Context: May sleep.
 */
void snap_settle(struct trace_snap *snap)
{
	bool committed;

	/* Pairs with snap_settle:B: the records of the writers are visible. RBB(snap_settle:A) */
	if (smp_load_acquire(&snap->settled))
		return;
	committed = ring_buffer_wait_since(snap->buf.buffer, &snap->at) ||
		    ring_buffer_wait_writers(snap->buf.buffer);
	/* A writer of a CPU in hotplug is no reason to show older records. */
	ring_buffer_drop_older(snap->buf.buffer);
	if (!committed)
		return;
	/* Pairs with snap_settle:A. RBB(snap_settle:B) */
	smp_store_release(&snap->settled, true);
}

/**
 * snap_put_owner() - release a reference to what describes the snapshots of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: May sleep.
 */
void snap_put_owner(struct trace_snapshots *s)
{
	if (!refcount_dec_and_test(&s->ref))
		return;
	WARN_ON(!llist_empty(&s->gone));
	kfree(s);
}
