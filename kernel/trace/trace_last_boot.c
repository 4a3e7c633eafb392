// SPDX-License-Identifier: GPL-2.0
/*
 * Print records of another boot, from memory that survived.
 *
 * Such a record can have any bytes: the memory may be damaged, or was changed while the machine was
 * down, and the number of its event may be that of another event now. The function that prints the
 * event believes what is in the record, such as pointers and lengths, so it is not called. Instead,
 * each record is one line of its fields, also with the options raw, hex, bin, fields, verbose
 * and latency-format, and in each tracer. Each field is checked against the length of the record,
 * nothing else is read, and no address is followed.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/unaligned.h>

#include "trace_output.h"

/* Of an array of bytes, not more than these are printed. */
#define LAST_BOOT_BYTES	32

static bool last_boot_has(const struct trace_iterator *iter, unsigned int offset, unsigned int len)
{
	unsigned int size = iter->ent_size;

	return offset <= size && len <= size - offset;
}

static void last_boot_put_bytes(struct trace_iterator *iter, const void *data, unsigned int len)
{
	trace_seq_printf(&iter->seq, "%*phN", (int)min(len, LAST_BOOT_BYTES), data);
	if (len > LAST_BOOT_BYTES)
		trace_seq_puts(&iter->seq, "...");
}

/* A text ends where its bytes end. One line stays one line. */
static void last_boot_put_text(struct trace_iterator *iter, const char *text, unsigned int len)
{
	len = strnlen(text, len);
	if (len && text[len - 1] == '\n')
		len--;
	trace_seq_printf(&iter->seq, "%*pE", (int)len, text);
}

/* The function at an address of that boot, as far as it is known: not those of modules. */
static bool last_boot_find_function(const struct trace_iterator *iter, u64 val, void **func)
{
	unsigned long addr = val + iter->array_buffer->text_delta;

	*func = (void *)addr;
	return core_kernel_text(addr);
}

static void last_boot_put_long(struct trace_iterator *iter, u64 val)
{
	void *func;

	trace_seq_printf(&iter->seq, "0x%llx", val);
	if (last_boot_find_function(iter, val, &func))
		trace_seq_printf(&iter->seq, " (%pS)", func);
}

static void last_boot_put_array(struct trace_iterator *iter, const char *type,
				unsigned int offset, unsigned int len)
{
	const void *data = (void *)iter->ent + offset;
	unsigned int i;

	if (str_has_prefix(type, "char[")) {
		last_boot_put_text(iter, data, len);
	} else if (str_has_prefix(type, "unsigned long[")) {
		for (i = 0; i < len / sizeof(long); i++) {
			if (i)
				trace_seq_putc(&iter->seq, ' ');
			last_boot_put_long(iter, get_unaligned((unsigned long *)data + i));
		}
	} else {
		last_boot_put_bytes(iter, data, len);
	}
}

/* The place of a dynamic array: __data_loc counts from the record, __rel_loc from behind itself. */
static void last_boot_put_place(struct trace_iterator *iter, const struct ftrace_event_field *field)
{
	const char *type = field->type + strcspn(field->type, " ") + 1;
	unsigned int offset, len;
	u32 loc;

	/* The size of the field may be a stored one, and too small for its type. */
	if (!last_boot_has(iter, field->offset, sizeof(loc))) {
		trace_seq_puts(&iter->seq, "<damaged>");
		return;
	}
	loc = get_unaligned((u32 *)((void *)iter->ent + field->offset));
	offset = loc & U16_MAX;
	len = loc >> 16;
	if (str_has_prefix(field->type, "__rel_loc"))
		offset += field->offset + sizeof(loc);
	if (last_boot_has(iter, offset, len))
		last_boot_put_array(iter, type, offset, len);
	else
		trace_seq_puts(&iter->seq, "<damaged>");
}

static void last_boot_put_number(struct trace_iterator *iter,
				 const struct ftrace_event_field *field)
{
	const void *data = (void *)iter->ent + field->offset;
	void *func;
	u64 val;

	switch (field->size) {
	case 1:
		val = *(u8 *)data;
		break;
	case 2:
		val = get_unaligned((u16 *)data);
		break;
	case 4:
		val = get_unaligned((u32 *)data);
		break;
	case 8:
		val = get_unaligned((u64 *)data);
		break;
	default:
		last_boot_put_bytes(iter, data, field->size);
		return;
	}
	if (strstr(field->type, "char *"))
		trace_seq_printf(&iter->seq, "0x%llx (a text of that boot)", val);
	else if (strchr(field->type, '*') ||
		 (field->size == sizeof(long) && last_boot_find_function(iter, val, &func)))
		last_boot_put_long(iter, val);
	else if (field->is_signed)
		trace_seq_printf(&iter->seq, "%lld", sign_extend64(val, field->size * 8 - 1));
	else
		trace_seq_printf(&iter->seq, "0x%llx (%llu)", val, val);
}

/* An array of this kind goes on to the end of the record. */
static bool last_boot_is_open(const struct trace_event *event,
			      const struct ftrace_event_field *field)
{
	return !field->size || (event->type == TRACE_STACK && strchr(field->type, '['));
}

static void last_boot_put_field(struct trace_iterator *iter, const struct trace_event *event,
				const struct ftrace_event_field *field)
{
	unsigned int len = field->size;

	trace_seq_printf(&iter->seq, " %s=", field->name);
	if (last_boot_is_open(event, field) && last_boot_has(iter, field->offset, 0))
		len = iter->ent_size - field->offset;
	if (!last_boot_has(iter, field->offset, len))
		trace_seq_puts(&iter->seq, "<damaged>");
	else if (str_has_prefix(field->type, "__data_loc ") ||
		 str_has_prefix(field->type, "__rel_loc "))
		last_boot_put_place(iter, field);
	else if (strchr(field->type, '['))
		last_boot_put_array(iter, field->type, field->offset, len);
	else
		last_boot_put_number(iter, field);
}

/* The event of a number that the tracers use, if it has a format. */
static struct trace_event_call *last_boot_find_static(unsigned int type)
{
	struct trace_event_call *call;

	list_for_each_entry(call, &ftrace_events, list) {
		if (call->event.type == type)
			return call;
	}
	return NULL;
}

static void last_boot_put_event(struct trace_iterator *iter)
{
	struct trace_event *event = trace_find_iter_event(iter);
	struct trace_event_call *call = NULL;
	struct ftrace_event_field *field;

	if (event && event->type < __TRACE_LAST_TYPE)
		call = last_boot_find_static(event->type);
	else if (event)
		call = container_of(event, struct trace_event_call, event);
	if (!call) {
		trace_seq_printf(&iter->seq, "Unknown type %u: ", iter->ent->type);
		last_boot_put_bytes(iter, iter->ent + 1, iter->ent_size - sizeof(*iter->ent));
		return;
	}
	trace_seq_printf(&iter->seq, "%s:", trace_event_name(call));
	list_for_each_entry_reverse(field, trace_get_fields(call), link)
		last_boot_put_field(iter, event, field);
}

/* The names of tasks are those of this boot: PIDs of another one have none. */
static void last_boot_put_context(struct trace_iterator *iter)
{
	const struct trace_entry *entry = iter->ent;
	struct trace_seq *s = &iter->seq;
	u64 ts = iter->ts;
	u32 rest;

	if (last_boot_has(iter, 0, sizeof(*entry)))
		trace_seq_printf(s, "%16s-%-7d ", "<...>", entry->pid);
	else
		trace_seq_printf(s, "%16s-%-7s ", "<...>", "?");
	if (iter->tr->trace_flags & TRACE_ITER(RECORD_TGID))
		trace_seq_puts(s, "(-------) ");
	trace_seq_printf(s, "[%03d] ", iter->cpu);
	if (iter->tr->trace_flags & TRACE_ITER(IRQ_INFO) &&
	    last_boot_has(iter, 0, sizeof(*entry)))
		trace_print_lat_fmt(s, iter->ent);
	if (iter->iter_flags & TRACE_FILE_TIME_IN_NS) {
		ts = div_u64_rem(ns2usecs(ts), USEC_PER_SEC, &rest);
		trace_seq_printf(s, " %5llu.%06u: ", ts, rest);
	} else {
		trace_seq_printf(s, " %12llu: ", ts);
	}
}

/**
 * trace_iter_last_boot() - is the record that is to be printed one of another boot?
 * @iter: iterator of an open file, or of a dump, with the record; nothing was read since
 *
 * Context: Any context.
 * Return: true if it is: only trace_print_last_boot() may look at it.
 */
bool trace_iter_last_boot(struct trace_iterator *iter)
{
	struct ring_buffer_iter *buf_iter = trace_buffer_iter(iter, iter->cpu);

	if (buf_iter)
		return ring_buffer_iter_last_boot(buf_iter);
	return ring_buffer_last_boot(iter->array_buffer->buffer, iter->cpu, iter->ent);
}

/**
 * trace_print_last_boot() - print a record of another boot
 * @iter: iterator with the record
 *
 * Context: trace_event_read_lock() is held, but for a dump.
 * Return: TRACE_TYPE_HANDLED; TRACE_TYPE_PARTIAL_LINE if the line is too long.
 */
enum print_line_t trace_print_last_boot(struct trace_iterator *iter)
{
	if (iter->tr->trace_flags & TRACE_ITER(CONTEXT_INFO))
		last_boot_put_context(iter);
	if (last_boot_has(iter, 0, sizeof(*iter->ent))) {
		last_boot_put_event(iter);
	} else {
		trace_seq_puts(&iter->seq, "<damaged> ");
		last_boot_put_bytes(iter, iter->ent, iter->ent_size);
	}
	trace_seq_putc(&iter->seq, '\n');
	return trace_handle_return(&iter->seq);
}
