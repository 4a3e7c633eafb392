// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that survives a reboot: a note beside the records describes the snapshot.
 */
#include "internal.h"

/**
 * struct snap_saved - the note about a snapshot
 * @size:  size of this structure in the kernel that wrote it, in bytes
 * @state: SNAP_SAVED_*
 * @info:  &trace_snap.info
 */
struct snap_saved {
	u32		size;
	u32		state;
	struct snap_info info;
};

static_assert(sizeof(struct snap_saved) <= RB_NOTE_SIZE);

/**
 * snap_save_state() - note whether there is a snapshot
 * @snap:  the buffer for the snapshot
 * @state: SNAP_SAVED_*
 *
 * Context: Any context, including NMI.
 * Return: the state before.
 */
u32 snap_save_state(struct trace_snap *snap, u32 state)
{
	struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);
	u32 before;

	if (!saved)
		return SNAP_SAVED_NONE;
	before = saved->state;
	WRITE_ONCE(saved->state, state);
	barrier();
	return before;
}

/**
 * snap_save() - note a snapshot
 * @snap: the snapshot
 * @cpu:  CPU that was cut off, or RING_BUFFER_ALL_CPUS
 *
 * Context: Any context, including NMI.
 */
void snap_save(struct trace_snap *snap, int cpu)
{
	struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);
	struct array_buffer *live = &snap->buf.tr->array_buffer;

	if (!saved)
		return;
	/* Records of the last boot have moved here from the live buffer. */
	snap->last_boot = false;
	snap->buf.text_delta = live->text_delta;
	snap->buf.data_delta = live->data_delta;
	if (cpu == RING_BUFFER_ALL_CPUS) {
		live->text_delta = 0;
		live->data_delta = 0;
	}
	saved->size = sizeof(*saved);
	saved->info = snap->info;
	barrier();
	snap_save_state(snap, SNAP_SAVED);
}

/**
 * snap_unsave() - erase a snapshot and the note about it
 * @snap: the snapshot, if it is in memory that survives a reboot
 *
 * Context: Any context, including NMI. No cut uses it.
 */
void snap_unsave(struct trace_snap *snap)
{
	if (!ring_buffer_note(snap->buf.buffer))
		return;
	snap_save_state(snap, SNAP_SAVED_NONE);
	ring_buffer_forget(snap->buf.buffer);
}

/* End a text where it has a character that cannot be printed. */
static void snap_recall_name(char *name, size_t size)
{
	size_t i = 0;

	while (i < size - 1 && isprint(name[i]))
		i++;
	name[i] = '\0';
}

/**
 * snap_recall() - find the snapshot of the last boot in memory that survives a reboot
 * @snap: the buffer in that memory
 *
 * Context: Boot, may sleep.
 * Return: true if there is one, and it is described as well as it was noted.
 */
bool snap_recall(struct trace_snap *snap)
{
	const struct snap_saved *saved = ring_buffer_note(snap->buf.buffer);
	struct snap_info *info = &snap->info;

	if (!saved || saved->state == SNAP_SAVED_NONE)
		return false;
	snap->last_boot = true;
	ring_buffer_last_boot_delta(snap->buf.buffer, &snap->buf.text_delta, &snap->buf.data_delta);
	snap->seq = 1;
	info->by = SNAP_BY_UNKNOWN;
	/* The note may have any contents. */
	if (saved->state != SNAP_SAVED || saved->size != sizeof(*saved) ||
	    (unsigned int)saved->info.by > SNAP_BY_UNKNOWN)
		return true;
	*info = saved->info;
	/* Older records are there or not, as they were read or not: no limit is known. */
	info->since = max(info->since, info->from);
	info->from = 0;
	info->nmi = !!*(const u8 *)&saved->info.nmi;
	snap_recall_name(info->comm, sizeof(info->comm));
	snap_recall_name(info->event, sizeof(info->event));
	snap_recall_name(info->filter, sizeof(info->filter));
	if (info->ip)
		info->ip += snap->buf.text_delta;
	return true;
}
