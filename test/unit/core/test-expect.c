/* SPDX-License-Identifier: Apache-2.0 */
/* --test-only keeps its word: what it says is what the planner does, now or when the jobs in the way have
 * come to their limits. */
#include "../cm.h"

#include "world.h"

#include "base/error.h"
#include "base/str.h"

#include <string.h>

static int ask(struct world *w, const struct job_spec *spec, struct arena *a, struct submit_reply *ret)
{
	struct submit_request request = { .spec = *spec, .test_only = true };
	struct submission s = { .request = &request, .caller = { 1000, 1000, false }, .user = "ann",
				.group = "ann", .now = w->now };
	struct error err = {};
	struct decision d;
	decision_init(&d, a);
	int r = decide_submit(&w->c, &s, &d, ret, &err);
	assert_int_equal(d.events.count, 0);
	decision_done(&d);
	return r;
}

static struct job_spec draw_spec(struct world *w)
{
	struct job_spec spec = world_spec(1 + (uint32_t)world_draw(w, 3), 1 + (uint32_t)world_draw(w, 4),
					  (uint32_t)world_draw(w, 4));
	spec.has_time_limit = true;
	spec.time_limit = (1 + (usec_t)world_draw(w, 9)) * USEC_PER_HOUR;
	return spec;
}

static void end_until(struct world *w, usec_t time)
{
	uint32_t ids[64], count = 0;
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&w->c.active, &i)) && count < 64;)
		if (e->job.end_time <= time)
			ids[count++] = e->job.id;
	w->now = time;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t nodes[16], n = 0;
		const struct job *j = cluster_job(&w->c, ids[i]);
		for (uint32_t k = 1; k < j->n_alloc; k++)
			nodes[n++] = j->alloc[k].node;
		world_end_batch(w, ids[i], 0, true);
		struct job_clean clean = { ids[i], 1 };
		for (uint32_t k = 0; k < n; k++) {
			struct decision d = world_decision(w);
			decide_job_clean(&w->c, nodes[k], &clean, w->now, &d);
			world_commit(w, &d);
		}
	}
}

static void assert_started_as_told(struct world *w, const struct job_spec *spec, const struct submit_reply *told)
{
	struct error err = {};
	uint32_t id = world_submit(w, spec, &err);
	assert_int_equal(id, told->job_id);
	assert_int_equal(world_plan(w), 1);
	const struct job *j = cluster_job(&w->c, id);
	assert_string_equal(j->node_list, told->node_list);
	assert_string_equal(j->partition, told->partition);
	assert_int_equal(j->n_alloc, told->n_alloc);
	assert_int_equal(j->ntasks, told->ntasks);
	assert_int_equal(j->cpus_per_task, told->cpus_per_task);
	for (uint32_t i = 0; i < j->n_alloc; i++)
		assert_true(record_equal(&node_alloc_record, &j->alloc[i], &told->alloc[i]));
}

static void the_planner_does_what_was_said(void **state)
{
	(void)state;
	uint32_t now = 0, later = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct world w;
		world_init(&w, 4, 8, 4);
		w.seed = seed * 7919;
		for (uint32_t n = 2 + (uint32_t)world_draw(&w, 6); n > 0; n--) {
			struct job_spec other = draw_spec(&w);
			world_submit(&w, &other, NULL);
		}
		while (world_plan(&w) > 0)
			continue;
		/* Those that still wait would come first; the question is about running jobs. */
		while (w.c.pending.count) {
			struct decision d = world_decision(&w);
			struct cancel_request r = { .filter.ids = &w.c.pending.at[0].id, .filter.n_ids = 1 };
			struct cancel_reply reply = {};
			struct caller root = { 0, 0, true };
			assert_int_equal(decide_cancel(&w.c, &r, &root, w.now, &d, &reply, NULL), 0);
			world_commit(&w, &d);
		}
		struct job_spec spec = draw_spec(&w);
		struct submit_reply told = {};
		assert_int_equal(ask(&w, &spec, a, &told), 0);
		assert_true(told.start_time >= w.now);
		now += told.start_time == w.now;
		later += told.start_time > w.now;
		if (told.start_time > w.now) {
			assert_non_null(told.why);
			end_until(&w, told.start_time);
		}
		assert_started_as_told(&w, &spec, &told);
		world_done(&w);
	}
	assert_true(now > 20 && later > 20); /* both were looked at */
}

static void reasons(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct world w;
	world_init(&w, 2, 8, 4);
	struct job_spec spec = world_spec(2, 8, 0);
	struct submit_reply told = {};
	assert_int_equal(ask(&w, &spec, a, &told), 0);
	assert_int_equal(told.start_time, w.now);
	assert_null(told.why);

	spec.has_begin_time = true;
	spec.begin_time = w.now + USEC_PER_HOUR;
	told = (struct submit_reply){};
	assert_int_equal(ask(&w, &spec, a, &told), 0);
	assert_int_equal(told.start_time, w.now + USEC_PER_HOUR);
	assert_non_null(strstr(told.why, "--begin"));

	spec.has_begin_time = false;
	spec.hold = true;
	told = (struct submit_reply){};
	assert_int_equal(ask(&w, &spec, a, &told), 0);
	assert_int_equal(told.start_time, 0);
	assert_non_null(strstr(told.why, "--hold"));

	spec.hold = false;
	assert_true(world_submit(&w, &spec, NULL));
	assert_int_equal(world_plan(&w), 1);
	told = (struct submit_reply){};
	assert_int_equal(ask(&w, &spec, a, &told), 0);
	assert_int_equal(told.start_time, 0);
	assert_non_null(strstr(told.why, "without a time limit"));

	spec = world_spec(1, 9, 0);
	assert_true(ask(&w, &spec, a, &told) < 0);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_planner_does_what_was_said),
		cmocka_unit_test(reasons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
