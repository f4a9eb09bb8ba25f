/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks to CPUs: the second and third level of -m.
 *
 * The tasks of a node take their CPUs one after the other, as srun(1) describes the levels.  The
 * sockets' level says on which socket a task begins: `block` on the first that has room for all of it,
 * `cyclic` on the next after the task before, `fcyclic` moves on after every CPU.  On a socket the
 * cores' level does the same with cores; a task stays on one core while it fits there, except with
 * `fcyclic`.  What fits nowhere in one piece is taken in pieces, in the same order.
 *
 * The result is a function of the step's CPUs, the geometry and the words alone, so that a dry run,
 * the controller and the node cannot disagree. */
#include "base/arena.h"
#include "sched/distribution.h"
#include "sched/layout.h"
#include "schema/job.h"

#define NOWHERE UINT32_MAX

struct dealing {
	struct geometry g;
	struct distribution how;
	struct bitset usable, free;
	uint32_t left;         /* in `free` */
	uint32_t *socket_left; /* by socket */
	uint32_t *core_left;   /* by core of the node */
	uint32_t last_socket;
	uint32_t *last_core; /* by socket, counted within it */
};

struct geometry layout_geometry(struct geometry g, uint32_t cpus)
{
	bool fits = g.sockets && g.cores && g.threads && (uint64_t)g.sockets * g.cores * g.threads == cpus;
	return fits ? g : (struct geometry){ 1, cpus, 1 };
}

/* Threads of a core beyond those that tasks are to use (--threads-per-core) stay idle. */
static void find_usable(struct dealing *d, const struct bitset *cpus, uint32_t threads, struct arena *a)
{
	uint32_t core = NOWHERE, used = 0;
	bitset_init_in(&d->usable, cpus->bits, a);
	for (uint32_t i = bitset_next(cpus, 0); i != BITSET_NONE; i = bitset_next(cpus, i + 1)) {
		used = i / d->g.threads == core ? used + 1 : 1;
		core = i / d->g.threads;
		if (!threads || used <= threads)
			bitset_add(&d->usable, i);
	}
}

/* Everything is free (again); with --overcommit that happens more than once. */
static void lay_open(struct dealing *d)
{
	uint32_t cores = d->g.sockets * d->g.cores;
	bitset_copy(&d->free, &d->usable);
	d->left = bitset_count(&d->usable);
	d->last_socket = d->g.sockets - 1;
	for (uint32_t s = 0; s < d->g.sockets; s++) {
		d->socket_left[s] = 0;
		d->last_core[s] = d->g.cores - 1;
	}
	for (uint32_t c = 0; c < cores; c++)
		d->core_left[c] = 0;
	for (uint32_t i = bitset_next(&d->free, 0); i != BITSET_NONE; i = bitset_next(&d->free, i + 1)) {
		d->core_left[i / d->g.threads]++;
		d->socket_left[i / d->g.threads / d->g.cores]++;
	}
}

/* The first of `count` counters from `first` on, going round, that has at least `want`. */
static uint32_t find_room(const uint32_t *left, uint32_t count, uint32_t first, uint32_t want)
{
	for (uint32_t i = 0; i < count; i++)
		if (left[(first + i) % count] >= want)
			return (first + i) % count;
	return NOWHERE;
}

/* Where to go next on one level: where all of `want` fits, else where anything is left. */
static uint32_t choose(enum dist_level level, const uint32_t *left, uint32_t count, uint32_t last, uint32_t want)
{
	uint32_t first = level == DIST_LEVEL_BLOCK ? 0 : last + 1;
	uint32_t found = find_room(left, count, first, level == DIST_LEVEL_FCYCLIC ? 1 : want);
	return found != NOWHERE ? found : find_room(left, count, first, 1);
}

static void take_cpu(struct dealing *d, uint32_t core, struct bitset *mine)
{
	uint32_t cpu = bitset_next(&d->free, core * d->g.threads);
	bitset_remove(&d->free, cpu);
	bitset_add(mine, cpu);
	d->core_left[core]--;
	d->socket_left[core / d->g.cores]--;
	d->left--;
}

/* `want` CPUs of one socket, which has them. */
static void take_on_socket(struct dealing *d, uint32_t socket, uint32_t want, struct bitset *mine)
{
	const uint32_t *left = d->core_left + socket * d->g.cores;
	while (want > 0) {
		uint32_t whole = want < d->g.threads ? want : d->g.threads;
		/* Block fills up what is begun: any free thread will do. */
		uint32_t core = choose(d->how.cores, left, d->g.cores, d->last_core[socket],
				       d->how.cores == DIST_LEVEL_BLOCK ? 1 : whole);
		uint32_t count = d->how.cores == DIST_LEVEL_FCYCLIC ? 1 : want < left[core] ? want : left[core];
		for (uint32_t i = 0; i < count; i++)
			take_cpu(d, socket * d->g.cores + core, mine);
		d->last_core[socket] = core;
		want -= count;
	}
}

static void take_for_task(struct dealing *d, uint32_t want, struct bitset *mine)
{
	uint32_t all = bitset_count(&d->usable);
	want = want < all ? want : all;
	if (d->left < want)
		lay_open(d);
	while (want > 0) {
		uint32_t s = choose(d->how.sockets, d->socket_left, d->g.sockets, d->last_socket, want);
		uint32_t count = d->how.sockets == DIST_LEVEL_FCYCLIC ? 1 :
				 want < d->socket_left[s]	      ? want :
									d->socket_left[s];
		take_on_socket(d, s, count, mine);
		d->last_socket = s;
		want -= count;
	}
}

struct bitset *layout_cpus(const struct step *s, uint32_t pos, struct geometry g, struct arena *a)
{
	const struct node_alloc *here = &s->alloc[pos];
	struct dealing d = { .g = layout_geometry(g, here->cores.bits), .how = distribution_of(s->distribution) };
	struct bitset *sets = ARENA_ARRAY(a, struct bitset, here->tasks + 1);
	d.socket_left = ARENA_ARRAY(a, uint32_t, d.g.sockets);
	d.last_core = ARENA_ARRAY(a, uint32_t, d.g.sockets);
	d.core_left = ARENA_ARRAY(a, uint32_t, d.g.sockets * d.g.cores + 1);
	find_usable(&d, &here->cores, s->threads_per_core, a);
	bitset_init_in(&d.free, here->cores.bits, a);
	lay_open(&d);
	for (uint32_t t = 0; t < here->tasks; t++) {
		bitset_init_in(&sets[t], here->cores.bits, a);
		take_for_task(&d, s->cpus_per_task ? s->cpus_per_task : 1, &sets[t]);
	}
	return sets;
}
