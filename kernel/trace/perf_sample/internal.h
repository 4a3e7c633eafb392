/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of perf events: functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   parse.c    what a line of perf_events means
 *   stack.c    the two parts of a stack
 *   event.c    the trace event perf:sample
 *   record.c   write a sample, in the context of the event
 *   counter.c  a sampler, and its counter on each CPU
 *   list.c     which samplers an instance has; CPUs that come and go
 *   file.c     the file "perf_events"
 */
#ifndef _KERNEL_TRACE_PERF_SAMPLE_INTERNAL_H
#define _KERNEL_TRACE_PERF_SAMPLE_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/local.h>

#include "../trace.h"
#include "../trace_job.h"
#include "parse.h"
#include "stack.h"

/**
 * DOC: counters that rest
 *
 * A counter is in one of these states:
 *
 *   counts   its overflows are samples, or are dropped for a moment
 *   ends     sampler_rest() has found its sampler off, see sampler_is_off(), and has queued
 *            the irq_work by which perf disables the counter. More overflows may come before that
 *   rests    perf has disabled it. No interrupt comes
 *
 * sampler_resume() enables the counters of all samplers that are on. It is queued behind each
 * change that can switch a sampler on: by the ring buffer, by each function that enables the
 * event, and by the end of CPU hotplug, where the others cannot queue it. Before it enables a
 * counter, it waits for the irq_work of that counter: otherwise perf would disable it again.
 *
 * sampler_rest() looks at the switches a second time, behind a full barrier. Each switch to on has
 * a full barrier before it queues sampler_resume(). So either sampler_rest() sees the switch and
 * queues sampler_resume() as well, or sampler_resume() finds the irq_work. If the sampler is off
 * again when its counter is enabled, the counter rests after its next overflow.
 */

/**
 * struct sampler_cpu - a CPU of a sampler
 * @counter:   its counter, or NULL
 * @enabled:   time that former counters were enabled, in ns
 * @running:   time that these had hardware of the PMU, in ns
 * @samples:   number of samples that were written
 * @refused:   number of samples that the ring buffer refused, see sampler_overflow()
 * @throttled: how often perf has stopped the counter until the next tick
 * @stackless: number of samples without the stack that they should have
 */
struct sampler_cpu {
	struct perf_event	*counter;
	u64			enabled;
	u64			running;
	local_t			samples;
	local_t			refused;
	local_t			throttled;
	local_t			stackless;
};

/**
 * struct trace_sampler - an event of perf that an instance samples
 * @all:   link in sampler_all
 * @tr:    the trace array; NULL once it is being removed, see DOC: the life of a sampler
 * @file:  the event perf:sample of the instance; NULL once the instance has no sampler
 *	   any more. The handler reads it with preemption off
 * @spec:  the event, and the options
 * @cpus:  its CPUs
 */
struct trace_sampler {
	struct list_head		all;
	struct trace_array		*tr;
	struct trace_event_file __rcu	*file;
	struct sampler_spec		spec;
	struct sampler_cpu __percpu	*cpus;
};

/**
 * struct sample_entry - the record of a sample
 * @ent:    of each trace event
 * @ip:     address of the instruction
 * @addr:   address of the data, as of a page fault; 0 if there is none
 * @period: number of events since the last sample of this counter
 * @event:  place of the name of the event, as __data_loc has it
 * @kernel: the same of the stack in the kernel, in bytes
 * @user:   the same of the stack in user space
 * @tgid:   thread group of the task; its own number is in @ent
 * @mode:   where @ip is: PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_USER ...
 * @data:   the name and the stacks, at the three places
 */
struct sample_entry {
	struct trace_entry	ent;
	u64			ip;
	u64			addr;
	u64			period;
	u32			event;
	u32			kernel;
	u32			user;
	u32			tgid;
	u32			mode;
	char			data[];
};

/* event.c */
extern struct trace_event_call sample_call;

/* record.c */
extern struct irq_work sampler_irq;
bool sampler_is_off(const struct trace_event_file *file);
void sampler_queue_work(void);
void sampler_overflow(struct perf_event *counter, struct perf_sample_data *data,
		      struct pt_regs *regs);

/* counter.c */
#define SAMPLER_NO_COUNTERS	"The counters cannot be created"
struct trace_sampler *sampler_alloc(const struct sampler_spec *spec);
void sampler_free(struct trace_sampler *s);
int sampler_start(struct trace_sampler *s, int cpu, struct sampler_fault *fault);
void sampler_stop(struct trace_sampler *s, int cpu);
void sampler_resume(struct trace_sampler *s);
void sampler_read_times(struct trace_sampler *s, int cpu, u64 *enabled, u64 *running);

/* list.c */
int sampler_list_lock(void);
struct trace_sampler *sampler_next(struct trace_array *tr, struct trace_sampler *s);
void sampler_list_unlock(void);
int sampler_add(struct trace_array *tr, const struct sampler_spec *spec,
		struct sampler_fault *fault);
int sampler_remove(struct trace_array *tr, const struct sampler_spec *spec,
		   struct sampler_fault *fault);
void sampler_remove_all(struct trace_array *tr);

#endif /* _KERNEL_TRACE_PERF_SAMPLE_INTERNAL_H */
