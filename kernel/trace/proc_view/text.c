// SPDX-License-Identifier: GPL-2.0
/*
 * A record as a line of text, as in "trace".
 */
#include <linux/math64.h>

#include "../trace_output.h"
#include "internal.h"

/*
 * Addresses of user space stay numbers. For their names a task is looked up by its PID, which
 * may be that of another task in the namespace of the reader, and the lock of its memory may be
 * held for long.
 */
#define VIEW_SYM_MASK	(TRACE_ITER_SYM_MASK & ~TRACE_ITER(SYM_USEROBJ))

/* As in "trace", a line of a channel begins with its name. */
static void view_print_channel(struct trace_iterator *iter)
{
	if (iter->channel)
		trace_seq_printf(&iter->seq, "%s: ", iter->channel);
}

static void view_print_context(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_iterator *iter = copy->iter;
	struct trace_seq *s = &iter->seq;
	u64 us = div_u64(iter->ts + 500, NSEC_PER_USEC);
	u32 frac;
	u64 sec = div_u64_rem(us, USEC_PER_SEC, &frac);

	if (iter->lost_events) {
		view_print_channel(iter);
		trace_seq_printf(s, "CPU:%d [LOST EVENTS]\n", copy->cpu);
	}
	view_print_channel(iter);
	trace_seq_printf(s, "%16s-%-7d [%03d] ", thread->comm, thread->vnr, copy->cpu);
	trace_print_lat_fmt(s, iter->ent);
	trace_seq_printf(s, " %5llu.%06u: ", sec, frac);
}

/**
 * view_text_take() - store the record of an iterator as a line of text
 * @copy:   where it is stored
 * @thread: the thread that has written it
 *
 * Context: May sleep, trace_event_sem is held.
 * Return: 0 or -ENOBUFS as view_store_add().
 */
int view_text_take(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_iterator *iter = copy->iter;
	struct trace_seq *s = &iter->seq;
	struct trace_event *event = ftrace_find_event(iter->ent->type);
	struct trace_dat_record rec = {
		.ts = iter->ts, .cpu = copy->cpu, .owner = thread - copy->group.thread,
	};

	trace_seq_init(s);
	view_print_context(copy, thread);
	if (event)
		event->funcs->trace(iter, iter->tr->trace_flags & VIEW_SYM_MASK, event);
	else
		trace_seq_printf(s, "Unknown type %d\n", iter->ent->type);
	if (!trace_seq_has_overflowed(s) && s->buffer[trace_seq_used(s) - 1] != '\n')
		trace_seq_putc(s, '\n');
	if (trace_seq_has_overflowed(s)) {
		trace_seq_init(s);
		view_print_context(copy, thread);
		trace_seq_puts(s, "[LINE TOO BIG]\n");
	}
	rec.len = trace_seq_used(s);
	return view_store_add(&copy->store, &rec, s->buffer);
}
