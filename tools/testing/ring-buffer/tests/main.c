// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the scenarios, each in a process of its own, and prints a line for each.
 *   rb-test [-l] [-t name]... [-e name]... [-q] [-x] [-v] [-f] [-j jobs] [-T] [-s stride]
 *           [-n times]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../shim/shim.h"
#include "run.h"

#define MAX_NAMES	64
#define HANG_SECONDS	120	/* of processor time: a scenario that never ends */

static const struct scenario * const tables[] = {
	unit_scenarios, write_scenarios, alloc_scenarios, read_scenarios, iterate_scenarios,
	wait_scenarios, page_scenarios, resize_scenarios, exchange_scenarios, kernel_scenarios,
	stat_scenarios, persist_scenarios, nested_scenarios, remote_scenarios, global_scenarios,
	reader_scenarios, swap_scenarios, cut_scenarios, cut_all_scenarios, share_scenarios,
	pair_scenarios, storm_scenarios, kunit_scenarios,
};

static const char * const kinds[NR_FAULTS] = {
	[F_LOSS] = "loss", [F_LOST] = "lost_events", [F_TIME] = "time", [F_ORDER] = "order",
	[F_DATA] = "data", [F_HIDDEN] = "hidden", [F_PAGE] = "page", [F_STUCK] = "stuck",
	[F_REFUSED] = "refused", [F_WARN] = "warning", [F_VALUE] = "value",
};

long faults[NR_FAULTS], nr_faults, nr_runs, nr_positions, nr_missed;
int verbose, stride = 1, exhaustive;
const char *skipped;
static const char *running;

void fault(enum fault_kind kind, const char *fmt, ...)
{
	va_list ap;

	faults[kind]++;
	if (++nr_faults > (verbose ? 100 : 3))
		return;
	fprintf(stderr, "# %s: %s: ", running, kinds[kind]);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static double seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6 +
	       u.ru_stime.tv_sec + u.ru_stime.tv_usec / 1e6;
}

/* In the child; exit status 0 passed, 1 failed, 4 skipped */
static void run_one(const struct scenario *sc)
{
	int hang = HANG_SECONDS * (exhaustive ? 60 : 1);
	struct rlimit cpu = { hang, hang };
	char line[512];
	int i, n;

	setrlimit(RLIMIT_CPU, &cpu);
	running = sc->name;
	host_quiet = !verbose;
	if (sc->flags & SC_ONE_CPU)
		host_init(1, 1);
	else
		host_init(4, 2);
	host_cpu_switch(0);
	sc->run(sc->arg);
	free_buffers();
	if (skipped) {
		printf("ok %s # SKIP %s\n", sc->name, skipped);
		fflush(stdout);
		_exit(4);
	}
#ifndef __SANITIZE_ADDRESS__
	/* (The checks of the sanitizer go another way with another address.) */
	if (nr_missed)
		fault(F_STUCK, "%ld instructions were not reached again", nr_missed);
#endif
	n = snprintf(line, sizeof(line), "%s %s", nr_faults ? "not ok" : "ok", sc->name);
	if (nr_positions)
		n += snprintf(line + n, sizeof(line) - n, " %ld instructions", nr_positions);
	if (nr_runs)
		n += snprintf(line + n, sizeof(line) - n, " %ld runs", nr_runs);
	if (nr_missed)
		n += snprintf(line + n, sizeof(line) - n, " %ld missed", nr_missed);
	n += snprintf(line + n, sizeof(line) - n, " %.1f s", seconds());
	for (i = 0; i < NR_FAULTS; i++) {
		if (faults[i])
			n += snprintf(line + n, sizeof(line) - n, ", %s %ld", kinds[i], faults[i]);
	}
	printf("%s\n", line);
	fflush(stdout);
	_exit(nr_faults != 0);
}

static const struct scenario *child_of[64];
static pid_t child[64];
static int passed, failed, skips;

static void reap(int jobs)
{
	int status, i;
	pid_t pid = wait(&status);

	for (i = 0; i < jobs && child[i] != pid; i++)
		;
	if (i == jobs)
		return;
	child[i] = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		passed++;
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == 4) {
		skips++;
	} else {
		failed++;
		if (WIFSIGNALED(status))
			printf("not ok %s %s\n", child_of[i]->name,
			       WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ?
			       "does not end" : strsignal(WTERMSIG(status)));
		else if (WEXITSTATUS(status) != 1)
			printf("not ok %s exit status %d\n", child_of[i]->name,
			       WEXITSTATUS(status));
	}
	fflush(stdout);
}

static int running_children(int jobs)
{
	int i, n = 0;

	for (i = 0; i < jobs; i++)
		n += child[i] != 0;
	return n;
}

static void start(const struct scenario *sc, int jobs)
{
	int i;

	/* threads want the processors for themselves */
	while (running_children(jobs) >= (sc->flags & SC_THREADS ? 1 : jobs))
		reap(jobs);
	for (i = 0; child[i]; i++)
		;
	fflush(stdout);
	child_of[i] = sc;
	child[i] = fork();
	if (!child[i])
		run_one(sc);
	if (sc->flags & SC_THREADS)
		reap(jobs);
}

/* By a part of its name, a pattern or, with -e, its whole name */
static int selected(const char *name, char **names, int nr, int whole)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (whole ? !strcmp(names[i], name) :
			    !fnmatch(names[i], name, 0) || strstr(name, names[i]))
			return 1;
	}
	return !nr;
}

int main(int argc, char **argv)
{
	int jobs = sysconf(_SC_NPROCESSORS_ONLN), list = 0, quick = 0, threads = 0, first = 0;
	const struct scenario *sc;
	char *names[MAX_NAMES];
	unsigned int i;
	int times = 1, nr = 0, whole = 0, c, n;

	while ((c = getopt(argc, argv, "lt:e:qxvfj:Ts:n:")) != -1) {
		switch (c) {
		case 'l':
			list = 1;
			break;
		case 'e':
		case 't':
			whole |= c == 'e';
			if (nr < MAX_NAMES)
				names[nr++] = optarg;
			break;
		case 'q':
			quick = 1;
			break;
		case 'x':
			exhaustive = 1;
			break;
		case 'v':
			verbose = 1;
			break;
		case 'f':
			first = 1;
			break;
		case 'j':
			jobs = atoi(optarg);
			break;
		case 'T':
			threads = 1;
			break;
		case 's':
			stride = atoi(optarg);
			break;
		case 'n':
			times = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (jobs < 1 || jobs > 64)
		jobs = 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (sc = tables[i]; sc && sc->name; sc++) {
			if (!selected(sc->name, names, nr, whole) ||
			    (quick && !(sc->flags & SC_QUICK)) ||
			    (threads && !(sc->flags & SC_THREADS)))
				continue;
			if (list)
				printf("%-32s %s\n", sc->name, sc->proves);
			for (n = 0; !list && n < times && !(first && failed); n++)
				start(sc, jobs);
		}
	}
	if (list)
		return 0;
	while (running_children(jobs))
		reap(jobs);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skips);
	return failed != 0;
}
