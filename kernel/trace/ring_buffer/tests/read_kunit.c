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

/* A consumed record stays while its place is written again, and one more is read. */
static void read_test_copy_stays(struct kunit *test)
{
	struct ring_buffer_event *first, *second;
	struct rbt *w = test->priv;
	u64 ts, ts2;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 2);
	first = ring_buffer_consume(w->buffer, w->cpu, &ts, NULL);
	KUNIT_ASSERT_NOT_NULL(test, first);
	rbt_write_n(w, 1000, 50);
	second = ring_buffer_peek(w->buffer, w->cpu, &ts2, NULL);
	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_EXPECT_EQ(test, rbt_check(w, ring_buffer_event_data(first), ts), 0U);
	KUNIT_EXPECT_NE(test, rbt_check(w, ring_buffer_event_data(second), ts2), 0U);
}

/* The first record behind a loss reports it, for any mix of speeds. */
static void read_test_lost(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int burst, i;

	for (burst = 1; burst < 60 && !w->failed; burst += 6) {
		rbt_open(w, 3, RB_FL_OVERWRITE);
		for (i = 0; i < 40; i++) {
			rbt_write_n(w, 300 + 10 * i, burst);
			rbt_consume(w);
			if (i % 3)
				rbt_consume(w);
		}
		rbt_account(w);
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

/*
 * A dump is shown records and takes none. That a reader holds the
 * lock is left out: on one CPU, a lock that is looked at knows of no trylock.
 */
static void read_test_dump(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	unsigned long flags;
	unsigned int i;
	u64 ts;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 300, 20);
	local_irq_save(flags);
	iter = ring_buffer_dump_start(w->buffer, w->cpu);
	for (i = 0; i < 20; i++) {
		rec = ring_buffer_iter_peek(iter, &ts);
		if (!rec || rbt_check(w, ring_buffer_event_data(rec), ts) != i)
			break;
		ring_buffer_iter_advance(iter);
	}
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, i, 20U);
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, 20U);
}

/* An iterator sees the records that a reader would take, also twice, and takes none. */
static void read_test_iterate(struct kunit *test)
{
	struct ring_buffer_iter *iter, *second;
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	unsigned int turn, i;
	u64 ts;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_TRUE(test, ring_buffer_iter_empty(iter));
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, &ts));
	ring_buffer_read_finish(iter);
	rbt_write_n(w, 500, 20);
	rbt_consume(w);
	rbt_consume(w);
	iter = rbt_iter(w, w->buffer);
	second = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_iter_empty(iter));
	for (turn = 0; turn < 2; turn++) {
		for (i = 2; i < 20; i++) {
			rec = ring_buffer_iter_peek(iter, &ts);
			if (!rec || rbt_check(w, ring_buffer_event_data(rec), ts) != i)
				break;
			KUNIT_EXPECT_FALSE(test, ring_buffer_iter_dropped(iter));
			ring_buffer_iter_advance(iter);
		}
		KUNIT_EXPECT_EQ(test, i, 20U);
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
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	u64 ts;
	u32 i;

	rbt_open(w, 40, RB_FL_OVERWRITE);
	rbt_write_n(w, 100, 1200);
	iter = rbt_iter(w, w->buffer);
	for (i = 0; i < 1200 && !w->failed; i++) {
		rec = ring_buffer_iter_peek(iter, &ts);
		rbt_expect(w, rec, ts, i);
		KUNIT_ASSERT_FALSE(test, ring_buffer_iter_dropped(iter));
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* An iterator that is overtaken reports it, and goes on at the oldest record. */
static void read_test_iterate_overtaken(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	unsigned int dropped = 0;
	u32 num, next = 0;
	u64 ts;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 500, 10);
	iter = rbt_iter(w, w->buffer);
	while ((rec = ring_buffer_iter_peek(iter, &ts)) && !w->failed) {
		num = rbt_check(w, ring_buffer_event_data(rec), ts);
		KUNIT_EXPECT_GE(test, num, next);
		KUNIT_EXPECT_EQ(test, ring_buffer_iter_dropped(iter), num != next);
		dropped += ring_buffer_iter_dropped(iter);
		next = num + 1;
		ring_buffer_iter_advance(iter);
		if (num == 3)
			rbt_write_n(w, 500, 60);
	}
	KUNIT_EXPECT_EQ(test, dropped, 1U);
	KUNIT_EXPECT_EQ(test, next, w->nr);
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* Resizes carry an iterator along, several at once as well: it sees each record once. */
static void read_test_iterate_resize(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	u32 num, next = 0;
	u64 ts;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	rbt_write_n(w, 500, 24);
	iter = rbt_iter(w, w->buffer);
	while ((rec = ring_buffer_iter_peek(iter, &ts)) && !w->failed) {
		num = rbt_check(w, ring_buffer_event_data(rec), ts);
		KUNIT_EXPECT_EQ(test, num, next);
		next = num + 1;
		ring_buffer_iter_advance(iter);
		if (num == 5) {
			ring_buffer_resize(w->buffer, 9 * rb_subbuf_room(0), w->cpu);
			ring_buffer_resize(w->buffer, 12 * rb_subbuf_room(0), w->cpu);
		}
		if (num == 9)
			rbt_write_n(w, 500, 3);
	}
	KUNIT_EXPECT_EQ(test, next, 27U);
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

static struct kunit_case read_test_cases[] = {
	KUNIT_CASE(read_test_peek),
	KUNIT_CASE(read_test_copy_stays),
	KUNIT_CASE(read_test_lost),
	KUNIT_CASE(read_test_nothing),
	KUNIT_CASE(read_test_dump),
	KUNIT_CASE(read_test_iterate),
	KUNIT_CASE(read_test_iterate_wrap),
	KUNIT_CASE(read_test_iterate_overtaken),
	KUNIT_CASE(read_test_iterate_resize),
	{}
};

RBT_SUITE(read);
