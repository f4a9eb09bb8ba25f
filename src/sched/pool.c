/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/pool.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/view.h"

#include <assert.h>
#include <stdlib.h>

bool node_is_up(const struct node *n)
{
	return n->registered && n->responding && !n->down && !n->drain && !n->fail && !n->removed;
}

uint64_t node_memory(const struct node *n)
{
	uint64_t all = n->conf.real_memory_mib, system = n->conf.mem_spec_limit_mib;
	return all > system ? all - system : 0;
}

static void node_init(struct pool_node *p, const struct node *n, bool as_if_idle, struct arena *a)
{
	p->node = n;
	p->up = as_if_idle ? !n->removed : node_is_up(n);
	p->idle = as_if_idle || n->job_count == 0;
	bitset_init_in(&p->used_cpus, n->conf.cpus, a);
	p->free_mem = node_memory(n);
	p->used_gres = ARENA_ARRAY(a, struct bitset, n->n_gres);
	p->used_counts = ARENA_ARRAY(a, uint64_t, n->n_gres);
	for (uint32_t g = 0; g < n->n_gres; g++) {
		bitset_init_in(&p->used_gres[g], n->gres[g].used.bits, a);
		if (as_if_idle)
			continue;
		bitset_copy(&p->used_gres[g], &n->gres[g].used);
		p->used_counts[g] = n->gres[g].used_count;
	}
	p->free_cpus = n->conf.cpus;
	if (as_if_idle)
		return;
	bitset_copy(&p->used_cpus, &n->used_cores);
	p->free_cpus -= bitset_count(&p->used_cpus);
	p->free_mem = p->free_mem > n->used_mem_mib ? p->free_mem - n->used_mem_mib : 0;
}

static int by_weight(const void *a, const void *b, void *arg)
{
	const struct pool *p = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t wx = p->nodes[x].node->conf.weight, wy = p->nodes[y].node->conf.weight;
	if (wx != wy)
		return wx < wy ? -1 : 1;
	return x < y ? -1 : x > y;
}

void pool_init(struct pool *p, const struct sched_view *v, bool as_if_idle, struct arena *a)
{
	*p = (struct pool){ .arena = a, .count = v->node_count };
	p->nodes = ARENA_ARRAY(a, struct pool_node, v->node_count);
	p->order = ARENA_ARRAY(a, uint32_t, v->node_count);
	for (uint32_t i = 0; i < v->node_count; i++) {
		if (!v->nodes[i])
			continue;
		node_init(&p->nodes[i], v->nodes[i], as_if_idle, a);
		if (p->nodes[i].up)
			p->order[p->order_count++] = i;
	}
	qsort_r(p->order, p->order_count, sizeof(*p->order), by_weight, p);
}

uint64_t pool_gres_free(const struct pool_node *n, uint32_t g)
{
	const struct node_gres *have = &n->node->gres[g];
	if (have->used.bits)
		return have->used.bits - bitset_count(&n->used_gres[g]);
	return have->count > n->used_counts[g] ? have->count - n->used_counts[g] : 0;
}

static bool matches(const struct node_gres *have, const char *name, const char *type)
{
	return str_eq(have->name, name) && (str_empty(type) || str_eq(have->type, type));
}

uint64_t pool_gres_match(const struct pool_node *n, const char *name, const char *type)
{
	uint64_t total = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++)
		if (matches(&n->node->gres[g], name, type))
			total += pool_gres_free(n, g);
	return total;
}

static void take_gres(struct pool_node *n, const struct gres_alloc *take)
{
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		if (!matches(have, take->name, take->type))
			continue;
		if (!have->used.bits) {
			n->used_counts[g] += take->count;
			return;
		}
		for (uint32_t d = 0; d < have->used.bits; d++)
			if (bitset_has(&take->devices, have->first + d))
				bitset_add(&n->used_gres[g], d);
	}
}

void pool_take(struct pool *p, const struct node_alloc *alloc)
{
	struct pool_node *n = &p->nodes[alloc->node];
	assert(n->node && !bitset_intersects(&n->used_cpus, &alloc->cores));
	bitset_or(&n->used_cpus, &alloc->cores);
	n->free_cpus -= bitset_count(&alloc->cores);
	n->free_mem = n->free_mem > alloc->mem_mib ? n->free_mem - alloc->mem_mib : 0;
	n->idle = false;
	for (uint32_t i = 0; i < alloc->n_gres; i++)
		take_gres(n, &alloc->gres[i]);
}
