// SPDX-License-Identifier: GPL-2.0
/*
 * Create and destroy the snapshots of a trace array; the worker; the command line.
 */
#include <linux/cache.h>	/* what asm/setup.h of arm64 takes for granted */
#include <linux/init.h>
#include <linux/printk.h>

#include <asm/setup.h>	/* COMMAND_LINE_SIZE */

#include "internal.h"

static void snap_work(struct work_struct *work)
{
	struct trace_snapshots *s = container_of(work, struct trace_snapshots, worker.work);
	bool spare;
	int ret;

	clear_bit(SNAP_WORK_QUEUED, &s->worker.work_for);
	/*
	 * Pairs with snap_kick:A: either this sees its work, or that queues it again.
	 * RBB(snap_work:A)
	 */
	smp_mb__after_atomic();
	wake_up_all(&s->wait);
	if (!llist_empty(&s->keeper.fresh))
		snap_keep_queue(s);
	guard(mutex)(&s->mutex);
	clear_bit(SNAP_WORK_FREE, &s->worker.work_for);
	snap_collect(s);
	spare = test_and_clear_bit(SNAP_WORK_SPARE, &s->worker.work_for);
	if (spare) {
		snap_settle_next(s, &s->user);
		snap_settle_next(s, &s->max);
	}
	/* A storm is to have no more than the keeper can keep: that provides the next one. */
	if (s->keeper.want.nr && READ_ONCE(s->keeper.backlog) >= SNAP_BACKLOG) {
		snap_keep_queue(s);
	} else if (snap_is_needed(s, &s->user) || (spare && snap_is_ready(s, &s->user)) ||
		   (s->keeper.want.nr && READ_ONCE(s->user.seq) && READ_ONCE(s->keeper.room) > 0)) {
		ret = snap_provide(s, &s->user);
		/* Kept snapshots may make room. */
		if (ret == -ENOSPC && s->keeper.want.nr)
			snap_keep_queue(s);
		else
			snap_report_next(s, ret);
	}
	if (snap_is_needed(s, &s->max))
		snap_provide(s, &s->max);
}

static void snap_irq_work(struct irq_work *irq_work)
{
	struct trace_snapshots *s = container_of(irq_work, struct trace_snapshots, worker.irq_work);

	wake_up_all(&s->wait);
	queue_work(system_dfl_wq, &s->worker.work);
}

/* Memory that survives a reboot has one buffer from the boot on, for what leads to a crash. */
static void snap_restore(struct trace_snapshots *s)
{
	struct trace_snap *snap;

	guard(mutex)(&s->mutex);
	snap = snap_alloc_spare(s);
	if (IS_ERR(snap)) {
		pr_warn("tracing: no snapshots of %s: %ld\n", s->tr->name, PTR_ERR(snap));
		return;
	}
	s->pinned = true;
	if (snap_recall(snap)) {
		s->user.last = snap;
		s->user.seq = snap->seq;
	} else {
		s->user.spare = snap;
	}
}

/**
 * trace_snapshot_init() - create the snapshots of a trace array
 * @tr: the trace array; it has its buffer
 *
 * Context: May sleep; trace_types_lock is held, or the kernel boots.
 * Return: 0 or -ENOMEM.
 */
int trace_snapshot_init(struct trace_array *tr)
{
	struct trace_snapshots *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	s->tr = tr;
	tr->snapshots = s;
	refcount_set(&s->ref, 1);
	mutex_init(&s->mutex);
	mutex_init(&s->keeper.mutex);
	init_waitqueue_head(&s->wait);
	s->keeper.room = INT_MAX;
	s->keeper.pause = jiffies;
	/* Nothing was recorded before. */
	s->past.on_all = tracing_all_generation();
	if (tr->array_buffer.buffer) {
		s->past.off = snap_off_now(s);
		s->past.end = ring_buffer_time_stamp(tr->array_buffer.buffer);
		trace_read_clocks(tr->array_buffer.buffer, &s->past.clocks);
	}
	/* Odd, and before any cut. */
	s->past.done = -1;
	/* Even, and not that of a trimmed buffer. */
	s->gen = 2;
	INIT_LIST_HEAD(&s->keeper.kept);
	INIT_LIST_HEAD(&s->keeper.parts);
	INIT_LIST_HEAD(&s->keeper.owned);
	INIT_LIST_HEAD(&s->keeper.leaving);
	init_irq_work(&s->worker.irq_work, snap_irq_work);
	INIT_WORK(&s->worker.work, snap_work);
	INIT_WORK(&s->keeper.work, snap_keep_work);
	snap_delay_init(s);
	snap_crash_add(s);
	if (tr->flags & TRACE_ARRAY_FL_SNAPSHOT)
		snap_restore(s);
	return 0;
}

/**
 * trace_snapshot_exit() - destroy the snapshots of a trace array
 * @tr: the trace array; nobody requests or reads its snapshots any more
 *
 * Context: May sleep; trace_types_lock is held, or the kernel boots.
 */
void trace_snapshot_exit(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;
	struct trace_snap *snap, *next;
	struct llist_node *fresh;

	if (!s)
		return;
	if (!s->dead) {
		trace_snapshot_stop(tr);
		synchronize_rcu();
	}
	irq_work_sync(&s->pending.start);
	hrtimer_cancel(&s->pending.timer);
	irq_work_sync(&s->worker.irq_work);
	cancel_work_sync(&s->worker.work);
	/* A keeper that is queued or runs ends later: it may wait for locks of the caller. */
	scoped_guard(mutex, &s->mutex)
		fresh = llist_del_all(&s->keeper.fresh);
	/* These snapshots have a user, so nobody else frees them. */
	llist_for_each_entry(snap, fresh, fresh)
		snap_end_parts(snap);
	mutex_lock(&s->mutex);
	llist_for_each_entry_safe(snap, next, fresh, fresh)
		snap_put(s, snap);
	snap_free_slot(s, &s->user, true);
	snap_free_slot(s, &s->max, true);
	mutex_unlock(&s->mutex);
	snap_put_owner(s);
}

/* Names of instances on the command line, each between two commas. */
static char snap_boot_names[COMMAND_LINE_SIZE] __initdata = ",";
static bool snap_boot_top __initdata;
static bool snap_boot_take __initdata;

static int __init snap_boot_alloc(char *str)
{
	size_t len = strlen(snap_boot_names);

	if (*str++ != '=') {
		snap_boot_top = true;
		trace_set_ring_buffer_expanded(NULL);
		return 1;
	}
	if (len + strlen(str) + 2 > sizeof(snap_boot_names))
		pr_warn("alloc_snapshot: too many instances\n");
	else
		sprintf(snap_boot_names + len, "%s,", str);
	return 1;
}
__setup("alloc_snapshot", snap_boot_alloc);

static int __init snap_boot_snapshot(char *str)
{
	snap_boot_take = true;
	return snap_boot_alloc(str);
}
__setup("ftrace_boot_snapshot", snap_boot_snapshot);

static bool __init snap_boot_named(const char *name)
{
	char between[NAME_MAX + 3];

	snprintf(between, sizeof(between), ",%s,", name);
	return *name && strstr(snap_boot_names, between);
}

/**
 * trace_snapshot_boot() - allocate a buffer if the command line says so
 * @tr:   the trace array
 * @name: name of the instance, or NULL for the top trace array
 *
 * Context: Boot, may sleep.
 */
void __init trace_snapshot_boot(struct trace_array *tr, const char *name)
{
	/* In memory that survives a reboot, ^snapshot has made room for it. */
	bool flag = (tr->flags & TRACE_ARRAY_FL_SNAPSHOT) && !tr->range_addr_start;

	if (!flag && (name ? !snap_boot_named(name) : !snap_boot_top))
		return;
	if (tracing_alloc_snapshot_instance(tr))
		pr_warn("tracing: no room for a snapshot of %s\n", name ?: "the top trace array");
}

/**
 * ftrace_boot_snapshot() - take snapshots at the end of the boot if the command line says so
 *
 * Each trace array that has a buffer for one takes one.
 *
 * Context: The end of the boot, may sleep.
 */
void __init ftrace_boot_snapshot(void)
{
	struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = SNAP_BY_BOOT,
		.waits = true,
	};
	struct trace_snapshots *s;
	struct trace_array *tr;

	if (!snap_boot_take)
		return;
	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		s = tr->snapshots;
		if (trace_is_kept(tr))
			continue;
		guard(mutex)(&s->mutex);
		req.own = NULL;
		/* A snapshot of the last boot stays. */
		if (!(s->user.last && s->user.last->last_boot) && snap_is_ready(s, &s->user) &&
		    !snap_take_wait(s, &req))
			trace_array_puts(tr, "** Boot snapshot taken **\n");
	}
}
