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
 * tor_note_toggle() - note that records are refused which no ring counts
 *
 * Context: Any context.
 */
void tor_note_toggle(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(tor_cpus[cpu]->toggled, true);
}

static int tor_resize_one(struct tor_buffer *buffer, unsigned long size, int cpu)
{
	int ret;

	down_read(&buffer->ctl);
	ret = ring_buffer_resize(buffer->rb, size, cpu);
	tor_did(TOR_DID_RESIZE, ret);
	if (ret < 0 && ret != -ENOMEM && !(ret == -EBUSY && tor_params.mappers))
		tor_fault(TOR_REFUSED, "resize: %d", ret);
	up_read(&buffer->ctl);
	return ret;
}

static int tor_order_one(struct tor_buffer *buffer, int order)
{
	int ret;

	down_read(&buffer->ctl);
	ret = ring_buffer_subbuf_order_set(buffer->rb, order);
	tor_did(TOR_DID_ORDER, ret);
	if (ret && ret != -ENOMEM &&
	    !(ret == -EBUSY && (tor_params.mappers || tor_params.iterators)))
		tor_fault(TOR_REFUSED, "order: %d", ret);
	up_read(&buffer->ctl);
	return ret;
}

/* Both buffers to the same shape, as far as can be: others are not swapped. */
static void tor_reshape(struct rnd_state *rnd, enum tor_change change)
{
	unsigned long size = 1 + tor_random(rnd, 2048 * tor_params.kbytes);
	int cpu = tor_random(rnd, 2) ? RING_BUFFER_ALL_CPUS : tor_random_cpu(rnd);
	int order = tor_random(rnd, TOR_MAX_ORDER + 1), b, tries, ret;

	for (b = 0; b < TOR_BUFFERS; b++) {
		for (tries = 0; tries < 20; tries++) {
			if (change == TOR_RESIZE)
				ret = tor_resize_one(&tor_buffers[b], size, cpu);
			else
				ret = tor_order_one(&tor_buffers[b], order);
			if (ret >= 0)
				break;
			usleep_range(100, 1000);
		}
	}
}

/**
 * tor_swap() - exchange the rings of a CPU
 * @cpu: the CPU
 *
 * Context: Any context, including NMI.
 */
void tor_swap(int cpu)
{
	struct tor_cpu *c = tor_cpus[cpu];
	int ret;

	/* See tor_from(): these are full barriers. */
	preempt_disable();
	atomic_inc_return(&c->begun);
	ret = ring_buffer_swap_cpu(tor_buffers[0].rb, tor_buffers[1].rb, cpu);
	if (!ret)
		atomic_inc_return(&c->flips);
	atomic_inc_return(&c->done);
	preempt_enable();

	tor_did(TOR_DID_SWAP, ret);
	switch (ret) {
	case 0:
	case -EBUSY:
		return;
	case -EAGAIN:
		if (tor_changes(TOR_TOGGLE) || tor_changes(TOR_RESET))
			return;
		break;
	case -EINVAL:
		if (tor_changes(TOR_RESIZE) || tor_changes(TOR_ORDER) || tor_changes(TOR_HOTPLUG))
			return;
		break;
	}
	tor_fault(TOR_REFUSED, "swap of cpu %d: %d", cpu, ret);
}

static void tor_dropped_by_reset(int cpu, const struct tor_counts *counts)
{
	tor_drop(cpu, TOR_BY_RESET, counts);
}

/* All tasks are at work. */
static void tor_reset(struct rnd_state *rnd)
{
	struct tor_buffer *buffer = &tor_buffers[tor_random(rnd, TOR_BUFFERS)];
	int cpu = tor_random(rnd, 2) ? tor_random(rnd, nr_cpu_ids) : RING_BUFFER_ALL_CPUS, i;
	const struct cpumask *which = cpu < 0 ? cpu_possible_mask : cpumask_of(cpu);

	/* (A CPU that never was online has no ring.) */
	if (cpu >= 0 && !ring_buffer_size(buffer->rb, cpu))
		return;
	down_read(&buffer->ctl);
	mutex_lock(&buffer->reset);
	for_each_cpu(i, which) {
		WRITE_ONCE(tor_cpus[i]->toggled, true);
		tor_drop_begin(i);
	}
	tor_hook_reset(buffer->rb, cpu, tor_dropped_by_reset);
	for_each_cpu(i, which)
		tor_drop_end(i);
	mutex_unlock(&buffer->reset);
	up_read(&buffer->ctl);
	tor_did(TOR_DID_RESET, 0);
}

/*
 * Reset a ring without writers and readers: before, it holds the number of records that it
 * reports, and after, none. Writers try, other rings go on, and so do iterators of this one.
 */
static void tor_reset_quiet(struct rnd_state *rnd)
{
	int b = tor_random(rnd, TOR_BUFFERS), cpu = tor_random(rnd, nr_cpu_ids);
	struct tor_buffer *buffer = &tor_buffers[b];
	struct trace_buffer *rb = buffer->rb;
	u64 left;

	/* The CPU never was online, and has no ring to switch off. */
	if (!ring_buffer_size(rb, cpu))
		return;

	down_write(&buffer->ctl);
	/* Keep cuts away: unlike swaps, they exchange rings that do not record, too. */
	if (!b)
		down_write_nested(&tor_buffers[1].ctl, SINGLE_DEPTH_NESTING);
	WRITE_ONCE(tor_cpus[cpu]->toggled, true);
	ring_buffer_record_disable_cpu(rb, cpu);
	synchronize_rcu();
	tor_last_look(b, cpu);
	tor_drop_begin(cpu);
	tor_hook_reset(rb, cpu, tor_dropped_by_reset);
	left = ring_buffer_entries_cpu(rb, cpu) + ring_buffer_overrun_cpu(rb, cpu) +
	       ring_buffer_read_events_cpu(rb, cpu) + ring_buffer_dropped_events_cpu(rb, cpu) +
	       ring_buffer_commit_overrun_cpu(rb, cpu) + ring_buffer_bytes_cpu(rb, cpu);
	if (left || !ring_buffer_empty_cpu(rb, cpu))
		tor_fault(TOR_COUNT, "%d/%d: after a reset the counters add up to %llu", b, cpu,
			  left);
	tor_drop_end(cpu);
	ring_buffer_record_enable_cpu(rb, cpu);
	if (!b)
		up_write(&tor_buffers[1].ctl);
	up_write(&buffer->ctl);
	tor_did(TOR_DID_RESET, 0);
}

/* The spare buffer drops the records of @which CPUs. No task writes to it or reads it. */
static void tor_drop_spare(const struct cpumask *which)
{
	struct tor_counts counts;
	int cpu;

	for_each_cpu(cpu, which) {
		tor_hook_count(tor_buffers[1].rb, cpu, &counts);
		tor_drop(cpu, TOR_BY_CUT, &counts);
	}
}

/* No writer is in the spare buffer any more, and nothing can fail. */
static void tor_dropped_by_cut(void *which)
{
	tor_drop_spare(which);
}

/* Writers and tasks on buffer 0 go on; buffer 1 belongs to this function. */
static void tor_cut(struct rnd_state *rnd)
{
	int cpu = tor_random(rnd, 2) ? tor_random_cpu(rnd) : RING_BUFFER_ALL_CPUS, i, ret;
	const struct cpumask *which = cpu < 0 ? cpu_possible_mask : cpumask_of(cpu);

	/* See tor_from(): these are full barriers. */
	preempt_disable();
	for_each_cpu(i, which) {
		tor_drop_begin(i);
		atomic_inc_return(&tor_cpus[i]->begun);
	}
	ret = tor_hook_cut(tor_buffers[0].rb, tor_buffers[1].rb, cpu, tor_dropped_by_cut,
			   (void *)which);
	for_each_cpu(i, which) {
		/* (Where the CPU was idle they stay, both empty: either may have either name.) */
		if (!ret && ring_buffer_size(tor_buffers[0].rb, i))
			atomic_inc_return(&tor_cpus[i]->flips);
		atomic_inc_return(&tor_cpus[i]->done);
		tor_drop_end(i);
	}
	preempt_enable();

	tor_did(TOR_DID_CUT, ret);
	if (ret && ret != -EBUSY && !tor_changes(TOR_ORDER) && !tor_changes(TOR_HOTPLUG))
		tor_fault(TOR_REFUSED, "cut of cpu %d: %d", cpu, ret);
}

/*
 * The spare buffer after its last writer: it holds the number of records that it reports,
 * and frees unused sub-buffers or, with @forget, drops the records. Not while it is mapped:
 * the position of the reader would move over dropped records, as if it had consumed them.
 */
static void tor_spare(struct rnd_state *rnd, bool forget)
{
	struct trace_buffer *spare = tor_buffers[1].rb;
	unsigned int before, after;
	int cpu, ret;

	down_write(&tor_buffers[1].ctl);
	if (ring_buffer_is_mapped(spare)) {
		ret = -EBUSY;
		goto out;
	}
	ring_buffer_wait_writers(spare);
	for_each_possible_cpu(cpu) {
		tor_cpus[cpu]->spare = tor_last_look(1, cpu);
		tor_drop_begin(cpu);
	}
	if (forget) {
		tor_drop_spare(cpu_possible_mask);
		ret = ring_buffer_forget(spare);
	} else {
		ret = ring_buffer_trim(spare);
	}
	for_each_possible_cpu(cpu) {
		before = tor_cpus[cpu]->spare;
		after = tor_last_look(1, cpu);
		if (after != (forget ? 0 : before))
			tor_fault(TOR_COUNT, "1/%d: %u entries before %s, %u after", cpu, before,
				  forget ? "forget" : "trim", after);
		tor_drop_end(cpu);
	}
	/* Half of the next cuts are into the remaining sub-buffers. */
	if (!forget && tor_random(rnd, 2))
		ring_buffer_resize(spare, tor_params.kbytes * 1024UL, RING_BUFFER_ALL_CPUS);
	if (ret && (forget || ret != -ENOMEM))
		tor_fault(TOR_REFUSED, "%s: %d", forget ? "forget" : "trim", ret);
out:
	up_write(&tor_buffers[1].ctl);
	tor_did(forget ? TOR_DID_FORGET : TOR_DID_TRIM, ret);
}

/* A buffer follows one other buffer at most. */
static DEFINE_MUTEX(tor_following);

static void tor_toggle(struct rnd_state *rnd)
{
	struct trace_buffer *rb = tor_buffers[tor_random(rnd, TOR_BUFFERS)].rb;
	int how = tor_random(rnd, 6), cpu = tor_random_cpu(rnd);

	/* The CPU never was online, and has no ring to switch off. */
	if (!ring_buffer_size(rb, cpu))
		return;

	tor_note_toggle();
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
		ring_buffer_set_time_stamp_abs(rb, tor_random(rnd, 2));
		break;
	case 4:
		tracing_off_all();
		break;
	case 5:
		mutex_lock(&tor_following);
		ring_buffer_record_off(tor_buffers[0].rb);
		ring_buffer_follow_switch(tor_buffers[1].rb, tor_buffers[0].rb);
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
		if (tor_random(rnd, 2))
			ring_buffer_record_on(tor_buffers[0].rb);
		ring_buffer_follow_switch(tor_buffers[1].rb, NULL);
		ring_buffer_record_on(tor_buffers[0].rb);
		mutex_unlock(&tor_following);
		break;
	}
	tor_did(TOR_DID_TOGGLE, 0);
}

/* Writers and readers of buffer 1 have tried it without rings. */
static void tor_expand(struct rnd_state *rnd)
{
	unsigned long size = 1 + tor_random(rnd, 2048 * tor_params.kbytes);
	struct trace_buffer *other;
	int ret;

	down_read(&tor_buffers[1].ctl);
	ret = ring_buffer_expand(tor_buffers[1].rb, size);
	tor_did(TOR_DID_EXPAND, ret);
	if (ret < 0 && ret != -ENOMEM)
		tor_fault(TOR_REFUSED, "expand: %d", ret);
	up_read(&tor_buffers[1].ctl);

	/* One that comes and goes, for tracing_off_all(). */
	other = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
	if (!other)
		return;
	ring_buffer_expand(other, size);
	ring_buffer_free(other);
}

static void tor_change(struct rnd_state *rnd, enum tor_change change)
{
	unsigned int n;

	switch (change) {
	case TOR_RESIZE:
	case TOR_ORDER:
		tor_reshape(rnd, change);
		break;
	case TOR_OVERWRITE:
		ring_buffer_change_overwrite(tor_buffers[tor_random(rnd, TOR_BUFFERS)].rb,
					     tor_random(rnd, 2));
		break;
	case TOR_SWAP:
		for (n = tor_random(rnd, 16); n; n--)
			tor_swap(tor_random_cpu(rnd));
		break;
	case TOR_CUT:
		down_write(&tor_buffers[1].ctl);
		for (n = tor_random(rnd, 16); n; n--)
			tor_cut(rnd);
		up_write(&tor_buffers[1].ctl);
		break;
	case TOR_FORGET:
	case TOR_TRIM:
		tor_spare(rnd, change == TOR_FORGET);
		break;
	case TOR_RESET:
		if (tor_random(rnd, 2))
			tor_reset(rnd);
		else
			tor_reset_quiet(rnd);
		break;
	case TOR_TOGGLE:
		tor_toggle(rnd);
		break;
	case TOR_EXPAND:
		tor_expand(rnd);
		break;
	default:
		break;
	}
}

/**
 * tor_changer() - a task that changes what this round changes
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &tor_stand for reading.
 */
void tor_changer(struct rnd_state *rnd, int nr)
{
	enum tor_change change = tor_random(rnd, TOR_CHANGES);

	if (tor_changes(change))
		tor_change(rnd, change);
}

/**
 * tor_plugger() - a task that takes CPUs offline and online
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread.
 */
void tor_plugger(struct rnd_state *rnd, int nr)
{
	int cpu;

	down_read(&tor_stand);
	cpu = tor_random(rnd, nr_cpu_ids);
	if (tor_changes(TOR_HOTPLUG) && cpu_present(cpu) && cpu_is_hotpluggable(cpu))
		tor_did(TOR_DID_PLUG, cpu_online(cpu) ? remove_cpu(cpu) : add_cpu(cpu));
	up_read(&tor_stand);
	schedule_timeout_interruptible(1 + tor_random(rnd, HZ / 2));
}
