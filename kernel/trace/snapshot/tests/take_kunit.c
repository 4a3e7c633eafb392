// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of requests for snapshots: their kinds, their conflicts, their lines in the list.
 */
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/trace_clock.h>

#include "../../ring_buffer/race.h"
#include "../../tests/snapshots.h"

/* A cut reads the clock in its middle: take_clock() acts as an interrupt there, once. */
static void (*take_act)(struct kunit *test);
static struct kunit *take_acting;

static u64 take_clock(void)
{
	void (*act)(struct kunit *test) = take_act;

	take_act = NULL;
	if (act)
		act(take_acting);
	return trace_clock_local();
}

static void take_interrupt(struct kunit *test, void (*act)(struct kunit *test))
{
	struct trace_array *tr = test->priv;

	take_acting = test;
	take_act = act;
	ring_buffer_set_clock(tr->array_buffer.buffer, act ? take_clock : trace_clock_local);
}

/* Expect one line in the list: snapshot @seq, with the requester @by. */
static void take_expect_line(struct kunit *test, unsigned int seq, const char *by)
{
	const char *list = tfs_read(test, "snapshots");
	char want[64];

	snprintf(want, sizeof(want), "\n%u by=%s cpu=0 pid=%d cut=", seq, by, current->pid);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(list, want), 1U, "%s in %s", want, list);
	snprintf(want, sizeof(want), " comm=%s\n", current->comm);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(list, want), 1U, "%s", want);
	KUNIT_EXPECT_EQ(test, tfs_count(list, "cut="), 1U);
}

static void take_test_who(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long before = xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	const struct snap_request function = {
		.cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_FUNCTION, .ip = (unsigned long)schedule,
	};

	tfs_set(test, "snapshot", "1");
	take_expect_line(test, 1, "write");
	tracing_snapshot_instance(tr);
	take_expect_line(test, 2, "kernel");
	tfs_set(test, "events/ftrace/print/trigger", "snapshot");
	tfs_mark(test, 1);
	take_expect_line(test, 3, "trigger:print");
	preempt_count_add(NMI_OFFSET);
	tracing_snapshot_instance(tr);
	preempt_count_sub(NMI_OFFSET);
	take_expect_line(test, 4, "kernel,nmi");
	trace_snapshot_warn();
	take_expect_line(test, 5, "warn");
	snap_take(tr->snapshots, &tr->snapshots->user, &function);
	take_expect_line(test, 6, "function:schedule");
	tfs_set(test, "per_cpu/cpu0/snapshot", "1");
	take_expect_line(test, 7, "write");
	snap_kunit_expect(test, "taken 7");
	tfs_set(test, "events/ftrace/print/trigger", "!snapshot");
	xchg(&snap_crash_on, before);
}

/* The times of snapshots are in order. The clock "counter" never returns a value twice. */
static void take_test_times(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	u64 begin, end, since, until, last;
	unsigned int i;

	tfs_set(test, "trace_clock", "counter");
	/* The first one is complete since the clock was set, and recording is on again. */
	KUNIT_EXPECT_TRUE(test, ring_buffer_was_on(tr->array_buffer.buffer, &last, &until));
	KUNIT_EXPECT_GT(test, last, tr->snapshots->past.end);
	KUNIT_EXPECT_GT(test, tr->snapshots->past.end, 0ULL);
	for (i = 0; i < 4; i++) {
		tfs_mark(test, 1);
		tfs_set(test, "snapshot", "1");
		snap_kunit_times(test, "cut=", &begin, &end);
		snap_kunit_times(test, "complete=", &since, &until);
		KUNIT_EXPECT_EQ(test, since, last);
		KUNIT_EXPECT_GT(test, begin, since);
		KUNIT_EXPECT_GT(test, end, begin);
		KUNIT_EXPECT_EQ(test, until, begin);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
		last = end;
	}
	/* A kept snapshot shows the clock of its records. */
	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "snapshot", "1");
	tfs_expect_in(test, "/instances/kunit@5/trace_clock", "[counter]");
}

/* No requester but a task replaces the newest snapshot by an empty one when recording is off. */
static void take_test_off(struct kunit *test)
{
	unsigned long before = xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	static const char * const files[] = { "tracing_on", "/tracing_on_all" };
	struct trace_array *tr = test->priv;
	unsigned int i, taken = 1, off = 0;
	char want[32];

	tfs_set(test, "snapshot", "1");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		tfs_mark(test, 1);
		tfs_set(test, files[i], "0");
		/* The records from before are taken, once. */
		trace_snapshot_warn();
		tracing_snapshot_instance(tr);
		trace_snapshot_warn();
		taken++;
		off += 2;
		snprintf(want, sizeof(want), "taken %u off %u", taken, off);
		snap_kunit_expect(test, want);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
		/* Something may have been recorded since the last one. */
		tfs_set(test, files[i], "1");
		tfs_set(test, files[i], "0");
		tracing_snapshot_instance(tr);
		taken++;
		tfs_set(test, "snapshot", "1");
		taken++;
		snprintf(want, sizeof(want), "taken %u off %u", taken, off);
		snap_kunit_expect(test, want);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
		tfs_set(test, files[i], "1");
	}
	xchg(&snap_crash_on, before);
}

/* Functions of the kernel take snapshots of the top trace array. */
static void take_test_top(struct kunit *test)
{
	unsigned int i;

	tfs_set(test, "/buffer_size_kb", "64");
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot(), 0);
	tfs_expect(test, "/snapshot_allocate", "1\n");
	/* Trimming does not free a buffer that the kernel pins. */
	trace_snapshot_trim(top_trace_array());
	tfs_expect(test, "/snapshot_allocate", "1\n");
	for (i = 0; i < 2; i++) {
		tfs_set(test, "/trace_marker", "mark");
		if (i)
			tracing_snapshot_alloc();
		else
			tracing_snapshot();
		tfs_expect_in(test, "/snapshots", " by=kernel ");
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "/snapshot"), 1U);
		tfs_set(test, "/snapshot_allocate", "0");
		tfs_expect(test, "/snapshot_allocate", "0\n");
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "/snapshot"), 0U);
	}
	/* Without a buffer the request is refused, and tracing goes on. */
	tracing_snapshot();
	tfs_expect_in(test, "/snapshots", "ready: 1\n");
	tfs_expect(test, "/tracing_on", "1\n");
}

static bool take_always(void *data)
{
	return true;
}

static unsigned int take_stored;

static void take_store(void *data)
{
	take_stored++;
}

static const struct snap_cond take_cond = { .wanted = take_always, .taken = take_store };

/* Kinds of requests. */
enum { TAKE_KERNEL, TAKE_WAITS, TAKE_CRASH, TAKE_CPU, TAKE_COND, TAKE_MAX, TAKE_KINDS };

static const struct snap_request take_kinds[TAKE_KINDS] = {
	[TAKE_KERNEL]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL },
	[TAKE_WAITS]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_WRITE, .waits = true },
	[TAKE_CRASH]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_WARN, .now = true },
	[TAKE_CPU]	= { .cpu = 0, .by = SNAP_BY_KERNEL },
	[TAKE_COND]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRIGGER,
			    .cond = &take_cond },
	[TAKE_MAX]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRACER },
};

static int take_kind(struct kunit *test, unsigned int kind)
{
	struct trace_snapshots *s = snap_kunit(test);

	return snap_take(s, kind == TAKE_MAX ? &s->max : &s->user, &take_kinds[kind]);
}

/* Provide a buffer for the next snapshot, as the worker does. */
static void take_provide(struct kunit *test, struct snap_slot *slot)
{
	struct trace_snapshots *s = snap_kunit(test);

	guard(mutex)(&s->mutex);
	KUNIT_EXPECT_EQ(test, snap_provide(s, slot), 0);
}

static unsigned int take_inner;

static void take_inside(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, take_kind(test, take_inner),
			take_inner == TAKE_KERNEL ? -EINPROGRESS : -EAGAIN);
}

/*
 * A request that interrupts the holder of the lock is postponed. The holder's snapshot answers
 * it, or another one is taken. A kind of request that cannot be postponed fails with -EAGAIN.
 */
static void take_test_inside(struct kunit *test)
{
	unsigned int outer, inner, taken = 0, merged = 0, refused = 0, stored = 0;
	struct trace_snapshots *s = snap_kunit(test);
	char want[64];

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	take_provide(test, &s->max);
	take_stored = 0;
	for (outer = 0; outer < TAKE_KINDS; outer++) {
		for (inner = 0; inner < TAKE_KINDS; inner++) {
			take_inner = inner;
			take_interrupt(test, take_inside);
			KUNIT_EXPECT_EQ(test, take_kind(test, outer), 0);
			snap_kunit_wait(test);
			taken += outer != TAKE_MAX;
			stored += outer == TAKE_COND;
			if (inner != TAKE_KERNEL)
				refused += inner != TAKE_WAITS;
			else if (outer == TAKE_CPU || outer == TAKE_MAX)
				taken++;
			else
				merged++;
			snprintf(want, sizeof(want), "taken %u merged %u refused %u", taken,
				 merged, refused);
			if (merged && refused)
				snap_kunit_expect(test, want);
			KUNIT_EXPECT_EQ(test, take_stored, stored);
		}
	}
	take_interrupt(test, NULL);
}

/* The point of a cut where a request interrupts it. */
static enum rb_race take_point;

/* The snapshot that answers the request waits for a buffer, however late the test runs. */
static bool take_is_held;

static void take_race(enum rb_race point, const char *name)
{
	struct trace_array *tr = take_acting->priv;

	if (point != take_point)
		return;
	rb_race_hook = NULL;
	/* The interrupt writes an event, then it requests a snapshot. */
	trace_array_puts(tr, "event\n");
	KUNIT_EXPECT_EQ(take_acting, take_kind(take_acting, TAKE_KERNEL), -EINPROGRESS);
	if (take_is_held)
		tr->snapshots->pending.at = KTIME_MAX;
}

/*
 * The snapshot that answers a request has its event. If the CPU of the event was cut off before
 * it, a second snapshot answers the request if the first one is kept; else it is refused.
 */
static void take_test_halfway(struct kunit *test)
{
	static const struct {
		enum rb_race point;
		bool answered;
	} points[] = {
		{ RB_RACE_CUT, true }, { RB_RACE_SWAP_READER, true }, { RB_RACE_SWAP, true },
		{ RB_RACE_SWAP_HALF, true }, { RB_RACE_SWAP_LIVE, false },
	};
	struct trace_snapshots *s = snap_kunit(test);
	bool kept, answered;
	u64 seq;
	int i;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	take_acting = test;
	for (i = 0; i < 2 * ARRAY_SIZE(points); i++) {
		kept = i >= ARRAY_SIZE(points);
		take_point = points[i % ARRAY_SIZE(points)].point;
		answered = points[i % ARRAY_SIZE(points)].answered;
		tfs_set(test, "snapshot_keep", kept ? "9" : "0");
		tfs_mark(test, 2);
		seq = s->user.seq;
		/* For the second snapshot */
		if (kept)
			take_provide(test, &s->user);
		atomic_long_set(&s->count.merged, 0);
		atomic_long_set(&s->count.late, 0);
		take_is_held = kept && !answered;
		rb_race_hook = take_race;
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), 0);
		KUNIT_EXPECT_NULL(test, rb_race_hook);
		if (take_is_held) {
			snap_tend(s);
			WRITE_ONCE(s->pending.at, 0);
			irq_work_queue(&s->pending.start);
		}
		snap_kunit_wait(test);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.merged), 0L + answered);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.late), 0L + (!answered && !kept));
		KUNIT_EXPECT_EQ(test, s->user.seq, seq + 1 + take_is_held);
		tfs_expect_in(test, answered || kept ? "snapshot" : "trace", " event");
		tfs_set(test, "trace", "");
		tfs_set(test, "snapshot_keep", "0");
		tfs_set(test, "snapshot", "2");
	}
}

/* No request waits for ever for a holder of the lock that never runs again. */
static void take_test_stopped(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long flags;
	unsigned int kind;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	flags = snap_change_begin(s, snap_lock);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	for (kind = 0; kind < TAKE_KINDS; kind++)
		KUNIT_EXPECT_EQ(test, take_kind(test, kind),
				kind == TAKE_KERNEL ? -EINPROGRESS : -EAGAIN);
	snap_change_end(s, snap_unlock, flags);
	snap_kunit_wait(test);
	snap_kunit_expect(test, "taken 1 refused 4");
	/* The holder is another CPU. */
	atomic_set(&s->owner, 2);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	atomic_set(&s->owner, 0);
	snap_kunit_expect(test, "taken 1 refused 5");
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), 0);
}

static bool take_is_free;

static enum hrtimer_restart take_free(struct hrtimer *timer)
{
	struct trace_array *tr = take_acting->priv;

	take_is_free = true;
	atomic_set(&tr->snapshots->owner, 0);
	return HRTIMER_NORESTART;
}

/* A task waits for the lock without a limit. */
static void take_test_waits(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	static struct hrtimer timer;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	take_acting = test;
	hrtimer_setup(&timer, take_free, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	for (i = 0; i < 2; i++) {
		take_is_free = false;
		atomic_set(&s->owner, 2);
		hrtimer_start(&timer, ns_to_ktime(100 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
		if (i)
			tfs_set(test, "snapshot", "1");
		else
			trace_snapshot_begin_anew(test->priv);
		KUNIT_EXPECT_TRUE(test, take_is_free);
		KUNIT_EXPECT_FALSE(test, irqs_disabled());
		hrtimer_cancel(&timer);
	}
	snap_kunit_expect(test, "taken 1");
}

struct take_asked {
	struct kunit	*test;
	unsigned int	asked;
	unsigned int	stored;
	unsigned int	until;		/* the condition is met this often */
};

static bool take_ask(void *data)
{
	struct take_asked *asked = data;

	return asked->asked++ < asked->until;
}

static void take_note(void *data)
{
	struct take_asked *asked = data;
	struct trace_array *tr = asked->test->priv;

	KUNIT_EXPECT_TRUE(asked->test, irqs_disabled());
	KUNIT_EXPECT_NE(asked->test, atomic_read(&tr->snapshots->owner), 0);
	asked->stored++;
}

/* A condition stores its data only with a snapshot. An unmet condition is not counted. */
static void take_test_condition(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_event_file *file = tfs_marker_event(test);
	struct take_asked asked = { .test = test, .until = UINT_MAX };
	const struct snap_cond cond = { .wanted = take_ask, .taken = take_note, .data = &asked };
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .cond = &cond };
	struct trace_snapshots *s = tr->snapshots;

	KUNIT_EXPECT_FALSE(test, trace_snapshot_trigger(file, &cond));
	KUNIT_EXPECT_EQ(test, asked.asked, 2U);
	KUNIT_EXPECT_EQ(test, asked.stored, 0U);
	snap_kunit_expect(test, "starved 1");

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_trigger(file, &cond));
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, asked.stored, 1U);
	snap_kunit_expect(test, "taken 1 starved 1");
	take_expect_line(test, 1, "trigger:print");
	/* The condition is unmet at once, or at the second look, under the lock. */
	tfs_mark(test, 1);
	for (asked.until = 0; asked.until < 2; asked.until++) {
		asked.asked = 0;
		KUNIT_EXPECT_TRUE(test, trace_snapshot_trigger(file, &cond));
		KUNIT_EXPECT_EQ(test, asked.asked, asked.until + 1);
		asked.asked = 0;
		KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req), -ECANCELED);
	}
	KUNIT_EXPECT_EQ(test, asked.stored, 1U);
	snap_kunit_expect(test, "taken 1 starved 1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	/* snapshot_keep allows no more: the trigger has no reason to repeat its request. */
	asked.until = UINT_MAX;
	tfs_set(test, "snapshot_keep", "first 1");
	KUNIT_EXPECT_TRUE(test, trace_snapshot_trigger(file, &cond));
	KUNIT_EXPECT_EQ(test, asked.stored, 1U);
	snap_kunit_expect(test, "taken 1 starved 1 enough 1");
}

/* A cut answers a pending request. A later one takes the event of another request. */
static void take_test_joins(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long flags;
	unsigned int joins;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	for (joins = 0; joins < 2; joins++) {
		tfs_mark(test, 1);
		/* The request comes as from an NMI that interrupts the holder of the lock. */
		flags = snap_change_begin(s, snap_lock);
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), -EINPROGRESS);
		snap_unlock(s);
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_WAITS), 0);
		trace_array_puts(test->priv, "event\n");
		/* The cut has answered it, and this is a new one. */
		if (joins)
			KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), 0);
		local_irq_restore(flags);
		snap_kunit_wait(test);
		KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, "snapshot"), " event"), joins);
		tfs_set(test, "trace", "");
	}
	snap_kunit_expect(test, "taken 3 merged 2");
}

/*
 * A snapshot of another CPU that begins after a request answers the request, unless that waits
 * for its own snapshot, is for one CPU, or is from a tracer.
 */
static void take_test_answered(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int kind, own;
	u64 seq;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	take_provide(test, &s->max);
	for (kind = 0; kind < TAKE_KINDS; kind++) {
		own = kind == TAKE_WAITS || kind == TAKE_CPU || kind == TAKE_MAX;
		seq = s->user.seq + s->max.seq;
		tfs_mark(test, 1);
		/* As if that snapshot were taken while this CPU waits for the lock. */
		s->past.done = s->past.cuts + 2;
		s->past.span = U64_MAX;
		KUNIT_EXPECT_EQ(test, take_kind(test, kind), 0);
		KUNIT_EXPECT_EQ_MSG(test, s->user.seq + s->max.seq, seq + own, "kind %u", kind);
		s->past.done = s->past.cuts;
	}
	snap_kunit_expect(test, "taken 2 merged 3");
}

/* The count of a trigger is the number of its snapshots, without refused requests. */
static void take_test_counted(struct kunit *test)
{
	struct file *file;

	tfs_set(test, "events/ftrace/print/trigger", "snapshot:2");
	snap_kunit(test)->memory.limit_kb = 1;
	tfs_mark(test, 1);
	file = tfs_open(test, "snapshot", O_RDONLY);
	tfs_mark(test, 1);
	snap_kunit_expect(test, "taken 1 starved 1");
	tfs_close(file);
	tfs_mark(test, 3);
	snap_kunit_expect(test, "taken 2 starved 1");
	/* The last snapshot has the event of its trigger. */
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 2U);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 2U);
}

/* A snapshot stays while it is read. The next one then needs a buffer that a trigger reserves. */
static void take_test_read(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct file *file;
	unsigned int armed;

	for (armed = 0; armed < 2; armed++) {
		tfs_set(test, "snapshot", "1");
		if (armed)
			KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
		file = tfs_open(test, "snapshot", O_RDONLY);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * (1 + armed));
		tfs_mark(test, 1);
		tracing_snapshot_instance(test->priv);
		/* A cut of one CPU never goes into the snapshot that the reader holds. */
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), armed ? 0 : -ENOBUFS);
		tfs_close(file);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
		if (armed)
			tracing_disarm_snapshot(test->priv);
	}
	snap_kunit_expect(test, "taken 4 starved 2");

	/* close() frees the second buffer, whether a request has used it or not. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	file = tfs_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), -ENOBUFS);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	snap_kunit_worker(test->priv);
	tfs_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_expect(test, "taken 5 starved 3");
	tfs_close(tfs_open(test, "snapshot", O_RDONLY));
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
}

/* A cut of one CPU goes into the newest snapshot, unless that is kept or has the wrong size. */
static void take_test_cpu(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct snap_request none = take_kinds[TAKE_CPU];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	for (i = 1; i <= 2; i++) {
		tfs_mark(test, i);
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), i);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "per_cpu/cpu0/snapshot"), i);
	}
	/* Of a single CPU, it is complete. */
	KUNIT_EXPECT_EQ(test, s->user.last->info.since == U64_MAX, nr_cpu_ids > 1);
	none.cpu = nr_cpu_ids;
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &none), -EINVAL);
	snap_kunit_expect(test, "taken 2 starved 1 refused 1");
	tfs_set(test, "buffer_size_kb", "32");
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
	tfs_set(test, "snapshot_keep", "2");
	snap_tend(s);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
	snap_kunit_expect(test, "taken 4 starved 1 refused 1");
	/* It leaves the one before alone also before the keeper has trimmed that. */
	guard(mutex)(&s->mutex);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, snap_provide(s, &s->user), 0);
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
	}
}

static void take_cpu_race(enum rb_race point, const char *name)
{
	if (point != RB_RACE_REFUSING)
		return;
	rb_race_hook = NULL;
	KUNIT_EXPECT_EQ(take_acting, take_kind(take_acting, TAKE_CPU), -EBUSY);
}

/* A request for one CPU that fails erases nothing. It fails while the live buffer is erased. */
static void take_test_cpu_fails(struct kunit *test)
{
	tfs_mark(test, 2);
	tfs_set(test, "snapshot", "1");
	take_acting = test;
	rb_race_hook = take_cpu_race;
	tfs_empty(test, "trace");
	KUNIT_EXPECT_NULL(test, rb_race_hook);
	rb_race_hook = NULL;
	snap_kunit_expect(test, "taken 1 refused 1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 2U);
}

/* The worker is started once until it runs: a trigger may trace what that causes. */
static void take_test_once(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	bool queued, again;

	scoped_guard(irqsave) {
		set_bit(SNAP_WORK_QUEUED, &s->worker.work_for);
		tracing_snapshot_instance(test->priv);
		queued = irq_work_is_pending(&s->worker.irq_work);
		clear_bit(SNAP_WORK_QUEUED, &s->worker.work_for);
		tracing_snapshot_instance(test->priv);
		again = irq_work_is_pending(&s->worker.irq_work);
	}
	KUNIT_EXPECT_FALSE(test, queued);
	KUNIT_EXPECT_TRUE(test, again);
	snap_kunit_expect(test, "starved 2");
}

/* Map a ring of the live buffer, as user space does. */
static unsigned long take_map(struct kunit *test, struct file *file)
{
	unsigned long at = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	return at;
}

/* No writer gets a sub-buffer that user space has mapped, and that a snapshot has taken. */
static void take_test_mapped(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test), at;
	struct file *file;
	unsigned int i;

	tfs_set(test, "snapshot_allocate", "1");
	file = tfs_open(test, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	at = take_map(test, file);
	tfs_mark(test, 1);
	/* The worker must not allocate another buffer in between. */
	scoped_guard(mutex, &snap_kunit(test)->mutex) {
		tracing_snapshot_instance(test->priv);
		tracing_snapshot_instance(test->priv);
	}
	snap_kunit_expect(test, "taken 1 starved 1");
	tfs_set(test, "snapshot", "1");
	snap_kunit_expect(test, "taken 2 starved 1");
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);

	/* For a trigger, the worker allocates another buffer before the next request. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	at = take_map(test, file);
	for (i = 0; i < 2; i++) {
		tfs_mark(test, 1);
		snap_kunit_take(test);
	}
	snap_kunit_expect(test, "taken 4 starved 1");
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	tfs_close(file);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_LE(test, snap_kunit_kb(test), full * 2);
}

/* The buffer with that record can be used again when a worker, write or reader has settled it. */
static void take_test_died(struct kunit *test)
{
	const bool writes = *(const bool *)test->param_value;
	struct trace_snapshots *s = snap_kunit(test);

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	scoped_guard(mutex, &s->mutex)
		KUNIT_EXPECT_EQ(test, snap_arm(s, &s->max), 0);
	snap_kunit_die(test, test->priv);
	tracing_snapshot_instance(test->priv);
	tfs_mark(test, 1);
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 1 refused 1");
	if (!writes)
		snap_kunit_worker(test->priv);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	if (writes)
		tfs_set(test, "snapshot", "1");
	else
		tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 2 refused 1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);

	snap_kunit_die(test, test->priv);
	tracing_snapshot_instance(test->priv);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
	tfs_mark(test, 1);
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 4 refused 1");
}

/* The same if that buffer is the spare one, and not the newest snapshot. */
static void take_test_died_spare(struct kunit *test)
{
	const bool writes = *(const bool *)test->param_value;
	unsigned long full = snap_kunit_full(test), at;
	struct trace_array *tr = test->priv;
	struct file *file;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	file = tfs_open(test, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	at = take_map(test, file);
	snap_kunit_die(test, test->priv);
	snap_kunit_take(test);
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	tfs_close(file);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2");
	tfs_mark(test, 1);
	if (writes) {
		tfs_set(test, "snapshot", "1");
	} else {
		snap_kunit_take(test);
		tracing_snapshot_instance(tr);
	}
	snap_kunit_expect(test, writes ? "taken 3" : "taken 3 refused 1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
	snap_kunit_worker(tr);
	KUNIT_EXPECT_LE(test, snap_kunit_kb(test), full * 2);
}

/* Create an instance, and make it a channel of the one of the test. */
static struct trace_array *take_add(struct kunit *test, const char *name)
{
	struct trace_array *ch = tfs_add(test, name, NULL, "16");

	KUNIT_ASSERT_EQ(test, trace_session_join(test->priv, name, NULL), 0);
	return ch;
}

/* A write settles the buffer of each channel, also behind one with a spare buffer in use. */
static void take_test_died_channel(struct kunit *test)
{
	struct trace_array *used = take_add(test, "kunit_1"), *died = take_add(test, "kunit_2");
	struct trace_snapshots *s = used->snapshots;
	struct trace_snap *spare;

	snap_kunit_die(test, died);
	tfs_set(test, "snapshot", "1");
	scoped_guard(mutex, &s->mutex)
		KUNIT_ASSERT_EQ(test, snap_add_spare(s, &s->user), 0);
	/* As the worker of the channel does while it waits for writers. */
	spare = s->user.spare;
	atomic_inc(&spare->users);
	tfs_set(test, "snapshot", "1");
	snap_kunit_expect(test, "taken 2");
	scoped_guard(mutex, &s->mutex)
		snap_put(s, spare);
}

/* As the first thing of a request, use the buffer that it would take. */
static bool take_use(void *data)
{
	struct trace_snap **used = data;
	struct snap_slot *slot = &(*used)->owner->user;

	if (!atomic_read(&(*used)->users)) {
		*used = slot->spare ?: slot->last;
		atomic_inc(&(*used)->users);
	}
	return true;
}

/* A request with a condition fails while the live buffer changes its size, and stores nothing. */
static void take_test_changing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	snap_kunit_begin_change(test, SZ_32K, 0);
	take_stored = 0;
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_COND), -EAGAIN);
	KUNIT_EXPECT_EQ(test, take_stored, 0U);
	trace_snapshot_end_change(test->priv, false);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_COND), 0);
	KUNIT_EXPECT_EQ(test, take_stored, 1U);
}

/* Another taker uses the buffer of the session, then that of a channel, right before a cut. */
static void take_test_used(struct kunit *test)
{
	struct trace_array *ch = take_add(test, "kunit_1"), *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots, *part[] = { s, ch->snapshots };
	struct trace_snap *used;
	struct snap_cond cond = { .wanted = take_use, .taken = take_store, .data = &used };
	struct snap_request req = take_kinds[TAKE_WAITS];
	unsigned int i;

	req.cond = &cond;
	tfs_set(test, "snapshot", "1");
	for (i = 0; i < ARRAY_SIZE(part); i++) {
		used = part[i]->user.last;
		KUNIT_ASSERT_NOT_NULL(test, used);
		scoped_guard(mutex, &s->mutex)
			KUNIT_EXPECT_EQ(test, snap_take_wait(s, &req), 0);
		KUNIT_EXPECT_NULL(test, req.own);
		KUNIT_EXPECT_PTR_NE(test, part[i]->user.last, used);
		scoped_guard(mutex, &part[i]->mutex)
			snap_put(part[i], used);
	}
	snap_kunit_expect(test, "taken 3");
}

struct take_other {
	struct trace_array	*tr;
	unsigned int		asked;
};

/* Another task has its buffer ready: write an event, and request a snapshot. */
static bool take_ask_other(void *data)
{
	struct take_other *other = data;

	if (!other->asked++) {
		trace_array_puts(other->tr, "event\n");
		tracing_snapshot_instance(other->tr);
	}
	return true;
}

/* The next buffer that is ready is that of a task that waits. Other requests share its snapshot. */
static void take_test_first(struct kunit *test)
{
	struct trace_array *ch = take_add(test, "kunit_1"), *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct take_other others[] = { { tr }, { ch } };
	struct snap_cond cond = { .wanted = take_ask_other, .taken = take_store };
	struct snap_request req = take_kinds[TAKE_WAITS];
	unsigned int i;

	req.cond = &cond;
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		cond.data = &others[i];
		scoped_guard(mutex, &s->mutex)
			KUNIT_EXPECT_EQ(test, snap_take_wait(s, &req), 0);
		KUNIT_EXPECT_EQ(test, s->user.seq, i + 1ULL);
		KUNIT_EXPECT_EQ(test, ch->snapshots->user.seq, i + 1ULL);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&others[i].tr->snapshots->count.merged), 1L);
		tfs_expect_in(test, "snapshot", " event");
	}
	snap_kunit_expect(test, "taken 2 merged 1");

	/* If the task takes none, they have one of their own at once, unless there is a delay. */
	snap_first_begin(s);
	tracing_snapshot_instance(tr);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, s->user.seq, 2ULL);
	snap_first_end(s);
	snap_kunit_expect(test, "taken 3 merged 2");
	tfs_set(test, "snapshot_delay", "1000s");
	snap_first_begin(s);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, snap_take_pending(s), -EAGAIN);
	snap_first_end(s);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), 1L);
	tfs_set(test, "snapshot_delay", "0");
	snap_kunit_expect(test, "taken 3 merged 2 refused 1");

	/* They do not wait for a task that does not get on. */
	snap_first_begin(s);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, snap_take_pending(s), -EAGAIN);
	KUNIT_EXPECT_EQ(test, s->user.seq, 3ULL);
	s->pending.at = 0;
	KUNIT_EXPECT_EQ(test, snap_take_pending(s), 0);
	KUNIT_EXPECT_EQ(test, s->user.seq, 4ULL);
	snap_first_end(s);
	snap_kunit_expect(test, "taken 4 merged 2 refused 1");
}

/* A storm has no more snapshots than the keeper keeps: each one that waits is a whole buffer. */
static void take_test_backlog(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tfs_set(test, "snapshot_keep", "9");
	/* Stops the keeper */
	scoped_guard(mutex, &event_mutex) {
		for (i = 0; i < 10; i++)
			snap_kunit_take(test);
		KUNIT_EXPECT_EQ(test, s->user.seq, 0ULL + SNAP_BACKLOG);
		KUNIT_EXPECT_LE(test, s->memory.kb, SNAP_BACKLOG * snap_kunit_full(test));
	}
	flush_work(&s->keeper.work);
	KUNIT_EXPECT_EQ(test, s->keeper.backlog, 0U);
	KUNIT_EXPECT_NOT_NULL(test, s->user.spare);
	snap_kunit_expect(test, "taken 4 starved 6");
}

/* A channel that has left a session brings nobody with it when it is back. */
static void take_test_back(struct kunit *test)
{
	take_add(test, "kunit_1");
	take_add(test, "kunit_2");
	KUNIT_EXPECT_EQ(test, trace_session_leave(test->priv, "kunit_1"), 0);
	KUNIT_EXPECT_EQ(test, trace_session_leave(test->priv, "kunit_2"), 0);
	KUNIT_EXPECT_EQ(test, trace_session_join(test->priv, "kunit_1", NULL), 0);
	tfs_set(test, "/instances/kunit_1/trace_marker", "mark");
	tfs_set(test, "/instances/kunit_2/trace_marker", "mark");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "/instances/kunit_1/trace"), 0U);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "/instances/kunit_2/trace"), 1U);
}

/* The snapshot of a latency tracer is not kept. The user's is kept with its parts, not it. */
static void take_test_max(struct kunit *test)
{
	struct tracer fake = { .use_max_tr = true };
	struct trace_array *tr = test->priv;

	KUNIT_ASSERT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	tfs_set(test, "snapshot_keep", "2");
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_MAX), 0);
	snap_tend(tr->snapshots);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit@1"));
	/* Nor do those that are kept keep it from being taken. */
	tfs_set(test, "snapshot_keep", "first 1");
	tfs_set(test, "snapshot", "1");
	snap_tend(tr->snapshots);
	KUNIT_EXPECT_EQ(test, tr->snapshots->keeper.room, 0);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_MAX), 0);
	tfs_set(test, "snapshot_keep", "0");

	take_add(test, "kunit_1");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_MAX), 0);
	tfs_set(test, "snapshot_keep", "2");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@2"));
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@2.kunit_1"));
}

static const bool take_bools[] = { false, true };
KUNIT_ARRAY_PARAM(take_bools, take_bools, NULL);

/* poll() wakes up for a new snapshot, and not for the one that the file shows. */
static void take_test_poll(struct kunit *test)
{
	const __poll_t ready = EPOLLIN | EPOLLRDNORM;
	struct poll_wqueues table;
	struct file *file;
	unsigned int i;

	/* A latency, which has no buffer */
	update_max_tr(test->priv, current, 0, RING_BUFFER_ALL_CPUS, 1);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	for (i = 0; i < 2; i++) {
		file = tfs_open(test, "snapshot", O_RDONLY);
		poll_initwait(&table);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
		KUNIT_EXPECT_EQ(test, table.triggered, 0);
		snap_kunit_take(test);
		KUNIT_EXPECT_EQ(test, table.triggered, 1);
		poll_freewait(&table);
		KUNIT_EXPECT_TRUE(test, vfs_poll(file, NULL) == ready);
		tfs_close(file);
		/* The same after a snapshot that was erased. */
		tfs_set(test, "snapshot", "2");
	}
	snap_kunit_expect(test, "taken 2 starved 1");
	file = tfs_open(test, "snapshot", O_WRONLY);
	KUNIT_EXPECT_TRUE(test, vfs_poll(file, NULL) == EPOLLERR);
	tfs_close(file);
}

/* Both the interrupt work and the worker wake: a task may begin to wait between the two. */
static void take_test_wake(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct poll_wqueues table;
	struct file *file;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	for (i = 0; i < 2; i++) {
		file = tfs_open(test, "snapshot", O_RDONLY);
		disable_work_sync(&s->worker.work);
		poll_initwait(&table);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
		if (i)
			set_bit(SNAP_WORK_QUEUED, &s->worker.work_for);
		tracing_snapshot_instance(test->priv);
		irq_work_sync(&s->worker.irq_work);
		KUNIT_EXPECT_EQ(test, table.triggered, i ? 0 : 1);
		enable_work(&s->worker.work);
		schedule_work(&s->worker.work);
		snap_kunit_worker(test->priv);
		KUNIT_EXPECT_EQ(test, table.triggered, 1);
		poll_freewait(&table);
		tfs_close(file);
	}
	snap_kunit_expect(test, "taken 2");
}

/* A request that is refused, before the first snapshot, allocates nothing. */
static void take_test_unused(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	snap_keep_set(s, (struct snap_keep){ .nr = 1 });
	tracing_snapshot_instance(test->priv);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.no_spare), 1L);
	snap_kunit_worker(test->priv);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
}

static struct kunit_case take_cases[] = {
	KUNIT_CASE(take_test_who),
	KUNIT_CASE(take_test_times),
	KUNIT_CASE(take_test_off),
	KUNIT_CASE(take_test_top),
	KUNIT_CASE(take_test_inside),
	KUNIT_CASE(take_test_halfway),
	KUNIT_CASE(take_test_stopped),
	KUNIT_CASE(take_test_waits),
	KUNIT_CASE(take_test_condition),
	KUNIT_CASE(take_test_joins),
	KUNIT_CASE(take_test_answered),
	KUNIT_CASE(take_test_counted),
	KUNIT_CASE(take_test_poll),
	KUNIT_CASE(take_test_wake),
	KUNIT_CASE(take_test_unused),
	{ }
};

static struct kunit_case take_buffer_cases[] = {
	KUNIT_CASE(take_test_read),
	KUNIT_CASE(take_test_cpu),
	KUNIT_CASE(take_test_cpu_fails),
	KUNIT_CASE(take_test_once),
	KUNIT_CASE(take_test_mapped),
	KUNIT_CASE_PARAM(take_test_died, take_bools_gen_params),
	KUNIT_CASE_PARAM(take_test_died_spare, take_bools_gen_params),
	KUNIT_CASE(take_test_died_channel),
	KUNIT_CASE(take_test_changing),
	KUNIT_CASE(take_test_used),
	KUNIT_CASE(take_test_first),
	KUNIT_CASE(take_test_backlog),
	KUNIT_CASE(take_test_back),
	KUNIT_CASE(take_test_max),
	{ }
};

static struct kunit_suite take_suite = {
	.name = "trace_snapshot_take",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = take_cases,
};

static struct kunit_suite take_buffer_suite = {
	.name = "trace_snapshot_buffer",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = take_buffer_cases,
};

kunit_test_suites(&take_suite, &take_buffer_suite);
