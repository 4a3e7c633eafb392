// SPDX-License-Identifier: GPL-2.0
/*
 * Measures ring buffers in one process, in turns of a few milliseconds of the
 * thread's own CPU time, so that other load on the machine affects all of them.
 * Prints medians, and the median of the ratio B/A of each turn with its quartiles.
 *   rb-bench [-r rounds] [-s bytes] [-t name] [-q] [-a | -b] [-n] [-p] [-J | -j file]
 *   -q  no other sizes and numbers of CPUs
 *   -n  A once more, with buffers of its own: the noise
 *   -p  the floor, and other ring buffers
 *   -l  the names of the ring buffers that were built in
 *   -c  under callgrind: one turn, counted, a profile for each operation and buffer
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../shim/shim.h"
#include "bench.h"
#include "count.h"
#include "report.h"

extern const struct bench_ops bench_ops_A, bench_ops_B;

static struct column column[NR_IMPL] = {
	[IMPL_A]	= { "A", &bench_ops_A },
	[IMPL_B]	= { "B", &bench_ops_B },
	[IMPL_A2]	= { "A/A" },
	[IMPL_FLOOR]	= { "floor" },
	[IMPL_PEER]	= { "minimal" },
			  { "lttng" },
			  { "perf" },
			  { "bpf" },
};

static int rounds = 41, wrong;

static void use_peers(void)
{
	column[IMPL_FLOOR].ops = &bench_ops_floor;
	column[IMPL_PEER].ops = &bench_ops_minimal;
	column[IMPL_PEER + 1].ops = &bench_ops_lttng;
	column[IMPL_PEER + 2].ops = &bench_ops_perf;
	column[IMPL_PEER + 3].ops = &bench_ops_bpf;
}

static int offers(enum bench_impl i, const struct operation *o)
{
	/* a clock without order between CPUs cannot be shared */
	if (o->threads && (column[i].ops == &bench_ops_floor ||
			   column[i].ops == &bench_ops_minimal))
		return 0;
	return column[i].ops && operation_of(column[i].ops, o);
}

/* Once for each line of the table */
static void complain(enum bench_impl i, const struct operation *o, unsigned long times)
{
	static const struct operation *last[NR_IMPL];

	wrong = 1;
	if (last[i] == o)
		return;
	last[i] = o;
	fprintf(stderr, "! %s: %s did not do %lu of the operations: do not believe the figure\n",
		o->name, column[i].name, times);
}

/* ns of one, or the number of units when it counts; 0: it has no such thing */
static double one_turn(enum bench_impl i, const struct operation *o)
{
	struct turn t = { .op = o, .ops = column[i].ops, .impl = i };

	if (!offers(i, o))
		return 0;
	measure_turn(&t);
	if (t.wrong || (!t.units && i < IMPL_FLOOR))
		complain(i, o, t.wrong);
	if (measure_counts)
		return t.units;
	return t.units ? t.ns / t.units : 0;
}

static struct result run(const struct operation *o)
{
	double v[NR_IMPL][rounds];
	struct result r = { 0 };
	int i, k;

	for (i = 0; i < NR_IMPL; i++)
		one_turn(i, o);
	/* no ring buffer is always the first, or always behind the same one */
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < NR_IMPL; i++) {
			int w = ((k & 1 ? NR_IMPL - 1 - i : i) + k / 2) % NR_IMPL;

			v[w][k] = one_turn(w, o);
		}
	}
	for (i = 0; i < NR_IMPL; i++) {
		r.ns[i] = spread_of(v[i], rounds);
		r.to_A[i] = spread_of_ratio(v[i], v[IMPL_A], rounds);
		r.B_to[i] = spread_of_ratio(v[IMPL_B], v[i], rounds);
	}
	return r;
}

/* A profile for each; its title is operation|ring buffer|units */
static void count(const struct operation *o)
{
	char title[96];
	double units;
	int i;

	if (o->threads)
		return;
	for (i = 0; i < NR_IMPL; i++) {
		if (!offers(i, o) || !one_turn(i, o))
			continue;
		count_write("warm");
		units = one_turn(i, o);
		snprintf(title, sizeof(title), "%.47s|%s|%.3f", o->name, column[i].name, units);
		count_write(title);
	}
}

static int usage(void)
{
	fprintf(stderr, "rb-bench [-r ROUNDS] [-s BYTES] [-t NAME] [-q] [-a | -b] [-n] [-p]\n"
			"         [-J | -j FILE] [-c] [-l]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct operation op[128];
	unsigned long bytes = 1441792;	/* ftrace's default for a CPU */
	const char *name = NULL;
	FILE *json = NULL;
	int c, i, n, list = 0, quick = 0;

	while ((c = getopt(argc, argv, "r:s:t:j:abcnplqJ")) != -1) {
		switch (c) {
		case 'r':
			rounds = atoi(optarg);
			break;
		case 's':
			bytes = strtoul(optarg, NULL, 0);
			break;
		case 't':
			name = optarg;
			break;
		case 'a':	/* one against itself */
			column[IMPL_B].ops = column[IMPL_A].ops;
			break;
		case 'b':
			column[IMPL_A].ops = column[IMPL_B].ops;
			break;
		case 'n':
			column[IMPL_A2].ops = column[IMPL_A].ops;
			break;
		case 'p':
			use_peers();
			break;
		case 'q':
			quick = 1;
			break;
		case 'l':
			list = 1;
			break;
		case 'c':
			measure_counts = 1;
			break;
		case 'J':
			json = stdout;
			break;
		case 'j':
			json = fopen(optarg, "w");
			if (!json) {
				perror(optarg);
				return 1;
			}
			break;
		default:
			return usage();
		}
	}
	if (rounds < 1 || optind < argc)
		return usage();
	if (measure_counts)
		column[IMPL_A2].ops = NULL;
	if (list) {
		use_peers();
		for (i = 0; i < NR_IMPL; i++) {
			if (column[i].ops)
				printf("%s\n", column[i].name);
		}
		return 0;
	}
	if (measure_counts && !count_possible()) {
		fprintf(stderr, "rb-bench: -c needs callgrind, and its header at build time\n");
		return 2;
	}

	host_init(SHIM_MAX_CPUS, 2);
	host_cpu_enter(0);
	measure_init();
	n = list_operations(op, sizeof(op) / sizeof(op[0]), bytes, name, quick);
	if (!n)
		fprintf(stderr, "rb-bench: no operation has '%s' in its name\n", name);
	if (json)
		fprintf(json, "[\n");
	if (json != stdout && !measure_counts)
		table_head(column);
	for (i = 0; i < n; i++) {
		struct result r;

		if (measure_counts) {
			count(&op[i]);
		} else {
			r = run(&op[i]);
			if (json != stdout)
				table_line(&op[i], column, &r);
			if (json)
				json_line(json, !i, &op[i], column, &r);
		}
		/* buffers of most operations stay; those of other sizes would fill the memory */
		if (op[i].bytes != bytes || op[i].cpus != 2)
			measure_forget();
	}
	if (json)
		fprintf(json, "\n]\n");
	if (host_warnings)
		fprintf(stderr, "! %ld kernel warnings\n", host_warnings);
	return wrong || !n;
}
