// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the command line: instances, their flags, events, sizes and memory, and the
 * parameters that are refused.
 */
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/kmsg_dump.h>
#include <linux/mm.h>
#include <linux/ring_buffer.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/setup.h>	/* COMMAND_LINE_SIZE */

#include "../internal.h"
#include "../../tests/snapshots.h"

#define BOOT_NAME	"kunit_boot"
#define BOOT_DIR	"/instances/" BOOT_NAME
#define BOOT_BYTES	(64 * PAGE_SIZE)

/* The lines of the kernel log up to here are read. */
static struct kmsg_dump_iter boot_log;

/* Count the new warnings about parameters, and those with @part. */
static unsigned int __init boot_read_log(const char *part, unsigned int *with_part)
{
	/* A line that does not fit would be empty; printk() cuts them at 1024 bytes. */
	static char line[1200] __initdata;
	unsigned int n = 0;
	size_t len;

	*with_part = 0;
	while (kmsg_dump_get_line(&boot_log, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		if (!strstr(line, "trace_instance=: ") || strstr(line, ": in physical memory at"))
			continue;
		n++;
		*with_part += !!strstr(line, part);
	}
	return n;
}

/* Expect one warning with the text @says, or none if it is NULL. */
static void __init boot_expect_log(struct kunit *test, const char *says)
{
	unsigned int n, right;

	n = boot_read_log(says ?: "", &right);
	KUNIT_EXPECT_EQ_MSG(test, n, says ? 1U : 0U, "%s", says ?: "no message");
	KUNIT_EXPECT_EQ_MSG(test, right, says ? 1U : 0U, "%s", says ?: "no message");
}

static struct trace_array __init *boot_try(struct kunit *test, const char *param,
					   unsigned long per_cpu)
{
	char *text = kunit_kstrdup(test, param, GFP_KERNEL);
	unsigned int unused;

	KUNIT_ASSERT_NOT_NULL(test, text);
	boot_read_log("", &unused);
	return trace_create_boot_instance(text, per_cpu);
}

/* Create an instance, and expect a warning that contains @says, or none if it is NULL. */
static struct trace_array __init *boot_make(struct kunit *test, const char *param,
					    const char *says)
{
	struct trace_array *tr = boot_try(test, param, 0);

	KUNIT_ASSERT_NOT_NULL_MSG(test, tr, "%s", param);
	boot_expect_log(test, says);
	return tr;
}

static void __init boot_refuse(struct kunit *test, const char *param, const char *says)
{
	KUNIT_EXPECT_NULL_MSG(test, boot_try(test, param, 0), "%s", param);
	boot_expect_log(test, says);
}

/* Also where it is in memory that survives a reboot: nothing else gives back its reference then. */
static void __init boot_remove(struct kunit *test, struct trace_array *tr)
{
	void *memory = tr->ref > 1 ? (void *)tr->range_addr_start : NULL;

	if (memory)
		tr->ref--;
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	vunmap(memory);
}

/* As memory is that the page allocator never had */
static void boot_reserve(void *memory, bool reserved)
{
	struct page *page = virt_to_page(memory), *end = page + BOOT_BYTES / PAGE_SIZE;

	for (; page < end; page++) {
		if (reserved)
			SetPageReserved(page);
		else
			ClearPageReserved(page);
	}
}

static void boot_free(void *memory)
{
	boot_reserve(memory, false);
	free_pages_exact(memory, BOOT_BYTES);
}

KUNIT_DEFINE_ACTION_WRAPPER(boot_free_action, boot_free, void *);

static void __init *boot_memory(struct kunit *test)
{
	void *memory = alloc_pages_exact(BOOT_BYTES, GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	boot_reserve(memory, true);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, boot_free_action, memory), 0);
	return memory;
}

/* BOOT_NAME with @flags in @size bytes of @memory, and @rest behind it */
static const char __init *boot_in(struct kunit *test, const char *flags, void *memory,
				  unsigned long size, const char *rest)
{
	char *param = tfs_zalloc(test, 200);

	snprintf(param, 200, BOOT_NAME "%s@%#llx:%#lx%s", flags, (u64)virt_to_phys(memory), size,
		 rest);
	return param;
}

/* Without flags: it has its rings, and may be removed. */
static void __init boot_test_plain(struct kunit *test)
{
	struct trace_array *tr = boot_make(test, BOOT_NAME, NULL);

	KUNIT_EXPECT_PTR_EQ(test, trace_array_find_get(BOOT_NAME), tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	KUNIT_EXPECT_EQ(test, tr->flags, (unsigned int)TRACE_ARRAY_FL_EXPANDED);
	KUNIT_EXPECT_FALSE(test, trace_array_is_unexpanded(tr));
	KUNIT_EXPECT_EQ(test, tr->range_addr_start, 0UL);
	KUNIT_EXPECT_EQ(test, tr->range_addr_size, 0UL);
	KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(tr));
	KUNIT_EXPECT_FALSE(test, tr->trace_flags & TRACE_ITER(TRACE_PRINTK));
	tfs_expect(test, BOOT_DIR "/set_event", "");
	tfs_expect(test, BOOT_DIR "/snapshot_allocate", "0\n");
	boot_remove(test, tr);
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, BOOT_DIR));
}

static void __init boot_test_flags(struct kunit *test)
{
	static const struct {
		const char	*flags;
		bool		off, printk, snapshot;
		const char	*says;
	} flags[] = {
		{ "^traceoff", .off = true },
		{ "^printk", .printk = true },
		{ "^traceprintk", .printk = true },
		{ "^trace_printk", .printk = true },
		{ "^snapshot", .snapshot = true },
		{ "^snapshot^printk^traceoff", true, true, true },
		{ "^traceof^traceoff", .off = true, .says = ": flag 'traceof' is unknown, ign" },
		{ "^printk^", .printk = true, .says = ": flag '' is unknown, ignored" },
	};
	struct trace_array *tr;
	const char *param;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		param = tfs_text(test, BOOT_NAME "%s", flags[i].flags);
		tr = boot_make(test, param, flags[i].says);
		KUNIT_EXPECT_STREQ(test, tr->name, BOOT_NAME);
		KUNIT_EXPECT_EQ_MSG(test, tracer_tracing_is_on(tr), !flags[i].off, "%s", param);
		KUNIT_EXPECT_EQ_MSG(test, !!(tr->trace_flags & TRACE_ITER(TRACE_PRINTK)),
				    flags[i].printk, "%s", param);
		KUNIT_EXPECT_EQ_MSG(test, !!(tr->flags & TRACE_ARRAY_FL_SNAPSHOT),
				    flags[i].snapshot, "%s", param);
		tfs_expect(test, BOOT_DIR "/snapshot_allocate", flags[i].snapshot ? "1\n" : "0\n");
		KUNIT_EXPECT_TRUE(test, tr->flags & TRACE_ARRAY_FL_EXPANDED);
		boot_remove(test, tr);
	}
}

static void __init boot_test_events(struct kunit *test)
{
	struct trace_array *tr = boot_make(test, BOOT_NAME ",sched:sched_switch,irq", NULL);

	tfs_expect(test, BOOT_DIR "/events/sched/enable", "X\n");
	tfs_expect(test, BOOT_DIR "/events/sched/sched_switch/enable", "1\n");
	tfs_expect(test, BOOT_DIR "/events/irq/enable", "1\n");
	tfs_expect(test, BOOT_DIR "/events/timer/enable", "0\n");
	KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(tr));
	boot_remove(test, tr);
}

/* The rings have a size that the caller wants; of a size that is not there, it stays without. */
static void __init boot_test_size(struct kunit *test)
{
	struct trace_array *tr = boot_try(test, BOOT_NAME, SZ_64K);
	unsigned long size;

	KUNIT_ASSERT_NOT_NULL(test, tr);
	boot_expect_log(test, NULL);
	size = ring_buffer_size(tr->array_buffer.buffer, 0);
	KUNIT_EXPECT_GE(test, size, (unsigned long)SZ_64K);
	KUNIT_EXPECT_LT(test, size, SZ_64K + 2 * PAGE_SIZE);
	KUNIT_EXPECT_FALSE(test, trace_array_is_unexpanded(tr));
	KUNIT_EXPECT_EQ(test, tr->flags, (unsigned int)TRACE_ARRAY_FL_EXPANDED);
	boot_remove(test, tr);

	tr = boot_try(test, BOOT_NAME, LONG_MAX);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	boot_expect_log(test, ": not enough memory for ");
	KUNIT_EXPECT_TRUE(test, trace_array_is_unexpanded(tr));
	boot_remove(test, tr);
}

/* alloc_snapshot= names it; the unit tests of snapshots, which run before, may have done so. */
static void __init boot_test_snapshot(struct kunit *test)
{
	struct trace_array *tr;

	tfs_option(test, "alloc_snapshot", "=kunit-boot");
	tr = boot_make(test, "kunit-boot", NULL);
	tfs_expect(test, "/instances/kunit-boot/snapshot_allocate", "1\n");
	boot_remove(test, tr);
}

/* It is whole pages, holds its instance, and keeps the records. */
static void __init boot_test_memory(struct kunit *test)
{
	const unsigned int flags = TRACE_ARRAY_FL_BOOT | TRACE_ARRAY_FL_EXPANDED;
	void *memory = boot_memory(test);
	struct trace_array *tr = boot_make(test, boot_in(test, "", memory, BOOT_BYTES - 1, ""),
					   NULL);

	KUNIT_EXPECT_EQ(test, tr->range_addr_size, BOOT_BYTES - PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, page_to_phys(vmalloc_to_page((void *)tr->range_addr_start)),
			virt_to_phys(memory));
	/* Newer kernels have more flags. */
	KUNIT_EXPECT_EQ(test, tr->flags & (flags | TRACE_ARRAY_FL_SNAPSHOT), flags);
	KUNIT_EXPECT_FALSE(test, trace_array_is_unexpanded(tr));
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	tfs_set(test, BOOT_DIR "/trace_marker", "before");
	boot_remove(test, tr);

	tr = boot_make(test, boot_in(test, "", memory, BOOT_BYTES - PAGE_SIZE, ""), NULL);
	tfs_expect_in(test, BOOT_DIR "/trace", "before\n");
	boot_remove(test, tr);

	/* Flags on both sides of it, and another size: a buffer that is new. */
	tr = boot_make(test, boot_in(test, "^traceoff", memory, BOOT_BYTES, "^snapshot"), NULL);
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(tr));
	KUNIT_EXPECT_EQ(test, tr->range_addr_size, BOOT_BYTES);
	KUNIT_EXPECT_TRUE(test, tr->flags & TRACE_ARRAY_FL_SNAPSHOT);
	tfs_expect_not_in(test, BOOT_DIR "/trace", "before\n");
	boot_remove(test, tr);
}

/* Records of a kernel at other addresses go before the first one of this boot comes. */
static void __init boot_test_last(struct kunit *test)
{
	static const struct {
		const char	*flags, *events;
		bool		stay;
	} ways[] = {
		{ "", "", true },
		{ "^traceoff", ",sched:sched_process_exec", true },
		{ "", ",sched:sched_process_exec", false },
	};
	void *memory = boot_memory(test);
	struct trace_array *tr = boot_make(test, boot_in(test, "", memory, BOOT_BYTES, ""), NULL);
	unsigned int i;

	tfs_set(test, BOOT_DIR "/trace_marker", "before");
	boot_remove(test, tr);
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *trace;

		snap_kunit_move(memory, 4096);
		tr = boot_make(test, boot_in(test, ways[i].flags, memory, BOOT_BYTES,
					     ways[i].events), NULL);
		trace = tfs_read(test, BOOT_DIR "/trace");
		KUNIT_EXPECT_EQ_MSG(test, !!strstr(trace, "before\n"), ways[i].stay, "%u: %s", i,
				    trace);
		boot_remove(test, tr);
	}
}

/* Each has one message, and leaves no instance. */
static void __init boot_test_refused(struct kunit *test)
{
	static const char * const bad[][2] __initconst = {
		{ "", "'' is no name, expected 1 to 255 characters" },
		{ "^traceoff", "'' is no name, expected 1 to 255 characters" },
		{ "a/b", "'a/b' is no name, expected 1 to 255 characters" },
		{ "kunit", "kunit: an instance of this name exists" },
		{ BOOT_NAME "@0x1000", BOOT_NAME ": memory '0x1000' has no size" },
		{ BOOT_NAME "@0x1000:", ": memory '0x1000:' is invalid" },
		{ BOOT_NAME "@0:4096", ": memory '0:4096' is invalid" },
		{ BOOT_NAME "@0x1000:4096x", ": memory '0x1000:4096x' is invalid" },
		{ BOOT_NAME "@0x1001:4096", ": memory '0x1001:4096' does not begin at a page" },
		{ BOOT_NAME "@0x1000:4095", ": memory '0x1000:4095' does not begin at a page" },
		{ BOOT_NAME "@0xffff0000:4096", ": there is no memory at 0xffff0000" },
		{ BOOT_NAME "@kunit_none", ": reserve_mem= has no memory 'kunit_none'" },
		{ BOOT_NAME "@kunit_none@kunit_none", ": has two memory areas" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		boot_refuse(test, bad[i][0], bad[i][1]);
	/* It ends behind the last address. */
	boot_refuse(test,
		    tfs_text(test, BOOT_NAME "@%#llx:0x2000",
			     (u64)round_down((phys_addr_t)-1, PAGE_SIZE)),
		    "does not begin at a page, or has none");
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, BOOT_DIR));
}

/* Memory that the page allocator has, or another instance, is refused as a whole. */
static void __init boot_test_taken(struct kunit *test)
{
	void *memory = boot_memory(test);
	struct page *last = virt_to_page(memory + BOOT_BYTES - 1);
	const char *all = boot_in(test, "", memory, BOOT_BYTES, "");
	struct trace_array *tr;

	ClearPageReserved(last);
	boot_refuse(test, all, " is not reserved");
	SetPageReserved(last);

	tr = boot_make(test, boot_in(test, "", memory, BOOT_BYTES / 2, ""), NULL);
	tfs_set(test, BOOT_DIR "/trace_marker", "first");
	boot_refuse(test, all, " is that of the instance " BOOT_NAME);
	boot_refuse(test, boot_in(test, "", memory + BOOT_BYTES / 2 - PAGE_SIZE, PAGE_SIZE, ""),
		    " is that of the instance " BOOT_NAME);
	tfs_expect_in(test, BOOT_DIR "/trace", ": first\n");
	boot_remove(test, tr);

	tr = boot_make(test, all, NULL);
	boot_remove(test, tr);
}

/* If an allocation fails, a message tells it, and nothing is left. */
static void __init boot_test_no_memory(struct kunit *test)
{
	void *memory = boot_memory(test);
	const char *param = boot_in(test, "", memory, BOOT_BYTES, "");
	unsigned int n, all, map, maps = 0, other = 0, needless = 0;
	struct trace_array *tr;

	tfs_need_failures(test);
	for (n = 1; n <= 12; n++) {
		char *text = kunit_kstrdup(test, param, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, text);
		boot_read_log("", &map);
		tfs_fail_nth(n);
		tr = trace_create_boot_instance(text, 0);
		KUNIT_EXPECT_TRUE(test, tfs_failed());
		/* vmap() allocates an object in advance if there is none, and may not need it. */
		if (tr) {
			needless++;
			boot_remove(test, tr);
			continue;
		}
		all = boot_read_log(": not enough memory to map '0x", &map);
		KUNIT_EXPECT_EQ(test, all, 1U);
		maps += map;
		other += !map;
	}
	KUNIT_EXPECT_LE(test, needless, 1U);
	KUNIT_EXPECT_GE(test, maps, 2U);
	KUNIT_EXPECT_GE(test, other, 2U);
	tr = boot_make(test, param, NULL);
	boot_remove(test, tr);
}

static void __init boot_remove_named(struct kunit *test, const char *name)
{
	struct trace_array *tr = trace_array_find_get(name);

	KUNIT_ASSERT_NOT_NULL_MSG(test, tr, "%s", name);
	trace_array_put(tr);
	boot_remove(test, tr);
}

/* Parameters are kept until there are trace arrays, in COMMAND_LINE_SIZE bytes at most. */
static void __init boot_test_params(struct kunit *test)
{
	/* All but the last one, each with its tab; a NUL is at the end. */
	size_t room = COMMAND_LINE_SIZE - strlen("kunit_1\t") - strlen("\t") - sizeof("k3\t");
	char *all = tfs_zalloc(test, COMMAND_LINE_SIZE);
	unsigned int unused;

	memset(all, ',', room);
	memcpy(all, "kunit_2", strlen("kunit_2"));
	boot_read_log("", &unused);
	tfs_option(test, "trace_instance=", "kunit_1");
	tfs_option(test, "trace_instance=", all);
	boot_expect_log(test, NULL);
	/* One character too many */
	tfs_option(test, "trace_instance=", "k33");
	boot_expect_log(test, "too long, ignored: k33");
	tfs_option(test, "trace_instance=", "k3");
	boot_expect_log(test, NULL);
	tfs_option(test, "trace_instance=", "");
	boot_expect_log(test, "too long, ignored: ");
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/kunit_1"));

	trace_create_boot_instances();
	boot_expect_log(test, NULL);
	boot_remove_named(test, "kunit_1");
	boot_remove_named(test, "kunit_2");
	boot_remove_named(test, "k3");
	KUNIT_EXPECT_FALSE(test, tfs_exists(test, "/instances/k33"));
}

static struct kunit_case __refdata boot_cases[] = {
	KUNIT_CASE(boot_test_plain),
	KUNIT_CASE(boot_test_flags),
	KUNIT_CASE(boot_test_events),
	KUNIT_CASE(boot_test_size),
	KUNIT_CASE(boot_test_snapshot),
	KUNIT_CASE(boot_test_memory),
	KUNIT_CASE(boot_test_last),
	KUNIT_CASE(boot_test_refused),
	KUNIT_CASE(boot_test_taken),
	KUNIT_CASE(boot_test_no_memory),
	KUNIT_CASE(boot_test_params),
	{ }
};

static struct kunit_suite boot_suite = {
	.name = "trace_instance_boot",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = boot_cases,
};

kunit_test_init_section_suites(&boot_suite);
