/* SPDX-License-Identifier: Apache-2.0 */
/* The generic resources of one node: Gres= says how many, gres.conf says which.
 *
 * Every line of gres.conf that is about the node has a run of device indexes of its name, in the
 * order of the file.  An entry of Gres= takes devices from the lines of its name and type, in that
 * order, until it has its count; a line without a type serves any.  What no entry takes is left
 * alone: Gres= decides.  Where gres.conf is silent the devices are numbers without files.
 *
 * Lines that follow each other and say the same of their devices are one entry of the result, however
 * many files they name: eight lines for eight GPUs of two sockets become two entries. */
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
#include <stdlib.h>
#include <string.h>

enum { LINKED_MAX = 64 }; /* devices among which links are looked at */

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
	node_gres_vec found;
};

bool gres_line_is_about(const struct conf *c, size_t line, uint32_t node)
{
	const struct bitset *nodes = &c->gres_nodes[line];
	return c->gres[line].name && (nodes->bits == 0 || bitset_has(nodes, node));
}

static uint32_t position_of(const struct conf *c, const struct node_conf *n)
{
	uintptr_t at = (uintptr_t)map_get_str(&c->node_index, n->name);
	return at ? (uint32_t)(at - 1) : BITSET_NONE;
}

static uint64_t devices_of(const struct gres_conf *g)
{
	if (g->files)
		return g->files;
	return g->has_count ? g->count : 1;
}

static void supplies_collect(const struct conf *c, struct joining *j)
{
	uint32_t node = position_of(c, j->node);
	j->supplies = ARENA_ARRAY(j->arena, struct supply, c->gres_count + 1);
	for (size_t i = 0; i < c->gres_count; i++) {
		if (!gres_line_is_about(c, i, node) || gres_is_shared(c->gres[i].name))
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

/* Links= of one device as numbers, a place for every device of the name. */
static void links_of(const struct joining *j, const struct gres_conf *g, struct node_gres *to)
{
	uint64_t total = 0;
	for (size_t i = 0; i < j->supply_count; i++)
		if (str_eq(j->supplies[i].line->name, g->name))
			total += j->supplies[i].count;
	if (!g->links || total > LINKED_MAX)
		return;
	to->n_links_to = (uint32_t)total;
	to->links_to = ARENA_ARRAY(j->arena, uint32_t, total);
	const char *p = g->links;
	for (uint32_t i = 0; i < total && *p; i++) {
		char *end;
		long n = strtol(p, &end, 10);
		to->links_to[i] = n > 0 ? (uint32_t)n : 0; /* -1 is the device itself */
		p = *end ? end + 1 : end;
	}
}

/* May the devices of `g` go on in the entry `last`?  Entries without files only count, so their places
 * do not matter, unless they are GPUs, which somebody may share. */
static bool goes_on(const struct node_gres *last, const struct node_gres *g)
{
	bool follows = g->first == last->first + last->count;
	if (!str_eq(last->name, g->name) || !str_eq(last->type, g->type) || !last->files != !g->files)
		return false;
	if (!g->files && !str_eq(g->name, "gpu"))
		return true;
	return follows && bitset_equal(&last->cores, &g->cores) && !last->n_links_to == !g->n_links_to &&
	       last->is_explicit == g->is_explicit;
}

static int entry_grow(struct joining *j, struct node_gres *last, const struct node_gres *g)
{
	if (g->files) {
		AUTO_BUF struct buf text = {};
		struct hostlist all;
		int r = hostlist_expand(arena_printf(j->arena, "%s,%s", last->files, g->files), j->arena, &all,
					j->err);
		if (r < 0)
			return r;
		hostlist_compress(all.names, all.count, &text);
		last->files = arena_strdup(j->arena, buf_text(&text));
	}
	if (g->n_links_to) {
		uint32_t *both = ARENA_ARRAY(j->arena, uint32_t, last->n_links_to + g->n_links_to);
		memcpy(both, last->links_to, last->n_links_to * sizeof(*both));
		memcpy(both + last->n_links_to, g->links_to, g->n_links_to * sizeof(*both));
		last->links_to = both;
		last->n_links_to += g->n_links_to;
	}
	if (!bitset_equal(&last->cores, &g->cores))
		last->cores = (struct bitset){}; /* a mere count, and no longer close to some */
	last->count += g->count;
	return 0;
}

static int entry_add(struct joining *j, const struct node_gres *g, bool may_join)
{
	for (size_t i = 0; may_join && i < j->found.count; i++)
		if (goes_on(&j->found.at[i], g))
			return entry_grow(j, &j->found.at[i], g);
	vec_push(&j->found, *g);
	return 0;
}

static int take(struct joining *j, struct supply *s, const struct gres_entry *e, uint64_t count)
{
	const struct gres_conf *line = s->line;
	bool count_only = line->flags && conf_has_word(line->flags, "CountOnly");
	struct node_gres found = {
		.name = e->spec.name,
		.type = line->type ? line->type : e->spec.type,
		.count = count,
		.first = (uint32_t)(s->first + s->taken),
		.no_consume = e->no_consume,
		.is_explicit = line->flags && conf_has_word(line->flags, "explicit"),
	};
	int r = count_only ? 0 : files_cut(s, s->taken, count, j, &found.files);
	if (r >= 0)
		r = cores_of(line, j, &found.cores);
	if (r < 0)
		return r;
	links_of(j, line, &found);
	s->taken += count;
	return entry_add(j, &found, !line->multiple_files || count_only);
}

static bool serves(const struct supply *s, const struct gres_spec *e)
{
	return str_eq(s->line->name, e->name) &&
	       (!s->line->type || !e->type || str_ieq(s->line->type, e->type));
}

/* Without lines the indexes of a name go on from one entry to the next. */
static void count_only(struct joining *j, const struct gres_entry *e)
{
	struct node_gres found = { .name = e->spec.name,
				   .type = e->spec.type,
				   .count = e->spec.count,
				   .no_consume = e->no_consume };
	for (size_t i = 0; i < j->found.count; i++)
		if (str_eq(j->found.at[i].name, e->spec.name))
			found.first += (uint32_t)j->found.at[i].count;
	vec_push(&j->found, found);
}

static int entry_join(struct joining *j, const struct gres_entry *entry)
{
	const struct gres_spec *e = &entry->spec;
	uint64_t left = e->count, offered = 0;
	bool named = false;
	for (size_t i = 0; i < j->supply_count; i++) {
		struct supply *s = &j->supplies[i];
		named |= str_eq(s->line->name, e->name);
		if (!serves(s, e) || s->taken == s->count)
			continue;
		uint64_t count = s->count - s->taken < left ? s->count - s->taken : left;
		offered += s->count - s->taken;
		int r = left ? take(j, s, entry, count) : 0;
		if (r < 0)
			return r;
		left -= count;
	}
	if (!named) {
		count_only(j, entry);
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
	struct gres_entry *entries;
	uint32_t count;
	int r = gres_of_node(n->gres, a, &entries, &count, err);
	if (r >= 0 && count)
		supplies_collect(c, &j);
	for (uint32_t i = 0; r >= 0 && i < count; i++)
		r = gres_is_shared(entries[i].spec.name) ? 0 : entry_join(&j, &entries[i]);
	struct sharing s = { c, n, position_of(c, n), a, &j.found };
	for (uint32_t i = 0; r >= 0 && i < count; i++)
		r = gres_is_shared(entries[i].spec.name) ? sharing_join(&s, &entries[i].spec, err) : 0;
	if (r >= 0) {
		*ret = arena_dup(a, j.found.at, j.found.count * sizeof(*j.found.at));
		*ret_count = (uint32_t)j.found.count;
	}
	vec_done(&j.found);
	return r < 0 ? r : 0;
}
