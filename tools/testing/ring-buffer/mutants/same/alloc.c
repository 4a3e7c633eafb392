# SPDX-License-Identifier: GPL-2.0
#
# Mutants that are the same program, as run-mutants names them, each with the reason:
# no test can tell them from the source as it is.
kernel/trace/ring_buffer/alloc.c: rb_ring_alloc: if (size < PAGE_SIZE) => if (size <= PAGE_SIZE)
	What has the size of a page is rounded up to a page: it stays as it is.
kernel/trace/ring_buffer/alloc.c: rb_ring_init: rb_subbuf_init(rd->sb, seq - 1); => rb_subbuf_init(rd->sb, seq );
	The reader's first sub-buffer comes into a slot for a sequence behind both, and is opened
	then: neither its link nor its publish word is that of what anybody looks for.
