/* SPDX-License-Identifier: Apache-2.0 */
/* taskmap.h - the whole map of a step: task -> node -> CPUs -> GPUs.
 *
 * What the step daemons do node by node, for all nodes at once: dry runs and `verbose` print it. */
#pragma once
#include "base/bitset.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct job;
struct node;
struct step;

struct task_place {
	uint32_t task, pos, local;
	struct bitset cpus, gpus;
	bool outside; /* its GPU binding selects nothing of the step's: it has the first one */
};

struct taskmap {
	const struct step *step;
	const struct job *job;           /* for what the step inherits */
	const struct node *const *nodes; /* of step->alloc; NULL where nothing is known about one */
};

/* One for each task, by its number; `ret_count` of them. */
struct task_place *taskmap_make(const struct taskmap *m, struct arena *a, uint32_t *ret_count);
/* The step that `srun` without options makes of a job: all of it. */
struct step taskmap_whole(const struct job *j, struct arena *a);
