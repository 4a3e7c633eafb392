// SPDX-License-Identifier: GPL-2.0
/*
 * event-bench KIND N - do it N times, and print the ns of each
 *
 * The working directory is that of an instance in tracefs.
 *
 *   syscall	getppid()
 *   marker	write 32 bytes to trace_marker
 *   call	call the function event_bench_call(), where a uprobe may be
 *   open	open and close trace
 *   trace	read 4096 bytes of trace, for each line; so does pipe, of trace_pipe
 *   raw	read a page of trace_pipe_raw of CPU 0
 *   splice	move such a page into a pipe, and that to /dev/null
 *   perf	the event bench_small into a ring of perf_events, which overwrites
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUN	"/sys/module/event_bench/parameters/run"

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

static const char *path;
static char text[1 << 20];
static size_t text_len;
static int file = -1, pipe_fd[2], null;

static void do_syscall(unsigned long i)
{
	syscall(SYS_getppid);
}

static void do_marker(unsigned long i)
{
	(void)!write(file, "a marker with thirty-two bytes.\n", 32);
}

static void do_open(unsigned long i)
{
	close(open(path, O_RDONLY));
}

static void do_text(unsigned long i)
{
	ssize_t len = read(file, text + text_len, 4096);

	if (len > 0 && text_len + len <= sizeof(text) - 4096)
		text_len += len;
}

static void do_raw(unsigned long i)
{
	if (read(file, text, 4096) != 4096)
		abort();
}

static void do_splice(unsigned long i)
{
	if (splice(file, NULL, pipe_fd[1], NULL, 4096, SPLICE_F_NONBLOCK) != 4096 ||
	    splice(pipe_fd[0], NULL, null, NULL, 4096, SPLICE_F_NONBLOCK) != 4096)
		abort();
}

/* A profile of its instructions goes from pass to pass of this function. */
__attribute__((noinline)) void event_bench_loop(void (*once)(unsigned long i), unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		once(i);
}

static const struct bench_kind {
	const char	*name;
	void		(*once)(unsigned long i);
	const char	*path;
	int		flags;
} kinds[] = {
	{ "syscall", do_syscall },
	{ "marker", do_marker, "trace_marker", O_WRONLY },
	{ "call", event_bench_call },
	{ "open", do_open, "trace" },
	{ "trace", do_text, "trace", O_RDONLY },
	{ "pipe", do_text, "trace_pipe", O_RDONLY | O_NONBLOCK },
	{ "raw", do_raw, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK },
	{ "splice", do_splice, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK },
	/* The module does this one. */
	{ "perf", NULL, RUN, O_RDWR },
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

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Have events in a ring, with what perf record asks for. */
static void perf_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW,
		.watermark = 1,
		.wakeup_watermark = 1 << 17,
		.write_backward = 1,
	};
	FILE *id = fopen("events/event_bench/bench_small/id", "r");
	unsigned long config;
	int fd;

	if (!id || fscanf(id, "%lu", &config) != 1)
		die("bench_small/id");
	attr.config = config;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (fd < 0 || mmap(NULL, 65 * 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		die("perf_event_open");
}

/* Return: the nanoseconds of all. */
static double perf_run(unsigned long n)
{
	char line[32];

	perf_open();
	(void)!write(file, line, sprintf(line, "small %lu", n));
	if (pread(file, line, sizeof(line), 0) < 1)
		die(RUN);
	return strtod(line, NULL);
}

static double run(const struct bench_kind *kind, unsigned long n)
{
	double start;
	size_t i;

	path = kind->path;
	if (path && kind->once != do_open) {
		file = open(path, kind->flags);
		if (file < 0)
			die(path);
	}
	null = open("/dev/null", O_WRONLY);
	if (pipe(pipe_fd) || null < 0)
		die("pipe");
	if (!kind->once)
		return perf_run(n);
	/* The pages are there. */
	for (i = 0; i < sizeof(text); i += 4096)
		text[i] = 1;
	start = now();
	event_bench_loop(kind->once, n);
	return now() - start;
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	double ns;
	size_t i;

	for (i = 0; n && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		ns = run(&kinds[i], n);
		printf("%.1f\n", ns / (text_len ? lines() : n));
		return 0;
	}
	fprintf(stderr, "usage: event-bench KIND N\n");
	return 2;
}
