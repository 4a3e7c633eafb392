// SPDX-License-Identifier: GPL-2.0
/*
 * A perf.data of a copy: its header, the attributes of the events, and the records. In front of
 * the records are some with time 0, which are made here: the names of threads that have samples,
 * and what was lost.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "internal.h"

/* As the tools of perf define them: struct perf_file_section, perf_file_attr, perf_file_header */
struct dump_section {
	u64	offset;
	u64	size;
};

struct dump_file_header {
	u64			magic;
	u64			size;
	u64			attr_size;
	struct dump_section	attrs;
	struct dump_section	data;
	struct dump_section	event_types;
	u64			features[4];
};

static_assert(sizeof(struct dump_file_header) == 104);

/* "PERFILE2" where the smallest byte comes first; by this number a reader tells the byte order. */
#define DUMP_MAGIC	0x32454c4946524550ULL

/* As many threads get a name. */
#define DUMP_THREADS	4096

/* The longest record that is made here */
#define DUMP_RECORD	128

/**
 * struct dump_head - all in front of the records, while it is made
 * @data: memory
 * @len:  bytes
 */
struct dump_head {
	void	*data;
	size_t	len;
};

static void head_add(struct dump_head *head, const void *data, size_t len)
{
	memcpy(head->data + head->len, data, len);
	head->len += len;
}

static void head_add_u64(struct dump_head *head, u64 value)
{
	head_add(head, &value, sizeof(value));
}

static void head_add_u32(struct dump_head *head, u32 one, u32 other)
{
	u32 pair[] = { one, other };

	head_add(head, pair, sizeof(pair));
}

/* The fields at the end of a record, with time 0 */
static void head_add_id(struct dump_head *head, const struct dump_event *event, u32 pid, u32 tid)
{
	u64 type = event->attr.sample_type;

	if (!event->attr.sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID)
		head_add_u32(head, pid, tid);
	if (type & PERF_SAMPLE_TIME)
		head_add_u64(head, 0);
	if (type & PERF_SAMPLE_ID)
		head_add_u64(head, event->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		head_add_u64(head, event->id);
	if (type & PERF_SAMPLE_CPU)
		head_add_u32(head, max(event->cpu, 0), 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		head_add_u64(head, event->id);
}

/* @size of the fields between the header and those at the end */
static void head_add_header(struct dump_head *head, const struct dump_event *event, u32 type,
			    size_t size)
{
	struct perf_event_header header = {
		.type = type,
		.size = sizeof(header) + size + dump_id_size(&event->attr),
	};

	BUILD_BUG_ON(sizeof(header) + 2 * sizeof(u32) + TASK_COMM_LEN + 6 * sizeof(u64) >
		     DUMP_RECORD);
	head_add(head, &header, sizeof(header));
}

static void head_add_lost(struct dump_head *head, const struct dump_event *event, u64 lost)
{
	head_add_header(head, event, PERF_RECORD_LOST, 2 * sizeof(u64));
	head_add_u64(head, event->id);
	head_add_u64(head, lost);
	head_add_id(head, event, 0, 0);
}

static struct task_struct *thread_get(struct pid_namespace *ns, u32 tid)
{
	struct task_struct *task;

	guard(rcu)();
	task = find_task_by_pid_ns(tid, ns);
	return task ? get_task_struct(task) : NULL;
}

/* The name of a thread, if the caller may see it: a PID of a record may be used again. */
static void head_add_comm(struct dump_head *head, const struct perf_dump *dump, u32 pid, u32 tid)
{
	const struct dump_event *event = dump->events.event;
	struct task_struct *task __free(put_task) = thread_get(dump->ns, tid);
	char comm[TASK_COMM_LEN] = {};

	if (!task)
		return;
	if (perf_allow_cpu() && !ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS))
		return;
	get_task_comm(comm, task);
	head_add_header(head, event, PERF_RECORD_COMM, 2 * sizeof(u32) + sizeof(comm));
	head_add_u32(head, pid, tid);
	head_add(head, comm, sizeof(comm));
	head_add_id(head, event, pid, tid);
}

/* Find threads with samples: @threads gets the group of each. Returns their number. */
static int threads_find(const struct perf_dump *dump, struct xarray *threads)
{
	const void *at = dump->ring.data + dump->ring.start, *end = at + dump->ring.len;
	const struct perf_event_header *header;
	unsigned int nr = 0;
	u32 pid, tid;

	for (; at < end && nr < DUMP_THREADS; at += header->size) {
		header = at;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!dump_sample_tid(&dump->events, header, &pid, &tid) || xa_load(threads, tid))
			continue;
		if (xa_err(xa_store(threads, tid, xa_mk_value(pid & INT_MAX), GFP_KERNEL_ACCOUNT)))
			return -ENOMEM;
		nr++;
	}
	return nr;
}

/*
 * All attributes have one size: that of the fields which are set. A perf that is older than the
 * program which records refuses a file with attributes larger than its own.
 */
static u32 head_attr_size(const struct dump_events *events)
{
	u32 size = PERF_ATTR_SIZE_VER0;
	unsigned int i;

	for (i = 0; i < events->nr; i++) {
		const void *attr = &events->event[i].attr;

		while (size < sizeof(struct perf_event_attr) &&
		       memchr_inv(attr + size, 0, sizeof(struct perf_event_attr) - size))
			size += sizeof(u64);
	}
	return size;
}

static_assert(sizeof(struct perf_event_attr) % sizeof(u64) == 0);

static int attr_cmp(const void *a, const void *b)
{
	const struct dump_event *x = *(const struct dump_event **)a;
	const struct dump_event *y = *(const struct dump_event **)b;

	return memcmp(&x->attr, &y->attr, sizeof(x->attr)) ?: x->id < y->id ? -1 : 1;
}

/*
 * Add each attribute once, with the IDs of all events that have it: perf record gives a ring an
 * event for each thread, and perf wants an ID in each record if there are two attributes.
 */
static void head_add_attrs(struct dump_head *head, const struct dump_events *events,
			   const struct dump_event **order, struct dump_file_header *file)
{
	unsigned int i, next, ids = head->len, size = head_attr_size(events);

	for (i = 0; i < events->nr; i++)
		order[i] = &events->event[i];
	sort(order, events->nr, sizeof(*order), attr_cmp, NULL);
	for (i = 0; i < events->nr; i++)
		head_add_u64(head, order[i]->id);
	file->attr_size = size + sizeof(struct dump_section);
	file->attrs.offset = head->len;
	for (i = 0; i < events->nr; i = next) {
		struct perf_event_attr attr = order[i]->attr;

		for (next = i + 1; next < events->nr; next++) {
			if (memcmp(&order[next]->attr, &attr, sizeof(attr)))
				break;
		}
		attr.size = size;
		head_add(head, &attr, size);
		head_add_u64(head, ids + i * sizeof(u64));
		head_add_u64(head, (next - i) * sizeof(u64));
	}
	file->attrs.size = head->len - file->attrs.offset;
}

static void head_fill(struct perf_dump *dump, struct xarray *threads,
		      const struct dump_event **order, struct dump_head *head)
{
	const struct dump_events *events = &dump->events;
	/*
	 * The size of a header without features: from features, even if there are none, perf makes
	 * up one if it has to turn the byte order.
	 */
	struct dump_file_header file = {
		.magic = DUMP_MAGIC, .size = offsetof(struct dump_file_header, features)
	};
	unsigned long tid;
	void *pid;

	head->len = sizeof(file);
	head_add_attrs(head, events, order, &file);
	file.data.offset = head->len;
	if (events->nr) {
		xa_for_each(threads, tid, pid)
			head_add_comm(head, dump, xa_to_value(pid), tid);
		if (dump->ring.lost)
			head_add_lost(head, events->event, dump->ring.lost);
	}
	file.data.size = head->len - file.data.offset + dump->ring.len;
	memcpy(head->data, &file, sizeof(file));
}

/**
 * dump_data_head() - make all of a perf.data that is in front of the records
 * @dump: the copy; gets it
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM; -EINTR if the caller is killed.
 */
int dump_data_head(struct perf_dump *dump)
{
	const struct dump_event **order __free(kvfree) =
		kvmalloc_array(dump->events.nr, sizeof(*order), GFP_KERNEL_ACCOUNT);
	struct dump_head head = {};
	struct xarray threads;
	size_t room;
	int nr;

	xa_init(&threads);
	nr = order ? threads_find(dump, &threads) : -ENOMEM;
	if (nr >= 0) {
		room = sizeof(struct dump_file_header) + (nr + 1) * DUMP_RECORD +
		       dump->events.nr * (sizeof(u64) + sizeof(struct perf_event_attr) +
					  sizeof(struct dump_section));
		head.data = kvmalloc(room, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!head.data)
			nr = -ENOMEM;
	}
	if (nr >= 0) {
		head_fill(dump, &threads, order, &head);
		dump->head = head.data;
		dump->head_len = head.len;
	}
	xa_destroy(&threads);
	return min(nr, 0);
}
