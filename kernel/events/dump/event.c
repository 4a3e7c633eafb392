// SPDX-License-Identifier: GPL-2.0
/*
 * The events that output to a ring, and whether the caller may see their records.
 */
#include <linux/ptrace.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/sort.h>

#include "internal.h"

/* A ring with more events is not shown: they are noted under a spinlock. */
#define DUMP_EVENTS	4096

/* Branches of the kernel or the hypervisor */
#define DUMP_BRANCHES	(PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

/* Do samples have data of other events? These may count in the kernel and be on no list. */
static bool event_has_others(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_AUX)
		return true;
	return attr->read_format & PERF_FORMAT_GROUP &&
	       (attr->sample_type & PERF_SAMPLE_READ || attr->inherit_stat);
}

/**
 * dump_needs() - rights that the records of an event need
 * @attr:	its attributes
 * @task:	it counts for one task, with those that inherit it
 * @tracepoint:	it is that of a trace event
 *
 * They are those of perf_event_open(), and some more: raw data always needs the right for
 * tracepoints; addresses of symbols and code of the kernel, a part of an AUX area and the counts of
 * a group need that for the kernel.
 *
 * Return: DUMP_ flags.
 */
unsigned int dump_needs(const struct perf_event_attr *attr, bool task, bool tracepoint)
{
	unsigned int needs = 0;

	if (!attr->exclude_kernel || attr->sample_type & PERF_SAMPLE_PHYS_ADDR ||
	    attr->ksymbol || attr->text_poke || event_has_others(attr))
		needs |= DUMP_KERNEL;
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_kernel)
		needs |= DUMP_KERNEL;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    attr->branch_sample_type & DUMP_BRANCHES)
		needs |= DUMP_KERNEL;
	if (!task)
		needs |= DUMP_CPU;
	if (tracepoint || attr->sample_type & PERF_SAMPLE_RAW)
		needs |= DUMP_RAW;
	if (attr->namespaces)
		needs |= DUMP_PERFMON;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		needs |= DUMP_REGS;
	return needs;
}

static int rights_allowed(unsigned int needs)
{
	int ret;

	/* As Debian's perf_event_open() refuses all of perf at this level */
	if (sysctl_perf_event_paranoid > 2 && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	ret = security_perf_event_open(PERF_SECURITY_OPEN);
	if (!ret && needs & DUMP_KERNEL)
		ret = perf_allow_kernel();
	if (!ret && needs & DUMP_CPU)
		ret = perf_allow_cpu();
	if (!ret && needs & DUMP_RAW)
		ret = perf_allow_tracepoint();
	if (!ret && needs & DUMP_PERFMON && !perfmon_capable())
		ret = -EACCES;
	if (!ret && needs & DUMP_REGS)
		ret = security_locked_down(LOCKDOWN_PERF);
	return ret;
}

static bool event_has_tracepoint(struct perf_event *event)
{
#ifdef CONFIG_EVENT_TRACING
	if (event->tp_event)
		return true;
#endif
	return event->attr.type == PERF_TYPE_TRACEPOINT;
}

/*
 * Note the events of a ring, @max at most, each with a reference to its task: an event that is on
 * the list holds it. Returns their number, which may be larger than @max; it is DUMP_EVENTS + 1 if
 * there are more.
 */
static unsigned int events_note(struct perf_buffer *rb, struct dump_events *events,
				unsigned int max, bool *left)
{
	struct perf_event *event;
	unsigned int nr = 0;

	guard(spinlock)(&rb->event_lock);
	*left = rb->left;
	list_for_each_entry(event, &rb->event_list, rb_entry) {
		struct dump_event *to = &events->event[nr];

		if (nr == DUMP_EVENTS + 1)
			break;
		if (nr++ >= max)
			continue;
		/* An ioctl may change it, which harms nothing. */
		to->attr = data_race(event->attr);
		to->id = event->id;
		to->lost = atomic64_read(&event->lost_samples);
		to->cpu = event->cpu;
		to->task = event->hw.target;
		if (to->task)
			get_task_struct(to->task);
		events->needs |= dump_needs(&to->attr, to->task, event_has_tracepoint(event));
	}
	events->nr = min(nr, max);
	return nr;
}

/* As perf_event_open() checks the tasks, with the credentials of files in /proc */
static int tasks_allowed(const struct dump_events *events)
{
	const struct task_struct *last = NULL;
	unsigned int i;

	if (perfmon_capable())
		return 0;
	for (i = 0; i < events->nr; i++) {
		struct task_struct *task = events->event[i].task;

		if (!task || task == last)
			continue;
		if (!ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS))
			return -EACCES;
		last = task;
	}
	return 0;
}

/**
 * dump_events_allowed() - may the caller see the records of events?
 * @events: the events
 *
 * Context: May sleep.
 * Return: 0; -EACCES, -EPERM or an error of a security module.
 */
int dump_events_allowed(const struct dump_events *events)
{
	return rights_allowed(events->needs) ?: tasks_allowed(events);
}

static int event_cmp(const void *a, const void *b)
{
	const struct dump_event *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Do records of both events have the same form? */
static bool event_same_form(const struct dump_event *a, const struct dump_event *b)
{
	return a->attr.sample_type == b->attr.sample_type &&
	       a->attr.read_format == b->attr.read_format &&
	       a->attr.sample_id_all == b->attr.sample_id_all;
}

/**
 * dump_events_sort() - put events in the order of their IDs
 * @events: all but the order, and &dump_events.find, is set
 */
void dump_events_sort(struct dump_events *events)
{
	bool same = events->nr, ids = events->nr;
	unsigned int i;

	sort(events->event, events->nr, sizeof(*events->event), event_cmp, NULL);
	for (i = 0; i < events->nr; i++) {
		const struct dump_event *event = &events->event[i];

		same &= event_same_form(event, events->event);
		ids &= event->attr.sample_type & PERF_SAMPLE_IDENTIFIER &&
		       event->attr.sample_id_all == events->event->attr.sample_id_all;
	}
	events->find = ids ? DUMP_FIND_ID : same ? DUMP_FIND_ANY : DUMP_FIND_NOT;
}

/**
 * dump_events_put() - end dump_events_get()
 * @events: the events; zeroed events have none
 *
 * Context: May sleep.
 */
void dump_events_put(struct dump_events *events)
{
	unsigned int i;

	for (i = 0; i < events->nr; i++) {
		if (events->event[i].task)
			put_task_struct(events->event[i].task);
	}
	kvfree(events->event);
	*events = (struct dump_events){};
}

/**
 * dump_events_get() - get the events of a ring, if the caller may see their records
 * @rb:	    the ring, with a reference
 * @events: gets them, for dump_events_put(); zeroed, and stays so after an error
 *
 * Context: May sleep.
 * Return: 0; -EACCES, -EPERM or an error of a security module; -E2BIG if there are too many;
 *	   -ENOMEM.
 */
int dump_events_get(struct perf_buffer *rb, struct dump_events *events)
{
	unsigned int nr = 16, max;
	bool left;
	int ret;

	do {
		dump_events_put(events);
		max = nr;
		events->event = kvcalloc(max, sizeof(*events->event),
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!events->event)
			return -ENOMEM;
		nr = events_note(rb, events, max, &left);
	} while (nr > max && nr <= DUMP_EVENTS);
	if (nr > DUMP_EVENTS) {
		dump_events_put(events);
		return -E2BIG;
	}
	dump_events_sort(events);
	if (left || !nr)
		events->needs = DUMP_ALL;
	ret = dump_events_allowed(events);
	if (ret)
		dump_events_put(events);
	return ret;
}
