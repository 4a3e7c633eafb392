// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests read and write the files of an instance as a program does.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <trace/events/kmem.h>

#include "tracefs.h"

/* The size of one read or write, at most. */
#define SNAP_KUNIT_BYTES	SZ_64K

static struct vfsmount *snap_kunit_mnt;

/* Allocations since the test began that are not freed yet. */
static struct snap_kunit_memory {
	const void	*at;
	size_t		size;
	bool		is_text;	/* of kasprintf(), which has other callers */
} snap_kunit_memory[1024];
static DEFINE_RAW_SPINLOCK(snap_kunit_memory_lock);
static unsigned int snap_kunit_memory_lost;

/* Functions of snapshots, instances, channels, files, stops, and those that allocate for them */
static bool snap_kunit_is_ours(const char *name)
{
	static const char * const begins[] = {
		"snap_", "trace_snapshot_", "instance_", "channels_", "merge_", "trace_merge_",
		"trace_pipe_wait", "ring_buffer_read_start", "dat_", "trace_dat_", "view_",
		"trace_view_", "trace_array_", "stop_", "__kvmalloc_node", "kvmemdup", "kvrealloc",
		"create_trace_option_files",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		if (strstarts(name, begins[i]))
			return true;
	}
	return !strcmp(name, "kasprintf");
}

static void snap_kunit_malloc(void *unused, unsigned long site, const void *at, size_t wanted,
			      size_t size, gfp_t gfp, int node)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned long flags;
	unsigned int i;

	sprint_symbol_no_offset(name, site);
	if (!at || !snap_kunit_is_ours(name))
		return;
	raw_spin_lock_irqsave(&snap_kunit_memory_lock, flags);
	for (i = 0; i < ARRAY_SIZE(snap_kunit_memory) && snap_kunit_memory[i].at; i++)
		;
	if (i < ARRAY_SIZE(snap_kunit_memory))
		snap_kunit_memory[i] = (struct snap_kunit_memory){
			at, wanted, !strcmp(name, "kasprintf"),
		};
	else
		snap_kunit_memory_lost++;
	raw_spin_unlock_irqrestore(&snap_kunit_memory_lock, flags);
}

static void snap_kunit_mfree(void *unused, unsigned long site, const void *at)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&snap_kunit_memory_lock, flags);
	for (i = 0; i < ARRAY_SIZE(snap_kunit_memory); i++) {
		if (snap_kunit_memory[i].at == at)
			snap_kunit_memory[i].at = NULL;
	}
	raw_spin_unlock_irqrestore(&snap_kunit_memory_lock, flags);
}

static void snap_kunit_count_memory(struct kunit *test)
{
	memset(snap_kunit_memory, 0, sizeof(snap_kunit_memory));
	snap_kunit_memory_lost = 0;
	KUNIT_ASSERT_EQ(test, register_trace_kfree(snap_kunit_mfree, NULL), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(snap_kunit_malloc, NULL), 0);
}

/* Expect that all is freed, except texts of kasprintf() for other callers. */
static void snap_kunit_expect_free(struct kunit *test)
{
	struct snap_kunit_memory *m;
	unsigned int i;

	flush_delayed_fput();
	rcu_barrier();
	unregister_trace_kmalloc(snap_kunit_malloc, NULL);
	unregister_trace_kfree(snap_kunit_mfree, NULL);
	tracepoint_synchronize_unregister();
	for (i = 0; i < ARRAY_SIZE(snap_kunit_memory); i++) {
		m = &snap_kunit_memory[i];
		if (m->at && (!m->is_text || strnstr(m->at, "kunit", m->size)))
			KUNIT_FAIL(test, "%zu bytes are not freed", m->size);
	}
	KUNIT_EXPECT_EQ(test, snap_kunit_memory_lost, 0U);
}

/**
 * snap_kunit_init() - create the instance "kunit"
 * @test: the test; its priv member is the trace array from here on
 *
 * Context: May sleep.
 * Return: 0.
 */
int snap_kunit_init(struct kunit *test)
{
	struct file_system_type *type;
	struct trace_array *tr;

	if (!snap_kunit_mnt) {
		type = get_fs_type("tracefs");
		KUNIT_ASSERT_NOT_NULL(test, type);
		snap_kunit_mnt = kern_mount(type);
		KUNIT_ASSERT_FALSE(test, IS_ERR(snap_kunit_mnt));
	}
	snap_kunit_count_memory(test);
	tr = trace_array_get_by_name("kunit", NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	test->priv = tr;
	return 0;
}

/**
 * snap_kunit_exit() - remove the instance; the counterpart of snap_kunit_init()
 * @test: the test
 *
 * Memory of snapshots that is not freed fails the test.
 *
 * Context: May sleep.
 */
void snap_kunit_exit(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	if (!tr)
		return;
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	snap_kunit_expect_free(test);
}

/**
 * snap_kunit_open() - open a file of tracefs
 * @test:  the test
 * @path:  path below the instance, or below tracefs if it begins with a slash
 * @flags: flags of open(2)
 *
 * Context: May sleep.
 * Return: the file, to be closed by snap_kunit_close(); or an error.
 */
struct file *snap_kunit_open(struct kunit *test, const char *path, int flags)
{
	char whole[NAME_MAX + 64];

	snprintf(whole, sizeof(whole), "%s%s", path[0] == '/' ? "" : "instances/kunit/", path);
	return file_open_root_mnt(snap_kunit_mnt, whole + (whole[0] == '/'), flags, 0);
}

/**
 * snap_kunit_close() - close a file at once
 * @file: the file, or an error
 *
 * Context: A kernel thread; may sleep.
 */
void snap_kunit_close(struct file *file)
{
	if (!IS_ERR(file))
		__fput_sync(file);
}

/**
 * snap_kunit_user() - map memory of user space
 * @test: the test, at the end of which it is unmapped
 * @size: number of bytes
 *
 * Context: May sleep.
 * Return: the memory. Without any the test fails.
 */
void __user *snap_kunit_user(struct kunit *test, size_t size)
{
	unsigned long at = kunit_vm_mmap(test, NULL, 0, size, PROT_READ | PROT_WRITE,
					 MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	return (void __user *)at;
}

/**
 * snap_kunit_write_file() - write a text by one system call
 * @test: the test
 * @file: the file
 * @text: the text
 *
 * Context: May sleep.
 * Return: the number of bytes written, or an error.
 */
ssize_t snap_kunit_write_file(struct kunit *test, struct file *file, const char *text)
{
	void __user *user = snap_kunit_user(test, SNAP_KUNIT_BYTES);
	size_t len = strlen(text);

	KUNIT_ASSERT_LE(test, len, (size_t)SNAP_KUNIT_BYTES);
	KUNIT_ASSERT_EQ(test, copy_to_user(user, text, len), 0UL);
	return vfs_write(file, user, len, &file->f_pos);
}

/**
 * snap_kunit_read_file() - read from a file by one system call
 * @test: the test
 * @file: the file
 * @buf:  destination of the bytes
 * @size: bytes to read, at most
 *
 * Context: May sleep.
 * Return: the number of bytes read, or an error.
 */
ssize_t snap_kunit_read_file(struct kunit *test, struct file *file, char *buf, size_t size)
{
	void __user *user = snap_kunit_user(test, SNAP_KUNIT_BYTES);
	ssize_t len = vfs_read(file, user, min_t(size_t, size, SNAP_KUNIT_BYTES), &file->f_pos);

	if (len > 0)
		KUNIT_ASSERT_EQ(test, copy_from_user(buf, user, len), 0UL);
	return len;
}

/**
 * snap_kunit_write() - write a text to a file, as echo does
 * @test: the test
 * @path: as for snap_kunit_open()
 * @text: the text
 *
 * Context: May sleep.
 * Return: the number of bytes written, or the error of opening or writing.
 */
ssize_t snap_kunit_write(struct kunit *test, const char *path, const char *text)
{
	struct file *file = snap_kunit_open(test, path, O_WRONLY);
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = snap_kunit_write_file(test, file, text);
	snap_kunit_close(file);
	return ret;
}

/**
 * snap_kunit_read() - read a whole file, as cat does
 * @test: the test
 * @path: as for snap_kunit_open()
 *
 * Context: May sleep.
 * Return: the text of the file. A file that can't be read fails the test.
 */
const char *snap_kunit_read(struct kunit *test, const char *path)
{
	struct file *file = snap_kunit_open(test, path, O_RDONLY);
	char *text = kunit_kzalloc(test, SNAP_KUNIT_BYTES, GFP_KERNEL);
	size_t used = 0;
	ssize_t len = 1;

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s", path);
	KUNIT_ASSERT_NOT_NULL(test, text);
	while (len > 0 && used < SNAP_KUNIT_BYTES - 1) {
		len = snap_kunit_read_file(test, file, text + used, SNAP_KUNIT_BYTES - 1 - used);
		used += max_t(ssize_t, len, 0);
	}
	snap_kunit_close(file);
	KUNIT_EXPECT_EQ_MSG(test, len, 0, "%s", path);
	return text;
}

/**
 * snap_kunit_stop_keeper() - have only tasks look after kept snapshots
 * @s: the snapshots of a trace array; enable_work() of its keeper undoes it
 *
 * Context: May sleep.
 */
void snap_kunit_stop_keeper(struct trace_snapshots *s)
{
	/* A queued keeper holds a reference. */
	if (disable_work_sync(&s->keeper.work))
		snap_put_owner(s);
}

/**
 * snap_kunit_count() - count the occurrences of a part in a text
 * @text: the text
 * @part: the part
 *
 * Context: Any context.
 * Return: the count.
 */
unsigned int snap_kunit_count(const char *text, const char *part)
{
	unsigned int n = 0;

	for (text = strstr(text, part); text; text = strstr(text + strlen(part), part))
		n++;
	return n;
}

/**
 * snap_kunit_set() - write a text, and expect success
 * @test: the test
 * @path: as for snap_kunit_open()
 * @text: the text
 *
 * Context: May sleep.
 */
void snap_kunit_set(struct kunit *test, const char *path, const char *text)
{
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_write(test, path, text), (ssize_t)strlen(text),
			    "%s > %s", text, path);
}

/**
 * snap_kunit_fails() - write a text, and expect an error
 * @test: the test
 * @path: as for snap_kunit_open()
 * @text: the text
 * @err:  the error
 * @why:  the reason in error_log, which has no other error; error_log is empty afterwards
 *
 * Context: May sleep.
 */
void snap_kunit_fails(struct kunit *test, const char *path, const char *text, int err,
		      const char *why)
{
	const char *name = strrchr(path, '/');
	const char *log;
	char line[200];

	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_write(test, path, text), (ssize_t)err,
			    "%s > %s", text, path);
	log = snap_kunit_read(test, "error_log");
	/* A holder, or a value that would do, may be behind the text. */
	snprintf(line, sizeof(line), "] %s: error: %s\n  Command: %s%s", name ? name + 1 : path,
		 why, text, err == -ENOSPC || err == -EBUSY ? "" : "\n");
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_count(log, line), 1U, "%s > %s: %s", text, path, log);
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_count(log, "error:"), 1U, "%s", log);
	snap_kunit_close(snap_kunit_open(test, "error_log", O_WRONLY | O_TRUNC));
}

/**
 * snap_kunit_shows() - find a text in a file, as grep -F does
 * @test: the test
 * @path: as for snap_kunit_open()
 * @part: the text
 *
 * Context: May sleep.
 * Return: true if the file has the text.
 */
bool snap_kunit_shows(struct kunit *test, const char *path, const char *part)
{
	const char *text = snap_kunit_read(test, path);

	if (strstr(text, part))
		return true;
	kunit_info(test, "no '%s' in\n%s", part, text);
	return false;
}

/**
 * snap_kunit_exists() - find a file or a directory, as test -e does
 * @test: the test
 * @path: as for snap_kunit_open(), of a file or a directory
 *
 * Context: May sleep.
 * Return: true if it is there.
 */
bool snap_kunit_exists(struct kunit *test, const char *path)
{
	struct file *file = snap_kunit_open(test, path, O_PATH);

	snap_kunit_close(file);
	return !IS_ERR(file);
}

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)
/**
 * snap_kunit_may_fail() - set up failures of allocations in tests
 * @test: the test
 *
 * Context: May sleep.
 * Return: true if allocations can fail.
 */
bool snap_kunit_may_fail(struct kunit *test)
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
		KUNIT_EXPECT_EQ(test, snap_kunit_write_file(test, file, settings[i][1]), 1L);
		snap_kunit_close(file);
	}
	kern_unmount(mnt);
	return true;
}

/**
 * snap_kunit_fail_nth() - make one allocation of this task fail
 * @n: number of the allocation, counted from here on; the next one is 1
 *
 * Context: A task.
 */
void snap_kunit_fail_nth(unsigned int n)
{
	WRITE_ONCE(current->fail_nth, n);
}

/**
 * snap_kunit_failed() - cancel snap_kunit_fail_nth()
 *
 * Context: A task.
 * Return: true if the allocation has failed already.
 */
bool snap_kunit_failed(void)
{
	unsigned int left = READ_ONCE(current->fail_nth);

	WRITE_ONCE(current->fail_nth, 0);
	return !left;
}
#else
bool snap_kunit_may_fail(struct kunit *test)
{
	return false;
}

void snap_kunit_fail_nth(unsigned int n)
{
}

bool snap_kunit_failed(void)
{
	return false;
}
#endif

/**
 * snap_kunit_option() - apply an option of the command line
 * @test: the test
 * @name: its name, as __setup() has it; it may end with "="
 * @text: its value
 *
 * Context: Boot, may sleep.
 */
void __init snap_kunit_option(struct kunit *test, const char *name, const char *text)
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
 * snap_kunit_move() - pretend that the last kernel was loaded elsewhere
 * @memory: memory that survives a reboot, of 8 pages at least
 * @by:     bytes by which the last kernel was below this one
 *
 * Context: Any context; nothing uses the memory.
 */
void snap_kunit_move(void *memory, unsigned long by)
{
	u64 text = (unsigned long)ring_buffer_last_boot_delta;
	u32 *word, *end = memory + 8 * PAGE_SIZE;
	u64 at;

	for (word = memory; word < end; word++) {
		memcpy(&at, word, sizeof(at));
		if (at != text)
			continue;
		at -= by;
		memcpy(word, &at, sizeof(at));
	}
}

static void snap_kunit_free_range(void *memory)
{
	free_pages_exact(memory, SNAP_KUNIT_RANGE);
}

KUNIT_DEFINE_ACTION_WRAPPER(snap_kunit_free_range_action, snap_kunit_free_range, void *);

/**
 * snap_kunit_range() - allocate memory that survives a reboot
 * @test: the test, at the end of which it is freed
 *
 * Context: May sleep.
 * Return: SNAP_KUNIT_RANGE bytes, 0. Without any the test fails.
 */
void *snap_kunit_range(struct kunit *test)
{
	void *memory = alloc_pages_exact(SNAP_KUNIT_RANGE, GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, snap_kunit_free_range_action, memory),
			0);
	return memory;
}

/**
 * snap_kunit_boot() - move the ring buffer of the instance, as trace_instance=kunit@... does
 * @test:   the test
 * @memory: new place of the ring buffer, of SNAP_KUNIT_RANGE bytes
 * @image:  contents that the last boot has left there, or NULL
 * @spare:  reserve room for a snapshot
 * @flags:  flags of the instance
 *
 * Context: May sleep.
 */
void snap_kunit_boot(struct kunit *test, void *memory, const void *image, bool spare,
		     unsigned int flags)
{
	struct trace_array *tr = test->priv;
	struct array_buffer *buf = &tr->array_buffer;

	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	trace_snapshot_exit(tr);
	tr->snapshots = NULL;
	ring_buffer_free(buf->buffer);
	if (image)
		memcpy(memory, image, SNAP_KUNIT_RANGE);
	tr->range_addr_start = (unsigned long)memory;
	tr->range_addr_size = SNAP_KUNIT_RANGE;
	tr->flags = flags;
	buf->buffer = ring_buffer_alloc_range(0, RB_FL_OVERWRITE | (spare ? RB_FL_SPARE : 0), 0,
					      (unsigned long)memory, SNAP_KUNIT_RANGE);
	ring_buffer_last_boot_delta(buf->buffer, &buf->text_delta, &buf->data_delta);
	KUNIT_EXPECT_NOT_NULL(test, buf->buffer);
	KUNIT_EXPECT_EQ(test, trace_snapshot_init(tr), 0);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}
