// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the parameters of the recorder.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

#include "../recorder.h"

static void recorder_test_size(struct kunit *test)
{
	static const struct {
		const char	*text;
		unsigned long	bytes;	/* 0 if it is invalid */
	} sizes[] = {
		{ "1", SZ_1K }, { "64", SZ_64K }, { "64K", SZ_64K }, { "64k", SZ_64K },
		{ "4M", SZ_4M }, { "16m", SZ_16M }, { "16384", SZ_16M },
		{ "" }, { "0" }, { "0M" }, { "-1" }, { "x" }, { "K" }, { " 1" }, { "1 " },
		{ "4MB" }, { "4T" }, { "4E" }, { "0x10" }, { "1.5M" }, { "16385" }, { "17M" },
		{ "1G" }, { "999999999" }, { "999999999G" }, { "9999999999" },
		{ "99999999999999999999" },
	};
	unsigned long bytes;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		bytes = 0;
		KUNIT_EXPECT_EQ_MSG(test, recorder_parse_size(sizes[i].text, SZ_16M, &bytes),
				    !!sizes[i].bytes, "%s", sizes[i].text);
		KUNIT_EXPECT_EQ_MSG(test, bytes, sizes[i].bytes, "%s", sizes[i].text);
	}
}

static struct kunit_case recorder_test_cases[] = {
	KUNIT_CASE(recorder_test_size),
	{}
};

static struct kunit_suite recorder_test_suite = {
	.name = "trace_recorder",
	.test_cases = recorder_test_cases,
};

kunit_test_suite(recorder_test_suite);
