// SPDX-License-Identifier: GPL-2.0
/*
 * Torture the ring buffer: the parameters, the rounds and the verdict.
 *
 * Loading the module starts the test; its last line says SUCCESS or FAILURE.
 * See torture.h for how it works.
 */
#define pr_fmt(fmt) "ring_buffer-torture: " fmt

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
#define RBT_SHOWN	5

struct rbt_params rbt_params = {
	.duration	= 60,
	.round_ms	= 2000,
	.stat_interval	= 15,
	.writers	= -1,
	.consumers	= 2,
	.pagers		= 2,
	.iterators	= 2,
	.waiters	= 2,
	.mappers	= 1,
	.changers	= 2,
	.change		= { [0 ... RBT_CHANGES - 1] = true },
	.kbytes		= 64,
	.records	= 1 << 18,
	.busted_every	= 10000,
};

module_param_named(duration, rbt_params.duration, int, 0444);
MODULE_PARM_DESC(duration, "Seconds until the verdict, 0: until the module is removed");
module_param_named(round_ms, rbt_params.round_ms, int, 0444);
MODULE_PARM_DESC(round_ms, "Milliseconds between two accounts");
module_param_named(stat_interval, rbt_params.stat_interval, int, 0444);
MODULE_PARM_DESC(stat_interval, "Seconds between statistics, 0: none");
module_param_named(seed, rbt_params.seed, uint, 0444);
MODULE_PARM_DESC(seed, "Where random choices begin, 0: at the time");
module_param_named(kbytes, rbt_params.kbytes, int, 0444);
MODULE_PARM_DESC(kbytes, "Size of each CPU's ring; resizes go up to twice of it");
module_param_named(records, rbt_params.records, int, 0444);
MODULE_PARM_DESC(records, "Most records of a CPU and context in a round");
module_param_named(writers, rbt_params.writers, int, 0444);
MODULE_PARM_DESC(writers, "Tasks that write, -1: two for each CPU");
module_param_named(consumers, rbt_params.consumers, int, 0444);
MODULE_PARM_DESC(consumers, "Tasks that consume records");
module_param_named(pagers, rbt_params.pagers, int, 0444);
MODULE_PARM_DESC(pagers, "Tasks that read pages");
module_param_named(iterators, rbt_params.iterators, int, 0444);
MODULE_PARM_DESC(iterators, "Tasks that iterate");
module_param_named(waiters, rbt_params.waiters, int, 0444);
MODULE_PARM_DESC(waiters, "Tasks that wait for records");
module_param_named(mappers, rbt_params.mappers, int, 0444);
MODULE_PARM_DESC(mappers, "Tasks that map rings");
module_param_named(changers, rbt_params.changers, int, 0444);
MODULE_PARM_DESC(changers, "Tasks that do the following");
module_param_named(resizes, rbt_params.change[RBT_RESIZE], bool, 0444);
MODULE_PARM_DESC(resizes, "Resize rings");
module_param_named(orders, rbt_params.change[RBT_ORDER], bool, 0444);
MODULE_PARM_DESC(orders, "Change the size of sub-buffers");
module_param_named(overwrites, rbt_params.change[RBT_OVERWRITE], bool, 0444);
MODULE_PARM_DESC(overwrites, "Change the overwrite mode");
module_param_named(swaps, rbt_params.change[RBT_SWAP], bool, 0444);
MODULE_PARM_DESC(swaps, "Swap rings, from any context");
module_param_named(cuts, rbt_params.change[RBT_CUT], bool, 0444);
MODULE_PARM_DESC(cuts, "Have buffer 1 take the records of buffer 0");
module_param_named(forgets, rbt_params.change[RBT_FORGET], bool, 0444);
MODULE_PARM_DESC(forgets, "Have buffer 1 drop its records");
module_param_named(trims, rbt_params.change[RBT_TRIM], bool, 0444);
MODULE_PARM_DESC(trims, "Have buffer 1 free unused sub-buffers");
module_param_named(resets, rbt_params.change[RBT_RESET], bool, 0444);
MODULE_PARM_DESC(resets, "Reset rings");
module_param_named(toggles, rbt_params.change[RBT_TOGGLE], bool, 0444);
MODULE_PARM_DESC(toggles, "Switch recording off and on, also of all buffers that there are");
module_param_named(both, rbt_params.change[RBT_BOTH], bool, 0444);
MODULE_PARM_DESC(both, "Write to both buffers");
module_param_named(expands, rbt_params.change[RBT_EXPAND], bool, 0444);
MODULE_PARM_DESC(expands, "Give buffer 1 its rings while it is used");
module_param_named(hotplug, rbt_params.change[RBT_HOTPLUG], bool, 0444);
MODULE_PARM_DESC(hotplug, "Take CPUs offline and online");
module_param_named(busted, rbt_params.busted, charp, 0444);
MODULE_PARM_DESC(busted,
		 "Fail on purpose: a reader does lose, repeat, damage, shuffle, shift, miscount or race, a cut or a reset drops a record uncounted, a waiter does oversleep");
module_param_named(busted_every, rbt_params.busted_every, int, 0444);
MODULE_PARM_DESC(busted_every, "One time in how many");

struct rbt_buffer rbt_buffers[RBT_BUFFERS];
struct rbt_cpu **rbt_cpus;
struct rbt_round rbt_round;

/* Read: at work; write: all tasks stand still. */
DECLARE_RWSEM(rbt_stand);

const char * const rbt_contexts[RBT_CONTEXTS] = {
	[RBT_TASK]	= "task",
	[RBT_SOFTIRQ]	= "softirq",
	[RBT_HARDIRQ]	= "hardirq",
	[RBT_NMI]	= "nmi",
};

static const char * const rbt_changes_names[RBT_CHANGES] = {
	[RBT_RESIZE]	= "resize",
	[RBT_ORDER]	= "order",
	[RBT_OVERWRITE]	= "overwrite",
	[RBT_SWAP]	= "swap",
	[RBT_CUT]	= "cut",
	[RBT_FORGET]	= "forget",
	[RBT_TRIM]	= "trim",
	[RBT_RESET]	= "reset",
	[RBT_TOGGLE]	= "toggle",
	[RBT_BOTH]	= "both",
	[RBT_EXPAND]	= "expand",
	[RBT_HOTPLUG]	= "hotplug",
};

static const char * const rbt_ops[RBT_OPS] = {
	[RBT_DID_RESIZE]	= "resize",
	[RBT_DID_ORDER]		= "order",
	[RBT_DID_SWAP]		= "swap",
	[RBT_DID_CUT]		= "cut",
	[RBT_DID_FORGET]	= "forget",
	[RBT_DID_TRIM]		= "trim",
	[RBT_DID_RESET]		= "reset",
	[RBT_DID_TOGGLE]	= "toggle",
	[RBT_DID_EXPAND]	= "expand",
	[RBT_DID_ITERATE]	= "iterate",
	[RBT_DID_WAIT]		= "wait",
	[RBT_DID_MAP]		= "map",
	[RBT_DID_PLUG]		= "hotplug",
};

static const char * const rbt_faults[RBT_FAULTS] = {
	[RBT_DAMAGE]	= "damage",
	[RBT_TWICE]	= "twice",
	[RBT_STALE]	= "stale",
	[RBT_ORDERED]	= "order",
	[RBT_TIME]	= "time",
	[RBT_HIDDEN]	= "hidden",
	[RBT_COUNT]	= "count",
	[RBT_PAGE]	= "page",
	[RBT_REFUSED]	= "refused",
	[RBT_ASLEEP]	= "asleep",
};

static const char * const rbt_busted_names[] = {
	[RBT_SOUND]	= "no",
	[RBT_LOSE]	= "lose",
	[RBT_REPEAT]	= "repeat",
	[RBT_BEND]	= "damage",
	[RBT_SHUFFLE]	= "shuffle",
	[RBT_SHIFT]	= "shift",
	[RBT_MISCOUNT]	= "miscount",
	[RBT_SHORT_CUT]	= "cut",
	[RBT_SHORT_RESET] = "reset",
	[RBT_OVERSLEEP]	= "oversleep",
	[RBT_RACE]	= "race",
};

static enum rbt_busted rbt_busted;
static atomic_t rbt_busted_turn;
static atomic_t rbt_faulty[RBT_FAULTS];
static atomic_long_t rbt_dids[RBT_OPS][2];
static struct rbt_sum *rbt_sums;
static struct task_struct *rbt_main_task;
static struct rnd_state rbt_rnd;
static const char *rbt_clock_name;

/**
 * rbt_fault() - report a fault
 * @fault: its kind
 * @fmt:   message
 *
 * Context: Any context.
 */
void rbt_fault(enum rbt_fault fault, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (atomic_inc_return(&rbt_faulty[fault]) > RBT_SHOWN)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	pr_alert("fault, %s: %pV\n", rbt_faults[fault], &vaf);
	va_end(args);
}

static unsigned int rbt_fault_count(void)
{
	unsigned int sum = 0;
	int i;

	for (i = 0; i < RBT_FAULTS; i++)
		sum += atomic_read(&rbt_faulty[i]);
	return sum;
}

/**
 * rbt_did() - count an operation
 * @op:  the operation
 * @ret: its return value, less than 0 if it was refused
 *
 * Context: Any context.
 */
void rbt_did(enum rbt_op op, long ret)
{
	atomic_long_inc(&rbt_dids[op][ret < 0]);
}

/**
 * rbt_bust() - shall this fail on purpose now?
 * @how: kind of fault
 *
 * Context: Any context.
 * Return: true if so.
 */
bool rbt_bust(enum rbt_busted how)
{
	return unlikely(rbt_busted == how) &&
	       !(atomic_inc_return(&rbt_busted_turn) % rbt_params.busted_every);
}

/**
 * rbt_random_cpu() - choose a CPU
 * @rnd: the source
 *
 * Context: Any context.
 * Return: a CPU that was online.
 */
int rbt_random_cpu(struct rnd_state *rnd)
{
	int cpu = cpumask_next(rbt_random(rnd, nr_cpu_ids), cpu_online_mask);

	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

/**
 * rbt_pause() - let others work, sometimes for longer
 * @rnd: the source
 *
 * Context: Task.
 */
void rbt_pause(struct rnd_state *rnd)
{
	switch (rbt_random(rnd, 8)) {
	case 0:
		schedule_timeout_uninterruptible(1 + rbt_random(rnd, 3));
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
static atomic64_t rbt_ticks;

static u64 notrace rbt_clock_count(void)
{
	return atomic64_inc_return(&rbt_ticks);
}

/* ...and one with pauses that need stamps of their own. */
static u64 notrace rbt_clock_jump(void)
{
	u64 now = atomic64_inc_return(&rbt_ticks);

	if (now % 1024)
		return now;
	return atomic64_add_return(BIT_ULL(20 + now / 1024 % 27), &rbt_ticks);
}

static const struct {
	const char	*name;
	u64		(*read)(void);
} rbt_clocks[] = {
	{ "local", trace_clock_local },
	{ "count", rbt_clock_count },
	{ "jump", rbt_clock_jump },
};

static void rbt_stats(const char *end)
{
	u64 written = 0, read = 0, overrun = 0, cut = 0, reset = 0, refused = 0;
	char ops[320];
	int cpu, i, n = 0;

	for_each_possible_cpu(cpu) {
		struct rbt_sum *sum = &rbt_sums[cpu];

		for (i = 0; i < RBT_CONTEXTS; i++) {
			written += sum->written[i];
			read += sum->read[i];
		}
		overrun += sum->overrun;
		cut += sum->dropped[RBT_BY_CUT];
		reset += sum->dropped[RBT_BY_RESET];
		refused += sum->refused;
	}
	for (i = 0; i < RBT_OPS; i++) {
		n += scnprintf(ops + n, sizeof(ops) - n, ", %s %ld/%ld", rbt_ops[i],
			       atomic_long_read(&rbt_dids[i][0]),
			       atomic_long_read(&rbt_dids[i][0]) +
			       atomic_long_read(&rbt_dids[i][1]));
	}
	pr_info("%s%u rounds, %llu written = %llu read + %llu overwritten + %llu cut off + %llu reset, %llu refused%s\n",
		end, rbt_round.number, written, read, overrun, cut, reset, refused, ops);
}

static void rbt_stats_cpus(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < RBT_CONTEXTS; i++)
			pr_info("cpu %d %s: %llu written, %llu read\n", cpu, rbt_contexts[i],
				rbt_sums[cpu].written[i], rbt_sums[cpu].read[i]);
	}
}

#define RBT_OF_SPARE	(BIT(RBT_CUT) | BIT(RBT_FORGET) | BIT(RBT_TRIM))
#define RBT_OF_LIVE	(BIT(RBT_SWAP) | BIT(RBT_BOTH))

/* A new round: another mix, another clock, and buffers that are empty and alike. */
static void rbt_begin(void)
{
	int order = rbt_params.change[RBT_ORDER] ? rbt_random(&rbt_rnd, RBT_MAX_ORDER + 1) : 0;
	unsigned int clock = rbt_random(&rbt_rnd, ARRAY_SIZE(rbt_clocks));
	unsigned long size = rbt_params.kbytes * 1024UL;
	int b, i, ret;

	rbt_round.number++;
	rbt_round.over = false;
	rbt_round.full = false;
	rbt_round.changes = 0;
	for (i = 0; i < RBT_CHANGES; i++) {
		if (rbt_params.change[i] && rbt_random(&rbt_rnd, 8) < 5)
			rbt_round.changes |= BIT(i);
	}
	/* Its refusals would hide other faults. */
	if (rbt_random(&rbt_rnd, 2))
		rbt_round.changes &= ~BIT(RBT_TOGGLE);
	/* A spare buffer is not written to, and only a cut makes it live. */
	if (rbt_round.changes & RBT_OF_SPARE)
		rbt_round.changes &= rbt_random(&rbt_rnd, 3) ? ~RBT_OF_LIVE : ~RBT_OF_SPARE;

	/* A buffer without rings has none to resize, to swap or to cut. */
	if (rbt_changes(RBT_EXPAND)) {
		rbt_round.changes &= rbt_random(&rbt_rnd, 3) ? ~BIT(RBT_EXPAND) :
				     ~(RBT_OF_SPARE | BIT(RBT_SWAP) | BIT(RBT_RESIZE));
	}

	rbt_clock_name = rbt_clocks[clock].name;
	/* Not far from where stamps have no more bits. */
	atomic64_set(&rbt_ticks, rbt_random(&rbt_rnd, 2) ? BIT_ULL(46) - BIT(16) :
							   BIT_ULL(59) - BIT_ULL(50));
	for (b = 0; b < RBT_BUFFERS; b++) {
		struct trace_buffer *rb = rbt_buffers[b].rb;

		if (!ring_buffer_record_is_on(rb))
			rbt_fault(RBT_REFUSED, "buffer %d stays off", b);
		ring_buffer_expand(rb, size);
		ring_buffer_set_clock(rb, rbt_clocks[clock].read);
		ring_buffer_set_time_stamp_abs(rb, !rbt_random(&rbt_rnd, 8));
		ring_buffer_change_overwrite(rb, rbt_random(&rbt_rnd, 4));
		ring_buffer_subbuf_order_set(rb, order);
		ring_buffer_resize(rb, size, RING_BUFFER_ALL_CPUS);
		ring_buffer_reset(rb);
	}
	if (rbt_changes(RBT_EXPAND)) {
		rbt_note_toggle();
		ret = ring_buffer_unexpand(rbt_buffers[1].rb);
		if (ret && ret != -ENOMEM)
			rbt_fault(RBT_REFUSED, "unexpand: %d", ret);
	}
}

/* All tasks but waiters stand still: read the rest, and add it all up. */
static void rbt_end(void)
{
	char mix[128] = "";
	int b, cpu, i, n = 0;

	rbt_wake_all();
	for_each_possible_cpu(cpu) {
		for (b = 0; b < RBT_BUFFERS; b++)
			rbt_drain(&rbt_rnd, b, cpu);
		rbt_settle(cpu, &rbt_sums[cpu]);
		rbt_forget(cpu);
	}
	if (!rbt_fault_count())
		return;
	for (i = 0; i < RBT_CHANGES; i++) {
		if (rbt_changes(i))
			n += scnprintf(mix + n, sizeof(mix) - n, " %s", rbt_changes_names[i]);
	}
	pr_alert("that was round %u, clock %s, with:%s\n", rbt_round.number, rbt_clock_name, mix);
}

static bool rbt_over(unsigned long end)
{
	return kthread_should_stop() || rbt_fault_count() ||
	       (rbt_params.duration > 0 && time_after(jiffies, end));
}

/* Writers may go on without the others for a while, or the others without them. */
static void rbt_stand_still(void)
{
	bool writers_first = rbt_random(&rbt_rnd, 2);

	if (writers_first)
		WRITE_ONCE(rbt_round.open, false);
	down_write(&rbt_stand);
	WRITE_ONCE(rbt_round.open, false);
	/* Those that saw it open have preemption off. */
	synchronize_rcu();
}

/* &rbt_stand is held for writing, but while a round is on. */
static void rbt_rounds(void)
{
	unsigned long end = jiffies + rbt_params.duration * HZ, round, stat = jiffies;

	do {
		rbt_begin();
		WRITE_ONCE(rbt_round.open, true);
		up_write(&rbt_stand);

		round = jiffies + msecs_to_jiffies(rbt_params.round_ms);
		while (!rbt_over(end) && !READ_ONCE(rbt_round.full) && time_before(jiffies, round))
			schedule_timeout_interruptible(HZ / 20 + 1);

		rbt_stand_still();
		rbt_end();
		if (rbt_params.stat_interval &&
		    time_after(jiffies, stat + rbt_params.stat_interval * HZ)) {
			stat = jiffies;
			rbt_stats("");
		}
	} while (!rbt_over(end));
}

/* All kinds of tasks, with the number of each. */
static int rbt_pluggers = 1;

static const struct rbt_kind {
	const char	*name;
	void		(*turn)(struct rnd_state *rnd, int nr);
	int		*number;
	bool		stands;		/* holds &rbt_stand for each turn */
} rbt_kinds[] = {
	{ "write",	rbt_task_writer,	&rbt_params.writers,	false },
	{ "consume",	rbt_consumer,		&rbt_params.consumers,	true },
	{ "page",	rbt_pager,		&rbt_params.pagers,	true },
	{ "iterate",	rbt_iterator,		&rbt_params.iterators,	true },
	{ "wait",	rbt_waiter,		&rbt_params.waiters,	false },
	{ "map",	rbt_mapper,		&rbt_params.mappers,	true },
	{ "change",	rbt_changer,		&rbt_params.changers,	true },
	{ "plug",	rbt_plugger,		&rbt_pluggers,		false },
};

static struct rbt_task {
	struct task_struct	*task;
	const struct rbt_kind	*kind;
	int			nr;	/* among those of its kind */
	struct rnd_state	rnd;
} rbt_tasks[256];

static int rbt_task(void *data)
{
	struct rbt_task *t = data;

	while (!kthread_should_stop()) {
		if (t->kind->stands)
			down_read(&rbt_stand);
		t->kind->turn(&t->rnd, t->nr);
		if (t->kind->stands)
			up_read(&rbt_stand);
		rbt_pause(&t->rnd);
	}
	return 0;
}

static unsigned int rbt_tasks_start(void)
{
	const struct rbt_kind *kind;
	unsigned int n = 0;
	int i;

	for (kind = rbt_kinds; kind < rbt_kinds + ARRAY_SIZE(rbt_kinds); kind++) {
		for (i = 0; i < *kind->number && n < ARRAY_SIZE(rbt_tasks); i++) {
			struct rbt_task *t = &rbt_tasks[n];

			t->kind = kind;
			t->nr = i;
			prandom_seed_state(&t->rnd, rbt_params.seed + n + 1);
			t->task = kthread_run(rbt_task, t, "rb_torture_%s", kind->name);
			if (IS_ERR(t->task))
				rbt_fault(RBT_REFUSED, "no task to %s", kind->name);
			else
				n++;
		}
	}
	return n;
}

static void rbt_verdict(void)
{
	char faults[256] = "";
	int cpu, i, n = 0;

	for (i = 0; i < RBT_CONTEXTS; i++) {
		u64 written = 0;

		for_each_possible_cpu(cpu)
			written += rbt_sums[cpu].written[i];
		if (!written && (i != RBT_NMI || rbt_have_nmi()))
			rbt_fault(RBT_COUNT, "nothing was written from %s", rbt_contexts[i]);
	}
	for (i = 0; i < RBT_FAULTS; i++) {
		if (atomic_read(&rbt_faulty[i]))
			n += scnprintf(faults + n, sizeof(faults) - n, "%s %d, ", rbt_faults[i],
				       atomic_read(&rbt_faulty[i]));
	}
	rbt_stats_cpus();
	if (n)
		pr_alert("faults: %sseed %u\n", faults, rbt_params.seed);
	rbt_stats(n ? "FAILURE: " : "SUCCESS: ");
}

static int rbt_main(void *unused)
{
	unsigned int n;
	int cpu;

	/* No task starts before the first round. */
	down_write(&rbt_stand);
	n = rbt_tasks_start();
	rbt_rounds();
	up_write(&rbt_stand);
	while (n)
		kthread_stop(rbt_tasks[--n].task);
	for_each_present_cpu(cpu) {
		if (!cpu_online(cpu))
			add_cpu(cpu);
	}
	rbt_writers_stop();
	rbt_map_stop();
	rbt_verdict();

	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static void rbt_free(void)
{
	int b, cpu, i;

	for (b = 0; b < RBT_BUFFERS; b++) {
		if (rbt_buffers[b].rb)
			ring_buffer_free(rbt_buffers[b].rb);
	}
	for (cpu = 0; rbt_cpus && cpu < nr_cpu_ids; cpu++) {
		for (i = 0; rbt_cpus[cpu] && i < RBT_CONTEXTS; i++)
			vfree(rbt_cpus[cpu]->seen[i]);
		kvfree(rbt_cpus[cpu]);
	}
	kfree(rbt_cpus);
	kfree(rbt_sums);
}

static struct rbt_cpu *rbt_cpu_alloc(int cpu)
{
	struct rbt_cpu *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	int b, i;

	if (!c)
		return NULL;
	for (i = 0; i < RBT_CONTEXTS; i++) {
		c->seen[i] = vzalloc(BITS_TO_LONGS(rbt_params.records) * sizeof(long));
		prandom_seed_state(&c->writer[i].rnd,
				   rbt_params.seed + 1000 + RBT_CONTEXTS * cpu + i);
	}
	for (b = 0; b < RBT_BUFFERS; b++)
		mutex_init(&c->consume[b]);
	spin_lock_init(&c->lock);
	return c;
}

static int rbt_alloc(void)
{
	unsigned long size = rbt_params.kbytes * 1024UL;
	int b, cpu, i;

	rbt_cpus = kcalloc(nr_cpu_ids, sizeof(*rbt_cpus), GFP_KERNEL);
	rbt_sums = kcalloc(nr_cpu_ids, sizeof(*rbt_sums), GFP_KERNEL);
	if (!rbt_cpus || !rbt_sums)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		rbt_cpus[cpu] = rbt_cpu_alloc(cpu);
		for (i = 0; i < RBT_CONTEXTS; i++) {
			if (!rbt_cpus[cpu] || !rbt_cpus[cpu]->seen[i])
				return -ENOMEM;
		}
	}
	/* Each has a lock class of its own. */
	rbt_buffers[0].rb = ring_buffer_alloc(size, RB_FL_OVERWRITE);
	rbt_buffers[1].rb = ring_buffer_alloc(size, RB_FL_OVERWRITE);
	for (b = 0; b < RBT_BUFFERS; b++) {
		if (!rbt_buffers[b].rb)
			return -ENOMEM;
		init_rwsem(&rbt_buffers[b].ctl);
		mutex_init(&rbt_buffers[b].reset);
	}
	return 0;
}

static int __init rbt_check_params(void)
{
	int i = rbt_params.busted ? match_string(rbt_busted_names, ARRAY_SIZE(rbt_busted_names),
						 rbt_params.busted) : RBT_SOUND;

	if (i < 0) {
		pr_err("busted=%s: no such way\n", rbt_params.busted);
		return -EINVAL;
	}
	rbt_busted = i;
	if (rbt_params.records < 1 || rbt_params.kbytes < 1 || rbt_params.busted_every < 1 ||
	    rbt_params.round_ms < 1) {
		pr_err("records, kbytes, round_ms and busted_every must be more than 0\n");
		return -EINVAL;
	}
	if (!rbt_params.seed)
		rbt_params.seed = (u32)ktime_get_ns() | 1;
	if (rbt_params.writers < 0)
		rbt_params.writers = 2 * num_online_cpus();
	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU))
		rbt_params.change[RBT_HOTPLUG] = false;
	if (!rbt_have_map())
		rbt_params.mappers = 0;
	rbt_params.waiters = clamp(rbt_params.waiters, 0, RBT_MAX_WAITERS);
	return 0;
}

static int __init rbt_init(void)
{
	int ret, absent = -1;

	rbt_map_start();
	ret = rbt_check_params();
	if (ret)
		goto out_mm;
	prandom_seed_state(&rbt_rnd, rbt_params.seed);
	pr_info("start: %d s, seed %u, %u CPUs, %d writers, %d consumers, %d pagers, %d iterators, %d waiters, %d mappers, %d changers%s%s\n",
		rbt_params.duration, rbt_params.seed, num_online_cpus(), rbt_params.writers,
		rbt_params.consumers, rbt_params.pagers, rbt_params.iterators, rbt_params.waiters,
		rbt_params.mappers, rbt_params.changers, rbt_busted ? ", busted: " : "",
		rbt_busted ? rbt_params.busted : "");
	if (!rbt_have_nmi())
		pr_info("nothing is written from NMIs: no way to send one is known here\n");
	if (!rbt_have_map())
		pr_info("nothing is mapped: that needs a task that loads the module\n");

	/* One CPU that the buffers have not seen yet. */
	if (rbt_params.change[RBT_HOTPLUG] && num_online_cpus() > 1) {
		absent = cpumask_last(cpu_online_mask);
		if (!cpu_is_hotpluggable(absent) || remove_cpu(absent))
			absent = -1;
	}
	ret = rbt_alloc();
	if (ret)
		goto out;
	ret = rbt_writers_start();
	if (ret)
		goto out;

	rbt_main_task = kthread_run(rbt_main, NULL, "rb_torture");
	if (!IS_ERR(rbt_main_task))
		return 0;
	ret = PTR_ERR(rbt_main_task);
	rbt_writers_stop();
out:
	if (absent >= 0)
		add_cpu(absent);
	rbt_free();
out_mm:
	rbt_map_stop();
	return ret;
}

static void __exit rbt_exit(void)
{
	kthread_stop(rbt_main_task);
	rbt_free();
}

module_init(rbt_init);
module_exit(rbt_exit);

MODULE_DESCRIPTION("Torture test of the ring buffer");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(RING_BUFFER_TORTURE);
