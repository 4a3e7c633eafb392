// SPDX-License-Identifier: GPL-2.0
/*
 * A record as a line of text, as in "trace".
 */
#include <linux/math64.h>
#include <linux/mm.h>

#include "../trace_output.h"
#include "internal.h"

/*
 * Addresses of user space stay numbers. For their names a task is looked up by its PID, which
 * may be that of another task in the namespace of the reader, and the lock of its memory may be
 * held for long.
 */
#define VIEW_SYM_MASK	(TRACE_ITER_SYM_MASK & ~TRACE_ITER(SYM_USEROBJ))

static const char view_too_big[] = "[LINE TOO BIG]\n";

/* As in "trace", a line of a channel begins with its name. */
static void view_print_channel(struct trace_seq *s, const char *channel)
{
	if (channel)
		trace_seq_printf(s, "%s: ", channel);
}

static void view_print_loss(struct trace_seq *s, const char *channel, int cpu)
{
	view_print_channel(s, channel);
	trace_seq_printf(s, "CPU:%d [LOST EVENTS]\n", cpu);
}

static void view_print_context(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_iterator *iter = copy->iter;
	struct trace_seq *s = &iter->seq;
	u64 us = div_u64(iter->ts + 500, NSEC_PER_USEC);
	u32 frac;
	u64 sec = div_u64_rem(us, USEC_PER_SEC, &frac);

	if (iter->lost_events)
		view_print_loss(s, iter->channel, copy->cpu);
	view_print_channel(s, iter->channel);
	trace_seq_printf(s, "%16s-%-7d [%03d] ", thread->comm, thread->vnr, copy->cpu);
	trace_print_lat_fmt(s, iter->ent);
	trace_seq_printf(s, " %5llu.%06u: ", sec, frac);
}

/*
 * As in "trace", text that had room stays, such as the first functions of a stack. Where a print
 * function has gone beyond the end by itself, it is not known which bytes it has written.
 */
static void view_print_too_big(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_seq *s = &copy->iter->seq;

	if (seq_buf_has_overflowed(&s->seq)) {
		trace_seq_init(s);
		view_print_context(copy, thread);
	}
	s->seq.len = min(s->seq.len, s->seq.size - strlen(view_too_big));
	s->full = 0;
	trace_seq_puts(s, view_too_big);
}

/**
 * view_text_take() - store the record of an iterator as a line of text
 * @copy:   where it is stored
 * @thread: the thread that has written it
 *
 * Context: A worker, trace_event_sem is held.
 * Return: 0 or -ENOBUFS as view_store_add().
 */
int view_text_take(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_iterator *iter = copy->iter;
	struct trace_seq *s = &iter->seq;
	struct trace_event *event = ftrace_find_event(iter->ent->type);
	struct trace_dat_record rec = {
		.ts = iter->ts, .cpu = copy->cpu, .member = copy->source,
		.owner = thread - copy->group.thread,
	};

	trace_seq_init(s);
	view_print_context(copy, thread);
	if (event)
		event->funcs->trace(iter, iter->tr->trace_flags & VIEW_SYM_MASK, event);
	else
		trace_seq_printf(s, "Unknown type %d\n", iter->ent->type);
	if (!trace_seq_has_overflowed(s) && s->buffer[trace_seq_used(s) - 1] != '\n')
		trace_seq_putc(s, '\n');
	if (trace_seq_has_overflowed(s))
		view_print_too_big(copy, thread);
	rec.len = trace_seq_used(s);
	return view_store_add(&copy->store, &rec, s->buffer);
}

/*
 * Print the line that has to stand in front of a record, if dropped ones are missing there. Where
 * writers have overwritten others behind these, the record has that line. Return: its length.
 */
static size_t view_text_loss(struct view_copy *copy, const struct trace_dat_record *rec)
{
	struct trace_seq *s = &copy->iter->seq;
	size_t len;

	if (!rec->lost)
		return 0;
	trace_seq_init(s);
	view_print_loss(s, view_channel(copy, rec->member), rec->cpu);
	len = trace_seq_used(s);
	if (rec->len >= len && !memcmp(copy->store.data + rec->off, s->buffer, len))
		return 0;
	return len;
}

/* Copy the records, each behind its line. */
static void view_text_put(struct view_copy *copy, char *data)
{
	const struct trace_dat_record *rec = copy->store.entry;
	unsigned int i;
	size_t len;

	for (i = 0; i < copy->store.nr; i++, rec++) {
		len = view_text_loss(copy, rec);
		memcpy(data, copy->iter->seq.buffer, len);
		data += len;
		memcpy(data, copy->store.data + rec->off, rec->len);
		data += rec->len;
	}
}

/**
 * view_text_finish() - put lines between the records where others were dropped
 * @copy: the records, after view_store_settle()
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int view_text_finish(struct view_copy *copy)
{
	struct view_store *store = &copy->store;
	size_t size = store->used;
	unsigned int i;
	char *data;

	view_group_settle(&copy->group, store->entry, store->nr);
	for (i = 0; i < store->nr; i++)
		size += view_text_loss(copy, &store->entry[i]);
	if (size == store->used)
		return 0;
	trace_may_charge();
	data = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!data)
		return -ENOMEM;
	view_text_put(copy, data);
	kvfree(store->data);
	store->data = data;
	store->used = size;
	store->size = size;
	return 0;
}
