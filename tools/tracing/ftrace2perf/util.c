// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, memory and files.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrace2perf.h"

/* It may have names from a file: they must not control the terminal. */
static void message(const char *fmt, va_list args)
{
	char *s, *c;

	if (vasprintf(&s, fmt, args) < 0)
		return;
	for (c = s; *c; c++) {
		if (iscntrl((unsigned char)*c))
			*c = '?';
	}
	fprintf(stderr, "ftrace2perf: %s\n", s);
	free(s);
}

/**
 * warn() - print a message
 * @fmt: as of printf()
 */
void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	message(fmt, args);
	va_end(args);
}

/**
 * die() - print a message and end
 * @fmt: as of printf()
 */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	message(fmt, args);
	va_end(args);
	exit(1);
}

/**
 * resize() - change the size of an array
 * @old:  the array, or NULL
 * @nr:   number of elements from now on
 * @size: of an element, in bytes
 *
 * Return: the array. Without memory, the program ends.
 */
void *resize(void *old, size_t nr, size_t size)
{
	void *p = reallocarray(old, nr ? nr : 1, size);

	if (!p)
		die("Not enough memory for %zu bytes", nr * size);
	return p;
}

/**
 * grow() - make room for one more element
 * @old:  the array, or NULL
 * @nr:   number of elements that it has; it only grows, by this function
 * @size: of an element, in bytes
 *
 * The room doubles, so that an array of many is not copied for each one.
 *
 * Return: the array. Without memory, the program ends.
 */
void *grow(void *old, size_t nr, size_t size)
{
	return nr & (nr - 1) ? old : resize(old, nr ? nr * 2 : 1, size);
}

/**
 * zalloc() - allocate memory that is 0
 * @size: in bytes
 *
 * Return: the memory. Without memory, the program ends.
 */
void *zalloc(size_t size)
{
	return memset(resize(NULL, size, 1), 0, size);
}

/**
 * text() - format a string
 * @fmt: as of printf()
 *
 * Return: the string, allocated.
 */
char *text(const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		die("Not enough memory");
	va_end(args);
	return s;
}

/**
 * read_file() - read a file that is not a regular one, to its end
 * @path: its path
 * @blob: its content is stored here, with a 0 behind it; nothing on failure
 *
 * Return: whether it can be read; otherwise errno has the reason.
 */
bool read_file(const char *path, struct blob *blob)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room = 0, size = 0;
	char *data = NULL;
	ssize_t n;

	if (fd < 0)
		return false;
	do {
		if (room - size < 4096) {
			room = room ? room * 2 : 8192;
			data = resize(data, room, 1);
		}
		n = read(fd, data + size, room - size - 1);
		if (n > 0)
			size += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	close(fd);
	if (n < 0) {
		free(data);
		return false;
	}
	blob->data = resize(data, size + 1, 1);
	blob->data[size] = 0;
	blob->size = size;
	return true;
}
