// SPDX-License-Identifier: GPL-2.0
/*
 * Make allocations fail: failslab and fail_page_alloc of the kernel, set through debugfs.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc-fail.h"

#define MANY	1000000		/* more than can fail */

static int nth_fd, it_fd;
static bool at_site;

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

void inject_setup(void)
{
	set("verbose", "0");
	set("ignore-gfp-wait", "N");
	must_put(DEBUG "fail_page_alloc/ignore-gfp-highmem", "N");
	must_put(DEBUG "fail_page_alloc/min-order", "0");
	set("probability", "0");
	set("stacktrace-depth", "32");
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	it_fd = open("/proc/self/make-it-fail", O_RDWR);
	if (nth_fd < 0 || it_fd < 0)
		die("fail-nth, make-it-fail (CONFIG_FAULT_INJECTION)");
}

/* Only what is allocated below one of these calls. */
void inject_below(unsigned long start, unsigned long end)
{
	set("require-start", "%#lx", start);
	set("require-end", "%#lx", end);
}

/* All of a site, of NULL one allocation in turn; for @workers, of all tasks. */
void inject_at(const struct site *site, bool workers)
{
	at_site = site;
	if (site)
		inject_below(site->address, site->address + 1);
	set("task-filter", site && workers ? "N" : "Y");
	set("times", "%d", site ? MANY : -1);
}

static void put_number(int fd, unsigned long n)
{
	char text[32];

	sprintf(text, "%lu", n);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		die("fail-nth, make-it-fail");
}

/* From here on, @n of 0 is never. */
void inject_start(unsigned long n)
{
	if (at_site) {
		set("probability", n ? "100" : "0");
		put_number(it_fd, !!n);
	} else {
		put_number(nth_fd, n);
	}
}

/* How many allocations does @call make, of those that can fail?  None fails. */
unsigned long inject_count(int (*call)(void))
{
	char text[32] = "";

	put_number(nth_fd, MANY);
	if (call())
		die("nothing has failed, but the operation");
	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		die("fail-nth");
	put_number(nth_fd, 0);
	return MANY - atoi(text);
}

/* Till here.  Has something failed? */
bool inject_end(void)
{
	char slab[32], page[32], text[32] = "";

	if (at_site) {
		put_number(it_fd, 0);
		set("probability", "0");
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
