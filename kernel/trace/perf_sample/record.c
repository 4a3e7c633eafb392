// SPDX-License-Identifier: GPL-2.0
/*
 * Write a sample, in the context of the event: a task, an interrupt, or an NMI.
 *
 * All that is called here works in an NMI: the ring buffer, triggers and filters as for any
 * other trace event, and perf_callchain(), which perf calls in the same place.
 */
#include "internal.h"

/* &hw_perf_event.interrupts of a counter that perf has just stopped until the next tick */
#define SAMPLER_THROTTLED	(~0ULL)

/* Queues sampler_work() */
struct irq_work sampler_irq;

/* Copy a part of the stack to @pos of a record. Return: its place, as __data_loc has it. */
static u32 sample_copy_stack(struct sample_entry *entry, unsigned int *pos, const u64 *ips,
			     unsigned int nr)
{
	unsigned long *to = (void *)entry + *pos;
	u32 loc = *pos | (u32)(nr * sizeof(*to)) << 16;
	unsigned int i;

	for (i = 0; i < nr; i++)
		to[i] = ips[i];
	*pos += nr * sizeof(*to);
	return loc;
}

static void sample_fill(struct sample_entry *entry, const struct trace_sampler *s, size_t name_size,
			const struct sample_stack *stack, struct perf_sample_data *data,
			struct perf_event *counter, struct pt_regs *regs)
{
	unsigned int pos = offsetof(struct sample_entry, data);

	entry->ip = perf_instruction_pointer(counter, regs);
	entry->addr = data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0;
	entry->period = data->period;
	entry->tgid = current->tgid;
	entry->mode = perf_misc_flags(counter, regs) & PERF_RECORD_MISC_CPUMODE_MASK;
	entry->event = pos | (u32)name_size << 16;
	memcpy(entry->data, s->spec.name, name_size);
	pos = ALIGN(pos + name_size, sizeof(long));
	entry->kernel = sample_copy_stack(entry, &pos, stack->kernel, stack->nr_kernel);
	entry->user = sample_copy_stack(entry, &pos, stack->user, stack->nr_user);
}

/**
 * sampler_is_off() - is everything off that could take a sample?
 * @file: the event perf:sample of an instance
 *
 * A buffer that is disabled for a moment, and the filters of CPUs and tasks, make no difference. A
 * trigger sees samples also if it keeps the event disabled, but not while recording is off.
 *
 * Context: Any context; the instance is not freed meanwhile.
 * Return: true if recording is switched off, or the event is disabled.
 */
bool sampler_is_off(const struct trace_event_file *file)
{
	unsigned long flags = READ_ONCE(file->flags);

	if (!(flags & EVENT_FILE_FL_ENABLED))
		return true;
	if ((flags & EVENT_FILE_FL_SOFT_DISABLED) && !(flags & EVENT_FILE_FL_TRIGGER_MODE))
		return true;
	return !ring_buffer_is_switched_on(file->tr->array_buffer.buffer);
}

/**
 * sampler_queue_work() - have sampler_work() follow the switches
 *
 * A CPU in hotplug does not queue it: the callbacks for CPUs that have come or gone do.
 *
 * Context: Any context, including NMI.
 */
void sampler_queue_work(void)
{
	guard(preempt_notrace)();
	if (ring_buffer_is_alive())
		irq_work_queue(&sampler_irq);
}

/* See DOC: counters that rest */
static void sampler_rest(struct perf_event *counter, const struct trace_event_file *file)
{
	perf_event_disable_inatomic(counter);
	/* Pairs with the barriers of rb_tell_on() and trace_samplers_follow(). */
	smp_mb();
	if (!sampler_is_off(file))
		sampler_queue_work();
}

/* Does the instance want samples now? A filter and a trigger with a condition look later. */
static bool sample_is_wanted(struct trace_event_file *file)
{
	struct trace_array *tr = file->tr;

	if (!(file->flags & EVENT_FILE_FL_ENABLED) || trace_trigger_soft_disabled(file))
		return false;
	if (file->flags & EVENT_FILE_FL_PID_FILTER && trace_event_ignore_this_pid(file))
		return false;
	return ring_buffer_record_is_on(tr->array_buffer.buffer) &&
	       cpumask_test_cpu(smp_processor_id(), tr->tracing_cpumask);
}

/* Has the instance wanted samples all the time since @time, so that the ring refused this one? */
static bool sample_was_wanted(struct trace_event_file *file, u64 time, unsigned int generation)
{
	u64 since, until;

	return sample_is_wanted(file) && generation == tracing_all_generation() &&
	       ring_buffer_was_on(file->tr->array_buffer.buffer, &since, &until) && since < time;
}

/*
 * The context where the event occurred. perf disables preemption for a fault, not for what the
 * scheduler or an interrupt counts.
 */
static unsigned int sample_context(const struct perf_event_attr *attr)
{
	unsigned int ctx = tracing_gen_ctx();

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT) || attr->type != PERF_TYPE_SOFTWARE)
		return ctx;
	switch (attr->config) {
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_ALIGNMENT_FAULTS:
	case PERF_COUNT_SW_EMULATION_FAULTS:
		return ctx - 1;
	default:
		return ctx;
	}
}

/*
 * Return: false if the ring buffer refuses the record: the context of the sample is writing one,
 *	   or there is no room.
 */
static bool sample_write(struct trace_sampler *s, struct trace_event_file *file,
			 const struct sample_stack *stack, unsigned int ctx,
			 struct perf_sample_data *data, struct perf_event *counter,
			 struct pt_regs *regs)
{
	struct trace_buffer *buffer = file->tr->array_buffer.buffer;
	size_t name_size = strlen(s->spec.name) + 1;
	size_t size = ALIGN(offsetof(struct sample_entry, data) + name_size, sizeof(long)) +
		      (stack->nr_kernel + stack->nr_user) * sizeof(long);
	struct trace_event_buffer fbuffer;
	struct sample_entry *entry;

	/* The console that tp_printk writes to has a lock. */
	if (in_nmi() && tracepoint_printk)
		return false;
	entry = trace_event_buffer_reserve(&fbuffer, file, size);
	if (!entry)
		return false;
	/* Not the context that is taken there: that is one of a tracepoint. */
	fbuffer.trace_ctx = ctx;
	tracing_generic_entry_update(&entry->ent, file->event_call->event.type, ctx);
	fbuffer.regs = regs;
	sample_fill(entry, s, name_size, stack, data, counter, regs);
	trace_event_buffer_commit(&fbuffer);
	/* A trigger with a condition has looked at a record that is in no buffer of an instance. */
	return fbuffer.buffer == buffer;
}

/* How many entries of a stack fit in a record; the places of its parts have 16 bits */
static unsigned int sample_max_stack(struct trace_event_file *file)
{
	size_t size = min(ring_buffer_max_event_size(file->tr->array_buffer.buffer), U16_MAX);

	return (size - sizeof(struct sample_entry) - SAMPLER_NAME_SIZE) / sizeof(long);
}

/**
 * sampler_overflow() - write a sample
 * @counter: the counter, with its sampler as context
 * @data:    the sample, as perf has it
 * @regs:    the registers where the event occurred
 *
 * The overflow handler of the counters. Nothing is counted while the instance does not record,
 * or does not want the sample. While it is off, the counter rests.
 *
 * Context: Any context, including NMI, with preemption disabled.
 */
void sampler_overflow(struct perf_event *counter, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	struct trace_sampler *s = counter->overflow_handler_context;
	struct sampler_cpu *cpu = this_cpu_ptr(s->cpus);
	struct trace_event_file *file = rcu_dereference_sched(s->file);
	struct sample_stack stack = {};
	unsigned int ctx, generation;
	u64 time;

	if (!file)
		return;
	generation = tracing_all_generation();
	time = ring_buffer_time_stamp(file->tr->array_buffer.buffer);
	if (sampler_is_off(file)) {
		sampler_rest(counter, file);
		return;
	}
	if (counter->hw.interrupts == SAMPLER_THROTTLED)
		local_inc(&cpu->throttled);
	if (!sample_is_wanted(file))
		return;
	ctx = sample_context(&counter->attr);
	/* Until the record is written, perf does not free the memory of the stack. */
	guard(rcu)();
	if (s->spec.stack) {
		sample_split_stack(&stack, perf_callchain(counter, regs), sample_max_stack(file));
		if (!stack.nr_kernel && !stack.nr_user)
			local_inc(&cpu->stackless);
	}
	if (sample_write(s, file, &stack, ctx, data, counter, regs))
		local_inc(&cpu->samples);
	/* If recording was off for a moment since then, nothing refused it. */
	else if (sample_was_wanted(file, time, generation))
		local_inc(&cpu->refused);
}
