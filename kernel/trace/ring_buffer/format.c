// SPDX-License-Identifier: GPL-2.0
/*
 * Records and pages, as callers and user space know them.
 */
#include <linux/export.h>
#include <linux/trace_seq.h>

#include "internal.h"

/**
 * ring_buffer_event_length() - the length of a record's payload
 * @event: the record
 *
 * This is the reserved length, rounded up to a multiple of 4 bytes.
 *
 * Context: Any context.
 * Return: bytes.
 */
unsigned int ring_buffer_event_length(struct ring_buffer_event *event)
{
	return rb_total_len(event) - (rb_payload(event) - (void *)event);
}
EXPORT_SYMBOL_GPL(ring_buffer_event_length);

/**
 * ring_buffer_print_entry_header() - describe a record's header
 * @s: where to print
 *
 * The text of events/header_event, as libtraceevent parses it.
 *
 * Return: 0 if @s overflowed.
 */
int ring_buffer_print_entry_header(struct trace_seq *s)
{
	trace_seq_printf(s, "# compressed entry header\n"
			 "\ttype_len    :    5 bits\n"
			 "\ttime_delta  :   %2d bits\n"
			 "\tarray       :   32 bits\n"
			 "\n"
			 "\tpadding     : type == %d\n"
			 "\ttime_extend : type == %d\n"
			 "\ttime_stamp : type == %d\n"
			 "\tdata max type_len  == %d\n",
			 RB_DELTA_BITS, RINGBUF_TYPE_PADDING, RINGBUF_TYPE_TIME_EXTEND,
			 RINGBUF_TYPE_TIME_STAMP, RINGBUF_TYPE_DATA_TYPE_LEN_MAX);
	return !trace_seq_has_overflowed(s);
}

static void rb_print_field(struct trace_seq *s, const char *name, size_t offset,
			   size_t size, bool is_signed)
{
	trace_seq_printf(s, "\tfield: %s;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n",
			 name, offset, size, is_signed);
}

/**
 * rb_print_page_header() - describe a data page of any size
 * @s:    where to print
 * @size: bytes of the page, with its header
 *
 * The text of events/header_page, as libtraceevent parses it.
 *
 * Context: Any context.
 */
void rb_print_page_header(struct trace_seq *s, unsigned int size)
{
	size_t commit = offsetof(struct rb_data_page, commit);

	rb_print_field(s, "u64 timestamp", 0, sizeof(u64), false);
	rb_print_field(s, "local_t commit", commit, sizeof(local_t), true);
	/* The top bits of @commit: records were lost. */
	rb_print_field(s, "char overwrite", commit, 1, is_signed_type(char));
	rb_print_field(s, "char data", RB_PAGE_HDR, size - RB_PAGE_HDR, is_signed_type(char));
}

/**
 * ring_buffer_print_page_header() - describe a data page of a buffer
 * @buffer: the buffer; NULL for one with pages of the smallest size
 * @s:      where to print
 *
 * Context: Any context.
 * Return: 0 if @s overflowed.
 */
int ring_buffer_print_page_header(struct trace_buffer *buffer, struct trace_seq *s)
{
	rb_print_page_header(s, rb_subbuf_size(buffer ? buffer->order : 0));
	return !trace_seq_has_overflowed(s);
}
