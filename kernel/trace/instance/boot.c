// SPDX-License-Identifier: GPL-2.0
/*
 * Instances of the command line:
 *
 *   trace_instance=NAME[^FLAG]...[@START:SIZE | @RESERVED][,EVENT]...
 *
 * START:SIZE is physical memory that the kernel does not use, as by memmap=SIZE$START, and
 * RESERVED is the name of memory from the parameter reserve_mem=. Records there survive a
 * reboot. Such an instance is never removed.
 */
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/security.h>
#include <linux/vmalloc.h>

#include <asm/setup.h>

#include "internal.h"

#undef pr_fmt
#define pr_fmt(fmt) "trace_instance=: " fmt

/* The parameters, each with a tab behind it. */
static char instance_params[COMMAND_LINE_SIZE] __initdata;

static int __init instance_param(char *str)
{
	size_t have = strlen(instance_params);

	if (have + strlen(str) + 2 > sizeof(instance_params))
		pr_warn("too long, ignored: %s\n", str);
	else
		sprintf(instance_params + have, "%s\t", str);
	return 1;
}
__setup("trace_instance=", instance_param);

/* One instance of the command line. */
struct boot_instance {
	const char	*name;
	char		*memory;	/* text behind '@', or NULL */
	unsigned int	flags;		/* TRACE_ARRAY_FL_* */
	bool		off, printk;
	phys_addr_t	start, size;	/* @memory */
	unsigned long	per_cpu;	/* bytes for records, 0 for the default */
};

static void __init boot_flag(struct boot_instance *b, const char *flag)
{
	if (!strcmp(flag, "traceoff"))
		b->off = true;
	else if (!strcmp(flag, "printk") || !strcmp(flag, "traceprintk") ||
		 !strcmp(flag, "trace_printk"))
		b->printk = true;
	else if (IS_ENABLED(CONFIG_TRACER_SNAPSHOT) && !strcmp(flag, "snapshot"))
		b->flags |= TRACE_ARRAY_FL_SNAPSHOT;
	else
		pr_warn("%s: flag '%s' is unknown, ignored\n", b->name, flag);
}

/* "NAME", and then any number of "^FLAG" and one "@MEMORY" */
static bool __init boot_parse_name(struct boot_instance *b, char *text)
{
	size_t len = strcspn(text, "^@");
	char kind = text[len], next;
	bool twice = false;

	text[len] = '\0';
	b->name = text;
	b->flags = TRACE_ARRAY_FL_EXPANDED;
	for (; kind; kind = next) {
		text += len + 1;
		len = strcspn(text, "^@");
		next = text[len];
		text[len] = '\0';
		if (kind == '^')
			boot_flag(b, text);
		else if (!b->memory)
			b->memory = text;
		else
			twice = true;
	}
	if (twice)
		pr_warn("%s: has two memory areas, expected one\n", b->name);
	return !twice;
}

static bool __init boot_refuse(const struct boot_instance *b, const char *why)
{
	pr_warn("%s: memory '%s' %s\n", b->name, b->memory, why);
	return false;
}

/* "START:SIZE" */
static bool __init boot_parse_range(struct boot_instance *b)
{
	char *at = b->memory;

	b->start = memparse(at, &at);
	if (*at++ != ':')
		return boot_refuse(b, "has no size, expected START:SIZE");
	b->size = memparse(at, &at);
	if (*at || !b->size || !b->start)
		return boot_refuse(b, "is invalid, expected START:SIZE");
	return true;
}

static bool __init boot_has_address(const struct boot_instance *b)
{
	return isdigit(*b->memory);
}

/*
 * Is it memory that the kernel uses? At the boot memblock knows: pages of its code and data,
 * and what it has allocated so far, are reserved as well.
 */
static bool __init boot_is_used(const struct boot_instance *b, unsigned long pfn)
{
	return !PageReserved(pfn_to_page(pfn)) ||
	       (boot_has_address(b) && system_state == SYSTEM_BOOTING &&
		memblock_is_map_memory(PFN_PHYS(pfn)));
}

/* Does no other instance have a part of it? */
static bool __init boot_is_free(const struct boot_instance *b)
{
	struct trace_array *tr;
	phys_addr_t start;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!tr->range_addr_start)
			continue;
		start = page_to_phys(vmalloc_to_page((void *)tr->range_addr_start));
		if (start < b->start + b->size && b->start < start + tr->range_addr_size) {
			pr_warn("%s: memory '%s' is that of the instance %s\n", b->name,
				b->memory, tr->name);
			return false;
		}
	}
	return true;
}

static bool __init boot_is_reserved(const struct boot_instance *b)
{
	unsigned long pfn = PHYS_PFN(b->start), end = pfn + (b->size >> PAGE_SHIFT);

	for (; pfn < end; pfn++) {
		if (!pfn_valid(pfn)) {
			pr_warn("%s: there is no memory at %#llx\n", b->name, (u64)PFN_PHYS(pfn));
			return false;
		}
		if (boot_is_used(b, pfn))
			return boot_refuse(b, "is not reserved");
	}
	return true;
}

static bool __init boot_find_memory(struct boot_instance *b)
{
	if (!b->memory)
		return true;
	if (boot_has_address(b)) {
		if (!boot_parse_range(b))
			return false;
	} else if (!reserve_mem_find_by_name(b->memory, &b->start, &b->size)) {
		pr_warn("%s: reserve_mem= has no memory '%s'\n", b->name, b->memory);
		return false;
	}
	/* The end of a page that is not there as a whole stays unused. */
	b->size = round_down(b->size, PAGE_SIZE);
	if (!PAGE_ALIGNED(b->start) || !b->size || b->start + b->size < b->start)
		return boot_refuse(b, "does not begin at a page, or has none");
	/* An address may not be named where the command line could not change memory otherwise. */
	if (boot_has_address(b) && security_locked_down(LOCKDOWN_DEV_MEM))
		return boot_refuse(b, "is refused, the kernel is locked down");
	return boot_is_reserved(b) && boot_is_free(b);
}

/* NULL with a message if it cannot be mapped. */
static void __init *boot_map(const struct boot_instance *b)
{
	unsigned long i, nr = b->size >> PAGE_SHIFT;
	struct page **pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	void *addr = NULL;

	for (i = 0; pages && i < nr; i++)
		pages[i] = pfn_to_page(PHYS_PFN(b->start) + i);
	if (pages)
		addr = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!addr)
		pr_warn("%s: not enough memory to map '%s'\n", b->name, b->memory);
	return addr;
}

static struct trace_array __init *boot_create(const struct boot_instance *b, void *addr)
{
	const struct instance_spec spec = {
		.name = b->name,
		.flags = (b->flags & ~(b->per_cpu ? TRACE_ARRAY_FL_EXPANDED : 0)) |
			 (addr ? TRACE_ARRAY_FL_BOOT : 0),
		.start = (unsigned long)addr,
		.size = addr ? b->size : 0,
	};
	struct trace_array *tr;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	tr = instance_create(&spec);
	if (IS_ERR(tr))
		return tr;
	/* Nothing would unmap the memory. */
	if (addr)
		tr->ref++;
	else if (b->per_cpu && trace_array_expand_to(tr, b->per_cpu, RING_BUFFER_ALL_CPUS) < 0)
		pr_warn("%s: not enough memory for %lu bytes for each CPU\n", b->name, b->per_cpu);
	tr->flags |= b->flags;
	return tr;
}

static void __init boot_complain(const struct boot_instance *b, long err)
{
	if (err == -ENODEV)
		pr_warn("%s: ignored, tracing is disabled\n", b->name);
	else if (err == -EEXIST)
		pr_warn("%s: an instance of this name exists, the first one stays\n", b->name);
	else if (err == -EINVAL)
		pr_warn("'%s' is no name, expected 1 to %d characters without '/'\n", b->name,
			NAME_MAX);
	else
		pr_warn("%s: not enough memory\n", b->name);
}

/**
 * trace_create_boot_instance() - create an instance as one of the command line
 * @text:    a value of trace_instance=; is cut into words
 * @per_cpu: bytes for records, for each CPU; 0 for the default. Memory that survives a reboot
 *	     has a size of its own.
 *
 * A message reports an error.
 *
 * Context: Boot, may sleep.
 * Return: the instance, or NULL.
 */
struct trace_array __init *trace_create_boot_instance(char *text, unsigned long per_cpu)
{
	char *head = strsep(&text, ","), *event;
	struct boot_instance b = { .per_cpu = per_cpu };
	struct trace_array *tr;
	void *addr = NULL;

	if (!boot_parse_name(&b, head) || !boot_find_memory(&b))
		return NULL;
	if (b.memory) {
		addr = boot_map(&b);
		if (!addr)
			return NULL;
		pr_info("%s: in physical memory at %pa, %#llx bytes\n", b.name, &b.start,
			(u64)b.size);
	}
	tr = boot_create(&b, addr);
	if (IS_ERR(tr)) {
		boot_complain(&b, PTR_ERR(tr));
		vunmap(addr);
		return NULL;
	}
	trace_snapshot_boot(tr, b.name);
	if (b.off)
		tracer_tracing_off(tr);
	if (b.printk)
		update_printk_trace(tr);
	/* A buffer has no records of two boots. */
	if (text && !b.off)
		update_last_data(tr);
	/* Later ones get none, as all that user space creates. */
	if (!trace_instance_dir)
		trace_add_boot_triggers(tr);
	while ((event = strsep(&text, ",")))
		early_enable_events(tr, event, true);
	return tr;
}

/**
 * trace_create_boot_instances() - create the instances of the command line
 *
 * Context: Boot, may sleep.
 */
void __init trace_create_boot_instances(void)
{
	char *next = instance_params, *text;

	while ((text = strsep(&next, "\t")) && next)
		trace_create_boot_instance(text, 0);
}
