// SPDX-License-Identifier: GPL-2.0
/* One task for each virtual CPU: sleeping, wait queues, completions. */
#include <linux/kernel.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/swait.h>
#include <linux/wait.h>
#include "shim.h"

unsigned long volatile jiffies;

asmlinkage void preempt_schedule_notrace_thunk(void) { }
asmlinkage void preempt_schedule_thunk(void) { }
/* A task stays on its CPU. */
void migrate_disable(void) { }
void migrate_enable(void) { }
int set_cpus_allowed_ptr(struct task_struct *p, const struct cpumask *new_mask)
{
	return 0;
}

int wake_up_process(struct task_struct *task);

/* Where nothing was allocated since the last call, this is a loop that waits */
int __cond_resched(void)
{
	static long allocated;

	if (shim_allocated == allocated)
		host_wait(WAIT_YIELD);
	allocated = shim_allocated;
	return 0;
}

/* Really sleeps: a wake-up that is lost shows as a task that never comes back */
void schedule(void)
{
	shim_poll();
	if (READ_ONCE(current->__state) == TASK_RUNNING) {
		host_wait(WAIT_YIELD);
		return;
	}
	while (READ_ONCE(current->__state) != TASK_RUNNING) {
		host_wait(WAIT_SLEEP);
		shim_poll();
	}
}

long schedule_timeout(long timeout)
{
	int i;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeout;
	}
	for (i = 0; i < 100 && READ_ONCE(current->__state) != TASK_RUNNING; i++) {
		shim_poll();
		host_wait(WAIT_YIELD);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

long schedule_timeout_uninterruptible(long timeout)
{
	__set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(timeout);
}

int wake_up_process(struct task_struct *task)
{
	return xchg(&task->__state, TASK_RUNNING) != TASK_RUNNING;
}

void __const_udelay(unsigned long x) { host_wait(WAIT_YIELD); }
/* ---- wait queues ------------------------------------------------------- */

void __init_waitqueue_head(struct wait_queue_head *wq, const char *name,
			   struct lock_class_key *key)
{
	raw_spin_lock_init(&wq->lock.rlock);
	INIT_LIST_HEAD(&wq->head);
}

int default_wake_function(struct wait_queue_entry *w, unsigned int mode, int flags, void *key)
{
	return wake_up_process(w->private);
}

int autoremove_wake_function(struct wait_queue_entry *w, unsigned int mode, int flags, void *key)
{
	int ret = default_wake_function(w, mode, flags, key);

	if (ret)
		list_del_init(&w->entry);
	return ret;
}

void init_wait_entry(struct wait_queue_entry *w, int flags)
{
	w->flags = flags;
	w->private = current;
	w->func = autoremove_wake_function;
	INIT_LIST_HEAD(&w->entry);
}

static void add_entry(struct wait_queue_head *wq, struct wait_queue_entry *w, int state)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	if (list_empty(&w->entry))
		list_add_tail(&w->entry, &wq->head);
	if (state >= 0)
		/* the state first: the condition that is looked at next may come with a wake-up */
		smp_store_mb(current->__state, state);
	spin_unlock_irqrestore(&wq->lock, flags);
}

long prepare_to_wait_event(struct wait_queue_head *wq, struct wait_queue_entry *w, int state)
{
	add_entry(wq, w, state);
	return 0;
}

void add_wait_queue(struct wait_queue_head *wq, struct wait_queue_entry *w)
{
	INIT_LIST_HEAD(&w->entry);
	add_entry(wq, w, -1);
}

void remove_wait_queue(struct wait_queue_head *wq, struct wait_queue_entry *w)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	list_del_init(&w->entry);
	spin_unlock_irqrestore(&wq->lock, flags);
}

void finish_wait(struct wait_queue_head *wq, struct wait_queue_entry *w)
{
	__set_current_state(TASK_RUNNING);
	remove_wait_queue(wq, w);
}

int __wake_up(struct wait_queue_head *wq, unsigned int mode, int nr, void *key)
{
	struct wait_queue_entry *w, *next;
	unsigned long flags;
	int woken = 0;

	spin_lock_irqsave(&wq->lock, flags);
	list_for_each_entry_safe(w, next, &wq->head, entry)
		woken += w->func(w, mode, 0, key);
	spin_unlock_irqrestore(&wq->lock, flags);
	return woken;
}

/* ---- completions ------------------------------------------------------- */

void __init_swait_queue_head(struct swait_queue_head *q, const char *name,
			     struct lock_class_key *key)
{
	INIT_LIST_HEAD(&q->task_list);
}

void complete(struct completion *x)
{
	/* the completed work comes before the word that reports it */
	smp_store_release(&x->done, x->done + 1);
}

void wait_for_completion(struct completion *x)
{
	/* the work before complete() is seen */
	while (!smp_load_acquire(&x->done)) {
		shim_poll();
		host_wait(WAIT_SLEEP);
	}
	x->done--;
}
