// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of stops by crashes.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kexec.h>
#include <linux/kthread.h>
#include <linux/panic.h>
#include <linux/string.h>
#include <linux/trace_stop.h>
#include <linux/workqueue.h>

#include "../../ring_buffer/internal.h"
#include "../../snapshot/internal.h"
#include "../../trace_text.h"
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

/* @denied: error of a line with "all" */
static int stop_test_change_of(struct kunit *test, struct trace_array *tr, const char *line,
			       int denied)
{
	char text[STOP_LINE_SIZE];
	struct stop_fault fault;
	struct stop_spec spec;

	strscpy(text, line + (*line == '!'));
	KUNIT_ASSERT_EQ(test, stop_parse(text, &spec, &fault), 0);
	spec.denied = denied;
	guard(mutex)(&event_mutex);
	return *line == '!' ? stop_remove(tr, &spec, &fault) : stop_add(tr, &spec, &fault);
}

static int stop_test_change(struct kunit *test, const char *line)
{
	return stop_test_change_of(test, test->priv, line, 0);
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

/* A crash kernel starts at the end of an oops: the oops stops as the panic that does not come. */
static void stop_test_last(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "panic"), 0);
	stop_oops(false);
	stop_test_by(test, NULL);
	stop_oops(true);
	stop_test_by(test, "panic");
	tracer_tracing_on(test->priv);
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "oops"), 0);
	stop_oops(true);
	stop_test_by(test, "oops");
}

#ifdef CONFIG_CRASH_DUMP
/* It does if there is a crash kernel, and the oops would end in a panic. */
static void stop_test_kdump(struct kunit *test)
{
	struct kimage *image = kexec_crash_image;
	int on_oops = panic_on_oops, i;

	if (crash_kexec_post_notifiers)
		kunit_skip(test, "the crash kernel starts in panic()");
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "panic"), 0);
	for (i = 0; i < 4; i++) {
		scoped_guard(irqsave) {
			kexec_crash_image = i & 1 ? ERR_PTR(-ENOEXEC) : NULL;
			panic_on_oops = i & 2;
			trace_stop_oops();
			kexec_crash_image = image;
			panic_on_oops = on_oops;
		}
		stop_test_by(test, i == 3 ? "panic" : NULL);
	}
}
#endif

/* The top trace array records behind an oops if a line of its own has a delay, and only then. */
static void stop_test_top(struct kunit *test)
{
	static const char later[] = "oops after 1000s";
	struct trace_array *top = top_trace_array();
	bool was_on = tracer_tracing_is_on(top);

	tracer_tracing_on(top);
	KUNIT_EXPECT_EQ(test, stop_test_change(test, later), 0);
	KUNIT_EXPECT_FALSE(test, stop_oops(false));
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, top, "oops", 0), 0);
	KUNIT_EXPECT_FALSE(test, stop_oops(false));
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(top));
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, top, "!oops", 0), 0);
	tracer_tracing_on(top);
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, top, later, 0), 0);
	KUNIT_EXPECT_TRUE(test, stop_oops(false));
	/* Another oops before that does not end the time of the first one. */
	KUNIT_EXPECT_TRUE(test, stop_oops(false));
	KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(top));
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, top, "!oops", 0), 0);
	KUNIT_EXPECT_FALSE(test, stop_oops(false));
	if (!was_on)
		tracer_tracing_off(top);
}

/* A crash of a CPU in hotplug. Return: has it switched all ring buffers off? */
static bool stop_test_hotplug_crash(struct kunit *test, const char *kind)
{
	bool off;

	scoped_guard(irqsave) {
		rb_cpu_dying(smp_processor_id());
		stop_test_crash(test, kind);
		off = !tracing_is_on_all();
		rb_cpu_starting(smp_processor_id());
	}
	tracing_on_all();
	stop_test_by(test, NULL);
	return off;
}

/* No line can be used there: with one for a panic, a panic stops all. */
static void stop_test_hotplug(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "oops"), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "warn"), 0);
	KUNIT_EXPECT_FALSE(test, stop_test_hotplug_crash(test, "panic"));
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "panic"), 0);
	KUNIT_EXPECT_FALSE(test, stop_test_hotplug_crash(test, "oops"));
	KUNIT_EXPECT_FALSE(test, stop_test_hotplug_crash(test, "warn"));
	KUNIT_EXPECT_TRUE(test, stop_test_hotplug_crash(test, "panic"));
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "!panic"), 0);
	KUNIT_EXPECT_FALSE(test, stop_test_hotplug_crash(test, "panic"));
}

struct stop_test_reader {
	struct trace_buffer	*buffer;
	struct completion	done;
};

static int stop_test_read(void *data)
{
	struct stop_test_reader *reader = data;

	ring_buffer_wait(reader->buffer, RING_BUFFER_ALL_CPUS, 0, NULL, NULL);
	complete(&reader->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Have the readers of earlier switches woken. */
static void stop_test_settle(void)
{
	struct irq_work *work = ring_buffer_set_off_work(NULL);

	ring_buffer_set_off_work(work);
	irq_work_sync(work);
	/* (Not by the macro, which warns of the queues of the system.) */
	__flush_workqueue(system_dfl_wq);
}

/* A switch of all wakes readers that wait, also that by a CPU in hotplug. */
static void stop_test_wakes(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct stop_test_reader reader = { .buffer = tr->array_buffer.buffer };
	struct task_struct *task;
	unsigned long left;
	int hotplug;

	stop_test_settle();
	for (hotplug = 0; hotplug < 2; hotplug++) {
		init_completion(&reader.done);
		task = kthread_run(stop_test_read, &reader, "stop_kunit");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		while (READ_ONCE(task->__state) != TASK_INTERRUPTIBLE)
			schedule_timeout_uninterruptible(1);
		KUNIT_EXPECT_FALSE(test, completion_done(&reader.done));
		scoped_guard(irqsave) {
			if (hotplug)
				rb_cpu_dying(smp_processor_id());
			tracing_off_all();
			if (hotplug)
				rb_cpu_starting(smp_processor_id());
		}
		left = wait_for_completion_timeout(&reader.done, 20 * HZ);
		KUNIT_EXPECT_NE(test, left, 0UL);
		if (!left)
			ring_buffer_wake_waiters(reader.buffer, RING_BUFFER_ALL_CPUS);
		kthread_stop(task);
		tracing_on_all();
	}
}

/* A line with "all" needs a right; one that is there can be written again without it. */
static void stop_test_denied(struct kunit *test)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	KUNIT_EXPECT_EQ(test, trace_on_all_permission(NULL), 0);
	KUNIT_EXPECT_EQ(test, trace_on_all_permission(current_cred()), 0);
	cred->fsuid = KUIDT_INIT(1000);
	cred->fsgid = KGIDT_INIT(1000);
	cap_clear(cred->cap_effective);
	KUNIT_EXPECT_EQ(test, trace_on_all_permission(cred), -EACCES);
	/* As a worker of io_uring, which has other rights than the writer */
	old = override_creds(cred);
	ret = trace_on_all_permission(old);
	revert_creds(old);
	put_cred(cred);
	KUNIT_EXPECT_EQ(test, ret, -EACCES);

	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, test->priv, "oops all", ret), -EACCES);
	stop_test_crash(test, "oops");
	stop_test_by(test, NULL);
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, test->priv, "oops", ret), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, test->priv, "!oops", ret), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change(test, "oops all"), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, test->priv, "oops all", ret), 0);
	KUNIT_EXPECT_EQ(test, stop_test_change_of(test, test->priv, "!oops all", ret), 0);
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
	KUNIT_CASE(stop_test_last),
#ifdef CONFIG_CRASH_DUMP
	KUNIT_CASE(stop_test_kdump),
#endif
	KUNIT_CASE(stop_test_top),
	KUNIT_CASE(stop_test_hotplug),
	KUNIT_CASE(stop_test_wakes),
	KUNIT_CASE(stop_test_denied),
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
