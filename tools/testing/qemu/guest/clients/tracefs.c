// SPDX-License-Identifier: GPL-2.0
/*
 * tracefs -l | CASE: drive libtracefs, and see that each record comes once.
 *
 * Markers are numbered from 1 on.  A case writes some, has libtracefs read them, in
 * one of its ways, and knows which numbers must come, in which order.  With a
 * library that maps buffers (TRACEFS_MAPS) each way is also tried so: NAME.mapped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kbuffer.h>
#include <tracefs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SUBBUF		4096
#define CPUS		4

static struct tracefs_instance *instance;
static struct tep_handle *tep;
static bool mapped;
static int faults;

static unsigned int written;		/* the last number that was written */
static unsigned int first, next, seen;	/* of what is being read */

__attribute__((format(printf, 1, 2)))
static void fault(const char *fmt, ...)
{
	va_list ap;

	if (faults++ > 10)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fault("cannot go to CPU %d: %s", cpu, strerror(errno));
}

/* Reads from here on find only records that are written from here on. */
static void begin(void)
{
	first = next = written + 1;
	seen = 0;
}

static void marks(unsigned int n)
{
	while (n--) {
		if (tracefs_printf(instance, "mark=%u", ++written) < 0)
			fault("cannot write a marker: %s", strerror(errno));
	}
}

/* All that was written since begin() was read. */
static void complete(const char *what)
{
	if (next != written + 1 || seen != written + 1 - first)
		fault("%s: %u records, the last is %u; want %u..%u", what, seen, next - 1,
		      first, written);
	begin();
}

static void clear(void)
{
	tracefs_instance_file_clear(instance, "trace");
}

/* The number in a marker, or 0 for another event. */
static unsigned int number(struct tep_event *event, struct tep_record *record)
{
	struct tep_format_field *field;
	unsigned int n = 0;

	if (!event || strcmp(event->name, "print"))
		return 0;
	field = tep_find_field(event, "buf");
	if (!field || sscanf((char *)record->data + field->offset, "mark=%u", &n) != 1)
		fault("a marker without a number");
	return n;
}

static int check(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
	unsigned int n = number(event, record);

	if (!n) {
		fault("an event that nobody asked for");
		return 0;
	}
	if (n != next)
		fault("want record %u, got %u", next, n);
	next = n + 1;
	seen++;
	return 0;
}

static void check_subbuf(void *subbuf)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	struct tep_record record = {};
	unsigned long long ts;

	if (kbuffer_load_subbuffer(kbuf, subbuf))
		fault("not a sub-buffer");
	if (kbuffer_missed_events(kbuf))
		fault("%d records are said to be lost", kbuffer_missed_events(kbuf));
	while ((record.data = kbuffer_read_event(kbuf, &ts))) {
		record.size = kbuffer_event_size(kbuf);
		check(tep_find_event_by_record(tep, &record), &record, 0, NULL);
		kbuffer_next_event(kbuf, NULL);
	}
	kbuffer_free(kbuf);
}

static void check_file(FILE *file)
{
	static char buf[SUBBUF];
	int fd = fileno(file), n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, SUBBUF)) > 0) {
		if (n != SUBBUF)
			fault("the file ends in the middle of a sub-buffer");
		check_subbuf(buf);
	}
}

static struct tracefs_cpu *open_cpu(bool nonblock)
{
	struct tracefs_cpu *tcpu;

#ifdef TRACEFS_MAPS
	if (mapped) {
		tcpu = tracefs_cpu_open_mapped(instance, 0, nonblock);
		if (tcpu && !tracefs_cpu_is_mapped(tcpu))
			fault("the buffer is not mapped");
	} else
#endif
		tcpu = tracefs_cpu_open(instance, 0, nonblock);
	if (!tcpu) {
		fault("cannot open a CPU: %s", strerror(errno));
		exit(1);
	}
	return tcpu;
}

/* The ways to read a CPU to its end. */
static void way_read(struct tracefs_cpu *tcpu)
{
	static char buf[SUBBUF];

	while (tracefs_cpu_read(tcpu, buf, true) > 0)
		check_subbuf(buf);
}

static void way_buffered_read(struct tracefs_cpu *tcpu)
{
	static char buf[SUBBUF];

	while (tracefs_cpu_buffered_read(tcpu, buf, true) > 0)
		check_subbuf(buf);
	while (tracefs_cpu_flush(tcpu, buf) > 0)
		check_subbuf(buf);
}

static void way_write(struct tracefs_cpu *tcpu)
{
	FILE *file = tmpfile();

	while (tracefs_cpu_write(tcpu, fileno(file), true) > 0)
		;
	while (tracefs_cpu_flush_write(tcpu, fileno(file)) > 0)
		;
	check_file(file);
	fclose(file);
}

static void read_by(void (*way)(struct tracefs_cpu *tcpu))
{
	static const int counts[] = { 1, 50, 200, 1000, 3 };
	struct tracefs_cpu *tcpu = open_cpu(true);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		begin();
		marks(counts[i]);
		way(tcpu);
		complete("read");
	}
	tracefs_cpu_close(tcpu);
}

/* A thread moves what comes to a file, until it is stopped. */
struct mover {
	struct tracefs_cpu	*tcpu;
	int			(*move)(struct tracefs_cpu *tcpu, int fd, bool nonblock);
	int			fd;
	bool			done;
};

static void *mover(void *data)
{
	struct mover *m = data;

	while (!__atomic_load_n(&m->done, __ATOMIC_ACQUIRE)) {
		if (m->move(m->tcpu, m->fd, false) < 0 && errno != EAGAIN && errno != EINTR) {
			fault("cannot move: %s", strerror(errno));
			break;
		}
	}
	while (tracefs_cpu_flush_write(m->tcpu, m->fd) > 0)
		;
	return NULL;
}

static void move_by(int (*move)(struct tracefs_cpu *tcpu, int fd, bool nonblock), bool cleared)
{
	static const int counts[] = { 1, 80, 130, 1000, 5 };
	struct mover m = { .move = move };
	pthread_t thread;
	unsigned int i;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (cleared) {
			marks(33);
			clear();
		}
		begin();
		file = tmpfile();
		m.tcpu = open_cpu(false);
		m.fd = fileno(file);
		m.done = false;
		pthread_create(&thread, NULL, mover, &m);
		usleep(100000);
		marks(counts[i]);
		usleep(100000);
		__atomic_store_n(&m.done, true, __ATOMIC_RELEASE);
		tracefs_cpu_stop(m.tcpu);
		pthread_join(thread, NULL);
		check_file(file);
		complete("moved");
		tracefs_cpu_close(m.tcpu);
		fclose(file);
	}
}

static void clear_then_open(void)
{
	static const int counts[] = { 0, 1, 50, 200, 1000, 3 };
	struct tracefs_cpu *tcpu;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		marks(17);
		clear();
		begin();
		tcpu = open_cpu(true);
		marks(counts[i]);
		way_read(tcpu);
		complete("read after it was cleared");
		tracefs_cpu_close(tcpu);
	}
}

static void clear_while_open(void)
{
	struct tracefs_cpu *tcpu = open_cpu(true);
	int i;

	for (i = 0; i < 4; i++) {
		begin();
		marks(100);
		if (i & 1)
			way_read(tcpu);
		clear();
		begin();
		marks(10 + 200 * i);
		way_read(tcpu);
		complete("read after it was cleared");
	}
	tracefs_cpu_close(tcpu);
}

/*
 * Where one has ended in the middle of a sub-buffer, the next one goes on, also if only one of them
 * maps.
 */
static void open_again_by(bool mixed)
{
	struct tracefs_cpu *tcpu;
	bool early;
	int i;

	begin();
	for (i = 0; i < 12; i++) {
		early = !mixed && i & 1;
		if (mixed)
			mapped = i & 1;
		if (early)
			marks(10 + 20 * i);
		tcpu = open_cpu(true);
		if (!early)
			marks(10 + 20 * i);
		way_read(tcpu);
		complete("read by the next one");
		tracefs_cpu_close(tcpu);
	}
}

static void open_again(void)
{
	open_again_by(false);
}

static void iterate(void)
{
	if (tracefs_iterate_raw_events(tep, instance, NULL, 0, check, NULL))
		fault("cannot iterate: %s", strerror(errno));
}

static void iterate_events(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		begin();
		marks(10 + 100 * i);
		iterate();
		complete("iterated over");
		iterate();
		complete("iterated over once more");
	}
}

static void iterate_cleared(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		marks(10 + 100 * i);
		clear();
		begin();
		iterate();
		complete("iterated over after it was cleared");
		marks(1);
		iterate();
		complete("iterated over after that");
	}
}

static void marks_elsewhere(int n)
{
	int i;

	for (i = 0; i < 60; i++) {
		pin(rand() % CPUS);
		marks(n);
	}
}

/* Records of many CPUs come in the order of their times. */
static void iterate_cpus(void)
{
	int k;

	for (k = 0; k < 4; k++) {
		clear();
		begin();
		marks_elsewhere(1 + k);
		iterate();
		complete("iterated over all CPUs");
	}
}

static int count(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
	++*(int *)data;
	return 0;
}

static void getppids(int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static int calls, prints;

static void follow(void)
{
	tracefs_follow_event(tep, instance, "syscalls", "sys_enter_getppid", count, &calls);
	tracefs_follow_event(tep, instance, "ftrace", "print", count, &prints);
}

/* Those that are followed are counted. */
static void check_followed(int want)
{
	clear();
	calls = prints = 0;
	getppids(300);
	marks(20);
	tracefs_iterate_raw_events(tep, instance, NULL, 0, NULL, NULL);
	if (calls != want || prints != 20)
		fault("%d calls of %d, %d prints of 20", calls, want, prints);
}

static void follow_events(void)
{
	int i;

	follow();
	tracefs_event_enable(instance, "syscalls", "sys_enter_getppid");
	for (i = 0; i < 3; i++)
		check_followed(300);
}

struct pids {
	int pid, its, others;
};

static int count_pid(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
	struct pids *pids = data;

	if (tep_data_pid(tep, record) == pids->pid)
		pids->its++;
	else
		pids->others++;
	return 0;
}

static void *call_elsewhere(void *data)
{
	int *tid = data;

	pin(1);
	__atomic_store_n(tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (__atomic_load_n(tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	getppids(100);
	return NULL;
}

/* Of two that call only one is traced, in turns. */
static void pid_events(void)
{
	struct pids pids;
	pthread_t thread;
	char text[16];
	int i, tid, t;

	for (i = 0; i < 4; i++) {
		clear();
		tid = 0;
		pthread_create(&thread, NULL, call_elsewhere, &tid);
		while (!(t = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
			usleep(1000);
		pids = (struct pids){ .pid = i & 1 ? getpid() : t };
		snprintf(text, sizeof(text), "%d", pids.pid);
		tracefs_instance_file_write(instance, "set_event_pid", text);
		tracefs_event_enable(instance, "syscalls", "sys_enter_getppid");
		__atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
		getppids(100);
		pthread_join(thread, NULL);
		tracefs_event_disable(instance, "syscalls", "sys_enter_getppid");
		tracefs_iterate_raw_events(tep, instance, NULL, 0, count_pid, &pids);
		if (pids.its != 100 || pids.others)
			fault("%d calls of the one in 100, %d of others", pids.its, pids.others);
		tracefs_instance_file_clear(instance, "set_event_pid");
	}
}

/*
 * A session and its channels.  Each gets a marker in turns, and has one event enabled
 * that the others do not have.
 */
static struct member {
	const char *name;
	const char *prefix;	/* of its lines in the trace of the session */
	const char *event;	/* a system call */
	const char *call;	/* text of that event */
	int nr, calls;		/* number of that system call, and how often it is called */
	struct tracefs_instance *instance;
	int marks, events;	/* number of those that were read */
} members[] = {
	{ "clients", " ", "sys_enter_getpgid", ": sys_getpgid(", SYS_getpgid, 5 },
	{ "hot", "hot: ", "sys_enter_getppid", ": sys_getppid(", SYS_getppid, 300 },
	{ "rare", "rare: ", "sys_enter_getsid", ": sys_getsid(", SYS_getsid, 20 },
};

#define TURNS	40

static struct member *member_of(unsigned int mark)
{
	return &members[(mark - first) % ARRAY_SIZE(members)];
}

static void write_channels(const char *text)
{
	if (tracefs_instance_file_write(members[0].instance, "channels", text) < 0)
		fault("cannot write %s to channels: %s", text, strerror(errno));
}

static void begin_session(void)
{
	unsigned int i;

	members[0].instance = instance;
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (i) {
			members[i].instance = tracefs_instance_create(members[i].name);
			if (!members[i].instance) {
				fault("cannot create %s: %s", members[i].name, strerror(errno));
				exit(1);
			}
			write_channels(members[i].name);
		}
		if (tracefs_event_enable(members[i].instance, "syscalls", members[i].event))
			fault("cannot enable %s: %s", members[i].event, strerror(errno));
	}
}

static void record_session(void)
{
	unsigned int i, k;
	int n;

	for (i = 0; i < TURNS; i++) {
		for (k = 0; k < ARRAY_SIZE(members); k++) {
			pin(rand() % CPUS);
			instance = members[k].instance;
			marks(1);
		}
	}
	for (k = 0; k < ARRAY_SIZE(members); k++) {
		for (n = 0; n < members[k].calls; n++)
			syscall(members[k].nr, 0);
	}
	instance = members[0].instance;
}

/* All records of each member were read, once. */
static void complete_members(const char *what)
{
	struct member *m;

	for (m = members; m < members + ARRAY_SIZE(members); m++) {
		if (m->marks != TURNS || m->events != m->calls)
			fault("%s: %s has %d markers of %d, %d events of %d", what, m->name,
			      m->marks, TURNS, m->events, m->calls);
		m->marks = m->events = 0;
	}
}

static void check_line(const char *line)
{
	const char *mark = strstr(line, "mark=");
	struct member *m = members;
	unsigned int n;

	while (strncmp(line, m->prefix, strlen(m->prefix))) {
		if (++m == members + ARRAY_SIZE(members)) {
			fault("a line of no member: %s", line);
			return;
		}
	}
	if (mark && sscanf(mark, "mark=%u", &n) == 1) {
		if (n != next || member_of(n) != m)
			fault("want record %u of %s: %s", next, member_of(next)->name, line);
		next = n + 1;
		m->marks++;
	} else if (strstr(line, m->call)) {
		m->events++;
	} else {
		fault("an event that nobody asked for: %s", line);
	}
}

static void check_trace(void)
{
	char *text = tracefs_instance_file_read(instance, "trace", NULL), *rest = text, *line;

	if (!text)
		fault("cannot read trace: %s", strerror(errno));
	while ((line = strsep(&rest, "\n"))) {
		if (*line && *line != '#')
			check_line(line);
	}
	free(text);
}

static int check_member(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
	unsigned int n = number(event, record);
	struct member *m = data;

	if (n && n == first + (m - members) + ARRAY_SIZE(members) * m->marks)
		m->marks++;
	else if (!n && event && !strcmp(event->name, m->event))
		m->events++;
	else
		fault("%s has record %u, or an event that nobody asked for", m->name, n);
	return 0;
}

/* Only a channel that has left its session can be removed. */
static void leave(struct member *m)
{
	char text[16];

	/* (An open trace_marker would hold it, too.) */
	tracefs_print_close(m->instance);
	if (!tracefs_instance_destroy(m->instance))
		fault("%s was removed while it was a channel", m->name);
	else if (errno != EBUSY)
		fault("%s is a channel, its removal fails with: %s", m->name, strerror(errno));
	snprintf(text, sizeof(text), "!%s", m->name);
	write_channels(text);
	if (tracefs_instance_destroy(m->instance) || tracefs_instance_exists(m->name))
		fault("cannot remove %s: %s", m->name, strerror(errno));
	tracefs_instance_free(m->instance);
}

static void session(void)
{
	struct member *m;

	begin_session();
	begin();
	record_session();
	check_trace();
	complete_members("trace");
	for (m = members; m < members + ARRAY_SIZE(members); m++) {
		if (tracefs_iterate_raw_events(tep, m->instance, NULL, 0, check_member, m))
			fault("cannot iterate over %s: %s", m->name, strerror(errno));
	}
	complete_members("iterated over");
	for (m = members + 1; m < members + ARRAY_SIZE(members); m++)
		leave(m);
}

#ifdef TRACEFS_MAPS
static void iterate_snapshot(void)
{
	if (tracefs_iterate_snapshot_events(tep, instance, NULL, 0, check, NULL))
		fault("cannot iterate over the snapshot: %s", strerror(errno));
}

static void snap(void)
{
	if (tracefs_snapshot_snap(instance))
		fault("cannot take a snapshot: %s", strerror(errno));
}

static void snapshot_events(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		begin();
		marks_elsewhere(1 + i);
		snap();
		iterate_snapshot();
		complete("iterated over a snapshot");
		iterate_snapshot();
		complete("iterated over it once more");
		marks(5);
		iterate();
		complete("iterated over what came then");
		marks(5);
		snap();
		tracefs_snapshot_clear(instance);
		begin();
		iterate_snapshot();
		complete("iterated over a snapshot that was cleared");
		if (i & 1)
			tracefs_snapshot_free(instance);
	}
}

static void follow_events_clear(void)
{
	int i;

	tracefs_event_enable(instance, "syscalls", "sys_enter_getppid");
	for (i = 0; i < 3; i++) {
		follow();
		tracefs_follow_event_clear(instance, "syscalls", "sys_enter_getppid");
		check_followed(0);
		tracefs_follow_event_clear(instance, NULL, NULL);
	}
}

static void open_again_mixed(void)
{
	open_again_by(true);
}
#endif

#define CASE(f)		.name = #f, .run = f

static const struct {
	const char *name;
	void (*run)(void);
	void (*way)(struct tracefs_cpu *tcpu);		/* or that of read_by() */
	int (*move)(struct tracefs_cpu *tcpu, int fd, bool nonblock);	/* or of move_by() */
	bool cleared;
	bool maps;		/* may be mapped */
} cases[] = {
	{ "cpu_read", .way = way_read, .maps = true },
	{ "cpu_buffered_read", .way = way_buffered_read, .maps = true },
	{ "cpu_write", .way = way_write, .maps = true },
	{ "move_write", .move = tracefs_cpu_write, .maps = true },
	{ "move_pipe", .move = tracefs_cpu_pipe, .maps = true },
	{ "move_pipe_cleared", .move = tracefs_cpu_pipe, .cleared = true, .maps = true },
	{ CASE(clear_then_open), .maps = true },
	{ CASE(clear_while_open), .maps = true },
	{ CASE(open_again), .maps = true },
	{ CASE(iterate_events) },
	{ CASE(iterate_cleared) },
	{ CASE(iterate_cpus) },
	{ CASE(follow_events) },
	{ CASE(pid_events) },
	{ CASE(session) },
#ifdef TRACEFS_MAPS
	{ CASE(snapshot_events) },
	{ CASE(follow_events_clear) },
	{ CASE(open_again_mixed) },
#endif
};

static void run(unsigned int i, bool maps)
{
	mapped = maps;
	tep = tracefs_local_events(NULL);
	instance = tracefs_instance_create("clients");
	if (!tep || !instance || tracefs_print_init(instance)) {
		fault("cannot begin: %s", strerror(errno));
		return;
	}
	pin(0);
	if (cases[i].way)
		read_by(cases[i].way);
	else if (cases[i].move)
		move_by(cases[i].move, cases[i].cleared);
	else
		cases[i].run();
	tracefs_print_close(instance);
	if (tracefs_instance_destroy(instance))
		fault("cannot remove the instance: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	bool list = argc == 2 && !strcmp(argv[1], "-l");
	char name[64];
	unsigned int i;
	int maps, most = 0;

#ifdef TRACEFS_MAPS
	most = 1;
#endif
	setlinebuf(stdout);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (maps = 0; maps <= (cases[i].maps ? most : 0); maps++) {
			snprintf(name, sizeof(name), "%s%s", cases[i].name, maps ? ".mapped" : "");
			if (list) {
				puts(name);
			} else if (argc == 2 && !strcmp(argv[1], name)) {
				run(i, maps);
				return !!faults;
			}
		}
	}
	return list ? 0 : 2;
}
