// SPDX-License-Identifier: GPL-2.0
/* The operations that are measured, in the order of the table. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "../shim/shim.h"
#include "bench.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NEEDS(member)	offsetof(struct bench_ops, member)

static struct operation *list;
static int nr, room;
static unsigned long default_bytes;
static const char *wanted;

/* Adds a copy of @what under a name, if the name is wanted */
static void add(const struct operation *what, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void add(const struct operation *what, const char *fmt, ...)
{
	struct operation op = *what;
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
	[CLK_COUNTER] = "counter", [CLK_TSC] = "rdtsc", [CLK_TSC_ORDERED] = "lfence;rdtsc",
};

static const int lens[] = { 8, 16, 32, 64, 128 };

/* ---- writing and reading ------------------------------------------------ */

static const struct operation write_tsc = {
	.unit = "record", .measure = m_write, .needs = NEEDS(write), .clk = CLK_TSC
};

static const struct operation nested = {
	.unit = "record", .measure = m_write_nested, .needs = NEEDS(write_nested), .clk = CLK_TSC
};

static const struct operation copy = {
	.unit = "record", .measure = m_write_copy, .needs = NEEDS(write_copy), .clk = CLK_TSC
};

static const struct operation discard = {
	.unit = "record", .measure = m_discard, .needs = NEEDS(discard), .clk = CLK_TSC
};

static const struct operation full = {
	.unit = "record", .measure = m_write_full, .needs = NEEDS(write), .clk = CLK_TSC
};

static const struct operation consume = {
	.unit = "record", .measure = m_consume, .needs = NEEDS(consume), .clk = CLK_TSC
};

static const struct operation iterate = {
	.unit = "record", .measure = m_iterate, .needs = NEEDS(iterate), .clk = CLK_TSC
};

static const struct operation iterator = {
	.unit = "iterator", .measure = m_iterator, .needs = NEEDS(iterator), .clk = CLK_TSC
};

static const struct operation pages = {
	.unit = "page", .measure = m_pages, .needs = NEEDS(read_pages), .clk = CLK_TSC
};

static void list_writing(void)
{
	struct operation op = write_tsc;
	int i, clk;

	for (clk = 0; clk < NR_CLK; clk++) {
		op.clk = clk;
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			op.len = lens[i];
			add(&op, "write %d %s", lens[i], clock_name[clk]);
		}
	}
	add(&nested, "write nested 32");
	add(&copy, "ring_buffer_write 32");
	add(&discard, "discard 32");
	add(&full, "drop when full 32");
}

static void add_for_lens(struct operation op, const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		op.len = lens[i];
		add(&op, "%s %d", name, lens[i]);
	}
}

static void list_reading(void)
{
	struct operation copies = pages;

	add_for_lens(consume, "consume");
	add_for_lens(iterate, "iterate");
	add(&iterator, "iterator start and finish");
	add(&pages, "read_page swap, a page");
	copies.unit = "1000 bytes";
	copies.arg = 2000;
	add(&copies, "read_page copy 32, 1000 bytes");
	copies.len = 128;
	add(&copies, "read_page copy 128, 1000 bytes");
}

/* ---- two threads -------------------------------------------------------- */

static void list_threads(void)
{
	struct operation writer = { .unit = "record", .measure = m_write_beside,
				    .needs = NEEDS(write), .clk = CLK_TSC, .threads = 1 };
	struct operation reader = { .unit = "record", .measure = m_consume_beside,
				    .needs = NEEDS(consume), .clk = CLK_TSC, .threads = 1 };

	writer.arg = BESIDE_WRITE;
	add(&writer, "write 32, other CPU writes");
	writer.needs = NEEDS(consume);
	writer.arg = BESIDE_CONSUME;
	add(&writer, "write 32, other CPU consumes");
	writer.needs = NEEDS(iterate);
	writer.arg = BESIDE_ITERATE;
	add(&writer, "write 32, other CPU iterates");
	add(&reader, "consume 32, other CPU writes");
}

/* ---- whole buffers ------------------------------------------------------ */

static const struct operation swap = {
	.measure = m_swap, .needs = NEEDS(swap), .clk = CLK_TSC
};

static const struct operation reset = {
	.measure = m_reset, .needs = NEEDS(resize), .clk = CLK_TSC
};

static const struct operation resize = {
	.measure = m_resize, .needs = NEEDS(resize), .clk = CLK_TSC
};

static const struct operation alloc = {
	.measure = m_alloc, .needs = NEEDS(resize), .clk = CLK_TSC
};

static void add_for_cpus(struct operation op, const char *name)
{
	for (op.cpus = 1; op.cpus <= SHIM_MAX_CPUS; op.cpus *= 2)
		add(&op, "%s, %d CPU%s", name, op.cpus, &"s"[op.cpus == 1]);
}

static void list_whole(void)
{
	struct operation swap_full = { .measure = m_swap_full, .needs = NEEDS(swap),
				       .clk = CLK_TSC };
	struct operation cut = { .measure = m_cut, .needs = NEEDS(cut), .clk = CLK_TSC };

	add(&swap, "swap_cpu idle");
	add(&swap_full, "swap_cpu after 200 records");
	add_for_cpus(cut, "cut");
	add(&reset, "reset");
	add(&resize, "resize half and back");
	add(&alloc, "alloc and free");
}

/* Growth with the number of CPUs */
static void list_cpus(void)
{
	struct operation swap_all = { .measure = m_swap_all, .needs = NEEDS(swap),
				      .clk = CLK_TSC };

	add_for_cpus(swap_all, "swap all");
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
		add(&op, "%s, %d KiB", name, kib[i]);
	}
}

/* Growth with the size of a CPU's ring */
static void list_sizes(void)
{
	add_for_sizes(write_tsc, "write 32 rdtsc");
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
	list_writing();
	list_reading();
	list_threads();
	list_whole();
	if (!short_list) {
		list_cpus();
		list_sizes();
	}
	return nr;
}
