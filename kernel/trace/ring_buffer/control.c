// SPDX-License-Identifier: GPL-2.0
/*
 * Switches of a buffer: recording on and off, the overwrite mode, the clock.
 *
 * The switches are words of the buffer. A bit of each CPU's part repeats whether records are
 * refused: a writer looks at that bit only.
 */
#include <linux/export.h>
#include <linux/sched/clock.h>
#include <linux/trace_clock.h>

#include "internal.h"

/* In &trace_buffer.record_disabled: a number of disablers, and above it the switches. */
#define RB_DISABLER	BIT(0)
#define RB_RECORD_OFF	BIT(20)
/* The switch of a session, see ring_buffer_follow_switch(). */
#define RB_SESSION_OFF	BIT(21)
#define RB_SWITCHES	(RB_RECORD_OFF | RB_SESSION_OFF)

/* From now on, and not before, records are taken for sure. */
static void rb_note_on(struct trace_buffer *buffer)
{
	struct rb_switched *sw = &buffer->switched;
	s64 now = ring_buffer_time_stamp(buffer), was = atomic64_read(&sw->on_at);

	/* One that was interrupted here does not undo a later one. */
	while (now - was > 0 && !atomic64_try_cmpxchg(&sw->on_at, &was, now))
		;
}

/**
 * rb_obey() - have the writers of a CPU refuse records, or not, as the switches say
 * @buffer: the buffer
 * @rcpu:   the part that they use, which others can find
 *
 * Of two that switch at the same time, the earlier one may for a moment undo what the later one
 * has told this CPU.
 *
 * Context: Any context, including NMI.
 */
void rb_obey(struct trace_buffer *buffer, struct rb_cpu *rcpu)
{
	int off, old = atomic_read(&rcpu->state);
	bool differed = false;

	/* Meanwhile the part may differ from the switches: not for the time of a task. */
	guard(preempt_notrace)();
	/* Fully ordered, pairs with ring_buffer_was_on(). */
	atomic_inc_return(&buffer->switched.busy);
	for (;;) {
		off = atomic_read(&buffer->record_disabled) ? RB_STATE_REFUSE : 0;
		/*
		 * Of two that switch, the last one to change the word sees the last switch.
		 * Pairs with rb_obey:A, rb_obey_all:A and rb_wait_tell:A. RBB(rb_obey:A)
		 */
		while (!atomic_try_cmpxchg(&rcpu->state, &old, (old & ~RB_STATE_REFUSE) | off))
			;
		if (!off == !atomic_read(&buffer->record_disabled))
			break;
		differed = true;
	}
	/* Records were refused behind the start of the other one. */
	if (differed && !off && !rb_refuse_read())
		rb_note_on(buffer);
	atomic_dec_return_release(&buffer->switched.busy);
}

/* The switches were changed. */
static void rb_obey_all(struct trace_buffer *buffer)
{
	struct rb_cpu *rcpu;
	int cpu;

	/*
	 * Either this finds a part that comes just now, or that finds the switch. Pairs with
	 * rb_obey:A. RBB(rb_obey_all:A)
	 */
	smp_mb();
	guard(preempt_notrace)();
	for_each_possible_cpu(cpu) {
		rcpu = rb_get_writer(buffer, cpu);
		if (rcpu)
			rb_obey(buffer, rcpu);
	}
}

/* Set a switch, or count a disabler, and note the time of a stop. */
static void rb_switch_off(struct trace_buffer *buffer, int by)
{
	struct rb_switched *sw = &buffer->switched;
	u64 (*clock)(void);
	u64 now;
	int was;

	/*
	 * Fully ordered, pairs with ring_buffer_was_on(): a look that sees the switch, or its
	 * end, sees the count.
	 */
	atomic_inc_return(&sw->offs);
	clock = READ_ONCE(buffer->clock);
	scoped_guard(preempt_notrace)
		now = clock();
	was = by == RB_DISABLER ? atomic_fetch_inc(&buffer->record_disabled) :
				  atomic_fetch_or(by, &buffer->record_disabled);
	rb_obey_all(buffer);
	if (was) {
		atomic_dec(&sw->offs);
		return;
	}
	/* The time of an older stop claims less. */
	if (rb_refuse_read())
		return;
	/*
	 * Fully ordered, pairs with ring_buffer_set_clock(): either this sees the other clock, or
	 * that clears the time.
	 */
	atomic64_xchg(&sw->off_at, now);
	if (READ_ONCE(buffer->clock) != clock)
		atomic64_set(&sw->off_at, 0);
}

/* Clear a switch, or take a disabler back, and note the time of a start. */
static void rb_switch_on(struct trace_buffer *buffer, int by)
{
	int was = by == RB_DISABLER ? atomic_fetch_dec(&buffer->record_disabled) :
				      atomic_fetch_andnot(by, &buffer->record_disabled);

	rb_obey_all(buffer);
	if ((was & RB_SWITCHES) == by)
		rb_tell_on();
	if (was != by)
		return;
	/* This switch is not counted, so the times are not known from here on. */
	if (rb_refuse_read())
		return;
	rb_note_on(buffer);
	/* Pairs with ring_buffer_was_on(): a look that sees the count sees the time. */
	atomic_inc_return_release(&buffer->switched.ons);
}

/**
 * ring_buffer_record_disable() - refuse records
 * @buffer: the buffer
 *
 * Records in flight are still committed; synchronize_rcu() waits for them, if nobody switches
 * the buffer on at this moment. Nests: as many ring_buffer_record_enable() are needed to undo it.
 *
 * Context: Any context.
 */
void ring_buffer_record_disable(struct trace_buffer *buffer)
{
	rb_switch_off(buffer, RB_DISABLER);
}
EXPORT_SYMBOL_GPL(ring_buffer_record_disable);

/**
 * ring_buffer_record_enable() - undo one ring_buffer_record_disable()
 * @buffer: the buffer
 *
 * Context: Any context.
 */
void ring_buffer_record_enable(struct trace_buffer *buffer)
{
	rb_switch_on(buffer, RB_DISABLER);
}
EXPORT_SYMBOL_GPL(ring_buffer_record_enable);

/**
 * ring_buffer_record_is_set_on() - is the switch on?
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: true if it is, even while the buffer is disabled, or all buffers are off.
 */
bool ring_buffer_record_is_set_on(struct trace_buffer *buffer)
{
	return !(atomic_read(&buffer->record_disabled) & RB_RECORD_OFF);
}

/* Switch recording off by one of the switches. Those that wait for records look at it. */
static void rb_record_off(struct trace_buffer *buffer, int bit)
{
	rb_switch_off(buffer, bit);
	ring_buffer_wake_waiters(buffer, RING_BUFFER_ALL_CPUS);
}

/**
 * ring_buffer_record_off() - switch recording off
 * @buffer: the buffer
 *
 * A switch, not a count: tracing_on in tracefs. Those that wait for records look at their
 * conditions.
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void ring_buffer_record_off(struct trace_buffer *buffer)
{
	rb_record_off(buffer, RB_RECORD_OFF);
}
EXPORT_SYMBOL_GPL(ring_buffer_record_off);

/**
 * ring_buffer_record_on() - switch recording on
 * @buffer: the buffer
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void ring_buffer_record_on(struct trace_buffer *buffer)
{
	rb_switch_on(buffer, RB_RECORD_OFF);
}
EXPORT_SYMBOL_GPL(ring_buffer_record_on);

/**
 * ring_buffer_follow_switch() - switch a buffer off or on, as the one of its session is
 * @buffer:  the buffer; its own switch counts as well
 * @session: the buffer of the session; NULL if it has none, or left it
 *
 * Call it behind each ring_buffer_record_on() and ring_buffer_record_off() of @session, and
 * when @buffer joins or leaves. Others may do so at the same time.
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void ring_buffer_follow_switch(struct trace_buffer *buffer, struct trace_buffer *session)
{
	bool off;

	/* Between its two looks the switches may differ: not for the time of a task. */
	guard(preempt_notrace)();
	do {
		off = session && !ring_buffer_record_is_set_on(session);
		if (off)
			rb_record_off(buffer, RB_SESSION_OFF);
		else
			rb_switch_on(buffer, RB_SESSION_OFF);
		/* Others may do the same meanwhile: the last one of them sees the last switch. */
		smp_mb();
	} while (session && off == ring_buffer_record_is_set_on(session));
}

/**
 * ring_buffer_record_is_on() - would a record be taken?
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: true if the switch is on, the buffer is not disabled, and not all buffers are off.
 */
bool ring_buffer_record_is_on(struct trace_buffer *buffer)
{
	return !atomic_read(&buffer->record_disabled) && tracing_is_on_all();
}

/**
 * ring_buffer_is_switched_on() - are all switches on?
 * @buffer: the buffer
 *
 * Unlike ring_buffer_record_is_on() it takes no notice of those that disable it for a moment.
 *
 * Context: Any context.
 * Return: true if its own switch is on, that of its session, and that of all.
 */
bool ring_buffer_is_switched_on(struct trace_buffer *buffer)
{
	return !(atomic_read(&buffer->record_disabled) & RB_SWITCHES) && tracing_is_on_all();
}

/**
 * ring_buffer_off_id() - tell one time of being off from another
 * @buffer: the buffer
 *
 * Its own switch counts, and that of its session.
 *
 * Context: Any context, including NMI.
 * Return: the same number as long as recording is off, and 0 if it is on.
 */
unsigned int ring_buffer_off_id(struct trace_buffer *buffer)
{
	bool off = atomic_read_acquire(&buffer->record_disabled) & RB_SWITCHES;

	return off ? atomic_read(&buffer->switched.ons) + 1 : 0;
}

/**
 * ring_buffer_was_on() - tell how long a buffer has taken records without a break
 * @buffer: the buffer
 * @since:  is set to the time of the last start, or 0 if it was never off; to U64_MAX while a CPU
 *	    is disabled
 * @until:  is set to the time of the stop, if it is off or disabled; else U64_MAX
 *
 * Its own switch counts, that of its session, and all that disable it or one of its CPUs; see
 * tracing_all_generation() for the switch of all buffers. Up to the call of this, recording was on
 * in all of that time, which may be none.
 *
 * Context: Any context, including NMI.
 * Return: false if the times are not known, as a switch is being changed.
 */
bool ring_buffer_was_on(struct trace_buffer *buffer, u64 *since, u64 *until)
{
	struct rb_switched *sw = &buffer->switched;
	int offs, ons;
	bool off;

	if (rb_refuse_read())
		return false;
	/*
	 * Fully ordered, pairs with rb_switch_off(): an earlier stop is counted. A later one adds
	 * to @offs, and its start to @ons, and that start is later than what the caller asks for.
	 */
	off = atomic_fetch_or(0, &buffer->record_disabled);
	/* Before the counts: with the time of a later stop this sees that it is counted. */
	*until = off ? atomic64_read_acquire(&sw->off_at) : U64_MAX;
	/* Pairs with the release of rb_switch_on(). */
	ons = atomic_read_acquire(&sw->ons);
	offs = atomic_read(&sw->offs);
	/* Pairs with rb_obey(): one that has ended has moved the time. */
	if (atomic_read_acquire(&sw->busy))
		return false;
	/* Pairs with the release of rb_switch_cpu(). */
	*since = atomic_read_acquire(&sw->cpus_off) ? U64_MAX : atomic64_read(&sw->on_at);
	return offs - ons == off;
}

/**
 * ring_buffer_record_is_on_cpu() - is the switch on, and are records of a CPU taken?
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: Any context.
 * Return: true if the switch is on, and ring_buffer_record_disable_cpu() was not called for @cpu,
 *	   or was undone.
 */
bool ring_buffer_record_is_on_cpu(struct trace_buffer *buffer, int cpu)
{
	return (unsigned int)cpu < nr_cpu_ids && !READ_ONCE(buffer->cpu_wait[cpu].off) &&
	       ring_buffer_record_is_set_on(buffer);
}

/* Its part may come later, see rb_cpu_add(). */
static void rb_switch_cpu(struct trace_buffer *buffer, int cpu, int off)
{
	struct rb_cpu *rcpu;

	if ((unsigned int)cpu >= nr_cpu_ids)
		return;
	guard(mutex)(&buffer->cpu_mutex);
	/* Fully ordered, pairs with ring_buffer_was_on(): counted before it refuses. */
	if (off > 0)
		atomic_inc_return(&buffer->switched.cpus_off);
	WRITE_ONCE(buffer->cpu_wait[cpu].off, buffer->cpu_wait[cpu].off + off);
	rcpu = rb_get_writer(buffer, cpu);
	if (rcpu)
		atomic_add(off * (int)RB_STATE_OFF_ONE, &rcpu->state);
	if (off > 0)
		return;
	rb_note_on(buffer);
	/* Pairs with ring_buffer_was_on(): a look that does not see it off sees the time. */
	atomic_dec_return_release(&buffer->switched.cpus_off);
}

/**
 * ring_buffer_record_disable_cpu() - refuse records of one CPU
 * @buffer: the buffer
 * @cpu:    the CPU; it may come online later, and the buffer may be expanded later
 *
 * Context: May sleep.
 */
void ring_buffer_record_disable_cpu(struct trace_buffer *buffer, int cpu)
{
	rb_switch_cpu(buffer, cpu, 1);
}
EXPORT_SYMBOL_GPL(ring_buffer_record_disable_cpu);

/**
 * ring_buffer_record_enable_cpu() - undo one ring_buffer_record_disable_cpu()
 * @buffer: the buffer
 * @cpu:    the CPU
 *
 * Context: May sleep.
 */
void ring_buffer_record_enable_cpu(struct trace_buffer *buffer, int cpu)
{
	rb_switch_cpu(buffer, cpu, -1);
}
EXPORT_SYMBOL_GPL(ring_buffer_record_enable_cpu);

/**
 * ring_buffer_change_overwrite() - choose the mode of a full ring
 * @buffer: the buffer
 * @val:    true: the oldest records make room; false: new ones are dropped
 *
 * Writers go on meanwhile.
 *
 * Context: May sleep.
 */
void ring_buffer_change_overwrite(struct trace_buffer *buffer, int val)
{
	guard(mutex)(&buffer->mutex);
	if (val)
		WRITE_ONCE(buffer->flags, buffer->flags | RB_FL_OVERWRITE);
	else
		WRITE_ONCE(buffer->flags, buffer->flags & ~RB_FL_OVERWRITE);
}
EXPORT_SYMBOL_GPL(ring_buffer_change_overwrite);

/**
 * ring_buffer_set_clock() - choose where time comes from
 * @buffer: the buffer
 * @clock:  the clock; called in any context, NMI included, with preemption off
 *
 * Records of two clocks do not compare: the caller resets the buffer.
 *
 * Context: Any context.
 */
void ring_buffer_set_clock(struct trace_buffer *buffer, u64 (*clock)(void))
{
	/* The same, without two functions that disable preemption once more */
	if (clock == trace_clock_local)
		clock = sched_clock_noinstr;
	WRITE_ONCE(buffer->clock, clock);
	/* Fully ordered, pairs with rb_switch_off(). Times of two clocks do not compare. */
	atomic64_xchg(&buffer->switched.off_at, 0);
	atomic64_xchg(&buffer->switched.on_at, 0);
}

/**
 * ring_buffer_set_time_stamp_abs() - give every record an absolute stamp
 * @buffer: the buffer
 * @abs:    true: do so; false: where it is needed
 *
 * Context: May sleep.
 */
void ring_buffer_set_time_stamp_abs(struct trace_buffer *buffer, bool abs)
{
	int cpu;

	guard(mutex)(&buffer->cpu_mutex);
	WRITE_ONCE(buffer->stamp_abs, abs);
	rb_for_each_cpu(buffer, cpu)
		WRITE_ONCE(buffer->parts[cpu]->stamp_abs, abs);
}

/**
 * ring_buffer_time_stamp_abs() - does every record get an absolute stamp?
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: the value that ring_buffer_set_time_stamp_abs() set.
 */
bool ring_buffer_time_stamp_abs(struct trace_buffer *buffer)
{
	return READ_ONCE(buffer->stamp_abs);
}

/**
 * ring_buffer_normalize_time_stamp() - does nothing: times are in the unit of the clock
 * @buffer: the buffer
 * @cpu:    the CPU
 * @ts:     the time; it stays as it is
 *
 * For callers that know ring buffers with a unit of their own.
 *
 * Context: Any context.
 */
void ring_buffer_normalize_time_stamp(struct trace_buffer *buffer, int cpu, u64 *ts)
{
}
EXPORT_SYMBOL_GPL(ring_buffer_normalize_time_stamp);
