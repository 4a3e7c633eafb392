/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace.dat of kept snapshots: the interface for the rest of tracing; a part of trace.h.
 */
#ifndef _KERNEL_TRACE_DAT_H
#define _KERNEL_TRACE_DAT_H

#ifdef CONFIG_TRACER_SNAPSHOT
extern const struct file_operations trace_dat_fops;

void trace_dat_end_event(struct trace_array *tr);
void trace_dat_free(struct trace_array *tr);
#else
static inline void trace_dat_end_event(struct trace_array *tr) { }
#endif

#endif
