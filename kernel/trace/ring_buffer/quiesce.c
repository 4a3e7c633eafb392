// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that a writer never leaves.
 *
 * A writer has preemption off from before it finds a ring until it has left it, and is
 * refused where RCU does not watch, and on a CPU in hotplug. So a grace period after a ring
 * was replaced, no writer is in it. The only exception is a task that died between reserve and
 * commit, by a fault in the code that fills the record. Nothing waits for it. All records that
 * it and the writers behind it did not commit are given up, and counted as refused. The task is
 * known to be dead only where its CPU was alive all the time; else the ring stays with it.
 */
#include <linux/export.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>

#include "internal.h"

/* Leave only the @count records in the first @units of @sb. Return: how many go. */
static unsigned long rb_cut_short(struct rb_subbuf *sb, u32 units, unsigned long count)
{
	unsigned long records = local_read(&sb->records) - sb->base;

	local_set(&sb->records, sb->base + count);
	sb->end = units;
	local64_set(&sb->tail, rb_tail_word(sb->seq, RB_CLOSED));
	return records - count;
}

/*
 * Give up all that was reserved and is not published: the rest of the sub-buffer that was
 * being committed, and all that writers entered behind it.
 *
 * Return: how many records that was.
 */
static unsigned long rb_give_up(struct rb_ring *ring)
{
	struct rb_subbuf *sb = ring->commit;
	u64 pub = atomic64_read(&sb->publish);
	struct rb_cursor c = rb_cursor(sb->page, 0, rb_pub_bytes(pub), 0);
	unsigned long lost = 0;

	if (!(pub & RB_PUB_FINAL))
		lost = rb_cut_short(sb, rb_tail_units(pub), rb_cursor_count(&c));
	while (!rb_slot_ahead(sb->link, sb->seq + 1)) {
		sb = ring->subbufs[rb_slot_id(sb->link)];
		lost += rb_cut_short(sb, 0, 0);
	}
	rb_publish(ring);
	return lost;
}

/**
 * rb_ring_quiesce() - make sure that no writer is in a ring
 * @ring:  a ring that no CPU has found since before rb_wait_for_writers()
 * @cpu:   CPU of its writers
 * @since: result of that
 *
 * Context: &rb_ring.lock is held.
 * Return: false if a writer may be in it still: all that it can store to has to stay.
 */
bool rb_ring_quiesce(struct rb_ring *ring, int cpu, unsigned long since)
{
	unsigned long lost;

	lockdep_assert_held(&ring->lock);
	/* The grace period orders the stores of writers, see rb_leave+rb_ring_quiesce.litmus. */
	if (likely(!READ_ONCE(ring->nest)))
		return true;
	if (!rb_was_alive(cpu, since))
		return false;
	lost = rb_give_up(ring);
	local_add(lost, &ring->commit_overrun);
	rb_note_refused(ring, ring->commit->seq);
	/* As the writer would have done it, see rb_leave(). */
	smp_store_release(&ring->nest, 0);
	/* A console that holds its lock may want this one, to dump the buffer. */
	printk_deferred_enter();
	pr_warn("ring buffer: a task died while it wrote a record: %lu not committed\n", lost);
	printk_deferred_exit();
	return true;
}

/**
 * rb_forget_writes() - forget the writes that a dead task has begun on a CPU
 * @rcpu: the CPU's part; it has refused records since before the last grace period
 *
 * Without this, each later writer on the CPU takes the slow path of a nested write, and
 * once two tasks have died in such a one, all are refused.
 *
 * Context: &trace_buffer.mutex is held.
 */
void rb_forget_writes(struct rb_cpu *rcpu)
{
	lockdep_assert_held(&rcpu->buffer->mutex);
	rcpu->depth = 0;
	rcpu->write = (struct rb_write){ .share = RB_SHARE_PLAIN };
}

#ifdef CONFIG_RING_BUFFER_ALLOW_SWAP
/**
 * ring_buffer_wait_since() - wait for the records that were in flight at a cut
 * @spare: a buffer that was cut off, and is not cut into meanwhile
 * @cut:   a moment after the cut; one wait is for all buffers of that
 *
 * After it, @spare holds all that it will, and can be freed.
 *
 * Context: May sleep.
 * Return: true; false if a writer of a CPU that came online or went offline since then may be in
 *	   @spare still. A task that died there is found by a wait for another moment.
 */
bool ring_buffer_wait_since(struct trace_buffer *spare, const struct ring_buffer_moment *cut)
{
	struct rb_ring *ring;
	unsigned long flags;
	bool all = true;
	int cpu;

	cond_synchronize_rcu(cut->rcu);
	rb_race_point(WAITED);
	rb_for_each_cpu(spare, cpu) {
		ring = rb_read_lock(rb_get_cpu(spare, cpu), &flags);
		all &= rb_ring_quiesce(ring, cpu, cut->hotplugs);
		rb_read_unlock(ring, flags);
	}
	return all;
}
EXPORT_SYMBOL_GPL(ring_buffer_wait_since);

/**
 * ring_buffer_wait_writers() - wait for the records that are in flight in a buffer that was cut off
 * @spare: as for ring_buffer_wait_since()
 *
 * Context: May sleep.
 * Return: as ring_buffer_wait_since() for the present moment.
 */
bool ring_buffer_wait_writers(struct trace_buffer *spare)
{
	struct ring_buffer_moment now = ring_buffer_moment();

	return ring_buffer_wait_since(spare, &now);
}
EXPORT_SYMBOL_GPL(ring_buffer_wait_writers);
#endif
