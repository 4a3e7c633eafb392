// SPDX-License-Identifier: GPL-2.0
/*
 * Which snapshots are kept, and how they stay below snapshot_limit_kb.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "internal.h"

/**
 * DOC: Kept snapshots
 *
 * A taker adds a snapshot that is to be kept to &trace_snapshots.fresh, with a user, so
 * that its buffer is not used again. A worker creates the instance that shows it, frees its
 * sub-buffers without records, and, if the newest ones are kept, removes the oldest. If
 * the first ones are kept, takers count down how many more may be taken.
 *
 * Instances change under event_mutex and trace_types_lock, and these are taken before
 * &trace_snapshots.mutex. So there is one worker for all trace arrays.
 */

/**
 * snap_keep_parse() - parse a value of snapshot_keep
 * @text: "N", "last N" or "first N"
 * @keep: is set to the value
 *
 * Context: Any context.
 * Return: 0; -EINVAL for another text.
 */
int snap_keep_parse(const char *text, struct snap_keep *keep)
{
	size_t len = str_has_prefix(text, "first ");
	bool first = len;

	if (!len)
		len = str_has_prefix(text, "last ");
	if (kstrtouint(skip_spaces(text + len), 10, &keep->nr) || (first && !keep->nr))
		return -EINVAL;
	keep->first = first;
	return 0;
}

/**
 * snap_keep_surplus() - count the kept snapshots that are too many
 * @keep: which snapshots are kept
 * @have: number of kept snapshots
 *
 * Context: Any context.
 * Return: how many of the oldest are to be removed.
 */
unsigned int snap_keep_surplus(struct snap_keep keep, unsigned int have)
{
	return keep.first || have <= keep.nr ? 0 : have - keep.nr;
}

/**
 * snap_keep_room() - count the snapshots that may still be taken
 * @keep: which snapshots are kept
 * @have: number of kept snapshots
 *
 * Context: Any context.
 * Return: the number; INT_MAX for no limit.
 */
int snap_keep_room(struct snap_keep keep, unsigned int have)
{
	if (!keep.first)
		return INT_MAX;
	return have < keep.nr ? min(keep.nr - have, INT_MAX) : 0;
}

/* No longer keep @snap, an entry of @s->kept. */
static void snap_let_go(struct trace_snapshots *s, struct trace_snap *snap)
{
	s->nr_kept--;
	if (snap_retire(s, snap))
		list_move(&snap->keep, &s->leaving);
	else
		list_del(&snap->keep);
}

static struct trace_snap *snap_oldest(struct trace_snapshots *s)
{
	return list_first_entry(&s->kept, struct trace_snap, keep);
}

/* Would removing it free its memory? The newest stays. */
static bool snap_may_go(struct trace_snapshots *s, struct trace_snap *snap)
{
	return !list_is_last(&snap->keep, &s->kept) && snap->kept->ref == 1 &&
	       atomic_read(&snap->users) == 1;
}

/*
 * Remove the oldest one that nobody has open, if removing such ones makes room for @kb.
 * Return: false if there is none.
 */
static bool snap_make_room(struct trace_snapshots *s, unsigned long kb)
{
	unsigned long room = s->limit_kb > s->kb ? s->limit_kb - s->kb : 0;
	struct trace_snap *snap, *next;

	if (s->keep.first)
		return false;
	/* Remove none in vain. */
	list_for_each_entry(snap, &s->kept, keep) {
		if (snap_may_go(s, snap))
			room += snap->kb;
	}
	if (room < kb)
		return false;
	list_for_each_entry_safe(snap, next, &s->kept, keep) {
		if (snap_may_go(s, snap)) {
			snap_let_go(s, snap);
			snap_collect(s);
			return true;
		}
	}
	return false;
}

/* Trimming takes memory for a moment: that of the empty buffer, which comes back later. */
static void snap_keep_trim(struct trace_snapshots *s, struct trace_snap *snap)
{
	if (snap_trim(s, snap) != -ENOSPC)
		return;
	snap_release(s, &s->user, false);
	while (snap_trim(s, snap) == -ENOSPC && snap_make_room(s, snap_trimmed_kb(snap)))
		;
}

/* Keep what takers have added. While it waits for writers, others may have the mutex. */
static void snap_keep_fresh(struct trace_snapshots *s)
{
	struct llist_node *fresh = llist_reverse_order(llist_del_all(&s->fresh));
	struct trace_snap *snap, *next;

	llist_for_each_entry_safe(snap, next, fresh, fresh) {
		mutex_unlock(&s->mutex);
		snap_settle(snap);
		mutex_lock(&s->mutex);
		snap_keep_trim(s, snap);
		if (snap_publish(s, snap)) {
			atomic_long_inc(&s->unkept);
			snap_unhold(snap);
		} else {
			list_add_tail(&snap->keep, &s->kept);
			s->nr_kept++;
		}
	}
}

/* Set which snapshots are kept, and how many more may be taken. */
static void snap_keep_count(struct trace_snapshots *s, struct snap_keep keep)
{
	unsigned long flags = snap_change_begin(s);
	unsigned int have = s->nr_kept;
	struct trace_snap *snap, *last = s->user.last;

	/* The newest snapshot is kept as well. */
	if (!s->keep.nr && keep.nr && last && !last->kept) {
		atomic_inc(&last->users);
		llist_add(&last->fresh, &s->fresh);
	}
	llist_for_each_entry(snap, s->fresh.first, fresh)
		have++;
	s->keep = keep;
	WRITE_ONCE(s->room, snap_keep_room(keep, have));
	snap_change_end(s, flags);
}

/* Have a buffer for the next snapshot, if need be by removing old ones. */
static void snap_keep_provide(struct trace_snapshots *s)
{
	unsigned long kb = ring_buffer_memory(s->tr->array_buffer.buffer) / 1024;

	if (!s->keep.nr || !READ_ONCE(s->user.seq))
		return;
	if (READ_ONCE(s->room) <= 0) {
		if (!atomic_read(&s->user.armed) && !s->pinned)
			snap_release(s, &s->user, false);
		return;
	}
	while (snap_provide(s, &s->user) == -ENOSPC && snap_make_room(s, kb))
		;
}

static void snap_tend_locked(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;
	unsigned int surplus;

	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	mutex_lock(&s->mutex);
	list_for_each_entry_safe(snap, next, &s->leaving, keep) {
		if (!snap->kept->ref) {
			list_del(&snap->keep);
			snap_forget_kept(s, snap);
		}
	}
	snap_keep_fresh(s);
	for (surplus = snap_keep_surplus(s->keep, s->nr_kept); surplus; surplus--)
		snap_let_go(s, snap_oldest(s));
	snap_collect(s);
	snap_keep_count(s, s->keep);
	snap_keep_provide(s);
	mutex_unlock(&s->mutex);
}

static void snap_keep_work(struct work_struct *work)
{
	struct trace_snapshots *s;
	struct trace_array *tr;

	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		s = tr->snapshots;
		if (test_and_clear_bit(SNAP_WORK_KEEP, &s->work_for) || !llist_empty(&s->fresh) ||
		    !list_empty(&s->leaving))
			snap_tend_locked(s);
	}
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}

static DECLARE_WORK(snap_keeper, snap_keep_work);

/**
 * snap_keep_queue() - start the worker for kept snapshots
 * @s: the snapshots of a trace array
 *
 * Context: Any context but NMI.
 */
void snap_keep_queue(struct trace_snapshots *s)
{
	set_bit(SNAP_WORK_KEEP, &s->work_for);
	schedule_work(&snap_keeper);
}

/**
 * snap_tend() - look after kept snapshots now, as the worker does
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void snap_tend(struct trace_array *tr)
{
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	snap_tend_locked(tr->snapshots);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}

/**
 * snap_keep_set() - set which snapshots are kept
 * @s:    the snapshots of a trace array
 * @keep: which snapshots are kept
 *
 * Context: May sleep.
 */
void snap_keep_set(struct trace_snapshots *s, struct snap_keep keep)
{
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	mutex_lock(&s->mutex);
	snap_keep_count(s, keep);
	mutex_unlock(&s->mutex);
	snap_tend_locked(s);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}

/**
 * trace_snapshot_last_put() - release the last reference of a trace array
 * @tr: the trace array; it may be the instance of a retired snapshot
 *
 * Context: trace_types_lock is held.
 */
void trace_snapshot_last_put(struct trace_array *tr)
{
	if (trace_is_kept(tr))
		snap_keep_queue(tr->snapshots->shows->buf.tr->snapshots);
}

/**
 * trace_is_kept() - is an instance a kept snapshot?
 * @tr: the instance
 *
 * Context: Any context.
 * Return: true if so.
 */
bool trace_is_kept(struct trace_array *tr)
{
	return tr->snapshots && tr->snapshots->shows;
}

/**
 * trace_snapshot_remove() - remove the kept snapshots of an instance, or one of them
 * @tr: the instance, or the instance of a kept snapshot; nobody has it open
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0; 1 if @tr was a kept snapshot, and was removed; -EBUSY if a kept snapshot of
 *	   the instance is open.
 */
int trace_snapshot_remove(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap;
	int ret = 0;

	if (trace_is_kept(tr)) {
		snap = s->shows;
		s = snap->buf.tr->snapshots;
		mutex_lock(&s->mutex);
		snap_let_go(s, snap);
		snap_collect(s);
		snap_keep_count(s, s->keep);
		snap_keep_provide(s);
		mutex_unlock(&s->mutex);
		return 1;
	}

	snap_tend_locked(s);
	mutex_lock(&s->mutex);
	if (!list_empty(&s->leaving))
		ret = -EBUSY;
	list_for_each_entry(snap, &s->kept, keep) {
		if (snap->kept->ref > 1)
			ret = -EBUSY;
	}
	while (!ret && s->nr_kept)
		snap_let_go(s, snap_oldest(s));
	mutex_unlock(&s->mutex);
	return ret;
}
