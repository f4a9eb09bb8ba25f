/* SPDX-License-Identifier: Apache-2.0 */
/* Values about nodes and generic resources: -N, -B, -w, --gres, --gpus and their kin. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/nodefile.h"
#include "client/values.h"
#include "text/duration.h"
#include "text/gres.h"
#include "text/hostlist.h"
#include "text/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int node_count(const char *text, uint32_t *ret, struct error *err)
{
	uint64_t n;
	int r = count_parse(text, &n, err);
	if (r < 0 || n > UINT32_MAX)
		return error_set(err, -EINVAL,
				 "'%s' is no number of nodes; as in 4, 2-4, 2,4,8 or 2-8:2",
				 text);
	*ret = (uint32_t)n;
	return 0;
}

/* One of the counts: a, a-b or a-b:step. */
struct count_range {
	uint32_t first, last, step; /* step 0: none was given */
};

static int parse_range(char *text, struct count_range *ret, struct error *err)
{
	char *dash = strchr(text, '-'), *colon = dash ? strchr(dash, ':') : NULL;
	struct count_range range = {};
	if (dash)
		*dash = '\0';
	if (colon)
		*colon = '\0';
	int r = node_count(text, &range.first, err);
	if (r < 0)
		return r;
	range.last = range.first;
	if ((dash && (r = node_count(dash + 1, &range.last, err)) < 0) ||
	    (colon && (r = node_count(colon + 1, &range.step, err)) < 0))
		return r;
	if (range.last < range.first || range.last == 0)
		return error_set(err, -EINVAL,
				 range.last ? "the most nodes are fewer than the least"
					    : "a job needs at least one node");
	if (colon && range.step == 0)
		return error_set(err, -EINVAL, "the step behind the colon is at least 1");
	if (range.first == 0)
		range.first = range.step ? range.step : 1;
	*ret = range;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* 2,4,8 or 1-15:4, in any order: only these counts. */
static int parse_node_counts(struct value *v, char *text, struct error *err)
{
	struct resource_request *q = v->obj;
	char *save = NULL;
	const size_t most = record_field(&resource_request_record, "node_counts")->limit;
	uint32_t *counts = ARENA_ARRAY(v->o->arena, uint32_t, most), count = 0, kept = 0;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		struct count_range range;
		int r = parse_range(word, &range, err);
		if (r < 0)
			return r;
		uint32_t step = range.step ? range.step : 1;
		for (uint64_t n = range.first; n <= range.last; n += step) {
			if (count == most)
				return error_set(err, -EINVAL, "more than %zu node counts", most);
			counts[count++] = (uint32_t)n;
		}
	}
	if (count == 0)
		return error_set(err, -EINVAL, "no node count is given");
	qsort(counts, count, sizeof(*counts), by_number);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || counts[i] != counts[kept - 1])
			counts[kept++] = counts[i];
	q->nodes_min = counts[0];
	q->nodes_max = counts[kept - 1];
	q->node_counts = counts;
	q->n_node_counts = kept;
	return 0;
}

int parse_nodes(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	char *text = arena_strdup(v->o->arena, v->text);
	struct count_range range;
	if (strpbrk(text, ",:"))
		return parse_node_counts(v, text, err);
	int r = parse_range(text, &range, err);
	if (r < 0)
		return r;
	q->nodes_min = range.first;
	q->nodes_max = range.last;
	q->n_node_counts = 0;
	return 0;
}

/* -B sockets[:cores[:threads]] */
int parse_shape(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	struct {
		bool *has;
		uint32_t *n;
	} parts[] = { { &q->has_sockets_per_node, &q->sockets_per_node },
		      { &q->has_cores_per_socket, &q->cores_per_socket },
		      { &q->has_threads_per_core, &q->threads_per_core } };
	char *text = arena_strdup(v->o->arena, v->text), *next = text;
	for (size_t i = 0; next; i++) {
		char *word = strsep(&next, ":");
		if (i == ARRAY_COUNT(parts))
			return error_set(err, -EINVAL,
					 "sockets, cores and threads are meant, as in 2:16:1");
		if (str_eq(word, "*"))
			continue;
		if (str_to_u32(word, parts[i].n) < 0 || *parts[i].n == 0)
			return error_set(err, -EINVAL, "'%s' is neither a number from 1 up nor *",
					 word);
		*parts[i].has = true;
	}
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

/* n[@time]; a variable of its own can give the time. */
int parse_switches(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	char *text = arena_strdup(v->o->arena, v->text), *time = strchr(text, '@');
	bool only_time = v->use->source == OPTION_ENV && strstr(v->use->where, "WAIT4SWITCH=");
	uint32_t n = 0;
	if (time && !only_time)
		*time++ = '\0';
	if (!only_time && (str_to_u32(text, &n) < 0 || n == 0))
		return error_set(err, -EINVAL, "'%s' is no number of switches; n or n@time is meant, as in 1@60", text);
	time = only_time ? text : time;
	if (time) {
		int r = duration_parse_wait(time, &q->switches_wait, err);
		if (r < 0)
			return r;
		q->has_switches_wait = true;
	}
	if (!only_time) {
		q->has_switches = true;
		q->switches = n;
	}
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
