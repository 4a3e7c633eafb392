// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of /proc/PID/perf/ring-buffers for ftrace/test.d/perf_rings:
 *
 *   perf_rings TEST [SETUID_COPY]
 *
 * The event of most tests counts page faults: each touch of a page is a sample with the address.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "die.h"

#define USER	1000
#define OTHER	1001

#define RING_PAGES	8
#define TEXT_SIZE	(4 << 20)

static long page;		/* bytes of a page */
static const char *suid;	/* a copy of this program that is setuid, or NULL */

static void check(bool ok, const char *what)
{
	if (!ok)
		die("%s", what);
}

static void expect(long got, long want, const char *what)
{
	if (got != want)
		die("%s: %ld, expected %ld", what, got, want);
}

/**
 * struct ring - an event with a ring
 * @fd:	      its descriptor
 * @control:  the first page of the mapping
 * @data:     the others
 * @size:     bytes of @data
 * @backward: it is written backward
 */
struct ring {
	int				fd;
	struct perf_event_mmap_page	*control;
	const char			*data;
	size_t				size;
	bool				backward;
};

/* The fields of a sample of page faults */
struct fault {
	struct perf_event_header	header;
	uint64_t			identifier;
	uint64_t			ip;
	uint32_t			pid, tid;
	uint64_t			time;
	uint64_t			addr;
};

static struct perf_event_attr fault_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.disabled = 1,
		.exclude_kernel = 1,
		.sample_id_all = 1,
	};
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	check(fd >= 0, "perf_event_open");
	return fd;
}

static struct ring ring_of(struct perf_event_attr *attr, int fd, int prot)
{
	struct ring ring = { .fd = fd, .size = RING_PAGES * page };

	ring.control = mmap(NULL, page + ring.size, prot, MAP_SHARED, ring.fd, 0);
	check(ring.control != MAP_FAILED, "mmap of the ring");
	ring.backward = attr->write_backward;
	ring.data = (char *)ring.control + page;
	return ring;
}

static struct ring ring_open(struct perf_event_attr *attr, int prot)
{
	return ring_of(attr, event_open(attr, 0, -1), prot);
}

/* Touch so many new pages while the event counts. */
static void touch(struct ring *ring, int nr)
{
	char *area = mmap(NULL, nr * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	int i;

	check(area != MAP_FAILED, "mmap");
	check(!madvise(area, nr * page, MADV_NOHUGEPAGE) || errno == EINVAL, "madvise");
	check(!ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0), "enable");
	for (i = 0; i < nr; i++)
		area[i * page] = 1;
	check(!ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0), "disable");
	munmap(area, nr * page);
}

static const char *path_of(pid_t pid, int fd, const char *ending)
{
	static char path[128];

	if (fd < 0)
		snprintf(path, sizeof(path), "/proc/%d/perf/ring-buffers", pid);
	else
		snprintf(path, sizeof(path), "/proc/%d/perf/ring-buffers/%d.%s", pid, fd, ending);
	return path;
}

/* Return: a descriptor, or -errno. */
static int open_of(pid_t pid, int fd, const char *ending)
{
	int ret = open(path_of(pid, fd, ending), O_RDONLY | O_CLOEXEC);

	return ret < 0 ? -errno : ret;
}

/* Return: bytes, or -errno. */
static long read_fd(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	check(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	while ((n = read(fd, buf + len, size - len)) > 0)
		len += n;
	return n < 0 ? -errno : (long)len;
}

static char *text, *data;	/* what was read */
static long data_len;

static void read_of(pid_t pid, int fd)
{
	int in = open_of(pid, fd, "txt");
	long n;

	if (in < 0)
		die("%s: %s", path_of(pid, fd, "txt"), strerror(-in));
	n = read_fd(in, text, TEXT_SIZE - 1);
	check(n > 0, "read of the text");
	text[n] = 0;
	close(in);
	in = open_of(pid, fd, "trace");
	check(in >= 0, "open of the perf.data");
	data_len = read_fd(in, data, TEXT_SIZE);
	check(data_len > 104, "read of the perf.data");
	expect(lseek(in, 0, SEEK_END), data_len, "size of the perf.data");
	close(in);
}

static int count(const char *what)
{
	const char *at = text;
	int nr = 0;

	while ((at = strstr(at, what))) {
		at += strlen(what);
		nr++;
	}
	return nr;
}

/* Bytes of the ring from a position on */
static void ring_bytes(const struct ring *ring, uint64_t pos, char *to, size_t len)
{
	while (len--)
		*to++ = ring->data[pos++ & (ring->size - 1)];
}

/**
 * struct found - the records of a ring, in the order of writing
 * @data: the records
 * @len:  bytes
 * @nr:   number of samples
 */
struct found {
	char	*data;
	size_t	len;
	int	nr;
};

/* Find the records of a ring that nobody writes now, in its mapping. */
static struct found ring_find(const struct ring *ring, uint64_t from)
{
	uint64_t head = ring->control->data_head, pos = ring->backward ? head : from;
	size_t left = ring->backward ? ring->size : head - from;
	struct found found = { .data = malloc(ring->size) };
	struct perf_event_header header;

	check(found.data, "memory");
	__sync_synchronize();
	for (; left >= sizeof(header); left -= header.size, pos += header.size) {
		char *to = found.data + found.len;

		ring_bytes(ring, pos, (char *)&header, sizeof(header));
		if (!header.size || header.size > left)
			break;
		if (ring->backward) {
			memmove(found.data + header.size, found.data, found.len);
			to = found.data;
		}
		ring_bytes(ring, pos, to, header.size);
		found.len += header.size;
		found.nr += header.type == PERF_RECORD_SAMPLE;
	}
	return found;
}

/* Samples are whole, and in the order of time. */
static void expect_times(const char *what)
{
	const char *at = text;
	unsigned long long time, last = 0;

	while ((at = strstr(at, "\nSAMPLE "))) {
		at++;
		if (sscanf(at, "SAMPLE misc=0x2 identifier=%*u ip=%*x pid=%*u tid=%*u time=%llu",
			   &time) != 1 || time < last)
			die("%s: not whole, or behind %llu: %.100s", what, last, at);
		last = time;
	}
	expect(count("(cut off)"), 0, "records that are cut off");
	expect(count("# damaged"), 0, "damaged records");
}

/* Both files have exactly these records. */
static void expect_records(const struct found *found, const char *what)
{
	const struct fault *fault;
	const char *at = text;
	size_t pos;

	expect_times(what);
	if (data_len < found->len || memcmp(data + data_len - found->len, found->data, found->len))
		die("%s: the perf.data has not the records of the ring", what);
	expect(count("\nSAMPLE "), found->nr, what);
	for (pos = 0; pos < found->len; pos += fault->header.size) {
		char line[200];

		fault = (void *)(found->data + pos);
		if (fault->header.type != PERF_RECORD_SAMPLE)
			continue;
		snprintf(line, sizeof(line),
			 "\nSAMPLE misc=%#x identifier=%llu ip=%#llx pid=%u tid=%u time=%llu addr=%#llx\n",
			 fault->header.misc, (unsigned long long)fault->identifier,
			 (unsigned long long)fault->ip, fault->pid, fault->tid,
			 (unsigned long long)fault->time, (unsigned long long)fault->addr);
		at = strstr(at, line);
		if (!at)
			die("%s: missing or not in order: %s", what, line + 1);
		at += strlen(line) - 1;
	}
}

static void expect_ring(struct ring *ring, uint64_t from, const char *what)
{
	struct found found = ring_find(ring, from);

	read_of(getpid(), ring->fd);
	expect_records(&found, what);
	free(found.data);
}

/* Records between tail and head, while the consumer goes on; the tail stays. */
static void test_normal(void)
{
	struct perf_event_attr attr = fault_attr();
	struct ring ring;
	int i;

	attr.comm = 1;
	attr.mmap = 1;
	attr.task = 1;
	ring = ring_open(&attr, PROT_READ | PROT_WRITE);
	for (i = 0; i < 50; i++) {
		touch(&ring, 90);
		expect_ring(&ring, ring.control->data_tail, "a normal ring");
		expect(count("# lost="), 0, "lost records");
		ring.control->data_tail = ring.control->data_head;
	}
	check(strstr(text, "task cpu=-1"), "the event in the text");
	touch(&ring, 2000);
	expect_ring(&ring, ring.control->data_tail, "a full ring");
	check(!strstr(text, " dropped=0\n"), "records without room");
}

static void test_overwrite(void)
{
	struct perf_event_attr attr = fault_attr();
	int backward, i;

	for (backward = 0; backward < 2; backward++) {
		struct ring ring;
		uint64_t last = 0;

		attr.write_backward = backward;
		ring = ring_open(&attr, PROT_READ);
		for (i = 0; i < 30; i++) {
			touch(&ring, 100 + i);
			if (backward) {
				expect_ring(&ring, 0, "a ring that is overwritten backward");
				continue;
			}
			/* All samples have one size, so where they begin is known. */
			last = ring.control->data_head;
			expect_ring(&ring, last < ring.size ? 0 : last - ring.size +
				    (sizeof(struct fault) - (last - ring.size) %
				     sizeof(struct fault)) % sizeof(struct fault),
				    "a ring that is overwritten");
		}
		check(strstr(text, backward ? " backward overwrite " : " forward overwrite "),
		      "the mode");
		close(ring.fd);
		munmap(ring.control, page + ring.size);
	}
}

/* Names in the directory, without the two dots */
static int list(pid_t pid, char *names, size_t size)
{
	DIR *dir = opendir(path_of(pid, -1, NULL));
	struct dirent *entry;
	int nr = 0;

	*names = 0;
	if (!dir)
		return -errno;
	for (errno = 0; (entry = readdir(dir)); nr++) {
		if (entry->d_name[0] == '.')
			nr--;
		else
			snprintf(names + strlen(names), size - strlen(names), "%s ", entry->d_name);
	}
	nr = errno ? -errno : nr;
	closedir(dir);
	return nr;
}

/* One ring of two events is at the lowest descriptor; one without a mapping is none. */
static void test_list(void)
{
	struct perf_event_attr attr = fault_attr();
	struct ring ring, other;
	char names[200], want[200];
	int redirected, none, copy;

	expect(list(getpid(), names, sizeof(names)), 0, "names without a ring");
	expect(list(2, names, sizeof(names)), 0, "names of a kernel thread");
	redirected = event_open(&attr, 0, -1);
	ring = ring_open(&attr, PROT_READ | PROT_WRITE);
	none = event_open(&attr, 0, -1);
	other = ring_open(&attr, PROT_READ);
	check(!ioctl(redirected, PERF_EVENT_IOC_SET_OUTPUT, ring.fd), "SET_OUTPUT");
	copy = dup(ring.fd);
	list(getpid(), names, sizeof(names));
	snprintf(want, sizeof(want), "%d.txt %d.trace %d.txt %d.trace ", redirected, redirected,
		 other.fd, other.fd);
	check(!strcmp(names, want), "names");
	expect(open_of(getpid(), none, "txt"), -ENOENT, "an event without a ring");
	expect(open_of(getpid(), ring.fd, "txt"), -ENOENT, "a descriptor that is not the lowest");
	expect(open_of(getpid(), copy, "trace"), -ENOENT, "a copy of it");
	expect(open_of(getpid(), 0, "txt"), -ENOENT, "a file without a ring");
	expect(open_of(getpid(), 9999, "txt"), -ENOENT, "no file");
	touch(&ring, 3);
	read_of(getpid(), redirected);
	expect(count("\nSAMPLE "), 3, "samples of the one event");
	expect(count("# event "), 2, "events");
	/* Of the other one, in the same ring. */
	ring.fd = redirected;
	touch(&ring, 5);
	read_of(getpid(), redirected);
	expect(count("\nSAMPLE "), 8, "samples of both events");
	expect(((uint64_t *)data)[4] / ((uint64_t *)data)[2], 1, "attributes in the perf.data");
	/* At the end of the attribute, which is behind the header and the IDs */
	expect(((uint64_t *)data)[13 + 2 + ((uint64_t *)data)[2] / 8 - 1], 16, "bytes of IDs");

	/* A thread has them, too. */
	snprintf(want, sizeof(want), "/proc/self/task/%d/perf/ring-buffers/%d.txt", getpid(),
		 redirected);
	check(!access(want, R_OK), want);
	snprintf(want, sizeof(want), "/proc/self/perf/ring-buffers/0%d.txt", redirected);
	check(access(want, R_OK), "a name with a zero in front");
}

/* A consumer loses nothing while others open the files. */
static void test_running(void)
{
	struct perf_event_attr attr = fault_attr();
	struct ring ring = ring_open(&attr, PROT_READ | PROT_WRITE);
	pid_t reader = fork();
	long samples = 0;
	int status;

	if (!reader) {
		int i;

		for (i = 0; i < 300; i++) {
			read_of(getppid(), ring.fd);
			expect_times("a running ring");
			expect(count("# data_tail is outside"), 0, "the tail beside a consumer");
		}
		exit(0);
	}
	do {
		struct found found;

		touch(&ring, 100);
		found = ring_find(&ring, ring.control->data_tail);
		samples += found.nr - 100;
		free(found.data);
		__sync_synchronize();
		ring.control->data_tail = ring.control->data_head;
	} while (!waitpid(reader, &status, WNOHANG));
	expect(status, 0, "the reader");
	/* The fork makes some more faults. */
	check(samples >= 0, "a sample is lost");
	read_of(getpid(), ring.fd);
	expect(count(" dropped=0\n"), 1, "no record without room");
	expect(count(" lost=0\n"), 1, "no lost sample");
}

/* The writer is faster than the copy. */
static void test_raced(void)
{
	struct perf_event_attr attr = fault_attr();
	int backward, i, lost = 0;

	for (backward = 0; backward < 2; backward++) {
		struct ring ring;
		pid_t child;
		int fds[2];

		check(!pipe(fds), "pipe");
		attr.write_backward = backward;
		child = fork();
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			ring = ring_open(&attr, PROT_READ);
			touch(&ring, 2000);
			check(write(fds[1], &ring.fd, sizeof(ring.fd)) > 0, "write");
			for (;;)
				touch(&ring, 2000);
		}
		check(read(fds[0], &ring.fd, sizeof(ring.fd)) > 0, "read");
		for (i = 0; i < 300; i++) {
			read_of(child, ring.fd);
			expect_times("a ring that is overwritten meanwhile");
			lost += count("# lost=");
			check(count("\nSAMPLE ") || count("# lost="), "samples");
		}
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(fds[0]);
		close(fds[1]);
	}
	printf("%d of %d were overwritten during the copy\n", lost, 2 * i);
}

/* Values that user space may write into the first page */
static void test_hostile(void)
{
	static const uint64_t values[] = { 1, 4, 8, 12, 64, 1 << 20, 1ULL << 32, 1ULL << 63,
					   -1ULL, -8ULL, -4096ULL, 32768, 32776 };
	struct perf_event_attr attr = fault_attr();
	unsigned int i, j, backward;

	for (backward = 0; backward < 2; backward++) {
		struct ring ring;

		attr.write_backward = backward;
		ring = ring_open(&attr, PROT_READ | PROT_WRITE);
		touch(&ring, 100);
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			for (j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
				uint64_t head = ring.control->data_head;

				ring.control->data_tail = head + values[i];
				ring.control->data_head = head + values[j];
				read_of(getpid(), ring.fd);
				ring.control->data_head = values[j];
				ring.control->data_tail = values[i];
				read_of(getpid(), ring.fd);
				ring.control->data_size = values[i];
				ring.control->data_offset = values[j];
				read_of(getpid(), ring.fd);
				ring.control->data_head = head;
			}
		}
	}
}

/* Closed, unmapped, redirected; what was open stays. */
static void test_closed(void)
{
	struct perf_event_attr attr = fault_attr();
	struct ring ring = ring_open(&attr, PROT_READ | PROT_WRITE);
	int in, out, nr = ring.fd;
	long n, size;

	touch(&ring, 20);
	in = open_of(getpid(), nr, "txt");
	out = open_of(getpid(), nr, "trace");
	check(in >= 0 && out >= 0, "open");
	munmap(ring.control, page + ring.size);
	expect(open_of(getpid(), nr, "txt"), -ENOENT, "an unmapped ring");
	close(ring.fd);
	expect(open_of(getpid(), nr, "txt"), -ENOENT, "a closed event");
	expect(list(getpid(), data, TEXT_SIZE), 0, "names");
	n = read_fd(in, text, TEXT_SIZE - 1);
	check(n > 0, "read of what was open");
	text[n] = 0;
	expect(count("\nSAMPLE "), 20, "samples of what was open");
	size = read_fd(out, data, TEXT_SIZE);
	expect(lseek(out, 0, SEEK_END), size, "its size");
	/* Any offset gives the same bytes. */
	for (n = 0; n < size; n += 77) {
		char part[77];
		long len = size - n < 77 ? size - n : 77;

		expect(pread(out, part, sizeof(part), n), len, "a part");
		check(!memcmp(part, data + n, len), "bytes of a part");
	}
}

/**
 * struct target - a process with a ring, that does what it is told
 * @pid: the process
 * @to:	 it is told by this
 * @fd:	 its descriptor of the ring
 */
struct target {
	pid_t	pid;
	int	to;
	int	fd;
};

/* 'x': exit; 'e': execute itself; 's': execute a copy of itself that is setuid */
static void obey(int in)
{
	char what;

	while (read(in, &what, 1) == 1) {
		if (what == 'e')
			execl("/proc/self/exe", "perf_rings", "wait", NULL);
		if (what == 's')
			execl(suid, "perf_rings", "wait", NULL);
		_exit(what != 'x');
	}
	_exit(1);
}

static void drop(uid_t uid)
{
	check(!syscall(SYS_setresgid, uid, uid, uid), "setresgid");
	check(!syscall(SYS_setresuid, uid, uid, uid), "setresuid");
	prctl(PR_SET_DUMPABLE, 1);
}

/* @of: the task of its event, 0: the process itself, -1: all tasks of @cpu */
static struct target target_of(struct perf_event_attr *attr, uid_t uid, bool drop_first, pid_t of,
			       int cpu)
{
	int in[2], out[2];
	struct target t;

	check(!pipe(in) && !pipe(out), "pipe");
	t.pid = fork();
	if (!t.pid) {
		struct ring ring;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(in[1]);
		if (drop_first)
			drop(uid);
		ring = ring_of(attr, event_open(attr, of, cpu), PROT_READ | PROT_WRITE);
		touch(&ring, 10);
		if (!drop_first)
			drop(uid);
		check(write(out[1], &ring.fd, sizeof(ring.fd)) > 0, "write");
		/* For the exec. */
		dup2(in[0], 0);
		obey(0);
	}
	close(in[0]);
	close(out[1]);
	check(read(out[0], &t.fd, sizeof(t.fd)) == sizeof(t.fd), "read of a target");
	close(out[0]);
	t.to = in[1];
	return t;
}

static struct target target(struct perf_event_attr *attr, uid_t uid, bool drop_first, int cpu)
{
	return target_of(attr, uid, drop_first, cpu < 0 ? 0 : -1, cpu);
}

/* A process of a user, without a ring */
static pid_t bystander(uid_t uid)
{
	struct perf_event_attr attr = fault_attr();

	return target(&attr, uid, true, -1).pid;
}

static void end(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->to);
}

/* Run as another user: what the child finds. */
static int as(uid_t uid, int (*act)(const struct target *), const struct target *t)
{
	int *result = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, ret;
	pid_t child;

	check(result != MAP_FAILED, "mmap");
	child = fork();
	if (!child) {
		drop(uid);
		*result = act(t);
		exit(0);
	}
	waitpid(child, &status, 0);
	expect(status, 0, "a child");
	ret = *result;
	munmap(result, page);
	return ret;
}

/* Return: 0 or -errno. */
static int act_open(const struct target *t, const char *ending)
{
	int fd = open_of(t->pid, t->fd, ending);

	return fd < 0 ? fd : read_fd(fd, text, TEXT_SIZE) < 0;
}

static int act_text(const struct target *t)
{
	return act_open(t, "txt");
}

static int act_data(const struct target *t)
{
	return act_open(t, "trace");
}

/* Return: number of names, or -errno. */
static int act_list(const struct target *t)
{
	char names[100];

	return list(t->pid, names, sizeof(names));
}

static void expect_as(uid_t uid, const struct target *t, int want, const char *what)
{
	expect(as(uid, act_text, t), want, what);
	expect(as(uid, act_data, t), want, what);
}

static void paranoid(const char *level)
{
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_WRONLY);

	check(fd >= 0 && write(fd, level, strlen(level)) > 0, "perf_event_paranoid");
	close(fd);
}

static void test_rights(void)
{
	struct perf_event_attr attr = fault_attr(), kernel = fault_attr(), group = fault_attr();
	struct perf_event_attr chain = fault_attr();
	struct target t;
	pid_t other;

	paranoid("2");
	t = target(&attr, USER, true, -1);
	expect_as(0, &t, 0, "root");
	expect_as(USER, &t, 0, "the same user");
	expect(as(USER, act_list, &t), 2, "names for the same user");
	expect_as(OTHER, &t, -EACCES, "another user");
	expect(as(OTHER, act_list, &t), -EACCES, "names for another user");
	paranoid("3");
	expect_as(USER, &t, -EACCES, "the same user, if only root may use perf");
	expect(as(USER, act_list, &t), 0, "names for such a user");
	expect_as(0, &t, 0, "root, if only root may");
	paranoid("2");
	end(&t);

	/* Opened by root, before it has become the user. */
	kernel.exclude_kernel = 0;
	t = target(&kernel, USER, false, -1);
	expect_as(USER, &t, -EACCES, "addresses of the kernel");
	expect(as(USER, act_list, &t), 0, "names of such a ring");
	expect_as(0, &t, 0, "addresses of the kernel for root");
	paranoid("1");
	expect_as(USER, &t, 0, "addresses of the kernel, if all may");
	paranoid("2");
	end(&t);

	group.sample_type |= PERF_SAMPLE_READ;
	group.read_format = PERF_FORMAT_GROUP;
	t = target(&group, USER, true, -1);
	expect_as(USER, &t, -EACCES, "counts of other events");
	paranoid("1");
	expect_as(USER, &t, 0, "counts of other events, if all may see the kernel");
	paranoid("2");
	end(&t);

	chain.sample_type |= PERF_SAMPLE_CALLCHAIN;
	t = target(&chain, USER, false, -1);
	expect_as(USER, &t, -EACCES, "callchains of the kernel");
	paranoid("1");
	expect_as(USER, &t, 0, "callchains of the kernel, if all may");
	paranoid("2");
	end(&t);

	t = target(&attr, USER, false, 0);
	expect_as(USER, &t, -EACCES, "all tasks of a CPU");
	paranoid("0");
	expect_as(USER, &t, 0, "all tasks of a CPU, if all may");
	paranoid("2");
	end(&t);

	other = bystander(OTHER);
	t = target_of(&attr, USER, false, other, -1);
	expect_as(USER, &t, -EACCES, "a task of another user");
	expect(as(USER, act_list, &t), 0, "names of such a ring");
	expect_as(0, &t, 0, "a task of another user for root");
	end(&t);
	kill(other, SIGKILL);

	attr.sample_type |= PERF_SAMPLE_RAW;
	t = target(&attr, USER, false, -1);
	expect_as(USER, &t, -EPERM, "raw data");
	paranoid("-1");
	expect_as(USER, &t, 0, "raw data, if all may");
	paranoid("2");
	end(&t);
}

/* An event has left the ring: its records may still be there. */
static void test_left(void)
{
	struct perf_event_attr attr = fault_attr(), kernel = fault_attr();
	struct ring ring = ring_open(&attr, PROT_READ | PROT_WRITE);
	struct target t = { getpid(), -1, ring.fd };
	int fd;

	paranoid("2");
	kernel.exclude_kernel = 0;
	fd = event_open(&kernel, 0, -1);
	drop(USER);
	expect_as(USER, &t, 0, "an event of the user");
	check(!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring.fd), "SET_OUTPUT");
	expect_as(USER, &t, -EACCES, "an event of the kernel");
	close(fd);
	expect_as(USER, &t, -EACCES, "such an event that has left");
}

/* A descriptor comes to a process with fewer rights. */
static int act_passed(const struct target *t)
{
	long n = read_fd(t->to, text, TEXT_SIZE);

	return n < 0 ? n : 0;
}

static void expect_passed(struct target *t, uid_t uid, int want, const char *what)
{
	static const char * const endings[] = { "txt", "trace" };
	struct target passed = *t;
	int i;

	for (i = 0; i < 2; i++) {
		passed.to = open_of(t->pid, t->fd, endings[i]);
		check(passed.to >= 0, "open");
		expect(as(uid, act_passed, &passed), want, what);
		close(passed.to);
	}
}

static void test_passed(void)
{
	struct perf_event_attr attr = fault_attr();
	struct target t = target(&attr, USER, true, -1);
	pid_t other;

	paranoid("2");
	expect_passed(&t, USER, 0, "a reader with the rights");
	expect_passed(&t, OTHER, -EACCES, "a reader without them");
	end(&t);

	other = bystander(OTHER);
	t = target_of(&attr, USER, false, other, -1);
	expect_passed(&t, USER, -EACCES, "a reader without those of the task");
	end(&t);
	kill(other, SIGKILL);

	attr.exclude_kernel = 0;
	t = target(&attr, USER, false, -1);
	expect_passed(&t, USER, -EACCES, "a reader without those of perf");
	end(&t);
}

/* Two copies of a ring of 8 pages are charged; a third one is above the limit. */
static int act_limit(const struct target *t)
{
	struct rlimit limit = { 20 * page, 20 * page };
	int first, second, third;

	check(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
	first = open_of(t->pid, t->fd, "txt");
	second = open_of(t->pid, t->fd, "trace");
	check(first >= 0 && second >= 0, "copies within the limit");
	third = open_of(t->pid, t->fd, "txt");
	if (third >= 0)
		return 0;
	close(first);
	first = open_of(t->pid, t->fd, "txt");
	check(first >= 0, "a copy after one was closed");
	return third;
}

static void test_limit(void)
{
	struct perf_event_attr attr = fault_attr();
	struct target t = target(&attr, USER, true, -1);

	expect(as(USER, act_limit, &t), -EDQUOT, "copies above the limit");
	expect(as(0, act_limit, &t), 0, "copies of root");
	/* All is given back. */
	expect(as(USER, act_limit, &t), -EDQUOT, "copies above the limit, once more");
	end(&t);
}

/* Until the new program has said that it runs. */
static void wait_for_exec(pid_t pid)
{
	char comm[16] = "", path[64];
	int fd, n, i;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	for (i = 0; strcmp(comm, "perf_waits\n"); i++) {
		fd = open(path, O_RDONLY);
		check(fd >= 0 && i < 10000, "exec");
		n = read(fd, comm, sizeof(comm) - 1);
		comm[n > 0 ? n : 0] = 0;
		close(fd);
		usleep(10000);
	}
}

/* The process exits, or executes another program. */
static void test_gone(void)
{
	static const char whats[] = "xes";
	struct perf_event_attr attr = fault_attr();
	int i;

	check(suid, "an argument: the setuid program");
	for (i = 0; i < 3; i++) {
		struct target t = target(&attr, USER, true, -1);
		int in = open_of(t.pid, t.fd, "txt"), out = open_of(t.pid, t.fd, "trace");

		check(in >= 0 && out >= 0, "open");
		check(read_fd(in, text, TEXT_SIZE) > 0, "read");
		check(write(t.to, &whats[i], 1) == 1, "write");
		if (whats[i] == 'x')
			waitpid(t.pid, NULL, 0);
		else
			wait_for_exec(t.pid);
		expect(read_fd(in, text, TEXT_SIZE), -ESRCH, "a text of a ring that was there");
		expect(read_fd(out, text, TEXT_SIZE), -ESRCH, "its perf.data");
		expect(open_of(t.pid, t.fd, "txt"), -ENOENT, "a ring that no longer exists");
		if (whats[i] == 's') {
			expect_as(USER, &t, -EACCES, "the ring of a setuid program");
			expect(as(USER, act_list, &t), -EACCES, "names of it");
		}
		if (whats[i] != 'x')
			end(&t);
	}
}

/* The new program: by its name the tests see that it runs. */
static void test_wait(void)
{
	prctl(PR_SET_NAME, "perf_waits");
	pause();
}

/* Record for perf script: samples of this process, without its name in the ring. */
static void test_script(void)
{
	struct perf_event_attr attr = fault_attr();
	struct ring ring = ring_open(&attr, PROT_READ | PROT_WRITE);

	prctl(PR_SET_NAME, "rings named");
	touch(&ring, 25);
	printf("%d %d\n", getpid(), ring.fd);
	fflush(stdout);
	pause();
}

/* Later, only the pages that are to be touched have faults. */
static void warm_up(void)
{
	struct perf_event_attr attr = fault_attr();
	struct ring ring = { .fd = event_open(&attr, 0, -1) };

	touch(&ring, 2);
	close(ring.fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{ "normal", test_normal },
		{ "overwrite", test_overwrite },
		{ "list", test_list },
		{ "running", test_running },
		{ "raced", test_raced },
		{ "hostile", test_hostile },
		{ "closed", test_closed },
		{ "rights", test_rights },
		{ "left", test_left },
		{ "passed", test_passed },
		{ "limit", test_limit },
		{ "gone", test_gone },
		{ "wait", test_wait },
		{ "script", test_script },
	};
	unsigned int i;

	page = sysconf(_SC_PAGESIZE);
	suid = argc == 3 ? argv[2] : NULL;
	text = calloc(1, TEXT_SIZE);
	data = calloc(1, TEXT_SIZE);
	check(text && data, "memory");
	warm_up();
	for (i = 0; argc >= 2 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!strcmp(argv[1], tests[i].name)) {
			tests[i].run();
			return 0;
		}
	}
	fprintf(stderr, "perf_rings: no such test\n");
	return 2;
}
