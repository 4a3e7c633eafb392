// SPDX-License-Identifier: GPL-2.0
/*
 * The unit tests of kernel/trace/ring_buffer/tests/, as scenarios. They are linked with a ring
 * buffer of their own that has race points, which the stepper's has not: see the Makefile.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/ring_buffer.h>
#include <linux/sort.h>

#include "../shim/shim.h"
#include "run.h"

extern struct kunit_suite *__start_kunit_suites[], *__stop_kunit_suites[];
extern int trace_rb_cpu_prepare(unsigned int cpu, struct hlist_node *node);

#define MAX_CASES	256
#define MAX_ACTIONS	16

struct scenario kunit_scenarios[MAX_CASES];

static struct {
	struct kunit_suite	*suite;
	struct kunit_case	*test;
} cases[MAX_CASES];

/* One has a task of its own, the other sums up what all tests of a kernel did. */
static const char * const only_in_kernel[] = { "global_test_hotplug", "race_test_all_taken" };

static struct kunit now;
static const char *value;	/* of the parameter of @now, or "" */
static void *way_out[5];

static struct {
	kunit_action_t	*fn;
	void		*arg;
} actions[MAX_ACTIONS];
static int nr_actions;

/* ---- what the tests call --------------------------------------------------- */

/* (The C library wants its stack aligned.) */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	return host_vsnprintf(buf, size, fmt, args);
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = host_vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = host_vsnprintf(buf, INT_MAX, fmt, args);
	va_end(args);
	return n;
}

ssize_t sized_strscpy(char *to, const char *from, size_t size)
{
	return snprintf(to, size, "%s", from);
}

void *memchr_inv(const void *from, int byte, size_t size)
{
	const u8 *at = from, *end = at + size;

	while (at < end && *at == (u8)byte)
		at++;
	return at < end ? (void *)at : NULL;
}

unsigned int __bitmap_weight(const unsigned long *map, unsigned int bits)
{
	unsigned int i, n = 0;

	for (i = 0; i < bits; i++)
		n += test_bit(i, map);
	return n;
}

u32 prandom_u32_state(struct rnd_state *state)
{
	state->s1 = state->s1 * 1664525 + 1013904223;
	return state->s1 ^ state->s1 >> 15;
}

void *alloc_pages_exact_noprof(size_t size, gfp_t gfp)
{
	return (void *)get_free_pages_noprof(gfp, get_order(size));
}

void free_pages_exact(void *memory, size_t size)
{
	free_pages((unsigned long)memory, get_order(size));
}

static cmp_r_func_t sort_cmp;
static const void *sort_priv;

static int sort_cmp_priv(const void *a, const void *b)
{
	return sort_cmp(a, b, sort_priv);
}

void sort_r(void *base, size_t n, size_t size, cmp_r_func_t cmp, swap_r_func_t swap,
	    const void *priv)
{
	sort_cmp = cmp;
	sort_priv = priv;
	host_sort(base, n, size, sort_cmp_priv);
}

void __noreturn kunit_try_catch_throw(struct kunit_try_catch *unused)
{
	__builtin_longjmp(way_out, 1);
}

void __noreturn __kunit_abort(struct kunit *test)
{
	kunit_try_catch_throw(&test->try_catch);
}

/* With one of these as its @assert_format, a failure has the two values. */
void kunit_binary_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream)
{
	const struct kunit_binary_assert *a =
		container_of(assert, struct kunit_binary_assert, assert);

	host_printf("#   %s is %lld, %s is %lld\n", a->text->left_text, a->left_value,
		    a->text->right_text, a->right_value);
}

void kunit_binary_ptr_assert_format(const struct kunit_assert *assert,
				    const struct va_format *message, struct string_stream *stream)
{
	const struct kunit_binary_ptr_assert *a =
		container_of(assert, struct kunit_binary_ptr_assert, assert);

	host_printf("#   %s is %p, %s is %p\n", a->text->left_text, a->left_value,
		    a->text->right_text, a->right_value);
}

void kunit_unary_assert_format(const struct kunit_assert *assert, const struct va_format *message,
			       struct string_stream *stream)
{
	const struct kunit_unary_assert *a =
		container_of(assert, struct kunit_unary_assert, assert);

	host_printf("#   %s is %s\n", a->condition, a->expected_true ? "false" : "true");
}

void kunit_mem_assert_format(const struct kunit_assert *assert, const struct va_format *message,
			     struct string_stream *stream)
{
}

void kunit_fail_assert_format(const struct kunit_assert *assert, const struct va_format *message,
			      struct string_stream *stream)
{
}

void __kunit_do_failed_assertion(struct kunit *test, const struct kunit_loc *loc,
				 enum kunit_assert_type type, const struct kunit_assert *assert,
				 assert_format_t assert_format, const char *fmt, ...)
{
	char text[256] = "";
	va_list args;

	kunit_set_failure(test);
	if (fmt) {
		va_start(args, fmt);
		host_vsnprintf(text, sizeof(text), fmt, args);
		va_end(args);
	}
	fault(F_VALUE, "%s:%d: %s %s", kbasename(loc->file), loc->line, value, text);
	if (nr_faults <= 3 || verbose)
		assert_format(assert, NULL, NULL);
}

int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *fn, void *arg)
{
	if (nr_actions == MAX_ACTIONS) {
		fn(arg);
		return -ENOMEM;
	}
	actions[nr_actions].fn = fn;
	actions[nr_actions++].arg = arg;
	return 0;
}

static void kunit_free(void *p)
{
	kfree(p);
}

void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp)
{
	void *p = kmalloc_array(n, size, gfp);

	return p && !kunit_add_action_or_reset(test, kunit_free, p) ? p : NULL;
}

/* A kernel frees the memory meanwhile, if no test waits for that. */
void __real_ring_buffer_free(struct trace_buffer *buffer);
void __wrap_ring_buffer_free(struct trace_buffer *buffer);
void __wrap_ring_buffer_free(struct trace_buffer *buffer)
{
	__real_ring_buffer_free(buffer);
	shim_rcu_run();
}

/* ---- the tests ------------------------------------------------------------- */

/* A failed assertion ends @fn */
static bool try(int (*init)(struct kunit *test), void (*fn)(struct kunit *test))
{
	if (__builtin_setjmp(way_out))
		return false;
	if (init)
		return !init(&now);
	if (fn)
		fn(&now);
	return true;
}

static bool run_turn(const struct kunit_suite *suite, const struct kunit_case *test)
{
	long warnings = host_warnings;

	now.name = test->name;
	now.status = KUNIT_SUCCESS;
	now.priv = NULL;
	if (!suite->init || try(suite->init, NULL))
		try(NULL, test->run_case);
	try(NULL, suite->exit);
	while (nr_actions) {
		nr_actions--;
		actions[nr_actions].fn(actions[nr_actions].arg);
	}
	nr_runs++;
	if (host_warnings != warnings)
		fault(F_WARN, "%s: %ld warnings: %s", value, host_warnings - warnings, host_said);
	if (shim_preempt_count(0))
		fault(F_VALUE, "%s: preempt_count is %#x", value, shim_preempt_count(0));
	return now.status != KUNIT_SKIPPED;
}

static const void *next_value(const struct kunit_case *test, char *desc)
{
#ifdef LINUX_7
	return test->generate_params(&now, now.param_value, desc);
#else
	return test->generate_params(now.param_value, desc);
#endif
}

static void run_case(long nr)
{
	static char desc[KUNIT_PARAM_DESC_SIZE];
	struct kunit_case *test = cases[nr].test;
	bool any = false;

	shim_prepare = trace_rb_cpu_prepare;
	value = desc;
	if (!test->generate_params) {
		any = run_turn(cases[nr].suite, test);
	} else {
		while ((now.param_value = next_value(test, desc)))
			any |= run_turn(cases[nr].suite, test);
	}
	if (!any)
		skipped = now.status_comment;
}

static bool is_only_in_kernel(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(only_in_kernel); i++) {
		if (!strcmp(only_in_kernel[i], name))
			return true;
	}
	return false;
}

/* Before main(), which looks at the table */
static void __attribute__((constructor)) list_cases(void)
{
	struct kunit_suite **suite;
	struct kunit_case *test;
	unsigned int nr = 0;
	char *name;

	for (suite = __start_kunit_suites; suite < __stop_kunit_suites; suite++) {
		kunit_suite_for_each_test_case((*suite), test) {
			if (is_only_in_kernel(test->name) || nr + 1 == MAX_CASES)
				continue;
			name = host_malloc(300, 0);
			snprintf(name, 300, "kunit.%s.%s", (*suite)->name, test->name);
			cases[nr].suite = *suite;
			cases[nr].test = test;
			kunit_scenarios[nr] = (struct scenario){
				name, run_case, nr, SC_QUICK | SC_ONE_CPU, "unit test",
			};
			nr++;
		}
	}
}
