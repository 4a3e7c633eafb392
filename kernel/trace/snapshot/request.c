// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the kernel, of triggers and of latency tracers.
 */
#include <linux/export.h>

#include "internal.h"

/**
 * tracing_snapshot_instance() - take a snapshot
 * @tr: the trace array
 *
 * A request that fails is counted in the file "snapshots".
 *
 * Context: Any context, including NMI.
 */
void tracing_snapshot_instance(struct trace_array *tr)
{
	const struct snap_request req = { .cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL };

	snap_take(tr->snapshots, &tr->snapshots->user, &req);
}

/**
 * trace_snapshot_filtered() - take a snapshot for a trigger with a filter
 * @file:   the event of the trigger; the event has been committed, or is in flight
 * @filter: text of the filter, or NULL
 * @cond:   condition, or NULL
 *
 * Context: Any context, including NMI.
 * Return: false if it was refused, but may be taken if it is requested again.
 */
bool trace_snapshot_filtered(struct trace_event_file *file, const char *filter,
			     const struct snap_cond *cond)
{
	struct trace_snapshots *s = file->tr->snapshots;
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_TRIGGER,
		.event = trace_event_name(file->event_call),
		.filter = filter,
		.cond = cond,
	};
	int ret = snap_take(s, &s->user, &req);

	/* If the first ones are kept, there will be no others. */
	return !ret || ret == -EINPROGRESS || ret == -ECANCELED || ret == -EDQUOT;
}

/**
 * trace_snapshot_trigger() - take a snapshot for a trigger
 * @file: as for trace_snapshot_filtered()
 * @cond: as for trace_snapshot_filtered()
 *
 * Context: Any context, including NMI.
 * Return: as trace_snapshot_filtered().
 */
bool trace_snapshot_trigger(struct trace_event_file *file, const struct snap_cond *cond)
{
	return trace_snapshot_filtered(file, NULL, cond);
}

/**
 * trace_snapshot_forget() - end the life of a condition's data
 * @tr:   the trace array of its requests
 * @data: the data; the condition is &snap_cond.lasts
 * @end:  has the condition want no more snapshots; or NULL, then nobody requests any with it
 *
 * A request that waits for a snapshot goes on without it.
 *
 * Context: A task.
 */
void trace_snapshot_forget(struct trace_array *tr, void *data, void (*end)(void *data))
{
	struct snap_cond *cell = tr->snapshots->pending.cells;
	unsigned int i;

	guard(snap_change)(tr->snapshots);
	if (end)
		end(data);
	for (i = 0; i < SNAP_CELLS; i++, cell++) {
		if (cell->data == data)
			*cell = (struct snap_cond){ };
	}
}

/**
 * tracing_snapshot() - take a snapshot of the top trace array
 *
 * Its buffer is allocated before, by tracing_alloc_snapshot() or by
 * "echo 1 > snapshot_allocate". Without one the request is counted as refused.
 *
 * Context: Any context, including NMI.
 */
void tracing_snapshot(void)
{
	struct trace_array *tr = top_trace_array();

	/* Early in the boot there is none. */
	if (tr)
		tracing_snapshot_instance(tr);
}
EXPORT_SYMBOL_GPL(tracing_snapshot);

/**
 * snap_expand_live() - give the live buffer its full size before a buffer like it is allocated
 * @tr: the trace array
 *
 * Memory that survives a reboot has its size from the boot on.
 *
 * Context: May sleep, trace_types_lock and &trace_snapshots.mutex are not held.
 * Return: 0; -ENOMEM, or -ENOSPC as snap_check_limit().
 */
int snap_expand_live(struct trace_array *tr)
{
	return tr->range_addr_start ? 0 : min(tracing_update_buffers(tr), 0);
}

/**
 * tracing_alloc_snapshot_instance() - allocate the buffer for the next snapshot
 * @tr: the trace array
 *
 * The buffer stays until user space writes 0 to one of the files.
 *
 * Context: May sleep.
 * Return: 0, or as snap_alloc_spare().
 */
int tracing_alloc_snapshot_instance(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret = snap_expand_live(tr);

	if (ret)
		return ret;
	guard(mutex)(&s->mutex);
	ret = snap_provide(s, &s->user);
	if (!ret)
		s->pinned = true;
	return ret;
}

/**
 * tracing_alloc_snapshot() - allocate the buffer for the next snapshot of the top trace array
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
 * tracing_snapshot_alloc() - allocate the buffer for a snapshot if need be, and take it
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
 * snap_arm_user() - rely on a buffer for the snapshots of a trigger or a function
 * @tr:   the trace array
 * @file: name of the file that was written, for error_log
 *
 * Context: May sleep.
 * Return: 0, and tracing_disarm_snapshot() has to follow; or as snap_provide().
 */
int snap_arm_user(struct trace_array *tr, const char *file)
{
	struct trace_snapshots *s = tr->snapshots;
	int ret = snap_expand_live(tr);

	if (ret)
		return ret;
	guard(mutex)(&s->mutex);
	ret = snap_arm(s, &s->user);
	snap_report(s, NULL, file, "snapshot", ret);
	return ret;
}

/**
 * tracing_arm_snapshot() - rely on a buffer for the snapshots of a trigger
 * @tr: the trace array
 *
 * Context: May sleep.
 * Return: 0, and tracing_disarm_snapshot() has to follow; or as snap_provide().
 */
int tracing_arm_snapshot(struct trace_array *tr)
{
	return snap_arm_user(tr, "trigger");
}

/**
 * tracing_disarm_snapshot() - no longer rely on a buffer for the snapshots of a trigger
 * @tr: the trace array
 *
 * The buffer stays until user space frees it.
 *
 * Context: Any context.
 */
void tracing_disarm_snapshot(struct trace_array *tr)
{
	snap_disarm(&tr->snapshots->user);
}

/**
 * update_max_tr() - store the longest latency so far, with a snapshot
 * @tr:      the trace array
 * @tsk:     the task that suffered it
 * @tsk_cpu: the CPU of the task
 * @cpu:     CPU of the snapshot, or RING_BUFFER_ALL_CPUS
 * @latency: the latency, in the unit of &trace_array.max_latency
 *
 * If the snapshot is refused, nothing is stored.
 *
 * Context: Interrupts are off.
 */
void update_max_tr(struct trace_array *tr, struct task_struct *tsk, int tsk_cpu, int cpu,
		   unsigned long latency)
{
	const struct snap_request req = {
		.cpu = cpu,
		.by = SNAP_BY_TRACER,
		.tsk = tsk,
		.tsk_cpu = tsk_cpu,
		.latency = latency,
	};

	/*
	 * A maximum without a snapshot would keep smaller ones from being shown. Of one that comes
	 * when recording is off, the records are missing.
	 */
	if (tr->stop_count || !ring_buffer_is_switched_on(tr->array_buffer.buffer) ||
	    snap_take(tr->snapshots, &tr->snapshots->max, &req))
		return;
	tr->max_latency = latency;
	tracing_record_cmdline(tsk);
	latency_fsnotify(tr);
}
