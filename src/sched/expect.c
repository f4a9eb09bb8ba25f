/* SPDX-License-Identifier: Apache-2.0 */
/* What is free only grows as jobs end, so the first end after which the request fits is found by
 * bisection: a look at a large cluster costs a handful of fits, however many jobs run. */
#include "sched/expect.h"

#include "base/arena.h"
#include "base/error.h"
#include "sched/demand.h"
#include "sched/plan.h"
#include "sched/pool.h"
#include "sched/view.h"

struct looking {
	const struct sched_view *v;
	const struct demand *d;
	struct fit_scope scope;
	const struct expect_end *ends;
	struct arena *arena;
};

/* Does it fit once the first `gone` jobs have ended? */
static bool fits_after(const struct looking *l, uint32_t gone, struct fit *ret)
{
	struct pool pool;
	pool_init(&pool, l->v, false, l->arena);
	for (uint32_t i = 0; i < gone; i++)
		for (uint32_t k = 0; k < l->ends[i].job->n_alloc; k++)
			if (!l->ends[i].job->alloc[k].clean)
				pool_give(&pool, &l->ends[i].job->alloc[k]);
	bool ok = fit_find(&pool, l->d, &l->scope, l->arena, ret) == FIT_OK;
	pool_done(&pool);
	return ok;
}

struct expectation expect_start(const struct sched_view *v, const struct job *j,
				const struct partition *p, const struct expect_end *ends, uint32_t count,
				struct arena *a)
{
	struct expectation e = { .result = EXPECT_NODES_DOWN };
	struct demand d;
	struct error err = {};
	struct looking l = { v, &d, { .nodes = &p->nodes, .topology = view_topology(v, p) }, ends, a };
	uint32_t low = 0, high = count; /* it fits after `high`, and not before `low` */
	if (demand_from(&j->spec.request, &d, &err) < 0)
		return e;
	if (fits_after(&l, 0, &e.fit)) {
		e.result = EXPECT_START;
		e.time = v->now;
		return e;
	}
	/* --switches gives way after a while, and not before. */
	l.scope.any_switches = plan_switches_until(j) && !fits_after(&l, count, &e.fit);
	if (!fits_after(&l, count, &e.fit))
		return e;
	if (l.scope.any_switches && fits_after(&l, 0, &e.fit))
		high = 0;
	while (low + 1 < high) {
		uint32_t mid = low + (high - low) / 2;
		struct fit fit = {};
		if (fits_after(&l, mid, &fit)) {
			high = mid;
			e.fit = fit;
		} else {
			low = mid;
		}
	}
	e.time = high ? ends[high - 1].time : v->now;
	e.result = e.time ? EXPECT_START : EXPECT_UNLIMITED;
	usec_t soonest = l.scope.any_switches ? plan_switches_until(j) : v->now;
	if (e.time && e.time < soonest)
		e.time = soonest;
	return e;
}
