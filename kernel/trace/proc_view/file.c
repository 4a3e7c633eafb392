// SPDX-License-Identifier: GPL-2.0
/*
 * The file "proc_view" of an instance.
 */
#include "../trace_text.h"
#include "internal.h"

/* Can an instance be shown? */
static int view_may_show(struct trace_array *tr, const char **why)
{
	*why = "Its memory survives a reboot, and PIDs do not";
	if (tr->range_addr_start)
		return -EINVAL;
	*why = "Its name is too long, expected 251 characters at most";
	if (strlen(tr->name) > NAME_MAX - TRACE_VIEW_ENDING)
		return -ENAMETOOLONG;
	*why = "Its clock has no times of tasks: set trace_clock to global, mono or boot";
	return min(trace_stamp_clock(tr), 0);
}

static int view_set(struct trace_array *tr, bool on)
{
	bool done = false;
	const char *why;
	int ret = 0;

	if (on) {
		static_branch_inc(&trace_view_used);
		/* A writer that has not seen that commits. */
		synchronize_rcu();
	}
	scoped_guard(mutex, &trace_types_lock) {
		if (on && !tr->view->shown)
			ret = view_may_show(tr, &why);
		if (ret)
			tracing_log(tr, "proc_view", "error", "1", why, 0);
		else
			done = view_show(tr->view, on);
	}
	/* The key stays on for a view that is shown now, and not for one that is hidden now. */
	if (on != done)
		static_branch_dec(&trace_view_used);
	return ret;
}

static ssize_t proc_view_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	int ret = trace_write_bool(file, ubuf, cnt);

	if (ret >= 0)
		ret = view_set(file->private_data, ret);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static ssize_t proc_view_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	const char *text = READ_ONCE(tr->view->shown) ? "1\n" : "0\n";

	return simple_read_from_buffer(ubuf, cnt, ppos, text, 2);
}

static const struct file_operations proc_view_fops = {
	.open		= tracing_open_generic_tr,
	.read		= proc_view_read,
	.write		= proc_view_write,
	.llseek		= default_llseek,
	.release	= tracing_release_generic_tr,
};

/**
 * trace_view_create_file() - create "proc_view"
 * @tr:  the trace array; the one at the top has none
 * @dir: its directory
 *
 * Without memory the instance is not created.
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_view_create_file(struct trace_array *tr, struct dentry *dir)
{
	if (!tr->name)
		return;
	if (view_create(tr))
		instance_lost_file();
	else
		trace_create_file("proc_view", TRACE_MODE_WRITE, dir, tr, &proc_view_fops);
}
