// SPDX-License-Identifier: GPL-2.0
/*
 * The events and the CPUs of a trace, and those that the user wants.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

/**
 * first_word() - the word in brackets of a file of choices, else the first word
 * @cursor: content of the file
 *
 * Return: the word, allocated; "" if there is none.
 */
char *first_word(struct cursor cursor)
{
	char line[512], *from, *end;

	if (!cursor_line(&cursor, line, sizeof(line)))
		return text("%s", "");
	from = strchr(line, '[');
	from = from ? from + 1 : line;
	for (end = from; isgraph((unsigned char)*end) && *end != ']'; end++)
		;
	*end = 0;
	return text("%s", from);
}

/**
 * trace_add_event() - add an event
 * @trace:  the trace
 * @system: name of the event's system; it stays where it is
 * @format: content of its format file
 */
void trace_add_event(struct trace *trace, const char *system, struct cursor format)
{
	struct event event = { .id = -1, .system = system, .format = format, .wanted = true,
			       .attr = -1 };
	struct cursor from = format;
	char line[256], *end;

	while ((!event.name || event.id < 0) && cursor_line(&format, line, sizeof(line))) {
		if (!event.name && !strncmp(line, "name: ", strlen("name: "))) {
			event.name = text("%s", line + strlen("name: "));
		} else if (!strncmp(line, "ID: ", strlen("ID: "))) {
			event.id = strtol(line + strlen("ID: "), &end, 10);
			if (event.id < 0 || event.id >= NR_IDS || *end)
				cursor_fail(&from, "the format of an event of %s has \"%s\", %s",
					    system, line, "expected 0 to 65535");
		}
	}
	if (!event.name || event.id < 0)
		cursor_fail(&from, "the format of an event of %s has no name or no ID", system);
	if (trace->nr_events >= NR_IDS)
		cursor_fail(&from, "more than %d events", NR_IDS);
	if (!strcmp(system, "perf") && !strcmp(event.name, "sample"))
		event.sample = sample_format(from);
	trace->events = grow(trace->events, trace->nr_events, sizeof(event));
	trace->events[trace->nr_events++] = event;
	if (trace->nr_ids <= (unsigned int)event.id)
		trace->nr_ids = event.id + 1;
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
	trace->by_id = zalloc(trace->nr_ids * sizeof(*trace->by_id));
	for (i = 0; i < trace->nr_events; i++)
		trace->by_id[trace->events[i].id] = &trace->events[i];
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

	trace->cpus = grow(trace->cpus, trace->nr_cpus, sizeof(*trace->cpus));
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

	if (trace->global) {
		/* Each record has its own. (This refuses what is no list.) */
		cpu_wanted(list, 0);
		trace->cpu_list = list;
		return;
	}
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
