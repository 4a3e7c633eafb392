// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks for a snapshot where it cannot sleep: the kernel, triggers, conditions,
 * latency tracers.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * tracing_snapshot_instance() - take a snapshot
 * @tr: of whom
 *
 * If it can't be taken, it is counted, see the file "snapshots".
 *
 * Context: Any context, including NMI.
 */
void tracing_snapshot_instance(struct trace_array *tr)
{
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL };

	snap_take(tr->snapshots, &tr->snapshots->user, &req);
}

/**
 * trace_snapshot_trigger() - take a snapshot for a trigger
 * @file:   its event
 * @update: whether one is to be taken, or NULL; asked with interrupts off, one at a time
 *	    of an instance, and only if nothing else can fail
 * @data:   for @update
 *
 * Context: Any context, including NMI.
 */
void trace_snapshot_trigger(struct trace_event_file *file, cond_update_fn_t update, void *data)
{
	struct trace_snapshots *s = file->tr->snapshots;
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_TRIGGER,
		.event = trace_event_name(file->event_call),
		.update = update,
		.cond_data = data,
	};

	snap_take(s, &s->user, &req);
}

/**
 * snap_request_function() - take a snapshot, as a function was called
 * @tr: of whom
 * @ip: which function
 *
 * Context: Any context, including NMI.
 */
void snap_request_function(struct trace_array *tr, unsigned long ip)
{
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_FUNCTION,
		.ip = ip,
	};

	snap_take(tr->snapshots, &tr->snapshots->user, &req);
}

/**
 * tracing_snapshot() - take a snapshot of the top trace array
 *
 * It needs memory that was allocated before, by tracing_alloc_snapshot() or by
 * "echo 1 > snapshot_allocate". If there is none it is counted, and tracing goes on.
 *
 * Context: Any context, including NMI.
 */
void tracing_snapshot(void)
{
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL };
	struct trace_array *tr = top_trace_array();

	/* There is none early in the boot. */
	if (tr)
		snap_take(tr->snapshots, &tr->snapshots->user, &req);
}
EXPORT_SYMBOL_GPL(tracing_snapshot);

/**
 * tracing_alloc_snapshot_instance() - allocate memory for the next snapshot
 * @tr: of whom
 *
 * It stays until somebody writes 0 to one of the files.
 *
 * Context: May sleep.
 * Return: 0, or as snap_alloc_spare().
 */
int tracing_alloc_snapshot_instance(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret;

	mutex_lock(&s->mutex);
	ret = snap_provide(s, &s->user);
	if (!ret)
		s->pinned = true;
	mutex_unlock(&s->mutex);
	return ret;
}

/**
 * tracing_alloc_snapshot() - allocate memory for the next snapshot of the top trace array
 *
 * Context: May sleep.
 * Return: 0; -ENODEV early in the boot; as snap_alloc_spare().
 */
int tracing_alloc_snapshot(void)
{
	struct trace_array *tr = top_trace_array();

	return tr ? tracing_alloc_snapshot_instance(tr) : -ENODEV;
}
EXPORT_SYMBOL_GPL(tracing_alloc_snapshot);

/**
 * tracing_snapshot_alloc() - take a snapshot, and allocate the memory if need be
 *
 * Context: May sleep.
 */
void tracing_snapshot_alloc(void)
{
	if (!tracing_alloc_snapshot())
		tracing_snapshot();
}
EXPORT_SYMBOL_GPL(tracing_snapshot_alloc);

/**
 * tracing_arm_snapshot() - reserve the memory that a trigger's snapshots need
 * @tr: of whom
 *
 * Context: May sleep.
 * Return: 0, and tracing_disarm_snapshot() or tracing_unarm_snapshot() has to follow; or as
 *	   snap_provide().
 */
int tracing_arm_snapshot(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret;

	mutex_lock(&s->mutex);
	ret = snap_arm(s, &s->user);
	mutex_unlock(&s->mutex);
	return ret;
}

/**
 * tracing_disarm_snapshot() - the end of tracing_arm_snapshot()
 * @tr: of whom
 *
 * The memory stays until somebody frees it.
 *
 * Context: Any context.
 */
void tracing_disarm_snapshot(struct trace_array *tr)
{
	snap_disarm(&tr->snapshots->user);
}

/**
 * tracing_unarm_snapshot() - undo tracing_arm_snapshot()
 * @tr: of whom
 *
 * For a trigger that could not be made after all. If the memory was allocated for it, and
 * nobody else has asked for some since, it is freed.
 *
 * Context: May sleep.
 */
void tracing_unarm_snapshot(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;

	mutex_lock(&s->mutex);
	snap_unarm(s, &s->user);
	mutex_unlock(&s->mutex);
}

static void snap_take_max(struct trace_array *tr, struct task_struct *tsk, int tsk_cpu, int cpu)
{
	const struct snap_request req = {
		.cpu = cpu,
		.by = SNAP_BY_TRACER,
		.tsk = tsk,
		.tsk_cpu = tsk_cpu,
	};
	struct trace_snapshots *s = tr->snapshots;

	if (tr->stop_count)
		return;
	if (snap_take(s, &s->max, &req)) {
		/* Then it is not the longest; that is what can be looked at. */
		tr->max_latency = s->max_latency < tr->max_latency ? s->max_latency : 0;
		return;
	}
	s->max_latency = tr->max_latency;
	tracing_record_cmdline(tsk);
	latency_fsnotify(tr);
}

/**
 * update_max_tr() - keep what led to the longest latency so far
 * @tr:  whose
 * @tsk: the task that suffered it
 * @cpu: where
 *
 * Context: Interrupts are off.
 */
void update_max_tr(struct trace_array *tr, struct task_struct *tsk, int cpu)
{
	snap_take_max(tr, tsk, cpu, RING_BUFFER_ALL_CPUS);
}

/**
 * update_max_tr_single() - keep what led to the longest latency so far, of one CPU
 * @tr:  whose
 * @tsk: the task that suffered it
 * @cpu: where
 *
 * Context: Interrupts are off.
 */
void update_max_tr_single(struct trace_array *tr, struct task_struct *tsk, int cpu)
{
	snap_take_max(tr, tsk, cpu, cpu);
}
