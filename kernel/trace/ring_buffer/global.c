// SPDX-License-Identifier: GPL-2.0
/*
 * A global buffer: one ring for all CPUs, for rare events on machines with many.
 *
 * ::
 *
 *   trace_buffer
 *     cpus[CPU]           its stage, where the CPU reserves and commits
 *     parts[rb_home()]    the one ring, which all others of this directory read
 *     global              the lock of that ring
 *
 * A stage is a normal part with a ring of one sub-buffer. So reserve, commit, discard and the
 * nesting of contexts are those of write.c, and other buffers pay nothing. RB_STATE_WAKE is
 * always set in a stage: thus no write there is a plain one, and the outermost writer, after it
 * has published, calls rb_wake_writer(), which calls &rb_cpu.drain.
 *
 * A drain empties the stage before the outermost writer goes on, in any case. It copies each
 * record to the ring under the lock, with interrupts off and a look at the clock, so the ring is
 * in the order of the times. A record has the time of this copy. Behind the payload it gets a
 * word with the number of the CPU. If the drain does not get the lock within RB_GLOBAL_NS,
 * it drops the records and counts them in &rb_cpu.nest_drops of the stage, which is part of the
 * commit overrun.
 *
 * While it runs, a drain counts as a writer in the stage. So what an NMI writes meanwhile is left
 * to it, and a CPU never waits for a lock that it holds itself: an NMI tries as long as others.
 * The drain exchanges the tail word for an empty one, which fails if an NMI has written, and looks
 * at it again after it has left, as rb_leave() does. Where &rb_ring.nest of a stage is 0, the
 * stage is therefore empty, but for the instructions between rb_leave() and the drain.
 *
 * Interrupts can fill a stage while a record is uncommitted. The records that find no room are
 * refused and counted there. With the clock tai, this also happens to a record of an interrupt
 * that comes between reserve and stamp of the first record in the stage: an absolute stamp cannot
 * say its time. With any clock it happens once, for the first record of a stage. A task that dies
 * between reserve and commit leaves its stage as it is: what its CPU records is lost until a
 * reset, and counted from the time on when the stage is full. No other CPU notices.
 *
 * Only its own CPU touches a stage, but for a reset and for the statistics. The words of the ring
 * that are marked "own CPU" belong to the holder of the lock. It is an atomic of its own: a
 * tracepoint within it would write a record for each record.
 *
 * ======================  ======================  ===========================
 * Writer                  Reader                  Orders
 * ======================  ======================  ===========================
 * rb_global_unlock:A      rb_global_lock:A        all that a drain stored in the ring; the
 *                                                 next drain, of any CPU
 * ======================  ======================  ===========================
 *
 * The pairs of internal.h that a taker or a reader has with the ring's own CPU hold as they
 * are: a later drain comes behind the acquire, so what it stores carries the stores before.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/trace_clock.h>

#include "internal.h"

/*
 * The time that a writer waits for the lock, at most. Copies of some dozens of records take less.
 * Interrupts are off, so the limit does not grow with the number of CPUs that want the lock. The
 * number of looks is the limit if the clock does not run meanwhile.
 */
#define RB_GLOBAL_NS		(10 * NSEC_PER_USEC)
#define RB_GLOBAL_LOOKS		2000

/**
 * struct rb_global - what a global buffer has besides
 * @lock:  1 while records are copied to the one ring
 * @parts: &trace_buffer.parts: the one ring, at rb_home()
 */
struct rb_global {
	atomic_t	lock;
	struct rb_cpu	*parts[];
};

/* Look before each exchange: it would take the cache line away from the CPU with the lock. */
static bool rb_global_lock(struct rb_global *global)
{
	u64 begin = trace_clock_local();
	unsigned int looks;

	for (looks = RB_GLOBAL_LOOKS; looks; looks--) {
		if (!atomic_read(&global->lock) &&
		    /* Pairs with rb_global_unlock:A. RBB(rb_global_lock:A) */
		    !atomic_cmpxchg_acquire(&global->lock, 0, 1))
			return true;
		cpu_relax();
		if (trace_clock_local() - begin > RB_GLOBAL_NS)
			break;
	}
	return false;
}

static void rb_global_unlock(struct rb_global *global)
{
	/* Pairs with rb_global_lock:A. */
	atomic_set_release(&global->lock, 0); /* RBB(rb_global_unlock:A) */
}

/**
 * ring_buffer_global_cpu() - tell the CPU that has written a record of a global buffer
 * @data: the payload of the record
 * @size: its length, with the RB_GLOBAL_WORD bytes behind it
 *
 * Context: Any context.
 * Return: the CPU; -EINVAL if this is no record of a global buffer.
 */
int ring_buffer_global_cpu(const void *data, unsigned int size)
{
	u64 word;

	if (size < sizeof(word))
		return -EINVAL;
	memcpy(&word, data + size - sizeof(word), sizeof(word));
	return (u32)word == U32_MAX && word >> 32 < nr_cpu_ids ? word >> 32 : -EINVAL;
}

/* Copy a record of the stage of @cpu to the ring. */
static void rb_global_copy(struct rb_cpu *one, struct ring_buffer_event *staged, int cpu)
{
	unsigned int len = ring_buffer_event_length(staged);
	/* All bits of the first half are set: for a parser of addresses, as in a stack, the end. */
	u64 word = (u64)cpu << 32 | U32_MAX;
	struct ring_buffer_event *rec;
	void *data;

	rec = rb_reserve_alone(one, len + sizeof(word));
	if (!rec)
		return;
	data = ring_buffer_event_data(rec);
	memcpy(data, ring_buffer_event_data(staged), len);
	memcpy(data + len, &word, sizeof(word));
	rb_commit_alone(one);
}

/*
 * Note in the one ring that records are lost behind those that it has now. The holder of the lock
 * may have begun a sub-buffer with an earlier time, and may have published nothing of it.
 */
static void rb_global_note_missed(struct rb_ring *ring)
{
	struct rb_subbuf *sb = READ_ONCE(ring->tail);
	s64 was = atomic64_read(&ring->missed);
	bool fresh = sb == &rb_fresh;
	u64 seq;

	if (fresh)
		sb = READ_ONCE(ring->commit);
	/* Not &rb_subbuf.seq, which a 32-bit machine loads, and the holder stores, by halves. */
	seq = was + rb_pub_ahead(atomic64_read(&sb->publish), was) + fresh;
	while ((s64)(seq - was) > 0 && !atomic64_try_cmpxchg(&ring->missed, &was, seq))
		;
}

/* Begin to let a stage be empty, as rb_open_subbuf(); the exchange of its tail word is the end. */
static void rb_stage_renew(struct rb_subbuf *sb)
{
	WRITE_ONCE(sb->room, 0);
	sb->base = local_read(&sb->records);
	local_set(&sb->page->commit, 0);
	atomic64_set(&sb->publish, sb->pub_seq);
	barrier();
	rb_race_point(STAGE_RENEW);
}

/*
 * Take all records out of a stage, and copy them to the ring of @one or, without the lock, count
 * them as lost. An NMI may write to the stage meanwhile, until it is full.
 */
static void
rb_stage_empty(struct rb_cpu *stage, struct rb_subbuf *sb, struct rb_cpu *one, bool locked)
{
	struct rb_cursor c = rb_cursor(sb->page, 0, 0, 0);
	struct ring_buffer_event *rec;
	bool missed = !locked;
	u64 tail;

	do {
		tail = local64_read(&sb->tail);
		barrier();
		rb_race_point(STAGE_LOOK);
		/* A writer has left the sub-buffer because a record found no room. */
		missed |= rb_tail_closed(tail);
		c.end = RB_UNIT * (rb_tail_closed(tail) ? sb->end : rb_tail_units(tail));
		while ((rec = rb_cursor_next(&c))) {
			rb_cursor_skip(&c, rec);
			if (locked)
				rb_global_copy(one, rec, stage->cpu);
			else
				local_inc(&stage->nest_drops);
			rb_race_point(STAGE_COPIED);
		}
		rb_stage_renew(sb);
	} while (!local64_try_cmpxchg(&sb->tail, &tail, RB_OPEN_EMPTY));
	stage->full = 0;
	rb_race_point(STAGE_MOVED);
	if (missed)
		rb_global_note_missed(rb_untag(READ_ONCE(one->ring)));
}

/* The outermost writer has left the stage. */
static void rb_stage_drain(struct rb_cpu *stage)
{
	struct rb_global *global = stage->buffer->global;
	struct rb_cpu *one = READ_ONCE(global->parts[rb_home()]);
	struct rb_ring *ring = rb_untag(stage->ring);
	struct rb_subbuf *sb = ring->commit;
	unsigned long flags;
	bool locked;

	/* No tracepoint: it could be recorded here. */
	raw_local_irq_save(flags);
	/* Records may be discarded, or an interrupt may have taken them. */
	while (local64_read(&sb->tail) != RB_OPEN_EMPTY) {
		ring->nest = RB_SHARE_SPECIAL;
		barrier();
		rb_race_point(STAGE_LOCK);
		locked = rb_global_lock(global);
		rb_stage_empty(stage, sb, one, locked);
		if (locked)
			rb_global_unlock(global);
		barrier();
		ring->nest = 0;
		barrier();
		/* An NMI between the exchange and this has left its records to us. */
	}
	raw_local_irq_restore(flags);
}

/**
 * rb_stage_alloc() - allocate the stage of a CPU
 * @buffer: the global buffer
 * @cpu:    the CPU
 *
 * Context: May sleep.
 * Return: the stage, to be freed as other parts are; NULL without memory.
 */
struct rb_cpu *rb_stage_alloc(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *stage;
	struct rb_subbuf *sb;
	struct rb_ring *ring;

	stage = kzalloc_node(roundup_pow_of_two(sizeof(*stage)), RB_GFP, cpu_to_node(cpu));
	if (!stage)
		return NULL;
	stage->buffer = buffer;
	stage->cpu = cpu;
	stage->write.share = RB_SHARE_PLAIN;
	stage->drain = rb_stage_drain;
	atomic_set(&stage->state, RB_STATE_WAKE | RB_STATE_REFUSE);
	/* One slot: the writer cannot enter another sub-buffer, also where it may overwrite. */
	ring = rb_ring_alloc(stage, 1, 0);
	if (!ring) {
		kfree(stage);
		return NULL;
	}
	/* A stage has no reader. */
	sb = ring->reader.sb;
	rb_data_page_free(sb->page, 0);
	sb->page = NULL;
	RCU_INIT_POINTER(stage->read_ring, ring);
	stage->ring = (unsigned long)ring;
	return stage;
}

/**
 * rb_stages_lost() - count the records that never got to the one ring
 * @buffer: a buffer
 *
 * Context: Any context.
 * Return: how many since the last reset; 0 if it is not global.
 */
unsigned long rb_stages_lost(struct trace_buffer *buffer)
{
	unsigned long lost = 0;
	struct rb_cpu *stage;
	struct rb_ring *ring;
	int cpu;

	if (!buffer->global)
		return 0;
	for_each_possible_cpu(cpu) {
		stage = rb_get_writer(buffer, cpu);
		if (!stage)
			continue;
		ring = rb_untag(stage->ring);
		lost += local_read(&stage->nest_drops) + local_read(&ring->dropped) +
			local_read(&ring->commit_overrun);
	}
	return lost;
}

/**
 * rb_stages_reset() - empty the stages of a global buffer, and their counts
 * @buffer: the buffer; it has refused records since before rb_wait_for_writers()
 * @since:  result of that
 *
 * Context: &trace_buffer.mutex is held.
 */
void rb_stages_reset(struct trace_buffer *buffer, unsigned long since)
{
	struct rb_cpu *stage;
	struct rb_ring *ring;
	int cpu;

	for_each_possible_cpu(cpu) {
		stage = rb_get_writer(buffer, cpu);
		if (!stage)
			continue;
		ring = rb_untag(stage->ring);
		/* A task that died between reserve and commit has not left it, see quiesce.c. */
		if (ring->nest && rb_was_alive(cpu, since)) {
			rb_forget_writes(stage);
			rb_stage_renew(ring->commit);
			local64_set(&ring->commit->tail, RB_OPEN_EMPTY);
			stage->full = 0;
			ring->nest = 0;
		}
		local_set(&stage->nest_drops, 0);
		local_set(&ring->dropped, 0);
		local_set(&ring->commit_overrun, 0);
	}
}

/**
 * ring_buffer_set_global() - choose between one ring and one for each CPU
 * @buffer: a buffer of ring_buffer_alloc_unexpanded()
 * @global: true: one ring has the records of all CPUs, each with RB_GLOBAL_WORD bytes more,
 *	    see ring_buffer_global_cpu(). It counts for the first CPU; the others are empty
 *
 * Context: May sleep.
 * Return: 0; -EBUSY if it has its rings already; -ENOMEM.
 */
int ring_buffer_set_global(struct trace_buffer *buffer, bool global)
{
	struct rb_global *g = NULL;

	guard(mutex)(&buffer->mutex);
	if (buffer->expanded)
		return -EBUSY;
	if (global == !!buffer->global)
		return 0;
	if (global) {
		g = kvzalloc(struct_size(g, parts, nr_cpu_ids), RB_GFP);
		if (!g)
			return -ENOMEM;
	}
	guard(mutex)(&buffer->cpu_mutex);
	/* No CPU is in the mask yet, so no writer or reader looks for a part. */
	kvfree(buffer->global);
	buffer->global = g;
	buffer->parts = g ? g->parts : buffer->cpus;
	WRITE_ONCE(buffer->flags, buffer->flags ^ RB_FL_GLOBAL);
	rb_set_order(buffer, buffer->order);
	return 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_set_global);

/**
 * ring_buffer_is_global() - has a buffer one ring for all CPUs?
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: true after ring_buffer_set_global(), and for a spare buffer of such a one.
 */
bool ring_buffer_is_global(struct trace_buffer *buffer)
{
	return rb_is_global(buffer);
}

/**
 * ring_buffer_home() - tell the CPU that the one ring of global buffers counts for
 *
 * Context: Any context.
 * Return: the CPU.
 */
int ring_buffer_home(void)
{
	return rb_home();
}
