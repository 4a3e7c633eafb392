/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the storms share: report faults, open files of tracefs, start a writer on each
 * CPU.
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
#include <unistd.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Writers are other processes. */
#define load(p)		__atomic_load_n(p, __ATOMIC_SEQ_CST)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_SEQ_CST)

#define MAX_CHECKS	8
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The part that runs, its checks, and how often each has failed */
static const char *part;
static const char *const *check_names;
static unsigned long faults[MAX_CHECKS];

/* The mistake that the test makes */
static const char *broken = "";

/* Each mistake, and the part that makes it */
struct way {
	const char	*how, *part;
};

static int nr_cpus;
static pid_t *writers;	/* of each CPU */

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

/* Zeros, with flags of mmap() */
static void *map(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void fork_writers(void (*write_records)(int cpu))
{
	int cpu;

	fflush(stdout);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		writers[cpu] = fork();
		if (writers[cpu] < 0)
			die("fork");
		if (!writers[cpu]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			on_cpu(cpu);
			write_records(cpu);
			_exit(0);
		}
	}
}

/* They have been told to end. */
static void join_writers(int check)
{
	int cpu, status;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (waitpid(writers[cpu], &status, 0) != writers[cpu] || status)
			fault(check, "the writer of CPU %d failed", cpu);
	}
}

static void print_checks(int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		printf("%s.%s %s\n", part, check_names[i], faults[i] ? "FAIL" : "PASS");
	fflush(stdout);
}

/* Set @nr and @broken by the options. Return: the part that is broken, or NULL. */
static const char *begin_storm(int argc, char **argv, unsigned long *nr, int max_cpus,
			       const struct way *ways, size_t nr_ways)
{
	const char *only = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "n:b:")) != -1) {
		if (opt == 'n')
			*nr = strtoul(optarg, NULL, 10);
		else if (opt == 'b')
			broken = optarg;
		else
			exit(2);
	}
	for (; nr_ways; ways++, nr_ways--) {
		if (is_broken(ways->how))
			only = ways->part;
	}
	if (optind + 1 != argc || *nr < 1 || (*broken && !only))
		exit(2);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > max_cpus)
		nr_cpus = max_cpus;
	writers = calloc(nr_cpus, sizeof(*writers));
	return only;
}

#endif /* _STORM_H */
