/* SPDX-License-Identifier: Apache-2.0 */
/* What is free only grows as jobs end, so the first end after which the request fits is found by
 * bisection: a look at a large cluster costs a handful of fits, however many jobs run. */
#include "sched/expect.h"

#include "base/arena.h"
#include "base/error.h"
#include "sched/demand.h"
#include "sched/fragment.h"
#include "sched/limits.h"
#include "sched/owners.h"
#include "sched/plan.h"
#include "sched/pool.h"
#include "sched/view.h"

struct looking {
	const struct sched_view *v;
	const struct demand *d;
	struct fit_scope scope;
	const struct expect_end *ends;
	struct arena *arena;
	const struct job **jobs; /* of the ends */
	uint32_t count;
	uint32_t uid;
	const struct partition *partition;
};

/* Does it fit once the first `gone` jobs have ended? */
static bool fits_after(const struct looking *l, uint32_t gone, struct fit *ret)
{
	struct pool pool;
	struct mix mix = {};
	struct owners owners;
	struct bitset blocked;
	struct sched_view left = *l->v; /* with those that are still there */
	struct fit_scope scope = l->scope;
	struct demand d = *l->d;
	left.running = l->jobs + gone;
	left.running_count = l->count - gone;
	pool_init(&pool, &left, false, l->arena);
	pool_limit(&pool, l->partition, &d);
	owners_init(&owners, left.running, left.running_count, left.node_count, l->arena);
	bitset_init_in(&blocked, left.node_count, l->arena);
	owners_block(&owners, l->uid, d.exclusive_user, &blocked);
	scope.blocked = &blocked;
	mix_add(&mix, l->d, 1); /* as in a pass where nobody else waits */
	pool.mix = &mix;
	for (uint32_t i = 0; i < gone; i++)
		for (uint32_t k = 0; k < l->ends[i].job->n_alloc; k++)
			if (!l->ends[i].job->alloc[k].clean)
				pool_give(&pool, &l->ends[i].job->alloc[k]);
	bool ok = fit_find(&pool, &d, &scope, l->arena, ret) == FIT_OK;
	pool_done(&pool);
	return ok;
}

/* How many of the jobs have ended by then. */
static uint32_t ended_by(const struct expect_end *ends, uint32_t count, usec_t time)
{
	uint32_t gone = 0;
	while (gone < count && ends[gone].time && ends[gone].time <= time)
		gone++;
	return gone;
}

/* The fewest jobs that must have ended, above `low`, after which it does not fit; it does after `high`. */
static uint32_t bisect(const struct looking *l, uint32_t low, uint32_t high)
{
	while (low + 1 < high) {
		uint32_t mid = low + (high - low) / 2;
		struct fit fit = {};
		if (fits_after(l, mid, &fit))
			high = mid;
		else
			low = mid;
	}
	return high;
}

struct expectation expect_start(const struct sched_view *v, const struct job *j,
				const struct partition *p, const struct expect_end *ends, uint32_t count,
				struct arena *a)
{
	struct expectation e = { .result = EXPECT_NODES_DOWN };
	struct demand d;
	struct error err = {};
	struct looking l = { v, &d, { .nodes = &p->nodes, .topology = view_topology(v, p) }, ends, a };
	l.jobs = ARENA_ARRAY(a, const struct job *, count + 1);
	for (uint32_t i = 0; i < count; i++)
		l.jobs[i] = ends[i].job;
	l.count = count;
	l.uid = j->uid;
	l.partition = p;
	usec_t first = j->eligible_time > v->now ? j->eligible_time : v->now;
	uint32_t gone = first > v->now ? ended_by(ends, count, first) : 0;
	if (demand_from(&j->spec.request, &d, &err) < 0)
		return e;
	limits_bind(v, p, &d);
	if (!fits_after(&l, gone, &e.fit) && !fits_after(&l, count, &e.fit)) {
		/* --switches gives way after a while, and not before. */
		l.scope.any_switches = plan_switches_until(j) != 0;
		if (!l.scope.any_switches || !fits_after(&l, count, &e.fit))
			return e;
		first = plan_switches_until(j);
		gone = ended_by(ends, count, first);
	}
	e.result = EXPECT_START;
	e.time = first;
	if (fits_after(&l, gone, &e.fit))
		return e;
	e.time = ends[bisect(&l, gone, count) - 1].time;
	if (!e.time) {
		e.result = EXPECT_UNLIMITED;
		return e;
	}
	/* Whoever ends at the same moment makes room as well. */
	fits_after(&l, ended_by(ends, count, e.time), &e.fit);
	e.time = e.time < v->now ? v->now : e.time;
	return e;
}
