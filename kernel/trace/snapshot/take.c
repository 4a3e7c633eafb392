// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots: what a trace array has recorded is cut off while it goes on.
 */
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * DOC: Snapshots
 *
 * A snapshot is a cut of the ring buffer, see ring_buffer_cut(): the live buffer
 * stays, what it has recorded goes to a spare one, and it is empty. So each record is
 * in one snapshot or in the live buffer. The spare one has to be there before, as the
 * cut may be taken in any context.
 *
 * Each &struct snap_slot has up to two buffers, the newest snapshot and a spare one.
 * Where there is no spare one, a snapshot takes the place of the newest, unless
 * somebody reads that or has it mapped. The user and a latency tracer have a slot each.
 *
 * ======================  =====================================================
 * what                    who changes it
 * ======================  =====================================================
 * &snap_slot.last, .spare whoever has got &trace_snapshots.busy: a taker, in any
 *                         context, or a task, with interrupts off, for a moment
 * &trace_snap.users       grows under busy, so that a taker that sees none may
 *                         have the buffer; falls at any time
 * &trace_snapshots.gone   takers add, whoever holds the mutex removes and frees
 * all else                &trace_snapshots.mutex
 * ======================  =====================================================
 *
 * A taker keeps interrupts on: so what interrupts it, or comes on another CPU, can't wait
 * for it, as it may hold a lock that an interrupt of that taker waits for. It is
 * merged: its snapshot is the one that is being taken. Only of one that takes less than
 * all, asks before it does, or is put off, it can't be a part: then it is refused, but for
 * one of a crash, which waits a while. Tasks have interrupts off; other CPUs wait for those
 * few instructions. So a task takes no lock there that one who asks for a snapshot may hold.
 */

/**
 * snap_change_begin() - begin to change who has which buffer
 * @s: of whom
 *
 * Context: A task. Interrupts are off until snap_change_end(), which has to follow soon.
 * Return: the state of interrupts before.
 */
unsigned long snap_change_begin(struct trace_snapshots *s)
{
	unsigned long flags;

	for (;;) {
		local_irq_save(flags);
		if (atomic_cmpxchg_acquire(&s->busy, SNAP_IDLE,
					   SNAP_CHANGING + smp_processor_id()) == SNAP_IDLE)
			return flags;
		local_irq_restore(flags);
		cond_resched();
	}
}

/**
 * snap_change_end() - the end of snap_change_begin()
 * @s:     of whom
 * @flags: what that returned
 *
 * Context: A task.
 */
void snap_change_end(struct trace_snapshots *s, unsigned long flags)
{
	atomic_set_release(&s->busy, SNAP_IDLE);
	local_irq_restore(flags);
}

static bool snap_is_unused(struct trace_snap *snap)
{
	/* Pairs with snap_unhold(): the reader is done with it. */
	return snap && !READ_ONCE(snap->misfit) && !snap->trimmed &&
	       !atomic_read_acquire(&snap->users) && !ring_buffer_is_mapped(snap->buf.buffer);
}

/* The buffer for a snapshot of @cpu. */
static struct trace_snap *
snap_choose(struct trace_snapshots *s, struct snap_slot *slot, int cpu, enum snap_by by)
{
	/* There is no other memory that survives, and nobody will read any more. */
	if (by == SNAP_BY_PANIC && s->tr->range_addr_start && slot->last)
		return slot->last;
	/* What was taken of other CPUs stays, unless it is kept as it is. */
	if (cpu != RING_BUFFER_ALL_CPUS && slot == &s->user && !s->keep.nr &&
	    slot->last && !READ_ONCE(slot->last->misfit))
		return snap_is_unused(slot->last) ? slot->last : NULL;
	if (slot->spare)
		return slot->spare;
	return snap_is_unused(slot->last) ? slot->last : NULL;
}

/**
 * snap_note_who() - note who asks for a snapshot
 * @who: where to
 * @req: what is asked for
 *
 * Context: Any context, including NMI.
 */
void snap_note_who(struct snap_who *who, const struct snap_request *req)
{
	struct task_struct *tsk = req->tsk ?: current;

	who->by = req->by;
	who->nmi = in_nmi();
	who->cpu = req->tsk ? req->tsk_cpu : raw_smp_processor_id();
	who->pid = tsk->pid;
	strscpy(who->comm, tsk->comm, sizeof(who->comm));
	/* Without RCU, which may not watch where latency tracers are. */
	who->uid = tsk == current ? current_uid() : task_uid(tsk);
	who->nice = task_nice(tsk);
	who->policy = tsk->policy;
	who->prio = tsk->rt_priority;
	strscpy(who->event, req->event ?: "", sizeof(who->event));
	who->ip = req->ip;
	who->asked = 0;
}

static void snap_note(struct trace_snapshots *s, struct trace_snap *snap,
		      const struct snap_request *req)
{
	struct trace_array_cpu *live, *data;

	if (req->who)
		snap->who = *req->who;
	else
		snap_note_who(&snap->who, req);
	live = per_cpu_ptr(s->tr->array_buffer.data, snap->who.cpu);
	data = per_cpu_ptr(snap->buf.data, snap->who.cpu);
	snap->settled = false;
	snap->clock_id = s->tr->clock_id;
	snap->since = s->end;

	/* What was before that is not shown. */
	snap->buf.time_start = req->by == SNAP_BY_TRACER ?
			       READ_ONCE(live->preempt_timestamp) : 0;

	/* For the header of the latency format. */
	snap->buf.cpu = snap->who.cpu;
	data->saved_latency = READ_ONCE(s->tr->max_latency);
	data->critical_start = READ_ONCE(live->critical_start);
	data->critical_end = READ_ONCE(live->critical_end);
	strscpy(data->comm, snap->who.comm, sizeof(data->comm));
	data->pid = snap->who.pid;
	data->uid = snap->who.uid;
	data->nice = snap->who.nice;
	data->policy = snap->who.policy;
	data->rt_priority = snap->who.prio;
}

/* Let @snap be the newest. What was that is a spare buffer now, if it can be. */
static void snap_supersede(struct trace_snapshots *s, struct snap_slot *slot,
			   struct trace_snap *snap)
{
	struct trace_snap *old = slot->last;

	if (snap == old)
		return;
	slot->last = snap;
	slot->spare = NULL;
	if (snap_is_unused(old))
		slot->spare = old;
	else
		snap_discard(s, old);
}

struct snap_cond {
	struct trace_snapshots		*s;
	const struct snap_request	*req;
};

/**
 * snap_ask() - is the condition of a request met?
 * @s:   of whom
 * @req: what; it has a condition
 *
 * It may note what for, so it is asked at last, and one after the other.
 *
 * Context: Any context, including NMI. The caller has &trace_snapshots.busy.
 * Return: true if so.
 */
bool snap_ask(struct trace_snapshots *s, const struct snap_request *req)
{
	unsigned long flags;
	bool wanted;

	local_irq_save(flags);
	wanted = req->update(s->tr, req->cond_data);
	local_irq_restore(flags);
	return wanted;
}

static bool snap_is_wanted(void *data)
{
	struct snap_cond *c = data;

	return snap_ask(c->s, c->req);
}

static int snap_cut(struct trace_snapshots *s, struct snap_slot *slot,
		    const struct snap_request *req)
{
	struct trace_buffer *live = s->tr->array_buffer.buffer;
	struct snap_cond cond = { .s = s, .req = req };
	struct trace_snap *snap;
	bool keep;
	u64 begin;
	u32 saved;
	int ret;

	/* It is due, and its buffer is not of the size to come. */
	if (req->who && s->changing)
		return -EAGAIN;
	keep = slot == &s->user && s->keep.nr;
	if (keep && s->room <= 0)
		return -ENOSPC;
	snap = snap_choose(s, slot, req->cpu, req->by);
	if (!snap)
		return -ENOBUFS;
	if (req->cpu != RING_BUFFER_ALL_CPUS && !ring_buffer_size(live, req->cpu))
		return -EINVAL;

	saved = snap_save_begin(snap);
	/* Nothing else of a spare buffer shall be seen, nor of two boots at once. */
	if (req->cpu != RING_BUFFER_ALL_CPUS && (snap == slot->spare || snap->last_boot)) {
		ret = ring_buffer_forget(snap->buf.buffer);
		if (ret) {
			snap_save_cancel(snap, saved);
			return ret;
		}
	}
	begin = ring_buffer_time_stamp(live);
	ret = ring_buffer_cut_if(live, snap->buf.buffer, req->cpu,
				 req->update ? snap_is_wanted : NULL, &cond);
	if (ret) {
		snap_save_cancel(snap, saved);
		return ret;
	}
	snap_note(s, snap, req);
	snap->begin = begin;
	/*
	 * Every CPU finds the new ring, before it is said that none has the old one.
	 * Pairs with reserve, which looks at the ring once more behind the clock.
	 */
	smp_mb();
	snap->end = ring_buffer_time_stamp(live);
	snap_save(snap, req->cpu);
	s->end = snap->end;
	snap->seq = slot->seq + 1;
	if (keep) {
		/* Whoever keeps it is a user of it. */
		atomic_inc(&snap->users);
		llist_add(&snap->fresh, &s->fresh);
		WRITE_ONCE(s->room, s->room - s->keep.first);
	}
	snap_supersede(s, slot, snap);
	WRITE_ONCE(slot->seq, snap->seq);
	/* The next one can't take the place of what user space looks at. */
	if (!slot->spare && ring_buffer_is_mapped(snap->buf.buffer))
		WRITE_ONCE(s->starved, true);
	return 0;
}

/**
 * snap_count() - count requests
 * @s:   of whom
 * @ret: what has become of them
 * @n:   how many
 *
 * Context: Any context, including NMI.
 */
void snap_count(struct trace_snapshots *s, int ret, int n)
{
	if (!ret)
		atomic_long_add(n, &s->merged);
	else if (ret == -ENOBUFS)
		atomic_long_add(n, &s->no_spare);
	else if (ret == -ENOSPC)
		atomic_long_add(n, &s->enough);
	else if (ret == -EALREADY || ret == -EINPROGRESS)
		atomic_long_add(n, &s->late);
	else if (ret != -ECANCELED)
		atomic_long_add(n, &s->refused);
}

/*
 * A change is a few instructions, with interrupts off. But an NMI, as that of a crash, can
 * stop it for good: so nobody waits for ever, it may be who crashes. That one waits for
 * another taker, too, where it can't be a part.
 */
#define SNAP_PATIENCE	BIT(20)

/* Return: SNAP_IDLE if @s is the caller's now, SNAP_JOINED, or who has got it. */
static int snap_enter(struct trace_snapshots *s, int as, bool joins, bool now)
{
	int busy, state, self = SNAP_CHANGING + raw_smp_processor_id();
	unsigned long tries = SNAP_PATIENCE;

	for (;;) {
		/* Ordered, for snap_show_last(). */
		busy = atomic_cmpxchg(&s->busy, SNAP_IDLE, as);
		state = busy % SNAP_JOINED;
		if (state == SNAP_IDLE)
			return SNAP_IDLE;
		if (joins && state == SNAP_CUTTING_ALL && busy <= INT_MAX - SNAP_JOINED) {
			if (atomic_cmpxchg(&s->busy, busy, busy + SNAP_JOINED) == busy)
				return SNAP_JOINED;
		} else if ((state < SNAP_CHANGING && !now) || state == self || !--tries) {
			return state;
		}
		cpu_relax();
	}
}

/**
 * snap_take() - take a snapshot
 * @s:    of whom
 * @slot: where to put it
 * @req:  what
 *
 * Context: Any context, including NMI.
 * Return: 0; -ECANCELED if its condition is not met; -EAGAIN if it came while another
 *         one was taken; -ENOBUFS if no buffer is ready; -ENOSPC if as many are kept as
 *         shall be; -EINPROGRESS if it comes after a delay, -EALREADY if another one does;
 *         -EBUSY, -EINVAL and -ENODEV as ring_buffer_cut(). On an error nothing has changed
 *         but the counts; and if it was to be of one CPU, what the last boot has left may
 *         be forgotten.
 */
int snap_take(struct trace_snapshots *s, struct snap_slot *slot, const struct snap_request *req)
{
	/* As it seems now: a cut that comes at once is joined by those that do, too. */
	bool delayed = data_race(snap_is_delayed(s, slot, req));
	bool whole = slot == &s->user && req->cpu == RING_BUFFER_ALL_CPUS && !req->update &&
		     !delayed;
	int busy, ret, joined, refused;

	/* There can be many, and one of a crash must not find them busy. */
	if (delayed && READ_ONCE(s->due.pending)) {
		if (!req->waits)
			snap_count(s, -EALREADY, 1);
		return -EALREADY;
	}
	/* Tasks wait for this to be over, and must not have put it off their CPU. */
	preempt_disable_notrace();
	busy = snap_enter(s, whole ? SNAP_CUTTING_ALL : SNAP_CUTTING, whole && !req->waits,
			  req->now);
	if (busy == SNAP_IDLE) {
		ret = snap_is_delayed(s, slot, req) ? snap_defer(s, req) : snap_cut(s, slot, req);
		if (req->who && ret != -EAGAIN)
			snap_due_end(s, ret);
		/*
		 * Whoever has joined shares its fate. Pairs with snap_show_last(): all of it
		 * is there.
		 */
		joined = atomic_xchg_release(&s->busy, SNAP_IDLE) / SNAP_JOINED;
		refused = ret && ret != -EINPROGRESS && !req->waits;
		snap_count(s, ret, joined + refused);
	} else {
		ret = -EAGAIN;
		if (busy != SNAP_JOINED && !req->waits)
			snap_count(s, ret, 1);
	}
	if (ret == -ENOBUFS || ret == -EBUSY)
		WRITE_ONCE(s->starved, true);
	/* Only where there is something to do: who traces this would make it go on for ever. */
	if (READ_ONCE(s->starved) || !llist_empty(&s->gone) || !llist_empty(&s->fresh) ||
	    (!ret && wq_has_sleeper(&s->wait)))
		irq_work_queue(&s->irq_work);
	preempt_enable_notrace();
	return ret;
}

/*
 * A record of the buffer for the next snapshot is in flight, or was never committed: wait
 * until all writers have committed.
 */
static void snap_settle_next(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *spare, *last = NULL;
	unsigned long flags;

	/* Nothing may be cut into it meanwhile. */
	flags = snap_change_begin(s);
	spare = slot->spare;
	slot->spare = NULL;
	if (!spare && snap_is_unused(slot->last)) {
		last = slot->last;
		atomic_inc(&last->users);
	}
	snap_change_end(s, flags);

	if (spare) {
		snap_settle(spare);
		flags = snap_change_begin(s);
		swap(slot->spare, spare);
		snap_discard(s, spare);
		snap_change_end(s, flags);
	}
	if (last) {
		snap_settle(last);
		snap_unhold(last);
	}
}

/* Does anybody count on memory for the next snapshot? */
static bool snap_is_reserved(struct trace_snapshots *s, struct snap_slot *slot)
{
	return atomic_read(&slot->armed) || (slot == &s->user && s->pinned);
}

/**
 * snap_take_wait() - take a snapshot, and wait for what is in the way
 * @s:    of whom
 * @slot: where to put it
 * @req:  what
 *
 * @req has to say that it waits.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: as snap_take(), but not -EAGAIN; as snap_provide(). On an error nothing has been
 *         allocated; after -EINPROGRESS, snap_give_back() does that if nothing comes of it.
 */
int snap_take_wait(struct trace_snapshots *s, struct snap_slot *slot,
		   const struct snap_request *req)
{
	bool ready = snap_is_ready(slot), lent = slot->lent;
	int ret, tries = 3;

	/* Not to allocate memory that is of no use. */
	if (slot == &s->user && READ_ONCE(s->room) <= 0)
		return -ENOSPC;
	for (;;) {
		ret = snap_provide(s, slot);
		slot->lent = ready ? lent : !ret;
		if (!ret)
			ret = snap_take(s, slot, req);
		if (ret == -EAGAIN)
			cond_resched();		/* another one is taken, but a task wants its own */
		else if (ret == -EBUSY && --tries)
			snap_settle_next(s, slot);
		else
			break;
	}
	if (!ret)
		slot->lent = false;
	else if (ret != -EINPROGRESS && !ready)
		snap_give_back(s, slot);
	return ret;
}

/**
 * snap_settle() - wait until all writers have committed to a snapshot
 * @snap: a snapshot that the caller holds, or that nobody can find
 *
 * Context: May sleep.
 */
void snap_settle(struct trace_snap *snap)
{
	/* Pairs with the store below: what writers stored is there for whoever sees it. */
	if (smp_load_acquire(&snap->settled))
		return;
	ring_buffer_wait_writers(snap->buf.buffer);
	/* Pairs with the load above. */
	smp_store_release(&snap->settled, true);
}

/**
 * snap_charge() - count memory
 * @s:  of whom
 * @kb: how much more, in KiB
 *
 * Context: &trace_snapshots.mutex is held.
 * Return: 0; -ENOSPC if snapshot_limit_kb does not allow it.
 */
int snap_charge(struct trace_snapshots *s, unsigned long kb)
{
	if (s->limit_kb && (s->kb > s->limit_kb || kb > s->limit_kb - s->kb))
		return -ENOSPC;
	s->kb += kb;
	return 0;
}

static unsigned long snap_buffer_kb(struct trace_buffer *buffer)
{
	return ring_buffer_memory(buffer) / 1024;
}

static void snap_free(struct trace_snap *snap)
{
	snap_unsave(snap);
	ring_buffer_free(snap->buf.buffer);
	free_percpu(snap->buf.data);
	kfree(snap);
}

static struct trace_snap *snap_alloc(struct trace_array *tr, struct trace_buffer *buffer)
{
	struct trace_snap *snap = kzalloc(sizeof(*snap), GFP_KERNEL);

	if (!snap)
		return NULL;
	snap->buf.data = alloc_percpu(struct trace_array_cpu);
	if (!snap->buf.data) {
		kfree(snap);
		return NULL;
	}
	snap->buf.tr = tr;
	snap->buf.buffer = buffer;
	snap->settled = true;
	return snap;
}

/**
 * snap_alloc_spare() - allocate a buffer for a snapshot
 * @s: of whom
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: the buffer, of the size of the live one; -ENOSPC as snap_charge(), or as
 *	   ring_buffer_alloc_spare().
 */
struct trace_snap *snap_alloc_spare(struct trace_snapshots *s)
{
	struct trace_buffer *live = s->tr->array_buffer.buffer;
	unsigned long kb = snap_buffer_kb(live);
	struct trace_buffer *buffer;
	struct trace_snap *snap;
	int ret;

	ret = snap_charge(s, kb);
	if (ret)
		return ERR_PTR(ret);
	buffer = ring_buffer_alloc_spare(live);
	ret = PTR_ERR_OR_ZERO(buffer);
	if (ret)
		goto fail;
	snap = snap_alloc(s->tr, buffer);
	if (!snap) {
		ring_buffer_free(buffer);
		ret = -ENOMEM;
		goto fail;
	}
	snap->kb = kb;
	return snap;
fail:
	s->kb -= kb;
	return ERR_PTR(ret);
}

/**
 * snap_trimmed_kb() - what snap_trim() needs for a moment
 * @snap: of which snapshot
 *
 * Context: Any context.
 * Return: KiB.
 */
unsigned long snap_trimmed_kb(struct trace_snap *snap)
{
	struct trace_buffer *buffer = snap->buf.buffer;
	unsigned long subbufs = 0;
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (ring_buffer_size(buffer, cpu))
			subbufs += ring_buffer_nr_dirty_pages(buffer, cpu) + 3;
	}
	return subbufs * (ring_buffer_subbuf_size_get(buffer) / 1024);
}

/**
 * snap_trim() - let a snapshot cost no more than what it holds
 * @s:    whose
 * @snap: that somebody holds
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, also where it was not worth it or there is no memory; -ENOSPC if there has to be
 *         more room below snapshot_limit_kb, as for a moment it takes both.
 */
int snap_trim(struct trace_snapshots *s, struct trace_snap *snap)
{
	struct trace_buffer *buffer = snap->buf.buffer;
	unsigned long kb = snap_trimmed_kb(snap), was = snap->kb;
	int ret;

	if (!READ_ONCE(snap->settled) || kb >= was)
		return 0;

	ret = snap_charge(s, kb);
	if (ret)
		return ret;
	/* Never again is it one for the live buffer. */
	WRITE_ONCE(snap->misfit, true);
	ring_buffer_trim(buffer);
	snap->kb = snap_buffer_kb(buffer);
	s->kb = s->kb - kb - was + snap->kb;
	return 0;
}

/**
 * snap_discard() - leave a buffer to snap_collect()
 * @s:    whose
 * @snap: which, or NULL
 *
 * Context: Any context, including NMI.
 */
void snap_discard(struct trace_snapshots *s, struct trace_snap *snap)
{
	if (snap)
		llist_add(&snap->gone, &s->gone);
}

/**
 * snap_collect() - free what was discarded, and is not read
 * @s: whose
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_collect(struct trace_snapshots *s)
{
	struct llist_node *lists[] = { s->held, llist_del_all(&s->gone) };
	struct trace_snap *snap, *next;
	int i;

	lockdep_assert_held(&s->mutex);
	s->held = NULL;
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		llist_for_each_entry_safe(snap, next, lists[i], gone) {
			/* Pairs with snap_unhold(). */
			if (atomic_read_acquire(&snap->users)) {
				snap->gone.next = s->held;
				s->held = &snap->gone;
			} else {
				snap_settle(snap);
				s->kb -= snap->kb;
				snap_free(snap);
			}
		}
	}
}

/**
 * snap_is_ready() - is there a buffer for the next snapshot?
 * @slot: where it is to go
 *
 * Context: &trace_snapshots.mutex is held.
 * Return: true if so, even if somebody reads it now.
 */
bool snap_is_ready(const struct snap_slot *slot)
{
	struct trace_snap *last = READ_ONCE(slot->last);

	return READ_ONCE(slot->spare) ||
	       (last && !last->misfit && !last->trimmed && !last->kept);
}

static int snap_add_spare(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *snap = snap_alloc_spare(s);
	unsigned long flags;

	if (IS_ERR(snap))
		return PTR_ERR(snap);
	flags = snap_change_begin(s);
	swap(slot->spare, snap);
	snap_discard(s, snap);
	snap_change_end(s, flags);
	snap_collect(s);
	return 0;
}

/* A reader is about to have the newest one: whoever counts on a buffer gets another. */
static void snap_make_way(struct trace_snapshots *s, struct snap_slot *slot)
{
	/* If that fails, the next snapshot may be refused; it is counted. */
	if (atomic_read(&slot->armed) && !READ_ONCE(slot->spare))
		snap_add_spare(s, slot);
}

/**
 * snap_provide() - have a buffer ready for the next snapshot
 * @s:    whose
 * @slot: where it will go
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, or as snap_alloc_spare().
 */
int snap_provide(struct trace_snapshots *s, struct snap_slot *slot)
{
	unsigned long flags;
	bool ready;

	lockdep_assert_held(&s->mutex);
	slot->lent = false;
	/* If a taker comes behind this, it leaves a snapshot that nobody reads yet. */
	flags = snap_change_begin(s);
	if (slot->last)
		slot->last->trimmed = false;
	ready = slot->spare || snap_is_unused(slot->last);
	/* There can't be two. */
	if (s->tr->range_addr_start && slot->last)
		ready = true;
	snap_change_end(s, flags);
	return ready ? 0 : snap_add_spare(s, slot);
}

/**
 * snap_erase() - forget the newest snapshot, but keep its memory
 * @s:    whose
 * @slot: where it is
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_erase(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *last;
	unsigned long flags;

	/* Somebody may read it. If there is no memory for another one, it is less. */
	if (snap_is_ready(slot))
		snap_provide(s, slot);
	flags = snap_change_begin(s);
	last = slot->last;
	slot->last = NULL;
	if (!slot->spare && snap_is_unused(last)) {
		slot->spare = last;
		snap_unsave(last);
	} else {
		snap_discard(s, last);
	}
	snap_change_end(s, flags);
	snap_collect(s);
}

/**
 * snap_release() - free the memory of a slot
 * @s:    whose
 * @slot: which
 * @all:  that of the newest snapshot, too, not only of the next one
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_release(struct trace_snapshots *s, struct snap_slot *slot, bool all)
{
	unsigned long flags = snap_change_begin(s);

	snap_discard(s, slot->spare);
	slot->spare = NULL;
	if (all) {
		snap_discard(s, slot->last);
		slot->last = NULL;
	} else if (slot->last) {
		slot->last->trimmed = true;
	}
	snap_change_end(s, flags);
	snap_collect(s);
}

/**
 * snap_drop_spare() - free the memory for the next snapshot
 * @s:    whose
 * @slot: which
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_drop_spare(struct trace_snapshots *s, struct snap_slot *slot)
{
	unsigned long flags = snap_change_begin(s);

	snap_discard(s, slot->spare);
	slot->spare = NULL;
	snap_change_end(s, flags);
	snap_collect(s);
}

/**
 * snap_arm() - make sure that snapshots do not fail
 * @s:    whose
 * @slot: where they go
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0, and snap_disarm() has to follow; or as snap_provide().
 */
int snap_arm(struct trace_snapshots *s, struct snap_slot *slot)
{
	bool ready = snap_is_ready(slot);
	int ret = snap_provide(s, slot);

	if (ret)
		return ret;
	atomic_inc(&slot->armed);
	slot->lent = !ready;
	return 0;
}

/**
 * snap_disarm() - the end of snap_arm()
 * @slot: where they went
 *
 * Context: Any context.
 */
void snap_disarm(struct snap_slot *slot)
{
	WARN_ON_ONCE(atomic_dec_if_positive(&slot->armed) < 0);
}

/**
 * snap_give_back() - free the memory of a request that could not be done
 * @s:    whose
 * @slot: where the snapshot would have gone
 *
 * Unless it was there before, or somebody else has asked for some since.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_give_back(struct trace_snapshots *s, struct snap_slot *slot)
{
	if (slot->lent && !snap_is_reserved(s, slot))
		snap_release(s, slot, false);
	slot->lent = false;
}

/**
 * snap_unarm() - undo snap_arm(), for something that could not be made after all
 * @s:    whose
 * @slot: where the snapshots would have gone
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_unarm(struct trace_snapshots *s, struct snap_slot *slot)
{
	snap_disarm(slot);
	snap_give_back(s, slot);
}

/**
 * snap_hold() - keep the newest snapshot from being superseded in place
 * @s:    whose
 * @slot: where it is
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: the snapshot, and snap_unhold() has to follow; NULL if there is none.
 */
struct trace_snap *snap_hold(struct trace_snapshots *s, struct snap_slot *slot)
{
	unsigned long flags = snap_change_begin(s);
	struct trace_snap *snap = slot->last;

	if (snap)
		atomic_inc(&snap->users);
	snap_change_end(s, flags);
	return snap;
}

/**
 * snap_unhold() - the end of snap_hold()
 * @snap: what that returned
 *
 * Context: Any context.
 */
void snap_unhold(struct trace_snap *snap)
{
	/* Pairs with snap_is_unused() and snap_collect(). */
	(void)atomic_dec_return_release(&snap->users);
}

/**
 * snap_erase_cpu() - forget what the newest snapshot has of a CPU
 * @s:    whose
 * @slot: where it is
 * @cpu:  which CPU
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0; -EBUSY while somebody reads it.
 */
int snap_erase_cpu(struct trace_snapshots *s, struct snap_slot *slot, int cpu)
{
	struct trace_snap *last;
	int ret = 0;

	/* While it has a user, nothing is cut into it. */
	snap_make_way(s, slot);
	last = snap_hold(s, slot);
	if (!last)
		return 0;
	if (atomic_read(&last->users) > 1)
		ret = -EBUSY;
	else
		ring_buffer_reset_cpu(last->buf.buffer, cpu);
	snap_unhold(last);
	return ret;
}

/* Of a snapshot that nobody has taken yet: an empty one. */
static struct trace_snap *snap_get_none(struct trace_snapshots *s, u64 seq)
{
	struct trace_buffer *buffer = ring_buffer_alloc(0, RB_FL_OVERWRITE);
	struct trace_snap *snap;

	if (!buffer)
		return NULL;
	snap = snap_alloc(s->tr, buffer);
	if (!snap) {
		ring_buffer_free(buffer);
		return NULL;
	}
	snap->seq = seq;
	atomic_set(&snap->users, 1);
	snap_discard(s, snap);
	return snap;
}

static struct array_buffer *snap_get(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snap *snap;
	u64 seq;

	mutex_lock(&s->mutex);
	snap_make_way(s, slot);
	seq = READ_ONCE(slot->seq);
	snap = snap_hold(s, slot);
	if (!snap)
		snap = snap_get_none(s, seq);
	if (snap)
		snap_settle(snap);
	mutex_unlock(&s->mutex);
	return snap ? &snap->buf : NULL;
}

/**
 * trace_snapshot_get() - begin to read the newest snapshot
 * @tr: of whom
 *
 * It stays as it is until trace_snapshot_put().
 *
 * Context: May sleep.
 * Return: what it recorded, nothing if there is no snapshot; NULL without memory.
 */
struct array_buffer *trace_snapshot_get(struct trace_array *tr)
{
	return snap_get(tr->snapshots, &tr->snapshots->user);
}

/**
 * trace_snapshot_get_max() - begin to read what a latency tracer has kept
 * @tr: of whom
 *
 * Context: May sleep.
 * Return: as trace_snapshot_get().
 */
struct array_buffer *trace_snapshot_get_max(struct trace_array *tr)
{
	return snap_get(tr->snapshots, &tr->snapshots->max);
}

/* A reader had the newest snapshot, and there are two buffers for the next one. */
static void snap_drop_surplus(struct trace_snapshots *s, struct snap_slot *slot)
{
	unsigned long flags = snap_change_begin(s);

	if (snap_is_unused(slot->last)) {
		snap_discard(s, slot->spare);
		slot->spare = NULL;
	}
	snap_change_end(s, flags);
}

/**
 * trace_snapshot_put() - the end of trace_snapshot_get() or trace_snapshot_get_max()
 * @buf: what that returned
 *
 * Context: May sleep.
 */
void trace_snapshot_put(struct array_buffer *buf)
{
	struct trace_snapshots *s = buf->tr->snapshots;

	mutex_lock(&s->mutex);
	snap_unhold(snap_of(buf));
	snap_drop_surplus(s, &s->user);
	snap_drop_surplus(s, &s->max);
	snap_collect(s);
	/* It was erased meanwhile, and had the only memory. */
	if (s->pinned && s->tr->range_addr_start)
		snap_provide(s, &s->user);
	mutex_unlock(&s->mutex);
}

static void snap_work(struct work_struct *work)
{
	struct trace_snapshots *s = container_of(work, struct trace_snapshots, work);

	mutex_lock(&s->mutex);
	snap_collect(s);
	if (xchg(&s->starved, false)) {
		snap_settle_next(s, &s->user);
		snap_settle_next(s, &s->max);
	}
	if (atomic_read(&s->user.armed) ||
	    (s->keep.nr && READ_ONCE(s->user.seq) && READ_ONCE(s->room) > 0)) {
		/* What is kept may make room. */
		if (snap_provide(s, &s->user) == -ENOSPC && s->keep.nr)
			snap_keep_queue(s);
	}
	if (atomic_read(&s->max.armed))
		snap_provide(s, &s->max);
	mutex_unlock(&s->mutex);
}

static void snap_irq_work(struct irq_work *irq_work)
{
	struct trace_snapshots *s = container_of(irq_work, struct trace_snapshots, irq_work);

	wake_up_all(&s->wait);
	if (!llist_empty(&s->fresh))
		snap_keep_queue(s);
	if (READ_ONCE(s->starved) || !llist_empty(&s->gone))
		schedule_work(&s->work);
}

/**
 * snap_init() - let a trace array have what snapshots need
 * @tr: the trace array
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int snap_init(struct trace_array *tr)
{
	struct trace_snapshots *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	s->tr = tr;
	mutex_init(&s->mutex);
	init_waitqueue_head(&s->wait);
	init_irq_work(&s->irq_work, snap_irq_work);
	INIT_WORK(&s->work, snap_work);
	snap_delay_init(s);
	s->room = INT_MAX;
	INIT_LIST_HEAD(&s->kept);
	INIT_LIST_HEAD(&s->leaving);
	tr->snapshots = s;
	return 0;
}

/**
 * trace_snapshot_init() - let a trace array have snapshots
 * @tr: the trace array; it has its buffer
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int trace_snapshot_init(struct trace_array *tr)
{
	int ret = snap_init(tr);

	if (ret)
		return ret;
	snap_crash_add(tr->snapshots);
	if (tr->flags & TRACE_ARRAY_FL_SNAPSHOT)
		snap_recall(tr->snapshots);
	return 0;
}

/**
 * trace_snapshot_exit() - the end of trace_snapshot_init()
 * @tr: the trace array; nobody takes or reads its snapshots any more
 *
 * Context: May sleep.
 */
void trace_snapshot_exit(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap, *next;

	if (!s)
		return;
	/* A kept snapshot has none itself. */
	if (!s->shows)
		snap_crash_del(s);
	snap_delay_exit(s);
	irq_work_sync(&s->irq_work);
	cancel_work_sync(&s->work);
	mutex_lock(&s->mutex);
	llist_for_each_entry_safe(snap, next, llist_del_all(&s->fresh), fresh)
		snap_unhold(snap);
	snap_release(s, &s->user, true);
	snap_release(s, &s->max, true);
	WARN_ON(s->held);
	mutex_unlock(&s->mutex);
	tr->snapshots = NULL;
	kfree(s);
}
