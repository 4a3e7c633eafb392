// SPDX-License-Identifier: GPL-2.0
/*
 * A function of perf that no other module calls. This file is built in where the PMU for tests is
 * a module, and exports it to that module alone.
 */
#include <linux/export.h>
#include <linux/perf_event.h>

#include "sample_pmu.h"

/* An event has overflowed, in an NMI. Return: not 0 if its counter has to stop. */
int sample_pmu_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	return perf_event_overflow(event, data, regs);
}

/* EXPORT_SYMBOL_NS_GPL() takes a name in older kernels, and a string in newer ones. */
__EXPORT_SYMBOL(sample_pmu_overflow, "GPL", "TRACE_SAMPLE_PMU");
