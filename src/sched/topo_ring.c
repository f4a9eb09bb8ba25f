/* SPDX-License-Identifier: Apache-2.0 */
/* topo_ring.c - nodes in circles: a job gets an arc of one ring, and the end of the list meets its beginning.
 *
 * Ranks follow the ring, so that neighbours in rank are neighbours on the wire. */
#include "sched/topo_impl.h"

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>

static int ring_build(struct build *b, struct error *err)
{
	for (uint32_t i = 0; i < b->spec->unit_count; i++) {
		const struct topo_unit *u = &b->spec->units[i];
		if (!u->nodes)
			return error_set(err, -EINVAL, "%s: ring %s has no nodes", u->where,
					 u->name);
		int r = leaf_add(b, u, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool ring_choose(struct choosing *c)
{
	struct run best = {};
	struct run_scope where = {};
	for (uint32_t i = 0; i < c->t->leaf_count; i++) {
		const struct leaf *l = &c->t->leaves[i];
		struct run_scope ring = { .order = l->nodes,
					  .count = l->node_count,
					  .wraps = true };
		struct run one = {};
		run_find(c, &ring, &one);
		if (!one.found ||
		    (best.found && (one.length > best.length ||
				    (one.length == best.length && one.weight >= best.weight))))
			continue;
		best = one;
		where = ring;
	}
	if (!best.found)
		return false;
	run_emit(c, &where, &best);
	c->leaves_used = 1;
	return true;
}

static void ring_address(const struct topology *t, uint32_t leaf, struct buf *addr,
			 struct buf *pattern)
{
	buf_printf(addr, "%s.", t->leaves[leaf].name);
	buf_puts(pattern, "ring.");
}

static uint32_t ring_show(const struct topology *t, const struct topo_show *show, struct buf *out)
{
	return leaves_show_plain(t, "RingName", show, out);
}

const struct topo_ops topo_ring_ops = { .kind = TOPO_RING,
					.noun = "ring",
					.build = ring_build,
					.choose = ring_choose,
					.address = ring_address,
					.show = ring_show };
