// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes that may come from anyone: a trace.dat, or sub-buffers.
 *
 * Only this file sees the bytes. Others have a struct cursor, and each of its functions compares
 * the size that it is asked for with the bytes that are left. If they are too few, the
 * program ends with a message that says where, and what was expected there.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

/* The most bytes of a name, with the 0 at its end. */
#define NAME_BYTES	256

/**
 * struct bytes - where cursors go
 * @name: of the trace, for messages
 * @part: which part of the trace, or NULL
 * @data: the bytes
 * @size: number of bytes
 */
struct bytes {
	const char		*name;
	const char		*part;
	const unsigned char	*data;
	size_t			size;
};

/**
 * cursor_new() - begin with some bytes
 * @name: of the trace, for messages
 * @part: which part of the trace this is, for messages; NULL for all of it
 * @data: the bytes, which stay where they are
 * @size: number of bytes
 *
 * Return: a cursor at the first byte. Its numbers have the byte order of this machine.
 */
struct cursor cursor_new(const char *name, const char *part, const void *data, size_t size)
{
	struct bytes *bytes = zalloc(sizeof(*bytes));

	*bytes = (struct bytes){ .name = name, .part = part, .data = data, .size = size };
	return (struct cursor){ .of = bytes, .end = size, .big = BIG_HERE };
}

/**
 * cursor_more() - begin with more bytes of a trace
 * @like: a cursor of the same trace; its bytes are not empty
 * @part: which part of the trace this is, for messages
 * @data: the bytes, which stay where they are
 * @size: number of bytes
 *
 * Return: a cursor at the first byte. Its numbers have the byte order of @like.
 */
struct cursor cursor_more(const struct cursor *like, const char *part, const void *data,
			  size_t size)
{
	struct cursor cursor = cursor_new(like->of->name, part, data, size);

	cursor.big = like->big;
	return cursor;
}

/**
 * cursor_fail() - end the program, as bytes are not what they should be
 * @cursor: where; its bytes are not empty
 * @fmt:    text of the fault, as of printf()
 */
void cursor_fail(const struct cursor *cursor, const char *fmt, ...)
{
	const struct bytes *of = cursor->of;
	va_list args;
	char *what;

	va_start(args, fmt);
	if (vasprintf(&what, fmt, args) < 0)
		what = NULL;
	va_end(args);
	die("%s: The file is damaged or cut short: byte %zu%s%s: %s", of ? of->name : "?",
	    cursor->at, of && of->part ? " of " : "", of && of->part ? of->part : "", what ?: "?");
}

/**
 * cursor_left() - the number of bytes up to the end
 * @cursor: from here
 *
 * Return: the number.
 */
size_t cursor_left(const struct cursor *cursor)
{
	return cursor->end - cursor->at;
}

/* The next @size bytes: all of them are there. */
static const unsigned char *take(struct cursor *cursor, uint64_t size, const char *what)
{
	size_t at = cursor->at, end = cursor->end;

	if (at > end || end > (cursor->of ? cursor->of->size : 0) || size > end - at)
		cursor_fail(cursor, "%s: %llu bytes expected, %zu left", what,
			    (unsigned long long)size, end - at);
	cursor->at = at + size;
	return cursor->of ? cursor->of->data + at : NULL;
}

/**
 * cursor_part() - take the next bytes
 * @cursor: from here; it goes on behind them
 * @size:   number of bytes
 * @what:   their name, for messages
 *
 * Return: a cursor that ends behind them.
 */
struct cursor cursor_part(struct cursor *cursor, uint64_t size, const char *what)
{
	struct cursor part = *cursor;

	take(cursor, size, what);
	part.end = cursor->at;
	return part;
}

/**
 * cursor_skip() - leave out the next bytes
 * @cursor: goes on behind them
 * @size:   number of bytes
 * @what:   their name, for messages
 */
void cursor_skip(struct cursor *cursor, uint64_t size, const char *what)
{
	take(cursor, size, what);
}

/**
 * cursor_get() - copy the next bytes
 * @cursor: goes on behind them
 * @to:     where to
 * @size:   number of bytes
 * @what:   their name, for messages
 */
void cursor_get(struct cursor *cursor, void *to, size_t size, const char *what)
{
	const unsigned char *from = take(cursor, size, what);

	if (size)
		memcpy(to, from, size);
}

/**
 * cursor_number() - read a number, in the byte order of the cursor
 * @cursor: goes on behind it
 * @size:   number of its bytes, up to 8
 * @what:   its name, for messages
 *
 * Return: the number.
 */
uint64_t cursor_number(struct cursor *cursor, size_t size, const char *what)
{
	const unsigned char *from;
	uint64_t n = 0;
	size_t i;

	if (size > sizeof(n))
		cursor_fail(cursor, "%s: a number of %zu bytes", what, size);
	from = take(cursor, size, what);
	for (i = 0; i < size; i++)
		n = n << 8 | from[cursor->big ? i : size - 1 - i];
	return n;
}

/**
 * cursor_name() - read a name, which a 0 ends
 * @cursor: goes on behind the 0
 * @what:   its name, for messages
 *
 * Return: the name, allocated. If it is too long for a name, the program ends.
 */
char *cursor_name(struct cursor *cursor, const char *what)
{
	struct cursor from = *cursor;
	size_t n = 0, max = cursor_left(cursor);

	while (n < max && n < NAME_BYTES && cursor_number(cursor, 1, what))
		n++;
	if (n == max || n == NAME_BYTES)
		cursor_fail(&from, "%s: no end within %zu bytes", what, n);
	return text("%s", (const char *)take(&from, n + 1, what));
}

/**
 * cursor_line() - read a line of text
 * @cursor: goes on behind the line
 * @line:   the line is stored here, without its end; it is cut if there is no room
 * @size:   number of bytes of @line
 *
 * Return: false if there is none.
 */
bool cursor_line(struct cursor *cursor, char *line, size_t size)
{
	struct cursor part = *cursor;
	size_t left = cursor_left(cursor), n;
	const unsigned char *from = take(&part, left, "text"), *end;

	if (!left)
		return false;
	end = memchr(from, '\n', left);
	n = end ? (size_t)(end - from) : left;
	cursor_skip(cursor, end ? n + 1 : n, "line");
	if (n > size - 1)
		n = size - 1;
	memcpy(line, from, n);
	line[n] = 0;
	return true;
}

/**
 * cursor_write() - write the bytes up to the end
 * @cursor: from here
 * @out:    where to; an error is noticed when it is closed
 */
void cursor_write(struct cursor cursor, FILE *out)
{
	size_t left = cursor_left(&cursor);
	const unsigned char *from = take(&cursor, left, "output");

	if (left)
		fwrite(from, 1, left, out);
}

/**
 * cursor_uncompress() - uncompress the bytes up to the end
 * @cursor: from here
 * @how:    name of the compression
 * @to:     where to
 * @room:   number of bytes that must come out
 */
void cursor_uncompress(struct cursor cursor, const char *how, void *to, size_t room)
{
	struct cursor from = cursor;
	size_t left = cursor_left(&cursor);

	if (!uncompress_bytes(how, to, room, take(&cursor, left, "compressed bytes"), left))
		cursor_fail(&from, "%zu bytes do not uncompress to %zu by %s", left, room, how);
}
