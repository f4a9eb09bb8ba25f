/* SPDX-License-Identifier: Apache-2.0 */
/* topo.c - topologies as their users see them; the kinds are in topo_*.c, one vtable each.
 *
 * Building sorts the nodes into leaves and refuses what cannot be a fabric, naming the line.  After that a
 * topology never changes: it is one arena, shared by whoever holds it (topo_set.h counts them).
 *
 * Choosing checks once what is the same for all kinds (a size that is a multiple of the segment, required nodes
 * that are candidates) and leaves the rest to the kind. */
#include "sched/topo_impl.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "text/hostlist.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct topo_ops *const kinds[] = {
	[TOPO_FLAT] = &topo_flat_ops,     [TOPO_TREE] = &topo_tree_ops,
	[TOPO_BLOCK] = &topo_block_ops,   [TOPO_RING] = &topo_ring_ops,
	[TOPO_TORUS3D] = &topo_torus_ops,
};

/* ---- building ---------------------------------------------------------------------------------- */

int unit_names_check(const struct build *b, struct error *err)
{
	struct map seen = {};
	int r = 0;
	for (uint32_t i = 0; i < b->spec->unit_count && r >= 0; i++) {
		const struct topo_unit *u = &b->spec->units[i];
		const struct topo_unit *before = map_put_str(&seen, u->name, (void *)(uintptr_t)u);
		if (before)
			r = error_set(err, -EINVAL, "%s: %s %s is configured twice, first in %s",
				      u->where, b->t->ops->noun, u->name, before->where);
	}
	map_done(&seen);
	return r;
}

/* The words of a node bitset that the leaf touches. */
static void leaf_spans(struct topology *t, struct leaf *l)
{
	struct bitset set;
	bitset_init(&set, t->node_count);
	for (uint32_t i = 0; i < l->node_count; i++)
		bitset_add(&set, l->nodes[i]);
	l->spans = ARENA_ARRAY(t->arena, struct span, l->node_count + 1);
	for (uint32_t w = 0; w < bitset_words(set.bits); w++)
		if (set.words[w])
			l->spans[l->span_count++] = (struct span) { w, set.words[w] };
	bitset_done(&set);
}

int leaf_add(struct build *b, const struct topo_unit *u, struct error *err)
{
	struct topology *t = b->t;
	AUTO_ARENA struct arena *turn = arena_new();
	struct hostlist names = {};
	int r = hostlist_expand(u->nodes, turn, &names, err);
	if (r < 0)
		return error_wrap(err, r, "%s: %s %s", u->where, t->ops->noun, u->name);
	struct leaf *l = &t->leaves[t->leaf_count];
	*l = (struct leaf) { .name = arena_strdup(t->arena, u->name),
			     .where = arena_strdup(t->arena, u->where),
			     .nodes = ARENA_ARRAY(t->arena, uint32_t, names.count + 1),
			     .x = u->x,
			     .y = u->y,
			     .z = u->z };
	for (uint32_t i = 0; i < names.count; i++) {
		int node = b->node_index(b->arg, names.names[i]);
		if (node < 0 || (uint32_t)node >= t->node_count)
			return error_set(
				err, -EINVAL,
				"%s: %s %s: node %s is not configured: give it a NodeName line",
				u->where, t->ops->noun, u->name, names.names[i]);
		uint32_t *owner = &t->leaf_of[node];
		if (*owner)
			return error_set(err, -EINVAL, "%s: node %s is already in %s %s (%s)",
					 u->where, names.names[i], t->ops->noun,
					 t->leaves[*owner - 1].name, t->leaves[*owner - 1].where);
		*owner = t->leaf_count + 1;
		l->nodes[l->node_count++] = (uint32_t)node;
	}
	leaf_spans(t, l);
	t->leaf_count++;
	return 0;
}

int topology_new(const struct topo_spec *spec, uint32_t node_count, topo_node_fn node_index,
		 void *arg, struct topology **ret, struct error *err)
{
	struct arena *a = arena_new();
	struct topology *t = ARENA_NEW(a, struct topology);
	*t = (struct topology) { .ops = kinds[spec->kind],
				 .arena = a,
				 .name = arena_strdup(a, spec->name),
				 .is_default = spec->is_default,
				 .node_count = node_count,
				 .leaves = ARENA_ARRAY(a, struct leaf, spec->unit_count + 1),
				 .leaf_of = ARENA_ARRAY(a, uint32_t, node_count + 1) };
	struct build b = { t, spec, node_index, arg };
	int r = unit_names_check(&b, err);
	if (r >= 0)
		r = t->ops->build(&b, err);
	if (r < 0) {
		arena_free(a);
		return r;
	}
	*ret = t;
	return 0;
}

void topology_free(struct topology *t)
{
	if (t)
		arena_free(t->arena);
}

enum topo_kind topology_kind(const struct topology *t)
{
	return t ? t->ops->kind : TOPO_FLAT;
}

const char *topology_name(const struct topology *t)
{
	return t ? t->name : "default";
}

bool topology_is_default(const struct topology *t)
{
	return !t || t->is_default;
}

uint32_t topology_loose_node(const struct topology *t, const struct bitset *nodes)
{
	if (topology_kind(t) == TOPO_FLAT)
		return BITSET_NONE;
	for (uint32_t i = bitset_next(nodes, 0); i != BITSET_NONE; i = bitset_next(nodes, i + 1))
		if (i >= t->node_count || !t->leaf_of[i])
			return i;
	return BITSET_NONE;
}

/* ---- choosing ---------------------------------------------------------------------------------- */

/* A node that no leaf has is alone in the world: it serves jobs of one node, when no other can. */
static bool choose_loose(struct choosing *c)
{
	const struct bitset *from = c->required ? c->wish->required : c->candidates;
	uint32_t best = BITSET_NONE;
	if (c->wish->want != 1)
		return false;
	for (uint32_t i = bitset_next(from, 0); i != BITSET_NONE; i = bitset_next(from, i + 1)) {
		if (i < c->t->node_count && c->t->leaf_of[i])
			continue;
		if (best == BITSET_NONE ||
		    (c->wish->weight && c->wish->weight[i] < c->wish->weight[best]))
			best = i;
	}
	if (best == BITSET_NONE)
		return false;
	c->ret[c->filled++] = best;
	c->leaves_used = 1;
	return true;
}

bool topology_choose(const struct topology *t, const struct bitset *candidates,
		     const struct topo_wish *wish, struct arena *a, uint32_t *ret,
		     uint32_t *ret_switches)
{
	struct choosing c = {
		.t = t, .candidates = candidates, .wish = wish, .arena = a, .ret = ret
	};
	const struct topo_ops *ops = t ? t->ops : &topo_flat_ops;
	if (wish->want == 0 || (wish->segment && wish->want % wish->segment))
		return false;
	if (wish->required) {
		c.required = bitset_count(wish->required);
		if (c.required > wish->want || !bitset_contains(candidates, wish->required))
			return false;
	}
	if (!ops->choose(&c) && (ops->kind == TOPO_FLAT || !choose_loose(&c)))
		return false;
	assert(c.filled == wish->want);
	if (ret_switches)
		*ret_switches = c.leaves_used;
	return true;
}

/* ---- telling ----------------------------------------------------------------------------------- */

void topology_address(const struct topology *t, uint32_t node, const char *node_name,
		      struct buf *addr, struct buf *pattern)
{
	if (t && t->ops->address && node < t->node_count && t->leaf_of[node])
		t->ops->address(t, t->leaf_of[node] - 1, addr, pattern);
	buf_puts(addr, node_name);
	buf_puts(pattern, "node");
}

uint32_t topology_show(const struct topology *t, const struct topo_show *show, struct buf *out)
{
	return t && t->ops->show ? t->ops->show(t, show, out) : 0;
}

void leaves_show(const struct topology *t, uint32_t first, uint32_t count,
		 const struct topo_show *show, struct buf *out)
{
	AUTO_ARENA struct arena *turn = arena_new();
	struct bitset set;
	bitset_init_in(&set, t->node_count, turn);
	for (uint32_t i = first; i < first + count; i++)
		for (uint32_t k = 0; k < t->leaves[i].node_count; k++)
			bitset_add(&set, t->leaves[i].nodes[k]);
	char **names = ARENA_ARRAY(turn, char *, bitset_count(&set) + 1);
	uint32_t n = 0;
	for (uint32_t i = bitset_next(&set, 0); i != BITSET_NONE; i = bitset_next(&set, i + 1)) {
		const char *name = show->node_name(show->arg, i);
		if (name)
			names[n++] = (char *)(uintptr_t)name;
	}
	buf_puts(out, " Nodes=");
	hostlist_compress(names, n, out);
}

uint32_t leaves_show_plain(const struct topology *t, const char *key, const struct topo_show *show,
			   struct buf *out)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < t->leaf_count; i++) {
		const struct leaf *l = &t->leaves[i];
		bool has = show->node == BITSET_NONE ||
			   (show->node < t->node_count && t->leaf_of[show->node] == i + 1);
		if (!has || (show->unit && !str_eq(show->unit, l->name)))
			continue;
		buf_printf(out, "%s=%s", key, l->name);
		if (l->x)
			buf_printf(out, " Size=%ux%ux%u", l->x, l->y, l->z);
		leaves_show(t, i, 1, show, out);
		buf_putc(out, '\n');
		shown++;
	}
	return shown;
}
