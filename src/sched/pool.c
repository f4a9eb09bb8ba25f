/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/pool.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/cores.h"
#include "sched/demand.h"
#include "sched/view.h"

#include <assert.h>
#include <string.h>

bool node_is_up(const struct node *n)
{
	return n->registered && n->responding && !n->down && !n->drain && !n->fail && !n->removed;
}

uint64_t node_memory(const struct node *n)
{
	uint64_t all = n->conf.real_memory_mib, system = n->conf.mem_spec_limit_mib;
	return all > system ? all - system : 0;
}

/* ---- states ------------------------------------------------------------------------------------ */

/* What placement can tell apart: the kind of node, and how much of what is free where. */
static uint64_t state_key(const struct pool_node *n)
{
	uint64_t h = hash_mix(hash_mix(1, n->node->shape), n->idle);
	h = hash_mix(h, n->free_mem);
	h = hash_mix(h, n->node->exclusive_job != 0);
	for (uint32_t s = 0; s < n->geometry.sockets; s++)
		h = hash_mix(h, n->free_cores[s]);
	for (uint32_t s = 0; n->plain_cores && s < n->geometry.sockets; s++)
		h = hash_mix(h, n->plain_cores[s]);
	for (uint32_t s = 0; s < n->geometry.sockets * n->limit_count; s++)
		h = hash_mix(h, n->limited[s]);
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		h = hash_mix(h, pool_gres_free(n, g));
		for (uint32_t d = 0; d < n->node->gres[g].n_each; d++)
			h = hash_mix(h, pool_parts_free(n, g, d));
	}
	return h;
}

static void state_enter(struct pool *p, uint32_t index)
{
	struct pool_node *n = &p->nodes[index];
	uint64_t key = state_key(n);
	uintptr_t at = (uintptr_t)map_get(&p->by_key, key);
	if (!at) {
		struct pool_state fresh = { .key = key, .sample = index };
		bitset_init_in(&fresh.nodes, p->count, p->arena);
		vec_push(&p->states, fresh);
		at = p->states.count;
		map_put(&p->by_key, key, (void *)at);
	}
	struct pool_state *s = &p->states.at[at - 1];
	bitset_add(&s->nodes, index);
	s->count++;
	s->sample = index; /* the others may have changed since */
	n->state = (uint32_t)at - 1;
}

static void state_leave(struct pool *p, uint32_t index)
{
	struct pool_state *s = &p->states.at[p->nodes[index].state];
	bitset_remove(&s->nodes, index);
	s->count--;
	if (s->count && s->sample == index)
		s->sample = bitset_next(&s->nodes, 0);
}

/* ---- the copy ---------------------------------------------------------------------------------- */

/* Cores of two threads, both on even places, of which a thread is in use. */
static uint32_t pairs_in_use(const struct bitset *cpus, uint32_t first, uint32_t count)
{
	uint32_t total = 0, end = first + count;
	for (uint32_t w = first / 64; w * 64 < end; w++) {
		uint64_t word = cpus->words[w];
		if (w * 64 < first)
			word &= ~0ull << (first - w * 64);
		if (end - w * 64 < 64)
			word &= (1ull << (end - w * 64)) - 1;
		total += (uint32_t)__builtin_popcountll((word | word >> 1) & 0x5555555555555555ull);
	}
	return total;
}

static bool unit_is_free(const struct pool_node *n, uint32_t core)
{
	uint32_t first = core * n->geometry.threads;
	return !bitset_has(&n->spec_cpus, first) && !bitset_count_range(&n->used_cpus, first, n->geometry.threads);
}

static void count_socket(struct pool_node *n, uint32_t s)
{
	const struct geometry *g = &n->geometry;
	uint32_t per_socket = g->cores * g->threads, free = 0, plain = 0;
	bool alike = !n->spec_cpus.bits && !n->plain_cores;
	if (alike && g->threads == 1) {
		free = per_socket - bitset_count_range(&n->used_cpus, s * per_socket, per_socket);
	} else if (alike && g->threads == 2) {
		free = g->cores - pairs_in_use(&n->used_cpus, s * per_socket, per_socket);
	} else {
		for (uint32_t core = s * g->cores; core < (s + 1) * g->cores; core++) {
			bool is_free = unit_is_free(n, core);
			free += is_free;
			plain += is_free && !bitset_has(&n->gpu_cpus, core * g->threads);
		}
	}
	if (g->whole_sockets && free < g->cores)
		free = plain = 0; /* somebody is there */
	n->free_cores[s] = free;
	if (n->plain_cores)
		n->plain_cores[s] = plain;
}

/* A core of which somebody has a thread is not free, even if others are given by thread now. */
static void count_cores(struct pool_node *n)
{
	n->free_cpus = 0;
	for (uint32_t s = 0; s < n->geometry.sockets; s++) {
		count_socket(n, s);
		n->free_cpus += n->free_cores[s] * n->geometry.threads;
	}
}

/* SelectTypeParameters: a unit is a core, a single thread, or a core of a socket that is taken whole. */
static struct geometry geometry_by(struct geometry g, const struct select_rules *rules)
{
	if (rules->by_cpu)
		g = (struct geometry){ g.sockets, g.cores * g.threads, 1, false };
	g.whole_sockets = rules->by_socket;
	return g;
}

static void keep_back(struct pool_node *p, struct arena *a)
{
	const struct node_conf *c = &p->node->conf;
	if (c->core_spec_count || !str_empty(c->cpu_spec_list)) {
		bitset_init_in(&p->spec_cpus, c->cpus, a);
		node_spec_cpus(p->node, &p->spec_cpus);
	}
	if (c->restricted_cores_per_gpu) {
		bitset_init_in(&p->gpu_cpus, c->cpus, a);
		node_gpu_cpus(p->node, &p->gpu_cpus);
		p->plain_cores = ARENA_ARRAY(a, uint32_t, p->geometry.sockets);
	}
}

static void node_init(struct pool_node *p, const struct sched_view *v, const struct node *n, bool as_if_idle,
		      struct arena *a)
{
	p->node = n;
	p->up = as_if_idle ? !n->removed : node_is_up(n);
	p->job_count = as_if_idle ? 0 : n->job_count;
	p->idle = p->job_count == 0;
	p->geometry = geometry_by(node_geometry(n), &v->select);
	p->free_cores = ARENA_ARRAY(a, uint32_t, p->geometry.sockets);
	bitset_init_in(&p->used_cpus, n->conf.cpus, a);
	p->free_mem = node_memory(n);
	p->used_gres = ARENA_ARRAY(a, struct bitset, n->n_gres);
	p->used_counts = ARENA_ARRAY(a, uint64_t, n->n_gres);
	for (uint32_t g = 0; g < n->n_gres; g++) {
		bitset_init_in(&p->used_gres[g], n->gres[g].used.bits, a);
		if (as_if_idle)
			continue;
		bitset_copy(&p->used_gres[g], &n->gres[g].used);
		p->used_counts[g] = n->gres[g].used_count;
	}
	pool_parts_init(p, as_if_idle, a);
	if (!as_if_idle) {
		bitset_copy(&p->used_cpus, &n->used_cores);
		p->free_mem = p->free_mem > n->used_mem_mib ? p->free_mem - n->used_mem_mib : 0;
	}
	keep_back(p, a);
	count_cores(p);
}

/* ---- limits on the CPUs of a partition ------------------------------------------------------------ */

static void count_limited(struct pool_node *n, uint32_t limit, const struct bitset *cpus)
{
	uint32_t per_socket = n->geometry.cores * n->geometry.threads;
	uint32_t *used = &n->limited[limit * n->geometry.sockets];
	for (uint32_t cpu = bitset_next(cpus, 0); cpu != BITSET_NONE; cpu = bitset_next(cpus, cpu + 1))
		if (cpu / per_socket < n->geometry.sockets)
			used[cpu / per_socket]++;
}

static uint32_t find_limit(const struct pool *p, const char *partition)
{
	for (uint32_t i = 0; i < p->limits.count; i++)
		if (str_eq(p->limits.at[i].partition->conf.name, partition))
			return i + 1;
	return 0;
}

static void count_running(struct pool *p, const struct sched_view *v)
{
	for (uint32_t i = 0; i < v->running_count; i++) {
		const struct job *j = v->running[i];
		uint32_t limit = find_limit(p, j->partition);
		for (uint32_t k = 0; limit && k < j->n_alloc; k++)
			if (!j->alloc[k].clean && p->nodes[j->alloc[k].node].node)
				count_limited(&p->nodes[j->alloc[k].node], limit - 1, &j->alloc[k].cores);
	}
}

static void limits_init(struct pool *p, const struct sched_view *v, bool as_if_idle)
{
	for (uint32_t i = 0; i < v->partition_count; i++) {
		const struct partition_conf *c = &v->partitions[i]->conf;
		if (c->max_cpus_per_node || c->max_cpus_per_socket)
			vec_push(&p->limits, (struct pool_limit){ v->partitions[i], c->max_cpus_per_node,
								  c->max_cpus_per_socket });
	}
	uint32_t count = (uint32_t)p->limits.count;
	for (uint32_t i = 0; count && i < p->count; i++) {
		if (!p->nodes[i].node)
			continue;
		p->nodes[i].limit_count = count;
		p->nodes[i].limited = ARENA_ARRAY(p->arena, uint32_t, count * p->nodes[i].geometry.sockets);
	}
	if (count && !as_if_idle)
		count_running(p, v);
}

void pool_limit(const struct pool *p, const struct partition *partition, struct demand *d)
{
	d->limit = p->limits.count ? find_limit(p, partition->conf.name) : 0;
	if (!d->limit)
		return;
	d->limit_per_node = p->limits.at[d->limit - 1].per_node;
	d->limit_per_socket = p->limits.at[d->limit - 1].per_socket;
}

static void collect_weights(struct pool *p)
{
	bool differ = false;
	uint32_t *weights = ARENA_ARRAY(p->arena, uint32_t, p->count + 1), last = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		if (!p->nodes[i].node)
			continue;
		weights[i] = p->nodes[i].node->conf.weight;
		differ |= last && weights[i] != last;
		last = weights[i];
	}
	p->weights = differ ? weights : NULL;
}

void pool_init(struct pool *p, const struct sched_view *v, bool as_if_idle, struct arena *a)
{
	*p = (struct pool){ .arena = a, .count = v->node_count };
	p->nodes = ARENA_ARRAY(a, struct pool_node, v->node_count);
	for (uint32_t i = 0; i < v->node_count; i++) {
		if (!v->nodes[i])
			continue;
		node_init(&p->nodes[i], v, v->nodes[i], as_if_idle, a);
	}
	limits_init(p, v, as_if_idle);
	for (uint32_t i = 0; i < v->node_count; i++)
		if (p->nodes[i].node && p->nodes[i].up)
			state_enter(p, i);
	collect_weights(p);
}

void pool_done(struct pool *p)
{
	vec_done(&p->limits);
	vec_done(&p->states);
	map_done(&p->by_key);
	map_done(&p->names);
}

uint32_t pool_find(struct pool *p, const char *name)
{
	if (!p->names.count)
		for (uint32_t i = 0; i < p->count; i++)
			if (p->nodes[i].node)
				map_put_str(&p->names, p->nodes[i].node->conf.name, (void *)(uintptr_t)(i + 1));
	uintptr_t at = (uintptr_t)map_get_str(&p->names, name);
	return at ? (uint32_t)at - 1 : UINT32_MAX;
}

void pool_take(struct pool *p, const struct node_alloc *alloc)
{
	struct pool_node *n = &p->nodes[alloc->node];
	assert(n->node && n->up && !bitset_intersects(&n->used_cpus, &alloc->cores));
	state_leave(p, alloc->node);
	bitset_or(&n->used_cpus, &alloc->cores);
	count_cores(n);
	n->free_mem = n->free_mem > alloc->mem_mib ? n->free_mem - alloc->mem_mib : 0;
	n->job_count++;
	n->idle = false;
	for (uint32_t i = 0; i < alloc->n_gres; i++)
		pool_gres_mark(n, &alloc->gres[i], true);
	state_enter(p, alloc->node);
}

void pool_take_limited(struct pool *p, const struct demand *d, const struct node_alloc *alloc)
{
	if (d->limit) {
		state_leave(p, alloc->node);
		count_limited(&p->nodes[alloc->node], d->limit - 1, &alloc->cores);
		state_enter(p, alloc->node);
	}
	pool_take(p, alloc);
}

void pool_give(struct pool *p, const struct node_alloc *alloc)
{
	struct pool_node *n = alloc->node < p->count ? &p->nodes[alloc->node] : NULL;
	if (!n || !n->node || !n->up)
		return;
	state_leave(p, alloc->node);
	bitset_minus(&n->used_cpus, &alloc->cores);
	count_cores(n);
	n->free_mem += alloc->mem_mib;
	if (n->free_mem > node_memory(n->node))
		n->free_mem = node_memory(n->node);
	n->job_count -= n->job_count > 0;
	n->idle = n->job_count == 0;
	for (uint32_t i = 0; i < alloc->n_gres; i++)
		pool_gres_mark(n, &alloc->gres[i], false);
	state_enter(p, alloc->node);
}
