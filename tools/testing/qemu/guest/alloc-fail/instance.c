// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on a whole instance, "new" or that of an open file: all that allocates in them
 * fails, not only code of instances.  To create one takes thousands of allocations, of which
 * only some fail (see sweep.c), or all; most are those of its events, and all of one kind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "alloc-fail.h"

#define SYSTEM		"events/sched"
#define EVENT		"events/sched/sched_switch/enable"

/* Nobody has looked for an event in it. */
static void before_used(void)
{
	if ((rmdir("../new") && errno != ENOENT) || mkdir("../new", 0755))
		die("instances/new");
	remember();
}

static int do_remove(void) { return rmdir("../new") ? -errno : 0; }

static int do_lookup(void)
{
	struct stat st;

	return stat("../new/" EVENT, &st) ? -errno : 0;
}

static int found;

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	if (!d)
		return -errno;
	for (errno = 0; readdir(d); errno = 0)
		n++;
	n = errno ? -errno : n;
	closedir(d);
	return n;
}

static int do_list(void)
{
	found = entries("../new/" SYSTEM);
	return found < 0 ? found : 0;
}

/* It has as many as an instance where nothing has failed. */
static void after_list(void)
{
	int want = entries(SYSTEM);

	if (want < 5 || found != want)
		fault("%d entries in " SYSTEM " in place of %d", found, want);
}

/* All of an event's files are there, and the other events. */
static void after_lookup(void)
{
	if (entries("../new/events/sched/sched_switch") != entries("events/sched/sched_switch"))
		fault("files of an event are missing");
	do_list();
	after_list();
}

/* An instance that is still there is whole. */
static void check_removed(void)
{
	struct stat st;

	if (stat("../new/per_cpu/cpu0/stats", &st) || do_lookup())
		fault("it was removed in part");
}

static int do_own(void) { return do_open("../../instance_open", O_RDWR); }
static void harm_own(void) { hold_open("../../instance_open", O_RDWR); }

/* Instances of open files. */
static int owned(void)
{
	struct dirent *entry;
	DIR *d = opendir("..");
	int n = 0;

	if (!d)
		die("instances");
	while ((entry = readdir(d)))
		n += !strncmp(entry->d_name, "fd-", 3);
	closedir(d);
	return n;
}

static void check_owned(void)
{
	if (owned())
		fault("the instance of a file was left behind");
}

/* The file is closed. A worker removes its instance. */
static void undo_own(void)
{
	int i;

	for (i = 0; owned() && i < 1000; i++)
		usleep(10000);
	check_owned();
}

static const struct op ops[] = {
	{ "instance-create", NULL, do_create, undo_create, .check = check_create, .sparse = true },
	{ "instance-own", NULL, do_own, undo_own, .check = check_owned, .harm = harm_own,
	  .sparse = true },
	{ "instance-remove", NULL, do_remove, check_create, .before = before_used,
	  .check = check_removed },
	{ "instance-lookup", NULL, do_lookup, .after = after_lookup, .before = before_used },
	{ "instance-list", NULL, do_list, .after = after_list, .before = before_used },
};

struct subject instance = {
	.name = "instance",
	.ops = ops,
	.nr = sizeof(ops) / sizeof(ops[0]),
};
