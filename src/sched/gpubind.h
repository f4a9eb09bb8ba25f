/* SPDX-License-Identifier: Apache-2.0 */
/* gpubind.h - which of a step's GPUs on a node each task uses (--gpu-bind, --gpus-per-task).
 *
 * The same answer for a step that runs and for a dry run.  Numbers are those of the node, because
 * devices are not confined: a program sees all of them. */
#pragma once
#include "base/bitset.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;
struct node_alloc;
struct node_gres;
struct resource_request;
struct step;

enum gpubind_kind {
	GPUBIND_AUTO, /* nothing was said */
	GPUBIND_NONE,
	GPUBIND_CLOSEST,
	GPUBIND_SINGLE,
	GPUBIND_PER_TASK,
	GPUBIND_MAP,
	GPUBIND_MASK,
};

struct gpubind {
	enum gpubind_kind kind;
	bool quiet, verbose;
	uint32_t number;  /* of single and per_task */
	const char *list; /* of map and mask; points into the text that was read */
};

/* NULL and "" are auto. */
NODISCARD int gpubind_parse(const char *text, struct gpubind *ret, struct error *err);

struct gpubind_node {
	const char *how;               /* text of --gpu-bind; NULL or "": none given */
	uint64_t per_task;             /* GPUs each task was promised; 0: nothing was said */
	const struct node_alloc *here; /* what the step has on the node */
	const struct node_gres *gres;  /* what the node has, for the CPUs close to a GPU */
	uint32_t gres_count;
	const struct bitset *cpus; /* of each local task (cpubind.h) */
	uint32_t tasks;
};

/* For node `pos` of a step; `cpus` are those of its tasks.  The caller adds what the node has. */
struct gpubind_node gpubind_at(const struct step *s, uint32_t pos, const struct resource_request *job,
			       const struct bitset *cpus);
/* All GPUs of the step on the node, as the node counts them. */
struct bitset gpubind_all(const struct node_alloc *here, struct arena *a);
/* One set for each local task.  None is empty when the step has a GPU here: a binding that selects
 * nothing of it falls back to the first, as srun(1) says, and `ret_outside` (may be NULL) says so. */
struct bitset *gpubind_tasks(const struct gpubind_node *b, struct arena *a, bool **ret_outside);

/* What each task was promised for itself: by the step's own options, or by the job's; 0: they share. */
uint64_t gpubind_per_task(const struct step *s, const struct resource_request *job);
/* "0-1 (/dev/nvidia0,/dev/nvidia1)"; the files where gres.conf names them; "-" for none. */
void gpubind_print(const struct bitset *gpus, const struct node_gres *gres, uint32_t count, struct buf *out);
