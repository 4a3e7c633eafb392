// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of instances: create, find, hold and remove them.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mnt_idmapping.h>
#include <linux/namei.h>
#include <linux/refcount.h>
#include <linux/string.h>
#include <linux/trace.h>

#include "../internal.h"
#include "../../tests/snapshots.h"

#define CREATE_NAME	"kunit_new"
#define CREATE_DIR	"/instances/" CREATE_NAME

static struct trace_array *create_find(const char *name)
{
	guard(mutex)(&trace_types_lock);
	return trace_array_find(name);
}

static struct trace_array *create_spec(const struct instance_spec *spec)
{
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	return instance_create(spec);
}

/* Create an instance that can be removed at once. */
static struct trace_array *create_new(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name(CREATE_NAME, NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	trace_array_put(tr);
	return tr;
}

/* The same instance for each caller; it can be removed when all have released it. */
static void create_test_hold(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name(CREATE_NAME, NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, CREATE_DIR "/trace"));
	/* That of a tracer */
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, CREATE_DIR "/options/test_nop_accept"));
	/* Its line is freed with it. */
	tfs_set(test, CREATE_DIR "/stop_on", "panic");
	KUNIT_EXPECT_PTR_EQ(test, create_find(CREATE_NAME), tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_by_name(CREATE_NAME, NULL), tr);
	KUNIT_EXPECT_PTR_EQ(test, trace_array_find_get(CREATE_NAME), tr);
	KUNIT_EXPECT_EQ(test, trace_array_get(tr), 0);
	KUNIT_EXPECT_EQ(test, tr->ref, 5);
	while (tr->ref > 1) {
		KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
		trace_array_put(tr);
	}
	trace_array_put(NULL);
	KUNIT_EXPECT_PTR_EQ(test, create_find(CREATE_NAME), tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_NULL(test, create_find(CREATE_NAME));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, CREATE_DIR));

	/* The pointer is stale. */
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	KUNIT_EXPECT_NULL(test, trace_array_find_get(CREATE_NAME));
	KUNIT_EXPECT_EQ(test, trace_array_destroy(NULL), -EINVAL);
}

/* Files of all kinds: by the objects of their inodes, and by the code that creates them */
static const char * const create_kinds[] = {
	"trace", "trace_marker", "channels", "error_log", "set_event", "stop_on",
	"saved_cmdlines", "saved_tgids",
	"per_cpu/cpu0/trace_pipe_raw", "per_cpu/cpu0/stats",
	"options/overwrite", "options/test_nop_accept",
	"snapshot", "snapshots", "per_cpu/cpu0/snapshot",
	"events/enable", "events/header_page", "events/sched/enable", "events/sched/filter",
	"events/sched/sched_switch/enable", "events/sched/sched_switch/filter",
	"events/sched/sched_switch/trigger", "events/sched/sched_switch/format",
#ifdef CONFIG_PERF_EVENTS
	"events/sched/sched_switch/id",
#endif
};

/* Open a file of an O_PATH descriptor, as open() of /proc/self/fd/N does. */
static long create_reopen(struct file *path)
{
	struct file *file = dentry_open(&path->f_path, O_RDONLY, current_cred());

	if (!IS_ERR(file))
		tfs_close(file);
	return PTR_ERR_OR_ZERO(file);
}

/*
 * No file of an instance that was removed opens, nor as one of another instance, which may have
 * got the memory of the first one.
 */
static void create_test_pinned(struct kunit *test)
{
	struct file *paths[ARRAY_SIZE(create_kinds)];
	struct trace_array *tr = create_new(test), *next;
	const char *name;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, refcount_read(&tr->pins), 2U);
	for (i = 0; i < ARRAY_SIZE(create_kinds); i++) {
		name = tfs_text(test, CREATE_DIR "/%s", create_kinds[i]);
		paths[i] = tfs_open(test, name, O_PATH);
	}
	/* They do not keep it from being removed. */
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	next = create_new(test);
	KUNIT_EXPECT_PTR_NE(test, next, tr);
	for (i = 0; i < ARRAY_SIZE(create_kinds); i++) {
		KUNIT_EXPECT_EQ(test, refcount_read(&tr->pins), 1U);
		KUNIT_EXPECT_EQ_MSG(test, create_reopen(paths[i]), (long)-ENODEV, "%s",
				    create_kinds[i]);
		tfs_close(paths[i]);
	}
	/* That was the last one: the check for memory that is not freed looks for it. */
	KUNIT_EXPECT_EQ(test, trace_array_destroy(next), 0);
}

/* Nor does one of a kept snapshot, which no function for modules finds. */
static void create_test_kept(struct kunit *test)
{
	static const char * const kinds[] = {
		"trace", "trace.dat", "channels", "per_cpu/cpu0/stats", "events/enable",
		"events/ftrace/print/format",
	};
	struct trace_array *tr = test->priv, *kept;
	struct file *paths[ARRAY_SIZE(kinds)];
	const char *name;
	unsigned int i;

	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "snapshot", "1");
	snap_tend(tr->snapshots);
	kept = create_find("kunit@1");
	KUNIT_ASSERT_NOT_NULL(test, kept);
	KUNIT_EXPECT_NULL(test, trace_array_get_by_name("kunit@1", NULL));
	KUNIT_EXPECT_NULL(test, trace_array_find_get("kunit@1"));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		name = tfs_text(test, "/instances/kunit@1/%s", kinds[i]);
		paths[i] = tfs_open(test, name, O_PATH);
	}
	tfs_set(test, "snapshot_keep", "0");
	snap_tend(tr->snapshots);
	KUNIT_EXPECT_NULL(test, create_find("kunit@1"));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		KUNIT_EXPECT_EQ_MSG(test, create_reopen(paths[i]), (long)-ENODEV, "%s", kinds[i]);
		tfs_close(paths[i]);
	}
}

/* An open file holds its instance; a pipe is counted by itself, too. */
static void create_test_files(struct kunit *test)
{
	struct trace_array *tr = create_new(test);
	struct file *file;

	file = tfs_open(test, CREATE_DIR "/trace", O_RDONLY);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	tfs_close(file);
	tr->trace_ref++;
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	tr->trace_ref--;
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

static void create_test_names(struct kunit *test)
{
	static const char * const bad[] = { "", ".", "..", "a/b", "/", "kunit/" };
	char name[NAME_MAX + 2];
	struct instance_spec spec = { .name = name };
	struct trace_array *tr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		strscpy(name, bad[i]);
		KUNIT_EXPECT_NULL_MSG(test, trace_array_get_by_name(name, NULL), "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(create_spec(&spec)), (long)-EINVAL, "%s", name);
		KUNIT_EXPECT_NULL_MSG(test, create_find(name), "%s", name);
	}
	memset(name, 'k', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	KUNIT_EXPECT_EQ(test, PTR_ERR(create_spec(&spec)), (long)-EINVAL);
	name[NAME_MAX] = '\0';
	tr = create_spec(&spec);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_EXPECT_EQ(test, PTR_ERR(create_spec(&spec)), (long)-EEXIST);
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	/* One of the first characters of another name. */
	KUNIT_EXPECT_NULL(test, create_find("kuni"));
	KUNIT_EXPECT_NULL(test, create_find("kunits"));
}

/* An instance may have the events of some systems only. */
static void create_test_systems(struct kunit *test)
{
	char systems[] = "sched,ftrace";
	struct trace_array *tr = tfs_add(test, CREATE_NAME, systems, NULL);

	memset(systems, 'x', sizeof(systems) - 1);
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, CREATE_DIR "/events/sched/sched_switch"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, CREATE_DIR "/events/kmem"));
	KUNIT_EXPECT_STREQ(test, tr->system_names, "sched,ftrace");
	/* It has them already. */
	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_by_name(CREATE_NAME, "kmem"), tr);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, CREATE_DIR "/events/kmem"));
	trace_array_put(tr);
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "events/kmem/kmalloc"));
}

/* It takes the flags of the top directory, but for those that each has for itself. */
static void create_test_flags(struct kunit *test)
{
	const unsigned long own = INSTANCE_OWN_FLAGS;
	struct trace_array *top = top_trace_array(), *tr;
	unsigned long flags = top->trace_flags;

	top->trace_flags = (flags ^ TRACE_ITER(OVERWRITE)) | own;
	tr = tfs_add(test, CREATE_NAME, NULL, NULL);
	top->trace_flags = flags;
	KUNIT_EXPECT_EQ(test, tr->trace_flags, (flags ^ TRACE_ITER(OVERWRITE)) & ~own);
}

/* If an allocation fails, nothing is left of the instance. */
static void create_test_memory(struct kunit *test)
{
	struct trace_array *tr = NULL;
	bool failed = true;
	unsigned int n;

	tfs_need_failures(test);
	for (n = 1; failed; n += 1 + n / 40) {
		tfs_fail_nth(n);
		tr = trace_array_get_by_name(CREATE_NAME, "sched");
		failed = tfs_failed();
		if (tr && failed) {
			/* Some can be done without. */
			trace_array_put(tr);
			KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
		}
		if (tr)
			continue;
		KUNIT_EXPECT_NULL(test, create_find(CREATE_NAME));
		KUNIT_ASSERT_FALSE_MSG(test, tfs_exists(test, CREATE_DIR), "%u", n);
	}
	KUNIT_EXPECT_GT(test, n, 20U);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

struct create_names {
	struct dir_context	ctx;
	unsigned int		nr;
};

static bool create_count(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino,
			 unsigned int type)
{
	container_of(ctx, struct create_names, ctx)->nr++;
	return true;
}

/* How many names has a directory, with . and ..? 0 if it cannot be opened. */
static unsigned int create_names(struct kunit *test, const char *path)
{
	struct create_names names = { .ctx.actor = create_count };
	struct file *file = tfs_try_open(test, path, O_RDONLY | O_DIRECTORY);

	if (!IS_ERR(file))
		KUNIT_EXPECT_EQ(test, iterate_dir(file, &names.ctx), 0);
	tfs_close(file);
	return names.nr;
}

static void create_chmod(struct kunit *test, const char *path, umode_t mode)
{
	struct file *file = tfs_open(test, path, O_PATH);
	struct dentry *dentry = file_dentry(file);
	struct iattr attr = { .ia_valid = ATTR_MODE | ATTR_FORCE, .ia_mode = S_IFREG | mode };

	inode_lock(d_inode(dentry));
	KUNIT_EXPECT_EQ(test, notify_change(&nop_mnt_idmap, dentry, &attr, NULL), 0);
	inode_unlock(d_inode(dentry));
	tfs_close(file);
}

static umode_t create_mode(struct kunit *test, const char *path)
{
	struct file *file = tfs_open(test, path, O_PATH);
	umode_t mode = file_inode(file)->i_mode;

	tfs_close(file);
	return mode;
}

/* The files of a CPU are created when they are looked for, and stay. */
static void create_test_cpus(struct kunit *test)
{
	struct file *cpus = tfs_open(test, "per_cpu", O_PATH), *late;
	struct file *cpu0;

	KUNIT_EXPECT_TRUE(test, simple_empty(file_dentry(cpus)));
	KUNIT_EXPECT_EQ(test, file_inode(cpus)->i_nlink, 2 + num_possible_cpus());
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "per_cpu/cpu"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "per_cpu/cpu00"));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, tfs_text(test, "per_cpu/cpu%u", nr_cpu_ids)));
	KUNIT_EXPECT_TRUE(test, simple_empty(file_dentry(cpus)));
	cpu0 = tfs_open(test, "per_cpu/cpu0", O_PATH);
	KUNIT_EXPECT_FALSE(test, simple_empty(file_dentry(cpus)));
	KUNIT_EXPECT_EQ(test, file_inode(cpu0)->i_nlink, 2U);
	KUNIT_EXPECT_TRUE(test, simple_empty(file_dentry(cpu0)));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "per_cpu/cpu0/buffer_meta"));

	KUNIT_EXPECT_EQ(test, create_mode(test, "per_cpu/cpu0"), S_IFDIR | 0750);
	KUNIT_EXPECT_EQ(test, create_mode(test, "per_cpu/cpu0/trace"), S_IFREG | 0640);
	KUNIT_EXPECT_EQ(test, create_mode(test, "per_cpu/cpu0/snapshot_raw"), S_IFREG | 0440);
	create_chmod(test, "per_cpu/cpu0/stats", 0444);
	KUNIT_EXPECT_EQ(test, create_mode(test, "per_cpu/cpu0/stats"), S_IFREG | 0444);

	/* All have a name for a reader, once. */
	KUNIT_EXPECT_EQ(test, create_names(test, "per_cpu/cpu0"), 2U + 7);
	KUNIT_EXPECT_EQ(test, create_names(test, "per_cpu"), 2 + num_possible_cpus());
	KUNIT_EXPECT_EQ(test, create_mode(test, "per_cpu/cpu0/stats"), S_IFREG | 0444);
	tfs_close(cpu0);
	tfs_close(cpus);

	/* None is created in a directory that was removed. */
	create_new(test);
	cpus = tfs_open(test, CREATE_DIR "/per_cpu", O_PATH);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(create_find(CREATE_NAME)), 0);
	late = file_open_root(&cpus->f_path, "cpu0", O_PATH, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(late), (long)-ENOENT);
	late = dentry_open(&cpus->f_path, O_RDONLY, current_cred());
	KUNIT_EXPECT_FALSE(test, IS_ERR(late));
	KUNIT_EXPECT_TRUE(test, simple_empty(file_dentry(cpus)));
	tfs_close(late);
	tfs_close(cpus);
}

static bool create_has_events(struct trace_array *tr)
{
	guard(mutex)(&event_mutex);
	return !list_empty(&tr->events);
}

/* Events are created when one is looked for or enabled, and not by markers. */
static void create_test_events(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct path path = {};
	struct file *dir;

	tfs_mark(test, 1);
	tfs_expect(test, "set_event", "");
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	KUNIT_EXPECT_FALSE(test, create_has_events(tr));
	KUNIT_EXPECT_NULL(test, tr->trace_marker_file);
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "events/sched/sched_switch/trigger"));
	KUNIT_EXPECT_TRUE(test, create_has_events(tr));
	KUNIT_EXPECT_PTR_EQ(test, tr->trace_marker_file, tfs_marker_event(test));

	tr = create_new(test);
	tfs_refuse(test, CREATE_DIR "/set_event", "sched:no_such_event", -EINVAL);
	tfs_set(test, CREATE_DIR "/set_event", "sched:sched_switch");
	tfs_expect(test, CREATE_DIR "/events/sched/sched_switch/enable", "1\n");
	tfs_expect(test, CREATE_DIR "/events/sched/enable", "X\n");
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);

	/* One that never had any */
	tr = create_new(test);
	tfs_set(test, CREATE_DIR "/set_event_pid", "1");
	KUNIT_EXPECT_FALSE(test, create_has_events(tr));
	/* A walk that may not cross a mount reaches them as well, as by openat2(2). */
	dir = tfs_open(test, CREATE_DIR, O_PATH);
	KUNIT_EXPECT_EQ(test, vfs_path_lookup(dir->f_path.dentry, dir->f_path.mnt,
					      "events/sched/enable", LOOKUP_NO_XDEV, &path), 0);
	path_put(&path);
	tfs_close(dir);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

/* Events that are created later are filtered by the PIDs of before, even if all have ended. */
static void create_test_pids(struct kunit *test)
{
	static const char * const names[] = { "set_event_pid", "set_event_notrace_pid" };
	struct trace_pid_list *pids;
	struct trace_event_file *file;
	struct trace_array *tr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		tr = create_new(test);
		tfs_set(test, tfs_text(test, CREATE_DIR "/%s", names[i]), "1");
		scoped_guard(mutex, &event_mutex) {
			pids = rcu_dereference_protected(i ? tr->filtered_no_pids :
							     tr->filtered_pids, true);
			KUNIT_EXPECT_EQ(test, trace_pid_list_clear(pids, 1), 0);
			file = find_event_file(tr, "sched", "sched_switch");
			KUNIT_EXPECT_NOT_NULL(test, file);
			if (file)
				KUNIT_EXPECT_TRUE(test, file->flags & EVENT_FILE_FL_PID_FILTER);
		}
		KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	}
}

/* If an allocation fails, so does the lookup, and the next one tries again. */
static void create_test_lookup(struct kunit *test)
{
	static const char * const paths[] = {
		"events/sched/sched_switch/format", "per_cpu/cpu0/trace_pipe_raw", "per_cpu",
	};
	struct trace_array *tr;
	unsigned int i, n;
	const char *path;
	bool failed, is_there;

	tfs_need_failures(test);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		path = tfs_text(test, CREATE_DIR "/%s", paths[i]);
		for (n = 1, failed = true; failed; n += 1 + n / 40) {
			tr = create_new(test);
			tfs_fail_nth(n);
			is_there = i == 2 ? create_names(test, path) : tfs_exists(test, path);
			failed = tfs_failed();
			KUNIT_EXPECT_TRUE_MSG(test, is_there || failed, "%s", path);
			KUNIT_EXPECT_TRUE_MSG(test, tfs_exists(test, path), "%s", path);
			if (i == 2)
				KUNIT_EXPECT_EQ(test, create_names(test, path),
						2 + num_possible_cpus());
			KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
		}
		KUNIT_EXPECT_GT_MSG(test, n, 3U, "%s", path);
	}
}

/* A removal ends events, triggers, PID lists and the options that are owned elsewhere. */
static void create_test_remove(struct kunit *test)
{
	struct trace_array *tr = create_new(test);

	tfs_set(test, CREATE_DIR "/events/sched/enable", "1");
	tfs_set(test, CREATE_DIR "/events/sched/sched_switch/trigger", "traceoff:1");
	tfs_set(test, CREATE_DIR "/set_event_pid", "1");
	tfs_set(test, CREATE_DIR "/options/event-fork", "1");
	tfs_set(test, CREATE_DIR "/options/trace_printk_dest", "1");
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, CREATE_DIR));
	/* trace_printk() goes to the top directory again. */
	KUNIT_EXPECT_TRUE(test, top_trace_array()->trace_flags & TRACE_ITER(TRACE_PRINTK));
}

/* The reasons of mkdir and rmdir, in error_log of the top directory. */
static void create_test_report(struct kunit *test)
{
	static const struct {
		int		err;
		const char	*why;
	} reasons[] = {
		{ -EEXIST, "An instance of this name exists" },
		{ -EINVAL, "Invalid name, expected 1 to 255 characters without '/'" },
		{ -ENOMEM, "Not enough memory" },
	};
	static const char piped[] =
		": trace_pipe or trace_pipe_raw is open: close it\n"
		"  Command: rmdir kunit: 1 open files or references, 1 of trace_pipe or";
	struct trace_array *tr = test->priv;
	struct instance_busy busy;
	const char *line;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		tfs_empty(test, "/error_log");
		scoped_guard(mutex, &trace_types_lock)
			instance_report_mkdir("kunit_x", reasons[i].err);
		line = tfs_text(test, "] instances: error: %s\n  Command: mkdir kunit_x\n",
				reasons[i].why);
		tfs_expect_in(test, "/error_log", line);
	}
	tfs_empty(test, "/error_log");
	tr->trace_ref++;
	scoped_guard(mutex, &trace_types_lock)
		instance_note_busy(tr, &busy);
	instance_report_busy("kunit", &busy);
	tr->trace_ref--;
	tfs_expect_in(test, "/error_log", piped);
	tfs_empty(test, "/error_log");
}

static struct kunit_case create_cases[] = {
	KUNIT_CASE(create_test_hold),
	KUNIT_CASE(create_test_pinned),
	KUNIT_CASE(create_test_kept),
	KUNIT_CASE(create_test_files),
	KUNIT_CASE(create_test_names),
	KUNIT_CASE(create_test_systems),
	KUNIT_CASE(create_test_flags),
	KUNIT_CASE(create_test_memory),
	KUNIT_CASE(create_test_cpus),
	KUNIT_CASE(create_test_events),
	KUNIT_CASE(create_test_pids),
	KUNIT_CASE(create_test_lookup),
	KUNIT_CASE(create_test_remove),
	KUNIT_CASE(create_test_report),
	{ }
};

static struct kunit_suite create_suite = {
	.name = "trace_instance_create",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = create_cases,
};

kunit_test_suite(create_suite);
