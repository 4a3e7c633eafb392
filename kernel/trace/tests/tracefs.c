// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests read and write the files of an instance as a program does. The functions may sleep
 * where their comment names no other context.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/sched/signal.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <trace/events/kmem.h>
#include <trace/events/rcu.h>

#include "../instance/internal.h"
#include "tracefs.h"

/* The size of one read or write, at most. */
#define TFS_BYTES	SZ_64K

/* The size of a text of tfs_text(), at most. */
#define TFS_TEXT	512

static struct vfsmount *tfs_mnt;

/* The instances of tfs_add() */
static struct trace_array *tfs_added[48];
static unsigned int tfs_nr_added;

/* Allocations since the test began that are not freed yet. */
static struct tfs_memory {
	const void	*at;
	size_t		size;
	void		*by;		/* the code that has asked for it */
	bool		is_text;	/* of kasprintf(), which has other callers */
} tfs_memory[1024];
static DEFINE_RAW_SPINLOCK(tfs_memory_lock);
static unsigned int tfs_memory_lost;

static bool tfs_allocates(const char *name)
{
	return strstarts(name, "__kvmalloc_node") || strstarts(name, "kvmemdup") ||
	       strstarts(name, "kvrealloc");
}

/* The function that has asked for memory, through others that only pass it on */
static unsigned long tfs_asked_by(unsigned long site, char *name)
{
	unsigned long stack[16];
	unsigned int n, i;

	sprint_symbol_no_offset(name, site);
	if (!tfs_allocates(name))
		return site;
	n = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
	for (i = 0; i < n && stack[i] != site; i++)
		;
	for (; i < n && tfs_allocates(name); i++)
		sprint_symbol_no_offset(name, site = stack[i]);
	return site;
}

/* Functions of snapshots, instances, channels, files, stops, and those that allocate for them */
static bool tfs_is_ours(const char *name)
{
	static const char * const begins[] = {
		"snap_", "trace_snapshot_", "instance_", "channels_", "merge_", "trace_merge_",
		"trace_pipe_wait", "ring_buffer_read_start", "dat_", "trace_dat_", "view_",
		"trace_view_", "trace_array_", "stop_", "create_trace_option_files",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		if (strstarts(name, begins[i]))
			return true;
	}
	return !strcmp(name, "kasprintf") || tfs_allocates(name);
}

static void tfs_malloc(void *unused, unsigned long site, const void *at, size_t wanted, size_t size,
		       gfp_t gfp, int node)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned long flags;
	unsigned int i;

	if (!at)
		return;
	site = tfs_asked_by(site, name);
	if (!tfs_is_ours(name))
		return;
	raw_spin_lock_irqsave(&tfs_memory_lock, flags);
	for (i = 0; i < ARRAY_SIZE(tfs_memory) && tfs_memory[i].at; i++)
		;
	if (i < ARRAY_SIZE(tfs_memory))
		tfs_memory[i] = (struct tfs_memory){
			at, wanted, (void *)site, !strcmp(name, "kasprintf"),
		};
	else
		tfs_memory_lost++;
	raw_spin_unlock_irqrestore(&tfs_memory_lock, flags);
}

static void tfs_mfree(void *unused, unsigned long site, const void *at)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&tfs_memory_lock, flags);
	for (i = 0; i < ARRAY_SIZE(tfs_memory); i++) {
		if (tfs_memory[i].at == at)
			tfs_memory[i].at = NULL;
	}
	raw_spin_unlock_irqrestore(&tfs_memory_lock, flags);
}

/* kvfree_rcu() frees many at once where there is memory for a list of them. */
static void tfs_mfree_rcu(void *unused, const char *rcu, unsigned long nr, void **at)
{
	while (nr--)
		tfs_mfree(NULL, _THIS_IP_, at[nr]);
}

static void tfs_count_memory(struct kunit *test)
{
	memset(tfs_memory, 0, sizeof(tfs_memory));
	tfs_memory_lost = 0;
	KUNIT_ASSERT_EQ(test, register_trace_kfree(tfs_mfree, NULL), 0);
	KUNIT_ASSERT_EQ(test, register_trace_rcu_invoke_kfree_bulk_callback(tfs_mfree_rcu, NULL),
			0);
	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(tfs_malloc, NULL), 0);
}

/* A text of kasprintf() that others have asked for does not count. */
static bool tfs_is_left(const struct tfs_memory *m)
{
	return m->at && (!m->is_text || strnstr(m->at, "kunit", m->size));
}

static bool tfs_is_free(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tfs_memory); i++) {
		if (tfs_is_left(&tfs_memory[i]))
			return false;
	}
	return true;
}

/*
 * Memory is freed by grace periods and works, one after the other: those of a file, then of the
 * array, its buffers, their rings. On another CPU they have not run meanwhile.
 */
static void tfs_settle(void)
{
	unsigned int round;

	for (round = 0; round < 8 && !tfs_is_free(); round++) {
		flush_delayed_fput();
		kvfree_rcu_barrier();
		rcu_barrier();
		/* (Not by the macro, which warns of the queues of the system.) */
		__flush_workqueue(system_wq);
		__flush_workqueue(system_dfl_wq);
	}
}

/* Expect that all is freed. */
static void tfs_expect_free(struct kunit *test)
{
	unsigned int i;

	tfs_settle();
	unregister_trace_kmalloc(tfs_malloc, NULL);
	unregister_trace_rcu_invoke_kfree_bulk_callback(tfs_mfree_rcu, NULL);
	unregister_trace_kfree(tfs_mfree, NULL);
	tracepoint_synchronize_unregister();
	for (i = 0; i < ARRAY_SIZE(tfs_memory); i++) {
		if (tfs_is_left(&tfs_memory[i]))
			KUNIT_FAIL(test, "%zu bytes of %pS are not freed", tfs_memory[i].size,
				   tfs_memory[i].by);
	}
	KUNIT_EXPECT_EQ(test, tfs_memory_lost, 0U);
}

/**
 * tfs_init() - create the instance "kunit"
 * @test: the test; its priv member is the trace array from here on
 *
 * Return: 0.
 */
int tfs_init(struct kunit *test)
{
	struct file_system_type *type;
	struct trace_array *tr;

	if (!tfs_mnt) {
		type = get_fs_type("tracefs");
		KUNIT_ASSERT_NOT_NULL(test, type);
		tfs_mnt = kern_mount(type);
		KUNIT_ASSERT_FALSE(test, IS_ERR(tfs_mnt));
	}
	/* The tests look for their records in the part of the first CPU. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	tfs_count_memory(test);
	tr = trace_array_get_by_name("kunit", NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	test->priv = tr;
	return 0;
}

static void tfs_destroy(struct kunit *test, struct trace_array *tr)
{
	/* Without kept snapshots, no worker frees memory behind the test. */
	tfs_write(test, tfs_text(test, "/instances/%s/snapshot_keep", tr->name), "0");
	if (tr->session)
		trace_session_leave(tr->session, tr->name);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

/**
 * tfs_add() - create another instance, which tfs_exit() removes
 * @test:    the test
 * @name:    its name
 * @systems: its events, as for trace_array_get_by_name()
 * @kb:      the text for its buffer_size_kb; NULL for the usual size
 *
 * Return: the instance. Without any the test ends.
 */
struct trace_array *tfs_add(struct kunit *test, const char *name, const char *systems,
			    const char *kb)
{
	struct trace_array *tr = trace_array_get_by_name(name, systems);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_LT(test, tfs_nr_added, ARRAY_SIZE(tfs_added));
	tfs_added[tfs_nr_added++] = tr;
	if (kb)
		tfs_set(test, tfs_text(test, "/instances/%s/buffer_size_kb", name), kb);
	return tr;
}

/**
 * tfs_remove() - remove an instance of tfs_add() before the end of the test
 * @test: the test
 * @tr:   the instance, which may be a channel
 */
void tfs_remove(struct kunit *test, struct trace_array *tr)
{
	unsigned int i;

	for (i = 0; i < tfs_nr_added; i++) {
		if (tfs_added[i] == tr)
			tfs_added[i] = NULL;
	}
	tfs_destroy(test, tr);
}

/**
 * tfs_unexpand() - free the rings of an instance, as if it was created at the boot
 * @test: the test
 * @tr:   the instance
 */
void tfs_unexpand(struct kunit *test, struct trace_array *tr)
{
	tr->flags &= ~TRACE_ARRAY_FL_EXPANDED;
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	KUNIT_ASSERT_EQ(test, instance_unexpand(tr), 0);
}

/**
 * tfs_marker_event() - find the event of trace_marker
 * @test: the test
 *
 * Return: the event in the instance. Without any the test ends.
 */
struct trace_event_file *tfs_marker_event(struct kunit *test)
{
	struct trace_event_file *file;

	scoped_guard(mutex, &event_mutex)
		file = __find_event_file(test->priv, "ftrace", "print");
	KUNIT_ASSERT_NOT_NULL(test, file);
	return file;
}

/**
 * tfs_exit() - remove all instances; the counterpart of tfs_init() and tfs_add()
 * @test: the test
 *
 * Memory of snapshots that is not freed fails the test.
 */
void tfs_exit(struct kunit *test)
{
	for (; tfs_nr_added; tfs_nr_added--) {
		if (tfs_added[tfs_nr_added - 1])
			tfs_destroy(test, tfs_added[tfs_nr_added - 1]);
	}
	if (!test->priv)
		return;
	tfs_destroy(test, test->priv);
	tfs_expect_free(test);
}

/**
 * tfs_init_small() - create the instance "kunit" with a small buffer
 * @test: the test
 *
 * Return: 0.
 */
int tfs_init_small(struct kunit *test)
{
	tfs_init(test);
	tfs_set(test, "buffer_size_kb", "64");
	return 0;
}

/**
 * tfs_try_open() - open a file of tracefs
 * @test:  the test
 * @path:  path below the instance, or below tracefs if it begins with a slash
 * @flags: flags of open(2)
 *
 * Return: the file, to be closed by tfs_close(); or an error.
 */
struct file *tfs_try_open(struct kunit *test, const char *path, int flags)
{
	char whole[NAME_MAX + 64];

	snprintf(whole, sizeof(whole), "%s%s", path[0] == '/' ? "" : "instances/kunit/", path);
	return file_open_root_mnt(tfs_mnt, whole + (whole[0] == '/'), flags, 0);
}

/**
 * tfs_open() - open a file of tracefs, and expect success
 * @test:  the test
 * @path:  as for tfs_try_open()
 * @flags: flags of open(2)
 *
 * Return: the file, to be closed by tfs_close(). An error ends the test.
 */
struct file *tfs_open(struct kunit *test, const char *path, int flags)
{
	struct file *file = tfs_try_open(test, path, flags);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s: %ld", path, PTR_ERR(file));
	return file;
}

/**
 * tfs_close() - close a file at once
 * @file: the file, or an error
 *
 * Context: A kernel thread; may sleep.
 */
void tfs_close(struct file *file)
{
	if (!IS_ERR(file))
		__fput_sync(file);
}

/**
 * tfs_empty() - empty a file, as > does
 * @test: the test
 * @path: as for tfs_try_open()
 *
 * Context: A kernel thread; may sleep.
 */
void tfs_empty(struct kunit *test, const char *path)
{
	tfs_close(tfs_open(test, path, O_WRONLY | O_TRUNC));
}

/**
 * tfs_zalloc() - allocate memory of the test
 * @test: the test, at the end of which it is freed
 * @size: number of bytes
 *
 * Return: the memory, zeros. Without any the test ends.
 */
void *tfs_zalloc(struct kunit *test, size_t size)
{
	void *memory = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

/**
 * tfs_text() - print a path or a text
 * @test: the test, at the end of which it is freed
 * @fmt:  as for printf()
 *
 * Return: the text.
 */
const char *tfs_text(struct kunit *test, const char *fmt, ...)
{
	char *text = tfs_zalloc(test, TFS_TEXT);
	va_list args;

	va_start(args, fmt);
	KUNIT_EXPECT_LT(test, vsnprintf(text, TFS_TEXT, fmt, args), TFS_TEXT);
	va_end(args);
	return text;
}

/**
 * tfs_user() - map memory of user space
 * @test: the test, at the end of which it is unmapped
 * @size: number of bytes
 *
 * Return: the memory. Without any the test fails.
 */
void __user *tfs_user(struct kunit *test, size_t size)
{
	unsigned long at = kunit_vm_mmap(test, NULL, 0, size, PROT_READ | PROT_WRITE,
					 MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	return (void __user *)at;
}

/**
 * tfs_write_file() - write a text by one system call
 * @test: the test
 * @file: the file
 * @text: the text
 *
 * Return: the number of bytes written, or an error.
 */
ssize_t tfs_write_file(struct kunit *test, struct file *file, const char *text)
{
	void __user *user = tfs_user(test, TFS_BYTES);
	size_t len = strlen(text);

	KUNIT_ASSERT_LE(test, len, (size_t)TFS_BYTES);
	KUNIT_ASSERT_EQ(test, copy_to_user(user, text, len), 0UL);
	return vfs_write(file, user, len, &file->f_pos);
}

/**
 * tfs_read_file() - read from a file by one system call
 * @test: the test
 * @file: the file
 * @buf:  destination of the bytes
 * @size: bytes to read, at most
 *
 * Return: the number of bytes read, or an error.
 */
ssize_t tfs_read_file(struct kunit *test, struct file *file, char *buf, size_t size)
{
	void __user *user = tfs_user(test, TFS_BYTES);
	ssize_t len = vfs_read(file, user, min_t(size_t, size, TFS_BYTES), &file->f_pos);

	if (len > 0)
		KUNIT_ASSERT_EQ(test, copy_from_user(buf, user, len), 0UL);
	return len;
}

/**
 * tfs_write() - write a text to a file, as echo does
 * @test: the test
 * @path: as for tfs_try_open()
 * @text: the text
 *
 * Return: the number of bytes written, or the error of opening or writing.
 */
ssize_t tfs_write(struct kunit *test, const char *path, const char *text)
{
	struct file *file = tfs_try_open(test, path, O_WRONLY);
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = tfs_write_file(test, file, text);
	tfs_close(file);
	return ret;
}

/**
 * tfs_read() - read a whole file, as cat does
 * @test: the test
 * @path: as for tfs_try_open()
 *
 * Return: the text of the file. A file that can't be read fails the test.
 */
const char *tfs_read(struct kunit *test, const char *path)
{
	struct file *file = tfs_open(test, path, O_RDONLY);
	char *text = tfs_zalloc(test, TFS_BYTES);
	size_t used = 0;
	ssize_t len = 1;

	while (len > 0 && used < TFS_BYTES - 1) {
		len = tfs_read_file(test, file, text + used, TFS_BYTES - 1 - used);
		used += max_t(ssize_t, len, 0);
	}
	tfs_close(file);
	KUNIT_EXPECT_EQ_MSG(test, len, 0, "%s", path);
	return text;
}

/**
 * tfs_count() - count the occurrences of a part in a text
 * @text: the text
 * @part: the part
 *
 * Context: Any context.
 * Return: the count.
 */
unsigned int tfs_count(const char *text, const char *part)
{
	unsigned int n = 0;

	for (text = strstr(text, part); text; text = strstr(text + strlen(part), part))
		n++;
	return n;
}

/**
 * tfs_set() - write a text, and expect success
 * @test: the test
 * @path: as for tfs_try_open()
 * @text: the text
 */
void tfs_set(struct kunit *test, const char *path, const char *text)
{
	KUNIT_EXPECT_EQ_MSG(test, tfs_write(test, path, text), (ssize_t)strlen(text), "%s > %s",
			    text, path);
}

/**
 * tfs_refuse() - write a text, and expect an error
 * @test: the test
 * @path: as for tfs_try_open()
 * @text: the text
 * @err:  the error
 */
void tfs_refuse(struct kunit *test, const char *path, const char *text, int err)
{
	KUNIT_EXPECT_EQ_MSG(test, tfs_write(test, path, text), (ssize_t)err, "%s > %s", text, path);
}

/**
 * tfs_fails() - write a text, and expect an error
 * @test: the test
 * @path: as for tfs_try_open()
 * @text: the text
 * @err:  the error
 * @why:  the reason in error_log, which has no other error; error_log is empty afterwards
 */
void tfs_fails(struct kunit *test, const char *path, const char *text, int err, const char *why)
{
	const char *name = strrchr(path, '/');
	const char *log;
	char line[200];

	tfs_refuse(test, path, text, err);
	log = tfs_read(test, "error_log");
	/* A holder, or a value that would do, may be behind the text. */
	snprintf(line, sizeof(line), "] %s: error: %s\n  Command: %s%s", name ? name + 1 : path,
		 why, text, err == -ENOSPC || err == -EBUSY ? "" : "\n");
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(log, line), 1U, "%s > %s: %s", text, path, log);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(log, "error:"), 1U, "%s", log);
	tfs_empty(test, "error_log");
}

/**
 * tfs_expect() - expect that a file is a text
 * @test: the test
 * @path: as for tfs_try_open()
 * @text: the text
 */
void tfs_expect(struct kunit *test, const char *path, const char *text)
{
	KUNIT_EXPECT_STREQ_MSG(test, tfs_read(test, path), text, "%s", path);
}

/**
 * tfs_expect_in() - expect that a file has a text
 * @test: the test
 * @path: as for tfs_try_open()
 * @part: the text
 */
void tfs_expect_in(struct kunit *test, const char *path, const char *part)
{
	const char *text = tfs_read(test, path);

	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, part), "no '%s' in %s:\n%s", part, path, text);
}

/**
 * tfs_expect_not_in() - expect that a file does not have a text
 * @test: the test
 * @path: as for tfs_try_open()
 * @part: the text
 */
void tfs_expect_not_in(struct kunit *test, const char *path, const char *part)
{
	const char *text = tfs_read(test, path);

	KUNIT_EXPECT_NULL_MSG(test, strstr(text, part), "'%s' in %s:\n%s", part, path, text);
}

/**
 * tfs_exists() - find a file or a directory, as test -e does
 * @test: the test
 * @path: as for tfs_try_open(), of a file or a directory
 *
 * Return: true if it is there.
 */
bool tfs_exists(struct kunit *test, const char *path)
{
	struct file *file = tfs_try_open(test, path, O_PATH);

	tfs_close(file);
	return !IS_ERR(file);
}

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)
/**
 * tfs_may_fail() - set up failures of allocations in tests
 * @test: the test
 *
 * Return: true if allocations can fail.
 */
bool tfs_may_fail(struct kunit *test)
{
	static const char * const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" }, { "failslab/verbose", "0" },
	};
	struct file_system_type *type = get_fs_type("debugfs");
	struct vfsmount *mnt = type ? kern_mount(type) : ERR_PTR(-ENODEV);
	struct file *file;
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mnt));
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		file = file_open_root_mnt(mnt, settings[i][0], O_WRONLY, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(file));
		KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, settings[i][1]), 1L);
		tfs_close(file);
	}
	kern_unmount(mnt);
	return true;
}

/**
 * tfs_fail_nth() - make one allocation of this task fail
 * @n: number of the allocation, counted from here on; the next one is 1
 *
 * Context: A task.
 */
void tfs_fail_nth(unsigned int n)
{
	WRITE_ONCE(current->fail_nth, n);
}

/**
 * tfs_failed() - cancel tfs_fail_nth()
 *
 * Context: A task.
 * Return: true if the allocation has failed already.
 */
bool tfs_failed(void)
{
	unsigned int left = READ_ONCE(current->fail_nth);

	WRITE_ONCE(current->fail_nth, 0);
	return !left;
}
#else
bool tfs_may_fail(struct kunit *test)
{
	return false;
}

void tfs_fail_nth(unsigned int n)
{
}

bool tfs_failed(void)
{
	return false;
}
#endif

/**
 * tfs_need_failures() - skip the test if allocations cannot fail
 * @test: the test
 */
void tfs_need_failures(struct kunit *test)
{
	if (!tfs_may_fail(test))
		kunit_skip(test, "no allocation can be made to fail");
}

/**
 * tfs_option() - apply an option of the command line
 * @test: the test
 * @name: its name, as __setup() has it; it may end with "="
 * @text: its value
 *
 * Context: Boot, may sleep.
 */
void __init tfs_option(struct kunit *test, const char *name, const char *text)
{
	const struct obs_kernel_param *p;
	char *copy = kunit_kstrdup(test, text, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	for (p = __setup_start; p < __setup_end; p++) {
		if (!strcmp(p->str, name)) {
			KUNIT_EXPECT_EQ(test, p->setup_func(copy), 1);
			return;
		}
	}
	KUNIT_FAIL(test, "no option %s", name);
}

/**
 * tfs_mark() - write records to trace_marker
 * @test: the test
 * @nr:   the number of records
 */
void tfs_mark(struct kunit *test, unsigned int nr)
{
	for (; nr; nr--)
		tfs_set(test, "trace_marker", "mark");
}

/**
 * tfs_marks() - count the records of tfs_mark() in a file
 * @test: the test
 * @path: path of "trace" or "snapshot"
 *
 * Return: the count.
 */
unsigned int tfs_marks(struct kunit *test, const char *path)
{
	return tfs_count(tfs_read(test, path), ": mark\n");
}

/**
 * tfs_kill() - make allocations for a ring buffer fail, as in a killed task
 * @killed: true to begin, false to end
 *
 * Context: A kernel thread that has accessed user memory.
 */
void tfs_kill(bool killed)
{
	if (killed) {
		spin_lock_irq(&current->sighand->siglock);
		sigaddset(&current->pending.signal, SIGKILL);
		set_thread_flag(TIF_SIGPENDING);
		spin_unlock_irq(&current->sighand->siglock);
	} else {
		flush_signals(current);
	}
}
