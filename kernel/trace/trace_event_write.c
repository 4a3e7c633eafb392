// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a trace event from its tracepoint to the ring buffer.
 *
 * An event is plain if nobody but a filter and the ring buffer cares for it: its file has no
 * trigger and no list of PIDs, nor is it off for a while, and no stack trace follows its records. A
 * plain event pays for one look at the flags of its file at each end. All others are special, and
 * go the long way, in trace.c and trace_events.c; one with a trigger only at its commit. A flag may
 * come or go in the middle of an event: each end looks.
 */
#include <linux/bug.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "trace.h"

/**
 * trace_ctx_complete() - describe a context that is no task, or that is to reschedule
 * @ctx: the two counts and the flag of interrupts, from trace_ctx_make()
 *
 * Context: Any context.
 * Return: see trace_ctx_make().
 */
unsigned int trace_ctx_complete(unsigned int ctx)
{
	unsigned int count = preempt_count(), flags = 0;

	if (count & NMI_MASK)
		flags |= TRACE_FLAG_NMI;
	if (count & HARDIRQ_MASK)
		flags |= TRACE_FLAG_HARDIRQ;
	if (in_serving_softirq())
		flags |= TRACE_FLAG_SOFTIRQ;
	/* Off by local_bh_disable(), which counts by two */
	if (softirq_count() >= 2 * SOFTIRQ_OFFSET)
		flags |= TRACE_FLAG_BH_OFF;
	if (tif_need_resched())
		flags |= TRACE_FLAG_NEED_RESCHED;
	if (test_preempt_need_resched())
		flags |= TRACE_FLAG_PREEMPT_RESCHED;
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
	if (tif_test_bit(TIF_NEED_RESCHED_LAZY))
		flags |= TRACE_FLAG_NEED_RESCHED_LAZY;
#endif
	return flags << 16 | (ctx & ~0xfU) | min(count & PREEMPT_MASK, 0xfU);
}

/**
 * tracing_gen_ctx_irq_test() - describe the context of a record
 * @irqs_status: TRACE_FLAG_IRQS_OFF if interrupts are off, or TRACE_FLAG_IRQS_NOSUPPORT
 *
 * Context: Any context.
 * Return: see trace_ctx_make().
 */
unsigned int tracing_gen_ctx_irq_test(unsigned int irqs_status)
{
	return trace_ctx_make(irqs_status);
}

/**
 * trace_event_clear() - overwrite what is left of older records
 * @event: the reserved record
 *
 * Context: Any context, preemption is off.
 * Return: @event, so that the caller need not save it.
 */
noinline struct ring_buffer_event *trace_event_clear(struct ring_buffer_event *event)
{
	memset(ring_buffer_event_data(event), 0, ring_buffer_event_length(event));
	return event;
}

/**
 * trace_event_begin() - write the header of a record that a filter may keep
 * @fbuffer: from trace_event_buffer_reserve(), with TRACE_CTX_LATER
 *
 * Context: That of the reservation, which has disabled preemption once more.
 * Return: the filter of the event, so that the caller need not save it.
 */
struct event_filter *trace_event_begin(struct trace_event_buffer *fbuffer)
{
	fbuffer->trace_ctx = trace_ctx_now_dec();
	/* (A count of 15 stands for all above it.) */
	if ((preempt_count() & PREEMPT_MASK) <= 0xf)
		fbuffer->trace_ctx -= IS_ENABLED(CONFIG_PREEMPT_COUNT);
	tracing_generic_entry_update(fbuffer->entry, fbuffer->trace_file->event_call->event.type,
				     fbuffer->trace_ctx);
	return READ_ONCE(fbuffer->trace_file->filter);
}

/* Reserve the record of an event that is plain, or would be without a @trigger. */
static __always_inline void *
trace_event_reserve_plain(struct trace_event_buffer *fbuffer, struct trace_event_file *trace_file,
			  unsigned long len, unsigned long flags, bool trigger)
{
	struct ring_buffer_event *event;
	struct trace_entry *entry;

	fbuffer->trace_file = trace_file;
	fbuffer->buffer = trace_file->tr->array_buffer.buffer;
	fbuffer->regs = NULL;
	if (flags & EVENT_FILE_FL_FILTERED && !trace_file->tr->no_filter_buffering_ref) {
		event = trace_event_take_page(len);
		if (likely(event)) {
			if (trace_view_is_used())
				event = trace_event_clear(event);
			fbuffer->trace_ctx = TRACE_CTX_LATER;
			fbuffer->event = event;
			return fbuffer->entry = &event->array[1];
		}
	}
	/* Before preemption is disabled */
	fbuffer->trace_ctx = trace_ctx_now_dec();
	event = ring_buffer_lock_reserve(fbuffer->buffer, len);
	if (trigger && unlikely(!event))
		event = trace_event_reserve_temp(&fbuffer->buffer, len);
	if (unlikely(!event))
		return NULL;
	if (trace_view_is_used())
		event = trace_event_clear(event);
	/* It has all that is needed from here on: saving registers costs more. */
	OPTIMIZER_HIDE_VAR(fbuffer);
	entry = ring_buffer_event_data(event);
	fbuffer->event = event;
	fbuffer->entry = entry;
	tracing_generic_entry_update(entry, fbuffer->trace_file->event_call->event.type,
				     fbuffer->trace_ctx);
	return entry;
}

/* Out of line, as it saves more registers */
static noinline void *
trace_event_reserve_other(struct trace_event_buffer *fbuffer, struct trace_event_file *trace_file,
			  unsigned long len, unsigned long flags)
{
	if (flags & EVENT_FILE_SPECIAL & ~EVENT_FILE_FL_TRIGGER_COND)
		return trace_event_reserve_special(fbuffer, trace_file, len);
	return trace_event_reserve_plain(fbuffer, trace_file, len, flags, true);
}

/**
 * trace_event_buffer_reserve() - reserve a record for an event
 * @fbuffer:    is filled, for trace_event_buffer_commit()
 * @trace_file: the event, of an instance
 * @len:        bytes, with the &struct trace_entry
 *
 * The &struct trace_entry is complete at the commit. A caller that changes it sets
 * &trace_event_buffer.trace_ctx as well.
 *
 * Context: Any context. Disables preemption until the commit.
 * Return: the &struct trace_entry; NULL if it is not to be recorded, or finds no room.
 */
void *trace_event_buffer_reserve(struct trace_event_buffer *fbuffer,
				 struct trace_event_file *trace_file, unsigned long len)
{
	unsigned long flags = READ_ONCE(trace_file->flags);

	if (unlikely(flags & EVENT_FILE_SPECIAL))
		return trace_event_reserve_other(fbuffer, trace_file, len, flags);
	return trace_event_reserve_plain(fbuffer, trace_file, len, flags, false);
}
EXPORT_SYMBOL_GPL(trace_event_buffer_reserve);
