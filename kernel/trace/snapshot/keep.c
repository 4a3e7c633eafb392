// SPDX-License-Identifier: GPL-2.0
/*
 * Which snapshots are kept, and how they stay below snapshot_limit_kb.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "internal.h"

/**
 * DOC: Kept snapshots
 *
 * A taker adds a snapshot that is to be kept to &trace_snapshots.fresh, with a user, so
 * that its buffer is not used again. The keeper creates the instance that shows it, frees its
 * sub-buffers without records, and, if the newest ones are kept, removes the oldest. If
 * the first ones are kept, takers count down how many more may be taken.
 *
 * Instances change under event_mutex and trace_types_lock, and these are taken before
 * &trace_snapshots.mutex. The keeper waits for writers and trims without them. They are held
 * where an instance is removed, so that does not wait for its keeper: the keeper finds
 * &trace_snapshots.dead, and puts the last reference.
 */

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

/* Instances change under these locks, which nobody holds while waiting for writers. */
static void snap_lock_names(struct trace_snapshots *s)
{
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	mutex_lock(&s->mutex);
}

static void snap_unlock_names(struct trace_snapshots *s)
{
	mutex_unlock(&s->mutex);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}

static void snap_assert_names(struct trace_snapshots *s)
{
	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	lockdep_assert_held(&s->mutex);
}

/* No longer keep @snap, an entry of @s->kept. */
static void snap_let_go(struct trace_snapshots *s, struct trace_snap *snap)
{
	snap_assert_names(s);
	s->nr_kept--;
	if (snap_retire(s, snap))
		list_move(&snap->keep, &s->leaving);
	else
		list_del(&snap->keep);
}

static struct trace_snap *snap_oldest(struct trace_snapshots *s)
{
	return list_first_entry_or_null(&s->kept, struct trace_snap, keep);
}

/* Would removing it free its memory? The newest stays. */
static bool snap_may_go(struct trace_snapshots *s, struct trace_snap *snap)
{
	return !list_is_last(&snap->keep, &s->kept) && snap->kept->ref == 1 &&
	       atomic_read(&snap->users) == 1;
}

static bool snap_retire_oldest(struct trace_snapshots *s, unsigned long kb)
{
	unsigned long room = s->limit_kb > s->kb ? s->limit_kb - s->kb : 0;
	struct trace_snap *snap, *oldest = NULL;

	if (s->keep.first)
		return false;
	list_for_each_entry(snap, &s->kept, keep) {
		if (snap_may_go(s, snap)) {
			room += snap->kb;
			oldest = oldest ?: snap;
		}
	}
	/* Remove none in vain. */
	if (room < kb || !oldest)
		return false;
	snap_let_go(s, oldest);
	return true;
}

/*
 * Remove the oldest one that nobody has open, if removing such ones makes room for @kb.
 * Return: false if there is none.
 */
static bool snap_make_room(struct trace_snapshots *s, unsigned long kb)
{
	bool ret;

	snap_lock_names(s);
	ret = !s->dead && snap_retire_oldest(s, kb);
	snap_unlock_names(s);
	mutex_lock(&s->mutex);
	snap_collect(s);
	mutex_unlock(&s->mutex);
	return ret;
}

/* Trimming takes memory for a moment: that of the empty buffer, which comes back later. */
static int snap_keep_trim(struct trace_snapshots *s, struct trace_snap *snap)
{
	int ret;

	mutex_lock(&s->mutex);
	ret = snap_trim(s, snap);
	if (ret == -ENOSPC && !s->dead) {
		snap_release(s, &s->user, false);
		ret = snap_trim(s, snap);
	}
	mutex_unlock(&s->mutex);
	return ret;
}

/* Set how many more snapshots may be taken. */
static void snap_keep_count(struct trace_snapshots *s)
{
	unsigned long flags = snap_change_begin(s);
	unsigned int have = s->nr_kept;
	struct trace_snap *snap;

	llist_for_each_entry(snap, s->fresh.first, fresh)
		have++;
	WRITE_ONCE(s->room, snap_keep_room(s->keep, have));
	snap_change_end(s, flags);
}

/* Remove those that are too many. */
static void snap_retire_surplus(struct trace_snapshots *s)
{
	unsigned int surplus = snap_keep_surplus(s->keep, s->nr_kept);

	for (; surplus && snap_oldest(s); surplus--)
		snap_let_go(s, snap_oldest(s));
	snap_keep_count(s);
}

/* Free the instances of retired snapshots that nobody has open any more. */
static void snap_forget_leaving(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;

	snap_assert_names(s);
	list_for_each_entry_safe(snap, next, &s->leaving, keep) {
		if (!snap->kept->ref) {
			list_del(&snap->keep);
			snap_forget_kept(s, snap);
		}
	}
}

static void snap_keep_publish(struct trace_snapshots *s, struct trace_snap *snap)
{
	int ret;

	do {
		snap_lock_names(s);
		ret = s->dead ? -ENODEV : snap_publish(s, snap);
		if (!ret)
			list_add_tail(&snap->keep, &s->kept);
		snap_unlock_names(s);
	} while (ret == -ENOSPC && snap_make_room(s, snap->kept_kb));

	if (ret) {
		atomic_long_inc(&s->unkept);
		mutex_lock(&s->mutex);
		s->nr_kept--;
		mutex_unlock(&s->mutex);
		snap_unhold(snap);
	}
}

/* Keep what takers have added. From here on, &trace_snapshots.nr_kept counts it. */
static void snap_keep_fresh(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;
	struct llist_node *fresh;

	mutex_lock(&s->mutex);
	fresh = llist_reverse_order(llist_del_all(&s->fresh));
	llist_for_each_entry(snap, fresh, fresh)
		s->nr_kept++;
	mutex_unlock(&s->mutex);

	lockdep_assert_not_held(&trace_types_lock);
	llist_for_each_entry_safe(snap, next, fresh, fresh) {
		snap_settle(snap);
		while (snap_keep_trim(s, snap) == -ENOSPC &&
		       snap_make_room(s, snap_trimmed_kb(snap)))
			;
		snap_keep_publish(s, snap);
	}
}

/* Have a buffer for the next snapshot. Return: its memory in KiB if that has to be made. */
static unsigned long snap_keep_provide(struct trace_snapshots *s)
{
	unsigned long kb = 0;

	mutex_lock(&s->mutex);
	if (s->dead || !s->keep.nr || !READ_ONCE(s->user.seq))
		goto out;
	if (READ_ONCE(s->room) > 0) {
		if (snap_provide(s, &s->user) == -ENOSPC)
			kb = snap_buffer_kb(s->tr->array_buffer.buffer);
	} else if (!atomic_read(&s->user.armed) && !s->pinned) {
		snap_release(s, &s->user, false);
	}
out:
	mutex_unlock(&s->mutex);
	return kb;
}

static void snap_keep(struct trace_snapshots *s)
{
	unsigned long kb;

	mutex_lock(&s->keeping);
	clear_bit(SNAP_WORK_KEEP, &s->work_for);
	snap_keep_fresh(s);
	snap_lock_names(s);
	snap_forget_leaving(s);
	snap_retire_surplus(s);
	snap_unlock_names(s);
	do {
		kb = snap_keep_provide(s);
	} while (kb && snap_make_room(s, kb));
	mutex_unlock(&s->keeping);
	mutex_lock(&s->mutex);
	snap_collect(s);
	mutex_unlock(&s->mutex);
}

static void snap_keep_work(struct work_struct *work)
{
	struct trace_snapshots *s = container_of(work, struct trace_snapshots, keeper);

	/* A task may have done it. */
	if (test_bit(SNAP_WORK_KEEP, &s->work_for))
		snap_keep(s);
	snap_put(s);
}

/**
 * snap_keep_queue() - start the keeper
 * @s: the snapshots of a trace array, which exists
 *
 * Context: Any context but NMI.
 */
void snap_keep_queue(struct trace_snapshots *s)
{
	set_bit(SNAP_WORK_KEEP, &s->work_for);
	/* The keeper puts it. */
	refcount_inc(&s->ref);
	if (!schedule_work(&s->keeper))
		snap_put(s);
}

/**
 * snap_tend() - look after kept snapshots now, as the keeper does
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void snap_tend(struct trace_array *tr)
{
	snap_keep(tr->snapshots);
}

/**
 * snap_keep_init() - initialize the keeper
 * @s: the snapshots of a trace array
 *
 * Context: Any context.
 */
void snap_keep_init(struct trace_snapshots *s)
{
	INIT_WORK(&s->keeper, snap_keep_work);
}

/**
 * snap_keep_exit() - let the keeper do no more
 * @s: the snapshots of a trace array, which is removed
 *
 * If it runs, it comes to its end later: it may wait for locks that the caller has.
 *
 * Context: May sleep.
 */
void snap_keep_exit(struct trace_snapshots *s)
{
	mutex_lock(&s->mutex);
	s->dead = true;
	mutex_unlock(&s->mutex);
	if (cancel_work(&s->keeper))
		snap_put(s);
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
	struct trace_snap *last;
	unsigned long flags;

	mutex_lock(&s->mutex);
	flags = snap_change_begin(s);
	last = s->user.last;
	/* The newest snapshot is kept as well. */
	if (!s->keep.nr && keep.nr && last && !last->kept) {
		atomic_inc(&last->users);
		llist_add(&last->fresh, &s->fresh);
	}
	s->keep = keep;
	snap_change_end(s, flags);
	snap_keep_count(s);
	mutex_unlock(&s->mutex);
	snap_tend(s->tr);
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
	bool one = trace_is_kept(tr);
	struct trace_snapshots *s = one ? tr->snapshots->shows->buf.tr->snapshots : tr->snapshots;
	struct trace_snap *snap;
	int ret = one;

	mutex_lock(&s->mutex);
	if (one) {
		snap_let_go(s, tr->snapshots->shows);
		snap_keep_count(s);
		snap_keep_queue(s);
		goto out;
	}
	snap_forget_leaving(s);
	if (!list_empty(&s->leaving))
		ret = -EBUSY;
	list_for_each_entry(snap, &s->kept, keep) {
		if (snap->kept->ref > 1)
			ret = -EBUSY;
	}
	while (!ret && snap_oldest(s))
		snap_let_go(s, snap_oldest(s));
out:
	mutex_unlock(&s->mutex);
	return ret;
}
