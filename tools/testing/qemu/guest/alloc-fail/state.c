// SPDX-License-Identifier: GPL-2.0
/*
 * The state that a failed operation must not change: files of the instance, and every
 * record.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc-fail.h"

/*
 * To list the snapshots first does what is still to be done about them.  Of "stats", what
 * comes behind the counts is the time.
 */
static const char *const names[] = {
	"snapshots", "snapshot", "snapshot_allocate", "snapshot_keep", "snapshot_limit_kb", "..",
	"buffer_size_kb", "buffer_subbuf_size_kb", "buffer_total_size_kb",
	"per_cpu/cpu0/buffer_size_kb", "per_cpu/cpu0/stats", "per_cpu/cpu1/stats",
	"current_tracer", "set_ftrace_filter", "events/ftrace/print/trigger",
	"perf_events", "events/perf/sample/enable", "stop_on", "channels", "proc_view",
	"events/sched/sched_process_exit/enable",
};

#define NR_STATE	(sizeof(names) / sizeof(names[0]))
#define STATE_SIZE	8192
#define STATS_SIZE	60
static char files[NR_STATE][STATE_SIZE];

int nr_cpus;

int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC), ret = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

void must_put(const char *file, const char *text)
{
	int ret = put(file, text);

	if (ret) {
		errno = -ret;
		die(file);
	}
}

/* All of a file, if it is not longer than @size. */
void get(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY);
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		die(file);
	while (have < size - 1) {
		n = read(fd, text + have, size - 1 - have);
		if (n < 0)
			die(file);
		if (!n)
			break;
		have += n;
	}
	text[have] = 0;
	close(fd);
}

/* The names in a directory, in order. */
static void list(const char *dir, char *text, size_t size)
{
	struct dirent **entries;
	int i, n = scandir(dir, &entries, NULL, alphasort);

	if (n < 0)
		die(dir);
	*text = 0;
	for (i = 0; i < n; i++) {
		snprintf(text + strlen(text), size - strlen(text), "%s\n", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

/* Whole sub-buffers, so it may be a little more. */
void is(const char *file, const char *want)
{
	char text[64];

	get(file, text, sizeof(text));
	if (atoi(text) < atoi(want) || atoi(text) >= atoi(want) + 16)
		fault("%s is %s in place of %s", file, text, want);
}

bool has(const char *file, const char *what)
{
	char text[4096];

	get(file, text, sizeof(text));
	return strstr(text, what);
}

void must_have(const char *file, const char *what)
{
	if (!has(file, what))
		fault("%s has no \"%s\"", file, what);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* Let the live buffer have RECORDS records, and nothing else. */
void fill(const char *what)
{
	int marker = open("trace_marker", O_WRONLY), i;

	must_put("trace", "");
	for (i = 0; i < RECORDS; i++) {
		/* (Not to change at each, that takes long.) */
		if (i % 3 == 0)
			on_cpu(i / 3 % nr_cpus);
		if (dprintf(marker, "%s %d.", what, i) < 0)
			die("trace_marker");
	}
	close(marker);
}

/* Every record, in order. */
void check_lines(FILE *f, const char *what, int records)
{
	int n, want = 0, lines = 0;
	char line[512], key[32];
	char *at;

	sprintf(key, " %s ", what);
	/* (It can be that there is no end.) */
	while (lines++ < 10 * RECORDS && fgets(line, sizeof(line), f)) {
		at = strstr(line, key);
		if (!at)
			continue;
		n = atoi(at + strlen(key));
		if (n != want)
			fault("found \"%s\" in place of %s %d", at, what, want);
		want = n + 1;
	}
	if (want != records)
		fault("%d times \"%s\" in place of %d", want, what, records);
}

void check_file(const char *file, const char *what, int records)
{
	FILE *f = fopen(file, "r");

	if (!f)
		die(file);
	check_lines(f, what, records);
	fclose(f);
}

void check_open(int from, const char *what, int records)
{
	FILE *f = fdopen(dup(from), "r");

	if (!f)
		die("fdopen");
	rewind(f);
	check_lines(f, what, records);
	fclose(f);
}

void check_records(void)
{
	check_file("trace", "record", RECORDS);
}

static void state(char to[NR_STATE][STATE_SIZE])
{
	unsigned int i;

	for (i = 0; i < NR_STATE; i++) {
		to[i][0] = 0;
		if (!strcmp(names[i], ".."))
			list(names[i], to[i], STATE_SIZE);
		else if (!strcmp(names[i], "per_cpu/cpu1/stats") && nr_cpus < 2)
			continue;
		else
			get(names[i], to[i], strstr(names[i], "stats") ? STATS_SIZE : STATE_SIZE);
	}
}

/* The content of a file when it was last compared. */
const char *was(const char *file)
{
	unsigned int i;

	for (i = 0; i < NR_STATE; i++) {
		if (!strcmp(names[i], file))
			return files[i];
	}
	errno = ENOENT;
	die(file);
}

void remember(void)
{
	state(files);
}

/* (With it the base takes a probe for registered that could not be, and warns later.) */
void before_event(void)
{
	must_put("options/record-cmd", "0");
	remember();
}

void check_unchanged(void)
{
	static char now[NR_STATE][STATE_SIZE];
	unsigned int i;

	state(now);
	for (i = 0; i < NR_STATE; i++) {
		if (strcmp(now[i], files[i]))
			fault("%s is\n%s\nand was\n%s", names[i], now[i], files[i]);
	}
	check_records();
}
