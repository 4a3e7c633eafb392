/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The format of records and of data pages, as user space parses it: see
 * events/header_page and events/header_event in tracefs, and &enum
 * ring_buffer_type for the record types.
 */
#ifndef _RING_BUFFER_RECORD_H
#define _RING_BUFFER_RECORD_H

#include <linux/align.h>
#include <asm/barrier.h>
#include <linux/build_bug.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <asm/local.h>

/* Positions and lengths on a data page are multiples of this many bytes. */
#define RB_UNIT			4U
#define RB_RECORD_HDR		sizeof(struct ring_buffer_event)

/* A time extend or an absolute stamp, in front of the record it belongs to. */
#define RB_STAMP_LEN		8U

/* Payloads above this have their length in array[0]. */
#define RB_SMALL_DATA		(RB_UNIT * RINGBUF_TYPE_DATA_TYPE_LEN_MAX)

/* Machines that cannot load 64 bits from a multiple of 4 bytes. */
#if defined(CONFIG_HAVE_64BIT_ALIGNED_ACCESS)
#define RB_ALIGN_8		1
#define RB_RECORD_ALIGN		8U
#else
#define RB_ALIGN_8		0
#define RB_RECORD_ALIGN		RB_UNIT
#endif

#define RB_DELTA_BITS		27
#define RB_DELTA_MAX		((1ULL << RB_DELTA_BITS) - 1)

/* An absolute stamp holds this many bits, a parser restores the rest. */
#define RB_ABS_BITS		59
#define RB_ABS_MASK		((1ULL << RB_ABS_BITS) - 1)

/**
 * struct rb_data_page - a sub-buffer's memory, as user space sees it
 * @time_stamp: time that the delta of the first record counts from
 * @commit:     bytes of @data that hold records, and RB_MISSED_* on a page
 *              that was read out
 * @data:       the records
 */
struct rb_data_page {
	u64		time_stamp;
	local_t		commit;
	unsigned char	data[] __aligned(RB_RECORD_ALIGN);
};

#define RB_PAGE_HDR		offsetof(struct rb_data_page, data)

struct trace_seq;

void rb_print_page_header(struct trace_seq *s, unsigned int size);

/* Records before the first one of this page were lost ... */
#define RB_MISSED_EVENTS	BIT(31)
/* ... and their number, a long, stands behind the last record. */
#define RB_MISSED_STORED	BIT(30)

static_assert(sizeof(struct ring_buffer_event) == RB_UNIT);
static_assert(RB_PAGE_HDR % RB_UNIT == 0);
static_assert(sizeof(local_t) == sizeof(long));

/* There is no local_set_release(). */
static __always_inline void rb_set_commit_release(struct rb_data_page *page, long bytes)
{
	/* A program that sees @bytes in a mapping also sees the records in them. */
	smp_store_release((long *)&page->commit, bytes);
}

/*
 * The header is two bit-fields of one word. Storing the word at once keeps
 * the write path free of a read-modify-write.
 */
static __always_inline void
rb_set_header(struct ring_buffer_event *rec, u32 type, u32 delta)
{
#ifdef __BIG_ENDIAN_BITFIELD
	*(u32 *)rec = type << RB_DELTA_BITS | delta;
#else
	*(u32 *)rec = type | delta << 5;
#endif
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

/* Is the length of a payload of @len bytes in the header itself? */
static __always_inline bool rb_is_small(unsigned long len)
{
	return !RB_ALIGN_8 && len - 1 < RB_SMALL_DATA;
}

/* Bytes on the page of a record with @len bytes of payload, without a stamp. */
static __always_inline unsigned int rb_record_len(unsigned long len)
{
	if (likely(rb_is_small(len)))
		return ALIGN(len, RB_UNIT) + RB_RECORD_HDR;
	return ALIGN(len + sizeof(u32) + RB_RECORD_HDR, RB_RECORD_ALIGN);
}

/* Write the header of a record that takes @total bytes of the page. */
static __always_inline void
rb_set_record(struct ring_buffer_event *rec, unsigned int total, u32 delta)
{
	unsigned int len = total - RB_RECORD_HDR;

	if (likely(rb_is_small(len))) {
		rb_set_header(rec, len / RB_UNIT, delta);
	} else {
		rb_set_header(rec, 0, delta);
		rec->array[0] = len;
	}
}

/* Write a time extend (a delta) or an absolute stamp. */
static inline void
rb_set_stamp(struct ring_buffer_event *rec, enum ring_buffer_type type, u64 time)
{
	rb_set_header(rec, type, time & RB_DELTA_MAX);
	rec->array[0] = (time & RB_ABS_MASK) >> RB_DELTA_BITS;
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

static __always_inline void *rb_payload(struct ring_buffer_event *rec)
{
	return &rec->array[rec->type_len ? 0 : 1];
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
