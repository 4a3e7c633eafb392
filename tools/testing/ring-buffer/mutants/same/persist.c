# SPDX-License-Identifier: GPL-2.0
kernel/trace/ring_buffer/persist.c: rb_persist_divide: if (size < head + persist->subbuf_size) => if (size <= head + persist->subbuf_size)
	With nothing left there is no room for a sub-buffer, which is the same error.
kernel/trace/ring_buffer/persist.c: rb_persist_place: if (WARN_ON_ONCE(index >= persist->nr_subbufs)) => if (WARN_ON_ONCE(index > persist->nr_subbufs))
	A ring has nr_subbufs - 1 slots, and one more is the reader's: no index is that high.
kernel/trace/ring_buffer/persist.c: rb_persist_place: return; => ;
	The same: it cannot be reached.
kernel/trace/ring_buffer/persist.c: rb_persist_len: if (!rec->type_len && (left < RB_RECORD_HDR + sizeof(rec->array[0]) || => if (!rec->type_len && (left <= RB_RECORD_HDR + sizeof(rec->array[0]) ||
	What fits behind such a length is small, or does not fit: both are refused.
kernel/trace/ring_buffer/persist.c: rb_persist_cmp: return x->seq < y->seq ? 1 : -1; => return x->seq <= y->seq ? 1 : -1;
	They differ here.
kernel/trace/ring_buffer/persist.c: rb_persist_cmp: return x->header < y->header ? -1 : x->header > y->header; => return x->header <= y->header ? -1 : x->header > y->header;
	Each part has its own header.
kernel/trace/ring_buffer/persist.c: rb_persist_cmp: return x->header < y->header ? -1 : x->header > y->header; => return x->header < y->header ? -1 : x->header >= y->header;
	Each part has its own header.
