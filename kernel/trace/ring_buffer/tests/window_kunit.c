// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts that matter in one place only: a list of race points, in the order in
 * which the operation passes them, and the action of the interrupt at each.
 */
#include <linux/preempt.h>

#include "world.h"

#define SMALL	12
#define LONG	900	/* four of them leave room for small ones only */
#define FIT	4

struct window {
	enum rb_race	at;
	void		(*act)(struct rbt *w);
};

static struct {
	struct rbt		*w;
	const struct window	*next;
	bool			inside;
} window;

static void window_hook(enum rb_race point, const char *name)
{
	const struct window *here = window.next;
	unsigned long flags;

	if (window.inside || !here->act || point != here->at)
		return;
	window.inside = true;
	window.next++;
	local_irq_save(flags);
	__preempt_count_add(HARDIRQ_OFFSET);
	here->act(window.w);
	__preempt_count_sub(HARDIRQ_OFFSET);
	local_irq_restore(flags);
	window.inside = false;
}

/* From here on; window_end() sees that all of it has come. */
static void window_begin(struct rbt *w, const struct window *list)
{
	window.w = w;
	window.next = list;
	window.inside = false;
	WRITE_ONCE(rb_race_hook, window_hook);
}

static void window_end(struct rbt *w)
{
	WRITE_ONCE(rb_race_hook, NULL);
	KUNIT_EXPECT_TRUE(w->test, !window.next->act);
}

static void window_small(struct rbt *w)
{
	rbt_write(w, SMALL);
}

static void window_fill(struct rbt *w)
{
	rbt_write_n(w, LONG, FIT + 1);
}

/* The long one closes the sub-buffer, for there is nowhere to go. */
static void window_small_and_long(struct rbt *w)
{
	KUNIT_EXPECT_TRUE(w->test, rbt_write(w, SMALL));
	KUNIT_EXPECT_FALSE(w->test, rbt_write(w, LONG));
}

/*
 * An interrupt leaves its record to the writer that is about to go, and another one fills
 * the sub-buffer while that writer publishes once more: it is a writer still.
 */
static void window_test_publish_again(struct kunit *test)
{
	static const struct window lists[][3] = {
		{ { RB_RACE_FINISHED, window_small }, { RB_RACE_PUBLISH, window_fill } },
		{ { RB_RACE_PUBLISHED, window_small }, { RB_RACE_PUBLISH, window_fill } },
	};
	struct rbt *w = test->priv;
	unsigned int abs;

	for (abs = 0; abs < 2; abs++) {
		rbt_open(w, 5, RB_FL_OVERWRITE);
		ring_buffer_set_time_stamp_abs(w->buffer, abs);
		rbt_write_n(w, SMALL, 3);
		window_begin(w, lists[abs]);
		rbt_write(w, SMALL);
		window_end(w);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), FIT + 6UL);
		rbt_account(w);
	}
}

/* An interrupt that finds no room after its first record leaves that one to the writer. */
static void window_test_closed(struct kunit *test)
{
	static const struct window fast[] = { { RB_RACE_FINISHED, window_small_and_long }, {} };
	static const struct window slow[] = { { RB_RACE_PUBLISHED, window_small_and_long }, {} };
	struct rbt *w = test->priv;
	unsigned int abs;

	for (abs = 0; abs < 2; abs++) {
		rbt_open(w, 2, 0);
		ring_buffer_set_time_stamp_abs(w->buffer, abs);
		rbt_write_n(w, LONG, 2 * FIT);
		window_begin(w, abs ? slow : fast);
		rbt_write(w, SMALL);
		window_end(w);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 2 * FIT + 2UL);
		rbt_account(w);
	}
}

static void window_cut(struct rbt *w)
{
	KUNIT_EXPECT_EQ(w->test, rbt_cut(w->buffer, w->other, w->cpu), 0);
}

/* Fill the ring until a record is refused, and cut it off. */
static void window_full_cut(struct rbt *w)
{
	rbt_write_n(w, LONG, 2 * FIT);
	KUNIT_EXPECT_FALSE(w->test, rbt_write(w, LONG));
	window_cut(w);
}

/* Two rings that were left full; the one that is live again has nothing yet. */
static void window_two_full(struct rbt *w)
{
	rbt_open_two(w, 2, 0);
	window_full_cut(w);
	window_full_cut(w);
}

/* Write one record, with the interrupts of @list, and find it alone. */
static void window_write_one(struct rbt *w, const struct window *list)
{
	rbt_drop_all(w);
	window_begin(w, list);
	KUNIT_EXPECT_TRUE(w->test, rbt_write(w, SMALL));
	window_end(w);
	rbt_account(w);
	KUNIT_EXPECT_EQ(w->test, w->nr_seen, 1U);
}

/* A ring that was left full is live again, and cut off before the next writer begins. */
static void window_test_cut_full(struct kunit *test)
{
	static const struct window list[] = { { RB_RACE_LOOK, window_cut }, {} };
	struct rbt *w = test->priv;

	window_two_full(w);
	window_write_one(w, list);
}

static void window_swap(struct rbt *w)
{
	KUNIT_EXPECT_EQ(w->test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
}

/* The same, and it is swapped away while the writer is on its way in. */
static void window_test_swap_full(struct kunit *test)
{
	static const struct window list[] = { { RB_RACE_LOOK, window_swap }, {} };
	struct rbt *w = test->priv;

	window_two_full(w);
	synchronize_rcu();
	ring_buffer_reset_cpu(w->other, w->cpu);
	window_write_one(w, list);
}

/* That the last record was refused says nothing of a ring that came since. */
static void window_test_other_ring(struct kunit *test)
{
	struct rbt *w = test->priv;

	/* A ring that was full before it went live again; its old records cannot be read. */
	window_two_full(w);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, SMALL));
	KUNIT_EXPECT_TRUE(test, rbt_write(w, LONG));
	KUNIT_EXPECT_EQ(test, ring_buffer_dropped_events_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 2UL);

	/* One with some room left, and nowhere to go then. */
	rbt_open_two(w, 2, 0);
	rbt_write_n(w, LONG, 2 * FIT);
	KUNIT_ASSERT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	rbt_write_n(w, LONG, 2 * FIT + 1);
	KUNIT_ASSERT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, SMALL));
	KUNIT_EXPECT_FALSE(test, rbt_write(w, LONG));
}

/* Losses and numbers of a ring begin anew when it goes live again. */
static void window_test_new_generation(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int flags, i;

	for (flags = 0; flags <= RB_FL_OVERWRITE; flags += RB_FL_OVERWRITE) {
		rbt_open_two(w, 3, flags);
		for (i = 0; i < 2; i++) {
			rbt_write_n(w, LONG, 6 * FIT + 1);
			window_cut(w);
		}
		rbt_drop_all(w);
		rbt_write(w, SMALL);
		KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
		KUNIT_EXPECT_EQ(test, ring_buffer_dropped_events_cpu(w->buffer, w->cpu), 0UL);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 1UL);
		rbt_write_n(w, LONG, 4 * FIT + 1);
		rbt_account(w);
	}
}

/* In a ring without overwrite, a resize gives new records no room. */
static void window_full_ring(struct rbt *w)
{
	rbt_write_n(w, LONG, 12 * FIT);
}

static void window_test_held(struct kunit *test)
{
	static const struct window list[] = { { RB_RACE_ADOPT, window_full_ring }, {} };
	struct rbt *w = test->priv;

	rbt_open(w, 5, 0);
	rbt_write_n(w, LONG, 5 * FIT - 1);
	window_begin(w, list);
	rbt_resize(w, 9);
	window_end(w);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
	rbt_account(w);
}

static void window_write_large(enum rb_race point, const char *name)
{
	struct rbt *w = window.w;
	u32 len = rb_subbuf_room(0) + 1000;
	static u8 data[2 * PAGE_SIZE];

	if (window.inside)
		return;
	window.inside = true;
	/* It fits or it is refused; neither makes room for it by leaving sub-buffers. */
	ring_buffer_write(w->buffer, len, data);
	window.inside = false;
}

/* A record that only the sub-buffers have room for that are about to be put in place. */
static void window_test_order(struct kunit *test)
{
	struct rbt *w = test->priv;
	int i;

	for (i = 0; i < 2; i++) {
		rbt_open(w, 3, i ? RB_FL_OVERWRITE : 0);
		window.w = w;
		window.inside = false;
		WRITE_ONCE(rb_race_hook, window_write_large);
		KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
		WRITE_ONCE(rb_race_hook, NULL);
		while (ring_buffer_consume(w->buffer, w->cpu, NULL, NULL))
			;
		KUNIT_EXPECT_TRUE(test, rbt_write(w, LONG));
	}
}

/* The page of a sub-buffer that is entered anew holds no records. */
static void window_look_at_page(struct rbt *w)
{
	struct rb_ring *ring = rbt_ring(w);
	u64 word = atomic64_read(rb_slot(ring, ring->tail->seq + 1));

	KUNIT_EXPECT_EQ(w->test, local_read(&ring->subbufs[rb_slot_id(word)]->page->commit), 0L);
}

static void window_test_page(struct kunit *test)
{
	static const struct window list[] = { { RB_RACE_OPENED, window_look_at_page }, {} };
	struct rbt *w = test->priv;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write_n(w, LONG, 4 * FIT);
	window_begin(w, list);
	rbt_write(w, LONG);
	window_end(w);
	rbt_account(w);
}

static struct kunit_case window_test_cases[] = {
	KUNIT_CASE(window_test_publish_again),
	KUNIT_CASE(window_test_closed),
	KUNIT_CASE(window_test_cut_full),
	KUNIT_CASE(window_test_swap_full),
	KUNIT_CASE(window_test_other_ring),
	KUNIT_CASE(window_test_new_generation),
	KUNIT_CASE(window_test_held),
	KUNIT_CASE(window_test_order),
	KUNIT_CASE(window_test_page),
	{}
};

RBT_SUITE(window);
