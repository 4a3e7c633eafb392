// SPDX-License-Identifier: GPL-2.0
/*
 * An operation, again and again, with one failure after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "alloc-fail.h"

#define MAX_SITES	128

/* Of a sparse operation these fail: the first, the last, and each so many, or STEP=, between. */
#define FIRST		120
#define LAST		60
#define STEP		53

static struct site sites[MAX_SITES];
static unsigned int nr_sites;

static int nr_faults;
static const char *running;
static const struct site *current_site;		/* what fails: all of a site, or one */
static unsigned long current_nth;
static bool was_refused;
static unsigned long count, step;		/* of allocations, of a sparse operation */

void fault(const char *fmt, ...)
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

void die(const char *what)
{
	printf("alloc-fail: %s%s%s: %s\n", running ?: "", running ? ", " : "", what,
	       strerror(errno));
	exit(1);
}

/* The file that an operation needs open. */
int fd;

int do_write(const char *text)
{
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int do_open(const char *file, int flags)
{
	fd = open(file, flags);
	return fd < 0 ? -errno : 0;
}

/* The file that another reader has open. */
static int held = -1;

int hold_open(const char *file, int flags)
{
	unhold();
	held = open(file, flags);
	if (held < 0)
		die(file);
	return held;
}

int hold_fd(void)
{
	return held;
}

void unhold(void)
{
	if (held >= 0)
		close(held);
	held = -1;
}

/* The call has succeeded, and says so, but a part of it was refused, and is counted. */
void refused(void)
{
	was_refused = true;
}

/* An instance for what follows, in place of the one that may be there. */
void start(void)
{
	if (chdir(TRACING "instances") || (rmdir("faulty") && errno != ENOENT) ||
	    mkdir("faulty", 0755) || chdir("faulty"))
		die("instances/faulty");
	must_put("buffer_size_kb", "16");
}

static void undo(const struct op *op)
{
	if (op->undo)
		op->undo();
	/* (What an order change rounds, and numbers that were written anew.) */
	remember();
	check_records();
}

static void unchanged(const struct op *op)
{
	if (op->check)
		op->check();
	check_unchanged();
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
	inject_start(n);
	ret = op->call();
	*came = inject_end() && n;
	if (!ret && op->after)
		op->after();
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The call that got all it wanted returned @ret: it was done, or is refused as ever. */
static void finish(const struct op *op, int ret, const char *why)
{
	if (ret != -op->error)
		fault("%s, but %s", strerror(-ret), why);
	else if (ret)
		unchanged(op);
	else
		undo(op);
}

/* Something has failed, and the call returned @ret.  Was it refused? */
static bool judge(const struct op *op, int ret, bool behind)
{
	bool came;

	was_refused = false;
	if (behind && op->harm)
		op->harm();
	if (!ret) {
		undo(op);
		return was_refused;
	}
	if (ret != -(op->error ?: ENOMEM))
		fault("%s", strerror(-ret));
	if (behind && !op->harm)
		once(op, 0, &came);
	unchanged(op);
	if (nr_faults)
		return true;
	finish(op, once(op, 0, &came), "nothing failed the second time");
	return true;
}

/* Nothing was there to fail, and the call returned @ret. */
static void none_failed(const struct op *op, int ret)
{
	was_refused = false;
	finish(op, ret, "no allocation has failed");
	if (was_refused)
		fault("a part was refused, but no allocation has failed");
}

/* Two operations are enough: what others allocate there has failed in turn. */
static bool is_done(const struct site *site)
{
	return (site->optional ? site->failed : site->refused) > 1;
}

static void count_allocations(const struct op *op)
{
	const char *asked = getenv("STEP");

	step = asked ? strtoul(asked, NULL, 10) : STEP;
	if (!step)
		die("STEP");
	if (op->before)
		op->before();
	fd = -1;
	count = inject_count(op->call);
	if (fd >= 0)
		close(fd);
	undo(op);
}

static bool is_skipped(const struct op *op, unsigned long nth)
{
	return op->sparse && nth > FIRST && nth + LAST <= count && nth % step;
}

void sweep(const struct op *op, bool broken)
{
	unsigned int tried = 0, refused = 0, tried_sites = 0;
	struct site *site;
	bool came;
	int ret;

	running = op->name;
	nr_faults = 0;
	current_site = NULL;
	inject_at(NULL, false);
	if (op->only)
		inject_below(op->only->start, op->only->end);
	else
		inject_below(0, ~0UL);
	fill("record");
	remember();
	if (op->sparse)
		count_allocations(op);
	for (current_nth = 1; !nr_faults; current_nth++) {
		if (is_skipped(op, current_nth))
			continue;
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
		if (is_done(site) && !op->workers)
			continue;
		if (op->before)
			op->before();
		current_site = site;
		inject_at(site, op->workers);
		ret = once(op, 1, &came);
		if (!came) {
			none_failed(op, ret);
			continue;
		}
		tried_sites++;
		site->failed++;
		ret = judge(op, ret, false);
		site->refused += ret;
		refused += ret;
	}
	if (op->gets_by ? !tried : !refused)
		fault("nothing has failed");
	unhold();
	start();
	/* It may have been a channel. */
	rmdir("../new");
	printf("# %s: %u allocations failed in turn, %u sites; refused %u times\n", op->name, tried,
	       tried_sites, refused);
	printf("%s %s\n", op->name, nr_faults ? "FAIL" : "PASS");
	fflush(stdout);
}

void report_sites(void)
{
	struct site *site;

	inject_at(NULL, false);
	inject_below(0, ~0UL);
	for (site = sites; site < sites + nr_sites; site++) {
		printf("# %s: failed in %u operations, refused in %u\n",
		       site->name, site->failed, site->refused);
		printf("%s %s\n", site->name,
		       site->refused || (site->optional && site->failed) ? "PASS" : "FAIL");
	}
}

void add_site(char *name, unsigned long address)
{
	size_t len = strlen(name);
	struct site *site;

	if (nr_sites == MAX_SITES)
		die("too many sites");
	site = &sites[nr_sites++];
	site->optional = len && name[len - 1] == '?';
	if (site->optional)
		name[len - 1] = 0;
	site->name = name;
	site->address = address;
}
