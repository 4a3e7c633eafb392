// SPDX-License-Identifier: GPL-2.0
/*
 * Postponed requests: their timer, and tasks that wait.
 */
#include <linux/timekeeping.h>

#include "internal.h"

/* Time to the next try while a live buffer changes its size */
#define SNAP_CHANGE_NS	NSEC_PER_MSEC

static void snap_pending_start(struct irq_work *irq_work)
{
	struct snap_pending *pending = container_of(irq_work, struct snap_pending, start);

	hrtimer_start(&pending->timer, ns_to_ktime(READ_ONCE(pending->at)), HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart snap_pending_timer(struct hrtimer *timer)
{
	struct trace_snapshots *s = container_of(timer, struct trace_snapshots, pending.timer);
	int ret = snap_take_pending(s);
	ktime_t again;

	if (!ret)
		return HRTIMER_NORESTART;
	again = ktime_add_ns(ktime_get(), ret == -EINPROGRESS ? SNAP_CHANGE_NS : SNAP_RETRY_NS);
	/* Another CPU may have started it meanwhile. */
	hrtimer_start(timer, max(again, ns_to_ktime(READ_ONCE(s->pending.at))),
		      HRTIMER_MODE_ABS_HARD);
	return HRTIMER_NORESTART;
}

/**
 * snap_delay_wait() - wait for a postponed snapshot
 * @s:      the snapshots of a trace array
 * @waiter: waiter of the request
 *
 * Context: May sleep.
 * Return: the result, as snap_take(); -ECANCELED; -EINTR for a signal, the snapshot is
 *	   taken all the same.
 */
int snap_delay_wait(struct trace_snapshots *s, struct snap_waiter *waiter)
{
	struct snap_waiter **at;

	/* Pairs with snap_end_pending:A. RBB(snap_delay_wait:A) */
	if (!wait_event_interruptible(s->wait, smp_load_acquire(&waiter->done)))
		return waiter->ret;
	guard(snap_change)(s);
	if (waiter->done)
		return waiter->ret;
	for (at = &s->pending.waiters; *at != waiter; at = &(*at)->next)
		;
	*at = waiter->next;
	return -EINTR;
}

/**
 * snap_delay_init() - prepare for postponed requests
 * @s: the snapshots of a trace array
 *
 * Context: Any context.
 */
void snap_delay_init(struct trace_snapshots *s)
{
	s->pending.start = IRQ_WORK_INIT_HARD(snap_pending_start);
	hrtimer_setup(&s->pending.timer, snap_pending_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
}

/**
 * snap_delay_set() - set the time from a request to its cut
 * @s:  the snapshots of a trace array
 * @ns: the time in nanoseconds
 *
 * A pending request is cancelled.
 *
 * Context: May sleep.
 */
void snap_delay_set(struct trace_snapshots *s, u64 ns)
{
	struct snap_claim claim;

	scoped_guard(snap_change, s) {
		s->pending.delay = ns;
		snap_claim_pending(s, &claim);
		snap_end_pending(s, claim.requests, -ECANCELED);
	}
	wake_up_all(&s->wait);
}
