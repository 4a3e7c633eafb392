// SPDX-License-Identifier: GPL-2.0
/*
 * The command of set_ftrace_filter that takes a snapshot: FUNCTION:snapshot[:COUNT]
 */
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "internal.h"

static void snap_func(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
		      struct ftrace_probe_ops *ops, void *data)
{
	snap_request_function(tr, ip, NULL);
}

/* How many snapshots @ip may still take, or NULL. */
static atomic_long_t *snap_func_left(struct ftrace_probe_ops *ops, unsigned long ip)
{
	struct snap_func *func = container_of(ops, struct snap_func, counted);

	return (atomic_long_t *)ftrace_func_mapper_find_ip(func->left, ip);
}

static bool snap_func_is_left(void *left)
{
	return atomic_long_read(left) > 0;
}

static void snap_func_spend(void *left)
{
	atomic_long_dec(left);
}

static void snap_func_counted(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
			      struct ftrace_probe_ops *ops, void *data)
{
	const struct snap_cond cond = {
		.wanted = snap_func_is_left,
		.taken = snap_func_spend,
		.data = snap_func_left(ops, ip),
	};

	snap_request_function(tr, ip, &cond);
}

static int snap_func_print(struct seq_file *m, unsigned long ip, struct ftrace_probe_ops *ops,
			   void *data)
{
	seq_printf(m, "%ps:snapshot:unlimited\n", (void *)ip);
	return 0;
}

static int snap_func_counted_print(struct seq_file *m, unsigned long ip,
				   struct ftrace_probe_ops *ops, void *data)
{
	seq_printf(m, "%ps:snapshot:count=%ld\n", (void *)ip,
		   atomic_long_read(snap_func_left(ops, ip)));
	return 0;
}

static int snap_func_counted_init(struct ftrace_probe_ops *ops, struct trace_array *tr,
				  unsigned long ip, void *count, void **data)
{
	struct snap_func *func = &tr->snapshots->func;
	atomic_long_t *left;
	int ret = -ENOMEM;

	if (!func->left)
		func->left = allocate_ftrace_func_mapper();
	if (func->left) {
		/* Left by a command that was removed. */
		left = snap_func_left(ops, ip);
		if (left) {
			atomic_long_set(left, (long)count);
			return 0;
		}
		ret = ftrace_func_mapper_add_ip(func->left, ip, count);
	}
	/* If other functions of this command succeeded, snap_func_counted_free() is called. */
	if (ret)
		*data = func;
	return ret;
}

/* The first probe of a kind armed the snapshot, the last one disarms it. */
static void snap_func_disarm(struct trace_array *tr, int kind)
{
	if (test_and_clear_bit(kind, &tr->snapshots->func.armed))
		tracing_disarm_snapshot(tr);
}

/* Free one function's part, or with @ip 0 the part that all functions share. */
static void snap_func_free(struct ftrace_probe_ops *ops, struct trace_array *tr, unsigned long ip,
			   void *data)
{
	if (!ip)
		snap_func_disarm(tr, SNAP_FUNC);
}

/*
 * The counts stay until the last function is removed, because other CPUs look up theirs
 * without a lock. With @data, a command failed, and the others stay.
 */
static void snap_func_counted_free(struct ftrace_probe_ops *ops, struct trace_array *tr,
				   unsigned long ip, void *data)
{
	struct snap_func *func = &tr->snapshots->func;

	if (ip || data)
		return;
	free_ftrace_func_mapper(func->left, NULL);
	func->left = NULL;
	snap_func_disarm(tr, SNAP_FUNC_COUNTED);
}

static struct ftrace_probe_ops snap_func_ops = {
	.func	= snap_func,
	.print	= snap_func_print,
	.free	= snap_func_free,
};

/* Each instance has a copy, which leads to its counts. */
static const struct ftrace_probe_ops snap_func_counted_ops = {
	.func	= snap_func_counted,
	.print	= snap_func_counted_print,
	.init	= snap_func_counted_init,
	.free	= snap_func_counted_free,
};

static int snap_func_add(struct trace_array *tr, char *glob, struct ftrace_probe_ops *ops, int kind,
			 long count)
{
	int ret = tracing_arm_snapshot(tr);

	if (ret)
		return ret;
	ret = register_ftrace_function_probe(glob, tr, ops, (void *)count);
	if (ret < 0)
		tracing_disarm_snapshot(tr);
	else if (test_and_set_bit(kind, &tr->snapshots->func.armed))
		tracing_disarm_snapshot(tr);
	return min(ret, 0);
}

static int snap_func_command(struct trace_array *tr, struct ftrace_hash *hash, char *glob,
			     char *cmd, char *param, int enable)
{
	bool counted = param && *param;
	struct ftrace_probe_ops *ops = &snap_func_ops;
	long count = 0;
	int ret;

	if (!tr)
		return -ENODEV;
	/* set_ftrace_notrace has no commands. */
	if (!enable)
		return -EINVAL;

	if (counted && *glob != '!') {
		ret = kstrtol(param, 0, &count);
		if (ret)
			return ret;
		if (count < 0)
			return -EINVAL;
	}

	/* ftrace runs one command at a time. */
	if (counted) {
		ops = &tr->snapshots->func.counted;
		if (!ops->func)
			*ops = snap_func_counted_ops;
	}
	if (*glob == '!')
		return unregister_ftrace_function_probe_func(glob + 1, tr, ops);
	return snap_func_add(tr, glob, ops, counted ? SNAP_FUNC_COUNTED : SNAP_FUNC, count);
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
