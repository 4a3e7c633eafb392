// SPDX-License-Identifier: GPL-2.0
/*
 * The readers' lock, and the reader: its sub-buffer and its position.
 */
#include <linux/preempt.h>

#include "internal.h"

/* Give the sub-buffer of the reader away for the one in @view. */
static bool rb_reader_take(struct rb_ring *ring, u64 seq, struct rb_view *view)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *sb = view->sb;

	rb_persist_emptied(rd->sb);
	rb_race_point(TAKE);
	/*
	 * Fully ordered: nothing that was read from the old one is read after
	 * the writer may have it. Pairs with rb_claim_slot:A. RBB(rb_reader_take:A)
	 */
	if (!atomic64_try_cmpxchg(view->slot, &view->word,
				  rb_slot_word(seq, rd->sb->id, RB_SLOT_EMPTY)))
		return false;

	rb_race_point(TAKEN);
	rd->sb = sb;
	rd->seq = seq;
	rd->pos = 0;
	rd->time = sb->page->time_stamp;
	rd->lost += sb->first - rd->num;
	rd->num = sb->first;
	return true;
}

/**
 * rb_reader_clear() - let the reader's sub-buffer hold nothing
 * @ring: the ring
 *
 * User space maps the page header, so its commit field is cleared, too.
 *
 * Context: &rb_ring.lock is held, and no writer is in the sub-buffer.
 */
void rb_reader_clear(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;

	lockdep_assert_held(&ring->lock);
	local_set(&rd->sb->page->commit, 0);
	atomic64_set(&rd->sb->publish, rb_pub_word(rd->seq, RB_PUB_FINAL, 0));
	rd->pos = 0;
}

/**
 * rb_reader_fill() - see that the reader's sub-buffer holds something unread
 * @ring: the ring
 *
 * Context: &rb_ring.lock is held.
 * Return: bytes published in the reader's sub-buffer, more than its position,
 *         or 0 if nothing is unread.
 */
unsigned int rb_reader_fill(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_view view;
	u64 seq, pub;

	lockdep_assert_held(&ring->lock);
	for (;;) {
		/* Pairs with rb_publish_subbuf:A. RBB(rb_reader_fill:A) */
		pub = atomic64_read_acquire(&rd->sb->publish);
		rb_race_point(FILL);
		if (rd->pos < rb_pub_bytes(pub))
			return rb_pub_bytes(pub);
		if (!(pub & RB_PUB_FINAL))
			return 0;

		do {
			seq = rd->seq + 1;
			if (!rb_locate(ring, &seq, &view))
				return 0;
			/* It may be of a generation that the reader has not come to. */
			if (unlikely(rd->generation != READ_ONCE(ring->generation)))
				return 0;
		} while (!rb_reader_take(ring, seq, &view));
	}
}

/**
 * rb_is_absent() - will a CPU have nothing to read until it comes online?
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: true if there is no such CPU, or @cpu never was online since the buffer was
 *	   allocated; a buffer that gets its rings later has one for each that was.
 *	   All CPUs of a global buffer are there, and all but one are empty.
 */
bool rb_is_absent(struct trace_buffer *buffer, int cpu)
{
	if ((unsigned int)cpu >= nr_cpu_ids)
		return true;
	return !rb_is_global(buffer) && !cpumask_test_cpu(cpu, buffer->seen);
}

/**
 * rb_reader_empty() - is nothing unread?
 * @ring: the ring
 *
 * Unlike rb_reader_fill() this takes nothing.
 *
 * Context: &rb_ring.lock is held.
 * Return: true if there is nothing to read.
 */
bool rb_reader_empty(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	u64 seq = rd->seq + 1, pub = atomic64_read_acquire(&rd->sb->publish);
	struct rb_view view;

	lockdep_assert_held(&ring->lock);
	if (rd->pos < rb_pub_bytes(pub))
		return false;
	if (!(pub & RB_PUB_FINAL))
		return true;
	for (; rb_locate(ring, &seq, &view); seq++) {
		if (rb_pub_bytes(view.pub))
			return false;
	}
	return true;
}

/* Loss accounting restarts here. */
static void rb_reader_begin(struct rb_ring *ring, u64 seq, u64 num, const struct rb_losses *lost)
{
	struct rb_reader *rd = &ring->reader;

	rd->seq = seq;
	rd->from = seq;
	rd->since = 0;
	rd->num = num;
	rd->pos = rb_pub_bytes(atomic64_read(&rd->sb->publish));
	rd->lost = 0;
	rd->read = 0;
	rd->inherited = false;
	ring->num_base = num;
	ring->carried.overrun = -lost->overrun;
	ring->carried.commit_overrun = -lost->commit_overrun;
	ring->carried.dropped = -lost->dropped;
}

/*
 * The ring has gone live again, and the reader's position is of an earlier generation.
 * Put it in front of the first record of this one; as long as there is none, behind the
 * last one of that, where it takes nothing, see rb_reader_fill().
 */
static noinline void rb_reader_renew(struct rb_ring *ring)
{
	struct rb_losses lost;
	struct rb_subbuf *sb;
	unsigned int generation;
	u64 seq, num;

	do {
		/* Pairs with rb_forget:A: first_seq is not that of the generation before. */
		generation = smp_load_acquire(&ring->generation); /* RBB(rb_reader_renew:C) */
		/* Pairs with rb_publish:A, for its number. RBB(rb_reader_renew:B) */
		sb = smp_load_acquire(&ring->commit);
		seq = READ_ONCE(sb->seq);
		/* Pairs with rb_next_subbuf:A, for &rb_ring.first_seq. RBB(rb_reader_renew:A) */
		if (smp_load_acquire(&ring->tail) != &rb_fresh &&
		    (s64)(seq - READ_ONCE(ring->first_seq)) >= 0) {
			ring->reader.generation = generation;
			rb_reader_begin(ring, ring->first_seq - 1, ring->first_num,
					&ring->first_lost);
			return;
		}
		lost.overrun = local_read(&ring->overrun);
		lost.commit_overrun = local_read(&ring->commit_overrun);
		lost.dropped = local_read(&ring->dropped);
		num = rb_ring_written(ring);
	} while (READ_ONCE(ring->commit) != sb);
	rb_reader_begin(ring, seq, num, &lost);
}

/**
 * rb_reader_settle() - count an inherited sub-buffer that would have been overwritten
 * @ring: the ring
 *
 * It is older than all in the slots. Where the writer has begun to
 * overwrite those, this would have been the first to go.
 *
 * Context: &rb_ring.lock is held, or this is a dump.
 */
void rb_reader_settle(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	u64 next = rd->seq + 1, records;

	if (unlikely(rd->generation != ring->generation))
		rb_reader_renew(ring);
	if (likely(!rd->inherited))
		return;
	if (rd->pos) {
		rd->inherited = false;	/* begun, so it stays */
	} else if (rb_slot_ahead(atomic64_read(rb_slot(ring, next)), next) > 0) {
		records = rd->sb->first + rd->sb->count - rd->num;
		rd->inherited = false;
		rd->pos = rb_pub_bytes(atomic64_read(&rd->sb->publish));
		rd->num += records;
		rd->lost += records;
		ring->carried.overrun += records;
	}
}

/**
 * rb_read_lock() - lock the ring that readers of a CPU use
 * @rcpu:  the CPU's part
 * @flags: for rb_read_unlock()
 *
 * Context: Any context but NMI. Disables interrupts.
 * Return: the ring; it is not freed until it is unlocked.
 */
struct rb_ring *rb_read_lock(struct rb_cpu *rcpu, unsigned long *flags)
{
	struct rb_ring *ring;

	local_irq_save(*flags);
	for (;;) {
		/*
		 * Interrupts are off, which is all that RCU needs. It may not
		 * be watching, where an oops in the idle loop dumps the buffer.
		 */
		ring = rcu_dereference_raw(rcpu->read_ring);
		raw_spin_lock(&ring->lock);
		if (likely(ring == rcu_access_pointer(rcpu->read_ring)))
			break;
		raw_spin_unlock(&ring->lock);
	}
	rb_reader_settle(ring);
	__release(&ring->lock);	/* sparse does not follow it to the caller */
	return ring;
}

/**
 * rb_read_try() - lock the ring that readers of a CPU use, if nobody else has it
 * @rcpu:  the CPU's part
 * @flags: for rb_read_unlock()
 *
 * Context: Any context. Disables interrupts where it returns a ring.
 * Return: the ring, or NULL if it is locked or was just exchanged.
 */
struct rb_ring *rb_read_try(struct rb_cpu *rcpu, unsigned long *flags)
{
	struct rb_ring *ring;

	local_irq_save(*flags);
	ring = rcu_dereference_raw(rcpu->read_ring);
	if (raw_spin_trylock(&ring->lock)) {
		if (ring == rcu_access_pointer(rcpu->read_ring)) {
			rb_reader_settle(ring);
			__release(&ring->lock);
			return ring;
		}
		raw_spin_unlock(&ring->lock);
	}
	local_irq_restore(*flags);
	return NULL;
}

/**
 * rb_read_trylock() - lock the ring unless that could wait for ever
 * @rcpu:  the CPU's part
 * @flags: for rb_read_unlock()
 *
 * Context: Any context.
 * Return: the ring, or NULL: in an NMI, if the lock is held.
 */
struct rb_ring *rb_read_trylock(struct rb_cpu *rcpu, unsigned long *flags)
{
	return in_nmi() ? rb_read_try(rcpu, flags) : rb_read_lock(rcpu, flags);
}

/**
 * rb_read_unlock() - unlock a ring
 * @ring:  the ring that rb_read_lock() returned
 * @flags: the flags that it stored
 *
 * Context: That of rb_read_lock(). Restores interrupts.
 */
void rb_read_unlock(struct rb_ring *ring, unsigned long flags)
{
	__acquire(&ring->lock);
	raw_spin_unlock_irqrestore(&ring->lock, flags);
}
