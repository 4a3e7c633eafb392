// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernel and its modules are, so that perf finds the names of addresses.
 *
 * All of this is from the text of /proc/kallsyms, that of the running kernel or that in a
 * trace.dat:
 *
 *   ADDRESS TYPE NAME
 *   ADDRESS TYPE NAME<tab>[MODULE]
 *
 * The symbols of a module stand side by side.
 */
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

#define PAGE	4096ULL

/* A line has a name of up to 512 bytes, and that of a module. */
#define LINE_SIZE	640

/**
 * struct module - functions of a module
 * @name:  name of the module, "" for none
 * @begin: address of the first one
 * @last:  address of the last one
 */
struct module {
	char			name[64];
	unsigned long long	begin;
	unsigned long long	last;
};

static void put_map(struct out *out, const char *name, unsigned long long begin,
		    unsigned long long end, unsigned long long pgoff)
{
	const struct sample_id id = { .id = 1, .pid = -1, .cpu = -1 };
	char padded[256] = "";
	size_t n = strlen(name), size;

	if (!begin || end <= begin || n >= sizeof(padded))
		return;
	memcpy(padded, name, n);
	size = (n + 8) / 8 * 8;
	put_header(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
		   2 * sizeof(uint32_t) + 3 * sizeof(uint64_t) + size + SAMPLE_ID_SIZE);
	put_u32(out, -1);	/* pid */
	put_u32(out, 0);	/* tid */
	put_u64(out, begin);
	put_u64(out, end - begin);
	put_u64(out, pgoff);
	put(out, padded, size);
	put_sample_id(out, &id);
}

/* "ADDRESS T NAME" */
static unsigned long long symbol(struct cursor kallsyms, const char *name)
{
	char *end = text(" T %s", name), *rest, line[64];
	unsigned long long address, found = 0;

	while (!found && cursor_line(&kallsyms, line, sizeof(line))) {
		address = strtoull(line, &rest, 16);
		if (!strcmp(rest, end))
			found = address;
	}
	free(end);
	return found;
}

/* The file of a module of the running kernel, allocated; or NULL. */
static char *module_file(const struct trace *trace, struct cursor dep, const char *name)
{
	char line[1024], *base, *dot;
	size_t n = strlen(name), i;

	while (cursor_line(&dep, line, sizeof(line))) {
		/* "DIRECTORY/NAME.ko: those that it needs", maybe with a "-" for a "_" */
		line[strcspn(line, ":")] = 0;
		base = strrchr(line, '/');
		base = base ? base + 1 : line;
		dot = strstr(base, ".ko");
		if (!dot || (size_t)(dot - base) != n)
			continue;
		for (i = 0; i < n && (base[i] == '-' ? '_' : base[i]) == name[i]; i++)
			;
		if (i == n)
			return text("/lib/modules/%s/%s", trace->release, line);
	}
	return NULL;
}

static void put_module(struct out *out, const struct trace *trace, struct cursor dep,
		       const struct module *module)
{
	char *name;

	if (!*module->name)
		return;
	name = module_file(trace, dep, module->name) ?: text("[%s]", module->name);
	/* Where the last function ends is not known. Behind its pages there is one without any. */
	put_map(out, name, module->begin & ~(PAGE - 1), (module->last | (PAGE - 1)) + 1 + PAGE, 0);
	free(name);
}

/* The module of a line, if that is a function of one. */
static bool read_module(char *line, struct module *module)
{
	char *rest, *from = strrchr(line, '\t'), *end = from ? strchr(from, ']') : NULL;
	size_t n;

	*module = (struct module){ .begin = strtoull(line, &rest, 16) };
	module->last = module->begin;
	if (!end || !module->begin || *rest != ' ' || !strchr("tTwW", rest[1]) || from[1] != '[')
		return false;
	from += strlen("\t[");
	n = end - from;
	if (!n || n >= sizeof(module->name))
		return false;
	memcpy(module->name, from, n);
	/* Functions that were generated are no module's. */
	if (!strcmp(module->name, "bpf") || !strncmp(module->name, "__builtin__", 11))
		return false;
	while (n && (isalnum((unsigned char)module->name[n - 1]) || module->name[n - 1] == '_'))
		n--;
	return !n;
}

static struct cursor read_dep(const struct trace *trace)
{
	char *path = text("/lib/modules/%s/modules.dep", trace->release ?: "");
	struct blob blob;
	struct cursor dep = {};

	if (trace->here && read_file(path, &blob))
		dep = cursor_new("modules.dep", NULL, blob.data, blob.size);
	free(path);
	return dep;
}

static void put_modules(struct out *out, const struct trace *trace)
{
	struct cursor kallsyms = trace->kallsyms, dep = read_dep(trace);
	struct module module = {}, next;
	char line[LINE_SIZE];

	while (cursor_line(&kallsyms, line, sizeof(line))) {
		if (!read_module(line, &next))
			continue;
		if (strcmp(next.name, module.name)) {
			put_module(out, trace, dep, &module);
			module = next;
		}
		if (next.begin < module.begin)
			module.begin = next.begin;
		if (next.last > module.last)
			module.last = next.last;
	}
	put_module(out, trace, dep, &module);
}

/**
 * symbols_write() - write the symbols of a trace as /proc/kallsyms has them
 * @path:  the file to write
 * @trace: the trace
 *
 * An error ends the program.
 */
void symbols_write(const char *path, const struct trace *trace)
{
	FILE *out;

	if (!cursor_left(&trace->kallsyms))
		die("%s has no symbols for %s", trace->name, path);
	out = create_file(path);
	cursor_write(trace->kallsyms, out);
	close_file(out, path);
}

/**
 * put_maps() - write where the kernel and its modules are
 * @out:   where to
 * @trace: the trace
 */
void put_maps(struct out *out, const struct trace *trace)
{
	unsigned long long begin = symbol(trace->kallsyms, "_text");

	put_map(out, "[kernel.kallsyms]_text", begin, symbol(trace->kallsyms, "_etext"), begin);
	put_modules(out, trace);
}
