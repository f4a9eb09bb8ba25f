/* SPDX-License-Identifier: Apache-2.0 */
/* Values about nodes and generic resources: -N, -w, --gres, --gpus and their kin. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/nodefile.h"
#include "client/values.h"
#include "text/gres.h"
#include "text/hostlist.h"
#include "text/size.h"

#include <errno.h>
#include <string.h>

static int node_count(const char *text, uint32_t *ret, struct error *err)
{
	uint64_t n;
	int r = count_parse(text, &n, err);
	if (r < 0 || n > UINT32_MAX)
		return error_set(err, -EINVAL,
				 "'%s' is no number of nodes; min or min-max is meant, as in 2-4",
				 text);
	*ret = (uint32_t)n;
	return 0;
}

int parse_nodes(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	char *text = arena_strdup(v->o->arena, v->text), *dash = strchr(text, '-');
	uint32_t least = 0, most;
	if (strchr(text, ',') || strchr(text, ':'))
		return error_set(
			err, -ENOTSUP,
			"lists of node counts are not supported by this version of Muster, "
			"only min and min-max");
	if (dash)
		*dash = '\0';
	int r = node_count(text, &least, err);
	if (r < 0)
		return r;
	most = least;
	r = dash ? node_count(dash + 1, &most, err) : 0;
	if (r < 0)
		return r;
	if (most < least || most == 0)
		return error_set(err, -EINVAL,
				 most ? "the most nodes are fewer than the least"
				      : "a job needs at least one node");
	q->nodes_min = least ? least : 1;
	q->nodes_max = most;
	return 0;
}

int parse_nodelist(struct value *v, struct error *err)
{
	const char *names = v->text;
	struct hostlist list;
	int r = strchr(names, '/') ? nodefile_read(names, v->o->arena, &names, err) : 0;
	if (r < 0)
		return r;
	r = hostlist_expand(names, v->o->arena, &list, err);
	if (r < 0)
		return r;
	if (list.count == 0)
		return error_set(err, -EINVAL, "no node is named");
	return value_set_text(v, names);
}

int parse_nodefile(struct value *v, struct error *err)
{
	const char *names;
	int r = nodefile_read(v->text, v->o->arena, &names, err);
	return r < 0 ? r : value_set_text(v, names);
}

static bool is_gpu(const struct gres_request *g)
{
	return str_eq(g->name, "gpu");
}

/* Replaces the list by `specs` and by those members of it that `keep` chooses. */
static void set_gres(const struct value *v, const struct gres_spec *specs, uint32_t count,
		     bool (*keep)(const struct gres_request *g))
{
	struct gres_request **list = value_slot(v);
	uint32_t *n = (uint32_t *)((char *)v->obj + v->f->count_offset), kept = 0;
	struct gres_request *out = ARENA_ARRAY(v->o->arena, struct gres_request, *n + count + 1);
	for (uint32_t i = 0; keep && i < *n; i++)
		if (keep(&(*list)[i]))
			out[kept++] = (*list)[i];
	for (uint32_t i = 0; i < count; i++)
		out[kept++] = (struct gres_request) { specs[i].name, specs[i].type,
						      specs[i].count };
	*list = out;
	*n = kept;
}

static bool is_not_gpu(const struct gres_request *g)
{
	return !is_gpu(g);
}

int parse_gpus(struct value *v, struct error *err)
{
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_parse_counts(v->text, "gpu", v->o->arena, &specs, &count, err);
	if (r < 0)
		return r;
	set_gres(v, specs, count, is_not_gpu);
	return 0;
}

int parse_gres(struct value *v, struct error *err)
{
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_parse(v->text, v->o->arena, &specs, &count, err);
	if (r < 0)
		return r;
	bool has_gpu = false;
	for (uint32_t i = 0; i < count; i++)
		has_gpu |= str_eq(specs[i].name, "gpu");
	/* What --gpus-per-node of a lower source asked for stays unless GPUs are named here. */
	bool keep = !has_gpu && count && options_source(v->o, "gpus-per-node") != OPTION_UNSET;
	set_gres(v, specs, count, keep ? is_gpu : NULL);
	v->o->at.no_gres = count == 0;
	return 0;
}

/* cpu=4,gres/gpu:a100=1 */
int parse_trestask(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	const char *list = "";
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (str_starts(word, "cpu=")) {
			if (str_to_u32(word + 4, &q->cpus_per_task) < 0 || q->cpus_per_task == 0)
				return error_set(err, -EINVAL, "'%s' is no number of CPUs",
						 word + 4);
			q->has_cpus_per_task = true;
		} else if (str_starts(word, "gres/")) {
			list = arena_printf(v->o->arena, "%s%s%s", list, *list ? "," : "",
					    word + 5);
		} else {
			return error_set(
				err, -EINVAL,
				"'%s' cannot be asked for by task; cpu=n and gres/name=n can",
				word);
		}
	}
	if (!*list)
		return 0;
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_parse(list, v->o->arena, &specs, &count, err);
	if (r < 0)
		return r;
	struct value per_task = *v;
	per_task.f = record_field(&resource_request_record, "gres_per_task");
	set_gres(&per_task, specs, count, NULL);
	return 0;
}

int parse_exclusive(struct value *v, struct error *err)
{
	int kind = EXCLUSIVE_KIND_NODE;
	bool plain = str_empty(v->text) || str_eq(v->text, "1") ||
		     (v->o->command == OPTION_CMDS_SRUN && str_ieq(v->text, "allocation"));
	if (!plain &&
	    (!enum_parse(&exclusive_kind_enum, v->text, &kind) || kind == EXCLUSIVE_KIND_NO))
		return error_set(err, -EINVAL, "say nothing, user, mcs or topo behind it");
	*(int *)value_slot(v) = kind;
	return 0;
}
