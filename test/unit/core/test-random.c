/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of random decisions.  After every event the cluster is consistent; a view shows the same
 * bytes at its end as at its beginning, whatever was applied meanwhile; and the events of a snapshot
 * lead to an equal cluster. */
#include "base/buf.h"
#include "base/error.h"
#include "sched/layout.h"
#include "world.h"

#include "../cm.h"

#include <string.h>

enum { NODES = 6, STEPS = 3000 };

struct look {
	struct view *view;
	struct buf bytes;
};

static void encode_view(const struct view *v, struct buf *out)
{
	for (uint32_t i = 0; i < v->job_count; i++)
		record_encode(&job_record, v->jobs[i], out);
	for (uint32_t i = 0; i < v->sched.node_count; i++)
		record_encode(&node_record, v->sched.nodes[i], out);
	for (uint32_t i = 0; i < v->sched.partition_count; i++)
		record_encode(&partition_record, v->sched.partitions[i], out);
}

static void look_begin(struct world *w, struct look *l)
{
	l->view = cluster_view(&w->c, VIEW_JOBS | VIEW_PENDING | VIEW_BLOBS, w->now);
	encode_view(l->view, &l->bytes);
}

static void look_end(struct world *w, struct look *l)
{
	AUTO_BUF struct buf now = {};
	encode_view(l->view, &now);
	assert_int_equal(now.len, l->bytes.len);
	assert_memory_equal(now.data, l->bytes.data, now.len);
	cluster_view_release(&w->c, l->view);
	buf_done(&l->bytes);
	l->view = NULL;
}

static void restore(void *arg, const struct event *ev)
{
	apply(arg, ev);
}

static void assert_same(const struct record *r, const void *a, const void *b)
{
	AUTO_BUF struct buf x = {};
	AUTO_BUF struct buf y = {};
	if (record_equal(r, a, b))
		return;
	record_print(r, a, &x);
	record_print(r, b, &y);
	fail_msg("%s differs\n%s\n%s", r->name, buf_text(&x), buf_text(&y));
}

static void snapshot_leads_to_the_same(struct world *w)
{
	struct cluster copy;
	cluster_init(&copy);
	copy.settings = w->c.settings;
	struct view *v = cluster_view(&w->c, VIEW_JOBS | VIEW_BLOBS, w->now);
	view_events(v, restore, &copy);
	cluster_check(&copy);
	assert_int_equal(copy.jobs.count, w->c.jobs.count);
	assert_int_equal(copy.next_job_id, w->c.next_job_id);
	assert_int_equal(copy.blobs.count, w->c.blobs.count);
	for (uint32_t i = 0; i < v->job_count; i++) {
		struct job a = *v->jobs[i], b = *cluster_job(&copy, a.id);
		a.reason = b.reason; /* found anew by the planner */
		assert_same(&job_record, &a, &b);
	}
	for (uint32_t i = 0; i < v->sched.node_count; i++) {
		struct node a = *v->sched.nodes[i], b = *cluster_node(&copy, i);
		b.responding = a.responding; /* found anew when the daemons connect */
		b.last_response = a.last_response;
		b.last_busy = a.last_busy;
		assert_same(&node_record, &a, &b);
	}
	for (uint32_t i = 0; i < v->sched.license_count; i++) {
		const struct license *a = &v->sched.licenses[i], *b = cluster_license(&copy, a->name);
		assert_int_equal(a->used, b ? b->used : 0);
	}
	cluster_view_release(&w->c, v);
	cluster_done(&copy);
}

static const struct job *random_job(struct world *w, bool active)
{
	struct map *m = active ? &w->c.active : &w->c.jobs;
	size_t skip = m->count ? world_draw(w, m->count) : 0;
	const struct job_entry *e = NULL;
	for (size_t pos = 0; (e = map_next(m, &pos)) && skip > 0; skip--)
		;
	return e ? &e->job : NULL;
}

static void submit(struct world *w)
{
	struct job_spec s = world_spec(1 + (uint32_t)world_draw(w, 3), 1 + (uint32_t)world_draw(w, 4),
				       (uint32_t)world_draw(w, 3));
	static char array[32], list[] = "main,half", shard[] = "shard";
	if (s.request.n_gres_per_node && world_draw(w, 2)) {
		s.request.gres_per_node->name = shard;
		s.request.gres_per_node->count = 1 + world_draw(w, WORLD_SHARDS);
	}
	if (world_draw(w, 4) == 0) {
		snprintf(array, sizeof(array), "0-%u%%%u", (unsigned)world_draw(w, 9), 1 + (unsigned)world_draw(w, 4));
		s.array = array;
	}
	if (world_draw(w, 3) == 0)
		s.partition = list;
	if (world_draw(w, 5) == 0)
		s.request.exclusive = world_draw(w, 2) ? EXCLUSIVE_KIND_NODE : EXCLUSIVE_KIND_USER;
	w->uid = 1000 + (uint32_t)world_draw(w, 3);
	if (world_draw(w, 5) == 0)
		s.hold = true;
	static char and[] = "a:2,b", or[] = "a|b:2";
	if (world_draw(w, 3) == 0)
		s.request.licenses = world_draw(w, 2) ? and : or;
	s.nice = (int64_t)world_draw(w, 1000);
	if (world_draw(w, 6) == 0)
		s.batch = false;
	if (world_draw(w, 3) == 0) {
		s.has_time_limit = true;
		s.time_limit = USEC_PER_MIN;
	}
	world_submit(w, &s, NULL);
}

static void finish_something(struct world *w)
{
	const struct job *j = random_job(w, true);
	if (!j)
		return;
	struct decision d = world_decision(w);
	const struct node_alloc *a = &j->alloc[world_draw(w, j->n_alloc)];
	if (j->n_steps && world_draw(w, 2)) {
		const struct step *s = &j->steps[world_draw(w, j->n_steps)];
		struct step_end end = { .job_id = j->id, .attempt = j->attempt - (world_draw(w, 9) == 0),
					.step_id = s->id, .exit_code = (uint32_t)world_draw(w, 2),
					.job_clean = world_draw(w, 2) };
		decide_step_end(&w->c, s->alloc[world_draw(w, s->n_alloc)].node, &end, w->now, &d);
	} else {
		struct job_clean clean = { j->id, j->attempt };
		decide_job_clean(&w->c, a->node, &clean, w->now, &d);
	}
	world_commit(w, &d);
}

static void cancel_something(struct world *w)
{
	const struct job *j = random_job(w, false);
	if (!j)
		return;
	uint32_t id = j->array_job_id && world_draw(w, 2) ? j->array_job_id : j->id;
	uint32_t task = (uint32_t)world_draw(w, 9);
	struct caller who = { 1000, 1000, false };
	struct cancel_reply reply = {};
	struct decision d = world_decision(w);
	struct job_filter f = { .ids = &id, .n_ids = 1 };
	if (j->array_job_id && world_draw(w, 2)) {
		f.tasks = &task;
		f.n_tasks = 1;
	}
	if (world_draw(w, 3)) {
		struct cancel_request r = { .filter = f };
		(void)!decide_cancel(&w->c, &r, &who, w->now, &d, &reply, NULL);
	} else {
		struct job_requeue r = { .filter = f, .hold = world_draw(w, 2) };
		(void)!decide_requeue(&w->c, &r, &who, w->now, &d, &reply, NULL);
	}
	world_commit(w, &d);
}

static void step_somewhere(struct world *w)
{
	const struct job *j = random_job(w, true);
	if (!j)
		return;
	struct step_request r = { .job_id = j->id, .has_ntasks = true, .ntasks = 1 + (uint32_t)world_draw(w, 6),
				  .exact = world_draw(w, 2), .overlap = world_draw(w, 4) == 0,
				  .token = 1 + world_draw(w, 1000000) };
	static char gpu[] = "gpu", shard[] = "shard";
	struct gres_request some = { .name = world_draw(w, 2) ? gpu : shard, .count = 1 + world_draw(w, 2) };
	if (world_draw(w, 3) == 0) {
		r.gres_per_node = &some;
		r.n_gres_per_node = 1;
	}
	struct step_command cmd = { .request = &r, .caller = { 1000, 1000, false }, .now = w->now };
	struct decision d = world_decision(w);
	if (decide_step_create(&w->c, &cmd, &d, NULL) < 0)
		vec_clear(&d.events);
	world_commit(w, &d);
}

static void change_nodes(struct world *w)
{
	uint32_t node = (uint32_t)world_draw(w, NODES);
	struct decision d = world_decision(w);
	if (world_draw(w, 3) == 0) {
		decide_node_lost(&w->c, node, w->now, &d);
		world_commit(w, &d);
		return;
	}
	world_commit(w, &d);
	world_register(w, node, world_draw(w, 8) ? "boot-1" : "boot-2");
}

static void hold_or_change(struct world *w)
{
	const struct job *j = random_job(w, false);
	if (!j)
		return;
	static char hold[] = "Hold", no[] = "no", nice[] = "Nice", fifty[] = "50";
	struct conf_line keys[] = { { hold, no }, { nice, fifty } };
	uint32_t id = j->id;
	struct job_update u = { .filter = { .ids = &id, .n_ids = 1 }, .keys = keys,
				.n_keys = 1 + (uint32_t)world_draw(w, 2) };
	struct caller root = { 0, 0, true };
	struct cancel_reply reply = {};
	struct decision d = world_decision(w);
	(void)!decide_job_update(&w->c, &u, &root, w->now, &d, &reply, NULL);
	world_commit(w, &d);
}

static void tick(struct world *w)
{
	struct decision d = world_decision(w);
	w->now += (usec_t)world_draw(w, 40) * USEC_PER_SEC;
	decide_tick(&w->c, w->now, &d);
	world_commit(w, &d);
}

static void change_licenses(struct world *w)
{
	static const char *const totals[] = { "a:4,b:3", "a:4,b:3", "a:2,b:1", "b:5" };
	if (world_draw(w, 20) == 0)
		world_licenses(w, totals[world_draw(w, ARRAY_COUNT(totals))]);
}

/* When everything is over the nodes are as they were before the first job. */
static void everything_comes_back(struct world *w)
{
	while (w->c.active.count) {
		const struct job *j = random_job(w, true);
		uint32_t id = j->id;
		struct cancel_request r = { .filter = { .ids = &id, .n_ids = 1 } };
		struct cancel_reply reply = {};
		struct caller root = { 0, 0, true };
		struct decision d = world_decision(w);
		(void)!decide_cancel(&w->c, &r, &root, w->now, &d, &reply, NULL);
		world_commit(w, &d);
		for (uint32_t n = 0; n < NODES && (j = cluster_job(&w->c, id)) && job_is_active(j); n++) {
			struct job_clean clean = { id, j->attempt };
			d = world_decision(w);
			decide_job_clean(&w->c, n, &clean, w->now, &d);
			world_commit(w, &d);
		}
	}
	for (uint32_t i = 0; i < NODES; i++) {
		const struct node *n = cluster_node(&w->c, i);
		assert_true(bitset_empty(&n->used_cores));
		assert_int_equal(n->used_mem_mib + n->job_count + n->exclusive_job, 0);
		for (uint32_t g = 0; g < n->n_gres; g++) {
			assert_true(bitset_empty(&n->gres[g].used));
			assert_int_equal(n->gres[g].used_count, 0);
			for (uint32_t k = 0; k < n->gres[g].n_each_used; k++)
				assert_int_equal(n->gres[g].each_used[k], 0);
		}
	}
}

static void anything_may_happen(void **state)
{
	(void)state;
	void (*const moves[])(struct world *) = { submit,	submit,	   finish_something, finish_something,
						  cancel_something, step_somewhere, change_nodes, hold_or_change,
						  change_licenses,  tick };
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct world w;
		struct look looks[3] = {};
		world_init(&w, NODES, 4, 2);
		world_licenses(&w, "a:4,b:3");
		w.seed = seed * 2654435761u;
		for (int i = 0; i < STEPS; i++) {
			struct look *l = &looks[world_draw(&w, ARRAY_COUNT(looks))];
			if (world_draw(&w, 10) == 0)
				l->view ? look_end(&w, l) : look_begin(&w, l);
			if (world_draw(&w, 3) == 0)
				world_plan(&w);
			moves[world_draw(&w, ARRAY_COUNT(moves))](&w);
			if (i % 500 == 0)
				snapshot_leads_to_the_same(&w);
		}
		for (size_t i = 0; i < ARRAY_COUNT(looks); i++)
			if (looks[i].view)
				look_end(&w, &looks[i]);
		everything_comes_back(&w);
		world_done(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(anything_may_happen) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
