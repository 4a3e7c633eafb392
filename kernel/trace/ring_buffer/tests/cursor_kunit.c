// SPDX-License-Identifier: GPL-2.0
/*
 * A walk over a page that the test has made: every type of record, also those
 * that this ring buffer never writes.
 */
#include <kunit/test.h>

#include "../internal.h"

#define BYTES	1024

struct cursor_page {
	unsigned char	data[BYTES];
	unsigned int	end;
};

/* As the format has it, see events/header_event. */
static void cursor_header(struct cursor_page *p, u32 type, u32 delta)
{
#ifdef __BIG_ENDIAN
	u32 word = type << 27 | delta;
#else
	u32 word = type | delta << 5;
#endif

	memcpy(p->data + p->end, &word, sizeof(word));
}

/* Append a record that has its length in its header, or behind it. */
static void cursor_add(struct cursor_page *p, unsigned int len, u32 delta, bool small)
{
	u32 behind = len - 4;

	cursor_header(p, small ? behind / 4 : 0, delta);
	if (!small)
		memcpy(p->data + p->end + 4, &behind, sizeof(behind));
	p->end += len;
}

static void cursor_add_special(struct cursor_page *p, u32 type, u32 delta, u32 word,
			       unsigned int len)
{
	cursor_header(p, type, delta);
	memcpy(p->data + p->end + 4, &word, sizeof(word));
	p->end += len;
}

static struct cursor_page *cursor_page(struct kunit *test)
{
	struct cursor_page *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/* The cursor finds each record with its time, behind anything in between. */
static void cursor_test_types(struct kunit *test)
{
	static const struct {
		unsigned int	pos, len, payload;
		u64		time;
	} want[] = {
		{ 0, 12, 4, 1005 },
		{ 20, 128, 8, 1005 + (3ULL << 27) + 7 + 1 },
		{ 172, 116, 4, BIT_ULL(60) + (5ULL << 27) + 11 + 2 },
	};
	struct cursor_page *p = cursor_page(test);
	struct rb_cursor c = { .data = p->data };
	struct ring_buffer_event *rec;
	unsigned int i;

	cursor_add(p, 12, 5, true);
	cursor_add_special(p, 30, 7, 3, 8);
	cursor_add(p, 128, 1, false);
	/* One that was discarded has a length; its time counts. */
	cursor_add_special(p, 29, 9, 12, 16);
	cursor_add_special(p, 31, 11, 5, 8);
	cursor_add(p, 116, 2, true);
	/* The rest of the page is not used. */
	cursor_header(p, 29, 0);
	p->end += 40;

	c.end = p->end;
	c.time = 1000;
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		/* An absolute stamp takes its upper bits from the time before. */
		if (i == 2)
			c.time |= BIT_ULL(60);
		rec = rb_cursor_next(&c);
		KUNIT_ASSERT_NOT_NULL(test, rec);
		KUNIT_EXPECT_EQ(test, c.pos, want[i].pos);
		KUNIT_EXPECT_EQ(test, c.time, want[i].time);
		KUNIT_EXPECT_EQ(test, rb_total_len(rec), want[i].len);
		KUNIT_EXPECT_PTR_EQ(test, rb_payload(rec),
				    (void *)(p->data + want[i].pos + want[i].payload));
		rb_cursor_skip(&c, rec);
		KUNIT_EXPECT_TRUE(test, rb_cursor_valid(&c, rec));
	}
	KUNIT_EXPECT_NULL(test, rb_cursor_next(&c));
	KUNIT_EXPECT_EQ(test, c.pos, p->end);

	c.pos = 0;
	KUNIT_EXPECT_EQ(test, rb_cursor_count(&c), 3UL);
	KUNIT_EXPECT_EQ(test, c.pos, p->end);
}

/* A discarded record between two others takes its time and its place. */
static void cursor_test_discarded(struct kunit *test)
{
	struct cursor_page *p = cursor_page(test);
	struct rb_cursor c = { .data = p->data, .time = 100 };
	struct ring_buffer_event *rec;

	cursor_add_special(p, 29, 9, 12, 16);
	cursor_add(p, 8, 1, true);
	c.end = p->end;
	rec = rb_cursor_next(&c);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, c.pos, 16U);
	KUNIT_EXPECT_EQ(test, c.time, 110ULL);
}

/* A record that is longer than the rest of the page is not valid. */
static void cursor_test_valid(struct kunit *test)
{
	static const struct {
		unsigned int	before, len, end;
		bool		valid;
	} cases[] = {
		{ 0, 16, 16, true }, { 0, 16, 12, false }, { 8, 16, 24, true },
		{ 8, 16, 20, false }, { 0, 8, 4, false }, { 8, 8, 12, false }, { 0, 4, 4, true },
		/* So long that the place behind it wraps. */
		{ 64, -32U, 64 + 32, false }, { 0, 2, 8, false },
	};
	struct cursor_page *p = cursor_page(test);
	struct ring_buffer_event *rec;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rb_cursor c = { .data = p->data, .end = cases[i].end };

		p->end = 0;
		if (cases[i].before)
			cursor_add(p, cases[i].before, 1, true);
		cursor_add(p, cases[i].len, 1, cases[i].len == 8);
		if (cases[i].before)
			rb_cursor_skip(&c, rb_cursor_next(&c));
		rec = rb_cursor_next(&c);
		KUNIT_ASSERT_NOT_NULL(test, rec);
		rb_cursor_skip(&c, rec);
		KUNIT_EXPECT_EQ_MSG(test, rb_cursor_valid(&c, rec), cases[i].valid,
				    "%u bytes behind %u, up to %u", cases[i].len, cases[i].before,
				    cases[i].end);
	}
}

static const unsigned int lens[] = { 8, 8, 12, 116, 116, 120, 120, 8, 16, 8 };

/* Skip records up to the limit in one go: all but the last one, up to a word without data. */
static void cursor_expect_skip(struct kunit *test, struct cursor_page *p, unsigned int from,
			       unsigned int nr, unsigned int limit)
{
	struct rb_cursor c = { .data = p->data, .pos = from, .end = p->end, .time = 1000 };
	unsigned int pos = 0, i;
	unsigned long records = 0;
	u64 time = 1000;

	for (i = 0; i < nr; pos += lens[i++]) {
		if (pos < from)
			continue;
		if (pos + lens[i] > limit || pos + lens[i] + 4 > p->end)
			break;
		records++;
		time += i + 1;
	}
	KUNIT_EXPECT_EQ(test, rb_cursor_skip_plain(&c, limit), records);
	KUNIT_EXPECT_EQ(test, c.pos, max(pos, from));
	KUNIT_EXPECT_EQ(test, c.time, time);
}

static void cursor_test_skip(struct kunit *test)
{
	struct cursor_page *p = cursor_page(test);
	unsigned int stamp, i, at, limit;

	for (stamp = 1; stamp <= ARRAY_SIZE(lens); stamp++) {
		p->end = 0;
		for (i = 0; i < stamp; i++)
			cursor_add(p, lens[i], i + 1, lens[i] <= 116);
		/* Something else in front of the next one, unless the page ends here. */
		if (stamp < ARRAY_SIZE(lens)) {
			cursor_add_special(p, 29 + stamp % 3, 1, 4, 8);
			cursor_add(p, 8, 1, true);
		}
		for (at = 0, i = 0; i < stamp; at += lens[i++]) {
			for (limit = at; limit <= p->end; limit += 4)
				cursor_expect_skip(test, p, at, stamp, limit);
		}
		cursor_expect_skip(test, p, p->end, 0, p->end);
	}
}

static struct kunit_case cursor_test_cases[] = {
	KUNIT_CASE(cursor_test_types),
	KUNIT_CASE(cursor_test_discarded),
	KUNIT_CASE(cursor_test_valid),
	KUNIT_CASE(cursor_test_skip),
	{}
};

static struct kunit_suite cursor_test_suite = {
	.name = "ring_buffer_cursor",
	.test_cases = cursor_test_cases,
};

kunit_test_suite(cursor_test_suite);
