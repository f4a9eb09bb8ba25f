/* SPDX-License-Identifier: Apache-2.0 */
/* topology.yaml: a list of topologies, each of one kind.
 *
 *	- topology: fabric
 *	  cluster_default: true
 *	  tree:
 *	    switches:
 *	      - switch: spine
 *	        children: leaf[1-2]
 *	      - switch: leaf1
 *	        nodes: node[1-4]
 *	- topology: racks
 *	  block:
 *	    block_sizes: [4, 16]
 *	    blocks:
 *	      - block: b1
 *	        nodes: node[1-4]
 *
 * Kinds and the words of their units are rows of a table; a unit's members are the rows of topology_unit_conf. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "conf/value.h"
#include "conf/yaml.h"

#include <string.h>

static const char file_name[] = "topology.yaml";

struct kind {
	enum topology_kind kind;
	const char *units, *unit; /* the list, and what names a unit in it; NULL: there are none */
	const char *keys;         /* of a unit, each between blanks */
};

static const struct kind kinds[] = {
	{ TOPOLOGY_KIND_FLAT, NULL, NULL, "" },
	{ TOPOLOGY_KIND_TREE, "switches", "switch", " nodes children link_speed " },
	{ TOPOLOGY_KIND_BLOCK, "blocks", "block", " nodes " },
	{ TOPOLOGY_KIND_RING, "rings", "ring", " nodes " },
	{ TOPOLOGY_KIND_TORUS3D, "tori", "torus", " nodes x y z " },
};

static char *at(struct loader *ld, const struct yaml *y)
{
	return arena_printf(ld->arena, "%s:%u", file_name, y->line);
}

static bool is_word(struct loader *ld, const struct yaml *y)
{
	if (y->kind != YAML_WORD || !*y->text)
		report(ld, at(ld, y), "%s needs a value", y->key ? y->key : "this");
	return y->kind == YAML_WORD && *y->text;
}

static bool is_kind(struct loader *ld, const struct yaml *y, enum yaml_kind kind, const char *what)
{
	if (y->kind != kind)
		report(ld, at(ld, y), "%s", what);
	return y->kind == kind;
}

static void given_twice(struct loader *ld, const struct yaml *y)
{
	for (const struct yaml *m = y->first; m; m = m->next)
		for (const struct yaml *other = m->next; other; other = other->next)
			if (str_eq(m->key, other->key))
				report(ld, at(ld, other), "%s is given twice, first in line %u",
				       m->key, m->line);
}

static void unit_member(struct loader *ld, const struct kind *k, const struct yaml *m,
			struct topology_unit_conf *u)
{
	struct error err;
	const struct field *f = NULL;
	if (!is_word(ld, m))
		return;
	if (str_eq(m->key, k->unit)) {
		u->name = (char *)(uintptr_t)m->text;
		return;
	}
	const char *known = strstr(k->keys, arena_printf(ld->arena, " %s ", m->key));
	for (size_t i = 0; known && i < topology_unit_conf_record.field_count && !f; i++)
		if (str_eq(topology_unit_conf_record.fields[i].key, m->key))
			f = &topology_unit_conf_record.fields[i];
	if (!f)
		report(ld, at(ld, m), "%.60s: a %s has %s and%s", m->key, k->unit, k->unit,
		       k->keys);
	else if (value_set(f, u, m->text, ld->arena, &err) < 0)
		report(ld, at(ld, m), "%s", err.text);
}

static void units_read(struct loader *ld, const struct kind *k, const struct yaml *list,
		       struct topology_conf *t)
{
	uint32_t count = 0;
	if (!is_kind(ld, list, YAML_LIST, arena_printf(ld->arena, "%s: a list is meant", k->units)))
		return;
	for (const struct yaml *y = list->first; y; y = y->next)
		count++;
	t->units = ARENA_ARRAY(ld->arena, struct topology_unit_conf, count + 1);
	for (const struct yaml *y = list->first; y; y = y->next) {
		struct topology_unit_conf *u = &t->units[t->n_units++];
		u->where = at(ld, y);
		if (!is_kind(ld, y, YAML_MAP,
			     arena_printf(ld->arena, "an entry of %s begins with %s:", k->units,
					  k->unit)))
			continue;
		given_twice(ld, y);
		for (const struct yaml *m = y->first; m; m = m->next)
			unit_member(ld, k, m, u);
		if (!u->name)
			report(ld, u->where, "an entry of %s needs %s: NAME", k->units, k->unit);
		else if (strpbrk(u->name, ",[]"))
			report(ld, u->where, "%.100s: an entry is about one %s", u->name, k->unit);
	}
}

static void sizes_read(struct loader *ld, const struct yaml *list, struct topology_conf *t)
{
	uint32_t count = 0;
	if (!is_kind(ld, list, YAML_LIST, "block_sizes: a list is meant, as in [4, 8]"))
		return;
	for (const struct yaml *y = list->first; y; y = y->next)
		count++;
	t->block_sizes = ARENA_ARRAY(ld->arena, uint32_t, count + 1);
	t->where = at(ld, list);
	for (const struct yaml *y = list->first; y; y = y->next)
		if (y->kind != YAML_WORD ||
		    str_to_u32(y->text, &t->block_sizes[t->n_block_sizes++]) < 0)
			report(ld, at(ld, y), "block_sizes: '%.30s' is no number of nodes",
			       y->text ? y->text : "");
}

static void kind_read(struct loader *ld, const struct kind *k, const struct yaml *y,
		      struct topology_conf *t)
{
	t->kind = k->kind;
	if (!k->units) {
		if (y->kind != YAML_WORD || !str_ieq(y->text, "true"))
			report(ld, at(ld, y), "flat: true is all that can be said");
		return;
	}
	if (!is_kind(ld, y, YAML_MAP,
		     arena_printf(ld->arena, "%s: %s is meant below it", y->key, k->units)))
		return;
	given_twice(ld, y);
	for (const struct yaml *m = y->first; m; m = m->next) {
		if (str_eq(m->key, k->units))
			units_read(ld, k, m, t);
		else if (k->kind == TOPOLOGY_KIND_BLOCK && str_eq(m->key, "block_sizes"))
			sizes_read(ld, m, t);
		else
			report(ld, at(ld, m), "%.60s: below %s there is %s%s", m->key, y->key,
			       k->units, k->kind == TOPOLOGY_KIND_BLOCK ? " and block_sizes" : "");
	}
	if (!t->n_units)
		report(ld, at(ld, y), "%s: there is nothing in %s", y->key, k->units);
}

static const struct kind *find_kind(const char *key)
{
	int kind;
	if (!enum_parse(&topology_kind_enum, key, &kind))
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i].kind == (enum topology_kind)kind)
			return &kinds[i];
	return NULL;
}

static void default_read(struct loader *ld, const struct yaml *m, struct topology_conf *t)
{
	if (!is_word(ld, m))
		return;
	t->cluster_default = str_ieq(m->text, "true") || str_ieq(m->text, "yes");
	if (!t->cluster_default && !str_ieq(m->text, "false") && !str_ieq(m->text, "no"))
		report(ld, at(ld, m), "cluster_default: '%.30s' is neither true nor false",
		       m->text);
}

static void topology_read(struct loader *ld, const struct yaml *y)
{
	struct topology_conf t = { .where = at(ld, y) };
	const char *kind = NULL;
	if (!is_kind(ld, y, YAML_MAP, "an entry begins with topology: NAME"))
		return;
	given_twice(ld, y);
	for (const struct yaml *m = y->first; m; m = m->next) {
		const struct kind *k = find_kind(m->key);
		if (k && kind)
			report(ld, at(ld, m), "%s: the topology is a %s already", m->key, kind);
		else if (k)
			kind_read(ld, k, m, &t);
		else if (str_eq(m->key, "cluster_default"))
			default_read(ld, m, &t);
		else if (!str_eq(m->key, "topology"))
			report(ld, at(ld, m),
			       "%.60s: a topology has topology, cluster_default and one of tree, block, "
			       "ring, torus3d and flat",
			       m->key);
		else if (is_word(ld, m))
			t.name = (char *)(uintptr_t)m->text;
		kind = k ? m->key : kind;
	}
	if (!t.name)
		report(ld, t.where, "topology: NAME is missing");
	else if (!kind)
		report(ld, t.where,
		       "topology %.100s: say what it is: tree, block, ring, torus3d or flat",
		       t.name);
	else
		vec_push(&ld->topologies, t);
}

/* Names differ, and one is the default: the one that says so, else the first. */
static void all_check(struct loader *ld)
{
	const struct topology_conf *chosen = NULL;
	for (size_t i = 0; i < ld->topologies.count; i++) {
		const struct topology_conf *t = &ld->topologies.at[i];
		for (size_t k = 0; k < i; k++)
			if (str_eq(ld->topologies.at[k].name, t->name))
				report(ld, t->where,
				       "topology %.100s is described twice, first in %s", t->name,
				       ld->topologies.at[k].where);
		if (t->cluster_default && chosen)
			report(ld, t->where, "cluster_default: there is one already, %.100s",
			       chosen->name);
		chosen = t->cluster_default ? t : chosen;
	}
	if (!chosen && ld->topologies.count)
		ld->topologies.at[0].cluster_default = true;
}

bool topology_yaml_load(struct loader *ld)
{
	struct error err = {};
	struct yaml *root = NULL;
	uint32_t line = 0;
	size_t len, errors = ld->errors.count;
	const char *text = load_sibling_text(ld, file_name, &len);
	if (!text)
		return ld->errors.count > errors;
	if (yaml_read(text, len, ld->arena, &root, &line, &err) < 0) {
		report(ld, arena_printf(ld->arena, "%s:%u", file_name, line), "%s", err.text);
		return true;
	}
	if (!root || root->kind != YAML_LIST || !root->first) {
		report(ld, file_name,
		       "a list of topologies is meant: lines that begin with - topology: NAME");
		return true;
	}
	for (const struct yaml *y = root->first; y; y = y->next)
		topology_read(ld, y);
	if (ld->errors.count == errors)
		all_check(ld);
	return true;
}
