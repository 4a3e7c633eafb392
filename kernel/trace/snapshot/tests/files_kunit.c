// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the files of an instance: the values they show and accept, and their errors.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/trace_clock.h>
#include <linux/uaccess.h>

#include "../../ring_buffer/internal.h"
#include "../../tests/snapshots.h"
#include "../../trace_text.h"

#define BAD_NUMBER	"Invalid value, expected a number, or a time such as 20ms"
#define BAD_BUSY	"The buffer is being erased or resized: try again"
#define BAD_MEMORY	"No memory for a snapshot of this size"
#define BAD_LIMIT	"Needs more memory than snapshot_limit_kb allows"
#define BAD_HELD	"Snapshots have more memory than that already"
#define BAD_ENOUGH	"snapshot_keep allows no more: remove a kept snapshot"
#define BAD_PENDING	"A snapshot is pending, see snapshot_delay"
#define BAD_ARMED	"A trigger needs the snapshot buffer: remove it first"
#define BAD_READ	"The snapshot is being read: close it first"
#define BAD_DELAY	"Cancelled by a write to snapshot_delay"
#define BAD_TRACER	"A latency tracer needs it: change current_tracer first"
#define BAD_PART	"The part of one CPU cannot be freed: write 0 to snapshot of all CPUs"

#define HELP_ALL(ready)								\
	"#\n# * Snapshot is " ready " *\n#\n# Write to this file\n"		\
	"#   1  to take a snapshot, and to allocate memory for it if need be\n"	\
	"#   20ms  or another time to take one of the records of that time\n"	\
	"#   0  to free it\n"							\
	"#   2  or another number to erase it, but to keep the memory\n"

#define HELP_CPU(ready)								\
	"#\n# * Snapshot is " ready " *\n#\n# Write to this file\n"		\
	"#   1  to take a snapshot of this CPU, and to allocate memory for it if need be\n" \
	"#   20ms  or another time to take one of the records of that time\n"	\
	"#   2  or another number to erase it, but to keep the memory\n"

static void fs_mark(struct kunit *test, const char *text)
{
	tfs_set(test, "trace_marker", text);
}

/* Expect the record @text in "trace" or "snapshot", if @path is that; else in neither. */
static void fs_expect_only(struct kunit *test, const char *path, const char *text)
{
	static const char * const paths[] = { "trace", "snapshot" };
	char record[40];
	unsigned int i;

	snprintf(record, sizeof(record), ": %s\n", text);
	for (i = 0; i < ARRAY_SIZE(paths); i++)
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(tfs_read(test, paths[i]), record),
				    !strcmp(path, paths[i]), "%s in %s", text, paths[i]);
}

/* The place of the first wrong character, which error_log marks. */
static void fs_test_place(struct kunit *test)
{
	static const struct {
		const char	*name;
		const char	*bad;	/* with ^ before that character */
	} texts[] = {
		{ "snapshot", "1^x" }, { "snapshot", "^-1" }, { "snapshot", "^" },
		{ "snapshot", "^99999999999999999999" },
		{ "snapshot", "20^m" }, { "snapshot", "20ms^x" }, { "snapshot", "^0ms" },
		{ "snapshot_allocate", "^2" }, { "snapshot_allocate", "0^ 1" },
		{ "snapshot_delay", "5^ ms" }, { "snapshot_delay", "0^.02s" },
		{ "snapshot_delay", "5^" }, { "snapshot_delay", "5^m" },
		{ "snapshot_delay", "5ms^x" },
		{ "snapshot_delay", "5s^ecs" }, { "snapshot_delay", "^ms" },
		{ "snapshot_delay", "^4611686019s" },
		{ "snapshot_delay", "^18446744073709551616ns" },
		{ "snapshot_keep", "^x" }, { "snapshot_keep", "first ^0" },
		{ "snapshot_keep", "last  3^x" }, { "snapshot_keep", "^first" },
		{ "snapshot_keep", "^4294967296" }, { "snapshot_keep", "first 20^ms" },
		{ "snapshot_keep", "last 3 20^m" }, { "snapshot_keep", "last 3 ^0s" },
		{ "snapshot_keep", "3 ^x" }, { "snapshot_keep", "3 ^18446744074s" },
		{ "snapshot_limit_kb", "5M^B" }, { "snapshot_limit_kb", "1^.5M" },
		{ "snapshot_limit_kb", "1^T" }, { "snapshot_limit_kb", "^18014398509481984" },
	};
	const char *bad;
	unsigned int i;
	int at;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		at = strcspn(texts[i].bad, "^");
		bad = tfs_text(test, "%.*s%s", at, texts[i].bad, texts[i].bad + at + 1);
		tfs_refuse(test, texts[i].name, bad, -EINVAL);
		at += strlen("  Command: ");
		tfs_expect_in(test, "error_log",
			      tfs_text(test, "  Command: %s\n%*s^\n", bad, at, ""));
	}
	tfs_refuse(test, "snapshot_keep", " ", -EINVAL);
	tfs_refuse(test, "snapshot_keep", "last ", -EINVAL);
	/* A text that is too long, of which error_log has the beginning */
	tfs_refuse(test, "snapshot_keep", "last 1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,end", -EINVAL);
	tfs_expect_in(test, "error_log", ",,,,,,,,,,,,,,,...\n");
}

/* A 0 may end a value; one before other bytes makes it invalid, and so does a cut. */
static void fs_test_trim(struct kunit *test)
{
	static const struct {
		const char	*bytes;
		size_t		cnt;
		const char	*want;
	} texts[] = {
		{ "", 0, "" }, { "", 1, "" }, { "1", 2, "1" }, { " 1\n\0", 5, "1" },
		{ "0\0 1\n", 5, "0@ 1" }, { "1\0\n", 3, "1@" }, { "\0x", 2, "@x" },
		{ "0\0\0x", 5, "0@@x" }, { "1234567", 7, "1234567" }, { "12345678", 8, "1234..." },
		{ "1       ", 8, "1   ..." }, { "1\0\0\0\0\0\0", 8, "1@@@..." },
	};
	unsigned int i;
	char buf[9];

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		memset(buf, 'x', sizeof(buf));
		memcpy(buf, texts[i].bytes, min(texts[i].cnt, 7));
		KUNIT_EXPECT_STREQ(test, trace_value_trim(buf, 8, texts[i].cnt), texts[i].want);
		KUNIT_EXPECT_EQ(test, buf[8], 'x');
	}
}

/* Return @digit with blanks before it, @len characters in all. */
static const char *fs_long(struct kunit *test, unsigned int len, char digit)
{
	char *text = tfs_zalloc(test, len + 1);

	memset(text, ' ', len);
	text[len - 1] = digit;
	return text;
}

static const struct fs_value {
	const char	*name;
	const char	*wants[9];	/* valid; the first is the default */
	const char	*shows[9];
	const char	*bad[17];
	const char	*why;
} fs_values[] = {
	{ "snapshot_allocate", { "0", "1", " 0 " }, { "0\n", "1\n", "0\n" },
	  { "2", "-1", "" }, "Invalid value, expected 0 or 1" },
	{ "snapshot_delay",
	  { "0", "7us", "5ms", "0ms", "1ns", "2000us", "1001ms", "3s" },
	  { "0\n", "7us\n", "5ms\n", "0\n", "1ns\n", "2ms\n", "1001ms\n", "3s\n" },
	  { "2", "-1ms", "0ms x", "", "ms", "5m", "5msec", "5 events", "5ms 1", "0x5ms",
	    "99999999999s", "18446744073709551616ns" },
	  "Invalid value, expected a whole number with ns, us, ms or s behind it, such as 5ms" },
	{ "snapshot_keep",
	  { "0", "first 3", "2", "last 0", "last 12", "last  3", "first 1", "first 4294967295" },
	  { "0\n", "first 3\n", "last 2\n", "0\n", "last 12\n", "last 3\n", "first 1\n",
	    "first 4294967295\n" },
	  { "-1", "first 0", "last", "", "1 2", "last -1", "last3", "first",
	    "first x", "LAST 1", "4294967296", "1last", "first last 1", "0x10" },
	  "Invalid value, expected N, last N or first N, a time such as 20ms, or both" },
	{ "snapshot_limit_kb", { "0", "4294967295", "5000000", "5M", "2G", "0k" },
	  { "0\n", "4294967295\n", "5000000\n", "5120\n", "2097152\n", "0\n" },
	  { "x", "-1", "99999999999999999999999" },
	  "Invalid value, expected a number of KiB, or one with K, M or G behind it" },
};

KUNIT_ARRAY_PARAM_DESC(fs_value, fs_values, name);

/* A read shows the written value. A write of an invalid value fails and changes nothing. */
static void fs_test_value(struct kunit *test)
{
	const struct fs_value *v = test->param_value;
	const char *name = v->name;
	unsigned int i, n;
	struct file *file;
	char text[100];

	for (i = 0; v->wants[i]; i++) {
		tfs_set(test, name, v->wants[i]);
		for (n = 0; n < ARRAY_SIZE(fs_values); n++)
			tfs_expect(test, fs_values[n].name,
				   &fs_values[n] == v ? v->shows[i] : "0\n");
		for (n = 0; v->bad[n]; n++) {
			tfs_fails(test, name, v->bad[n], -EINVAL, v->why);
			tfs_expect(test, name, v->shows[i]);
		}
	}

	/* The longest valid text, then one more character. */
	tfs_set(test, name, fs_long(test, 40, '0'));
	tfs_expect(test, name, "0\n");
	tfs_refuse(test, name, fs_long(test, 41, '0'), -EINVAL);
	tfs_refuse(test, name, tfs_text(test, "%-41s", v->wants[0]), -EINVAL);
	snprintf(text, sizeof(text), "] %s: error: %s\n", name, v->why);
	tfs_expect_in(test, "error_log", text);
	tfs_set(test, name, v->wants[1]);

	/* A read may take single characters. A write advances the file position. */
	file = tfs_open(test, name, O_RDWR);
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, text, 1), 1L);
	KUNIT_EXPECT_EQ(test, text[0], v->shows[1][0]);
	KUNIT_EXPECT_EQ(test, tfs_read_file(test, file, text, 1), 1L);
	KUNIT_EXPECT_EQ(test, text[0], v->shows[1][1]);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "0"), 1L);
	KUNIT_EXPECT_EQ(test, file->f_pos, 3LL);
	/* So may a pwrite(). */
	KUNIT_EXPECT_TRUE(test, file->f_mode & FMODE_PWRITE);
	KUNIT_EXPECT_EQ(test, file->f_op->write(file, NULL, 1, &file->f_pos), (ssize_t)-EFAULT);
	KUNIT_EXPECT_EQ(test, file->f_pos, 3LL);
	tfs_close(file);
}

/* For each value that user space writes: where the records are, and whether there is memory. */
static void fs_test_snapshot(struct kunit *test)
{
	struct file *file;

	tfs_expect_in(test, "snapshot", HELP_ALL("freed"));
	tfs_expect_in(test, "per_cpu/cpu0/snapshot", HELP_CPU("freed"));
	tfs_expect_in(test, "snapshots", "# memory, in KiB: 0\n");
	tfs_set(test, "snapshot_allocate", "1");
	tfs_expect_in(test, "snapshot", HELP_ALL("allocated"));
	tfs_expect_in(test, "per_cpu/cpu0/snapshot", HELP_CPU("allocated"));
	tfs_set(test, "snapshot_allocate", "0");

	fs_mark(test, "one");
	tfs_set(test, "snapshot", fs_long(test, 40, '1'));
	tfs_set(test, "snapshot", fs_long(test, 40, '2'));
	fs_mark(test, "two");
	tfs_set(test, "snapshot", "1\n");
	fs_expect_only(test, "snapshot", "two");
	fs_mark(test, "three");
	fs_expect_only(test, "trace", "three");
	tfs_set(test, "snapshot", " 5 ");
	fs_expect_only(test, "trace", "three");
	fs_expect_only(test, "", "two");
	tfs_expect_in(test, "snapshot", HELP_ALL("allocated"));

	/* One file descriptor can take several snapshots. Each write advances its position. */
	file = tfs_open(test, "snapshot", O_WRONLY);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "1"), 1L);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "1 "), 2L);
	KUNIT_EXPECT_EQ(test, file->f_pos, 3LL);
	tfs_close(file);
	fs_expect_only(test, "", "three");
	tfs_expect_in(test, "snapshots", "# taken: 4\n");

	tfs_set(test, "snapshot", "0");
	tfs_expect_in(test, "snapshot", HELP_ALL("freed"));
	tfs_expect_in(test, "snapshots", "# memory, in KiB: 0\n");

	tfs_refuse(test, "snapshot", fs_long(test, 41, '1'), -EINVAL);
	tfs_empty(test, "error_log");
	tfs_fails(test, "snapshot", "x", -EINVAL, BAD_NUMBER);
	tfs_fails(test, "snapshot", "-1", -EINVAL, BAD_NUMBER);
	tfs_expect_in(test, "snapshots", "# taken: 4\n");
	tfs_refuse(test, "snapshots", "1", -EINVAL);
}

/* The files of one CPU. CPU 0 has all records here. */
static void fs_test_cpu(struct kunit *test)
{
	struct file *file, *raw;
	char *page = tfs_zalloc(test, PAGE_SIZE);

	fs_mark(test, "one");
	tfs_set(test, "per_cpu/cpu0/snapshot", "1");
	fs_expect_only(test, "snapshot", "one");
	tfs_expect_in(test, "per_cpu/cpu0/snapshot", ": one\n");

	/* No write changes the part of a CPU while a reader holds it. */
	file = tfs_open(test, "snapshot", O_RDONLY);
	tfs_fails(test, "per_cpu/cpu0/snapshot", "1", -EBUSY, BAD_READ);
	tfs_fails(test, "per_cpu/cpu0/snapshot", "2", -EBUSY, BAD_READ);
	tfs_close(file);
	tfs_fails(test, "per_cpu/cpu0/snapshot", "0", -EINVAL, BAD_PART);
	fs_expect_only(test, "snapshot", "one");

	raw = tfs_open(test, "per_cpu/cpu0/snapshot_raw", O_RDONLY);
	KUNIT_EXPECT_GT(test, tfs_read_file(test, raw, page, PAGE_SIZE), 0L);
	tfs_close(raw);
	tfs_refuse(test, "per_cpu/cpu0/snapshot_raw", "1", -EINVAL);

	tfs_set(test, "per_cpu/cpu0/snapshot", "2");
	fs_expect_only(test, "", "one");
	tfs_expect(test, "snapshot_allocate", "1\n");
}

/* A write cannot free memory that a trigger, a pending request or a tracer needs. */
static void fs_test_needed(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct tracer latency = { .use_max_tr = true };

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tfs_fails(test, "snapshot_allocate", "0", -EBUSY, BAD_ARMED);
	tfs_fails(test, "per_cpu/cpu0/snapshot", "0", -EINVAL, BAD_PART);
	tfs_set(test, "snapshot_allocate", "1");
	tracing_disarm_snapshot(test->priv);
	tfs_expect(test, "snapshot_allocate", "1\n");

	tfs_set(test, "snapshot_delay", "1000s");
	tracing_snapshot_instance(test->priv);
	tfs_fails(test, "snapshot", "0", -EBUSY, BAD_PENDING);
	tfs_fails(test, "snapshot_allocate", "0", -EBUSY, BAD_PENDING);
	tfs_set(test, "snapshot_delay", "0");

	/* User space may free the memory that the kernel has allocated. */
	KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(test->priv), 0);
	tfs_set(test, "snapshot", "0");
	tfs_expect(test, "snapshot_allocate", "0\n");
	tfs_set(test, "snapshot_keep", "first 1");
	tfs_set(test, "snapshot", "1");
	tfs_expect(test, "snapshot_allocate", "0\n");
	tfs_fails(test, "snapshot", "1", -ENOSPC, BAD_ENOUGH);
	tfs_set(test, "snapshot_keep", "0");
	tfs_set(test, "snapshot", "0");

	/* The only buffer belongs to a latency tracer. */
	scoped_guard(mutex, &trace_types_lock)
		KUNIT_ASSERT_EQ(test, trace_snapshot_arm_tracer(test->priv, &latency), 0);
	tfs_expect(test, "snapshot_allocate", "1\n");
	tfs_fails(test, "snapshot_allocate", "0", -EBUSY, BAD_TRACER);
	tfs_fails(test, "snapshot_allocate", "1", -EBUSY, BAD_TRACER);
	tfs_expect_in(test, "snapshot", HELP_ALL("freed"));
	scoped_guard(mutex, &trace_types_lock) {
		trace_snapshot_disarm_tracer(test->priv, &latency);
		trace_snapshot_trim(test->priv);
	}
	tfs_expect(test, "snapshot_allocate", "0\n");
	KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
}

/* snapshot_limit_kb limits the memory of all snapshots. */
static void fs_test_limit(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	unsigned long full;

	tfs_set(test, "snapshot_allocate", "1");
	full = s->memory.kb;
	KUNIT_ASSERT_GT(test, full, 1UL);
	tfs_expect_in(test, "snapshots", tfs_text(test, "# memory, in KiB: %lu\n", full));
	tfs_fails(test, "snapshot_limit_kb", tfs_text(test, "%lu", full - 1), -ENOSPC, BAD_HELD);
	tfs_expect(test, "snapshot_limit_kb", "0\n");
	snap_kunit_limit(test, full);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "1");

	/* The limit has no room for another one beside a kept snapshot. */
	tfs_set(test, "snapshot_limit_kb", "0");
	tfs_set(test, "snapshot", "0");
	tfs_set(test, "snapshot_keep", "first 5");
	tfs_set(test, "snapshot", "1");
	snap_kunit_worker(test->priv);
	tfs_set(test, "snapshot", "0");
	snap_kunit_limit(test, s->memory.kb + full - 1);
	tfs_fails(test, "snapshot", "1", -ENOSPC, BAD_LIMIT);
	tfs_fails(test, "snapshot_allocate", "1", -ENOSPC, BAD_LIMIT);
	tfs_expect_in(test, "snapshots", "# taken: 3\n");
}

/* Expect one line about the limit in error_log, and empty it. Return: the limit that would do. */
static unsigned long
fs_needs(struct kunit *test, const char *file, const char *kind, const char *what)
{
	const char *log = tfs_read(test, "error_log"), *at;
	unsigned long kb = 0;
	char line[160];

	snprintf(line, sizeof(line), "] %s: %s: " BAD_LIMIT "\n  Command: %s, needs ", file, kind,
		 what);
	at = strstr(log, line);
	KUNIT_EXPECT_NOT_NULL_MSG(test, at, "%s in %s", line, log);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(log, ": error:"), *kind == 'e', "%s", log);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(log, ": note:"), *kind == 'n', "%s", log);
	if (at)
		KUNIT_EXPECT_EQ(test, sscanf(at + strlen(line), "%lu KiB", &kb), 1);
	tfs_empty(test, "error_log");
	return kb;
}

/* A limit that refuses is in error_log, with the limit that would do. */
static void fs_test_needs(struct kunit *test)
{
	static const struct {
		const char *file, *text, *what;
	} writes[] = {
		{ "snapshot", "1", "1" },
		{ "snapshot_allocate", "1", "1" },
		{ "events/ftrace/print/trigger", "snapshot", "snapshot" },
		{ "buffer_size_kb", "200", "200" },
	};
	struct trace_snapshots *s = snap_kunit(test);
	const char *name;
	unsigned int i;

	tfs_set(test, "buffer_size_kb", "64");
	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		name = strrchr(writes[i].file, '/');
		if (i == 3)
			tfs_set(test, "snapshot_allocate", "1");
		snap_kunit_limit(test, max(s->memory.kb, 1UL));
		tfs_refuse(test, writes[i].file, writes[i].text, -ENOSPC);
		snap_kunit_limit(test, fs_needs(test, name ? name + 1 : writes[i].file, "error",
						writes[i].what));
		tfs_set(test, writes[i].file, writes[i].text);
		KUNIT_EXPECT_EQ(test, s->memory.kb, s->memory.limit_kb);
		if (i == 2)
			tfs_set(test, writes[i].file, "!snapshot");
		if (i < 3)
			tfs_set(test, "snapshot", "0");
	}
	tfs_expect_not_in(test, "error_log", "error");
}

/* So is what a worker fails to do: once, until it succeeds. */
static void fs_test_needs_worker(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct trace_array *tr = test->priv;
	struct file *file;
	unsigned int i;

	tfs_set(test, "buffer_size_kb", "64");
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(tr), 0);
	tfs_set(test, "snapshot", "1");
	snap_kunit_limit(test, s->memory.kb);
	file = tfs_open(test, "snapshot", O_RDONLY);
	for (i = 0; i < 3; i++)
		snap_kunit_take(test);
	snap_kunit_expect(test, "taken 1 starved 3");
	snap_kunit_limit(test, fs_needs(test, "snapshot", "note", "the next one"));
	snap_kunit_take(test);
	KUNIT_EXPECT_EQ(test, s->memory.kb, s->memory.limit_kb);
	tracing_snapshot_instance(tr);
	tfs_close(file);
	snap_kunit_worker(tr);
	snap_kunit_expect(test, "taken 2 starved 4");
	tracing_disarm_snapshot(tr);
	tfs_set(test, "snapshot", "0");

	/* A full one cannot be trimmed, and there is no room for its instance. */
	snap_kunit_fill(test);
	tfs_set(test, "snapshot_keep", "first 5");
	tfs_set(test, "snapshot_allocate", "1");
	snap_kunit_limit(test, s->memory.kb);
	tfs_set(test, "snapshot", "1");
	snap_kunit_expect(test, "taken 3 starved 4 unkept 1");
	KUNIT_EXPECT_GT(test, fs_needs(test, "snapshot_keep", "error", "kunit@3"),
			s->memory.limit_kb);
}

struct fs_actor {
	struct work_struct	work;
	struct trace_snapshots	*s;
	struct task_struct	*signals;	/* task to signal, or NULL */
	int			ends;		/* error of the request; 0: set a delay */
};

/* While a write waits for its snapshot: send it a signal, end it, or set another delay. */
static void fs_act(struct work_struct *work)
{
	struct fs_actor *actor = container_of(work, struct fs_actor, work);

	struct trace_snapshots *s = actor->s;

	while (!atomic_long_read(&s->pending.requests))
		msleep(20);
	if (actor->signals) {
		send_sig(SIGUSR1, actor->signals, 1);
	} else if (actor->ends) {
		scoped_guard(snap_change, s)
			snap_end_pending(s, atomic_long_xchg(&s->pending.requests, 0), actor->ends);
		wake_up_all(&s->wait);
	} else {
		snap_delay_set(s, 2000ULL * NSEC_PER_SEC);
	}
}

/* A write waits until its snapshot is taken or cancelled, or until a signal comes. */
static void fs_test_delay(struct kunit *test)
{
	struct fs_actor actor = { .s = snap_kunit(test) };

	INIT_WORK_ONSTACK(&actor.work, fs_act);
	fs_mark(test, "one");
	tfs_set(test, "snapshot_delay", "1000s");
	schedule_work(&actor.work);
	tfs_fails(test, "snapshot", "1", -EBUSY, BAD_DELAY);
	flush_work(&actor.work);
	tfs_expect(test, "snapshot_delay", "2000s\n");
	tfs_expect(test, "snapshot_allocate", "1\n");
	fs_expect_only(test, "trace", "one");

	/* A cut of another CPU came too early for it. This error has no text of its own. */
	actor.ends = -EALREADY;
	schedule_work(&actor.work);
	tfs_fails(test, "snapshot", "1", -EBUSY, BAD_BUSY);
	flush_work(&actor.work);

	/* After a signal the request is still pending. */
	actor.signals = current;
	allow_signal(SIGUSR1);
	schedule_work(&actor.work);
	tfs_refuse(test, "snapshot", "1", -EINTR);
	flush_work(&actor.work);
	flush_signals(current);
	disallow_signal(SIGUSR1);
	tfs_expect_not_in(test, "error_log", "error");
	tfs_expect(test, "snapshot_allocate", "1\n");
	tfs_fails(test, "snapshot", "0", -EBUSY, BAD_PENDING);
	KUNIT_EXPECT_EQ(test, actor.s->user.seq, 0ULL);
	destroy_work_on_stack(&actor.work);

	/* Nobody waits for it any more: it is counted when it is cancelled. */
	tfs_set(test, "snapshot_delay", "1ms");
	snap_kunit_expect(test, "refused 1");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, actor.s->user.seq, 1ULL);
	fs_expect_only(test, "snapshot", "one");
	/* When the write returns, the instance of its kept snapshot exists. */
	tfs_set(test, "snapshot_keep", "3");
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit@2"));
}

/* An open list is ready when another snapshot was kept, until it is read from its begin. */
static void fs_test_poll_list(struct kunit *test)
{
	const __poll_t ready = EPOLLIN | EPOLLRDNORM;
	struct poll_wqueues table;
	char *buf = tfs_zalloc(test, SZ_4K);
	struct file *file;
	unsigned int i;

	tfs_set(test, "buffer_size_kb", "64");
	file = tfs_open(test, "snapshots", O_RDONLY);
	poll_initwait(&table);
	KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, &table.pt), 0U);
	tfs_set(test, "snapshot", "1");
	KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, NULL), 0U);
	tfs_set(test, "snapshot_keep", "3");
	KUNIT_EXPECT_EQ(test, table.triggered, 1);
	poll_freewait(&table);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, vfs_poll(file, NULL) == ready);
		file->f_pos = 0;
		KUNIT_EXPECT_GT(test, tfs_read_file(test, file, buf, SZ_4K - 1), 0);
		KUNIT_EXPECT_EQ(test, (unsigned int)vfs_poll(file, NULL), 0U);
		KUNIT_EXPECT_EQ(test, tfs_count(buf, " instance=kunit@"), i + 1);
		tfs_set(test, "snapshot", "1");
	}
	tfs_close(file);
}

/* The line of a trigger's snapshot has its filter. */
static void fs_test_filter(struct kunit *test)
{
	static const char trigger[] = "snapshot if buf ~ \"*one*\"";

	tfs_set(test, "events/ftrace/print/trigger", trigger);
	fs_mark(test, "two");
	fs_mark(test, "one");
	tfs_expect_in(test, "snapshots", "1 by=trigger:print ");
	tfs_expect_in(test, "snapshots", " if=buf ~ \"*one*\" comm=");
}

/* An open file holds a reference on the instance, and close() releases it. */
static void fs_test_open(struct kunit *test)
{
	static const struct {
		const char	*path;
		int		flags;
	} files[] = {
		{ "snapshot", O_RDONLY }, { "snapshot", O_WRONLY }, { "snapshot", O_RDWR },
		{ "snapshots", O_RDONLY }, { "snapshot_keep", O_RDWR },
		{ "per_cpu/cpu0/snapshot", O_WRONLY }, { "per_cpu/cpu0/snapshot_raw", O_RDONLY },
	};
	struct trace_array *tr = test->priv;
	int ref = tr->ref;
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		file = tfs_open(test, files[i].path, files[i].flags);
		KUNIT_EXPECT_EQ_MSG(test, tr->ref, ref + 1, files[i].path);
		tfs_close(file);
		KUNIT_EXPECT_EQ_MSG(test, tr->ref, ref, files[i].path);
	}
}

/* Each count has a line of its own. */
static void fs_test_counts(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);

	atomic_long_set(&s->count.merged, 21);
	atomic_long_set(&s->count.no_spare, 22);
	atomic_long_set(&s->count.refused, 23);
	atomic_long_set(&s->count.enough, 24);
	atomic_long_set(&s->count.late, 25);
	atomic_long_set(&s->count.unkept, 26);
	atomic_long_set(&s->count.off, 27);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "0");
	tfs_expect(test, "snapshots", "# taken: 1\n"
		   "# merged into another: 21\n"
		   "# refused, no buffer was ready: 22\n"
		   "# refused, something was in the way: 23\n"
		   "# refused, enough are kept: 24\n"
		   "# refused, too late for another: 25\n"
		   "# refused, recording was off: 27\n"
		   "# could not be kept: 26\n"
		   "# memory, in KiB: 0\n");
}

static u64 fs_clock(void)
{
	return 12;
}

#define LIST_WRITE	"1 by=write cpu=0 pid=77"
#define LIST_TRIGGER	"1 by=trigger:some_event,nmi cpu=0 pid=77 asked=4.000000005 boot=last"
#define LIST_CUT	" cut=5.000000006..7.000000008 complete=3.000000004..5.000000006"
#define LIST_CLOCKS	" clocks=7.000000009,1.000000001,2.000000002,1700000003.000000003,88"
#define LIST_RECORDS	" records=%s lost=%s kb=%lu memory_kb=%lu comm="
#define LIST_COUNTER	" cut=5000000006..7000000008 complete=3000000004..5000000006"	\
			" records=%s lost=%s kb=0 memory_kb="

/* A number of the first CPU, and none of the others */
static const char *fs_of_first(struct kunit *test, unsigned long n)
{
	const char *text = tfs_text(test, "%lu", n);
	int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu)
			text = tfs_text(test, "%s,0", text);
	}
	return text;
}

/* The line of a snapshot has each of its fields. */
static void fs_test_list(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *live = tr->array_buffer.buffer;
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap;
	const char *two = fs_of_first(test, 2), *none = fs_of_first(test, 0);
	unsigned int i;
	size_t kb;

	fs_mark(test, "one");
	fs_mark(test, "two");
	tfs_set(test, "snapshot", "1");
	snap = s->user.last;
	KUNIT_ASSERT_NOT_NULL(test, snap);
	snap->info.pid = 77;
	strscpy(snap->info.comm, "a\nb\\c", sizeof(snap->info.comm));
	snap->info.since = 3000000004ULL;
	snap->info.begin = 5000000006ULL;
	snap->info.end = 7000000008ULL;
	snap->info.clocks[0] = (struct trace_clocks){
		7000000009ULL, 1000000001ULL, 2000000002ULL, 1700000003000000003ULL, 88,
	};
	/* These clocks were not read. */
	snap->info.clocks[1].mono = 0;
	KUNIT_EXPECT_STREQ(test, snap_kunit_line(test),
			   tfs_text(test, LIST_WRITE LIST_CUT LIST_CLOCKS LIST_RECORDS "%s\n",
				    two, none, PAGE_SIZE / 1024, s->memory.kb, "a\\012b\\134c"));

	snap->info.by = SNAP_BY_TRIGGER;
	strscpy(snap->info.event, "some_event", sizeof(snap->info.event));
	snap->info.nmi = true;
	snap->info.asked = 4000000005ULL;
	snap->last_boot = true;
	strscpy(snap->info.comm, "x", sizeof(snap->info.comm));
	KUNIT_EXPECT_STREQ(test, snap_kunit_line(test),
			   tfs_text(test, LIST_TRIGGER LIST_CUT LIST_CLOCKS LIST_RECORDS "%s\n",
				    two, none, PAGE_SIZE / 1024, s->memory.kb, "x"));

	snap->info.by = SNAP_BY_FUNCTION;
	snap->info.event[0] = '\0';
	snap->info.ip = (unsigned long)tfs_init;
	snap_kunit_begins(test, "1 by=function:tfs_init,nmi cpu=0 ");

	/* The clock does not count nanoseconds, and the snapshot has no record. */
	tfs_set(test, "trace_clock", "counter");
	tfs_set(test, "snapshot", "1");
	snap = s->user.last;
	snap->info.since = 3000000004ULL;
	snap->info.begin = 5000000006ULL;
	snap->info.end = 7000000008ULL;
	memset(snap->info.clocks, 0, sizeof(snap->info.clocks));
	tfs_expect_in(test, "snapshots", tfs_text(test, LIST_COUNTER, none, none));

	/* Overwritten records count as lost. "complete=" never begins before the oldest record. */
	ring_buffer_set_clock(live, fs_clock);
	for (i = 0; !ring_buffer_overruns(live) && i < 1000000; i++)
		KUNIT_ASSERT_EQ(test, ring_buffer_write(live, 4, "abc"), 0);
	i = ring_buffer_overruns(live);
	tfs_set(test, "snapshot", "1");
	s->user.last->info.since = 11;
	tfs_expect_in(test, "snapshots",
		      tfs_text(test, " complete=12..%llu ", s->user.last->info.begin));
	kb = (ring_buffer_nr_dirty_pages(s->user.last->buf.buffer, 0) + 1) * PAGE_SIZE / 1024;
	tfs_expect_in(test, "snapshots",
		      tfs_text(test, " lost=%s kb=%zu ", fs_of_first(test, i), kb));
	s->user.last->info.since = 13;
	tfs_expect_in(test, "snapshots",
		      tfs_text(test, " complete=%llu..", min(13ULL, s->user.last->info.begin)));
	ring_buffer_set_clock(live, trace_clock_local);
}

/* Take a snapshot at each look of a reader that lists them, fs_times times. */
static struct trace_array *fs_listed;
static int fs_times;
static bool fs_now;

static void fs_list_hook(enum rb_race point, const char *name)
{
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL, .now = fs_now,
	};
	struct trace_array *tr = fs_listed;

	if (point != RB_RACE_ENTRIES || !tr || !fs_times)
		return;
	fs_listed = NULL;
	fs_times--;
	snap_take(tr->snapshots, &tr->snapshots->user, &req);
	fs_listed = tr;
}

/* Count how often a task that lists snapshots looks at one, and have the lock for so many times. */
static struct task_struct *fs_reader;
static unsigned int fs_looks, fs_busy_looks;

static void fs_look_hook(enum rb_race point, const char *name)
{
	if (point != RB_RACE_ENTRIES || current != fs_reader)
		return;
	fs_looks++;
	if (fs_busy_looks)
		atomic_set(&fs_listed->snapshots->owner,
			   fs_looks <= 2 * fs_busy_looks ? nr_cpu_ids + 1 : 0);
}

/* A list has each snapshot once, even if snapshots are taken meanwhile. */
static void fs_test_list_race(struct kunit *test)
{
	struct trace_snapshots *s = snap_kunit(test);
	const char *line, *text;
	unsigned int looks;
	u64 seq;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(test->priv), 0);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "1");
	fs_now = true;
	fs_listed = test->priv;
	fs_times = 2;
	rb_race_hook = fs_list_hook;
	line = snap_kunit_line(test);
	KUNIT_EXPECT_TRUE(test, strstarts(line, "4 by=kernel"));
	KUNIT_EXPECT_EQ(test, tfs_count(line, "\n"), 1U);

	/* Snapshots come faster than the reader can list them. */
	fs_times = 100000;
	line = snap_kunit_line(test);
	KUNIT_EXPECT_STREQ(test, line, "# snapshots come too fast to be listed\n");
	/* It does not try for ever. */
	KUNIT_EXPECT_GT(test, fs_times, 0);
	fs_times = 0;

	/* After some tries other requests wait until it is listed. */
	fs_now = false;
	seq = s->user.seq;
	fs_times = 100000;
	line = snap_kunit_line(test);
	KUNIT_EXPECT_TRUE(test, strstarts(line, tfs_text(test, "%llu by=kernel", s->user.seq - 1)));
	KUNIT_EXPECT_GT(test, s->user.seq, seq + 1);
	KUNIT_EXPECT_FALSE(test, s->tasks);
	fs_times = 0;

	/* Another CPU is in the middle of one while the line is printed for the first time. */
	fs_reader = current;
	rb_race_hook = fs_look_hook;
	fs_looks = 0;
	snap_kunit_line(test);
	looks = fs_looks;
	fs_busy_looks = looks;
	snap_kunit_line(test);
	fs_busy_looks = 0;
	KUNIT_EXPECT_GT(test, looks, 0U);
	KUNIT_EXPECT_EQ(test, fs_looks, 3 * looks);
	rb_race_hook = fs_list_hook;

	/* The list has each kept snapshot. */
	tfs_set(test, "snapshot_keep", "5");
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "1");
	fs_times = 1;
	text = snap_kunit_line(test);
	rb_race_hook = NULL;
	KUNIT_EXPECT_EQ(test, tfs_count(text, " by="), 4U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "by=kernel"), 2U);
}

/* The live buffer expands to its full size before a buffer of the same size is allocated. */
static void fs_test_expand(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	const char *whole = tfs_read(test, "buffer_size_kb");
	const char *file;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		file = i ? "snapshot_allocate" : "snapshot";
		tfs_set(test, "buffer_size_kb", "64");
		tfs_set(test, file, "1");
		KUNIT_EXPECT_STRNEQ(test, tfs_read(test, "buffer_size_kb"), whole);
		tr->ring_buffer_expanded = false;
		snap_kunit_limit(test, tr->snapshots->memory.kb);
		/* The buffer cannot grow, so the file fails: a line for each. */
		tfs_refuse(test, file, "1", -ENOSPC);
		tfs_expect_in(test, "error_log", tfs_text(test, "] %s: error: ", file));
		tfs_empty(test, "error_log");
		tr->ring_buffer_expanded = false;
		tfs_set(test, "snapshot_limit_kb", "0");
		tfs_set(test, file, "1");
		tfs_expect(test, "buffer_size_kb", whole);
	}
}

/* Write to an open file and let the first allocation fail, then the second, and so on. */
static void fs_no_memory(struct kunit *test, const char *name)
{
	struct trace_snapshots *s = snap_kunit(test);
	struct file *file = tfs_open(test, name, O_WRONLY);
	char one[] = "1", log[100];
	ssize_t ret = -ENOMEM;
	unsigned int n, failed = 0;
	unsigned long user;

	user = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, one, 1), 0UL);
	snprintf(log, sizeof(log), "] %s: error: " BAD_MEMORY "\n  Command: 1\n", name);
	for (n = 1; n < 1000; n++) {
		tfs_fail_nth(n);
		ret = vfs_write(file, (void __user *)user, 1, &file->f_pos);
		if (!tfs_failed())
			break;
		if (ret == 1) {
			tfs_set(test, "snapshot", "0");
			continue;
		}
		failed++;
		KUNIT_EXPECT_EQ(test, ret, (ssize_t)-ENOMEM);
		KUNIT_EXPECT_EQ(test, s->memory.kb, 0UL);
		tfs_expect_in(test, "error_log", log);
		tfs_empty(test, "error_log");
	}
	KUNIT_EXPECT_EQ(test, ret, 1L);
	KUNIT_EXPECT_GT(test, failed, 3U);
	tfs_close(file);
	tfs_expect_not_in(test, "error_log", "error:");
	tfs_set(test, "snapshot", "0");
}

/* A write or an open that fails for lack of memory changes nothing. */
static void fs_test_no_memory(struct kunit *test)
{
	static const struct {
		const char	*path;
		int		flags;
	} files[] = {
		{ "snapshot", O_RDONLY }, { "snapshot", O_WRONLY }, { "snapshots", O_RDONLY },
	};
	struct trace_array *tr = test->priv;
	unsigned int i, n, failed;
	int ref = tr->ref;
	struct file *file;

	tfs_need_failures(test);
	fs_no_memory(test, "snapshot");
	fs_no_memory(test, "snapshot_allocate");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		for (n = 1, failed = 0; n < 1000; n++) {
			tfs_fail_nth(n);
			file = tfs_try_open(test, files[i].path, files[i].flags);
			failed += IS_ERR(file);
			tfs_close(file);
			if (!tfs_failed())
				break;
			KUNIT_EXPECT_TRUE(test, !IS_ERR(file) || PTR_ERR(file) == -ENOMEM);
			KUNIT_EXPECT_EQ(test, tr->ref, ref);
		}
		KUNIT_EXPECT_FALSE(test, IS_ERR(file));
		KUNIT_EXPECT_GT(test, failed, 1U);
	}
}

/* The live buffer is in the hands of another caller, as of a resize. */
static void fs_test_busy(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	atomic_long_t *exchange = &tr->array_buffer.buffer->cpus[0]->exchange;

	tfs_set(test, "snapshot", "1");
	atomic_long_set(exchange, 1);
	tfs_fails(test, "snapshot", "1", -EBUSY, BAD_BUSY);
	atomic_long_set(exchange, 0);
	tfs_set(test, "snapshot", "1");
	tfs_expect_in(test, "snapshots", "# taken: 2\n");
}

/* A raw marker that cannot be read has no bytes of older records. */
static void fs_test_raw_marker(struct kunit *test)
{
	static const char faulted[] = "# ffffffff buf: 3c 66 61 75 6c 74 65 64 3e";
	struct file *file;
	const char *text;
	loff_t pos = 0;
	unsigned int i;

	tfs_set(test, "buffer_size_kb", "8");
	for (i = 0; i < 1000; i++)
		tfs_set(test, "trace_marker", "this record is older than the other");
	tfs_empty(test, "trace");
	file = tfs_open(test, "trace_marker_raw", O_WRONLY);
	KUNIT_EXPECT_EQ(test, file->f_op->write(file, NULL, 100, &pos), (ssize_t)-EFAULT);
	tfs_close(file);
	text = strstr(tfs_read(test, "trace"), faulted);
	if (!text) {
		/* Linux 7 has no record of it. */
		tfs_expect_in(test, "trace", "entries-in-buffer/entries-written: 0/0 ");
		return;
	}
	text += strlen(faulted);
	/* It has what was written, and filling. */
	KUNIT_EXPECT_LT(test, strspn(text, " 0"), (size_t)3 * 8);
	KUNIT_EXPECT_EQ_MSG(test, text[strspn(text, " 0")], '\n', "%s", text);
}

static struct kunit_case fs_cases[] = {
	KUNIT_CASE(fs_test_place),
	KUNIT_CASE(fs_test_trim),
	KUNIT_CASE(fs_test_expand),
	KUNIT_CASE(fs_test_no_memory),
	KUNIT_CASE_PARAM(fs_test_value, fs_value_gen_params),
	KUNIT_CASE(fs_test_snapshot),
	KUNIT_CASE(fs_test_cpu),
	KUNIT_CASE(fs_test_busy),
	KUNIT_CASE(fs_test_needed),
	KUNIT_CASE(fs_test_limit),
	KUNIT_CASE(fs_test_needs),
	KUNIT_CASE(fs_test_needs_worker),
	KUNIT_CASE(fs_test_delay),
	KUNIT_CASE(fs_test_poll_list),
	KUNIT_CASE(fs_test_filter),
	KUNIT_CASE(fs_test_open),
	KUNIT_CASE(fs_test_counts),
	KUNIT_CASE(fs_test_list),
	KUNIT_CASE(fs_test_list_race),
	KUNIT_CASE(fs_test_raw_marker),
	{ }
};

static struct kunit_suite fs_suite = {
	.name = "trace_snapshot_files",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = fs_cases,
};

kunit_test_suites(&fs_suite);
