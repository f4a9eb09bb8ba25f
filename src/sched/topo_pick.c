/* SPDX-License-Identifier: Apache-2.0 */
/* topo_pick.c - which places, and how much of each: as few as possible, and the last one tight.
 *
 * A place is a leaf (or a run of leaves) with so many candidates.  The fewest places that give `want` nodes are
 * those with required nodes and then the largest; while more is wanted than any single place has, the largest is
 * taken whole, and the rest goes to the smallest place that holds it.  That keeps large places whole and uses up
 * the ones that are nearly full.
 *
 * Segments change the arithmetic only: room and least are counted in whole segments.
 *
 * Cost: a popcount or two per leaf, a histogram for "how many", a sort of the places for "which".  No node is
 * looked at before its leaf has been chosen, unless weights are given. */
#include "sched/topo_impl.h"

#include <assert.h>
#include <stdlib.h>

uint32_t leaf_count_in(const struct leaf *l, const struct bitset *set)
{
	uint32_t words = bitset_words(set->bits), n = 0;
	for (uint32_t i = 0; i < l->span_count && l->spans[i].word < words; i++)
		n += (uint32_t)__builtin_popcountll(set->words[l->spans[i].word] &
						    l->spans[i].mask);
	return n;
}

static uint64_t leaf_weight(const struct leaf *l, const struct bitset *set, const uint32_t *weight)
{
	uint32_t words = bitset_words(set->bits);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < l->span_count && l->spans[i].word < words; i++)
		for (uint64_t w = set->words[l->spans[i].word] & l->spans[i].mask; w; w &= w - 1)
			sum += weight[l->spans[i].word * 64 + (uint32_t)__builtin_ctzll(w)];
	return sum;
}

static uint32_t round_down(uint32_t n, uint32_t unit)
{
	return unit > 1 ? n / unit * unit : n;
}

static uint32_t round_up(uint32_t n, uint32_t unit)
{
	return unit > 1 ? (n + unit - 1) / unit * unit : n;
}

static void place_count(const struct choosing *c, struct place *p, uint32_t *required)
{
	for (uint32_t i = p->leaf; i < p->leaf + p->leaves; i++) {
		const struct leaf *l = &c->t->leaves[i];
		p->free += leaf_count_in(l, c->candidates);
		if (c->required)
			*required += leaf_count_in(l, c->wish->required);
		if (c->wish->weight)
			p->weight += leaf_weight(l, c->candidates, c->wish->weight);
	}
}

bool places_make(struct choosing *c, uint32_t leaves_each, uint32_t segment, struct place **ret,
		 uint32_t *ret_count)
{
	uint32_t leaves = c->t->leaf_count, count = (leaves + leaves_each - 1) / leaves_each,
		 seen = 0;
	struct place *places = ARENA_ARRAY(c->arena, struct place, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		struct place *p = &places[i];
		uint32_t required = 0;
		p->leaf = i * leaves_each;
		p->leaves = leaves - p->leaf < leaves_each ? leaves - p->leaf : leaves_each;
		place_count(c, p, &required);
		seen += required;
		p->least = round_up(required, segment);
		p->room = round_down(p->free, segment);
		if (c->wish->spread_segments && c->wish->segment && p->room > segment)
			p->room = segment;
		if (p->least > p->room)
			return false;
	}
	*ret = places;
	*ret_count = count;
	return seen == c->required;
}

uint32_t places_needed(const struct place *p, uint32_t count, uint32_t want, struct arena *a)
{
	uint64_t forced_room = 0, least = 0, room = 0;
	uint32_t needed = 0, largest = 0;
	for (uint32_t i = 0; i < count; i++) {
		room += p[i].room;
		least += p[i].least;
		if (p[i].least) {
			forced_room += p[i].room;
			needed++;
		} else if (p[i].room > largest) {
			largest = p[i].room;
		}
	}
	if (room < want || least > want)
		return 0;
	if (forced_room >= want)
		return needed;
	uint32_t rest = want - (uint32_t)forced_room;
	if (largest >= rest)
		return needed + 1;
	uint32_t *of_size = ARENA_ARRAY(a, uint32_t, largest + 1);
	for (uint32_t i = 0; i < count; i++)
		if (!p[i].least)
			of_size[p[i].room]++;
	for (uint32_t size = largest; size && rest; size--) {
		uint32_t some = (rest + size - 1) / size;
		some = some < of_size[size] ? some : of_size[size];
		needed += some;
		rest = (uint64_t)some * size >= rest ? 0 : rest - some * size;
	}
	return needed;
}

/* Average weights, compared without dividing. */
static int compare_weight(uint64_t weight_a, uint32_t free_a, uint64_t weight_b, uint32_t free_b)
{
	uint64_t x = weight_a * free_b, y = weight_b * free_a;
	return (x > y) - (x < y);
}

static int compare_places(const void *x, const void *y)
{
	const struct place *a = *(const struct place *const *)x,
			   *b = *(const struct place *const *)y;
	if (a->room != b->room)
		return a->room > b->room ? -1 : 1;
	int w = compare_weight(a->weight, a->free, b->weight, b->free);
	if (w)
		return w;
	if (a->crowd != b->crowd)
		return a->crowd > b->crowd ? -1 : 1;
	return a->leaf < b->leaf ? -1 : a->leaf > b->leaf;
}

bool score_better(const struct score *a, const struct score *b)
{
	if (a->needed != b->needed)
		return a->needed < b->needed;
	int w = compare_weight(a->weight, a->free, b->weight, b->free);
	if (w)
		return w < 0;
	if (a->free != b->free)
		return a->free < b->free;
	return a->crowd < b->crowd;
}

/* The smallest that holds `rest`, the first of these in the order; from `at` on, sorted by falling room. */
static uint32_t tightest(struct place *const *sorted, uint32_t at, uint32_t count, uint32_t rest)
{
	uint32_t lo = at, hi = count; /* the first whose room is too small */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (sorted[mid]->room >= rest)
			lo = mid + 1;
		else
			hi = mid;
	}
	uint32_t room = sorted[--lo]->room;
	while (lo > at && sorted[lo - 1]->room == room)
		lo--;
	return lo;
}

/* Fills the places that must be used anyway; says what is still wanted. */
static uint32_t take_forced(struct place *p, uint32_t count, uint32_t want)
{
	for (uint32_t i = 0; i < count; i++) {
		p[i].take = p[i].least;
		want -= p[i].least;
	}
	for (uint32_t i = 0; i < count && want; i++) {
		if (!p[i].least)
			continue;
		uint32_t more = p[i].room - p[i].take;
		more = more < want ? more : want;
		p[i].take += more;
		want -= more;
	}
	return want;
}

void places_take(struct place *p, uint32_t count, uint32_t want, struct arena *a)
{
	struct place **sorted = ARENA_ARRAY(a, struct place *, count + 1);
	uint32_t rest = take_forced(p, count, want), n = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!p[i].least && p[i].room)
			sorted[n++] = &p[i];
	if (rest)
		qsort(sorted, n, sizeof(*sorted), compare_places);
	for (uint32_t at = 0; rest; at++) {
		assert(at < n);
		uint32_t chosen = sorted[at]->room >= rest ? tightest(sorted, at, n, rest) : at;
		struct place *one = sorted[chosen];
		one->take = one->room < rest ? one->room : rest;
		rest -= one->take;
	}
}

/* ---- nodes ------------------------------------------------------------------------------------- */

struct picked {
	uint32_t node, weight;
	bool required;
};

static int compare_picked(const void *x, const void *y)
{
	const struct picked *a = x, *b = y;
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

/* Some of a leaf: required ones, then light ones; in the order of their indexes. */
static void emit_some(struct choosing *c, const struct leaf *l, uint32_t free, uint32_t take)
{
	struct picked *all = ARENA_ARRAY(c->arena, struct picked, free + 1);
	uint32_t n = 0;
	for (uint32_t i = 0;
	     i < l->span_count && l->spans[i].word < bitset_words(c->candidates->bits); i++) {
		uint64_t w = c->candidates->words[l->spans[i].word] & l->spans[i].mask;
		for (; w; w &= w - 1) {
			uint32_t node = l->spans[i].word * 64 + (uint32_t)__builtin_ctzll(w);
			all[n++] = (struct picked) { node,
						     c->wish->weight ? c->wish->weight[node] : 0,
						     c->required &&
							     bitset_has(c->wish->required, node) };
		}
	}
	if (c->required || c->wish->weight)
		qsort(all, n, sizeof(*all), compare_picked);
	uint32_t *out = c->ret + c->filled;
	for (uint32_t i = 0; i < take; i++)
		out[i] = all[i].node;
	if (c->required || c->wish->weight)
		qsort(out, take, sizeof(*out), compare_u32);
	c->filled += take;
}

static void emit_leaf(struct choosing *c, uint32_t leaf, uint32_t free, uint32_t take)
{
	const struct leaf *l = &c->t->leaves[leaf];
	if (!take)
		return;
	c->leaves_used++;
	if (take < free) {
		emit_some(c, l, free, take);
		return;
	}
	for (uint32_t i = 0;
	     i < l->span_count && l->spans[i].word < bitset_words(c->candidates->bits); i++) {
		uint64_t w = c->candidates->words[l->spans[i].word] & l->spans[i].mask;
		for (; w; w &= w - 1)
			c->ret[c->filled++] = l->spans[i].word * 64 + (uint32_t)__builtin_ctzll(w);
	}
}

/* A place of several leaves is itself filled leaf by leaf, again as few as possible. */
static void emit_wide(struct choosing *c, const struct place *p)
{
	struct place *parts = ARENA_ARRAY(c->arena, struct place, p->leaves + 1);
	for (uint32_t i = 0; i < p->leaves; i++) {
		parts[i] = (struct place) { .leaf = p->leaf + i, .leaves = 1 };
		place_count(c, &parts[i], &parts[i].least);
		parts[i].room = parts[i].free;
	}
	places_take(parts, p->leaves, p->take, c->arena);
	for (uint32_t i = 0; i < p->leaves; i++)
		emit_leaf(c, parts[i].leaf, parts[i].free, parts[i].take);
}

void places_emit(struct choosing *c, const struct place *p, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (p[i].take && p[i].leaves > 1)
			emit_wide(c, &p[i]);
		else
			emit_leaf(c, p[i].leaf, p[i].free, p[i].take);
	}
}
