/* SPDX-License-Identifier: Apache-2.0 */
/* --test-only: when and where the job would start, had it been submitted; nothing is decided. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "core/internal.h"
#include "sched/demand.h"
#include "sched/expect.h"
#include "sched/licenses.h"
#include "sched/view.h"
#include "schema/messages.h"
#include "text/hostlist.h"

#include <stdlib.h>
#include <string.h>

struct asking {
	const struct cluster *c;
	const struct sched_view *v;
	const struct job *job;
	struct arena *arena;
	struct expect_end *ends;
	uint32_t end_count;
};

/* Soonest first, unknown ends last; ties by id, so that equal questions get equal answers. */
static int by_time(const void *a, const void *b)
{
	const struct expect_end *x = a, *y = b;
	if ((x->time == 0) != (y->time == 0))
		return x->time == 0 ? 1 : -1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->job->id < y->job->id ? -1 : x->job->id > y->job->id;
}

static void list_ends(struct asking *q)
{
	const struct job_entry *e;
	q->ends = ARENA_ARRAY(q->arena, struct expect_end, q->c->active.count + 1);
	for (size_t i = 0; (e = map_next(&q->c->active, &i));) {
		usec_t end = job_is_ended(&e->job) ? q->v->now : e->job.end_time;
		q->ends[q->end_count++] = (struct expect_end){ end, &e->job };
	}
	qsort(q->ends, q->end_count, sizeof(*q->ends), by_time);
}

/* The earliest start among the job's partitions; the first of them gives the reason when there is none. */
static struct expectation find_start(const struct asking *q, const struct partition **ret)
{
	const char *list = str_empty(q->job->spec.partition) ? q->job->partition : q->job->spec.partition;
	struct expectation best = {};
	*ret = NULL;
	for (const char *p = list; p && *p;) {
		size_t len = strcspn(p, ",");
		const struct partition *here = cluster_partition(q->c, arena_strndup(q->arena, p, len));
		p += len + (p[len] == ',');
		if (!here)
			continue;
		struct expectation e = expect_start(q->v, q->job, here, q->ends, q->end_count, q->arena);
		bool sooner = e.result == EXPECT_START && (best.result != EXPECT_START || e.time < best.time);
		if (!*ret || sooner) {
			best = e;
			*ret = here;
		}
	}
	return best;
}

static char *name_nodes(const struct asking *q, const struct fit *f)
{
	AUTO_BUF struct buf text = {};
	char **names = ARENA_ARRAY(q->arena, char *, f->count + 1);
	for (uint32_t i = 0; i < f->count; i++)
		names[i] = q->v->nodes[f->alloc[i].node]->conf.name;
	hostlist_compress(names, f->count, &text);
	return arena_strdup(q->arena, buf_text(&text));
}

static void tell_start(const struct asking *q, const struct expectation *e, const struct partition *p,
		       struct submit_reply *reply)
{
	struct demand d;
	reply->start_time = e->time;
	if (e->time > q->v->now && e->time <= q->job->eligible_time)
		reply->why = arena_strdup(q->arena, "--begin keeps it until then");
	else if (e->time > q->v->now)
		reply->why = arena_strdup(q->arena, "running jobs hold what it needs until then");
	reply->node_list = name_nodes(q, &e->fit);
	reply->partition = p->conf.name;
	reply->alloc = e->fit.alloc;
	reply->n_alloc = e->fit.count;
	reply->ntasks = e->fit.ntasks;
	if (demand_from(&q->job->spec.request, &d, NULL) == 0)
		reply->cpus_per_task = d.cpus_per_task;
	for (uint32_t i = 0; i < e->fit.count; i++)
		reply->cpus += bitset_count(&e->fit.alloc[i].cores);
}

void expect_job(const struct cluster *c, const struct sched_view *v, const struct job *j, struct arena *a,
		struct submit_reply *reply)
{
	struct asking q = { .c = c, .v = v, .job = j, .arena = a };
	const struct partition *p;
	list_ends(&q);
	struct expectation e = find_start(&q, &p);
	struct license_pool licenses;
	const char *taken;
	license_pool_init(&licenses, v, a);
	reply->job_id = j->id;
	if (!license_pool_find(&licenses, j->spec.request.licenses, &taken))
		reply->why = arena_strdup(a, "other jobs have the licences that it asks for");
	else if (p && e.result == EXPECT_START)
		tell_start(&q, &e, p, reply);
	else if (p && e.result == EXPECT_UNLIMITED)
		reply->why = arena_strdup(a, "jobs without a time limit hold what it needs");
	else
		reply->why = arena_strdup(a, "not enough of the nodes it could use are up");
	if (j->hold)
		reply->why = arena_strdup(a, "--hold keeps it until it is released");
	if (j->hold)
		reply->start_time = 0;
}
