// SPDX-License-Identifier: GPL-2.0
/*
 * What the torture test calls of the ring buffer that is not exported to
 * modules. This file is built in where the test is a module: nobody else gets
 * at these functions, and only a kernel with the test has them.
 */
#include <linux/export.h>

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
