/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The meaning of a line of the file perf_events.
 */
#ifndef _KERNEL_TRACE_PERF_SAMPLE_PARSE_H
#define _KERNEL_TRACE_PERF_SAMPLE_PARSE_H

#include <linux/types.h>

/* The longest name is "type=4294967295/config=0xffffffffffffffff/". */
#define SAMPLER_NAME_SIZE	48

/* Default frequency of samples of hardware events and clocks: that of perf record */
#define SAMPLER_FREQ		4000

/* A clock is a timer of perf, which has no shorter period, in ns */
#define SAMPLER_CLOCK_PERIOD	10000
#define SAMPLER_CLOCK_FREQ	100000

/**
 * struct sampler_limits - the limits of perf at the time of a write
 * @rate:  samples a second, at most: kernel.perf_event_max_sample_rate
 * @stack: entries of a stack, at most: kernel.perf_event_max_stack
 */
struct sampler_limits {
	unsigned int	rate;
	unsigned int	stack;
};

/**
 * struct sampler_spec - an event to sample
 * @name:   name of the event, as perf_events shows it
 * @type:   PERF_TYPE_*, or the number of a PMU
 * @config: the event, as its type numbers it
 * @period: number of events from one sample to the next; 0 if @freq is set
 * @freq:   samples a second that the kernel aims at; 0 if @period is set
 * @stack:  entries of the stack of a sample, at most; 0 for no stack
 * @user:   only what user space causes
 * @kernel: only what the kernel causes
 * @remove: the event is to be removed: only the first three members are set
 */
struct sampler_spec {
	char		name[SAMPLER_NAME_SIZE];
	u32		type;
	u64		config;
	u64		period;
	u64		freq;
	unsigned int	stack;
	bool		user;
	bool		kernel;
	bool		remove;
};

/**
 * struct sampler_fault - why a write fails
 * @why: the reason, for error_log
 * @pos: the character of the text that it is about, from 0
 */
struct sampler_fault {
	const char	*why;
	unsigned int	pos;
};

int sampler_parse(const char *text, const struct sampler_limits *limits,
		  struct sampler_spec *spec, struct sampler_fault *fault);

#endif /* _KERNEL_TRACE_PERF_SAMPLE_PARSE_H */
