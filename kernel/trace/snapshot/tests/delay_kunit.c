// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of postponed requests.
 */
#include <linux/delay.h>
#include <linux/ring_buffer.h>
#include <linux/trace_clock.h>

#include "../../tests/snapshots.h"

/* A postponed snapshot is never early. The list shows its requester and the request's time. */
static void delay_test_later(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test), flags;
	u64 asked, begin, end;
	unsigned int i;

	tfs_set(test, "trace_clock", "mono");
	tfs_set(test, "snapshot_delay", "1ms");
	for (i = 0; i < 3; i++) {
		if (i == 0) {
			tfs_set(test, "snapshot", "1");
		} else if (i == 1) {
			/* The timer cannot run before the second one. */
			local_irq_save(flags);
			tracing_snapshot_instance(test->priv);
			__trace_array_puts(test->priv, _THIS_IP_, "mark\n", 5);
			tracing_snapshot_instance(test->priv);
			local_irq_restore(flags);
			snap_kunit_wait(test);
			KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
		} else {
			tfs_set(test, "events/ftrace/print/trigger", "snapshot");
			tfs_mark(test, 1);
			snap_kunit_wait(test);
			tfs_set(test, "events/ftrace/print/trigger", "!snapshot");
			KUNIT_EXPECT_NE(test, tfs_count(tfs_read(test, "snapshots"),
							" by=trigger:print "), 0U);
		}
		snap_kunit_times(test, "asked=", &asked, NULL);
		snap_kunit_times(test, "cut=", &begin, &end);
		KUNIT_EXPECT_NE(test, asked, 0ULL);
		KUNIT_EXPECT_GE(test, begin, asked + NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	}
	snap_kunit_expect(test, "taken 3 merged 1");
	tfs_set(test, "snapshot_delay", "0");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, "snapshots"), "asked="), 0U);
}

static bool delay_wanted;

static unsigned int delay_taken;

static bool delay_ask(void *data)
{
	return delay_wanted;
}

static void delay_note(void *data)
{
	struct kunit *test = data;

	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	delay_taken++;
}

/* Later requests join a pending one, except those that are never postponed. */
static void delay_test_pending(struct kunit *test)
{
	const struct snap_request max = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRACER };
	struct trace_array *tr = test->priv;
	unsigned long before = xchg(&snap_crash_on, 0);
	unsigned long full = snap_kunit_full(test);
	struct trace_event_file *file = tfs_marker_event(test);
	struct tracer fake = { .use_max_tr = true };
	const struct snap_cond cond = { .wanted = delay_ask, .taken = delay_note, .data = test };

	delay_taken = 0;
	tfs_set(test, "snapshot_allocate", "1");
	tfs_set(test, "snapshot_delay", "1000s");
	KUNIT_EXPECT_TRUE(test, trace_snapshot_trigger(file, &cond));
	KUNIT_EXPECT_FALSE(test, atomic_long_read(&tr->snapshots->pending.requests));
	delay_wanted = true;
	KUNIT_EXPECT_TRUE(test, trace_snapshot_trigger(file, &cond));
	KUNIT_EXPECT_EQ(test, delay_taken, 1U);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&tr->snapshots->pending.requests), 1);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_trigger(file, &cond));
	KUNIT_EXPECT_EQ(test, delay_taken, 2U);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&tr->snapshots->pending.requests), 3);
	delay_wanted = false;
	trace_snapshot_trigger(file, &cond);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&tr->snapshots->pending.requests), 3);
	snap_kunit_expect(test, "");
	tfs_refuse(test, "snapshot", "0", -EBUSY);
	trace_snapshot_trim(tr);
	tfs_expect(test, "snapshot_allocate", "1\n");
	snap_kunit_expect(test, "");

	tfs_set(test, "per_cpu/cpu0/snapshot", "1");
	xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	trace_snapshot_warn();
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	KUNIT_EXPECT_EQ(test, snap_take(tr->snapshots, &tr->snapshots->max, &max), 0);
	trace_snapshot_disarm_tracer(tr, &fake);
	snap_kunit_expect(test, "taken 2");

	/* A new delay cancels the pending requests. */
	tfs_set(test, "snapshot_delay", "0");
	snap_kunit_expect(test, "taken 2 refused 3");
	tfs_set(test, "snapshot", "1");
	snap_kunit_expect(test, "taken 3 refused 3");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	xchg(&snap_crash_on, before);
}

/* A cancelled request takes no snapshot, whether its timer runs or is about to start. */
static void delay_test_cancelled(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct snap_pending *pending = &tr->snapshots->pending;
	unsigned int i;

	tfs_set(test, "snapshot_allocate", "1");
	for (i = 0; i < 2; i++) {
		snap_delay_set(tr->snapshots, 1000ULL * NSEC_PER_SEC);
		tracing_snapshot_instance(tr);
		if (i)
			irq_work_sync(&pending->start);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), snap_kunit_full(test));
		snap_delay_set(tr->snapshots, 0);
		irq_work_sync(&pending->start);
		KUNIT_EXPECT_EQ(test, snap_take_pending(tr->snapshots), 0);
	}
	snap_kunit_expect(test, "refused 2");
	/* The timer of the first request, if it expires now, is too early for the second one. */
	snap_delay_set(tr->snapshots, 900ULL * NSEC_PER_SEC);
	tracing_snapshot_instance(tr);
	irq_work_sync(&pending->start);
	snap_delay_set(tr->snapshots, 1000ULL * NSEC_PER_SEC);
	local_irq_disable();
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, snap_take_pending(tr->snapshots), -EAGAIN);
	local_irq_enable();
	snap_kunit_expect(test, "refused 3");
	/* The longest one is half of what a ktime_t holds. */
	tfs_set(test, "snapshot_delay", "4611686018427387903ns");
	tfs_refuse(test, "snapshot_delay", "4611686018427387904ns", -EINVAL);
	snap_delay_set(tr->snapshots, 0);
}

/* A request that is cancelled ends for each task that waits for it. */
static void delay_test_waiters(struct kunit *test)
{
	struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .waits = true };
	struct trace_snapshots *s = snap_kunit(test);
	struct snap_waiter waiters[3] = { };
	unsigned int i;

	tfs_set(test, "snapshot_delay", "1000s");
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		req.waiter = &waiters[i];
		KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req), -EINPROGRESS);
	}
	tfs_set(test, "snapshot_delay", "0");
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		KUNIT_EXPECT_TRUE(test, waiters[i].done);
		KUNIT_EXPECT_EQ(test, waiters[i].ret, -ECANCELED);
	}
	/* Each of them has its error, so none is counted. */
	snap_kunit_expect(test, "");
}

/* A postponed request can fail when its time comes. */
static void delay_test_fails(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct array_buffer *buf;
	unsigned long before, flags;
	unsigned int i;

	tfs_set(test, "snapshot", "1");
	buf = trace_snapshot_get(test->priv, false);
	tfs_set(test, "snapshot_delay", "1ms");
	tracing_snapshot_instance(test->priv);
	snap_kunit_wait(test);
	snap_kunit_expect(test, "taken 1 starved 1");
	trace_snapshot_put(buf);
	/* The worker is a user of the snapshot, too, after a request that was refused. */
	snap_kunit_worker(test->priv);

	/* While another CPU holds the lock, the timer tries again. */
	local_irq_save(flags);
	tracing_snapshot_instance(test->priv);
	/* With interrupts off, the timer cannot run before this. */
	atomic_set(&s->owner, 1);
	local_irq_restore(flags);
	for (i = 0; i < 1000; i++) {
		if (ktime_to_ns(hrtimer_get_expires(&s->pending.timer)) > s->pending.at)
			break;
		msleep(20);
	}
	KUNIT_EXPECT_LT(test, i, 1000U);
	atomic_set(&s->owner, 0);
	snap_kunit_wait(test);
	snap_kunit_expect(test, "taken 2 starved 1");
	/* A waiter also wakes up if another request has used the last room of snapshot_keep. */
	before = xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	tfs_set(test, "snapshot_keep", "first 2");
	tfs_set(test, "snapshot_delay", "20ms");
	local_irq_save(flags);
	tracing_snapshot_instance(test->priv);
	trace_snapshot_warn();
	local_irq_restore(flags);
	snap_kunit_wait(test);
	xchg(&snap_crash_on, before);
	snap_kunit_expect(test, "taken 3 starved 1 enough 1");
}

/* A request reads the clock when it is postponed: delay_clock() acts as an interrupt there. */
static struct trace_array *delay_tr;

static u64 delay_clock(void)
{
	struct trace_array *tr = delay_tr;

	delay_tr = NULL;
	if (tr)
		tracing_snapshot_instance(tr);
	return trace_clock_local();
}

static void delay_test_inside(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	tfs_set(test, "snapshot_allocate", "1");
	tfs_set(test, "snapshot_delay", "1000s");
	ring_buffer_set_clock(tr->array_buffer.buffer, delay_clock);
	delay_tr = tr;
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_NULL(test, delay_tr);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&tr->snapshots->pending.requests), 2);
	ring_buffer_set_clock(tr->array_buffer.buffer, trace_clock_local);
	tfs_set(test, "snapshot_delay", "0");
	snap_kunit_expect(test, "refused 2");
}

#define DELAY_TRIGGER	"events/ftrace/print/trigger"

static void delay_expect_count(struct kunit *test, unsigned int count)
{
	tfs_expect_in(test, DELAY_TRIGGER, tfs_text(test, "snapshot:count=%u\n", count));
}

static bool delay_has_cells(struct trace_snapshots *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < SNAP_CELLS; i++)
		n += !!s->pending.cells[i].data;
	return n;
}

/* A snapshot that is taken reduces the count of its trigger by one, also if others share it. */
static void delay_test_count(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int i;

	tfs_set(test, DELAY_TRIGGER, "snapshot:3");
	tfs_set(test, "snapshot_delay", "1000s");
	tfs_mark(test, 5);
	delay_expect_count(test, 3);
	/* It gives back what was not taken. */
	tfs_set(test, "snapshot_delay", "0");
	snap_kunit_expect(test, "refused 5");
	delay_expect_count(test, 3);
	tfs_set(test, "snapshot_delay", "1000s");
	for (i = 0; i < 2; i++) {
		tfs_mark(test, 5);
		s->pending.at = 0;
		KUNIT_EXPECT_EQ(test, snap_take_pending(s), 0);
		delay_expect_count(test, 2 - i);
		KUNIT_EXPECT_FALSE(test, delay_has_cells(s));
	}
	snap_kunit_expect(test, "taken 2 merged 8 refused 5");
	/* The last one: another snapshot spends it before that is taken. */
	tfs_mark(test, 1);
	s->pending.delay = 0;
	tfs_mark(test, 1);
	delay_expect_count(test, 0);
	tfs_mark(test, 1);
	delay_expect_count(test, 0);
	snap_kunit_expect(test, "taken 3 merged 9 refused 5");
}

/* A trigger that is removed is not told of the snapshot that its request waits for. */
static void delay_test_removed(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	tfs_set(test, DELAY_TRIGGER, "snapshot:3");
	tfs_set(test, "snapshot_delay", "1000s");
	tfs_mark(test, 2);
	KUNIT_EXPECT_TRUE(test, delay_has_cells(s));
	tfs_set(test, DELAY_TRIGGER, "!snapshot:3");
	KUNIT_EXPECT_FALSE(test, delay_has_cells(s));
	s->pending.at = 0;
	KUNIT_EXPECT_EQ(test, snap_take_pending(s), 0);
	snap_kunit_expect(test, "taken 1 merged 1");
}

/* Without room to note another condition, its request is refused, and stores nothing. */
static void delay_test_cells(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	char data[SNAP_CELLS + 1];
	struct snap_cond cond = { .wanted = delay_ask, .taken = delay_note, .lasts = true };
	struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .cond = &cond };
	unsigned int i;

	delay_wanted = true;
	tfs_set(test, "snapshot_allocate", "1");
	tfs_set(test, "snapshot_delay", "1000s");
	for (i = 0; i <= SNAP_CELLS; i++) {
		cond.data = &data[i];
		KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req),
				i < SNAP_CELLS ? -EINPROGRESS : -EAGAIN);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), 0L + SNAP_CELLS);
	tfs_set(test, "snapshot_delay", "0");
	snap_kunit_expect(test, "refused 9");
}

static struct kunit_case delay_cases[] = {
	KUNIT_CASE(delay_test_later),
	KUNIT_CASE(delay_test_pending),
	KUNIT_CASE(delay_test_cancelled),
	KUNIT_CASE(delay_test_waiters),
	KUNIT_CASE(delay_test_fails),
	KUNIT_CASE(delay_test_inside),
	KUNIT_CASE(delay_test_count),
	KUNIT_CASE(delay_test_removed),
	KUNIT_CASE(delay_test_cells),
	{ }
};

static struct kunit_suite delay_suite = {
	.name = "trace_snapshot_delay",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = delay_cases,
};

kunit_test_suite(delay_suite);
