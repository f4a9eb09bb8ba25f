/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks to nodes; layout_cpus.c goes on from there. */
#include "sched/layout.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/distribution.h"
#include "schema/job.h"
#include "text/hostlist.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void block(const struct step *s, uint32_t pos, uint32_t *ids)
{
	uint32_t first = 0;
	for (uint32_t i = 0; i < pos; i++)
		first += s->alloc[i].tasks;
	for (uint32_t t = 0; t < s->alloc[pos].tasks; t++)
		ids[t] = first + t;
}

/* Round by round over the nodes that still have tasks to take, `plane` of them at a time. */
static void planes(const struct step *s, uint32_t pos, uint32_t plane, uint32_t *ids)
{
	uint32_t dealt = 0, got = 0;
	for (uint32_t from = 0; got < s->alloc[pos].tasks; from += plane) {
		for (uint32_t n = 0; n < s->n_alloc; n++) {
			uint32_t left = s->alloc[n].tasks > from ? s->alloc[n].tasks - from : 0;
			uint32_t take = smaller(left, plane);
			for (uint32_t t = 0; n == pos && t < take; t++)
				ids[got++] = dealt + t;
			dealt += take;
		}
	}
}

static uint32_t arbitrary(const struct step *s, uint32_t pos, uint32_t *ids)
{
	uint32_t got = 0;
	for (uint32_t t = 0; t < s->n_task_nodes && got < s->alloc[pos].tasks; t++)
		if (s->task_nodes[t] == pos)
			ids[got++] = t;
	return got;
}

uint32_t *layout_tasks(const struct step *s, uint32_t pos, struct arena *a, uint32_t *ret_count)
{
	struct distribution d = distribution_of(s->distribution);
	uint32_t *ids = ARENA_ARRAY(a, uint32_t, s->alloc[pos].tasks + 1);
	*ret_count = s->alloc[pos].tasks;
	if (d.nodes == DIST_NODES_ARBITRARY && s->n_task_nodes)
		*ret_count = arbitrary(s, pos, ids);
	else if (d.nodes == DIST_NODES_PLANE)
		planes(s, pos, d.plane, ids);
	else if (d.nodes == DIST_NODES_CYCLIC)
		planes(s, pos, 1, ids);
	else /* one task for each node is the same either way, so the default needs no case of its own */
		block(s, pos, ids);
	return ids;
}

uint32_t *layout_hosts(const char *hosts, char *const *names, uint32_t count, struct arena *a,
		       uint32_t *ret_tasks)
{
	struct hostlist list;
	if (hostlist_expand(hosts, a, &list, NULL) < 0)
		return NULL;
	uint32_t *at = ARENA_ARRAY(a, uint32_t, list.count + 1);
	for (uint32_t t = 0; t < list.count; t++) {
		while (at[t] < count && !str_eq(names[at[t]], list.names[t]))
			at[t]++;
		if (at[t] == count)
			return NULL;
	}
	*ret_tasks = list.count;
	return at;
}

/* ---- how many on each node ------------------------------------------------------------------------ */

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
			uint32_t give = smaller(smaller(room[i] - ret_tasks[i], share), ntasks);
			ret_tasks[i] += give;
			ntasks -= give;
		}
	}
}

static void pack(uint32_t ntasks, const uint32_t *room, uint32_t nodes, uint32_t *ret_tasks)
{
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t others = nodes - i - 1; /* at least one task is kept for each */
		uint32_t give = ntasks > others ? ntasks - others : smaller(ntasks, 1);
		ret_tasks[i] = smaller(give, room[i]);
		ntasks -= ret_tasks[i];
	}
	/* A node without room for its one task leaves it to those that have some left. */
	for (uint32_t i = 0; i < nodes && ntasks > 0; i++) {
		uint32_t give = smaller(room[i] - ret_tasks[i], ntasks);
		ret_tasks[i] += give;
		ntasks -= give;
	}
}

static void spread_planes(uint32_t plane, uint32_t ntasks, const uint32_t *room, uint32_t nodes,
			  uint32_t *ret_tasks)
{
	uint32_t given = 1;
	for (uint32_t i = 0; i < nodes; i++)
		ret_tasks[i] = 0;
	while (given > 0 && ntasks > 0) {
		given = 0;
		for (uint32_t i = 0; i < nodes && ntasks > 0; i++) {
			uint32_t give = smaller(smaller(room[i] - ret_tasks[i], plane), ntasks);
			ret_tasks[i] += give;
			ntasks -= give;
			given += give;
		}
	}
}

void layout_deal(const struct distribution *d, uint32_t ntasks, const uint32_t *room, uint32_t nodes,
		 uint32_t *ret_tasks)
{
	bool blocks = d->nodes == DIST_NODES_DEFAULT || d->nodes == DIST_NODES_BLOCK;
	if (d->nodes == DIST_NODES_PLANE)
		spread_planes(d->plane, ntasks, room, nodes, ret_tasks);
	else if (blocks && d->pack)
		pack(ntasks, room, nodes, ret_tasks);
	else
		layout_spread(ntasks, room, nodes, ret_tasks);
}
