// SPDX-License-Identifier: GPL-2.0
/*
 * snapshot_storm [-n NR] [-b HOW] TRACEFS
 *
 * Takes snapshots while every CPU writes as fast as it can, and checks that each
 * record is in one snapshot or in the live buffer, once. A record has its CPU, its
 * number there, and a number of all CPUs. In an instance of its own it does:
 *
 *   cuts	NR snapshots by write, each of which is read, while events of the
 *		scheduler and of timers come as well
 *   triggers	snapshots by a trigger that the writers set off, on several CPUs at
 *		once, NR / 50 of which are looked at
 *   kept	the same, and NR / 100 or more are kept
 *   wraps	NR / 20 snapshots by write of rings that are so small that the writers go
 *		round them, before each and while it is read
 *
 * Of each it prints "PART.CHECK PASS|FAIL":
 *
 *   once	per CPU the numbers are 1, 2, 3 ... in this order, and none of those of
 *		all CPUs comes twice, over all snapshots and the live buffer at the end.
 *		Of the triggers' some are missing, but only where a snapshot was
 *		superseded before it was read
 *   time	per CPU the times do not decrease. Records in a snapshot are not later
 *		than its cut; records that are in no snapshot up to it are not earlier
 *   order	records that were written before the request of a snapshot are in it or
 *		in an earlier one; records that were begun after it was there are not
 *   count	the file "snapshots" has counted the requests and the records. Nothing
 *		is lost, except in wraps: there as many numbers are missing in front
 *		of a snapshot's first record as are reported lost
 *
 * A writer that is far ahead waits, so that nothing is overwritten, except in wraps. No
 * check depends on time. With -b the test makes one mistake, see broken_ways, in that part
 * only, and has to detect it. On a machine that is too busy for the writers there would be
 * nothing to detect, so each snapshot then waits for a record.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/futex.h>

#include "ringbuf_page.h"
#include "storm.h"

#define MAX_CPUS	64
#define MAX_RECORDS	(1UL << 32)
#define TAG		0x6d726f74
#define ASK_EVERY	64		/* records, of writers that set off triggers */
#define MOST		256		/* records of a CPU that may be written before a snapshot */
#define AHEAD		32		/* and while one is read */
#define ROUND		1000		/* more records than a ring of wraps holds */
#define LIST_SIZE	(1 << 20)

/* A record that is written to trace_marker_raw, behind a header of the kernel's. */
struct record {
	uint32_t	tag;
	uint32_t	cpu;
	uint64_t	nr;
	uint64_t	all;
};

#define ENTRY_HEADER	8	/* bytes */

/* Between the writers and us. */
static struct shared {
	uint64_t	all;		/* numbers of all CPUs that were given */
	uint64_t	ask_every;
	uint64_t	stop;
	uint32_t	turn;		/* changes when there is something new for writers */
	struct writer {
		uint64_t	begun, done;	/* records */
		uint64_t	quota;		/* up to which it may go */
		uint64_t	asked;		/* for snapshots */
		uint64_t	waited;
		uint32_t	seen;		/* the turn in which it found that it has to wait */
	} __attribute__((aligned(64))) w[MAX_CPUS];
} *shared;

/* A line of "snapshots", and the test's notes about it. */
struct snap {
	uint64_t	seq;
	uint64_t	begin, end;			/* of the cut */
	uint64_t	complete_from, complete_to;
	unsigned long	records[MAX_CPUS], lost[MAX_CPUS];
	uint64_t	before[MAX_CPUS];		/* written when it was asked for */
	uint64_t	begun[MAX_CPUS], all;		/* begun when it was there */
	int		fd[MAX_CPUS];
};

enum { ONCE, TIME, ORDER, COUNT, NR_CHECKS };
static const char *const checks[] = { "once", "time", "order", "count" };

/* Of one part. */
static struct {
	uint64_t	last, now;	/* number and time */
	uint64_t	first;		/* time of the first record of a file */
	uint64_t	part;		/* the same of the last file that had one */
	bool		again;		/* that was the same part of the same snapshot */
	bool		gap;		/* records may be in a snapshot that was not read */
} at[MAX_CPUS];
static struct {
	unsigned long	seen, missing;	/* records of ours */
	unsigned long	others;		/* events */
	unsigned long	inside;		/* records and events, within a cut */
	unsigned long	busy;		/* CPUs that wrote when there was a cut */
	unsigned long	in_a_row;	/* that came behind the one seen before */
	unsigned long	asked;		/* for, by us */
	unsigned long	wrapped;	/* snapshots of a CPU that have lost some */
} nr_of;
/* How many records of a CPU may be written before a snapshot, and while one is read. */
static unsigned long most, ahead;
static bool wrapping;
static unsigned char *bitmap;

static const struct way broken_ways[] = {
	{ "skip", "cuts" },		/* one CPU of a snapshot is not read */
	{ "twice", "cuts" },		/* a page is read twice */
	{ "interval", "cuts" },		/* the cut of another snapshot is believed */
	{ "late", "cuts" },		/* written records are noted too late */
	{ "early", "cuts" },		/* begun records are noted too early */
	{ "records", "cuts" },		/* one record more was there */
	{ "requests", "triggers" },	/* one more was asked for */
	{ "hole", "triggers" },		/* the second record of a page is not seen */
	{ "leave", "kept" },		/* of those that are kept, only the newest is seen */
	{ "lost", "wraps" },		/* one record more was lost */
};

static int raw_type, list_fd = -1;
static unsigned long page_size;
static struct subbuf *page;
static char *list;

static void put(const char *file, const char *text)
{
	int fd = open_file(O_WRONLY | O_TRUNC, "%s", file);

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("%s > %s", text, file);
	close(fd);
}

static void get(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = pread(fd, text + len, size - 1 - len, len)) > 0)
		len += n;
	if (n < 0)
		die("read");
	text[len] = 0;
}

static unsigned long get_number(const char *file, const char *before)
{
	char text[4096], *p;
	int fd = open_file(O_RDONLY, "%s", file);

	get(fd, text, sizeof(text));
	close(fd);
	p = strstr(text, before);
	if (!p)
		die("no \"%s\" in %s", before, file);
	return strtoul(p + strlen(before), NULL, 10);
}

/* ---- the writers --------------------------------------------------------- */

static void write_records(int cpu)
{
	struct record r = { .tag = TAG, .cpu = cpu };
	struct writer *w = &shared->w[cpu];
	int raw, marker;
	uint32_t turn;

	raw = open_file(O_WRONLY, "trace_marker_raw");
	marker = open_file(O_WRONLY, "trace_marker");
	for (;;) {
		turn = load(&shared->turn);
		if (load(&shared->stop))
			break;
		/* Not to spin, nor to poll: that would be other events, as many as it likes. */
		if (r.nr >= load(&w->quota)) {
			w->waited++;
			store(&w->seen, turn);
			syscall(SYS_futex, &shared->turn, FUTEX_WAIT, turn, NULL, NULL, 0);
			continue;
		}
		r.nr++;
		store(&w->begun, r.nr);
		r.all = __atomic_fetch_add(&shared->all, 1, __ATOMIC_SEQ_CST);
		if (write(raw, &r, sizeof(r)) != sizeof(r))
			die("record %lu of CPU %d", (unsigned long)r.nr, cpu);
		store(&w->done, r.nr);
		if (shared->ask_every && !(r.nr % shared->ask_every)) {
			if (write(marker, "ask", 3) != 3)
				die("trace_marker");
			w->asked++;
		}
	}
}

static void wake_writers(void)
{
	__atomic_fetch_add(&shared->turn, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &shared->turn, FUTEX_WAKE, MAX_CPUS, NULL, NULL, 0);
}

static void start_writers(int ask_every)
{
	int cpu;

	memset(shared, 0, sizeof(*shared));
	shared->ask_every = ask_every;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		shared->w[cpu].quota = ahead;
	fork_writers(write_records);
}

static void stop_writers(void)
{
	store(&shared->stop, 1);
	wake_writers();
	join_writers(COUNT);
}

/* One that has failed would never go on. */
static void check_writers(void)
{
	int status;

	if (waitpid(-1, &status, WNOHANG) > 0) {
		errno = ECHILD;
		die("a writer has ended");
	}
}

/* ---- the file "snapshots" ------------------------------------------------ */

static void read_list(void)
{
	if (list_fd < 0)
		list_fd = open_file(O_RDONLY, "snapshots");
	get(list_fd, list, LIST_SIZE);
}

static unsigned long count_of(const char *what)
{
	const char *p = strstr(list, what);

	if (!p)
		die("no \"%s\" in snapshots", what);
	return strtoul(p + strlen(what), NULL, 10);
}

static unsigned long taken(void)
{
	read_list();
	return count_of("# taken: ");
}

static const char *field(const char *line, const char *name)
{
	const char *p = strstr(line, name), *end = strchr(line, '\n');

	if (!p || (end && p > end))
		die("no %s in snapshots", name);
	return p + strlen(name);
}

static void parse_times(const char *text, uint64_t *a, uint64_t *b)
{
	unsigned long as, an, bs, bn;

	if (sscanf(text, "%lu.%9lu..%lu.%9lu", &as, &an, &bs, &bn) != 4)
		die("no times: %.40s", text);
	*a = as * 1000000000 + an;
	*b = bs * 1000000000 + bn;
}

static void parse_counts(const char *text, unsigned long *n)
{
	char *end;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		n[cpu] = strtoul(text, &end, 10);
		text = end + (*end == ',');
	}
}

/* A line of "snapshots". The fields that we have filled in ourselves stay. */
static void parse_snap(const char *line, struct snap *s)
{
	s->seq = strtoul(line, NULL, 10);
	parse_times(field(line, " cut="), &s->begin, &s->end);
	parse_times(field(line, " complete="), &s->complete_from, &s->complete_to);
	parse_counts(field(line, " records="), s->records);
	parse_counts(field(line, " lost="), s->lost);
}

static const char *first_line(void)
{
	const char *p = list;

	while (*p == '#' && strchr(p, '\n'))
		p = strchr(p, '\n') + 1;
	return p;
}

/* Each line that begins with a number is of one; the newest is the last. */
static bool newest(struct snap *s)
{
	const char *p = first_line(), *next;

	if (*p < '0' || *p > '9')
		return false;
	while ((next = strchr(p, '\n')) && next[1] >= '0' && next[1] <= '9')
		p = next + 1;
	/* "snapshots come too fast to be listed" */
	if (next && next[1])
		return false;
	parse_snap(p, s);
	return true;
}

/* ---- the records --------------------------------------------------------- */

/* Bounds of the records that may be read now. */
struct view {
	const struct snap	*prev, *snap;	/* known cuts before and behind it, or NULL */
	uint64_t		begun, all;	/* or behind that, none in it was begun */
	bool			again;		/* it may have been seen before, as a whole */
};

/* Of any event. */
static void check_time(const struct view *v, int cpu, uint64_t time)
{
	if (time < at[cpu].now)
		fault(TIME, "CPU %d: %lu after %lu", cpu, time, at[cpu].now);
	at[cpu].now = time;
	if (v->prev && time < v->prev->begin)
		fault(TIME, "CPU %d: %lu, and was not in the snapshot of %lu..%lu", cpu, time,
		      v->prev->begin, v->prev->end);
	if (v->snap && time > v->snap->end)
		fault(TIME, "CPU %d: %lu is in the snapshot of %lu..%lu", cpu, time,
		      v->snap->begin, v->snap->end);
	nr_of.inside += (v->prev && time <= v->prev->end) || (v->snap && time >= v->snap->begin);
}

static void check_number(const struct view *v, int cpu, const struct record *r)
{
	uint64_t want = at[cpu].last + 1;
	unsigned char bit = 1 << r->all % 8;

	if (r->tag != TAG || r->cpu != (uint32_t)cpu || r->all >= MAX_RECORDS) {
		fault(ONCE, "CPU %d: not a record that was written", cpu);
		return;
	}
	if (at[cpu].gap && r->nr > want)
		nr_of.missing += r->nr - want;
	else if (r->nr != want)
		fault(ONCE, "CPU %d: %lu after %lu", cpu, r->nr, want - 1);
	at[cpu].last = r->nr;
	/* Those behind it come without one. */
	at[cpu].gap = false;

	if (bitmap[r->all / 8] & bit)
		fault(ONCE, "CPU %d: %lu of all comes twice", cpu, r->all);
	bitmap[r->all / 8] |= bit;
	nr_of.seen++;

	if (r->nr > v->begun || r->all >= v->all)
		fault(ORDER, "CPU %d: %lu was begun when the snapshot was there", cpu, r->nr);
}

/* @lost: in front of it. */
static unsigned long check_page(const struct view *v, int cpu, unsigned long lost)
{
	unsigned long commit = page->commit & COMMIT_MASK, n = 0, told;
	struct page_cursor c;
	struct record r;
	uint16_t type;

	/* A number that has no room is in the list of snapshots, and there only. */
	if (!subbuf_lost(page, page_size, &told) || (told != lost && told != LOST_UNKNOWN) ||
	    (told && !lost))
		fault(COUNT, "CPU %d: a page says that %ld are lost, not %lu", cpu, (long)told,
		      lost);
	if (commit > page_size - sizeof(*page))
		die("CPU %d: commit %lu", cpu, commit);
	page_begin(&c, page, 0, commit, 0);
	for (; page_next(&c); n++) {
		if (!at[cpu].first) {
			at[cpu].first = c.now;
			at[cpu].again = v->again && c.now == at[cpu].part;
			at[cpu].part = c.now;
		}
		if (at[cpu].again) {
			if (c.now > at[cpu].now)
				fault(ONCE, "CPU %d: a part has a later record now", cpu);
			continue;
		}
		check_time(v, cpu, c.now);
		memcpy(&type, c.data, sizeof(type));
		if (n == 1 && is_broken("hole"))
			continue;
		if (type != raw_type || (size_t)(c.next - c.data) < ENTRY_HEADER + sizeof(r)) {
			nr_of.others++;
			continue;
		}
		memcpy(&r, c.data + ENTRY_HEADER, sizeof(r));
		check_number(v, cpu, &r);
	}
	if (c.fault)
		fault(ONCE, "CPU %d: %s", cpu, c.fault);
	return n;
}

/* All of a file that gives pages, @lost in front of the first; how many records. */
static unsigned long check_file(const struct view *v, int cpu, int fd, unsigned long lost)
{
	unsigned long n = 0, pages = 0;
	ssize_t ret;

	nr_of.missing += lost;
	at[cpu].last += lost;
	at[cpu].first = 0;
	while ((ret = read(fd, page, page_size)) == (ssize_t)page_size) {
		n += check_page(v, cpu, lost);
		lost = 0;
		if (!pages++ && is_broken("twice"))
			check_page(v, cpu, lost);
	}
	if (lost)
		fault(COUNT, "CPU %d: %lu lost in front of nothing", cpu, lost);
	if (ret > 0 || (ret < 0 && errno != EAGAIN))
		die("CPU %d: read %zd", cpu, ret);
	return n;
}

static void check_counts(const struct snap *s, int cpu, unsigned long n)
{
	if (n != s->records[cpu] + is_broken("records"))
		fault(COUNT, "CPU %d: snapshot %lu says it has %lu records, and has %lu", cpu,
		      s->seq, s->records[cpu], n);
	if (s->lost[cpu] && !wrapping)
		fault(COUNT, "CPU %d: snapshot %lu has lost %lu", cpu, s->seq, s->lost[cpu]);
	nr_of.wrapped += s->lost[cpu] > 0;
}

static void check_interval(const struct snap *prev, const struct snap *s)
{
	if (s->begin > s->end || s->complete_to != s->begin)
		fault(TIME, "snapshot %lu: cut %lu..%lu, complete to %lu", s->seq, s->begin,
		      s->end, s->complete_to);
	if (prev && s->seq == prev->seq + 1 &&
	    ((s->complete_from != prev->end && !wrapping) || s->begin < prev->end))
		fault(TIME, "snapshot %lu: cut %lu..%lu, complete from %lu, the last cut %lu..%lu",
		      s->seq, s->begin, s->end, s->complete_from, prev->begin, prev->end);
}

/* Of one that was read: it is complete from the last cut on, or from where none has lost any. */
static void check_complete(const struct snap *prev, const struct snap *s)
{
	uint64_t from = prev->end;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (s->lost[cpu] && at[cpu].first > from)
			from = at[cpu].first;
	}
	/* A ring that wraps while the cut takes its time leaves no span. */
	if (from > s->begin)
		from = s->begin;
	if (s->complete_from != from)
		fault(TIME, "snapshot %lu: complete from %lu, not %lu", s->seq, s->complete_from,
		      from);
}

/* The live buffer when the writers have ended. */
static void check_live(const struct snap *prev)
{
	unsigned long lost;
	char stats[64];
	int cpu, fd;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		struct view v = { .prev = prev, .begun = UINT64_MAX, .all = UINT64_MAX };

		fd = open_file(O_RDONLY | O_NONBLOCK, "per_cpu/cpu%d/trace_pipe_raw", cpu);
		snprintf(stats, sizeof(stats), "per_cpu/cpu%d/stats", cpu);
		lost = get_number(stats, "\noverrun: ");
		if (lost && !wrapping)
			fault(COUNT, "CPU %d: %lu are lost at the end", cpu, lost);
		check_file(&v, cpu, fd, wrapping ? lost : 0);
		close(fd);
		if (at[cpu].gap)
			nr_of.missing += shared->w[cpu].done - at[cpu].last;
		else if (at[cpu].last != shared->w[cpu].done)
			fault(ONCE, "CPU %d: the last is %lu of %lu", cpu, at[cpu].last,
			      shared->w[cpu].done);
	}
	if (nr_of.seen + nr_of.missing != shared->all)
		fault(ONCE, "%lu seen, %lu missing, of %lu", nr_of.seen, nr_of.missing,
		      shared->all);
}

/* Each of @asked requests was answered, merged or refused. */
static void check_requests(unsigned long asked)
{
	static const char *const why[] = {
		"# refused, no buffer was ready: ", "# refused, something was in the way: ",
		"# refused, enough are kept: ", "# refused, too late for another: ",
		"# refused, recording was off: ",
	};
	unsigned long got, merged, refused = 0, i;

	read_list();
	got = count_of("# taken: ");
	merged = count_of("# merged into another: ");
	for (i = 0; i < ARRAY_SIZE(why); i++)
		refused += count_of(why[i]);
	printf("# %s: %lu requests: %lu taken, %lu merged, %lu refused\n", part, asked, got, merged,
	       refused);
	if (got + merged + refused != asked + is_broken("requests"))
		fault(COUNT, "%lu requests", asked);
	if (count_of("# could not be kept: "))
		fault(COUNT, "%lu could not be kept", count_of("# could not be kept: "));
}

/* ---- the parts ----------------------------------------------------------- */

static void begin_part(const char *name, const char *size_kb)
{
	part = name;
	wrapping = !strcmp(part, "wraps");
	most = wrapping ? 4 * ROUND : MOST;
	ahead = wrapping ? 4 * ROUND : AHEAD;
	memset(faults, 0, sizeof(faults));
	memset(at, 0, sizeof(at));
	memset(&nr_of, 0, sizeof(nr_of));
	if (bitmap)
		munmap(bitmap, MAX_RECORDS / 8);
	bitmap = map(MAX_RECORDS / 8, MAP_PRIVATE | MAP_NORESERVE);
	put("buffer_size_kb", size_kb);
	put("trace_clock", "global");
	put("trace", "");
	put("snapshot_allocate", "1");
	/*
	 * A record has 48 bytes at most, and there may be twice as many. Without wrapping
	 * that is a small part of the buffer, and with it more than all of it.
	 */
}

static void end_part(void)
{
	unsigned long waited = 0;
	int i;

	for (i = 0; i < nr_cpus; i++)
		waited += shared->w[i].waited;
	printf("# %s: %lu records written, %lu seen, %lu %s, ", part, shared->all, nr_of.seen,
	       nr_of.missing, wrapping ? "lost" : "in snapshots that nobody saw");
	printf("%lu other events, %lu within a cut, writers waited %lu times\n", nr_of.others,
	       nr_of.inside, waited);
	print_checks(NR_CHECKS);
}

static void progress(unsigned long n, unsigned long of)
{
	static time_t start;

	if (!start || n < 2)
		start = time(NULL);
	if (n % (of < 10 ? 1 : of / 10))
		return;
	printf("# %s: %lu of %lu snapshots, %lu records, %ld s\n", part, n, of, nr_of.seen,
	       (long)(time(NULL) - start));
	fflush(stdout);
}

/* The numbers that are written and begun now. */
static void note_done(uint64_t *done)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		done[cpu] = load(&shared->w[cpu].done);
}

static void note_begun(struct snap *s)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		s->begun[cpu] = load(&shared->w[cpu].begun);
	s->all = load(&shared->all);
}

/* So many may be written behind those. */
static void allow(const uint64_t *from, unsigned long nr)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		store(&shared->w[cpu].quota, from[cpu] + nr);
	wake_writers();
}

static void open_snap(struct snap *s)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		s->fd[cpu] = open_file(O_RDONLY, "per_cpu/cpu%d/snapshot_raw", cpu);
}

/* To wait in no time that would matter, and for long without many other events. */
static void nap(unsigned int *us)
{
	check_writers();
	usleep(*us);
	if (*us < 20000)
		*us *= 2;
}

/* Let the writers go on, until the first one does. */
static void get_going(void)
{
	uint64_t done[MAX_CPUS] = {};
	unsigned int us = 50, turns = 0;
	int cpu = 0;

	note_done(done);
	allow(done, most);
	while (load(&shared->w[cpu].begun) == done[cpu]) {
		cpu = (cpu + 1) % nr_cpus;
		/* A task that sleeps comes too late. */
		if (++turns > 2000)
			nap(&us);
	}
}

/* Until a writer has written record @nr, however busy the machine is. */
static void go_on(int cpu, uint64_t nr)
{
	while (load(&shared->w[cpu].done) < nr)
		get_going();
}

static void take(int fd, struct snap *s, uint64_t seq)
{
	uint64_t last = load(&shared->w[0].begun);
	int cpu = seq % nr_cpus;

	get_going();
	/* Each has a record of CPU 0, begun and written since the one before. */
	if (*broken)
		go_on(0, last + 1);
	/* Round the ring of one of them. */
	if (wrapping)
		go_on(cpu, load(&shared->w[cpu].begun) + ROUND);
	note_done(s->before);
	if (is_broken("early")) {
		note_begun(s);
		go_on(0, s->begun[0] + 1);
	}
	if (write(fd, "1", 1) != 1)
		die("1 > snapshot");
	if (!is_broken("early"))
		note_begun(s);
	allow(s->begun, ahead);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		nr_of.busy += s->begun[cpu] > s->before[cpu];
	if (is_broken("late")) {
		go_on(0, s->begun[0] + 1);
		note_done(s->before);
	}
	/* Once it is open all is in it that will be, and can be counted. */
	open_snap(s);
	read_list();
	if (!newest(s) || s->seq != seq)
		fault(COUNT, "snapshot %lu is not in the list", seq);
}

static void check_snap(const struct snap *prev, struct snap *s)
{
	unsigned long n;
	int cpu;

	check_interval(prev, s);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		struct view v = { .prev = prev, .snap = s, .begun = s->begun[cpu], .all = s->all };

		if (is_broken("interval") && prev)
			v.snap = prev;
		if (!is_broken("skip") || cpu || s->seq != 3) {
			n = check_file(&v, cpu, s->fd[cpu],
				       wrapping ? s->lost[cpu] + is_broken("lost") : 0);
			check_counts(s, cpu, n);
			if (at[cpu].last < s->before[cpu])
				fault(ORDER, "CPU %d: %lu was there before %lu was asked for", cpu,
				      s->before[cpu], s->seq);
		}
		close(s->fd[cpu]);
	}
	if (wrapping && prev)
		check_complete(prev, s);
}

/* @nr snapshots by write, for "cuts" and "wraps". */
static void take_and_check(unsigned long nr)
{
	struct snap snaps[3] = {}, *s = NULL, *next, *prev;
	unsigned long n = 0;
	int fd, cpu;

	fd = open_file(O_WRONLY, "snapshot");
	start_writers(0);
	while (n < nr) {
		/* From every CPU, and those that write there are interrupted. */
		on_cpu(n / 16 % nr_cpus);
		prev = s;
		s = &snaps[n % 3];
		take(fd, s, ++n);
		progress(n, nr);
		if (n % 64 || n == nr) {
			check_snap(prev, s);
		} else {
			/* One that is open stays when another one is taken. */
			next = &snaps[n % 3];
			take(fd, next, ++n);
			progress(n, nr);
			check_snap(prev, s);
			check_snap(s, next);
			s = next;
		}
		check_writers();
	}
	stop_writers();
	put("events/enable", "0");
	close(fd);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		on_cpu(cpu);	/* all records there are committed */
	check_live(s);
	check_requests(nr);
	printf("# %s: at a cut %.2f CPUs were writing\n", part, (double)nr_of.busy / nr);
}

static void cuts(unsigned long nr)
{
	begin_part("cuts", "1024");
	put("events/sched/enable", "1");
	put("events/timer/enable", "1");
	take_and_check(nr);
	if (!nr_of.others)
		fault(COUNT, "no other event was recorded");
	end_part();
}

/* Nothing but our records, so that the number of those that are lost is that of ours. */
static void wraps(unsigned long nr)
{
	begin_part("wraps", "16");
	take_and_check(nr);
	printf("# %s: %lu times a CPU's ring had lost some\n", part, nr_of.wrapped);
	if (nr_of.wrapped < nr)
		fault(COUNT, "%lu rings of %lu snapshots have lost some", nr_of.wrapped, nr);
	end_part();
}

/* Have all writers wait: then none of them asks for a snapshot. */
static void wait_calm(void)
{
	unsigned int us = 50;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		while (load(&shared->w[cpu].seen) != load(&shared->turn))
			nap(&us);
	}
}

/*
 * Calm them down. Before they wait again, each asks once, or has written without
 * asking.
 */
static void calm_down(bool asks)
{
	uint64_t done[MAX_CPUS] = {};
	int cpu;

	allow(done, 0);
	wait_calm();
	note_done(done);
	for (cpu = 0; asks && cpu < nr_cpus; cpu++)
		done[cpu] += ASK_EVERY - done[cpu] % ASK_EVERY;
	allow(done, ASK_EVERY / 4);
	wait_calm();
}

/*
 * Ask for one, so that they come even if all writers wait. If there has been one, they
 * may write @nr more: then true.
 */
static bool ask(int marker, unsigned long nr)
{
	uint64_t done[MAX_CPUS] = {};
	unsigned long before;

	note_done(done);
	before = taken();
	if (write(marker, "ask", 3) != 3)
		die("trace_marker");
	nr_of.asked++;
	check_writers();
	if (taken() == before)
		return false;
	allow(done, nr);
	return true;
}

static unsigned long all_asked(void)
{
	unsigned long n = nr_of.asked;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		n += shared->w[cpu].asked;
	return n;
}

/* Those that ask have come to their end. */
static void end_storm(void)
{
	stop_writers();
	put("events/ftrace/print/trigger", "!snapshot");
}

/*
 * Look at the newest. Its number is between two counts of those that were taken; if
 * these are the same, it is known, and so is all that @s has to say: then true.
 * @from is the first of these counts, and was that of the look before.
 */
static bool look(const struct snap *known, struct snap *s, uint64_t *from)
{
	uint64_t first = taken(), end;
	unsigned long n;
	bool exact;
	int cpu;

	open_snap(s);
	read_list();
	end = count_of("# taken: ");
	exact = first == end && newest(s) && s->seq == first;
	if (exact)
		check_interval(known, s);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		struct view v = {
			.prev = known && known->seq < first ? known : NULL,
			.snap = exact ? s : NULL,
			.begun = UINT64_MAX,
			.all = UINT64_MAX,
			/* Nothing is consumed, and a look may have met the next snapshot. */
			.again = true,
		};

		/* There may be one between that was not read. */
		if (end > *from + 1)
			at[cpu].gap = true;
		n = check_file(&v, cpu, s->fd[cpu], 0);
		if (exact)
			check_counts(s, cpu, n);
		close(s->fd[cpu]);
	}
	nr_of.in_a_row += exact && end == *from + 1;
	*from = first;
	return exact;
}

static void triggers(unsigned long nr)
{
	struct snap snaps[2] = {}, *known = NULL, *s = &snaps[0];
	unsigned long n = 0, exact = 0;
	uint64_t from = 0;
	int marker;

	begin_part("triggers", "1024");
	put("events/ftrace/print/trigger", "snapshot");
	marker = open_file(O_WRONLY, "trace_marker");
	start_writers(ASK_EVERY);
	while (n < nr) {
		on_cpu(n / 16 % nr_cpus);
		/*
		 * In a storm; then with a known snapshot; then the one behind that, with
		 * none between, as there was no other request.
		 */
		if (n % 3)
			calm_down(n % 3 == 1);
		if (!ask(marker, n % 3 ? 0 : MOST))
			continue;
		if (look(known, s, &from)) {
			exact++;
			known = s;
			s = &snaps[s == &snaps[0]];
		}
		progress(++n, nr);
	}
	end_storm();
	/* Nothing comes any more. */
	if (!look(known, s, &from))
		fault(COUNT, "the last one is not in the list");
	check_live(s);
	check_requests(all_asked());
	printf("# %s: of %lu it was known which one was seen, %lu came behind the one before\n",
	       part, exact, nr_of.in_a_row);
	if (!nr_of.in_a_row)
		fault(COUNT, "no two were seen that came one after the other");
	close(marker);
	end_part();
}

/* Check the kept snapshots, one after the other. */
static unsigned long check_kept(struct snap *last)
{
	struct snap snaps[2] = {}, *prev = NULL, *s = &snaps[0];
	unsigned long kept = 0;
	const char *p, *next;
	int cpu, fd;

	read_list();
	for (p = first_line(); *p; p = next, kept++) {
		char name[64];

		next = strchr(p, '\n') + 1;
		parse_snap(p, s);
		check_interval(prev, s);
		if (sscanf(field(p, " instance="), "%63s", name) != 1)
			die("instance");
		if (prev && s->seq != prev->seq + 1)
			fault(COUNT, "snapshot %lu comes after %lu", s->seq, prev->seq);
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			struct view v = { prev, s, UINT64_MAX, UINT64_MAX };

			if (is_broken("leave") && *next)
				continue;
			fd = open_file(O_RDONLY | O_NONBLOCK,
				       "../%s/per_cpu/cpu%d/trace_pipe_raw", name, cpu);
			check_counts(s, cpu, check_file(&v, cpu, fd, 0));
			close(fd);
		}
		*last = *s;
		prev = s;
		s = &snaps[s == &snaps[0]];
	}
	return kept;
}

static void kept(unsigned long nr)
{
	struct snap last = {};
	unsigned long n, before = 0;
	int marker;

	begin_part("kept", "1024");
	put("snapshot_keep", "last 1000000");
	put("events/ftrace/print/trigger", "snapshot");
	marker = open_file(O_WRONLY, "trace_marker");
	start_writers(ASK_EVERY);
	while (before < nr) {
		/* Each time a writer has begun another record: some are in them. */
		get_going();
		if (ask(marker, MOST))
			before = taken();
	}
	end_storm();
	n = check_kept(&last);
	if (n != taken())
		fault(COUNT, "%lu of %lu are kept", n, taken());
	check_live(&last);
	check_requests(all_asked());
	printf("# %s: %lu snapshots\n", part, n);
	close(marker);
	put("snapshot_keep", "0");
	end_part();
}

/* An instance for each part: its counts begin at 0. */
static void begin_instance(const char *tracefs)
{
	if (chdir(tracefs) || chdir("instances"))
		die("%s/instances", tracefs);
	if ((rmdir("storm") && errno != ENOENT) || mkdir("storm", 0755) || chdir("storm"))
		die("instances/storm");
	page_size = get_number("buffer_subbuf_size_kb", "") * 1024;
	page = realloc(page, page_size);
	if (!page)
		die("malloc");
}

static void end_instance(void)
{
	close(list_fd);
	list_fd = -1;
	if (chdir("..") || rmdir("storm"))
		die("rmdir instances/storm");
}

int main(int argc, char **argv)
{
	static const struct {
		const char	*name;
		void		(*run)(unsigned long nr);
		unsigned int	share;
	} parts[] = {
		{ "cuts", cuts, 1 }, { "triggers", triggers, 50 }, { "kept", kept, 100 },
		{ "wraps", wraps, 20 },
	};
	unsigned long nr = 10000;
	const char *only = begin_storm(argc, argv, &nr, MAX_CPUS, broken_ways,
				       ARRAY_SIZE(broken_ways));
	unsigned int i;

	check_names = checks;
	shared = map(sizeof(*shared), MAP_SHARED);
	list = map(LIST_SIZE, MAP_PRIVATE);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (only && strcmp(only, parts[i].name))
			continue;
		begin_instance(argv[optind]);
		raw_type = get_number("../../events/ftrace/raw_data/format", "ID: ");
		parts[i].run(nr / parts[i].share < 10 ? 10 : nr / parts[i].share);
		end_instance();
	}
	return 0;
}
