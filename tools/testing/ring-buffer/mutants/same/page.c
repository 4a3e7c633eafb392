# SPDX-License-Identifier: GPL-2.0
kernel/trace/ring_buffer/page.c: ring_buffer_alloc_read_page: rp->dirty = 0; => ;
	A new page is zeroed: what follows the records is only cleared again.
kernel/trace/ring_buffer/page.c: rb_page_copy: if (pub & RB_PUB_FINAL && c.end - start <= len) { => if (pub & RB_PUB_FINAL && c.end - start < len) {
	Where the rest of a sub-buffer just fits, the walk along the records ends there as well.
kernel/trace/ring_buffer/page.c: rb_page_copy: records += rb_cursor_skip_plain(&c, start + len); => ;
	The loop takes plain records one by one then, as it takes the others: only slower.
kernel/trace/ring_buffer/page.c: ring_buffer_read_page: if (data_page->dirty > used) => if (data_page->dirty >= used)
	Clears no bytes.
