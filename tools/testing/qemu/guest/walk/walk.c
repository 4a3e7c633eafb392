// SPDX-License-Identifier: GPL-2.0
/*
 * walk SECONDS SEED: do anything to any file of tracefs, /proc/PID/trace and /proc/PID/perf, at
 * random.
 *
 * Processes of different rights open, read, write, map, splice and close files, and create and
 * remove instances and kept snapshots, each by choices of its own generator: the same seed makes
 * the same choices, but other tasks change what they find. Nothing that a call returns is wrong
 * here. The kernel judges itself (see run-guest); this program only tells whether each process
 * goes on, and what it did:
 *
 *	NAME calls N, ok N	of a process
 *	NAME CALL ERROR:N ...	how often this call ended how
 *	NAME slowest MS CALL FILE
 *
 * If a call does not return, the kernel prints the tasks that wait and their locks. Exit status: 0,
 * or 1 if a process has died or does not end.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "walk.h"

#define STUCK_MS	100000		/* the kernel reports a hung task after 120 s */
#define CALL_NAME(name) #name,
static const char *const call_names[] = { CALLS(CALL_NAME) };

struct walker *walkers, *me;
int nr_walkers;

unsigned long long state;

unsigned long long rnd64(void)	/* splitmix64 */
{
	unsigned long long z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

unsigned int rnd(unsigned int n)
{
	return rnd64() % n;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void call_begin(int call, const char *path)
{
	me->call = call;
	snprintf(me->path, sizeof(me->path), "%s", path);
	errno = 0;
	__atomic_store_n(&me->since, now_ms(), __ATOMIC_RELEASE);
}

long call_end(long ret)
{
	int err = ret < 0 ? errno : 0;
	long ms = now_ms() - me->since;

	if (ms > me->slowest) {
		me->slowest = ms;
		me->slowest_call = me->call;
		memcpy(me->slowest_path, me->path, sizeof(me->path));
	}
	me->count[me->call][err < NR_ERRORS ? err : NR_ERRORS - 1]++;
	__atomic_store_n(&me->since, 0, __ATOMIC_RELEASE);
	return ret;
}

static void drop_to(uid_t id, unsigned int caps)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	prctl(PR_SET_KEEPCAPS, 1);
	if (setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id))
		exit(2);
	data[CAP_PERFMON / 32].effective = data[CAP_PERFMON / 32].permitted = caps;
	if (syscall(SYS_capset, &head, data))
		exit(2);
	/* Else /proc/self would be root's. */
	prctl(PR_SET_DUMPABLE, 1);
}

static void be_root(void) { }
static void be_group(void) { drop_to(1000, 0); }	/* the job gives tracefs to this group */
static void be_perfmon(void) { drop_to(1001, 1U << CAP_PERFMON % 32); }
static void be_nobody(void) { drop_to(1002, 0); }

static void nothing(int sig)
{
	int err = errno;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = err;
}

static void run(struct walker *w, unsigned long seed, long end)
{
	/* A call that waits is interrupted. */
	struct itimerval tick = { { 0, 200000 }, { 0, 200000 } };
	struct sigaction sa = { .sa_handler = nothing };

	me = w;
	w->pid = getpid();
	w->drop();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	state = seed * 1000 + (w - walkers);
	words_begin();
	acts_begin();
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGIO, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	setitimer(ITIMER_REAL, &tick, NULL);
	while (now_ms() < end)
		act();
	exit(0);
}

static const struct { const char *name; void (*drop)(void); bool outside; } roles[] = {
	{ "root.0", be_root }, { "root.1", be_root }, { "root.2", be_root }, { "group.0", be_group },
	{ "group.1", be_group }, { "perfmon", be_perfmon, true }, { "nobody", be_nobody, true },
};

static void report(struct walker *w)
{
	unsigned long all = 0, ok = 0;
	int c, e;

	for (c = 0; c < NR_CALLS; c++) {
		unsigned long n = 0;

		for (e = 0; e < NR_ERRORS; e++)
			n += w->count[c][e];
		if (!n)
			continue;
		all += n;
		ok += w->count[c][0];
		printf("%s %s", w->name, call_names[c]);
		for (e = 0; e < NR_ERRORS; e++) {
			if (w->count[c][e])
				printf(" %s:%lu", e ? strerrorname_np(e) ?: "?" : "ok", w->count[c][e]);
		}
		printf("\n");
	}
	printf("%s calls %lu, ok %lu\n", w->name, all, ok);
	printf("%s slowest %ld %s %s\n", w->name, w->slowest, call_names[w->slowest_call], w->slowest_path);
}

/* Returns the number of processes of which a call has not come back for so long. */
static int stuck(long ms)
{
	int n = 0;

	for (int i = 0; i < nr_walkers; i++) {
		struct walker *w = &walkers[i];
		long since = __atomic_load_n(&w->since, __ATOMIC_ACQUIRE);

		if (!w->pid || !since || now_ms() - since < ms)
			continue;
		printf("STUCK %s %ld ms in %s %s\n", w->name, now_ms() - since, call_names[w->call], w->path);
		n++;
	}
	return n;
}

static void sysrq(const char *key)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY);

	if (write(fd, key, 1) < 0)
		perror("sysrq");
	close(fd);
}

int main(int argc, char **argv)
{
	long seconds = argc == 3 ? atol(argv[1]) : 0, end;
	unsigned long seed = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	int i, status, bad = 0, left;
	pid_t pid;

	if (seconds <= 0) {
		fprintf(stderr, "usage: walk SECONDS SEED\n");
		return 2;
	}
	setlinebuf(stdout);
	nr_walkers = sizeof(roles) / sizeof(roles[0]);
	walkers = mmap(NULL, nr_walkers * sizeof(*walkers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	end = now_ms() + seconds * 1000;
	for (i = 0; i < nr_walkers; i++) {
		struct walker *w = &walkers[i];

		w->name = roles[i].name;
		w->drop = roles[i].drop;
		w->outside = roles[i].outside;
		pid = fork();
		if (!pid)
			run(w, seed, end);
		w->pid = pid;
	}
	for (left = nr_walkers; left && now_ms() < end + STUCK_MS;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (!pid) {
			usleep(100000);
			if (!stuck(STUCK_MS))
				continue;
			break;
		}
		left--;
		for (i = 0; i < nr_walkers; i++) {
			if (walkers[i].pid != pid)
				continue;
			if (status)
				printf("%s DIED %#x\n", walkers[i].name, status), bad = 1;
			walkers[i].pid = 0;
		}
	}
	if (left) {
		stuck(1000);
		sysrq("d");	/* the locks that are held */
		sysrq("w");	/* the tasks that wait */
		bad = 1;
	}
	for (i = 0; i < nr_walkers; i++) {
		report(&walkers[i]);
		if (walkers[i].pid)
			kill(walkers[i].pid, SIGKILL);
	}
	return bad;
}
