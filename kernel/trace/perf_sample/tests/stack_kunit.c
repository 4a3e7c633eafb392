// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the two parts of a stack.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/perf_event.h>

#include "../stack.h"

#define K	PERF_CONTEXT_KERNEL
#define U	PERF_CONTEXT_USER

/**
 * struct stack_case - a stack of perf, and its parts
 * @name:      name of the case
 * @ip:        the entries and markers, up to a 0
 * @max:       number of entries that are taken
 * @kernel:    index of the first entry of the kernel; 0 if there is none
 * @nr_kernel: number of entries of the kernel
 * @user:      the same of user space
 * @nr_user:   number of entries of user space
 */
struct stack_case {
	const char	*name;
	u64		ip[12];
	unsigned int	max;
	unsigned int	kernel;
	unsigned int	nr_kernel;
	unsigned int	user;
	unsigned int	nr_user;
};

static const struct stack_case stack_cases[] = {
	{ "nothing", {}, 10, 0, 0, 0, 0 },
	{ "both", { K, 11, 12, U, 21, 22, 23 }, 10, 1, 2, 4, 3 },
	{ "kernel only", { K, 11, 12 }, 10, 1, 2, 0, 0 },
	{ "user only", { U, 21, 22 }, 10, 0, 0, 1, 2 },
	{ "cut in the kernel", { K, 11, 12, U, 21 }, 1, 1, 1, 0, 0 },
	{ "cut in user space", { K, 11, 12, U, 21, 22 }, 3, 1, 2, 4, 1 },
	/* A program can have each number on its stack. */
	{ "a false kernel", { K, 11, 12, U, 21, K, 22 }, 10, 1, 2, 4, 3 },
	{ "a false end", { K, 11, 12, U, 21, U }, 10, 1, 2, 4, 2 },
	{ "a false guest", { U, 21, PERF_CONTEXT_GUEST, 22 }, 10, 0, 0, 1, 3 },
	/* powerpc has a marker for each interrupted part of the kernel. */
	{ "an interrupt", { K, 11, K, 12, U, 21 }, 10, 1, 3, 5, 1 },
};

KUNIT_ARRAY_PARAM_DESC(stack, stack_cases, name);

static void stack_test_parts(struct kunit *test)
{
	const struct stack_case *c = test->param_value;
	struct perf_callchain_entry *chain;
	struct sample_stack stack = {};

	chain = kunit_kzalloc(test, struct_size(chain, ip, ARRAY_SIZE(c->ip)), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, chain);
	for (; c->ip[chain->nr]; chain->nr++)
		chain->ip[chain->nr] = c->ip[chain->nr];
	sample_split_stack(&stack, chain, c->max);
	KUNIT_EXPECT_EQ(test, stack.nr_kernel, c->nr_kernel);
	KUNIT_EXPECT_EQ(test, stack.nr_user, c->nr_user);
	if (c->nr_kernel)
		KUNIT_EXPECT_PTR_EQ(test, stack.kernel, (const u64 *)&chain->ip[c->kernel]);
	if (c->nr_user)
		KUNIT_EXPECT_PTR_EQ(test, stack.user, (const u64 *)&chain->ip[c->user]);
}

static struct kunit_case stack_test_cases[] = {
	KUNIT_CASE_PARAM(stack_test_parts, stack_gen_params),
	{}
};

static struct kunit_suite stack_test_suite = {
	.name = "trace_perf_stack",
	.test_cases = stack_test_cases,
};

kunit_test_suite(stack_test_suite);
