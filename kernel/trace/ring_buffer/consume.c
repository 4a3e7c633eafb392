// SPDX-License-Identifier: GPL-2.0
/*
 * Reading record by record: peek and consume, and the copies that callers are given.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * rb_copies_free() - free copies
 * @copies: where it is
 *
 * Context: May sleep.
 */
void rb_copies_free(struct rb_copies *copies)
{
	struct rb_copies *before;

	do {
		rb_data_page_free(copies->rec[0], get_order(copies->len));
		rb_data_page_free(copies->rec[1], get_order(copies->len));
		before = copies->before;
		*copies = before ? *before : (struct rb_copies){ };
		kfree(before);
	} while (before);
}

/**
 * rb_copies_alloc() - allocate memory for copies of records
 * @rcpu:   the CPU's part
 * @order:  of its sub-buffers
 * @copies: the result, with room to keep the copies that it replaces
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM; rb_copies_free() is for both.
 */
int rb_copies_alloc(struct rb_cpu *rcpu, unsigned int order, struct rb_copies *copies)
{
	copies->rec[0] = rb_data_page_alloc(rcpu->cpu, order, GFP_KERNEL);
	copies->rec[1] = rb_data_page_alloc(rcpu->cpu, order, GFP_KERNEL);
	copies->before = kzalloc_node(sizeof(*copies), RB_GFP, cpu_to_node(rcpu->cpu));
	copies->len = rb_subbuf_room(order);
	if (copies->rec[0] && copies->rec[1] && copies->before)
		return 0;
	return -ENOMEM;
}

static __always_inline struct ring_buffer_event *
__rb_reader_next(struct rb_ring *ring, struct rb_cursor *c)
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
		/* Only stamps were left, of records that were discarded: no record follows here. */
		rd->pos = c->pos;
	}
}

/**
 * rb_reader_next() - find the record that would be consumed next
 * @ring: the ring
 * @c:    the result: where it is
 *
 * Context: &rb_ring.lock is held.
 * Return: the record, or NULL.
 */
struct ring_buffer_event *rb_reader_next(struct rb_ring *ring, struct rb_cursor *c)
{
	return __rb_reader_next(ring, c);
}

/*
 * Copy a record out. The caller keeps it across the next call, while the place
 * it came from may be swapped away, freed or written again.
 */
static __always_inline struct ring_buffer_event *
rb_copy_out(struct rb_cpu *rcpu, const struct ring_buffer_event *rec)
{
	unsigned int len = rb_total_len(rec), i;
	u32 *to = (u32 *)rcpu->copies.rec[rcpu->copies.turn];
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

/* Note of the next copy of which boot it is. Out of line: few rings have records of another one. */
static noinline void rb_note_boot(struct rb_cpu *rcpu, const struct rb_ring *ring)
{
	rcpu->copies.boots_ago[rcpu->copies.turn] = rb_boots_ago(ring, ring->reader.seq);
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

	if (!rcpu || unlikely(!rcpu->copies.len))
		return NULL;
	/* A dump does not consume. */
	if (consume && !in_nmi())
		ring = rb_read_lock(rcpu, &flags);
	else
		ring = rb_read_trylock(rcpu, &flags);
	if (unlikely(!ring))
		return NULL;

	rec = __rb_reader_next(ring, &c);
	rb_race_point(READ);
	if (likely(rec)) {
		rd = &ring->reader;
		if (ts)
			*ts = c.time;
		if (lost)
			*lost = rd->lost;
		if (consume) {
			rb_cursor_skip(&c, rec);
			rb_reader_skip(ring, c.pos, c.time, 1);
		}
		if (unlikely(ring->this_boot))
			rb_note_boot(rcpu, ring);
		rec = rb_copy_out(rcpu, rec);
		/* So late that few registers have to survive it. */
		if (consume)
			rb_reader_told(rcpu, ring, rd->num - 1);
	}
	rb_read_unlock(ring, flags);
	return rec;
}

/**
 * ring_buffer_peek() - look at the record that would be consumed next
 * @buffer:      the buffer to read
 * @cpu:         CPU of the records
 * @ts:          time of the record, in the unit of the buffer's clock, or NULL
 * @lost_events: records lost in front of it, or NULL
 *
 * Context: Any context. An NMI that meets another reader gets nothing; a dump has
 *          ring_buffer_dump_start().
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
 * @cpu:         CPU of the records
 * @ts:          time of the record, in the unit of the buffer's clock, or NULL
 * @lost_events: records lost between the last one and this one, or NULL
 *
 * Context: Any context. An NMI that meets another reader gets nothing; a dump has
 *          ring_buffer_dump_start().
 * Return: A copy of the record, valid until the next but one call for @cpu, or
 *         NULL if there is none.
 */
struct ring_buffer_event *
ring_buffer_consume(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost_events)
{
	return rb_read_one(buffer, cpu, ts, lost_events, true);
}
EXPORT_SYMBOL_GPL(ring_buffer_consume);

/* Records that were overwritten behind the reader's sub-buffer, which it has kept meanwhile. */
static u64 rb_reader_gap(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	u64 seq = rd->seq + 1;
	struct rb_view view;

	if (!(rb_reader_pub(rd) & RB_PUB_FINAL) || !rb_reader_find(ring, rd, &seq, &view))
		return 0;
	return view.sb->first - (rd->sb->first + rd->sb->count);
}

/*
 * Begin anew behind records that were dropped: what was consumed and overwritten before those is
 * older, and is counted no more.
 */
static void rb_reader_drop(struct rb_ring *ring, unsigned int pos, u64 time, unsigned long records,
			   u64 from)
{
	struct rb_reader *rd = &ring->reader;

	rb_reader_skip(ring, pos, time, records);
	if (!records)
		return;
	rd->older += records;
	rd->read = 0;
	rd->lost = 0;
	rd->num_base = rd->num;
	rd->carried.overrun = rb_reader_gap(ring) - local_read(&ring->overrun);
	rd->since = max(rd->since, from);
}

/*
 * Drop the records before @from of the oldest sub-buffer, which may be all of them.
 * Return: true if the next one may have some.
 */
static bool rb_drop_some(struct rb_ring *ring, u64 from)
{
	unsigned int end = rb_reader_fill(ring);
	struct rb_reader *rd = &ring->reader;
	u64 pub = rb_reader_pub(rd), seq = rd->seq + 1;
	struct ring_buffer_event *rec;
	unsigned long records = 0;
	struct rb_cursor c, at;
	struct rb_view view;

	if (!end)
		return false;
	/* The time of the next one says it of all that are here. The last boot had another time. */
	if (pub & RB_PUB_FINAL &&
	    (rd->seq < ring->this_boot ||
	     (rb_reader_find(ring, rd, &seq, &view) && view.sb->page->time_stamp < from))) {
		rb_reader_drop(ring, end, U64_MAX, rd->sb->first + rd->sb->count - rd->num, from);
		return true;
	}
	c = rb_cursor(rd->sb->page, rd->pos, end, rd->time);
	for (at = c; (rec = rb_cursor_next(&c)) && c.time < from; at = c) {
		rb_cursor_skip(&c, rec);
		records++;
	}
	/* In front of the stamps that belong to the next record. */
	rb_reader_drop(ring, rec ? at.pos : end, at.time, records, from);
	return !rec;
}

/**
 * ring_buffer_drop_older() - drop the records of a time before &ring_buffer_cut.from
 * @spare: a buffer that was cut into, of which all writers have committed
 *
 * Records that were consumed or overwritten before these count no more, so the statistics are
 * those of a buffer that began at that time. ring_buffer_older_cpu() tells how many were dropped.
 * The sub-buffers stay until ring_buffer_trim().
 *
 * Context: May sleep. Others may read meanwhile.
 */
void ring_buffer_drop_older(struct trace_buffer *spare)
{
	struct rb_cpu *rcpu;
	struct rb_ring *ring;
	unsigned long flags;
	bool more;
	int cpu;

	rb_for_each_cpu(spare, cpu) {
		rcpu = rb_get_cpu(spare, cpu);
		more = rcpu->oldest;
		while (more) {
			ring = rb_read_lock(rcpu, &flags);
			more = rb_drop_some(ring, rcpu->oldest);
			rb_read_unlock(ring, flags);
			cond_resched();
		}
	}
}
EXPORT_SYMBOL_GPL(ring_buffer_drop_older);

/**
 * ring_buffer_boots_ago() - how many boots ago was a record written?
 * @buffer: the buffer
 * @cpu:    CPU of the record
 * @data:   its payload, as ring_buffer_peek() or ring_buffer_consume() has returned it
 *
 * Context: Any context, as long as the record is valid.
 * Return: 0, 1, or 2 for earlier ones, and for memory that is none of these copies, if @buffer can
 *	   have such records.
 */
unsigned int ring_buffer_boots_ago(struct trace_buffer *buffer, int cpu, const void *data)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	unsigned int i;

	if (!buffer->persist || !rcpu)
		return 0;
	for (i = 0; i < ARRAY_SIZE(rcpu->copies.rec); i++) {
		if ((unsigned long)data - (unsigned long)rcpu->copies.rec[i] < rcpu->copies.len)
			return rcpu->copies.boots_ago[i];
	}
	return 2;
}

/**
 * ring_buffer_last_boot() - is a record of another boot, in memory that survived?
 * @buffer: the buffer
 * @cpu:    CPU of the record
 * @data:   its payload, as ring_buffer_peek() or ring_buffer_consume() has returned it
 *
 * Then its bytes are not trusted: see Documentation/trace/ring-buffer.rst.
 *
 * Context: Any context, as long as the record is valid.
 * Return: true if it is; also for memory that is none of these copies, if @buffer can have such
 *	   records.
 */
bool ring_buffer_last_boot(struct trace_buffer *buffer, int cpu, const void *data)
{
	return ring_buffer_boots_ago(buffer, cpu, data);
}

/**
 * ring_buffer_empty_cpu() - is there nothing to read of a CPU?
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: true if nothing was published that was not consumed, or if it cannot be consumed
 *	   now, see ring_buffer_consume().
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
		return true;
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
