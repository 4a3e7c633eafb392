// SPDX-License-Identifier: GPL-2.0
/*
 * Which snapshots are kept, and how they stay below snapshot_limit_kb.
 */
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

/* Instances change under these locks. The keeper never waits for writers under them. */
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

DEFINE_GUARD(snap_names, struct trace_snapshots *, snap_lock_names(_T), snap_unlock_names(_T))

static struct trace_snap *snap_oldest(struct trace_snapshots *s)
{
	return list_first_entry_or_null(&s->kept, struct trace_snap, keep);
}

static bool snap_retire_oldest(struct trace_snapshots *s, unsigned long kb)
{
	unsigned long room = s->limit_kb > s->kb ? s->limit_kb - s->kb : 0;
	struct trace_snap *snap, *oldest = NULL;

	if (s->dead || s->keep.first)
		return false;
	list_for_each_entry(snap, &s->kept, keep) {
		/* Would removing it free its memory? The newest stays. */
		if (list_is_last(&snap->keep, &s->kept) || snap->kept->ref != 1 ||
		    atomic_read(&snap->users) != 1)
			continue;
		room += snap->kb;
		oldest = oldest ?: snap;
	}
	/* Remove none in vain. */
	if (room < kb || !oldest)
		return false;
	snap_retire(s, oldest);
	return true;
}

/*
 * Remove the oldest one that nobody has open, if removing such ones makes room for @kb.
 * Return: false if there is none.
 */
static bool snap_make_room(struct trace_snapshots *s, unsigned long kb)
{
	bool ret;

	scoped_guard(snap_names, s)
		ret = snap_retire_oldest(s, kb);
	guard(mutex)(&s->mutex);
	snap_collect(s);
	return ret;
}

/* Trimming takes memory for a moment: that of the empty buffer, which comes back later. */
static int snap_keep_trim(struct trace_snapshots *s, struct trace_snap *snap)
{
	int ret;

	guard(mutex)(&s->mutex);
	ret = snap_trim(s, snap);
	if (ret != -ENOSPC || s->dead)
		return ret;
	snap_release(s, &s->user, false);
	return snap_trim(s, snap);
}

/* Set how many more snapshots may be taken. */
static void snap_keep_count(struct trace_snapshots *s)
{
	s64 room = (s64)s->keep.nr - s->nr_kept;
	struct trace_snap *snap;

	guard(snap_change)(s);
	llist_for_each_entry(snap, s->fresh.first, fresh)
		room--;
	WRITE_ONCE(s->room, s->keep.first ? clamp(room, 0, INT_MAX) : INT_MAX);
}

static void snap_keep_publish(struct trace_snapshots *s, struct trace_snap *snap)
{
	int ret;

	do {
		scoped_guard(snap_names, s)
			ret = s->dead ? -ENODEV : snap_publish(s, snap);
	} while (ret == -ENOSPC && snap_make_room(s, snap->kept_kb));

	if (!ret)
		return;
	guard(mutex)(&s->mutex);
	atomic_long_inc(&s->unkept);
	s->nr_kept--;
	snap_unhold(snap);
}

/* Keep what takers have added. From here on, &trace_snapshots.nr_kept counts it. */
static void snap_keep_fresh(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;
	struct llist_node *fresh;

	scoped_guard(mutex, &s->mutex) {
		fresh = llist_reverse_order(llist_del_all(&s->fresh));
		llist_for_each_entry(snap, fresh, fresh)
			s->nr_kept++;
	}

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
	guard(mutex)(&s->mutex);
	if (s->dead || !s->keep.nr || !READ_ONCE(s->user.seq))
		return 0;
	if (READ_ONCE(s->room) > 0)
		return snap_provide(s, &s->user) == -ENOSPC ?
			snap_buffer_kb(s->tr->array_buffer.buffer) : 0;
	if (!atomic_read(&s->user.armed) && !s->pinned)
		snap_release(s, &s->user, false);
	return 0;
}

/**
 * snap_tend() - look after kept snapshots now, as the keeper does
 * @s: the snapshots of a trace array
 *
 * Context: May sleep.
 */
void snap_tend(struct trace_snapshots *s)
{
	unsigned long kb;

	guard(mutex)(&s->keeping);
	clear_bit(SNAP_WORK_KEEP, &s->work_for);
	snap_keep_fresh(s);
	scoped_guard(snap_names, s) {
		snap_forget_leaving(s);
		while (!s->keep.first && s->nr_kept > s->keep.nr && snap_oldest(s))
			snap_retire(s, snap_oldest(s));
		snap_keep_count(s);
	}
	do {
		kb = snap_keep_provide(s);
	} while (kb && snap_make_room(s, kb));
	guard(mutex)(&s->mutex);
	snap_collect(s);
}

/**
 * snap_keep_work() - look after kept snapshots, and put a reference
 * @work: the keeper
 *
 * Context: May sleep.
 */
void snap_keep_work(struct work_struct *work)
{
	struct trace_snapshots *s = container_of(work, struct trace_snapshots, keeper);

	/* A task may have done it. */
	if (test_bit(SNAP_WORK_KEEP, &s->work_for))
		snap_tend(s);
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
 * snap_keep_set() - set which snapshots are kept
 * @s:    the snapshots of a trace array
 * @keep: which snapshots are kept
 *
 * Context: May sleep.
 */
void snap_keep_set(struct trace_snapshots *s, struct snap_keep keep)
{
	struct trace_snap *last;

	mutex_lock(&s->mutex);
	scoped_guard(snap_change, s) {
		last = s->user.last;
		/* The newest snapshot is kept as well. */
		if (!s->keep.nr && keep.nr && last && !last->kept) {
			atomic_inc(&last->users);
			llist_add(&last->fresh, &s->fresh);
		}
		s->keep = keep;
	}
	snap_keep_count(s);
	mutex_unlock(&s->mutex);
	snap_tend(s);
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
		snap_keep_queue(tr->shows->buf.tr->snapshots);
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
	struct trace_snapshots *s = tr->shows ? tr->shows->buf.tr->snapshots : tr->snapshots;
	struct trace_snap *snap;

	guard(mutex)(&s->mutex);
	if (tr->shows) {
		snap_retire(s, tr->shows);
		snap_keep_count(s);
		snap_keep_queue(s);
		return 1;
	}
	snap_forget_leaving(s);
	if (!list_empty(&s->leaving))
		return -EBUSY;
	list_for_each_entry(snap, &s->kept, keep) {
		if (snap->kept->ref > 1)
			return -EBUSY;
	}
	while (snap_oldest(s))
		snap_retire(s, snap_oldest(s));
	return 0;
}
