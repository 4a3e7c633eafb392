// SPDX-License-Identifier: GPL-2.0
/*
 * Resize, swap and reset: kept records, counts, errors.
 */
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "world.h"

static const struct exchange_resize {
	unsigned int	from;		/* sub-buffers */
	unsigned int	to;
	unsigned int	percent;	/* of the old ring that is filled */
	unsigned int	read;		/* records that are consumed before */
} resizes[] = {
	{ 4, 9, 0, 0 }, { 4, 9, 50, 0 }, { 4, 9, 100, 0 }, { 4, 9, 300, 0 }, { 4, 9, 300, 5 },
	{ 9, 4, 0, 0 }, { 9, 4, 30, 0 }, { 9, 4, 100, 0 }, { 9, 4, 300, 0 }, { 9, 4, 300, 5 },
	{ 9, 2, 100, 0 }, { 9, 2, 100, 40 }, { 3, 2, 300, 1 }, { 2, 3, 300, 1 }, { 2, 40, 150, 0 },
	{ 5, 5, 100, 3 }, { 9, 1, 100, 0 },
};

static void exchange_desc_resize(const struct exchange_resize *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to %u, %u%%, %u read", p->from, p->to,
		 p->percent, p->read);
}

KUNIT_ARRAY_PARAM(exchange_resize, resizes, exchange_desc_resize);

static void exchange_resize(struct rbt *w, unsigned int flags)
{
	const struct exchange_resize *p = w->test->param_value;
	struct kunit *test = w->test;
	unsigned long before, after;

	rbt_open(w, p->from, flags);
	rbt_write_n(w, 200, p->percent * p->from * rbt_room_for(w, 200) / 100);
	rbt_consume_n(w, p->read);
	before = ring_buffer_entries_cpu(w->buffer, w->cpu);
	KUNIT_ASSERT_EQ(test, ring_buffer_resize(w->buffer, p->to * rb_subbuf_room(0),
						 RING_BUFFER_ALL_CPUS), 0);
	after = ring_buffer_entries_cpu(w->buffer, w->cpu);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(w->buffer, w->cpu),
			(unsigned long)max(p->to, 2U) * rb_subbuf_room(0));
	if (p->to >= p->from)
		KUNIT_EXPECT_EQ(test, after, before);
	else
		KUNIT_EXPECT_GE(test, after, min(before, (max(p->to, 2U) - 1UL) *
						 rbt_room_for(w, 200)));
	rbt_write_n(w, 200, 2 * p->to * rbt_room_for(w, 200));
	rbt_account(w);
}

/* The newest records stay, the others are counted and reported to the reader. */
static void exchange_test_resize(struct kunit *test)
{
	exchange_resize(test->priv, RB_FL_OVERWRITE);
	exchange_resize(test->priv, 0);
}

/* A resize that there is no memory for changes nothing. */
static void exchange_test_resize_too_large(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned long size;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 30);
	size = ring_buffer_size(w->buffer, w->cpu);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, ULONG_MAX / 2, w->cpu), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(w->buffer, w->cpu), size);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(NULL, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 1, nr_cpu_ids), 0);
	rbt_account(w);
}

/* Of one CPU, of all, and of those that are online. */
static void exchange_test_reset(struct kunit *test)
{
	static const unsigned int filled[] = { 0, 1, 20, 57, 100, 300 };
	struct rbt *w = test->priv;
	unsigned int i;

	for (i = 0; i < 6 * ARRAY_SIZE(filled) && !w->failed; i++) {
		rbt_open(w, 3, i & 1 ? RB_FL_OVERWRITE : 0);
		rbt_write_n(w, 200, filled[i / 6]);
		rbt_consume(w);
		if (i / 2 % 3 == 0)
			ring_buffer_reset_cpu(w->buffer, w->cpu);
		else if (i / 2 % 3 == 1)
			ring_buffer_reset(w->buffer);
		else
			ring_buffer_reset_online_cpus(w->buffer);
		rbt_drop_all(w);
		rbt_expect_empty(w, w->buffer);
		rbt_write_n(w, 200, 70);
		rbt_account(w);
	}
}

/* A record during a reset is refused. */
static struct rbt *exchange_resets;

static void exchange_refused(enum rb_race point, const char *name)
{
	struct rbt *w = exchange_resets;

	if (point == RB_RACE_REFUSING || point == RB_RACE_RESET)
		KUNIT_EXPECT_EQ(w->test, ring_buffer_write(w->buffer, 4, "abc"), -EBUSY);
}

static void exchange_test_reset_refuses(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 30);
	exchange_resets = w;
	WRITE_ONCE(rb_race_hook, exchange_refused);
	ring_buffer_reset(w->buffer);
	WRITE_ONCE(rb_race_hook, NULL);
	rbt_drop_all(w);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(w->buffer));
	rbt_write_n(w, 200, 30);
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, 30U);
}

/* A reset, and then record 20: an iterator with a copy of records before it sees only that. */
static void exchange_reset_under(struct rbt *w, struct ring_buffer_iter *iter)
{
	struct ring_buffer_event *rec;
	u64 ts;

	ring_buffer_reset_online_cpus(w->buffer);
	rbt_drop_all(w);
	KUNIT_EXPECT_NULL(w->test, ring_buffer_iter_peek(iter, NULL));
	rbt_write(w, 500);
	rec = ring_buffer_iter_peek(iter, &ts);
	rbt_expect(w, rec, ts, 20U);
}

/* An iterator that meets a reset sees new records only. */
static void exchange_test_reset_iterator(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	u64 ts;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 500, 20);
	iter = rbt_iter(w, w->buffer);
	ring_buffer_iter_advance(iter);
	exchange_reset_under(w, iter);
	ring_buffer_iter_reset(iter);
	rec = ring_buffer_iter_peek(iter, &ts);
	rbt_expect(w, rec, ts, 20U);
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* The same where they have moved to another ring. */
static void exchange_test_resize_iterator(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	u64 ts, first;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 500, 20);
	iter = rbt_iter(w, w->buffer);
	KUNIT_ASSERT_NOT_NULL(test, ring_buffer_iter_peek(iter, &first));
	rbt_resize(w, 9);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, &ts));
	KUNIT_EXPECT_EQ(test, ts, first);
	exchange_reset_under(w, iter);
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* An iterator at the end goes on at the first record behind any number of resets. */
static void exchange_test_resets_at_end(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;
	u64 ts;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 5);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(test, rbt_iterate(w, iter, 0, 5), 5U);
	while (w->nr < 8 && !w->failed) {
		ring_buffer_reset(w->buffer);
		rbt_drop_all(w);
		KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
		ring_buffer_reset(w->buffer);
		rbt_write(w, 100);
		rec = ring_buffer_iter_peek(iter, &ts);
		rbt_expect(w, rec, ts, w->nr - 1);
		ring_buffer_iter_advance(iter);
	}
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* Records that were overwritten before a reset are not lost behind it. */
static void exchange_test_reset_lost(struct kunit *test)
{
	struct ring_buffer_iter *iter;
	struct rbt *w = test->priv;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 500, 2);
	iter = rbt_iter(w, w->buffer);
	ring_buffer_iter_advance(iter);
	rbt_write_n(w, 500, 100);
	do {
		ring_buffer_iter_advance(iter);
		KUNIT_ASSERT_NOT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	} while (!ring_buffer_iter_dropped(iter));
	ring_buffer_reset(w->buffer);
	rbt_drop_all(w);
	rbt_write(w, 500);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	KUNIT_EXPECT_FALSE(test, ring_buffer_iter_dropped(iter));
	ring_buffer_read_finish(iter);
	rbt_account(w);
}

/* An iterator that is opened while sub-buffers change their size shows no erased record. */
static struct exchange_opened {
	struct rbt		*w;
	struct ring_buffer_iter	*iter;
} exchange_opened;

static void exchange_open_iter(enum rb_race point, const char *name)
{
	struct rbt *w = exchange_opened.w;

	if (point == RB_RACE_LIVE && !exchange_opened.iter)
		exchange_opened.iter = ring_buffer_read_start(w->buffer, w->cpu, GFP_ATOMIC);
}

static void exchange_test_order_iterator(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 5);
	exchange_opened = (struct exchange_opened){ .w = w };
	WRITE_ONCE(rb_race_hook, exchange_open_iter);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
	WRITE_ONCE(rb_race_hook, NULL);
	rbt_drop_all(w);
	KUNIT_ASSERT_NOT_NULL(test, exchange_opened.iter);
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(exchange_opened.iter, NULL));
	ring_buffer_read_finish(exchange_opened.iter);
}

/* A record in flight at the swap belongs to the ring that was swapped out. */
static void exchange_test_swap_in_flight(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	u32 num;

	rbt_open_two(w, 3, RB_FL_OVERWRITE);
	rec = rbt_must_reserve(w, 200, &num);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	w->swapped = true;
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->other, w->cpu));
	rbt_commit(w, rec, num);
	KUNIT_EXPECT_FALSE(test, ring_buffer_empty_cpu(w->other, w->cpu));
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->buffer, w->cpu));
	rbt_write(w, 200);
	rbt_account(w);
}

/* Each reason of a swap to do nothing; a cut has that of sub-buffers of another size. */
static void exchange_test_swap_refused(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_open_other(w, 4, RB_FL_OVERWRITE);
	rbt_write_n(w, 8, 3);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EINVAL);
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->other, 1), 0);
	ring_buffer_resize(w->other, 3 * rb_subbuf_room(1), RING_BUFFER_ALL_CPUS);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EINVAL);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), -EINVAL);
	/* That will not change, a record in flight would. */
	rec = ring_buffer_lock_reserve(w->other, 8);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), -EINVAL);
	ring_buffer_discard_commit(w->other, rec);
	KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->other, 0), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->buffer, w->cpu), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, nr_cpu_ids), -EINVAL);
	ring_buffer_resize(w->other, 3 * rb_subbuf_room(0), RING_BUFFER_ALL_CPUS);
	ring_buffer_record_disable(w->other);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EAGAIN);
	ring_buffer_record_enable(w->other);
	ring_buffer_record_disable(w->buffer);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EAGAIN);
	ring_buffer_record_enable(w->buffer);
	ring_buffer_record_disable_cpu(w->other, w->cpu);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EAGAIN);
	ring_buffer_record_enable_cpu(w->other, w->cpu);
	ring_buffer_record_disable_cpu(w->buffer, w->cpu);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EAGAIN);
	ring_buffer_record_enable_cpu(w->buffer, w->cpu);
	KUNIT_ASSERT_TRUE(test, rb_exchange_trylock(w->other->cpus[w->cpu], 1));
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EBUSY);
	rb_exchange_unlock(w->other->cpus[w->cpu]);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 3UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), 3UL);
}

/* Refused and overwritten records stay counted over resizes of each kind, until a reset. */
static void exchange_test_counts(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned long overrun;
	unsigned int i;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 200);
	overrun = ring_buffer_overrun_cpu(w->buffer, w->cpu);
	KUNIT_ASSERT_GT(test, overrun, 0UL);
	for (i = 1; i <= 3; i++) {
		/* As if this had happened in the ring of now. */
		local_add(3, &rbt_ring(w)->commit_overrun);
		local_add(5, &rbt_ring(w)->dropped);
		if (i < 3) {
			rbt_resize(w, 4 + i);
		} else {
			overrun += ring_buffer_entries_cpu(w->buffer, w->cpu);
			KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
		}
		KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(w->buffer, w->cpu), 3UL * i);
		KUNIT_EXPECT_EQ(test, ring_buffer_dropped_events_cpu(w->buffer, w->cpu), 5UL * i);
		KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), overrun);
	}

	local_add(1, &rbt_ring(w)->commit_overrun);
	local_add(1, &w->buffer->cpus[w->cpu]->nest_drops);
	ring_buffer_reset(w->buffer);
	KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_dropped_events_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
	rbt_drop_all(w);
}

/* A ring that becomes smaller keeps the newest; the next record reports the lost ones. */
static void exchange_test_resize_lost(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned long lost, before;
	unsigned int i;
	u64 ts;

	for (i = 0; i < 2; i++) {
		rbt_open(w, 9, RB_FL_OVERWRITE);
		rbt_write_n(w, 200, 6 * rbt_room_for(w, 200));
		/* The second time some are lost already, and not reported. */
		if (i)
			rbt_write_n(w, 200, 6 * rbt_room_for(w, 200));
		before = ring_buffer_entries_cpu(w->buffer, w->cpu);
		rbt_resize(w, 3);
		KUNIT_EXPECT_LT(test, ring_buffer_entries_cpu(w->buffer, w->cpu), before);
		KUNIT_EXPECT_NOT_NULL(test, ring_buffer_peek(w->buffer, w->cpu, &ts, &lost));
		KUNIT_EXPECT_EQ(test, lost, ring_buffer_overrun_cpu(w->buffer, w->cpu));
		KUNIT_EXPECT_EQ(test, ts, w->recs[lost].time);
		/* And smaller again, before anything was read. */
		rbt_resize(w, 2);
		rbt_write_n(w, 200, 4 * rbt_room_for(w, 200));
		rbt_account(w);
	}
}

/* In the middle of a swap: the second buffer gets the records that are written to both. */
static void exchange_between(enum rb_race point, const char *name)
{
	struct rbt *w = exchange_resets;

	if (point != RB_RACE_SWAP_HALF)
		return;
	WRITE_ONCE(rb_race_hook, NULL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_write(w->other, 4, "abc"), 0);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_write(w->buffer, 4, "def"), 0);
}

static void exchange_test_swap_half(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open_two(w, 3, RB_FL_OVERWRITE);
	exchange_resets = w;
	WRITE_ONCE(rb_race_hook, exchange_between);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_PTR_EQ(test, rb_race_hook, NULL);
	WRITE_ONCE(rb_race_hook, NULL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), 2UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 0UL);
}

/*
 * While an operation holds the rings: another one does nothing, a grace period lies between
 * two steps, and the locks that keep others out are held.
 */
static struct {
	struct rbt		*w;
	unsigned long		passed;		/* race points that were looked at */
	struct rcu_gp_oldstate	before;		/* at the point before */
	unsigned int		writes;
	enum rb_race		at;		/* where they come */
} exchange_beside;

static void exchange_holds(enum rb_race point, const char *name)
{
	struct rbt *w = exchange_beside.w;

	/* The next CPUs follow. */
	if (exchange_beside.passed)
		return;
	switch (point) {
	case RB_RACE_GO_LIVE:
	case RB_RACE_SUCCESSOR:
		KUNIT_EXPECT_TRUE(w->test, lockdep_is_held_type(&w->buffer->cpu_mutex, -1));
		fallthrough;
	case RB_RACE_REFUSING:
	case RB_RACE_RESET:
		KUNIT_EXPECT_TRUE(w->test, lockdep_is_held_type(&w->buffer->mutex, -1));
		KUNIT_EXPECT_EQ(w->test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu),
				point == RB_RACE_GO_LIVE || point == RB_RACE_SUCCESSOR ? -EBUSY :
										    -EAGAIN);
		KUNIT_EXPECT_EQ(w->test, rbt_cut(w->buffer, w->other, w->cpu), -EBUSY);
		KUNIT_EXPECT_EQ(w->test, rbt_cut(w->other, w->buffer, w->cpu), -EBUSY);
		KUNIT_EXPECT_EQ(w->test, ring_buffer_forget(w->buffer), -EBUSY);
		break;
	default:
		break;
	}

	switch (point) {
	case RB_RACE_LIVE:
	case RB_RACE_REFUSING:
		get_state_synchronize_rcu_full(&exchange_beside.before);
		break;
	case RB_RACE_RESET:
	case RB_RACE_SUCCESSOR:
		exchange_beside.passed++;
		KUNIT_EXPECT_TRUE(w->test,
				  poll_state_synchronize_rcu_full(&exchange_beside.before));
		get_state_synchronize_rcu_full(&exchange_beside.before);
		break;
	default:
		break;
	}
}

static void exchange_test_holds(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i;

	rbt_open_two(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 30);
	exchange_beside.w = w;
	for (i = 0; i < 3; i++) {
		exchange_beside.passed = 0;
		WRITE_ONCE(rb_race_hook, exchange_holds);
		if (!i)
			ring_buffer_resize(w->buffer, 4 * rb_subbuf_room(0), w->cpu);
		else if (i == 1)
			ring_buffer_subbuf_order_set(w->buffer, 1);
		else
			ring_buffer_reset(w->buffer);
		WRITE_ONCE(rb_race_hook, NULL);
		KUNIT_EXPECT_EQ(test, exchange_beside.passed, 1UL);
	}
	/* Writers are let in again only behind another grace period. */
	KUNIT_EXPECT_TRUE(test, poll_state_synchronize_rcu_full(&exchange_beside.before));
	rbt_drop_all(w);
}

/* A task that waits for the exchange must not wait for its CPU. */
static void exchange_stays(enum rb_race point, const char *name)
{
	switch (point) {
	case RB_RACE_SWAP:
	case RB_RACE_SWAP_READER:
	case RB_RACE_CUT_LOOK:
	case RB_RACE_CUT:
	case RB_RACE_CUT_FRESH:
		exchange_beside.passed++;
		if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
			KUNIT_EXPECT_FALSE(exchange_beside.w->test, preemptible());
		break;
	default:
		break;
	}
}

static void exchange_test_stays(struct kunit *test)
{
	struct rbt *w = test->priv;
	int count = preempt_count();

	rbt_open_two(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 200, 3);
	exchange_beside.w = w;
	exchange_beside.passed = 0;
	WRITE_ONCE(rb_race_hook, exchange_stays);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, preempt_count(), count);
	KUNIT_EXPECT_EQ(test, exchange_beside.passed, 2UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_forget(w->other), 0);
	KUNIT_EXPECT_EQ(test, preempt_count(), count);
	KUNIT_EXPECT_EQ(test, exchange_beside.passed, 2UL + num_online_cpus());
	exchange_beside.passed = 0;
	rbt_write_n(w, 200, 3);
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, preempt_count(), count);
	KUNIT_EXPECT_EQ(test, exchange_beside.passed, 5UL);
	WRITE_ONCE(rb_race_hook, NULL);
	rbt_drop_all(w);
}

/*
 * A writer that goes round the new ring while that takes over the old records: without
 * overwrite it overwrites none, and with it all overwritten ones are counted.
 */
static void exchange_overtake(enum rb_race point, const char *name)
{
	struct rbt *w = exchange_beside.w;

	if (point != exchange_beside.at)
		return;
	WRITE_ONCE(rb_race_hook, NULL);
	rbt_write_n(w, 200, exchange_beside.writes);
}

static const enum rb_race exchange_points[] = {
	RB_RACE_LIVE, RB_RACE_ADOPT, RB_RACE_ADOPTED, RB_RACE_RELEASE, RB_RACE_SUCCESSOR,
};

static void exchange_test_overtaken(struct kunit *test)
{
	static const unsigned int to[] = { 4, 7, 2 };
	struct rbt *w = test->priv;
	unsigned int i, room, keep;

	for (i = 0; i < ARRAY_SIZE(exchange_points) * ARRAY_SIZE(to) * 6 && !w->failed; i++) {
		keep = i % 2;
		rbt_open(w, 5, keep ? 0 : RB_FL_OVERWRITE);
		room = rbt_room_for(w, 200);
		rbt_write_n(w, 200, 5 * room);
		exchange_beside.w = w;
		exchange_beside.writes = (i / 2 % 3 * 3 + 2) * room;
		exchange_beside.at = exchange_points[i / 6 % ARRAY_SIZE(exchange_points)];
		WRITE_ONCE(rb_race_hook, exchange_overtake);
		rbt_resize(w, to[i / 30]);
		KUNIT_EXPECT_PTR_EQ(test, rb_race_hook, NULL);
		WRITE_ONCE(rb_race_hook, NULL);
		/* A larger ring has a place for each record that is kept. */
		if (keep && to[i / 30] == 7)
			KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
		rbt_write_n(w, 200, keep ? 1 : 5 * room);
		rbt_account(w);
	}
}

/*
 * A large ring moves in parts. Between two of them all records are there, those that were written
 * since as well; and a reader that has read the old ones goes on with those.
 */
static void exchange_part(enum rb_race point, const char *name)
{
	struct rbt *w = exchange_beside.w;
	struct ring_buffer_iter *iter;
	u32 read;

	if (point != RB_RACE_PART)
		return;
	exchange_beside.passed++;
	rbt_write_n(w, 1000, 2);
	read = ring_buffer_read_events_cpu(w->buffer, w->cpu);
	iter = rbt_iter(w, w->buffer);
	KUNIT_EXPECT_EQ(w->test, rbt_iterate(w, iter, read, w->nr), w->nr);
	ring_buffer_read_finish(iter);
	rbt_consume_n(w, exchange_beside.writes);
}

static void exchange_test_parts(struct kunit *test)
{
	struct rbt *w = test->priv;
	u32 records;

	for (exchange_beside.writes = 0; exchange_beside.writes < 400 && !w->failed;
	     exchange_beside.writes += 50) {
		rbt_open(w, 75, RB_FL_OVERWRITE);
		records = 74 * rbt_room_for(w, 1000);
		rbt_write_n(w, 1000, records);
		exchange_beside.w = w;
		exchange_beside.passed = 0;
		WRITE_ONCE(rb_race_hook, exchange_part);
		rbt_resize(w, 90);
		WRITE_ONCE(rb_race_hook, NULL);
		KUNIT_EXPECT_GE(test, exchange_beside.passed, 1UL);
		KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
		rbt_account(w);
	}
}

static struct kunit_case exchange_test_cases[] = {
	KUNIT_CASE_PARAM(exchange_test_resize, exchange_resize_gen_params),
	KUNIT_CASE(exchange_test_resize_too_large),
	KUNIT_CASE(exchange_test_reset),
	KUNIT_CASE(exchange_test_reset_refuses),
	KUNIT_CASE(exchange_test_reset_iterator),
	KUNIT_CASE(exchange_test_resize_iterator),
	KUNIT_CASE(exchange_test_resets_at_end),
	KUNIT_CASE(exchange_test_reset_lost),
	KUNIT_CASE(exchange_test_order_iterator),
	KUNIT_CASE(exchange_test_swap_in_flight),
	KUNIT_CASE(exchange_test_swap_refused),
	KUNIT_CASE(exchange_test_swap_half),
	KUNIT_CASE(exchange_test_counts),
	KUNIT_CASE(exchange_test_resize_lost),
	KUNIT_CASE(exchange_test_holds),
	KUNIT_CASE(exchange_test_stays),
	KUNIT_CASE(exchange_test_overtaken),
	KUNIT_CASE(exchange_test_parts),
	{}
};

RBT_SUITE(exchange);
