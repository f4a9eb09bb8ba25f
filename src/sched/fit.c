/* SPDX-License-Identifier: Apache-2.0 */
/* One request against one pool, in three moves:
 *
 *   1. options: every state of the pool that has room for a task, with its room (tasks a node of it
 *      could take) and a rank: lower weight first, then what leaves most to those who come after,
 *      then the tighter fit;
 *   2. choose: nodes of the best options that have room for an even share of the tasks, or, where there
 *      is a fabric, the ones among them that are wired closest (topo.h); only if those are too few,
 *      nodes one by one, those first that bring most of what is short;
 *   3. carve: an even spread of tasks, then CPUs, memory and devices node by node (nodefit.c).
 *
 * The first two are tried for one constraint after the other: what --prefer wants, then what
 * --constraint asks for, each once for every alternative of a bracket group.  Counts of a constraint
 * are met by choosing among the nodes that the second move has put in order (features.c).
 *
 * The first move costs one look per state; the second touches single nodes only when it has to. */
#include "sched/fit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "sched/cores.h"
#include "sched/demand.h"
#include "sched/distribution.h"
#include "sched/fabric.h"
#include "sched/features.h"
#include "sched/fragment.h"
#include "sched/gresfit.h"
#include "sched/layout.h"
#include "sched/nodefit.h"
#include "sched/pool.h"
#include "sched/topo.h"
#include "text/hostlist.h"

#include <stdlib.h>
#include <string.h>

/* A state that can take part. */
struct option {
	uint32_t state;
	uint32_t room;     /* tasks on one of its nodes */
	uint64_t gres_job; /* devices of one of its nodes towards --gpus */
	uint64_t rank;
	uint64_t parts;    /* of the counts that one of its nodes could serve */
};

struct candidate {
	uint32_t node;
	uint32_t room;
	uint64_t gres_job;
	uint64_t parts;
	bool required;
};

struct search {
	struct pool *pool;
	const struct demand *d;
	struct arena *arena;
	struct bitset allowed;  /* partition, less blocked and excluded ones */
	struct bitset required; /* --nodelist */
	uint32_t required_count;
	const struct constraint *constraint; /* that is being tried; NULL: none */
	const struct constraint *counts;     /* in it; NULL: none */
	struct option *options; /* best first */
	uint32_t option_count;
	uint32_t *option_of;    /* by state: position + 1; 0: it cannot take part */
	const struct fit_scope *scope;
	struct candidate *chosen;
	uint32_t chosen_count;
	bool in_order; /* `chosen` is in the order of the fabric already */
};

/* ---- options ----------------------------------------------------------------------------------- */

static uint64_t clamp(uint64_t v, uint64_t most)
{
	return v < most ? v : most;
}

/* Weight decides; then what hurts those least who come after (fragment.h), in hundredths of a device;
 * among equals the node that has least to spare, devices before CPUs. */
static uint64_t rank_of(const struct search *s, const struct pool_node *n)
{
	if (s->d->least_loaded) /* slurm.conf(5) LLN: most idle CPUs first */
		return (uint64_t)clamp(n->node->conf.weight, 0xffff) << 48 | (0xffff - clamp(n->free_cpus, 0xffff));
	uint64_t devices = gresfit_waste(n, s->d), growth = 0x8000;
	if (s->pool->mix) {
		double hurt = mix_growth(s->pool->mix, n, s->d) * 100 + 0x8000;
		growth = hurt < 0 ? 0 : clamp((uint64_t)hurt, 0xffff);
	}
	return (uint64_t)clamp(n->node->conf.weight, 0xffff) << 48 | growth << 32 | clamp(devices, 0xffff) << 16 |
	       clamp(n->free_cpus, 0xffff);
}

static int by_rank(const void *a, const void *b)
{
	const struct option *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

/* --ntasks-per-gpu with GPUs of the whole job: each GPU of a node comes with its tasks. */
static void pair_up(uint32_t each, uint32_t *room, uint64_t *gpus)
{
	*gpus = clamp(*gpus, *room / each);
	*room = (uint32_t)*gpus * each;
}

static void find_options(struct search *s)
{
	s->options = ARENA_ARRAY(s->arena, struct option, s->pool->states.count + 1);
	s->option_count = 0;
	for (uint32_t i = 0; i < s->pool->states.count; i++) {
		const struct pool_state *state = &s->pool->states.at[i];
		const struct pool_node *n = &s->pool->nodes[state->sample];
		/* In a pool of idle nodes, which answers what could ever run, nobody is in the way. */
		bool is_taken = n->node->exclusive_job && !n->idle;
		if (!state->count || is_taken || !features_match(s->constraint, n->node))
			continue;
		uint32_t room = nodefit_room(n, s->d);
		uint64_t gres_job = nodefit_job_gres(n, s->d);
		uint64_t parts = s->counts ? features_parts(s->counts, n->node) : 0;
		if (s->d->tasks_per_gpu)
			pair_up(s->d->tasks_per_gpu, &room, &gres_job);
		if (room)
			s->options[s->option_count++] = (struct option){ i, room, gres_job, rank_of(s, n), parts };
	}
	qsort(s->options, s->option_count, sizeof(*s->options), by_rank);
	s->option_of = ARENA_ARRAY(s->arena, uint32_t, s->pool->states.count + 1);
	for (uint32_t i = 0; i < s->option_count; i++)
		s->option_of[s->options[i].state] = i + 1;
}

static const struct option *option_of(const struct search *s, uint32_t node)
{
	const struct pool_node *n = &s->pool->nodes[node];
	uint32_t at = n->up ? s->option_of[n->state] : 0;
	return at ? &s->options[at - 1] : NULL;
}

/* ---- choose: even shares ------------------------------------------------------------------------ */

static uint64_t job_gres_wanted(const struct search *s)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < s->d->per_job.count; i++)
		if (s->d->per_job.at[i].count > most)
			most = s->d->per_job.at[i].count;
	return most;
}

static uint32_t tasks_on(const struct search *s, uint32_t nodes)
{
	if (!s->d->tasks_follow_nodes)
		return s->d->ntasks;
	return nodes * (s->d->tasks_per_node ? s->d->tasks_per_node : 1);
}

static void pick(struct search *s, uint32_t node, const struct option *o, bool required)
{
	s->chosen[s->chosen_count++] = (struct candidate){ node, o->room, o->gres_job, o->parts, required };
}

static bool enough(const struct search *s, uint32_t nodes)
{
	uint64_t room = 0, gres = 0;
	for (uint32_t i = 0; i < nodes; i++) {
		room += s->chosen[i].room;
		gres += s->chosen[i].gres_job == UINT64_MAX ? 0 : s->chosen[i].gres_job;
	}
	return room >= tasks_on(s, nodes) && gres >= job_gres_wanted(s);
}

/* Puts those first that together meet the counts, `nodes` of them, as good in the present order as can
 * be; false: there are none, or not with all of --nodelist, which is first in the order. */
static bool meet_counts(struct search *s, uint32_t nodes)
{
	if (!s->counts)
		return true;
	AUTO_ARENA struct arena *a = arena_new();
	uint64_t *parts = ARENA_ARRAY(a, uint64_t, s->chosen_count);
	uint32_t *order = ARENA_ARRAY(a, uint32_t, s->chosen_count);
	for (uint32_t i = 0; i < s->chosen_count; i++) {
		parts[i] = s->chosen[i].parts;
		order[i] = i;
	}
	if (!features_order(s->counts, parts, order, s->chosen_count, nodes, a))
		return false;
	struct candidate *before = arena_dup(a, s->chosen, s->chosen_count * sizeof(*before));
	uint32_t required = 0;
	for (uint32_t i = 0; i < s->chosen_count; i++) {
		s->chosen[i] = before[order[i]];
		required += i < nodes && s->chosen[i].required;
	}
	return required == s->required_count;
}

static bool pick_required(struct search *s)
{
	for (uint32_t n = bitset_next(&s->required, 0); n != BITSET_NONE; n = bitset_next(&s->required, n + 1)) {
		const struct option *o = bitset_has(&s->allowed, n) ? option_of(s, n) : NULL;
		if (!o)
			return false;
		pick(s, n, o, true);
	}
	return true;
}

/* Picks nodes of the options first to last, which rank alike, in the order of their index: neighbours
 * are worth more than equal states. */
static void pick_alike(struct search *s, const struct option *first, const struct option *last, uint32_t nodes)
{
	for (uint32_t w = 0; w < bitset_words(s->allowed.bits) && s->chosen_count < nodes; w++) {
		uint64_t word = 0;
		for (const struct option *o = first; o <= last; o++)
			word |= s->pool->states.at[o->state].nodes.words[w];
		word &= s->allowed.words[w] & ~s->required.words[w];
		for (; word && s->chosen_count < nodes; word &= word - 1) {
			uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(word);
			pick(s, node, option_of(s, node), false);
		}
	}
}

/* ---- choose: along the fabric -------------------------------------------------------------------- */

/* Does the wiring matter for so many nodes? */
static bool by_fabric(const struct search *s, uint32_t nodes)
{
	const struct resource_request *r = s->d->request;
	return nodes > 1 && !r->spread_job && (topology_kind(s->scope->topology) != TOPO_FLAT || r->contiguous);
}

static const uint64_t *parts_by_node(const struct search *s, const struct bitset *nodes)
{
	uint64_t *parts = ARENA_ARRAY(s->arena, uint64_t, s->pool->count);
	for (uint32_t n = bitset_next(nodes, 0); n != BITSET_NONE; n = bitset_next(nodes, n + 1))
		parts[n] = option_of(s, n)->parts;
	return parts;
}

/* `nodes` of the nodes that have room for a share, those that are wired closest. */
static bool pick_fabric(struct search *s, uint32_t nodes, uint32_t share, uint64_t gres_share)
{
	const struct resource_request *r = s->d->request;
	struct bitset usable;
	bitset_init_in(&usable, s->pool->count, s->arena);
	for (uint32_t i = 0; i < s->option_count; i++)
		if (s->options[i].room >= share && s->options[i].gres_job >= gres_share)
			bitset_or(&usable, &s->pool->states.at[s->options[i].state].nodes);
	bitset_and(&usable, &s->allowed);
	if (!bitset_contains(&usable, &s->required))
		return false;
	struct topo_wish wish = { .want = nodes,
				  .required = s->required_count ? &s->required : NULL,
				  .switches_max = r->has_switches && !s->scope->any_switches ? r->switches : 0,
				  .segment = r->has_segment ? r->segment : 0,
				  .spread_segments = r->spread_segments,
				  .consolidate_segments = r->consolidate_segments,
				  .contiguous = r->contiguous,
				  .weight = s->pool->weights };
	uint32_t *found = ARENA_ARRAY(s->arena, uint32_t, nodes);
	if (s->counts ? !fabric_choose(s->scope->topology, &usable, &wish, s->counts, parts_by_node(s, &usable),
				       s->arena, found) :
			!topology_choose(s->scope->topology, &usable, &wish, s->arena, found, NULL))
		return false;
	s->chosen = ARENA_ARRAY(s->arena, struct candidate, nodes);
	s->chosen_count = 0;
	for (uint32_t i = 0; i < nodes; i++)
		pick(s, found[i], option_of(s, found[i]), bitset_has(&s->required, found[i]));
	s->in_order = true;
	return enough(s, nodes);
}

/* `nodes` nodes that can each take an even share, from the best options on; with counts all that can
 * are looked at. */
static bool pick_even(struct search *s, uint32_t nodes)
{
	uint32_t share = (tasks_on(s, nodes) + nodes - 1) / nodes, good = 0;
	uint64_t gres_share = (job_gres_wanted(s) + nodes - 1) / nodes;
	if (by_fabric(s, nodes))
		return pick_fabric(s, nodes, share, gres_share);
	uint32_t most = s->counts ? s->pool->count : nodes;
	struct option *fair = ARENA_ARRAY(s->arena, struct option, s->option_count + 1);
	s->chosen = ARENA_ARRAY(s->arena, struct candidate, most + s->required_count);
	s->chosen_count = 0;
	if (!pick_required(s))
		return false;
	for (uint32_t i = 0; i < s->option_count; i++)
		if (s->options[i].room >= share && s->options[i].gres_job >= gres_share)
			fair[good++] = s->options[i];
	for (uint32_t i = 0, next; i < good && s->chosen_count < most; i = next) {
		for (next = i + 1; next < good && fair[next].rank == fair[i].rank;)
			next++;
		pick_alike(s, &fair[i], &fair[next - 1], most);
	}
	return s->chosen_count >= nodes && meet_counts(s, nodes) && enough(s, nodes);
}

/* ---- choose: whatever adds up -------------------------------------------------------------------- */

/* Nodes that bring most of what is short first.  Tasks and devices are counted in shares of what is
 * wanted, so that they can be added; `lean` says how much the devices weigh, in quarters. */
struct preference {
	uint64_t tasks_wanted, gres_wanted;
	unsigned lean;
};

static double worth(const struct candidate *c, const struct preference *p)
{
	double tasks = (double)c->room / (double)(p->tasks_wanted ? p->tasks_wanted : 1);
	double gres = p->gres_wanted ? (double)c->gres_job / (double)p->gres_wanted : 0;
	return tasks * (4 - p->lean) + (gres > 1 ? 1 : gres) * p->lean;
}

static int by_worth(const void *a, const void *b, void *arg)
{
	const struct candidate *x = a, *y = b;
	if (x->required != y->required)
		return x->required ? -1 : 1;
	double wx = worth(x, arg), wy = worth(y, arg);
	if (wx < wy || wx > wy)
		return wx > wy ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static void pick_all(struct search *s)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < s->option_count; i++)
		most += s->pool->states.at[s->options[i].state].count;
	s->chosen = ARENA_ARRAY(s->arena, struct candidate, most + 1);
	s->chosen_count = 0;
	for (uint32_t i = 0; i < s->option_count; i++) {
		const struct option *o = &s->options[i];
		const struct bitset *have = &s->pool->states.at[o->state].nodes;
		for (uint32_t n = bitset_next(have, 0); n != BITSET_NONE; n = bitset_next(have, n + 1))
			if (bitset_has(&s->allowed, n))
				pick(s, n, o, bitset_has(&s->required, n));
	}
}

static bool required_included(const struct search *s)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < s->chosen_count; i++)
		found += s->chosen[i].required;
	return found == s->required_count;
}

static uint32_t pick_uneven(struct search *s, uint32_t min, uint32_t max)
{
	struct preference p = { .tasks_wanted = s->d->ntasks, .gres_wanted = job_gres_wanted(s) };
	pick_all(s);
	max = max < s->chosen_count ? max : s->chosen_count;
	if (!required_included(s))
		return 0;
	for (uint32_t nodes = min; nodes <= max; nodes++) {
		for (p.lean = 0; p.lean <= (p.gres_wanted ? 4 : 0); p.lean++) {
			if (nodes == min || p.gres_wanted || s->counts)
				qsort_r(s->chosen, s->chosen_count, sizeof(*s->chosen), by_worth, &p);
			if (meet_counts(s, nodes) && enough(s, nodes))
				return nodes;
		}
	}
	return 0;
}

/* On a fabric: any nodes with room for one task, as few of them as add up. */
static uint32_t pick_uneven_fabric(struct search *s, uint32_t min, uint32_t max)
{
	max = max < s->pool->count ? max : s->pool->count;
	for (uint32_t nodes = min; nodes <= max; nodes++)
		if (pick_fabric(s, nodes, 1, 1))
			return nodes;
	return 0;
}

/* ---- choose: how many ---------------------------------------------------------------------------- */

/* The fewest nodes from min to max that will do, those first in `chosen`; 0: not enough. */
static uint32_t choose_fewest(struct search *s, uint32_t min, uint32_t max)
{
	if (min > max || min > s->pool->count)
		return 0;
	s->in_order = false;
	if (pick_even(s, min))
		return min;
	s->in_order = false;
	if (by_fabric(s, max))
		return pick_uneven_fabric(s, min, max);
	return pick_uneven(s, min, max);
}

/* sbatch(1) -N min-max: as many as can be had now.  More nodes are rarely harder to find than fewer, so
 * that halving the range finds the most in all but odd cases, and a good number in those. */
static uint32_t choose_most(struct search *s, uint32_t min, uint32_t max)
{
	uint32_t low = choose_fewest(s, min, max), usable = 0;
	for (uint32_t i = 0; low && i < s->option_count; i++)
		usable += bitset_count_and(&s->pool->states.at[s->options[i].state].nodes, &s->allowed);
	uint32_t high = max < usable ? max : usable;
	if (low == 0 || low >= high)
		return low;
	if (choose_fewest(s, high, high))
		return high;
	for (high--; low < high;) {
		uint32_t mid = low + (high - low + 1) / 2;
		if (choose_fewest(s, mid, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return choose_fewest(s, low, low);
}

/* -N 2,4,8: only these; the list ascends. */
static uint32_t choose_listed(struct search *s, uint32_t min, uint32_t max)
{
	const struct resource_request *r = s->d->request;
	for (uint32_t i = 0; i < r->n_node_counts; i++) {
		uint32_t nodes = r->node_counts[r->use_min_nodes ? i : r->n_node_counts - 1 - i];
		if (nodes >= min && nodes <= max && choose_fewest(s, nodes, nodes))
			return nodes;
	}
	return 0;
}

/* The number of nodes to use, those first in `chosen`; 0: not enough. */
static uint32_t choose(struct search *s)
{
	const struct resource_request *r = s->d->request;
	uint32_t min = s->d->nodes_min < s->required_count ? s->required_count : s->d->nodes_min;
	uint32_t counted = features_nodes(s->counts);
	min = min < counted ? counted : min;
	if (r->n_node_counts)
		return choose_listed(s, min, s->d->nodes_max);
	if (r->use_min_nodes && !r->spread_job)
		return choose_fewest(s, min, s->d->nodes_max);
	return choose_most(s, min, s->d->nodes_max);
}

/* ---- carve ------------------------------------------------------------------------------------- */

static int by_node(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* --ntasks-per-gpu: whole GPUs are spread, and each brings its tasks. */
static void spread_by_gpu(const struct search *s, uint32_t nodes, uint32_t *room, uint32_t *tasks, uint32_t *gres)
{
	uint32_t each = s->d->tasks_per_gpu;
	for (uint32_t i = 0; i < nodes; i++)
		room[i] /= each;
	layout_spread(s->d->ntasks / each, room, nodes, gres);
	for (uint32_t i = 0; i < nodes; i++)
		tasks[i] = gres[i] * each;
}

/* -m arbitrary: as many on each node as the list of hosts says; false when there is no room. */
static bool deal_hosts(struct search *s, uint32_t nodes, const uint32_t *room, uint32_t *tasks)
{
	struct hostlist hosts;
	if (hostlist_expand(s->d->request->task_hosts, s->arena, &hosts, NULL) < 0)
		return false;
	for (uint32_t h = 0; h < hosts.count; h++) {
		uint32_t node = pool_find(s->pool, hosts.names[h]), i = 0;
		while (i < nodes && s->chosen[i].node != node)
			i++;
		if (i == nodes || ++tasks[i] > room[i])
			return false;
	}
	return true;
}

static bool deal_tasks(struct search *s, uint32_t nodes, const uint32_t *room, uint32_t ntasks, uint32_t *tasks)
{
	struct distribution d = distribution_of(s->d->request->distribution);
	if (!str_empty(s->d->request->task_hosts))
		return deal_hosts(s, nodes, room, tasks);
	d.pack |= s->d->pack_nodes && !d.no_pack; /* CR_Pack_Nodes */
	layout_deal(&d, ntasks, room, nodes, tasks);
	return true;
}

static bool carve(struct search *s, uint32_t nodes, struct fit *ret)
{
	if (!s->in_order)
		qsort(s->chosen, nodes, sizeof(*s->chosen), by_node);
	uint32_t *room = ARENA_ARRAY(s->arena, uint32_t, nodes), *tasks = ARENA_ARRAY(s->arena, uint32_t, nodes);
	uint32_t *gres_room = ARENA_ARRAY(s->arena, uint32_t, nodes), *gres = ARENA_ARRAY(s->arena, uint32_t, nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		room[i] = s->chosen[i].room;
		gres_room[i] = (uint32_t)clamp(s->chosen[i].gres_job, UINT32_MAX);
	}
	ret->ntasks = tasks_on(s, nodes);
	if (s->d->tasks_per_gpu) {
		spread_by_gpu(s, nodes, room, tasks, gres);
	} else {
		if (!deal_tasks(s, nodes, room, ret->ntasks, tasks))
			return false;
		layout_spread((uint32_t)job_gres_wanted(s), gres_room, nodes, gres);
	}
	ret->alloc = ARENA_ARRAY(s->arena, struct node_alloc, nodes);
	ret->count = nodes;
	for (uint32_t i = 0; i < nodes; i++)
		nodefit_take(&s->pool->nodes[s->chosen[i].node], s->d, tasks[i], gres[i], s->arena, &ret->alloc[i]);
	return true;
}

/* ---- the search -------------------------------------------------------------------------------- */

/* Both lists were checked when the job was submitted; a name that is gone since is simply not met. */
static bool read_names(struct search *s, const char *list, struct bitset *ret, uint32_t *ret_missing)
{
	struct hostlist names;
	if (str_empty(list))
		return true;
	if (hostlist_expand(list, s->arena, &names, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < names.count; i++) {
		uint32_t node = pool_find(s->pool, names.names[i]);
		if (node == UINT32_MAX)
			(*ret_missing)++;
		else
			bitset_add(ret, node);
	}
	return true;
}

static bool search_init(struct search *s)
{
	const struct fit_scope *scope = s->scope;
	const struct resource_request *r = s->d->request;
	uint32_t gone = 0, missing = 0;
	struct bitset excluded;
	bitset_init_in(&s->allowed, s->pool->count, s->arena);
	bitset_init_in(&s->required, s->pool->count, s->arena);
	bitset_init_in(&excluded, s->pool->count, s->arena);
	uint32_t words = bitset_words(scope->nodes->bits);
	for (uint32_t w = 0; w < words && w < bitset_words(s->allowed.bits); w++)
		s->allowed.words[w] = scope->nodes->words[w];
	if (scope->blocked)
		bitset_minus(&s->allowed, scope->blocked);
	if (!read_names(s, r->exclude, &excluded, &gone) || !read_names(s, r->node_list, &s->required, &missing))
		return false;
	bitset_minus(&s->allowed, &excluded);
	s->required_count = bitset_count(&s->required);
	return missing == 0;
}

static bool required_down(const struct search *s)
{
	for (uint32_t n = bitset_next(&s->required, 0); n != BITSET_NONE; n = bitset_next(&s->required, n + 1))
		if (!s->pool->nodes[n].up)
			return true;
	return false;
}

/* The constraints to try, in this order; 0 when one cannot be read, which submission refuses. */
static uint32_t list_constraints(const struct search *s, bool preferred, const struct constraint ***ret)
{
	const char *texts[] = { preferred ? s->d->request->prefer : NULL, s->d->request->constraint };
	const struct constraint *const *choices[2] = {};
	uint32_t counts[2] = {};
	for (int i = 0; i < 2; i++) {
		struct constraint *c = NULL;
		if (!str_empty(texts[i]) && constraint_parse(texts[i], s->arena, &c, NULL) < 0)
			return 0;
		if (c || i == 1)
			counts[i] = features_choices(c, s->arena, &choices[i]);
	}
	*ret = ARENA_ARRAY(s->arena, const struct constraint *, counts[0] + counts[1]);
	for (uint32_t i = 0; i < counts[0]; i++)
		(*ret)[i] = choices[0][i];
	for (uint32_t i = 0; i < counts[1]; i++)
		(*ret)[counts[0] + i] = choices[1][i];
	return counts[0] + counts[1];
}

enum fit_result fit_find(struct pool *p, const struct demand *d, const struct fit_scope *scope,
			 struct arena *a, struct fit *ret)
{
	struct search s = { .pool = p, .d = d, .arena = a, .scope = scope };
	const struct constraint **constraints;
	if (!search_init(&s))
		return FIT_SHORT;
	uint32_t count = list_constraints(&s, true, &constraints);
	for (uint32_t i = 0; i < count; i++) {
		s.constraint = constraints[i];
		s.counts = features_counts(s.constraint);
		s.in_order = false;
		find_options(&s);
		uint32_t nodes = choose(&s);
		if (nodes && carve(&s, nodes, ret))
			return FIT_OK;
	}
	return required_down(&s) ? FIT_REQUIRED_DOWN : FIT_SHORT;
}

/* ---- explain ----------------------------------------------------------------------------------- */

struct best {
	uint64_t nodes, cpus, mem;
};

static void explain_gres(const struct search *s, const struct gres_request *g, const char *per, struct buf *out)
{
	uint64_t most = 0;
	for (uint32_t i = bitset_next(&s->allowed, 0); i != BITSET_NONE; i = bitset_next(&s->allowed, i + 1)) {
		const struct pool_node *n = &s->pool->nodes[i];
		uint64_t have = n->up ? pool_gres_match(n, g->name, g->type) : 0;
		most = have > most ? have : most;
	}
	if (g->count > most)
		buf_printf(out, "%s%llu %s%s%s on %s %s asked for, the most any node has is %llu",
			   out->len ? "; " : "", (unsigned long long)g->count, g->name, g->type ? ":" : "",
			   g->type ? g->type : "", per, g->count == 1 ? "is" : "are", (unsigned long long)most);
}

static struct best look_around(const struct search *s)
{
	struct best best = {};
	for (uint32_t i = bitset_next(&s->allowed, 0); i != BITSET_NONE; i = bitset_next(&s->allowed, i + 1)) {
		const struct pool_node *n = &s->pool->nodes[i];
		if (!n->up || !features_match(s->constraint, n->node))
			continue;
		best.nodes++;
		best.cpus = cpus_free(n, s->d) > best.cpus ? cpus_free(n, s->d) : best.cpus;
		best.mem = n->free_mem > best.mem ? n->free_mem : best.mem;
	}
	return best;
}

/* Names the parts of the counts that too few nodes could serve, or says that it is their sum. */
static void explain_counts(const struct search *s, struct buf *out)
{
	uint64_t *parts = ARENA_ARRAY(s->arena, uint64_t, s->pool->count);
	uint32_t count = 0;
	for (uint32_t i = bitset_next(&s->allowed, 0); i != BITSET_NONE; i = bitset_next(&s->allowed, i + 1))
		if (s->pool->nodes[i].up && features_match(s->constraint, s->pool->nodes[i].node))
			parts[count++] = features_parts(s->counts, s->pool->nodes[i].node);
	for (uint32_t p = 0; p < s->counts->part_count; p++) {
		AUTO_BUF struct buf name = {};
		uint32_t have = 0, want = s->counts->parts[p]->count;
		for (uint32_t i = 0; i < count; i++)
			have += (parts[i] >> p & 1) != 0;
		constraint_print(s->counts->parts[p], &name);
		if (have < want)
			buf_printf(out, "%s%u node%s with '%.80s' %s asked for, the most there are is %u",
				   out->len ? "; " : "", want, want == 1 ? "" : "s", buf_text(&name),
				   want == 1 ? "is" : "are", have);
	}
	if (out->len == 0 && !features_counts_met(s->counts, parts, count, s->arena)) {
		AUTO_BUF struct buf text = {};
		constraint_print(s->counts, &text);
		buf_printf(out, "'%.80s' takes %u nodes, none of them counted twice, and there are too few for that",
			   buf_text(&text), features_nodes(s->counts));
	}
}

/* Of the alternatives of a bracket group the one with the most nodes is explained. */
static struct best choose_best(struct search *s)
{
	const struct constraint **constraints, *chosen = NULL;
	uint32_t count = list_constraints(s, false, &constraints);
	struct best best = {};
	for (uint32_t i = 0; i < count; i++) {
		s->constraint = constraints[i];
		struct best here = look_around(s);
		if (i > 0 && here.nodes <= best.nodes)
			continue;
		best = here;
		chosen = s->constraint;
	}
	s->constraint = chosen;
	s->counts = features_counts(chosen);
	return best;
}

static void explain_nodes(const struct search *s, const struct best *best, struct buf *out)
{
	AUTO_BUF struct buf features = {};
	constraint_print(s->constraint, &features);
	bool one = s->d->nodes_min == 1;
	buf_printf(out, "%u node%s%s%.80s%s %s asked for, %llu could be used", s->d->nodes_min, one ? "" : "s",
		   features.len ? " with '" : "", buf_text(&features), features.len ? "'" : "",
		   one ? "is" : "are", (unsigned long long)best->nodes);
}

void fit_explain(struct pool *p, const struct demand *d, const struct fit_scope *scope, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct search s = { .pool = p, .d = d, .arena = a, .scope = scope };
	if (!search_init(&s))
		return;
	struct best best = choose_best(&s);
	if (s.counts)
		explain_counts(&s, out);
	else if (best.nodes < d->nodes_min)
		explain_nodes(&s, &best, out);
	if (out->len)
		return;
	uint32_t tasks = d->tasks_per_node ? d->tasks_per_node : 1;
	uint64_t cpus = (uint64_t)tasks * d->cpus_per_task;
	cpus = cpus < d->cpus_min ? d->cpus_min : cpus;
	if (cpus > best.cpus)
		buf_printf(out, "%llu CPUs on a node are asked for, the most any node has is %llu",
			   (unsigned long long)cpus, (unsigned long long)best.cpus);
	uint64_t mem = d->mem_per_node + d->mem_per_cpu * cpus;
	if (mem > best.mem)
		buf_printf(out, "%s%llu MiB of memory on a node are asked for, the most any node has is %llu",
			   out->len ? "; " : "", (unsigned long long)mem, (unsigned long long)best.mem);
	for (uint32_t i = 0; i < d->per_node.count; i++)
		explain_gres(&s, &d->per_node.at[i], "a node", out);
	for (uint32_t i = 0; i < d->per_task.count; i++)
		explain_gres(&s, &d->per_task.at[i], "a task's node", out);
	if (out->len == 0)
		buf_printf(out, "no %u node%s together can hold %u task%s of %u CPU%s", d->nodes_max,
			   d->nodes_max == 1 ? "" : "s", d->ntasks, d->ntasks == 1 ? "" : "s",
			   d->cpus_per_task, d->cpus_per_task == 1 ? "" : "s");
}
