/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - which rank runs where, and on which CPUs; the same answer for the controller, the node and
 * srun.
 *
 * A step's alloc[] says how many tasks each of its nodes gets; the distribution (-m) says which, and
 * in which order they take the CPUs that the step has there. */
#pragma once
#include "base/bitset.h"
#include "sched/nodefit.h"

#include <stdint.h>

struct arena;
struct distribution;
struct step;

/* Step ids that are not counted up; the numbers are Slurm's. */
enum { STEP_BATCH = 0xfffffffbu, STEP_EXTERN = 0xfffffffcu, STEP_INTERACTIVE = 0xfffffffau };

/* The global ids of the tasks on node `pos` of the step, ascending; `ret_count` of them. */
uint32_t *layout_tasks(const struct step *s, uint32_t pos, struct arena *a, uint32_t *ret_count);

/* Spreads `ntasks` over nodes that could take `room[i]` each: as evenly as the room allows. */
void layout_spread(uint32_t ntasks, const uint32_t *room, uint32_t nodes, uint32_t *ret_tasks);
/* The same as the distribution wants it: planes side by side, or node after node filled up with Pack,
 * where every node keeps at least one task.  All are dealt when the room is enough. */
void layout_deal(const struct distribution *d, uint32_t ntasks, const uint32_t *room, uint32_t nodes,
		 uint32_t *ret_tasks);

/* -m arbitrary: the position among `names` of the node of each task; NULL when one is not there. */
uint32_t *layout_hosts(const char *hosts, char *const *names, uint32_t count, struct arena *a,
		       uint32_t *ret_tasks);

/* The CPUs of each task on node `pos`, one set for each local task: disjoint and cpus_per_task large
 * while the step has that many there, otherwise dealt out again from the first.  A geometry that does
 * not describe the node counts as one socket of single-threaded cores. */
struct bitset *layout_cpus(const struct step *s, uint32_t pos, struct geometry g, struct arena *a);
/* The geometry that layout_cpus goes by. */
struct geometry layout_geometry(struct geometry g, uint32_t cpus);
