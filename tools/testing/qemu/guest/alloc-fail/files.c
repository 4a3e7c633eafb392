// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on files of an instance that are of the trace and not of its rings: perf_events,
 * stop_on, channels, trace.dat and /proc/PID/trace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "alloc-fail.h"

/* An event of perf that never counts, so no sample is among the records. */
#define SAMPLE	"type=1/config=0x9/"
#define STOP	"event sched:sched_process_exit if pid == 1"

static int do_sample(void) { return do_write(SAMPLE ":period=1:callchain"); }
static int do_stop(void) { return do_write("panic"); }
static int do_stop_event(void) { return do_write(STOP " after 5s"); }
static int do_join(void) { return do_write("new"); }
static int do_take(void) { return do_write("1"); }

static int do_open_samples(void) { return do_open("perf_events", O_RDONLY); }
/* A worker collects what is read. */
static int do_read_samples(void)
{
	char text[256];
	int ret = do_open_samples();

	if (ret)
		return ret;
	return read(fd, text, sizeof(text)) < 0 ? -errno : 0;
}

static int do_open_stops(void) { return do_open("stop_on", O_RDONLY); }
static int do_open_channels(void) { return do_open("channels", O_RDONLY); }
static int do_open_merged(void) { return do_open("trace", O_RDONLY); }
static int do_open_pipe(void) { return do_open("trace_pipe", O_RDONLY | O_NONBLOCK); }
static int do_open_view(void) { return do_open("/proc/self/trace/faulty.txt", O_RDONLY); }
static int do_open_view_dat(void) { return do_open("/proc/self/trace/faulty.dat", O_RDONLY); }

/* A new instance has no memory for lines yet. */
static void before_stop(void)
{
	start();
	fill("record");
	before_event();
}

static void before_stop_more(void)
{
	before_stop();
	must_put("stop_on", "warn");
	remember();
}

static void undo_sample(void)
{
	must_have("perf_events", SAMPLE ":period=1:callchain=");
	must_have("perf_events", nr_cpus > 1 ? " cpus=2 " : " cpus=1 ");
	is("events/perf/sample/enable", "1");
	must_put("perf_events", "!" SAMPLE);
}

static void before_samples(void)
{
	before_event();
	must_put("perf_events", SAMPLE ":period=1:callchain");
	remember();
}

static void undo_stop(void)
{
	must_have("stop_on", "panic");
	must_put("stop_on", "!panic");
}

static void undo_stop_event(void)
{
	must_have("stop_on", STOP " after 5s");
	must_put("stop_on", "!" STOP " after 5s");
}

/* The instance "new", with as many records, "other" ones */
static void fill_new(void)
{
	if (chdir("../new"))
		die("instances/new");
	fill("other");
	if (chdir("../faulty"))
		die("instances/faulty");
}

static void is_new(const char *file, int records)
{
	check_file(file, "other", records);
}

static void before_join(void)
{
	if (has("channels", "new mode="))
		must_put("channels", "!new");
	forget();
	if (mkdir("../new", 0755) && errno != EEXIST)
		die("instances/new");
	must_put("../new/buffer_size_kb", "16");
	fill_new();
	fill("record");
	remember();
}

/* The session has memory for a snapshot, and its channel, a new instance, gets some. */
static void before_join_allocated(void)
{
	if (rmdir("../new") && errno != ENOENT)
		die("instances/new");
	before_join();
	must_put("snapshot_allocate", "1");
	remember();
}

static void before_session(void)
{
	before_join();
	must_put("channels", "new");
	remember();
}

static void before_session_keep(void)
{
	before_session();
	must_put("snapshot_keep", "2");
	remember();
}

static void check_new(void)
{
	is_new("../new/trace", RECORDS);
}

static void leave(void)
{
	must_have("channels", "new mode=");
	must_put("channels", "!new");
	forget();
	fill("record");
}

static void undo_join(void)
{
	check_file("trace", "record", RECORDS);
	is_new("trace", RECORDS);
	leave();
}

/* The next snapshot has the records of both. */
static void undo_join_allocated(void)
{
	must_put("snapshot", "1");
	check_file("snapshot", "record", RECORDS);
	is_new("snapshot", RECORDS);
	leave();
}

static void undo_take(void)
{
	check_file("snapshot", "record", RECORDS);
	is_new("snapshot", RECORDS);
	check_file("trace", "record", 0);
	is_new("trace", 0);
	leave();
}

static void undo_take_kept(void)
{
	is_kept("record");
	undo_take();
}

static void after_merged(void)
{
	check_open(fd, "record", RECORDS);
	check_open(fd, "other", RECORDS);
}

static char dat_path[512];
static long long dat_size;

/* All of a trace.dat: its parts, and each record */
static void check_dat(int from, bool merged)
{
	static const char *const parts[] = {
		"\x17\x08\x44tracing", "name: print", " T _text\n", "options  ", "[local]",
	};
	char *text, want[32];
	ssize_t n, have = 0;
	unsigned int i;

	dat_size = lseek(from, 0, SEEK_END);
	text = malloc(dat_size);
	if (dat_size <= 0 || !text)
		die("trace.dat");
	while (have < dat_size && (n = pread(from, text + have, dat_size - have, have)) > 0)
		have += n;
	if (have != dat_size)
		fault("trace.dat has %lld bytes, of %lld", (long long)have, dat_size);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!memmem(text, have, parts[i], strlen(parts[i])))
			fault("trace.dat has no \"%s\"", parts[i]);
	}
	for (i = 0; i < RECORDS * (merged ? 2 : 1); i++) {
		sprintf(want, "%s %d.", i < RECORDS ? "record" : "other", i % RECORDS);
		if (!memmem(text, have, want, strlen(want)))
			fault("trace.dat has no \"%s\"", want);
	}
	free(text);
}

static void take_kept(void)
{
	char name[256];

	must_put("snapshot_keep", "2");
	must_put("snapshot", "1");
	if (nr_kept(name, sizeof(name)) != 1)
		die("a kept snapshot");
	snprintf(dat_path, sizeof(dat_path), "../%s/trace.dat", name);
	fill("record");
	remember();
}

/* Nothing of this one is captured yet. */
static void before_dat(void)
{
	forget();
	fill("record");
	take_kept();
}

static void before_dat_session(void)
{
	before_session();
	take_kept();
}

/* A file was open before: the formats are captured, and charged. */
static void before_dat_again(void)
{
	before_dat();
	hold_open(dat_path, O_RDONLY);
	unhold();
	remember();
}

static long memory_kb(const char *text)
{
	const char *at = strstr(text, "in KiB: ");

	return at ? atol(at + strlen("in KiB: ")) : -1;
}

/* Parts that were captured before a failure stay for the next open. */
static void check_capture(void)
{
	char text[4096];

	get("snapshots", text, sizeof(text));
	if (memory_kb(text) > memory_kb(was("snapshots")))
		remember();
}

static void before_dat_read(void)
{
	before_dat();
	dat_size = lseek(hold_open(dat_path, O_RDONLY), 0, SEEK_END);
	/* Its formats are charged now. */
	remember();
}

static int do_open_dat(void) { return do_open(dat_path, O_RDONLY); }

/* The last page, to be seen: an error behind other bytes is that of the next read. */
static int do_read_dat(void)
{
	char page[4096];

	return pread(hold_fd(), page, sizeof(page), dat_size - sizeof(page)) < 0 ? -errno : 0;
}

static void after_dat(void) { check_dat(fd, false); }
static void after_dat_session(void) { check_dat(fd, true); }
static void check_dat_read(void) { check_dat(hold_fd(), false); }

static void undo_dat_read(void)
{
	check_dat_read();
	check_unchanged();
}

static void harm_erase(void)
{
	must_put("trace", "");
}

static void before_view(void)
{
	must_put("proc_view", "1");
	before_event();
}

static void after_view(void)
{
	check_open(fd, "record", RECORDS);
}

static const struct op sample_ops[] = {
	{ "sample", "perf_events", do_sample, undo_sample, .before = before_event },
	{ "open-samples", NULL, do_open_samples, check_unchanged, .harm = harm_erase },
	{ "read-samples", NULL, do_read_samples, undo_sample, .before = before_samples,
	  .harm = harm_erase, .workers = true },
};

static const struct op stop_ops[] = {
	{ "stop", "stop_on", do_stop, undo_stop, .before = before_stop },
	{ "stop-event", "stop_on", do_stop_event, undo_stop_event,
	  .before = before_stop_more },
	{ "open-stops", NULL, do_open_stops, check_unchanged, .harm = harm_erase },
};

static const struct op channel_ops[] = {
	{ "join", "channels", do_join, undo_join, .before = before_join, .check = check_new },
	{ "join-allocated", "channels", do_join, undo_join_allocated,
	  .before = before_join_allocated, .check = check_new, .gets_by = true },
	{ "open-channels", NULL, do_open_channels, check_unchanged, .before = before_session,
	  .harm = harm_erase },
	{ "open-merged", NULL, do_open_merged, check_unchanged, after_merged, before_session,
	  .harm = harm_erase },
	{ "open-pipe", NULL, do_open_pipe, check_unchanged, .before = before_session,
	  .check = check_new, .harm = harm_erase },
	{ "take-session", "snapshot", do_take, undo_take, .before = before_session,
	  .check = check_new },
	{ "take-session-kept", "snapshot", do_take, undo_take_kept,
	  .before = before_session_keep, .check = check_new, .workers = true },
};

static const struct op dat_ops[] = {
	{ "open-dat", NULL, do_open_dat, NULL, after_dat, before_dat,
	  .check = check_capture, .harm = harm_erase },
	{ "open-dat-again", NULL, do_open_dat, check_unchanged, after_dat, before_dat_again,
	  .harm = harm_erase },
	{ "open-dat-session", NULL, do_open_dat, NULL, after_dat_session,
	  before_dat_session, .check = check_capture, .harm = harm_erase },
	{ "read-dat", NULL, do_read_dat, undo_dat_read, .before = before_dat_read,
	  .check = check_dat_read, .harm = harm_erase },
	{ "open-view-dat", NULL, do_open_view_dat, check_unchanged, after_dat, before_view,
	  .harm = harm_erase },
};

static const struct op view_ops[] = {
	{ "create-view", NULL, do_create, undo_create, .check = check_create, .only = &proc_view },
	{ "open-view", NULL, do_open_view, check_unchanged, after_view, before_view,
	  .harm = harm_erase },
	{ "open-view-dat", NULL, do_open_view_dat, check_unchanged, after_dat, before_view,
	  .harm = harm_erase },
};

#define SUBJECT(_name, _ops) \
	{ .name = _name, .ops = _ops, .nr = sizeof(_ops) / sizeof((_ops)[0]) }

struct subject perf_sample = SUBJECT("perf_sample", sample_ops);
struct subject stop = SUBJECT("stop", stop_ops);
struct subject channel = SUBJECT("channel", channel_ops);
struct subject dat = SUBJECT("dat", dat_ops);
struct subject proc_view = SUBJECT("proc_view", view_ops);
