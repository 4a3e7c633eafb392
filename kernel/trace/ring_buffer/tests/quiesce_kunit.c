// SPDX-License-Identifier: GPL-2.0
/*
 * A task that dies between reserve and commit: nothing waits for it, published records
 * stay, others are counted, and the CPU records again.
 */
#include <linux/preempt.h>

#include "world.h"

static const struct quiesce_case {
	unsigned int	before;		/* records in front of the one that is not committed */
	unsigned int	behind;		/* records of interrupts behind it */
	unsigned int	read;		/* records that are consumed before */
	unsigned int	flags;
} cases[] = {
	{ 0, 0, 0, RB_FL_OVERWRITE }, { 5, 0, 0, RB_FL_OVERWRITE }, { 5, 3, 2, RB_FL_OVERWRITE },
	{ 5, 30, 5, RB_FL_OVERWRITE }, { 50, 0, 0, RB_FL_OVERWRITE },
	{ 90, 25, 30, RB_FL_OVERWRITE }, { 300, 400, 0, RB_FL_OVERWRITE },
	{ 19, 1, 19, RB_FL_OVERWRITE }, { 5, 3, 0, 0 }, { 19, 30, 7, 0 }, { 90, 0, 90, 0 },
	{ 300, 400, 10, 0 },
};

static void quiesce_desc(const struct quiesce_case *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u, then %u behind, %u read, %s", p->before,
		 p->behind, p->read, p->flags ? "overwrite" : "keep");
}

KUNIT_ARRAY_PARAM(quiesce, cases, quiesce_desc);

/* Records that are never published count as refused. */
static void quiesce_refuse(struct rbt *w, u32 from)
{
	for (; from < w->nr; from++)
		w->recs[from].state = RBT_REFUSED;
}

/* Have a task die in the middle of a record. */
static void quiesce_die(struct rbt *w)
{
	const struct quiesce_case *p = w->test->param_value;
	u32 num;

	rbt_open(w, 5, p->flags);
	rbt_write_n(w, 200, p->before);
	rbt_consume_n(w, p->read);
	if (!rbt_reserve(w, 200, &num))
		return;
	/* The scheduler sets the preempt count of a task right that has died. */
	preempt_enable_notrace();
	rbt_write_n(w, 200, p->behind);
	quiesce_refuse(w, num);
}

static void quiesce_test_resize(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int size;

	for (size = 4; size < 9; size += 4) {
		quiesce_die(w);
		rbt_resize(w, size);
		rbt_write_n(w, 200, 15);
		rbt_account(w);
	}
}

static void quiesce_test_order(struct kunit *test)
{
	struct rbt *w = test->priv;

	quiesce_die(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
	rbt_write_n(w, 200, 15);
	rbt_account(w);
}

/* After a reset not even the slow path is left of it. */
static void quiesce_test_reset(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct rb_cpu *rcpu;

	quiesce_die(w);
	ring_buffer_reset(w->buffer);
	rcpu = w->buffer->cpus[w->cpu];
	KUNIT_EXPECT_EQ(test, rcpu->write.live, 0UL);
	KUNIT_EXPECT_EQ(test, rcpu->write.share, RB_SHARE_PLAIN);
	KUNIT_EXPECT_EQ(test, rcpu->depth, 0U);
	KUNIT_EXPECT_EQ(test, rbt_ring(w)->nest, 0U);
	rbt_drop_all(w);
	rbt_expect_empty(w, w->buffer);
	rbt_write_n(w, 200, 70);
	rbt_account(w);
}

/* Nor is anything left of the write that another one was nested in, however often. */
static void quiesce_test_nested(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	unsigned int i;
	u32 num, in;

	rbt_open(w, 5, RB_FL_OVERWRITE);
	for (i = 0; i <= RB_MAX_WRITES; i++) {
		KUNIT_ASSERT_NOT_NULL(test, rbt_reserve(w, 200, &num));
		KUNIT_ASSERT_NOT_NULL(test, rbt_reserve(w, 200, &in));
		preempt_enable_notrace();
		preempt_enable_notrace();
		w->recs[num].state = RBT_GONE;
		w->recs[in].state = RBT_GONE;
		ring_buffer_reset(w->buffer);
		KUNIT_EXPECT_EQ(test, w->buffer->cpus[w->cpu]->depth, 0U);
	}
	rec = rbt_must_reserve(w, 200, &num);
	rbt_write(w, 200);
	rbt_commit(w, rec, num);
	rbt_account(w);
}

/* The snapshot has all that was committed, and its ring can be used for the next one. */
static void quiesce_test_cut(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i;

	quiesce_die(w);
	rbt_open_other(w, 5, RB_FL_OVERWRITE);
	KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	w->swapped = true;
	rbt_write_n(w, 200, 3);
	ring_buffer_wait_writers(w->other);
	rbt_account(w);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->other), i ? 12UL : 0UL);
		rbt_write_n(w, 200, 12);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 12UL);
	}
}

/* It may be the first writer since a cut. */
static void quiesce_test_first(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i;
	u32 num;

	rbt_open_two(w, 5, RB_FL_OVERWRITE);
	for (i = 0; i < 2; i++) {
		rbt_write_n(w, 200, 30);
		KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	}
	KUNIT_ASSERT_NOT_NULL(test, rbt_reserve(w, 200, &num));
	preempt_enable_notrace();
	rbt_write_n(w, 200, 2);
	KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	ring_buffer_wait_writers(w->other);
	KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(w->other, w->cpu), 3UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->other), 0UL);
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(w->other, w->cpu, NULL, NULL));
	rbt_write_n(w, 200, 5);
	KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->other), 5UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(w->other, w->cpu), 0UL);
}

static struct kunit_case quiesce_test_cases[] = {
	KUNIT_CASE_PARAM(quiesce_test_resize, quiesce_gen_params),
	KUNIT_CASE_PARAM(quiesce_test_order, quiesce_gen_params),
	KUNIT_CASE_PARAM(quiesce_test_reset, quiesce_gen_params),
	KUNIT_CASE_PARAM(quiesce_test_cut, quiesce_gen_params),
	KUNIT_CASE(quiesce_test_nested),
	KUNIT_CASE(quiesce_test_first),
	{}
};

RBT_SUITE(quiesce);
