// SPDX-License-Identifier: GPL-2.0
/*
 * The readers' lock, and the reader: its sub-buffer and its position.
 */
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rculist.h>

#include "internal.h"

/* Give the sub-buffer of the reader away for the one in @view. */
static bool rb_reader_take(struct rb_ring *ring, u64 seq, struct rb_view *view)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *sb = view->sb;

	rb_persist_emptied(rd->sb);
	WRITE_ONCE(rd->next, sb);
	barrier();
	rb_race_point(TAKE);
	/*
	 * Fully ordered: nothing that was read from the old one is read after
	 * the writer may have it. Pairs with rb_claim_slot:A. RBB(rb_reader_take:A)
	 */
	if (!atomic64_try_cmpxchg(view->slot, &view->word,
				  rb_slot_word(seq, rd->sb->id, RB_SLOT_EMPTY))) {
		WRITE_ONCE(rd->next, NULL);
		return false;
	}

	rb_race_point(TAKEN);
	rd->sb = sb;
	rd->seq = seq;
	rd->taken += (s64)(seq - rd->from) > 0;
	rd->pos = 0;
	rd->time = sb->page->time_stamp;
	rd->lost += sb->first - rd->num;
	rd->num = sb->first;
	barrier();
	WRITE_ONCE(rd->next, NULL);
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
 * rb_reader_find() - find the first sub-buffer from a sequence on, as rb_locate()
 * @ring: the ring
 * @rd:   the reader, where it settled last
 * @seq:  first sequence to look at; moves on over overwritten ones
 * @view: the result
 *
 * A cut takes no lock: since @rd settled, it may have put the ring in place of a live one.
 * The records that are written there then are not for @rd.
 *
 * Context: As rb_locate().
 * Return: true if there is a sub-buffer of the generation that @rd is settled in.
 */
bool rb_reader_find(struct rb_ring *ring, const struct rb_reader *rd, u64 *seq,
		    struct rb_view *view)
{
	return rb_locate(ring, seq, view) && !(rd->unsettled & RB_READER_WAITS) &&
	       /* After the look at the slot. Pairs with rb_forget:B. */
	       likely(rd->generation == READ_ONCE(ring->generation)); /* RBB(rb_reader_find:A) */
}

/**
 * rb_reader_is_settled() - was all that the caller saw of the reader's generation?
 * @ring: the ring
 *
 * Context: &rb_ring.lock is held.
 * Return: false if the ring has been put in place of a live one since it was locked.
 */
bool rb_reader_is_settled(struct rb_ring *ring)
{
	lockdep_assert_held(&ring->lock);
	/* Pairs with rb_forget:B. */
	smp_rmb(); /* RBB(rb_reader_is_settled:A) */
	return likely(ring->reader.generation == READ_ONCE(ring->generation));
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
		pub = rb_reader_pub(rd);
		rb_race_point(FILL);
		if (rd->pos < rb_pub_bytes(pub))
			return rb_pub_bytes(pub);
		if (!(pub & RB_PUB_FINAL))
			return 0;

		do {
			seq = rd->seq + 1;
			if (!rb_reader_find(ring, rd, &seq, &view))
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

/* Is nothing published behind @pos of the sequence @seq, which the reader has or is behind it? */
static bool rb_is_empty_from(struct rb_ring *ring, u64 seq, unsigned int pos)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_view view;
	u64 pub, from = seq;

	lockdep_assert_held(&ring->lock);
	if (seq == rd->seq) {
		pub = rb_reader_pub(rd);
		if (pos < rb_pub_bytes(pub))
			return false;
		if (!(pub & RB_PUB_FINAL))
			return true;
		seq++;
	}
	for (; rb_reader_find(ring, rd, &seq, &view); seq++) {
		if (rb_pub_bytes(view.pub) > (seq == from ? pos : 0))
			return false;
	}
	return true;
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
	return rb_is_empty_from(ring, ring->reader.seq, ring->reader.pos);
}

/**
 * rb_reader_ahead() - how far a place is in front of the reader
 * @ring: the ring
 * @at:   the place of one of several readers
 *
 * Context: &rb_ring.lock and &rb_cpu.places are held.
 * Return: records that this one has read, and the reader has not consumed; 0 or less if it is
 *	   where the reader is, as also one that has not seen this ring, or its generation.
 */
s64 rb_reader_ahead(struct rb_ring *ring, const struct ring_buffer_iter *at)
{
	lockdep_assert_held(&ring->lock);
	return rb_is_in(ring, at) ? rb_iter_num(at) - ring->reader.num : 0;
}

/**
 * rb_place_empty() - is nothing unread for one of several readers?
 * @ring: the ring
 * @at:   its place
 *
 * Context: As rb_reader_ahead().
 * Return: true if there is nothing to read.
 */
bool rb_place_empty(struct rb_ring *ring, const struct ring_buffer_iter *at)
{
	struct rb_reader *rd = &ring->reader;

	if (rb_reader_ahead(ring, at) <= 0)
		return rb_reader_empty(ring);
	/* It may be on its way over records that it has read already, behind a resize. */
	if ((s64)(rb_ring_written(ring) - rb_iter_num(at)) <= 0)
		return true;
	/* A resize has moved it. */
	if (ring->successor)
		return false;
	return (s64)(rd->seq - at->seq) > 0 ? rb_reader_empty(ring) :
					      rb_is_empty_from(ring, at->seq, at->base + at->c.pos);
}

/* Loss accounting restarts here. */
static void rb_reader_begin(struct rb_reader *rd, u64 seq, u64 num, const struct rb_losses *lost)
{
	rd->seq = seq;
	rd->from = seq;
	rd->taken = 0;
	rd->since = 0;
	rd->num = num;
	rd->next = NULL;
	rd->pos = rb_pub_bytes(atomic64_read(&rd->sb->publish));
	rd->lost = 0;
	rd->read = 0;
	rd->older = 0;
	rd->num_base = num;
	rd->carried.overrun = -lost->overrun;
	rd->carried.commit_overrun = -lost->commit_overrun;
	rd->carried.dropped = -lost->dropped;
}

/*
 * The ring has gone live again, and the position of @rd is of an earlier generation.
 * Put it in front of the first record of this one; as long as there is none, behind the
 * last one of that, where it takes nothing, see rb_reader_find().
 */
static noinline void rb_reader_renew(struct rb_ring *ring, struct rb_reader *rd)
{
	struct rb_losses lost;
	struct rb_subbuf *sb;
	u64 seq, num;
	bool empty;

	do {
		/* Pairs with rb_forget:A: first_seq is not that of the generation before. */
		rd->generation = smp_load_acquire(&ring->generation); /* RBB(rb_reader_renew:C) */
		/* Pairs with rb_publish:A, for its number. RBB(rb_reader_renew:B) */
		sb = smp_load_acquire(&ring->commit);
		seq = READ_ONCE(sb->seq);
		/* Pairs with rb_next_subbuf:A, for &rb_ring.first_seq. RBB(rb_reader_renew:A) */
		empty = smp_load_acquire(&ring->tail) == &rb_fresh || rd->generation & RB_VOID;
		rd->unsettled = empty || (s64)(seq - READ_ONCE(ring->first_seq)) < 0 ?
				RB_READER_WAITS : 0;
		if (!rd->unsettled) {
			rb_reader_begin(rd, ring->first_seq - 1, ring->first_num,
					&ring->first_lost);
			return;
		}
		lost.overrun = local_read(&ring->overrun);
		lost.commit_overrun = local_read(&ring->commit_overrun);
		lost.dropped = local_read(&ring->dropped);
		num = rb_ring_written(ring);
	} while (READ_ONCE(ring->commit) != sb);
	rb_reader_begin(rd, seq, num, &lost);
}

/*
 * Count an inherited sub-buffer that would have been overwritten: it is older than all in the
 * slots, so it would have been the first one. If the reader has begun it, it stays.
 */
static void rb_reader_disown(struct rb_ring *ring, struct rb_reader *rd)
{
	u64 next = rd->seq + 1, records;

	if (!rd->pos && rb_slot_ahead(atomic64_read(rb_slot(ring, next)), next) <= 0)
		return;
	rd->unsettled = 0;
	if (rd->pos)
		return;
	records = rd->sb->first + rd->sb->count - rd->num;
	rd->pos = rb_pub_bytes(atomic64_read(&rd->sb->publish));
	rd->num += records;
	rd->lost += records;
	rd->carried.overrun += records;
}

static noinline void rb_reader_unsettled(struct rb_ring *ring, struct rb_reader *rd)
{
	if (rd->generation != READ_ONCE(ring->generation) || rd->unsettled & RB_READER_WAITS)
		rb_reader_renew(ring, rd);
	else
		rb_reader_disown(ring, rd);
}

/**
 * rb_reader_settle() - bring a reader to the present generation of a ring
 * @ring: the ring
 * @rd:   its reader, or a copy of that
 *
 * Only @rd is written to. A ring that has a successor has no other generation, and perhaps
 * no sub-buffers any more.
 *
 * Context: &rb_ring.lock is held, or @rd is a copy.
 */
void rb_reader_settle(struct rb_ring *ring, struct rb_reader *rd)
{
	if (unlikely(rd->generation != READ_ONCE(ring->generation) || rd->unsettled) &&
	    !READ_ONCE(ring->successor))
		rb_reader_unsettled(ring, rd);
}

/**
 * rb_ring_lock() - lock a ring, and settle its reader
 * @ring: the ring
 * @how:  wait for another one that has it locked, or not; or that is the one before, which the
 *	  caller has locked
 *
 * Nothing else takes the lock.
 *
 * Context: Interrupts are disabled. In an NMI, only to try.
 * Return: true, or false if it is locked and @how is to try. rb_ring_unlock() unlocks.
 */
bool rb_ring_lock(struct rb_ring *ring, enum rb_lock how)
{
	if (how == RB_LOCK_TRY) {
		if (!raw_spin_trylock(&ring->lock))
			return false;
	} else {
		raw_spin_lock_nested(&ring->lock, how == RB_LOCK_NEXT);
	}
	rb_reader_settle(ring, &ring->reader);
	__release(&ring->lock);	/* sparse does not follow it to the caller */
	return true;
}

/**
 * rb_ring_unlock() - unlock a ring
 * @ring: the ring
 *
 * Context: That of rb_ring_lock().
 */
void rb_ring_unlock(struct rb_ring *ring)
{
	__acquire(&ring->lock);
	raw_spin_unlock(&ring->lock);
}

/**
 * rb_reader_carry() - let a ring count the losses of the one before
 * @ring:	 the ring
 * @old:	 the one before; its lock is held
 * @overwritten: records that are lost, more than @old has counted
 *
 * Context: No reader uses @ring.
 */
void rb_reader_carry(struct rb_ring *ring, struct rb_ring *old, unsigned long overwritten)
{
	struct rb_losses *to = &ring->reader.carried, *from = &old->reader.carried;

	lockdep_assert_held(&old->lock);
	to->overrun = rb_ring_overrun(old) + overwritten;
	to->commit_overrun = local_read(&old->commit_overrun) + from->commit_overrun;
	to->dropped = local_read(&old->dropped) + from->dropped;
}

/**
 * rb_reader_inherit() - let the reader of a successor be where the one before it was
 * @old:	 the ring before, which no reader has left; its lock and that of its successor
 *		 are held
 * @overwritten: records of it that did not fit
 *
 * Context: Interrupts are disabled.
 */
void rb_reader_inherit(struct rb_ring *old, unsigned long overwritten)
{
	struct rb_reader *rd = &old->successor->reader, *was = &old->reader;

	rd->num = was->num - old->successor_num;
	rd->lost = was->lost;
	rd->read = was->read;
	rd->older = was->older;
	rd->num_base = was->num_base - old->successor_num;
	rb_reader_carry(old->successor, old, overwritten);
}

/**
 * rb_place_enter() - put a place into the ring that readers use
 * @at:   the place of one of several readers
 * @ring: the ring
 * @num:  running number of its next record
 *
 * It is in front of the reader of the ring, and goes on from there.
 *
 * Context: &rb_ring.lock, of @ring or of the ring before, and &rb_cpu.places are held.
 */
void rb_place_enter(struct ring_buffer_iter *at, struct rb_ring *ring, u64 num)
{
	at->num = num;
	at->from = num;
	at->ring = ring;
	at->ring_id = ring->id;
	at->generation = ring->reader.generation;
	at->erased = READ_ONCE(ring->erased);
	at->seq = ring->reader.seq - 1;
	at->base = 0;
	at->c.pos = 0;
	at->c.end = 0;
}

/**
 * rb_place_join() - put a place that is not in a ring to the next record to consume
 * @at:   the place of one of several readers
 * @ring: the ring that readers use
 * @num:  running number of that record
 *
 * A loss in front of that is one for all that begin.
 *
 * Context: &rb_ring.lock and &rb_cpu.places are held.
 */
void rb_place_join(struct ring_buffer_iter *at, struct rb_ring *ring, u64 num)
{
	rb_place_enter(at, ring, num);
	at->rec = NULL;
	at->missed = ring->reader.lost;
	at->told = 0;
}

/**
 * rb_places_miss() - have the places in front of a loss note their part of it
 * @rcpu: the CPU's part
 * @ring: the ring that readers use
 * @num:  running number of the record behind the loss
 *
 * Context: &rb_ring.lock is held. Not in NMI, which may have met a place that changes.
 */
void rb_places_miss(struct rb_cpu *rcpu, struct rb_ring *ring, u64 num)
{
	s64 lost = ring->reader.lost, left;
	struct ring_buffer_reader *reader;
	struct ring_buffer_iter *at;

	guard(raw_spinlock)(&rcpu->places);
	list_for_each_entry_rcu(reader, &rcpu->buffer->readers, node) {
		at = rb_reader_at(reader, rcpu->cpu);
		if (!at)
			continue;
		if (!rb_is_in(ring, at)) {
			/* Else a cut has left the ring to a mapping: readers have gone on. */
			if (ring == rcu_access_pointer(rcpu->read_ring))
				rb_place_join(at, ring, num);
			continue;
		}
		left = num - rb_iter_num(at);
		if (left <= 0)
			continue;
		/* The record that it has looked at is no loss if it goes behind that now. */
		if (at->rec && left <= lost)
			at->told++;
		at->rec = NULL;
		at->missed += min(left, lost);
		at->from = num;
	}
}

/* Find the last sequence that begins with the record @num, or before it: numbers are in order. */
static u64 rb_place_find(struct rb_ring *ring, u64 num)
{
	struct rb_reader *rd = &ring->reader;
	u64 low = rd->seq, high = READ_ONCE(READ_ONCE(ring->commit)->seq);
	u64 seq, mid, first;
	struct rb_view view;

	while ((s64)(high - low) > 0) {
		mid = high - (high - low) / 2;
		seq = mid;
		if (!rb_reader_find(ring, rd, &seq, &view)) {
			high = mid - 1;
			continue;
		}
		/* The writer may overwrite it: then a place goes on from there. */
		first = data_race(READ_ONCE(view.sb->first));
		if ((s64)(first - num) <= 0)
			low = seq;
		else
			high = mid - 1;
	}
	return low;
}

/**
 * rb_readers_follow() - let several readers be in a new ring where they were in the one before
 * @rcpu: the CPU's part
 * @old:  the ring before; its lock is held
 * @ring: the new one, with a reader that is where it begins to be used
 * @less: number of its records that @old numbers from 0 on
 *
 * Each of them finds its next record by the number, see rb_share_next().
 *
 * Context: Interrupts are disabled.
 */
void rb_readers_follow(struct rb_cpu *rcpu, struct rb_ring *old, struct rb_ring *ring, u64 less)
{
	struct ring_buffer_reader *reader;
	struct ring_buffer_iter *at;
	u64 num;

	lockdep_assert_held(&old->lock);
	guard(raw_spinlock)(&rcpu->places);
	list_for_each_entry_rcu(reader, &rcpu->buffer->readers, node) {
		at = rb_reader_at(reader, rcpu->cpu);
		if (!at || !rb_is_in(old, at))
			continue;
		num = rb_iter_num(at) - less;
		rb_place_enter(at, ring, num);
		if ((s64)(num - ring->reader.num) > 0)
			at->seq = rb_place_find(ring, num);
	}
}

/**
 * rb_reader_leave() - have the readers of a CPU use the successor of its ring
 * @rcpu: the CPU's part
 * @old:  the ring, of which nothing is unread; as for rb_reader_inherit()
 *
 * Context: Interrupts are disabled.
 */
void rb_reader_leave(struct rb_cpu *rcpu, struct rb_ring *old)
{
	rb_readers_follow(rcpu, old, old->successor, old->successor_num);
	rcu_assign_pointer(rcpu->read_ring, old->successor);
	WRITE_ONCE(old->left, true);
}

/*
 * A resize moves the records, the oldest last, and the slowest reader has read all that are here:
 * the others are in the successor already. Return: true if readers go on there.
 */
static noinline bool rb_hand_over(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	if (in_nmi() || !rb_reader_empty(ring))
		return false;
	rb_ring_lock(ring->successor, RB_LOCK_NEXT);
	rb_reader_inherit(ring, 0);
	rb_reader_leave(rcpu, ring);
	rb_ring_unlock(ring->successor);
	return true;
}

/*
 * Is @ring, where the reader has just settled, the one that readers of the CPU use?
 * Pairs with rb_forget:A: a reader that is settled in the generation that a cut began finds
 * that the ring has left the spare buffer.
 */
static __always_inline bool rb_is_read(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	return likely(ring == rcu_access_pointer(rcpu->read_ring)) && /* RBB(rb_is_read:A) */
	       (likely(!ring->successor) || !rb_hand_over(rcpu, ring));
}

/* Lock the ring that readers of a CPU use. Return: the ring; NULL if a try was in vain. */
static __always_inline struct rb_ring *
rb_read_enter(struct rb_cpu *rcpu, unsigned long *flags, enum rb_lock how)
{
	struct rb_ring *ring;

	local_irq_save(*flags);
	do {
		/*
		 * Interrupts are off, which is all that RCU needs. It may not
		 * be watching, where an oops in the idle loop dumps the buffer.
		 */
		ring = rcu_dereference_raw(rcpu->read_ring);
		if (!rb_ring_lock(ring, how))
			break;
		if (rb_is_read(rcpu, ring))
			return ring;
		rb_ring_unlock(ring);
	} while (how == RB_LOCK_WAIT);
	local_irq_restore(*flags);
	return NULL;
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
	return rb_read_enter(rcpu, flags, RB_LOCK_WAIT);
}

/**
 * rb_read_try() - lock the ring that readers of a CPU use, if nobody else has it
 * @rcpu:  the CPU's part
 * @flags: for rb_read_unlock()
 *
 * Context: Any context. Disables interrupts where it returns a ring.
 * Return: the ring, or NULL if it is locked or was just exchanged, or in an NMI that cannot read.
 */
struct rb_ring *rb_read_try(struct rb_cpu *rcpu, unsigned long *flags)
{
	return rb_refuse_read() ? NULL : rb_read_enter(rcpu, flags, RB_LOCK_TRY);
}

/**
 * rb_read_trylock() - lock the ring unless that could wait for ever
 * @rcpu:  the CPU's part
 * @flags: for rb_read_unlock()
 *
 * Context: Any context.
 * Return: the ring, or NULL: in an NMI or an oops, if the lock is held, or in an NMI where
 *	   atomic64_t has one.
 */
struct rb_ring *rb_read_trylock(struct rb_cpu *rcpu, unsigned long *flags)
{
	/* The reader that would unlock it may be stopped, or interrupted by this one. */
	if (in_nmi() || oops_in_progress)
		return rb_read_try(rcpu, flags);
	return rb_read_lock(rcpu, flags);
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
