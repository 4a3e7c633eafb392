// SPDX-License-Identifier: GPL-2.0
/*
 * The cut: take a snapshot, or postpone it.
 */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "internal.h"

/**
 * DOC: Snapshots
 *
 * A snapshot is a cut of the ring buffer, see ring_buffer_cut_all(): the live buffer stays,
 * its records move to a spare buffer, and it is empty. So each record is in one snapshot
 * or in the live buffer. The spare buffer has to exist before, because a cut can be taken
 * in any context.
 *
 * Each &struct snap_slot has two buffers for takers: the newest snapshot and a spare one. If
 * there is no spare one, a snapshot takes the place of the newest, unless somebody reads
 * that or has it mapped. The user and a latency tracer have a slot each.
 *
 * ======================  ====================================================
 * data                    rule
 * ======================  ====================================================
 * &snap_slot.last, .spare change under the lock, see snap_lock()
 * &trace_snap.users       grows under the lock, so that a taker that sees no
 *                         user may have the buffer; falls under the mutex
 * &trace_snapshots.gone   takers add; the holder of the mutex removes and frees
 * &snap_pending.requests  grows at any time; under the lock it becomes 0
 * all else                as &struct trace_snapshots says
 * ======================  ====================================================
 *
 * The lock is taken in any context, by takers and by tasks that change buffers. Its
 * holder has interrupts off and waits for nothing, so others spin. That of a session takes those
 * of its channels as well, and no other one.
 * Only an NMI can interrupt the holder. It postpones a plain request; others fail with
 * -EAGAIN.
 *
 * Requests that come at the same time share a snapshot. A request that waited for the
 * lock is answered by a cut that began after the request. A cut in progress answers it
 * if its CPU was cut off after the request: then the CPU writes to another ring now. In
 * the third case, the event that caused the request is still in the live buffer. Another
 * snapshot right behind the first one has it, but would take the place of the first one:
 * so it is taken only where snapshots are kept. Otherwise the request is refused.
 *
 * A request with a time of its own, as "20ms", wants only the last records. Its snapshot answers
 * no request that wants more: one that waits for it makes it longer, and one that comes while it
 * is taken is refused or takes another snapshot, as in the third case. The cut moves all records,
 * and notes the time that is the limit. That counts back from the first of the requests that were
 * pending, so that their events are in the snapshot however long they have waited. snap_settle()
 * drops the older records before the first reader comes.
 *
 * A condition stores its value only with a snapshot, and under the lock.
 *
 * **Barriers.** Where two CPUs access the same data without a common lock, these pairs
 * order the accesses. Each pair has a test in Documentation/litmus-tests/snapshot/.
 *
 * ===================  ====================  =====================================
 * Writer               Reader                What it orders
 * ===================  ====================  =====================================
 * snap_unlock:A        snap_lock:A           all that the lock protects; the lock
 * snap_lock:A          snap_show_last:B      the lock; changes of the newest snapshot
 * snap_unlock:A        snap_show_last:C      its number; the lock
 * snap_finish:A        snap_show_last:A      a new snapshot; its number
 * snap_lock:A          snap_look:B           rings of earlier cuts; &snap_past.cuts
 * snap_cut_off:A       snap_look:A           .cuts; what the cut reads, against the
 *                                            event of a request; .cuts
 * snap_take:A          snap_take_pending:A   the event of a request; the request
 * snap_end_pending:A   snap_delay_wait:A     the result for a waiter; its being there
 * snap_put:A           snap_is_free:A        the use of a buffer, its size; its users
 * snap_settle:B        snap_settle:A         records of dead writers; &trace_snap.settled
 * snap_kick:A          snap_work:A           work; &snap_worker.work_for
 * ===================  ====================  =====================================
 *
 * Other accesses need none of them: the lock or the mutex orders them, or llist_add() and
 * llist_del_all() do, or wq_has_sleeper() and the wait queue.
 */

/* The parts of the cut that the holder of the lock takes: channels for the slot of the user only */
static struct trace_member_iter
snap_cut_parts_of(struct trace_snapshots *s, const struct snap_slot *slot)
{
	bool all = slot == &s->user && !s->cut.alone;

	return (struct trace_member_iter){ s->tr, all ? trace_channels_of(s->tr) : NULL };
}

#define for_each_cut_part(part, s, slot)					\
	for (struct trace_member_iter it_ = snap_cut_parts_of(s, slot);		\
	     ((part) = snap_next_part(&it_));)

/* Can the snapshot of another request answer this one? */
static bool snap_is_shared(struct trace_snapshots *s, struct snap_slot *slot,
			   const struct snap_request *req)
{
	return slot == &s->user && req->cpu == RING_BUFFER_ALL_CPUS;
}

/*
 * Is the snapshot to be kept, by the keeper of @by or by an owner? Only the former counts it.
 */
static bool snap_is_wanted(const struct trace_snapshots *by, const struct snap_request *req)
{
	return by->keeper.want.nr || req->taken;
}

/* The buffer for a snapshot, or NULL. @keep: no part of another snapshot is put into it. */
static struct trace_snap *snap_choose(struct trace_snapshots *s, struct snap_slot *slot,
				      const struct snap_request *req, bool keep)
{
	/* Only this memory survives, and no reader runs after a panic. */
	if (req->by == SNAP_BY_PANIC && s->tr->range_addr_start && slot->last)
		return slot->last;
	/* The other CPUs' parts of the newest snapshot stay, unless it is kept as it is. */
	if (req->cpu != RING_BUFFER_ALL_CPUS && slot == &s->user && !keep &&
	    slot->last && snap_fits(s, slot->last))
		return snap_is_free(s, slot->last) ? slot->last : NULL;
	/* The size of its own buffer does not change while the requester has the mutex. */
	if (req->own && req->own->owner == s)
		return req->own;
	/* A spare buffer with a user waits for its writers in snap_settle_next(). */
	if (snap_is_free(s, slot->spare))
		return slot->spare;
	return snap_is_free(s, slot->last) ? slot->last : NULL;
}

static void snap_note_request(struct snap_info *info, const struct snap_request *req)
{
	struct task_struct *tsk = req->tsk ?: current;

	memset(info, 0, sizeof(*info));
	info->by = req->by;
	info->nmi = in_nmi();
	info->cpu = req->tsk ? req->tsk_cpu : raw_smp_processor_id();
	info->pid = tsk->pid;
	strscpy(info->comm, tsk->comm);
	/* RCU may not watch in the context of a latency tracer. */
	info->uid = tsk == current ? current_uid() : task_uid(tsk);
	info->nice = task_nice(tsk);
	info->policy = tsk->policy;
	info->prio = tsk->rt_priority;
	strscpy(info->event, req->event ?: "");
	strscpy(info->filter, req->filter ?: "");
	info->ip = req->ip;
}

/* Nothing is complete of the time when recording was off. */
static void snap_note_on(struct trace_snapshots *s, struct snap_info *info)
{
	struct trace_buffer *live = s->tr->array_buffer.buffer;

	if (ring_buffer_was_on(live, &info->since, &info->until) &&
	    info->on_all == s->past.on_all && !(info->on_all & 1))
		info->since = max(info->since, s->past.end);
	else
		info->since = U64_MAX;
}

static void snap_note(struct trace_snapshots *s, struct trace_snap *snap,
		      const struct snap_request *req, const struct snap_info *info)
{
	bool traced = req->by == SNAP_BY_TRACER;
	struct trace_array_cpu *live, *data;

	snap->info = *info;
	live = per_cpu_ptr(s->tr->array_buffer.data, info->cpu);
	data = per_cpu_ptr(snap->buf.data, info->cpu);
	snap->settled = false;
	snap->clock_id = s->tr->clock_id;
	snap->info.clocks[1] = s->past.clocks;
	snap_note_on(s, &snap->info);

	/* "trace" begins at this time. */
	snap->buf.time_start = traced ? READ_ONCE(live->preempt_timestamp) : 0;

	/* For the header of the latency format. */
	snap->buf.cpu = info->cpu;
	data->saved_latency = traced ? req->latency : READ_ONCE(s->tr->max_latency);
	data->critical_start = READ_ONCE(live->critical_start);
	data->critical_end = READ_ONCE(live->critical_end);
	strscpy(data->comm, info->comm);
	data->pid = info->pid;
	data->uid = info->uid;
	data->nice = info->nice;
	data->policy = info->policy;
	data->rt_priority = info->prio;
}

/**
 * snap_off_now() - is recording off?
 * @s: the snapshots of a trace array
 *
 * Context: Any context.
 * Return: which switch is off, and for which time.
 */
struct snap_off snap_off_now(const struct trace_snapshots *s)
{
	unsigned int all = tracing_all_generation();

	return (struct snap_off){
		.own = ring_buffer_off_id(s->tr->array_buffer.buffer),
		.all = all & 1 ? all : 0,
	};
}

/* Make @snap the newest snapshot. The one before becomes the spare buffer if it can. */
static void snap_supersede(struct trace_snapshots *s, struct snap_slot *slot,
			   struct trace_snap *snap)
{
	struct trace_snap *old = slot->last;

	if (snap == old)
		return;
	slot->last = snap;
	if (snap == slot->spare)
		slot->spare = NULL;
	if (!slot->spare && snap_is_free(s, old)) {
		slot->spare = old;
	} else if (old) {
		snap_discard(s, old);
		set_bit(SNAP_WORK_FREE, &s->worker.work_for);
	}
}

/*
 * Start the worker, and wake tasks if @wake. That may cause events, and a trigger of those may ask
 * for a snapshot: so the worker is started once until it runs, for which the CPU has to run tasks.
 */
static void snap_kick(struct trace_snapshots *s, int ret, bool wake)
{
	if (ret == -ENOBUFS || ret == -EBUSY)
		set_bit(SNAP_WORK_SPARE, &s->worker.work_for);
	if (((READ_ONCE(s->worker.work_for) & (BIT(SNAP_WORK_FREE) | BIT(SNAP_WORK_SPARE))) ||
	     !llist_empty(&s->keeper.fresh) || (wake && wq_has_sleeper(&s->wait))) &&
	    /* Pairs with snap_work:A. RBB(snap_kick:A) */
	    !test_and_set_bit(SNAP_WORK_QUEUED, &s->worker.work_for))
		irq_work_queue(&s->worker.irq_work);
}

/*
 * The cut itself, which has the records of the last @span ns. If others can share it, @counts,
 * snap_look() on other CPUs sees whether it is in progress.
 */
static int snap_cut_off(struct trace_snapshots *s, struct snap_slot *slot, int cpu, bool counts,
			u64 span)
{
	struct trace_snapshots *part;
	int ret;

	for_each_cut_part(part, s, slot) {
		part->past.moves++;
		if (counts)
			WRITE_ONCE(part->past.cuts, part->past.cuts + 1);
	}
	if (!counts)
		return ring_buffer_cut_all(&s->cut.rb, cpu);
	/*
	 * Pairs with snap_look:A. Either this cut sees the event of the request, or the
	 * requester sees this cut. RBB(snap_cut_off:A)
	 */
	smp_mb();
	ret = ring_buffer_cut_all(&s->cut.rb, cpu);
	for_each_cut_part(part, s, slot) {
		if (!ret) {
			part->past.done = part->past.cuts;
			part->past.done_moves = part->past.moves;
			part->past.span = span;
		}
		WRITE_ONCE(part->past.cuts, part->past.cuts + 1);
	}
	return ret;
}

/* Have a buffer for one part of the cut of @s; a channel without rings has none. */
static int snap_prepare(struct trace_snapshots *s, struct trace_snapshots *part,
			struct snap_slot *slot, const struct snap_request *req)
{
	/* The session keeps the parts of its channels, if it keeps any snapshot. */
	const struct trace_snapshots *by = s->keeper.want.nr ? s : part;
	struct trace_buffer *live = part->tr->array_buffer.buffer;
	bool whole = req->cpu == RING_BUFFER_ALL_CPUS, keep = snap_is_wanted(by, req);
	struct trace_snap *snap;

	/* The newest snapshot of a channel may be of another cut: no part of that stays. */
	keep |= part != s && !snap_part_of(s->user.last, part);
	if (slot == &part->user && by->keeper.room <= 0 && !req->taken)
		return -EDQUOT;
	snap = snap_choose(part, slot, req, keep);
	if (!snap)
		return -ENOBUFS;
	if (!whole && !ring_buffer_size(live, req->cpu))
		return -EINVAL;

	part->cut.saved = snap_save_state(snap, SNAP_SAVED_CUTTING);
	part->cut.snap = snap;
	part->cut.rb.live = live;
	part->cut.rb.spare = snap->buf.buffer;
	/* Other CPUs' parts are stale, unless snap_choose() wants them; two boots do not mix. */
	part->cut.rb.drops = !whole && (keep || snap != slot->last || snap->last_boot);
	return 0;
}

/* A channel without rings, or without that of the CPU, has no part in a cut. */
static bool snap_has_nothing(struct trace_snapshots *part, int cpu)
{
	struct trace_buffer *live = part->tr->array_buffer.buffer;

	return !ring_buffer_is_expanded(live) ||
	       (cpu != RING_BUFFER_ALL_CPUS && !ring_buffer_size(live, cpu));
}

static void snap_unprepare(struct trace_snapshots *s, struct snap_slot *slot)
{
	struct trace_snapshots *part;

	for_each_cut_part(part, s, slot) {
		if (part->cut.snap)
			snap_save_state(part->cut.snap, part->cut.saved);
	}
}

/* Have a buffer for each part, and put the parts in a list for ring_buffer_cut_all(). */
static int snap_prepare_all(struct trace_snapshots *s, struct snap_slot *slot,
			    const struct snap_request *req)
{
	struct trace_snapshots *part, *last = NULL;
	int ret;

	for_each_cut_part(part, s, slot)
		part->cut.snap = NULL;
	for_each_cut_part(part, s, slot) {
		if (part != s && snap_has_nothing(part, req->cpu))
			continue;
		ret = snap_prepare(s, part, part == s ? slot : &part->user, req);
		if (ret) {
			snap_unprepare(s, slot);
			return ret;
		}
		part->cut.rb.next = NULL;
		if (last)
			last->cut.rb.next = &part->cut.rb;
		last = part;
	}
	return 0;
}

/* Have the session keep its channels' parts of the cut together with its own. */
static void snap_join_parts(struct trace_snapshots *s)
{
	struct trace_snap *whole = s->cut.snap, *snap;
	struct trace_snapshots *part;

	for_each_cut_part(part, s, &s->user) {
		snap = part->cut.snap;
		if (part == s || !snap)
			continue;
		/* The keeper of the session puts both. */
		snap_get(snap);
		refcount_inc(&part->ref);
		snap->next_part = whole->parts;
		whole->parts = snap;
	}
}

/* The records of a part are in its buffer: make that the newest snapshot. */
static void snap_finish(struct trace_snapshots *part, struct snap_slot *slot,
			const struct snap_request *req, const struct snap_info *info, bool keep)
{
	bool whole = req->cpu == RING_BUFFER_ALL_CPUS || nr_cpu_ids == 1;
	struct trace_snap *snap = part->cut.snap;

	snap_note(part, snap, req, info);
	/* The other CPUs have records since another cut. */
	if (!whole) {
		snap->info.since = U64_MAX;
		snap->info.from = 0;
	}
	snap_save(snap, req->cpu);
	part->past.end = snap->info.end;
	if (whole)
		part->past.clocks = info->clocks[0];
	part->past.on_all = snap->info.on_all;
	part->past.off = part->cut.off;
	snap->seq = slot->seq + 1;
	/* The keeper or the owner is a user of it. */
	if (keep)
		snap_get(snap);
	if (keep && req->taken) {
		*req->taken = snap;
	} else if (keep) {
		llist_add(&snap->fresh, &part->keeper.fresh);
		part->keeper.backlog++;
		WRITE_ONCE(part->keeper.room, part->keeper.room - part->keeper.want.first);
	}
	snap_supersede(part, slot, snap);
	/* Pairs with snap_show_last:A: a reader that sees the number sees the snapshot. */
	smp_wmb(); /* RBB(snap_finish:A) */
	WRITE_ONCE(slot->seq, snap->seq);
	/* The next one cannot take the place of a mapped one. */
	if (!slot->spare && ring_buffer_is_mapped(snap->buf.buffer))
		set_bit(SNAP_WORK_SPARE, &part->worker.work_for);
}

/* The time of which a request without one of its own wants the records; U64_MAX for all of them. */
static u64 snap_keep_span(const struct trace_snapshots *s)
{
	return s->keeper.want.span ?: U64_MAX;
}

/* The same for requests that were pending. */
static u64 snap_claim_span(const struct trace_snapshots *s, const struct snap_claim *claim)
{
	return max(claim->span, claim->requests > claim->partial ? snap_keep_span(s) : 0);
}

/*
 * The time from which on the cut of @s wants the records, of the last @span ns: before the
 * requests, the cut, or the moment when recording was switched off, the earliest of them. 0 if that
 * is not known, or if the clock counts no time.
 */
static u64 snap_from(struct trace_snapshots *s, u64 span, u64 asked)
{
	u64 since, until;

	if (span == U64_MAX || !trace_clock_in_ns(s->tr) || tracing_all_generation() & 1 ||
	    !ring_buffer_was_on(s->tr->array_buffer.buffer, &since, &until))
		return 0;
	until = min(until, asked);
	return until > span ? until - span : 0;
}

/**
 * snap_claim_pending() - take the pending requests, for the cut that follows or to cancel them
 * @s:     the snapshots of a trace array
 * @claim: is set to them
 *
 * The next request begins another one. An NMI can come between: it joins these, or it is the
 * first one and fills &snap_pending.info.
 *
 * Context: Any context. The caller has the lock.
 */
void snap_claim_pending(struct trace_snapshots *s, struct snap_claim *claim)
{
	struct snap_pending *pending = &s->pending;

	claim->requests = atomic_long_read(&pending->requests);
	do {
		/* The NMI that makes it 1 sets the time, so that is looked at behind it. */
		barrier();
		claim->asked = claim->requests ? pending->info.asked : U64_MAX;
		/* Pairs with snap_take:A. RBB(snap_take_pending:A) */
	} while (!atomic_long_try_cmpxchg(&pending->requests, &claim->requests, 0));
	/* No NMI has a time of its own. */
	claim->partial = pending->partial;
	claim->span = pending->span;
	pending->partial = 0;
	pending->span = 0;
}

/* The cut has failed, or has left the part out. An NMI that was the first one meanwhile joins. */
static void snap_unclaim_pending(struct trace_snapshots *s, const struct snap_claim *claim)
{
	struct snap_pending *pending = &s->pending;

	pending->partial = claim->partial;
	pending->span = claim->span;
	atomic_long_add(claim->requests, &pending->requests);
	pending->info.asked = claim->asked;
	irq_work_queue(&pending->start);
}

/*
 * A cut of all CPUs answers the earlier requests of its parts. A part with a delay wants the
 * records that follow its request: its requests stay pending. Return: the time before @asked, in
 * ns, of which the requests want the records; @asked becomes the time of the first one.
 */
static u64 snap_answer_begin(struct trace_snapshots *s, struct snap_slot *slot,
			     const struct snap_request *req, u64 *asked)
{
	u64 span = req->span ?: slot == &s->user ? snap_keep_span(s) : U64_MAX;
	bool all = snap_is_shared(s, slot, req);
	struct trace_snapshots *part;
	struct snap_claim *claim;

	for_each_cut_part(part, s, slot) {
		claim = &part->cut.answers;
		claim->requests = 0;
		if (!all || part->pending.delay)
			continue;
		snap_claim_pending(part, claim);
		span = max(span, snap_claim_span(part, claim));
		*asked = min(*asked, claim->asked);
	}
	return span;
}

/*
 * The requests of a part are pending as before if the cut has failed, or has left the part out. A
 * task that ended meanwhile has found none of them, so their timer is started here. The caller
 * kicks @s, and this its channels: to free and keep what the cut has left there.
 */
static void snap_answer_end(struct trace_snapshots *s, struct snap_slot *slot, int ret)
{
	struct trace_snapshots *part;

	for_each_cut_part(part, s, slot) {
		bool cut = !ret && part->cut.snap;

		if (part->cut.answers.requests && cut)
			snap_end_pending(part, part->cut.answers.requests, 1);
		else if (part->cut.answers.requests)
			snap_unclaim_pending(part, &part->cut.answers);
		if (cut && part != s)
			snap_kick(part, 0, true);
	}
}

/*
 * Identify the cut, for snap_part_of(); 0 without channels. A CPU's part that is put into the
 * newest snapshot is of the cut of that, as are the channels' parts that have nothing of the CPU.
 */
static unsigned long snap_cut_id(struct trace_snapshots *s, const struct snap_slot *slot,
				 const struct snap_request *req)
{
	static atomic_long_t cuts;

	if (s->cut.alone || slot != &s->user || !trace_channels_of(s->tr))
		return 0;
	if (req->cpu != RING_BUFFER_ALL_CPUS && !s->cut.rb.drops && s->cut.snap->cut)
		return s->cut.snap->cut;
	return atomic_long_inc_return(&cuts);
}

/* Has a part recorded nothing since its last cut, as recording was off before that? */
static bool snap_was_off(const struct trace_snapshots *part)
{
	struct snap_off off = snap_off_now(part);

	return (off.all && off.all == part->past.off.all) ||
	       (off.own && off.own == part->past.off.own);
}

/* Would an empty snapshot take the place of the newest one, which may tell of the stop? */
static bool snap_is_vain(struct trace_snapshots *s, struct snap_slot *slot, int cpu)
{
	struct trace_snapshots *part;
	bool off = false;

	for_each_cut_part(part, s, slot) {
		if (snap_has_nothing(part, cpu))
			continue;
		if (!snap_was_off(part))
			return false;
		off = true;
	}
	return off;
}

static int snap_cut(struct trace_snapshots *s, struct snap_slot *slot,
		    const struct snap_request *req, struct snap_info *info)
{
	struct trace_buffer *live = s->tr->array_buffer.buffer;
	bool keep = slot == &s->user && snap_is_wanted(s, req);
	struct ring_buffer_moment at;
	struct trace_snapshots *part;
	u64 span, asked;
	unsigned long id;
	int ret;

	if (!req->waits && snap_is_vain(s, slot, req->cpu))
		return -ENODATA;
	ret = snap_prepare_all(s, slot, req);
	if (ret)
		return ret;
	for_each_cut_part(part, s, slot)
		part->cut.off = snap_off_now(part);
	info->begin = ring_buffer_time_stamp(live);
	asked = min(info->begin, info->asked ?: U64_MAX);
	span = snap_answer_begin(s, slot, req, &asked);
	info->from = snap_from(s, span, asked);
	for_each_cut_part(part, s, slot)
		part->cut.rb.from = info->from;
	ret = snap_cut_off(s, slot, req->cpu, snap_is_shared(s, slot, req), span);
	if (ret) {
		snap_answer_end(s, slot, ret);
		snap_unprepare(s, slot);
		return ret;
	}
	/*
	 * Every CPU finds the new ring before the time when none has the old one. Pairs
	 * with reserve, which looks at the ring again after it has read the clock, as in
	 * snap_cut+rb_reserve.litmus.
	 */
	smp_mb();
	info->on_all = tracing_all_generation();
	info->end = ring_buffer_time_stamp(live);
	trace_read_clocks(live, &info->clocks[0]);
	/* Before the keeper can find the snapshot. */
	if (keep)
		snap_join_parts(s);
	at = ring_buffer_moment();
	id = snap_cut_id(s, slot, req);
	for_each_cut_part(part, s, slot) {
		if (!part->cut.snap)
			continue;
		part->cut.snap->cut = id;
		part->cut.snap->at = at;
		part->cut.snap->pending = keep || (part != s && part->keeper.want.nr);
		snap_finish(part, part == s ? slot : &part->user, req, info,
			    part == s ? keep : !keep && part->keeper.want.nr);
	}
	snap_answer_end(s, slot, 0);
	return 0;
}

/* The view of the requester, after its event and before it gets the lock. */
static void snap_look(struct trace_snapshots *s, struct snap_info *info)
{
	/* Pairs with snap_cut_off:A. RBB(snap_look:A) */
	smp_mb();
	/*
	 * Pairs with snap_lock:A: a requester that sees a cut sees the rings of those
	 * before it. RBB(snap_look:B)
	 */
	info->cuts = smp_load_acquire(&s->past.cuts);
	info->ring = ring_buffer_ring_id(s->tr->array_buffer.buffer, smp_processor_id());
}

/* Was a cut of at least @span ns in progress at snap_look(), or later, and has the event? */
static bool snap_has_answered(struct trace_snapshots *s, const struct snap_info *info, u64 span)
{
	if (s->past.span < span)
		return false;
	/* The cut began after the request. */
	if (s->past.done != info->cuts)
		return true;
	/* The cut was in progress, and nothing else has moved the ring since. */
	return s->past.moves == s->past.done_moves &&
	       ring_buffer_ring_id(s->tr->array_buffer.buffer, info->cpu) != info->ring;
}

/*
 * 0; 1 if a cut since snap_look() has answered the request for the last @span ns; -EALREADY if one
 * came too early, or does not go back that far.
 */
static int snap_is_answered(struct trace_snapshots *s, const struct snap_info *info, u64 span)
{
	if (!info->ring || (int)(s->past.done - info->cuts) < 0)
		return 0;
	if (snap_has_answered(s, info, span))
		return 1;
	return s->keeper.want.nr ? 0 : -EALREADY;
}

/* The caller has the lock, or is an NMI in its holder. */
static int snap_postpone(struct trace_snapshots *s, const struct snap_request *req,
			 const struct snap_info *info)
{
	struct snap_pending *pending = &s->pending;

	if (req->waiter) {
		req->waiter->next = pending->waiters;
		pending->waiters = req->waiter;
	}
	if (req->span) {
		pending->partial++;
		pending->span = max(pending->span, req->span);
	}
	if (atomic_long_fetch_inc(&pending->requests))
		return -EINPROGRESS;
	pending->info = *info;
	pending->info.asked = ring_buffer_time_stamp(s->tr->array_buffer.buffer);
	/* A snapshot after a delay has what came after the request. */
	if (s->pending.delay)
		pending->info.ring = 0;
	/*
	 * A trigger of the timer's own events must not keep the CPU busy. Without a delay it shares
	 * the snapshot of a task that comes first, see snap_first().
	 */
	if (pending->delay || !s->tasks)
		pending->at = ktime_get_mono_fast_ns() +
			      (pending->delay ? max(pending->delay, SNAP_RETRY_NS) : 0);
	irq_work_queue(&pending->start);
	return -EINPROGRESS;
}

/* The cell of a condition that lasts, or with NULL an unused one; or NULL. */
static struct snap_cond *snap_find_cell(struct trace_snapshots *s, const void *data)
{
	struct snap_cond *cell = s->pending.cells;

	while (cell < s->pending.cells + SNAP_CELLS) {
		if (cell->data == data)
			return cell;
		cell++;
	}
	return NULL;
}

/* Have a condition told when the postponed snapshot is taken. Return: false without room. */
static bool snap_postpone_cond(struct trace_snapshots *s, const struct snap_cond *cond)
{
	struct snap_cond *unused;

	/* Once for each snapshot, however many requests share it. */
	if (!cond || !cond->lasts || snap_find_cell(s, cond->data))
		return true;
	unused = snap_find_cell(s, NULL);
	if (unused)
		*unused = *cond;
	return unused;
}

/* Does a live buffer of the cut change its size? */
static bool snap_is_changing(struct trace_snapshots *s)
{
	struct trace_snapshots *part;

	for_each_cut_part(part, s, &s->user) {
		if (part->gen % 2)
			return true;
	}
	return false;
}

/* Postpone a request. snap_lock_all() has failed, because this CPU has one of the locks. */
static int snap_postpone_locked(struct trace_snapshots *s, const struct snap_request *req,
				const struct snap_info *info)
{
	int ret;

	if (atomic_read(&s->owner) == smp_processor_id() + 1)
		return snap_postpone(s, req, info);
	/* The lock is that of a channel. */
	if (!trace_channels_of(s->tr) || !snap_lock(s))
		return -EAGAIN;
	ret = snap_postpone(s, req, info);
	snap_unlock(s);
	return ret;
}

/* Return: as snap_take(), but 1 if another snapshot answers the request. */
static int snap_take_locked(struct trace_snapshots *s, struct snap_slot *slot,
			    const struct snap_request *req, struct snap_info *info)
{
	bool shared = snap_is_shared(s, slot, req), waited;
	const struct snap_cond *cond = req->cond;
	int ret = 0;

	/* Another CPU's snapshot may have changed it. */
	if (cond && !cond->wanted(cond->data))
		return -ECANCELED;
	/* The condition must not store its value before the snapshot. */
	if (cond && !cond->lasts && snap_is_changing(s))
		return -EAGAIN;
	waited = cond && cond->lasts && snap_find_cell(s, cond->data);
	/* As by snapshot_delay, while a live buffer changes its size, or for a task. */
	if (shared && !req->now && (s->pending.delay || snap_is_changing(s) ||
				    (s->tasks && !req->waits && (!cond || cond->lasts)))) {
		if (!snap_postpone_cond(s, cond))
			return -EAGAIN;
		ret = snap_postpone(s, req, info);
	} else {
		if (shared && !req->waits)
			ret = snap_is_answered(s, info, snap_keep_span(s));
		ret = ret ?: snap_cut(s, slot, req, info);
	}
	/* If the snapshot answers an earlier request with it, too, it has been told. */
	if (waited && !snap_find_cell(s, cond->data))
		return ret;
	if (cond && (ret >= 0 || (ret == -EINPROGRESS && !cond->lasts)))
		cond->taken(cond->data);
	return ret;
}

static void snap_count(struct trace_snapshots *s, int ret, long n)
{
	if (ret >= 0)
		atomic_long_add(n, &s->count.merged);
	else if (ret == -ENOBUFS)
		atomic_long_add(n, &s->count.no_spare);
	else if (ret == -EDQUOT)
		atomic_long_add(n, &s->count.enough);
	else if (ret == -EALREADY)
		atomic_long_add(n, &s->count.late);
	else if (ret == -ENODATA)
		atomic_long_add(n, &s->count.off);
	else if (ret != -ECANCELED && ret != -EINPROGRESS)
		atomic_long_add(n, &s->count.refused);
}

/**
 * snap_take() - take a snapshot
 * @s:    the snapshots of a trace array
 * @slot: the slot for it
 * @req:  the request
 *
 * Context: Any context, including NMI.
 * Return: 0, also if another snapshot answers the request; -ECANCELED if its condition is not
 *	   met; -EINPROGRESS if it is postponed; -EAGAIN if the lock is not available or, with
 *	   a condition, while the size changes; -EALREADY if a cut in progress came too early
 *	   for it; -ENODATA if no task waits for it, and recording is off since before the last
 *	   cut; -ENOBUFS if no buffer is ready; -EDQUOT if the first ones are kept, and
 *	   there are enough; -EBUSY and -EINVAL as ring_buffer_cut_all(), so that a
 *	   CPU in hotplug takes none. On an error nothing has changed but the counts.
 */
int snap_take(struct trace_snapshots *s, struct snap_slot *slot, const struct snap_request *req)
{
	bool plain = snap_is_shared(s, slot, req) && !req->cond && !req->waits && !req->now;
	struct snap_info info;
	int ret;

	if (req->cond && !req->cond->wanted(req->cond->data))
		return -ECANCELED;
	/*
	 * Pairs with snap_take_pending:A: the event of the request is in the cut that
	 * follows. RBB(snap_take:A)
	 */
	if (plain && atomic_long_inc_not_zero(&s->pending.requests))
		return -EINPROGRESS;

	guard(irqsave)();
	/* Neither a grace period nor irq_work could be relied on. */
	if (!ring_buffer_is_alive()) {
		snap_count(s, -EBUSY, 1);
		return -EBUSY;
	}
	snap_note_request(&info, req);
	snap_look(s, &info);
	if (req->alone ? snap_lock(s) : snap_lock_all(s)) {
		s->cut.alone = req->alone;
		ret = snap_take_locked(s, slot, req, &info);
		s->cut.alone = false;
		if (req->alone)
			snap_unlock(s);
		else
			snap_unlock_all(s);
	} else if (plain) {
		ret = snap_postpone_locked(s, req, &info);
	} else {
		ret = -EAGAIN;
	}
	if (ret && !req->waits)
		snap_count(s, ret, 1);
	snap_kick(s, ret, !ret);
	return min(ret, 0);
}

/**
 * snap_end_pending() - tell the result of the postponed request
 * @s:        the snapshots of a trace array
 * @requests: number of requests that it stands for
 * @ret:      the result, as snap_take(), or 1 if another snapshot answers it
 *
 * Context: Any context. The caller has the lock, and has made &snap_pending.requests 0.
 */
void snap_end_pending(struct trace_snapshots *s, long requests, int ret)
{
	struct snap_waiter *waiter = s->pending.waiters, *next;
	struct snap_cond *cell;
	unsigned int i;

	for (i = 0; i < SNAP_CELLS; i++) {
		cell = &s->pending.cells[i];
		/* Another snapshot may have been the last one that it wants. */
		if (ret >= 0 && cell->data && cell->wanted(cell->data))
			cell->taken(cell->data);
		*cell = (struct snap_cond){ };
	}
	s->pending.waiters = NULL;
	for (; waiter; waiter = next) {
		next = waiter->next;
		waiter->ret = min(ret, 0);
		/*
		 * Pairs with snap_delay_wait:A, which returns: @waiter is on its stack.
		 * RBB(snap_end_pending:A)
		 */
		smp_store_release(&waiter->done, true);
		/* The waiter handles an error itself. */
		requests -= ret < 0;
	}
	/* One of them is the snapshot, the others share it. */
	snap_count(s, ret == -ECANCELED ? -EBUSY : ret, requests - !ret);
}

/**
 * snap_take_pending() - take the postponed snapshot
 * @s: the snapshots of a trace array
 *
 * Context: Any context but NMI.
 * Return: 0 if nothing is pending for the timer after this; -EAGAIN if it is too early;
 *	   -EINPROGRESS while a live buffer of the cut changes its size.
 */
int snap_take_pending(struct trace_snapshots *s)
{
	struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS };
	struct snap_pending *pending = &s->pending;
	struct snap_info info;
	struct snap_claim claim;
	int ret = -EAGAIN;

	guard(irqsave)();
	if (!snap_lock_all(s))
		return -EAGAIN;
	if (!atomic_long_read(&pending->requests)) {
		ret = 0;
	} else if (snap_is_changing(s)) {
		ret = -EINPROGRESS;
	} else if (ktime_get_mono_fast_ns() >= pending->at) {
		info = pending->info;
		req.waits = pending->waiters;
		snap_claim_pending(s, &claim);
		req.span = snap_claim_span(s, &claim);
		/* A cut that answers the first one may have come before the others. */
		ret = claim.requests == 1 ? snap_is_answered(s, &info, req.span) : 0;
		if (!ret)
			ret = snap_cut(s, &s->user, &req, &info);
		snap_end_pending(s, claim.requests, ret);
	}
	snap_unlock_all(s);
	if (ret == -EAGAIN || ret == -EINPROGRESS)
		return ret;
	/* Waiters are woken whatever the result is. */
	snap_kick(s, ret, true);
	return 0;
}

/* Have requests wait for a task, but not long: it may be of a priority that gets no CPU. */
static void snap_first(struct trace_snapshots *s, bool begin)
{
	struct snap_pending *pending = &s->pending;

	s->tasks += begin ? 1 : -1;
	/* The first task that comes, and the last one that goes, set the time. */
	if (!pending->delay && s->tasks == begin)
		WRITE_ONCE(pending->at, begin ? ktime_get_mono_fast_ns() + SNAP_FIRST_NS : 0);
	if (!s->tasks && atomic_long_read(&pending->requests))
		irq_work_queue(&pending->start);
}

/**
 * snap_first_begin() - have requests wait for a task
 * @s: the snapshots of a trace array
 *
 * The next snapshot is that of the task, and the newest one stays, but for requests with a
 * condition, of a crash, and of one CPU. Other requests become pending, and share the next
 * snapshot.
 *
 * Context: A task. snap_first_end() has to follow soon: requests wait for SNAP_FIRST_NS at most.
 */
void snap_first_begin(struct trace_snapshots *s)
{
	guard(snap_change)(s);
	snap_first(s, true);
}

/**
 * snap_first_end() - end what snap_first_begin() has begun
 * @s: the snapshots of a trace array
 *
 * Context: A task.
 */
void snap_first_end(struct trace_snapshots *s)
{
	scoped_guard(snap_change, s)
		snap_first(s, false);
	/* Here, because another task may come before the timer. */
	if (atomic_long_read(&s->pending.requests))
		snap_take_pending(s);
}

/* The same in the channels of a session as well, which do not change under the mutex. */
static void snap_first_all(struct trace_snapshots *s, bool begin)
{
	struct trace_snapshots *part;

	lockdep_assert_held(&s->mutex);
	guard(snap_change_all)(s);
	for_each_cut_part(part, s, &s->user)
		snap_first(part, begin);
}

/* The requests that do not wait for it may use a buffer that it has made ready. */
static int snap_take_task(struct trace_snapshots *s, struct snap_request *req)
{
	struct snap_slot *slot = &s->user;
	int ret, tries = 2;

	ret = snap_provide(s, slot);
	if (ret)
		return ret;
	for (;;) {
		ret = snap_take(s, slot, req);
		if (ret == -EAGAIN) {
			cond_resched();
		} else if (ret == -ENOBUFS && tries-- > 0) {
			ret = snap_provide(s, slot);
			if (ret)
				return ret;
		} else if (ret == -ENOBUFS && !req->own && !s->tr->range_addr_start) {
			req->own = snap_alloc_spare(s);
			if (IS_ERR(req->own))
				return PTR_ERR(req->own);
		} else if (ret == -EBUSY && tries-- > 0) {
			snap_settle_next(s, slot);
		} else {
			return ret;
		}
	}
}

/**
 * snap_take_wait() - take a snapshot in a task
 * @s:   the snapshots of a trace array
 * @req: the request, for the user's slot; &snap_request.waits is set
 *
 * A task comes first: other requests wait for its snapshot, and share it. If requests that do not
 * wait take each buffer that is ready, the task allocates one of its own. Allocated buffers stay,
 * even if the snapshot fails.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: as snap_take(), but not -EAGAIN; or as snap_provide().
 */
int snap_take_wait(struct trace_snapshots *s, struct snap_request *req)
{
	int ret;

	/* Do not allocate a buffer in vain. */
	if (READ_ONCE(s->keeper.room) <= 0 && !req->taken)
		return -EDQUOT;
	/* This can take long, so other requests do not wait for it. */
	ret = snap_provide(s, &s->user);
	if (ret)
		return ret;
	snap_first_all(s, true);
	ret = snap_take_task(s, req);
	snap_first_all(s, false);
	/* Not used: it never became a snapshot. */
	if (!IS_ERR_OR_NULL(req->own) && !req->own->seq)
		snap_free(s, req->own);
	return ret;
}

/**
 * snap_keep_begin() - set which snapshots are kept, and keep the newest one
 * @s:    the snapshots of a trace array
 * @keep: which snapshots are kept
 *
 * Context: A task.
 */
void snap_keep_begin(struct trace_snapshots *s, struct snap_keep keep)
{
	struct trace_snapshots *part;
	struct trace_snap *last, *snap;

	guard(snap_change_all)(s);
	last = s->user.last;
	/* The newest snapshot is kept as well, with the parts of it that nobody keeps. */
	if (!s->keeper.want.nr && keep.nr && last && !snap_has_keeper(last)) {
		for_each_part(part, s) {
			snap = part == s ? last : snap_part_of(last, part);
			part->cut.snap = snap && !snap_has_keeper(snap) ? snap : NULL;
			if (part->cut.snap)
				snap->pending = true;
		}
		snap_join_parts(s);
		snap_get(last);
		llist_add(&last->fresh, &s->keeper.fresh);
		s->keeper.backlog++;
	}
	s->keeper.want = keep;
}
