/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - what is free, as one pass of the planner sees it: a scratch copy that starts are carved
 * out of.  Lives in the arena of the pass. */
#pragma once
#include "base/bitset.h"
#include "schema/node.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct sched_view;

struct pool_node {
	const struct node *node; /* NULL: no such node */
	bool up;                 /* could run something now */
	bool idle;               /* nothing runs there */
	uint32_t free_cpus;
	uint64_t free_mem;
	struct bitset used_cpus;
	struct bitset *used_gres;  /* parallel to node->gres */
	uint64_t *used_counts;     /* for those without devices */
};

struct pool {
	struct arena *arena;
	struct pool_node *nodes;
	uint32_t count;
	uint32_t *order;       /* node indexes by weight, then index */
	uint32_t order_count;
};

/* Everything as it is in the view; with `as_if_idle` as if nothing ran and every node were up, which
 * answers whether a request could ever be met. */
void pool_init(struct pool *p, const struct sched_view *v, bool as_if_idle, struct arena *a);
void pool_take(struct pool *p, const struct node_alloc *alloc); /* carve out one node's part */

/* Devices (or count) of kind `g` of the node that are free. */
uint64_t pool_gres_free(const struct pool_node *n, uint32_t g);
/* Free ones that a request for name and type (NULL: any) could use. */
uint64_t pool_gres_match(const struct pool_node *n, const char *name, const char *type);

/* May anything start on this node, as far as its state goes? */
bool node_is_up(const struct node *n);
uint64_t node_memory(const struct node *n); /* MiB that jobs may use */
