/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs of a node a request gets: what is set aside, what is kept for GPUs, and in which units.
 * The node has two sockets of two cores with two threads, and a GPU close to the second. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "sched/cores.h"
#include "sched/demand.h"
#include "sched/fit.h"
#include "sched/limits.h"
#include "sched/pool.h"
#include "sched/view.h"

#include "../cm.h"

#include <string.h>

struct row {
	const char *select;
	uint32_t core_spec;
	const char *cpu_spec;
	uint32_t per_gpu;
	uint32_t tasks, cpus_per_task;
	bool gpu, exclusive;
	uint32_t used;	  /* bits of CPUs that others have */
	const char *want; /* the CPUs given, "" when it does not fit */
};

static struct node make_node(const struct row *r, struct arena *a)
{
	struct node n = { .registered = true, .responding = true, .n_gres = 1, .job_count = r->used != 0 };
	n.conf = (struct node_conf){ .name = arena_strdup(a, "n"), .cpus = 8, .sockets = 2, .cores_per_socket = 2,
				     .threads_per_core = 2, .real_memory_mib = 100, .core_spec_count = r->core_spec,
				     .restricted_cores_per_gpu = r->per_gpu };
	n.conf.cpu_spec_list = r->cpu_spec ? arena_strdup(a, r->cpu_spec) : NULL;
	bitset_init_in(&n.used_cores, 8, a);
	for (uint32_t cpu = 0; cpu < 8; cpu++)
		if (r->used >> cpu & 1)
			bitset_add(&n.used_cores, cpu);
	n.gres = ARENA_NEW(a, struct node_gres);
	n.gres[0] = (struct node_gres){ .name = arena_strdup(a, "gpu"), .count = 1 };
	bitset_init_in(&n.gres[0].used, 1, a);
	bitset_init_in(&n.gres[0].cores, 8, a);
	bitset_add_range(&n.gres[0].cores, 4, 4);
	return n;
}

static void place(const struct row *row, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct node n = make_node(row, a);
	const struct node *nodes[] = { &n };
	struct gres_request gpu = { .name = arena_strdup(a, "gpu"), .count = 1 };
	struct resource_request r = { .nodes_min = 1, .has_ntasks = true, .ntasks = row->tasks,
				      .has_cpus_per_task = true, .cpus_per_task = row->cpus_per_task,
				      .has_mem_per_node_mib = true, .mem_per_node_mib = 1, .gres_per_node = &gpu,
				      .n_gres_per_node = row->gpu,
				      .exclusive = row->exclusive ? EXCLUSIVE_KIND_NODE : EXCLUSIVE_KIND_NO };
	struct sched_view v = { .nodes = nodes, .node_count = 1 };
	struct partition p = { .conf.name = arena_strdup(a, "p") };
	struct fit_scope scope = { .nodes = &p.nodes };
	struct demand d;
	struct pool pool;
	struct fit fit = {};
	bitset_init_in(&p.nodes, 1, a);
	bitset_fill(&p.nodes);
	assert_int_equal(select_rules_parse(row->select, &v.select, NULL), 0);
	assert_int_equal(demand_from(&r, &d, NULL), 0);
	limits_bind(&v, &p, &d);
	pool_init(&pool, &v, false, a);
	if (fit_find(&pool, &d, &scope, a, &fit) == FIT_OK)
		for (uint32_t cpu = 0; cpu < 8; cpu++)
			if (bitset_has(&fit.alloc[0].cores, cpu))
				buf_printf(out, "%u", cpu);
	pool_done(&pool);
}

static void gives_the_right_cpus(void **state)
{
	(void)state;
	static const struct row rows[] = {
		/* units */
		{ "", .tasks = 1, .cpus_per_task = 1, .want = "01" },
		{ "", .tasks = 2, .cpus_per_task = 1, .want = "01" },
		{ "CR_CPU_Memory", .tasks = 1, .cpus_per_task = 1, .want = "0" },
		{ "CR_CPU_Memory", .tasks = 3, .cpus_per_task = 1, .want = "014" },
		{ "CR_CPU_Memory", .tasks = 1, .cpus_per_task = 7, .used = 0x01, .want = "1234567" },
		{ "CR_Socket_Memory", .tasks = 1, .cpus_per_task = 1, .want = "0123" },
		{ "CR_Socket_Memory", .tasks = 5, .cpus_per_task = 1, .want = "01234567" },
		{ "CR_Socket_Memory", .tasks = 1, .cpus_per_task = 1, .gpu = true, .want = "4567" },
		{ "CR_Socket_Memory", .tasks = 1, .cpus_per_task = 1, .used = 0x01, .want = "4567" },
		{ "CR_Socket_Memory", .tasks = 1, .cpus_per_task = 5, .used = 0x01, .want = "" },
		{ "CR_Core_Memory,CR_ONE_TASK_PER_CORE", .tasks = 2, .cpus_per_task = 1, .want = "0145" },
		/* a thread that somebody has keeps its core */
		{ "", .tasks = 1, .cpus_per_task = 1, .used = 0x02, .want = "23" },
		{ "", .tasks = 1, .cpus_per_task = 8, .used = 0x02, .want = "" },
		/* set aside */
		{ "", .core_spec = 1, .tasks = 1, .cpus_per_task = 1, .exclusive = true, .want = "012345" },
		{ "", .core_spec = 2, .tasks = 1, .cpus_per_task = 1, .exclusive = true, .want = "0145" },
		{ "", .core_spec = 3, .tasks = 1, .cpus_per_task = 1, .exclusive = true, .want = "01" },
		{ "", .core_spec = 1, .tasks = 1, .cpus_per_task = 7, .want = "" },
		{ "", .cpu_spec = "0,5", .tasks = 1, .cpus_per_task = 4, .want = "2367" },
		{ "", .cpu_spec = "0,5", .tasks = 1, .cpus_per_task = 5, .want = "" },
		/* kept for those with GPUs */
		{ "", .per_gpu = 1, .tasks = 1, .cpus_per_task = 6, .want = "012345" },
		{ "", .per_gpu = 1, .tasks = 1, .cpus_per_task = 7, .want = "" },
		{ "", .per_gpu = 1, .tasks = 1, .cpus_per_task = 8, .gpu = true, .want = "01234567" },
		{ "", .per_gpu = 2, .tasks = 4, .cpus_per_task = 1, .want = "0123" },
		{ "CR_CPU", .per_gpu = 1, .tasks = 6, .cpus_per_task = 1, .want = "012345" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_BUF struct buf out = {};
		place(&rows[i], &out);
		if (!str_eq(buf_text(&out), rows[i].want))
			fail_msg("row %zu: have '%s', want '%s'", i, buf_text(&out), rows[i].want);
	}
}

static void counts_what_jobs_may_use(void **state)
{
	(void)state;
	static const struct {
		struct row row;
		uint32_t want;
	} rows[] = { { { .core_spec = 0 }, 8 }, { { .core_spec = 1 }, 6 }, { { .cpu_spec = "0-2" }, 4 }, { { .core_spec = 9 }, 0 } };
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct node n = make_node(&rows[i].row, a);
		assert_int_equal(node_job_cpus(&n), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_right_cpus),
		cmocka_unit_test(counts_what_jobs_may_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
