// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the snapshots of a latency tracer, which are apart from the user's.
 */
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "../../tests/snapshots.h"

/* wakeup_dl finds no latency itself: no task has the policy SCHED_DEADLINE. */
static int tracer_init_suite(struct kunit *test)
{
	tfs_init_small(test);
	if (tfs_write(test, "current_tracer", "wakeup_dl") < 0)
		kunit_skip(test, "without CONFIG_SCHED_TRACER");
	return 0;
}

static void tracer_exit_suite(struct kunit *test)
{
	if (test->priv)
		tfs_write(test, "current_tracer", "nop");
	tfs_exit(test);
}

/* Report a latency of @usecs microseconds, as the tracer does. */
static void tracer_find(struct kunit *test, struct task_struct *tsk, unsigned long usecs, int cpu)
{
	guard(irqsave)();
	update_max_tr(test->priv, tsk, cpu, RING_BUFFER_ALL_CPUS, usecs * NSEC_PER_USEC);
}

/* The same for the records of one CPU. */
static void tracer_find_cpu(struct kunit *test, int cpu)
{
	guard(irqsave)();
	update_max_tr(test->priv, current, cpu, cpu, 1);
}

static int tracer_task(void *data)
{
	return 0;
}

static void tracer_expect(struct kunit *test, const char *want)
{
	const char *trace = tfs_read(test, "trace");

	KUNIT_EXPECT_EQ_MSG(test, tfs_count(trace, want), 1U, "%s in %s", want, trace);
}

/* The header shows the task, the place and the length. Records from before are not shown. */
static void tracer_test_header(struct kunit *test)
{
	/* Without CONFIG_SMP the CPU's number is only printed, so any number is valid. */
	const int cpu = IS_ENABLED(CONFIG_SMP) ? 0 : 3;
	struct trace_array *tr = test->priv;
	struct trace_array_cpu *data = per_cpu_ptr(tr->array_buffer.data, 0);
	const struct cred *before;
	struct task_struct *tsk;
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	tsk = kthread_create(tracer_task, NULL, "snap_late");
	KUNIT_ASSERT_FALSE(test, IS_ERR(tsk));
	set_user_nice(tsk, 5);
	sched_set_fifo(tsk);
	((struct cred *)tsk->real_cred)->uid = KUIDT_INIT(7);

	/* The clock "counter" gives each record a time of its own. */
	tfs_set(test, "trace_clock", "counter");
	tfs_mark(test, 2);
	data->preempt_timestamp = ring_buffer_time_stamp(tr->array_buffer.buffer);
	data->critical_start = (unsigned long)schedule;
	data->critical_end = (unsigned long)schedule_timeout;
	tfs_mark(test, 1);
	tracer_find(test, tsk, 123, cpu);
	tracer_expect(test,
		      tfs_text(test, "task: snap_late-%d (uid:7 nice:5 policy:1 rt_prio:50)\n",
			       tsk->pid));
	tracer_expect(test, tfs_text(test, "latency: 123 us, #1/1, CPU#%d |", cpu));
	tracer_expect(test, "=> started at: schedule\n");
	tracer_expect(test, "=> ended at:   schedule_timeout\n");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	KUNIT_EXPECT_NE(test, tfs_count(tfs_read(test, "/saved_cmdlines"), " snap_late\n"), 0U);

	/* The same for the current task. */
	cred->uid = KUIDT_INIT(8);
	before = override_creds(cred);
	data->critical_start = 0;
	data->preempt_timestamp = 0;
	tfs_mark(test, 2);
	tracer_find(test, current, 200, cpu);
	revert_creds(before);
	tracer_expect(test, tfs_text(test, "task: %s-%d (uid:8 nice:0 policy:0 rt_prio:0)\n",
				     current->comm, current->pid));
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 2U);
	KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, "trace"), "started at"), 0U);

	/* The user's snapshot is apart from the tracer's, and has all records. */
	tfs_mark(test, 3);
	data->preempt_timestamp = ring_buffer_time_stamp(tr->array_buffer.buffer);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 3U);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 2U);
	snap_kunit_expect(test, "taken 1");
	put_cred(cred);
	kthread_stop(tsk);
}

/* A latency becomes the longest only with its snapshot, and never while tracing is stopped. */
static void tracer_test_refused(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct array_buffer *buf;
	u64 seq;

	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	tracer_find(test, current, 100, 0);
	tfs_set(test, "tracing_on", "1");
	tr->stop_count++;
	seq = s->max.seq;
	tracer_find(test, current, 120, 0);
	tr->stop_count--;
	/* Nor while all buffers are off, which the tracer is not told. */
	tfs_set(test, "/tracing_on_all", "0");
	tracer_find(test, current, 120, 0);
	tfs_set(test, "/tracing_on_all", "1");
	KUNIT_EXPECT_EQ(test, s->max.seq, seq);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 100UL * NSEC_PER_USEC);

	s->memory.limit_kb = full;
	buf = trace_snapshot_get(tr, true);
	tracer_find(test, current, 200, 0);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 100UL * NSEC_PER_USEC);
	tracer_find(test, current, 100, 0);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 100UL * NSEC_PER_USEC);
	snap_kunit_expect(test, "starved 2");
	/* The worker allocates a buffer for the next snapshot. */
	s->memory.limit_kb = 0;
	tracer_find(test, current, 150, 0);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 100UL * NSEC_PER_USEC);
	snap_kunit_worker(tr);
	KUNIT_EXPECT_EQ(test, s->memory.kb, full * 2);
	tracer_find(test, current, 300, 0);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 300UL * NSEC_PER_USEC);
	trace_snapshot_put(buf);
	snap_kunit_expect(test, "starved 3");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	/* If no latency uses the second buffer, it is freed when the reader releases the first. */
	buf = trace_snapshot_get(tr, true);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);

	/* Latencies of one CPU, also while a reader holds the newest snapshot. */
	tfs_mark(test, 2);
	tracer_find_cpu(test, 0);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 2U);
	buf = trace_snapshot_get(tr, true);
	tfs_mark(test, 1);
	tracer_find_cpu(test, 0);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	tracer_find_cpu(test, nr_cpu_ids);
	snap_kunit_expect(test, "starved 3 refused 1");
}

/* A snapshot has the uncommitted record of a dead task: the worker settles its buffer. */
static void tracer_test_died(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	snap_kunit_die(test, tr);
	tracer_find(test, current, 100, 0);
	tfs_mark(test, 1);
	tracer_find(test, current, 200, 0);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 100UL * NSEC_PER_USEC);
	snap_kunit_worker(tr);
	tracer_find(test, current, 200, 0);
	KUNIT_EXPECT_EQ(test, tr->max_latency, 200UL * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	snap_kunit_expect(test, "refused 1");
}

/* A truncation of "trace" erases the latency, of one CPU or all; so does another tracer. */
static void tracer_test_erase(struct kunit *test)
{
	static const char * const files[] = { "trace", "per_cpu/cpu0/trace" };
	unsigned long full = snap_kunit_full(test);
	struct array_buffer *buf;
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		tfs_mark(test, 1);
		tracer_find(test, current, 100, 0);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, files[i]), 1U);
		buf = trace_snapshot_get(test->priv, true);
		file = tfs_try_open(test, files[i], O_WRONLY | O_TRUNC);
		if (i)
			KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), -EBUSY);
		else
			KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), 0);
		tfs_close(file);
		trace_snapshot_put(buf);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), i);
		tfs_empty(test, files[i]);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 0U);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	}
	tfs_mark(test, 1);
	tracer_find(test, current, 100, 0);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	tfs_set(test, "current_tracer", "wakeup_rt");
	tfs_set(test, "current_tracer", "wakeup_dl");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 0U);
	/* The change of the tracer has trimmed the user's snapshot. */
	KUNIT_EXPECT_LT(test, snap_kunit_kb(test), full * 2);
	KUNIT_EXPECT_GT(test, snap_kunit_kb(test), full);
	tfs_set(test, "current_tracer", "nop");
	KUNIT_EXPECT_LT(test, snap_kunit_kb(test), full);
	KUNIT_EXPECT_GT(test, snap_kunit_kb(test), 0UL);
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	snap_kunit(test)->memory.limit_kb = full - 1;
	tfs_refuse(test, "current_tracer", "wakeup_dl", -ENOSPC);
	tfs_expect(test, "current_tracer", "nop\n");
}

static struct kunit_case tracer_cases[] = {
	KUNIT_CASE(tracer_test_header),
	KUNIT_CASE(tracer_test_refused),
	KUNIT_CASE(tracer_test_died),
	KUNIT_CASE(tracer_test_erase),
	{ }
};

static struct kunit_suite tracer_suite = {
	.name = "trace_snapshot_tracer",
	.init = tracer_init_suite,
	.exit = tracer_exit_suite,
	.test_cases = tracer_cases,
};

kunit_test_suite(tracer_suite);
