// SPDX-License-Identifier: GPL-2.0
/*
 * Operations in which snapshots allocate.
 *
 * Where there is a snapshot before, it has as many records as the live buffer, "older"
 * ones.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "alloc-fail.h"

#define FILTER	"set_ftrace_filter"
#define TRIGGER	"events/ftrace/print/trigger"
#define KEPT	"faulty@"

/* Of a count in the file "snapshots". */
static long count_in(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	errno = EINVAL;
	if (!at)
		die(what);
	return atol(at + strlen(what) + 2);
}

static long count(const char *what)
{
	char text[4096];

	get("snapshots", text, sizeof(text));
	return count_in(text, what);
}

/* Back to where there are no snapshots, and nobody asks for one. */
void forget(void)
{
	long kb;

	unhold();
	if (has(TRIGGER, "snapshot:"))
		must_put(TRIGGER, "!snapshot");
	if (has(FILTER, ":snapshot:"))
		must_put(FILTER, "!*:snapshot:3\n");
	must_put("snapshot_keep", "0");
	must_put("snapshot", "0");
	kb = count("memory, in KiB");
	if (kb)
		fault("%ld KiB belong to no snapshot", kb);
}

static void none(void)
{
	forget();
	fill("record");
}

static void taken(void)
{
	forget();
	fill("older");
	must_put("snapshot", "1");
	fill("record");
}

static void before_none(void)
{
	none();
	remember();
}

static void before_taken(void)
{
	taken();
	remember();
}

/* And somebody reads it. */
static void before_held(void)
{
	taken();
	hold_open("snapshot", O_RDONLY);
	remember();
}

/* And there is memory for another one. */
static void before_allocated(void)
{
	taken();
	must_put("snapshot_allocate", "1");
	remember();
}

static void before_trigger(void)
{
	before_event();
	before_none();
}

static void before_armed(void)
{
	taken();
	must_put(TRIGGER, "snapshot");
	remember();
}

static void before_keep(void)
{
	none();
	must_put("snapshot_keep", "2");
	remember();
}

static void before_worker(void)
{
	none();
	must_put("snapshot_keep", "2");
	must_put(TRIGGER, "snapshot");
	remember();
}

static void before_function(void)
{
	none();
	must_put(FILTER, "cmdline_proc_show:snapshot:3\n");
	remember();
}

/* Not to patch every function, only to be reset. */
static void before_tracer(void)
{
	must_put("options/function-trace", "0");
	before_none();
}

static int do_take(void) { return do_write("1"); }
static int do_erase(void) { return do_write("2"); }
static int do_keep(void) { return do_write("last 2"); }
static int do_limit(void) { return do_write("1"); }
static int do_grow(void) { return do_write("32"); }
static int do_order(void) { return do_write("16"); }
static int do_tracer(void) { return do_write("wakeup"); }
static int do_trigger(void) { return do_write("snapshot"); }
static int do_function(void) { return do_write("cmdline_proc_show:snapshot:3\n"); }
static int do_function_more(void) { return do_write("version_proc_show:snapshot:3\n"); }

static int do_open_read(void) { return do_open("snapshot", O_RDONLY); }
static int do_open_write(void) { return do_open("snapshot", O_WRONLY); }
static int do_open_raw(void) { return do_open("per_cpu/cpu0/snapshot_raw", O_RDONLY); }
static int do_open_list(void) { return do_open("snapshots", O_RDONLY); }

/*
 * A trigger leaves it to a worker to keep what it has taken, and so that this has come to
 * its end, or is done here, the snapshots are listed.
 */
static int do_fire(void)
{
	int ret = do_write("fire"), list = open("snapshots", O_RDONLY);
	char c;

	/* That may fail. */
	while (list >= 0 && read(list, &c, 1) < 0 && errno == EINTR)
		;
	if (list >= 0)
		close(list);
	return ret;
}

static void after_open(void)
{
	check_open(fd, "older", RECORDS);
}

static void after_open_none(void)
{
	check_open(fd, "record", 0);
}

static void check_held(void)
{
	check_open(hold_fd(), "older", RECORDS);
}

static void harm_allocate(void)
{
	must_put("snapshot_allocate", "1");
}

static void harm_erase(void)
{
	must_put("snapshot", "2");
}

/* The live buffer, too. */
static void harm_held(void)
{
	must_put("trace", "");
}

static void harm_limit(void)
{
	must_put("snapshot_limit_kb", "1000000");
}

/* They are in the snapshot, and not in the live buffer. */
static void is_taken(void)
{
	check_file("snapshot", "record", RECORDS);
	check_file("trace", "record", 0);
}

static void undo_take(void)
{
	is_taken();
	none();
}

static void undo_take_held(void)
{
	check_held();
	undo_take();
}

static void undo_allocate(void)
{
	is("snapshot_allocate", "1");
	check_file("snapshot", "record", 0);
	none();
}

static void undo_erase(void)
{
	check_held();
	check_file("snapshot", "older", 0);
	check_records();
	none();
}

static void undo_resize(const char *file, const char *size)
{
	is(file, size);
	is("snapshot_allocate", "1");
	check_file("snapshot", "older", RECORDS);
}

static void undo_grow(void)
{
	undo_resize("buffer_size_kb", "32");
	check_records();
	must_put("buffer_size_kb", "16");
	none();
}

/* The live buffer is empty then. As in ring.c: only a new one allocates it. */
static void undo_order(void)
{
	undo_resize("buffer_subbuf_size_kb", "16");
	start();
	fill("record");
}

static void undo_tracer(void)
{
	must_have("current_tracer", "wakeup");
	is("snapshot_allocate", "1");
	must_put("current_tracer", "nop");
	none();
}

static void undo_trigger(void)
{
	must_have(TRIGGER, "snapshot:unlimited");
	is("snapshot_allocate", "1");
	none();
}

static void undo_function(void)
{
	must_have(FILTER, "cmdline_proc_show:snapshot:count=3");
	is("snapshot_allocate", "1");
	none();
}

static void undo_function_more(void)
{
	must_have(FILTER, "version_proc_show:snapshot:count=3");
	undo_function();
}

/* How many are kept; the name of the last one. */
int nr_kept(char *name, size_t size)
{
	DIR *dir = opendir("..");
	struct dirent *entry;
	int n = 0;

	if (!dir)
		die("instances");
	while ((entry = readdir(dir))) {
		/* Behind a dot is the name of a channel. */
		if (strncmp(entry->d_name, KEPT, strlen(KEPT)) || strchr(entry->d_name, '.'))
			continue;
		n++;
		snprintf(name, size, "%s", entry->d_name);
	}
	closedir(dir);
	return n;
}

/* All that an instance of a snapshot has. */
static void check_kept(const char *name, const char *what)
{
	static const char *const files[] = {
		"trace_pipe", "buffer_size_kb", "snapshots", "events/enable",
		"per_cpu/cpu0/trace_pipe_raw", "per_cpu/cpu0/stats",
	};
	char file[512];
	struct stat st;
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(file, sizeof(file), "../%s/%s", name, files[i]);
		if (stat(file, &st))
			fault("there is no %s", file);
	}
	snprintf(file, sizeof(file), "../%s/trace", name);
	check_file(file, what, RECORDS);
}

/*
 * The snapshot is there, and it is kept or was counted, one of both.  If it could not be kept
 * it can be now.
 */
void is_kept(const char *what)
{
	static const char unkept[] = "could not be kept";
	long more = count(unkept) - count_in(was("snapshots"), unkept);
	char name[256];
	int n;

	check_file("snapshot", what, RECORDS);
	n = nr_kept(name, sizeof(name));
	if (n + more != 1)
		fault("%d are kept, and %ld could not be", n, more);
	if (more) {
		refused();
		must_put("snapshot_keep", "0");
		must_put("snapshot_keep", "2");
		n = nr_kept(name, sizeof(name));
	}
	if (n == 1)
		check_kept(name, what);
	else
		fault("%d are kept", n);
	check_file("snapshot", what, RECORDS);
}

static void undo_keep(void)
{
	char name[256];

	must_have("snapshot_keep", "last 2");
	is_kept("older");
	check_records();
	none();
	if (nr_kept(name, sizeof(name)))
		fault("an instance was left behind");
}

static void undo_take_kept(void)
{
	check_file("trace", "record", 0);
	is_kept("record");
	none();
}

/* There was memory for this one.  If there was none for the next, then a bit later. */
static void undo_fire(void)
{
	static const char how_many[] = "taken";
	long before = count_in(was("snapshots"), how_many), n = count(how_many);
	int tries = 1000;

	if (n != before + 1)
		fault("%ld were taken, of %ld", n, before + 1);
	is_kept("record");
	for (n = count(how_many); count(how_many) == n && --tries; usleep(10000))
		must_put("trace_marker", "fire");
	if (!tries)
		fault("then, without a failure, none is taken");
	none();
}

/* (Those that have most sites come first.) */
static const struct op ops[] = {
	{ "keep", "snapshot_keep", do_keep, undo_keep, .before = before_taken,
	  .harm = harm_erase },
	{ "create-snapshots", NULL, do_create, undo_create, .check = check_create,
	  .only = &snapshot },
	{ "take", "snapshot", do_take, undo_take, .before = before_none },
	{ "take-held", "snapshot", do_take, undo_take_held, .before = before_held,
	  .check = check_held },
	{ "allocate", "snapshot_allocate", do_take, undo_allocate, .before = before_none },
	{ "erase-held", "snapshot", do_erase, undo_erase, .before = before_held,
	  .check = check_held, .harm = harm_held, .gets_by = true },
	{ "open-none", NULL, do_open_read, check_unchanged, after_open_none, before_none,
	  .harm = harm_allocate },
	{ "open", NULL, do_open_read, check_unchanged, after_open, before_taken,
	  .harm = harm_erase },
	{ "open-armed", NULL, do_open_read, check_unchanged, after_open, before_armed,
	  .harm = harm_erase },
	{ "open-write", NULL, do_open_write },
	{ "open-raw", NULL, do_open_raw, check_unchanged, .before = before_taken,
	  .harm = harm_erase },
	{ "open-list", NULL, do_open_list, check_unchanged, .before = before_taken,
	  .harm = harm_erase },
	{ "limit", "snapshot_limit_kb", do_limit, .before = before_taken, .error = ENOSPC,
	  .harm = harm_limit },
	{ "resize", "buffer_size_kb", do_grow, undo_grow, .before = before_allocated },
	{ "resize-order", "buffer_subbuf_size_kb", do_order, undo_order,
	  .before = before_allocated },
	{ "tracer", "current_tracer", do_tracer, undo_tracer, .before = before_tracer,
	  .only = &snapshot },
	{ "take-kept", "snapshot", do_take, undo_take_kept, .before = before_keep,
	  .workers = true },
	{ "take-worker", "trace_marker", do_fire, undo_fire, .before = before_worker,
	  .harm = harm_erase, .workers = true },
	{ "trigger", TRIGGER, do_trigger, undo_trigger, .before = before_trigger },
	{ "function", FILTER, do_function, undo_function, .before = before_none },
	{ "function-more", FILTER, do_function_more, undo_function_more,
	  .before = before_function },
};

struct subject snapshot = {
	.name = "snapshot",
	.ops = ops,
	.nr = sizeof(ops) / sizeof(ops[0]),
};
