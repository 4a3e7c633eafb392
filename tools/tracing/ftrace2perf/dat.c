// SPDX-License-Identifier: GPL-2.0
/*
 * Read a trace.dat of version 6 or 7: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
 *
 * Both have the texts of tracefs first, which perf wants as they are; libtracecmd gives
 * only what it has parsed of them. Version 6 has one part behind the other:
 *
 *   head: header_page, header_event, formats of ftrace, formats of the systems, kallsyms,
 *   printk_formats, saved_cmdlines; number of CPUs; options; table of the CPUs; sub-buffers
 *
 * Version 7 has the options first, which name the places of the other sections. Each section
 * may be compressed; the sub-buffers of a CPU are compressed in chunks.
 *
 * The file is read into memory, and sub-buffers that are not compressed are used where they are.
 *
 * The sections do not overlap. So all that is read of them is no more than the file, and what
 * is uncompressed no more than a multiple of it: this bounds memory and time, also if options or
 * CPUs name a section, or each other, again and again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

#define SECTION_COMPRESSED	1

/* Options; those of version 7 that name a section come last. */
enum {
	OPTION_DONE		= 0,
	OPTION_CPUSTAT		= 2,
	OPTION_BUFFER		= 3,
	OPTION_TRACECLOCK	= 4,
	OPTION_UNAME		= 5,
	OPTION_OFFSET		= 7,
	OPTION_TIME_SHIFT	= 12,
	OPTION_TSC2NSEC		= 14,
	OPTION_HEADER_INFO	= 16,
	OPTION_FTRACE_EVENTS	= 17,
	OPTION_EVENT_FORMATS	= 18,
	OPTION_KALLSYMS		= 19,
	OPTION_PRINTK		= 20,
	OPTION_CMDLINES		= 21,
	OPTION_BUFFER_TEXT	= 22,
};

/* Bytes that may come out of a compressed file: so many, and for each of its own so many. */
#define ROOM_FIRST	(16UL << 20)
#define ROOM_EACH	1024

/* The sizes that a sub-buffer can have: a record of its size has 27 bits for it. */
#define SUBBUF_MIN	64
#define SUBBUF_MAX	(1UL << 27)

/* Names of so many other buffers are printed. */
#define OTHERS_MAX	16

/**
 * struct stat_of_cpu - the losses that a file tells of a CPU
 * @overrun: number of records that were overwritten
 * @dropped: number of records that were refused
 */
struct stat_of_cpu {
	uint64_t	overrun;
	uint64_t	dropped;
};

/**
 * struct dat - a trace.dat
 * @trace:     the trace that is read from it
 * @file:      all of it
 * @left:      bytes of the file that no section has taken
 * @room:      bytes that may still come out of compressed sections
 * @buffer:    name of the buffer that is wanted; "" for the top one
 * @others:    names of the other buffers
 * @nr_others: number of them
 * @whole:     name of the snapshot, in front of the names of its channels; "" of trace-cmd
 * @counted:   name of the buffer that statistics are of
 * @stats:     losses of the wanted buffer, by CPU
 * @nr_stats:  number of them
 * @how:       name of the compression
 * @found:     the buffer is there
 * @shifted:   it has an option that changes the times
 */
struct dat {
	struct trace	*trace;
	struct cursor	file;
	uint64_t	left;
	uint64_t	room;
	const char	*buffer;
	char		*others;
	unsigned int	nr_others;
	char		whole[256];
	char		counted[256];
	struct stat_of_cpu *stats;
	unsigned int	nr_stats;
	const char	*how;
	bool		found;
	bool		shifted;
};

/* Take @size bytes of a file that has @dat->left for the sections that follow. */
static void spend(struct dat *dat, uint64_t size, const struct cursor *at, const char *what)
{
	if (size > dat->left)
		cursor_fail(at, "%s of %llu bytes, but the sections before it leave %llu: %s", what,
			    (unsigned long long)size, (unsigned long long)dat->left,
			    "they overlap");
	dat->left -= size;
}

/* Take @size bytes of those that may come out of compressed sections. */
static void spend_room(struct dat *dat, uint64_t size, const struct cursor *at)
{
	if (size > dat->room)
		cursor_fail(at, "%llu uncompressed bytes, but a file of this size may have %llu",
			    (unsigned long long)size, (unsigned long long)dat->room);
	dat->room -= size;
}

/* The bytes of the file from @offset on, @size of which belong to a section. */
static struct cursor place(struct dat *dat, uint64_t offset, uint64_t size, const char *what)
{
	struct cursor cursor = dat->file;

	if (offset > cursor_left(&cursor))
		cursor_fail(&cursor, "%s at byte %llu, behind the end of %zu bytes", what,
			    (unsigned long long)offset, cursor_left(&cursor));
	cursor_skip(&cursor, offset, what);
	spend(dat, size, &cursor, what);
	return cursor;
}

/* A text with its size in front. */
static struct cursor sized(struct cursor *from, size_t size_of_size, const char *what)
{
	return cursor_part(from, cursor_number(from, size_of_size, what), what);
}

static unsigned int subbuf_size(struct cursor *from, const char *what)
{
	struct cursor at = *from;
	uint64_t n = cursor_number(from, 4, what);

	if (n < SUBBUF_MIN || n > SUBBUF_MAX || n & (n - 1))
		cursor_fail(&at, "%s is %llu, expected a power of 2", what, (unsigned long long)n);
	return n;
}

static void read_header_info(struct dat *dat, struct cursor *from)
{
	free(cursor_name(from, "header_page"));
	dat->trace->header_page = sized(from, 8, "header_page");
	free(cursor_name(from, "header_event"));
	dat->trace->header_event = sized(from, 8, "header_event");
}

static void read_formats(struct dat *dat, struct cursor *from, const char *system)
{
	uint32_t nr = cursor_number(from, 4, "number of events");

	while (nr--)
		trace_add_event(dat->trace, system, sized(from, 8, "format of an event"));
}

static void read_systems(struct dat *dat, struct cursor *from)
{
	uint32_t nr = cursor_number(from, 4, "number of systems");

	while (nr--)
		read_formats(dat, from, cursor_name(from, "name of a system"));
}

/* "SYSNAME NODE RELEASE MACHINE" */
static void read_uname(struct dat *dat, struct cursor *from)
{
	struct trace *trace = dat->trace;
	char uname[300], node[65], release[65], machine[65];

	if (!cursor_line(from, uname, sizeof(uname)) ||
	    sscanf(uname, "%*s %64s %64s %64s", node, release, machine) != 3)
		return;
	trace->hostname = text("%s", node);
	trace->release = text("%s", release);
	trace->machine = text("%s", machine);
}

static struct cursor next_chunk(struct cursor *from, size_t *room)
{
	uint32_t size = cursor_number(from, 4, "compressed size of a chunk");

	*room = cursor_number(from, 4, "size of a chunk");
	return cursor_part(from, size, "compressed chunk");
}

/* The sub-buffers of @cpu from their compressed @chunks. */
static struct cursor uncompress_pages(struct dat *dat, struct cursor chunks, uint32_t nr, int cpu)
{
	struct cursor from = chunks, chunk;
	size_t all = 0, done, room;
	uint32_t i;
	char *data;

	for (i = 0; i < nr; i++, all += room) {
		chunk = next_chunk(&from, &room);
		spend_room(dat, room, &chunk);
	}
	data = resize(NULL, all, 1);
	for (i = 0, done = 0; i < nr; i++, done += room) {
		chunk = next_chunk(&chunks, &room);
		cursor_uncompress(chunk, dat->how, data + done, room);
	}
	return cursor_more(&dat->file, text("the uncompressed sub-buffers of CPU %d", cpu), data,
			   all);
}

/* The sub-buffers of a CPU, @size bytes in the file. */
static void read_pages(struct dat *dat, uint64_t cpu, uint64_t offset, uint64_t size,
		       bool compressed)
{
	struct trace *trace = dat->trace;
	struct cursor from, pages;
	size_t rest;

	from = place(dat, offset, size, "sub-buffers");
	if (cpu >= MAX_CPUS)
		cursor_fail(&from, "sub-buffers of CPU %llu, expected 0 to %d",
			    (unsigned long long)cpu, MAX_CPUS - 1);
	if (compressed && size) {
		/* (@size does not count the number of chunks.) */
		uint32_t nr = cursor_number(&from, 4, "number of compressed chunks");

		pages = cursor_part(&from, size, "compressed sub-buffers");
		pages = uncompress_pages(dat, pages, nr, cpu);
	} else {
		pages = cursor_part(&from, size, "sub-buffers");
	}
	rest = cursor_left(&pages) % trace->subbuf_size;
	if (rest)
		warn("%s: %zu bytes of CPU %d are left out, as they are no whole sub-buffer",
		     trace->name, rest, (int)cpu);
	trace_add_cpu(trace, cpu)->pages = cursor_part(&pages, cursor_left(&pages) - rest,
						       "sub-buffers");
}

/* @at is where the file names the buffer. */
static bool wanted_buffer(struct dat *dat, const char *name, const struct cursor *at)
{
	char *others = dat->others;

	if (!strcmp(name, dat->buffer)) {
		if (dat->found)
			cursor_fail(at, "a second buffer of the name \"%s\"", name);
		dat->found = true;
		return true;
	}
	if (dat->nr_others++ < OTHERS_MAX) {
		dat->others = text("%s %s", others ?: "", *name ? name : "(top)");
		free(others);
	} else if (dat->nr_others == OTHERS_MAX + 1) {
		dat->others = text("%s ...", others);
		free(others);
	}
	return false;
}

static void __attribute__((noreturn)) refuse_latency(struct dat *dat)
{
	die("%s has a latency trace, which is text: trace-cmd report -i %s prints it",
	    dat->trace->name, dat->trace->name);
}

/* Is it there? Then go on behind it. */
static bool is_tag(struct cursor *from, const char *tag)
{
	struct cursor at = *from;
	char bytes[10];

	if (cursor_left(&at) < sizeof(bytes))
		return false;
	cursor_get(&at, bytes, sizeof(bytes), "tag");
	if (memcmp(bytes, tag, sizeof(bytes)))
		return false;
	*from = at;
	return true;
}

/* Version 6: a table of offset and size for each CPU. */
static void read_table(struct dat *dat, struct cursor *from, uint32_t nr_cpus)
{
	uint64_t offset, size;
	uint32_t cpu;

	if (is_tag(from, "latency  "))
		refuse_latency(dat);
	if (!is_tag(from, "flyrecord"))
		cursor_fail(from, "expected \"flyrecord\"");
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		offset = cursor_number(from, 8, "offset of sub-buffers");
		size = cursor_number(from, 8, "size of sub-buffers");
		read_pages(dat, cpu, size ? offset : 0, size, false);
	}
}

/* Are the statistics that are read those of the wanted buffer? */
static bool counts_wanted(struct dat *dat)
{
	size_t n = strlen(dat->whole);

	if (!n || strncmp(dat->counted, dat->whole, n))
		return !strcmp(dat->counted, dat->buffer);
	/* The kernel's own: NAME@SEQ is the top buffer, NAME@SEQ.CHANNEL its CHANNEL. */
	return !strcmp(dat->counted + n + !!dat->counted[n], dat->buffer);
}

static struct stat_of_cpu *stat_of(struct dat *dat, unsigned int cpu)
{
	struct stat_of_cpu none = {};

	while (dat->nr_stats <= cpu) {
		dat->stats = grow(dat->stats, dat->nr_stats, sizeof(none));
		dat->stats[dat->nr_stats++] = none;
	}
	return &dat->stats[cpu];
}

/*
 * Lines of per_cpu/cpuN/stats. The name of the buffer is in front, if it is not the top one; in a
 * file of trace-cmd, in an option of its own in front of those of all CPUs.
 */
static void read_cpustat(struct dat *dat, struct cursor *option)
{
	bool named = false;
	unsigned int cpu = MAX_CPUS;
	unsigned long long n;
	char line[300];

	while (cursor_line(option, line, sizeof(line))) {
		if (!strncmp(line, "Buffer: ", strlen("Buffer: "))) {
			snprintf(dat->counted, sizeof(dat->counted), "%.255s",
				 line + strlen("Buffer: "));
			named = true;
		} else if (sscanf(line, "CPU: %u", &cpu) == 1) {
			if (named && !*dat->whole)
				memcpy(dat->whole, dat->counted, sizeof(dat->whole));
		} else if (cpu >= MAX_CPUS || !counts_wanted(dat)) {
			continue;
		} else if (sscanf(line, "overrun: %llu", &n) == 1) {
			stat_of(dat, cpu)->overrun = n;
		} else if (sscanf(line, "commit overrun: %llu", &n) == 1 ||
			   sscanf(line, "dropped events: %llu", &n) == 1) {
			stat_of(dat, cpu)->dropped += n;
		}
	}
}

/*
 * The losses of the statistics that the sub-buffers of a CPU do not tell of: what they tell was
 * overwritten first.
 */
static void add_losses(struct dat *dat, struct cpu_pages *cpu)
{
	struct cursor pages = cpu->pages;
	struct stat_of_cpu stat;
	struct subbuf subbuf;
	uint64_t told = 0;

	if ((unsigned int)cpu->cpu >= dat->nr_stats)
		return;
	while (cursor_left(&pages)) {
		subbuf_begin(&subbuf, cursor_part(&pages, dat->trace->subbuf_size, "a sub-buffer"),
			     dat->trace->long_size);
		told += subbuf.lost;
	}
	stat = dat->stats[cpu->cpu];
	cpu->before = stat.overrun - (told < stat.overrun ? told : stat.overrun);
	told -= stat.overrun - cpu->before;
	cpu->after = stat.dropped - (told < stat.dropped ? told : stat.dropped);
}

/* Options that both versions have. */
static void read_option(struct dat *dat, int id, struct cursor *option)
{
	switch (id) {
	case OPTION_CPUSTAT:
		read_cpustat(dat, option);
		break;
	case OPTION_TRACECLOCK:
		dat->trace->clock = first_word(*option);
		break;
	case OPTION_UNAME:
		read_uname(dat, option);
		break;
	case OPTION_OFFSET:
	case OPTION_TIME_SHIFT:
	case OPTION_TSC2NSEC:
		dat->shifted = true;
		break;
	default:
		break;
	}
}

/* The options of version 6; the place of the wanted buffer if that is not the top one. */
static uint64_t read_options_6(struct dat *dat, struct cursor *from)
{
	uint64_t offset, buffer = 0;
	struct cursor option;
	int id;

	while ((id = cursor_number(from, 2, "option")) != OPTION_DONE) {
		option = sized(from, 4, "option");
		if (id == OPTION_BUFFER) {
			offset = cursor_number(&option, 8, "offset of a buffer");
			if (wanted_buffer(dat, cursor_name(&option, "name of a buffer"), &option))
				buffer = offset;
		} else {
			read_option(dat, id, &option);
		}
	}
	return buffer;
}

static void read_6(struct dat *dat, struct cursor *from)
{
	struct trace *trace = dat->trace;
	struct cursor table, at;
	uint64_t buffer = 0;
	uint32_t nr_cpus;

	read_header_info(dat, from);
	read_formats(dat, from, "ftrace");
	read_systems(dat, from);
	trace->kallsyms = sized(from, 4, "kallsyms");
	trace->printk = sized(from, 4, "printk_formats");
	trace->cmdlines = sized(from, 8, "saved_cmdlines");
	at = *from;
	nr_cpus = cursor_number(from, 4, "number of CPUs");
	if (nr_cpus > MAX_CPUS)
		cursor_fail(&at, "%u CPUs, expected up to %d", nr_cpus, MAX_CPUS);
	trace->nr_present = nr_cpus;
	trace->subbuf_size = trace->page_size;

	wanted_buffer(dat, "", &at);
	if (is_tag(from, "options  "))
		buffer = read_options_6(dat, from);
	table = buffer ? place(dat, buffer, 0, "buffer") : *from;
	if (!dat->found)
		return;
	read_table(dat, &table, nr_cpus);
	/* A clock that the option has no text of is behind the table of each buffer. */
	if (trace->clock && !*trace->clock)
		trace->clock = first_word(sized(&table, 8, "trace_clock"));
}

/* A section of version 7, uncompressed. */
static struct cursor section(struct dat *dat, uint64_t offset)
{
	struct cursor head = place(dat, offset, 16, "section"), from;
	uint64_t size;
	size_t room;
	char *data;
	int flags;

	cursor_skip(&head, 2, "kind of a section");
	flags = cursor_number(&head, 2, "flags of a section");
	cursor_skip(&head, 4, "description of a section");
	size = cursor_number(&head, 8, "size of a section");
	spend(dat, size, &head, "section");
	from = cursor_part(&head, size, "section");
	if (!(flags & SECTION_COMPRESSED))
		return from;
	from = next_chunk(&from, &room);
	spend_room(dat, room, &from);
	data = resize(NULL, room, 1);
	cursor_uncompress(from, dat->how, data, room);
	return cursor_more(&dat->file, text("the uncompressed section at byte %llu",
					    (unsigned long long)offset), data, room);
}

static void read_buffer_7(struct dat *dat, struct cursor *option)
{
	struct trace *trace = dat->trace;
	uint64_t cpu, offset, size;
	struct cursor head, clock;
	bool compressed;
	uint32_t nr;

	head = place(dat, cursor_number(option, 8, "offset of a buffer"), 16, "buffer");
	if (!wanted_buffer(dat, cursor_name(option, "name of a buffer"), option))
		return;
	clock = *option;
	if (*cursor_name(option, "clock of a buffer"))
		trace->clock = first_word(clock);
	cursor_skip(&head, 2, "kind of a section");
	compressed = cursor_number(&head, 2, "flags of a section") & SECTION_COMPRESSED;
	trace->subbuf_size = subbuf_size(option, "size of a sub-buffer");
	for (nr = cursor_number(option, 4, "number of CPUs"); nr; nr--) {
		cpu = cursor_number(option, 4, "CPU");
		offset = cursor_number(option, 8, "offset of sub-buffers");
		size = cursor_number(option, 8, "size of sub-buffers");
		read_pages(dat, cpu, size ? offset : 0, size, compressed);
		if (cpu >= trace->nr_present)
			trace->nr_present = cpu + 1;
	}
}

static void read_option_7(struct dat *dat, int id, struct cursor *option)
{
	struct trace *trace = dat->trace;
	struct cursor from = {};

	if (id >= OPTION_HEADER_INFO && id <= OPTION_CMDLINES)
		from = section(dat, cursor_number(option, 8, "offset of a section"));
	switch (id) {
	case OPTION_BUFFER:
		read_buffer_7(dat, option);
		break;
	case OPTION_BUFFER_TEXT:
		refuse_latency(dat);
	case OPTION_HEADER_INFO:
		read_header_info(dat, &from);
		break;
	case OPTION_FTRACE_EVENTS:
		read_formats(dat, &from, "ftrace");
		break;
	case OPTION_EVENT_FORMATS:
		read_systems(dat, &from);
		break;
	case OPTION_KALLSYMS:
		trace->kallsyms = sized(&from, 4, "kallsyms");
		break;
	case OPTION_PRINTK:
		trace->printk = sized(&from, 4, "printk_formats");
		break;
	case OPTION_CMDLINES:
		trace->cmdlines = sized(&from, 8, "saved_cmdlines");
		break;
	default:
		read_option(dat, id, option);
	}
}

static void read_7(struct dat *dat, struct cursor *from)
{
	struct cursor options, option;
	uint64_t next;
	int id;

	dat->how = cursor_name(from, "name of the compression");
	free(cursor_name(from, "version of the compression"));
	uncompress_check(dat->trace->name, dat->how);
	for (next = cursor_number(from, 8, "offset of the options"); next;) {
		options = section(dat, next);
		do {
			id = cursor_number(&options, 2, "option");
			option = sized(&options, 4, "option");
			if (id == OPTION_DONE)
				next = cursor_number(&option, 8, "offset of the next options");
			else
				read_option_7(dat, id, &option);
		} while (id != OPTION_DONE);
	}
}

static struct cursor open_file(const char *path)
{
	struct blob blob;

	if (!read_file(path, &blob))
		die("%s: %s", path, strerror(errno));
	/* (Without the 0 behind it: then AddressSanitizer reports a read behind the end.) */
	return cursor_new(path, NULL, resize(blob.data, blob.size, 1), blob.size);
}

/* Read the part in front, of both versions; returns the number of the version. */
static int read_head(struct dat *dat, struct cursor *from)
{
	static const char magic[] = "\027\010\104tracing";
	struct trace *trace = dat->trace;
	char start[sizeof(magic) - 1] = "", *version;
	struct cursor at;
	uint64_t order;

	if (cursor_left(from) > sizeof(start))
		cursor_get(from, start, sizeof(start), "magic");
	if (memcmp(start, magic, sizeof(start)))
		die("%s is no trace.dat of trace-cmd", trace->name);
	version = cursor_name(from, "version of the file");
	at = *from;
	order = cursor_number(from, 1, "byte order");
	if (order > 1)
		cursor_fail(&at, "byte order is %llu, expected 0 or 1", (unsigned long long)order);
	trace->big = order;
	dat->file.big = order;
	from->big = order;
	at = *from;
	trace->long_size = cursor_number(from, 1, "size of a long");
	if (trace->long_size != 4 && trace->long_size != 8)
		cursor_fail(&at, "a long has %u bytes, expected 4 or 8", trace->long_size);
	trace->page_size = subbuf_size(from, "size of a page");
	if (strcmp(version, "6") && strcmp(version, "7"))
		die("%s has version %s, expected 6 or 7, which trace-cmd convert makes of it",
		    trace->name, version);
	return *version - '0';
}

/**
 * dat_read() - read a trace.dat
 * @trace:  the trace is stored here
 * @path:   the file
 * @buffer: name of the instance that is wanted, NULL for the top one
 *
 * An error ends the program.
 */
void dat_read(struct trace *trace, const char *path, const char *buffer)
{
	struct dat dat = { .trace = trace, .buffer = buffer ?: "", .how = "none" };
	struct cursor from;
	int i;

	trace->name = text("%s", path);
	dat.file = open_file(trace->name);
	dat.left = cursor_left(&dat.file);
	dat.room = ROOM_FIRST + dat.left * ROOM_EACH;
	from = dat.file;
	if (read_head(&dat, &from) == 6)
		read_6(&dat, &from);
	else
		read_7(&dat, &from);

	if (!dat.found)
		die("%s: There is no instance %s; it has:%s", path, buffer ?: "(top)",
		    dat.others ?: " none");
	if (!trace->header_page.of || !trace->nr_events)
		cursor_fail(&dat.file, "there is no header_page, or no event, in the file");
	for (i = 0; i < trace->nr_cpus; i++)
		add_losses(&dat, &trace->cpus[i]);
	if (dat.others)
		warn("%s also has:%s; -i NAME converts one of these", path, dat.others);
	if (dat.shifted)
		warn("%s: The times are not shifted as the file asks for", path);
}
