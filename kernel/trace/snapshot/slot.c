// SPDX-License-Identifier: GPL-2.0
/*
 * The lock of the snapshots, and the buffers of a slot: provide, hold, erase, release.
 */
#include <linux/irqflags.h>
#include <linux/processor.h>

#include "internal.h"

/*
 * A holder has interrupts off and waits for nothing, so others wait for a few instructions
 * of each CPU. But an NMI, a crash for example, can stop a holder for good. So nobody
 * waits for ever.
 */
#define SNAP_PATIENCE	BIT(20)
/* Here the holder probably waits for this CPU, or was stopped. */
#define SNAP_NO_PATIENCE	BIT(10)

/* Locks that this CPU holds: an NMI there looks */
static DEFINE_PER_CPU(unsigned int, snap_held);
/* The owner of a lock that was waited for in vain; it may hold others, too */
static int snap_stuck;

/**
 * snap_lock() - lock the buffers of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: Any context, including NMI, with interrupts off. snap_unlock() has to follow.
 * Return: false if the caller has interrupted the holder, or if the holder was stopped.
 */
bool snap_lock(struct trace_snapshots *s)
{
	/* An NMI that has stopped a holder must not wait for one that waits for that. */
	bool hurry = in_nmi() && __this_cpu_read(snap_held);
	int owner, self = smp_processor_id() + 1;
	unsigned long tries = 0, max;

	do {
		/* Pairs with snap_unlock:A, snap_show_last:B and snap_look:B. RBB(snap_lock:A) */
		owner = atomic_cmpxchg(&s->owner, 0, self);
		if (!owner) {
			__this_cpu_inc(snap_held);
			return true;
		}
		if (owner == self)
			return false;
		cpu_relax();
		max = hurry || owner == READ_ONCE(snap_stuck) ? SNAP_NO_PATIENCE : SNAP_PATIENCE;
	} while (++tries < max);
	if (!hurry)
		WRITE_ONCE(snap_stuck, owner);
	return false;
}

/**
 * snap_unlock() - unlock the buffers of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: The caller has called snap_lock().
 */
void snap_unlock(struct trace_snapshots *s)
{
	__this_cpu_dec(snap_held);
	if (unlikely(READ_ONCE(snap_stuck) == smp_processor_id() + 1))
		WRITE_ONCE(snap_stuck, 0);
	/* Pairs with snap_lock:A and snap_show_last:C. RBB(snap_unlock:A) */
	atomic_set_release(&s->owner, 0);
}

/**
 * snap_change_begin() - lock the buffers of a trace array in a task
 * @s:    the snapshots of the trace array
 * @lock: snap_lock(), or snap_lock_all() to lock those of its channels as well
 *
 * A task waits for the lock without a limit.
 *
 * Context: A task. Interrupts are off until snap_change_end(), which has to follow soon.
 * Return: state of the interrupts, for snap_change_end().
 */
unsigned long snap_change_begin(struct trace_snapshots *s, bool (*lock)(struct trace_snapshots *s))
{
	unsigned long flags;

	for (;;) {
		local_irq_save(flags);
		if (lock(s))
			return flags;
		local_irq_restore(flags);
		cond_resched();
	}
}

/**
 * snap_change_end() - unlock what snap_change_begin() has locked
 * @s:      the snapshots of the trace array
 * @unlock: snap_unlock() or snap_unlock_all()
 * @flags:  the return value of snap_change_begin()
 *
 * Context: A task.
 */
void snap_change_end(struct trace_snapshots *s, void (*unlock)(struct trace_snapshots *s),
		     unsigned long flags)
{
	unlock(s);
	local_irq_restore(flags);
}

/* The locks of @end and of the channels behind it are not held. */
static void snap_unlock_channels(struct trace_snapshots *s, struct trace_array *end)
{
	struct trace_array *ch;

	for_each_channel(ch, s->tr) {
		if (ch == end)
			break;
		snap_unlock(ch->snapshots);
	}
	/* The last one: it protects which channels there are. */
	snap_unlock(s);
}

/**
 * snap_lock_all() - lock the buffers of a trace array, and then those of its channels
 * @s: the snapshots of the trace array
 *
 * Context: As snap_lock(). snap_unlock_all() has to follow.
 * Return: as snap_lock(); then none is locked.
 */
bool snap_lock_all(struct trace_snapshots *s)
{
	struct trace_array *ch;

	if (!snap_lock(s))
		return false;
	for_each_channel(ch, s->tr) {
		if (!snap_lock(ch->snapshots)) {
			snap_unlock_channels(s, ch);
			return false;
		}
	}
	return true;
}

/**
 * snap_unlock_all() - unlock what snap_lock_all() has locked
 * @s: the snapshots of the trace array
 *
 * Context: The caller has called snap_lock_all().
 */
void snap_unlock_all(struct trace_snapshots *s)
{
	snap_unlock_channels(s, NULL);
}

/* The caller has the lock. */
static void snap_assert_locked(const struct trace_snapshots *s)
{
	lockdep_assert(atomic_read(&s->owner) == smp_processor_id() + 1);
}

/**
 * snap_fits() - does the size of a buffer fit the live one?
 * @s:    the snapshots of the trace array
 * @snap: the buffer
 *
 * Context: Any context.
 * Return: true if so; nothing fits while the live buffer changes its size.
 */
bool snap_fits(const struct trace_snapshots *s, const struct trace_snap *snap)
{
	return READ_ONCE(snap->gen) == READ_ONCE(s->gen);
}

/**
 * snap_is_free() - can the next snapshot use this buffer?
 * @s:    the snapshots of the trace array
 * @snap: a buffer of a slot, or NULL
 *
 * Context: The caller has the lock.
 * Return: true if it fits, has no users and is not mapped.
 */
bool snap_is_free(const struct trace_snapshots *s, struct trace_snap *snap)
{
	snap_assert_locked(s);
	/*
	 * Pairs with snap_put:A: the reader no longer accesses it. A reader may have trimmed
	 * it, so its size is only valid without readers. RBB(snap_is_free:A)
	 */
	return snap && !atomic_read_acquire(&snap->users) && snap_fits(s, snap) &&
	       !ring_buffer_is_mapped(snap->buf.buffer);
}

/**
 * snap_get() - begin the use of a buffer
 * @snap: the buffer; it has not been discarded, or has users
 *
 * Context: The caller has the lock of its owner. snap_put() has to follow.
 */
void snap_get(struct trace_snap *snap)
{
	snap_assert_locked(snap->owner);
	atomic_inc(&snap->users);
}

/**
 * snap_relied_on() - does anything rely on a buffer for the next snapshot of the user's slot?
 * @s: the snapshots of a trace array
 *
 * Beside @s itself, the session that it is a channel of takes it as a part of its own.
 *
 * Context: &trace_snapshots.mutex is held.
 * Return: 0; -EADDRINUSE if a trigger of it does; -EISCONN if the session does.
 */
int snap_relied_on(struct trace_snapshots *s)
{
	struct trace_array *session;

	lockdep_assert_held(&s->mutex);
	if (atomic_read(&s->user.armed))
		return -EADDRINUSE;
	guard(rcu)();
	session = READ_ONCE(s->tr->session);
	return session && atomic_read(&session->snapshots->user.armed) ? -EISCONN : 0;
}

/* Does a trigger, the kernel or a pending request need the next buffer? */
static bool snap_is_claimed(struct trace_snapshots *s)
{
	return atomic_read(&s->user.armed) || READ_ONCE(s->pinned) ||
	       atomic_long_read(&s->pending.requests);
}

/**
 * snap_is_needed() - does anything need a buffer for the next snapshot?
 * @s:    the snapshots of a trace array
 * @slot: the slot
 *
 * Unlike for snap_relied_on(), user space may free that of the kernel and of snapshot_on.
 *
 * Context: &trace_snapshots.mutex is held.
 * Return: true if a trigger, the kernel or a pending request of it or of its session does; or
 *	   snapshot_on, if there is a snapshot or a buffer.
 */
bool snap_is_needed(struct trace_snapshots *s, const struct snap_slot *slot)
{
	struct trace_array *session;

	lockdep_assert_held(&s->mutex);
	if (slot != &s->user)
		return atomic_read(&slot->armed);
	/* As snap_crash_wants(): without memory, a crash takes none, and needs none. */
	if (READ_ONCE(snap_crash_on) && (READ_ONCE(slot->spare) || READ_ONCE(slot->last)))
		return true;
	if (snap_is_claimed(s))
		return true;
	guard(rcu)();
	session = READ_ONCE(s->tr->session);
	return session && snap_is_claimed(session->snapshots);
}

/**
 * snap_is_ready() - is there a buffer for the next snapshot?
 * @s:    the snapshots of the trace array
 * @slot: the slot
 *
 * Context: &trace_snapshots.mutex is held.
 * Return: true if so, even if somebody reads it now.
 */
bool snap_is_ready(const struct trace_snapshots *s, const struct snap_slot *slot)
{
	struct trace_snap *last = READ_ONCE(slot->last);

	lockdep_assert_held(&s->mutex);
	return READ_ONCE(slot->spare) || (last && snap_fits(s, last) && !last->kept);
}

/**
 * snap_discard() - leave a buffer to snap_collect()
 * @s:    the snapshots of the trace array
 * @snap: the buffer, or NULL
 *
 * Context: Any context, including NMI.
 */
void snap_discard(struct trace_snapshots *s, struct trace_snap *snap)
{
	if (snap)
		llist_add(&snap->gone, &s->gone);
}

/* Store @snap at @at, and discard the buffer that was there. */
static void snap_replace(struct trace_snapshots *s, struct trace_snap **at, struct trace_snap *snap)
{
	snap_assert_locked(s);
	snap_discard(s, *at);
	*at = snap;
}

/**
 * snap_collect() - free the discarded buffers that nobody reads
 * @s: the snapshots of the trace array
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_collect(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;

	lockdep_assert_held(&s->mutex);
	llist_for_each_entry_safe(snap, next, llist_del_all(&s->gone), gone) {
		/* Readers release a snapshot under the mutex. */
		if (atomic_read(&snap->users))
			snap_discard(s, snap);
		else
			snap_free(s, snap);
	}
}

/**
 * snap_add_spare() - allocate an empty buffer for the next snapshot
 * @s:    the snapshots of the trace array
 * @slot: the slot
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, or as snap_alloc_spare().
 */
int snap_add_spare(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *snap = snap_alloc_spare(s);

	if (IS_ERR(snap))
		return PTR_ERR(snap);
	scoped_guard(snap_change, s)
		snap_replace(s, &slot->spare, snap);
	snap_collect(s);
	return 0;
}

/**
 * snap_get_channel() - find a channel of a session
 * @s: the snapshots of the session
 * @n: number of the channel, from 0
 *
 * Context: May sleep.
 * Return: its snapshots, and snap_put_owner() has to follow; NULL if there are no so many.
 */
struct trace_snapshots *snap_get_channel(struct trace_snapshots *s, unsigned int n)
{
	struct trace_array *ch;

	guard(mutex)(&s->mutex);
	/* Then its trace array may be freed. */
	if (s->dead)
		return NULL;
	for_each_channel(ch, s->tr) {
		if (n--)
			continue;
		refcount_inc(&ch->snapshots->ref);
		return ch->snapshots;
	}
	return NULL;
}

typedef int (*snap_slot_fn)(struct trace_snapshots *s, struct snap_slot *slot);

/*
 * Call @fn for the user's slot of a channel, if it has rings. Only here are two of these
 * mutexes held: the caller has that of a session, which is no channel.
 */
static int snap_call_channel(struct trace_array *ch, snap_slot_fn fn)
{
	struct trace_snapshots *s = ch->snapshots;
	int ret = 0;

	mutex_lock_nested(&s->mutex, SINGLE_DEPTH_NESTING);
	if (ring_buffer_is_expanded(ch->array_buffer.buffer))
		ret = fn(s, &s->user);
	mutex_unlock(&s->mutex);
	return ret;
}

/*
 * Call @fn for a slot; for the user's slot of a session, for that of each of its channels as well,
 * until it fails. The channels change under this mutex only.
 */
static int snap_call_all(struct trace_snapshots *s, struct snap_slot *slot, snap_slot_fn fn)
{
	int ret = fn(s, slot);
	struct trace_array *ch;

	lockdep_assert_held(&s->mutex);
	if (slot != &s->user)
		return ret;
	for_each_channel(ch, s->tr) {
		if (ret)
			break;
		ret = snap_call_channel(ch, fn);
	}
	return ret;
}

/**
 * snap_provide_one() - as snap_provide(), but not in the channels of a session
 * @s:    the snapshots of a trace array
 * @slot: the slot
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, or as snap_alloc_spare().
 */
int snap_provide_one(struct trace_snapshots *s, struct snap_slot *slot)
{
	s->memory.needs_kb = 0;
	/* A buffer would have no size yet, and there is nothing to cut. */
	if (!ring_buffer_is_expanded(s->tr->array_buffer.buffer))
		return 0;
	scoped_guard(snap_change, s) {
		/* A taker that comes after this leaves a snapshot that nobody reads yet. */
		if (slot->spare || snap_is_free(s, slot->last))
			return 0;
		/* Memory that survives a reboot has room for one. */
		if (s->tr->range_addr_start && slot->last)
			return 0;
	}
	return snap_add_spare(s, slot);
}

/**
 * snap_provide() - have a buffer ready for the next snapshot
 * @s:    the snapshots of the trace array
 * @slot: the slot
 *
 * For the user's slot of a session, in each of its channels with rings, too.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, or as snap_alloc_spare().
 */
int snap_provide(struct trace_snapshots *s, struct snap_slot *slot)
{
	return snap_call_all(s, slot, snap_provide_one);
}

/**
 * snap_arm() - rely on a buffer for the next snapshot
 * @s:    the snapshots of the trace array
 * @slot: the slot
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, and snap_disarm() has to follow; or as snap_provide().
 */
int snap_arm(struct trace_snapshots *s, struct snap_slot *slot)
{
	int ret;

	/* First: then a channel either has a buffer, or finds that the session needs it. */
	atomic_inc(&slot->armed);
	ret = snap_provide(s, slot);
	if (ret)
		snap_disarm(slot);
	return ret;
}

/**
 * snap_disarm() - no longer rely on a buffer for the next snapshot
 * @slot: the slot
 *
 * The buffer stays.
 *
 * Context: Any context.
 */
void snap_disarm(struct snap_slot *slot)
{
	WARN_ON_ONCE(atomic_dec_if_positive(&slot->armed) < 0);
}

static int snap_settle_one(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *snap;

	scoped_guard(snap_change, s) {
		snap = slot->spare ?: slot->last;
		if (!snap_is_free(s, snap))
			return 0;
		/* No cut uses the buffer meanwhile. */
		snap_get(snap);
	}
	snap_settle(snap);
	snap_put(s, snap);
	return 0;
}

/**
 * snap_settle_next() - wait for the writers of the buffer for the next snapshot
 * @s:    the snapshots of the trace array
 * @slot: the slot
 *
 * A request failed because a record in this buffer is in flight, or was never committed.
 *
 * For the user's slot of a session, in each of its channels with rings, too.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_settle_next(struct trace_snapshots *s, struct snap_slot *slot)
{
	snap_call_all(s, slot, snap_settle_one);
}

/**
 * snap_free_slot() - free the buffers of a slot
 * @s:    the snapshots of the trace array
 * @slot: the slot
 * @all:  the newest snapshot as well as the empty buffer
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_free_slot(struct trace_snapshots *s, struct snap_slot *slot, bool all)
{
	scoped_guard(snap_change, s) {
		snap_replace(s, &slot->spare, NULL);
		if (all)
			snap_replace(s, &slot->last, NULL);
	}
	snap_collect(s);
}

/* The next request finds a buffer although the newest snapshot is going to be held. */
static void snap_prepare_get(struct trace_snapshots *s, struct snap_slot *slot)
{
	lockdep_assert_held(&s->mutex);
	/* Memory that survives a reboot has room for one. */
	if (!s->tr->range_addr_start && READ_ONCE(slot->last) && !READ_ONCE(slot->spare) &&
	    snap_is_needed(s, slot))
		snap_add_spare(s, slot);
}

/**
 * snap_get_last() - keep the newest snapshot as it is
 * @s:    the snapshots of the trace array
 * @slot: the slot
 *
 * A slot that something needs gets another buffer. If there is no memory for it, a request
 * may be refused meanwhile; it is counted.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: the snapshot, and snap_put() has to follow; NULL if there is none.
 */
struct trace_snap *snap_get_last(struct trace_snapshots *s, struct snap_slot *slot)
{
	snap_prepare_get(s, slot);
	guard(snap_change)(s);
	if (slot->last)
		snap_get(slot->last);
	return slot->last;
}

/**
 * snap_put() - end the use of a snapshot
 * @s:    the snapshots of the trace array
 * @snap: the snapshot; the caller no longer accesses it
 *
 * Context: &trace_snapshots.mutex is held.
 */
void snap_put(struct trace_snapshots *s, struct trace_snap *snap)
{
	lockdep_assert_held(&s->mutex);
	/* Pairs with snap_is_free:A. RBB(snap_put:A) */
	(void)atomic_dec_return_release(&snap->users);
}

/* Drop the spare buffer of snap_get_last() once the newest snapshot can be replaced. */
static void snap_drop_surplus(struct trace_snapshots *s, struct snap_slot *slot)
{
	guard(snap_change)(s);
	if (snap_is_free(s, slot->last))
		snap_replace(s, &slot->spare, NULL);
}

/* Erase one CPU's part of a snapshot that the caller holds. */
static void snap_reset_cpu(struct trace_snap *snap, int cpu)
{
	ring_buffer_reset_cpu(snap->buf.buffer, cpu);
	WRITE_ONCE(snap->info.since, U64_MAX);
}

/* Erase one CPU's part of the newest snapshot. */
static int snap_erase_cpu(struct trace_snapshots *s, struct snap_slot *slot, int cpu)
{
	struct trace_snap *last = snap_get_last(s, slot);
	int ret = 0;

	if (!last)
		return 0;
	if (atomic_read(&last->users) > 1)
		ret = -EBUSY;
	else
		snap_reset_cpu(last, cpu);
	snap_put(s, last);
	snap_drop_surplus(s, slot);
	snap_collect(s);
	return ret;
}

/**
 * snap_drop() - free a snapshot also if it is the newest one
 * @s:    the snapshots of the trace array
 * @slot: the slot
 * @snap: a snapshot of it, which has users
 *
 * snap_collect() frees it when it has none.
 *
 * Context: &trace_snapshots.mutex is held.
 */
void snap_drop(struct trace_snapshots *s, struct snap_slot *slot, struct trace_snap *snap)
{
	guard(snap_change)(s);
	/* One that was superseded while it had users is discarded already. */
	if (slot->last == snap)
		snap_replace(s, &slot->last, NULL);
}

/* A reader keeps its snapshot. Have another buffer then, since the memory is to stay. */
static int snap_prepare_erase(struct trace_snapshots *s, struct snap_slot *slot)
{
	if (snap_is_ready(s, slot))
		snap_provide_one(s, slot);
	return 0;
}

static void snap_erase_last(struct trace_snapshots *s, struct snap_slot *slot)
{
	/* The spare one has no writer in flight, which the next cut would find. */
	if (!slot->spare && snap_is_free(s, slot->last)) {
		swap(slot->spare, slot->last);
		snap_unsave(slot->spare);
	}
	snap_replace(s, &slot->last, NULL);
}

/**
 * snap_erase() - erase the newest snapshot, but keep its memory
 * @s:    the snapshots of the trace array
 * @slot: the slot
 * @cpu:  the CPU, or RING_BUFFER_ALL_CPUS
 *
 * A reader keeps what it reads. If there is no memory for another buffer then, the next
 * snapshot has none.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0; -EBUSY while somebody reads it, for one CPU.
 */
int snap_erase(struct trace_snapshots *s, struct snap_slot *slot, int cpu)
{
	if (cpu != RING_BUFFER_ALL_CPUS)
		return snap_erase_cpu(s, slot, cpu);
	snap_prepare_erase(s, slot);
	scoped_guard(snap_change, s)
		snap_erase_last(s, slot);
	snap_collect(s);
	return 0;
}

/* For a reader of a slot without a snapshot: an empty one. */
static struct trace_snap *snap_get_none(struct trace_snapshots *s, u64 seq)
{
	struct trace_buffer *buffer = ring_buffer_alloc(0, RB_FL_OVERWRITE);
	struct trace_snap *snap = buffer ? snap_alloc(s->tr, buffer) : NULL;

	if (!snap)
		return NULL;
	snap->seq = seq;
	atomic_set(&snap->users, 1);
	snap_discard(s, snap);
	return snap;
}

/**
 * trace_snapshot_get() - begin to read the newest snapshot
 * @tr:  the trace array
 * @max: that of the longest latency, not that of the user
 *
 * The snapshot does not change until trace_snapshot_put().
 *
 * Context: May sleep.
 * Return: its records, none if there is no snapshot; NULL without memory.
 */
struct array_buffer *trace_snapshot_get(struct trace_array *tr, bool max)
{
	struct trace_snapshots *s = tr->snapshots;
	struct snap_slot *slot = max ? &s->max : &s->user;
	struct trace_snap *snap;
	u64 seq;

	guard(mutex)(&s->mutex);
	seq = READ_ONCE(slot->seq);
	snap = snap_get_last(s, slot) ?: snap_get_none(s, seq);
	if (!snap)
		return NULL;
	snap_settle(snap);
	return &snap->buf;
}

/**
 * trace_snapshot_put() - end the reading of a snapshot
 * @buf: the return value of trace_snapshot_get()
 *
 * Context: May sleep.
 */
void trace_snapshot_put(struct array_buffer *buf)
{
	struct trace_snapshots *s = buf->tr->snapshots;

	guard(mutex)(&s->mutex);
	snap_put(s, snap_of(buf));
	snap_drop_surplus(s, &s->user);
	snap_drop_surplus(s, &s->max);
	snap_collect(s);
	/* The only memory that survives a reboot was erased while it was read. */
	if (s->pinned && s->tr->range_addr_start)
		snap_provide(s, &s->user);
}

/**
 * snap_part_of() - the part of a session's snapshot that a channel has as its newest one
 * @whole: the snapshot of the session, or NULL
 * @part:  the snapshots of the channel
 *
 * Context: The caller has the lock of both.
 * Return: the part; NULL if the channel was not cut with @whole, or has a newer one.
 */
struct trace_snap *snap_part_of(const struct trace_snap *whole, const struct trace_snapshots *part)
{
	struct trace_snap *snap = part->user.last;

	return snap && whole && whole->cut && snap->cut == whole->cut ? snap : NULL;
}

static int snap_collect_one(struct trace_snapshots *s, struct snap_slot *slot)
{
	snap_collect(s);
	return 0;
}

/* Erase the newest snapshot of the user, and the parts of channels. Then call @after for all. */
static void snap_erase_parts(struct trace_snapshots *s, snap_slot_fn after)
{
	struct trace_snapshots *part;
	struct trace_snap *whole;

	/* At once: all of them are of one cut, whatever is taken meanwhile. */
	scoped_guard(snap_change_all, s) {
		whole = s->user.last;
		for_each_part(part, s) {
			if (part == s || snap_part_of(whole, part))
				snap_erase_last(part, &part->user);
		}
	}
	snap_call_all(s, &s->user, after);
}

/**
 * snap_erase_all() - erase the newest snapshot of the user, and the parts of channels
 * @s: the snapshots of a trace array
 *
 * The memory stays, as with snap_erase(). So does a snapshot that a channel has taken since.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_erase_all(struct trace_snapshots *s)
{
	snap_call_all(s, &s->user, snap_prepare_erase);
	snap_erase_parts(s, snap_collect_one);
}

static int snap_free_unclaimed(struct trace_snapshots *s, struct snap_slot *slot)
{
	if (!snap_is_claimed(s))
		snap_free_slot(s, slot, false);
	return snap_collect_one(s, slot);
}

/**
 * snap_free_all() - free what snap_erase_all() erases, and the empty buffers
 * @s: the snapshots of a trace array
 *
 * The buffer of a channel stays if a trigger, the kernel or a pending request of that needs it.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_free_all(struct trace_snapshots *s)
{
	snap_erase_parts(s, snap_free_unclaimed);
}

/**
 * trace_snapshot_get_all() - begin to read the newest snapshot, and the parts of channels
 * @tr:   the trace array
 * @bufs: gets the records of @tr, and then those of its channels in turn; of a channel that has
 *	  no part of this snapshot, or a newer one of its own, there are none
 *
 * They do not change until trace_snapshot_put() of each.
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: 0 or -ENOMEM, then @bufs has nothing to put.
 */
int trace_snapshot_get_all(struct trace_array *tr, struct array_buffer **bufs)
{
	struct trace_snapshots *s = tr->snapshots, *part;
	struct trace_snap *snap;
	unsigned int i = 0;
	u64 seq;

	lockdep_assert_held(&trace_types_lock);
	for_each_part(part, s) {
		scoped_guard(mutex, &part->mutex)
			snap_prepare_get(part, &part->user);
	}
	/* One choice for all: they are of one cut, whatever is taken meanwhile. */
	scoped_guard(snap_change_all, s) {
		seq = s->user.seq;
		for_each_part(part, s) {
			snap = part == s ? s->user.last : snap_part_of(s->user.last, part);
			if (snap)
				snap_get(snap);
			bufs[i++] = snap ? &snap->buf : NULL;
		}
	}
	i = 0;
	for_each_part(part, s) {
		snap = bufs[i] ? snap_of(bufs[i]) : snap_get_none(part, seq);
		if (!snap)
			goto fail;
		bufs[i++] = &snap->buf;
		snap_settle(snap);
	}
	return 0;
fail:
	for (i = 0; i <= trace_nr_channels(tr); i++) {
		if (bufs[i])
			trace_snapshot_put(bufs[i]);
	}
	return -ENOMEM;
}

/**
 * snap_erase_cpu_all() - erase one CPU's part of what trace_snapshot_get_all() finds
 * @s:   the snapshots of a trace array
 * @cpu: the CPU
 *
 * Context: May sleep, trace_types_lock is held: no reader comes meanwhile.
 * Return: 0; -ENOBUFS while somebody reads one of them; -ENOMEM. On an error nothing has changed.
 */
int snap_erase_cpu_all(struct trace_snapshots *s, int cpu)
{
	unsigned int nr = 1 + trace_nr_channels(s->tr), i;
	struct array_buffer **bufs __free(kfree) = kcalloc(nr, sizeof(*bufs), GFP_KERNEL);
	int ret = bufs ? trace_snapshot_get_all(s->tr, bufs) : -ENOMEM;

	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		if (atomic_read(&snap_of(bufs[i])->users) > 1)
			ret = -ENOBUFS;
	}
	for (i = 0; i < nr; i++) {
		if (!ret)
			snap_reset_cpu(snap_of(bufs[i]), cpu);
		trace_snapshot_put(bufs[i]);
	}
	return ret;
}

/**
 * trace_snapshot_is_part() - was this snapshot taken with that of a session?
 * @buf: the records of a channel
 *
 * Context: Any context.
 * Return: true if so; false also for records of trace_snapshot_get_all() that there are none of.
 */
bool trace_snapshot_is_part(const struct array_buffer *buf)
{
	return snap_of(buf)->cut;
}

/* A channel needs a buffer if the session has one. */
static bool snap_channels_need(struct trace_snapshots *s)
{
	return atomic_read(&s->user.armed) || snap_is_ready(s, &s->user);
}

/**
 * trace_snapshot_set_channels() - change the channels of a session
 * @tr:       the session
 * @channels: its channels from now on; NULL if it has none
 * @ch:       the one that joins or leaves; NULL if all leave
 * @session:  @tr if @ch joins, or NULL
 *
 * A cut in progress has the channels of before. The holder of either lock sees no change.
 *
 * Context: May sleep, trace_types_lock is held.
 * Return: as trace_channels_set(); -EXFULL if the memory of @ch survives a reboot, and has no room
 *	   for a snapshot, or if the snapshots of @tr are kept.
 */
struct trace_channels *
trace_snapshot_set_channels(struct trace_array *tr, struct trace_channels *channels,
			    struct trace_array *ch, struct trace_array *session)
{
	struct trace_snapshots *s = tr->snapshots;

	guard(mutex)(&s->mutex);
	if (session && ch->range_addr_start &&
	    (!(ch->flags & TRACE_ARRAY_FL_SNAPSHOT) || s->keeper.want.nr))
		return ERR_PTR(-EXFULL);
	/* Before a snapshot needs it. Without memory, the worker tries. */
	if (session && snap_channels_need(s))
		snap_call_channel(ch, snap_provide_one);
	guard(snap_change)(s);
	return trace_channels_set(tr, channels, ch, session);
}

/**
 * trace_snapshot_add_rings() - have a channel provide what the snapshots of its session need
 * @ch: the channel, which has joined or got its rings; or any other trace array
 *
 * Context: May sleep, no &trace_snapshots.mutex and no mmap lock is held.
 */
void trace_snapshot_add_rings(struct trace_array *ch)
{
	struct trace_array *session;
	struct trace_snapshots *s;

	scoped_guard(rcu) {
		session = READ_ONCE(ch->session);
		if (!session)
			return;
		/* A session ends its memberships a grace period before it is freed. */
		s = session->snapshots;
		refcount_inc(&s->ref);
	}
	scoped_guard(mutex, &s->mutex) {
		/* The address may be that of another session. */
		if (!s->dead && READ_ONCE(ch->session) == session && snap_channels_need(s))
			snap_provide(s, &s->user);
	}
	snap_put_owner(s);
}
