// SPDX-License-Identifier: GPL-2.0
/* The clocks: the cheapest possible one, and that of ftrace's "local" on x86. */
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include "bench.h"
#include "clock.h"

static u64 counter ____cacheline_aligned;

/* Not atomic on purpose */
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
