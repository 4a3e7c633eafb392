// SPDX-License-Identifier: GPL-2.0
/*
 * Write a perf.data:
 *
 *   header
 *   IDs, one for each event: its attribute's place + 1
 *   attributes, one for each event
 *   records: MMAP of the kernel and its modules, COMM of each task, then SAMPLE and LOST in the
 *     order of their times, with a FINISHED_ROUND now and then, up to which perf sorts
 *   table of the features, features
 *
 * A SAMPLE has the record as it is in the ring buffer, common fields included: perf's own
 * samples of tracepoints have the same. Only a record of perf:sample becomes a SAMPLE of the
 * event of perf that it names, an event of its own.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ftrace2perf.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
		     PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

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

/* Words of a sample in front of what only some have */
#define HEAD_WORDS	8

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
 * @counters: the events of perf that have samples
 * @tasks:    the tasks that have names
 * @nr_tasks: number of @tasks
 * @span:     times of the first and the last record
 * @lost:     number of lost records
 * @addr:     a sample has an address of data
 * @stack:    a sample has a stack
 * @large:    number of records that do not fit into a sample
 */
struct writer {
	FILE			*out;
	struct trace		*trace;
	struct attrs		attrs;
	struct counters		counters;
	struct task		*tasks;
	int			nr_tasks;
	unsigned long long	span[2];
	unsigned long long	lost;
	bool			addr;
	bool			stack;
	unsigned long		large;
};

static bool fits(const struct record *record)
{
	/* With an address, an empty stack, the size, and padding */
	return (HEAD_WORDS + 3) * sizeof(uint64_t) + sizeof(uint32_t) +
	       cursor_left(&record->bytes) <= UINT16_MAX;
}

static int32_t common_pid(const struct record *record)
{
	struct cursor bytes = record->bytes;
	int32_t tid = 0;

	if (cursor_left(&bytes) >= COMMON_PID_AT + sizeof(tid)) {
		cursor_skip(&bytes, COMMON_PID_AT, "common fields");
		cursor_get(&bytes, &tid, sizeof(tid), "common_pid");
	}
	return tid;
}

static bool count_sample(struct writer *w, const struct record *record)
{
	struct counter *counter;
	struct sample sample;

	counter = sample_read(record, &sample) ? counter_add(&w->counters, sample.name) : NULL;
	if (!counter)
		return false;
	if (!counter->records++)
		counter->period = sample.period;
	w->addr = w->addr || sample.addr;
	w->stack = w->stack || cursor_left(&sample.kernel) || cursor_left(&sample.user);
	task_set_tgid(w->tasks, w->nr_tasks, common_pid(record), sample.tgid);
	return true;
}

/* First pass: the events that have records. */
static void count(struct writer *w)
{
	struct merge *merge = merge_begin(w->trace);
	struct record record;
	bool first = true;

	while (merge_next(merge, &record)) {
		if (!record.event) {
			w->lost += record.lost;
			continue;
		}
		if (!count_sample(w, &record)) {
			if (!fits(&record)) {
				w->large++;
				continue;
			}
			record.event->records++;
		}
		if (first || record.time < w->span[0])
			w->span[0] = record.time;
		if (first || record.time > w->span[1])
			w->span[1] = record.time;
		first = false;
	}
	merge_report(merge);
	merge_free(merge);
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

/* Add an attribute. Return: its place. */
static int add_attr(struct writer *w, char *name, const struct perf_event_attr *more)
{
	struct attrs *attrs = &w->attrs;
	int clock = clock_id(w->trace->clock);
	struct perf_event_attr *attr;

	attrs->attr = grow(attrs->attr, attrs->nr, sizeof(*attrs->attr));
	attrs->name = grow(attrs->name, attrs->nr, sizeof(*attrs->name));
	attrs->name[attrs->nr] = name;
	attr = &attrs->attr[attrs->nr];
	*attr = *more;
	attr->size = sizeof(*attr);
	attr->sample_type |= SAMPLE_TYPE;
	/* All have what one has: perf prints an address of data of all events, or of none. */
	if (w->addr)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	/* And it shows a sample that cannot have a stack with the stack of another one. */
	if (w->stack)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_id_all = 1;
	attr->mmap = !attrs->nr;
	attr->comm = !attrs->nr;
	if (clock >= 0) {
		attr->use_clockid = 1;
		attr->clockid = clock;
	}
	return attrs->nr++;
}

static void make_attrs(struct writer *w)
{
	struct perf_event_attr attr;
	int i;

	for (i = 0; i < w->trace->nr_events; i++) {
		struct event *event = &w->trace->events[i];

		if (!event->records)
			continue;
		attr = (struct perf_event_attr) {
			.type = PERF_TYPE_TRACEPOINT,
			.config = event->id,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_RAW,
		};
		event->attr = add_attr(w, text("%s:%s", event->system, event->name), &attr);
	}
	for (i = 0; i < w->counters.nr; i++) {
		struct counter *counter = &w->counters.all[i];

		attr = (struct perf_event_attr) {
			.type = counter->type,
			.config = counter->config,
			.sample_period = counter->period,
		};
		counter->attr = add_attr(w, counter->name, &attr);
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
	for (id = 1; id <= (uint64_t)w->attrs.nr; id++)
		put(w->out, &id, sizeof(id));
	header->attrs.offset = ftell(w->out);
	for (i = 0; i < w->attrs.nr; i++) {
		attr.attr = w->attrs.attr[i];
		put(w->out, &attr, sizeof(attr));
		attr.ids.offset += sizeof(id);
	}
	header->attrs.size = ftell(w->out) - header->attrs.offset;
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

/* Begin a sample, with all but its header. Return: number of its words. */
static size_t begin_sample(struct writer *w, uint64_t *words, int attr, const struct record *record,
			   const struct sample *sample)
{
	const uint32_t tid[2] = { sample->tgid, common_pid(record) }, cpu[2] = { record->cpu };
	size_t n = 1;

	words[n++] = attr + 1;
	words[n++] = sample->ip;
	memcpy(&words[n++], tid, sizeof(tid));
	words[n++] = record->time;
	if (w->addr)
		words[n++] = sample->addr;
	memcpy(&words[n++], cpu, sizeof(cpu));
	words[n++] = sample->period;
	return n;
}

static void set_header(uint64_t *words, uint16_t misc, size_t size)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE, .misc = misc, .size = size,
	};

	memcpy(words, &header, sizeof(header));
}

/* A record as it is. Of what it does not have, an address and a stack, there is 0. */
static void put_raw_sample(struct writer *w, const struct record *record)
{
	static const uint64_t zero;
	uint64_t words[HEAD_WORDS + 2];
	struct sample sample = { .period = 1 };
	size_t n, size = cursor_left(&record->bytes), end, padding;
	uint32_t raw_size;

	sample.tgid = task_tgid(w->tasks, w->nr_tasks, common_pid(record));
	n = begin_sample(w, words, record->event->attr, record, &sample);
	if (w->stack)
		words[n++] = 0;
	end = n * sizeof(*words) + sizeof(raw_size) + size;
	padding = -end % sizeof(zero);
	raw_size = size + padding;
	set_header(words, PERF_RECORD_MISC_KERNEL, end + padding);
	put(w->out, words, n * sizeof(*words));
	put(w->out, &raw_size, sizeof(raw_size));
	cursor_write(record->bytes, w->out);
	put(w->out, &zero, padding);
}

/*
 * Add a stack to a call chain of @nr words that has @room, with its mark in front. A program can
 * have any number on its stack, also one that perf takes for a mark: perf would discard all of it.
 */
static void add_stack(struct writer *w, uint64_t *chain, size_t *nr, size_t room, uint64_t mark,
		      struct cursor stack)
{
	unsigned int size = w->trace->long_size;
	size_t begin = *nr;
	uint64_t entry;

	while (cursor_left(&stack) >= size && *nr + (*nr == begin) < room) {
		entry = cursor_number(&stack, size, "entry of a stack");
		if (entry >= PERF_CONTEXT_MAX)
			break;
		if (*nr == begin)
			chain[(*nr)++] = mark;
		chain[(*nr)++] = entry;
	}
}

/* A sample as perf itself writes it. A stack that does not fit is cut at its end. */
static void put_sample(struct writer *w, const struct counter *counter, const struct sample *sample,
		       const struct record *record)
{
	uint64_t words[UINT16_MAX / sizeof(uint64_t)], *chain;
	uint16_t misc = sample->mode & PERF_RECORD_MISC_CPUMODE_MASK;
	size_t n = begin_sample(w, words, counter->attr, record, sample), nr = 0, room;

	if (w->stack) {
		chain = &words[n + 1];
		room = ARRAY_SIZE(words) - n - 1;
		add_stack(w, chain, &nr, room, PERF_CONTEXT_KERNEL, sample->kernel);
		add_stack(w, chain, &nr, room, PERF_CONTEXT_USER, sample->user);
		/* perf does not print the address of a sample that has an empty one. */
		if (!nr) {
			chain[nr++] = misc == PERF_RECORD_MISC_USER ? PERF_CONTEXT_USER :
				      PERF_CONTEXT_KERNEL;
			chain[nr++] = sample->ip;
		}
		words[n] = nr;
		n += 1 + nr;
	}
	set_header(words, misc, n * sizeof(*words));
	put(w->out, words, n * sizeof(*words));
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
	struct counter *counter;
	struct record record;
	struct sample sample;
	unsigned long n = 0;

	while (merge_next(merge, &record)) {
		counter = sample_read(&record, &sample) ?
			  counter_find(&w->counters, sample.name) : NULL;
		if (!record.event)
			put_lost(w, &record);
		else if (counter)
			put_sample(w, counter, &sample, &record);
		else if (fits(&record))
			put_raw_sample(w, &record);
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
	for (i = 0; i < w->counters.nr; i++)
		n += w->counters.all[i].records;
	if (w->large)
		warn("%s: %lu records are left out, as they are longer than perf allows",
		     w->trace->name, w->large);
	printf("%s: %llu records of %d events, %llu lost, clock %s\n", path, n, w->attrs.nr,
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

	w.nr_tasks = tasks_read(trace, &w.tasks);
	count(&w);
	make_attrs(&w);
	if (!w.attrs.nr)
		die("%s has no records to convert (%llu were lost)%s", trace->name, w.lost,
		    trace->instead ?: "");

	w.out = create_file(path);
	if (ftell(w.out) < 0)
		die("%s: %s: a perf.data is not written in one go", path, strerror(errno));
	put_attrs(&w, &header);
	header.data.offset = ftell(w.out);
	put_maps(w.out, trace);
	put_tasks(&w);
	put_records(&w);
	header.data.size = ftell(w.out) - header.data.offset;
	header.features[0] = put_features(w.out, trace, &w.attrs, w.span, argv);
	rewind(w.out);
	put(w.out, &header, sizeof(header));
	close_file(w.out, path);
	report(&w, path);
}
