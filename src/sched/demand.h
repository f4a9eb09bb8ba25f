/* SPDX-License-Identifier: Apache-2.0 */
/* demand.h - a resource request in plain numbers, defaults filled in.
 *
 * sbatch(1) lets people leave almost everything open; here is the one place that says what that
 * means.  Optional fields of the request become numbers, and rules between them are applied. */
#pragma once
#include "base/cleanup.h"
#include "schema/job.h"

#include <stdbool.h>
#include <stdint.h>

struct error;

enum { GRES_WANT_MAX = 16 };

/* Generic resources that placement gives out; no kind twice, and none that follows from another list. */
struct gres_want {
	struct gres_request at[GRES_WANT_MAX]; /* name and type are the request's */
	uint32_t count;
};

struct demand {
	const struct resource_request *request; /* as written; the numbers below are what it means */
	uint32_t nodes_min, nodes_max; /* nodes_max is never 0 */
	uint32_t ntasks;               /* at least 1 */
	bool tasks_follow_nodes;       /* ntasks is tasks_per_node for every node chosen */
	uint32_t tasks_per_node;       /* most on one node; 0 is no limit */
	uint32_t cpus_per_task;
	uint32_t cpus_min;             /* fewest CPUs on a node */
	uint32_t cpus_per_gpu;
	uint32_t ntasks_per_socket, ntasks_per_core; /* most; 0 is no limit */
	uint32_t threads_per_core;     /* threads of a core that tasks use; 0: all */
	uint32_t sockets_min, cores_min, threads_min; /* what a node must have; cores: of a socket */
	struct gres_want per_job, per_node, per_socket, per_task; /* socket: on sockets_min of each node */
	bool has_gpus;                 /* asks for any */
	uint32_t tasks_per_gpu;        /* where the GPUs of per_job go with so many tasks each; else 0 */
	bool overcommit;
	bool whole_memory;             /* --mem=0 or no limit at all */
	uint64_t mem_per_node, mem_per_cpu, mem_per_gpu; /* MiB; 0 where not asked */
	bool exclusive;
	bool exclusive_user;           /* shares nodes with jobs of the same user only */
	bool spares_cores;             /* -S or --thread-spec: another part of each node is set aside */
	uint32_t spare_cores, spare_threads;
	/* From the partition and SelectTypeParameters (limits_bind). */
	uint64_t mem_max;              /* on a node, for those who take all; 0 is no limit */
	uint32_t limit;                /* 1 + which of the pool's limits on CPUs it falls under; 0: none */
	uint32_t limit_per_node, limit_per_socket; /* CPUs of all jobs under that limit; 0 is no limit */
	bool ignores_memory, pack_nodes, least_loaded;
	bool fill_sockets;             /* -m :block: one socket is filled before the next is begun */
};

NODISCARD int demand_from(const struct resource_request *r, struct demand *ret, struct error *err);
/* Threads of each core that tasks use: --threads-per-core and --hint; 0 is all. */
uint32_t demand_threads(const struct resource_request *r);
/* Is any generic resource asked for?  What a job has only through --exclusive goes to no step. */
bool demand_names_gres(const struct resource_request *r);
