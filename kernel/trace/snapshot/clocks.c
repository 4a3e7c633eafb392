// SPDX-License-Identifier: GPL-2.0
/*
 * The time by other clocks at a time of the trace, so that it can be laid beside logs.
 */
#include <linux/irqflags.h>
#include <linux/timekeeping.h>

#include "../trace_text.h"
#include "internal.h"

/* So often the clocks are read at most; reads that are this close together are close enough. */
#define SNAP_CLOCK_TRIES	5
#define SNAP_CLOCK_NS		500

/**
 * trace_read_clocks() - read the clock of a trace and other clocks together
 * @buffer: the buffer, for its clock
 * @clocks: is set to what they show
 *
 * An NMI, or the machine below a guest, may come between: so it is tried again, until it comes no
 * closer, as with a slow clock. In an NMI the other clocks can be some ns off, see
 * ktime_get_mono_fast_ns(). Early in the boot there are none: @clocks->mono is 0.
 *
 * Context: Any context.
 */
void trace_read_clocks(struct trace_buffer *buffer, struct trace_clocks *clocks)
{
	struct trace_clocks now;
	unsigned int i;

	/* The first trace array comes before timekeeping. */
	if (system_state == SYSTEM_BOOTING) {
		*clocks = (struct trace_clocks){ .trace = ring_buffer_time_stamp(buffer) };
		return;
	}
	guard(irqsave)();
	for (i = 0; i < SNAP_CLOCK_TRIES; i++) {
		now.trace = ring_buffer_time_stamp(buffer);
		now.mono = ktime_get_mono_fast_ns();
		now.boot = ktime_get_boot_fast_ns();
		now.real = ktime_get_real_fast_ns();
		now.within = ring_buffer_time_stamp(buffer) - now.trace;
		if (i && now.within >= clocks->within)
			return;
		*clocks = now;
		if (now.within <= SNAP_CLOCK_NS)
			return;
	}
}

static void snap_print_seconds(struct seq_file *m, u64 ns)
{
	u32 rest;

	ns = div_u64_rem(ns, NSEC_PER_SEC, &rest);
	seq_printf(m, ",%llu.%09u", ns, rest);
}

/**
 * snap_show_clocks() - print what the clocks have shown
 * @m:      the file
 * @tr:     the trace array, for the clock of the trace
 * @name:   text in front of it
 * @clocks: the clocks; nothing is printed if they were not read
 *
 * Context: May sleep.
 */
void snap_show_clocks(struct seq_file *m, struct trace_array *tr, const char *name,
		      const struct trace_clocks *clocks)
{
	if (!clocks->mono)
		return;
	trace_print_time(m, tr, name, clocks->trace);
	snap_print_seconds(m, clocks->mono);
	snap_print_seconds(m, clocks->boot);
	snap_print_seconds(m, clocks->real);
	seq_printf(m, ",%llu", clocks->within);
}

/**
 * trace_snapshot_clocks() - tell what the clocks have shown at a kept snapshot
 * @tr: the instance of the snapshot
 *
 * Context: Any context.
 * Return: at the cut, and at the begin of the records, in this order.
 */
const struct trace_clocks *trace_snapshot_clocks(struct trace_array *tr)
{
	return tr->shows->info.clocks;
}
