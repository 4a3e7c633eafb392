// SPDX-License-Identifier: GPL-2.0
/*
 * The text of a file "format", as another kernel has written it. It can be damaged.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "format.h"

/* Longer lines than this are no fields: the text of "print fmt". */
#define FORMAT_LINE_LEN		256

static bool format_is_text(char c)
{
	return c >= ' ' && c <= '~';
}

/**
 * format_open() - begin to read a format
 * @format: is set
 * @data:   the name of a system, a 0, and the text
 * @len:    bytes of @data
 *
 * Context: Any context.
 * Return: false if it is none, or has bytes that are no text.
 */
bool format_open(struct format_text *format, const void *data, size_t len)
{
	size_t i, system = strnlen(data, len);
	const char *text = data;

	if (!system || system == len)
		return false;
	for (i = 0; i < len; i++) {
		if (i != system && !format_is_text(text[i]) &&
		    (i < system || (text[i] != '\n' && text[i] != '\t')))
			return false;
	}
	*format = (struct format_text){
		.system = text,
		.text = text + system + 1,
		.len = len - system - 1,
	};
	return format->len;
}

/* Copy the line at @pos, which moves on. Return: false if there is none. */
static bool format_next_line(const struct format_text *format, size_t *pos,
			     char line[FORMAT_LINE_LEN])
{
	const char *begin = format->text + *pos;
	size_t left = format->len - *pos, len;
	const char *end;

	if (!left)
		return false;
	end = memchr(begin, '\n', left);
	len = end ? end - begin : left;
	*pos += end ? len + 1 : len;
	len = min(len, FORMAT_LINE_LEN - 1);
	memcpy(line, begin, len);
	line[len] = '\0';
	return true;
}

/**
 * format_name() - get the name of the event
 * @format: the format
 * @name:   destination; empty if there is none
 *
 * Context: Any context.
 */
void format_name(const struct format_text *format, char name[FORMAT_NAME_LEN])
{
	char line[FORMAT_LINE_LEN];
	size_t pos = 0;

	*name = '\0';
	if (format_next_line(format, &pos, line) && strstarts(line, "name: "))
		strscpy(name, line + strlen("name: "), FORMAT_NAME_LEN);
}

/* "TYPE NAME" or "TYPE NAME[N]", which is of type "TYPE[N]" */
static bool format_parse_declaration(char *text, struct format_field *field)
{
	char *name = strrchr(text, ' '), *array;

	if (!name || name == text)
		return false;
	*name++ = '\0';
	array = strchrnul(name, '[');
	if (array == name || array - name >= FORMAT_NAME_LEN)
		return false;
	if (snprintf(field->type, FORMAT_TYPE_LEN, "%s%s", text, array) >= FORMAT_TYPE_LEN)
		return false;
	strscpy(field->name, name, array - name + 1);
	return true;
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;" */
static bool format_parse_field(char *line, struct format_field *field)
{
	static const char prefix[] = "\tfield:";
	unsigned int is_signed;
	char *rest;

	if (!strstarts(line, prefix))
		return false;
	line += strlen(prefix);
	rest = strchr(line, ';');
	if (!rest)
		return false;
	*rest++ = '\0';
	if (sscanf(rest, "\toffset:%u;\tsize:%u;\tsigned:%u;", &field->offset, &field->size,
		   &is_signed) != 3)
		return false;
	field->is_signed = is_signed;
	return format_parse_declaration(line, field);
}

/**
 * format_next_field() - walk the fields of an event, but for those that all events have
 * @format: the format
 * @pos:    where to go on; 0 for the first field; moves on
 * @field:  is set to the field
 *
 * Nothing is known of the numbers in @field.
 *
 * Context: Any context.
 * Return: false behind the last one.
 */
bool format_next_field(const struct format_text *format, size_t *pos, struct format_field *field)
{
	char line[FORMAT_LINE_LEN];

	while (format_next_line(format, pos, line)) {
		if (format_parse_field(line, field) && !strstarts(field->name, "common_"))
			return true;
	}
	return false;
}
