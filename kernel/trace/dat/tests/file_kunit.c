// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of trace.dat: the same bytes for each read, where the pages are, and without memory.
 */
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "../../ring_buffer/format.h"
#include "../../tests/snapshots.h"
#include "../internal.h"

/* The largest file of a test */
#define DAT_KUNIT_BYTES		SZ_1M

/* Write records of @len bytes, the first of which are their number. */
static void dat_write(struct kunit *test, struct trace_array *tr, unsigned int len,
		      unsigned int from, unsigned int end)
{
	u32 *record = tfs_zalloc(test, len);

	for (; from < end; from++) {
		*record = from;
		KUNIT_ASSERT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, len, record), 0);
	}
}

/* Take a snapshot that is kept. The others are removed. Return: the path of its trace.dat. */
static const char *dat_take(struct kunit *test)
{
	tfs_set(test, "snapshot_keep", "1");
	tfs_set(test, "snapshot", "1");
	snap_tend(snap_kunit(test));
	return tfs_text(test, "/instances/kunit@%llu/trace.dat", snap_kunit(test)->user.seq);
}

static struct file *dat_open(struct kunit *test, const char *path)
{
	return tfs_open(test, path, O_RDONLY);
}

static void *dat_buffer(struct kunit *test)
{
	return tfs_zalloc(test, DAT_KUNIT_BYTES);
}

/* Read all of it, from its begin. Return: the number of bytes. */
static size_t dat_read_all(struct kunit *test, struct file *file, char *bytes)
{
	ssize_t len = 1;
	loff_t pos = 0;

	while (len > 0) {
		len = kernel_read(file, bytes + pos, DAT_KUNIT_BYTES - pos, &pos);
		KUNIT_ASSERT_GE(test, len, 0L);
	}
	KUNIT_ASSERT_LT(test, pos, (loff_t)DAT_KUNIT_BYTES);
	return pos;
}

/* Expect @size bytes at @pos as in @all, or what there is of them. */
static void dat_expect(struct kunit *test, struct file *file, const char *all, size_t total,
		       loff_t pos, size_t size, char *part)
{
	ssize_t want = pos < total ? min(size, total - (size_t)pos) : 0;
	loff_t at = pos;

	KUNIT_EXPECT_EQ_MSG(test, kernel_read(file, part, size, &at), want, "%zu at %lld of %zu",
			    size, pos, total);
	KUNIT_EXPECT_EQ_MSG(test, at, pos + want, "%zu at %lld of %zu", size, pos, total);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(part, all + pos, want), 0, "%zu at %lld of %zu", size, pos,
			    total);
}

/* Around each place where one part of the file ends and another one begins */
static void dat_expect_edges(struct kunit *test, struct file *file, const char *all, size_t total,
			     size_t size, char *part)
{
	struct dat_file *f = container_of(file->private_data, struct dat_file, reading);
	loff_t edge = 0, pos;
	unsigned int i;

	for (i = 0; i < f->nr_parts; edge += f->part[i++].len) {
		for (pos = max(edge - 2, 0); pos < edge + 2; pos++)
			dat_expect(test, file, all, total, pos, size, part);
	}
	for (edge = f->begin; edge <= f->reading.size; edge += f->member[0].pages.page_size) {
		for (pos = edge - 2; pos < edge + 2; pos++)
			dat_expect(test, file, all, total, pos, size, part);
	}
}

/* Any size at any offset, of two files at once */
static void dat_test_pieces(struct kunit *test)
{
	static const size_t sizes[] = { 1, 3, 16, 511, 4095, 4096, 4097, 10007, 65536, SZ_512K };
	char *all = dat_buffer(test), *part = dat_buffer(test);
	struct rnd_state rnd;
	struct file *file[2];
	const char *path;
	unsigned int i, n;
	size_t total;

	dat_write(test, test->priv, 600, 0, 60);
	path = dat_take(test);
	file[0] = dat_open(test, path);
	file[1] = dat_open(test, path);
	total = dat_read_all(test, file[0], all);
	KUNIT_EXPECT_GT(test, total, (size_t)SZ_32K);
	prandom_seed_state(&rnd, 7);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (n = 0; n < 400; n++)
			dat_expect(test, file[n % 2], all, total,
				   prandom_u32_state(&rnd) % (total + 10), sizes[i], part);
		dat_expect_edges(test, file[0], all, total, sizes[i], part);
	}
	tfs_close(file[1]);
	dat_expect(test, file[0], all, total, 100, 0, part);

	/* A program that reads from one place to the next */
	for (i = 0; i < total; i += n) {
		n = tfs_read_file(test, file[0], part, 1 + prandom_u32_state(&rnd) % 9000);
		KUNIT_ASSERT_GT(test, n, 0U);
		KUNIT_ASSERT_LE(test, i + n, total);
		KUNIT_EXPECT_EQ(test, memcmp(part, all + i, n), 0);
	}
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file[0], part, 10), 0L);
	tfs_close(file[0]);
}

static void dat_test_seek(struct kunit *test)
{
	char *all = dat_buffer(test), *part = dat_buffer(test);
	struct file *file;
	size_t total;

	dat_write(test, test->priv, 600, 0, 30);
	file = dat_open(test, dat_take(test));
	total = dat_read_all(test, file, all);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 0, SEEK_END), (loff_t)total);
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, part, 1), 0L);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, -100, SEEK_END), (loff_t)total - 100);
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, part, 200), 100L);
	KUNIT_EXPECT_EQ(test, memcmp(part, all + total - 100, 100), 0);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, -50, SEEK_CUR), (loff_t)total - 50);
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, part, 7), 7L);
	KUNIT_EXPECT_EQ(test, memcmp(part, all + total - 50, 7), 0);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 10, SEEK_SET), 10LL);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, -1, SEEK_SET), (loff_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 1, SEEK_END), (loff_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, file->f_pos, 10LL);
	tfs_close(file);
}

static const struct rb_data_page *dat_page(struct file *file, const char *all, unsigned int i)
{
	struct dat_file *f = container_of(file->private_data, struct dat_file, reading);

	return (const void *)all + f->begin + i * f->member[0].pages.page_size;
}

static u32 dat_first(const struct rb_data_page *page)
{
	return *(u32 *)ring_buffer_event_data((struct ring_buffer_event *)page->data);
}

/*
 * The number of lost records is on the first page, also where a sub-buffer has no room for it
 * behind its records: then it makes two pages.
 */
static void dat_test_lost(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	char *all = dat_buffer(test);
	const struct rb_data_page *page;
	unsigned int room, full, first, i, n;
	unsigned long lost, stored;
	struct dat_file *f;
	struct file *file;
	long commit;

	/* With this clock no record has a stamp in front. */
	tfs_set(test, "trace_clock", "counter");
	room = ring_buffer_subbuf_size_get(buffer) - RB_PAGE_HDR;
	for (full = 0; full < 2; full++) {
		/* Two records fill a sub-buffer, or leave as much room as the number needs. */
		for (n = 0; n < 300; n++)
			dat_write(test, tr, (n % 2 ? room - 2048 - (full ? 0 : 16) : 2048) - 8, n,
				  n + 1);
		lost = ring_buffer_overruns(buffer);
		KUNIT_EXPECT_GT(test, lost, 0UL);
		KUNIT_EXPECT_EQ(test, lost % 2, 0UL);
		file = dat_open(test, dat_take(test));
		dat_read_all(test, file, all);
		f = container_of(file->private_data, struct dat_file, reading);
		n = (size_t)(f->reading.size - f->begin) / f->member[0].pages.page_size;
		KUNIT_EXPECT_EQ(test, n, (300 - (unsigned int)lost) / 2 + full);
		for (i = 0; i < n; i++) {
			page = dat_page(file, all, i);
			commit = *(const long *)&page->commit;
			if (i) {
				KUNIT_EXPECT_FALSE(test, commit & (RB_MISSED_EVENTS |
								   RB_MISSED_STORED));
				/* With two pages of the first sub-buffer, this is one less. */
				first = full && i > 1 ? 2 * (i - 1) : 2 * i - full;
				KUNIT_EXPECT_EQ(test, dat_first(page), lost + first);
				continue;
			}
			KUNIT_EXPECT_TRUE(test, commit & RB_MISSED_EVENTS);
			KUNIT_EXPECT_TRUE(test, commit & RB_MISSED_STORED);
			commit &= ~(RB_MISSED_EVENTS | RB_MISSED_STORED);
			KUNIT_EXPECT_EQ(test, commit, full ? 2048L : (long)room - 16);
			memcpy(&stored, page->data + commit, sizeof(stored));
			KUNIT_EXPECT_EQ(test, stored, lost);
			KUNIT_EXPECT_EQ(test, dat_first(page), lost);
		}
		tfs_close(file);
	}
}

/* A file without records ends where the pages would begin. */
static void dat_test_empty(struct kunit *test)
{
	char *all = dat_buffer(test), *part = dat_buffer(test);
	struct dat_file *f;
	struct file *file;
	unsigned int cpu;
	size_t total;

	file = dat_open(test, dat_take(test));
	total = dat_read_all(test, file, all);
	f = container_of(file->private_data, struct dat_file, reading);
	KUNIT_EXPECT_EQ(test, (u64)total, f->begin);
	KUNIT_EXPECT_EQ(test, total % PAGE_SIZE, (size_t)0);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 0, SEEK_END), (loff_t)total);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		KUNIT_EXPECT_EQ(test, f->range[cpu].size, 0ULL);
	dat_expect_edges(test, file, all, total, 4096, part);
	tfs_close(file);
}

/* Of a session: rings without records before, between and behind one that has some */
static void dat_test_channels(struct kunit *test)
{
	static const char * const names[] = { "kunit_1", "kunit_2", "kunit_3" };
	char *all = dat_buffer(test), *part = dat_buffer(test);
	struct trace_array *channel[3];
	struct dat_file *f;
	struct file *file;
	unsigned int i;
	size_t total;

	for (i = 0; i < 3; i++) {
		channel[i] = tfs_add(test, names[i], NULL, i == 1 ? "64" : NULL);
		tfs_set(test, "channels", names[i]);
	}
	dat_write(test, channel[1], 600, 0, 30);
	file = dat_open(test, dat_take(test));
	total = dat_read_all(test, file, all);
	f = container_of(file->private_data, struct dat_file, reading);
	KUNIT_ASSERT_EQ(test, f->nr, 4U);
	for (i = 0; i < 4 * nr_cpu_ids; i++)
		KUNIT_EXPECT_EQ(test, !!f->range[i].size,
				i / nr_cpu_ids == 2 && i % nr_cpu_ids == 0);
	KUNIT_EXPECT_EQ(test, (u64)total, f->begin + f->range[2 * nr_cpu_ids].size);
	KUNIT_EXPECT_EQ(test, dat_first(dat_page(file, all, 0)), 0U);
	dat_expect_edges(test, file, all, total, 5000, part);
	tfs_close(file);
}

/* CPUs without records, and with more than 4 GB of them: on paper */
static void dat_test_place(struct kunit *test)
{
	struct dat_range range[] = {
		{ .size = 0 }, { .size = SZ_4K }, { .size = 0 }, { .size = 5ULL * SZ_1G },
		{ .size = 0 }, { .size = 0 }, { .size = 3ULL * SZ_1G + SZ_4K },
		{ .size = 1ULL << 42 }, { .size = SZ_64K }, { .size = 0 },
	};
	const u64 begin = 3 * SZ_4K;
	u64 at = begin;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, dat_place(range, ARRAY_SIZE(range), begin),
			begin + SZ_4K + 8ULL * SZ_1G + SZ_4K + (1ULL << 42) + SZ_64K);
	for (i = 0; i < ARRAY_SIZE(range); i++) {
		KUNIT_EXPECT_EQ(test, range[i].offset, at);
		at += range[i].size;
		if (!range[i].size)
			continue;
		KUNIT_EXPECT_EQ(test, dat_find(range, range[i].offset), i);
		KUNIT_EXPECT_EQ(test, dat_find(range, range[i].offset + range[i].size / 2), i);
		KUNIT_EXPECT_EQ(test, dat_find(range, at - 1), i);
	}
	KUNIT_EXPECT_EQ(test, dat_place(range, 0, 1ULL << 33), 1ULL << 33);
}

/* Pages behind the first 4 GB are read as those in front of them. */
static void dat_test_far(struct kunit *test)
{
	char *all = dat_buffer(test), *part = dat_buffer(test);
	const u64 far = 5ULL * SZ_1G;
	struct dat_file *f;
	struct file *file;
	unsigned int cpu;
	loff_t pos, to;
	size_t total;
	u64 begin;

	dat_write(test, test->priv, 600, 0, 60);
	file = dat_open(test, dat_take(test));
	total = dat_read_all(test, file, all);
	f = container_of(file->private_data, struct dat_file, reading);
	begin = f->begin;
	f->begin += far;
	f->reading.size = dat_place(f->range, nr_cpu_ids, f->begin);
	memset(f->next, 0, nr_cpu_ids * sizeof(*f->next));
	KUNIT_EXPECT_EQ(test, f->reading.size, far + total);
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 0, SEEK_END), (loff_t)(far + total));
	for (pos = begin; pos < total; pos += 1001) {
		to = pos + far;
		KUNIT_EXPECT_EQ(test, kernel_read(file, part, 1001, &to),
				min((ssize_t)1001, (ssize_t)(total - pos)));
		KUNIT_EXPECT_EQ_MSG(test, memcmp(part, all + pos, to - pos - far), 0, "%lld", pos);
	}
	/* Zeros are in front of them. */
	for (to = begin + far - 4096; to < (loff_t)(begin + far); ) {
		KUNIT_ASSERT_EQ(test, kernel_read(file, part, 512, &to), 512L);
		KUNIT_EXPECT_NULL(test, memchr_inv(part, 0, 512));
	}
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		KUNIT_EXPECT_GE(test, f->range[cpu].offset, far);
	tfs_close(file);
}

/* The path of trace_pipe beside a trace.dat */
static const char *dat_pipe(struct kunit *test, const char *path)
{
	return tfs_text(test, "%.*s_pipe", (int)(strlen(path) - strlen(".dat")), path);
}

/* A consumer is not excluded. */
static void dat_open_pipe(struct kunit *test, const char *path)
{
	tfs_close(dat_open(test, dat_pipe(test, path)));
}

/* The instance that the snapshot is of has said so once, and says nothing else. */
static void dat_expect_error(struct kunit *test, const char *why)
{
	const char *log = tfs_read(test, "error_log");

	KUNIT_EXPECT_EQ_MSG(test, tfs_count(log, "trace.dat: error: "), 1U, "%s", log);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(log, why), 1U, "%s", log);
	tfs_empty(test, "error_log");
}

static void dat_refuse(struct kunit *test, const char *path, int err)
{
	struct file *file = tfs_try_open(test, path, O_RDONLY);

	KUNIT_EXPECT_TRUE_MSG(test, IS_ERR(file), "%s", path);
	KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(file), (long)err, "%s", path);
	tfs_close(file);
}

/* Neither a reader of the pipe nor one of the file takes the records from the other one. */
static void dat_test_beside(struct kunit *test)
{
	struct file *file[2], *pipe[2];
	const char *dat, *beside;

	dat_write(test, test->priv, 600, 0, 3);
	dat = dat_take(test);
	beside = dat_pipe(test, dat);
	pipe[0] = dat_open(test, beside);
	file[0] = dat_open(test, dat);
	file[1] = dat_open(test, dat);
	pipe[1] = dat_open(test, beside);
	tfs_close(pipe[0]);
	tfs_close(file[0]);
	tfs_close(pipe[1]);
	tfs_close(file[1]);
	tfs_expect(test, beside, tfs_read(test, beside));
	tfs_close(dat_open(test, dat));
}

/* No memory is allowed for the parts. */
static void dat_test_no_room(struct kunit *test)
{
	const char *dat;

	dat_write(test, test->priv, 600, 0, 3);
	dat = dat_take(test);
	snap_kunit_limit(test, snap_kunit_kb(test) + 1);
	dat_refuse(test, dat, -ENOSPC);
	dat_expect_error(test, "snapshot_limit_kb allows no more memory");
	tfs_set(test, "snapshot_limit_kb", "0");
	tfs_close(dat_open(test, dat));
}

/* The format has one size of pages. */
static void dat_test_sizes(struct kunit *test)
{
	struct trace_array *channel = tfs_add(test, "kunit_wide", NULL, "256");
	const char *dat;

	tfs_set(test, "/instances/kunit_wide/buffer_subbuf_size_kb", "16");
	tfs_set(test, "channels", "kunit_wide");
	dat_write(test, channel, 600, 0, 3);
	dat = dat_take(test);
	dat_refuse(test, dat, -EOPNOTSUPP);
	dat_expect_error(test, "Its channels have several sizes of sub-buffers");
	/* Nobody is kept out afterwards. */
	dat_open_pipe(test, dat);
}

/* The instance of the only snapshot that is kept */
static struct trace_array *dat_kept(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	guard(mutex)(&trace_types_lock);
	return list_first_entry(&tr->snapshots->keeper.kept, struct trace_snap, node)->kept;
}

/* Return: the memory of the parts that are captured. */
static unsigned long dat_kb(struct kunit *test)
{
	struct trace_dat *dat = dat_kept(test)->dat;

	return dat ? dat->kb : 0;
}

static unsigned int dat_pages_scanned, dat_locks_held;
static struct task_struct *dat_scanner;

/* Behind each page that is scanned: does this task hold a lock that others wait for? */
static void dat_look_at_locks(void)
{
	dat_pages_scanned++;
	dat_scanner = current;
#ifdef CONFIG_LOCKDEP
	dat_locks_held += lockdep_is_held(&event_mutex) || lockdep_is_held(&trace_types_lock);
#endif
}

static void dat_scan_with(void (*hook)(void))
{
	dat_pages_scanned = 0;
	dat_locks_held = 0;
	dat_scanner = NULL;
	dat_scan_hook = hook;
}

/* The records are read once, by the first open, and with no lock that others wait for. */
static void dat_test_scan(struct kunit *test)
{
	const char *path;

	dat_write(test, test->priv, 600, 0, 60);
	path = dat_take(test);
	dat_scan_with(dat_look_at_locks);
	/* A removal of an event takes as long as without records. */
	scoped_guard(mutex, &event_mutex)
		trace_dat_end_event(dat_kept(test));
	KUNIT_EXPECT_EQ(test, dat_pages_scanned, 0U);
	KUNIT_EXPECT_NOT_NULL(test, dat_kept(test)->dat);
	tfs_close(dat_open(test, path));
	KUNIT_EXPECT_GT(test, dat_pages_scanned, 5U);
	KUNIT_EXPECT_EQ(test, dat_locks_held, 0U);
	/* The task that opens may be slow. */
	KUNIT_EXPECT_PTR_NE(test, dat_scanner, current);
	dat_pages_scanned = 0;
	tfs_close(dat_open(test, path));
	dat_capture_all();
	KUNIT_EXPECT_EQ(test, dat_pages_scanned, 0U);

	/* A module goes: that is the same scan. */
	dat_write(test, test->priv, 600, 0, 60);
	dat_take(test);
	dat_scan_with(dat_look_at_locks);
	dat_capture_all();
	dat_scan_hook = NULL;
	KUNIT_EXPECT_GT(test, dat_pages_scanned, 5U);
	KUNIT_EXPECT_EQ(test, dat_locks_held, 0U);
	KUNIT_EXPECT_PTR_EQ(test, dat_scanner, current);
	KUNIT_EXPECT_TRUE(test, dat_kept(test)->dat->scanned);
}

/* The job that has begun last, how many there were, and how many of them found a lock held */
static struct trace_job *dat_job;
static unsigned int dat_jobs, dat_jobs_locked;

/* Does the task hold event_mutex? Another one holds it for a moment only. */
static void dat_look_at_job(struct trace_job *job)
{
	unsigned int tries = 0;

	dat_job = job;
	dat_jobs++;
	while (!mutex_trylock(&event_mutex)) {
		if (tries++ == 1000) {
			dat_jobs_locked++;
			return;
		}
		schedule_timeout_uninterruptible(1);
	}
	mutex_unlock(&event_mutex);
}

/* A worker captures, not the task that opens. */
static void dat_test_worker(struct kunit *test)
{
	const char *path;

	dat_write(test, test->priv, 600, 0, 3);
	path = dat_take(test);
	dat_jobs = 0;
	dat_jobs_locked = 0;
	trace_job_hook = dat_look_at_job;
	tfs_close(dat_open(test, path));
	trace_job_hook = NULL;
	KUNIT_EXPECT_EQ(test, dat_jobs, 1U);
	KUNIT_EXPECT_EQ(test, dat_jobs_locked, 0U);
	KUNIT_EXPECT_TRUE(test, dat_kept(test)->dat->scanned);
}

static void dat_kill_task(struct task_struct *task)
{
	spin_lock_irq(&task->sighand->siglock);
	sigaddset(&task->pending.signal, SIGKILL);
	signal_wake_up(task, true);
	spin_unlock_irq(&task->sighand->siglock);
}

/* Kill the task that opens, and wait until it has told the worker. */
static void dat_kill(void)
{
	unsigned int tries;

	dat_pages_scanned++;
	dat_kill_task(dat_job->task);
	for (tries = 0; tries < 1000 && !trace_job_is_stopped(dat_job); tries++)
		schedule_timeout_uninterruptible(1);
}

/* A kill ends the scan behind the page, and the next open begins it again. */
static void dat_test_killed(struct kunit *test)
{
	struct file *file;
	const char *path;

	dat_write(test, test->priv, 600, 0, 60);
	path = dat_take(test);
	trace_job_hook = dat_look_at_job;
	dat_scan_with(dat_kill);
	file = tfs_try_open(test, path, O_RDONLY);
	tfs_kill(false);
	dat_scan_hook = NULL;
	trace_job_hook = NULL;
	KUNIT_EXPECT_EQ(test, dat_pages_scanned, 1U);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), -EINTR);
	tfs_close(file);
	KUNIT_EXPECT_FALSE(test, dat_kept(test)->dat->scanned);
	dat_open_pipe(test, path);
	tfs_close(dat_open(test, path));
	KUNIT_EXPECT_TRUE(test, dat_kept(test)->dat->scanned);
}

/* A task that opens the file */
struct dat_opener {
	struct kunit		*test;
	const char		*path;
	struct file		*file;
	struct completion	done;
};

static int dat_open_thread(void *data)
{
	struct dat_opener *opener = data;

	opener->file = tfs_try_open(opener->test, opener->path, O_RDONLY);
	complete(&opener->done);
	return 0;
}

/* A kill also ends an open while the worker waits for a lock that another task holds. */
static void dat_test_killed_waiting(struct kunit *test)
{
	struct dat_opener opener = { .test = test };
	struct task_struct *task;
	unsigned long left;

	dat_write(test, test->priv, 600, 0, 3);
	opener.path = dat_take(test);
	init_completion(&opener.done);
	task = kthread_create(dat_open_thread, &opener, "dat_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	mutex_lock(&event_mutex);
	wake_up_process(task);
	tfs_wait(test, tfs_has_waiter(&event_mutex) || completion_done(&opener.done));
	KUNIT_EXPECT_FALSE(test, completion_done(&opener.done));
	if (!completion_done(&opener.done))
		dat_kill_task(task);
	left = wait_for_completion_timeout(&opener.done, 20 * HZ);
	KUNIT_EXPECT_NE(test, left, 0UL);
	mutex_unlock(&event_mutex);
	if (!left)
		wait_for_completion(&opener.done);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(opener.file), -EINTR);
	tfs_close(opener.file);
}

/* Each allocation of an open fails: it says so, or does without, and changes nothing else. */
static void dat_test_open_fails(struct kunit *test)
{
	char *all = dat_buffer(test), *part = dat_buffer(test);
	unsigned int n, failures = 0;
	unsigned long kb, after, captured;
	bool failed = true;
	struct file *file;
	const char *path;
	size_t total;

	tfs_need_failures(test);
	for (n = 1; failed && n < 1000; n++) {
		dat_write(test, test->priv, 600, 0, 20);
		path = dat_take(test);
		/* The pipe has memory of its own at its first open. */
		dat_open_pipe(test, path);
		kb = snap_kunit_kb(test);
		tfs_fail_nth(n);
		file = tfs_try_open(test, path, O_RDONLY);
		failed = tfs_failed();
		if (IS_ERR(file)) {
			failures++;
			KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(file), (long)-ENOMEM, "%u", n);
			dat_open_pipe(test, path);
			captured = dat_kb(test);
			after = snap_kunit_kb(test);
			file = dat_open(test, path);
			/* Only what stays counts. */
			KUNIT_EXPECT_EQ(test, after, kb + captured);
			KUNIT_EXPECT_EQ(test, snap_kunit_kb(test), kb + dat_kb(test));
			KUNIT_EXPECT_GT(test, snap_kunit_kb(test), kb);
		}
		total = dat_read_all(test, file, all);
		tfs_close(file);
		file = dat_open(test, path);
		dat_expect(test, file, all, total, 0, DAT_KUNIT_BYTES, part);
		tfs_close(file);
	}
	KUNIT_EXPECT_FALSE(test, failed);
	/* The error says enough. */
	KUNIT_EXPECT_EQ(test, tfs_count(tfs_read(test, "error_log"), "error:"), 0U);
	kunit_info(test, "%u of %u failures fail the open\n", failures, n - 2);
	KUNIT_EXPECT_GT(test, failures, 10U);
}

/* Each allocation of a read fails: a later one gives the same bytes. */
static void dat_test_read_fails(struct kunit *test)
{
	char *all = dat_buffer(test), *part = dat_buffer(test);
	unsigned int n, failures = 0;
	bool failed = true;
	struct file *file;
	const char *path;
	size_t total;
	ssize_t len;
	loff_t pos;

	tfs_need_failures(test);
	dat_write(test, test->priv, 600, 0, 20);
	path = dat_take(test);
	file = dat_open(test, path);
	total = dat_read_all(test, file, all);
	tfs_close(file);
	for (n = 1; failed && n < 100; n++) {
		file = dat_open(test, path);
		pos = total - 10;
		tfs_fail_nth(n);
		len = kernel_read(file, part, 100, &pos);
		failed = tfs_failed();
		if (failed) {
			failures++;
			KUNIT_EXPECT_EQ(test, len, (ssize_t)-ENOMEM);
			KUNIT_EXPECT_EQ(test, pos, (loff_t)total - 10);
		}
		dat_expect(test, file, all, total, 0, DAT_KUNIT_BYTES, part);
		tfs_close(file);
	}
	KUNIT_EXPECT_FALSE(test, failed);
	KUNIT_EXPECT_GT(test, failures, 0U);
}

static struct kunit_case dat_cases[] = {
	KUNIT_CASE(dat_test_pieces),
	KUNIT_CASE(dat_test_seek),
	KUNIT_CASE(dat_test_lost),
	KUNIT_CASE(dat_test_empty),
	KUNIT_CASE(dat_test_channels),
	KUNIT_CASE(dat_test_place),
	KUNIT_CASE(dat_test_far),
	KUNIT_CASE(dat_test_beside),
	KUNIT_CASE(dat_test_no_room),
	KUNIT_CASE(dat_test_sizes),
	KUNIT_CASE(dat_test_scan),
	KUNIT_CASE(dat_test_worker),
	KUNIT_CASE(dat_test_killed),
	KUNIT_CASE(dat_test_killed_waiting),
	KUNIT_CASE(dat_test_open_fails),
	KUNIT_CASE(dat_test_read_fails),
	{ }
};

static struct kunit_suite dat_suite = {
	.name = "trace_dat",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = dat_cases,
};

kunit_test_suite(dat_suite);
