// SPDX-License-Identifier: GPL-2.0
/*
 * What takes a snapshot, what is in its way, and what the list says about it.
 */
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/trace_clock.h>

#include "tracefs.h"

/* The clock is read in the middle of a cut: what an interrupt there does, once. */
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

/* The list has a line for the newest snapshot: which one, and what asked for it. */
static void take_expect_line(struct kunit *test, unsigned int seq, const char *by)
{
	const char *list = snap_kunit_read(test, "snapshots");
	char want[64];

	snprintf(want, sizeof(want), "\n%u by=%s cpu=0 pid=%d cut=", seq, by, current->pid);
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_count(list, want), 1U, "%s in %s", want, list);
	snprintf(want, sizeof(want), " comm=%s\n", current->comm);
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_count(list, want), 1U, "%s", want);
	KUNIT_EXPECT_EQ(test, snap_kunit_count(list, "cut="), 1U);
}

static void take_test_who(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long before = snap_crash_set(BIT(SNAP_BY_WARN));

	snap_kunit_echo(test, "snapshot", "1");
	take_expect_line(test, 1, "write");
	tracing_snapshot_instance(tr);
	take_expect_line(test, 2, "kernel");
	snap_kunit_echo(test, "events/ftrace/print/trigger", "snapshot");
	snap_kunit_mark(test, 1);
	take_expect_line(test, 3, "trigger:print");
	preempt_count_add(NMI_OFFSET);
	tracing_snapshot_instance(tr);
	preempt_count_sub(NMI_OFFSET);
	take_expect_line(test, 4, "kernel,nmi");
	trace_snapshot_warn();
	take_expect_line(test, 5, "warn");
	snap_request_function(tr, (unsigned long)schedule);
	take_expect_line(test, 6, "function:schedule");
	snap_kunit_echo(test, "per_cpu/cpu0/snapshot", "1");
	take_expect_line(test, 7, "write");
	snap_kunit_expect(test, "taken 7");
	snap_kunit_echo(test, "events/ftrace/print/trigger", "!snapshot");
	snap_crash_set(before);
}

/* The times of a snapshot follow one another, by a clock that no two readings have in common. */
static void take_test_times(struct kunit *test)
{
	u64 begin, end, since, until, last = 0;
	const char *clock;
	unsigned int i;

	snap_kunit_echo(test, "trace_clock", "counter");
	for (i = 0; i < 4; i++) {
		snap_kunit_mark(test, 1);
		snap_kunit_echo(test, "snapshot", "1");
		snap_kunit_times(test, "cut=", &begin, &end);
		snap_kunit_times(test, "complete=", &since, &until);
		KUNIT_EXPECT_EQ(test, since, last);
		KUNIT_EXPECT_GT(test, begin, since);
		KUNIT_EXPECT_GT(test, end, begin);
		KUNIT_EXPECT_EQ(test, until, begin);
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 1U);
		last = end;
	}
	/* A kept one tells which clock it was. */
	snap_kunit_echo(test, "snapshot_keep", "1");
	snap_kunit_echo(test, "snapshot", "1");
	clock = snap_kunit_read(test, "/instances/kunit@5/trace_clock");
	KUNIT_EXPECT_EQ(test, snap_kunit_count(clock, "[counter]"), 1U);
	snap_kunit_echo(test, "snapshot_keep", "0");
}

/* The kernel's functions for the top trace array. */
static void take_test_top(struct kunit *test)
{
	const char *list, *clear = "0";
	unsigned int i;

	snap_kunit_echo(test, "/buffer_size_kb", "64");
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot(), 0);
	KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "/snapshot_allocate"), "1\n");
	/* It stays where others let go of theirs. */
	trace_snapshot_trim(top_trace_array());
	KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "/snapshot_allocate"), "1\n");
	for (i = 0; i < 2; i++) {
		snap_kunit_echo(test, "/trace_marker", "mark");
		if (i)
			tracing_snapshot_alloc();
		else
			tracing_snapshot();
		list = snap_kunit_read(test, "/snapshots");
		KUNIT_EXPECT_EQ_MSG(test, snap_kunit_count(list, " by=kernel "), 1U, "%s", list);
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "/snapshot"), 1U);
		snap_kunit_echo(test, "/snapshot_allocate", clear);
		KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "/snapshot_allocate"), "0\n");
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "/snapshot"), 0U);
	}
	/* Without memory there is none, and tracing goes on. */
	tracing_snapshot();
	list = snap_kunit_read(test, "/snapshots");
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_count(list, "ready: 1\n"), 1U, "%s", list);
	KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "/tracing_on"), "1\n");
}

static bool take_never(struct trace_array *tr, void *data)
{
	return false;
}

static bool take_always(struct trace_array *tr, void *data)
{
	return true;
}

/* Kinds of requests. */
enum { TAKE_KERNEL, TAKE_WAITS, TAKE_CRASH, TAKE_CPU, TAKE_COND, TAKE_MAX, TAKE_KINDS };

static const struct snap_request take_kinds[TAKE_KINDS] = {
	[TAKE_KERNEL]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL },
	[TAKE_WAITS]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_WRITE, .waits = true },
	[TAKE_CRASH]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_WARN, .now = true },
	[TAKE_CPU]	= { .cpu = 0, .by = SNAP_BY_KERNEL },
	[TAKE_COND]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRIGGER,
			    .update = take_always },
	[TAKE_MAX]	= { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRACER },
};

static int take_kind(struct kunit *test, unsigned int kind)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;

	return snap_take(s, kind == TAKE_MAX ? &s->max : &s->user, &take_kinds[kind]);
}

static unsigned int take_inner;

static void take_inside(struct kunit *test)
{
	KUNIT_EXPECT_NE(test, preempt_count(), 0);
	KUNIT_EXPECT_EQ(test, take_kind(test, take_inner), -EAGAIN);
}

/* A request that comes while a snapshot is taken is merged, told, or counted as refused. */
static void take_test_inside(struct kunit *test)
{
	unsigned int outer, inner, taken = 0, merged = 0, refused = 0;
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	char want[64];

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	mutex_lock(&s->mutex);
	KUNIT_EXPECT_EQ(test, snap_provide(s, &s->max), 0);
	mutex_unlock(&s->mutex);
	for (outer = 0; outer < TAKE_KINDS; outer++) {
		for (inner = 0; inner < TAKE_KINDS; inner++) {
			take_inner = inner;
			take_interrupt(test, take_inside);
			KUNIT_EXPECT_EQ(test, take_kind(test, outer), 0);
			taken += outer != TAKE_MAX;
			if (inner == TAKE_WAITS)
				continue;
			if (outer <= TAKE_CRASH && (inner == TAKE_KERNEL || inner == TAKE_CRASH))
				merged++;
			else
				refused++;
			snprintf(want, sizeof(want), "taken %u%s%.0u refused %u", taken,
				 merged ? " merged " : "", merged, refused);
			if (refused)
				snap_kunit_expect(test, want);
		}
	}
	take_interrupt(test, NULL);
	tracing_disarm_snapshot(tr);
}

/* In front of a request, something else is stopped for good: nothing waits for ever. */
static void take_test_stopped(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	unsigned int kind;
	unsigned long flags;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	flags = snap_change_begin(s);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	for (kind = 0; kind < TAKE_KINDS; kind++)
		KUNIT_EXPECT_EQ(test, take_kind(test, kind), -EAGAIN);
	snap_change_end(s, flags);
	snap_kunit_expect(test, "refused 5");
	/* And so it is if that was another CPU. */
	atomic_set(&s->busy, SNAP_CHANGING + 1);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), -EAGAIN);
	/* No more can join than are counted. */
	atomic_set(&s->busy, SNAP_CUTTING_ALL + INT_MAX / SNAP_JOINED * SNAP_JOINED);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), -EAGAIN);
	atomic_set(&s->busy, SNAP_CUTTING_ALL + (INT_MAX / SNAP_JOINED - 1) * SNAP_JOINED);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_xchg(&s->busy, SNAP_IDLE) / SNAP_JOINED,
			INT_MAX / SNAP_JOINED);
	snap_kunit_expect(test, "refused 7");
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_KERNEL), 0);
}

static bool take_is_idle;

static enum hrtimer_restart take_idle(struct hrtimer *timer)
{
	struct trace_array *tr = take_acting->priv;

	take_is_idle = true;
	atomic_set(&tr->snapshots->busy, SNAP_IDLE);
	return HRTIMER_NORESTART;
}

/* A crash waits for another taker, and so does a task that changes something. */
static void take_test_waits(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	unsigned int tries = 50;
	struct hrtimer timer;
	bool early;
	int ret;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	take_acting = test;
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = take_idle;
	take_is_idle = false;
	atomic_set(&s->busy, SNAP_CUTTING);
	hrtimer_start(&timer, ns_to_ktime(100 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
	trace_snapshot_begin_anew(tr);
	KUNIT_EXPECT_TRUE(test, take_is_idle);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	hrtimer_cancel(&timer);
	/* It does not wait for ever: a timer may be too slow for that. */
	do {
		atomic_set(&s->busy, SNAP_CUTTING);
		hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_HARD);
		ret = take_kind(test, TAKE_CRASH);
		hrtimer_cancel(&timer);
	} while (ret && --tries);
	KUNIT_EXPECT_EQ(test, ret, 0);
	tries = 50;
	/* Others do not wait. Where the timer was too fast to tell, it is tried again. */
	do {
		take_is_idle = false;
		atomic_set(&s->busy, SNAP_CUTTING);
		hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_HARD);
		ret = take_kind(test, TAKE_WAITS);
		early = READ_ONCE(take_is_idle);
		hrtimer_cancel(&timer);
	} while (early && --tries);
	atomic_set(&s->busy, SNAP_IDLE);
	KUNIT_EXPECT_FALSE(test, early);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	destroy_hrtimer_on_stack(&timer);
}

struct take_asked {
	struct kunit	*test;
	unsigned int	nr;
	bool		wanted;
};

static bool take_ask(struct trace_array *tr, void *data)
{
	struct take_asked *asked = data;

	asked->nr++;
	KUNIT_EXPECT_TRUE(asked->test, irqs_disabled());
	KUNIT_EXPECT_PTR_EQ(asked->test, tr, (struct trace_array *)asked->test->priv);
	return asked->wanted;
}

/* The condition of a trigger is asked last, and once. */
static void take_test_condition(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct take_asked asked = { .test = test, .wanted = true };

	trace_snapshot_trigger(tr->trace_marker_file, take_ask, &asked);
	KUNIT_EXPECT_EQ(test, asked.nr, 0U);
	snap_kunit_expect(test, "starved 1");

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	trace_snapshot_trigger(tr->trace_marker_file, take_ask, &asked);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, asked.nr, 1U);
	snap_kunit_expect(test, "taken 1 starved 1");
	take_expect_line(test, 1, "trigger:print");
	asked.wanted = false;
	snap_kunit_mark(test, 1);
	trace_snapshot_trigger(tr->trace_marker_file, take_ask, &asked);
	trace_snapshot_trigger(tr->trace_marker_file, take_never, NULL);
	KUNIT_EXPECT_EQ(test, asked.nr, 2U);
	snap_kunit_expect(test, "taken 1 starved 1");
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "trace"), 1U);
	tracing_disarm_snapshot(tr);
}

/* While a snapshot is read it stays; memory for the next one is there if that is reserved. */
static void take_test_read(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct file *file;
	unsigned int armed;

	for (armed = 0; armed < 2; armed++) {
		snap_kunit_echo(test, "snapshot", "1");
		if (armed)
			KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
		file = snap_kunit_open(test, "snapshot", O_RDONLY);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * (1 + armed));
		snap_kunit_mark(test, 1);
		tracing_snapshot_instance(tr);
		/* One CPU's part alone would change what is read. */
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), armed ? 0 : -ENOBUFS);
		snap_kunit_close(file);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
		if (armed)
			tracing_disarm_snapshot(tr);
	}
	snap_kunit_expect(test, "taken 4 starved 2");

	/* What was not used goes when the reader does. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	file = snap_kunit_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), -ENOBUFS);
	snap_kunit_echo(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	snap_kunit_worker(tr);
	snap_kunit_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_expect(test, "taken 5 starved 3");
	file = snap_kunit_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	snap_kunit_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	tracing_disarm_snapshot(tr);
}

/* One CPU's part goes into the newest snapshot, unless that is kept or of another size. */
static void take_test_cpu(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct snap_request none = take_kinds[TAKE_CPU];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	for (i = 1; i <= 2; i++) {
		snap_kunit_mark(test, i);
		KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), i);
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "per_cpu/cpu0/snapshot"), i);
	}
	none.cpu = nr_cpu_ids;
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &none), -EINVAL);
	snap_kunit_expect(test, "taken 2 starved 1 refused 1");
	snap_kunit_echo(test, "buffer_size_kb", "32");
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
	snap_kunit_echo(test, "snapshot_keep", "2");
	snap_tend(tr);
	KUNIT_EXPECT_EQ(test, take_kind(test, TAKE_CPU), 0);
	snap_kunit_expect(test, "taken 4 starved 1 refused 1");
	snap_kunit_echo(test, "snapshot_keep", "0");
	tracing_disarm_snapshot(tr);
}

/* A part of what user space has mapped is never written to again. */
static void take_test_mapped(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test), at;
	struct trace_array *tr = test->priv;
	struct file *file;
	unsigned int i;

	snap_kunit_echo(test, "snapshot_allocate", "1");
	file = snap_kunit_open(test, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	at = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	snap_kunit_mark(test, 1);
	tracing_snapshot_instance(tr);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 1 starved 1");
	snap_kunit_echo(test, "snapshot", "1");
	snap_kunit_expect(test, "taken 2 starved 1");
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);

	/* The worker has another one ready before that is asked for. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	at = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	for (i = 0; i < 2; i++) {
		snap_kunit_mark(test, 1);
		tracing_snapshot_instance(tr);
		snap_kunit_worker(tr);
	}
	snap_kunit_expect(test, "taken 4 starved 1");
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	snap_kunit_close(file);
	snap_kunit_echo(test, "snapshot", "1");
	snap_kunit_echo(test, "snapshot", "1");
	KUNIT_EXPECT_LE(test, snap_kunit_kb(test), full * 2);
	tracing_disarm_snapshot(tr);
}

/* A task dies in the middle of a record that goes with a snapshot. */
static void take_die(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, ring_buffer_lock_reserve(tr->array_buffer.buffer, 8));
	preempt_enable_notrace();
}

/* Then its buffer is of use again once the worker, or the next write, has waited for it. */
static void take_test_died(struct kunit *test)
{
	const bool writes = *(const bool *)test->param_value;
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	mutex_lock(&s->mutex);
	KUNIT_EXPECT_EQ(test, snap_arm(s, &s->max), 0);
	mutex_unlock(&s->mutex);
	take_die(test);
	tracing_snapshot_instance(tr);
	snap_kunit_mark(test, 1);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 1 refused 1");
	if (!writes)
		snap_kunit_worker(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "trace"), 1U);
	if (writes)
		snap_kunit_echo(test, "snapshot", "1");
	else
		tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2 refused 1");
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 1U);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 3 refused 1");
	mutex_lock(&s->mutex);
	snap_disarm(&s->max);
	mutex_unlock(&s->mutex);
	tracing_disarm_snapshot(tr);
}

/* And so it is once somebody has read it. */
static void take_test_died_read(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	take_die(test);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 0U);
	snap_kunit_mark(test, 1);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2");
	tracing_disarm_snapshot(tr);
}

/* The same if the buffer is a spare one, behind the newest snapshot. */
static void take_test_died_spare(struct kunit *test)
{
	const bool writes = *(const bool *)test->param_value;
	unsigned long full = snap_kunit_full(test), at;
	struct trace_array *tr = test->priv;
	struct file *file;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	file = snap_kunit_open(test, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	at = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	take_die(test);
	tracing_snapshot_instance(tr);
	snap_kunit_worker(tr);
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	snap_kunit_close(file);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2");
	snap_kunit_mark(test, 1);
	if (writes) {
		snap_kunit_echo(test, "snapshot", "1");
		snap_kunit_expect(test, "taken 3");
	} else {
		tracing_snapshot_instance(tr);
		snap_kunit_worker(tr);
		tracing_snapshot_instance(tr);
		snap_kunit_expect(test, "taken 3 refused 1");
	}
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 1U);
	snap_kunit_worker(tr);
	KUNIT_EXPECT_LE(test, snap_kunit_kb(test), full * 2);
	tracing_disarm_snapshot(tr);
	snap_kunit_echo(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

static const bool take_bools[] = { false, true };
KUNIT_ARRAY_PARAM(take_bools, take_bools, NULL);

/* A program that waits is woken by a new snapshot, and not for one that it has read. */
static void take_test_poll(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct poll_wqueues table;
	struct file *file;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	for (i = 0; i < 2; i++) {
		file = snap_kunit_open(test, "snapshot", O_RDONLY);
		KUNIT_ASSERT_FALSE(test, IS_ERR(file));
		poll_initwait(&table);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
		KUNIT_EXPECT_EQ(test, table.triggered, 0);
		tracing_snapshot_instance(tr);
		snap_kunit_worker(tr);
		KUNIT_EXPECT_EQ(test, table.triggered, 1);
		poll_freewait(&table);
		KUNIT_EXPECT_NE(test, (unsigned int)vfs_poll(file, NULL), 0U);
		snap_kunit_close(file);
		/* And so if there was one, and it is gone. */
		snap_kunit_echo(test, "snapshot", "2");
	}
	snap_kunit_expect(test, "taken 2");
}

static struct kunit_case take_cases[] = {
	KUNIT_CASE(take_test_who),
	KUNIT_CASE(take_test_times),
	KUNIT_CASE(take_test_top),
	KUNIT_CASE(take_test_inside),
	KUNIT_CASE(take_test_stopped),
	KUNIT_CASE(take_test_waits),
	KUNIT_CASE(take_test_condition),
	KUNIT_CASE(take_test_read),
	KUNIT_CASE(take_test_cpu),
	KUNIT_CASE(take_test_mapped),
	KUNIT_CASE_PARAM(take_test_died, take_bools_gen_params),
	KUNIT_CASE(take_test_died_read),
	KUNIT_CASE_PARAM(take_test_died_spare, take_bools_gen_params),
	KUNIT_CASE(take_test_poll),
	{ }
};

static struct kunit_suite take_suite = {
	.name = "trace_snapshot_take",
	.init = snap_kunit_init_small,
	.exit = snap_kunit_exit,
	.test_cases = take_cases,
};

kunit_test_suite(take_suite);
