// SPDX-License-Identifier: GPL-2.0
/*
 * What others may call, of a kernel without snapshots.
 */
#include <linux/bug.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/printk.h>

#include "trace.h"

void tracing_snapshot(void)
{
	WARN_ONCE(1, "this kernel is built without CONFIG_TRACER_SNAPSHOT\n");
}
EXPORT_SYMBOL_GPL(tracing_snapshot);

void tracing_snapshot_alloc(void)
{
	tracing_snapshot();
}
EXPORT_SYMBOL_GPL(tracing_snapshot_alloc);

int tracing_alloc_snapshot(void)
{
	tracing_snapshot();
	return -ENODEV;
}
EXPORT_SYMBOL_GPL(tracing_alloc_snapshot);

void tracing_snapshot_cond(struct trace_array *tr, void *cond_data)
{
	tracing_snapshot();
}
EXPORT_SYMBOL_GPL(tracing_snapshot_cond);

void *tracing_cond_snapshot_data(struct trace_array *tr)
{
	return NULL;
}
EXPORT_SYMBOL_GPL(tracing_cond_snapshot_data);

int tracing_snapshot_cond_enable(struct trace_array *tr, void *cond_data, cond_update_fn_t update)
{
	return -ENODEV;
}
EXPORT_SYMBOL_GPL(tracing_snapshot_cond_enable);

int tracing_snapshot_cond_disable(struct trace_array *tr)
{
	return -ENODEV;
}
EXPORT_SYMBOL_GPL(tracing_snapshot_cond_disable);

void __init ftrace_boot_snapshot(void)
{
}

/* To be ignored, not handed to init. */
static int __init snap_none(char *str)
{
	pr_warn("tracing: this kernel has no snapshots\n");
	return 1;
}
__setup_param("alloc_snapshot", snap_none_alloc, snap_none, 0);
__setup_param("ftrace_boot_snapshot", snap_none_boot, snap_none, 0);
