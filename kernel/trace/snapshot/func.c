// SPDX-License-Identifier: GPL-2.0
/*
 * The command of set_ftrace_filter that takes a snapshot: FUNCTION:snapshot[:COUNT]
 */
#include <linux/init.h>

#include "internal.h"

static struct snap_func *snap_func_of(struct ftrace_probe_ops *ops)
{
	return container_of(ops, struct snap_func, ops);
}

/* How many snapshots @ip may still take, or NULL for any number. */
static atomic_long_t *snap_func_left(struct ftrace_probe_ops *ops, unsigned long ip)
{
	struct ftrace_func_mapper *left = snap_func_of(ops)->left;

	return left ? (atomic_long_t *)ftrace_func_mapper_find_ip(left, ip) : NULL;
}

static bool snap_func_is_left(void *left)
{
	return atomic_long_read(left) > 0;
}

static void snap_func_spend(void *left)
{
	atomic_long_dec(left);
}

static void snap_func_call(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
			   struct ftrace_probe_ops *ops, void *data)
{
	const struct snap_cond cond = {
		.wanted = snap_func_is_left,
		.taken = snap_func_spend,
		.data = snap_func_left(ops, ip),
		.lasts = true,
	};
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_FUNCTION,
		.ip = ip,
		.cond = cond.data ? &cond : NULL,
	};

	snap_take(tr->snapshots, &tr->snapshots->user, &req);
}

static int snap_func_print(struct seq_file *m, unsigned long ip, struct ftrace_probe_ops *ops,
			   void *data)
{
	atomic_long_t *left = snap_func_left(ops, ip);

	seq_printf(m, "%ps:snapshot:", (void *)ip);
	if (left)
		seq_printf(m, "count=%ld\n", atomic_long_read(left));
	else
		seq_puts(m, "unlimited\n");
	return 0;
}

static int snap_func_init(struct ftrace_probe_ops *ops, struct trace_array *tr, unsigned long ip,
			  void *count, void **data)
{
	struct snap_func *func = snap_func_of(ops);
	atomic_long_t *left;
	int ret = -ENOMEM;

	if (func == &tr->snapshots->func[0])
		return 0;
	if (!func->left)
		func->left = allocate_ftrace_func_mapper();
	/* Left by a command that was removed. */
	left = snap_func_left(ops, ip);
	if (left) {
		atomic_long_set(left, (long)count);
		return 0;
	}
	if (func->left)
		ret = ftrace_func_mapper_add_ip(func->left, ip, count);
	/* If other functions of this command succeeded, snap_func_free() is called. */
	if (ret)
		*data = func;
	return ret;
}

/*
 * Free one function's part, or with @ip 0 the part that all functions share. The counts
 * stay until the last function is removed, because other CPUs look up theirs without a
 * lock. With @data, a command failed, and the others stay.
 */
static void snap_func_free(struct ftrace_probe_ops *ops, struct trace_array *tr, unsigned long ip,
			   void *data)
{
	struct snap_func *func = snap_func_of(ops);

	/* Nothing calls it any more. */
	if (ip && snap_func_left(ops, ip))
		trace_snapshot_forget(tr, snap_func_left(ops, ip), NULL);
	if (ip || data)
		return;
	if (func->left)
		free_ftrace_func_mapper(func->left, NULL);
	func->left = NULL;
	/* The first probe of a kind armed the snapshot, the last one disarms it. */
	if (func->armed)
		tracing_disarm_snapshot(tr);
	func->armed = false;
}

/* Each instance has a copy of each kind, which leads to its counts. */
static const struct ftrace_probe_ops snap_func_ops = {
	.func	= snap_func_call,
	.print	= snap_func_print,
	.init	= snap_func_init,
	.free	= snap_func_free,
};

static int snap_func_add(struct trace_array *tr, char *glob, struct snap_func *func, long count)
{
	int ret = snap_arm_user(tr, "set_ftrace_filter");

	if (ret)
		return ret;
	ret = register_ftrace_function_probe(glob, tr, &func->ops, (void *)count);
	if (ret < 0 || func->armed)
		tracing_disarm_snapshot(tr);
	else
		func->armed = true;
	return min(ret, 0);
}

static int snap_func_command(struct trace_array *tr, struct ftrace_hash *hash, char *glob,
			     char *cmd, char *param, int enable)
{
	bool counted = param && *param;
	struct snap_func *func;
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
	func = &tr->snapshots->func[counted];
	if (!func->ops.func)
		func->ops = snap_func_ops;
	if (*glob == '!')
		return unregister_ftrace_function_probe_func(glob + 1, tr, &func->ops);
	return snap_func_add(tr, glob, func, count);
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
