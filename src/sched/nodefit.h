/* SPDX-License-Identifier: Apache-2.0 */
/* nodefit.h - one request on one node: how many of its tasks fit, and which CPUs, memory and devices
 * they get.
 *
 * CPUs of a node are numbered socket by socket, core by core, thread by thread.  Whole cores are given
 * out; tasks go round the sockets, each task's CPUs side by side.  Devices follow the sockets that their
 * gres.conf line names, then the best connected ones, then the lowest index. */
#pragma once
#include "schema/job.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct demand;
struct node;
struct pool_node;

/* Sockets, cores per socket and threads per core, also for nodes configured by CPUs alone. */
struct geometry {
	uint32_t sockets, cores, threads; /* cores: of one socket */
	bool whole_sockets;               /* and a socket serves one job alone */
};
struct geometry node_geometry(const struct node *n);

/* The most tasks of the request that this node could take now; 0: it cannot take part. */
uint32_t nodefit_room(const struct pool_node *n, const struct demand *d);
/* Carves `tasks` tasks and `job_gres` devices towards --gpus out of the node; it must have the room. */
void nodefit_take(const struct pool_node *n, const struct demand *d, uint32_t tasks, uint64_t job_gres,
		  struct arena *a, struct node_alloc *out);
/* Devices of the node that count towards --gpus; UINT64_MAX when the request has none. */
uint64_t nodefit_job_gres(const struct pool_node *n, const struct demand *d);
