/* SPDX-License-Identifier: Apache-2.0 */
/* Where a job wants its nodes close together and so many of them with a feature, both matter.
 *
 * The topology is asked first as if there were no counts, which is right for most jobs.  When what it
 * gives does not meet them, nodes that do are chosen first, and the topology is asked for a set that has
 * these: all nodes are put in a row in which neighbours are close, and from one place of the row after
 * the other the next ones that meet the counts are taken.  The closest answer stands.  Of a long row
 * only ANCHORS_MAX places are tried; a set that keeps a hard limit such as --switches can be missed
 * then, and the job waits for another one. */
#include "sched/fabric.h"

#include "base/arena.h"
#include "base/bitset.h"
#include "sched/features.h"
#include "sched/topo.h"

#include <string.h>

enum { ANCHORS_MAX = 256 };

struct weave {
	const struct topology *t;
	const struct bitset *usable;
	const struct topo_wish *wish;
	const struct constraint *counts;
	const uint64_t *parts;
	uint32_t *row; /* all usable nodes, neighbours side by side */
	uint32_t row_count;
	uint32_t counted;
};

static bool meets(const struct weave *w, const uint32_t *nodes, struct arena *a)
{
	uint64_t *parts = ARENA_ARRAY(a, uint64_t, w->wish->want);
	for (uint32_t i = 0; i < w->wish->want; i++)
		parts[i] = w->parts[nodes[i]];
	return features_counts_met(w->counts, parts, w->wish->want, a);
}

static void make_row(struct weave *w, struct arena *a)
{
	struct topo_wish all = { .want = bitset_count(w->usable) };
	w->row = ARENA_ARRAY(a, uint32_t, all.want);
	if (topology_choose(w->t, w->usable, &all, a, w->row, NULL)) {
		w->row_count = all.want;
		return;
	}
	for (uint32_t n = bitset_next(w->usable, 0); n != BITSET_NONE;
	     n = bitset_next(w->usable, n + 1))
		w->row[w->row_count++] = n;
}

/* The nodes that must be there: those of --nodelist, and from `start` on the next that meet the counts.
 * False: they are too many. */
static bool choose_core(const struct weave *w, uint32_t start, struct arena *a, struct bitset *ret)
{
	uint32_t *order = ARENA_ARRAY(a, uint32_t, w->row_count), count = 0;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < w->row_count; i++) {
			uint32_t n = w->row[(start + i) % w->row_count];
			bool required = w->wish->required && bitset_has(w->wish->required, n);
			if (required == (pass == 0))
				order[count++] = n;
		}
	}
	if (!features_order(w->counts, w->parts, order, count, w->counted, a))
		return false;
	bitset_init_in(ret, w->usable->bits, a);
	if (w->wish->required)
		bitset_copy(ret, w->wish->required);
	for (uint32_t i = 0; i < w->counted; i++)
		bitset_add(ret, order[i]);
	return bitset_count(ret) <= w->wish->want;
}

static bool choose_from(const struct weave *w, uint32_t start, struct arena *a, uint32_t *ret,
			uint32_t *ret_switches)
{
	struct bitset core;
	struct topo_wish wish = *w->wish;
	if (!choose_core(w, start, a, &core))
		return false;
	wish.required = &core;
	return topology_choose(w->t, w->usable, &wish, a, ret, ret_switches);
}

static bool choose_anywhere(const struct weave *w, uint32_t *ret)
{
	uint32_t stride = w->row_count / ANCHORS_MAX + 1, best = UINT32_MAX;
	for (uint32_t start = 0; start < w->row_count; start += stride) {
		AUTO_ARENA struct arena *turn = arena_new();
		uint32_t *found = ARENA_ARRAY(turn, uint32_t, w->wish->want), switches = 0;
		if (!choose_from(w, start, turn, found, &switches) || switches >= best)
			continue;
		best = switches;
		memcpy(ret, found, w->wish->want * sizeof(*ret));
		if (switches <= 1)
			break;
	}
	return best != UINT32_MAX;
}

bool fabric_choose(const struct topology *t, const struct bitset *usable,
		   const struct topo_wish *wish, const struct constraint *counts,
		   const uint64_t *parts, struct arena *a, uint32_t *ret)
{
	struct weave w = { .t = t,
			   .usable = usable,
			   .wish = wish,
			   .counts = counts,
			   .parts = parts,
			   .counted = features_nodes(counts) };
	if (w.counted > wish->want || wish->want > bitset_count(usable))
		return false;
	if (topology_choose(t, usable, wish, a, ret, NULL) && meets(&w, ret, a))
		return true;
	make_row(&w, a);
	return choose_anywhere(&w, ret);
}
