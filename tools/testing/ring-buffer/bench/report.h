/* SPDX-License-Identifier: GPL-2.0 */
/* Results of an operation after all turns. */
#ifndef _RB_BENCH_REPORT_H
#define _RB_BENCH_REPORT_H

#include <stdio.h>
#include "bench.h"

/* Median and quartiles; all 0: nothing was measured */
struct spread {
	double	low, median, high;
};

struct column {
	const char		*name;
	const struct bench_ops	*ops;	/* NULL: not in this run */
};

struct result {
	struct spread	ns[NR_IMPL];
	struct spread	to_A[NR_IMPL];	/* ratios of each turn, not of the medians */
	struct spread	B_to[NR_IMPL];
};

struct spread spread_of(const double *v, int n);
struct spread spread_of_ratio(const double *over, const double *under, int n);

void table_head(const struct column *c);
void table_line(const struct operation *op, const struct column *c, const struct result *r);
void json_line(FILE *f, int first, const struct operation *op, const struct column *c,
	       const struct result *r);

#endif /* _RB_BENCH_REPORT_H */
