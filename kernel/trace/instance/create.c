// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate instances and their files, and free them.
 *
 * An instance is created completely or not at all: a file that cannot be created counts as
 * well as memory. Its directory is visible before it is in the list of trace arrays, and
 * after it has left it. Its files cannot be opened then.
 */
#include "internal.h"

/* How many files and directories could not be created, of all trace arrays. */
static atomic_t instance_lost = ATOMIC_INIT(0);

/**
 * instance_lost_file() - note that a file in tracefs could not be created
 *
 * Context: Any context.
 */
void instance_lost_file(void)
{
	atomic_inc(&instance_lost);
}

/* At the boot no directory tells that a name is not one of a file. */
static int instance_check_name(const char *name)
{
	size_t len = strnlen(name, NAME_MAX + 1);

	if (!len || len > NAME_MAX || strchr(name, '/') || !strcmp(name, ".") ||
	    !strcmp(name, ".."))
		return -EINVAL;
	return 0;
}

static int instance_alloc_buffer(struct trace_array *tr)
{
	int ret = allocate_trace_buffers(tr, trace_buf_size);

	if (ret)
		return ret;
	if (!tr->range_addr_start)
		return tr->flags & TRACE_ARRAY_FL_EXPANDED ? trace_array_expand(tr) : 0;
	/* Memory that survives a reboot has its rings. */
	trace_set_ring_buffer_expanded(tr);
	return 0;
}

static int instance_alloc_parts(struct trace_array *tr, const struct instance_spec *spec)
{
	if (spec->systems) {
		tr->system_names = kstrdup_const(spec->systems, GFP_KERNEL);
		if (!tr->system_names)
			return -ENOMEM;
	}
	return ftrace_allocate_ftrace_ops(tr) ?: instance_alloc_buffer(tr);
}

/* The instance has no files, or its files are removed already, but may be opened. */
static void instance_free(struct trace_array *tr)
{
	free_trace_buffers(tr);
	ftrace_free_ftrace_ops(tr);
	clear_tracing_err_log(tr);
	free_percpu(tr->last_func_repeats);
	kfree_const(tr->system_names);
	trace_array_free(tr);
}

static struct trace_array *instance_alloc(const struct instance_spec *spec)
{
	struct trace_array *tr = trace_array_alloc(spec->name);

	if (!tr)
		return NULL;
	tr->flags = spec->flags;
	tr->range_addr_start = spec->start;
	tr->range_addr_size = spec->size;
	tr->trace_flags = top_trace_array()->trace_flags & ~INSTANCE_OWN_FLAGS;
	init_trace_flags_index(tr);
	if (instance_alloc_parts(tr, spec)) {
		instance_free(tr);
		return NULL;
	}
	return tr;
}

/**
 * instance_create_files() - create the directory of an instance
 * @tr: the instance
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0; -ENOMEM if a part of it could not be created.
 */
int instance_create_files(struct trace_array *tr)
{
	int lost = atomic_read(&instance_lost);

	if (trace_array_mkdir(tr, NULL) || event_trace_add_tracer(tr->dir, tr))
		return -ENOMEM;
	init_tracer_tracefs(tr, tr->dir);
	__update_tracer_options(tr);
	return atomic_read(&instance_lost) == lost ? 0 : -ENOMEM;
}

/**
 * instance_dismantle() - remove the files of an instance, and free it
 * @tr: the instance; it is not in the list of trace arrays, and has no references
 *
 * The instance may have been created in part.
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 */
void instance_dismantle(struct trace_array *tr)
{
	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	trace_snapshot_stop(tr);
	event_trace_del_tracer(tr);
	ftrace_clear_pids(tr);
	ftrace_destroy_function_files(tr);
	tracefs_remove(tr->dir);
	instance_free(tr);
}

/**
 * instance_create() - create an instance
 * @spec: its name and its settings
 *
 * Before tracefs is there, it gets its events only. Their triggers of the command line
 * follow by trace_add_boot_triggers(), and its files by trace_create_instances().
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: the instance, with the reference of its existence; -ENODEV if tracing is off for
 *	   this boot; -EINVAL for a name that no directory can have; -EEXIST; -ENOMEM, then
 *	   nothing is left of it.
 */
struct trace_array *instance_create(const struct instance_spec *spec)
{
	struct trace_array *tr;
	int ret;

	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	/* The kernel is locked down, or had no memory for the top one. A message has told it. */
	if (!top_trace_array())
		return ERR_PTR(-ENODEV);
	ret = instance_check_name(spec->name);
	if (ret)
		return ERR_PTR(ret);
	if (trace_array_find(spec->name))
		return ERR_PTR(-EEXIST);
	tr = instance_alloc(spec);
	if (!tr)
		return ERR_PTR(-ENOMEM);
	if (trace_instance_dir)
		ret = instance_create_files(tr);
	else
		__trace_early_add_events(tr);
	if (ret) {
		instance_dismantle(tr);
		return ERR_PTR(ret);
	}
	tr->ref = 1;
	list_add(&tr->list, &ftrace_trace_arrays);
	return tr;
}
