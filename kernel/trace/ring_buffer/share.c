// SPDX-License-Identifier: GPL-2.0
/*
 * Several readers that consume together: each of them gets every record.
 *
 * Each has a place in the ring of a CPU, a single iterator: it copies one record at a time, under
 * the lock of the ring's readers, to the copies of the CPU. A place goes from ring to ring, and is
 * looked at also by a reader that is still in another one, so the places have a lock of their own.
 * The reader of the ring is where the slowest of them is, and consumes the records that all of
 * them have read. So a reader that is alone reads as by ring_buffer_consume(), the others in front
 * of it read as iterators do, and the writer takes no notice of any.
 *
 * The loss of a reader is the difference of the number that it expects and that of the record
 * that it finds. A ring that may not be overwritten has no room before the slowest one has read.
 *
 * A place holds no reference to a ring. In another one, or another generation, it is not valid:
 * then the reader is where that of the ring is. So a cut and a reset, which know of no readers, put
 * all of them at the first record behind it, and nothing is lost there. A resize carries
 * them along by number.
 */
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "internal.h"

/* Records that are consumed, or passed over, at a time with interrupts off */
#define RB_SHARE_PART		256

/* For changes of &trace_buffer.readers */
static DEFINE_MUTEX(rb_share_mutex);

/* Lock the ring that readers use, and the places there. */
static struct rb_ring *rb_share_lock(struct rb_cpu *rcpu, unsigned long *flags)
{
	struct rb_ring *ring = rb_read_lock(rcpu, flags);

	raw_spin_lock(&rcpu->places);
	__release(&rcpu->places);	/* sparse does not follow it to the caller */
	return ring;
}

static void rb_share_unlock(struct rb_cpu *rcpu, struct rb_ring *ring, unsigned long flags)
{
	__acquire(&rcpu->places);
	raw_spin_unlock(&rcpu->places);
	rb_read_unlock(ring, flags);
}

/* Be in the ring that readers use. */
static void rb_share_enter(struct ring_buffer_iter *at, struct rb_ring *ring)
{
	if (unlikely(!rb_is_in(ring, at)))
		rb_place_join(at, ring, ring->reader.num);
}

/*
 * Copy the next record, and store it in @at->rec; NULL: there is none. Those with numbers below
 * @at->from were read before a resize.
 *
 * Return: false if it has passed over so many that the lock shall be released.
 */
static bool rb_share_next(struct ring_buffer_iter *at, struct rb_ring *ring)
{
	struct rb_copies *copies = &at->rcpu->copies;
	struct ring_buffer_event *rec;
	struct rb_cursor c;
	unsigned int n;

	at->rec = NULL;
	at->told = 0;
	at->data = (unsigned char *)copies->rec[copies->turn];
	at->size = copies->len;
	at->c.data = at->data;
	for (n = 0; n < RB_SHARE_PART; n++) {
		/* Other readers have used the memory of the last copy. */
		at->base += at->c.pos;
		at->c.pos = 0;
		at->c.end = 0;
		/* The slowest one has the ring's reader take the sub-buffer. */
		if (rb_reader_ahead(ring, at) <= 0)
			rb_reader_next(ring, &c);
		if (!rb_iter_load_from(at, &ring->reader))
			return true;
		c = at->c;
		rec = rb_cursor_next(&c);
		if (rec)
			rb_cursor_skip(&c, rec);
		if (rec && (s64)(at->num - at->from) >= 0) {
			at->rec = rec;
			at->told = at->missed;
			at->ts = c.time;
			at->next = c;
			copies->boots_ago[copies->turn] = rb_boots_ago(ring, at->seq);
			copies->turn ^= 1;
			return true;
		}
		/* Stamps that no record follows count, too. */
		at->c = c;
		at->num += !!rec;
	}
	return false;
}

/* Records that all readers have read, and the ring's reader has not consumed. */
static s64 rb_share_least(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	struct ring_buffer_reader *reader;
	struct ring_buffer_iter *at;
	s64 ahead, least = S64_MAX;

	/* Interrupts are off. */
	list_for_each_entry_rcu(reader, &rcpu->buffer->readers, node) {
		at = rb_reader_at(reader, rcpu->cpu);
		if (!at)
			continue;
		ahead = rb_reader_ahead(ring, at);
		if (ahead <= 0)
			return 0;
		least = min(least, ahead);
	}
	return least == S64_MAX ? 0 : least;
}

/* Consume what all have read. Return: true if there is more of it, perhaps in another ring. */
static bool rb_share_consume(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	struct ring_buffer_event *rec;
	struct rb_cursor c;
	unsigned int n;
	u64 end;

	end = rd->num + rb_share_least(rcpu, ring);
	for (n = 0; (s64)(end - rd->num) > 0; n++) {
		if (n == RB_SHARE_PART)
			return true;
		rec = rb_reader_next(ring, &c);
		/* A resize has moved the rest, and readers leave a ring that is empty, */
		if (!rec)
			return ring->successor;
		/* or it was overwritten. */
		if ((s64)(end - rd->num) <= 0)
			break;
		rb_cursor_skip(&c, rec);
		rb_reader_skip(ring, c.pos, c.time, 1);
		rd->lost = 0;
	}
	return false;
}

/**
 * ring_buffer_reader_open() - add a reader to those that consume together
 * @buffer: the buffer
 * @cpu:    CPU of the records, or RING_BUFFER_ALL_CPUS
 *
 * It begins with the oldest record that is not consumed, and gets each one from there on, but those
 * that are overwritten, dropped, or consumed by other means, such as ring_buffer_read_page().
 *
 * Context: May sleep.
 * Return: the reader, for ring_buffer_reader_close(); NULL without memory.
 */
struct ring_buffer_reader *ring_buffer_reader_open(struct trace_buffer *buffer, int cpu)
{
	unsigned int nr = cpu == RING_BUFFER_ALL_CPUS ? nr_cpu_ids : 1, i;
	struct ring_buffer_reader *reader;
	struct ring_buffer_iter *at;
	struct rb_cpu *rcpu;
	struct rb_ring *ring;
	unsigned long flags;

	reader = kvzalloc(struct_size(reader, at, nr), GFP_KERNEL);
	if (!reader)
		return NULL;
	reader->buffer = buffer;
	reader->cpu = cpu;
	for (i = 0; i < nr; i++)
		reader->at[i].single = true;
	mutex_lock(&rb_share_mutex);
	list_add_rcu(&reader->node, &buffer->readers);
	mutex_unlock(&rb_share_mutex);

	/* A reader that has not seen this one in the list has released the lock then. */
	rb_for_each_cpu(buffer, cpu) {
		at = rb_reader_at(reader, cpu);
		if (!at)
			continue;
		rcpu = rb_get_cpu(buffer, cpu);
		ring = rb_share_lock(rcpu, &flags);
		rb_share_enter(at, ring);
		rb_share_unlock(rcpu, ring, flags);
	}
	return reader;
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_open);

/**
 * ring_buffer_reader_close() - end a reader
 * @reader: the reader, or NULL
 *
 * Records that all the others have read are consumed then.
 *
 * Context: May sleep.
 */
void ring_buffer_reader_close(struct ring_buffer_reader *reader)
{
	struct trace_buffer *buffer;
	struct rb_cpu *rcpu;
	struct rb_ring *ring;
	unsigned long flags;
	bool more;
	int cpu;

	if (!reader)
		return;
	buffer = reader->buffer;
	mutex_lock(&rb_share_mutex);
	list_del_rcu(&reader->node);
	mutex_unlock(&rb_share_mutex);
	rb_for_each_cpu(buffer, cpu) {
		if (!rb_reader_at(reader, cpu))
			continue;
		rcpu = rb_get_cpu(buffer, cpu);
		do {
			ring = rb_share_lock(rcpu, &flags);
			more = rb_share_consume(rcpu, ring);
			rb_share_unlock(rcpu, ring, flags);
			cond_resched();
		} while (more);
	}
	kvfree_rcu(reader, rcu);
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_close);

/* Wait for the end of a resize, which moves the newest records first. */
static void rb_share_await(struct trace_buffer *buffer)
{
	mutex_lock(&buffer->mutex);
	mutex_unlock(&buffer->mutex);
}

/**
 * ring_buffer_reader_peek() - look at the next record of a reader
 * @reader: the reader
 * @cpu:    CPU of the record
 * @ts:     time of the record, in the unit of the buffer's clock, or NULL
 * @lost:   records lost in front of it, since the last one of this reader, or NULL
 *
 * Context: May sleep. The caller serializes the use of @reader, and that of the records of the
 *	    other readers of @cpu.
 * Return: a copy of the record, valid until the next but one call for @cpu, of any reader; NULL if
 *	   there is none.
 */
struct ring_buffer_event *
ring_buffer_reader_peek(struct ring_buffer_reader *reader, int cpu, u64 *ts, unsigned long *lost)
{
	struct rb_cpu *rcpu = rb_get_cpu(reader->buffer, cpu);
	struct ring_buffer_iter *at = rb_reader_at(reader, cpu);
	struct ring_buffer_event *rec;
	struct rb_ring *ring;
	unsigned long flags;
	bool done, moves;

	if (!rcpu || !at || unlikely(!rcpu->copies.len))
		return NULL;
	at->rcpu = rcpu;
	for (;;) {
		ring = rb_share_lock(rcpu, &flags);
		rb_share_enter(at, ring);
		done = rb_share_next(at, ring);
		rec = at->rec;
		moves = done && !rec && ring->successor && !rb_place_empty(ring, at);
		if (rec && ts)
			*ts = at->ts;
		if (rec && lost)
			*lost = at->missed;
		rb_share_unlock(rcpu, ring, flags);
		if (likely(done && !moves))
			return rec;
		if (moves)
			rb_share_await(reader->buffer);
		else
			cond_resched();
	}
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_peek);

/**
 * ring_buffer_reader_advance() - go behind the record that a reader has looked at
 * @reader: the reader
 * @cpu:    CPU of the record
 *
 * It is consumed if this is the last one of its readers. If the record has left the buffer since
 * ring_buffer_reader_peek(), nothing is left to be done.
 *
 * Context: As ring_buffer_reader_peek().
 */
void ring_buffer_reader_advance(struct ring_buffer_reader *reader, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(reader->buffer, cpu);
	struct ring_buffer_iter *at = rb_reader_at(reader, cpu);
	struct rb_ring *ring;
	unsigned long flags;
	bool slowest = false, more;

	if (!rcpu || !at)
		return;
	do {
		ring = rb_share_lock(rcpu, &flags);
		/* Where one is in front of the slowest one, the slowest one stays. */
		slowest |= rb_reader_ahead(ring, at) <= 0;
		if (at->rec && rb_is_in(ring, at)) {
			/* Without a copy, a resize has moved the record. */
			if (likely(at->c.end)) {
				at->c = at->next;
				at->num++;
			} else {
				at->from = rb_iter_num(at) + 1;
			}
		}
		at->rec = NULL;
		at->missed -= at->told;
		at->told = 0;
		more = slowest && rb_share_consume(rcpu, ring);
		rb_share_unlock(rcpu, ring, flags);
	} while (unlikely(more));
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_advance);

/**
 * ring_buffer_reader_empty() - is nothing unread for a reader?
 * @reader: the reader
 * @cpu:    CPU of the records
 *
 * Context: Any context but NMI.
 * Return: true if it has read all that was published.
 */
bool ring_buffer_reader_empty(struct ring_buffer_reader *reader, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(reader->buffer, cpu);
	struct ring_buffer_iter *at = rb_reader_at(reader, cpu);
	struct rb_ring *ring;
	unsigned long flags;
	bool empty;

	if (!rcpu || !at)
		return true;
	ring = rb_share_lock(rcpu, &flags);
	empty = rb_place_empty(ring, at);
	rb_share_unlock(rcpu, ring, flags);
	return empty;
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_empty);

/**
 * ring_buffer_readers_cpu() - count the readers that consume together
 * @buffer: the buffer
 * @cpu:    CPU of the records
 *
 * Context: Any context but NMI.
 * Return: how many read the records of @cpu.
 */
unsigned int ring_buffer_readers_cpu(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_reader *reader;
	unsigned int readers = 0;

	guard(rcu)();
	list_for_each_entry_rcu(reader, &buffer->readers, node)
		readers += !!rb_reader_at(reader, cpu);
	return readers;
}
