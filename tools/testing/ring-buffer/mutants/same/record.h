# SPDX-License-Identifier: GPL-2.0
#
# Mutants of the records' format that are the same program, as run-mutants names them.
kernel/trace/ring_buffer/record.h: rb_cursor_skip_plain: if (c->pos + RB_RECORD_HDR > c->end) => if (c->pos + RB_RECORD_HDR >= c->end)
	With room for a header only, nothing is skipped either way: a record ends beyond it.
kernel/trace/ring_buffer/record.h: rb_cursor_skip_plain: OPTIMIZER_HIDE_VAR(step); => ;
	Only slower: the compiler then steps by the length that it has just loaded.
