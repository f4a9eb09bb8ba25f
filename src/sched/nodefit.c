/* SPDX-License-Identifier: Apache-2.0 */
/* The room of a node is found by bisection: everything a number of tasks needs grows with the number.
 *
 * Taking goes in this order: devices first, because there are few of them and they decide which sockets
 * are close; then cores, from the close sockets before the others; memory follows from both. */
#include "sched/nodefit.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/cores.h"
#include "sched/demand.h"
#include "sched/gresfit.h"
#include "sched/pool.h"

#include <assert.h>
#include <string.h>

enum { SOCKETS_MAX = 32 };

struct geometry node_geometry(const struct node *n)
{
	struct geometry g = { n->conf.sockets ? n->conf.sockets : 1, n->conf.cores_per_socket,
			      n->conf.threads_per_core ? n->conf.threads_per_core : 1 };
	if (g.cores && g.threads > 1 && g.sockets * g.cores == n->conf.cpus)
		g.threads = 1; /* CPUs= counts cores */
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
	uint32_t free = cores_free_on(n, d, s), cap = free * usable_threads(d, &n->geometry) / d->cpus_per_task;
	if (cap > d->ntasks_per_socket)
		cap = d->ntasks_per_socket;
	while (cap && cores_of_tasks(d, &n->geometry, cap) > free)
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

/* Where sockets are given whole, all cores of as many sockets as it takes. */
static uint32_t by_unit(const struct pool_node *n, uint32_t cores, uint32_t sockets)
{
	if (!n->geometry.whole_sockets)
		return cores;
	uint32_t least = ceil_div(cores, n->geometry.cores);
	return (least > sockets ? least : sockets) * n->geometry.cores;
}

static uint32_t sockets_in(const uint32_t *cores, const struct pool_node *n)
{
	uint32_t count = 0;
	for (uint32_t s = 0; n->geometry.whole_sockets && s < n->geometry.sockets && s < SOCKETS_MAX; s++)
		count += cores[s] != 0;
	return count;
}

/* Whole cores for so many tasks and GPUs of --gpus on this node. */
static uint32_t cores_for(const struct demand *d, const struct pool_node *n, uint32_t tasks, uint64_t job_gres)
{
	uint32_t by_socket[SOCKETS_MAX] = {};
	uint32_t cores = d->ntasks_per_socket && !d->overcommit ? cores_by_socket(n, d, tasks, by_socket) :
								 cores_of_tasks(d, &n->geometry, tasks);
	uint64_t gpus = d->cpus_per_gpu ? gresfit_gpus(d, tasks, job_gres) : 0, cpus = d->cpus_per_gpu * gpus;
	if (cpus < d->cpus_min)
		cpus = d->cpus_min;
	if (cpus > n->node->conf.cpus)
		return UINT32_MAX / n->geometry.threads; /* more than any answer below could be */
	if (cores < ceil_div((uint32_t)cpus, usable_threads(d, &n->geometry)))
		cores = ceil_div((uint32_t)cpus, usable_threads(d, &n->geometry));
	return by_unit(n, cores ? cores : 1, sockets_in(by_socket, n));
}

/* A job that has the node for itself gets all CPUs, but needs no fewer than another would. */
static uint32_t cpus_for(const struct demand *d, const struct pool_node *n, uint32_t tasks, uint64_t job_gres)
{
	uint32_t cpus = cores_for(d, n, tasks, job_gres) * n->geometry.threads;
	return d->exclusive && cpus < cpus_free(n, d) ? cpus_free(n, d) : cpus;
}

static uint64_t memory_for(const struct demand *d, const struct pool_node *n, uint32_t cpus, uint32_t tasks,
			   uint64_t job_gres)
{
	if (d->whole_memory) {
		uint64_t all = node_memory(n->node);
		return d->mem_max && d->mem_max < all ? d->mem_max : all;
	}
	uint64_t gpus = d->mem_per_gpu ? gresfit_gpus(d, tasks, job_gres) : 0;
	return d->mem_per_node + d->mem_per_cpu * cpus + d->mem_per_gpu * gpus;
}

/* Where memory is not counted a node must have it, and that is all. */
static uint64_t memory_free(const struct demand *d, const struct pool_node *n)
{
	return d->ignores_memory ? node_memory(n->node) : n->free_mem;
}

static bool fits(const struct pool_node *n, const struct demand *d, uint32_t tasks)
{
	uint64_t least_gres = d->per_job.count ? 1 : 0; /* the share is decided later */
	if (d->tasks_per_gpu)
		least_gres = ceil_div(tasks, d->tasks_per_gpu);
	if (d->tasks_per_gpu && least_gres > nodefit_job_gres(n, d))
		return false;
	uint32_t cpus = cpus_for(d, n, tasks, least_gres);
	if (cpus > cpus_free(n, d) || memory_for(d, n, cpus, tasks, least_gres) > memory_free(d, n))
		return false;
	struct gres_part part = { tasks, least_gres, cpus / n->geometry.threads };
	return gresfit_has(n, d, &part, NULL);
}

static bool has_shape(const struct pool_node *n, const struct demand *d)
{
	struct geometry real = { .sockets = n->geometry.sockets };
	if (d->cores_min || d->threads_min)
		real = node_geometry(n->node);
	return real.sockets >= d->sockets_min && real.cores >= d->cores_min && real.threads >= d->threads_min &&
	       (!d->request->has_tmp_mib || n->node->conf.tmp_disk_mib >= d->request->tmp_mib) &&
	       !(d->exclusive && !n->idle);
}

uint64_t nodefit_job_gres(const struct pool_node *n, const struct demand *d)
{
	uint64_t least = gresfit_job_share(n, d);
	if (!d->per_job.count || !least || (!d->cpus_per_gpu && !d->mem_per_gpu))
		return least;
	uint64_t low = 0, high = least; /* each of them brings CPUs and memory along */
	while (low < high) {
		uint64_t mid = low + (high - low + 1) / 2;
		uint32_t cpus = cpus_for(d, n, 1, mid);
		if (cpus <= cpus_free(n, d) && memory_for(d, n, cpus, 1, mid) <= memory_free(d, n))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

uint32_t nodefit_room(const struct pool_node *n, const struct demand *d)
{
	uint32_t free = cpus_free(n, d);
	if (!free || !has_shape(n, d) || !nodefit_job_gres(n, d)) /* each takes part in --gpus */
		return 0;
	uint32_t cap = free / d->cpus_per_task;
	if (d->ntasks_per_socket && cap > socket_caps(n, d))
		cap = socket_caps(n, d);
	if (d->overcommit)
		cap = d->ntasks;
	if (d->tasks_per_node && cap > d->tasks_per_node)
		cap = d->tasks_per_node;
	if (cap > d->ntasks)
		cap = d->ntasks;
	uint32_t low = 0, high = cap;
	while (gresfit_is_bound(d) && high && !fits(n, d, high)) /* few cores may not reach all sockets */
		high--;
	low = gresfit_is_bound(d) ? high : low;
	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;
		if (fits(n, d, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return d->tasks_per_gpu ? low - low % d->tasks_per_gpu : low;
}

struct taking {
	const struct pool_node *n;
	const struct demand *d;
	struct arena *arena;
	struct node_alloc *out;
	uint32_t close;   /* bit per socket that a device taken is close to; 0: no preference */
	uint32_t sockets; /* cores must be on these */
	uint32_t touched; /* and one at least on each of these, where that is possible; 0: no matter */
};

/* ---- cores ------------------------------------------------------------------------------------- */

/* Up to `want` free cores of one socket, lowest first; returns how many. */
static uint32_t take_on_socket(const struct taking *t, uint32_t socket, uint32_t want)
{
	const struct pool_node *n = t->n;
	struct bitset *given = &t->out->cores;
	uint32_t got = 0, first = socket * n->geometry.cores;
	for (uint32_t core = first; core < first + n->geometry.cores && got < want; core++) {
		if (bitset_has(given, core * n->geometry.threads) || !core_is_free(n, t->d, core))
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
	uint32_t got = 0, last = n->geometry.sockets - 1;
	for (uint32_t task = 0; task < tasks && got < most; task++) {
		uint32_t want = per_task < most - got ? per_task : most - got;
		uint32_t s = next_socket(n, left, allowed, last, want);
		if (s == UINT32_MAX)
			break;
		uint32_t took = take_on_socket(t, s, want);
		left[s] -= took;
		got += took;
		if (!t->d->fill_sockets)
			last = s;
	}
	return got;
}

/* What is still wanted, from wherever there is some: close sockets first. */
static uint32_t take_rest(const struct taking *t, uint32_t want, uint32_t *left)
{
	uint32_t got = 0;
	for (int far = 0; far < 2; far++) {
		for (uint32_t s = 0; s < t->n->geometry.sockets && got < want; s++) {
			bool is_far = t->close && !(t->close >> (s % 32) & 1);
			if (is_far != far || !(t->sockets >> (s % 32) & 1))
				continue;
			uint32_t took = take_on_socket(t, s, left[s] < want - got ? left[s] : want - got);
			left[s] -= took;
			got += took;
		}
	}
	return got;
}

/* --ntasks-per-socket decides how many cores of each socket there are. */
static uint32_t take_by_socket_cap(const struct taking *t, uint32_t tasks, uint32_t *left)
{
	uint32_t cores[SOCKETS_MAX], got = 0;
	cores_by_socket(t->n, t->d, tasks, cores);
	for (uint32_t s = 0; s < t->n->geometry.sockets && s < SOCKETS_MAX; s++) {
		uint32_t took = take_on_socket(t, s, t->n->geometry.whole_sockets && cores[s] ? left[s] : cores[s]);
		left[s] -= took;
		got += took;
	}
	return got;
}

/* Tasks go round the sockets, close ones first. */
static uint32_t take_round(const struct taking *t, uint32_t tasks, uint32_t want, uint32_t *left)
{
	uint32_t use = usable_threads(t->d, &t->n->geometry), got = 0;
	uint32_t per_task = ceil_div(t->d->cpus_per_task, use);
	/* Threads of one core serve several one-CPU tasks: then count in cores, not in tasks. */
	bool share_cores = t->d->cpus_per_task < use && t->d->ntasks_per_core != 1;
	uint32_t pieces = share_cores ? want : tasks;
	if (t->close)
		got = take_for_tasks(t, pieces, per_task, want, t->close & t->sockets, left);
	if (got < want)
		got += take_for_tasks(t, pieces, per_task, want - got, t->sockets, left);
	return got;
}

/* A socket of the set that has none of the cores yet gets one from the socket that has most. */
static void touch_each_socket(const struct taking *t, const uint32_t *left)
{
	struct bitset *given = &t->out->cores;
	const struct geometry *g = &t->n->geometry;
	uint32_t *has = ARENA_ARRAY(t->arena, uint32_t, g->sockets);
	for (uint32_t cpu = bitset_next(given, 0); cpu != BITSET_NONE; cpu = bitset_next(given, cpu + 1))
		has[cpu / (g->cores * g->threads)]++;
	for (uint32_t s = 0; s < g->sockets; s++) {
		uint32_t most = 0;
		for (uint32_t k = 1; k < g->sockets; k++)
			most = has[k] > has[most] ? k : most;
		if (!(t->touched >> (s % 32) & 1) || has[s] || has[most] <= g->threads ||
		    !left[s] || !take_on_socket(t, s, 1))
			continue;
		for (uint32_t core = (most + 1) * g->cores; core-- > most * g->cores;) {
			if (!bitset_has(given, core * g->threads))
				continue;
			for (uint32_t k = 0; k < g->threads; k++)
				bitset_remove(given, core * g->threads + k);
			break;
		}
		has[s] += g->threads;
		has[most] -= g->threads;
	}
}

static void take_cores(const struct taking *t, uint32_t tasks, uint32_t want)
{
	const struct pool_node *n = t->n;
	uint32_t got = 0, *left = ARENA_ARRAY(t->arena, uint32_t, n->geometry.sockets);
	bool capped = t->d->ntasks_per_socket && !t->d->overcommit && !t->d->exclusive &&
		      t->sockets == UINT32_MAX;
	for (uint32_t s = 0; s < n->geometry.sockets; s++)
		left[s] = cores_free_on(n, t->d, s);
	bitset_init_in(&t->out->cores, n->node->conf.cpus, t->arena);
	if (capped)
		got = take_by_socket_cap(t, tasks, left);
	else if (!n->geometry.whole_sockets)
		got = take_round(t, tasks, want, left);
	if (got < want)
		got += take_rest(t, want - got, left);
	assert(got == want);
	if (t->touched && !capped && !n->geometry.whole_sockets)
		touch_each_socket(t, left);
}

void nodefit_take(const struct pool_node *n, const struct demand *d, uint32_t tasks, uint64_t job_gres,
		  struct arena *a, struct node_alloc *out)
{
	struct taking t = { .n = n, .d = d, .arena = a, .out = out, .sockets = UINT32_MAX };
	uint32_t cpus = cpus_for(d, n, tasks, job_gres);
	struct gres_part part = { tasks, job_gres, cpus / n->geometry.threads };
	out->node = n->node->index;
	out->tasks = tasks;
	uint32_t sockets = UINT32_MAX; /* stays so where more tasks would have reached a set and these do not */
	if (d->per_socket.count || gresfit_is_bound(d))
		(void)gresfit_has(n, d, &part, &sockets);
	t.close = gresfit_take(n, d, &part, sockets, a, out);
	t.touched = sockets == UINT32_MAX ? 0 : sockets;
	if (gresfit_is_bound(d))
		t.sockets = sockets;
	take_cores(&t, tasks, part.cores);
	out->mem_mib = d->ignores_memory ? 0 : memory_for(d, n, cpus, tasks, job_gres);
}
