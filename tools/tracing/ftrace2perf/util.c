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
#include <sys/stat.h>
#include <unistd.h>

#include "ftrace2perf.h"

/* The file that is written. An error unlinks it. */
static const char *unfinished;

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
 * die() - print a message and end, without the file that create_file() has created
 * @fmt: as of printf()
 */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	message(fmt, args);
	va_end(args);
	if (unfinished)
		unlink(unfinished);
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
 * read_file() - read a file to its end, each byte once
 * @path: its path
 * @blob: its content is stored here, with a 0 behind it; nothing on failure
 *
 * The owner of the file can change it at any time, but not the copy. If its size changes meanwhile,
 * the program ends.
 *
 * Return: whether it can be read; otherwise errno has the reason.
 */
bool read_file(const char *path, struct blob *blob)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room, size = 0;
	uint64_t expected;
	struct stat st;
	char *data;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return false;
	/* 0 is the size of a pipe, and of a file of tracefs. */
	expected = st.st_size;
	room = expected + 8192;
	data = resize(NULL, room, 1);
	do {
		if (room - size < 4096) {
			room *= 2;
			data = resize(data, room, 1);
		}
		n = read(fd, data + size, room - size - 1);
		if (n > 0)
			size += n;
	} while ((n > 0 && (!expected || size <= expected)) || (n < 0 && errno == EINTR));
	close(fd);
	if (n < 0) {
		free(data);
		return false;
	}
	if (expected && size != expected)
		die("%s: Its size changes, expected a file that no program writes", path);
	blob->data = resize(data, size + 1, 1);
	blob->data[size] = 0;
	blob->size = size;
	return true;
}

/* A program that has an old file open does not see the new one. */
static int open_new(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		return -1;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/**
 * create_file() - create a file that only its owner can read
 * @path: its path, valid up to close_file(); an old file is replaced
 *
 * A pipe or a character device is opened as it is, also through a symbolic link: /dev/stdout is
 * one. A link to a file is refused, as anyone can create one in /tmp.
 *
 * Return: the file. An error ends the program.
 */
FILE *create_file(const char *path)
{
	struct stat st;
	bool special = !lstat(path, &st) && !S_ISREG(st.st_mode);
	int fd = special ? open(path, O_WRONLY | O_CLOEXEC) : open_new(path);
	FILE *out = fd < 0 || fstat(fd, &st) ? NULL : fdopen(fd, "w");

	if (!out)
		die("%s: %s", path, strerror(errno));
	if (!special)
		unfinished = path;
	else if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		die("%s is a link or a block device, expected a file, a pipe or a character device",
		    path);
	return out;
}

/**
 * close_file() - close a file that create_file() has created
 * @out:  the file
 * @path: its path
 *
 * An error ends the program, also one of a write before.
 */
void close_file(FILE *out, const char *path)
{
	bool failed = ferror(out);

	if (fclose(out) || failed)
		die("%s: Cannot be written: %s", path, strerror(errno));
	unfinished = NULL;
}
