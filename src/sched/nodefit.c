/* SPDX-License-Identifier: Apache-2.0 */
/* The room of a node is found by bisection: everything a number of tasks needs grows with the number.
 *
 * Taking goes in this order: devices first, because there are few of them and they decide which sockets
 * are close; then cores, from the close sockets before the others; memory follows from both. */
#include "sched/nodefit.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/demand.h"
#include "sched/pool.h"

#include <assert.h>
#include <string.h>

struct geometry node_geometry(const struct node *n)
{
	struct geometry g = { n->conf.sockets ? n->conf.sockets : 1, n->conf.cores_per_socket,
			      n->conf.threads_per_core ? n->conf.threads_per_core : 1 };
	if (!g.cores || g.sockets * g.cores * g.threads != n->conf.cpus) {
		g.cores = n->conf.cpus / (g.sockets * g.threads);
		if (g.sockets * g.cores * g.threads != n->conf.cpus) /* CPUs= alone: one thread each */
			g = (struct geometry){ 1, n->conf.cpus, 1 };
	}
	return g;
}

/* ---- how much ---------------------------------------------------------------------------------- */

/* CPUs of a core that tasks may use: --threads-per-core, --hint=nomultithread. */
static uint32_t usable_threads(const struct demand *d, const struct geometry *g)
{
	return d->threads_per_core && d->threads_per_core < g->threads ? d->threads_per_core : g->threads;
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

static uint64_t gpus_of(const struct gres_request *list, uint32_t count)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].name, "gpu"))
			total += list[i].count;
	return total;
}

static uint64_t node_gpus(const struct demand *d, uint32_t tasks, uint64_t job_gres)
{
	const struct resource_request *r = d->request;
	return gpus_of(r->gres_per_node, r->n_gres_per_node) + gpus_of(r->gres_per_task, r->n_gres_per_task) * tasks +
	       (gpus_of(r->gres_per_job, r->n_gres_per_job) ? job_gres : 0);
}

/* Whole cores for so many tasks. */
static uint32_t cores_for(const struct demand *d, const struct geometry *g, uint32_t tasks, uint64_t job_gres)
{
	uint32_t use = usable_threads(d, g);
	uint32_t per_task = ceil_div(d->cpus_per_task, use);
	uint32_t cores = ceil_div(tasks * d->cpus_per_task, use);
	if (d->overcommit)
		cores = 1;
	else if (d->ntasks_per_core && cores < ceil_div(tasks, d->ntasks_per_core))
		cores = ceil_div(tasks, d->ntasks_per_core);
	if (d->ntasks_per_core == 1 && cores < tasks * per_task && !d->overcommit)
		cores = tasks * per_task;
	uint32_t cpus = d->cpus_min;
	if (d->cpus_per_gpu)
		cpus = cpus > d->cpus_per_gpu * node_gpus(d, tasks, job_gres) ?
			       cpus :
			       (uint32_t)(d->cpus_per_gpu * node_gpus(d, tasks, job_gres));
	if (cores < ceil_div(cpus, use))
		cores = ceil_div(cpus, use);
	return cores ? cores : 1;
}

static uint32_t cpus_for(const struct demand *d, const struct pool_node *n, uint32_t tasks, uint64_t job_gres)
{
	return d->exclusive ? n->node->conf.cpus : cores_for(d, &n->geometry, tasks, job_gres) * n->geometry.threads;
}

static uint64_t memory_for(const struct demand *d, const struct pool_node *n, uint32_t cpus, uint32_t tasks,
			   uint64_t job_gres)
{
	if (d->whole_memory)
		return node_memory(n->node);
	return d->mem_per_node + d->mem_per_cpu * cpus + d->mem_per_gpu * node_gpus(d, tasks, job_gres);
}

/* --ntasks-per-socket, and tasks that want their CPUs on one socket when they fit there. */
static uint32_t socket_cap(const struct pool_node *n, const struct demand *d)
{
	uint32_t use = usable_threads(d, &n->geometry), total = 0;
	for (uint32_t s = 0; s < n->geometry.sockets; s++) {
		uint32_t room = n->free_cores[s] * use / d->cpus_per_task;
		total += room < d->ntasks_per_socket ? room : d->ntasks_per_socket;
	}
	return total;
}

static bool fits(const struct pool_node *n, const struct demand *d, uint32_t tasks)
{
	uint64_t least_gres = d->request->n_gres_per_job ? 1 : 0; /* the share is decided later */
	uint32_t cpus = cpus_for(d, n, tasks, least_gres);
	if (cpus > n->free_cpus || memory_for(d, n, cpus, tasks, least_gres) > n->free_mem)
		return false;
	for (uint32_t i = 0; i < d->request->n_gres_per_task; i++) {
		const struct gres_request *g = &d->request->gres_per_task[i];
		if (g->count * tasks > pool_gres_match(n, g->name, g->type))
			return false;
	}
	return true;
}

static bool has_shape(const struct pool_node *n, const struct demand *d)
{
	return n->geometry.sockets >= d->sockets_min && n->geometry.cores >= d->cores_min &&
	       n->geometry.threads >= d->threads_min &&
	       (!d->request->has_tmp_mib || n->node->conf.tmp_disk_mib >= d->request->tmp_mib) &&
	       !(d->exclusive && !n->idle);
}

static bool has_gres(const struct pool_node *n, const struct demand *d)
{
	for (uint32_t i = 0; i < d->request->n_gres_per_node; i++) {
		const struct gres_request *g = &d->request->gres_per_node[i];
		if (g->count > pool_gres_match(n, g->name, g->type))
			return false;
	}
	return nodefit_job_gres(n, d) > 0; /* every node of the job takes part in --gpus */
}

uint64_t nodefit_job_gres(const struct pool_node *n, const struct demand *d)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < d->request->n_gres_per_job; i++) {
		const struct gres_request *g = &d->request->gres_per_job[i];
		uint64_t free = pool_gres_match(n, g->name, g->type);
		least = free < least ? free : least;
	}
	return least;
}

uint32_t nodefit_room(const struct pool_node *n, const struct demand *d)
{
	if (!n->free_cpus || !has_shape(n, d) || !has_gres(n, d))
		return 0;
	uint32_t cap = n->free_cpus / d->cpus_per_task;
	if (d->ntasks_per_socket && cap > socket_cap(n, d))
		cap = socket_cap(n, d);
	if (d->overcommit)
		cap = d->ntasks;
	if (d->tasks_per_node && cap > d->tasks_per_node)
		cap = d->tasks_per_node;
	if (cap > d->ntasks)
		cap = d->ntasks;
	uint32_t low = 0, high = cap;
	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;
		if (fits(n, d, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* ---- devices ----------------------------------------------------------------------------------- */

struct taking {
	const struct pool_node *n;
	const struct demand *d;
	struct arena *arena;
	struct node_alloc *out;
	uint32_t close; /* bit per socket that a device taken is close to; 0: no preference */
};

/* The sockets that devices of kind `g` are close to; all of them when gres.conf says nothing. */
static uint32_t sockets_of(const struct pool_node *n, const struct node_gres *g)
{
	if (bitset_empty(&g->cores))
		return UINT32_MAX;
	uint32_t per_socket = n->geometry.cores * n->geometry.threads, mask = 0;
	for (uint32_t cpu = bitset_next(&g->cores, 0); cpu != BITSET_NONE; cpu = bitset_next(&g->cores, cpu + 1))
		mask |= 1u << (cpu / per_socket % 32);
	return mask;
}

/* Links= of one kind: a comma list of link counts to the devices of the node, self marked by -1. */
static uint32_t link_between(const struct node_gres *g, uint32_t device, uint32_t other)
{
	(void)device;
	const char *p = g->links;
	for (uint32_t i = 0; p && *p && i < other; i++)
		p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL;
	if (!p || *p < '0' || *p > '9')
		return 0;
	return (uint32_t)(*p - '0');
}

/* Which kinds to take from, the best first: close to sockets that have free cores, few spare devices
 * (so that large groups stay whole), low index. */
static uint64_t kind_rank(const struct taking *t, uint32_t g, uint64_t want)
{
	const struct node_gres *have = &t->n->node->gres[g];
	uint64_t free = pool_gres_free(t->n, g);
	uint32_t sockets = sockets_of(t->n, have);
	bool has_cores = sockets == UINT32_MAX;
	for (uint32_t s = 0; s < t->n->geometry.sockets && !has_cores; s++)
		has_cores = (sockets >> s & 1) && t->n->free_cores[s];
	bool is_close = !t->close || (sockets & t->close);
	uint64_t spare = free >= want ? free - want : 1000 + (want - free);
	return (uint64_t)!has_cores << 40 | (uint64_t)!is_close << 39 | spare << 8 | g;
}

static bool wanted_kind(const struct node_gres *have, const char *name, const char *type)
{
	return str_eq(have->name, name) && (str_empty(type) || str_eq(have->type, type));
}

/* The free device of the kind that is best connected to those taken already. */
static uint32_t best_device(const struct taking *t, uint32_t g, const struct bitset *taken)
{
	const struct node_gres *have = &t->n->node->gres[g];
	uint32_t best = BITSET_NONE, best_links = 0;
	for (uint32_t d = 0; d < have->used.bits; d++) {
		if (bitset_has(&t->n->used_gres[g], d) || bitset_has(taken, have->first + d))
			continue;
		uint32_t links = 0;
		for (uint32_t k = bitset_next(taken, 0); have->links && k != BITSET_NONE; k = bitset_next(taken, k + 1))
			links += link_between(have, have->first + d, k);
		if (best == BITSET_NONE || links > best_links) {
			best = d;
			best_links = links;
		}
	}
	return best;
}

static void take_kind(struct taking *t, uint32_t g, uint64_t count)
{
	const struct node_gres *have = &t->n->node->gres[g];
	struct gres_alloc *got = &t->out->gres[t->out->n_gres++];
	got->name = arena_strdup(t->arena, have->name);
	got->type = arena_strdup(t->arena, have->type);
	got->count = count;
	uint32_t sockets = sockets_of(t->n, have);
	if (sockets != UINT32_MAX)
		t->close |= sockets;
	if (!have->used.bits)
		return;
	bitset_init_in(&got->devices, have->first + have->used.bits, t->arena);
	for (uint64_t i = 0; i < count; i++)
		bitset_add(&got->devices, have->first + best_device(t, g, &got->devices));
}

static void take_gres(struct taking *t, const char *name, const char *type, uint64_t want)
{
	uint32_t kinds = t->n->node->n_gres;
	bool *done = ARENA_ARRAY(t->arena, bool, kinds + 1);
	while (want > 0) {
		uint32_t best = UINT32_MAX;
		for (uint32_t g = 0; g < kinds; g++) {
			if (done[g] || !wanted_kind(&t->n->node->gres[g], name, type) || !pool_gres_free(t->n, g))
				continue;
			if (best == UINT32_MAX || kind_rank(t, g, want) < kind_rank(t, best, want))
				best = g;
		}
		assert(best != UINT32_MAX);
		done[best] = true;
		uint64_t free = pool_gres_free(t->n, best), count = free < want ? free : want;
		take_kind(t, best, count);
		want -= count;
	}
}

static void take_all_gres(struct taking *t, uint32_t tasks, uint64_t job_gres)
{
	const struct resource_request *r = t->d->request;
	const struct node *n = t->n->node;
	uint32_t lists = 1 + r->n_gres_per_node + r->n_gres_per_task + r->n_gres_per_job;
	t->out->gres = ARENA_ARRAY(t->arena, struct gres_alloc, n->n_gres * lists + 1);
	for (uint32_t g = 0; t->d->exclusive && g < n->n_gres; g++)
		if (pool_gres_free(t->n, g))
			take_kind(t, g, pool_gres_free(t->n, g));
	if (t->d->exclusive) {
		t->close = 0;
		return;
	}
	for (uint32_t i = 0; i < r->n_gres_per_node; i++)
		take_gres(t, r->gres_per_node[i].name, r->gres_per_node[i].type, r->gres_per_node[i].count);
	for (uint32_t i = 0; i < r->n_gres_per_task; i++)
		take_gres(t, r->gres_per_task[i].name, r->gres_per_task[i].type, r->gres_per_task[i].count * tasks);
	for (uint32_t i = 0; i < r->n_gres_per_job; i++)
		take_gres(t, r->gres_per_job[i].name, r->gres_per_job[i].type, job_gres);
}

/* ---- cores ------------------------------------------------------------------------------------- */

static bool core_is_free(const struct pool_node *n, const struct bitset *given, uint32_t core)
{
	uint32_t cpu = core * n->geometry.threads;
	return !bitset_has(&n->used_cpus, cpu) && !bitset_has(given, cpu);
}

/* Up to `want` free cores of one socket, lowest first; returns how many. */
static uint32_t take_on_socket(const struct pool_node *n, uint32_t socket, uint32_t want, struct bitset *given)
{
	uint32_t got = 0, first = socket * n->geometry.cores;
	for (uint32_t core = first; core < first + n->geometry.cores && got < want; core++) {
		if (!core_is_free(n, given, core))
			continue;
		bitset_add_range(given, core * n->geometry.threads, n->geometry.threads);
		got++;
	}
	return got;
}

/* The next socket after `last`, going round, that still has `want` free cores among the allowed ones;
 * UINT32_MAX: none has. */
static uint32_t next_socket(const struct pool_node *n, const uint32_t *left, uint32_t allowed, uint32_t last,
			    uint32_t want)
{
	for (uint32_t i = 1; i <= n->geometry.sockets; i++) {
		uint32_t s = (last + i) % n->geometry.sockets;
		if ((allowed >> (s % 32) & 1) && left[s] >= want)
			return s;
	}
	return UINT32_MAX;
}

/* Each task's cores on one socket where possible, tasks going round the sockets. */
static uint32_t take_for_tasks(const struct pool_node *n, uint32_t tasks, uint32_t per_task, uint32_t most,
			       uint32_t allowed, uint32_t *left, struct bitset *given)
{
	uint32_t got = 0, last = n->geometry.sockets - 1;
	for (uint32_t t = 0; t < tasks && got < most; t++) {
		uint32_t want = per_task < most - got ? per_task : most - got;
		uint32_t s = next_socket(n, left, allowed, last, want);
		if (s == UINT32_MAX)
			break;
		uint32_t took = take_on_socket(n, s, want, given);
		left[s] -= took;
		got += took;
		last = s;
	}
	return got;
}

static void take_cores(const struct taking *t, uint32_t tasks, uint32_t want)
{
	const struct pool_node *n = t->n;
	struct bitset *given = &t->out->cores;
	uint32_t use = usable_threads(t->d, &n->geometry);
	uint32_t per_task = ceil_div(t->d->cpus_per_task, use), got = 0;
	uint32_t *left = arena_dup(t->arena, n->free_cores, n->geometry.sockets * sizeof(*left));
	bitset_init_in(given, n->node->conf.cpus, t->arena);
	/* Threads of one core serve several one-CPU tasks: then count in cores, not in tasks. */
	bool share_cores = t->d->cpus_per_task < use && t->d->ntasks_per_core != 1;
	uint32_t pieces = share_cores ? want : tasks;
	if (t->close)
		got = take_for_tasks(n, pieces, per_task, want, t->close, left, given);
	if (got < want)
		got += take_for_tasks(n, pieces, per_task, want - got, UINT32_MAX, left, given);
	for (uint32_t s = 0; s < n->geometry.sockets && got < want; s++)
		got += take_on_socket(n, s, want - got, given);
	assert(got == want);
}

void nodefit_take(const struct pool_node *n, const struct demand *d, uint32_t tasks, uint64_t job_gres,
		  struct arena *a, struct node_alloc *out)
{
	struct taking t = { .n = n, .d = d, .arena = a, .out = out };
	out->node = n->node->index;
	out->tasks = tasks;
	take_all_gres(&t, tasks, job_gres);
	uint32_t cpus = cpus_for(d, n, tasks, job_gres);
	take_cores(&t, tasks, cpus / n->geometry.threads);
	out->mem_mib = memory_for(d, n, cpus, tasks, job_gres);
}
