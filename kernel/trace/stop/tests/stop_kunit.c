// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of stops by crashes.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/string.h>
#include <linux/trace_stop.h>

#include "../../snapshot/internal.h"
#include "../internal.h"

static int stop_test_init(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name("stop_kunit", NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	test->priv = tr;
	return 0;
}

static void stop_test_exit(struct kunit *test)
{
	tracing_on_all();
	trace_array_put(test->priv);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(test->priv), 0);
}

static int stop_test_change(struct kunit *test, const char *line)
{
	char text[STOP_LINE_SIZE];
	struct stop_fault fault;
	struct stop_spec spec;

	strscpy(text, line + (*line == '!'));
	KUNIT_ASSERT_EQ(test, stop_parse(text, &spec, &fault), 0);
	guard(mutex)(&event_mutex);
	return *line == '!' ? stop_remove(test->priv, &spec, &fault) :
			      stop_add(test->priv, &spec, &fault);
}

/* Expect that this line has stopped it; NULL: that none has. */
static void stop_test_by(struct kunit *test, const char *line)
{
	struct trace_array *tr = test->priv;
	struct stop_cause cause;
	bool set = stop_read_why(tr, &cause);

	KUNIT_EXPECT_EQ(test, set, !!line);
	KUNIT_EXPECT_EQ(test, tracer_tracing_is_on(tr), !line);
	if (!line)
		return;
	KUNIT_EXPECT_STREQ(test, cause.line, line);
	KUNIT_EXPECT_EQ(test, cause.pid, current->pid);
	KUNIT_EXPECT_STREQ(test, cause.comm, current->comm);
	KUNIT_EXPECT_LE(test, cause.ts, cause.off);
}

static void stop_test_crash(struct kunit *test, const char *kind)
{
	if (!strcmp(kind, "panic"))
		trace_stop_panic();
	else if (!strcmp(kind, "oops"))
		trace_stop_oops();
	else
		trace_stop_warn();
}

/* Each crash stops if there is its line, and only then. */
static void stop_test_kinds(struct kunit *test)
{
	static const char * const kinds[] = { "panic", "oops", "warn" };
	char remove[16], other[16];
	int i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		KUNIT_EXPECT_EQ(test, stop_test_change(test, kinds[i]), 0);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, kinds[i]), 0);
		snprintf(other, sizeof(other), "%s all", kinds[i]);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, other), -EEXIST);
		for (j = 0; j < ARRAY_SIZE(kinds); j++) {
			stop_test_crash(test, kinds[j]);
			stop_test_by(test, i == j ? kinds[i] : NULL);
			tracer_tracing_on(test->priv);
			stop_test_by(test, NULL);
		}
		snprintf(remove, sizeof(remove), "!%s", kinds[i]);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, remove), 0);
		stop_test_crash(test, kinds[i]);
		stop_test_by(test, NULL);
	}
}

/* The first crash is the reason. */
static void stop_test_first(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "oops"), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "panic"), 0);
	stop_test_crash(test, "oops");
	stop_test_crash(test, "panic");
	stop_test_by(test, "oops");
	/* A trace array that is switched on elsewhere can be stopped again. */
	tracer_tracing_on(test->priv);
	stop_test_crash(test, "panic");
	stop_test_by(test, "panic");
}

/* The reason is that of the last stop only, and not that of user space. */
static void stop_test_stale(struct kunit *test)
{
	struct stop_cause cause;

	KUNIT_EXPECT_EQ(test, stop_test_change(test, "oops"), 0);
	stop_test_crash(test, "oops");
	stop_test_by(test, "oops");
	tracer_tracing_on(test->priv);
	tracer_tracing_off(test->priv);
	KUNIT_EXPECT_FALSE(test, stop_read_why(test->priv, &cause));
}

/* A cause stops also while another one is described, or when its CPU was halted then. */
static void stop_test_locked(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	KUNIT_EXPECT_EQ(test, stop_test_change(test, "panic all"), 0);
	atomic_inc(&tr->stop_on->why.seq);
	stop_test_crash(test, "panic");
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(tr));
	KUNIT_EXPECT_FALSE(test, tracing_is_on_all());
	atomic_inc(&tr->stop_on->why.seq);
}

/*
 * An event that has read the flags of its file before the line was there comes without its
 * record: neither a filter nor the commit can be heeded, so it does not stop.
 */
static void stop_test_no_record(struct kunit *test)
{
	static const char * const lines[] = {
		"event sched:sched_process_exit",
		"event sched:sched_process_exit if pid == -1",
	};
	struct trace_array *tr = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		KUNIT_ASSERT_EQ(test, stop_test_change(test, lines[i]), 0);
		scoped_guard(mutex, &event_mutex) {
			struct stop_line *line = list_first_entry(&tr->stop_on->lines,
								  typeof(*line), list);

			guard(preempt_notrace)();
			event_triggers_call(line->file, NULL, NULL, NULL);
		}
		stop_test_by(test, NULL);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, "!event sched:sched_process_exit"), 0);
	}
}

/* "all" stops every ring buffer, by any crash; without it none but its own does. */
static void stop_test_all(struct kunit *test)
{
	static const char * const kinds[] = { "panic", "oops", "warn" };
	struct trace_array *tr = test->priv;
	char line[16], remove[16];
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(line, sizeof(line), "%s all", kinds[i]);
		snprintf(remove, sizeof(remove), "!%s all", kinds[i]);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, kinds[i]), 0);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, line), -EEXIST);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, remove), -ENOENT);
		stop_test_crash(test, kinds[i]);
		stop_test_by(test, kinds[i]);
		KUNIT_EXPECT_TRUE(test, tracing_is_on_all());
		remove[1 + strlen(kinds[i])] = '\0';
		KUNIT_EXPECT_EQ(test, stop_test_change(test, remove), 0);

		KUNIT_EXPECT_EQ(test, stop_test_change(test, line), 0);
		/* It is off already. */
		stop_test_crash(test, kinds[i]);
		KUNIT_EXPECT_TRUE(test, tracing_is_on_all());
		tracer_tracing_on(tr);
		stop_test_crash(test, kinds[i]);
		KUNIT_EXPECT_FALSE(test, tracing_is_on_all());
		stop_test_by(test, line);
		/* The others go on; this one keeps its reason. */
		tracing_on_all();
		stop_test_by(test, line);
		tracer_tracing_on(tr);
		stop_test_by(test, NULL);
		KUNIT_EXPECT_EQ(test, stop_test_change(test, remove), 0);
	}
}

static int stop_test_error;

static int stop_test_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	return type == TRACE_REG_REGISTER ? stop_test_error : 0;
}

/* A line for an event that cannot be enabled leaves nothing behind, and later it can be added. */
static void stop_test_refused(struct kunit *test)
{
	static const char line[] = "event sched:sched_process_exit if pid == 1 after 5s";
	struct trace_array *tr = test->priv;
	struct trace_event_class *class;
	struct trace_event_file *file;
	typeof(class->reg) reg;
	unsigned long flags;
	int memory, enable;

	scoped_guard(mutex, &event_mutex)
		file = find_event_file(tr, "sched", "sched_process_exit");
	KUNIT_ASSERT_NOT_NULL(test, file);
	class = file->event_call->class;
	reg = class->reg;
	flags = file->flags;
	class->reg = stop_test_reg;
	stop_test_error = -ENOMEM;
	memory = stop_test_change(test, line);
	stop_test_error = -EBUSY;
	enable = stop_test_change(test, line);
	class->reg = reg;
	KUNIT_EXPECT_EQ(test, memory, -ENOMEM);
	KUNIT_EXPECT_EQ(test, enable, -EBUSY);
	KUNIT_EXPECT_TRUE(test, list_empty(&tr->stop_on->lines));
	KUNIT_EXPECT_TRUE(test, list_empty(&file->triggers));
	KUNIT_EXPECT_EQ(test, file->flags, flags);
	KUNIT_EXPECT_EQ(test, atomic_read(&file->tm_ref), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&file->sm_ref), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change(test, line), 0);
}

#ifdef CONFIG_TRACER_SNAPSHOT
/* Nothing is recorded behind the snapshot of the crash that stops. */
static void stop_test_snapshot(struct kunit *test)
{
	static const char * const kinds[] = { "panic", "oops", "warn" };
	unsigned long on = snap_crash_on;
	struct trace_array *tr = test->priv;
	struct stop_cause cause;
	struct trace_snap *snap;
	int i;

	/* No two times are equal by this one. */
	KUNIT_ASSERT_EQ(test, tracing_set_clock(tr, "counter"), 0);
	KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(tr), 0);
	snap_crash_on = BIT(SNAP_BY_PANIC) | BIT(SNAP_BY_OOPS) | BIT(SNAP_BY_WARN);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		KUNIT_EXPECT_EQ(test, stop_test_change(test, kinds[i]), 0);
		if (!strcmp(kinds[i], "warn")) {
			disable_trace_on_warning();
		} else {
			stop_test_crash(test, kinds[i]);
			trace_snapshot_crash(match_string(snap_by_names, SNAP_BY_WARN + 1,
							  kinds[i]));
		}
		stop_test_by(test, kinds[i]);
		snap = tr->snapshots->user.last;
		KUNIT_EXPECT_NOT_NULL(test, snap);
		if (snap && stop_read_why(tr, &cause)) {
			KUNIT_EXPECT_STREQ(test, snap_by_names[snap->info.by], kinds[i]);
			KUNIT_EXPECT_LT(test, cause.off, snap->info.begin);
		}
		tracer_tracing_on(tr);
	}
	snap_crash_on = on;
}
#endif

/* Recording goes on for the time, and is not stopped if the stop is cancelled. */
static void stop_test_later(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct stop_cause cause;
	int tries = 10000;

	KUNIT_EXPECT_EQ(test, stop_test_change(test, "warn after 1000s"), 0);
	trace_stop_warn();
	stop_test_by(test, NULL);
	scoped_guard(mutex, &event_mutex) {
		struct stop_line *line = list_first_entry(&tr->stop_on->lines, typeof(*line), list);

		KUNIT_EXPECT_TRUE(test, line->pending);
		stop_read(&line->later, &cause);
		KUNIT_EXPECT_STREQ(test, cause.line, "warn after 1000s");
		trace_stop_cancel(tr);
		KUNIT_EXPECT_FALSE(test, line->pending);
	}
	trace_stop_warn();
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "!warn"), 0);
	stop_test_by(test, NULL);

	KUNIT_EXPECT_EQ(test, stop_test_change(test, "warn after 1us all"), 0);
	KUNIT_EXPECT_TRUE(test, tracing_is_on_all());
	trace_stop_warn();
	/* That is its last switch. */
	while (tracing_is_on_all() && tries--)
		usleep_range(100, 200);
	KUNIT_EXPECT_FALSE(test, tracing_is_on_all());
	stop_test_by(test, "warn after 1us all");
}

static struct kunit_case stop_test_cases[] = {
	KUNIT_CASE(stop_test_kinds),
	KUNIT_CASE(stop_test_first),
	KUNIT_CASE(stop_test_stale),
	KUNIT_CASE(stop_test_locked),
	KUNIT_CASE(stop_test_all),
	KUNIT_CASE(stop_test_no_record),
	KUNIT_CASE(stop_test_refused),
#ifdef CONFIG_TRACER_SNAPSHOT
	KUNIT_CASE(stop_test_snapshot),
#endif
	KUNIT_CASE(stop_test_later),
	{}
};

static struct kunit_suite stop_test_suite = {
	.name = "trace_stop",
	.init = stop_test_init,
	.exit = stop_test_exit,
	.test_cases = stop_test_cases,
};

kunit_test_suite(stop_test_suite);
