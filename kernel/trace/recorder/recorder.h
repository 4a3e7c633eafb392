/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorder: functions for the files of kernel/trace/, and for its unit tests.
 */
#ifndef _KERNEL_TRACE_RECORDER_H
#define _KERNEL_TRACE_RECORDER_H

#include <linux/types.h>

struct module;
struct trace_array;

void trace_recorder_boot(void);
void trace_recorder_exit(struct trace_array *tr);

/* In trace_events.c */
int trace_set_module_events(struct trace_array *tr, char *buf, int set, const struct module *mod);

bool recorder_parse_size(const char *text, u64 max, unsigned long *bytes);

#endif /* _KERNEL_TRACE_RECORDER_H */
