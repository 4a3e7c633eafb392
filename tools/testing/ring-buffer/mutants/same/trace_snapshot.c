# SPDX-License-Identifier: GPL-2.0
#
# Mutants that are the same program; see alloc.c.
kernel/trace/trace_snapshot.c: snap_add_spare: snap_discard(s, snap); => ;
	There was no spare buffer: only the holder of the mutex adds one, or a taker that has used one.
kernel/trace/trace_snapshot.c: snap_settle_next: snap_discard(s, spare); => ;
	The same: a taker that finds none leaves none.
