// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots that survive a reboot: who took them, and when, is noted beside the records.
 */
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>

#include "internal.h"

/* Of &struct snap_saved. */
enum {
	SNAP_SAVED_NONE,
	SNAP_SAVED_CUTTING,	/* before it was known, the machine went down */
	SNAP_SAVED,
};

/**
 * struct snap_saved - what is known of a snapshot after a reboot
 * @size:  of this; another kernel's may differ
 * @state: SNAP_SAVED_*
 * @since: as in &struct trace_snap
 * @begin: the same
 * @end:   the same
 * @who:   the same
 */
struct snap_saved {
	u32		size;
	u32		state;
	u64		since;
	u64		begin;
	u64		end;
	struct snap_who	who;
};

static_assert(sizeof(struct snap_saved) <= RB_NOTE_SIZE);

/**
 * snap_save_begin() - note that a snapshot is about to be taken
 * @snap: where to
 *
 * Context: Any context, including NMI.
 * Return: for snap_save_cancel().
 */
u32 snap_save_begin(struct trace_snap *snap)
{
	struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);
	u32 state;

	if (!saved)
		return SNAP_SAVED_NONE;
	state = saved->state;
	WRITE_ONCE(saved->state, SNAP_SAVED_CUTTING);
	barrier();
	return state;
}

/**
 * snap_save_cancel() - it was not taken
 * @snap:  where to
 * @state: what snap_save_begin() returned
 *
 * Context: Any context, including NMI.
 */
void snap_save_cancel(struct trace_snap *snap, u32 state)
{
	struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);

	if (saved)
		WRITE_ONCE(saved->state, state);
}

/**
 * snap_save() - note what is known of a snapshot
 * @snap: which
 * @cpu:  whose records were cut off, or RING_BUFFER_ALL_CPUS
 *
 * Context: Any context, including NMI.
 */
void snap_save(struct trace_snap *snap, int cpu)
{
	struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);
	struct array_buffer *live = &snap->buf.tr->array_buffer;

	if (!saved)
		return;
	/* What the live buffer held of the last boot is here now. */
	snap->last_boot = false;
	snap->buf.text_delta = live->text_delta;
	snap->buf.data_delta = live->data_delta;
	if (cpu == RING_BUFFER_ALL_CPUS) {
		live->text_delta = 0;
		live->data_delta = 0;
	}
	saved->size = sizeof(*saved);
	saved->since = snap->since;
	saved->begin = snap->begin;
	saved->end = snap->end;
	saved->who = snap->who;
	barrier();
	WRITE_ONCE(saved->state, SNAP_SAVED);
}

/**
 * snap_unsave() - let a snapshot not survive a reboot
 * @snap: whose records are gone, or go with this
 *
 * Context: Any context, including NMI. Nothing is cut into it.
 */
void snap_unsave(struct trace_snap *snap)
{
	struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);

	if (!saved)
		return;
	WRITE_ONCE(saved->state, SNAP_SAVED_NONE);
	barrier();
	ring_buffer_forget(snap->buf.buffer);
}

/* What is printed: up to what is no part of a name. */
static void snap_recall_name(char *name, size_t size)
{
	size_t i = 0;

	while (i < size - 1 && isprint(name[i]))
		i++;
	name[i] = '\0';
}

/* Nothing that is there can be relied on. */
static void snap_recall_who(struct trace_snap *snap, const struct snap_saved *saved)
{
	struct snap_who *who = &snap->who;

	who->by = SNAP_BY_UNKNOWN;
	if (saved->state != SNAP_SAVED || saved->size != sizeof(*saved) ||
	    (unsigned int)saved->who.by > SNAP_BY_UNKNOWN)
		return;
	snap->since = saved->since;
	snap->begin = saved->begin;
	snap->end = saved->end;
	*who = saved->who;
	who->nmi = !!*(const u8 *)&saved->who.nmi;
	snap_recall_name(who->comm, sizeof(who->comm));
	snap_recall_name(who->event, sizeof(who->event));
	if (who->ip)
		who->ip += snap->buf.text_delta;
}

/**
 * snap_recall() - have a buffer ready in memory that survives a reboot
 * @s: of whom
 *
 * If the last boot has left a snapshot there, it is the newest one.
 *
 * Context: Boot, may sleep.
 */
void snap_recall(struct trace_snapshots *s)
{
	const struct snap_saved *saved;
	struct trace_snap *snap;

	mutex_lock(&s->mutex);
	snap = snap_alloc_spare(s);
	if (IS_ERR(snap)) {
		pr_warn("tracing: no snapshots of %s: %ld\n", s->tr->name, PTR_ERR(snap));
		goto out;
	}
	/* What led to a crash shall find it there. */
	s->pinned = true;
	saved = ring_buffer_note(snap->buf.buffer);
	if (!saved || saved->state == SNAP_SAVED_NONE) {
		s->user.spare = snap;
		goto out;
	}
	snap->last_boot = true;
	ring_buffer_last_boot_delta(snap->buf.buffer, &snap->buf.text_delta,
				    &snap->buf.data_delta);
	snap_recall_who(snap, saved);
	snap->seq = 1;
	s->user.last = snap;
	s->user.seq = 1;
out:
	mutex_unlock(&s->mutex);
}
