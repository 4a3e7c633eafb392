// SPDX-License-Identifier: GPL-2.0
/*
 * Stop a trace array or all ring buffers, at once or later.
 */
#include <linux/kcsan-checks.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "internal.h"

/* For the lines of all trace arrays, see internal.h */
DEFINE_MUTEX(stop_mutex);

/*
 * Preemption is off until stop_unlock(). The full barrier pairs with the one of stop_read(): a
 * reader that sees a part of a new cause sees the odd number, too.
 */
static bool stop_try_lock(struct stop_record *rec)
{
	int seq = atomic_read(&rec->seq);

	return !(seq & 1) && atomic_try_cmpxchg(&rec->seq, &seq, seq + 1);
}

static void stop_unlock(struct stop_record *rec)
{
	/* Pairs with the acquire of stop_read(), which sees the cause then. */
	atomic_inc_return_release(&rec->seq);
}

static u64 stop_clock(struct trace_array *tr)
{
	return ring_buffer_time_stamp(tr->array_buffer.buffer);
}

static void stop_describe(struct stop_cause *cause, struct stop_line *line)
{
	cause->ts = stop_clock(line->tr);
	cause->cpu = smp_processor_id();
	cause->pid = current->pid;
	memcpy(cause->comm, current->comm, sizeof(cause->comm));
	cause->comm[sizeof(cause->comm) - 1] = '\0';
	strscpy(cause->line, line->text);
}

/* Two switches: tracing_on_all() undoes the second one only, see DOC: stops of a trace array. */
static void stop_switch_off(struct stop_line *line)
{
	tracer_tracing_off(line->tr);
	if (line->all)
		trace_off_all();
}

/* It is on. @cause was described when it happened, or NULL: it happens now. */
static void stop_now(struct stop_line *line, const struct stop_cause *cause)
{
	struct trace_array *tr = line->tr;
	struct stop_record *why = &tr->stop_on->why;

	/* Another cause is described, maybe one of before a start: it tells, and this one stops. */
	if (!stop_try_lock(why)) {
		stop_switch_off(line);
		return;
	}
	if (cause)
		why->cause = *cause;
	else
		stop_describe(&why->cause, line);
	WRITE_ONCE(tr->stopped, true);
	/* Pairs with the barrier of tracer_tracing_on(), see DOC: stops of a trace array. */
	smp_wmb();
	stop_switch_off(line);
	why->cause.off = stop_clock(tr);
	stop_unlock(why);
}

static void stop_later(struct stop_line *line)
{
	struct stop_record *later = &line->later;

	if (READ_ONCE(line->pending) || !stop_try_lock(later))
		return;
	if (!READ_ONCE(line->pending)) {
		stop_describe(&later->cause, line);
		line->at = ktime_get_mono_fast_ns() + line->after;
		WRITE_ONCE(line->pending, true);
		irq_work_queue(&line->start);
	}
	stop_unlock(later);
}

/**
 * stop_by() - stop recording because of a line, now or later
 * @line: the line; the first cause counts
 *
 * Does nothing on a CPU in hotplug: its events are not recorded, either.
 *
 * Context: Any context, including NMI, where RCU watches, or a probe.
 */
void stop_by(struct stop_line *line)
{
	guard(preempt_notrace)();
	if (!ring_buffer_is_switched_on(line->tr->array_buffer.buffer) || !ring_buffer_is_alive())
		return;
	if (line->after)
		stop_later(line);
	else
		stop_now(line, NULL);
}

static void stop_line_start(struct irq_work *work)
{
	struct stop_line *line = container_of(work, struct stop_line, start);

	hrtimer_start(&line->timer, ns_to_ktime(line->at), HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart stop_line_timer(struct hrtimer *timer)
{
	struct stop_line *line = container_of(timer, struct stop_line, timer);

	if (ring_buffer_is_switched_on(line->tr->array_buffer.buffer))
		stop_now(line, &line->later.cause);
	/*
	 * The next cause counts again, if recording goes on. Pairs with stop_try_lock() of it: the
	 * description was read.
	 */
	smp_store_release(&line->pending, false);
	return HRTIMER_NORESTART;
}

/**
 * stop_line_init() - prepare a line for causes
 * @line: the line
 *
 * Context: Any context.
 */
void stop_line_init(struct stop_line *line)
{
	line->start = IRQ_WORK_INIT_HARD(stop_line_start);
	hrtimer_init(&line->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	line->timer.function = stop_line_timer;
}

/**
 * stop_line_cancel() - cancel the delayed stop of a line
 * @line: the line; each cause that has set &stop_line.pending has left stop_by()
 *
 * A cause that comes meanwhile counts, or is cancelled as well.
 *
 * Context: May sleep, interrupts are on.
 */
void stop_line_cancel(struct stop_line *line)
{
	irq_work_sync(&line->start);
	/* A timer that was not there has released the line, or will be that of a new cause. */
	if (hrtimer_cancel(&line->timer))
		WRITE_ONCE(line->pending, false);
}

/**
 * stop_read() - read a record
 * @rec:   the record
 * @cause: is set to its cause
 *
 * Context: Task.
 */
void stop_read(struct stop_record *rec, struct stop_cause *cause)
{
	int seq;

	do {
		/* Pairs with the release of stop_unlock(). */
		while ((seq = atomic_read_acquire(&rec->seq)) & 1)
			cpu_relax();
		/* It is read again if it changes meanwhile. */
		kcsan_disable_current();
		*cause = rec->cause;
		kcsan_enable_current();
		/* Pairs with the full barrier of stop_try_lock(). */
		smp_rmb();
	} while (atomic_read(&rec->seq) != seq);
}

/**
 * stop_read_why() - read why a trace array is off
 * @tr:    the trace array, which has lines or had some
 * @cause: is set to the cause, if one has stopped it
 *
 * Context: Task.
 * Return: false if it records, or not off because of a line.
 */
bool stop_read_why(struct trace_array *tr, struct stop_cause *cause)
{
	/* stop_try_lock() comes before it is set: stop_read() waits for that cause at least. */
	if (!smp_load_acquire(&tr->stopped))
		return false;
	stop_read(&tr->stop_on->why, cause);
	if (ring_buffer_is_switched_on(tr->array_buffer.buffer))
		return false;
	/*
	 * It may have been started, which clears it, and switched off by user space. Pairs with
	 * trace_types_lock, which writers of tracing_on take one after the other.
	 */
	smp_rmb();
	return READ_ONCE(tr->stopped);
}

/**
 * trace_stop_cancel() - cancel the delayed stops of a trace array
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void trace_stop_cancel(struct trace_array *tr)
{
	struct stop_line *line;
	bool any = false;

	guard(mutex)(&stop_mutex);
	if (!tr->stop_on)
		return;
	list_for_each_entry(line, &tr->stop_on->lines, list)
		any |= READ_ONCE(line->pending);
	if (!any)
		return;
	/* Each cause that has claimed a line has queued its work then. */
	synchronize_rcu();
	list_for_each_entry(line, &tr->stop_on->lines, list)
		stop_line_cancel(line);
}
