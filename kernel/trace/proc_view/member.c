// SPDX-License-Identifier: GPL-2.0
/*
 * The instances that one open file shows: the one of its name, and the channels of that.
 */
#include "internal.h"

static void view_members_add(struct view_copy *copy, struct trace_view *view)
{
	refcount_inc(&view->ref);
	copy->member[copy->nr++] = (struct view_member){
		view, atomic_read(&view->epoch), trace_snapshot_moves(view->tr),
	};
}

static int view_members_find(struct view_copy *copy)
{
	struct trace_array *tr = copy->view->tr, *ch;
	int ret = tr ? trace_stamp_clock(tr) : -ENODEV;

	lockdep_assert_held(&trace_types_lock);
	if (ret < 0)
		return ret;
	/* For the copy only, so it is not charged under the lock. */
	copy->member = kcalloc(1 + trace_nr_channels(tr), sizeof(*copy->member), GFP_KERNEL);
	if (!copy->member)
		return -ENOMEM;
	view_members_add(copy, copy->view);
	for_each_channel(ch, tr) {
		/* Records that survive a reboot may be those of another boot, as their PIDs. */
		if (ch->view && !ch->range_addr_start)
			view_members_add(copy, ch->view);
	}
	return ret;
}

/**
 * view_members_get() - find the instances that are shown
 * @copy: where they are stored; &view_copy.view is set
 *
 * A session and its channels have one clock.
 *
 * Context: A worker, see trace_job_run().
 * Return: the &enum trace_stamp_clock, or an error; in each case view_members_put() has to follow.
 *	   -ENODEV if the instance has been removed; -EOPNOTSUPP for its clock; -EINTR; -ENOMEM.
 */
int view_members_get(struct view_copy *copy)
{
	int ret = mutex_lock_interruptible(&trace_types_lock);

	if (ret)
		return ret;
	ret = view_members_find(copy);
	mutex_unlock(&trace_types_lock);
	return ret;
}

/**
 * view_members_put() - end view_members_get()
 * @copy: where they are stored
 *
 * Context: May sleep.
 */
void view_members_put(struct view_copy *copy)
{
	while (copy->nr)
		view_put(copy->member[--copy->nr].view);
	kfree(copy->member);
	copy->member = NULL;
}

/**
 * view_channel() - tell the name of a member that is a channel
 * @copy:   where the members are stored
 * @member: number of the member
 *
 * Context: Any context.
 * Return: the name; NULL for the instance itself.
 */
const char *view_channel(const struct view_copy *copy, unsigned int member)
{
	const struct trace_view *view = copy->member[member].view;

	return view == copy->view ? NULL : view->name;
}

/**
 * view_members_are_same() - has no instance changed since view_members_get()?
 * @copy: where they are stored
 *
 * Context: Any context.
 * Return: true if none has.
 */
bool view_members_are_same(const struct view_copy *copy)
{
	unsigned int i;

	for (i = 0; i < copy->nr; i++) {
		if (atomic_read(&copy->member[i].view->epoch) != copy->member[i].epoch)
			return false;
	}
	return true;
}
