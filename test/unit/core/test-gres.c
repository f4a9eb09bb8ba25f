/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of GPUs in the hands of the owner of the state: a start that is no longer possible is dropped,
 * steps divide what their job has, and everything comes back. */
#include "base/error.h"
#include "base/str.h"
#include "sched/layout.h"
#include "schema/errors.h"
#include "world.h"

#include "../cm.h"

#include <errno.h>

static char shard[] = "shard", gpu[] = "gpu", h100[] = "h100";

static uint32_t submit(struct world *w, char *name, uint64_t count)
{
	struct gres_request some = { .name = name, .count = count };
	struct job_spec s = world_spec(1, 1, 0);
	struct error err = {};
	s.request.gres_per_node = &some;
	s.request.n_gres_per_node = 1;
	uint32_t id = world_submit(w, &s, &err);
	if (!id)
		fail_msg("%s", err.text);
	return id;
}

static const struct node_gres *kind(const struct world *w, const char *name)
{
	const struct node *n = cluster_node(&w->c, 0);
	for (uint32_t i = 0; i < n->n_gres; i++)
		if (str_eq(n->gres[i].name, name))
			return &n->gres[i];
	return NULL;
}

/* A proposal for `job` on the only node: one CPU, and `count` of the resource of one GPU. */
static int propose(struct world *w, uint32_t job, uint32_t cpu, char *name, uint32_t device, uint64_t count)
{
	struct arena *pass = arena_new();
	struct gres_alloc g = { .name = name, .type = h100, .count = count };
	struct node_alloc alloc = { .node = 0, .mem_mib = 1, .gres = &g, .n_gres = 1, .tasks = 1 };
	bitset_init_in(&g.devices, 2, pass);
	bitset_add(&g.devices, device);
	bitset_init_in(&alloc.cores, 8, pass);
	bitset_add(&alloc.cores, cpu);
	struct plan_start p = { .job_id = job, .partition = "main", .fit = { &alloc, 1, 1 }, .cpus_per_task = 1 };
	struct decision d = world_decision(w);
	int e = decide_start(&w->c, &p, 1, w->now, &d);
	world_commit(w, &d);
	arena_free(pass);
	return e;
}

static void starts_are_checked_again(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 8, 2);
	uint32_t jobs[7];
	for (uint32_t i = 0; i < 7; i++)
		jobs[i] = submit(&w, i % 2 ? gpu : shard, 1);
	assert_int_equal(propose(&w, jobs[0], 0, shard, 0, 3), 0);
	assert_int_equal(propose(&w, jobs[1], 1, gpu, 0, 1), -ESTALE); /* it is shared meanwhile */
	assert_int_equal(propose(&w, jobs[2], 1, shard, 0, 2), -ESTALE); /* one part is left */
	assert_int_equal(propose(&w, jobs[2], 1, shard, 0, 1), 0);
	assert_int_equal(propose(&w, jobs[3], 2, gpu, 1, 1), 0);
	assert_int_equal(propose(&w, jobs[4], 3, shard, 1, 1), -ESTALE); /* it is given out whole */
	assert_int_equal(kind(&w, "shard")->each_used[0], 4);
	assert_int_equal(kind(&w, "shard")->used_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		if (cluster_job(&w.c, jobs[i])->state == JOB_STATE_RUNNING)
			world_end_batch(&w, jobs[i], 0, true);
	assert_int_equal(kind(&w, "shard")->each_used[0] + kind(&w, "shard")->used_count, 0);
	assert_true(bitset_empty(&kind(&w, "gpu")->used));
	world_done(&w);
}

static int step(struct world *w, uint32_t job, uint64_t parts, bool overlap)
{
	struct gres_request some = { .name = shard, .count = parts };
	struct step_request r = { .job_id = job, .has_ntasks = true, .ntasks = 1, .exact = true, .overlap = overlap,
				  .gres_per_node = &some, .n_gres_per_node = parts != 0,
				  .token = 1 + world_draw(w, 1u << 30) };
	struct step_command cmd = { .request = &r, .caller = { 1000, 1000, false }, .now = w->now };
	struct decision d = world_decision(w);
	int e = decide_step_create(&w->c, &cmd, &d, NULL);
	if (e < 0)
		vec_clear(&d.events);
	world_commit(w, &d);
	return e;
}

static void end_step(struct world *w, uint32_t job, uint32_t id)
{
	struct step_end end = { .job_id = job, .attempt = 1, .step_id = id };
	struct decision d = world_decision(w);
	decide_step_end(&w->c, 0, &end, w->now, &d);
	world_commit(w, &d);
}

static void steps_divide_the_parts(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 8, 2);
	struct gres_request some = { .name = shard, .count = 3 };
	struct job_spec s = world_spec(1, 4, 0);
	s.request.gres_per_node = &some;
	s.request.n_gres_per_node = 1;
	uint32_t job = world_submit(&w, &s, NULL);
	assert_int_equal(world_plan(&w), 1);
	assert_int_equal(step(&w, job, 4, false), -E_INVALID_GRES);
	assert_int_equal(step(&w, job, 2, false), 0);
	assert_int_equal(step(&w, job, 2, false), -E_STEP_BUSY);
	assert_int_equal(step(&w, job, 0, false), -E_STEP_BUSY); /* names none, wants all */
	assert_int_equal(step(&w, job, 1, false), 0);
	assert_int_equal(step(&w, job, 3, true), 0); /* --overlap */
	end_step(&w, job, 0);
	assert_int_equal(step(&w, job, 2, false), 0);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(starts_are_checked_again),
					    cmocka_unit_test(steps_divide_the_parts) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
