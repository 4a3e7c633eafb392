# SPDX-License-Identifier: GPL-2.0
kernel/trace/trace_snapshot_keep.c: snap_keep_surplus: return keep.first || have <= keep.nr ? 0 : have - keep.nr; => return keep.first || have < keep.nr ? 0 : have - keep.nr;
	Where as many are kept as shall be, the difference is 0.
kernel/trace/trace_snapshot_keep.c: snap_keep_room: return have < keep.nr ? min(keep.nr - have, INT_MAX) : 0; => return have <= keep.nr ? min(keep.nr - have, INT_MAX) : 0;
	Where as many are kept as shall be, the difference is 0.
kernel/trace/trace_snapshot_keep.c: snap_make_room: unsigned long room = s->limit_kb > s->kb ? s->limit_kb - s->kb : 0; => unsigned long room = s->limit_kb >= s->kb ? s->limit_kb - s->kb : 0;
	Where the limit is reached, the difference is 0.
