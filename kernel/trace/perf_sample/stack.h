/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two parts of a stack that perf has collected.
 */
#ifndef _KERNEL_TRACE_PERF_SAMPLE_STACK_H
#define _KERNEL_TRACE_PERF_SAMPLE_STACK_H

#include <linux/types.h>

struct perf_callchain_entry;

/**
 * struct sample_stack - the stack of a sample
 * @kernel:    entries of the kernel, in the memory of perf
 * @user:      entries of user space
 * @nr_kernel: number of entries of the kernel
 * @nr_user:   number of entries of user space
 */
struct sample_stack {
	const u64	*kernel;
	const u64	*user;
	unsigned int	nr_kernel;
	unsigned int	nr_user;
};

void sample_split_stack(struct sample_stack *stack, const struct perf_callchain_entry *chain,
			unsigned int max);

#endif /* _KERNEL_TRACE_PERF_SAMPLE_STACK_H */
