// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers in a given range of memory: the records that are found after a reboot, and
 * damage, which costs only the damaged records.
 */
#include <linux/gfp.h>

#include "world.h"

#define RANGE	(32 * PAGE_SIZE)
#define SCRATCH	100

static void persist_free(void *memory)
{
	free_pages_exact(memory, RANGE);
}

KUNIT_DEFINE_ACTION_WRAPPER(persist_free_action, persist_free, void *);

static unsigned long persist_memory(struct kunit *test)
{
	void *memory = alloc_pages_exact(RANGE, GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, persist_free_action, memory), 0);
	return (unsigned long)memory;
}

/* As a reboot: the buffer is new, the memory is as it was. */
static void persist_boot_as(struct rbt *w, unsigned long start, unsigned int flags)
{
	static struct lock_class_key key;
	struct trace_buffer *buffer;

	rbt_close(w);
	buffer = __ring_buffer_alloc_range(0, RB_FL_OVERWRITE | flags, 0, start, RANGE, SCRATCH,
					   &key);
	rbt_use(w, buffer);
}

static void persist_boot(struct rbt *w, unsigned long start)
{
	persist_boot_as(w, start, 0);
}

/* All that is there: from record @first to the last, but for @but. */
static void persist_expect(struct rbt *w, u32 first, const u32 *but, unsigned int nr_but)
{
	struct ring_buffer_event *rec;
	u32 num = first, i;
	u64 ts;

	while ((rec = ring_buffer_consume(w->buffer, w->cpu, &ts, NULL)) && !w->failed) {
		u32 got = rbt_check(w, ring_buffer_event_data(rec), ts);

		for (i = 0; i < nr_but; i++)
			num += num == but[i];
		if (got != num)
			rbt_fail(w, "record %u where %u has to come", got, num);
		num = got + 1;
	}
	for (i = 0; i < nr_but; i++)
		num += num == but[i];
	if (num != w->nr)
		rbt_fail(w, "records up to %u of %u", num, w->nr);
}

/* Unread records are there again, and new ones come behind them. */
static void persist_test_reboot(struct kunit *test)
{
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	u32 i;

	persist_boot(w, start);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(w->buffer));
	rbt_write_n(w, 200, 50);
	persist_boot(w, start);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 50UL);
	for (i = 0; i < 25; i++)
		KUNIT_EXPECT_TRUE(test, rbt_consume(w));
	/* Consumed records stay consumed. */
	persist_boot(w, start);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 25UL);
	rbt_write_n(w, 200, 10);
	persist_expect(w, 25, NULL, 0);
	persist_boot(w, start);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(w->buffer));
}

/* Read all records: as many of each age, the oldest first. */
static void persist_expect_ages(struct kunit *test, unsigned int earlier, unsigned int last,
				unsigned int now)
{
	unsigned int count[3] = {}, ago, before = 2;
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	u64 ts;

	while ((rec = ring_buffer_consume(w->buffer, w->cpu, &ts, NULL))) {
		rbt_check(w, ring_buffer_event_data(rec), ts);
		ago = ring_buffer_boots_ago(w->buffer, w->cpu, ring_buffer_event_data(rec));
		KUNIT_ASSERT_LE(test, ago, before);
		count[ago]++;
		before = ago;
	}
	KUNIT_EXPECT_EQ(test, count[2], earlier);
	KUNIT_EXPECT_EQ(test, count[1], last);
	KUNIT_EXPECT_EQ(test, count[0], now);
}

/* A record knows how many boots ago it was written, up to two; a page does, too. */
static void persist_test_ages(struct kunit *test)
{
	struct buffer_data_read_page *page = NULL;
	struct ring_buffer_place place = {};
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;

	persist_boot(w, start);
	rbt_write_n(w, 200, 10);
	persist_boot(w, start);
	rbt_write_n(w, 200, 20);
	persist_boot(w, start);
	rbt_write_n(w, 200, 5);
	persist_boot(w, start);
	rbt_write_n(w, 200, 3);
	KUNIT_ASSERT_EQ(test, ring_buffer_alloc_read_page(w->buffer, w->cpu, &page), 0);
	KUNIT_ASSERT_TRUE(test, ring_buffer_copy_page(w->buffer, w->cpu, &place, page));
	KUNIT_EXPECT_EQ(test, ring_buffer_place_boots_ago(w->buffer, w->cpu, &place), 2U);
	ring_buffer_free_read_page(w->buffer, w->cpu, page);
	persist_expect_ages(test, 30, 5, 3);
	/* A boot that records nothing makes the others older. */
	rbt_write_n(w, 200, 4);
	persist_boot(w, start);
	persist_boot(w, start);
	persist_expect_ages(test, 4, 0, 0);
}

/* A copy of the memory that is made before this boot writes there has records of the same ages. */
static void persist_test_copy(struct kunit *test)
{
	unsigned long start = persist_memory(test), copy = persist_memory(test);
	struct rbt *w = test->priv;

	persist_boot(w, start);
	rbt_write_n(w, 200, 10);
	persist_boot(w, start);
	rbt_write_n(w, 200, 20);
	persist_boot(w, start);
	memcpy((void *)copy, (void *)start, RANGE);
	persist_boot_as(w, copy, RB_FL_COPY);
	persist_expect_ages(test, 10, 20, 0);
}

static const struct persist_damage {
	const char	*name;
	unsigned int	at;		/* byte of the data page */
	u32		value;
} damages[] = {
	{ "commit beyond the page", offsetof(struct rb_data_page, commit), 0x7fffff0 },
	{ "commit in between", offsetof(struct rb_data_page, commit), 301 },
	{ "length 0", RB_PAGE_HDR + 4, 0 },
	{ "length of 4 GB", RB_PAGE_HDR + 4, 0xffffffff },
	{ "length beyond the page", RB_PAGE_HDR + 4, 5000 },
	{ "length beyond the commit", RB_PAGE_HDR + 4, 4060 },
	{ "length for the header", RB_PAGE_HDR + 4, RB_SMALL_DATA },
};

KUNIT_ARRAY_PARAM_DESC(persist_damage, damages, name);

/* A damaged sub-buffer costs the records in it, and no others. */
static void persist_test_damage(struct kunit *test)
{
	const struct persist_damage *d = test->param_value;
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	u32 *gone, per, i;
	void *page;

	persist_boot(w, start);
	/* The second sub-buffer: there are records in front of it and behind. */
	per = rbt_room_for(w, 300);
	gone = kunit_kcalloc(test, per, sizeof(*gone), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gone);
	for (i = 0; i < per; i++)
		gone[i] = per + i;
	rbt_write_n(w, 300, per + 1);
	page = rbt_ring(w)->tail->page;
	rbt_write_n(w, 300, 3 * per);
	memcpy(page + d->at, &d->value, sizeof(d->value));
	persist_boot(w, start);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 1UL + 3 * per);
	persist_expect(w, 0, gone, per);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, 300));
}

/*
 * A clock that steps back costs nothing: neither within a sub-buffer, nor from one to
 * the next, nor where the upper bits of the time are in use.
 */
static void persist_test_clock_back(struct kunit *test)
{
	static const s64 steps[] = { 1000, -300, 7, 1LL << 30, -(1LL << 29), 1LL << 47, 0 };
	static const u64 begins[] = { 1ULL << 40, (1ULL << 59) - (1ULL << 46), 3ULL << 60 };
	unsigned long start = persist_memory(test), entries;
	struct rbt *w = test->priv;
	unsigned int i, k;
	u32 first;

	for (i = 0; i < ARRAY_SIZE(begins) && !w->failed; i++) {
		persist_boot(w, start);
		rbt_now = begins[i];
		first = w->nr;
		for (k = 0; k < 60; k++) {
			rbt_step = steps[k % ARRAY_SIZE(steps)];
			rbt_write(w, k % 7 == 3 ? 1500 : 40);
		}
		entries = ring_buffer_entries(w->buffer);
		KUNIT_EXPECT_GT(test, entries, 20UL);
		KUNIT_EXPECT_EQ(test, entries + ring_buffer_overruns(w->buffer), 60UL);
		persist_boot(w, start);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), entries);
		persist_expect(w, w->nr - entries, NULL, 0);
		KUNIT_EXPECT_EQ(test, w->nr, first + 60);
	}
}

/* The same with a spare buffer. */
static void persist_boot_both(struct rbt *w, unsigned long start)
{
	struct trace_buffer *spare;

	persist_boot_as(w, start, RB_FL_SPARE);
	spare = ring_buffer_alloc_spare(w->buffer);
	KUNIT_ASSERT_FALSE(w->test, IS_ERR(spare));
	w->other = spare;
}

static void persist_cut(struct rbt *w)
{
	KUNIT_ASSERT_EQ(w->test, rbt_cut(w->buffer, w->other, RING_BUFFER_ALL_CPUS), 0);
}

/* @buffer holds records [@from, @to), and they stay. */
static void persist_holds(struct rbt *w, struct trace_buffer *buffer, u32 from, u32 to)
{
	struct ring_buffer_iter *iter = rbt_iter(w, buffer);

	KUNIT_EXPECT_EQ(w->test, rbt_iterate(w, iter, from, U32_MAX), to);
	ring_buffer_read_finish(iter);
}

/*
 * The records of the cut are there again, and so are the later ones. They are those of the
 * last cut, with any content of the rings before and after any number of exchanges.
 */
static void persist_test_cut(struct kunit *test)
{
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	u32 cuts, n, first, second;

	persist_boot_both(w, start);
	persist_holds(w, w->other, 0, 0);
	for (cuts = 1; cuts < 8 && !w->failed; cuts++) {
		for (n = 0; n < cuts; n++) {
			first = w->nr;
			rbt_write_n(w, 200, 30 - 3 * n);
			persist_cut(w);
			second = w->nr;
			rbt_write_n(w, 200, 2 * n);
			persist_holds(w, w->other, first, second);
			persist_holds(w, w->buffer, second, w->nr);
			if (n + 1 < cuts) {
				persist_cut(w);
				persist_holds(w, w->other, second, w->nr);
			}
		}
		persist_boot_both(w, start);
		persist_holds(w, w->other, first, second);
		persist_holds(w, w->buffer, second, w->nr);
		/* And it is as any other. */
		persist_boot_both(w, start);
		persist_holds(w, w->other, first, second);
		persist_holds(w, w->buffer, second, w->nr);
		ring_buffer_reset(w->buffer);
		persist_holds(w, w->other, first, second);
	}
}

/* No record comes back that was erased or read. */
static void persist_test_forget(struct kunit *test)
{
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	struct buffer_data_read_page *rpage;
	u32 *note, read;

	persist_boot_both(w, start);
	note = ring_buffer_note(w->other);
	KUNIT_ASSERT_NOT_NULL(test, note);
	KUNIT_EXPECT_EQ(test, *note, 0U);
	KUNIT_EXPECT_PTR_EQ(test, (u32 *)ring_buffer_note(w->buffer), note);
	rbt_write_n(w, 200, 30);
	persist_cut(w);
	*note = 6012;
	/* The first sub-buffer */
	rpage = rbt_page(w, w->other);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_page(w->other, rpage, PAGE_SIZE, w->cpu, 1), 0);
	ring_buffer_free_read_page(w->other, w->cpu, rpage);
	read = 30 - ring_buffer_entries_cpu(w->other, w->cpu);
	KUNIT_EXPECT_GT(test, read, 0U);
	persist_boot_both(w, start);
	KUNIT_EXPECT_EQ(test, *(u32 *)ring_buffer_note(w->other), 6012U);
	persist_holds(w, w->other, read, 30);
	persist_holds(w, w->buffer, 30, 30);

	KUNIT_EXPECT_EQ(test, ring_buffer_forget(w->other), 0);
	persist_holds(w, w->other, 30, 30);
	persist_boot_both(w, start);
	persist_holds(w, w->other, 30, 30);
	rbt_write_n(w, 200, 7);
	persist_boot_both(w, start);
	persist_holds(w, w->other, 30, 30);
	persist_holds(w, w->buffer, 30, 37);

	/* A later spare buffer has that memory, with its records until they are dropped. */
	persist_cut(w);
	ring_buffer_free(w->other);
	w->other = ring_buffer_alloc_spare(w->buffer);
	KUNIT_ASSERT_FALSE(test, IS_ERR(w->other));
	persist_holds(w, w->other, 30, 37);
	KUNIT_EXPECT_EQ(test, ring_buffer_forget(w->other), 0);
	ring_buffer_free(w->other);
	w->other = ring_buffer_alloc_spare(w->buffer);
	KUNIT_ASSERT_FALSE(test, IS_ERR(w->other));
	persist_holds(w, w->other, 37, 37);
	rbt_write_n(w, 200, 5);
	persist_cut(w);
	persist_boot_both(w, start);
	persist_holds(w, w->other, 37, 42);
}

/* The kernel is somewhere else than in the boot before: each ring knows of itself. */
static void persist_test_moved(struct kunit *test)
{
	unsigned long was = (unsigned long)ring_buffer_last_boot_delta;
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	long text, data;
	u64 *word;

	persist_boot_both(w, start);
	rbt_write_n(w, 200, 10);
	persist_cut(w);
	rbt_write_n(w, 200, 5);
	rbt_close(w);
	for (word = (u64 *)start; word < (u64 *)(start + RANGE); word++) {
		if (*word == was)
			*word -= 0x1000;
	}
	persist_boot_both(w, start);
	KUNIT_EXPECT_TRUE(test, ring_buffer_last_boot_delta(w->buffer, &text, &data));
	KUNIT_EXPECT_EQ(test, text, 0x1000L);
	KUNIT_EXPECT_EQ(test, data, 0L);
	persist_holds(w, w->buffer, 10, 15);

	/* Records from here on are of this boot, those that were cut off are not. */
	ring_buffer_reset(w->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_last_boot_delta(w->buffer, &text, &data));
	KUNIT_EXPECT_TRUE(test, ring_buffer_last_boot_delta(w->other, &text, &data));
	KUNIT_EXPECT_EQ(test, text, 0x1000L);
	persist_holds(w, w->other, 0, 10);
	persist_cut(w);
	KUNIT_EXPECT_FALSE(test, ring_buffer_last_boot_delta(w->buffer, &text, &data));
	KUNIT_EXPECT_FALSE(test, ring_buffer_last_boot_delta(w->other, &text, &data));
}

/* The caller's memory keeps what is there, as long as the records are kept. */
static void persist_test_scratch(struct kunit *test)
{
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	unsigned int size = 0;
	u8 *scratch;

	KUNIT_EXPECT_NULL(test, ring_buffer_meta_scratch(NULL, &size));
	rbt_open(w, 3, RB_FL_OVERWRITE);
	KUNIT_EXPECT_NULL(test, ring_buffer_meta_scratch(w->buffer, &size));
	KUNIT_EXPECT_EQ(test, size, 0U);

	persist_boot(w, start);
	scratch = ring_buffer_meta_scratch(w->buffer, &size);
	KUNIT_ASSERT_NOT_NULL(test, scratch);
	KUNIT_EXPECT_EQ(test, size, (unsigned int)ALIGN(SCRATCH, sizeof(u64)));
	KUNIT_EXPECT_NULL(test, memchr_inv(scratch, 0, size));
	memset(scratch, 0x5a, size);
	rbt_write_n(w, 200, 50);
	ring_buffer_reset(w->buffer);
	rbt_write_n(w, 200, 5);
	persist_boot(w, start);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 5UL);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)ring_buffer_meta_scratch(w->buffer, NULL), scratch);
	KUNIT_EXPECT_NULL(test, memchr_inv(scratch, 0x5a, size));

	/* Of another shape, and its records are not found either. */
	persist_boot_both(w, start);
	scratch = ring_buffer_meta_scratch(w->buffer, &size);
	KUNIT_EXPECT_NULL(test, memchr_inv(scratch, 0, size));
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(w->buffer));
}

/* Where there is no room for one, or where there is one. */
static void persist_test_no_spare(struct kunit *test)
{
	unsigned long start = persist_memory(test);
	struct rbt *w = test->priv;
	long text, data;

	persist_boot(w, start);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ring_buffer_alloc_spare(w->buffer)), -EINVAL);
	rbt_open_other(w, 3, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), -EINVAL);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->other, w->buffer, w->cpu), -EINVAL);

	/* Another shape: the old records are not found. */
	rbt_write_n(w, 200, 5);
	persist_boot_both(w, start);
	persist_holds(w, w->buffer, 5, 5);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ring_buffer_alloc_spare(w->buffer)), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_buffer_trim(w->other), -EBUSY);
	KUNIT_EXPECT_FALSE(test, ring_buffer_last_boot_delta(w->buffer, &text, &data));
	KUNIT_EXPECT_FALSE(test, ring_buffer_last_boot_delta(w->other, &text, &data));
}

static struct kunit_case persist_test_cases[] = {
	KUNIT_CASE(persist_test_reboot),
	KUNIT_CASE(persist_test_ages),
	KUNIT_CASE(persist_test_copy),
	KUNIT_CASE_PARAM(persist_test_damage, persist_damage_gen_params),
	KUNIT_CASE(persist_test_clock_back),
	KUNIT_CASE(persist_test_cut),
	KUNIT_CASE(persist_test_forget),
	KUNIT_CASE(persist_test_moved),
	KUNIT_CASE(persist_test_scratch),
	KUNIT_CASE(persist_test_no_spare),
	{}
};

RBT_SUITE(persist);
