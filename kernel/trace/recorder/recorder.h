/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorder: functions for the files of kernel/trace/, and for its unit tests.
 */
#ifndef _KERNEL_TRACE_RECORDER_H
#define _KERNEL_TRACE_RECORDER_H

#include <linux/types.h>

struct trace_array;

void trace_recorder_boot(void);
void trace_recorder_exit(struct trace_array *tr);

bool recorder_parse_size(const char *text, u64 max, unsigned long *bytes);
bool recorder_wants(const char *events, const char *system, const char *name);

#endif /* _KERNEL_TRACE_RECORDER_H */
