// SPDX-License-Identifier: GPL-2.0
/*
 * Finding, taking and consuming what was published.
 */
#include <linux/export.h>
#include <linux/preempt.h>

#include "internal.h"

/**
 * rb_locate() - find the first sub-buffer from a sequence on
 * @ring: the ring
 * @seq:  where to look; moves on over what was overwritten
 * @view: what was found
 *
 * What @view says may be overwritten at any time: who only looks compares the
 * slot with @view->word afterwards, who takes it exchanges exactly that word.
 *
 * Context: Any context that keeps @ring from being freed.
 * Return: true if there is a sub-buffer that holds records, or will not get
 *         any; false if nothing of @seq or later is published.
 */
bool rb_locate(struct rb_ring *ring, u64 *seq, struct rb_view *view)
{
	for (;;) {
		atomic64_t *slot = rb_slot(ring, *seq);
		s64 ahead;

		/* Pairs with rb_claim_slot:A. RBB(rb_locate:A) */
		view->word = atomic64_read_acquire(slot);
		rb_race_point(LOCATE);
		ahead = rb_slot_ahead(view->word, *seq);
		if (ahead > 0) {
			/*
			 * Overwritten. The oldest is at most a lap behind that,
			 * and behind what was entered last.
			 */
			view->pub = atomic64_read(&READ_ONCE(ring->commit)->publish);
			*seq += max(ahead, rb_pub_ahead(view->pub, *seq)) - ring->nr + 1;
			continue;
		}
		if (ahead < 0 || view->word & RB_SLOT_EMPTY)
			return false;

		view->slot = slot;
		view->sb = ring->subbufs[rb_slot_id(view->word)];
		/* Pairs with rb_publish_subbuf:A. RBB(rb_locate:B) */
		view->pub = atomic64_read_acquire(&view->sb->publish);
		rb_race_point(LOCATED);
		if (rb_pub_is(view->pub, *seq))
			return view->pub & (RB_PUB_FINAL | RB_CLOSED);
		/* On its way in, or on its way out again. */
		if (atomic64_read(slot) == view->word)
			return false;
	}
}

/* Give the sub-buffer of the reader away for the one in @view. */
static bool rb_reader_take(struct rb_ring *ring, u64 seq, struct rb_view *view)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *sb = view->sb;

	if (rd->sb->persist)
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
			/* It may be of a life that the reader has not come to. */
			if (unlikely(rd->life != READ_ONCE(ring->life)))
				return 0;
		} while (!rb_reader_take(ring, seq, &view));
	}
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

/* The next record to consume, or NULL; @c is where it is. */
static __always_inline struct ring_buffer_event *
rb_reader_next(struct rb_ring *ring, struct rb_cursor *c)
{
	struct rb_reader *rd = &ring->reader;
	struct ring_buffer_event *rec;
	unsigned int end;

	for (;;) {
		end = rb_reader_fill(ring);
		if (!end)
			return NULL;
		*c = rb_cursor(rd->sb->page, rd->pos, end, rd->time);
		rec = rb_cursor_next(c);
		if (likely(rec))
			return rec;
		/* Only stamps were left, of records that were discarded. */
		rd->pos = c->pos;
		rd->time = c->time;
	}
}

/* Who reads has to tell from now on what a ring has lost since this. */
static void rb_reader_begin(struct rb_ring *ring, u64 seq, u64 num, const struct rb_losses *lost)
{
	struct rb_reader *rd = &ring->reader;

	rd->seq = seq;
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
 * The ring has gone live again, and what the reader knows is of the life before.
 * It comes to stand in front of the first record of this one; as long as there is
 * none, behind the last of that, and takes nothing, see rb_reader_fill().
 */
static noinline void rb_reader_renew(struct rb_ring *ring)
{
	struct rb_losses lost;
	struct rb_subbuf *sb;
	unsigned int life;
	u64 seq, num;

	do {
		/* Pairs with rb_forget:A: the floor is not that of the life before. */
		life = smp_load_acquire(&ring->life); /* RBB(rb_reader_renew:C) */
		/* Pairs with rb_publish:A, for its number. RBB(rb_reader_renew:B) */
		sb = smp_load_acquire(&ring->commit);
		seq = READ_ONCE(sb->seq);
		/* Pairs with rb_next_subbuf:A, for &rb_ring.floor. RBB(rb_reader_renew:A) */
		if (smp_load_acquire(&ring->tail) != &rb_fresh &&
		    (s64)(seq - READ_ONCE(ring->floor)) >= 0) {
			ring->reader.life = life;
			rb_reader_begin(ring, ring->floor - 1, ring->floor_num, &ring->floor_lost);
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
 * rb_reader_settle() - see whether what the reader inherited was overwritten
 * @ring: the ring
 *
 * It is older than what is in the slots. Where the writer has begun to
 * overwrite those, this would have been the first to go.
 *
 * Context: &rb_ring.lock is held, or this is a dump.
 */
void rb_reader_settle(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	u64 next = rd->seq + 1, records;

	if (unlikely(rd->life != ring->life))
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
 * rb_reader_skip() - note that records were consumed
 * @ring:    the ring
 * @pos:     position behind them
 * @time:    time of the last of them
 * @records: how many they were
 *
 * Context: &rb_ring.lock is held.
 */
void rb_reader_skip(struct rb_ring *ring, unsigned int pos, u64 time, unsigned long records)
{
	struct rb_reader *rd = &ring->reader;

	rd->pos = pos;
	rd->time = time;
	rd->num += records;
	rd->read += records;
	if (rd->sb->persist)
		rb_persist_consumed(rd->sb, pos);
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
 * rb_read_trylock() - rb_read_lock() where waiting could be for ever
 * @rcpu:  the CPU's part
 * @flags: for rb_read_unlock()
 *
 * Context: Any context.
 * Return: the ring, or NULL: in an NMI, if somebody holds the lock.
 */
struct rb_ring *rb_read_trylock(struct rb_cpu *rcpu, unsigned long *flags)
{
	struct rb_ring *ring;

	if (likely(!in_nmi()))
		return rb_read_lock(rcpu, flags);

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
 * rb_read_unlock() - the end of rb_read_lock()
 * @ring:  what that returned
 * @flags: what that stored
 *
 * Context: That of rb_read_lock(). Restores interrupts.
 */
void rb_read_unlock(struct rb_ring *ring, unsigned long flags)
{
	__acquire(&ring->lock);
	raw_spin_unlock_irqrestore(&ring->lock, flags);
}

/*
 * Copy a record out. The caller keeps it across the next call, while the place
 * it came from may be swapped away, freed or written again.
 */
static __always_inline struct ring_buffer_event *
rb_copy_out(struct rb_cpu *rcpu, const struct ring_buffer_event *rec)
{
	unsigned int len = rb_total_len(rec), i;
	u32 *to = rcpu->copies.rec[rcpu->copies.turn];
	const u32 *from = (const u32 *)rec;

	if (WARN_ON_ONCE(len > rcpu->copies.len))
		return NULL;
	rcpu->copies.turn ^= 1;

	if (len > 128)
		return memcpy(to, from, len);
	for (i = 0; i + 1 < len / RB_UNIT; i += 2)
		__builtin_memcpy(to + i, from + i, 2 * RB_UNIT);
	if (i < len / RB_UNIT)
		to[i] = from[i];
	return (struct ring_buffer_event *)to;
}

static __always_inline struct ring_buffer_event *
rb_read_one(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost, bool consume)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct ring_buffer_event *rec;
	struct rb_reader *rd;
	struct rb_ring *ring;
	unsigned long flags;
	struct rb_cursor c;

	if (!rcpu)
		return NULL;
	ring = rb_read_trylock(rcpu, &flags);
	if (unlikely(!ring))
		return rb_dump_next(rcpu, ts, lost, consume);

	rec = rb_reader_next(ring, &c);
	rb_race_point(READ);
	if (likely(rec)) {
		rd = &ring->reader;
		if (ts)
			*ts = c.time;
		if (lost)
			*lost = rd->lost;
		if (consume) {
			rd->lost = 0;
			rb_cursor_skip(&c, rec);
			rb_reader_skip(ring, c.pos, c.time, 1);
		}
		rec = rb_copy_out(rcpu, rec);
	}
	rb_read_unlock(ring, flags);
	return rec;
}

/**
 * ring_buffer_peek() - look at the record that would be consumed next
 * @buffer:      the buffer to read
 * @cpu:         whose records
 * @ts:          time of the record, in the unit of the buffer's clock, or NULL
 * @lost_events: records lost in front of it, or NULL
 *
 * Context: Any context. In an NMI that meets another reader the records are
 *          shown, but stay.
 * Return: A copy of the record, valid until the next but one call for @cpu, or
 *         NULL if there is none.
 */
struct ring_buffer_event *
ring_buffer_peek(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost_events)
{
	return rb_read_one(buffer, cpu, ts, lost_events, false);
}
EXPORT_SYMBOL_GPL(ring_buffer_peek);

/**
 * ring_buffer_consume() - take the oldest record out of the buffer
 * @buffer:      the buffer to read
 * @cpu:         whose records
 * @ts:          time of the record, in the unit of the buffer's clock, or NULL
 * @lost_events: records lost between the last one and this one, or NULL
 *
 * Context: Any context. In an NMI that meets another reader the records are
 *          shown, but stay.
 * Return: A copy of the record, valid until the next but one call for @cpu, or
 *         NULL if there is none.
 */
struct ring_buffer_event *
ring_buffer_consume(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost_events)
{
	return rb_read_one(buffer, cpu, ts, lost_events, true);
}
EXPORT_SYMBOL_GPL(ring_buffer_consume);

/**
 * ring_buffer_empty_cpu() - is there nothing to read of a CPU?
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: true if nothing was published that was not consumed.
 */
bool ring_buffer_empty_cpu(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_ring *ring;
	unsigned long flags;
	bool empty;

	if (!rcpu)
		return true;
	ring = rb_read_trylock(rcpu, &flags);
	if (!ring)
		return !rb_dump_next(rcpu, NULL, NULL, false);
	empty = rb_reader_empty(ring);
	rb_read_unlock(ring, flags);
	return empty;
}
EXPORT_SYMBOL_GPL(ring_buffer_empty_cpu);

/**
 * ring_buffer_empty() - is there nothing to read of any CPU?
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: true if nothing was published that was not consumed.
 */
bool ring_buffer_empty(struct trace_buffer *buffer)
{
	int cpu;

	rb_for_each_cpu(buffer, cpu) {
		if (!ring_buffer_empty_cpu(buffer, cpu))
			return false;
	}
	return true;
}
EXPORT_SYMBOL_GPL(ring_buffer_empty);
