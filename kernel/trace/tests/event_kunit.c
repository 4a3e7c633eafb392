// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the way from a tracepoint to the ring buffer: the context in a record, and an event
 * with flags that change between its two ends.
 */
#include <linux/bottom_half.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timer.h>

#include "snapshots.h"

/* Flags, and the two counts, of where it is called */
struct event_context {
	unsigned int	flags;
	unsigned int	preempt;
	unsigned int	migrate;
};

static struct event_context event_look(void)
{
	unsigned int ctx = tracing_gen_ctx();

	return (struct event_context){ ctx >> 16, ctx & 0xf, (ctx >> 4) & 0xf };
}

/* Those that the scheduler sets at any time do not count. */
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
#define EVENT_ASYNC	(TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED |	\
			 TRACE_FLAG_NEED_RESCHED_LAZY)
#else
#define EVENT_ASYNC	(TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED)
#endif

static void event_expect(struct kunit *test, unsigned int flags, unsigned int preempt)
{
	struct event_context ctx = event_look();

	KUNIT_EXPECT_EQ(test, ctx.flags & ~EVENT_ASYNC, flags);
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		KUNIT_EXPECT_EQ(test, ctx.preempt, preempt);
}

static void event_test_task(struct kunit *test)
{
	unsigned long irqs;
	unsigned int n;

	event_expect(test, 0, 0);
	for (n = 1; n <= 20; n++) {
		preempt_disable();
		event_expect(test, 0, min(n, 15U));
	}
	while (--n)
		preempt_enable();

	local_irq_save(irqs);
	event_expect(test, TRACE_FLAG_IRQS_OFF, 0);
	local_irq_restore(irqs);
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	local_bh_disable();
	event_expect(test, TRACE_FLAG_BH_OFF, 0);
	preempt_disable();
	event_expect(test, TRACE_FLAG_BH_OFF, 1);
	preempt_enable();
	local_bh_enable();
	event_expect(test, 0, 0);
}

static void event_test_migrate(struct kunit *test)
{
	unsigned int n;

	for (n = 1; n <= 20; n++) {
		migrate_disable();
		KUNIT_EXPECT_EQ(test, event_look().migrate,
				IS_ENABLED(CONFIG_SMP) ? min(n, 15U) : 0);
	}
	while (--n)
		migrate_enable();
	KUNIT_EXPECT_EQ(test, event_look().migrate, 0U);
}

static void event_test_resched(struct kunit *test)
{
	preempt_disable();
	set_tsk_need_resched(current);
	KUNIT_EXPECT_TRUE(test, event_look().flags & TRACE_FLAG_NEED_RESCHED);
	clear_tsk_need_resched(current);
	set_preempt_need_resched();
	if (test_preempt_need_resched())
		KUNIT_EXPECT_TRUE(test, event_look().flags & TRACE_FLAG_PREEMPT_RESCHED);
	preempt_enable();
}

static struct event_context event_seen;

static void event_irq(struct irq_work *work)
{
	event_seen = event_look();
}

static void event_softirq(struct timer_list *timer)
{
	event_seen = event_look();
}

static void event_test_interrupts(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(event_irq);
	static struct timer_list timer;

	irq_work_queue(&work);
	irq_work_sync(&work);
	KUNIT_EXPECT_EQ(test, event_seen.flags & ~EVENT_ASYNC,
			TRACE_FLAG_HARDIRQ | TRACE_FLAG_IRQS_OFF);

	memset(&event_seen, 0, sizeof(event_seen));
	timer_setup(&timer, event_softirq, 0);
	mod_timer(&timer, jiffies + 1);
	tfs_wait(test, READ_ONCE(event_seen.flags));
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		KUNIT_EXPECT_EQ(test, event_seen.flags & ~EVENT_ASYNC, TRACE_FLAG_SOFTIRQ);
	timer_shutdown_sync(&timer);
}

/* A flag of the file, what sets it up, and the flag's number */
static const struct event_flag {
	const char	*name;
	const char	*file;
	const char	*text;
	const char	*end;
	int		bit;
	bool		keeps;	/* the record, if the flag is there at the commit */
} event_flags[] = {
	{ "nothing", NULL, NULL, NULL, EVENT_FILE_FL_WAS_ENABLED_BIT, true },
	{ "a filter that keeps it", "filter", "next_pid == 0", "0",
	  EVENT_FILE_FL_FILTERED_BIT, true },
	{ "a filter that drops it", "filter", "next_pid == 7", "0",
	  EVENT_FILE_FL_FILTERED_BIT, false },
	{ "a trigger", "trigger", "traceoff if next_pid == 7", "!traceoff if next_pid == 7",
	  EVENT_FILE_FL_TRIGGER_COND_BIT, true },
	{ "off for a while", NULL, NULL, NULL, EVENT_FILE_FL_SOFT_DISABLED_BIT, false },
};

KUNIT_ARRAY_PARAM_DESC(event_flag, event_flags, name);

static void event_set(struct trace_event_file *file, int bit, bool on)
{
	if (on)
		set_bit(bit, &file->flags);
	else
		clear_bit(bit, &file->flags);
}

static struct trace_event_file *event_file(struct kunit *test)
{
	struct trace_event_file *file;

	scoped_guard(mutex, &event_mutex)
		file = find_event_file(test->priv, "sched", "sched_switch");
	KUNIT_ASSERT_NOT_NULL(test, file);
	/* A trigger waits for events that are not recorded. */
	event_set(file, EVENT_FILE_FL_SOFT_DISABLED_BIT, false);
	return file;
}

static void event_reserve(struct kunit *test, struct trace_event_buffer *fbuffer,
			  struct trace_event_file *file, int pid)
{
	const struct ftrace_event_field *field;
	void *entry;

	field = trace_find_event_field(file->event_call, "next_pid");
	KUNIT_ASSERT_NOT_NULL(test, field);
	entry = trace_event_buffer_reserve(fbuffer, file, 128);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	/* In the ring, and on the page of a filter */
	KUNIT_EXPECT_EQ(test, ring_buffer_event_length(fbuffer->event), 128);
	memset(entry + sizeof(struct trace_entry), 0, 128 - sizeof(struct trace_entry));
	*(int *)(entry + field->offset) = pid;
}

/* A flag may come or go in the middle of an event: what counts is at its end. */
static void event_test_changes(struct kunit *test)
{
	const struct event_flag *f = test->param_value;
	struct trace_array *tr = test->priv;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct trace_event_buffer fbuffer;
	struct trace_event_file *file;
	unsigned long entries = 0;
	unsigned int i, count;
	char path[64];

	snprintf(path, sizeof(path), "events/sched/sched_switch/%s", f->file);
	if (f->file)
		tfs_set(test, path, f->text);
	file = event_file(test);
	for (i = 0; i < 8; i++) {
		event_set(file, f->bit, i & 1);
		count = preempt_count();
		event_reserve(test, &fbuffer, file, 0);
		event_set(file, f->bit, i & 2);
		trace_event_buffer_commit(&fbuffer);
		KUNIT_EXPECT_EQ(test, preempt_count(), count);
		entries += !(i & 2) || f->keeps;
		KUNIT_EXPECT_EQ_MSG(test, ring_buffer_entries(buffer), entries, "%u", i);
	}
	event_set(file, f->bit, f->file);
	if (f->file)
		tfs_set(test, path, f->end);
}

/* An event that comes while a filter looks at another one, in an interrupt, has no page. */
static void event_test_nested(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	unsigned int count = preempt_count(), kept, i;
	struct trace_event_buffer outer, inner;
	struct trace_event_file *file;
	unsigned long entries = 0;

	tfs_set(test, "events/sched/sched_switch/filter", "next_pid == 1");
	file = event_file(test);
	/* 1: the outer event is kept; 2: the inner one */
	for (kept = 0; kept < 4; kept++) {
		event_reserve(test, &outer, file, kept & 1);
		for (i = 0; i < 2; i++) {
			event_reserve(test, &inner, file, kept >> 1);
			KUNIT_EXPECT_PTR_NE(test, inner.event, outer.event);
			trace_event_buffer_commit(&inner);
			entries += kept >> 1;
			KUNIT_EXPECT_EQ_MSG(test, ring_buffer_entries(buffer), entries, "%u", kept);
		}
		trace_event_buffer_commit(&outer);
		entries += kept & 1;
		KUNIT_EXPECT_EQ_MSG(test, ring_buffer_entries(buffer), entries, "%u", kept);
		KUNIT_EXPECT_EQ(test, preempt_count(), count);
	}
	tfs_set(test, "events/sched/sched_switch/filter", "0");
}

/* Record an event, in the context of a tracepoint, and read it. Return: false if it was dropped. */
static bool event_record(struct kunit *test, struct trace_event_file *file,
			 struct trace_entry *entry)
{
	struct trace_array *tr = test->priv;
	struct ring_buffer_event *event = NULL;
	struct trace_event_buffer fbuffer;
	int cpu;

	preempt_disable();
	event_reserve(test, &fbuffer, file, 1);
	trace_event_buffer_commit(&fbuffer);
	preempt_enable();
	for_each_online_cpu(cpu) {
		event = ring_buffer_consume(tr->array_buffer.buffer, cpu, NULL, NULL);
		if (event)
			break;
	}
	if (event)
		*entry = *(struct trace_entry *)ring_buffer_event_data(event);
	return event;
}

/* A record that a filter keeps has the header that it has without the filter. */
static void event_test_header(struct kunit *test)
{
	struct trace_entry want, entry = { };
	struct trace_event_file *file = event_file(test);
	char filter[64];
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, event_record(test, file, &want));
	KUNIT_EXPECT_EQ(test, want.type, file->event_call->event.type);
	KUNIT_EXPECT_EQ(test, want.pid, current->pid);
	/* 0: the filter does not look at the header; 1: it does; 2: and drops the record */
	for (i = 0; i < 3; i++) {
		int value = i == 0 ? 1 : i == 1 ? current->pid : 0;

		snprintf(filter, sizeof(filter), "%s == %d", i ? "common_pid" : "next_pid", value);
		tfs_set(test, "events/sched/sched_switch/filter", filter);
		KUNIT_EXPECT_EQ(test, event_record(test, file, &entry), i < 2);
		KUNIT_EXPECT_EQ(test, entry.type, want.type);
		KUNIT_EXPECT_EQ(test, entry.pid, want.pid);
		KUNIT_EXPECT_EQ(test, entry.preempt_count, want.preempt_count);
		KUNIT_EXPECT_EQ(test, entry.flags & ~EVENT_ASYNC, want.flags & ~EVENT_ASYNC);
	}
	tfs_set(test, "events/sched/sched_switch/filter", "0");
}

static struct kunit_case event_test_cases[] = {
	KUNIT_CASE(event_test_task),
	KUNIT_CASE(event_test_migrate),
	KUNIT_CASE(event_test_resched),
	KUNIT_CASE(event_test_interrupts),
	KUNIT_CASE_PARAM(event_test_changes, event_flag_gen_params),
	KUNIT_CASE(event_test_nested),
	KUNIT_CASE(event_test_header),
	{ }
};

static struct kunit_suite event_suite = {
	.name = "trace_event_write",
	.init = tfs_init_small,
	.exit = tfs_exit,
	.test_cases = event_test_cases,
};

kunit_test_suite(event_suite);
