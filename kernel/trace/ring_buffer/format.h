/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The format of records and of data pages, as user space parses it: see
 * events/header_page and events/header_event in tracefs, and &enum
 * ring_buffer_type for the record types.
 */
#ifndef _RING_BUFFER_FORMAT_H
#define _RING_BUFFER_FORMAT_H

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/ring_buffer.h>
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

/* Records before the first one of this page were lost ... */
#define RB_MISSED_EVENTS	BIT(31)
/* ... and their number, a long, stands behind the last record. */
#define RB_MISSED_STORED	BIT(30)

static_assert(sizeof(struct ring_buffer_event) == RB_UNIT);
static_assert(RB_PAGE_HDR % RB_UNIT == 0);
static_assert(sizeof(local_t) == sizeof(long));

struct trace_seq;

void rb_print_page_header(struct trace_seq *s, unsigned int size);

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

static __always_inline void *rb_payload(struct ring_buffer_event *rec)
{
	return &rec->array[rec->type_len ? 0 : 1];
}

#endif /* _RING_BUFFER_FORMAT_H */
