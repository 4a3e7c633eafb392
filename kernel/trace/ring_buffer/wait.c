// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for records, and waking the waiters.
 *
 * A writer looks whether there is a waiter, and publishes; a waiter sets a flag and
 * then looks whether a record was published. So it can come about that no writer
 * wakes the waiter. A look after publishing, and a barrier before it, would
 * end that, and would cost every record. Instead the waiter has itself woken once
 * more after a grace period: a writer that had not seen its wish was in a section
 * with preemption off, and the grace period has waited for that, so its record
 * can be seen. The callback must not be lazy: a reader waits for it. (An
 * interrupt that the waiter sends to the writer's CPU before it sleeps would be sooner,
 * but would disturb CPUs that are isolated.) Waiters for a watermark concern
 * only writers that go to the next sub-buffer.
 */
#include <linux/export.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>

#include "internal.h"

static void rb_wait_recheck(struct rcu_head *rcu)
{
	struct rb_wait *wait = container_of(rcu, struct rb_wait, recheck);

	wake_up_all(&wait->any);
	wake_up_all(&wait->full);
	/*
	 * Armed again since this grace period began: it takes another one. Else this
	 * is the end: as soon as rb_wait_destroy() finds 0, @wait may be freed.
	 * Pairs with rb_wait_pending:A. RBB(rb_wait_recheck:A)
	 */
	if (atomic_cmpxchg(&wait->pending, 1, 0) == 2) {
		atomic_set(&wait->pending, 1);
		call_rcu_hurry(&wait->recheck, rb_wait_recheck);
	}
}

/* Have the waiters look again after a grace period. */
static void rb_wait_arm(struct rb_wait *wait)
{
	if (atomic_xchg(&wait->pending, 2))
		return;
	atomic_set(&wait->pending, 1);
	call_rcu_hurry(&wait->recheck, rb_wait_recheck);
}

/**
 * rb_wait_init() - make ready to be waited for
 * @wait: the waiters
 *
 * Context: Any context.
 */
void rb_wait_init(struct rb_wait *wait)
{
	init_waitqueue_head(&wait->any);
	init_waitqueue_head(&wait->full);
}

/* Is there a callback to wait for? A second round of it is not needed. */
static bool rb_wait_pending(struct rb_wait *wait)
{
	atomic_cmpxchg(&wait->pending, 2, 1);
	/* Pairs with rb_wait_recheck:A. RBB(rb_wait_pending:A) */
	return atomic_read_acquire(&wait->pending);
}

/**
 * rb_wait_destroy() - wait for the callbacks of all waiters of a buffer
 * @buffer: the buffer, without waiters
 *
 * Context: May sleep.
 */
void rb_wait_destroy(struct trace_buffer *buffer)
{
	bool pending;
	int cpu;

	do {
		pending = rb_wait_pending(&buffer->wait);
		for_each_possible_cpu(cpu)
			pending |= rb_wait_pending(&buffer->cpu_wait[cpu]);
		/* Again only if a callback has begun another round just then. */
		if (pending)
			rcu_barrier();
	} while (pending);
}

static struct rb_wait *rb_cpu_wait(struct rb_cpu *rcpu)
{
	return &rcpu->buffer->cpu_wait[rcpu->cpu];
}

/**
 * rb_wake_all() - have all waiters of a buffer look again
 * @buffer: the buffer
 *
 * Context: Any context but NMI.
 */
void rb_wake_all(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		wake_up_all(&buffer->cpu_wait[cpu].any);
		wake_up_all(&buffer->cpu_wait[cpu].full);
	}
	wake_up_all(&buffer->wait.any);
}

/**
 * rb_wake_empty_work() - wake the waiters of a buffer without rings, or of all its CPUs
 * @work: of the buffer
 *
 * Context: Hard interrupt.
 */
void rb_wake_empty_work(struct irq_work *work)
{
	struct trace_buffer *buffer = container_of(work, struct trace_buffer, wake_work);
	int cpu;

	for_each_possible_cpu(cpu)
		atomic_inc(&buffer->cpu_wait[cpu].seq);
	atomic_inc(&buffer->wait.seq);
	rb_wake_all(buffer);
}

/**
 * rb_wake_work() - wake waiters
 * @work: of a CPU's part
 *
 * Context: Hard interrupt.
 */
void rb_wake_work(struct irq_work *work)
{
	struct rb_cpu *rcpu = container_of(work, struct rb_cpu, wake_work);
	struct rb_wait *all = &rcpu->buffer->wait, *wait = rb_cpu_wait(rcpu);
	/* The record comes first; pairs with ring_buffer_wait:A. RBB(rb_wake_work:A) */
	int due = atomic_xchg(&rcpu->due, 0);

	if (due & RB_WAKE_ANY) {
		atomic_inc(&wait->seq);
		atomic_inc(&all->seq);
		wake_up_all(&wait->any);
		wake_up_all(&all->any);
	}
	if (due & RB_WAKE_FULL) {
		/* A task that goes on waiting sets its own again. */
		WRITE_ONCE(rcpu->wanted_ring, 0);
		wake_up_all(&wait->full);
	}
}

/*
 * Have the waiters woken. Where CPUs are isolated, another one does it: it would take time from
 * what they are isolated for. An NMI cannot send it there, nor can a panic, which stops the others.
 */
static void rb_wake_queue(struct irq_work *work)
{
	unsigned int cpu = nr_cpu_ids;

	/* The other one stays online meanwhile. */
	guard(preempt_notrace)();
	/* Not housekeeping_any_cpu(): its lock looks at interrupts, which tracers hide. */
	if (housekeeping_enabled(HK_TYPE_TICK) && !in_nmi() && !oops_in_progress &&
	    rcu_is_watching())
		cpu = cpumask_any_and(housekeeping_cpumask(HK_TYPE_TICK), cpu_online_mask);
	if (cpu < nr_cpu_ids)
		irq_work_queue_on(work, cpu);
	else
		irq_work_queue(work);
}

static void rb_wake(struct rb_cpu *rcpu, int due)
{
	if (due & RB_WAKE_ANY)
		atomic_andnot(RB_STATE_WAKE, &rcpu->state);
	if (due & RB_WAKE_FULL)
		atomic_set(&rcpu->wake_full, 0);
	atomic_or(due, &rcpu->due);
	rb_wake_queue(&rcpu->wake_work);
}

/* Is the ring filled up to the sequence @seq? */
static bool rb_filled(struct rb_ring *ring, u64 seq)
{
	return (s64)(READ_ONCE(READ_ONCE(ring->commit)->seq) - seq) >= 0;
}

/* Is a waiter for a watermark to look again? It is if none has looked at this ring, too. */
static bool rb_wanted(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	return READ_ONCE(rcpu->wanted_ring) != ring->id || rb_filled(ring, READ_ONCE(rcpu->wanted));
}

/* Wake those that wait for records of a CPU; for a watermark only if @ring is filled, or NULL. */
static void rb_wake_waiting(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	int due = 0;

	if (atomic_read(&rcpu->state) & RB_STATE_WAKE)
		due |= RB_WAKE_ANY;
	if (atomic_read(&rcpu->wake_full) && (!ring || rb_wanted(rcpu, ring)))
		due |= RB_WAKE_FULL;
	if (due)
		rb_wake(rcpu, due);
}

/**
 * rb_wake_writer() - have waiters woken, or the stage of a global buffer drained
 * @rcpu: its CPU's part
 * @ring: the ring it wrote to
 *
 * Context: Any context, including NMI.
 */
void rb_wake_writer(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	if (unlikely(rcpu->drain))
		rcpu->drain(rcpu);
	else
		rb_wake_waiting(rcpu, ring);
}

/*
 * Tell the writers of a CPU, and arm for the waiters: of two, only the first one to tell
 * does.
 */
static void rb_wait_tell(struct rb_cpu *rcpu, int what)
{
	bool told;

	/* Fully ordered, but a writer has no partner for it: hence the recheck. A switch has. */
	if (what & RB_WAKE_FULL)
		/* Pairs with rb_obey:A. RBB(rb_wait_tell:A) */
		told = atomic_xchg(&rcpu->wake_full, 1);
	else
		told = atomic_fetch_or(RB_STATE_WAKE, &rcpu->state) & RB_STATE_WAKE;
	if (told)
		return;
	rb_wait_arm(rb_cpu_wait(rcpu));
	if (what & RB_WAKE_ANY)
		rb_wait_arm(&rcpu->buffer->wait);
}

/* Longer than another reader keeps a ring locked; a resize may take longer. */
#define RB_READY_TRIES	100

static struct rb_ring *rb_ready_lock(struct rb_cpu *rcpu, unsigned long *flags)
{
	struct rb_ring *ring;
	int i;

	for (i = 0; i < RB_READY_TRIES; i++) {
		ring = rb_read_try(rcpu, flags);
		if (ring)
			return ring;
		cpu_relax();
	}
	return NULL;
}

/*
 * Is @full percent of the ring filled, and not by the sub-buffer of the reader, or of the one at
 * @at? If not, store the first sequence at which that is so for a waiter. A writer may read half of
 * what is stored here: the waiter looks again when rb_wait_arm() has it do so.
 */
static bool rb_is_ready(struct rb_cpu *rcpu, struct rb_ring *ring,
			const struct ring_buffer_iter *at, unsigned int full, bool *lower)
{
	bool front = at && rb_reader_ahead(ring, at) > 0;
	u64 seq = front ? at->seq : ring->reader.seq;

	seq += DIV_ROUND_UP_ULL((u64)full * ring->nr, 100);
	if (rb_filled(ring, seq) && !(front ? rb_place_empty(ring, at) : rb_reader_empty(ring)))
		return true;
	*lower = full && (READ_ONCE(rcpu->wanted_ring) != ring->id ||
			  (s64)(READ_ONCE(rcpu->wanted) - seq) > 0);
	if (*lower) {
		WRITE_ONCE(rcpu->wanted, seq);
		WRITE_ONCE(rcpu->wanted_ring, ring->id);
	}
	return false;
}

static bool rb_ready_cpu(struct rb_cpu *rcpu, struct ring_buffer_reader *reader, unsigned int full)
{
	struct rb_ring *ring;
	unsigned long flags;
	bool ready, lower = false;

	ring = rb_ready_lock(rcpu, &flags);
	if (!ring) {
		/* The lock is held with interrupts off: a grace period later it is free. */
		rb_wait_arm(rb_cpu_wait(rcpu));
		rb_wait_arm(&rcpu->buffer->wait);
		return false;
	}
	raw_spin_lock(&rcpu->places);
	ready = rb_is_ready(rcpu, ring, reader ? rb_reader_at(reader, rcpu->cpu) : NULL, full,
			    &lower);
	raw_spin_unlock(&rcpu->places);
	rb_read_unlock(ring, flags);
	/* A writer may have looked at the one before. */
	if (lower)
		rb_wait_arm(rb_cpu_wait(rcpu));
	return ready;
}

/**
 * struct rb_wish - what a task waits for
 * @buffer: the buffer
 * @reader: one of several readers, or NULL
 * @cpu:    CPU of the records, or RING_BUFFER_ALL_CPUS
 * @full:   percentage of the CPU's ring that must be filled, or 0
 */
struct rb_wish {
	struct trace_buffer		*buffer;
	struct ring_buffer_reader	*reader;
	int				cpu;
	int				full;
};

static bool rb_ready_any(const struct rb_wish *wish)
{
	struct rb_cpu *rcpu;
	int cpu = wish->cpu;

	if (cpu != RING_BUFFER_ALL_CPUS) {
		rcpu = rb_get_cpu(wish->buffer, cpu);
		return rcpu && rb_ready_cpu(rcpu, wish->reader, wish->full);
	}
	rb_for_each_cpu(wish->buffer, cpu) {
		if (rb_ready_cpu(rb_get_cpu(wish->buffer, cpu), wish->reader, 0))
			return true;
	}
	return false;
}

/* A CPU without its part wakes all waiters when it gets it. */
static void rb_tell(struct trace_buffer *buffer, int cpu, unsigned int full)
{
	struct rb_cpu *rcpu;

	if (cpu != RING_BUFFER_ALL_CPUS) {
		rcpu = rb_get_cpu(buffer, cpu);
		if (rcpu)
			rb_wait_tell(rcpu, full ? RB_WAKE_FULL : RB_WAKE_ANY);
		return;
	}
	rb_for_each_cpu(buffer, cpu)
		rb_wait_tell(rb_get_cpu(buffer, cpu), RB_WAKE_ANY);
}

/* Is the condition of the wait met? If not, see to it that the waiter is woken. */
static bool rb_ready(const struct rb_wish *wish)
{
	if (rb_ready_any(wish))
		return true;
	rb_race_point(WAIT);
	rb_tell(wish->buffer, wish->cpu, wish->full);
	rb_race_point(WAIT_TOLD);
	return rb_ready_any(wish);
}

struct rb_once {
	struct rb_wait	*wait;
	int		seq;
};

/* Without a condition of the caller's, the first wake-up ends the wait. */
static bool rb_woken_once(void *data)
{
	struct rb_once *once = data;

	return atomic_read_acquire(&once->wait->seq) != once->seq;
}

/*
 * Find the waiters for a CPU, or for any CPU. Watermarks are for one CPU only.
 * Return: NULL if the CPU never was online.
 */
static struct rb_wait *rb_wait_of(struct rb_wish *wish)
{
	if (wish->cpu == RING_BUFFER_ALL_CPUS) {
		wish->full = 0;
		return &wish->buffer->wait;
	}
	return rb_is_absent(wish->buffer, wish->cpu) ? NULL : &wish->buffer->cpu_wait[wish->cpu];
}

static int rb_wait(struct rb_wish *wish, struct rb_wait *wait, ring_buffer_cond_fn cond, void *data)
{
	return wait_event_interruptible(*(wish->full ? &wait->full : &wait->any),
					rb_ready(wish) || (cond && cond(data)));
}

/**
 * ring_buffer_wait() - wait for something to read
 * @buffer: the buffer
 * @cpu:    CPU of the records, or RING_BUFFER_ALL_CPUS
 * @full:   percentage of the CPU's ring that must be filled, or 0: any record
 * @cond:   ends the wait, too, when it returns true; NULL: the first wake-up
 *          does
 * @data:   for @cond
 *
 * Context: May sleep.
 * Return: 0, -ENODEV if @cpu never was online, -ERESTARTSYS on a signal.
 */
int ring_buffer_wait(struct trace_buffer *buffer, int cpu, int full,
		     ring_buffer_cond_fn cond, void *data)
{
	struct rb_wish wish = { .buffer = buffer, .cpu = cpu, .full = full };
	struct rb_wait *wait = rb_wait_of(&wish);
	struct rb_once once;

	if (!wait)
		return -ENODEV;
	if (!cond) {
		once.wait = wait;
		/* Pairs with rb_wake_work:A. RBB(ring_buffer_wait:A) */
		once.seq = atomic_read_acquire(&wait->seq);
		cond = rb_woken_once;
		data = &once;
	}
	return rb_wait(&wish, wait, cond, data);
}

/**
 * ring_buffer_reader_wait() - wait for something that one of several readers has not read
 * @reader: the reader
 * @cond:   ends the wait, too, when it returns true, or NULL
 * @data:   for @cond
 *
 * Context: May sleep.
 * Return: as ring_buffer_wait().
 */
int ring_buffer_reader_wait(struct ring_buffer_reader *reader, ring_buffer_cond_fn cond, void *data)
{
	struct rb_wish wish = { .buffer = reader->buffer, .reader = reader, .cpu = reader->cpu };
	struct rb_wait *wait = rb_wait_of(&wish);

	return wait ? rb_wait(&wish, wait, cond, data) : -ENODEV;
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_wait);

static __poll_t rb_poll(struct rb_wish *wish, struct file *filp, poll_table *poll_table)
{
	struct rb_wait *wait = rb_wait_of(wish);
	__poll_t asked = 0;

	if (!wait)
		return EPOLLERR;
	if (poll_table)
		asked = poll_requested_events(poll_table);
	/* A poll enters queues only once, and may come back with another watermark. */
	poll_wait(filp, &wait->any, poll_table);
	if (wish->cpu != RING_BUFFER_ALL_CPUS)
		poll_wait(filp, &wait->full, poll_table);
	if (!rb_ready(wish))
		return 0;
	/* A poll for edges does not come back when all is read. */
	if (asked & EPOLLET)
		rb_tell(wish->buffer, wish->cpu, wish->full);
	return EPOLLIN | EPOLLRDNORM;
}

/**
 * ring_buffer_poll_wait() - poll for something to read
 * @buffer:     the buffer
 * @cpu:        CPU of the records, or RING_BUFFER_ALL_CPUS
 * @filp:       the file that is polled
 * @poll_table: of the poll
 * @full:       percentage of the CPU's ring that must be filled, or 0
 *
 * Context: May sleep.
 * Return: EPOLLIN | EPOLLRDNORM if something is unread and @full is reached, else 0;
 *         EPOLLERR if @cpu never was online.
 */
__poll_t ring_buffer_poll_wait(struct trace_buffer *buffer, int cpu, struct file *filp,
			       poll_table *poll_table, int full)
{
	struct rb_wish wish = { .buffer = buffer, .cpu = cpu, .full = full };

	return rb_poll(&wish, filp, poll_table);
}

/**
 * ring_buffer_reader_poll() - poll for something that one of several readers has not read
 * @reader:     the reader
 * @filp:       the file that is polled
 * @poll_table: of the poll
 * @full:       percentage of the CPU's ring that must be filled behind its place, or 0
 *
 * Context: May sleep.
 * Return: as ring_buffer_poll_wait().
 */
__poll_t ring_buffer_reader_poll(struct ring_buffer_reader *reader, struct file *filp,
				 poll_table *poll_table, int full)
{
	struct rb_wish wish = {
		.buffer = reader->buffer, .reader = reader, .cpu = reader->cpu, .full = full,
	};

	return rb_poll(&wish, filp, poll_table);
}
EXPORT_SYMBOL_GPL(ring_buffer_reader_poll);

/**
 * ring_buffer_wake_waiters() - have waiters look at their conditions
 * @buffer: the buffer, or NULL
 * @cpu:    CPU of the waiters, or RING_BUFFER_ALL_CPUS
 *
 * A waiter that was woken and has not looked since is not woken again.
 *
 * On a CPU in hotplug, irq_work that does not run would keep others from queueing it. There the
 * waiters of all instances are woken at the end of the hotplug, see ring_buffer_tell_off().
 *
 * Context: Any context, including NMI.
 */
void ring_buffer_wake_waiters(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu;

	guard(preempt_notrace)();
	if (!buffer)
		return;
	if (!ring_buffer_is_alive()) {
		ring_buffer_tell_off();
		return;
	}
	/* Also those of CPUs without a part. */
	if (!READ_ONCE(buffer->expanded) || rb_is_global(buffer)) {
		rb_wake_queue(&buffer->wake_work);
		return;
	}
	if (cpu != RING_BUFFER_ALL_CPUS) {
		rcpu = rb_get_cpu(buffer, cpu);
		if (rcpu)
			rb_wake_waiting(rcpu, NULL);
		return;
	}
	rb_for_each_cpu(buffer, cpu) {
		/* The buffer may lose its rings just now. */
		rcpu = rb_get_cpu(buffer, cpu);
		if (rcpu)
			rb_wake_waiting(rcpu, NULL);
	}
}
