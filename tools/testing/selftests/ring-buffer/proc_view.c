// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of /proc/PID/trace for ftrace/test.d/proc_view:
 *
 *   proc_view TEST INSTANCE [ARGUMENT]
 *
 * INSTANCE is the directory of an instance that is shown and records. Each target writes lines
 * "target PID UID TEXT" to its trace_marker. A reader is a process with other rights.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/sched.h>

#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "die.h"

#define USER	1000
#define OTHER	1001

#define BIT(n)		(1U << (n))
#define PERFMON		CAP_PERFMON
#define SEVERAL		(64 * 1024)

static const char *dir, *instance;	/* its directory and its name */
static int marker;			/* its trace_marker */
static const char *argument;		/* of the test, or NULL */

static void check(bool ok, const char *what)
{
	if (!ok)
		die("%s", what);
}

static void say(const char *text)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "target %ld %d %s\n", syscall(SYS_gettid), geteuid(),
			 text);

	check(write(marker, line, n) == n, "write to trace_marker");
}

/* Write so much that a copy has no room for anything earlier. */
static void say_much(void)
{
	static char line[4000];
	int i;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	for (i = 0; i < 800; i++)
		check(write(marker, line, sizeof(line)) == sizeof(line), "a long line");
}

/* Return: a descriptor of the file with this ending, or -errno. */
static int open_file(pid_t pid, const char *ending)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/trace/%s.%s", pid, instance, ending);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_view(pid_t pid)
{
	return open_file(pid, "txt");
}

static int must_open(pid_t pid)
{
	int fd = open_view(pid);

	if (fd < 0)
		die("open the view of %d: %s", pid, strerror(-fd));
	return fd;
}

/* Return: bytes, which end with a 0, or -errno. */
static int read_all(int fd, char *buf)
{
	int n, len = 0;

	check(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	do {
		n = read(fd, buf + len, SEVERAL - 1 - len);
		if (n < 0)
			return -errno;
		len += n;
	} while (n > 0);
	buf[len] = 0;
	return len;
}

static bool view_has(pid_t pid, const char *text)
{
	static char buf[SEVERAL];
	int fd = must_open(pid), ret = read_all(fd, buf);

	if (ret < 0)
		die("read the view of %d: %s", pid, strerror(-ret));
	close(fd);
	return strstr(buf, text);
}

/* Become this user, with these capabilities, or 0. */
static void drop_with(uid_t uid, int cap1, int cap2)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {};
	int caps[] = { cap1, cap2 }, i;

	for (i = 0; i < 2; i++) {
		if (caps[i])
			data[caps[i] / 32].effective |= BIT(caps[i] % 32);
	}
	for (i = 0; i < 2; i++)
		data[i].permitted = data[i].effective;
	check(!prctl(PR_SET_KEEPCAPS, 1), "keepcaps");
	/* Those of the C library are for all threads. */
	check(!syscall(SYS_setresgid, uid, uid, uid), "setresgid");
	check(!syscall(SYS_setresuid, uid, uid, uid), "setresuid");
	check(!syscall(SYS_capset, &head, data), "capset");
	prctl(PR_SET_DUMPABLE, 1);
}

/* Return: its exit status. */
static int status_of(pid_t child)
{
	int status;

	check(waitpid(child, &status, 0) == child && WIFEXITED(status), "a child");
	return WEXITSTATUS(status);
}

/* True in a child of USER, which must end with success; false here, when it has. */
static bool in_child(int cap)
{
	pid_t child = fork();

	if (!child) {
		drop_with(USER, cap, 0);
		return true;
	}
	check(!status_of(child), "a child has failed");
	return false;
}

/* A process that does what it is told, a letter at a time, and answers each one. */
struct target {
	pid_t pid;
	int to, from;
};

static void tell(struct target *t, char what)
{
	char c = 0;

	check(write(t->to, &what, 1) == 1, "tell");
	if (read(t->from, &c, 1) != 1 || c != what)
		die("target %d does not answer to %c", t->pid, what);
}

static void *say_thread(void *arg)
{
	int *wait = arg;
	char c;

	say("thread");
	check(write(wait[3], "t", 1) == 1, "thread answers");
	/* It stays until it is told, and may have other credentials than the others. */
	do {
		check(read(wait[0], &c, 1) == 1, "thread waits");
		if (c != 'j')
			check(!syscall(SYS_setresuid, OTHER, OTHER, OTHER), "thread's setresuid");
		if (c == 'o') {
			say("other");
			check(write(wait[3], &c, 1) == 1, "thread answers as another user");
		}
	} while (c == 'o');
	return NULL;
}

/* @program is what is executed. */
static void obey(int in, int out, const char *program)
{
	static char in_text[16], out_text[16], marker_text[16];
	int wait[4];
	pthread_t thread;
	char c;

	if (pipe(wait) || pipe(wait + 2))
		die("pipe");
	while (read(in, &c, 1) == 1) {
		switch (c) {
		case 'a':
			say("first");
			break;
		case 'b':
			say("second");
			break;
		case 'm':
			say_much();
			break;
		case 't':
			check(!pthread_create(&thread, NULL, say_thread, wait), "thread");
			check(read(wait[2], &c, 1) == 1, "thread begins");
			break;
		case 'o': /* The thread is of another user. */
			check(write(wait[1], &c, 1) == 1, "tell the thread");
			check(read(wait[2], &c, 1) == 1, "thread of another user");
			break;
		case 'j':
		case 'c':
			check(write(wait[1], &c, 1) == 1 && !pthread_join(thread, NULL), "join");
			break;
		case 'u':
			drop_with(USER, 0, 0);
			break;
		case 'd':
			prctl(PR_SET_DUMPABLE, 0);
			break;
		case 'e':
			return;
		case 'l': /* The leader ends, and the thread does not. */
			check(write(out, &c, 1) == 1, "answer");
			pthread_exit(NULL);
		case 'x': /* The program has the descriptors. */
			snprintf(in_text, sizeof(in_text), "%d", in);
			snprintf(out_text, sizeof(out_text), "%d", out);
			snprintf(marker_text, sizeof(marker_text), "%d", marker);
			execl(program, "proc_view", "obey", in_text, out_text, marker_text, NULL);
			die("exec %s", program);
		}
		check(write(out, &c, 1) == 1, "answer");
	}
}

/* @program is what 'x' executes; @pid is the PID that it gets, or 0. */
static struct target target_with(const char *program, pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	int to[2], from[2];
	struct target t;

	if (pid) {
		args.set_tid = (unsigned long)&pid;
		args.set_tid_size = 1;
	}
	if (pipe(to) || pipe(from))
		die("pipe");
	t = (struct target){ .to = to[1], .from = from[0] };
	t.pid = syscall(SYS_clone3, &args, sizeof(args));
	if (t.pid < 0)
		die("clone3");
	if (!t.pid) {
		close(t.to);
		close(t.from);
		obey(to[0], from[1], program);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	return t;
}

static struct target target(void)
{
	return target_with("/proc/self/exe", 0);
}

static void end(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->to);
	close(t->from);
}

/* Another process opens, with these rights. Return: 0 or an errno. */
static int open_as(pid_t pid, uid_t uid, int cap1, int cap2)
{
	pid_t child = fork();
	int fd;

	if (!child) {
		drop_with(uid, cap1, cap2);
		fd = open_view(pid);
		_exit(fd < 0 ? -fd : 0);
	}
	return status_of(child);
}

/* The same for the names in the directory. */
static int list_as(pid_t pid, uid_t uid, int cap1, int cap2)
{
	struct dirent *entry;
	char path[64];
	pid_t child = fork();
	DIR *d;

	if (!child) {
		drop_with(uid, cap1, cap2);
		snprintf(path, sizeof(path), "/proc/%d/trace", pid);
		d = opendir(path);
		errno = ENOTDIR;
		if (d) {
			errno = 0;
			while ((entry = readdir(d))) {
				if (!strncmp(entry->d_name, instance, strlen(instance)))
					_exit(0);
			}
			if (!errno)
				errno = ENOENT;
		}
		_exit(errno);
	}
	return status_of(child);
}

static void expect(int got, int want, const char *what)
{
	if (got != want)
		die("%s: got \"%s\", expected \"%s\"", what, strerror(got), strerror(want));
}

static void expect_read(int fd, int want, const char *what)
{
	static char buf[SEVERAL];
	int ret = read_all(fd, buf);

	expect(ret < 0 ? -ret : 0, want, what);
}

static void test_user(void)
{
	struct target root = target(), user = target(), other = target();

	tell(&root, 'a');
	tell(&user, 'u');
	tell(&user, 'a');
	expect(open_as(user.pid, USER, 0, 0), EPERM, "without CAP_PERFMON");
	expect(list_as(user.pid, USER, 0, 0), EPERM, "list without CAP_PERFMON");
	expect(open_as(user.pid, USER, CAP_SYS_PTRACE, 0), EPERM, "CAP_SYS_PTRACE alone");
	expect(open_as(user.pid, USER, PERFMON, 0), 0, "its own process");
	expect(list_as(user.pid, USER, PERFMON, 0), 0, "list its own process");
	expect(open_as(root.pid, USER, PERFMON, 0), EACCES, "a process of root");
	expect(list_as(root.pid, USER, PERFMON, 0), EACCES, "list a process of root");
	expect(open_as(user.pid, OTHER, PERFMON, 0), EACCES, "a process of another user");
	expect(open_as(user.pid, OTHER, PERFMON, CAP_SYS_PTRACE), 0, "with CAP_SYS_PTRACE");
	tell(&other, 'u');
	tell(&other, 'd');
	expect(open_as(other.pid, USER, PERFMON, 0), EACCES, "a process that is not dumpable");
	expect(open_as(other.pid, USER, PERFMON, CAP_SYS_PTRACE), 0, "that with CAP_SYS_PTRACE");
	end(&root);
	end(&user);
	end(&other);
}

/* A descriptor that goes to a process with fewer rights */
static void test_passed(void)
{
	struct target root = target();
	int fd;

	tell(&root, 'a');
	fd = must_open(root.pid);
	if (in_child(0)) {
		expect_read(fd, EPERM, "read without CAP_PERFMON");
		_exit(0);
	}
	if (in_child(PERFMON)) {
		expect_read(fd, EACCES, "read of a process of root");
		_exit(0);
	}
	expect_read(fd, 0, "root");
	end(&root);
}

static void test_threads(void)
{
	struct target t = target();
	int before, after;

	tell(&t, 'a');
	tell(&t, 't');
	check(view_has(t.pid, " first"), "a record of the leader");
	check(view_has(t.pid, " thread"), "a record of a thread");
	before = open_view(t.pid);
	tell(&t, 'j');
	check(!view_has(t.pid, " thread"), "no record of a thread that has ended");
	expect_read(before, 0, "a copy with a thread that has ended");
	tell(&t, 't');
	before = open_view(t.pid);
	tell(&t, 'c');
	expect_read(before, ESRCH, "a thread that has changed its credentials and ended");
	tell(&t, 't');
	after = must_open(t.pid);
	tell(&t, 'l');
	/* The leader is seen to exit a moment later. */
	while (open_as(t.pid, 0, PERFMON, CAP_SYS_PTRACE) == 0)
		usleep(1000);
	expect(open_as(t.pid, 0, PERFMON, CAP_SYS_PTRACE), ESRCH, "open without a leader");
	expect_read(after, ESRCH, "read without a leader");
	end(&t);
}

/* A thread of another user is left out, and so are its records, which count nowhere. */
static void test_other(void)
{
	struct target t = target();

	tell(&t, 't');
	tell(&t, 'o');
	/* The thread has made the process not dumpable. This sets it again. */
	tell(&t, 'u');
	tell(&t, 'a');
	check(view_has(t.pid, " records=2 dropped=0 gaps=0\n"), "both for root");
	check(view_has(t.pid, " other\n"), "the thread for root");
	if (in_child(PERFMON)) {
		check(view_has(t.pid, " records=1 dropped=0 gaps=0\n"), "one for the user");
		check(view_has(t.pid, " first\n"), "the leader for the user");
		check(!view_has(t.pid, " other\n"), "no thread of another user");
		_exit(0);
	}
	end(&t);
}

/* A thread does not count any more if its records are dropped for newer ones. */
static void test_dropped(void)
{
	struct target t = target();
	char c;
	int fd;

	tell(&t, 't');
	tell(&t, 'm');
	fd = must_open(t.pid);
	tell(&t, 'c');
	expect(pread(fd, &c, 1, 0) == 1 ? 0 : errno, 0,
	       "a thread without records that has changed its credentials");
	close(fd);
	end(&t);
}

static void test_exec(void)
{
	struct target t = target();
	int fd;

	tell(&t, 'a');
	fd = must_open(t.pid);
	expect_read(fd, 0, "before exec");
	tell(&t, 'x');
	expect_read(fd, ESRCH, "after exec");
	tell(&t, 'b');
	check(!view_has(t.pid, " first"), "nothing from before the exec");
	check(view_has(t.pid, " second"), "the program that was executed");
	end(&t);
}

/* The argument is a program of root with the mode 4755. */
static void test_setuid(void)
{
	struct target t = target_with(argument, 0);
	char buf[SEVERAL];
	int fd;

	tell(&t, 'u');
	tell(&t, 'a');
	if (in_child(PERFMON)) {
		fd = must_open(t.pid);
		check(read_all(fd, buf) > 0 && strstr(buf, " first"), "before exec");
		tell(&t, 'x');
		tell(&t, 'b');
		expect_read(fd, ESRCH, "read after exec of a setuid program");
		expect(-open_view(t.pid), EACCES, "open after exec of a setuid program");
		_exit(0);
	}
	check(!view_has(t.pid, " first"), "nothing from before the exec");
	snprintf(buf, sizeof(buf), "target %d 0 second", t.pid);
	check(view_has(t.pid, buf), "the program that was executed runs as root");
	end(&t);
}

static void test_cred(void)
{
	struct target t = target();
	int fd;

	tell(&t, 'a');
	fd = must_open(t.pid);
	tell(&t, 'u');
	expect_read(fd, ESRCH, "after a change of credentials");
	tell(&t, 'b');
	if (in_child(PERFMON)) {
		check(!view_has(t.pid, " first"), "nothing from the time as root");
		check(view_has(t.pid, " second"), "its records as a user");
		_exit(0);
	}
	end(&t);
}

static void test_exit(void)
{
	struct target t = target();
	int fd;

	tell(&t, 'a');
	fd = must_open(t.pid);
	kill(t.pid, SIGKILL);
	waitid(P_PID, t.pid, NULL, WEXITED | WNOWAIT);
	expect_read(fd, ESRCH, "a zombie");
	expect(-open_view(t.pid), ESRCH, "open of a zombie");
	end(&t);
	expect_read(fd, ESRCH, "a process that was reaped");
	expect(-open_view(t.pid), ENOENT, "open of a process that was reaped");
}

static void test_reuse(void)
{
	struct target first = target(), second;
	int fd;

	tell(&first, 'a');
	check(view_has(first.pid, " first"), "the first owner");
	fd = open_view(first.pid);
	end(&first);
	second = target_with("/proc/self/exe", first.pid);
	check(second.pid == first.pid, "the same PID");
	check(!view_has(second.pid, " first"), "nothing of the first owner");
	tell(&second, 'b');
	check(view_has(second.pid, " second"), "the second owner");
	expect_read(fd, ESRCH, "the copy of the first owner");
	end(&second);
}

/* Return: number of bytes of the view in the /proc at @proc. */
static int read_at(const char *proc, pid_t pid, const char *ending, char *buf)
{
	char file[600];
	int fd, len;

	snprintf(file, sizeof(file), "%s/%d/trace/%s.%s", proc, pid, instance, ending);
	fd = open(file, O_RDONLY);
	check(fd >= 0, file);
	len = read_all(fd, buf);
	check(len > 0 && len < SEVERAL - 1, "read in a namespace");
	close(fd);
	return len;
}

/* The trace.dat of a target that has written one record */
static void expect_dat(const char *dat, int len, pid_t pid)
{
	char name[32], text[32];
	const char *at;
	int32_t seen;

	snprintf(name, sizeof(name), "%d proc_view\n", pid);
	at = memmem(dat, len, name, strlen(name));
	/* In front of the names is their size. */
	check(at && at > dat && (at[-1] < '0' || at[-1] > '9'), "the PID in the table of names");
	snprintf(text, sizeof(text), "target %d 0 first\n", pid);
	at = memmem(dat, len, text, strlen(text));
	check(at && at - dat > 16, "the record of the target");
	/* The fields of an event "print": common_pid, ip, and the text */
	memcpy(&seen, at - sizeof(long) - sizeof(seen), sizeof(seen));
	if (seen != pid)
		die("common_pid: got %d, expected %d", seen, pid);
}

/* A reader in a namespace of PIDs, with a /proc of its own, is 1 there; the target is 2. */
static void in_namespace(void)
{
	static char buf[SEVERAL];
	struct target t;
	char path[] = "/tmp/proc_view.XXXXXX", line[32];
	int len;

	check(getpid() == 1, "the first process of a namespace");
	check(mkdtemp(path), "mkdtemp");
	check(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
	check(!mount("proc", path, "proc", 0, NULL), "mount proc");
	t = target();
	tell(&t, 'a');
	read_at(path, t.pid, "txt", buf);
	snprintf(line, sizeof(line), "-%-7d [", t.pid);
	check(strstr(buf, line), "the PID of the namespace");
	snprintf(line, sizeof(line), "pid=%d ", t.pid);
	check(strstr(buf, line), "the PID of the namespace in the head");
	len = read_at(path, t.pid, "dat", buf);
	expect_dat(buf, len, t.pid);
	end(&t);
	umount2(path, MNT_DETACH);
	rmdir(path);
	_exit(0);
}

static void test_namespace(void)
{
	struct clone_args args = {
		.flags = CLONE_NEWPID | CLONE_NEWNS, .exit_signal = SIGCHLD,
	};
	pid_t child = syscall(SYS_clone3, &args, sizeof(args));

	if (!child)
		in_namespace();
	check(child > 0 && !status_of(child), "namespace");
}

/* Root without CAP_SYS_RESOURCE opens as many as it can, until it is told to close them. */
static void fill_limit(pid_t pid, int to, int from)
{
	int fd[64], nr;
	char c = 0;

	drop_with(0, PERFMON, CAP_SYS_PTRACE);
	for (nr = 0; nr < 64; nr++) {
		fd[nr] = open_view(pid);
		if (fd[nr] < 0)
			break;
	}
	check(nr > 1 && nr < 64, "a limit");
	expect(-fd[nr], EDQUOT, "too many files");
	check(write(to, &c, 1) == 1 && read(from, &c, 1) == 1, "wait with open files");
	while (nr)
		close(fd[--nr]);
	must_open(pid);
	_exit(0);
}

static void enter_cgroup(const char *procs)
{
	int fd = open(procs, O_WRONLY);

	check(fd >= 0 && write(fd, "0", 1) == 1, procs);
	close(fd);
}

/*
 * Open files are counted for each user in each memory cgroup, and not for CAP_SYS_RESOURCE. The
 * argument is the cgroup.procs of another cgroup.
 */
static void test_limit(void)
{
	struct target t = target(), user = target();
	int to[2], from[2];
	pid_t child;
	char c;

	tell(&user, 'u');
	if (pipe(to) || pipe(from))
		die("pipe");
	child = fork();
	if (!child)
		fill_limit(t.pid, from[1], to[0]);
	check(read(from[0], &c, 1) == 1, "the limit is reached");
	expect(open_as(t.pid, 0, PERFMON, CAP_SYS_PTRACE), EDQUOT, "the same user");
	expect(open_as(user.pid, USER, PERFMON, 0), 0, "another user");
	/* With CAP_SYS_RESOURCE */
	close(must_open(t.pid));
	if (argument) {
		enter_cgroup(argument);
		expect(open_as(t.pid, 0, PERFMON, CAP_SYS_PTRACE), 0, "another cgroup");
	}
	check(write(to[1], &c, 1) == 1, "tell");
	check(!status_of(child), "reader with open files");
	end(&t);
	end(&user);
}

/* Each read() of each offset gives the same bytes. */
static void seek_in(struct target *t, int fd)
{
	char all[SEVERAL], part[300], *page;
	int len, n, i, at;

	len = read_all(fd, all);
	check(len > 4096, "more than a page");
	check(lseek(fd, 0, SEEK_END) == len, "the size");
	tell(t, 'a');
	for (i = 0; i < 2000; i++) {
		at = random() % (len + 10);
		n = pread(fd, part, random() % sizeof(part), at);
		check(n >= 0 && (at < len || !n), "pread");
		check(!memcmp(part, all + at, n), "the same bytes");
	}
	check(lseek(fd, len + 1, SEEK_SET) < 0 && errno == EINVAL, "behind the end");
	/* Memory that is not there, and memory that ends */
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(page != MAP_FAILED && pread(fd, page, 100, 0) < 0 && errno == EFAULT, "EFAULT");
	page = aligned_alloc(4096, 8192);
	check(page && pread(fd, page + 4096 - 100, 200, 0) == 200, "across pages");
	check(!memcmp(page + 4096 - 100, all, 200), "the same bytes across pages");
}

static void test_seek(void)
{
	struct target t = target();
	int i;

	for (i = 0; i < 200; i++)
		tell(&t, i % 2 ? 'a' : 'b');
	seek_in(&t, open_view(t.pid));
	/* (Another open() would have other clocks in it.) */
	seek_in(&t, open_file(t.pid, "dat"));
	end(&t);
}

/*
 * A random run. Each slot has one PID, and one process after the other gets it, some of them
 * root and some of a user; a run has a number that grows. They fork, execute, change
 * credentials, start threads and exit at random. Readers open, read and seek; an administrator
 * switches, erases and resizes the instance, and creates and removes another one.
 *
 * A reader knows the number of the run that had begun before its open(): no record may be of an
 * earlier one, of another group, or, for a reader of the user, of a process of root.
 */
#define SLOTS	4

static struct shared {
	pid_t pid[SLOTS];
	unsigned int run[SLOTS];
	unsigned int opens, revoked, user_lines, root_lines, removed;
	bool stop;
} *shared;

static void say_run(unsigned int run)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "run %u %d %d\n", run, getuid(), getpid());

	/* Switched off, it may record nothing. */
	if (write(marker, line, n) != n && errno != EBADF)
		die("write to trace_marker");
}

static void *run_thread(void *run)
{
	say_run((unsigned long)run);
	usleep(random() % 2000);
	say_run((unsigned long)run);
	return NULL;
}

static void run_program(unsigned int run)
{
	char run_text[16], marker_text[16];

	snprintf(run_text, sizeof(run_text), "%u", run);
	snprintf(marker_text, sizeof(marker_text), "%d", marker);
	execl("/proc/self/exe", "proc_view", "run", run_text, marker_text, NULL);
	die("exec");
}

static void run_once(unsigned long run, bool executed)
{
	pthread_t thread[3];
	int i, n = 0;

	srandom(run * 2 + executed + getpid());
	if (random() % 2 && !getuid()) {
		say_run(run);
		drop_with(USER, 0, 0);
	}
	for (i = random() % 20; i > 0; i--) {
		say_run(run);
		if (n < 3 && random() % 4 == 0)
			n += !pthread_create(&thread[n], NULL, run_thread, (void *)run);
		usleep(random() % 1000);
		if (!executed && random() % 16 == 0)
			run_program(run);
	}
	while (n && random() % 2)
		pthread_join(thread[--n], NULL);
	_exit(0);
}

static void run_slot(int slot)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;

	while (!shared->stop) {
		unsigned int run = __atomic_add_fetch(&shared->run[slot], 1, __ATOMIC_SEQ_CST);

		if (shared->pid[slot]) {
			args.set_tid = (unsigned long)&shared->pid[slot];
			args.set_tid_size = 1;
		}
		pid = syscall(SYS_clone3, &args, sizeof(args));
		if (!pid)
			run_once(run, false);
		/* Another thread has the PID for a moment. */
		if (pid < 0 && errno == EEXIST) {
			usleep(100);
			continue;
		}
		check(pid > 0, "clone3 of a run");
		shared->pid[slot] = pid;
		check(waitpid(pid, NULL, 0) == pid, "waitpid of a run");
	}
}

static void check_line(const char *line, pid_t pid, unsigned int run)
{
	const char *text = strstr(line, "run ");
	unsigned int seen;
	int uid, tgid;

	if (*line == '#' || !text || sscanf(text, "run %u %d %d", &seen, &uid, &tgid) != 3)
		return;
	if (tgid != pid || seen < run || (getuid() && uid != USER))
		die("a foreign record, of %d run %u or later, seen as %d: %s", pid, run, getuid(),
		    line);
	__atomic_add_fetch(getuid() ? &shared->user_lines : &shared->root_lines, 1,
			   __ATOMIC_RELAXED);
}

static bool is_allowed(int err, bool reading)
{
	static const int opens[] = { ENOENT, ENODEV, EOPNOTSUPP, EAGAIN, EDQUOT };
	unsigned int i;

	if (err == ESRCH || err == EACCES)
		return true;
	for (i = 0; !reading && i < sizeof(opens) / sizeof(*opens); i++) {
		if (err == opens[i])
			return true;
	}
	return false;
}

static void read_at_random(int fd, pid_t pid, unsigned int run, bool dat)
{
	static char buf[SEVERAL];
	char *line, *next;
	int i, n;

	for (i = random() % 4; i >= 0; i--) {
		if (random() % 2)
			lseek(fd, random() % 2000, SEEK_SET);
		n = read(fd, buf, random() % 500);
		if (n < 0 && errno == ESRCH)
			__atomic_add_fetch(&shared->revoked, 1, __ATOMIC_RELAXED);
		if (n < 0 && !is_allowed(errno, true))
			die("read");
		usleep(random() % 2000);
	}
	n = read_all(fd, buf);
	if (n < 0 && !is_allowed(-n, true))
		die("read all: %s", strerror(-n));
	if (dat && n > 3 && memcmp(buf, "\x17\x08\x44tracing6", 11))
		die("no trace.dat");
	for (line = n > 0 && !dat ? buf : NULL; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		check_line(line, pid, run);
	}
}

static void read_slots(uid_t uid)
{
	static const char *const other[] = { "", "_other" };
	char path[600];
	unsigned int run;
	int fd, slot;
	pid_t pid;
	bool dat;

	if (uid)
		drop_with(uid, PERFMON, 0);
	srandom(getpid());
	while (!shared->stop) {
		slot = random() % SLOTS;
		run = __atomic_load_n(&shared->run[slot], __ATOMIC_SEQ_CST);
		pid = shared->pid[slot];
		dat = random() % 4 == 0;
		snprintf(path, sizeof(path), "/proc/%d/trace/%s%s.%s", pid, instance,
			 other[random() % 4 == 0], dat ? "dat" : "txt");
		fd = pid ? open(path, O_RDONLY) : -1;
		if (fd >= 0) {
			__atomic_add_fetch(&shared->opens, 1, __ATOMIC_RELAXED);
			read_at_random(fd, pid, run, dat);
			close(fd);
		} else if (pid && !is_allowed(errno, false)) {
			die("open %s", path);
		}
	}
}

/* Return: has it been written? */
static bool put(const char *base, const char *file, const char *text)
{
	char path[600];
	int fd, n;

	snprintf(path, sizeof(path), "%s/%s", base, file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n > 0;
}

/* Record the name "a" 1500 times. Each record has 15 bytes behind it, which must be zeros. */
static void read_names(void)
{
	static char buf[1024 * 1024];
	static const char name[2 * 16] = "a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a";
	char path[600], *at;
	int fd, i, n, len = 0, names = 0;

	for (i = 0; i < 1500; i++)
		prctl(PR_SET_NAME, "a");
	snprintf(path, sizeof(path), "/proc/self/trace/%s.dat", instance);
	fd = open(path, O_RDONLY);
	check(fd >= 0, path);
	while ((n = read(fd, buf + len, sizeof(buf) - len)) > 0)
		len += n;
	for (at = buf; (at = memmem(at, buf + len - at, name, sizeof(name))); at += sizeof(name))
		names++;
	check(names > 1000, "the names, with zeros behind them");
	check(!memmem(buf, len, "secret", 6), "no bytes of another process");
	_exit(0);
}

/* A record has nothing of older ones of other tasks. */
static void test_bytes(void)
{
	unsigned int i;
	char line[256];

	check(put(dir, "buffer_size_kb", "64"), "buffer_size_kb");
	check(put(dir, "events/task/task_rename/enable", "1"), "task_rename");
	for (i = 0; i < sizeof(line) - 1; i++)
		line[i] = "secret"[i % 6];
	line[i] = '\n';
	for (i = 0; i < 4000; i++)
		check(write(marker, line, sizeof(line)) == sizeof(line), "a secret line");
	if (in_child(PERFMON))
		read_names();
}

static void administer(void)
{
	static const struct {
		const char *file, *text;
	} change[] = {
		{ "proc_view", "0" }, { "proc_view", "1" }, { "proc_view", "1" },
		{ "trace_clock", "mono" }, { "trace_clock", "global" },
		{ "trace_clock", "counter" },
		{ "buffer_subbuf_size_kb", "4" }, { "buffer_subbuf_size_kb", "8" },
		{ "buffer_size_kb", "64" }, { "buffer_size_kb", "300" }, { "trace", " " },
	};
	char other[600];
	int i;

	snprintf(other, sizeof(other), "%s_other", dir);
	while (!shared->stop) {
		i = random() % (sizeof(change) / sizeof(*change));
		put(dir, change[i].file, change[i].text);
		/* Most of the time it is shown. */
		if (random() % 3) {
			put(dir, "trace_clock", "global");
			put(dir, "proc_view", "1");
		}
		usleep(random() % 20000);
		if (!mkdir(other, 0700)) {
			put(other, "trace_clock", "mono");
			check(put(other, "proc_view", "1"), "proc_view of a new instance");
			put(other, "events/sched/enable", "1");
			continue;
		}
		if (!rmdir(other))
			shared->removed++;
	}
	rmdir(other);
}

static void test_random(void)
{
	int seconds = argument ? atoi(argument) : 1;
	pid_t pid[SLOTS + 4];
	bool ok = true;
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	check(shared != MAP_FAILED, "mmap");
	alarm(seconds + 120);
	for (i = 0; i < SLOTS + 4; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		alarm(seconds + 120);
		if (i < SLOTS)
			run_slot(i);
		else if (i < SLOTS + 3)
			read_slots(i == SLOTS ? 0 : USER);
		else
			administer();
		exit(0);
	}
	while (seconds-- > 0)
		sleep(1);
	shared->stop = true;
	for (i = 0; i < SLOTS + 4; i++)
		ok = !status_of(pid[i]) && ok;
	printf("%u opens, %u reads revoked, %u lines for the user, %u for root\n", shared->opens,
	       shared->revoked, shared->user_lines, shared->root_lines);
	printf("%u instances removed, %u runs\n", shared->removed,
	       shared->run[0] + shared->run[1] + shared->run[2] + shared->run[3]);
	check(ok, "a process has failed");
	check(shared->revoked && shared->user_lines && shared->root_lines && shared->removed,
	      "the run says too little");
}

int main(int argc, char **argv)
{
	static const struct {
		const char	*name;
		void		(*run)(void);
	} tests[] = {
		{ "user", test_user }, { "passed", test_passed }, { "threads", test_threads },
		{ "other", test_other }, { "dropped", test_dropped }, { "exec", test_exec },
		{ "setuid", test_setuid }, { "cred", test_cred }, { "exit", test_exit },
		{ "reuse", test_reuse }, { "namespace", test_namespace }, { "limit", test_limit },
		{ "bytes", test_bytes }, { "seek", test_seek }, { "random", test_random },
	};
	const char *test = argc > 1 ? argv[1] : "";
	char path[512];
	unsigned int i;

	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(test, "obey") && argc == 5) {
		marker = atoi(argv[4]);
		check(write(atoi(argv[3]), "x", 1) == 1, "answer after exec");
		obey(atoi(argv[2]), atoi(argv[3]), "/proc/self/exe");
		return 0;
	}
	if (!strcmp(test, "run") && argc == 4) {
		marker = atoi(argv[3]);
		run_once(atoi(argv[2]), true);
	}
	if (argc < 3)
		return 2;
	dir = argv[2];
	instance = strrchr(dir, '/') + 1;
	snprintf(path, sizeof(path), "%s/trace_marker", dir);
	/* Each write is one record, also of a process with fewer rights. */
	marker = open(path, O_WRONLY);
	check(marker >= 0, path);
	argument = argv[3];
	alarm(300);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (!strcmp(test, tests[i].name)) {
			tests[i].run();
			return 0;
		}
	}
	return 2;
}
