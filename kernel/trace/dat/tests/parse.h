/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace.dat, read as its format says (trace-cmd.dat.v6(5)), and by no code that writes one.
 */
#ifndef _KERNEL_TRACE_DAT_TESTS_PARSE_H
#define _KERNEL_TRACE_DAT_TESTS_PARSE_H

#include <kunit/test.h>
#include <linux/types.h>

/* Options, by their number in the format */
#define DAT_KUNIT_CPUSTAT	2
#define DAT_KUNIT_BUFFER	3
#define DAT_KUNIT_CLOCK		4
#define DAT_KUNIT_UNAME		5
#define DAT_KUNIT_OFFSET	7
#define DAT_KUNIT_VERSION	9

/**
 * struct dat_kunit_text - a part of the file
 * @at:  the bytes
 * @len: number of bytes
 */
struct dat_kunit_text {
	const char		*at;
	size_t			len;
};

/**
 * struct dat_kunit_format - the format of an event
 * @system: name of its system
 * @text:   the format
 */
struct dat_kunit_format {
	const char		*system;
	struct dat_kunit_text	text;
};

/**
 * struct dat_kunit_option - an option
 * @id:   its number
 * @text: its bytes
 */
struct dat_kunit_option {
	u16			id;
	struct dat_kunit_text	text;
};

/**
 * struct dat_kunit_range - where the pages of a CPU are
 * @offset: their offset in the file, in bytes
 * @size:   number of bytes
 */
struct dat_kunit_range {
	u64			offset;
	u64			size;
};

/**
 * struct dat_kunit_table - the pages of a buffer
 * @name:  name of the buffer; "" for the first one
 * @range: of each CPU
 * @clock: the clocks, with the one in use in brackets
 */
struct dat_kunit_table {
	const char		*name;
	struct dat_kunit_range	*range;
	struct dat_kunit_text	clock;
};

/**
 * struct dat_kunit - a file
 * @test:         the test
 * @bytes:        the file
 * @size:         number of bytes
 * @pos:          where the parser is
 * @page_size:    bytes of a page
 * @header_page:  format of the header of a page
 * @header_event: format of the header of a record
 * @format:       formats, those of "ftrace" first
 * @nr_formats:   number of @format
 * @symbols:      as in /proc/kallsyms
 * @printk:       formats of trace_printk()
 * @names:        names of tasks
 * @nr_cpus:      number of CPUs
 * @option:       options
 * @nr_options:   number of @option
 * @table:        tables of the buffers
 * @nr_tables:    number of @table
 * @begin:        offset of the first page
 */
struct dat_kunit {
	struct kunit		*test;
	const char		*bytes;
	size_t			size;
	size_t			pos;
	u32			page_size;
	struct dat_kunit_text	header_page;
	struct dat_kunit_text	header_event;
	struct dat_kunit_format	format[2048];
	unsigned int		nr_formats;
	struct dat_kunit_text	symbols;
	struct dat_kunit_text	printk;
	struct dat_kunit_text	names;
	u32			nr_cpus;
	struct dat_kunit_option	option[64];
	unsigned int		nr_options;
	struct dat_kunit_table	table[8];
	unsigned int		nr_tables;
	size_t			begin;
};

struct dat_kunit *dat_kunit_parse(struct kunit *test, const void *bytes, size_t size);
void dat_kunit_expect(struct dat_kunit *dat, struct dat_kunit_text text, const char *want);
unsigned int dat_kunit_formats(struct dat_kunit *dat, const char *system, const char *name, int id);
u64 dat_kunit_symbol(struct dat_kunit *dat, const char *name);

#endif /* _KERNEL_TRACE_DAT_TESTS_PARSE_H */
