// SPDX-License-Identifier: GPL-2.0
/*
 * The names and thread groups of tasks.
 */
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

static int compare_tasks(const void *a, const void *b)
{
	return ((const struct task *)a)->tid - ((const struct task *)b)->tid;
}

static struct task *find(const struct task *tasks, int nr, int tid)
{
	struct task key = { .tid = tid };

	return bsearch(&key, tasks, nr, sizeof(key), compare_tasks);
}

static char *next_line(char *line)
{
	char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
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
	struct task *task;
	int nr = 0, tid, tgid;
	char *line, *comm;

	for (line = trace->cmdlines.data; line && *line; line = next_line(line)) {
		tid = strtol(line, &comm, 10);
		if (comm == line || *comm != ' ')
			continue;
		comm++;
		*tasks = resize(*tasks, nr + 1, sizeof(**tasks));
		(*tasks)[nr++] = (struct task){ .tid = tid, .tgid = tid,
			.comm = text("%.*s", (int)strcspn(comm, "\n"), comm) };
	}
	if (nr)
		qsort(*tasks, nr, sizeof(**tasks), compare_tasks);
	for (line = trace->tgids.data; line && *line; line = next_line(line)) {
		if (sscanf(line, "%d %d", &tid, &tgid) != 2)
			continue;
		task = find(*tasks, nr, tid);
		if (task)
			task->tgid = tgid;
	}
	return nr;
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
