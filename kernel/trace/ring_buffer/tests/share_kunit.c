// SPDX-License-Identifier: GPL-2.0
/*
 * Several readers that consume together: each gets every record or, exactly, the number of those
 * that it lost; what all have read is consumed.
 */
#include <linux/preempt.h>
#include <linux/prandom.h>

#include "world.h"

#define READERS		4
#define SUBBUFS		5
#define LEN		300

/*
 * A reader, and the number of the record behind the last one that it has read; @looked: the same if
 * it goes behind the one that it has looked at, or 0. One that begins in the middle is told also of
 * what was overwritten in front of that.
 */
static struct share {
	struct ring_buffer_reader	*reader;
	u32				next;
	u32				looked;
	bool				begins;
} share[READERS];

/* A page for a reader that consumes beside them. */
static struct buffer_data_read_page *share_page;

static void share_open_one(struct rbt *w, struct share *s, u32 next)
{
	s->reader = ring_buffer_reader_open(w->buffer, w->cpu);
	KUNIT_ASSERT_NOT_NULL(w->test, s->reader);
	s->next = next;
	s->looked = 0;
	s->begins = next;
}

static void share_open(struct rbt *w, unsigned int flags)
{
	struct share *s;

	rbt_open(w, SUBBUFS, flags);
	for (s = share; s < share + READERS; s++)
		share_open_one(w, s, 0);
}

static void share_close(void)
{
	struct share *s;

	for (s = share; s < share + READERS; s++) {
		ring_buffer_reader_close(s->reader);
		s->reader = NULL;
	}
}

/* Records that were written, from @from on and below @end. */
static u32 share_written(struct rbt *w, u32 from, u32 end)
{
	u32 n = 0;

	for (; from < end; from++)
		n += w->recs[from].state == RBT_WRITTEN;
	return n;
}

/* Go behind the record that it has looked at. */
static void share_advance(struct rbt *w, struct share *s)
{
	if (s->looked) {
		s->next = s->looked;
		s->begins = false;
	}
	s->looked = 0;
	ring_buffer_reader_advance(s->reader, w->cpu);
}

/* Look at the next record, and go behind it if @advance. */
static bool share_step(struct rbt *w, struct share *s, bool advance)
{
	struct ring_buffer_event *rec;
	unsigned long lost;
	u32 num;
	u64 ts;

	s->looked = 0;
	rec = ring_buffer_reader_peek(s->reader, w->cpu, &ts, &lost);
	if (!rec || w->failed)
		return false;
	num = rbt_check(w, ring_buffer_event_data(rec), ts);
	if (num < s->next)
		rbt_fail(w, "twice: reader %d is at %u behind %u", (int)(s - share), num, s->next);
	else if (lost < share_written(w, s->next, num) ||
		 lost > share_written(w, s->begins ? 0 : s->next, num))
		rbt_fail(w, "lost: reader %d is told of %lu from %u to %u", (int)(s - share), lost,
			 s->next, num);
	s->looked = num + 1;
	if (advance)
		share_advance(w, s);
	return true;
}

static void share_read(struct rbt *w, struct share *s, unsigned int most)
{
	while (most-- && share_step(w, s, true))
		;
}

/* No reader of the live buffer sees what was written until now. */
static void share_drop(struct rbt *w)
{
	u32 i;

	for (i = 0; i < w->nr; i++) {
		if (w->recs[i].state == RBT_WRITTEN || w->recs[i].state == RBT_READ)
			w->recs[i].state = RBT_GONE;
	}
}

/* Take a page beside them, or a record: none of them gets it, and it is no loss. */
static void share_take(struct rbt *w, bool page)
{
	struct rbt_page content;

	if (!page)
		rbt_consume(w);
	else if (!ring_buffer_read_page(w->buffer, share_page, PAGE_SIZE, w->cpu, 0))
		rbt_take_page(w, share_page, false, &content);
}

/* Losses that a reader beside them was told of. */
static unsigned long share_told(struct rbt *w)
{
	unsigned long told = 0;
	u32 i;

	for (i = 0; i < w->nr_seen; i++)
		told += w->seen[i].lost;
	return told;
}

/* The first record that one that begins can be at. */
static u32 share_oldest(struct rbt *w, struct share *but)
{
	u32 next = U32_MAX, beside = w->nr_seen ? w->seen[w->nr_seen - 1].num + 1 : 0;
	struct share *s;

	for (s = share; s < share + READERS; s++) {
		if (s != but)
			next = min(next, s->next);
	}
	return max(next, beside);
}

/* Written = read + overwritten + there. */
static void share_count(struct rbt *w)
{
	unsigned long entries = ring_buffer_entries_cpu(w->buffer, w->cpu);
	unsigned long sum = entries + ring_buffer_read_events_cpu(w->buffer, w->cpu) +
			    ring_buffer_overrun_cpu(w->buffer, w->cpu);
	u32 written = share_written(w, 0, w->nr) + rbt_count(w, RBT_READ);

	if (sum != written)
		rbt_fail(w, "count: %lu of %u records, %lu entries", sum, written, entries);
}

/* All read to the end, and nothing is left then. */
static void share_end(struct rbt *w)
{
	struct share *s;

	share_count(w);
	for (s = share; s < share + READERS; s++) {
		if (!s->reader)
			continue;
		if (share_step(w, s, false) &&
		    ring_buffer_reader_empty(s->reader, w->cpu))
			rbt_fail(w, "empty: reader %d", (int)(s - share));
		share_read(w, s, UINT_MAX);
		if (share_written(w, s->next, w->nr))
			rbt_fail(w, "loss: reader %d ends at %u of %u", (int)(s - share), s->next,
				 w->nr);
		if (!ring_buffer_reader_empty(s->reader, w->cpu))
			rbt_fail(w, "not empty: reader %d", (int)(s - share));
	}
	if (!w->failed && ring_buffer_entries_cpu(w->buffer, w->cpu))
		rbt_fail(w, "held: %lu records",
			 ring_buffer_entries_cpu(w->buffer, w->cpu));
	share_count(w);
}

/* One of the things that can happen; a seed chooses. */
static void share_do_random(struct rbt *w, struct rnd_state *rnd)
{
	struct share *s = &share[prandom_u32_state(rnd) % READERS];
	u32 much = prandom_u32_state(rnd) % 60, what = prandom_u32_state(rnd) % 46;

	switch (what) {
	case 0:
		rbt_resize(w, 2 + much % 9);
		break;
	case 1:
		KUNIT_EXPECT_EQ(w->test, ring_buffer_subbuf_order_set(w->buffer, much % 2), 0);
		break;
	case 2:
		ring_buffer_reset_cpu(w->buffer, w->cpu);
		share_drop(w);
		break;
	case 3:
		/* The size of the sub-buffers may differ. */
		if (!rbt_cut(w->buffer, w->other, w->cpu))
			share_drop(w);
		break;
	case 4:
		/* It begins where the slowest one of the others is. */
		ring_buffer_reader_close(s->reader);
		share_open_one(w, s, share_oldest(w, s));
		break;
	case 5 ... 19:
		rbt_write_n(w, much * 10, much);
		break;
	case 20 ... 25:
		share_step(w, s, false);
		break;
	case 40 ... 43:
		share_advance(w, s);
		break;
	case 44:
	case 45:
		share_take(w, what == 44);
		break;
	default:
		share_read(w, s, much);
	}
}

static void share_test_random(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct rnd_state rnd;
	unsigned int seed, i;

	for (seed = 0; seed < 400 && !w->failed; seed++) {
		prandom_seed_state(&rnd, seed);
		rbt_open_two(w, SUBBUFS, seed % 3 ? RB_FL_OVERWRITE : 0);
		share_page = rbt_page(w, w->buffer);
		for (i = 0; i < READERS; i++)
			share_open_one(w, &share[i], 0);
		snprintf(w->what, sizeof(w->what), "seed %u", seed);
		for (i = 0; i < 100 && !w->failed; i++)
			share_do_random(w, &rnd);
		rbt_write(w, LEN);
		share_end(w);
		share_close();
		ring_buffer_free_read_page(w->buffer, w->cpu, share_page);
		rbt_close(w);
	}
}

/* A ring that may not be overwritten has room for what all have read. */
static void share_test_keep(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int n;

	share_open(w, 0);
	rbt_write(w, LEN);
	/* This takes the first sub-buffer. */
	share_step(w, &share[2], false);
	while (rbt_write(w, LEN))
		;
	n = w->nr - 1;
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), (unsigned long)n);
	share_read(w, &share[0], n);
	share_read(w, &share[1], n);
	KUNIT_EXPECT_FALSE(test, rbt_write(w, LEN));
	KUNIT_EXPECT_EQ(test, ring_buffer_read_events_cpu(w->buffer, w->cpu), 0UL);
	share_read(w, &share[3], n - 2);
	share_read(w, &share[2], n - 1);
	KUNIT_EXPECT_EQ(test, ring_buffer_read_events_cpu(w->buffer, w->cpu), n - 2UL);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, LEN));
	share_end(w);
	share_close();
}

/* One that ends holds nothing any more, and one that begins finds what is not consumed. */
static void share_test_close(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i;

	share_open(w, RB_FL_OVERWRITE);
	rbt_write_n(w, 4, 900);
	for (i = 1; i < READERS; i++)
		share_read(w, &share[i], 200 * i);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 900UL);
	for (i = 0; i < READERS - 1; i++) {
		ring_buffer_reader_close(share[i].reader);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu),
				700UL - 200 * i);
		share[i].reader = NULL;
	}
	/* The last one: what it has not read stays. */
	ring_buffer_reader_close(share[i].reader);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 300UL);
	for (i = 0; i < READERS; i++)
		share_open_one(w, &share[i], 600);
	share_end(w);
	share_close();
}

/* No reader gets the records that other means consume, and they are no loss. */
static void share_test_consumed(struct kunit *test)
{
	struct rbt *w = test->priv;

	share_open(w, RB_FL_OVERWRITE);
	share_page = rbt_page(w, w->buffer);
	rbt_write_n(w, 4, 1000);
	share_read(w, &share[1], 7);
	KUNIT_EXPECT_TRUE(test, share_step(w, &share[2], false));
	share_take(w, true);
	KUNIT_EXPECT_GT(test, w->nr_seen, 100U);
	share_end(w);
	share_close();
	ring_buffer_free_read_page(w->buffer, w->cpu, share_page);
}

/*
 * Other means consume the record behind a gap, and are told of that. Each reader is told of its own
 * part of the gap: one has read nothing, one has looked at a record, and goes behind that later, or
 * looks again, and one is in the middle of what is overwritten.
 */
static void share_test_gap(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int i, n, room;

	for (i = 0; i < 4 && !w->failed; i++) {
		share_open(w, RB_FL_OVERWRITE);
		share_page = rbt_page(w, w->buffer);
		room = rbt_room_for(w, LEN);
		rbt_write_n(w, LEN, 3 * room);
		share_read(w, &share[1], 3);
		share_step(w, &share[1], false);
		share_read(w, &share[2], room + 3);
		share_step(w, &share[2], false);
		rbt_write_n(w, LEN, (SUBBUFS + 1) * room);
		/* The slowest one has begun the first sub-buffer, which is not overwritten. */
		for (n = 0; n < 2 * room && !share_told(w); n++)
			share_take(w, i % 2);
		KUNIT_EXPECT_GT(test, share_told(w), (unsigned long)room);
		for (n = 1; n < 3 && i / 2; n++)
			share_advance(w, &share[n]);
		/* A look tells it, and the next one tells it again. */
		for (n = 0; n < 2 * READERS; n++)
			KUNIT_EXPECT_TRUE(test, share_step(w, &share[n / 2], false));
		share_end(w);
		share_close();
		ring_buffer_free_read_page(w->buffer, w->cpu, share_page);
		rbt_close(w);
	}
}

/* A loss that all readers were told of is none for one that consumes by other means. */
static void share_test_told(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned long lost = 1;
	unsigned int i;
	u64 ts;

	share_open(w, RB_FL_OVERWRITE);
	rbt_write_n(w, LEN, 2 * SUBBUFS * rbt_room_for(w, LEN));
	for (i = 0; i < READERS; i++)
		share_read(w, &share[i], 1);
	KUNIT_EXPECT_GT(test, share[0].next, 1U);
	KUNIT_ASSERT_NOT_NULL(test, ring_buffer_peek(w->buffer, w->cpu, &ts, &lost));
	KUNIT_EXPECT_EQ(test, lost, 0UL);
	share_end(w);
	share_close();
}

/* A wait, or a poll, is for what this reader has not read. */
static void share_test_poll(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int room;

	share_open(w, RB_FL_OVERWRITE);
	room = rbt_room_for(w, LEN);
	rbt_write_n(w, LEN, room + 1);
	share_read(w, &share[0], UINT_MAX);
	KUNIT_EXPECT_EQ(test, (int)ring_buffer_reader_poll(share[0].reader, NULL, NULL, 0), 0);
	KUNIT_EXPECT_NE(test, (int)ring_buffer_reader_poll(share[1].reader, NULL, NULL, 0), 0);
	rbt_write_n(w, LEN, 2 * room);
	/* Two sub-buffers of five behind the one, three and a part behind the others */
	KUNIT_EXPECT_NE(test, (int)ring_buffer_reader_poll(share[0].reader, NULL, NULL, 40), 0);
	KUNIT_EXPECT_EQ(test, (int)ring_buffer_reader_poll(share[0].reader, NULL, NULL, 60), 0);
	KUNIT_EXPECT_NE(test, (int)ring_buffer_reader_poll(share[1].reader, NULL, NULL, 60), 0);
	share_read(w, &share[0], UINT_MAX);
	share_read(w, &share[1], 2 * room);
	/* None of 20 is filled by one record, and two are behind the other one, in each ring. */
	rbt_resize(w, 20);
	rbt_write(w, LEN);
	KUNIT_EXPECT_NE(test, (int)ring_buffer_reader_poll(share[0].reader, NULL, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, (int)ring_buffer_reader_poll(share[0].reader, NULL, NULL, 10), 0);
	KUNIT_EXPECT_NE(test, (int)ring_buffer_reader_poll(share[1].reader, NULL, NULL, 5), 0);
	KUNIT_EXPECT_EQ(test, (int)ring_buffer_reader_poll(share[1].reader, NULL, NULL, 15), 0);
	share_end(w);
	share_close();
}

/* Readers of other CPUs, of CPUs that there are not, and without records. */
static void share_test_nothing(struct kunit *test)
{
	struct ring_buffer_reader *reader;
	struct rbt *w = test->priv;
	int other;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	other = (w->cpu + 1) % nr_cpu_ids;
	ring_buffer_reader_close(NULL);
	reader = ring_buffer_reader_open(w->buffer, RING_BUFFER_ALL_CPUS);
	KUNIT_ASSERT_NOT_NULL(test, reader);
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_peek(reader, w->cpu, NULL, NULL));
	KUNIT_EXPECT_TRUE(test, ring_buffer_reader_empty(reader, w->cpu));
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_peek(reader, nr_cpu_ids, NULL, NULL));
	KUNIT_EXPECT_TRUE(test, ring_buffer_reader_empty(reader, nr_cpu_ids));
	ring_buffer_reader_advance(reader, w->cpu);
	rbt_write_n(w, 4, 3);
	/* Without a look there is nothing to go behind. */
	ring_buffer_reader_advance(reader, w->cpu);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 3UL);
	KUNIT_EXPECT_FALSE(test, ring_buffer_reader_empty(reader, w->cpu));
	ring_buffer_reader_close(reader);

	reader = ring_buffer_reader_open(w->buffer, other);
	KUNIT_ASSERT_NOT_NULL(test, reader);
	if (other != w->cpu) {
		KUNIT_EXPECT_NULL(test, ring_buffer_reader_peek(reader, w->cpu, NULL, NULL));
		KUNIT_EXPECT_TRUE(test, ring_buffer_reader_empty(reader, w->cpu));
		KUNIT_EXPECT_TRUE(test, rbt_consume(w));
	}
	ring_buffer_reader_close(reader);
}

/*
 * At each point of an operation something else.
 */

static void share_burst(struct rbt *w)
{
	rbt_write_n(w, LEN, (SUBBUFS + 2) * rbt_room_for(w, LEN));
}

static void share_few(struct rbt *w)
{
	rbt_write_n(w, 4, 3);
}

static void share_slow(struct rbt *w)
{
	share_read(w, &share[0], 5);
}

static void share_fast(struct rbt *w)
{
	share_read(w, &share[2], 5);
}

static void share_all(struct rbt *w)
{
	unsigned int i;

	for (i = 0; i < READERS; i++)
		share_read(w, &share[i], UINT_MAX);
}

static void share_reopen(struct rbt *w)
{
	ring_buffer_reader_close(share[0].reader);
	share_open_one(w, &share[0], share_oldest(w, &share[0]));
}

static void share_beside(struct rbt *w)
{
	share_take(w, true);
	share_take(w, false);
}

static void share_grow(struct rbt *w)
{
	rbt_resize(w, 9);
}

static void share_shrink(struct rbt *w)
{
	rbt_resize(w, 2);
}

static void share_order(struct rbt *w)
{
	KUNIT_EXPECT_EQ(w->test, ring_buffer_subbuf_order_set(w->buffer, 1), 0);
}

static void share_reset(struct rbt *w)
{
	u32 i, before = w->nr;

	ring_buffer_reset_cpu(w->buffer, w->cpu);
	for (i = 0; i < before; i++)
		w->recs[i].state = RBT_GONE;
}

/* The records that the other buffer has now are not in the live one. */
static void share_cut(struct rbt *w)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	u64 ts;
	u32 i, before = w->nr;

	KUNIT_EXPECT_EQ(w->test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	iter = rbt_iter(w, w->other);
	for (; (rec = ring_buffer_iter_peek(iter, &ts)); ring_buffer_iter_advance(iter)) {
		i = rbt_check(w, ring_buffer_event_data(rec), ts);
		w->recs[i].state = RBT_GONE;
	}
	ring_buffer_read_finish(iter);
	/* With those that were consumed or overwritten. */
	for (i = 0; i < before; i++)
		w->recs[i].state = RBT_GONE;
}

struct share_act {
	const char	*name;
	void		(*run)(struct rbt *w);
	bool		reads;		/* an action that needs the lock of the readers */
	bool		writes;		/* in a write, numbers are not in the order of places */
	bool		few;		/* an operation that a burst would make unclear */
};

static const struct share_act share_ops[] = {
	{ "write",	share_few,	.writes = true },
	{ "slow",	share_slow },
	{ "fast",	share_fast },
	{ "all",	share_all },
	{ "reopen",	share_reopen },
	{ "beside",	share_beside },
	{ "grow",	share_grow },
	{ "shrink",	share_shrink },
	{ "order",	share_order },
	{ "reset",	share_reset },
	{ "cut",	share_cut,	.few = true },
};

static const struct share_act share_acts[] = {
	{ "few",	share_few,	.writes = true },
	{ "slow reads",	share_slow,	.reads = true },
	{ "fast reads",	share_fast,	.reads = true },
	{ "all read",	share_all,	.reads = true },
	{ "beside",	share_beside,	.reads = true },
	{ "burst",	share_burst,	.writes = true, .few = true },
};

static struct {
	struct rbt		*w;
	const struct share_act	*act;
	unsigned int		at;
	unsigned int		count;
	bool			passed, inside;
} share_race;

static void share_hook(enum rb_race point, const char *name)
{
	bool locked = irqs_disabled();
	unsigned long flags;

	if (share_race.inside || share_race.count++ != share_race.at)
		return;
	share_race.passed = true;
	if (share_race.act->reads && locked)
		return;
	snprintf(share_race.w->what, sizeof(share_race.w->what), "%s at point %u, %s",
		 share_race.act->name, share_race.at, name);
	share_race.inside = true;
	local_irq_save(flags);
	__preempt_count_add(HARDIRQ_OFFSET);
	share_race.act->run(share_race.w);
	__preempt_count_sub(HARDIRQ_OFFSET);
	local_irq_restore(flags);
	share_race.inside = false;
}

/* The slowest one has read nothing, the fastest one all. */
static void share_race_run(struct rbt *w, const struct share_act *op, unsigned int laps)
{
	unsigned int i, room;

	rbt_open_two(w, SUBBUFS, RB_FL_OVERWRITE);
	share_page = rbt_page(w, w->buffer);
	for (i = 0; i < READERS; i++)
		share_open_one(w, &share[i], 0);
	room = rbt_room_for(w, LEN);
	rbt_write_n(w, LEN, 3 * room + 5);
	for (i = 1; i < READERS; i++)
		share_read(w, &share[i], i * (room + 2));
	/* It reads ahead of what is overwritten. */
	rbt_write_n(w, LEN, laps * room);

	share_race.w = w;
	share_race.count = 0;
	share_race.passed = false;
	WRITE_ONCE(rb_race_hook, share_hook);
	op->run(w);
	WRITE_ONCE(rb_race_hook, NULL);
	rbt_write_n(w, LEN, 2);
	share_end(w);
	share_close();
	ring_buffer_free_read_page(w->buffer, w->cpu, share_page);
	rbt_close(w);
}

static void share_gen_race(const struct share_act *op, char *desc)
{
	strscpy(desc, op->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(share_race, share_ops, share_gen_race);

static void share_test_race(struct kunit *test)
{
	const struct share_act *op = test->param_value;
	struct rbt *w = test->priv;
	unsigned int a, laps, taken = 0;

	for (a = 0; a < ARRAY_SIZE(share_acts) * 3 && !w->failed; a++) {
		share_race.act = &share_acts[a / 3];
		laps = a % 3 * 2;
		if ((op->few && (share_race.act->few || laps)) ||
		    (op->writes && share_race.act->writes))
			continue;
		share_race.at = 0;
		do {
			share_race_run(w, op, laps);
			taken += share_race.passed;
			share_race.at++;
		} while (share_race.passed && !w->failed);
	}
	KUNIT_EXPECT_GT(test, taken, 50U);
}

static struct kunit_case share_test_cases[] = {
	KUNIT_CASE_SLOW(share_test_random),
	KUNIT_CASE(share_test_keep),
	KUNIT_CASE(share_test_close),
	KUNIT_CASE(share_test_consumed),
	KUNIT_CASE(share_test_gap),
	KUNIT_CASE(share_test_told),
	KUNIT_CASE(share_test_poll),
	KUNIT_CASE(share_test_nothing),
	KUNIT_CASE_PARAM(share_test_race, share_race_gen_params),
	{ }
};

RBT_SUITE(share);
