/* SPDX-License-Identifier: Apache-2.0 */
/* How long it takes to find nodes for one job: usage placement [NODES...].
 *
 * Nodes of 64 cores and 8 GPUs, half of them busy in part, a tree of three levels.  Prints one line
 * "nodes request microseconds" for each; the time is the median of many searches on a standing pool. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/demand.h"
#include "sched/fit.h"
#include "sched/pool.h"
#include "sched/topo.h"
#include "sched/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CPUS = 64, GPUS = 8, ROUNDS = 301 };

static double now_usec(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

static const struct node *make_node(uint32_t index, struct arena *a, uint64_t *seed)
{
	struct node *n = ARENA_NEW(a, struct node);
	n->index = index;
	n->shape = 1;
	n->registered = n->responding = true;
	n->conf = (struct node_conf){ .name = arena_printf(a, "n%u", index), .cpus = CPUS, .sockets = 2,
				      .cores_per_socket = CPUS / 2, .threads_per_core = 1,
				      .real_memory_mib = 1 << 20, .weight = 1 };
	n->n_gres = 1;
	n->gres = ARENA_NEW(a, struct node_gres);
	n->gres[0] = (struct node_gres){ .name = arena_strdup(a, "gpu"), .count = GPUS };
	bitset_init_in(&n->gres[0].used, GPUS, a);
	bitset_init_in(&n->used_cores, CPUS, a);
	if (draw(seed, 2) == 0)
		return n;
	uint32_t gpus = 1 + (uint32_t)draw(seed, GPUS);
	bitset_add_range(&n->gres[0].used, 0, gpus);
	bitset_add_range(&n->used_cores, 0, gpus * (CPUS / GPUS));
	n->used_mem_mib = gpus * 100000u;
	n->job_count = 1;
	return n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int index_of(void *arg, const char *name)
{
	uint32_t index;
	(void)arg;
	return str_to_u32(name + 1, &index) == 0 ? (int)index : -1;
}

/* Leaves of 16 nodes, pods of 16 leaves, one spine. */
static struct topology *make_tree(uint32_t count, struct arena *a)
{
	uint32_t leaves = (count + 15) / 16, pods = (leaves + 15) / 16;
	struct topo_unit *units = ARENA_ARRAY(a, struct topo_unit, leaves + pods + 1);
	for (uint32_t i = 0; i < leaves; i++) {
		uint32_t last = i * 16 + 15 < count ? i * 16 + 15 : count - 1;
		units[i] = (struct topo_unit){ .name = arena_printf(a, "leaf%u", i),
					       .nodes = arena_printf(a, "n[%u-%u]", i * 16, last) };
	}
	for (uint32_t i = 0; i < pods; i++) {
		uint32_t last = i * 16 + 15 < leaves ? i * 16 + 15 : leaves - 1;
		units[leaves + i] = (struct topo_unit){ .name = arena_printf(a, "pod%u", i),
							.switches = arena_printf(a, "leaf[%u-%u]", i * 16, last) };
	}
	units[leaves + pods] = (struct topo_unit){ .name = "spine", .switches = arena_printf(a, "pod[0-%u]", pods - 1) };
	struct topo_spec spec = { .name = "default", .kind = TOPO_TREE, .is_default = true, .units = units,
				  .unit_count = leaves + pods + 1 };
	struct topology *t = NULL;
	struct error err = {};
	if (topology_new(&spec, count, index_of, NULL, &t, &err) < 0)
		fprintf(stderr, "bench-placement: %s\n", err.text);
	return t;
}

static void measure(const char *label, struct pool *p, uint32_t count, const struct topology *topology,
		    struct resource_request *r)
{
	struct demand d;
	double took[ROUNDS];
	AUTO_ARENA struct arena *scratch = arena_new();
	struct bitset all;
	bitset_init(&all, count);
	bitset_fill(&all);
	struct fit_scope scope = { .nodes = &all, .topology = topology };
	if (demand_from(r, &d, NULL) < 0)
		return;
	enum fit_result result = FIT_SHORT;
	for (int i = 0; i < ROUNDS; i++) {
		struct fit fit = {};
		arena_clear(scratch);
		double start = now_usec();
		result = fit_find(p, &d, &scope, scratch, &fit);
		took[i] = now_usec() - start;
	}
	qsort(took, ROUNDS, sizeof(*took), by_value);
	printf("%u\t%s\t%.1f\t%s\n", count, label, took[ROUNDS / 2], result == FIT_OK ? "ok" : "no room");
	bitset_done(&all);
}

static void run(uint32_t count)
{
	uint64_t seed = 88172645463325252u;
	AUTO_ARENA struct arena *a = arena_new();
	const struct node **nodes = ARENA_ARRAY(a, const struct node *, count);
	for (uint32_t i = 0; i < count; i++)
		nodes[i] = make_node(i, a, &seed);
	struct sched_view v = { .nodes = nodes, .node_count = count };
	struct pool pool;
	double start = now_usec();
	pool_init(&pool, &v, false, a);
	printf("%u\tbuild the pool\t%.1f\t%zu states\n", count, now_usec() - start, pool.states.count);
	struct topology *tree = make_tree(count, a);
	static char gpu[] = "gpu";
	struct gres_request one = { .name = gpu, .count = 1 }, all = { .name = gpu, .count = GPUS };
	struct resource_request gpu_job = { .nodes_min = 1, .nodes_max = 1, .gres_per_node = &one, .n_gres_per_node = 1,
					    .has_mem_per_cpu_mib = true, .mem_per_cpu_mib = 1000 };
	measure("1 GPU", &pool, count, tree, &gpu_job);
	const uint32_t sizes[] = { 1, 64, 1024 };
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		char label[32];
		struct resource_request r = { .nodes_min = sizes[i], .nodes_max = sizes[i], .has_ntasks_per_node = true,
					      .ntasks_per_node = GPUS, .gres_per_node = &all, .n_gres_per_node = 1,
					      .has_mem_per_cpu_mib = true, .mem_per_cpu_mib = 1000 };
		snprintf(label, sizeof(label), "%u node%s", sizes[i], sizes[i] == 1 ? "" : "s");
		measure(label, &pool, count, tree, &r);
	}
	pool_done(&pool);
	topology_free(tree);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		uint32_t count;
		if (str_to_u32(argv[i], &count) == 0)
			run(count);
	}
	if (argc == 1)
		run(10000);
	return 0;
}
