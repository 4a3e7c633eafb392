# SPDX-License-Identifier: GPL-2.0
#
# Mutants that are the same program; see alloc.c.
kernel/trace/trace_snapshot_delay.c: snap_due_timer: next = READ_ONCE(s->changing) ? SNAP_LOOK_NS : SNAP_RETRY_NS; => next = !(READ_ONCE(s->changing)) ? SNAP_LOOK_NS : SNAP_RETRY_NS;
	Only how often it is tried again depends on it.
kernel/trace/trace_snapshot_delay.c: snap_due_timer: next = READ_ONCE(s->changing) ? SNAP_LOOK_NS : SNAP_RETRY_NS; => next = READ_ONCE(s->starved) ? SNAP_LOOK_NS : SNAP_RETRY_NS;
	Only how often it is tried again depends on it.
