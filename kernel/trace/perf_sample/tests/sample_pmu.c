// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU for tests of perf_events. It has what no software event has: its samples come in NMIs, and
 * it may be that of one CPU, or lack an ability.
 *
 * It counts what is written to its parameter "fire": each event is an overflow, in an NMI of its
 * own that interrupts a kernel thread on the CPU.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/workqueue.h>

#include <asm/apic.h>

#include "sample_pmu.h"

/* &perf_event_attr.config */
enum {
	SAMPLE_PMU_GOOD,
	SAMPLE_PMU_REFUSED,		/* it cannot sample this */
	SAMPLE_PMU_BUSY,		/* one of its CPUs has no counter left, see @busy */
	SAMPLE_PMU_CONFIGS
};

#define SAMPLE_PMU_ADDR	0x1234

static int cpu = -1;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "The CPU that it counts on, -1: all");
static int busy = -1;
module_param(busy, int, 0444);
MODULE_PARM_DESC(busy, "The CPU that has no counter for config=2, -1: none");
static bool no_interrupt;
module_param(no_interrupt, bool, 0444);
MODULE_PARM_DESC(no_interrupt, "It has no interrupt");
static bool no_exclude;
module_param(no_exclude, bool, 0444);
MODULE_PARM_DESC(no_exclude, "It cannot leave anything out");

/* Only one task writes to "fire" at a time. */
static unsigned int interrupts;
module_param(interrupts, uint, 0444);
MODULE_PARM_DESC(interrupts, "Number of events that a counter has counted");

static DEFINE_PER_CPU(struct perf_event *, sample_pmu_counter);
static DEFINE_PER_CPU(bool, sample_pmu_asked);

static struct pmu sample_pmu;

static int sample_pmu_init_event(struct perf_event *event)
{
	if (event->attr.type != sample_pmu.type)
		return -ENOENT;
	if (event->attr.config >= SAMPLE_PMU_CONFIGS || event->cpu < 0)
		return -EINVAL;
	/* As the PMUs of machines with several kinds of CPUs say it */
	if (cpu >= 0 && event->cpu != cpu)
		return -ENOENT;
	if (event->attr.config == SAMPLE_PMU_REFUSED)
		return -EOPNOTSUPP;
	if (event->attr.config == SAMPLE_PMU_BUSY && event->cpu == busy)
		return -EBUSY;
	return 0;
}

static void sample_pmu_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
}

static void sample_pmu_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
}

/* One counter a CPU. perf calls it with interrupts off. */
static int sample_pmu_add(struct perf_event *event, int flags)
{
	if (this_cpu_read(sample_pmu_counter))
		return -EAGAIN;
	event->hw.state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED;
	this_cpu_write(sample_pmu_counter, event);
	return 0;
}

static void sample_pmu_del(struct perf_event *event, int flags)
{
	sample_pmu_stop(event, flags);
	this_cpu_write(sample_pmu_counter, NULL);
}

static void sample_pmu_read(struct perf_event *event)
{
}

static struct pmu sample_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= sample_pmu_init_event,
	.add		= sample_pmu_add,
	.del		= sample_pmu_del,
	.start		= sample_pmu_start,
	.stop		= sample_pmu_stop,
	.read		= sample_pmu_read,
};

static int sample_pmu_nmi(unsigned int type, struct pt_regs *regs)
{
	struct perf_event *event = this_cpu_read(sample_pmu_counter);
	struct perf_sample_data data;

	if (!this_cpu_read(sample_pmu_asked))
		return NMI_DONE;
	if (event && !event->hw.state) {
		WRITE_ONCE(interrupts, interrupts + 1);
		perf_sample_data_init(&data, SAMPLE_PMU_ADDR, event->hw.last_period);
		if (sample_pmu_overflow(event, &data, regs))
			sample_pmu_stop(event, 0);
	}
	this_cpu_write(sample_pmu_asked, false);
	return NMI_HANDLED;
}

/*
 * In a kernel thread on the CPU. There is no tick from the first to the last: perf stops a counter
 * that has too many samples in one.
 */
static noinline long sample_pmu_count(void *data)
{
	unsigned int nr = *(unsigned int *)data;
	unsigned long flags;

	local_irq_save(flags);
	while (nr--) {
		this_cpu_write(sample_pmu_asked, true);
		apic->send_IPI(smp_processor_id(), NMI_VECTOR);
		while (READ_ONCE(*this_cpu_ptr(&sample_pmu_asked)))
			cpu_relax();
	}
	local_irq_restore(flags);
	return 0;
}

static int sample_pmu_fire(const char *text, const struct kernel_param *param)
{
	unsigned int on, nr;

	/* Not on the command line: nobody handles its NMIs yet. */
	if (THIS_MODULE->state != MODULE_STATE_LIVE)
		return -EBUSY;
	if (sscanf(text, "%u %u", &on, &nr) != 2 || on >= nr_cpu_ids || nr > 10000)
		return -EINVAL;
	guard(cpus_read_lock)();
	return cpu_online(on) ? work_on_cpu(on, sample_pmu_count, &nr) : -ENODEV;
}

static const struct kernel_param_ops sample_pmu_fire_ops = {
	.set = sample_pmu_fire,
};

module_param_cb(fire, &sample_pmu_fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "CPU NUMBER: count so many events on the CPU");

static int __init sample_pmu_module_init(void)
{
	int ret = register_nmi_handler(NMI_LOCAL, sample_pmu_nmi, 0, "trace_sample_pmu");

	if (ret)
		return ret;
	if (no_interrupt)
		sample_pmu.capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
	if (no_exclude)
		sample_pmu.capabilities |= PERF_PMU_CAP_NO_EXCLUDE;
	ret = perf_pmu_register(&sample_pmu, "trace_sample_pmu", -1);
	if (ret)
		unregister_nmi_handler(NMI_LOCAL, "trace_sample_pmu");
	return ret;
}
module_init(sample_pmu_module_init);

/* An event of the PMU holds a reference to the module: there is none. */
static void __exit sample_pmu_module_exit(void)
{
	perf_pmu_unregister(&sample_pmu);
	unregister_nmi_handler(NMI_LOCAL, "trace_sample_pmu");
}
module_exit(sample_pmu_module_exit);

MODULE_DESCRIPTION("A PMU for tests of perf_events");
MODULE_LICENSE("GPL");
/* As MODULE_IMPORT_NS() does, which takes a name in older kernels and a string in newer ones. */
MODULE_INFO(import_ns, "TRACE_SAMPLE_PMU");
