/* SPDX-License-Identifier: Apache-2.0 */
/* A need is so many of one kind on the node; demand.c has seen to it that no kind is asked for in two ways.
 * Needs with a type are met before those without, so that a need for any type does not take what
 * another one must have.
 *
 * Devices are chosen by devices.c.  Parts of GPUs (shard, mps) of a job come from one GPU of the node:
 * one that is shared already and has least to spare, so that whole GPUs stay whole, or with
 * LL_SHARED_GRES the one with most free.  With --gres-flags=one-task-per-sharing each task has a GPU
 * of its own.  Where a site allows several GPUs (MULTIPLE_SHARING_GRES_PJ) the fullest are used first.
 *
 * Sockets: with --gres-flags=enforce-binding a job has cores only on the sockets of its devices, and no
 * more sockets than cores.  With --gpus-per-socket it has that many devices on each of the sockets asked
 * for, which are sockets with free cores where there are such.  Both mean a set of sockets, the smallest
 * that will do. */
#include "sched/gresfit.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/cores.h"
#include "sched/devices.h"
#include "sched/pool.h"
#include "text/gres.h"

#include <assert.h>
#include <string.h>

enum { NEEDS_MAX = 4 * GRES_WANT_MAX, SOCKETS_MAX = 16 };

struct need {
	const char *name, *type; /* type NULL: any */
	uint64_t count;
	uint64_t per_task;   /* for --gres-flags=one-task-per-sharing; 0 when it is no matter of tasks */
	uint64_t per_socket; /* --gpus-per-socket */
};

struct needs {
	struct need at[NEEDS_MAX];
	uint32_t count;
};

static bool has_flag(const struct demand *d, const char *flag)
{
	size_t len = strlen(flag);
	for (const char *p = d->request->gres_flags; p && *p;) {
		size_t word = strcspn(p, ",");
		if (word == len && strncmp(p, flag, len) == 0)
			return true;
		p += word + (p[word] == ',');
	}
	return false;
}

bool gresfit_is_bound(const struct demand *d)
{
	return d->request->gres_flags && has_flag(d, "enforce-binding");
}

/* ---- needs ------------------------------------------------------------------------------------- */

static struct need *need_add(struct needs *all, const struct gres_request *g, uint64_t count)
{
	assert(all->count < NEEDS_MAX);
	all->at[all->count] = (struct need){ .name = g->name, .type = str_empty(g->type) ? NULL : g->type,
					     .count = count };
	return &all->at[all->count++];
}

static void find_needs(const struct demand *d, uint32_t tasks, uint64_t job_gres, struct needs *all)
{
	all->count = 0;
	for (uint32_t i = 0; i < d->per_socket.count; i++) {
		const struct gres_request *g = &d->per_socket.at[i];
		need_add(all, g, g->count * d->sockets_min)->per_socket = g->count;
	}
	for (uint32_t i = 0; i < d->per_node.count; i++)
		need_add(all, &d->per_node.at[i], d->per_node.at[i].count);
	for (uint32_t i = 0; i < d->per_task.count; i++) {
		const struct gres_request *g = &d->per_task.at[i];
		need_add(all, g, g->count * tasks)->per_task = g->count;
	}
	for (uint32_t i = 0; i < d->per_job.count; i++)
		need_add(all, &d->per_job.at[i], job_gres);
}

uint64_t gresfit_gpus(const struct demand *d, uint32_t tasks, uint64_t job_gres)
{
	struct needs all;
	uint64_t total = 0;
	find_needs(d, tasks, job_gres, &all);
	for (uint32_t i = 0; i < all.count; i++)
		total += str_eq(all.at[i].name, "gpu") ? all.at[i].count : 0;
	return total;
}

uint64_t gresfit_job_share(const struct pool_node *n, const struct demand *d)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < d->per_job.count; i++) {
		const struct gres_request *g = &d->per_job.at[i];
		uint64_t free = pool_gres_match(n, g->name, g->type);
		least = free < least ? free : least;
	}
	return least;
}

/* ---- enough ------------------------------------------------------------------------------------ */

static bool own_gpu_for_each_task(const struct demand *d, const struct need *need)
{
	return need->per_task && gres_is_shared(need->name) && d->request->gres_flags &&
	       has_flag(d, "one-task-per-sharing");
}

/* GPUs with room for a task's parts. */
static uint64_t gpus_with_room(const struct pool_node *n, const struct need *need)
{
	uint64_t gpus = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++)
		for (uint32_t k = 0; gres_matches(&n->node->gres[g], need->name, need->type) &&
				     k < n->node->gres[g].n_each; k++)
			gpus += pool_parts_free(n, g, k) >= need->per_task &&
				(!gpus || !n->node->gres[g].one_sharing);
	return gpus;
}

/* A need for any type comes on top of those with one. */
static uint64_t wanted_in_all(const struct needs *all, const struct need *need)
{
	uint64_t want = need->count;
	for (uint32_t i = 0; !need->type && i < all->count; i++)
		if (&all->at[i] != need && str_eq(all->at[i].name, need->name))
			want += all->at[i].count;
	return want;
}

static bool is_met(const struct pool_node *n, const struct demand *d, const struct needs *all, const struct need *need,
		   uint32_t tasks)
{
	if (own_gpu_for_each_task(d, need))
		return gpus_with_room(n, need) >= tasks;
	return wanted_in_all(all, need) <= pool_gres_match(n, need->name, need->type);
}

/* ---- sockets ----------------------------------------------------------------------------------- */

/* Free devices of the need that are close to the sockets; of a resource without devices all count. */
static uint64_t devices_near(const struct pool_node *n, const struct need *need, uint32_t sockets)
{
	uint64_t total = 0, most = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		if (!gres_matches(have, need->name, need->type) || !(devices_sockets(n, have) & sockets))
			continue;
		for (uint32_t k = 0; k < have->n_each; k++)
			most = pool_parts_free(n, g, k) > most ? pool_parts_free(n, g, k) : most;
		total += have->n_each && !have->several ? 0 : pool_gres_free(n, g);
	}
	return total > most ? total : most;
}

/* Each socket has its devices; one that is close to several sockets counts where it is needed. */
static bool each_socket_has(const struct pool_node *n, const struct need *need, uint32_t sockets)
{
	uint64_t missing = 0, anywhere = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++)
		if (gres_matches(&n->node->gres[g], need->name, need->type) &&
		    __builtin_popcount(devices_sockets(n, &n->node->gres[g]) & sockets) > 1)
			anywhere += pool_gres_free(n, g);
	for (uint32_t s = 0; s < n->geometry.sockets; s++) {
		uint64_t near = 0;
		for (uint32_t g = 0; sockets >> s & 1 && g < n->node->n_gres; g++)
			if (gres_matches(&n->node->gres[g], need->name, need->type) &&
			    (devices_sockets(n, &n->node->gres[g]) & sockets) == 1u << s)
				near += pool_gres_free(n, g);
		missing += sockets >> s & 1 && near < need->per_socket ? need->per_socket - near : 0;
	}
	return missing <= anywhere;
}

/* How well a set of sockets will do; 0: not at all. */
static uint32_t sockets_worth(const struct pool_node *n, const struct demand *d, const struct needs *all,
			      uint32_t cores, uint32_t set)
{
	uint32_t free = 0, empty = 0, used = (uint32_t)__builtin_popcount(set);
	for (uint32_t s = 0; s < n->geometry.sockets; s++) {
		uint32_t here = set >> s & 1 ? cores_free_on(n, d, s) : 0;
		free += here;
		empty += set >> s & 1 && !here;
	}
	if (gresfit_is_bound(d) && (empty || free < cores || used > cores))
		return 0;
	if (d->per_socket.count && used != d->sockets_min)
		return 0;
	for (uint32_t i = 0; i < all->count; i++) {
		const struct need *need = &all->at[i];
		if (need->per_socket ? !each_socket_has(n, need, set) :
				       gresfit_is_bound(d) && wanted_in_all(all, need) > devices_near(n, need, set))
			return 0;
	}
	return 1 + (free >= cores) + 2 * !empty;
}

/* The fewest sockets that do, the best of them, then the lowest; false: none. */
static bool find_sockets(const struct pool_node *n, const struct demand *d, const struct needs *all, uint32_t cores,
			 uint32_t *ret)
{
	uint32_t sockets = n->geometry.sockets < SOCKETS_MAX ? n->geometry.sockets : SOCKETS_MAX, best = 0;
	for (uint32_t many = 1; many <= sockets && !best; many++) {
		for (uint32_t set = 1; set < 1u << sockets; set++) {
			if ((uint32_t)__builtin_popcount(set) != many)
				continue;
			uint32_t worth = sockets_worth(n, d, all, cores, set);
			if (worth <= best)
				continue;
			best = worth;
			*ret = set;
		}
	}
	return best != 0;
}

bool gresfit_has(const struct pool_node *n, const struct demand *d, const struct gres_part *p, uint32_t *ret_sockets)
{
	struct needs all;
	uint32_t sockets = UINT32_MAX;
	find_needs(d, p->tasks, p->job_gres, &all);
	for (uint32_t i = 0; i < all.count; i++)
		if (!is_met(n, d, &all, &all.at[i], p->tasks))
			return false;
	bool is_set = d->per_socket.count || (all.count && gresfit_is_bound(d));
	if (is_set && !find_sockets(n, d, &all, p->cores, &sockets))
		return false;
	if (ret_sockets)
		*ret_sockets = sockets;
	return true;
}

/* The least that a GPU which is shared already would have left; UINT64_MAX: none has room. */
static uint64_t spare_parts(const struct pool_node *n, uint32_t g, const struct need *need)
{
	const struct node_gres *have = &n->node->gres[g];
	uint64_t least = UINT64_MAX;
	for (uint32_t k = 0; gres_matches(have, need->name, need->type) && k < have->n_each; k++) {
		uint64_t free = n->used_parts[g][k] ? pool_parts_free(n, g, k) : 0;
		if (free >= need->count && free - need->count < least)
			least = free - need->count;
	}
	return least;
}

uint64_t gresfit_waste(const struct pool_node *n, const struct demand *d)
{
	uint64_t least = UINT64_MAX;
	if (n->used_parts) {
		struct needs all;
		find_needs(d, 1, 1, &all);
		for (uint32_t i = 0; i < all.count; i++) {
			for (uint32_t g = 0; gres_is_shared(all.at[i].name) && g < n->node->n_gres; g++) {
				uint64_t spare = spare_parts(n, g, &all.at[i]);
				least = spare < least ? spare : least;
			}
		}
	}
	return least < UINT64_MAX ? least : pool_devices_free(n);
}

/* ---- take -------------------------------------------------------------------------------------- */

struct taking {
	const struct pool_node *n;
	const struct demand *d;
	const struct gres_part *part;
	struct arena *arena;
	struct node_alloc *out;
	uint32_t sockets; /* devices must be close to these */
	uint32_t close;   /* sockets that the devices taken are close to */
};

static struct gres_alloc *entry_of(const struct taking *t, const struct node_gres *have)
{
	struct node_alloc *out = t->out;
	for (uint32_t i = 0; i < out->n_gres; i++)
		if (str_eq(out->gres[i].name, have->name) && str_eq(out->gres[i].type, have->type))
			return &out->gres[i];
	struct gres_alloc *got = &out->gres[out->n_gres++];
	*got = (struct gres_alloc){ .name = arena_strdup(t->arena, have->name),
				    .type = arena_strdup(t->arena, have->type) };
	return got;
}

/* All devices of the name that the job has here so far. */
static struct bitset devices_taken(const struct taking *t, const char *name)
{
	struct bitset taken;
	bitset_init_in(&taken, devices_bits(t->n, name), t->arena);
	for (uint32_t i = 0; i < t->out->n_gres; i++)
		if (str_eq(t->out->gres[i].name, name) && t->out->gres[i].devices.bits == taken.bits)
			bitset_or(&taken, &t->out->gres[i].devices);
	return taken;
}

/* The devices in `now` become entries of the allocation, one for each type. */
static void enter_devices(struct taking *t, const char *name, const struct bitset *now)
{
	for (uint32_t g = 0; g < t->n->node->n_gres; g++) {
		const struct node_gres *have = &t->n->node->gres[g];
		struct gres_alloc *got = NULL;
		for (uint32_t k = 0; str_eq(have->name, name) && k < have->used.bits; k++) {
			if (!bitset_has(now, have->first + k))
				continue;
			got = got ? got : entry_of(t, have);
			if (!got->devices.bits)
				bitset_init_in(&got->devices, now->bits, t->arena);
			bitset_add(&got->devices, have->first + k);
		}
		if (got)
			got->count = bitset_count(&got->devices);
	}
}

static uint64_t take_devices(struct taking *t, const struct need *need, uint64_t count, uint32_t sockets)
{
	struct bitset taken = devices_taken(t, need->name);
	if (!taken.bits)
		return 0;
	struct device_want want = { .name = need->name,
				    .type = need->type,
				    .count = count,
				    .cores = t->part->cores,
				    .sockets = sockets,
				    .close = t->close,
				    .anywhere = t->d->request->gres_flags && has_flag(t->d, "disable-binding") };
	uint64_t got = devices_choose(t->n, &want, t->arena, &taken);
	t->close = want.close;
	enter_devices(t, need->name, &taken);
	return got;
}

/* Those that are only counted; what is taken of an entry already stands in the allocation. */
static uint64_t take_counts(struct taking *t, const struct need *need, uint64_t count)
{
	uint64_t left = count;
	for (uint32_t g = 0; g < t->n->node->n_gres && left; g++) {
		const struct node_gres *have = &t->n->node->gres[g];
		if (have->used.bits || have->n_each || !gres_matches(have, need->name, need->type))
			continue;
		uint64_t free = pool_gres_free(t->n, g), had = entry_of(t, have)->count;
		uint64_t some = free > had ? free - had : 0;
		some = some < left ? some : left;
		entry_of(t, have)->count += some;
		left -= some;
	}
	return count - left;
}

/* The GPU to take parts from: of those with room for `want` the best, else the one with most. */
static bool best_gpu(const struct taking *t, const struct need *need, uint64_t want, const struct bitset *except,
		     uint32_t *ret_kind, uint32_t *ret_gpu)
{
	uint64_t best = 0;
	for (uint32_t g = 0; g < t->n->node->n_gres; g++) {
		const struct node_gres *have = &t->n->node->gres[g];
		if (!have->n_each || !gres_matches(have, need->name, need->type) ||
		    !(devices_sockets(t->n, have) & t->sockets))
			continue;
		for (uint32_t k = 0; k < have->n_each; k++) {
			uint64_t free = pool_parts_free(t->n, g, k), used = t->n->used_parts[g][k];
			if (!free || bitset_has(except, have->first + k))
				continue;
			uint64_t spare = free >= want ? UINT32_MAX - (free - want) : 0; /* more is better */
			if (have->spread) /* by the fraction that is free, as the sizes of GPUs may differ */
				spare = free >= want ? 1 + (UINT32_MAX - 1) / have->each[k] * free : 0;
			uint64_t score = 1 + spare + (used && free >= want && !have->spread ? 1ull << 33 : 0) +
					 (free < want ? free : 1ull << 34);
			if (score <= best)
				continue;
			best = score;
			*ret_kind = g;
			*ret_gpu = k;
		}
	}
	return best != 0;
}

static uint64_t take_parts(struct taking *t, const struct need *need, uint64_t count, struct bitset *except)
{
	uint32_t g, k;
	if (!best_gpu(t, need, count, except, &g, &k))
		return 0;
	const struct node_gres *have = &t->n->node->gres[g];
	uint64_t free = pool_parts_free(t->n, g, k);
	struct gres_alloc *got = &t->out->gres[t->out->n_gres++];
	*got = (struct gres_alloc){ .name = arena_strdup(t->arena, have->name),
				    .type = arena_strdup(t->arena, have->type),
				    .count = free < count ? free : count };
	bitset_init_in(&got->devices, except->bits, t->arena);
	bitset_add(&got->devices, have->first + k);
	bitset_add(except, have->first + k);
	uint32_t sockets = devices_sockets(t->n, have);
	if (sockets != UINT32_MAX)
		t->close |= sockets;
	return got->count;
}

static uint64_t take_shared(struct taking *t, const struct need *need)
{
	struct bitset except;
	uint64_t left = need->count, got;
	bitset_init_in(&except, devices_bits(t->n, need->name), t->arena);
	for (uint32_t i = 0; own_gpu_for_each_task(t->d, need) && i < t->part->tasks; i++)
		left -= take_parts(t, need, need->per_task, &except);
	while (left && (got = take_parts(t, need, left, &except)))
		left -= got;
	return need->count - left;
}

/* --gpus-per-socket: as many on each socket of the set. */
static uint64_t take_by_socket(struct taking *t, const struct need *need)
{
	uint64_t got = 0;
	for (uint32_t s = 0; s < t->n->geometry.sockets; s++)
		if (t->sockets >> s & 1)
			got += take_devices(t, need, need->per_socket, 1u << s);
	return got;
}

static void take_need(struct taking *t, const struct need *need)
{
	uint64_t got;
	if (gres_is_shared(need->name)) {
		got = take_shared(t, need);
	} else {
		got = need->per_socket ? take_by_socket(t, need) : 0;
		got += take_devices(t, need, need->count - got, t->sockets);
		got += take_counts(t, need, need->count - got);
	}
	assert(got == need->count);
}

/* --exclusive gives everything that is not shared; whoever asks for parts of a GPU gets these, and no
 * GPU whole. */
static void take_rest(struct taking *t, const struct needs *all)
{
	bool has_parts = false;
	for (uint32_t i = 0; i < all->count; i++)
		has_parts |= gres_is_shared(all->at[i].name);
	for (uint32_t g = 0; g < t->n->node->n_gres; g++) {
		const struct node_gres *have = &t->n->node->gres[g];
		bool is_asked = false;
		for (uint32_t i = 0; i < all->count; i++)
			is_asked |= gres_matches(have, all->at[i].name, all->at[i].type);
		if (have->n_each || have->no_consume || (have->is_explicit && !is_asked) ||
		    (has_parts && str_eq(have->name, "gpu")))
			continue;
		struct need rest = { .name = have->name, .type = have->type, .count = pool_gres_free(t->n, g) };
		if (have->used.bits)
			take_devices(t, &rest, rest.count, UINT32_MAX);
		else if (rest.count)
			take_counts(t, &rest, rest.count);
	}
}

uint32_t gresfit_take(const struct pool_node *n, const struct demand *d, const struct gres_part *p,
		      uint32_t sockets, struct arena *a, struct node_alloc *out)
{
	struct taking t = { .n = n, .d = d, .part = p, .arena = a, .out = out, .sockets = sockets };
	struct needs all;
	find_needs(d, p->tasks, p->job_gres, &all);
	if (!all.count && !d->exclusive)
		return 0;
	uint32_t most = 1;
	for (uint32_t g = 0; g < n->node->n_gres; g++)
		most += 1 + n->node->gres[g].n_each;
	out->gres = ARENA_ARRAY(a, struct gres_alloc, most);
	for (uint32_t typed = 2; typed-- > 0;)
		for (uint32_t i = 0; i < all.count; i++)
			if ((all.at[i].type != NULL) == typed)
				take_need(&t, &all.at[i]);
	if (d->exclusive)
		take_rest(&t, &all);
	return d->exclusive ? 0 : t.close;
}
