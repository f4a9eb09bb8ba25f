/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cores.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/demand.h"
#include "sched/pool.h"
#include "text/idset.h"

/* When `count` cores of a node are set aside: the last of each socket, going round from the last
 * socket.  How many that are on this one. */
static uint32_t spared_on(const struct geometry *g, uint32_t count, uint32_t socket)
{
	uint32_t each = count / g->sockets, more = count % g->sockets;
	uint32_t spared = each + (socket >= g->sockets - more);
	return spared < g->cores ? spared : g->cores;
}

/* ---- what the node keeps for itself -------------------------------------------------------------- */

void node_spec_cpus(const struct node *n, struct bitset *ret)
{
	struct geometry g = node_geometry(n);
	for (uint32_t s = 0; s < g.sockets && n->conf.core_spec_count; s++) {
		uint32_t spared = spared_on(&g, n->conf.core_spec_count, s);
		bitset_add_range(ret, ((s + 1) * g.cores - spared) * g.threads, spared * g.threads);
	}
	if (str_empty(n->conf.cpu_spec_list))
		return;
	AUTO_ARENA struct arena *a = arena_new();
	struct array_spec list;
	if (array_parse(n->conf.cpu_spec_list, n->conf.cpus, a, &list, NULL) < 0)
		return; /* the configuration was checked */
	for (uint32_t i = 0; i < list.ids.count; i++)
		for (uint32_t cpu = list.ids.ranges[i].first; cpu <= list.ids.ranges[i].last; cpu++)
			bitset_add_range(ret, cpu / g.threads * g.threads, g.threads);
}

uint32_t node_job_cpus(const struct node *n)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct bitset spec;
	if (!n->conf.cpus || (!n->conf.core_spec_count && str_empty(n->conf.cpu_spec_list)))
		return n->conf.cpus ? n->conf.cpus : n->facts.cpus;
	bitset_init_in(&spec, n->conf.cpus, a);
	node_spec_cpus(n, &spec);
	return n->conf.cpus - bitset_count(&spec);
}

static bool is_close(const struct node_gres *g, uint32_t cpu)
{
	return bitset_empty(&g->cores) || bitset_has(&g->cores, cpu);
}

void node_gpu_cpus(const struct node *n, struct bitset *ret)
{
	struct geometry g = node_geometry(n);
	for (uint32_t k = 0; k < n->n_gres; k++) {
		if (!str_eq(n->gres[k].name, "gpu"))
			continue;
		uint64_t want = n->gres[k].count * n->conf.restricted_cores_per_gpu;
		for (uint32_t core = g.sockets * g.cores; core-- > 0 && want;) {
			if (!is_close(&n->gres[k], core * g.threads) || bitset_has(ret, core * g.threads))
				continue;
			bitset_add_range(ret, core * g.threads, g.threads);
			want--;
		}
	}
}

/* ---- what a request may use ----------------------------------------------------------------------- */

/* -S and --thread-spec: so many cores less than all, instead of what the node keeps. */
static uint32_t spared_cores(const struct pool_node *n, const struct demand *d)
{
	uint32_t threads = n->geometry.threads;
	return d->spare_cores + (d->spare_threads + threads - 1) / threads;
}

static bool is_plain(const struct pool_node *n, const struct demand *d)
{
	return !d->limit && !d->spares_cores && (!n->plain_cores || d->has_gpus);
}

uint32_t cores_free_on(const struct pool_node *n, const struct demand *d, uint32_t socket)
{
	uint32_t free = n->free_cores[socket];
	if (is_plain(n, d))
		return free;
	if (d->spares_cores)
		free = n->idle ? n->geometry.cores - spared_on(&n->geometry, spared_cores(n, d), socket) : 0;
	else if (n->plain_cores && !d->has_gpus)
		free = n->plain_cores[socket];
	if (d->limit && d->limit_per_socket) {
		uint32_t used = n->limited[(d->limit - 1) * n->geometry.sockets + socket];
		uint32_t left = used < d->limit_per_socket ? (d->limit_per_socket - used) / n->geometry.threads : 0;
		free = free < left ? free : left;
	}
	return free;
}

uint32_t cpus_free(const struct pool_node *n, const struct demand *d)
{
	if (is_plain(n, d))
		return n->free_cpus;
	uint32_t free = 0, used = 0;
	for (uint32_t s = 0; s < n->geometry.sockets; s++) {
		free += cores_free_on(n, d, s) * n->geometry.threads;
		used += d->limit ? n->limited[(d->limit - 1) * n->geometry.sockets + s] : 0;
	}
	if (!d->limit || !d->limit_per_node)
		return free;
	uint32_t left = used < d->limit_per_node ? d->limit_per_node - used : 0;
	left -= left % n->geometry.threads;
	return free < left ? free : left;
}

bool core_is_free(const struct pool_node *n, const struct demand *d, uint32_t core)
{
	uint32_t first = core * n->geometry.threads;
	for (uint32_t cpu = first; cpu < first + n->geometry.threads; cpu++)
		if (bitset_has(&n->used_cpus, cpu))
			return false;
	if (d->spares_cores) {
		uint32_t socket = core / n->geometry.cores;
		return core % n->geometry.cores <
		       n->geometry.cores - spared_on(&n->geometry, spared_cores(n, d), socket);
	}
	return !bitset_has(&n->spec_cpus, first) &&
	       (!n->plain_cores || d->has_gpus || !bitset_has(&n->gpu_cpus, first));
}
