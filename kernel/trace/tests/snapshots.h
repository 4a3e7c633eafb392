/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The snapshots of the instance of a unit test, and its memory that survives a reboot.
 */
#ifndef _KERNEL_TRACE_TESTS_SNAPSHOTS_H
#define _KERNEL_TRACE_TESTS_SNAPSHOTS_H

#include "../snapshot/internal.h"
#include "tracefs.h"

void snap_kunit_expect(struct kunit *test, const char *want);
unsigned long snap_kunit_kb(struct kunit *test);
unsigned long snap_kunit_full(struct kunit *test);
void snap_kunit_times(struct kunit *test, const char *before, u64 *first, u64 *second);
void snap_kunit_worker(struct trace_array *tr);
void snap_kunit_stop_keeper(struct trace_snapshots *s);

/* The size of memory that survives a reboot, in bytes. */
#define SNAP_KUNIT_RANGE	(64 * PAGE_SIZE)

void *snap_kunit_range(struct kunit *test);
void snap_kunit_move(void *memory, unsigned long by);
void snap_kunit_boot(struct kunit *test, void *memory, const void *image, bool spare,
		     unsigned int flags);

#endif /* _KERNEL_TRACE_TESTS_SNAPSHOTS_H */
