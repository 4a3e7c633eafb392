# SPDX-License-Identifier: GPL-2.0
kernel/trace/trace_snapshot_kept.c: snap_alloc_array: tr->array_buffer.tr = tr; => ;
	It is for who has a snapshot's buffer; nothing looks for the owner of a live one there.
