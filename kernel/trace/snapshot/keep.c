// SPDX-License-Identifier: GPL-2.0
/*
 * Which snapshots are kept, and how they stay below snapshot_limit_kb.
 */
#include "internal.h"

/**
 * DOC: Kept snapshots
 *
 * A taker adds a snapshot that is to be kept to &snap_keeper.fresh, with a user, so
 * that its buffer is not used again. The keeper creates the instance that shows it, frees its
 * sub-buffers without records, and, if the newest ones are kept, removes the oldest. If
 * the first ones are kept, takers count down how many more may be taken.
 *
 * A snapshot of a session is kept with its channels' parts of the cut, all or none. Each part
 * belongs to the snapshots of its channel, which it is charged to, and is shown by an
 * instance of its own, a channel of the instance of the whole. It is removed with the whole,
 * or with its channel.
 *
 * A snapshot that belongs to a file descriptor is kept in the same way, but by the task that
 * takes it, and whatever &snap_keeper.want says: takers do not add it to .fresh, the keeper
 * does not count it in .nr, and it does not take room from the first ones. The owner has
 * a reference to its instance, so that neither the keeper nor rmdir removes it. It is in .owned
 * until snap_end_owned(). Then it is retired as any kept one, and freed also if it is the newest
 * snapshot.
 *
 * The instance is a user of its snapshot. The taker is one, too, until the keeper has decided: a
 * rmdir before that removes the instance alone.
 *
 * Instances change under event_mutex and trace_types_lock, and these are taken before
 * &trace_snapshots.mutex, which is taken for one owner at a time: parts stay when their
 * channel leaves the session, and it may become the session of that one. The keeper waits
 * for writers and trims without them. They are held where an instance is removed, so that
 * does not wait for its keeper: the keeper finds &trace_snapshots.dead, and puts the last
 * reference.
 */

/* Instances change under these locks. The keeper never waits for writers under them. */
DEFINE_LOCK_GUARD_0(snap_names,
		    mutex_lock(&event_mutex); mutex_lock(&trace_types_lock),
		    mutex_unlock(&trace_types_lock); mutex_unlock(&event_mutex))

static struct trace_snap *snap_oldest(struct trace_snapshots *s)
{
	return list_first_entry_or_null(&s->keeper.kept, struct trace_snap, node);
}

/* The memory of @of that removing a kept snapshot of @s would free, in KiB. */
static unsigned long snap_kept_kb(struct trace_snap *snap, struct trace_snapshots *of)
{
	struct trace_array *part;

	/* The newest stays. */
	if (list_is_last(&snap->node, &snap->owner->keeper.kept) || snap_is_open(snap))
		return 0;
	if (snap->owner == of)
		return atomic_read(&snap->users) == 1 ? READ_ONCE(snap->kb) : 0;
	for_each_channel(part, snap->kept) {
		if (part->shows->owner == of && atomic_read(&part->shows->users) == 1)
			return READ_ONCE(part->shows->kb);
	}
	return 0;
}

static bool snap_retire_oldest(struct trace_snapshots *s, struct trace_snapshots *of,
			       unsigned long kb)
{
	unsigned long limit = READ_ONCE(of->memory.limit_kb), used = READ_ONCE(of->memory.kb);
	unsigned long room = limit > used ? limit - used : 0, more;
	struct trace_snap *snap, *oldest = NULL;

	if (READ_ONCE(s->keeper.want.first))
		return false;
	list_for_each_entry(snap, &s->keeper.kept, node) {
		more = snap_kept_kb(snap, of);
		room += more;
		if (more && !oldest)
			oldest = snap;
	}
	/* Remove none in vain. */
	if (room < kb || !oldest)
		return false;
	snap_retire(s, oldest);
	return true;
}

/*
 * Remove the oldest one that nobody has open, if removing such ones makes room for @kb in
 * the memory of @of, which is @s or a channel of it.
 * Return: false if there is none.
 */
static bool snap_make_room(struct trace_snapshots *s, struct trace_snapshots *of, unsigned long kb)
{
	bool ret;

	scoped_guard(snap_names)
		ret = snap_retire_oldest(s, of, kb);
	guard(mutex)(&of->mutex);
	snap_collect(of);
	return ret;
}

/* Trimming takes memory for a moment: that of the empty buffer, which comes back later. */
static int snap_keep_trim(struct trace_snap *snap)
{
	struct trace_snapshots *s = snap->owner;
	int ret;

	guard(mutex)(&s->mutex);
	ret = snap_trim(s, snap);
	if (ret != -ENOSPC)
		return ret;
	snap_free_slot(s, &s->user, false);
	return snap_trim(s, snap);
}

/* Set how many more snapshots may be taken. */
static void snap_keep_count(struct trace_snapshots *s)
{
	s64 room = (s64)s->keeper.want.nr - s->keeper.nr;
	struct trace_snap *snap;

	lockdep_assert_held(&s->mutex);
	guard(snap_change)(s);
	llist_for_each_entry(snap, s->keeper.fresh.first, fresh)
		room--;
	WRITE_ONCE(s->keeper.room, s->keeper.want.first ? clamp(room, 0, INT_MAX) : INT_MAX);
}

/*
 * Create the instances of a snapshot and of its parts, or none. It leaves out parts of
 * removed channels. Return: 0 or an error, and which instance had it in @bad.
 */
static int snap_publish_all(struct trace_snap *whole, struct trace_snap **bad)
{
	struct trace_snap *part;
	int ret;

	*bad = whole;
	ret = snap_publish(whole->owner, whole, NULL);
	if (ret)
		return ret;
	for (part = whole->parts; part; part = part->next_part) {
		ret = snap_publish(part->owner, part, whole->kept);
		if (ret && ret != -ENODEV) {
			*bad = part;
			snap_unpublish(whole->owner, whole);
			return ret;
		}
	}
	return 0;
}

/* The keeper has decided: the snapshot is kept, or never will be. */
static void snap_keep_decided(struct trace_snap *snap, bool counted)
{
	guard(snap_change)(snap->owner);
	snap->pending = false;
	snap->owner->keeper.backlog -= counted;
}

/**
 * snap_end_parts() - end the taker's use of the parts of a session's snapshot
 * @whole: the snapshot, which takers have added
 *
 * Context: May sleep; no &trace_snapshots.mutex is held.
 */
void snap_end_parts(struct trace_snap *whole)
{
	struct trace_snap *part, *next;
	struct trace_snapshots *s;

	for (part = whole->parts; part; part = next) {
		next = part->next_part;
		s = part->owner;
		scoped_guard(mutex, &s->mutex) {
			snap_keep_decided(part, false);
			snap_put(s, part);
			snap_collect(s);
		}
		snap_put_owner(s);
	}
	whole->parts = NULL;
}

/* Tell why a snapshot cannot be kept, because of @bad, which is itself or a part of it. */
static void snap_report_unkept(struct trace_snap *whole, struct trace_snap *bad, int err)
{
	struct trace_snapshots *s = whole->owner;
	char *name;

	/* Nothing is removed while these are held. */
	guard(snap_names)();
	guard(mutex)(&s->mutex);
	if (s->dead)
		return;
	name = kasprintf(GFP_KERNEL, "%s@%llu", s->tr->name ?: "top", whole->seq);
	snap_report(s, READ_ONCE(bad->owner->dead) ? s : bad->owner, "snapshot_keep",
		    name ?: "", err);
	kfree(name);
}

static int snap_keep_publish(struct trace_snapshots *s, struct trace_snap *whole)
{
	struct trace_snap *bad;
	int ret;

	do {
		scoped_guard(snap_names)
			ret = snap_publish_all(whole, &bad);
	} while (ret == -ENOSPC && snap_make_room(s, bad->owner, bad->kept_kb));
	if (ret && !whole->owned)
		snap_report_unkept(whole, bad, ret);

	snap_end_parts(whole);
	snap_keep_decided(whole, !whole->owned);
	guard(mutex)(&s->mutex);
	if (ret && !whole->owned) {
		atomic_long_inc(&s->count.unkept);
		s->keeper.nr--;
	}
	if (ret)
		whole->owned = false;
	else
		WRITE_ONCE(s->keeper.news, s->keeper.news + 1);
	snap_put(s, whole);
	wake_up_all(&s->wait);
	return ret;
}

/* Keep a snapshot that was taken. Return: 0 or an error; then it is not kept. */
static int snap_keep_one(struct trace_snapshots *s, struct trace_snap *whole)
{
	struct trace_snap *snap;

	lockdep_assert_not_held(&trace_types_lock);
	for (snap = whole; snap; snap = snap == whole ? whole->parts : snap->next_part) {
		snap_settle(snap);
		while (snap_keep_trim(snap) == -ENOSPC &&
		       snap_make_room(s, snap->owner, snap_trimmed_kb(snap)))
			;
	}
	return snap_keep_publish(s, whole);
}

/* Keep what takers have added. From here on, &snap_keeper.nr counts it. */
static void snap_keep_fresh(struct trace_snapshots *s)
{
	struct trace_snap *whole, *next;
	struct llist_node *fresh;

	lockdep_assert_held(&s->keeper.mutex);
	scoped_guard(mutex, &s->mutex) {
		fresh = llist_reverse_order(llist_del_all(&s->keeper.fresh));
		llist_for_each_entry(whole, fresh, fresh)
			s->keeper.nr++;
	}

	llist_for_each_entry_safe(whole, next, fresh, fresh)
		snap_keep_one(s, whole);
}

/*
 * Have a buffer for the next snapshot, if there may be @more or if something needs it.
 * Return: 0 or an error; with -ENOSPC, it needs @kb.
 */
static int snap_keep_provide_one(struct trace_snapshots *s, bool more, unsigned long *kb)
{
	guard(mutex)(&s->mutex);
	if (s->dead || (!more && !snap_is_needed(s, &s->user)))
		return 0;
	*kb = snap_buffer_kb(s->tr->array_buffer.buffer);
	return snap_provide_one(s, &s->user);
}

/* May there be another snapshot? If the first ones are kept, and are there, free its memory. */
static bool snap_may_take_more(struct trace_snapshots *s)
{
	guard(mutex)(&s->mutex);
	if (s->dead || !s->keeper.want.nr || !READ_ONCE(s->user.seq))
		return false;
	if (READ_ONCE(s->keeper.room) > 0)
		return true;
	if (!snap_is_needed(s, &s->user))
		snap_free_slot(s, &s->user, false);
	return false;
}

/*
 * Have buffers for the next snapshot, in the channels as well: what is kept has those that were
 * there, for a keeper, an owner or a session. Return: 0 or an error.
 */
static int snap_keep_provide(struct trace_snapshots *s)
{
	bool more = snap_may_take_more(s);
	struct trace_snapshots *of = s;
	unsigned int n = 0;
	unsigned long kb;
	int ret, err = 0;

	for (; of; of = snap_get_channel(s, n++)) {
		do {
			ret = snap_keep_provide_one(of, more, &kb);
		} while (ret == -ENOSPC && snap_make_room(s, of, kb));
		err = err ?: ret;
		if (of != s)
			snap_put_owner(of);
	}
	return err;
}

/* Are the newest ones kept, and are these more of them? */
static bool snap_has_surplus(struct trace_snapshots *s)
{
	guard(mutex)(&s->mutex);
	return !s->keeper.want.first && s->keeper.nr > s->keeper.want.nr;
}

/**
 * snap_tend() - look after kept snapshots now, as the keeper does
 * @s: the snapshots of a trace array
 *
 * Context: May sleep.
 * Return: 0; the error if there is no buffer for the next snapshot.
 */
int snap_tend(struct trace_snapshots *s)
{
	int ret;

	guard(mutex)(&s->keeper.mutex);
	clear_bit(SNAP_WORK_KEEP, &s->worker.work_for);
	snap_keep_fresh(s);
	scoped_guard(snap_names) {
		snap_forget_leaving(s);
		while (snap_has_surplus(s))
			snap_retire(s, snap_oldest(s));
	}
	scoped_guard(mutex, &s->mutex)
		snap_keep_count(s);
	ret = snap_keep_provide(s);
	guard(mutex)(&s->mutex);
	snap_collect(s);
	return ret;
}

/**
 * snap_keep_work() - look after kept snapshots, and put a reference
 * @work: the keeper
 *
 * Context: May sleep.
 */
void snap_keep_work(struct work_struct *work)
{
	struct trace_snapshots *s = container_of(work, struct trace_snapshots, keeper.work);
	unsigned long begin;
	int ret;

	/* In a storm it has the locks for half of the time. */
	wait_event_timeout(s->wait, READ_ONCE(s->dead) || !time_before(jiffies, s->keeper.pause),
			   min_t(unsigned long, s->keeper.pause - jiffies, HZ));
	begin = jiffies;
	/* A task may have done it. */
	if (test_bit(SNAP_WORK_KEEP, &s->worker.work_for)) {
		ret = snap_tend(s);
		/* A task that lacks a buffer reports that itself. */
		scoped_guard(mutex, &s->mutex)
			snap_report_next(s, ret);
	}
	s->keeper.pause = jiffies + min_t(unsigned long, jiffies - begin, HZ);
	snap_put_owner(s);
}

/**
 * snap_keep_queue() - start the keeper
 * @s: the snapshots of a trace array, which exists
 *
 * Context: Any context but NMI.
 */
void snap_keep_queue(struct trace_snapshots *s)
{
	set_bit(SNAP_WORK_KEEP, &s->worker.work_for);
	/* The keeper puts it. */
	refcount_inc(&s->ref);
	if (!queue_work(system_dfl_wq, &s->keeper.work))
		snap_put_owner(s);
}

/* Memory that survives a reboot has room for one snapshot. */
static bool snap_may_keep(struct trace_snapshots *s)
{
	struct trace_snapshots *part;

	lockdep_assert_held(&s->mutex);
	for_each_part(part, s) {
		if (part->tr->range_addr_start)
			return false;
	}
	return true;
}

/**
 * snap_keep_set() - set which snapshots are kept
 * @s:    the snapshots of a trace array
 * @keep: which snapshots are kept
 *
 * Context: May sleep.
 * Return: 0; -EXFULL if it would keep memory that survives a reboot, which has room for one
 *	   snapshot.
 */
int snap_keep_set(struct trace_snapshots *s, struct snap_keep keep)
{
	scoped_guard(mutex, &s->mutex) {
		if (keep.nr && !snap_may_keep(s))
			return -EXFULL;
		snap_keep_begin(s, keep);
		snap_keep_count(s);
	}
	snap_tend(s);
	return 0;
}

static int snap_take_owned(struct trace_snapshots *s, int cpu, struct trace_snap **owned)
{
	struct snap_request req = {
		.cpu = cpu,
		.by = SNAP_BY_WRITE,
		.waits = true,
		.now = true,
		.taken = owned,
	};
	int ret;

	guard(mutex)(&s->mutex);
	if (READ_ONCE(s->tr->retired))
		return -ENODEV;
	if (!snap_may_keep(s))
		return -EXFULL;
	ret = snap_take_wait(s, &req);
	/* The requester is its only user that knows it. */
	if (!ret)
		(*owned)->owned = true;
	return ret;
}

/**
 * snap_keep_owned() - take a snapshot, and keep it for an owner
 * @s:     the snapshots of a trace array, of which the caller has a file open
 * @cpu:   the CPU, or RING_BUFFER_ALL_CPUS
 * @owned: is set to the snapshot
 *
 * The snapshot is taken at once, without &snap_pending.delay.
 *
 * Context: May sleep.
 * Return: 0, and snap_end_owned() has to follow; -EXFULL as snap_keep_set(); -ENODEV if the
 *	   trace array is retired; as snap_take_wait() and snap_publish(). If it cannot be kept, it
 *	   is the newest snapshot, but not @owned.
 */
int snap_keep_owned(struct trace_snapshots *s, int cpu, struct trace_snap **owned)
{
	int ret;

	/* At the limit, kept snapshots may make room. */
	if (READ_ONCE(s->keeper.want.nr))
		snap_tend(s);
	scoped_guard(mutex, &s->keeper.mutex)
		ret = snap_take_owned(s, cpu, owned) ?: snap_keep_one(s, *owned);
	/* @owned has the buffers that others rely on: allocate other ones, if possible. */
	snap_tend(s);
	return ret;
}

/**
 * snap_end_owned() - free a snapshot that an owner had
 * @snap: the snapshot; its owner has ended
 *
 * Its files that are open stay readable; they hold it.
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 */
void snap_end_owned(struct trace_snap *snap)
{
	struct trace_snapshots *s = snap->owner;

	guard(snap_names)();
	snap->kept->ref--;
	snap_retire(s, snap);
	/* The reference of this instance may have been the last one to the trace array. */
	if (s->tr->retired)
		queue_work(system_dfl_wq, s->tr->retired);
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
		snap_keep_queue(tr->shows->owner);
}

static void snap_retire_all(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;

	while (snap_oldest(s))
		snap_retire(s, snap_oldest(s));
	list_for_each_entry_safe(snap, next, &s->keeper.parts, node)
		snap_retire(s, snap);
}

/**
 * trace_snapshot_is_keeping() - is a snapshot about to be kept?
 * @tr: the trace array; it shows no kept snapshot
 *
 * Context: May sleep.
 * Return: true if the keeper has not decided about a snapshot, or a part of one, that was taken.
 */
bool trace_snapshot_is_keeping(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap;

	guard(mutex)(&s->mutex);
	guard(snap_change)(s);
	if (s->user.last && s->user.last->pending)
		return true;
	llist_for_each_entry(snap, s->gone.first, gone)
		if (snap->pending)
			return true;
	return false;
}

/**
 * trace_snapshot_remove() - remove the kept snapshots of an instance, or one of them
 * @tr: the instance, or the instance of a kept snapshot; nobody has it open
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0; 1 if @tr was a kept snapshot, and was removed; -EBUSY if a kept snapshot of
 *	   the instance, or a part of the kept snapshot, is open.
 */
int trace_snapshot_remove(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->shows ? tr->shows->owner : tr->snapshots;
	struct trace_snap *snap;

	if (tr->shows) {
		if (snap_is_open(tr->shows))
			return -EBUSY;
		snap_retire(s, tr->shows);
		scoped_guard(mutex, &s->mutex)
			snap_keep_count(s);
		snap_keep_queue(s);
		return 1;
	}
	snap_forget_leaving(s);
	if (!list_empty(&s->keeper.leaving) || !list_empty(&s->keeper.owned))
		return -EBUSY;
	list_for_each_entry(snap, &s->keeper.kept, node) {
		if (snap_is_open(snap))
			return -EBUSY;
	}
	list_for_each_entry(snap, &s->keeper.parts, node) {
		if (snap_is_open(snap))
			return -EBUSY;
	}
	snap_retire_all(s);
	return 0;
}

/**
 * trace_snapshot_retire() - retire the kept snapshots of an instance
 * @tr: the instance, which is retired, too
 *
 * Their open files stay readable. Those that have an owner stay as they are.
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 */
void trace_snapshot_retire(struct trace_array *tr)
{
	snap_retire_all(tr->snapshots);
}

/**
 * trace_snapshot_owner() - tell which trace array a kept snapshot is of
 * @tr: the instance of a kept snapshot
 *
 * Context: trace_types_lock is held.
 * Return: the trace array.
 */
struct trace_array *trace_snapshot_owner(struct trace_array *tr)
{
	return tr->shows->owner->tr;
}
