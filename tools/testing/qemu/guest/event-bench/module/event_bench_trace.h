/* SPDX-License-Identifier: GPL-2.0 */
/* Two trace events, with records of 32 and 128 bytes; 8 of them are a header */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM event_bench

#if !defined(_EVENT_BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _EVENT_BENCH_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(bench_small,
	TP_PROTO(unsigned long value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__field(u64, value)
		__array(u64, more, 2)
	),
	TP_fast_assign(
		__entry->value = value;
		__entry->more[0] = value;
		__entry->more[1] = value;
	),
	TP_printk("value=%llu", __entry->value)
);

TRACE_EVENT(bench_large,
	TP_PROTO(unsigned long value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__field(u64, value)
		__array(u64, more, 14)
	),
	TP_fast_assign(
		__entry->value = value;
		memset(__entry->more, 0, sizeof(__entry->more));
	),
	TP_printk("value=%llu", __entry->value)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE event_bench_trace
#include <trace/define_trace.h>
