// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: each record is read as it was written, once and in its turn, or is
 * counted where it was lost.
 */
#include <linux/bitmap.h>
#include <linux/string.h>

#include "torture.h"

/* A page as events/header_page and events/header_event in tracefs describe it. */
struct tor_page {
	u64			time_stamp;
	unsigned long		commit;
	u8			data[];
};

#define TOR_ABS_BITS	59

/**
 * tor_from() - note where a record will come from, before it is read
 * @how:    name of the reader
 * @buffer: index of the buffer
 * @cpu:    CPU of the records
 *
 * Context: Any context.
 * Return: the origin, for tor_account().
 */
struct tor_from tor_from(const char *how, int buffer, int cpu)
{
	struct tor_from from = { .how = how, .buffer = buffer, .cpu = cpu };
	struct tor_cpu *c = tor_cpus[cpu];
	int done = atomic_read_acquire(&c->done);

	from.ring = (atomic_read_acquire(&c->flips) ^ buffer) & 1;
	from.begun = atomic_read(&c->begun);
	from.steady = from.begun == done;
	/* Both before the record is read. */
	smp_rmb();
	return from;
}

/**
 * tor_valid() - check a record by itself
 * @from: where it was read
 * @data: its payload
 * @len:  bytes of that
 * @ts:   its time
 *
 * Context: Any context.
 * Return: the record, or NULL if it is not one; that was reported.
 */
const struct tor_record *
tor_valid(const struct tor_from *from, const void *data, unsigned int len, u64 ts)
{
	const struct tor_record *rec = data;
	unsigned int words = len / sizeof(u32), i;
	u32 fill, sum;

	if (len < sizeof(*rec) || len % sizeof(u32) || rec->words != words) {
		tor_fault(TOR_DAMAGE, "%s %d/%d: %u bytes, time %llu", from->how, from->buffer,
			  from->cpu, len, ts);
		return NULL;
	}
	sum = rec->sum ^ tor_bust(TOR_BEND);
	fill = rec->number * 0x9e3779b9;
	for (i = 0; i < words - sizeof(*rec) / sizeof(u32); i++) {
		if (rec->fill[i] != fill + i)
			break;
	}
	if (sum != tor_sum(rec) || i < words - sizeof(*rec) / sizeof(u32) ||
	    rec->cpu != from->cpu || rec->context >= TOR_CONTEXTS) {
		tor_fault(TOR_DAMAGE, "%s %d/%d: %u bytes, sum %#x, cpu %u, context %u, number %u",
			  from->how, from->buffer, from->cpu, len, sum, rec->cpu, rec->context,
			  rec->number);
		return NULL;
	}
	if (rec->round != (u8)tor_round.number ||
	    rec->number >= READ_ONCE(tor_cpus[rec->cpu]->writer[rec->context].next)) {
		tor_fault(TOR_STALE, "%s %d/%d: %s %u of round %u in round %u, time %llu",
			  from->how, from->buffer, from->cpu, tor_contexts[rec->context],
			  rec->number, rec->round, tor_round.number, ts);
		return NULL;
	}
	ts += tor_bust(TOR_SHIFT);
	if (rec->stamp != ts)
		tor_fault(TOR_TIME, "%s %d/%d: %s %u has time %llu, written at %llu",
			  from->how, from->buffer, from->cpu, tor_contexts[rec->context],
			  rec->number, ts, rec->stamp);
	return rec;
}

/*
 * Check the order, and count missing numbers. The ring of a record is known only
 * without a swap in between. A record of an unknown ring needs no note: it is later
 * in its ring than those before.
 */
static void tor_follow(struct tor_cpu *c, const struct tor_from *from, const struct tor_read *r)
{
	struct tor_stream *s;
	u32 *next;

	c->lost += r->lost;
	if (!from->steady || atomic_read(&c->begun) != from->begun)
		return;

	s = &c->stream[from->ring];
	next = &s->number[r->context];
	if (r->number < *next) {
		tor_fault(TOR_ORDERED, "%s %d/%d: %s %u after %u", from->how, from->buffer,
			  from->cpu, tor_contexts[r->context], r->number, *next - 1);
	} else {
		c->missing += r->number - *next;
		*next = r->number + 1;
	}
	if (r->ts < s->ts)
		tor_fault(TOR_TIME, "%s %d/%d: %s %u at %llu after one at %llu", from->how,
			  from->buffer, from->cpu, tor_contexts[r->context], r->number, r->ts,
			  s->ts);
	s->ts = r->ts;

	/* Only where one ring holds all: elsewhere a gap may be in the other one. */
	if (c->missing > c->lost && !tor_changes(TOR_SWAP) && !tor_changes(TOR_BOTH) &&
	    !atomic_read_acquire(&c->dropping) && !atomic_read(&c->drops) &&
	    !atomic_read(&c->some))
		tor_fault(TOR_HIDDEN, "%s %d/%d: %llu missing up to %s %u, told of %llu",
			  from->how, from->buffer, from->cpu, c->missing,
			  tor_contexts[r->context], r->number, c->lost);
}

/* For KCSAN to find: so often that another reader does it meanwhile. */
static noinline void tor_race(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		tor_round.raced++;
		barrier();
	}
}

static void tor_take(const struct tor_from *from, const struct tor_read *r)
{
	struct tor_cpu *c = tor_cpus[from->cpu];

	if (test_and_set_bit(r->number, c->seen[r->context]))
		tor_fault(TOR_TWICE, "%s %d/%d: %s %u", from->how, from->buffer, from->cpu,
			  tor_contexts[r->context], r->number);
	atomic64_inc(&c->read);
	if (tor_bust(TOR_RACE))
		tor_race();

	spin_lock(&c->lock);
	if (unlikely(c->held.ts)) {
		struct tor_read held = c->held;

		c->held.ts = 0;
		tor_follow(c, from, r);
		tor_follow(c, from, &held);
	} else if (tor_bust(TOR_SHUFFLE)) {
		c->held = *r;
	} else {
		tor_follow(c, from, r);
	}
	spin_unlock(&c->lock);
}

/**
 * tor_account() - account for a record that was consumed
 * @from: where from, noted before
 * @data: its payload
 * @len:  bytes of that
 * @ts:   its time
 * @lost: records that were lost in front of it
 *
 * Context: Task, the CPU's &tor_cpu.consume is held.
 */
void tor_account(const struct tor_from *from, const void *data, unsigned int len, u64 ts,
		 unsigned long lost)
{
	const struct tor_record *rec = tor_valid(from, data, len, ts);
	struct tor_read r = { .ts = ts, .lost = lost };

	if (!rec)
		return;
	r.context = rec->context;
	r.number = rec->number;
	if (lost)
		r.lost += tor_bust(TOR_MISCOUNT);
	if (tor_bust(TOR_LOSE))
		return;
	tor_take(from, &r);
	if (tor_bust(TOR_REPEAT))
		tor_take(from, &r);
}

/**
 * tor_account_lost() - account for a loss that is reported beside the records
 * @cpu:  CPU of the records
 * @lost: number of lost records
 *
 * Context: Task.
 */
void tor_account_lost(int cpu, unsigned long lost)
{
	struct tor_cpu *c = tor_cpus[cpu];

	spin_lock(&c->lock);
	c->lost += lost;
	spin_unlock(&c->lock);
}

/**
 * tor_account_page() - account for the records of a page
 * @from:  where from, noted before
 * @data:  the page, header and all
 * @start: byte of its data to begin at
 * @end:   byte behind the last record
 * @lost:  records that were lost in front of the first
 *
 * Context: Task, the CPU's &tor_cpu.consume is held.
 * Return: records from @start on.
 */
unsigned int tor_account_page(const struct tor_from *from, const void *data, unsigned int start,
			      unsigned int end, unsigned long lost)
{
	const struct tor_page *page = data;
	const struct ring_buffer_event *event;
	unsigned int pos = 0, len, records = 0;
	const u32 *payload;
	u64 ts = page->time_stamp, abs;

	while (pos < end) {
		event = (const void *)page->data + pos;
		len = sizeof(*event) + sizeof(event->array[0]);
		payload = NULL;

		switch (event->type_len) {
		case RINGBUF_TYPE_PADDING:
			if (!event->time_delta)
				return records;
			ts += event->time_delta;
			len = sizeof(*event) + event->array[0];
			break;
		case RINGBUF_TYPE_TIME_EXTEND:
			ts += event->time_delta | (u64)event->array[0] << 27;
			break;
		case RINGBUF_TYPE_TIME_STAMP:
			abs = event->time_delta | (u64)event->array[0] << 27;
			abs |= ts >> TOR_ABS_BITS << TOR_ABS_BITS;
			if (ts >> TOR_ABS_BITS && abs < ts)
				abs += BIT_ULL(TOR_ABS_BITS);
			ts = abs;
			break;
		case 0:
			ts += event->time_delta;
			payload = &event->array[1];
			len = sizeof(*event) + event->array[0];
			break;
		default:
			ts += event->time_delta;
			payload = &event->array[0];
			len = sizeof(*event) + event->type_len * sizeof(u32);
			break;
		}
		if (len > end - pos || len < sizeof(*event) + sizeof(u32)) {
			tor_fault(TOR_PAGE, "%s %d/%d: type %u of %u bytes at %u, %u are used",
				  from->how, from->buffer, from->cpu, event->type_len, len, pos,
				  end);
			return records;
		}
		if (payload && pos >= start) {
			tor_account(from, payload, (void *)event + len - (void *)payload, ts, lost);
			lost = 0;
			records++;
		}
		pos += len;
	}
	if (lost)
		tor_account_lost(from->cpu, lost);
	return records;
}

/* The counters of a CPU's ring. */
static u64 tor_counters(int cpu, unsigned long (*get)(struct trace_buffer *buffer, int cpu))
{
	return get(tor_buffers[0].rb, cpu) + get(tor_buffers[1].rb, cpu);
}

/**
 * tor_drop_begin() - note that from here on records may be dropped
 * @cpu: CPU of the records
 *
 * Context: Any context.
 */
void tor_drop_begin(int cpu)
{
	/* Fully ordered, as is the other one: see tor_iterate(). */
	atomic_inc_return(&tor_cpus[cpu]->dropping);
}

/**
 * tor_drop() - note that a ring is emptied
 * @cpu:    CPU of the ring
 * @how:    kind of operation
 * @counts: its content and counters; from here on no task writes to it or reads it
 *
 * Context: Any context.
 */
void tor_drop(int cpu, enum tor_drop how, const struct tor_counts *counts)
{
	struct tor_cpu *c = tor_cpus[cpu];
	u64 entries = counts->entries;

	if (entries && tor_bust(how == TOR_BY_CUT ? TOR_SHORT_CUT : TOR_SHORT_RESET))
		entries--;
	atomic64_add(entries, &c->dropped[how]);
	atomic64_add(counts->read, &c->gone.read);
	atomic64_add(counts->overrun, &c->gone.overrun);
	atomic64_add(counts->untold, &c->gone.untold);
	atomic64_add(counts->refused, &c->gone.refused);
}

/**
 * tor_drop_end() - note that no more records are dropped
 * @cpu: CPU of the records
 *
 * Context: Any context.
 */
void tor_drop_end(int cpu)
{
	atomic_inc(&tor_cpus[cpu]->drops);
	atomic_dec_return(&tor_cpus[cpu]->dropping);
}

/**
 * tor_settle() - check that the records of a CPU add up
 * @cpu: the CPU
 * @sum: where to add them
 *
 * Context: Task. All tasks stand still, and all records have been read.
 */
void tor_settle(int cpu, struct tor_sum *sum)
{
	struct tor_cpu *c = tor_cpus[cpu];
	u64 overrun = tor_counters(cpu, ring_buffer_overrun_cpu) +
		      atomic64_read(&c->gone.overrun);
	u64 counted = tor_counters(cpu, ring_buffer_read_events_cpu) +
		      atomic64_read(&c->gone.read);
	u64 no_room = tor_counters(cpu, ring_buffer_dropped_events_cpu) +
		      tor_counters(cpu, ring_buffer_commit_overrun_cpu) +
		      atomic64_read(&c->gone.refused);
	u64 cut = atomic64_read(&c->dropped[TOR_BY_CUT]);
	u64 reset = atomic64_read(&c->dropped[TOR_BY_RESET]);
	u64 written = 0, seen = 0, refused = 0, read = atomic64_read(&c->read), told;
	int i;

	if (c->held.ts)
		c->lost += c->held.lost;

	for (i = 0; i < TOR_CONTEXTS; i++) {
		u64 weight = bitmap_weight(c->seen[i], c->writer[i].next);

		written += c->writer[i].next;
		seen += weight;
		refused += c->writer[i].refused;
		sum->written[i] += c->writer[i].next;
		sum->read[i] += weight;
	}
	sum->refused += refused;
	sum->overrun += overrun;
	sum->dropped[TOR_BY_CUT] += cut;
	sum->dropped[TOR_BY_RESET] += reset;

	if (seen != read)
		tor_fault(TOR_COUNT, "cpu %d: %llu records read, %llu times", cpu, seen, read);
	if (written != seen + overrun + cut + reset)
		tor_fault(TOR_COUNT,
			  "cpu %d: %llu written, %llu read, %llu overwritten, %llu cut off, %llu reset: %lld not accounted for",
			  cpu, written, seen, overrun, cut, reset,
			  written - seen - overrun - cut - reset);
	if (read != counted)
		tor_fault(TOR_COUNT, "cpu %d: %llu read, the counters say %llu", cpu, read,
			  counted);
	if (c->toggled ? refused < no_room : refused != no_room)
		tor_fault(TOR_COUNT, "cpu %d: %llu refused, the counters say %llu", cpu, refused,
			  no_room);

	/*
	 * A loss of unknown number is one at least. Records that a change of the
	 * sub-buffer size overwrites are reported with the next record, if there is one.
	 */
	told = c->lost + atomic_read(&c->some) + atomic64_read(&c->gone.untold);
	if (told > overrun ||
	    (told < overrun && !atomic_read(&c->some) && !tor_changes(TOR_ORDER)))
		tor_fault(TOR_COUNT, "cpu %d: %llu overwritten, readers were told of %llu", cpu,
			  overrun, told);
}

/**
 * tor_forget() - begin to account anew
 * @cpu: the CPU
 *
 * Context: Task. All tasks stand still.
 */
void tor_forget(int cpu)
{
	struct tor_cpu *c = tor_cpus[cpu];
	int i;

	for (i = 0; i < TOR_CONTEXTS; i++) {
		bitmap_zero(c->seen[i], c->writer[i].next);
		c->writer[i].next = 0;
		c->writer[i].refused = 0;
	}
	atomic64_set(&c->read, 0);
	atomic_set(&c->some, 0);
	atomic_set(&c->drops, 0);
	for (i = 0; i < TOR_DROPS; i++)
		atomic64_set(&c->dropped[i], 0);
	memset(&c->gone, 0, sizeof(c->gone));
	c->toggled = false;
	memset(c->stream, 0, sizeof(c->stream));
	c->missing = 0;
	c->lost = 0;
	c->held.ts = 0;
}
