// SPDX-License-Identifier: GPL-2.0
/*
 * Reading without consuming: "cat trace".
 *
 * An iterator takes a private copy of the published part of one sub-buffer and
 * walks over that. The copy is made under the lock of the ring's readers and
 * checked against the slot afterwards; the writer takes no notice. A reset of
 * the ring makes it void. The iterator holds a reference to the ring it began
 * on: a swap carries it along with the ring, a resize leaves it the successor.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * The copy that the iterators of a dump share: one dump runs at a time, and shows one record
 * after the other. Any other iterator has a copy of its own, as long as a sub-buffer.
 */
static struct {
	struct ring_buffer_iter	*owner;
	unsigned char		data[PAGE_SIZE] __aligned(8);
} rb_dump;

/* Begin at the position of the reader @rd. */
static void rb_iter_rewind(struct ring_buffer_iter *iter, const struct rb_reader *rd)
{
	iter->seq = rd->seq;
	iter->base = rd->pos;
	iter->num = rd->num;
	iter->c = (struct rb_cursor){ .data = iter->data, .time = rd->time };
	iter->rec = NULL;
}

/* @count records behind the last one shown were overwritten. */
static void rb_iter_miss(struct ring_buffer_iter *iter, s64 count)
{
	iter->missed += max_t(s64, count, 0);
}

/* Begin with the oldest record of @ring for @rd, in the generation that it is settled in. */
static void rb_iter_attach(struct ring_buffer_iter *iter, struct rb_ring *ring,
			   const struct rb_reader *rd)
{
	iter->ring = ring;
	iter->generation = rd->generation;
	iter->erased = READ_ONCE(ring->erased);
	rb_iter_rewind(iter, rd);
	iter->from = iter->num;
}

/*
 * Go on at the reader's position. The records that the reader has consumed are no loss,
 * but a loss in front of the reader is one that the iterator has met as well.
 */
static void rb_iter_catch_up(struct ring_buffer_iter *iter, const struct rb_reader *rd)
{
	rb_iter_miss(iter, min_t(s64, rd->lost, rd->num - rb_iter_num(iter)));
	rb_iter_rewind(iter, rd);
}

/* The later records are in another ring: go on there, behind the last one seen. */
static void rb_iter_follow(struct ring_buffer_iter *iter)
{
	struct rb_ring *old = iter->ring;

	/* Numbers below @from are those it has just begun to pass over. */
	iter->num = rb_iter_num(iter) - old->successor_num;
	iter->from = iter->num;
	iter->end -= old->successor_num;
	iter->ring = old->successor;
	/* That of a new ring is 0. An iterator that has ended at a cut does not begin again. */
	iter->generation -= old->generation;
	if (iter->dump)
		return;
	refcount_inc(&iter->ring->ref);
	rb_ring_put(old);
}

/* Go behind the next record, on a page that may change. Return: how far that is. */
static unsigned int rb_dump_step(struct rb_cursor *c)
{
	unsigned int from = c->pos;
	struct ring_buffer_event *rec = rb_cursor_next(c);

	if (rec) {
		rb_cursor_skip(c, rec);
		if (c->pos <= from || c->pos > c->end)
			c->pos = c->end;
	}
	return c->pos - from;
}

/*
 * Copy from a sub-buffer, or from it no more than the next record: nothing if @view does not hold
 * until that is done.
 */
static void rb_iter_copy(struct ring_buffer_iter *iter, struct rb_view *view, unsigned int pos)
{
	struct rb_data_page *page = READ_ONCE(view->sb->page);
	unsigned int end = rb_pub_bytes(view->pub), len = end - pos;
	unsigned int count;
	struct rb_cursor step;
	u64 stamp, first;
	bool seen;

	/* The writer may be there again: then the slot says so, and none of it is used. */
	stamp = data_race(READ_ONCE(page->time_stamp));
	/* Neither is this, */
	first = data_race(READ_ONCE(view->sb->first));
	/* nor this, */
	count = data_race(READ_ONCE(view->sb->count));
	/* All of it was seen before a resize. */
	seen = !pos && view->pub & RB_PUB_FINAL && (s64)(iter->from - first - count) >= 0;
	if (seen) {
		len = 0;
	} else if (unlikely(iter->single)) {
		step = rb_cursor(page, pos, end, pos ? iter->c.time : stamp);
		/* Nor this: no length leads out of the page. */
		len = data_race(rb_dump_step(&step));
	}
	rb_race_point(COPY);
	/* nor is this. */
	data_race(memcpy(iter->data, page->data + pos, min(len, iter->size)));
	rb_race_point(COPIED);
	iter->base = pos;
	iter->c.pos = 0;
	iter->c.end = 0;
	if (!rb_view_holds(view))
		return;

	if (!pos) {
		rb_iter_miss(iter, first - rb_iter_num(iter));
		iter->num = first;
		iter->c.time = stamp;
	}
	if (seen) {
		iter->num += count;
		iter->seq++;
		return;
	}
	if (likely(len <= iter->size)) {
		iter->c.end = len;
		return;
	}
	/* Of a dump: pass over it. */
	iter->base += len;
	iter->c.time = step.time;
	iter->num++;
	iter->missed++;
}

/**
 * rb_iter_load_from() - copy the records published behind the copy
 * @iter: the iterator
 * @rd:   the reader of its ring, or a copy of that
 *
 * Context: &rb_ring.lock is held, or @rd is a copy.
 * Return: true: look into the copy, perhaps in vain; false: there is nothing.
 */
bool rb_iter_load_from(struct ring_buffer_iter *iter, const struct rb_reader *rd)
{
	struct rb_ring *ring = iter->ring;
	unsigned int pos, erased;
	struct rb_view view;
	u64 seq;

	/*
	 * A cut has dropped its records, and the later ones are not for it. A reset has, too,
	 * but it goes on with those that come.
	 */
	erased = READ_ONCE(ring->erased) - iter->erased;
	if (rd->generation - iter->generation != erased)
		return false;
	if (erased) {
		/* Losses from before it count no more. The reader is behind all that was erased. */
		iter->generation += erased;
		iter->erased += erased;
		rb_iter_catch_up(iter, rd);
		iter->missed = 0;
	} else if ((s64)(rd->seq - iter->seq) > 0 || (s64)(rd->num - iter->num) > 0) {
		rb_iter_catch_up(iter, rd);
	}
	pos = iter->base + iter->c.pos;

	for (;;) {
		if (iter->seq == rd->seq) {
			view.sb = rd->sb;
			view.word = RB_SLOT_NONE;
			view.pub = rb_reader_pub(rd);
		} else {
			seq = iter->seq;
			if (!rb_reader_find(ring, rd, &seq, &view))
				return false;
			if (seq != iter->seq)
				pos = 0;
			iter->seq = seq;
		}

		if (pos < rb_pub_bytes(view.pub)) {
			rb_iter_copy(iter, &view, pos);
			return true;
		}
		if (!(view.pub & RB_PUB_FINAL))
			return false;
		/* Where to look when there is something again. */
		iter->seq++;
		pos = 0;
		iter->base = 0;
		iter->c.pos = 0;
		iter->c.end = 0;
	}
}

static bool rb_iter_load(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = iter->ring;
	unsigned long flags;
	bool ok;

	local_irq_save(flags);
	rb_ring_lock(ring, RB_LOCK_WAIT);
	while (!(ok = !ring->left && rb_iter_load_from(iter, &ring->reader)) && ring->successor) {
		rb_iter_follow(iter);
		rb_read_unlock(ring, flags);
		rb_race_point(FOLLOW);
		ring = iter->ring;
		local_irq_save(flags);
		rb_ring_lock(ring, RB_LOCK_WAIT);
		rb_iter_catch_up(iter, &ring->reader);
	}
	rb_read_unlock(ring, flags);
	return ok;
}

/*
 * Make a copy of the reader for a dump, which may have no lock. The reader may be about to take
 * a sub-buffer, or have half taken it: all of the one before is consumed then. While it
 * consumes records, its position changes at once, but not together with number and time.
 */
static void rb_dump_reader(struct rb_ring *ring, struct rb_reader *rd)
{
	struct rb_cursor c;
	u64 pub;

	/* A reader may be at work: the lines below correct the copy. */
	data_race(*rd = ring->reader);
	rb_reader_settle(ring, rd);
	if (rd->next) {
		rd->sb = rd->next;
		rd->seq = READ_ONCE(rd->sb->seq);
		rd->pos = 0;
	}
	pub = rb_reader_pub(rd);
	if (rd->pos >= rb_pub_bytes(pub))
		return;
	/* On another CPU it has taken one during the copy: go on with the next one. */
	if (!rb_pub_is(pub, rd->seq)) {
		rd->pos = rb_pub_bytes(pub);
		return;
	}
	rd->time = rb_glance(rd->sb->page->time_stamp);
	rd->num = rb_glance(rd->sb->first);
	c = rb_cursor(rd->sb->page, 0, rd->pos, rd->time);
	/* Only stamps can be left at the end. */
	while (data_race(rb_dump_step(&c)))
		rd->num++;
	rd->time = c.time;
}

static bool rb_iter_load_dump(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = iter->ring;
	struct rb_reader rd;
	bool locked, ok;

	for (;;) {
		locked = rb_ring_lock(ring, RB_LOCK_TRY);
		rb_dump_reader(ring, &rd);
		if (ring != iter->ring) {
			rb_iter_follow(iter);
			rb_iter_catch_up(iter, &rd);
		}
		ok = rb_iter_load_from(iter, &rd);
		if (locked)
			rb_ring_unlock(ring);
		/* A resize is moving the records. Pairs with rb_inherit:A. */
		ring = smp_load_acquire(&ring->successor); /* RBB(rb_iter_load_dump:A) */
		if (ok || !ring)
			return ok;
	}
}

/*
 * Find the ring and, where that is another one or of another generation, the place to begin
 * at. Records in the common copy that were for another CPU are no more than its position.
 */
static bool rb_dump_enter(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = rcu_dereference_raw(iter->rcpu->read_ring);
	struct rb_reader rd;

	if (rb_refuse_read())
		return false;
	if (iter->ring && iter->ring == READ_ONCE(ring->successor))
		ring = iter->ring;
	if (iter->ring != ring || iter->generation != READ_ONCE(ring->generation)) {
		rb_dump_reader(ring, &rd);
		rb_iter_attach(iter, ring, &rd);
	}
	if (rb_dump.owner != iter) {
		iter->rec = NULL;
		iter->c.end = iter->c.pos;
		rb_dump.owner = iter;
	}
	return true;
}

/* Was the copy erased, here or where its records have moved to? A dump looks here. */
static bool rb_iter_is_void(const struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = iter->ring, *next = iter->dump ? NULL : ring;

	while (next) {
		ring = next;
		/* Pairs with rb_inherit:A, for &rb_ring.erased. */
		next = smp_load_acquire(&ring->successor); /* RBB(rb_iter_is_void:A) */
	}
	return READ_ONCE(ring->erased) != iter->erased;
}

static struct ring_buffer_event *rb_iter_peek(struct ring_buffer_iter *iter)
{
	struct ring_buffer_event *rec;
	struct rb_cursor c;

	if (unlikely(iter->dump) && !rb_dump_enter(iter))
		return NULL;
	if (unlikely(rb_iter_is_void(iter))) {
		iter->rec = NULL;
		iter->c.end = iter->c.pos;
	}
	while (!iter->rec) {
		c = iter->c;
		rec = rb_cursor_next(&c);
		if (!rec) {
			/* Stamps that no record follows count, too. */
			iter->c = c;
			if (!(iter->dump ? rb_iter_load_dump(iter) : rb_iter_load(iter)))
				return NULL;
			continue;
		}
		rb_cursor_skip(&c, rec);
		if (unlikely(iter->dump) && !rb_cursor_valid(&c, rec)) {
			iter->c.pos = iter->c.end;
			continue;
		}
		if ((s64)(iter->num - iter->from) < 0) {
			iter->c = c;
			iter->num++;
			continue;
		}
		iter->rec = rec;
		iter->ts = c.time;
		iter->next = c;
	}
	return iter->rec;
}

/* A header at the very end of a copy may name a length behind it. */
static_assert(sizeof(u32) <= RB_PAGE_HDR);

static struct ring_buffer_iter *
rb_iter_alloc(struct rb_cpu *rcpu, unsigned int order, gfp_t gfp)
{
	struct ring_buffer_iter *iter;

	iter = kzalloc_node(sizeof(*iter), gfp | __GFP_RETRY_MAYFAIL, cpu_to_node(rcpu->cpu));
	if (!iter)
		return NULL;
	iter->rcpu = rcpu;
	iter->order = order;
	iter->size = rb_subbuf_room(order);
	iter->data = (unsigned char *)rb_data_page_alloc(rcpu->cpu, order, gfp);
	if (iter->data)
		return iter;
	kfree(iter);
	return NULL;
}

static void rb_iter_free(struct ring_buffer_iter *iter)
{
	rb_data_page_free((struct rb_data_page *)iter->data, iter->order);
	kfree(iter);
}

/**
 * ring_buffer_read_start() - begin to read without consuming
 * @buffer: the buffer to read
 * @cpu:    CPU of the records
 * @flags:  how to allocate
 *
 * Writers, consumers, other iterators, resizes and swaps go on, but no change of the
 * sub-buffers' size. Records that
 * are overwritten before the iterator gets there are skipped, see
 * ring_buffer_iter_dropped().
 *
 * Context: As @flags says.
 * Return: the iterator, for ring_buffer_read_finish(), or NULL.
 */
struct ring_buffer_iter *
ring_buffer_read_start(struct trace_buffer *buffer, int cpu, gfp_t flags)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct ring_buffer_iter *iter;
	struct rb_ring *ring;
	unsigned int order;
	unsigned long irq;

	if (!rcpu)
		return NULL;
	if (rb_is_remote(buffer))
		rb_remote_poll(buffer, cpu);
	/* Keeps the sub-buffers' size, see ring_buffer_subbuf_order_set(). */
	atomic_inc(&rcpu->iterators);
	for (;;) {
		ring = rb_read_lock(rcpu, &irq);
		order = ring->order;
		rb_read_unlock(ring, irq);

		iter = rb_iter_alloc(rcpu, order, flags);
		if (!iter) {
			atomic_dec(&rcpu->iterators);
			return NULL;
		}
		ring = rb_read_lock(rcpu, &irq);
		if (likely(ring->order == order))
			break;
		/* A change that had begun before the increment is over now. No other one begins. */
		rb_read_unlock(ring, irq);
		rb_iter_free(iter);
	}
	refcount_inc(&ring->ref);
	rb_iter_attach(iter, ring, &ring->reader);
	rb_read_unlock(ring, irq);
	/* Its reader prints any loss as that of one record: none in front of the first one. */
	if (rb_is_remote(buffer)) {
		rb_iter_peek(iter);
		iter->missed = 0;
	}
	return iter;
}
EXPORT_SYMBOL_GPL(ring_buffer_read_start);

/**
 * ring_buffer_read_finish() - release an iterator
 * @iter: the iterator
 *
 * Context: Any context but NMI.
 */
void ring_buffer_read_finish(struct ring_buffer_iter *iter)
{
	rb_ring_put(iter->ring);
	atomic_dec(&iter->rcpu->iterators);
	rb_iter_free(iter);
}
EXPORT_SYMBOL_GPL(ring_buffer_read_finish);

/**
 * ring_buffer_iter_peek() - look at the record an iterator is at
 * @iter: the iterator
 * @ts:   time of the record, in the unit of the buffer's clock, or NULL
 *
 * Context: Any context but NMI; that of ring_buffer_dump_start() for one from there.
 * Return: the record, valid until the iterator is used again or released; NULL if there is
 *         none for now.
 */
struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *iter, u64 *ts)
{
	struct ring_buffer_event *rec = rb_iter_peek(iter);

	if (ts)
		*ts = rec ? iter->ts : 0;
	return rec;
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_peek);

/**
 * ring_buffer_iter_advance() - go to the next record
 * @iter: the iterator
 *
 * Context: As ring_buffer_iter_peek().
 */
void ring_buffer_iter_advance(struct ring_buffer_iter *iter)
{
	/* A record that was looked at is passed over, also if it was erased since. */
	if (!iter->rec && !rb_iter_peek(iter))
		return;
	iter->c = iter->next;
	iter->rec = NULL;
	iter->num++;
	iter->missed = 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_advance);

/**
 * ring_buffer_iter_reset() - go back to the oldest record
 * @iter: the iterator, or NULL
 *
 * Context: Any context but NMI.
 */
void ring_buffer_iter_reset(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring, *old;
	unsigned long flags;

	if (!iter)
		return;
	/* Where records are now: since it was opened, another ring may have taken over. */
	old = iter->ring;
	ring = rb_read_lock(iter->rcpu, &flags);
	/* A copy of its sub-buffers is too long: their size was changing at the open. */
	if (unlikely(ring->order > iter->order)) {
		rb_read_unlock(ring, flags);
		return;
	}
	refcount_inc(&ring->ref);
	rb_iter_attach(iter, ring, &ring->reader);
	rb_read_unlock(ring, flags);
	iter->missed = 0;
	iter->bounded = false;
	rb_ring_put(old);
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_reset);

/**
 * ring_buffer_iter_bound() - note what an iterator that has to end shows
 * @iter: the iterator
 *
 * All that the CPU has written before this. It sets no end by itself: a look-ahead may go beyond.
 *
 * Context: Any context but NMI.
 */
void ring_buffer_iter_bound(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = iter->ring, *next;
	u64 num = 0;

	/* A ring that has no successor yet keeps its sub-buffers so long. */
	guard(preempt_notrace)();
	/* Pairs with rb_inherit:A, for the number. */
	while ((next = smp_load_acquire(&ring->successor))) { /* RBB(ring_buffer_iter_bound:A) */
		num += ring->successor_num;
		ring = next;
	}
	iter->end = num + rb_ring_written(ring);
	iter->bounded = true;
}

/**
 * ring_buffer_iter_at_bound() - has an iterator shown all that it has to?
 * @iter: the iterator, after ring_buffer_iter_peek() has returned a record
 *
 * Context: Any context but NMI.
 * Return: true if that record is behind the last ring_buffer_iter_bound(), if there was one since
 *	   the iterator began.
 */
bool ring_buffer_iter_at_bound(const struct ring_buffer_iter *iter)
{
	return iter->bounded && (s64)(iter->num - iter->end) >= 0;
}

/**
 * ring_buffer_iter_missed() - records in front of the bound that an iterator will not show
 * @iter: the iterator, after ring_buffer_iter_peek()
 *
 * Context: Any context but NMI.
 * Return: how many were overwritten between the last record that it has shown and the bound.
 */
unsigned long ring_buffer_iter_missed(const struct ring_buffer_iter *iter)
{
	s64 behind = iter->num - iter->end;

	return max_t(s64, iter->missed - max_t(s64, behind, 0), 0);
}

/**
 * ring_buffer_iter_told() - note that the missed records were told
 * @iter: the iterator
 *
 * Context: Any context but NMI.
 */
void ring_buffer_iter_told(struct ring_buffer_iter *iter)
{
	iter->missed -= ring_buffer_iter_missed(iter);
}

/**
 * ring_buffer_iter_empty() - is there nothing at an iterator?
 * @iter: the iterator
 *
 * Context: Any context but NMI.
 * Return: 1 if there is no record for now, else 0.
 */
int ring_buffer_iter_empty(struct ring_buffer_iter *iter)
{
	return !rb_iter_peek(iter);
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_empty);

/**
 * ring_buffer_iter_dropped() - were records overwritten under the iterator?
 * @iter: the iterator
 *
 * Context: Any context.
 * Return: true if there were, in front of the record it is at.
 */
bool ring_buffer_iter_dropped(struct ring_buffer_iter *iter)
{
	return iter->missed;
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_dropped);

/**
 * ring_buffer_iter_boots_ago() - how many boots ago was a record written?
 * @iter: as of ring_buffer_iter_last_boot()
 *
 * Context: Any context.
 * Return: 0, 1, or 2 for earlier ones.
 */
unsigned int ring_buffer_iter_boots_ago(struct ring_buffer_iter *iter)
{
	return rb_boots_ago(iter->ring, iter->seq);
}

/**
 * ring_buffer_iter_last_boot() - is a record of another boot, in memory that survived?
 * @iter: the iterator, after ring_buffer_iter_peek() of the record; it may have gone behind it
 *
 * Then its bytes are not trusted: see Documentation/trace/ring-buffer.rst.
 *
 * Context: Any context.
 * Return: true if it is.
 */
bool ring_buffer_iter_last_boot(struct ring_buffer_iter *iter)
{
	return ring_buffer_iter_boots_ago(iter);
}

/**
 * ring_buffer_dump_start() - begin to dump a CPU's records
 * @buffer: the buffer
 * @cpu:    CPU of the records
 *
 * For a dump in an oops, which may have come while the CPU read the buffer. It begins anew at
 * the reader's position, waits for nothing and consumes nothing. Each look at the iterator of
 * another CPU overwrites the record of the last one. If a reader runs meanwhile, a record may
 * be read wrong, but not out of bounds. One that is longer than a page is left out, and said
 * to be lost.
 *
 * Context: Any context with interrupts disabled, up to the last use of the iterator. One dump
 *	    at a time.
 * Return: the iterator, which is not for ring_buffer_read_finish(); NULL if @cpu never was
 *	   online.
 */
struct ring_buffer_iter *ring_buffer_dump_start(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);

	if (!rcpu)
		return NULL;
	rcpu->dump = (struct ring_buffer_iter){
		.rcpu = rcpu,
		.single = true,
		.dump = true,
		.data = rb_dump.data,
		.size = rb_subbuf_room(0),
	};
	return &rcpu->dump;
}
