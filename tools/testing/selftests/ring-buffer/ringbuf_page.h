/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages that trace_pipe_raw gives, as header_page and header_event say.
 */
#ifndef _RINGBUF_PAGE_H
#define _RINGBUF_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TYPE_PADDING	29
#define TYPE_EXTEND	30
#define TYPE_STAMP	31
#define DELTA_BITS	27
#define COMMIT_MASK	((1UL << 20) - 1)
#define MISSED_EVENTS	(1UL << 31)
#define MISSED_STORED	(1UL << 30)

struct subbuf {
	uint64_t	time;
	unsigned long	commit;
	unsigned char	data[];
};

#define LOST_UNKNOWN	(~0UL)

/*
 * The number of records that were lost in front of the sub-buffer of @page bytes. It
 * is unknown only where there is no room for it behind the records. False if the
 * sub-buffer has wrong flags or a wrong number.
 */
static inline bool subbuf_lost(const struct subbuf *sb, unsigned long page, unsigned long *lost)
{
	unsigned long used = sb->commit & COMMIT_MASK;
	bool room = sizeof(*sb) + used + sizeof(*lost) <= page;

	*lost = 0;
	switch (sb->commit & (MISSED_EVENTS | MISSED_STORED)) {
	case 0:
		return true;
	case MISSED_EVENTS:
		*lost = LOST_UNKNOWN;
		return !room;
	case MISSED_EVENTS | MISSED_STORED:
		if (room)
			memcpy(lost, sb->data + used, sizeof(*lost));
		return *lost;
	}
	return false;
}

/* Goes from record to record. */
struct page_cursor {
	const unsigned char	*next, *end;
	uint64_t		now;		/* time stamp of the record */
	const unsigned char	*data;		/* its content, up to @next */
	const char		*fault;		/* fault of the page, or NULL */
};

/* The records in [from, to); @now is the time before them. */
static inline void page_begin(struct page_cursor *c, const struct subbuf *sb,
			      unsigned long from, unsigned long to, uint64_t now)
{
	c->next = sb->data + from;
	c->end = sb->data + to;
	c->now = now;
	c->fault = NULL;
	if (from)
		return;
	if (sb->time < now)
		c->fault = "a sub-buffer is from before the record in front of it";
	c->now = sb->time;
}

/* False behind the last record, and where the page is wrong. */
static inline bool page_next(struct page_cursor *c)
{
	uint32_t word, arg, type;
	uint64_t delta;

	while (!c->fault && c->next < c->end) {
		const unsigned char *p = c->next;
		unsigned long len;

		memcpy(&word, p, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		type = word >> DELTA_BITS;
		delta = word & ((1 << DELTA_BITS) - 1);
#else
		type = word & 31;
		delta = word >> 5;
#endif
		arg = 0;
		if (p + 8 <= c->end)
			memcpy(&arg, p + 4, 4);
		c->data = p + 4;
		switch (type) {
		case TYPE_PADDING:
			if (!delta)
				return false;
			c->now += delta;
			c->next = p + 4 + arg;
			continue;
		case TYPE_EXTEND:
			c->now += delta + ((uint64_t)arg << DELTA_BITS);
			c->next = p + 8;
			continue;
		case TYPE_STAMP:
			delta += (uint64_t)arg << DELTA_BITS;
			delta |= c->now & ~((1ULL << 59) - 1);
			if (delta < c->now)
				c->fault = "absolute time steps back";
			c->now = delta;
			c->next = p + 8;
			continue;
		case 0:
			c->data = p + 8;
			len = 4 + ((arg + 3) & ~3UL);
			break;
		default:
			len = 4 + type * 4;
		}
		c->now += delta;
		if (len > (unsigned long)(c->end - p)) {
			c->fault = "a record goes beyond what is committed";
			return false;
		}
		c->next = p + len;
		return true;
	}
	return false;
}
#endif
