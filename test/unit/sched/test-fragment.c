/* SPDX-License-Identifier: Apache-2.0 */
/* What is lost to whom: devices without cores, and holes smaller than what is wanted. */
#include "base/arena.h"
#include "sched/demand.h"
#include "sched/fit.h"
#include "sched/fragment.h"
#include "sched/pool.h"
#include "sched/view.h"

#include "../cm.h"

static char gpu[] = "gpu";

static struct resource_request request(struct gres_request *g, uint64_t gpus, uint32_t cpus)
{
	*g = (struct gres_request){ .name = gpu, .count = gpus };
	return (struct resource_request){ .nodes_min = 1, .nodes_max = 1, .has_ntasks = true, .ntasks = 1,
					  .has_cpus_per_task = true, .cpus_per_task = cpus, .has_mem_per_node_mib = true,
					  .mem_per_node_mib = 1, .gres_per_node = g, .n_gres_per_node = gpus ? 1 : 0 };
}

static void add(struct mix *m, uint64_t gpus, uint32_t cpus, double times)
{
	struct gres_request g;
	struct resource_request r = request(&g, gpus, cpus);
	struct demand d;
	assert_int_equal(demand_from(&r, &d, NULL), 0);
	mix_add(m, &d, times);
}

static void fragments_by_hand(void **state)
{
	(void)state;
	struct mix m = {};
	add(&m, 1, 4, 4); /* four GPUs wanted one by one */
	add(&m, 4, 4, 1); /* and four together */
	add(&m, 0, 9, 50); /* CPU jobs miss no device */
	assert_int_equal(m.count, 2);
	static const struct {
		uint64_t devices;
		uint32_t cpus;
		double lost;
	} table[] = {
		{ 8, 64, 0 },   /* everybody can use it */
		{ 3, 64, 1.5 }, /* half of what is wanted cannot use three */
		{ 8, 3, 8 },    /* no cores for anybody */
		{ 0, 64, 0 },   /* nothing to lose */
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++)
		assert_true(mix_fragment(&m, table[i].devices, table[i].cpus, 1000) == table[i].lost);
}

static const struct node *make_node(uint32_t index, uint32_t used_gpus, struct arena *a)
{
	struct node *n = ARENA_NEW(a, struct node);
	n->index = index;
	n->shape = 1;
	n->registered = n->responding = true;
	n->conf = (struct node_conf){ .name = arena_printf(a, "n%u", index), .cpus = 16, .threads_per_core = 1,
				      .real_memory_mib = 1000, .weight = 1 };
	n->n_gres = 1;
	n->gres = ARENA_NEW(a, struct node_gres);
	n->gres[0] = (struct node_gres){ .name = gpu, .count = 8 };
	bitset_init_in(&n->gres[0].used, 8, a);
	bitset_add_range(&n->gres[0].used, 0, used_gpus);
	bitset_init_in(&n->used_cores, 16, a);
	n->job_count = used_gpus > 0;
	return n;
}

/* Node 0 has five free, node 1 has four: the tightest fit for one would break up the four. */
static void a_whole_group_is_spared(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	const struct node *nodes[] = { make_node(0, 3, a), make_node(1, 4, a) };
	struct sched_view v = { .nodes = nodes, .node_count = 2 };
	struct gres_request g;
	struct resource_request r = request(&g, 1, 1);
	struct demand d;
	struct bitset all;
	bitset_init_in(&all, 2, a);
	bitset_fill(&all);
	struct fit_scope scope = { .nodes = &all };
	assert_int_equal(demand_from(&r, &d, NULL), 0);
	for (int known = 0; known < 2; known++) {
		struct mix m = {};
		struct pool pool;
		struct fit fit = {};
		add(&m, 4, 1, 3);
		pool_init(&pool, &v, false, a);
		pool.mix = known ? &m : NULL;
		assert_int_equal(fit_find(&pool, &d, &scope, a, &fit), FIT_OK);
		assert_int_equal(fit.alloc[0].node, known ? 0 : 1);
		pool_done(&pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragments_by_hand),
		cmocka_unit_test(a_whole_group_is_spared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
