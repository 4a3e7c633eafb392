/* SPDX-License-Identifier: GPL-2.0 */
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

/* A length that the compiler knows, as trace events have it */
#define BENCH_SWITCH_LEN(len, loop)			\
	switch (len) {					\
	case 8:   loop(8);   break;			\
	case 16:  loop(16);  break;			\
	case 32:  loop(32);  break;			\
	case 64:  loop(64);  break;			\
	case 128: loop(128); break;			\
	default:  loop(len); break;			\
	}

#endif /* _RB_BENCH_CLOCK_H */
