/* SPDX-License-Identifier: Apache-2.0 */
/* One request against one pool, in three moves:
 *
 *   1. candidates: every node of the scope that may be used, each with its room, the number of the
 *      request's tasks it could take on its own;
 *   2. choose: the nodes of --nodelist, then the first ones in order that have room for an even
 *      share, and only if those are too few the ones with the most room;
 *   3. carve: an even spread of tasks, then CPUs, memory and devices for each node.
 *
 * With --gpus for the whole job there are two sums to reach, tasks and devices; the second case then
 * tries a few mixtures of both.  Cost: one look at every node of the scope, and sorts of the candidates
 * only in the second case. */
#include "sched/fit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "sched/demand.h"
#include "sched/layout.h"
#include "sched/pool.h"
#include "text/hostlist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
	uint32_t node;
	uint32_t room;     /* tasks */
	uint64_t gres_job; /* devices towards --gpus */
	bool required;
};

struct search {
	const struct pool *pool;
	const struct demand *d;
	const struct fit_scope *scope;
	struct arena *arena;
	struct hostlist wanted, excluded;
	struct candidate *found;
	uint32_t count, required;
};

/* ---- candidates -------------------------------------------------------------------------------- */

static bool name_in(const struct hostlist *h, const char *name)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (str_eq(h->names[i], name))
			return true;
	return false;
}

/* --constraint: names joined by `&`; submission refuses the rest of the grammar. */
static bool has_features(const struct node *n, const char *constraint)
{
	if (str_empty(constraint))
		return true;
	for (const char *p = constraint; *p;) {
		size_t len = strcspn(p, "&,");
		bool found = false;
		for (const char *f = n->features; f && *f;) {
			size_t flen = strcspn(f, ",");
			found |= flen == len && strncmp(f, p, len) == 0;
			f += flen + (f[flen] == ',');
		}
		if (!found)
			return false;
		p += len + (p[len] != '\0');
	}
	return true;
}

static uint32_t threads(const struct node *n)
{
	return n->conf.threads_per_core ? n->conf.threads_per_core : 1;
}

/* CPUs are given in whole cores. */
static uint32_t whole_cores(const struct node *n, uint32_t cpus)
{
	uint32_t t = threads(n);
	return (cpus + t - 1) / t * t;
}

static uint64_t node_gpus(const struct demand *d, uint32_t tasks);

static uint64_t memory_for(const struct demand *d, const struct node *n, uint32_t cpus, uint32_t tasks)
{
	if (d->whole_memory)
		return node_memory(n);
	return d->mem_per_node + d->mem_per_cpu * cpus + d->mem_per_gpu * node_gpus(d, tasks);
}

static uint32_t cpus_for(const struct demand *d, const struct node *n, uint32_t tasks)
{
	uint32_t cpus = tasks * d->cpus_per_task;
	if (d->request->has_cpus_per_gpu) {
		uint32_t want = d->request->cpus_per_gpu * (uint32_t)node_gpus(d, tasks);
		cpus = want > cpus ? want : cpus;
	}
	cpus = cpus < d->cpus_min ? d->cpus_min : cpus;
	cpus = whole_cores(n, cpus ? cpus : 1);
	return d->exclusive ? n->conf.cpus : cpus;
}

static uint64_t list_gpus(const struct gres_request *list, uint32_t count)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].name, "gpu"))
			total += list[i].count;
	return total;
}

static uint64_t node_gpus(const struct demand *d, uint32_t tasks)
{
	const struct resource_request *r = d->request;
	return list_gpus(r->gres_per_node, r->n_gres_per_node) +
	       list_gpus(r->gres_per_task, r->n_gres_per_task) * tasks;
}

static bool fits_tasks(const struct pool_node *n, const struct demand *d, uint32_t tasks)
{
	uint32_t cpus = cpus_for(d, n->node, tasks);
	if (cpus > n->free_cpus || memory_for(d, n->node, cpus, tasks) > n->free_mem)
		return false;
	const struct resource_request *r = d->request;
	for (uint32_t i = 0; i < r->n_gres_per_task; i++) {
		const struct gres_request *g = &r->gres_per_task[i];
		if (g->count * tasks > pool_gres_match(n, g->name, g->type))
			return false;
	}
	return true;
}

/* How many tasks would fit: the largest count between 1 and the cap for which everything fits. */
static uint32_t room_for_tasks(const struct pool_node *n, const struct demand *d)
{
	uint32_t cap = n->free_cpus / d->cpus_per_task;
	if (d->request->overcommit)
		cap = d->ntasks;
	if (d->tasks_per_node && cap > d->tasks_per_node)
		cap = d->tasks_per_node;
	if (cap > d->ntasks)
		cap = d->ntasks;
	if (d->request->overcommit)
		return fits_tasks(n, d, 1) ? cap : 0;
	uint32_t low = 0, high = cap;
	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;
		if (fits_tasks(n, d, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

static bool node_allowed(const struct search *s, const struct pool_node *n, uint32_t index)
{
	return bitset_has(s->scope->nodes, index) &&
	       !(s->scope->blocked && bitset_has(s->scope->blocked, index)) &&
	       !(s->d->exclusive && !n->idle) && (n->idle || !n->node->exclusive_job) &&
	       !name_in(&s->excluded, n->node->conf.name) &&
	       has_features(n->node, s->d->request->constraint) &&
	       (!s->d->request->has_tmp_mib || n->node->conf.tmp_disk_mib >= s->d->request->tmp_mib);
}

static bool has_gres(const struct pool_node *n, const struct resource_request *r, uint64_t *ret_job)
{
	for (uint32_t i = 0; i < r->n_gres_per_node; i++) {
		const struct gres_request *g = &r->gres_per_node[i];
		if (g->count > pool_gres_match(n, g->name, g->type))
			return false;
	}
	*ret_job = UINT64_MAX;
	for (uint32_t i = 0; i < r->n_gres_per_job; i++) {
		const struct gres_request *g = &r->gres_per_job[i];
		uint64_t free = pool_gres_match(n, g->name, g->type);
		*ret_job = free < *ret_job ? free : *ret_job;
	}
	return *ret_job > 0; /* every node of the job takes part in --gpus */
}

static void find_candidates(struct search *s)
{
	s->found = ARENA_ARRAY(s->arena, struct candidate, s->pool->order_count);
	for (uint32_t i = 0; i < s->pool->order_count; i++) {
		uint32_t index = s->pool->order[i];
		const struct pool_node *n = &s->pool->nodes[index];
		struct candidate c = { .node = index };
		if (!node_allowed(s, n, index) || !has_gres(n, s->d->request, &c.gres_job))
			continue;
		c.room = room_for_tasks(n, s->d);
		if (c.room == 0)
			continue;
		c.required = name_in(&s->wanted, n->node->conf.name);
		s->required += c.required;
		s->found[s->count++] = c;
	}
}

/* ---- choose ------------------------------------------------------------------------------------ */

static int by_required(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return (int)y->required - (int)x->required;
}

/* Nodes that bring most of what is short first.  Tasks and devices are counted in shares of what is
 * wanted, so that they can be added; `lean` says how much the devices weigh, in quarters. */
struct preference {
	uint64_t tasks_wanted, gres_wanted;
	unsigned lean;
};

static double worth(const struct candidate *c, const struct preference *p)
{
	double tasks = (double)c->room / (double)(p->tasks_wanted ? p->tasks_wanted : 1);
	double gres = p->gres_wanted ? (double)c->gres_job / (double)p->gres_wanted : 0;
	return tasks * (4 - p->lean) + (gres > 1 ? 1 : gres) * p->lean;
}

static int by_worth(const void *a, const void *b, void *arg)
{
	const struct candidate *x = a, *y = b;
	if (x->required != y->required)
		return x->required ? -1 : 1;
	double wx = worth(x, arg), wy = worth(y, arg);
	if (wx < wy || wx > wy)
		return wx > wy ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static uint64_t job_gres_wanted(const struct search *s)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < s->d->request->n_gres_per_job; i++)
		if (s->d->request->gres_per_job[i].count > most)
			most = s->d->request->gres_per_job[i].count;
	return most;
}

static bool enough(const struct search *s, uint32_t nodes)
{
	uint64_t room = 0, gres = 0, wanted = job_gres_wanted(s);
	for (uint32_t i = 0; i < nodes; i++) {
		room += s->found[i].room;
		gres += s->found[i].gres_job == UINT64_MAX ? 0 : s->found[i].gres_job;
	}
	uint32_t tasks = s->d->tasks_follow_nodes && s->d->tasks_per_node ?
				 nodes * s->d->tasks_per_node :
				 s->d->ntasks;
	return room >= tasks && gres >= wanted;
}

/* Moves the nodes that can take an even share of the tasks to the front, in their order; returns
 * how many there are. */
static uint32_t even_share_first(struct search *s, uint32_t nodes)
{
	uint32_t share = (s->d->ntasks + nodes - 1) / nodes;
	uint64_t gres_share = (job_gres_wanted(s) + nodes - 1) / nodes;
	uint32_t good = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		struct candidate c = s->found[i];
		if (!c.required && (c.room < share || c.gres_job < gres_share))
			continue;
		memmove(&s->found[good + 1], &s->found[good], (i - good) * sizeof(c));
		s->found[good++] = c;
	}
	return good;
}

/* The number of nodes to use, the candidates reordered so that these come first; 0: not enough. */
static uint32_t choose(struct search *s)
{
	uint32_t min = s->d->nodes_min, max = s->d->nodes_max;
	min = min < s->wanted.count ? s->wanted.count : min;
	max = max > s->count ? s->count : max;
	if (min > s->count || min > max)
		return 0;
	if (s->required)
		qsort(s->found, s->count, sizeof(*s->found), by_required);
	if (even_share_first(s, min) >= min && enough(s, min))
		return min;
	struct preference p = { .tasks_wanted = s->d->ntasks, .gres_wanted = job_gres_wanted(s) };
	for (uint32_t nodes = min; nodes <= max; nodes++) {
		for (p.lean = 0; p.lean <= (p.gres_wanted ? 4 : 0); p.lean++) {
			if (nodes == min || p.gres_wanted)
				qsort_r(s->found, s->count, sizeof(*s->found), by_worth, &p);
			if (enough(s, nodes))
				return nodes;
		}
	}
	return 0;
}

/* ---- carve ------------------------------------------------------------------------------------- */

static void take_cpus(const struct pool_node *n, uint32_t cpus, struct node_alloc *out, struct arena *a)
{
	uint32_t t = threads(n->node);
	bitset_init_in(&out->cores, n->node->conf.cpus, a);
	for (uint32_t core = 0; cpus > 0 && (core + 1) * t <= n->node->conf.cpus; core++) {
		if (bitset_has(&n->used_cpus, core * t))
			continue;
		bitset_add_range(&out->cores, core * t, t);
		cpus -= t < cpus ? t : cpus;
	}
}

struct gres_list {
	struct gres_alloc *at;
	uint32_t count;
};

/* Takes `want` of name:type from the node: devices by ascending index, kind after kind. */
static void take_gres(const struct pool_node *n, const char *name, const char *type, uint64_t want,
		      struct gres_list *out, struct arena *a)
{
	for (uint32_t g = 0; g < n->node->n_gres && want > 0; g++) {
		const struct node_gres *have = &n->node->gres[g];
		uint64_t free = pool_gres_free(n, g);
		if (!str_eq(have->name, name) || (!str_empty(type) && !str_eq(have->type, type)) || !free)
			continue;
		struct gres_alloc *got = &out->at[out->count++];
		got->name = arena_strdup(a, have->name);
		got->type = arena_strdup(a, have->type);
		got->count = free < want ? free : want;
		want -= got->count;
		if (!have->used.bits)
			continue;
		bitset_init_in(&got->devices, have->first + have->used.bits, a);
		uint64_t left = got->count;
		for (uint32_t d = 0; d < have->used.bits && left > 0; d++) {
			if (bitset_has(&n->used_gres[g], d))
				continue;
			bitset_add(&got->devices, have->first + d);
			left--;
		}
	}
}

static void carve_gres(const struct search *s, const struct pool_node *n, uint32_t tasks,
		       uint64_t job_share, struct node_alloc *out)
{
	const struct resource_request *r = s->d->request;
	uint32_t most = n->node->n_gres * (1 + r->n_gres_per_node + r->n_gres_per_task + r->n_gres_per_job);
	struct gres_list list = { ARENA_ARRAY(s->arena, struct gres_alloc, most), 0 };
	if (s->d->exclusive) {
		for (uint32_t g = 0; g < n->node->n_gres; g++)
			take_gres(n, n->node->gres[g].name, n->node->gres[g].type, n->node->gres[g].count, &list,
				  s->arena);
	} else {
		for (uint32_t i = 0; i < r->n_gres_per_node; i++)
			take_gres(n, r->gres_per_node[i].name, r->gres_per_node[i].type,
				  r->gres_per_node[i].count, &list, s->arena);
		for (uint32_t i = 0; i < r->n_gres_per_task; i++)
			take_gres(n, r->gres_per_task[i].name, r->gres_per_task[i].type,
				  r->gres_per_task[i].count * tasks, &list, s->arena);
		for (uint32_t i = 0; i < r->n_gres_per_job; i++)
			take_gres(n, r->gres_per_job[i].name, r->gres_per_job[i].type, job_share, &list, s->arena);
	}
	out->gres = list.at;
	out->n_gres = list.count;
}

static int by_node(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void carve(struct search *s, uint32_t nodes, struct fit *ret)
{
	qsort(s->found, nodes, sizeof(*s->found), by_node);
	uint32_t *room = ARENA_ARRAY(s->arena, uint32_t, nodes), *tasks = ARENA_ARRAY(s->arena, uint32_t, nodes);
	uint32_t *gres_room = ARENA_ARRAY(s->arena, uint32_t, nodes), *gres = ARENA_ARRAY(s->arena, uint32_t, nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		room[i] = s->found[i].room;
		gres_room[i] = s->found[i].gres_job > UINT32_MAX ? UINT32_MAX : (uint32_t)s->found[i].gres_job;
	}
	ret->ntasks = s->d->ntasks;
	if (s->d->tasks_follow_nodes)
		ret->ntasks = nodes * (s->d->tasks_per_node ? s->d->tasks_per_node : 1);
	layout_spread(ret->ntasks, room, nodes, tasks);
	layout_spread((uint32_t)job_gres_wanted(s), gres_room, nodes, gres);

	ret->alloc = ARENA_ARRAY(s->arena, struct node_alloc, nodes);
	ret->count = nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		const struct pool_node *n = &s->pool->nodes[s->found[i].node];
		struct node_alloc *out = &ret->alloc[i];
		out->node = s->found[i].node;
		out->tasks = tasks[i];
		uint32_t cpus = cpus_for(s->d, n->node, s->d->request->overcommit ? 1 : tasks[i]);
		take_cpus(n, cpus, out, s->arena);
		out->mem_mib = memory_for(s->d, n->node, cpus, tasks[i]);
		carve_gres(s, n, tasks[i], gres[i], out);
	}
}

static bool search_init(struct search *s)
{
	/* Both lists were checked when the job was submitted. */
	return hostlist_expand(s->d->request->node_list ? s->d->request->node_list : "", s->arena, &s->wanted,
			       NULL) == 0 &&
	       hostlist_expand(s->d->request->exclude ? s->d->request->exclude : "", s->arena, &s->excluded,
			       NULL) == 0;
}

enum fit_result fit_find(const struct pool *p, const struct demand *d, const struct fit_scope *scope,
			 struct arena *a, struct fit *ret)
{
	struct search s = { .pool = p, .d = d, .scope = scope, .arena = a };
	if (!search_init(&s))
		return FIT_SHORT;
	find_candidates(&s);
	if (s.required < s.wanted.count) {
		for (uint32_t i = 0; i < p->count; i++)
			if (p->nodes[i].node && !p->nodes[i].up &&
			    name_in(&s.wanted, p->nodes[i].node->conf.name))
				return FIT_REQUIRED_DOWN;
		return FIT_SHORT;
	}
	uint32_t nodes = choose(&s);
	if (nodes == 0)
		return FIT_SHORT;
	carve(&s, nodes, ret);
	return FIT_OK;
}

/* ---- explain ----------------------------------------------------------------------------------- */

struct best {
	uint64_t nodes, cpus, mem;
};

static void explain_gres(const struct search *s, const struct gres_request *g, uint64_t want,
			 const char *per, struct buf *out)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < s->pool->order_count; i++) {
		if (!bitset_has(s->scope->nodes, s->pool->order[i]))
			continue;
		uint64_t have = pool_gres_match(&s->pool->nodes[s->pool->order[i]], g->name, g->type);
		most = have > most ? have : most;
	}
	if (want > most)
		buf_printf(out, "%s%llu %s%s%s on %s %s asked for, the most any node has is %llu",
			   out->len ? "; " : "", (unsigned long long)want, g->name, g->type ? ":" : "",
			   g->type ? g->type : "", per, want == 1 ? "is" : "are", (unsigned long long)most);
}

void fit_explain(const struct pool *p, const struct demand *d, const struct fit_scope *scope,
		 struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct search s = { .pool = p, .d = d, .scope = scope, .arena = a };
	if (!search_init(&s))
		return;
	struct best best = {};
	for (uint32_t i = 0; i < p->order_count; i++) {
		const struct pool_node *n = &p->nodes[p->order[i]];
		if (!node_allowed(&s, n, p->order[i]))
			continue;
		best.nodes++;
		best.cpus = n->free_cpus > best.cpus ? n->free_cpus : best.cpus;
		best.mem = n->free_mem > best.mem ? n->free_mem : best.mem;
	}
	if (best.nodes < d->nodes_min) {
		buf_printf(out, "%u nodes are asked for, %llu could be used", d->nodes_min,
			   (unsigned long long)best.nodes);
		return;
	}
	uint32_t tasks = d->tasks_per_node ? d->tasks_per_node : 1;
	uint64_t cpus = (uint64_t)tasks * d->cpus_per_task;
	cpus = cpus < d->cpus_min ? d->cpus_min : cpus;
	if (cpus > best.cpus)
		buf_printf(out, "%llu CPUs on a node are asked for, the most any node has is %llu",
			   (unsigned long long)cpus, (unsigned long long)best.cpus);
	uint64_t mem = d->mem_per_node + d->mem_per_cpu * cpus;
	if (mem > best.mem)
		buf_printf(out, "%s%llu MiB of memory on a node are asked for, the most any node has is %llu",
			   out->len ? "; " : "", (unsigned long long)mem, (unsigned long long)best.mem);
	const struct resource_request *r = d->request;
	for (uint32_t i = 0; i < r->n_gres_per_node; i++)
		explain_gres(&s, &r->gres_per_node[i], r->gres_per_node[i].count, "a node", out);
	for (uint32_t i = 0; i < r->n_gres_per_task; i++)
		explain_gres(&s, &r->gres_per_task[i], r->gres_per_task[i].count, "a task's node", out);
	if (out->len == 0)
		buf_printf(out, "no %u node%s together can hold %u task%s of %u CPU%s", d->nodes_max,
			   d->nodes_max == 1 ? "" : "s", d->ntasks, d->ntasks == 1 ? "" : "s",
			   d->cpus_per_task, d->cpus_per_task == 1 ? "" : "s");
}
