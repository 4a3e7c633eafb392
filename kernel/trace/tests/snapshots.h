/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The snapshots of the instance of a unit test, and its memory that survives a reboot.
 */
#ifndef _KERNEL_TRACE_TESTS_SNAPSHOTS_H
#define _KERNEL_TRACE_TESTS_SNAPSHOTS_H

#include "../snapshot/internal.h"
#include "tracefs.h"

/* The snapshots of the instance */
static inline struct trace_snapshots *snap_kunit(struct kunit *test)
{
	return ((struct trace_array *)test->priv)->snapshots;
}

void snap_kunit_expect(struct kunit *test, const char *want);
unsigned long snap_kunit_kb(struct kunit *test);
unsigned long snap_kunit_full(struct kunit *test);
void snap_kunit_limit(struct kunit *test, unsigned long kb);
void snap_kunit_lose(struct trace_snapshots *s, bool all);
void snap_kunit_times(struct kunit *test, const char *before, u64 *first, u64 *second);
const char *snap_kunit_line(struct kunit *test);
void snap_kunit_begins(struct kunit *test, const char *want);
void snap_kunit_worker(struct trace_array *tr);
void snap_kunit_take(struct kunit *test);
void snap_kunit_begin_change(struct kunit *test, size_t size, int want);
void snap_kunit_wait(struct kunit *test);
void snap_kunit_die(struct kunit *test, struct trace_array *tr);
void snap_kunit_fill(struct kunit *test);
void snap_kunit_stop_keeper(struct trace_snapshots *s);

/* The size of memory that survives a reboot, in bytes. */
#define SNAP_KUNIT_RANGE	(64 * PAGE_SIZE)

void *snap_kunit_range(struct kunit *test);
void snap_kunit_move(void *memory, unsigned long by);
void snap_kunit_boot(struct kunit *test, void *memory, const void *image, bool spare,
		     unsigned int flags);

#endif /* _KERNEL_TRACE_TESTS_SNAPSHOTS_H */
