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

/**
 * struct ring_buffer_iter - a non-consuming read of one CPU
 * @rcpu: part of the CPU of the records
 * @ring: the ring they are in, or were when the read began
 * @seq:  sequence of the sub-buffer that is being read
 * @base: position there of the copy's first byte
 * @generation: &rb_ring.generation that it reads
 * @erased: &rb_ring.erased that it has met
 * @num:  running number of the record at the cursor
 * @from: records with a lower number were seen already
 * @c:    walk over the copy
 * @rec:  record that was peeked at, or NULL
 * @ts:   its time
 * @next: the cursor behind it
 * @lost: records were overwritten in front of the next one
 * @order: pages of @data, as a power of two
 * @size: bytes of @data that a copy can have
 * @data: the copy
 */
struct ring_buffer_iter {
	struct rb_cpu			*rcpu;
	struct rb_ring			*ring;
	u64				seq;
	unsigned int			base;
	unsigned int			generation;
	unsigned int			erased;
	u64				num;
	u64				from;
	struct rb_cursor		c;
	struct ring_buffer_event	*rec;
	u64				ts;
	struct rb_cursor		next;
	bool				lost;
	unsigned int			order;
	unsigned int			size;
	unsigned char			*data;
};

/* Begin at the reader's position. */
static void rb_iter_rewind(struct ring_buffer_iter *iter)
{
	struct rb_reader *rd = &iter->ring->reader;

	iter->seq = rd->seq;
	iter->base = rd->pos;
	iter->num = rd->num;
	iter->c = (struct rb_cursor){ .data = iter->data, .time = rd->time };
	iter->rec = NULL;
}

/* Number of the next record to show. Numbers pass 0, so the later one is not the larger. */
static u64 rb_iter_num(struct ring_buffer_iter *iter)
{
	return (s64)(iter->from - iter->num) > 0 ? iter->from : iter->num;
}

/* Begin with the oldest record of @ring. */
static void rb_iter_attach(struct ring_buffer_iter *iter, struct rb_ring *ring)
{
	iter->ring = ring;
	iter->generation = READ_ONCE(ring->generation);
	iter->erased = READ_ONCE(ring->erased);
	rb_iter_rewind(iter);
	iter->from = iter->num;
}

/*
 * Go on at the reader's position. The records that the reader has consumed are no loss,
 * but a loss in front of the reader is one that the iterator has met as well.
 */
static void rb_iter_catch_up(struct ring_buffer_iter *iter)
{
	struct rb_reader *rd = &iter->ring->reader;

	iter->lost |= rd->lost && (s64)(rd->num - rb_iter_num(iter)) > 0;
	rb_iter_rewind(iter);
}

/* The records moved to another ring: go on there, behind the last one seen. */
static void rb_iter_follow(struct ring_buffer_iter *iter)
{
	struct rb_ring *old = iter->ring;

	/* Numbers below @from are those it has just begun to pass over. */
	iter->num = rb_iter_num(iter) - old->successor_num;
	iter->from = iter->num;
	iter->ring = old->successor;
	/* That of a new ring is 0. An iterator that has ended at a cut does not begin again. */
	iter->generation -= old->generation;
	refcount_inc(&iter->ring->ref);
	rb_ring_put(old);
}

/* Copy from a sub-buffer: nothing if @view does not hold until that is done. */
static void rb_iter_copy(struct ring_buffer_iter *iter, struct rb_view *view, unsigned int pos)
{
	struct rb_data_page *page = READ_ONCE(view->sb->page);
	unsigned int len = min(rb_pub_bytes(view->pub) - pos, iter->size);
	u64 stamp, first;

	/* The writer may be there again: then the slot says so, and none of it is used. */
	stamp = data_race(READ_ONCE(page->time_stamp));
	/* Neither is this, */
	first = data_race(READ_ONCE(view->sb->first));
	rb_race_point(COPY);
	/* nor this. */
	data_race(memcpy(iter->data, page->data + pos, len));
	rb_race_point(COPIED);
	/*
	 * Pairs with rb_claim_slot:A: if any of the copy is from after the
	 * writer came round, so is the slot. RBB(rb_iter_copy:B)
	 */
	smp_rmb();
	iter->base = pos;
	iter->c.pos = 0;
	iter->c.end = 0;
	if (view->word != RB_SLOT_NONE &&
	    view->word != atomic64_read(rb_slot(iter->ring, iter->seq)))
		return;

	if (!pos) {
		iter->lost |= (s64)(first - rb_iter_num(iter)) > 0;
		iter->num = first;
		iter->c.time = stamp;
	}
	iter->c.end = len;
}

/* Copy the records published behind the copy; true: look there, perhaps in vain. */
static bool rb_iter_load_locked(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = iter->ring;
	struct rb_reader *rd = &ring->reader;
	struct rb_view view;
	unsigned int pos;
	u64 seq;

	rb_reader_settle(ring);
	/* A cut has dropped its records, and the later ones are not for it. */
	if (iter->generation != READ_ONCE(ring->generation))
		return false;
	if (iter->erased != READ_ONCE(ring->erased)) {
		/* Losses from before it count no more. The reader is behind all that was erased. */
		iter->erased = ring->erased;
		iter->lost = false;
		rb_iter_catch_up(iter);
	} else if ((s64)(rd->seq - iter->seq) > 0 || (s64)(rd->num - iter->num) > 0) {
		rb_iter_catch_up(iter);
	}
	pos = iter->base + iter->c.pos;

	for (;;) {
		if (iter->seq == rd->seq) {
			view.sb = rd->sb;
			view.word = RB_SLOT_NONE;
			view.pub = atomic64_read_acquire(&rd->sb->publish);
		} else {
			seq = iter->seq;
			if (!rb_locate(ring, &seq, &view))
				return false;
			if (unlikely(iter->generation != READ_ONCE(ring->generation)))
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

	raw_spin_lock_irqsave(&ring->lock, flags);
	while (unlikely(ring->successor)) {
		rb_iter_follow(iter);
		raw_spin_unlock_irqrestore(&ring->lock, flags);
		rb_race_point(FOLLOW);
		ring = iter->ring;
		raw_spin_lock_irqsave(&ring->lock, flags);
		rb_iter_catch_up(iter);
	}
	ok = rb_iter_load_locked(iter);
	raw_spin_unlock_irqrestore(&ring->lock, flags);
	return ok;
}

/* A dump, in an NMI, does not wait: better a doubtful record than none. */
static bool rb_iter_load_dump(struct ring_buffer_iter *iter)
{
	struct rb_ring *ring = iter->ring;
	bool ok;

	if (raw_spin_trylock(&ring->lock)) {
		ok = rb_iter_load_locked(iter);
		raw_spin_unlock(&ring->lock);
	} else {
		ok = rb_iter_load_locked(iter);
	}
	return ok;
}

/* Was the copy erased, here or where its records have moved to? A dump does not wait for locks. */
static bool rb_iter_is_void(const struct ring_buffer_iter *iter, bool dump)
{
	struct rb_ring *ring = iter->ring, *next;
	unsigned long flags;

	while (unlikely(!dump && READ_ONCE(ring->successor))) {
		/* It was stored under the lock, behind all that is in the successor. */
		raw_spin_lock_irqsave(&ring->lock, flags);
		next = ring->successor;
		raw_spin_unlock_irqrestore(&ring->lock, flags);
		ring = next;
	}
	return READ_ONCE(ring->erased) != iter->erased;
}

static struct ring_buffer_event *rb_iter_peek(struct ring_buffer_iter *iter, bool dump)
{
	struct ring_buffer_event *rec;
	struct rb_cursor c;

	if (unlikely(rb_iter_is_void(iter, dump))) {
		iter->rec = NULL;
		iter->c.end = iter->c.pos;
	}
	while (!iter->rec) {
		c = iter->c;
		rec = rb_cursor_next(&c);
		if (!rec) {
			/* Stamps that no record follows count, too. */
			iter->c = c;
			if (!(dump ? rb_iter_load_dump(iter) : rb_iter_load(iter)))
				return NULL;
			continue;
		}
		rb_cursor_skip(&c, rec);
		if (dump && !rb_cursor_valid(&c, rec)) {
			iter->c.pos = iter->c.end;
			return NULL;
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

static void rb_iter_advance(struct ring_buffer_iter *iter, bool dump)
{
	/* A record that was looked at is passed over, also if it was erased since. */
	if (!iter->rec && !rb_iter_peek(iter, dump))
		return;
	iter->c = iter->next;
	iter->rec = NULL;
	iter->num++;
	iter->lost = false;
}

/* A header at the very end of a copy may name a length behind it. */
static_assert(sizeof(u32) <= RB_PAGE_HDR);

/**
 * rb_iter_memory() - tell the memory of an iterator
 * @order: pages of a sub-buffer, as a power of two
 *
 * Context: Any context.
 * Return: bytes.
 */
size_t rb_iter_memory(unsigned int order)
{
	return kmalloc_size_roundup(sizeof(struct ring_buffer_iter)) + rb_subbuf_size(order);
}

/**
 * rb_iter_alloc() - allocate an iterator that is in no ring yet
 * @rcpu:  part of the CPU of the records
 * @order: pages of a sub-buffer, as a power of two
 * @gfp:   how to allocate
 *
 * Context: As @gfp says.
 * Return: the iterator, or NULL.
 */
struct ring_buffer_iter *rb_iter_alloc(struct rb_cpu *rcpu, unsigned int order, gfp_t gfp)
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

/**
 * rb_iter_free() - free the memory of an iterator
 * @iter: the iterator, or NULL
 *
 * Context: Any context but NMI.
 */
void rb_iter_free(struct ring_buffer_iter *iter)
{
	if (!iter)
		return;
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
	rb_iter_attach(iter, ring);
	rb_read_unlock(ring, irq);
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
 * Context: Any context but NMI.
 * Return: the record, valid until the iterator is used again or released; NULL if there is
 *         none for now.
 */
struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *iter, u64 *ts)
{
	struct ring_buffer_event *rec = rb_iter_peek(iter, false);

	if (ts)
		*ts = rec ? iter->ts : 0;
	return rec;
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_peek);

/**
 * ring_buffer_iter_advance() - go to the next record
 * @iter: the iterator
 *
 * Context: Any context but NMI.
 */
void ring_buffer_iter_advance(struct ring_buffer_iter *iter)
{
	rb_iter_advance(iter, false);
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
	rb_iter_attach(iter, ring);
	rb_read_unlock(ring, flags);
	iter->lost = false;
	rb_ring_put(old);
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_reset);

/**
 * ring_buffer_iter_empty() - is there nothing at an iterator?
 * @iter: the iterator
 *
 * Context: Any context but NMI.
 * Return: 1 if there is no record for now, else 0.
 */
int ring_buffer_iter_empty(struct ring_buffer_iter *iter)
{
	return !rb_iter_peek(iter, false);
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
	return iter->lost;
}
EXPORT_SYMBOL_GPL(ring_buffer_iter_dropped);

/**
 * rb_dump_next() - the next record, for a dump that cannot wait for the lock
 * @rcpu:    part of the CPU of the records
 * @ts:      time of the record, or NULL
 * @lost:    set to 0, or NULL
 * @advance: go behind it
 *
 * For a dump from an NMI that interrupted a reader, or comes while another CPU
 * stands still with the lock. Nothing is consumed. If a reader runs meanwhile, a
 * record may be read wrong, but not out of bounds.
 *
 * Context: NMI, one at a time.
 * Return: the record, valid until the next but one call, or NULL.
 */
struct ring_buffer_event *
rb_dump_next(struct rb_cpu *rcpu, u64 *ts, unsigned long *lost, bool advance)
{
	struct rb_ring *ring = rcu_dereference_raw(rcpu->read_ring);
	struct ring_buffer_iter *iter = rcpu->copies.dump;
	struct ring_buffer_event *rec;

	if (!iter)
		return NULL;
	if (iter->ring != ring || iter->generation != READ_ONCE(ring->generation))
		rb_iter_attach(iter, ring);
	rec = rb_iter_peek(iter, true);
	if (!rec)
		return NULL;
	if (ts)
		*ts = iter->ts;
	if (lost)
		*lost = 0;
	if (advance)
		rb_iter_advance(iter, true);
	return rec;
}
