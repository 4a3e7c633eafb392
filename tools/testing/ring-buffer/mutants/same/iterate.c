# SPDX-License-Identifier: GPL-2.0
#
# See alloc.c.
kernel/trace/ring_buffer/iterate.c: rb_iter_num: return (s64)(iter->from - iter->num) > 0 ? iter->from : iter->num; => return (s64)(iter->from - iter->num) >= 0 ? iter->from : iter->num;
	Where both are the same number, either one is the result.
kernel/trace/ring_buffer/iterate.c: rb_iter_load_locked: if ((s64)(rd->seq - iter->seq) > 0 || (s64)(rd->num - iter->num) > 0) { => if ((s64)(rd->seq - iter->seq) > 0 || (s64)(rd->num - iter->num) >= 0) {
	Where the reader is at the same record, its position leads to the same record, at the
	same time, and no loss is in front of it that the iterator has not met.
kernel/trace/ring_buffer/iterate.c: rb_iter_peek: if (dump && !rb_cursor_valid(&c, rec)) { => if (1 && !rb_cursor_valid(&c, rec)) {
	A copy that was checked against its slot has valid records only.
