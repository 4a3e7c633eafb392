// SPDX-License-Identifier: GPL-2.0
/*
 * Copy the records of a group out of an instance and its channels.
 */
#include <linux/cred.h>

#include "../trace_output.h"
#include "internal.h"

/* An instance that changes each time is not shown. */
#define VIEW_TRIES	10

#ifdef CONFIG_TRACE_PROC_VIEW_KUNIT_TEST
void (*view_race_hook)(struct trace_array *tr);
#endif

/* A unit test acts as a writer behind each record that a worker has passed. */
static void view_race_point(struct trace_array *tr)
{
#ifdef CONFIG_TRACE_PROC_VIEW_KUNIT_TEST
	if (view_race_hook)
		view_race_hook(tr);
#endif
}

static int view_call_part(struct trace_job *job)
{
	struct view_copy *copy = container_of(job, struct view_copy, job);

	return copy->part(copy);
}

/**
 * view_run() - have a worker do a part of a copy
 * @copy: the copy
 * @part: function that takes locks of tracing
 *
 * Context: May sleep, with no lock held that others wait for.
 * Return: as trace_job_run().
 */
int view_run(struct view_copy *copy, int (*part)(struct view_copy *copy))
{
	copy->part = part;
	copy->job.fn = view_call_part;
	return trace_job_run(&copy->job);
}

/* May the worker go on? */
static int view_go_on(const struct view_copy *copy, struct trace_view *view)
{
	if (trace_job_is_stopped(&copy->job))
		return -EINTR;
	cond_resched();
	return rwsem_is_contended(&view->sem) ? -EAGAIN : 0;
}

/*
 * Take the record that is in &trace_iterator.temp. The iterator has a copy of records, in which
 * the number of an event that was removed since may be that of another one by now.
 */
static int view_take_copied(struct view_copy *copy, const struct view_member *member,
			    struct view_thread *thread)
{
	int home = copy->iter->cpu, ret = down_read_interruptible(&trace_event_sem);

	if (ret)
		return ret;
	ret = -EAGAIN;
	/* As in "trace", function_graph prints the CPU that has written to a global buffer. */
	copy->iter->cpu = copy->cpu;
	if (atomic_read(&member->view->epoch) == member->epoch)
		ret = copy->take(copy, thread);
	copy->iter->cpu = home;
	up_read(&trace_event_sem);
	/* Before the next record that is taken, one is missing. */
	copy->iter->lost_events = ret == -ENOENT;
	if (ret == -ENOENT) {
		copy->store.dropped++;
		ret = 0;
	}
	return ret;
}

/*
 * Take the record that @pos is at, and go on. It is copied first, since the print functions of
 * graphs want @pos to be behind it.
 */
static int view_take(struct view_copy *copy, const struct view_member *member,
		     struct ring_buffer_iter *pos, struct ring_buffer_event *event, u64 ts)
{
	struct trace_iterator *iter = copy->iter;
	struct trace_entry *entry = ring_buffer_event_data(event);
	struct view_thread *thread = view_group_find(&copy->group, entry, ts);
	unsigned int len = ring_buffer_event_length(event);
	int cpu = ring_buffer_is_global(iter->array_buffer->buffer) ?
		  ring_buffer_global_cpu(entry, len) : -EINVAL;

	copy->cpu = iter->cpu;
	if (cpu >= 0) {
		copy->cpu = cpu;
		len -= RB_GLOBAL_WORD;
	}
	if (thread) {
		memcpy(iter->temp, entry, len);
		iter->ent = iter->temp;
		iter->ent_size = len;
		iter->ts = ts;
	}
	ring_buffer_iter_advance(pos);
	return thread ? view_take_copied(copy, member, thread) : 0;
}

static int view_collect_cpu(struct view_copy *copy, const struct view_member *member, int cpu)
{
	struct trace_iterator *iter = copy->iter;
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	struct ring_buffer_event *event;
	struct ring_buffer_iter *pos;
	int ret = 0;
	u64 ts;

	if (!ring_buffer_entries_cpu(buffer, cpu))
		return 0;
	/* The iterator is for this CPU only. While the view is entered, nothing is charged. */
	pos = ring_buffer_read_start(buffer, cpu, GFP_KERNEL);
	if (!pos)
		return -ENOMEM;
	iter->cpu = cpu;
	iter->lost_events = 0;
	iter->buffer_iter[cpu] = pos;
	while (!ret) {
		event = ring_buffer_iter_peek(pos, &ts);
		/* Overwritten records may be of the group, also if @event is later than @until. */
		if (event && ring_buffer_iter_dropped(pos)) {
			copy->gaps++;
			iter->lost_events = 1;
		}
		/* Writers can go on for ever. */
		if (!event || ts > copy->group.until)
			break;
		ret = view_go_on(copy, member->view) ?: view_take(copy, member, pos, event, ts);
		view_race_point(iter->tr);
	}
	iter->buffer_iter[cpu] = NULL;
	ring_buffer_read_finish(pos);
	return ret;
}

/* Copy from the instance of a view that was entered. */
static int view_collect_member(struct view_copy *copy, const struct view_member *member)
{
	struct trace_view *view = member->view;
	struct trace_array *tr = view->tr;
	struct trace_iterator *iter = copy->iter;
	int ret = 0, cpu;

	iter->tr = tr;
	iter->array_buffer = &tr->array_buffer;
	iter->channel = view_channel(copy, copy->source);
	/* No record is longer than this. While the view is entered, nothing is charged. */
	iter->temp_size = ring_buffer_subbuf_size_get(tr->array_buffer.buffer);
	iter->temp = kvzalloc(iter->temp_size, GFP_KERNEL);
	if (!iter->temp)
		return -ENOMEM;
	for_each_tracing_cpu(cpu) {
		ret = view_collect_cpu(copy, member, cpu);
		if (ret)
			break;
	}
	kvfree(iter->temp);
	iter->temp = NULL;
	/* Records of some CPUs or channels may have been copied before a snapshot, others not. */
	if (!ret && trace_snapshot_moves(tr) != member->moves)
		ret = -EAGAIN;
	return ret;
}

static int view_collect_members(struct view_copy *copy)
{
	struct view_member *member;
	int ret = 0;

	for (copy->source = 0; !ret && copy->source < copy->nr; copy->source++) {
		member = &copy->member[copy->source];
		ret = view_enter(member->view, member->epoch);
		if (ret)
			break;
		ret = view_collect_member(copy, member);
		view_leave(member->view);
	}
	return ret;
}

/*
 * A worker may see all addresses that "%pK" prints, and the reader may not. With kptr_restrict=1
 * a task with another effective user than its real one gets zeros.
 */
static int view_collect_as_other(struct view_copy *copy)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;
	int ret;

	if (!cred)
		return -ENOMEM;
	cred->euid = INVALID_UID;
	old = override_creds(cred);
	ret = view_collect_members(copy);
	revert_creds(old);
	put_cred(cred);
	return ret;
}

static int view_collect_once(struct view_copy *copy, struct pid *pid, struct pid_namespace *ns)
{
	int ret, clock = view_run(copy, view_members_get);

	if (clock < 0)
		return clock;
	ret = view_group_get(&copy->group, pid, ns, clock);
	copy->group.from = trace_stamp_at(&copy->since, clock);
	ret = ret ?: view_store_begin(&copy->store, copy->nr);
	ret = ret ?: view_run(copy, view_collect_as_other);
	ret = ret ?: view_store_settle(&copy->store);
	return ret ?: copy->finish(copy);
}

/* Release what was copied, for the next try. The store keeps its room. */
static void view_collect_undo(struct view_copy *copy)
{
	view_members_put(copy);
	view_group_put(&copy->group);
	view_store_empty(&copy->store);
	trace_dat_copy_free(&copy->dat);
	copy->gaps = 0;
}

/**
 * view_collect() - copy the records of a group out of an instance and its channels
 * @copy: the copy; its view, iterator and functions are set
 * @pid:  identity of a thread of the group
 * @ns:   namespace of the reader
 *
 * Context: May sleep.
 * Return: 0, then view_group_put(), view_store_free() and trace_dat_copy_free() have to follow;
 *	   or an error. -ENODEV if the instance has been removed; -EOPNOTSUPP for its clock;
 *	   -EAGAIN if it changes all the time; -EFBIG as trace_dat_make_pages(); -ENOMEM; and as
 *	   view_group_get().
 */
int view_collect(struct view_copy *copy, struct pid *pid, struct pid_namespace *ns)
{
	int tries = VIEW_TRIES, ret = view_store_grow(&copy->store);

	while (!ret) {
		ret = view_collect_once(copy, pid, ns);
		if (!ret)
			break;
		view_collect_undo(copy);
		if (ret == -ENOBUFS)
			ret = view_store_grow(&copy->store);
		else if (ret == -EAGAIN && --tries)
			ret = 0;
	}
	if (ret)
		view_store_free(&copy->store);
	view_members_put(copy);
	return ret;
}
