// SPDX-License-Identifier: GPL-2.0
/*
 * Who may put another ring in place, swap and reset.
 */
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "internal.h"

/**
 * rb_exchange_trylock() - become the one that may exchange a CPU's ring
 * @rcpu: the CPU's part
 *
 * Context: Any context, including NMI.
 * Return: false if somebody is.
 */
bool rb_exchange_trylock(struct rb_cpu *rcpu)
{
	return !atomic_cmpxchg_acquire(&rcpu->exchange, 0, 1);
}

/**
 * rb_exchange_lock() - wait to become the one that may exchange a CPU's ring
 * @rcpu: the CPU's part
 *
 * Only a swap can be in the way, and that does not sleep; other waiters are
 * kept out by &trace_buffer.mutex.
 *
 * Context: May sleep, &trace_buffer.mutex is held.
 */
void rb_exchange_lock(struct rb_cpu *rcpu)
{
	while (!rb_exchange_trylock(rcpu))
		cond_resched();
}

/**
 * rb_exchange_unlock() - the end of rb_exchange_lock() or -trylock()
 * @rcpu: the CPU's part
 *
 * Context: Any context, including NMI.
 */
void rb_exchange_unlock(struct rb_cpu *rcpu)
{
	atomic_set_release(&rcpu->exchange, 0);
}

/**
 * rb_ring_wait_quiet() - wait for the writers in a ring to leave it
 * @ring: a ring that no CPU writes to any more, since before a grace period
 *
 * After the grace period whoever had found the ring is inside, or has left:
 * this waits for a writer that RCU does not know of, which is in no hurry in
 * theory only.
 *
 * Context: May sleep.
 */
void rb_ring_wait_quiet(struct rb_ring *ring)
{
	/* Pairs with rb_leave:A and rb_finish:A. RBB(rb_ring_wait_quiet:A) */
	while (smp_load_acquire(&ring->nest)) {
		rb_race_point(QUIET);
		schedule_timeout_uninterruptible(1);
	}
}

#ifdef CONFIG_RING_BUFFER_ALLOW_SWAP
static int rb_swap(struct rb_cpu *a, struct rb_cpu *b)
{
	unsigned long live_a = READ_ONCE(a->ring), live_b = READ_ONCE(b->ring);
	struct rb_ring *ring_a = rb_untag(live_a), *ring_b = rb_untag(live_b);

	if (a->mapped || b->mapped)
		return -EBUSY;
	if (ring_a->nr != ring_b->nr || ring_a->order != ring_b->order)
		return -EINVAL;

	rb_race_point(SWAP);
	/*
	 * @b first: what is written to it meanwhile is in the ring that it
	 * gets, together with the last records of @a.
	 */
	smp_store_release(&b->ring, rb_retag(ring_a, live_b));
	rb_race_point(SWAP_HALF);
	/* Pairs with rb_enter:A. */
	smp_store_release(&a->ring, rb_retag(ring_b, live_a)); /* RBB(rb_swap:A) */
	rb_race_point(SWAP_LIVE);
	rcu_assign_pointer(a->read_ring, ring_b);
	rb_race_point(SWAP_READER);
	rcu_assign_pointer(b->read_ring, ring_a);
	return 0;
}

/**
 * ring_buffer_swap_cpu() - exchange what two buffers have of a CPU
 * @buffer_a: the buffer that is written
 * @buffer_b: the one that takes what @buffer_a has recorded
 * @cpu:      the CPU
 *
 * Writers of @buffer_a go on. A record that is being written is in @buffer_b
 * when it is finished; every record of @buffer_b is older than any that comes
 * to @buffer_a.
 *
 * Context: Any context, including NMI. Does not wait.
 * Return: 0; -EINVAL if @cpu never was online or the sizes differ; -EAGAIN if
 *         a buffer does not record; -EBUSY while a buffer is mapped, resized,
 *         or swapped by another caller.
 */
int ring_buffer_swap_cpu(struct trace_buffer *buffer_a, struct trace_buffer *buffer_b, int cpu)
{
	struct rb_cpu *a = rb_get_cpu(buffer_a, cpu), *b = rb_get_cpu(buffer_b, cpu);
	int ret = -EBUSY;

	if (!a || !b || a == b)
		return -EINVAL;
	if (atomic_read(&buffer_a->record_disabled) || atomic_read(&buffer_b->record_disabled) ||
	    rb_is_off(a) || rb_is_off(b))
		return -EAGAIN;

	/* Who waits for the swap to be over must not wait for its CPU. */
	preempt_disable_notrace();
	if (rb_exchange_trylock(a)) {
		if (rb_exchange_trylock(b)) {
			ret = rb_swap(a, b);
			rb_exchange_unlock(b);
		}
		rb_exchange_unlock(a);
	}
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(ring_buffer_swap_cpu);
#endif /* CONFIG_RING_BUFFER_ALLOW_SWAP */

/*
 * Empty a ring without writers. Sequences and numbers go on from where they
 * are, so that an iterator that stands in the middle of it finds that all it
 * knew is gone.
 */
static void rb_ring_reset(struct rb_ring *ring)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_subbuf *sb = ring->tail;
	u64 tail, word;
	unsigned int i;

	/* Free every slot but the writer's. */
	rb_publish(ring);
	for (i = 0; i < ring->nr; i++) {
		word = atomic64_read(&ring->slots[i]);
		sb = ring->subbufs[rb_slot_id(word)];
		if (sb->persist && sb != ring->tail)
			rb_persist_emptied(sb);
		if (sb != ring->tail)
			atomic64_set(&ring->slots[i], word | RB_SLOT_EMPTY);
	}

	/* Let the writer begin a new one, and leave it the one it has. */
	sb = ring->tail;
	tail = local64_read(&sb->tail);
	if (tail != RB_OPEN_EMPTY) {
		rb_next_subbuf(ring, sb, tail, true);
		rb_publish(ring);
		if (rd->sb != sb) {
			word = rb_slot_word(sb->seq, sb->id, RB_SLOT_EMPTY);
			atomic64_set(rb_slot(ring, sb->seq), word);
		}
		if (sb->persist)
			rb_persist_emptied(sb);
	}

	if (rd->sb->persist)
		rb_persist_emptied(rd->sb);
	sb = ring->tail;
	rd->seq = sb->seq - 1;
	/* The reader's own is at its end, whatever it held. */
	atomic64_set(&rd->sb->publish, rb_pub_word(rd->seq, RB_PUB_FINAL, 0));
	rd->pos = 0;
	rd->num = sb->first;
	rd->lost = 0;
	rd->read = 0;
	rd->inherited = false;
	ring->num_base = sb->first;
	local_set(&ring->overrun, 0);
	local_set(&ring->commit_overrun, 0);
	local_set(&ring->dropped, 0);
	memset(&ring->carried, 0, sizeof(ring->carried));
}

static void rb_reset(struct trace_buffer *buffer, const struct cpumask *which)
{
	struct rb_ring *ring;
	struct rb_cpu *rcpu;
	unsigned long flags;
	int cpu;

	mutex_lock(&buffer->mutex);

	/*
	 * No swap from here on: it would bring a ring whose writers the grace
	 * period does not wait for. @which may change meanwhile, when a CPU
	 * comes online.
	 */
	for_each_cpu_and(cpu, buffer->cpumask, which) {
		rcpu = buffer->cpus[cpu];
		rb_exchange_lock(rcpu);
		rcpu->resetting = true;
		atomic_add(RB_STATE_OFF_ONE, &rcpu->state);
	}
	rb_race_point(REFUSING);
	synchronize_rcu();

	rb_for_each_cpu(buffer, cpu) {
		rcpu = buffer->cpus[cpu];
		if (!rcpu->resetting)
			continue;
		rb_ring_wait_quiet(rcu_dereference_protected(rcpu->read_ring, true));
		ring = rb_read_lock(rcpu, &flags);
		rb_ring_reset(ring);
		local_set(&rcpu->nest_drops, 0);
		rcpu->map_lost = 0;
		rb_map_update(rcpu, ring);
		rb_read_unlock(ring, flags);
	}

	rb_race_point(RESET);
	/* A writer that finds itself let in again finds what was done here. */
	synchronize_rcu();

	rb_for_each_cpu(buffer, cpu) {
		rcpu = buffer->cpus[cpu];
		if (!rcpu->resetting)
			continue;
		rcpu->resetting = false;
		atomic_sub(RB_STATE_OFF_ONE, &rcpu->state);
		rb_exchange_unlock(rcpu);
	}
	if (buffer->persist)
		rb_persist_renew(buffer);

	mutex_unlock(&buffer->mutex);
}

/**
 * ring_buffer_reset_cpu() - throw away what was recorded of a CPU
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
		rb_reset(buffer, cpumask_of(cpu));
}
EXPORT_SYMBOL_GPL(ring_buffer_reset_cpu);

/**
 * ring_buffer_reset_online_cpus() - throw away what online CPUs have recorded
 * @buffer: the buffer
 *
 * Context: May sleep.
 */
void ring_buffer_reset_online_cpus(struct trace_buffer *buffer)
{
	rb_reset(buffer, cpu_online_mask);
}

/**
 * ring_buffer_reset() - throw away what was recorded
 * @buffer: the buffer
 *
 * Of CPUs that are offline as well.
 *
 * Context: May sleep.
 */
void ring_buffer_reset(struct trace_buffer *buffer)
{
	rb_reset(buffer, cpu_possible_mask);
}
EXPORT_SYMBOL_GPL(ring_buffer_reset);
