/* SPDX-License-Identifier: GPL-2.0 */
/*
 * End a test program, and say why.
 */
#ifndef _DIE_H
#define _DIE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (errno: %s)\n", strerror(err));
	exit(1);
}

#endif /* _DIE_H */
