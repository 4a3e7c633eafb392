// SPDX-License-Identifier: GPL-2.0
/*
 * The threads of a group, and whether the reader may see them.
 */
#include <linux/bsearch.h>
#include <linux/capability.h>
#include <linux/pagemap.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "internal.h"

/* A hard interrupt, a soft one or an NMI has written it, which serves any task. */
#define VIEW_FOREIGN	(TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI)

/*
 * The content is what perf shows of tracepoints with CAP_PERFMON. So a security module decides
 * in the hook that perf calls for these, besides those of ptrace_may_access() and lockdown.
 */
static int view_may_trace(void)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	if (ret)
		return ret;
	if (!perfmon_capable())
		return -EPERM;
#ifdef CONFIG_PERF_EVENTS
	return security_perf_event_open(PERF_SECURITY_TRACEPOINT);
#else
	return 0;
#endif
}

/**
 * trace_view_may() - may the caller see records of a task?
 * @task: the task
 *
 * Context: May sleep.
 * Return: 0; -EPERM without CAP_PERFMON, or if the kernel is locked down; -EACCES if the caller
 *	   may not look at the task, or a security module refuses it.
 */
int trace_view_may(struct task_struct *task)
{
	int ret = view_may_trace();

	if (ret)
		return ret;
	return ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS) ? 0 : -EACCES;
}

/*
 * Read a thread. Return: 0; -EACCES if the caller may not look at it, -ESRCH if it exits.
 *
 * The access is checked first, then the PID is read, and the stamp last: a record that is later
 * than the stamp was written with these credentials, or with later ones.
 */
static int view_thread_read(struct view_thread *thread, struct task_struct *task,
			    struct pid_namespace *ns, enum trace_stamp_clock clock)
{
	bool may = ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS);

	thread->nr = READ_ONCE(task->pid);
	thread->vnr = task_pid_nr_ns(task, ns);
	/* Pairs with trace_stamp_task:A. RBB(view_thread_read:A) */
	smp_rmb();
	thread->since = trace_stamp_at(&task->trace_stamp, clock);
	/* Without its memory, a task that exits is no longer protected by the mode of that. */
	if (READ_ONCE(task->flags) & PF_EXITING || !pid_alive(task))
		return -ESRCH;
	thread->used = task == task->group_leader;
	return may ? 0 : -EACCES;
}

/* Return: 0; an error of the leader; -EAGAIN if there are more threads than @room. */
static int view_group_walk(struct view_group *group, struct pid_namespace *ns, unsigned int room)
{
	struct task_struct *leader = group->leader;
	struct view_thread *thread;
	struct task_struct *task;
	int ret;

	guard(rcu)();
	for_each_thread(leader, task) {
		if (group->nr == room)
			return -EAGAIN;
		thread = &group->thread[group->nr];
		ret = view_thread_read(thread, task, ns, group->clock);
		if (ret && task == leader)
			return ret;
		if (ret)
			continue;
		get_task_comm(thread->comm, task);
		thread->task = get_task_struct(task);
		group->nr++;
	}
	return 0;
}

static int view_thread_cmp(const void *a, const void *b)
{
	const struct view_thread *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static void view_thread_put(struct view_thread *thread)
{
	if (thread->task)
		put_task_struct(thread->task);
	thread->task = NULL;
}

static void view_group_clear(struct view_group *group)
{
	while (group->nr)
		view_thread_put(&group->thread[--group->nr]);
	kvfree(group->thread);
	group->thread = NULL;
}

static int view_group_fill(struct view_group *group, struct pid_namespace *ns)
{
	struct task_struct *leader = group->leader;
	struct rw_semaphore *lock = &leader->signal->exec_update_lock;
	/* Some threads may be created meanwhile. */
	unsigned int room = get_nr_threads(leader) + 8;
	int ret;

	group->thread = kvcalloc(room, sizeof(*group->thread), GFP_KERNEL_ACCOUNT);
	if (!group->thread)
		return -ENOMEM;
	ret = down_read_killable(lock);
	if (ret)
		return ret;
	group->until = trace_stamp_now(group->clock);
	/* The clock is read first: a thread that is seen has not exited before that time. */
	smp_mb();
	ret = view_group_walk(group, ns, room);
	group->vnr = task_tgid_nr_ns(leader, ns);
	up_read(lock);
	return ret;
}

/**
 * view_group_get() - read the threads of a group
 * @group: where they are stored
 * @pid:   identity of any thread of the group
 * @ns:    namespace of the reader
 * @clock: clock of the times
 *
 * Context: May sleep.
 * Return: 0, or an error; in each case view_group_put() has to follow. -ESRCH if the leader has
 *	   exited; -EPERM and -EACCES as trace_view_may(); -EINTR; -ENOMEM.
 */
int view_group_get(struct view_group *group, struct pid *pid, struct pid_namespace *ns,
		   enum trace_stamp_clock clock)
{
	struct task_struct *task;
	int ret;

	*group = (struct view_group){ .clock = clock };
	scoped_guard(rcu) {
		task = pid_task(pid, PIDTYPE_PID);
		group->leader = task ? get_pid_task(task_tgid(task), PIDTYPE_TGID) : NULL;
	}
	if (!group->leader)
		return -ESRCH;
	ret = view_may_trace();
	while (!ret) {
		ret = view_group_fill(group, ns);
		if (ret != -EAGAIN)
			break;
		view_group_clear(group);
		ret = fatal_signal_pending(current) ? -EINTR : 0;
	}
	if (!ret)
		sort(group->thread, group->nr, sizeof(*group->thread), view_thread_cmp, NULL);
	return ret;
}

/**
 * view_group_settle() - release the threads that have no records in the file
 * @group:  the threads
 * @record: the records of the file
 * @nr:     number of @record
 *
 * Nothing more is copied. A thread with records stays, as a task without its stack, also when it
 * has exited: so it can be seen what it did until then.
 *
 * Context: May sleep.
 */
void view_group_settle(struct view_group *group, const struct trace_dat_record *record,
		       unsigned int nr)
{
	unsigned int i;

	while (nr--)
		group->thread[record[nr].owner].used = true;
	for (i = 0; i < group->nr; i++) {
		if (!group->thread[i].used)
			view_thread_put(&group->thread[i]);
	}
}

/**
 * view_group_put() - end view_group_get()
 * @group: the threads
 *
 * Context: May sleep.
 */
void view_group_put(struct view_group *group)
{
	view_group_clear(group);
	if (group->leader)
		put_task_struct(group->leader);
	group->leader = NULL;
}

/**
 * view_group_find() - find the thread of a record
 * @group: the threads
 * @entry: the record
 * @ts:    its time
 *
 * Context: Any context.
 * Return: the thread; NULL if the record belongs to none.
 */
struct view_thread *view_group_find(struct view_group *group, const struct trace_entry *entry,
				    u64 ts)
{
	struct view_thread key = { .nr = entry->pid }, *thread;

	if (entry->flags & VIEW_FOREIGN)
		return NULL;
	thread = bsearch(&key, group->thread, group->nr, sizeof(key), view_thread_cmp);
	if (!thread || ts <= max(thread->since, group->from) || ts > group->until)
		return NULL;
	return thread;
}

/*
 * Is a thread still as it was, and may the caller still look at it? One that has exited is as it
 * was until then. It has no memory, but the leader has the same, with its mode.
 */
static int view_thread_check(struct view_thread *thread, enum trace_stamp_clock clock)
{
	bool may = ptrace_may_access(thread->task, PTRACE_MODE_READ_FSCREDS);

	/* Pairs with trace_stamp_task:A. RBB(view_thread_check:A) */
	smp_rmb();
	if (trace_stamp_at(&thread->task->trace_stamp, clock) != thread->since)
		return -ESRCH;
	return may ? 0 : -EACCES;
}

static int view_group_check(struct view_group *group)
{
	unsigned int i;
	int ret = 0;

	guard(rcu)();
	if (!pid_alive(group->leader) || READ_ONCE(group->leader->flags) & PF_EXITING)
		return -ESRCH;
	for (i = 0; !ret && i < group->nr; i++) {
		if (group->thread[i].used)
			ret = view_thread_check(&group->thread[i], group->clock);
	}
	return ret;
}

/* A part of the page may be protected. Then a write to its first byte says nothing of the rest. */
static int view_fault_in(void __user *to, size_t len)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	return fault_in_subpage_writeable(to, len) ? -EFAULT : 0;
}

/**
 * view_group_copy_out() - copy bytes to the caller if it may still see the group
 * @group: the threads
 * @to:    where to, in one page
 * @from:  the bytes
 * @len:   number of bytes
 *
 * No page fault is taken under the lock, so no page of the caller can delay an exec of the group.
 *
 * Context: May sleep.
 * Return: 0; -ESRCH if the leader has exited, or a thread has executed a program or changed its
 *	   credentials; -EPERM and -EACCES as trace_view_may(); -EINTR; -EFAULT.
 */
int view_group_copy_out(struct view_group *group, void __user *to, const void *from, size_t len)
{
	struct rw_semaphore *lock = &group->leader->signal->exec_update_lock;
	int ret = view_may_trace();
	bool fault = false;

	do {
		if (fault)
			ret = view_fault_in(to, len);
		ret = ret ?: down_read_killable(lock);
		if (ret)
			break;
		ret = view_group_check(group);
		fault = !ret && copy_to_user_nofault(to, from, len);
		up_read(lock);
	} while (fault);
	return ret;
}
