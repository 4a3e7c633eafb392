// SPDX-License-Identifier: GPL-2.0
/*
 * Another ring in place of the live one: swap, cut and reset.
 */
#include <linux/export.h>
#include <linux/preempt.h>

#include "internal.h"

/* Drop the records of a ring that no writer is in, so that it can go live. */
static void rb_forget(struct rb_ring *ring)
{
	/*
	 * Whole, as a writer that has been on its way in since the last cut exchanges
	 * it. No order of the look at &rb_ring.nest could tell of that writer: it loads
	 * &rb_cpu.ring before it stores @nest. Where @nest was 0 because a writer has
	 * left, this full barrier puts all that the writer stored before the next stores.
	 * Pairs with rb_leave:A, rb_finish:A, rb_reader_renew:C and rb_is_read:A.
	 * RBB(rb_forget:A)
	 */
	xchg(&ring->tail, &rb_fresh);
	rb_race_point(CUT_FRESH);
	/*
	 * Before a writer finds the ring, by rb_swap:A. Pairs with rb_reader_find:A and
	 * rb_reader_is_settled:A. RBB(rb_forget:B)
	 */
	WRITE_ONCE(ring->generation, (ring->generation & ~RB_VOID) + RB_GENERATION);
	if (ring->persist)
		rb_persist_forget(ring);
}

#ifdef CONFIG_RING_BUFFER_ALLOW_SWAP
/*
 * Drop the records of a ring that stays in a spare buffer, those in flight as well: a writer may be
 * in it.
 */
static void rb_make_void(struct rb_ring *ring)
{
	WRITE_ONCE(ring->generation, ring->generation | RB_VOID);
	rb_race_point(CUT_FRESH);
	if (ring->persist)
		rb_persist_forget(ring);
}

/* Have the readers of @b leave its ring, which goes live, for the one of @a. */
static void rb_lead_readers(struct rb_cpu *a, struct rb_cpu *b)
{
	rcu_assign_pointer(b->read_ring, rb_untag(READ_ONCE(a->ring)));
	rb_race_point(SWAP_READER);
}

/* Exchange the rings. rb_lead_readers() comes first. */
static void rb_swap(struct rb_cpu *a, struct rb_cpu *b)
{
	unsigned long live_a = READ_ONCE(a->ring), live_b = READ_ONCE(b->ring);
	struct rb_ring *ring_a = rb_untag(live_a), *ring_b = rb_untag(live_b);

	rb_race_point(SWAP);
	/*
	 * @b first: records that are written to it meanwhile are in the ring that it
	 * gets, together with the last records of @a.
	 */
	smp_store_release(&b->ring, rb_retag(ring_a, live_b));
	rb_race_point(SWAP_HALF);
	/* Pairs with rb_enter:A. */
	smp_store_release(&a->ring, rb_retag(ring_b, live_a)); /* RBB(rb_swap:A) */
	rb_race_point(SWAP_LIVE);
	rcu_assign_pointer(a->read_ring, ring_b);
}

/* May the rings of the two be exchanged? The caller has the right to do it. */
static int rb_may_swap(struct rb_cpu *a, struct rb_cpu *b, bool alike)
{
	struct rb_ring *ring_a = rb_untag(READ_ONCE(a->ring));
	struct rb_ring *ring_b = rb_untag(READ_ONCE(b->ring));

	/* A mapped ring is not recorded to. After a swap, both may be. */
	if (READ_ONCE(b->mapped) || atomic_read(&ring_b->mapped) ||
	    (alike && (READ_ONCE(a->mapped) || atomic_read(&ring_a->mapped))))
		return -EBUSY;
	/* Both in the same memory, or none. */
	if (a->buffer->persist != b->buffer->persist || (alike && a->buffer->persist))
		return -EINVAL;
	if (ring_a->order != ring_b->order || (alike && ring_a->nr != ring_b->nr))
		return -EINVAL;
	/* Nobody could read what came to it. */
	if (alike && (ring_a->generation | ring_b->generation) & RB_VOID)
		return -EBUSY;
	return 0;
}

/*
 * Can the ring of @spare go live? Have all writers left it that entered it while it was?
 *
 * &rb_ring.nest says so, but a writer's store to it may not be visible here yet, as the
 * writer has no barrier behind it. It is visible once the first record of the live ring's
 * generation is: that writer came later on the same CPU. Without such a writer there is nothing
 * to cut off, and both rings stay where they are.
 */
static bool rb_is_left(struct rb_cpu *live, struct rb_cpu *spare)
{
	struct rb_ring *ring = rb_untag(READ_ONCE(live->ring));

	/* Pairs with rb_next_subbuf:A, for &rb_ring.nest. RBB(rb_is_left:A) */
	live->idle = smp_load_acquire(&ring->tail) == &rb_fresh;
	rb_race_point(CUT_LOOK);
	/* A writer that is still on its way in may store to it at this moment: see rb_forget(). */
	return !data_race(READ_ONCE(rb_untag(READ_ONCE(spare->ring))->nest));
}

/* Get the right to exchange the rings of two parts, if that is possible; @alike: in a swap. */
static __always_inline int
rb_swap_begin(struct rb_cpu *live, struct rb_cpu *spare, long owner, bool alike)
{
	int ret = -EBUSY;

	if (!rb_exchange_trylock(live, owner))
		return -EBUSY;
	if (rb_exchange_trylock(spare, owner)) {
		ret = rb_may_swap(live, spare, alike);
		if (!ret && !alike && !rb_is_left(live, spare))
			ret = -EBUSY;
		if (!ret)
			return 0;
		rb_exchange_unlock(spare);
	}
	rb_exchange_unlock(live);
	return ret;
}

static void rb_swap_end(struct rb_cpu *live, struct rb_cpu *spare)
{
	rb_exchange_unlock(spare);
	rb_exchange_unlock(live);
}

/**
 * ring_buffer_swap_cpu() - exchange the rings that two buffers have of a CPU
 * @buffer_a: the buffer that is written
 * @buffer_b: the one that takes the records of @buffer_a
 * @cpu:      the CPU
 *
 * Writers of @buffer_a go on. A record in flight is committed in @buffer_b; every record
 * of @buffer_b is older than any that comes to @buffer_a.
 *
 * Context: Any context, including NMI. Does not wait.
 * Return: 0; -EINVAL if @cpu never was online, the sizes differ, or a buffer lies in
 *         memory that survives a reboot; -EAGAIN if a buffer or @cpu is switched off by
 *         its own switch; -EBUSY while a buffer or its ring is mapped, resized or swapped
 *         by another caller, on a CPU in hotplug, and from when records of a buffer were
 *         dropped, by ring_buffer_forget() or a cut for which the CPU had written nothing, until
 *         it is cut or reset.
 */
int ring_buffer_swap_cpu(struct trace_buffer *buffer_a, struct trace_buffer *buffer_b, int cpu)
{
	struct rb_cpu *a = rb_get_cpu(buffer_a, cpu), *b = rb_get_cpu(buffer_b, cpu);
	int ret;

	if (!a || !b || a == b)
		return -EINVAL;
	if (atomic_read(&buffer_a->record_disabled) | atomic_read(&buffer_b->record_disabled) |
	    ((atomic_read(&a->state) | atomic_read(&b->state)) & RB_STATE_OFF))
		return -EAGAIN;

	/* A task that waits for the swap to be over must not wait for its CPU. */
	guard(preempt_notrace)();
	ret = ring_buffer_is_alive() ? rb_swap_begin(a, b, 1, true) : -EBUSY;
	if (ret)
		return ret;
	rb_lead_readers(a, b);
	rb_swap(a, b);
	rb_swap_end(a, b);
	return 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_swap_cpu);

static bool rb_is_cut_by(struct rb_cpu *rcpu, long owner)
{
	return atomic_long_read(&rcpu->exchange) == owner;
}

enum rb_drop { RB_DROP_BEGIN, RB_DROP, RB_DROP_END };

/* A step of a cut for CPUs that are not cut: the spare buffer drops their records as well. */
static noinline int rb_drop_others(const struct ring_buffer_cut *c, const struct cpumask *which,
				   long owner, enum rb_drop step)
{
	struct rb_cpu *spare;
	int i;

	for_each_cpu_andnot(i, c->spare->cpumask, which) {
		spare = rb_get_cpu(c->spare, i);
		if (step == RB_DROP_BEGIN) {
			if (!rb_exchange_trylock(spare, owner))
				return -EBUSY;
			continue;
		}
		if (!rb_is_cut_by(spare, owner))
			continue;
		if (step == RB_DROP)
			rb_make_void(rb_untag(READ_ONCE(spare->ring)));
		else
			rb_exchange_unlock(spare);
	}
	return 0;
}

/* Get the right to all that a cut changes of two buffers. */
static __always_inline int
rb_cut_begin(const struct ring_buffer_cut *c, const struct cpumask *which, long owner)
{
	struct rb_cpu *spare;
	int i, ret;

	for_each_cpu_and(i, c->live->cpumask, which) {
		spare = rb_get_cpu(c->spare, i);
		if (!spare)
			return -EINVAL;
		ret = rb_swap_begin(rb_get_cpu(c->live, i), spare, owner, false);
		if (ret)
			return ret;
	}
	return unlikely(c->drops) ? rb_drop_others(c, which, owner, RB_DROP_BEGIN) : 0;
}

/*
 * Drop what the spare buffers had before. A CPU that has come meanwhile may have a bit in the mask
 * and no part yet: this cut has not begun there.
 */
static void rb_cut_forget(const struct ring_buffer_cut *first, const struct cpumask *which,
			  long owner)
{
	const struct ring_buffer_cut *c;
	struct rb_cpu **parts, *live, *spare;
	struct rb_ring *ring;
	int i;

	for (c = first; c; c = c->next) {
		parts = c->live->parts;
		for_each_cpu_and(i, c->live->cpumask, which) {
			live = READ_ONCE(parts[i]);
			spare = c->spare->parts[i];
			if (!live || !rb_is_cut_by(live, owner))
				continue;
			rb_race_point(CUT);
			spare->oldest = c->from;
			ring = rb_untag(READ_ONCE(spare->ring));
			if (live->idle) {
				rb_make_void(ring);
				continue;
			}
			/* Before the ring begins the generation that is not theirs. */
			rb_lead_readers(live, spare);
			rb_forget(ring);
		}
		if (unlikely(c->drops))
			rb_drop_others(c, which, owner, RB_DROP);
	}
}

/* CPU by CPU: all buffers of a CPU together. */
static void rb_cut_exchange(const struct ring_buffer_cut *first, const struct cpumask *which,
			    long owner)
{
	const struct ring_buffer_cut *c;
	struct rb_cpu *live, *spare;
	struct rb_ring *ring;
	int i;

	for_each_cpu(i, which) {
		for (c = first; c; c = c->next) {
			if (!cpumask_test_cpu(i, c->live->cpumask))
				continue;
			live = READ_ONCE(c->live->parts[i]);
			if (!live || !rb_is_cut_by(live, owner) || live->idle)
				continue;
			spare = c->spare->parts[i];
			ring = rb_untag(READ_ONCE(spare->ring));
			if (ring->persist)
				rb_persist_go_live(live, ring);
			rb_swap(live, spare);
		}
	}
}

/* Undo rb_cut_begin(). */
static void rb_cut_end(const struct ring_buffer_cut *first, const struct cpumask *which, long owner)
{
	const struct ring_buffer_cut *c;
	struct rb_cpu **parts, *live;
	int i;

	for (c = first; c; c = c->next) {
		parts = c->live->parts;
		for_each_cpu_and(i, c->live->cpumask, which) {
			live = READ_ONCE(parts[i]);
			if (live && rb_is_cut_by(live, owner))
				rb_swap_end(live, c->spare->parts[i]);
		}
		if (unlikely(c->drops))
			rb_drop_others(c, which, owner, RB_DROP_END);
	}
}

/**
 * rb_cut_all() - cut several buffers at once, as ring_buffer_cut_all()
 * @first: the first one
 * @cpu:   CPU of the records, or RING_BUFFER_ALL_CPUS
 * @drop:  called when no writer is in the spare buffers, and nothing can fail any more, before
 *	   they drop their records; or NULL
 * @data:  for @drop
 *
 * Context: Any context, including NMI. Does not wait.
 * Return: as ring_buffer_cut_all().
 */
int rb_cut_all(const struct ring_buffer_cut *first, int cpu, void (*drop)(void *data), void *data)
{
	const struct ring_buffer_cut *c;
	const struct cpumask *which;
	/* No other cut has this address, nor has one that an interrupt begins here. */
	char here;
	long owner = (long)&here;
	int ret = 0;

	if (cpu != RING_BUFFER_ALL_CPUS)
		which = cpumask_of(cpu);
	else
		which = first->next ? cpu_possible_mask : first->live->cpumask;

	/* A task that waits for this to be over must not wait for its CPU. */
	guard(preempt_notrace)();
	if (!ring_buffer_is_alive())
		return -EBUSY;
	for (c = first; c && !ret; c = c->next)
		ret = rb_cut_begin(c, which, owner);
	/*
	 * Not CPUs that have come online meanwhile: this is not the owner there.
	 *
	 * Forget all of them first: if the machine goes down, no two snapshots are mixed.
	 */
	if (!ret) {
		if (drop)
			drop(data);
		rb_cut_forget(first, which, owner);
		rb_cut_exchange(first, which, owner);
	}
	rb_cut_end(first, which, owner);
	return ret;
}

/**
 * ring_buffer_cut_all() - have spare buffers take the records of other ones
 * @first: the first one; no buffer is in the list twice
 * @cpu:   CPU of the records, or RING_BUFFER_ALL_CPUS
 *
 * Writers go on, and find the live buffers empty. A record in flight is committed in the spare
 * one. Of each CPU, every record of a spare buffer is older than any that comes to its live one.
 * The sizes of the two change places as well, but for CPUs that have written nothing since the
 * last cut. Records that such a CPU writes after this has begun stay in the live buffer. The
 * former records of the spare ones are dropped, with &ring_buffer_cut.drops also those of CPUs that
 * are not cut; the spare ones are not written to while their new records are mapped.
 *
 * All buffers are cut or none. A CPU is cut off from all live buffers before the next CPU is. A
 * CPU without a ring in a live buffer has nothing there to cut.
 *
 * Rings that have been cut off must not come back to a live buffer by other means than a
 * cut before a grace period has passed.
 *
 * Context: Any context, including NMI. Does not wait.
 * Return: 0; -EINVAL if a spare buffer lacks a CPU, the sizes of the sub-buffers of two differ,
 *         or only one of them survives a reboot; -EBUSY while a spare buffer or a ring of it is
 *         mapped, while a buffer is resized or cut by another caller, if a record that was begun
 *         before the last cut is in flight still, and on a CPU in hotplug. On an error nothing
 *         has changed.
 */
int ring_buffer_cut_all(const struct ring_buffer_cut *first, int cpu)
{
	return rb_cut_all(first, cpu, NULL, NULL);
}

/**
 * ring_buffer_ring_id() - identify the ring that a CPU writes to
 * @live: the buffer
 * @cpu:  the CPU
 *
 * A cut that moves the records of the CPU changes it.
 *
 * Context: Any context, including NMI.
 * Return: an address; 0 if there is no ring.
 */
unsigned long ring_buffer_ring_id(struct trace_buffer *live, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(live, rb_is_global(live) ? rb_home() : cpu);

	return rcpu ? (unsigned long)rb_untag(READ_ONCE(rcpu->ring)) : 0;
}

/**
 * ring_buffer_forget() - drop the records of a spare buffer
 * @spare: a buffer without writers, but for those that have been in it since it was cut off
 *
 * Records in flight are dropped as well.
 *
 * Context: Any context, including NMI. Does not wait.
 * Return: 0; -EBUSY while @spare is resized or cut, then some of its records may be erased.
 */
int ring_buffer_forget(struct trace_buffer *spare)
{
	struct rb_cpu *rcpu;
	int cpu, ret = 0;

	preempt_disable_notrace();
	rb_for_each_cpu(spare, cpu) {
		rcpu = rb_get_cpu(spare, cpu);
		if (!rb_exchange_trylock(rcpu, 1)) {
			ret = -EBUSY;
			continue;
		}
		rb_make_void(rb_untag(READ_ONCE(rcpu->ring)));
		rb_exchange_unlock(rcpu);
	}
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(ring_buffer_forget);
#endif /* CONFIG_RING_BUFFER_ALLOW_SWAP */

/*
 * Empty a ring without writers: what is written next is of another generation. Until then the
 * reader stands at the end of all that there was, and the writer finds all slots free.
 */
static void rb_ring_reset(struct rb_ring *ring)
{
	WRITE_ONCE(ring->erased, ring->erased + RB_GENERATION);
	rb_ring_close(ring);
	rb_forget(ring);
	rb_reader_settle(ring, &ring->reader);
	rb_reader_clear(ring);
	atomic64_set(&ring->missed, ring->reader.from);
}

/*
 * Empty the ring of a CPU that has refused records since before @since, see
 * rb_wait_for_writers(). One that a writer may be in still keeps its records.
 */
static void rb_reset_cpu(struct rb_cpu *rcpu, unsigned long since, rb_drop_fn drop, void *data)
{
	struct rb_ring *ring;
	unsigned long flags;

	ring = rb_read_lock(rcpu, &flags);
	if (!rb_ring_quiesce(ring, rcpu->cpu, since)) {
		rb_read_unlock(ring, flags);
		return;
	}
	rb_forget_writes(rcpu);
	if (drop)
		drop(rcpu, ring, data);
	if (rb_is_remote(rcpu->buffer))
		rb_remote_reset(rcpu);
	rb_ring_reset(ring);
	local_set(&rcpu->nest_drops, 0);
	if (rcpu->map)
		rcpu->map->lost = 0;
	rb_map_update(rcpu, ring);
	rb_read_unlock(ring, flags);
}

/**
 * rb_reset() - empty the rings of some CPUs
 * @buffer: the buffer
 * @which:  the CPUs
 * @drop:   called for each ring before it is emptied, when it has no writers and its
 *	    lock is held; or NULL
 * @data:   for @drop
 *
 * Context: May sleep.
 */
void rb_reset(struct trace_buffer *buffer, const struct cpumask *which,
	      rb_drop_fn drop, void *data)
{
	struct rb_cpu *rcpu;
	unsigned long since;
	int cpu;

	guard(mutex)(&buffer->mutex);
	if (rb_is_global(buffer))
		which = buffer->cpumask;

	/*
	 * No swap from here on: the grace period does not wait for the writers of
	 * the ring that it would bring. @which may change meanwhile, when a CPU
	 * comes online.
	 */
	for_each_cpu_and(cpu, buffer->cpumask, which) {
		rcpu = rb_get_cpu(buffer, cpu);
		rb_exchange_lock(rcpu);
		rcpu->resetting = true;
		atomic_add(RB_STATE_OFF_ONE, &rcpu->state);
	}
	/* The parts above are not those of its writers. */
	if (buffer->global)
		ring_buffer_record_disable(buffer);
	rb_race_point(REFUSING);
	since = rb_wait_for_writers();

	rb_for_each_cpu(buffer, cpu) {
		rcpu = rb_get_cpu(buffer, cpu);
		if (rcpu->resetting)
			rb_reset_cpu(rcpu, since, drop, data);
	}
	if (buffer->global)
		rb_stages_reset(buffer, since);

	rb_race_point(RESET);
	/* A writer that is let in again finds the rings empty. */
	synchronize_rcu();

	rb_for_each_cpu(buffer, cpu) {
		rcpu = rb_get_cpu(buffer, cpu);
		if (!rcpu->resetting)
			continue;
		rcpu->resetting = false;
		atomic_sub(RB_STATE_OFF_ONE, &rcpu->state);
		rb_exchange_unlock(rcpu);
	}
	if (buffer->global)
		ring_buffer_record_enable(buffer);
}

/**
 * ring_buffer_reset_cpu() - throw away the records of a CPU
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Its statistics begin at 0 again. Records that come meanwhile are refused.
 *
 * Context: May sleep.
 */
void ring_buffer_reset_cpu(struct trace_buffer *buffer, int cpu)
{
	if (rb_get_cpu(buffer, cpu))
		rb_reset(buffer, cpumask_of(cpu), NULL, NULL);
}
EXPORT_SYMBOL_GPL(ring_buffer_reset_cpu);

/**
 * ring_buffer_reset_online_cpus() - throw away the records of online CPUs
 * @buffer: the buffer
 *
 * Context: May sleep.
 */
void ring_buffer_reset_online_cpus(struct trace_buffer *buffer)
{
	rb_reset(buffer, cpu_online_mask, NULL, NULL);
}

/**
 * ring_buffer_reset() - throw away all records
 * @buffer: the buffer
 *
 * Of CPUs that are offline as well.
 *
 * Context: May sleep.
 */
void ring_buffer_reset(struct trace_buffer *buffer)
{
	rb_reset(buffer, cpu_possible_mask, NULL, NULL);
}
EXPORT_SYMBOL_GPL(ring_buffer_reset);
