// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the text of perf_events.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <uapi/linux/perf_event.h>

#include "../parse.h"

#define RATE	100000
#define STACK	127

static const struct sampler_limits limits = { .rate = RATE, .stack = STACK };

/**
 * struct parse_good - a text that means something
 * @text: the text
 * @want: the event and its options
 */
struct parse_good {
	const char		*text;
	struct sampler_spec	want;
};

#define HARDWARE(nr)	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##nr
#define SOFTWARE(nr)	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##nr
#define GOOD(_text, ...)	{ .text = _text, .want = { __VA_ARGS__ } }

static const struct parse_good parse_goods[] = {
	GOOD("cycles", "cycles", HARDWARE(CPU_CYCLES), .freq = 4000),
	GOOD("cpu-cycles", "cycles", HARDWARE(CPU_CYCLES), .freq = 4000),
	GOOD("branch-instructions", "branches", HARDWARE(BRANCH_INSTRUCTIONS), .freq = 4000),
	GOOD("branch-misses:period=1000003", "branch-misses", HARDWARE(BRANCH_MISSES),
	     .period = 1000003),
	GOOD("cpu-clock:freq=100000", "cpu-clock", SOFTWARE(CPU_CLOCK), .freq = RATE),
	GOOD("task-clock", "task-clock", SOFTWARE(TASK_CLOCK), .freq = 4000),
	GOOD("task-clock:period=10000", "task-clock", SOFTWARE(TASK_CLOCK), .period = 10000),
	GOOD("type=4/config=0/:period=1", "type=4/config=0x0/", .type = PERF_TYPE_RAW, .period = 1),
	GOOD("page-faults", "page-faults", SOFTWARE(PAGE_FAULTS), .period = 1),
	GOOD("faults:user", "page-faults", SOFTWARE(PAGE_FAULTS), .period = 1, .user = true),
	GOOD("cs:kernel:callchain", "context-switches", SOFTWARE(CONTEXT_SWITCHES), .period = 1,
	     .kernel = true, .stack = STACK),
	GOOD("migrations:callchain=5:freq=0x10", "cpu-migrations", SOFTWARE(CPU_MIGRATIONS),
	     .freq = 16, .stack = 5),
	GOOD("major-faults:period=9223372036854775807", "major-faults", SOFTWARE(PAGE_FAULTS_MAJ),
	     .period = S64_MAX),
	GOOD("type=4/config=0x1c2/:period=7", "type=4/config=0x1c2/", .type = PERF_TYPE_RAW,
	     .config = 0x1c2, .period = 7),
	GOOD("type=0x1/config=2:user", "type=1/config=0x2/", SOFTWARE(PAGE_FAULTS), .freq = 4000,
	     .user = true),
	GOOD("type=4294967295/config=0xffffffffffffffff/",
	     "type=4294967295/config=0xffffffffffffffff/", .type = U32_MAX, .config = U64_MAX,
	     .freq = 4000),
	GOOD("!cs", "context-switches", SOFTWARE(CONTEXT_SWITCHES), .remove = true),
	GOOD("!type=4/config=2/", "type=4/config=0x2/", .type = PERF_TYPE_RAW, .config = 2,
	     .remove = true),
};

#define ERR_EVENT	"Unknown event, expected one such as cpu-clock or page-faults"
#define ERR_BLANK	"One event a write, without blank and comma: EVENT:freq=N:user"
#define ERR_NUMBERS	"Expected type=N/config=N/"
#define ERR_NUMBER	"Expected a number; period, freq and callchain start at 1"
#define ERR_TYPE	"Tracepoints are in events/, breakpoints cannot be sampled"
#define ERR_OPTION	"Expected :period=N, :freq=N, :callchain, :user or :kernel"
#define ERR_UNIT	"Expected a whole number without unit: events, ns of a clock; freq is in Hz"
#define ERR_CLOCK	"Of a clock, expected period=10000 (ns) or more, freq=100000 or less"
#define ERR_RATE	"Above kernel.perf_event_max_sample_rate"
#define ERR_STACK	"Above kernel.perf_event_max_stack"
#define ERR_TWICE	"An option before it has set this already"
#define ERR_REMOVE	"Expected the end: an event is removed by its name only"

/**
 * struct parse_bad - a text that means nothing
 * @text: the text
 * @err:  why
 * @pos:  the character that is wrong
 */
struct parse_bad {
	const char		*text;
	const char		*err;
	unsigned int		pos;
};

static const struct parse_bad parse_bads[] = {
	{ "", ERR_EVENT, 0 },
	{ "!", ERR_EVENT, 1 },
	{ "cycle", ERR_EVENT, 0 },
	{ "cycless", ERR_EVENT, 0 },
	{ "cpu-clock faults", ERR_BLANK, 9 },
	{ "cpu-clock\nfaults", ERR_BLANK, 9 },
	{ "cpu-clock,faults", ERR_BLANK, 9 },
	{ "cpu-clock freq=100", ERR_BLANK, 9 },
	{ "cpu-clock:period = 1 us", ERR_BLANK, 16 },
	{ "! cpu-clock", ERR_BLANK, 1 },
	{ ":freq=1", ERR_EVENT, 0 },
	{ "typ=1/config=1/", ERR_EVENT, 0 },
	{ "type", ERR_NUMBERS, 4 },
	{ "type=1", ERR_NUMBERS, 6 },
	{ "type=1/conf=1/", ERR_NUMBERS, 7 },
	{ "type=1/config", ERR_NUMBERS, 13 },
	{ "type=x/config=1/", ERR_NUMBER, 5 },
	{ "type=4294967296/config=1/", ERR_NUMBER, 5 },
	{ "type=1/config=0x10000000000000000/", ERR_NUMBER, 14 },
	{ "type=1/config=/", ERR_NUMBER, 14 },
	{ "type=2/config=1/", ERR_TYPE, 5 },
	{ "type=5/config=1/", ERR_TYPE, 5 },
	{ "type=4/config=1/freq=1", ERR_OPTION, 16 },
	{ "cs:", ERR_OPTION, 3 },
	{ "cs=1", ERR_OPTION, 2 },
	{ "cs:stack", ERR_OPTION, 3 },
	{ "cs:freq", ERR_OPTION, 3 },
	{ "cs:user=1", ERR_OPTION, 7 },
	{ "cs:users", ERR_OPTION, 3 },
	{ "cs:period=", ERR_NUMBER, 10 },
	{ "cs:period=0", ERR_NUMBER, 10 },
	{ "cs:period=-1", ERR_NUMBER, 10 },
	{ "cs:period=1k", ERR_UNIT, 11 },
	{ "cpu-clock:period=10us", ERR_UNIT, 19 },
	{ "cpu-clock:period=0.02s", ERR_UNIT, 18 },
	{ "cpu-clock:freq=1kHz:user", ERR_UNIT, 16 },
	{ "cs:callchain=5.", ERR_UNIT, 14 },
	{ "cs:period=us", ERR_NUMBER, 10 },
	{ "cs:period=0x1g", ERR_NUMBER, 10 },
	{ "cpu-clock:period=9999", ERR_CLOCK, 17 },
	{ "task-clock:user:period=1", ERR_CLOCK, 23 },
	{ "type=1/config=1/:period=1", ERR_CLOCK, 24 },
	{ "cs:period=9223372036854775808", ERR_NUMBER, 10 },
	{ "cs:period=000000000000000000000000000000001", ERR_NUMBER, 10 },
	{ "cs:freq=0", ERR_NUMBER, 8 },
	{ "cs:freq=100001", ERR_RATE, 8 },
	{ "cs:callchain=0", ERR_NUMBER, 13 },
	{ "cs:callchain=128", ERR_STACK, 13 },
	{ "cs:period=1:freq=1", ERR_TWICE, 12 },
	{ "cs:freq=1:freq=1", ERR_TWICE, 10 },
	{ "cpu-clock:freq=1:period=1", ERR_TWICE, 17 },
	{ "cs:callchain:callchain=2", ERR_TWICE, 13 },
	{ "cs:user:kernel", ERR_TWICE, 8 },
	{ "!cs:freq=1", ERR_REMOVE, 3 },
	{ "!!cs", ERR_EVENT, 1 },
};

KUNIT_ARRAY_PARAM_DESC(good, parse_goods, text);
KUNIT_ARRAY_PARAM_DESC(bad, parse_bads, text);

static void parse_test_good(struct kunit *test)
{
	const struct parse_good *good = test->param_value;
	struct sampler_fault fault;
	struct sampler_spec spec;

	KUNIT_ASSERT_EQ(test, sampler_parse(good->text, &limits, &spec, &fault), 0);
	KUNIT_EXPECT_STREQ(test, spec.name, good->want.name);
	KUNIT_EXPECT_EQ(test, spec.type, good->want.type);
	KUNIT_EXPECT_EQ(test, spec.config, good->want.config);
	KUNIT_EXPECT_EQ(test, spec.period, good->want.period);
	KUNIT_EXPECT_EQ(test, spec.freq, good->want.freq);
	KUNIT_EXPECT_EQ(test, spec.stack, good->want.stack);
	KUNIT_EXPECT_EQ(test, spec.user, good->want.user);
	KUNIT_EXPECT_EQ(test, spec.kernel, good->want.kernel);
	KUNIT_EXPECT_EQ(test, spec.remove, good->want.remove);
}

static void parse_test_bad(struct kunit *test)
{
	const struct parse_bad *bad = test->param_value;
	struct sampler_fault fault = {};
	struct sampler_spec spec;

	KUNIT_ASSERT_EQ(test, sampler_parse(bad->text, &limits, &spec, &fault), -EINVAL);
	KUNIT_EXPECT_STREQ(test, fault.why, bad->err);
	KUNIT_EXPECT_EQ(test, fault.pos, bad->pos);
}

/* A limit below the default lowers it: what a user does not ask for is no error. */
static void parse_test_low_rate(struct kunit *test)
{
	const struct sampler_limits low = { .rate = 10, .stack = 1 };
	struct sampler_fault fault;
	struct sampler_spec spec;

	KUNIT_ASSERT_EQ(test, sampler_parse("cycles:callchain", &low, &spec, &fault), 0);
	KUNIT_EXPECT_EQ(test, spec.freq, 10ULL);
	KUNIT_EXPECT_EQ(test, spec.stack, 1U);
}

/* Root can set the limit of perf above what its timer makes. */
static void parse_test_high_rate(struct kunit *test)
{
	const struct sampler_limits high = { .rate = 2 * RATE, .stack = 1 };
	struct sampler_fault fault = {};
	struct sampler_spec spec;

	KUNIT_EXPECT_EQ(test, sampler_parse("cpu-clock:freq=100000:user", &high, &spec, &fault), 0);
	KUNIT_EXPECT_EQ(test, sampler_parse("cycles:freq=100001", &high, &spec, &fault), 0);
	KUNIT_ASSERT_EQ(test, sampler_parse("cpu-clock:freq=100001", &high, &spec, &fault),
			-EINVAL);
	KUNIT_EXPECT_STREQ(test, fault.why, ERR_CLOCK);
	KUNIT_EXPECT_EQ(test, fault.pos, 15U);
}

static struct kunit_case parse_test_cases[] = {
	KUNIT_CASE_PARAM(parse_test_good, good_gen_params),
	KUNIT_CASE_PARAM(parse_test_bad, bad_gen_params),
	KUNIT_CASE(parse_test_low_rate),
	KUNIT_CASE(parse_test_high_rate),
	{}
};

static struct kunit_suite parse_test_suite = {
	.name = "trace_perf_events",
	.test_cases = parse_test_cases,
};

kunit_test_suite(parse_test_suite);
