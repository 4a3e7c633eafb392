// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a CPU's ring buffer in the ways that a shell cannot, for the tests in
 * ftrace/test.d/ring_buffer:
 *
 *   ringbuf_reader map TRACEFS CPU NR
 *	maps the buffer, has NR numbered records written on the CPU, half of
 *	them before the first look, the rest while it reads
 *   ringbuf_reader cut TRACEFS CPU NR
 *	maps the buffer and takes snapshots, so that of each some are read here
 *	and the rest there
 *   ringbuf_reader splice TRACEFS CPU NR
 *	the same with splice()
 *   ringbuf_reader tee TRACEFS CPU NR
 *	the same, and a second pipe has each page, too, while the writer goes on
 *   ringbuf_reader late INSTANCE CPU
 *	splices all whole sub-buffers to a pipe, closes the file, removes the
 *	directory of the instance, and reads the pipe then
 *   ringbuf_reader write TRACEFS CPU FIRST LAST
 *	has records FIRST to LAST written on the CPU
 *   ringbuf_reader rest TRACEFS CPU FIRST LAST
 *	reads half of the sub-buffers by splice(), the rest by read(): they hold
 *	records FIRST to LAST, of two boots at most
 *   ringbuf_reader protection TRACEFS CPU
 *	maps the buffer in each way that must be refused
 *   ringbuf_reader hold TRACEFS CPU
 *	maps the buffer, closes its file, prints "mapped", and waits for a signal
 *   ringbuf_reader wait TRACEFS CPU
 *	one splice() that may sleep
 *   ringbuf_reader drain TRACEFS CPU
 *	splices all whole sub-buffers to nowhere and prints how many, for benchmarks
 *   ringbuf_reader poll FILE [MS]
 *	waits until there is something to read, or so long, and prints "ready" or "not"
 *   ringbuf_reader text FILE
 *	splices all that the file has now to standard output
 *
 * Every number must come once and whole, or belong to the losses that the
 * kernel reports at that place.  Prints "seen lost".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/trace_mmap.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ringbuf_page.h"

/* For each snapshot: as many sub-buffers and more. */
#define CUT_RECORDS	200

/* The bytes that trace_marker puts in front of its text. */
#define PRINT_HEADER	(8 + sizeof(long))

static const char *tracefs;
static int cpu;

static unsigned long last, seen, lost;	/* numbers, so far */
static unsigned long untold;		/* losses: no room for their number */
static uint64_t now;			/* time stamp of the last record */
static int reboots;			/* behind it: the clock may have begun anew */

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (seen %lu, lost %lu, last %lu)\n", seen, lost, last);
	exit(1);
}

static int open_file(const char *name, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tracefs, name);
	fd = open(path, flags);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static int open_cpu(const char *file, int flags)
{
	char name[64];

	snprintf(name, sizeof(name), "per_cpu/cpu%d/%s", cpu, file);
	return open_file(name, flags);
}

static int open_raw(int flags)
{
	return open_cpu("trace_pipe_raw", O_RDONLY | flags);
}

static unsigned long subbuf_bytes(void)
{
	char text[32] = "";
	int fd = open_file("buffer_subbuf_size_kb", O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) <= 0)
		die("buffer_subbuf_size_kb: %s", strerror(errno));
	close(fd);
	return strtoul(text, NULL, 10) * 1024;
}

/* Write records first ... last on the CPU; the child's pid. */
static pid_t write_records(unsigned long first, unsigned long nr)
{
	static const char pad[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	char text[128];
	cpu_set_t set;
	pid_t pid;
	int fd, len;

	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %d: %s", cpu, strerror(errno));
	fd = open_file("trace_marker", O_WRONLY);
	for (; nr; first++, nr--) {
		len = snprintf(text, sizeof(text), "rbt %lu %.*s %lu\n", first,
			       (int)(first % (sizeof(pad) - 1)) + 1, pad, first);
		if (write(fd, text, len) != len)
			die("write of %lu: %s", first, strerror(errno));
	}
	_exit(0);
}

/* Has the writer ended, and well? */
static bool writer_done(pid_t pid, int flags)
{
	int status;

	if (waitpid(pid, &status, flags) != pid)
		return false;
	if (status)
		die("the writer failed: %x", status);
	return true;
}

/* Have half of @nr records written now. Return: the PID of a writer of the others. */
static pid_t write_half(unsigned long nr)
{
	writer_done(write_records(1, nr / 2), 0);
	return write_records(nr / 2 + 1, nr - nr / 2);
}

/* May there be more to read than was seen? Once behind its end: then *@writer is 0. */
static bool goes_on(pid_t *writer)
{
	if (!*writer)
		return false;
	if (writer_done(*writer, WNOHANG))
		*writer = 0;
	else
		sched_yield();
	return true;
}

/* The losses reported before the next record. */
static void tell_lost(unsigned long nr)
{
	lost += nr;
	last += nr;
}

static void check_record(const unsigned char *data, const unsigned char *end)
{
	const char *text = (const char *)data + PRINT_HEADER;
	unsigned long a, b;
	char pad[64];
	int len = 0;

	if (!memchr(text, 0, (const char *)end - text))
		die("a record without an end");
	if (sscanf(text, "rbt %lu %63[x] %lu%n", &a, pad, &b, &len) != 3 || a != b ||
	    text[len] != '\n')
		die("a torn record: %s", text);
	if (untold && a > last) {
		lost += a - last - 1;
		last = a - 1;
		untold = 0;
	}
	if (a != last + 1)
		die("%lu comes after %lu", a, last);
	last = a;
	seen++;
}

/* The events of a sub-buffer in [from, to). */
static void check_events(const struct subbuf *sb, unsigned long from, unsigned long to)
{
	struct page_cursor c;

	if (sb->time < now && reboots) {
		reboots--;
		now = 0;
	}
	page_begin(&c, sb, from, to, now);
	while (page_next(&c))
		check_record(c.data, c.next);
	if (c.fault)
		die("%s, at %llu", c.fault, (unsigned long long)c.now);
	now = c.now;
}

/* The losses that the sub-buffer itself reports: behind its last event. */
static unsigned long page_lost(const struct subbuf *sb, unsigned long page)
{
	unsigned long nr;

	if (!subbuf_lost(sb, page, &nr))
		die("flags %#lx tell of %lu lost", sb->commit, nr);
	if (nr == LOST_UNKNOWN) {
		untold = 1;
		nr = 0;
	}
	return nr;
}

/* A mapped buffer, and how far it was read: up to @from in sub-buffer @id. */
struct mapping {
	const volatile struct trace_buffer_meta *meta;
	const char		*data;
	unsigned long		page;
	unsigned int		id;
	unsigned long		from;
	int			fd;
};

static struct mapping map_open(void)
{
	struct mapping m = { .fd = open_raw(O_NONBLOCK), .id = -1 };

	m.meta = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, m.fd, 0);
	if (m.meta == MAP_FAILED)
		die("mmap of the meta page: %s", strerror(errno));
	m.page = m.meta->subbuf_size;
	m.data = mmap(NULL, m.page * m.meta->nr_subbufs, PROT_READ, MAP_SHARED, m.fd,
		      m.meta->meta_page_size);
	if (m.data == MAP_FAILED)
		die("mmap of %u sub-buffers: %s", m.meta->nr_subbufs, strerror(errno));
	if (m.page != subbuf_bytes())
		die("sub-buffers of %lu bytes", m.page);
	return m;
}

static void map_close(struct mapping *m)
{
	munmap((void *)m->data, m->page * m->meta->nr_subbufs);
	munmap((void *)m->meta, getpagesize());
	close(m->fd);
}

/* One turn; false if there was nothing new. */
static bool map_turn(struct mapping *m)
{
	unsigned long before = seen, told;
	const struct subbuf *sb;

	if (ioctl(m->fd, TRACE_MMAP_IOCTL_GET_READER))
		die("GET_READER: %s", strerror(errno));
	if (m->meta->reader.id >= m->meta->nr_subbufs)
		die("reader is sub-buffer %u of %u", m->meta->reader.id, m->meta->nr_subbufs);
	sb = (const void *)(m->data + m->page * m->meta->reader.id);
	if (m->meta->reader.read > m->page - sizeof(*sb))
		die("%u bytes read of %lu", m->meta->reader.read, m->page);
	if (m->meta->reader.id != m->id) {
		m->id = m->meta->reader.id;
		m->from = 0;
		told = page_lost(sb, m->page);
		if (told && m->meta->reader.lost_events && told != m->meta->reader.lost_events)
			die("%lu lost on the page, %llu in the meta page", told,
			    (unsigned long long)m->meta->reader.lost_events);
		if (!told)
			told = m->meta->reader.lost_events;
		if (told)
			untold = 0;
		tell_lost(told);
	}
	check_events(sb, m->from, m->meta->reader.read);
	m->from = m->meta->reader.read;
	return seen != before;
}

static void read_map(unsigned long nr)
{
	struct mapping m = map_open();
	pid_t writer = write_half(nr);

	do {
		while (map_turn(&m))
			;
	} while (goes_on(&writer));
	if (m.meta->entries != nr || m.meta->overrun != lost || m.meta->read != seen)
		die("meta page: %llu written, %llu overwritten, %llu read",
		    (unsigned long long)m.meta->entries, (unsigned long long)m.meta->overrun,
		    (unsigned long long)m.meta->read);
	map_close(&m);
}

static void check_page(const struct subbuf *sb, unsigned long page)
{
	unsigned long commit = sb->commit & COMMIT_MASK;

	if (commit > page - sizeof(*sb))
		die("commit %lu in %lu", commit, page);
	tell_lost(page_lost(sb, page));
	check_events(sb, 0, commit);
}

/* Pages that are read until there is none any more. */
static void read_pages(int fd, struct subbuf *sb, unsigned long page)
{
	ssize_t ret;

	while ((ret = read(fd, sb, page)) == (ssize_t)page)
		check_page(sb, page);
	if (ret > 0)
		die("read gave %zd bytes", ret);
}

static void take_snapshot(void)
{
	int fd = open_file("snapshot", O_WRONLY);

	if (write(fd, "1", 1) != 1)
		die("snapshot: %s", strerror(errno));
	close(fd);
}

/* Some records are read through the mapping, and the rest is in a snapshot. */
static void read_map_and_cut(unsigned long nr)
{
	unsigned long page = subbuf_bytes(), half = CUT_RECORDS / 2, first = 1;
	struct subbuf *sb = malloc(page);
	struct mapping m = map_open();
	int fd;

	for (; first + CUT_RECORDS <= nr + 1; first += CUT_RECORDS) {
		writer_done(write_records(first, half), 0);
		if (!map_turn(&m))
			die("nothing new");
		take_snapshot();
		fd = open_cpu("snapshot_raw", O_RDONLY);
		read_pages(fd, sb, page);
		close(fd);
		if (last != first + half - 1)
			die("%lu were written before the cut", first + half - 1);
		writer_done(write_records(first + half, half), 0);
		while (map_turn(&m))
			;
	}
	free(sb);
	map_close(&m);
}

/* Take @page bytes out of a pipe. */
static void read_pipe(int fd, struct subbuf *sb, unsigned long page)
{
	unsigned long got = 0;
	ssize_t ret;

	while (got < page) {
		ret = read(fd, (char *)sb + got, page - got);
		if (ret <= 0)
			die("pipe: %s", strerror(errno));
		got += ret;
	}
}

/* Put one sub-buffer into a pipe; false if there was none. */
static bool splice_to_pipe(int fd, int pipe_in, unsigned long page, int flags)
{
	ssize_t ret = splice(fd, NULL, pipe_in, NULL, page, flags);

	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (ret == 0)
		return false;
	if (ret != (ssize_t)page)
		die("splice gave %zd bytes of %lu: %s", ret, page, strerror(errno));
	return true;
}

/* One sub-buffer by way of a pipe; false if there was none. */
static bool splice_page(int fd, struct subbuf *sb, unsigned long page, int flags)
{
	static int pipe_fd[2];

	if (!pipe_fd[1] && pipe(pipe_fd))
		die("pipe: %s", strerror(errno));
	if (!splice_to_pipe(fd, pipe_fd[1], page, flags))
		return false;
	read_pipe(pipe_fd[0], sb, page);
	check_page(sb, page);
	return true;
}

/*
 * One sub-buffer by way of two pipes: the second one has it from the first, and is read
 * when the next one has been read from the first. By then, a page that was given back
 * too early has other records.
 */
static bool tee_page(int fd, struct subbuf *sb, unsigned long page, int flags)
{
	static int a[2], b[2];
	static struct subbuf *before, *again;

	if (!again) {
		if (pipe(a) || pipe(b))
			die("pipe: %s", strerror(errno));
		before = malloc(page);
		again = malloc(page);
		before->commit = 0;
	}
	if (!splice_to_pipe(fd, a[1], page, flags))
		return false;
	if (tee(a[0], b[1], page, 0) != (ssize_t)page)
		die("tee: %s", strerror(errno));
	read_pipe(a[0], sb, page);
	check_page(sb, page);
	if (before->commit) {
		read_pipe(b[0], again, page);
		if (memcmp(again, before, page))
			die("a page in a pipe has changed");
	}
	memcpy(before, sb, page);
	return true;
}

static void read_splice(unsigned long nr,
			bool (*take)(int fd, struct subbuf *sb, unsigned long page, int flags))
{
	unsigned long page = subbuf_bytes();
	struct subbuf *sb = malloc(page);
	int fd = open_raw(O_NONBLOCK);
	pid_t writer = write_half(nr);

	do {
		while (take(fd, sb, page, SPLICE_F_NONBLOCK))
			;
	} while (goes_on(&writer));

	/* splice() takes full sub-buffers only; the last one is not. */
	read_pages(fd, sb, page);
	free(sb);
	close(fd);
}

/* A pipe keeps its pages when the instance is removed. */
static void read_late(void)
{
	unsigned long page = subbuf_bytes(), pages = 0;
	struct subbuf *sb = malloc(page);
	int fd = open_raw(O_NONBLOCK), pipe_fd[2];

	if (pipe(pipe_fd))
		die("pipe: %s", strerror(errno));
	while (splice_to_pipe(fd, pipe_fd[1], page, SPLICE_F_NONBLOCK))
		pages++;
	close(fd);
	/* Another removal waits for a grace period: the memory of the first one is freed then. */
	if (rmdir(tracefs) || mkdir(tracefs, 0755) || rmdir(tracefs))
		die("%s: %s", tracefs, strerror(errno));
	for (; pages; pages--) {
		read_pipe(pipe_fd[0], sb, page);
		check_page(sb, page);
	}
	free(sb);
}

static unsigned long stat_of(const char *name)
{
	int fd = open_cpu("stats", O_RDONLY);
	char text[1024] = "";
	const char *at;

	if (read(fd, text, sizeof(text) - 1) <= 0)
		die("stats: %s", strerror(errno));
	close(fd);
	at = strstr(text, name);
	if (!at)
		die("stats has no %s", name);
	return strtoul(at + strlen(name), NULL, 10);
}

/* Records that somebody else wrote, perhaps before a reboot. */
static void read_rest(unsigned long first)
{
	unsigned long page = subbuf_bytes(), entries = stat_of("entries:");
	struct subbuf *sb = malloc(page);
	int fd = open_raw(O_NONBLOCK);

	last = first - 1;
	reboots = 1;
	while (seen < entries / 2 && splice_page(fd, sb, page, SPLICE_F_NONBLOCK))
		;
	if (!seen)
		die("not one whole sub-buffer, of %lu records", entries);
	read_pages(fd, sb, page);
	if (seen != entries)
		die("%lu records were there", entries);
	free(sb);
	close(fd);
}

/* A mapping that must be refused. */
static void refused(int fd, int prot, int flags, int error, const char *what)
{
	if (mmap(NULL, getpagesize(), prot, flags, fd, 0) != MAP_FAILED)
		die("%s: mapped", what);
	if (errno != error)
		die("%s: %s", what, strerror(errno));
}

/* A mapping can be read, and nothing else. */
static void check_protection(void)
{
	int fd = open_raw(O_NONBLOCK), rw = open_cpu("trace_pipe_raw", O_RDWR | O_NONBLOCK);
	unsigned char core;
	struct mapping m;
	pid_t child;

	refused(fd, PROT_READ, MAP_PRIVATE, EPERM, "private");
	refused(fd, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM, "executable");
	refused(fd, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES, "writable, but not opened so");
	refused(rw, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM, "writable");
	refused(rw, PROT_WRITE, MAP_SHARED, EPERM, "only writable");
	refused(rw, PROT_READ | PROT_WRITE, MAP_PRIVATE, EPERM, "private and writable");
	close(fd);

	m = map_open();
	if (!mprotect((void *)m.meta, getpagesize(), PROT_READ | PROT_WRITE) || errno != EACCES)
		die("mprotect() makes the meta page writable");
	if (!mprotect((void *)m.data, m.page, PROT_READ | PROT_WRITE) || errno != EACCES)
		die("mprotect() makes records writable");
	if (!mprotect((void *)m.data, m.page, PROT_READ | PROT_EXEC) || errno != EACCES)
		die("mprotect() makes records executable");
	if (mremap((void *)m.data, m.page, 4 * m.page * m.meta->nr_subbufs, MREMAP_MAYMOVE) !=
	    MAP_FAILED)
		die("mremap() makes the mapping longer");
	child = fork();
	if (!child)
		_exit(!mincore((void *)m.meta, getpagesize(), &core) || errno != ENOMEM);
	if (child < 0 || !writer_done(child, 0))
		die("fork");
	map_close(&m);
	close(rw);
}

static void hold(void)
{
	struct mapping m = map_open();

	close(m.fd);
	puts("mapped");
	fflush(stdout);
	pause();
}

static unsigned long drain(void)
{
	unsigned long page = subbuf_bytes(), nr = 0;
	int fd = open_raw(O_NONBLOCK), null = open("/dev/null", O_WRONLY);
	int pipe_fd[2];

	if (null < 0 || pipe(pipe_fd))
		die("%s", strerror(errno));
	while (splice(fd, NULL, pipe_fd[1], NULL, page, SPLICE_F_NONBLOCK) == (ssize_t)page) {
		if (splice(pipe_fd[0], NULL, null, NULL, page, 0) != (ssize_t)page)
			die("splice to nowhere: %s", strerror(errno));
		nr++;
	}
	return nr;
}

static int wait_file(const char *file, int ms)
{
	struct pollfd p = { .fd = open(file, O_RDONLY), .events = POLLIN };
	int ret;

	if (p.fd < 0)
		die("%s: %s", file, strerror(errno));
	ret = poll(&p, 1, ms);
	if (ret < 0 || p.revents & POLLERR)
		die("poll: %s", strerror(errno));
	puts(ret ? "ready" : "not");
	return 0;
}

static int splice_text(const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK), pipe_fd[2];
	ssize_t nr, done;

	if (fd < 0 || pipe(pipe_fd))
		die("%s: %s", file, strerror(errno));
	while ((nr = splice(fd, NULL, pipe_fd[1], NULL, 65536, 0)) > 0) {
		for (; nr; nr -= done) {
			done = splice(pipe_fd[0], NULL, STDOUT_FILENO, NULL, nr, 0);
			if (done <= 0)
				die("splice to standard output: %s", strerror(errno));
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long nr, page;

	if (argc >= 3 && !strcmp(argv[1], "poll"))
		return wait_file(argv[2], argc > 3 ? atoi(argv[3]) : -1);
	if (argc >= 3 && !strcmp(argv[1], "text"))
		return splice_text(argv[2]);
	if (argc < 4)
		return 2;
	tracefs = argv[2];
	cpu = atoi(argv[3]);
	if (!strcmp(argv[1], "wait")) {
		int fd = open_raw(0);

		page = subbuf_bytes();
		if (!splice_page(fd, malloc(page), page, 0))
			die("woken for nothing");
	} else if (!strcmp(argv[1], "drain")) {
		printf("%lu\n", drain());
		return 0;
	} else if (!strcmp(argv[1], "late")) {
		read_late();
	} else if (!strcmp(argv[1], "hold")) {
		hold();
	} else if (!strcmp(argv[1], "protection")) {
		check_protection();
	} else if (argc == 6) {
		nr = strtoul(argv[5], NULL, 10);
		if (!strcmp(argv[1], "write")) {
			writer_done(write_records(strtoul(argv[4], NULL, 10),
						  nr + 1 - strtoul(argv[4], NULL, 10)), 0);
			return 0;
		}
		if (strcmp(argv[1], "rest"))
			return 2;
		read_rest(strtoul(argv[4], NULL, 10));
		if (last != nr)
			die("%lu were written", nr);
	} else if (argc == 5) {
		nr = strtoul(argv[4], NULL, 10);
		if (!strcmp(argv[1], "map"))
			read_map(nr);
		else if (!strcmp(argv[1], "cut"))
			read_map_and_cut(nr);
		else if (!strcmp(argv[1], "splice"))
			read_splice(nr, splice_page);
		else if (!strcmp(argv[1], "tee"))
			read_splice(nr, tee_page);
		else
			return 2;
		if (last != nr || seen + lost != nr)
			die("%lu were written", nr);
	} else {
		return 2;
	}
	printf("%lu %lu\n", seen, lost);
	return 0;
}
