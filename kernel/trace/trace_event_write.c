// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a trace event from its tracepoint to the ring buffer.
 *
 * An event is plain if nobody but a filter and the ring buffer cares for it: its file has no
 * trigger and no list of PIDs, nor is it off for a while, and no stack trace follows its records. A
 * plain event pays for one look at the flags of its file at each end. All others are special, and
 * go the long way, in trace.c and trace_events.c. A flag may come or go in the middle of an event:
 * each end looks.
 */
#include <linux/bug.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "trace.h"

/* The flags of a context that is no task, or where softirqs are off */
static noinline unsigned int event_context_flags(unsigned int count)
{
	unsigned int flags = 0;

	if (count & NMI_MASK)
		flags |= TRACE_FLAG_NMI;
	if (count & HARDIRQ_MASK)
		flags |= TRACE_FLAG_HARDIRQ;
	if (in_serving_softirq())
		flags |= TRACE_FLAG_SOFTIRQ;
	/* Off by local_bh_disable(), which counts by two */
	if (softirq_count() >= 2 * SOFTIRQ_OFFSET)
		flags |= TRACE_FLAG_BH_OFF;
	return flags;
}

/* Does the scheduler want to run? */
static __always_inline unsigned int event_resched_flags(void)
{
	unsigned int flags = 0;

	if (unlikely(tif_need_resched()))
		flags |= TRACE_FLAG_NEED_RESCHED;
	if (unlikely(test_preempt_need_resched()))
		flags |= TRACE_FLAG_PREEMPT_RESCHED;
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
	if (unlikely(tif_test_bit(TIF_NEED_RESCHED_LAZY)))
		flags |= TRACE_FLAG_NEED_RESCHED_LAZY;
#endif
	return flags;
}

/* How often has the task disabled migration? */
static __always_inline unsigned int event_migrate_count(void)
{
#ifdef CONFIG_SMP
	return current->migration_disabled;
#else
	return 0;
#endif
}

/**
 * tracing_gen_ctx_irq_test() - describe the context of a record
 * @irqs_status: TRACE_FLAG_IRQS_OFF if interrupts are off, or TRACE_FLAG_IRQS_NOSUPPORT
 *
 * (It is inlined here, in tracing_gen_ctx_dec(), and can be called elsewhere.)
 *
 * Context: Any context.
 * Return: 16 bits of TRACE_FLAG_*, then 4 bits each of how often migration and preemption are
 *	   disabled; 15 stands for more.
 */
inline unsigned int tracing_gen_ctx_irq_test(unsigned int irqs_status)
{
	unsigned int count = preempt_count(), flags = irqs_status | event_resched_flags();
	unsigned int preempt = min(count & PREEMPT_MASK, 0xfU);
	unsigned int migrate = min_t(unsigned int, event_migrate_count(), 0xf);

	if (unlikely(count & (NMI_MASK | HARDIRQ_MASK) || softirq_count()))
		flags |= event_context_flags(count);
	return flags << 16 | migrate << 4 | preempt;
}

/**
 * trace_event_buffer_reserve() - reserve a record for an event
 * @fbuffer:    is filled, for trace_event_buffer_commit()
 * @trace_file: the event, of an instance
 * @len:        bytes, with the &struct trace_entry
 *
 * Context: Any context. Disables preemption until the commit.
 * Return: the &struct trace_entry; NULL if it is not to be recorded, or finds no room.
 */
void *trace_event_buffer_reserve(struct trace_event_buffer *fbuffer,
				 struct trace_event_file *trace_file, unsigned long len)
{
	unsigned long flags = READ_ONCE(trace_file->flags);
	struct ring_buffer_event *event = NULL;

	if (unlikely(flags & EVENT_FILE_SPECIAL))
		return trace_event_reserve_special(fbuffer, trace_file, len);

	/* Before preemption is disabled */
	fbuffer->trace_ctx = tracing_gen_ctx_dec();
	fbuffer->trace_file = trace_file;
	fbuffer->buffer = trace_file->tr->array_buffer.buffer;
	fbuffer->regs = NULL;
	if (flags & EVENT_FILE_FL_FILTERED && !trace_file->tr->no_filter_buffering_ref)
		event = trace_event_take_page(len);
	if (!event)
		event = ring_buffer_lock_reserve(fbuffer->buffer, len);
	if (unlikely(!event))
		return NULL;
	fbuffer->event = event;
	fbuffer->entry = trace_event_setup(event, trace_file->event_call->event.type, len,
					   fbuffer->trace_ctx);
	return fbuffer->entry;
}
EXPORT_SYMBOL_GPL(trace_event_buffer_reserve);
