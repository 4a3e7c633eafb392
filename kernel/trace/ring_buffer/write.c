// SPDX-License-Identifier: GPL-2.0
/*
 * The write path: reserve, commit, discard. The DOC: block of internal.h says how.
 */

#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/trace_recursion.h>

#include "internal.h"

/*
 * A 64-bit exchange that is made of a lock must not be taken in an NMI: the
 * NMI may have come while the lock was held.
 */
#if defined(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) && !defined(CONFIG_GENERIC_ATOMIC64)
#define rb_refuse_nmi()		false
#else
#define rb_refuse_nmi()		in_nmi()
#endif

/*
 * A grace period does not wait for a writer where RCU does not watch. No writer is there on
 * architectures that keep instrumentation out of such code; on others, some are refused.
 */
#ifdef CONFIG_ARCH_WANTS_NO_INSTR
#define rb_refuse_context()	rb_refuse_nmi()
#else
#define rb_refuse_context()	(rb_refuse_nmi() || !rcu_is_watching())
#endif

/* Needs of a record besides its header. */
#define RB_STAMP_FIRST		BIT(0)	/* its time goes to the page header */
#define RB_STAMP_EXTEND		BIT(1)	/* the delta does not fit */
#define RB_STAMP_ABS		BIT(2)	/* it is unknown, or the user wants all */
#define RB_STAMP_LEAVE		BIT(3)	/* an absolute one would be read wrong here */
#define RB_STAMP_EPOCH		BIT(4)	/* the tail word's time counts from here */

/* Preemption is off. */
static __always_inline u64 rb_clock(struct trace_buffer *buffer)
{
	/* Not READ_ONCE(), which would keep the load out of the call. */
	typeof(buffer->clock) clock = data_race(buffer->clock);

	/* A direct call where an indirect one is slow. */
	if (IS_ENABLED(CONFIG_MITIGATION_RETPOLINE) && likely(clock == sched_clock_noinstr))
		return sched_clock_noinstr();
	return clock();
}

/* Let no time near @now belong to the epoch of @sb, until there is another one. */
static u64 rb_forget_epoch(struct rb_subbuf *sb, u64 now)
{
	u64 none = now ^ BIT_ULL(63);

	local64_set(&sb->epoch, none);
	barrier();
	return none;
}

/*
 * Choose the stamp where the short way does not do: the first record of a
 * sub-buffer, a long pause, a clock that stepped back.
 */
static unsigned int
rb_choose_stamp(struct rb_subbuf *sb, u64 tail, u64 now, bool abs, u64 *delta)
{
	u64 since = now - local64_read(&sb->epoch), before = tail >> RB_TAIL_BITS;
	bool same = since <= RB_EPOCH_MAX && since >= before;
	u64 stamp;

	if (rb_tail_closed(tail))
		return 0;

	/* The page's time stamp is that of its first record. */
	*delta = 0;
	if (!rb_tail_units(tail))
		return RB_STAMP_FIRST | RB_STAMP_EPOCH | (abs ? RB_STAMP_ABS : 0);

	*delta = since - before;
	if (same && !abs)
		return *delta > RB_DELTA_MAX ? RB_STAMP_EXTEND : 0;

	/*
	 * A parser takes the bits that an absolute stamp lacks from the time
	 * before, and a step back for a carry into them.
	 */
	if (READ_ONCE(sb->stamped) != sb->seq)
		return RB_STAMP_LEAVE;
	stamp = sb->page->time_stamp;
	if ((now | stamp) & ~RB_ABS_MASK &&
	    ((now ^ stamp) & ~RB_ABS_MASK || *delta > S64_MAX / 2))
		return RB_STAMP_LEAVE;
	return same ? RB_STAMP_ABS : RB_STAMP_ABS | RB_STAMP_EPOCH;
}

/*
 * Has rb_publish() seen all records? It went as far as it can, so only later ones
 * can be missing.
 */
static noinline bool rb_all_published(struct rb_ring *ring)
{
	struct rb_subbuf *sb = READ_ONCE(ring->commit);
	u64 tail = local64_read(&sb->tail), pub = atomic64_read(&sb->publish);

	if (rb_tail_closed(tail)) {
		struct rb_subbuf *last = READ_ONCE(ring->tail);

		return pub & RB_PUB_FINAL && (sb == last || last == &rb_fresh);
	}
	return rb_tail_units(pub) == rb_tail_units(tail);
}

/*
 * Leave @ring, to which this writer has added @share. The outermost writer
 * publishes its own records and those of the writers nested in it. One that comes after
 * the look at the tail and before @nest is 0 leaves its records to us: look once
 * more.
 *
 * Return: was this the outermost one?
 */
static bool rb_leave(struct rb_ring *ring, unsigned int share)
{
	struct rb_subbuf *sb;
	u64 tail;

	barrier();
	/* (It is less where this writer was taken for dead, see quiesce.c.) */
	if (ring->nest > share) {
		ring->nest -= share;
		return false;
	}

	for (;;) {
		rb_race_point(LEAVE);
		sb = ring->commit;
		tail = local64_read(&sb->tail);
		/* One that is open is the last one. */
		if (likely(!rb_tail_closed(tail)))
			rb_publish_subbuf(sb, 0, rb_tail_units(tail));
		else
			rb_publish(ring);

		/*
		 * Pairs with rb_forget:A: a cut that finds the ring without
		 * writers finds all they stored. RBB(rb_leave:A)
		 */
		smp_store_release(&ring->nest, 0);
		rb_race_point(LEFT);
		barrier();
		if (likely(tail == local64_read(&sb->tail) && !rb_tail_closed(tail)))
			return true;
		if (rb_all_published(ring))
			return true;
		ring->nest = share;
		barrier();
	}
}

/* The last record found no room. Is it still so? Then count this one, too. */
static bool rb_still_full(struct rb_cpu *rcpu)
{
	struct rb_ring *ring = rb_untag(READ_ONCE(rcpu->ring));
	struct rb_subbuf *sb = READ_ONCE(ring->tail);
	u64 seq = READ_ONCE(sb->seq), word;

	/* That record may have met another ring, or a sub-buffer before this one. */
	if (rb_overwrites(rcpu->buffer) || sb == &rb_fresh ||
	    local64_read(&ring->refused) != seq)
		return false;

	word = atomic64_read(rb_slot(ring, seq + 1));
	if ((word & (RB_SLOT_EMPTY | RB_SLOT_HELD)) == RB_SLOT_EMPTY)
		return false;
	local_inc(&ring->dropped);
	return true;
}

/*
 * May a writer begin, while there are others on this CPU? Not in a context that is writing
 * already. Two such writers may begin all the same, since they may be interrupts: an interrupt
 * that writes before the preempt count has changed looks like the context that it interrupted,
 * and the outermost writer does not record its context.
 */
static bool
rb_may_nest(struct rb_cpu *rcpu, unsigned int level, unsigned int nested, bool *reentered)
{
	bool had_reentered = false;
	unsigned int i;

	for (i = 0; i <= rcpu->depth; i++) {
		struct rb_write *w = i < rcpu->depth ? &rcpu->below[i] : &rcpu->write;

		if (w->share == RB_SHARE_PLAIN || w->nested != nested)
			continue;
		had_reentered |= w->reentered;
		*reentered |= w->level == level;
	}
	return !*reentered || !had_reentered;
}

/*
 * Begin a write where the plain case is not: among others on this CPU, inside
 * ring_buffer_nest_start(), where a task waits or recording is switched off.
 */
static bool rb_push(struct rb_cpu *rcpu)
{
	unsigned int nested = rcpu->nested, level = interrupt_context_level();
	unsigned long refused = rb_refused(rb_this_place());
	struct rb_write *w = &rcpu->write;
	bool reentered = false;

	if (refused & RB_ALL_OFF || atomic_read(&rcpu->state) & (RB_STATE_OFF | RB_STATE_REFUSE) ||
	    rb_refuse_context())
		return false;
	if (nested >= RB_NEST_LEVELS || refused ||
	    WARN_ON_ONCE(rcpu->depth >= ARRAY_SIZE(rcpu->below))) {
		local_inc(&rcpu->nest_drops);
		return false;
	}
	if (w->live) {
		if (!rb_may_nest(rcpu, level, nested, &reentered)) {
#ifdef CONFIG_RING_BUFFER_RECORD_RECURSION
			do_ftrace_record_recursion(_THIS_IP_, _RET_IP_);
#endif
			return false;
		}
		/*
		 * An interrupt saves the same to the same place, and leaves @w as
		 * it was. So it may do between two words of this.
		 */
		data_race(rcpu->below[rcpu->depth] = *w);
		rb_race_point(PUSH);
		barrier();
		rcpu->depth++;
	} else {
		if (rcpu->full && rb_still_full(rcpu))
			return false;
		rcpu->full = 0;
		/* From here on an interrupt saves and restores the rest of it. */
		w->live = READ_ONCE(rcpu->ring);
	}
	barrier();
	rb_race_point(PUSHED);
	w->level = level;
	w->nested = nested;
	w->reentered = reentered;
	w->share = RB_SHARE_SPECIAL;
	return true;
}

/* The end of the write, however it began. */
static void rb_pop(struct rb_cpu *rcpu)
{
	struct rb_write *w = &rcpu->write;

	barrier();
	if (rcpu->depth) {
		/* One that comes between two words saves them, and puts them back. */
		data_race(*w = rcpu->below[rcpu->depth - 1]);
		rb_race_point(POP);
		barrier();
		rcpu->depth--;
	} else {
		w->share = RB_SHARE_PLAIN;
		rb_race_point(LET_GO);
		barrier();
		w->live = 0;
	}
	barrier();
}

/*
 * Leave the ring in every case. The writer that published wakes the waiters: before
 * that there is nothing to see.
 */
static noinline void rb_finish_slow(struct rb_cpu *rcpu)
{
	struct rb_ring *ring = rb_untag(rcpu->write.live);
	bool published = rb_leave(ring, rcpu->write.share);

	rb_pop(rcpu);
	if (published && (atomic_read(&rcpu->state) & RB_STATE_WAKE ||
			  atomic_read(&rcpu->wake_full)))
		rb_wake_writer(rcpu, ring);
}

/*
 * Leave the ring, as rb_leave() does, in the plain case: a writer that is alone in
 * the ring, and a sub-buffer that goes on.
 */
static __always_inline void rb_finish(struct rb_cpu *rcpu)
{
	struct rb_ring *ring = rb_untag(rcpu->write.live);
	struct rb_subbuf *sb = ring->commit;
	u64 tail = local64_read(&sb->tail);

	rb_race_point(FINISH);
	barrier();
	if (unlikely(ring->nest != RB_SHARE_PLAIN || rb_tail_closed(tail)))
		return rb_finish_slow(rcpu);

	rb_publish_subbuf(sb, 0, rb_tail_units(tail));
	rb_race_point(FINISHED);
	/* Pairs with rb_forget:A, as in rb_leave(). */
	smp_store_release(&ring->nest, 0); /* RBB(rb_finish:A) */
	rb_race_point(FINISH_OUT);
	barrier();
	if (unlikely(local64_read(&sb->tail) != tail)) {
		/* Once more, if need be. */
		ring->nest = RB_SHARE_PLAIN;
		return rb_finish_slow(rcpu);
	}
	WRITE_ONCE(rcpu->write.live, 0);
}

/* Find the ring, note it, and be counted as a writer inside. */
static __always_inline struct rb_ring *rb_enter(struct rb_cpu *rcpu, unsigned int share)
{
	/* An address dependency; pairs with rb_swap:A and rb_go_live:A. */
	unsigned long live = READ_ONCE(rcpu->ring); /* RBB(rb_enter:A) */
	struct rb_ring *ring = rb_untag(live);

	rb_race_point(ENTER);
	WRITE_ONCE(rcpu->write.live, live);
	rb_race_point(ENTERED);
	barrier();
	ring->nest += share;
	barrier();
	return ring;
}

/* Note where the next record would go, then look at the clock. */
static __always_inline u64
rb_look(struct rb_cpu *rcpu, struct rb_ring *ring, struct trace_buffer *buffer)
{
	struct rb_write *w = &rcpu->write;
	struct rb_subbuf *sb = READ_ONCE(ring->tail);
	u64 now;

	rb_race_point(LOOK);
	w->sb = sb;
	w->before = local64_read(&sb->tail);
	barrier();
	rb_race_point(LOOKED);
	now = rb_clock(buffer);
	rb_race_point(CLOCK);
	barrier();
	w->now = now;
	return now;
}

/* Refuse a record inside the ring. */
static struct ring_buffer_event *rb_refuse(struct rb_cpu *rcpu)
{
	rb_finish_slow(rcpu);
	preempt_enable_notrace();
	return NULL;
}

/**
 * struct rb_plan - how the slow path stores a record
 * @stamp: RB_STAMP_*
 * @end:   units of the sub-buffer in use behind it
 * @delta: time since the record before, where they have the epoch in common
 * @none:  the epoch while RB_STAMP_EPOCH changes it, see rb_forget_epoch()
 */
struct rb_plan {
	unsigned int	stamp;
	u32		end;
	u64		delta;
	u64		none;
};

/* Plan a record of @len bytes for the place and the time of &rb_cpu.write. */
static void rb_plan_record(struct rb_cpu *rcpu, struct rb_ring *ring, unsigned int len,
			   struct rb_plan *plan)
{
	struct rb_write *w = &rcpu->write;

	plan->stamp = rb_choose_stamp(w->sb, w->before, w->now, READ_ONCE(rcpu->stamp_abs),
				      &plan->delta);
	if (plan->stamp & (RB_STAMP_EXTEND | RB_STAMP_ABS))
		len += RB_STAMP_LEN;
	else if (plan->stamp & RB_STAMP_LEAVE)
		len = rb_subbuf_size(ring->order);
	plan->end = rb_tail_units(w->before) + len / RB_UNIT;
}

/* Go to the next sub-buffer. A record that has no room in an empty one gets none. */
static bool rb_make_room(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	bool overwrite = rb_overwrites(rcpu->buffer);
	struct rb_write *w = &rcpu->write;

	if (rb_tail_units(w->before) && rb_next_subbuf(ring, w->sb, w->before, overwrite))
		return true;
	rcpu->full = !overwrite;
	return false;
}

/* Take place and time of the record. Return: false if an interrupt has taken them. */
static bool rb_take_place(struct rb_write *w, struct rb_plan *plan)
{
	u64 tail = w->before, time = (tail >> RB_TAIL_BITS) + plan->delta;

	/* An interrupt must not count from an epoch that is not this record's. */
	if (plan->stamp & RB_STAMP_EPOCH) {
		time = 0;
		plan->none = rb_forget_epoch(w->sb, w->now);
	}
	rb_race_point(RESERVE);
	return local64_try_cmpxchg(&w->sb->tail, &tail, rb_tail_word(time, plan->end));
}

/* Write the header of a record of @len bytes, and the stamp in front of it. */
static struct ring_buffer_event *
rb_write_header(struct rb_write *w, unsigned int len, unsigned int room,
		const struct rb_plan *plan)
{
	struct rb_subbuf *sb = w->sb;
	struct ring_buffer_event *rec = (void *)&sb->page->data[rb_tail_units(w->before) * RB_UNIT];
	u64 delta = plan->delta;

	/* The place is ours, and an interrupt from here on comes behind it. */
	local_inc(&sb->records);
	rb_race_point(COUNTED);

	if (plan->stamp & RB_STAMP_FIRST) {
		sb->page->time_stamp = w->now;
		barrier();
		rb_race_point(STAMP);
		WRITE_ONCE(sb->stamped, sb->seq);
		barrier();
	}
	rb_race_point(STAMPED);
	/* Unless an interrupt has begun a later one. */
	if (plan->stamp & RB_STAMP_EPOCH)
		local64_cmpxchg(&sb->epoch, plan->none, w->now);
	if (READ_ONCE(sb->stamped) == sb->seq)
		WRITE_ONCE(sb->room, room);

	if (plan->stamp & RB_STAMP_ABS)
		rb_set_stamp(rec, RINGBUF_TYPE_TIME_STAMP, w->now);
	else if (plan->stamp & RB_STAMP_EXTEND)
		rb_set_stamp(rec, RINGBUF_TYPE_TIME_EXTEND, delta);
	if (plan->stamp & (RB_STAMP_ABS | RB_STAMP_EXTEND)) {
		rec = (void *)rec + RB_STAMP_LEN;
		delta = 0;
	}
	rb_set_record(rec, len, delta);
	return rec;
}

/*
 * Reserve @len bytes in the ring that was entered, in each case that rb_reserve() leaves
 * out. rb_look() has filled &rb_cpu.write. Each turn but the last one is due to an
 * interrupt, an exchange of the ring, or a sub-buffer that is full.
 */
static noinline struct ring_buffer_event *
rb_reserve_slow(struct rb_cpu *rcpu, unsigned int len)
{
	struct rb_write *w = &rcpu->write;
	struct rb_ring *ring = rb_untag(w->live);
	struct rb_plan plan = { };
	unsigned int room;

	for (;; rb_look(rcpu, ring, rcpu->buffer)) {
		rb_plan_record(rcpu, ring, len, &plan);
		rb_race_point(CHOSEN);
		barrier();
		/*
		 * If the ring is not the live one any more, an interrupt may have
		 * written to that one before the clock was read for this one: then this
		 * record has to go there, too.
		 */
		if (unlikely(READ_ONCE(rcpu->ring) != w->live)) {
			rb_leave(ring, w->share);
			ring = rb_enter(rcpu, w->share);
			continue;
		}

		room = rb_subbuf_room(ring->order) / RB_UNIT;
		if (unlikely(plan.end > room)) {
			if (!rb_make_room(rcpu, ring))
				return rb_refuse(rcpu);
			continue;
		}

		rb_race_point(CHECKED);
		if (likely(rb_take_place(w, &plan))) {
			rb_race_point(RESERVED);
			return rb_write_header(w, len, room, &plan);
		}
	}
}

/*
 * Reserve a record of @units, header and all, where no interrupt comes, the
 * sub-buffer has room, and a delta will do. &rb_cpu.write has all that has to survive
 * the clock, and it is taken from there: saving registers costs more.
 */
static __always_inline struct ring_buffer_event *
rb_reserve(struct trace_buffer *buffer, struct rb_cpu *rcpu, struct rb_ring *ring,
	   unsigned int units, bool small)
{
	struct rb_write *w = &rcpu->write;
	u64 now = rb_look(rcpu, ring, buffer), tail = w->before, since, delta;
	u32 start = rb_tail_units(tail), end = start + units;
	struct ring_buffer_event *rec;
	struct rb_subbuf *sb = w->sb;

	since = now - local64_read(&sb->epoch);
	delta = since - (tail >> RB_TAIL_BITS);

	/*
	 * That the ring is still the live one has to be seen after the clock
	 * was read, see rb_reserve_slow(); the barrier of snap_cut() is for another
	 * CPU that sees it. There is no room before the first record is written, nor
	 * in a sub-buffer that is closed. (An interrupt
	 * that changes it changes the tail word, too, or takes back both. Not
	 * READ_ONCE(), which would keep the load out of the comparison.)
	 */
	if (unlikely(delta > RB_DELTA_MAX || end > data_race(sb->room) ||
		     READ_ONCE(rcpu->ring) != w->live))
		goto slow;
	rb_race_point(FAST);
	if (unlikely(!local64_try_cmpxchg(&sb->tail, &tail, rb_tail_word(since, end))))
		goto slow;
	rb_race_point(FAST_DONE);

	/* The place is ours, and an interrupt from here on comes behind it. */
	local_inc(&sb->records);
	rec = (void *)&sb->page->data[start * RB_UNIT];
	if (small)
		rb_set_header(rec, units - RB_RECORD_HDR / RB_UNIT, delta);
	else
		rb_set_record(rec, units * RB_UNIT, delta);
	return rec;
slow:
	return rb_reserve_slow(rcpu, units * RB_UNIT);
}

/* For a length that does not fit into the header: apart, to keep the other case short. */
static noinline struct ring_buffer_event *
rb_reserve_long(struct trace_buffer *buffer, unsigned long length, struct rb_cpu *rcpu)
{
	struct rb_ring *ring;

	if (length > READ_ONCE(buffer->longest)) {
		preempt_enable_notrace();
		return NULL;
	}
	ring = rb_enter(rcpu, RB_SHARE_PLAIN);
	return rb_reserve(buffer, rcpu, ring, rb_record_len(length) / RB_UNIT, false);
}

/* One that is not the plain case. Where all buffers refuse it, it is counted by its CPU. */
static noinline struct ring_buffer_event *
rb_reserve_special(struct trace_buffer *buffer, unsigned long length)
{
	struct rb_cpu *rcpu = READ_ONCE(buffer->cpus[raw_smp_processor_id()]);
	struct rb_ring *ring;

	if (length > READ_ONCE(buffer->longest) || !rb_push(rcpu)) {
		preempt_enable_notrace();
		return NULL;
	}
	ring = rb_enter(rcpu, RB_SHARE_SPECIAL);
	if (likely(!READ_ONCE(rcpu->stamp_abs)))
		return rb_reserve(buffer, rcpu, ring, rb_record_len(length) / RB_UNIT, false);
	rb_look(rcpu, ring, buffer);
	return rb_reserve_slow(rcpu, rb_record_len(length));
}

/**
 * ring_buffer_lock_reserve() - reserve space for a record
 * @buffer: the buffer to write to
 * @length: payload in bytes, at most ring_buffer_max_event_size()
 *
 * The caller fills the payload, see ring_buffer_event_data(), and ends with
 * ring_buffer_unlock_commit() or ring_buffer_discard_commit(). A context that
 * is between the two shall not reserve again but inside ring_buffer_nest_start():
 * it may get a record twice, and not a third time.
 *
 * Context: Any context, including NMI. Disables preemption until the record
 *          is committed or discarded. Never waits.
 * Return: The record, or NULL: recording is off, @length is too long, this
 *         context is writing already, RCU does not watch, or there is no room (counted).
 */
struct ring_buffer_event *
ring_buffer_lock_reserve(struct trace_buffer *buffer, unsigned long length)
{
	struct rb_ring *ring;
	struct rb_cpu *rcpu;

	preempt_disable_notrace();
	rcpu = READ_ONCE(*(struct rb_cpu **)((void *)buffer + rb_this_place()));
	/* Others change it at any time, and it says no more than where to look. */
	if (unlikely(data_race(rcpu->special | rcpu->write.live) || rb_refuse_context()))
		return rb_reserve_special(buffer, length);
	if (unlikely(!rb_is_small(length)))
		return rb_reserve_long(buffer, length, rcpu);

	ring = rb_enter(rcpu, RB_SHARE_PLAIN);
	return rb_reserve(buffer, rcpu, ring, DIV_ROUND_UP(length + RB_RECORD_HDR, RB_UNIT), true);
}
EXPORT_SYMBOL_GPL(ring_buffer_lock_reserve);

/**
 * rb_reserve_alone() - reserve a record in a ring that several CPUs write to in turn
 * @rcpu:   the part with the ring
 * @length: payload in bytes, at most what a sub-buffer holds
 *
 * The switches have been looked at before. rb_commit_alone() has to follow.
 *
 * Context: Any context with interrupts off. The caller keeps all other writers out.
 * Return: the record; NULL if there is no room (counted).
 */
struct ring_buffer_event *rb_reserve_alone(struct rb_cpu *rcpu, unsigned long length)
{
	/* rb_refuse() and rb_commit_alone() enable it. */
	preempt_disable_notrace();
	rcpu->write.share = RB_SHARE_SPECIAL;
	rb_look(rcpu, rb_enter(rcpu, RB_SHARE_SPECIAL), rcpu->buffer);
	return rb_reserve_slow(rcpu, rb_record_len(length));
}

/**
 * rb_commit_alone() - commit the record of rb_reserve_alone()
 * @rcpu: the part with the ring
 *
 * Context: That of rb_reserve_alone().
 */
void rb_commit_alone(struct rb_cpu *rcpu)
{
	rb_finish_slow(rcpu);
	preempt_enable_notrace();
}

/**
 * ring_buffer_unlock_commit() - commit the record that was reserved last
 * @buffer: the buffer it was reserved in
 *
 * Context: The context that reserved the record.
 * Return: 0.
 */
int ring_buffer_unlock_commit(struct trace_buffer *buffer)
{
	rb_finish(buffer->cpus[raw_smp_processor_id()]);
	preempt_enable_notrace();
	return 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_unlock_commit);

/**
 * ring_buffer_write() - write a record that is there already
 * @buffer: the buffer to write to
 * @length: payload in bytes
 * @data:   the payload
 *
 * Context: Any context, including NMI. Never waits.
 * Return: 0, or -EBUSY where ring_buffer_lock_reserve() returns NULL.
 */
int ring_buffer_write(struct trace_buffer *buffer, unsigned long length, void *data)
{
	struct ring_buffer_event *rec;

	rec = ring_buffer_lock_reserve(buffer, length);
	if (!rec)
		return -EBUSY;
	memcpy(ring_buffer_event_data(rec), data, length);
	return ring_buffer_unlock_commit(buffer);
}
EXPORT_SYMBOL_GPL(ring_buffer_write);

/*
 * Add @delta to the time of the record at @data. Where it needs a time extend for that,
 * that takes the bytes in front of @data, which are free.
 *
 * Return: how many of those were used.
 */
static unsigned int rb_add_delta(unsigned char *data, u64 delta)
{
	struct ring_buffer_event *rec = (void *)data;

	if (rec->type_len == RINGBUF_TYPE_TIME_STAMP)
		return 0;

	if (rec->type_len == RINGBUF_TYPE_TIME_EXTEND) {
		rb_set_stamp(rec, RINGBUF_TYPE_TIME_EXTEND, rb_get_stamp(rec) + delta);
		return 0;
	}
	if (delta + rec->time_delta <= RB_DELTA_MAX) {
		rb_set_header(rec, rec->type_len, rec->time_delta + delta);
		return 0;
	}
	rb_set_stamp((void *)(data - RB_STAMP_LEN), RINGBUF_TYPE_TIME_EXTEND,
		     delta + rec->time_delta);
	rb_set_header(rec, rec->type_len, 0);
	return RB_STAMP_LEN;
}

/*
 * Take a record out from under the ones that interrupts wrote behind it: move
 * them down. All of them are complete, and no reader has seen them yet. One that
 * comes meanwhile makes the exchange fail, and is moved as well.
 */
static noinline void
rb_discard_move(struct rb_subbuf *sb, unsigned int start, unsigned int len, u64 delta)
{
	unsigned char *data = sb->page->data;
	unsigned int from = start + len, moved = from, end;
	u64 tail;

	do {
		tail = local64_read(&sb->tail);
		barrier();
		rb_race_point(MOVE);
		end = RB_UNIT * (rb_tail_closed(tail) ? sb->end : rb_tail_units(tail));
		if (moved == from && end > from) {
			/* The gap shrinks where the sum of the deltas is too long. */
			unsigned int used = rb_add_delta(data + from, delta);

			len -= used;
			moved -= used;
		}
		memmove(data + moved - len, data + moved, end - moved);
		moved = end;
		rb_race_point(MOVED);
		if (rb_tail_closed(tail)) {
			sb->end = (end - len) / RB_UNIT;
			return;
		}
		/* The newest record stays the newest: its time stays. */
	} while (!local64_try_cmpxchg(&sb->tail, &tail, tail - len / RB_UNIT));
}

/**
 * ring_buffer_discard_commit() - take back the record that was reserved last
 * @buffer: the buffer it was reserved in
 * @event:  the record
 *
 * Nothing of it remains: not in the buffer, not in the statistics.
 *
 * Context: The context that reserved the record.
 */
void ring_buffer_discard_commit(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	struct rb_cpu *rcpu = buffer->cpus[raw_smp_processor_id()];
	struct rb_write *w = &rcpu->write;
	struct rb_subbuf *sb = w->sb;
	unsigned char *data = sb->page->data;
	unsigned int start = rb_tail_units(w->before) * RB_UNIT;
	unsigned int end = (unsigned char *)event - data + rb_total_len(event);
	struct ring_buffer_event *first = (void *)&data[start];
	bool abs = first->type_len == RINGBUF_TYPE_TIME_STAMP;
	u64 delta = 0, tail;

	if (!abs)
		delta = first == event ? event->time_delta : rb_get_stamp(first);

	/* This record may have begun another epoch than that of the one before. */
	if (unlikely(abs || !start)) {
		rb_forget_epoch(sb, w->now);
		if (!start)
			WRITE_ONCE(sb->room, 0);
		barrier();
	}

	rb_race_point(FORGET);
	local_dec(&sb->records);
	rb_race_point(UNCOUNTED);
	tail = local64_read(&sb->tail);
	if (unlikely(rb_tail_units(tail) * RB_UNIT != end ||
		     !local64_try_cmpxchg(&sb->tail, &tail, w->before))) {
		/* ... and those behind count from it: it stays. */
		if (abs)
			start += RB_STAMP_LEN;
		rb_discard_move(sb, start, end - start, delta);
	}
	rb_race_point(TAKEN_BACK);

	rb_finish(rcpu);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(ring_buffer_discard_commit);

/**
 * ring_buffer_nest_start() - let this context write while it is writing
 * @buffer: the buffer to write to
 *
 * For a record that has to be written between reserve and commit of another
 * one. It must be committed before ring_buffer_nest_end().
 *
 * Context: Any context. Disables preemption.
 */
void ring_buffer_nest_start(struct trace_buffer *buffer)
{
	struct rb_cpu *rcpu;

	preempt_disable_notrace();
	rcpu = READ_ONCE(buffer->cpus[raw_smp_processor_id()]);
	if (rcpu != &rb_no_cpu)
		rcpu->nested++;
}

/**
 * ring_buffer_nest_end() - undo one ring_buffer_nest_start()
 * @buffer: the buffer
 *
 * Context: That of ring_buffer_nest_start(). Enables preemption.
 */
void ring_buffer_nest_end(struct trace_buffer *buffer)
{
	struct rb_cpu *rcpu = READ_ONCE(buffer->cpus[raw_smp_processor_id()]);

	/* The buffer may have got its rings, or lost them, since the start. */
	if (rcpu->nested)
		rcpu->nested--;
	preempt_enable_notrace();
}

/**
 * ring_buffer_event_time_stamp() - the time of a record that is being written
 * @buffer: the buffer it was reserved in
 * @event:  the record that this context reserved last
 *
 * Context: The context that reserved the record, before it commits.
 * Return: The time, in the unit of the buffer's clock.
 */
u64 ring_buffer_event_time_stamp(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	struct rb_write *w = &buffer->cpus[smp_processor_id()]->write;

	if (WARN_ON_ONCE(!w->live))
		return 0;
	return w->now;
}

/**
 * ring_buffer_time_stamp() - the time that a record would get now
 * @buffer: the buffer
 *
 * Context: Any context.
 * Return: The time, in the unit of the buffer's clock.
 */
u64 ring_buffer_time_stamp(struct trace_buffer *buffer)
{
	u64 now;

	preempt_disable_notrace();
	now = rb_clock(buffer);
	preempt_enable_notrace();
	return now;
}
EXPORT_SYMBOL_GPL(ring_buffer_time_stamp);
