/* SPDX-License-Identifier: GPL-2.0 */
/* Two trace events, with records of 32 and 128 bytes; 8 of them are a header */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM event_bench

#if !defined(_EVENT_BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _EVENT_BENCH_TRACE_H

#include <linux/tracepoint.h>

#define BENCH_EVENT(name, words)						\
TRACE_EVENT(name,								\
	TP_PROTO(unsigned long value),						\
	TP_ARGS(value),								\
	TP_STRUCT__entry(							\
		__field(u64, value)						\
		__array(u64, more, words)					\
	),									\
	TP_fast_assign(								\
		__entry->value = value;						\
		memset(__entry->more, 0, sizeof(__entry->more));		\
	),									\
	TP_printk("value=%llu", __entry->value)					\
)

BENCH_EVENT(bench_small, 2);
BENCH_EVENT(bench_large, 14);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE event_bench_trace
#include <trace/define_trace.h>
