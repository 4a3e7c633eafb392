// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that are written elsewhere: by a hypervisor, for example.
 *
 * For each CPU the remote has a ring of pages in the format of format.h, and a meta page with its
 * counts. One of the pages is the reader's. On request the remote takes that back, and gives its
 * oldest page instead. It may still write to that one, until it is full.
 *
 * The records of the reader's page are copied to the ring that the CPU has here, so that all other
 * files read such a buffer as any other. The task that copies is the writer of that ring, and the
 * clock of the buffer is the time that a record has in the page. Where the remote has overwritten
 * pages, the running numbers have a gap, so a reader is told how many records are lost there.
 *
 * The remote does not tell when it writes: a reader calls ring_buffer_poll_remote(). Copies stay
 * here until they are consumed or overwritten, and the remote has as much room again.
 */
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

/* The pages are read by format.h, and written by <linux/ring_buffer_types.h>. */
static_assert(RB_PAGE_HDR == BUF_PAGE_HDR_SIZE);
static_assert(RB_RECORD_HDR == RB_EVNT_HDR_SIZE);
static_assert(RB_UNIT == RB_ALIGNMENT);
static_assert(RB_DELTA_BITS == TS_SHIFT);

/**
 * struct rb_remote_cpu - what was read of the remote's ring of a CPU
 * @desc:  its pages; NULL if it has none
 * @pos:   bytes of the reader's page that were copied
 * @time:  time of the record in front of them
 * @taken: records that were copied, or were too damaged for that
 */
struct rb_remote_cpu {
	const struct ring_buffer_desc	*desc;
	unsigned int			pos;
	u64				time;
	u64				taken;
};

/**
 * struct rb_remote - what a buffer that is written elsewhere has besides
 * @from: the remote
 * @copy: of one of its pages, which does not change while it is checked; &trace_buffer.mutex
 * @cpus: its rings; &trace_buffer.mutex
 */
struct rb_remote {
	struct ring_buffer_remote	*from;
	u8				copy[PAGE_SIZE] __aligned(sizeof(u64));
	struct rb_remote_cpu		cpus[];
};

/* Time of the record that is being copied on this CPU, with interrupts off. */
static DEFINE_PER_CPU(u64, rb_remote_time);

static u64 rb_remote_clock(void)
{
	return raw_cpu_read(rb_remote_time);
}

static const struct trace_buffer_meta *rb_remote_meta(const struct rb_remote_cpu *r)
{
	return (const struct trace_buffer_meta *)r->desc->meta_va;
}

/**
 * rb_remote_attach() - let the records of a buffer come from a remote
 * @buffer: the buffer, without rings yet
 * @from:   the remote
 *
 * The CPUs that it describes will have a part.
 *
 * Context: May sleep.
 * Return: slots that a ring needs to hold all that the remote has; -EINVAL if it describes a ring
 *	   of a CPU that cannot be, or one without pages; -ENOMEM. ring_buffer_free() is for all.
 */
int rb_remote_attach(struct trace_buffer *buffer, struct ring_buffer_remote *from)
{
	struct ring_buffer_desc *desc;
	struct rb_remote *remote;
	unsigned int nr = 0;
	int i;

	remote = kvzalloc(struct_size(remote, cpus, nr_cpu_ids), RB_GFP);
	if (!remote)
		return -ENOMEM;
	remote->from = from;

	guard(mutex)(&buffer->cpu_mutex);
	/* CPU hotplug leaves it alone from here on. */
	buffer->remote = remote;
	cpumask_clear(buffer->seen);
	for_each_ring_buffer_desc(desc, i, from->desc) {
		if ((unsigned int)desc->cpu >= nr_cpu_ids || !desc->nr_page_va ||
		    desc->nr_page_va >= RB_MAX_SUBBUFS)
			return -EINVAL;
		remote->cpus[desc->cpu].desc = desc;
		cpumask_set_cpu(desc->cpu, buffer->seen);
		nr = max(nr, desc->nr_page_va);
	}
	buffer->clock = rb_remote_clock;
	atomic_inc(&buffer->record_disabled);
	/* A page of the remote may begin in the middle of one of ours. */
	return nr + 1;
}

/* Records are lost in front of the next one: let their numbers be left out. */
static void rb_remote_lose(struct rb_cpu *rcpu, unsigned long lost)
{
	struct rb_subbuf *sb;
	struct rb_ring *ring;
	unsigned long flags;
	u64 tail;

	ring = rb_read_lock(rcpu, &flags);
	sb = ring->tail;
	tail = local64_read(&sb->tail);
	/* Only a sub-buffer without records can begin with another number. */
	if (rb_tail_units(tail)) {
		rb_next_subbuf(ring, sb, tail, true);
		rb_publish(ring);
		sb = ring->tail;
	}
	WRITE_ONCE(sb->first, sb->first + lost);
	local_add(lost, &ring->overrun);
	rb_read_unlock(ring, flags);
}

/* Copy a record. The remote does not round the length, so that it may be a bit too long here. */
static void rb_remote_copy_one(struct rb_cpu *rcpu, struct ring_buffer_event *rec, u64 time)
{
	unsigned int len = ring_buffer_event_length(rec);
	struct ring_buffer_event *copy = NULL;

	raw_cpu_write(rb_remote_time, time);
	if (len <= rcpu->buffer->longest)
		copy = rb_reserve_alone(rcpu, len);
	if (!copy) {
		rb_remote_lose(rcpu, 1);
		return;
	}
	memcpy(ring_buffer_event_data(copy), ring_buffer_event_data(rec), len);
	rb_commit_alone(rcpu);
}

/*
 * Copy the records up to @end, of a page that does not change. Return: false if one of them has
 * no possible length. Nothing behind it can be found.
 */
static bool rb_remote_copy_to(struct rb_cpu *rcpu, struct rb_remote_cpu *r,
			      const struct rb_data_page *page, unsigned int end)
{
	struct ring_buffer_event *rec;
	struct rb_cursor c;
	unsigned int len;

	if (end - r->pos < RB_RECORD_HDR + sizeof(u32))
		return false;
	/* A record has two words at least: no second one is read behind the page. */
	c = rb_cursor(page, r->pos, end - sizeof(u32), r->pos ? r->time : page->time_stamp);
	while ((rec = rb_cursor_next(&c))) {
		len = rb_total_len(rec);
		if (len < RB_RECORD_HDR + sizeof(u32) || len > end - c.pos)
			break;
		rb_remote_copy_one(rcpu, rec, c.time);
		rb_cursor_skip(&c, rec);
		r->taken++;
	}
	r->time = c.time;
	return !rec;
}

/* Copy what has come to the reader's page. Return: was there something? */
static bool rb_remote_copy(struct rb_cpu *rcpu, struct rb_remote_cpu *r)
{
	struct rb_data_page *page, *copy = (void *)rcpu->buffer->remote->copy;
	const struct trace_buffer_meta *meta = rb_remote_meta(r);
	u32 id = READ_ONCE(meta->reader.id);
	unsigned long flags, end;

	if (WARN_ON_ONCE(id >= r->desc->nr_page_va))
		return false;
	page = (struct rb_data_page *)r->desc->page_va[id];
	/* Pairs with simple_ring_buffer_commit(), which stores the records first. */
	end = smp_load_acquire((unsigned long *)&page->commit) &
	      ~(RB_MISSED_EVENTS | RB_MISSED_STORED);
	end = min(end, rb_subbuf_room(0));
	if (end <= r->pos)
		return false;

	copy->time_stamp = page->time_stamp;
	memcpy(copy->data + r->pos, page->data + r->pos, end - r->pos);

	/* For the records of a page at most. */
	local_irq_save(flags);
	if (!rb_remote_copy_to(rcpu, r, copy, end)) {
		pr_warn_ratelimited("ring buffer: CPU %d: damaged records of a remote\n",
				    rcpu->cpu);
		rb_remote_lose(rcpu, 1);
		/* How many were lost is not known: go on with those that come. */
		r->taken = READ_ONCE(meta->entries) - READ_ONCE(meta->overrun);
	}
	local_irq_restore(flags);
	r->pos = end;
	return true;
}

/* Copy a page, or the rest of one. Return: false if the remote has nothing more. */
static bool rb_remote_pull(struct rb_cpu *rcpu, struct rb_remote_cpu *r,
			   const struct ring_buffer_remote *from)
{
	const struct trace_buffer_meta *meta = rb_remote_meta(r);
	u64 entries = READ_ONCE(meta->entries);
	unsigned long lost;
	s64 left;

	/*
	 * Pairs with simple_ring_buffer_commit(), which counts a record after its commit. So a
	 * record that is counted here, and is not found on the reader's page below, is on another
	 * page, and the remote has left the reader's. Later losses only make it less.
	 */
	smp_rmb();
	left = entries - READ_ONCE(meta->overrun) - r->taken;
	if (rb_remote_copy(rcpu, r))
		return true;
	if (left <= 0)
		return false;
	if (from->swap_reader_page(rcpu->cpu, from->priv)) {
		pr_warn_ratelimited("ring buffer: CPU %d: the remote gives no page\n", rcpu->cpu);
		return false;
	}
	r->pos = 0;
	lost = READ_ONCE(meta->reader.lost_events);
	if (lost)
		rb_remote_lose(rcpu, lost);
	return rb_remote_copy(rcpu, r);
}

/**
 * rb_remote_poll() - copy what a remote has written for a CPU
 * @buffer: the buffer
 * @cpu:    the CPU, which has a part
 *
 * Context: May sleep.
 */
void rb_remote_poll(struct trace_buffer *buffer, int cpu)
{
	struct rb_remote_cpu *r = &buffer->remote->cpus[cpu];
	unsigned int i;

	guard(mutex)(&buffer->mutex);
	/* No more than it had at the beginning, and what was left of the reader's page. */
	for (i = 0; i <= r->desc->nr_page_va; i++) {
		if (!rb_remote_pull(rb_get_cpu(buffer, cpu), r, buffer->remote->from))
			break;
		cond_resched();
	}
}

/**
 * ring_buffer_poll_remote() - look whether a remote has written, and wake those that wait for it
 * @buffer: a buffer of __ring_buffer_alloc_remote()
 * @cpu:    CPU of the records, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 * Return: 0; -EINVAL if the remote has no ring of @cpu.
 */
int ring_buffer_poll_remote(struct trace_buffer *buffer, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS) {
		rb_for_each_cpu(buffer, cpu)
			rb_remote_poll(buffer, cpu);
		return 0;
	}
	if (!rb_get_cpu(buffer, cpu))
		return -EINVAL;
	rb_remote_poll(buffer, cpu);
	return 0;
}

/**
 * rb_remote_reset() - have the remote throw away its records of a CPU
 * @rcpu: the CPU's part
 *
 * Where it cannot, they come later.
 *
 * Context: &trace_buffer.mutex and &rb_ring.lock are held.
 */
void rb_remote_reset(struct rb_cpu *rcpu)
{
	struct rb_remote *remote = rcpu->buffer->remote;
	struct rb_remote_cpu *r = &remote->cpus[rcpu->cpu];
	struct ring_buffer_remote *from = remote->from;

	lockdep_assert_held(&rcpu->buffer->mutex);
	if (!from->reset || from->reset(rcpu->cpu, from->priv))
		return;
	r->pos = 0;
	r->taken = 0;
}
