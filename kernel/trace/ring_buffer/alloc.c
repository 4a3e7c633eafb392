// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers, rings and sub-buffers: how they come and go.
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/oom.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/trace_clock.h>

#include "internal.h"

/* A ring has at least that many slots: one is written, one may be read. */
#define RB_MIN_SLOTS	2

/*
 * Sequences begin a little before the slot word's field for them wraps, and
 * running numbers before 0, so that every boot tests what happens there.
 */
#define RB_FIRST_SEQ	((1ULL << (64 - RB_SLOT_SEQ_SHIFT)) - 64)
#define RB_FIRST_NUM	(-1000ULL)

/*
 * Tell what obviously will not do before the rest of the system suffers. An
 * estimate: that it fits does not mean that the allocations succeed.
 */
static bool rb_memory_for(unsigned long subbufs, unsigned int order)
{
	return subbufs <= (unsigned long)si_mem_available() >> order;
}

/**
 * rb_data_page_alloc() - allocate a sub-buffer's memory
 * @cpu:   whose it will be
 * @order: pages, as a power of two
 *
 * Context: May sleep. Does not call the OOM killer.
 * Return: zeroed memory, or NULL.
 */
struct rb_data_page *rb_data_page_alloc(int cpu, unsigned int order)
{
	struct page *page;

	page = alloc_pages_node(cpu_to_node(cpu), RB_GFP | __GFP_COMP | __GFP_ZERO, order);
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

static void rb_subbuf_free(struct rb_subbuf *sb, unsigned int order)
{
	if (!sb)
		return;
	if (!sb->stable)
		rb_data_page_free(sb->page, order);
	kfree(sb);
}

static struct rb_subbuf *
rb_subbuf_alloc(struct rb_cpu *rcpu, unsigned int id, unsigned int order)
{
	int node = cpu_to_node(rcpu->cpu);
	struct rb_subbuf *sb;

	sb = kzalloc_node(roundup_pow_of_two(sizeof(*sb)), RB_GFP, node);
	if (!sb)
		return NULL;

	sb->id = id;
	if (rcpu->buffer->persist)
		rb_persist_place(rcpu, sb, id);
	else
		sb->page = rb_data_page_alloc(rcpu->cpu, order);
	if (!sb->page) {
		kfree(sb);
		return NULL;
	}
	return sb;
}

static void rb_subbufs_free(struct rb_ring *ring)
{
	unsigned int i;

	for (i = 0; i < ring->nr_subbufs; i++) {
		rb_subbuf_free(ring->subbufs[i], ring->order);
		cond_resched();
	}
	kvfree(ring->subbufs);
	ring->subbufs = NULL;
	ring->nr_subbufs = 0;
}

/*
 * A grace period after rb_ring_strip() or the last rb_ring_put(): nobody looks at the
 * sub-buffers. There can be many of them, so this is no softirq.
 */
static void rb_ring_reap(struct work_struct *work)
{
	struct rb_ring *ring = container_of(work, struct rb_ring, reap);

	rb_subbufs_free(ring);
	/* Stripped: that holds a reference. */
	if (refcount_read(&ring->ref)) {
		rb_ring_put(ring);
		return;
	}
	if (ring->heir)
		rb_ring_put(ring->heir);
	kvfree(ring);
}

static void rb_ring_reap_rcu(struct rcu_head *rcu)
{
	struct rb_ring *ring = container_of(rcu, struct rb_ring, rcu);

	queue_work(system_unbound_wq, &ring->reap);
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
 * rb_ring_strip() - free the sub-buffers of a ring that has an heir
 * @ring: the ring
 *
 * After a grace period, as for rb_ring_put(), but whatever iterators hold it.
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

static void rb_ring_init(struct rb_ring *ring, struct rb_cpu *rcpu)
{
	u64 seq = div_u64(RB_FIRST_SEQ + ring->nr, ring->nr) * ring->nr;
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *sb;
	unsigned int i;

	raw_spin_lock_init(&ring->lock);
	lockdep_set_class(&ring->lock, rcpu->buffer->lock_key);
	refcount_set(&ring->ref, 1);
	INIT_WORK(&ring->reap, rb_ring_reap);

	/* A lap that nobody wrote. */
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
	rd->num = RB_FIRST_NUM;
	ring->num_base = RB_FIRST_NUM;
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

/**
 * rb_ring_alloc() - allocate a ring
 * @rcpu:  whose ring it will be
 * @nr:    slots
 * @order: pages of a sub-buffer, as a power of two
 *
 * Context: May sleep.
 * Return: an empty ring, or NULL.
 */
struct rb_ring *rb_ring_alloc(struct rb_cpu *rcpu, unsigned int nr, unsigned int order)
{
	bool user = current->mm;
	struct rb_ring *ring;
	unsigned int i;
	size_t size;

	/* One for each slot, and one for the reader. */
	if (nr >= RB_MAX_SUBBUFS / 2)
		return NULL;
	if (!rcpu->buffer->persist && !rb_memory_for(nr + 1, order))
		return NULL;

	/* kmalloc() aligns powers of two, and whatever is larger than a page. */
	size = struct_size(ring, slots, nr);
	if (size < PAGE_SIZE)
		size = roundup_pow_of_two(size);
	ring = kvzalloc_node(size, RB_GFP, cpu_to_node(rcpu->cpu));
	if (!ring)
		return NULL;

	/* Twice as many can come to belong to it, see rb_adopt() in resize.c. */
	ring->nr = nr;
	ring->order = order;
	if (rcpu->buffer->persist)
		ring->persist = rb_persist_ring(rcpu->buffer, rcpu->cpu);
	ring->nr_subbufs = 2 * (nr + 1);
	ring->subbufs = kvcalloc_node(ring->nr_subbufs, sizeof(*ring->subbufs), RB_GFP,
				      cpu_to_node(rcpu->cpu));
	if (!ring->subbufs)
		goto fail;

	/* Whoever asks for too much shall be the one that is killed for it. */
	if (user)
		set_current_oom_origin();
	for (i = 0; i <= nr; i++) {
		ring->subbufs[i] = rb_subbuf_alloc(rcpu, i, order);
		if (!ring->subbufs[i] || (user && fatal_signal_pending(current)))
			break;
		cond_resched();
	}
	if (user)
		clear_current_oom_origin();
	if (i <= nr)
		goto fail;

	rb_ring_init(ring, rcpu);
	return ring;
fail:
	if (ring->subbufs)
		rb_subbufs_free(ring);
	kvfree(ring);
	return NULL;
}

/**
 * rb_copies_free() - free what rb_copies_alloc() allocated
 * @copies: where it is
 *
 * Context: May sleep.
 */
void rb_copies_free(struct rb_copies *copies)
{
	struct rb_copies *before;

	do {
		kvfree(copies->rec[0]);
		kvfree(copies->rec[1]);
		kvfree(copies->dump);
		before = copies->before;
		*copies = before ? *before : (struct rb_copies){ };
		kfree(before);
	} while (before);
}

/**
 * rb_copies_alloc() - allocate what holds records for callers
 * @rcpu:   the CPU's part
 * @order:  of its sub-buffers
 * @copies: where to put it, with room to keep what it replaces
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM; rb_copies_free() is for both.
 */
int rb_copies_alloc(struct rb_cpu *rcpu, unsigned int order, struct rb_copies *copies)
{
	unsigned int len = rb_subbuf_room(order);
	int node = cpu_to_node(rcpu->cpu);

	copies->rec[0] = kvzalloc_node(len, RB_GFP, node);
	copies->rec[1] = kvzalloc_node(len, RB_GFP, node);
	copies->dump = rb_iter_alloc(rcpu, order, RB_GFP);
	copies->before = kzalloc_node(sizeof(*copies), RB_GFP, node);
	copies->len = len;
	if (copies->rec[0] && copies->rec[1] && copies->dump && copies->before)
		return 0;
	return -ENOMEM;
}

static void rb_cpu_free(struct rb_cpu *rcpu)
{
	struct rb_ring *ring;

	irq_work_sync(&rcpu->wake_work);
	ring = rcu_dereference_protected(rcpu->read_ring, true);
	if (ring)
		rb_ring_put(ring);
	rb_data_page_free((void *)(rcpu->spare & PAGE_MASK), rcpu->spare & ~PAGE_MASK);
	rb_copies_free(&rcpu->copies);
	kfree(rcpu);
}

static struct rb_cpu *rb_cpu_alloc(struct trace_buffer *buffer, unsigned int nr, int cpu)
{
	struct rb_cpu *rcpu;
	struct rb_ring *ring;

	rcpu = kzalloc_node(roundup_pow_of_two(sizeof(*rcpu)), RB_GFP, cpu_to_node(cpu));
	if (!rcpu)
		return NULL;
	rcpu->buffer = buffer;
	rcpu->cpu = cpu;
	rcpu->stamp_abs = buffer->stamp_abs;
	rcpu->write.share = RB_SHARE_PLAIN;
	/* The first writer has to ask: the buffer may have been switched off before. */
	atomic_set(&rcpu->state, 1 << RB_STATE_ASK_SHIFT);
	mutex_init(&rcpu->map_lock);
	rb_wait_init(&rcpu->wait);
	init_irq_work(&rcpu->wake_work, rb_wake_work);

	if (rb_copies_alloc(rcpu, buffer->order, &rcpu->copies))
		goto fail;
	ring = rb_ring_alloc(rcpu, nr, buffer->order);
	if (!ring)
		goto fail;
	if (buffer->persist)
		rb_persist_restore(rcpu, ring);

	RCU_INIT_POINTER(rcpu->read_ring, ring);
	rcpu->ring = (unsigned long)ring;
	return rcpu;
fail:
	rb_cpu_free(rcpu);
	return NULL;
}

static void rb_buffer_free(struct trace_buffer *buffer)
{
	int cpu;

	rb_wait_destroy(buffer);
	rb_for_each_cpu(buffer, cpu)
		rb_cpu_free(buffer->cpus[cpu]);
	if (buffer->persist)
		rb_persist_detach(buffer);
	free_cpumask_var(buffer->cpumask);
	kfree(buffer);
}

/* A buffer without CPUs. */
static struct trace_buffer *
rb_buffer_new(unsigned int flags, unsigned int order, struct lock_class_key *key)
{
	struct trace_buffer *buffer;
	int cpu;

	buffer = kzalloc(struct_size(buffer, cpus, nr_cpu_ids), RB_GFP);
	if (!buffer)
		return NULL;
	if (!zalloc_cpumask_var(&buffer->cpumask, RB_GFP)) {
		kfree(buffer);
		return NULL;
	}

	buffer->order = order;
	buffer->flags = flags;
	buffer->clock = trace_clock_local;
	buffer->lock_key = key;
	mutex_init(&buffer->mutex);
	mutex_init(&buffer->cpu_mutex);
	rb_wait_init(&buffer->wait);

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		buffer->cpus[cpu] = &rb_no_cpu;
	return buffer;
}

/* Give a buffer its CPUs, @nr slots each; or free it. */
static struct trace_buffer *rb_buffer_fill(struct trace_buffer *buffer, unsigned int nr)
{
	/* Early in the boot the hotplug state below knows of no CPU. */
	int cpu = raw_smp_processor_id();
	struct rb_cpu *rcpu = rb_cpu_alloc(buffer, nr, cpu);

	if (!rcpu)
		goto fail;
	buffer->cpus[cpu] = rcpu;
	cpumask_set_cpu(cpu, buffer->cpumask);

	if (cpuhp_state_add_instance(CPUHP_TRACE_RB_PREPARE, &buffer->node) < 0)
		goto fail;
	return buffer;
fail:
	rb_buffer_free(buffer);
	return NULL;
}

/**
 * __ring_buffer_alloc() - allocate a buffer
 * @size:  bytes for records, for each CPU
 * @flags: RB_FL_OVERWRITE: the oldest records make room for new ones; without
 *         it, new ones are dropped when the buffer is full
 * @key:   lockdep class of its readers' locks
 *
 * CPUs that are not online get their part when they are.
 *
 * Context: May sleep.
 * Return: the buffer, or NULL if there is no memory.
 */
struct trace_buffer *__ring_buffer_alloc(unsigned long size, unsigned int flags,
					 struct lock_class_key *key)
{
	struct trace_buffer *buffer = rb_buffer_new(flags, 0, key);

	return buffer ? rb_buffer_fill(buffer, rb_slots_for(size, 0)) : NULL;
}
EXPORT_SYMBOL_GPL(__ring_buffer_alloc);

/**
 * __ring_buffer_alloc_range() - make a buffer in memory that is there already
 * @size:	not used: the range says how much fits
 * @flags:	as for __ring_buffer_alloc(); with RB_FL_SPARE one half of it is for
 *		ring_buffer_alloc_spare()
 * @order:	pages of a sub-buffer, as a power of two
 * @start:	where the memory is mapped
 * @range_size:	bytes of it
 * @key:	lockdep class of its readers' locks
 *
 * What the memory holds of a buffer of the same shape, from before a reboot
 * say, is there to be read.
 *
 * Context: May sleep.
 * Return: the buffer, or NULL if the range is too small or there is no memory.
 */
struct trace_buffer *__ring_buffer_alloc_range(unsigned long size, unsigned int flags, int order,
					       unsigned long start, unsigned long range_size,
					       struct lock_class_key *key)
{
	struct trace_buffer *buffer = rb_buffer_new(flags & ~RB_FL_SPARE, order, key);
	unsigned int nr;

	if (!buffer)
		return NULL;
	if (rb_persist_attach(buffer, start, range_size, flags & RB_FL_SPARE, &nr)) {
		rb_buffer_free(buffer);
		return NULL;
	}
	return rb_buffer_fill(buffer, nr);
}

/**
 * ring_buffer_free() - free a buffer
 * @buffer: the buffer; nobody reads it or begins to write to it any more
 *
 * Context: May sleep.
 */
void ring_buffer_free(struct trace_buffer *buffer)
{
	cpuhp_state_remove_instance(CPUHP_TRACE_RB_PREPARE, &buffer->node);
	rb_buffer_free(buffer);
}
EXPORT_SYMBOL_GPL(ring_buffer_free);

/* Slots that a CPU has, or is about to have. */
static unsigned int rb_slots_of(struct rb_cpu *rcpu)
{
	struct rb_ring *ring;
	unsigned long flags;
	unsigned int nr;

	if (rcpu->next_ring)
		return rcpu->next_ring->nr;
	ring = rb_read_lock(rcpu, &flags);
	nr = ring->nr;
	rb_read_unlock(ring, flags);
	return nr;
}

/**
 * trace_rb_cpu_prepare() - give a CPU that comes online its part
 * @cpu:  the CPU
 * @node: of the buffer
 *
 * It keeps it when it goes offline, with what was recorded.
 *
 * Context: CPU hotplug; may sleep.
 * Return: 0, or -ENOMEM.
 */
int trace_rb_cpu_prepare(unsigned int cpu, struct hlist_node *node)
{
	struct trace_buffer *buffer = container_of(node, struct trace_buffer, node);
	unsigned int nr = 0, other;
	struct rb_cpu *rcpu;
	int i, ret = 0;

	mutex_lock(&buffer->cpu_mutex);
	if (cpumask_test_cpu(cpu, buffer->cpumask))
		goto out;

	/* The size of the others if it is one, else little: it can be resized. */
	rb_for_each_cpu(buffer, i) {
		other = rb_slots_of(buffer->cpus[i]);
		if (nr && nr != other) {
			nr = RB_MIN_SLOTS;
			break;
		}
		nr = other;
	}

	rcpu = rb_cpu_alloc(buffer, nr, cpu);
	if (!rcpu) {
		pr_warn("ring buffer: no memory for CPU %u\n", cpu);
		ret = -ENOMEM;
		goto out;
	}
	buffer->cpus[cpu] = rcpu;
	/*
	 * Pairs with rb_get_cpu:A: who sees the CPU
	 * in the mask sees its part. RBB(trace_rb_cpu_prepare:A)
	 */
	smp_wmb();
	cpumask_set_cpu(cpu, buffer->cpumask);
	/* Who waits for any CPU has to wait for this one, too. */
	wake_up_all(&buffer->wait.any);
out:
	mutex_unlock(&buffer->cpu_mutex);
	return ret;
}

/* Give @buffer the CPUs of @like, and each of them as many slots. */
static int rb_take_shape(struct trace_buffer *buffer, struct trace_buffer *like)
{
	unsigned long size;
	bool differs;
	int cpu, ret;

	/* Again if a CPU came online behind the loop's back: its sizes are guesses. */
	do {
		differs = false;
		rb_for_each_cpu(like, cpu) {
			size = ring_buffer_size(like, cpu);
			if (ring_buffer_size(buffer, cpu) == size)
				continue;
			differs = true;
			ret = trace_rb_cpu_prepare(cpu, &buffer->node);
			if (!ret)
				ret = ring_buffer_resize(buffer, size, cpu);
			if (ret)
				return ret;
		}
	} while (differs);
	return 0;
}

/**
 * ring_buffer_alloc_spare() - allocate a buffer that can take what another has recorded
 * @like: the other, see ring_buffer_cut()
 *
 * Its rings have the sizes of those of @like, for CPUs that are offline as well, and
 * it has the clock and the flags. It survives a reboot if @like does, and the first one
 * holds what it did before that.
 *
 * Context: May sleep. The caller keeps the sizes of @like from changing.
 * Return: the buffer; -ENOMEM; if @like survives a reboot -EINVAL where its memory has no
 *         room for one, and -EBUSY where there is one.
 */
struct trace_buffer *ring_buffer_alloc_spare(struct trace_buffer *like)
{
	struct trace_buffer *buffer = rb_buffer_new(like->flags, like->order, like->lock_key);
	unsigned int nr = RB_MIN_SLOTS;
	int ret = 0;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	if (like->persist)
		ret = rb_persist_share(buffer, like, &nr);
	if (ret) {
		rb_buffer_free(buffer);
		return ERR_PTR(ret);
	}
	buffer = rb_buffer_fill(buffer, nr);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	ring_buffer_set_clock(buffer, like->clock);
	ring_buffer_set_time_stamp_abs(buffer, ring_buffer_time_stamp_abs(like));
	if (rb_take_shape(buffer, like)) {
		ring_buffer_free(buffer);
		return ERR_PTR(-ENOMEM);
	}
	return buffer;
}
EXPORT_SYMBOL_GPL(ring_buffer_alloc_spare);
