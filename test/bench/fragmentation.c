/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs are left that nobody can use: usage fragmentation NODES.csv PODS.csv [SEEDS].
 *
 * Fills the cluster of an openb trace with requests drawn from its tasks until one does not fit, once
 * by the tightest fit alone and once by what leaves most to the others, and prints the GPUs that were
 * still free then.  A task that asks for part of a GPU counts as one whole GPU here. */
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "sched/demand.h"
#include "sched/fit.h"
#include "sched/fragment.h"
#include "sched/pool.h"
#include "sched/view.h"

#include <stdio.h>
#include <stdlib.h>

struct pod {
	struct resource_request request;
	struct gres_request gpu;
};

static char gpu_name[] = "gpu";

/* The comma-separated fields of a line, in place. */
static uint32_t split(char *line, char **ret, uint32_t most)
{
	uint32_t n = 0;
	for (char *p = line; p && n < most;) {
		ret[n++] = p;
		p = strchr(p, ',');
		if (p)
			*p++ = '\0';
	}
	return n;
}

static uint64_t number(const char *text)
{
	uint64_t v = 0;
	return str_to_u64(text, &v) == 0 ? v : 0;
}

static const struct node *read_node(char **f, uint32_t index, struct arena *a)
{
	struct node *n = ARENA_NEW(a, struct node);
	uint64_t gpus = number(f[3]);
	n->index = index;
	n->registered = n->responding = true;
	n->conf = (struct node_conf){ .name = arena_strdup(a, f[0]), .cpus = (uint32_t)(number(f[1]) / 1000),
				      .threads_per_core = 1, .real_memory_mib = number(f[2]), .weight = 1 };
	n->shape = hash_mix(hash_mix(gpus, n->conf.cpus), n->conf.real_memory_mib);
	n->n_gres = 1;
	n->gres = ARENA_NEW(a, struct node_gres);
	n->gres[0] = (struct node_gres){ .name = gpu_name, .count = gpus };
	bitset_init_in(&n->gres[0].used, (uint32_t)gpus, a);
	bitset_init_in(&n->used_cores, n->conf.cpus, a);
	return n;
}

static struct pod *read_pod(char **f, struct arena *a)
{
	struct pod *p = ARENA_NEW(a, struct pod);
	uint32_t cpus = (uint32_t)((number(f[1]) + 999) / 1000);
	p->gpu = (struct gres_request){ .name = gpu_name, .count = number(f[3]) };
	p->request = (struct resource_request){ .nodes_min = 1, .nodes_max = 1, .has_ntasks = true, .ntasks = 1,
						.has_cpus_per_task = true, .cpus_per_task = cpus ? cpus : 1,
						.has_mem_per_node_mib = true,
						.mem_per_node_mib = number(f[2]) ? number(f[2]) : 1 };
	if (p->gpu.count) {
		p->request.gres_per_node = &p->gpu;
		p->request.n_gres_per_node = 1;
	}
	return p;
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

static uint64_t free_gpus(const struct pool *p)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < p->count; i++)
		total += pool_gres_free(&p->nodes[i], 0);
	return total;
}

/* GPUs left when the first request finds no place. */
static uint64_t fill(const struct sched_view *v, struct pod **pods, size_t count, const struct mix *mix, uint64_t seed)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct pool pool;
	struct bitset all;
	pool_init(&pool, v, false, a);
	pool.mix = mix;
	bitset_init_in(&all, v->node_count, a);
	bitset_fill(&all);
	struct fit_scope scope = { .nodes = &all };
	for (;;) {
		AUTO_ARENA struct arena *scratch = arena_new();
		struct demand d;
		struct fit fit = {};
		if (demand_from(&pods[draw(&seed, count)]->request, &d, NULL) < 0)
			continue;
		if (fit_find(&pool, &d, &scope, scratch, &fit) != FIT_OK)
			break;
		pool_take(&pool, &fit.alloc[0]);
	}
	uint64_t left = free_gpus(&pool);
	pool_done(&pool);
	return left;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: fragmentation NODES.csv PODS.csv [SEEDS]\n", stderr);
		return 2;
	}
	AUTO_ARENA struct arena *a = arena_new();
	VEC(const struct node *) nodes = {};
	VEC(struct pod *) pods = {};
	char line[1024], *f[16];
	for (int file = 1; file <= 2; file++) {
		FILE *in = fopen(argv[file], "r");
		if (!in || !fgets(line, sizeof(line), in)) {
			fprintf(stderr, "fragmentation: cannot read '%s'\n", argv[file]);
			return 1;
		}
		while (fgets(line, sizeof(line), in)) {
			line[strcspn(line, "\r\n")] = '\0';
			uint32_t n = split(line, f, 16);
			const struct node *node = file == 1 && n >= 4 ? read_node(f, (uint32_t)nodes.count, a) : NULL;
			if (node)
				vec_push(&nodes, node);
			else if (file == 2 && n >= 4)
				vec_push(&pods, read_pod(f, a));
		}
		fclose(in);
	}
	struct sched_view v = { .nodes = nodes.at, .node_count = (uint32_t)nodes.count };
	struct mix mix = {};
	for (size_t i = 0; i < pods.count; i++) {
		struct demand d;
		if (demand_from(&pods.at[i]->request, &d, NULL) == 0)
			mix_add(&mix, &d, 1);
	}
	uint64_t seeds = argc > 3 ? number(argv[3]) : 10, tight = 0, gentle = 0;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		tight += fill(&v, pods.at, pods.count, NULL, seed * 7919);
		gentle += fill(&v, pods.at, pods.count, &mix, seed * 7919);
	}
	printf("tightest fit\t%.1f\nleast fragmentation\t%.1f\n", (double)tight / (double)seeds, (double)gentle / (double)seeds);
	vec_done(&nodes);
	vec_done(&pods);
	return 0;
}
