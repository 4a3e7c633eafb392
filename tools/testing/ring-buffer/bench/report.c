// SPDX-License-Identifier: GPL-2.0
/* Medians, and how they are shown: a line of a table, a line of JSON. */
#include <stdio.h>
#include <stdlib.h>
#include "report.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct spread spread_of(const double *v, int n)
{
	struct spread s = { 0 };
	double *sorted = malloc(n * sizeof(*v));
	int i, k = 0;

	for (i = 0; i < n; i++) {
		if (v[i] > 0)
			sorted[k++] = v[i];
	}
	if (k) {
		qsort(sorted, k, sizeof(*sorted), by_value);
		s.low = sorted[(int)((k - 1) * 0.25)];
		s.median = sorted[(int)((k - 1) * 0.5)];
		s.high = sorted[(int)((k - 1) * 0.75)];
	}
	free(sorted);
	return s;
}

struct spread spread_of_ratio(const double *over, const double *under, int n)
{
	double *v = malloc(n * sizeof(*v));
	struct spread s;
	int i;

	for (i = 0; i < n; i++)
		v[i] = under[i] > 0 ? over[i] / under[i] : 0;
	s = spread_of(v, n);
	free(v);
	return s;
}

static void cell(const char *fmt, int width, double v)
{
	if (v > 0)
		printf(fmt, width, v);
	else
		printf(" %*s", width, "-");
}

static int shown(enum bench_impl i)
{
	return i == IMPL_FLOOR || i >= IMPL_PEER;
}

void table_head(const struct column *c)
{
	int i;

	printf("%-36s %10s %10s  %6s %-18s", "ns each", "A", "B", "B/A", "");
	if (c[IMPL_A2].ops)
		printf(" %6s %-18s", "A/A", "");
	for (i = 0; i < NR_IMPL; i++) {
		if (shown(i) && c[i].ops)
			printf(" %9s", c[i].name);
	}
	printf("\n");
}

void table_line(const struct operation *op, const struct column *c, const struct result *r)
{
	int i;

	printf("%-36s", op->name);
	cell(" %*.2f", 10, r->ns[IMPL_A].median);
	cell(" %*.2f", 10, r->ns[IMPL_B].median);
	printf("  %6.3f (%.3f .. %.3f)", r->to_A[IMPL_B].median, r->to_A[IMPL_B].low,
	       r->to_A[IMPL_B].high);
	if (c[IMPL_A2].ops)
		printf("  %6.3f (%.3f .. %.3f)", r->to_A[IMPL_A2].median, r->to_A[IMPL_A2].low,
		       r->to_A[IMPL_A2].high);
	for (i = 0; i < NR_IMPL; i++) {
		if (shown(i) && c[i].ops)
			cell(" %*.2f", 9, r->ns[i].median);
	}
	printf("\n");
	fflush(stdout);
}

static void json_spread(FILE *f, const char *name, const struct spread *s)
{
	fprintf(f, ", \"%s\": { \"median\": %.4f, \"low\": %.4f, \"high\": %.4f }", name,
		s->median, s->low, s->high);
}

/* One line for each operation, so that line tools can read it, too */
void json_line(FILE *f, int first, const struct operation *op, const struct column *c,
	       const struct result *r)
{
	int i;

	fprintf(f, "%s  { \"name\": \"%s\", \"unit\": \"%s\", \"A\": %.3f, \"B\": %.3f, ",
		first ? "" : ",\n", op->name, op->unit, r->ns[IMPL_A].median,
		r->ns[IMPL_B].median);
	fprintf(f, "\"ratio\": %.4f, \"low\": %.4f, \"high\": %.4f", r->to_A[IMPL_B].median,
		r->to_A[IMPL_B].low, r->to_A[IMPL_B].high);
	if (c[IMPL_A2].ops)
		json_spread(f, "noise", &r->to_A[IMPL_A2]);
	for (i = 0; i < NR_IMPL; i++) {
		if (!shown(i) || r->ns[i].median <= 0)
			continue;
		fprintf(f, ", \"%s\": { \"ns\": %.3f", c[i].name, r->ns[i].median);
		json_spread(f, "to_A", &r->to_A[i]);
		json_spread(f, "B_to_it", &r->B_to[i]);
		fprintf(f, " }");
	}
	fprintf(f, " }");
	fflush(f);
}
