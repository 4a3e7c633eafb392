// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots that come some time after they were asked for.
 */
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include "internal.h"

/*
 * How long to wait before another try: while the live buffer changes its size, and where
 * another taker is busy.
 */
#define SNAP_CHANGE_NS	NSEC_PER_MSEC
#define SNAP_RETRY_NS	(50 * NSEC_PER_USEC)

static const struct snap_unit {
	const char	*name;
	u64		ns;
} snap_units[] = {
	/* The longest that fits is shown. */
	{ "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC }, { "ns", 1 },
};

/**
 * snap_delay_parse() - parse a delay
 * @text: "0"; or a number with "s", "ms", "us" or "ns" behind it
 * @ns:   where to put the delay, in nanoseconds
 *
 * Context: Any context.
 * Return: 0; -EINVAL for another text, and for more than a timer can do.
 */
int snap_delay_parse(const char *text, u64 *ns)
{
	char digits[24];
	size_t len = strspn(text, "0123456789");
	const char *unit = skip_spaces(text + len);
	unsigned int i;
	u64 val;

	if (!len || len >= sizeof(digits))
		return -EINVAL;
	strscpy(digits, text, len + 1);
	if (kstrtou64(digits, 10, &val))
		return -EINVAL;

	*ns = 0;
	if (!*unit)
		return val ? -EINVAL : 0;
	for (i = 0; i < ARRAY_SIZE(snap_units); i++) {
		if (!strcmp(unit, snap_units[i].name))
			return check_mul_overflow(val, snap_units[i].ns, ns) ||
			       *ns > KTIME_MAX / 2 ? -EINVAL : 0;
	}
	return -EINVAL;
}

/**
 * snap_delay_print() - print a delay as snap_delay_parse() reads it
 * @buf:  where to
 * @size: bytes at @buf
 * @ns:   the delay, in nanoseconds
 *
 * Context: Any context.
 * Return: number of characters.
 */
int snap_delay_print(char *buf, size_t size, u64 ns)
{
	unsigned int i = 0;
	u64 rest;

	if (!ns)
		return scnprintf(buf, size, "0\n");
	while (div64_u64_rem(ns, snap_units[i].ns, &rest), rest)
		i++;
	return scnprintf(buf, size, "%llu%s\n", div64_u64(ns, snap_units[i].ns),
			 snap_units[i].name);
}

/**
 * snap_is_delayed() - is a request to be put off?
 * @s:    of whom
 * @slot: where it is to go
 * @req:  what
 *
 * Context: The caller has &trace_snapshots.busy.
 * Return: true if so.
 */
bool snap_is_delayed(struct trace_snapshots *s, struct snap_slot *slot,
		     const struct snap_request *req)
{
	return (s->delay || s->changing) && slot == &s->user &&
	       !req->who && !req->now && req->cpu == RING_BUFFER_ALL_CPUS;
}

/**
 * snap_defer() - put a request off
 * @s:   of whom
 * @req: what
 *
 * Context: Any context, including NMI. The caller has &trace_snapshots.busy.
 * Return: -EINPROGRESS; -EALREADY if there is one already, or the delay is about to change;
 *         -ECANCELED if its condition is not met.
 */
int snap_defer(struct trace_snapshots *s, const struct snap_request *req)
{
	struct snap_due *due = &s->due;

	if (due->pending || due->closing)
		return -EALREADY;
	if (req->update && !snap_ask(s, req))
		return -ECANCELED;
	snap_note_who(&due->who, req);
	due->who.asked = ring_buffer_time_stamp(s->tr->array_buffer.buffer);
	due->at = ktime_get_mono_fast_ns() + s->delay;
	due->waiter = req->waiter;
	WRITE_ONCE(due->pending, true);
	/* Before anybody else is busy: then whoever closes it finds it in the queue. */
	irq_work_queue(&due->start);
	return -EINPROGRESS;
}

/**
 * snap_due_end() - what was put off was taken, or will not be
 * @s:   of whom
 * @ret: what has become of it, as snap_take()
 *
 * Context: Any context. The caller has &trace_snapshots.busy.
 */
void snap_due_end(struct trace_snapshots *s, int ret)
{
	struct snap_due *due = &s->due;

	if (due->waiter) {
		due->waiter->ret = ret;
		/* Pairs with snap_delay_wait(): and it is gone. */
		smp_store_release(&due->waiter->done, true);
	} else if (ret) {
		snap_count(s, ret == -ECANCELED ? -EBUSY : ret, 1);
	}
	WRITE_ONCE(due->pending, false);
}

static void snap_due_start(struct irq_work *irq_work)
{
	struct snap_due *due = container_of(irq_work, struct snap_due, start);

	hrtimer_start(&due->timer, ns_to_ktime(due->at), HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart snap_due_timer(struct hrtimer *timer)
{
	struct trace_snapshots *s = container_of(timer, struct trace_snapshots, due.timer);
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.waits = true,
		.who = &s->due.who,
	};

	if (snap_take(s, &s->user, &req) != -EAGAIN) {
		irq_work_queue(&s->irq_work);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, READ_ONCE(s->changing) ? SNAP_CHANGE_NS : SNAP_RETRY_NS);
	return HRTIMER_RESTART;
}

/**
 * snap_delay_wait() - wait for a snapshot that was put off
 * @s:      of whom
 * @waiter: that of its request
 *
 * Context: May sleep.
 * Return: what has become of it, as snap_take(), or -ECANCELED; -EINTR for a signal, it comes
 *         all the same.
 */
int snap_delay_wait(struct trace_snapshots *s, struct snap_waiter *waiter)
{
	unsigned long flags;

	/* Pairs with snap_due_end(). */
	if (wait_event_interruptible(s->wait, smp_load_acquire(&waiter->done))) {
		flags = snap_change_begin(s);
		if (!waiter->done) {
			s->due.waiter = NULL;
			waiter->ret = -EINTR;
		}
		snap_change_end(s, flags);
	}
	return waiter->ret;
}

/**
 * snap_delay_init() - make ready for requests that are put off
 * @s: of whom
 *
 * Context: Any context.
 */
void snap_delay_init(struct trace_snapshots *s)
{
	init_irq_work(&s->due.start, snap_due_start);
	hrtimer_init(&s->due.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	s->due.timer.function = snap_due_timer;
}

/**
 * snap_delay_exit() - the end of snap_delay_init()
 * @s: of whom; nobody asks for snapshots any more
 *
 * Context: May sleep.
 */
void snap_delay_exit(struct trace_snapshots *s)
{
	irq_work_sync(&s->due.start);
	hrtimer_cancel(&s->due.timer);
}

/**
 * snap_delay_set() - say how long a cut is put off
 * @s:  of whom
 * @ns: how long, in nanoseconds
 *
 * What is due and has not come, does not.
 *
 * Context: May sleep.
 */
void snap_delay_set(struct trace_snapshots *s, u64 ns)
{
	unsigned long flags;
	bool cancels;

	mutex_lock(&s->mutex);
	flags = snap_change_begin(s);
	s->due.closing = true;
	snap_change_end(s, flags);
	/* Whoever was busy before has queued what starts the timer. */
	snap_delay_exit(s);
	flags = snap_change_begin(s);
	s->due.closing = false;
	s->delay = ns;
	cancels = s->due.pending;
	if (cancels)
		snap_due_end(s, -ECANCELED);
	snap_change_end(s, flags);
	if (cancels)
		snap_give_back(s, &s->user);
	mutex_unlock(&s->mutex);
	wake_up_all(&s->wait);
}
