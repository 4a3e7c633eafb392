// SPDX-License-Identifier: GPL-2.0
/*
 * The stepper. A first run has the trap flag set: the processor raises SIGTRAP
 * after each instruction, and the handler notes the addresses of those in the
 * ring buffer's own text. Every further run takes one of them, puts a breakpoint
 * there, and runs an action when it is reached for the right time. The action is
 * complete: the stopped operation sees it as an interrupt, or as the work of another
 * CPU between two of its instructions. In pair.c that CPU is stopped as well.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include "../shim/shim.h"
#include "run.h"

#define TF 0x100
#define SPIN_LIMIT 20000	/* instructions, after it has used far too much time */
#define RESUME_LIMIT 1000
#define INT3 0xcc
#define RET 0xc3

/* the linker's names of the section that holds the ring buffer's text */
extern char __start_rb_text[], __stop_rb_text[];

/* The path of each level, as the last run without an injection took it */
static struct path {
	unsigned long	*rip;
	long		nr, room;
} path[2];

static struct breakpoint {
	unsigned char	*addr;		/* NULL: not in the text */
	unsigned char	*over;		/* passed, comes back after this instruction */
	unsigned char	byte;
	long		hits;		/* to go */
} bp[2], back[2];			/* back: where a call leaves the text, it returns to */

static struct step *cur;
static volatile int depth, noting[2], inside_text[2];
static volatile long spins, waits;
static volatile unsigned long runs_started, runs_at_tick;
static sigjmp_buf abandoned;

static inline void tf_on(void)
{
	__asm__ volatile("pushf; orl $0x100, (%%rsp); popf" : : : "memory", "cc");
}

static inline void tf_off(void)
{
	__asm__ volatile("pushf; andl $~0x100, (%%rsp); popf" : : : "memory", "cc");
}

static void give_up(const char *why)
{
	fault(F_STUCK, "at instruction %ld/%ld: %s", cur->at[0], cur->at[1], why);
	siglongjmp(abandoned, 1);
}

static void plant(struct breakpoint *b, unsigned char *addr)
{
	b->byte = *addr;
	b->addr = addr;
	*(volatile unsigned char *)addr = INT3;
}

static void unplant(struct breakpoint *b)
{
	if (b->addr)
		*(volatile unsigned char *)b->addr = b->byte;
	b->addr = NULL;
	b->over = NULL;
}

static void inject(int d)
{
	depth = d + 1;
	cur->act[d]();
	depth = d;
}

static int in_text(unsigned long rip)
{
	return rip >= (unsigned long)__start_rb_text && rip < (unsigned long)__stop_rb_text;
}

static void note(struct path *p, unsigned long rip)
{
	/* a repeated string instruction traps for each round */
	if (p->nr && rip == p->rip[p->nr - 1])
		return;
	if (p->nr == p->room) {
		p->room = 2 * p->room + 1024;
		p->rip = realloc(p->rip, p->room * sizeof(*p->rip));
	}
	p->rip[p->nr++] = rip;
}

static void on_trap(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;
	unsigned char *rip = (unsigned char *)uc->uc_mcontext.gregs[REG_RIP];
	int d = depth;

	if (spins && !cur) {
		/* The watchdog came at the very end of a run. */
		spins = 0;
		uc->uc_mcontext.gregs[REG_EFL] &= ~TF;
		return;
	}
	if (spins) {
		if (++spins > SPIN_LIMIT)
			give_up(co_inside() ? "another CPU spins" : "spins");
		return;
	}
	if (d < 2 && bp[d].addr && rip == bp[d].addr + 1) {
		unplant(&bp[d]);
		uc->uc_mcontext.gregs[REG_RIP]--;
		if (--bp[d].hits) {
			bp[d].over = rip - 1;
			uc->uc_mcontext.gregs[REG_EFL] |= TF;
		} else {
			inject(d);
		}
		return;
	}
	if (d < 2 && bp[d].over) {
		/* a repeated string instruction is one */
		if (rip == bp[d].over)
			return;
		plant(&bp[d], bp[d].over);
		bp[d].over = NULL;
	} else if (d < 2 && noting[d]) {
		unsigned long *sp = (unsigned long *)uc->uc_mcontext.gregs[REG_RSP];

		if (back[d].addr && rip == back[d].addr + 1) {
			unplant(&back[d]);
			rip--;
			uc->uc_mcontext.gregs[REG_RIP] = (unsigned long)rip;
			uc->uc_mcontext.gregs[REG_EFL] |= TF;
		}
		if (in_text((unsigned long)rip)) {
			note(&path[d], (unsigned long)rip);
			inside_text[d] = 1;
			return;
		}
		if (!inside_text[d])
			return;
		inside_text[d] = 0;
		/* a call of something else, which need not be stepped through; or a return */
		if (*(unsigned char *)path[d].rip[path[d].nr - 1] == RET || !in_text(*sp))
			return;
		plant(&back[d], (unsigned char *)*sp);
	}
	uc->uc_mcontext.gregs[REG_EFL] &= ~TF;
}

/*
 * A watchdog on CPU time. It only suspects: from there on instructions are
 * counted, and too many of them mean that a loop waits for the stopped CPU.
 */
static void on_tick(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;

	if (cur && runs_started == runs_at_tick && !spins && !noting[0] && !noting[1]) {
		spins = 1;
		uc->uc_mcontext.gregs[REG_EFL] |= TF;
	}
	runs_at_tick = runs_started;
}

static void set_up(void)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction tick = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval it = { { 0, 100000 }, { 0, 100000 } };
	unsigned long text = (unsigned long)__start_rb_text & -4096UL;

	if (mprotect((void *)text, (unsigned long)__stop_rb_text - text,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		host_die("mprotect of the ring buffer's text");
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGPROF, &tick, NULL);
	setitimer(ITIMER_PROF, &it, NULL);
}

static void end_noting(int d)
{
	tf_off();
	noting[d] = 0;
	unplant(&back[d]);
	cur->n[d] = path[d].nr;
}

/* If it was not reached, it went another way this time */
static void unplant_point(int d)
{
	nr_missed += !!bp[d].addr;
	unplant(&bp[d]);
}

static void stepped(int d, void (*fn)(void))
{
	struct path *p = &path[d];
	unsigned long rip;
	long i;

	if (!cur->at[d]) {
		p->nr = 0;
		noting[d] = 1;
		inside_text[d] = 0;
		tf_on();
		fn();
		end_noting(d);
		return;
	}
	if (cur->at[d] > p->nr) {
		fn();
		return;
	}
	rip = p->rip[cur->at[d] - 1];
	bp[d].hits = 0;
	for (i = 0; i < cur->at[d]; i++)
		bp[d].hits += p->rip[i] == rip;
	plant(&bp[d], (unsigned char *)rip);
	fn();
	unplant_point(d);
}

void step_nested(void (*fn)(void))
{
	stepped(1, fn);
}

int step_pause(void)
{
	int stepping = noting[0] || noting[1];

	if (stepping)
		tf_off();
	return stepping;
}

void step_resume(int stepping)
{
	if (stepping)
		tf_on();
}

void step_stop(void)
{
	host_wait(WAIT_POINT);
}

/* The stepped operation has to wait for the other CPU: that one goes on */
static void needed(void)
{
	if (!cur->may_wait)
		give_up("waits for another CPU that is stopped");
	if (++waits == RESUME_LIMIT)
		give_up("two CPUs wait for each other");
	co_resume();
}

void step_remote(int cpu, void (*fn)(void), int may_wait)
{
	int me = host_cpu_switch(cpu);
	int done = co_start(fn);

	host_cpu_switch(me);
	if (done)
		return;
	/* nothing runs beside the rest, which follows the wait */
	if (noting[1])
		end_noting(1);
	unplant_point(1);
	if (!may_wait && co_waits_for() != WAIT_POINT) {
		static const char * const what[] = {
			[WAIT_LOCK] = "another CPU waits for a lock",
			[WAIT_MUTEX] = "another CPU waits for a mutex",
			[WAIT_RCU] = "another CPU waits for a grace period",
			[WAIT_IPI] = "another CPU waits for an interrupt here",
			[WAIT_SLEEP] = "another CPU sleeps",
			[WAIT_YIELD] = "another CPU yields",
		};

		give_up(what[co_waits_for()]);
	}
}

int step_run(struct step *s)
{
	static int ready;
	int me = shim_cpu(), i;

	if (!ready++)
		set_up();
	nr_runs++;
	runs_started++;
	spins = 0;
	waits = 0;
	depth = 0;
	cur = s;
	co_needed = needed;
	if (sigsetjmp(abandoned, 1)) {
		tf_off();
		cur = NULL;
		for (i = 0; i < 2; i++) {
			noting[i] = 0;
			unplant(&bp[i]);
			unplant(&back[i]);
		}
		depth = 0;
		spins = 0;
		co_needed = NULL;
		co_abandon();
		host_cpu_switch(me);
		shim_reset_cpus();
		shim_rcu_forget();
		shim_forget_work();
		leak();
		if (!s->at[0])
			s->n[0] = 0;
		return 0;
	}
	stepped(0, s->op);
	if (co_active() && s->after)
		s->after();
	for (i = 0; co_active() && !co_resume(); i++) {
		if (i == RESUME_LIMIT)
			give_up("another CPU waits without a reason");
	}
	co_needed = NULL;
	cur = NULL;
	host_cpu_switch(me);
	return 1;
}

struct step *step_first(struct step *s)
{
	s->at[0] = 0;
	s->last = 0;
	return s;
}

int step_more(const struct step *s)
{
	return s->at[0] <= s->last && faults[F_STUCK] < 100;
}

void step_next(struct step *s, long by)
{
	if (!s->at[0]) {
		s->last = s->n[0];
		nr_positions += s->last;
	}
	s->at[0] += s->at[0] ? by : 1;
}

void step_both(struct step *s, long points, void (*run)(struct step *s))
{
	long last, inner;

	run(s);
	last = s->n[0];
	for (s->at[0] = 1; s->at[0] <= last; s->at[0] += 1 + last / points) {
		s->at[1] = 0;
		s->n[1] = 0;
		run(s);
		inner = s->n[1];
		for (s->at[1] = 1; s->at[1] <= inner; s->at[1] += 1 + inner / points)
			run(s);
	}
}
