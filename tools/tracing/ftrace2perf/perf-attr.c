// SPDX-License-Identifier: GPL-2.0
/*
 * The attributes of a perf.data: struct perf_event_attr, up to its clockid. All versions of perf
 * since Linux 4.1 know this part, and refuse a file with a larger one than theirs.
 */
#include <assert.h>
#include <linux/perf_event.h>

#include "ftrace2perf.h"

static_assert(ATTR_SIZE == PERF_ATTR_SIZE_VER3, "a part that perf knows");

/* Fields of a bit, by their number */
enum {
	MMAP		= 8,
	COMM		= 9,
	SAMPLE_ID_ALL	= 18,
	USE_CLOCKID	= 25,
};

/**
 * put_attr() - write an attribute
 * @out:   where to
 * @attrs: all of them
 * @i:     place of this one
 */
void put_attr(struct out *out, const struct attrs *attrs, int i)
{
	const struct attr *attr = &attrs->all[i];
	uint64_t bits = 1ULL << SAMPLE_ID_ALL;

	/* Records that are no samples belong to the first one. */
	if (!i)
		bits |= 1ULL << MMAP | 1ULL << COMM;
	if (attrs->clock >= 0)
		bits |= 1ULL << USE_CLOCKID;
	put_u32(out, attr->type);
	put_u32(out, ATTR_SIZE);
	put_u64(out, attr->config);
	put_u64(out, attr->period);
	put_u64(out, attr->sample_type);
	put_u64(out, 0);	/* read_format */
	put_bits(out, bits);
	put_u32(out, 0);	/* wakeup_events */
	put_u32(out, 0);	/* bp_type */
	put_u64(out, 0);	/* config1 */
	put_u64(out, 0);	/* config2 */
	put_u64(out, 0);	/* branch_sample_type */
	put_u64(out, 0);	/* sample_regs_user */
	put_u32(out, 0);	/* sample_stack_user */
	put_u32(out, attrs->clock >= 0 ? attrs->clock : 0);
}
