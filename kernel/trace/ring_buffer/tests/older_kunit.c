// SPDX-License-Identifier: GPL-2.0
/*
 * A cut that is asked for the records from a time on: older ones are dropped when all writers have
 * committed, and the statistics begin at that time.
 */
#include "world.h"

/* Records of a buffer of 7 sub-buffers: none is overwritten, and some are. */
static const unsigned int older_writes[] = { 40, 300 };

static void older_desc(const unsigned int *writes, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u", *writes);
}

KUNIT_ARRAY_PARAM(older, older_writes, older_desc);

static void older_cut(struct rbt *w, u64 from)
{
	const struct ring_buffer_cut one = {
		.live = w->buffer,
		.spare = w->other,
		.from = from,
	};

	KUNIT_ASSERT_EQ(w->test, ring_buffer_cut_all(&one, RING_BUFFER_ALL_CPUS), 0);
}

static void older_expect_counts(struct rbt *w, u32 first, u32 end, unsigned long older,
				unsigned long overrun)
{
	struct kunit *test = w->test;

	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), end - first + 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_older_cpu(w->other, w->cpu), older);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->other, w->cpu), overrun);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_events_cpu(w->other, w->cpu), 0UL);
}

/* Records @first to @end are there, both for an iterator and for a consumer, and no loss before. */
static void older_expect_records(struct rbt *w, u32 first, u32 end, unsigned long overrun)
{
	struct ring_buffer_iter *iter = rbt_iter(w, w->other);
	struct ring_buffer_event *rec;
	unsigned long lost;
	u32 num;
	u64 ts;

	KUNIT_EXPECT_EQ(w->test, rbt_iterate(w, iter, first, end), end);
	ring_buffer_read_finish(iter);
	for (num = first; num < end && !w->failed; num++) {
		rec = ring_buffer_consume(w->other, w->cpu, &ts, &lost);
		rbt_expect(w, rec, ts, num);
		KUNIT_EXPECT_EQ(w->test, lost, num == first ? overrun : 0);
		w->recs[num].state = RBT_READ;
	}
	KUNIT_EXPECT_TRUE(w->test, ring_buffer_empty_cpu(w->other, w->cpu));
}

/* For each record: those from its time on stay, exactly. */
static void older_test_exact(struct kunit *test)
{
	unsigned int writes = *(const unsigned int *)test->param_value, n;
	struct rbt *w = test->priv;
	unsigned long overrun, older;
	u32 first, oldest, from;
	u64 since;

	rbt_open(w, 7, RB_FL_OVERWRITE);
	rbt_open_other(w, 7, RB_FL_OVERWRITE);
	for (n = 0; n < 45 && !w->failed; n += writes > 100 ? 4 : 1) {
		first = w->nr;
		rbt_write_n(w, 200, writes);
		overrun = ring_buffer_overrun_cpu(w->buffer, w->cpu);
		oldest = first + overrun;
		from = first + writes - min(writes, n);
		older_cut(w, from < w->nr ? w->recs[from].time : w->recs[from - 1].time + 1);
		from = max(from, oldest);
		older = from - oldest;

		ring_buffer_drop_older(w->other);
		older_expect_counts(w, from, w->nr, older, older ? 0 : overrun);
		since = ring_buffer_complete_since(w->other, w->cpu);
		if (older)
			KUNIT_EXPECT_EQ(test, since, from < w->nr ? w->recs[from].time :
					w->recs[from - 1].time + 1);
		/* Once more changes nothing. */
		ring_buffer_drop_older(w->other);
		older_expect_counts(w, from, w->nr, older, older ? 0 : overrun);
		older_expect_records(w, from, w->nr, older ? 0 : overrun);
	}
}

/* Records that were consumed before the cut count no more; those that are read later count. */
static void older_test_read(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	u64 ts;

	rbt_open(w, 7, RB_FL_OVERWRITE);
	rbt_open_other(w, 7, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 60);
	rbt_consume_n(w, 5);
	older_cut(w, w->recs[50].time);
	ring_buffer_drop_older(w->other);
	older_expect_counts(w, 50, 60, 45, 0);
	rec = ring_buffer_consume(w->other, w->cpu, &ts, NULL);
	rbt_expect(w, rec, ts, 50);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_events_cpu(w->other, w->cpu), 1UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), 9UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(w->other, w->cpu), w->recs[50].time + 1);
}

/* Of the live buffer, the first record behind the gap, and the last one before it. */
static u32 older_find_gap(struct rbt *w, u32 *last)
{
	struct ring_buffer_iter *iter = rbt_iter(w, w->buffer);
	struct ring_buffer_event *rec;
	u32 num = *last;
	u64 ts;

	while ((rec = ring_buffer_iter_peek(iter, &ts))) {
		num = rbt_check(w, ring_buffer_event_data(rec), ts);
		if (num > *last + 1)
			break;
		*last = num;
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
	KUNIT_ASSERT_GT(w->test, num, *last + 1);
	return num;
}

/*
 * A reader has begun a sub-buffer, and those behind it were overwritten. That loss counts, whatever
 * is dropped before it. It counts no more where records behind it are dropped.
 */
static void older_test_gap(struct kunit *test)
{
	unsigned long overrun, left, lost;
	struct rbt *w = test->priv;
	u32 last, first, from;
	unsigned int i;

	rbt_open(w, 7, RB_FL_OVERWRITE);
	rbt_open_other(w, 7, RB_FL_OVERWRITE);
	for (i = 0; i < 5 && !w->failed; i++) {
		last = w->nr;
		rbt_write_n(w, 200, 40);
		rbt_consume_n(w, 1);
		rbt_write_n(w, 200, 260);
		overrun = ring_buffer_overrun_cpu(w->buffer, w->cpu);
		first = older_find_gap(w, &last);
		from = i < 2 ? last - i : i == 2 ? (last + first) / 2 : first + 5 * (i - 3);
		lost = i == 4 ? 0 : overrun;
		older_cut(w, w->recs[from].time);
		ring_buffer_drop_older(w->other);
		left = w->nr - max(from, first) + (i < 2 ? i + 1 : 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), left);
		KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->other, w->cpu), lost);
		KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(w->other, w->cpu),
				w->recs[max(from, first)].time);
		if (i >= 2)
			older_expect_records(w, max(from, first), w->nr, lost);
	}
}

/* Without a time nothing is dropped, whatever the cut before has asked for. */
static void older_test_none(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 7, RB_FL_OVERWRITE);
	rbt_open_other(w, 7, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 10);
	older_cut(w, U64_MAX);
	ring_buffer_drop_older(w->other);
	older_expect_counts(w, 10, 10, 10, 0);
	rbt_write_n(w, 200, 10);
	older_cut(w, 0);
	ring_buffer_drop_older(w->other);
	older_expect_counts(w, 10, 20, 0, 0);
	older_expect_records(w, 10, 20, 0);
}

/* The memory of dropped records is freed, and the numbers stay. */
static void older_test_trim(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned long size;

	rbt_open(w, 20, RB_FL_OVERWRITE);
	rbt_open_other(w, 20, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 300);
	older_cut(w, w->recs[290].time);
	size = ring_buffer_size(w->other, w->cpu);
	ring_buffer_drop_older(w->other);
	KUNIT_ASSERT_EQ(test, ring_buffer_trim(w->other), 0);
	KUNIT_EXPECT_LT(test, ring_buffer_size(w->other, w->cpu), size / 4);
	older_expect_counts(w, 290, 300, 290, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(w->other, w->cpu), w->recs[290].time);
	older_expect_records(w, 290, 300, 0);
}

/* A page begins behind what was dropped of its sub-buffer. */
static void older_test_page(struct kunit *test)
{
	struct ring_buffer_place place = { };
	struct buffer_data_read_page *rpage;
	struct rbt *w = test->priv;
	struct rb_data_page *page;

	rbt_open(w, 7, RB_FL_OVERWRITE);
	rbt_open_other(w, 7, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 30);
	older_cut(w, w->recs[28].time);
	ring_buffer_drop_older(w->other);
	rpage = rbt_page(w, w->other);
	KUNIT_ASSERT_TRUE(test, ring_buffer_copy_page(w->other, w->cpu, &place, rpage));
	page = ring_buffer_read_page_data(rpage);
	/* Behind a header; no flag says that records were lost. */
	KUNIT_EXPECT_EQ(test, *(u32 *)(page->data + RB_RECORD_HDR + sizeof(u32)), 28U);
	KUNIT_EXPECT_EQ(test, local_read(&page->commit) & (RB_MISSED_EVENTS | RB_MISSED_STORED), 0);
	KUNIT_EXPECT_FALSE(test, ring_buffer_copy_page(w->other, w->cpu, &place, rpage));
	ring_buffer_free_read_page(w->other, w->cpu, rpage);
}

static struct kunit_case older_test_cases[] = {
	KUNIT_CASE_PARAM(older_test_exact, older_gen_params),
	KUNIT_CASE(older_test_read),
	KUNIT_CASE(older_test_gap),
	KUNIT_CASE(older_test_none),
	KUNIT_CASE(older_test_trim),
	KUNIT_CASE(older_test_page),
	{ }
};

RBT_SUITE(older);
