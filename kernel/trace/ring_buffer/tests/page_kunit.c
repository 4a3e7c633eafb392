// SPDX-License-Identifier: GPL-2.0
/*
 * Reading whole pages: by exchange, by copy, in parts, of every size.
 */
#include "world.h"

/* Read one page. Return: false if there was none. */
static bool page_read(struct rbt *w, size_t len, int full, struct rbt_page *page)
{
	struct buffer_data_read_page *rpage = rbt_page(w, w->buffer);
	int ret = ring_buffer_read_page(w->buffer, rpage, len, w->cpu, full);

	if (!ret) {
		rbt_take_page(w, rpage, false, page);
		KUNIT_EXPECT_LE(w->test, (size_t)page->bytes, len);
	}
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	return !ret;
}

/* However much is asked for at a time, all comes, once. */
static void page_test_in_parts(struct kunit *test)
{
	static const unsigned int lens[] = { 200, 1000, 1001, 2048, 4095, 4096, 100000 };
	struct rbt *w = test->priv;
	struct rbt_page page;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens) && !w->failed; i++) {
		rbt_open(w, 4, RB_FL_OVERWRITE);
		rbt_write_n(w, 12, 100);
		rbt_write_n(w, 150, 50);
		rbt_now += 1 << 30;
		rbt_write_n(w, 52, 30);
		while (page_read(w, lens[i], 0, &page) && !w->failed)
			;
		rbt_account(w);
		KUNIT_EXPECT_EQ(test, w->nr_seen, 180U);
	}
}

/* The page behind a loss reports it, also if only a part of it is read. */
static void page_test_losses(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct rbt_page page;
	unsigned int i;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	for (i = 0; i < 12; i++) {
		rbt_write_n(w, 200, 20 + 11 * i);
		page_read(w, i & 1 ? 1000 : PAGE_SIZE, 0, &page);
		if (i % 5 == 4)
			rbt_consume(w);
	}
	rbt_account(w);
}

/* Records that do not fit into the requested length stay. */
static void page_test_too_short(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct rbt_page page;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write(w, 1000);
	KUNIT_EXPECT_FALSE(test, page_read(w, 0, 0, &page));
	KUNIT_EXPECT_FALSE(test, page_read(w, RB_PAGE_HDR, 0, &page));
	KUNIT_EXPECT_FALSE(test, page_read(w, 500, 0, &page));
	KUNIT_EXPECT_FALSE(test, page_read(w, RB_PAGE_HDR + rb_record_len(1000) - 1, 0, &page));
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page(w->buffer, NULL, PAGE_SIZE, w->cpu, 0), -1);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page_size(NULL), 0U);
	KUNIT_EXPECT_TRUE(test, page_read(w, RB_PAGE_HDR + rb_record_len(1000), 0, &page));
	rbt_account(w);
}

/* Only full pages, on request: those are exchanged. */
static void page_test_full(struct kunit *test)
{
	struct buffer_data_read_page *rpage;
	struct rbt *w = test->priv;
	struct rbt_page page;
	void *before;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	KUNIT_EXPECT_FALSE(test, page_read(w, PAGE_SIZE, 1, &page));
	rbt_write(w, 100);
	KUNIT_EXPECT_FALSE(test, page_read(w, PAGE_SIZE, 1, &page));
	rbt_write_n(w, 100, rbt_room_for(w, 100));

	rpage = rbt_page(w, w->buffer);
	before = ring_buffer_read_page_data(rpage);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page(w->buffer, rpage, PAGE_SIZE, w->cpu, 1), 0);
	KUNIT_EXPECT_PTR_NE(test, ring_buffer_read_page_data(rpage), before);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_events_cpu(w->buffer, w->cpu),
			(unsigned long)rbt_room_for(w, 100));
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	KUNIT_EXPECT_FALSE(test, page_read(w, PAGE_SIZE, 1, &page));
}

/* A page that is given back is the next one to be had. */
static void page_test_spare(struct kunit *test)
{
	struct buffer_data_read_page *a = NULL, *b = NULL;
	struct rbt *w = test->priv;
	void *memory;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	a = rbt_page(w, w->buffer);
	b = rbt_page(w, w->buffer);
	memory = ring_buffer_read_page_data(a);
	KUNIT_EXPECT_PTR_NE(test, memory, ring_buffer_read_page_data(b));
	ring_buffer_free_read_page(w->buffer, w->cpu, a);
	ring_buffer_free_read_page(w->buffer, w->cpu, b);
	a = rbt_page(w, w->buffer);
	KUNIT_EXPECT_PTR_EQ(test, ring_buffer_read_page_data(a), memory);
	/* One of another size is exchanged. */
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
	KUNIT_ASSERT_EQ(test, ring_buffer_alloc_read_page(w->buffer, w->cpu, &a), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page_size(a), (unsigned int)PAGE_SIZE * 2);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page(w->buffer, a, PAGE_SIZE, nr_cpu_ids, 0), -1);
	ring_buffer_free_read_page(w->buffer, w->cpu, a);
	KUNIT_EXPECT_EQ(test, ring_buffer_alloc_read_page(w->buffer, nr_cpu_ids, &a), -ENODEV);
	KUNIT_EXPECT_EQ(test, ring_buffer_alloc_read_page(w->buffer, w->cpu, NULL), -EINVAL);
}

/* A page that a pipe holds, too, is not to be had again. */
static void page_test_spare_shared(struct kunit *test)
{
	struct buffer_data_read_page *a = NULL;
	struct rbt *w = test->priv;
	struct page *shared;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	a = rbt_page(w, w->buffer);
	shared = virt_to_page(ring_buffer_read_page_data(a));
	get_page(shared);
	ring_buffer_free_read_page(w->buffer, w->cpu, a);
	KUNIT_EXPECT_EQ(test, page_ref_count(shared), 1);
	a = rbt_page(w, w->buffer);
	KUNIT_EXPECT_PTR_NE(test, virt_to_page(ring_buffer_read_page_data(a)), shared);
	ring_buffer_free_read_page(w->buffer, w->cpu, a);
	put_page(shared);
}

/* Fill a ring, and read a full page of it. Return: was the page's memory exchanged? */
static bool page_exchanged(struct rbt *w, struct buffer_data_read_page *rpage)
{
	void *before = ring_buffer_read_page_data(rpage);
	struct rbt_page page;

	rbt_write_n(w, 100, 2 * rbt_room_for(w, 100));
	KUNIT_ASSERT_EQ(w->test, ring_buffer_read_page(w->buffer, rpage, PAGE_SIZE, w->cpu, 1), 0);
	rbt_take_page(w, rpage, false, &page);
	return ring_buffer_read_page_data(rpage) != before;
}

/* Memory that others know, or of another size, stays where it is. */
static void page_test_no_exchange(struct kunit *test)
{
	struct buffer_data_read_page *rpage;
	struct rb_persist_subbuf header = { };
	struct rbt *w = test->priv;
	struct rbt_page page;
	struct rb_ring *ring;
	unsigned int i;
	void *before;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	rpage = rbt_page(w, w->buffer);
	KUNIT_EXPECT_TRUE(test, page_exchanged(w, rpage));

	ring = rbt_ring(w);
	atomic_inc(&ring->mapped);
	KUNIT_EXPECT_FALSE(test, page_exchanged(w, rpage));
	atomic_dec(&ring->mapped);

	for (i = 0; i <= ring->nr; i++)
		ring->subbufs[i]->persist = &header;
	KUNIT_EXPECT_FALSE(test, page_exchanged(w, rpage));
	for (i = 0; i <= ring->nr; i++)
		ring->subbufs[i]->persist = NULL;
	KUNIT_EXPECT_TRUE(test, page_exchanged(w, rpage));

	/* A sub-buffer that is full, though its records would fit into the shorter page. */
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
	rbt_write(w, 3000);
	rbt_write(w, 6000);
	before = ring_buffer_read_page_data(rpage);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page(w->buffer, rpage, 2 * PAGE_SIZE, w->cpu, 1), 0);
	rbt_take_page(w, rpage, false, &page);
	KUNIT_EXPECT_PTR_EQ(test, ring_buffer_read_page_data(rpage), before);
	rbt_account(w);
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
}

#define PAGE_COPIES	64

/* Copy all pages and consume nothing. Return: how many they are; @to has room for more. */
static unsigned int page_copy_all(struct rbt *w, void *to)
{
	unsigned int size = ring_buffer_subbuf_size_get(w->buffer), nr = 0;
	struct buffer_data_read_page *rpage;
	struct ring_buffer_place place = {};

	rpage = rbt_page(w, w->buffer);
	while (ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage)) {
		KUNIT_ASSERT_LT(w->test, nr, PAGE_COPIES);
		memcpy(to + size * nr++, ring_buffer_read_page_data(rpage), size);
	}
	KUNIT_EXPECT_FALSE(w->test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	return nr;
}

/* Copies are the pages that a consumer gets after them, bit by bit. Return: how many. */
static unsigned int page_expect_copies(struct rbt *w)
{
	unsigned int size = ring_buffer_subbuf_size_get(w->buffer), nr, i = 0;
	struct buffer_data_read_page *rpage;
	struct ring_buffer_place place = {};
	struct kunit *test = w->test;
	struct rbt_page page;
	void *copies, *again;

	copies = kvzalloc(2 * PAGE_COPIES * size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copies);
	again = copies + PAGE_COPIES * size;
	nr = page_copy_all(w, copies);
	KUNIT_EXPECT_EQ(test, page_copy_all(w, again), nr);
	KUNIT_EXPECT_EQ(test, memcmp(copies, again, nr * size), 0);
	while (ring_buffer_copy_page(w->buffer, w->cpu, &place, NULL))
		i++;
	KUNIT_EXPECT_EQ(test, i, nr);

	rpage = rbt_page(w, w->buffer);
	for (i = 0; !ring_buffer_read_page(w->buffer, rpage, size, w->cpu, 0) && !w->failed;) {
		rbt_take_page(w, rpage, false, &page);
		if (!page.records)
			continue;
		if (i < nr)
			KUNIT_EXPECT_EQ_MSG(test, memcmp(ring_buffer_read_page_data(rpage),
							 copies + i * size, size), 0,
					    "page %u of %u", i, nr);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, nr);
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	kvfree(copies);
	return nr;
}

/* The number of lost records has no room on a page that is full: its records are on two. */
static void page_test_copies_full(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	/* 16 bytes each, a divisor of 4080; with 32 bits, 4084 has room for the number. */
	rbt_write_n(w, 12, 5 * rbt_room_for(w, 12));
	KUNIT_EXPECT_GT(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(test, page_expect_copies(w), sizeof(long) == 8 ? 4U : 3U);
	rbt_account(w);
}

/* A consumer that comes between takes its records, and no other ones are missing. */
static void page_test_copies_consumed(struct kunit *test)
{
	struct buffer_data_read_page *rpage;
	struct ring_buffer_place place = {};
	struct rbt *w = test->priv;
	unsigned int per_page;
	u64 num;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	per_page = rbt_room_for(w, 100);
	rbt_write_n(w, 100, 3 * per_page);
	rpage = rbt_page(w, w->buffer);
	KUNIT_EXPECT_TRUE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
	num = place.num;
	rbt_consume_n(w, per_page + 2);
	KUNIT_EXPECT_TRUE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
	KUNIT_EXPECT_EQ(test, place.num, num + per_page);
	KUNIT_EXPECT_TRUE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
	KUNIT_EXPECT_EQ(test, place.num, num + 2 * per_page);
	KUNIT_EXPECT_FALSE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
	KUNIT_EXPECT_FALSE(test, ring_buffer_copy_page(w->buffer, nr_cpu_ids, &place, rpage));
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	page_expect_copies(w);
	KUNIT_EXPECT_EQ(test, page_expect_copies(w), 0U);
	rbt_account(w);
}

static struct rbt *page_overwriter;
static enum rb_race page_overwrite_at;

/* The writer comes round during a copy. */
static void page_overwrite(enum rb_race point, const char *name)
{
	struct rbt *w = page_overwriter;

	if (point != page_overwrite_at)
		return;
	WRITE_ONCE(rb_race_hook, NULL);
	rbt_write_n(w, 100, 9 * rbt_room_for(w, 100));
}

/* Return: number of records on a page, in their order, and none missing between. */
static unsigned int page_records(struct rbt *w, const struct rb_data_page *page)
{
	unsigned long bytes = local_read(&page->commit) & ~(RB_MISSED_EVENTS | RB_MISSED_STORED);
	struct rb_cursor c = rb_cursor(page, 0, bytes, page->time_stamp);
	struct ring_buffer_event *rec;
	unsigned int nr = 0;
	u32 num, first = 0;

	for (; (rec = rb_cursor_next(&c)); nr++) {
		num = rbt_check(w, ring_buffer_event_data(rec), c.time);
		if (!nr)
			first = num;
		KUNIT_EXPECT_EQ(w->test, num, first + nr);
		rb_cursor_skip(&c, rec);
	}
	return nr;
}

/* A page that is overwritten at any moment of its copy is not used: the oldest one is, then. */
static void page_test_copies_overwritten(struct kunit *test)
{
	static const enum rb_race points[] = {
		RB_RACE_LOCATE, RB_RACE_LOCATED, RB_RACE_PLACE, RB_RACE_PLACE_COPIED,
	};
	struct buffer_data_read_page *rpage;
	struct rbt *w = test->priv;
	unsigned int i, nr, pages;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	rpage = rbt_page(w, w->buffer);
	page_overwriter = w;
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		struct ring_buffer_place place = {};
		u64 run;

		rbt_write_n(w, 100, 9 * rbt_room_for(w, 100));
		KUNIT_ASSERT_TRUE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
		run = place.run;
		page_overwrite_at = points[i];
		WRITE_ONCE(rb_race_hook, page_overwrite);
		KUNIT_ASSERT_TRUE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
		KUNIT_EXPECT_NULL(test, rb_race_hook);
		WRITE_ONCE(rb_race_hook, NULL);
		KUNIT_EXPECT_NE_MSG(test, place.run, run, "point %u", i);
		pages = 0;
		do {
			nr = page_records(w, ring_buffer_read_page_data(rpage));
			KUNIT_EXPECT_GT(test, nr, 0U);
			KUNIT_EXPECT_GE(test, place.num - place.run, (u64)nr);
			pages++;
		} while (ring_buffer_copy_page(w->buffer, w->cpu, &place, rpage));
		KUNIT_EXPECT_GE(test, pages, 3U);
	}
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
}

static const int orders[] = { 0, 1, 2, 3, 4 };

static void page_desc_order(const int *order, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order %d", *order);
}

KUNIT_ARRAY_PARAM(page_order, orders, page_desc_order);

/* All of it with larger sub-buffers. */
static void page_test_order(struct kunit *test)
{
	int order = *(const int *)test->param_value;
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	struct rbt_page page;
	u32 num;

	rbt_open(w, 16, RB_FL_OVERWRITE);
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, order), 0);
	/* The mode of a full ring does not touch it. */
	ring_buffer_change_overwrite(w->buffer, false);
	ring_buffer_change_overwrite(w->buffer, true);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_get(w->buffer), order);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_size_get(w->buffer), (int)PAGE_SIZE << order);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, ring_buffer_max_event_size(w->buffer)));
	rec = rbt_must_reserve(w, ring_buffer_max_event_size(w->buffer), &num);
	rbt_discard(w, rec, num);
	rbt_write_n(w, 1000, 100);
	while (page_read(w, PAGE_SIZE << order, 0, &page) && !w->failed)
		;
	rbt_write_n(w, 1000, 30);
	page_expect_copies(w);
	rbt_account(w);
}

static void page_test_order_refused(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, MAX_PAGE_ORDER + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(NULL, 1), -EINVAL);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), -EBUSY);
	ring_buffer_read_finish(iter);
	rbt_write_n(w, 100, 7);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 7UL);
	/* The next reader gets the report: rbt_account() compares. */
	rbt_write(w, 100);
	rbt_account(w);
}

static struct kunit_case page_test_cases[] = {
	KUNIT_CASE(page_test_in_parts),
	KUNIT_CASE(page_test_losses),
	KUNIT_CASE(page_test_too_short),
	KUNIT_CASE(page_test_full),
	KUNIT_CASE(page_test_spare),
	KUNIT_CASE(page_test_spare_shared),
	KUNIT_CASE(page_test_no_exchange),
	KUNIT_CASE(page_test_copies_full),
	KUNIT_CASE(page_test_copies_consumed),
	KUNIT_CASE(page_test_copies_overwritten),
	KUNIT_CASE_PARAM(page_test_order, page_order_gen_params),
	KUNIT_CASE(page_test_order_refused),
	{}
};

RBT_SUITE(page);
