// SPDX-License-Identifier: GPL-2.0
/*
 * Peek, consume, and the losses that the reader reports; iterating.
 */
#include "world.h"

/* A peek shows the record of the next consume, and takes nothing. */
static void read_test_peek(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	unsigned long lost;
	unsigned int i;
	u64 ts;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write_n(w, 24, 3);
	for (i = 0; i < 3; i++) {
		rec = ring_buffer_peek(w->buffer, w->cpu, &ts, &lost);
		rbt_expect(w, rec, ts, i);
		KUNIT_EXPECT_EQ(test, lost, 0UL);
		rec = ring_buffer_peek(w->buffer, w->cpu, &ts, &lost);
		rbt_expect(w, rec, ts, i);
		KUNIT_EXPECT_TRUE(test, rbt_consume(w));
		KUNIT_EXPECT_EQ(test, w->seen[i].num, i);
	}
	KUNIT_EXPECT_NULL(test, ring_buffer_peek(w->buffer, w->cpu, &ts, &lost));
	rbt_account(w);
}

/* A consumed record stays while its place is written again, and whatever becomes of the rings. */
static void read_test_copy_stays(struct kunit *test)
{
	struct ring_buffer_event *first, *second;
	static const int orders[] = { 0, 1, 0, 2, 3, 1 };	/* behind 0 or 1, in turn */
	struct rbt *w = test->priv;
	unsigned int i;
	u64 ts, ts2;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		rbt_open(w, 4, RB_FL_OVERWRITE);
		KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, i % 2), 0);
		rbt_write_n(w, 2000, 2);
		first = ring_buffer_consume(w->buffer, w->cpu, &ts, NULL);
		KUNIT_ASSERT_NOT_NULL(test, first);
		rbt_write_n(w, 1000, 50);
		KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, orders[i]), 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 6 * PAGE_SIZE, w->cpu), 0);
		rbt_write(w, 1000);
		second = ring_buffer_peek(w->buffer, w->cpu, &ts2, NULL);
		KUNIT_ASSERT_NOT_NULL(test, second);
		KUNIT_EXPECT_EQ(test, rbt_check(w, ring_buffer_event_data(first), ts), 0U);
		KUNIT_EXPECT_NE(test, rbt_check(w, ring_buffer_event_data(second), ts2), 0U);
	}
}

/* Nothing to read, and CPUs that there are not. */
static void read_test_nothing(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(w->buffer));
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(w->buffer, w->cpu, NULL, NULL));
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(w->buffer, -1, NULL, NULL));
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(w->buffer, nr_cpu_ids, NULL, NULL));
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->buffer, nr_cpu_ids));
	KUNIT_EXPECT_NULL(test, ring_buffer_read_start(w->buffer, nr_cpu_ids, GFP_KERNEL));
	rbt_write(w, 4);
	KUNIT_EXPECT_FALSE(test, ring_buffer_empty(w->buffer));
}

/* An iterator sees the records that a reader would take, also twice, and takes none. */
static void read_test_iterate(struct kunit *test)
{
	struct ring_buffer_iter *iter, *second;
	struct rbt *w = test->priv;
	unsigned int turn;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_TRUE(test, ring_buffer_iter_empty(iter));
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_read_finish(iter);
	rbt_write_n(w, 500, 20);
	rbt_consume_n(w, 2);
	iter = rbt_iter(w, w->buffer);
	second = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_iter_empty(iter));
	for (turn = 0; turn < 2; turn++) {
		KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 2, U32_MAX), 20U);
		KUNIT_EXPECT_TRUE(test, ring_buffer_iter_empty(iter));
		ring_buffer_iter_reset(iter);
	}
	/* Another one is where it was. */
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, second, 2, U32_MAX), 20U);
	ring_buffer_read_finish(second);
	ring_buffer_read_finish(iter);
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, 20U);
}

/* Running numbers pass 0 after the first 1000 records, see RB_FIRST_NUM: nothing is lost there. */
static void read_test_iterate_wrap(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;

	rbt_open(w, 40, RB_FL_OVERWRITE);
	rbt_write_n(w, 100, 1200);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, U32_MAX), 1200U);
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* Resizes carry an iterator along, several at once as well: it sees each record once. */
static void read_test_iterate_resize(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	rbt_write_n(w, 500, 24);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, 6), 6U);
	rbt_resize(w, 9);
	rbt_resize(w, 12);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 6, 10), 10U);
	rbt_write_n(w, 500, 3);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 10, U32_MAX), 27U);
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

static struct kunit_case read_test_cases[] = {
	KUNIT_CASE(read_test_peek),
	KUNIT_CASE(read_test_copy_stays),
	KUNIT_CASE(read_test_nothing),
	KUNIT_CASE(read_test_iterate),
	KUNIT_CASE(read_test_iterate_wrap),
	KUNIT_CASE(read_test_iterate_resize),
	{}
};

RBT_SUITE(read);
