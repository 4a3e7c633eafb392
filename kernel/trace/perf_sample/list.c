// SPDX-License-Identifier: GPL-2.0
/*
 * Which samplers an instance has, and CPUs that come and go.
 */
#include <linux/cpuhotplug.h>

#include "internal.h"

/**
 * DOC: the life of a sampler
 *
 *   listed    sampler_add() has created its counters, and they record
 *   detached  the instance is being removed, or is retired: &trace_sampler.tr is NULL. A sample
 *             is dropped, so the instance can be freed after a grace period, which its removal
 *             waits for anyway
 *   freed     sampler_work() has released its counters
 *
 * The user can remove a listed one, which frees it at once.
 *
 * Each write to tracing_on waits for sampler_work(), and that waits for sampler_mutex. A reader of
 * "perf_events" may be throttled, so it does not take that lock: a worker does, see
 * trace_job_run(), and it does the same as sampler_work() first.
 *
 * Counters are created and released under sampler_mutex, which is the outermost lock: perf takes
 * the lock of CPU hotplug for it, and the locks of PMUs, and trace events take event_mutex inside
 * of some of those. But the removal of an instance holds event_mutex, a callback of CPU hotplug
 * holds the lock of CPU hotplug, and a counter runs in any context. So they only make a note, and
 * queue sampler_work():
 *
 *   removal   a sampler without event is detached
 *   hotplug   sampler_online has the CPUs that can have counters, sampler_stale those that
 *             were offline since the work has looked. perf has disabled counters there for good
 *   end       that of an owner: it disables all events of the instance, and sampler_work()
 *             detaches the samplers of a retired one
 *   switch    a sampler may be on again, see DOC: counters that rest
 *
 * sampler_all changes under sampler_mutex and event_mutex, so either one is enough to walk it.
 * &trace_sampler.tr changes under event_mutex, and to that of a caller with a reference under
 * sampler_mutex, too.
 */
static DEFINE_MUTEX(sampler_mutex);
static LIST_HEAD(sampler_all);
static struct cpumask sampler_online, sampler_stale;
/* There was a sampler since the boot. */
static bool sampler_is_used;

/* Release counters of CPUs that were offline, create those of CPUs that are online. */
static void sampler_follow_cpus(struct trace_sampler *s, const struct cpumask *stale)
{
	struct sampler_fault fault;
	int cpu;

	for_each_cpu(cpu, stale)
		sampler_stop(s, cpu);
	for_each_cpu(cpu, &sampler_online) {
		/* If that fails, "cpus" in perf_events shows it. */
		if (!per_cpu_ptr(s->cpus, cpu)->counter)
			sampler_start(s, cpu, &fault);
	}
}

/*
 * Take a sampler from its instance. Its counters may run on. After synchronize_rcu() none of their
 * samples uses the instance.
 */
static void sampler_detach(struct trace_sampler *s)
{
	lockdep_assert_held(&event_mutex);
	WRITE_ONCE(s->tr, NULL);
	/* Last: sampler_work() frees a sampler that has no event. */
	rcu_assign_pointer(s->file, NULL);
}

/* Move the samplers that have ended, since their instance is removed or its owner has ended. */
static void sampler_unlist_ended(struct list_head *ended)
{
	struct trace_event_file *file;
	struct trace_sampler *s, *next;

	lockdep_assert_held(&event_mutex);
	list_for_each_entry_safe(s, next, &sampler_all, all) {
		file = rcu_dereference_protected(s->file, lockdep_is_held(&event_mutex));
		if (file && !READ_ONCE(file->tr->retired))
			continue;
		sampler_detach(s);
		list_move_tail(&s->all, ended);
	}
}

/* Behind this, no sample of it uses its instance, see sampler_free(). */
static void sampler_unlist(struct trace_sampler *s)
{
	scoped_guard(mutex, &event_mutex) {
		sampler_detach(s);
		list_del(&s->all);
	}
	sampler_free(s);
}

/* Have the counters follow the CPUs and the switches, and free the samplers that have ended. */
static void sampler_follow_all(struct list_head *ended)
{
	struct trace_sampler *s, *next;
	static struct cpumask stale;	/* sampler_mutex */
	int cpu;

	lockdep_assert_held(&sampler_mutex);
	cpumask_clear(&stale);
	for_each_possible_cpu(cpu) {
		if (cpumask_test_and_clear_cpu(cpu, &sampler_stale))
			cpumask_set_cpu(cpu, &stale);
	}
	list_for_each_entry(s, &sampler_all, all) {
		sampler_follow_cpus(s, &stale);
		sampler_resume(s);
	}
	list_for_each_entry_safe(s, next, ended, all)
		sampler_free(s);
}

static void sampler_work_fn(struct work_struct *work)
{
	LIST_HEAD(ended);

	guard(mutex)(&sampler_mutex);
	scoped_guard(mutex, &event_mutex)
		sampler_unlist_ended(&ended);
	sampler_follow_all(&ended);
}

static DECLARE_WORK(sampler_work, sampler_work_fn);

static void sampler_queue(struct irq_work *work)
{
	queue_work(system_dfl_wq, &sampler_work);
}

/**
 * trace_samplers_follow() - have counters follow a change of an event
 * @file: the event, which was enabled, disabled, or got a trigger; counters follow perf:sample only
 *
 * ring_buffer_set_on_work() has the counters follow a change of tracing_on.
 *
 * Context: Any context, including NMI.
 */
void trace_samplers_follow(const struct trace_event_file *file)
{
	if (file->event_call != &sample_call || !READ_ONCE(sampler_is_used))
		return;
	/* Pairs with the barrier of sampler_rest(). */
	smp_mb();
	sampler_queue_work();
}

/**
 * trace_samplers_settle() - wait until the counters have followed the switches
 *
 * tracing_on and the files of events call it, so that nothing is missed that user space does
 * after its write.
 *
 * Context: May sleep, holds no lock.
 */
void trace_samplers_settle(void)
{
	if (!READ_ONCE(sampler_is_used))
		return;
	irq_work_sync(&sampler_irq);
	flush_work(&sampler_work);
}

/**
 * sampler_list_lock() - keep samplers as they are, for sampler_next()
 *
 * The counters have followed all changes of CPUs and switches that have ended. This does not wait
 * for sampler_work(), since nothing could interrupt that.
 *
 * Context: A worker, see trace_job_run().
 * Return: 0, then sampler_list_unlock() has to follow; -EINTR.
 */
int sampler_list_lock(void)
{
	LIST_HEAD(ended);
	int ret = mutex_lock_interruptible(&sampler_mutex);

	if (ret)
		return ret;
	ret = mutex_lock_interruptible(&event_mutex);
	if (ret) {
		mutex_unlock(&sampler_mutex);
		return ret;
	}
	sampler_unlist_ended(&ended);
	mutex_unlock(&event_mutex);
	sampler_follow_all(&ended);
	return 0;
}

/**
 * sampler_list_unlock() - end what sampler_list_lock() has begun
 *
 * Context: The worker of sampler_list_lock().
 */
void sampler_list_unlock(void)
{
	mutex_unlock(&sampler_mutex);
}

/**
 * sampler_next() - find the next sampler of a trace array
 * @tr: the trace array
 * @s:  the sampler before it; NULL to find the first one
 *
 * Context: sampler_list_lock() or event_mutex is held.
 * Return: the sampler, or NULL.
 */
struct trace_sampler *sampler_next(struct trace_array *tr, struct trace_sampler *s)
{
	s = list_prepare_entry(s, &sampler_all, all);
	list_for_each_entry_continue(s, &sampler_all, all) {
		/* That of another trace array may be detached now. */
		if (READ_ONCE(s->tr) == tr)
			return s;
	}
	return NULL;
}

static struct trace_sampler *sampler_find(struct trace_array *tr, const struct sampler_spec *spec)
{
	struct trace_sampler *s = NULL;

	while ((s = sampler_next(tr, s))) {
		if (s->spec.type == spec->type && s->spec.config == spec->config)
			return s;
	}
	return NULL;
}

/* A PMU may be that of some CPUs only, and a CPU may go offline at any time. */
static int sampler_start_all(struct trace_sampler *s, struct sampler_fault *fault)
{
	int cpu, ret, all = -ENODEV;

	for_each_cpu(cpu, &sampler_online) {
		ret = sampler_start(s, cpu, fault);
		if (ret && ret != -ENODEV)
			return ret;
		if (!ret)
			all = 0;
	}
	return all;
}

static struct trace_event_file *sampler_find_file(struct trace_array *tr)
{
	int ret;

	guard(mutex)(&event_mutex);
	ret = trace_array_add_events(tr);
	return ret ? ERR_PTR(ret) :
		     find_event_file(tr, sample_call.class->system, sample_call.name);
}

static int sampler_enable(struct trace_array *tr, bool enable)
{
	/* The top directory has small rings before its first event. */
	int ret = !enable || trace_array_is_unexpanded(tr) ? 0 : tracing_update_buffers(tr);

	if (ret < 0)
		return ret;
	return trace_array_set_clr_event(tr, sample_call.class->system, sample_call.name, enable);
}

/**
 * sampler_add() - have a trace array sample an event
 * @tr:    the trace array; the caller holds a reference
 * @spec:  the event, and the options
 * @fault: on an error, its member @why is set to the reason
 *
 * This enables the event perf:sample, too.
 *
 * Context: May sleep, holds no lock.
 * Return: 0; -EEXIST if @tr samples it already; -ENODEV if no PMU counts it on any CPU, or @tr
 *	   is retired or does not have the event perf:sample; -ENOMEM; another error of
 *	   sampler_start(). On an error nothing has changed.
 */
int sampler_add(struct trace_array *tr, const struct sampler_spec *spec,
		struct sampler_fault *fault)
{
	struct trace_event_file *file;
	struct trace_sampler *s;
	int ret;

	guard(mutex)(&sampler_mutex);
	fault->why = "The event is in the list: remove it first";
	if (sampler_find(tr, spec))
		return -EEXIST;
	fault->why = "The owner of this instance has ended";
	if (READ_ONCE(tr->retired))
		return -ENODEV;
	fault->why = "This instance does not have the event perf:sample";
	file = sampler_find_file(tr);
	if (IS_ERR_OR_NULL(file))
		return PTR_ERR(file) ?: -ENODEV;
	fault->why = SAMPLER_NO_COUNTERS;
	s = sampler_alloc(spec);
	if (!s)
		return -ENOMEM;
	/* Before a counter can rest */
	WRITE_ONCE(sampler_is_used, true);
	ring_buffer_set_on_work(&sampler_irq);
	ret = sampler_start_all(s, fault);
	if (!ret)
		ret = sampler_enable(tr, true);
	if (ret) {
		sampler_free(s);
		return ret;
	}
	guard(mutex)(&event_mutex);
	s->tr = tr;
	rcu_assign_pointer(s->file, file);
	list_add_tail(&s->all, &sampler_all);
	return 0;
}

/**
 * sampler_remove() - have a trace array no longer sample an event
 * @tr:    the trace array; the caller holds a reference
 * @spec:  the event
 * @fault: on an error, its member @why is set to the reason
 *
 * After the last one, the event perf:sample is disabled.
 *
 * Context: May sleep, holds no lock.
 * Return: 0, or -ENOENT if @tr does not sample it.
 */
int sampler_remove(struct trace_array *tr, const struct sampler_spec *spec,
		   struct sampler_fault *fault)
{
	struct trace_sampler *s;

	guard(mutex)(&sampler_mutex);
	s = sampler_find(tr, spec);
	if (!s) {
		fault->why = "The event is not in the list";
		return -ENOENT;
	}
	sampler_unlist(s);
	if (!sampler_next(tr, NULL))
		sampler_enable(tr, false);
	return 0;
}

/**
 * sampler_remove_all() - have a trace array no longer sample any event
 * @tr: the trace array; the caller holds a reference
 *
 * The event perf:sample is disabled.
 *
 * Context: May sleep, holds no lock.
 */
void sampler_remove_all(struct trace_array *tr)
{
	struct trace_sampler *s;

	guard(mutex)(&sampler_mutex);
	if (!sampler_next(tr, NULL))
		return;
	while ((s = sampler_next(tr, NULL)))
		sampler_unlist(s);
	sampler_enable(tr, false);
}

/**
 * trace_samplers_detach() - take all samplers from a trace array
 * @tr: the trace array, which is about to be removed
 *
 * After synchronize_rcu() no sample uses @tr. A worker releases the counters.
 *
 * Context: May sleep, event_mutex is held; nobody has a reference to @tr.
 */
void trace_samplers_detach(struct trace_array *tr)
{
	struct trace_sampler *s;

	lockdep_assert_held(&event_mutex);
	while ((s = sampler_next(tr, NULL))) {
		sampler_detach(s);
		queue_work(system_dfl_wq, &sampler_work);
	}
}

static int sampler_cpu_online(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &sampler_online);
	queue_work(system_dfl_wq, &sampler_work);
	return 0;
}

/* perf disables the counters of this CPU later. */
static int sampler_cpu_offline(unsigned int cpu)
{
	cpumask_clear_cpu(cpu, &sampler_online);
	cpumask_set_cpu(cpu, &sampler_stale);
	queue_work(system_dfl_wq, &sampler_work);
	return 0;
}

/* This CPU may have switched something on when it could not queue irq_work any more. */
static int sampler_cpu_dead(unsigned int cpu)
{
	queue_work(system_dfl_wq, &sampler_work);
	return 0;
}

static int __init sampler_init(void)
{
	int ret;

	init_irq_work(&sampler_irq, sampler_queue);
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "trace/perf_sample:dead", NULL,
					sampler_cpu_dead);
	if (ret >= 0)
		ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "trace/perf_sample:online",
					sampler_cpu_online, sampler_cpu_offline);
	return min(ret, 0);
}
fs_initcall(sampler_init);
