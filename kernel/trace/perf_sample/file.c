// SPDX-License-Identifier: GPL-2.0
/*
 * The file "perf_events": which events of perf an instance samples.
 */
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "../trace_text.h"
#include "internal.h"

/* The longest name, all options with their numbers, blanks, and the line's end */
#define SAMPLER_TEXT_SIZE	160

/*
 * The checks of perf_event_open(). Of a counter of the kernel perf checks perf_allow_cpu() only,
 * and its error would not tell the reason.
 */
static int sampler_allow_task(const struct sampler_spec *spec, struct sampler_fault *fault)
{
	int ret;

	fault->why = "Refused by kernel.perf_event_paranoid or a security module";
	ret = security_perf_event_open(PERF_SECURITY_OPEN) ?: perf_allow_cpu();
	if (!ret && !spec->user)
		ret = perf_allow_kernel();
	if (ret)
		return ret;
	fault->why = "Not permitted: the kernel is locked down";
	return security_locked_down(LOCKDOWN_PERF);
}

/* Both the writer and the task that has opened the file need the right. */
static int sampler_allow(const struct sampler_spec *spec, struct sampler_fault *fault,
			 const struct cred *opener)
{
	const struct cred *writer;
	int ret = sampler_allow_task(spec, fault);

	if (ret)
		return ret;
	writer = override_creds(opener);
	ret = sampler_allow_task(spec, fault);
	revert_creds(writer);
	return ret;
}

static int sampler_change(struct trace_array *tr, const char *text, struct sampler_fault *fault,
			  const struct cred *opener)
{
	struct sampler_limits limits = {
		.rate  = READ_ONCE(sysctl_perf_event_sample_rate),
		/* The attribute has 16 bits for it. */
		.stack = min(READ_ONCE(sysctl_perf_event_max_stack), U16_MAX),
	};
	struct sampler_spec spec;
	int ret;

	ret = sampler_parse(text, &limits, &spec, fault);
	if (ret)
		return ret;
	fault->pos = spec.remove;
	if (spec.remove)
		return sampler_remove(tr, &spec, fault);
	return sampler_allow(&spec, fault, opener) ?: sampler_add(tr, &spec, fault);
}

static ssize_t
sampler_file_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	struct sampler_fault fault = {};
	char *buf, *text;
	bool is_line;
	int ret;

	if (!cnt)
		return 0;
	if (cnt > SAMPLER_TEXT_SIZE) {
		tracing_log(tr, "perf_events", "error", "", "The line is too long, expected "
			    __stringify(SAMPLER_TEXT_SIZE) " bytes at most", 0);
		return -EINVAL;
	}
	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	/* A 0 that ends a string is no empty line. */
	is_line = strchr(buf, '\n');
	text = trace_value_trim(buf, cnt + 1, cnt);
	ret = *text ? sampler_change(tr, text, &fault, file->f_cred) : 0;
	if (!*text && is_line)
		sampler_remove_all(tr);
	if (ret) {
		/* One line of error_log, with a mark below it */
		strreplace(text, '\n', ' ');
		strreplace(text, '\t', ' ');
		tracing_log(tr, "perf_events", "error", text, fault.why, fault.pos);
	}
	kfree(buf);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

/**
 * struct sampler_counts - a sampler, and the sums of its counts on all CPUs
 * @spec:      the event, and the options
 * @cpus:      number of CPUs that have a counter
 * @samples:   as of &struct sampler_cpu
 * @refused:   as of &struct sampler_cpu
 * @throttled: as of &struct sampler_cpu
 * @stackless: as of &struct sampler_cpu
 * @enabled:   time that its counters were enabled, in ns
 * @running:   time that they counted, in ns
 */
struct sampler_counts {
	struct sampler_spec	spec;
	unsigned int		cpus;
	unsigned long		samples;
	unsigned long		refused;
	unsigned long		throttled;
	unsigned long		stackless;
	u64			enabled;
	u64			running;
};

/**
 * struct sampler_sums - what a reader of "perf_events" gets
 * @job:    a worker collects it
 * @tr:     the trace array
 * @counts: its samplers; the reader frees them
 * @nr:     number of @counts
 */
struct sampler_sums {
	struct trace_job	job;
	struct trace_array	*tr;
	struct sampler_counts	*counts;
	unsigned int		nr;
};

static void sampler_sum(struct trace_sampler *s, struct sampler_counts *sum)
{
	u64 enabled, running;
	int cpu;

	sum->spec = s->spec;
	for_each_possible_cpu(cpu) {
		struct sampler_cpu *c = per_cpu_ptr(s->cpus, cpu);

		sum->cpus += !!c->counter;
		sum->samples += local_read(&c->samples);
		sum->refused += local_read(&c->refused);
		sum->throttled += local_read(&c->throttled);
		sum->stackless += local_read(&c->stackless);
		sampler_read_times(s, cpu, &enabled, &running);
		sum->enabled += enabled;
		sum->running += running;
	}
}

static int sampler_sum_listed(struct sampler_sums *sums)
{
	struct trace_sampler *s = NULL;
	unsigned int nr = 0;

	while ((s = sampler_next(sums->tr, s)))
		nr++;
	if (!nr)
		return 0;
	/* Not charged: others wait for the lock of the list. */
	sums->counts = kvcalloc(nr, sizeof(*sums->counts), GFP_KERNEL);
	if (!sums->counts)
		return -ENOMEM;
	while ((s = sampler_next(sums->tr, s))) {
		if (trace_job_is_stopped(&sums->job))
			return -EINTR;
		sampler_sum(s, &sums->counts[sums->nr++]);
	}
	return 0;
}

static int sampler_sum_all(struct trace_job *job)
{
	int ret = sampler_list_lock();

	if (ret)
		return ret;
	ret = sampler_sum_listed(container_of(job, struct sampler_sums, job));
	sampler_list_unlock();
	return ret;
}

static void sampler_show_spec(struct seq_file *m, const struct sampler_spec *spec)
{
	seq_puts(m, spec->name);
	if (spec->freq)
		seq_printf(m, ":freq=%llu", spec->freq);
	else
		seq_printf(m, ":period=%llu", spec->period);
	if (spec->stack)
		seq_printf(m, ":callchain=%u", spec->stack);
	if (spec->user)
		seq_puts(m, ":user");
	if (spec->kernel)
		seq_puts(m, ":kernel");
}

static void sampler_show_counts(struct seq_file *m, const struct sampler_counts *c)
{
	unsigned int share;

	seq_printf(m, " cpus=%u samples=%lu refused=%lu throttled=%lu stackless=%lu", c->cpus,
		   c->samples, c->refused, c->throttled, c->stackless);
	/* As perf stat does: only if they differ */
	if (c->enabled == c->running)
		return;
	share = mul_u64_u64_div_u64(c->running, 10000, c->enabled);
	seq_printf(m, " enabled=%llu running=%llu (%u.%02u%%)", c->enabled, c->running,
		   share / 100, share % 100);
}

static void sampler_show_help(struct seq_file *m)
{
	seq_puts(m, "# Write an event of perf to this file to sample it, !EVENT to end that, and an\n"
		    "# empty line to end all\n"
		    "#   EVENT[:period=N|:freq=N][:callchain[=N]][:user|:kernel]\n"
		    "# such as\n"
		    "#   cpu-clock:freq=1000:callchain\n"
		    "#   page-faults:user\n"
		    "# Each sample is an event perf:sample\n");
}

static int sampler_file_show(struct seq_file *m, void *v)
{
	struct sampler_sums sums = { .job.fn = sampler_sum_all, .tr = m->private };
	int ret = trace_job_run(&sums.job);
	unsigned int i;

	for (i = 0; !ret && i < sums.nr; i++) {
		sampler_show_spec(m, &sums.counts[i].spec);
		sampler_show_counts(m, &sums.counts[i]);
		seq_putc(m, '\n');
	}
	if (!ret && !sums.nr)
		sampler_show_help(m);
	kvfree(sums.counts);
	return ret;
}

static const struct trace_text_file sampler_file =
	TRACE_TEXT_FILE(sampler_file_show, sampler_file_write, NULL);

/**
 * trace_samplers_create_file() - create "perf_events"
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_samplers_create_file(struct trace_array *tr, struct dentry *dir)
{
	trace_create_file("perf_events", TRACE_MODE_WRITE, dir, tr, &sampler_file.fops);
}
