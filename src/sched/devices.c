/* SPDX-License-Identifier: Apache-2.0 */
/* Free devices are sorted into groups that are close to the same sockets and of the same type.  The
 * best group is used up before the next one: a group whose sockets have the cores that the job needs,
 * that is close to the devices taken already, and that has least to spare, so that large groups stay
 * whole.
 *
 * Within a group the set with most links is looked for.  On machines where every pair is connected
 * alike, or nothing is known, that is the lowest indexes; otherwise every set is tried while there are
 * not too many of them, in the order of indexes; else the set that grows best from a first device is
 * improved by exchanges. */
#include "sched/devices.h"

#include "base/arena.h"
#include "base/str.h"
#include "schema/job.h"
#include "schema/node.h"
#include "sched/pool.h"
#include "text/gres.h"

#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 5000, LINKED_MAX = 64 };

struct device {
	uint32_t index; /* among the node's devices of the name */
	uint32_t kind;  /* position in node->gres */
};

struct group {
	uint32_t sockets;
	const char *type;
	struct device *devices; /* by index */
	uint32_t count;
};

/* A group's devices and their links, while a set of them is looked for. */
struct linking {
	uint32_t count, want;
	uint32_t base[LINKED_MAX]; /* links to the devices taken before */
	uint32_t *between;         /* table of count by count */
	uint32_t set[LINKED_MAX], best[LINKED_MAX];
	uint64_t best_links;
	bool found;
};

uint32_t devices_sockets(const struct pool_node *n, const struct node_gres *g)
{
	if (bitset_empty(&g->cores))
		return UINT32_MAX;
	uint32_t per_socket = n->geometry.cores * n->geometry.threads, mask = 0;
	for (uint32_t cpu = bitset_next(&g->cores, 0); cpu != BITSET_NONE; cpu = bitset_next(&g->cores, cpu + 1))
		mask |= 1u << (cpu / per_socket % 32);
	return mask;
}

uint32_t devices_bits(const struct pool_node *n, const char *name)
{
	uint32_t bits = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		uint32_t end = have->first + (have->n_each ? have->n_each : have->used.bits);
		if ((have->n_each || have->used.bits) && str_eq(have->name, name) && end > bits)
			bits = end;
	}
	return bits;
}

uint64_t gres_alloc_count(const struct gres_alloc *g)
{
	uint32_t devices = gres_is_shared(g->name) ? 0 : bitset_count(&g->devices);
	return devices ? devices : g->count;
}

/* ---- groups ------------------------------------------------------------------------------------ */

static struct group *group_of(struct group *groups, uint32_t *count, uint32_t sockets, const char *type,
			      uint32_t room, struct arena *a)
{
	for (uint32_t i = 0; i < *count; i++)
		if (groups[i].sockets == sockets && str_eq(groups[i].type, type))
			return &groups[i];
	groups[*count] = (struct group){ sockets, type, ARENA_ARRAY(a, struct device, room), 0 };
	return &groups[(*count)++];
}

static uint32_t find_groups(const struct pool_node *n, const struct device_want *want, const struct bitset *taken,
			    struct group *groups, struct arena *a)
{
	uint32_t count = 0;
	for (uint32_t g = 0; g < n->node->n_gres; g++) {
		const struct node_gres *have = &n->node->gres[g];
		uint32_t sockets = want->anywhere ? UINT32_MAX : devices_sockets(n, have);
		if (!gres_matches(have, want->name, want->type) || !(sockets & want->sockets))
			continue;
		for (uint32_t d = 0; d < have->used.bits; d++) {
			if (bitset_has(&n->used_gres[g], d) || bitset_has(taken, have->first + d))
				continue;
			struct group *to = group_of(groups, &count, sockets, have->type, taken->bits, a);
			to->devices[to->count++] = (struct device){ have->first + d, g };
		}
	}
	return count;
}

/* Lower is better. */
static uint64_t group_rank(const struct pool_node *n, const struct group *g, const struct device_want *want,
			   uint64_t left)
{
	uint64_t free_cores = 0;
	for (uint32_t s = 0; s < n->geometry.sockets; s++)
		free_cores += g->sockets >> (s % 32) & 1 ? n->free_cores[s] : 0;
	uint64_t far = free_cores >= want->cores ? 0 : free_cores ? 1 : 2;
	bool is_close = !want->close || (g->sockets & want->close);
	uint64_t spare = g->count >= left ? g->count - left : 4096 + (left - g->count);
	return far << 40 | (uint64_t)!is_close << 39 | spare << 16 | g->devices[0].index;
}

/* ---- links ------------------------------------------------------------------------------------- */

static uint32_t link_to(const struct pool_node *n, const struct device *from, uint32_t other)
{
	const struct node_gres *g = &n->node->gres[from->kind];
	uint32_t row = g->used.bits ? g->n_links_to / g->used.bits : 0;
	return other < row ? g->links_to[(from->index - g->first) * row + other] : 0;
}

/* Are the devices wired differently?  Fills the table of links. */
static bool links_differ(const struct pool_node *n, const struct group *g, const struct bitset *taken,
			 struct linking *l)
{
	bool differ = false;
	for (uint32_t i = 0; i < g->count; i++) {
		l->base[i] = 0;
		for (uint32_t k = bitset_next(taken, 0); k != BITSET_NONE; k = bitset_next(taken, k + 1))
			l->base[i] += link_to(n, &g->devices[i], k);
		differ |= l->base[i] != l->base[0];
		for (uint32_t k = 0; k < i; k++) {
			uint32_t there = link_to(n, &g->devices[i], g->devices[k].index);
			uint32_t back = link_to(n, &g->devices[k], g->devices[i].index);
			uint32_t links = there > back ? there : back;
			l->between[i * g->count + k] = l->between[k * g->count + i] = links;
			differ |= links != l->between[1];
		}
	}
	return differ;
}

static void try_sets(struct linking *l, uint32_t chosen, uint32_t from, uint64_t links)
{
	if (chosen == l->want) {
		if (!l->found || links > l->best_links) {
			memcpy(l->best, l->set, l->want * sizeof(*l->set));
			l->best_links = links;
			l->found = true;
		}
		return;
	}
	for (uint32_t i = from; i + (l->want - chosen) <= l->count; i++) {
		uint64_t more = l->base[i];
		for (uint32_t k = 0; k < chosen; k++)
			more += l->between[i * l->count + l->set[k]];
		l->set[chosen] = i;
		try_sets(l, chosen + 1, i + 1, links + more);
	}
}

/* From one first device on, always the one with most links to those chosen. */
static void grow_set(struct linking *l, uint32_t first)
{
	uint64_t gain[LINKED_MAX], links = l->base[first];
	bool used[LINKED_MAX] = {};
	used[first] = true;
	l->set[0] = first;
	for (uint32_t i = 0; i < l->count; i++)
		gain[i] = l->base[i] + l->between[i * l->count + first];
	for (uint32_t chosen = 1; chosen < l->want; chosen++) {
		uint32_t best = l->count;
		for (uint32_t i = 0; i < l->count; i++)
			if (!used[i] && (best == l->count || gain[i] > gain[best]))
				best = i;
		links += gain[best];
		used[best] = true;
		l->set[chosen] = best;
		for (uint32_t i = 0; i < l->count; i++)
			gain[i] += l->between[i * l->count + best];
	}
	if (l->found && links <= l->best_links)
		return;
	memcpy(l->best, l->set, l->want * sizeof(*l->set));
	l->best_links = links;
	l->found = true;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Exchanges members of the best set for others while that brings links: growing alone strands some. */
static void polish_set(struct linking *l)
{
	uint64_t gain[LINKED_MAX];
	bool used[LINKED_MAX] = {}, better = true;
	for (uint32_t i = 0; i < l->count; i++) {
		gain[i] = l->base[i];
		for (uint32_t k = 0; k < l->want; k++)
			gain[i] += l->between[i * l->count + l->best[k]];
	}
	for (uint32_t k = 0; k < l->want; k++)
		used[l->best[k]] = true;
	while (better) {
		better = false;
		for (uint32_t k = 0; k < l->want; k++) {
			uint32_t out = l->best[k];
			for (uint32_t in = 0; in < l->count && !better; in++) {
				if (used[in] || gain[in] <= gain[out] + l->between[in * l->count + out])
					continue;
				for (uint32_t i = 0; i < l->count; i++)
					gain[i] += l->between[i * l->count + in] - l->between[i * l->count + out];
				used[in] = better = true;
				used[out] = false;
				l->best[k] = in;
			}
		}
	}
	qsort(l->best, l->want, sizeof(*l->best), by_number);
}

static bool few_sets(uint32_t count, uint32_t want)
{
	uint64_t sets = 1;
	for (uint32_t i = 0; i < want && sets <= SETS_MAX; i++)
		sets = sets * (count - i) / (i + 1);
	return sets <= SETS_MAX;
}

static void take_from(const struct pool_node *n, const struct group *g, uint32_t want, struct arena *a,
		      struct bitset *taken)
{
	bool has_links = n->node->gres[g->devices[0].kind].n_links_to != 0;
	if (want < g->count && has_links && g->count <= LINKED_MAX) {
		struct linking l = { .count = g->count, .want = want,
				     .between = ARENA_ARRAY(a, uint32_t, g->count * g->count) };
		if (links_differ(n, g, taken, &l)) {
			bool few = few_sets(g->count, want);
			if (few)
				try_sets(&l, 0, 0, 0);
			for (uint32_t i = 0; !few && i < g->count; i++)
				grow_set(&l, i);
			if (!few)
				polish_set(&l);
			for (uint32_t i = 0; i < want; i++)
				bitset_add(taken, g->devices[l.best[i]].index);
			return;
		}
	}
	for (uint32_t i = 0; i < want; i++)
		bitset_add(taken, g->devices[i].index);
}

static int by_index(const struct device *a, const struct device *b)
{
	return a->index < b->index ? -1 : 1;
}

/* Entries of one kind need not be in the order of their indexes. */
static void sort_group(struct group *g)
{
	for (uint32_t i = 1; i < g->count; i++)
		for (uint32_t k = i; k > 0 && by_index(&g->devices[k], &g->devices[k - 1]) < 0; k--) {
			struct device other = g->devices[k];
			g->devices[k] = g->devices[k - 1];
			g->devices[k - 1] = other;
		}
}

uint64_t devices_choose(const struct pool_node *n, struct device_want *want, struct arena *a, struct bitset *taken)
{
	struct group *groups = ARENA_ARRAY(a, struct group, n->node->n_gres + 1);
	uint32_t count = find_groups(n, want, taken, groups, a);
	uint64_t left = want->count;
	for (uint32_t i = 0; i < count; i++)
		sort_group(&groups[i]);
	for (uint32_t rounds = count; rounds && left; rounds--) {
		struct group *best = NULL;
		for (uint32_t i = 0; i < count; i++)
			if (groups[i].count && (!best || group_rank(n, &groups[i], want, left) <
								 group_rank(n, best, want, left)))
				best = &groups[i];
		uint32_t some = best->count < left ? best->count : (uint32_t)left;
		take_from(n, best, some, a, taken);
		if (best->sockets != UINT32_MAX)
			want->close |= best->sockets;
		best->count = 0;
		left -= some;
	}
	return want->count - left;
}
