/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/PID/trace: functions for the files of kernel/trace/; a part of trace.h.
 */
#ifndef _KERNEL_TRACE_PROC_VIEW_H
#define _KERNEL_TRACE_PROC_VIEW_H

struct dentry;
struct trace_array;

#ifdef CONFIG_TRACE_PROC_VIEW
#include <linux/trace_stamp_key.h>

void trace_view_retire(struct trace_array *tr);
void trace_view_begin_change(struct trace_array *tr);
void trace_view_end_change(struct trace_array *tr);
void trace_view_end_event(struct trace_array *tr);
void trace_view_create_file(struct trace_array *tr, struct dentry *dir);

/* Is an instance shown, or a copy of one open? */
static __always_inline bool trace_view_is_used(void)
{
	return static_branch_unlikely(&trace_view_used);
}
#else
static inline void trace_view_retire(struct trace_array *tr) { }
static inline void trace_view_begin_change(struct trace_array *tr) { }
static inline void trace_view_end_change(struct trace_array *tr) { }
static inline void trace_view_end_event(struct trace_array *tr) { }
static inline void trace_view_create_file(struct trace_array *tr, struct dentry *dir) { }
static inline bool trace_view_is_used(void) { return false; }
#endif

#endif /* _KERNEL_TRACE_PROC_VIEW_H */
