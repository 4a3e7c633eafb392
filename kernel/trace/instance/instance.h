/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instances: functions for the files of kernel/trace/.
 */
#ifndef _KERNEL_TRACE_INSTANCE_H
#define _KERNEL_TRACE_INSTANCE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

struct cred;
struct dentry;
struct trace_array;
struct tracer;

/*
 * Serializes expansions, and changes of &trace_array.tracing_cpumask. Innermost but for
 * the locks of the ring buffer; the mmap lock may be held.
 */
extern struct mutex trace_expand_mutex;

bool trace_array_is_unexpanded(struct trace_array *tr);
int trace_array_expand_to(struct trace_array *tr, unsigned long size, int cpu);
int trace_array_expand(struct trace_array *tr);
int trace_array_expand_mmap(struct trace_array *tr);
void trace_array_create_allocate(struct trace_array *tr, struct dentry *dir);
int trace_array_set_global(struct trace_array *tr, bool on);
int trace_array_may_set_tracer(struct trace_array *tr, const struct tracer *t);
bool trace_array_has_ring(struct trace_array *tr, int cpu);
int trace_array_may_resize(struct trace_array *tr, int cpu);

/* A unit test lowers it. */
extern unsigned int session_cut_max;

int trace_session_join(struct trace_array *tr, const char *name, const struct cred *opener);
int trace_session_leave(struct trace_array *tr, const char *name);
void trace_session_end(struct trace_array *tr);
void trace_session_switched(struct trace_array *tr);
int trace_session_may_set_clock(struct trace_array *tr, int clock_id);
int trace_session_erase(struct trace_array *tr, int cpu);

void __trace_array_put(struct trace_array *tr);
void instance_lost_file(void);
void trace_create_instances(struct dentry *top);
struct trace_array *trace_create_boot_instance(char *text, unsigned long per_cpu);
void trace_create_boot_instances(void);

/**
 * trace_wait_for_probes() - wait until nothing uses what a probe has found before
 *
 * A probe of a tracepoint can be preempted, also before it disables preemption to record. A probe
 * of a function or of perf, and all that records, is in a read side of RCU.
 *
 * A removal of an instance waits once for all of its parts, also where it has no rings: PIDs and
 * the options event-fork and function-fork have probes. Before it, there is one wait for all
 * triggers and lines of stop_on for events, because a trigger that is freed can disable another
 * event. The function tracer has its own, and so has the core of tracepoints where the probe of
 * another user becomes the only one.
 *
 * Context: May sleep.
 */
static inline void trace_wait_for_probes(void)
{
	unsigned long rcu = get_state_synchronize_rcu();

	tracepoint_synchronize_unregister();
	/* Where tracepoints have their own kind of RCU only, that need not have waited for this. */
	cond_synchronize_rcu(rcu);
}

#endif /* _KERNEL_TRACE_INSTANCE_H */
