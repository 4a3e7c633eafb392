// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of mkdir and rmdir in the error_log of the top directory.
 */
#include "internal.h"

/* Both are in the line "Command:", so what is counted comes behind the name. */
static void instance_log(const char *command, const char *name, const char *counts, const char *why)
{
	char *text = kasprintf(GFP_KERNEL, "%s %s%s", command, name, counts);

	if (text)
		tracing_log(NULL, "instances", "error", text, why, strlen(command) + 1);
	kfree(text);
}

/**
 * instance_report_mkdir() - tell why an instance was not created
 * @name: its name
 * @err:  error of instance_create()
 *
 * Context: May sleep.
 */
void instance_report_mkdir(const char *name, int err)
{
	instance_log("mkdir", name, "", err == -EEXIST ? "An instance of this name exists" :
		     err == -EINVAL ? "Invalid name, expected 1 to 255 characters without '/'" :
		     "Not enough memory");
}

/* There is to be room for what holds it. */
#define INSTANCE_MAX_NAMES	4

/*
 * The kept snapshots of an instance, or the parts of a kept one.
 * Return: one that is open, or NULL.
 */
static struct trace_array *instance_list_kept(struct trace_array *tr, struct seq_buf *s)
{
	struct trace_array *pos, *open = NULL;
	unsigned int nr = 0;

	list_for_each_entry(pos, &ftrace_trace_arrays, list) {
		if (!trace_is_kept(pos) || (trace_snapshot_owner(pos) != tr && pos->session != tr))
			continue;
		if (pos->ref > 1) {
			open = pos;
			seq_buf_printf(s, ", %s open", pos->name);
		} else if (nr++ < INSTANCE_MAX_NAMES) {
			seq_buf_printf(s, ", %s", pos->name);
		}
	}
	if (nr > INSTANCE_MAX_NAMES)
		seq_buf_printf(s, ", %u more", nr - INSTANCE_MAX_NAMES);
	return open;
}

/**
 * instance_note_busy() - note what holds an instance
 * @tr:   the instance; it was not removed, with -EBUSY
 * @busy: gets it; instance_report_busy() has to follow
 *
 * A reference does not tell its holder. Histograms, memory that survives a reboot, open
 * files of trace_pipe and trace_pipe_raw, and mappings are known.
 *
 * Context: trace_types_lock is held.
 */
void instance_note_busy(struct trace_array *tr, struct instance_busy *busy)
{
	bool boot = tr->flags & TRACE_ARRAY_FL_BOOT;
	/* One that shows a kept snapshot has no histograms. */
	int hists = trace_is_kept(tr) ? 0 : list_count_nodes(&tr->hist_vars);
	bool mapped = ring_buffer_is_mapped(tr->array_buffer.buffer);
	struct seq_buf *s = &busy->counts;
	struct trace_array *kept;

	lockdep_assert_held(&trace_types_lock);
	seq_buf_init(s, busy->text, sizeof(busy->text));
	seq_buf_printf(s, ": %d open files or references", tr->ref - 1 - boot - hists - tr->owned);
	if (tr->trace_ref)
		seq_buf_printf(s, ", %d of trace_pipe or trace_pipe_raw", tr->trace_ref);
	if (mapped)
		seq_buf_puts(s, ", mapped");
	if (hists)
		seq_buf_printf(s, ", %d histograms with variables", hists);
	if (tr->session)
		seq_buf_printf(s, ", channel of %s", tr->session->name ?: "top");
	kept = instance_list_kept(tr, s);
	/* Only where nothing else holds it */
	if (boot || tr->owned || tr->retired || tr->session || tr->ref > 1)
		kept = NULL;
	busy->why = boot ? "Its memory survives a reboot: it cannot be removed" :
		    tr->owned ? "It belongs to a file descriptor: close that" :
		    tr->retired ? "It is removed when its open files are closed" :
		    tr->session && trace_is_kept(tr) ?
		    "It is a part of a kept snapshot: remove that" :
		    tr->session ? "It is a channel of a session: remove it from there first" :
		    kept ? "A kept snapshot of it is open: close its files" :
		    tr->ref == 1 ? "It has kept snapshots, or parts of some: remove them" :
		    mapped ? "Its buffer is mapped: unmap it, and close the file" :
		    tr->trace_ref ? "trace_pipe or trace_pipe_raw is open: close it" :
		    hists ? "Histograms of it have variables: remove their triggers" :
		    "Files are open, or the kernel holds references";
	busy->tr = tr;
	busy->dir = dget((kept ?: tr)->dir);
}

/**
 * instance_report_busy() - tell what holds an instance
 * @name: its name
 * @busy: the reason
 *
 * Context: May sleep, neither event_mutex nor trace_types_lock is held.
 */
void instance_report_busy(const char *name, struct instance_busy *busy)
{
	instance_find_holder(busy);
	dput(busy->dir);
	instance_log("rmdir", name, seq_buf_str(&busy->counts), busy->why);
}
