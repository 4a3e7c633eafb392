// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the rings of an instance, which come when something first needs them.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "../internal.h"
#include "../../tests/snapshots.h"

/*
 * Without a reference, which would keep its rings. trace_array_get_by_name() gives it rings at
 * once while the kernel boots.
 */
static int expand_init(struct kunit *test)
{
	const struct instance_spec spec = { .name = "kunit" };
	struct trace_array *tr;

	tfs_init(test);
	trace_array_put(test->priv);
	KUNIT_ASSERT_EQ(test, trace_array_destroy(test->priv), 0);
	test->priv = NULL;
	scoped_guard(mutex, &event_mutex) {
		guard(mutex)(&trace_types_lock);
		tr = instance_create(&spec);
	}
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	test->priv = tr;
	return 0;
}

static void expand_exit(struct kunit *test)
{
	/* This one puts it. */
	if (test->priv)
		trace_array_get(test->priv);
	tfs_exit(test);
}

static void expand_expect(struct kunit *test, bool expanded)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	int cpu;

	KUNIT_EXPECT_EQ(test, trace_array_is_unexpanded(tr), !expanded);
	KUNIT_EXPECT_EQ(test, ring_buffer_is_expanded(buffer), expanded);
	tfs_expect(test, "buffer_allocate", expanded ? "1\n" : "0\n");
	for_each_online_cpu(cpu) {
		KUNIT_EXPECT_EQ(test, ring_buffer_size(buffer, cpu) > 0, expanded);
		KUNIT_EXPECT_EQ(test, per_cpu_ptr(tr->array_buffer.data, cpu)->entries,
				ring_buffer_size(buffer, cpu));
	}
}

/* Readers see an empty instance. */
static void expand_test_empty(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	size_t memory = ring_buffer_memory(tr->array_buffer.buffer);

	expand_expect(test, false);
	tfs_expect_in(test, "trace", "/entries-written: 0/0 ");
	tfs_expect_in(test, "per_cpu/cpu0/stats", "entries: 0\n");
	tfs_expect_in(test, "events/sched/sched_switch/format", "ID:");
	expand_expect(test, false);
	KUNIT_EXPECT_EQ(test, ring_buffer_memory(tr->array_buffer.buffer), memory);
	KUNIT_EXPECT_EQ(test, trace_array_expand(tr), 0);
	expand_expect(test, true);
	KUNIT_EXPECT_GT(test, ring_buffer_memory(tr->array_buffer.buffer),
			num_online_cpus() * trace_buf_size);
	KUNIT_EXPECT_EQ(test, trace_array_expand(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_expand_to(tr, 4096, RING_BUFFER_ALL_CPUS), 1);
	tfs_set(test, "buffer_allocate", "0");
	expand_expect(test, false);
	KUNIT_EXPECT_EQ(test, ring_buffer_memory(tr->array_buffer.buffer), memory);
	tfs_set(test, "buffer_allocate", "0");
	KUNIT_EXPECT_EQ(test, trace_array_expand_to(tr, SZ_64K, RING_BUFFER_ALL_CPUS), 0);
	expand_expect(test, true);
	KUNIT_EXPECT_LT(test, ring_buffer_size(tr->array_buffer.buffer, 0), trace_buf_size);
}

/* Writes that give an instance its rings, and writes that undo them. */
static const struct expand_case {
	const char	*file;
	const char	*text;
	const char	*undo;	/* NULL if nothing has to be undone */
} expand_cases[] = {
	{ "buffer_allocate", "1" },
	{ "buffer_size_kb", "64" },
	{ "events/sched/sched_switch/enable", "1", "0" },
	{ "events/sched/enable", "1", "0" },
	{ "events/enable", "1", "0" },
	{ "set_event", "sched:sched_switch", "!sched:sched_switch" },
	/* (If it happened, the event would stay enabled.) */
	{ "events/sched/sched_switch/trigger", "enable_event:sched:sched_waking if prev_pid < 0",
	  "!enable_event:sched:sched_waking" },
	{ "current_tracer", "wakeup", "nop" },
	{ "options/trace_printk_dest", "1", "0" },
	{ "snapshot", "1", "0" },
	{ "snapshot_allocate", "1", "0" },
	{ "trace_marker", "" },
};

static void expand_desc(const struct expand_case *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s", p->file, p->text);
}

KUNIT_ARRAY_PARAM(expand, expand_cases, expand_desc);

static const char expand_used[] =
	"The buffer is in use: disable events, tracer and snapshots, close its files";

static void expand_test_files(struct kunit *test)
{
	const struct expand_case *p = test->param_value;
	unsigned int i;

	if (!tfs_exists(test, p->file))
		kunit_skip(test, "there is no %s", p->file);
	for (i = 0; i < 2; i++) {
		tfs_write(test, p->file, p->text);
		expand_expect(test, true);
		if (p->undo) {
			tfs_fails(test, "buffer_allocate", "0", -EBUSY, expand_used);
			expand_expect(test, true);
			tfs_set(test, p->file, p->undo);
			/* It has taken this from the top directory. */
			if (strstr(p->file, "printk"))
				tfs_set(test, "/options/trace_printk_dest", "1");
		}
		tfs_empty(test, "trace");
		tfs_set(test, "buffer_allocate", "0");
		expand_expect(test, false);
	}
}

static void expand_test_refused(struct kunit *test)
{
	static const char * const bad[] = { "2", "x", "11", "y", "-1", "11111111111111111" };
	static const char invalid[] =
		"buffer_allocate: error: Invalid value, expected 0 or 1";
	struct trace_array *tr = test->priv;
	unsigned long size;
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tfs_write(test, "buffer_allocate", bad[i]),
				    (ssize_t)-EINVAL, "%s", bad[i]);
		tfs_expect_in(test, "error_log", invalid);
	}
	tfs_empty(test, "error_log");
	expand_expect(test, false);

	/* A size of one CPU gives all of them their rings, or none. */
	tfs_refuse(test, "per_cpu/cpu0/buffer_size_kb", "99999999999", -ENOMEM);
	tfs_expect_in(test, "error_log", "Not enough memory for this size");
	tfs_empty(test, "error_log");
	expand_expect(test, false);
	tfs_set(test, "per_cpu/cpu0/buffer_size_kb", "64");
	size = ring_buffer_size(tr->array_buffer.buffer, 0);
	KUNIT_EXPECT_GE(test, size, 64UL << 10);
	KUNIT_EXPECT_LT(test, size, 80UL << 10);
	tfs_expect(test, "per_cpu/cpu0/buffer_size_kb", tfs_text(test, "%lu\n", size >> 10));
	tfs_set(test, "buffer_allocate", "0");
	expand_expect(test, false);

	file = tfs_open(test, "buffer_allocate", O_WRONLY);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "1\n"), (ssize_t)2);
	KUNIT_EXPECT_EQ(test, file->f_pos, (loff_t)2);
	tfs_close(file);
	file = tfs_open(test, "trace", O_RDONLY);
	tfs_fails(test, "buffer_allocate", "0", -EBUSY, expand_used);
	tfs_close(file);
	tfs_mark(test, 1);
	tfs_fails(test, "buffer_allocate", "0", -EBUSY, "The buffer holds records: empty it first");
	expand_expect(test, true);
	KUNIT_EXPECT_EQ(test, tfs_marks(test, "trace"), 1U);
	tfs_empty(test, "trace");
	tr->flags |= TRACE_ARRAY_FL_EXPANDED;
	tfs_fails(test, "buffer_allocate", "0", -EBUSY, expand_used);
	tr->flags &= ~TRACE_ARRAY_FL_EXPANDED;
	tr->session = top_trace_array();
	tfs_fails(test, "buffer_allocate", "0", -EBUSY, expand_used);
	tr->session = NULL;
	tfs_set(test, "buffer_allocate", "0");
	expand_expect(test, false);
}

/* A failed expansion leaves the instance without rings. */
static void expand_test_memory(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	size_t memory = ring_buffer_memory(tr->array_buffer.buffer);
	unsigned int n;
	int ret;

	tfs_need_failures(test);
	tfs_kill(true);
	ret = trace_array_expand(tr);
	tfs_kill(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	expand_expect(test, false);
	for (n = 1;; n++) {
		tfs_fail_nth(n);
		ret = trace_array_expand(tr);
		if (!tfs_failed())
			break;
		KUNIT_ASSERT_EQ_MSG(test, ret, -ENOMEM, "%u", n);
		expand_expect(test, false);
		KUNIT_EXPECT_EQ(test, ring_buffer_memory(tr->array_buffer.buffer), memory);
	}
	KUNIT_EXPECT_GT(test, n, 2U);
	KUNIT_EXPECT_EQ(test, ret, 0);
	expand_expect(test, true);
	tfs_set(test, "buffer_allocate", "0");

	/* The caller gets the error, and error_log says what it is. */
	tfs_kill(true);
	ret = trace_array_set_clr_event(tr, "sched", "sched_switch", true);
	tfs_kill(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	expand_expect(test, false);
	tfs_expect(test, "events/sched/sched_switch/enable", "0\n");
	KUNIT_EXPECT_EQ(test, trace_array_set_clr_event(tr, "sched", "sched_switch", true), 0);
	expand_expect(test, true);
}

/* A CPU that tracing_cpumask excludes does not record in the new rings either. */
static void expand_test_cpumask(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	unsigned long one = 1;
	cpumask_var_t mask;
	unsigned int i;
	int cpu, ret;

	KUNIT_ASSERT_TRUE(test, zalloc_cpumask_var(&mask, GFP_KERNEL));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, tracing_set_cpumask(tr, mask), 0);
		KUNIT_EXPECT_EQ(test, trace_array_expand(tr), 0);
		for_each_online_cpu(cpu) {
			migrate_disable();
			ret = ring_buffer_write(buffer, sizeof(one), &one);
			migrate_enable();
			KUNIT_EXPECT_EQ(test, ret, i ? 0 : -EBUSY);
		}
		tfs_empty(test, "trace");
		tfs_set(test, "buffer_allocate", "0");
		cpumask_setall(mask);
	}
	free_cpumask_var(mask);
}

/* The top trace array has small rings until then. */
static void expand_test_top(struct kunit *test)
{
	struct trace_array *top = top_trace_array();
	bool expanded = top->ring_buffer_expanded;

	top->ring_buffer_expanded = false;
	KUNIT_EXPECT_FALSE(test, trace_array_is_unexpanded(top));
	top->ring_buffer_expanded = expanded;
}

static struct kunit_case expand_test_cases[] = {
	KUNIT_CASE(expand_test_empty),
	KUNIT_CASE_PARAM(expand_test_files, expand_gen_params),
	KUNIT_CASE(expand_test_refused),
	KUNIT_CASE(expand_test_memory),
	KUNIT_CASE(expand_test_cpumask),
	KUNIT_CASE(expand_test_top),
	{ }
};

static struct kunit_suite expand_suite = {
	.name = "trace_instance_expand",
	.init = expand_init,
	.exit = expand_exit,
	.test_cases = expand_test_cases,
};

kunit_test_suite(expand_suite);
