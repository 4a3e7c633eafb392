// SPDX-License-Identifier: GPL-2.0
/*
 * A parser of the page format that shares nothing with the ring buffer. It reads
 * trace_pipe_raw as libtraceevent and others do (R8).
 */
#include "test.h"

#define MISSED_EVENTS	(1UL << 31)
#define MISSED_STORED	(1UL << 30)
#define COMMIT_MASK	((1UL << 20) - 1)
#define HEADER		16

/* The count of lost records stands behind the data when there is room for it */
bool page_missed(void *page, long *lost)
{
	unsigned long commit = ((u64 *)page)[1];

	*lost = 0;
	if (!(commit & MISSED_EVENTS))
		return false;
	if (commit & MISSED_STORED)
		memcpy(lost, page + HEADER + (commit & COMMIT_MASK), sizeof(*lost));
	else
		*lost = LOST_UNKNOWN;
	return true;
}

/* Behind the records and that count there is nothing that could be read before */
bool page_rest_is_clear(void *page, unsigned int size)
{
	unsigned int at = HEADER + (((u64 *)page)[1] & COMMIT_MASK);
	const char *byte = page;

	if (((u64 *)page)[1] & MISSED_STORED)
		at += sizeof(long);
	while (at < size && !byte[at])
		at++;
	return at >= size;
}

static int bad(const char *what, unsigned int at)
{
	fault(F_PAGE, "offset %u: %s", at, what);
	return -EINVAL;
}

/*
 * Absolute stamps carry 59 bits; the upper five are those of the page's own
 * time stamp.
 */
int page_parse(void *page, unsigned int size, page_fn fn, void *arg)
{
	u64 ts = ((u64 *)page)[0];
	unsigned int commit = ((u64 *)page)[1] & COMMIT_MASK;
	unsigned int at, len;
	void *data = page + HEADER;
	bool delta_only;
	long lost;
	int n = 0;

	page_missed(page, &lost);
	if (commit > size - HEADER)
		return bad("commit lies behind the page", commit);
	if (lost == LOST_UNKNOWN && size - HEADER - commit >= sizeof(lost))
		return bad("there is room for the number of lost records", commit);
	for (at = 0; at < commit; at += len) {
		struct ring_buffer_event *e = data + at;

		delta_only = true;
		switch (e->type_len) {
		case RINGBUF_TYPE_PADDING:
			if (!e->time_delta)
				return n;	/* to the end of the page */
			len = 4 + e->array[0];
			ts += e->time_delta;
			break;
		case RINGBUF_TYPE_TIME_EXTEND:
			len = 8;
			ts += e->time_delta + ((u64)e->array[0] << 27);
			break;
		case RINGBUF_TYPE_TIME_STAMP:
			len = 8;
			ts = (ts & (0x1fULL << 59)) |
			     (e->time_delta + ((u64)e->array[0] << 27));
			break;
		default:
			delta_only = false;
			ts += e->time_delta;
			len = e->type_len ? 4 + e->type_len * 4 : 4 + e->array[0];
			break;
		}
		if (len < 4 || len & 3)
			return bad("a length that is no multiple of 4", at);
		if (at + len > commit)
			return bad("a record reaches over the commit", at);
		if (!delta_only) {
			if (fn)
				fn(e, ts, lost, arg);
			lost = 0;
			n++;
		}
	}
	return n;
}
