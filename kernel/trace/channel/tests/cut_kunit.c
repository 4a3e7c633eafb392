// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the cut of a session: its locks, and which parts belong together.
 */
#include <linux/irqflags.h>

#include "session.h"

/* A request that interrupts the holder of a channel's lock is postponed, and leaves no lock. */
static void cut_test_locked(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 3), *ch = chan_kunit[2]->snapshots;
	int self, owners[4];
	unsigned int i;
	long requests;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(chan_kunit[0]), 0);
	scoped_guard(irqsave) {
		self = smp_processor_id() + 1;
		atomic_set(&ch->owner, self);
		tracing_snapshot_instance(chan_kunit[0]);
		requests = atomic_long_read(&s->pending.requests);
		for (i = 0; i < ARRAY_SIZE(owners); i++)
			owners[i] = atomic_read(&chan_kunit[i]->snapshots->owner);
		atomic_set(&s->owner, 0);
		atomic_set(&ch->owner, 0);
	}
	KUNIT_EXPECT_EQ(test, requests, 1L);
	for (i = 0; i < ARRAY_SIZE(owners); i++)
		KUNIT_EXPECT_EQ_MSG(test, owners[i], i == 2 ? self : 0, "channel %u", i);
	snap_kunit_wait(test);
	snap_kunit_expect(test, "taken 1");
}

/* It is refused if another CPU has the lock of the session, and does not let it go. */
static void cut_test_stuck(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 3), *ch = chan_kunit[2]->snapshots;
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL };
	int ret, owner;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(chan_kunit[0]), 0);
	scoped_guard(irqsave) {
		atomic_set(&ch->owner, smp_processor_id() + 1);
		atomic_set(&s->owner, nr_cpu_ids + 1);
		ret = snap_take(s, &s->user, &req);
		owner = atomic_xchg(&s->owner, 0);
		atomic_set(&ch->owner, 0);
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	KUNIT_EXPECT_EQ(test, owner, (int)nr_cpu_ids + 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->pending.requests), 0L);
	snap_kunit_expect(test, "refused 1");
}

/* The list of channels may have become shorter since a channel was counted. */
static void cut_test_list(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 2), *ch;
	unsigned int n;

	for (n = 0; n < 5; n++) {
		ch = snap_get_channel(s, n);
		KUNIT_EXPECT_PTR_EQ(test, ch, n < 2 ? chan_kunit[n + 1]->snapshots : NULL);
		if (ch)
			snap_put_owner(ch);
	}
}

/* The snapshots of two sessions have the same number: a channel's is a part of its own only. */
static void cut_test_other(struct kunit *test)
{
	chan_kunit_begin(test, 2);
	chan_kunit_set_clock();
	tfs_set(test, "snapshot", "1");
	chan_kunit_now++;
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_2"), 0);
	tfs_set(test, "/instances/kunit_3/snapshot", "1");
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[3], "kunit_2", NULL), 0);
	KUNIT_EXPECT_EQ(test, chan_kunit[2]->snapshots->user.last->cut,
			chan_kunit[0]->snapshots->user.last->cut);
	tfs_set(test, "/instances/kunit_3/snapshot_keep", "1");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit_3@1"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit_3@1.kunit_2"));
}

/* Of a session's snapshot, one limit is that of all parts; a channel alone has that of its own. */
static void cut_test_span(struct kunit *test)
{
	unsigned int ch, i, at;

	chan_kunit_begin(test, 2);
	chan_kunit_set_clock();
	tfs_set(test, "/instances/kunit_2/snapshot_keep", "last 1s");
	for (i = 0; i < 2; i++) {
		for (ch = 0; ch < 3; ch++) {
			/* At 1, 2, 3, then 11, 12, 13 and 21, 22, 23 s. */
			for (at = ch + 1; at < 30; at += 10)
				KUNIT_ASSERT_TRUE(test, chan_kunit_write(ch, 0, at * NSEC_PER_SEC,
									 at));
		}
		chan_kunit_now = 24 * NSEC_PER_SEC;
		tfs_set(test, i ? "/instances/kunit_2/snapshot" : "snapshot", i ? "1" : "12s");
		for (ch = 0; ch < 3; ch++) {
			const char *path = tfs_text(test, "/instances/%s/snapshots",
						    chan_kunit[ch]->name);

			/* The first reader has older records dropped. */
			tfs_read(test, tfs_text(test, "/instances/%s/snapshot",
						chan_kunit[ch]->name));
			/* From 12 s on, the session has one less of its own. */
			if (!i)
				tfs_expect_in(test, path, ch ? " left_out=1" : " left_out=2");
			else if (ch == 2)
				tfs_expect_in(test, path, " left_out=2");
		}
	}
}

/* A session's cut that is long enough for it does not answer a channel that wants more. */
static void cut_test_span_part(struct kunit *test)
{
	struct trace_snapshots *s = chan_kunit_begin(test, 2), *part;
	unsigned int ch;

	chan_kunit_set_clock();
	for (ch = 0; ch < 3; ch++)
		KUNIT_ASSERT_TRUE(test, chan_kunit_write(ch, 0, NSEC_PER_SEC, ch));
	tfs_set(test, "snapshot_keep", "last 1s");
	tfs_set(test, "/instances/kunit_2/snapshot_keep", "last 500ms");
	tfs_set(test, "snapshot", "1");
	for (ch = 0; ch < 3; ch++) {
		part = chan_kunit[ch]->snapshots;
		/* As if the cut came while the request waits for the lock. */
		part->past.done = part->past.cuts + 2;
		tracing_snapshot_instance(chan_kunit[ch]);
		part->past.done = part->past.cuts;
		KUNIT_EXPECT_EQ(test, atomic_long_read(&part->count.merged), ch == 1 ? 0L : 1L);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&part->count.late), ch == 1 ? 1L : 0L);
		KUNIT_EXPECT_EQ(test, part->user.seq, s->user.seq);
	}
}

static struct kunit_case cut_cases[] = {
	KUNIT_CASE(cut_test_locked),
	KUNIT_CASE(cut_test_stuck),
	KUNIT_CASE(cut_test_list),
	KUNIT_CASE(cut_test_other),
	KUNIT_CASE(cut_test_span),
	KUNIT_CASE(cut_test_span_part),
	{ }
};

static struct kunit_suite cut_suite = {
	.name = "trace_channel_cut",
	.init = chan_kunit_init,
	.exit = chan_kunit_exit,
	.test_cases = cut_cases,
};

kunit_test_suite(cut_suite);
