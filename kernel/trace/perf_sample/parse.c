// SPDX-License-Identifier: GPL-2.0
/*
 * Parse a line of the file perf_events.
 *
 *   EVENT[:period=N|:freq=N][:callchain[=N]][:user|:kernel]
 *   !EVENT
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <uapi/linux/perf_event.h>

#include "parse.h"

/* Digits of a number, at most: those of 64 bits in octal, and a prefix */
#define NUMBER_SIZE	26

/**
 * struct parser - a text that is read from the left to the right
 * @text:   the text
 * @at:     the rest, which is not read yet
 * @limits: limits of frequencies and stacks
 * @fault:  where an error goes
 */
struct parser {
	const char			*text;
	const char			*at;
	const struct sampler_limits	*limits;
	struct sampler_fault		*fault;
};

/**
 * struct known_event - an event that has a name
 * @name:  name of it, as perf has it
 * @alias: another one, or NULL
 * @type:   PERF_TYPE_*
 * @config: number of the event
 * @counted: each one is a sample by default: they are not as frequent as cycles
 */
struct known_event {
	const char	*name;
	const char	*alias;
	u32		type;
	u64		config;
	bool		counted;
};

#define HARDWARE(nr, name, alias) \
	{ name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##nr, false }
#define CLOCK(nr, name) \
	{ name, NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##nr, false }
#define COUNTED(nr, name, alias) \
	{ name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##nr, true }

static const struct known_event known_events[] = {
	HARDWARE(CPU_CYCLES, "cycles", "cpu-cycles"),
	HARDWARE(INSTRUCTIONS, "instructions", NULL),
	HARDWARE(CACHE_REFERENCES, "cache-references", NULL),
	HARDWARE(CACHE_MISSES, "cache-misses", NULL),
	HARDWARE(BRANCH_INSTRUCTIONS, "branches", "branch-instructions"),
	HARDWARE(BRANCH_MISSES, "branch-misses", NULL),
	HARDWARE(BUS_CYCLES, "bus-cycles", NULL),
	HARDWARE(STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend", "idle-cycles-frontend"),
	HARDWARE(STALLED_CYCLES_BACKEND, "stalled-cycles-backend", "idle-cycles-backend"),
	HARDWARE(REF_CPU_CYCLES, "ref-cycles", NULL),
	CLOCK(CPU_CLOCK, "cpu-clock"),
	CLOCK(TASK_CLOCK, "task-clock"),
	COUNTED(PAGE_FAULTS, "page-faults", "faults"),
	COUNTED(PAGE_FAULTS_MIN, "minor-faults", NULL),
	COUNTED(PAGE_FAULTS_MAJ, "major-faults", NULL),
	COUNTED(CONTEXT_SWITCHES, "context-switches", "cs"),
	COUNTED(CPU_MIGRATIONS, "cpu-migrations", "migrations"),
	COUNTED(CGROUP_SWITCHES, "cgroup-switches", NULL),
	COUNTED(ALIGNMENT_FAULTS, "alignment-faults", NULL),
	COUNTED(EMULATION_FAULTS, "emulation-faults", NULL),
};

/* Reasons that several functions have */
static const char parse_not_number[] = "Expected a number; period, freq and callchain start at 1";
static const char parse_not_option[] = "Expected :period=N, :freq=N, :callchain, :user or :kernel";
static const char parse_not_clock[] =
	"Of a clock, expected period=" __stringify(SAMPLER_CLOCK_PERIOD) " (ns) or more, freq="
	__stringify(SAMPLER_CLOCK_FREQ) " or less";

static int parse_fail(struct parser *p, const char *at, const char *why)
{
	p->fault->why = why;
	p->fault->pos = at - p->text;
	return -EINVAL;
}

/* Is @word next, up to a character that no word has? */
static bool parse_word(struct parser *p, const char *word)
{
	size_t len = strcspn(p->at, ":=/");

	if (!word || len != strlen(word) || strncmp(p->at, word, len))
		return false;
	p->at += len;
	return true;
}

static bool parse_char(struct parser *p, char c)
{
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

/* The text is no number in the range. A text behind digits is a unit or a fraction. */
static int parse_fail_number(struct parser *p, const char *digits)
{
	size_t len = strspn(digits, "0123456789");

	if (!len || !digits[len] || !strncasecmp(digits, "0x", 2))
		return parse_fail(p, p->at, parse_not_number);
	return parse_fail(p, p->at + len,
			  "Expected a whole number without unit: events, ns of a clock; "
			  "freq is in Hz");
}

static int parse_number(struct parser *p, u64 min, u64 max, u64 *number)
{
	size_t len = strcspn(p->at, ":=/");
	char digits[NUMBER_SIZE];

	if (len >= sizeof(digits))
		return parse_fail(p, p->at, parse_not_number);
	memcpy(digits, p->at, len);
	digits[len] = '\0';
	if (kstrtou64(digits, 0, number) || *number < min || *number > max)
		return parse_fail_number(p, digits);
	p->at += len;
	return 0;
}

static int parse_numbers(struct parser *p, struct sampler_spec *spec)
{
	const char *start;
	u64 type;
	int ret;

	if (!parse_char(p, '='))
		return parse_fail(p, p->at, "Expected type=N/config=N/");
	start = p->at;
	ret = parse_number(p, 0, U32_MAX, &type);
	if (ret)
		return ret;
	if (!parse_char(p, '/') || !parse_word(p, "config") || !parse_char(p, '='))
		return parse_fail(p, p->at, "Expected type=N/config=N/");
	ret = parse_number(p, 0, U64_MAX, &spec->config);
	if (ret)
		return ret;
	parse_char(p, '/');
	if (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
		return parse_fail(p, start,
				  "Tracepoints are in events/, breakpoints cannot be sampled");
	spec->type = type;
	snprintf(spec->name, sizeof(spec->name), "type=%u/config=0x%llx/", spec->type,
		 spec->config);
	return 0;
}

static int parse_event(struct parser *p, struct sampler_spec *spec, bool *counted)
{
	const struct known_event *known;

	*counted = false;
	if (parse_word(p, "type"))
		return parse_numbers(p, spec);
	for (known = known_events; known < known_events + ARRAY_SIZE(known_events); known++) {
		if (!parse_word(p, known->name) && !parse_word(p, known->alias))
			continue;
		strscpy(spec->name, known->name);
		spec->type = known->type;
		spec->config = known->config;
		*counted = known->counted;
		return 0;
	}
	return parse_fail(p, p->at, "Unknown event, expected one such as cpu-clock or page-faults");
}

static bool spec_is_clock(const struct sampler_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE &&
	       (spec->config == PERF_COUNT_SW_CPU_CLOCK ||
		spec->config == PERF_COUNT_SW_TASK_CLOCK);
}

static int parse_period(struct parser *p, struct sampler_spec *spec)
{
	const char *start = p->at;
	/* The kernel counts down to it with a sign. */
	int ret = parse_number(p, 1, S64_MAX, &spec->period);

	if (ret || !spec_is_clock(spec) || spec->period >= SAMPLER_CLOCK_PERIOD)
		return ret;
	return parse_fail(p, start, parse_not_clock);
}

static int parse_freq(struct parser *p, struct sampler_spec *spec)
{
	const char *start = p->at;
	int ret = parse_number(p, 1, U64_MAX, &spec->freq);

	if (ret)
		return ret;
	if (spec->freq > p->limits->rate)
		return parse_fail(p, start, "Above kernel.perf_event_max_sample_rate");
	if (spec_is_clock(spec) && spec->freq > SAMPLER_CLOCK_FREQ)
		return parse_fail(p, start, parse_not_clock);
	return 0;
}

static int parse_stack(struct parser *p, unsigned int *stack)
{
	const char *start;
	u64 number;
	int ret;

	*stack = p->limits->stack;
	if (!parse_char(p, '='))
		return 0;
	start = p->at;
	ret = parse_number(p, 1, U64_MAX, &number);
	if (ret)
		return ret;
	if (number > p->limits->stack)
		return parse_fail(p, start, "Above kernel.perf_event_max_stack");
	*stack = number;
	return 0;
}

static int parse_option(struct parser *p, struct sampler_spec *spec)
{
	const char *start = p->at;
	bool twice;
	int ret = 0;

	if (parse_word(p, "period") && parse_char(p, '=')) {
		twice = spec->period || spec->freq;
		ret = parse_period(p, spec);
	} else if (parse_word(p, "freq") && parse_char(p, '=')) {
		twice = spec->period || spec->freq;
		ret = parse_freq(p, spec);
	} else if (parse_word(p, "callchain")) {
		twice = spec->stack;
		ret = parse_stack(p, &spec->stack);
	} else if (parse_word(p, "user")) {
		twice = spec->user || spec->kernel;
		spec->user = true;
	} else if (parse_word(p, "kernel")) {
		twice = spec->user || spec->kernel;
		spec->kernel = true;
	} else {
		return parse_fail(p, start, parse_not_option);
	}
	return twice ? parse_fail(p, start, "An option before it has set this already") : ret;
}

/**
 * sampler_parse() - parse a line of perf_events
 * @text:   the line, without blanks around it
 * @limits: limits of frequencies and stacks
 * @spec:   set to the event and its options
 * @fault:  on an error, set to the reason and its place
 *
 * Context: Any context.
 * Return: 0; -EINVAL if @text is invalid, or above a limit.
 */
int sampler_parse(const char *text, const struct sampler_limits *limits,
		  struct sampler_spec *spec, struct sampler_fault *fault)
{
	struct parser p = { text, text, limits, fault };
	bool counted;
	int ret;

	memset(spec, 0, sizeof(*spec));
	p.at = strpbrk(text, " \t\r\n,");
	if (p.at)
		return parse_fail(&p, p.at,
				  "One event a write, without blank and comma: EVENT:freq=N:user");
	p.at = text;
	spec->remove = parse_char(&p, '!');
	ret = parse_event(&p, spec, &counted);
	if (ret)
		return ret;
	if (spec->remove && *p.at)
		return parse_fail(&p, p.at,
				  "Expected the end: an event is removed by its name only");
	if (spec->remove)
		return 0;
	while (*p.at) {
		if (!parse_char(&p, ':'))
			return parse_fail(&p, p.at, parse_not_option);
		ret = parse_option(&p, spec);
		if (ret)
			return ret;
	}
	if (!spec->period && !spec->freq) {
		spec->period = counted;
		spec->freq = counted ? 0 : min(SAMPLER_FREQ, limits->rate);
	}
	return 0;
}
