// SPDX-License-Identifier: GPL-2.0
/*
 * The cut that a snapshot takes: records since the last one are in the spare buffer,
 * later ones are in the live buffer, and the old records of the spare are dropped.
 */
#include "world.h"

/* The buffer holds the records from @first on, but for those that it says it lost. */
static void cut_expect(struct rbt *w, struct trace_buffer *buffer, u32 first, u32 end)
{
	unsigned long overrun = ring_buffer_overrun_cpu(buffer, w->cpu), lost;
	struct ring_buffer_event *rec;
	u32 num = first + overrun;
	u64 ts;

	KUNIT_EXPECT_EQ(w->test, ring_buffer_entries_cpu(buffer, w->cpu), end - (unsigned long)num);
	while (!w->failed) {
		rec = ring_buffer_consume(buffer, w->cpu, &ts, &lost);
		if (!rec)
			break;
		KUNIT_EXPECT_EQ(w->test, rbt_check(w, ring_buffer_event_data(rec), ts), num);
		KUNIT_EXPECT_EQ(w->test, lost, num == first + overrun ? overrun : 0);
		w->recs[num++].state = RBT_READ;
	}
	KUNIT_EXPECT_EQ(w->test, num, end);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_read_events_cpu(buffer, w->cpu),
			end - first - overrun);
}

static void cut_take(struct rbt *w)
{
	KUNIT_ASSERT_EQ(w->test, rbt_cut(w->buffer, w->other, RING_BUFFER_ALL_CPUS), 0);
	rbt_expect_empty(w, w->buffer);
}

static const struct cut_size {
	unsigned int	live;		/* sub-buffers */
	unsigned int	spare;
	unsigned int	flags;
} sizes[] = {
	{ 3, 3, RB_FL_OVERWRITE }, { 3, 3, 0 }, { 2, 7, RB_FL_OVERWRITE }, { 2, 7, 0 },
	{ 7, 2, RB_FL_OVERWRITE }, { 7, 2, 0 },
};

static void cut_desc_size(const struct cut_size *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u and %u, %s", p->live, p->spare,
		 p->flags ? "overwrite" : "keep");
}

KUNIT_ARRAY_PARAM(cut_size, sizes, cut_desc_size);

static void cut_open(struct rbt *w)
{
	const struct cut_size *p = w->test->param_value ?: sizes;

	rbt_open(w, p->live, p->flags);
	rbt_open_other(w, p->spare, p->flags);
}

/* One after the other: each has the records since the last one, read or not. */
static void cut_test_sequence(struct kunit *test)
{
	static const unsigned int writes[] = {
		1, 0, 7, 19, 20, 0, 0, 3, 200, 1, 250, 57, 0, 300, 38, 2, 500,
	};
	struct rbt *w = test->priv;
	unsigned int i, pass;
	u32 first;

	cut_open(w);
	for (i = 0; i < 2 * ARRAY_SIZE(writes) && !w->failed; i++) {
		pass = i / ARRAY_SIZE(writes);
		first = w->nr;
		rbt_write_n(w, 200, writes[i % ARRAY_SIZE(writes)]);
		cut_take(w);
		/* Refused records are missing at the end. */
		w->nr -= ring_buffer_dropped_events_cpu(w->other, w->cpu);
		if (!pass || i % 3)
			cut_expect(w, w->other, first, w->nr);
	}
}

static void cut_read(struct rbt *w, u32 num)
{
	struct ring_buffer_event *rec;
	unsigned long lost;
	u64 ts;

	rec = ring_buffer_consume(w->other, w->cpu, &ts, &lost);
	rbt_expect(w, rec, ts, num);
	KUNIT_EXPECT_EQ(w->test, lost, 0UL);
	w->recs[num].state = RBT_READ;
}

/* Records that were consumed before the cut are not in it; reading goes on in the sub-buffer. */
static void cut_test_read_half(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int read, i;
	u32 first;

	cut_open(w);
	for (read = 0; read < 60 && !w->failed; read++) {
		first = w->nr;
		rbt_write_n(w, 300, 25);
		rbt_consume_n(w, read);
		KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
		for (i = min(read, 25U); i < 25; i++)
			cut_read(w, first + i);
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->other, w->cpu));
		KUNIT_EXPECT_EQ(test, ring_buffer_read_events_cpu(w->other, w->cpu), 25UL);
	}
}

/* A record in flight belongs to the snapshot, and while it is, there is no other one. */
static void cut_test_in_flight(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	unsigned long entries;
	u32 num;

	cut_open(w);
	rbt_write_n(w, 200, 30);
	rec = rbt_must_reserve(w, 200, &num);
	cut_take(w);
	rbt_write_n(w, 200, 3);
	entries = ring_buffer_entries_cpu(w->other, w->cpu);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, RING_BUFFER_ALL_CPUS), -EBUSY);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 3UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), entries);
	rbt_commit(w, rec, num);
	cut_expect(w, w->other, 0, 31);
	cut_take(w);
	cut_expect(w, w->other, 31, 34);
}

/*
 * A writer's store to nest may reach other CPUs after two cuts, and until then they do not
 * see the writer. It is in the ring of the spare then, and that does not go live under it:
 * the next record can be read at once.
 */
static void cut_test_unseen(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	struct rb_ring *ring;
	unsigned int nest;
	u32 num;

	cut_open(w);
	rbt_write_n(w, 200, 5);
	rec = rbt_must_reserve(w, 200, &num);
	ring = rbt_ring(w);
	nest = ring->nest;
	ring->nest = 0;
	cut_take(w);
	cut_take(w);
	ring->nest = nest;
	KUNIT_EXPECT_PTR_NE(test, rbt_ring(w), ring);
	rbt_write(w, 200);
	KUNIT_EXPECT_FALSE(test, ring_buffer_empty(w->buffer));
	rbt_commit(w, rec, num);
	rbt_expect_empty(w, w->other);
	rbt_write_n(w, 200, 3);
	cut_take(w);
	cut_expect(w, w->other, 6, 10);
}

/*
 * An iterator goes on in the ring that the cut took away. Another cut makes that live
 * again: then the iterator ends with the records that it had copied.
 */
static void cut_test_iterator(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	u64 ts;

	cut_open(w);
	rbt_write_n(w, 200, 40);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, 5), 5U);
	cut_take(w);
	rbt_write_n(w, 200, 10);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 5, 25), 25U);
	cut_take(w);
	rbt_write_n(w, 200, 1);
	rbt_iterate(w, iter, 25, 40);
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, &ts));
	ring_buffer_read_finish(iter);
	cut_expect(w, w->other, 40, 50);
	cut_expect(w, w->buffer, 50, 51);
}

/* An iterator ends with the buffer that has its ring: nobody could erase that any more. */
static void cut_test_iterator_free(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;

	cut_open(w);
	rbt_write_n(w, 200, 40);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, 5), 5U);
	cut_take(w);
	rbt_drop_all(w);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_free(w->other);
	w->other = NULL;
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_read_finish(iter);
}

/* An iterator that is rewound begins with the records of that moment, after any cuts. */
static void cut_test_rewind(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	unsigned int cuts;
	u32 first;

	cut_open(w);
	rbt_write_n(w, 200, 10);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, 3), 3U);
	for (cuts = 1; cuts < 5; cuts++) {
		cut_take(w);
		first = w->nr;
		rbt_write_n(w, 200, 10);
		ring_buffer_iter_reset(iter);
		KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, first, w->nr), w->nr);
		KUNIT_EXPECT_FALSE(test, ring_buffer_iter_dropped(iter));
	}
	ring_buffer_read_finish(iter);
}

/* Between the cut and the first record: all else works on the ring as it is then. */
static void cut_test_fresh(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int what;
	u32 first;

	for (what = 0; what < 6 && !w->failed; what++) {
		cut_open(w);
		rbt_write_n(w, 200, 90);
		cut_take(w);
		rbt_write_n(w, 200, 50);
		cut_take(w);
		first = w->nr;
		switch (what) {
		case 0:
			rbt_resize(w, 6);
			break;
		case 1:
			ring_buffer_reset(w->buffer);
			break;
		case 2:
			KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
			break;
		case 3:
			ring_buffer_change_overwrite(w->buffer, 0);
			break;
		case 4:
			KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
			rbt_expect_empty(w, w->other);
			break;
		case 5:
			KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->other, 6 * rb_subbuf_room(0),
								 w->cpu), 0);
			cut_expect(w, w->other, 90, 140);
			break;
		}
		rbt_expect_empty(w, w->buffer);
		rbt_write_n(w, 200, 20);
		cut_expect(w, w->buffer, first, w->nr);
	}
}

/* Pages of the snapshot, exchanged or copied, hold its records. */
static void cut_test_pages(struct kunit *test)
{
	struct buffer_data_read_page *rpage;
	struct rbt *w = test->priv;
	struct rbt_page page;
	unsigned int i, records;
	u32 first;

	for (i = 0; i < 8 && !w->failed; i++) {
		if (!(i % 4))
			cut_open(w);
		rpage = rbt_page(w, w->buffer);
		first = w->nr;
		rbt_write_n(w, 200, 30);
		cut_take(w);
		records = 0;
		while (ring_buffer_read_page(w->other, rpage, i & 1 ? 1000 : PAGE_SIZE, w->cpu,
					     0) >= 0) {
			rbt_take_page(w, rpage, false, &page);
			records += page.records;
		}
		KUNIT_EXPECT_EQ(test, records, w->nr - first);
		ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	}
}

static void cut_test_refused(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct rb_cpu *rcpu;

	cut_open(w);
	rbt_write_n(w, 200, 5);
	rcpu = w->other->cpus[w->cpu];
	KUNIT_ASSERT_TRUE(test, rb_exchange_trylock(rcpu, 1));
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, RING_BUFFER_ALL_CPUS), -EBUSY);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->other, w->buffer, w->cpu), -EBUSY);
	rb_exchange_unlock(rcpu);
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->other, 1), 0);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), -EINVAL);
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->other, 0), 0);
	cut_expect(w, w->buffer, 0, 5);

	/* Whether they record does not matter. */
	rbt_write_n(w, 200, 5);
	ring_buffer_record_off(w->buffer);
	ring_buffer_record_disable(w->other);
	cut_take(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), 5UL);
	KUNIT_EXPECT_FALSE(test, rbt_write(w, 200));
	ring_buffer_record_on(w->buffer);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, 200));
	cut_expect(w, w->buffer, 11, 12);
}

static unsigned int cut_resizes;

static void cut_count_resizes(enum rb_race point, const char *name)
{
	cut_resizes += point == RB_RACE_GO_LIVE;
}

/*
 * A spare buffer is like the live one, and so it is after cuts. It is made in that size: a resize
 * would wait for each CPU.
 */
static void cut_test_spare(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	struct trace_buffer *spare;
	unsigned long size;
	int cpu;

	rbt_open(w, 5, 0);
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
	KUNIT_ASSERT_EQ(test, ring_buffer_resize(w->buffer, 9 * rb_subbuf_room(1), w->cpu), 0);
	ring_buffer_set_time_stamp_abs(w->buffer, true);

	cut_resizes = 0;
	WRITE_ONCE(rb_race_hook, cut_count_resizes);
	spare = ring_buffer_alloc_spare(w->buffer);
	WRITE_ONCE(rb_race_hook, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(spare));
	KUNIT_EXPECT_EQ(test, cut_resizes, 0U);
	w->other = spare;
	KUNIT_EXPECT_NULL(test, spare->cpus[w->cpu]->copies.rec[0]);
	KUNIT_EXPECT_EQ(test, spare->order, 1U);
	KUNIT_EXPECT_EQ(test, spare->flags, w->buffer->flags | RB_FL_SPARE);
	KUNIT_EXPECT_PTR_EQ(test, spare->clock, w->buffer->clock);
	KUNIT_EXPECT_TRUE(test, ring_buffer_time_stamp_abs(spare));
	for_each_possible_cpu(cpu) {
		size = ring_buffer_size(w->buffer, cpu);
		KUNIT_EXPECT_EQ(test, ring_buffer_size(spare, cpu), size);
	}
	rbt_write_n(w, 200, 30);
	cut_take(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(w->buffer, w->cpu), 9UL * rb_subbuf_room(1));
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(spare, w->cpu, NULL, NULL));
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(spare, w->cpu), 30UL);
	iter = rbt_iter(w, spare);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, U32_MAX), 30U);
	ring_buffer_read_finish(iter);

	/* It has no copies, whatever size its sub-buffers get: it cannot be consumed. */
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 0), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(spare, 0), 0);
	rbt_write_n(w, 200, 5);
	cut_take(w);
	KUNIT_EXPECT_NULL(test, ring_buffer_peek(spare, w->cpu, NULL, NULL));
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(spare, w->cpu, NULL, NULL));
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(spare, w->cpu), 5UL);
}

/* A spare buffer loses its records, and the next cut gives it new ones only. */
static void cut_test_forget(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	u32 num;

	cut_open(w);
	rbt_write_n(w, 200, 90);
	cut_take(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_forget(w->other), 0);
	rbt_expect_empty(w, w->other);
	KUNIT_EXPECT_EQ(test, ring_buffer_forget(w->other), 0);
	rbt_write_n(w, 200, 30);
	cut_take(w);
	cut_expect(w, w->other, 90, 120);

	rec = rbt_must_reserve(w, 200, &num);
	cut_take(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_forget(w->other), 0);
	rbt_expect_empty(w, w->other);
	rbt_commit(w, rec, num);
	rbt_expect_empty(w, w->other);
	rbt_write_n(w, 200, 3);
	cut_take(w);
	cut_expect(w, w->other, 121, 124);
}

/* A snapshot uses only the sub-buffers that hold unread records. */
static void cut_trim(struct rbt *w, unsigned int write, unsigned int read)
{
	size_t live = ring_buffer_memory(w->buffer);
	size_t full = ring_buffer_memory(w->other);
	unsigned long size = ring_buffer_size(w->other, w->cpu);
	u32 first = w->nr;
	size_t trimmed;

	rbt_write_n(w, 200, write);
	cut_take(w);
	for (; read; read--)
		cut_read(w, first++);
	trimmed = ring_buffer_trimmed_memory(w->other);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_trim(w->other), 0);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_memory(w->other), trimmed);
	if (write < 100)
		KUNIT_EXPECT_LT(w->test, ring_buffer_memory(w->other), full / 2);
	else
		KUNIT_EXPECT_EQ(w->test, ring_buffer_size(w->other, w->cpu), size);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_memory(w->buffer), live);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_entries_cpu(w->other, w->cpu),
			(unsigned long)w->nr - first);
	while (first < w->nr && !w->failed)
		cut_read(w, first++);
	KUNIT_EXPECT_TRUE(w->test, ring_buffer_empty(w->other));
	KUNIT_EXPECT_EQ(w->test, ring_buffer_resize(w->other, size, RING_BUFFER_ALL_CPUS), 0);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_memory(w->other), full);
}

static void cut_test_trim(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int n;

	rbt_open_two(w, 20, RB_FL_OVERWRITE);
	for (n = 0; n <= 60 && !w->failed; n += 10)
		cut_trim(w, n, 0);
	for (n = 10; n <= 60 && !w->failed; n += 10) {
		cut_trim(w, n, 1);
		cut_trim(w, n, 10);
	}
	cut_trim(w, 380, 0);
}

static struct kunit_case cut_test_cases[] = {
	KUNIT_CASE_PARAM(cut_test_sequence, cut_size_gen_params),
	KUNIT_CASE(cut_test_read_half),
	KUNIT_CASE(cut_test_in_flight),
	KUNIT_CASE(cut_test_unseen),
	KUNIT_CASE(cut_test_iterator),
	KUNIT_CASE(cut_test_iterator_free),
	KUNIT_CASE(cut_test_rewind),
	KUNIT_CASE(cut_test_fresh),
	KUNIT_CASE(cut_test_pages),
	KUNIT_CASE(cut_test_refused),
	KUNIT_CASE(cut_test_spare),
	KUNIT_CASE(cut_test_forget),
	KUNIT_CASE(cut_test_trim),
	{}
};

RBT_SUITE(cut);
