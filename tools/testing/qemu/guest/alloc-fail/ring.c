// SPDX-License-Identifier: GPL-2.0
/*
 * Operations in which the ring buffer allocates.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "alloc-fail.h"

/* One system call each; what it needs open is opened before. */
int do_create(void) { return mkdir("../new", 0755) ? -errno : 0; }
static int do_grow(void) { return do_write("32"); }
static int do_order(void) { return do_write("16"); }
static int do_snapshot(void) { return do_write("1"); }

static int do_iterate(void) { return do_open("trace", O_RDONLY); }
static void after_iterate(void) { check_open(fd, "record", RECORDS); }

static int do_read(void)
{
	char page[4096];

	return read(fd, page, sizeof(page)) < 0 ? -errno : 0;
}

static int map_pages(int n)
{
	void *map = mmap(NULL, n * 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, n * 4096);
	return 0;
}

static int do_map(void) { return map_pages(1); }
static int do_map_all(void) { return map_pages(3); }

void undo_create(void)
{
	struct stat st;

	if (stat("../new/per_cpu/cpu0/stats", &st))
		fault("the new instance has no statistics");
	if (rmdir("../new"))
		fault("cannot remove the new instance: %s", strerror(errno));
}

static void undo_grow(void)
{
	is("buffer_size_kb", "32");
	check_records();
	must_put("buffer_size_kb", "16");
}

static void undo_grow_one(void)
{
	is("per_cpu/cpu0/buffer_size_kb", "32");
	if (nr_cpus > 1)
		is("per_cpu/cpu1/buffer_size_kb", "16");
	check_records();
	must_put("per_cpu/cpu0/buffer_size_kb", "16");
}

/* A buffer keeps the memory of a larger size: only a new one allocates it. */
static void undo_order(void)
{
	is("buffer_subbuf_size_kb", "16");
	start();
	fill("record");
}

/* Let another reader hold the page that the last one left for the next. */
static void before_read(void)
{
	char byte;

	unhold();
	must_put("trace", "");
	if (read(hold_open("per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK), &byte, 1) >= 0 ||
	    errno != EAGAIN)
		die("trace_pipe_raw");
	fill("record");
	remember();
}

static void undo_read(void)
{
	fill("record");
}

static void undo_snapshot(void)
{
	must_put("snapshot", "0");
	fill("record");
}

void check_create(void)
{
	struct stat st;

	if (!stat("../new", &st))
		fault("a directory was left behind");
}

static const struct op ops[] = {
	{ "grow", "buffer_size_kb", do_grow, undo_grow },
	{ "grow-one", "per_cpu/cpu0/buffer_size_kb", do_grow, undo_grow_one },
	{ "order", "buffer_subbuf_size_kb", do_order, undo_order },
	{ "map", "per_cpu/cpu0/trace_pipe_raw", do_map },
	{ "map-all", "per_cpu/cpu0/trace_pipe_raw", do_map_all },
	{ "read-page", "per_cpu/cpu0/trace_pipe_raw", do_read, undo_read, .before = before_read },
	{ "iterate", NULL, do_iterate, .after = after_iterate },
	{ "snapshot", "snapshot", do_snapshot, undo_snapshot },
	{ "create", NULL, do_create, undo_create, .check = check_create, .only = &ring_buffer },
};

struct subject ring_buffer = {
	.name = "ring_buffer",
	.ops = ops,
	.nr = sizeof(ops) / sizeof(ops[0]),
};
