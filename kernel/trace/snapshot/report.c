// SPDX-License-Identifier: GPL-2.0
/*
 * Why a write, or what a worker does for one, fails: the lines in error_log.
 */
#include "internal.h"

/*
 * How something fails: the error in this directory, the error for user space, and the text
 * for error_log.
 */
static const struct snap_failure {
	int		err;
	int		ret;
	const char	*text;
} snap_failures[] = {
	{ -ENOMEM, -ENOMEM, "No memory for a snapshot of this size" },
	{ -ENOSPC, -ENOSPC, "Needs more memory than snapshot_limit_kb allows" },
	{ -EFBIG, -ENOSPC, "Snapshots have more memory than that already" },
	{ -EDQUOT, -ENOSPC, "snapshot_keep allows no more: remove a kept snapshot" },
	{ -EINPROGRESS, -EBUSY, "A snapshot is pending, see snapshot_delay" },
	{ -EADDRINUSE, -EBUSY, "A trigger needs the snapshot buffer: remove it first" },
	{ -EISCONN, -EBUSY, "A trigger of the session needs the snapshot buffer: remove it first" },
	{ -ENOBUFS, -EBUSY, "The snapshot is being read: close it first" },
	{ -ECANCELED, -EBUSY, "Cancelled by a write to snapshot_delay" },
	{ -EUSERS, -EBUSY, "A latency tracer needs it: change current_tracer first" },
	{ -ETIME, -EINVAL, "trace_clock counts no nanoseconds: choose another one, such as local" },
	{ -ENXIO, -EINVAL, "The part of one CPU cannot be freed: write 0 to snapshot of all CPUs" },
	{ -ENODATA, -EINVAL, "The CPU never was online: it has no records" },
	{ -ENOLINK, -EINVAL, "One ring is for all CPUs: write to snapshot of the instance" },
	{ -EOPNOTSUPP, -EINVAL, "Add ^snapshot to trace_instance=, to have room for one" },
	{ -EXFULL, -EINVAL, "Memory that survives a reboot has room for one snapshot" },
	/* Any other error. */
	{ -EBUSY, -EBUSY, "The buffer is being erased or resized: try again" },
};

/* Room for the number of KiB, and for the name of a channel that is short of them */
#define SNAP_NEEDS_LEN	(NAME_MAX + sizeof(",  needs 18446744073709551615 KiB"))

/* The part of a session that was refused memory. snap_provide() has ended at the first one. */
static struct trace_snapshots *snap_find_needs(struct trace_snapshots *s)
{
	struct trace_snapshots *of;

	for_each_part(of, s) {
		if (of->memory.needs_kb)
			return of;
	}
	return s;
}

/* Print the name of the session, unless the channel has left it. */
static void snap_print_session(struct trace_snapshots *s, char *buf, size_t size)
{
	struct trace_array *session;

	guard(rcu)();
	session = READ_ONCE(s->tr->session);
	if (session)
		snprintf(buf, size, ", session %s", session->name ?: "top");
}

static int snap_log(struct trace_snapshots *s, struct trace_snapshots *of, const char *file,
		    const char *what, int err, bool note)
{
	const struct snap_failure *failure = snap_failures;
	char needs[SNAP_NEEDS_LEN] = "";
	char *text;

	lockdep_assert_held(&s->mutex);
	if (!err || err == -EINTR || s->dead)
		return err;
	/* Memory that survives a reboot has one buffer. */
	if (err == -EBUSY && s->tr->range_addr_start)
		err = -ENOBUFS;
	while (failure->err != err && failure < &snap_failures[ARRAY_SIZE(snap_failures) - 1])
		failure++;
	of = of ?: snap_find_needs(s);
	if (err == -EISCONN)
		snap_print_session(s, needs, sizeof(needs));
	if (err == -ENOSPC)
		snprintf(needs, sizeof(needs), ", %s%sneeds %lu KiB", of == s ? "" : of->tr->name,
			 of == s ? "" : " ", READ_ONCE(of->memory.needs_kb));
	text = kasprintf(GFP_KERNEL, "%s%s", what, needs);
	tracing_log(s->tr, file, note ? "note" : "error", text ?: what, failure->text, 0);
	kfree(text);
	return failure->ret;
}

/**
 * snap_report() - tell in error_log why something failed
 * @s:    the snapshots of a trace array
 * @of:   those that were refused memory: @s, or those of a channel; NULL to find them
 * @file: name of the file that was written, or of the one that has the setting
 * @what: the written text, or what it was done for
 * @err:  the error, or 0 to report nothing
 *
 * With -ENOSPC, the line has the value of snapshot_limit_kb that would have done.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: the error for user space.
 */
int snap_report(struct trace_snapshots *s, struct trace_snapshots *of, const char *file,
		const char *what, int err)
{
	return snap_log(s, of, file, what, err, false);
}

/**
 * snap_report_next() - tell in error_log why there is no buffer for the next snapshot
 * @s:   the snapshots of a trace array
 * @err: the error; 0 if there is a buffer
 *
 * A worker tries for each request that is refused. It reports an error once, until there is
 * a buffer. That is a note: no change has failed.
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 */
void snap_report_next(struct trace_snapshots *s, int err)
{
	lockdep_assert_held(&s->mutex);
	if (err != s->worker.reported)
		snap_log(s, NULL, "snapshot", "the next one", err, true);
	s->worker.reported = err;
}
