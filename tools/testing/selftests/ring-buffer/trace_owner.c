// SPDX-License-Identifier: GPL-2.0
/*
 * Owns instances and snapshots of tracefs by file descriptors, for the tests in
 * ftrace/test.d/instances:
 *
 *   trace_owner names TRACEFS FILE
 *	the name of what a descriptor owns, and that it leads nowhere else
 *   trace_owner modes TRACEFS FILE
 *	opens that are refused, and that have no effect
 *   trace_owner shared TRACEFS FILE
 *	dup(), fork() and SCM_RIGHTS: the last reference counts
 *   trace_owner elsewhere TRACEFS FILE
 *	files of the instance are open longer than the owner
 *   trace_owner kill TRACEFS FILE ROUNDS
 *	kills owners at random points
 *   trace_owner hold TRACEFS FILE
 *	prints the name, and waits for a signal
 *
 * FILE is below TRACEFS: "instance_open", or a file "snapshot", of which TRACE_IOC_SNAPSHOT
 * makes the owner. Nothing may be left at the end.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/trace_instance.h>
#include <linux/trace_mmap.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "die.h"

static const char *tracefs, *file;
static bool snapshot;	/* what is owned */

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", tracefs, name);
	return path;
}

static const char *path_of_instance(const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "instances/%s", name);
	return path_of(path);
}

/* A descriptor that owns, or -1. */
static int try_own(void)
{
	/* A reader of a snapshot would keep its memory. */
	int fd = open(path_of(file), (snapshot ? O_WRONLY : O_RDWR) | O_CLOEXEC), owner;

	if (fd < 0 || !snapshot)
		return fd;
	owner = ioctl(fd, TRACE_IOC_SNAPSHOT, 0);
	close(fd);
	return owner;
}

static int own(void)
{
	int fd = try_own();

	if (fd < 0)
		die("%s owns nothing", file);
	return fd;
}

static char *name_of(int fd)
{
	char name[256];
	ssize_t n = pread(fd, name, sizeof(name) - 1, 0);

	if (n < 2 || name[n - 1] != '\n')
		die("the name has %zd bytes", n);
	name[n - 1] = '\0';
	if (!snapshot ? !!strncmp(name, "fd-", 3) : !strchr(name, '@'))
		die("'%s' is no name of an owned one", name);
	return strdup(name);
}

static bool exists(const char *name)
{
	return !access(path_of_instance(name), F_OK);
}

/* With a bound, as long as @name is there. */
static void wait_gone(const char *name)
{
	int tries = 6000;

	while (exists(name) && --tries)
		usleep(10000);
	if (!tries)
		die("%s is still there", name);
}

/* The directory of what @fd owns. It owns nothing itself. */
static int open_dir(int fd)
{
	char *name = name_of(fd);
	int dir = open(path_of_instance(name), O_PATH | O_DIRECTORY | O_CLOEXEC);

	free(name);
	if (dir < 0)
		die("no directory");
	return dir;
}

static int open_at(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags);

	if (fd < 0)
		die("%s cannot be opened", name);
	return fd;
}

static void expect(long ret, int err, const char *what)
{
	if (ret != -1 || errno != err)
		die("%s: returns %ld, expected error '%s'", what, ret, strerror(err));
}

/* Let "trace" have a record with the text. */
static void mark(int dir, const char *text)
{
	int fd = open_at(dir, "trace_marker", O_WRONLY);

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("trace_marker");
	close(fd);
}

/* Does reading to the end, or once, give the text? */
static bool has(int fd, const char *text, bool once)
{
	static char buf[1 << 16];
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, buf + len, sizeof(buf) - 1 - len);
		if (n < 0)
			die("read");
		len += n;
	} while (n && !once && len < sizeof(buf) - 1);
	buf[len] = '\0';
	return strstr(buf, text);
}

static void names(void)
{
	int owner = own(), dir = open_dir(owner), fd, nr;
	char *name = name_of(owner);

	if (fcntl(owner, F_GETFD) != FD_CLOEXEC)
		die("the descriptor stays open over exec");
	close(open_at(dir, "trace", O_RDONLY));
	if (!snapshot) {
		mark(dir, "a marker");
		fd = open_at(dir, "trace", O_RDONLY);
		if (!has(fd, "a marker", false))
			die("the marker is not in trace");
		close(fd);
		expect(write(owner, "0", 1), EINVAL, "write");
	} else {
		expect(openat(dir, "trace_marker", O_WRONLY), ENOENT, "trace_marker");
	}
	expect(rmdir(path_of_instance(name)), EBUSY, "rmdir");
	/* A task that gets it, in a chroot or with less rights, gets no way out by it. */
	for (nr = 0; nr < 256; nr++)
		expect(ioctl(owner, _IO('R', nr), 0), ENOTTY, "ioctl");
	expect(openat(owner, "..", O_PATH), ENOTDIR, "its directory");
	close(owner);
	wait_gone(name);
	/* The directory owns nothing. */
	expect(openat(dir, "trace", O_RDONLY), ENOENT, "trace in the directory");
}

static void modes(void)
{
	static const int refused[] = { O_RDONLY, O_WRONLY, O_ACCMODE };
	int fd, owner = own();
	unsigned long before;
	char *name;

	if (snapshot) {
		fd = open(path_of(file), O_RDONLY);
		expect(ioctl(fd, TRACE_IOC_SNAPSHOT, 0), EBADF, "ioctl of a reader");
		fd = open(path_of(file), O_WRONLY);
		expect(ioctl(fd, TRACE_IOC_SNAPSHOT, 1), EINVAL, "an argument");
		expect(ioctl(fd, TRACE_IOC_SNAPSHOT + 1, 0), ENOTTY, "another ioctl");
		return;
	}
	before = strtoul(name_of(owner) + 3, NULL, 10);
	for (fd = 0; fd < 3; fd++)
		expect(open(path_of(file), refused[fd]), EACCES, "open");
	fd = open(path_of(file), O_PATH | O_RDWR);
	if (fd < 0)
		die("O_PATH");
	expect(read(fd, &before, 1), EBADF, "read of O_PATH");
	close(owner);
	owner = own();
	/* None of them has made an instance. */
	if (strtoul(name_of(owner) + 3, NULL, 10) != before + 1)
		die("%s is not the one behind fd-%lu", name_of(owner), before);
	name = name_of(owner);
	close(owner);
	wait_gone(name);
}

static void send_fd(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(to, &msg, 0) != 1)
		die("sendmsg");
}

static void must_stay(int dir, const char *name, const char *why)
{
	/* Another one comes and goes, so that the work of a wrong end has run. */
	int other = own();
	char *passed = name_of(other);

	close(other);
	wait_gone(passed);
	if (!exists(name))
		die("%s: %s has gone", why, name);
	close(open_at(dir, "trace", O_RDONLY));
}

static void shared(void)
{
	int owner = own(), dir = open_dir(owner), copy, sv[2], go[2];
	char *name = name_of(owner);
	pid_t pid;

	copy = dup(owner);
	close(owner);
	must_stay(dir, name, "dup");

	if (pipe(go))
		die("pipe");
	pid = fork();
	if (!pid) {
		char c;

		close(go[1]);
		_exit(read(go[0], &c, 1) < 0);
	}
	close(copy);
	must_stay(dir, name, "fork");

	close(go[1]);
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
	wait_gone(name);
	close(dir);

	owner = own();
	dir = open_dir(owner);
	name = name_of(owner);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	send_fd(sv[0], owner);
	close(owner);
	must_stay(dir, name, "SCM_RIGHTS");
	close(sv[0]);
	close(sv[1]);
	wait_gone(name);
}

/*
 * The owner of @dir ends: nothing can be opened there from some moment on. The directory of a
 * snapshot is removed as well, a moment later.
 */
static void wait_retired(int dir)
{
	int fd, tries = 6000;

	while (((fd = openat(dir, "trace", O_RDONLY)) >= 0 || (snapshot && errno == ENODEV)) &&
	       --tries) {
		if (fd >= 0)
			close(fd);
		usleep(10000);
	}
	expect(fd, snapshot ? ENOENT : ENODEV, "a late open");
}

/* Nothing more comes to a mapping: a wait for it ends. */
static void expect_no_wait(int raw)
{
	int status, tries = 6000;
	pid_t pid = fork();

	if (!pid)
		_exit(ioctl(raw, TRACE_MMAP_IOCTL_GET_READER) != -1 || errno != ENODEV);
	while (!waitpid(pid, &status, WNOHANG) && --tries)
		usleep(10000);
	if (tries && !status)
		return;
	kill(pid, SIGKILL);
	die("a wait of trace_pipe_raw: status %#x", tries ? status : -1);
}

/* It reads all, and sleeps until the owner ends. */
static pid_t start_reader(int owner, int pipe)
{
	pid_t pid = fork();
	bool had;

	if (pid)
		return pid;
	close(owner);
	had = has(pipe, "a marker", true);
	_exit(!had || has(pipe, "a marker", false));
}

/* Have page faults sampled, and none recorded. Return: a descriptor of "perf_events", or -1. */
static int sample_faults(int dir)
{
	int fd = openat(dir, "perf_events", O_RDWR), filter;

	if (fd < 0)
		return fd;
	filter = open_at(dir, "events/perf/sample/filter", O_WRONLY);
	if (write(filter, "mode == 99", 10) != 10 || write(fd, "page-faults", 11) != 11)
		die("perf_events");
	close(filter);
	return fd;
}

/* A worker ends the counters of an owner that has ended. */
static void wait_unsampled(int fd)
{
	int tries = 6000;

	while (--tries && !lseek(fd, 0, SEEK_SET) && has(fd, "page-faults:period", false))
		usleep(10000);
	if (!tries)
		die("page faults are still sampled");
	expect(write(fd, "cs", 2), ENODEV, "a late sampler");
	close(fd);
}

static void elsewhere(void)
{
	static const char *const readers[] = { "trace", "trace_pipe", "events/header_page",
					       "buffer_total_size_kb" };
	int owner = own(), dir = open_dir(owner), fds[4], i, late = -1, raw = -1, samples = -1;
	struct pollfd p = { .events = POLLIN };
	char *name = name_of(owner);
	pid_t pid = 0;

	if (!snapshot) {
		mark(dir, "a marker");
		late = open_at(dir, "trace_marker", O_WRONLY);
		samples = sample_faults(dir);
	}
	for (i = 0; i < 4; i++)
		fds[i] = open_at(dir, readers[i], O_RDONLY);
	if (!snapshot) {
		if (!has(fds[0], "a marker", true))
			die("trace has no marker");
		lseek(fds[0], 0, SEEK_SET);
		pid = start_reader(owner, fds[1]);
		/* After the fork: a copy that is closed would end each wait. */
		raw = open_at(dir, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
	}
	close(owner);
	if (pid && (waitpid(pid, &i, 0) != pid || i))
		die("trace_pipe does not end with the owner: %#x", i);
	wait_retired(dir);
	if (samples >= 0)
		wait_unsampled(samples);
	p.fd = fds[1];
	if (poll(&p, 1, 60000) != 1)
		die("trace_pipe is not ready");
	/* "trace" has what nobody has consumed. */
	if (has(fds[0], "a marker", false) != snapshot ||
	    has(fds[1], "a marker", false) != snapshot)
		die("wrong records behind the end of the owner");
	if (!has(fds[2], "field", false) || !has(fds[3], "\n", false))
		die("a file is not readable behind the end of the owner");
	for (i = 0; i < 4; i++)
		close(fds[i]);
	if (!snapshot) {
		if (!exists(name))
			die("%s has gone before its last file", name);
		/* It is not mapped, which is what the ioctl says then. */
		expect_no_wait(raw);
		close(raw);
		close(late);
	}
	wait_gone(name);
	close(dir);
}

/* Own and use until a signal comes. */
static void use(unsigned int seed)
{
	static const struct {
		const char	*name, *text;
	} uses[] = {
		{ "trace", "1" },
		{ "trace_pipe", "1" },
		{ "events/enable", "1" },
		{ "trace_marker", "1" },
		{ "per_cpu/cpu0/trace_pipe_raw", "1" },
		{ "snapshot", "1" },
		{ "snapshot_keep", "2" },
		{ "events/sched/sched_switch/trigger", "stacktrace:5" },
		{ "perf_events", "cpu-clock" },
		{ "stop_on", "event ftrace:print after 1000s" },
		{ "proc_view", "1" },
		{ ".", "1" },
	};
	int owner, dir, i, j, fd[4];

	srand(seed);
	for (;;) {
		owner = try_own();
		if (owner < 0)
			die("a child owns nothing");
		dir = open_dir(owner);
		for (i = 0; i < 4; i++) {
			j = rand() % (sizeof(uses) / sizeof(*uses));
			fd[i] = openat(dir, uses[j].name, rand() % 2 ? O_RDWR : O_RDONLY);
			if (rand() % 2)
				write(fd[i], uses[j].text, strlen(uses[j].text));
		}
		if (rand() % 2)
			close(owner);
		for (i = 0; i < 4; i++)
			close(fd[i]);
		close(dir);
		close(owner);
	}
}

static int count_owned(void)
{
	DIR *dir = opendir(path_of("instances"));
	struct dirent *e;
	int n = 0;

	if (!dir)
		die("instances");
	while ((e = readdir(dir)))
		n += snapshot ? !!strchr(e->d_name, '@') : !strncmp(e->d_name, "fd-", 3);
	closedir(dir);
	return n;
}

static void kill_owners(int rounds)
{
	int status, tries = 6000, n;

	srand(rounds);
	for (n = 0; n < rounds; n++) {
		unsigned int seed = rand();
		pid_t pid = fork();

		if (!pid)
			use(seed);
		/* To take a snapshot, it waits for a grace period of RCU. */
		usleep(rand() % (snapshot ? 80000 : 20000));
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
			die("round %d: status %#x", n, status);
	}
	while (count_owned() && --tries)
		usleep(10000);
	if (!tries)
		die("%d are left", count_owned());
}

static void hold(void)
{
	puts(name_of(own()));
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *command = argc > 3 ? argv[1] : "";

	if (argc > 3) {
		tracefs = argv[2];
		file = argv[3];
		snapshot = !strstr(file, "instance_open");
	}
	if (!strcmp(command, "names"))
		names();
	else if (!strcmp(command, "modes"))
		modes();
	else if (!strcmp(command, "shared"))
		shared();
	else if (!strcmp(command, "elsewhere"))
		elsewhere();
	else if (!strcmp(command, "kill") && argc > 4)
		kill_owners(atoi(argv[4]));
	else if (!strcmp(command, "hold"))
		hold();
	else
		die("usage: %s COMMAND TRACEFS FILE [ROUNDS]", argv[0]);
	return 0;
}
