// SPDX-License-Identifier: GPL-2.0
/*
 * A sampler, and its counter on each CPU.
 */
#include "internal.h"

/**
 * sampler_alloc() - allocate a sampler without counters
 * @spec: the event, and the options
 *
 * Context: May sleep.
 * Return: the sampler, or NULL.
 */
struct trace_sampler *sampler_alloc(const struct sampler_spec *spec)
{
	struct trace_sampler *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->cpus = alloc_percpu(struct sampler_cpu);
	if (!s->cpus) {
		kfree(s);
		return NULL;
	}
	s->spec = *spec;
	return s;
}

/**
 * sampler_free() - release the counters of a sampler, and free it
 * @s: the sampler; it is in no list
 *
 * sampler_overflow() does not run for it any more.
 *
 * Context: May sleep, holds neither event_mutex nor trace_types_lock.
 */
void sampler_free(struct trace_sampler *s)
{
	int cpu;

	for_each_possible_cpu(cpu)
		sampler_stop(s, cpu);
	/*
	 * perf ends a counter by an interrupt on its CPU. That may come while a handler runs
	 * there in a task, as that of a page fault.
	 */
	synchronize_rcu();
	free_percpu(s->cpus);
	kfree(s);
}

/*
 * perf_event_open() makes these settings and checks for user space. precise_ip is 0, so that a
 * counter does not need more of the PMU than an interrupt.
 */
static void sampler_set_attr(const struct sampler_spec *spec, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.size		= sizeof(*attr),
		.type		= spec->type,
		.config		= spec->config,
		.exclude_user	= spec->kernel,
		.exclude_kernel	= spec->user,
		.exclude_hv	= 1,
		.exclude_guest	= 1,
		.exclude_callchain_kernel = spec->user,
	};
	if (spec->freq) {
		attr->freq = 1;
		attr->sample_freq = spec->freq;
	} else {
		attr->sample_period = spec->period;
	}
	if (spec->stack) {
		/* perf allocates the memory that perf_callchain() needs. */
		attr->sample_type = PERF_SAMPLE_CALLCHAIN;
		attr->sample_max_stack = spec->stack;
	}
}

/* An interrupt, and no buffer of the PMU's own */
static bool sampler_can_sample(const struct perf_event *counter)
{
	return !(counter->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT) &&
	       !counter->pmu->setup_aux;
}

/**
 * sampler_start() - have a sampler count on a CPU
 * @s:     the sampler
 * @cpu:   the CPU, on which it does not count yet
 * @fault: on an error, its member @why is set to the reason
 *
 * Context: May sleep, holds neither event_mutex nor trace_types_lock.
 * Return: 0; -ENODEV if no PMU counts the event there, or the CPU is not online; -EOPNOTSUPP if the
 *	   PMU cannot sample; another error of perf.
 */
int sampler_start(struct trace_sampler *s, int cpu, struct sampler_fault *fault)
{
	struct perf_event_attr attr;
	struct perf_event *counter;
	int ret;

	sampler_set_attr(&s->spec, &attr);
	counter = perf_event_create_kernel_counter(&attr, cpu, NULL, sampler_overflow, s);
	if (counter == ERR_PTR(-EINVAL) && !s->spec.user && !s->spec.kernel) {
		/* A PMU may not be able to leave anything out. */
		attr.exclude_hv = 0;
		attr.exclude_guest = 0;
		counter = perf_event_create_kernel_counter(&attr, cpu, NULL, sampler_overflow, s);
	}
	if (!IS_ERR(counter) && !sampler_can_sample(counter)) {
		perf_event_release_kernel(counter);
		counter = ERR_PTR(-EOPNOTSUPP);
	}
	if (!IS_ERR(counter)) {
		per_cpu_ptr(s->cpus, cpu)->counter = counter;
		return 0;
	}
	ret = PTR_ERR(counter) == -ENOENT ? -ENODEV : PTR_ERR(counter);
	fault->why = ret == -ENODEV ? "No PMU of this machine counts this event" :
		     ret == -EOPNOTSUPP ? "Its PMU counts, but cannot sample" : SAMPLER_NO_COUNTERS;
	return ret;
}

/**
 * sampler_stop() - end what sampler_start() has begun
 * @s:   the sampler
 * @cpu: the CPU; the sampler may have no counter on it
 *
 * The counts of the CPU stay.
 *
 * Context: May sleep, holds neither event_mutex nor trace_types_lock.
 */
void sampler_stop(struct trace_sampler *s, int cpu)
{
	struct sampler_cpu *c = per_cpu_ptr(s->cpus, cpu);

	if (!c->counter)
		return;
	sampler_read_times(s, cpu, &c->enabled, &c->running);
	perf_event_release_kernel(c->counter);
	c->counter = NULL;
}

/**
 * sampler_resume() - have the counters of a sampler count again if it is on
 * @s: the sampler
 *
 * See DOC: counters that rest.
 *
 * Context: May sleep, holds neither event_mutex nor trace_types_lock. sampler_start() and
 *	    sampler_stop() are not called meanwhile.
 */
void sampler_resume(struct trace_sampler *s)
{
	struct trace_event_file *file;
	struct perf_event *counter;
	int cpu;

	scoped_guard(rcu) {
		file = rcu_dereference(s->file);
		if (!file || sampler_is_off(file))
			return;
	}
	for_each_possible_cpu(cpu) {
		counter = per_cpu_ptr(s->cpus, cpu)->counter;
		if (!counter)
			continue;
		irq_work_sync(&counter->pending_disable_irq);
		perf_event_enable(counter);
	}
}

/**
 * sampler_read_times() - read for how long a sampler has counted on a CPU
 * @s:       the sampler
 * @cpu:     the CPU; the sampler may have no counter on it
 * @enabled: is set to the time that its counters were enabled, in ns
 * @running: is set to the time that they counted, in ns; less than @enabled if others had the
 *	     hardware of the PMU meanwhile
 *
 * Context: May sleep, holds neither event_mutex nor trace_types_lock.
 */
void sampler_read_times(struct trace_sampler *s, int cpu, u64 *enabled, u64 *running)
{
	struct sampler_cpu *c = per_cpu_ptr(s->cpus, cpu);
	u64 more_enabled = 0, more_running = 0;

	if (c->counter)
		perf_event_read_value(c->counter, &more_enabled, &more_running);
	*enabled = c->enabled + more_enabled;
	*running = c->running + more_running;
}
