// SPDX-License-Identifier: GPL-2.0
/*
 * Rings and sub-buffers: how they come and go.
 */
#include <linux/log2.h>
#include <linux/oom.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * Sequences begin a little before the slot word's field for them wraps, and
 * running numbers before 0, so that every boot tests these wraps.
 */
#define RB_FIRST_SEQ	((1ULL << (64 - RB_SLOT_SEQ_SHIFT)) - 64)
#define RB_FIRST_NUM	(-1000ULL)

/**
 * rb_data_page_alloc() - allocate a sub-buffer's memory
 * @cpu:   CPU that will write to it
 * @order: pages, as a power of two
 * @gfp:   how to allocate
 *
 * The memory is zeroed: user space maps sub-buffers that no writer has filled.
 *
 * Context: As @gfp says. Does not call the OOM killer.
 * Return: the memory, or NULL.
 */
struct rb_data_page *rb_data_page_alloc(int cpu, unsigned int order, gfp_t gfp)
{
	struct page *page;

	gfp |= __GFP_RETRY_MAYFAIL | __GFP_COMP | __GFP_ZERO;
	page = alloc_pages_node(cpu_to_node(cpu), gfp, order);
	return page ? page_address(page) : NULL;
}

/**
 * rb_data_page_free() - free a sub-buffer's memory
 * @page:  the memory, or NULL
 * @order: pages, as a power of two
 *
 * Context: Any context but NMI.
 */
void rb_data_page_free(struct rb_data_page *page, unsigned int order)
{
	free_pages((unsigned long)page, order);
}

/* Descriptions of sub-buffers come in groups: a page each, and an object for the rest. */
#define RB_GROUP	((unsigned int)(PAGE_SIZE / sizeof(struct rb_subbuf)))

/* Bytes of a group of @n. kmalloc() aligns powers of two. */
static size_t rb_group_size(unsigned int n)
{
	return roundup_pow_of_two(n * sizeof(struct rb_subbuf));
}

static struct rb_subbuf *rb_group_alloc(int cpu, unsigned int n)
{
	if (n == RB_GROUP)
		return (struct rb_subbuf *)rb_data_page_alloc(cpu, 0, GFP_KERNEL);
	return kzalloc_node(rb_group_size(n), RB_GFP, cpu_to_node(cpu));
}

static void rb_group_free(struct rb_subbuf *group, unsigned int n)
{
	if (n == RB_GROUP)
		rb_data_page_free((struct rb_data_page *)group, 0);
	else
		kfree(group);
}

/* Length of the group that begins with id @i. */
static unsigned int rb_group_len(struct rb_ring *ring, unsigned int i)
{
	return min(ring->nr_subbufs - i, RB_GROUP);
}

/* Allocate the descriptions of all sub-buffers; their memory comes later. */
static bool rb_subbufs_alloc(struct rb_ring *ring, int cpu)
{
	struct rb_subbuf *group;
	unsigned int i, k, n;

	for (i = 0; i < ring->nr_subbufs; i += n) {
		n = rb_group_len(ring, i);
		group = rb_group_alloc(cpu, n);
		if (!group)
			return false;
		for (k = 0; k < n; k++) {
			group[k].id = i + k;
			ring->subbufs[i + k] = &group[k];
		}
	}
	return true;
}

static bool rb_subbuf_fill(struct rb_cpu *rcpu, struct rb_subbuf *sb, unsigned int order)
{
	if (rcpu->buffer->persist)
		rb_persist_place(rcpu, sb, sb->id);
	else
		sb->page = rb_data_page_alloc(rcpu->cpu, order, GFP_KERNEL);
	return sb->page;
}

static void rb_subbufs_free(struct rb_ring *ring)
{
	struct rb_subbuf *sb;
	unsigned int i;

	for (i = 0; i < ring->nr_subbufs; i++) {
		sb = ring->subbufs[i];
		if (sb && !sb->persist)
			rb_data_page_free(sb->page, ring->order);
		cond_resched();
	}
	for (i = 0; i < ring->nr_subbufs; i += RB_GROUP)
		rb_group_free(ring->subbufs[i], rb_group_len(ring, i));
	kvfree(ring->subbufs);
	ring->subbufs = NULL;
	ring->nr_subbufs = 0;
}

/*
 * A grace period after rb_ring_strip() or the last rb_ring_put(): no reader looks at the
 * sub-buffers. They can be many, so a work item frees them, not a softirq.
 */
static void rb_ring_reap(struct work_struct *work)
{
	struct rb_ring *ring = container_of(work, struct rb_ring, reap);

	rb_subbufs_free(ring);
	/* rb_ring_strip() holds a reference. */
	if (refcount_read(&ring->ref)) {
		rb_ring_put(ring);
		return;
	}
	if (ring->successor)
		rb_ring_put(ring->successor);
	kvfree(ring);
}

static void rb_ring_reap_rcu(struct rcu_head *rcu)
{
	struct rb_ring *ring = container_of(rcu, struct rb_ring, rcu);

	queue_work(system_dfl_wq, &ring->reap);
}

/*
 * Not queue_rcu_work(): that loads the workqueue's address at once, and the first
 * buffers are allocated, and freed where memory lacks, before there is one.
 */
static void rb_ring_retire(struct rb_ring *ring)
{
	call_rcu_hurry(&ring->rcu, rb_ring_reap_rcu);
}

/**
 * rb_ring_put() - drop a reference to a ring
 * @ring: the ring
 *
 * The last one has it freed after a grace period: a reader that found it by a pointer
 * with interrupts or preemption off may still look at it.
 *
 * Context: Any context but NMI.
 */
void rb_ring_put(struct rb_ring *ring)
{
	if (refcount_dec_and_test(&ring->ref))
		rb_ring_retire(ring);
}

/**
 * rb_iters_end() - let the iterators of a ring end
 * @ring: a ring that nobody can erase any more, and that has no successor
 *
 * Context: &rb_ring.lock is held.
 */
void rb_iters_end(struct rb_ring *ring)
{
	lockdep_assert_held(&ring->lock);
	/* A reset counts one of each. */
	WRITE_ONCE(ring->generation, ring->generation + 2 * RB_GENERATION);
	WRITE_ONCE(ring->erased, ring->erased + RB_GENERATION);
}

/**
 * rb_ring_strip() - free the sub-buffers of a ring that has a successor
 * @ring: the ring
 *
 * After a grace period, as for rb_ring_put(), even while iterators hold a reference.
 *
 * Context: Any context but NMI. Once for a ring.
 */
void rb_ring_strip(struct rb_ring *ring)
{
	refcount_inc(&ring->ref);
	rb_ring_retire(ring);
}

/*
 * Let @sb be as if a use for sequence @seq had ended, with nothing in it. Its tail is
 * open and empty already, as rb_open_subbuf() leaves it.
 */
static void rb_subbuf_init(struct rb_subbuf *sb, u64 seq)
{
	sb->link = rb_slot_word(seq, 0, 0);	/* not the next one: nowhere */
	atomic64_set(&sb->publish, rb_pub_word(seq, RB_PUB_FINAL, 0));
}

/* The last &rb_ring.id. */
static atomic64_t rb_ring_ids;

static void rb_ring_init(struct rb_ring *ring, struct rb_cpu *rcpu)
{
	u64 seq = div_u64(RB_FIRST_SEQ + ring->nr, ring->nr) * ring->nr;
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *sb;
	unsigned int i;

	raw_spin_lock_init(&ring->lock);
	lockdep_set_class(&ring->lock, rcpu->buffer->lock_key);
	refcount_set(&ring->ref, 1);
	ring->id = atomic64_inc_return(&rb_ring_ids);
	INIT_WORK(&ring->reap, rb_ring_reap);

	/* A lap without a write. */
	for (i = 0; i < ring->nr; i++) {
		rb_subbuf_init(ring->subbufs[i], seq - ring->nr + i);
		atomic64_set(&ring->slots[i], rb_slot_word(seq - ring->nr + i, i, RB_SLOT_EMPTY));
	}

	/* The writer has the first of the next. */
	sb = ring->subbufs[0];
	sb->seq = seq;
	sb->pub_seq = rb_pub_word(seq, 0, 0);
	sb->first = RB_FIRST_NUM;
	local64_set(&sb->tail, RB_OPEN_EMPTY);
	atomic64_set(&sb->publish, rb_pub_word(seq, 0, 0));
	atomic64_set(&ring->slots[0], rb_slot_word(seq, 0, 0));
	ring->tail = sb;
	ring->commit = sb;

	/* And the reader one that it is at the end of. */
	rd->sb = ring->subbufs[ring->nr];
	rb_subbuf_init(rd->sb, seq - 1);
	rd->seq = seq - 1;
	rd->from = seq - 1;
	rd->num = RB_FIRST_NUM;
	ring->reader.num_base = RB_FIRST_NUM;
}

/**
 * rb_slots_for() - slots that a ring needs
 * @size:  bytes for records
 * @order: pages of a sub-buffer, as a power of two
 *
 * Context: Any context.
 * Return: how many, or UINT_MAX for more than a ring can have.
 */
unsigned int rb_slots_for(unsigned long size, unsigned int order)
{
	unsigned int room = rb_subbuf_room(order);
	unsigned long nr = size / room + !!(size % room);

	return clamp_t(unsigned long, nr, RB_MIN_SLOTS, UINT_MAX);
}

/* kmalloc() aligns powers of two, and whatever is larger than a page. */
static size_t rb_ring_size(unsigned int nr)
{
	size_t size = struct_size_t(struct rb_ring, slots, nr);

	return size < PAGE_SIZE ? roundup_pow_of_two(size) : size;
}

/* One for each slot, the reader's, and one without memory, see rb_adopt() in resize.c. */
static unsigned int rb_nr_subbufs(unsigned int nr)
{
	return nr + 2;
}

/**
 * rb_ring_memory() - tell the memory of a ring
 * @nr:    slots
 * @order: pages of a sub-buffer, as a power of two
 *
 * Context: Any context.
 * Return: bytes.
 */
size_t rb_ring_memory(unsigned int nr, unsigned int order)
{
	unsigned int n = rb_nr_subbufs(nr);
	size_t size = (n / RB_GROUP) * rb_group_size(RB_GROUP);

	if (n % RB_GROUP)
		size += rb_group_size(n % RB_GROUP);
	return kmalloc_size_roundup(rb_ring_size(nr)) +
	       kmalloc_size_roundup(n * sizeof(struct rb_subbuf *)) +
	       size + (nr + 1) * (size_t)rb_subbuf_size(order);
}

/**
 * rb_ring_alloc() - allocate a ring
 * @rcpu:  part of the CPU that the ring is for
 * @nr:    slots
 * @order: pages of a sub-buffer, as a power of two
 *
 * Context: May sleep.
 * Return: an empty ring; NULL without memory, for too many slots, or if the task is killed.
 */
struct rb_ring *rb_ring_alloc(struct rb_cpu *rcpu, unsigned int nr, unsigned int order)
{
	bool user = current->mm, ok;
	struct rb_ring *ring;
	unsigned int i;

	/* Far below the ids that a slot word has, see also rb_persist_attach(). */
	if (nr >= RB_MAX_SUBBUFS / 2)
		return NULL;
	/*
	 * Refuse a size that obviously is too large before the rest of the system suffers. An
	 * estimate: that it fits does not mean that the allocations succeed.
	 */
	if (!rcpu->buffer->persist && nr + 1UL > (unsigned long)si_mem_available() >> order)
		return NULL;

	ring = kvzalloc_node(rb_ring_size(nr), RB_GFP, cpu_to_node(rcpu->cpu));
	if (!ring)
		return NULL;

	ring->nr = nr;
	ring->order = order;
	if (rcpu->buffer->persist)
		ring->persist = rb_persist_ring(rcpu->buffer, rcpu->cpu);
	ring->nr_subbufs = rb_nr_subbufs(nr);
	ring->subbufs = kvcalloc_node(ring->nr_subbufs, sizeof(*ring->subbufs), RB_GFP,
				      cpu_to_node(rcpu->cpu));
	if (!ring->subbufs)
		goto fail;

	/* The OOM killer shall choose the task that asks for too much. */
	if (user)
		set_current_oom_origin();
	ok = rb_subbufs_alloc(ring, rcpu->cpu);
	for (i = 0; ok && i <= nr; i++) {
		ok = rb_subbuf_fill(rcpu, ring->subbufs[i], order) &&
		     !(user && fatal_signal_pending(current));
		cond_resched();
	}
	if (user)
		clear_current_oom_origin();
	if (!ok)
		goto fail;

	rb_ring_init(ring, rcpu);
	return ring;
fail:
	if (ring->subbufs)
		rb_subbufs_free(ring);
	kvfree(ring);
	return NULL;
}
