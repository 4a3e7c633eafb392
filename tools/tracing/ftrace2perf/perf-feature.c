// SPDX-License-Identifier: GPL-2.0
/*
 * The features of a perf.data: facts behind its records, each in a section of its own.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "ftrace2perf.h"

/* Their numbers, which are their order, too. */
enum {
	TRACING_DATA	= 1,
	BUILD_ID	= 2,
	HOSTNAME	= 3,
	OSRELEASE	= 4,
	VERSION		= 5,
	ARCH		= 6,
	NRCPUS		= 7,
	CPUDESC		= 8,
	CPUID		= 9,
	CMDLINE		= 11,
	EVENT_DESC	= 12,
	SAMPLE_TIME	= 21,
};

/* Strings and names take a multiple of it. */
#define NAME_ALIGN	64

/* A note of ELF, and the type of a build ID. */
#define NOTE_BUILD_ID	3
#define BUILD_ID_SIZE	20

/* All that features are made of. */
struct source {
	struct out			*out;
	struct trace			*trace;
	const struct attrs		*attrs;
	const unsigned long long	*span;
	char				**argv;
};

static void put_padding(struct out *out, size_t size, size_t align)
{
	static const char zero[NAME_ALIGN];

	put(out, zero, (align - size % align) % align);
}

static void put_string(struct out *out, const char *s)
{
	size_t size = strlen(s) + 1;

	put_u32(out, (size + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN);
	put(out, s, size);
	put_padding(out, size, NAME_ALIGN);
}

static void put_file(struct out *out, struct cursor file)
{
	put_u64(out, cursor_left(&file));
	cursor_write(file, out->file);
}

/* Number of events from @from on that are in its system, and are converted. */
static int converted(struct trace *trace, int from)
{
	int i, n = 0;

	for (i = from; i < trace->nr_events &&
	     !strcmp(trace->events[i].system, trace->events[from].system); i++)
		n += trace->events[i].attr >= 0;
	return n;
}

static bool system_begins(struct trace *trace, int i)
{
	return !i || strcmp(trace->events[i].system, trace->events[i - 1].system);
}

/* The formats of one system, which begins at @from. */
static void put_formats(struct out *out, struct trace *trace, int from)
{
	int i;

	put_u32(out, converted(trace, from));
	for (i = from; i < trace->nr_events &&
	     !strcmp(trace->events[i].system, trace->events[from].system); i++) {
		if (trace->events[i].attr >= 0)
			put_file(out, trace->events[i].format);
	}
}

/* The systems but for "ftrace", which comes first and has no name. */
static void put_systems(struct out *out, struct trace *trace)
{
	int pass, i, nr = 0, ftrace = -1;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < trace->nr_events; i++) {
			const char *system = trace->events[i].system;

			if (!system_begins(trace, i))
				continue;
			if (!strcmp(system, "ftrace")) {
				ftrace = i;
			} else if (converted(trace, i)) {
				nr++;
				if (pass) {
					put(out, system, strlen(system) + 1);
					put_formats(out, trace, i);
				}
			}
		}
		if (pass)
			break;
		if (ftrace < 0)
			put_u32(out, 0);
		else
			put_formats(out, trace, ftrace);
		put_u32(out, nr);
	}
}

/* Is a record converted as it is? */
static bool has_formats(struct trace *trace)
{
	int i;

	for (i = 0; i < trace->nr_events; i++) {
		if (trace->events[i].attr >= 0)
			return true;
	}
	return false;
}

/* Formats, and what else it takes to print a record. Symbols come from elsewhere. */
static bool tracing_data(struct source *s)
{
	static const char magic[] = "\027\010\104tracing0.6";
	char order = s->out->big, long_size = s->trace->long_size;

	if (!has_formats(s->trace))
		return false;
	put(s->out, magic, sizeof(magic));
	put(s->out, &order, 1);
	put(s->out, &long_size, 1);
	put_u32(s->out, s->trace->page_size);
	put(s->out, "header_page", sizeof("header_page"));
	put_file(s->out, s->trace->header_page);
	put(s->out, "header_event", sizeof("header_event"));
	put_file(s->out, s->trace->header_event);
	put_systems(s->out, s->trace);
	put_u32(s->out, 0);
	put_u32(s->out, cursor_left(&s->trace->printk));
	cursor_write(s->trace->printk, s->out->file);
	put_file(s->out, s->trace->cmdlines);
	return true;
}

/* Find the build ID in the notes of the kernel. */
static const char *find_build_id(const struct blob *notes)
{
	uint32_t head[3];
	size_t at, name;

	for (at = 0; at + sizeof(head) <= notes->size; at = name + ((head[1] + 3) & ~3U)) {
		memcpy(head, notes->data + at, sizeof(head));
		name = at + sizeof(head) + ((head[0] + 3) & ~3U);
		if (head[2] == NOTE_BUILD_ID && head[1] == BUILD_ID_SIZE &&
		    name + BUILD_ID_SIZE <= notes->size)
			return notes->data + name;
	}
	return NULL;
}

/* Only that of the kernel that runs here is known. */
static bool build_id(struct source *s)
{
	static const char kernel[NAME_ALIGN] = "[kernel.kallsyms]";
	struct blob notes = {};
	const char *id;

	if (!s->trace->here || !read_file("/sys/kernel/notes", &notes))
		return false;
	id = find_build_id(&notes);
	if (id) {
		put_header(s->out, 0, PERF_RECORD_MISC_KERNEL,
			   sizeof(uint32_t) + BUILD_ID_SIZE + 4 + sizeof(kernel));
		put_u32(s->out, -1);
		put(s->out, id, BUILD_ID_SIZE);
		put_u32(s->out, 0);
		put(s->out, kernel, sizeof(kernel));
	}
	free(notes.data);
	return id;
}

/* perf data convert of 6.1 needs this and the next strings: they are never left out. */
static bool hostname(struct source *s)
{
	put_string(s->out, s->trace->hostname ?: "unknown");
	return true;
}

static bool osrelease(struct source *s)
{
	put_string(s->out, s->trace->release ?: "unknown");
	return true;
}

static bool version(struct source *s)
{
	put_string(s->out, "ftrace2perf");
	return true;
}

static bool arch(struct source *s)
{
	put_string(s->out, s->trace->machine ?: "unknown");
	return true;
}

static bool unknown(struct source *s)
{
	put_string(s->out, "unknown");
	return true;
}

static bool nrcpus(struct source *s)
{
	put_u32(s->out, s->trace->nr_present);
	put_u32(s->out, s->trace->nr_present);
	return true;
}

static bool cmdline(struct source *s)
{
	int i, n = 0;

	while (s->argv[n])
		n++;
	put_u32(s->out, n);
	for (i = 0; i < n; i++)
		put_string(s->out, s->argv[i]);
	return true;
}

static bool event_desc(struct source *s)
{
	const struct attrs *attrs = s->attrs;
	int i;

	put_u32(s->out, attrs->nr);
	put_u32(s->out, ATTR_SIZE);
	for (i = 0; i < attrs->nr; i++) {
		put_attr(s->out, attrs, i);
		put_u32(s->out, 1);
		put_string(s->out, attrs->all[i].name);
		put_u64(s->out, i + 1);
	}
	return true;
}

static bool sample_time(struct source *s)
{
	put_u64(s->out, s->span[0]);
	put_u64(s->out, s->span[1]);
	return true;
}

static const struct {
	int	number;
	bool	(*put)(struct source *s);
} features[] = {
	{ TRACING_DATA,	tracing_data },
	{ BUILD_ID,	build_id },
	{ HOSTNAME,	hostname },
	{ OSRELEASE,	osrelease },
	{ VERSION,	version },
	{ ARCH,		arch },
	{ NRCPUS,	nrcpus },
	{ CPUDESC,	unknown },
	{ CPUID,	unknown },
	{ CMDLINE,	cmdline },
	{ EVENT_DESC,	event_desc },
	{ SAMPLE_TIME,	sample_time },
};

/**
 * put_features() - write the features, and a table of them in front
 * @out:   where to, behind the records
 * @trace: the trace
 * @attrs: the attributes
 * @span:  times of the first and the last record
 * @argv:  our arguments
 *
 * Return: a bit for each feature that is there.
 */
uint64_t put_features(struct out *out, struct trace *trace, const struct attrs *attrs,
		      const unsigned long long *span, char **argv)
{
	struct source s = { out, trace, attrs, span, argv };
	uint64_t table[2 * ARRAY_SIZE(features)], bits = 0;
	bool there[ARRAY_SIZE(features)];
	long begin = ftell(out->file), at;
	size_t i, n = 0, pass;

	/* How long the table is, is known only behind the features. */
	for (pass = 0; pass < 2; pass++) {
		fseek(out->file, begin + n * sizeof(table[0]), SEEK_SET);
		for (i = n = 0; i < ARRAY_SIZE(features); i++) {
			if (pass && !there[i])
				continue;
			at = ftell(out->file);
			there[i] = features[i].put(&s);
			table[n] = at;
			table[n + 1] = ftell(out->file) - at;
			n += there[i] ? 2 : 0;
			bits |= (uint64_t)there[i] << features[i].number;
		}
	}
	fseek(out->file, begin, SEEK_SET);
	put_words(out, table, n);
	return bits;
}
