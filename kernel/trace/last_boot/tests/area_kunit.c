// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the area: what was stored is found, and any other contents do no harm.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

#include "../area.h"

#define TEST_SIZE	SZ_8K
#define TEST_KERNEL	0x1234567890abcdefULL

/* A new look at the memory, as at the next boot. */
static struct area area_test_place(struct kunit *test, void *memory)
{
	struct area a;
	void *index = kunit_kzalloc(test, area_index_size(TEST_SIZE), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, index);
	area_place(&a, memory, TEST_SIZE, index);
	return a;
}

static struct area area_test_begin(struct kunit *test)
{
	void *memory = kunit_kzalloc(test, TEST_SIZE, GFP_KERNEL);
	struct area a;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	a = area_test_place(test, memory);
	area_begin(&a, TEST_KERNEL);
	return a;
}

static void area_test_has(struct kunit *test, const struct area *a, enum area_kind kind, u64 key,
			  const char *want)
{
	const struct area_entry *entry = area_find(a, kind, key);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, entry->len, strlen(want));
	KUNIT_EXPECT_MEMEQ(test, entry->data, want, strlen(want));
}

static void area_test_put(struct kunit *test, struct area *a, enum area_kind kind, u64 key,
			  const char *text)
{
	KUNIT_ASSERT_EQ(test, area_put(a, kind, key, text, strlen(text)), 0);
}

/* An entry of one size takes no more room, and has the newest contents. */
static void area_test_renews(struct kunit *test)
{
	struct area a = area_test_begin(test), next;
	const struct area_entry *entry;
	u32 used, i;
	u64 value;

	for (i = 0; i < 4; i++) {
		value = 100 + i;
		KUNIT_ASSERT_EQ(test, area_renew(&a, AREA_MOMENT, i % 2, &value, sizeof(value)), 0);
		if (i == 1)
			used = a.header->used;
	}
	KUNIT_EXPECT_EQ(test, a.header->used, used);
	next = area_test_place(test, a.header);
	KUNIT_ASSERT_TRUE(test, area_open(&next));
	KUNIT_EXPECT_EQ(test, next.bad, 0U);
	for (i = 0; i < 2; i++) {
		entry = area_find(&next, AREA_MOMENT, i);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, *(const u64 *)entry->data, 102ULL + i);
	}

	/* A machine that stops in the second half of the work */
	((struct area_entry *)area_find(&a, AREA_MOMENT, 1))->data[0]++;
	next = area_test_place(test, a.header);
	KUNIT_ASSERT_TRUE(test, area_open(&next));
	KUNIT_EXPECT_EQ(test, next.bad, 1U);
	KUNIT_EXPECT_NULL(test, area_find(&next, AREA_MOMENT, 1));
	KUNIT_EXPECT_EQ(test, *(const u64 *)area_find(&next, AREA_MOMENT, 0)->data, 102ULL);
}

/* The next boot finds the newest entry of each key, once, and nothing that was not stored. */
static void area_test_finds(struct kunit *test)
{
	struct area a = area_test_begin(test), next;
	u32 used, pos = 0, nr = 0;

	area_test_put(test, &a, AREA_FORMAT, 7, "first");
	area_test_put(test, &a, AREA_STRING, 7, "of another kind");
	used = a.header->used;
	area_test_put(test, &a, AREA_FORMAT, 7, "first");
	KUNIT_EXPECT_EQ(test, a.header->used, used);
	area_test_put(test, &a, AREA_FORMAT, 7, "second");
	KUNIT_EXPECT_GT(test, a.header->used, used);
	area_test_put(test, &a, AREA_FORMAT, U64_MAX, "");
	area_test_has(test, &a, AREA_FORMAT, 7, "second");

	next = area_test_place(test, a.header);
	KUNIT_ASSERT_TRUE(test, area_open(&next));
	KUNIT_EXPECT_EQ(test, next.bad, 0U);
	KUNIT_EXPECT_EQ(test, next.header->kernel, TEST_KERNEL);
	area_test_has(test, &next, AREA_FORMAT, 7, "second");
	area_test_has(test, &next, AREA_STRING, 7, "of another kind");
	area_test_has(test, &next, AREA_FORMAT, U64_MAX, "");
	KUNIT_EXPECT_NULL(test, area_find(&next, AREA_FORMAT, 8));
	KUNIT_EXPECT_NULL(test, area_find(&next, AREA_SYMBOL, 7));
	while (area_next(&next, &pos, AREA_FORMAT))
		nr++;
	KUNIT_EXPECT_EQ(test, nr, 2U);
}

/* An entry without room is counted, and all others stay. */
static void area_test_full(struct kunit *test)
{
	struct area a = area_test_begin(test), next;
	static char text[SZ_1K];
	u64 key = 0;

	memset(text, 'x', sizeof(text));
	while (!area_put(&a, AREA_STRING, key, text, sizeof(text)))
		key++;
	KUNIT_EXPECT_EQ(test, key, (u64)a.room / (sizeof(text) + sizeof(struct area_entry)));
	KUNIT_EXPECT_EQ(test, a.header->dropped, 1U);
	KUNIT_EXPECT_EQ(test, area_put(&a, AREA_STRING, key, text, U16_MAX + 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, a.header->dropped, 2U);
	KUNIT_EXPECT_EQ(test, area_put(&a, AREA_STRING, 0, text, sizeof(text)), 0);
	next = area_test_place(test, a.header);
	KUNIT_ASSERT_TRUE(test, area_open(&next));
	KUNIT_EXPECT_EQ(test, next.nr, (u32)key);

	/* The index is full before the log. */
	area_begin(&a, TEST_KERNEL);
	for (key = 0; !area_put(&a, AREA_STRING, key, NULL, 0);)
		key++;
	KUNIT_EXPECT_EQ(test, key, (u64)a.mask);
	KUNIT_EXPECT_NULL(test, area_find(&a, AREA_STRING, key));
}

/* However many functions there are, the others have room for as much. */
static void area_test_crowd(struct kunit *test)
{
	struct area a = area_test_begin(test);
	static char text[SZ_1K];
	u64 key;

	for (key = 0; !area_put(&a, AREA_SYMBOL, key, text, sizeof(text));)
		key++;
	KUNIT_EXPECT_GT(test, key, 1ULL);
	KUNIT_EXPECT_LE(test, a.header->used, a.room / 2);
	KUNIT_EXPECT_EQ(test, a.header->dropped, 1U);
	for (key = 0; !area_put(&a, AREA_FORMAT, key, text, sizeof(text));)
		key++;
	KUNIT_EXPECT_GE(test, key, (u64)a.room / 2 / (sizeof(text) + sizeof(struct area_entry)));
	KUNIT_EXPECT_EQ(test, area_put(&a, AREA_SYMBOL, 0, text, sizeof(text)), 0);

	/* In the index, too */
	area_begin(&a, TEST_KERNEL);
	for (key = 0; !area_put(&a, AREA_SYMBOL, key, NULL, 0);)
		key++;
	KUNIT_EXPECT_EQ(test, key, (u64)a.mask / 2);
	for (key = 0; !area_put(&a, AREA_FORMAT, key, NULL, 0);)
		key++;
	KUNIT_EXPECT_EQ(test, key, (u64)a.mask - a.mask / 2);
}

/* The machine stops anywhere: what counts is whole. */
static void area_test_torn(struct kunit *test)
{
	struct area a = area_test_begin(test), next;
	const struct area_entry *entry;
	u8 *copy = kunit_kzalloc(test, TEST_SIZE, GFP_KERNEL);
	u32 i, used;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	area_test_put(test, &a, AREA_FORMAT, 1, "before");
	used = a.header->used;
	area_test_put(test, &a, AREA_FORMAT, 2, "between");
	area_test_put(test, &a, AREA_FORMAT, 3, "behind");
	/* Any byte of the entry in the middle is wrong. */
	for (i = used; i < used + 24; i++) {
		memcpy(copy, a.header, TEST_SIZE);
		copy[(u8 *)a.log - (u8 *)a.header + i] ^= 1 << i % 8;
		next = area_test_place(test, copy);
		KUNIT_ASSERT_TRUE(test, area_open(&next));
		area_test_has(test, &next, AREA_FORMAT, 1, "before");
		entry = area_find(&next, AREA_FORMAT, 2);
		/* Zeros that fill up are no part of it. */
		if (entry)
			KUNIT_EXPECT_EQ(test, i, used + 23);
		else
			KUNIT_EXPECT_GE(test, next.bad, 1U);
	}
	/* A machine that has stopped in area_begin() */
	memcpy(copy, a.header, TEST_SIZE);
	((struct area_header *)copy)->magic = 0;
	next = area_test_place(test, copy);
	KUNIT_EXPECT_FALSE(test, area_open(&next));
}

/* A walk of anything ends, and stays inside. KASAN looks. */
static void area_test_hostile(struct kunit *test)
{
	struct area a = area_test_begin(test), next;
	u8 *memory = (u8 *)a.header;
	u64 magic = a.header->magic;
	struct rnd_state rnd;
	unsigned int run;
	u32 pos, kind, i;

	prandom_seed_state(&rnd, 42);
	for (run = 0; run < 200; run++) {
		prandom_bytes_state(&rnd, memory, TEST_SIZE);
		a.header->magic = magic;
		/* Small lengths come far. */
		for (i = 0; run % 2 && i < a.room; i += 8)
			*(u16 *)(a.log + i + 6) %= 64;
		memset(a.slot, 0, (a.mask + 1) * sizeof(*a.slot));
		area_place(&next, memory, TEST_SIZE, a.slot);
		KUNIT_ASSERT_TRUE(test, area_open(&next));
		for (kind = 0; kind < AREA_NR_KINDS; kind++) {
			for (pos = 0; area_next(&next, &pos, kind);)
				;
		}
		for (i = 0; i < next.nr_tasks; i++)
			area_find_task(&next, i);
	}
}

static void area_test_tasks(struct kunit *test)
{
	struct area a = area_test_begin(test), next;
	const struct area_task *task;
	struct area_task *place;

	area_put_task(&a, 5, "five");
	area_put_task(&a, 6, "a name that is too long");
	area_put_task(&a, 5 + a.nr_tasks, "another");
	next = area_test_place(test, a.header);
	KUNIT_ASSERT_TRUE(test, area_open(&next));
	KUNIT_EXPECT_NULL(test, area_find_task(&next, 5));
	KUNIT_EXPECT_NULL(test, area_find_task(&next, 0));
	task = area_find_task(&next, 5 + a.nr_tasks);
	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_EXPECT_STREQ(test, task->comm, "another");
	task = area_find_task(&next, 6);
	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_EXPECT_STREQ(test, task->comm, "a name that is ");
	/* One half of the old name, and one of the new one */
	place = &a.task[6];
	memcpy(place->comm, "a new", 5);
	KUNIT_EXPECT_NULL(test, area_find_task(&next, 6));
}

static struct kunit_case area_cases[] = {
	KUNIT_CASE(area_test_finds),
	KUNIT_CASE(area_test_renews),
	KUNIT_CASE(area_test_full),
	KUNIT_CASE(area_test_crowd),
	KUNIT_CASE(area_test_torn),
	KUNIT_CASE(area_test_hostile),
	KUNIT_CASE(area_test_tasks),
	{}
};

static struct kunit_suite area_suite = {
	.name = "trace_last_boot_area",
	.test_cases = area_cases,
};

kunit_test_suites(&area_suite);
