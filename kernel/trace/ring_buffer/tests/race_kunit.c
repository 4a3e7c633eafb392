// SPDX-License-Identifier: GPL-2.0
/*
 * Every race point: an operation is stopped at each of them in turn, and
 * an action runs there, in the context of an interrupt. After each action every
 * record is accounted for, with its exact time.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "world.h"

/* Where an interrupt has come in so far, in any test. */
static unsigned long race_taken[BITS_TO_LONGS(RB_RACE_NR)];

#define SUBBUFS		4
#define SMALL		12
#define LONG		400

/*
 * Actions at the point.
 */

static void do_write(struct rbt *w)
{
	rbt_write(w, SMALL);
}

static void do_write_three(struct rbt *w)
{
	rbt_write_n(w, SMALL, 3);
}

/* The sub-buffer is left, in any state that the interrupted writer has seen. */
static void do_fill_subbuf(struct rbt *w)
{
	rbt_write_n(w, LONG, rbt_room_for(w, LONG) + 1);
}

/* More than the ring holds: the interrupted writer's place may not be passed. */
static void do_fill_ring(struct rbt *w)
{
	rbt_write_n(w, LONG, (SUBBUFS + 2) * rbt_room_for(w, LONG));
}

static void do_discard(struct rbt *w)
{
	struct ring_buffer_event *rec;
	u32 num;

	rec = rbt_reserve(w, SMALL, &num);
	if (rec)
		rbt_discard(w, rec, num);
}

static void do_write_late(struct rbt *w)
{
	rbt_now += 1ULL << 40;
	rbt_write(w, SMALL);
}

static void do_consume(struct rbt *w)
{
	if (irqs_disabled())
		rbt_consume(w);
}

static void do_consume_all(struct rbt *w)
{
	while (rbt_consume(w))
		;
}

static void do_swap(struct rbt *w)
{
	if (!w->swapped && !ring_buffer_swap_cpu(w->buffer, w->other, w->cpu))
		w->swapped = true;
	rbt_write(w, SMALL);
}

static void do_cut(struct rbt *w)
{
	if (!w->swapped && !rbt_cut(w->buffer, w->other, w->cpu))
		w->swapped = true;
	rbt_write(w, SMALL);
}

static void do_change_mode(struct rbt *w)
{
	w->buffer->flags ^= RB_FL_OVERWRITE;
	rbt_write_n(w, LONG, 3);
}

/* Action at a race point */
struct race_action {
	const char	*name;		/* for messages */
	void		(*run)(struct rbt *w);	/* does it */
	bool		reads;		/* it needs the lock of the readers */
	bool		exchanges;	/* it puts another ring in place */
};

static const struct race_action actions[] = {
	{ "write",		do_write },
	{ "write three",	do_write_three },
	{ "fill a sub-buffer",	do_fill_subbuf },
	{ "fill the ring",	do_fill_ring },
	{ "discard",		do_discard },
	{ "write later",	do_write_late },
	{ "swap",		do_swap,	.exchanges = true },
	{ "cut",		do_cut,		.exchanges = true },
	{ "change the mode",	do_change_mode },
	{ "consume",		do_consume,	.reads = true },
	{ "consume all",	do_consume_all,	.reads = true },
};

/*
 * The point.
 */

static struct {
	struct rbt		*w;
	const struct race_action *action[2];
	unsigned int		at[2];		/* the point to take, of each level */
	unsigned int		count[2];	/* points passed there */
	unsigned int		level;
	bool			taken;
	const char		*name;		/* of the first level's point */
} race;

/* A hard interrupt takes the first level's point, a re-entered context the second level's. */
static const unsigned int race_context[] = { HARDIRQ_OFFSET, 0 };

static void race_hook(enum rb_race point, const char *name)
{
	unsigned int level = race.level;
	unsigned long flags;
	bool locked = irqs_disabled();

	if (level == ARRAY_SIZE(race.action) || !race.action[level])
		return;
	if (race.count[level]++ != race.at[level])
		return;
	if (!level)
		race.name = name;
	/* With interrupts off, a reader holds the lock: no other code here does that. */
	if (race.action[level]->reads && locked && !level)
		return;

	race.taken = true;
	set_bit(point, race_taken);
	race.level++;
	local_irq_save(flags);
	__preempt_count_add(race_context[level]);
	race.action[level]->run(race.w);
	__preempt_count_sub(race_context[level]);
	local_irq_restore(flags);
	race.level--;
}

/*
 * Interrupted operations.
 */

static void op_write_long(struct rbt *w)
{
	rbt_write(w, LONG);
}

/* An interrupt wrote behind it: that has to be moved. */
static void op_discard_under(struct rbt *w)
{
	struct ring_buffer_event *rec;
	u32 num;

	rec = rbt_reserve(w, SMALL, &num);
	__preempt_count_add(SOFTIRQ_OFFSET);
	rbt_write_n(w, SMALL, 2);
	__preempt_count_sub(SOFTIRQ_OFFSET);
	if (rec)
		rbt_discard(w, rec, num);
}

static void op_nest(struct rbt *w)
{
	struct ring_buffer_event *outer, *inner;
	u32 num, in;

	outer = rbt_reserve(w, SMALL, &num);
	ring_buffer_nest_start(w->buffer);
	inner = rbt_reserve(w, SMALL, &in);
	if (inner)
		rbt_commit(w, inner, in);
	ring_buffer_nest_end(w->buffer);
	if (outer)
		rbt_commit(w, outer, num);
}

static void op_consume(struct rbt *w)
{
	rbt_consume(w);
}

static void op_entries(struct rbt *w)
{
	unsigned long entries;

	entries = ring_buffer_entries_cpu(w->buffer, w->cpu);
	if (entries > w->nr)
		rbt_fail(w, "stat: %lu entries of %u records", entries, w->nr);
}

static void op_iterate(struct rbt *w)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	u64 ts, before = 0;

	iter = ring_buffer_read_start(w->buffer, w->cpu, GFP_KERNEL);
	if (!iter) {
		rbt_fail(w, "no memory for an iterator");
		return;
	}
	while ((rec = ring_buffer_iter_peek(iter, &ts)) && !w->failed) {
		rbt_check(w, ring_buffer_event_data(rec), ts);
		if (ts <= before)
			rbt_fail(w, "order: an iterator goes back from %llu to %llu", before, ts);
		before = ts;
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
}

static void op_read_page(struct rbt *w)
{
	struct buffer_data_read_page *rpage = NULL;
	struct rbt_page page;
	bool late;

	if (ring_buffer_alloc_read_page(w->buffer, w->cpu, &rpage))
		return;
	do {
		late = w->swapped;
		if (ring_buffer_read_page(w->buffer, rpage, PAGE_SIZE, w->cpu, 0))
			break;
		rbt_take_page(w, rpage, late, &page);
	} while (!w->failed);
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
}

/* An interrupt that comes before the preempt count shows it. */
static void op_reentered(struct rbt *w)
{
	struct ring_buffer_event *rec;
	u32 num;

	rec = rbt_reserve(w, SMALL, &num);
	rbt_write(w, SMALL);
	if (rec)
		rbt_commit(w, rec, num);
}

/* Old records are dropped, records that come meanwhile are refused. */
static void op_reset(struct rbt *w)
{
	u32 before = w->nr;

	ring_buffer_reset_cpu(w->buffer, w->cpu);
	while (before < w->nr && w->recs[before].state == RBT_REFUSED)
		before++;
	if (before < w->nr)
		rbt_fail(w, "reset: record %u was not refused", before);
	while (before--)
		w->recs[before].state = RBT_GONE;
	w->nr_seen = 0;
}

/* The sub-buffers go to another ring while an iterator is at work. */
static void op_iterate_resize(struct rbt *w)
{
	struct ring_buffer_iter *iter;
	u64 ts;

	iter = ring_buffer_read_start(w->buffer, w->cpu, GFP_KERNEL);
	if (!iter)
		return;
	ring_buffer_iter_advance(iter);
	ring_buffer_resize(w->buffer, 9 * rb_subbuf_room(0), RING_BUFFER_ALL_CPUS);
	for (; ring_buffer_iter_peek(iter, &ts); ring_buffer_iter_advance(iter)) {
		if (w->failed)
			break;
		rbt_check(w, ring_buffer_event_data(ring_buffer_iter_peek(iter, &ts)), ts);
	}
	ring_buffer_read_finish(iter);
}

static void op_grow(struct rbt *w)
{
	ring_buffer_resize(w->buffer, 7 * rb_subbuf_room(0), RING_BUFFER_ALL_CPUS);
}

static void op_shrink(struct rbt *w)
{
	ring_buffer_resize(w->buffer, 2 * rb_subbuf_room(0), RING_BUFFER_ALL_CPUS);
}

static void op_order(struct rbt *w)
{
	ring_buffer_subbuf_order_set(w->buffer, 1);
	/* The next record reports the loss. */
	rbt_write(w, 100);
}

struct race_op {
	const char	*name;
	void		(*run)(struct rbt *w);
	bool		keeps_ring;	/* a swap or a cut may come into it */
	bool		two_levels;	/* an interrupt of the interrupt, too */
};

static const struct race_op ops[] = {
	{ "write",	do_write,	true, true },
	{ "write_long",	op_write_long,	true, true },
	{ "discard",	do_discard,	true, true },
	{ "discard_under", op_discard_under, true },
	{ "nest",	op_nest,	true },
	{ "consume",	op_consume,	true },
	{ "consume_all", do_consume_all, true },
	{ "entries",	op_entries,	true },
	{ "read_page",	op_read_page,	true },
	{ "reentered",	op_reentered,	true },
	{ "iterate",	op_iterate },
	{ "iterate_resize", op_iterate_resize },
	{ "reset",	op_reset },
	{ "swap",	do_swap },
	{ "cut",	do_cut },
	{ "grow",	op_grow },
	{ "shrink",	op_shrink },
	{ "order",	op_order },
};

/*
 * States of the ring before the operation.
 */

static void scene_empty(struct rbt *w)
{
}

static void scene_some(struct rbt *w)
{
	rbt_write_n(w, SMALL, 3);
}

/* The next small record still fits, the one after it does not. */
static void scene_nearly_full(struct rbt *w)
{
	while (rbt_ring(w)->tail->room - rb_tail_units(local64_read(&rbt_ring(w)->tail->tail)) >=
	       2 * rb_record_len(SMALL) / RB_UNIT)
		rbt_write(w, SMALL);
}

/* The next one goes to the next sub-buffer. */
static void scene_full_subbuf(struct rbt *w)
{
	scene_nearly_full(w);
	rbt_write(w, SMALL);
}

/* ... and overwrites the oldest. */
static void scene_full_ring(struct rbt *w)
{
	rbt_write_n(w, LONG, (SUBBUFS - 1) * rbt_room_for(w, LONG));
	scene_full_subbuf(w);
}

/* ... which is dropped instead. */
static void scene_dropping(struct rbt *w)
{
	scene_full_ring(w);
	ring_buffer_change_overwrite(w->buffer, false);
}

/* The reader owns the sub-buffer that is written. */
static void scene_reader_in_tail(struct rbt *w)
{
	rbt_write_n(w, SMALL, 5);
	rbt_consume(w);
}

/* Each record needs an absolute stamp. */
static void scene_absolute(struct rbt *w)
{
	ring_buffer_set_time_stamp_abs(w->buffer, true);
	rbt_write_n(w, SMALL, 3);
}

/* The next delta needs an extend. */
static void scene_pause(struct rbt *w)
{
	rbt_write_n(w, SMALL, 3);
	rbt_now += RB_DELTA_MAX;
}

/* The ring has just gone live again, without its old records. */
static void scene_fresh(struct rbt *w)
{
	scene_full_ring(w);
	rbt_cut(w->buffer, w->other, w->cpu);
	rbt_write(w, SMALL);
	rbt_cut(w->buffer, w->other, w->cpu);
	ring_buffer_reset_cpu(w->other, w->cpu);
	rbt_drop_all(w);
}

static const struct race_scene {
	const char	*name;
	void		(*set)(struct rbt *w);
	bool		deep;		/* worth two levels */
} scenes[] = {
	{ "empty",		scene_empty, true },
	{ "some",		scene_some },
	{ "nearly_full",	scene_nearly_full, true },
	{ "full_subbuf",	scene_full_subbuf, true },
	{ "full_ring",		scene_full_ring },
	{ "dropping",		scene_dropping },
	{ "reader_in_tail",	scene_reader_in_tail },
	{ "absolute",		scene_absolute },
	{ "pause",		scene_pause },
	{ "fresh",		scene_fresh, true },
};

struct race_param {
	const struct race_op	*op;
	const struct race_scene	*scene;
};

/* The next of all pairs, or of those that are worth two levels. */
static const void *race_gen(const void *prev, char *desc, bool deep)
{
	static struct race_param param;
	static unsigned int i;

	for (i = prev ? i + 1 : 0; i < ARRAY_SIZE(ops) * ARRAY_SIZE(scenes); i++) {
		param.op = &ops[i / ARRAY_SIZE(scenes)];
		param.scene = &scenes[i % ARRAY_SIZE(scenes)];
		if (deep && !(param.op->two_levels && param.scene->deep))
			continue;
		snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s", param.op->name, param.scene->name);
		return &param;
	}
	return NULL;
}

static const void *race_gen_params(const void *prev, char *desc)
{
	return race_gen(prev, desc, false);
}

static const void *race_gen_deep(const void *prev, char *desc)
{
	return race_gen(prev, desc, true);
}

/* One run. Return: whether the operation came as far as the point. */
static bool race_run(struct rbt *w, const struct race_param *p)
{
	const struct race_action *inner = race.action[1];
	static unsigned int runs;

	w->what[0] = 0;
	rbt_open_two(w, SUBBUFS, RB_FL_OVERWRITE);
	p->scene->set(w);

	race.w = w;
	race.level = 0;
	race.taken = false;
	memset(race.count, 0, sizeof(race.count));
	WRITE_ONCE(rb_race_hook, race_hook);
	p->op->run(w);
	WRITE_ONCE(rb_race_hook, NULL);

	snprintf(w->what, sizeof(w->what), "%s at %u %s%s%s", race.action[0]->name, race.at[0],
		 race.name, inner ? ", and at its point " : "",
		 inner ? inner->name : "");
	rbt_account(w);

	/* Freed memory waits for the end of a grace period. */
	if (!(++runs % 64))
		rcu_barrier();
	return race.count[0] > race.at[0];
}

/* Each action at each point of an operation. */
static void race_test_every_point(struct kunit *test)
{
	const struct race_param *p = test->param_value;
	struct rbt *w = test->priv;
	unsigned int i, taken = 0;

	race.action[1] = NULL;
	for (i = 0; i < ARRAY_SIZE(actions) && !w->failed; i++) {
		race.action[0] = &actions[i];
		if (actions[i].exchanges && !p->op->keeps_ring)
			continue;
		for (race.at[0] = 0; race_run(w, p) && !w->failed; race.at[0]++)
			taken += race.taken;
	}
	KUNIT_EXPECT_GT(test, taken, 0U);
}

/* And an interrupt at each point of the interrupt's own record. */
static void race_test_two_levels(struct kunit *test)
{
	const struct race_param *p = test->param_value;
	struct rbt *w = test->priv;
	unsigned int taken = 0;

	race.action[0] = &actions[0];
	race.action[1] = &actions[0];
	for (race.at[0] = 0; !w->failed; race.at[0]++) {
		race.at[1] = 0;
		if (!race_run(w, p))
			break;
		while (race.count[1] > race.at[1] && !w->failed) {
			taken++;
			race.at[1]++;
			race_run(w, p);
		}
	}
	KUNIT_EXPECT_GT(test, taken, 0U);
}

/*
 * No point was passed over: an interrupt came in at each of them, in the tests
 * above, which have to come first. Those of waiting are in wait_kunit.c, those of a
 * global buffer in global_kunit.c, those of a large ring in exchange_kunit.c, those of
 * copied pages in page_kunit.c.
 */
static void race_test_all_taken(struct kunit *test)
{
	static const enum rb_race elsewhere[] = { RB_RACE_WAIT, RB_RACE_WAIT_TOLD,
		RB_RACE_WAITED, RB_RACE_STAGE_LOCK, RB_RACE_STAGE_LOOK,
		RB_RACE_STAGE_COPIED, RB_RACE_STAGE_RENEW, RB_RACE_STAGE_MOVED,
		RB_RACE_PART, RB_RACE_PLACE, RB_RACE_PLACE_COPIED,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(elsewhere); i++)
		set_bit(elsewhere[i], race_taken);
	for (i = 0; i < RB_RACE_NR; i++) {
		if (!test_bit(i, race_taken))
			KUNIT_FAIL(test, "nothing came in at point %u of enum rb_race", i);
	}
}

static struct kunit_case race_test_cases[] = {
	KUNIT_CASE_PARAM(race_test_every_point, race_gen_params),
	KUNIT_CASE_PARAM(race_test_two_levels, race_gen_deep),
	KUNIT_CASE(race_test_all_taken),
	{}
};

RBT_SUITE(race);
