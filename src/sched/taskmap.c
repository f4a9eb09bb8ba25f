/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/taskmap.h"

#include "base/arena.h"
#include "sched/cpubind.h"
#include "sched/demand.h"
#include "sched/gpubind.h"
#include "sched/layout.h"
#include "schema/job.h"
#include "schema/node.h"

static void map_node(const struct taskmap *m, uint32_t pos, struct arena *a, struct task_place *places,
		     uint32_t count)
{
	const struct step *s = m->step;
	const struct node *node = m->nodes[pos];
	struct cpubind_node where = { .step = s, .pos = pos };
	struct cpubind_result bound;
	uint32_t tasks, *ids = layout_tasks(s, pos, a, &tasks);
	bool *outside;
	if (node)
		where.geometry = node_geometry(node);
	cpubind_tasks(&where, a, &bound);
	struct gpubind_node gpus = gpubind_at(s, pos, &m->job->spec.request, bound.tasks);
	gpus.gres = node ? node->gres : NULL;
	gpus.gres_count = node ? node->n_gres : 0;
	struct bitset *sets = gpubind_tasks(&gpus, a, &outside);
	for (uint32_t t = 0; t < tasks; t++)
		if (ids[t] < count)
			places[ids[t]] = (struct task_place){ ids[t],   pos,        t, bound.tasks[t],
							      sets[t], outside[t] };
}

struct task_place *taskmap_make(const struct taskmap *m, struct arena *a, uint32_t *ret_count)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < m->step->n_alloc; i++)
		count += m->step->alloc[i].tasks;
	struct task_place *places = ARENA_ARRAY(a, struct task_place, count + 1);
	for (uint32_t i = 0; i < m->step->n_alloc; i++)
		map_node(m, i, a, places, count);
	*ret_count = count;
	return places;
}

struct step taskmap_whole(const struct job *j, struct arena *a)
{
	struct step s = { .alloc = arena_dup(a, j->alloc, j->n_alloc * sizeof(*j->alloc)),
			  .n_alloc = j->n_alloc,
			  .ntasks = j->ntasks,
			  .cpus_per_task = j->cpus_per_task,
			  .distribution = j->spec.distribution,
			  .gpu_bind = j->spec.gpu_bind,
			  .cpu_bind = j->spec.cpu_bind,
			  .threads_per_core = demand_threads(&j->spec.request) };
	for (uint32_t i = 0; i < s.n_alloc && !demand_names_gres(&j->spec.request); i++)
		s.alloc[i].n_gres = 0;
	return s;
}
