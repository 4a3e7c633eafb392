// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of a panic, an oops or a warning: snapshot_on.
 */
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/kexec.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/sysctl.h>

#include "../trace_text.h"
#include "internal.h"

/* The kinds of requesters, as user space names them. */
const char * const snap_by_names[] = {
	[SNAP_BY_WRITE]		= "write",
	[SNAP_BY_TRIGGER]	= "trigger",
	[SNAP_BY_FUNCTION]	= "function",
	[SNAP_BY_KERNEL]	= "kernel",
	[SNAP_BY_TRACER]	= "tracer",
	[SNAP_BY_BOOT]		= "boot",
	[SNAP_BY_PANIC]		= "panic",
	[SNAP_BY_OOPS]		= "oops",
	[SNAP_BY_WARN]		= "warn",
	[SNAP_BY_UNKNOWN]	= "unknown",
};

/* A bit for each &enum snap_by that takes a snapshot, from SNAP_BY_PANIC to SNAP_BY_WARN. */
unsigned long snap_crash_on;

/* All trace arrays. The list changes as theirs does, and can be walked in any context. */
static LIST_HEAD(snap_all);

/**
 * snap_crash_add() - let crashes take snapshots of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: trace_types_lock is held, or the kernel boots.
 */
void snap_crash_add(struct trace_snapshots *s)
{
	list_add_tail_rcu(&s->all, &snap_all);
}

/**
 * trace_snapshot_stop() - no longer take snapshots of a trace array in a crash, nor keep any
 * @tr: the trace array
 *
 * trace_snapshot_exit() has to follow, a grace period of RCU later.
 *
 * Context: May sleep; trace_types_lock is held, or the kernel boots.
 */
void trace_snapshot_stop(struct trace_array *tr)
{
	struct trace_snapshots *s = tr->snapshots;

	/* trace_snapshot_crash() walks the list with preemption off. */
	list_del_rcu(&s->all);
	scoped_guard(mutex, &s->mutex)
		WRITE_ONCE(s->dead, true);
	/* The keeper ends its pause. */
	wake_up_all(&s->wait);
}

/**
 * snap_crash_parse() - parse a value of snapshot_on
 * @text: "panic", "oops" and "warn", with commas or blanks between; or "none"
 * @on:   is set to a bit for each &enum snap_by, if all of @text is valid
 *
 * Context: Any context. @text is cut into words.
 * Return: NULL; the first word that is wrong, or the end of a text without words.
 */
const char *snap_crash_parse(char *text, unsigned long *on)
{
	unsigned long bits = 0;
	bool any = false;
	char *word, *end;
	int by;

	end = text + strlen(text);
	while ((word = strsep(&text, ", \t\n"))) {
		any |= *word;
		if (!*word || !strcmp(word, "none"))
			continue;
		by = match_string(snap_by_names, SNAP_BY_WARN + 1, word);
		if (by < SNAP_BY_PANIC)
			return word;
		bits |= BIT(by);
	}
	if (!any)
		return end;
	WRITE_ONCE(*on, bits);
	return NULL;
}

/* Is there a buffer for a snapshot? */
static bool snap_crash_wants(struct trace_snapshots *s)
{
	return READ_ONCE(s->user.spare) || READ_ONCE(s->user.last);
}

/*
 * Has this crash taken a snapshot already? A channel may have joined or left a session since. A
 * panic that follows an oops of this task is the same crash.
 */
static bool snap_crash_again(const struct trace_snapshots *s, const struct snap_request *req)
{
	return READ_ONCE(s->crash) == req->crash ||
	       (req->by == SNAP_BY_PANIC && READ_ONCE(s->oops_of) == current &&
		READ_ONCE(s->oops_start) == current->start_time);
}

/* Return: true if it was taken. */
static bool snap_crash_take(struct trace_snapshots *s, const struct snap_request *req)
{
	struct trace_snapshots *part;

	if (snap_take(s, &s->user, req))
		return false;
	for_each_part(part, s) {
		if (req->alone && part != s)
			break;
		WRITE_ONCE(part->crash, req->crash);
		if (req->by != SNAP_BY_OOPS)
			continue;
		WRITE_ONCE(part->oops_start, current->start_time);
		WRITE_ONCE(part->oops_of, current);
	}
	return true;
}

/* Take what can be taken of a session that cannot take all, each by itself. */
static void snap_crash_alone(struct trace_snapshots *s, struct snap_request req)
{
	struct trace_snapshots *part;

	req.alone = true;
	for_each_part(part, s) {
		if ((part != s && READ_ONCE(part->tr->session) != s->tr) ||
		    !snap_crash_wants(part) || snap_crash_again(part, &req))
			continue;
		snap_crash_take(part, &req);
	}
}

static void snap_crash_session(struct trace_snapshots *s, const struct snap_request *req)
{
	struct trace_snapshots *part;

	for_each_part(part, s) {
		if (snap_crash_again(part, req)) {
			snap_crash_alone(s, *req);
			return;
		}
	}
	if (!snap_crash_take(s, req) && trace_channels_of(s->tr))
		snap_crash_alone(s, *req);
}

/**
 * trace_snapshot_crash() - take a snapshot of each trace array that has a buffer for it
 * @by: kind of the crash; nothing is taken unless snapshot_on has it
 *
 * A panic takes none where an oops of the same task has taken one.
 *
 * Context: Any context, including NMI.
 */
void trace_snapshot_crash(enum snap_by by)
{
	struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = by,
		.now = true,
	};
	static atomic_t crashes;
	struct trace_array *session;
	struct trace_snapshots *s;

	/* Without RCU watching, the list cannot be walked: a warning may come from there. */
	if (!(READ_ONCE(snap_crash_on) & BIT(by)) || !rcu_is_watching())
		return;
	guard(preempt_notrace)();
	if (!ring_buffer_is_alive())
		return;
	req.crash = atomic_inc_return(&crashes);
	list_for_each_entry_rcu(s, &snap_all, all, true) {
		session = READ_ONCE(s->tr->session);
		/* The session takes a channel's with its own: a second one would erase it. */
		if (snap_crash_wants(s) && (!session || !snap_crash_wants(session->snapshots)))
			snap_crash_session(s, &req);
	}
}

/**
 * trace_snapshot_warn() - take snapshots because of a warning
 *
 * Context: Any context, including NMI.
 */
void trace_snapshot_warn(void)
{
	trace_snapshot_crash(SNAP_BY_WARN);
}

static int snap_die(struct notifier_block *self, unsigned long event, void *unused)
{
	if (event != DIE_OOPS)
		return NOTIFY_DONE;
	trace_snapshot_crash(SNAP_BY_OOPS);
	/* The crash kernel starts at the end of this oops, without a panic and its notifiers. */
	if (kexec_crash_loaded() && kexec_should_crash(current))
		trace_snapshot_crash(SNAP_BY_PANIC);
	return NOTIFY_DONE;
}

static int snap_panic(struct notifier_block *self, unsigned long event, void *unused)
{
	trace_snapshot_crash(SNAP_BY_PANIC);
	return NOTIFY_DONE;
}

/* After ftrace_dump_on_oops, which prints the live buffers. */
static struct notifier_block snap_die_notifier = {
	.notifier_call	= snap_die,
	.priority	= INT_MAX - 2,
};

static struct notifier_block snap_panic_notifier = {
	.notifier_call	= snap_panic,
	.priority	= INT_MAX - 2,
};

/* The longest value, with its end */
#define SNAP_ON_SIZE	32

/* A sysctl has no error_log. The reason is in the error_log of the top directory. */
static int snap_on_store(char *buffer, size_t len)
{
	char copy[SNAP_ON_SIZE], *text = trace_value_trim(buffer, sizeof(copy), len);
	const char *wrong;

	strscpy(copy, text);
	wrong = snap_crash_parse(copy, &snap_crash_on);
	if (!wrong)
		return 0;
	tracing_log(NULL, "kernel.snapshot_on", "error", text,
		    "Invalid value, expected none, or panic, oops and warn with commas between",
		    wrong - copy);
	return -EINVAL;
}

static int snap_on_handler(const struct ctl_table *table, int write, void *buffer, size_t *lenp,
			   loff_t *ppos)
{
	char text[SNAP_ON_SIZE] = "";
	const struct ctl_table copy = { .data = text, .maxlen = sizeof(text) };
	unsigned long on = READ_ONCE(snap_crash_on);
	int by, ret, len = 0;

	if (write) {
		/* A value is one write. */
		ret = *ppos ? -EINVAL : snap_on_store(buffer, *lenp);
		*ppos += ret ? 0 : *lenp;
		return ret;
	}
	for_each_set_bit(by, &on, SNAP_BY_UNKNOWN)
		len += scnprintf(text + len, sizeof(text) - len, "%s%s", len ? "," : "",
				 snap_by_names[by]);
	if (!len)
		strscpy(text, "none");
	return proc_dostring(&copy, false, buffer, lenp, ppos);
}

static struct ctl_table snap_on_table[] = {
	{
		.procname	= "snapshot_on",
		.mode		= 0644,
		.proc_handler	= snap_on_handler,
	},
};

static int __init snap_on_setup(char *text)
{
	if (snap_crash_parse(text, &snap_crash_on))
		pr_warn("snapshot_on=: ignored, expected none, or panic, oops and warn\n");
	return 1;
}
__setup("snapshot_on=", snap_on_setup);

static int __init snap_crash_init(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &snap_panic_notifier);
	register_die_notifier(&snap_die_notifier);
	register_sysctl_init("kernel", snap_on_table);
	return 0;
}
fs_initcall(snap_crash_init);
