// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of a panic, an oops or a warning: snapshot_on.
 */
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/sysctl.h>

#include "internal.h"

static const struct snap_crash {
	const char	*name;
	enum snap_by	by;
} snap_crashes[] = {
	{ "panic", SNAP_BY_PANIC }, { "oops", SNAP_BY_OOPS }, { "warn", SNAP_BY_WARN },
};

/* A bit for each &enum snap_by that takes a snapshot. */
static unsigned long snap_on;

/* All trace arrays, in a list that can be walked in any context. */
static LIST_HEAD(snap_all);
static DEFINE_MUTEX(snap_all_mutex);

/*
 * The task that took a snapshot in an oops: a panic that follows is the same crash. Another
 * task may get its memory, so its start time tells the two apart.
 */
static struct task_struct *snap_oops_of;
static u64 snap_oops_start;

/**
 * snap_crash_add() - let crashes take snapshots of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: May sleep.
 */
void snap_crash_add(struct trace_snapshots *s)
{
	mutex_lock(&snap_all_mutex);
	list_add_tail_rcu(&s->all, &snap_all);
	mutex_unlock(&snap_all_mutex);
}

/**
 * snap_crash_del() - no longer let crashes take snapshots of a trace array
 * @s: the snapshots of the trace array
 *
 * Context: May sleep.
 */
void snap_crash_del(struct trace_snapshots *s)
{
	mutex_lock(&snap_all_mutex);
	list_del_rcu(&s->all);
	mutex_unlock(&snap_all_mutex);
	/* trace_snapshot_crash() walks the list with preemption off. */
	synchronize_rcu();
}

/**
 * snap_crash_parse() - parse a value of snapshot_on
 * @text: "panic", "oops" and "warn", with commas or blanks between; or "none"
 * @on:   is set to a bit for each &enum snap_by, if all of @text is valid
 *
 * Context: Any context. @text is cut into words.
 * Return: 0; -EINVAL for another text.
 */
int snap_crash_parse(char *text, unsigned long *on)
{
	unsigned long bits = 0;
	unsigned int i;
	char *word;

	while ((word = strsep(&text, ", \t\n"))) {
		if (!*word || !strcmp(word, "none"))
			continue;
		for (i = 0; i < ARRAY_SIZE(snap_crashes); i++) {
			if (!strcmp(word, snap_crashes[i].name))
				break;
		}
		if (i == ARRAY_SIZE(snap_crashes))
			return -EINVAL;
		bits |= BIT(snap_crashes[i].by);
	}
	WRITE_ONCE(*on, bits);
	return 0;
}

/**
 * snap_crash_set() - set snapshot_on
 * @on: a bit for each &enum snap_by
 *
 * Context: Any context.
 * Return: the value before.
 */
unsigned long snap_crash_set(unsigned long on)
{
	return xchg(&snap_on, on);
}

/**
 * snap_crash_is_on() - does any kind of crash take snapshots?
 *
 * Context: Any context.
 * Return: true if so.
 */
bool snap_crash_is_on(void)
{
	return READ_ONCE(snap_on);
}

/**
 * trace_snapshot_crash() - take a snapshot of each trace array that has a buffer for it
 * @by: kind of the crash; nothing is taken unless snapshot_on has it
 *
 * Context: Any context, including NMI.
 */
void trace_snapshot_crash(enum snap_by by)
{
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS,
		.by = by,
		.now = true,
	};
	struct trace_snapshots *s;

	if (!(READ_ONCE(snap_on) & BIT(by)))
		return;
	/* Without RCU watching, the list cannot be walked: a warning may come from there. */
	if (!rcu_is_watching())
		return;
	preempt_disable_notrace();
	list_for_each_entry_rcu(s, &snap_all, all, true) {
		if (READ_ONCE(s->user.spare) || READ_ONCE(s->user.last))
			snap_take(s, &s->user, &req);
	}
	preempt_enable_notrace();
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
	if (event == DIE_OOPS) {
		if (READ_ONCE(snap_on) & BIT(SNAP_BY_OOPS)) {
			WRITE_ONCE(snap_oops_start, current->start_time);
			WRITE_ONCE(snap_oops_of, current);
		}
		trace_snapshot_crash(SNAP_BY_OOPS);
	}
	return NOTIFY_DONE;
}

static int snap_panic(struct notifier_block *self, unsigned long event, void *unused)
{
	if (READ_ONCE(snap_oops_of) != current ||
	    READ_ONCE(snap_oops_start) != current->start_time)
		trace_snapshot_crash(SNAP_BY_PANIC);
	return NOTIFY_DONE;
}

/* After ftrace_dump_on_oops, which prints and consumes records. */
static struct notifier_block snap_die_notifier = {
	.notifier_call	= snap_die,
	.priority	= INT_MAX - 2,
};

static struct notifier_block snap_panic_notifier = {
	.notifier_call	= snap_panic,
	.priority	= INT_MAX - 2,
};

static int snap_on_handler(const struct ctl_table *table, int write, void *buffer, size_t *lenp,
			   loff_t *ppos)
{
	char text[32] = "";
	const struct ctl_table copy = { .data = text, .maxlen = sizeof(text) };
	unsigned long on = READ_ONCE(snap_on);
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(snap_crashes); i++) {
		if (on & BIT(snap_crashes[i].by)) {
			strlcat(text, *text ? "," : "", sizeof(text));
			strlcat(text, snap_crashes[i].name, sizeof(text));
		}
	}
	if (!*text)
		strscpy(text, "none");
	/* No valid text is that long. */
	if (write && *lenp >= sizeof(text))
		return -EINVAL;
	ret = proc_dostring(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;
	ret = snap_crash_parse(text, &on);
	if (!ret)
		snap_crash_set(on);
	return ret;
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
	if (snap_crash_parse(text, &snap_on))
		pr_warn("snapshot_on: panic, oops and warn are what there is\n");
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
