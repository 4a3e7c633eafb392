// SPDX-License-Identifier: GPL-2.0
/*
 * What the torture test calls of the ring buffer that is not exported to
 * modules. This file is built in where the test is a module: nobody else gets
 * at these functions, and only a kernel with the test has them.
 */
#include <linux/export.h>

#include "../internal.h"
#include "torture.h"

int rbt_hook_map(struct trace_buffer *buffer, int cpu, struct vm_area_struct *vma)
{
	return ring_buffer_map(buffer, cpu, vma);
}
EXPORT_SYMBOL_GPL(rbt_hook_map);

void rbt_hook_map_dup(struct trace_buffer *buffer, int cpu)
{
	ring_buffer_map_dup(buffer, cpu);
}
EXPORT_SYMBOL_GPL(rbt_hook_map_dup);

int rbt_hook_unmap(struct trace_buffer *buffer, int cpu)
{
	return ring_buffer_unmap(buffer, cpu);
}
EXPORT_SYMBOL_GPL(rbt_hook_unmap);

int rbt_hook_map_get_reader(struct trace_buffer *buffer, int cpu)
{
	return ring_buffer_map_get_reader(buffer, cpu);
}
EXPORT_SYMBOL_GPL(rbt_hook_map_get_reader);

bool rbt_hook_is_mapped(struct trace_buffer *buffer)
{
	return ring_buffer_is_mapped(buffer);
}
EXPORT_SYMBOL_GPL(rbt_hook_is_mapped);

void rbt_hook_nest_start(struct trace_buffer *buffer)
{
	ring_buffer_nest_start(buffer);
}
EXPORT_SYMBOL_GPL(rbt_hook_nest_start);

void rbt_hook_nest_end(struct trace_buffer *buffer)
{
	ring_buffer_nest_end(buffer);
}
EXPORT_SYMBOL_GPL(rbt_hook_nest_end);

u64 rbt_hook_event_time_stamp(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	return ring_buffer_event_time_stamp(buffer, event);
}
EXPORT_SYMBOL_GPL(rbt_hook_event_time_stamp);

void rbt_hook_time_stamp_abs(struct trace_buffer *buffer, bool abs)
{
	ring_buffer_set_time_stamp_abs(buffer, abs);
}
EXPORT_SYMBOL_GPL(rbt_hook_time_stamp_abs);

void rbt_hook_set_clock(struct trace_buffer *buffer, u64 (*clock)(void))
{
	ring_buffer_set_clock(buffer, clock);
}
EXPORT_SYMBOL_GPL(rbt_hook_set_clock);

int rbt_hook_wait(struct trace_buffer *buffer, int cpu, int full, ring_buffer_cond_fn cond)
{
	return ring_buffer_wait(buffer, cpu, full, cond, NULL);
}
EXPORT_SYMBOL_GPL(rbt_hook_wait);

void rbt_hook_wake_waiters(struct trace_buffer *buffer)
{
	ring_buffer_wake_waiters(buffer, RING_BUFFER_ALL_CPUS);
}
EXPORT_SYMBOL_GPL(rbt_hook_wake_waiters);

/* The lock of @ring is held. */
static void rbt_count(struct rb_ring *ring, struct rbt_counts *counts)
{
	struct rb_reader *rd = &ring->reader;

	counts->entries = rb_ring_entries(ring);
	counts->read = rd->read;
	counts->overrun = rb_ring_overrun(ring);
	/* Up to its number, the reader has read the records, or tells or told of a loss. */
	counts->untold = counts->overrun + rd->read + rd->lost - (rd->num - ring->num_base);
	counts->refused = local_read(&ring->dropped) + ring->carried.dropped +
			  local_read(&ring->commit_overrun) + ring->carried.commit_overrun;
}

void rbt_hook_count(struct trace_buffer *buffer, int cpu, struct rbt_counts *counts)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_ring *ring;
	unsigned long flags;

	memset(counts, 0, sizeof(*counts));
	if (!rcpu)
		return;
	ring = rb_read_lock(rcpu, &flags);
	rbt_count(ring, counts);
	rb_read_unlock(ring, flags);
}
EXPORT_SYMBOL_GPL(rbt_hook_count);

static void rbt_hook_drop(struct rb_cpu *rcpu, struct rb_ring *ring, void *data)
{
	void (*drop)(int cpu, const struct rbt_counts *counts) = data;
	struct rbt_counts counts;

	rbt_count(ring, &counts);
	counts.refused += local_read(&rcpu->nest_drops);
	drop(rcpu->cpu, &counts);
}

/* ring_buffer_reset() or ring_buffer_reset_cpu(), which tells what each ring held. */
void rbt_hook_reset(struct trace_buffer *buffer, int cpu,
		    void (*drop)(int cpu, const struct rbt_counts *counts))
{
	rb_reset(buffer, cpu == RING_BUFFER_ALL_CPUS ? cpu_possible_mask : cpumask_of(cpu),
		 rbt_hook_drop, drop);
}
EXPORT_SYMBOL_GPL(rbt_hook_reset);

/* Is there surely what a waiter for @percent of the ring waits for? */
bool rbt_hook_filled(struct trace_buffer *buffer, int cpu, unsigned int percent)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_ring *ring;
	unsigned long flags;
	bool filled;

	if (!rcpu)
		return false;
	ring = rb_read_lock(rcpu, &flags);
	filled = !rb_reader_empty(ring) &&
		 (!percent || rb_ring_dirty(ring) * 100 >= percent * ring->nr);
	rb_read_unlock(ring, flags);
	return filled;
}
EXPORT_SYMBOL_GPL(rbt_hook_filled);
