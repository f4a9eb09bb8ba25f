/* SPDX-License-Identifier: Apache-2.0 */
/* gpubind.c - see gpubind.h.
 *
 * Numbers in map and mask are those of the node, because devices are not confined: a program sees all
 * of them.  Closest means that the GPU's CPUs (Cores= of gres.conf) meet those of the task; a GPU for
 * which none are given is close to all. */
#include "client/gpubind.h"

#include "base/arena.h"
#include "base/str.h"
#include "schema/job.h"
#include "schema/node.h"

#include <stdlib.h>
#include <string.h>

/* All GPUs of the step on the node. */
static struct bitset gpus_here(const struct gpubind *b, struct arena *a)
{
	struct bitset all = {};
	uint32_t bits = 0;

	for (uint32_t i = 0; i < b->here->n_gres; i++)
		if (str_eq(b->here->gres[i].name, "gpu") && b->here->gres[i].devices.bits > bits)
			bits = b->here->gres[i].devices.bits;
	bitset_init_in(&all, bits, a);
	for (uint32_t i = 0; i < b->here->n_gres; i++) {
		const struct bitset *d = &b->here->gres[i].devices;
		if (!str_eq(b->here->gres[i].name, "gpu"))
			continue;
		for (uint32_t at = bitset_next(d, 0); at != BITSET_NONE;
		     at = bitset_next(d, at + 1))
			bitset_add(&all, at);
	}
	return all;
}

/* The CPUs of the task: its own share when there is enough for everybody, otherwise all. */
static struct bitset task_cores(const struct gpubind *b, struct arena *a)
{
	const struct bitset *cores = &b->here->cores;
	uint64_t each = b->cpus_per_task;
	struct bitset mine = {};
	uint64_t at = 0;

	if (!each || each * b->tasks_here > bitset_count(cores))
		return bitset_dup(cores, a);
	bitset_init_in(&mine, cores->bits, a);
	for (uint32_t i = bitset_next(cores, 0); i != BITSET_NONE;
	     i = bitset_next(cores, i + 1), at++)
		if (at / each == b->local_id)
			bitset_add(&mine, i);
	return mine;
}

static bool is_close(const struct gpubind *b, uint32_t gpu, const struct bitset *cores)
{
	for (uint32_t i = 0; i < b->gres_count; i++) {
		const struct node_gres *g = &b->gres[i];
		if (str_eq(g->name, "gpu") && gpu >= g->first && gpu < g->first + g->count)
			return bitset_empty(&g->cores) || bitset_intersects(&g->cores, cores);
	}
	return true;
}

static struct bitset closest(const struct gpubind *b, const struct bitset *all, struct arena *a)
{
	struct bitset cores = task_cores(b, a), close = {};

	bitset_init_in(&close, all->bits, a);
	for (uint32_t i = bitset_next(all, 0); i != BITSET_NONE; i = bitset_next(all, i + 1))
		if (is_close(b, i, &cores))
			bitset_add(&close, i);
	return bitset_empty(&close) ? *all : close;
}

/* Members number `skip` to `skip + want - 1`. */
static struct bitset slice(const struct bitset *all, uint64_t skip, uint64_t want, struct arena *a)
{
	struct bitset some = {};
	uint64_t at = 0;

	bitset_init_in(&some, all->bits, a);
	for (uint32_t i = bitset_next(all, 0); i != BITSET_NONE; i = bitset_next(all, i + 1), at++)
		if (at >= skip && at - skip < want)
			bitset_add(&some, i);
	return some;
}

/* The task's entry of "0,1*2,3": entries may be repeated, and the list starts again at its end. */
static uint64_t list_entry(const char *list, uint32_t local_id, int base)
{
	uint64_t value = 0, seen = 0, total = 0;

	for (int pass = 0; pass < 2; pass++) {
		const char *at = list;
		seen = 0;
		while (*at) {
			char *end;
			uint64_t times = 1;
			value = strtoull(at, &end, base);
			if (*end == '*')
				times = strtoull(end + 1, &end, 10);
			seen += times;
			if (pass && seen > local_id % total)
				return value;
			if (end == at || (*end && *end != ','))
				return value;
			at = *end ? end + 1 : end;
		}
		total = seen ? seen : 1;
	}
	return value;
}

static struct bitset masked(const struct bitset *all, uint64_t mask, struct arena *a)
{
	struct bitset some = {};

	bitset_init_in(&some, all->bits, a);
	for (uint32_t i = bitset_next(all, 0); i != BITSET_NONE && i < 64;
	     i = bitset_next(all, i + 1))
		if (mask >> i & 1)
			bitset_add(&some, i);
	return some;
}

static struct bitset selected(const struct gpubind *b, const struct bitset *all, const char *how,
			      struct arena *a)
{
	const char *colon = strchr(how, ':'), *arg = colon ? colon + 1 : "1";
	uint64_t n = strtoull(arg, NULL, 10);

	if (str_istarts(how, "per_task:"))
		return slice(all, n * b->local_id, n, a);
	if (str_istarts(how, "closest"))
		return closest(b, all, a);
	if (str_istarts(how, "single:")) {
		struct bitset near = closest(b, all, a);
		uint32_t count = bitset_count(&near);
		return slice(&near, count && n ? b->local_id / n % count : 0, 1, a);
	}
	if (str_istarts(how, "map")) {
		n = list_entry(arg, b->local_id, 10);
		return masked(all, n < 64 ? 1ull << n : 0, a);
	}
	if (str_istarts(how, "mask"))
		return masked(all, list_entry(arg, b->local_id, 16), a);
	return *all;
}

struct bitset gpubind_task(const struct gpubind *b, struct arena *a)
{
	struct bitset all = gpus_here(b, a), some;
	const char *how = b->how ? b->how : "";

	/* verbose, and its like say something about the output and nothing about the GPUs. */
	while (str_istarts(how, "v") && (how[strcspn(how, ",:")] == ',' || !strpbrk(how, ",:")))
		how += strcspn(how, ",") + (strchr(how, ',') != NULL);
	if (*how)
		some = selected(b, &all, how, a);
	else
		some = b->per_task ? slice(&all, b->per_task * b->local_id, b->per_task, a) : all;
	return bitset_empty(&some) ? slice(&all, 0, 1, a) : some;
}
