// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the begin of a line: it is what printf() makes of the same fields.
 */
#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/time64.h>

#include "../trace.h"
#include "../trace_output.h"

struct prefix {
	struct trace_iterator	iter;
	struct trace_array	tr;
	struct trace_entry	entry;
	char			want[128];
};

static int prefix_init(struct kunit *test)
{
	struct prefix *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->iter.tr = &p->tr;
	p->iter.ent = &p->entry;
	p->iter.iter_flags = TRACE_FILE_TIME_IN_NS;
	test->priv = p;
	return 0;
}

static void prefix_expect(struct kunit *test)
{
	struct prefix *p = test->priv;
	u64 usecs = div_u64(p->iter.ts + 500, 1000);
	unsigned int tgid = trace_find_tgid(p->entry.pid);
	char comm[TASK_COMM_LEN], *at = p->want, *end = at + sizeof(p->want);
	u32 rest;

	trace_find_cmdline(p->entry.pid, comm);
	at += scnprintf(at, end - at, "%16s-%-7d ", comm, p->entry.pid);
	if (p->tr.trace_flags & TRACE_ITER(RECORD_TGID) && tgid)
		at += scnprintf(at, end - at, "(%7d) ", tgid);
	else if (p->tr.trace_flags & TRACE_ITER(RECORD_TGID))
		at += scnprintf(at, end - at, "(-------) ");
	at += scnprintf(at, end - at, "[%03d] ", p->iter.cpu);
	if (p->tr.trace_flags & TRACE_ITER(IRQ_INFO)) {
		at += scnprintf(at, end - at, "...");
		at += scnprintf(at, end - at, "%x%x", p->entry.preempt_count & 0xf,
				p->entry.preempt_count >> 4);
		strreplace(at - 2, '0', '.');
	}
	if (p->iter.iter_flags & TRACE_FILE_TIME_IN_NS) {
		usecs = div_u64_rem(usecs, USEC_PER_SEC, &rest);
		scnprintf(at, end - at, " %5llu.%06u: ", usecs, rest);
	} else {
		scnprintf(at, end - at, " %12llu: ", p->iter.ts);
	}

	trace_seq_init(&p->iter.seq);
	KUNIT_EXPECT_EQ(test, trace_print_context(&p->iter), 1);
	trace_seq_putc(&p->iter.seq, 0);
	KUNIT_EXPECT_STREQ(test, p->iter.seq.buffer, p->want);
}

static void prefix_test_task(struct kunit *test)
{
	static const int pids[] = { 0, 1, 42, 32767, 4194304, 9999999, 10000000, INT_MAX };
	struct prefix *p = test->priv;
	unsigned int i, tgids;

	/* The names of this task and of its group are known. */
	KUNIT_ASSERT_EQ(test, trace_alloc_tgid_map(), 0);
	scoped_guard(preempt) {
		this_cpu_write(trace_taskinfo_save, true);
		tracing_record_taskinfo(current, TRACE_RECORD_CMDLINE | TRACE_RECORD_TGID);
	}
	KUNIT_EXPECT_EQ(test, trace_find_tgid(current->pid), current->tgid);

	for (tgids = 0; tgids < 2; tgids++) {
		p->tr.trace_flags = tgids ? TRACE_ITER(RECORD_TGID) : 0;
		p->entry.pid = current->pid;
		prefix_expect(test);
		for (i = 0; i < ARRAY_SIZE(pids); i++) {
			p->entry.pid = pids[i];
			prefix_expect(test);
		}
	}
}

static void prefix_test_cpu(struct kunit *test)
{
	static const int cpus[] = { 0, 7, 10, 99, 100, 999, 1000, 8191 };
	struct prefix *p = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		p->iter.cpu = cpus[i];
		prefix_expect(test);
	}
}

static void prefix_test_counts(struct kunit *test)
{
	struct prefix *p = test->priv;
	unsigned int i;

	p->tr.trace_flags = TRACE_ITER(IRQ_INFO);
	for (i = 0; i < 256; i++) {
		p->entry.preempt_count = i;
		prefix_expect(test);
	}
}

static void prefix_test_time(struct kunit *test)
{
	static const u64 times[] = {
		0, 1, 499, 500, 1499, 999999499, 999999500, NSEC_PER_SEC, 99999999999999ULL,
		99999999999500ULL, 1000000000000000ULL, U64_MAX / 2, U64_MAX - 500,
	};
	struct prefix *p = test->priv;
	unsigned int i, counts;

	for (counts = 0; counts < 2; counts++) {
		p->iter.iter_flags = counts ? 0 : TRACE_FILE_TIME_IN_NS;
		for (i = 0; i < ARRAY_SIZE(times); i++) {
			p->iter.ts = times[i];
			prefix_expect(test);
		}
	}
}

/* There is room for a part of it, for none, and for all. */
static void prefix_test_full(struct kunit *test)
{
	struct prefix *p = test->priv;
	unsigned int len, left;

	prefix_expect(test);
	len = strlen(p->want);
	for (left = 0; left <= len; left++) {
		trace_seq_init(&p->iter.seq);
		p->iter.seq.seq.len = p->iter.seq.seq.size - left;
		KUNIT_EXPECT_EQ(test, trace_print_context(&p->iter), left >= len);
	}
}

static struct kunit_case prefix_cases[] = {
	KUNIT_CASE(prefix_test_task),
	KUNIT_CASE(prefix_test_cpu),
	KUNIT_CASE(prefix_test_counts),
	KUNIT_CASE(prefix_test_time),
	KUNIT_CASE(prefix_test_full),
	{}
};

static struct kunit_suite prefix_suite = {
	.name		= "trace_prefix",
	.init		= prefix_init,
	.test_cases	= prefix_cases,
};

kunit_test_suite(prefix_suite);
