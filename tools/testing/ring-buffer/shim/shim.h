/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of the two halves of the shim to each other and to the tests. shim_*()
 * is compiled with the kernel's headers, host_*() with those of the C library; both
 * include this file, so it uses plain types only.
 */
#ifndef _RB_SHIM_H
#define _RB_SHIM_H

#define SHIM_ARENA_PAGES	(1UL << 18)	/* alloc_pages(): 1 GiB of address space */
#define SHIM_MAX_CPUS		8

/* Contexts, in the order in which they interrupt each other */
enum { CTX_TASK, CTX_SOFTIRQ, CTX_IRQ, CTX_NMI, NR_CTX };

/* Reasons for a kernel function of the shim to wait */
enum host_wait_for {
	WAIT_LOCK, WAIT_MUTEX, WAIT_RCU, WAIT_IPI, WAIT_SLEEP, WAIT_YIELD,
	WAIT_POINT,			/* not for anything: the stepper stopped it */
};

/* host.c: the C library for the kernel side */
void host_sort(void *base, unsigned long n, unsigned long size,
	       int (*cmp)(const void *a, const void *b));
void *host_malloc(unsigned long size, unsigned long align);
void host_free(void *p);
void host_die(const char *msg) __attribute__((noreturn));
void host_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int host_vsnprintf(char *buf, unsigned long n, const char *fmt, __builtin_va_list ap);
void host_pause(void);
void host_membarrier(void);		/* a full barrier in every thread */
unsigned long long host_cpu_ns(void);
void host_poison(void *p, unsigned long n);
void host_unpoison(void *p, unsigned long n);
void host_acquire(void *addr);		/* for ThreadSanitizer only */
void host_release(void *addr);
extern volatile long host_warnings;
extern int host_quiet;			/* no printk() */
extern char host_said[];		/* by the last printk() */

/* host.c: virtual CPUs */
void host_init(int possible, int online);
void host_cpu_enter(int cpu);		/* this thread is CPU "cpu" from now on */
void host_cpu_leave(void);
int host_cpu_owned(int cpu);		/* has it got a thread of its own? */
int host_cpu_switch(int cpu);		/* change %gs only; returns the old CPU */
/*
 * The deputy is the one thread that may act for CPUs without a thread of their
 * own; none gets one meanwhile. The state of a CPU is not for two to change.
 */
int host_deputy(void);			/* become it, unless there is one; returns 1 or 0 */
int host_is_deputy(void);
void host_deputy_end(void);
void host_signal(int cpu, int sig);	/* to the thread of that CPU */
void host_kick(int cpu);		/* makes its thread run shim_ipi() */
void *host_thread(void (*fn)(void *arg), void *arg);
void host_join(void *thread);

/*
 * co.c: host_wait() is called by everything in the shim that waits. In a
 * coroutine it hands control back to the caller that started or resumed it, so that
 * an operation of another CPU can wait for one that is stopped between two
 * instructions.
 */
void host_wait(enum host_wait_for what);
int co_start(void (*fn)(void));		/* returns 1 when fn is through, 0: it waits */
int co_resume(void);
int co_active(void);			/* a coroutine waits */
int co_inside(void);
void co_abandon(void);
enum host_wait_for co_waits_for(void);
extern void (*co_needed)(void);		/* instead of spinning while a coroutine waits */

/* cpu.c */
void shim_init(int possible, int online, unsigned long arena, unsigned long vmem);
unsigned long shim_gs(int cpu);
int shim_cpu(void);
int shim_cpu_busy(int cpu);		/* RCU has to wait for it */
unsigned int shim_preempt_count(int cpu);
void shim_reset_cpus(void);		/* after an operation was abandoned half way */
void shim_set_online(int cpu, int online);
void shim_cpu_up(int cpu);		/* online, with all that hotplug does for it */
struct hlist_node;
extern int (*shim_prepare)(unsigned int cpu, struct hlist_node *node);

/* irq.c */
int shim_irqs_off(void);
void shim_ctx_enter(int ctx);
void shim_ctx_exit(int ctx);
int shim_ctx(void);
void shim_ipi(void);			/* in the thread of the CPU that was kicked */
void shim_poll(void);			/* irq_works and works that wait for this CPU */
int shim_run_unbound(void);		/* works without a CPU; returns 1 if there were any */
void shim_forget_work(void);

/* rcu.c */
void shim_rcu_run(void);		/* a grace period, its callbacks, and their works */
void shim_rcu_forget(void);
extern long shim_rcu_barriers;		/* calls of rcu_barrier() */

/* bug.c: 0 BUG, 1 WARN, 2 WARN_ONCE that was said before, -1 none of ours */
int shim_bug(unsigned long rip, const char **file, int *line);

/* misc.c */
struct file;
void shim_panic(void);
extern unsigned long shim_flushed[];	/* start and end of the range that was flushed last */
void shim_flush_range(unsigned long start, unsigned long end);
void shim_seq_text(struct file *f, char *text, unsigned long size);

/* mm.c */
struct page;
extern long shim_fail_alloc_after;	/* >= 0: the n-th allocation from here fails */
extern void (*shim_on_alloc)(void);	/* called for each allocation, before it */
extern struct page *shim_vma_pages[];	/* the pages of vm_insert_pages(), in order */
extern unsigned long shim_nr_vma_pages;
extern long shim_taken;			/* bytes that were ever allocated */
extern long shim_objects;		/* the same without pages */
extern long shim_allocated;		/* objects and pages that are not freed yet */
extern long shim_freed_atomic;		/* those that were freed in an interrupt */
extern int shim_alloc_check;		/* note the policies of allocations in these: */
extern long shim_alloc_oom;		/* they may call the OOM killer */
extern long shim_alloc_anywhere;	/* they are for no node */
extern long shim_alloc_origin;		/* their task is the first that the OOM killer takes */
extern int shim_alloc_odd;		/* align no more than kmalloc() promises */
extern long shim_available;		/* pages, as si_mem_available() says */
unsigned long shim_alloc_range(unsigned long bytes);
extern int shim_flush_check;		/* note the ranges of flush_kernel_vmap_range() */
int shim_is_flushed(const void *addr, int size);

#endif /* _RB_SHIM_H */
