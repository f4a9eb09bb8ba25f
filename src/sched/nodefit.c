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

enum { GRES_KINDS_MAX = 256, SOCKETS_MAX = 32 };

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

static uint64_t gpus_of(const struct gres_want *w)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < w->count; i++)
		if (str_eq(w->at[i].name, "gpu"))
			total += w->at[i].count;
	return total;
}

static uint64_t node_gpus(const struct demand *d, uint32_t tasks, uint64_t job_gres)
{
	return gpus_of(&d->per_node) + gpus_of(&d->per_socket) * d->sockets_min + gpus_of(&d->per_task) * tasks +
	       (gpus_of(&d->per_job) ? job_gres : 0);
}

/* Whole cores for so many tasks, wherever they are. */
static uint32_t cores_of_tasks(const struct demand *d, const struct geometry *g, uint32_t tasks)
{
	uint32_t use = usable_threads(d, g), per_task = ceil_div(d->cpus_per_task, use);
	uint32_t cores = ceil_div(tasks * d->cpus_per_task, use);
	if (d->overcommit) /* as if there were one task on the node */
		return per_task;
	if (d->ntasks_per_core && cores < ceil_div(tasks, d->ntasks_per_core))
		cores = ceil_div(tasks, d->ntasks_per_core);
	if (d->ntasks_per_core == 1 && cores < tasks * per_task)
		cores = tasks * per_task;
	return cores;
}

/* --ntasks-per-socket: the most tasks that socket `s` takes. */
static uint32_t socket_cap(const struct pool_node *n, const struct demand *d, uint32_t s)
{
	uint32_t cap = n->free_cores[s] * usable_threads(d, &n->geometry) / d->cpus_per_task;
	if (cap > d->ntasks_per_socket)
		cap = d->ntasks_per_socket;
	while (cap && cores_of_tasks(d, &n->geometry, cap) > n->free_cores[s])
		cap--;
	return cap;
}

static uint32_t socket_caps(const struct pool_node *n, const struct demand *d)
{
	uint32_t total = 0;
	for (uint32_t s = 0; s < n->geometry.sockets; s++)
		total += socket_cap(n, d, s);
	return total;
}

/* Tasks go round the sockets, none gets more than it may; returns the cores this takes, and how many of
 * them on each of the first SOCKETS_MAX sockets. */
static uint32_t cores_by_socket(const struct pool_node *n, const struct demand *d, uint32_t tasks,
				uint32_t *ret_cores)
{
	uint32_t count = n->geometry.sockets < SOCKETS_MAX ? n->geometry.sockets : SOCKETS_MAX, cores = 0;
	uint32_t have[SOCKETS_MAX] = {}, cap[SOCKETS_MAX];
	for (uint32_t s = 0; s < count; s++)
		cap[s] = socket_cap(n, d, s);
	for (uint32_t left = tasks, before = left + 1; left && left < before;) {
		before = left;
		for (uint32_t s = 0; s < count && left; s++)
			if (have[s] < cap[s]) {
				have[s]++;
				left--;
			}
	}
	for (uint32_t s = 0; s < count; s++) {
		ret_cores[s] = have[s] ? cores_of_tasks(d, &n->geometry, have[s]) : 0;
		cores += ret_cores[s];
	}
	return cores;
}

/* Whole cores for so many tasks and GPUs of --gpus on this node. */
static uint32_t cores_for(const struct demand *d, const struct pool_node *n, uint32_t tasks, uint64_t job_gres)
{
	uint32_t by_socket[SOCKETS_MAX];
	uint32_t cores = d->ntasks_per_socket && !d->overcommit ? cores_by_socket(n, d, tasks, by_socket) :
								 cores_of_tasks(d, &n->geometry, tasks);
	uint64_t gpus = d->cpus_per_gpu ? node_gpus(d, tasks, job_gres) : 0, cpus = d->cpus_per_gpu * gpus;
	if (cpus < d->cpus_min)
		cpus = d->cpus_min;
	if (cpus > n->node->conf.cpus)
		return UINT32_MAX / n->geometry.threads; /* more than any answer below could be */
	if (cores < ceil_div((uint32_t)cpus, usable_threads(d, &n->geometry)))
		cores = ceil_div((uint32_t)cpus, usable_threads(d, &n->geometry));
	return cores ? cores : 1;
}

/* A job that has the node for itself gets all CPUs, but needs no fewer than another would. */
static uint32_t cpus_for(const struct demand *d, const struct pool_node *n, uint32_t tasks, uint64_t job_gres)
{
	uint32_t cpus = cores_for(d, n, tasks, job_gres) * n->geometry.threads;
	return d->exclusive && cpus < n->free_cpus ? n->free_cpus : cpus;
}

static uint64_t memory_for(const struct demand *d, const struct pool_node *n, uint32_t cpus, uint32_t tasks,
			   uint64_t job_gres)
{
	if (d->whole_memory)
		return node_memory(n->node);
	return d->mem_per_node + d->mem_per_cpu * cpus + d->mem_per_gpu * node_gpus(d, tasks, job_gres);
}

static bool fits(const struct pool_node *n, const struct demand *d, uint32_t tasks)
{
	uint64_t least_gres = d->per_job.count ? 1 : 0; /* the share is decided later */
	if (d->tasks_per_gpu)
		least_gres = ceil_div(tasks, d->tasks_per_gpu);
	if (d->tasks_per_gpu && least_gres > nodefit_job_gres(n, d))
		return false;
	uint32_t cpus = cpus_for(d, n, tasks, least_gres);
	if (cpus > n->free_cpus || memory_for(d, n, cpus, tasks, least_gres) > n->free_mem)
		return false;
	for (uint32_t i = 0; i < d->per_task.count; i++) {
		const struct gres_request *g = &d->per_task.at[i];
		if (g->count * tasks > pool_gres_match(n, g->name, g->type))
			return false;
	}
	return true;
}

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

static bool wanted_kind(const struct node_gres *have, const char *name, const char *type)
{
	return str_eq(have->name, name) && (str_empty(type) || str_eq(have->type, type));
}

/* How many devices of each kind give g->count to each of `sockets_min` sockets: those of a socket first,
 * then those that are close to several.  False: there are not enough. */
static bool share_by_socket(const struct pool_node *n, const struct demand *d, const struct gres_request *g,
			    uint64_t *ret_counts)
{
	uint64_t own[SOCKETS_MAX] = {}, shared = 0, missing = 0;
	uint32_t kinds = n->node->n_gres < GRES_KINDS_MAX ? n->node->n_gres : GRES_KINDS_MAX;
	memset(ret_counts, 0, GRES_KINDS_MAX * sizeof(*ret_counts));
	for (uint32_t k = 0; k < kinds; k++) {
		uint32_t near = sockets_of(n, &n->node->gres[k]);
		if (!wanted_kind(&n->node->gres[k], g->name, g->type))
			continue;
		if (near & (near - 1))
			shared += pool_gres_free(n, k);
		else
			own[__builtin_ctz(near)] += pool_gres_free(n, k);
	}
	for (uint32_t i = 0; i < d->sockets_min; i++) { /* the sockets that have most themselves */
		uint32_t best = 0;
		for (uint32_t s = 1; s < n->geometry.sockets && s < SOCKETS_MAX; s++)
			best = own[s] != UINT64_MAX && (own[best] == UINT64_MAX || own[s] > own[best]) ? s : best;
		uint64_t want = g->count;
		for (uint32_t k = 0; k < kinds && want; k++) {
			if (sockets_of(n, &n->node->gres[k]) != 1u << best ||
			    !wanted_kind(&n->node->gres[k], g->name, g->type))
				continue;
			uint64_t free = pool_gres_free(n, k);
			ret_counts[k] = free < want ? free : want;
			want -= ret_counts[k];
		}
		missing += want;
		own[best] = UINT64_MAX;
	}
	for (uint32_t k = 0; k < kinds && missing <= shared; k++) {
		uint32_t near = sockets_of(n, &n->node->gres[k]);
		if (!(near & (near - 1)) || !wanted_kind(&n->node->gres[k], g->name, g->type))
			continue;
		uint64_t free = pool_gres_free(n, k);
		ret_counts[k] = free < missing ? free : missing;
		missing -= ret_counts[k];
		shared -= ret_counts[k];
	}
	return missing == 0;
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
	for (uint32_t i = 0; i < d->per_node.count; i++) {
		const struct gres_request *g = &d->per_node.at[i];
		if (g->count > pool_gres_match(n, g->name, g->type))
			return false;
	}
	for (uint32_t i = 0; i < d->per_socket.count; i++) {
		uint64_t counts[GRES_KINDS_MAX];
		if (!share_by_socket(n, d, &d->per_socket.at[i], counts))
			return false;
	}
	return nodefit_job_gres(n, d) > 0; /* every node of the job takes part in --gpus */
}

uint64_t nodefit_job_gres(const struct pool_node *n, const struct demand *d)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < d->per_job.count; i++) {
		const struct gres_request *g = &d->per_job.at[i];
		uint64_t free = pool_gres_match(n, g->name, g->type);
		least = free < least ? free : least;
	}
	if (!d->per_job.count || !least || (!d->cpus_per_gpu && !d->mem_per_gpu))
		return least;
	uint64_t low = 0, high = least; /* each of them brings CPUs and memory along */
	while (low < high) {
		uint64_t mid = low + (high - low + 1) / 2;
		uint32_t cpus = cpus_for(d, n, 1, mid);
		if (cpus <= n->free_cpus && memory_for(d, n, cpus, 1, mid) <= n->free_mem)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

uint32_t nodefit_room(const struct pool_node *n, const struct demand *d)
{
	if (!n->free_cpus || !has_shape(n, d) || !has_gres(n, d))
		return 0;
	uint32_t cap = n->free_cpus / d->cpus_per_task;
	if (d->ntasks_per_socket && cap > socket_caps(n, d))
		cap = socket_caps(n, d);
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
	return d->tasks_per_gpu ? low - low % d->tasks_per_gpu : low;
}

/* ---- devices ----------------------------------------------------------------------------------- */

struct taking {
	const struct pool_node *n;
	const struct demand *d;
	struct arena *arena;
	struct node_alloc *out;
	uint32_t close; /* bit per socket that a device taken is close to; 0: no preference */
};

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

static void take_by_socket(struct taking *t, const struct gres_request *g)
{
	uint64_t counts[GRES_KINDS_MAX];
	share_by_socket(t->n, t->d, g, counts);
	for (uint32_t k = 0; k < t->n->node->n_gres && k < GRES_KINDS_MAX; k++)
		if (counts[k])
			take_kind(t, k, counts[k]);
}

static void take_all_gres(struct taking *t, uint32_t tasks, uint64_t job_gres)
{
	const struct demand *d = t->d;
	const struct node *n = t->n->node;
	uint32_t lists = 1 + d->per_node.count + d->per_socket.count + d->per_task.count + d->per_job.count;
	t->out->gres = ARENA_ARRAY(t->arena, struct gres_alloc, n->n_gres * lists + 1);
	for (uint32_t g = 0; t->d->exclusive && g < n->n_gres; g++)
		if (pool_gres_free(t->n, g))
			take_kind(t, g, pool_gres_free(t->n, g));
	if (t->d->exclusive) {
		t->close = 0;
		return;
	}
	for (uint32_t i = 0; i < d->per_socket.count; i++)
		take_by_socket(t, &d->per_socket.at[i]);
	for (uint32_t i = 0; i < d->per_node.count; i++)
		take_gres(t, d->per_node.at[i].name, d->per_node.at[i].type, d->per_node.at[i].count);
	for (uint32_t i = 0; i < d->per_task.count; i++)
		take_gres(t, d->per_task.at[i].name, d->per_task.at[i].type, d->per_task.at[i].count * tasks);
	for (uint32_t i = 0; i < d->per_job.count; i++)
		take_gres(t, d->per_job.at[i].name, d->per_job.at[i].type, job_gres);
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

/* Each task's cores on one socket where possible, tasks going round the sockets or filling them. */
static uint32_t take_for_tasks(const struct taking *t, uint32_t tasks, uint32_t per_task, uint32_t most,
			       uint32_t allowed, uint32_t *left)
{
	const struct pool_node *n = t->n;
	struct bitset *given = &t->out->cores;
	uint32_t got = 0, last = n->geometry.sockets - 1;
	for (uint32_t task = 0; task < tasks && got < most; task++) {
		uint32_t want = per_task < most - got ? per_task : most - got;
		uint32_t s = next_socket(n, left, allowed, last, want);
		if (s == UINT32_MAX)
			break;
		uint32_t took = take_on_socket(n, s, want, given);
		left[s] -= took;
		got += took;
		if (!t->d->fill_sockets)
			last = s;
	}
	return got;
}

/* --ntasks-per-socket decides how many cores of each socket there are; what else is wanted comes from
 * wherever there is some. */
static void take_by_socket_cap(const struct taking *t, uint32_t tasks, uint32_t want)
{
	uint32_t cores[SOCKETS_MAX], got = 0, sockets = t->n->geometry.sockets;
	cores_by_socket(t->n, t->d, tasks, cores);
	for (uint32_t s = 0; s < sockets && s < SOCKETS_MAX; s++)
		got += take_on_socket(t->n, s, cores[s], &t->out->cores);
	for (uint32_t s = 0; s < sockets && got < want; s++)
		got += take_on_socket(t->n, s, want - got, &t->out->cores);
	assert(got == want);
}

static void take_cores(const struct taking *t, uint32_t tasks, uint32_t want)
{
	const struct pool_node *n = t->n;
	struct bitset *given = &t->out->cores;
	uint32_t use = usable_threads(t->d, &n->geometry);
	uint32_t per_task = ceil_div(t->d->cpus_per_task, use), got = 0;
	bitset_init_in(given, n->node->conf.cpus, t->arena);
	if (t->d->ntasks_per_socket && !t->d->overcommit && !t->d->exclusive) {
		take_by_socket_cap(t, tasks, want);
		return;
	}
	uint32_t *left = arena_dup(t->arena, n->free_cores, n->geometry.sockets * sizeof(*left));
	/* Threads of one core serve several one-CPU tasks: then count in cores, not in tasks. */
	bool share_cores = t->d->cpus_per_task < use && t->d->ntasks_per_core != 1;
	uint32_t pieces = share_cores ? want : tasks;
	if (t->close)
		got = take_for_tasks(t, pieces, per_task, want, t->close, left);
	if (got < want)
		got += take_for_tasks(t, pieces, per_task, want - got, UINT32_MAX, left);
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
