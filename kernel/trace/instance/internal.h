/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instances: functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   expand.c    allocate the rings of an instance when they are needed, and free them
 *   allocate.c  the file "buffer_allocate"
 */
#ifndef _KERNEL_TRACE_INSTANCE_INTERNAL_H
#define _KERNEL_TRACE_INSTANCE_INTERNAL_H

#include "../trace.h"

/* expand.c */
int instance_unexpand(struct trace_array *tr);

#endif /* _KERNEL_TRACE_INSTANCE_INTERNAL_H */
