/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace instance for each unit test, and its files in tracefs.
 */
#ifndef _KERNEL_TRACE_TESTS_TRACEFS_H
#define _KERNEL_TRACE_TESTS_TRACEFS_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/mutex.h>

int tfs_init(struct kunit *test);
int tfs_init_small(struct kunit *test);
void tfs_exit(struct kunit *test);

struct trace_array;
struct trace_event_file;

struct trace_array *tfs_add(struct kunit *test, const char *name, const char *systems,
			    const char *kb);
void tfs_remove(struct kunit *test, struct trace_array *tr);
void tfs_unexpand(struct kunit *test, struct trace_array *tr);
struct trace_event_file *tfs_marker_event(struct kunit *test);

struct file *tfs_try_open(struct kunit *test, const char *path, int flags);
struct file *tfs_open(struct kunit *test, const char *path, int flags);
void tfs_close(struct file *file);
void tfs_empty(struct kunit *test, const char *path);
void *tfs_zalloc(struct kunit *test, size_t size);
const char *tfs_text(struct kunit *test, const char *fmt, ...) __printf(2, 3);
void __user *tfs_user(struct kunit *test, size_t size);
ssize_t tfs_write_file(struct kunit *test, struct file *file, const char *text);
ssize_t tfs_read_file(struct kunit *test, struct file *file, char *buf, size_t size);
ssize_t tfs_write(struct kunit *test, const char *path, const char *text);
const char *tfs_read(struct kunit *test, const char *path);
unsigned int tfs_count(const char *text, const char *part);
void tfs_set(struct kunit *test, const char *path, const char *text);
void tfs_refuse(struct kunit *test, const char *path, const char *text, int err);
void tfs_fails(struct kunit *test, const char *path, const char *text, int err, const char *why);
void tfs_expect(struct kunit *test, const char *path, const char *text);
void tfs_expect_in(struct kunit *test, const char *path, const char *part);
void tfs_expect_not_in(struct kunit *test, const char *path, const char *part);
bool tfs_exists(struct kunit *test, const char *path);
void tfs_mark(struct kunit *test, unsigned int nr);
unsigned int tfs_marks(struct kunit *test, const char *path);

bool tfs_may_fail(struct kunit *test);
void tfs_need_failures(struct kunit *test);
void tfs_fail_nth(unsigned int n);
bool tfs_failed(void);
void tfs_kill(bool killed);
void tfs_option(struct kunit *test, const char *name, const char *text);

/* Does a task sleep until it gets the mutex? The bit is MUTEX_FLAG_WAITERS of kernel/locking/. */
static inline bool tfs_has_waiter(const struct mutex *mutex)
{
	return atomic_long_read(&mutex->owner) & 1;
}

/* Wait until a worker has made the condition true, for a minute at most. */
#define tfs_wait(test, what)							\
	do {									\
		unsigned int tries = 0;						\
		bool done;							\
										\
		while (!(done = (what)) && tries++ < 3000)			\
			msleep(20);						\
		KUNIT_EXPECT_TRUE(test, done);					\
	} while (0)

#endif /* _KERNEL_TRACE_TESTS_TRACEFS_H */
