/* SPDX-License-Identifier: GPL-2.0 */
/* Reserve and commit a record that begins with a &struct trace_entry. */
#ifndef _TRACE_EVENT_WRITE_H
#define _TRACE_EVENT_WRITE_H

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/thread_info.h>
#include <linux/trace_events.h>

#include "ring_buffer/format.h"

/* Flags of an event that is special, and options of its instance: see trace_event_write.c. */
#define EVENT_FILE_SPECIAL							\
	(EVENT_FILE_FL_SOFT_DISABLED | EVENT_FILE_FL_PID_FILTER | EVENT_FILE_FL_TRIGGER_COND)
#define TRACE_ITER_SPECIAL	(TRACE_ITER(STACKTRACE) | TRACE_ITER(USERSTACKTRACE))

DECLARE_STATIC_KEY_FALSE(trace_function_exports_enabled);

/* &trace_event_buffer.trace_ctx of a record that has no header yet: it has bits of its own. */
#define TRACE_CTX_LATER		BIT(8)

struct event_filter *trace_event_begin(struct trace_event_buffer *fbuffer);
struct ring_buffer_event *trace_event_clear(struct ring_buffer_event *event);
void *trace_event_reserve_special(struct trace_event_buffer *fbuffer, struct trace_event_file *file,
				  unsigned long len);
struct ring_buffer_event *trace_event_reserve_temp(struct trace_buffer **buffer, unsigned long len);

unsigned int trace_ctx_complete(unsigned int ctx);

/* Does the scheduler want to run? */
static __always_inline bool trace_ctx_is_resched(void)
{
	unsigned long wanted = _TIF_NEED_RESCHED;

#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
	wanted |= _TIF_NEED_RESCHED_LAZY;
#endif
	return read_thread_flags() & wanted || test_preempt_need_resched();
}

/* How often has the task disabled migration? */
static __always_inline unsigned int trace_ctx_migrate(void)
{
#ifdef CONFIG_SMP
	return current->migration_disabled;
#else
	return 0;
#endif
}

/**
 * trace_ctx_make() - describe the context of a record
 * @irqs: TRACE_FLAG_IRQS_OFF if interrupts are off, or TRACE_FLAG_IRQS_NOSUPPORT
 *
 * Context: Any context.
 * Return: 16 bits of TRACE_FLAG_*, then 4 bits each of how often migration and preemption are
 *	   disabled; 15 stands for more.
 */
static __always_inline unsigned int trace_ctx_make(unsigned int irqs)
{
	unsigned int migrate = min_t(unsigned int, trace_ctx_migrate(), 0xf);
	unsigned int count = preempt_count();
	unsigned int ctx = irqs << 16 | migrate << 4 | (count & 0xf);

	/* Most are of a task, with preemption disabled a few times, and none waits for the CPU. */
	if (unlikely(count > 0xf || (IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count()) ||
		     trace_ctx_is_resched()))
		ctx = trace_ctx_complete(ctx);
	return ctx;
}

/* tracing_gen_ctx_flags(), without a call */
static __always_inline unsigned int trace_ctx_irqs(unsigned long irqs)
{
	if (!IS_ENABLED(CONFIG_TRACE_IRQFLAGS_SUPPORT))
		return tracing_gen_ctx_flags(irqs);
	return trace_ctx_make(irqs_disabled_flags(irqs) ? TRACE_FLAG_IRQS_OFF : 0);
}

/* tracing_gen_ctx(), without a call */
static __always_inline unsigned int trace_ctx_now(void)
{
	unsigned long irqs;

	local_save_flags(irqs);
	return trace_ctx_irqs(irqs);
}

/* tracing_gen_ctx_dec(), without a call: the tracer has disabled preemption once. */
static __always_inline unsigned int trace_ctx_now_dec(void)
{
	return trace_ctx_now() - IS_ENABLED(CONFIG_PREEMPTION);
}

/**
 * trace_event_setup() - begin a record
 * @event: the reserved record, or another place that is laid out like one
 * @type:  number of its kind
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
trace_event_setup(struct ring_buffer_event *event, int type, unsigned int ctx)
{
	struct trace_entry *entry;

	if (trace_view_is_used())
		event = trace_event_clear(event);
	entry = ring_buffer_event_data(event);
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
	/* An interrupt that takes it here gives it back before we go on. */
	if (likely(event && len <= PAGE_SIZE - struct_size(event, array, 1) &&
		   !__this_cpu_read(trace_buffered_event_cnt))) {
		this_cpu_inc(trace_buffered_event_cnt);
		/* An interrupt that comes behind the first store finds it taken. */
		barrier();
		/* As in a ring, where the length counts itself: others look at it. */
		event->array[0] = sizeof(event->array[0]) + ALIGN(len, RB_RECORD_ALIGN);
		return event;
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
		trace_event_setup(event, type, ctx);
	return event;
}

/* Commit the record that was reserved last, in the ring buffer. */
static __always_inline void trace_commit_ring(struct trace_buffer *buffer)
{
	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_unlock_commit(buffer);
}

/* Copy the record on the page of a filter into the ring buffer. */
static inline void trace_commit_page(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_write(buffer, event->array[0] - sizeof(event->array[0]), &event->array[1]);
	this_cpu_dec(trace_buffered_event_cnt);
	preempt_enable_notrace();
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
	if (likely(__this_cpu_read(trace_buffered_event) != event))
		trace_commit_ring(buffer);
	else
		trace_commit_page(buffer, event);
}

/**
 * trace_function_plain() - record the call of a function
 * @tr:        the instance
 * @ip:        the function
 * @parent_ip: its caller
 * @ctx:       context of the call
 *
 * As trace_function(), where records of functions are not exported.
 *
 * Context: Any context.
 */
static __always_inline void
trace_function_plain(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
		     unsigned int ctx)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	struct ftrace_entry *entry;

	event = ring_buffer_lock_reserve(buffer, sizeof(*entry));
	if (unlikely(!event))
		return;
	entry = (struct ftrace_entry *)trace_event_setup(event, TRACE_FN, ctx);
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	trace_commit_ring(buffer);
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
	if (flags & EVENT_FILE_FL_FILTERED) {
		struct event_filter *filter = READ_ONCE(file->filter);

		if (filter && filter->reads_header && fbuffer->trace_ctx == TRACE_CTX_LATER)
			filter = trace_event_begin(fbuffer);
		if (!filter_match_preds(filter, fbuffer->entry)) {
			__trace_event_discard_commit(fbuffer->buffer, fbuffer->event);
			return true;
		}
	}
	if (likely(__this_cpu_read(trace_buffered_event) != fbuffer->event)) {
		trace_commit_ring(fbuffer->buffer);
	} else {
		if (fbuffer->trace_ctx == TRACE_CTX_LATER)
			trace_event_begin(fbuffer);
		trace_commit_page(fbuffer->buffer, fbuffer->event);
	}
	return true;
}

#endif /* _TRACE_EVENT_WRITE_H */
