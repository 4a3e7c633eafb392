/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels: functions for the files of kernel/trace/.
 */
#ifndef _KERNEL_TRACE_CHANNEL_H
#define _KERNEL_TRACE_CHANNEL_H

#include <linux/poll.h>
#include <linux/types.h>

struct dentry;
struct seq_file;
struct trace_array;
struct trace_iterator;

/* channels.c */
void trace_array_create_channels(struct trace_array *tr, struct dentry *dir);

/* merge.c */
struct trace_iterator *trace_merge_current(struct trace_iterator *iter);
int trace_merge_open(struct trace_iterator *iter);
void trace_merge_close(struct trace_iterator *iter);
void trace_merge_reset(struct trace_iterator *iter);
void trace_merge_follow_tracers(struct trace_iterator *iter);
void *trace_merge_next(struct trace_iterator *iter);
void trace_iter_bound(struct trace_iterator *iter);
bool trace_iter_missed(struct seq_file *file, struct trace_iterator *iter);
bool trace_merge_is_empty(struct trace_iterator *iter);
void trace_merge_header(struct seq_file *m, struct trace_iterator *iter);

/* pipe.c */
enum print_line_t trace_pipe_print(struct trace_iterator *iter);
bool trace_reader_is_closed(struct trace_iterator *iter, struct file *file);
int trace_reader_full(struct trace_iterator *iter);
int trace_reader_wait(struct trace_iterator *iter, struct file *file, int full, bool on);
__poll_t trace_pipe_poll(struct trace_iterator *iter, struct file *file, poll_table *table,
			 int full);

#endif /* _KERNEL_TRACE_CHANNEL_H */
