/* SPDX-License-Identifier: Apache-2.0 */
/* gpubind.h - which of a step's GPUs on a node a task uses (--gpu-bind, --gpus-per-task). */
#pragma once
#include "base/bitset.h"

#include <stdint.h>

struct arena;
struct node_alloc;
struct node_gres;

struct gpubind {
	const char *how; /* text of --gpu-bind, checked by gpu_bind_check; NULL or "": none given */
	uint64_t per_task;             /* GPUs each task was promised; 0: nothing was said */
	const struct node_alloc *here; /* what the step has on the node */
	const struct node_gres *gres;  /* what the node has, for the CPUs close to a GPU */
	uint32_t gres_count;
	uint32_t local_id; /* the task among those of the node */
	uint32_t tasks_here, cpus_per_task;
};

/* Indexes as the node counts its GPUs; memory in `a`.  Never empty when the step has a GPU here: a
 * binding that selects nothing of it falls back to the first, as srun(1) says. */
struct bitset gpubind_task(const struct gpubind *b, struct arena *a);
