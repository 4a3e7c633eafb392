// SPDX-License-Identifier: GPL-2.0
/*
 * A worker that holds locks for a task.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "trace.h"
#include "trace_job.h"
#include "trace_output.h"

/**
 * trace_may_charge() - check that memory may be charged to the cgroup of the caller
 *
 * Where the cgroup is at memory.high, the caller sleeps for seconds. So none of the locks is
 * held that all files of tracefs need.
 *
 * Context: May sleep.
 */
void trace_may_charge(void)
{
	lockdep_assert_not_held(&event_mutex);
	lockdep_assert_not_held(&trace_types_lock);
	lockdep_assert_not_held(&trace_event_sem);
}

#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
void (*trace_job_hook)(struct trace_job *job);
#endif

/* A unit test looks at a job before it begins. */
static void job_point(struct trace_job *job)
{
#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
	if (trace_job_hook)
		trace_job_hook(job);
#endif
}

/* The allocation that a unit test lets fail for a task may be one of the worker. */
static void job_swap_failures(struct trace_job *job)
{
#if defined(CONFIG_TRACE_SNAPSHOT_KUNIT_TEST) && defined(CONFIG_FAULT_INJECTION)
	swap(current->fail_nth, job->task->fail_nth);
#endif
}

static int job_thread(void *data)
{
	struct trace_job *job = data;
	int ret;

	job_point(job);
	job_swap_failures(job);
	ret = job->fn(job);
	job_swap_failures(job);
	complete(&job->done);
	return ret;
}

/**
 * trace_job_run() - have a worker call a function, and wait for it
 * @job: the job; its function is set
 *
 * The caller may be slow: its cgroup is at cpu.max, or it has the policy SCHED_IDLE. Others would
 * wait for the locks that it holds, so a worker holds them. The function has neither the memory nor
 * the credentials of the caller, and what it allocates is charged to no cgroup.
 *
 * The caller can be killed, and others may hold a lock for long. So the function takes its locks by
 * mutex_lock_interruptible() and down_read_interruptible(), and returns their error: the worker has
 * a place in the queue of the lock, as other tasks have, and a kill of the caller ends its wait.
 * That is why the worker is a thread of its own: nothing interrupts a work of a workqueue. Where
 * the function has its locks, it looks at trace_job_is_stopped(). A lock that a function of others
 * takes in between, such as one of perf, it waits for in any case.
 *
 * Context: May sleep, with no lock held that others wait for.
 * Return: what the function has returned; -EINTR if a fatal signal came before it began; -ENOMEM
 *	   without memory for a worker.
 */
int trace_job_run(struct trace_job *job)
{
	struct task_struct *worker;

	trace_may_charge();
	job->task = current;
	job->stop = false;
	init_completion(&job->done);
	worker = kthread_create(job_thread, job, "trace_job");
	if (IS_ERR(worker))
		return PTR_ERR(worker) == -EINTR ? -EINTR : -ENOMEM;
	/* It may have exited before kthread_stop_put(). */
	get_task_struct(worker);
	wake_up_process(worker);
	if (wait_for_completion_killable(&job->done))
		WRITE_ONCE(job->stop, true);
	/* This interrupts it, from now on, and waits until it has exited. */
	return kthread_stop_put(worker);
}
