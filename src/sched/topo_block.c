/* SPDX-License-Identifier: Apache-2.0 */
/* topo_block.c - blocks: racks of nodes that are wired together so well that a job must not straddle them.
 *
 * Blocks follow one another as they are listed; 2, 4, 8 ... of them in a row are aggregated blocks, of the sizes
 * that BlockSizes names.  The rule, by planned sizes (nodes that fail leave a gap, they do not move the borders):
 *
 *   B1. a job lies inside one block of the smallest size that could hold it;
 *   B2. inside it, it touches no more blocks of the next smaller size than its own size fills;
 *   B3. larger than the largest size: anywhere, but no more of the largest blocks than it fills (B2).
 *
 * A job that cannot keep the rule waits.  With segments the rule is about them: each lies inside one block of the
 * smallest size that holds a segment, and
 *
 *   by default       anywhere; below the smallest aggregated block that has room for all of them if there is one,
 *   consolidate      B1 to B3 hold for the whole job as well, counted in whole segments,
 *   spread           no two of them in the same block.
 *
 * A job without segments is one with segments of a single node that are to be consolidated, so there is one
 * procedure for all of it. */
#include "sched/topo_impl.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

enum { LEVELS_MAX = 32 };

struct blocks {
	uint32_t base;              /* nodes of a block, as planned */
	uint32_t level[LEVELS_MAX]; /* blocks of each aggregated size, ascending; the first is 1 */
	uint32_t levels;
};

/* ---- building ---------------------------------------------------------------------------------- */

static int add_level(const struct build *b, struct blocks *k, uint32_t size, struct error *err)
{
	uint32_t before = k->levels ? k->level[k->levels - 1] : 0, times = size / k->base;
	if (size % k->base || times <= before || (times & (times - 1)) || k->levels == LEVELS_MAX)
		return error_set(
			err, -EINVAL,
			"%s: block size %u: sizes ascend, and each is a power of two times the base of %u nodes",
			b->spec->where, size, k->base);
	k->level[k->levels++] = times;
	return 0;
}

static int levels_build(const struct build *b, struct blocks *k, struct error *err)
{
	const struct topology *t = b->t;
	if (b->spec->block_size_count) {
		k->base = b->spec->block_sizes[0];
		if (!k->base)
			return error_set(
				err, -EINVAL,
				"%s: a block of 0 nodes: the first size is that of a block",
				b->spec->where);
		for (uint32_t i = 0; i < b->spec->block_size_count; i++) {
			int r = add_level(b, k, b->spec->block_sizes[i], err);
			if (r < 0)
				return r;
		}
		return 0;
	}
	for (uint32_t i = 0; i < t->leaf_count; i++)
		if (!k->base || t->leaves[i].node_count < k->base)
			k->base = t->leaves[i].node_count;
	for (uint32_t times = 1; times <= t->leaf_count && k->levels < LEVELS_MAX; times *= 2)
		k->level[k->levels++] = times;
	return 0;
}

static int block_build(struct build *b, struct error *err)
{
	struct blocks *k = ARENA_NEW(b->t->arena, struct blocks);
	b->t->own = k;
	for (uint32_t i = 0; i < b->spec->unit_count; i++) {
		const struct topo_unit *u = &b->spec->units[i];
		int r = u->nodes ? leaf_add(b, u, err) : 0;
		if (r < 0)
			return r;
		if (!u->nodes || !b->t->leaves[i].node_count)
			return error_set(err, -EINVAL, "%s: block %s has no nodes", u->where,
					 u->name);
	}
	int r = levels_build(b, k, err);
	for (uint32_t i = 0; i < b->t->leaf_count && r >= 0; i++)
		if (b->t->leaves[i].node_count < k->base)
			r = error_set(err, -EINVAL,
				      "%s: block %s has %u nodes, fewer than the block size of %u",
				      b->t->leaves[i].where, b->t->leaves[i].name,
				      b->t->leaves[i].node_count, k->base);
	return r;
}

/* ---- choosing ---------------------------------------------------------------------------------- */

struct search {
	struct choosing *c;
	const struct blocks *k;
	uint32_t segment;
	uint32_t home; /* level of the places: where a segment stays inside */
	struct place *places;
	uint32_t count;
	uint32_t least; /* of all places */
};

/* Places in one aggregated block of a level at or above home. */
static uint32_t places_each(const struct search *q, uint32_t level)
{
	return q->k->level[level] / q->k->level[q->home];
}

/* Nodes in whole segments that a block of this level is planned for. */
static uint64_t planned(const struct search *q, uint32_t level)
{
	uint64_t home = (uint64_t)q->k->level[q->home] * q->k->base;
	return places_each(q, level) * (home / q->segment * q->segment);
}

/* Lower blocks as places of their own, so that they are chosen by the same reasoning. */
static struct place *merge(const struct search *q, const struct place *p, uint32_t count,
			   uint32_t each, uint32_t *ret_count)
{
	uint32_t n = (count + each - 1) / each;
	struct place *out = ARENA_ARRAY(q->c->arena, struct place, n + 1);
	for (uint32_t i = 0; i < count; i++) {
		struct place *o = &out[i / each];
		o->leaf = i % each ? o->leaf : p[i].leaf;
		o->leaves += p[i].leaves;
		o->free += p[i].free;
		o->room += p[i].room;
		o->least += p[i].least;
		o->weight += p[i].weight;
	}
	*ret_count = n;
	return out;
}

static uint32_t room_of(const struct place *p, uint32_t count)
{
	uint32_t room = 0;
	for (uint32_t i = 0; i < count; i++)
		room += p[i].room;
	return room;
}

/* Rule B2: keeps the places of the few lower blocks that the job may touch, and closes the others. */
static bool keep_few(const struct search *q, struct place *p, uint32_t count, uint32_t lower)
{
	uint32_t want = q->c->wish->want, each = places_each(q, lower), n;
	uint64_t full = planned(q, lower);
	uint32_t most = (uint32_t)((want + full - 1) / full);
	struct place *parts = merge(q, p, count, each, &n);
	uint32_t needed = places_needed(parts, n, want, q->c->arena);
	if (!needed || needed > most)
		return false;
	if (each == 1)
		return true;
	places_take(parts, n, want, q->c->arena);
	for (uint32_t i = 0; i < count; i++)
		if (!parts[i / each].take)
			p[i].room = 0;
	return true;
}

struct winner {
	bool found;
	struct score score;
	struct place *places;
	uint32_t count;
};

/* One aggregated block, or everything, as the home of the job.  `lower` < 0: B2 does not bind. */
static void range_try(const struct search *q, uint32_t first, uint32_t count, int lower,
		      struct winner *best)
{
	uint32_t want = q->c->wish->want, least = 0;
	struct score score = {};
	for (uint32_t i = first; i < first + count; i++) {
		least += q->places[i].least;
		score.free += q->places[i].free;
		score.weight += q->places[i].weight;
	}
	if (least != q->least || room_of(q->places + first, count) < want)
		return;
	struct place *p = arena_dup(q->c->arena, q->places + first, count * sizeof(*p));
	if (lower >= 0 && !keep_few(q, p, count, (uint32_t)lower))
		return;
	score.needed = places_needed(p, count, want, q->c->arena);
	if (!score.needed || (best->found && !score_better(&score, &best->score)))
		return;
	*best = (struct winner) { true, score, p, count };
}

static void level_try(const struct search *q, uint32_t level, int lower, struct winner *best)
{
	uint32_t each = places_each(q, level);
	for (uint32_t i = 0; i < q->count; i += each)
		range_try(q, i, q->count - i < each ? q->count - i : each, lower, best);
}

/* B1 to B3. */
static void find_strict(const struct search *q, struct winner *best)
{
	uint32_t level = q->home;
	while (level < q->k->levels && planned(q, level) < q->c->wish->want)
		level++;
	if (level == q->k->levels)
		range_try(q, 0, q->count, (int)level - 1, best);
	else
		level_try(q, level, level > q->home ? (int)level - 1 : -1, best);
}

/* Segments that need not be together still are where that is possible. */
static void find_near(const struct search *q, struct winner *best)
{
	for (uint32_t level = q->home; level < q->k->levels && !best->found; level++)
		level_try(q, level, -1, best);
	if (!best->found)
		range_try(q, 0, q->count, -1, best);
}

/* ---- neighbours -------------------------------------------------------------------------------- */

struct borders { /* for --contiguous: what a window must not cross */
	const struct search *q;
	struct line line;
	uint32_t border, lower,
		most; /* blocks that hold the job; lower ones, and how many of these at most */
};

static uint32_t line_cost(const void *arg, uint32_t start)
{
	const struct borders *l = arg;
	const struct search *q = l->q;
	uint32_t end = start + q->c->wish->want;
	uint32_t from = q->c->t->leaf_of[l->line.order[start]] - 1;
	uint32_t to = q->c->t->leaf_of[l->line.order[end - 1]] - 1;
	if (l->border && from / l->border != to / l->border)
		return 0;
	if (l->lower && to / l->lower - from / l->lower + 1 > l->most)
		return 0;
	return line_keeps_segments(q->c, &l->line, q->k->level[q->home], start) ? to - from + 1 : 0;
}

static bool choose_in_line(struct search *q, bool strict)
{
	struct choosing *c = q->c;
	struct borders borders = { .q = q, .line = line_make(c->t, c->arena) };
	uint32_t level = q->home;
	while (strict && level < q->k->levels && planned(q, level) < c->wish->want)
		level++;
	if (strict && level < q->k->levels)
		borders.border = q->k->level[level];
	if (strict && level > q->home) {
		uint64_t full = planned(q, level - 1);
		borders.lower = q->k->level[level - 1];
		borders.most = (uint32_t)((c->wish->want + full - 1) / full);
	}
	struct run_scope scope = { .order = borders.line.order,
				   .count = borders.line.first[c->t->leaf_count],
				   .cost = line_cost,
				   .arg = &borders };
	struct run best = {};
	run_find(c, &scope, &best);
	if (best.found)
		run_emit(c, &scope, &best);
	c->leaves_used = best.cost;
	return best.found;
}

static bool block_choose(struct choosing *c)
{
	struct search q = { .c = c,
			    .k = c->t->own,
			    .segment = c->wish->segment ? c->wish->segment : 1 };
	bool strict = !c->wish->segment || c->wish->consolidate_segments;
	struct winner best = {};
	while (q.home < q.k->levels && (uint64_t)q.k->level[q.home] * q.k->base < q.segment)
		q.home++;
	if (q.home == q.k->levels)
		return false;
	if (c->wish->contiguous)
		return choose_in_line(&q, strict);
	if (!places_make(c, q.k->level[q.home], q.segment, &q.places, &q.count))
		return false;
	for (uint32_t i = 0; i < q.count; i++)
		q.least += q.places[i].least;
	if (strict)
		find_strict(&q, &best);
	else
		find_near(&q, &best);
	if (!best.found || (c->wish->switches_max && best.score.needed > c->wish->switches_max))
		return false;
	places_take(best.places, best.count, c->wish->want, c->arena);
	places_emit(c, best.places, best.count);
	return true;
}

/* ---- telling ----------------------------------------------------------------------------------- */

static void block_address(const struct topology *t, uint32_t leaf, struct buf *addr,
			  struct buf *pattern)
{
	buf_printf(addr, "%s.", t->leaves[leaf].name);
	buf_puts(pattern, "block.");
}

/* "b[1-4]", which is also how an aggregated block is called. */
static void block_name(const struct topology *t, uint32_t first, uint32_t count, struct buf *out)
{
	AUTO_ARENA struct arena *turn = arena_new();
	char **names = ARENA_ARRAY(turn, char *, count + 1);
	for (uint32_t i = 0; i < count; i++)
		names[i] = (char *)(uintptr_t)t->leaves[first + i].name;
	hostlist_compress(names, count, out);
}

static uint32_t block_show(const struct topology *t, const struct topo_show *show, struct buf *out)
{
	const struct blocks *k = t->own;
	uint32_t shown = 0, index = 0;
	uint32_t leaf = show->node < t->node_count ? t->leaf_of[show->node] : 0;
	for (uint32_t level = 0; level < k->levels; level++) {
		uint32_t each = k->level[level];
		for (uint32_t first = 0; first + each <= t->leaf_count; first += each, index++) {
			AUTO_BUF struct buf name = {};
			block_name(t, first, each, &name);
			bool has = show->node == BITSET_NONE ||
				   (leaf > first && leaf <= first + each);
			if (!has || (show->unit && !str_eq(show->unit, buf_text(&name))))
				continue;
			buf_printf(out, "%s=%s BlockIndex=%u",
				   level ? "AggregatedBlock" : "BlockName", buf_text(&name), index);
			leaves_show(t, first, each, show, out);
			buf_printf(out, " BlockSize=%u\n", each * k->base);
			shown++;
		}
	}
	return shown;
}

const struct topo_ops topo_block_ops = { .kind = TOPO_BLOCK,
					 .noun = "block",
					 .build = block_build,
					 .choose = block_choose,
					 .address = block_address,
					 .show = block_show };
