// SPDX-License-Identifier: GPL-2.0
/*
 * session_storm [-n NR] [-b HOW] TRACEFS
 *
 * Reads and cuts a session of four instances while a writer on each CPU writes to all of them in
 * turn, and checks that each record comes once. A record has its CPU and its number there. The
 * clock counts, so no two records have the same time. It does:
 *
 *   pipe	trace_pipe of the session, NR * 20 records or more
 *   cuts	NR snapshots of the session, of which each is read
 *   members	the same, while a channel leaves and joins the session between the cuts
 *   churn	NR cuts, while another task makes instances, adds them to the session, records
 *		events in them and removes them
 *
 * Each part makes the instances anew and removes them at its end. Of each it prints
 * "PART.CHECK PASS|FAIL":
 *
 *   once	each number of each CPU is seen once, in all snapshots and what remains
 *   order	per CPU the numbers are 1, 2, 3 ..., but not in members. In the interval of a cut
 *		one channel may be cut off already, and another one not yet. The times of all
 *		records of a snapshot increase; trace_pipe has a record when it is committed
 *   time	records in a snapshot are not later than its cut, others are not earlier
 *   cut	a record that was written before the request of a snapshot is in it or in an earlier
 *		one; one that was begun when the snapshot was there is not; not in members
 *   busy	what must not be removed is refused, and all else is removed at the end
 *
 * A writer that is far ahead waits, so nothing is overwritten. No check depends on time. With -b
 * the test makes one mistake, in one part only, and has to detect it.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>

#include <sys/stat.h>

#include "storm.h"

#define MAX_CPUS	16
#define MAX_RECORDS	(1UL << 22)	/* of a CPU, in a part */
#define NR_PARTS	4		/* of a session: itself and three channels */
#define AHEAD		400		/* records of a CPU that were not seen yet */

/* Between the writers and us. */
static struct shared {
	uint64_t	stop;
	struct writer {
		uint64_t	begun, done;	/* records */
		uint64_t	quota;		/* up to which it may go */
	} __attribute__((aligned(64))) w[MAX_CPUS];
} *shared;

enum { ONCE, ORDER, TIME, CUT, BUSY, NR_CHECKS };
static const char *const checks[] = { "once", "order", "time", "cut", "busy" };

static const struct way broken_ways[] = {
	{ "skip", "pipe" },		/* one record of the merge is not seen */
	{ "twice", "pipe" },		/* one record is seen twice */
	{ "turned", "pipe" },		/* two records of a CPU are seen in the other order */
	{ "channel", "cuts" },		/* a cut misses a channel */
	{ "interval", "cuts" },		/* the cut of another snapshot is believed */
	{ "late", "cuts" },		/* written records are noted too late */
	{ "hold", "churn" },		/* an instance is held that is to be removed */
};

static const char churned[] = "storm_x";
static const char *const parts[NR_PARTS] = { "storm_s", "storm_1", "storm_2", "storm_3" };
static unsigned char *seen[MAX_CPUS];	/* a bit for each number */
static struct {
	uint64_t	last, nr;
} at[MAX_CPUS];
static uint64_t last_time;
static unsigned long nr_seen, nr_busy;
static bool in_order;

/* A cut: its interval, and what was written before the request and begun behind it */
struct cut {
	uint64_t	begin, end;
	uint64_t	before[MAX_CPUS], begun[MAX_CPUS];
};

/* An error is returned, for those that expect one. */
static int try_put(const char *dir, const char *name, const char *text)
{
	int fd = open_file(O_WRONLY | O_TRUNC, "%s/%s", dir, name);
	ssize_t ret = write(fd, text, strlen(text));
	int err = errno;

	close(fd);
	return ret == (ssize_t)strlen(text) ? 0 : err;
}

static void put(const char *dir, const char *name, const char *text)
{
	errno = try_put(dir, name, text);
	if (errno)
		die("%s > %s/%s", text, dir, name);
}

/* ---- the writers --------------------------------------------------------- */

static void write_records(int cpu)
{
	struct writer *w = &shared->w[cpu];
	int fd[NR_PARTS], i, len;
	uint64_t nr = 0;
	char text[64];

	for (i = 0; i < NR_PARTS; i++)
		fd[i] = open_file(O_WRONLY, "%s/trace_marker", parts[i]);
	while (!load(&shared->stop)) {
		if (nr >= load(&w->quota)) {
			usleep(100);
			continue;
		}
		store(&w->begun, ++nr);
		len = snprintf(text, sizeof(text), "storm %d %lu", cpu, (unsigned long)nr);
		/* Not the same one for all CPUs at a time. */
		if (write(fd[(nr * (cpu + 3) + nr / 7) % NR_PARTS], text, len) != len)
			die("record %lu of CPU %d", (unsigned long)nr, cpu);
		store(&w->done, nr);
	}
}

static void allow(void)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		store(&shared->w[cpu].quota, at[cpu].nr + AHEAD);
}

static void stop_writers(void)
{
	store(&shared->stop, 1);
	join_writers(ONCE);
}

/* Until each CPU has written another record. */
static void wait_records(void)
{
	int cpu;
	uint64_t nr;
	int status;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		nr = load(&shared->w[cpu].done);
		if (nr >= load(&shared->w[cpu].quota))
			continue;
		while (load(&shared->w[cpu].done) == nr) {
			if (waitpid(writers[cpu], &status, WNOHANG) > 0)
				die("the writer of CPU %d has ended", cpu);
			usleep(100);
		}
	}
}

/* ---- the records --------------------------------------------------------- */

/* @prev and @cut: cuts before the record and behind it, or NULL. */
static void check_record(int cpu, uint64_t nr, uint64_t time, const struct cut *prev,
			 const struct cut *cut)
{
	bool in_cut = (cut && time >= cut->begin) || (prev && time <= prev->end);
	unsigned char bit = 1 << nr % 8;

	if (cpu < 0 || cpu >= nr_cpus || nr >= MAX_RECORDS) {
		fault(ONCE, "%lu of CPU %d was not written", nr, cpu);
		return;
	}
	if (seen[cpu][nr / 8] & bit)
		fault(ONCE, "%lu of CPU %d comes twice", nr, cpu);
	seen[cpu][nr / 8] |= bit;
	nr_seen++;
	at[cpu].nr++;
	if (in_order && !in_cut && nr != at[cpu].last + 1)
		fault(ORDER, "CPU %d: %lu after %lu", cpu, nr, at[cpu].last);
	if (nr > at[cpu].last)
		at[cpu].last = nr;
	if ((cut || prev) && time <= last_time)
		fault(ORDER, "time %lu after %lu", time, last_time);
	last_time = time;
	if (cut && time > cut->end)
		fault(TIME, "%lu is in the snapshot of %lu..%lu", time, cut->begin, cut->end);
	if (cut && in_order && nr > cut->begun[cpu])
		fault(CUT, "CPU %d: %lu was begun when the snapshot was there", cpu, nr);
	if (prev && in_order && time < prev->begin)
		fault(TIME, "%lu is behind the snapshot of %lu..%lu", time, prev->begin, prev->end);
}

/* The line of a record of ours, with its "[CPU]" and time in front of the name of the event. */
static void check_line(const char *line, const struct cut *prev, const struct cut *cut)
{
	const char *p = strstr(line, ": tracing_mark_write: storm "), *t = p;
	static unsigned long turned_cpu;
	static char turned[256];
	unsigned long cpu, nr;

	if (!p)
		return;
	if (is_broken("channel") && nr_seen > 900 && !strncmp(line, parts[2], 7))
		return;
	if (is_broken("skip") && nr_seen == 77) {
		broken = "skipped";
		return;
	}
	while (t > line && t[-1] != ' ')
		t--;
	if (sscanf(p, ": tracing_mark_write: storm %lu %lu", &cpu, &nr) != 2)
		die("line %s", line);
	if (is_broken("turned") && nr_seen == 77) {
		snprintf(turned, sizeof(turned), "%s", line);
		turned_cpu = cpu;
		broken = "turning";
		return;
	}
	check_record(cpu, nr, strtoul(t, NULL, 10), prev, cut);
	if (is_broken("twice") && nr_seen == 77)
		check_record(cpu, nr, strtoul(t, NULL, 10), prev, cut);
	if (is_broken("turning") && cpu == turned_cpu) {
		broken = "turned back";
		check_line(turned, prev, cut);
	}
}

/* All lines of a file, or of a pipe until it has nothing for the moment. */
static void check_file(int fd, const struct cut *prev, const struct cut *cut)
{
	static char text[1 << 16];
	static size_t have;
	char *line, *end;
	ssize_t n;

	last_time = 0;
	while ((n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		have += n;
		text[have] = 0;
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			/* The instance that churn() makes is small. */
			if (strstr(line, "LOST") && !strstr(line, churned))
				fault(ONCE, "%s", line);
			check_line(line, prev, cut);
		}
		have -= line - text;
		memmove(text, line, have);
	}
	if (n < 0 && errno != EAGAIN)
		die("read");
	if (have)
		fault(ONCE, "the last line has no end");
	have = 0;
}

static void check_end(void)
{
	unsigned long nr;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		for (nr = 1; nr <= shared->w[cpu].done; nr++) {
			if (!(seen[cpu][nr / 8] & 1 << nr % 8))
				fault(ONCE, "%lu of CPU %d is missing", nr, cpu);
		}
		if (at[cpu].nr != shared->w[cpu].done)
			fault(ONCE, "CPU %d: %lu of %lu were seen", cpu, at[cpu].nr,
			      shared->w[cpu].done);
	}
}

/* ---- cuts ---------------------------------------------------------------- */

static void read_interval(struct cut *cut)
{
	static char list[1 << 16];
	int fd = open_file(O_RDONLY, "%s/snapshots", parts[0]);
	const char *p, *last = NULL;
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, list + len, sizeof(list) - 1 - len)) > 0)
		len += n;
	close(fd);
	list[len] = 0;
	for (p = list; (p = strstr(p, " cut=")); p++)
		last = p;
	/* The clock counts, so these are no seconds. */
	if (!last || sscanf(last, " cut=%lu..%lu ", &cut->begin, &cut->end) != 2)
		die("no cut in snapshots");
}

static void take(struct cut *cut)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		cut->before[cpu] = load(&shared->w[cpu].done);
	put(parts[0], "snapshot", "1");
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		cut->begun[cpu] = load(&shared->w[cpu].begun);
		nr_busy += cut->begun[cpu] > cut->before[cpu];
	}
	read_interval(cut);
	if (!is_broken("late"))
		return;
	wait_records();
	for (cpu = 0; cpu < nr_cpus; cpu++)
		cut->before[cpu] = load(&shared->w[cpu].done);
}

static void take_and_check(unsigned long n, struct cut *prev)
{
	struct cut cut;
	int cpu;
	int fd;

	on_cpu(n % nr_cpus);
	wait_records();
	take(&cut);
	fd = open_file(O_RDONLY, "%s/snapshot", parts[0]);
	check_file(fd, n ? prev : NULL, is_broken("interval") && n ? prev : &cut);
	close(fd);
	for (cpu = 0; in_order && cpu < nr_cpus; cpu++) {
		if (at[cpu].last < cut.before[cpu])
			fault(CUT, "CPU %d: %lu was there before the request, the last is %lu",
			      cpu, cut.before[cpu], at[cpu].last);
	}
	allow();
	*prev = cut;
}

static void check_rest(const struct cut *prev)
{
	int fd = open_file(O_RDONLY, "%s/trace", parts[0]);

	check_file(fd, prev, NULL);
	close(fd);
}

/* ---- the parts ----------------------------------------------------------- */

static void make(const char *name, const char *size_kb)
{
	if (mkdir(name, 0755))
		die("mkdir %s", name);
	put(name, "buffer_size_kb", size_kb);
	put(name, "trace_clock", "counter");
}

static void begin_part(const char *name)
{
	int cpu;
	int i;

	part = name;
	in_order = strcmp(part, "members");
	memset(faults, 0, sizeof(faults));
	memset(at, 0, sizeof(at));
	last_time = 0;
	nr_seen = 0;
	nr_busy = 0;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (seen[cpu])
			munmap(seen[cpu], MAX_RECORDS / 8);
		seen[cpu] = map(MAX_RECORDS / 8, MAP_PRIVATE | MAP_NORESERVE);
	}
	for (i = 0; i < NR_PARTS; i++) {
		rmdir(parts[i]);
		make(parts[i], "256");
		if (i)
			put(parts[0], "channels", parts[i]);
	}
	memset(shared, 0, sizeof(*shared));
	allow();
	fork_writers(write_records);
	/* A writer has it open, and it is a channel. */
	wait_records();
	for (i = 0; i < NR_PARTS; i++) {
		if (!rmdir(parts[i]) || errno != EBUSY)
			fault(BUSY, "rmdir %s: %s", parts[i], strerror(errno));
	}
}

static void end_part(void)
{
	int i;

	check_end();
	/* A channel is held by its session, which is not held. */
	if (!rmdir(parts[1]) || errno != EBUSY)
		fault(BUSY, "rmdir of a channel: %s", strerror(errno));
	for (i = 0; i < NR_PARTS; i++) {
		if (rmdir(parts[i]))
			fault(BUSY, "rmdir %s: %s", parts[i], strerror(errno));
	}
	printf("# %s: %lu records, %lu times a CPU wrote while there was a cut\n", part, nr_seen,
	       nr_busy);
	print_checks(NR_CHECKS);
}

static void pipe_part(unsigned long nr)
{
	int fd = open_file(O_RDONLY | O_NONBLOCK, "%s/trace_pipe", parts[0]);

	while (nr_seen < nr * 20) {
		wait_records();
		check_file(fd, NULL, NULL);
		allow();
	}
	stop_writers();
	check_file(fd, NULL, NULL);
	close(fd);
}

static void cuts_part(unsigned long nr)
{
	struct cut prev = {};
	unsigned long n;

	for (n = 0; n < nr; n++)
		take_and_check(n, &prev);
	stop_writers();
	check_rest(&prev);
}

static void members_part(unsigned long nr)
{
	struct cut prev = {};
	char leave[32];
	unsigned long n;

	for (n = 0; n < nr; n++) {
		const char *name = parts[1 + n / 2 % (NR_PARTS - 1)];

		snprintf(leave, sizeof(leave), "%s%s", n % 2 ? "" : "!", name);
		put(parts[0], "channels", leave);
		take_and_check(n, &prev);
	}
	/* All are there again for the rest. */
	if (nr % 2)
		put(parts[0], "channels", leave + 1);
	stop_writers();
	/* The records of the last cut are seen; each channel's rest is in its own buffer. */
	check_rest(&prev);
}

/* Instances come and go; each one is a channel for a while, with events. */
static void churn(void)
{
	unsigned long n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (; !load(&shared->stop); n++) {
		/* Little to read for each cut. */
		make(churned, "8");
		put(churned, "events/sched/enable", "1");
		put(parts[0], "channels", churned);
		if (try_put(parts[0], "channels", churned) != EEXIST || !rmdir(churned) ||
		    errno != EBUSY)
			_exit(3);
		sched_yield();
		if (n % 2)
			put(churned, "events/sched/enable", "0");
		put(parts[0], "channels", "!storm_x");
		/* A reader of the session may have it open. */
		while (rmdir(churned)) {
			if (errno != EBUSY)
				_exit(4);
			usleep(100);
		}
	}
	_exit(n ? 0 : 5);
}

static void churn_part(unsigned long nr)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid)
		churn();
	cuts_part(nr);
	if (waitpid(pid, &status, 0) != pid || status)
		fault(BUSY, "the task that makes instances: status %x", status);
	/* It is open until we exit. */
	if (is_broken("hold"))
		open_file(O_RDONLY, "%s/trace", parts[2]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char	*name;
		void		(*run)(unsigned long nr);
	} all[] = {
		{ "pipe", pipe_part }, { "cuts", cuts_part }, { "members", members_part },
		{ "churn", churn_part },
	};
	unsigned long nr = 500;
	const char *only = begin_storm(argc, argv, &nr, MAX_CPUS, broken_ways,
				       ARRAY_SIZE(broken_ways));
	unsigned int i;

	check_names = checks;
	shared = map(sizeof(*shared), MAP_SHARED);
	if (chdir(argv[optind]) || chdir("instances"))
		die("%s/instances", argv[optind]);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (only && strcmp(only, all[i].name))
			continue;
		begin_part(all[i].name);
		all[i].run(nr);
		end_part();
	}
	return 0;
}
