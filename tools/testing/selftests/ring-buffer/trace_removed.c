// SPDX-License-Identifier: GPL-2.0
/*
 * Opens files of instances and of kept snapshots that were removed or retired, for the tests in
 * ftrace/test.d/instances:
 *
 *   trace_removed files TRACEFS
 *	each file below, by an O_PATH descriptor from before: none opens
 *   trace_removed retired TRACEFS
 *	the same for an instance of instance_open after its descriptor was closed
 *   trace_removed race TRACEFS ROUNDS
 *	an instance comes and goes so often, as kept snapshots do, while its files are opened
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/trace_instance.h>

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "die.h"

#define MAX_FILES	60000

static struct {
	int	fd;
	char	*name;
} files[MAX_FILES];
static int nr_files;

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s", path);
	close(fd);
}

/* Have an O_PATH descriptor of each file of a directory, and of those below. */
static void collect(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	char *name;

	if (!dir)
		die("%s", path);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%s/%s", path, e->d_name) < 0)
			die("asprintf");
		if (e->d_type == DT_DIR) {
			collect(name);
			free(name);
			continue;
		}
		if (nr_files == MAX_FILES)
			die("more than %d files", MAX_FILES);
		files[nr_files].fd = open(name, O_PATH);
		files[nr_files].name = name;
		if (files[nr_files++].fd < 0)
			die("%s", name);
	}
	closedir(dir);
}

/* Each of them must fail like a file of a trace array that was removed. */
static void refuse_all(void)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	char path[40];
	int fd, m;

	for (; nr_files; nr_files--) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", files[nr_files - 1].fd);
		for (m = 0; m < 3; m++) {
			fd = open(path, modes[m] | O_NONBLOCK);
			/* A kept snapshot has read-only files, which say so. */
			if (fd >= 0 || (errno != ENODEV && errno != EPERM) ||
			    (errno == EPERM && modes[m] == O_RDONLY))
				die("%s opens, or has another error", files[nr_files - 1].name);
		}
		close(files[nr_files - 1].fd);
		free(files[nr_files - 1].name);
	}
}

/* The next object may get the memory that was freed. On one CPU it does, mostly. */
static void stay_on_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void allow_files(void)
{
	struct rlimit many = { MAX_FILES + 100, MAX_FILES + 100 };

	if (setrlimit(RLIMIT_NOFILE, &many))
		die("RLIMIT_NOFILE");
}

static void try_files(void)
{
	int dir, nr;

	allow_files();
	stay_on_cpu();
	if (mkdir("instances/removed", 0755))
		die("mkdir");
	dir = open("instances/removed", O_PATH);
	collect("instances/removed");
	nr = nr_files;
	if (rmdir("instances/removed") || mkdir("instances/removed", 0755))
		die("removed");
	refuse_all();
	if (openat(dir, "trace", O_RDONLY) >= 0 || errno != ENOENT)
		die("trace by the directory");
	close(dir);

	put("instances/removed/snapshot_keep", "1");
	put("instances/removed/trace_marker", "a marker");
	put("instances/removed/snapshot", "1");
	collect("instances/removed@1");
	printf("%d and %d files\n", nr, nr_files);
	if (rmdir("instances/removed@1") || mkdir("instances/removed.2", 0755))
		die("removed@1");
	refuse_all();
	if (rmdir("instances/removed.2") || rmdir("instances/removed"))
		die("rmdir");
}

static void try_retired(void)
{
	int owner = open("instance_open", O_RDWR), trace, fd;
	char name[100] = "", dir[150], path[200];

	allow_files();
	if (owner < 0 || read(owner, name, sizeof(name) - 1) <= 0)
		die("instance_open");
	name[strcspn(name, "\n")] = '\0';
	snprintf(dir, sizeof(dir), "instances/%s", name);
	collect(dir);
	printf("%d files\n", nr_files);
	snprintf(path, sizeof(path), "%s/trace", dir);
	trace = open(path, O_RDONLY);
	close(owner);
	while ((fd = open(path, O_RDONLY)) >= 0) {
		close(fd);
		usleep(10000);
	}
	refuse_all();
	if (trace < 0 || read(trace, path, sizeof(path)) <= 0)
		die("a file from before is not readable");
	close(trace);
	while (!access(dir, F_OK))
		usleep(10000);
}

/* Open files of an instance that comes and goes. */
static void open_files(void)
{
	static const char *const names[] = {
		"channels", "trace", "options/overwrite", "per_cpu/cpu0/stats",
		"events/sched/enable", "events/sched/sched_switch/filter",
	};
	char path[100];
	unsigned int i, refused = 0;
	int fd;

	/* (Without a pause the locks would hardly get to the task that removes it.) */
	for (i = 0; refused < UINT_MAX; i++, usleep(200)) {
		snprintf(path, sizeof(path), "instances/removed/%s",
			 names[i % (sizeof(names) / sizeof(*names))]);
		fd = open(path, O_RDWR);
		if (fd >= 0) {
			/* No value that a file takes, but what it is written to must be there. */
			if (write(fd, "nosuch", 6) < 6)
				refused++;
			close(fd);
		}
	}
}

/* Have kept snapshots come and go. */
static void take_snapshots(const char *path)
{
	int fd = open(path, O_WRONLY), owner;

	for (;; usleep(200)) {
		owner = ioctl(fd, TRACE_IOC_SNAPSHOT, 0);
		if (owner >= 0)
			close(owner);
	}
}

static void race(int rounds)
{
	static const char *const others[] = { "instances/removed.a", "instances/removed.b" };
	char path[100];
	pid_t pids[4];
	int i, status, made = 0;

	for (i = 0; i < 4; i++) {
		if (i < 2) {
			if (mkdir(others[i], 0755))
				die("%s", others[i]);
			snprintf(path, sizeof(path), "%s/buffer_size_kb", others[i]);
			put(path, "8");
			snprintf(path, sizeof(path), "%s/snapshot", others[i]);
		}
		pids[i] = fork();
		if (!pids[i]) {
			if (i < 2)
				take_snapshots(path);
			open_files();
		}
	}
	while (made < rounds) {
		made += !mkdir("instances/removed", 0755);
		/* A file of it may be open. */
		rmdir("instances/removed");
	}
	for (i = 0; i < 4; i++) {
		kill(pids[i], SIGKILL);
		if (waitpid(pids[i], &status, 0) != pids[i] || !WIFSIGNALED(status))
			die("child %d: status %#x", i, status);
	}
	rmdir("instances/removed");
	for (i = 0; i < 2; i++) {
		/* The last snapshot goes a moment after its descriptor. */
		while (rmdir(others[i]) && errno == EBUSY)
			usleep(10000);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3 || chdir(argv[2]))
		die("usage: %s files|retired|race TRACEFS [ROUNDS]", argv[0]);
	if (!strcmp(argv[1], "files"))
		try_files();
	else if (!strcmp(argv[1], "retired"))
		try_retired();
	else
		race(argc > 3 ? atoi(argv[3]) : 1000);
	return 0;
}
