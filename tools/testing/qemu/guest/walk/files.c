// SPDX-License-Identifier: GPL-2.0
/*
 * walk: which file is next.
 */
#include <dirent.h>

#include "walk.h"

/* Not to be written: what they tell a CPU to do keeps it from all else, by design. */
static const char *const leave_alone[] = {
	"/hwlat_detector/",	/* how long interrupts are off */
	"/osnoise/",		/* how long a real-time task spins */
	"/uprobe_events",	/* breakpoints in the programs of this guest */
};

/*
 * In a function tracer's start each function is patched, and an event's, when all are enabled at
 * once, takes as long: seconds in QEMU.
 */
static const char *const heavy[] = {
	"/current_tracer", "/set_ftrace_", "/set_graph_", "/function_profile_enabled",
	"/events/enable", "/set_event", "/kprobe_events", "/dynamic_events", "/events/ftrace/function/",
	"/function-trace", "/func-", "/stack_trace_filter", "/max_graph_depth", "/trace_options",
	"/available_filter_functions", "/touched_functions", "/enabled_functions",
};

static bool path_has(const char *path, const char *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (strstr(path, list[i]))
			return true;
	}
	return false;
}

bool is_left_alone(const char *path)
{
	return path_has(path, leave_alone, sizeof(leave_alone) / sizeof(leave_alone[0]));
}

/* To be done seldom */
bool is_heavy(const char *path)
{
	return path_has(path, heavy, sizeof(heavy) / sizeof(heavy[0]));
}

/* An entry of a directory. Returns its d_type, or -1 if there is none. */
int pick_entry(const char *dir, char *name)
{
	struct dirent *d;
	int n = 0, type = -1;
	DIR *list;

	call_begin(CALL_list, dir);
	list = opendir(dir);
	while (list && (d = readdir(list))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || rnd(++n))
			continue;
		snprintf(name, PATH_LEN, "%s", d->d_name);
		type = d->d_type;
	}
	call_end(list ? 0 : -1);
	if (list)
		closedir(list);
	return type;
}

void path_add(char *path, const char *name)
{
	size_t len = strlen(path);

	snprintf(path + len, PATH_LEN - len, "/%s", name);
}

static void pick_process(char *path)
{
	static const char *const dirs[] = { "trace", "perf" };
	static const int others[] = { 0, 1, 2 };
	const char *dir = one_of(dirs);

	switch (rnd(4)) {
	case 0:
		snprintf(path, PATH_LEN, "/proc/self/%s", dir);
		break;
	case 1:
		snprintf(path, PATH_LEN, "/proc/%d/%s", one_of(others), dir);
		break;
	default:
		snprintf(path, PATH_LEN, "/proc/%d/%s", walkers[rnd(nr_walkers)].pid, dir);
	}
}

/* Files of the top directory are much fewer than events, but do more. */
static void pick_start(char *path)
{
	static const char *const sub[] = { "", "", "", "", "", "/events", "/per_cpu", "/options" };
	char name[PATH_LEN];

	snprintf(path, PATH_LEN, TRACEFS);
	if (rnd(3) && pick_entry(TRACEFS "/instances", name) >= 0)
		snprintf(path, PATH_LEN, TRACEFS "/instances/%.200s", name);
	strcat(path, one_of(sub));
}

void pick_file(char *path)
{
	char name[PATH_LEN];
	int type;

	/* A list of files takes long. One that is open may be opened once more. */
	if (!rnd(3)) {
		memmove(path, one_of(slots).path, PATH_LEN);
		if (*path == '/')
			return;
	}
	do {
		if (rnd(16) < (me->outside ? 14 : 1))
			pick_process(path);
		else
			pick_start(path);
		do {
			type = pick_entry(path, name);
			if (type >= 0)
				path_add(path, name);
			/* Seldom the directory itself. */
		} while (type == DT_DIR && strlen(path) < PATH_LEN / 2 && rnd(12));
	} while (is_heavy(path) && rnd(16));
}
