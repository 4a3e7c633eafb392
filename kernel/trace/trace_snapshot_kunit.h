/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace instance for each unit test, and its files in tracefs.
 */
#ifndef _KERNEL_TRACE_SNAPSHOT_KUNIT_H
#define _KERNEL_TRACE_SNAPSHOT_KUNIT_H

#include <kunit/test.h>
#include <linux/fs.h>

#include "trace_snap.h"

int snap_kunit_init(struct kunit *test);
void snap_kunit_exit(struct kunit *test);

struct file *snap_kunit_open(struct kunit *test, const char *path, int flags);
void snap_kunit_close(struct file *file);
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

#endif /* _KERNEL_TRACE_SNAPSHOT_KUNIT_H */
