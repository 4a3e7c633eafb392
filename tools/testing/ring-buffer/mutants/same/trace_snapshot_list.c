# SPDX-License-Identifier: GPL-2.0
kernel/trace/trace_snapshot_list.c: snap_show_last: kcsan_disable_current(); => ;
	Only a kernel with KCSAN does something there, and only in its reports.
kernel/trace/trace_snapshot_list.c: snap_show_last: kcsan_enable_current(); => ;
	Only a kernel with KCSAN does something there, and only in its reports.
