// SPDX-License-Identifier: GPL-2.0
/* One turn of each operation, and its counted part. */
#include <stddef.h>
#include <stdio.h>
#include "../shim/shim.h"
#include "bench.h"
#include "count.h"

#define N_WRITES 30000

int measure_counts;
static double clock_cost;	/* of two looks at the clock */

/* Work is done twice, to be counted: with callgrind's help, or by the clock */
static void begin(struct turn *t)
{
	if (measure_counts)
		count_toggle();
	else
		t->start = host_cpu_ns();
}

static void end(struct turn *t, double units)
{
	if (measure_counts)
		count_toggle();
	else
		t->ns += host_cpu_ns() - t->start - clock_cost;
	t->units += units;
}

void measure_init(void)
{
	double least = 1e9;
	int i;

	for (i = 0; i < 1000; i++) {
		double start = host_cpu_ns(), cost = host_cpu_ns() - start;

		if (cost < least)
			least = cost;
	}
	clock_cost = least;
}

/* ---- buffers ------------------------------------------------------------ */

/* They are kept between turns: to allocate is an operation of its own */
static struct kept {
	const struct bench_ops	*ops;
	enum bench_impl		impl;
	enum bench_clock	clk;
	int			overwrite, cpus;
	unsigned long		bytes;
	struct trace_buffer	*b;
} kept[128];
static int nr_kept;

static struct trace_buffer *get(struct turn *t, enum bench_clock clk, int overwrite)
{
	struct kept k = { .ops = t->ops, .impl = t->impl, .clk = clk, .overwrite = overwrite,
			  .cpus = t->op->cpus, .bytes = t->op->bytes };
	struct kept *p;

	for (p = kept; p < kept + nr_kept; p++) {
		if (p->ops == k.ops && p->impl == k.impl && p->clk == k.clk &&
		    p->overwrite == k.overwrite && p->cpus == k.cpus && p->bytes == k.bytes)
			return p->b;
	}
	if (nr_kept == sizeof(kept) / sizeof(kept[0]))
		host_die("too many buffers");
	k.b = k.ops->alloc(k.bytes, overwrite, clk);
	if (!k.b && t->impl < IMPL_FLOOR)
		host_die("alloc");
	kept[nr_kept++] = k;
	return k.b;
}

static struct trace_buffer *get_op(struct turn *t)
{
	return get(t, t->op->clk, 1);
}

void measure_forget(void)
{
	while (nr_kept) {
		struct kept *p = &kept[--nr_kept];

		if (p->b && p->ops->free)
			p->ops->free(p->b);
	}
	shim_poll();
	shim_rcu_run();
}

/* The CPU's ring nearly full, nothing overwritten. Returns the number of records */
static unsigned long fill(struct turn *t, struct trace_buffer *b)
{
	unsigned long n = t->op->bytes / (t->op->len + 8);

	t->ops->reset(b);
	t->wrong += t->ops->write(b, t->op->len, n);
	return n;
}

/* ---- writing ------------------------------------------------------------ */

/* write(), or another member of its type */
void m_write(struct turn *t)
{
	typeof(t->ops->write) write = operation_of(t->ops, t->op);
	struct trace_buffer *b = get_op(t);

	begin(t);
	t->wrong += write(b, t->op->len, N_WRITES);
	end(t, N_WRITES);
}

/* each record is refused */
void m_write_full(struct turn *t)
{
	struct trace_buffer *b = get(t, t->op->clk, 0);
	unsigned long refused;

	if (!b)
		return;
	t->ops->write(b, t->op->len, 2 * t->op->bytes / t->op->len);
	begin(t);
	refused = t->ops->write(b, t->op->len, N_WRITES);
	end(t, N_WRITES);
	t->wrong += N_WRITES - refused;
}

/* ---- reading ------------------------------------------------------------ */

void m_consume(struct turn *t)
{
	struct trace_buffer *b = get_op(t);
	unsigned long n, want = fill(t, b);

	begin(t);
	n = t->ops->consume(b, 0, -1UL);
	end(t, n);
	t->wrong += n != want;
}

void m_iterate(struct turn *t)
{
	struct trace_buffer *b = get_op(t);
	unsigned long n, want = fill(t, b);

	begin(t);
	n = t->ops->iterate(b, 0);
	end(t, n);
	t->wrong += n != want;
}

void m_iterator(struct turn *t)
{
	struct trace_buffer *b = get_op(t);
	unsigned long n;

	fill(t, b);
	begin(t);
	n = t->ops->iterator(b, 0, 100);
	end(t, n);
	t->wrong += n != 100;
}

void m_pages(struct turn *t)
{
	struct trace_buffer *b = get_op(t);
	unsigned long n;
	int i;

	for (i = 0; i < 4; i++) {
		fill(t, b);
		begin(t);
		n = t->ops->read_pages(b, 0, t->op->arg);
		end(t, t->op->arg ? n / 1000.0 : n);
		if (!n)
			return;
	}
}

/* ---- exchange ----------------------------------------------------------- */

/* The two need not be alike: the second one has the other clock */
static struct trace_buffer *get_other(struct turn *t)
{
	return get(t, t->op->clk == CLK_TSC ? CLK_COUNTER : CLK_TSC, 1);
}

void m_swap(struct turn *t)
{
	struct trace_buffer *a = get_op(t), *b = get_other(t);
	int n = 5000;

	begin(t);
	t->wrong += t->ops->swap(a, b, 0, n) != 0;
	end(t, n);
}

void m_swap_full(struct turn *t)
{
	struct trace_buffer *a = get_op(t), *b = get_other(t);
	int i;

	for (i = 0; i < 100; i++) {
		t->wrong += t->ops->write(a, 32, 200);
		begin(t);
		t->wrong += t->ops->swap(a, b, 0, 1) != 0;
		end(t, 1);
	}
}

void m_swap_all(struct turn *t)
{
	struct trace_buffer *a = get_op(t), *b = get_other(t);
	int i, cpu, n = 1000;

	begin(t);
	for (i = 0; i < n; i++) {
		for (cpu = 0; cpu < t->op->cpus; cpu++)
			t->wrong += t->ops->swap(a, b, cpu, 1) != 0;
	}
	end(t, n);
}

void m_cut(struct turn *t)
{
	struct trace_buffer *a = get_op(t), *b = get_other(t);
	int i, cpu;

	for (i = 0; i < 100; i++) {
		/* A ring without records is not cut off. */
		for (cpu = 0; cpu < t->op->cpus; cpu++) {
			host_cpu_switch(cpu);
			t->wrong += t->ops->write(a, 32, 1);
		}
		host_cpu_switch(0);
		begin(t);
		t->wrong += t->ops->cut(a, b, 1) != 0;
		end(t, 1);
	}
}

/* ---- the whole buffer --------------------------------------------------- */

void m_reset(struct turn *t)
{
	struct trace_buffer *b = get_op(t);
	int i;

	for (i = 0; i < 4; i++) {
		fill(t, b);
		begin(t);
		t->ops->reset(b);
		end(t, 1);
	}
}

void m_resize(struct turn *t)
{
	struct trace_buffer *b = get_op(t);

	fill(t, b);
	begin(t);
	t->wrong += t->ops->resize(b, t->op->bytes / 2) < 0;
	t->wrong += t->ops->resize(b, t->op->bytes) < 0;
	end(t, 2);
}

void m_alloc(struct turn *t)
{
	begin(t);
	t->ops->free(t->ops->alloc(t->op->bytes, 1, t->op->clk));
	end(t, 1);
}

/* ---- a second thread ---------------------------------------------------- */

struct other {
	const struct bench_ops	*ops;
	struct trace_buffer	*b;
	enum beside		what;
	volatile int		ready, stop;
};

static void other_main(void *arg)
{
	struct other *o = arg;

	host_cpu_enter(1);
	o->ready = 1;
	while (!o->stop) {
		if (o->what == BESIDE_CONSUME)
			o->ops->consume(o->b, 0, 1000);
		else if (o->what == BESIDE_ITERATE)
			o->ops->iterate(o->b, 0);
		else
			o->ops->write(o->b, 32, 1000);
	}
	host_cpu_leave();
}

static void *other_start(struct other *o)
{
	void *thread = host_thread(other_main, o);

	while (!o->ready)
		host_pause();
	return thread;
}

static void other_stop(struct other *o, void *thread)
{
	o->stop = 1;
	while (host_cpu_owned(1)) {
		shim_poll();
		host_pause();
	}
	host_join(thread);
}

void m_write_beside(struct turn *t)
{
	struct other o = { .ops = t->ops, .b = get_op(t), .what = t->op->arg };
	void *thread = other_start(&o);

	begin(t);
	t->ops->write(o.b, t->op->len, 2 * N_WRITES);
	end(t, 2 * N_WRITES);
	other_stop(&o, thread);
}

/* The backlog is a whole ring, so the reader does not catch up with the writer */
void m_consume_beside(struct turn *t)
{
	struct other o = { .ops = t->ops, .b = get_op(t), .what = BESIDE_WRITE };
	unsigned long n = 0;
	void *thread;
	int tries;

	host_cpu_switch(1);
	fill(t, o.b);
	host_cpu_switch(0);
	thread = other_start(&o);
	begin(t);
	for (tries = 0; n < N_WRITES && tries < N_WRITES; tries++)
		n += t->ops->consume(o.b, 1, N_WRITES - n);
	end(t, n);
	other_stop(&o, thread);
}

void measure_turn(struct turn *t)
{
	int cpu;

	for (cpu = 0; cpu < SHIM_MAX_CPUS; cpu++)
		shim_set_online(cpu, cpu < t->op->cpus);
	t->op->measure(t);
	shim_poll();
	shim_rcu_run();
}
