# SPDX-License-Identifier: GPL-2.0
#
# Mutants of the switches that are the same program, as run-mutants names them.
kernel/trace/ring_buffer/control.c: rb_ask: old = atomic_read(&rcpu->state); => ;
	The first exchange fails with what the state is, and the next one takes that; a value that happens to be right is none the worse.
kernel/trace/ring_buffer/control.c: ring_buffer_change_overwrite: WRITE_ONCE(buffer->flags, buffer->flags | RB_FL_OVERWRITE); => WRITE_ONCE(buffer->flags, buffer->order | RB_FL_OVERWRITE);
	RB_FL_OVERWRITE is the only flag there is.
kernel/trace/ring_buffer/control.c: ring_buffer_change_overwrite: WRITE_ONCE(buffer->flags, buffer->flags & ~RB_FL_OVERWRITE); => WRITE_ONCE(buffer->flags, buffer->order & ~RB_FL_OVERWRITE);
	RB_FL_OVERWRITE is the only flag there is.
