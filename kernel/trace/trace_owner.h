/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common to open files that own an instance or a snapshot.
 */
#ifndef _KERNEL_TRACE_OWNER_H
#define _KERNEL_TRACE_OWNER_H

#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/sprintf.h>

#include "trace.h"

/**
 * trace_owner_read() - read() of an open file that owns an instance
 * @tr:   the instance; the file holds a reference
 * @ubuf: user memory for the name, with a newline behind it
 * @cnt:  bytes of it
 * @ppos: position in the file
 *
 * Context: May sleep.
 * Return: number of bytes; -EFAULT.
 */
static inline ssize_t
trace_owner_read(struct trace_array *tr, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char name[NAME_MAX + 2];
	int len = scnprintf(name, sizeof(name), "%s\n", tr->name);

	return simple_read_from_buffer(ubuf, cnt, ppos, name, len);
}

#endif /* _KERNEL_TRACE_OWNER_H */
