/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of the ring buffers of perf events, for /proc/PID/perf/ring-buffers.
 */
#ifndef _LINUX_PERF_DUMP_H
#define _LINUX_PERF_DUMP_H

#include <linux/types.h>

struct file;
struct perf_dump;
struct seq_operations;

unsigned long perf_dump_ring(struct file *file);
int perf_dump_may(struct file *file);

struct perf_dump *perf_dump_take(struct file *file, unsigned int fd, bool data,
				 u64 exec_id);
u64 perf_dump_exec_id(const struct perf_dump *dump);
int perf_dump_allowed(const struct perf_dump *dump);
void perf_dump_free(struct perf_dump *dump);

/* Lines of text; &seq_file.private is the copy */
extern const struct seq_operations perf_dump_text;

loff_t perf_dump_size(const struct perf_dump *dump);
ssize_t perf_dump_read(const struct perf_dump *dump, char __user *ubuf, size_t cnt, loff_t *ppos);

#endif
