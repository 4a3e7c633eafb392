// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes of a record that belong to no field. Writers leave them as they were, and they may be of
 * an older record that the reader must not see.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "../trace_output.h"
#include "internal.h"

struct view_span {
	unsigned int	begin;
	unsigned int	end;
};

/* How many arrays in the record a field points to: several for some arguments of probes. */
static unsigned int view_nr_far(const struct ftrace_event_field *field)
{
	if (!strstarts(field->type, "__data_loc ") && !strstarts(field->type, "__rel_loc "))
		return 0;
	return strstr(field->type, "[][") ? field->size / sizeof(u32) : 1;
}

static struct view_span view_span_of(const struct ftrace_event_field *field,
				     const struct trace_entry *entry, unsigned int len)
{
	unsigned int begin = field->offset, room = len - min(begin, len);
	/* A synthetic event has 8 bytes for a pointer of 4. */
	unsigned int size = view_nr_far(field) * sizeof(u32) ?: field->size;
	bool stack = entry->type == TRACE_STACK && field->len;

	if (size && !stack)
		return (struct view_span){ begin, begin + size };
	/* An array that ends with the record, or with its text */
	if (entry->type == TRACE_PRINT)
		room = strnlen((const char *)entry + begin, room);
	return (struct view_span){ begin, begin + room };
}

/* Array number @i of view_nr_far(). */
static struct view_span view_span_far(const struct ftrace_event_field *field, unsigned int i,
				      const struct trace_entry *entry, unsigned int len)
{
	unsigned int begin, at = field->offset + i * sizeof(u32);
	bool relative = strstarts(field->type, "__rel_loc ");
	u32 loc;

	if (at > len - sizeof(loc))
		return (struct view_span){ };
	memcpy(&loc, (const void *)entry + at, sizeof(loc));
	begin = (loc & U16_MAX) + (relative ? at + sizeof(loc) : 0);
	return (struct view_span){ begin, begin + (loc >> 16) };
}

/* Replace @next if the part of @span behind @pos begins earlier. */
static void view_span_take(struct view_span *next, struct view_span span, unsigned int pos,
			   unsigned int len)
{
	span.begin = max(span.begin, pos);
	span.end = min(span.end, len);
	if (span.begin < span.end && span.begin < next->begin)
		*next = span;
}

/**
 * view_clear_holes() - clear the bytes of a record that belong to no field
 * @entry:  the record
 * @len:    its length in bytes, at least that of @entry
 * @fields: struct ftrace_event_field of its event, without those that all events have
 *
 * A field may have any length and place, as those of user_events are written by user space.
 *
 * Context: Any context in which @fields do not change.
 */
void view_clear_holes(struct trace_entry *entry, unsigned int len, struct list_head *fields)
{
	unsigned int i, pos = sizeof(*entry);
	struct ftrace_event_field *field;
	struct view_span next;

	while (pos < len) {
		next = (struct view_span){ len, len };
		list_for_each_entry(field, fields, link) {
			view_span_take(&next, view_span_of(field, entry, len), pos, len);
			for (i = 0; i < view_nr_far(field); i++)
				view_span_take(&next, view_span_far(field, i, entry, len), pos,
					       len);
		}
		memset((void *)entry + pos, 0, next.begin - pos);
		pos = next.end;
	}
}

/**
 * view_find_fields() - find the fields of an event
 * @type: the number of the event in its records
 *
 * Context: May sleep, trace_event_sem is held.
 * Return: a list of struct ftrace_event_field, without those that all events have; NULL if the
 *	   event was removed, or has no format.
 */
struct list_head *view_find_fields(int type)
{
	static struct trace_event_call *own[__TRACE_LAST_TYPE];
	struct trace_event_call *call;
	struct trace_event *event;

	lockdep_assert_held(&trace_event_sem);
	event = ftrace_find_event(type);
	if (!event)
		return NULL;
	if (type >= __TRACE_LAST_TYPE)
		return trace_get_fields(container_of(event, struct trace_event_call, event));

	/* Those of ftrace itself have a trace_event elsewhere, and are never removed. */
	call = READ_ONCE(own[type]);
	if (call)
		return trace_get_fields(call);
	list_for_each_entry(call, &ftrace_events, list) {
		if (call->event.type != type)
			continue;
		WRITE_ONCE(own[type], call);
		return trace_get_fields(call);
	}
	return NULL;
}
