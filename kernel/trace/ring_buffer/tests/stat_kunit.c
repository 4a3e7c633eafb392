// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics: written = read + overwritten + still there, at any moment in
 * which nothing is being written.
 */
#include <linux/trace_clock.h>

#include "world.h"

/* @len: bytes of payload of each record. */
static void stat_check(struct rbt *w, u32 written, unsigned int len)
{
	unsigned long read = ring_buffer_read_events_cpu(w->buffer, w->cpu);
	unsigned long over = ring_buffer_overrun_cpu(w->buffer, w->cpu);
	unsigned long left = ring_buffer_entries_cpu(w->buffer, w->cpu);

	if (written != read + over + left)
		rbt_fail(w, "%u written, %lu read, %lu overwritten, %lu left", written, read, over,
			 left);
	if (!left != ring_buffer_empty_cpu(w->buffer, w->cpu))
		rbt_fail(w, "%lu left, but empty is %d", left, !left);
	if (ring_buffer_bytes_cpu(w->buffer, w->cpu) != left * rb_record_len(len))
		rbt_fail(w, "%lu left in %lu bytes", left,
			 ring_buffer_bytes_cpu(w->buffer, w->cpu));
}

static const unsigned int lengths[] = { 4, 12, 100, 116, 1000, 4000 };

static void stat_desc_len(const unsigned int *len, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes", *len);
}

KUNIT_ARRAY_PARAM(stat_len, lengths, stat_desc_len);

/* After each step of a writer that is sometimes faster than the reader. */
static void stat_test_balance(struct kunit *test)
{
	unsigned int len = *(const unsigned int *)test->param_value, i, k, written;
	struct rbt *w = test->priv;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	written = 0;
	for (i = 0; i < 50 && !w->failed; i++) {
		for (k = 0; k < i; k++) {
			written += rbt_write(w, len);
			stat_check(w, written, len);
		}
		for (k = 0; k < i % 17; k++) {
			rbt_consume(w);
			stat_check(w, written, len);
		}
	}
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer),
			ring_buffer_entries_cpu(w->buffer, w->cpu));
	KUNIT_EXPECT_EQ(test, ring_buffer_overruns(w->buffer),
			ring_buffer_overrun_cpu(w->buffer, w->cpu));
	rbt_account(w);
}

/*
 * A sub-buffer counts the records of all its uses in a long. On 32 bits that comes
 * to its sign bit and wraps, and the running numbers of 64 bits go on.
 */
static void stat_test_wrap(struct kunit *test)
{
	static const unsigned long from[] = { LONG_MAX - 20, ULONG_MAX - 20 };
	struct rbt *w = test->priv;
	struct rb_ring *ring;
	unsigned int i, k;
	u64 first;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		rbt_open(w, 3, RB_FL_OVERWRITE);
		ring = rbt_ring(w);
		for (k = 0; k < ring->nr_subbufs; k++) {
			if (!ring->subbufs[k])
				continue;
			local_set(&ring->subbufs[k]->records, from[i]);
			ring->subbufs[k]->base = from[i];
		}
		first = rb_ring_written(ring);
		for (k = 1; k <= 500 && !w->failed; k++) {
			rbt_write(w, 100);
			KUNIT_EXPECT_EQ(test, rb_ring_written(ring), first + k);
			stat_check(w, k, 100);
		}
		rbt_account(w);
	}
}

/* The oldest time is that of the oldest record. */
static void stat_test_oldest(struct kunit *test)
{
	struct rbt *w = test->priv;
	u64 oldest;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, ring_buffer_oldest_event_ts(w->buffer, w->cpu), 0ULL);
	rbt_write_n(w, 500, 5);
	KUNIT_EXPECT_EQ(test, ring_buffer_oldest_event_ts(w->buffer, w->cpu), w->recs[0].time);
	rbt_write_n(w, 500, 50);
	oldest = ring_buffer_oldest_event_ts(w->buffer, w->cpu);
	KUNIT_ASSERT_TRUE(test, rbt_consume(w));
	KUNIT_EXPECT_EQ(test, w->recs[w->seen[0].num].time, oldest);
}

/* Unread sub-buffers, without the one that is written. */
static void stat_test_dirty(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, ring_buffer_nr_dirty_pages(w->buffer, w->cpu), (size_t)0);
	for (i = 0; i < 10; i++) {
		rbt_write(w, ring_buffer_max_event_size(w->buffer));
		KUNIT_EXPECT_EQ(test, ring_buffer_nr_dirty_pages(w->buffer, w->cpu),
				(size_t)min(i, 4U));
	}
	rbt_consume(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_nr_dirty_pages(w->buffer, w->cpu), (size_t)2);
}

/* Of CPUs that there are not, nothing is known. */
static void stat_test_no_cpu(struct kunit *test)
{
	static const int far[] = { -1, -2, -63, -64, -4096, INT_MIN, INT_MAX };
	struct rbt *w = test->priv;
	unsigned int i;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write(w, 4);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, nr_cpu_ids), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(w->buffer, nr_cpu_ids), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_bytes_cpu(w->buffer, -1), 0UL);
	for (i = 0; i < ARRAY_SIZE(far); i++)
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, far[i]), 0UL);
	/* Beyond any mask of CPUs. */
	for (i = nr_cpu_ids; i < 16384; i++)
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, i), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 1UL);
}

static void stat_expect_local(struct kunit *test, struct trace_buffer *buffer)
{
	u64 before, now, after;

	preempt_disable();
	before = trace_clock_local();
	now = ring_buffer_time_stamp(buffer);
	after = trace_clock_local();
	preempt_enable();
	KUNIT_EXPECT_GE(test, now, before);
	KUNIT_EXPECT_LE(test, now, after);
}

/* Without another clock, and after it, times are those of trace_clock_local(). */
static void stat_test_clock(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(PAGE_SIZE, RB_FL_OVERWRITE);
	struct rbt *w = test->priv;
	u64 now;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	stat_expect_local(test, buffer);
	ring_buffer_free(buffer);

	rbt_open(w, 2, RB_FL_OVERWRITE);
	now = ring_buffer_time_stamp(w->buffer);
	KUNIT_EXPECT_EQ(test, now, rbt_now);
	ring_buffer_set_clock(w->buffer, trace_clock_local);
	stat_expect_local(test, w->buffer);
}

static struct kunit_case stat_test_cases[] = {
	KUNIT_CASE_PARAM(stat_test_balance, stat_len_gen_params),
	KUNIT_CASE(stat_test_wrap),
	KUNIT_CASE(stat_test_oldest),
	KUNIT_CASE(stat_test_dirty),
	KUNIT_CASE(stat_test_no_cpu),
	KUNIT_CASE(stat_test_clock),
	{}
};

RBT_SUITE(stat);
