// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of a kernel without trace arrays: it is locked down, or had no memory for the
 * top one. In any other kernel there are instances.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/trace_events.h>

#include <kunit/test.h>

#include "../internal.h"

#define OFF_NAME	"kunit_off"

/* Instances are created if, and only if, there is a top trace array. */
static void off_test_create(struct kunit *test)
{
	bool on = top_trace_array();
	struct trace_array *tr = trace_array_get_by_name(OFF_NAME, NULL);

	KUNIT_EXPECT_EQ(test, !!tr, on);
	KUNIT_EXPECT_FALSE(test, on && security_locked_down(LOCKDOWN_TRACEFS));
	if (tr) {
		trace_array_put(tr);
		KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	}
	KUNIT_EXPECT_EQ(test, trace_array_get(NULL), -ENODEV);
}

/* Functions for other parts of the kernel do nothing, or say so. */
static void off_test_calls(struct kunit *test)
{
	static const char text[] = "kunit\n";

	if (top_trace_array())
		return;
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("sched", NULL, 1), -ENODEV);
	KUNIT_EXPECT_PTR_EQ(test, trace_get_event_file(NULL, "sched", "sched_switch"),
			    ERR_PTR(-ENODEV));
	KUNIT_EXPECT_PTR_EQ(test, trace_get_event_file("recorder", "sched", "sched_switch"),
			    ERR_PTR(-ENOENT));
	KUNIT_EXPECT_EQ(test, tracing_alloc_snapshot(), -ENODEV);
	tracing_snapshot();
	tracing_snapshot_alloc();
	tracing_on();
	tracing_off();
	tracing_on_all();
	KUNIT_EXPECT_EQ(test, internal_trace_puts(text), 0);
	KUNIT_EXPECT_EQ(test, __trace_printk(_THIS_IP_, text), 0);
	/* As a module does that uses trace_printk() */
	trace_printk_init_buffers();
	ftrace_dump(DUMP_ALL);
	ftrace_dump(DUMP_ORIG);
	ftrace_dump(DUMP_PARAM);
}

static struct kunit_case off_cases[] = {
	KUNIT_CASE(off_test_create),
	KUNIT_CASE(off_test_calls),
	{ }
};

static struct kunit_suite off_suite = {
	.name = "trace_instance_off",
	.test_cases = off_cases,
};

kunit_test_suite(off_suite);
