// SPDX-License-Identifier: GPL-2.0
/*
 * The lines of "snapshots": what was taken, what exists, and what it costs.
 */
#include <linux/kcsan-checks.h>

#include "../trace_text.h"
#include "internal.h"

/*
 * The time of which every CPU has all its records. It ends at the cut, or when recording was
 * switched off before. If there is none, both times are that of the cut.
 */
static void snap_show_complete(struct seq_file *m, struct trace_array *tr, struct trace_snap *snap)
{
	u64 since = max(READ_ONCE(snap->info.since), snap->info.from), begin = snap->info.begin;
	u64 until = min(snap->info.until, begin);
	int cpu;

	for_each_tracing_cpu(cpu)
		since = max(since, ring_buffer_complete_since(snap->buf.buffer, cpu));
	if (since >= until) {
		since = begin;
		until = begin;
	}
	trace_print_time(m, tr, " complete=", since);
	trace_print_time(m, tr, "..", until);
}

static void snap_show_cpus(struct seq_file *m, const char *name, struct trace_snap *snap,
			   unsigned long (*count)(struct trace_buffer *buffer, int cpu))
{
	char before = '=';
	int cpu;

	seq_printf(m, " %s", name);
	for_each_tracing_cpu(cpu) {
		seq_printf(m, "%c%lu", before, count(snap->buf.buffer, cpu));
		before = ',';
	}
}

/* Older records are counted when they are dropped. The CPUs may be of several cuts. */
static bool snap_has_left_out(struct trace_snap *snap)
{
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (ring_buffer_older_cpu(snap->buf.buffer, cpu))
			return true;
	}
	return false;
}

/* Sub-buffers with records, in KiB. */
static unsigned long snap_used_kb(struct trace_snap *snap)
{
	unsigned long kb = ring_buffer_subbuf_size_get(snap->buf.buffer) / 1024, sum = 0;
	int cpu;

	for_each_tracing_cpu(cpu) {
		/* One more is not full. */
		if (ring_buffer_entries_cpu(snap->buf.buffer, cpu))
			sum += (ring_buffer_nr_dirty_pages(snap->buf.buffer, cpu) + 1) * kb;
	}
	return sum;
}

/**
 * snap_show() - print the line of a snapshot
 * @m:    the file
 * @tr:   the trace array, for the clock
 * @snap: the snapshot
 *
 * Context: May sleep.
 */
void snap_show(struct seq_file *m, struct trace_array *tr, struct trace_snap *snap)
{
	const struct snap_info *info = &snap->info;

	seq_printf(m, "%llu by=%s", snap->seq, snap_by_names[info->by]);
	if (info->event[0])
		seq_printf(m, ":%s", info->event);
	if (info->ip)
		seq_printf(m, ":%ps", (void *)info->ip);
	seq_printf(m, "%s cpu=%d pid=%d", info->nmi ? ",nmi" : "", info->cpu, info->pid);
	if (info->asked)
		trace_print_time(m, tr, " asked=", info->asked);
	if (snap->last_boot)
		seq_puts(m, " boot=last");
	trace_print_time(m, tr, " cut=", info->begin);
	trace_print_time(m, tr, "..", info->end);
	snap_show_complete(m, tr, snap);
	snap_show_clocks(m, tr, " clocks=", &info->clocks[0]);
	snap_show_clocks(m, tr, " clocks_before=", &info->clocks[1]);
	snap_show_cpus(m, "records", snap, ring_buffer_entries_cpu);
	snap_show_cpus(m, "lost", snap, trace_lost);
	if (info->from)
		trace_print_time(m, tr, " from=", info->from);
	if (snap_has_left_out(snap))
		snap_show_cpus(m, "left_out", snap, ring_buffer_older_cpu);
	seq_printf(m, " kb=%lu memory_kb=%lu", snap_used_kb(snap), snap->kb);
	if (snap->kept)
		seq_printf(m, " instance=%s", snap->kept->name);
	if (info->filter[0]) {
		seq_puts(m, " if=");
		seq_escape(m, info->filter, "\n\\");
	}
	/* A program can set its name to anything. */
	seq_puts(m, " comm=");
	seq_escape(m, info->comm, "\n\\");
	seq_putc(m, '\n');
}

/**
 * snap_show_part() - print the line of a channel's part of a snapshot
 * @m:    the file
 * @part: the instance of the part
 *
 * Context: May sleep, trace_types_lock is held.
 */
void snap_show_part(struct seq_file *m, struct trace_array *part)
{
	trace_show_channel(m, part, false, snap_used_kb(part->shows));
}

/*
 * Print the newest snapshot, and before it @was, which was the newest one when the lists were
 * printed without it, if it is in one of them. A reader would keep the buffer from the next
 * snapshot, so this is no reader. Return: false if the buffer was used meanwhile: it has to be
 * printed again. It cannot be freed.
 */
static bool snap_show_last(struct seq_file *m, struct trace_snapshots *s, struct trace_snap *was)
{
	struct trace_snap *last;
	u64 seq;

	seq = READ_ONCE(s->user.seq);
	/* Pairs with snap_finish:A: the snapshot of this number is complete. */
	smp_rmb(); /* RBB(snap_show_last:A) */
	last = READ_ONCE(s->user.last);
	/* A line that was read while the snapshot changed is dropped. */
	kcsan_disable_current();
	if (was && was != last && was->kept)
		snap_show(m, was->kept, was);
	if (last)
		snap_show(m, last->kept ?: s->tr, last);
	kcsan_enable_current();
	/* Pairs with snap_lock:A: locked before it changes. */
	smp_rmb(); /* RBB(snap_show_last:B) */
	/* Pairs with snap_unlock:A, for the number. RBB(snap_show_last:C) */
	return !atomic_read_acquire(&s->owner) && READ_ONCE(s->user.seq) == seq;
}

/* Requests wait for this one, so it does not wait for a CPU. */
static bool
snap_show_last_first(struct seq_file *m, struct trace_snapshots *s, struct trace_snap *was)
{
	bool ret;

	guard(preempt)();
	snap_first_begin(s);
	ret = snap_show_last(m, s, was);
	snap_first_end(s);
	return ret;
}

static void
snap_show_newest(struct seq_file *m, struct trace_snapshots *s, struct trace_snap *was)
{
	size_t before = m->count;
	bool shown = false;
	int tries;

	for (tries = 0; !shown && tries < 100; tries++) {
		m->count = before;
		if (tries < 10)
			shown = snap_show_last(m, s, was);
		else
			shown = snap_show_last_first(m, s, was);
	}
	if (shown)
		return;
	m->count = before;
	seq_puts(m, "# snapshots come too fast to be listed\n");
}

/**
 * snap_show_all() - print what was taken and refused, and the snapshots that exist
 * @m: the file
 * @s: the snapshots of a trace array
 *
 * Context: May sleep, trace_types_lock and &trace_snapshots.mutex are held.
 */
void snap_show_all(struct seq_file *m, struct trace_snapshots *s)
{
	struct trace_snap *last = READ_ONCE(s->user.last), *snap;

	lockdep_assert_held(&trace_types_lock);
	lockdep_assert_held(&s->mutex);
	seq_printf(m, "# taken: %llu\n", READ_ONCE(s->user.seq));
	seq_printf(m, "# merged into another: %ld\n", atomic_long_read(&s->count.merged));
	seq_printf(m, "# refused, no buffer was ready: %ld\n",
		   atomic_long_read(&s->count.no_spare));
	seq_printf(m, "# refused, something was in the way: %ld\n",
		   atomic_long_read(&s->count.refused));
	seq_printf(m, "# refused, enough are kept: %ld\n", atomic_long_read(&s->count.enough));
	seq_printf(m, "# refused, too late for another: %ld\n", atomic_long_read(&s->count.late));
	seq_printf(m, "# refused, recording was off: %ld\n", atomic_long_read(&s->count.off));
	seq_printf(m, "# could not be kept: %ld\n", atomic_long_read(&s->count.unkept));
	seq_printf(m, "# memory, in KiB: %lu\n", s->memory.kb);
	list_for_each_entry(snap, &s->keeper.kept, node) {
		if (snap != last)
			snap_show(m, snap->kept, snap);
	}
	list_for_each_entry(snap, &s->keeper.parts, node) {
		if (snap != last)
			snap_show(m, snap->kept, snap);
	}
	list_for_each_entry(snap, &s->keeper.owned, node) {
		if (snap != last)
			snap_show(m, snap->kept, snap);
	}
	snap_show_newest(m, s, last);
}
