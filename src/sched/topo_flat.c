/* SPDX-License-Identifier: Apache-2.0 */
/* topo_flat.c - no fabric at all: nodes in the order of their indexes, light ones first.
 *
 * --contiguous means indexes that follow one another, as the lines of slurm.conf do. */
#include "sched/topo_impl.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

struct weighed {
	uint32_t node, weight;
	bool required;
};

static int compare_weighed(const void *x, const void *y)
{
	const struct weighed *a = x, *b = y;
	if (a->required != b->required)
		return a->required ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static int compare_u32(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;
	return *a < *b ? -1 : *a > *b;
}

/* Required ones and light ones first, then in the order of the indexes again. */
static void choose_sorted(struct choosing *c, uint32_t free)
{
	const struct bitset *set = c->candidates;
	struct weighed *all = ARENA_ARRAY(c->arena, struct weighed, free + 1);
	uint32_t n = 0;
	for (uint32_t i = bitset_next(set, 0); i != BITSET_NONE; i = bitset_next(set, i + 1))
		all[n++] = (struct weighed) { i, c->wish->weight ? c->wish->weight[i] : 0,
					      c->required && bitset_has(c->wish->required, i) };
	qsort(all, n, sizeof(*all), compare_weighed);
	for (uint32_t i = 0; i < c->wish->want; i++)
		c->ret[i] = all[i].node;
	qsort(c->ret, c->wish->want, sizeof(*c->ret), compare_u32);
	c->filled = c->wish->want;
}

static bool flat_choose(struct choosing *c)
{
	const struct bitset *set = c->candidates;
	uint32_t free = bitset_count(set);
	c->leaves_used = 1;
	if (free < c->wish->want)
		return false;
	if (c->wish->contiguous) {
		struct run_scope all = { .count = set->bits };
		struct run best = {};
		run_find(c, &all, &best);
		if (best.found)
			run_emit(c, &all, &best);
		return best.found;
	}
	if (c->required || c->wish->weight) {
		choose_sorted(c, free);
		return true;
	}
	for (uint32_t i = bitset_next(set, 0); c->filled < c->wish->want;
	     i = bitset_next(set, i + 1))
		c->ret[c->filled++] = i;
	return true;
}

static int flat_build(struct build *b, struct error *err)
{
	if (b->spec->unit_count)
		return error_set(err, -EINVAL, "%s: a flat topology has no units",
				 b->spec->units[0].where);
	return 0;
}

const struct topo_ops topo_flat_ops = {
	.kind = TOPO_FLAT, .noun = "unit", .build = flat_build, .choose = flat_choose
};
