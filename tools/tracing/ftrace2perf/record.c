// SPDX-License-Identifier: GPL-2.0
/*
 * The records of all CPUs in the order of their times.
 */
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

/**
 * struct reader - where a CPU is read
 * @cpu:    number of the CPU
 * @pages:  the sub-buffers that follow
 * @subbuf: the sub-buffer that is read
 * @record: the next record; it has no bytes at the end
 * @time:   its time; at the end, that of the last record
 * @lost:   number of records lost before it that were not reported yet
 * @after:  number of records lost at the end that are not in @lost yet
 */
struct reader {
	int			cpu;
	struct cursor		pages;
	struct subbuf		subbuf;
	struct cursor		record;
	unsigned long long	time;
	unsigned long long	lost;
	unsigned long long	after;
};

/**
 * struct merge - the records of all CPUs
 * @trace:   the trace
 * @readers: a heap of those that are not at their end: none is earlier than the one at
 *           half its index
 * @nr:      number of @readers
 * @unknown: number of records without a format
 * @vague:   number of losses of which the trace does not have the size
 */
struct merge {
	struct trace		*trace;
	struct reader		*readers;
	int			nr;
	unsigned long		unknown;
	unsigned long		vague;
};

static bool next_subbuf(struct merge *merge, struct reader *reader)
{
	struct trace *trace = merge->trace;

	if (!cursor_left(&reader->pages))
		return false;
	subbuf_begin(&reader->subbuf, cursor_part(&reader->pages, trace->subbuf_size,
						  "a sub-buffer"), trace->long_size);
	merge->vague += reader->subbuf.vague;
	reader->lost += reader->subbuf.lost;
	return true;
}

static void read_record(struct merge *merge, struct reader *reader)
{
	reader->record = (struct cursor){};
	while (!subbuf_next(&reader->subbuf, &reader->record)) {
		if (!next_subbuf(merge, reader)) {
			reader->lost += reader->after;
			reader->after = 0;
			return;
		}
	}
	reader->time = reader->subbuf.time;
}

static bool at_end(const struct reader *reader)
{
	return !reader->record.of && !reader->lost;
}

/* Of two at the same time the CPU decides; those that only have a loss at their end come last. */
static bool earlier(const struct reader *one, const struct reader *two)
{
	if (!one->record.of != !two->record.of)
		return one->record.of;
	return one->time != two->time ? one->time < two->time : one->cpu < two->cpu;
}

/* Bring the heap in order, after the reader at @i has become later. */
static void sift(struct merge *merge, int i)
{
	struct reader *all = merge->readers, swap;
	int next;

	for (; (next = 2 * i + 1) < merge->nr; i = next) {
		if (next + 1 < merge->nr && earlier(&all[next + 1], &all[next]))
			next++;
		if (!earlier(&all[next], &all[i]))
			break;
		swap = all[i];
		all[i] = all[next];
		all[next] = swap;
	}
}

static void start_reader(struct merge *merge, const struct cpu_pages *cpu)
{
	struct reader *reader = &merge->readers[merge->nr];
	size_t second = cpu->pages.at + merge->trace->subbuf_size;

	*reader = (struct reader){ .cpu = cpu->cpu, .pages = cpu->pages, .lost = cpu->before,
				   .after = cpu->after };
	read_record(merge, reader);
	while (reader->record.of && reader->pages.at == second && reader->subbuf.at < cpu->skip)
		read_record(merge, reader);
	merge->nr += !at_end(reader);
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
		start_reader(merge, &trace->cpus[i]);
	for (i = merge->nr / 2; i--;)
		sift(merge, i);
	return merge;
}

/* Go on behind what the first reader has given. */
static void advance(struct merge *merge)
{
	struct reader *reader = &merge->readers[0];

	if (reader->lost)
		reader->lost = 0;
	else
		read_record(merge, reader);
	if (at_end(reader))
		*reader = merge->readers[--merge->nr];
	sift(merge, 0);
}

/* Take off the word that a record of a global buffer ends with: all bits of 32, and the CPU. */
static bool take_cpu(struct cursor *bytes, int *cpu)
{
	struct cursor behind = *bytes;
	size_t size = cursor_left(bytes);
	uint64_t word;

	if (size < sizeof(word))
		return false;
	*bytes = cursor_part(&behind, size - sizeof(word), "record");
	word = cursor_number(&behind, sizeof(word), "CPU of a record");
	if ((uint32_t)word != UINT32_MAX || word >> 32 >= MAX_CPUS) {
		bytes->end = behind.end;
		return false;
	}
	*cpu = word >> 32;
	return true;
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
	struct reader *reader = &merge->readers[0];
	struct cursor bytes;
	uint16_t id;

	while (merge->nr) {
		*record = (struct record){ .cpu = reader->cpu, .time = reader->time };
		if (reader->lost) {
			record->lost = reader->lost;
			advance(merge);
			return true;
		}
		record->bytes = reader->record;
		if (merge->trace->global)
			take_cpu(&record->bytes, &record->cpu);
		bytes = record->bytes;
		/* common_type is in front of each record. */
		id = cursor_number(&bytes, sizeof(id), "common_type of a record");
		if (id < merge->trace->nr_ids)
			record->event = merge->trace->by_id[id];
		advance(merge);
		if (!record->event)
			merge->unknown++;
		else if (record->event->wanted && cpu_wanted(merge->trace->cpu_list, record->cpu))
			return true;
	}
	return false;
}

/**
 * merge_is_global() - guess whether one ring has the records of all CPUs
 * @trace: a trace that does not tell
 *
 * Return: whether one CPU has all records, and each of them ends with the number of a CPU.
 */
bool merge_is_global(struct trace *trace)
{
	struct merge *merge = merge_begin(trace);
	bool global = false, all = true;
	struct record record;
	int home = -1, cpu;

	while (all && merge_next(merge, &record)) {
		if (!record.event)
			continue;
		if (!global)
			home = record.cpu;
		all = record.cpu == home && take_cpu(&record.bytes, &cpu) &&
		      (unsigned int)cpu < trace->nr_present;
		global = all;
	}
	merge_free(merge);
	return global;
}

/**
 * merge_free() - free the state
 * @merge: the state
 */
void merge_free(struct merge *merge)
{
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
