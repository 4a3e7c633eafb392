// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics: records written, lost, read, and still there.
 */
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "internal.h"

/* Find the oldest sub-buffer behind the reader's one, which has the publish word @pub. */
static bool rb_oldest(struct rb_ring *ring, u64 pub, struct rb_view *view)
{
	u64 seq = ring->reader.seq + 1;

	return pub & RB_PUB_FINAL && rb_reader_find(ring, &ring->reader, &seq, view);
}

static u64 rb_ring_oldest_ts(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	u64 pub = rb_reader_pub(rd), ts;
	struct rb_view view;

	if (rd->pos < rb_pub_bytes(pub))
		return rd->pos ? rd->time : rd->sb->page->time_stamp;
	do {
		if (!rb_oldest(ring, pub, &view))
			return 0;
		ts = rb_glance(view.sb->page->time_stamp);
	} while (!rb_view_holds(&view));
	return ts;
}

/**
 * rb_ring_since() - tell since when a ring has all records
 * @ring: the ring
 *
 * Records that were overwritten, consumed or refused are not in it. While writers are in
 * the ring, it may lose more.
 *
 * Context: &rb_ring.lock is held.
 * Return: the time, in the unit of the buffer's clock; 0 if it has all; U64_MAX if it has
 *	   none since, so that the time is not known.
 */
u64 rb_ring_since(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	s64 refused = local64_read(&ring->refused), missed = atomic64_read(&ring->missed);
	u64 since = rd->since, next = rd->seq + 1, seq, ts;
	struct rb_view view;
	bool behind;

	if (rd->read || rb_ring_overrun(ring)) {
		ts = rb_ring_oldest_ts(ring);
		if (!ts)
			ts = rd->read ? rd->time : U64_MAX;
		/* A record of this very time was consumed. */
		if (rd->pos && ts == rd->time && ~ts)
			ts++;
		since = max(since, ts);
	}

	if (missed - refused > 0)
		refused = missed;
	/* Behind the reader's sub-buffer, some may be refused or overwritten. */
	behind = (s64)(refused - rd->from) > 0 && (s64)(refused - rd->seq) >= 0;
	if (behind)
		next = refused + 1;
	seq = next;
	if (!rb_reader_find(ring, rd, &seq, &view))
		return behind ? U64_MAX : since;
	if (behind || seq != next)
		since = max(since, rb_glance(view.sb->page->time_stamp));
	return since;
}

static unsigned long rb_ring_bytes(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *commit;
	struct rb_view view;
	unsigned int unread;
	u64 from, end, pub;

	do {
		pub = rb_reader_pub(rd);
		unread = rb_pub_bytes(pub) - rd->pos;
		/* The next one may be overwritten: count from the oldest that is still there. */
		if (!rb_oldest(ring, pub, &view))
			return unread;
		from = rb_glance(view.sb->first_byte);
		/* An address dependency; pairs with rb_publish:A, for &rb_subbuf.first_byte. */
		commit = READ_ONCE(ring->commit); /* RBB(rb_ring_bytes:A) */
		end = rb_glance(commit->first_byte) + rb_pub_bytes(atomic64_read(&commit->publish));
		/*
		 * Pairs with rb_claim_slot:A. The writer does not come round to @commit
		 * before it has claimed the slot of the older one in @view. RBB(rb_ring_bytes:B)
		 */
		smp_rmb();
	} while (view.word != atomic64_read(view.slot));
	return unread + end - from;
}

/* One number of a locked ring; 0 where there is none, or it can't be locked. */
static u64 rb_stat(struct trace_buffer *buffer, int cpu,
		   u64 (*get)(struct rb_cpu *rcpu, struct rb_ring *ring))
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_ring *ring;
	unsigned long flags;
	int tries = 10;
	bool settled;
	u64 value;

	if (!rcpu)
		return 0;
	do {
		ring = rb_read_trylock(rcpu, &flags);
		if (!ring)
			return 0;
		value = get(rcpu, ring);
		settled = rb_reader_is_settled(ring);
		rb_read_unlock(ring, flags);
		/* Each of so many cuts came just then: the number is of a moment that is over. */
	} while (!settled && --tries);
	return value;
}

static unsigned long
rb_stat_sum(struct trace_buffer *buffer, u64 (*get)(struct rb_cpu *rcpu, struct rb_ring *ring))
{
	unsigned long sum = 0;
	int cpu;

	rb_for_each_cpu(buffer, cpu)
		sum += rb_stat(buffer, cpu, get);
	return sum;
}

#define RB_STAT(name, expression)					\
static u64 rb_stat_##name(struct rb_cpu *rcpu, struct rb_ring *ring)	\
{									\
	return expression;						\
}

RB_STAT(entries, rb_ring_entries(ring))
RB_STAT(overrun, rb_ring_overrun(ring))
RB_STAT(commit_overrun, local_read(&ring->commit_overrun) + ring->reader.carried.commit_overrun +
			local_read(&rcpu->nest_drops) + rb_stages_lost(rcpu->buffer))
RB_STAT(dropped, local_read(&ring->dropped) + ring->reader.carried.dropped)
RB_STAT(read, ring->reader.read)
RB_STAT(older, ring->reader.older)
RB_STAT(bytes, rb_ring_bytes(ring))
RB_STAT(oldest, rb_ring_oldest_ts(ring))
RB_STAT(since, rb_ring_since(ring))
RB_STAT(dirty, rb_ring_dirty(ring))
RB_STAT(memory, rb_ring_memory(ring->nr, ring->order) +
		kmalloc_size_roundup(roundup_pow_of_two(sizeof(*rcpu))))

/**
 * ring_buffer_entries_cpu() - records of a CPU that can be read
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: how many.
 */
unsigned long ring_buffer_entries_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_entries);
}
EXPORT_SYMBOL_GPL(ring_buffer_entries_cpu);

/**
 * ring_buffer_overrun_cpu() - records of a CPU that were overwritten unread
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: how many since the last reset.
 */
unsigned long ring_buffer_overrun_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_overrun);
}
EXPORT_SYMBOL_GPL(ring_buffer_overrun_cpu);

/**
 * ring_buffer_commit_overrun_cpu() - records refused behind an uncommitted one
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Interrupts that wrote a whole ring while the interrupted record was not
 * committed, or that nested too deep. In a global buffer also those that a CPU dropped
 * because it did not get the lock of the one ring.
 *
 * Context: Any context.
 * Return: how many since the last reset.
 */
unsigned long ring_buffer_commit_overrun_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_commit_overrun);
}
EXPORT_SYMBOL_GPL(ring_buffer_commit_overrun_cpu);

/**
 * ring_buffer_dropped_events_cpu() - records refused because the ring was full
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Only in a buffer that does not overwrite.
 *
 * Context: Any context.
 * Return: how many since the last reset.
 */
unsigned long ring_buffer_dropped_events_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_dropped);
}
EXPORT_SYMBOL_GPL(ring_buffer_dropped_events_cpu);

/**
 * ring_buffer_read_events_cpu() - records of a CPU that were consumed
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: how many since the last reset.
 */
unsigned long ring_buffer_read_events_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_read);
}
EXPORT_SYMBOL_GPL(ring_buffer_read_events_cpu);

/**
 * ring_buffer_older_cpu() - records of a CPU that ring_buffer_drop_older() has dropped
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: how many since the last reset or cut.
 */
unsigned long ring_buffer_older_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_older);
}

/**
 * ring_buffer_bytes_cpu() - bytes of the records that can be read
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: bytes, headers included.
 */
unsigned long ring_buffer_bytes_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_bytes);
}
EXPORT_SYMBOL_GPL(ring_buffer_bytes_cpu);

/**
 * ring_buffer_oldest_event_ts() - time of the oldest record that can be read
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Where part of its sub-buffer was read: of the last record that was.
 *
 * Context: Any context.
 * Return: the time, in the unit of the buffer's clock, or 0 if there is none.
 */
u64 ring_buffer_oldest_event_ts(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_oldest);
}
EXPORT_SYMBOL_GPL(ring_buffer_oldest_event_ts);

/**
 * ring_buffer_complete_since() - tell since when a CPU's records are complete
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * No record of a later time was overwritten, consumed or refused for lack of room.
 *
 * Context: Any context. A live buffer may lose more meanwhile.
 * Return: the time, in the unit of the buffer's clock; 0 if nothing was lost; U64_MAX if
 *	   the time is not known, as nothing was recorded since.
 */
u64 ring_buffer_complete_since(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_since);
}

/**
 * ring_buffer_nr_dirty_pages() - sub-buffers that hold something unread
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: how many, without the reader's and the one being written.
 */
size_t ring_buffer_nr_dirty_pages(struct trace_buffer *buffer, int cpu)
{
	return rb_stat(buffer, cpu, rb_stat_dirty);
}

/**
 * ring_buffer_entries() - records that can be read
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: the sum over all CPUs.
 */
unsigned long ring_buffer_entries(struct trace_buffer *buffer)
{
	return rb_stat_sum(buffer, rb_stat_entries);
}
EXPORT_SYMBOL_GPL(ring_buffer_entries);

/**
 * ring_buffer_overruns() - records that were overwritten unread
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: the sum over all CPUs since the last reset.
 */
unsigned long ring_buffer_overruns(struct trace_buffer *buffer)
{
	return rb_stat_sum(buffer, rb_stat_overrun);
}
EXPORT_SYMBOL_GPL(ring_buffer_overruns);

/**
 * ring_buffer_size() - the size of a CPU's ring
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: bytes that are there for records.
 */
unsigned long ring_buffer_size(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_ring *ring;

	if (!rcpu)
		return 0;
	/* Without a lock, so that an NMI is told the same. */
	guard(preempt_notrace)();
	ring = rb_untag(READ_ONCE(rcpu->ring));
	return (unsigned long)rb_subbuf_room(ring->order) * ring->nr;
}
EXPORT_SYMBOL_GPL(ring_buffer_size);

/**
 * ring_buffer_memory() - tell the memory of a buffer
 * @buffer: the buffer
 *
 * The copies that peek and consume return do not count, so that a spare buffer for @buffer has as
 * much. The stages of a global buffer do not count, see global.c.
 *
 * Context: Any context.
 * Return: bytes that are allocated, or reserved where it survives a reboot.
 */
size_t ring_buffer_memory(struct trace_buffer *buffer)
{
	return kmalloc_size_roundup(struct_size(buffer, cpus, nr_cpu_ids)) +
	       kmalloc_size_roundup(nr_cpu_ids * sizeof(struct rb_wait)) +
	       rb_stat_sum(buffer, rb_stat_memory);
}
EXPORT_SYMBOL_GPL(ring_buffer_memory);

/**
 * ring_buffer_max_event_size() - the longest payload that can be reserved
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: bytes.
 */
unsigned long ring_buffer_max_event_size(struct trace_buffer *buffer)
{
	unsigned long max = READ_ONCE(buffer->longest);

	return ring_buffer_time_stamp_abs(buffer) ? max - RB_STAMP_LEN : max;
}
EXPORT_SYMBOL_GPL(ring_buffer_max_event_size);

/**
 * ring_buffer_subbuf_size_get() - the size of a sub-buffer
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: bytes, page header included.
 */
int ring_buffer_subbuf_size_get(struct trace_buffer *buffer)
{
	return rb_subbuf_size(READ_ONCE(buffer->order));
}
EXPORT_SYMBOL_GPL(ring_buffer_subbuf_size_get);

/**
 * ring_buffer_subbuf_order_get() - the size of a sub-buffer in pages
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: the power of two, or -EINVAL without a @buffer.
 */
int ring_buffer_subbuf_order_get(struct trace_buffer *buffer)
{
	return buffer ? READ_ONCE(buffer->order) : -EINVAL;
}
EXPORT_SYMBOL_GPL(ring_buffer_subbuf_order_get);
