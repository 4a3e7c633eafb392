// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots by the kernel's command line: alloc_snapshot, ftrace_boot_snapshot.
 */
#include <linux/init.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include <asm/setup.h>	/* COMMAND_LINE_SIZE */

#include "internal.h"

/* Names of instances, each with a comma before and behind it. */
static char snap_boot_names[COMMAND_LINE_SIZE] __initdata = ",";
static bool snap_boot_top __initdata;
static bool snap_boot_take __initdata;

static int __init snap_boot_alloc(char *str)
{
	char *names = snap_boot_names;

	if (*str++ != '=') {
		snap_boot_top = true;
		trace_set_ring_buffer_expanded(NULL);
		return 1;
	}
	if (strlen(names) + strlen(str) + 2 > sizeof(snap_boot_names)) {
		pr_warn("alloc_snapshot: too many instances\n");
		return 1;
	}
	strlcat(names, str, sizeof(snap_boot_names));
	strlcat(names, ",", sizeof(snap_boot_names));
	return 1;
}
__setup("alloc_snapshot", snap_boot_alloc);

static int __init snap_boot_snapshot(char *str)
{
	snap_boot_take = true;
	return snap_boot_alloc(str);
}
__setup("ftrace_boot_snapshot", snap_boot_snapshot);

static bool __init snap_boot_named(const char *name)
{
	const char *at = snap_boot_names;
	size_t len = strlen(name);

	if (!len)
		return false;
	while ((at = strstr(at, name))) {
		if (at[-1] == ',' && at[len] == ',')
			return true;
		at++;
	}
	return false;
}

/**
 * trace_snapshot_boot() - allocate what the command line asks for
 * @tr:   of whom
 * @name: of the instance, or NULL for the top trace array
 *
 * Context: Boot, may sleep.
 */
void __init trace_snapshot_boot(struct trace_array *tr, const char *name)
{
	if (name ? !snap_boot_named(name) : !snap_boot_top)
		return;
	if (tracing_alloc_snapshot_instance(tr))
		pr_warn("tracing: no room for a snapshot of %s\n", name ?: "the top trace array");
}

/**
 * ftrace_boot_snapshot() - take a snapshot of what was traced at boot
 *
 * Of each trace array that has memory for it, if the command line asks for it.
 *
 * Context: The end of the boot, may sleep.
 */
void __init ftrace_boot_snapshot(void)
{
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_BOOT,
		.waits = true,
	};
	struct trace_snapshots *s;
	struct trace_array *tr;

	if (!snap_boot_take)
		return;
	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		s = tr->snapshots;
		mutex_lock(&s->mutex);
		/* Not in place of what the last boot has left. */
		if (!(s->user.last && s->user.last->last_boot) && snap_is_ready(&s->user) &&
		    !snap_take_wait(s, &s->user, &req))
			trace_array_puts(tr, "** Boot snapshot taken **\n");
		mutex_unlock(&s->mutex);
	}
	mutex_unlock(&trace_types_lock);
}
