// SPDX-License-Identifier: GPL-2.0
/*
 * alloc-fail START-END SITE=ADDRESS...
 * alloc-fail broken START-END
 *
 * Let the allocations of a system call fail (failslab and fail_page_alloc of the
 * kernel).  After each failure the call must have said ENOMEM and changed
 * nothing: the sizes are those from before, every record is there, and the same
 * call without a failure succeeds.  One that did without the allocation must have
 * done all.  They fail
 *  - in turn, the first, the second and so on until the call gets by with those
 *    that are left (/proc/thread-self/fail-nth).  So each operation stops once at
 *    each point where it could.  Of what makes hundreds for files and events, only
 *    those made within START-END, the ring buffer's code.
 *  - by SITE, all that are made below the call that returns to ADDRESS.  Some have
 *    a second try by other means, which then fails, too.
 *
 * Prints "NAME PASS|FAIL" for each operation, and for each SITE whether it has
 * failed.  With "broken" the operation is done behind the back of the check, which
 * then must say FAIL.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#define DEBUG		"/sys/kernel/debug/"
#define TRACING		"/sys/kernel/tracing/"
#define RECORDS		24
#define MAX_SITES	64

/* Where the ring buffer allocates. */
static struct site {
	const char	*name;
	unsigned long	address;
	unsigned int	failed, refused;	/* operations where it did, which said ENOMEM */
} sites[MAX_SITES];
static unsigned int nr_sites;
static unsigned long text_start, text_end;

static int nth_fd, it_fd, nr_faults, nr_cpus;
static const char *running;
static const struct site *current_site;		/* what fails: all of a site, or one */
static unsigned long current_nth;

/* What must not change, see state(). */
static const char *const names[] = {
	"buffer_size_kb", "buffer_subbuf_size_kb", "buffer_total_size_kb",
	"per_cpu/cpu0/buffer_size_kb", "cpu0/stats", "cpu1/stats", "the snapshot",
};
#define NR_STATE	7
static char files[NR_STATE][64];

static void fault(const char *fmt, ...)
{
	va_list ap;

	if (nr_faults++ > 9)
		return;
	if (current_site)
		printf("# %s, %s: ", running, current_site->name);
	else
		printf("# %s, allocation %lu: ", running, current_nth);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static void die(const char *what)
{
	printf("alloc-fail: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC), ret = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

static void must_put(const char *file, const char *text)
{
	if (put(file, text))
		die(file);
}

static void get(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		die(file);
	n = read(fd, text, size - 1);
	if (n < 0)
		die(file);
	text[n] = 0;
	close(fd);
}

/* A setting of both kinds of failures. */
static void set(const char *what, const char *fmt, ...)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc" };
	char file[128], text[32];
	unsigned int i;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (i = 0; i < 2; i++) {
		snprintf(file, sizeof(file), DEBUG "%s/%s", kinds[i], what);
		must_put(file, text);
	}
}

static void setup(void)
{
	set("verbose", "0");
	set("ignore-gfp-wait", "N");
	must_put(DEBUG "fail_page_alloc/ignore-gfp-highmem", "N");
	must_put(DEBUG "fail_page_alloc/min-order", "0");
	set("probability", "0");
	set("task-filter", "Y");
	set("stacktrace-depth", "32");
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	it_fd = open("/proc/self/make-it-fail", O_RDWR);
	if (nth_fd < 0 || it_fd < 0)
		die("fail-nth, make-it-fail (CONFIG_FAULT_INJECTION)");
}

/* Only what is allocated below one of these calls. */
static void below(unsigned long start, unsigned long end)
{
	set("require-start", "%#lx", start);
	set("require-end", "%#lx", end);
}

#define MANY	1000000		/* more than can fail */

static void use_site(const struct site *site)
{
	current_site = site;
	if (site)
		below(site->address, site->address + 1);
	set("times", "%d", site ? MANY : -1);
	set("probability", site ? "100" : "0");
}

static void put_number(int fd, unsigned long n)
{
	char text[32];

	sprintf(text, "%lu", n);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		die("fail-nth, make-it-fail");
}

/* From here on, @n of 0 is never. */
static void arm(unsigned long n)
{
	if (current_site)
		put_number(it_fd, !!n);
	else
		put_number(nth_fd, n);
}

/* Till here.  Has something failed? */
static bool disarm(void)
{
	char slab[32], page[32], text[32] = "";

	if (current_site) {
		put_number(it_fd, 0);
		get(DEBUG "failslab/times", slab, sizeof(slab));
		get(DEBUG "fail_page_alloc/times", page, sizeof(page));
		set("times", "%d", MANY);
		return atoi(slab) < MANY || atoi(page) < MANY;
	}
	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		die("fail-nth");
	put_number(nth_fd, 0);
	return !atoi(text);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void fill(void)
{
	char text[32];
	int i;

	must_put("trace", "");
	for (i = 0; i < RECORDS; i++) {
		on_cpu(i % nr_cpus);
		sprintf(text, "record %d.", i);
		must_put("trace_marker", text);
	}
}

/* Every record, in order. */
static void check_lines(FILE *f)
{
	int n, want = 0, lines = 0;
	char line[512];
	char *at;

	/* (It can be that there is no end.) */
	while (lines++ < 10 * RECORDS && fgets(line, sizeof(line), f)) {
		at = strstr(line, "record ");
		if (!at)
			continue;
		if (sscanf(at, "record %d.", &n) != 1 || n != want)
			fault("found \"%s\" in place of record %d", at, want);
		want = n + 1;
	}
	if (want != RECORDS)
		fault("%d records in place of %d", want, RECORDS);
}

static void check_records(void)
{
	FILE *f = fopen("trace", "r");

	if (!f)
		die("trace");
	check_lines(f);
	fclose(f);
}

/* The sizes, and of each CPU how many records there are. */
static void state(char to[NR_STATE][64])
{
	char text[1024];
	int cpu, i;

	for (i = 0; i < 4; i++)
		get(names[i], to[i], sizeof(to[i]));
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		snprintf(text, sizeof(text), "per_cpu/cpu%d/stats", cpu);
		get(text, text, sizeof(text));
		snprintf(to[4 + cpu], sizeof(to[0]), "%.*s", 60, text);
	}
	get("snapshot", text, sizeof(text));
	snprintf(to[6], sizeof(to[0]), "%s", strstr(text, "Snapshot is freed") ? "none" : "is there");
}

static void check_unchanged(void)
{
	char now[NR_STATE][64] = { };
	int i;

	state(now);
	for (i = 0; i < NR_STATE; i++) {
		if (strcmp(now[i], files[i]))
			fault("%s is\n%s\nand was\n%s", names[i], now[i], files[i]);
	}
	check_records();
}

/* One system call each; what it needs open is opened before. */
static int fd;

static int do_create(void) { return mkdir("../new", 0755) ? -errno : 0; }
static int do_write(const char *text) { return write(fd, text, strlen(text)) < 0 ? -errno : 0; }
static int do_grow(void) { return do_write("32"); }
static int do_order(void) { return do_write("16"); }
static int do_snapshot(void) { return do_write("1"); }

static int do_iterate(void)
{
	fd = open("trace", O_RDONLY);
	return fd < 0 ? -errno : 0;
}

static void after_iterate(void)
{
	FILE *f = fdopen(dup(fd), "r");

	if (!f)
		die("trace");
	check_lines(f);
	fclose(f);
}

static int do_read(void)
{
	char page[4096];

	return read(fd, page, sizeof(page)) < 0 ? -errno : 0;
}

static int map_pages(int n)
{
	void *map = mmap(NULL, n * 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, n * 4096);
	return 0;
}

static int do_map(void) { return map_pages(1); }
static int do_map_all(void) { return map_pages(3); }

/* Whole sub-buffers, so it may be a little more. */
static void is(const char *file, const char *want)
{
	char text[64];

	get(file, text, sizeof(text));
	if (atoi(text) < atoi(want) || atoi(text) >= atoi(want) + 16)
		fault("%s is %s in place of %s", file, text, want);
}

static void undo_create(void)
{
	struct stat st;

	if (stat("../new/per_cpu/cpu0/stats", &st))
		fault("the new instance has no statistics");
	if (rmdir("../new"))
		fault("cannot remove the new instance: %s", strerror(errno));
}

static void undo_grow(void)
{
	is("buffer_size_kb", "32");
	check_records();
	must_put("buffer_size_kb", "16");
}

static void undo_grow_one(void)
{
	is("per_cpu/cpu0/buffer_size_kb", "32");
	if (nr_cpus > 1)
		is("per_cpu/cpu1/buffer_size_kb", "16");
	check_records();
	must_put("per_cpu/cpu0/buffer_size_kb", "16");
}

/* An instance for what follows, in place of the one that may be there. */
static void start(void)
{
	if (chdir(TRACING "instances") || (rmdir("faulty") && errno != ENOENT) ||
	    mkdir("faulty", 0755) || chdir("faulty"))
		die("instances/faulty");
	must_put("buffer_size_kb", "16");
}

/* A buffer keeps the memory of a larger size: only a new one allocates it. */
static void undo_order(void)
{
	is("buffer_subbuf_size_kb", "16");
	start();
	fill();
}

/* Let another reader hold the page that the last one left for the next. */
static int hold = -1;

static void unhold(void)
{
	if (hold >= 0)
		close(hold);
	hold = -1;
}

static void before_read(void)
{
	char byte;

	unhold();
	must_put("trace", "");
	hold = open("per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
	if (hold < 0 || read(hold, &byte, 1) >= 0 || errno != EAGAIN)
		die("trace_pipe_raw");
	fill();
	state(files);
}

static void undo_snapshot(void)
{
	must_put("snapshot", "0");
	fill();
}

static void check_create(void)
{
	struct stat st;

	if (!stat("../new", &st))
		fault("a directory was left behind");
	check_unchanged();
}

static const struct op {
	const char	*name;
	const char	*file;			/* opened before, or NULL */
	int		(*call)(void);
	void		(*undo)(void);		/* and see that it was done */
	void		(*after)(void);		/* that, while the file is open */
	void		(*before)(void);
} ops[] = {
	{ "grow", "buffer_size_kb", do_grow, undo_grow },
	{ "grow-one", "per_cpu/cpu0/buffer_size_kb", do_grow, undo_grow_one },
	{ "order", "buffer_subbuf_size_kb", do_order, undo_order },
	{ "map", "per_cpu/cpu0/trace_pipe_raw", do_map },
	{ "map-all", "per_cpu/cpu0/trace_pipe_raw", do_map_all },
	{ "read-page", "per_cpu/cpu0/trace_pipe_raw", do_read, fill, NULL, before_read },
	{ "iterate", NULL, do_iterate, NULL, after_iterate },
	{ "snapshot", "snapshot", do_snapshot, undo_snapshot },
	{ "create", NULL, do_create, undo_create },
};

static void undo(const struct op *op)
{
	if (op->undo)
		op->undo();
	/* (What an order change rounds, and numbers that were written anew.) */
	state(files);
	check_records();
}

static int once(const struct op *op, unsigned long n, bool *came)
{
	int ret;

	fd = -1;
	if (op->file) {
		fd = open(op->file, strstr(op->file, "raw") ? O_RDONLY | O_NONBLOCK : O_WRONLY);
		if (fd < 0)
			die(op->file);
	}
	arm(n);
	ret = op->call();
	*came = disarm() && n;
	if (!ret && op->after)
		op->after();
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Something has failed, and the call returned @ret.  Was it refused? */
static bool judge(const struct op *op, int ret, bool behind)
{
	bool came;

	if (!ret) {
		undo(op);
		return false;
	}
	if (ret != -ENOMEM)
		fault("%s", strerror(-ret));
	if (behind)
		once(op, 0, &came);
	if (op->call == do_create)
		check_create();
	else
		check_unchanged();
	if (nr_faults)
		return true;
	ret = once(op, 0, &came);
	if (ret)
		fault("then, without a failure: %s", strerror(-ret));
	else
		undo(op);
	return true;
}

/* Nothing was there to fail, and the call returned @ret. */
static void none_failed(const struct op *op, int ret)
{
	if (ret)
		fault("%s, but no allocation has failed", strerror(-ret));
	else
		undo(op);
}

static void sweep(const struct op *op, bool broken)
{
	unsigned int tried = 0, refused = 0, tried_sites = 0;
	struct site *site;
	bool came;
	int ret;

	running = op->name;
	nr_faults = 0;
	use_site(NULL);
	if (op->call == do_create)
		below(text_start, text_end);
	else
		below(0, ~0UL);
	fill();
	state(files);
	for (current_nth = 1; !nr_faults; current_nth++) {
		if (op->before)
			op->before();
		ret = once(op, current_nth, &came);
		if (!came) {
			none_failed(op, ret);
			break;
		}
		tried++;
		refused += judge(op, ret, broken && !refused);
	}
	for (site = sites; site < sites + nr_sites && !nr_faults; site++) {
		if (op->before)
			op->before();
		use_site(site);
		ret = once(op, 1, &came);
		if (!came) {
			none_failed(op, ret);
			continue;
		}
		tried_sites++;
		site->failed++;
		site->refused += judge(op, ret, false);
	}
	if (!refused)
		fault("nothing has failed");
	unhold();
	rmdir("../new");
	start();
	printf("# %s: %u allocations failed in turn, refused for %u of them; %u sites\n",
	       op->name, tried, refused, tried_sites);
	printf("%s %s\n", op->name, nr_faults ? "FAIL" : "PASS");
	fflush(stdout);
}

static void report_sites(void)
{
	struct site *site;

	for (site = sites; site < sites + nr_sites; site++) {
		printf("# %s: failed in %u operations, refused in %u\n",
		       site->name, site->failed, site->refused);
		printf("%s %s\n", site->name, site->refused ? "PASS" : "FAIL");
	}
}

static void add_site(char *arg)
{
	char *at = strchr(arg, '=');

	if (!at || nr_sites == MAX_SITES)
		die(arg);
	*at = 0;
	sites[nr_sites].name = arg;
	sites[nr_sites++].address = strtoul(at + 1, NULL, 16);
}

int main(int argc, char **argv)
{
	bool broken = argc > 1 && !strcmp(argv[1], "broken");
	unsigned int i;

	argv += 1 + broken;
	if (!*argv || sscanf(*argv, "%lx-%lx", &text_start, &text_end) != 2)
		die("usage: alloc-fail [broken] START-END [SITE=ADDRESS...]");
	while (*++argv)
		add_site(*argv);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	setup();
	start();
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!broken || ops[i].undo)
			sweep(&ops[i], broken);
	}
	use_site(NULL);
	below(0, ~0UL);
	report_sites();
	if (chdir("..") || rmdir("faulty"))
		die("rmdir instances/faulty");
	return 0;
}
