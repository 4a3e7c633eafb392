// SPDX-License-Identifier: GPL-2.0
/*
 * The event of a record, and the fields of a record. User space may have written the record, so
 * each field is looked for within its size.
 */
#include <linux/bitops.h>
#include <linux/unaligned.h>

#include "internal.h"

/* Fields that a sample and the end of any other record have, with 8 bytes each */
#define DUMP_ID_FIELDS	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |	\
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static const struct dump_event *event_by_id(const struct dump_events *events, u64 id)
{
	unsigned int from = 0, to = events->nr;

	while (from < to) {
		unsigned int mid = from + (to - from) / 2;

		if (events->event[mid].id == id)
			return &events->event[mid];
		if (events->event[mid].id < id)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

/**
 * dump_event_of() - find the event of a record
 * @events: the events of the ring
 * @header: the record, with a valid size
 *
 * Return: the event, or NULL if it cannot be told.
 */
const struct dump_event *dump_event_of(const struct dump_events *events,
				       const struct perf_event_header *header)
{
	const void *id = header + 1;

	switch (events->find) {
	case DUMP_FIND_ANY:
		return events->event;
	case DUMP_FIND_ID:
		if (header->type != PERF_RECORD_SAMPLE) {
			/* Without an ID in it, all events do. */
			if (!events->event->attr.sample_id_all)
				return events->event;
			id = (void *)header + header->size - sizeof(u64);
		}
		if (header->size < sizeof(*header) + sizeof(u64))
			return NULL;
		return event_by_id(events, get_unaligned((const u64 *)id));
	default:
		return NULL;
	}
}

/**
 * dump_id_size() - size of the fields at the end of a record that is no sample
 * @attr: attributes of its event
 *
 * Return: bytes.
 */
unsigned int dump_id_size(const struct perf_event_attr *attr)
{
	if (!attr->sample_id_all)
		return 0;
	return hweight64(attr->sample_type & DUMP_ID_FIELDS) * sizeof(u64);
}

/**
 * dump_take() - take bytes of a record
 * @f:	  its fields behind those that were taken
 * @size: bytes
 *
 * Return: the bytes, or NULL if there are fewer. Then nothing is left.
 */
const void *dump_take(struct dump_fields *f, size_t size)
{
	const void *at = f->at;

	if (f->end - at < size) {
		f->cut = true;
		f->at = f->end;
		return NULL;
	}
	f->at += size;
	return at;
}

/**
 * dump_take_u64() - take a number of a record
 * @f: its fields behind those that were taken
 *
 * Return: the number, or 0 if there is none.
 */
u64 dump_take_u64(struct dump_fields *f)
{
	const u64 *at = dump_take(f, sizeof(*at));

	return at ? get_unaligned(at) : 0;
}

/**
 * dump_take_u32() - take a number of a record
 * @f: its fields behind those that were taken
 *
 * Return: the number, or 0 if there is none.
 */
u32 dump_take_u32(struct dump_fields *f)
{
	const u32 *at = dump_take(f, sizeof(*at));

	return at ? get_unaligned(at) : 0;
}

/**
 * dump_take_u16() - take a number of a record
 * @f: its fields behind those that were taken
 *
 * Return: the number, or 0 if there is none.
 */
u16 dump_take_u16(struct dump_fields *f)
{
	const u16 *at = dump_take(f, sizeof(*at));

	return at ? get_unaligned(at) : 0;
}

/**
 * dump_sample_tid() - which thread does a sample belong to?
 * @events: the events of the ring
 * @header: a record with a valid size
 * @pid:    gets the thread group
 * @tid:    gets the thread
 *
 * Return: true if it is a sample with both.
 */
bool dump_sample_tid(const struct dump_events *events, const struct perf_event_header *header,
		     u32 *pid, u32 *tid)
{
	struct dump_fields f = { header + 1, (void *)header + header->size };
	const struct dump_event *event = dump_event_of(events, header);

	if (header->type != PERF_RECORD_SAMPLE || !event ||
	    !(event->attr.sample_type & PERF_SAMPLE_TID))
		return false;
	if (event->attr.sample_type & PERF_SAMPLE_IDENTIFIER)
		dump_take_u64(&f);
	if (event->attr.sample_type & PERF_SAMPLE_IP)
		dump_take_u64(&f);
	*pid = dump_take_u32(&f);
	*tid = dump_take_u32(&f);
	return !f.cut;
}
