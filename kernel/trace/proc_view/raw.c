// SPDX-License-Identifier: GPL-2.0
/*
 * A record as it was recorded, and the file of all of them: a trace.dat.
 */
#include "../trace_output.h"
#include "internal.h"

/* The caller holds trace_event_sem. Has an event a format, or was it removed? */
static bool view_has_format(int type)
{
	static bool own[__TRACE_LAST_TYPE];
	struct trace_event_call *call;

	lockdep_assert_held(&trace_event_sem);
	if (type >= __TRACE_LAST_TYPE)
		return ftrace_find_event(type);

	/* The events of ftrace itself are never removed. */
	if (READ_ONCE(own[type]))
		return true;
	list_for_each_entry(call, &ftrace_events, list) {
		if (call->event.type != type)
			continue;
		WRITE_ONCE(own[type], true);
		return true;
	}
	return false;
}

/**
 * view_raw_take() - store the fields of an iterator's record, with the PID that the reader sees
 * @copy:   where it is stored
 * @thread: the thread that has written it
 *
 * A record of an event that was removed has no format.
 *
 * Context: A worker, trace_event_sem is held.
 * Return: 0; -ENOENT if it has none; -ENOBUFS as view_store_add().
 */
int view_raw_take(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_iterator *iter = copy->iter;
	const struct trace_dat_record rec = {
		.ts = iter->ts, .cpu = copy->cpu, .len = iter->ent_size,
		.member = copy->source, .lost = !!iter->lost_events,
		.owner = thread - copy->group.thread,
	};

	if (!view_has_format(iter->ent->type))
		return -ENOENT;
	iter->ent->pid = thread->vnr;
	return view_store_add(&copy->store, &rec, iter->ent);
}

static void view_print_names(struct seq_file *m, void *private)
{
	struct view_group *group = private;
	unsigned int i;

	for (i = 0; i < group->nr; i++) {
		if (!group->thread[i].used)
			continue;
		seq_printf(m, "%d ", group->thread[i].vnr);
		seq_escape(m, group->thread[i].comm, "\n\\");
		seq_putc(m, '\n');
	}
}

/*
 * The part of the worker. No event has been removed since the records were copied, or they are
 * copied again: its number may be that of another event now.
 */
static int view_raw_put_formats(struct view_copy *copy)
{
	int ret = trace_dat_put_printk(&copy->dat);

	ret = ret ?: mutex_lock_interruptible(&event_mutex);
	if (ret)
		return ret;
	ret = mutex_lock_interruptible(&trace_types_lock);
	if (!ret) {
		if (view_members_are_same(copy) && copy->view->tr)
			ret = trace_dat_put_formats(&copy->dat, copy->view->tr);
		else
			ret = -EAGAIN;
		mutex_unlock(&trace_types_lock);
	}
	mutex_unlock(&event_mutex);
	return ret;
}

/**
 * view_raw_finish() - make a trace.dat of the records that were copied
 * @copy: the records; &view_copy.dat is set
 *
 * Context: May sleep.
 * Return: 0; -EAGAIN to copy again; -EFBIG as trace_dat_make_pages(); -EINTR; -ENOMEM.
 */
int view_raw_finish(struct view_copy *copy)
{
	struct trace_dat_copy *dat = &copy->dat;
	int ret;

	dat->record = copy->store.entry;
	dat->nr = copy->store.nr;
	dat->data = copy->store.data;
	dat->len = copy->store.used;
	/* Each record says so itself. */
	dat->lost = false;
	dat->print_names = view_print_names;
	dat->private = &copy->group;
	ret = trace_dat_make_pages(dat);
	if (ret)
		return ret;
	view_group_settle(&copy->group, dat->record, dat->nr);
	ret = trace_dat_scan(dat) ?: view_run(copy, view_raw_put_formats);
	return ret ?: trace_dat_make_head(dat);
}
