// SPDX-License-Identifier: GPL-2.0
/* Clocks, and what the machine itself costs: the clock, the stores, a minimal record. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/preempt.h>
#include <asm/local.h>
#include "bench.h"
#include "clock.h"

static u64 counter ____cacheline_aligned;

/* Not atomic on purpose: the cheapest clock that there can be */
u64 notrace bench_clock_counter(void)
{
	u64 v = READ_ONCE(counter) + 8;

	WRITE_ONCE(counter, v);
	return v;
}

u64 notrace bench_clock_tsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a" (lo), "=d" (hi));
	return lo | (u64)hi << 32;
}

u64 notrace bench_clock_tsc_ordered(void)
{
	u32 lo, hi;

	asm volatile("lfence; rdtsc" : "=a" (lo), "=d" (hi) : : "memory");
	return lo | (u64)hi << 32;
}

u64 (* const bench_clocks[])(void) = {
	[CLK_COUNTER] = bench_clock_counter, [CLK_TSC] = bench_clock_tsc,
	[CLK_TSC_ORDERED] = bench_clock_tsc_ordered,
};

noinline unsigned long floor_clock(enum bench_clock clk, unsigned long n)
{
	typeof(bench_clocks[0]) clock = READ_ONCE(bench_clocks[clk]);
	u64 sum = 0;

	while (n--)
		sum += clock();
	return sum;
}

struct floor_area {
	void		*start;
	unsigned long	bytes;
};

static __always_inline unsigned long copy_n(void *on, unsigned int len, unsigned long n)
{
	struct floor_area *area = on;
	unsigned long i, off = 0;

	for (i = 0; i < n; i++) {
		bench_fill(area->start + off, len, i);
		off += len + 4;
		if (off + len + 4 > area->bytes)
			off = 0;
	}
	return off;
}

/* the stores of the payload alone, through as much memory as a ring has */
noinline unsigned long floor_copy(void *area, unsigned long bytes, unsigned int len,
				  unsigned long n)
{
	struct floor_area on = { .start = area, .bytes = bytes };

	return bench_known_len(copy_n, &on, len, n);
}

/*
 * The least that a writer with interrupts can do: preemption off, clock, one
 * unlocked compare-and-exchange, header, payload, publish. No reader, no nesting.
 */
static struct floor_cpu {
	local_t		reserve;
	u64		commit, last;
	u64		(*clock)(void);
	char		*data;
	unsigned long	mask;
} floor_cpu ____cacheline_aligned;

static noinline u32 *floor_reserve(struct floor_cpu *c, unsigned int len)
{
	long old, new;
	u64 ts, delta;
	u32 *header;

	preempt_disable_notrace();
	old = local_read(&c->reserve);
	do {
		ts = c->clock();
		delta = ts - c->last;
		if (unlikely(delta >> 27))
			delta = 0;
		new = old + len + 4;
		if (unlikely((old ^ new) & ~4095L)) {
			old = new & ~4095L;
			new = old + len + 4;
			local_set(&c->reserve, old);
		}
	} while (unlikely(!local_try_cmpxchg(&c->reserve, &old, new)));
	c->last = ts;
	header = (u32 *)(c->data + (old & c->mask));
	*header = (len >> 2) | (u32)delta << 5;
	return header + 1;
}

static noinline void floor_commit(struct floor_cpu *c)
{
	/* the payload comes before the commit that shows it, as to a reader elsewhere */
	smp_store_release(&c->commit, local_read(&c->reserve));
	preempt_enable_notrace();
}

static __always_inline unsigned long event_n(void *on, unsigned int len, unsigned long n)
{
	struct floor_cpu *c = on;
	unsigned long i;

	for (i = 0; i < n; i++) {
		bench_fill((u64 *)floor_reserve(c, len), len, i);
		floor_commit(c);
	}
	return c->commit;
}

noinline unsigned long floor_event(void *area, unsigned long bytes, unsigned int len,
				   unsigned long n, enum bench_clock clk)
{
	struct floor_cpu *c = &floor_cpu;

	c->data = area;
	c->mask = (1UL << ilog2(bytes)) - 1;
	c->clock = bench_clocks[clk];
	return bench_known_len(event_n, c, len, n);
}
