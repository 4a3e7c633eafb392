/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that user space writes to files: numbers with units, and lines.
 */
#ifndef _KERNEL_TRACE_TEXT_H
#define _KERNEL_TRACE_TEXT_H

#include <linux/types.h>

/**
 * struct trace_unit - a unit of a number
 * @name:   text behind the number; "" for a number without unit
 * @factor: value of one of it, in the smallest unit
 */
struct trace_unit {
	const char	*name;
	u64		factor;
};

/* In nanoseconds; ends with one that has no name. A time that is not 0 needs a unit. */
extern const struct trace_unit trace_times[];
/* In bytes; a number without unit is in KiB. */
extern const struct trace_unit trace_sizes[];
/* A number has no unit. */
extern const struct trace_unit trace_numbers[];

const char *trace_read_number(const char *text, const struct trace_unit *units, u64 max,
			      u64 *number);

ssize_t trace_write_line(const char __user *ubuf, size_t cnt, loff_t *ppos,
			 int (*change)(void *data, char *line), void *data);

#endif /* _KERNEL_TRACE_TEXT_H */
