// SPDX-License-Identifier: GPL-2.0
/*
 * The records of all CPUs in the order of their times.
 */
#include <stdlib.h>
#include <string.h>

#include <kbuffer.h>

#include "ftrace2perf.h"

/* In the header of a sub-buffer: where the number of its bytes is, and which bits. */
#define COMMIT_AT	8
#define COMMIT_SIZE	((1UL << 27) - 1)

/**
 * struct reader - where a CPU is read
 * @cpu:   its sub-buffers
 * @kbuf:  the sub-buffer that is read
 * @next:  index of the next sub-buffer
 * @data:  the next record, or NULL at the end
 * @time:  its time; at the end, that of the last record
 * @lost:  number of records lost before it that were not reported yet
 * @ended: the losses at the end are in @lost
 */
struct reader {
	struct cpu_pages	*cpu;
	struct kbuffer		*kbuf;
	size_t			next;
	void			*data;
	unsigned long long	time;
	unsigned long long	lost;
	bool			ended;
};

/**
 * struct merge - the records of all CPUs
 * @trace:   the trace
 * @readers: one for each CPU
 * @unknown: number of records without a format
 * @vague:   number of losses of which the trace does not have the size
 */
struct merge {
	struct trace		*trace;
	struct reader		*readers;
	unsigned long		unknown;
	unsigned long		vague;
};

static void __attribute__((noreturn)) damaged(struct merge *merge, struct reader *reader)
{
	die("%s: Sub-buffer %zu of CPU %d is damaged", merge->trace->name, reader->next,
	    reader->cpu->cpu);
}

/* The number of bytes in @commit, a long of the traced kernel. */
static size_t subbuf_bytes(const char *commit, size_t long_size)
{
	uint64_t n64;
	uint32_t n32;

	memcpy(&n32, commit, sizeof(n32));
	memcpy(&n64, commit, sizeof(n64));
	return (long_size == sizeof(n64) ? n64 : n32) & COMMIT_SIZE;
}

static bool load_subbuf(struct merge *merge, struct reader *reader)
{
	const char *subbuf = reader->cpu->data + reader->next * merge->trace->subbuf_size;
	size_t long_size = merge->trace->long_size;
	int lost;

	if (reader->next >= reader->cpu->nr)
		return false;
	if (subbuf_bytes(subbuf + COMMIT_AT, long_size) + COMMIT_AT + long_size >
	    merge->trace->subbuf_size || kbuffer_load_subbuffer(reader->kbuf, (void *)subbuf))
		damaged(merge, reader);
	lost = kbuffer_missed_events(reader->kbuf);
	if (lost < 0) {
		/* At least one, more is not known. */
		merge->vague++;
		lost = 1;
	}
	reader->lost += lost;
	reader->next++;
	return true;
}

static void read_record(struct merge *merge, struct reader *reader)
{
	unsigned long long time;

	do {
		reader->data = kbuffer_read_event(reader->kbuf, &time);
	} while (!reader->data && load_subbuf(merge, reader));
	if (reader->data) {
		reader->time = time;
	} else if (!reader->ended) {
		reader->ended = true;
		reader->lost += reader->cpu->after;
	}
}

/* Does the record of @reader, of @size bytes, end in its sub-buffer? */
static bool in_subbuf(struct merge *merge, struct reader *reader, unsigned int size)
{
	const char *end = reader->cpu->data + reader->next * merge->trace->subbuf_size;

	return size <= end - (const char *)reader->data;
}

static void start_reader(struct merge *merge, struct reader *reader, struct cpu_pages *cpu)
{
	enum kbuffer_long_size size = merge->trace->long_size == 8 ?
		KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4;

	reader->cpu = cpu;
	reader->kbuf = kbuffer_alloc(size, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!reader->kbuf)
		die("Not enough memory");
	reader->lost = cpu->before;
	if (load_subbuf(merge, reader))
		read_record(merge, reader);
	else
		reader->lost += cpu->after;
	while (reader->data && reader->next == 1 &&
	       kbuffer_curr_index(reader->kbuf) < (int)cpu->skip) {
		kbuffer_next_event(reader->kbuf, NULL);
		read_record(merge, reader);
	}
}

/**
 * merge_begin() - begin with the oldest record
 * @trace: the trace
 *
 * Return: the state, to be ended with merge_free().
 */
struct merge *merge_begin(struct trace *trace)
{
	struct merge *merge = zalloc(sizeof(*merge));
	int i;

	merge->trace = trace;
	merge->readers = zalloc(trace->nr_cpus * sizeof(*merge->readers));
	for (i = 0; i < trace->nr_cpus; i++)
		start_reader(merge, &merge->readers[i], &trace->cpus[i]);
	return merge;
}

/* The CPU with the oldest record; those that are at their end come last. */
static struct reader *oldest(struct merge *merge)
{
	struct reader *found = NULL, *reader;
	int i;

	for (i = 0; i < merge->trace->nr_cpus; i++) {
		reader = &merge->readers[i];
		if (!reader->data && !reader->lost)
			continue;
		if (!found || (reader->data && !found->data) ||
		    (!reader->data == !found->data && reader->time < found->time))
			found = reader;
	}
	return found;
}

/**
 * merge_next() - read the next record or loss
 * @merge:  the state
 * @record: the record is stored here, valid until the next call
 *
 * Records of events that the user does not want are skipped.
 *
 * Return: whether there is one.
 */
bool merge_next(struct merge *merge, struct record *record)
{
	struct reader *reader;
	uint16_t id;

	while ((reader = oldest(merge))) {
		*record = (struct record){ .cpu = reader->cpu->cpu, .time = reader->time };
		if (reader->lost) {
			record->lost = reader->lost;
			reader->lost = 0;
			return true;
		}
		record->data = reader->data;
		record->size = kbuffer_event_size(reader->kbuf);
		if (record->size < sizeof(id) || !in_subbuf(merge, reader, record->size))
			damaged(merge, reader);
		/* common_type is in front of each record. */
		memcpy(&id, record->data, sizeof(id));
		record->event = merge->trace->by_id[id];
		kbuffer_next_event(reader->kbuf, NULL);
		read_record(merge, reader);
		if (!record->event)
			merge->unknown++;
		else if (record->event->wanted)
			return true;
	}
	return false;
}

/**
 * merge_free() - free the state
 * @merge: the state
 */
void merge_free(struct merge *merge)
{
	int i;

	for (i = 0; i < merge->trace->nr_cpus; i++)
		kbuffer_free(merge->readers[i].kbuf);
	free(merge->readers);
	free(merge);
}

/**
 * merge_report() - report what could not be converted
 * @merge: the state
 */
void merge_report(struct merge *merge)
{
	if (merge->unknown)
		warn("%s: %lu records are left out, as their events do not exist any more",
		     merge->trace->name, merge->unknown);
	if (merge->vague)
		warn("%s: The size of %lu losses is unknown: each counts as 1 lost record",
		     merge->trace->name, merge->vague);
}
