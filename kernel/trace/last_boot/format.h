/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of a file "format", as another kernel has written it.
 *
 * format.c needs nothing of tracing.
 */
#ifndef _KERNEL_TRACE_LAST_BOOT_FORMAT_H
#define _KERNEL_TRACE_LAST_BOOT_FORMAT_H

#include <linux/types.h>

#define FORMAT_NAME_LEN		64
#define FORMAT_TYPE_LEN		96

/**
 * struct format_text - the format of an event
 * @system: the system, with a 0 at its end
 * @text:   text of the file "format", without a 0
 * @len:    bytes of @text
 */
struct format_text {
	const char	*system;
	const char	*text;
	size_t		len;
};

/**
 * struct format_field - a field of an event
 * @offset:    bytes of the record in front of it
 * @size:      bytes; 0 for an array up to the end of the record
 * @is_signed: it can be negative
 * @type:      its type, as of &struct ftrace_event_field
 * @name:      its name
 */
struct format_field {
	unsigned int	offset;
	unsigned int	size;
	bool		is_signed;
	char		type[FORMAT_TYPE_LEN];
	char		name[FORMAT_NAME_LEN];
};

bool format_open(struct format_text *format, const void *data, size_t len);
void format_name(const struct format_text *format, char name[FORMAT_NAME_LEN]);
bool format_next_field(const struct format_text *format, size_t *pos, struct format_field *field);

#endif
