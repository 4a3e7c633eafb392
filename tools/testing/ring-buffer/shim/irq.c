// SPDX-License-Identifier: GPL-2.0
/* Interrupt contexts, calls on another CPU, irq_work and work queues. */
#include <linux/kernel.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "shim.h"

static const unsigned int ctx_offset[NR_CTX] = {
	[CTX_SOFTIRQ]	= SOFTIRQ_OFFSET,
	[CTX_IRQ]	= HARDIRQ_OFFSET,
	[CTX_NMI]	= NMI_OFFSET + HARDIRQ_OFFSET,
};

DECLARE_PER_CPU(unsigned long, shim_irq_flags);

void shim_ctx_enter(int ctx)
{
	__preempt_count_add(ctx_offset[ctx]);
}

void shim_ctx_exit(int ctx)
{
	__preempt_count_sub(ctx_offset[ctx]);
}

int shim_ctx(void)
{
	unsigned int pc = preempt_count();

	return pc & NMI_MASK ? CTX_NMI : pc & HARDIRQ_MASK ? CTX_IRQ :
	       pc & SOFTIRQ_OFFSET ? CTX_SOFTIRQ : CTX_TASK;
}

int shim_irqs_off(void)
{
	return arch_irqs_disabled();
}

/* ---- calls on another CPU ---------------------------------------------- */

struct ipi {
	smp_call_func_t	func;
	void		*info;
	int		done;
};

static DEFINE_PER_CPU(struct ipi *, ipi_slot);

void shim_ipi(void)
{
	struct ipi *ipi;

	if (shim_irqs_off())
		return;		/* shim_poll() does it later */
	/* call_on() takes it back from a CPU that loses its thread */
	ipi = this_cpu_xchg(ipi_slot, NULL);
	if (!ipi)
		return;
	shim_ctx_enter(CTX_IRQ);
	host_acquire(ipi);
	ipi->func(ipi->info);
	shim_ctx_exit(CTX_IRQ);
	host_release(ipi);
	/* the effects of func() come first; ipi is invalid when call_on() sees it */
	smp_store_release(&ipi->done, 1);
}

static void call_on(int cpu, smp_call_func_t func, void *info)
{
	struct ipi ipi = { .func = func, .info = info };
	int me, deputy;

	if (cpu == raw_smp_processor_id()) {
		unsigned long flags = arch_local_irq_save();

		func(info);
		arch_local_irq_restore(flags);
		return;
	}
	if (host_cpu_owned(cpu)) {
		host_release(&ipi);
		while (cmpxchg(&per_cpu(ipi_slot, cpu), NULL, &ipi))
			host_wait(WAIT_IPI);
		host_kick(cpu);
		/* the caller sees all that func() did */
		while (!smp_load_acquire(&ipi.done)) {
			if (!host_cpu_owned(cpu) && xchg(&per_cpu(ipi_slot, cpu), NULL)) {
				call_on(cpu, func, info);
				return;
			}
			host_wait(WAIT_IPI);
		}
		host_acquire(&ipi);
		return;
	}
	/* stopped between two instructions, or idle: interrupt it here */
	while (!(deputy = host_deputy()) && !host_is_deputy())
		host_wait(WAIT_IPI);
	if (!host_cpu_owned(cpu)) {
		while (arch_irqs_disabled_flags(READ_ONCE(per_cpu(shim_irq_flags, cpu))))
			host_wait(WAIT_IPI);
		me = host_cpu_switch(cpu);
		shim_ctx_enter(CTX_IRQ);
		func(info);
		shim_ctx_exit(CTX_IRQ);
		host_cpu_switch(me);
		func = NULL;
	}
	if (deputy)
		host_deputy_end();
	if (func)
		call_on(cpu, func, info);
}

int smp_call_function_single(int cpu, smp_call_func_t func, void *info, int wait)
{
	if (!cpu_online(cpu))
		return -ENXIO;
	call_on(cpu, func, info);
	return 0;
}

void smp_call_function_many(const struct cpumask *mask, smp_call_func_t func, void *info,
			    bool wait)
{
	int cpu, me = raw_smp_processor_id();

	for_each_cpu_and(cpu, mask, cpu_online_mask) {
		if (cpu != me)
			call_on(cpu, func, info);
	}
}

void smp_call_function(smp_call_func_t func, void *info, int wait)
{
	smp_call_function_many(cpu_online_mask, func, info, wait);
}

/* ---- irq_work and work: run when their CPU calls shim_poll() ------------ */

#define NR_SLOTS 64
static DEFINE_PER_CPU(struct irq_work *, irq_works[NR_SLOTS]);
static DEFINE_PER_CPU(struct work_struct *, works[NR_SLOTS]);
struct workqueue_struct *system_percpu_wq, *system_wq, *system_highpri_wq,
			*system_long_wq;

bool irq_work_queue_on(struct irq_work *w, int cpu)
{
	struct irq_work **slot = per_cpu(irq_works, cpu);
	int i;

	for (i = 0; i < NR_SLOTS; i++) {
		struct irq_work *old = cmpxchg(&slot[i], NULL, w);

		if (old == w)
			return false;
		if (!old) {
			atomic_or(IRQ_WORK_PENDING, &w->node.a_flags);
			return true;
		}
	}
	host_die("too many irq_works");
}

bool irq_work_queue(struct irq_work *w)
{
	return irq_work_queue_on(w, raw_smp_processor_id());
}

static void run_irq_work(struct irq_work **slot)
{
	struct irq_work *w = READ_ONCE(*slot);
	unsigned long flags;

	if (!w || !try_cmpxchg(slot, &w, NULL))
		return;
	flags = arch_local_irq_save();
	shim_ctx_enter(CTX_IRQ);
	atomic_andnot(IRQ_WORK_PENDING, &w->node.a_flags);
	w->func(w);
	shim_ctx_exit(CTX_IRQ);
	arch_local_irq_restore(flags);
}

/* Runs it here and now where its CPU has not come to it */
void irq_work_sync(struct irq_work *w)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < NR_SLOTS; i++) {
			if (READ_ONCE(per_cpu(irq_works, cpu)[i]) == w)
				run_irq_work(&per_cpu(irq_works, cpu)[i]);
		}
	}
}

/* Works that may run anywhere, linked by entry.next: there can be many. */
static struct work_struct *unbound;
static int unbound_order;		/* for ThreadSanitizer, and its address */
struct workqueue_struct *system_dfl_wq = (void *)&unbound_order;

static bool queue_unbound(struct work_struct *work)
{
	struct work_struct *first = READ_ONCE(unbound);

	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	host_release(&unbound_order);
	do {
		work->entry.next = (void *)first;
	} while (!try_cmpxchg(&unbound, &first, work));
	return true;
}

int shim_run_unbound(void)
{
	struct work_struct *work = xchg(&unbound, NULL), *next;
	int any = !!work;

	host_acquire(&unbound_order);
	for (; work; work = next) {
		next = (void *)work->entry.next;
		clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
		work->func(work);
	}
	return any;
}

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	struct work_struct **slot;
	int i;

	if (wq == system_dfl_wq)
		return queue_unbound(work);
	if (cpu >= nr_cpu_ids)
		cpu = raw_smp_processor_id();
	slot = per_cpu(works, cpu);
	for (i = 0; i < NR_SLOTS; i++) {
		struct work_struct *old = cmpxchg(&slot[i], NULL, work);

		if (old == work)
			return false;
		if (!old)
			return true;
	}
	host_die("too many works");
}

static void run_work(struct work_struct **slot)
{
	struct work_struct *w = READ_ONCE(*slot);

	if (w && try_cmpxchg(slot, &w, NULL))
		w->func(w);
}

static void run_queues(void)
{
	int i;

	for (i = 0; i < NR_SLOTS; i++) {
		run_irq_work(this_cpu_ptr(&irq_works[i]));
		run_work(this_cpu_ptr(&works[i]));
	}
}

/*
 * A CPU without a thread is idle, or stopped between two instructions. Where it
 * could be preempted, its works are run on its behalf.
 */
void shim_poll(void)
{
	int cpu, me = raw_smp_processor_id();

	shim_ipi();
	run_queues();
	if (!host_deputy())
		return;
	for_each_online_cpu(cpu) {
		if (cpu == me || host_cpu_owned(cpu) || shim_cpu_busy(cpu))
			continue;
		host_cpu_switch(cpu);
		run_queues();
		host_cpu_switch(me);
	}
	host_deputy_end();
}

void shim_forget_work(void)
{
	int cpu;

	xchg(&unbound, NULL);
	for_each_possible_cpu(cpu) {
		memset(per_cpu(irq_works, cpu), 0, sizeof(irq_works));
		memset(per_cpu(works, cpu), 0, sizeof(works));
		per_cpu(ipi_slot, cpu) = NULL;
	}
}
