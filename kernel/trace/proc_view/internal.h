/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/PID/trace: types and functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   stamp.c    since when a task has its PID, program and credentials, and records are cleared
 *   user.c     limits of each user
 *   group.c    the threads of a group, and whether the reader may see them
 *   store.c    records that were copied, in the order of time
 *   view.c     which instances are shown
 *   member.c   the instances that one open file shows: one, and its channels
 *   collect.c  copy the records of a group out of them, in a worker
 *   text.c     a record as a line of text, and the lines of losses
 *   raw.c      a record as it was recorded, and a trace.dat of all
 *   open.c     the open file in /proc/PID/trace
 *   file.c     the file "proc_view"
 */
#ifndef _KERNEL_TRACE_PROC_VIEW_INTERNAL_H
#define _KERNEL_TRACE_PROC_VIEW_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_stamp.h>
#include <linux/trace_view.h>

#include "../trace.h"
#include "../trace_job.h"

/**
 * DOC: /proc/PID/trace
 *
 * An open file is a copy that never changes: the records of the threads of one group, as they
 * were when it was opened. So each offset has the same bytes, and an open file holds nothing of
 * an instance. A session has its own records, and those of its channels.
 *
 * **A record belongs to a thread** if it was written in the context of a task, and its time is
 * in (since, until]. *Until* is read first. Then the threads are walked; each has a PID, and
 * *since*, its stamp: the time of its fork, of its last exec, or of the last change of its
 * credentials; or that of the view, if that is later. A thread that is alive in the walk has had
 * its PID since then, and the credentials for which the access was checked. So a record of an
 * earlier owner of the PID, or of an earlier program or user, is never taken.
 *
 * **The key** trace_view_used is on while an instance is shown, and while a file is open. While it
 * is off, neither of these is done:
 *
 * - Each record, in any instance, is cleared before its writer gets it. A writer leaves some bytes
 *   as they are: between fields, behind a short string, and at the end. They would be those of an
 *   older record, of any task.
 * - A task is stamped. Without that it has an older stamp, or that of its parent.
 *
 * &trace_view.since is taken one grace period after the key was switched on for the view. Each
 * writer that has not seen the key has committed then, and each task that has not seen it has
 * changed its credentials. A record is shown only if it is newer than that, so none from before
 * "proc_view" was set; and a stamp counts only if it is newer, too. An open file has the key on,
 * since it compares stamps. (A task without a stamp is no harm if its PID appears later: the PID
 * was free, or was that of a thread that has exited, since before the key was looked at.)
 *
 * **Checks.** open() checks lockdown, CAP_PERFMON, and ptrace_may_access() of the group leader;
 * threads that the reader may not access are left out. Each copy to user space, a page at most,
 * checks the same again for the caller, and for each thread with records, under
 * exec_update_lock, without page faults. It fails with -ESRCH once the leader has exited, or one
 * of the threads has a new stamp: it has executed a program, or has changed its credentials. The
 * file has a reference to each of these threads, so it also has the stamp of one that has exited.
 *
 * =========  =================================================================
 * view       what holds
 * =========  =================================================================
 * hidden     Each instance has a view, &trace_array.view, with a reference.
 * shown      The list of views has it, too.
 * removed    No list has the view, and &trace_view.tr is NULL. Copies stay
 *	      readable.
 * =========  =================================================================
 *
 * **Slow readers.** A reader may be throttled by cpu.max, or have the policy SCHED_IDLE. So it
 * takes none of the locks that changes of tracing take: view_run() has a worker find the members,
 * copy the records, and print the formats of events. The reader waits, and can be killed; then the
 * worker ends at the next record, or at once if it waits for one of the locks. The reader itself
 * checks the rights, allocates what it keeps, sorts, and copies to user space. Both take view_lock,
 * a spinlock.
 *
 * **Memory.** The memory that a reader keeps is charged to its cgroup. If that is at memory.high,
 * each allocation sleeps for seconds. So it is made without a lock that others wait for, also
 * without &trace_view.sem: trace_may_charge() checks that. A worker that has no room for the next
 * record releases all, the reader allocates more, and begins again. Under the locks there are only
 * bounded allocations, which are charged to no cgroup and are soon freed.
 *
 * A worker that collects has &trace_view.sem of one instance after the other for reading, and no
 * reference to an instance. These changes take it for writing: a removal of the instance or of its
 * rings, a new clock or size of sub-buffers. The worker sees that the lock is contended, releases
 * it at the next record, and the reader begins again, or fails.
 *
 * Two changes do not wait, but are counted; the worker compares the count, and the reader begins
 * again:
 *
 * - A removal of an event, which holds trace_event_sem. The worker compares under trace_event_sem,
 *   for each record, since the number of the event may be used again.
 * - A snapshot, which moves the records of all CPUs away, also those that are not copied yet. The
 *   worker compares behind the last CPU of an instance.
 *
 * **Locks**, outermost first: event_mutex (only to finish a trace.dat), trace_types_lock (also to
 * find the channels), &trace_view.sem, trace_event_sem, the locks of tracing's readers and
 * snapshots: of these, a worker takes all, and a reader none. Innermost are view_lock, which
 * protects the list of views, and view_user_mutex, which protects that of users. &view_user.busy is
 * outside of all. exec_update_lock is taken with none of them held but &view_user.busy.
 *
 * **Barriers.** trace_stamp_task:A orders a stamp before the PID or the credentials that are
 * published behind it; view_thread_read:A and view_thread_check:A read them in the other order.
 * Both pairs have a test in Documentation/litmus-tests/tracing/.
 */

/* Bytes that the records of a copy have at most; lines of losses may come on top */
#define VIEW_LIMIT		(2UL << 20)
/* Open files of a user in a memory cgroup, at most */
#define VIEW_FILES		32

/**
 * struct view_user - a user with open files, in a memory cgroup
 * @list:  link of all users
 * @uid:   the user
 * @memcg: the cgroup, with a reference; NULL if there are none
 * @files: number of open files; view_user_mutex
 * @busy:  one file at a time is filled
 */
struct view_user {
	struct list_head	list;
	kuid_t			uid;
	struct mem_cgroup	*memcg;
	unsigned int		files;
	struct mutex		busy;		/* opens */
};

/**
 * struct view_thread - a thread as it was when a file was opened
 * @task:  the thread, with a reference; NULL if it has no records in the copy
 * @nr:    its PID in records
 * @vnr:   its PID in the namespace of the reader
 * @since: its stamp in the clock of the instance
 * @used:  it has records in the copy that is left, or is the leader
 * @comm:  its name
 */
struct view_thread {
	struct task_struct *task;
	pid_t		nr;
	pid_t		vnr;
	u64		since;
	bool		used;
	char		comm[TASK_COMM_LEN];
};

/**
 * struct view_group - a thread group as it was when a file was opened
 * @leader: its leader, with a reference
 * @vnr:    PID of the group in the namespace of the reader
 * @clock:  clock of the times
 * @from:   only later records are shown
 * @until:  no later record is shown
 * @nr:     number of @thread
 * @thread: the threads, by &view_thread.nr
 */
struct view_group {
	struct task_struct	*leader;
	pid_t			vnr;
	enum trace_stamp_clock	clock;
	u64			from;
	u64			until;
	unsigned int		nr;
	struct view_thread	*thread;
};

/**
 * struct view_store - records that were copied
 * @limit:   bytes that view_store_settle() leaves, at most
 * @data:    the bytes
 * @used:    bytes of @data that are used
 * @size:    bytes of @data that are allocated
 * @entry:   the records
 * @nr:      number of @entry
 * @room:    number of @entry that are allocated
 * @missed:  a bit for each CPU of each member: the last record of it was dropped
 * @full_of_bytes: @data has no room for the record that was refused, rather than @entry
 * @dropped: number of records that were dropped: by the limit, or as they cannot be shown
 * @floor:   earlier records are dropped
 */
struct view_store {
	size_t			limit;
	char			*data;
	size_t			used;
	size_t			size;
	struct trace_dat_record	*entry;
	unsigned int		nr;
	unsigned int		room;
	unsigned long		*missed;
	bool			full_of_bytes;
	unsigned long		dropped;
	u64			floor;
};

/**
 * struct trace_view - an instance that is shown, or can be
 * @list:  link of all views that are shown
 * @ref:   references
 * @sem:   a reader copies, or a writer changes the instance
 * @tr:    the instance; NULL if it is removed. trace_types_lock and @sem to set it
 * @epoch: number of changes
 * @shown: it is in the list; trace_types_lock and view_lock to set it
 * @since: its records are cleared since this time; view_lock
 * @len:   length of @name
 * @name:  of the instance
 */
struct trace_view {
	struct list_head	list;
	refcount_t		ref;
	struct rw_semaphore	sem;
	struct trace_array	*tr;
	atomic_t		epoch;
	bool			shown;
	struct trace_stamp	since;
	unsigned int		len;
	char			name[];
};

/**
 * struct view_member - an instance that is copied from
 * @view:  its view, with a reference
 * @epoch: of the view when the copy began
 * @moves: how often its records had been moved to snapshots then
 */
struct view_member {
	struct trace_view	*view;
	int			epoch;
	unsigned int		moves;
};

/**
 * struct view_copy - what one open file copies
 * @view:  the instance
 * @since: of the view when it was found
 * @nr:    number of @member
 * @member: the instance, and its channels
 * @source: number of the member that is copied from
 * @group: the threads
 * @store: the records
 * @gaps:  number of places where writers have overwritten records before they were copied
 * @iter:  prints records; its &trace_iterator.temp holds the one that is copied, and
 *	   &trace_iterator.lost_events tells whether some are missing in front of that
 * @cpu:   the CPU that has written the record of @iter
 * @job:   a worker does a part
 * @part:  this part
 * @take:  stores the record of @iter, of a thread; 0, -ENOENT if it cannot be shown, or -ENOBUFS as
 *	   view_store_add()
 * @finish: makes the file of the records: @dat, or lines of losses in @store; settles @group.
 *	   -EAGAIN to copy again
 * @dat:   the records as a trace.dat
 */
struct view_copy {
	struct trace_view	*view;
	struct trace_stamp	since;
	unsigned int		nr;
	struct view_member	*member;
	unsigned int		source;
	struct view_group	group;
	struct view_store	store;
	unsigned long		gaps;
	struct trace_iterator	*iter;
	int			cpu;
	struct trace_job	job;
	int			(*part)(struct view_copy *copy);
	int			(*take)(struct view_copy *copy, struct view_thread *thread);
	int			(*finish)(struct view_copy *copy);
	struct trace_dat_copy	dat;
};

/* stamp.c */
void trace_stamp_take(struct trace_stamp *stamp);
int trace_stamp_clock(struct trace_array *tr);
u64 trace_stamp_now(enum trace_stamp_clock clock);
u64 trace_stamp_at(const struct trace_stamp *stamp, enum trace_stamp_clock clock);

/* user.c */
struct view_user *view_user_get(void);
void view_user_put(struct view_user *user);

/* group.c */
int view_group_get(struct view_group *group, struct pid *pid, struct pid_namespace *ns,
		   enum trace_stamp_clock clock);
void view_group_settle(struct view_group *group, const struct trace_dat_record *record,
		       unsigned int nr);
void view_group_put(struct view_group *group);
struct view_thread *view_group_find(struct view_group *group, const struct trace_entry *entry,
				    u64 ts);
int view_group_copy_out(struct view_group *group, void __user *to, const void *from, size_t len);

/* store.c */
int view_store_grow(struct view_store *store);
int view_store_begin(struct view_store *store, unsigned int members);
void view_store_empty(struct view_store *store);
int view_store_add(struct view_store *store, const struct trace_dat_record *rec, const void *data);
int view_store_settle(struct view_store *store);
void view_store_free(struct view_store *store);

/* view.c */
struct trace_view *view_get(const char *name, unsigned int len, enum trace_view_kind *kind,
			    struct trace_stamp *since);
void view_put(struct trace_view *view);
int view_create(struct trace_array *tr);
bool view_show(struct trace_view *view, bool on);
int view_enter(struct trace_view *view, int epoch);
void view_leave(struct trace_view *view);

/* member.c */
int view_members_get(struct view_copy *copy);
void view_members_put(struct view_copy *copy);
const char *view_channel(const struct view_copy *copy, unsigned int member);
bool view_members_are_same(const struct view_copy *copy);

/* collect.c */
extern void (*view_race_hook)(struct trace_array *tr);
int view_run(struct view_copy *copy, int (*part)(struct view_copy *copy));
int view_collect(struct view_copy *copy, struct pid *pid, struct pid_namespace *ns);

/* text.c */
int view_text_take(struct view_copy *copy, struct view_thread *thread);
int view_text_finish(struct view_copy *copy);

/* raw.c */
int view_raw_take(struct view_copy *copy, struct view_thread *thread);
int view_raw_finish(struct view_copy *copy);

#endif /* _KERNEL_TRACE_PROC_VIEW_INTERNAL_H */
