// SPDX-License-Identifier: GPL-2.0
/*
 * The option "global-buffer": one ring for all CPUs instead of one for each.
 *
 * The option is set before the rings are there, so that the others are never allocated.
 */
#include "internal.h"

static int global_fail(struct trace_array *tr, const char *file, const char *text, int ret,
		       const char *why)
{
	tracing_log(tr, file, "error", text, why, 0);
	return ret;
}

/**
 * trace_array_set_global() - choose between one ring and one for each CPU
 * @tr: the trace array
 * @on: true: one ring has the records of all CPUs
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: 0; -EINVAL for the top trace array; -EBUSY if it has its rings already; -ENOMEM.
 *	   On an error nothing has changed, and error_log tells the reason.
 */
int trace_array_set_global(struct trace_array *tr, bool on)
{
	const char *text = on ? "global-buffer" : "noglobal-buffer";
	int ret;

	lockdep_assert_held(&trace_types_lock);
	if (!tr->name)
		return global_fail(tr, "trace_options", text, -EINVAL,
			"Only an instance can have one ring for all CPUs: make one with mkdir");
	if (tr->flags & TRACE_ARRAY_FL_EXPANDED || trace_is_kept(tr))
		return global_fail(tr, "trace_options", text, -EBUSY,
			"Its rings are allocated for good: make an instance with mkdir");
	scoped_guard(mutex, &trace_expand_mutex)
		ret = ring_buffer_set_global(tr->array_buffer.buffer, on);
	if (ret)
		global_fail(tr, "trace_options", text, ret, ret == -EBUSY ?
			    "Its rings are allocated: write 0 to buffer_allocate first" :
			    "Not enough memory");
	return ret;
}

/**
 * trace_array_may_set_tracer() - can a trace array have a tracer?
 * @tr: the trace array
 * @t:  the tracer
 *
 * A latency tracer takes a snapshot of the CPU that it has measured.
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: 0; -EINVAL for a latency tracer and one ring for all CPUs; error_log tells it.
 */
int trace_array_may_set_tracer(struct trace_array *tr, const struct tracer *t)
{
	lockdep_assert_held(&trace_types_lock);
	if (!t->print_max || !ring_buffer_is_global(tr->array_buffer.buffer))
		return 0;
	return global_fail(tr, "current_tracer", t->name, -EINVAL,
		"A latency tracer needs a ring for each CPU: write 0 to options/global-buffer of an unused instance");
}

/**
 * trace_array_may_resize() - can the size for a CPU be set?
 * @tr:  the trace array
 * @cpu: the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 * Return: 0; -EINVAL if the CPU has no ring, because one is for all; error_log tells it.
 */
int trace_array_may_resize(struct trace_array *tr, int cpu)
{
	char text[16];

	if (trace_array_has_ring(tr, cpu))
		return 0;
	snprintf(text, sizeof(text), "cpu%d", cpu);
	return global_fail(tr, "buffer_size_kb", text, -EINVAL,
			   "One ring is for all CPUs: write to buffer_size_kb of the instance");
}
