// SPDX-License-Identifier: GPL-2.0
/*
 * The names and thread groups of tasks.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

static int compare_tasks(const void *a, const void *b)
{
	const struct task *one = a, *two = b;

	return (one->tid > two->tid) - (one->tid < two->tid);
}

static struct task *find(const struct task *tasks, int nr, int tid)
{
	struct task key = { .tid = tid };

	return nr ? bsearch(&key, tasks, nr, sizeof(key), compare_tasks) : NULL;
}

/* "TID REST" or "  TID  REST": the rest, or NULL. */
static char *read_tid(char *line, int *tid)
{
	char *rest;

	line += strspn(line, " ");
	*tid = strtol(line, &rest, 10);
	return isdigit((unsigned char)*line) && *rest == ' ' ? rest + 1 : NULL;
}

/**
 * tasks_read() - read saved_cmdlines and saved_tgids
 * @trace: the trace
 * @tasks: an array of them in the order of their tid is stored here
 *
 * Return: number of tasks.
 */
int tasks_read(struct trace *trace, struct task **tasks)
{
	struct cursor cmdlines = trace->cmdlines, tgids = trace->tgids;
	struct task *task;
	char line[64], *rest;
	int nr = 0, tid;

	while (cursor_line(&cmdlines, line, sizeof(line))) {
		rest = read_tid(line, &tid);
		if (!rest)
			continue;
		*tasks = grow(*tasks, nr, sizeof(**tasks));
		task = &(*tasks)[nr++];
		*task = (struct task){ .tid = tid, .tgid = tid };
		memcpy(task->comm, rest, strnlen(rest, sizeof(task->comm) - 1));
	}
	if (nr)
		qsort(*tasks, nr, sizeof(**tasks), compare_tasks);
	while (cursor_line(&tgids, line, sizeof(line))) {
		rest = read_tid(line, &tid);
		task = rest ? find(*tasks, nr, tid) : NULL;
		if (task)
			task->tgid = atoi(rest);
	}
	return nr;
}

/**
 * task_set_tgid() - set the thread group of a task, if that has a name
 * @tasks: all tasks
 * @nr:    number of @tasks
 * @tid:   the task
 * @tgid:  its PID
 */
void task_set_tgid(struct task *tasks, int nr, int tid, int tgid)
{
	struct task *task = find(tasks, nr, tid);

	if (task)
		task->tgid = tgid;
}

/**
 * task_tgid() - find the thread group of a task
 * @tasks: all tasks
 * @nr:    number of @tasks
 * @tid:   the task
 *
 * Return: its PID; @tid if it is unknown.
 */
int task_tgid(const struct task *tasks, int nr, int tid)
{
	struct task *task = find(tasks, nr, tid);

	return task ? task->tgid : tid;
}
