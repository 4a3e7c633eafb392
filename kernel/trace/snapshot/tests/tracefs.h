/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace instance for each unit test, and its files in tracefs.
 */
#ifndef _KERNEL_TRACE_SNAPSHOT_TESTS_TRACEFS_H
#define _KERNEL_TRACE_SNAPSHOT_TESTS_TRACEFS_H

#include <kunit/test.h>
#include <linux/fs.h>

#include "../internal.h"

int snap_kunit_init(struct kunit *test);
void snap_kunit_exit(struct kunit *test);

struct file *snap_kunit_open(struct kunit *test, const char *path, int flags);
void snap_kunit_close(struct file *file);
void __user *snap_kunit_user(struct kunit *test, size_t size);
ssize_t snap_kunit_write_file(struct kunit *test, struct file *file, const char *text);
ssize_t snap_kunit_read_file(struct kunit *test, struct file *file, char *buf, size_t size);
ssize_t snap_kunit_write(struct kunit *test, const char *path, const char *text);
const char *snap_kunit_read(struct kunit *test, const char *path);
unsigned int snap_kunit_count(const char *text, const char *part);
void snap_kunit_set(struct kunit *test, const char *path, const char *text);
void snap_kunit_fails(struct kunit *test, const char *path, const char *text, int err,
		      const char *why);
bool snap_kunit_shows(struct kunit *test, const char *path, const char *part);
bool snap_kunit_exists(struct kunit *test, const char *path);

bool snap_kunit_may_fail(struct kunit *test);
void snap_kunit_fail_nth(unsigned int n);
bool snap_kunit_failed(void);

int snap_kunit_init_small(struct kunit *test);
void snap_kunit_echo(struct kunit *test, const char *path, const char *text);
void snap_kunit_refuse(struct kunit *test, const char *path, const char *text, int err);
void snap_kunit_expect(struct kunit *test, const char *want);
unsigned long snap_kunit_kb(struct kunit *test);
unsigned long snap_kunit_full(struct kunit *test);
void snap_kunit_times(struct kunit *test, const char *before, u64 *first, u64 *second);
void snap_kunit_worker(struct trace_array *tr);
void snap_kunit_stop_keeper(struct trace_snapshots *s);
void snap_kunit_mark(struct kunit *test, unsigned int nr);
unsigned int snap_kunit_marks(struct kunit *test, const char *path);
void snap_kunit_kill(bool killed);

void snap_kunit_option(struct kunit *test, const char *name, const char *text);
void snap_kunit_move(void *memory, unsigned long by);

/* The size of memory that survives a reboot, in bytes. */
#define SNAP_KUNIT_RANGE	(64 * PAGE_SIZE)

void *snap_kunit_range(struct kunit *test);
void snap_kunit_boot(struct kunit *test, void *memory, const void *image, bool spare,
		     unsigned int flags);

#endif /* _KERNEL_TRACE_SNAPSHOT_TESTS_TRACEFS_H */
