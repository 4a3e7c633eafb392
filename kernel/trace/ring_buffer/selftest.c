// SPDX-License-Identifier: GPL-2.0
/*
 * A test at boot: every CPU writes as fast as it can, interrupts from another
 * CPU write into the middle of that, and afterwards every record has to be
 * there, or to be counted as overwritten.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/sizes.h>
#include <linux/smp.h>

#define RB_TEST_SIZE		SZ_1M

/*
 * Enough records to go round the buffer more than once, and enough interrupts
 * to meet some of them half-written. A slow machine stops at the time limit.
 */
#define RB_TEST_RECORDS		20000
#define RB_TEST_NESTED		100
#define RB_TEST_JIFFIES		(8 * HZ)

/* One in that many is as long as can be, and one is taken back. */
#define RB_TEST_LONG		512
#define RB_TEST_DISCARD		13

enum rb_test_ctx {
	RB_TEST_THREAD,
	RB_TEST_IPI,
	RB_TEST_NR_CTX,
};

/**
 * struct rb_test_rec - a record of the test
 * @num: number among those of its CPU and context, from 1
 * @cpu: where it was written
 * @ctx: &enum rb_test_ctx
 * @len: bytes of @fill
 * @sum: over @fill, and what is above
 * @fill: anything
 */
struct rb_test_rec {
	u32	num;
	u32	cpu;
	u32	ctx;
	u32	len;
	u32	sum;
	u8	fill[];
};

/**
 * struct rb_test_cpu - what a CPU has written
 * @thread:  its writer
 * @written: records of each context
 * @tries:   the same, with those that were taken back
 * @refused: records that were not taken
 */
struct rb_test_cpu {
	struct task_struct	*thread;
	u32			written[RB_TEST_NR_CTX];
	u32			tries[RB_TEST_NR_CTX];
	u32			refused[RB_TEST_NR_CTX];
};

static struct trace_buffer *rb_test_buffer __initdata;
static struct rb_test_cpu *rb_test_cpus __initdata;
static unsigned long rb_test_end __initdata;
static atomic_t rb_test_busy __initdata;

static u32 __init rb_test_sum(const struct rb_test_rec *rec)
{
	return jhash(rec->fill, rec->len, jhash_3words(rec->num, rec->cpu, rec->ctx, rec->len));
}

static void __init rb_test_write(int cpu, enum rb_test_ctx ctx)
{
	struct rb_test_cpu *tc = &rb_test_cpus[cpu];
	u32 try = ++tc->tries[ctx], len, i;
	struct ring_buffer_event *event;
	struct rb_test_rec *rec;

	len = (try * 37 + ctx) % 200;
	if (!(try % RB_TEST_LONG))
		len = ring_buffer_max_event_size(rb_test_buffer) - sizeof(*rec);

	event = ring_buffer_lock_reserve(rb_test_buffer, sizeof(*rec) + len);
	if (!event) {
		tc->refused[ctx]++;
		return;
	}
	rec = ring_buffer_event_data(event);
	rec->num = tc->written[ctx] + 1;
	rec->cpu = cpu;
	rec->ctx = ctx;
	rec->len = len;
	for (i = 0; i < len; i++)
		rec->fill[i] = try + i;
	rec->sum = rb_test_sum(rec);

	if (!(try % RB_TEST_DISCARD)) {
		/* If this one is seen after all, it is a bad one. */
		rec->sum ^= 1;
		ring_buffer_discard_commit(rb_test_buffer, event);
		return;
	}
	ring_buffer_unlock_commit(rb_test_buffer);
	tc->written[ctx]++;
}

static int __init rb_test_thread(void *arg)
{
	struct rb_test_cpu *tc = arg;
	int cpu = tc - rb_test_cpus;

	while (time_before(jiffies, rb_test_end) &&
	       (tc->written[RB_TEST_THREAD] < RB_TEST_RECORDS ||
		READ_ONCE(tc->written[RB_TEST_IPI]) < RB_TEST_NESTED)) {
		rb_test_write(cpu, RB_TEST_THREAD);
		cond_resched();
	}

	atomic_dec(&rb_test_busy);
	/* The task must not be gone when it is stopped. */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static void __init rb_test_ipi(void *unused)
{
	rb_test_write(smp_processor_id(), RB_TEST_IPI);
}

/* Run the writers, and interrupt them, until all of them have had enough. */
static int __init rb_test_run(void)
{
	struct task_struct *thread;
	int cpu, ret = 0;

	atomic_set(&rb_test_busy, num_online_cpus());
	rb_test_end = jiffies + RB_TEST_JIFFIES;

	for_each_online_cpu(cpu) {
		thread = kthread_run_on_cpu(rb_test_thread, &rb_test_cpus[cpu], cpu,
					    "rb_test/%u");
		if (IS_ERR(thread)) {
			ret = PTR_ERR(thread);
			break;
		}
		rb_test_cpus[cpu].thread = thread;
	}
	while (!ret && atomic_read(&rb_test_busy)) {
		on_each_cpu(rb_test_ipi, NULL, 1);
		cond_resched();
	}
	for_each_online_cpu(cpu) {
		if (rb_test_cpus[cpu].thread)
			kthread_stop(rb_test_cpus[cpu].thread);
	}
	return ret;
}

/* The first thing that is wrong is enough: the buffer takes no more. */
static bool __init rb_test_fail(int cpu, const char *what)
{
	ring_buffer_record_off(rb_test_buffer);
	WARN(1, "Ring buffer FAILED: CPU %d: %s\n", cpu, what);
	return false;
}

/* Return: the fault of a record, or NULL; @last has the numbers before. */
static const char *__init rb_test_check_rec(struct ring_buffer_event *event, int cpu, u32 *last)
{
	struct rb_test_rec *rec = ring_buffer_event_data(event);
	unsigned int len = ring_buffer_event_length(event);

	if (len < sizeof(*rec) || rec->len > len - sizeof(*rec))
		return "a record has the wrong length";
	if (rec->sum != rb_test_sum(rec))
		return "a record is damaged";
	if (rec->cpu != cpu || rec->ctx >= RB_TEST_NR_CTX)
		return "a record is in the wrong place";
	if (rec->num <= last[rec->ctx])
		return "a record comes twice, or too late";
	last[rec->ctx] = rec->num;
	return NULL;
}

/* Read all of a CPU's records. */
static bool __init rb_test_check(int cpu)
{
	struct rb_test_cpu *tc = &rb_test_cpus[cpu];
	unsigned long written, read = 0, lost = 0, n;
	u32 last[RB_TEST_NR_CTX] = { };
	struct ring_buffer_event *event;
	const char *what;
	u64 ts, before = 0;

	written = (unsigned long)tc->written[RB_TEST_THREAD] + tc->written[RB_TEST_IPI];
	if (tc->refused[RB_TEST_THREAD] || tc->refused[RB_TEST_IPI])
		return rb_test_fail(cpu, "a record was refused");
	if (ring_buffer_entries_cpu(rb_test_buffer, cpu) +
	    ring_buffer_overrun_cpu(rb_test_buffer, cpu) != written)
		return rb_test_fail(cpu, "entries and overruns are not what was written");

	while ((event = ring_buffer_consume(rb_test_buffer, cpu, &ts, &n))) {
		lost += n;
		read++;
		what = rb_test_check_rec(event, cpu, last);
		if (what)
			return rb_test_fail(cpu, what);
		if (ts < before)
			return rb_test_fail(cpu, "time runs backwards");
		before = ts;
		cond_resched();
	}

	pr_info("CPU %d: wrote %u and %u in interrupts, read %lu, lost %lu\n", cpu,
		tc->written[RB_TEST_THREAD], tc->written[RB_TEST_IPI], read, lost);
	if (read + lost != written)
		return rb_test_fail(cpu, "read and lost are not what was written");
	if (last[RB_TEST_THREAD] != tc->written[RB_TEST_THREAD] ||
	    last[RB_TEST_IPI] != tc->written[RB_TEST_IPI])
		return rb_test_fail(cpu, "the newest record is missing");
	if (lost != ring_buffer_overrun_cpu(rb_test_buffer, cpu) ||
	    read != ring_buffer_read_events_cpu(rb_test_buffer, cpu))
		return rb_test_fail(cpu, "the statistics count something else");
	if (ring_buffer_entries_cpu(rb_test_buffer, cpu) ||
	    !ring_buffer_empty_cpu(rb_test_buffer, cpu))
		return rb_test_fail(cpu, "something is left");
	return true;
}

static int __init rb_test(void)
{
	bool passed = true;
	int cpu, ret;

	if (security_locked_down(LOCKDOWN_TRACEFS)) {
		pr_warn("Lockdown: ring buffer tests are skipped\n");
		return 0;
	}

	pr_info("Running ring buffer tests...\n");
	rb_test_cpus = kcalloc(nr_cpu_ids, sizeof(*rb_test_cpus), GFP_KERNEL);
	rb_test_buffer = ring_buffer_alloc(RB_TEST_SIZE, RB_FL_OVERWRITE);
	if (WARN(!rb_test_cpus || !rb_test_buffer, "Ring buffer FAILED: no memory\n"))
		goto out;

	ret = rb_test_run();
	if (WARN(ret, "Ring buffer FAILED: no threads: %d\n", ret))
		goto out;

	for_each_online_cpu(cpu)
		passed = passed && rb_test_check(cpu);
	if (passed && ring_buffer_entries(rb_test_buffer))
		passed = rb_test_fail(-1, "something is left somewhere");
	if (passed)
		pr_info("Ring buffer PASSED!\n");
out:
	if (rb_test_buffer)
		ring_buffer_free(rb_test_buffer);
	kfree(rb_test_cpus);
	return 0;
}
late_initcall(rb_test);
