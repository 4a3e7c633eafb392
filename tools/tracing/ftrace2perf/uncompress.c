// SPDX-License-Identifier: GPL-2.0
/*
 * The compressions of a trace.dat, as far as their libraries were there at build time.
 */
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "ftrace2perf.h"

/**
 * uncompress_check() - can a compression be read?
 * @name: of the trace, for the message
 * @how:  name of the compression
 *
 * If it cannot, the program ends.
 */
void uncompress_check(const char *name, const char *how)
{
#ifdef HAVE_ZSTD
	if (!strcmp(how, "zstd"))
		return;
#endif
#ifdef HAVE_ZLIB
	if (!strcmp(how, "zlib"))
		return;
#endif
	if (strcmp(how, "none"))
		die("%s is compressed by %s, not built in; trace-cmd convert --compression none",
		    name, how);
}

/**
 * uncompress_bytes() - uncompress bytes
 * @how:  name of the compression
 * @to:   where to
 * @room: number of bytes that must come out
 * @from: the compressed bytes
 * @size: number of them
 *
 * Return: whether it worked.
 */
bool uncompress_bytes(const char *how, void *to, size_t room, const void *from, size_t size)
{
#ifdef HAVE_ZSTD
	if (!strcmp(how, "zstd"))
		return ZSTD_decompress(to, room, from, size) == room;
#endif
#ifdef HAVE_ZLIB
	if (!strcmp(how, "zlib")) {
		unsigned long n = room;

		return uncompress(to, &n, from, size) == Z_OK && n == room;
	}
#endif
	return false;
}
