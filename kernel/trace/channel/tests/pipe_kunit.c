// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of trace_pipe of a session.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "../../ring_buffer/race.h"
#include "session.h"

/* Expect how often pipes are open, "101" for once that of the session and of kunit_2. */
static void pipe_expect(struct kunit *test, const char *want)
{
	unsigned int ch;

	for (ch = 0; want[ch]; ch++)
		KUNIT_EXPECT_EQ_MSG(test, chan_kunit[ch]->trace_ref, want[ch] - '0', "%u", ch);
}

/* A reader has the pipes of all channels, beside any other reader. */
static void pipe_test_hold(struct kunit *test)
{
	struct file *file, *other;

	chan_kunit_begin(test, 3);
	pipe_expect(test, "0000");
	file = tfs_open(test, "trace_pipe", O_RDONLY);
	pipe_expect(test, "1111");
	other = tfs_open(test, "/instances/kunit_2/trace_pipe", O_RDONLY);
	pipe_expect(test, "1121");
	tfs_close(other);
	other = tfs_open(test, "/instances/kunit_2/per_cpu/cpu0/trace_pipe", O_RDONLY);
	pipe_expect(test, "1121");
	/* It keeps a channel that leaves. */
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_3"), 0);
	pipe_expect(test, "1121");
	KUNIT_EXPECT_EQ(test, chan_kunit[3]->ref, 3);
	tfs_close(file);
	pipe_expect(test, "0010");
	KUNIT_EXPECT_EQ(test, chan_kunit[3]->ref, 2);
	chan_kunit_join(test, 3);
	file = tfs_open(test, "per_cpu/cpu0/trace_pipe", O_RDONLY);
	pipe_expect(test, "1121");
	tfs_close(other);
	tfs_close(file);
	pipe_expect(test, "0000");
}

/* Read markers "mark N" to the end. Return: how many, each one more than the last; @from first. */
static unsigned int pipe_count(struct kunit *test, struct file *file, unsigned int from,
			       unsigned int step, size_t size)
{
	char *text = tfs_zalloc(test, SZ_64K), *line = text;
	unsigned int n = 0, used = 0;
	const char *want;
	ssize_t len;

	while ((len = tfs_read_file(test, file, text + used,
				    min_t(size_t, size, SZ_64K - 1 - used))) > 0)
		used += len;
	KUNIT_EXPECT_EQ(test, len, (ssize_t)-EAGAIN);
	KUNIT_EXPECT_NULL_MSG(test, strstr(text, "LOST"), "%.80s", text);
	while ((line = strstr(line, ": mark "))) {
		want = tfs_text(test, ": mark %u\n", from + step * n++);
		KUNIT_ASSERT_TRUE_MSG(test, strstarts(line, want), "%.20s, not %s", line, want);
		line++;
	}
	return n;
}

/* Two readers of a session, one of a channel, and one that comes later, each at its own pace. */
static void pipe_test_readers(struct kunit *test)
{
	struct file *first, *second, *channel, *late;
	unsigned int i, n = 0;

	chan_kunit_begin(test, 3);
	tfs_set(test, "trace_clock", "counter");
	first = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
	channel = tfs_open(test, "/instances/kunit_2/trace_pipe", O_RDONLY | O_NONBLOCK);
	second = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
	for (i = 0; i < 5; i++) {
		for (; n < 40 * (i + 1); n++)
			chan_kunit_mark(test, n % 4, tfs_text(test, "mark %u", n));
		KUNIT_EXPECT_EQ(test, pipe_count(test, first, 40 * i, 1, 4096), 40U);
	}
	/* Records that the others have not read are still there. */
	late = tfs_open(test, "/instances/kunit_2/trace_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, pipe_count(test, second, 0, 1, 100), 200U);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[1]->array_buffer.buffer), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[2]->array_buffer.buffer), 50UL);
	KUNIT_EXPECT_EQ(test, pipe_count(test, channel, 2, 4, 1), 50U);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[2]->array_buffer.buffer), 50UL);
	KUNIT_EXPECT_EQ(test, pipe_count(test, late, 2, 4, 60000), 50U);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[2]->array_buffer.buffer), 0UL);

	/* One that ends holds nothing any more. */
	chan_kunit_mark(test, 2, "mark 200");
	KUNIT_EXPECT_EQ(test, pipe_count(test, first, 200, 1, 4096), 1U);
	KUNIT_EXPECT_EQ(test, pipe_count(test, late, 200, 1, 4096), 1U);
	tfs_close(channel);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[2]->array_buffer.buffer), 1UL);
	tfs_close(second);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[2]->array_buffer.buffer), 0UL);
	tfs_close(late);
	tfs_close(first);
}

/* The time of a line, in front of the name of the event: of the counter, it has no fraction. */
static bool pipe_has_fraction(const char *line)
{
	const char *end = strstr(line, ": tracing_mark_write"), *time = end;

	while (time && time > line && time[-1] != ' ')
		time--;
	return time && memchr(time, '.', end - time);
}

/* Each line is there once, whatever the length of the reads, with the name of its channel. */
static void pipe_test_read(struct kunit *test)
{
	static const unsigned int sizes[] = { 1, 40, 100, 4096, 60000 };
	char *text = tfs_zalloc(test, SZ_64K), *line;
	const char *want;
	unsigned int i, n, used;
	struct file *file;
	ssize_t len;

	chan_kunit_begin(test, 3);
	tfs_set(test, "trace_clock", "counter");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (n = 0; n < 200; n++)
			chan_kunit_mark(test, n % 4, tfs_text(test, "mark %u", n));
		file = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
		used = 0;
		do {
			len = tfs_read_file(test, file, text + used,
					    min_t(size_t, sizes[i], SZ_64K - 1 - used));
			if (len > 0)
				used += len;
			KUNIT_EXPECT_LE(test, len, (ssize_t)sizes[i]);
		} while (len > 0);
		KUNIT_EXPECT_EQ(test, len, (ssize_t)-EAGAIN);
		text[used] = '\0';
		line = text;
		for (n = 0; n < 200; n++) {
			want = tfs_text(test, "kunit_%u: ", n % 4);
			KUNIT_EXPECT_EQ_MSG(test, strstarts(line, want), n % 4 > 0, "%.80s", line);
			KUNIT_EXPECT_FALSE_MSG(test, pipe_has_fraction(line), "%.80s", line);
			want = tfs_text(test, ": mark %u\n", n);
			line = strstr(line, "tracing_mark_write");
			KUNIT_ASSERT_NOT_NULL_MSG(test, line, "%u", n);
			line += strlen("tracing_mark_write");
			KUNIT_ASSERT_TRUE_MSG(test, strstarts(line, want), "%u: %.80s", n, line);
			line += strlen(want);
		}
		KUNIT_EXPECT_STREQ(test, line, "");
		tfs_close(file);
	}
}

/* poll() looks at the session and at all channels, and wakes up for a record of any. */
static void pipe_test_poll(struct kunit *test)
{
	struct poll_wqueues table;
	unsigned int ch, i;
	struct file *file;

	chan_kunit_begin(test, 3);
	for (ch = 0; ch < 4; ch++) {
		file = tfs_open(test, "trace_pipe", O_RDONLY);
		poll_initwait(&table);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
		KUNIT_EXPECT_EQ(test, table.triggered, 0);
		chan_kunit_mark(test, ch, "mark");
		for (i = 0; i < 20 * HZ && !READ_ONCE(table.triggered); i++)
			schedule_timeout_uninterruptible(1);
		KUNIT_EXPECT_EQ_MSG(test, table.triggered, 1, "%u", ch);
		poll_freewait(&table);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, NULL),
				(unsigned int)(EPOLLIN | EPOLLRDNORM));
		tfs_close(file);
		tfs_empty(test, "trace");
	}
}

static void pipe_expect_woken(struct kunit *test, struct poll_wqueues *table)
{
	unsigned int i;

	for (i = 0; i < 20 * HZ && !READ_ONCE(table->triggered); i++)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, table->triggered, 1);
	table->triggered = 0;
}

/*
 * A poll stays in its queues, while what it waits for changes with the switch: any record when
 * recording is off, else a watermark.
 */
static void pipe_test_poll_switch(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct poll_wqueues table;
	struct file *file;

	tfs_set(test, "tracing_on", "0");
	file = tfs_open(test, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	poll_initwait(&table);
	KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
	tfs_set(test, "tracing_on", "1");
	tfs_mark(test, 1);
	pipe_expect_woken(test, &table);
	/* As poll() does when it was woken. */
	table.pt._qproc = NULL;
	KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
	while (ring_buffer_nr_dirty_pages(buffer, 0) * ring_buffer_subbuf_size_get(buffer) * 4 <
	       ring_buffer_size(buffer, 0) * 3)
		tfs_mark(test, 100);
	pipe_expect_woken(test, &table);
	poll_freewait(&table);
	tfs_close(file);
}

/* A poll for edges is told of the next record, also when there is one already. */
static void pipe_test_poll_edge(struct kunit *test)
{
	static const char *const files[] = { "trace_pipe", "per_cpu/cpu0/trace_pipe" };
	struct poll_wqueues table;
	struct file *file;
	unsigned int i;

	tfs_set(test, "buffer_percent", "0");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		file = tfs_open(test, files[i], O_RDONLY);
		poll_initwait(&table);
		table.pt._key = EPOLLIN | EPOLLET;
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
		tfs_mark(test, 1);
		pipe_expect_woken(test, &table);
		table.pt._qproc = NULL;
		KUNIT_EXPECT_NE(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
		tfs_mark(test, 1);
		pipe_expect_woken(test, &table);
		poll_freewait(&table);
		tfs_close(file);
		tfs_empty(test, "trace");
	}
}

/* Write a record when a reader has just found none. */
static struct kunit *pipe_late;

static void pipe_late_hook(enum rb_race point, const char *name)
{
	struct kunit *test = pipe_late;
	struct trace_array *tr;

	if (point != RB_RACE_FILL || !test)
		return;
	pipe_late = NULL;
	tr = test->priv;
	KUNIT_EXPECT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, 4, "abc"), 0);
}

/* A record that comes just now is no end of the file. */
static void pipe_test_late(struct kunit *test)
{
	char page[64];
	struct file *file;

	tfs_set(test, "buffer_allocate", "1");
	file = tfs_open(test, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	pipe_late = test;
	rb_race_hook = pipe_late_hook;
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, page, sizeof(page)),
			(ssize_t)sizeof(page));
	rb_race_hook = NULL;
	KUNIT_EXPECT_NULL(test, pipe_late);
	tfs_close(file);
}

static ssize_t pipe_splice(struct file *file, struct pipe_inode_info *pipe)
{
	return file->f_op->splice_read(file, &file->f_pos, pipe, PAGE_SIZE, 0);
}

/* splice() and read() take turns: each record once, and the file ends with the recording. */
static void pipe_test_splice(struct kunit *test)
{
	struct pipe_inode_info *pipe = alloc_pipe_info();
	struct file *file;
	char *text;

	KUNIT_ASSERT_NOT_NULL(test, pipe);
	pipe->readers = 1;
	file = tfs_open(test, "trace_pipe", O_RDONLY);
	tfs_set(test, "trace_marker", "one");
	tfs_set(test, "trace_marker", "two");
	text = tfs_zalloc(test, PAGE_SIZE);
	/* Less than a line has room: read() ends behind the first record. */
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, text, 10), 10L);
	KUNIT_EXPECT_GT(test, tfs_read_file(test, file, text, PAGE_SIZE - 1), 0L);
	KUNIT_EXPECT_TRUE(test, strstr(text, ": one\n"));
	KUNIT_EXPECT_FALSE(test, strstr(text, ": two\n"));
	KUNIT_EXPECT_GT(test, pipe_splice(file, pipe), 0L);
	text = page_address(pipe->bufs[0].page);
	KUNIT_EXPECT_FALSE(test, strstr(text, ": one\n"));
	KUNIT_EXPECT_TRUE(test, strstr(text, ": two\n"));
	tfs_set(test, "tracing_on", "0");
	KUNIT_EXPECT_EQ(test, pipe_splice(file, pipe), 0L);
	tfs_close(file);

	/* So it does when splice() alone has read something. */
	file = tfs_open(test, "trace_pipe", O_RDONLY);
	tfs_set(test, "tracing_on", "1");
	tfs_mark(test, 1);
	KUNIT_EXPECT_GT(test, pipe_splice(file, pipe), 0L);
	tfs_set(test, "tracing_on", "0");
	KUNIT_ASSERT_NE(test, ((struct trace_iterator *)file->private_data)->pos, 0L);
	KUNIT_EXPECT_EQ(test, pipe_splice(file, pipe), 0L);
	tfs_close(file);
	free_pipe_info(pipe);
}

/* Splice @len bytes to a pipe, and copy them to @text. */
static ssize_t pipe_splice_text(struct kunit *test, struct file *file, size_t len, char *text)
{
	struct pipe_inode_info *pipe = alloc_pipe_info();
	size_t used = 0;
	unsigned int i;
	ssize_t ret;

	KUNIT_ASSERT_NOT_NULL(test, pipe);
	pipe->readers = 1;
	ret = file->f_op->splice_read(file, &file->f_pos, pipe, len, 0);
	for (i = 0; i < pipe->head; i++) {
		memcpy(text + used, page_address(pipe->bufs[i].page) + pipe->bufs[i].offset,
		       pipe->bufs[i].len);
		used += pipe->bufs[i].len;
	}
	if (ret > 0)
		KUNIT_EXPECT_EQ(test, used, (size_t)ret);
	free_pipe_info(pipe);
	return ret;
}

/* More text than a page or the call has room for is there for the next call. */
static void pipe_test_splice_text(struct kunit *test)
{
	static const unsigned int sizes[] = { 10, 4096, 3 * 4096, SZ_64K };
	char *text = tfs_zalloc(test, SZ_64K), *line;
	unsigned int i, n, used;
	struct file *file;
	ssize_t len;
	bool ready;

	chan_kunit_begin(test, 1);
	tfs_set(test, "trace_clock", "counter");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (n = 0; n < 300; n++)
			chan_kunit_mark(test, n % 2, tfs_text(test, "mark %u", n));
		memset(text, 0, SZ_64K);
		file = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
		for (used = 0;; used += len) {
			ready = vfs_poll(file, NULL);
			len = pipe_splice_text(test, file, sizes[i], text + used);
			KUNIT_EXPECT_EQ(test, ready, len > 0);
			if (len <= 0)
				break;
			KUNIT_ASSERT_LT(test, used + len, SZ_64K - PAGE_SIZE);
		}
		KUNIT_EXPECT_EQ(test, len, (ssize_t)-EAGAIN);
		tfs_close(file);
		KUNIT_EXPECT_EQ(test, tfs_count(text, "tracing_mark_write"), 300U);
		for (n = 0, line = text; n < 300; n++) {
			line = strstr(line, tfs_text(test, ": mark %u\n", n));
			KUNIT_ASSERT_NOT_NULL_MSG(test, line, "%u bytes: %u", sizes[i], n);
		}
	}
}

/* A channel that is off does not come to its watermark: any record of it is all there will be. */
static void pipe_test_poll_off(struct kunit *test)
{
	struct file *file;

	chan_kunit_begin(test, 1);
	file = tfs_open(test, "per_cpu/cpu0/trace_pipe", O_RDONLY);
	chan_kunit_mark(test, 1, "mark");
	KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, NULL), 0U);
	tracer_tracing_off(chan_kunit[1]);
	KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, NULL),
			(unsigned int)(EPOLLIN | EPOLLRDNORM));
	tfs_close(file);
}

struct pipe_reader {
	struct trace_iterator	*iter;
	struct file		*file;
	struct completion	begun, done;
	int			ret;
};

static int pipe_read_thread(void *data)
{
	struct pipe_reader *reader = data;
	struct trace_array *tr = reader->iter->tr;

	allow_signal(SIGUSR1);
	complete(&reader->begun);
	/* The reader looks again: the record of a late wake-up can have been erased. */
	do {
		reader->ret = trace_reader_wait(reader->iter, reader->file, 0, true);
	} while (!reader->ret && tracer_tracing_is_on(tr) && !READ_ONCE(tr->retired) &&
		 trace_empty(reader->iter));
	complete(&reader->done);
	while (!kthread_should_stop()) {
		flush_signals(current);
		schedule_timeout_interruptible(1);
	}
	return 0;
}

static struct task_struct *pipe_start(struct kunit *test, struct pipe_reader *reader)
{
	struct task_struct *task;

	init_completion(&reader->begun);
	init_completion(&reader->done);
	task = kthread_run(pipe_read_thread, reader, "pipe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&reader->begun);
	while (READ_ONCE(task->__state) != TASK_INTERRUPTIBLE && !completion_done(&reader->done))
		schedule_timeout_uninterruptible(1);
	return task;
}

/* End the thread, which has ended to wait for the pipe. */
static void pipe_stop(struct kunit *test, struct pipe_reader *reader, struct task_struct *task,
		      int ret)
{
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&reader->done, 20 * HZ));
	/* If it has not ended, it does now. */
	send_sig(SIGUSR1, task, 1);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, reader->ret, ret);
}

static void pipe_reap(struct work_struct *work)
{
}

static DECLARE_WORK(pipe_reaper, pipe_reap);

/* A reader sleeps until the session or a channel has a record, or a signal comes. */
static void pipe_test_wait(struct kunit *test)
{
	struct pipe_reader reader = { };
	struct task_struct *task;
	struct file *file;
	unsigned int ch;

	chan_kunit_begin(test, 3);
	file = tfs_open(test, "trace_pipe", O_RDONLY);
	reader.iter = file->private_data;
	reader.file = file;
	for (ch = 0; ch < 4; ch++) {
		task = pipe_start(test, &reader);
		KUNIT_EXPECT_FALSE(test, completion_done(&reader.done));
		chan_kunit_mark(test, ch, "mark");
		pipe_stop(test, &reader, task, 0);

		/* There is something: it does not sleep. */
		KUNIT_EXPECT_EQ(test, trace_reader_wait(reader.iter, file, 0, true), 0);
		tracing_reset_all_cpus(&chan_kunit[ch]->array_buffer);
	}
	task = pipe_start(test, &reader);
	KUNIT_EXPECT_FALSE(test, completion_done(&reader.done));
	send_sig(SIGUSR1, task, 1);
	pipe_stop(test, &reader, task, -ERESTARTSYS);

	/* It is switched off while it waits, or was just before. */
	task = pipe_start(test, &reader);
	KUNIT_EXPECT_FALSE(test, completion_done(&reader.done));
	tracer_tracing_off(reader.iter->tr);
	pipe_stop(test, &reader, task, 0);
	pipe_stop(test, &reader, pipe_start(test, &reader), 0);
	tracer_tracing_on(reader.iter->tr);

	/* It was retired, and its readers were woken, just before. */
	WRITE_ONCE(reader.iter->tr->retired, &pipe_reaper);
	pipe_stop(test, &reader, pipe_start(test, &reader), 0);
	WRITE_ONCE(reader.iter->tr->retired, NULL);

	if (tfs_may_fail(test)) {
		tfs_fail_nth(1);
		KUNIT_EXPECT_EQ(test, trace_reader_wait(reader.iter, file, 0, true), -ENOMEM);
		KUNIT_EXPECT_TRUE(test, tfs_failed());
	}
	tfs_close(file);
}

/* A pipe of a retired session ends behind its own records, also while a channel gets more. */
static void pipe_test_retired(struct kunit *test)
{
	char *text = tfs_zalloc(test, SZ_4K);
	struct file *file;

	chan_kunit_begin(test, 2);
	chan_kunit_mark(test, 1, "older");
	chan_kunit_mark(test, 0, "one");
	chan_kunit_mark(test, 1, "between");
	chan_kunit_mark(test, 0, "two");
	chan_kunit_mark(test, 2, "newer");
	file = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
	WRITE_ONCE(chan_kunit[0]->retired, &pipe_reaper);
	KUNIT_ASSERT_GT(test, tfs_read_file(test, file, text, SZ_4K - 1), 0L);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, "tracing_mark_write"), 2U, "%s", text);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": one\n"), 1U, "%s", text);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": two\n"), 1U, "%s", text);
	chan_kunit_mark(test, 1, "busy");
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, text, SZ_4K - 1), 0L);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[1]->array_buffer.buffer), 3UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[2]->array_buffer.buffer), 1UL);
	WRITE_ONCE(chan_kunit[0]->retired, NULL);
	tfs_close(file);

	/* It is retired between two reads, with records of a channel in front of its own. */
	chan_kunit_mark(test, 0, "three");
	file = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_ASSERT_GT(test, tfs_read_file(test, file, text, 1), 0L);
	WRITE_ONCE(chan_kunit[0]->retired, &pipe_reaper);
	memset(text, 0, SZ_4K);
	while (tfs_read_file(test, file, text + strlen(text), 40) > 0)
		;
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": three\n"), 1U, "%s", text);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": busy\n"), 0U, "%s", text);
	WRITE_ONCE(chan_kunit[0]->retired, NULL);
	tfs_close(file);
}

/* A line of a channel has the format and the unit of time of that channel. */
static void pipe_test_format(struct kunit *test)
{
	static const char * const files[] = { "trace", "trace_pipe" };
	/* (Too much for the stack of a machine of 32 bits) */
	static char text[1024];
	struct file *file;
	unsigned int i;
	char *line;

	chan_kunit_begin(test, 3);
	tfs_set(test, "/instances/kunit_2/options/latency-format", "1");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		tfs_empty(test, "trace");
		chan_kunit_mark(test, 1, "mark");
		chan_kunit_mark(test, 2, "mark");
		file = tfs_open(test, files[i], O_RDONLY | O_NONBLOCK);
		memset(text, 0, sizeof(text));
		KUNIT_ASSERT_GT(test, tfs_read_file(test, file, text, sizeof(text) - 1), 0L);
		line = strstr(text, "\nkunit_1: ");
		if (!line)
			line = text;
		KUNIT_EXPECT_TRUE_MSG(test, pipe_has_fraction(line + 1), "%s", text);
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, " [000] "), 1U, "%s", text);
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": mark\n"), 2U, "%s", text);
		tfs_close(file);
	}
}

/* Iterators that each tracer has open: in files that do not consume, and in those that do. */
static int pipe_opened[2], pipe_opened_pipe[2];
static struct tracer pipe_tracers[2];

static void pipe_open_one(struct trace_iterator *iter)
{
	pipe_opened[iter->trace - pipe_tracers]++;
}

static void pipe_close_one(struct trace_iterator *iter)
{
	pipe_opened[iter->trace - pipe_tracers]--;
}

static void pipe_open_one_pipe(struct trace_iterator *iter)
{
	pipe_opened_pipe[iter->trace - pipe_tracers]++;
}

static void pipe_close_one_pipe(struct trace_iterator *iter)
{
	pipe_opened_pipe[iter->trace - pipe_tracers]--;
}

#define PIPE_TRACER(text) {							\
	.name = text, .open = pipe_open_one, .close = pipe_close_one,		\
	.pipe_open = pipe_open_one_pipe, .pipe_close = pipe_close_one_pipe,	\
}

static struct tracer pipe_tracers[] = {
	PIPE_TRACER("pipe_kunit_0"),
	PIPE_TRACER("pipe_kunit_1"),
};

static void pipe_choose(struct tracer *tracer)
{
	guard(mutex)(&trace_types_lock);
	chan_kunit[1]->current_trace = tracer;
}

static void pipe_expect_open(struct kunit *test, int first, int second, int pipe)
{
	KUNIT_EXPECT_EQ(test, pipe_opened[0], first);
	KUNIT_EXPECT_EQ(test, pipe_opened[1], second);
	KUNIT_EXPECT_EQ(test, pipe_opened_pipe[0], pipe);
	KUNIT_EXPECT_EQ(test, pipe_opened_pipe[1], 0);
}

/* A tracer of a channel learns of each iterator and of its end, also if it is replaced. */
static void pipe_test_tracer(struct kunit *test)
{
	struct trace_iterator *iter;
	struct tracer *before;
	struct file *file;
	unsigned int i;

	chan_kunit_begin(test, 3);
	before = chan_kunit[1]->current_trace;
	pipe_choose(&pipe_tracers[0]);
	file = tfs_open(test, "trace_pipe", O_RDONLY);
	pipe_expect_open(test, 0, 0, 1);
	tfs_close(file);
	pipe_expect_open(test, 0, 0, 0);

	file = tfs_open(test, "trace", O_RDONLY);
	pipe_expect_open(test, 1, 0, 0);
	pipe_choose(&pipe_tracers[1]);
	iter = ((struct seq_file *)file->private_data)->private;
	for (i = 0; i < 2; i++) {
		scoped_guard(mutex, &trace_types_lock)
			trace_merge_follow_tracers(iter);
		pipe_expect_open(test, 0, 1, 0);
	}
	tfs_close(file);
	pipe_expect_open(test, 0, 0, 0);
	pipe_choose(before);
}

static struct kunit_case pipe_cases[] = {
	KUNIT_CASE(pipe_test_hold),
	KUNIT_CASE(pipe_test_readers),
	KUNIT_CASE(pipe_test_read),
	KUNIT_CASE(pipe_test_format),
	KUNIT_CASE(pipe_test_tracer),
	KUNIT_CASE(pipe_test_poll),
	KUNIT_CASE(pipe_test_poll_switch),
	KUNIT_CASE(pipe_test_poll_edge),
	KUNIT_CASE(pipe_test_late),
	KUNIT_CASE(pipe_test_splice),
	KUNIT_CASE(pipe_test_splice_text),
	KUNIT_CASE(pipe_test_poll_off),
	KUNIT_CASE(pipe_test_wait),
	KUNIT_CASE(pipe_test_retired),
	{ }
};

static struct kunit_suite pipe_suite = {
	.name = "trace_channel_pipe",
	.init = chan_kunit_init,
	.exit = chan_kunit_exit,
	.test_cases = pipe_cases,
};

kunit_test_suite(pipe_suite);
