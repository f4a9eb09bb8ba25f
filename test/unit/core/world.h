/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a small cluster in memory for tests of core/: configured, registered, and checked after
 * every event. */
#pragma once
#include "base/arena.h"
#include "core/decide.h"
#include "sched/plan.h"

enum { WORLD_SHARDS = 4 }; /* of each GPU */

struct world {
	struct cluster c;
	struct arena *turn;
	usec_t now;
	uint64_t seed;
	uint32_t uid; /* who submits; 0 stands for 1000 */
	bool check; /* cluster_check after every event */
};

uint64_t world_draw(struct world *w, uint64_t below);
/* `nodes` nodes of `cpus` CPUs and `gpus` GPUs in the partitions "main" (all, default) and "half". */
void world_init(struct world *w, uint32_t nodes, uint32_t cpus, uint32_t gpus);
/* Another configuration of the partition "main" or "half"; name and nodes stay. */
void world_partition(struct world *w, const char *name, struct partition_conf conf);
void world_licenses(struct world *w, const char *totals);
void world_done(struct world *w);
/* Applies and clears; forgets the turn's memory. */
void world_commit(struct world *w, struct decision *d);
struct decision world_decision(struct world *w);
void world_register(struct world *w, uint32_t node, const char *boot_id);
/* A request for `n` nodes of `tasks` tasks each; returns the job id, 0 when refused. */
struct job_spec;
uint32_t world_submit(struct world *w, const struct job_spec *spec, struct error *err);
struct job_spec world_spec(uint32_t nodes, uint32_t tasks_per_node, uint32_t gpus_per_node);
/* One pass of the planner with its proposals decided; returns how many started. */
uint32_t world_plan(struct world *w);
void world_end_batch(struct world *w, uint32_t job_id, uint32_t exit_code, bool clean);
