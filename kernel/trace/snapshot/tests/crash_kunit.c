// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of snapshot_on: snapshots of a panic, an oops and a warning.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/mount.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "../../tests/panic.h"
#include "../../tests/snapshots.h"

static int crash_init(struct kunit *test)
{
	tfs_init(test);
	KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	return 0;
}

static void crash_exit(struct kunit *test)
{
	xchg(&snap_crash_on, 0);
	tfs_exit(test);
}

static struct vfsmount *crash_mnt;

static struct file *crash_open(struct kunit *test, int flags)
{
	struct file *file;

	if (!crash_mnt) {
		struct file_system_type *type = get_fs_type("proc");

		KUNIT_ASSERT_NOT_NULL(test, type);
		crash_mnt = kern_mount(type);
		KUNIT_ASSERT_FALSE(test, IS_ERR(crash_mnt));
	}
	file = file_open_root_mnt(crash_mnt, "sys/kernel/snapshot_on", flags, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	return file;
}

/* Write to snapshot_on. Return: as write(2). */
static ssize_t crash_write(struct kunit *test, const char *text)
{
	struct file *file = crash_open(test, O_WRONLY);
	ssize_t ret;

	ret = tfs_write_file(test, file, text);
	tfs_close(file);
	return ret;
}

static void crash_expect(struct kunit *test, const char *text)
{
	struct file *file = crash_open(test, O_RDONLY);
	char buf[64] = "";

	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, buf, sizeof(buf) - 1),
			(ssize_t)strlen(text));
	tfs_close(file);
	KUNIT_EXPECT_STREQ(test, buf, text);
}

static void crash_set(struct kunit *test, const char *text, const char *shown)
{
	KUNIT_EXPECT_EQ(test, crash_write(test, text), (ssize_t)strlen(text));
	crash_expect(test, shown);
}

/* A read shows the written value. A write of an invalid value fails and changes nothing. */
static void crash_test_file(struct kunit *test)
{
	static const char * const bad[] = {
		"x", "panics", "panic,x", "write", "none,panic,oops,warn,none,none,x",
		"\n", " ", " \t\n", ",", "oops warn x", "oops\nx",
	};
	const char *fits = "panic,oops,warn,none,none,,,,,,";
	unsigned int i;

	if (!IS_ENABLED(CONFIG_PROC_SYSCTL))
		kunit_skip(test, "there is no /proc/sys");
	crash_expect(test, "none\n");
	crash_set(test, "oops\n", "oops\n");
	crash_set(test, "warn panic\n", "panic,warn\n");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ_MSG(test, crash_write(test, bad[i]), (ssize_t)-EINVAL, bad[i]);
		crash_expect(test, "panic,warn\n");
	}
	crash_set(test, " oops\n", "oops\n");
	/* The longest valid text, then one more character. */
	KUNIT_EXPECT_EQ(test, strlen(fits), (size_t)31);
	crash_set(test, fits, "panic,oops,warn\n");
	KUNIT_EXPECT_EQ(test, crash_write(test, tfs_text(test, "%s,", fits)), (ssize_t)-EINVAL);
	crash_set(test, "none", "none\n");
	/* A read parses nothing: it also shows what nobody can write. */
	xchg(&snap_crash_on, BIT(SNAP_BY_BOOT));
	crash_expect(test, "boot\n");
}

/* A text that means nothing changes nothing, and its place is known. */
static void crash_test_parse(struct kunit *test)
{
	static const struct {
		const char	*text;
		unsigned long	on;
	} good[] = {
		{ "none", 0 }, { "panic", BIT(SNAP_BY_PANIC) },
		{ "oops,warn", BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_WARN) },
		{ "warn oops\n", BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_WARN) },
	};
	static const char * const bad[] = {
		"^1", "^panics", "panic,^x", "^Oops", "^write", "^", " , \t^", "warn  ^warns",
	};
	unsigned long on;
	unsigned int i;
	char text[32];
	size_t at;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		strscpy(text, good[i].text, sizeof(text));
		KUNIT_EXPECT_PTR_EQ_MSG(test, snap_crash_parse(text, &on), NULL, good[i].text);
		KUNIT_EXPECT_EQ_MSG(test, on, good[i].on, good[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		/* Without the mark of the place that is wrong. */
		at = strcspn(bad[i], "^");
		snprintf(text, sizeof(text), "%.*s%s", (int)at, bad[i], bad[i] + at + 1);
		on = 77;
		KUNIT_EXPECT_PTR_EQ_MSG(test, snap_crash_parse(text, &on), text + at, "%s", bad[i]);
		KUNIT_EXPECT_EQ_MSG(test, on, 77UL, bad[i]);
	}
}

/* snapshot_on= on the command line sets the same value, and ignores an invalid one. */
static void __init crash_test_option(struct kunit *test)
{
	tfs_option(test, "snapshot_on=", "panic,warn");
	tfs_option(test, "snapshot_on=", "oops,x");
	KUNIT_EXPECT_EQ(test, xchg(&snap_crash_on, 0), BIT(SNAP_BY_PANIC) | BIT(SNAP_BY_WARN));
}

/* Expect @nr snapshots, and @by as the requester of the last one. */
static void crash_taken(struct kunit *test, u64 nr, const char *by)
{
	KUNIT_EXPECT_EQ(test, snap_kunit(test)->user.seq, nr);
	tfs_expect_in(test, "snapshots", tfs_text(test, "%llu by=%s ", nr, by));
}

static void crash_oops(enum die_val event)
{
	notify_die(event, "test", NULL, 0, 0, 0);
}

/* An oops, a panic and a warning take a snapshot if snapshot_on has them. Nothing else does. */
static void crash_test_takes(struct kunit *test)
{
	xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	crash_oops(DIE_OOPS);
	kunit_panic(test);
	trace_snapshot_warn();
	crash_taken(test, 1, "warn");

	/* The oops took no snapshot, so the panic takes one. */
	xchg(&snap_crash_on, BIT(SNAP_BY_PANIC));
	crash_oops(DIE_OOPS);
	trace_snapshot_warn();
	kunit_panic(test);
	crash_taken(test, 2, "panic");

	xchg(&snap_crash_on, BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_PANIC));
	crash_oops(DIE_OOPS + 1);
	tfs_expect_not_in(test, "snapshots", "3 by");
	kunit_panic(test);
	crash_taken(test, 3, "panic");
	crash_oops(DIE_OOPS);
	crash_taken(test, 4, "oops");
	/* The panic of the same crash takes no second snapshot. */
	kunit_panic(test);
	crash_taken(test, 4, "oops");
	/* The panic of a task that reuses the same task_struct takes one. */
	current->start_time++;
	kunit_panic(test);
	current->start_time--;
	crash_taken(test, 5, "panic");
}

/* An oops that was refused a buffer does not stand for the panic that follows. */
static void crash_test_refused(struct kunit *test)
{
	struct array_buffer *held;

	xchg(&snap_crash_on, BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_PANIC));
	kunit_panic(test);
	crash_taken(test, 1, "panic");
	/* There is no room for the buffer that a reader leaves to the next crash. */
	snap_kunit(test)->memory.limit_kb = 1;
	held = trace_snapshot_get(test->priv, false);
	KUNIT_ASSERT_NOT_NULL(test, held);
	KUNIT_ASSERT_NULL(test, snap_kunit(test)->user.spare);
	crash_oops(DIE_OOPS);
	crash_taken(test, 1, "panic");
	trace_snapshot_put(held);
	kunit_panic(test);
	crash_taken(test, 2, "panic");
}

/* The panic takes what the oops did not: of each instance the first one counts. */
static void crash_test_each(struct kunit *test)
{
	struct trace_array *other = tfs_add(test, "kunit-late", NULL, NULL);

	xchg(&snap_crash_on, BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_PANIC));
	crash_oops(DIE_OOPS);
	crash_taken(test, 1, "oops");
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(other), 0);
	kunit_panic(test);
	crash_taken(test, 1, "oops");
	KUNIT_EXPECT_EQ(test, other->snapshots->user.seq, 1ULL);
}

/* A program that reads the newest snapshot is not in the way of a crash. */
static void crash_test_read(struct kunit *test)
{
	struct file *file;

	xchg(&snap_crash_on, BIT(SNAP_BY_PANIC));
	kunit_panic(test);
	crash_taken(test, 1, "panic");
	file = tfs_open(test, "snapshot", O_RDONLY);
	kunit_panic(test);
	tfs_close(file);
	crash_taken(test, 2, "panic");
}

static DECLARE_COMPLETION(crash_done);

static int crash_other_task(void *test)
{
	kunit_panic(test);
	complete(&crash_done);
	return 0;
}

/* The panic of another task takes a second snapshot. */
static void crash_test_task(struct kunit *test)
{
	struct task_struct *task;

	xchg(&snap_crash_on, BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_PANIC));
	crash_oops(DIE_OOPS);
	crash_taken(test, 1, "oops");
	task = kthread_create(crash_other_task, test, "kunit-panic");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	/* Both tasks have the same start time. */
	task->start_time = current->start_time;
	wake_up_process(task);
	/* A thread that is stopped before it first runs never calls its function. */
	wait_for_completion(&crash_done);
	KUNIT_EXPECT_EQ(test, kthread_stop_put(task), 0);
	crash_taken(test, 2, "panic");
}

/* A warning takes one of each trace array with a spare buffer, or a snapshot to replace. */
static void crash_test_arrays(struct kunit *test)
{
	struct trace_array *none = tfs_add(test, "kunit-none", NULL, NULL);
	struct trace_array *more = tfs_add(test, "kunit-more", NULL, NULL);

	KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(more), 0);
	xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	trace_snapshot_warn();
	KUNIT_EXPECT_EQ(test, more->snapshots->user.seq, 1ULL);
	KUNIT_EXPECT_EQ(test, none->snapshots->user.seq, 0ULL);
	tfs_expect_in(test, "/instances/kunit-none/snapshots",
		      "# refused, no buffer was ready: 0\n");
	/* There is no spare buffer, only the last snapshot. */
	KUNIT_EXPECT_NULL(test, more->snapshots->user.spare);
	trace_snapshot_warn();
	KUNIT_EXPECT_EQ(test, more->snapshots->user.seq, 2ULL);
	crash_taken(test, 2, "warn");
	tfs_remove(test, more);
	trace_snapshot_warn();
	crash_taken(test, 3, "warn");
}

static struct kunit_case crash_cases[] = {
	KUNIT_CASE(crash_test_file),
	KUNIT_CASE(crash_test_parse),
	KUNIT_CASE(crash_test_takes),
	KUNIT_CASE(crash_test_refused),
	KUNIT_CASE(crash_test_read),
	KUNIT_CASE(crash_test_each),
	KUNIT_CASE(crash_test_task),
	KUNIT_CASE(crash_test_arrays),
	{ }
};

static struct kunit_suite crash_suite = {
	.name = "trace_snapshot_crash",
	.init = crash_init,
	.exit = crash_exit,
	.test_cases = crash_cases,
};

kunit_test_suites(&crash_suite);

static struct kunit_case __refdata crash_boot_cases[] = {
	KUNIT_CASE(crash_test_option),
	{ }
};

static struct kunit_suite crash_boot_suite = {
	.name = "trace_snapshot_crash_option",
	.init = crash_init,
	.exit = crash_exit,
	.test_cases = crash_boot_cases,
};

kunit_test_init_section_suites(&crash_boot_suite);
