/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stops: functions for the files of kernel/trace/.
 */
#ifndef _KERNEL_TRACE_STOP_H
#define _KERNEL_TRACE_STOP_H

struct dentry;
struct trace_array;
struct trace_event_file;

/* stop.c */
void trace_stop_cancel(struct trace_array *tr);

/* crash.c */
void trace_stop_warn(void);

/* line.c */
void trace_stop_remove_event(struct trace_event_file *file);
void trace_stop_exit(struct trace_array *tr);
void trace_stop_free(struct trace_array *tr);

/* file.c */
void trace_stop_note(struct trace_array *tr);
const char *trace_stop_change(struct trace_array *tr, char *text, const char **at);
void trace_array_create_stop_on(struct trace_array *tr, struct dentry *dir);

#endif /* _KERNEL_TRACE_STOP_H */
