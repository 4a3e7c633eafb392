// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a session and of its channels, by time.
 *
 * Each CPU of each channel is a source. A heap has the sources with a record, the oldest
 * record on top, so that the next record of n sources costs O(log n). A source without one is
 * looked at again when the record on top is newer than the last such look: until then, a
 * record that the source gets is newer than the one on top.
 */
#include "internal.h"

static bool merge_less(const void *lhs, const void *rhs, void *args)
{
	const struct merge_source *a = lhs, *b = rhs;

	merge_count();
	if (a->ts != b->ts)
		return a->ts < b->ts;
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->order < b->order;
}

static void merge_swap(void *lhs, void *rhs, void *args)
{
	struct merge_source *a = lhs, *b = rhs;

	swap(*a, *b);
}

static const struct min_heap_callbacks merge_calls = { .less = merge_less, .swp = merge_swap };

/* The next record of a source. Channels have left a retired session. */
static void *merge_peek(const struct trace_merge *m, const struct merge_source *src, u64 *ts,
			unsigned long *lost)
{
	return m->alone && src->order ? NULL : peek_next_entry(src->iter, src->cpu, ts, lost);
}

/* Move the sources that have a record now to the heap. Return: true if there was one. */
static bool merge_poll(struct trace_merge *m, struct trace_buffer *clock)
{
	unsigned int i, before = m->heap.nr;
	struct merge_source src;

	/* First: a record that this does not find is not older. */
	m->polled = ring_buffer_time_stamp(clock);
	for (i = m->heap.nr; i < m->nr_sources; i++) {
		src = m->sources[i];
		merge_race_point(i);
		if (!merge_peek(m, &src, &src.ts, NULL))
			continue;
		/* The heap grows by this place. */
		m->sources[i] = m->sources[m->heap.nr];
		min_heap_push(&m->heap, &src, &merge_calls, NULL);
	}
	return m->heap.nr > before;
}

/* Move the source on top out of the heap. */
static void merge_drop(struct trace_merge *m)
{
	struct merge_source src = m->sources[0];

	min_heap_pop(&m->heap, &merge_calls, NULL);
	m->sources[m->heap.nr] = src;
}

/**
 * trace_merge_current() - the iterator of the record that was found last
 * @iter: iterator of an open file
 *
 * Context: As trace_merge_next().
 * Return: iterator of the channel that has it; @iter if that is no channel, or there is none.
 */
struct trace_iterator *trace_merge_current(struct trace_iterator *iter)
{
	return iter->merge && iter->merge->found ? iter->merge->found : iter;
}

/* Make the next record of a source the current one. */
static struct trace_iterator *
merge_take(struct trace_iterator *iter, struct merge_source *src, void *ent, unsigned long lost)
{
	struct trace_iterator *sub = src->iter;
	struct ring_buffer_iter *buf_iter = trace_buffer_iter(sub, src->cpu);

	iter->ent = NULL;
	sub->ent = ent;
	sub->cpu = src->cpu;
	sub->ts = src->ts;
	sub->lost_events = lost;
	iter->idx++;
	if (buf_iter && !sub->pipe)
		ring_buffer_iter_advance(buf_iter);
	return sub;
}

/*
 * Twice if the first look has found a record, and the top is newer than its begin: the sources
 * before that one may have got an older record meanwhile. Not more often, as the clocks of CPUs
 * differ.
 */
static bool merge_must_poll(const struct trace_merge *m, unsigned int polls)
{
	if (!m->heap.nr)
		return !polls;
	return polls < 2 && m->sources->ts > m->polled;
}

/**
 * trace_merge_next() - find the next record of a session
 * @iter: iterator of the session's file
 *
 * As trace_find_next_entry_inc(): it goes behind the record, unless the file consumes.
 *
 * Context: May sleep. The caller serializes the use of @iter.
 * Return: iterator of the channel with the record, or @iter if it is in the session's own
 *	   buffer; NULL if there is no record.
 */
void *trace_merge_next(struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;
	struct merge_source *src;
	unsigned long lost;
	unsigned int polls = 0;
	void *ent;
	u64 ts;

	for (;;) {
		if (merge_must_poll(m, polls)) {
			/* A top of before this look is older than all it may have missed. */
			polls += merge_poll(m, iter->tr->array_buffer.buffer) ? 1 : 2;
			continue;
		}
		if (!m->heap.nr)
			break;
		src = m->sources;
		ent = merge_peek(m, src, &ts, &lost);
		if (!ent) {
			merge_drop(m);
			continue;
		}
		if (ts == src->ts) {
			m->found = merge_take(iter, src, ent, lost);
			return m->found;
		}
		/* All was erased, perhaps for another clock: look at each source again. */
		if (ts < src->ts) {
			m->heap.nr = 0;
			polls = 0;
			continue;
		}
		/* The record before was read, or writers have overwritten this one. */
		src->ts = ts;
		min_heap_sift_down(&m->heap, 0, &merge_calls, NULL);
	}
	iter->ent = NULL;
	m->found = NULL;
	return NULL;
}

/**
 * trace_merge_reset() - have an open file of a session begin again
 * @iter: iterator of the file, which does not consume, after its own reset
 *
 * Context: May sleep. The caller serializes the use of @iter.
 */
void trace_merge_reset(struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;
	struct trace_iterator *sub;
	unsigned int i;
	int cpu;

	if (!m)
		return;
	m->found = NULL;
	m->heap.nr = 0;
	for (i = 0; i < m->nr_iters; i++) {
		sub = m->iters[i];
		sub->leftover = 0;
		for_each_tracing_cpu(cpu)
			tracing_iter_reset(sub, cpu);
	}
}

static void merge_bound(struct trace_iterator *iter)
{
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (trace_buffer_iter(iter, cpu))
			ring_buffer_iter_bound(trace_buffer_iter(iter, cpu));
	}
}

/**
 * trace_iter_bound() - let an open file end behind the records that there are now
 * @iter: iterator of the file, which does not consume
 *
 * Of all its CPUs and channels: reading can cause records, and writers need not wait for a reader.
 *
 * Context: May sleep. The caller serializes the use of @iter.
 */
void trace_iter_bound(struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;
	unsigned int i;

	merge_bound(iter);
	for (i = 0; m && i < m->nr_iters; i++)
		merge_bound(m->iters[i]);
}

/* Print the losses of @iter that no record follows; without @file only look for one. */
static bool merge_missed(struct seq_file *file, struct trace_iterator *iter)
{
	struct ring_buffer_iter *buf_iter;
	unsigned long missed;
	bool any = false;
	int cpu;

	for_each_tracing_cpu(cpu) {
		buf_iter = trace_buffer_iter(iter, cpu);
		missed = buf_iter ? ring_buffer_iter_missed(buf_iter) : 0;
		if (!missed)
			continue;
		any = true;
		if (!file)
			break;
		if (iter->channel)
			seq_printf(file, "%s: ", iter->channel);
		seq_printf(file, "CPU:%d [LOST %lu EVENTS]\n", cpu, missed);
	}
	return any;
}

static void merge_told(struct trace_iterator *iter)
{
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (trace_buffer_iter(iter, cpu))
			ring_buffer_iter_told(trace_buffer_iter(iter, cpu));
	}
}

/**
 * trace_iter_missed() - tell how many records were overwritten at the end of an open file
 * @file: where to print a line for each CPU, or NULL
 * @iter: iterator of the file, which has found no record any more
 *
 * Context: May sleep. The caller serializes the use of @iter.
 * Return: true if there was a line, which was not printed yet.
 */
bool trace_iter_missed(struct seq_file *file, struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;
	bool any = merge_missed(file, iter);
	unsigned int i;

	for (i = 0; m && i < m->nr_iters; i++)
		any |= merge_missed(file, m->iters[i]);
	/* If the file has no room for one line, all of them are printed again. */
	if (!file || seq_has_overflowed(file))
		return any;
	merge_told(iter);
	for (i = 0; m && i < m->nr_iters; i++)
		merge_told(m->iters[i]);
	return any;
}

static void merge_free(struct trace_merge *m)
{
	unsigned int i;

	for (i = 0; i < m->nr_iters; i++) {
		if (!IS_ERR_OR_NULL(m->iters[i]))
			merge_close_channel(m->iters[i]);
	}
	kvfree(m->sources);
	kvfree(m);
}

static void
merge_add_sources(struct trace_merge *m, struct trace_iterator *iter, unsigned int order)
{
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (iter->cpu_file == RING_BUFFER_ALL_CPUS || iter->cpu_file == cpu)
			m->sources[m->nr_sources++] = (struct merge_source){
				.iter = iter, .cpu = cpu, .order = order,
			};
	}
}

static int merge_open_channels(struct trace_merge *m, struct trace_iterator *iter,
			       struct array_buffer **parts)
{
	struct trace_array *ch;
	unsigned int i = 0;

	m->sources = kvcalloc(m->nr_iters + 1, nr_cpu_ids * sizeof(*m->sources), GFP_KERNEL);
	if (!m->sources)
		return -ENOMEM;
	merge_add_sources(m, iter, 0);
	for_each_channel(ch, iter->tr) {
		m->iters[i] = merge_open_channel(iter, ch, parts ? parts[i] : NULL);
		if (parts)
			parts[i] = NULL;
		if (IS_ERR(m->iters[i]))
			return PTR_ERR(m->iters[i]);
		merge_add_sources(m, m->iters[i], i + 1);
		i++;
	}
	min_heap_init(&m->heap, m->sources, m->nr_sources);
	return 0;
}

static int merge_open(struct trace_iterator *iter, struct array_buffer **parts)
{
	unsigned int nr = trace_nr_channels(iter->tr);
	struct trace_merge *m;
	int ret;

	if (!nr)
		return 0;
	m = kvzalloc(struct_size(m, iters, nr), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->nr_iters = nr;
	ret = merge_open_channels(m, iter, parts);
	if (ret)
		merge_free(m);
	else
		iter->merge = m;
	return ret;
}

/* Choose the buffers of all in one step. */
static int merge_open_snapshot(struct trace_iterator *iter)
{
	unsigned int nr = 1 + trace_nr_channels(iter->tr), i;
	struct array_buffer **bufs __free(kvfree) = kvcalloc(nr, sizeof(*bufs), GFP_KERNEL);
	int ret;

	if (!bufs)
		return -ENOMEM;
	ret = trace_snapshot_get_all(iter->tr, bufs);
	if (ret)
		return ret;
	iter->array_buffer = bufs[0];
	ret = merge_open(iter, bufs + 1);
	for (i = 1; ret && i < nr; i++) {
		if (bufs[i])
			trace_snapshot_put(bufs[i]);
	}
	return ret;
}

/**
 * trace_merge_open() - have an open file show the channels, too
 * @iter: iterator of the file, which has no &trace_iterator.buffer_iter of a CPU yet
 *
 * It shows the channels that there are now. If it shows a snapshot,
 * &trace_iterator.array_buffer gets the newest one, if there is memory for the choice.
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: 0, and trace_merge_close() has to follow; -ENOMEM.
 */
int trace_merge_open(struct trace_iterator *iter)
{
	lockdep_assert_held(&trace_types_lock);
	return iter->snapshot ? merge_open_snapshot(iter) : merge_open(iter, NULL);
}

/**
 * trace_merge_close() - undo trace_merge_open()
 * @iter: iterator of the file
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_merge_close(struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;

	lockdep_assert_held(&trace_types_lock);
	if (!m)
		return;
	iter->merge = NULL;
	merge_free(m);
}

/**
 * trace_merge_follow_tracers() - print the records of each channel as its tracer does
 * @iter: iterator of a file that does not consume
 *
 * A channel may have got another tracer since the open.
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_merge_follow_tracers(struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;
	struct trace_iterator *sub;
	unsigned int i;

	lockdep_assert_held(&trace_types_lock);
	for (i = 0; m && i < m->nr_iters; i++) {
		sub = m->iters[i];
		if (sub->trace == sub->tr->current_trace)
			continue;
		if (sub->trace->close)
			sub->trace->close(sub);
		sub->trace = sub->tr->current_trace;
		if (sub->trace->open)
			sub->trace->open(sub);
	}
}

/**
 * trace_merge_is_empty() - have the channels no records?
 * @iter: iterator of an open file
 *
 * They have none for a reader that consumes from a retired session: they have left it, and their
 * writers would keep the reader from the end of the file.
 *
 * Context: Any context but NMI. The caller serializes the use of @iter.
 * Return: true if so; the session's own buffer does not count.
 */
bool trace_merge_is_empty(struct trace_iterator *iter)
{
	struct trace_merge *m = iter->merge;
	unsigned int i;

	if (!m)
		return true;
	/* trace_merge_next() looks at this alone, so that it finds what the caller was told of. */
	if (!iter->buffer_iter && READ_ONCE(iter->tr->retired))
		m->alone = true;
	for (i = 0; i < m->nr_iters && !m->alone; i++) {
		if (!trace_empty(m->iters[i]))
			return false;
	}
	return true;
}

/**
 * trace_merge_header() - print the numbers of records of the channels
 * @m:    the file
 * @iter: its iterator
 *
 * Context: May sleep.
 */
void trace_merge_header(struct seq_file *m, struct trace_iterator *iter)
{
	struct trace_iterator *sub;
	unsigned long entries;
	unsigned int i;

	for (i = 0; iter->merge && i < iter->merge->nr_iters; i++) {
		sub = iter->merge->iters[i];
		if (sub->snapshot && !trace_snapshot_is_part(sub->array_buffer)) {
			seq_printf(m, "# channel %s: has no part of this snapshot\n", sub->channel);
			continue;
		}
		entries = ring_buffer_entries(sub->array_buffer->buffer);
		seq_printf(m, "# channel %s: %lu/%lu\n", sub->channel, entries,
			   entries + ring_buffer_overruns(sub->array_buffer->buffer));
	}
}
