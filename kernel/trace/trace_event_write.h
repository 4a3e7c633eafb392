/* SPDX-License-Identifier: GPL-2.0 */
/* Reserve and commit a record that begins with a &struct trace_entry. */
#ifndef _TRACE_EVENT_WRITE_H
#define _TRACE_EVENT_WRITE_H

#include <linux/align.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "ring_buffer/format.h"

/* Flags of an event that is special, and options of its instance: see trace_event_write.c. */
#define EVENT_FILE_SPECIAL							\
	(EVENT_FILE_FL_SOFT_DISABLED | EVENT_FILE_FL_PID_FILTER | EVENT_FILE_FL_TRIGGER_COND)
#define TRACE_ITER_SPECIAL	(TRACE_ITER(STACKTRACE) | TRACE_ITER(USERSTACKTRACE))

void *trace_event_reserve_special(struct trace_event_buffer *fbuffer, struct trace_event_file *file,
				  unsigned long len);

/**
 * trace_event_setup() - begin a record
 * @event: the reserved record, or another place that is laid out like one
 * @type:  number of its kind
 * @len:   bytes that were reserved
 * @ctx:   context of the writer, from tracing_gen_ctx()
 *
 * While an instance is shown in /proc, no byte of a record is older than the record: neither
 * one that its writer leaves as it is, nor one of the rounded length. The readers of it have
 * fewer rights than those of tracefs.
 *
 * Context: Any context, preemption is off.
 * Return: its payload.
 */
static __always_inline struct trace_entry *
trace_event_setup(struct ring_buffer_event *event, int type, unsigned long len, unsigned int ctx)
{
	struct trace_entry *entry = ring_buffer_event_data(event);

	if (trace_view_is_used())
		memset(entry, 0, ALIGN(len, RB_RECORD_ALIGN));
	tracing_generic_entry_update(entry, type, ctx);
	return entry;
}

/**
 * trace_event_take_page() - reserve a record outside of the ring buffer
 * @len: bytes, with the &struct trace_entry
 *
 * A filter drops it there without much ado. One that is kept is copied into the ring buffer.
 *
 * Context: Any context. Disables preemption until the record is committed or discarded, unless
 *	    there is none.
 * Return: the record, on a page of this CPU; NULL if the page is in use below an interrupt, or too
 *	   small, or no event has a filter yet.
 */
static __always_inline struct ring_buffer_event *trace_event_take_page(unsigned long len)
{
	struct ring_buffer_event *event;

	preempt_disable_notrace();
	event = __this_cpu_read(trace_buffered_event);
	if (likely(event && len <= PAGE_SIZE - struct_size(event, array, 1))) {
		if (likely(this_cpu_inc_return(trace_buffered_event_cnt) == 1)) {
			/* As in a ring, where the length counts itself: others look at it. */
			event->array[0] = sizeof(event->array[0]) + ALIGN(len, RB_RECORD_ALIGN);
			return event;
		}
		this_cpu_dec(trace_buffered_event_cnt);
	}
	preempt_enable_notrace();
	return NULL;
}

/**
 * __trace_buffer_lock_reserve() - reserve a record
 * @buffer: the buffer
 * @type:   number of its kind
 * @len:    bytes, with its &struct trace_entry
 * @ctx:    context of the writer, from tracing_gen_ctx()
 *
 * Context: Any context. Disables preemption until the record is committed or discarded.
 * Return: the record, or NULL where ring_buffer_lock_reserve() returns it.
 */
static __always_inline struct ring_buffer_event *
__trace_buffer_lock_reserve(struct trace_buffer *buffer, int type, unsigned long len,
			    unsigned int ctx)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, len);

	if (event)
		trace_event_setup(event, type, len, ctx);
	return event;
}

/**
 * __buffer_unlock_commit() - commit the record that was reserved last
 * @buffer: the buffer
 * @event:  the record, which may be that of an event with a filter: then it is copied
 *
 * Context: That of the reservation. Enables preemption.
 */
static __always_inline void
__buffer_unlock_commit(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	__this_cpu_write(trace_taskinfo_save, true);
	if (likely(__this_cpu_read(trace_buffered_event) != event)) {
		ring_buffer_unlock_commit(buffer);
		return;
	}
	ring_buffer_write(buffer, event->array[0] - sizeof(event->array[0]), &event->array[1]);
	this_cpu_dec(trace_buffered_event_cnt);
	preempt_enable_notrace();
}

/**
 * trace_event_commit_plain() - commit the record of a plain event, or drop it
 * @fbuffer: from trace_event_buffer_reserve()
 *
 * (Inline: a stack trace skips as many functions as there are behind the event.)
 *
 * Context: That of the reservation.
 * Return: false if the event is special; then nothing has happened.
 */
static __always_inline bool trace_event_commit_plain(struct trace_event_buffer *fbuffer)
{
	struct trace_event_file *file = fbuffer->trace_file;
	unsigned long flags = READ_ONCE(file->flags);

	if (unlikely(flags & EVENT_FILE_SPECIAL || file->tr->trace_flags & TRACE_ITER_SPECIAL))
		return false;
	if (flags & EVENT_FILE_FL_FILTERED && !filter_match_preds(file->filter, fbuffer->entry))
		__trace_event_discard_commit(fbuffer->buffer, fbuffer->event);
	else
		__buffer_unlock_commit(fbuffer->buffer, fbuffer->event);
	return true;
}

#endif /* _TRACE_EVENT_WRITE_H */
