// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of text that grows: it is what was appended, wherever there was no room.
 */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "../../tests/tracefs.h"
#include "../internal.h"

#define DAT_TEXT_LINES	300

/**
 * struct dat_text_test - a text, and the same bytes
 * @text: the text
 * @want: the bytes
 * @len:  number of bytes
 */
struct dat_text_test {
	struct dat_text	text;
	char		*want;
	size_t		len;
};

static struct dat_text_test *dat_text_begin(struct kunit *test)
{
	struct dat_text_test *t = tfs_zalloc(test, sizeof(*t));

	t->want = kunit_kzalloc(test, SZ_1M, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->want);
	return t;
}

static void dat_text_want(struct dat_text_test *t, const void *data, size_t len)
{
	memcpy(t->want + t->len, data, len);
	t->len += len;
}

/* Lines of many lengths, with their numbers */
static unsigned int dat_text_width(unsigned int nr)
{
	return 1 + nr * 13 % 1500;
}

static void dat_text_want_line(struct dat_text_test *t, unsigned int nr)
{
	t->len += scnprintf(t->want + t->len, SZ_1M - t->len, "%0*u\n", dat_text_width(nr), nr);
}

static void dat_text_print_line(struct seq_file *m, void *data)
{
	unsigned int *nr = data;

	seq_printf(m, "%0*u\n", dat_text_width(*nr), *nr);
}

/* @dat_text_held: lines that were shown since the start; @dat_text_longest: at most, of all */
static unsigned int dat_text_nr, dat_text_held, dat_text_longest;

static void *dat_text_find(loff_t pos)
{
	dat_text_nr = pos;
	return dat_text_nr < DAT_TEXT_LINES ? &dat_text_nr : NULL;
}

static void *dat_text_start(struct seq_file *m, loff_t *pos)
{
	dat_text_held = 0;
	return dat_text_find(*pos);
}

static void *dat_text_next(struct seq_file *m, void *v, loff_t *pos)
{
	return dat_text_find(++*pos);
}

static void dat_text_stop(struct seq_file *m, void *v)
{
	dat_text_longest = max(dat_text_longest, dat_text_held);
}

static int dat_text_show(struct seq_file *m, void *v)
{
	dat_text_print_line(m, v);
	dat_text_held++;
	return 0;
}

static const struct seq_operations dat_text_ops = {
	.start	= dat_text_start,
	.next	= dat_text_next,
	.stop	= dat_text_stop,
	.show	= dat_text_show,
};

/* The text ends as a block of the same bytes. */
static void dat_text_expect(struct kunit *test, struct dat_text_test *t)
{
	struct dat_block block = {};

	KUNIT_ASSERT_EQ(test, dat_finish(&t->text, &block), 0);
	KUNIT_ASSERT_EQ(test, block.len, t->len);
	KUNIT_EXPECT_EQ(test, memcmp(block.data, t->want, t->len), 0);
	kvfree(block.data);
}

static void dat_text_test_numbers(struct kunit *test)
{
	struct dat_text_test *t = dat_text_begin(test);
	u64 value;
	u32 half;
	u16 quarter;
	int i;

	for (i = 0; i < 1000; i++) {
		value = 0x0123456789abcdefULL * (i + 1);
		half = value;
		quarter = value;
		dat_put_u16(&t->text, quarter);
		dat_text_want(t, &quarter, sizeof(quarter));
		dat_put_u32(&t->text, half);
		dat_text_want(t, &half, sizeof(half));
		dat_put_u64(&t->text, value);
		dat_text_want(t, &value, sizeof(value));
		dat_put_string(&t->text, i % 2 ? "a string" : "");
		dat_text_want(t, i % 2 ? "a string" : "", i % 2 ? sizeof("a string") : 1);
	}
	dat_text_expect(test, t);
}

static void dat_text_test_lines(struct kunit *test)
{
	struct dat_text_test *t = dat_text_begin(test);
	unsigned int nr;

	for (nr = 0; nr < DAT_TEXT_LINES; nr++) {
		dat_print(&t->text, dat_text_print_line, &nr);
		dat_text_want_line(t, nr);
	}
	/* All in one, behind the others */
	dat_print_all(&t->text, &dat_text_ops);
	for (nr = 0; nr < DAT_TEXT_LINES; nr++)
		dat_text_want_line(t, nr);
	dat_text_expect(test, t);
}

/* A sequential file holds its locks for some entries at a time, also where there is room. */
static void dat_text_test_parts(struct kunit *test)
{
	struct dat_text_test *t = dat_text_begin(test);
	unsigned int nr;

	for (nr = 0; nr < DAT_TEXT_LINES; nr++) {
		dat_print(&t->text, dat_text_print_line, &nr);
		dat_text_want_line(t, nr);
	}
	t->text.m.count = 0;
	dat_text_longest = 0;
	dat_print_all(&t->text, &dat_text_ops);
	KUNIT_EXPECT_GT(test, dat_text_longest, 1U);
	KUNIT_EXPECT_LT(test, dat_text_longest, 100U);
	dat_text_expect(test, t);
}

/* The length of a block is in front of it, also of one in another one. */
static void dat_text_test_blocks(struct kunit *test)
{
	struct dat_text_test *t = dat_text_begin(test);
	const u32 inner = 6000;
	const u64 outer = sizeof(inner) + inner;
	size_t begin[2];
	int i;

	begin[0] = dat_begin(&t->text, sizeof(outer));
	begin[1] = dat_begin(&t->text, sizeof(inner));
	dat_text_want(t, &outer, sizeof(outer));
	dat_text_want(t, &inner, sizeof(inner));
	for (i = 0; i < inner; i++) {
		dat_put(&t->text, "x", 1);
		dat_text_want(t, "x", 1);
	}
	dat_end(&t->text, sizeof(inner), begin[1]);
	dat_end(&t->text, sizeof(outer), begin[0]);
	dat_put(&t->text, "end", 3);
	dat_text_want(t, "end", 3);
	dat_text_expect(test, t);
}

/* A text that is not complete is none. */
static void dat_text_test_error(struct kunit *test)
{
	struct dat_text_test *t = dat_text_begin(test);
	struct dat_block block = {};

	dat_put(&t->text, "begin", 5);
	t->text.err = -ENOMEM;
	dat_put_u64(&t->text, 1);
	dat_print_all(&t->text, &dat_text_ops);
	KUNIT_EXPECT_EQ(test, t->text.m.count, (size_t)5);
	KUNIT_EXPECT_EQ(test, dat_finish(&t->text, &block), -ENOMEM);
	KUNIT_EXPECT_NULL(test, block.data);
}

static struct kunit_case dat_text_cases[] = {
	KUNIT_CASE(dat_text_test_numbers),
	KUNIT_CASE(dat_text_test_lines),
	KUNIT_CASE(dat_text_test_parts),
	KUNIT_CASE(dat_text_test_blocks),
	KUNIT_CASE(dat_text_test_error),
	{ }
};

static struct kunit_suite dat_text_suite = {
	.name = "trace_dat_text",
	.test_cases = dat_text_cases,
};

kunit_test_suite(dat_text_suite);
