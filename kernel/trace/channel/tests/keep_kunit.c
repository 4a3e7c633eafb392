// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of snapshots of a session: one cut over its channels, kept as a whole.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <trace/events/kmem.h>

#include "../../ring_buffer/race.h"
#include "session.h"

static void keep_mark(struct kunit *test, unsigned int n)
{
	unsigned int ch;

	for (ch = 0; ch <= 3; ch++) {
		while (n--)
			chan_kunit_mark(test, ch, "mark");
		n = ch + 1;
	}
}

static unsigned long keep_entries(unsigned int ch)
{
	return ring_buffer_entries(chan_kunit[ch]->array_buffer.buffer);
}

/* The instance of a kept snapshot has that of each channel's part as its channel. */
static void keep_expect_whole(struct kunit *test, unsigned int seq, const char *channels)
{
	char path[64], want[64];
	const char *list;

	list = tfs_read(test, tfs_text(test, "/instances/kunit@%u/channels", seq));
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(list, "\n"), (unsigned int)strlen(channels), "%s",
			    list);
	for (; *channels; channels++) {
		snprintf(want, sizeof(want), "kunit@%u.kunit_%c mode=", seq, *channels);
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(list, want), 1U, "%s in %s", want, list);
		snprintf(path, sizeof(path), "/instances/kunit@%u.kunit_%c/trace", seq, *channels);
		KUNIT_EXPECT_EQ_MSG(test, tfs_marks(test, path), *channels - '0' + 0U, "%s", path);
	}
}

/* No instance of the snapshot or of a part of it is there. */
static void keep_expect_none(struct kunit *test, unsigned int seq)
{
	char path[64];
	unsigned int ch;

	snprintf(path, sizeof(path), "/instances/kunit@%u", seq);
	KUNIT_EXPECT_FALSE_MSG(test, tfs_exists(test, path), "%s", path);
	for (ch = 1; ch <= 3; ch++) {
		snprintf(path, sizeof(path), "/instances/kunit@%u.kunit_%u", seq, ch);
		KUNIT_EXPECT_FALSE_MSG(test, tfs_exists(test, path), "%s", path);
	}
}

static void keep_tend(void)
{
	unsigned int ch;

	for (ch = 0; ch <= 3; ch++)
		snap_kunit_worker(chan_kunit[ch]);
	snap_tend(chan_kunit[0]->snapshots);
}

/* Take a snapshot with records of all, and have it kept. */
static void keep_take(struct kunit *test)
{
	keep_mark(test, 2);
	tfs_set(test, "snapshot", "1");
	keep_tend();
}

static void keep_test_whole(struct kunit *test)
{
	const char *list, *trace;
	struct file *file;
	unsigned int seq;

	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_keep", "2");
	for (seq = 1; seq <= 3; seq++) {
		keep_take(test);
		keep_expect_whole(test, seq, "123");
		trace = tfs_text(test, "/instances/kunit@%u/trace", seq);
		KUNIT_EXPECT_EQ(test, tfs_marks(test, trace), 2U + 1 + 2 + 3);
		if (seq > 1)
			keep_expect_whole(test, seq - 1, "123");
		/* A channel lists its parts. */
		list = tfs_read(test, "/instances/kunit_2/snapshots");
		KUNIT_EXPECT_EQ(test, tfs_count(list, ".kunit_2 comm="), min(seq, 2U));
		if (seq > 2)
			keep_expect_none(test, seq - 2);
	}
	/* Without the channel that has left. */
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_2"), 0);
	keep_mark(test, 0);
	tfs_set(test, "snapshot", "1");
	keep_tend();
	keep_expect_whole(test, 4, "13");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "/instances/kunit_2/trace"), 2U);

	/* The parts of a removed channel go with it. It stays while one of them is open. */
	keep_expect_whole(test, 3, "123");
	file = tfs_open(test, "/instances/kunit@3.kunit_2/trace", O_RDONLY);
	trace_array_put(chan_kunit[2]);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(chan_kunit[2]), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_get(chan_kunit[2]), 0);
	tfs_close(file);
	tfs_remove(test, chan_kunit[2]);
	keep_expect_whole(test, 3, "13");
	tfs_set(test, "snapshot_keep", "0");
	keep_expect_none(test, 3);
	keep_expect_none(test, 4);
}

/* The task that reads, and how often its list left the instances unlocked. */
static struct task_struct *keep_reader;
static unsigned int keep_looks, keep_unlocked;

static void keep_look_hook(enum rb_race point, const char *name)
{
	if (point != RB_RACE_ENTRIES || current != keep_reader)
		return;
	keep_looks++;
	if (mutex_trylock(&trace_types_lock)) {
		keep_unlocked++;
		mutex_unlock(&trace_types_lock);
	}
}

/* No part of a kept snapshot can be removed while it is listed. */
static void keep_test_list(struct kunit *test)
{
	const char *list;

	chan_kunit_begin(test, 3);
	tfs_set(test, "/instances/kunit_2/options/overwrite", "0");
	tfs_set(test, "snapshot_keep", "1");
	keep_take(test);
	keep_looks = 0;
	keep_unlocked = 0;
	keep_reader = current;
	rb_race_hook = keep_look_hook;
	list = tfs_read(test, "/instances/kunit@1/channels");
	rb_race_hook = NULL;
	KUNIT_EXPECT_EQ(test, tfs_count(list, "@1.kunit_1 mode=overwrite on=0 kb="), 1U);
	KUNIT_EXPECT_EQ(test, tfs_count(list, "@1.kunit_2 mode=discard on=0 kb="), 1U);
	KUNIT_EXPECT_GE(test, keep_looks, 3U);
	KUNIT_EXPECT_EQ(test, keep_unlocked, 0U);
}

/* A channel is removed before its part is kept. The memory of that is freed all the same. */
static void keep_test_gone(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;

	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "snapshot_allocate", "1");
	snap_kunit_stop_keeper(s);
	keep_mark(test, 2);
	tracing_snapshot_instance(chan_kunit[0]);
	KUNIT_EXPECT_FALSE(test, llist_empty(&s->keeper.fresh));
	tfs_remove(test, chan_kunit[2]);
	snap_tend(s);
	keep_expect_whole(test, 1, "13");
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.unkept), 0L);
	enable_work(&s->keeper.work);
}

/* The newest snapshot is kept as well, with the parts of channels that have no newer one. */
static void keep_test_newest(struct kunit *test)
{
	unsigned int i;

	chan_kunit_begin(test, 3);
	for (i = 1; i <= 2; i++) {
		keep_mark(test, 2);
		tfs_set(test, "snapshot", "1");
		if (i == 2)
			tfs_set(test, "/instances/kunit_2/snapshot", "1");
		tfs_set(test, "snapshot_keep", "1");
		keep_tend();
		keep_expect_whole(test, i, i == 1 ? "123" : "13");
		tfs_set(test, "snapshot_keep", "0");
		keep_expect_none(test, i);
	}

	/* One that has joined since has no part. */
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_3"), 0);
	tfs_set(test, "/instances/kunit_3/snapshot", "0");
	keep_mark(test, 2);
	tfs_set(test, "snapshot", "1");
	chan_kunit_join(test, 3);
	KUNIT_EXPECT_NULL(test, chan_kunit[3]->snapshots->user.last);
	tfs_set(test, "snapshot_keep", "1");
	keep_tend();
	keep_expect_whole(test, 3, "12");
}

/* A session and its channel do not both keep the same part, in either order. */
static void keep_test_twice(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots, *channel, *first, *second;
	const struct snap_keep keep = { .nr = 5 };
	size_t before;
	unsigned int i, seq;

	chan_kunit_begin(test, 3);
	channel = chan_kunit[2]->snapshots;
	tfs_set(test, "snapshot_allocate", "1");
	for (i = 0; i < 2; i++) {
		seq = i + 1;
		first = i ? channel : s;
		second = i ? s : channel;
		KUNIT_EXPECT_EQ(test, snap_keep_set(first, keep), 0);
		keep_tend();
		before = list_count_nodes(&channel->keeper.kept);
		snap_kunit_stop_keeper(first);
		keep_mark(test, 2);
		tracing_snapshot_instance(chan_kunit[0]);
		KUNIT_EXPECT_FALSE(test, llist_empty(&first->keeper.fresh));
		/* It keeps the newest one as well, but not this. */
		KUNIT_EXPECT_EQ(test, snap_keep_set(second, keep), 0);
		enable_work(&first->keeper.work);
		snap_tend(channel);
		keep_tend();
		keep_expect_whole(test, seq, i ? "13" : "123");
		KUNIT_EXPECT_EQ(test, list_count_nodes(&channel->keeper.kept), before + i);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&channel->keeper.parts), (size_t)!i);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&s->keeper.kept), (size_t)1);
		KUNIT_EXPECT_EQ(test, snap_keep_set(second, (struct snap_keep){ }), 0);
		KUNIT_EXPECT_EQ(test, snap_keep_set(first, (struct snap_keep){ }), 0);
		keep_tend();
		keep_expect_none(test, seq);
	}
}

/* The newest snapshot is about to be kept, with its parts: no channel keeps one as well. */
static void keep_test_pending(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 3), *ch = chan_kunit[2]->snapshots;

	keep_mark(test, 2);
	tfs_set(test, "snapshot", "1");
	snap_kunit_stop_keeper(s);
	/* A task has come so far with a write to snapshot_keep. */
	scoped_guard(mutex, &s->mutex)
		snap_keep_begin(s, (struct snap_keep){ .nr = 5 });
	KUNIT_EXPECT_EQ(test, snap_keep_set(ch, (struct snap_keep){ .nr = 5 }), 0);
	snap_tend(s);
	keep_expect_whole(test, 1, "123");
	KUNIT_EXPECT_TRUE(test, list_empty(&ch->keeper.kept));
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ch->keeper.parts), (size_t)1);
	enable_work(&s->keeper.work);
}

/* A snapshot of one CPU has that of the channels, too. */
static void keep_test_cpu(struct kunit *test)
{
	unsigned int ch;

	chan_kunit_begin(test, 3);
	for (ch = 0; ch <= 3; ch++)
		KUNIT_EXPECT_TRUE(test, chan_kunit_write(ch, 0, 2000 + ch, ch));
	tfs_set(test, "per_cpu/cpu0/snapshot", "1");
	for (ch = 0; ch <= 3; ch++) {
		KUNIT_EXPECT_EQ(test, keep_entries(ch), 0UL);
		KUNIT_EXPECT_EQ(test, chan_kunit[ch]->snapshots->user.seq, 1ULL);
	}
}

/* The buffer that the next cut of a channel uses. */
static struct trace_snap *keep_next(unsigned int ch)
{
	struct snap_slot *user = &chan_kunit[ch]->snapshots->user;

	return user->spare ?: user->last;
}

/* A cut of the session asks the worker of a channel for what that one needs. */
static void keep_test_worker(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots, *channel;
	struct file *file;
	unsigned int ch;

	chan_kunit_begin(test, 3);
	channel = chan_kunit[2]->snapshots;
	tfs_set(test, "snapshot_allocate", "1");
	KUNIT_EXPECT_EQ(test, snap_keep_set(channel, (struct snap_keep){ .nr = 5 }), 0);
	keep_mark(test, 2);
	tracing_snapshot_instance(chan_kunit[0]);
	snap_kunit_worker(chan_kunit[2]);
	flush_work(&channel->keeper.work);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&channel->keeper.kept), (size_t)1);
	KUNIT_EXPECT_EQ(test, snap_keep_set(channel, (struct snap_keep){ }), 0);
	keep_tend();

	/* For a record in flight it looks into each of them. */
	tfs_set(test, "snapshot", "0");
	tfs_set(test, "snapshot_allocate", "1");
	for (ch = 1; ch <= 3; ch++) {
		KUNIT_ASSERT_NOT_NULL(test, keep_next(ch));
		keep_next(ch)->settled = false;
	}
	scoped_guard(mutex, &s->mutex)
		snap_settle_next(s, &s->user);
	for (ch = 1; ch <= 3; ch++)
		KUNIT_EXPECT_TRUE(test, keep_next(ch)->settled);

	/* The channel's only buffer is read: the session's worker gives it another one. */
	tfs_set(test, "snapshot", "1");
	file = tfs_open(test, "/instances/kunit_2/snapshot", O_RDONLY);
	KUNIT_EXPECT_NULL(test, channel->user.spare);
	tracing_snapshot_instance(chan_kunit[0]);
	snap_kunit_worker(chan_kunit[0]);
	KUNIT_EXPECT_NOT_NULL(test, channel->user.spare);
	tfs_close(file);
}

/* A session does not wait for ever for the buffer of a channel that somebody uses. */
static void keep_test_used(struct kunit *test)
{
	struct trace_snapshots *s;
	struct trace_snap *spare;

	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_allocate", "1");
	s = chan_kunit[2]->snapshots;
	spare = s->user.spare;
	KUNIT_ASSERT_NOT_NULL(test, spare);
	/* Not as snap_settle_next(), which has the mutex: snap_provide() waits for that. */
	atomic_inc(&spare->users);
	tfs_refuse(test, "snapshot", "1", -EBUSY);
	scoped_guard(mutex, &s->mutex)
		snap_put(s, spare);
	tfs_set(test, "snapshot", "1");
}

/* A channel that has its first ones has no room for a part of the session, which keeps none. */
static void keep_test_enough(struct kunit *test)
{
	chan_kunit_begin(test, 3);
	tfs_set(test, "/instances/kunit_2/snapshot_keep", "first 1");
	tfs_set(test, "snapshot", "1");
	snap_tend(chan_kunit[2]->snapshots);
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit_2@1"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit@1"));
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	tfs_set(test, "/instances/kunit_2/snapshot_keep", "0");
	tfs_set(test, "snapshot", "1");
}

/* The keeper of a session has buffers for the next snapshot, without the workers. */
static void keep_test_provide(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;
	unsigned int ch;

	chan_kunit_begin(test, 3);
	for (ch = 0; ch <= 3; ch++)
		disable_work_sync(&chan_kunit[ch]->snapshots->worker.work);
	tfs_set(test, "snapshot_keep", "2");
	keep_mark(test, 2);
	tfs_set(test, "snapshot", "1");
	snap_tend(s);
	for (ch = 0; ch <= 3; ch++) {
		KUNIT_EXPECT_NOT_NULL(test, chan_kunit[ch]->snapshots->user.spare);
		enable_work(&chan_kunit[ch]->snapshots->worker.work);
	}
}

/*
 * Memory that survives a reboot has room for one snapshot, also that of a channel. It joins a
 * session with that room, if none is kept.
 */
static void keep_test_persistent(struct kunit *test)
{
	struct trace_array *tr = chan_kunit[0], *ch;
	unsigned int i;

	chan_kunit_begin(test, 2);
	for (i = 0; i <= 2; i++) {
		chan_kunit[i]->range_addr_start = 1;
		tfs_refuse(test, "snapshot_keep", "1", -EINVAL);
		chan_kunit[i]->range_addr_start = 0;
	}
	ch = chan_kunit[3];
	ch->range_addr_start = 1;
	KUNIT_EXPECT_EQ(test, trace_session_join(tr, ch->name, NULL), -EXFULL);
	tfs_refuse(test, "channels", ch->name, -EINVAL);
	ch->flags |= TRACE_ARRAY_FL_SNAPSHOT;
	tfs_set(test, "snapshot_keep", "1");
	KUNIT_EXPECT_EQ(test, trace_session_join(tr, ch->name, NULL), -EXFULL);
	tfs_set(test, "snapshot_keep", "0");
	KUNIT_EXPECT_EQ(test, trace_session_join(tr, ch->name, NULL), 0);
	KUNIT_EXPECT_EQ(test, trace_session_leave(tr, ch->name), 0);
	ch->range_addr_start = 0;
}

/* While a channel changes its size, a request is postponed. */
static void keep_test_changing(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;
	unsigned int ch;

	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_allocate", "1");
	for (ch = 0; ch <= 3; ch++) {
		u64 taken = s->user.seq;

		keep_mark(test, 2);
		chan_kunit[ch]->snapshots->gen++;
		tracing_snapshot_instance(chan_kunit[0]);
		KUNIT_EXPECT_EQ(test, s->user.seq, taken);
		chan_kunit[ch]->snapshots->gen--;
		snap_kunit_wait(test);
		KUNIT_EXPECT_EQ(test, s->user.seq, taken + 1);
	}
}

/* Take the memory for the next snapshot from an instance, or allow it again. */
static void keep_starve(unsigned int ch, bool starve)
{
	struct trace_snapshots *s = chan_kunit[ch]->snapshots;

	guard(mutex)(&s->mutex);
	s->memory.limit_kb = starve;
	if (starve)
		snap_free_slot(s, &s->user, false);
}

/* A part without memory: the snapshot is refused for all, and no record moves. */
static void keep_test_refused(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;
	unsigned long want;
	unsigned int ch, n;

	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_keep", "first 9");
	for (n = 1; n <= 3; n++) {
		keep_mark(test, 2);
		keep_starve(n, true);
		tfs_refuse(test, "snapshot", "1", -ENOSPC);
		tracing_snapshot_instance(chan_kunit[0]);
		keep_tend();
		keep_expect_none(test, n);
		for (ch = 0; ch <= 3; ch++) {
			want = ch ?: 2;
			KUNIT_EXPECT_EQ(test, keep_entries(ch), want);
		}
		keep_starve(n, false);
		tfs_set(test, "snapshot", "1");
		keep_tend();
		keep_expect_whole(test, n, "123");
		KUNIT_EXPECT_EQ(test, s->keeper.nr, n);
	}
}

/* If an allocation of the keeper fails, all of the snapshot is kept or none, and it is counted. */
static void keep_test_memory(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;
	unsigned int n, kept;
	u64 seq = 0;
	bool failed;

	tfs_need_failures(test);
	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_keep", "9");
	tfs_set(test, "snapshot_allocate", "1");
	/* Only this task is to tend it. */
	snap_kunit_stop_keeper(s);
	for (n = 1; ; n += 1 + n / 20) {
		keep_tend();
		keep_mark(test, 2);
		tracing_snapshot_instance(chan_kunit[0]);
		KUNIT_ASSERT_EQ(test, s->user.seq, ++seq);
		tfs_fail_nth(n);
		snap_tend(s);
		failed = tfs_failed();
		keep_tend();
		kept = tfs_exists(test, tfs_text(test, "/instances/kunit@%llu", seq));
		if (kept)
			keep_expect_whole(test, seq, "123");
		else
			keep_expect_none(test, seq);
		/* It may be the part of another one next. */
		KUNIT_EXPECT_NULL(test, s->user.last->parts);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.unkept), kept ? 0L : 1L);
		atomic_long_set(&s->count.unkept, 0);
		if (!failed)
			break;
	}
	enable_work(&s->keeper.work);
	KUNIT_EXPECT_GT(test, n, 20U);
	KUNIT_EXPECT_TRUE(test, kept);
}

/* How many allocations go by before snapshots are taken, and those that are */
static unsigned int keep_skip, keep_cuts;

/* Record in each channel which cut will show it. */
static void keep_number(void)
{
	char text[16];
	unsigned int ch;
	int len;

	len = scnprintf(text, sizeof(text), "cut %llu\n", chan_kunit[0]->snapshots->user.seq + 1);
	for (ch = 0; ch <= 3; ch++)
		__trace_array_puts(chan_kunit[ch], _THIS_IP_, text, len);
}

/*
 * Take a snapshot at an allocation of the test. None of the locks that this takes is held at
 * one that may sleep.
 */
static void keep_cut(void *task, unsigned long site, const void *at, size_t wanted, size_t size,
		     gfp_t gfp, int node)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL, .now = true,
	};

	if (current != task || !gfpflags_allow_blocking(gfp))
		return;
	if (keep_skip) {
		keep_skip--;
		return;
	}
	if (snap_take(s, &s->user, &req))
		return;
	keep_cuts++;
	keep_number();
}

/* The file shows one cut, however often a newer one comes while it is opened and read. */
static void keep_test_open(struct kunit *test)
{
	char first[32];
	const char *text;
	unsigned int n;

	chan_kunit_begin(test, 3);
	tfs_set(test, "snapshot_allocate", "1");
	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(chan_kunit[0]), 0);
	keep_number();
	tfs_set(test, "snapshot", "1");
	keep_number();

	/* Each part is of the cut that was the newest one when the choice was made. */
	for (n = 0; ; n += 1 + n / 8) {
		keep_cuts = 0;
		keep_skip = n;
		KUNIT_ASSERT_EQ(test, register_trace_kmalloc(keep_cut, current), 0);
		text = tfs_read(test, "snapshot");
		unregister_trace_kmalloc(keep_cut, current);
		tracepoint_synchronize_unregister();
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": cut "), 4U, "%s", text);
		strscpy(first, strstr(text, ": cut ") ?: "", sizeof(first));
		strreplace(first, '\n', '\0');
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, tfs_text(test, "%s\n", first)), 4U,
				    "%s", text);
		if (!keep_cuts)
			break;
	}
	KUNIT_EXPECT_GT(test, n, 8U);
}

/* At the limit of a channel, the oldest snapshot goes that has a part of it, and is not open. */
static void keep_test_room(struct kunit *test)
{
	struct trace_snapshots *s;
	struct file *file;

	chan_kunit_begin(test, 3);
	s = chan_kunit[3]->snapshots;
	tfs_set(test, "snapshot_keep", "9");
	/* To remove this one is in vain. */
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_3"), 0);
	keep_take(test);
	keep_expect_whole(test, 1, "12");
	chan_kunit_join(test, 3);
	tfs_empty(test, "/instances/kunit_3/trace");
	keep_take(test);
	keep_take(test);
	keep_take(test);
	s->memory.limit_kb = s->memory.kb;

	file = tfs_open(test, "/instances/kunit@2.kunit_3/trace", O_RDONLY);
	keep_take(test);
	keep_expect_whole(test, 1, "12");
	keep_expect_whole(test, 2, "123");
	keep_expect_none(test, 3);
	keep_expect_whole(test, 4, "123");
	keep_expect_whole(test, 5, "123");
	tfs_close(file);
	keep_take(test);
	keep_expect_whole(test, 1, "12");
	keep_expect_none(test, 2);
	keep_expect_whole(test, 4, "123");
	keep_expect_whole(test, 6, "123");
	KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
}

/* So it does if there is room for the records of its part, but not for the instance of that. */
static void keep_test_room_instance(struct kunit *test)
{
	struct trace_snapshots *s;
	unsigned int seq, kb;

	chan_kunit_begin(test, 3);
	s = chan_kunit[3]->snapshots;
	tfs_set(test, "/instances/kunit_3/buffer_size_kb", "1");
	tfs_set(test, "snapshot_keep", "100");
	/* To remove this one is in vain. */
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_3"), 0);
	keep_take(test);
	chan_kunit_join(test, 3);
	for (seq = 2; seq <= 4; seq++)
		keep_take(test);
	for (kb = 0; kb < 64; kb++, seq++) {
		s->memory.limit_kb = s->memory.kb + kb;
		keep_take(test);
		keep_expect_whole(test, seq, "123");
		KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
	}
	keep_expect_whole(test, 1, "12");
}

/*
 * A crash takes one of each channel that has a buffer, if the session cannot take all.
 * Others have no second one, which would erase the first.
 */
static void keep_test_crash(struct kunit *test)
{
	struct trace_array *other = tfs_add(test, "kunit-other", NULL, NULL);
	unsigned long before;
	unsigned int ch;

	KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(other), 0);
	chan_kunit_begin(test, 3);
	keep_mark(test, 2);
	tfs_set(test, "snapshot_allocate", "1");
	keep_starve(2, true);
	before = xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	trace_snapshot_warn();
	xchg(&snap_crash_on, before);
	/* All but the one without a buffer, each by itself. */
	for (ch = 0; ch <= 3; ch++)
		KUNIT_EXPECT_EQ(test, chan_kunit[ch]->snapshots->user.seq, (u64)(ch != 2));
	/* It was not asked. */
	KUNIT_EXPECT_EQ(test, atomic_long_read(&chan_kunit[2]->snapshots->count.no_spare), 0L);
	KUNIT_EXPECT_EQ(test, other->snapshots->user.seq, 1ULL);
}

/* Have two channels; the second one, which is returned, has no rings. */
static struct trace_array *keep_unexpanded(struct kunit *test)
{
	struct trace_array *ch;

	chan_kunit_open(test, 2);
	ch = chan_kunit[2];
	tfs_unexpand(test, ch);
	chan_kunit_join(test, 1);
	chan_kunit_join(test, 2);
	return ch;
}

/*
 * A channel without rings has no part in a snapshot, and gets no rings for it, also if it had
 * some for the snapshot before.
 */
static void keep_test_unexpanded(struct kunit *test)
{
	struct trace_array *ch = keep_unexpanded(test);

	/* To free memory takes none. */
	tfs_set(test, "/instances/kunit_2/snapshot_allocate", "0");
	tfs_set(test, "/instances/kunit_2/snapshot", "0");
	tfs_set(test, "snapshot_allocate", "1");
	chan_kunit_mark(test, 1, "mark");
	tracing_snapshot_instance(chan_kunit[0]);
	snap_kunit_expect(test, "taken 1");
	KUNIT_EXPECT_NOT_NULL(test, chan_kunit[1]->snapshots->user.last);
	KUNIT_EXPECT_NULL(test, ch->snapshots->user.last);
	KUNIT_EXPECT_FALSE(test, ring_buffer_is_expanded(ch->array_buffer.buffer));

	KUNIT_ASSERT_EQ(test, trace_array_expand(ch), 0);
	tracing_snapshot_instance(chan_kunit[0]);
	KUNIT_EXPECT_EQ(test, ch->snapshots->user.seq, 1ULL);
	KUNIT_ASSERT_EQ(test, ring_buffer_unexpand(ch->array_buffer.buffer), 0);
	tracing_snapshot_instance(chan_kunit[0]);
	KUNIT_EXPECT_EQ(test, chan_kunit[0]->snapshots->user.seq, 3ULL);
	KUNIT_EXPECT_EQ(test, ch->snapshots->user.seq, 1ULL);
}

/* The worker has more to do for snapshots of before than to free them: no buffer without rings. */
static void keep_test_unexpanded_later(struct kunit *test)
{
	struct trace_array *ch;

	chan_kunit_begin(test, 3);
	ch = chan_kunit[1];
	tfs_set(test, "snapshot_keep", "1");
	keep_take(test);
	keep_expect_whole(test, 1, "123");
	tfs_set(test, "channels", "!kunit_1");
	tfs_set(test, "/instances/kunit_1/snapshot", "0");
	tfs_empty(test, "/instances/kunit_1/trace");
	tfs_unexpand(test, ch);
	tfs_set(test, "/instances/kunit_1/snapshot_keep", "2");
	tfs_set(test, "snapshot_keep", "0");
	snap_kunit_worker(ch);
	tfs_expect(test, "/instances/kunit_1/snapshot_allocate", "0\n");
	/* A request there does not look for a ring, either. */
	KUNIT_EXPECT_EQ(test, ring_buffer_ring_id(ch->array_buffer.buffer, 0), 0UL);
}

/* A channel that gets its rings has no buffer while the session has none. */
static void keep_test_rings(struct kunit *test)
{
	struct trace_array *ch = keep_unexpanded(test);

	KUNIT_ASSERT_EQ(test, trace_array_expand(ch), 0);
	KUNIT_EXPECT_EQ(test, chan_kunit[0]->snapshots->memory.kb, 0UL);
	KUNIT_EXPECT_EQ(test, ch->snapshots->memory.kb, 0UL);
}

/* It has one if the session relies on one, which then has another try. So has a new channel. */
static void keep_test_rings_armed(struct kunit *test)
{
	struct trace_array *ch = keep_unexpanded(test);
	struct trace_snapshots *s = chan_kunit[0]->snapshots, *other = chan_kunit[1]->snapshots;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(chan_kunit[0]), 0);
	snap_kunit_lose(s, false);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
	KUNIT_ASSERT_EQ(test, trace_array_expand(ch), 0);
	KUNIT_EXPECT_NE(test, s->memory.kb, 0UL);
	KUNIT_EXPECT_NE(test, ch->snapshots->memory.kb, 0UL);

	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_1"), 0);
	snap_kunit_lose(s, false);
	snap_kunit_lose(other, true);
	KUNIT_EXPECT_EQ(test, s->memory.kb + other->memory.kb, 0UL);
	chan_kunit_join(test, 1);
	KUNIT_EXPECT_NE(test, s->memory.kb, 0UL);
	KUNIT_EXPECT_NE(test, other->memory.kb, 0UL);
}

/* A session is removed before its snapshot is kept. Its channels have their parts back. */
static void keep_test_session_gone(struct kunit *test)
{
	struct trace_array *other = tfs_add(test, "kunit_other", "sched", NULL);
	struct trace_snap *part;

	chan_kunit_begin(test, 0);
	KUNIT_ASSERT_EQ(test, trace_session_join(other, "kunit_1", NULL), 0);
	KUNIT_EXPECT_EQ(test, snap_keep_set(other->snapshots, (struct snap_keep){ .nr = 5 }), 0);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(other), 0);
	snap_kunit_stop_keeper(other->snapshots);
	tracing_snapshot_instance(other);
	part = chan_kunit[1]->snapshots->user.last;
	KUNIT_ASSERT_NOT_NULL(test, part);
	KUNIT_EXPECT_EQ(test, atomic_read(&part->users), 1);
	KUNIT_EXPECT_EQ(test, trace_session_leave(other, "kunit_1"), 0);
	tfs_remove(test, other);
	KUNIT_EXPECT_PTR_EQ(test, chan_kunit[1]->snapshots->user.last, part);
	KUNIT_EXPECT_EQ(test, atomic_read(&part->users), 0);
}

/* If the keeper comes to it only when the session is removed, no part is kept either. */
static void keep_test_dead(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 1), *ch = chan_kunit[1]->snapshots;

	KUNIT_EXPECT_EQ(test, snap_keep_set(s, (struct snap_keep){ .nr = 5 }), 0);
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(chan_kunit[0]), 0);
	snap_kunit_stop_keeper(s);
	keep_mark(test, 2);
	tracing_snapshot_instance(chan_kunit[0]);
	KUNIT_EXPECT_FALSE(test, llist_empty(&s->keeper.fresh));
	s->dead = true;
	snap_tend(s);
	s->dead = false;
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.unkept), 1L);
	KUNIT_EXPECT_TRUE(test, list_empty(&ch->keeper.kept));
	KUNIT_EXPECT_TRUE(test, list_empty(&ch->keeper.parts));
	KUNIT_EXPECT_EQ(test, atomic_read(&ch->user.last->users), 0);
	enable_work(&s->keeper.work);
}

/* The owner of a snapshot of the session has the whole, not the part of a channel. */
static void keep_test_owned(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 3);
	struct trace_array *part;
	struct trace_snap *snap;
	unsigned int parts = 0;

	keep_mark(test, 2);
	KUNIT_ASSERT_EQ(test, snap_keep_owned(s, RING_BUFFER_ALL_CPUS, &snap), 0);
	KUNIT_EXPECT_PTR_EQ(test, snap->owner, s);
	/* All parts have lost their empty sub-buffers. */
	scoped_guard(mutex, &trace_types_lock) {
		for_each_channel(part, snap->kept) {
			KUNIT_EXPECT_EQ(test, part->shows->kb,
					snap_trimmed_kb(part->shows) + part->shows->kept_kb);
			parts++;
		}
	}
	KUNIT_EXPECT_EQ(test, parts, 3U);
	snap_end_owned(snap);
}

/* A buffer of the requester is for the session, which keeps the empty one. Channels use theirs. */
static void keep_test_own_buffer(struct kunit *test)
{
	struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_WRITE, .waits = true,
	};
	struct trace_snapshots *s = chan_kunit_begin(test, 3);
	struct trace_snap *last, *spare;
	unsigned int ch;

	keep_mark(test, 4);
	scoped_guard(mutex, &s->mutex) {
		KUNIT_EXPECT_EQ(test, snap_provide(s, &s->user), 0);
		spare = s->user.spare;
		req.own = snap_alloc_spare(s);
		KUNIT_ASSERT_FALSE(test, IS_ERR(req.own));
		KUNIT_EXPECT_EQ(test, snap_take(s, &s->user, &req), 0);
		KUNIT_EXPECT_PTR_EQ(test, s->user.last, req.own);
		KUNIT_EXPECT_NOT_NULL(test, spare);
		KUNIT_EXPECT_PTR_EQ(test, s->user.spare, spare);
	}
	for (ch = 0; ch <= 3; ch++) {
		last = chan_kunit[ch]->snapshots->user.last;
		KUNIT_ASSERT_NOT_NULL(test, last);
		KUNIT_EXPECT_PTR_EQ(test, last->owner, chan_kunit[ch]->snapshots);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(last->buf.buffer), ch ? ch : 4UL);
	}
}

/* The first allocation fails, then the second, and so on: the whole is kept, or nothing of it. */
static void keep_test_no_memory(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit[0]->snapshots;
	unsigned int n, failed = 0;
	struct trace_snap *snap;
	const char *name, *whole, *part;
	bool done = false;
	int ret;

	tfs_need_failures(test);
	chan_kunit_begin(test, 1);
	for (n = 1; !done && n < 2000; n++) {
		if (!keep_entries(1))
			keep_mark(test, 2);
		tfs_fail_nth(n);
		ret = snap_keep_owned(s, RING_BUFFER_ALL_CPUS, &snap);
		done = !tfs_failed();
		if (ret) {
			failed++;
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			KUNIT_EXPECT_TRUE(test, list_empty(&s->keeper.owned));
			keep_expect_none(test, s->user.seq);
			continue;
		}
		keep_expect_whole(test, snap->seq, "1");
		name = snap->kept->name;
		whole = tfs_text(test, "/instances/%s/per_cpu/cpu0/trace", name);
		part = tfs_text(test, "/instances/%s.kunit_1/per_cpu/cpu0/trace", name);
		KUNIT_EXPECT_TRUE(test, tfs_exists(test, whole) && tfs_exists(test, part));
		snap_end_owned(snap);
	}
	KUNIT_EXPECT_TRUE(test, done);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GT(test, failed, 20U);
}

static struct kunit_case keep_cases[] = {
	KUNIT_CASE(keep_test_whole),
	KUNIT_CASE(keep_test_list),
	KUNIT_CASE(keep_test_gone),
	KUNIT_CASE(keep_test_newest),
	KUNIT_CASE(keep_test_pending),
	KUNIT_CASE(keep_test_cpu),
	KUNIT_CASE(keep_test_twice),
	KUNIT_CASE(keep_test_worker),
	KUNIT_CASE(keep_test_used),
	KUNIT_CASE(keep_test_enough),
	KUNIT_CASE(keep_test_provide),
	KUNIT_CASE(keep_test_persistent),
	KUNIT_CASE(keep_test_changing),
	KUNIT_CASE(keep_test_refused),
	KUNIT_CASE(keep_test_memory),
	KUNIT_CASE(keep_test_open),
	KUNIT_CASE(keep_test_room),
	KUNIT_CASE(keep_test_room_instance),
	KUNIT_CASE(keep_test_crash),
	KUNIT_CASE(keep_test_unexpanded),
	KUNIT_CASE(keep_test_unexpanded_later),
	KUNIT_CASE(keep_test_rings),
	KUNIT_CASE(keep_test_rings_armed),
	KUNIT_CASE(keep_test_session_gone),
	KUNIT_CASE(keep_test_dead),
	KUNIT_CASE(keep_test_owned),
	KUNIT_CASE(keep_test_own_buffer),
	KUNIT_CASE(keep_test_no_memory),
	{ }
};

static struct kunit_suite keep_suite = {
	.name = "trace_channel_keep",
	.init = chan_kunit_init,
	.exit = chan_kunit_exit,
	.test_cases = keep_cases,
};

kunit_test_suite(keep_suite);
