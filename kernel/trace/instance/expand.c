// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate the rings of an instance when they are needed, and free them.
 *
 * An instance is created without rings. Everything that enables recording and may sleep
 * expands it first, so the rings are complete before the first writer looks for them: an
 * event (also one that a trigger enables softly), a command of a function, a tracer,
 * trace_marker, trace_printk_dest, trace_array_init_printk(), a snapshot, a mapping, a size.
 */
#include "internal.h"

/* Also for changes of &trace_array.tracing_cpumask, see instance.h */
DEFINE_MUTEX(trace_expand_mutex);

/**
 * trace_array_is_unexpanded() - is a trace array an instance without rings?
 * @tr: the trace array
 *
 * The top trace array has small rings until it is used, which is something else.
 *
 * Context: Any context.
 * Return: true if it is.
 */
bool trace_array_is_unexpanded(struct trace_array *tr)
{
	return tr->name && !READ_ONCE(tr->ring_buffer_expanded);
}

/**
 * trace_array_has_ring() - is there a ring for a CPU, or will there be one?
 * @tr:  the trace array
 * @cpu: the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: Any context.
 * Return: false for all CPUs but one, where they have one ring.
 */
bool trace_array_has_ring(struct trace_array *tr, int cpu)
{
	return cpu == RING_BUFFER_ALL_CPUS || cpu == ring_buffer_home() ||
	       !ring_buffer_is_global(tr->array_buffer.buffer);
}

/* Set the sizes that files show: @cpu has a size of its own, unless it is RING_BUFFER_ALL_CPUS. */
static void instance_set_entries(struct trace_array *tr, int cpu)
{
	struct array_buffer *buf = &tr->array_buffer;
	unsigned long own = ring_buffer_size(buf->buffer, cpu), size = 0;
	int i;

	for_each_tracing_cpu(i) {
		if (i != cpu)
			size = max(size, ring_buffer_size(buf->buffer, i));
	}
	/* All others have this size, also those of CPUs that come online later, as at boot. */
	if (!size)
		size = own;
	for_each_tracing_cpu(i) {
		per_cpu_ptr(buf->data, i)->entries =
			!trace_array_has_ring(tr, i) ? 0 : i == cpu ? own : size;
	}
}

static int instance_expand(struct trace_array *tr, unsigned long size, int cpu)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	int ret;

	guard(mutex)(&trace_expand_mutex);
	ring_buffer_record_disable(buffer);
	if (cpu == RING_BUFFER_ALL_CPUS)
		ret = ring_buffer_expand(buffer, size);
	else
		ret = ring_buffer_expand_cpu(buffer, trace_buf_size, cpu, size);
	if (!ret) {
		instance_set_entries(tr, cpu);
		WRITE_ONCE(tr->ring_buffer_expanded, true);
	}
	ring_buffer_record_enable(buffer);
	return ret;
}

/**
 * trace_array_expand_to() - give an instance its rings, with a size
 * @tr:   the instance
 * @size: bytes for records
 * @cpu:  of this CPU, the others have the default; or of each: RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep, the mmap lock is not held.
 * Return: 0; 1 if it has its rings already; -ENOMEM; -ENODEV if @cpu never was online. On an
 *	   error nothing has changed.
 */
int trace_array_expand_to(struct trace_array *tr, unsigned long size, int cpu)
{
	int ret = instance_expand(tr, size, cpu);

	/* A snapshot of its session is refused if there is no buffer for this part of it. */
	if (!ret)
		trace_snapshot_add_rings(tr);
	return ret;
}

/**
 * trace_array_expand() - give an instance its rings before something records
 * @tr: the trace array
 *
 * Context: May sleep, the mmap lock is not held.
 * Return: 0 or -ENOMEM.
 */
int trace_array_expand(struct trace_array *tr)
{
	if (!trace_array_is_unexpanded(tr))
		return 0;
	return min(trace_array_expand_to(tr, trace_buf_size, RING_BUFFER_ALL_CPUS), 0);
}

/**
 * trace_array_expand_mmap() - give an instance its rings before they are mapped
 * @tr: the trace array
 *
 * If it is a channel, a request for a snapshot of its session may be refused once; then the
 * worker of the snapshots allocates a buffer for this part of it.
 *
 * Context: May sleep, the mmap lock is held.
 * Return: 0 or -ENOMEM.
 */
int trace_array_expand_mmap(struct trace_array *tr)
{
	if (!trace_array_is_unexpanded(tr))
		return 0;
	return min(instance_expand(tr, trace_buf_size, RING_BUFFER_ALL_CPUS), 0);
}

static bool instance_has_probes(struct trace_array *tr)
{
#if defined(CONFIG_FUNCTION_TRACER) && defined(CONFIG_DYNAMIC_FTRACE)
	return !list_empty(&tr->func_probes);
#else
	return false;
#endif
}

/* May anything record, other than user space through an open file? */
static bool instance_records(struct trace_array *tr)
{
	struct trace_event_file *file;

	lockdep_assert_held(&event_mutex);
	if (tr->current_trace != &nop_trace || tr->trace_flags & INSTANCE_FED_FLAGS ||
	    instance_has_probes(tr) || trace_snapshot_is_used(tr))
		return true;
	list_for_each_entry(file, &tr->events, list) {
		if (file->flags & EVENT_FILE_FL_ENABLED)
			return true;
	}
	return false;
}

static int instance_free_rings(struct trace_array *tr)
{
	int cpu, ret;

	lockdep_assert_held(&trace_expand_mutex);
	ret = ring_buffer_unexpand(tr->array_buffer.buffer);
	if (ret)
		return ret;
	for_each_tracing_cpu(cpu)
		per_cpu_ptr(tr->array_buffer.data, cpu)->entries = 0;
	WRITE_ONCE(tr->ring_buffer_expanded, false);
	return 0;
}

/**
 * instance_unexpand() - free the rings of an instance
 * @tr: the instance; the caller has one file of it open
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0; -EBUSY if something records, or other files are open, or it is a channel, or
 *	   it has its rings for good; -ENOTEMPTY if it has records; -ENOMEM.
 */
int instance_unexpand(struct trace_array *tr)
{
	int ret;

	lockdep_assert_held(&trace_types_lock);
	if (trace_array_is_unexpanded(tr))
		return 0;
	/* One reference is that of its existence, and one may be that of its owner. */
	if (tr->flags & TRACE_ARRAY_FL_EXPANDED || tr->ref > 2 + tr->owned || tr->session ||
	    instance_records(tr))
		return -EBUSY;
	/* A writer that found its event enabled may be in the buffer. */
	trace_wait_for_probes();
	/* A reader in /proc/PID/trace has no reference. */
	trace_view_begin_change(tr);
	scoped_guard(mutex, &trace_expand_mutex)
		ret = ring_buffer_empty(tr->array_buffer.buffer) ? instance_free_rings(tr) :
								   -ENOTEMPTY;
	trace_view_end_change(tr);
	return ret;
}
