// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the files in /proc/PID/trace: what is in them, their names, and what they hold.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/pid_namespace.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../../dat/tests/parse.h"
#include "../../tests/snapshots.h"
#include "../../trace_output.h"
#include "../internal.h"

#define VIEW_FILES_BYTES	SZ_256K

static const struct file_operations view_files_fops = {
	.llseek = trace_view_llseek,
};

static struct file *view_files_alloc(struct kunit *test)
{
	struct file *file = anon_inode_getfile("kunit", &view_files_fops, NULL, O_RDONLY);

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	return file;
}

/* Open a file of this task. Return: as trace_view_open(). */
static int view_files_try(struct file *file, const char *name)
{
	return trace_view_open(file, task_pid(current), &init_pid_ns, name, strlen(name));
}

static struct file *view_files_open(struct kunit *test, const char *name)
{
	struct file *file = view_files_alloc(test);

	KUNIT_ASSERT_EQ_MSG(test, view_files_try(file, name), 0, "%s", name);
	return file;
}

static void view_files_close(struct file *file)
{
	trace_view_release(file);
	__fput_sync(file);
}

static void view_files_refuse(struct kunit *test, const char *name)
{
	struct file *file = view_files_alloc(test);

	KUNIT_EXPECT_EQ_MSG(test, view_files_try(file, name), -ENOENT, "%s", name);
	__fput_sync(file);
}

/* Read from the begin, by @step bytes each time. Return: the bytes, with a 0 behind them. */
static char *view_files_read(struct kunit *test, struct file *file, size_t step, size_t *size)
{
	char *bytes = tfs_zalloc(test, VIEW_FILES_BYTES);
	char __user *user = tfs_user(test, VIEW_FILES_BYTES);
	ssize_t len;
	loff_t pos = 0, at;

	do {
		at = pos;
		len = trace_view_read(file, user, step, &pos);
		KUNIT_ASSERT_GE(test, len, (ssize_t)0);
		KUNIT_ASSERT_LT(test, pos, (loff_t)VIEW_FILES_BYTES);
		KUNIT_EXPECT_EQ(test, at + len, pos);
		KUNIT_ASSERT_EQ(test, copy_from_user(bytes + at, user, len), 0UL);
	} while (len);
	KUNIT_EXPECT_EQ(test, trace_view_llseek(file, 0, SEEK_END), pos);
	*size = pos;
	return bytes;
}

static char *view_files_bytes(struct kunit *test, const char *name, size_t step, size_t *size)
{
	struct file *file = view_files_open(test, name);
	char *bytes = view_files_read(test, file, step, size);

	view_files_close(file);
	return bytes;
}

static const char *view_files_text(struct kunit *test, const char *name)
{
	size_t size;
	char *text = view_files_bytes(test, name, 100, &size);

	KUNIT_EXPECT_EQ(test, strlen(text), size);
	return text;
}

/* Take the next line that is none of the header, without the name of its task. */
static const char *view_files_line(const char **text, size_t *len)
{
	const char *line, *end;

	do {
		line = *text;
		end = strchrnul(line, '\n');
		*text = *end ? end + 1 : end;
	} while (*line == '#');
	*len = end - line;
	return *line ? strnchr(line, *len, '-') : NULL;
}

static void view_files_mark(struct kunit *test, const char *text)
{
	tfs_set(test, "trace_marker", tfs_text(test, "%s\n", text));
}

/* A head with the counts, and lines as in "trace" */
static void view_files_test_text(struct kunit *test)
{
	const char *text, *trace, *line, *other, *want;
	size_t len, other_len;
	unsigned int nr = 0;

	view_files_mark(test, "one");
	view_files_mark(test, "two");
	view_files_mark(test, "");
	text = view_files_text(test, "kunit.txt");
	trace = tfs_read(test, "trace");
	want = tfs_text(test, "# instance=kunit pid=%d records=3 dropped=0 gaps=0\n", current->pid);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, want), "%s", text);
	want = tfs_text(test, "\n%16s-%d ", current->comm, current->pid);
	KUNIT_EXPECT_EQ(test, tfs_count(text, want), 3U);
	while ((line = view_files_line(&text, &len))) {
		other = view_files_line(&trace, &other_len);
		KUNIT_ASSERT_NOT_NULL(test, other);
		KUNIT_EXPECT_EQ_MSG(test, len, other_len, "%s", line);
		KUNIT_EXPECT_EQ_MSG(test, strncmp(line, other, strcspn(line, "\n")), 0, "%s", line);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, nr, 3U);
}

/* Lines of a channel begin with its name, and so do those that tell a loss. */
static void view_files_test_channel(struct kunit *test)
{
	const char *text;

	tfs_add(test, "kunit_channel", NULL, NULL);
	tfs_set(test, "/instances/kunit_channel/trace_clock", "mono");
	KUNIT_ASSERT_EQ(test, trace_session_join(test->priv, "kunit_channel", NULL), 0);
	view_files_mark(test, "mine");
	tfs_set(test, "/instances/kunit_channel/trace_marker", "its\n");
	text = view_files_text(test, "kunit.txt");
	KUNIT_EXPECT_EQ(test, tfs_count(text, "tracing_mark_write: mine\n"), 1U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "tracing_mark_write: its\n"), 1U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "\nkunit_channel: "), 1U);
}

/* Return: bytes of the pages of all CPUs. */
static u64 view_files_pages(struct dat_kunit *dat)
{
	unsigned int cpu;
	u64 size = 0;

	for (cpu = 0; cpu < dat->nr_cpus; cpu++)
		size += dat->table[0].range[cpu].size;
	return size;
}

/* The formats of what was recorded, the names of its functions and tasks, and its pages */
static void view_files_test_dat(struct kunit *test)
{
	struct dat_kunit *dat;
	char *bytes;
	size_t size;

	view_files_mark(test, "one");
	view_files_mark(test, "two");
	bytes = view_files_bytes(test, "kunit.dat", 5000, &size);
	dat = dat_kunit_parse(test, bytes, size);
	KUNIT_EXPECT_EQ(test, dat->page_size, PAGE_SIZE);
	dat_kunit_expect(dat, dat->header_page, tfs_read(test, "/events/header_page"));
	dat_kunit_expect(dat, dat->header_event, tfs_read(test, "/events/header_event"));
	KUNIT_EXPECT_EQ(test, dat->nr_formats, 1U);
	dat_kunit_expect(dat, dat->format[0].text, tfs_read(test, "/events/ftrace/print/format"));
	/* The address in such a record is that of the function that writes it. */
	KUNIT_EXPECT_NE(test, dat_kunit_symbol(dat, "tracing_mark_write"), 0ULL);
	dat_kunit_expect(dat, dat->printk, tfs_read(test, "/printk_formats"));
	dat_kunit_expect(dat, dat->names, tfs_text(test, "%d %s\n", current->pid, current->comm));
	KUNIT_ASSERT_EQ(test, dat->nr_options, 3U);
	KUNIT_EXPECT_EQ(test, (int)dat->option[0].id, DAT_KUNIT_CLOCK);
	KUNIT_EXPECT_EQ(test, (int)dat->option[1].id, DAT_KUNIT_UNAME);
	KUNIT_EXPECT_EQ(test, (int)dat->option[2].id, DAT_KUNIT_VERSION);
	KUNIT_EXPECT_EQ(test, tfs_count(dat->option[2].text.at, "\nclocks trace="), 1U);
	KUNIT_EXPECT_EQ(test, dat->nr_tables, 1U);
	dat_kunit_expect(dat, dat->table[0].clock, tfs_read(test, "trace_clock"));
	KUNIT_EXPECT_GT(test, view_files_pages(dat), 0ULL);
}

/* A reader that may not see addresses gets no names of them. */
static void view_files_test_no_symbols(struct kunit *test)
{
	struct file *file = view_files_alloc(test);
	int before = kptr_restrict, ret;
	struct dat_kunit *dat;
	char *bytes;
	size_t size;

	view_files_mark(test, "one");
	/* Nobody may see them. */
	kptr_restrict = 2;
	ret = view_files_try(file, "kunit.dat");
	kptr_restrict = before;
	KUNIT_ASSERT_EQ(test, ret, 0);
	bytes = view_files_read(test, file, SZ_4K, &size);
	dat = dat_kunit_parse(test, bytes, size);
	view_files_close(file);
	KUNIT_EXPECT_EQ(test, dat->nr_formats, 1U);
	KUNIT_EXPECT_EQ(test, dat->symbols.len, (size_t)0);
	KUNIT_EXPECT_EQ(test, dat->printk.len, (size_t)0);
	KUNIT_EXPECT_GT(test, view_files_pages(dat), 0ULL);
}

/* Counts of the jobs of a reader, of their records, and of things that are wrong */
static struct view_files_seen {
	struct task_struct	*reader;
	struct trace_view	*view;
	unsigned int		jobs;
	unsigned int		records;
	unsigned int		wrong;
} view_files_seen;

/* Get a lock that others hold for a moment, and the reader not at all. Return: false if it does. */
#define view_files_try_lock(trylock)						\
({										\
	unsigned int tries = 0;							\
	bool got;								\
										\
	while (!(got = (trylock)) && tries++ < 1000)				\
		schedule_timeout_uninterruptible(1);				\
	got;									\
})

/* The reader waits, and holds no lock that a change of tracing takes. */
static void view_files_look_at_job(struct trace_job *job)
{
	struct view_files_seen *seen = &view_files_seen;

	seen->jobs++;
	seen->wrong += job->task != seen->reader || current == seen->reader;
	if (view_files_try_lock(mutex_trylock(&event_mutex)))
		mutex_unlock(&event_mutex);
	else
		seen->wrong++;
	if (view_files_try_lock(mutex_trylock(&trace_types_lock)))
		mutex_unlock(&trace_types_lock);
	else
		seen->wrong++;
	if (view_files_try_lock(down_write_trylock(&seen->view->sem)))
		up_write(&seen->view->sem);
	else
		seen->wrong++;
	if (view_files_try_lock(down_write_trylock(&trace_event_sem)))
		up_write(&trace_event_sem);
	else
		seen->wrong++;
}

static void view_files_look_at_record(struct trace_array *tr)
{
	view_files_seen.records++;
	view_files_seen.wrong += current == view_files_seen.reader;
}

/* A worker takes the locks: to find the members, to copy the records, and to print the formats. */
static void view_files_test_worker(struct kunit *test)
{
	static const char * const names[] = { "kunit.txt", "kunit.dat" };
	struct trace_array *tr = test->priv;
	struct file *file;
	unsigned int i;

	view_files_mark(test, "one");
	view_files_mark(test, "two");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		view_files_seen = (struct view_files_seen){ .reader = current, .view = tr->view };
		file = view_files_alloc(test);
		trace_job_hook = view_files_look_at_job;
		view_race_hook = view_files_look_at_record;
		KUNIT_EXPECT_EQ(test, view_files_try(file, names[i]), 0);
		trace_job_hook = NULL;
		view_race_hook = NULL;
		view_files_close(file);
		KUNIT_EXPECT_EQ(test, view_files_seen.jobs, 2 + i);
		KUNIT_EXPECT_EQ(test, view_files_seen.records, 2U);
		KUNIT_EXPECT_EQ(test, view_files_seen.wrong, 0U);
	}
}

/* A worker may see addresses, and prints none where its reader may not see them. */
static void view_files_test_addresses(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	unsigned long address = (unsigned long)tr;
	unsigned int size = struct_size_t(struct bprint_entry, buf, sizeof(address) / sizeof(u32));
	struct bprint_entry *entry = tfs_zalloc(test, size);
	int before = kptr_restrict;
	const char *text;

	entry->ent.type = TRACE_BPRINT;
	entry->ent.pid = current->pid;
	entry->ip = _THIS_IP_;
	entry->fmt = "at %pK\n";
	memcpy(entry->buf, &address, sizeof(address));
	KUNIT_ASSERT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, size, entry), 0);
	/* CAP_SYSLOG is needed. */
	kptr_restrict = 1;
	text = view_files_text(test, "kunit.txt");
	kptr_restrict = before;
	KUNIT_EXPECT_EQ(test, tfs_count(text, tfs_text(test, ": at %0*x\n",
						       (int)(2 * sizeof(long)), 0)), 1U);
}

/* The clock may count ticks, and a record is shown if its time is behind that of a stamp. */
static void view_files_later(void)
{
	u64 now = trace_stamp_now(TRACE_STAMP_MONO);

	while (trace_stamp_now(TRACE_STAMP_MONO) == now)
		usleep_range(100, 200);
}

/* A record from before the instance was shown, or from while it was hidden, is not shown. */
static void view_files_test_since(struct kunit *test)
{
	const char *text;

	view_files_mark(test, "shown");
	tfs_set(test, "proc_view", "0");
	view_files_mark(test, "hidden");
	tfs_set(test, "proc_view", "1");
	view_files_later();
	view_files_mark(test, "again");
	text = view_files_text(test, "kunit.txt");
	KUNIT_EXPECT_EQ(test, tfs_count(text, "tracing_mark_write: "), 1U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "tracing_mark_write: again\n"), 1U);
}

#define VIEW_FILES_OLD	"ZZZZ"

/* As if another task had written each byte of the rings, and of the page of filters. */
static void view_files_leave_old(struct trace_array *tr)
{
	struct ring_buffer_event *page = raw_cpu_read(trace_buffered_event);
	struct {
		struct trace_entry	ent;
		char			old[200];
	} entry = { .ent.pid = current->pid + 1 };
	int i;

	memset(entry.old, *VIEW_FILES_OLD, sizeof(entry.old));
	for (i = 0; i < 5000; i++)
		ring_buffer_write(tr->array_buffer.buffer, sizeof(entry), &entry);
	if (page)
		memset(&page->array[1], *VIEW_FILES_OLD, PAGE_SIZE - sizeof(*page) - sizeof(u32));
}

/* Bytes that no writer has written are zeros in a trace.dat, wherever the record was reserved. */
static void view_files_expect_no_old(struct kunit *test)
{
	char name[TASK_COMM_LEN], other[TASK_COMM_LEN] = "a", *bytes, *at;
	size_t size;

	view_files_leave_old(test->priv);
	get_task_comm(name, current);
	set_task_comm(current, other);
	set_task_comm(current, name);
	view_files_mark(test, "odd");
	bytes = view_files_bytes(test, "kunit.dat", SZ_64K, &size);
	KUNIT_EXPECT_NOT_NULL(test, strnstr(bytes, "name: task_rename", size));
	for (at = bytes; at <= bytes + size - strlen(VIEW_FILES_OLD); at++)
		KUNIT_EXPECT_NE(test, memcmp(at, VIEW_FILES_OLD, strlen(VIEW_FILES_OLD)), 0);
	/* The text, its end, and what is left of 4 bytes */
	for (at = bytes; at <= bytes + size - 8 && memcmp(at, "odd\n", 4); at++)
		;
	KUNIT_EXPECT_EQ(test, memcmp(at, "odd\n\0\0\0\0", 8), 0);
}

static void view_files_test_old(struct kunit *test)
{
	tfs_set(test, "events/task/task_rename/enable", "1");
	view_files_expect_no_old(test);
	/* It is written to a page first. */
	tfs_set(test, "events/task/task_rename/filter", "oom_score_adj != 12345");
	view_files_expect_no_old(test);
	tfs_set(test, "events/task/task_rename/enable", "0");
}

/* The same where records are written to the stage of a CPU */
static void view_files_test_old_global(struct kunit *test)
{
	tfs_unexpand(test, test->priv);
	tfs_set(test, "options/global-buffer", "1");
	tfs_set(test, "buffer_allocate", "1");
	view_files_test_old(test);
}

/* Any size at any offset; what cannot be stored is not read. */
static void view_files_test_read(struct kunit *test)
{
	static const size_t steps[] = { 1, 7, 4096, 10000 };
	char __user *user = tfs_user(test, VIEW_FILES_BYTES);
	char *all, *bytes, part[16];
	size_t size, total;
	struct file *file;
	unsigned int i;
	loff_t pos;

	view_files_mark(test, "one");
	file = view_files_open(test, "kunit.dat");
	all = view_files_read(test, file, VIEW_FILES_BYTES, &total);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		bytes = view_files_read(test, file, steps[i], &size);
		KUNIT_EXPECT_EQ(test, size, total);
		KUNIT_EXPECT_EQ(test, memcmp(bytes, all, total), 0);
	}
	/* Across the end of a page of the caller */
	for (pos = 0; pos + 16 <= total; ) {
		size = pos;
		KUNIT_ASSERT_EQ(test, trace_view_read(file, user + PAGE_SIZE - 3, 16, &pos), 16L);
		KUNIT_ASSERT_EQ(test, copy_from_user(part, user + PAGE_SIZE - 3, 16), 0UL);
		KUNIT_EXPECT_EQ(test, memcmp(part, all + size, 16), 0);
		pos += 100;
	}
	pos = total;
	KUNIT_EXPECT_EQ(test, trace_view_read(file, user, 16, &pos), 0L);
	pos = 10;
	KUNIT_EXPECT_EQ(test, trace_view_read(file, user, 0, &pos), 0L);
	KUNIT_EXPECT_EQ(test, trace_view_read(file, NULL, 16, &pos), (ssize_t)-EFAULT);
	KUNIT_EXPECT_EQ(test, pos, 10LL);
	KUNIT_EXPECT_EQ(test, trace_view_llseek(file, -1, SEEK_SET), (loff_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, trace_view_llseek(file, 1, SEEK_END), (loff_t)-EINVAL);
	view_files_close(file);
}

static bool view_files_exists(const char *name)
{
	return trace_view_exists(name, strlen(name));
}

/* How many files are listed, all or those with a name? */
static unsigned int view_files_listed(struct kunit *test, const char *text)
{
	struct trace_view_name name;
	unsigned int i, nr = 0;

	for (i = 0; trace_view_list(i, &name); i++) {
		KUNIT_EXPECT_EQ(test, name.len, strlen(name.text));
		nr += !text || !strcmp(name.text, text);
	}
	return nr;
}

/* An instance that is shown has two files; no other name is one. */
static void view_files_test_names(struct kunit *test)
{
	static const char * const others[] = {
		"", "kunit", ".txt", ".dat", "kunit.tx", "kunit.txt2", "kunit.xyz", "kuni.txt",
		"kunit2.txt", "unit.txt",
	};
	unsigned int i, before;

	tfs_set(test, "proc_view", "0");
	before = view_files_listed(test, NULL);
	KUNIT_EXPECT_FALSE(test, view_files_exists("kunit.txt"));
	view_files_refuse(test, "kunit.txt");
	for (i = 0; i < 2; i++) {
		tfs_set(test, "proc_view", "1");
		tfs_expect(test, "proc_view", "1\n");
		KUNIT_EXPECT_EQ(test, view_files_listed(test, NULL), before + 2);
		KUNIT_EXPECT_EQ(test, view_files_listed(test, "kunit.txt"), 1U);
		KUNIT_EXPECT_EQ(test, view_files_listed(test, "kunit.dat"), 1U);
		KUNIT_EXPECT_TRUE(test, view_files_exists("kunit.txt"));
		KUNIT_EXPECT_TRUE(test, view_files_exists("kunit.dat"));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_EXPECT_FALSE_MSG(test, view_files_exists(others[i]), "%s", others[i]);
		view_files_refuse(test, others[i]);
	}
	for (i = 0; i < 2; i++) {
		tfs_set(test, "proc_view", "0");
		tfs_expect(test, "proc_view", "0\n");
		KUNIT_EXPECT_EQ(test, view_files_listed(test, NULL), before);
		KUNIT_EXPECT_FALSE(test, view_files_exists("kunit.dat"));
	}
}

/* A refused value says why, and changes nothing. */
static void view_files_test_refused(struct kunit *test)
{
	static const char * const values[] = { "2", "on", "1 0" };
	static const char value[] = "Invalid value, expected 0 or 1";
	static const char boot[] = "Its memory survives a reboot, and PIDs do not";
	static const char clock[] =
		"Its clock has no times of tasks: set trace_clock to global, mono or boot";
	struct trace_array *tr = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		tfs_fails(test, "proc_view", values[i], -EINVAL, value);
	tfs_expect(test, "proc_view", "1\n");
	tfs_set(test, "proc_view", " 0\n");
	tr->range_addr_start = 1;
	tfs_fails(test, "proc_view", "1", -EINVAL, boot);
	tr->range_addr_start = 0;
	tfs_set(test, "trace_clock", "counter");
	tfs_fails(test, "proc_view", "1", -EOPNOTSUPP, clock);
	tfs_expect(test, "proc_view", "0\n");
	/* An instance that is shown stays so. */
	tfs_set(test, "trace_clock", "mono");
	tfs_set(test, "proc_view", "1");
	tfs_set(test, "trace_clock", "counter");
	tfs_set(test, "proc_view", "1");
	/* Longer than any value */
	tfs_refuse(test, "proc_view", "1              0", -EINVAL);
}

/* A name with an ending is no longer than any name of a file. */
static void view_files_test_long_name(struct kunit *test)
{
	char name[NAME_MAX + 1];
	const char *path;
	unsigned int len;

	for (len = NAME_MAX - TRACE_VIEW_ENDING; len < NAME_MAX; len++) {
		memset(name, 'k', len);
		name[len] = 0;
		tfs_add(test, name, NULL, NULL);
		tfs_set(test, tfs_text(test, "/instances/%s/trace_clock", name), "mono");
		path = tfs_text(test, "/instances/%s/proc_view", name);
		KUNIT_EXPECT_EQ(test, tfs_write(test, path, "1"),
				len == NAME_MAX - TRACE_VIEW_ENDING ? 1L : -ENAMETOOLONG);
	}
}

/* A second open of the user, while the first one is in the middle of its copy */
static struct view_files_second {
	struct task_struct	*task;
	struct file		*file;
	struct pid		*pid;
	bool			limit;
	bool			kill;
	bool			waited;
	struct completion	begun;
	struct completion	done;
	int			ret;
} view_files_second;

/*
 * Begin to have the limits of users: this task has CAP_SYS_RESOURCE. Return: for
 * view_files_unlimit(), or NULL without memory.
 */
static const struct cred *view_files_limit(void)
{
	struct cred *cred = prepare_creds();

	if (!cred)
		return NULL;
	cap_lower(cred->cap_effective, CAP_SYS_RESOURCE);
	return override_creds(cred);
}

static void view_files_unlimit(const struct cred *old)
{
	const struct cred *cred = current_cred();

	revert_creds(old);
	put_cred(cred);
}

static int view_files_second_thread(void *data)
{
	struct view_files_second *second = data;
	const struct cred *old = second->limit ? view_files_limit() : NULL;

	allow_signal(SIGKILL);
	complete(&second->begun);
	second->ret = trace_view_open(second->file, second->pid, &init_pid_ns, "kunit.txt",
				      strlen("kunit.txt"));
	complete_all(&second->done);
	if (old)
		view_files_unlimit(old);
	while (!kthread_should_stop()) {
		flush_signals(current);
		schedule_timeout_interruptible(1);
	}
	return 0;
}

/* In the first open: the second one is made, and waits; it may be killed. */
static void view_files_begin_second(struct trace_array *tr)
{
	struct view_files_second *second = &view_files_second;
	struct task_struct *task;

	view_race_hook = NULL;
	task = kthread_run(view_files_second_thread, second, "view_kunit");
	if (IS_ERR(task))
		return;
	second->task = task;
	wait_for_completion(&second->begun);
	if (!second->limit) {
		second->waited = !wait_for_completion_timeout(&second->done, 20 * HZ);
		return;
	}
	/* A sleep that is not killable counts, too: the signal tells them apart. */
	while (!(READ_ONCE(task->__state) & TASK_UNINTERRUPTIBLE) &&
	       !completion_done(&second->done))
		schedule_timeout_uninterruptible(1);
	second->waited = !completion_done(&second->done);
	if (second->kill) {
		send_sig(SIGKILL, task, 1);
		/* It ends before this one does. */
		second->waited &= !!wait_for_completion_timeout(&second->done, 20 * HZ);
	}
}

/* Return: what the second open has returned. */
static int view_files_open_two(struct kunit *test, bool limit, bool kill)
{
	struct view_files_second *second = &view_files_second;
	const struct cred *old;
	struct file *first;
	int ret;

	*second = (struct view_files_second){
		.file = view_files_alloc(test), .pid = task_pid(current), .limit = limit,
		.kill = kill,
	};
	init_completion(&second->begun);
	init_completion(&second->done);
	first = view_files_alloc(test);
	old = view_files_limit();
	KUNIT_ASSERT_NOT_NULL(test, old);
	view_race_hook = view_files_begin_second;
	ret = view_files_try(first, "kunit.txt");
	view_race_hook = NULL;
	view_files_unlimit(old);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_NOT_NULL(test, second->task);
	KUNIT_EXPECT_EQ(test, second->waited, limit);
	wait_for_completion(&second->done);
	kthread_stop(second->task);
	view_files_close(first);
	return second->ret;
}

/* Open as a user, until that is refused. Return: how many files are open. */
static unsigned int view_files_fill_limit(struct kunit *test, struct file **files, unsigned int nr)
{
	const struct cred *old = view_files_limit();
	unsigned int i;
	int ret = 0;

	KUNIT_ASSERT_NOT_NULL(test, old);
	for (i = 0; i < nr; i++) {
		files[i] = view_files_alloc(test);
		ret = view_files_try(files[i], "kunit.txt");
		if (ret)
			break;
	}
	view_files_unlimit(old);
	KUNIT_EXPECT_EQ(test, ret, -EDQUOT);
	if (i < nr)
		__fput_sync(files[i]);
	return i;
}

/* A task with CAP_SYS_RESOURCE is not counted, and has no limit if its user has reached it. */
static void view_files_test_limit(struct kunit *test)
{
	struct file *files[VIEW_FILES + 1], *more[VIEW_FILES + 1];
	unsigned int i, nr, round;

	for (round = 0; round < 2; round++) {
		nr = view_files_fill_limit(test, files, ARRAY_SIZE(files));
		KUNIT_EXPECT_EQ(test, nr, VIEW_FILES);
		for (i = 0; i < ARRAY_SIZE(more); i++)
			more[i] = view_files_open(test, "kunit.txt");
		for (i = 0; i < ARRAY_SIZE(more); i++)
			view_files_close(more[i]);
		while (nr)
			view_files_close(files[--nr]);
	}
}

/* One open at a time copies for a user: the second one goes on behind it, or is killed. */
static void view_files_test_busy(struct kunit *test)
{
	struct file *file;
	size_t size;

	view_files_mark(test, "one");
	KUNIT_ASSERT_EQ(test, view_files_open_two(test, true, false), 0);
	file = view_files_second.file;
	KUNIT_EXPECT_EQ(test, tfs_count(view_files_read(test, file, 100, &size),
					"tracing_mark_write: one\n"), 1U);
	view_files_close(file);
	KUNIT_EXPECT_EQ(test, view_files_open_two(test, true, true), -EINTR);
	__fput_sync(view_files_second.file);
	/* It has no limits. */
	KUNIT_ASSERT_EQ(test, view_files_open_two(test, false, false), 0);
	view_files_close(view_files_second.file);
}

/* A file holds the task, and no longer than it is open. */
static void view_files_test_tasks(struct kunit *test)
{
	unsigned int before = refcount_read(&current->usage);
	struct file *file;

	view_files_mark(test, "one");
	file = view_files_open(test, "kunit.txt");
	KUNIT_EXPECT_GT(test, refcount_read(&current->usage), before);
	view_files_close(file);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), before);
}

/* Each allocation of an open fails: it says so, and keeps nothing. */
static void view_files_test_open_fails(struct kunit *test)
{
	static const char * const names[] = { "kunit.txt", "kunit.dat" };
	unsigned int before = refcount_read(&current->usage), failures, i, n;
	struct file *file;
	bool failed;
	int ret;

	tfs_need_failures(test);
	file = view_files_alloc(test);
	view_files_mark(test, "one");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		failed = true;
		failures = 0;
		for (n = 1; failed && n < 1000; n++) {
			tfs_fail_nth(n);
			ret = view_files_try(file, names[i]);
			failed = tfs_failed();
			if (ret)
				failures++;
			else
				trace_view_release(file);
			KUNIT_EXPECT_TRUE_MSG(test, !ret || (failed && ret == -ENOMEM), "%u: %d", n,
					      ret);
			KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), before);
		}
		KUNIT_EXPECT_FALSE(test, failed);
		KUNIT_EXPECT_GT(test, failures, 5U);
	}
	__fput_sync(file);
}

static int view_files_init(struct kunit *test)
{
	tfs_init_small(test);
	tfs_set(test, "trace_clock", "mono");
	tfs_set(test, "proc_view", "1");
	/* Behind the fork of this thread, too */
	view_files_later();
	return 0;
}

static struct kunit_case view_files_cases[] = {
	KUNIT_CASE(view_files_test_text),
	KUNIT_CASE(view_files_test_channel),
	KUNIT_CASE(view_files_test_dat),
	KUNIT_CASE(view_files_test_worker),
	KUNIT_CASE(view_files_test_no_symbols),
	KUNIT_CASE(view_files_test_addresses),
	KUNIT_CASE(view_files_test_since),
	KUNIT_CASE(view_files_test_old),
	KUNIT_CASE(view_files_test_old_global),
	KUNIT_CASE(view_files_test_read),
	KUNIT_CASE(view_files_test_names),
	KUNIT_CASE(view_files_test_refused),
	KUNIT_CASE(view_files_test_long_name),
	KUNIT_CASE(view_files_test_limit),
	KUNIT_CASE(view_files_test_busy),
	KUNIT_CASE(view_files_test_tasks),
	KUNIT_CASE(view_files_test_open_fails),
	{}
};

static struct kunit_suite view_files_suite = {
	.name = "trace_proc_view_files",
	.init = view_files_init,
	.exit = tfs_exit,
	.test_cases = view_files_cases,
};

kunit_test_suite(view_files_suite);
