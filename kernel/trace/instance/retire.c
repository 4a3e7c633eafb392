// SPDX-License-Identifier: GPL-2.0
/*
 * Retire the instances of open files that have ended, and remove them.
 */
#include "internal.h"

/**
 * DOC: Instances of open files
 *
 * An open file of "instance_open" owns an instance. Other files of the instance may be open
 * longer, in any process. They stay readable, as those of a retired snapshot do.
 *
 * ========  ==================  ===================================================
 * state     &struct trace_array  what holds
 * ========  ==================  ===================================================
 * owned     .owned              The owner has a reference, so that rmdir fails with
 *                               -EBUSY. Else it is as any other instance.
 * retired   .retired            No file can be opened. Nothing records but what an
 *                               open file does. It is no channel, and has none.
 *                               Its kept snapshots are retired; one that has an
 *                               owner stays.
 * removed                       No reference, no snapshot with an owner, and no
 *                               open snapshot was left.
 * ========  ==================  ===================================================
 *
 * From owned to retired: the release of the file, in any task and under unknown locks, adds
 * its &struct instance_owner to instance_ended, and queues the reaper. From retired to
 * removed: the reaper tries it at once. If something is open then, __trace_array_put() of
 * it, or of a kept snapshot of it, queues the reaper again, which is what .retired points to.
 * A put leaves the list of trace arrays alone, because it does not have event_mutex.
 *
 * The reaper takes event_mutex, and then trace_types_lock. It removes triggers without the
 * latter: a histogram with variables holds a reference, and takes that lock to put it. Such
 * a reference cannot come again, because trace_array_get() fails from then on. So
 * instance_retire() needs trace_types_lock several times. Between them event_mutex keeps out all
 * others that create, remove, or change events.
 */

static LLIST_HEAD(instance_ended);
static void instance_reap(struct work_struct *work);
static DECLARE_WORK(instance_reaper, instance_reap);

static void instance_retire(struct trace_array *tr)
{
	struct trace_event_file *file;

	guard(mutex)(&event_mutex);
	scoped_guard(mutex, &trace_types_lock) {
		tr->owned = false;
		WRITE_ONCE(tr->retired, &instance_reaper);
	}
	clear_event_triggers(tr, NULL);

	trace_session_end(tr);
	guard(mutex)(&trace_types_lock);
	instance_leave_session(tr);
	instance_stop(tr);
	list_for_each_entry(file, &tr->events, list)
		trace_event_enable_disable(file, 0, 0);
	tracer_tracing_off(tr);
	/* Readers that sleep come to the end of the file. */
	ring_buffer_wake_waiters(tr->array_buffer.buffer, RING_BUFFER_ALL_CPUS);
	trace_snapshot_retire(tr);
	__trace_array_put(tr);
}

/* Remove a retired instance that nothing holds. Return: false if there is none. */
static bool instance_remove_retired(void)
{
	struct trace_array *tr;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->retired && !instance_remove(tr))
			return true;
	}
	return false;
}

static void instance_reap(struct work_struct *work)
{
	struct instance_owner *owner, *next;

	llist_for_each_entry_safe(owner, next, llist_del_all(&instance_ended), ended) {
		instance_retire(owner->tr);
		kfree(owner);
	}
	while (instance_remove_retired())
		;
}

/**
 * instance_end_owner() - end the life of an instance that has an owner
 * @owner: the owner, which is freed later
 *
 * Context: Any context.
 */
void instance_end_owner(struct instance_owner *owner)
{
	llist_add(&owner->ended, &instance_ended);
	queue_work(system_dfl_wq, &instance_reaper);
}
