// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of snapshots that have the last records only.
 */
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "../../tests/snapshots.h"

#define BAD_CLOCK	"trace_clock counts no nanoseconds: choose another one, such as local"

/* A clock that only the test moves, in ns. */
static u64 span_now;

static u64 span_clock(void)
{
	return span_now;
}

static void span_set_clock(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	span_now = NSEC_PER_SEC;
	ring_buffer_set_clock(tr->array_buffer.buffer, span_clock);
	/* The span that is complete begins by this clock. */
	tfs_set(test, "snapshot", "1");
}

/* Write a mark at 1 s, 2 s, and so on: @nr of them. Then it is so many seconds and a half. */
static void span_marks(struct kunit *test, unsigned int nr)
{
	unsigned int i;

	for (i = 1; i <= nr; i++) {
		span_now = i * NSEC_PER_SEC;
		tfs_mark(test, 1);
	}
	span_now += NSEC_PER_SEC / 2;
}

static unsigned int span_in_list(struct kunit *test, const char *part)
{
	return tfs_count(tfs_read(test, "snapshots"), part);
}

/* A snapshot of five marks, asked for by @text, has so many of them. */
static void span_expect(struct kunit *test, const char *text, unsigned int marks)
{
	span_marks(test, 5);
	tfs_set(test, "snapshot", text);
	KUNIT_EXPECT_EQ_MSG(test, tfs_marks(test, "snapshot"), marks, "%s", text);
}

/* Exactly the records of that time are there, and the list says it as soon as they are read. */
static void span_test_exact(struct kunit *test)
{
	static const char * const paths[] = { "snapshot", "per_cpu/cpu0/snapshot" };
	u64 since, until;
	unsigned int i;

	span_set_clock(test);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		span_marks(test, 5);
		tfs_set(test, paths[i], "2500ms");
		/* The list is no reader. */
		KUNIT_EXPECT_EQ(test, span_in_list(test, " records=5"), 1U);
		KUNIT_EXPECT_EQ(test, span_in_list(test, " left_out="), 0U);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 3U);
		KUNIT_EXPECT_EQ(test, span_in_list(test, " records=3"), 1U);
		KUNIT_EXPECT_EQ(test, span_in_list(test, " left_out=2"), 1U);
		KUNIT_EXPECT_EQ(test, span_in_list(test, " from=3.000000000"),
				(unsigned int)(!i || nr_cpu_ids == 1));
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 0U);
		if (i && nr_cpu_ids > 1)
			continue;
		snap_kunit_times(test, "complete=", &since, &until);
		KUNIT_EXPECT_EQ(test, since, i ? 5500000000ULL : 3000000000ULL);
		KUNIT_EXPECT_EQ(test, until, 5500000000ULL);
	}
	/* A reader that comes first finds the same. */
	span_expect(test, "1s", 1);
	/* A time that is longer than all leaves out nothing, and is no limit. */
	span_expect(test, "1000s", 5);
	KUNIT_EXPECT_EQ(test, span_in_list(test, "left_out="), 0U);
	/* The next one has all. */
	span_expect(test, "1", 5);
	KUNIT_EXPECT_EQ(test, span_in_list(test, "left_out="), 0U);
}

/* The time counts from the end of the recording. */
static void span_test_off(struct kunit *test)
{
	span_set_clock(test);
	span_marks(test, 5);
	tfs_set(test, "tracing_on", "0");
	span_now = 1000 * NSEC_PER_SEC;
	tfs_set(test, "snapshot", "1s");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
	KUNIT_EXPECT_EQ(test, span_in_list(test, " from=4.500000000 left_out=4"), 1U);
	tfs_set(test, "tracing_on", "1");
	/* The switch of all buffers tells no time: nothing is left out. */
	span_marks(test, 5);
	tfs_set(test, "/tracing_on_all", "0");
	tfs_set(test, "snapshot", "1s");
	tfs_set(test, "/tracing_on_all", "1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 5U);
}

/* snapshot_keep sets it for all requests, but for those with a time of their own. */
static void span_test_keep(struct kunit *test)
{
	static const char * const texts[][2] = {
		{ "last 1500ms", "last 1500ms" }, { "20ms", "last 20ms" }, { "0", "0" },
		{ "2 1s", "last 2 1s" }, { "last  3  1000us", "last 3 1ms" }, { "7", "last 7" },
		{ "first 1 60s", "first 1 60s" }, { "0 1s", "last 1s" }, { "last 0", "0" },
		{ "first 4294967295 18446744073709551614ns",
		  "first 4294967295 18446744073709551614ns" },
		{ "0", "0" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		tfs_set(test, "snapshot_keep", texts[i][0]);
		tfs_expect(test, "snapshot_keep", tfs_text(test, "%s\n", texts[i][1]));
		/* It takes back what it shows. */
		tfs_set(test, "snapshot_keep", tfs_text(test, "%s\n", texts[i][1]));
		tfs_expect(test, "snapshot_keep", tfs_text(test, "%s\n", texts[i][1]));
	}
	span_set_clock(test);
	tfs_set(test, "snapshot_keep", "last 2 2500ms");
	for (i = 1; i <= 2; i++) {
		span_marks(test, 5);
		if (i == 1)
			tfs_set(test, "snapshot", "1");
		else
			snap_kunit_take(test);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 3U);
	}
	span_marks(test, 5);
	tfs_set(test, "snapshot", "1s");
	/* Earlier snapshots stay as they are. */
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "/instances/kunit@3/trace"), 3U);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "/instances/kunit@4/trace"), 1U);
	tfs_expect_in(test, "/instances/kunit@4/snapshots", " from=4.500000000 left_out=4");
	span_expect(test, "1000s", 5);
}

/* The sub-buffers of records that are left out are freed. */
static void span_test_memory(struct kunit *test)
{
	unsigned long all, last;

	tfs_set(test, "snapshot_keep", "2");
	span_set_clock(test);
	tfs_mark(test, 800);
	tfs_set(test, "snapshot", "1");
	all = READ_ONCE(snap_kunit(test)->user.last->kb);
	tfs_mark(test, 800);
	span_now += NSEC_PER_SEC;
	tfs_mark(test, 1);
	tfs_set(test, "snapshot", "1ms");
	last = READ_ONCE(snap_kunit(test)->user.last->kb);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
	KUNIT_EXPECT_LE(test, last + 5 * PAGE_SIZE / 1024, all);
}

/*
 * A cut answers a plain request that came before it, if it has all records that are wanted. Else
 * its snapshot stays: a second one is taken only where snapshots are kept.
 */
static void span_test_join(struct kunit *test)
{
	static const struct {
		const char	*keep;
		const char	*text;
		unsigned int	taken;
		unsigned int	merged;
		unsigned int	late;
	} cuts[] = {
		{ "0", "1", 1, 1, 0 }, { "0", "1s", 1, 0, 1 }, { "last 1s", "1", 1, 1, 0 },
		{ "last 1s", "1s", 1, 1, 0 }, { "last 1s", "2s", 1, 1, 0 },
		{ "last 2s", "1s", 1, 0, 1 }, { "last 2 2s", "1s", 2, 0, 0 },
		{ "last 2 2s", "3s", 1, 1, 0 },
	};
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int i;
	long merged, late;
	u64 seq;

	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		tfs_set(test, "snapshot_keep", cuts[i].keep);
		seq = s->user.seq;
		merged = atomic_long_read(&s->count.merged);
		late = atomic_long_read(&s->count.late);
		tfs_set(test, "snapshot", cuts[i].text);
		/* As if the cut came while the request waits for the lock. */
		s->past.done = s->past.cuts + 2;
		tracing_snapshot_instance(test->priv);
		s->past.done = s->past.cuts;
		KUNIT_EXPECT_EQ_MSG(test, s->user.seq - seq, cuts[i].taken, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&s->count.merged) - merged,
				    (long)cuts[i].merged, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&s->count.late) - late,
				    (long)cuts[i].late, "%u", i);
	}
}

static void span_request(struct kunit *test, u64 span)
{
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_KERNEL,
		.span = span,
		/* As a write does, it handles an error itself. */
		.waits = true,
	};
	struct trace_snapshots *s = snap_kunit(test);

	if (span)
		KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req), -EINPROGRESS);
	else
		tracing_snapshot_instance(test->priv);
}

/* A snapshot that answers several requests has the longest time that one of them wants. */
static void span_test_pending(struct kunit *test)
{
	static const struct {
		const char	*keep;
		u64		asks[3];	/* in s; 0: no time */
		unsigned int	nr;
		unsigned int	marks;
	} cases[] = {
		{ "0", { 1 }, 1, 1 }, { "0", { 1, 3, 2 }, 3, 3 }, { "0", { 1, 0 }, 2, 5 },
		{ "0", { 0, 1 }, 2, 5 }, { "last 2s", { 1, 0 }, 2, 2 },
		{ "last 2s", { 0, 3 }, 2, 3 }, { "last 2s", { 1 }, 1, 1 },
	};
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int i, j;

	tfs_set(test, "snapshot_allocate", "1");
	span_set_clock(test);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		tfs_set(test, "snapshot_keep", cases[i].keep);
		tfs_set(test, "snapshot_delay", "1000s");
		span_marks(test, 5);
		/* One that is cancelled leaves nothing behind. */
		span_request(test, 100 * NSEC_PER_SEC);
		tfs_set(test, "snapshot_delay", "1000s");
		for (j = 0; j < cases[i].nr; j++)
			span_request(test, cases[i].asks[j] * NSEC_PER_SEC);
		/* The time counts back from the first request, however long it waits. */
		span_now += 100 * NSEC_PER_SEC;
		scoped_guard(snap_change, s)
			WRITE_ONCE(s->pending.at, 0);
		KUNIT_EXPECT_EQ(test, snap_take_pending(s), 0);
		KUNIT_EXPECT_EQ_MSG(test, tfs_marks(test, "snapshot"), cases[i].marks, "%u", i);
	}
}

/* So has the snapshot of a task that others wait for. */
static void span_test_first(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int i;

	tfs_set(test, "snapshot_allocate", "1");
	span_set_clock(test);
	for (i = 0; i < 3; i++) {
		span_marks(test, 5);
		if (i == 2)
			tfs_set(test, "snapshot_keep", "last 2500ms");
		snap_first_begin(s);
		if (i)
			tracing_snapshot_instance(test->priv);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), (long)!!i);
		/* The event of that request is in it, although the task is slow. */
		if (i)
			span_now += 100 * NSEC_PER_SEC;
		tfs_set(test, "snapshot", "1s");
		snap_first_end(s);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), i ? 7U - 2 * i : 1U);
	}
	snap_kunit_expect(test, "taken 4 merged 2");
}

/* A request in an NMI that comes behind the claim of those before wants all, for its own cut. */
static void span_test_claim(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct snap_claim claim;
	unsigned long flags;

	tfs_set(test, "snapshot_allocate", "1");
	span_set_clock(test);
	tfs_set(test, "snapshot_delay", "1000s");
	span_request(test, NSEC_PER_SEC);
	flags = snap_change_begin(s, snap_lock);
	span_now = 3 * NSEC_PER_SEC;
	snap_claim_pending(s, &claim);
	KUNIT_EXPECT_EQ(test, claim.requests, 1L);
	KUNIT_EXPECT_EQ(test, claim.partial, 1L);
	KUNIT_EXPECT_EQ(test, claim.span, (u64)NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, claim.asked, (u64)NSEC_PER_SEC);
	/* It finds the lock held by its CPU. */
	tracing_snapshot_instance(test->priv);
	snap_end_pending(s, claim.requests, -ECANCELED);
	snap_claim_pending(s, &claim);
	KUNIT_EXPECT_EQ(test, claim.requests, 1L);
	KUNIT_EXPECT_EQ(test, claim.partial, 0L);
	KUNIT_EXPECT_EQ(test, claim.span, 0ULL);
	KUNIT_EXPECT_EQ(test, claim.asked, 3ULL * NSEC_PER_SEC);
	snap_claim_pending(s, &claim);
	KUNIT_EXPECT_EQ(test, claim.requests, 0L);
	KUNIT_EXPECT_EQ(test, claim.asked, U64_MAX);
	snap_change_end(s, snap_unlock, flags);
}

/* Texts that are refused change nothing. */
static void span_test_refused(struct kunit *test)
{
	static const char * const files[] = {
		"snapshot", "per_cpu/cpu0/snapshot", "snapshot_keep",
	};
	static const char * const bad[] = {
		"0s", "20 ms", "20m", "-20ms", "1.5s", "20msx", "18446744073s 1",
		"18446744074s", "20ms 20ms", "20MS",
	};
	unsigned int i, j;

	tfs_set(test, "snapshot_keep", "last 3 1s");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		for (j = 0; j < ARRAY_SIZE(bad); j++)
			tfs_refuse(test, files[i], bad[j], -EINVAL);
	}
	tfs_refuse(test, "snapshot_keep", "first 1s", -EINVAL);
	tfs_refuse(test, "snapshot_keep", "2 0s", -EINVAL);
	tfs_empty(test, "error_log");
	tfs_set(test, "trace_clock", "counter");
	tfs_fails(test, "snapshot", "20ms", -EINVAL, BAD_CLOCK);
	tfs_fails(test, "snapshot_keep", "last 20ms", -EINVAL, BAD_CLOCK);
	tfs_expect(test, "snapshot_keep", "last 3 1s\n");
	snap_kunit_expect(test, "");
	/* The clock counts no time: nothing is left out. */
	tfs_mark(test, 2);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 2U);
	KUNIT_EXPECT_EQ(test, span_in_list(test, "left_out="), 0U);
}

static struct kunit_case span_test_cases[] = {
	KUNIT_CASE(span_test_exact),
	KUNIT_CASE(span_test_off),
	KUNIT_CASE(span_test_keep),
	KUNIT_CASE(span_test_memory),
	KUNIT_CASE(span_test_join),
	KUNIT_CASE(span_test_pending),
	KUNIT_CASE(span_test_first),
	KUNIT_CASE(span_test_claim),
	KUNIT_CASE(span_test_refused),
	{ }
};

static struct kunit_suite span_test_suite = {
	.name = "trace_snapshot_span",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = span_test_cases,
};

kunit_test_suite(span_test_suite);
