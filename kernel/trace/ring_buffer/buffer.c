// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers and their CPUs: how they come and go.
 *
 * A buffer has rings from the start, or it is unexpanded: then each CPU's part is
 * &rb_no_cpu, which refuses records, until ring_buffer_expand(). The CPU hotplug state
 * knows both kinds, so an expansion needs no lock of CPU hotplug: a mapping does it inside
 * the mmap lock.
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "internal.h"

/* Without memory early in the boot, interrupts are off, and nothing is queued. */
static void rb_work_end(struct irq_work *work)
{
	if (!irqs_disabled())
		irq_work_sync(work);
}

static void rb_cpu_free(struct rb_cpu *rcpu)
{
	struct rb_ring *ring;
	unsigned long flags;

	if (!rcpu)
		return;
	rb_work_end(&rcpu->wake_work);
	ring = rcu_dereference_protected(rcpu->read_ring, true);
	if (ring) {
		local_irq_save(flags);
		rb_ring_lock(ring, RB_LOCK_WAIT);
		rb_iters_end(ring);
		rb_read_unlock(ring, flags);
		rb_ring_put(ring);
	}
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
	rcpu->write.share = RB_SHARE_PLAIN;
	/* Until rb_obey(), as the buffer may be off. */
	atomic_set(&rcpu->state, RB_STATE_REFUSE);
	mutex_init(&rcpu->map_lock);
	raw_spin_lock_init(&rcpu->places);
	init_irq_work(&rcpu->wake_work, rb_wake_work);

	/* The records of a spare buffer are not consumed one by one. */
	if (!(buffer->flags & RB_FL_SPARE) &&
	    rb_copies_alloc(rcpu, buffer->order, &rcpu->copies))
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

static void rb_buffer_free_masks(struct trace_buffer *buffer)
{
	kvfree(buffer->remote);
	kvfree(buffer->global);
	kvfree(buffer->cpu_wait);
	free_cpumask_var(buffer->seen);
	free_cpumask_var(buffer->cpumask);
	kfree(buffer);
}

/*
 * Have each CPU tell when it can write, see &rb_place. The first buffer does it, early in the
 * boot. The second of two that do it at once waits for the first one.
 */
static void rb_watch_hotplug(void)
{
	static bool watched;

	if (READ_ONCE(watched))
		return;
	cpuhp_setup_state(CPUHP_AP_TRACE_RB_STARTING, "trace/RB:starting", rb_cpu_starting,
			  rb_cpu_dying);
	WRITE_ONCE(watched, true);
}

/*
 * A buffer without rings. Early in the boot the hotplug state knows of no CPU, not even of this
 * one.
 */
static struct trace_buffer *
rb_buffer_new(unsigned int flags, unsigned int order, struct lock_class_key *key)
{
	struct trace_buffer *buffer;
	int cpu;

	rb_watch_hotplug();
	buffer = kzalloc(struct_size(buffer, cpus, nr_cpu_ids), RB_GFP);
	if (!buffer)
		return NULL;
	buffer->cpu_wait = kvcalloc(nr_cpu_ids, sizeof(*buffer->cpu_wait), RB_GFP);
	if (!zalloc_cpumask_var(&buffer->cpumask, RB_GFP) ||
	    !zalloc_cpumask_var(&buffer->seen, RB_GFP) || !buffer->cpu_wait) {
		rb_buffer_free_masks(buffer);
		return NULL;
	}

	buffer->flags = flags;
	rb_set_order(buffer, order);
	buffer->clock = sched_clock_noinstr;
	buffer->lock_key = key;
	buffer->parts = buffer->cpus;
	mutex_init(&buffer->mutex);
	mutex_init(&buffer->cpu_mutex);
	INIT_LIST_HEAD(&buffer->readers);
	rb_wait_init(&buffer->wait);
	init_irq_work(&buffer->wake_work, rb_wake_empty_work);

	for (cpu = 0; cpu < ARRAY_SIZE(buffer->nobody); cpu++)
		buffer->nobody[cpu] = &rb_no_cpu;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		rb_wait_init(&buffer->cpu_wait[cpu]);
		buffer->cpus[cpu] = &rb_no_cpu;
	}
	cpumask_set_cpu(rb_is_global(buffer) ? rb_home() : raw_smp_processor_id(), buffer->seen);
	if (cpuhp_state_add_instance(CPUHP_TRACE_RB_PREPARE, &buffer->node) < 0) {
		rb_buffer_free_masks(buffer);
		return NULL;
	}
	return buffer;
}

/*
 * Let everybody find a part in @parts, which is complete: writers in &trace_buffer.cpus, readers
 * in &trace_buffer.parts, which is the same but in a global buffer.
 */
static void
rb_cpu_add(struct trace_buffer *buffer, struct rb_cpu **parts, int cpu, struct rb_cpu *rcpu)
{
	lockdep_assert_held(&buffer->cpu_mutex);
	if (parts == buffer->cpus) {
		/* ring_buffer_record_disable_cpu() was for the writer of this CPU. */
		atomic_add(buffer->cpu_wait[cpu].off * RB_STATE_OFF_ONE, &rcpu->state);
		cpumask_set_cpu(cpu, buffer->seen);
	}
	if (parts == buffer->parts)
		rcpu->stamp_abs = buffer->stamp_abs;
	/*
	 * A writer of that CPU needs no more than the pointer: an address dependency. A stage
	 * comes behind the one ring, which it needs.
	 */
	smp_store_release(&parts[cpu], rcpu);
	if (parts == buffer->parts) {
		/*
		 * Pairs with rb_get_cpu:A: a caller that sees the CPU
		 * in the mask sees its part. RBB(rb_cpu_add:A)
		 */
		smp_wmb();
		cpumask_set_cpu(cpu, buffer->cpumask);
	}
	rb_obey(buffer, rcpu);
}

/* Slots of the ring that a CPU writes to. */
static unsigned int rb_slots_of(struct rb_cpu *rcpu)
{
	guard(preempt_notrace)();
	return rb_untag(READ_ONCE(rcpu->ring))->nr;
}

/*
 * Slots of a CPU, or for one without a ring the number of all others, if that is one; else few: it
 * can be resized. So a buffer and its spare one choose the same for a CPU that is just coming.
 */
static unsigned int rb_choose_slots(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	unsigned int nr = 0, other;
	int i;

	if (rcpu)
		return rb_slots_of(rcpu);
	rb_for_each_cpu(buffer, i) {
		other = rb_slots_of(rb_get_cpu(buffer, i));
		if (nr && nr != other)
			return RB_MIN_SLOTS;
		nr = other;
	}
	return nr ?: RB_MIN_SLOTS;
}

/* Parts by CPU, and at nr_cpu_ids the one ring of a global buffer. */
static struct rb_cpu **rb_new_cpus(void)
{
	return kvcalloc(nr_cpu_ids + 1, sizeof(struct rb_cpu *), RB_GFP);
}

/* The first CPU that was online, or nr_cpu_ids for the one ring, that lacks its part in @cpus. */
static int rb_lacking_cpu(struct trace_buffer *buffer, struct rb_cpu **cpus)
{
	int cpu;

	for_each_cpu(cpu, buffer->seen) {
		if (!cpus[cpu])
			return cpu;
	}
	return buffer->global && !cpus[nr_cpu_ids] ? nr_cpu_ids : -1;
}

/* Sizes of the rings that a buffer gets */
struct rb_sizes {
	unsigned int		nr;	/* slots of each CPU */
	struct trace_buffer	*like;	/* or those that the CPU has there, unless NULL */
	int			one;	/* but of this CPU, or -1 */
	unsigned int		nr_one;
};

static unsigned int rb_slots_wanted(const struct rb_sizes *sizes, int cpu)
{
	if (cpu == sizes->one)
		return sizes->nr_one;
	return sizes->like ? rb_choose_slots(sizes->like, cpu) : sizes->nr;
}

/*
 * Fill @cpus with a part for each CPU that was online. CPUs may come online meanwhile, but none
 * does when this returns: &trace_buffer.cpu_mutex is held then.
 */
static int rb_alloc_cpus(struct trace_buffer *buffer, struct rb_cpu **cpus,
			 const struct rb_sizes *sizes)
{
	int cpu;

	mutex_lock(&buffer->cpu_mutex);
	while ((cpu = rb_lacking_cpu(buffer, cpus)) >= 0) {
		mutex_unlock(&buffer->cpu_mutex);
		if (cpu == nr_cpu_ids)
			cpus[cpu] = rb_cpu_alloc(buffer, rb_slots_wanted(sizes, rb_home()),
						 rb_home());
		else if (buffer->global)
			cpus[cpu] = rb_stage_alloc(buffer, cpu);
		else
			cpus[cpu] = rb_cpu_alloc(buffer, rb_slots_wanted(sizes, cpu), cpu);
		mutex_lock(&buffer->cpu_mutex);
		if (!cpus[cpu])
			return -ENOMEM;
	}
	return 0;
}

/* Let everybody find the parts in @cpus. */
static void rb_add_cpus(struct trace_buffer *buffer, struct rb_cpu **cpus)
{
	int cpu;

	if (buffer->global)
		rb_cpu_add(buffer, buffer->parts, rb_home(), no_free_ptr(cpus[nr_cpu_ids]));
	for_each_cpu(cpu, buffer->seen)
		rb_cpu_add(buffer, buffer->cpus, cpu, no_free_ptr(cpus[cpu]));
}

/* Free the parts in @cpus, and @cpus. */
static void rb_free_cpus(struct rb_cpu **cpus)
{
	int cpu;

	for (cpu = 0; cpu <= nr_cpu_ids; cpu++)
		rb_cpu_free(cpus[cpu]);
	kvfree(cpus);
}

/*
 * Give a buffer its rings, each CPU that was online. All rings are there before a writer finds
 * the first one.
 */
static int rb_expand(struct trace_buffer *buffer, const struct rb_sizes *sizes)
{
	struct rb_cpu **cpus = rb_new_cpus();
	int ret;

	lockdep_assert_held(&buffer->mutex);
	if (!cpus)
		return -ENOMEM;
	ret = rb_alloc_cpus(buffer, cpus, sizes);
	if (!ret) {
		rb_add_cpus(buffer, cpus);
		WRITE_ONCE(buffer->expanded, true);
	}
	mutex_unlock(&buffer->cpu_mutex);
	rb_free_cpus(cpus);
	return ret;
}

/* Give a new buffer its rings, or free it. */
static struct trace_buffer *
rb_buffer_fill(struct trace_buffer *buffer, unsigned int nr, struct trace_buffer *like)
{
	struct rb_sizes sizes = { .nr = nr, .like = like, .one = -1 };
	int ret;

	scoped_guard(mutex, &buffer->mutex)
		ret = rb_expand(buffer, &sizes);
	if (!ret)
		return buffer;
	ring_buffer_free(buffer);
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

	return buffer ? rb_buffer_fill(buffer, rb_slots_for(size, 0), NULL) : NULL;
}
EXPORT_SYMBOL_GPL(__ring_buffer_alloc);

/**
 * __ring_buffer_alloc_unexpanded() - allocate a buffer that has no rings yet
 * @flags: as for __ring_buffer_alloc()
 * @key:   lockdep class of its readers' locks
 *
 * The buffer is empty and refuses records until ring_buffer_expand(). Until then all functions
 * can be called but ring_buffer_resize(), which has no ring to resize, and ring_buffer_map().
 *
 * Context: May sleep.
 * Return: the buffer, or NULL if there is no memory.
 */
struct trace_buffer *
__ring_buffer_alloc_unexpanded(unsigned int flags, struct lock_class_key *key)
{
	return rb_buffer_new(flags, 0, key);
}

/* Has a buffer, when it has its rings, none for @cpu? */
static bool rb_lacks_ring(struct trace_buffer *buffer, int cpu)
{
	return buffer->global ? cpu != rb_home() : rb_is_absent(buffer, cpu);
}

/**
 * ring_buffer_expand_cpu() - give a buffer its rings, one of them with another size
 * @buffer:   the buffer
 * @size:     bytes for records, for each CPU
 * @cpu:      the one that gets another size, or RING_BUFFER_ALL_CPUS for none
 * @cpu_size: bytes for records of @cpu
 *
 * All rings are there before a writer finds the first one. Readers that wait or poll go on
 * with them; an iterator that was opened before stays empty.
 *
 * Context: May sleep; the mmap lock may be held.
 * Return: 0; 1 if it has its rings already; -ENOMEM; -ENODEV if @cpu will have no ring. On an
 *	   error nothing has changed.
 */
int ring_buffer_expand_cpu(struct trace_buffer *buffer, unsigned long size, int cpu,
			   unsigned long cpu_size)
{
	struct rb_sizes sizes = { .one = -1 };
	int ret;

	guard(mutex)(&buffer->mutex);
	if (buffer->expanded)
		return 1;
	sizes.nr = rb_slots_for(size, buffer->order);
	if (cpu != RING_BUFFER_ALL_CPUS) {
		if (rb_lacks_ring(buffer, cpu))
			return -ENODEV;
		sizes.one = cpu;
		sizes.nr_one = rb_slots_for(cpu_size, buffer->order);
	}
	ret = rb_expand(buffer, &sizes);
	if (!ret)
		rb_wake_all(buffer);
	return ret;
}

/**
 * ring_buffer_expand() - give a buffer its rings
 * @buffer: the buffer
 * @size:   bytes for records, for each CPU
 *
 * Context: That of ring_buffer_expand_cpu().
 * Return: 0; 1 if it has its rings already; -ENOMEM, then nothing has changed.
 */
int ring_buffer_expand(struct trace_buffer *buffer, unsigned long size)
{
	return ring_buffer_expand_cpu(buffer, size, RING_BUFFER_ALL_CPUS, 0);
}

/* Hide the part of each CPU, and move it to @cpus. */
static int rb_hide_cpus(struct trace_buffer *buffer, struct rb_cpu **cpus)
{
	int cpu;

	guard(mutex)(&buffer->cpu_mutex);
	if (buffer->persist || !ring_buffer_empty(buffer))
		return -EBUSY;
	rb_for_each_cpu(buffer, cpu) {
		if (buffer->parts[cpu]->mapped || atomic_read(&buffer->parts[cpu]->iterators))
			return -EBUSY;
	}
	if (buffer->global)
		cpus[nr_cpu_ids] = buffer->parts[rb_home()];
	WRITE_ONCE(buffer->expanded, false);
	for_each_cpu(cpu, buffer->seen) {
		cpus[cpu] = buffer->cpus[cpu];
		/* A switch finds the stages of a global buffer without the mask. */
		if (buffer->global)
			WRITE_ONCE(buffer->cpus[cpu], &rb_no_cpu);
	}
	cpumask_clear(buffer->cpumask);
	return 0;
}

/**
 * ring_buffer_unexpand() - free the rings of a buffer that is empty
 * @buffer: the buffer; no writer is in it, and nobody uses it meanwhile but for a dump, a switch
 *          and a wake-up
 *
 * Its statistics begin again at 0.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM; -EBUSY if it has records, is iterated over or mapped, or survives a
 *         reboot.
 */
int ring_buffer_unexpand(struct trace_buffer *buffer)
{
	struct rb_cpu **cpus;
	int cpu, ret;

	guard(mutex)(&buffer->mutex);
	if (!buffer->expanded)
		return 0;
	cpus = rb_new_cpus();
	if (!cpus)
		return -ENOMEM;
	ret = rb_hide_cpus(buffer, cpus);
	if (!ret) {
		/*
		 * A dump that found a CPU in the mask uses its part, not &rb_no_cpu. No
		 * other one gets at a part.
		 */
		synchronize_rcu();
		for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
			WRITE_ONCE(buffer->cpus[cpu], &rb_no_cpu);
			WRITE_ONCE(buffer->parts[cpu], &rb_no_cpu);
		}
		rb_free_cpus(cpus);
	} else {
		kvfree(cpus);
	}
	return ret;
}

/**
 * ring_buffer_is_expanded() - has a buffer its rings?
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: false between __ring_buffer_alloc_unexpanded() or ring_buffer_unexpand() and
 *         ring_buffer_expand().
 */
bool ring_buffer_is_expanded(struct trace_buffer *buffer)
{
	return READ_ONCE(buffer->expanded);
}

/**
 * __ring_buffer_alloc_range() - make a buffer in memory that is there already
 * @size:	not used: the range says how much fits
 * @flags:	as for __ring_buffer_alloc(); with RB_FL_SPARE one half of it is for
 *		ring_buffer_alloc_spare()
 * @order:	pages of a sub-buffer, as a power of two
 * @start:	where the memory is mapped
 * @range_size:	bytes of it
 * @scratch_size: bytes of it for the caller, see ring_buffer_meta_scratch()
 * @key:	lockdep class of its readers' locks
 *
 * If the memory holds a buffer of the same shape, from before a reboot say, its records
 * can be read.
 *
 * Context: May sleep.
 * Return: the buffer, or NULL if the range is too small or there is no memory.
 */
struct trace_buffer *__ring_buffer_alloc_range(unsigned long size, unsigned int flags, int order,
					       unsigned long start, unsigned long range_size,
					       unsigned long scratch_size,
					       struct lock_class_key *key)
{
	struct trace_buffer *buffer = rb_buffer_new(flags & ~RB_FL_SPARE, order, key);
	int nr;

	if (!buffer)
		return NULL;
	nr = rb_persist_attach(buffer, start, range_size, scratch_size, flags & RB_FL_SPARE);
	if (nr < 0) {
		ring_buffer_free(buffer);
		return NULL;
	}
	/* The last boot may have left records of CPUs that do not come online in this one. */
	scoped_guard(mutex, &buffer->cpu_mutex)
		cpumask_copy(buffer->seen, cpu_possible_mask);
	return rb_buffer_fill(buffer, nr, NULL);
}

#ifdef CONFIG_TRACE_REMOTE
/**
 * __ring_buffer_alloc_remote() - make a buffer of what is written elsewhere
 * @remote: the pages, and how to exchange them; they stay until the buffer is freed
 * @key:    lockdep class of its readers' locks
 *
 * It has a ring for each CPU in the description, online or not, and refuses records of this
 * kernel. Those of the remote are there after ring_buffer_poll_remote(), and to an iterator that
 * begins.
 *
 * Context: May sleep.
 * Return: the buffer, or NULL if the description is wrong or there is no memory.
 */
struct trace_buffer *__ring_buffer_alloc_remote(struct ring_buffer_remote *remote,
						struct lock_class_key *key)
{
	struct trace_buffer *buffer = rb_buffer_new(RB_FL_OVERWRITE, 0, key);
	int nr;

	if (!buffer)
		return NULL;
	nr = rb_remote_attach(buffer, remote);
	if (nr < 0) {
		ring_buffer_free(buffer);
		return NULL;
	}
	return rb_buffer_fill(buffer, nr, NULL);
}
#endif

/**
 * ring_buffer_free() - free a buffer
 * @buffer: the buffer; it has no readers, and no write begins any more
 *
 * Context: May sleep.
 */
void ring_buffer_free(struct trace_buffer *buffer)
{
	int cpu;

	cpuhp_state_remove_instance(CPUHP_TRACE_RB_PREPARE, &buffer->node);
	rb_wait_destroy(buffer);
	rb_work_end(&buffer->wake_work);
	for (cpu = 0; buffer->global && cpu < nr_cpu_ids; cpu++) {
		if (buffer->cpus[cpu] != &rb_no_cpu)
			rb_cpu_free(buffer->cpus[cpu]);
	}
	rb_for_each_cpu(buffer, cpu)
		rb_cpu_free(buffer->parts[cpu]);
	if (buffer->persist)
		rb_persist_detach(buffer);
	rb_buffer_free_masks(buffer);
}
EXPORT_SYMBOL_GPL(ring_buffer_free);

/**
 * trace_rb_cpu_prepare() - give a CPU that comes online its part
 * @cpu:  the CPU
 * @node: of the buffer
 *
 * The CPU keeps its part, with all records, when it goes offline.
 *
 * Context: CPU hotplug; may sleep.
 * Return: 0, or -ENOMEM.
 */
int trace_rb_cpu_prepare(unsigned int cpu, struct hlist_node *node)
{
	struct trace_buffer *buffer = container_of(node, struct trace_buffer, node);
	struct rb_cpu *rcpu;

	guard(mutex)(&buffer->cpu_mutex);
	/* A spare buffer of a global one has no writers. */
	if (rb_is_global(buffer) && !buffer->global)
		return 0;
	/* It has its parts, or gets them. */
	if (rb_is_remote(buffer))
		return 0;
	if (!buffer->expanded) {
		cpumask_set_cpu(cpu, buffer->seen);
		return 0;
	}
	if (buffer->cpus[cpu] != &rb_no_cpu)
		return 0;
	rcpu = buffer->global ? rb_stage_alloc(buffer, cpu) :
				rb_cpu_alloc(buffer, rb_choose_slots(buffer, cpu), cpu);
	if (!rcpu) {
		pr_warn("ring buffer: no memory for CPU %u\n", cpu);
		return -ENOMEM;
	}
	rb_cpu_add(buffer, buffer->cpus, cpu, rcpu);
	/*
	 * A task that waits for any CPU has to wait for this one, too; and one that has seen
	 * the CPU, but not yet its part.
	 */
	rb_wake_all(buffer);
	return 0;
}

/**
 * ring_buffer_alloc_spare() - allocate a buffer that can take the records of another one
 * @like: the other, see ring_buffer_cut_all()
 *
 * Its rings have the sizes of those of @like, also for CPUs that are offline. Clock and
 * flags are copied. If @like survives a reboot, so does it, and holds what the one before it has
 * left, after a boot the snapshot of the last boot. Its records are read by iterators and as
 * pages: ring_buffer_peek() and ring_buffer_consume() find none.
 *
 * Context: May sleep. The caller keeps the sizes of @like from changing.
 * Return: the buffer; -ENOMEM; if @like survives a reboot -EINVAL where its memory has no
 *         room for one, and -EBUSY where there is one, or where user space still maps the memory
 *         of an earlier one.
 */
struct trace_buffer *ring_buffer_alloc_spare(struct trace_buffer *like)
{
	struct trace_buffer *buffer = rb_buffer_new(like->flags | RB_FL_SPARE, like->order,
						    like->lock_key);
	int nr = 0;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	if (like->persist)
		nr = rb_persist_share(buffer, like);
	if (nr < 0) {
		ring_buffer_free(buffer);
		return ERR_PTR(nr);
	}
	ring_buffer_set_clock(buffer, like->clock);
	ring_buffer_set_time_stamp_abs(buffer, ring_buffer_time_stamp_abs(like));
	/* CPUs that are offline have their records there as well. */
	scoped_guard(mutex, &buffer->cpu_mutex)
		cpumask_or(buffer->seen, buffer->seen, like->cpumask);
	return rb_buffer_fill(buffer, nr, like->persist ? NULL : like) ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_GPL(ring_buffer_alloc_spare);
