// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of snapshots: who gets it, what is counted, and that all of it is returned.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/vmstat.h>

#include "tracefs.h"

static void memory_limit(struct kunit *test, unsigned long kb)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", kb);
	snap_kunit_echo(test, "snapshot_limit_kb", text);
}

/* The limit holds to the KiB, and what is refused for it changes nothing. */
static void memory_test_limit(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct file *file;

	memory_limit(test, full - 1);
	snap_kunit_refuse(test, "snapshot", "1", -ENOSPC);
	snap_kunit_refuse(test, "snapshot_allocate", "1", -ENOSPC);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), -ENOSPC);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), -ENOSPC);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "snapshot_allocate"), "0\n");
	snap_kunit_expect(test, "");
	memory_limit(test, full);
	snap_kunit_echo(test, "snapshot", "1");
	snap_kunit_echo(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);

	/* Neither a reader nor the worker goes above it. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	file = snap_kunit_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	tracing_snapshot_instance(tr);
	snap_kunit_worker(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_expect(test, "taken 2 starved 1");
	/* Where it is gone, the worker finds it. */
	memory_limit(test, 0);
	tracing_snapshot_instance(tr);
	snap_kunit_worker(tr);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 3 starved 2");
	snap_kunit_close(file);
	tracing_disarm_snapshot(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);

	/* More than it allows is no reason to wrap around. */
	s->limit_kb = 1;
	mutex_lock(&s->mutex);
	KUNIT_EXPECT_EQ(test, snap_charge(s, 1), -ENOSPC);
	mutex_unlock(&s->mutex);
	s->limit_kb = 0;
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
}

/* A task that is killed gets no memory, and nothing is counted. */
static void memory_test_killed(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	int ret;

	snap_kunit_kill(true);
	ret = tracing_alloc_snapshot_instance(tr);
	snap_kunit_kill(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	/* That it was refused does not let it stay. */
	snap_kunit_echo(test, "snapshot_allocate", "1");
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

/* A buffer stays as long as somebody relies on it. */
static void memory_test_reserved(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test), kb, before;
	struct trace_array *tr = test->priv;

	snap_kunit_echo(test, "snapshot_allocate", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	snap_kunit_echo(test, "snapshot", "1");
	snap_kunit_refuse(test, "snapshot_allocate", "0", -EBUSY);
	KUNIT_EXPECT_NOT_NULL(test, tr->snapshots->user.last);
	snap_kunit_echo(test, "snapshot", "0");
	KUNIT_EXPECT_NULL(test, tr->snapshots->user.last);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	tracing_disarm_snapshot(tr);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_echo(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	/* So does snapshot_on rely on it, and a request that is pending. */
	snap_kunit_echo(test, "snapshot_allocate", "1");
	before = snap_crash_set(BIT(SNAP_BY_OOPS));
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_crash_set(before);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	/* A snapshot stays, and costs what it holds. */
	snap_kunit_mark(test, 1);
	snap_kunit_echo(test, "snapshot", "1");
	KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "snapshot_allocate"), "1\n");
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_STREQ(test, snap_kunit_read(test, "snapshot_allocate"), "0\n");
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 1U);
	kb = snap_kunit_kb(test);
	KUNIT_EXPECT_LT(test, kb, full);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2 starved 1");
	snap_kunit_echo(test, "snapshot_allocate", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), kb + full);
	tracing_snapshot_instance(tr);
	snap_kunit_worker(tr);
	snap_kunit_expect(test, "taken 3 starved 1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
}

/* What is not needed is neither kept nor allocated, and what saves nothing is not done. */
static void memory_test_spared(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	unsigned int gen = s->gen;

	/* One of two buffers is enough to go on. */
	snap_kunit_echo(test, "snapshot", "1");
	mutex_lock(&s->mutex);
	KUNIT_EXPECT_EQ(test, snap_add_spare(s, &s->user), 0);
	mutex_unlock(&s->mutex);
	snap_kunit_echo(test, "snapshot", "2");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_expect(test, "taken 1");

	/* A full snapshot is not trimmed, and no other one before its writers have committed. */
	while (!ring_buffer_overruns(tr->array_buffer.buffer))
		snap_kunit_mark(test, 100);
	snap_kunit_echo(test, "snapshot", "1");
	mutex_lock(&s->mutex);
	snap_settle(s->user.last);
	KUNIT_EXPECT_EQ(test, snap_trim(s, s->user.last), 0);
	KUNIT_EXPECT_EQ(test, s->user.last->gen, gen);
	mutex_unlock(&s->mutex);
	snap_kunit_echo(test, "snapshot", "1");
	mutex_lock(&s->mutex);
	KUNIT_EXPECT_FALSE(test, s->user.last->settled);
	KUNIT_EXPECT_EQ(test, snap_trim(s, s->user.last), 0);
	KUNIT_EXPECT_EQ(test, s->user.last->gen, gen);
	mutex_unlock(&s->mutex);

	/* Where no more are taken, none is allocated. */
	snap_kunit_echo(test, "snapshot", "0");
	snap_kunit_echo(test, "snapshot_keep", "first 1");
	snap_kunit_echo(test, "snapshot", "1");
	full = snap_kunit_kb(test);
	snap_kunit_refuse(test, "snapshot", "1", -ENOSPC);
	KUNIT_EXPECT_NULL(test, s->user.spare);
	KUNIT_EXPECT_EQ(test, s->kb, full);
	snap_kunit_echo(test, "snapshot_keep", "0");
}

/* To erase a snapshot keeps its memory, and what is read stays until it was read. */
static void memory_test_erase(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct file *file;
	char *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < 2; i++) {
		snap_kunit_mark(test, 1);
		snap_kunit_echo(test, "snapshot", "1");
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 1U);
		if (i)
			snap_kunit_echo(test, "per_cpu/cpu0/snapshot", "2");
		else
			snap_kunit_echo(test, "snapshot", "2");
		KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 0U);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	}
	snap_kunit_mark(test, 1);
	snap_kunit_echo(test, "snapshot", "1");
	file = snap_kunit_open(test, "snapshot", O_RDONLY);
	snap_kunit_refuse(test, "per_cpu/cpu0/snapshot", "2", -EBUSY);
	snap_kunit_echo(test, "snapshot", "2");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	KUNIT_EXPECT_EQ(test, snap_kunit_marks(test, "snapshot"), 0U);
	KUNIT_EXPECT_GT(test, snap_kunit_read_file(test, file, buf, PAGE_SIZE - 1), 0);
	KUNIT_EXPECT_EQ(test, snap_kunit_count(buf, ": mark\n"), 1U);
	snap_kunit_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	/* Where there is none, none is allocated, and no reader needs a snapshot. */
	snap_kunit_echo(test, "snapshot", "0");
	snap_kunit_echo(test, "snapshot", "2");
	snap_kunit_echo(test, "per_cpu/cpu0/snapshot", "2");
	file = snap_kunit_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_FALSE(test, IS_ERR(file));
	snap_kunit_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	/* A reader of the newest one has it to itself, and it is free when he goes. */
	snap_kunit_echo(test, "snapshot", "1");
	file = snap_kunit_open(test, "snapshot", O_RDONLY);
	snap_kunit_echo(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	/* To erase one CPU's part does not cost what the next snapshot needs. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tracing_snapshot_instance(tr);
	snap_kunit_echo(test, "per_cpu/cpu0/snapshot", "2");
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 6");
	tracing_disarm_snapshot(tr);
}

/* The worker frees what was superseded and is of another size, without being asked. */
static void memory_test_worker(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long full = snap_kunit_full(test);

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tracing_snapshot_instance(tr);
	snap_kunit_echo(test, "buffer_size_kb", "32");
	KUNIT_EXPECT_EQ(test, tr->snapshots->kb, full + snap_kunit_full(test));
	tracing_snapshot_instance(tr);
	snap_kunit_worker(tr);
	KUNIT_EXPECT_EQ(test, tr->snapshots->kb, snap_kunit_full(test));
	tracing_disarm_snapshot(tr);
}

/* Where snapshots are kept, it has memory for the next one before those are published. */
static void memory_test_kept(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	unsigned int i;

	snap_kunit_echo(test, "snapshot_allocate", "1");
	snap_kunit_echo(test, "snapshot_keep", "first 3");
	mutex_lock(&event_mutex);
	for (i = 0; i < 6; i++) {
		tracing_snapshot_instance(tr);
		snap_kunit_worker(tr);
	}
	KUNIT_EXPECT_EQ(test, s->user.seq, 3ULL);
	KUNIT_EXPECT_NULL(test, s->user.spare);
	mutex_unlock(&event_mutex);
	snap_kunit_expect(test, "taken 3 enough 3");
	snap_kunit_echo(test, "snapshot_keep", "0");
}

static unsigned long memory_pages(void)
{
	drain_all_pages(NULL);
	return global_zone_page_state(NR_FREE_PAGES);
}

static long memory_slab(void)
{
	return global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B);
}

/* Pages that a thousand snapshots take and do not return. */
static bool memory_leaks(struct kunit *test, struct trace_array *tr)
{
	unsigned long pages, percpu;
	unsigned int i;
	long slab;

	rcu_barrier();
	pages = memory_pages();
	slab = memory_slab();
	percpu = pcpu_nr_pages();
	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
		tracing_disarm_snapshot(tr);
		trace_snapshot_trim(tr);
		trace_snapshot_put(trace_snapshot_get(tr));
	}
	/* Rings are freed after a grace period. */
	rcu_barrier();
	for (i = 0; i < 50 && (long)(pages - memory_pages()) >= 500; i++)
		msleep(20);
	return (long)(pages - memory_pages()) >= 500 || memory_slab() - slab >= 64 ||
	       (long)(pcpu_nr_pages() - percpu) >= 16;
}

/*
 * Everything that a snapshot allocates is freed. The allocators keep some of it for the next
 * user, more in one round than in another; a leak shows in each round.
 */
static void memory_test_leak(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned int i;

	snap_kunit_echo(test, "buffer_size_kb", "4");
	for (i = 0; i < 5 && memory_leaks(test, tr); i++)
		;
	KUNIT_EXPECT_LT(test, i, 5U);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

/* With an instance goes all that its snapshots have, those of a latency tracer as well. */
static void memory_test_gone(struct kunit *test)
{
	unsigned long pages = memory_pages();
	struct trace_array *tr;
	unsigned int i;

	tr = trace_array_get_by_name("kunit_gone", NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	snap_kunit_echo(test, "/instances/kunit_gone/buffer_size_kb", "8192");
	snap_kunit_echo(test, "/instances/kunit_gone/snapshot", "1");
	/* Where there is no such tracer, the snapshot is enough. */
	snap_kunit_write(test, "/instances/kunit_gone/current_tracer", "wakeup_dl");
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	rcu_barrier();
	for (i = 0; i < 200 && (long)(pages - memory_pages()) >= 1500; i++)
		msleep(20);
	KUNIT_EXPECT_LT(test, (long)(pages - memory_pages()), 1500L);
}

/* In memory that survives a reboot there is one buffer: it stays, and it is shared. */
static void memory_test_one(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long full = snap_kunit_full(test);
	struct trace_snapshots *s = tr->snapshots;
	const struct snap_request panic = {
		.cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_PANIC, .now = true,
	};
	struct array_buffer *buf;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	tr->range_addr_start = 1;
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	tracing_snapshot_instance(tr);
	buf = trace_snapshot_get(tr);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	KUNIT_EXPECT_EQ(test, s->kb, full);
	/* It is read, but a panic needs it more. */
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, s->user.seq, 1ULL);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &panic), 0);
	KUNIT_EXPECT_EQ(test, s->user.seq, 2ULL);
	/* What was erased meanwhile comes back when it was read. */
	mutex_lock(&s->mutex);
	snap_release(s, &s->user, true);
	mutex_unlock(&s->mutex);
	KUNIT_EXPECT_FALSE(test, snap_is_ready(s, &s->user));
	trace_snapshot_put(buf);
	KUNIT_EXPECT_TRUE(test, snap_is_ready(s, &s->user));
	KUNIT_EXPECT_EQ(test, s->kb, full);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &panic), 0);
	/* If nobody wants it, it does not. */
	buf = trace_snapshot_get(tr);
	s->pinned = false;
	mutex_lock(&s->mutex);
	snap_release(s, &s->user, true);
	mutex_unlock(&s->mutex);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_EQ(test, s->kb, 0UL);
	tr->range_addr_start = 0;
	/* Nor in other memory. */
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	tracing_snapshot_instance(tr);
	buf = trace_snapshot_get(tr);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &panic), -ENOBUFS);
	mutex_lock(&s->mutex);
	snap_release(s, &s->user, true);
	mutex_unlock(&s->mutex);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_EQ(test, s->kb, 0UL);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(memory_test_limit),
	KUNIT_CASE(memory_test_killed),
	KUNIT_CASE(memory_test_reserved),
	KUNIT_CASE(memory_test_spared),
	KUNIT_CASE(memory_test_erase),
	KUNIT_CASE(memory_test_worker),
	KUNIT_CASE(memory_test_kept),
	KUNIT_CASE(memory_test_leak),
	KUNIT_CASE(memory_test_gone),
	KUNIT_CASE(memory_test_one),
	{ }
};

static struct kunit_suite memory_suite = {
	.name = "trace_snapshot_memory",
	.init = snap_kunit_init_small,
	.exit = snap_kunit_exit,
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
