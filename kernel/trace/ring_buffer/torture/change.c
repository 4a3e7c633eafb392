// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the buffers while they are written and read.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>

#include "torture.h"

/**
 * rbt_note_toggle() - note that records are refused which no ring counts
 *
 * Context: Any context.
 */
void rbt_note_toggle(void)
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
		if (rbt_changes(RBT_TOGGLE) || rbt_changes(RBT_RESET))
			return;
		break;
	case -EINVAL:
		if (rbt_changes(RBT_RESIZE) || rbt_changes(RBT_ORDER) || rbt_changes(RBT_HOTPLUG))
			return;
		break;
	}
	rbt_fault(RBT_REFUSED, "swap of cpu %d: %d", cpu, ret);
}

static void rbt_dropped_by_reset(int cpu, const struct rbt_counts *counts)
{
	rbt_drop(cpu, RBT_BY_RESET, counts);
}

/* All tasks are at work. */
static void rbt_reset(struct rnd_state *rnd)
{
	struct rbt_buffer *buffer = &rbt_buffers[rbt_random(rnd, RBT_BUFFERS)];
	int cpu = rbt_random(rnd, 2) ? rbt_random(rnd, nr_cpu_ids) : RING_BUFFER_ALL_CPUS, i;
	const struct cpumask *which = cpu < 0 ? cpu_possible_mask : cpumask_of(cpu);

	/* (A CPU that never was online has no ring.) */
	if (cpu >= 0 && !ring_buffer_size(buffer->rb, cpu))
		return;
	down_read(&buffer->ctl);
	mutex_lock(&buffer->reset);
	for_each_cpu(i, which) {
		WRITE_ONCE(rbt_cpus[i]->toggled, true);
		rbt_drop_begin(i);
	}
	rbt_hook_reset(buffer->rb, cpu, rbt_dropped_by_reset);
	for_each_cpu(i, which)
		rbt_drop_end(i);
	mutex_unlock(&buffer->reset);
	up_read(&buffer->ctl);
	rbt_did(RBT_DID_RESET, 0);
}

/*
 * Reset a ring without writers and readers: before, it holds the number of records that it
 * reports, and after, none. Writers try, other rings go on, and so do iterators of this one.
 */
static void rbt_reset_quiet(struct rnd_state *rnd)
{
	int b = rbt_random(rnd, RBT_BUFFERS), cpu = rbt_random(rnd, nr_cpu_ids);
	struct rbt_buffer *buffer = &rbt_buffers[b];
	struct trace_buffer *rb = buffer->rb;
	u64 left;

	/* The CPU never was online, and has no ring to switch off. */
	if (!ring_buffer_size(rb, cpu))
		return;

	down_write(&buffer->ctl);
	/* Keep cuts away: unlike swaps, they exchange rings that do not record, too. */
	if (!b)
		down_write_nested(&rbt_buffers[1].ctl, SINGLE_DEPTH_NESTING);
	WRITE_ONCE(rbt_cpus[cpu]->toggled, true);
	ring_buffer_record_disable_cpu(rb, cpu);
	synchronize_rcu();
	rbt_last_look(b, cpu);
	rbt_drop_begin(cpu);
	rbt_hook_reset(rb, cpu, rbt_dropped_by_reset);
	left = ring_buffer_entries_cpu(rb, cpu) + ring_buffer_overrun_cpu(rb, cpu) +
	       ring_buffer_read_events_cpu(rb, cpu) + ring_buffer_dropped_events_cpu(rb, cpu) +
	       ring_buffer_commit_overrun_cpu(rb, cpu) + ring_buffer_bytes_cpu(rb, cpu);
	if (left || !ring_buffer_empty_cpu(rb, cpu))
		rbt_fault(RBT_COUNT, "%d/%d: after a reset the counters add up to %llu", b, cpu,
			  left);
	rbt_drop_end(cpu);
	ring_buffer_record_enable_cpu(rb, cpu);
	if (!b)
		up_write(&rbt_buffers[1].ctl);
	up_write(&buffer->ctl);
	rbt_did(RBT_DID_RESET, 0);
}

/* The spare buffer drops the records of @which CPUs. No task writes to it or reads it. */
static void rbt_drop_spare(const struct cpumask *which)
{
	struct rbt_counts counts;
	int cpu;

	for_each_cpu(cpu, which) {
		rbt_hook_count(rbt_buffers[1].rb, cpu, &counts);
		rbt_drop(cpu, RBT_BY_CUT, &counts);
	}
}

/* No writer is in the spare buffer any more, and nothing can fail. */
static void rbt_dropped_by_cut(void *which)
{
	rbt_drop_spare(which);
}

/* Writers and tasks on buffer 0 go on; buffer 1 belongs to this function. */
static void rbt_cut(struct rnd_state *rnd)
{
	int cpu = rbt_random(rnd, 2) ? rbt_random_cpu(rnd) : RING_BUFFER_ALL_CPUS, i, ret;
	const struct cpumask *which = cpu < 0 ? cpu_possible_mask : cpumask_of(cpu);

	/* See rbt_from(): these are full barriers. */
	preempt_disable();
	for_each_cpu(i, which) {
		rbt_drop_begin(i);
		atomic_inc_return(&rbt_cpus[i]->begun);
	}
	ret = rbt_hook_cut(rbt_buffers[0].rb, rbt_buffers[1].rb, cpu, rbt_dropped_by_cut,
			   (void *)which);
	for_each_cpu(i, which) {
		/* (Where the CPU was idle they stay, both empty: either may have either name.) */
		if (!ret && ring_buffer_size(rbt_buffers[0].rb, i))
			atomic_inc_return(&rbt_cpus[i]->flips);
		atomic_inc_return(&rbt_cpus[i]->done);
		rbt_drop_end(i);
	}
	preempt_enable();

	rbt_did(RBT_DID_CUT, ret);
	if (ret && ret != -EBUSY && !rbt_changes(RBT_ORDER) && !rbt_changes(RBT_HOTPLUG))
		rbt_fault(RBT_REFUSED, "cut of cpu %d: %d", cpu, ret);
}

/*
 * The spare buffer after its last writer: it holds the number of records that it reports,
 * and frees unused sub-buffers or, with @forget, drops the records. Not while it is mapped:
 * the position of the reader would move over dropped records, as if it had consumed them.
 */
static void rbt_spare(struct rnd_state *rnd, bool forget)
{
	struct trace_buffer *spare = rbt_buffers[1].rb;
	unsigned int before, after;
	int cpu, ret;

	down_write(&rbt_buffers[1].ctl);
	if (ring_buffer_is_mapped(spare)) {
		ret = -EBUSY;
		goto out;
	}
	ring_buffer_wait_writers(spare);
	for_each_possible_cpu(cpu) {
		rbt_cpus[cpu]->spare = rbt_last_look(1, cpu);
		rbt_drop_begin(cpu);
	}
	if (forget) {
		rbt_drop_spare(cpu_possible_mask);
		ret = ring_buffer_forget(spare);
	} else {
		ret = ring_buffer_trim(spare);
	}
	for_each_possible_cpu(cpu) {
		before = rbt_cpus[cpu]->spare;
		after = rbt_last_look(1, cpu);
		if (after != (forget ? 0 : before))
			rbt_fault(RBT_COUNT, "1/%d: %u entries before %s, %u after", cpu, before,
				  forget ? "forget" : "trim", after);
		rbt_drop_end(cpu);
	}
	/* Half of the next cuts are into the remaining sub-buffers. */
	if (!forget && rbt_random(rnd, 2))
		ring_buffer_resize(spare, rbt_params.kbytes * 1024UL, RING_BUFFER_ALL_CPUS);
	if (ret && (forget || ret != -ENOMEM))
		rbt_fault(RBT_REFUSED, "%s: %d", forget ? "forget" : "trim", ret);
out:
	up_write(&rbt_buffers[1].ctl);
	rbt_did(forget ? RBT_DID_FORGET : RBT_DID_TRIM, ret);
}

/* A buffer follows one other buffer at most. */
static DEFINE_MUTEX(rbt_following);

static void rbt_toggle(struct rnd_state *rnd)
{
	struct trace_buffer *rb = rbt_buffers[rbt_random(rnd, RBT_BUFFERS)].rb;
	int how = rbt_random(rnd, 6), cpu = rbt_random_cpu(rnd);

	/* The CPU never was online, and has no ring to switch off. */
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
		ring_buffer_set_time_stamp_abs(rb, rbt_random(rnd, 2));
		break;
	case 4:
		tracing_off_all();
		break;
	case 5:
		mutex_lock(&rbt_following);
		ring_buffer_record_off(rbt_buffers[0].rb);
		ring_buffer_follow_switch(rbt_buffers[1].rb, rbt_buffers[0].rb);
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
	case 4:
		tracing_on_all();
		break;
	case 5:
		/* Buffer 1 leaves while the other one is off, or on again. */
		if (rbt_random(rnd, 2))
			ring_buffer_record_on(rbt_buffers[0].rb);
		ring_buffer_follow_switch(rbt_buffers[1].rb, NULL);
		ring_buffer_record_on(rbt_buffers[0].rb);
		mutex_unlock(&rbt_following);
		break;
	}
	rbt_did(RBT_DID_TOGGLE, 0);
}

/* Writers and readers of buffer 1 have tried it without rings. */
static void rbt_expand(struct rnd_state *rnd)
{
	unsigned long size = 1 + rbt_random(rnd, 2048 * rbt_params.kbytes);
	struct trace_buffer *other;
	int ret;

	down_read(&rbt_buffers[1].ctl);
	ret = ring_buffer_expand(rbt_buffers[1].rb, size);
	rbt_did(RBT_DID_EXPAND, ret);
	if (ret < 0 && ret != -ENOMEM)
		rbt_fault(RBT_REFUSED, "expand: %d", ret);
	up_read(&rbt_buffers[1].ctl);

	/* One that comes and goes, for tracing_off_all(). */
	other = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
	if (!other)
		return;
	ring_buffer_expand(other, size);
	ring_buffer_free(other);
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
		down_write(&rbt_buffers[1].ctl);
		for (n = rbt_random(rnd, 16); n; n--)
			rbt_cut(rnd);
		up_write(&rbt_buffers[1].ctl);
		break;
	case RBT_FORGET:
	case RBT_TRIM:
		rbt_spare(rnd, change == RBT_FORGET);
		break;
	case RBT_RESET:
		if (rbt_random(rnd, 2))
			rbt_reset(rnd);
		else
			rbt_reset_quiet(rnd);
		break;
	case RBT_TOGGLE:
		rbt_toggle(rnd);
		break;
	case RBT_EXPAND:
		rbt_expand(rnd);
		break;
	default:
		break;
	}
}

/**
 * rbt_changer() - a task that changes what this round changes
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &rbt_stand for reading.
 */
void rbt_changer(struct rnd_state *rnd, int nr)
{
	enum rbt_change change = rbt_random(rnd, RBT_CHANGES);

	if (rbt_changes(change))
		rbt_change(rnd, change);
}

/**
 * rbt_plugger() - a task that takes CPUs offline and online
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread.
 */
void rbt_plugger(struct rnd_state *rnd, int nr)
{
	int cpu;

	down_read(&rbt_stand);
	cpu = rbt_random(rnd, nr_cpu_ids);
	if (rbt_changes(RBT_HOTPLUG) && cpu_present(cpu) && cpu_is_hotpluggable(cpu))
		rbt_did(RBT_DID_PLUG, cpu_online(cpu) ? remove_cpu(cpu) : add_cpu(cpu));
	up_read(&rbt_stand);
	schedule_timeout_interruptible(1 + rbt_random(rnd, HZ / 2));
}
