// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace2perf: convert a trace of ftrace to a perf.data.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <tracefs.h>

#include "ftrace2perf.h"

static const char usage[] =
"usage: ftrace2perf [-i INSTANCE | -d DIR | -f TRACE.DAT] [-o FILE] [-C CPUS]\n"
"                   [-k FILE] [-e EVENT]... [--consume]\n"
"\n"
"Converts a trace of ftrace to a perf.data, for perf script, perf sched, perf report\n"
"and perf data convert.\n"
"\n"
"  -i, --instance=NAME  an instance, or a kept snapshot of one: NAME@SEQ\n"
"                       (default: the top directory of tracefs)\n"
"  -d, --dir=DIR        the same by its directory\n"
"  -f, --file=FILE      a trace.dat of trace-cmd; with -i, that instance of it\n"
"  -o, --output=FILE    file to write (perf.data)\n"
"  -k, --kallsyms=FILE  also write the symbols of the trace, for perf report --kallsyms\n"
"  -C, --cpu=CPUS       only these CPUs, such as 0,2-3\n"
"  -e, --event=EVENT    only SYSTEM:EVENT, or all of SYSTEM; both may be patterns\n"
"      --consume        read an instance that records: what is read is not in it any more,\n"
"                       also the records that -e leaves out\n"
"  -h, --help           print this\n"
"\n"
"Without --consume, the trace is left as it is. Then an instance must not record\n"
"(echo 0 > tracing_on). To convert while it records, keep a snapshot:\n"
"\n"
"  # echo 1 > snapshot_keep; echo 1 > snapshot; ls instances\n"
"\n"
"Documentation/trace/ftrace2perf.rst has more.\n";

static const struct option long_options[] = {
	{ "instance",	required_argument,	NULL, 'i' },
	{ "dir",	required_argument,	NULL, 'd' },
	{ "file",	required_argument,	NULL, 'f' },
	{ "output",	required_argument,	NULL, 'o' },
	{ "kallsyms",	required_argument,	NULL, 'k' },
	{ "cpu",	required_argument,	NULL, 'C' },
	{ "event",	required_argument,	NULL, 'e' },
	{ "consume",	no_argument,		NULL, 'c' },
	{ "help",	no_argument,		NULL, 'h' },
	{}
};

/**
 * struct options - what the user wants
 * @instance:  name of an instance, or NULL
 * @dir:       directory of an instance, or NULL
 * @file:      a trace.dat, or NULL
 * @output:    file to write
 * @kallsyms:  file to write the symbols to, or NULL
 * @cpus:      list of CPUs, or NULL for all
 * @events:    patterns of events
 * @nr_events: number of @events, 0 for all events
 * @consume:   consume what is read
 */
struct options {
	const char	*instance;
	const char	*dir;
	const char	*file;
	const char	*output;
	const char	*kallsyms;
	const char	*cpus;
	char		**events;
	int		nr_events;
	bool		consume;
};

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "i:d:f:o:k:C:e:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'i':
			o->instance = optarg;
			break;
		case 'd':
			o->dir = optarg;
			break;
		case 'f':
			o->file = optarg;
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'k':
			o->kallsyms = optarg;
			break;
		case 'C':
			o->cpus = optarg;
			break;
		case 'e':
			o->events = resize(o->events, o->nr_events + 1, sizeof(*o->events));
			o->events[o->nr_events++] = optarg;
			break;
		case 'c':
			o->consume = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs("ftrace2perf --help lists the options\n", stderr);
			exit(2);
		}
	}
	if (optind < argc)
		die("%s: Not an option; an instance is named by -i", argv[optind]);
	if (o->dir && (o->instance || o->file))
		die("-d names all that is converted: leave out -i and -f");
	if (o->file && o->consume)
		die("--consume is for an instance: a file is never consumed");
}

static char *instance_dir(const char *name)
{
	const char *top = tracefs_tracing_dir();

	if (!top)
		die("There is no tracefs: mount -t tracefs nodev /sys/kernel/tracing, as root");
	return name ? text("%s/instances/%s", top, name) : text("%s", top);
}

int main(int argc, char **argv)
{
	struct options o = { .output = "perf.data" };
	struct trace trace = {};

	parse(&o, argc, argv);
	if (o.file) {
		dat_read(&trace, o.file, o.instance);
		trace_sort_events(&trace);
		trace.global = merge_is_global(&trace);
		trace_want_cpus(&trace, o.cpus);
	} else {
		tracefs_read(&trace, o.dir ? o.dir : instance_dir(o.instance), o.cpus, o.consume);
		trace_sort_events(&trace);
	}
	trace_want_events(&trace, o.events, o.nr_events);
	if (o.kallsyms)
		symbols_write(o.kallsyms, &trace);
	perf_data_write(o.output, &trace, argv);
	return 0;
}
