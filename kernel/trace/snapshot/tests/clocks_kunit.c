// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what other clocks show at a snapshot.
 */
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>

#include "../../tests/snapshots.h"

/* A clock that moves by steps, one for each read; the last one lasts. */
static u64 clocks_now, clocks_steps[8];
static unsigned int clocks_read;

static u64 clocks_clock(void)
{
	unsigned int i = min_t(unsigned int, clocks_read, ARRAY_SIZE(clocks_steps) - 1);

	clocks_read++;
	return clocks_now += clocks_steps[i];
}

static void clocks_take(struct kunit *test, const u64 *steps, unsigned int nr,
			struct trace_clocks *clocks)
{
	struct trace_array *tr = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks_steps); i++)
		clocks_steps[i] = steps[min(i, nr - 1)];
	ring_buffer_set_clock(tr->array_buffer.buffer, clocks_clock);
	clocks_read = 0;
	clocks_now = 0;
	trace_read_clocks(tr->array_buffer.buffer, clocks);
	ring_buffer_set_clock(tr->array_buffer.buffer, trace_clock_local);
}

/* Something that comes between makes it read the clocks again, and the closest reads count. */
static void clocks_test_close(struct kunit *test)
{
	static const u64 slow[] = { 1, 9000, 1, 100 }, worse[] = { 1, 700, 1, 600, 1, 900, 1 };
	static const u64 never[] = { 1000 };
	struct trace_clocks clocks;

	clocks_take(test, slow, ARRAY_SIZE(slow), &clocks);
	KUNIT_EXPECT_EQ(test, clocks.trace, 9002ULL);
	KUNIT_EXPECT_EQ(test, clocks.within, 100ULL);
	KUNIT_EXPECT_EQ(test, clocks_read, 4U);

	clocks_take(test, worse, ARRAY_SIZE(worse), &clocks);
	KUNIT_EXPECT_EQ(test, clocks.trace, 702ULL);
	KUNIT_EXPECT_EQ(test, clocks.within, 600ULL);
	KUNIT_EXPECT_EQ(test, clocks_read, 6U);

	clocks_take(test, never, ARRAY_SIZE(never), &clocks);
	KUNIT_EXPECT_EQ(test, clocks.trace, 1000ULL);
	KUNIT_EXPECT_EQ(test, clocks.within, 1000ULL);
	KUNIT_EXPECT_EQ(test, clocks_read, 4U);
}

/* User space finds the same clocks, and the trace says when they were read. */
static void clocks_test_same(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	u64 mono, boot, real;
	struct trace_clocks clocks;

	tfs_set(test, "trace_clock", "mono");
	mono = ktime_get_ns();
	boot = ktime_get_boottime_ns();
	real = ktime_get_real_ns();
	trace_read_clocks(tr->array_buffer.buffer, &clocks);
	KUNIT_EXPECT_LE(test, mono, clocks.trace);
	KUNIT_EXPECT_LE(test, clocks.trace, clocks.mono);
	KUNIT_EXPECT_LE(test, clocks.mono, clocks.trace + clocks.within);
	KUNIT_EXPECT_LE(test, clocks.trace + clocks.within, ktime_get_ns());
	KUNIT_EXPECT_LE(test, boot, clocks.boot);
	KUNIT_EXPECT_LE(test, clocks.boot, ktime_get_boottime_ns());
	KUNIT_EXPECT_LE(test, real, clocks.real);
	KUNIT_EXPECT_LE(test, clocks.real, ktime_get_real_ns());
}

/* The text of a field of the only line in the list */
static const char *clocks_field(struct kunit *test, const char *name)
{
	const char *at = strstr(tfs_read(test, "snapshots"), tfs_text(test, " %s=", name)), *end;

	KUNIT_ASSERT_NOT_NULL_MSG(test, at, "%s", name);
	at = strchr(at, '=') + 1;
	end = strchr(at, ' ');
	KUNIT_ASSERT_NOT_NULL(test, end);
	return tfs_text(test, "%.*s", (int)(end - at), at);
}

/* The list shows them at the cut, and those of the cut before. */
static void clocks_test_list(struct kunit *test)
{
	const char *before = NULL, *now;
	u64 end, trace;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		tfs_set(test, "snapshot", "1");
		snap_kunit_times(test, " cut=", &trace, &end);
		snap_kunit_times(test, " clocks=", &trace, NULL);
		KUNIT_EXPECT_GE(test, trace, end);
		now = clocks_field(test, "clocks");
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(now, ","), 4U, "%s", now);
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(now, "."), 4U, "%s", now);
		if (before)
			KUNIT_EXPECT_STREQ(test, clocks_field(test, "clocks_before"), before);
		before = now;
	}
	/* Where the clock of the trace changes, there are none of the other clock. */
	tfs_set(test, "trace_clock", "counter");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, tfs_count(clocks_field(test, "clocks"), "."), 3U);
	KUNIT_EXPECT_EQ(test, tfs_count(clocks_field(test, "clocks_before"), "."), 3U);
}

static struct kunit_case clocks_test_cases[] = {
	KUNIT_CASE(clocks_test_close),
	KUNIT_CASE(clocks_test_same),
	KUNIT_CASE(clocks_test_list),
	{ }
};

static struct kunit_suite clocks_test_suite = {
	.name = "trace_snapshot_clocks",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = clocks_test_cases,
};

kunit_test_suite(clocks_test_suite);
