// SPDX-License-Identifier: GPL-2.0
/*
 * The two parts of a stack that perf has collected.
 */
#include <linux/perf_event.h>

#include "stack.h"

/**
 * sample_split_stack() - find the two parts of a stack
 * @stack: all members are 0; gets the parts
 * @chain: the stack, as perf has it
 * @max:   number of entries that are taken, both parts together
 *
 * perf puts a marker in front of each part. After that of user space there is none: a program can
 * have any number on its stack, also that of a marker.
 *
 * Context: Any context.
 */
void sample_split_stack(struct sample_stack *stack, const struct perf_callchain_entry *chain,
			unsigned int max)
{
	unsigned int i;

	for (i = 0; i < chain->nr && stack->nr_kernel + stack->nr_user < max; i++) {
		if (stack->user)
			stack->nr_user++;
		else if (chain->ip[i] == PERF_CONTEXT_USER)
			stack->user = &chain->ip[i + 1];
		else if (stack->kernel)
			stack->nr_kernel++;
		else
			stack->kernel = &chain->ip[i + 1];
	}
}
