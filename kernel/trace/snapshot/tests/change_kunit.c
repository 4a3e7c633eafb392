// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of snapshots while the size or the clock of their trace array changes.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/ring_buffer.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>

#include "../../ring_buffer/internal.h"
#include "../../tests/snapshots.h"

/* Writes that change the size of the live buffer. */
static const struct change_case {
	const char	*file;
	const char	*text;
} change_cases[] = {
	{ "buffer_size_kb", "128" },
	{ "buffer_size_kb", "8" },
	{ "per_cpu/cpu0/buffer_size_kb", "200" },
	{ "buffer_subbuf_size_kb", "8" },
};

static void change_desc(const struct change_case *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s", p->file, p->text);
}

KUNIT_ARRAY_PARAM(change, change_cases, change_desc);

/* Undo the change. */
static void change_back(struct kunit *test)
{
	tfs_set(test, "buffer_subbuf_size_kb", "4");
	tfs_set(test, "buffer_size_kb", "64");
}

/* A resize applies to the buffer for the next snapshot, too, and keeps the newest snapshot. */
static void change_test_size(struct kunit *test)
{
	const struct change_case *p = test->param_value;
	unsigned long before = snap_kunit_full(test), after;
	struct trace_array *tr = test->priv;

	/* Without memory for snapshots, a resize allocates none. */
	tfs_set(test, p->file, p->text);
	after = snap_kunit_full(test);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	KUNIT_EXPECT_NE(test, after, before);
	change_back(test);
	KUNIT_EXPECT_EQ(test, snap_kunit_full(test), before);

	/* There is a buffer for the next snapshot. */
	tfs_set(test, "snapshot_allocate", "1");
	tfs_set(test, p->file, p->text);
	KUNIT_EXPECT_EQ(test, snap_kunit_full(test), after);
	/* The one that does not fit any more is freed at once. */
	KUNIT_EXPECT_TRUE(test, llist_empty(&snap_kunit(test)->gone));
	KUNIT_EXPECT_EQ(test, snap_kunit(test)->memory.kb, after);
	tfs_mark(test, 3);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 3U);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), after);

	/* There is a snapshot, too. */
	change_back(test);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 3U);
	tfs_expect(test, "snapshot_allocate", "1\n");
	tfs_mark(test, 2);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 2U);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 3");

	/* A trimmed snapshot only has the memory of its records, and no other buffer is there. */
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_LT(test, snap_kunit_kb(test), before);
	tfs_set(test, p->file, p->text);
	tfs_expect(test, "snapshot_allocate", "0\n");
	KUNIT_EXPECT_LT(test, snap_kunit_kb(test), before);
	/* A resize allocates a buffer for a trigger, even if the trigger has lost its buffer. */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	snap_kunit_lose(tr->snapshots, false);
	change_back(test);
	tracing_snapshot_instance(tr);
	tracing_disarm_snapshot(tr);
	snap_kunit_expect(test, "taken 4");
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
}

/* The limit applies to the old and the new size, not to their sum. A failure changes nothing. */
static void change_test_limit(struct kunit *test)
{
	const struct change_case *p = test->param_value;
	unsigned long before = snap_kunit_full(test), after;

	tfs_set(test, p->file, p->text);
	after = snap_kunit_full(test);
	change_back(test);

	tfs_set(test, "snapshot_allocate", "1");
	if (after > before) {
		snap_kunit_limit(test, after - 1);
		tfs_refuse(test, p->file, p->text, -ENOSPC);
		KUNIT_EXPECT_EQ(test, snap_kunit_full(test), before);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before);
	}
	snap_kunit_limit(test, max(before, after));
	tfs_set(test, p->file, p->text);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), after);
	tracing_snapshot_instance(test->priv);
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 2");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), after);
	/* Sub-buffers of one page, again. */
	snap_kunit_limit(test, 0);
	tfs_set(test, "buffer_subbuf_size_kb", "4");
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 3");
}

/* With a snapshot and no spare buffer, shrinking allocates none, unless a trigger needs it. */
static void change_test_smaller(struct kunit *test)
{
	unsigned long full = snap_kunit_full(test);

	tfs_mark(test, 3);
	tfs_set(test, "snapshot", "1");
	snap_kunit_limit(test, full);
	tfs_refuse(test, "buffer_size_kb", "128", -ENOSPC);
	snap_kunit_begin_change(test, SZ_64K, -ENOSPC);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tfs_refuse(test, "buffer_size_kb", "8", -ENOSPC);
	tracing_disarm_snapshot(test->priv);
	snap_kunit(test)->pinned = true;
	tfs_refuse(test, "buffer_size_kb", "8", -ENOSPC);
	snap_kunit(test)->pinned = false;
	tfs_expect(test, "snapshot_allocate", "1\n");
	tfs_set(test, "buffer_size_kb", "8");
	tfs_expect(test, "snapshot_allocate", "0\n");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 3U);
	tracing_snapshot_instance(test->priv);
	snap_kunit_expect(test, "taken 1 starved 1");
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	tfs_set(test, "snapshot", "0");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), snap_kunit_full(test));
}

#define CHANGE_PART(file)	"/instances/kunit_part/" file

/* So it does in a channel that a trigger of its session needs, also if that has no buffer now. */
static void change_test_channel(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, "64");
	struct trace_snapshots *part = ch->snapshots;

	KUNIT_ASSERT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_NULL(test, part->user.spare);
	part->memory.limit_kb = part->memory.kb + 1;
	tfs_refuse(test, CHANGE_PART("buffer_size_kb"), "8", -ENOSPC);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2");
	part->memory.limit_kb = 0;
	snap_kunit_lose(part, true);
	tfs_set(test, CHANGE_PART("buffer_size_kb"), "8");
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 3");
	tracing_disarm_snapshot(tr);
}

/* A change allocates none where snapshot_on would find none, and none without rings. */
static void change_test_none(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, NULL);
	unsigned long before = xchg(&snap_crash_on, BIT(SNAP_BY_WARN));

	tfs_set(test, "buffer_size_kb", "8");
	tfs_read(test, "snapshots");
	KUNIT_EXPECT_EQ(test, snap_kunit(test)->memory.kb, 0UL);
	xchg(&snap_crash_on, before);

	tfs_unexpand(test, ch);
	KUNIT_ASSERT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tfs_set(test, CHANGE_PART("buffer_subbuf_size_kb"), "8");
	KUNIT_EXPECT_EQ(test, ch->snapshots->memory.kb, 0UL);
	tracing_disarm_snapshot(tr);
}

/* A failed resize also keeps the buffers of a latency tracer. A killed task fails with -ENOMEM. */
static void change_test_fails(struct kunit *test)
{
	unsigned long before = snap_kunit_full(test);
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct tracer fake = { .use_max_tr = true };
	int ret;

	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before * 2);
	tracing_snapshot_instance(tr);
	/* The limit has room for one larger buffer only. */
	snap_kunit_limit(test, before * 2 + 100);
	snap_kunit_begin_change(test, SZ_128K, -ENOSPC);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before * 2);
	snap_kunit_limit(test, 0);
	tfs_kill(true);
	ret = trace_snapshot_begin_change(tr, 0, RING_BUFFER_ALL_CPUS, 1);
	tfs_kill(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before * 2);
	ret = trace_snapshot_begin_change(tr, 0, RING_BUFFER_ALL_CPUS, 30);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before * 2);
	/* The live buffer fails to change after the buffers for snapshots have changed. */
	KUNIT_EXPECT_EQ(test, trace_snapshot_begin_change(tr, 0, RING_BUFFER_ALL_CPUS, 1), 0);
	KUNIT_EXPECT_NE(test, s->memory.kb, before * 2);
	trace_snapshot_end_change(tr, false);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before * 2);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2");

	/* The newest snapshot still has the old size. */
	tfs_set(test, "buffer_size_kb", "32");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), before + 2 * snap_kunit_full(test));
	KUNIT_EXPECT_EQ(test, trace_snapshot_begin_change(tr, 0, RING_BUFFER_ALL_CPUS, 1), 0);
	trace_snapshot_end_change(tr, false);
	tracing_snapshot_instance(tr);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 4");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 2 * snap_kunit_full(test));

	/* Memory that survives a reboot keeps its size. */
	tr->range_addr_start = 1;
	snap_kunit_begin_change(test, SZ_128K, 0);
	trace_snapshot_end_change(tr, true);
	tr->range_addr_start = 0;
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 2 * snap_kunit_full(test));
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 5");
	trace_snapshot_disarm_tracer(tr, &fake);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), snap_kunit_full(test));
}

/* A change of the clock erases each snapshot, except one of the last boot. */
static void change_test_clock(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRACER };
	unsigned long full = snap_kunit_full(test);
	struct tracer fake = { .use_max_tr = true };
	u64 since, before, begin, end;
	unsigned int i;

	tfs_set(test, "snapshot_allocate", "1");
	for (i = 0; i < 2; i++) {
		tfs_mark(test, 1);
		tracing_snapshot_instance(tr);
		before = i ? ktime_get_mono_fast_ns() : trace_clock_counter();
		tfs_set(test, "trace_clock", i ? "mono" : "counter");
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
		KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), full);
		tfs_mark(test, 1);
		tracing_snapshot_instance(tr);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
		snap_kunit_times(test, "complete=", &since, NULL);
		KUNIT_EXPECT_GE(test, since, before);
	}
	/* It also erases a latency tracer's snapshot, and one that a reader has settled. */
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->max, &req), 0);
	KUNIT_EXPECT_TRUE(test, s->user.last->settled);
	tfs_set(test, "trace_clock", "local");
	KUNIT_EXPECT_NULL(test, s->user.last);
	KUNIT_EXPECT_NULL(test, s->max.last);
	/* The next latency tracer has its buffer before the last one is disarmed. */
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->max, &req), 0);
	trace_snapshot_disarm_tracer(tr, &fake);
	KUNIT_EXPECT_NULL(test, s->max.last);
	KUNIT_EXPECT_NOT_NULL(test, s->max.spare);
	trace_snapshot_disarm_tracer(tr, &fake);
	KUNIT_EXPECT_NULL(test, s->max.spare);
	tfs_mark(test, 1);
	tracing_snapshot_instance(tr);
	s->user.last->last_boot = true;
	tfs_set(test, "trace_clock", "counter");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 1U);
	tracing_snapshot_instance(tr);

	/* When the live buffer is emptied, the time from which it is complete begins anew. */
	tracing_snapshot_instance(tr);
	snap_kunit_times(test, "cut=", &begin, &before);
	tracing_reset_online_cpus(&tr->array_buffer);
	tracing_snapshot_instance(tr);
	snap_kunit_times(test, "complete=", &since, &end);
	KUNIT_EXPECT_GT(test, since, before);
	KUNIT_EXPECT_LT(test, since, end);
}

/* The buffer for the next snapshot has the clock of the live one. */
static void change_test_spare_clock(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *spare;
	u64 time;

	tfs_set(test, "snapshot_allocate", "1");
	spare = tr->snapshots->user.spare->buf.buffer;
	tfs_set(test, "trace_clock", "counter");
	time = ring_buffer_time_stamp(tr->array_buffer.buffer);
	KUNIT_EXPECT_EQ(test, ring_buffer_time_stamp(spare), time + 1);
}

/* A task that counts records */
struct change_count {
	struct trace_array	*tr;
	unsigned long		entries;
	struct completion	done;
};

static int change_count(void *data)
{
	struct change_count *count = data;

	count->entries = trace_snapshot_entries(count->tr);
	complete(&count->done);
	return 0;
}

/* Records are counted under the mutex, so that nobody frees their snapshot meanwhile. */
static void change_test_entries(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct change_count count = { .tr = tr };
	struct task_struct *task;

	tfs_mark(test, 3);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, trace_snapshot_entries(tr), 3UL);
	init_completion(&count.done);
	task = kthread_create(change_count, &count, "kunit-count");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	/* The worker takes the mutex, too. */
	snap_kunit_worker(tr);
	mutex_lock(&s->mutex);
	wake_up_process(task);
	while (!tfs_has_waiter(&s->mutex) && !completion_done(&count.done))
		schedule_timeout_uninterruptible(1);
	snap_free_slot(s, &s->user, true);
	mutex_unlock(&s->mutex);
	wait_for_completion(&count.done);
	kthread_stop_put(task);
	KUNIT_EXPECT_EQ(test, count.entries, 0UL);
}

/* Each of these alone needs the live buffer. */
static void change_test_used(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct tracer fake = { .use_max_tr = true };

	KUNIT_EXPECT_FALSE(test, trace_snapshot_is_used(tr));
	tfs_set(test, "snapshot_keep", "1");
	KUNIT_EXPECT_TRUE(test, trace_snapshot_is_used(tr));
	tfs_set(test, "snapshot_keep", "0");
	KUNIT_EXPECT_FALSE(test, trace_snapshot_is_used(tr));

	/* An empty buffer, and a trigger that has lost it */
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	trace_snapshot_trim(tr);
	KUNIT_EXPECT_NOT_NULL(test, s->user.spare);
	tracing_disarm_snapshot(tr);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_is_used(tr));
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	snap_kunit_lose(tr->snapshots, false);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_is_used(tr));
	tracing_disarm_snapshot(tr);
	KUNIT_EXPECT_FALSE(test, trace_snapshot_is_used(tr));

	/* A snapshot */
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_NULL(test, s->user.spare);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_is_used(tr));
	tfs_set(test, "snapshot", "0");

	/* A request that is pending */
	tfs_set(test, "snapshot_delay", "3000s");
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_is_used(tr));
	tfs_set(test, "snapshot_delay", "0");
	KUNIT_EXPECT_FALSE(test, trace_snapshot_is_used(tr));

	/* A latency tracer that has lost its buffer */
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	scoped_guard(mutex, &s->mutex)
		snap_free_slot(s, &s->max, true);
	KUNIT_EXPECT_TRUE(test, trace_snapshot_is_used(tr));
	trace_snapshot_disarm_tracer(tr, &fake);
	KUNIT_EXPECT_FALSE(test, trace_snapshot_is_used(tr));
}

/*
 * A request that came within a cut finds another ring later. If a resize has moved that as well,
 * the event may not be in the cut: then the request is refused, and counted.
 */
static void change_test_moved(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	u64 ring;
	int ret;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	snap_kunit_take(test);
	snap_kunit_begin_change(test, SZ_128K, 0);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), 1L);
	/* As if it had come within the cut above. */
	s->pending.info.cuts = s->past.done;
	ring = s->pending.info.ring;
	ret = ring_buffer_resize(tr->array_buffer.buffer, SZ_128K, RING_BUFFER_ALL_CPUS);
	KUNIT_EXPECT_GE(test, ret, 0);
	KUNIT_EXPECT_NE(test, ring_buffer_ring_id(tr->array_buffer.buffer, s->pending.info.cpu),
			ring);
	trace_snapshot_end_change(tr, ret >= 0);
	snap_kunit_wait(test);
	snap_kunit_expect(test, "taken 1 late 1");
}

/* Erasing leaves no record in any snapshot, not even in a replaced one that a reader holds. */
static void change_test_erase(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct array_buffer *user, *max;
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_TRACER };
	struct tracer fake = { .use_max_tr = true };

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_snapshot_arm_tracer(tr, &fake), 0);
	tfs_mark(test, 1);
	tracing_snapshot_instance(tr);
	user = trace_snapshot_get(tr, false);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(user->buffer), 1UL);
	tfs_mark(test, 1);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 2");
	tfs_mark(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take(s, &s->max, &req), 0);
	scoped_guard(mutex, &trace_types_lock)
		trace_snapshot_erase(tr);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(user->buffer), 0UL);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "snapshot"), 0U);
	trace_snapshot_put(user);
	max = trace_snapshot_get(tr, true);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(max->buffer), 0UL);
	trace_snapshot_put(max);
	tracing_snapshot_instance(tr);
	snap_kunit_expect(test, "taken 3");
	tracing_disarm_snapshot(tr);
	trace_snapshot_disarm_tracer(tr, &fake);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), snap_kunit_full(test));
}

/* An iterator of the live buffer that is in the middle of a snapshot ends with it. */
static void change_test_erase_iterator(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct ring_buffer_iter *iter;

	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tfs_mark(test, 3);
	iter = ring_buffer_read_start(tr->array_buffer.buffer, raw_smp_processor_id(), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	ring_buffer_iter_advance(iter);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	scoped_guard(mutex, &trace_types_lock)
		trace_snapshot_erase(tr);
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_read_finish(iter);
	tracing_disarm_snapshot(tr);
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), snap_kunit_full(test));
}

/* Expect @since and @until of the newest snapshot. */
static void change_expect_span(struct kunit *test, bool since, u64 from, bool until)
{
	struct trace_array *tr = test->priv;
	struct snap_info *info;

	tfs_set(test, "snapshot", "1");
	info = &tr->snapshots->user.last->info;
	KUNIT_EXPECT_EQ(test, info->since != U64_MAX, since);
	if (since)
		KUNIT_EXPECT_GE(test, info->since, from);
	KUNIT_EXPECT_EQ(test, info->until != U64_MAX, until);
	if (until)
		KUNIT_EXPECT_LE(test, info->until, info->begin);
}

/* Only time in which recording was on is complete. */
static void change_test_on(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *live = tr->array_buffer.buffer;
	u64 now, since, until;
	unsigned int gen;

	change_expect_span(test, true, 0, false);
	now = ring_buffer_time_stamp(live);
	tracer_tracing_off(tr);
	/* A second one is no stop. */
	tracer_tracing_off(tr);
	change_expect_span(test, true, 0, true);
	KUNIT_EXPECT_GE(test, tr->snapshots->user.last->info.until, now);
	now = tr->snapshots->user.last->info.until;
	change_expect_span(test, true, 0, true);
	KUNIT_EXPECT_EQ(test, tr->snapshots->user.last->info.until, now);
	KUNIT_EXPECT_LE(test, now, tr->snapshots->user.last->info.since);
	now = ring_buffer_time_stamp(live);
	tracer_tracing_on(tr);
	tracer_tracing_on(tr);
	change_expect_span(test, true, now, false);

	/* A stop that is not counted yet, and a start. */
	atomic_inc(&live->switched.offs);
	change_expect_span(test, false, 0, false);
	atomic_inc(&live->switched.ons);
	change_expect_span(test, true, 0, false);

	/* Times of another clock. */
	tracer_tracing_off(tr);
	ring_buffer_set_clock(live, trace_clock_global);
	KUNIT_EXPECT_TRUE(test, ring_buffer_was_on(live, &since, &until));
	KUNIT_EXPECT_EQ(test, since, 0ULL);
	KUNIT_EXPECT_EQ(test, until, 0ULL);
	ring_buffer_set_clock(live, trace_clock_local);
	tracer_tracing_on(tr);
	tfs_set(test, "snapshot", "1");

	/* The kernel may throw the switch of all. The time of that is not known. */
	gen = tracing_all_generation();
	KUNIT_EXPECT_EQ(test, gen & 1, 0U);
	tracing_off_all();
	tracing_off_all();
	KUNIT_EXPECT_EQ(test, tracing_all_generation() & 1, 1U);
	change_expect_span(test, false, 0, false);
	change_expect_span(test, false, 0, false);
	tracing_on_all();
	KUNIT_EXPECT_EQ(test, tracing_all_generation(), gen + 2);
	change_expect_span(test, false, 0, false);
	change_expect_span(test, true, 0, false);
	tracing_off_all();
	tracing_on_all();
	change_expect_span(test, false, 0, false);
	change_expect_span(test, true, 0, false);
}

/* A reader that pauses it, and CPUs that are left out, stop it as well. */
static void change_test_refused(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *live = tr->array_buffer.buffer;
	const char *all = tfs_read(test, "tracing_cpumask");
	struct file *file;
	u64 now;

	tfs_set(test, "options/pause-on-trace", "1");
	change_expect_span(test, true, 0, false);
	file = tfs_open(test, "trace", O_RDONLY);
	change_expect_span(test, true, 0, true);
	now = ring_buffer_time_stamp(live);
	tfs_close(file);
	change_expect_span(test, true, now, false);
	tfs_set(test, "options/pause-on-trace", "0");

	tfs_set(test, "tracing_cpumask", "0");
	change_expect_span(test, false, 0, false);
	now = ring_buffer_time_stamp(live);
	tfs_set(test, "tracing_cpumask", all);
	change_expect_span(test, true, now, false);

	/* An erasure is such a stop, which is over. */
	now = ring_buffer_time_stamp(live);
	tracing_reset_all_cpus(&tr->array_buffer);
	change_expect_span(test, true, now, false);
	KUNIT_EXPECT_LE(test, tr->snapshots->user.last->info.since,
			tr->snapshots->user.last->info.begin);
}

static struct kunit_case change_kunit[] = {
	KUNIT_CASE_PARAM(change_test_size, change_gen_params),
	KUNIT_CASE_PARAM(change_test_limit, change_gen_params),
	KUNIT_CASE(change_test_smaller),
	KUNIT_CASE(change_test_channel),
	KUNIT_CASE(change_test_none),
	KUNIT_CASE(change_test_fails),
	KUNIT_CASE(change_test_clock),
	KUNIT_CASE(change_test_spare_clock),
	KUNIT_CASE(change_test_entries),
	KUNIT_CASE(change_test_used),
	KUNIT_CASE(change_test_moved),
	KUNIT_CASE(change_test_erase),
	KUNIT_CASE(change_test_erase_iterator),
	KUNIT_CASE(change_test_on),
	KUNIT_CASE(change_test_refused),
	{ }
};

static struct kunit_suite change_suite = {
	.name = "trace_snapshot_change",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = change_kunit,
};

kunit_test_suite(change_suite);
