/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/pool.h"

#include "base/arena.h"
#include "base/str.h"
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

/* Cores set aside for the system are taken from the end, as slurmd leaves them to the daemons. */
static void set_aside(struct pool_node *n)
{
	uint32_t cores = n->geometry.sockets * n->geometry.cores, threads = n->geometry.threads;
	for (uint32_t i = 0; i < n->node->conf.core_spec_count && i < cores; i++)
		bitset_add_range(&n->used_cpus, (cores - 1 - i) * threads, threads);
}

/* CPUs are given in whole cores, so those in use make whole cores too. */
static void count_cores(struct pool_node *n)
{
	uint32_t per_socket = n->geometry.cores * n->geometry.threads;
	n->free_cpus = 0;
	for (uint32_t s = 0; s < n->geometry.sockets; s++) {
		uint32_t used = bitset_count_range(&n->used_cpus, s * per_socket, per_socket);
		n->free_cores[s] = (per_socket - used) / n->geometry.threads;
		n->free_cpus += n->free_cores[s] * n->geometry.threads;
	}
}

static void node_init(struct pool_node *p, const struct node *n, bool as_if_idle, struct arena *a)
{
	p->node = n;
	p->up = as_if_idle ? !n->removed : node_is_up(n);
	p->job_count = as_if_idle ? 0 : n->job_count;
	p->idle = p->job_count == 0;
	p->geometry = node_geometry(n);
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
	set_aside(p);
	count_cores(p);
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
		node_init(&p->nodes[i], v->nodes[i], as_if_idle, a);
		if (p->nodes[i].up)
			state_enter(p, i);
	}
	collect_weights(p);
}

void pool_done(struct pool *p)
{
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
