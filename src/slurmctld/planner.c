/* SPDX-License-Identifier: Apache-2.0 */
/* The planner thinks in another thread on a picture of the cluster; its proposals are decided here,
 * against the present.  It is woken by whatever happens, once per turn of the loop, and while it thinks
 * further calls ask for one more pass afterwards.  It never sleeps a fixed time. */
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "sched/plan.h"
#include "slurmctld/ctld.h"

enum { PLAN_BUDGET = 1000000 };

struct pass {
	struct ctld *s;
	struct view *view;
	struct arena *arena;
	struct plan plan;
};

static void think(void *arg)
{
	struct pass *p = arg;
	plan_make(&p->view->sched, PLAN_BUDGET, p->arena, &p->plan);
}

static void start_proposed(struct pass *p)
{
	struct ctld *s = p->s;
	for (uint32_t i = 0; i < p->plan.start_count; i++) {
		struct decision d;
		uint64_t cookie;
		loop_random(s->loop, &cookie, sizeof(cookie));
		decision_init(&d, p->arena);
		if (decide_start(&s->cluster, &p->plan.starts[i], cookie, loop_now(s->loop), &d) < 0) {
			decision_done(&d); /* what changed meanwhile has woken the planner again */
			continue;
		}
		ctld_commit(s, &d);
	}
}

static void start_timer(struct ctld *s, usec_t when)
{
	usec_t now = loop_now(s->loop);
	timer_start(s->planner.begin, when > now ? when - now : 0, 0);
}

static void thought(void *arg)
{
	struct pass *p = arg;
	struct ctld *s = p->s;
	bool again = s->planner.wanted;
	s->planner.running = false;
	s->planner.wanted = false;
	if (!s->stopping) {
		start_proposed(p);
		for (uint32_t i = 0; i < p->plan.verdict_count; i++)
			cluster_set_reason(&s->cluster, p->plan.verdicts[i].job_id, p->plan.verdicts[i].reason);
		if (p->plan.next_begin)
			start_timer(s, p->plan.next_begin);
		if (again)
			planner_wake(s);
	}
	cluster_view_release(&s->cluster, p->view);
	arena_free(p->arena);
	free(p);
}

static void begin(void *arg)
{
	struct ctld *s = arg;
	if (s->planner.running || s->stopping)
		return;
	s->planner.wanted = false;
	if (s->cluster.pending.count == 0)
		return;
	struct pass *p = NEW(struct pass);
	p->s = s;
	p->arena = arena_new();
	p->view = cluster_view(&s->cluster, VIEW_PENDING, loop_now(s->loop));
	s->planner.running = true;
	ctld_work(s, think, thought, p);
}

void planner_wake(struct ctld *s)
{
	if (s->planner.wanted)
		return;
	s->planner.wanted = true;
	if (!s->planner.running)
		loop_defer(s->loop, begin, s);
}

static void begin_time(void *arg)
{
	planner_wake(arg);
}

void planner_start(struct ctld *s)
{
	s->planner.begin = timer_new(s->loop, begin_time, s);
	planner_wake(s);
}

void planner_stop(struct ctld *s)
{
	timer_free(s->planner.begin);
	s->planner.begin = NULL;
}
