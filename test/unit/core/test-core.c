/* SPDX-License-Identifier: Apache-2.0 */
/* The life of jobs, one decision after the other; cluster_check runs after every event. */
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "schema/errors.h"
#include "sched/layout.h"
#include "world.h"

#include "../cm.h"

static void a_batch_job_lives_and_ends(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 4, 8, 4);
	struct job_spec spec = world_spec(2, 4, 2);
	uint32_t id = world_submit(&w, &spec, NULL);
	assert_int_equal(id, 1);
	assert_int_equal(world_plan(&w), 1);
	const struct job *j = cluster_job(&w.c, id);
	assert_int_equal(j->state, JOB_STATE_RUNNING);
	assert_string_equal(j->node_list, "n[1-2]");
	assert_string_equal(j->batch_host, "n1");
	assert_int_equal(j->ntasks, 8);
	assert_int_equal(bitset_count(&j->alloc[1].cores), 4);
	assert_int_equal(bitset_count(&j->alloc[1].gres[0].devices), 2);
	assert_int_equal(cluster_node(&w.c, 0)->used_mem_mib, 400);

	world_end_batch(&w, id, 3, true);
	j = cluster_job(&w.c, id);
	assert_int_equal(j->state, JOB_STATE_FAILED);
	assert_int_equal(j->reason, JOB_REASON_EXIT_CODE);
	assert_true(j->completing); /* the second node has not said anything yet */
	struct job_clean clean = { id, 1 };
	struct decision d = world_decision(&w);
	decide_job_clean(&w.c, 1, &clean, w.now, &d);
	world_commit(&w, &d);
	j = cluster_job(&w.c, id);
	assert_false(j->completing);
	assert_int_equal(j->exit_code, 3);
	assert_int_equal(cluster_node(&w.c, 1)->used_mem_mib, 0);
	world_done(&w);
}

static void late_words_change_nothing(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	uint32_t id = world_submit(&w, &spec, NULL);
	world_plan(&w);
	struct step_end old = { .job_id = id, .attempt = 7, .step_id = STEP_BATCH, .job_clean = true };
	struct decision d = world_decision(&w);
	decide_step_end(&w.c, 0, &old, w.now, &d);
	assert_int_equal(d.events.count, 0);
	old.attempt = 1;
	decide_step_end(&w.c, 1, &old, w.now, &d); /* from a node that has no part in it */
	assert_int_equal(cluster_job(&w.c, id)->state, JOB_STATE_RUNNING);
	decision_done(&d);
	world_end_batch(&w, id, 0, true);
	world_end_batch(&w, id, 1, true); /* heard before */
	assert_int_equal(cluster_job(&w.c, id)->state, JOB_STATE_COMPLETED);
	world_done(&w);
}

static void a_repeated_submission_is_one_job(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 0);
	static uint8_t script[] = "#!/bin/sh\n";
	struct submit_request r = { .spec = world_spec(1, 1, 0), .script = { script, 10 }, .token = 42 };
	struct submission s = { .request = &r, .caller = { 1000, 1000, false }, .user = "ann", .group = "ann" };
	uint32_t ids[2];
	for (int i = 0; i < 2; i++) {
		struct submit_reply reply = {};
		struct decision d = world_decision(&w);
		assert_int_equal(decide_submit(&w.c, &s, &d, &reply, NULL), 0);
		ids[i] = reply.job_id;
		world_commit(&w, &d);
	}
	assert_int_equal(ids[0], ids[1]);
	assert_int_equal(w.c.jobs.count, 1);
	assert_int_equal(w.c.blobs.count, 1);
	world_done(&w);
}

static void arrays_are_one_record_until_they_start(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 4, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	static char array[] = "1-9:2%3";
	spec.array = array;
	uint32_t id = world_submit(&w, &spec, NULL);
	assert_int_equal(w.c.jobs.count, 1);
	assert_int_equal(world_plan(&w), 3); /* %3 */
	assert_int_equal(w.c.jobs.count, 4);
	assert_int_equal(cluster_job(&w.c, id)->reason, JOB_REASON_ARRAY_TASK_LIMIT);
	assert_int_equal(cluster_job(&w.c, id + 1)->array_task_id, 1);
	world_end_batch(&w, id + 1, 0, true);
	world_end_batch(&w, id + 2, 0, true);
	assert_int_equal(world_plan(&w), 2);
	const struct job *last = cluster_job(&w.c, id); /* the record becomes its last task */
	assert_int_equal(last->state, JOB_STATE_RUNNING);
	assert_true(last->has_array_task_id);
	assert_int_equal(last->array_task_id, 9);
	assert_int_equal(w.c.pending.count, 0);
	world_done(&w);
}

static void one_task_of_an_array_is_cancelled(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 4, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	static char array[] = "0-4";
	spec.array = array;
	spec.hold = true;
	uint32_t id = world_submit(&w, &spec, NULL), task = 2;
	struct cancel_request r = { .filter = { .ids = &id, .n_ids = 1, .tasks = &task, .n_tasks = 1 } };
	struct caller ann = { 1000, 1000, false }, bob = { 1001, 1001, false };
	struct cancel_reply reply = {};
	struct decision d = world_decision(&w);
	assert_int_equal(decide_cancel(&w.c, &r, &bob, w.now, &d, &reply, NULL), 0);
	assert_int_equal(reply.n_failures, 1);
	assert_int_equal(d.events.count, 0);
	reply = (struct cancel_reply){};
	assert_int_equal(decide_cancel(&w.c, &r, &ann, w.now, &d, &reply, NULL), 0);
	world_commit(&w, &d);
	assert_int_equal(cluster_job(&w.c, id)->n_array_tasks, 2); /* 0-1 and 3-4 */
	assert_int_equal(cluster_job(&w.c, id + 1)->state, JOB_STATE_CANCELLED);
	assert_int_equal(cluster_job(&w.c, id + 1)->array_task_id, 2);
	world_done(&w);
}

static void a_lost_node_requeues_or_fails_its_jobs(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 3, 4, 0);
	struct job_spec spec = world_spec(2, 1, 0);
	uint32_t again = world_submit(&w, &spec, NULL);
	spec = world_spec(1, 4, 0);
	spec.has_requeue = true;
	uint32_t dies = world_submit(&w, &spec, NULL);
	assert_int_equal(world_plan(&w), 2);
	struct decision d = world_decision(&w);
	decide_node_lost(&w.c, 0, w.now, &d);
	decide_node_lost(&w.c, 2, w.now, &d);
	world_commit(&w, &d);
	assert_int_equal(cluster_job(&w.c, dies)->state, JOB_STATE_NODE_FAIL);
	assert_false(cluster_job(&w.c, dies)->completing);
	const struct job *j = cluster_job(&w.c, again);
	assert_true(j->completing); /* its second node lives and must be cleaned first */
	struct job_clean clean = { again, 1 };
	d = world_decision(&w);
	decide_job_clean(&w.c, 1, &clean, w.now, &d);
	world_commit(&w, &d);
	j = cluster_job(&w.c, again);
	assert_int_equal(j->state, JOB_STATE_PENDING);
	assert_int_equal(j->attempt, 2);
	world_done(&w);
}

static void a_boot_loses_what_ran(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 4, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	uint32_t id = world_submit(&w, &spec, NULL);
	world_plan(&w);
	world_register(&w, 0, "boot-1"); /* the same boot: the launch is repeated, nothing is lost */
	assert_int_equal(cluster_job(&w.c, id)->attempt, 1);
	world_register(&w, 0, "boot-2");
	assert_int_equal(cluster_job(&w.c, id)->attempt, 2);
	assert_int_equal(cluster_job(&w.c, id)->state, JOB_STATE_PENDING);
	world_done(&w);
}

static int try_register(struct world *w, const char *name)
{
	struct node_register request = { .name = arena_strdup(w->turn, name),
					 .facts = { .boot_id = arena_strdup(w->turn, "boot-1") } };
	struct registration r = { &request, w->now };
	struct decision d = world_decision(w);
	uint32_t index;
	int e = decide_register(&w->c, &r, &d, &index, NULL);
	world_commit(w, &d);
	return e;
}

/* No longer configured, but a job is there: the node is welcome until that is over. */
static void a_removed_node_brings_its_job_to_an_end(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 0);
	struct job_spec spec = world_spec(1, 8, 0);
	uint32_t first = world_submit(&w, &spec, NULL), second = world_submit(&w, &spec, NULL);
	assert_int_equal(world_plan(&w), 2);
	assert_string_equal(cluster_job(&w.c, second)->node_list, "n2");
	struct decision d = world_decision(&w);
	for (uint32_t i = 0; i < 2; i++)
		decision_event(&d, EVENT_NODE_REMOVED)->node_removed.node = i;
	world_commit(&w, &d);
	assert_true(cluster_node_has_work(&w.c, 1));
	assert_int_equal(try_register(&w, "n2"), 0);
	assert_int_equal(cluster_job(&w.c, second)->state, JOB_STATE_RUNNING);
	world_end_batch(&w, second, 0, true);
	assert_int_equal(cluster_job(&w.c, second)->state, JOB_STATE_COMPLETED);
	assert_false(cluster_node_has_work(&w.c, 1));
	assert_int_equal(try_register(&w, "n2"), -E_INVALID_NODE_NAME);

	d = world_decision(&w);
	decide_node_lost(&w.c, 0, w.now, &d); /* one that stays away loses its job */
	world_commit(&w, &d);
	assert_int_not_equal(cluster_job(&w.c, first)->state, JOB_STATE_RUNNING);
	assert_false(cluster_node_has_work(&w.c, 0));
	world_done(&w);
}

static void registration_compares_what_is_held(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 4, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	uint32_t id = world_submit(&w, &spec, NULL);
	world_plan(&w);
	static char name[] = "n1", boot[] = "boot-1";
	struct node_held orphan = { .job_id = 77, .attempt = 1, .step_id = STEP_BATCH };
	struct node_register q = { .name = name, .facts = { .boot_id = boot }, .held = &orphan, .n_held = 1 };
	struct registration r = { &q, w.now };
	struct decision d = world_decision(&w);
	uint32_t node;
	assert_int_equal(decide_register(&w.c, &r, &d, &node, NULL), 0);
	assert_int_equal(d.events.count, 0);
	assert_int_equal(d.effects.count, 2);
	assert_int_equal(d.effects.at[0].kind, EFFECT_LAUNCH);
	assert_int_equal(d.effects.at[0].job_id, id);
	assert_int_equal(d.effects.at[1].kind, EFFECT_TERMINATE);
	assert_int_equal(d.effects.at[1].job_id, 77);
	decision_done(&d);
	world_done(&w);
}

static uint32_t create_step(struct world *w, struct step_request *r, int *ret_error)
{
	struct step_command cmd = { .request = r, .caller = { 1000, 1000, false }, .cookie = 9, .now = w->now };
	struct decision d = world_decision(w);
	r->token = 1 + world_draw(w, 1000000);
	*ret_error = decide_step_create(&w->c, &cmd, &d, NULL);
	uint32_t id = cluster_job(&w->c, r->job_id)->next_step;
	world_commit(w, &d);
	return id;
}

static void steps_share_a_job(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 4);
	struct job_spec spec = world_spec(2, 8, 4);
	uint32_t job = world_submit(&w, &spec, NULL);
	world_plan(&w);
	static char gpu[] = "gpu";
	struct gres_request one_gpu = { .name = gpu, .count = 1 };
	struct step_request r = { .job_id = job, .has_ntasks = true, .ntasks = 2, .exact = true,
				  .gres_per_node = &one_gpu, .n_gres_per_node = 1 };
	int e;
	uint32_t a = create_step(&w, &r, &e);
	assert_int_equal(e, 0);
	const struct step *st = job_step(cluster_job(&w.c, job), a);
	assert_int_equal(st->n_alloc, 2);
	assert_int_equal(bitset_count(&st->alloc[0].cores), 1);
	uint32_t b = create_step(&w, &r, &e);
	assert_int_equal(e, 0);
	const struct job *j = cluster_job(&w.c, job);
	assert_false(bitset_intersects(&job_step(j, a)->alloc[0].cores, &job_step(j, b)->alloc[0].cores));
	assert_false(bitset_intersects(&job_step(j, a)->alloc[0].gres[0].devices,
				       &job_step(j, b)->alloc[0].gres[0].devices));
	struct step_request whole = { .job_id = job, .has_ntasks = true, .ntasks = 2 };
	create_step(&w, &whole, &e);
	assert_int_equal(e, -E_STEP_BUSY); /* wants every CPU */
	whole.overlap = true;
	create_step(&w, &whole, &e);
	assert_int_equal(e, 0);
	struct step_request big = { .job_id = job, .has_ntasks = true, .ntasks = 17, .exact = true };
	create_step(&w, &big, &e);
	assert_int_equal(e, -E_STEP_LIMIT);
	world_done(&w);
}

struct refusal {
	const char *what;
	void (*change)(struct job_spec *s);
	const char *text;
};

static char bad_partition[] = "nope", node_99[] = "n[1,99]", broken_list[] = "n[3-1]", feature[] = "warp",
	    dependency[] = "afterok:1", tpu[] = "tpu", gpu_name[] = "gpu", array_x[] = "x";
static struct gres_request tpus = { .name = tpu, .count = 1 }, nine = { .name = gpu_name, .count = 9 };

static void set_partition(struct job_spec *s) { s->partition = bad_partition; }
static void set_node(struct job_spec *s) { s->request.node_list = node_99; }
static void set_list(struct job_spec *s) { s->request.exclude = broken_list; }
static void set_feature(struct job_spec *s) { s->request.constraint = feature; }
static void set_dependency(struct job_spec *s) { s->dependency = dependency; }
static void set_array(struct job_spec *s) { s->array = array_x; }
static void set_tpu(struct job_spec *s)
{
	s->request.gres_per_node = &tpus;
	s->request.n_gres_per_node = 1;
}
static void set_nine(struct job_spec *s)
{
	s->request.gres_per_node = &nine;
	s->request.n_gres_per_node = 1;
}
static void set_cpus(struct job_spec *s)
{
	s->request.has_cpus_per_task = true;
	s->request.cpus_per_task = 64;
}
static void set_priority(struct job_spec *s)
{
	s->has_priority = true;
	s->priority = 5;
}

static void refusals_name_what_is_wrong(void **state)
{
	(void)state;
	static const struct refusal table[] = {
		{ "partition", set_partition, "Invalid partition name specified: 'nope' (there are: main, half)" },
		{ "node", set_node, "Invalid node name specified: --nodelist: there is no node 'n99'" },
		{ "hostlist", set_list, "Invalid node name specified: --exclude=n[3-1]: " },
		{ "feature", set_feature, "Invalid feature specification: --constraint: no node has 'warp'" },
		{ "dependency", set_dependency,
		  "Requested operation not supported on this system: --dependency is not built yet" },
		{ "array", set_array, "Invalid job array specification: " },
		{ "gres", set_tpu, "Invalid generic resource (gres) specification: 'tpu' is not among GresTypes (gpu,shard)" },
		{ "too many gpus", set_nine,
		  "Requested node configuration is not available: in partition main 9 gpu on a node are asked for, the "
		  "most any node has is 4" },
		{ "too many cpus", set_cpus,
		  "Requested node configuration is not available: in partition main 64 CPUs on a node are asked for, the "
		  "most any node has is 8" },
		{ "priority", set_priority, "Access/permission denied: --priority is for administrators" },
	};
	struct world w;
	world_init(&w, 4, 8, 4);
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		struct job_spec spec = world_spec(1, 1, 0);
		struct error err = {};
		table[i].change(&spec);
		assert_int_equal(world_submit(&w, &spec, &err), 0);
		if (!str_starts(err.text, table[i].text))
			fail_msg("%s: got '%s'", table[i].what, err.text);
	}
	assert_int_equal(w.c.jobs.count, 0);
	world_done(&w);
}

static void limits_make_a_job_wait_with_its_reason(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 4, 8, 0);
	struct job_spec spec = world_spec(9, 1, 0);
	uint32_t nodes = world_submit(&w, &spec, NULL);
	spec = world_spec(1, 1, 0);
	static char half[] = "half";
	spec.partition = half;
	spec.has_time_limit = true;
	spec.time_limit = 2 * USEC_PER_HOUR;
	uint32_t lasts = world_submit(&w, &spec, NULL);
	spec = world_spec(1, 1, 0);
	spec.has_begin_time = true;
	spec.begin_time = w.now + USEC_PER_HOUR;
	uint32_t later = world_submit(&w, &spec, NULL);
	assert_int_equal(world_plan(&w), 0);
	assert_int_equal(cluster_job(&w.c, nodes)->reason, JOB_REASON_PART_NODE_LIMIT);
	assert_int_equal(cluster_job(&w.c, lasts)->reason, JOB_REASON_PART_TIME_LIMIT);
	assert_int_equal(cluster_job(&w.c, later)->reason, JOB_REASON_BEGIN_TIME);
	w.now += USEC_PER_HOUR;
	assert_int_equal(world_plan(&w), 1);
	world_done(&w);
}

static void nobody_overtakes_the_head(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 0);
	struct job_spec spec = world_spec(1, 8, 0);
	world_submit(&w, &spec, NULL);
	world_plan(&w);
	spec = world_spec(2, 8, 0);
	uint32_t head = world_submit(&w, &spec, NULL);
	spec = world_spec(1, 1, 0);
	uint32_t small = world_submit(&w, &spec, NULL);
	assert_int_equal(world_plan(&w), 0);
	assert_int_equal(cluster_job(&w.c, head)->reason, JOB_REASON_RESOURCES);
	assert_int_equal(cluster_job(&w.c, small)->reason, JOB_REASON_PRIORITY);
	world_done(&w);
}

static void changes_are_all_or_nothing(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	uint32_t id = world_submit(&w, &spec, NULL);
	static char comment[] = "Comment", text[] = "a b", bogus[] = "Bogus", one[] = "1", limit[] = "TimeLimit",
		    twenty[] = "20";
	struct conf_line keys[] = { { comment, text }, { limit, twenty }, { bogus, one } };
	struct job_update u = { .filter = { .ids = &id, .n_ids = 1 }, .keys = keys, .n_keys = 3 };
	struct caller ann = { 1000, 1000, false };
	struct cancel_reply reply = {};
	struct error err = {};
	struct decision d = world_decision(&w);
	assert_true(decide_job_update(&w.c, &u, &ann, w.now, &d, &reply, &err) < 0);
	assert_int_equal(d.events.count, 0);
	u.n_keys = 2;
	assert_int_equal(decide_job_update(&w.c, &u, &ann, w.now, &d, &reply, &err), 0);
	world_commit(&w, &d);
	assert_string_equal(cluster_job(&w.c, id)->spec.comment, "a b");
	assert_int_equal(cluster_job(&w.c, id)->time_limit, 20 * USEC_PER_MIN);
	world_done(&w);
}

static void time_ends_and_forgets_jobs(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 8, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	spec.has_time_limit = true;
	spec.time_limit = USEC_PER_MIN;
	uint32_t id = world_submit(&w, &spec, NULL);
	world_plan(&w);
	assert_int_equal(cluster_next_time(&w.c), w.now + USEC_PER_MIN);
	w.now += USEC_PER_MIN;
	struct decision d = world_decision(&w);
	decide_tick(&w.c, w.now, &d);
	world_commit(&w, &d);
	assert_int_equal(cluster_job(&w.c, id)->state, JOB_STATE_TIMEOUT);
	world_end_batch(&w, id, 0, true);
	assert_int_equal(cluster_job(&w.c, id)->state, JOB_STATE_TIMEOUT);
	w.now += w.c.settings.min_job_age;
	d = world_decision(&w);
	decide_tick(&w.c, w.now, &d);
	world_commit(&w, &d);
	assert_null(cluster_job(&w.c, id));
	assert_int_equal(w.c.blobs.count, 0);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_job_lives_and_ends),
		cmocka_unit_test(late_words_change_nothing),
		cmocka_unit_test(a_repeated_submission_is_one_job),
		cmocka_unit_test(arrays_are_one_record_until_they_start),
		cmocka_unit_test(one_task_of_an_array_is_cancelled),
		cmocka_unit_test(a_lost_node_requeues_or_fails_its_jobs),
		cmocka_unit_test(a_boot_loses_what_ran),
		cmocka_unit_test(a_removed_node_brings_its_job_to_an_end),
		cmocka_unit_test(registration_compares_what_is_held),
		cmocka_unit_test(steps_share_a_job),
		cmocka_unit_test(refusals_name_what_is_wrong),
		cmocka_unit_test(limits_make_a_job_wait_with_its_reason),
		cmocka_unit_test(nobody_overtakes_the_head),
		cmocka_unit_test(changes_are_all_or_nothing),
		cmocka_unit_test(time_ends_and_forgets_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
