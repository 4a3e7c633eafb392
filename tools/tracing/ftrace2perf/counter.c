// SPDX-License-Identifier: GPL-2.0
/*
 * The events of perf that are sampled: the names that the file perf_events has for them.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

/* A trace may come from anyone: so many events, at most. */
#define COUNTERS_MAX	1024

static const struct {
	const char	*name;
	uint32_t	type;
	uint64_t	config;
} known[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
};

/* "type=N/config=0xN/", as the kernel writes it */
static bool parse_numbers(struct counter *counter, const char *name)
{
	unsigned long long config;
	unsigned int type;
	char *again;
	bool same;

	if (sscanf(name, "type=%u/config=%llx/", &type, &config) != 2)
		return false;
	/* The kernel samples neither, and perf wants a format of each tracepoint. */
	if (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
		return false;
	again = text("type=%u/config=0x%llx/", type, config);
	same = !strcmp(name, again);
	free(again);
	counter->type = type;
	counter->config = config;
	return same;
}

static bool parse(struct counter *counter, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(name, known[i].name)) {
			counter->type = known[i].type;
			counter->config = known[i].config;
			return true;
		}
	}
	return parse_numbers(counter, name);
}

/* The place of @name, or where it has to be. */
static int place(const struct counters *counters, const char *name, bool *found)
{
	int from = 0, to = counters->nr, middle, order;

	*found = false;
	while (from < to && !*found) {
		middle = (from + to) / 2;
		order = strcmp(name, counters->all[middle].name);
		*found = !order;
		if (order > 0)
			from = middle + 1;
		else
			to = middle;
	}
	return to;
}

/**
 * counter_find() - find an event of perf
 * @counters: the events
 * @name:     its name
 *
 * Return: it, valid until one is added; or NULL.
 */
struct counter *counter_find(const struct counters *counters, const char *name)
{
	bool found;
	int at = place(counters, name, &found);

	return found ? &counters->all[at] : NULL;
}

/**
 * counter_add() - add an event of perf, if it is not there
 * @counters: the events
 * @name:     its name
 *
 * Return: it, valid until the next one is added; NULL if perf has no such event, or there are
 *	   too many.
 */
struct counter *counter_add(struct counters *counters, const char *name)
{
	struct counter counter = {};
	bool found;
	int at = place(counters, name, &found);

	if (found)
		return &counters->all[at];
	if (counters->nr == COUNTERS_MAX || !parse(&counter, name))
		return NULL;
	counter.name = text("%s", name);
	counters->all = grow(counters->all, counters->nr, sizeof(counter));
	memmove(&counters->all[at + 1], &counters->all[at],
		(counters->nr++ - at) * sizeof(counter));
	counters->all[at] = counter;
	return &counters->all[at];
}
