/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common functions of open files that own an instance or a snapshot.
 */
#ifndef _KERNEL_TRACE_OWNER_H
#define _KERNEL_TRACE_OWNER_H

#include <linux/types.h>

struct trace_array;
struct vfsmount;

ssize_t trace_owner_read(struct trace_array *tr, char __user *ubuf, size_t cnt, loff_t *ppos);
long trace_owner_ioctl(struct trace_array *tr, struct vfsmount *mnt, unsigned int cmd,
		       unsigned long arg);

#endif /* _KERNEL_TRACE_OWNER_H */
