/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a job out or makes it wait beside free nodes: licences and the limits of partitions. */
#include "base/error.h"
#include "base/str.h"
#include "schema/errors.h"
#include "world.h"

#include "../cm.h"

#include <string.h>

static uint32_t submit_with(struct world *w, const char *licenses, struct error *err)
{
	struct job_spec spec = world_spec(1, 1, 0);
	spec.request.licenses = arena_strdup(w->turn, licenses);
	return world_submit(w, &spec, err);
}

static void licenses_are_taken_and_given_back(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 4, 8, 0);
	world_licenses(&w, "a:3,b:1");
	uint32_t first = submit_with(&w, "a:2,b", NULL), second = submit_with(&w, "a:2", NULL);
	struct job_spec plain = world_spec(4, 4, 0);
	uint32_t third = world_submit(&w, &plain, NULL);
	assert_int_equal(world_plan(&w), 2); /* the one that waits for licences keeps no nodes */
	assert_string_equal(cluster_job(&w.c, first)->licenses_alloc, "a:2,b:1");
	assert_int_equal(cluster_license(&w.c, "a")->used, 2);
	assert_int_equal(cluster_job(&w.c, second)->reason, JOB_REASON_LICENSES);
	assert_int_equal(cluster_job(&w.c, third)->state, JOB_STATE_RUNNING);
	world_end_batch(&w, first, 0, false);
	assert_int_equal(cluster_license(&w.c, "a")->used, 2); /* something of it may still run */
	world_end_batch(&w, first, 0, true);
	struct job_clean clean = { first, 1 };
	struct decision d = world_decision(&w);
	decide_job_clean(&w.c, cluster_job(&w.c, first)->alloc[0].node, &clean, w.now, &d);
	world_commit(&w, &d);
	assert_int_equal(cluster_license(&w.c, "a")->used, 0);
	assert_int_equal(world_plan(&w), 1);
	assert_int_equal(cluster_license(&w.c, "a")->used, 2);
	world_done(&w);
}

static void of_alternatives_the_free_one_is_taken(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 4, 8, 0);
	world_licenses(&w, "a:1,b:2");
	uint32_t ids[4];
	for (int i = 0; i < 4; i++)
		ids[i] = submit_with(&w, "a|b", NULL);
	assert_int_equal(world_plan(&w), 3);
	assert_string_equal(cluster_job(&w.c, ids[0])->licenses_alloc, "a:1");
	assert_string_equal(cluster_job(&w.c, ids[1])->licenses_alloc, "b:1");
	assert_int_equal(cluster_job(&w.c, ids[3])->reason, JOB_REASON_LICENSES);
	world_done(&w);
}

static void impossible_licenses_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *asked, *text;
	} rows[] = {
		{ "c", "Invalid license specification: there is no license 'c'" },
		{ "a:4", "Invalid license specification: 4 of license 'a' asked for, there are 3" },
		{ "a:4|b:2", "Invalid license specification: 2 of license 'b' asked for, there are 1" },
		{ "a|c", "Invalid license specification: there is no license 'c'" },
		{ "a:x", "Invalid license specification: license 'a': 'x' is no count, want name:count" },
	};
	struct world w;
	world_init(&w, 1, 8, 0);
	world_licenses(&w, "a:3,b:1");
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct error err = {};
		assert_int_equal(submit_with(&w, rows[i].asked, &err), 0);
		assert_int_equal(err.code, -E_INVALID_LICENSES);
		assert_string_equal(err.text, rows[i].text);
	}
	assert_int_not_equal(submit_with(&w, "a:4|b", NULL), 0);
	world_done(&w);
}

/* A total that is lowered under running jobs takes nothing from them and lets no other start. */
static void totals_may_change_under_jobs(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 4, 8, 0);
	world_licenses(&w, "a:3");
	uint32_t first = submit_with(&w, "a:3", NULL), second = submit_with(&w, "a:1", NULL);
	world_plan(&w);
	world_licenses(&w, "a:2");
	assert_int_equal(cluster_license(&w.c, "a")->used, 3);
	assert_int_equal(world_plan(&w), 0);
	world_end_batch(&w, first, 0, true);
	assert_int_equal(world_plan(&w), 1);
	assert_int_equal(cluster_job(&w.c, second)->state, JOB_STATE_RUNNING);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(licenses_are_taken_and_given_back),
		cmocka_unit_test(of_alternatives_the_free_one_is_taken),
		cmocka_unit_test(impossible_licenses_are_refused),
		cmocka_unit_test(totals_may_change_under_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
