/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of perf events: functions for the files of kernel/trace/.
 */
#ifndef _KERNEL_TRACE_PERF_SAMPLE_H
#define _KERNEL_TRACE_PERF_SAMPLE_H

struct dentry;
struct trace_array;

#ifdef CONFIG_TRACE_PERF_SAMPLES
void trace_samplers_create_file(struct trace_array *tr, struct dentry *dir);
void trace_samplers_detach(struct trace_array *tr);
#else
static inline void trace_samplers_create_file(struct trace_array *tr, struct dentry *dir) { }
static inline void trace_samplers_detach(struct trace_array *tr) { }
#endif

#endif /* _KERNEL_TRACE_PERF_SAMPLE_H */
