// SPDX-License-Identifier: GPL-2.0
/* The operations that are measured, in the order of the table. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "../shim/shim.h"
#include "bench.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
/* m_WHAT(), of a ring buffer that has the member */
#define DOES(what, member)	.measure = m_##what, .needs = offsetof(struct bench_ops, member)
#define OPERATION(what, member, ...)	((struct operation) { DOES(what, member), ##__VA_ARGS__ })
#define RECORD		.unit = "record"

static struct operation *list;
static int nr, room;
static unsigned long default_bytes;
static const char *wanted;

/* Adds an operation under a name, if the name is wanted */
static void add(struct operation op, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct operation op, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(op.name, sizeof(op.name), fmt, ap);
	va_end(ap);
	if (wanted && !strstr(op.name, wanted))
		return;
	if (nr == room)
		host_die("too many operations");
	if (!op.unit)
		op.unit = "operation";
	if (!op.len)
		op.len = 32;
	if (!op.bytes)
		op.bytes = default_bytes;
	if (!op.cpus)
		op.cpus = 2;
	list[nr++] = op;
}

static const char * const clock_name[] = {
	[CLK_TSC] = "rdtsc", [CLK_TSC_ORDERED] = "lfence;rdtsc", [CLK_COUNTER] = "counter",
};

static const int lens[] = { 8, 16, 32, 64, 128 };

/* Those of which there are several */
static const struct operation
	write	 = { DOES(write, write), RECORD },
	consume	 = { DOES(consume, consume), RECORD },
	iterate	 = { DOES(iterate, iterate), RECORD },
	iterator = { DOES(iterator, iterator), .unit = "iterator" },
	swap	 = { DOES(swap, swap) },
	reset	 = { DOES(reset, resize) },
	resize	 = { DOES(resize, resize) },
	alloc	 = { DOES(alloc, resize) };

/* @name: with the length, and perhaps the clock behind it */
static void add_for_lens(struct operation op, const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		op.len = lens[i];
		add(op, name, lens[i], clock_name[op.clk]);
	}
}

static void list_records(void)
{
	struct operation op = write;

	for (op.clk = 0; op.clk < NR_CLK; op.clk++)
		add_for_lens(op, "write %d %s");
	add(OPERATION(write, write_nested, RECORD), "write nested 32");
	add(OPERATION(write, write_copy, RECORD), "ring_buffer_write 32");
	add(OPERATION(write, discard, RECORD), "discard 32");
	add(OPERATION(write_full, write, RECORD), "drop when full 32");

	add_for_lens(consume, "consume %d");
	add_for_lens(iterate, "iterate %d");
	add(iterator, "iterator start and finish");
	add(OPERATION(pages, read_pages, .unit = "page"), "read_page swap, a page");
	op = OPERATION(pages, read_pages, .unit = "1000 bytes", .arg = 2000);
	add(op, "read_page copy 32, 1000 bytes");
	op.len = 128;
	add(op, "read_page copy 128, 1000 bytes");
}

#define BESIDE(what, member, how)	OPERATION(what##_beside, member, RECORD, \
						  .arg = BESIDE_##how, .threads = 1)

static void list_threads(void)
{
	add(BESIDE(write, write, WRITE), "write 32, other CPU writes");
	add(BESIDE(write, consume, CONSUME), "write 32, other CPU consumes");
	add(BESIDE(write, iterate, ITERATE), "write 32, other CPU iterates");
	add(BESIDE(consume, consume, WRITE), "consume 32, other CPU writes");
}

static void add_for_cpus(struct operation op, const char *name)
{
	for (op.cpus = 1; op.cpus <= SHIM_MAX_CPUS; op.cpus *= 2)
		add(op, "%s, %d CPU%s", name, op.cpus, &"s"[op.cpus == 1]);
}

static void list_buffers(void)
{
	add(swap, "swap_cpu idle");
	add(OPERATION(swap_full, swap), "swap_cpu after 200 records");
	add_for_cpus(OPERATION(cut, cut), "cut");
	add(reset, "reset");
	add(resize, "resize half and back");
	add(alloc, "alloc and free");
}

/* Growth with the number of CPUs */
static void list_cpus(void)
{
	add_for_cpus(OPERATION(swap_all, swap), "swap all");
	add_for_cpus(reset, "reset");
	add_for_cpus(resize, "resize half and back");
	add_for_cpus(alloc, "alloc and free");
}

static void add_for_sizes(struct operation op, const char *name)
{
	static const int kib[] = { 64, 512, 8192 };
	int i;

	for (i = 0; i < ARRAY_SIZE(kib); i++) {
		op.bytes = kib[i] * 1024UL;
		add(op, "%s, %d KiB", name, kib[i]);
	}
}

/* Growth with the size of a CPU's ring */
static void list_sizes(void)
{
	add_for_sizes(write, "write 32 rdtsc");
	add_for_sizes(consume, "consume 32");
	add_for_sizes(iterator, "iterator start and finish");
	add_for_sizes(swap, "swap_cpu idle");
	add_for_sizes(reset, "reset");
	add_for_sizes(resize, "resize half and back");
	add_for_sizes(alloc, "alloc and free");
}

int list_operations(struct operation *ops, int max, unsigned long bytes, const char *name,
		    int short_list)
{
	list = ops;
	nr = 0;
	room = max;
	default_bytes = bytes;
	wanted = name;
	list_records();
	list_threads();
	list_buffers();
	if (!short_list) {
		list_cpus();
		list_sizes();
	}
	return nr;
}
