/* SPDX-License-Identifier: GPL-2.0 */
/* One ring buffer as the benchmark sees it, and what no ring buffer can avoid. */
#ifndef _RB_BENCH_H
#define _RB_BENCH_H

struct trace_buffer;

enum bench_clock { CLK_COUNTER, CLK_TSC, CLK_TSC_ORDERED, NR_CLK };

struct bench_ops {
	struct trace_buffer *(*alloc)(unsigned long bytes, int overwrite, enum bench_clock clk);
	void (*free)(struct trace_buffer *b);
	void (*reset)(struct trace_buffer *b);
	/* n records of len bytes; returns how many were refused */
	unsigned long (*write)(struct trace_buffer *b, unsigned int len, unsigned long n);
	unsigned long (*write_nested)(struct trace_buffer *b, unsigned int len, unsigned long n);
	unsigned long (*write_copy)(struct trace_buffer *b, unsigned int len, unsigned long n);
	unsigned long (*discard)(struct trace_buffer *b, unsigned int len, unsigned long n);
	unsigned long (*consume)(struct trace_buffer *b, int cpu, unsigned long max);
	unsigned long (*iterate)(struct trace_buffer *b, int cpu);
	/* until it is empty; chunk 0: whole pages. Returns bytes, or pages */
	unsigned long (*read_pages)(struct trace_buffer *b, int cpu, unsigned int chunk);
	int (*swap)(struct trace_buffer *a, struct trace_buffer *b, int cpu, unsigned long n);
	int (*resize)(struct trace_buffer *b, unsigned long bytes);
};

unsigned long floor_clock(enum bench_clock clk, unsigned long n);
unsigned long floor_copy(void *area, unsigned long bytes, unsigned int len, unsigned long n);
unsigned long floor_event(void *area, unsigned long bytes, unsigned int len, unsigned long n,
			  enum bench_clock clk);

#endif /* _RB_BENCH_H */
