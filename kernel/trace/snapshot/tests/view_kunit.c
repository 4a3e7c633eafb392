// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of kept snapshots: their number, and the files of their instances.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mnt_idmapping.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "../../ring_buffer/race.h"
#include "../../trace_output.h"
#include "../../tests/snapshots.h"

/* Take a snapshot with one record, @text. */
static void kept_take(struct kunit *test, const char *text)
{
	tfs_set(test, "trace_marker", text);
	tfs_set(test, "snapshot", "1");
}

/* Return the instance of kept snapshot @seq of "kunit", or NULL. */
static struct trace_array *kept_array(unsigned int seq)
{
	char name[24];

	snprintf(name, sizeof(name), "kunit@%u", seq);
	guard(mutex)(&trace_types_lock);
	return trace_array_find(name);
}

/* Expect that only snapshots @from to @to are kept, and that snapshot N has the record "rN". */
static void kept_expect(struct kunit *test, unsigned int from, unsigned int to)
{
	const char *list = tfs_read(test, "snapshots");
	char path[48];
	unsigned int n;

	KUNIT_EXPECT_EQ(test, tfs_count(list, " instance=kunit@"), to + 1 - from);
	for (n = 1; n < to + 3; n++) {
		snprintf(path, sizeof(path), "/instances/kunit@%u/trace", n);
		KUNIT_EXPECT_EQ_MSG(test, tfs_exists(test, path), n >= from && n <= to, "%s", path);
		if (n < from || n > to)
			continue;
		tfs_expect_in(test, path, tfs_text(test, ": r%u\n", n));
		KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, path), ": r"), 1U);
	}
}

static const char * const kept_read_only[] = {
	"trace_pipe", "trace_clock", "trace_options", "saved_cmdlines", "saved_tgids",
	"timestamp_mode", "current_tracer", "tracing_on", "buffer_size_kb",
	"buffer_total_size_kb", "buffer_subbuf_size_kb", "snapshots", "per_cpu/cpu0/trace_pipe",
	"per_cpu/cpu0/trace_pipe_raw", "per_cpu/cpu0/stats", "per_cpu/cpu0/buffer_size_kb",
};

static const char * const kept_absent[] = {
	"trace_marker", "trace_marker_raw", "free_buffer", "set_event", "snapshot",
	"snapshot_keep", "snapshot_allocate", "per_cpu/cpu0/snapshot", "options", "error_log",
	"events/sched",
};

static void kept_open_writes(struct kunit *test)
{
	static const char * const traces[] = { "trace", "per_cpu/cpu0/trace", "events/enable" };
	const char *path;
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kept_read_only); i++) {
		path = tfs_text(test, "/instances/kunit@1/%s", kept_read_only[i]);
		KUNIT_EXPECT_EQ_MSG(test, tfs_write(test, path, "1"), (ssize_t)-EPERM, "%s", path);
		tfs_close(tfs_open(test, path, O_RDONLY | O_NONBLOCK));
	}
	for (i = 0; i < ARRAY_SIZE(kept_absent); i++) {
		path = tfs_text(test, "/instances/kunit@1/%s", kept_absent[i]);
		KUNIT_EXPECT_FALSE_MSG(test, tfs_exists(test, path), "%s", path);
	}
	/* Programs can open these to empty or disable them. That has no effect. */
	for (i = 0; i < ARRAY_SIZE(traces); i++) {
		path = tfs_text(test, "/instances/kunit@1/%s", traces[i]);
		file = tfs_open(test, path, O_WRONLY | O_TRUNC);
		KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "0"), (ssize_t)-EPERM);
		tfs_close(file);
	}
}

/* The files show the instance as it was at the cut. None can be written. */
static void kept_test_files(struct kunit *test)
{
	const char *text, *line;

	tfs_set(test, "snapshot_keep", "3");
	tfs_set(test, "trace_clock", "mono");
	tfs_set(test, "trace_options", "pause-on-trace");
	tfs_set(test, "trace_options", "noirq-info");
	kept_take(test, "r1");
	tfs_set(test, "trace_clock", "local");
	tfs_set(test, "trace_options", "irq-info");
	tfs_set(test, "trace_options", "nopause-on-trace");
	kept_open_writes(test);

	KUNIT_ASSERT_STREQ(test, tfs_read(test, "/instances/kunit@1/tracing_on"), "0\n");
	tfs_expect_in(test, "/instances/kunit@1/trace", ": r1\n");
	tfs_expect_in(test, "/instances/kunit@1/per_cpu/cpu0/trace", ": r1\n");
	tfs_expect_in(test, "/instances/kunit@1/trace_clock", "[mono]");
	text = tfs_read(test, "/instances/kunit@1/trace_options");
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "noirq-info\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "nopause-on-trace\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "nomarkers\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "notrace_printk\n"));
	KUNIT_EXPECT_NULL(test, strstr(text, "nooverwrite\n"));
	tfs_expect(test, "/instances/kunit@1/current_tracer", "nop\n");
	tfs_expect(test, "/instances/kunit@1/events/enable", "0\n");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@1/events/header_page"));
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@1/events/ftrace/print/format"));
	tfs_expect_in(test, "/instances/kunit@1/per_cpu/cpu0/stats", "entries: 1\n");

	/* Its line in the list. */
	text = tfs_read(test, "/instances/kunit@1/snapshots");
	KUNIT_EXPECT_EQ(test, strncmp(text, "1 by=write ", 11), 0);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "\n"), 1U);
	tfs_expect_in(test, "snapshots", text);
	KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, "snapshots"), " by="), 1U);

	/* The sizes are those of the trimmed buffer. */
	line = tfs_text(test, "%zu\n",
			ring_buffer_size(kept_array(1)->array_buffer.buffer, 0) / 1024);
	KUNIT_EXPECT_STRNEQ(test, line, "0\n");
	tfs_expect(test, "/instances/kunit@1/per_cpu/cpu0/buffer_size_kb", line);
	if (num_possible_cpus() == 1) {
		tfs_expect(test, "/instances/kunit@1/buffer_size_kb", line);
		tfs_expect(test, "/instances/kunit@1/buffer_total_size_kb", line);
	}
	tfs_expect_not_in(test, "buffer_size_kb", line);

	/* trace_pipe ends with the snapshot, and each open file of it begins anew. */
	text = tfs_read(test, "/instances/kunit@1/trace_pipe");
	KUNIT_EXPECT_EQ(test, tfs_count(text, ": r1\n"), 1U);
	tfs_expect(test, "/instances/kunit@1/trace_pipe", text);
}

/* Users who cannot enter the directory of the instance cannot enter that of its snapshot. */
static void kept_test_rights(struct kunit *test)
{
	struct iattr attr = {
		.ia_valid	= ATTR_MODE | ATTR_GID | ATTR_FORCE,
		.ia_mode	= S_IFDIR | 0710,
		.ia_gid		= KGIDT_INIT(1234),
	};
	struct trace_array *tr = test->priv;
	struct inode *dir = d_inode(tr->dir), *kept;

	inode_lock(dir);
	KUNIT_EXPECT_EQ(test, notify_change(&nop_mnt_idmap, tr->dir, &attr, NULL), 0);
	inode_unlock(dir);
	tfs_set(test, "snapshot_keep", "1");
	kept_take(test, "r1");
	kept = d_inode(kept_array(1)->dir);
	KUNIT_EXPECT_EQ(test, kept->i_mode, S_IFDIR | 0710);
	KUNIT_EXPECT_EQ(test, __kgid_val(kept->i_gid), 1234U);
	KUNIT_EXPECT_EQ(test, __kuid_val(kept->i_uid), __kuid_val(dir->i_uid));
}

/* The pipes are always ready: there are no new records to wait for. At the end they say so. */
static void kept_test_poll(struct kunit *test)
{
	static const char *const pipes[] = {
		"/instances/kunit@1/trace_pipe", "/instances/kunit@1/per_cpu/cpu0/trace_pipe",
		"/instances/kunit@1/per_cpu/cpu0/trace_pipe_raw", "per_cpu/cpu0/snapshot_raw",
	};
	const __poll_t ready = EPOLLIN | EPOLLRDNORM;
	struct trace_array *tr = test->priv;
	char *page = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int i, reads, not_ready = 0;
	struct file *pipe;

	KUNIT_ASSERT_NOT_NULL(test, page);
	tfs_set(test, "snapshot_keep", "1");
	for (i = 0; i < 3000; i++)
		KUNIT_ASSERT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, 4, "abc"), 0);
	tfs_set(test, "snapshot", "1");
	for (i = 0; i < ARRAY_SIZE(pipes); i++) {
		pipe = tfs_open(test, pipes[i], O_RDONLY);
		reads = 0;
		do {
			not_ready += vfs_poll(pipe, NULL) != ready;
			reads++;
		} while (tfs_read_file(test, pipe, page, PAGE_SIZE) > 0);
		KUNIT_EXPECT_GT(test, reads, 5U);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(pipe, NULL),
				(unsigned int)(ready | EPOLLHUP));
		tfs_close(pipe);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(kept_array(1)->array_buffer.buffer),
				3000UL);
	}
	KUNIT_EXPECT_EQ(test, not_ready, 0U);
}

/* Events that were enabled have a directory. The removal of the snapshot removes it. */
static void kept_test_events(struct kunit *test)
{
	const char *format = "/instances/kunit@2/events/sched/sched_switch/format";
	struct trace_array *tr = test->priv;
	struct file *file;
	char c;

	tfs_set(test, "snapshot_keep", "2");
	kept_take(test, "r1");
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit@1/events/sched"));
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@1/events/ftrace/print/format"));
	/* That does not create the events of the instance that it is of. */
	scoped_guard(mutex, &event_mutex)
		KUNIT_EXPECT_TRUE(test, list_empty(&tr->events));
	if (!tfs_exists(test, "events/sched/sched_switch"))
		kunit_skip(test, "no event is there");
	tfs_set(test, "events/sched/sched_switch/enable", "1");
	tfs_set(test, "events/sched/sched_switch/enable", "0");
	kept_take(test, "r2");
	tfs_expect(test, format, tfs_read(test, "events/sched/sched_switch/format"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit@2/events/sched/enable"));
	file = tfs_open(test, format, O_RDONLY);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(kept_array(2)), 0);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, format));
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, &c, 1), (ssize_t)-ENODEV);
	tfs_close(file);
}

/* The keeper frees the memory of one that a user has removed. */
static void kept_test_rmdir(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long kb;

	tfs_set(test, "snapshot_keep", "2");
	kept_take(test, "r1");
	kept_take(test, "r2");
	kb = s->memory.kb - kept_array(1)->shows->kb;
	KUNIT_EXPECT_EQ(test, trace_array_destroy(kept_array(1)), 0);
	flush_work(&s->keeper.work);
	KUNIT_EXPECT_EQ(test, s->memory.kb, kb);
}

static struct tracer kept_tracers[] = {
	{ .name = "shown", .allow_instances = true },
	{ .name = "global" },
	{ .name = "latency", .allow_instances = true, .use_max_tr = true },
};

/* current_tracer is that of the cut if any instance may have it, and it is no latency tracer. */
static void kept_test_tracer(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct tracer *before = tr->current_trace;
	unsigned int i;

	tfs_set(test, "snapshot_keep", "9");
	for (i = 0; i < ARRAY_SIZE(kept_tracers); i++) {
		tr->current_trace = &kept_tracers[i];
		tracing_snapshot_instance(tr);
		tfs_set(test, "snapshot", "1");
		tr->current_trace = before;
		tfs_expect(test,
			   tfs_text(test, "/instances/kunit@%llu/current_tracer",
				    tr->snapshots->user.seq),
			   i ? "nop\n" : "shown\n");
	}
}

/* The newest snapshots are kept. */
static void kept_test_last(struct kunit *test)
{
	tfs_set(test, "snapshot_keep", "2");
	tfs_expect(test, "snapshot_allocate", "0\n");
	kept_take(test, "r1");
	kept_expect(test, 1, 1);
	kept_take(test, "r2");
	kept_take(test, "r3");
	kept_expect(test, 2, 3);
	tfs_expect_in(test, "snapshot", ": r3\n");
	tfs_set(test, "snapshot_keep", "1");
	kept_expect(test, 3, 3);
	tfs_set(test, "snapshot_keep", "last 3");
	kept_take(test, "r4");
	kept_expect(test, 3, 4);

	/* "snapshot" still shows the newest one, which is then kept again. */
	tfs_set(test, "snapshot_keep", "0");
	kept_expect(test, 1, 0);
	tfs_expect_in(test, "snapshot", ": r4\n");
	tfs_set(test, "snapshot_keep", "first 2");
	kept_expect(test, 4, 4);

	/* The removal of a kept snapshot makes room. */
	kept_take(test, "r5");
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(kept_array(4)), 0);
	kept_expect(test, 5, 5);
	kept_take(test, "r6");
	kept_expect(test, 5, 6);
	tfs_refuse(test, "snapshot", "1", -ENOSPC);
	tfs_expect_in(test, "snapshots", "# taken: 6\n");
}

/* A trigger has a spare buffer even if no more can be kept. Its removal frees that buffer. */
static void kept_test_armed(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	tfs_set(test, "snapshot_keep", "first 1");
	kept_take(test, "r1");
	KUNIT_EXPECT_NULL(test, tr->snapshots->user.spare);
	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(tr), 0);
	tfs_read(test, "snapshots");
	KUNIT_EXPECT_NOT_NULL(test, tr->snapshots->user.spare);
	tracing_disarm_snapshot(tr);
	tfs_read(test, "snapshots");
	KUNIT_EXPECT_NULL(test, tr->snapshots->user.spare);
}

/* An open file still shows a snapshot that is no longer kept. close() frees its memory. */
static void kept_test_open(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long before, both;
	struct file *file;
	char *text;
	ssize_t len;

	text = tfs_zalloc(test, SZ_4K);
	tfs_set(test, "snapshot_keep", "1");
	kept_take(test, "r1");
	before = s->memory.kb;
	file = tfs_open(test, "/instances/kunit@1/trace", O_RDONLY);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(kept_array(1)), -EBUSY);
	kept_expect(test, 1, 1);
	kept_take(test, "r2");
	kept_expect(test, 2, 2);
	both = s->memory.kb;
	KUNIT_EXPECT_GT(test, both, before);
	/* An instance cannot be removed while a file of a kept snapshot is open. */
	trace_array_put(test->priv);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(test->priv), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_by_name("kunit", NULL), test->priv);
	kept_expect(test, 2, 2);

	len = tfs_read_file(test, file, text, SZ_4K - 1);
	KUNIT_EXPECT_GT(test, len, 0L);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, ": r1\n"));
	KUNIT_EXPECT_EQ(test, s->memory.kb, both);
	tfs_close(file);
	tfs_wait(test, READ_ONCE(s->memory.kb) == before);

	/* The same for the snapshot that is still kept. */
	file = tfs_try_open(test, "/instances/kunit@2/stats", O_RDONLY);
	KUNIT_EXPECT_TRUE(test, IS_ERR(file));
	file = tfs_open(test, "/instances/kunit@2/trace", O_RDONLY);
	trace_array_put(test->priv);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(test->priv), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_by_name("kunit", NULL), test->priv);
	tfs_close(file);
	kept_expect(test, 2, 2);
}

/* Keep a snapshot with records of an event, and one of trace_marker. */
static void kept_take_event(struct kunit *test)
{
	if (!tfs_exists(test, "events/sched/sched_switch"))
		kunit_skip(test, "no event is there");
	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "events/sched/sched_switch/enable", "1");
	schedule_timeout_uninterruptible(1);
	tfs_set(test, "events/sched/sched_switch/enable", "0");
	kept_take(test, "r1");
}

/* The records of an event that is removed stay, and have no type. */
static void kept_test_event(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_event_file *file;
	struct trace_snap *snap;
	const char *text;
	int type;

	kept_take_event(test);
	scoped_guard(mutex, &event_mutex) {
		file = find_event_file(tr, "sched", "sched_switch");
		KUNIT_ASSERT_NOT_NULL(test, file);
		type = file->event_call->event.type;
		snap = list_last_entry(&tr->snapshots->keeper.kept, struct trace_snap, node);
		guard(rwsem_write)(&trace_event_sem);
		trace_snapshot_end_event(snap->kept, type);
	}
	text = tfs_read(test, "/instances/kunit@1/trace");
	KUNIT_EXPECT_GT(test, tfs_count(text, tfs_text(test, ": Unknown type %d\n", type)), 0U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, ": sched_switch: "), 0U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, ": r1\n"), 1U);
	KUNIT_EXPECT_FALSE(test, snap_fits(tr->snapshots, snap));
	/* The memory for the note is counted, and freed with the snapshot. */
	tfs_set(test, "snapshot_keep", "0");
	tfs_set(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, tr->snapshots->memory.kb, 0UL);
}

/* Remove events while a snapshot is only open; without @memory to note that, its records go. */
static void kept_leave(struct kunit *test, bool memory)
{
	struct trace_array *tr = test->priv;
	struct trace_snap *snap;
	struct file *file;
	char *text;

	text = tfs_zalloc(test, SZ_4K);
	kept_take_event(test);
	tfs_expect_in(test, "/instances/kunit@1/trace", ": sched_switch: ");
	file = tfs_open(test, "/instances/kunit@1/trace", O_RDONLY);
	kept_take(test, "r2");
	scoped_guard(mutex, &event_mutex) {
		guard(mutex)(&trace_types_lock);
		tfs_fail_nth(!memory);
		trace_snapshot_erase(tr);
		/* The instance of one that is kept has no snapshots itself. */
		snap = list_last_entry(&tr->snapshots->keeper.kept, struct trace_snap, node);
		trace_snapshot_erase(snap->kept);
	}
	KUNIT_EXPECT_TRUE(test, memory || tfs_failed());
	KUNIT_EXPECT_GT(test, tfs_read_file(test, file, text, SZ_4K - 1), 0L);
	KUNIT_EXPECT_EQ(test, !!strstr(text, ": Unknown type "), memory);
	KUNIT_EXPECT_EQ(test, !!strstr(text, ": r1\n"), memory);
	KUNIT_EXPECT_NULL(test, strstr(text, ": sched_switch: "));
	tfs_expect_in(test, "/instances/kunit@2/trace", ": r2\n");
	tfs_close(file);
	kept_expect(test, 2, 2);
}

/* When types get a new meaning, those of a snapshot that is only open have none any more. */
static void kept_test_left(struct kunit *test)
{
	kept_leave(test, true);
}

static void kept_test_left_no_memory(struct kunit *test)
{
	tfs_need_failures(test);
	kept_leave(test, false);
}

/* If an instance of the user has the name already, the kept snapshot gets another name. */
static void kept_test_name(struct kunit *test)
{
	tfs_add(test, "kunit@1", NULL, NULL);
	tfs_add(test, "kunit@1.2", NULL, NULL);
	tfs_set(test, "snapshot_keep", "1");
	kept_take(test, "r1");
	tfs_expect_in(test, "/instances/kunit@1.3/trace", ": r1\n");
	tfs_expect_in(test, "snapshots", " instance=kunit@1.3 ");
}

/* Kept snapshots of the top directory are instances, too: top@N. */
static void kept_test_top(struct kunit *test)
{
	struct trace_array *top = top_trace_array();
	char dir[32];

	tfs_set(test, "/snapshot_keep", "1");
	tfs_set(test, "/trace_marker", "top");
	tfs_set(test, "/snapshot", "1");
	snprintf(dir, sizeof(dir), "/instances/top@%llu", top->snapshots->user.seq);
	tfs_expect_in(test, tfs_text(test, "%s/trace", dir), ": top\n");
	tfs_set(test, "/snapshot_keep", "0");
	tfs_set(test, "/snapshot", "0");
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, dir));
	/* Wait for the keeper: no work is left for the next test. */
	snap_tend(top->snapshots);
}

/* A taker cannot create an instance. The keeper creates it, without any reader. */
static void kept_test_worker(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int n;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tfs_set(test, "snapshot_keep", "2");
	for (n = 1; n <= 4; n++) {
		tracing_snapshot_instance(test->priv);
		KUNIT_ASSERT_EQ(test, s->user.seq, (u64)n);
		tfs_wait(test, kept_array(n));
		tfs_wait(test, READ_ONCE(s->user.spare));
	}
	tfs_wait(test, !kept_array(2));
	KUNIT_EXPECT_NOT_NULL(test, kept_array(3));
	tracing_disarm_snapshot(test->priv);
	KUNIT_EXPECT_FALSE(test, s->pinned);
}

/* For the limit, the oldest kept snapshots are removed, but no open one, and not the newest. */
static void kept_test_limit(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct file *file = NULL;
	unsigned int n, oldest;
	unsigned long one;

	tfs_set(test, "snapshot_keep", "99");
	kept_take(test, "r1");
	file = tfs_open(test, "/instances/kunit@1/trace", O_RDONLY);
	kept_take(test, "r2");
	/* The limit has room for some more. */
	one = list_first_entry(&s->keeper.kept, struct trace_snap, node)->kb;
	snap_kunit_limit(test, s->memory.kb + 4 * one);
	for (n = 3; n < 30; n++) {
		kept_take(test, tfs_text(test, "r%u", n));
		KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
		tfs_expect(test, "snapshot_allocate", "1\n");
		KUNIT_EXPECT_NOT_NULL(test, kept_array(1));
		KUNIT_EXPECT_NOT_NULL(test, kept_array(n));
	}
	/* No more are removed than necessary. */
	for (oldest = 2; oldest < n && !kept_array(oldest); oldest++)
		;
	KUNIT_EXPECT_GT(test, oldest, 10U);
	KUNIT_EXPECT_LT(test, oldest, n - 2);
	KUNIT_EXPECT_LT(test, s->memory.limit_kb - s->memory.kb, one + 4);
	KUNIT_EXPECT_EQ(test, s->keeper.nr, n - oldest + 1);
	tfs_close(file);
}

/* If the limit has no room for a write's snapshot, the fewest and oldest ones are removed. */
static void kept_test_room(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct file *file;
	unsigned long full;
	unsigned int n;

	tfs_set(test, "snapshot_allocate", "1");
	full = s->memory.kb;
	tfs_set(test, "snapshot_keep", "99");
	for (n = 1; n <= 8; n++) {
		kept_take(test, "x");
		if (n == 2)
			file = tfs_open(test, "snapshot", O_RDONLY);
	}
	/* No work is left that would allocate the buffer again. */
	snap_kunit_worker(test->priv);
	flush_work(&s->keeper.work);
	tfs_set(test, "snapshot", "0");
	snap_kunit_limit(test, full + s->memory.kb / 2);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_LE(test, s->memory.kb, s->memory.limit_kb);
	KUNIT_EXPECT_NULL(test, kept_array(1));
	/* Its removal would free no memory: a reader holds it. */
	KUNIT_EXPECT_NOT_NULL(test, kept_array(2));
	KUNIT_EXPECT_NULL(test, kept_array(3));
	KUNIT_EXPECT_NOT_NULL(test, kept_array(7));
	KUNIT_EXPECT_NOT_NULL(test, kept_array(8));
	KUNIT_EXPECT_NOT_NULL(test, kept_array(9));
	tfs_close(file);
}

/* An open snapshot that is no longer kept is not kept again. */
static void kept_test_again(struct kunit *test)
{
	struct file *file;

	tfs_set(test, "snapshot_keep", "2");
	kept_take(test, "r1");
	file = tfs_open(test, "/instances/kunit@1/trace", O_RDONLY);
	tfs_set(test, "snapshot_keep", "0");
	KUNIT_EXPECT_NULL(test, kept_array(1));
	tfs_set(test, "snapshot_keep", "2");
	KUNIT_EXPECT_NULL(test, kept_array(1));
	KUNIT_EXPECT_EQ(test, snap_kunit(test)->keeper.nr, 0U);
	tfs_close(file);
	kept_take(test, "r2");
	kept_expect(test, 2, 2);
}

static struct trace_array *kept_taken;

static void kept_take_hook(enum rb_race point, const char *name)
{
	struct trace_array *tr = kept_taken;

	kept_taken = NULL;
	if (tr)
		tracing_snapshot_instance(tr);
}

/* A snapshot counts as kept before the keeper has created its instance. */
static void kept_test_race(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tfs_set(test, "trace_marker", "r1");
	tracing_snapshot_instance(test->priv);
	kept_taken = test->priv;
	rb_race_hook = kept_take_hook;
	snap_keep_set(snap_kunit(test), (struct snap_keep){ .nr = 1, .first = true });
	rb_race_hook = NULL;
	KUNIT_EXPECT_NULL(test, kept_taken);
	KUNIT_EXPECT_EQ(test, snap_kunit(test)->user.seq, 1ULL);
	tfs_expect_in(test, "snapshots", "enough are kept: 1\n");
	kept_expect(test, 1, 1);
}

/* The removal of an instance removes its kept snapshots, and one that is about to be kept. */
static void kept_test_removed(struct kunit *test)
{
	struct trace_array *other = trace_array_get_by_name("kunit-other", NULL);
	struct file *file;

	KUNIT_ASSERT_NOT_NULL(test, other);
	tfs_set(test, "/instances/kunit-other/snapshot_keep", "5");
	tfs_set(test, "/instances/kunit-other/snapshot", "1");
	tfs_set(test, "/instances/kunit-other/snapshot", "1");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit-other@2"));
	file = tfs_open(test, "/instances/kunit-other@1/trace", O_RDONLY);
	tfs_set(test, "/instances/kunit-other/snapshot_keep", "1");
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit-other@1"));
	/* The keeper does not forget the first one, which is closed only now. */
	snap_kunit_stop_keeper(other->snapshots);
	tfs_close(file);
	/* The keeper has not created an instance for this one, and never does. */
	tracing_snapshot_instance(other);
	KUNIT_EXPECT_FALSE(test, llist_empty(&other->snapshots->keeper.fresh));
	trace_array_put(other);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(other), 0);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit-other@1"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit-other@2"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit-other@3"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit-other"));
}

/* A snapshot stays readable if the memory for its instance is missing. The failure is counted. */
static void kept_test_no_memory(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int n, unkept = 0;
	bool failed = true;

	tfs_need_failures(test);
	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "buffer_size_kb", "64");
	/* Only this task keeps snapshots, not the keeper. */
	snap_kunit_stop_keeper(s);
	for (n = 1; failed && n < 2000; n++) {
		snap_tend(s);
		KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(test->priv), 0);
		tracing_snapshot_instance(test->priv);
		tfs_fail_nth(n);
		snap_tend(s);
		failed = tfs_failed();
		tracing_disarm_snapshot(test->priv);
		unkept = atomic_long_read(&s->count.unkept);
	}
	enable_work(&s->keeper.work);
	KUNIT_EXPECT_FALSE(test, failed);
	KUNIT_EXPECT_GT(test, unkept, 20U);
}

static struct kunit_case kept_cases[] = {
	KUNIT_CASE(kept_test_no_memory),
	KUNIT_CASE(kept_test_files),
	KUNIT_CASE(kept_test_rights),
	KUNIT_CASE(kept_test_poll),
	KUNIT_CASE(kept_test_events),
	KUNIT_CASE(kept_test_tracer),
	KUNIT_CASE(kept_test_last),
	KUNIT_CASE(kept_test_armed),
	KUNIT_CASE(kept_test_open),
	KUNIT_CASE(kept_test_rmdir),
	KUNIT_CASE(kept_test_event),
	KUNIT_CASE(kept_test_left),
	KUNIT_CASE(kept_test_left_no_memory),
	KUNIT_CASE(kept_test_name),
	KUNIT_CASE(kept_test_top),
	KUNIT_CASE(kept_test_worker),
	KUNIT_CASE(kept_test_limit),
	KUNIT_CASE(kept_test_room),
	KUNIT_CASE(kept_test_again),
	KUNIT_CASE(kept_test_race),
	KUNIT_CASE(kept_test_removed),
	{ }
};

static struct kunit_suite kept_suite = {
	.name = "trace_snapshot_kept",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = kept_cases,
};

kunit_test_suites(&kept_suite);
