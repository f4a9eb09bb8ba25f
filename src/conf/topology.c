/* SPDX-License-Identifier: Apache-2.0 */
/* topology.conf: which switches connect which nodes, or which blocks they are in.
 *
 * The file describes one topology, called default; TopologyPlugin says whether its switches or its blocks are
 * meant, and without it the file speaks for itself.  topology.yaml can describe several and is read instead where
 * it exists.  Lines are only read here: whether they can be a fabric (every node in one place, no loops) is asked
 * when one is built from them, because that needs to be asked in one place. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "text/hostlist.h"

#include <stdlib.h>
#include <string.h>

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
		report(ld, s.where, "SwitchName=%s has Nodes and Switches: give one of them",
		       s.name);
	else
		vec_push(&ld->switches, (struct topology_unit_conf) { .name = s.name,
								      .nodes = s.nodes,
								      .switches = s.switches,
								      .link_speed = s.link_speed,
								      .where = s.where });
}

static void block_sizes(struct loader *ld, const char *where, const char *text)
{
	char *rest = arena_strdup(ld->arena, text), *word;
	if (ld->block_sizes_where) {
		report(ld, where, "BlockSizes is given twice, first in %s", ld->block_sizes_where);
		return;
	}
	ld->block_sizes_where = where;
	while ((word = strsep(&rest, ","))) {
		uint32_t size;
		if (str_to_u32(word, &size) < 0 || size == 0) {
			report(ld, where,
			       "BlockSizes=%.100s: '%.30s' is no number of nodes, as in 4,8,16",
			       text, word);
			return;
		}
		vec_push(&ld->block_sizes, size);
	}
}

static void block_line(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct block_conf b = { .where = (char *)(uintptr_t)where_is(ld, src, line->line) };
	if (!line_set(ld, &block_conf_record, &b, src, line))
		return;
	if (b.sizes)
		block_sizes(ld, b.where, b.sizes);
	if (b.name && strpbrk(b.name, ",[]"))
		report(ld, b.where, "BlockName=%.100s: a line is about one block", b.name);
	else if (!b.name != !b.nodes)
		report(ld, b.where,
		       b.name ? "BlockName=%s needs Nodes=" : "Nodes=%.100s needs BlockName=",
		       b.name ? b.name : b.nodes);
	else if (b.name)
		vec_push(&ld->blocks, (struct topology_unit_conf) {
					      .name = b.name, .nodes = b.nodes, .where = b.where });
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

/* What TopologyPlugin says, else what the lines of the file are about. */
static enum topology_kind kind_meant(struct loader *ld)
{
	const char *plugin = ld->conf->main.topology_plugin;
	bool is_given = map_get_str(&ld->seen, "TopologyPlugin") != NULL;
	int kind = TOPOLOGY_KIND_FLAT;
	if (is_given && str_starts(plugin, "topology/"))
		enum_parse(&topology_kind_enum, plugin + strlen("topology/"), &kind);
	else if (ld->switches.count)
		kind = TOPOLOGY_KIND_TREE;
	else if (ld->blocks.count)
		kind = TOPOLOGY_KIND_BLOCK;
	if ((kind == TOPOLOGY_KIND_TREE && !ld->switches.count) ||
	    (kind == TOPOLOGY_KIND_BLOCK && !ld->blocks.count)) {
		remark(ld, map_get_str(&ld->seen, "TopologyPlugin"),
		       "TopologyPlugin=%s: topology.conf has no %s line", plugin,
		       kind == TOPOLOGY_KIND_TREE ? "SwitchName=" : "BlockName=");
		kind = TOPOLOGY_KIND_FLAT;
	}
	return (enum topology_kind)kind;
}

#define UNITS(ld, v) arena_dup((ld)->arena, (v).at, (v).count * sizeof(*(v).at))

static void default_make(struct loader *ld)
{
	struct topology_conf t = { .name = arena_strdup(ld->arena, "default"),
				   .kind = kind_meant(ld),
				   .cluster_default = true,
				   .where = arena_strdup(ld->arena, "topology.conf") };
	if (t.kind == TOPOLOGY_KIND_TREE) {
		t.units = UNITS(ld, ld->switches);
		t.n_units = (uint32_t)ld->switches.count;
	} else if (t.kind == TOPOLOGY_KIND_BLOCK) {
		t.units = UNITS(ld, ld->blocks);
		t.n_units = (uint32_t)ld->blocks.count;
		if (ld->block_sizes.count) {
			t.block_sizes = UNITS(ld, ld->block_sizes);
			t.n_block_sizes = (uint32_t)ld->block_sizes.count;
			t.where = (char *)(uintptr_t)ld->block_sizes_where;
		}
	}
	vec_push(&ld->topologies, t);
}

static bool is_known(const struct loader *ld, const char *name)
{
	for (size_t i = 0; i < ld->topologies.count; i++)
		if (str_eq(ld->topologies.at[i].name, name))
			return true;
	return false;
}

static void partitions_check(struct loader *ld)
{
	for (size_t i = 0; i < ld->partitions.count; i++) {
		const struct partition_line *p = &ld->partitions.at[i];
		if (!str_empty(p->conf.topology) && !is_known(ld, p->conf.topology))
			report(ld, p->where, "Topology=%.100s: there is no such topology%s",
			       p->conf.topology,
			       ld->topologies.count == 1 ? "; topology.yaml can describe several"
							 : "");
	}
}

/* What is in force, for scontrol show config. */
static void plugin_show(struct loader *ld)
{
	if (map_get_str(&ld->seen, "TopologyPlugin"))
		return;
	for (size_t i = 0; i < ld->topologies.count; i++)
		if (ld->topologies.at[i].cluster_default)
			ld->conf->main.topology_plugin = arena_printf(
				ld->arena, "topology/%s",
				enum_text(&topology_kind_enum, ld->topologies.at[i].kind));
}

void topology_load(struct loader *ld)
{
	size_t errors = ld->errors.count;
	if (!topology_yaml_load(ld)) {
		load_sibling(ld, "topology.conf", topology_line);
		if (ld->errors.count == errors)
			default_make(ld);
	}
	if (ld->errors.count > errors)
		return;
	partitions_check(ld);
	plugin_show(ld);
}
