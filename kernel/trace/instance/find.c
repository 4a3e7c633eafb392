// SPDX-License-Identifier: GPL-2.0
/*
 * Look up instances by name, and count their references.
 *
 * One reference is that of its existence. Each open file has one, and so has each caller of
 * trace_array_get_by_name() and each histogram with variables.
 */
#include "internal.h"

/**
 * trace_array_find() - look up an instance by its name
 * @name: the name
 *
 * Context: trace_types_lock is held. A dump of the buffers at a crash cannot take it.
 * Return: the instance, without a reference; NULL if there is none.
 */
struct trace_array *trace_array_find(const char *name)
{
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		if (tr->name && !strcmp(name, tr->name))
			return tr;
	return NULL;
}

/**
 * trace_array_find_get() - look up an instance by its name, and hold it
 * @name: the name
 *
 * Context: May sleep, takes trace_types_lock.
 * Return: the instance, for trace_array_put(); NULL if there is none, it is retired, or it
 *	   shows a kept snapshot, in which nothing can be recorded.
 */
struct trace_array *trace_array_find_get(const char *name)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	tr = trace_array_find(name);
	if (!tr || tr->retired || trace_is_kept(tr))
		return NULL;
	tr->ref++;
	return tr;
}

/**
 * trace_array_get() - hold a trace array that may have been removed
 * @tr: the trace array, as the inode of a file has it, which pins it; or NULL
 *
 * Context: May sleep, takes trace_types_lock.
 * Return: 0, then trace_array_put() has to follow; -ENODEV if it was removed or retired, or
 *	   tracing is off for this boot.
 */
int trace_array_get(struct trace_array *tr)
{
	if (!tr)
		return -ENODEV;
	guard(mutex)(&trace_types_lock);
	/* One that was removed is in no list, nor is one that is not complete yet. */
	if (list_empty(&tr->list) || tr->retired)
		return -ENODEV;
	tr->ref++;
	return 0;
}

/* Have a retired instance removed if nothing else holds it, or holds a kept snapshot of it. */
static void instance_end_retired(struct trace_array *tr)
{
	if (trace_is_kept(tr))
		tr = trace_snapshot_owner(tr);
	if (tr->retired)
		queue_work(system_dfl_wq, tr->retired);
}

/**
 * __trace_array_put() - release a trace array, with the lock held
 * @tr: the trace array
 *
 * Context: trace_types_lock is held.
 */
void __trace_array_put(struct trace_array *tr)
{
	lockdep_assert_held(&trace_types_lock);
	if (WARN_ON(tr->ref <= 0))
		return;
	tr->ref--;
	if (!tr->ref)
		trace_snapshot_last_put(tr);
	if (tr->ref <= 1)
		instance_end_retired(tr);
}

/**
 * trace_array_put() - release a trace array
 * @tr: the trace array, from trace_array_get_by_name(); or NULL
 *
 * User space can remove the instance afterwards, and so can trace_array_destroy().
 *
 * Context: May sleep, takes trace_types_lock.
 */
void trace_array_put(struct trace_array *tr)
{
	if (!tr)
		return;
	guard(mutex)(&trace_types_lock);
	__trace_array_put(tr);
}
EXPORT_SYMBOL_GPL(trace_array_put);
