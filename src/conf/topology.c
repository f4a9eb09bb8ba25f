/* SPDX-License-Identifier: Apache-2.0 */
/* topology.conf: which switches connect which nodes.
 *
 * Lines are checked as a whole when all are read: a switch has nodes or switches below it, a node or
 * a switch has one switch above it, and going up from anywhere ends.  With one parent each and no
 * loop the lines are trees. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "text/hostlist.h"

#include <stdlib.h>
#include <string.h>

struct joining {
	struct loader *ld;
	struct map index; /* switch name to position + 1 */
	size_t *parent;   /* of each switch: position + 1, 0 for none */
};

static void switch_line(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct switch_conf s = { .where = (char *)(uintptr_t)where_is(ld, src, line->line) };
	if (!line_set(ld, &switch_conf_record, &s, src, line))
		return;
	if (strpbrk(s.name, ",[]"))
		report(ld, s.where, "SwitchName=%.100s: a line is about one switch", s.name);
	else if (!s.nodes && !s.switches)
		report(ld, s.where, "SwitchName=%s needs Nodes= or Switches=", s.name);
	else if (s.nodes && s.switches)
		report(ld, s.where, "SwitchName=%s has Nodes and Switches: give one of them", s.name);
	else
		vec_push(&ld->switches, s);
}

static void block_line(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct block_conf b = { .where = (char *)(uintptr_t)where_is(ld, src, line->line) };
	if (!line_set(ld, &block_conf_record, &b, src, line))
		return;
	if (!b.nodes && !b.sizes)
		report(ld, b.where, "BlockName=%s needs Nodes=", b.name);
	else
		vec_push(&ld->blocks, b);
}

static void topology_line(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	const char *key = line->pairs[0].key;
	if (str_ieq(key, "SwitchName"))
		switch_line(ld, src, line);
	else if (str_ieq(key, "BlockName") || str_ieq(key, "BlockSizes"))
		block_line(ld, src, line);
	else
		report(ld, where_is(ld, src, line->line),
		       "%.60s: a line of topology.conf begins with SwitchName=, BlockName= or BlockSizes=",
		       key);
}

/* ---- when all lines are known --------------------------------------------------------------------- */

static void names_join(struct joining *j)
{
	for (size_t i = 0; i < j->ld->switches.count; i++) {
		const struct switch_conf *s = &j->ld->switches.at[i];
		uintptr_t before = (uintptr_t)map_put_str(&j->index, s->name, (void *)(i + 1));
		if (before)
			report(j->ld, s->where, "switch %s is configured twice, first in %s", s->name,
			       j->ld->switches.at[before - 1].where);
	}
}

static void children_join(struct joining *j, size_t at)
{
	const struct switch_conf *s = &j->ld->switches.at[at];
	struct hostlist names;
	struct error err;
	if (!s->switches)
		return;
	if (hostlist_expand(s->switches, j->ld->arena, &names, &err) < 0) {
		report(j->ld, s->where, "Switches=%.100s: %s", s->switches, err.text);
		return;
	}
	for (uint32_t i = 0; i < names.count; i++) {
		uintptr_t child = (uintptr_t)map_get_str(&j->index, names.names[i]);
		if (!child) {
			report(j->ld, s->where, "Switches=%.100s: there is no switch %s", s->switches,
			       names.names[i]);
			return;
		}
		size_t *parent = &j->parent[child - 1];
		if (*parent) {
			report(j->ld, s->where, "switch %s is already below %s (%s)", names.names[i],
			       j->ld->switches.at[*parent - 1].name, j->ld->switches.at[*parent - 1].where);
			return;
		}
		*parent = at + 1;
	}
}

/* Going up more often than there are switches is going in circles.  A loop is reported once, where
 * its first line stands. */
static void loops_find(struct joining *j)
{
	size_t count = j->ld->switches.count;
	for (size_t i = 0; i < count; i++) {
		size_t at = i, steps = 0;
		while (j->parent[at] && steps++ <= count && (at = j->parent[at] - 1) != i)
			;
		if (!steps || at != i)
			continue;
		report(j->ld, j->ld->switches.at[i].where, "switch %s is below itself",
		       j->ld->switches.at[i].name);
		return;
	}
}

/* Every node below one leaf; `owner` remembers which. */
static void leaf_join(struct joining *j, const char *where, const char *nodes, const char *name,
		      const char **owner)
{
	struct bitset set;
	if (!nodes || !nodes_find(j->ld, where, "Nodes", nodes, &set))
		return;
	for (uint32_t i = bitset_next(&set, 0); i != BITSET_NONE; i = bitset_next(&set, i + 1)) {
		if (owner[i]) {
			report(j->ld, where, "node %s is already in %s", j->ld->nodes.at[i].name, owner[i]);
			return;
		}
		owner[i] = name;
	}
}

static void nodes_cover(struct joining *j)
{
	struct loader *ld = j->ld;
	const char **owner = ARENA_ARRAY(ld->arena, const char *, ld->nodes.count + 1);
	for (size_t i = 0; i < ld->switches.count; i++) {
		const struct switch_conf *s = &ld->switches.at[i];
		leaf_join(j, s->where, s->nodes, arena_printf(ld->arena, "switch %s (%s)", s->name, s->where),
			  owner);
	}
	const char **block_owner = ARENA_ARRAY(ld->arena, const char *, ld->nodes.count + 1);
	for (size_t i = 0; i < ld->blocks.count; i++) {
		const struct block_conf *b = &ld->blocks.at[i];
		const char *name = arena_printf(ld->arena, "block %s (%s)", b->name ? b->name : "", b->where);
		leaf_join(j, b->where, b->nodes, name, block_owner);
	}
	for (size_t i = 0; ld->switches.count && i < ld->nodes.count; i++) {
		if (owner[i])
			continue;
		remark(ld, "topology.conf", "no switch connects node %s", ld->nodes.at[i].name);
		return;
	}
}

void topology_load(struct loader *ld)
{
	size_t errors = ld->errors.count;
	load_sibling(ld, "topology.conf", topology_line);
	if (ld->errors.count > errors)
		return;
	struct joining j = { .ld = ld,
			     .parent = ARENA_ARRAY(ld->arena, size_t, ld->switches.count + 1) };
	names_join(&j);
	for (size_t i = 0; i < ld->switches.count; i++)
		children_join(&j, i);
	loops_find(&j);
	nodes_cover(&j);
	map_done(&j.index);
}
