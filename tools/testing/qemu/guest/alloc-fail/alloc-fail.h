/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of alloc-fail share.
 */
#ifndef _ALLOC_FAIL_H
#define _ALLOC_FAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define DEBUG		"/sys/kernel/debug/"
#define TRACING		"/sys/kernel/tracing/"
#define RECORDS		12

/* The code of which allocations fail, see ../../alloc-sites. */
struct subject {
	const char		*name;
	unsigned long		start, end;
	const struct op		*ops;
	unsigned int		nr;
};

extern struct subject ring_buffer, snapshot, instance;
extern struct subject perf_sample, stop, channel, dat, proc_view;

/* Where it allocates. */
struct site {
	const char		*name;
	unsigned long		address;
	bool			optional;		/* some do without */
	unsigned int		failed, refused;	/* operations where it did, and that were */
};

/*
 * An operation: one system call, in the instance "faulty", which is the current
 * directory.  Before it there are RECORDS records in the live buffer, and behind it as well.
 */
struct op {
	const char		*name;
	const char		*file;		/* opened before, or NULL */
	int			(*call)(void);
	void			(*undo)(void);	/* and see that it was done */
	void			(*after)(void);	/* that, while the file is open */
	void			(*before)(void);
	void			(*check)(void);	/* more of what has not changed */
	void			(*harm)(void);	/* instead of a call behind the back */
	const struct subject	*only;		/* of what it allocates, only what that does */
	int			error;		/* that it is refused with in any case */
	bool			workers;	/* may do a part of it */
	bool			gets_by;	/* without any memory */
	bool			sparse;		/* of thousands, only some fail */
};

/* inject.c: what fails */
void inject_setup(void);
void inject_below(unsigned long start, unsigned long end);
void inject_at(const struct site *site, bool workers);
void inject_start(unsigned long n);
bool inject_end(void);
unsigned long inject_count(int (*call)(void));

/* state.c: what must not change */
extern int nr_cpus;
int put(const char *file, const char *text);
void must_put(const char *file, const char *text);
void get(const char *file, char *text, size_t size);
void is(const char *file, const char *want);
bool has(const char *file, const char *what);
void must_have(const char *file, const char *what);
void fill(const char *what);
void check_lines(FILE *f, const char *what, int records);
void check_open(int from, const char *what, int records);
void check_file(const char *file, const char *what, int records);
void check_records(void);
const char *was(const char *file);
void remember(void);
void before_event(void);
void check_unchanged(void);

/* sweep.c: one failure after the other */
extern int fd;
void start(void);
int hold_open(const char *file, int flags);
int hold_fd(void);
void unhold(void);
void refused(void);
void fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(const char *what) __attribute__((noreturn));
void sweep(const struct op *op, bool broken);
void add_site(char *name, unsigned long address);
void report_sites(void);

int do_write(const char *text);
int do_open(const char *file, int flags);

/* ring.c: an instance is made, what both allocate in */
int do_create(void);
void undo_create(void);
void check_create(void);

/* snapshot.c: instances of kept snapshots */
void forget(void);
int nr_kept(char *name, size_t size);
void is_kept(const char *what);

#endif
