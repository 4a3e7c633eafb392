// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests look at the file "snapshots", and move the buffer of their instance. The functions
 * may sleep where their comment names no other context.
 */
#include <linux/ctype.h>
#include <linux/irq_work.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "snapshots.h"

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
	{ "# refused, recording was off: ", "off" },
	{ "# could not be kept: ", "unkept" },
};

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
 */
void snap_kunit_expect(struct kunit *test, const char *want)
{
	const char *text = tfs_read(test, "snapshots"), *at;
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
 * Return: KiB.
 */
unsigned long snap_kunit_kb(struct kunit *test)
{
	const char *at = tfs_read(test, "snapshots");
	unsigned long kb = snap_kunit_number(&at, "# memory, in KiB: ");

	KUNIT_EXPECT_NOT_NULL(test, at);
	return kb;
}

/**
 * snap_kunit_full() - get the memory of one snapshot that is not trimmed
 * @test: the test
 *
 * Return: KiB.
 */
unsigned long snap_kunit_full(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	return snap_buffer_kb(tr->array_buffer.buffer);
}

/**
 * snap_kunit_limit() - write to snapshot_limit_kb
 * @test: the test
 * @kb:   the limit, in KiB
 */
void snap_kunit_limit(struct kunit *test, unsigned long kb)
{
	tfs_set(test, "snapshot_limit_kb", tfs_text(test, "%lu", kb));
}

/**
 * snap_kunit_lose() - free the buffer for the next snapshot of the user
 * @s:   the snapshots of a trace array
 * @all: free the newest snapshot, too
 */
void snap_kunit_lose(struct trace_snapshots *s, bool all)
{
	guard(mutex)(&s->mutex);
	snap_free_slot(s, &s->user, all);
}

/**
 * snap_kunit_times() - read a time span of the last snapshot in the list
 * @test:   the test
 * @before: text before it, such as "cut="
 * @first:  its begin
 * @second: its end, or NULL
 */
void snap_kunit_times(struct kunit *test, const char *before, u64 *first, u64 *second)
{
	const char *at = tfs_read(test, "snapshots"), *last = at;

	while ((at = strstr(at, before)))
		last = at++;
	*first = snap_kunit_number(&last, before);
	KUNIT_ASSERT_NOT_NULL_MSG(test, last, "%s", before);
	if (second)
		*second = snap_kunit_number(&last, "..");
}

/**
 * snap_kunit_line() - get the line of the first snapshot in the list
 * @test: the test
 *
 * Return: the line and what is behind it; "" without a snapshot.
 */
const char *snap_kunit_line(struct kunit *test)
{
	const char *line = strstr(tfs_read(test, "snapshots"), "KiB: ");

	KUNIT_ASSERT_NOT_NULL(test, line);
	line = strchr(line, '\n');
	KUNIT_ASSERT_NOT_NULL(test, line);
	return line + 1;
}

/**
 * snap_kunit_begins() - expect the begin of the line of the first snapshot in the list
 * @test: the test
 * @want: the begin
 */
void snap_kunit_begins(struct kunit *test, const char *want)
{
	const char *line = snap_kunit_line(test);

	KUNIT_EXPECT_TRUE_MSG(test, strstarts(line, want), "no '%s': %s", want, line);
}

/**
 * snap_kunit_worker() - wait until the worker has done its pending work
 * @tr: the trace array
 */
void snap_kunit_worker(struct trace_array *tr)
{
	irq_work_sync(&tr->snapshots->worker.irq_work);
	flush_work(&tr->snapshots->worker.work);
}

/**
 * snap_kunit_begin_change() - begin to change the size of the live buffer
 * @test: the test
 * @size: new size of each CPU's part, in bytes
 * @want: its expected return value
 */
void snap_kunit_begin_change(struct kunit *test, size_t size, int want)
{
	int ret = trace_snapshot_begin_change(test->priv, size, RING_BUFFER_ALL_CPUS, -1);

	KUNIT_ASSERT_EQ(test, ret, want);
}

/**
 * snap_kunit_wait() - wait until no request is pending
 * @test: the test
 */
void snap_kunit_wait(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	wait_event(s->wait, !atomic_long_read(&s->pending.requests));
}

/**
 * snap_kunit_die() - leave a record uncommitted, as a task that dies there does
 * @test: the test
 * @tr:   the trace array
 *
 * Context: A task.
 */
void snap_kunit_die(struct kunit *test, struct trace_array *tr)
{
	KUNIT_ASSERT_NOT_NULL(test, ring_buffer_lock_reserve(tr->array_buffer.buffer, 8));
	preempt_enable_notrace();
}

/**
 * snap_kunit_take() - request a snapshot, and wait for the worker
 * @test: the test
 */
void snap_kunit_take(struct kunit *test)
{
	tracing_snapshot_instance(test->priv);
	snap_kunit_worker(test->priv);
}

static int snap_kunit_fill_cpu(void *live)
{
	static char text[200];

	while (!ring_buffer_overrun_cpu(live, smp_processor_id())) {
		if (ring_buffer_write(live, sizeof(text), text))
			return -EBUSY;
	}
	return 0;
}

/**
 * snap_kunit_fill() - write to the live buffer until each CPU has overwritten a record
 * @test: the test
 */
void snap_kunit_fill(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	int cpu;

	for_each_online_cpu(cpu)
		KUNIT_ASSERT_EQ(test, smp_call_on_cpu(cpu, snap_kunit_fill_cpu,
						      tr->array_buffer.buffer, false), 0);
}

/**
 * snap_kunit_stop_keeper() - have only tasks look after kept snapshots
 * @s: the snapshots of a trace array; enable_work() of its keeper undoes it
 */
void snap_kunit_stop_keeper(struct trace_snapshots *s)
{
	/* A queued keeper holds a reference. */
	if (disable_work_sync(&s->keeper.work))
		snap_put_owner(s);
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
 */
void snap_kunit_boot(struct kunit *test, void *memory, const void *image, bool spare,
		     unsigned int flags)
{
	struct trace_array *tr = test->priv;
	struct array_buffer *buf = &tr->array_buffer;
	static struct lock_class_key key;

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
	buf->buffer = __ring_buffer_alloc_range(0, RB_FL_OVERWRITE | (spare ? RB_FL_SPARE : 0), 0,
						(unsigned long)memory, SNAP_KUNIT_RANGE, 0, &key);
	ring_buffer_last_boot_delta(buf->buffer, &buf->text_delta, &buf->data_delta);
	KUNIT_EXPECT_NOT_NULL(test, buf->buffer);
	KUNIT_EXPECT_EQ(test, trace_snapshot_init(tr), 0);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}
