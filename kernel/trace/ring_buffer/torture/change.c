// SPDX-License-Identifier: GPL-2.0
/*
 * What is done to the buffers while they are written and read.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>

#include "torture.h"

/* Readers will not be told of what goes now. */
static void rbt_note_reset(int cpu)
{
	atomic_inc(&rbt_cpus[cpu]->resets);
}

static void rbt_note_toggle(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(rbt_cpus[cpu]->toggled, true);
}

static int rbt_resize_one(struct rbt_buffer *buffer, unsigned long size, int cpu)
{
	int ret;

	down_read(&buffer->ctl);
	ret = ring_buffer_resize(buffer->rb, size, cpu);
	rbt_did(RBT_DID_RESIZE, ret);
	if (ret < 0 && ret != -ENOMEM && !(ret == -EBUSY && rbt_params.mappers))
		rbt_fault(RBT_REFUSED, "resize: %d", ret);
	up_read(&buffer->ctl);
	return ret;
}

static int rbt_order_one(struct rbt_buffer *buffer, int order)
{
	int ret;

	down_read(&buffer->ctl);
	ret = ring_buffer_subbuf_order_set(buffer->rb, order);
	rbt_did(RBT_DID_ORDER, ret);
	if (ret && ret != -ENOMEM &&
	    !(ret == -EBUSY && (rbt_params.mappers || rbt_params.iterators)))
		rbt_fault(RBT_REFUSED, "order: %d", ret);
	up_read(&buffer->ctl);
	return ret;
}

/* Both buffers to the same shape, as far as can be: others are not swapped. */
static void rbt_reshape(struct rnd_state *rnd, enum rbt_change change)
{
	unsigned long size = 1 + rbt_random(rnd, 2048 * rbt_params.kbytes);
	int cpu = rbt_random(rnd, 2) ? RING_BUFFER_ALL_CPUS : rbt_random_cpu(rnd);
	int order = rbt_random(rnd, RBT_MAX_ORDER + 1), b, tries, ret;

	for (b = 0; b < RBT_BUFFERS; b++) {
		for (tries = 0; tries < 20; tries++) {
			if (change == RBT_RESIZE)
				ret = rbt_resize_one(&rbt_buffers[b], size, cpu);
			else
				ret = rbt_order_one(&rbt_buffers[b], order);
			if (ret >= 0)
				break;
			usleep_range(100, 1000);
		}
	}
}

/**
 * rbt_swap() - exchange the rings of a CPU
 * @cpu: the CPU
 *
 * Context: Any context, including NMI.
 */
void rbt_swap(int cpu)
{
	struct rbt_cpu *c = rbt_cpus[cpu];
	int ret;

	/* See rbt_from(): these are full barriers. */
	preempt_disable();
	atomic_inc_return(&c->begun);
	ret = ring_buffer_swap_cpu(rbt_buffers[0].rb, rbt_buffers[1].rb, cpu);
	if (!ret)
		atomic_inc_return(&c->flips);
	atomic_inc_return(&c->done);
	preempt_enable();

	rbt_did(RBT_DID_SWAP, ret);
	switch (ret) {
	case 0:
	case -EBUSY:
		return;
	case -EAGAIN:
		if (rbt_changes(RBT_TOGGLE) || rbt_changes(RBT_RESET) || rbt_changes(RBT_WIPE))
			return;
		break;
	case -EINVAL:
		if (rbt_changes(RBT_RESIZE) || rbt_changes(RBT_ORDER) || rbt_changes(RBT_HOTPLUG))
			return;
		break;
	}
	rbt_fault(RBT_REFUSED, "swap of cpu %d: %d", cpu, ret);
}

/*
 * Reset a ring that nobody writes to, and take its counters first. Writers still
 * try, other rings go on, and so do iterators of this one.
 */
static void rbt_reset(struct rnd_state *rnd)
{
	int b = rbt_random(rnd, RBT_BUFFERS), cpu = rbt_random(rnd, nr_cpu_ids);
	struct rbt_buffer *buffer = &rbt_buffers[b];
	struct trace_buffer *rb = buffer->rb;
	struct rbt_cpu *c = rbt_cpus[cpu];
	u64 entries, left;

	/* It never was online: what is not there can't be switched off. */
	if (!ring_buffer_size(rb, cpu))
		return;

	down_write(&buffer->ctl);
	mutex_lock(&c->consume[b]);
	WRITE_ONCE(c->toggled, true);
	ring_buffer_record_disable_cpu(rb, cpu);
	synchronize_rcu();

	rbt_note_reset(cpu);
	entries = ring_buffer_entries_cpu(rb, cpu);
	c->gone.discarded += entries;
	c->gone.overrun += ring_buffer_overrun_cpu(rb, cpu);
	c->gone.read += ring_buffer_read_events_cpu(rb, cpu);
	ring_buffer_reset_cpu(rb, cpu);
	left = ring_buffer_entries_cpu(rb, cpu) + ring_buffer_overrun_cpu(rb, cpu) +
	       ring_buffer_read_events_cpu(rb, cpu) + ring_buffer_dropped_events_cpu(rb, cpu) +
	       ring_buffer_commit_overrun_cpu(rb, cpu) + ring_buffer_bytes_cpu(rb, cpu);
	if (left || !ring_buffer_empty_cpu(rb, cpu))
		rbt_fault(RBT_COUNT, "%d/%d: after a reset the counters add up to %llu", b, cpu,
			  left);
	rbt_note_reset(cpu);

	ring_buffer_record_enable_cpu(rb, cpu);
	mutex_unlock(&c->consume[b]);
	up_write(&buffer->ctl);
	rbt_did(RBT_DID_RESET, 0);
}

/**
 * rbt_note_late() - what was written up to now may have gone with a reset
 * @cpu: the CPU
 *
 * Context: Task.
 */
void rbt_note_late(int cpu)
{
	struct rbt_cpu *c = rbt_cpus[cpu];
	int i;

	spin_lock(&c->wipe_lock);
	for (i = 0; i < RBT_CONTEXTS; i++)
		c->late[i] = max(c->late[i], READ_ONCE(c->writer[i].next));
	spin_unlock(&c->wipe_lock);
}

static void rbt_wiped(int cpu)
{
	rbt_note_reset(cpu);
	rbt_note_late(cpu);
	atomic_inc_return(&rbt_cpus[cpu]->wipes);
	atomic_dec_return(&rbt_cpus[cpu]->wiping);
}

/* A reset while everybody is at work. */
static void rbt_wipe(struct rnd_state *rnd)
{
	struct rbt_buffer *buffer = &rbt_buffers[rbt_random(rnd, RBT_BUFFERS)];
	int cpu = rbt_random(rnd, 2) ? rbt_random(rnd, nr_cpu_ids) : -1, i;

	down_read(&buffer->ctl);
	for_each_possible_cpu(i) {
		if (cpu >= 0 && i != cpu)
			continue;
		atomic_inc_return(&rbt_cpus[i]->wiping);
		WRITE_ONCE(rbt_cpus[i]->toggled, true);
		rbt_note_reset(i);
	}
	if (cpu < 0)
		ring_buffer_reset(buffer->rb);
	else
		ring_buffer_reset_cpu(buffer->rb, cpu);
	for_each_possible_cpu(i) {
		if (cpu < 0 || i == cpu)
			rbt_wiped(i);
	}
	up_read(&buffer->ctl);
	rbt_did(RBT_DID_WIPE, 0);
}

/* Everybody is at work, and what buffer 1 held goes as with a reset. */
static void rbt_cut(struct rnd_state *rnd)
{
	int cpu = rbt_random(rnd, 2) ? rbt_random_cpu(rnd) : RING_BUFFER_ALL_CPUS, i, ret;
	struct rbt_cpu *c;

	down_read(&rbt_buffers[1].ctl);
	for_each_possible_cpu(i) {
		if (cpu != RING_BUFFER_ALL_CPUS && i != cpu)
			continue;
		c = rbt_cpus[i];
		atomic_inc_return(&c->wiping);
		WRITE_ONCE(c->toggled, true);
		rbt_note_reset(i);
	}
	/* See rbt_from(): these are full barriers. */
	preempt_disable();
	for_each_possible_cpu(i) {
		if (cpu == RING_BUFFER_ALL_CPUS || i == cpu)
			atomic_inc_return(&rbt_cpus[i]->begun);
	}
	ret = ring_buffer_cut(rbt_buffers[0].rb, rbt_buffers[1].rb, cpu);
	for_each_possible_cpu(i) {
		if (cpu != RING_BUFFER_ALL_CPUS && i != cpu)
			continue;
		if (!ret && ring_buffer_size(rbt_buffers[0].rb, i))
			atomic_inc_return(&rbt_cpus[i]->flips);
		atomic_inc_return(&rbt_cpus[i]->done);
	}
	preempt_enable();
	for_each_possible_cpu(i) {
		if (cpu == RING_BUFFER_ALL_CPUS || i == cpu)
			rbt_wiped(i);
	}
	up_read(&rbt_buffers[1].ctl);

	rbt_did(RBT_DID_CUT, ret);
	if (ret && ret != -EBUSY && !rbt_changes(RBT_ORDER) && !rbt_changes(RBT_HOTPLUG))
		rbt_fault(RBT_REFUSED, "cut of cpu %d: %d", cpu, ret);
}

static void rbt_toggle(struct rnd_state *rnd)
{
	struct trace_buffer *rb = rbt_buffers[rbt_random(rnd, RBT_BUFFERS)].rb;
	int how = rbt_random(rnd, 4), cpu = rbt_random_cpu(rnd);

	/* It never was online: what is not there can't be switched off. */
	if (!ring_buffer_size(rb, cpu))
		return;

	rbt_note_toggle();
	switch (how) {
	case 0:
		ring_buffer_record_disable(rb);
		break;
	case 1:
		ring_buffer_record_disable_cpu(rb, cpu);
		break;
	case 2:
		ring_buffer_record_off(rb);
		break;
	case 3:
		rbt_hook_time_stamp_abs(rb, rbt_random(rnd, 2));
		break;
	}
	usleep_range(10, 2000);
	switch (how) {
	case 0:
		ring_buffer_record_enable(rb);
		break;
	case 1:
		ring_buffer_record_enable_cpu(rb, cpu);
		break;
	case 2:
		ring_buffer_record_on(rb);
		break;
	}
	rbt_did(RBT_DID_TOGGLE, 0);
}

static void rbt_change(struct rnd_state *rnd, enum rbt_change change)
{
	unsigned int n;

	switch (change) {
	case RBT_RESIZE:
	case RBT_ORDER:
		rbt_reshape(rnd, change);
		break;
	case RBT_OVERWRITE:
		ring_buffer_change_overwrite(rbt_buffers[rbt_random(rnd, RBT_BUFFERS)].rb,
					     rbt_random(rnd, 2));
		break;
	case RBT_SWAP:
		for (n = rbt_random(rnd, 16); n; n--)
			rbt_swap(rbt_random_cpu(rnd));
		break;
	case RBT_CUT:
		rbt_cut(rnd);
		break;
	case RBT_RESET:
		rbt_reset(rnd);
		break;
	case RBT_WIPE:
		rbt_wipe(rnd);
		break;
	case RBT_TOGGLE:
		rbt_toggle(rnd);
		break;
	default:
		break;
	}
}

/**
 * rbt_changer() - a task that changes what this round changes
 * @id: seed of its own
 *
 * Context: A kernel thread.
 * Return: 0.
 */
int rbt_changer(void *id)
{
	enum rbt_change change;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, rbt_params.seed + (unsigned long)id);
	while (!kthread_should_stop()) {
		down_read(&rbt_stand);
		change = rbt_random(&rnd, RBT_CHANGES);
		if (rbt_changes(change))
			rbt_change(&rnd, change);
		up_read(&rbt_stand);
		rbt_pause(&rnd);
	}
	return 0;
}

/**
 * rbt_plugger() - a task that takes CPUs offline and online
 * @id: seed of its own
 *
 * Context: A kernel thread.
 * Return: 0.
 */
int rbt_plugger(void *id)
{
	struct rnd_state rnd;
	int cpu;

	prandom_seed_state(&rnd, rbt_params.seed + (unsigned long)id);
	while (!kthread_should_stop()) {
		down_read(&rbt_stand);
		cpu = rbt_random(&rnd, nr_cpu_ids);
		if (rbt_changes(RBT_HOTPLUG) && cpu_present(cpu) && cpu_is_hotpluggable(cpu))
			rbt_did(RBT_DID_PLUG, cpu_online(cpu) ? remove_cpu(cpu) : add_cpu(cpu));
		up_read(&rbt_stand);
		schedule_timeout_interruptible(1 + rbt_random(&rnd, HZ / 2));
	}
	return 0;
}
