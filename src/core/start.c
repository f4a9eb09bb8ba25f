/* SPDX-License-Identifier: Apache-2.0 */
/* A proposal of the planner becomes a start, if it still holds: the planner looked at a picture, and
 * the world went on meanwhile.  Whatever does not fit any more is dropped; the next pass will see. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "core/decide.h"
#include "core/internal.h"
#include "sched/layout.h"
#include "sched/plan.h"
#include "sched/pool.h"
#include "text/hostlist.h"

#include <errno.h>

static bool still_free(const struct cluster *c, const struct job *j, const struct node_alloc *a)
{
	const struct node *n = cluster_node(c, a->node);
	if (!n || !node_is_up(n) || n->exclusive_job || a->cores.bits != n->used_cores.bits)
		return false;
	if (j->spec.request.exclusive == EXCLUSIVE_KIND_NODE && n->job_count)
		return false;
	if (bitset_intersects(&n->used_cores, &a->cores) || n->used_mem_mib + a->mem_mib > node_memory(n))
		return false;
	for (uint32_t i = 0; i < a->n_gres; i++)
		if (!gres_is_free(n, &a->gres[i]))
			return false;
	return true;
}

static bool task_waits(const struct job *j, const struct plan_start *p)
{
	if (j->array_limit && p->has_task && j->array_running >= j->array_limit)
		return false;
	if (!p->has_task)
		return j->n_array_tasks == 0;
	for (uint32_t i = 0; i < j->n_array_tasks; i++)
		if (p->task_id >= j->array_tasks[i].first && p->task_id <= j->array_tasks[i].last)
			return true;
	return false;
}

static bool is_last_task(const struct job *j)
{
	return j->n_array_tasks == 1 && j->array_tasks[0].first == j->array_tasks[0].last;
}

static char *name_nodes(const struct cluster *c, const struct plan_start *p, struct arena *a)
{
	AUTO_BUF struct buf text = {};
	char **names = ARENA_ARRAY(a, char *, p->fit.count + 1);
	for (uint32_t i = 0; i < p->fit.count; i++)
		names[i] = cluster_node(c, p->fit.alloc[i].node)->conf.name;
	hostlist_compress(names, p->fit.count, &text);
	return arena_strdup(a, buf_text(&text));
}

int decide_start(const struct cluster *c, const struct plan_start *p, uint64_t cookie, usec_t now,
		 struct decision *out)
{
	const struct job *j = cluster_job(c, p->job_id);
	if (!j || j->state != JOB_STATE_PENDING || j->hold || !task_waits(j, p))
		return -ESTALE;
	for (uint32_t i = 0; i < p->fit.count; i++)
		if (!still_free(c, j, &p->fit.alloc[i]))
			return -ESTALE;

	if (!cluster_licenses_free(c, p->licenses, out->arena))
		return -ESTALE;

	uint32_t id = j->id;
	if (p->has_task) {
		id = is_last_task(j) ? j->id : c->next_job_id;
		struct job_split *split = &decision_event(out, EVENT_JOB_SPLIT)->job_split;
		*split = (struct job_split){ .job_id = j->id, .task_id = p->task_id, .new_job_id = id };
	}
	struct job_started *ev = &decision_event(out, EVENT_JOB_STARTED)->job_started;
	ev->job_id = id;
	ev->time = now;
	ev->alloc = p->fit.alloc;
	ev->n_alloc = p->fit.count;
	ev->node_list = name_nodes(c, p, out->arena);
	ev->partition = arena_strdup(out->arena, p->partition);
	ev->end_time = j->time_limit ? now + j->time_limit : 0;
	ev->batch_host = cluster_node(c, p->fit.alloc[0].node)->conf.name;
	ev->cookie = cookie;
	ev->licenses = p->licenses ? arena_strdup(out->arena, p->licenses) : NULL;
	ev->ntasks = p->fit.ntasks;
	ev->cpus_per_task = p->cpus_per_task;
	if (j->spec.batch)
		decision_effect(out, (struct effect){ .kind = EFFECT_LAUNCH,
						      .job_id = id,
						      .attempt = j->attempt,
						      .has_step = true,
						      .step_id = STEP_BATCH,
						      .node = NODE_EACH });
	return 0;
}
