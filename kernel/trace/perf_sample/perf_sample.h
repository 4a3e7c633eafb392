/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of perf events: functions for the files of kernel/trace/.
 */
#ifndef _KERNEL_TRACE_PERF_SAMPLE_H
#define _KERNEL_TRACE_PERF_SAMPLE_H

#include <linux/bitops.h>
#include <linux/trace_events.h>

struct dentry;
struct trace_array;

#ifdef CONFIG_TRACE_PERF_SAMPLES
void trace_samplers_create_file(struct trace_array *tr, struct dentry *dir);
void trace_samplers_detach(struct trace_array *tr);
void trace_samplers_follow(const struct trace_event_file *file);
void trace_samplers_settle(void);
#else
static inline void trace_samplers_create_file(struct trace_array *tr, struct dentry *dir) { }
static inline void trace_samplers_detach(struct trace_array *tr) { }
static inline void trace_samplers_follow(const struct trace_event_file *file) { }
static inline void trace_samplers_settle(void) { }
#endif

/**
 * trace_event_enable_softly() - let an event in soft mode record again
 * @file: the event
 *
 * Context: Any context, including NMI.
 * Return: true if it was disabled.
 */
static inline bool trace_event_enable_softly(struct trace_event_file *file)
{
	if (!test_bit(EVENT_FILE_FL_SOFT_DISABLED_BIT, &file->flags) ||
	    !test_and_clear_bit(EVENT_FILE_FL_SOFT_DISABLED_BIT, &file->flags))
		return false;
	trace_samplers_follow(file);
	return true;
}

#endif /* _KERNEL_TRACE_PERF_SAMPLE_H */
