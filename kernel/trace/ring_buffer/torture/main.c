// SPDX-License-Identifier: GPL-2.0
/*
 * Torture the ring buffer: the parameters, the rounds and the verdict.
 *
 * Loading the module starts the test; its last line says SUCCESS or FAILURE.
 * See torture.h for how it works.
 */
#define pr_fmt(fmt) "ring_buffer-torture: " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_clock.h>
#include <linux/vmalloc.h>

#include "torture.h"

/* Faults of a kind that are printed; the others are counted. */
#define TOR_SHOWN	5

struct tor_params tor_params = {
	.duration	= IS_ENABLED(CONFIG_RING_BUFFER_STARTUP_TEST) ? 10 : 60,
	.round_ms	= 2000,
	.stat_interval	= 15,
	.writers	= -1,
	.consumers	= 2,
	.pagers		= 2,
	.iterators	= 2,
	.waiters	= 2,
	.mappers	= 1,
	.changers	= 2,
	.sharers	= 3,
	.change		= { [0 ... TOR_CHANGES - 1] = true },
	.kbytes		= 64,
	.records	= 1 << 18,
	.busted_every	= 10000,
};

module_param_named(duration, tor_params.duration, int, 0444);
MODULE_PARM_DESC(duration, "Seconds until the verdict, 0: until the module is removed");
module_param_named(round_ms, tor_params.round_ms, int, 0444);
MODULE_PARM_DESC(round_ms, "Milliseconds between two accounts");
module_param_named(stat_interval, tor_params.stat_interval, int, 0444);
MODULE_PARM_DESC(stat_interval, "Seconds between statistics, 0: none");
module_param_named(seed, tor_params.seed, uint, 0444);
MODULE_PARM_DESC(seed, "Where random choices begin, 0: at the time");
module_param_named(kbytes, tor_params.kbytes, int, 0444);
MODULE_PARM_DESC(kbytes, "Size of each CPU's ring; resizes go up to twice of it");
module_param_named(records, tor_params.records, int, 0444);
MODULE_PARM_DESC(records, "Most records of a CPU and context in a round");
module_param_named(writers, tor_params.writers, int, 0444);
MODULE_PARM_DESC(writers, "Tasks that write, -1: two for each CPU");
module_param_named(consumers, tor_params.consumers, int, 0444);
MODULE_PARM_DESC(consumers, "Tasks that consume records");
module_param_named(pagers, tor_params.pagers, int, 0444);
MODULE_PARM_DESC(pagers, "Tasks that read pages");
module_param_named(iterators, tor_params.iterators, int, 0444);
MODULE_PARM_DESC(iterators, "Tasks that iterate");
module_param_named(waiters, tor_params.waiters, int, 0444);
MODULE_PARM_DESC(waiters, "Tasks that wait for records");
module_param_named(mappers, tor_params.mappers, int, 0444);
MODULE_PARM_DESC(mappers, "Tasks that map rings");
module_param_named(changers, tor_params.changers, int, 0444);
MODULE_PARM_DESC(changers, "Tasks that do the following");
module_param_named(sharers, tor_params.sharers, int, 0444);
MODULE_PARM_DESC(sharers, "Tasks that consume together, from a buffer of their own");
module_param_named(resizes, tor_params.change[TOR_RESIZE], bool, 0444);
MODULE_PARM_DESC(resizes, "Resize rings");
module_param_named(orders, tor_params.change[TOR_ORDER], bool, 0444);
MODULE_PARM_DESC(orders, "Change the size of sub-buffers");
module_param_named(overwrites, tor_params.change[TOR_OVERWRITE], bool, 0444);
MODULE_PARM_DESC(overwrites, "Change the overwrite mode");
module_param_named(swaps, tor_params.change[TOR_SWAP], bool, 0444);
MODULE_PARM_DESC(swaps, "Swap rings, from any context");
module_param_named(cuts, tor_params.change[TOR_CUT], bool, 0444);
MODULE_PARM_DESC(cuts, "Have buffer 1 take the records of buffer 0");
module_param_named(forgets, tor_params.change[TOR_FORGET], bool, 0444);
MODULE_PARM_DESC(forgets, "Have buffer 1 drop its records");
module_param_named(trims, tor_params.change[TOR_TRIM], bool, 0444);
MODULE_PARM_DESC(trims, "Have buffer 1 free unused sub-buffers");
module_param_named(resets, tor_params.change[TOR_RESET], bool, 0444);
MODULE_PARM_DESC(resets, "Reset rings");
module_param_named(toggles, tor_params.change[TOR_TOGGLE], bool, 0444);
MODULE_PARM_DESC(toggles, "Switch recording off and on, also of all buffers that there are");
module_param_named(both, tor_params.change[TOR_BOTH], bool, 0444);
MODULE_PARM_DESC(both, "Write to both buffers");
module_param_named(expands, tor_params.change[TOR_EXPAND], bool, 0444);
MODULE_PARM_DESC(expands, "Give buffer 1 its rings while it is used");
module_param_named(hotplug, tor_params.change[TOR_HOTPLUG], bool, 0444);
MODULE_PARM_DESC(hotplug, "Take CPUs offline and online");
module_param_named(busted, tor_params.busted, charp, 0444);
MODULE_PARM_DESC(busted,
		 "Fail on purpose: a reader does lose, repeat, damage, shuffle, shift, miscount or race, a cut or a reset drops a record uncounted, a waiter does oversleep");
module_param_named(busted_every, tor_params.busted_every, int, 0444);
MODULE_PARM_DESC(busted_every, "One time in how many");

struct tor_buffer tor_buffers[TOR_BUFFERS];
struct tor_cpu **tor_cpus;
struct tor_round tor_round;

/* Read: at work; write: all tasks stand still. */
DECLARE_RWSEM(tor_stand);

const char * const tor_contexts[TOR_CONTEXTS] = {
	[TOR_TASK]	= "task",
	[TOR_SOFTIRQ]	= "softirq",
	[TOR_HARDIRQ]	= "hardirq",
	[TOR_NMI]	= "nmi",
};

static const char * const tor_changes_names[TOR_CHANGES] = {
	[TOR_RESIZE]	= "resize",
	[TOR_ORDER]	= "order",
	[TOR_OVERWRITE]	= "overwrite",
	[TOR_SWAP]	= "swap",
	[TOR_CUT]	= "cut",
	[TOR_FORGET]	= "forget",
	[TOR_TRIM]	= "trim",
	[TOR_RESET]	= "reset",
	[TOR_TOGGLE]	= "toggle",
	[TOR_BOTH]	= "both",
	[TOR_EXPAND]	= "expand",
	[TOR_HOTPLUG]	= "hotplug",
};

static const char * const tor_ops[TOR_OPS] = {
	[TOR_DID_RESIZE]	= "resize",
	[TOR_DID_ORDER]		= "order",
	[TOR_DID_SWAP]		= "swap",
	[TOR_DID_CUT]		= "cut",
	[TOR_DID_FORGET]	= "forget",
	[TOR_DID_TRIM]		= "trim",
	[TOR_DID_RESET]		= "reset",
	[TOR_DID_TOGGLE]	= "toggle",
	[TOR_DID_EXPAND]	= "expand",
	[TOR_DID_ITERATE]	= "iterate",
	[TOR_DID_WAIT]		= "wait",
	[TOR_DID_MAP]		= "map",
	[TOR_DID_PLUG]		= "hotplug",
};

static const char * const tor_faults[TOR_FAULTS] = {
	[TOR_DAMAGE]	= "damage",
	[TOR_TWICE]	= "twice",
	[TOR_STALE]	= "stale",
	[TOR_ORDERED]	= "order",
	[TOR_TIME]	= "time",
	[TOR_HIDDEN]	= "hidden",
	[TOR_COUNT]	= "count",
	[TOR_PAGE]	= "page",
	[TOR_REFUSED]	= "refused",
	[TOR_ASLEEP]	= "asleep",
};

static const char * const tor_busted_names[] = {
	[TOR_SOUND]	= "no",
	[TOR_LOSE]	= "lose",
	[TOR_REPEAT]	= "repeat",
	[TOR_BEND]	= "damage",
	[TOR_SHUFFLE]	= "shuffle",
	[TOR_SHIFT]	= "shift",
	[TOR_MISCOUNT]	= "miscount",
	[TOR_SHORT_CUT]	= "cut",
	[TOR_SHORT_RESET] = "reset",
	[TOR_OVERSLEEP]	= "oversleep",
	[TOR_RACE]	= "race",
};

static enum tor_busted tor_busted;
static atomic_t tor_busted_turn;
static atomic_t tor_faulty[TOR_FAULTS];
static atomic_long_t tor_dids[TOR_OPS][2];
static struct tor_sum *tor_sums;
static struct task_struct *tor_main_task;
static DECLARE_COMPLETION(tor_judged);
static struct rnd_state tor_rnd;
static const char *tor_clock_name;

/**
 * tor_fault() - report a fault
 * @fault: its kind
 * @fmt:   message
 *
 * Context: Any context.
 */
void tor_fault(enum tor_fault fault, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (atomic_inc_return(&tor_faulty[fault]) > TOR_SHOWN)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	pr_alert("fault, %s: %pV\n", tor_faults[fault], &vaf);
	va_end(args);
}

static unsigned int tor_fault_count(void)
{
	unsigned int sum = 0;
	int i;

	for (i = 0; i < TOR_FAULTS; i++)
		sum += atomic_read(&tor_faulty[i]);
	return sum;
}

/**
 * tor_did() - count an operation
 * @op:  the operation
 * @ret: its return value, less than 0 if it was refused
 *
 * Context: Any context.
 */
void tor_did(enum tor_op op, long ret)
{
	atomic_long_inc(&tor_dids[op][ret < 0]);
}

/**
 * tor_bust() - shall this fail on purpose now?
 * @how: kind of fault
 *
 * Context: Any context.
 * Return: true if so.
 */
bool tor_bust(enum tor_busted how)
{
	return unlikely(tor_busted == how) &&
	       !(atomic_inc_return(&tor_busted_turn) % tor_params.busted_every);
}

/**
 * tor_random_cpu() - choose a CPU
 * @rnd: the source
 *
 * Context: Any context.
 * Return: a CPU that was online.
 */
int tor_random_cpu(struct rnd_state *rnd)
{
	int cpu = cpumask_next(tor_random(rnd, nr_cpu_ids), cpu_online_mask);

	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

/**
 * tor_pause() - let others work, sometimes for longer
 * @rnd: the source
 *
 * Context: Task.
 */
void tor_pause(struct rnd_state *rnd)
{
	switch (tor_random(rnd, 8)) {
	case 0:
		schedule_timeout_uninterruptible(1 + tor_random(rnd, 3));
		break;
	case 1:
	case 2:
	case 3:
		usleep_range(20, 500);
		break;
	default:
		cond_resched();
		break;
	}
}

/* The clocks: the usual one; one that counts, so that no two times are equal... */
static atomic64_t tor_ticks;

static u64 notrace tor_clock_count(void)
{
	return atomic64_inc_return(&tor_ticks);
}

/* ...and one with pauses that need stamps of their own. */
static u64 notrace tor_clock_jump(void)
{
	u64 now = atomic64_inc_return(&tor_ticks);

	if (now % 1024)
		return now;
	return atomic64_add_return(BIT_ULL(20 + now / 1024 % 27), &tor_ticks);
}

static const struct {
	const char	*name;
	u64		(*read)(void);
} tor_clocks[] = {
	{ "local", trace_clock_local },
	{ "count", tor_clock_count },
	{ "jump", tor_clock_jump },
};

static void tor_stats(const char *end)
{
	u64 written = 0, read = 0, overrun = 0, cut = 0, reset = 0, refused = 0;
	char ops[320];
	int cpu, i, n = 0;

	for_each_possible_cpu(cpu) {
		struct tor_sum *sum = &tor_sums[cpu];

		for (i = 0; i < TOR_CONTEXTS; i++) {
			written += sum->written[i];
			read += sum->read[i];
		}
		overrun += sum->overrun;
		cut += sum->dropped[TOR_BY_CUT];
		reset += sum->dropped[TOR_BY_RESET];
		refused += sum->refused;
	}
	for (i = 0; i < TOR_OPS; i++) {
		n += scnprintf(ops + n, sizeof(ops) - n, ", %s %ld/%ld", tor_ops[i],
			       atomic_long_read(&tor_dids[i][0]),
			       atomic_long_read(&tor_dids[i][0]) +
			       atomic_long_read(&tor_dids[i][1]));
	}
	pr_info("%s%u rounds, %llu written = %llu read + %llu overwritten + %llu cut off + %llu reset, %llu refused%s\n",
		end, tor_round.number, written, read, overrun, cut, reset, refused, ops);
}

static void tor_stats_cpus(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < TOR_CONTEXTS; i++)
			pr_info("cpu %d %s: %llu written, %llu read\n", cpu, tor_contexts[i],
				tor_sums[cpu].written[i], tor_sums[cpu].read[i]);
	}
}

#define TOR_OF_SPARE	(BIT(TOR_CUT) | BIT(TOR_FORGET) | BIT(TOR_TRIM))
#define TOR_OF_LIVE	(BIT(TOR_SWAP) | BIT(TOR_BOTH))

/* A new round: another mix, another clock, and buffers that are empty and alike. */
static void tor_begin(void)
{
	int order = tor_params.change[TOR_ORDER] ? tor_random(&tor_rnd, TOR_MAX_ORDER + 1) : 0;
	unsigned int clock = tor_random(&tor_rnd, ARRAY_SIZE(tor_clocks));
	unsigned long size = tor_params.kbytes * 1024UL;
	int b, i, ret;

	tor_round.number++;
	tor_round.over = false;
	tor_round.full = false;
	tor_round.changes = 0;
	for (i = 0; i < TOR_CHANGES; i++) {
		if (tor_params.change[i] && tor_random(&tor_rnd, 8) < 5)
			tor_round.changes |= BIT(i);
	}
	/* Its refusals would hide other faults. */
	if (tor_random(&tor_rnd, 2))
		tor_round.changes &= ~BIT(TOR_TOGGLE);
	/* A spare buffer is not written to, and only a cut makes it live. */
	if (tor_round.changes & TOR_OF_SPARE)
		tor_round.changes &= tor_random(&tor_rnd, 3) ? ~TOR_OF_LIVE : ~TOR_OF_SPARE;

	/* A buffer without rings has none to resize, to swap or to cut. */
	if (tor_changes(TOR_EXPAND)) {
		tor_round.changes &= tor_random(&tor_rnd, 3) ? ~BIT(TOR_EXPAND) :
				     ~(TOR_OF_SPARE | BIT(TOR_SWAP) | BIT(TOR_RESIZE));
	}

	tor_clock_name = tor_clocks[clock].name;
	/* Not far from where stamps have no more bits. */
	atomic64_set(&tor_ticks, tor_random(&tor_rnd, 2) ? BIT_ULL(46) - BIT(16) :
							   BIT_ULL(59) - BIT_ULL(50));
	for (b = 0; b < TOR_BUFFERS; b++) {
		struct trace_buffer *rb = tor_buffers[b].rb;

		if (!ring_buffer_record_is_on(rb))
			tor_fault(TOR_REFUSED, "buffer %d stays off", b);
		ring_buffer_expand(rb, size);
		ring_buffer_set_clock(rb, tor_clocks[clock].read);
		ring_buffer_set_time_stamp_abs(rb, !tor_random(&tor_rnd, 8));
		ring_buffer_change_overwrite(rb, tor_random(&tor_rnd, 4));
		ring_buffer_subbuf_order_set(rb, order);
		ring_buffer_resize(rb, size, RING_BUFFER_ALL_CPUS);
		ring_buffer_reset(rb);
	}
	if (tor_changes(TOR_EXPAND)) {
		tor_note_toggle();
		ret = ring_buffer_unexpand(tor_buffers[1].rb);
		if (ret && ret != -ENOMEM)
			tor_fault(TOR_REFUSED, "unexpand: %d", ret);
	}
}

/* All tasks but waiters stand still: read the rest, and add it all up. */
static void tor_end(void)
{
	char mix[128] = "";
	int b, cpu, i, n = 0;

	tor_wake_all();
	for_each_possible_cpu(cpu) {
		for (b = 0; b < TOR_BUFFERS; b++)
			tor_drain(&tor_rnd, b, cpu);
		tor_settle(cpu, &tor_sums[cpu]);
		tor_forget(cpu);
	}
	tor_share_end();
	if (!tor_fault_count())
		return;
	for (i = 0; i < TOR_CHANGES; i++) {
		if (tor_changes(i))
			n += scnprintf(mix + n, sizeof(mix) - n, " %s", tor_changes_names[i]);
	}
	pr_alert("that was round %u, clock %s, with:%s\n", tor_round.number, tor_clock_name, mix);
}

static bool tor_over(unsigned long end)
{
	return kthread_should_stop() || tor_fault_count() ||
	       (tor_params.duration > 0 && time_after(jiffies, end));
}

/* Writers may go on without the others for a while, or the others without them. */
static void tor_stand_still(void)
{
	bool writers_first = tor_random(&tor_rnd, 2);

	if (writers_first)
		WRITE_ONCE(tor_round.open, false);
	down_write(&tor_stand);
	WRITE_ONCE(tor_round.open, false);
	/* Those that saw it open have preemption off. */
	synchronize_rcu();
}

/* &tor_stand is held for writing, but while a round is on. */
static void tor_rounds(void)
{
	unsigned long end = jiffies + tor_params.duration * HZ, round, stat = jiffies;

	do {
		tor_begin();
		WRITE_ONCE(tor_round.open, true);
		up_write(&tor_stand);

		round = jiffies + msecs_to_jiffies(tor_params.round_ms);
		while (!tor_over(end) && !READ_ONCE(tor_round.full) && time_before(jiffies, round))
			schedule_timeout_interruptible(HZ / 20 + 1);

		tor_stand_still();
		tor_end();
		if (tor_params.stat_interval &&
		    time_after(jiffies, stat + tor_params.stat_interval * HZ)) {
			stat = jiffies;
			tor_stats("");
		}
	} while (!tor_over(end));
}

/* All kinds of tasks, with the number of each. */
static int tor_pluggers = 1;

static const struct tor_kind {
	const char	*name;
	void		(*turn)(struct rnd_state *rnd, int nr);
	int		*number;
	bool		stands;		/* holds &tor_stand for each turn */
} tor_kinds[] = {
	{ "write",	tor_task_writer,	&tor_params.writers,	false },
	{ "consume",	tor_consumer,		&tor_params.consumers,	true },
	{ "page",	tor_pager,		&tor_params.pagers,	true },
	{ "iterate",	tor_iterator,		&tor_params.iterators,	true },
	{ "wait",	tor_waiter,		&tor_params.waiters,	false },
	{ "map",	tor_mapper,		&tor_params.mappers,	true },
	{ "change",	tor_changer,		&tor_params.changers,	true },
	{ "share",	tor_share,		&tor_params.sharers,	true },
	{ "plug",	tor_plugger,		&tor_pluggers,		false },
};

static struct tor_task {
	struct task_struct	*task;
	const struct tor_kind	*kind;
	int			nr;	/* among those of its kind */
	struct rnd_state	rnd;
} tor_tasks[256];

static int tor_task(void *data)
{
	struct tor_task *t = data;

	while (!kthread_should_stop()) {
		if (t->kind->stands)
			down_read(&tor_stand);
		t->kind->turn(&t->rnd, t->nr);
		if (t->kind->stands)
			up_read(&tor_stand);
		tor_pause(&t->rnd);
	}
	return 0;
}

static unsigned int tor_tasks_start(void)
{
	const struct tor_kind *kind;
	unsigned int n = 0;
	int i;

	for (kind = tor_kinds; kind < tor_kinds + ARRAY_SIZE(tor_kinds); kind++) {
		for (i = 0; i < *kind->number && n < ARRAY_SIZE(tor_tasks); i++) {
			struct tor_task *t = &tor_tasks[n];

			t->kind = kind;
			t->nr = i;
			prandom_seed_state(&t->rnd, tor_params.seed + n + 1);
			t->task = kthread_run(tor_task, t, "rb_torture_%s", kind->name);
			if (IS_ERR(t->task))
				tor_fault(TOR_REFUSED, "no task to %s", kind->name);
			else
				n++;
		}
	}
	return n;
}

static void tor_verdict(void)
{
	char faults[256] = "";
	int cpu, i, n = 0;

	for (i = 0; i < TOR_CONTEXTS; i++) {
		u64 written = 0;

		for_each_possible_cpu(cpu)
			written += tor_sums[cpu].written[i];
		if (!written && (i != TOR_NMI || tor_have_nmi()))
			tor_fault(TOR_COUNT, "nothing was written from %s", tor_contexts[i]);
	}
	for (i = 0; i < TOR_FAULTS; i++) {
		if (atomic_read(&tor_faulty[i]))
			n += scnprintf(faults + n, sizeof(faults) - n, "%s %d, ", tor_faults[i],
				       atomic_read(&tor_faulty[i]));
	}
	tor_stats_cpus();
	if (n)
		pr_alert("faults: %sseed %u\n", faults, tor_params.seed);
	tor_stats(n ? "FAILURE: " : "SUCCESS: ");
	WARN(n && IS_ENABLED(CONFIG_RING_BUFFER_STARTUP_TEST), "The ring buffer failed its test\n");
}

static int tor_main(void *unused)
{
	unsigned int n;
	int cpu;

	/* No task starts before the first round. */
	down_write(&tor_stand);
	n = tor_tasks_start();
	tor_rounds();
	up_write(&tor_stand);
	while (n)
		kthread_stop(tor_tasks[--n].task);
	for_each_present_cpu(cpu) {
		if (!cpu_online(cpu))
			add_cpu(cpu);
	}
	tor_writers_stop();
	tor_map_stop();
	tor_verdict();
	complete(&tor_judged);

	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static void tor_free(void)
{
	int b, cpu, i;

	tor_share_stop();
	for (b = 0; b < TOR_BUFFERS; b++) {
		if (tor_buffers[b].rb)
			ring_buffer_free(tor_buffers[b].rb);
	}
	for (cpu = 0; tor_cpus && cpu < nr_cpu_ids; cpu++) {
		for (i = 0; tor_cpus[cpu] && i < TOR_CONTEXTS; i++)
			vfree(tor_cpus[cpu]->seen[i]);
		kvfree(tor_cpus[cpu]);
	}
	kfree(tor_cpus);
	kfree(tor_sums);
}

static struct tor_cpu *tor_cpu_alloc(int cpu)
{
	struct tor_cpu *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	int b, i;

	if (!c)
		return NULL;
	for (i = 0; i < TOR_CONTEXTS; i++) {
		c->seen[i] = vzalloc(BITS_TO_LONGS(tor_params.records) * sizeof(long));
		prandom_seed_state(&c->writer[i].rnd,
				   tor_params.seed + 1000 + TOR_CONTEXTS * cpu + i);
	}
	for (b = 0; b < TOR_BUFFERS; b++)
		mutex_init(&c->consume[b]);
	spin_lock_init(&c->lock);
	return c;
}

static int tor_alloc(void)
{
	unsigned long size = tor_params.kbytes * 1024UL;
	int b, cpu, i;

	tor_cpus = kcalloc(nr_cpu_ids, sizeof(*tor_cpus), GFP_KERNEL);
	tor_sums = kcalloc(nr_cpu_ids, sizeof(*tor_sums), GFP_KERNEL);
	if (!tor_cpus || !tor_sums)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		tor_cpus[cpu] = tor_cpu_alloc(cpu);
		for (i = 0; i < TOR_CONTEXTS; i++) {
			if (!tor_cpus[cpu] || !tor_cpus[cpu]->seen[i])
				return -ENOMEM;
		}
	}
	/* Each has a lock class of its own. */
	tor_buffers[0].rb = ring_buffer_alloc(size, RB_FL_OVERWRITE);
	tor_buffers[1].rb = ring_buffer_alloc(size, RB_FL_OVERWRITE);
	for (b = 0; b < TOR_BUFFERS; b++) {
		if (!tor_buffers[b].rb)
			return -ENOMEM;
		init_rwsem(&tor_buffers[b].ctl);
		mutex_init(&tor_buffers[b].reset);
	}
	return tor_share_start();
}

static int __init tor_check_params(void)
{
	int i = tor_params.busted ? match_string(tor_busted_names, ARRAY_SIZE(tor_busted_names),
						 tor_params.busted) : TOR_SOUND;

	if (i < 0) {
		pr_err("busted=%s: no such way\n", tor_params.busted);
		return -EINVAL;
	}
	tor_busted = i;
	if (tor_params.records < 1 || tor_params.kbytes < 1 || tor_params.busted_every < 1 ||
	    tor_params.round_ms < 1) {
		pr_err("records, kbytes, round_ms and busted_every must be more than 0\n");
		return -EINVAL;
	}
	if (!tor_params.seed)
		tor_params.seed = (u32)ktime_get_ns() | 1;
	if (tor_params.writers < 0)
		tor_params.writers = 2 * num_online_cpus();
	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU))
		tor_params.change[TOR_HOTPLUG] = false;
	if (!tor_have_map())
		tor_params.mappers = 0;
	tor_params.waiters = clamp(tor_params.waiters, 0, TOR_MAX_WAITERS);
	return 0;
}

static int __init tor_init(void)
{
	int ret, absent = -1;

	tor_map_start();
	ret = tor_check_params();
	if (ret)
		goto out_mm;
	prandom_seed_state(&tor_rnd, tor_params.seed);
	pr_info("start: %d s, seed %u, %u CPUs, %d writers, %d consumers, %d pagers, %d iterators, %d waiters, %d mappers, %d changers%s%s\n",
		tor_params.duration, tor_params.seed, num_online_cpus(), tor_params.writers,
		tor_params.consumers, tor_params.pagers, tor_params.iterators, tor_params.waiters,
		tor_params.mappers, tor_params.changers, tor_busted ? ", busted: " : "",
		tor_busted ? tor_params.busted : "");
	if (!tor_have_nmi())
		pr_info("nothing is written from NMIs: no way to send one is known here\n");
	if (!tor_have_map())
		pr_info("nothing is mapped: that needs a task that loads the module\n");

	/* One CPU that the buffers have not seen yet. */
	if (tor_params.change[TOR_HOTPLUG] && num_online_cpus() > 1) {
		absent = cpumask_last(cpu_online_mask);
		if (!cpu_is_hotpluggable(absent) || remove_cpu(absent))
			absent = -1;
	}
	ret = tor_alloc();
	if (ret)
		goto out;
	ret = tor_writers_start();
	if (ret)
		goto out;

	tor_main_task = kthread_run(tor_main, NULL, "rb_torture");
	if (!IS_ERR(tor_main_task)) {
		/* The tests after it need a buffer that nobody switches off. */
		if (IS_ENABLED(CONFIG_RING_BUFFER_STARTUP_TEST) && tor_params.duration)
			wait_for_completion(&tor_judged);
		return 0;
	}
	ret = PTR_ERR(tor_main_task);
	tor_writers_stop();
out:
	if (absent >= 0)
		add_cpu(absent);
	tor_free();
out_mm:
	tor_map_stop();
	return ret;
}

static void __exit tor_exit(void)
{
	kthread_stop(tor_main_task);
	tor_free();
}

module_init(tor_init);
module_exit(tor_exit);

MODULE_DESCRIPTION("Torture test of the ring buffer");
MODULE_LICENSE("GPL");
/* As MODULE_IMPORT_NS() does, which takes a name in older kernels and a string in newer ones. */
MODULE_INFO(import_ns, "RING_BUFFER_TORTURE");
