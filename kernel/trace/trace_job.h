/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A worker that holds locks for a task.
 */
#ifndef _KERNEL_TRACE_JOB_H
#define _KERNEL_TRACE_JOB_H

#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/types.h>

struct task_struct;

/**
 * struct trace_job - a function that a worker calls for a task
 * @fn:   the function, which takes locks that others wait for, see trace_job_run()
 * @task: the task; it waits until @fn has returned
 * @done: @fn has returned
 * @stop: the task has got a fatal signal: @fn returns as soon as it can
 */
struct trace_job {
	int			(*fn)(struct trace_job *job);
	struct task_struct	*task;
	struct completion	done;
	bool			stop;
};

static inline bool trace_job_is_stopped(const struct trace_job *job)
{
	return READ_ONCE(job->stop);
}

#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
extern void (*trace_job_hook)(struct trace_job *job);
#endif

void trace_may_charge(void);
int trace_job_run(struct trace_job *job);

#endif /* _KERNEL_TRACE_JOB_H */
