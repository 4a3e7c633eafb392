// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the lines of stop_on.
 */
#include <kunit/test.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "../internal.h"

#define ERR_KIND		"Expected panic, oops, warn or event SYSTEM:NAME"
#define ERR_NAME		"Expected an event as SYSTEM:NAME"
#define ERR_REST		"Expected if FILTER (of events), after TIME, all or the end"
#define ERR_TIME		"Invalid time, expected a whole number with a unit: 5ms"
#define ERR_PANIC_AFTER	"panic cannot have a delay: no timer runs then"

static const struct parse_case {
	const char	*text;
	const char	*printed;	/* NULL if it is the same */
	const char	*err;	/* NULL if it is valid */
	int		at;		/* of an error */
	u64		after;
	bool		all;
} parse_cases[] = {
	{ "panic" },
	{ "oops" },
	{ "warn" },
	{ "warn after 1us", .after = NSEC_PER_USEC },
	{ "warn after 1ns", .after = 1 },
	{ "oops \t after  5ms", "oops after 5ms", .after = 5 * NSEC_PER_MSEC },
	{ "event a:b" },
	{ "event\ta:b  after 3s", "event a:b after 3s", .after = 3ULL * NSEC_PER_SEC },
	{ "event a:b if x > 1" },
	{ "event a:b if  x > 1  after 2s", "event a:b if x > 1 after 2s",
	  .after = 2ULL * NSEC_PER_SEC },
	/* A field of this name, or a string with this text. */
	{ "event a:b if after == 5" },
	{ "event a:b if x == 1 && after > 2" },
	{ "event a:b if s == \"x after 5ms\"" },
	{ "event a:b if s == \"x' after 5ms\"" },
	{ "event a:b if s == 'x\" after 5ms'" },
	{ "event a:b if s == \"x\" after 5ms", .after = 5 * NSEC_PER_MSEC },
	{ "event a:b if x == 1 thereafter 5ms" },
	{ "event a:b if !after after 1s", .after = NSEC_PER_SEC },
	{ "warn after 4611686018s", .after = 4611686018 * NSEC_PER_SEC },
	{ "panic all", .all = true },
	{ "oops \t all", "oops all", .all = true },
	{ "warn after 5ms  all", "warn after 5ms all", .after = 5 * NSEC_PER_MSEC, .all = true },
	{ "event a:b all", .all = true },
	{ "event a:all" },
	{ "event a:b if x > 1  all", "event a:b if x > 1 all", .all = true },
	{ "event a:b if x > 1 after 2s all", .after = 2ULL * NSEC_PER_SEC, .all = true },
	{ "event a:b if x && !all all", .all = true },
	{ "event a:b if !all" },
	{ "event a:b if s == \"in all\"" },
	{ "event a:b if s == \"in all \"" },
	{ "event a:b if s == \"in all\" all", .all = true },
	{ "event a:b if s == \"after 5ms all" },
	/* A value of a filter. */
	{ "event a:b if comm == all" },
	{ "event a:b if comm ~all" },
	{ "event a:b if comm !=\tall" },
	{ "event a:b if x & all" },
	{ "event a:b if x == 1 || ! all" },
	{ "event a:b if ( all" },
	{ "event a:b if comm == all  all", "event a:b if comm == all all", .all = true },
	{ "event a:b if comm == all after 5ms", .after = 5 * NSEC_PER_MSEC },
	{ "event a:b if comm == after 5ms" },
	{ "event a:b if comm == after all", .all = true },

	{ "", .err = ERR_KIND },
	{ "Panic", .err = ERR_KIND },
	{ "oops,warn", .err = ERR_KIND },
	{ "event", .err = ERR_NAME, .at = 5 },
	{ "event  b", .err = ERR_NAME, .at = 7 },
	{ "event a:", .err = ERR_NAME, .at = 6 },
	{ "event :b if x", .err = ERR_NAME, .at = 6 },
	{ "event a:b:c", .err = ERR_NAME, .at = 6 },
	{ "event a:b x", .err = ERR_REST, .at = 10 },
	{ "event a:b if", .err = ERR_REST, .at = 10 },
	{ "event a:b if after 5ms", .err = ERR_REST, .at = 10 },
	{ "event a:b after", .err = ERR_REST, .at = 10 },
	{ "event a:b after 5ms if x", .err = ERR_REST, .at = 10 },
	{ "oops if x", .err = ERR_REST, .at = 5 },
	{ "warn after", .err = ERR_REST, .at = 5 },
	{ "warn after5ms", .err = ERR_REST, .at = 5 },
	{ "warn after 5 ms", .err = ERR_REST, .at = 5 },
	{ "panic\noops", .err = ERR_REST, .at = 5 },
	{ "all", .err = ERR_KIND },
	{ "event all", .err = ERR_NAME, .at = 6 },
	{ "event a:b if all", .err = ERR_REST, .at = 10 },
	{ "oops al", .err = ERR_REST, .at = 5 },
	{ "oops all all", .err = ERR_REST, .at = 5 },
	{ "oops all after 5ms", .err = ERR_REST, .at = 5 },
	{ "panic after 5ms all", .err = ERR_PANIC_AFTER, .at = 6 },
	{ "warn after all", .err = ERR_REST, .at = 5 },
	{ "warn after 5 all", .err = ERR_TIME, .at = 12 },
	{ "panic after 5ms", .err = ERR_PANIC_AFTER, .at = 6 },
	{ "warn after 5", .err = ERR_TIME, .at = 12 },
	{ "warn after 0.02s", .err = ERR_TIME, .at = 12 },
	{ "warn after ms", .err = ERR_TIME, .at = 11 },
	{ "warn after 0s", .err = ERR_TIME, .at = 11 },
	{ "warn after -1s", .err = ERR_TIME, .at = 11 },
	{ "warn after 1m", .err = ERR_TIME, .at = 12 },
	{ "warn after 1secs", .err = ERR_TIME, .at = 13 },
	{ "warn after 4611686019s", .err = ERR_TIME, .at = 11 },
	{ "warn after 99999999999999999999s", .err = ERR_TIME, .at = 11 },
	{ "event a:b if x after 1h", .err = ERR_TIME, .at = 22 },
};

static void parse_desc(const struct parse_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
	strreplace(desc, '\n', ' ');
}

KUNIT_ARRAY_PARAM(parse, parse_cases, parse_desc);

/* A line that is printed is one that can be read. An error has its place in the text. */
static void parse_test_lines(struct kunit *test)
{
	const struct parse_case *c = test->param_value;
	char *text = kunit_kstrdup(test, c->text, GFP_KERNEL);
	char printed[STOP_LINE_SIZE];
	struct stop_spec spec;
	struct stop_fault fault;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, stop_parse(text, &spec, &fault), c->err ? -EINVAL : 0);
	if (c->err) {
		KUNIT_EXPECT_STREQ(test, fault.why, c->err);
		KUNIT_EXPECT_EQ(test, fault.at - text, (ptrdiff_t)c->at);
		return;
	}
	KUNIT_EXPECT_EQ(test, spec.after, c->after);
	KUNIT_EXPECT_EQ(test, spec.all, c->all);
	KUNIT_EXPECT_TRUE(test, stop_print(&spec, printed));
	KUNIT_EXPECT_STREQ(test, printed, c->printed ?: c->text);
}

/* The longest line, and one that is longer. */
static void parse_test_long(struct kunit *test)
{
	char text[STOP_LINE_SIZE + 1], printed[STOP_LINE_SIZE];
	struct stop_fault fault;
	struct stop_spec spec;
	size_t len;

	for (len = STOP_LINE_SIZE - 1; len <= STOP_LINE_SIZE; len++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, "event a:b if ", strlen("event a:b if "));
		text[len] = '\0';
		KUNIT_ASSERT_EQ(test, stop_parse(text, &spec, &fault), 0);
		KUNIT_EXPECT_EQ(test, stop_print(&spec, printed), len < STOP_LINE_SIZE);
		KUNIT_EXPECT_EQ(test, strlen(printed), (size_t)STOP_LINE_SIZE - 1);
	}
}

static struct kunit_case parse_test_cases[] = {
	KUNIT_CASE_PARAM(parse_test_lines, parse_gen_params),
	KUNIT_CASE(parse_test_long),
	{}
};

static struct kunit_suite parse_test_suite = {
	.name = "trace_stop_parse",
	.test_cases = parse_test_cases,
};

kunit_test_suite(parse_test_suite);
