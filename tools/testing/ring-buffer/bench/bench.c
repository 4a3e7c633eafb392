// SPDX-License-Identifier: GPL-2.0
/*
 * Measures two ring buffers in one process, in turns of a few milliseconds of
 * the thread's own CPU time, so that whatever else the machine does hits both.
 * Prints medians, and the median of the ratio B/A of each turn.
 *   rb-bench [-r rounds] [-s bytes] [-t name] [-a | -b] [-J]
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "../shim/shim.h"
#include "bench.h"

extern const struct bench_ops bench_ops_A, bench_ops_B;

static const struct bench_ops *impl[2] = { &bench_ops_A, &bench_ops_B };
static unsigned long size = 1441792;	/* ftrace's default for a CPU */
static const char *only;
static int rounds = 41, json, first = 1;
static void *area;

struct turn {
	const struct bench_ops	*ops;
	int			which;
	long			a, b;
	double			units, ns;	/* ns is what units took */
};

static double now(void)
{
	return host_cpu_ns();
}

/* Buffers are kept between turns: allocating is a test of its own */
static struct trace_buffer *get(struct turn *t, enum bench_clock clk, int overwrite)
{
	static struct trace_buffer *kept[2][NR_CLK][2];
	struct trace_buffer **b = &kept[t->which][clk][overwrite];

	if (!*b)
		*b = t->ops->alloc(size, overwrite, clk);
	if (!*b)
		host_die("alloc");
	return *b;
}

static void fill(struct turn *t, struct trace_buffer *b, unsigned int len)
{
	t->ops->reset(b);
	t->ops->write(b, len, size / (len + 8));
}

/* Each measures one turn */
#define TIMED(t, n, what)				\
	do {						\
		struct turn *turn_ = (t);		\
		double start_ = now();			\
							\
		what;					\
		turn_->ns += now() - start_;		\
		turn_->units += (n);			\
	} while (0)

#define N_WRITES 30000

static void m_write(struct turn *t)
{
	TIMED(t, N_WRITES, t->ops->write(get(t, t->b, 1), t->a, N_WRITES));
}

static void m_nested(struct turn *t)
{
	TIMED(t, N_WRITES, t->ops->write_nested(get(t, t->b, 1), t->a, N_WRITES));
}

static void m_copy(struct turn *t)
{
	TIMED(t, N_WRITES, t->ops->write_copy(get(t, t->b, 1), t->a, N_WRITES));
}

static void m_discard(struct turn *t)
{
	TIMED(t, N_WRITES, t->ops->discard(get(t, t->b, 1), t->a, N_WRITES));
}

static void m_full(struct turn *t)
{
	struct trace_buffer *b = get(t, t->b, 0);

	t->ops->write(b, t->a, size / t->a);
	TIMED(t, N_WRITES, t->ops->write(b, t->a, N_WRITES));
}

static void m_consume(struct turn *t)
{
	struct trace_buffer *b = get(t, CLK_TSC, 1);
	unsigned long n = 0;

	fill(t, b, t->a);
	TIMED(t, n, n = t->ops->consume(b, 0, -1UL));
}

static void m_iterate(struct turn *t)
{
	struct trace_buffer *b = get(t, CLK_TSC, 1);
	unsigned long n = 0;

	fill(t, b, t->a);
	TIMED(t, n, n = t->ops->iterate(b, 0));
}

/* ns for a page, or for 1000 bytes */
static void m_pages(struct turn *t)
{
	struct trace_buffer *b = get(t, CLK_TSC, 1);
	unsigned long n = 0;
	int i;

	for (i = 0; i < 4; i++) {
		fill(t, b, t->a);
		TIMED(t, t->b ? n / 1000.0 : n, n = t->ops->read_pages(b, 0, t->b));
	}
}

static void m_swap(struct turn *t)
{
	TIMED(t, 5000, t->ops->swap(get(t, CLK_TSC, 1), get(t, CLK_COUNTER, 1), 0, 5000));
}

static void m_swap_full(struct turn *t)
{
	struct trace_buffer *a = get(t, CLK_TSC, 1), *b = get(t, CLK_COUNTER, 1);
	int i;

	for (i = 0; i < 100; i++) {
		t->ops->write(a, 32, 200);
		TIMED(t, 1, t->ops->swap(a, b, 0, 1));
	}
}

static void m_reset(struct turn *t)
{
	struct trace_buffer *b = get(t, CLK_TSC, 1);

	TIMED(t, 1, t->ops->reset(b));
}

static void m_alloc(struct turn *t)
{
	TIMED(t, 1, t->ops->free(t->ops->alloc(size, 1, CLK_TSC)));
}

static void m_resize(struct turn *t)
{
	struct trace_buffer *b = get(t, CLK_TSC, 1);

	fill(t, b, 32);
	TIMED(t, 2, t->ops->resize(b, size / 2); t->ops->resize(b, size));
}

/* ---- a second thread ---------------------------------------------------- */

struct other {
	struct turn		*t;
	struct trace_buffer	*b;
	volatile int		ready, stop;
};

static void other_reads(void *arg)
{
	struct other *o = arg;

	host_cpu_enter(1);
	o->ready = 1;
	while (!o->stop)
		o->t->ops->consume(o->b, 0, 1000);
	host_cpu_leave();
}

static void other_iterates(void *arg)
{
	struct other *o = arg;

	host_cpu_enter(1);
	o->ready = 1;
	while (!o->stop)
		o->t->ops->iterate(o->b, 0);
	host_cpu_leave();
}

static void other_writes(void *arg)
{
	struct other *o = arg;

	host_cpu_enter(1);
	o->ready = 1;
	while (!o->stop)
		o->t->ops->write(o->b, 32, 1000);
	host_cpu_leave();
}

static void m_beside(struct turn *t)
{
	static void (* const other[])(void *) = { other_reads, other_iterates, other_writes };
	struct other o = { .t = t, .b = get(t, CLK_TSC, 1) };
	void *thread = host_thread(other[t->a], &o);

	while (!o.ready)
		host_pause();
	TIMED(t, 2 * N_WRITES, t->ops->write(o.b, 32, 2 * N_WRITES));
	o.stop = 1;
	while (host_cpu_owned(1)) {
		shim_poll();
		host_pause();
	}
	host_join(thread);
}

/* ---- the floor ---------------------------------------------------------- */

static void m_floor_clock(struct turn *t)
{
	TIMED(t, 100000, floor_clock(t->a, 100000));
}

static void m_floor_copy(struct turn *t)
{
	TIMED(t, 100000, floor_copy(area, size, t->a, 100000));
}

static void m_floor_event(struct turn *t)
{
	TIMED(t, N_WRITES, floor_event(area, size, t->a, N_WRITES, t->b));
}

/* ---- report ------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(double *v, int n, double q)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[(int)(q * (n - 1))];
}

static double one_turn(void (*measure)(struct turn *), int which, long a, long b)
{
	struct turn t = { .ops = impl[which], .which = which, .a = a, .b = b };

	measure(&t);
	shim_poll();
	shim_rcu_run();
	return t.units ? t.ns / t.units : 0;
}

static void report(const char *name, void (*measure)(struct turn *), long a, long b)
{
	double v[2][rounds], ratio[rounds];
	int i, k, w;

	if (only && !strstr(name, only))
		return;
	for (k = 0; k < 2; k++)
		one_turn(measure, k, a, b);
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < 2; k++) {
			w = i & 1 ? 1 - k : k;
			v[w][i] = one_turn(measure, w, a, b);
		}
		ratio[i] = v[0][i] ? v[1][i] / v[0][i] : 0;
	}
	if (json) {
		printf("%s  { \"name\": \"%s\", \"A\": %.3f, \"B\": %.3f, ", first ? "" : ",\n",
		       name, quantile(v[0], rounds, 0.5), quantile(v[1], rounds, 0.5));
		printf("\"ratio\": %.4f, \"low\": %.4f, \"high\": %.4f }",
		       quantile(ratio, rounds, 0.5), quantile(ratio, rounds, 0.25),
		       quantile(ratio, rounds, 0.75));
	} else {
		printf("%-32s %10.2f %10.2f  %6.3f  (%.3f .. %.3f)\n", name,
		       quantile(v[0], rounds, 0.5), quantile(v[1], rounds, 0.5),
		       quantile(ratio, rounds, 0.5), quantile(ratio, rounds, 0.25),
		       quantile(ratio, rounds, 0.75));
	}
	first = 0;
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const char * const clock_name[] = { "counter", "rdtsc", "lfence;rdtsc" };
	static const int lens[] = { 8, 16, 32, 64, 128 };
	char name[64];
	int c, i;

	while ((c = getopt(argc, argv, "r:s:t:abJ")) != -1) {
		switch (c) {
		case 'r':
			rounds = atoi(optarg);
			break;
		case 's':
			size = strtoul(optarg, NULL, 0);
			break;
		case 't':
			only = optarg;
			break;
		case 'a':	/* one against itself: the noise */
			impl[1] = impl[0];
			break;
		case 'b':
			impl[0] = impl[1];
			break;
		case 'J':
			json = 1;
			break;
		default:
			return 2;
		}
	}
	host_init(SHIM_MAX_CPUS, 2);
	host_cpu_enter(0);
	area = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	printf(json ? "[\n" : "%-32s %10s %10s  %6s\n", "ns each", "A", "B", "B/A");

	for (i = 0; i < NR_CLK; i++) {
		snprintf(name, sizeof(name), "floor clock %s", clock_name[i]);
		report(name, m_floor_clock, i, 0);
	}
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "floor stores %d", lens[i]);
		report(name, m_floor_copy, lens[i], 0);
	}
	for (i = 0; i < 15; i++) {
		snprintf(name, sizeof(name), "floor event %d %s", lens[i % 5], clock_name[i / 5]);
		report(name, m_floor_event, lens[i % 5], i / 5);
		snprintf(name, sizeof(name), "write %d %s", lens[i % 5], clock_name[i / 5]);
		report(name, m_write, lens[i % 5], i / 5);
	}
	report("write nested 32", m_nested, 32, CLK_TSC);
	report("ring_buffer_write 32", m_copy, 32, CLK_TSC);
	report("discard 32", m_discard, 32, CLK_TSC);
	report("drop when full 32", m_full, 32, CLK_TSC);
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "consume %d", lens[i]);
		report(name, m_consume, lens[i], 0);
		snprintf(name, sizeof(name), "iterate %d", lens[i]);
		report(name, m_iterate, lens[i], 0);
	}
	report("read_page swap, a page", m_pages, 32, 0);
	report("read_page copy 32, 1000 bytes", m_pages, 32, 2000);
	report("read_page copy 128, 1000 bytes", m_pages, 128, 2000);
	report("swap_cpu idle", m_swap, 0, 0);
	report("swap_cpu after 200 records", m_swap_full, 0, 0);
	report("reset", m_reset, 0, 0);
	report("resize half and back", m_resize, 0, 0);
	report("alloc and free", m_alloc, 0, 0);
	report("write 32, other CPU consumes", m_beside, 0, 0);
	report("write 32, other CPU iterates", m_beside, 1, 0);
	report("write 32, other CPU writes", m_beside, 2, 0);
	if (json)
		printf("\n]\n");
	if (host_warnings)
		fprintf(stderr, "! %ld kernel warnings\n", host_warnings);
	return 0;
}
