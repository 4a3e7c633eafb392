// SPDX-License-Identifier: GPL-2.0
/*
 * Instances that stay while no lock is held, and a worker that holds the locks for a task.
 */
#include <linux/completion.h>
#include <linux/workqueue.h>

#include "internal.h"

static struct dat_pins *dat_pins_alloc(unsigned int nr)
{
	struct dat_pins *pins = kvzalloc(struct_size(pins, tr, nr), GFP_KERNEL);

	return pins ?: ERR_PTR(-ENOMEM);
}

static void dat_pin(struct dat_pins *pins, struct trace_array *tr)
{
	tr->ref++;
	pins->tr[pins->nr++] = tr;
}

/**
 * dat_pin_members() - hold references to the members of a snapshot
 * @whole: the instance of the snapshot; its parts belong to it
 *
 * Context: May sleep.
 * Return: the members, for dat_unpin(); -ENOMEM or -EINTR.
 */
struct dat_pins *dat_pin_members(struct trace_array *whole)
{
	struct trace_array *tr;
	struct dat_pins *pins;

	if (mutex_lock_killable(&trace_types_lock))
		return ERR_PTR(-EINTR);
	pins = dat_pins_alloc(1 + trace_nr_channels(whole));
	if (!IS_ERR(pins)) {
		for_each_session_member(tr, whole)
			dat_pin(pins, tr);
	}
	mutex_unlock(&trace_types_lock);
	return pins;
}

/**
 * dat_pin_kept() - hold references to the instances of all kept snapshots
 *
 * Context: May sleep.
 * Return: the instances, for dat_unpin(); -ENOMEM.
 */
struct dat_pins *dat_pin_kept(void)
{
	struct trace_array *tr;
	struct dat_pins *pins;
	unsigned int nr = 0;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		nr += trace_is_kept(tr);
	pins = dat_pins_alloc(nr);
	if (IS_ERR(pins))
		return pins;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (trace_is_kept(tr))
			dat_pin(pins, tr);
	}
	return pins;
}

/**
 * dat_unpin() - put references
 * @pins: the instances
 *
 * Context: May sleep.
 */
void dat_unpin(struct dat_pins *pins)
{
	while (pins->nr)
		trace_array_put(pins->tr[--pins->nr]);
	kvfree(pins);
}

/**
 * struct dat_work - a job that a worker does
 * @work: queued until a worker takes it
 * @done: the job is done
 * @job:  the job
 * @ret:  its return value; -EINTR if it was not begun
 */
struct dat_work {
	struct work_struct	work;
	struct completion	done;
	struct trace_job	*job;
	int			ret;
};

#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
void (*trace_job_hook)(struct trace_job *job);
#endif

/* A unit test looks at a job before it begins. */
static void dat_job_point(struct trace_job *job)
{
#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
	if (trace_job_hook)
		trace_job_hook(job);
#endif
}

/* The allocation that a unit test lets fail for a task may be one of the worker. */
static void dat_job_swap_failures(struct trace_job *job)
{
#if defined(CONFIG_TRACE_SNAPSHOT_KUNIT_TEST) && defined(CONFIG_FAULT_INJECTION)
	swap(current->fail_nth, job->task->fail_nth);
#endif
}

static void dat_job_work(struct work_struct *work)
{
	struct dat_work *w = container_of(work, struct dat_work, work);

	dat_job_point(w->job);
	dat_job_swap_failures(w->job);
	w->ret = w->job->fn(w->job);
	dat_job_swap_failures(w->job);
	complete(&w->done);
}

/**
 * trace_job_run() - have a worker call a function, and wait for it
 * @job: the job; its function is set
 *
 * The caller may be slow: its cgroup is at cpu.max, or it has the policy SCHED_IDLE. Others would
 * wait for the locks that it holds, so a worker holds them. The function has neither the memory nor
 * the credentials of the caller, and what it allocates is charged to no cgroup.
 *
 * Context: May sleep, with no lock held that others wait for.
 * Return: what the function has returned; -EINTR if a fatal signal came before it began.
 */
int trace_job_run(struct trace_job *job)
{
	struct dat_work w = { .job = job, .ret = -EINTR };

	trace_may_charge();
	job->task = current;
	job->stop = false;
	init_completion(&w.done);
	INIT_WORK_ONSTACK(&w.work, dat_job_work);
	queue_work(system_dfl_wq, &w.work);
	if (wait_for_completion_killable(&w.done)) {
		WRITE_ONCE(job->stop, true);
		cancel_work_sync(&w.work);
	}
	destroy_work_on_stack(&w.work);
	return w.ret;
}
