/* SPDX-License-Identifier: Apache-2.0 */
/* topo_torus.c - nodes in a box whose opposite faces meet: a job gets a smaller box.
 *
 * A placement is a corner and a shape a x b x c with exactly as many nodes as are wanted; it may reach over a
 * face.  The most compact shape that is free anywhere wins (the fewest links leave it), and of its places the
 * one with the fewest free nodes around it, so that what stays free hangs together.
 *
 * Questions about boxes are answered by sums over all boxes that begin in the corner, kept for the torus
 * written twice in each direction, so that a box over a face needs no case of its own.  The cost of a question
 * is so independent of the size of the box; a torus of n nodes has at most n corners per shape. */
#include "sched/topo_impl.h"

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

enum { AXES = 3 };

struct box {
	uint32_t at[AXES], size[AXES];
};

struct sums { /* over the doubled torus: sum of the cells before (x, y, z) in each direction */
	const struct leaf *l;
	uint32_t span[AXES]; /* 2 * size + 1 */
	uint32_t *free, *required;
};

static uint32_t axis(const struct leaf *l, unsigned i)
{
	return i == 0 ? l->x : i == 1 ? l->y : l->z;
}

static size_t cell(const struct sums *s, uint32_t x, uint32_t y, uint32_t z)
{
	return ((size_t)z * s->span[1] + y) * s->span[0] + x;
}

static uint32_t node_of(const struct leaf *l, uint32_t x, uint32_t y, uint32_t z)
{
	return l->nodes[(z % l->z * l->y + y % l->y) * l->x + x % l->x];
}

static uint32_t *sums_make(const struct sums *s, const struct bitset *set, struct arena *a)
{
	uint32_t *sum = ARENA_ARRAY(a, uint32_t, (size_t)s->span[0] * s->span[1] * s->span[2]);
	for (uint32_t z = 1; z < s->span[2]; z++)
		for (uint32_t y = 1; y < s->span[1]; y++)
			for (uint32_t x = 1; x < s->span[0]; x++)
				sum[cell(s, x, y, z)] =
					(uint32_t)bitset_has(set,
							     node_of(s->l, x - 1, y - 1, z - 1)) +
					sum[cell(s, x - 1, y, z)] + sum[cell(s, x, y - 1, z)] +
					sum[cell(s, x, y, z - 1)] - sum[cell(s, x - 1, y - 1, z)] -
					sum[cell(s, x - 1, y, z - 1)] -
					sum[cell(s, x, y - 1, z - 1)] +
					sum[cell(s, x - 1, y - 1, z - 1)];
	return sum;
}

static uint32_t box_sum(const struct sums *s, const uint32_t *sum, const struct box *b)
{
	uint32_t x = b->at[0], y = b->at[1], z = b->at[2];
	uint32_t u = x + b->size[0], v = y + b->size[1], w = z + b->size[2];
	return sum[cell(s, u, v, w)] - sum[cell(s, x, v, w)] - sum[cell(s, u, y, w)] -
	       sum[cell(s, u, v, z)] + sum[cell(s, x, y, w)] + sum[cell(s, x, v, z)] +
	       sum[cell(s, u, y, z)] - sum[cell(s, x, y, z)];
}

/* Free nodes in the box grown by one on each side. */
static uint32_t box_around(const struct sums *s, const struct box *b)
{
	struct box grown;
	for (unsigned i = 0; i < AXES; i++) {
		uint32_t most = axis(s->l, i), size = b->size[i] + 2;
		grown.size[i] = size < most ? size : most;
		grown.at[i] = size < most ? (b->at[i] + most - 1) % most : 0;
	}
	return box_sum(s, s->free, &grown);
}

struct best {
	bool found;
	const struct leaf *l;
	struct box box;
	uint32_t surface, around;
	uint64_t weight;
};

static uint64_t box_weight(const struct choosing *c, const struct leaf *l, const struct box *b)
{
	uint64_t sum = 0;
	for (uint32_t z = 0; c->wish->weight && z < b->size[2]; z++)
		for (uint32_t y = 0; y < b->size[1]; y++)
			for (uint32_t x = 0; x < b->size[0]; x++)
				sum += c->wish->weight[node_of(l, b->at[0] + x, b->at[1] + y,
							       b->at[2] + z)];
	return sum;
}

static void corner_try(const struct choosing *c, const struct sums *s, const struct box *b,
		       uint32_t surface, struct best *best)
{
	if (box_sum(s, s->free, b) != c->wish->want || box_sum(s, s->required, b) != c->required)
		return;
	uint64_t weight = box_weight(c, s->l, b);
	uint32_t around = box_around(s, b);
	if (best->found && best->surface == surface &&
	    (weight > best->weight || (weight == best->weight && around >= best->around)))
		return;
	*best = (struct best) { true, s->l, *b, surface, around, weight };
}

/* A box as long as the torus has one place in that direction. */
static uint32_t corners(const struct sums *s, const struct box *b, unsigned i)
{
	return b->size[i] == axis(s->l, i) ? 1 : axis(s->l, i);
}

static void shape_try(const struct choosing *c, const struct sums *s, struct box *b,
		      struct best *best)
{
	uint32_t surface = b->size[0] * b->size[1] + b->size[1] * b->size[2] +
			   b->size[2] * b->size[0];
	if (best->found && surface > best->surface)
		return;
	for (b->at[2] = 0; b->at[2] < corners(s, b, 2); b->at[2]++)
		for (b->at[1] = 0; b->at[1] < corners(s, b, 1); b->at[1]++)
			for (b->at[0] = 0; b->at[0] < corners(s, b, 0); b->at[0]++)
				corner_try(c, s, b, surface, best);
}

static void torus_try(const struct choosing *c, const struct leaf *l, struct best *best)
{
	uint32_t want = c->wish->want;
	struct sums s = { .l = l, .span = { 2 * l->x + 1, 2 * l->y + 1, 2 * l->z + 1 } };
	struct bitset none = {};
	if (leaf_count_in(l, c->candidates) < want)
		return;
	s.free = sums_make(&s, c->candidates, c->arena);
	s.required = c->required ? sums_make(&s, c->wish->required, c->arena)
				 : sums_make(&s, &none, c->arena);
	for (uint32_t x = 1; x <= l->x; x++) {
		for (uint32_t y = 1; y <= l->y && want % x == 0; y++) {
			struct box b = { .size = { x, y, want / x / y } };
			if (want / x % y == 0 && b.size[2] <= l->z)
				shape_try(c, &s, &b, best);
		}
	}
}

static bool torus_choose(struct choosing *c)
{
	struct best best = {};
	for (uint32_t i = 0; i < c->t->leaf_count; i++)
		torus_try(c, &c->t->leaves[i], &best);
	if (!best.found)
		return false;
	const struct box *b = &best.box;
	for (uint32_t z = 0; z < b->size[2]; z++)
		for (uint32_t y = 0; y < b->size[1]; y++)
			for (uint32_t x = 0; x < b->size[0]; x++)
				c->ret[c->filled++] = node_of(best.l, b->at[0] + x, b->at[1] + y,
							      b->at[2] + z);
	c->leaves_used = 1;
	return true;
}

static int torus_build(struct build *b, struct error *err)
{
	for (uint32_t i = 0; i < b->spec->unit_count; i++) {
		const struct topo_unit *u = &b->spec->units[i];
		if (!u->nodes || !u->x || !u->y || !u->z)
			return error_set(err, -EINVAL,
					 "%s: torus %s needs nodes and a size in x, y and z",
					 u->where, u->name);
		int r = leaf_add(b, u, err);
		if (r < 0)
			return r;
		uint32_t nodes = b->t->leaves[i].node_count;
		if ((uint64_t)u->x * u->y > nodes || (uint64_t)u->x * u->y * u->z != nodes)
			return error_set(err, -EINVAL, "%s: torus %s is %ux%ux%u but has %u nodes",
					 u->where, u->name, u->x, u->y, u->z, nodes);
	}
	return 0;
}

static void torus_address(const struct topology *t, uint32_t leaf, struct buf *addr,
			  struct buf *pattern)
{
	buf_printf(addr, "%s.", t->leaves[leaf].name);
	buf_puts(pattern, "torus.");
}

static uint32_t torus_show(const struct topology *t, const struct topo_show *show, struct buf *out)
{
	return leaves_show_plain(t, "TorusName", show, out);
}

const struct topo_ops topo_torus_ops = { .kind = TOPO_TORUS3D,
					 .noun = "torus",
					 .build = torus_build,
					 .choose = torus_choose,
					 .address = torus_address,
					 .show = torus_show };
