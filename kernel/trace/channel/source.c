// SPDX-License-Identifier: GPL-2.0
/*
 * The iterator of one channel, for an open file of its session.
 *
 * It has the options, the tracer and the position of the channel. Only the file of the
 * session is there for user space.
 */
#include "internal.h"

/* Read without consuming, as "trace" or "snapshot" of the channel. */
static int merge_open_iter(struct trace_iterator *sub)
{
	struct trace_array *ch = sub->tr;
	int cpu;

	sub->buffer_iter = kcalloc(nr_cpu_ids, sizeof(*sub->buffer_iter), GFP_KERNEL);
	if (!sub->buffer_iter)
		return -ENOMEM;
	if (!sub->array_buffer)
		sub->array_buffer = ch->current_trace->print_max ? trace_snapshot_get(ch, true) :
								   &ch->array_buffer;
	if (!sub->array_buffer)
		return -ENOMEM;
	if (sub->trace->open)
		sub->trace->open(sub);
	for_each_tracing_cpu(cpu) {
		if (sub->cpu_file != RING_BUFFER_ALL_CPUS && sub->cpu_file != cpu)
			continue;
		if (!tracing_iter_start(sub, cpu))
			return -ENOMEM;
	}
	return 0;
}

/* Consume, as "trace_pipe" of the channel. */
static int merge_open_pipe(struct trace_iterator *sub)
{
	struct trace_array *ch = sub->tr;

	sub->reader = ring_buffer_reader_open(ch->array_buffer.buffer, sub->cpu_file);
	if (!sub->reader)
		return -ENOMEM;
	/* merge_close_channel() undoes what was done, this tells it. */
	sub->array_buffer = &ch->array_buffer;
	ch->trace_ref++;
	cpumask_setall(sub->started);
	if (sub->trace->pipe_open)
		sub->trace->pipe_open(sub);
	return 0;
}

/**
 * merge_open_channel() - make an iterator for a channel
 * @iter: iterator of the session, with &trace_iterator.buffer_iter if it does not consume
 * @ch:   the channel
 * @part: part of the snapshot that @iter shows, or NULL; put by merge_close_channel(), and in an
 *	  error
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: the iterator, which holds a reference to @ch, and merge_close_channel() has to
 *	   follow; -ENOMEM.
 */
struct trace_iterator *
merge_open_channel(struct trace_iterator *iter, struct trace_array *ch, struct array_buffer *part)
{
	struct trace_iterator *sub = kvzalloc(sizeof(*sub), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&trace_types_lock);
	if (!sub) {
		if (part)
			trace_snapshot_put(part);
		return ERR_PTR(-ENOMEM);
	}
	sub->tr = ch;
	sub->array_buffer = part;
	/* Of a part of a kept snapshot, the name behind that of the snapshot */
	sub->channel = ch->name + (trace_is_kept(ch) ? strlen(ch->session->name) + 1 : 0);
	sub->trace = ch->current_trace;
	sub->snapshot = iter->snapshot;
	sub->pipe = iter->pipe;
	sub->cpu_file = iter->cpu_file;
	if (ch->trace_flags & TRACE_ITER(LATENCY_FMT))
		sub->iter_flags |= TRACE_FILE_LAT_FMT;
	if (trace_clock_in_ns(ch))
		sub->iter_flags |= TRACE_FILE_TIME_IN_NS;
	ch->ref++;

	ret = -ENOMEM;
	if (zalloc_cpumask_var(&sub->started, GFP_KERNEL))
		ret = iter->buffer_iter ? merge_open_iter(sub) : merge_open_pipe(sub);
	if (ret) {
		merge_close_channel(sub);
		return ERR_PTR(ret);
	}
	return sub;
}

static void merge_close_iter(struct trace_iterator *sub)
{
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (trace_buffer_iter(sub, cpu))
			ring_buffer_read_finish(trace_buffer_iter(sub, cpu));
	}
	if (sub->trace->close)
		sub->trace->close(sub);
	if (sub->array_buffer != &sub->tr->array_buffer)
		trace_snapshot_put(sub->array_buffer);
}

static void merge_close_pipe(struct trace_iterator *sub)
{
	if (sub->trace->pipe_close)
		sub->trace->pipe_close(sub);
	sub->tr->trace_ref--;
	ring_buffer_reader_close(sub->reader);
}

/**
 * merge_close_channel() - free the iterator of a channel
 * @sub: the iterator
 *
 * Context: May sleep, trace_types_lock is held.
 */
void merge_close_channel(struct trace_iterator *sub)
{
	lockdep_assert_held(&trace_types_lock);
	if (sub->array_buffer) {
		if (sub->buffer_iter || sub->snapshot)
			merge_close_iter(sub);
		else
			merge_close_pipe(sub);
	}
	__trace_array_put(sub->tr);
	free_trace_iter_content(sub);
	kvfree(sub);
}
