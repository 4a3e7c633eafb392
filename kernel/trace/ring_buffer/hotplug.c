// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that all buffers refuse: in hotplug, or because all buffers are off.
 *
 * One word for each CPU, &rb_place, is for all buffers.
 */
#include <linux/context_tracking_irq.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>

#include "internal.h"

/* In place of the part of a CPU that never was online: it refuses all. */
struct rb_cpu rb_no_cpu = { .state = ATOMIC_INIT(RB_STATE_OFF_ONE) };

DEFINE_PER_CPU_READ_MOSTLY(unsigned long, rb_place) = RB_NOBODY(RB_IN_HOTPLUG);

/* Every buffer is off: what RB_ALL_OFF of all CPUs follows */
static int rb_all_off;
/* How often it was set and, behind that, cleared; tasks and contexts that change it now */
static atomic_t rb_all_offs, rb_all_ons, rb_all_busy;

/* See ring_buffer_set_on_work() and ring_buffer_set_off_work() */
static struct irq_work *rb_on_work, *rb_off_work;
/* A CPU in hotplug could not queue the second one. */
static int rb_off_left;

/* Between the two changes that a CPU's hotplug makes; &rb_place has the first one */
static DEFINE_RAW_SPINLOCK(rb_hotplug_lock);
static unsigned long rb_hotplugs;

/* Let the writers of a CPU be refused for a reason, or no more for that one. */
static void rb_place_set(int cpu, unsigned long reason, bool refused)
{
	unsigned long *place = per_cpu_ptr(&rb_place, cpu), old = READ_ONCE(*place), reasons;

	do {
		reasons = refused ? rb_refused(old) | reason : rb_refused(old) & ~reason;
		/*
		 * Behind a switch of all. Pairs with rb_switch_all:A. RBB(rb_place_set:A)
		 */
	} while (!try_cmpxchg_release(place, &old,
				      reasons ? RB_NOBODY(reasons) : RB_PLACE(cpu)));
}

static void rb_hotplug(unsigned int cpu, bool alive)
{
	unsigned long flags;

	/* sparse knows no guard of a lock. */
	raw_spin_lock_irqsave(&rb_hotplug_lock, flags);
	rb_place_set(cpu, RB_IN_HOTPLUG, !alive);
	rb_hotplugs++;
	raw_spin_unlock_irqrestore(&rb_hotplug_lock, flags);
}

/**
 * ring_buffer_is_alive() - can this CPU take part?
 *
 * Not while it comes online or goes offline: a grace period does not wait for it then, so what
 * it finds by a pointer may be freed at any time, and irq_work that it queues may never run.
 * Its records are refused and counted.
 *
 * Context: Any context with preemption off, including NMI.
 * Return: false in the parts of CPU hotplug that run with interrupts off, and where no buffer
 *	   was allocated yet.
 */
bool ring_buffer_is_alive(void)
{
	return !(rb_refused(rb_this_place()) & RB_IN_HOTPLUG);
}

/* Queue a work for all buffers, or NULL. Return: false on a CPU in hotplug: nothing is queued. */
static bool rb_queue_work(struct irq_work *work)
{
	guard(preempt_notrace)();
	if (!ring_buffer_is_alive())
		return false;
	if (!work)
		return true;
	if (likely(rcu_is_watching())) {
		irq_work_queue(work);
		return true;
	}
	/* As in the idle loop. A tracepoint in there needs RCU. */
	ct_irq_enter_irqson();
	irq_work_queue(work);
	ct_irq_exit_irqson();
	return true;
}

/**
 * ring_buffer_set_off_work() - have a work queued that wakes the readers of all buffers
 * @work: the work, which exists for ever; NULL for none
 *
 * tracing_off_all() queues it, and so does ring_buffer_tell_off().
 *
 * Context: Any context.
 * Return: the work of before, or NULL.
 */
struct irq_work *ring_buffer_set_off_work(struct irq_work *work)
{
	return xchg(&rb_off_work, work);
}

/**
 * ring_buffer_tell_off() - queue the work of ring_buffer_set_off_work()
 *
 * A CPU in hotplug calls it behind a switch of one buffer: it can wake no reader, nor find the
 * channels of a session. There the work is queued at the end of the hotplug.
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void ring_buffer_tell_off(void)
{
	/* The switch was fully ordered. */
	if (!rb_queue_work(READ_ONCE(rb_off_work)))
		WRITE_ONCE(rb_off_left, 1);
}

/**
 * ring_buffer_end_hotplug() - queue the work that a CPU in hotplug could not queue
 *
 * Context: CPU hotplug, behind the part in which a CPU is not alive: on that CPU, or on another
 *	    one if that is offline.
 */
void ring_buffer_end_hotplug(void)
{
	if (xchg(&rb_off_left, 0))
		ring_buffer_tell_off();
}

/**
 * rb_cpu_starting() - let a CPU write that comes online
 * @cpu: this CPU
 *
 * Context: CPU hotplug, on @cpu with interrupts off. RCU waits for it, and irq_work gets done.
 * Return: 0.
 */
int rb_cpu_starting(unsigned int cpu)
{
	rb_hotplug(cpu, true);
	ring_buffer_end_hotplug();
	return 0;
}

/**
 * rb_cpu_dying() - refuse what a CPU writes that goes offline
 * @cpu: this CPU
 *
 * Soon RCU does not wait for it any more. Pending irq_work is still done after this.
 *
 * Context: CPU hotplug, on @cpu with interrupts off, so that no writer is in a ring.
 * Return: 0.
 */
int rb_cpu_dying(unsigned int cpu)
{
	rb_hotplug(cpu, false);
	return 0;
}

#ifdef CONFIG_RING_BUFFER_ALLOW_SWAP
/**
 * ring_buffer_moment() - note when something has changed that writers may still use
 *
 * Context: Any context, including NMI.
 * Return: the moment, for ring_buffer_wait_since(): however late that comes, it waits for no more
 *	   than those writers.
 */
struct ring_buffer_moment ring_buffer_moment(void)
{
	unsigned long hotplugs = READ_ONCE(rb_hotplugs);

	return (struct ring_buffer_moment){ get_state_synchronize_rcu(), hotplugs };
}
EXPORT_SYMBOL_GPL(ring_buffer_moment);
#endif

/**
 * rb_wait_for_writers() - wait for all that use what they found before
 *
 * CPUs in hotplug are not waited for.
 *
 * Context: May sleep.
 * Return: when the wait began, for rb_was_alive().
 */
unsigned long rb_wait_for_writers(void)
{
	unsigned long since = READ_ONCE(rb_hotplugs);

	synchronize_rcu();
	return since;
}

/**
 * rb_was_alive() - did rb_wait_for_writers() wait for a CPU?
 * @cpu:   the CPU
 * @since: its result
 *
 * Context: Any context but NMI.
 * Return: false if @cpu is in hotplug or offline, or if any CPU came or went since then.
 */
bool rb_was_alive(int cpu, unsigned long since)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&rb_hotplug_lock, flags);
	ret = since == rb_hotplugs && !(rb_refused(per_cpu(rb_place, cpu)) & RB_IN_HOTPLUG);
	raw_spin_unlock_irqrestore(&rb_hotplug_lock, flags);
	return ret;
}

/* Have all CPUs refuse, or not, as rb_all_off says. */
static void rb_switch_all(void)
{
	int off, cpu;

	/* Meanwhile CPUs may differ from the switch: not for the time of a task. */
	guard(preempt_notrace)();
	do {
		off = READ_ONCE(rb_all_off);
		for_each_possible_cpu(cpu)
			rb_place_set(cpu, RB_ALL_OFF, off);
		/*
		 * Pairs with rb_place_set:A: of two that switch, the last one to change the
		 * word of a CPU sees the last switch. RBB(rb_switch_all:A)
		 */
		smp_mb();
	} while (off != READ_ONCE(rb_all_off));
}

/**
 * tracing_off_all() - switch recording off in every buffer
 *
 * That includes the buffers of modules and those that are allocated later. Records in
 * flight are still committed; synchronize_rcu() waits for them. It is no count: one
 * tracing_on_all() is enough to undo it. It costs one exchange for each CPU, however many
 * buffers there are. Readers of instances that wait for records are woken; those of buffers
 * that no instance has are not.
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void tracing_off_all(void)
{
	atomic_inc(&rb_all_busy);
	/*
	 * Fully ordered, pairs with tracing_all_generation(): a look that sees the switch, or its
	 * end, sees the count.
	 */
	atomic_inc_return(&rb_all_offs);
	if (xchg(&rb_all_off, 1))
		atomic_dec(&rb_all_offs);
	rb_switch_all();
	atomic_dec_return_release(&rb_all_busy);
	ring_buffer_tell_off();
}
EXPORT_SYMBOL_GPL(tracing_off_all);

/**
 * ring_buffer_set_on_work() - have a work queued each time that a buffer may be switched on
 * @work: the work, which exists for ever; NULL for none
 *
 * The switch of one buffer and that of all queue @work after they are on, also where the other
 * one still keeps the buffer off. A CPU in hotplug does not queue it.
 *
 * Context: Any context.
 * Return: the work of before, or NULL.
 */
struct irq_work *ring_buffer_set_on_work(struct irq_work *work)
{
	return xchg(&rb_on_work, work);
}

/**
 * rb_tell_on() - queue the work of ring_buffer_set_on_work()
 *
 * Context: Any context, including NMI, and where RCU does not watch.
 */
void rb_tell_on(void)
{
	/*
	 * Pairs with the barrier of sampler_rest(): either a counter that goes off sees the
	 * switch, or the work finds that counter.
	 */
	smp_mb();
	rb_queue_work(READ_ONCE(rb_on_work));
}

/**
 * tracing_on_all() - let each buffer have its own switches again
 *
 * Context: Any context, including NMI.
 */
void tracing_on_all(void)
{
	bool off;

	atomic_inc(&rb_all_busy);
	off = xchg(&rb_all_off, 0);
	rb_switch_all();
	/* Every CPU records by now, or its context is busy. */
	if (off)
		atomic_inc_return(&rb_all_ons);
	atomic_dec_return_release(&rb_all_busy);
	rb_tell_on();
}
EXPORT_SYMBOL_GPL(tracing_on_all);

/**
 * tracing_is_on_all() - has each buffer its own switches?
 *
 * Context: Any context, including NMI.
 * Return: false after tracing_off_all(), until tracing_on_all().
 */
bool tracing_is_on_all(void)
{
	return !READ_ONCE(rb_all_off);
}
EXPORT_SYMBOL_GPL(tracing_is_on_all);

/**
 * tracing_all_generation() - find out whether tracing_off_all() has stopped recording
 *
 * Context: Any context, including NMI.
 * Return: an even number while it has not. If it is the same one later, there was no stop
 *	   between. An odd number if recording is off, or being changed.
 */
unsigned int tracing_all_generation(void)
{
	/*
	 * Pairs with tracing_off_all() and tracing_on_all(): behind a start that is counted, its
	 * context is busy.
	 */
	unsigned int ons = atomic_read_acquire(&rb_all_ons);
	unsigned int offs = atomic_read_acquire(&rb_all_offs);

	return offs << 1 | (offs != ons || atomic_read_acquire(&rb_all_busy));
}
