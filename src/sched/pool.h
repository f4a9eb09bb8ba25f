/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - what is free, as one pass of the planner sees it: a scratch copy that starts are carved
 * out of.
 *
 * Nodes of one kind with equally much free are one state: whether and how well a request fits is asked
 * once per state, not once per node, so that ten thousand equal nodes cost what one costs.  Taking
 * something moves a node to another state. */
#pragma once
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "sched/nodefit.h"
#include "schema/node.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct demand;
struct mix;
struct sched_view;

struct pool_node {
	const struct node *node; /* NULL: no such node */
	bool up;                 /* could run something now */
	bool idle;               /* nothing runs there */
	uint32_t job_count;
	struct geometry geometry;
	uint32_t free_cpus;
	uint32_t *free_cores;      /* by socket */
	uint32_t *plain_cores;     /* of these, what jobs without GPUs may use; NULL: all */
	uint32_t limit_count;
	uint32_t *limited;         /* CPUs in use under each limit of the pool, by limit and socket */
	uint64_t free_mem;
	struct bitset used_cpus;
	struct bitset spec_cpus, gpu_cpus; /* set aside for the system; for jobs with GPUs */
	struct bitset *used_gres;  /* parallel to node->gres; of GPUs also those that are shared */
	uint64_t *used_counts;     /* for those without devices */
	uint32_t **used_parts;     /* of each GPU, for what shares GPUs; NULL when nothing does */
	uint32_t state;            /* position in pool.states; meaningless when not up */
};

struct pool_state {
	uint64_t key;
	uint32_t sample; /* one of its nodes, or the last that was: it stands for all */
	uint32_t count;
	struct bitset nodes;
};

/* MaxCPUsPerNode and MaxCPUsPerSocket of a partition: for all its jobs on a node together. */
struct pool_limit {
	const struct partition *partition;
	uint32_t per_node, per_socket; /* 0 is no limit */
};

struct pool {
	VEC(struct pool_limit) limits;
	struct arena *arena;
	struct pool_node *nodes;
	uint32_t count;
	VEC(struct pool_state) states;
	struct map by_key; /* key -> position + 1 */
	uint32_t *weights; /* by node; NULL when all are equal */
	const struct mix *mix; /* what others ask for; NULL: not known */
	struct map names;  /* node name -> index + 1; filled when first asked */
};

/* Everything as it is in the view; with `as_if_idle` as if nothing ran and every node were up, which
 * answers whether a request could ever be met. */
void pool_init(struct pool *p, const struct sched_view *v, bool as_if_idle, struct arena *a);
void pool_done(struct pool *p);
void pool_take(struct pool *p, const struct node_alloc *alloc); /* carve out one node's part */
/* The same for a job under the demand's limit. */
void pool_take_limited(struct pool *p, const struct demand *d, const struct node_alloc *alloc);
/* Says in the demand which of the pool's limits the partition's jobs fall under. */
void pool_limit(const struct pool *p, const struct partition *partition, struct demand *d);
void pool_give(struct pool *p, const struct node_alloc *alloc); /* as if the job had ended there */

uint32_t pool_find(struct pool *p, const char *name); /* UINT32_MAX: no such node */

/* Devices (or parts, or count) of kind `g` of the node that are free. */
uint64_t pool_gres_free(const struct pool_node *n, uint32_t g);
/* What is free of all kinds that are used up one by one: parts of GPUs are not, nor is what never runs
 * out. */
uint64_t pool_devices_free(const struct pool_node *n);
/* Parts of GPU `d` (within the kind) that are free: none when it is given out whole, or shared by
 * another resource. */
uint64_t pool_parts_free(const struct pool_node *n, uint32_t g, uint32_t d);
/* Is this entry of a node what a request for name and type (NULL: any) means? */
bool gres_matches(const struct node_gres *have, const char *name, const char *type);
/* The most that one request for name and type (NULL: any) could get: of what shares GPUs that is what
 * one GPU has, unless several may be used. */
uint64_t pool_gres_match(const struct pool_node *n, const char *name, const char *type);

/* pool_gres.c, for pool.c: what is in use at the start, and what changes. */
void pool_parts_init(struct pool_node *n, bool as_if_idle, struct arena *a);
void pool_gres_mark(struct pool_node *n, const struct gres_alloc *alloc, bool take);

/* May anything start on this node, as far as its state goes? */
bool node_is_up(const struct node *n);
uint64_t node_memory(const struct node *n); /* MiB that jobs may use */
