// SPDX-License-Identifier: GPL-2.0
/*
 * Writers: tasks that move from CPU to CPU, two timers on each CPU, one for
 * soft and one for hard interrupts, and NMIs that any of them sends.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/nmi.h>
#include <linux/sched.h>

#include "torture.h"

/* Longest payload in words; a few are longer, see tor_words(). */
#define TOR_WORDS	(sizeof(struct tor_record) / sizeof(u32))
#define TOR_NEST	2

static int tor_online_state;

/**
 * tor_sum() - the checksum of a record
 * @rec: the record, as long as it says
 *
 * Context: Any context.
 * Return: the sum of all but the sum.
 */
u32 tor_sum(const struct tor_record *rec)
{
	return jhash2((const u32 *)rec + 1, rec->words - 1, 0);
}

/* Mostly short ones; now and then one that fills most of a page. */
static unsigned int tor_words(struct rnd_state *rnd)
{
	u32 kind = tor_random(rnd, 1024);

	if (kind < 2)
		return TOR_WORDS + tor_random(rnd, 4000 / sizeof(u32) - TOR_WORDS);
	if (kind < 64)
		return TOR_WORDS + tor_random(rnd, 128);
	return TOR_WORDS + tor_random(rnd, 12);
}

static void tor_nap(struct rnd_state *rnd, enum tor_context context)
{
	/* Let interrupts pile up behind an unfinished record. */
	if (context == TOR_TASK && !tor_random(rnd, 512))
		udelay(tor_random(rnd, 100));
}

/* Write a record, or none. Preemption is off. */
static void tor_write(enum tor_context context, unsigned int depth)
{
	int cpu = smp_processor_id();
	struct tor_writer *w = &tor_cpus[cpu]->writer[context];
	struct trace_buffer *rb = tor_buffers[0].rb;
	struct ring_buffer_event *event;
	struct tor_record *rec;
	unsigned int words, i;
	u64 before, stamp;
	u32 fill;

	if (!READ_ONCE(tor_round.open))
		return;
	if (w->next >= tor_params.records) {
		WRITE_ONCE(tor_round.full, true);
		return;
	}
	if (tor_changes(TOR_BOTH) && !tor_random(&w->rnd, 8))
		rb = tor_buffers[1].rb;

	words = tor_words(&w->rnd);
	/* The ring buffer rounds the length up there, and a reader expects it as it was. */
	if (IS_ENABLED(CONFIG_HAVE_64BIT_ALIGNED_ACCESS))
		words = round_up(words, 2);
	before = ring_buffer_time_stamp(rb);
	event = ring_buffer_lock_reserve(rb, words * sizeof(u32));
	if (!event) {
		w->refused++;
		return;
	}
	stamp = ring_buffer_event_time_stamp(rb, event);
	if (stamp < before || stamp > ring_buffer_time_stamp(rb))
		tor_fault(TOR_TIME, "cpu %d %s: reserved at %llu, not after %llu or later than now",
			  cpu, tor_contexts[context], stamp, before);

	/* Before the number is taken: a discarded record has none. */
	if (!tor_random(&w->rnd, 16)) {
		tor_nap(&w->rnd, context);
		ring_buffer_discard_commit(rb, event);
		return;
	}

	rec = ring_buffer_event_data(event);
	rec->words = words;
	rec->context = context;
	rec->round = tor_round.number;
	rec->cpu = cpu;
	rec->number = w->next;
	rec->stamp = stamp;
	fill = rec->number * 0x9e3779b9;
	for (i = 0; i < words - TOR_WORDS; i++)
		rec->fill[i] = fill + i;
	rec->sum = tor_sum(rec);
	WRITE_ONCE(w->next, w->next + 1);

	if (depth < TOR_NEST && !tor_random(&w->rnd, 64)) {
		ring_buffer_nest_start(rb);
		tor_write(context, depth + 1);
		ring_buffer_nest_end(rb);
	}
	tor_nap(&w->rnd, context);
	ring_buffer_unlock_commit(rb);
}

static void tor_burst(enum tor_context context, unsigned int most)
{
	struct tor_writer *w = &tor_cpus[smp_processor_id()]->writer[context];
	unsigned int n = 1 + tor_random(&w->rnd, most);

	while (n--)
		tor_write(context, 0);
	if (context != TOR_TASK && tor_changes(TOR_SWAP) && READ_ONCE(tor_round.open) &&
	    !tor_random(&w->rnd, 64))
		tor_swap(smp_processor_id());
	/* Just for a moment, but in an NMI that interrupts others who do it. */
	if (context != TOR_TASK && tor_changes(TOR_TOGGLE) && READ_ONCE(tor_round.open) &&
	    !tor_random(&w->rnd, 256)) {
		tor_note_toggle();
		tracing_off_all();
		tracing_on_all();
	}
}

/* linux/nmi.h has the handlers where ACPI needs them. */
#if defined(CONFIG_X86_LOCAL_APIC) && defined(CONFIG_HAVE_ACPI_APEI_NMI)
#include <asm/apic.h>

static int tor_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(&tor_cpus[smp_processor_id()]->nmi_asked, 0))
		return NMI_DONE;
	tor_burst(TOR_NMI, 3);
	return NMI_HANDLED;
}

/* Only one at a time: two would arrive as one, and leave one to be accounted for. */
static void tor_nmi_send(int cpu)
{
	if (cpu_online(cpu) && !atomic_xchg(&tor_cpus[cpu]->nmi_asked, 1))
		apic->send_IPI(cpu, NMI_VECTOR);
}

static int tor_nmi_start(void)
{
	return register_nmi_handler(NMI_LOCAL, tor_nmi, 0, "ring_buffer_torture");
}

static void tor_nmi_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, "ring_buffer_torture");
}

/**
 * tor_have_nmi() - can this machine write from NMIs?
 *
 * Context: Any context.
 * Return: true if the test knows how to send one.
 */
bool tor_have_nmi(void)
{
	return true;
}
#else
static void tor_nmi_send(int cpu) { }
static int tor_nmi_start(void) { return 0; }
static void tor_nmi_stop(void) { }
bool tor_have_nmi(void) { return false; }
#endif

/* Preemption is off: a CPU that is online stays so until the NMI is sent. */
static void tor_nmi_some(struct rnd_state *rnd)
{
	switch (tor_random(rnd, 8)) {
	case 0:
		tor_nmi_send(smp_processor_id());
		break;
	case 1:
		tor_nmi_send(tor_random_cpu(rnd));
		break;
	}
}

static enum hrtimer_restart tor_timer(struct hrtimer *timer, enum tor_context context)
{
	struct rnd_state *rnd;

	if (READ_ONCE(tor_round.open)) {
		rnd = &tor_cpus[smp_processor_id()]->writer[context].rnd;
		tor_nmi_some(rnd);
		tor_burst(context, 8);
		hrtimer_forward_now(timer,
				    ns_to_ktime(NSEC_PER_USEC * (50 + tor_random(rnd, 1000))));
	} else {
		hrtimer_forward_now(timer, ms_to_ktime(2));
	}
	return HRTIMER_RESTART;
}

static enum hrtimer_restart tor_hard(struct hrtimer *timer)
{
	return tor_timer(timer, TOR_HARDIRQ);
}

static enum hrtimer_restart tor_soft(struct hrtimer *timer)
{
	return tor_timer(timer, TOR_SOFTIRQ);
}

static int tor_cpu_online(unsigned int cpu)
{
	struct tor_cpu *c = tor_cpus[cpu];

	atomic_set(&c->nmi_asked, 0);
	hrtimer_init(&c->hard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_init(&c->soft, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	c->hard.function = tor_hard;
	c->soft.function = tor_soft;
	hrtimer_start(&c->hard, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&c->soft, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_SOFT);
	return 0;
}

static int tor_cpu_offline(unsigned int cpu)
{
	hrtimer_cancel(&tor_cpus[cpu]->hard);
	hrtimer_cancel(&tor_cpus[cpu]->soft);
	return 0;
}

/**
 * tor_writers_start() - prepare NMIs and start the timers
 *
 * Context: May sleep.
 * Return: 0 or an error.
 */
int tor_writers_start(void)
{
	int ret = tor_nmi_start();

	if (ret)
		return ret;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "trace/ring_buffer_torture:online",
				tor_cpu_online, tor_cpu_offline);
	if (ret < 0) {
		tor_nmi_stop();
		return ret;
	}
	tor_online_state = ret;
	return 0;
}

/**
 * tor_writers_stop() - stop the timers and the NMIs
 *
 * Context: May sleep.
 */
void tor_writers_stop(void)
{
	cpuhp_remove_state(tor_online_state);
	tor_nmi_stop();
}

/**
 * tor_task_writer() - a task that writes
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread.
 */
void tor_task_writer(struct rnd_state *rnd, int nr)
{
	unsigned int n;
	int cpu;

	/* The CPU may be offline by now, then the scheduler finds another one. */
	if (!tor_random(rnd, 16)) {
		cpu = tor_random_cpu(rnd);
		if (cpu_online(cpu))
			set_cpus_allowed_ptr(current, cpumask_of(cpu));
	}
	for (n = tor_random(rnd, 64); n; n--) {
		preempt_disable();
		if (READ_ONCE(tor_round.open)) {
			tor_write(TOR_TASK, 0);
			if (!(n % 16))
				tor_nmi_some(rnd);
		}
		preempt_enable();
	}
}
