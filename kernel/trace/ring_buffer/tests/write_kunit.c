// SPDX-License-Identifier: GPL-2.0
/*
 * Reserve, commit, discard, nest, and errors.
 */
#include <linux/context_tracking.h>
#include <linux/irq_work.h>

#include "world.h"

/* A reserved record, and one that was written behind it, stay hidden until commit. */
static void write_test_hidden_until_commit(struct kunit *test)
{
	struct ring_buffer_event *outer, *inner;
	struct rbt *w = test->priv;
	u32 num, in;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	outer = rbt_must_reserve(w, 8, &num);
	KUNIT_EXPECT_NULL(test, ring_buffer_peek(w->buffer, w->cpu, NULL, NULL));

	ring_buffer_nest_start(w->buffer);
	inner = rbt_reserve(w, 8, &in);
	KUNIT_EXPECT_NOT_NULL(test, inner);
	if (inner)
		rbt_commit(w, inner, in);
	ring_buffer_nest_end(w->buffer);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->buffer, w->cpu));

	rbt_commit(w, outer, num);
	KUNIT_EXPECT_FALSE(test, ring_buffer_empty_cpu(w->buffer, w->cpu));
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, 2U);
}

static const struct write_len {
	int	above;		/* the longest there can be */
	bool	abs;
	bool	fits;
} lens[] = {
	{ -1, false, true },
	{ 0, false, true },
	{ 1, false, false },
	{ 4, false, false },
	{ 100000, false, false },
	{ 0, true, true },
};

static void write_desc_len(const struct write_len *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "longest%+d%s", p->above, p->abs ? ", absolute" : "");
}

KUNIT_ARRAY_PARAM(write_len, lens, write_desc_len);

/* The longest record fits, onto an empty sub-buffer and behind others. */
static void write_test_max_length(struct kunit *test)
{
	const struct write_len *p = test->param_value;
	struct rbt *w = test->priv;
	unsigned int len;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	ring_buffer_set_time_stamp_abs(w->buffer, p->abs);
	len = ring_buffer_max_event_size(w->buffer) + p->above;
	KUNIT_EXPECT_EQ(test, rbt_write(w, len), p->fits);
	rbt_write(w, 8);
	KUNIT_EXPECT_EQ(test, rbt_write(w, len), p->fits);
	/* Too long is the caller's fault, which no statistic counts. */
	if (!p->fits) {
		KUNIT_EXPECT_EQ(test, rbt_count(w, RBT_REFUSED), 2U);
		w->recs[0].state = RBT_GONE;
		w->recs[2].state = RBT_GONE;
	}
	rbt_account(w);
}

/* A discarded record leaves nothing: no record, no byte, no count. */
static void write_test_discard(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	unsigned int i;
	u32 num;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	for (i = 0; i < 1000; i++) {
		rec = rbt_must_reserve(w, 100, &num);
		rbt_discard(w, rec, num);
	}
	KUNIT_EXPECT_EQ(test, ring_buffer_bytes_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(w->buffer, w->cpu), 0UL);
	rbt_write_n(w, 100, 3);
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, 3U);
}

/* Nested writes up to the limit; the one above it is refused and counted. */
static void write_test_nest(struct kunit *test)
{
	struct ring_buffer_event *rec[RB_NEST_LEVELS];
	struct rbt *w = test->priv;
	u32 num[RB_NEST_LEVELS], none;
	int i;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	for (i = 0; i < RB_NEST_LEVELS; i++) {
		if (i)
			ring_buffer_nest_start(w->buffer);
		rec[i] = rbt_reserve(w, 8 + 4 * i, &num[i]);
		KUNIT_EXPECT_NOT_NULL(test, rec[i]);
	}
	ring_buffer_nest_start(w->buffer);
	KUNIT_EXPECT_NULL(test, rbt_reserve(w, 8, &none));
	ring_buffer_nest_end(w->buffer);
	while (i--) {
		if (rec[i])
			rbt_commit(w, rec[i], num[i]);
		if (i)
			ring_buffer_nest_end(w->buffer);
	}
	KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(w->buffer, w->cpu), 1UL);
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, (u32)RB_NEST_LEVELS);
	KUNIT_EXPECT_EQ(test, w->buffer->cpus[w->cpu]->special, 0ULL);
}

/*
 * A context that is writing is let in once more, as an interrupt may look like it. The outermost
 * writer does not record its context.
 */
static void write_test_recursion(struct kunit *test)
{
	struct ring_buffer_event *event[3];
	struct rbt *w = test->priv;
	u32 num[4];
	int i;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	for (i = 0; i < 3; i++) {
		event[i] = rbt_reserve(w, 8, &num[i]);
		KUNIT_EXPECT_NOT_NULL(test, event[i]);
	}
	KUNIT_EXPECT_NULL(test, rbt_reserve(w, 8, &num[3]));
	while (i--) {
		if (event[i])
			rbt_commit(w, event[i], num[i]);
	}
	/* Refused without being counted: it is a fault of the caller. */
	w->recs[num[3]].state = RBT_GONE;
	KUNIT_EXPECT_TRUE(test, rbt_write(w, 8));
	rbt_account(w);
	KUNIT_EXPECT_EQ(test, w->nr_seen, 4U);
}

/* Every context at once, each inside the one before it. */
static void write_test_contexts(struct kunit *test)
{
	static const unsigned int contexts[] = { 0, SOFTIRQ_OFFSET, HARDIRQ_OFFSET, NMI_OFFSET };
	bool nmi = IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) &&
		   !IS_ENABLED(CONFIG_GENERIC_ATOMIC64);
	struct ring_buffer_event *rec[ARRAY_SIZE(contexts)];
	u32 num[ARRAY_SIZE(contexts)];
	struct rbt *w = test->priv;
	unsigned long flags;
	int i;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	local_irq_save(flags);
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		__preempt_count_add(contexts[i]);
		rec[i] = rbt_reserve(w, 12, &num[i]);
	}
	while (i--) {
		if (rec[i])
			rbt_commit(w, rec[i], num[i]);
		__preempt_count_sub(contexts[i]);
	}
	local_irq_restore(flags);

	KUNIT_EXPECT_NOT_NULL(test, rec[0]);
	KUNIT_EXPECT_NOT_NULL(test, rec[1]);
	KUNIT_EXPECT_NOT_NULL(test, rec[2]);
	/* Where the 64-bit exchange may be made of a lock, not in an NMI. */
	KUNIT_EXPECT_EQ(test, !!rec[3], nmi);
	if (!nmi)
		w->recs[num[3]].state = RBT_GONE;
	rbt_account(w);
}

/* Recording can be switched off in three ways, and each refuses. */
static void write_test_disabled(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_on(w->buffer));

	ring_buffer_record_off(w->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_set_on(w->buffer));
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, 4, "abc"), -EBUSY);
	ring_buffer_record_on(w->buffer);

	ring_buffer_record_disable(w->buffer);
	ring_buffer_record_disable(w->buffer);
	ring_buffer_record_enable(w->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_on(w->buffer));
	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_set_on(w->buffer));
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, 4, "abc"), -EBUSY);
	ring_buffer_record_enable(w->buffer);

	ring_buffer_record_disable_cpu(w->buffer, w->cpu);
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, 4, "abc"), -EBUSY);
	ring_buffer_record_enable_cpu(w->buffer, w->cpu);

	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, 4, "abc"), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(w->buffer), 1UL);
}

/* Expect that recording was on since a time, up to a time. */
static void write_expect_on(struct kunit *test, u64 from, u64 to)
{
	struct rbt *w = test->priv;
	u64 since, until;

	KUNIT_EXPECT_TRUE(test, ring_buffer_was_on(w->buffer, &since, &until));
	KUNIT_EXPECT_EQ(test, since, from);
	KUNIT_EXPECT_EQ(test, until, to);
}

/* The time of refused records is known: from the first refusal to the last one. */
static void write_test_was_on(struct kunit *test)
{
	struct rbt *w = test->priv;
	u64 stop;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	write_expect_on(test, 0, U64_MAX);
	stop = rbt_now + 1;
	ring_buffer_record_disable(w->buffer);
	write_expect_on(test, 0, stop);
	ring_buffer_record_off(w->buffer);
	ring_buffer_record_disable(w->buffer);
	ring_buffer_record_enable(w->buffer);
	write_expect_on(test, 0, stop);
	ring_buffer_record_enable(w->buffer);
	write_expect_on(test, 0, stop);
	ring_buffer_record_on(w->buffer);
	write_expect_on(test, rbt_now, U64_MAX);

	ring_buffer_record_off(w->buffer);
	ring_buffer_record_disable(w->buffer);
	ring_buffer_record_on(w->buffer);
	ring_buffer_record_enable(w->buffer);
	write_expect_on(test, rbt_now, U64_MAX);

	/* While one CPU is disabled, no time is complete. */
	ring_buffer_record_disable_cpu(w->buffer, w->cpu);
	ring_buffer_record_disable_cpu(w->buffer, w->cpu);
	write_expect_on(test, U64_MAX, U64_MAX);
	ring_buffer_record_enable_cpu(w->buffer, w->cpu);
	write_expect_on(test, U64_MAX, U64_MAX);
	stop = rbt_now;
	ring_buffer_record_enable_cpu(w->buffer, w->cpu);
	KUNIT_EXPECT_GT(test, rbt_now, stop);
	write_expect_on(test, rbt_now, U64_MAX);
	ring_buffer_record_disable_cpu(w->buffer, nr_cpu_ids);
	write_expect_on(test, rbt_now, U64_MAX);
}

/* Nothing is left to look at for the next record when it is on again, or not full any more. */
static void write_test_plain_again(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct rb_cpu *rcpu;

	rbt_open(w, 2, 0);
	rcpu = w->buffer->cpus[w->cpu];
	ring_buffer_record_off(w->buffer);
	KUNIT_EXPECT_NE(test, rcpu->special, 0ULL);
	ring_buffer_record_on(w->buffer);
	KUNIT_EXPECT_EQ(test, rcpu->special, 0ULL);
	rbt_write(w, 8);
	KUNIT_EXPECT_NE(test, rbt_ring(w)->tail->room, 0U);

	rbt_write_n(w, 1000, 20);
	KUNIT_EXPECT_NE(test, rcpu->special, 0ULL);
	while (rbt_consume(w))
		;
	KUNIT_EXPECT_TRUE(test, rbt_write(w, 8));
	KUNIT_EXPECT_EQ(test, rcpu->special, 0ULL);
	rbt_account(w);
}

#ifndef CONFIG_ARCH_WANTS_NO_INSTR
static unsigned long write_end_watching(void)
{
	unsigned long flags;

	local_irq_save(flags);
	/* Only an idle task may say so. */
	current->flags |= PF_IDLE;
	ct_idle_enter();
	return flags;
}

static void write_watch_again(unsigned long flags)
{
	ct_idle_exit();
	current->flags &= ~PF_IDLE;
	local_irq_restore(flags);
}

/* No grace period would wait for a writer where RCU does not watch. */
static void write_test_not_watching(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned long flags;
	int abs, ret;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, 4, "abc"), 0);
	for (abs = 0; abs < 2; abs++) {
		ring_buffer_set_time_stamp_abs(w->buffer, abs);
		flags = write_end_watching();
		ret = ring_buffer_write(w->buffer, 4, "abc");
		write_watch_again(flags);
		KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	}
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, 4, "abc"), 0);
}

/* Switches work there: otherwise lockdep complains. */
static void write_test_switch_not_watching(struct kunit *test)
{
	struct trace_buffer *channel = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct rbt *w = test->priv;
	unsigned long flags;
	bool all, after;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	KUNIT_ASSERT_NOT_NULL(test, channel);
	flags = write_end_watching();
	tracing_off_all();
	all = tracing_is_on_all();
	tracing_on_all();
	ring_buffer_record_off(w->buffer);
	ring_buffer_follow_switch(channel, w->buffer);
	after = rcu_is_watching();
	write_watch_again(flags);
	KUNIT_EXPECT_FALSE(test, all);
	KUNIT_EXPECT_FALSE(test, after);
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_on(channel));
	flags = write_end_watching();
	ring_buffer_record_on(w->buffer);
	ring_buffer_follow_switch(channel, w->buffer);
	write_watch_again(flags);
	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_on(channel));
	ring_buffer_free(channel);
}
#endif

static atomic_t write_told;

static void write_tell(struct irq_work *work)
{
	atomic_inc(&write_told);
}

/* How often the work of ring_buffer_set_on_work() has run since the last call */
static int write_was_told(struct irq_work *work)
{
	irq_work_sync(work);
	return atomic_xchg(&write_told, 0);
}

/* Each switch on is told, whichever buffer it is of, and no switch off. */
static void write_test_tell_on(struct kunit *test)
{
	struct trace_buffer *channel = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	static struct irq_work work = IRQ_WORK_INIT_HARD(write_tell);
	struct irq_work *others;
	struct rbt *w = test->priv;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	KUNIT_ASSERT_NOT_NULL(test, channel);
	others = ring_buffer_set_on_work(&work);
	write_was_told(&work);
	ring_buffer_record_off(w->buffer);
	ring_buffer_follow_switch(channel, w->buffer);
	tracing_off_all();
	KUNIT_EXPECT_EQ(test, write_was_told(&work), 0);
	tracing_on_all();
	KUNIT_EXPECT_EQ(test, write_was_told(&work), 1);
	ring_buffer_follow_switch(channel, NULL);
	KUNIT_EXPECT_EQ(test, write_was_told(&work), 1);
	ring_buffer_record_on(w->buffer);
	KUNIT_EXPECT_EQ(test, write_was_told(&work), 1);
	KUNIT_EXPECT_PTR_EQ(test, ring_buffer_set_on_work(others), &work);
	ring_buffer_free(channel);
}

/* Full: the oldest go, or the new ones are dropped and none of them slips in. */
static void write_test_full(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int fit;

	rbt_open(w, 3, 0);
	fit = 3 * rbt_room_for(w, 100);
	rbt_write_n(w, 100, fit);
	KUNIT_EXPECT_EQ(test, rbt_count(w, RBT_REFUSED), 0U);
	KUNIT_EXPECT_FALSE(test, rbt_write(w, 1000));
	KUNIT_EXPECT_FALSE(test, rbt_write(w, 4));
	KUNIT_EXPECT_EQ(test, ring_buffer_dropped_events_cpu(w->buffer, w->cpu), 2UL);
	ring_buffer_change_overwrite(w->buffer, true);
	KUNIT_EXPECT_TRUE(test, rbt_write(w, 100));
	ring_buffer_change_overwrite(w->buffer, false);
	rbt_write_n(w, 100, 2 * fit);
	rbt_account(w);
}

/* An interrupt may fill the ring, but not pass the record that it interrupted. */
static void write_test_commit_overrun(struct kunit *test)
{
	struct ring_buffer_event *rec;
	struct rbt *w = test->priv;
	u32 num;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_write_n(w, 100, 5);
	rec = rbt_must_reserve(w, 100, &num);
	ring_buffer_nest_start(w->buffer);
	rbt_write_n(w, 100, 10 * rbt_room_for(w, 100));
	ring_buffer_nest_end(w->buffer);
	rbt_commit(w, rec, num);
	KUNIT_EXPECT_GT(test, ring_buffer_commit_overrun_cpu(w->buffer, w->cpu), 0UL);
	rbt_account(w);
}

static struct kunit_case write_test_cases[] = {
	KUNIT_CASE(write_test_hidden_until_commit),
	KUNIT_CASE_PARAM(write_test_max_length, write_len_gen_params),
	KUNIT_CASE(write_test_discard),
	KUNIT_CASE(write_test_nest),
	KUNIT_CASE(write_test_recursion),
	KUNIT_CASE(write_test_contexts),
	KUNIT_CASE(write_test_disabled),
	KUNIT_CASE(write_test_was_on),
	KUNIT_CASE(write_test_plain_again),
#ifndef CONFIG_ARCH_WANTS_NO_INSTR
	KUNIT_CASE(write_test_not_watching),
	KUNIT_CASE(write_test_switch_not_watching),
#endif
	KUNIT_CASE(write_test_tell_on),
	KUNIT_CASE(write_test_full),
	KUNIT_CASE(write_test_commit_overrun),
	{}
};

RBT_SUITE(write);
