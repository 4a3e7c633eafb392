// SPDX-License-Identifier: GPL-2.0
/*
 * Something to trace, in a loop.
 *
 * A write of "KIND N" to /sys/module/event_bench/parameters/run does it N times, a read shows how
 * many nanoseconds that took. The files of tracefs say what is traced meanwhile. A kernel without
 * the series has it as well.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/string.h>

#define CREATE_TRACE_POINTS
#include "event_bench_trace.h"

static u64 bench_ns;

/* For function tracers and kprobes */
noinline void event_bench_call(unsigned long value);
noinline void event_bench_call(unsigned long value)
{
	/* It stays, though it does nothing. */
	barrier_data(&value);
}

static void bench_none(unsigned long value)
{
	barrier_data(&value);
}

static DECLARE_COMPLETION(bench_there);
static DECLARE_COMPLETION(bench_back);

static int bench_peer(void *unused)
{
	while (!wait_for_completion_interruptible(&bench_there) && !kthread_should_stop())
		complete(&bench_back);
	return 0;
}

/* Two switches, one to the other thread and one back */
static void bench_switch(unsigned long value)
{
	complete(&bench_there);
	wait_for_completion(&bench_back);
}

static const struct bench_kind {
	const char	*name;
	void		(*once)(unsigned long value);
} bench_kinds[] = {
	{ "none",	bench_none },
	{ "small",	trace_bench_small },
	{ "large",	trace_bench_large },
	{ "call",	event_bench_call },
	{ "switch",	bench_switch },
};

/* One loop for all, which a profile of its instructions begins and ends at */
noinline void event_bench_loop(void (*once)(unsigned long value), unsigned long n);
noinline void event_bench_loop(void (*once)(unsigned long value), unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		once(i);
}

static int bench_set(const char *text, const struct kernel_param *param)
{
	char name[16];
	unsigned long n;
	u64 start;
	int i;

	if (sscanf(text, "%15s %lu", name, &n) != 2)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(bench_kinds); i++) {
		if (strcmp(name, bench_kinds[i].name))
			continue;
		start = ktime_get_ns();
		event_bench_loop(bench_kinds[i].once, n);
		bench_ns = ktime_get_ns() - start;
		return 0;
	}
	return -EINVAL;
}

static int bench_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%llu\n", bench_ns);
}

static const struct kernel_param_ops bench_ops = {
	.set = bench_set,
	.get = bench_get,
};
module_param_cb(run, &bench_ops, NULL, 0600);

static struct task_struct *bench_task;

static int __init bench_init(void)
{
	bench_task = kthread_run(bench_peer, NULL, "event_bench");
	return PTR_ERR_OR_ZERO(bench_task);
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	kthread_stop(bench_task);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Something to trace, in a loop");
MODULE_LICENSE("GPL");
