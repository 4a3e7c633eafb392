// SPDX-License-Identifier: GPL-2.0
/*
 * Iterating where a writer comes in between, and the dump of an NMI that cannot
 * have the lock.
 */
#include <linux/preempt.h>

#include "world.h"

#define LEN	500

static struct {
	struct rbt	*w;
	enum rb_race	point;
	unsigned int	at;		/* how often it is passed before */
	bool		taken;
} iterating;

/* More than the ring holds is written. */
static void iterate_lap(enum rb_race point, const char *name)
{
	struct rbt *w = iterating.w;

	if (point != iterating.point || iterating.taken || iterating.at--)
		return;
	iterating.taken = true;
	rbt_write_n(w, LEN, 6 * rbt_room_for(w, LEN));
}

/* The iterator shows true records, in order, and reports each gap. */
static void iterate_rest(struct rbt *w, struct ring_buffer_iter *iter, u32 *next)
{
	struct ring_buffer_event *rec;
	bool missed;
	u32 num;
	u64 ts;

	while ((rec = ring_buffer_iter_peek(iter, &ts)) && !w->failed) {
		num = rbt_check(w, ring_buffer_event_data(rec), ts);
		if (num < *next)
			rbt_fail(w, "order: record %u behind %u", num, *next);
		missed = num != *next;
		if (ring_buffer_iter_dropped(iter) != missed)
			rbt_fail(w, "lost: record %u where %u would be the next", num, *next);
		*next = num + 1;
		ring_buffer_iter_advance(iter);
	}
	if (*next != w->nr)
		rbt_fail(w, "loss: it ends at %u of %u", *next, w->nr);
}

/* A writer overwrites a sub-buffer while the iterator copies all of it, or its rest. */
static void iterate_test_overwritten(struct kunit *test)
{
	static const enum rb_race points[] = { RB_RACE_LOCATED, RB_RACE_COPY, RB_RACE_COPIED };
	struct rbt *w = test->priv;
	struct ring_buffer_iter *iter;
	unsigned int i;
	u32 next;

	for (i = 0; i < ARRAY_SIZE(points) * 6 && !w->failed; i++) {
		iterating.w = w;
		iterating.point = points[i / 6];
		iterating.at = i / 2 % 3;
		iterating.taken = false;
		sprintf(w->what, "point %u, %u before, part %u", i / 6, iterating.at, i % 2);
		rbt_open(w, 4, RB_FL_OVERWRITE);
		iter = rbt_iter(w, w->buffer);
		next = 0;
		rbt_write_n(w, LEN, i % 2 ? 3 : 0);
		iterate_rest(w, iter, &next);
		rbt_write_n(w, LEN, 4 * rbt_room_for(w, LEN) - w->nr);
		WRITE_ONCE(rb_race_hook, iterate_lap);
		iterate_rest(w, iter, &next);
		WRITE_ONCE(rb_race_hook, NULL);
		KUNIT_EXPECT_TRUE(test, iterating.taken);
		ring_buffer_read_finish(iter);
	}
}

/* Begins with the first call. */
static struct ring_buffer_event *iterate_dump(struct rbt *w, u64 *ts, bool advance)
{
	struct ring_buffer_iter *iter = &w->buffer->cpus[w->cpu]->dump;
	struct ring_buffer_event *rec;
	unsigned long flags;

	local_irq_save(flags);
	if (!iter->dump)
		iter = ring_buffer_dump_start(w->buffer, w->cpu);
	rec = ring_buffer_iter_peek(iter, ts);
	if (advance)
		ring_buffer_iter_advance(iter);
	local_irq_restore(flags);
	return rec;
}

/* It shows these, in order. */
static void iterate_expect_dump(struct rbt *w, u32 from, u32 behind)
{
	struct ring_buffer_event *rec;
	u64 ts;

	for (; from < behind && !w->failed; from++) {
		rec = iterate_dump(w, &ts, true);
		rbt_expect(w, rec, ts, from);
	}
}

/* A dump advances only on request, and shows the records of the moment. */
static void iterate_test_dump(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	unsigned int i;
	u64 ts;

	rbt_open_two(w, 4, RB_FL_OVERWRITE);
	KUNIT_EXPECT_NULL(test, iterate_dump(w, &ts, true));
	rbt_write_n(w, LEN, 20);
	for (i = 0; i < 3; i++) {
		rec = iterate_dump(w, &ts, false);
		rbt_expect(w, rec, ts, 0U);
	}
	KUNIT_EXPECT_NOT_NULL(test, iterate_dump(w, NULL, false));
	iterate_expect_dump(w, 0, 12);
	/* All of it goes to another buffer. */
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_NULL(test, iterate_dump(w, &ts, true));
	rbt_write_n(w, LEN, 10);
	iterate_expect_dump(w, 20, 30);
	KUNIT_EXPECT_NULL(test, iterate_dump(w, &ts, true));
	rbt_write_n(w, LEN, 10);
	iterate_expect_dump(w, 30, 40);
	/* And back again: from the beginning. */
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	iterate_expect_dump(w, 0, 20);
	KUNIT_EXPECT_NULL(test, iterate_dump(w, &ts, true));
}

/* The ring of the dump goes live again: the dump shows its new records. */
static void iterate_test_dump_live_again(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i;
	u64 ts;

	rbt_open_two(w, 4, RB_FL_OVERWRITE);
	rbt_write_n(w, LEN, 5);
	iterate_expect_dump(w, 0, 3);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	rbt_write_n(w, LEN, 3);
	iterate_expect_dump(w, 5, 8);
	KUNIT_EXPECT_NULL(test, iterate_dump(w, &ts, true));
}

/* Behind a record that cannot be, the dump goes on with the next sub-buffer. */
static void iterate_test_dump_doubtful(struct kunit *test)
{
	static const u32 lengths[] = { 0x7ffffff0, 0xfffffffc, 5000 };
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	unsigned int i, at, room;
	struct rb_view view;
	u64 ts, seq;

	room = rb_subbuf_room(0) / rb_record_len(LEN);
	for (i = 0; i < 3 * ARRAY_SIZE(lengths) && !w->failed; i++) {
		at = i % 3;
		sprintf(w->what, "record %u of length %x", at, lengths[i / 3]);
		rbt_open(w, 4, RB_FL_OVERWRITE);
		rbt_write_n(w, LEN, 3 * room);
		seq = rbt_ring(w)->reader.seq + 1;
		KUNIT_ASSERT_TRUE(test, rb_locate(rbt_ring(w), &seq, &view));
		rec = (void *)view.sb->page->data + at * rb_record_len(LEN);
		KUNIT_ASSERT_TRUE(test, !rec->type_len);
		rec->array[0] = lengths[i / 3];
		iterate_expect_dump(w, 0, at);
		iterate_expect_dump(w, room, 3 * room);
		KUNIT_EXPECT_NULL(test, iterate_dump(w, &ts, true));
	}
}

static struct kunit_case iterate_test_cases[] = {
	KUNIT_CASE(iterate_test_overwritten),
	KUNIT_CASE(iterate_test_dump),
	KUNIT_CASE(iterate_test_dump_live_again),
	KUNIT_CASE(iterate_test_dump_doubtful),
	{}
};

RBT_SUITE(iterate);
