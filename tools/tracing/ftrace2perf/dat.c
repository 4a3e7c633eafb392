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
 * The file is mapped, and sub-buffers that are not compressed are used where they are.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrace2perf.h"

#define SECTION_COMPRESSED	1

/* Options; those of version 7 that name a section come last. */
enum {
	OPTION_DONE		= 0,
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

/* Bytes that are read one after the other. */
struct view {
	const char	*at;
	const char	*end;
};

/**
 * struct dat - a trace.dat
 * @trace:   the trace that is read from it
 * @file:    all of it
 * @buffer:  name of the buffer that is wanted; "" for the top one
 * @others:  names of the other buffers
 * @how:     name of the compression
 * @found:   the buffer is there
 * @shifted: it has an option that changes the times
 */
struct dat {
	struct trace	*trace;
	struct view	file;
	const char	*buffer;
	char		*others;
	const char	*how;
	bool		found;
	bool		shifted;
};

static void __attribute__((noreturn)) damaged(struct dat *dat)
{
	die("%s: The file is damaged or cut short", dat->trace->name);
}

static const char *take(struct dat *dat, struct view *view, size_t size)
{
	const char *at = view->at;

	if (size > (size_t)(view->end - at))
		damaged(dat);
	view->at += size;
	return at;
}

/* The next @size bytes. */
static struct view part(struct dat *dat, struct view *view, size_t size)
{
	struct view part = { .at = take(dat, view, size) };

	part.end = view->at;
	return part;
}

static uint64_t number(struct dat *dat, struct view *view, size_t size)
{
	const char *at = take(dat, view, size);
	uint64_t n = 0;

	/* (They are in the byte order of this machine.) */
	if (__BYTE_ORDER == __LITTLE_ENDIAN)
		memcpy(&n, at, size);
	else
		memcpy((char *)&n + sizeof(n) - size, at, size);
	return n;
}

static const char *string(struct dat *dat, struct view *view)
{
	const char *at = view->at;

	return take(dat, view, strnlen(at, view->end - at) + 1);
}

static struct view place(struct dat *dat, uint64_t offset)
{
	struct view view = dat->file;

	take(dat, &view, offset);
	return view;
}

/* A text with its size in front. */
static struct blob sized(struct dat *dat, struct view *view, size_t size_of_size)
{
	struct blob blob = { .size = number(dat, view, size_of_size) };
	const char *at = take(dat, view, blob.size);

	blob.data = resize(NULL, blob.size + 1, 1);
	memcpy(blob.data, at, blob.size);
	blob.data[blob.size] = 0;
	return blob;
}

static void read_header_info(struct dat *dat, struct view *view)
{
	string(dat, view);
	dat->trace->header_page = sized(dat, view, 8);
	string(dat, view);
	dat->trace->header_event = sized(dat, view, 8);
}

static void read_formats(struct dat *dat, struct view *view, const char *system)
{
	uint32_t nr = number(dat, view, 4);

	while (nr--)
		trace_add_event(dat->trace, system, sized(dat, view, 8));
}

static void read_systems(struct dat *dat, struct view *view)
{
	uint32_t nr = number(dat, view, 4);
	const char *system;

	while (nr--) {
		system = string(dat, view);
		read_formats(dat, view, system);
	}
}

/* "SYSNAME NODE RELEASE MACHINE" */
static void read_uname(struct dat *dat, const char *uname)
{
	struct trace *trace = dat->trace;
	char node[65], release[65], machine[65];

	if (sscanf(uname, "%*s %64s %64s %64s", node, release, machine) != 3)
		return;
	trace->hostname = text("%s", node);
	trace->release = text("%s", release);
	trace->machine = text("%s", machine);
}

/* The sub-buffers of a CPU, @size bytes in the file. */
static void read_pages(struct dat *dat, int cpu, uint64_t offset, uint64_t size, bool compressed)
{
	struct cpu_pages *pages = trace_add_cpu(dat->trace, cpu);
	size_t done = 0, from, room;
	struct view view;
	char *data = NULL;
	uint32_t chunks;

	if (!size)
		return;
	view = place(dat, offset);
	pages->data = view.at;
	if (!compressed) {
		take(dat, &view, size);
	} else {
		/* (@size does not count the number of chunks.) */
		for (chunks = number(dat, &view, 4); chunks; chunks--) {
			from = number(dat, &view, 4);
			room = number(dat, &view, 4);
			data = resize(data, done + room, 1);
			if (!uncompress_bytes(dat->how, data + done, room,
					      take(dat, &view, from), from))
				damaged(dat);
			done += room;
		}
		pages->data = data;
		size = done;
	}
	pages->nr = size / dat->trace->subbuf_size;
}

static bool wanted_buffer(struct dat *dat, const char *name)
{
	char *others = dat->others;

	if (!strcmp(name, dat->buffer)) {
		dat->found = true;
		return true;
	}
	dat->others = text("%s %s", others ?: "", *name ? name : "(top)");
	free(others);
	return false;
}

/* Version 6: a table of offset and size for each CPU. */
static void read_table(struct dat *dat, struct view *view, int nr_cpus)
{
	uint64_t offset, size;
	int cpu;

	if (strcmp(string(dat, view), "flyrecord"))
		die("%s has a latency trace, which is text: trace-cmd report -i %s prints it",
		    dat->trace->name, dat->trace->name);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		offset = number(dat, view, 8);
		size = number(dat, view, 8);
		read_pages(dat, cpu, offset, size, false);
	}
}

/* Options that both versions have. */
static void read_option(struct dat *dat, int id, struct view *view)
{
	struct blob blob = { (char *)view->at, view->end - view->at };

	switch (id) {
	case OPTION_TRACECLOCK:
		if (!memchr(view->at, 0, blob.size))
			blob.data = NULL;
		dat->trace->clock = first_word(&blob);
		break;
	case OPTION_UNAME:
		if (memchr(view->at, 0, blob.size))
			read_uname(dat, view->at);
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
static uint64_t read_options_6(struct dat *dat, struct view *view)
{
	uint64_t offset, buffer = 0;
	struct view option;
	int id;

	while ((id = number(dat, view, 2)) != OPTION_DONE) {
		option = part(dat, view, number(dat, view, 4));
		if (id == OPTION_BUFFER) {
			offset = number(dat, &option, 8);
			if (wanted_buffer(dat, string(dat, &option)))
				buffer = offset;
		} else {
			read_option(dat, id, &option);
		}
	}
	return buffer;
}

static void read_6(struct dat *dat, struct view *view)
{
	struct trace *trace = dat->trace;
	uint64_t buffer = 0;
	struct blob clock;
	struct view table;
	int nr_cpus;

	read_header_info(dat, view);
	read_formats(dat, view, "ftrace");
	read_systems(dat, view);
	trace->kallsyms = sized(dat, view, 4);
	trace->printk = sized(dat, view, 4);
	trace->cmdlines = sized(dat, view, 8);
	nr_cpus = number(dat, view, 4);
	trace->nr_present = nr_cpus;
	trace->subbuf_size = trace->page_size;

	wanted_buffer(dat, "");
	if (view->end - view->at >= 10 && !strcmp(view->at, "options  ")) {
		string(dat, view);
		buffer = read_options_6(dat, view);
	}
	table = buffer ? place(dat, buffer) : *view;
	if (!dat->found)
		return;
	read_table(dat, &table, nr_cpus);
	/* A clock that the option has no text of is behind the table. */
	if (trace->clock && !*trace->clock && !buffer) {
		clock = sized(dat, &table, 8);
		trace->clock = first_word(&clock);
	}
}

/* A section of version 7, uncompressed. */
static struct view section(struct dat *dat, uint64_t offset)
{
	struct view view = place(dat, offset);
	size_t size, from, room;
	char *data;
	int flags;

	number(dat, &view, 2);
	flags = number(dat, &view, 2);
	number(dat, &view, 4);
	size = number(dat, &view, 8);
	if (!(flags & SECTION_COMPRESSED))
		return part(dat, &view, size);
	from = number(dat, &view, 4);
	room = number(dat, &view, 4);
	data = resize(NULL, room, 1);
	if (!uncompress_bytes(dat->how, data, room, take(dat, &view, from), from))
		damaged(dat);
	return (struct view){ data, data + room };
}

static void read_buffer_7(struct dat *dat, struct view *option)
{
	struct view view = place(dat, number(dat, option, 8));
	uint64_t offset, size;
	struct blob clock;
	bool compressed;
	int nr, cpu;

	if (!wanted_buffer(dat, string(dat, option)))
		return;
	clock.data = (char *)string(dat, option);
	if (*clock.data)
		dat->trace->clock = first_word(&clock);
	number(dat, &view, 2);
	compressed = number(dat, &view, 2) & SECTION_COMPRESSED;
	dat->trace->subbuf_size = number(dat, option, 4);
	for (nr = number(dat, option, 4); nr; nr--) {
		cpu = number(dat, option, 4);
		offset = number(dat, option, 8);
		size = number(dat, option, 8);
		read_pages(dat, cpu, offset, size, compressed);
		if ((unsigned int)cpu >= dat->trace->nr_present)
			dat->trace->nr_present = cpu + 1;
	}
}

static void read_option_7(struct dat *dat, int id, struct view *option)
{
	struct trace *trace = dat->trace;
	struct view view = {};

	if (id >= OPTION_HEADER_INFO && id <= OPTION_CMDLINES)
		view = section(dat, number(dat, option, 8));
	switch (id) {
	case OPTION_BUFFER:
		read_buffer_7(dat, option);
		break;
	case OPTION_BUFFER_TEXT:
		die("%s has a latency trace, which is text: trace-cmd report -i %s prints it",
		    trace->name, trace->name);
	case OPTION_HEADER_INFO:
		read_header_info(dat, &view);
		break;
	case OPTION_FTRACE_EVENTS:
		read_formats(dat, &view, "ftrace");
		break;
	case OPTION_EVENT_FORMATS:
		read_systems(dat, &view);
		break;
	case OPTION_KALLSYMS:
		trace->kallsyms = sized(dat, &view, 4);
		break;
	case OPTION_PRINTK:
		trace->printk = sized(dat, &view, 4);
		break;
	case OPTION_CMDLINES:
		trace->cmdlines = sized(dat, &view, 8);
		break;
	default:
		read_option(dat, id, option);
	}
}

static void read_7(struct dat *dat, struct view *view)
{
	struct view options, option;
	uint64_t next;
	int id;

	dat->how = string(dat, view);
	string(dat, view);
	uncompress_check(dat->trace->name, dat->how);
	for (next = number(dat, view, 8); next;) {
		options = section(dat, next);
		do {
			id = number(dat, &options, 2);
			option = part(dat, &options, number(dat, &options, 4));
			if (id == OPTION_DONE)
				next = number(dat, &option, 8);
			else
				read_option_7(dat, id, &option);
		} while (id != OPTION_DONE);
	}
}

static void map_file(struct dat *dat, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct blob blob;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", path, strerror(errno));
	map = st.st_size ? mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (map != MAP_FAILED) {
		dat->file.at = map;
		dat->file.end = dat->file.at + st.st_size;
		return;
	}
	/* A file of tracefs, or a pipe. */
	if (!read_file(path, &blob))
		die("%s: %s", path, strerror(errno));
	dat->file.at = blob.data;
	dat->file.end = blob.data + blob.size;
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
	static const char magic[] = "\027\010\104tracing";
	struct dat dat = { .trace = trace, .buffer = buffer ?: "", .how = "none" };
	const char *version;
	struct view view;
	bool big, host_is_big = htobe16(1) == 1;

	trace->name = text("%s", path);
	map_file(&dat, path);
	view = dat.file;
	if ((size_t)(view.end - view.at) < sizeof(magic) ||
	    memcmp(take(&dat, &view, sizeof(magic) - 1), magic, sizeof(magic) - 1))
		die("%s is no trace.dat of trace-cmd", path);
	version = string(&dat, &view);
	big = *take(&dat, &view, 1);
	if (big != host_is_big)
		die("%s is from a machine of the other byte order: convert it on such a machine",
		    path);
	trace->long_size = *take(&dat, &view, 1);
	trace->page_size = number(&dat, &view, 4);
	if (!strcmp(version, "6"))
		read_6(&dat, &view);
	else if (!strcmp(version, "7"))
		read_7(&dat, &view);
	else
		die("%s has version %s, expected 6 or 7, which trace-cmd convert makes of it",
		    path, version);

	if (!dat.found)
		die("%s: There is no instance %s; it has:%s", path, buffer ?: "(top)",
		    dat.others ?: " none");
	if ((trace->long_size != 4 && trace->long_size != 8) || trace->subbuf_size < 64 ||
	    !trace->header_page.data || !trace->nr_events)
		damaged(&dat);
	if (dat.others)
		warn("%s also has:%s; -i NAME converts one of these", path, dat.others);
	if (dat.shifted)
		warn("%s: The times are not shifted as the file asks for", path);
}
