// SPDX-License-Identifier: GPL-2.0
/*
 * walk: what is written into a file.
 */
#include <fcntl.h>
#include <unistd.h>

#include "walk.h"

#define NR_POOL		128		/* words that were read */
#define WORD_LEN	256

char text[LONG_LEN + 1];
static char pool[NR_POOL][WORD_LEN];

/* Numbers in KiB or of things that take memory, and the largest that is written. */
static const struct { const char *name; unsigned int max; } sizes[] = {
	{ "size_kb", 512 }, { "limit_kb", 1024 }, { "snapshot_keep", 4 },
	{ "saved_cmdlines_size", 1024 },
};

static const char *const dictionary[] = {
	"0", "1", "0", "1", "2", "-1", "nop", "none", "all", "panic", "oops", "warn", "*", "*:*", "!",
	"~", "sched", "sched:*", "sched:sched_switch", "sched:sched_waking", "!sched:sched_switch",
	"sched:sched_process_exit", "ftrace:print", "syscalls", "irq:*", "timer:timer_start",
	"last 1", "last 2", "last 3", "first 2", "2", "100ms", "0s",
	"event ftrace:print", "!event ftrace:print", "event sched:sched_process_exit after 1ms",
	"event sched:sched_switch if prev_pid == 1 all", "event sched:sched_process_fork all",
	"snapshot", "!snapshot", "snapshot:3", "snapshot if prev_pid == 0", "traceoff:1", "traceon",
	"stacktrace:2", "!traceoff", "!traceon", "!stacktrace",
	"enable_event:sched:sched_waking:1", "disable_event:sched:sched_waking",
	"!enable_event:sched:sched_waking:1", "!disable_event:sched:sched_waking",
	"hist:keys=common_pid:size=128", "hist:keys=pid:vals=prio:size=128:sort=pid:pause",
	"hist:keys=next_pid:ts0=common_timestamp.usecs:size=128",
	"hist:keys=pid:size=128:onmax(prio).snapshot()", "!hist:keys=common_pid:size=128",
	"hist:keys=common_pid:clear", "prev_pid == 0", "common_pid != 0 && prio > 100", "pid & 1",
	"comm ~ \"wa*\"", "walk0", "walk1", "walk2", "walk3", "!walk0", "!walk1", "walk2 walk3",
	"-walk0", "cpu-clock", "page-faults:user", "page-faults", "!page-faults", "!cpu-clock",
	"context-switches", "cpu-clock:period=100000000", "global", "local", "counter", "mono", "boot",
	"schedule", "vfs_read:traceoff", "*sched*", "panic:snapshot:1", "!panic:snapshot:0",
	"p:walk/open do_sys_openat2", "-:walk/open", "f:walk/read vfs_read", "-:walk/read",
	"s:walk_made int a; u64 b", "-:walk_made", "\"quoted", "a b c d", "%s%n%p", "\\", ":", "::",
	"0x1", "ffffffff", "f", "3", "18446744073709551616", "99999999999999999999999", "2147483648",
};

void words_begin(void)
{
	for (int i = 0; i < NR_POOL; i++)
		strcpy(pool[i], one_of(dictionary));
}

static void word_number(char *word)
{
	unsigned long n = rnd(4) ? rnd(6) : rnd(4) ? 1UL << rnd(13) : rnd64();

	sprintf(word, rnd(8) ? "%lu" : rnd(2) ? "-%lu" : "0x%lx", n);
}

/* A word or a line of a text. */
static void word_from(char *word, const char *from, size_t len)
{
	const char *stops = rnd(3) ? " \t\n:=[]" : "\n";
	size_t at = len ? rnd(len) : 0, n;

	while (at && !strchr(stops, from[at - 1]))
		at--;
	for (n = 0; n < WORD_LEN - 1 && at + n < len && !strchr(stops, from[at + n]); n++)
		word[n] = from[at + n];
	word[n] = 0;
}

/* A file takes the words that it holds. */
static void word_of_file(char *word, const char *path)
{
	char from[PAGE];
	int fd = DO(open, path, open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	long len;

	*word = 0;
	if (fd < 0)
		return;
	len = DO(read, path, read(fd, from, sizeof(from)));
	close(fd);
	if (len <= 0)
		return;
	word_from(word, from, len);
	strcpy(pool[rnd(NR_POOL)], word);
}

static void word_any(char *word, const char *path)
{
	switch (rnd(8)) {
	case 0: case 1: case 2:
		word_of_file(word, path);
		break;
	case 3:
		word_number(word);
		break;
	case 4:
		strcpy(word, one_of(pool));
		break;
	default:
		strcpy(word, one_of(dictionary));
	}
}

/* Keep a number within what this machine has. */
static size_t bound(const char *path, char *to, size_t len)
{
	const char *base = strrchr(path, '/');

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (!strstr(base, sizes[i].name) || !strpbrk(to, "123456789"))
			continue;
		return sprintf(to, "%s%u", !strncmp(to, "last", 4) || !strncmp(to, "first", 5) ?
			       "last " : "", rnd(sizes[i].max + 1));
	}
	/* Tracers that keep a CPU from all else, as leave_alone. */
	if (strstr(path, "/current_tracer") && (strstr(to, "hwlat") || strstr(to, "osnoise") ||
						strstr(to, "timerlat")))
		return sprintf(to, "nop");
	return len;
}

/* Text for a file, in @text. Returns its length. */
size_t make_text(const char *path)
{
	static const char *const between[] = { " ", ":", ",", "=", "\n", "*", " if ", "!" };
	char word[WORD_LEN + 8];
	size_t len = 0, n, i;

	switch (rnd(24)) {
	case 0:		/* bytes */
		len = rnd(64);
		for (i = 0; i < len; i++)
			text[i] = rnd(256);
		break;
	case 1:		/* a long one */
		n = rnd(2) ? PAGE - 2 + rnd(4) : rnd(LONG_LEN);
		word_any(word, path);
		strcat(word, one_of(between));
		for (len = 0; len < n; len++)
			text[len] = word[len % strlen(word)];
		break;
	case 2: case 3:	/* several */
		for (n = 1 + rnd(4); n; n--) {
			word_any(word, path);
			len += sprintf(text + len, "%s%s", word, one_of(between));
		}
		break;
	default:
		word_any(word, path);
		len = sprintf(text, "%s%s", rnd(20) ? "" : one_of(between), word);
	}
	text[len] = 0;
	len = bound(path, text, len);
	if (rnd(4))
		text[len++] = '\n';
	return len;
}
