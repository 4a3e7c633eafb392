// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of the ring buffer that the torture test calls and that no other module does.
 * This file is built in where the test is a module, and exports them to that module alone.
 */
#include <linux/export.h>

#include "../internal.h"
#include "torture.h"

/*
 * For this test alone. EXPORT_SYMBOL_NS_GPL() takes a name in older kernels, and a string in newer
 * ones.
 */
#define TOR_EXPORT(name)	__EXPORT_SYMBOL(name, "GPL", "RING_BUFFER_TORTURE")

TOR_EXPORT(ring_buffer_map);
TOR_EXPORT(ring_buffer_map_dup);
TOR_EXPORT(ring_buffer_unmap);
TOR_EXPORT(ring_buffer_map_get_reader);
TOR_EXPORT(ring_buffer_is_mapped);
TOR_EXPORT(ring_buffer_nest_start);
TOR_EXPORT(ring_buffer_nest_end);
TOR_EXPORT(ring_buffer_event_time_stamp);
TOR_EXPORT(ring_buffer_set_time_stamp_abs);
TOR_EXPORT(ring_buffer_set_clock);
TOR_EXPORT(ring_buffer_wait);
TOR_EXPORT(ring_buffer_wake_waiters);
TOR_EXPORT(ring_buffer_record_is_on);
TOR_EXPORT(ring_buffer_follow_switch);
TOR_EXPORT(__ring_buffer_alloc_unexpanded);
TOR_EXPORT(ring_buffer_expand);
TOR_EXPORT(ring_buffer_unexpand);
TOR_EXPORT(ring_buffer_is_expanded);
TOR_EXPORT(tor_hook_count);
TOR_EXPORT(tor_hook_cut);
TOR_EXPORT(tor_hook_reset);
TOR_EXPORT(tor_hook_filled);

/* The lock of @ring is held. */
static void tor_count(struct rb_ring *ring, struct tor_counts *counts)
{
	struct rb_reader *rd = &ring->reader;

	counts->entries = rb_ring_entries(ring);
	counts->read = rd->read;
	counts->overrun = rb_ring_overrun(ring);
	/* Up to its number, the reader has read the records, or reports or reported a loss. */
	counts->untold = counts->overrun + rd->read + rd->lost - (rd->num - ring->reader.num_base);
	counts->refused = local_read(&ring->dropped) + ring->reader.carried.dropped +
			  local_read(&ring->commit_overrun) + ring->reader.carried.commit_overrun;
}

void tor_hook_count(struct trace_buffer *buffer, int cpu, struct tor_counts *counts)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_ring *ring;
	unsigned long flags;

	memset(counts, 0, sizeof(*counts));
	if (!rcpu)
		return;
	ring = rb_read_lock(rcpu, &flags);
	tor_count(ring, counts);
	rb_read_unlock(ring, flags);
}

/* ring_buffer_cut_all() of one buffer; @drop is called before @spare drops its records. */
int tor_hook_cut(struct trace_buffer *live, struct trace_buffer *spare, int cpu,
		 void (*drop)(void *data), void *data)
{
	const struct ring_buffer_cut one = { .live = live, .spare = spare };

	return rb_cut_all(&one, cpu, drop, data);
}

static void tor_hook_drop(struct rb_cpu *rcpu, struct rb_ring *ring, void *data)
{
	void (*drop)(int cpu, const struct tor_counts *counts) = data;
	struct tor_counts counts;

	tor_count(ring, &counts);
	counts.refused += local_read(&rcpu->nest_drops);
	drop(rcpu->cpu, &counts);
}

/* ring_buffer_reset() or ring_buffer_reset_cpu(), and report the content of each ring. */
void tor_hook_reset(struct trace_buffer *buffer, int cpu,
		    void (*drop)(int cpu, const struct tor_counts *counts))
{
	rb_reset(buffer, cpu == RING_BUFFER_ALL_CPUS ? cpu_possible_mask : cpumask_of(cpu),
		 tor_hook_drop, drop);
}

/* Is the condition of a waiter for @percent of the ring true for sure? */
bool tor_hook_filled(struct trace_buffer *buffer, int cpu, unsigned int percent)
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
