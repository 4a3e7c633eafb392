/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to callgrind, which do nothing without it. The package valgrind has the header. */
#ifndef _RB_BENCH_COUNT_H
#define _RB_BENCH_COUNT_H

#if __has_include("valgrind/callgrind.h")
#include <valgrind/callgrind.h>
#define count_toggle()		CALLGRIND_TOGGLE_COLLECT
#define count_write(name)	CALLGRIND_DUMP_STATS_AT(name)
#define count_possible()	RUNNING_ON_VALGRIND
#else
#define count_toggle()		do { } while (0)
#define count_write(name)	((void)(name))
#define count_possible()	0
#endif

#endif /* _RB_BENCH_COUNT_H */
