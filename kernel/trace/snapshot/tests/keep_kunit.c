// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of kept snapshots: the rules that select them, and a trace array that follows
 * the rules, with its memory.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/ring_buffer.h>
#include <linux/vmstat.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../../tests/snapshots.h"

#define KEEP_MANY	60

/* Create an instance with memory for a snapshot. */
static int keep_init(struct kunit *test)
{
	tfs_init(test);
	KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	return 0;
}

/* Take snapshot @n, with @n records. */
static void keep_take(struct kunit *test, unsigned int n)
{
	struct trace_array *tr = test->priv;
	unsigned int i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, sizeof(n), &n), 0);
	tracing_snapshot_instance(tr);
}

/* The same for snapshots @from to @to, and have each kept. */
static void keep_all(struct kunit *test, unsigned int from, unsigned int to)
{
	for (; from <= to; from++) {
		keep_take(test, from);
		snap_tend(snap_kunit(test));
	}
}

/* Expect that snapshots @from to @to are kept, and that snapshot N has N records. */
static void keep_expect(struct kunit *test, u64 from, u64 to)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap;
	unsigned int nr = 0;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	list_for_each_entry(snap, &s->keeper.kept, node) {
		KUNIT_EXPECT_EQ(test, snap->seq, from + nr);
		KUNIT_EXPECT_EQ(test, (u64)ring_buffer_entries(snap->buf.buffer), snap->seq);
		KUNIT_EXPECT_PTR_EQ(test, snap->kept->array_buffer.buffer, snap->buf.buffer);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, (u64)nr, to + 1 - from);
	KUNIT_EXPECT_EQ(test, s->keeper.nr, nr);
}

/* The live buffer never gets the memory of a trimmed snapshot. */
static void keep_test_trimmed(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	size_t live = ring_buffer_memory(tr->array_buffer.buffer);

	snap_keep_set(tr->snapshots, (struct snap_keep){ .nr = 5 });
	keep_all(test, 1, 1);
	snap_keep_set(tr->snapshots, (struct snap_keep){ });
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	keep_take(test, 2);
	keep_take(test, 3);
	KUNIT_EXPECT_EQ(test, tr->snapshots->user.seq, 3ULL);
	KUNIT_EXPECT_EQ(test, ring_buffer_memory(tr->array_buffer.buffer), live);
}

static void keep_test_first(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int n;

	snap_keep_set(s, (struct snap_keep){ .nr = UINT_MAX, .first = true });
	KUNIT_EXPECT_EQ(test, s->keeper.room, INT_MAX);
	snap_keep_set(s, (struct snap_keep){ .nr = 3, .first = true });
	keep_all(test, 1, 3);
	for (n = 0; n < 5; n++)
		tracing_snapshot_instance(test->priv);
	snap_tend(s);
	keep_expect(test, 1, 3);
	KUNIT_EXPECT_EQ(test, s->user.seq, 3ULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.enough), 5L);
	/* There is room for one more. */
	snap_keep_set(s, (struct snap_keep){ .nr = 4, .first = true });
	keep_take(test, 4);
	tracing_snapshot_instance(test->priv);
	snap_tend(s);
	keep_expect(test, 1, 4);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.enough), 6L);
	/* If no more snapshots can be kept, the empty buffer is freed, unless it is pinned. */
	snap_keep_set(s, (struct snap_keep){ .nr = 5, .first = true });
	snap_keep_set(s, (struct snap_keep){ .nr = 4, .first = true });
	KUNIT_EXPECT_NOT_NULL(test, s->user.spare);
	s->pinned = false;
	snap_tend(s);
	KUNIT_EXPECT_NULL(test, s->user.spare);
	/* And none is asked for in vain. */
	s->memory.limit_kb = 1;
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	s->memory.limit_kb = 0;
	tfs_expect_in(test, "error_log", "error: snapshot_keep allows no more");
	KUNIT_EXPECT_NULL(test, s->user.spare);
	/* A smaller number removes none. */
	snap_keep_set(s, (struct snap_keep){ .nr = 2, .first = true });
	keep_expect(test, 1, 4);
}

/* A waiter gets the result of its own request. A request that nobody waits for is counted. */
static void keep_test_waiter(struct kunit *test)
{
	struct snap_waiter waiter = { };
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS, .waits = true, .waiter = &waiter,
	};
	const u64 soon = NSEC_PER_MSEC, never = KTIME_MAX / 2;
	struct trace_snapshots *s = snap_kunit(test);

	snap_delay_set(s, soon);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, snap_delay_wait(s, &waiter), 0);
	KUNIT_EXPECT_EQ(test, s->user.seq, 1ULL);

	snap_delay_set(s, never);
	waiter.done = false;
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req), -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, waiter.done);
	snap_delay_set(s, soon);
	KUNIT_EXPECT_TRUE(test, waiter.done);
	/* The next request does not change the result. */
	tracing_snapshot_instance(test->priv);
	KUNIT_EXPECT_EQ(test, snap_delay_wait(s, &waiter), -ECANCELED);
	snap_kunit_wait(test);
	KUNIT_EXPECT_EQ(test, waiter.ret, -ECANCELED);
	KUNIT_EXPECT_EQ(test, s->user.seq, 2ULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.refused), 0L);

	snap_delay_set(s, never);
	tracing_snapshot_instance(test->priv);
	snap_delay_set(s, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.refused), 1L);
	KUNIT_EXPECT_EQ(test, s->user.seq, 2ULL);
}

static bool keep_is_ready(struct trace_snapshots *s)
{
	guard(mutex)(&s->mutex);
	return snap_is_ready(s, &s->user);
}

/* At the limit the oldest ones go for the newest, and there is a buffer; the first ones stay. */
static void keep_test_limit(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long full = s->memory.kb;
	bool first;
	u64 n;

	s->memory.limit_kb = full + full / 10;
	for (n = 1; n <= 60; n++) {
		first = n > 30;
		snap_keep_set(s, (struct snap_keep){ .nr = 100, .first = first });
		if (!first || READ_ONCE(s->user.spare))
			keep_take(test, s->user.seq + 1);
		KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
		snap_tend(s);
		KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
		KUNIT_EXPECT_TRUE(test, first || keep_is_ready(s));
		if (n == 30) {
			KUNIT_EXPECT_LT(test, s->keeper.nr, 30U);
			keep_expect(test, 31 - s->keeper.nr, 30);
		}
	}
	KUNIT_EXPECT_LT(test, s->user.seq, 60ULL);
}

/* The newest snapshot is never removed to make room. */
static void keep_test_newest(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	snap_keep_set(s, (struct snap_keep){ .nr = 100 });
	keep_all(test, 1, 1);
	s->memory.limit_kb = s->memory.kb - 1;
	snap_kunit_lose(s, false);
	snap_tend(s);
	keep_expect(test, 1, 1);
	KUNIT_EXPECT_FALSE(test, keep_is_ready(s));
	s->memory.limit_kb = 0;
	snap_tend(s);
	KUNIT_EXPECT_TRUE(test, keep_is_ready(s));
}

/* A kept snapshot that fills its buffer is not trimmed, but the next one cannot have the buffer. */
static void keep_test_full(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;

	snap_kunit_fill(test);
	snap_keep_set(s, (struct snap_keep){ .nr = 1 });
	tracing_snapshot_instance(tr);
	snap_tend(s);
	KUNIT_ASSERT_NOT_NULL(test, s->user.last);
	KUNIT_EXPECT_NOT_NULL(test, s->user.last->kept);
	KUNIT_EXPECT_TRUE(test, snap_fits(s, s->user.last));
	/* The worker provides another buffer, too. */
	snap_kunit_worker(tr);
	snap_kunit_lose(s, false);
	KUNIT_EXPECT_FALSE(test, keep_is_ready(s));
	/* It can once it is not kept any more, and never if its memory was not wanted meanwhile. */
	snap_keep_set(s, (struct snap_keep){ });
	KUNIT_EXPECT_TRUE(test, keep_is_ready(s));
	s->pinned = false;
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_FALSE(test, keep_is_ready(s));
}

/* A snapshot that waits for the keeper is kept once, if the newest one is to be kept as well. */
static void keep_test_twice(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	snap_keep_set(s, (struct snap_keep){ .nr = 5 });
	snap_kunit_stop_keeper(s);
	keep_take(test, 1);
	KUNIT_EXPECT_FALSE(test, llist_empty(&s->keeper.fresh));
	/* Another task has come so far with a write of 0. */
	scoped_guard(mutex, &s->mutex)
		snap_keep_begin(s, (struct snap_keep){ });
	snap_keep_set(s, (struct snap_keep){ .nr = 5 });
	keep_expect(test, 1, 1);
	enable_work(&s->keeper.work);
}

/* If the empty buffer leaves no room to trim a snapshot, it is freed and allocated again. */
static void keep_test_room(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long full = s->memory.kb;

	s->memory.limit_kb = 2 * full;
	snap_keep_set(s, (struct snap_keep){ .nr = 100 });
	snap_kunit_stop_keeper(s);
	keep_take(test, 1);
	scoped_guard(mutex, &s->mutex)
		KUNIT_EXPECT_EQ(test, snap_provide(s, &s->user), 0);
	KUNIT_EXPECT_EQ(test, s->memory.kb, s->memory.limit_kb);

	snap_tend(s);
	enable_work(&s->keeper.work);
	keep_expect(test, 1, 1);
	KUNIT_EXPECT_LT(test, s->memory.kb, full + full / 4);
	KUNIT_EXPECT_TRUE(test, keep_is_ready(s));
}

/* A request that lacks a buffer at the limit has the oldest snapshot removed. */
static void keep_test_starved(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long full = s->memory.kb;

	snap_keep_set(s, (struct snap_keep){ .nr = 100 });
	keep_all(test, 1, 3);
	snap_kunit_lose(s, false);
	s->memory.limit_kb = s->memory.kb + full - 1;
	tracing_snapshot_instance(test->priv);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.no_spare), 1L);
	snap_kunit_worker(test->priv);
	flush_work(&s->keeper.work);
	KUNIT_EXPECT_TRUE(test, keep_is_ready(s));
	keep_expect(test, 2, 3);
}

/* The oldest snapshot is removed if its memory is just enough. */
static void keep_test_enough(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long full = s->memory.kb;
	struct trace_snap *oldest;
	unsigned int lacks;

	snap_keep_set(s, (struct snap_keep){ .nr = 100 });
	keep_all(test, 1, 2);
	for (lacks = 2; lacks--; ) {
		snap_kunit_lose(s, false);
		oldest = list_first_entry(&s->keeper.kept, struct trace_snap, node);
		s->memory.limit_kb = s->memory.kb + full - oldest->kb - lacks;
		snap_tend(s);
		KUNIT_EXPECT_NE(test, keep_is_ready(s), lacks);
		keep_expect(test, lacks ? 1 : 2, 2);
	}
}

/* Workers free rings a while after the grace period. */
static unsigned long keep_free_kb(void)
{
	unsigned long pages = 0;
	unsigned int i;

	rcu_barrier();
	for (i = 0; i < 10; i++) {
		msleep(50);
		drain_all_pages(NULL);
		pages = max(pages, global_zone_page_state(NR_FREE_PAGES));
	}
	return pages * (PAGE_SIZE / 1024);
}

/* The count covers the memory of many kept snapshots, also if somebody reads them all. */
static void keep_test_cost(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long before, counted, cost;

	snap_keep_set(s, (struct snap_keep){ .nr = KEEP_MANY + 10 });
	keep_all(test, 1, 10);
	before = keep_free_kb();
	counted = s->memory.kb;
	keep_all(test, 11, KEEP_MANY + 10);
	cost = before - keep_free_kb();
	counted = s->memory.kb - counted;
	kunit_info(test, "%lu KiB are counted as %lu\n", cost, counted);
	KUNIT_EXPECT_LT(test, cost, counted + counted / 5);
	/* Behind other suites less is taken, with Linux 7 by a quarter. The reason is not known. */
	KUNIT_EXPECT_LT(test, counted, cost + cost / 2);
}

/* The count of memory is the sum of all buffers, and 0 when all are freed. */
static void keep_test_memory(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap;
	unsigned long kb;

	snap_keep_set(s, (struct snap_keep){ .nr = 100 });
	keep_all(test, 1, 5);
	kb = snap_kunit_full(test);
	KUNIT_EXPECT_EQ(test, s->user.spare->kb, kb);
	list_for_each_entry(snap, &s->keeper.kept, node) {
		KUNIT_EXPECT_LT(test, snap_buffer_kb(snap->buf.buffer), snap_kunit_full(test) / 4);
		KUNIT_EXPECT_GT(test, snap->kept_kb, 0UL);
		kb += snap_buffer_kb(snap->buf.buffer) + snap->kept_kb;
	}
	KUNIT_EXPECT_EQ(test, s->memory.kb, kb);
	snap_keep_set(s, (struct snap_keep){ });
	snap_kunit_lose(s, true);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
}

/*
 * At any limit, a large snapshot is kept if the removal of the oldest one makes room, be it for its
 * records or for its instance.
 */
static void keep_test_large(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long kb;

	for (kb = 0; kb < 64; kb++) {
		snap_keep_set(s, (struct snap_keep){ .nr = 100 });
		keep_all(test, 1, 1);
		keep_all(test, 1, 1);
		snap_kunit_fill(test);
		s->memory.limit_kb = s->memory.kb + kb;
		keep_all(test, 1, 1);
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&s->count.unkept), 0L, "%lu", kb);
		KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
		s->memory.limit_kb = 0;
		snap_keep_set(s, (struct snap_keep){ });
	}
}

/* Memory that is counted for the files of a kept snapshot ends with its instance. */
static void keep_test_charge(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap;
	unsigned long kb;

	snap_keep_set(s, (struct snap_keep){ .nr = 1 });
	keep_all(test, 1, 1);
	snap = s->user.last;
	KUNIT_ASSERT_NOT_NULL(test, snap->kept);
	kb = snap->kb - snap->kept_kb;
	KUNIT_EXPECT_EQ(test, trace_snapshot_charge(snap->kept, 7), 0);
	snap_keep_set(s, (struct snap_keep){ });
	KUNIT_EXPECT_PTR_EQ(test, s->user.last, snap);
	KUNIT_EXPECT_NULL(test, snap->kept);
	KUNIT_EXPECT_EQ(test, snap->kb, kb);
}

/* An open of trace_pipe that fails for lack of memory leaves no memory counted. */
static void keep_test_pipe_memory(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int n, failed = 0;
	unsigned long kb;
	struct file *file;
	bool ok = false;

	tfs_need_failures(test);
	snap_keep_set(s, (struct snap_keep){ .nr = 1 });
	keep_all(test, 1, 1);
	kb = s->memory.kb;
	for (n = 1; !ok && n < 1000; n++) {
		tfs_fail_nth(n);
		file = tfs_try_open(test, "/instances/kunit@1/trace_pipe", O_RDONLY);
		ok = !tfs_failed() && !IS_ERR(file);
		failed += IS_ERR(file);
		tfs_close(file);
		KUNIT_EXPECT_EQ(test, s->memory.kb, kb);
	}
	KUNIT_EXPECT_TRUE(test, ok);
	KUNIT_EXPECT_GT(test, failed, 2U);
}

/* Requests during a resize are postponed until the resize ends. */
static void keep_test_change(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct trace_buffer *live = tr->array_buffer.buffer;
	unsigned int done;
	int ret = 0;

	for (done = 0; done < 2; done++) {
		u64 seq = s->user.seq;

		snap_kunit_begin_change(test, 8 * PAGE_SIZE, 0);
		keep_take(test, 3);
		tracing_snapshot_instance(tr);
		KUNIT_EXPECT_EQ(test, s->user.seq, seq);
		irq_work_sync(&s->pending.start);
		KUNIT_EXPECT_EQ(test, snap_take_pending(s), -EINPROGRESS);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), 2L);
		if (done)
			ret = ring_buffer_resize(live, 8 * PAGE_SIZE, RING_BUFFER_ALL_CPUS);
		KUNIT_EXPECT_EQ(test, ret, 0);
		trace_snapshot_end_change(tr, done);
		snap_kunit_wait(test);
		KUNIT_EXPECT_EQ(test, s->user.seq, seq + 1);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(s->user.last->buf.buffer), 3UL);
		KUNIT_EXPECT_NE(test, s->user.last->info.asked, 0ULL);
		/* The two requests are merged. */
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.merged), 1L + done);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.no_spare), 0L);
	}
}

/* rmdir may come between the instance and the end of the keeper's work. */
static void keep_test_early(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap;

	snap_keep_set(s, (struct snap_keep){ .nr = 1 });
	/* The keeper comes later. */
	mutex_lock(&s->keeper.mutex);
	keep_take(test, 1);
	scoped_guard(mutex, &s->mutex) {
		snap = llist_entry(llist_del_all(&s->keeper.fresh), struct trace_snap, fresh);
		s->keeper.nr++;
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&snap->users), 1);
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	KUNIT_EXPECT_EQ(test, snap_publish(s, snap, NULL), 0);
	snap_retire(s, snap);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
	/* The keeper still has it. */
	KUNIT_EXPECT_EQ(test, atomic_read(&snap->users), 1);
	scoped_guard(mutex, &s->mutex)
		atomic_set(&snap->users, 0);
	mutex_unlock(&s->keeper.mutex);
}

/* A session that has its first ones leaves a channel the buffer that a trigger of it relies on. */
static void keep_test_channel(struct kunit *test)
{
	struct trace_array *ch = tfs_add(test, "kunit_part", NULL, "16");
	struct trace_snapshots *s = snap_kunit(test), *part = ch->snapshots;

	KUNIT_ASSERT_EQ(test, trace_session_join(test->priv, "kunit_part", NULL), 0);
	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(ch), 0);
	s->pinned = false;
	tfs_set(test, "snapshot_keep", "first 1");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_NULL(test, s->user.spare);
	tracing_snapshot_instance(ch);
	KUNIT_EXPECT_EQ(test, part->user.seq, 2ULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&part->count.no_spare), 0L);
	tracing_disarm_snapshot(ch);
}

/* A channel that has its first ones has a buffer for a session that the kernel relies on. */
static void keep_test_channel_first(struct kunit *test)
{
	struct trace_array *ch = tfs_add(test, "kunit_part", NULL, "16");
	struct trace_snapshots *s = snap_kunit(test);

	KUNIT_ASSERT_EQ(test, trace_session_join(test->priv, "kunit_part", NULL), 0);
	tfs_set(test, "/instances/kunit_part/snapshot_keep", "first 1");
	tfs_set(test, "/instances/kunit_part/snapshot", "1");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit_part@1"));
	snap_keep_set(s, (struct snap_keep){ .nr = 5 });
	snap_tend(ch->snapshots);
	tracing_snapshot_instance(test->priv);
	KUNIT_EXPECT_EQ(test, s->user.seq, 1ULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.no_spare), 0L);
	snap_tend(s);
}

struct keep_other {
	struct trace_array	*whole;
	int			ret;
};

static int keep_remove(void *data)
{
	struct keep_other *other = data;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	other->ret = trace_snapshot_remove(other->whole);
	return 0;
}

/* A kept snapshot that is open stays, and so does its instance. */
static void keep_test_busy(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct keep_other all = { .whole = tr }, other = { };
	struct file *file;

	snap_keep_set(tr->snapshots, (struct snap_keep){ .nr = 1 });
	keep_all(test, 1, 1);
	scoped_guard(mutex, &trace_types_lock)
		other.whole = trace_array_find("kunit@1");
	KUNIT_ASSERT_NOT_NULL(test, other.whole);
	file = tfs_open(test, "/instances/kunit@1/trace", O_RDONLY);
	keep_remove(&other);
	KUNIT_EXPECT_EQ(test, other.ret, -EBUSY);
	keep_remove(&all);
	KUNIT_EXPECT_EQ(test, all.ret, -EBUSY);
	keep_expect(test, 1, 1);
	tfs_close(file);
	keep_remove(&other);
	KUNIT_EXPECT_EQ(test, other.ret, 1);

	/* If the first ones are kept, there is room for another one. */
	snap_keep_set(tr->snapshots, (struct snap_keep){ .nr = 1, .first = true });
	keep_all(test, 1, 1);
	KUNIT_EXPECT_EQ(test, tr->snapshots->keeper.room, 0);
	scoped_guard(mutex, &trace_types_lock)
		other.whole = trace_array_find("kunit@2");
	KUNIT_ASSERT_NOT_NULL(test, other.whole);
	keep_remove(&other);
	snap_tend(tr->snapshots);
	KUNIT_EXPECT_EQ(test, tr->snapshots->keeper.room, 1);
}

/*
 * A former channel may be the session of its session: the mutex of one is not held while that
 * of the other is waited for.
 */
static void keep_test_order(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, NULL);
	struct trace_snapshots *s = tr->snapshots;
	struct keep_other other = { };
	struct task_struct *task;

	KUNIT_EXPECT_EQ(test, trace_array_expand(ch), 0);
	/* Without it, nobody waits for the mutex below. */
	KUNIT_ASSERT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, trace_session_leave(tr, "kunit_part"), 0);
	scoped_guard(mutex, &trace_types_lock)
		other.whole = trace_array_find("kunit@1");
	KUNIT_ASSERT_NOT_NULL(test, other.whole);
	KUNIT_EXPECT_NOT_NULL(test, trace_channels_of(other.whole));

	task = kthread_create(keep_remove, &other, "kunit-remove");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	/* The workers take these mutexes, too. */
	flush_work(&s->keeper.work);
	flush_work(&s->worker.work);
	flush_work(&ch->snapshots->keeper.work);
	flush_work(&ch->snapshots->worker.work);
	mutex_lock(&ch->snapshots->mutex);
	wake_up_process(task);
	while (!tfs_has_waiter(&ch->snapshots->mutex))
		schedule_timeout_uninterruptible(1);
	if (mutex_trylock(&s->mutex))
		mutex_unlock(&s->mutex);
	else
		KUNIT_FAIL(test, "the mutex of the session is held");
	mutex_unlock(&ch->snapshots->mutex);
	kthread_stop_put(task);
	KUNIT_EXPECT_EQ(test, other.ret, 1);
}

static struct kunit_case keep_cases[] = {
	KUNIT_CASE(keep_test_trimmed),
	KUNIT_CASE(keep_test_first),
	KUNIT_CASE(keep_test_channel),
	KUNIT_CASE(keep_test_channel_first),
	KUNIT_CASE(keep_test_busy),
	KUNIT_CASE(keep_test_waiter),
	KUNIT_CASE(keep_test_limit),
	KUNIT_CASE(keep_test_newest),
	KUNIT_CASE(keep_test_full),
	KUNIT_CASE(keep_test_twice),
	KUNIT_CASE(keep_test_room),
	KUNIT_CASE(keep_test_starved),
	KUNIT_CASE(keep_test_enough),
	KUNIT_CASE(keep_test_memory),
	KUNIT_CASE(keep_test_large),
	KUNIT_CASE(keep_test_charge),
	KUNIT_CASE(keep_test_pipe_memory),
	KUNIT_CASE(keep_test_change),
	KUNIT_CASE(keep_test_early),
	KUNIT_CASE(keep_test_order),
	{ }
};

static struct kunit_suite keep_suite = {
	.name = "trace_snapshot_keep",
	.init = keep_init,
	.exit = tfs_exit,
	.test_cases = keep_cases,
};

/* Slow: workers free memory a while after it was used. */
static struct kunit_case keep_cost_cases[] = {
	KUNIT_CASE_SLOW(keep_test_cost),
	{ }
};

static struct kunit_suite keep_cost_suite = {
	.name = "trace_snapshot_cost",
	.init = keep_init,
	.exit = tfs_exit,
	.test_cases = keep_cost_cases,
};

kunit_test_suites(&keep_suite, &keep_cost_suite);
