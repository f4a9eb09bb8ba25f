/* SPDX-License-Identifier: Apache-2.0 */
/* The generic resources of one node: Gres= says how many, gres.conf says which.
 *
 * Every line of gres.conf that is about the node has a run of device indexes of its name, in the
 * order of the file.  An entry of Gres= takes devices from the lines of its name and type, in that
 * order, until it has its count; a line without a type serves any.  What no entry takes is left
 * alone: Gres= decides.  Where gres.conf is silent the devices are numbers without files. */
#include "base/arena.h"
#include "base/bitset.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "conf/gres.h"
#include "text/gres.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

struct supply { /* a line of gres.conf that is about this node */
	const struct gres_conf *line;
	uint64_t count, taken;
	uint64_t first; /* index of its first device among those of the name */
};

struct joining {
	const struct node_conf *node;
	struct arena *arena;
	struct error *err;
	struct supply *supplies;
	size_t supply_count;
	VEC(struct node_gres) found;
};

static bool is_about(const struct conf *c, size_t line, uint32_t node)
{
	const struct bitset *nodes = &c->gres_nodes[line];
	return c->gres[line].name && !gres_is_shared(c->gres[line].name) &&
	       (nodes->bits == 0 || bitset_has(nodes, node));
}

static uint64_t devices_of(const struct gres_conf *g)
{
	if (g->files)
		return g->files;
	return g->has_count ? g->count : 1;
}

static void supplies_collect(const struct conf *c, struct joining *j)
{
	uintptr_t at = (uintptr_t)map_get_str(&c->node_index, j->node->name);
	uint32_t node = at ? (uint32_t)(at - 1) : BITSET_NONE;
	j->supplies = ARENA_ARRAY(j->arena, struct supply, c->gres_count + 1);
	for (size_t i = 0; i < c->gres_count; i++) {
		if (!is_about(c, i, node))
			continue;
		struct supply *s = &j->supplies[j->supply_count];
		s->line = &c->gres[i];
		s->count = devices_of(s->line);
		for (size_t k = 0; k < j->supply_count; k++)
			if (str_eq(j->supplies[k].line->name, s->line->name))
				s->first += j->supplies[k].count;
		j->supply_count++;
	}
}

/* The files of `count` devices from the one at `from`, as a list of their own. */
static int files_cut(const struct supply *s, uint64_t from, uint64_t count, struct joining *j,
		     char **ret)
{
	struct hostlist all;
	AUTO_BUF struct buf text = {};
	const struct gres_conf *g = s->line;
	*ret = g->file ? g->file : g->multiple_files;
	if (!g->file || count == s->count)
		return 0;
	int r = hostlist_expand(g->file, j->arena, &all, j->err);
	if (r < 0)
		return r;
	hostlist_compress(all.names + from, (uint32_t)count, &text);
	*ret = arena_strdup(j->arena, buf_text(&text));
	return 0;
}

static int cores_of(const struct gres_conf *g, const struct joining *j, struct bitset *ret)
{
	const struct node_conf *n = j->node;
	uint32_t cores = n->sockets * n->cores_per_socket;
	if (!g->cores)
		return 0;
	bitset_init_in(ret, n->cpus, j->arena);
	if (cores && cores_parse(g->cores, cores, n->cpus / cores, ret) == 0)
		return 0;
	return error_set(j->err, -EINVAL, "%s: Cores=%s: node %s has cores 0 to %u", g->where, g->cores,
			 n->name, cores ? cores - 1 : 0);
}

static int take(struct joining *j, struct supply *s, const struct gres_spec *e, uint64_t count)
{
	struct node_gres found = {
		.name = e->name,
		.type = s->line->type ? s->line->type : e->type,
		.count = count,
		.first = (uint32_t)(s->first + s->taken),
		.links = s->line->links,
	};
	int r = files_cut(s, s->taken, count, j, &found.files);
	if (r >= 0)
		r = cores_of(s->line, j, &found.cores);
	if (r < 0)
		return r;
	s->taken += count;
	vec_push(&j->found, found);
	return 0;
}

static bool serves(const struct supply *s, const struct gres_spec *e)
{
	return str_eq(s->line->name, e->name) &&
	       (!s->line->type || !e->type || str_ieq(s->line->type, e->type));
}

/* Without lines the indexes of a name go on from one entry to the next. */
static void count_only(struct joining *j, const struct gres_spec *e)
{
	struct node_gres found = { .name = e->name, .type = e->type, .count = e->count };
	for (size_t i = 0; i < j->found.count; i++)
		if (str_eq(j->found.at[i].name, e->name))
			found.first += (uint32_t)j->found.at[i].count;
	vec_push(&j->found, found);
}

static int entry_join(struct joining *j, const struct gres_spec *e)
{
	uint64_t left = e->count, offered = 0;
	bool named = false;
	for (size_t i = 0; i < j->supply_count; i++) {
		struct supply *s = &j->supplies[i];
		named |= str_eq(s->line->name, e->name);
		if (!serves(s, e) || s->taken == s->count)
			continue;
		uint64_t count = s->count - s->taken < left ? s->count - s->taken : left;
		offered += s->count - s->taken;
		int r = left ? take(j, s, e, count) : 0;
		if (r < 0)
			return r;
		left -= count;
	}
	if (!named) {
		count_only(j, e);
		return 0;
	}
	if (left)
		return error_set(j->err, -EINVAL,
				 "node %s: Gres=%s%s%s:%llu, but gres.conf gives it %llu of them",
				 j->node->name, e->name, e->type ? ":" : "", e->type ? e->type : "",
				 (unsigned long long)e->count, (unsigned long long)offered);
	return 0;
}

int conf_node_gres(const struct conf *c, const struct node_conf *n, struct arena *a,
		   struct node_gres **ret, uint32_t *ret_count, struct error *err)
{
	struct joining j = { .node = n, .arena = a, .err = err };
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_of_node(n->gres, a, &specs, &count, err);
	if (r >= 0 && count)
		supplies_collect(c, &j);
	for (uint32_t i = 0; r >= 0 && i < count; i++)
		r = entry_join(&j, &specs[i]);
	if (r >= 0) {
		*ret = arena_dup(a, j.found.at, j.found.count * sizeof(*j.found.at));
		*ret_count = (uint32_t)j.found.count;
	}
	vec_done(&j.found);
	return r < 0 ? r : 0;
}
