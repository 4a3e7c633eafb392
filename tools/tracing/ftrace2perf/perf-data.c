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
 * event of perf that it names, an event of its own. As the records are not translated, all of the
 * file has the byte order of the traced machine.
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

/* All of it are words. */
struct file_header {
	uint64_t	magic;
	uint64_t	size;
	uint64_t	attr_size;
	struct section	attrs;
	struct section	data;
	struct section	event_types;
	uint64_t	features[4];
};

/* "PERFILE2" with its smallest byte first */
#define MAGIC		0x32454c4946524550ULL

/* Words of a sample in front of its stack or record, with its header and an address */
#define HEAD_WORDS	8
#define WORDS_MAX	(UINT16_MAX / sizeof(uint64_t))

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
	struct out		out;
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
	const size_t size = sizeof(int32_t);

	if (cursor_left(&bytes) < COMMON_PID_AT + size)
		return 0;
	cursor_skip(&bytes, COMMON_PID_AT, "common fields");
	return cursor_number(&bytes, size, "common_pid");
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
static int add_attr(struct writer *w, struct attr attr)
{
	struct attrs *attrs = &w->attrs;

	attr.sample_type |= SAMPLE_TYPE;
	/* All have what one has: perf prints an address of data of all events, or of none. */
	if (w->addr)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	/* And it shows a sample that cannot have a stack with the stack of another one. */
	if (w->stack)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attrs->all = grow(attrs->all, attrs->nr, sizeof(attr));
	attrs->all[attrs->nr] = attr;
	return attrs->nr++;
}

static void make_attrs(struct writer *w)
{
	int i;

	w->attrs.clock = clock_id(w->trace->clock);
	for (i = 0; i < w->trace->nr_events; i++) {
		struct event *event = &w->trace->events[i];

		if (!event->records)
			continue;
		event->attr = add_attr(w, (struct attr) {
			.name = text("%s:%s", event->system, event->name),
			.type = PERF_TYPE_TRACEPOINT,
			.config = event->id,
			.period = 1,
			.sample_type = PERF_SAMPLE_RAW,
		});
	}
	for (i = 0; i < w->counters.nr; i++) {
		struct counter *counter = &w->counters.all[i];

		counter->attr = add_attr(w, (struct attr) {
			.name = counter->name,
			.type = counter->type,
			.config = counter->config,
			.period = counter->period,
		});
	}
}

static void put_file_header(struct out *out, const struct file_header *header)
{
	put_words(out, (const uint64_t *)header, sizeof(*header) / sizeof(uint64_t));
}

static void put_attrs(struct writer *w, struct file_header *header)
{
	const uint64_t size = sizeof(uint64_t);
	uint64_t ids;
	int i;

	put_file_header(&w->out, header);
	ids = ftell(w->out.file);
	for (i = 0; i < w->attrs.nr; i++)
		put_u64(&w->out, i + 1);
	header->attrs.offset = ftell(w->out.file);
	for (i = 0; i < w->attrs.nr; i++) {
		put_attr(&w->out, &w->attrs, i);
		put_u64(&w->out, ids + i * size);
		put_u64(&w->out, size);
	}
	header->attrs.size = ftell(w->out.file) - header->attrs.offset;
}

static void put_tasks(struct writer *w)
{
	struct sample_id id = { .id = 1, .cpu = -1 };
	int i;

	for (i = 0; i < w->nr_tasks; i++) {
		struct task *task = &w->tasks[i];

		id.pid = task->tgid;
		id.tid = task->tid;
		put_header(&w->out, PERF_RECORD_COMM, 0,
			   2 * sizeof(uint32_t) + sizeof(task->comm) + SAMPLE_ID_SIZE);
		put_u32(&w->out, task->tgid);
		put_u32(&w->out, task->tid);
		put(&w->out, task->comm, sizeof(task->comm));
		put_sample_id(&w->out, &id);
	}
}

/* Words of a sample in front of its stack or record */
static size_t head_words(const struct writer *w)
{
	return w->addr ? HEAD_WORDS : HEAD_WORDS - 1;
}

/* Begin a sample; @size bytes follow. */
static void begin_sample(struct writer *w, int attr, const struct record *record,
			 const struct sample *sample, size_t size)
{
	uint16_t misc = sample->mode & PERF_RECORD_MISC_CPUMODE_MASK;
	struct out *out = &w->out;

	put_header(out, PERF_RECORD_SAMPLE, misc, (head_words(w) - 1) * sizeof(uint64_t) + size);
	put_u64(out, attr + 1);
	put_u64(out, sample->ip);
	put_u32(out, sample->tgid);
	put_u32(out, common_pid(record));
	put_u64(out, record->time);
	if (w->addr)
		put_u64(out, sample->addr);
	put_u32(out, record->cpu);
	put_u32(out, 0);
	put_u64(out, sample->period);
}

/* A record as it is. Of what it does not have, an address and a stack, there is 0. */
static void put_raw_sample(struct writer *w, const struct record *record)
{
	static const uint64_t zero;
	struct sample sample = { .period = 1, .mode = PERF_RECORD_MISC_KERNEL };
	size_t stack = w->stack ? sizeof(zero) : 0, size = cursor_left(&record->bytes);
	size_t padding = -(sizeof(uint32_t) + size) % sizeof(zero), raw = size + padding;

	sample.tgid = task_tgid(w->tasks, w->nr_tasks, common_pid(record));
	begin_sample(w, record->event->attr, record, &sample, stack + sizeof(uint32_t) + raw);
	put(&w->out, &zero, stack);
	put_u32(&w->out, raw);
	cursor_write(record->bytes, w->out.file);
	put(&w->out, &zero, padding);
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
	uint16_t mode = sample->mode & PERF_RECORD_MISC_CPUMODE_MASK;
	size_t nr = 0, room = WORDS_MAX - head_words(w) - 1;
	uint64_t chain[WORDS_MAX];

	if (!w->stack) {
		begin_sample(w, counter->attr, record, sample, 0);
		return;
	}
	add_stack(w, chain, &nr, room, PERF_CONTEXT_KERNEL, sample->kernel);
	add_stack(w, chain, &nr, room, PERF_CONTEXT_USER, sample->user);
	/* perf does not print the address of a sample that has an empty one. */
	if (!nr) {
		chain[nr++] = mode == PERF_RECORD_MISC_USER ? PERF_CONTEXT_USER :
			      PERF_CONTEXT_KERNEL;
		chain[nr++] = sample->ip;
	}
	begin_sample(w, counter->attr, record, sample, (1 + nr) * sizeof(*chain));
	put_u64(&w->out, nr);
	put_words(&w->out, chain, nr);
}

static void put_lost(struct writer *w, const struct record *record)
{
	const struct sample_id id = { .time = record->time, .cpu = record->cpu, .id = 1 };

	put_header(&w->out, PERF_RECORD_LOST, 0, 2 * sizeof(uint64_t) + SAMPLE_ID_SIZE);
	put_u64(&w->out, id.id);
	put_u64(&w->out, record->lost);
	put_sample_id(&w->out, &id);
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
			put_header(&w->out, FINISHED_ROUND, 0, 0);
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
	struct file_header header = { .magic = MAGIC, .size = sizeof(header),
				      .attr_size = ATTR_SIZE + sizeof(struct section) };
	struct writer w = { .trace = trace, .out.big = trace->big };

	w.nr_tasks = tasks_read(trace, &w.tasks);
	count(&w);
	make_attrs(&w);
	if (!w.attrs.nr)
		die("%s has no records to convert (%llu were lost)%s", trace->name, w.lost,
		    trace->instead ?: "");

	w.out.file = create_file(path);
	if (ftell(w.out.file) < 0)
		die("%s: %s: a perf.data is not written in one go", path, strerror(errno));
	put_attrs(&w, &header);
	header.data.offset = ftell(w.out.file);
	put_maps(&w.out, trace);
	put_tasks(&w);
	put_records(&w);
	header.data.size = ftell(w.out.file) - header.data.offset;
	header.features[0] = put_features(&w.out, trace, &w.attrs, w.span, argv);
	rewind(w.out.file);
	put_file_header(&w.out, &header);
	close_file(w.out.file, path);
	report(&w, path);
}
