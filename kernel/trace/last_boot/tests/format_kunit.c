// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of formats that another kernel has written, and that may be damaged.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../format.h"

static const char format_test_text[] =
	"sched\0"
	"name: sched_test\n"
	"ID: 314\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long stack[];\toffset:28;\tsize:0;\tsigned:0;\n"
	"\tfield:const struct some_struct * ptr;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\n"
	"print fmt: \"field:%s;\", REC->comm\n";

struct format_test_field {
	const char	*type, *name;
	unsigned int	offset, size;
	bool		is_signed;
};

static void format_test_reads(struct kunit *test)
{
	static const struct format_test_field want[] = {
		{ "char[16]", "comm", 8, 16, false },
		{ "__data_loc char[]", "text", 24, 4, false },
		{ "unsigned long[]", "stack", 28, 0, false },
		{ "const struct some_struct *", "ptr", 32, 8, true },
	};
	struct format_field field;
	struct format_text format;
	char name[FORMAT_NAME_LEN];
	size_t pos = 0;
	int i;

	KUNIT_ASSERT_TRUE(test, format_open(&format, format_test_text,
					    sizeof(format_test_text) - 1));
	KUNIT_EXPECT_STREQ(test, format.system, "sched");
	format_name(&format, name);
	KUNIT_EXPECT_STREQ(test, name, "sched_test");
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		KUNIT_ASSERT_TRUE(test, format_next_field(&format, &pos, &field));
		KUNIT_EXPECT_STREQ(test, field.type, want[i].type);
		KUNIT_EXPECT_STREQ(test, field.name, want[i].name);
		KUNIT_EXPECT_EQ(test, field.offset, want[i].offset);
		KUNIT_EXPECT_EQ(test, field.size, want[i].size);
		KUNIT_EXPECT_EQ(test, field.is_signed, want[i].is_signed);
	}
	KUNIT_EXPECT_FALSE(test, format_next_field(&format, &pos, &field));
}

/* Each prefix, and any byte that is wrong: a walk ends, and names end. KASAN looks. */
static void format_test_hostile(struct kunit *test)
{
	size_t len = sizeof(format_test_text) - 1, pos;
	struct format_field field;
	struct format_text format;
	char name[FORMAT_NAME_LEN];
	struct rnd_state rnd;
	unsigned int run;
	char *copy;

	prandom_seed_state(&rnd, 42);
	for (run = 0; run < 2 * len; run++) {
		size_t part = run < len ? run : len;

		copy = kunit_kmalloc(test, max(part, 1), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, copy);
		memcpy(copy, format_test_text, part);
		if (run >= len)
			copy[run - len] = prandom_u32_state(&rnd);
		if (format_open(&format, copy, part)) {
			format_name(&format, name);
			KUNIT_EXPECT_LT(test, strlen(name), sizeof(name));
			for (pos = 0; format_next_field(&format, &pos, &field);) {
				KUNIT_EXPECT_GT(test, strlen(field.name), 0U);
				KUNIT_EXPECT_LT(test, strlen(field.name), sizeof(field.name));
				KUNIT_EXPECT_LT(test, strlen(field.type), sizeof(field.type));
			}
		}
		kunit_kfree(test, copy);
	}
	KUNIT_EXPECT_FALSE(test, format_open(&format, "a\0b\x1b[1m", 7));
	KUNIT_EXPECT_FALSE(test, format_open(&format, "\0name: b\n", 9));
	KUNIT_EXPECT_FALSE(test, format_open(&format, "no end", 6));
}

/* A field with too long a name is left out, and the next one is found. */
static void format_test_long(struct kunit *test)
{
	char text[1024] = "s";
	struct format_field field;
	struct format_text format;
	size_t len = 2, pos = 0;

	len += sprintf(text + len, "\tfield:int %0100d;\toffset:1;\tsize:4;\tsigned:1;\n", 0);
	len += sprintf(text + len, "\tfield:int %0300d;\toffset:1;\tsize:4;\tsigned:1;\n", 0);
	len += sprintf(text + len, "\tfield:int x;\toffset:12;\tsize:4;\tsigned:1;\n");
	KUNIT_ASSERT_TRUE(test, format_open(&format, text, len));
	KUNIT_ASSERT_TRUE(test, format_next_field(&format, &pos, &field));
	KUNIT_EXPECT_STREQ(test, field.name, "x");
	KUNIT_EXPECT_FALSE(test, format_next_field(&format, &pos, &field));
}

static struct kunit_case format_cases[] = {
	KUNIT_CASE(format_test_reads),
	KUNIT_CASE(format_test_hostile),
	KUNIT_CASE(format_test_long),
	{}
};

static struct kunit_suite format_suite = {
	.name = "trace_last_boot_format",
	.test_cases = format_cases,
};

kunit_test_suites(&format_suite);
