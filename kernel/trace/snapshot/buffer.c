// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of snapshots: allocate, charge, trim, settle, free.
 */
#include <linux/percpu.h>

#include "internal.h"

/**
 * snap_charge() - count memory against snapshot_limit_kb
 * @s:  the snapshots of a trace array
 * @kb: more memory, in KiB
 *
 * Context: &trace_snapshots.mutex is held.
 * Return: 0; -ENOSPC if the limit does not allow it.
 */
int snap_charge(struct trace_snapshots *s, unsigned long kb)
{
	lockdep_assert_held(&s->mutex);
	if (s->limit_kb && s->kb + kb > s->limit_kb)
		return -ENOSPC;
	s->kb += kb;
	return 0;
}

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
	return snap_memory_kb(ring_buffer_memory(buffer, false));
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
 * Return: the buffer, of the size of the live one; -ENOSPC as snap_charge(), or as
 *	   ring_buffer_alloc_spare().
 */
struct trace_snap *snap_alloc_spare(struct trace_snapshots *s)
{
	unsigned long kb = snap_buffer_kb(s->tr->array_buffer.buffer);
	struct trace_snap *snap;
	int ret = snap_charge(s, kb);

	if (ret)
		return ERR_PTR(ret);
	snap = snap_alloc_like(s);
	if (IS_ERR(snap))
		s->kb -= kb;
	else
		snap->kb = kb;
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
	s->kb -= snap->kb;
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
	unsigned long kb = snap_trimmed_kb(snap), before = snap_buffer_kb(buffer), saved;
	int ret;

	if (!READ_ONCE(snap->settled) || kb >= before)
		return 0;

	ret = snap_charge(s, kb);
	if (ret)
		return ret;
	WRITE_ONCE(snap->gen, 0);
	ring_buffer_trim(buffer);
	saved = before - snap_buffer_kb(buffer);
	snap->kb -= saved;
	s->kb -= kb + saved;
	return 0;
}

/**
 * snap_alloc_copies() - allocate what consumers of a snapshot's records need
 * @s:    the snapshots of the trace array
 * @snap: a snapshot that the caller holds
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0; -ENOMEM; -ENOSPC as snap_charge().
 */
int snap_alloc_copies(struct trace_snapshots *s, struct trace_snap *snap)
{
	struct trace_buffer *buffer = snap->buf.buffer;
	unsigned long kb;
	int ret;

	if (snap->copies)
		return 0;
	kb = DIV_ROUND_UP(ring_buffer_memory(buffer, true) - ring_buffer_memory(buffer, false),
			  1024);
	ret = snap_charge(s, kb);
	if (ret)
		return ret;
	ret = ring_buffer_alloc_copies(buffer);
	if (ret) {
		s->kb -= kb;
		return ret;
	}
	snap->copies = true;
	snap->kb += kb;
	return 0;
}

/**
 * snap_settle() - wait until all writers have committed to a snapshot
 * @snap: a snapshot that the caller holds, or that nobody can find
 *
 * Context: May sleep.
 */
void snap_settle(struct trace_snap *snap)
{
	/* Pairs with snap_settle:B: the records of the writers are visible. RBB(snap_settle:A) */
	if (smp_load_acquire(&snap->settled))
		return;
	ring_buffer_wait_writers(snap->buf.buffer);
	/* Pairs with snap_settle:A. RBB(snap_settle:B) */
	smp_store_release(&snap->settled, true);
}

/**
 * snap_put() - release a reference to what describes the snapshots of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: May sleep.
 */
void snap_put(struct trace_snapshots *s)
{
	if (!refcount_dec_and_test(&s->ref))
		return;
	WARN_ON(!llist_empty(&s->gone));
	kfree(s);
}
