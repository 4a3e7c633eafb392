/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks over the records of a data page; format.h has the format.
 */
#ifndef _RING_BUFFER_RECORD_H
#define _RING_BUFFER_RECORD_H

#include <linux/minmax.h>
#include <asm/barrier.h>

#include "format.h"

/* There is no local_set_release(). */
static __always_inline void rb_set_commit_release(struct rb_data_page *page, long bytes)
{
	/* A program that sees @bytes in a mapping also sees the records in them. */
	smp_store_release((long *)&page->commit, bytes);
}

static __always_inline void
rb_get_header(const struct ring_buffer_event *rec, u32 *type, u32 *delta)
{
	u32 header = *(const u32 *)rec;

#ifdef __BIG_ENDIAN_BITFIELD
	*type = header >> RB_DELTA_BITS;
	*delta = header & RB_DELTA_MAX;
#else
	*type = header & 0x1f;
	*delta = header >> 5;
#endif
}

static inline u64 rb_get_stamp(const struct ring_buffer_event *rec)
{
	return ((u64)rec->array[0] << RB_DELTA_BITS) + rec->time_delta;
}

/*
 * An absolute stamp lacks the upper five bits of the clock. They are those of
 * the time before it: the writer begins a new sub-buffer where they are not.
 */
static inline u64 rb_restore_abs(u64 abs, u64 before)
{
	return abs | (before & ~RB_ABS_MASK);
}

static __always_inline bool rb_is_data(const struct ring_buffer_event *rec)
{
	return rec->type_len <= RINGBUF_TYPE_DATA_TYPE_LEN_MAX;
}

/* Bytes on the page of whatever begins at @rec; 0 for the unused rest of it. */
static __always_inline unsigned int rb_total_len(const struct ring_buffer_event *rec)
{
	switch (rec->type_len) {
	case RINGBUF_TYPE_TIME_EXTEND:
	case RINGBUF_TYPE_TIME_STAMP:
		return RB_STAMP_LEN;
	case RINGBUF_TYPE_PADDING:
		if (!rec->time_delta)
			return 0;
		fallthrough;
	case 0:
		return rec->array[0] + RB_RECORD_HDR;
	default:
		return rec->type_len * RB_UNIT + RB_RECORD_HDR;
	}
}

/* The time of @rec, when the time before it was @time. */
static __always_inline u64 rb_advance_time(const struct ring_buffer_event *rec, u64 time)
{
	if (likely(rb_is_data(rec)))
		return time + rec->time_delta;

	switch (rec->type_len) {
	case RINGBUF_TYPE_TIME_EXTEND:
		return time + rb_get_stamp(rec);
	case RINGBUF_TYPE_TIME_STAMP:
		return rb_restore_abs(rb_get_stamp(rec), time);
	default: /* a discarded record of another writer of this format */
		return time + rec->time_delta;
	}
}

/**
 * struct rb_cursor - a walk over the records of one data page
 * @data: the page's records
 * @pos:  byte that the next step looks at
 * @end:  byte behind the last record
 * @time: time of the record before @pos
 */
struct rb_cursor {
	const unsigned char	*data;
	unsigned int		pos;
	unsigned int		end;
	u64			time;
};

static inline struct rb_cursor
rb_cursor(const struct rb_data_page *page, unsigned int pos, unsigned int end, u64 time)
{
	return (struct rb_cursor){ .data = page->data, .pos = pos, .end = end, .time = time };
}

/*
 * Go to the next record that holds data, past the stamps in front of it.
 *
 * On success @c->time is the time of that record and @c->pos still the place
 * of it; rb_cursor_skip() goes behind it.
 *
 * Return: the record, or NULL at the end, or where the rest is no record.
 */
static __always_inline struct ring_buffer_event *rb_cursor_next(struct rb_cursor *c)
{
	struct ring_buffer_event *rec;
	unsigned int len;

	while (c->pos + RB_RECORD_HDR <= c->end) {
		rec = (struct ring_buffer_event *)(c->data + c->pos);
		c->time = rb_advance_time(rec, c->time);
		if (likely(rb_is_data(rec)))
			return rec;
		/* Also where this is no record, on a page that is being written. */
		len = rb_total_len(rec);
		if (len - 1 >= c->end - c->pos)
			break;
		c->pos += len;
	}
	c->pos = c->end;
	return NULL;
}

static __always_inline void
rb_cursor_skip(struct rb_cursor *c, const struct ring_buffer_event *rec)
{
	c->pos += rb_total_len(rec);
}

/* Go to the end. Return: how many records were on the way. */
static inline unsigned long rb_cursor_count(struct rb_cursor *c)
{
	struct ring_buffer_event *rec;
	unsigned long records = 0;

	while ((rec = rb_cursor_next(c))) {
		rb_cursor_skip(c, rec);
		records++;
	}
	return records;
}

/*
 * Skip records with nothing in front of them, as most are, as long as they end
 * within @limit. The last one of the page is left alone, so that there is a header
 * behind each that is skipped.
 *
 * Where a record ends is known when its header is loaded, and so each step would
 * wait for the load of the one before. Most records are as long as the last one:
 * stepping by that length, the CPU runs ahead, and a wrong guess costs as much as
 * a wrong branch.
 *
 * Return: how many they were.
 */
static __always_inline unsigned long rb_cursor_skip_plain(struct rb_cursor *c, unsigned int limit)
{
	const unsigned char *at = c->data + c->pos, *end;
	unsigned long records = 0, len, step = 0;
	u64 time = c->time;
	u32 type, delta;

	if (c->pos + RB_RECORD_HDR > c->end)
		return 0;
	end = c->data + min(limit, c->end - RB_RECORD_HDR);
	for (;; at += step) {
		const struct ring_buffer_event *rec = (const void *)at;

		rb_get_header(rec, &type, &delta);
		len = RB_RECORD_HDR + (unsigned long)type * RB_UNIT;
		if (unlikely(type - 1 >= RINGBUF_TYPE_DATA_TYPE_LEN_MAX)) {
			if (type)
				break;
			len = RB_RECORD_HDR + rec->array[0];
		}
		if (len != step) {
			step = len;
			/* Or the compiler would step by @len, which is the same to it. */
			OPTIMIZER_HIDE_VAR(step);
		}
		if (at + step > end)
			break;
		time += delta;
		records++;
	}
	c->pos = at - c->data;
	c->time = time;
	return records;
}

/* Is @rec, which @c has just skipped, a record that can be? For doubtful pages. */
static inline bool
rb_cursor_valid(const struct rb_cursor *c, const struct ring_buffer_event *rec)
{
	unsigned int len = rb_total_len(rec);

	return len >= RB_RECORD_HDR && len <= c->end && c->pos <= c->end;
}

#endif /* _RING_BUFFER_RECORD_H */
