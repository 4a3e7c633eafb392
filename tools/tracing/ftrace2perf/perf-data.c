// SPDX-License-Identifier: GPL-2.0
/*
 * Write a perf.data:
 *
 *   header
 *   IDs, one for each event: its attribute's place + 1
 *   attributes, one for each event
 *   records: MMAP of the kernel, COMM of each task, then SAMPLE and LOST in the order
 *     of their times, with a FINISHED_ROUND now and then, up to which perf sorts
 *   table of the features, features
 *
 * A SAMPLE has the record as it is in the ring buffer, common fields included: perf's own
 * samples of tracepoints have the same.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ftrace2perf.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

/* A type of record that only files have. */
#define FINISHED_ROUND	68
#define ROUND_RECORDS	16384

/* Where a record of ftrace has common_pid. */
#define COMMON_PID_AT	4

struct section {
	uint64_t	offset;
	uint64_t	size;
};

struct file_header {
	char		magic[8];
	uint64_t	size;
	uint64_t	attr_size;
	struct section	attrs;
	struct section	data;
	struct section	event_types;
	uint64_t	features[4];
};

struct file_attr {
	struct perf_event_attr	attr;
	struct section		ids;
};

/* It is behind each record but a sample. */
struct sample_id {
	uint32_t	pid;
	uint32_t	tid;
	uint64_t	time;
	uint32_t	cpu;
	uint32_t	reserved;
	uint64_t	id;
};

/* A sample, up to the bytes of the record. */
struct sample {
	struct perf_event_header	header;
	uint64_t			id;
	uint32_t			pid;
	uint32_t			tid;
	uint64_t			time;
	uint32_t			cpu;
	uint32_t			reserved;
	uint64_t			period;
	uint32_t			raw_size;
} __attribute__((packed));

struct lost {
	struct perf_event_header	header;
	uint64_t			id;
	uint64_t			lost;
	struct sample_id		sample_id;
};

/**
 * struct writer - what is written
 * @out:      the file
 * @trace:    the trace
 * @attrs:    the attributes
 * @nr_attrs: number of @attrs
 * @tasks:    the tasks that have names
 * @nr_tasks: number of @tasks
 * @span:     times of the first and the last record
 * @lost:     number of lost records
 * @large:    number of records that do not fit into a sample
 */
struct writer {
	FILE			*out;
	struct trace		*trace;
	struct perf_event_attr	*attrs;
	int			nr_attrs;
	struct task		*tasks;
	int			nr_tasks;
	unsigned long long	span[2];
	unsigned long long	lost;
	unsigned long		large;
};

static bool fits(const struct record *record)
{
	return sizeof(struct sample) + cursor_left(&record->bytes) + sizeof(uint64_t) <= UINT16_MAX;
}

/* First pass: the events that have records. */
static void count(struct writer *w)
{
	struct merge *merge = merge_begin(w->trace);
	struct record record;
	bool first = true;
	int i;

	while (merge_next(merge, &record)) {
		if (!record.event || !fits(&record)) {
			w->lost += record.lost;
			w->large += !!record.event;
			continue;
		}
		record.event->records++;
		if (first || record.time < w->span[0])
			w->span[0] = record.time;
		if (first || record.time > w->span[1])
			w->span[1] = record.time;
		first = false;
	}
	merge_report(merge);
	merge_free(merge);
	for (i = 0; i < w->trace->nr_events; i++) {
		if (w->trace->events[i].records)
			w->trace->events[i].attr = w->nr_attrs++;
	}
}

/* The number of a POSIX clock of the same times, or -1. */
static int clock_id(const char *clock)
{
	static const struct {
		const char	*name;
		int		id;
	} clocks[] = {
		{ "mono", CLOCK_MONOTONIC },
		{ "mono_raw", CLOCK_MONOTONIC_RAW },
		{ "boot", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};
	size_t i;

	for (i = 0; clock && i < ARRAY_SIZE(clocks); i++) {
		if (!strcmp(clock, clocks[i].name))
			return clocks[i].id;
	}
	return -1;
}

static void make_attrs(struct writer *w)
{
	int i, clock = clock_id(w->trace->clock);

	w->attrs = zalloc(w->nr_attrs * sizeof(*w->attrs));
	for (i = 0; i < w->trace->nr_events; i++) {
		struct event *event = &w->trace->events[i];
		struct perf_event_attr *attr;

		if (event->attr < 0)
			continue;
		attr = &w->attrs[event->attr];
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->size = sizeof(*attr);
		attr->config = event->id;
		attr->sample_period = 1;
		attr->sample_type = SAMPLE_TYPE;
		attr->sample_id_all = 1;
		attr->mmap = !event->attr;
		attr->comm = !event->attr;
		if (clock >= 0) {
			attr->use_clockid = 1;
			attr->clockid = clock;
		}
	}
}

static void put_attrs(struct writer *w, struct file_header *header)
{
	struct file_attr attr = {};
	uint64_t id;
	int i;

	put(w->out, header, sizeof(*header));
	attr.ids.offset = ftell(w->out);
	attr.ids.size = sizeof(id);
	for (id = 1; id <= (uint64_t)w->nr_attrs; id++)
		put(w->out, &id, sizeof(id));
	header->attrs.offset = ftell(w->out);
	for (i = 0; i < w->nr_attrs; i++) {
		attr.attr = w->attrs[i];
		put(w->out, &attr, sizeof(attr));
		attr.ids.offset += sizeof(id);
	}
	header->attrs.size = ftell(w->out) - header->attrs.offset;
}

static void put_record(FILE *out, uint32_t type, uint16_t misc, const void *body, size_t size,
		       const struct sample_id *sample_id)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	header.size = sizeof(header) + size + (sample_id ? sizeof(*sample_id) : 0);
	put(out, &header, sizeof(header));
	put(out, body, size);
	if (sample_id)
		put(out, sample_id, sizeof(*sample_id));
}

/* "ADDRESS T NAME" */
static unsigned long long symbol(struct cursor kallsyms, const char *name)
{
	char *end = text(" T %s", name), *rest, line[64];
	unsigned long long address, found = 0;

	while (!found && cursor_line(&kallsyms, line, sizeof(line))) {
		address = strtoull(line, &rest, 16);
		if (!strcmp(rest, end))
			found = address;
	}
	free(end);
	return found;
}

/* Where the kernel is, so that perf finds the names of addresses. */
static void put_kernel(struct writer *w)
{
	struct {
		int32_t		pid;
		int32_t		tid;
		uint64_t	addr;
		uint64_t	len;
		uint64_t	pgoff;
		char		name[24];
	} mmap = { .pid = -1, .name = "[kernel.kallsyms]_text" };
	struct sample_id id = { .id = 1, .pid = -1, .cpu = -1 };

	mmap.addr = symbol(w->trace->kallsyms, "_text");
	mmap.pgoff = mmap.addr;
	mmap.len = symbol(w->trace->kallsyms, "_etext") - mmap.addr;
	if (mmap.addr && mmap.addr + mmap.len > mmap.addr)
		put_record(w->out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &mmap,
			   sizeof(mmap), &id);
}

static void put_tasks(struct writer *w)
{
	struct {
		uint32_t	pid;
		uint32_t	tid;
		char		comm[16];
	} body;
	struct sample_id id = { .id = 1, .cpu = -1 };
	int i;

	for (i = 0; i < w->nr_tasks; i++) {
		struct task *task = &w->tasks[i];

		memset(&body, 0, sizeof(body));
		id.pid = task->tgid;
		id.tid = task->tid;
		body.pid = task->tgid;
		body.tid = task->tid;
		memcpy(body.comm, task->comm, sizeof(body.comm));
		put_record(w->out, PERF_RECORD_COMM, 0, &body, sizeof(body), &id);
	}
}

static void put_sample(struct writer *w, const struct record *record)
{
	static const char zero[sizeof(uint64_t)];
	struct sample sample = {
		.header = { .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL },
		.id = record->event->attr + 1, .time = record->time, .cpu = record->cpu,
		.period = 1,
	};
	struct cursor bytes = record->bytes;
	size_t size = cursor_left(&bytes), end = sizeof(sample) + size;
	size_t padding = -end % sizeof(uint64_t);
	int32_t tid = 0;

	if (size >= COMMON_PID_AT + sizeof(tid)) {
		cursor_skip(&bytes, COMMON_PID_AT, "common fields");
		cursor_get(&bytes, &tid, sizeof(tid), "common_pid");
	}
	sample.tid = tid;
	sample.pid = task_tgid(w->tasks, w->nr_tasks, tid);
	sample.header.size = end + padding;
	sample.raw_size = size + padding;
	put(w->out, &sample, sizeof(sample));
	cursor_write(record->bytes, w->out);
	put(w->out, zero, padding);
}

static void put_lost(struct writer *w, const struct record *record)
{
	struct lost lost = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(lost) },
		.id = 1, .lost = record->lost,
		.sample_id = { .time = record->time, .cpu = record->cpu, .id = 1 },
	};

	put(w->out, &lost, sizeof(lost));
}

static void put_records(struct writer *w)
{
	struct merge *merge = merge_begin(w->trace);
	struct record record;
	unsigned long n = 0;

	while (merge_next(merge, &record)) {
		if (!record.event)
			put_lost(w, &record);
		else if (fits(&record))
			put_sample(w, &record);
		if (++n % ROUND_RECORDS == 0)
			put_record(w->out, FINISHED_ROUND, 0, NULL, 0, NULL);
	}
	/* (The first pass has reported what is wrong.) */
	merge_free(merge);
}

static void report(struct writer *w, const char *path)
{
	unsigned long long n = 0;
	int i;

	for (i = 0; i < w->trace->nr_events; i++)
		n += w->trace->events[i].records;
	if (w->large)
		warn("%s: %lu records are left out, as they are longer than perf allows",
		     w->trace->name, w->large);
	printf("%s: %llu records of %d events, %llu lost, clock %s\n", path, n, w->nr_attrs,
	       w->lost, w->trace->clock ? w->trace->clock : "unknown");
}

/**
 * perf_data_write() - convert a trace
 * @path:  the perf.data to write
 * @trace: the trace
 * @argv:  our arguments
 *
 * An error ends the program, and leaves no file.
 */
void perf_data_write(const char *path, struct trace *trace, char **argv)
{
	struct file_header header = { .magic = "PERFILE2", .size = sizeof(header),
				      .attr_size = sizeof(struct file_attr) };
	struct writer w = { .trace = trace };
	struct stat st;
	bool failed;

	count(&w);
	if (!w.nr_attrs)
		die("%s has no records to convert (%llu were lost)%s", trace->name, w.lost,
		    trace->instead ?: "");
	make_attrs(&w);
	w.nr_tasks = tasks_read(trace, &w.tasks);

	w.out = fopen(path, "we");
	if (!w.out)
		die("%s: %s", path, strerror(errno));
	if (ftell(w.out) < 0)
		die("%s: %s: a perf.data is not written in one go", path, strerror(errno));
	put_attrs(&w, &header);
	header.data.offset = ftell(w.out);
	put_kernel(&w);
	put_tasks(&w);
	put_records(&w);
	header.data.size = ftell(w.out) - header.data.offset;
	header.features[0] = put_features(w.out, trace, w.attrs, w.span, argv);
	rewind(w.out);
	put(w.out, &header, sizeof(header));

	failed = ferror(w.out);
	if (fclose(w.out) || failed) {
		/* (It may be a device.) */
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			unlink(path);
		die("%s: Cannot be written: %s", path, strerror(errno));
	}
	report(&w, path);
}
