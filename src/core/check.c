/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold after every event:
 *
 *   C1  no CPU and no device of a node belongs to two jobs, no GPU has more parts given out than it
 *       has, none is given out whole and in parts or in parts of two resources, and what a node
 *       counts as used (CPUs, memory, devices, parts, jobs) is exactly the sum over the jobs that
 *       hold it;
 *       where a job shares with its own user's jobs only, there are no others;
 *   C2  a job is in exactly the indexes that its state asks for, and the queue is sorted;
 *   C3  a job that runs has nodes, one that waits has none, one that is over holds none;
 *   C4  a step lives inside its job's nodes, CPUs and devices;
 *   C5  as many of a licence are used as the jobs that hold nodes took, and never more than there are,
 *       unless the configuration was changed under them;
 *   C6  ids are unique and below next_job_id; tokens lead to their jobs. */
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/cluster.h"
#include "core/internal.h"
#include "text/licenses.h"

#include <stdlib.h>

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond))                                                                       \
			broken(#cond, __VA_ARGS__);                                                \
	} while (0)

static void broken(const char *what, const char *noun, uint32_t id)
{
	log_fatal("cluster_check: %s %u: %s", noun, id, what);
	abort();
}

enum { SHARED_MAX = 1024 }; /* GPUs of one node */

struct tally {
	struct bitset cpus;
	uint64_t mem;
	uint32_t jobs, completing;
	uint32_t owners;        /* jobs that share with the same user only */
	uint32_t uid;           /* of a job there */
	bool mixed;             /* jobs of several users are there */
	struct bitset *gres;
	uint64_t *counts;
	uint64_t **parts;
};

static void tally_gres(struct tally *t, const struct node *n, const struct gres_alloc *g)
{
	for (uint32_t i = 0; i < n->n_gres; i++) {
		const struct node_gres *have = &n->gres[i];
		if (!str_eq(have->name, g->name) || !str_eq(have->type, g->type))
			continue;
		if (have->no_consume)
			continue;
		for (uint32_t d = 0; d < have->n_each; d++) {
			uint64_t parts = bitset_has(&g->devices, have->first + d) ? g->count : 0;
			t->parts[i][d] += parts;
			t->counts[i] += parts;
		}
		if (!have->used.bits && !have->n_each)
			t->counts[i] += g->count;
		CHECK(t->counts[i] <= have->count, "node", n->index);
		for (uint32_t d = 0; d < have->used.bits; d++) {
			if (!bitset_has(&g->devices, have->first + d))
				continue;
			CHECK(!bitset_has(&t->gres[i], d), "node", n->index);
			bitset_add(&t->gres[i], d);
		}
	}
}

static void tally_job(struct tally *tallies, const struct cluster *c, const struct job *j)
{
	for (uint32_t i = 0; i < j->n_alloc; i++) {
		const struct node_alloc *a = &j->alloc[i];
		const struct node *n = cluster_node(c, a->node);
		CHECK(n, "job", j->id);
		if (a->clean)
			continue;
		struct tally *t = &tallies[a->node];
		if (a->cores.bits == t->cpus.bits) {
			CHECK(!bitset_intersects(&t->cpus, &a->cores), "job", j->id);
			bitset_or(&t->cpus, &a->cores);
		}
		t->mem += a->mem_mib;
		t->mixed |= t->jobs && t->uid != j->uid;
		t->uid = j->uid;
		t->owners += j->exclusive == EXCLUSIVE_KIND_USER;
		t->jobs++;
		t->completing += j->completing;
		for (uint32_t g = 0; g < a->n_gres; g++)
			tally_gres(t, n, &a->gres[g]);
	}
}

/* Each GPU is whole, or given out whole, or in parts of one resource, never more than it has. */
static void check_parts(const struct node *n, const struct tally *t)
{
	const char *by[SHARED_MAX] = {};
	for (uint32_t g = 0; g < n->n_gres; g++) {
		const struct node_gres *have = &n->gres[g];
		bool is_gpu = str_eq(have->name, "gpu");
		CHECK(have->n_each_used == have->n_each, "node", n->index);
		for (uint32_t d = 0; d < (is_gpu ? have->used.bits : have->n_each); d++) {
			uint32_t gpu = have->first + d;
			if (is_gpu ? !bitset_has(&t->gres[g], d) : !t->parts[g][d])
				continue;
			CHECK(gpu < SHARED_MAX && !by[gpu], "node", n->index);
			by[gpu] = have->name;
		}
		for (uint32_t d = 0; d < have->n_each; d++) {
			CHECK(t->parts[g][d] <= have->each[d], "node", n->index);
			CHECK(t->parts[g][d] == have->each_used[d], "node", n->index);
		}
	}
}

static void check_nodes(const struct cluster *c)
{
	struct tally *tallies = mem_alloc((c->nodes.count + 1) * sizeof(*tallies));
	for (size_t i = 0; i < c->nodes.count; i++) {
		const struct node *n = cluster_node(c, (uint32_t)i);
		if (!n)
			continue;
		bitset_init(&tallies[i].cpus, n->conf.cpus);
		tallies[i].gres = mem_alloc((n->n_gres + 1) * sizeof(struct bitset));
		tallies[i].counts = mem_alloc((n->n_gres + 1) * sizeof(uint64_t));
		tallies[i].parts = mem_alloc((n->n_gres + 1) * sizeof(uint64_t *));
		for (uint32_t g = 0; g < n->n_gres; g++) {
			bitset_init(&tallies[i].gres[g], n->gres[g].used.bits);
			tallies[i].parts[g] = mem_alloc((n->gres[g].n_each + 1) * sizeof(uint64_t));
		}
	}
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));)
		tally_job(tallies, c, &e->job);
	for (size_t i = 0; i < c->nodes.count; i++) {
		const struct node *n = cluster_node(c, (uint32_t)i);
		if (!n)
			continue;
		CHECK(n->index == i, "node", n->index);
		CHECK(bitset_equal(&n->used_cores, &tallies[i].cpus), "node", n->index);
		CHECK(n->used_mem_mib == tallies[i].mem, "node", n->index);
		CHECK(n->job_count == tallies[i].jobs, "node", n->index);
		CHECK(n->completing_count == tallies[i].completing, "node", n->index);
		CHECK(n->owner_jobs == tallies[i].owners, "node", n->index);
		CHECK(!n->owner_jobs || (!tallies[i].mixed && n->owner_uid == tallies[i].uid), "node", n->index);
		check_parts(n, &tallies[i]);
		for (uint32_t g = 0; g < n->n_gres; g++) {
			CHECK(bitset_equal(&n->gres[g].used, &tallies[i].gres[g]), "node", n->index);
			CHECK(n->gres[g].used_count == tallies[i].counts[g], "node", n->index);
			bitset_done(&tallies[i].gres[g]);
			free(tallies[i].parts[g]);
		}
		free(tallies[i].gres);
		free(tallies[i].parts);
		free(tallies[i].counts);
		bitset_done(&tallies[i].cpus);
	}
	free(tallies);
}

static bool is_part_of(const struct node_alloc *all, const struct gres_alloc *g)
{
	for (uint32_t i = 0; i < all->n_gres; i++) {
		const struct gres_alloc *of = &all->gres[i];
		if (str_eq(of->name, g->name) && str_eq(of->type, g->type) && g->count <= of->count &&
		    of->devices.bits == g->devices.bits && bitset_contains(&of->devices, &g->devices))
			return true;
	}
	return false;
}

static void check_step(const struct job *j, const struct step *s)
{
	CHECK(s->n_alloc > 0, "job", j->id);
	for (uint32_t i = 0; i < s->n_alloc; i++) {
		int at = alloc_position(j->alloc, j->n_alloc, s->alloc[i].node);
		CHECK(at >= 0, "job", j->id);
		CHECK(bitset_contains(&j->alloc[at].cores, &s->alloc[i].cores), "job", j->id);
		for (uint32_t g = 0; g < s->alloc[i].n_gres; g++)
			CHECK(is_part_of(&j->alloc[at], &s->alloc[i].gres[g]), "job", j->id);
	}
}

static void check_job(const struct cluster *c, const struct job_entry *e)
{
	const struct job *j = &e->job;
	CHECK(map_get(&c->jobs, j->id) == e, "job", j->id);
	CHECK(j->id < c->next_job_id, "job", j->id);
	CHECK((map_get(&c->active, j->id) != NULL) == job_is_active(j), "job", j->id);
	CHECK(j->state != JOB_STATE_PENDING || (!j->n_alloc && !j->n_steps && !j->completing), "job", j->id);
	CHECK(j->state != JOB_STATE_RUNNING || (j->n_alloc && !j->completing && !j->n_array_tasks), "job", j->id);
	CHECK(j->attempt >= 1, "job", j->id);
	CHECK(!job_is_ended(j) || j->completing || !j->n_steps, "job", j->id);
	for (uint32_t i = 0; i < j->n_alloc; i++)
		CHECK(job_is_active(j) || j->alloc[i].clean, "job", j->id);
	for (uint32_t i = 0; i < j->n_steps; i++)
		check_step(j, &j->steps[i]);
	for (uint32_t i = 1; i < j->n_array_tasks; i++)
		CHECK(j->array_tasks[i].first > j->array_tasks[i - 1].last, "job", j->id);
}

static void check_queue(const struct cluster *c, uint32_t pending)
{
	uint32_t unexplained = 0;
	CHECK(c->pending.count == pending, "queue", (uint32_t)c->pending.count);
	for (size_t i = 0; i < c->pending.count; i++) {
		const struct queue_entry *e = &c->pending.at[i];
		CHECK(e->job == cluster_job(c, e->id), "job", e->id);
		CHECK(e->job->state == JOB_STATE_PENDING && e->priority == e->job->priority, "job", e->id);
		unexplained += e->job->reason == JOB_REASON_NONE;
		if (i == 0)
			continue;
		const struct queue_entry *before = e - 1;
		CHECK(before->tier > e->tier ||
			      (before->tier == e->tier &&
			       (before->priority > e->priority ||
				(before->priority == e->priority && before->id < e->id))),
		      "job", e->id);
	}
	CHECK(unexplained == c->unexplained, "queue", unexplained);
}

static uint64_t held_by(const struct job *j, const char *name, struct arena *a)
{
	struct license_list l = {};
	uint64_t total = 0;
	if (str_empty(j->licenses_alloc))
		return 0;
	CHECK(licenses_parse(j->licenses_alloc, a, &l, NULL) == 0 && !l.any, "job", j->id);
	for (uint32_t i = 0; i < l.count; i++)
		total += str_eq(l.at[i].name, name) ? l.at[i].count : 0;
	return total;
}

static void check_licenses(const struct cluster *c)
{
	AUTO_ARENA struct arena *a = arena_new();
	for (size_t k = 0; k < c->licenses.count; k++) {
		const struct license_entry *have = &c->licenses.at[k];
		uint64_t used = 0;
		const struct job_entry *e;
		for (size_t i = 0; (e = map_next(&c->active, &i));)
			used += held_by(&e->job, have->license.name, a);
		CHECK(used == have->license.used, "license", (uint32_t)k);
		CHECK(have->over || used <= have->license.total, "license", (uint32_t)k);
	}
}

void cluster_check(const struct cluster *c)
{
	uint32_t pending = 0, active = 0;
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->jobs, &i));) {
		check_job(c, e);
		pending += e->job.state == JOB_STATE_PENDING;
		active += job_is_active(&e->job);
	}
	CHECK(active == c->active.count, "active", active);
	check_queue(c, pending);
	check_nodes(c);
	check_licenses(c);
}
