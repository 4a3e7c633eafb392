// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of snapshots and instances that belong to a file descriptor.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/list.h>
#include <linux/mount.h>
#include <linux/resource.h>
#include <linux/ring_buffer.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <trace/events/kmem.h>

#include <uapi/linux/trace_instance.h>

#include "../../tests/snapshots.h"

/* Take a snapshot with one record that an owner has. */
static struct trace_snap *own_take(struct kunit *test)
{
	struct trace_snap *snap = NULL;

	tfs_mark(test, 1);
	KUNIT_ASSERT_EQ(test, snap_keep_owned(snap_kunit(test), RING_BUFFER_ALL_CPUS, &snap), 0);
	KUNIT_ASSERT_NOT_NULL(test, snap);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(snap->buf.buffer), 1UL);
	KUNIT_EXPECT_TRUE(test, snap->kept->owned);
	return snap;
}

static void own_expect(struct kunit *test, unsigned int kept, unsigned int owned)
{
	struct trace_snapshots *s = snap_kunit(test);

	guard(mutex)(&trace_types_lock);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&s->keeper.kept), (size_t)kept);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&s->keeper.owned), (size_t)owned);
	KUNIT_EXPECT_EQ(test, s->keeper.nr, kept);
}

/* Without the newest ones that are kept, and beside them. */
static void own_test_last(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *a = own_take(test), *b;
	unsigned int i;

	own_expect(test, 0, 1);
	snap_keep_set(s, (struct snap_keep){ .nr = 2 });
	b = own_take(test);
	for (i = 0; i < 5; i++) {
		tracing_snapshot_instance(test->priv);
		snap_tend(s);
	}
	own_expect(test, 2, 2);
	snap_keep_set(s, (struct snap_keep){ });
	own_expect(test, 0, 2);
	snap_end_owned(b);
	own_expect(test, 0, 1);
	snap_end_owned(a);
	own_expect(test, 0, 0);
}

/* It takes no room from the first ones, and needs none. */
static void own_test_first(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap[3];
	unsigned int i;

	snap_keep_set(s, (struct snap_keep){ .nr = 2, .first = true });
	for (i = 0; i < 3; i++) {
		snap[i] = own_take(test);
		tracing_snapshot_instance(test->priv);
		snap_tend(s);
		own_expect(test, min(i + 1, 2), i + 1);
		tfs_expect_in(test, "snapshots", snap[i]->kept->name);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.enough), 1L);
	KUNIT_EXPECT_EQ(test, s->user.seq, 5ULL);
	while (i--)
		snap_end_owned(snap[i]);
	own_expect(test, 2, 0);
}

/* If others rely on the buffer that it has, they get another one. */
static void own_test_relied(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap, *spare;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	snap = own_take(test);
	spare = s->user.spare;
	KUNIT_EXPECT_NOT_NULL(test, spare);
	KUNIT_EXPECT_NULL(test, s->max.spare);
	/* One is enough. */
	scoped_guard(mutex, &s->mutex)
		snap_put(s, snap_get_last(s, &s->user));
	KUNIT_EXPECT_PTR_EQ(test, s->user.spare, spare);
	snap_end_owned(snap);
	tracing_disarm_snapshot(test->priv);

	/* So they do if the kernel relies on it. */
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	KUNIT_EXPECT_TRUE(test, s->pinned);
	snap = own_take(test);
	KUNIT_EXPECT_NOT_NULL(test, s->user.spare);
	snap_end_owned(snap);
}

/* While an owner has the only buffer, a crash has another one, which stays when the owner ends. */
static void own_test_crash(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long before = xchg(&snap_crash_on, BIT(SNAP_BY_WARN));
	struct trace_snap *snap;

	tfs_set(test, "snapshot_allocate", "1");
	snap = own_take(test);
	snap_end_owned(snap);
	snap_kunit_worker(test->priv);
	tfs_expect(test, "snapshot_allocate", "1\n");
	snap = own_take(test);
	trace_snapshot_warn();
	KUNIT_EXPECT_EQ(test, s->user.seq, 3ULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&s->count.no_spare), 0L);
	snap_end_owned(snap);
	/* User space may free it all the same. */
	tfs_set(test, "snapshot_allocate", "0");
	snap_kunit_worker(test->priv);
	tfs_expect(test, "snapshot_allocate", "0\n");
	KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), 0UL);
	xchg(&snap_crash_on, before);
}

/* The owner of a channel's snapshot leaves its session a buffer, and that of the session it. */
static void own_test_session(struct kunit *test)
{
	struct trace_array *tr = test->priv, *ch = tfs_add(test, "kunit_part", NULL, "16");
	struct trace_array *armed, *owner;
	struct trace_snap *snap;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, trace_array_expand(tr), 0);
	KUNIT_ASSERT_EQ(test, trace_session_join(tr, "kunit_part", NULL), 0);
	for (i = 0; i < 2; i++) {
		armed = i ? ch : tr;
		owner = i ? tr : ch;
		KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(armed), 0);
		KUNIT_ASSERT_EQ(test, snap_keep_owned(owner->snapshots, RING_BUFFER_ALL_CPUS,
						      &snap), 0);
		tracing_snapshot_instance(armed);
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&armed->snapshots->count.no_spare), 0L,
				    "%s", armed->name);
		tracing_disarm_snapshot(armed);
		snap_end_owned(snap);
		/* Each has one buffer at most. */
		snap_kunit_lose(tr->snapshots, true);
		snap_kunit_lose(ch->snapshots, true);
	}
	KUNIT_EXPECT_EQ(test, tr->snapshots->user.seq, 2ULL);
	KUNIT_EXPECT_EQ(test, ch->snapshots->user.seq, 4ULL);
}

/* All memory is free without its owner, also if it is the newest one, or is held open. */
static void own_test_memory(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_snap *snap;
	struct file *file;
	char path[64];

	snap_end_owned(own_take(test));
	snap_kunit_worker(test->priv);
	KUNIT_EXPECT_NULL(test, s->user.last);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);

	snap = own_take(test);
	snprintf(path, sizeof(path), "/instances/%s/trace", snap->kept->name);
	file = tfs_open(test, path, O_RDONLY);
	snap_end_owned(snap);
	snap_kunit_worker(test->priv);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, path));
	KUNIT_EXPECT_GT(test, s->memory.kb, 0UL);
	tfs_close(file);
	snap_tend(s);
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
}

static int own_next_fd(void)
{
	int fd = get_unused_fd_flags(0);

	put_unused_fd(fd);
	return fd;
}

/* As the system call does it, but for the commands that each file has. */
static long own_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	long ret = -ENOIOCTLCMD;

	if (file->f_op->unlocked_ioctl)
		ret = file->f_op->unlocked_ioctl(file, cmd, arg);
	return ret == -ENOIOCTLCMD ? -ENOTTY : ret;
}

static const char * const own_files[] = {
	"snapshot", "snapshot_allocate", "snapshot_delay", "snapshot_keep", "snapshot_limit_kb",
	"snapshots", "per_cpu/cpu0/snapshot", "per_cpu/cpu0/snapshot_raw",
};

/* An error leaves nothing, and the records are in the newest snapshot or in the live buffer. */
static void own_test_limit(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap = NULL;
	unsigned long kb = 0, records;
	struct file *file;
	unsigned int i;
	int ret, fd;

	do {
		kb++;
		tfs_mark(test, 1);
		s->memory.limit_kb = kb;
		ret = snap_keep_owned(s, RING_BUFFER_ALL_CPUS, &snap);
		s->memory.limit_kb = 0;
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
		own_expect(test, 0, 0);
		records = ring_buffer_entries(tr->array_buffer.buffer);
		if (s->user.last)
			records += ring_buffer_entries(s->user.last->buf.buffer);
		KUNIT_EXPECT_GE(test, records, 1UL);
		KUNIT_EXPECT_LE(test, s->memory.kb, kb);
		/* One that was taken is nobody's. */
		if (s->user.last) {
			snap_keep_set(s, (struct snap_keep){ .nr = 1 });
			own_expect(test, 1, 0);
			snap_keep_set(s, (struct snap_keep){ });
		}
		snap_kunit_lose(s, true);
	} while (kb < 4096);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_EXPECT_GT(test, kb, 1UL);
	snap_end_owned(snap);

	/* Why the call fails is in error_log. The number of the descriptor is free again. */
	file = tfs_open(test, "snapshot", O_RDWR);
	fd = own_next_fd();
	s->memory.limit_kb = 1;
	KUNIT_EXPECT_EQ(test, file->f_op->unlocked_ioctl(file, TRACE_IOC_SNAPSHOT, 0),
			(long)-ENOSPC);
	s->memory.limit_kb = 0;
	KUNIT_EXPECT_EQ(test, own_next_fd(), fd);
	tfs_expect_in(test, "error_log", "snapshot: error: Needs more memory than");

	/* An instance that has lost its owner gives none. */
	tr->retired = &s->keeper.work;
	KUNIT_EXPECT_EQ(test, own_ioctl(file, TRACE_IOC_SNAPSHOT, 0), (long)-ENODEV);
	tfs_close(file);
	/* Its files cannot be opened. */
	for (i = 0; i < ARRAY_SIZE(own_files); i++) {
		file = tfs_try_open(test, own_files[i], O_RDONLY);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(file), -ENODEV, "%s", own_files[i]);
	}
	tr->retired = NULL;
	KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, "error_log"), "Command: TRACE_IOC_SNAPSHOT"),
			1U);
	/* Nor does memory that survives a reboot, which has room for one snapshot. */
	tr->range_addr_start = 1;
	KUNIT_EXPECT_EQ(test, snap_keep_owned(s, RING_BUFFER_ALL_CPUS, &snap), -EXFULL);
	tr->range_addr_start = 0;
}

/* At the limit, the oldest of those that are kept go, so that one of an owner has a buffer. */
static void own_test_room(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned int i;

	tfs_set(test, "buffer_size_kb", "64");
	snap_keep_set(s, (struct snap_keep){ .nr = 100 });
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	for (i = 0; i < 8; i++) {
		tracing_snapshot_instance(test->priv);
		snap_tend(s);
	}
	own_expect(test, 8, 0);
	snap_kunit_lose(s, false);
	s->memory.limit_kb = s->memory.kb;
	snap_end_owned(own_take(test));
	s->memory.limit_kb = 0;
	KUNIT_EXPECT_GT(test, s->keeper.nr, 0U);
	KUNIT_EXPECT_LT(test, s->keeper.nr, 8U);
}

/* Close the last file that owns a snapshot, and wait for what that leads to. */
static void own_end(struct kunit *test, struct file *owner)
{
	struct trace_array *tr = test->priv;

	tfs_close(owner);
	flush_delayed_fput();
	tfs_wait(test, list_empty_careful(&tr->snapshots->keeper.owned));
	own_expect(test, 0, 0);
	/* The work is at its end. */
	mutex_lock(&event_mutex);
	mutex_unlock(&event_mutex);
}

/* The ioctl of the file, and the file that owns. */
static void own_test_file(struct kunit *test)
{
	struct file *file = tfs_open(test, "snapshot", O_RDONLY), *owner;
	char name[64] = "";
	unsigned int nr;
	long fd;

	KUNIT_EXPECT_EQ(test, own_ioctl(file, TRACE_IOC_SNAPSHOT, 0), (long)-EBADF);
	tfs_close(file);
	file = tfs_open(test, "snapshot", O_WRONLY);
	KUNIT_EXPECT_EQ(test, own_ioctl(file, TRACE_IOC_SNAPSHOT, 1), (long)-EINVAL);
	own_expect(test, 0, 0);
	fd = own_ioctl(file, TRACE_IOC_SNAPSHOT, 0);
	KUNIT_ASSERT_GE(test, fd, 0L);
	own_expect(test, 0, 1);
	tfs_close(file);

	owner = fget(fd);
	KUNIT_ASSERT_NOT_NULL(test, owner);
	KUNIT_EXPECT_GT(test, tfs_read_file(test, owner, name, sizeof(name)), (ssize_t)0);
	KUNIT_EXPECT_STREQ(test, name, "kunit@1\n");
	/* It leads nowhere else. */
	for (nr = 0; nr < 256; nr++)
		KUNIT_EXPECT_EQ(test, own_ioctl(owner, _IO('R', nr), 0), (long)-ENOTTY);
	close_fd(fd);
	own_expect(test, 0, 1);
	own_end(test, owner);
}

/* The live buffer has its full size before the snapshot has a buffer of the same size. */
static void own_test_expand(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long whole = ring_buffer_size(tr->array_buffer.buffer, 0);
	struct file *file, *owner;
	long fd;

	tfs_set(test, "buffer_size_kb", "64");
	KUNIT_ASSERT_NE(test, ring_buffer_size(tr->array_buffer.buffer, 0), whole);
	tr->ring_buffer_expanded = false;
	file = tfs_open(test, "snapshot", O_WRONLY);
	fd = own_ioctl(file, TRACE_IOC_SNAPSHOT, 0);
	tfs_close(file);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(tr->array_buffer.buffer, 0), whole);
	KUNIT_ASSERT_GE(test, fd, 0L);
	owner = fget(fd);
	KUNIT_ASSERT_NOT_NULL(test, owner);
	close_fd(fd);
	own_end(test, owner);
}

/* Call the ioctl of @file as a task without privileges. */
static long own_ioctl_as_user(struct file *file)
{
	struct cred *user = prepare_creds();
	const struct cred *before;
	long ret;

	if (!user)
		return -ENOMEM;
	cap_clear(user->cap_effective);
	before = override_creds(user);
	ret = own_ioctl(file, TRACE_IOC_SNAPSHOT, 0);
	revert_creds(before);
	put_cred(user);
	return ret;
}

/* No more descriptors, no more files: open() fails as well, so error_log has nothing of it. */
static void own_test_full(struct kunit *test)
{
	struct rlimit *fds = &current->signal->rlim[RLIMIT_NOFILE];
	struct file_system_type *type = get_fs_type("proc");
	unsigned long before = fds->rlim_cur;
	struct file *file, *max;
	struct vfsmount *proc;
	char text[24] = "";

	if (!IS_ENABLED(CONFIG_PROC_SYSCTL) || !IS_ENABLED(CONFIG_MULTIUSER))
		kunit_skip(test, "the number of files has no limit");
	file = tfs_open(test, "snapshot", O_WRONLY);
	tfs_mark(test, 1);
	fds->rlim_cur = 0;
	KUNIT_EXPECT_EQ(test, own_ioctl(file, TRACE_IOC_SNAPSHOT, 0), (long)-EMFILE);
	fds->rlim_cur = before;

	proc = type ? kern_mount(type) : ERR_PTR(-ENODEV);
	KUNIT_ASSERT_FALSE(test, IS_ERR(proc));
	max = file_open_root_mnt(proc, "sys/fs/file-max", O_RDWR, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(max));
	KUNIT_EXPECT_GT(test, tfs_read_file(test, max, text, sizeof(text) - 1), 0L);
	max->f_pos = 0;
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, max, "0"), 1L);
	KUNIT_EXPECT_EQ(test, own_ioctl_as_user(file), (long)-ENFILE);
	max->f_pos = 0;
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, max, text), (ssize_t)strlen(text));
	tfs_close(max);
	kern_unmount(proc);
	own_expect(test, 0, 0);
	/* No snapshot is taken in vain: its records would be lost. */
	KUNIT_EXPECT_EQ(test, snap_kunit(test)->user.seq, 0ULL);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	tfs_expect_not_in(test, "error_log", "error");

	tfs_close(file);
}

static bool own_is_there(const char *name)
{
	guard(mutex)(&trace_types_lock);
	return trace_array_find(name);
}

/* Open a file that owns an instance. Return: the instance, with a reference. */
static struct trace_array *own_create(struct kunit *test, struct file **owner, const char **name)
{
	char *text = tfs_zalloc(test, 64);
	struct trace_array *tr;

	*owner = tfs_open(test, "/instance_open", O_RDWR);
	KUNIT_EXPECT_GT(test, tfs_read_file(test, *owner, text, 64), (ssize_t)0);
	*strchrnul(text, '\n') = '\0';
	*name = text;
	tr = trace_array_find_get(text);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	return tr;
}

/* No file of an event opens any more, also of those that keep no reference. */
static void own_refuse_event(struct kunit *test, const char *event)
{
	static const char * const names[] = { "enable", "filter", "format", "trigger" };
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		file = tfs_try_open(test, tfs_text(test, "%s/%s", event, names[i]), O_RDONLY);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(file), -ENODEV, "%s", names[i]);
	}
}

/* An instance of an open file: owned, retired, removed. */
static void own_test_instance(struct kunit *test)
{
	struct file *owner, *trace, *format;
	const char *name, *path, *event;
	struct trace_array *tr;
	char byte;

	if (trace_mm_page_free_enabled())
		kunit_skip(test, "mm_page_free is enabled");
	owner = tfs_try_open(test, "/instance_open", O_RDONLY);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(owner), -EACCES);
	tr = own_create(test, &owner, &name);
	KUNIT_EXPECT_TRUE(test, tr->owned);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);

	/* A trigger keeps the event in use, and ends with its owner. */
	event = tfs_text(test, "/instances/%s/events/kmem/mm_page_free", name);
	tfs_set(test, tfs_text(test, "%s/trigger", event), "traceoff if pfn == 1");
	KUNIT_EXPECT_TRUE(test, trace_mm_page_free_enabled());
	format = tfs_open(test, tfs_text(test, "%s/format", event), O_RDONLY);

	path = tfs_text(test, "/instances/%s/trace", name);
	trace = tfs_open(test, path, O_RDONLY);
	tfs_close(owner);
	tfs_wait(test, READ_ONCE(tr->retired));
	KUNIT_EXPECT_EQ(test, trace_array_get(tr), -ENODEV);
	KUNIT_EXPECT_NULL(test, trace_array_find_get(name));
	KUNIT_EXPECT_NULL(test, trace_array_get_by_name(name, NULL));
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, path));
	tfs_wait(test, !trace_mm_page_free_enabled());
	own_refuse_event(test, event);
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, format, &byte, 1), 1L);
	tfs_close(format);
	tfs_close(trace);
	tfs_wait(test, !own_is_there(name));
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, path));
}

/* An instance of an open file that is retired, and held by a snapshot which has an owner. */
static void own_test_retired(struct kunit *test)
{
	struct trace_snap *snap = NULL;
	struct trace_array *tr;
	const char *name;
	struct file *owner;

	tr = own_create(test, &owner, &name);
	tfs_set(test, tfs_text(test, "/instances/%s/trace_marker", name), "mark");
	KUNIT_EXPECT_EQ(test, snap_keep_owned(tr->snapshots, RING_BUFFER_ALL_CPUS, &snap), 0);
	trace_array_put(tr);
	tfs_close(owner);
	KUNIT_ASSERT_NOT_NULL(test, snap);
	tfs_wait(test, READ_ONCE(tr->retired));
	KUNIT_ASSERT_NOT_NULL(test, READ_ONCE(tr->retired));
	flush_work(tr->retired);
	KUNIT_EXPECT_TRUE(test, own_is_there(name));
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(snap->buf.buffer), 1UL);
	snap_end_owned(snap);
	tfs_wait(test, !own_is_there(name));
}

static struct kunit_case own_cases[] = {
	KUNIT_CASE(own_test_last),
	KUNIT_CASE(own_test_first),
	KUNIT_CASE(own_test_relied),
	KUNIT_CASE(own_test_crash),
	KUNIT_CASE(own_test_session),
	KUNIT_CASE(own_test_memory),
	KUNIT_CASE(own_test_limit),
	KUNIT_CASE(own_test_room),
	KUNIT_CASE(own_test_file),
	KUNIT_CASE(own_test_expand),
	KUNIT_CASE(own_test_full),
	KUNIT_CASE(own_test_instance),
	KUNIT_CASE(own_test_retired),
	{ }
};

static struct kunit_suite own_suite = {
	.name = "trace_snapshot_own",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = own_cases,
};

kunit_test_suites(&own_suite);
