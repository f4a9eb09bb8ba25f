/* SPDX-License-Identifier: Apache-2.0 */
/* jobenv.h - the variables a job finds in its environment.
 *
 * Which variable exists where is a row of schema/environment.def; this file knows the values.  The
 * same code serves the batch script and the tasks (in slurmstepd) and the shell of salloc. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct cpubind_node;
struct cpubind_result;
struct env;
struct job;
struct node_gres;
struct step;

enum jobenv_scope {
	JOBENV_BATCH = 1, /* the batch script */
	JOBENV_TASK = 2,  /* a task of a step */
	JOBENV_ALLOC = 4, /* salloc's shell, srun's own children */
};

struct jobenv {
	const struct job *job;
	const struct step *step; /* NULL for JOBENV_ALLOC */
	const char *cluster, *conf_path;
	const char *const *node_names; /* of the step's nodes (of the job's for JOBENV_ALLOC) */
	uint32_t node_count, node_pos;
	const char *node_name;
	uint32_t task_id, local_id;   /* JOBENV_TASK */
	const struct node_gres *gres; /* what the node has */
	uint32_t gres_count;
	/* JOBENV_TASK: the node, what its tasks are bound to, and whether the machine has these CPUs. */
	const struct cpubind_node *cpu_node;
	const struct cpubind_result *bound;
	bool really_bound;
	uint32_t pid;
	const char *srun_addr;
	const char *topology_addr, *topology_pattern;
};

void jobenv_add(enum jobenv_scope scope, const struct jobenv *j, struct env *env);
