// SPDX-License-Identifier: GPL-2.0
/*
 * walk: what is done with a file.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "walk.h"

struct slot slots[NR_SLOTS];
static int pipes[2];

static struct slot *pick_slot(void)
{
	struct slot *s = &one_of(slots);

	/* Half of them may be closed: also a closed one is tried, now and then. */
	for (int i = 0; i < 4 && s->fd < 0; i++)
		s = &one_of(slots);
	return s;
}

static void do_unmap(struct slot *s)
{
	if (!s->map)
		return;
	DO(munmap, s->path, munmap(s->map, s->len));
	s->map = NULL;
}

/* Put a descriptor into a slot, in place of another one. */
static void hold(int fd, const char *path)
{
	struct slot *to = &one_of(slots);

	if (to->fd >= 0)
		close(to->fd);
	do_unmap(to);
	to->fd = fd;
	memmove(to->path, path, strlen(path) + 1);
}

static void do_close(void)
{
	struct slot *s = pick_slot();

	/* A mapping can outlive its descriptor. */
	if (rnd(2))
		do_unmap(s);
	DO(close, s->path, close(s->fd));
	s->fd = -1;
}

static void do_open(void)
{
	static const int modes[] = { O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_ACCMODE };
	static const int rare[] = {
		O_APPEND, O_ASYNC, O_CREAT, O_CREAT | O_EXCL, O_DIRECT, O_DIRECTORY, O_LARGEFILE,
		O_NOATIME, O_NOCTTY, O_NOFOLLOW, O_PATH, O_SYNC, O_TMPFILE,
	};
	int flags = one_of(modes) | O_CLOEXEC, fd;
	char path[PATH_LEN];

	pick_file(path);
	if (rnd(4))
		flags |= O_NONBLOCK;
	if (!rnd(4))
		flags |= O_TRUNC;
	while (!rnd(6))
		flags |= one_of(rare);
	if (is_left_alone(path))
		flags &= ~(O_ACCMODE | O_TRUNC);
	fd = DO(open, path, open(path, flags, 0600));
	if (fd >= 0)
		hold(fd, path);
}

static size_t pick_len(void)
{
	static const size_t lens[] = { 0, 1, 7, 100, PAGE - 1, PAGE, PAGE + 1, 65536, LONG_LEN };

	return one_of(lens);
}

static off_t pick_offset(void)
{
	return rnd(8) ? rnd(4) * PAGE + rnd(3) - 1 : (off_t)(rnd64() >> rnd(64));
}

static void do_read(void)
{
	struct slot *s = pick_slot();
	/* Now and then it has to fail at the end of the memory, or at once. */
	char *to = rnd(16) ? text : NULL;
	struct iovec parts[3] = { { to, 10 }, { text + 10, 0 }, { text + 10, pick_len() / 2 } };

	switch (rnd(4)) {
	case 0:
		DO(pread, s->path, pread(s->fd, to, pick_len(), pick_offset()));
		break;
	case 1:
		DO(readv, s->path, readv(s->fd, parts, 3));
		break;
	default:
		DO(read, s->path, read(s->fd, to, pick_len()));
	}
}

static void do_write(void)
{
	struct slot *s = pick_slot();
	size_t len;

	if (s->fd < 0 || is_left_alone(s->path) || (is_heavy(s->path) && rnd(8)))
		return;
	len = make_text(s->path);
	switch (rnd(8)) {
	case 0:
		DO(pwrite, s->path, pwrite(s->fd, text, len, pick_offset()));
		break;
	case 1:		/* in two parts */
		DO(write, s->path, write(s->fd, text, len / 2));
		DO(write, s->path, write(s->fd, text + len / 2, len - len / 2));
		break;
	default:
		DO(write, s->path, write(s->fd, rnd(32) ? text : NULL, len));
	}
}

/* Open, write and close, as a shell does: most files take one word. */
static void do_echo(void)
{
	char path[PATH_LEN];
	size_t len;
	int fd;

	pick_file(path);
	if (is_left_alone(path))
		return;
	fd = DO(open, path, open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | (rnd(2) ? O_TRUNC : O_APPEND)));
	if (fd < 0)
		return;
	len = make_text(path);
	DO(write, path, write(fd, text, len));
	DO(close, path, close(fd));
}

static void do_truncate(void)
{
	struct slot *s = pick_slot();

	if (is_heavy(s->path) && rnd(8))
		return;
	if (rnd(2))
		DO(ftruncate, s->path, ftruncate(s->fd, pick_offset()));
	else
		DO(truncate, s->path, truncate(s->path, rnd(2) ? 0 : pick_offset()));
}

static void do_mmap(void)
{
	static const int prots[] = { PROT_READ, PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE, PROT_EXEC };
	static const int flags[] = { MAP_SHARED, MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_POPULATE };
	struct slot *s = pick_slot();
	void *map;

	do_unmap(s);
	s->len = PAGE * (1 + (rnd(2) ? rnd(8) : rnd(512)));
	map = mmap(NULL, s->len, one_of(prots), one_of(flags), s->fd, rnd(2) ? 0 : PAGE * rnd(64));
	DO(mmap, s->path, map == MAP_FAILED ? -1 : 0);
	s->map = map == MAP_FAILED ? NULL : map;
}

/* The kernel reads the mapping: where it has no page, that is an error and no signal. */
static void do_touch(void)
{
	struct slot *s = pick_slot();
	struct iovec part;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (s->map) {
		size_t at = rnd(s->len / PAGE) * PAGE;

		part = (struct iovec){ s->map + at, PAGE };
		if (rnd(2))
			DO(touch, s->path, madvise(s->map, s->len, MADV_POPULATE_READ));
		else
			DO(vmsplice, s->path, vmsplice(pipes[1], &part, 1, SPLICE_F_NONBLOCK));
	}
	splice(pipes[0], NULL, fd, NULL, 65536, SPLICE_F_NONBLOCK);
	close(fd);
}

static void do_splice(void)
{
	struct slot *s = pick_slot(), *to = pick_slot();
	char rest[PAGE];
	off_t at = pick_offset();

	switch (rnd(4)) {
	case 0:
		if (is_heavy(to->path) || is_left_alone(to->path))
			break;
		DO(write, "pipe", write(pipes[1], rest, sprintf(rest, "%d", rnd(2))));
		DO(splice, to->path, splice(pipes[0], NULL, to->fd, NULL, pick_len(), SPLICE_F_NONBLOCK));
		break;
	case 1:
		DO(sendfile, s->path, sendfile(pipes[1], s->fd, rnd(2) ? NULL : &at, pick_len()));
		break;
	default:
		DO(splice, s->path, splice(s->fd, rnd(4) ? NULL : &at, pipes[1], NULL, pick_len(),
					   rnd(4) ? SPLICE_F_NONBLOCK : 0));
	}
	while (read(pipes[0], rest, rnd(2) ? 1 + rnd(100) : PAGE) > 0)
		;
}

static void do_ioctl(void)
{
	static const unsigned long cmds[] = {
		_IO('R', 0x20), _IO('R', 0x21),		/* of a mapping, and to wake readers */
		_IO('R', 0x31), _IO('R', 0x31),		/* TRACE_IOC_SNAPSHOT */
		_IO('*', 0), _IOW('*', 1, char *), _IOW('*', 2, char *), FIONREAD, FIONBIO, FIOASYNC,
		FIOCLEX, 0,
		PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_PAUSE_OUTPUT, PERF_EVENT_IOC_SET_OUTPUT,
	};
	struct slot *s = pick_slot();
	unsigned long cmd = one_of(cmds);
	int fd;

	fd = DO(ioctl, s->path, ioctl(s->fd, cmd ?: rnd64(), rnd(2) ? 0 : (unsigned long)text));
	/* A descriptor that owns a snapshot. */
	if (cmd == _IO('R', 0x31) && fd >= 0)
		hold(fd, "/owner");
}

static void do_poll(void)
{
	struct pollfd fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = (struct pollfd){ pick_slot()->fd, rnd(64) };
	DO(poll, "three", poll(fds, 3, rnd(20)));
}

/* The same open file, or another one of an inode that may be removed. */
static void do_dup(void)
{
	struct slot *s = pick_slot();
	char again[32];
	int fd;

	if (rnd(2)) {
		fd = DO(dup, s->path, fcntl(s->fd, F_DUPFD_CLOEXEC, 10));
	} else {
		sprintf(again, "/proc/self/fd/%d", s->fd);
		fd = DO(open, s->path, open(again, O_CLOEXEC | O_NONBLOCK |
					    (rnd(2) || is_left_alone(s->path) ? O_RDONLY : O_RDWR)));
	}
	if (fd >= 0)
		hold(fd, s->path);
}

/* Another process has all files and mappings for a moment, and may close them last. */
static void do_fork(void)
{
	unsigned int us = rnd(20000);
	pid_t pid;

	call_begin(CALL_fork, "self");
	pid = fork();
	if (!pid) {
		usleep(us);
		_exit(0);
	}
	call_end(pid);
}

static void do_small(void)
{
	static const mode_t modes[] = { 0440, 0640, 0660, 0750, 0770 };
	struct slot *s = pick_slot();
	struct stat st;

	switch (rnd(6)) {
	case 0:
		DO(fsync, s->path, fsync(s->fd));
		break;
	case 2:		/* the group may write, or not */
		DO(chmod, s->path, chmod(s->path, one_of(modes)));
		break;
	case 1:
		DO(stat, s->path, rnd(2) ? fstat(s->fd, &st) : stat(s->path, &st));
		break;
	default:
		DO(lseek, s->path, lseek(s->fd, pick_offset(), rnd(5)));
	}
}

static void name_instance(char *path)
{
	sprintf(path, TRACEFS "/instances/walk%u", rnd(6));
}

static void do_mkdir(void)
{
	char path[PATH_LEN];

	name_instance(path);
	if (!rnd(16))		/* where none can be */
		snprintf(path, sizeof(path), "%.200sx", one_of(slots).path);
	DO(mkdir, path, mkdir(path, 0755));
}

static void do_rmdir(void)
{
	char path[PATH_LEN] = TRACEFS "/instances", name[PATH_LEN] = "none", to[PATH_LEN];

	pick_entry(path, name);
	path_add(path, name);
	name_instance(to);
	switch (rnd(16)) {
	case 0:
		DO(rename, path, rename(path, to));
		break;
	case 1:
		pick_file(path);
		DO(unlink, path, unlink(path));
		break;
	default:
		DO(rmdir, path, rmdir(path));
	}
}

static void put(const char *dir, const char *file, const char *word)
{
	char path[2 * PATH_LEN];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	DO(keep, path, write(fd, word, strlen(word)));
	close(fd);
}

/* An instance that keeps snapshots, is seen in /proc, or joins another as its channel. */
static void do_keep(void)
{
	static const char *const keeps[] = { "0", "1", "2", "3", "last 2", "first 1" };
	char path[PATH_LEN], word[16];

	name_instance(path);
	switch (rnd(6)) {
	case 0:
		put(path, "snapshot_keep", one_of(keeps));
		break;
	case 1:
		put(path, "proc_view", rnd(3) ? "1" : "0");
		break;
	case 2:
		sprintf(word, "%swalk%u", rnd(3) ? "" : "!", rnd(6));
		put(path, "channels", word);
		break;
	case 3:
		put(path, "trace_marker", "walk");
		break;
	default:
		put(path, "snapshot", "1");
	}
}

/* An event of perf, of this process or another one: mapped like other files, it has a ring. */
static void do_perf(void)
{
	static const int configs[] = {
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_DUMMY,
	};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = one_of(configs),
		.sample_period = 1, .sample_type = rnd64() % PERF_SAMPLE_MAX, .exclude_kernel = rnd(4) > 0,
		.write_backward = rnd(2), .inherit = rnd(2), .sample_id_all = rnd(2), .mmap = 1, .comm = 1,
		.task = 1,
	};
	int pid = rnd(2) ? 0 : walkers[rnd(nr_walkers)].pid, fd;
	struct slot *s;

	fd = DO(perf, "perf", syscall(SYS_perf_event_open, &attr, pid, rnd(2) ? -1 : 0, -1,
				      PERF_FLAG_FD_CLOEXEC));
	if (fd < 0)
		return;
	hold(fd, "perf");
	for (s = slots; s->fd != fd; s++)
		;
	s->len = PAGE * (1 + (1 << rnd(5)));
	s->map = mmap(NULL, s->len, PROT_READ | (rnd(2) ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	if (DO(mmap, "perf", s->map == MAP_FAILED ? -1 : 0))
		s->map = NULL;
}

static const struct { int weight; void (*fn)(void); } acts[] = {
	{ 10, do_open }, { 12, do_read }, { 10, do_write }, { 8, do_echo }, { 1, do_truncate },
	{ 3, do_mmap }, { 3, do_touch }, { 5, do_splice }, { 4, do_ioctl }, { 2, do_poll },
	{ 3, do_dup }, { 1, do_fork }, { 4, do_small }, { 5, do_close }, { 2, do_mkdir },
	{ 2, do_rmdir }, { 6, do_keep }, { 1, do_perf },
};

/* Before the first act */
void acts_begin(void)
{
	for (int i = 0; i < NR_SLOTS; i++)
		slots[i].fd = -1;
	if (pipe2(pipes, O_NONBLOCK | O_CLOEXEC))
		exit(2);
}

void act(void)
{
	int sum = 0, i, n;

	for (i = 0; i < (int)(sizeof(acts) / sizeof(acts[0])); i++)
		sum += acts[i].weight;
	n = rnd(sum);
	for (i = 0; n >= acts[i].weight; i++)
		n -= acts[i].weight;
	acts[i].fn();
}
