/* SPDX-License-Identifier: GPL-2.0 */
/* Scenarios and the stepper, for both halves of the harness; plain types only. */
#ifndef _RB_RUN_H
#define _RB_RUN_H

#define SC_QUICK	(1 << 0)	/* part of run-tests -q */
#define SC_THREADS	(1 << 1)	/* real threads: both processors are needed */
#define SC_ONE_CPU	(1 << 2)	/* as a user-mode kernel */

struct scenario {
	const char	*name;
	void		(*run)(long arg);
	long		arg;
	unsigned int	flags;
	const char	*proves;	/* R1-R8, rules */
};

/* Those of some files are missing in a program with the base. */
#pragma weak alloc_scenarios
#pragma weak read_scenarios
#pragma weak page_scenarios
#pragma weak exchange_scenarios
#pragma weak persist_scenarios
#pragma weak cut_all_scenarios
#pragma weak share_scenarios
#pragma weak kunit_scenarios
extern const struct scenario unit_scenarios[], write_scenarios[], alloc_scenarios[],
			     read_scenarios[], iterate_scenarios[], wait_scenarios[],
			     page_scenarios[], resize_scenarios[], exchange_scenarios[],
			     kernel_scenarios[], stat_scenarios[],
			     persist_scenarios[], nested_scenarios[], remote_scenarios[],
			     global_scenarios[], reader_scenarios[], swap_scenarios[],
			     cut_scenarios[], cut_all_scenarios[], share_scenarios[],
			     pair_scenarios[], storm_scenarios[];
extern struct scenario kunit_scenarios[];	/* kunit.c fills it */

/* Faults by kind, so that one line names them */
enum fault_kind {
	F_LOSS,		/* written != read + overrun + entries */
	F_LOST,		/* lost_events is not the number of lost records */
	F_TIME,		/* not the time that its own reserve read */
	F_ORDER,	/* time or a context's numbers went back */
	F_DATA,		/* a payload differs from the written one */
	F_HIDDEN,	/* committed, yet a later reader did not see it */
	F_PAGE,		/* a page that does not parse */
	F_STUCK,	/* waits for a CPU that is stopped, or misses a point */
	F_REFUSED,	/* the API refused a valid request */
	F_WARN,		/* a kernel warning */
	F_VALUE,	/* a function returned something else */
	NR_FAULTS
};

void fault(enum fault_kind kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
extern long faults[NR_FAULTS], nr_faults, nr_runs, nr_positions, nr_missed;
extern int verbose, stride, exhaustive;
extern const char *skipped;		/* why the scenario does not apply */

/*
 * step.c: with at[0] == 0 op runs as it is, and n[0] is the number of instructions
 * of the ring buffer's own text on its way. Otherwise act[0]() runs before the
 * at[0]-th of them. Where act[0]() calls step_nested(), the same is done with
 * act[1](), at[1] and n[1] for the nested function. That one may be on another CPU,
 * with step_stop() as act[1]: then both operations are half done. op goes on, and the
 * other one when op is through, or has to wait for it.
 */
struct step {
	void		(*act[2])(void);
	void		(*op)(void);
	void		(*after)(void);	/* op is through, another CPU still waits */
	long		at[2];
	volatile long	n[2];
	int		may_wait;	/* op, for another CPU that is stopped */
	long		last;		/* for_each_instruction(): n[0] of its first run */
};

/* False: it cannot finish, and is abandoned half way with the buffers */
int step_run(struct step *s);

/* The first turn has at[0] == 0, the next one 1, and each one after it is @by further on */
#define for_each_instruction(s, by)						\
	for (struct step *s_ = step_first(s); step_more(s_); step_next(s_, by))
struct step *step_first(struct step *s);
int step_more(const struct step *s);
void step_next(struct step *s, long by);
/* run() with op stopped at about @points instructions, and for each act[1]() at as many */
void step_both(struct step *s, long points, void (*run)(struct step *s));
void step_nested(void (*fn)(void));
void step_stop(void);

/* Not stepped: long parts outside the ring buffer's own text */
int step_pause(void);
void step_resume(int stepping);

/*
 * Only from act[]: fn runs as another CPU while this one stays where it is. It
 * may wait for this one only if may_wait; then it goes on after op.
 */
void step_remote(int cpu, void (*fn)(void), int may_wait);

/* check.c: the buffers are stuck, never touch them again; or they are not */
void leak(void);
void free_buffers(void);

/* threads.c: signals as interrupts of the thread that is a CPU */
void host_interrupts(void (*irq)(void), void (*nmi)(void));
void host_interrupts_on(int on);	/* for this thread */
void host_send_irq(int cpu);
void host_send_nmi(int cpu);

#endif /* _RB_RUN_H */
