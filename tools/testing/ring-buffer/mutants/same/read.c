# SPDX-License-Identifier: GPL-2.0
kernel/trace/ring_buffer/read.c: rb_copy_out: if (len > 128) => if (!(len > 128))
	Both ways copy the same bytes; the loop is faster for short records.
kernel/trace/ring_buffer/read.c: rb_copy_out: if (len > 128) => if (len >= 128)
	Both ways copy the same bytes; the loop is faster for short records.
kernel/trace/ring_buffer/read.c: rb_read_lock: __release(&ring->lock); /* sparse does not follow it to the caller */ => ; /* sparse does not follow it to the caller */
	Only sparse looks at it: it is no code.
kernel/trace/ring_buffer/read.c: rb_read_trylock: __release(&ring->lock); => ;
	Only sparse looks at it: it is no code.
kernel/trace/ring_buffer/read.c: rb_read_unlock: __acquire(&ring->lock); => ;
	Only sparse looks at it: it is no code.
