/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels: several buffers in one session.
 *
 * A channel is an instance that a session groups, see instance/session.c. The files of a
 * session show the records of all of them together, by time.
 *
 * Each file calls only files above it in this list:
 *
 *   channels.c  the file "channels"
 *   source.c    the iterator of one channel
 *   merge.c     the records of all channels, by time
 *   pipe.c      readers that consume: wait; "trace_pipe" of a session: print, wait, poll
 */
#ifndef _KERNEL_TRACE_CHANNEL_INTERNAL_H
#define _KERNEL_TRACE_CHANNEL_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/lockdep.h>
#include <linux/min_heap.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../trace.h"

/**
 * struct merge_source - a CPU of a channel, or of the session itself
 * @iter:  iterator of the channel
 * @cpu:   the CPU
 * @order: of two records of the same time and CPU, the one with the lower number is first
 * @ts:    time of the next record, as it was seen last
 */
struct merge_source {
	struct trace_iterator	*iter;
	int			cpu;
	unsigned int		order;
	u64			ts;
};

DEFINE_MIN_HEAP(struct merge_source, merge_heap);

/**
 * struct trace_merge - what an open file of a session shows
 * @found:    iterator of the record that trace_merge_next() found last, or NULL
 * @alone:    the session was retired: the sources of its channels are left out
 * @polled:     time of the session's clock before all sources were looked at last
 * @heap:       the sources with a record, the first &merge_heap.nr ones of @sources
 * @nr_sources: number of sources; those without a record are at the end
 * @sources:    the sources
 * @nr_iters:   number of channels
 * @iters:      iterators of the channels
 */
struct trace_merge {
	struct trace_iterator	*found;
	bool			alone;
	u64			polled;
	struct merge_heap	heap;
	unsigned int		nr_sources;
	struct merge_source	*sources;
	unsigned int		nr_iters;
	struct trace_iterator	*iters[] __counted_by(nr_iters);
};

/* A unit test counts comparisons, and acts as a writer before source @i is looked at. */
#ifdef CONFIG_TRACE_INSTANCE_KUNIT_TEST
extern unsigned long merge_compared;
extern void (*merge_race_hook)(unsigned int i);
#define merge_count() ((void)merge_compared++)
#else
#define merge_count() ((void)0)
#endif

static inline void merge_race_point(unsigned int i)
{
#ifdef CONFIG_TRACE_INSTANCE_KUNIT_TEST
	if (merge_race_hook)
		merge_race_hook(i);
#endif
}

/* source.c */
struct trace_iterator *
merge_open_channel(struct trace_iterator *iter, struct trace_array *ch, struct array_buffer *part);
void merge_close_channel(struct trace_iterator *sub);

#endif /* _KERNEL_TRACE_CHANNEL_INTERNAL_H */
