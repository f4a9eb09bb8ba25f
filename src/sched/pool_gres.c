/* SPDX-License-Identifier: Apache-2.0 */
/* Generic resources of a pool: devices one by one, parts of GPUs by GPU, everything else by count.
 *
 * A GPU that is shared counts as used among the GPUs, so that nobody gets it whole.  Parts of it are free
 * for whoever shares it already; of a GPU that is used otherwise none are. */
#include "base/arena.h"
#include "base/str.h"
#include "sched/pool.h"

/* GPUs in use as far as others are concerned: marks the GPU that kind `g` shares at its place `d`. */
static void mark_gpu(struct pool_node *p, uint32_t g, uint32_t d, bool used)
{
	uint32_t gpu = p->node->gres[g].first + d;
	for (uint32_t i = 0; i < p->node->n_gres; i++) {
		const struct node_gres *have = &p->node->gres[i];
		if (str_eq(have->name, "gpu") && gpu >= have->first && gpu - have->first < have->used.bits)
			used ? bitset_add(&p->used_gres[i], gpu - have->first) :
			       bitset_remove(&p->used_gres[i], gpu - have->first);
	}
}

void pool_parts_init(struct pool_node *p, bool as_if_idle, struct arena *a)
{
	const struct node *n = p->node;
	for (uint32_t g = 0; g < n->n_gres; g++) {
		if (!n->gres[g].n_each)
			continue;
		if (!p->used_parts)
			p->used_parts = ARENA_ARRAY(a, uint32_t *, n->n_gres);
		p->used_parts[g] = ARENA_ARRAY(a, uint32_t, n->gres[g].n_each);
		for (uint32_t d = 0; !as_if_idle && d < n->gres[g].n_each_used; d++) {
			p->used_parts[g][d] = n->gres[g].each_used[d];
			if (p->used_parts[g][d])
				mark_gpu(p, g, d, true);
		}
	}
}

/* Is GPU number `gpu` of the node taken, whole or by whoever shares it? */
static bool gpu_is_taken(const struct pool_node *n, uint32_t gpu)
{
	for (uint32_t i = 0; i < n->node->n_gres; i++) {
		const struct node_gres *have = &n->node->gres[i];
		if (str_eq(have->name, "gpu") && gpu >= have->first && gpu - have->first < have->used.bits)
			return bitset_has(&n->used_gres[i], gpu - have->first);
	}
	return false;
}

/* gres.conf(5), one_sharing: one GPU of the node at a time. */
static bool shares_another(const struct pool_node *n, const struct node_gres *kind, uint32_t gpu)
{
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		for (uint32_t d = 0; str_eq(have->name, kind->name) && d < have->n_each; d++)
			if (n->used_parts[g][d] && have->first + d != gpu)
				return true;
	}
	return false;
}

uint64_t pool_parts_free(const struct pool_node *n, uint32_t g, uint32_t d)
{
	const struct node_gres *have = &n->node->gres[g];
	uint32_t used = n->used_parts[g][d];
	if ((used == 0 && gpu_is_taken(n, have->first + d)) ||
	    (have->one_sharing && shares_another(n, have, have->first + d)))
		return 0;
	return have->each[d] > used ? have->each[d] - used : 0;
}

uint64_t pool_gres_free(const struct pool_node *n, uint32_t g)
{
	const struct node_gres *have = &n->node->gres[g];
	uint64_t parts = 0;
	if (have->used.bits)
		return have->used.bits - bitset_count(&n->used_gres[g]);
	for (uint32_t d = 0; d < have->n_each; d++)
		parts += pool_parts_free(n, g, d);
	if (have->n_each || have->no_consume)
		return have->n_each ? parts : have->count;
	return have->count > n->used_counts[g] ? have->count - n->used_counts[g] : 0;
}

uint64_t pool_devices_free(const struct pool_node *n)
{
	uint64_t total = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++)
		if (!n->node->gres[g].n_each && !n->node->gres[g].no_consume)
			total += pool_gres_free(n, g);
	return total;
}

bool gres_matches(const struct node_gres *have, const char *name, const char *type)
{
	return str_eq(have->name, name) && (str_empty(type) || str_eq(have->type, type));
}

static uint64_t most_of_one_gpu(const struct pool_node *n, uint32_t g)
{
	uint64_t most = 0;
	for (uint32_t d = 0; d < n->node->gres[g].n_each; d++) {
		uint64_t free = pool_parts_free(n, g, d);
		most = free > most ? free : most;
	}
	return most;
}

uint64_t pool_gres_match(const struct pool_node *n, const char *name, const char *type)
{
	uint64_t total = 0, most = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		if (!gres_matches(have, name, type))
			continue;
		uint64_t one = have->n_each && !have->several ? most_of_one_gpu(n, g) : 0;
		most = one > most ? one : most;
		if (!have->n_each || have->several)
			total += pool_gres_free(n, g);
	}
	return total > most ? total : most;
}

static void mark_parts(struct pool_node *n, uint32_t g, const struct gres_alloc *alloc, bool take)
{
	const struct node_gres *have = &n->node->gres[g];
	for (uint32_t d = 0; d < have->n_each; d++) {
		uint32_t *used = &n->used_parts[g][d], parts = (uint32_t)alloc->count;
		if (!bitset_has(&alloc->devices, have->first + d))
			continue;
		*used = take ? *used + parts : *used > parts ? *used - parts : 0;
		mark_gpu(n, g, d, *used != 0);
	}
}

static void mark_count(uint64_t *used, uint64_t count, bool take)
{
	*used = take ? *used + count : *used > count ? *used - count : 0;
}

void pool_gres_mark(struct pool_node *n, const struct gres_alloc *alloc, bool take)
{
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		if (!str_eq(have->name, alloc->name) || !str_eq(have->type, alloc->type))
			continue;
		if (have->n_each)
			mark_parts(n, g, alloc, take);
		else if (!have->used.bits)
			mark_count(&n->used_counts[g], alloc->count, take);
		for (uint32_t d = 0; d < have->used.bits; d++)
			if (bitset_has(&alloc->devices, have->first + d))
				take ? bitset_add(&n->used_gres[g], d) : bitset_remove(&n->used_gres[g], d);
	}
}
