/* SPDX-License-Identifier: Apache-2.0 */
/* topo_run.c - neighbours: `want` positions in a row that can all be used.
 *
 * The line (or circle) falls into stretches of candidates.  A window is cut from the shortest stretch that has
 * one, at its beginning, so that long stretches stay whole; required nodes, costs and weights may move it. */
#include "sched/topo_impl.h"

static uint32_t node_at(const struct run_scope *s, uint32_t offset)
{
	uint32_t position = s->first + (offset >= s->count ? offset - s->count : offset);
	return s->order ? s->order[position] : position;
}

static bool run_better(const struct run *a, const struct run *b)
{
	if (!b->found || a->cost != b->cost)
		return !b->found || a->cost < b->cost;
	if (a->length != b->length)
		return a->length < b->length;
	return a->weight < b->weight;
}

/* Windows of one stretch, by offsets from the scope's beginning; slides, so each node is met twice. */
static void stretch_try(const struct choosing *c, const struct run_scope *s, uint32_t from,
			uint32_t length, uint32_t starts, struct run *best)
{
	const struct topo_wish *w = c->wish;
	uint32_t required = 0;
	uint64_t weight = 0;
	for (uint32_t i = 0; i < w->want; i++) {
		uint32_t node = node_at(s, from + i);
		required += c->required && bitset_has(w->required, node);
		weight += w->weight ? w->weight[node] : 0;
	}
	for (uint32_t k = 0; k < starts; k++) {
		if (k) {
			uint32_t gone = node_at(s, from + k - 1),
				 come = node_at(s, from + k - 1 + w->want);
			required += c->required && bitset_has(w->required, come);
			required -= c->required && bitset_has(w->required, gone);
			weight += w->weight ? (uint64_t)w->weight[come] - w->weight[gone] : 0;
		}
		if (required != c->required)
			continue;
		uint32_t at = from + k >= s->count ? from + k - s->count : from + k;
		struct run one = { s->first + at, length, 1, weight, true };
		if (s->cost)
			one.cost = s->cost(s->arg, one.start);
		if (one.cost && run_better(&one, best))
			*best = one;
		if (!c->required && !s->cost && !w->weight)
			return;
	}
}

void run_find(const struct choosing *c, const struct run_scope *s, struct run *best)
{
	uint32_t want = c->wish->want, busy = 0;
	if (want > s->count)
		return;
	while (s->wraps && busy < s->count && bitset_has(c->candidates, node_at(s, busy)))
		busy++;
	if (busy == s->count) { /* the whole circle */
		stretch_try(c, s, 0, s->count, s->count, best);
		return;
	}
	uint32_t base = s->wraps ? busy : 0, length = 0;
	for (uint32_t i = 0; i <= s->count; i++) {
		if (i < s->count && bitset_has(c->candidates, node_at(s, base + i))) {
			length++;
			continue;
		}
		if (length >= want)
			stretch_try(c, s, base + i - length, length, length - want + 1, best);
		length = 0;
	}
}

void run_emit(struct choosing *c, const struct run_scope *s, const struct run *r)
{
	for (uint32_t i = 0; i < c->wish->want; i++)
		c->ret[c->filled++] = node_at(s, r->start - s->first + i);
}

struct line line_make(const struct topology *t, struct arena *a)
{
	struct line line = { ARENA_ARRAY(a, uint32_t, t->node_count + 1),
			     ARENA_ARRAY(a, uint32_t, t->leaf_count + 1) };
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->leaf_count; i++) {
		const struct leaf *l = &t->leaves[i];
		line.first[i] = n;
		for (uint32_t k = 0; k < l->span_count; k++)
			for (uint64_t w = l->spans[k].mask; w; w &= w - 1)
				line.order[n++] = l->spans[k].word * 64 +
						  (uint32_t)__builtin_ctzll(w);
	}
	line.first[t->leaf_count] = n;
	return line;
}

bool line_keeps_segments(const struct choosing *c, const struct line *l, uint32_t each,
			 uint32_t start)
{
	uint32_t end = start + c->wish->want, segment = c->wish->segment;
	if (!segment)
		return true;
	for (uint32_t leaf = c->t->leaf_of[l->order[start]] - 1; start < end;) {
		leaf = leaf / each * each + each;
		uint32_t next = leaf < c->t->leaf_count ? l->first[leaf] : end;
		uint32_t part = (next < end ? next : end) - start;
		if (part % segment || (c->wish->spread_segments && part > segment))
			return false;
		start += part;
	}
	return true;
}
