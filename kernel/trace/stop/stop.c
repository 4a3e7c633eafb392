// SPDX-License-Identifier: GPL-2.0
/*
 * Stop a trace array or all ring buffers, at once or later.
 */
#include <linux/kcsan-checks.h>
#include <linux/processor.h>
#include <linux/timekeeping.h>

#include "internal.h"

/* For the lines of all trace arrays, see internal.h */
DEFINE_MUTEX(stop_mutex);

/* Preemption is off until stop_unlock(). */
static bool stop_try_lock(struct stop_record *rec)
{
	int seq = atomic_read(&rec->seq);

	/*
	 * Pairs with stop_read:B, stop_line_timer:A, stop_on_show:A and stop_read_why:A, see
	 * DOC: stops of a trace array. RBB(stop_try_lock:A)
	 */
	return !(seq & 1) && atomic_try_cmpxchg(&rec->seq, &seq, seq + 1);
}

static void stop_unlock(struct stop_record *rec)
{
	/* Pairs with stop_read:A. RBB(stop_unlock:A) */
	atomic_set_release(&rec->seq, atomic_read(&rec->seq) + 1);
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

/* tracing_on_all() undoes the second switch only, see DOC: stops of a trace array. */
static void stop_switch_off(struct stop_line *line)
{
	tracer_tracing_off(line->tr);
	if (line->all)
		tracing_off_all();
}

/* Stop a trace array that is on. @cause: as it was described earlier; NULL if it happens now. */
static void stop_now(struct stop_line *line, const struct stop_cause *cause)
{
	struct trace_array *tr = line->tr;
	struct stop_record *why = &tr->stop_on->why;

	/* Another cause is being described, maybe an earlier one. This one stops all the same. */
	if (!stop_try_lock(why)) {
		stop_switch_off(line);
		return;
	}
	if (cause)
		why->cause = *cause;
	else
		stop_describe(&why->cause, line);
	/* Before the switch, which is fully ordered, as that of tracer_tracing_on() is. */
	WRITE_ONCE(tr->stopped, true);
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
 * Does nothing on a CPU in hotplug: its events are not recorded, either. (A panic stops without a
 * line there.)
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
	 * If recording goes on, the next cause counts. It writes its description behind what was
	 * read here. Pairs with stop_try_lock:A. RBB(stop_line_timer:A)
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
	hrtimer_setup(&line->timer, stop_line_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
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
	/* A timer that has run has released the line. One that runs later is of a new cause. */
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
		/* Pairs with stop_unlock:A. RBB(stop_read:A) */
		while ((seq = atomic_read_acquire(&rec->seq)) & 1)
			cpu_relax();
		/* A cause that changes meanwhile is read again. */
		kcsan_disable_current();
		*cause = rec->cause;
		kcsan_enable_current();
		/* Pairs with stop_try_lock:A. RBB(stop_read:B) */
		smp_rmb();
	} while (atomic_read(&rec->seq) != seq);
}

/**
 * stop_read_why() - read why a trace array is off
 * @tr:    the trace array, which has lines or had some
 * @cause: is set to the cause, if one has stopped it
 *
 * Context: Task.
 * Return: false if @tr records, or is off for another reason than a line.
 */
bool stop_read_why(struct trace_array *tr, struct stop_cause *cause)
{
	/*
	 * stop_read() waits for the cause that has set it, at least. Pairs with stop_try_lock:A.
	 * RBB(stop_read_why:A)
	 */
	if (!smp_load_acquire(&tr->stopped))
		return false;
	stop_read(&tr->stop_on->why, cause);
	if (ring_buffer_is_switched_on(tr->array_buffer.buffer))
		return false;
	/*
	 * A start may have cleared the flag, and user space may have switched off behind that:
	 * writers of tracing_on take trace_types_lock one after the other.
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
	/* Behind this, each cause that has claimed a line has queued its work. */
	synchronize_rcu();
	list_for_each_entry(line, &tr->stop_on->lines, list)
		stop_line_cancel(line);
}
