/* SPDX-License-Identifier: Apache-2.0 */
/* The queue is walked in order.  A job that fits is carved out of the pool; the first job of a
 * partition that does not fit keeps that partition's nodes from the jobs behind it, so that nobody
 * overtakes and starves it.  Jobs that ask for exactly what already failed in this pass are not tried
 * again (equal signatures), and the walk ends when every partition is kept, unless some job has not
 * yet been given a reason.
 *
 * A job that lacks licences waits for them and holds no nodes meanwhile.
 *
 * A pending array is one entry: its tasks are started one after the other until one does not fit or
 * its %limit is reached. */
#include "sched/plan.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "sched/demand.h"
#include "sched/fragment.h"
#include "sched/licenses.h"
#include "sched/limits.h"
#include "sched/owners.h"
#include "sched/pool.h"
#include "sched/view.h"

#include <string.h>

struct pass {
	const struct sched_view *v;
	struct arena *arena;
	struct pool pool;
	struct mix mix;              /* what the queue asks for */
	struct license_pool licenses;
	struct owners owners;
	struct bitset blocked;       /* for one request: kept nodes and those of other users */
	struct bitset kept;          /* nodes held for a job ahead */
	struct bitset partition_kept; /* partitions by position in the view */
	struct map failed;           /* signature ^ partition -> tried in this pass and did not fit */
	uint64_t budget, tried;
	usec_t next_begin;
	VEC(struct plan_start) starts;
	VEC(struct plan_verdict) verdicts;
};

const struct partition *view_partition(const struct sched_view *v, const char *name)
{
	for (uint32_t i = 0; i < v->partition_count; i++)
		if (str_eq(v->partitions[i]->conf.name, name))
			return v->partitions[i];
	return NULL;
}

static uint32_t partition_position(const struct sched_view *v, const char *name, size_t len)
{
	for (uint32_t i = 0; i < v->partition_count; i++) {
		const char *have = v->partitions[i]->conf.name;
		if (strlen(have) == len && strncmp(have, name, len) == 0)
			return i;
	}
	return UINT32_MAX;
}

/* What keeps a job from starting whatever is free. */
static enum job_reason not_eligible(const struct sched_view *v, const struct job *j)
{
	if (j->hold == HOLD_KIND_ADMIN)
		return JOB_REASON_HELD_ADMIN;
	if (j->hold == HOLD_KIND_USER)
		return JOB_REASON_HELD_USER;
	if (j->spec.has_begin_time && j->spec.begin_time > v->now)
		return JOB_REASON_BEGIN_TIME;
	return JOB_REASON_NONE;
}

static enum job_reason partition_refuses(const struct sched_view *v, const struct partition *p, const struct job *j)
{
	if (p->conf.state == PARTITION_STATE_DOWN)
		return JOB_REASON_PART_DOWN;
	if (p->conf.state == PARTITION_STATE_INACTIVE)
		return JOB_REASON_PART_INACTIVE;
	return limits_refuse(v, p, j, NULL);
}

usec_t plan_switches_until(const struct job *j)
{
	const struct resource_request *r = &j->spec.request;
	usec_t wait = r->has_switches_wait ? r->switches_wait : SWITCHES_WAIT;
	return r->has_switches && wait < INT64_MAX - j->eligible_time ? j->eligible_time + wait : 0;
}

static bool waited_for_switches(const struct sched_view *v, const struct job *j)
{
	usec_t until = plan_switches_until(j);
	return until && v->now >= until;
}

/* The nodes it must not use: kept for those ahead, or somebody else's. */
static const struct bitset *blocked_for(struct pass *s, const struct job *j, const struct demand *d)
{
	if (!owners_matter(&s->owners, d->exclusive_user))
		return &s->kept;
	bitset_copy(&s->blocked, &s->kept);
	owners_block(&s->owners, j->uid, d->exclusive_user, &s->blocked);
	return &s->blocked;
}

static enum fit_result try_fit(struct pass *s, const struct job *j, const struct partition *p,
			       struct plan_start *ret, struct demand *ret_demand)
{
	struct demand d;
	if (demand_from(&j->spec.request, &d, NULL) < 0)
		return FIT_SHORT; /* submission refuses these */
	limits_bind(s->v, p, &d);
	pool_limit(&s->pool, p, &d);
	uint64_t key = hash_mix(j->eval_signature, hash_bytes(p->conf.name, strlen(p->conf.name)));
	key = waited_for_switches(s->v, j) ? hash_mix(key, 1) : key;
	key = owners_matter(&s->owners, d.exclusive_user) ? hash_mix(key, j->uid) : key;
	if (j->eval_signature && map_get(&s->failed, key))
		return FIT_SHORT;
	struct fit_scope scope = { &p->nodes, blocked_for(s, j, &d), view_topology(s->v, p),
				   waited_for_switches(s->v, j) };
	s->tried++;
	enum fit_result r = fit_find(&s->pool, &d, &scope, s->arena, &ret->fit);
	ret->cpus_per_task = d.cpus_per_task;
	ret->exclusive = d.exclusive ? EXCLUSIVE_KIND_NODE : d.exclusive_user ? EXCLUSIVE_KIND_USER : EXCLUSIVE_KIND_NO;
	*ret_demand = d;
	if (r != FIT_OK && j->eval_signature)
		map_put(&s->failed, key, s);
	return r;
}

static void start(struct pass *s, const struct job *j, const struct demand *d, const struct plan_start *found)
{
	for (uint32_t i = 0; i < found->fit.count; i++) {
		pool_take_limited(&s->pool, d, &found->fit.alloc[i]);
		owners_add(&s->owners, &found->fit.alloc[i], j->uid, found->exclusive == EXCLUSIVE_KIND_USER);
	}
	license_pool_take(&s->licenses, found->licenses);
	vec_push(&s->starts, *found);
}

/* Starts what fits of the job in one partition; on return `*ret_done` says whether nothing is left
 * to start. */
static enum job_reason start_in(struct pass *s, const struct job *j, const struct partition *p,
				bool *ret_done)
{
	uint64_t left = 1, running = 0, limit = UINT64_MAX;
	uint32_t range = 0, task = 0;
	if (j->n_array_tasks) {
		left = 0;
		for (uint32_t i = 0; i < j->n_array_tasks; i++)
			left += j->array_tasks[i].last - j->array_tasks[i].first + 1;
		running = j->array_running;
		limit = j->array_limit ? j->array_limit : UINT64_MAX;
		task = j->array_tasks[0].first;
	}
	for (; left > 0; left--) {
		struct plan_start found = { .job_id = j->id,
					    .has_task = j->n_array_tasks != 0,
					    .task_id = task,
					    .partition = p->conf.name };
		if (running >= limit)
			return JOB_REASON_ARRAY_TASK_LIMIT;
		if (s->tried >= s->budget)
			return JOB_REASON_PRIORITY;
		if (!license_pool_find(&s->licenses, j->spec.request.licenses, &found.licenses))
			return JOB_REASON_LICENSES;
		struct demand d;
		enum fit_result r = try_fit(s, j, p, &found, &d);
		if (r != FIT_OK)
			return r == FIT_REQUIRED_DOWN ? JOB_REASON_REQ_NODE_NOT_AVAIL : JOB_REASON_RESOURCES;
		start(s, j, &d, &found);
		running++;
		if (j->n_array_tasks && task == j->array_tasks[range].last && left > 1)
			task = j->array_tasks[++range].first;
		else
			task++;
	}
	*ret_done = true;
	return JOB_REASON_NONE;
}

static void keep_partition(struct pass *s, uint32_t position)
{
	bitset_add(&s->partition_kept, position);
	const struct bitset *nodes = &s->v->partitions[position]->nodes;
	for (uint32_t i = bitset_next(nodes, 0); i != BITSET_NONE; i = bitset_next(nodes, i + 1))
		if (i < s->kept.bits)
			bitset_add(&s->kept, i);
}

/* Tries each partition of the job's list; the reason is that of the last one that could take it. */
static enum job_reason consider(struct pass *s, const struct job *j)
{
	enum job_reason reason = not_eligible(s->v, j);
	if (reason != JOB_REASON_NONE)
		return reason;
	const char *list = str_empty(j->spec.partition) ? j->partition : j->spec.partition;
	for (const char *name = list; name && *name;) {
		size_t len = strcspn(name, ",");
		uint32_t position = partition_position(s->v, name, len);
		name += len + (name[len] == ',');
		if (position == UINT32_MAX)
			continue;
		const struct partition *p = s->v->partitions[position];
		bool kept = bitset_has(&s->partition_kept, position);
		if (kept && j->reason == JOB_REASON_PRIORITY) { /* nothing new for it here */
			reason = JOB_REASON_PRIORITY;
			continue;
		}
		enum job_reason refused = partition_refuses(s->v, p, j);
		if (refused != JOB_REASON_NONE || kept) {
			reason = refused != JOB_REASON_NONE ? refused : JOB_REASON_PRIORITY;
			continue;
		}
		bool done = false;
		reason = start_in(s, j, p, &done);
		if (done)
			return JOB_REASON_NONE;
		if (reason == JOB_REASON_RESOURCES)
			keep_partition(s, position);
	}
	return reason;
}

static void walk(struct pass *s)
{
	const struct sched_view *v = s->v;
	uint32_t unexplained = v->unexplained;
	for (uint32_t i = 0; i < v->pending_count; i++) {
		if (bitset_count(&s->partition_kept) == v->partition_count && unexplained == 0)
			return;
		const struct job *j = v->pending[i];
		unexplained -= j->reason == JOB_REASON_NONE && unexplained > 0;
		enum job_reason reason = consider(s, j);
		usec_t again = reason == JOB_REASON_BEGIN_TIME ? j->spec.begin_time :
			       reason == JOB_REASON_RESOURCES  ? plan_switches_until(j) :
								 0;
		if (again > v->now && (!s->next_begin || again < s->next_begin))
			s->next_begin = again;
		if (reason != j->reason && reason != JOB_REASON_NONE)
			vec_push(&s->verdicts, (struct plan_verdict){ j->id, reason });
	}
}

void plan_make(const struct sched_view *v, uint64_t budget, struct arena *a, struct plan *ret)
{
	struct pass s = { .v = v, .arena = a, .budget = budget };
	pool_init(&s.pool, v, false, a);
	mix_from_queue(&s.mix, v);
	s.pool.mix = &s.mix;
	license_pool_init(&s.licenses, v, a);
	bitset_init_in(&s.kept, v->node_count, a);
	bitset_init_in(&s.blocked, v->node_count, a);
	owners_init(&s.owners, v->running, v->running_count, v->node_count, a);
	bitset_init_in(&s.partition_kept, v->partition_count, a);
	walk(&s);
	ret->starts = arena_dup(a, s.starts.at, s.starts.count * sizeof(*s.starts.at));
	ret->start_count = (uint32_t)s.starts.count;
	ret->verdicts = arena_dup(a, s.verdicts.at, s.verdicts.count * sizeof(*s.verdicts.at));
	ret->verdict_count = (uint32_t)s.verdicts.count;
	ret->steps = s.tried;
	ret->next_begin = s.next_begin;
	vec_done(&s.starts);
	vec_done(&s.verdicts);
	map_done(&s.failed);
	pool_done(&s.pool);
}

bool plan_possible(const struct sched_view *v, const struct resource_request *r,
		   const struct partition *p, struct buf *ret_why)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct fit_scope scope = { .nodes = &p->nodes, .topology = view_topology(v, p), .any_switches = true };
	struct demand d;
	struct fit fit;
	struct pool pool;
	struct error err = {};
	if (demand_from(r, &d, &err) < 0) {
		if (ret_why)
			buf_puts(ret_why, err.text);
		return false;
	}
	limits_bind(v, p, &d);
	pool_init(&pool, v, true, a);
	pool_limit(&pool, p, &d);
	bool ok = fit_find(&pool, &d, &scope, a, &fit) == FIT_OK;
	if (!ok && ret_why)
		fit_explain(&pool, &d, &scope, ret_why);
	pool_done(&pool);
	return ok;
}
