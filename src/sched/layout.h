/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - which rank runs where; the same answer for the controller, the node and srun.
 *
 * A step's alloc[] says how many tasks each of its nodes gets; the distribution says which. */
#pragma once
#include <stdint.h>

struct arena;
struct step;

/* Step ids that are not counted up; the numbers are Slurm's. */
enum { STEP_BATCH = 0xfffffffbu, STEP_EXTERN = 0xfffffffcu, STEP_INTERACTIVE = 0xfffffffau };

/* The global ids of the tasks on node `pos` of the step, ascending; `ret_count` of them. */
uint32_t *layout_tasks(const struct step *s, uint32_t pos, struct arena *a, uint32_t *ret_count);
/* Spreads `ntasks` over nodes that could take `room[i]` each: as evenly as the room allows. */
void layout_spread(uint32_t ntasks, const uint32_t *room, uint32_t nodes, uint32_t *ret_tasks);
