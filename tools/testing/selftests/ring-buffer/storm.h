/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the storms share: report faults, open files of tracefs.
 */
#ifndef _STORM_H
#define _STORM_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writers are other processes. */
#define load(p)		__atomic_load_n(p, __ATOMIC_SEQ_CST)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_SEQ_CST)

#define MAX_CHECKS	8

/* The part that runs, its checks, and how often each has failed */
static const char *part;
static const char *const *check_names;
static unsigned long faults[MAX_CHECKS];

/* The mistake that the test makes */
static const char *broken = "";

static bool is_broken(const char *how)
{
	return !strcmp(broken, how);
}

static void die(const char *fmt, ...)
{
	va_list ap;

	printf("%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", strerror(errno));
	exit(1);
}

static void fault(int check, const char *fmt, ...)
{
	va_list ap;

	if (faults[check]++ > 9)
		return;
	printf("# %s.%s: ", part, check_names[check]);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static int open_file(int flags, const char *fmt, ...)
{
	char name[128];
	va_list ap;
	int fd;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	fd = open(name, flags);
	if (fd < 0)
		die("%s", name);
	return fd;
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %d", cpu);
}

#endif /* _STORM_H */
