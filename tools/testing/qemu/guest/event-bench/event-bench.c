// SPDX-License-Identifier: GPL-2.0
/*
 * event-bench syscall | marker | call N - do it N times, and print how many ns each took
 *
 * syscall is getppid(), marker writes 32 bytes to trace_marker, and call calls the function
 * event_bench_call(), where a uprobe may be.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void event_bench_call(unsigned long value)
{
	asm volatile("" : : "r" (value) : "memory");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* A profile of its instructions begins and ends at this function. */
__attribute__((noinline)) void event_bench_loop(char kind, int marker, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		if (kind == 'm')
			(void)!write(marker, "a marker with thirty-two bytes.\n", 32);
		else if (kind == 's')
			syscall(SYS_getppid);
		else
			event_bench_call(i);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	int marker = -1;
	double start;

	if (!strcmp(kind, "marker")) {
		marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
		if (marker < 0) {
			perror("trace_marker");
			return 1;
		}
	} else if (strcmp(kind, "syscall") && strcmp(kind, "call")) {
		fprintf(stderr, "usage: event-bench syscall | marker | call N\n");
		return 2;
	}
	start = now();
	event_bench_loop(*kind, marker, n);
	printf("%.1f\n", (now() - start) / n);
	return 0;
}
