/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many boots ago was it written? For records in memory that survives a reboot.
 */
#ifndef _RING_BUFFER_BOOTS_H
#define _RING_BUFFER_BOOTS_H

#include <linux/bits.h>
#include <linux/ring_buffer.h>

/* For __ring_buffer_alloc_range(): this boot has copied the memory before it wrote to it. */
#define RB_FL_COPY	BIT(8)

unsigned int ring_buffer_boots_ago(struct trace_buffer *buffer, int cpu, const void *data);
unsigned int ring_buffer_iter_boots_ago(struct ring_buffer_iter *iter);
unsigned int ring_buffer_place_boots_ago(struct trace_buffer *buffer, int cpu,
					 const struct ring_buffer_place *place);

#endif
