/* SPDX-License-Identifier: Apache-2.0 */
/* A proposal of the planner becomes a start, if it still holds: the planner looked at a picture, and
 * the world went on meanwhile.  Whatever does not fit any more is dropped; the next pass will see. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "core/decide.h"
#include "core/internal.h"
#include "sched/layout.h"
#include "sched/nodefit.h"
#include "sched/plan.h"
#include "sched/pool.h"
#include "text/hostlist.h"

#include <errno.h>

static bool only_of_user(const struct cluster *c, uint32_t node, uint32_t uid)
{
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		int at = e->job.uid == uid ? -1 : alloc_position(e->job.alloc, e->job.n_alloc, node);
		if (at >= 0 && !e->job.alloc[at].clean)
			return false;
	}
	return true;
}

/* CPUs from `first` on that jobs of the partition have on the node. */
static uint32_t partition_cpus(const struct cluster *c, const char *partition, uint32_t node, uint32_t first,
			       uint32_t count)
{
	uint32_t total = 0;
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		int at = str_eq(e->job.partition, partition) ? alloc_position(e->job.alloc, e->job.n_alloc, node) : -1;
		if (at >= 0 && !e->job.alloc[at].clean)
			total += bitset_count_range(&e->job.alloc[at].cores, first, count);
	}
	return total;
}

/* MaxCPUsPerNode and MaxCPUsPerSocket: do all jobs of the partition stay within, this one included? */
static bool within_limits(const struct cluster *c, const struct partition_conf *p, const struct node_alloc *a)
{
	struct geometry g = node_geometry(cluster_node(c, a->node));
	uint32_t each = g.cores * g.threads;
	for (uint32_t s = 0; p->max_cpus_per_socket && s < g.sockets; s++) {
		uint32_t mine = bitset_count_range(&a->cores, s * each, each);
		if (mine && mine + partition_cpus(c, p->name, a->node, s * each, each) > p->max_cpus_per_socket)
			return false;
	}
	return !p->max_cpus_per_node ||
	       bitset_count(&a->cores) + partition_cpus(c, p->name, a->node, 0, a->cores.bits) <= p->max_cpus_per_node;
}

static bool still_free(const struct cluster *c, const struct job *j, const struct plan_start *p,
		       const struct node_alloc *a)
{
	const struct node *n = cluster_node(c, a->node);
	if (!n || !node_is_up(n) || n->exclusive_job || a->cores.bits != n->used_cores.bits)
		return false;
	if (p->exclusive == EXCLUSIVE_KIND_NODE && n->job_count)
		return false;
	if (n->owner_jobs && n->owner_uid != j->uid)
		return false;
	if (p->exclusive == EXCLUSIVE_KIND_USER && n->job_count && !only_of_user(c, a->node, j->uid))
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
	const struct partition *part = cluster_partition(c, p->partition);
	for (uint32_t i = 0; i < p->fit.count; i++)
		if (!still_free(c, j, p, &p->fit.alloc[i]) ||
		    (part && !within_limits(c, &part->conf, &p->fit.alloc[i])))
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
	ev->exclusive = p->exclusive;
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
