/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of generic resources on a node.
 *
 * A kind with devices is marked device by device.  A kind that shares GPUs (shard, mps) counts the parts
 * in use of each GPU; its allocation names one GPU by index and how many parts of it.  Everything else
 * is one number.  A GPU is given out whole, or shared by one resource, never both. */
#include "base/bitset.h"
#include "base/str.h"
#include "core/internal.h"

#include <assert.h>

static bool is_kind(const struct node_gres *have, const struct gres_alloc *g)
{
	return str_eq(have->name, g->name) && str_eq(have->type, g->type);
}

/* Parts of the GPU that this kind has given out; 0 when it is not one of its GPUs. */
static uint32_t parts_used(const struct node_gres *have, uint32_t gpu)
{
	bool has = gpu >= have->first && gpu - have->first < have->n_each_used;
	return has ? have->each_used[gpu - have->first] : 0;
}

static bool is_shared(const struct node *n, uint32_t gpu, const char *except)
{
	for (uint32_t i = 0; i < n->n_gres; i++)
		if (!str_eq(n->gres[i].name, except) && parts_used(&n->gres[i], gpu))
			return true;
	return false;
}

static bool is_given_whole(const struct node *n, uint32_t gpu)
{
	for (uint32_t i = 0; i < n->n_gres; i++) {
		const struct node_gres *have = &n->gres[i];
		if (str_eq(have->name, "gpu") && gpu >= have->first && bitset_has(&have->used, gpu - have->first))
			return true;
	}
	return false;
}

static bool others_are_shared(const struct node *n, const char *name, uint32_t gpu)
{
	for (uint32_t i = 0; i < n->n_gres; i++)
		for (uint32_t d = 0; str_eq(n->gres[i].name, name) && d < n->gres[i].n_each_used; d++)
			if (n->gres[i].each_used[d] && n->gres[i].first + d != gpu)
				return true;
	return false;
}

static bool parts_are_free(const struct node *n, const struct node_gres *have, const struct gres_alloc *g)
{
	for (uint32_t d = 0; d < have->n_each_used; d++) {
		uint32_t gpu = have->first + d;
		if (!bitset_has(&g->devices, gpu))
			continue;
		if (have->each_used[d] + g->count > have->each[d] || is_given_whole(n, gpu) ||
		    is_shared(n, gpu, have->name) || (have->one_sharing && others_are_shared(n, have->name, gpu)))
			return false;
	}
	return true;
}

static bool devices_are_free(const struct node *n, const struct node_gres *have, const struct gres_alloc *g)
{
	for (uint32_t d = 0; d < have->used.bits; d++) {
		if (!bitset_has(&g->devices, have->first + d))
			continue;
		if (bitset_has(&have->used, d) || (str_eq(have->name, "gpu") && is_shared(n, have->first + d, NULL)))
			return false;
	}
	return true;
}

bool gres_is_free(const struct node *n, const struct gres_alloc *g)
{
	for (uint32_t i = 0; i < n->n_gres; i++) {
		const struct node_gres *have = &n->gres[i];
		if (!is_kind(have, g) || have->no_consume)
			continue;
		if (have->n_each ? !parts_are_free(n, have, g) :
		    have->used.bits ? !devices_are_free(n, have, g) : have->used_count + g->count > have->count)
			return false;
	}
	return true;
}

static void mark_parts(struct node_gres *have, const struct gres_alloc *g, bool take)
{
	for (uint32_t d = 0; d < have->n_each_used; d++) {
		if (!bitset_has(&g->devices, have->first + d))
			continue;
		uint32_t parts = (uint32_t)g->count;
		assert(take || have->each_used[d] >= parts);
		have->each_used[d] = take ? have->each_used[d] + parts : have->each_used[d] - parts;
		have->used_count = take ? have->used_count + parts : have->used_count - parts;
	}
}

static void mark_devices(struct node_gres *have, const struct gres_alloc *g, bool take)
{
	for (uint32_t d = 0; d < have->used.bits; d++) {
		if (!bitset_has(&g->devices, have->first + d))
			continue;
		assert(bitset_has(&have->used, d) != take);
		take ? bitset_add(&have->used, d) : bitset_remove(&have->used, d);
	}
}

void gres_mark(struct node *n, const struct gres_alloc *g, bool take)
{
	for (uint32_t i = 0; i < n->n_gres; i++) {
		struct node_gres *have = &n->gres[i];
		if (!is_kind(have, g) || have->no_consume)
			continue;
		if (have->n_each)
			mark_parts(have, g, take);
		else if (have->used.bits)
			mark_devices(have, g, take);
		else
			have->used_count = take ? have->used_count + g->count : have->used_count - g->count;
	}
}
