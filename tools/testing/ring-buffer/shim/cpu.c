// SPDX-License-Identifier: GPL-2.0
/* Virtual CPUs: masks, per-CPU data, and the state that hotplug would change. */
#include <linux/kernel.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/string.h>
#include "shim.h"

extern char __per_cpu_start[], __per_cpu_end[], shim_percpu_dyn[];

#ifdef LINUX_7
DEFINE_PER_CPU_CACHE_HOT(int, cpu_number);
DEFINE_PER_CPU_CACHE_HOT(int, __preempt_count);
DEFINE_PER_CPU_CACHE_HOT(struct task_struct *, current_task);
DEFINE_PER_CPU_CACHE_HOT(unsigned long, this_cpu_off);
#define hot(name)	name
#else
DEFINE_PER_CPU_ALIGNED(struct pcpu_hot, pcpu_hot);
DEFINE_PER_CPU_READ_MOSTLY(unsigned long, this_cpu_off);
#define hot(name)	pcpu_hot.name
#define __preempt_count	preempt_count
#endif
DEFINE_PER_CPU(unsigned long, shim_irq_flags) = X86_EFLAGS_IF;
DEFINE_PER_CPU_READ_MOSTLY(int, numa_node);
DEFINE_PER_CPU(int, shim_rcu_depth);
unsigned long __per_cpu_offset[NR_CPUS];
unsigned int nr_cpu_ids;
struct cpumask __cpu_online_mask, __cpu_possible_mask, __cpu_present_mask, __cpu_active_mask;
atomic_t __num_online_cpus = ATOMIC_INIT(0);
struct cpuinfo_x86 boot_cpu_data;
unsigned long phys_base, page_offset_base, vmemmap_base, vmalloc_base, loops_per_jiffy;
unsigned long empty_zero_page[512] __aligned(4096);

/* cpumask_of(): row 1 + n of word w has bit n of that word */
const unsigned long cpu_bit_bitmap[BITS_PER_LONG + 1][BITS_TO_LONGS(NR_CPUS)] = {
	[1] = { 1UL << 0 }, [2] = { 1UL << 1 }, [3] = { 1UL << 2 }, [4] = { 1UL << 3 },
	[5] = { 1UL << 4 }, [6] = { 1UL << 5 }, [7] = { 1UL << 6 }, [8] = { 1UL << 7 },
};

static struct task_struct *shim_task;	/* one for each CPU */
static struct signal_struct shim_signal;

/* ---- dynamic per-CPU memory: first fit in a table of areas ------------- */

#define DYN_AREAS 4096
static struct dyn_area {
	u32 off, size;
	bool used;
} dyn[DYN_AREAS];
static int nr_dyn;
static arch_spinlock_t dyn_lock = __ARCH_SPIN_LOCK_UNLOCKED;

void __percpu *pcpu_alloc_noprof(size_t size, size_t align, bool reserved, gfp_t gfp)
{
	struct dyn_area *d;
	u32 off = 0;
	void *p;
	int cpu;

	align = max_t(size_t, align, 64);
	size = ALIGN(size, align);
	arch_spin_lock(&dyn_lock);
	for (d = dyn; d < dyn + nr_dyn; d++) {
		if (!d->used && d->size == size && IS_ALIGNED(d->off, align))
			break;
		off = d->off + d->size;
	}
	if (d == dyn + nr_dyn) {
		d->off = ALIGN(off, align);
		d->size = size;
		if (++nr_dyn == DYN_AREAS ||
		    shim_percpu_dyn + d->off + size > __per_cpu_end)
			host_die("per-CPU area full");
	}
	d->used = true;
	arch_spin_unlock(&dyn_lock);
	p = shim_percpu_dyn + d->off;
	for_each_possible_cpu(cpu)
		memset(p + __per_cpu_offset[cpu], 0, size);
	return (void __percpu *)p;
}

void free_percpu(void __percpu *p)
{
	struct dyn_area *d;

	for (d = dyn; p && d < dyn + nr_dyn; d++) {
		if (d->off == (char *)p - shim_percpu_dyn)
			d->used = false;
	}
}

/* ---- the CPUs ---------------------------------------------------------- */

/* Callbacks of the ring buffer, on a CPU that comes online or goes offline */
static int (*shim_starting)(unsigned int cpu), (*shim_dying)(unsigned int cpu);

void shim_set_online(int cpu, int online)
{
	if (shim_starting && cpumask_test_cpu(cpu, &__cpu_online_mask) != !!online)
		(online ? shim_starting : shim_dying)(cpu);
	if (online) {
		__cpumask_set_cpu(cpu, &__cpu_online_mask);
		__cpumask_set_cpu(cpu, &__cpu_active_mask);
	} else {
		__cpumask_clear_cpu(cpu, &__cpu_online_mask);
		__cpumask_clear_cpu(cpu, &__cpu_active_mask);
	}
	atomic_set(&__num_online_cpus, cpumask_weight(&__cpu_online_mask));
}

void shim_init(int possible, int online, unsigned long arena, unsigned long vmem)
{
	unsigned long size = __per_cpu_end - __per_cpu_start;
	int cpu;

	nr_cpu_ids = possible;
	page_offset_base = arena;
	vmemmap_base = vmem;
	boot_cpu_data.x86_cache_alignment = 64;
	boot_cpu_data.x86_clflush_size = 64;
	shim_task = host_malloc(sizeof(*shim_task) * possible, 64);
	memset(shim_task, 0, sizeof(*shim_task) * possible);
	for (cpu = 0; cpu < possible; cpu++) {
		void *p = host_malloc(size, 4096);

		memcpy(p, __per_cpu_start, size);
		__per_cpu_offset[cpu] = (unsigned long)p - (unsigned long)__per_cpu_start;
		per_cpu(this_cpu_off, cpu) = __per_cpu_offset[cpu];
		per_cpu(hot(cpu_number), cpu) = cpu;
		per_cpu(hot(__preempt_count), cpu) = PREEMPT_NEED_RESCHED;
		per_cpu(hot(current_task), cpu) = &shim_task[cpu];
		shim_task[cpu].signal = &shim_signal;
		shim_task[cpu].pid = 100 + cpu;
		__cpumask_set_cpu(cpu, &__cpu_possible_mask);
		__cpumask_set_cpu(cpu, &__cpu_present_mask);
		shim_set_online(cpu, cpu < online);
	}
}

unsigned long shim_gs(int cpu)
{
	return __per_cpu_offset[cpu];
}

int shim_cpu(void)
{
	return raw_smp_processor_id();
}

unsigned int shim_preempt_count(int cpu)
{
	return READ_ONCE(per_cpu(hot(__preempt_count), cpu)) & ~PREEMPT_NEED_RESCHED;
}

int shim_cpu_busy(int cpu)
{
	return shim_preempt_count(cpu) || READ_ONCE(per_cpu(shim_rcu_depth, cpu)) ||
	       arch_irqs_disabled_flags(READ_ONCE(per_cpu(shim_irq_flags, cpu)));
}

void shim_reset_cpus(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(hot(__preempt_count), cpu) = PREEMPT_NEED_RESCHED;
		per_cpu(shim_irq_flags, cpu) = X86_EFLAGS_IF;
		per_cpu(shim_rcu_depth, cpu) = 0;
		shim_task[cpu].__state = TASK_RUNNING;
	}
}

/* ---- hotplug: an instance is prepared for the CPUs that are online ------ */

int __cpuhp_setup_state(enum cpuhp_state state, const char *name, bool invoke,
			int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu),
			bool multi_instance)
{
	int cpu;

	/* Not the number, which the base has not. */
	if (strcmp(name, "trace/RB:starting"))
		return -EINVAL;
	shim_starting = startup;
	shim_dying = teardown;
	for_each_online_cpu(cpu)
		startup(cpu);
	return 0;
}

/* trace_rb_cpu_prepare() of the ring buffer that allocates; a bench has two */
int (*shim_prepare)(unsigned int cpu, struct hlist_node *node);
static struct hlist_head instances;

int __cpuhp_state_add_instance(enum cpuhp_state s, struct hlist_node *n, bool invoke)
{
	int cpu, ret;

	for_each_online_cpu(cpu) {
		ret = shim_prepare(cpu, n);
		if (ret)
			return ret;
	}
	hlist_add_head(n, &instances);
	return 0;
}

int __cpuhp_state_remove_instance(enum cpuhp_state s, struct hlist_node *n, bool invoke)
{
	hlist_del_init(n);
	return 0;
}

void shim_cpu_up(int cpu)
{
	struct hlist_node *n;

	hlist_for_each(n, &instances) {
		if (shim_prepare(cpu, n))
			return;
	}
	shim_set_online(cpu, 1);
}

void cpus_read_lock(void) { }
void cpus_read_unlock(void) { }

/* Called from inline assembly, which knows that nothing but rax changes */
asm(".text\n"
	".globl __sw_hweight32\n"
	"__sw_hweight32:\n"
	"	popcntl %edi, %eax\n"
	"	ret\n"
	".globl __sw_hweight64\n"
	"__sw_hweight64:\n"
	"	popcntq %rdi, %rax\n"
	"	ret\n");
