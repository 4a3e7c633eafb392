// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the area that this boot stores, and of the lines that the next one prints with it.
 */
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../../dat/internal.h"
#include "../../tests/snapshots.h"
#include "../internal.h"

#define KEEP_TYPE	60000		/* no event of this kernel */
#define KEEP_TEXT	"a text that the last boot has"
#define KEEP_SIZE	48		/* bytes of a marker with it */

/*
 * The format of an event of the last kernel. This one has no such event. The record has 48 bytes:
 * the place of a dynamic array is not in it as a whole, though the field is.
 */
static const char keep_format[] =
	"old\0"
	"name: was_here\n"
	"ID: 60000\n"
	"format:\n"
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:char word[];\toffset:16;\tsize:0;\tsigned:0;\n"
	"\tfield:char beyond[8];\toffset:4000;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] at0;\toffset:48;\tsize:0;\tsigned:0;\n"
	"\tfield:__data_loc char[] at1;\toffset:47;\tsize:1;\tsigned:0;\n"
	"\tfield:__rel_loc char[] at2;\toffset:46;\tsize:2;\tsigned:0;\n"
	"\tfield:__data_loc char[] at3;\toffset:45;\tsize:3;\tsigned:0;\n";

/* A function that no kernel has, at the address in the record */
struct keep_symbol {
	struct area_symbol	symbol;
	char			name[32];
};

/* As a boot: @image is the memory that the last one has left, or NULL. */
static void keep_boot(struct kunit *test, void *memory, void *area, const void *image)
{
	struct trace_array *tr = test->priv;

	scoped_guard(mutex, &event_mutex)
		last_boot_detach(tr);
	snap_kunit_boot(test, memory, image, true, TRACE_ARRAY_FL_SNAPSHOT);
	guard(mutex)(&event_mutex);
	last_boot_attach(tr, area, false);
	KUNIT_ASSERT_NOT_NULL(test, tr->last_boot);
}

static void keep_begin_boot(struct kunit *test)
{
	struct trace_event_file *file = tfs_marker_event(test);

	guard(mutex)(&event_mutex);
	last_boot_keep_event(file);
}

/*
 * Let the marker in an image be an event of KEEP_TYPE. The header behind it looks like the place of
 * 4 bytes in it.
 */
static void keep_renumber(struct kunit *test, void *image, unsigned long *ip)
{
	struct ring_buffer_event *next;
	struct print_entry *entry;
	char *text;

	for (text = image; text < (char *)image + SNAP_KUNIT_RANGE - SZ_4K; text++) {
		if (!strstarts(text, KEEP_TEXT))
			continue;
		entry = container_of((char (*)[])text, struct print_entry, buf);
		*ip = entry->ip;
		entry->ent.type = KEEP_TYPE;
		next = (void *)entry + KEEP_SIZE;
		next->time_delta = 4 << (16 - 5);
		return;
	}
	KUNIT_FAIL_AND_ABORT(test, "the memory has no marker");
}

static void *keep_area(struct kunit *test)
{
	return tfs_zalloc(test, last_boot_size(SNAP_KUNIT_RANGE));
}

static void keep_end(struct kunit *test)
{
	guard(mutex)(&event_mutex);
	last_boot_detach(test->priv);
}

/* A record is printed by the format, the names and the texts of its own boot. */
static void keep_test_prints(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *image = snap_kunit_range(test);
	struct keep_symbol symbol = { .symbol.size = 1, .name = "old_function\t[old]" };
	size_t size = sizeof(symbol.symbol) + strlen(symbol.name);
	struct trace_array *tr = test->priv;
	void *area = keep_area(test);
	unsigned long ip;
	struct area *a;

	if (sizeof(long) != 8)
		kunit_skip(test, "the format is that of 64 bits");
	keep_boot(test, memory, area, NULL);
	KUNIT_EXPECT_NULL(test, last_boot_area(tr));
	keep_begin_boot(test);
	tfs_set(test, "trace_marker", KEEP_TEXT);
	tfs_set(test, "trace_marker", "another marker");
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	keep_renumber(test, image, &ip);
	/* The memory of the test is small. */
	a = &tr->last_boot->keep;
	area_begin(a, last_boot_kernel());
	KUNIT_EXPECT_EQ(test, area_put(a, AREA_FORMAT, KEEP_TYPE, keep_format,
				       sizeof(keep_format) - 1), 0);
	KUNIT_EXPECT_EQ(test, area_put(a, AREA_SYMBOL, ip, &symbol, size), 0);
	area_put_task(a, current->pid, "of the\nlast");
	keep_boot(test, memory, area, image);
	KUNIT_ASSERT_NOT_NULL(test, last_boot_area(tr));
	KUNIT_EXPECT_TRUE(test, last_boot_same_kernel(tr));
	tfs_expect_in(test, "trace", tfs_text(test, "of the?last-%d", current->pid));
	tfs_expect_in(test, "trace",
		      tfs_text(test, "was_here: ip=0x%lx (old_function+0x0/0x1 [old])", ip));
	tfs_expect_in(test, "trace", " word=" KEEP_TEXT " beyond=<damaged>");
	tfs_expect_in(test, "trace", " at0=<damaged> at1=<damaged> at2=<damaged> at3=<damaged>\n");
	tfs_set(test, "snapshot", "1");
	tfs_expect_in(test, "snapshot", "was_here: ip=");

	/* The boot after that has stored nothing of it. */
	keep_begin_boot(test);
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	keep_boot(test, memory, area, image);
	KUNIT_ASSERT_NOT_NULL(test, last_boot_area(tr));
	tfs_expect_in(test, "snapshot", tfs_text(test, "<...>-%d", current->pid));
	tfs_expect_in(test, "snapshot", "Unknown type 60000: ");
	keep_end(test);
}

/* Another kernel's events, functions and variables are not those of this one. */
static void keep_test_other(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *image = snap_kunit_range(test);
	struct trace_array *tr = test->priv;
	void *area = keep_area(test);

	keep_boot(test, memory, area, NULL);
	keep_begin_boot(test);
	tfs_set(test, "trace_marker", KEEP_TEXT);
	area_begin(&tr->last_boot->keep, last_boot_kernel() ^ 1);
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	keep_boot(test, memory, area, image);
	KUNIT_EXPECT_FALSE(test, last_boot_same_kernel(tr));
	tfs_expect_in(test, "trace", tfs_text(test, "Unknown type %d: ", TRACE_PRINT));
	tfs_expect_not_in(test, "trace", "tracing_mark_write");
	keep_end(test);
}

/* All that reads a marker is stored before the first event is enabled. */
static void keep_test_begins(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *area = keep_area(test);
	struct trace_array *tr = test->priv;
	const struct area_entry *entry;
	const struct area *a;

	keep_boot(test, memory, area, NULL);
	keep_begin_boot(test);
	keep_boot(test, memory, area, NULL);
	a = last_boot_area(tr);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_EQ(test, a->bad, 0U);
	entry = area_find(a, AREA_FORMAT, TRACE_PRINT);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_STREQ(test, (const char *)entry->data, "ftrace");
	KUNIT_EXPECT_TRUE(test, strstarts((const char *)entry->data + 7, "name: print\n"));
	KUNIT_EXPECT_NOT_NULL(test, area_find(a, AREA_UNAME, 0));
	entry = area_find(a, AREA_CLOCK, 0);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_NOT_NULL(test, strnstr(entry->data, "[local]", entry->len));
	keep_end(test);
}

static const struct last_boot_moment *keep_moment_of(struct kunit *test, u64 nr)
{
	struct trace_array *tr = test->priv;
	const struct area_entry *entry = area_find(last_boot_area(tr), AREA_MOMENT, nr);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_ASSERT_EQ(test, entry->len, sizeof(struct last_boot_moment));
	return (const void *)entry->data;
}

/* Two moments are stored, both by the clock of the trace; a panic stores a later one. */
static void keep_test_moments(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *area = keep_area(test);
	const struct last_boot_moment *first, *second;
	struct trace_array *tr = test->priv;

	keep_boot(test, memory, area, NULL);
	keep_begin_boot(test);
	last_boot_keep_panic();
	keep_boot(test, memory, area, NULL);
	KUNIT_ASSERT_NOT_NULL(test, last_boot_area(tr));
	first = keep_moment_of(test, 1);
	second = keep_moment_of(test, 0);
	KUNIT_EXPECT_EQ(test, first->in_ns, 1ULL);
	KUNIT_EXPECT_NE(test, first->clocks.mono, 0ULL);
	KUNIT_EXPECT_GT(test, second->clocks.mono, first->clocks.mono);
	KUNIT_EXPECT_GE(test, second->clocks.real, first->clocks.real);
	KUNIT_EXPECT_GE(test, second->clocks.trace, first->clocks.trace);

	/* The clock changes: neither moment is by the old one. */
	keep_begin_boot(test);
	tfs_set(test, "trace_clock", "counter");
	keep_boot(test, memory, area, NULL);
	KUNIT_EXPECT_EQ(test, keep_moment_of(test, 0)->in_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, keep_moment_of(test, 1)->in_ns, 0ULL);
	tfs_set(test, "trace_clock", "local");
	keep_end(test);
}

/* A panic stores the name of the task that runs, and the functions in the records. */
static void keep_test_panic(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *image = snap_kunit_range(test);
	struct trace_array *tr = test->priv;
	void *area = keep_area(test);
	char name[KSYM_NAME_LEN];
	unsigned long ip;
	struct area *a;

	keep_boot(test, memory, area, NULL);
	keep_begin_boot(test);
	tfs_set(test, "trace_marker", KEEP_TEXT);
	tfs_set(test, "trace_marker", "another marker");
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	keep_renumber(test, image, &ip);
	scnprintf(name, sizeof(name), "%ps", (void *)ip);
	/* The memory of the test is small. */
	a = &tr->last_boot->keep;
	area_begin(a, last_boot_kernel() ^ 1);
	last_boot_keep_panic();
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	keep_boot(test, memory, area, image);
	KUNIT_ASSERT_NOT_NULL(test, last_boot_area(tr));
	KUNIT_EXPECT_NOT_NULL(test, area_find_task(last_boot_area(tr), current->pid));
	KUNIT_ASSERT_NOT_NULL(test, last_boot_find_symbol(tr, ip));
	KUNIT_EXPECT_EQ(test, memcmp(((const struct area_symbol *)
				      last_boot_find_symbol(tr, ip)->data)->name,
				     name, strlen(name)), 0);
	keep_end(test);
}

/* A machine that stops before the new area begins leaves none; a copy that was made has it. */
static void keep_test_erased(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *copy = snap_kunit_range(test);
	struct trace_array *tr = test->priv;
	void *area = keep_area(test);
	unsigned long start;

	keep_boot(test, memory, area, NULL);
	keep_begin_boot(test);
	keep_boot(test, memory, area, NULL);
	KUNIT_ASSERT_NOT_NULL(test, last_boot_area(tr));
	/* As if the area were in front of the rest of the memory */
	start = tr->range_addr_start;
	tr->range_addr_start = (unsigned long)area;
	last_boot_copy(tr, copy);
	tr->range_addr_start = start;
	keep_boot(test, memory, area, NULL);
	KUNIT_EXPECT_NULL(test, last_boot_area(tr));
	keep_boot(test, memory, copy, NULL);
	KUNIT_EXPECT_NOT_NULL(test, last_boot_area(tr));
	keep_end(test);
}

/* The pages of the last boot in a buffer that is written: those that are overwritten are missed. */
static void keep_test_pages(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *image = snap_kunit_range(test);
	struct trace_array *tr = test->priv;
	struct dat_range range = { .offset = PAGE_SIZE };
	struct dat_next next = {};
	struct dat_pages pages;
	void *area = keep_area(test);
	const u64 *page;
	u64 size, first;
	int i;

	keep_boot(test, memory, area, NULL);
	keep_begin_boot(test);
	/* Some pages of this boot, and then some of the next one */
	for (i = 0; i < 500; i++)
		tfs_set(test, "trace_marker", KEEP_TEXT);
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	keep_boot(test, memory, area, image);
	tfs_set(test, "trace_marker", "of this boot");
	dat_pages_init(&pages, tr->array_buffer.buffer);
	pages.last_boot = true;
	KUNIT_ASSERT_EQ(test, dat_pages_size_last(&pages, &next, 0, &range.size), 0);
	KUNIT_EXPECT_GT(test, range.size, (u64)3 * PAGE_SIZE);
	page = dat_pages_at(&pages, &range, &next, 0, range.offset);
	KUNIT_ASSERT_FALSE(test, IS_ERR(page));
	first = *page;
	page = dat_pages_at(&pages, &range, &next, 0, range.offset + range.size - PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(page));
	page = dat_pages_at(&pages, &range, &next, 0, range.offset);
	KUNIT_ASSERT_FALSE(test, IS_ERR(page));
	KUNIT_EXPECT_EQ(test, *page, first);
	page = dat_pages_at(&pages, &range, &next, 0, range.offset + range.size);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(page), -EIO);

	/* Overwrite the oldest ones: no other page is at the place of one. */
	for (i = 0; dat_pages_size_last(&pages, &(struct dat_next){}, 0, &size) == 0 &&
	     size == range.size && i < 5000; i++)
		tfs_set(test, "trace_marker", "of this boot");
	KUNIT_EXPECT_LT(test, size, range.size);
	for (i = 0; i < 2; i++) {
		page = dat_pages_at(&pages, &range, &next, 0, range.offset + i * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(page), -EIO);
	}
	dat_pages_exit(&pages);
	keep_end(test);
}

static struct kunit_case keep_cases[] = {
	KUNIT_CASE(keep_test_prints),
	KUNIT_CASE(keep_test_other),
	KUNIT_CASE(keep_test_begins),
	KUNIT_CASE(keep_test_moments),
	KUNIT_CASE(keep_test_panic),
	KUNIT_CASE(keep_test_erased),
	KUNIT_CASE(keep_test_pages),
	{}
};

static struct kunit_suite keep_suite = {
	.name = "trace_last_boot_keep",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = keep_cases,
};

kunit_test_suites(&keep_suite);
