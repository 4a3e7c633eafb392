// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the memory of snapshots: its limit, its count, its users, and its release.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/vmstat.h>

#include "../../ring_buffer/race.h"
#include "../../tests/snapshots.h"

/* A snapshot that the next one cannot use is freed when it is erased. */
static void memory_test_misfit(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_snapshots *s = snap_kunit(test);

	tfs_set(test, "snapshot", "1");
	tfs_set(test, "buffer_size_kb", "200");
	KUNIT_EXPECT_NE(test, snap_kunit_full(test), full);
	KUNIT_EXPECT_EQ(test, s->memory.kb, full + snap_kunit_full(test));
	tfs_set(test, "snapshot", "2");
	KUNIT_EXPECT_NULL(test, s->user.last);
	KUNIT_EXPECT_EQ(test, s->memory.kb, snap_kunit_full(test));
}

/* The limit is exact to the KiB. A request above it fails with -ENOSPC and changes nothing. */
static void memory_test_limit(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct file *file;

	snap_kunit_limit(test, full - 1);
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	tfs_refuse(test, "snapshot_allocate", "1", -ENOSPC);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), -ENOSPC);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), -ENOSPC);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	tfs_expect(test, "snapshot_allocate", "0\n");
	snap_kunit_expect(test, "");
	snap_kunit_limit(test, full);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);

	/* Neither a reader nor the worker allocates memory above the limit. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	file = tfs_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_take(test);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_expect(test, "taken 2 starved 1");
	/* Without a limit, the worker allocates the buffer. */
	snap_kunit_limit(test, 0);
	snap_kunit_take(test);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 3 starved 2");
	tfs_close(file);
	tracing_disarm_snapshot(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);

	/* If snapshots exceed the limit already, the check does not wrap around. */
	s->memory.limit_kb = 1;
	scoped_guard(mutex, &s->mutex)
		KUNIT_EXPECT_EQ(test, snap_check_limit(s, 1), -ENOSPC);
	s->memory.limit_kb = 0;
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
}

/* A killed task gets no memory, and the count stays 0. */
static void memory_test_killed(struct kunit *test)
{
	int ret;

	tfs_kill(true);
	ret = tracing_alloc_snapshot_instance(test->priv);
	tfs_kill(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	/* The failed allocation does not pin the next buffer. */
	tfs_set(test, "snapshot_allocate", "1");
	trace_snapshot_trim(test->priv);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

/* A buffer stays while a trigger, the kernel or snapshot_on relies on it. */
static void memory_test_reserved(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test), kb, before;
	struct trace_array *tr = test->priv;

	tfs_set(test, "snapshot_allocate", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tfs_set(test, "snapshot", "1");
	tfs_refuse(test, "snapshot_allocate", "0", -EBUSY);
	KUNIT_EXPECT_NOT_NULL(test, tr->snapshots->user.last);
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_NULL(test, tr->snapshots->user.last);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	tracing_disarm_snapshot(tr);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	/* snapshot_on relies on it. */
	tfs_set(test, "snapshot_allocate", "1");
	before = xchg(&snap_crash_on, BIT(SNAP_BY_OOPS));
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	xchg(&snap_crash_on, before);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	/* A trimmed snapshot stays, and only has the memory of its records. */
	tfs_mark(test, 1);
	tfs_set(test, "snapshot", "1");
	tfs_expect(test, "snapshot_allocate", "1\n");
	trace_snapshot_trim(tr);
	tfs_expect(test, "snapshot_allocate", "0\n");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
	kb = snap_kunit_kb(test);
	KUNIT_EXPECT_LT(test, kb, full);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2 starved 1");
	tfs_set(test, "snapshot_allocate", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), kb + full);
	snap_kunit_take(test);
	snap_kunit_expect(test, "taken 3 starved 1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
}

/* No buffer is allocated or kept without need, and none is trimmed if that saves nothing. */
static void memory_test_spared(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	unsigned int gen = s->gen, i;

	/* An erase keeps one of two buffers. */
	tfs_set(test, "snapshot", "1");
	scoped_guard(mutex, &s->mutex) {
		KUNIT_EXPECT_EQ(test, snap_add_spare(s, &s->user), 0);
		/* Another one frees it at once. */
		KUNIT_EXPECT_EQ(test, snap_add_spare(s, &s->user), 0);
		KUNIT_EXPECT_TRUE(test, llist_empty(&s->gone));
	}
	tfs_set(test, "snapshot", "2");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	snap_kunit_expect(test, "taken 1");

	/* A full snapshot is not trimmed, nor one before its writers have committed. */
	snap_kunit_fill(test);
	for (i = 0; i < 2; i++) {
		tfs_set(test, "snapshot", "1");
		guard(mutex)(&s->mutex);
		if (!i)
			snap_settle(s->user.last);
		KUNIT_EXPECT_EQ(test, s->user.last->settled, !i);
		KUNIT_EXPECT_EQ(test, snap_trim(s, s->user.last), 0);
		KUNIT_EXPECT_EQ(test, s->user.last->gen, gen);
	}

	/* If snapshot_keep allows no more snapshots, no buffer is allocated. */
	tfs_set(test, "snapshot", "0");
	tfs_set(test, "snapshot_keep", "first 1");
	tfs_set(test, "snapshot", "1");
	full = snap_kunit_kb(test);
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	KUNIT_EXPECT_NULL(test, s->user.spare);
	KUNIT_EXPECT_EQ(test, s->memory.kb, full);
}

/* An erase keeps the memory. A reader keeps the erased snapshot until it closes the file. */
static void memory_test_erase(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *spare;
	struct file *file;
	char *buf = tfs_zalloc(test, PAGE_SIZE);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		tfs_mark(test, 1);
		tfs_set(test, "snapshot", "1");
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
		tfs_set(test, i ? "per_cpu/cpu0/snapshot" : "snapshot", "2");
		KUNIT_EXPECT_TRUE(test, !i || s->user.last->info.since == U64_MAX);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	}
	tfs_mark(test, 1);
	tfs_set(test, "snapshot", "1");
	file = tfs_open(test, "snapshot", O_RDONLY);
	tfs_refuse(test, "per_cpu/cpu0/snapshot", "2", -EBUSY);
	tfs_set(test, "snapshot", "2");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full * 2);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
	KUNIT_EXPECT_GT(test, tfs_read_file(test, file, buf, PAGE_SIZE - 1), 0);
	KUNIT_EXPECT_EQ(test, tfs_count(buf, ": mark\n"), 1U);
	tfs_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	/* It leaves the spare buffer where it is. */
	tfs_mark(test, 1);
	tfs_set(test, "snapshot", "1");
	scoped_guard(mutex, &s->mutex)
		KUNIT_ASSERT_EQ(test, snap_add_spare(s, &s->user), 0);
	spare = s->user.spare;
	tfs_set(test, "snapshot", "2");
	KUNIT_EXPECT_PTR_EQ(test, s->user.spare, spare);
	KUNIT_EXPECT_NULL(test, s->user.last);
	/* An erase allocates no buffer. A reader can open the file without a snapshot. */
	tfs_set(test, "snapshot", "0");
	tfs_set(test, "snapshot", "2");
	tfs_set(test, "per_cpu/cpu0/snapshot", "2");
	tfs_close(tfs_open(test, "snapshot", O_RDONLY));
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);

	/* A write of 0 leaves the newest snapshot to its reader, and close() frees it. */
	tfs_set(test, "snapshot", "1");
	file = tfs_open(test, "snapshot", O_RDONLY);
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	tfs_close(file);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	/* An erase of one CPU's part keeps the buffer for the next snapshot, and no other one. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tracing_snapshot_instance(test->priv);
	tfs_set(test, "per_cpu/cpu0/snapshot", "2");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 7");
}

/* After the next cut, the worker frees the previous snapshot, which has the wrong size. */
static void memory_test_worker(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long full = snap_kunit_full(test);

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tracing_snapshot_instance(tr);
	tfs_set(test, "buffer_size_kb", "32");
	KUNIT_EXPECT_EQ(test, tr->snapshots->memory.kb, full + snap_kunit_full(test));
	snap_kunit_take(test);
	KUNIT_EXPECT_EQ(test, tr->snapshots->memory.kb, snap_kunit_full(test));
	KUNIT_EXPECT_FALSE(test, test_bit(SNAP_WORK_FREE, &tr->snapshots->worker.work_for));
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

/* Do a thousand buffers that were allocated and freed leave memory in use? */
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
		trace_snapshot_put(trace_snapshot_get(tr, false));
	}
	/* Rings are freed after a grace period. */
	rcu_barrier();
	for (i = 0; i < 50 && (long)(pages - memory_pages()) >= 500; i++)
		msleep(20);
	return (long)(pages - memory_pages()) >= 500 || memory_slab() - slab >= 64 ||
	       (long)(pcpu_nr_pages() - percpu) >= 16;
}

/*
 * All memory of snapshots is freed. The allocators cache some of it, more in one round than in
 * another. A leak shows in each round.
 */
static void memory_test_leak(struct kunit *test)
{
	unsigned int i;

	tfs_set(test, "buffer_size_kb", "4");
	for (i = 0; i < 5 && memory_leaks(test, test->priv); i++)
		;
	KUNIT_EXPECT_LT(test, i, 5U);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

/* A trigger that has lost its buffer gets another one after the first request that lacks it. */
static void memory_test_lost(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	snap_kunit_lose(s, false);
	snap_kunit_take(test);
	KUNIT_EXPECT_NOT_NULL(test, s->user.spare);
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 1 starved 1");
}

/* The removal waits for all that runs behind it, but for the keeper, which has a reference. */
static void memory_test_exit(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;

	tfs_set(test, "snapshot_delay", "1000s");
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	trace_snapshot_stop(tr);
	synchronize_rcu();
	refcount_inc(&s->ref);
	tracing_snapshot_instance(tr);
	irq_work_queue(&s->worker.irq_work);
	trace_snapshot_exit(tr);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), 1L);
	KUNIT_EXPECT_FALSE(test, irq_work_is_busy(&s->pending.start));
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&s->pending.timer));
	KUNIT_EXPECT_FALSE(test, irq_work_is_busy(&s->worker.irq_work));
	KUNIT_EXPECT_FALSE(test, work_busy(&s->worker.work));
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
	snap_put_owner(s);
	tr->snapshots = NULL;
	KUNIT_EXPECT_EQ(test, trace_snapshot_init(tr), 0);
}

/* The removal of an instance frees the memory of its snapshots and of its latency tracer. */
static void memory_test_gone(struct kunit *test)
{
	unsigned long pages = memory_pages();
	struct trace_array *tr;
	unsigned int i;

	tr = tfs_add(test, "kunit_gone", NULL, "8192");
	tfs_set(test, "/instances/kunit_gone/snapshot", "1");
	/* A kernel may lack this tracer: then the test covers the snapshot only. */
	tfs_write(test, "/instances/kunit_gone/current_tracer", "wakeup_dl");
	tfs_remove(test, tr);
	rcu_barrier();
	for (i = 0; i < 200 && (long)(pages - memory_pages()) >= 1500; i++)
		msleep(20);
	KUNIT_EXPECT_LT(test, (long)(pages - memory_pages()), 1500L);
}

/* A latency tracer of a session has no snapshots of the channels, and no memory for them. */
static void memory_test_channel(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, "16");
	struct tracer fake = { .use_max_tr = true };

	KUNIT_EXPECT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), snap_kunit_full(test));
	KUNIT_EXPECT_EQ(test, ch->snapshots->memory.kb, 0UL);
}

/* In memory that survives a reboot, readers and takers share one buffer, which stays. */
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
	buf = trace_snapshot_get(tr, false);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	KUNIT_EXPECT_EQ(test, s->memory.kb, full);
	/* Only a panic takes a snapshot while a reader holds it, see persist_test_reader(). */
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &panic), 0);
	/* A pinned buffer that is erased is ready again when its reader releases it. */
	snap_kunit_lose(s, true);
	KUNIT_EXPECT_NULL(test, s->user.spare);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_NOT_NULL(test, s->user.spare);
	KUNIT_EXPECT_EQ(test, s->memory.kb, full);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &panic), 0);
	/* Without a pin, the reader's release frees it. */
	buf = trace_snapshot_get(tr, false);
	s->pinned = false;
	snap_kunit_lose(s, true);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
	tr->range_addr_start = 0;
	/* In other memory, not even a panic takes the buffer of a reader. Its release frees it. */
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	tracing_snapshot_instance(tr);
	/* Nothing needs another one. */
	s->pinned = false;
	buf = trace_snapshot_get(tr, false);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &panic), -ENOBUFS);
	snap_kunit_lose(s, true);
	trace_snapshot_put(buf);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
}

static unsigned int memory_waits;

static void memory_count(enum rb_race point, const char *name)
{
	memory_waits += point == RB_RACE_WAITED;
}

/* A snapshot is freed when all writers have left it: its memory may be used again at once. */
static void memory_test_writers(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap;
	unsigned int settled;

	guard(mutex)(&s->mutex);
	for (settled = 0; settled < 2; settled++) {
		snap = snap_alloc_spare(s);
		KUNIT_ASSERT_FALSE(test, IS_ERR(snap));
		snap->settled = settled;
		memory_waits = 0;
		rb_race_hook = memory_count;
		snap_free(s, snap);
		rb_race_hook = NULL;
		KUNIT_EXPECT_EQ(test, memory_waits, 1 - settled);
	}
}

#define MEMORY_PART(file)	"/instances/kunit_part/" file

/* The buffer of a channel stays while a trigger of its session relies on it. */
static void memory_test_session(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, "16");
	unsigned int i;

	KUNIT_EXPECT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tfs_refuse(test, MEMORY_PART("snapshot_allocate"), "0", -EBUSY);
	tfs_refuse(test, MEMORY_PART("snapshot"), "0", -EBUSY);
	KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, MEMORY_PART("error_log")),
					"  Command: 0, session kunit\n"), 2U);
	trace_snapshot_trim(ch);
	for (i = 0; i < 2; i++) {
		tracing_snapshot_instance(tr);
		snap_kunit_expect(test, i ? "taken 2" : "taken 1");
		trace_snapshot_trim(ch);
	}
	tracing_disarm_snapshot(tr);
	trace_snapshot_trim(ch);
	tfs_expect(test, MEMORY_PART("snapshot_allocate"), "0\n");
	tfs_set(test, MEMORY_PART("snapshot"), "0");
	KUNIT_EXPECT_EQ(test, ch->snapshots->memory.kb, 0UL);
}

/* Its own worker has a buffer for the session, too. */
static void memory_test_session_worker(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, "16");

	KUNIT_EXPECT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	snap_kunit_lose(ch->snapshots, false);
	tracing_snapshot_instance(ch);
	snap_kunit_worker(ch);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 1");
	tracing_disarm_snapshot(tr);
}

/* Take a snapshot of the session with a record of its own and one of its channel. */
static void memory_take_parts(struct kunit *test)
{
	tfs_mark(test, 1);
	tfs_set(test, MEMORY_PART("trace_marker"), "mark");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 2U);
}

/* To erase the snapshot of a session erases its parts, but not one that a channel took itself. */
static void memory_test_erase_parts(struct kunit *test)
{
	static const char * const erases[] = { "per_cpu/cpu0/snapshot", "snapshot" };
	struct trace_array *ch = tfs_add(test, "kunit_part", NULL, "16");
	struct file *file;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, trace_session_join(test->priv, "kunit_part", NULL), 0);
	for (i = 0; i < ARRAY_SIZE(erases); i++) {
		memory_take_parts(test);
		/* The part of a CPU is erased of all, or of none. */
		file = tfs_open(test, MEMORY_PART("snapshot"), O_RDONLY);
		if (!i) {
			tfs_refuse(test, erases[i], "2", -EBUSY);
			KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 2U);
			tfs_close(file);
		}
		tfs_set(test, erases[i], "2");
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, MEMORY_PART("snapshot")), 0U);
		tfs_expect(test, MEMORY_PART("snapshot_allocate"), "1\n");
		if (i)
			tfs_close(file);
		KUNIT_EXPECT_EQ(test, ch->snapshots->memory.kb,
				snap_buffer_kb(ch->array_buffer.buffer));
	}
	for (i = 0; i < ARRAY_SIZE(erases); i++) {
		memory_take_parts(test);
		tfs_set(test, MEMORY_PART("trace_marker"), "mark");
		tfs_set(test, MEMORY_PART("snapshot"), "1");
		tfs_set(test, erases[i], "2");
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, MEMORY_PART("snapshot")), 1U);
	}
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, MEMORY_PART("snapshot")), 1U);
}

/* To free it frees its parts, and the empty buffer of a channel that nothing there relies on. */
static void memory_test_free_parts(struct kunit *test)
{
	static const char * const frees[] = { "snapshot", "snapshot_allocate" };
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, "16");
	unsigned int i;

	KUNIT_EXPECT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	for (i = 0; i < ARRAY_SIZE(frees); i++) {
		tfs_set(test, "snapshot_allocate", "1");
		tfs_expect(test, MEMORY_PART("snapshot_allocate"), "1\n");
		tfs_set(test, frees[i], "0");
		tfs_expect(test, MEMORY_PART("snapshot_allocate"), "0\n");
		memory_take_parts(test);
		tfs_set(test, frees[i], "0");
		KUNIT_EXPECT_EQ(test, ch->snapshots->memory.kb, 0UL);

		/* A trigger of the channel has its buffer, but no records, as if it were alone. */
		KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(ch), 0);
		memory_take_parts(test);
		tfs_set(test, frees[i], "0");
		tracing_disarm_snapshot(ch);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, MEMORY_PART("snapshot")), 0U);
		tfs_expect(test, MEMORY_PART("snapshot_allocate"), "1\n");
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	}
	/* One of the session only has them erased. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	memory_take_parts(test);
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, MEMORY_PART("snapshot")), 0U);
	tfs_expect(test, MEMORY_PART("snapshot_allocate"), "1\n");
	tracing_disarm_snapshot(tr);
	/* A buffer that the kernel has allocated for the channel is freed there. */
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(ch), 0);
	tfs_set(test, "snapshot_allocate", "0");
	tfs_expect(test, MEMORY_PART("snapshot_allocate"), "1\n");
	tfs_set(test, MEMORY_PART("snapshot_allocate"), "0");
	tfs_expect(test, MEMORY_PART("snapshot_allocate"), "0\n");
}

/* A CPU that comes online gives each buffer a part, and no task of snapshots is told. */
static void memory_test_online(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	unsigned long full = snap_kunit_full(test), more;

	tfs_set(test, "snapshot_allocate", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	/* UML has one CPU. Its part grows instead. */
	KUNIT_ASSERT_EQ(test, ring_buffer_resize(s->user.spare->buf.buffer, SZ_512K,
						 RING_BUFFER_ALL_CPUS), 0);
	KUNIT_ASSERT_EQ(test, ring_buffer_resize(tr->array_buffer.buffer, SZ_512K,
						 RING_BUFFER_ALL_CPUS), 0);
	more = snap_kunit_full(test);
	KUNIT_ASSERT_GT(test, more, full);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), more);
	tfs_refuse(test, "snapshot_limit_kb", "300", -ENOSPC);
	/* There is room for one buffer, and for kept ones that are trimmed. */
	snap_kunit_limit(test, more + more / 2);
	tfs_set(test, "snapshot_keep", "3");
	tfs_mark(test, 1);
	tfs_set(test, "snapshot", "1");
	tfs_mark(test, 1);
	tfs_set(test, "snapshot", "1");
	snap_kunit_expect(test, "taken 2");
	KUNIT_EXPECT_LE(test, snap_kunit_kb(test), s->memory.limit_kb);
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@2"));
	tfs_set(test, "snapshot_keep", "0");
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(memory_test_misfit),
	KUNIT_CASE(memory_test_limit),
	KUNIT_CASE(memory_test_killed),
	KUNIT_CASE(memory_test_reserved),
	KUNIT_CASE(memory_test_spared),
	KUNIT_CASE(memory_test_erase),
	KUNIT_CASE(memory_test_worker),
	KUNIT_CASE(memory_test_leak),
	KUNIT_CASE(memory_test_lost),
	KUNIT_CASE(memory_test_exit),
	KUNIT_CASE(memory_test_gone),
	KUNIT_CASE(memory_test_channel),
	KUNIT_CASE(memory_test_one),
	KUNIT_CASE(memory_test_writers),
	KUNIT_CASE(memory_test_online),
	KUNIT_CASE(memory_test_session),
	KUNIT_CASE(memory_test_session_worker),
	KUNIT_CASE(memory_test_erase_parts),
	KUNIT_CASE(memory_test_free_parts),
	{ }
};

static struct kunit_suite memory_suite = {
	.name = "trace_snapshot_memory",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
