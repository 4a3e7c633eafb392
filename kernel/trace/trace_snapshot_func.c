// SPDX-License-Identifier: GPL-2.0
/*
 * The command of set_ftrace_filter that takes a snapshot: FUNCTION:snapshot[:COUNT]
 */
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "trace_snap.h"

static void snap_func(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
		      struct ftrace_probe_ops *ops, void *data)
{
	snap_request_function(tr, ip);
}

/* How often @ip may still take one, or NULL. */
static atomic_long_t *snap_func_left(void *data, unsigned long ip)
{
	return data ? (atomic_long_t *)ftrace_func_mapper_find_ip(data, ip) : NULL;
}

static void snap_func_counted(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
			      struct ftrace_probe_ops *ops, void *data)
{
	atomic_long_t *left = snap_func_left(data, ip);

	/* CPUs call the function at the same time. */
	if (!left || atomic_long_dec_if_positive(left) >= 0)
		snap_request_function(tr, ip);
}

static int snap_func_print(struct seq_file *m, unsigned long ip, struct ftrace_probe_ops *ops,
			   void *data)
{
	atomic_long_t *left = snap_func_left(data, ip);

	if (left)
		seq_printf(m, "%ps:snapshot:count=%ld\n", (void *)ip, atomic_long_read(left));
	else
		seq_printf(m, "%ps:snapshot:unlimited\n", (void *)ip);
	return 0;
}

static int snap_func_init(struct ftrace_probe_ops *ops, struct trace_array *tr, unsigned long ip,
			  void *count, void **data)
{
	if (!*data)
		*data = allocate_ftrace_func_mapper();
	return *data ? ftrace_func_mapper_add_ip(*data, ip, count) : -ENOMEM;
}

/* The first probe of a kind has armed the snapshot, the last one disarms it. */
static void snap_func_disarm(struct trace_array *tr, int kind)
{
	if (test_and_clear_bit(kind, &tr->snapshots->func))
		tracing_disarm_snapshot(tr);
}

/* Of one function, or with @ip 0 of what all of them share. */
static void snap_func_free(struct ftrace_probe_ops *ops, struct trace_array *tr, unsigned long ip,
			   void *data)
{
	if (!ip)
		snap_func_disarm(tr, SNAP_FUNC);
}

static void snap_func_counted_free(struct ftrace_probe_ops *ops, struct trace_array *tr,
				   unsigned long ip, void *data)
{
	if (ip) {
		ftrace_func_mapper_remove_ip(data, ip);
		return;
	}
	if (data)
		free_ftrace_func_mapper(data, NULL);
	snap_func_disarm(tr, SNAP_FUNC_COUNTED);
}

static struct ftrace_probe_ops snap_func_ops = {
	.func	= snap_func,
	.print	= snap_func_print,
	.free	= snap_func_free,
};

static struct ftrace_probe_ops snap_func_counted_ops = {
	.func	= snap_func_counted,
	.print	= snap_func_print,
	.init	= snap_func_init,
	.free	= snap_func_counted_free,
};

static int snap_func_command(struct trace_array *tr, struct ftrace_hash *hash, char *glob,
			     char *cmd, char *param, int enable)
{
	bool counted = param && *param;
	struct ftrace_probe_ops *ops = counted ? &snap_func_counted_ops : &snap_func_ops;
	int kind = counted ? SNAP_FUNC_COUNTED : SNAP_FUNC;
	long count = 0;
	int ret;

	if (!tr)
		return -ENODEV;
	/* set_ftrace_notrace has no commands. */
	if (!enable)
		return -EINVAL;

	if (*glob == '!')
		return unregister_ftrace_function_probe_func(glob + 1, tr, ops);

	if (counted) {
		ret = kstrtol(param, 0, &count);
		if (ret)
			return ret;
		if (count < 0)
			return -EINVAL;
	}
	ret = tracing_arm_snapshot(tr);
	if (ret)
		return ret;
	ret = register_ftrace_function_probe(glob, tr, ops, (void *)count);
	if (ret < 0 || test_and_set_bit(kind, &tr->snapshots->func))
		tracing_disarm_snapshot(tr);
	return min(ret, 0);
}

static struct ftrace_func_command snap_func_cmd = {
	.name	= "snapshot",
	.func	= snap_func_command,
};

static int __init snap_func_register(void)
{
	return register_ftrace_command(&snap_func_cmd);
}
core_initcall(snap_func_register);
