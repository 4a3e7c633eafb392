// SPDX-License-Identifier: GPL-2.0
/*
 * RCU. A grace period has passed when every other CPU was seen once outside of
 * any section that RCU or a tracer's caller would have to be waited for:
 * preemption and interrupts on, no rcu_read_lock(). A CPU that is stopped
 * between two instructions is such a CPU; host_wait() lets it go on.
 *
 * As with CONFIG_RCU_LAZY, a callback of call_rcu() waits for a barrier, which may
 * be long after the grace period. Callbacks run in a softirq.
 */
#include <linux/context_tracking.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "shim.h"

/* RCU watches everywhere. */
DEFINE_PER_CPU(struct context_tracking, context_tracking) = {
	.state = ATOMIC_INIT(CT_RCU_WATCHING),
};

bool rcu_is_watching(void)
{
	return true;
}

DECLARE_PER_CPU(int, shim_rcu_depth);
static struct rcu_head *rcu_hurry, *rcu_lazy;
static unsigned long periods;		/* grace periods that have ended */
long shim_rcu_barriers;

/*
 * The order that ThreadSanitizer gets: each section ends before a grace period
 * ends, and a grace period begins before each section begins.
 * (For sections with preemption off tsan/asm/preempt.h says so.)
 */
int shim_rcu_order, shim_rcu_begin;

void __rcu_read_lock(void)
{
	this_cpu_inc(shim_rcu_depth);
	host_acquire(&shim_rcu_begin);
	barrier();
}

void __rcu_read_unlock(void)
{
	host_release(&shim_rcu_order);
	this_cpu_dec(shim_rcu_depth);
}

void synchronize_rcu(void)
{
	int cpu, me = raw_smp_processor_id();

	/*
	 * Each section that begins from here on sees the caller's earlier
	 * accesses. A section begins with plain stores: the barrier is for both sides.
	 */
	host_release(&shim_rcu_begin);
	host_membarrier();
	for_each_online_cpu(cpu) {
		while (cpu != me && shim_cpu_busy(cpu))
			host_wait(WAIT_RCU);
	}
	host_acquire(&shim_rcu_order);
	/* the caller sees the accesses of the sections */
	smp_mb();
	__atomic_add_fetch(&periods, 1, __ATOMIC_RELAXED);
}

unsigned long get_state_synchronize_rcu(void)
{
	/* The caller's earlier accesses come before the look */
	smp_mb();
	return READ_ONCE(periods);
}

/* The first period that ends after the look may have begun before it */
void cond_synchronize_rcu(unsigned long state)
{
	if (READ_ONCE(periods) - state < 2)
		synchronize_rcu();
	/* And those of the sections before the caller's later ones */
	smp_mb();
}

void get_state_synchronize_rcu_full(struct rcu_gp_oldstate *state)
{
	state->rgos_norm = READ_ONCE(periods);
}

bool poll_state_synchronize_rcu_full(struct rcu_gp_oldstate *state)
{
	return READ_ONCE(periods) != state->rgos_norm;
}

static void add_callback(struct rcu_head **list, struct rcu_head *head, rcu_callback_t func)
{
	struct rcu_head *first = READ_ONCE(*list);

	head->func = func;
	host_release(&shim_rcu_order);
	do {
		head->next = (void *)first;
	} while (!try_cmpxchg(list, &first, head));
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	add_callback(&rcu_lazy, head, func);
}

void call_rcu_hurry(struct rcu_head *head, rcu_callback_t func)
{
	add_callback(&rcu_hurry, head, func);
}

/* an offset in place of a function: free the object that contains the head */
void kvfree_call_rcu(struct rcu_head *head, void *obj)
{
	if (head) {
		call_rcu(head, (rcu_callback_t)((void *)head - obj));
		return;
	}
	synchronize_rcu();
	kvfree(obj);
}

static void run_callbacks(struct rcu_head *head)
{
	struct rcu_head *next;

	for (; head; head = next) {
		unsigned long func = (unsigned long)head->func;

		next = (void *)head->next;
		if (func < PAGE_SIZE) {
			kvfree((void *)head - func);
			continue;
		}
		shim_ctx_enter(CTX_SOFTIRQ);
		head->func(head);
		shim_ctx_exit(CTX_SOFTIRQ);
	}
}

void shim_rcu_run(void)
{
	struct rcu_head *head;

	do {
		while ((head = xchg(&rcu_hurry, NULL))) {
			synchronize_rcu();
			run_callbacks(head);
		}
	} while (shim_run_unbound());
}

void shim_rcu_forget(void)
{
	xchg(&rcu_hurry, NULL);
	xchg(&rcu_lazy, NULL);
}

/* It does not wait for callbacks that are queued meanwhile. */
void rcu_barrier(void)
{
	struct rcu_head *hurry = xchg(&rcu_hurry, NULL), *lazy = xchg(&rcu_lazy, NULL);

	__atomic_add_fetch(&shim_rcu_barriers, 1, __ATOMIC_RELAXED);
	synchronize_rcu();
	run_callbacks(hurry);
	run_callbacks(lazy);
}
