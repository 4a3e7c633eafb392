// SPDX-License-Identifier: GPL-2.0
/*
 * A ring: enter the next sub-buffer, publish, find a sequence, count records.
 *
 * Records have running numbers, so most counts are differences: a number is
 * stored once for a sub-buffer, and nothing is counted twice or missed while
 * writer and reader pass each other.
 */
#include "internal.h"

/*
 * The tail of a ring that a cut has just put in place of a live one: it has no room. The
 * first writer that finds it begins a new generation, and the former records of the ring
 * are dropped.
 */
struct rb_subbuf rb_fresh = { .tail = LOCAL64_INIT(RB_CLOSED) };

/*
 * Open @sb for sequence @seq. An interrupt in here does all of it, and the
 * interrupted writer stores the same values once more when it goes on. That is
 * harmless as long as no writer publishes, and none can: an outermost writer
 * has no other one below it. The exchange of the tail word comes last and
 * happens once, since a closed word names the sequence that it closed.
 */
static void rb_open_subbuf(struct rb_subbuf *sb, u64 seq)
{
	u64 tail;

	WRITE_ONCE(sb->seq, seq);
	rb_race_point(OPEN);
	sb->pub_seq = rb_pub_word(seq, 0, 0);
	WRITE_ONCE(sb->room, 0);
	local_set(&sb->page->commit, 0);
	atomic64_set(&sb->publish, rb_pub_word(seq, 0, 0));
	rb_persist_opened(sb);
	barrier();

	tail = local64_read(&sb->tail);
	rb_race_point(OPEN_SET);
	if (rb_tail_closed(tail) && tail != rb_tail_word(seq, RB_CLOSED))
		local64_cmpxchg(&sb->tail, tail, RB_OPEN_EMPTY);
}

/*
 * May a writer take the sub-buffer that @word, of the slot of sequence @seq, names? One
 * of an earlier generation cannot be read any more.
 */
static bool rb_slot_is_free(struct rb_ring *ring, u64 seq, u64 word)
{
	return word & RB_SLOT_EMPTY || (s64)(seq - ring->nr - ring->first_seq) < 0;
}

/**
 * rb_note_refused() - note that a record was refused
 * @ring: the ring
 * @seq:  sequence of the sub-buffer that was the last one
 *
 * Context: The ring's CPU with preemption off, or a ring without writers.
 */
void rb_note_refused(struct rb_ring *ring, u64 seq)
{
	s64 was = local64_read(&ring->refused);

	/* An interrupt may have come to a later one. */
	while ((s64)(seq - was) > 0 && !local64_try_cmpxchg(&ring->refused, &was, seq))
		;
}

/*
 * Claim the slot of sequence @seq: the sub-buffer in it, or the spare that the
 * reader left there for it.
 */
static struct rb_subbuf *rb_claim_slot(struct rb_ring *ring, u64 seq, bool overwrite)
{
	atomic64_t *slot = rb_slot(ring, seq);
	u64 word = atomic64_read(slot);
	struct rb_subbuf *sb;

	do {
		/* Done already, by an interrupt. */
		if (!rb_slot_ahead(word, seq))
			return ring->subbufs[rb_slot_id(word)];

		if (!overwrite && (word & RB_SLOT_HELD || !rb_slot_is_free(ring, seq, word))) {
			local_inc(&ring->dropped);
			return NULL;
		}
		rb_race_point(CLAIM);
		/*
		 * Fully ordered. Pairs with rb_locate:A, rb_view_holds:A and
		 * rb_ring_bytes:B: a reader that sees a later store to the
		 * sub-buffer also sees the new word of the slot. Pairs with
		 * rb_reader_take:A, rb_adopt:A and rb_adopt:B for the
		 * sub-buffer in the slot. RBB(rb_claim_slot:A)
		 */
	} while (!atomic64_try_cmpxchg(slot, &word, rb_slot_word(seq, rb_slot_id(word), 0)));

	sb = ring->subbufs[rb_slot_id(word)];
	rb_race_point(CLAIMED);
	if (!rb_slot_is_free(ring, seq, word))
		local_add(sb->count, &ring->overrun);
	return sb;
}

/*
 * Begin a generation at @first_seq: earlier sequences are dropped. An interrupt in here
 * stores the same before it counts anything, and the interrupted writer once more.
 */
static bool rb_begin_generation(struct rb_ring *ring, u64 first_seq)
{
	struct rb_losses lost = {
		.overrun = local_read(&ring->overrun),
		.commit_overrun = local_read(&ring->commit_overrun),
		.dropped = local_read(&ring->dropped),
	};

	barrier();
	rb_race_point(BEGIN_GENERATION);
	if (READ_ONCE(ring->tail) != &rb_fresh)
		return false;
	rb_race_point(FIRST_SEQ);
	ring->first_lost = lost;
	WRITE_ONCE(ring->first_seq, first_seq);
	barrier();
	return true;
}

/**
 * rb_next_subbuf() - leave a sub-buffer for the next one
 * @ring:	the ring
 * @sb:		the sub-buffer without room
 * @tail:	the tail word that said so
 * @overwrite:	unread records may be overwritten
 *
 * Each step is one exchange from the exact value before it, so that an
 * interrupt anywhere takes the steps that are left and the interrupted writer
 * finds them taken.
 *
 * Context: The ring's CPU, inside the ring (&rb_ring.nest is not 0), or a ring
 *          without writers.
 * Return: true if it is worth to look at the tail again, false if there is no
 *         room; the reason was counted.
 */
bool rb_next_subbuf(struct rb_ring *ring, struct rb_subbuf *sb, u64 tail, bool overwrite)
{
	struct rb_subbuf *was = sb, *next_sb;
	u64 seq, next;

	/* Go on behind the former records: all of them are published. */
	if (unlikely(was == &rb_fresh)) {
		sb = ring->commit;
		tail = local64_read(&sb->tail);
	}
	seq = sb->seq;
	next = seq + 1;

	/*
	 * Close it first, even if there is nowhere to go: where records are
	 * dropped, nothing small may slip in behind them.
	 */
	if (!rb_tail_closed(tail)) {
		u64 was = tail;

		rb_race_point(CLOSE);
		if (!local64_try_cmpxchg(&sb->tail, &was, rb_tail_word(seq, RB_CLOSED)))
			return true;
		rb_race_point(CLOSED);
		sb->end = rb_tail_units(tail);
	}

	/* An interrupt came, and has left this one behind. */
	if (READ_ONCE(ring->tail) != was)
		return true;
	if (unlikely(was == &rb_fresh) && !rb_begin_generation(ring, next))
		return true;

	/*
	 * Never run into a sub-buffer that is not published: the writers in it
	 * would be overtaken by their own interrupts.
	 */
	if ((s64)(next - READ_ONCE(ring->commit)->seq - ring->nr) >= 0) {
		local_inc(&ring->commit_overrun);
		rb_note_refused(ring, seq);
		return false;
	}

	rb_race_point(NEXT);
	next_sb = rb_claim_slot(ring, next, overwrite);
	if (!next_sb) {
		rb_note_refused(ring, seq);
		return false;
	}

	rb_open_subbuf(next_sb, next);
	rb_race_point(OPENED);
	WRITE_ONCE(sb->link, rb_slot_word(next, next_sb->id, 0));
	barrier();
	rb_race_point(LINKED);
	/*
	 * Pairs with rb_reader_renew:A and rb_is_left:A. A taker exchanges it, too.
	 */
	cmpxchg(&ring->tail, was, next_sb); /* RBB(rb_next_subbuf:A) */
	return true;
}

/**
 * rb_publish() - publish all that was reserved, over any number of sub-buffers
 * @ring: the ring
 *
 * Context: The outermost writer inside the ring, or a ring without writers.
 */
void rb_publish(struct rb_ring *ring)
{
	struct rb_subbuf *sb = ring->commit, *next;

	for (;;) {
		u64 tail = local64_read(&sb->tail), link;
		unsigned long records;

		if (!rb_tail_closed(tail)) {
			rb_publish_subbuf(sb, 0, rb_tail_units(tail));
			return;
		}

		if (!(atomic64_read(&sb->publish) & RB_PUB_FINAL)) {
			rb_race_point(FINAL);
			records = local_read(&sb->records);
			WRITE_ONCE(sb->count, records - sb->base);
			rb_publish_subbuf(sb, RB_PUB_FINAL, sb->end);
			rb_race_point(BASE);
			/*
			 * Pairs with rb_ring_written:B: a reader that sees the
			 * base of the next use sees that this one is final.
			 */
			smp_store_release(&sb->base, records); /* RBB(rb_publish:B) */
		}

		/* Closed, but there was nowhere to go. */
		link = READ_ONCE(sb->link);
		if (rb_slot_ahead(link, sb->seq + 1))
			return;

		next = ring->subbufs[rb_slot_id(link)];
		next->first = sb->first + sb->count;
		next->first_byte = sb->first_byte + sb->end * RB_UNIT;
		if (unlikely(next->seq == ring->first_seq))
			ring->first_num = next->first;
		rb_race_point(NUMBERED);
		/*
		 * Pairs with rb_ring_written:A, rb_ring_written:D,
		 * rb_ring_bytes:A and rb_reader_renew:B.
		 */
		smp_store_release(&ring->commit, next); /* RBB(rb_publish:A) */
		rb_race_point(COMMITTED);
		sb = next;
	}
}

/**
 * rb_ring_close() - close the last sub-buffer of a ring
 * @ring: a ring without writers
 *
 * After a cut that is the last one of the generation before.
 *
 * Context: &rb_ring.lock is held.
 */
void rb_ring_close(struct rb_ring *ring)
{
	struct rb_subbuf *sb = ring->tail == &rb_fresh ? ring->commit : ring->tail;
	u64 tail = local64_read(&sb->tail);

	lockdep_assert_held(&ring->lock);
	if (!rb_tail_closed(tail)) {
		sb->end = rb_tail_units(tail);
		local64_set(&sb->tail, rb_tail_word(sb->seq, RB_CLOSED));
	}
	rb_publish(ring);
}

/**
 * rb_locate() - find the first sub-buffer from a sequence on
 * @ring: the ring
 * @seq:  first sequence to look at; moves on over overwritten ones
 * @view: the result
 *
 * The sub-buffer in @view may be overwritten at any time: a caller that only looks
 * asks rb_view_holds() afterwards, a caller that takes it exchanges exactly @view->word.
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

		/* Pairs with rb_claim_slot:A and rb_adopt:C. RBB(rb_locate:A) */
		view->word = atomic64_read_acquire(slot);
		rb_race_point(LOCATE);
		ahead = rb_slot_ahead(view->word, *seq);
		if (ahead > 0) {
			/*
			 * Overwritten. The oldest is at most a lap behind that,
			 * and behind the last one that was entered.
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

/**
 * rb_view_holds() - was all that was loaded from a sub-buffer that of its view?
 * @view: from rb_locate(), or a sub-buffer that the reader owns
 *
 * Context: Any context.
 * Return: false if the writer came round: then none of it may be used.
 */
bool rb_view_holds(const struct rb_view *view)
{
	/*
	 * Pairs with rb_claim_slot:A: if any of it is from after the writer
	 * came round, so is the slot. RBB(rb_view_holds:A)
	 */
	smp_rmb();
	return view->word == RB_SLOT_NONE || view->word == atomic64_read(view->slot);
}

/**
 * rb_ring_written() - the running number of the next record
 * @ring: the ring
 *
 * Records in flight may be in it or not.
 *
 * Context: Any context that keeps @ring from being freed.
 * Return: the number.
 */
u64 rb_ring_written(struct rb_ring *ring)
{
	struct rb_subbuf *sb;
	u64 first, pub, num;

	do {
		/* An address dependency; pairs with rb_publish:A. */
		sb = READ_ONCE(ring->commit); /* RBB(rb_ring_written:A) */
		first = rb_glance(sb->first);
		/* Pairs with rb_publish_subbuf:A, for the count. RBB(rb_ring_written:C) */
		pub = atomic64_read_acquire(&sb->publish);
		if (pub & RB_PUB_FINAL)
			num = first + READ_ONCE(sb->count);
		else
			/* Both wrap as a long does: subtracted before it is widened. */
			num = first + (local_read(&sb->records) - READ_ONCE(sb->base));
		rb_race_point(WRITTEN);
		/* Pairs with rb_publish:B. */
		smp_rmb(); /* RBB(rb_ring_written:B) */
		/*
		 * A lap later @sb is the last one again, and may have been open
		 * for that when it was looked at. Pairs with rb_publish:A: a reader that
		 * sees it come again sees its new number. RBB(rb_ring_written:D)
		 */
	} while (sb != smp_load_acquire(&ring->commit) || first != rb_glance(sb->first) ||
		 (pub ^ atomic64_read(&sb->publish)) >> RB_TAIL_BITS);
	return num;
}

/**
 * rb_ring_overrun() - records that were overwritten unread
 * @ring: the ring
 *
 * Context: &rb_ring.lock is held, or @ring is not in use yet.
 * Return: how many since the ring was reset.
 */
unsigned long rb_ring_overrun(struct rb_ring *ring)
{
	return local_read(&ring->overrun) + ring->reader.carried.overrun;
}

/**
 * rb_ring_entries() - records that can be read
 * @ring: the ring
 *
 * Context: &rb_ring.lock is held, or @ring is not in use yet.
 * Return: how many.
 */
unsigned long rb_ring_entries(struct rb_ring *ring)
{
	/* The losses first: both grow, and the difference must not go below 0. */
	u64 gone = rb_ring_overrun(ring) + ring->reader.read + ring->reader.num_base;

	rb_race_point(ENTRIES);
	return ring->reader.unsettled & RB_READER_WAITS ? 0 : rb_ring_written(ring) - gone;
}

/**
 * rb_ring_dirty() - sub-buffers that hold something unread
 * @ring: the ring
 *
 * Context: &rb_ring.lock is held, or an estimate is good enough.
 * Return: how many, without the reader's and the one being written.
 */
unsigned int rb_ring_dirty(struct rb_ring *ring)
{
	u64 ahead = READ_ONCE(READ_ONCE(ring->commit)->seq) - READ_ONCE(ring->reader.seq);

	return clamp_t(s64, ahead - 1, 0, ring->nr);
}
