// SPDX-License-Identifier: GPL-2.0
/*
 * Which instances are shown in /proc/PID/trace.
 */
#include "internal.h"

/* A spinlock: a reader may be slow, and a change waits for it with trace_types_lock held. */
static DEFINE_SPINLOCK(view_lock);
static LIST_HEAD(views);

static const char view_endings[TRACE_VIEW_NR_KINDS][TRACE_VIEW_ENDING + 1] = {
	[TRACE_VIEW_TEXT]	= ".txt",
	[TRACE_VIEW_DAT]	= ".dat",
};

/* If its owner has closed it, an instance may stay for other open files. Nothing new shows it. */
static bool view_is_there(const struct trace_view *view)
{
	lockdep_assert_held(&view_lock);
	return !READ_ONCE(view->tr->retired);
}

static struct trace_view *view_find(const char *name, unsigned int len, enum trace_view_kind *kind)
{
	struct trace_view *view;
	int i;

	if (len <= TRACE_VIEW_ENDING)
		return NULL;
	len -= TRACE_VIEW_ENDING;
	for (i = 0; i < TRACE_VIEW_NR_KINDS; i++) {
		if (!memcmp(name + len, view_endings[i], TRACE_VIEW_ENDING))
			break;
	}
	if (i == TRACE_VIEW_NR_KINDS)
		return NULL;
	*kind = i;
	list_for_each_entry(view, &views, list) {
		if (view_is_there(view) && view->len == len && !memcmp(view->name, name, len))
			return view;
	}
	return NULL;
}

/**
 * view_get() - find a view by the name of a file
 * @name:  the name
 * @len:   its length
 * @kind:  set to the kind of the file
 * @since: set to &trace_view.since, which holds while the key is on
 *
 * The key is on for the caller, until that switches it off. A view that is shown has it on, too, so
 * no code is patched here.
 *
 * Context: Any context but interrupts.
 * Return: the view, for static_branch_dec() and view_put(); NULL if there is none.
 */
struct trace_view *view_get(const char *name, unsigned int len, enum trace_view_kind *kind,
			    struct trace_stamp *since)
{
	struct trace_view *view;

	guard(spinlock)(&view_lock);
	view = view_find(name, len, kind);
	if (!view || WARN_ON_ONCE(!static_key_fast_inc_not_disabled(&trace_view_used.key)))
		return NULL;
	refcount_inc(&view->ref);
	*since = view->since;
	return view;
}

/**
 * view_put() - release a view
 * @view: the view
 *
 * Context: Any context.
 */
void view_put(struct trace_view *view)
{
	if (refcount_dec_and_test(&view->ref))
		kfree(view);
}

/**
 * trace_view_exists() - is there a file of this name in /proc/PID/trace?
 * @name: the name
 * @len:  its length
 *
 * Context: Any context but interrupts.
 * Return: true if there is.
 */
bool trace_view_exists(const char *name, unsigned int len)
{
	enum trace_view_kind kind;

	guard(spinlock)(&view_lock);
	return view_find(name, len, &kind);
}

/**
 * trace_view_list() - tell the name of a file in /proc/PID/trace
 * @nr:   number of the file, from 0 on
 * @name: where it is stored
 *
 * Context: Any context but interrupts.
 * Return: true; false if there are not so many.
 */
bool trace_view_list(unsigned int nr, struct trace_view_name *name)
{
	struct trace_view *view;

	guard(spinlock)(&view_lock);
	list_for_each_entry(view, &views, list) {
		if (!view_is_there(view))
			continue;
		if (nr < TRACE_VIEW_NR_KINDS) {
			name->len = snprintf(name->text, sizeof(name->text), "%s%s", view->name,
					     view_endings[nr]);
			return true;
		}
		nr -= TRACE_VIEW_NR_KINDS;
	}
	return false;
}

/**
 * view_create() - give an instance a view, which is hidden
 * @tr: the instance
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: 0 or -ENOMEM.
 */
int view_create(struct trace_array *tr)
{
	unsigned int len = strlen(tr->name);
	struct trace_view *view = kzalloc(struct_size(view, name, len + 1), GFP_KERNEL);

	lockdep_assert_held(&trace_types_lock);
	if (!view)
		return -ENOMEM;
	refcount_set(&view->ref, 1);
	init_rwsem(&view->sem);
	view->tr = tr;
	view->len = len;
	memcpy(view->name, tr->name, len + 1);
	tr->view = view;
	return 0;
}

/**
 * view_show() - show an instance in /proc/PID/trace, or end that
 * @view: its view
 * @on:   show it
 *
 * Copies that files have made stay readable, and an open() that copies goes on. The key is on for
 * each view that is shown: the caller has switched it on a grace period before, or switches it off.
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: true; false if that is so already.
 */
bool view_show(struct trace_view *view, bool on)
{
	lockdep_assert_held(&trace_types_lock);
	guard(spinlock)(&view_lock);
	if (view->shown == on)
		return false;
	WRITE_ONCE(view->shown, on);
	if (on) {
		trace_stamp_take(&view->since);
		list_add_tail(&view->list, &views);
	} else {
		list_del(&view->list);
	}
	return true;
}

/**
 * trace_view_retire() - take the view from an instance that is removed
 * @tr: the instance
 *
 * Copies that files have made stay readable. An open() that copies lets go and fails.
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_view_retire(struct trace_array *tr)
{
	struct trace_view *view = tr->view;

	lockdep_assert_held(&trace_types_lock);
	if (!view)
		return;
	if (view_show(view, false))
		static_branch_dec(&trace_view_used);
	tr->view = NULL;
	scoped_guard(rwsem_write, &view->sem)
		view->tr = NULL;
	view_put(view);
}

/**
 * trace_view_begin_change() - keep readers out while an instance changes
 * @tr: the instance
 *
 * An open() that copies lets go, and begins again afterwards.
 *
 * Context: May sleep; trace_types_lock or a reference to @tr is held. &trace_view.sem is held until
 *	    trace_view_end_change().
 */
void trace_view_begin_change(struct trace_array *tr)
{
	if (!tr->view)
		return;
	down_write(&tr->view->sem);
	atomic_inc(&tr->view->epoch);
}

/**
 * trace_view_end_change() - let readers in again
 * @tr: the instance, after trace_view_begin_change()
 *
 * Context: May sleep.
 */
void trace_view_end_change(struct trace_array *tr)
{
	if (tr->view)
		up_write(&tr->view->sem);
}

/**
 * trace_view_end_event() - note that an event of an instance is removed
 * @tr: the instance
 *
 * An open() that makes a trace.dat begins again.
 *
 * Context: Any context; the event is unregistered, and event_mutex and trace_types_lock are held
 *	    since before that.
 */
void trace_view_end_event(struct trace_array *tr)
{
	lockdep_assert_held(&trace_types_lock);
	if (tr->view)
		atomic_inc(&tr->view->epoch);
}

/**
 * view_enter() - look at an instance that has a view
 * @view:  the view
 * @epoch: its number of changes that the caller has seen
 *
 * Nothing of the instance but its events changes until view_leave(), and it is not removed. A
 * snapshot may move its records away, see &view_member.moves.
 *
 * Context: A worker, see trace_job_run().
 * Return: 0; -EAGAIN if it has changed, or is no longer there; -EINTR.
 */
int view_enter(struct trace_view *view, int epoch)
{
	int ret = down_read_interruptible(&view->sem);

	if (ret)
		return ret;
	if (view->tr && atomic_read(&view->epoch) == epoch)
		return 0;
	up_read(&view->sem);
	return -EAGAIN;
}

/**
 * view_leave() - end view_enter()
 * @view: the view
 *
 * Context: The worker of view_enter().
 */
void view_leave(struct trace_view *view)
{
	up_read(&view->sem);
}
