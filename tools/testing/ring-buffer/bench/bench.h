/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measured operations of ring buffers. Included by both sides of the
 * shim, so plain types only.
 */
#ifndef _RB_BENCH_H
#define _RB_BENCH_H

struct trace_buffer;

/* The first one is that of operations for which the clock does not matter */
enum bench_clock { CLK_TSC, CLK_TSC_ORDERED, CLK_COUNTER, NR_CLK };

/* One ring buffer. Missing operations are NULL */
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
	/* an iterator that comes and goes, and reads nothing */
	unsigned long (*iterator)(struct trace_buffer *b, int cpu, unsigned long n);
	/* until it is empty; chunk 0: whole pages. Returns bytes, or pages */
	unsigned long (*read_pages)(struct trace_buffer *b, int cpu, unsigned int chunk);
	int (*swap)(struct trace_buffer *a, struct trace_buffer *b, int cpu, unsigned long n);
	/* as a snapshot of all CPUs */
	int (*cut)(struct trace_buffer *a, struct trace_buffer *b, unsigned long n);
	int (*resize)(struct trace_buffer *b, unsigned long bytes);
};

/* floor.c: the unavoidable cost of any ring buffer */
extern const struct bench_ops bench_ops_floor, bench_ops_minimal;

/* peers/: missing where its source is not there or does not compile */
extern const struct bench_ops bench_ops_lttng __attribute__((weak));
extern const struct bench_ops bench_ops_perf __attribute__((weak));
extern const struct bench_ops bench_ops_bpf __attribute__((weak));

/* In the order of the columns. A2 is A once more, with buffers of its own */
enum bench_impl { IMPL_A, IMPL_B, IMPL_A2, IMPL_FLOOR, IMPL_PEER, NR_IMPL = IMPL_PEER + 4 };

struct turn;

/* An operation with its parameters: one line of the table */
struct operation {
	char		name[48];
	const char	*unit;		/* the table gives the time of one of these */
	void		(*measure)(struct turn *t);
	long		needs;		/* offset of the member of bench_ops that must be there */
	unsigned int	len;		/* of a record */
	enum bench_clock clk;
	unsigned long	bytes;		/* of a CPU's ring */
	int		cpus;		/* that are online */
	int		arg;
	int		threads;	/* takes part: instructions are not the same each time */
};

/* The function of a ring buffer that @op needs, or NULL if there is none */
static inline void *operation_of(const struct bench_ops *ops, const struct operation *op)
{
	return *(void **)((char *)ops + op->needs);
}

/* One turn of one ring buffer at one operation */
struct turn {
	const struct operation	*op;
	const struct bench_ops	*ops;
	enum bench_impl		impl;
	double			units, ns;	/* ns: the time of all units */
	unsigned long		wrong;		/* operations that failed */
	double			start;
};

/* measure.c */
extern int measure_counts;	/* callgrind collects the timed part */
void measure_init(void);
void measure_turn(struct turn *t);
void measure_forget(void);	/* frees all buffers */

void m_write(struct turn *t);		/* or nested, by copying, discarded */
void m_write_full(struct turn *t);
void m_write_beside(struct turn *t);	/* arg: enum beside */
void m_consume(struct turn *t);
void m_consume_beside(struct turn *t);
void m_iterate(struct turn *t);
void m_iterator(struct turn *t);
void m_pages(struct turn *t);		/* arg: bytes of a copy, 0 takes whole pages */
void m_swap(struct turn *t);
void m_swap_full(struct turn *t);
void m_swap_all(struct turn *t);
void m_cut(struct turn *t);
void m_reset(struct turn *t);
void m_resize(struct turn *t);
void m_alloc(struct turn *t);

enum beside { BESIDE_CONSUME, BESIDE_ITERATE, BESIDE_WRITE };

/*
 * list.c: the operations. name is NULL or a part of the names that are wanted; the short
 * list is without those of other sizes and numbers of CPUs.
 */
int list_operations(struct operation *ops, int max, unsigned long bytes, const char *name,
		    int short_list);

#endif /* _RB_BENCH_H */
