/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of walk, see walk.c */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define TRACEFS		"/sys/kernel/tracing"
#define NR_SLOTS	24		/* open files of a process */
#define NR_ERRORS	134
#define PATH_LEN	256
#define LONG_LEN	70000		/* more than any file takes at once */
#define PAGE		4096

#define CALLS(X) \
	X(open) X(list) X(read) X(pread) X(readv) X(write) X(pwrite) X(truncate) X(ftruncate) \
	X(mmap) X(touch) X(munmap) X(splice) X(vmsplice) X(sendfile) X(ioctl) X(poll) X(lseek) \
	X(dup) X(fork) X(stat) X(chmod) X(fsync) X(close) X(mkdir) X(rmdir) X(unlink) X(rename) X(keep) \
	X(perf)
#define CALL_ENUM(name) CALL_##name,
enum { CALLS(CALL_ENUM) NR_CALLS };

/* The parent sees this of a process. */
struct walker {
	const char	*name;
	void		(*drop)(void);
	bool		outside;	/* can open files in /proc only */
	pid_t		pid;
	unsigned long	count[NR_CALLS][NR_ERRORS];
	long		since;		/* the call began, in ms; 0: it is between two */
	int		call;
	char		path[PATH_LEN];
	long		slowest;
	int		slowest_call;
	char		slowest_path[PATH_LEN];
};

extern struct walker *walkers, *me;	/* all processes, and this one */
extern int nr_walkers;

/* Open files and mappings */
struct slot {
	int	fd;		/* -1: none */
	void	*map;
	size_t	len;		/* of the mapping */
	char	path[PATH_LEN];
};
extern struct slot slots[NR_SLOTS];

/* Choices */
extern unsigned long long state;
unsigned long long rnd64(void);
unsigned int rnd(unsigned int n);
#define one_of(array)	((array)[rnd(sizeof(array) / sizeof((array)[0]))])

/* Each call is counted: DO(NAME, FILE, EXPRESSION) */
void call_begin(int call, const char *path);
long call_end(long ret);
#define DO(call, path, ...) (call_begin(CALL_##call, path), call_end((long)(__VA_ARGS__)))

/* files.c */
bool is_left_alone(const char *path);
bool is_heavy(const char *path);
int pick_entry(const char *dir, char *name);
void path_add(char *path, const char *name);
void pick_file(char *path);

/* words.c */
extern char text[LONG_LEN + 1];		/* the words, and what was read */
void words_begin(void);
size_t make_text(const char *path);

/* acts.c */
void acts_begin(void);
void act(void);
