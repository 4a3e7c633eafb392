// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of unit tests: counts, sizes and times in the file "snapshots", and records.
 */
#include <linux/ctype.h>
#include <linux/irq_work.h>
#include <linux/ring_buffer.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "tracefs.h"

static const struct {
	const char	*line;
	const char	*name;
} snap_kunit_lines[] = {
	{ "# taken: ", "taken" },
	{ "# merged into another: ", "merged" },
	{ "# refused, no buffer was ready: ", "starved" },
	{ "# refused, something was in the way: ", "refused" },
	{ "# refused, enough are kept: ", "enough" },
	{ "# refused, too late for another: ", "late" },
	{ "# could not be kept: ", "unkept" },
};

/**
 * snap_kunit_echo() - write a text, and expect success
 * @test: the test
 * @path: as for snap_kunit_open()
 * @text: the text
 *
 * Context: May sleep.
 */
void snap_kunit_echo(struct kunit *test, const char *path, const char *text)
{
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_write(test, path, text), (ssize_t)strlen(text),
			    "%s > %s", text, path);
}

/**
 * snap_kunit_refuse() - write a text, and expect an error
 * @test: the test
 * @path: as for snap_kunit_open()
 * @text: the text
 * @err:  the error
 *
 * Context: May sleep.
 */
void snap_kunit_refuse(struct kunit *test, const char *path, const char *text, int err)
{
	KUNIT_EXPECT_EQ_MSG(test, snap_kunit_write(test, path, text), (ssize_t)err,
			    "%s > %s", text, path);
}

/**
 * snap_kunit_init_small() - create the instance "kunit" with a small buffer
 * @test: the test
 *
 * Context: May sleep.
 * Return: 0.
 */
int snap_kunit_init_small(struct kunit *test)
{
	snap_kunit_init(test);
	snap_kunit_echo(test, "buffer_size_kb", "64");
	return 0;
}

/* Parse the number after @before: an integer, or seconds with nanoseconds after the point. */
static u64 snap_kunit_number(const char **at, const char *before)
{
	unsigned int digits = 0;
	u64 val = 0;

	*at = strstr(*at, before);
	if (!*at)
		return 0;
	for (*at += strlen(before); isdigit(**at); ++*at)
		val = 10 * val + **at - '0';
	if (**at == '.' && isdigit((*at)[1])) {
		for (++*at; isdigit(**at) && digits < 9; ++*at, digits++)
			val = 10 * val + **at - '0';
	}
	return val;
}

/**
 * snap_kunit_expect() - compare the counts of requests by outcome
 * @test: the test
 * @want: a name and a number for each count that is not 0, such as "taken 2 refused 1"
 *
 * Context: May sleep.
 */
void snap_kunit_expect(struct kunit *test, const char *want)
{
	const char *text = snap_kunit_read(test, "snapshots"), *at;
	char counts[128] = "";
	unsigned int i;
	size_t len = 0;
	u64 nr;

	for (i = 0; i < ARRAY_SIZE(snap_kunit_lines); i++) {
		at = text;
		nr = snap_kunit_number(&at, snap_kunit_lines[i].line);
		KUNIT_EXPECT_NOT_NULL(test, at);
		if (nr)
			len += scnprintf(counts + len, sizeof(counts) - len, "%s%s %llu",
					 len ? " " : "", snap_kunit_lines[i].name, nr);
	}
	KUNIT_EXPECT_STREQ(test, (const char *)counts, want);
}

/**
 * snap_kunit_kb() - read the memory of all snapshots
 * @test: the test
 *
 * Context: May sleep.
 * Return: KiB.
 */
unsigned long snap_kunit_kb(struct kunit *test)
{
	const char *at = snap_kunit_read(test, "snapshots");
	unsigned long kb = snap_kunit_number(&at, "# memory, in KiB: ");

	KUNIT_EXPECT_NOT_NULL(test, at);
	return kb;
}

/**
 * snap_kunit_full() - get the memory of one snapshot that is not trimmed
 * @test: the test
 *
 * Context: May sleep.
 * Return: KiB.
 */
unsigned long snap_kunit_full(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	return snap_buffer_kb(tr->array_buffer.buffer);
}

/**
 * snap_kunit_times() - read a time span of the last snapshot in the list
 * @test:   the test
 * @before: text before it, such as "cut="
 * @first:  its begin
 * @second: its end, or NULL
 *
 * Context: May sleep.
 */
void snap_kunit_times(struct kunit *test, const char *before, u64 *first, u64 *second)
{
	const char *at = snap_kunit_read(test, "snapshots"), *last = at;

	while ((at = strstr(at, before)))
		last = at++;
	*first = snap_kunit_number(&last, before);
	KUNIT_ASSERT_NOT_NULL_MSG(test, last, "%s", before);
	if (second)
		*second = snap_kunit_number(&last, "..");
}

/**
 * snap_kunit_worker() - wait until the worker has done its pending work
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void snap_kunit_worker(struct trace_array *tr)
{
	irq_work_sync(&tr->snapshots->worker.irq_work);
	flush_work(&tr->snapshots->worker.work);
}

/**
 * snap_kunit_mark() - write records to trace_marker
 * @test: the test
 * @nr:   the number of records
 *
 * Context: May sleep.
 */
void snap_kunit_mark(struct kunit *test, unsigned int nr)
{
	for (; nr; nr--)
		snap_kunit_echo(test, "trace_marker", "mark");
}

/**
 * snap_kunit_marks() - count the records of snap_kunit_mark() in a file
 * @test: the test
 * @path: path of "trace" or "snapshot"
 *
 * Context: May sleep.
 * Return: the count.
 */
unsigned int snap_kunit_marks(struct kunit *test, const char *path)
{
	return snap_kunit_count(snap_kunit_read(test, path), ": mark\n");
}

/**
 * snap_kunit_kill() - make allocations for a ring buffer fail, as in a killed task
 * @killed: true to begin, false to end
 *
 * Context: A kernel thread that has accessed user memory.
 */
void snap_kunit_kill(bool killed)
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
