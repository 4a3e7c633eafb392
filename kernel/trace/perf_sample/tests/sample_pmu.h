/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the PMU for tests that is always built in.
 */
#ifndef _KERNEL_TRACE_PERF_SAMPLE_TESTS_SAMPLE_PMU_H
#define _KERNEL_TRACE_PERF_SAMPLE_TESTS_SAMPLE_PMU_H

struct perf_event;
struct perf_sample_data;
struct pt_regs;

int sample_pmu_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs);

#endif /* _KERNEL_TRACE_PERF_SAMPLE_TESTS_SAMPLE_PMU_H */
