/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/layout.h"

#include "base/arena.h"
#include "base/str.h"
#include "schema/job.h"

static bool is_cyclic(const struct step *s)
{
	return s->distribution && str_istarts(s->distribution, "cyclic");
}

static uint32_t *block(const struct step *s, uint32_t pos, struct arena *a)
{
	uint32_t first = 0;
	for (uint32_t i = 0; i < pos; i++)
		first += s->alloc[i].tasks;
	uint32_t *ids = ARENA_ARRAY(a, uint32_t, s->alloc[pos].tasks + 1);
	for (uint32_t t = 0; t < s->alloc[pos].tasks; t++)
		ids[t] = first + t;
	return ids;
}

/* Round by round over the nodes that still have tasks to take: task t of a node is dealt in round t,
 * after every task of the rounds before and after the nodes in front of it in its own round. */
static uint32_t *cyclic(const struct step *s, uint32_t pos, struct arena *a)
{
	uint32_t *ids = ARENA_ARRAY(a, uint32_t, s->alloc[pos].tasks + 1);
	uint32_t dealt = 0;
	for (uint32_t round = 0; round < s->alloc[pos].tasks; round++) {
		for (uint32_t n = 0; n < s->n_alloc; n++) {
			if (s->alloc[n].tasks <= round)
				continue;
			if (n == pos)
				ids[round] = dealt;
			dealt++;
		}
	}
	return ids;
}

uint32_t *layout_tasks(const struct step *s, uint32_t pos, struct arena *a, uint32_t *ret_count)
{
	*ret_count = s->alloc[pos].tasks;
	return is_cyclic(s) ? cyclic(s, pos, a) : block(s, pos, a);
}

void layout_spread(uint32_t ntasks, const uint32_t *room, uint32_t nodes, uint32_t *ret_tasks)
{
	for (uint32_t i = 0; i < nodes; i++)
		ret_tasks[i] = 0;
	/* Raise the water level: every round gives the nodes that still have room an equal share. */
	while (ntasks > 0) {
		uint32_t open = 0;
		for (uint32_t i = 0; i < nodes; i++)
			open += ret_tasks[i] < room[i];
		if (open == 0)
			return;
		uint32_t share = ntasks / open ? ntasks / open : 1;
		for (uint32_t i = 0; i < nodes && ntasks > 0; i++) {
			uint32_t left = room[i] - ret_tasks[i];
			uint32_t give = left < share ? left : share;
			give = give < ntasks ? give : ntasks;
			ret_tasks[i] += give;
			ntasks -= give;
		}
	}
}
