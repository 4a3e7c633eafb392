// SPDX-License-Identifier: GPL-2.0
/*
 * Take a trace.dat apart. Bytes that the format does not allow fail the test. The functions may
 * sleep.
 */
#include <linux/kstrtox.h>
#include <linux/string.h>

#include "../../tests/tracefs.h"
#include "parse.h"

static const void *dat_kunit_take(struct dat_kunit *dat, size_t len)
{
	const void *at = dat->bytes + dat->pos;

	KUNIT_ASSERT_LE_MSG(dat->test, len, dat->size - dat->pos, "at %zu", dat->pos);
	dat->pos += len;
	return at;
}

static u64 dat_kunit_number(struct dat_kunit *dat, size_t width)
{
	const void *at = dat_kunit_take(dat, width);
	u64 value64;
	u32 value32;
	u16 value16;

	switch (width) {
	case sizeof(value16):
		memcpy(&value16, at, width);
		return value16;
	case sizeof(value32):
		memcpy(&value32, at, width);
		return value32;
	default:
		memcpy(&value64, at, sizeof(value64));
		return value64;
	}
}

static const char *dat_kunit_string(struct dat_kunit *dat)
{
	const char *at = dat->bytes + dat->pos;

	dat_kunit_take(dat, strnlen(at, dat->size - dat->pos) + 1);
	return at;
}

static void dat_kunit_constant(struct dat_kunit *dat, const char *want, size_t len)
{
	size_t pos = dat->pos;

	KUNIT_ASSERT_EQ_MSG(dat->test, memcmp(dat_kunit_take(dat, len), want, len), 0,
			    "no '%s' at %zu", want, pos);
}

/* A part with its length, of @width bytes, in front */
static struct dat_kunit_text dat_kunit_part(struct dat_kunit *dat, size_t width)
{
	size_t len = dat_kunit_number(dat, width);

	return (struct dat_kunit_text){ dat_kunit_take(dat, len), len };
}

static void dat_kunit_system(struct dat_kunit *dat, const char *system)
{
	u32 nr = dat_kunit_number(dat, sizeof(nr));

	while (nr--) {
		KUNIT_ASSERT_LT(dat->test, dat->nr_formats, ARRAY_SIZE(dat->format));
		dat->format[dat->nr_formats++] = (struct dat_kunit_format){
			system, dat_kunit_part(dat, sizeof(u64)),
		};
	}
}

static void dat_kunit_all_formats(struct dat_kunit *dat)
{
	u32 nr;

	dat_kunit_system(dat, "ftrace");
	nr = dat_kunit_number(dat, sizeof(nr));
	while (nr--) {
		const char *system = dat_kunit_string(dat);

		dat_kunit_system(dat, system);
	}
}

static void dat_kunit_options(struct dat_kunit *dat)
{
	u16 id = dat_kunit_number(dat, sizeof(id));

	for (; id; id = dat_kunit_number(dat, sizeof(id))) {
		KUNIT_ASSERT_LT(dat->test, dat->nr_options, ARRAY_SIZE(dat->option));
		dat->option[dat->nr_options++] = (struct dat_kunit_option){
			id, dat_kunit_part(dat, sizeof(u32)),
		};
	}
}

static void dat_kunit_table(struct dat_kunit *dat, const char *name)
{
	struct dat_kunit_table *table = &dat->table[dat->nr_tables++];
	size_t len = dat->nr_cpus * sizeof(*table->range);

	KUNIT_ASSERT_LE(dat->test, dat->nr_tables, ARRAY_SIZE(dat->table));
	dat_kunit_constant(dat, "flyrecord", sizeof("flyrecord"));
	table->name = name;
	table->range = kunit_kmalloc(dat->test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(dat->test, table->range);
	memcpy(table->range, dat_kunit_take(dat, len), len);
	table->clock = dat_kunit_part(dat, sizeof(u64));
}

/* The other buffers have options that say where their tables are. */
static void dat_kunit_tables(struct dat_kunit *dat)
{
	unsigned int i;
	u64 offset;

	dat_kunit_table(dat, "");
	for (i = 0; i < dat->nr_options; i++) {
		struct dat_kunit_text *text = &dat->option[i].text;

		if (dat->option[i].id != DAT_KUNIT_BUFFER)
			continue;
		KUNIT_ASSERT_GT(dat->test, text->len, sizeof(offset));
		memcpy(&offset, text->at, sizeof(offset));
		/* No byte is between them. */
		KUNIT_ASSERT_EQ(dat->test, offset, (u64)dat->pos);
		KUNIT_EXPECT_EQ(dat->test, text->at[text->len - 1], 0);
		KUNIT_EXPECT_EQ(dat->test, strnlen(text->at + sizeof(offset), text->len),
				text->len - sizeof(offset) - 1);
		dat_kunit_table(dat, text->at + sizeof(offset));
	}
}

/* Zeros, up to the first page; then the pages of each CPU and buffer, to the end. */
static void dat_kunit_pages(struct dat_kunit *dat)
{
	struct dat_kunit_table *table;
	unsigned int cpu;
	size_t at;

	dat->begin = round_up(dat->pos, dat->page_size);
	at = dat->begin;
	KUNIT_EXPECT_NULL(dat->test, memchr_inv(dat->bytes + dat->pos, 0, at - dat->pos));
	for (table = dat->table; table < dat->table + dat->nr_tables; table++) {
		for (cpu = 0; cpu < dat->nr_cpus; cpu++) {
			KUNIT_EXPECT_EQ(dat->test, table->range[cpu].offset, (u64)at);
			KUNIT_EXPECT_TRUE(dat->test,
					  IS_ALIGNED(table->range[cpu].size, dat->page_size));
			at += table->range[cpu].size;
		}
	}
	KUNIT_EXPECT_EQ(dat->test, at, dat->size);
}

/**
 * dat_kunit_parse() - take a file apart
 * @test:  the test
 * @bytes: the file
 * @size:  number of bytes
 *
 * Return: its parts.
 */
struct dat_kunit *dat_kunit_parse(struct kunit *test, const void *bytes, size_t size)
{
	struct dat_kunit *dat = tfs_zalloc(test, sizeof(*dat));

	dat->test = test;
	dat->bytes = bytes;
	dat->size = size;
	dat_kunit_constant(dat, "\x17\x08\x44tracing6", sizeof("\x17\x08\x44tracing6"));
	dat_kunit_constant(dat, IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? "\1" : "\0", 1);
	dat_kunit_constant(dat, sizeof(long) == 8 ? "\x08" : "\x04", 1);
	dat->page_size = dat_kunit_number(dat, sizeof(dat->page_size));
	KUNIT_ASSERT_GT(test, dat->page_size, 0U);
	dat_kunit_constant(dat, "header_page", sizeof("header_page"));
	dat->header_page = dat_kunit_part(dat, sizeof(u64));
	dat_kunit_constant(dat, "header_event", sizeof("header_event"));
	dat->header_event = dat_kunit_part(dat, sizeof(u64));
	dat_kunit_all_formats(dat);
	dat->symbols = dat_kunit_part(dat, sizeof(u32));
	dat->printk = dat_kunit_part(dat, sizeof(u32));
	dat->names = dat_kunit_part(dat, sizeof(u64));
	dat->nr_cpus = dat_kunit_number(dat, sizeof(dat->nr_cpus));
	KUNIT_ASSERT_EQ(test, dat->nr_cpus, nr_cpu_ids);
	dat_kunit_constant(dat, "options  ", sizeof("options  "));
	dat_kunit_options(dat);
	dat_kunit_tables(dat);
	dat_kunit_pages(dat);
	return dat;
}

/**
 * dat_kunit_expect() - expect that a part is a text
 * @dat:  the file
 * @text: the part
 * @want: the text
 */
void dat_kunit_expect(struct dat_kunit *dat, struct dat_kunit_text text, const char *want)
{
	KUNIT_EXPECT_EQ_MSG(dat->test, text.len, strlen(want), "no\n%s", want);
	KUNIT_EXPECT_EQ_MSG(dat->test, strncmp(text.at, want, text.len), 0, "no\n%s", want);
}

/**
 * dat_kunit_formats() - count formats of an event
 * @dat:    the file
 * @system: name of its system
 * @name:   its name
 * @id:     its number
 *
 * Return: how many there are.
 */
unsigned int dat_kunit_formats(struct dat_kunit *dat, const char *system, const char *name, int id)
{
	unsigned int i, nr = 0;
	char begin[128];
	int len;

	len = scnprintf(begin, sizeof(begin), "name: %s\nID: %d\n", name, id);
	for (i = 0; i < dat->nr_formats; i++)
		nr += !strcmp(dat->format[i].system, system) && dat->format[i].text.len > len &&
		      !strncmp(dat->format[i].text.at, begin, len);
	return nr;
}

/**
 * dat_kunit_symbol() - find a symbol, and expect that all are in the order of their addresses
 * @dat:  the file
 * @name: its name
 *
 * Return: its address; 0 if it is not there.
 */
u64 dat_kunit_symbol(struct dat_kunit *dat, const char *name)
{
	const char *at = dat->symbols.at, *end = at + dat->symbols.len;
	unsigned long addr, last = 0, found = 0;
	char digits[2 * sizeof(long) + 1] = "";
	size_t len = strlen(name);
	unsigned int nr;

	/* The first two lines tell where the kernel is. */
	for (nr = 0; at < end; nr++) {
		const char *line = memchr(at, '\n', end - at);

		KUNIT_ASSERT_NOT_NULL(dat->test, line);
		memcpy(digits, at, 2 * sizeof(long));
		KUNIT_ASSERT_EQ(dat->test, kstrtoul(digits, 16, &addr), 0);
		KUNIT_EXPECT_TRUE_MSG(dat->test, nr < 3 || addr > last, "%.*s", (int)(line - at),
				      at);
		last = addr;
		at += 2 * sizeof(long) + strlen(" t ");
		if (line - at == len && !strncmp(at, name, len))
			found = addr;
		at = line + 1;
	}
	return found;
}
