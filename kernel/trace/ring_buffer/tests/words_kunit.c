// SPDX-License-Identifier: GPL-2.0
/*
 * The words that writer and readers exchange: they return the fields that were put
 * in, also where a number in them wraps.
 */
#include <kunit/test.h>

#include "../internal.h"

static const u64 sequences[] = {
	0, 1, 2,
	BIT_ULL(40) - 2, BIT_ULL(40) - 1, BIT_ULL(40), BIT_ULL(40) + 1,	/* slot word */
	BIT_ULL(45) - 1, BIT_ULL(45),					/* publish word */
	BIT_ULL(46) - 1, BIT_ULL(46),					/* tail word */
	BIT_ULL(63), -2ULL, -1ULL,
};

static void words_desc_seq(const u64 *seq, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "0x%llx", *seq);
}

KUNIT_ARRAY_PARAM(words_seq, sequences, words_desc_seq);

/* A slot word knows how far it is ahead of a sequence, over any wrap. */
static void words_test_slot_ahead(struct kunit *test)
{
	static const s64 far[] = { 0, 1, 2, 63, RB_MAX_SUBBUFS, BIT_ULL(38) };
	u64 seq = *(const u64 *)test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		u64 word = rb_slot_word(seq + far[i], RB_MAX_SUBBUFS - 1, RB_SLOT_EMPTY);

		KUNIT_EXPECT_EQ(test, rb_slot_ahead(word, seq), far[i]);
		word = rb_slot_word(seq - far[i], 0, RB_SLOT_HELD);
		KUNIT_EXPECT_EQ(test, rb_slot_ahead(word, seq), -far[i]);
	}
}

/* Neither does a slot word's sequence touch the id and the flags, nor they it. */
static void words_test_slot_fields(struct kunit *test)
{
	static const u32 ids[] = { 0, 1, 2, 0x155555, RB_MAX_SUBBUFS - 1 };
	static const u64 flags[] = { 0, RB_SLOT_EMPTY, RB_SLOT_HELD, RB_SLOT_EMPTY | RB_SLOT_HELD };
	u64 seq = *(const u64 *)test->param_value;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		for (k = 0; k < ARRAY_SIZE(flags); k++) {
			u64 word = rb_slot_word(seq, ids[i], flags[k]);

			KUNIT_EXPECT_EQ(test, rb_slot_id(word), ids[i]);
			KUNIT_EXPECT_EQ(test, word & (RB_SLOT_EMPTY | RB_SLOT_HELD), flags[k]);
			KUNIT_EXPECT_EQ(test, rb_slot_ahead(word, seq), 0);
		}
	}
}

/* A publish word belongs to one sequence, and separates bytes and the end. */
static void words_test_publish(struct kunit *test)
{
	static const u32 units[] = { 0, 1, 1020, RB_CLOSED - 1 };
	u64 seq = *(const u64 *)test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		u64 open = rb_pub_word(seq, 0, units[i]);
		u64 final = rb_pub_word(seq, RB_PUB_FINAL, units[i]);

		KUNIT_EXPECT_EQ(test, rb_pub_bytes(open), units[i] * RB_UNIT);
		KUNIT_EXPECT_EQ(test, rb_pub_bytes(final), units[i] * RB_UNIT);
		KUNIT_EXPECT_EQ(test, open & RB_PUB_FINAL, 0ULL);
		KUNIT_EXPECT_EQ(test, final ^ open, (u64)RB_PUB_FINAL);
		KUNIT_EXPECT_TRUE(test, rb_pub_is(open, seq));
		KUNIT_EXPECT_TRUE(test, rb_pub_is(final, seq));
		KUNIT_EXPECT_FALSE(test, rb_pub_is(final, seq + 1));
		KUNIT_EXPECT_FALSE(test, rb_pub_is(open, seq - 1));
		KUNIT_EXPECT_FALSE(test, rb_pub_is(open, seq + BIT_ULL(44)));
	}
}

/* No two closed words of a sub-buffer are the same, and no open one is closed. */
static void words_test_tail(struct kunit *test)
{
	u64 seq = *(const u64 *)test->param_value;
	u64 closed = rb_tail_word(seq, RB_CLOSED);

	KUNIT_EXPECT_TRUE(test, rb_tail_closed(closed));
	KUNIT_EXPECT_NE(test, closed, rb_tail_word(seq + 1, RB_CLOSED));
	KUNIT_EXPECT_NE(test, closed, rb_tail_word(seq + RB_MAX_SUBBUFS, RB_CLOSED));
	KUNIT_EXPECT_FALSE(test, rb_tail_closed(rb_tail_word(seq, RB_CLOSED - 1)));
	KUNIT_EXPECT_EQ(test, rb_tail_units(rb_tail_word(seq, 1020)), 1020U);
	KUNIT_EXPECT_EQ(test, rb_tail_word(seq, 7) >> RB_TAIL_BITS,
			seq & (BIT_ULL(64 - RB_TAIL_BITS) - 1));
}

/* The largest possible sub-buffer ends below the value of a closed one. */
static void words_test_tail_reaches(struct kunit *test)
{
	unsigned int order = 0;

	while (order <= MAX_PAGE_ORDER && rb_subbuf_room(order) / RB_UNIT < RB_CLOSED)
		order++;
	KUNIT_ASSERT_GT(test, order, 0U);
	order--;
	KUNIT_EXPECT_FALSE(test, rb_tail_closed(rb_tail_word(0, rb_subbuf_room(order) / RB_UNIT)));
	KUNIT_EXPECT_EQ(test, rb_pub_bytes(rb_pub_word(0, 0, rb_subbuf_room(order) / RB_UNIT)),
			rb_subbuf_room(order));
}

/* The pointer to a ring changes with each exchange, also back to the same ring. */
static void words_test_retag(struct kunit *test)
{
	struct rb_ring *a = (struct rb_ring *)(5UL * RB_RING_ALIGN);
	struct rb_ring *b = (struct rb_ring *)(9UL * RB_RING_ALIGN);
	unsigned long word = (unsigned long)a, was;
	unsigned int i;

	for (i = 1; i < RB_RING_ALIGN; i++) {
		was = word;
		word = rb_retag(i & 1 ? b : a, was);
		KUNIT_EXPECT_PTR_EQ(test, rb_untag(word), i & 1 ? b : a);
		KUNIT_EXPECT_NE(test, word, was);
		KUNIT_EXPECT_NE(test, word, (unsigned long)a);
	}
}

static struct kunit_case words_test_cases[] = {
	KUNIT_CASE_PARAM(words_test_slot_ahead, words_seq_gen_params),
	KUNIT_CASE_PARAM(words_test_slot_fields, words_seq_gen_params),
	KUNIT_CASE_PARAM(words_test_publish, words_seq_gen_params),
	KUNIT_CASE_PARAM(words_test_tail, words_seq_gen_params),
	KUNIT_CASE(words_test_tail_reaches),
	KUNIT_CASE(words_test_retag),
	{}
};

static struct kunit_suite words_test_suite = {
	.name = "ring_buffer_words",
	.test_cases = words_test_cases,
};

kunit_test_suite(words_test_suite);
