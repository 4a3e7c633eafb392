// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: the end of a wait, and no wake-up that is missed between the look at the
 * ring and the sleep.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/poll.h>

#include "world.h"

/* A thread that waits. */
struct wait_thread {
	struct rbt		*w;
	int			cpu;
	int			full;
	bool			stop;		/* value of its condition */
	bool			conditional;
	int			ret;
	struct completion	done;
};

static bool wait_stop(void *data)
{
	struct wait_thread *t = data;

	return READ_ONCE(t->stop);
}

static int wait_run(void *data)
{
	struct wait_thread *t = data;

	t->ret = ring_buffer_wait(t->w->buffer, t->cpu, t->full,
				  t->conditional ? wait_stop : NULL, t);
	complete(&t->done);
	return 0;
}

/* Let it come to rest: woken, or asleep for good. */
static void wait_settle(void)
{
	unsigned int i;

	/* Long enough for a grace period and for the tasks that it wakes. */
	for (i = 0; i < 3; i++) {
		rcu_barrier();
		schedule_timeout_uninterruptible(2);
	}
}

static void wait_start(struct rbt *w, struct wait_thread *t)
{
	struct task_struct *task;

	t->w = w;
	init_completion(&t->done);
	/* On this CPU, so that what the race hook writes there is a record of it. */
	task = kthread_create_on_cpu(wait_run, t, w->cpu, "rb_wait_test/%u");
	KUNIT_ASSERT_FALSE(w->test, IS_ERR(task));
	wake_up_process(task);
	wait_settle();
}

/* Woken is woken, however long it takes; a lost wake-up is a test that fails. */
static void wait_expect_woken(struct rbt *w, struct wait_thread *t)
{
	unsigned long left = wait_for_completion_timeout(&t->done, 60 * HZ);

	if (!left) {
		WRITE_ONCE(t->stop, true);
		ring_buffer_wake_waiters(w->buffer, RING_BUFFER_ALL_CPUS);
		wait_for_completion(&t->done);
	}
	KUNIT_EXPECT_NE(w->test, left, 0UL);
	KUNIT_EXPECT_EQ(w->test, t->ret, 0);
}

/* A record ends the wait for one. */
static void wait_test_record(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct wait_thread cpu = { .cpu = w->cpu, .conditional = true };
	struct wait_thread all = { .cpu = RING_BUFFER_ALL_CPUS, .conditional = true };

	rbt_open(w, 4, RB_FL_OVERWRITE);
	wait_start(w, &cpu);
	wait_start(w, &all);
	KUNIT_EXPECT_FALSE(test, completion_done(&cpu.done));
	KUNIT_EXPECT_FALSE(test, completion_done(&all.done));
	rbt_write(w, 8);
	wait_expect_woken(w, &cpu);
	wait_expect_woken(w, &all);
}

/* Each of several waiters is woken at its own watermark, whichever came first. */
static void wait_test_watermarks(struct kunit *test)
{
	struct rbt *w = test->priv;
	unsigned int first;

	for (first = 0; first < 2; first++) {
		struct wait_thread low = { .cpu = w->cpu, .full = 25, .conditional = true };
		struct wait_thread high = { .cpu = w->cpu, .full = 75, .conditional = true };

		rbt_open(w, 8, RB_FL_OVERWRITE);
		wait_start(w, first ? &low : &high);
		wait_start(w, first ? &high : &low);
		rbt_write_n(w, 100, rbt_room_for(w, 100));
		wait_settle();
		KUNIT_EXPECT_FALSE(test, completion_done(&low.done));
		rbt_write_n(w, 100, 2 * rbt_room_for(w, 100));
		wait_expect_woken(w, &low);
		wait_settle();
		KUNIT_EXPECT_FALSE(test, completion_done(&high.done));
		rbt_write_n(w, 100, 4 * rbt_room_for(w, 100));
		wait_expect_woken(w, &high);
	}
}

/* A wake-up wakes the waiters with a changed condition. */
static void wait_test_condition(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct wait_thread t = { .cpu = w->cpu, .conditional = true };
	struct wait_thread once = { .cpu = w->cpu };

	rbt_open(w, 4, RB_FL_OVERWRITE);
	wait_start(w, &t);
	wait_start(w, &once);
	ring_buffer_wake_waiters(w->buffer, w->cpu);
	wait_expect_woken(w, &once);
	KUNIT_EXPECT_FALSE(test, completion_done(&t.done));
	WRITE_ONCE(t.stop, true);
	ring_buffer_wake_waiters(w->buffer, w->cpu);
	wait_expect_woken(w, &t);
}

/* All waiters are woken at once; without a condition that ends the wait, also for a watermark. */
static void wait_test_wake_all(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct wait_thread cpu = { .cpu = w->cpu };
	struct wait_thread full = { .cpu = w->cpu, .full = 50 };
	struct wait_thread all = { .cpu = RING_BUFFER_ALL_CPUS };

	rbt_open(w, 4, RB_FL_OVERWRITE);
	wait_start(w, &cpu);
	wait_start(w, &full);
	wait_start(w, &all);
	KUNIT_EXPECT_FALSE(test, completion_done(&cpu.done));
	KUNIT_EXPECT_FALSE(test, completion_done(&full.done));
	KUNIT_EXPECT_FALSE(test, completion_done(&all.done));
	ring_buffer_wake_waiters(w->buffer, RING_BUFFER_ALL_CPUS);
	wait_expect_woken(w, &cpu);
	wait_expect_woken(w, &full);
	wait_expect_woken(w, &all);
}

/* There is a record already: no task waits. */
static void wait_test_ready(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write(w, 8);
	KUNIT_EXPECT_EQ(test, ring_buffer_wait(w->buffer, w->cpu, 0, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_wait(w->buffer, RING_BUFFER_ALL_CPUS, 0, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_wait(w->buffer, nr_cpu_ids, 0, NULL, NULL), -ENODEV);
}

/* A record that comes at either side of telling the writers is not missed. */
static struct {
	struct rbt	*w;
	enum rb_race	point;
	bool		taken;
} waiting;

static void wait_write_between(enum rb_race point, const char *name)
{
	if (point != waiting.point || waiting.taken)
		return;
	waiting.taken = true;
	rbt_write(waiting.w, 8);
}

static void wait_test_race(struct kunit *test)
{
	static const enum rb_race points[] = { RB_RACE_WAIT, RB_RACE_WAIT_TOLD };
	struct rbt *w = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		struct wait_thread t = { .cpu = w->cpu, .conditional = true };

		rbt_open(w, 2, RB_FL_OVERWRITE);
		waiting.w = w;
		waiting.point = points[i];
		waiting.taken = false;
		WRITE_ONCE(rb_race_hook, wait_write_between);
		wait_start(w, &t);
		wait_expect_woken(w, &t);
		WRITE_ONCE(rb_race_hook, NULL);
		KUNIT_EXPECT_TRUE(test, waiting.taken);
		rbt_account(w);
		KUNIT_EXPECT_EQ(test, w->nr_seen, 1U);
	}
}

static u32 wait_poll(struct rbt *w, int cpu, int full)
{
	poll_table pt;

	init_poll_funcptr(&pt, NULL);
	return (__force u32)ring_buffer_poll_wait(w->buffer, cpu, NULL, &pt, full);
}

/* A poll returns the events of the buffer. */
static void wait_test_poll(struct kunit *test)
{
	const u32 in = (__force u32)(EPOLLIN | EPOLLRDNORM);
	struct rbt *w = test->priv;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, wait_poll(w, w->cpu, 0), 0U);
	KUNIT_EXPECT_EQ(test, wait_poll(w, nr_cpu_ids, 0), (__force u32)EPOLLERR);
	rbt_write(w, 8);
	KUNIT_EXPECT_EQ(test, wait_poll(w, w->cpu, 0), in);
	KUNIT_EXPECT_EQ(test, wait_poll(w, w->cpu, 100), 0U);
	KUNIT_EXPECT_EQ(test, wait_poll(w, RING_BUFFER_ALL_CPUS, 0), in);
}

static struct kunit_case wait_test_cases[] = {
	KUNIT_CASE(wait_test_record),
	KUNIT_CASE(wait_test_watermarks),
	KUNIT_CASE(wait_test_condition),
	KUNIT_CASE(wait_test_wake_all),
	KUNIT_CASE(wait_test_ready),
	KUNIT_CASE(wait_test_race),
	KUNIT_CASE(wait_test_poll),
	{}
};

RBT_SUITE(wait);
