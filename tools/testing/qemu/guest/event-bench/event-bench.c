// SPDX-License-Identifier: GPL-2.0
/*
 * event-bench syscall | marker | call | trace | pipe N - do it N times, and print the ns of each
 *
 * syscall is getppid(), marker writes 32 bytes to trace_marker, and call calls the function
 * event_bench_call(), where a uprobe may be. trace and pipe read 4096 bytes of trace and
 * trace_pipe, and print the ns of each line.
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

static char text[1 << 20];
static size_t text_len;

/* A profile of its instructions begins and ends at this function. */
__attribute__((noinline)) void event_bench_loop(char kind, int file, unsigned long n)
{
	unsigned long i;
	ssize_t len;

	for (i = 0; i < n; i++) {
		switch (kind) {
		case 'm':
			(void)!write(file, "a marker with thirty-two bytes.\n", 32);
			break;
		case 's':
			syscall(SYS_getppid);
			break;
		case 'c':
			event_bench_call(i);
			break;
		default:
			len = read(file, text + text_len, 4096);
			if (len > 0 && text_len + len <= sizeof(text) - 4096)
				text_len += len;
		}
	}
}

static const struct {
	const char	*kind;
	const char	*path;
	int		flags;
} files[] = {
	{ "marker", "/sys/kernel/tracing/trace_marker", O_WRONLY },
	{ "trace", "/sys/kernel/tracing/trace", O_RDONLY },
	{ "pipe", "/sys/kernel/tracing/trace_pipe", O_RDONLY | O_NONBLOCK },
};

static unsigned long lines(void)
{
	unsigned long count = 0;
	char *at = text;

	while ((at = memchr(at, '\n', text + text_len - at))) {
		count++;
		at++;
	}
	return count;
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	int file = -1;
	size_t i;
	double start;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (strcmp(kind, files[i].kind))
			continue;
		file = open(files[i].path, files[i].flags);
		if (file < 0) {
			perror(files[i].path);
			return 1;
		}
	}
	if (file < 0 && strcmp(kind, "syscall") && strcmp(kind, "call")) {
		fprintf(stderr, "usage: event-bench syscall | marker | call | trace | pipe N\n");
		return 2;
	}
	/* The pages are there. */
	for (i = 0; i < sizeof(text); i += 4096)
		text[i] = 1;
	start = now();
	event_bench_loop(*kind, file, n);
	start = now() - start;
	printf("%.1f\n", start / (text_len ? lines() : n));
	return 0;
}
