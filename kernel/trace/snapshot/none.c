// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that a kernel without snapshots has for others.
 */
#include <linux/bug.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/printk.h>

#include "../trace.h"

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
