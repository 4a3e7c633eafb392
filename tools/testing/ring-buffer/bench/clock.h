/* SPDX-License-Identifier: GPL-2.0 */
/* The clocks that the buffers are given, and how a record is filled. */
#ifndef _RB_BENCH_CLOCK_H
#define _RB_BENCH_CLOCK_H

u64 bench_clock_counter(void);
u64 bench_clock_tsc(void);
u64 bench_clock_tsc_ordered(void);
extern u64 (* const bench_clocks[])(void);

/* The payload: stores that the compiler neither merges nor drops */
static __always_inline void bench_fill(u64 *p, unsigned int len, u64 value)
{
	unsigned int k;

#pragma GCC unroll 32
	for (k = 0; k < len / 8; k++)
		WRITE_ONCE(p[k], value);
}

/* loop() is inlined, with a length that the compiler knows, as trace events have it */
static __always_inline unsigned long
bench_known_len(unsigned long (*loop)(void *on, unsigned int len, unsigned long n),
		void *on, unsigned int len, unsigned long n)
{
	switch (len) {
	case 8:
		return loop(on, 8, n);
	case 16:
		return loop(on, 16, n);
	case 32:
		return loop(on, 32, n);
	case 64:
		return loop(on, 64, n);
	case 128:
		return loop(on, 128, n);
	default:
		return loop(on, len, n);
	}
}

#endif /* _RB_BENCH_CLOCK_H */
