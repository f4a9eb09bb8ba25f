/* SPDX-License-Identifier: Apache-2.0 */
/* show_topology.c - scontrol show topology: the switches of topology.conf with the nodes below them.
 *
 * A switch above others has the nodes of all of them; its level is one above the highest of them.  The
 * tree is small and read once, so names are looked up by walking the list.  Depth is bounded by the number
 * of switches: a loop in the file cannot hang the command. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "client/show.h"
#include "schema/conf.h"
#include "text/hostlist.h"

struct tree {
	const struct switch_conf *switches;
	size_t count;
	struct arena *arena;
};

struct below {
	VEC(char *) nodes;
	uint32_t level;
};

static void collect(const struct tree *t, const struct switch_conf *s, size_t depth,
		    struct below *ret)
{
	struct hostlist names = {};
	if (!str_empty(s->nodes) && hostlist_expand(s->nodes, t->arena, &names, NULL) >= 0)
		for (uint32_t i = 0; i < names.count; i++)
			vec_push(&ret->nodes, names.names[i]);
	if (str_empty(s->switches) || depth == t->count ||
	    hostlist_expand(s->switches, t->arena, &names, NULL) < 0)
		return;
	uint32_t highest = 0;
	for (uint32_t i = 0; i < names.count; i++) {
		for (size_t k = 0; k < t->count; k++) {
			if (!str_eq(t->switches[k].name, names.names[i]))
				continue;
			ret->level = 0;
			collect(t, &t->switches[k], depth + 1, ret);
			highest = ret->level > highest ? ret->level : highest;
		}
	}
	ret->level = highest + 1;
}

static bool has_node(const struct below *b, const char *node)
{
	for (size_t i = 0; i < b->nodes.count; i++)
		if (str_eq(b->nodes.at[i], node))
			return true;
	return false;
}

uint32_t show_topology(const struct switch_conf *switches, size_t count, const char *unit,
		       const char *node, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct tree t = { switches, count, a };
	uint32_t shown = 0;
	for (size_t i = 0; i < count; i++) {
		const struct switch_conf *s = &switches[i];
		struct below b = {};
		collect(&t, s, 0, &b);
		if ((!unit || str_eq(unit, s->name)) && (!node || has_node(&b, node))) {
			buf_printf(out, "SwitchName=%s Level=%u LinkSpeed=%s Nodes=", s->name,
				   b.level, str_empty(s->link_speed) ? "1" : s->link_speed);
			hostlist_compress(b.nodes.at, (uint32_t)b.nodes.count, out);
			if (!str_empty(s->switches))
				buf_printf(out, " Switches=%s", s->switches);
			buf_putc(out, '\n');
			shown++;
		}
		vec_done(&b.nodes);
	}
	return shown;
}
