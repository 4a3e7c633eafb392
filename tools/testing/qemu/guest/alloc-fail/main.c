// SPDX-License-Identifier: GPL-2.0
/*
 * alloc-fail [broken] SUBJECT=START-END... SITE[?]=ADDRESS...
 *
 * Let the allocations of a system call fail (failslab and fail_page_alloc of the
 * kernel).  After each failure the call must have said ENOMEM and changed
 * nothing: the sizes are those from before, every record and every snapshot is there,
 * and the same call without a failure succeeds.  One that did without the allocation must
 * have done all, but for what it then says in a count.  They fail
 *  - in turn, the first, the second and so on until the call gets by with those
 *    that are left (/proc/thread-self/fail-nth).  So each operation stops once at
 *    each point where it could.  Of what makes hundreds for files and events, only
 *    those made within START-END, the code of the SUBJECT, see the ops in ring.c and
 *    snapshot.c; or the first, the last and some between, see instance.c.
 *  - by SITE, all that are made below the call that returns to ADDRESS.  Some have
 *    a second try by other means, which then fails, too.
 *
 * Prints "NAME PASS|FAIL" for each operation, and for each SITE whether it has failed and
 * an operation was refused for it; with "?" whether it has failed.  With "broken" the
 * operation, or some other harm, is done behind the back of the check, which then must
 * say FAIL.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc-fail.h"

static struct subject *const subjects[] = {
	&ring_buffer, &snapshot, &instance, &perf_sample, &stop, &channel, &dat, &proc_view,
};
#define NR_SUBJECTS	(sizeof(subjects) / sizeof(subjects[0]))

static void add(char *arg)
{
	char *at = strchr(arg, '=');
	unsigned int i;

	errno = EINVAL;
	if (!at)
		die(arg);
	*at++ = 0;
	for (i = 0; i < NR_SUBJECTS; i++) {
		if (strcmp(arg, subjects[i]->name))
			continue;
		if (sscanf(at, "%lx-%lx", &subjects[i]->start, &subjects[i]->end) != 2)
			die(arg);
		return;
	}
	add_site(arg, strtoul(at, NULL, 16));
}

int main(int argc, char **argv)
{
	bool broken = argc > 1 && !strcmp(argv[1], "broken");
	const struct op *op;
	unsigned int i, j;

	for (argv += 1 + broken; *argv; argv++)
		add(*argv);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	inject_setup();
	start();
	for (i = 0; i < NR_SUBJECTS; i++) {
		/* Only what is named. */
		for (j = 0; subjects[i]->end && j < subjects[i]->nr; j++) {
			op = &subjects[i]->ops[j];
			if (!broken || op->undo || op->harm)
				sweep(op, broken);
		}
	}
	report_sites();
	if (chdir("..") || rmdir("faulty")) {
		perror("rmdir instances/faulty");
		return 1;
	}
	return 0;
}
