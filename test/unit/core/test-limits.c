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

/* ---- limits of partitions ------------------------------------------------------------------------ */

struct limit_row {
	struct partition_conf conf;
	struct job_spec spec; /* on top of one node with one task */
	enum job_reason reason;
	const char *text; /* with EnforcePartLimits */
};

#define TEXT(s) ((char[]){ s })

static struct job_spec merged(const struct job_spec *more)
{
	struct job_spec s = world_spec(more->request.nodes_min ? more->request.nodes_min : 1, 1, 0);
	s.account = more->account;
	s.qos = more->qos;
	s.has_time_limit = more->has_time_limit;
	s.time_limit = more->time_limit;
	s.request.has_mem_per_node_mib = more->request.has_mem_per_node_mib;
	s.request.mem_per_node_mib = more->request.mem_per_node_mib;
	return s;
}

static void limits_wait_or_refuse(void **state)
{
	(void)state;
	const struct limit_row rows[] = {
		{ { .max_nodes = 1 }, { .request.nodes_min = 2 }, JOB_REASON_PART_NODE_LIMIT,
		  "Node count specification invalid: partition main allows 1 nodes, 2 are asked for" },
		{ { .min_nodes = 2 }, {}, JOB_REASON_PART_NODE_LIMIT,
		  "Node count specification invalid: partition main is for jobs of at least 2 nodes, at most 1 are asked "
		  "for" },
		{ {}, { .request.nodes_min = 5 }, JOB_REASON_PART_NODE_LIMIT,
		  "Node count specification invalid: partition main allows 4 nodes, 5 are asked for" },
		{ { .max_time = USEC_PER_HOUR }, { .has_time_limit = true, .time_limit = 2 * USEC_PER_HOUR },
		  JOB_REASON_PART_TIME_LIMIT,
		  "Requested time limit is invalid (missing or exceeds some limit): partition main allows 60 minutes" },
		{ { .has_max_mem_per_node_mib = true, .max_mem_per_node_mib = 200 },
		  { .request.has_mem_per_node_mib = true, .request.mem_per_node_mib = 300 }, JOB_REASON_MAX_MEM_PER_LIMIT,
		  "Memory required by task is not available: partition main allows 200 MiB on each node, 300 are asked for" },
		{ { .allow_accounts = TEXT("ml,bio") }, { .account = TEXT("fun") }, JOB_REASON_ACCOUNT_NOT_ALLOWED,
		  "Invalid account or account/partition combination specified: partition main does not take jobs of account "
		  "fun" },
		{ { .deny_accounts = TEXT("fun") }, { .account = TEXT("fun") }, JOB_REASON_ACCOUNT_NOT_ALLOWED,
		  "Invalid account or account/partition combination specified: partition main does not take jobs of account "
		  "fun" },
		{ { .allow_qos = TEXT("high") }, {}, JOB_REASON_QOS_NOT_ALLOWED,
		  "Invalid qos specification: partition main does not take jobs of no QOS" },
		{ { .allow_accounts = TEXT("ALL"), .deny_accounts = TEXT("x"), .allow_qos = TEXT("high") },
		  { .account = TEXT("fun"), .qos = TEXT("HIGH") }, JOB_REASON_NONE, NULL },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct world w;
		struct error err = {};
		world_init(&w, 4, 8, 0);
		world_partition(&w, "main", rows[i].conf);
		struct job_spec spec = merged(&rows[i].spec);
		uint32_t id = world_submit(&w, &spec, &err);
		if (!id)
			fail_msg("row %zu: %s", i, err.text);
		assert_int_equal(world_plan(&w), rows[i].reason == JOB_REASON_NONE);
		assert_int_equal(cluster_job(&w.c, id)->reason, rows[i].reason);
		w.c.settings.enforce_part_limits = ENFORCE_ALL;
		assert_int_equal(world_submit(&w, &spec, &err) == 0, rows[i].text != NULL);
		if (rows[i].text)
			assert_string_equal(err.text, rows[i].text);
		world_done(&w);
	}
}

static void lists_of_partitions_are_refused_as_enforced(void **state)
{
	(void)state;
	static char list[] = "half,main";
	struct world w;
	world_init(&w, 4, 8, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	spec.partition = list;
	spec.has_time_limit = true;
	spec.time_limit = 2 * USEC_PER_HOUR; /* "half" allows one */
	w.c.settings.enforce_part_limits = ENFORCE_ANY;
	assert_int_not_equal(world_submit(&w, &spec, NULL), 0);
	assert_int_equal(world_plan(&w), 1); /* in the other one */
	w.c.settings.enforce_part_limits = ENFORCE_ALL;
	assert_int_equal(world_submit(&w, &spec, NULL), 0);
	world_done(&w);
}

static void some_jobs_never_enter(void **state)
{
	(void)state;
	const struct {
		struct partition_conf conf;
		uint32_t uid;
		const char *text;
	} rows[] = {
		{ { .req_resv = true }, 0, "Access/permission denied: partition main is for jobs with --reservation" },
		{ { .root_only = true }, 0, "Access/permission denied: partition main is for root alone" },
		{ { .alloc_nodes = TEXT("login[1-2]") }, 0,
		  "Access/permission denied: partition main takes jobs from login[1-2], not from n1" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		static char host[] = "n1";
		struct world w;
		struct error err = {};
		world_init(&w, 1, 8, 0);
		world_partition(&w, "main", rows[i].conf);
		struct job_spec spec = world_spec(1, 1, 0);
		spec.submit_host = host;
		assert_int_equal(world_submit(&w, &spec, &err), 0);
		assert_string_equal(err.text, rows[i].text);
		world_done(&w);
	}
}

/* ---- defaults ------------------------------------------------------------------------------------ */

static void defaults_go_by_gpu_and_memory(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 4);
	world_partition(&w, "main", (struct partition_conf){ .has_def_cpu_per_gpu = true, .def_cpu_per_gpu = 3,
							     .has_def_mem_per_gpu_mib = true, .def_mem_per_gpu_mib = 700 });
	struct job_spec spec = world_spec(1, 1, 2);
	uint32_t id = world_submit(&w, &spec, NULL);
	assert_int_equal(world_plan(&w), 1);
	const struct job *j = cluster_job(&w.c, id);
	assert_int_equal(bitset_count(&j->alloc[0].cores), 6);
	assert_int_equal(j->alloc[0].mem_mib, 1400);
	spec = world_spec(1, 1, 0); /* without GPUs the cluster's default holds */
	id = world_submit(&w, &spec, NULL);
	assert_int_equal(cluster_job(&w.c, id)->spec.request.mem_per_cpu_mib, 100);
	world_done(&w);
}

static void memory_beyond_a_cpus_share_takes_more_cpus(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 1, 8, 0);
	world_partition(&w, "main", (struct partition_conf){ .has_max_mem_per_cpu_mib = true, .max_mem_per_cpu_mib = 100 });
	struct job_spec spec = world_spec(1, 1, 0);
	spec.request.has_mem_per_cpu_mib = true;
	spec.request.mem_per_cpu_mib = 250;
	uint32_t id = world_submit(&w, &spec, NULL);
	const struct resource_request *r = &cluster_job(&w.c, id)->spec.request;
	assert_int_equal(r->cpus_per_task, 3);
	assert_int_equal(r->mem_per_cpu_mib, 84);
	spec = world_spec(1, 1, 0);
	spec.request.has_mem_per_node_mib = true;
	spec.request.mem_per_node_mib = 350;
	id = world_submit(&w, &spec, NULL);
	assert_int_equal(cluster_job(&w.c, id)->spec.request.mincpus, 4);
	assert_int_equal(world_plan(&w), 2);
	assert_int_equal(bitset_count(&cluster_job(&w.c, id)->alloc[0].cores), 4);
	world_done(&w);
}

/* ---- sharing ------------------------------------------------------------------------------------- */

static uint32_t submit_as(struct world *w, uint32_t uid, enum exclusive_kind kind)
{
	struct job_spec spec = world_spec(1, 1, 0);
	spec.request.exclusive = kind;
	w->uid = uid;
	return world_submit(w, &spec, NULL);
}

static void a_user_may_want_nodes_without_others(void **state)
{
	(void)state;
	struct world w;
	world_init(&w, 2, 8, 0);
	uint32_t ann = submit_as(&w, 1000, EXCLUSIVE_KIND_USER);
	uint32_t bob = submit_as(&w, 1001, EXCLUSIVE_KIND_NO), ann2 = submit_as(&w, 1000, EXCLUSIVE_KIND_NO);
	assert_int_equal(world_plan(&w), 3); /* in one pass */
	assert_int_not_equal(cluster_job(&w.c, ann)->alloc[0].node, cluster_job(&w.c, bob)->alloc[0].node);
	assert_int_equal(cluster_node(&w.c, cluster_job(&w.c, ann)->alloc[0].node)->owner_uid, 1000);
	uint32_t cid = submit_as(&w, 1002, EXCLUSIVE_KIND_USER);
	assert_int_equal(world_plan(&w), 0); /* every node has somebody else on it */
	assert_int_equal(cluster_job(&w.c, cid)->reason, JOB_REASON_RESOURCES);
	world_end_batch(&w, bob, 0, true);
	world_end_batch(&w, ann2, 0, true);
	assert_int_equal(world_plan(&w), 1);
	world_done(&w);
}

static void partitions_say_how_nodes_are_shared(void **state)
{
	(void)state;
	const struct {
		struct partition_conf conf;
		uint32_t uids[3], started;
	} rows[] = {
		{ { .exclusive = EXCLUSIVE_KIND_NODE }, { 1000, 1000, 1000 }, 1 },
		{ { .oversubscribe = TEXT("EXCLUSIVE") }, { 1000, 1000, 1000 }, 1 },
		{ { .exclusive = EXCLUSIVE_KIND_USER }, { 1000, 1001, 1000 }, 1 },
		{ { .exclusive = EXCLUSIVE_KIND_USER }, { 1000, 1000, 1000 }, 3 },
		{ { .max_cpus_per_node = 2 }, { 1000, 1000, 1000 }, 2 },
		{ { .max_cpus_per_socket = 1 }, { 1000, 1000, 1000 }, 2 },
		{ {}, { 1000, 1001, 1002 }, 3 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct world w;
		world_init(&w, 1, 8, 0);
		world_partition(&w, "main", rows[i].conf);
		for (int k = 0; k < 3; k++)
			assert_int_not_equal(submit_as(&w, rows[i].uids[k], EXCLUSIVE_KIND_NO), 0);
		uint32_t started = world_plan(&w);
		started += world_plan(&w); /* from what runs now, not from what was just planned */
		if (started != rows[i].started)
			fail_msg("row %zu: %u started", i, started);
		world_done(&w);
	}
}

static void specialised_cores_need_leave(void **state)
{
	(void)state;
	struct world w;
	struct error err = {};
	world_init(&w, 1, 8, 0);
	struct job_spec spec = world_spec(1, 1, 0);
	spec.request.has_core_spec = true;
	spec.request.core_spec = 2;
	assert_int_equal(world_submit(&w, &spec, &err), 0);
	assert_string_equal(err.text, "Requested operation not supported on this system: --core-spec needs "
				      "AllowSpecResourcesUsage=YES");
	w.c.settings.allow_spec = true;
	uint32_t id = world_submit(&w, &spec, NULL);
	assert_int_equal(world_plan(&w), 1);
	const struct job *j = cluster_job(&w.c, id);
	assert_int_equal(bitset_count(&j->alloc[0].cores), 6); /* all but the last of each socket */
	assert_false(bitset_has(&j->alloc[0].cores, 3) || bitset_has(&j->alloc[0].cores, 7));
	assert_int_equal(j->exclusive, EXCLUSIVE_KIND_NODE);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(licenses_are_taken_and_given_back),
		cmocka_unit_test(of_alternatives_the_free_one_is_taken),
		cmocka_unit_test(impossible_licenses_are_refused),
		cmocka_unit_test(totals_may_change_under_jobs),
		cmocka_unit_test(limits_wait_or_refuse),
		cmocka_unit_test(lists_of_partitions_are_refused_as_enforced),
		cmocka_unit_test(some_jobs_never_enter),
		cmocka_unit_test(defaults_go_by_gpu_and_memory),
		cmocka_unit_test(memory_beyond_a_cpus_share_takes_more_cpus),
		cmocka_unit_test(a_user_may_want_nodes_without_others),
		cmocka_unit_test(partitions_say_how_nodes_are_shared),
		cmocka_unit_test(specialised_cores_need_leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
