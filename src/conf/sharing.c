/* SPDX-License-Identifier: Apache-2.0 */
/* shard and mps: how many parts each GPU of a node has.
 *
 * Lines of gres.conf that name the GPU's file say so for that GPU; otherwise the count of Gres= is
 * spread evenly over the node's GPUs, or over those of its type.  The result has one entry beside each
 * entry of GPUs, with its indexes, its type and its cores, because whoever asks for a part of an H100
 * wants to be close to an H100. */
#include "base/arena.h"
#include "base/bitset.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/conf.h"
#include "conf/gres.h"
#include "text/hostlist.h"

#include <errno.h>

struct parts {
	const struct sharing *s;
	const struct gres_spec *e;
	struct error *err;
	uint32_t **each; /* parallel to the entries found: parts by GPU; NULL when it is no GPU to share */
	uint64_t given;
};

static int refuse(const struct parts *p, const char *why, unsigned long long number)
{
	const struct gres_spec *e = p->e;
	return error_set(p->err, -EINVAL, "node %s: Gres=%s%s%s:%llu, but %s (%llu)", p->s->node->name, e->name,
			 e->type ? ":" : "", e->type ? e->type : "", (unsigned long long)e->count, why, number);
}

/* The GPUs of the type; `ret` says how many. */
static void find_gpus(struct parts *p, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < p->s->found->count; i++) {
		const struct node_gres *g = &p->s->found->at[i];
		if (!str_eq(g->name, "gpu") || (p->e->type && !str_ieq(g->type, p->e->type)))
			continue;
		p->each[i] = ARENA_ARRAY(p->s->arena, uint32_t, g->count);
		*ret += g->count;
	}
}

/* The first GPUs get one more where the count does not divide. */
static void spread(struct parts *p, uint64_t gpus)
{
	uint64_t left = p->e->count;
	for (size_t i = 0; i < p->s->found->count; i++) {
		for (uint32_t d = 0; p->each[i] && d < p->s->found->at[i].count; d++, gpus--) {
			uint64_t share = left / gpus + (left % gpus != 0);
			p->each[i][d] = (uint32_t)share;
			left -= share;
		}
	}
	p->given = p->e->count;
}

static int give_to(struct parts *p, const struct gres_conf *line, const char *file)
{
	for (size_t i = 0; i < p->s->found->count; i++) {
		const struct node_gres *g = &p->s->found->at[i];
		struct hostlist files;
		if (!str_eq(g->name, "gpu") || str_empty(g->files))
			continue;
		int r = hostlist_expand(g->files, p->s->arena, &files, p->err);
		if (r < 0)
			return r;
		for (uint32_t d = 0; d < files.count && d < g->count; d++) {
			if (!str_eq(files.names[d], file))
				continue;
			if (p->each[i]) { /* of another type: another entry of Gres= counts it */
				p->each[i][d] += (uint32_t)(line->has_count ? line->count : 1);
				p->given += line->has_count ? line->count : 1;
			}
			return 0;
		}
	}
	return error_set(p->err, -EINVAL, "%s: File=%s: node %s has no GPU with this file", line->where, file,
			 p->s->node->name);
}

/* What the lines with a file say; `ret_any` is false when there are none. */
static int read_lines(struct parts *p, bool *ret_any)
{
	const struct conf *c = p->s->conf;
	*ret_any = false;
	for (size_t i = 0; i < c->gres_count; i++) {
		const struct gres_conf *line = &c->gres[i];
		struct hostlist files;
		if (!str_eq(line->name, p->e->name) || !line->file || !gres_line_is_about(c, i, p->s->position))
			continue;
		*ret_any = true;
		int r = hostlist_expand(line->file, p->s->arena, &files, p->err);
		for (uint32_t k = 0; r >= 0 && k < files.count; k++)
			r = give_to(p, line, files.names[k]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* gres.conf(5): these flags hold for every node, whichever line has them; mps is used one GPU at a
 * time unless it says otherwise. */
static bool one_at_a_time(const struct parts *p)
{
	const struct conf *c = p->s->conf;
	for (size_t i = 0; i < c->gres_count; i++) {
		if (!str_eq(c->gres[i].name, p->e->name) || !c->gres[i].flags)
			continue;
		if (conf_has_word(c->gres[i].flags, "all_sharing"))
			return false;
		if (conf_has_word(c->gres[i].flags, "one_sharing"))
			return true;
	}
	return str_eq(p->e->name, "mps");
}

static int add_entries(const struct parts *p)
{
	const char *parameters = p->s->conf->main.select_type_parameters;
	size_t count = p->s->found->count;
	for (size_t i = 0; i < count; i++) {
		const struct node_gres *gpus = &p->s->found->at[i];
		struct node_gres g = { .name = p->e->name,
				       .type = gpus->type,
				       .first = gpus->first,
				       .cores = gpus->cores,
				       .each = p->each[i],
				       .n_each = (uint32_t)gpus->count,
				       .one_sharing = one_at_a_time(p),
				       .spread = conf_has_word(parameters, "LL_SHARED_GRES"),
				       .several = !one_at_a_time(p) &&
						  conf_has_word(parameters, "MULTIPLE_SHARING_GRES_PJ") };
		for (uint32_t d = 0; p->each[i] && d < gpus->count; d++)
			g.count += p->each[i][d];
		for (size_t k = 0; g.count && k < count; k++)
			if (str_eq(p->s->found->at[k].name, g.name) && p->s->found->at[k].first == g.first)
				return refuse(p, "another entry shares the same GPUs, from number", g.first);
		if (g.count)
			vec_push(p->s->found, g);
	}
	return 0;
}

int sharing_join(const struct sharing *s, const struct gres_spec *e, struct error *err)
{
	struct parts p = { .s = s, .e = e, .err = err,
			   .each = ARENA_ARRAY(s->arena, uint32_t *, s->found->count + 1) };
	uint64_t gpus;
	bool by_file;
	find_gpus(&p, &gpus);
	if (gpus == 0)
		return refuse(&p, "the node has no such GPUs to share", gpus);
	if (e->count / gpus >= UINT32_MAX)
		return refuse(&p, "a GPU has at most so many parts", UINT32_MAX);
	int r = read_lines(&p, &by_file);
	if (r < 0)
		return r;
	if (!by_file)
		spread(&p, gpus);
	if (p.given != e->count)
		return refuse(&p, "gres.conf gives its GPUs another number of parts", p.given);
	return add_entries(&p);
}
