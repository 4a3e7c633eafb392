// SPDX-License-Identifier: GPL-2.0
/*
 * The events and the CPUs of a trace, and those that the user wants.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

/**
 * trace_add_event() - add an event
 * @trace:  the trace
 * @system: name of the event's system
 * @format: content of its format file; the trace owns it from now on
 */
void trace_add_event(struct trace *trace, const char *system, struct blob format)
{
	struct event event = { .system = text("%s", system), .format = format,
			       .wanted = true, .attr = -1 };
	char *name = strstr(format.data, "name: "), *id = strstr(format.data, "ID: ");

	if (!name || !id)
		die("%s: The format of an event of %s has no name or no ID", trace->name, system);
	name += strlen("name: ");
	event.name = text("%.*s", (int)strcspn(name, "\n"), name);
	event.id = atoi(id + strlen("ID: "));
	trace->events = resize(trace->events, trace->nr_events + 1, sizeof(event));
	trace->events[trace->nr_events++] = event;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *one = a, *two = b;
	int order = strcmp(one->system, two->system);

	/* Those of a system stand side by side. */
	return order ? order : one->id - two->id;
}

/**
 * trace_sort_events() - bring the events in the order of their systems
 * @trace: the trace; no event is added from now on
 */
void trace_sort_events(struct trace *trace)
{
	int i;

	qsort(trace->events, trace->nr_events, sizeof(*trace->events), compare_events);
	trace->by_id = zalloc(NR_IDS * sizeof(*trace->by_id));
	for (i = 0; i < trace->nr_events; i++) {
		if (trace->events[i].id >= 0 && trace->events[i].id < NR_IDS)
			trace->by_id[trace->events[i].id] = &trace->events[i];
	}
}

/**
 * trace_add_cpu() - add a CPU without sub-buffers
 * @trace: the trace
 * @cpu:   number of the CPU
 *
 * Return: it, valid until the next one is added.
 */
struct cpu_pages *trace_add_cpu(struct trace *trace, int cpu)
{
	struct cpu_pages *pages;

	trace->cpus = resize(trace->cpus, trace->nr_cpus + 1, sizeof(*trace->cpus));
	pages = &trace->cpus[trace->nr_cpus++];
	*pages = (struct cpu_pages){ .cpu = cpu };
	return pages;
}

/**
 * cpu_wanted() - is a CPU in a list?
 * @list: such as "0,2-3"; NULL for all
 * @cpu:  number of the CPU
 *
 * Return: whether it is. If the list is none, the program ends.
 */
bool cpu_wanted(const char *list, int cpu)
{
	const char *at = list;
	bool found = !list;
	long from, to;
	char *end;

	while (at) {
		from = strtol(at, &end, 10);
		to = from;
		if (end != at && *end == '-') {
			at = end + 1;
			to = strtol(at, &end, 10);
		}
		if (end == at || (*end && *end != ',') || from < 0 || to < from)
			die("-C %s: Invalid list of CPUs, expected one such as 0,2-3", list);
		found = found || (cpu >= from && cpu <= to);
		at = *end ? end + 1 : NULL;
	}
	return found;
}

/**
 * trace_want_cpus() - leave out the CPUs that are not in a list
 * @trace: the trace
 * @list:  such as "0,2-3"; NULL for all
 */
void trace_want_cpus(struct trace *trace, const char *list)
{
	int i, n = 0;

	for (i = 0; i < trace->nr_cpus; i++) {
		if (cpu_wanted(list, trace->cpus[i].cpu))
			trace->cpus[n++] = trace->cpus[i];
	}
	if (trace->nr_cpus && !n)
		die("-C %s: %s has none of these CPUs", list, trace->name);
	trace->nr_cpus = n;
}

static bool want_event(struct trace *trace, char *wanted)
{
	char *pattern = strchr(wanted, ':') ? text("%s", wanted) : text("%s:*", wanted);
	bool found = false;
	char *name;
	int i;

	for (i = 0; i < trace->nr_events; i++) {
		name = text("%s:%s", trace->events[i].system, trace->events[i].name);
		if (!fnmatch(pattern, name, 0)) {
			trace->events[i].wanted = true;
			found = true;
		}
		free(name);
	}
	free(pattern);
	return found;
}

/**
 * trace_want_events() - leave out the events that are not named
 * @trace:  the trace
 * @wanted: SYSTEM:EVENT or SYSTEM, each may be a pattern of the shell
 * @nr:     number of them; 0 for all events
 */
void trace_want_events(struct trace *trace, char **wanted, int nr)
{
	int i;

	for (i = 0; nr && i < trace->nr_events; i++)
		trace->events[i].wanted = false;
	for (i = 0; i < nr; i++) {
		if (!want_event(trace, wanted[i]))
			die("-e %s: %s has no such event; expected SYSTEM:EVENT or SYSTEM",
			    wanted[i], trace->name);
	}
}
