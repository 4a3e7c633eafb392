// SPDX-License-Identifier: GPL-2.0
/*
 * A function of perf that no other module calls. This file is built in where the PMU for tests is
 * a module, and exports it to that module alone.
 */
#include <linux/export.h>
#include <linux/perf_event.h>

EXPORT_SYMBOL_NS_GPL(perf_event_overflow, TRACE_SAMPLE_PMU);
