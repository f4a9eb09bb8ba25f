/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - where a request fits into what is free: which nodes, CPUs, memory and devices.
 *
 * As few nodes as can hold the tasks (of a range that was asked for as many as there are), tasks spread
 * evenly over them; lower weight first, then the tighter fit.  Whole cores are given: CPUs of one core never serve two jobs. */
#pragma once
#include "base/bitset.h"
#include "schema/job.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct demand;
struct pool;
struct topology;

struct fit {
	struct node_alloc *alloc; /* one per node, in the order of the ranks */
	uint32_t count;
	uint32_t ntasks;
};

enum fit_result {
	FIT_OK,
	FIT_SHORT,          /* not enough is free */
	FIT_REQUIRED_DOWN,  /* a node of --nodelist cannot be used */
};

struct fit_scope {
	const struct bitset *nodes;        /* of the partition */
	const struct bitset *blocked;      /* kept for a job ahead; NULL for none */
	const struct topology *topology;   /* of the partition; NULL is flat */
	bool any_switches;                 /* --switches=n@t has waited for its time */
};

enum fit_result fit_find(struct pool *p, const struct demand *d, const struct fit_scope *scope,
			 struct arena *a, struct fit *ret);
/* Says in one line which dimension no node, or too few nodes, can offer; for a pool as if idle. */
void fit_explain(struct pool *p, const struct demand *d, const struct fit_scope *scope, struct buf *out);
