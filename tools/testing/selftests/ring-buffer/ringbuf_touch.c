// SPDX-License-Identifier: GPL-2.0
/*
 * ringbuf_touch MARKER CPU PAGES [STOP [DEPTH]]
 *
 * On CPU, touch PAGES pages that nobody has touched. Each one is a page fault. After each, write
 * "touch=ADDRESS" to the file MARKER, which is a trace_marker. Between the fault of page STOP,
 * from 1, and its marker, stop until SIGCONT. Touch below DEPTH functions that call each other.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

/* Its own page faults come before the first one that counts. */
static void mark(int fd, const void *page)
{
	char text[64];
	int len;

	len = snprintf(text, sizeof(text), "touch=%p", page);
	if (write(fd, text, len) != len)
		err(1, "write");
}

/* The kernel finds the callers by frame pointers. */
__attribute__((noinline, optimize("no-omit-frame-pointer")))
static void touch(char *page, long depth)
{
	if (depth)
		touch(page, depth - 1);
	else
		*page = 1;
	/* The call is not the last thing, so that it is no jump. */
	asm volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	long i, pages, stop, depth, size = sysconf(_SC_PAGESIZE);
	cpu_set_t cpus;
	char *area;
	int fd;

	if (argc < 4)
		errx(2, "usage: ringbuf_touch MARKER CPU PAGES [STOP [DEPTH]]");
	pages = atol(argv[3]);
	stop = argc > 4 ? atol(argv[4]) : 0;
	depth = argc > 5 ? atol(argv[5]) : 0;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[2]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
	fd = open(argv[1], O_WRONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	area = mmap(NULL, (pages + 1) * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (area == MAP_FAILED)
		err(1, "mmap");
	/* Without it one fault would map many pages. Kernels without huge pages refuse it. */
	madvise(area, (pages + 1) * size, MADV_NOHUGEPAGE);

	for (i = 0; i <= pages; i++) {
		touch(area + i * size, depth);
		if (i && i == stop)
			raise(SIGSTOP);
		mark(fd, area + i * size);
	}
	return 0;
}
