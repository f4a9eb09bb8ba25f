/* SPDX-License-Identifier: Apache-2.0 */
/* gresfit.h - the generic resources of one request on one node: are there enough, which does it get. */
#pragma once
#include "sched/demand.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct node_alloc;
struct pool_node;

/* A job's part on one node. */
struct gres_part {
	uint32_t tasks;
	uint64_t job_gres; /* its share of --gpus */
	uint32_t cores;    /* it takes */
};

/* Does the node have what the part needs?  `ret_sockets`, unless NULL, gets the sockets that its devices
 * are on: all but for --gres-flags=enforce-binding and --gpus-per-socket. */
bool gresfit_has(const struct pool_node *n, const struct demand *d, const struct gres_part *p, uint32_t *ret_sockets);
/* Devices of the node that count towards --gpus; UINT64_MAX when the request has none. */
uint64_t gresfit_job_share(const struct pool_node *n, const struct demand *d);
/* GPUs of the part, for --cpus-per-gpu and --mem-per-gpu. */
uint64_t gresfit_gpus(const struct demand *d, uint32_t tasks, uint64_t job_gres);
/* Fills the generic resources of `out`; the node must have them.  `sockets` as above; returns the
 * sockets that the devices are close to, 0 when that does not matter. */
uint32_t gresfit_take(const struct pool_node *n, const struct demand *d, const struct gres_part *p,
		      uint32_t sockets, struct arena *a, struct node_alloc *out);
/* --gres-flags=enforce-binding: must cores and devices be on the same sockets? */
bool gresfit_is_bound(const struct demand *d);
/* How little of the node's devices this request leaves useless for others: lower is better. */
uint64_t gresfit_waste(const struct pool_node *n, const struct demand *d);
