// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of trace.dat: each part has what the files of tracefs have.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <asm/sections.h>

#include "../../tests/snapshots.h"
#include "../internal.h"
#include "parse.h"

/* A record with addresses, such as those of a stack */
struct dat_parts_record {
	struct trace_entry	ent;
	unsigned long		addr[4];
};

static void dat_parts_write(struct kunit *test, struct trace_array *tr, unsigned int nr,
			    unsigned long addr)
{
	struct dat_parts_record record = { .addr = { addr, addr + 1, 0, addr } };

	while (nr--)
		KUNIT_ASSERT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, sizeof(record),
							&record), 0);
}

/* Take a snapshot of an instance, which stays. Return: the instance of it. */
static struct trace_array *dat_parts_take(struct kunit *test, struct trace_array *tr)
{
	struct trace_snap *snap;

	tfs_set(test, tfs_text(test, "/instances/%s/snapshot_keep", tr->name), "1");
	tfs_set(test, tfs_text(test, "/instances/%s/snapshot", tr->name), "1");
	snap_tend(tr->snapshots);
	scoped_guard(mutex, &trace_types_lock)
		snap = list_first_entry_or_null(&tr->snapshots->keeper.kept, struct trace_snap,
						node);
	KUNIT_ASSERT_NOT_NULL(test, snap);
	return snap->kept;
}

static struct dat_kunit *
dat_parts_read_file(struct kunit *test, struct trace_array *kept, const char *name)
{
	void *bytes = tfs_zalloc(test, SZ_1M);
	struct file *file;
	loff_t pos = 0;
	ssize_t len;

	file = tfs_open(test, tfs_text(test, "/instances/%s/%s", kept->name, name), O_RDONLY);
	do {
		len = kernel_read(file, bytes + pos, SZ_1M - pos, &pos);
	} while (len > 0);
	tfs_close(file);
	KUNIT_ASSERT_EQ(test, len, (ssize_t)0);
	KUNIT_ASSERT_LT(test, pos, (loff_t)SZ_1M);
	return dat_kunit_parse(test, bytes, pos);
}

static struct dat_kunit *dat_parts_read(struct kunit *test, struct trace_array *kept)
{
	return dat_parts_read_file(test, kept, "trace.dat");
}

static const struct dat_kunit_option *dat_parts_option(struct dat_kunit *dat, u16 id,
						       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < dat->nr_options; i++) {
		if (dat->option[i].id == id && !nr--)
			return &dat->option[i];
	}
	KUNIT_FAIL_AND_ABORT(dat->test, "no option %u", id);
}

static unsigned int dat_parts_options(struct dat_kunit *dat, u16 id)
{
	unsigned int i, nr = 0;

	for (i = 0; i < dat->nr_options; i++)
		nr += dat->option[i].id == id;
	return nr;
}

static bool dat_parts_has(struct trace_array *whole, struct trace_event_call *call)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	for_each_session_member(tr, whole) {
		list_for_each_entry(file, &tr->events, list) {
			if (file->event_call == call)
				return true;
		}
	}
	return !strcmp(call->class->system, "ftrace");
}

/* Each event of "ftrace", and of a member, has one format; there are no others. */
static void dat_parts_expect_events(struct dat_kunit *dat, struct trace_array *whole)
{
	struct trace_event_call *call;
	unsigned int nr = 0, has;

	guard(mutex)(&event_mutex);
	list_for_each_entry(call, &ftrace_events, list) {
		has = dat_parts_has(whole, call);
		KUNIT_EXPECT_EQ_MSG(dat->test, dat_kunit_formats(dat, call->class->system,
								 trace_event_name(call),
								 call->event.type),
				    has, "%s:%s", call->class->system, trace_event_name(call));
		nr += has;
	}
	KUNIT_EXPECT_EQ(dat->test, dat->nr_formats, nr);
}

/* One system is followed by another one. */
static void dat_parts_expect_systems(struct dat_kunit *dat)
{
	unsigned int i, j;

	for (i = 1; i < dat->nr_formats; i++) {
		if (dat->format[i].system == dat->format[i - 1].system)
			continue;
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(dat->test, dat->format[i].system,
					    dat->format[j].system);
	}
}

static void dat_parts_expect_file(struct dat_kunit *dat, struct dat_kunit_text text,
				  const char *path)
{
	dat_kunit_expect(dat, text, tfs_read(dat->test, path));
}

static void dat_parts_expect_format(struct dat_kunit *dat, const char *system, const char *name)
{
	char path[128], begin[64];
	unsigned int i;

	snprintf(path, sizeof(path), "/events/%s/%s/format", system, name);
	snprintf(begin, sizeof(begin), "name: %s\n", name);
	for (i = 0; i < dat->nr_formats; i++) {
		if (strstarts(dat->format[i].text.at, begin))
			dat_parts_expect_file(dat, dat->format[i].text, path);
	}
}

/* The counts that each CPU of a buffer has in its file "stats" */
static void dat_parts_expect_stats(struct dat_kunit *dat, struct trace_array *whole)
{
	struct dat_kunit_text text;
	struct trace_array *tr;
	unsigned int nr = 0;
	char want[200];
	int cpu;

	for_each_session_member(tr, whole) {
		for_each_tracing_cpu(cpu) {
			text = dat_parts_option(dat, DAT_KUNIT_CPUSTAT, nr++)->text;
			snprintf(want, sizeof(want), "Buffer: %s\nCPU: %d\noverrun: %lu\n"
				 "commit overrun: 0\ndropped events: 0\n", tr->name, cpu,
				 ring_buffer_overrun_cpu(tr->array_buffer.buffer, cpu));
			dat_kunit_expect(dat, text, want);
		}
	}
	KUNIT_EXPECT_EQ(dat->test, dat_parts_options(dat, DAT_KUNIT_CPUSTAT), nr);
}

static void dat_parts_expect_tables(struct dat_kunit *dat, struct trace_array *whole)
{
	struct dat_kunit_text clock;
	struct trace_array *tr;
	char path[64];
	unsigned int i = 0;
	u64 size;
	int cpu;

	for_each_session_member(tr, whole) {
		KUNIT_ASSERT_LT(dat->test, i, dat->nr_tables);
		KUNIT_EXPECT_STREQ(dat->test, dat->table[i].name,
				   tr == whole ? "" : tr->name + strlen(whole->name) + 1);
		snprintf(path, sizeof(path), "/instances/%s/trace_clock", whole->name);
		dat_parts_expect_file(dat, dat->table[i].clock, path);
		size = 0;
		for (cpu = 0; cpu < nr_cpu_ids; cpu++)
			size += dat->table[i].range[cpu].size;
		KUNIT_EXPECT_EQ(dat->test, !!size, !!ring_buffer_entries(tr->array_buffer.buffer));
		i++;
	}
	KUNIT_EXPECT_EQ(dat->test, dat->nr_tables, i);
	KUNIT_EXPECT_EQ(dat->test, dat_parts_options(dat, DAT_KUNIT_BUFFER), i - 1);
	KUNIT_EXPECT_EQ(dat->test, dat_parts_options(dat, DAT_KUNIT_CLOCK), 1U);
	/* No name, but a string, for those that read one there. */
	clock = dat_parts_option(dat, DAT_KUNIT_CLOCK, 0)->text;
	KUNIT_ASSERT_EQ(dat->test, clock.len, sizeof(""));
	KUNIT_EXPECT_STREQ(dat->test, clock.at, "");
}

/* The function of an address, once; the kernel's begin and end; and the end of the last one */
static void dat_parts_expect_symbols(struct dat_kunit *dat)
{
	unsigned long size, offset, at = (unsigned long)schedule;
	char *copy = kunit_kzalloc(dat->test, dat->symbols.len + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(dat->test, copy);
	memcpy(copy, dat->symbols.at, dat->symbols.len);
	KUNIT_ASSERT_EQ(dat->test, kallsyms_lookup_size_offset(at, &size, &offset), 1);
	KUNIT_EXPECT_EQ(dat->test, dat_kunit_symbol(dat, "schedule"), at);
	KUNIT_EXPECT_EQ(dat->test, dat_kunit_symbol(dat, "end"), at + size);
	KUNIT_EXPECT_EQ(dat->test, dat_kunit_symbol(dat, "_text"), (unsigned long)_text);
	KUNIT_EXPECT_EQ(dat->test, dat_kunit_symbol(dat, "_etext"), (unsigned long)_etext);
	KUNIT_EXPECT_EQ(dat->test, tfs_count(copy, "\n"), 4U);
}

static void dat_parts_expect(struct dat_kunit *dat, struct trace_array *whole)
{
	struct dat_kunit_text uname = dat_parts_option(dat, DAT_KUNIT_UNAME, 0)->text;

	dat_parts_expect_file(dat, dat->header_page, "/events/header_page");
	dat_parts_expect_file(dat, dat->header_event, "/events/header_event");
	dat_parts_expect_events(dat, whole);
	dat_parts_expect_systems(dat);
	dat_parts_expect_format(dat, "ftrace", "print");
	dat_parts_expect_format(dat, "sched", "sched_switch");
	dat_parts_expect_symbols(dat);
	dat_parts_expect_file(dat, dat->printk, "/printk_formats");
	dat_parts_expect_file(dat, dat->names, "/saved_cmdlines");
	KUNIT_EXPECT_NOT_NULL(dat->test, strnstr(uname.at, init_utsname()->release, uname.len));
	KUNIT_EXPECT_EQ(dat->test, uname.at[uname.len - 1], 0);
	dat_parts_expect_stats(dat, whole);
	dat_parts_expect_tables(dat, whole);
}

/* Enable events, as if they had records. */
static void dat_parts_enable(struct kunit *test, struct trace_array *tr, const char *events)
{
	char path[64];

	snprintf(path, sizeof(path), "/instances/%s/tracing_on", tr->name);
	tfs_set(test, path, "0");
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(tr, events, NULL, true), 0);
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(tr, events, NULL, false), 0);
	tfs_set(test, path, "1");
}

static void dat_parts_test_one(struct kunit *test)
{
	struct trace_array *tr = test->priv, *kept;
	struct dat_kunit *dat;

	dat_parts_enable(test, tr, "sched");
	dat_parts_enable(test, tr, "signal");
	/* The time of a page may look like an address, unless it is a small number. */
	tfs_set(test, "trace_clock", "counter");
	dat_parts_write(test, tr, 4000, (unsigned long)schedule);
	kept = dat_parts_take(test, tr);
	dat = dat_parts_read(test, kept);
	KUNIT_EXPECT_GT(test, ring_buffer_overruns(kept->array_buffer.buffer), 0UL);
	KUNIT_EXPECT_EQ(test, dat->page_size,
			ring_buffer_subbuf_size_get(kept->array_buffer.buffer));
	dat_parts_expect(dat, kept);
}

/* As many addresses as make the set of them grow; each has the line of its function. */
static void dat_parts_test_addresses(struct kunit *test)
{
	const unsigned int step = 256, nr = min_t(size_t, 3000, (_etext - _stext) / step);
	struct trace_array *tr = test->priv, *kept;
	unsigned long size, offset, addr, last = 0;
	unsigned int i, found = 0;
	const char *at, *end;
	struct dat_kunit *dat;

	tfs_set(test, "buffer_size_kb", "512");
	for (i = 0; i < nr; i++)
		dat_parts_write(test, tr, 1, (unsigned long)_stext + i * step);
	kept = dat_parts_take(test, tr);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(kept->array_buffer.buffer), (unsigned long)nr);
	dat = dat_parts_read(test, kept);
	at = dat->symbols.at;
	end = at + dat->symbols.len;
	for (i = 0; i < nr; i++) {
		addr = (unsigned long)_stext + i * step;
		if (!kallsyms_lookup_size_offset(addr, &size, &offset) || addr - offset == last)
			continue;
		found++;
		last = addr - offset;
		at = strnstr(at, tfs_text(test, "\n%0*lx ", (int)(2 * sizeof(long)), last),
			     end - at);
		KUNIT_ASSERT_NOT_NULL_MSG(test, at, "no %pS", (void *)addr);
	}
	KUNIT_EXPECT_GT(test, found, 1000U);
	KUNIT_EXPECT_NE(test, dat_kunit_symbol(dat, "end"), 0ULL);
}

/* Each entry for a name is in use, the first one of the table as well. */
static void dat_parts_test_names(struct kunit *test)
{
	struct task_struct *task = tfs_zalloc(test, sizeof(*task));
	struct dat_kunit *dat;

	strscpy(task->comm, "k");
	for (task->pid = 1; task->pid < PID_MAX_DEFAULT; task->pid++) {
		guard(preempt)();
		trace_save_cmdline(task);
	}
	dat = dat_parts_read(test, dat_parts_take(test, test->priv));
	dat_parts_expect_file(dat, dat->names, "/saved_cmdlines");
	/* A new table: this one has no room for other tasks. */
	tfs_set(test, "/saved_cmdlines_size", "128");
}

/* A session with few events, a channel with the same and more, and one with all */
static void dat_parts_test_session(struct kunit *test)
{
	static const char * const names[] = { "kunit_few", "kunit_more", "kunit" };
	struct trace_array *tr[3], *kept;
	struct dat_kunit *dat;
	unsigned int i;

	tr[0] = tfs_add(test, names[0], "sched", "64");
	tr[1] = tfs_add(test, names[1], "sched,irq", "64");
	tr[2] = test->priv;
	for (i = 1; i < 3; i++)
		KUNIT_ASSERT_EQ(test, trace_session_join(tr[0], names[i], NULL), 0);
	dat_parts_enable(test, tr[0], "sched");
	dat_parts_enable(test, tr[1], "sched");
	dat_parts_enable(test, tr[1], "irq");
	dat_parts_enable(test, tr[2], "signal");
	tfs_set(test, "/instances/kunit_few/trace_clock", "counter");
	dat_parts_write(test, tr[0], 3, 0);
	/* Only the last one has an address. */
	dat_parts_write(test, tr[2], 5, (unsigned long)schedule);
	kept = dat_parts_take(test, tr[0]);
	dat = dat_parts_read(test, kept);
	dat_parts_expect(dat, kept);
}

static const char *dat_parts_text_of(struct kunit *test, const struct trace_clocks *clocks)
{
	return tfs_text(test, "\nclocks trace=%llu mono=%llu boot=%llu real=%llu within=%llu",
			clocks->trace, clocks->mono, clocks->boot, clocks->real, clocks->within);
}

/* A text has what the clocks have shown; realtime.dat is the same, but for an offset of times. */
static void dat_parts_test_clocks(struct kunit *test)
{
	const struct dat_kunit_option *version, *offset;
	struct dat_kunit *dat, *real;
	const struct trace_clocks *clocks;
	struct trace_array *kept;
	const char *text;
	struct file *file;
	unsigned int i;
	s64 by;

	dat_parts_write(test, test->priv, 100, 0);
	kept = dat_parts_take(test, test->priv);
	clocks = trace_snapshot_clocks(kept);
	dat = dat_parts_read(test, kept);
	real = dat_parts_read_file(test, kept, "realtime.dat");
	version = dat_parts_option(dat, DAT_KUNIT_VERSION, 0);
	KUNIT_EXPECT_EQ(test, version->text.at[version->text.len - 1], 0);
	KUNIT_EXPECT_STREQ(test, version->text.at,
			   tfs_text(test, "the kernel%s%s", dat_parts_text_of(test, clocks),
				    dat_parts_text_of(test, clocks + 1)));

	KUNIT_EXPECT_EQ(test, dat_parts_options(dat, DAT_KUNIT_OFFSET), 0U);
	offset = dat_parts_option(real, DAT_KUNIT_OFFSET, 0);
	KUNIT_EXPECT_EQ(test, offset->text.at[offset->text.len - 1], 0);
	KUNIT_ASSERT_EQ(test, kstrtos64(offset->text.at, 10, &by), 0);
	KUNIT_EXPECT_EQ(test, clocks->trace + by, clocks->real);
	KUNIT_EXPECT_EQ(test, real->nr_options, dat->nr_options + 1);
	KUNIT_EXPECT_EQ(test, real->nr_tables, dat->nr_tables);
	for (i = 0; i < dat->nr_cpus; i++)
		KUNIT_EXPECT_EQ(test, real->table[0].range[i].size, dat->table[0].range[i].size);
	KUNIT_EXPECT_EQ(test, real->size - real->begin, dat->size - dat->begin);
	KUNIT_EXPECT_EQ(test, memcmp(real->bytes + real->begin, dat->bytes + dat->begin,
				     dat->size - dat->begin), 0);
	/* Before timekeeping, and without nanoseconds, there is no offset. */
	for (i = 0; i < 2; i++) {
		if (i) {
			tfs_set(test, "trace_clock", "counter");
			kept = dat_parts_take(test, test->priv);
		} else {
			((struct trace_clocks *)clocks)->mono = 0;
		}
		file = tfs_try_open(test, tfs_text(test, "/instances/%s/realtime.dat", kept->name),
				    O_RDONLY);
		KUNIT_EXPECT_EQ(test, PTR_ERR(file), (long)-ENODATA);
	}
	text = tfs_read(test, "error_log");
	KUNIT_EXPECT_EQ(test, tfs_count(text, "realtime.dat: error: the time of the day"), 2U);
}

static struct kunit_case dat_parts_cases[] = {
	KUNIT_CASE(dat_parts_test_one),
	KUNIT_CASE(dat_parts_test_addresses),
	KUNIT_CASE(dat_parts_test_names),
	KUNIT_CASE(dat_parts_test_session),
	KUNIT_CASE(dat_parts_test_clocks),
	{ }
};

static struct kunit_suite dat_parts_suite = {
	.name = "trace_dat_parts",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = dat_parts_cases,
};

kunit_test_suite(dat_parts_suite);
