// SPDX-License-Identifier: GPL-2.0
/*
 * Read an instance, or a kept snapshot, from its directory.
 *
 * trace_pipe_raw gives whole sub-buffers. That of a kept snapshot has a position for each open
 * file; that of an instance consumes them. A mapping does not, as long as its reader is not moved
 * on. That suits a ring that nobody writes to: an instance that does not record. The sub-buffers
 * of a mapping are numbered: the reader's, then the others from the oldest on. How many of them
 * hold unread records follows from the number of these, which per_cpu/cpuN/stats has. If that
 * number is not met, nothing is converted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/trace_mmap.h>

#include "ftrace2perf.h"

/* Of a long at this offset of a sub-buffer, the bits with the number of its bytes. */
#define COMMIT_AT	8
#define COMMIT_SIZE	((1UL << 27) - 1)

/**
 * struct cpu_stats - per_cpu/cpuN/stats
 * @entries: number of unread records
 * @overrun: number of records that were overwritten
 * @dropped: number of records that were refused
 */
struct cpu_stats {
	unsigned long long	entries;
	unsigned long long	overrun;
	unsigned long long	dropped;
};

static bool get(const char *dir, const char *name, struct blob *blob)
{
	char *path = text("%s/%s", dir, name);
	bool done = read_file(path, blob);

	free(path);
	return done;
}

/* A file of @dir that need not be there. */
static struct cursor get_text(const char *dir, const char *name)
{
	struct blob blob = {};

	if (!get(dir, name, &blob))
		return (struct cursor){};
	return cursor_new(text("%s/%s", dir, name), NULL, blob.data, blob.size);
}

static void need(const char *dir, const char *name, struct blob *blob)
{
	if (!get(dir, name, blob))
		die("%s/%s: %s; expected an instance of tracefs, and the rights of root",
		    dir, name, strerror(errno));
}

static struct cursor need_text(const char *dir, const char *name)
{
	struct blob blob;

	need(dir, name, &blob);
	return cursor_new(text("%s/%s", dir, name), NULL, blob.data, blob.size);
}

static bool reads_as(const char *dir, const char *name, char c)
{
	struct blob blob = {};
	bool is;

	if (!get(dir, name, &blob))
		return false;
	is = blob.data[0] == c;
	free(blob.data);
	return is;
}

static unsigned long long stat_of(const struct blob *stats, const char *name)
{
	const char *at = strstr(stats->data, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static struct cpu_stats read_stats(const char *cpu_dir)
{
	struct cpu_stats stats;
	struct blob blob;

	need(cpu_dir, "stats", &blob);
	stats.entries = stat_of(&blob, "entries: ");
	stats.overrun = stat_of(&blob, "\noverrun: ");
	stats.dropped = stat_of(&blob, "dropped events: ") + stat_of(&blob, "commit overrun: ");
	free(blob.data);
	return stats;
}

static void read_events(struct trace *trace, const char *dir)
{
	struct dirent **systems, **events;
	struct cursor format;
	int i, k, n, nr;
	char *path;

	nr = scandir(dir, &systems, NULL, alphasort);
	for (i = 0; i < nr; i++) {
		path = text("%s/%s", dir, systems[i]->d_name);
		n = systems[i]->d_name[0] == '.' ? 0 : scandir(path, &events, NULL, alphasort);
		for (k = 0; k < n; k++) {
			char *event = text("%s/%s", path, events[k]->d_name);

			/* (An event may be removed meanwhile.) */
			format = get_text(event, "format");
			if (events[k]->d_name[0] != '.' && format.of)
				trace_add_event(trace, systems[i]->d_name, format);
			free(event);
		}
		free(path);
	}
	if (!trace->nr_events)
		die("%s: There is no event: %s", dir, nr < 0 ? strerror(errno) : "is it tracefs?");
}

/* The size of a sub-buffer, from the text of header_page. */
static unsigned int subbuf_size(struct trace *trace)
{
	unsigned int offset, size = 0, long_size = 0;
	struct cursor page = trace->header_page;
	char line[256], *at;

	while (cursor_line(&page, line, sizeof(line))) {
		at = strstr(line, "char data;");
		if (at && sscanf(at, "char data; offset:%u; size:%u;", &offset, &size) == 2)
			size += offset;
		at = strstr(line, "commit;");
		if (at)
			sscanf(at, "commit; offset:%*u; size:%u;", &long_size);
	}
	if (!size || !long_size)
		die("%s/events/header_page: No size of a sub-buffer", trace->name);
	if (long_size != sizeof(long))
		die("A long of the kernel has %u bytes: build ftrace2perf for that", long_size);
	return size;
}

static void read_files(struct trace *trace, const char *dir)
{
	struct cursor clock = get_text(dir, "trace_clock");
	char *events = text("%s/events", dir);
	struct utsname uts;

	trace->header_page = need_text(dir, "events/header_page");
	trace->header_event = need_text(dir, "events/header_event");
	read_events(trace, events);
	free(events);
	trace->kallsyms = get_text("/proc", "kallsyms");
	if (clock.of)
		trace->clock = first_word(clock);

	uname(&uts);
	trace->hostname = text("%s", uts.nodename);
	trace->release = text("%s", uts.release);
	trace->machine = text("%s", uts.machine);
	trace->here = true;
	trace->long_size = sizeof(long);
	trace->page_size = sysconf(_SC_PAGESIZE);
	trace->big = BIG_HERE;
	trace->nr_present = sysconf(_SC_NPROCESSORS_CONF);
	trace->subbuf_size = subbuf_size(trace);
}

/* Number of records of a sub-buffer of @size bytes behind its first @skip ones. */
static size_t count_records(const char *raw, const void *bytes, size_t size, size_t skip)
{
	struct subbuf subbuf;
	struct cursor record;
	size_t n = 0;

	subbuf_begin(&subbuf, cursor_new(raw, NULL, bytes, size), sizeof(long));
	while (subbuf_next(&subbuf, &record))
		n += subbuf.at >= skip;
	return n;
}

/*
 * Copy from @map the sub-buffers that hold unread records: the reader's, and those behind it in
 * the order of the ring, until there are @entries records. Those that follow were consumed or
 * erased. Returns the number of records.
 */
static size_t copy_mapped(struct trace *trace, struct cpu_pages *pages, const char *raw,
			  const char *map, const struct trace_buffer_meta *meta, size_t entries)
{
	size_t size = meta->subbuf_size, id = meta->reader.id, skip = meta->reader.read;
	const char *from = map + meta->meta_page_size + id * size;
	char *data = resize(NULL, meta->nr_subbufs, size), *to = data;
	size_t records = 0, n;
	unsigned long commit;

	for (; id < meta->nr_subbufs && records < entries; id++, from += size, skip = 0) {
		memcpy(to, from, size);
		/* All losses are in @before and @after. */
		memcpy(&commit, to + COMMIT_AT, sizeof(commit));
		commit &= COMMIT_SIZE;
		memcpy(to + COMMIT_AT, &commit, sizeof(commit));
		n = count_records(raw, to, size, skip);
		if (!n)
			continue;
		if (to == data)
			pages->skip = skip;
		records += n;
		to += size;
	}
	pages->pages = cursor_new(trace->name, text("the sub-buffers of CPU %d", pages->cpu), data,
				  to - data);
	trace->subbuf_size = size;
	return records;
}

static void *map(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void read_mapped(struct trace *trace, struct cpu_pages *pages, const char *raw,
			const struct cpu_stats *stats)
{
	int fd = open(raw, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size_t size = sysconf(_SC_PAGESIZE), n;
	struct trace_buffer_meta meta;
	void *from;

	if (fd < 0)
		die("%s: %s", raw, strerror(errno));
	from = map(fd, size);
	if (from) {
		/* A copy, as sizes in the mapping could change. */
		memcpy(&meta, from, sizeof(meta));
		munmap(from, size);
		/* (The header of each is read before its bytes.) */
		if (meta.subbuf_size < 4096)
			die("%s: A sub-buffer has %u bytes, expected 4096 or more", raw,
			    meta.subbuf_size);
		size = meta.meta_page_size + (size_t)meta.nr_subbufs * meta.subbuf_size;
		from = map(fd, size);
	}
	if (!from)
		die("%s: Cannot be mapped: %s; --consume reads it", raw, strerror(errno));
	n = copy_mapped(trace, pages, raw, from, &meta, stats->entries);
	munmap(from, size);
	close(fd);

	pages->before = stats->overrun;
	pages->after = stats->dropped;
	if (n != stats->entries)
		die("%s: Found %zu of %llu records: end the program that reads or maps it",
		    raw, n, stats->entries);
}

/* Read until there is nothing, or all that was there at the beginning. */
static void read_pages(struct trace *trace, struct cpu_pages *pages, const char *raw,
		       const struct cpu_stats *stats)
{
	int fd = open(raw, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size_t size = trace->subbuf_size, done = 0, room = 0, nr = 0;
	char *data = NULL;
	ssize_t n = 0;

	if (fd < 0)
		die("%s: %s", raw, strerror(errno));
	while (done < stats->entries) {
		if (nr == room) {
			room = room ? room * 2 : 16;
			data = resize(data, room, size);
		}
		n = read(fd, data + nr * size, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		memset(data + nr * size + n, 0, size - n);
		done += count_records(raw, data + nr++ * size, size, 0);
	}
	if (n < 0 && errno != EAGAIN)
		die("%s: %s", raw, strerror(errno));
	close(fd);
	pages->pages = cursor_new(trace->name, text("the sub-buffers of CPU %d", pages->cpu), data,
				  nr * size);
}

/* Only a kept snapshot has a trace.dat. */
static bool is_kept(const char *dir)
{
	char *dat = text("%s/trace.dat", dir);
	bool kept = !access(dat, F_OK);

	free(dat);
	return kept;
}

static void read_cpus(struct trace *trace, const char *dir, bool consume)
{
	bool kept = is_kept(dir);
	struct cpu_pages *pages;
	struct cpu_stats stats;
	char *cpu_dir, *raw;
	int i;

	for (i = 0; i < trace->nr_cpus; i++) {
		pages = &trace->cpus[i];
		cpu_dir = text("%s/per_cpu/cpu%d", dir, pages->cpu);
		raw = text("%s/trace_pipe_raw", cpu_dir);
		stats = read_stats(cpu_dir);
		if (consume || (kept && stats.entries))
			read_pages(trace, pages, raw, &stats);
		else if (stats.entries)
			read_mapped(trace, pages, raw, &stats);
		else
			pages->before = stats.overrun + stats.dropped;
		if (kept && stats.entries)
			pages->after = stats.dropped;
		free(raw);
		free(cpu_dir);
	}
}

static int compare_cpus(const void *a, const void *b)
{
	return ((const struct cpu_pages *)a)->cpu - ((const struct cpu_pages *)b)->cpu;
}

static void find_cpus(struct trace *trace, const char *dir)
{
	char *path = text("%s/per_cpu", dir);
	struct dirent *entry;
	DIR *d = opendir(path);
	int cpu;

	if (!d)
		die("%s: %s; expected a directory such as /sys/kernel/tracing/instances/NAME",
		    path, strerror(errno));
	while ((entry = readdir(d))) {
		if (sscanf(entry->d_name, "cpu%d", &cpu) == 1)
			trace_add_cpu(trace, cpu);
	}
	closedir(d);
	free(path);
	qsort(trace->cpus, trace->nr_cpus, sizeof(*trace->cpus), compare_cpus);
}

static bool has_line(const char *dir, const char *name, const char *want)
{
	struct cursor text = get_text(dir, name);
	char line[64];

	while (cursor_line(&text, line, sizeof(line))) {
		if (!strcmp(line, want))
			return true;
	}
	return false;
}

static void add_instead(struct trace *trace, const char *name)
{
	char *old = trace->instead;

	trace->instead = text("%s -i %s", old ?: "; its channels or kept snapshots may have some:",
			      name);
	free(old);
}

/* A session records in its channels, and a snapshot takes the records away. */
static void find_instead(struct trace *trace, const char *dir)
{
	struct cursor channels = get_text(dir, "channels");
	char *path = realpath(dir, NULL), *name, line[256];
	struct dirent **kept;
	int i, nr;

	while (cursor_line(&channels, line, sizeof(line))) {
		line[strcspn(line, " \t")] = 0;
		if (*line && *line != '#')
			add_instead(trace, line);
	}
	name = path ? strrchr(path, '/') : NULL;
	if (!name || !name[1])
		return;
	*name++ = 0;
	nr = scandir(path, &kept, NULL, alphasort);
	for (i = 0; i < nr; i++) {
		/* NAME@SEQ, and NAME@SEQ.CHANNEL of that */
		if (!strncmp(kept[i]->d_name, name, strlen(name)) &&
		    (kept[i]->d_name[strlen(name)] == '@' ||
		     (strchr(name, '@') && kept[i]->d_name[strlen(name)] == '.')))
			add_instead(trace, kept[i]->d_name);
	}
	free(path);
}

/* A 0 to tracing_on_all of the top directory stops all instances. */
static bool records(const char *dir)
{
	return reads_as(dir, "tracing_on", '1') && !reads_as(dir, "tracing_on_all", '0') &&
	       !reads_as(dir, "../../tracing_on_all", '0');
}

/**
 * tracefs_read() - read an instance or a kept snapshot
 * @trace:   the trace is stored here
 * @dir:     its directory
 * @cpus:    list of the CPUs to read, NULL for all
 * @consume: consume the records; otherwise they stay, and nothing may be recorded meanwhile
 *
 * An error ends the program.
 */
void tracefs_read(struct trace *trace, const char *dir, const char *cpus, bool consume)
{
	trace->name = text("%s", dir);
	find_cpus(trace, dir);
	trace->global = has_line(dir, "trace_options", "global-buffer");
	trace_want_cpus(trace, cpus);
	if (!consume && records(dir))
		die("%s records: write 0 to tracing_on, convert a kept snapshot, or use --consume",
		    dir);
	read_files(trace, dir);
	/* A ring that was not allocated yet has nothing to read. */
	if (!reads_as(dir, "buffer_allocate", '0'))
		read_cpus(trace, dir, consume);
	find_instead(trace, dir);
	/* After the records: then those of the last ones are there. */
	trace->cmdlines = get_text(dir, "saved_cmdlines");
	trace->tgids = get_text(dir, "saved_tgids");
	trace->printk = get_text(dir, "printk_formats");
	if (!trace->printk.of)
		trace->printk = get_text(dir, "../../printk_formats");
}
