/* SPDX-License-Identifier: Apache-2.0 */
/* topo_tree.c - switches: a job gets nodes below the lowest switch that has enough, from few leaf switches.
 *
 * Leaves stand in the order of a walk down the tree, so a switch at any level is a run of leaves.  A question
 * goes like this:
 *
 *   1. count the candidates of every leaf; sums over the leaves give those of every switch;
 *   2. level by level from below: which switches have enough, and all required nodes; of these the one that
 *      needs the fewest leaves, then the lighter, then the fuller one (topo_pick.c says how few that is);
 *   3. take nodes from its leaves.
 *
 * --switches makes level after level fail until the leaves are few enough; a higher switch can need fewer.
 * Switches without a common one above them never share a job. */
#include "sched/topo_impl.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "text/hostlist.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define NO_SWITCH UINT32_MAX

struct tree_switch {                           /* in the order of the file */
	const char *name, *link_speed, *below; /* below: hostlist of the switches under it */
	const char *where;
	uint32_t parent;
	uint32_t level; /* 0: a leaf */
	uint32_t leaf, leaves;
	uint32_t *children;
	uint32_t child_count;
};

struct tree {
	struct tree_switch *switches;
	uint32_t count;
	uint32_t *by_level;    /* switches, lowest level first */
	uint32_t *leaf_switch; /* the switch that is leaf i */
};

/* ---- building ---------------------------------------------------------------------------------- */

static int children_join(struct build *b, struct tree *tr, uint32_t at, const struct map *index,
			 struct error *err)
{
	struct arena *a = b->t->arena;
	struct tree_switch *s = &tr->switches[at];
	struct hostlist names = {};
	int r = hostlist_expand(b->spec->units[at].switches, a, &names, err);
	if (r < 0)
		return error_wrap(err, r, "%s: switch %s", s->where, s->name);
	s->children = ARENA_ARRAY(a, uint32_t, names.count + 1);
	for (uint32_t i = 0; i < names.count; i++) {
		uintptr_t child = (uintptr_t)map_get_str(index, names.names[i]);
		if (!child)
			return error_set(err, -EINVAL,
					 "%s: switch %s: there is no switch %s below it", s->where,
					 s->name, names.names[i]);
		struct tree_switch *c = &tr->switches[child - 1];
		if (c->parent != NO_SWITCH)
			return error_set(err, -EINVAL, "%s: switch %s is already below %s (%s)",
					 s->where, c->name, tr->switches[c->parent].name,
					 tr->switches[c->parent].where);
		c->parent = at;
		s->children[s->child_count++] = (uint32_t)child - 1;
	}
	AUTO_BUF struct buf text = {};
	hostlist_compress(names.names, names.count, &text);
	s->below = arena_strdup(a, buf_text(&text));
	return 0;
}

/* With one parent each, going up either ends or comes back to where it began. */
static int loops_check(const struct tree *tr, struct error *err)
{
	for (uint32_t i = 0; i < tr->count; i++) {
		uint32_t at = tr->switches[i].parent, steps = 0;
		while (at != NO_SWITCH && at != i && steps++ < tr->count)
			at = tr->switches[at].parent;
		if (at == i)
			return error_set(err, -EINVAL, "%s: switch %s is below itself",
					 tr->switches[i].where, tr->switches[i].name);
	}
	return 0;
}

/* Numbers the leaves below a switch; the depth is bounded, there are no loops. */
static int walk(struct build *b, struct tree *tr, uint32_t at, struct error *err)
{
	struct tree_switch *s = &tr->switches[at];
	s->leaf = b->t->leaf_count;
	if (!s->child_count) {
		tr->leaf_switch[s->leaf] = at;
		s->leaves = 1;
		return leaf_add(b, &b->spec->units[at], err);
	}
	for (uint32_t i = 0; i < s->child_count; i++) {
		int r = walk(b, tr, s->children[i], err);
		if (r < 0)
			return r;
		uint32_t level = tr->switches[s->children[i]].level + 1;
		s->level = level > s->level ? level : s->level;
	}
	s->leaves = b->t->leaf_count - s->leaf;
	return 0;
}

static void sort_levels(struct build *b, struct tree *tr)
{
	uint32_t n = 0;
	tr->by_level = ARENA_ARRAY(b->t->arena, uint32_t, tr->count + 1);
	for (uint32_t level = 0; n < tr->count; level++)
		for (uint32_t i = 0; i < tr->count; i++)
			if (tr->switches[i].level == level)
				tr->by_level[n++] = i;
}

static int units_read(struct build *b, struct tree *tr, struct map *index, struct error *err)
{
	struct arena *a = b->t->arena;
	for (uint32_t i = 0; i < tr->count; i++) {
		const struct topo_unit *u = &b->spec->units[i];
		if (!u->nodes == !u->switches)
			return error_set(
				err, -EINVAL, "%s: switch %s %s", u->where, u->name,
				u->nodes ? "has nodes and switches below it: give one of them"
					 : "needs nodes or switches below it");
		tr->switches[i] = (struct tree_switch) { .name = arena_strdup(a, u->name),
							 .where = arena_strdup(a, u->where),
							 .link_speed = arena_strdup(a,
										    u->link_speed),
							 .parent = NO_SWITCH };
		map_put_str(index, u->name, (void *)(uintptr_t)(i + 1));
	}
	for (uint32_t i = 0; i < tr->count; i++) {
		int r = b->spec->units[i].switches ? children_join(b, tr, i, index, err) : 0;
		if (r < 0)
			return r;
		if (b->spec->units[i].switches && !tr->switches[i].child_count)
			return error_set(err, -EINVAL,
					 "%s: switch %s needs nodes or switches below it",
					 tr->switches[i].where, tr->switches[i].name);
	}
	return loops_check(tr, err);
}

static int tree_build(struct build *b, struct error *err)
{
	struct arena *a = b->t->arena;
	struct tree *tr = ARENA_NEW(a, struct tree);
	struct map index = {};
	tr->count = b->spec->unit_count;
	tr->switches = ARENA_ARRAY(a, struct tree_switch, tr->count + 1);
	tr->leaf_switch = ARENA_ARRAY(a, uint32_t, tr->count + 1);
	b->t->own = tr;
	int r = units_read(b, tr, &index, err);
	map_done(&index);
	for (uint32_t i = 0; i < tr->count && r >= 0; i++)
		if (tr->switches[i].parent == NO_SWITCH)
			r = walk(b, tr, i, err);
	if (r >= 0)
		sort_levels(b, tr);
	return r;
}

/* ---- choosing ---------------------------------------------------------------------------------- */

struct totals { /* of the leaves before leaf i, so that a switch is a difference */
	uint32_t free, room, least;
	uint64_t weight;
};

static struct totals *totals_make(const struct place *p, uint32_t count, struct arena *a)
{
	struct totals *t = ARENA_ARRAY(a, struct totals, count + 1);
	for (uint32_t i = 0; i < count; i++)
		t[i + 1] = (struct totals) { t[i].free + p[i].free, t[i].room + p[i].room,
					     t[i].least + p[i].least, t[i].weight + p[i].weight };
	return t;
}

static uint32_t switch_free(const struct tree_switch *s, const struct totals *t)
{
	return t[s->leaf + s->leaves].free - t[s->leaf].free;
}

struct search {
	struct choosing *c;
	const struct tree *tr;
	struct place *places;
	struct totals *totals;
};

/* How good a switch is for this job; false when it has too little. */
static bool switch_score(const struct search *q, const struct tree_switch *s, struct score *ret)
{
	const struct totals *end = &q->totals[s->leaf + s->leaves], *begin = &q->totals[s->leaf];
	const struct topo_wish *w = q->c->wish;
	uint32_t all_least = q->totals[q->c->t->leaf_count].least;
	if (end->room - begin->room < w->want || end->least - begin->least != all_least)
		return false;
	uint32_t needed = places_needed(q->places + s->leaf, s->leaves, w->want, q->c->arena);
	*ret = (struct score) { .needed = needed,
				.free = end->free - begin->free,
				.weight = end->weight - begin->weight,
				.crowd = s->parent == NO_SWITCH
						 ? 0
						 : switch_free(&q->tr->switches[s->parent],
							       q->totals) };
	return needed && (!w->switches_max || needed <= w->switches_max);
}

/* The best switch of the lowest level that has one. */
static const struct tree_switch *find_switch(const struct search *q)
{
	const struct tree_switch *best = NULL;
	struct score best_score = {};
	for (uint32_t i = 0; i < q->tr->count; i++) {
		const struct tree_switch *s = &q->tr->switches[q->tr->by_level[i]];
		struct score score;
		if (best && s->level > best->level)
			break;
		if (!switch_score(q, s, &score))
			continue;
		if (!best || score_better(&score, &best_score)) {
			best = s;
			best_score = score;
		}
	}
	return best;
}

struct row { /* for --contiguous */
	const struct choosing *c;
	struct line line;
};

static uint32_t line_leaves(const void *arg, uint32_t start)
{
	const struct row *r = arg;
	const struct choosing *c = r->c;
	uint32_t leaf = c->t->leaf_of[r->line.order[start]];
	uint32_t last = c->t->leaf_of[r->line.order[start + c->wish->want - 1]];
	uint32_t cost = last - leaf + 1, most = c->wish->switches_max;
	return (most && cost > most) || !line_keeps_segments(c, &r->line, 1, start) ? 0 : cost;
}

/* Neighbours in the order of the leaves, below the lowest switch that has such. */
static bool choose_in_line(struct choosing *c)
{
	const struct tree *tr = c->t->own;
	struct row row = { c, line_make(c->t, c->arena) };
	const uint32_t *first = row.line.first;
	struct run best = {};
	uint32_t level = 0;
	for (uint32_t i = 0; i < tr->count; i++) {
		const struct tree_switch *s = &tr->switches[tr->by_level[i]];
		if (best.found && s->level > level)
			break;
		struct run_scope scope = { .order = row.line.order,
					   .first = first[s->leaf],
					   .count = first[s->leaf + s->leaves] - first[s->leaf],
					   .cost = line_leaves,
					   .arg = &row };
		level = s->level;
		run_find(c, &scope, &best);
	}
	if (!best.found)
		return false;
	for (uint32_t i = 0; i < c->wish->want; i++)
		c->ret[c->filled++] = row.line.order[best.start + i];
	c->leaves_used = best.cost;
	return true;
}

/* A leaf among many that are alike: one in a neighbourhood with much room comes first. */
static void set_crowds(const struct search *q, const struct tree_switch *under)
{
	for (uint32_t i = under->leaf; i < under->leaf + under->leaves; i++) {
		uint32_t parent = q->tr->switches[q->tr->leaf_switch[i]].parent;
		if (parent != NO_SWITCH)
			q->places[i].crowd = switch_free(&q->tr->switches[parent], q->totals);
	}
}

static bool tree_choose(struct choosing *c)
{
	struct search q = { .c = c, .tr = c->t->own };
	uint32_t count;
	if (c->wish->contiguous)
		return choose_in_line(c);
	if (!places_make(c, 1, c->wish->segment, &q.places, &count))
		return false;
	q.totals = totals_make(q.places, count, c->arena);
	const struct tree_switch *s = find_switch(&q);
	if (!s)
		return false;
	set_crowds(&q, s);
	places_take(q.places + s->leaf, s->leaves, c->wish->want, c->arena);
	places_emit(c, q.places + s->leaf, s->leaves);
	return true;
}

/* ---- telling ----------------------------------------------------------------------------------- */

static void address_above(const struct tree *tr, uint32_t at, struct buf *addr, struct buf *pattern)
{
	if (tr->switches[at].parent != NO_SWITCH)
		address_above(tr, tr->switches[at].parent, addr, pattern);
	buf_printf(addr, "%s.", tr->switches[at].name);
	buf_puts(pattern, "switch.");
}

static void tree_address(const struct topology *t, uint32_t leaf, struct buf *addr,
			 struct buf *pattern)
{
	const struct tree *tr = t->own;
	address_above(tr, tr->leaf_switch[leaf], addr, pattern);
}

static uint32_t tree_show(const struct topology *t, const struct topo_show *show, struct buf *out)
{
	const struct tree *tr = t->own;
	uint32_t shown = 0;
	for (uint32_t i = 0; i < tr->count; i++) {
		const struct tree_switch *s = &tr->switches[i];
		uint32_t leaf = show->node < t->node_count ? t->leaf_of[show->node] : 0;
		bool has = show->node == BITSET_NONE ||
			   (leaf > s->leaf && leaf <= s->leaf + s->leaves);
		if (!has || (show->unit && !str_eq(show->unit, s->name)))
			continue;
		buf_printf(out, "SwitchName=%s Level=%u LinkSpeed=%s", s->name, s->level,
			   str_empty(s->link_speed) ? "1" : s->link_speed);
		leaves_show(t, s->leaf, s->leaves, show, out);
		if (s->below)
			buf_printf(out, " Switches=%s", s->below);
		buf_putc(out, '\n');
		shown++;
	}
	return shown;
}

const struct topo_ops topo_tree_ops = { .kind = TOPO_TREE,
					.noun = "switch",
					.build = tree_build,
					.choose = tree_choose,
					.address = tree_address,
					.show = tree_show };
