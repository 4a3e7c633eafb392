// SPDX-License-Identifier: GPL-2.0
/*
 * The directory "instances", and the functions for modules that do the same.
 */
#include "internal.h"

static int instance_mkdir(const char *name)
{
	const struct instance_spec spec = { .name = name };
	int ret;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	ret = PTR_ERR_OR_ZERO(instance_create(&spec));
	if (ret)
		instance_report_mkdir(name, ret);
	return ret;
}

/* Do snapshots of it stay that a user has not seen to yet? */
static bool instance_keeps(struct trace_array *tr)
{
	struct trace_array *pos;

	if (trace_is_kept(tr))
		return false;
	list_for_each_entry(pos, &ftrace_trace_arrays, list)
		if (trace_is_kept(pos) && trace_snapshot_owner(pos) == tr)
			return true;
	return trace_snapshot_is_keeping(tr);
}

static int instance_try_rmdir(const char *name, struct instance_busy *busy)
{
	struct trace_array *tr;
	int ret;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	tr = trace_array_find(name);
	/* Kept snapshots tell of what went wrong once. Only the kernel removes them along. */
	ret = !tr ? -ENODEV : instance_keeps(tr) ? -EBUSY : instance_remove(tr);
	if (ret == -EBUSY)
		instance_note_busy(tr, busy);
	return ret;
}

static int instance_rmdir(const char *name)
{
	struct instance_busy busy;
	int ret = instance_try_rmdir(name, &busy);

	if (ret == -EBUSY)
		instance_report_busy(name, &busy);
	return ret;
}

/**
 * trace_array_get_by_name() - look up an instance, or create it
 * @name:    its name
 * @systems: a new instance has only the events of these systems, a list with commas;
 *	     NULL for those of all
 *
 * User space cannot remove the instance until trace_array_put(). Then it can, and so can
 * trace_array_destroy(). An instance that is created during the boot has its memory at once.
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 * Return: the instance; NULL if tracing is off for this boot, there is not enough memory, no
 *	   directory can have @name, or it is that of an instance that is retired or shows a kept
 *	   snapshot.
 */
struct trace_array *trace_array_get_by_name(const char *name, const char *systems)
{
	const struct instance_spec spec = {
		.name = name,
		.systems = systems,
		.flags = system_state < SYSTEM_RUNNING ? TRACE_ARRAY_FL_EXPANDED : 0,
	};
	struct trace_array *tr;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	tr = trace_array_find(name) ?: instance_create(&spec);
	if (IS_ERR(tr) || tr->retired || trace_is_kept(tr))
		return NULL;
	tr->ref++;
	return tr;
}
EXPORT_SYMBOL_GPL(trace_array_get_by_name);

/* The caller has no reference, so that an address is all there is. */
static bool instance_exists(const struct trace_array *tr)
{
	const struct trace_array *pos;

	list_for_each_entry(pos, &ftrace_trace_arrays, list)
		if (pos == tr)
			return true;
	return false;
}

/**
 * trace_array_destroy() - remove an instance
 * @tr: the instance; the caller has released it. It may have been removed since
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 * Return: 0; -EINVAL if @tr is NULL; -ENODEV if it does not exist; -EBUSY if it is in use.
 */
int trace_array_destroy(struct trace_array *tr)
{
	if (!tr)
		return -EINVAL;
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	return instance_exists(tr) ? instance_remove(tr) : -ENODEV;
}
EXPORT_SYMBOL_GPL(trace_array_destroy);

/**
 * trace_create_instances() - create "instance_open", and "instances" with those that exist
 * @top: the top directory of tracefs, NULL for its root
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 */
void __init trace_create_instances(struct dentry *top)
{
	struct trace_array *tr;

	trace_instance_dir = tracefs_create_instance_dir("instances", top, instance_mkdir,
							 instance_rmdir);
	if (!trace_instance_dir) {
		pr_warn("Tracing: cannot create the directory of instances\n");
		return;
	}
	instance_create_open(top);
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		/* The instance records already, so it stays. */
		if (tr->name && instance_create_files(tr))
			pr_warn("Tracing: instance %s has not all of its files: not enough memory\n",
				tr->name);
	}
}
