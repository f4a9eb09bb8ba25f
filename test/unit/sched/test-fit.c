/* SPDX-License-Identifier: Apache-2.0 */
/* Random clusters and requests: what fit_find gives satisfies a slow, obvious checker, what it denies
 * a brute-force search over node sets cannot find either, and layouts are even. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "sched/demand.h"
#include "sched/fit.h"
#include "sched/layout.h"
#include "sched/pool.h"
#include "sched/view.h"

#include "../cm.h"

#include <string.h>

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

/* ---- constraints, each with what it means for a set of nodes ------------------------------------ */

enum { A = 1, B = 2, C = 4 }; /* features, in the masks of the nodes of a set */

static bool all_have(const uint32_t *masks, uint32_t count, uint32_t any_of)
{
	for (uint32_t i = 0; i < count; i++)
		if (!(masks[i] & any_of))
			return false;
	return true;
}

static uint32_t how_many(const uint32_t *masks, uint32_t count, uint32_t any_of)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < count; i++)
		n += (masks[i] & any_of) != 0;
	return n;
}

/* One node for `first` and two others for `second`. */
static bool one_and_two(const uint32_t *masks, uint32_t count, uint32_t first, uint32_t second)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rest = how_many(masks, count, second) - ((masks[i] & second) != 0);
		if (masks[i] & first && rest >= 2)
			return true;
	}
	return false;
}

static const char *const constraints[] = { "",	      "a",	  "a&b",	  "a|b",  "a*1", "a*2", "[a|b]",
					   "[a*1&b*2]", "[(a|b)*1&c*2]", "c&[a|b]", "a&b*1" };

static bool set_matches(uint32_t which, const uint32_t *m, uint32_t n)
{
	switch (which) {
	case 1: return all_have(m, n, A);
	case 2: return all_have(m, n, A) && all_have(m, n, B);
	case 3: return all_have(m, n, A | B);
	case 4: return how_many(m, n, A) >= 1;
	case 5: return how_many(m, n, A) >= 2;
	case 6: return all_have(m, n, A) || all_have(m, n, B);
	case 7: return one_and_two(m, n, A, B);
	case 8: return one_and_two(m, n, A | B, C);
	case 9: return all_have(m, n, C) && (all_have(m, n, A) || all_have(m, n, B));
	case 10: return all_have(m, n, A) && how_many(m, n, B) >= 1;
	default: return true;
	}
}

static uint32_t feature_mask(const struct node *n)
{
	uint32_t mask = 0;
	for (const char *f = n->features; f && *f; f++)
		mask |= *f == 'a' ? A : *f == 'b' ? B : *f == 'c' ? C : 0;
	return mask;
}

static bool fit_matches(const struct sched_view *v, const struct fit *f, uint32_t which)
{
	uint32_t masks[8];
	for (uint32_t i = 0; i < f->count; i++)
		masks[i] = feature_mask(v->nodes[f->alloc[i].node]);
	return set_matches(which, masks, f->count);
}

static const struct node *random_node(uint32_t index, struct arena *a, uint64_t *seed)
{
	struct node *n = ARENA_NEW(a, struct node);
	n->index = index;
	n->registered = n->responding = true;
	n->conf.name = arena_printf(a, "n%u", index);
	n->conf.threads_per_core = 1 + (uint32_t)draw(seed, 2);
	n->conf.sockets = 1 + (uint32_t)draw(seed, 2);
	n->conf.cores_per_socket = 1 + (uint32_t)draw(seed, 6 / n->conf.sockets);
	n->conf.cpus = n->conf.sockets * n->conf.cores_per_socket * n->conf.threads_per_core;
	n->conf.real_memory_mib = 100 * (1 + draw(seed, 10));
	n->conf.weight = (uint32_t)draw(seed, 3);
	n->drain = draw(seed, 10) == 0;
	static const char *const features[] = { NULL, "a", "b", "b,a", "c", "a,c", "c,b", "a,b,c" };
	n->features = arena_strdup(a, features[draw(seed, ARRAY_COUNT(features))]);
	n->shape = index + 1; /* each node is a kind of its own */
	n->n_gres = 2;
	n->gres = ARENA_ARRAY(a, struct node_gres, 2);
	uint32_t first = 0;
	for (uint32_t g = 0; g < 2; g++) {
		n->gres[g] = (struct node_gres){ .name = arena_strdup(a, "gpu"),
						 .type = arena_strdup(a, g ? "b" : "a"),
						 .count = draw(seed, 4),
						 .first = first };
		first += (uint32_t)n->gres[g].count;
		bitset_init_in(&n->gres[g].used, (uint32_t)n->gres[g].count, a);
		for (uint32_t d = 0; d < n->gres[g].count; d++)
			if (draw(seed, 3) == 0)
				bitset_add(&n->gres[g].used, d);
	}
	bitset_init_in(&n->used_cores, n->conf.cpus, a);
	for (uint32_t core = 0; core < n->conf.cpus; core += n->conf.threads_per_core) {
		if (draw(seed, 3))
			continue;
		bitset_add_range(&n->used_cores, core, n->conf.threads_per_core);
		n->job_count = 1;
	}
	n->used_mem_mib = n->job_count ? 100 * draw(seed, 2) : 0;
	if (n->used_mem_mib > n->conf.real_memory_mib)
		n->used_mem_mib = n->conf.real_memory_mib;
	return n;
}

static struct resource_request random_request(struct arena *a, uint64_t *seed)
{
	struct resource_request r = {};
	r.nodes_min = (uint32_t)draw(seed, 4);
	if (r.nodes_min && draw(seed, 2))
		r.nodes_max = r.nodes_min + (uint32_t)draw(seed, 2);
	if (draw(seed, 2)) {
		r.has_ntasks = true;
		r.ntasks = 1 + (uint32_t)draw(seed, 8);
	}
	if (draw(seed, 3) == 0) {
		r.has_ntasks_per_node = true;
		r.ntasks_per_node = 1 + (uint32_t)draw(seed, 4);
	}
	if (draw(seed, 3) == 0) {
		r.has_cpus_per_task = true;
		r.cpus_per_task = 1 + (uint32_t)draw(seed, 3);
	}
	if (draw(seed, 2)) {
		r.has_mem_per_cpu_mib = true;
		r.mem_per_cpu_mib = 50 * draw(seed, 4);
	} else {
		r.has_mem_per_node_mib = true;
		r.mem_per_node_mib = 50 * draw(seed, 5);
	}
	if (draw(seed, 6) == 0)
		r.exclusive = EXCLUSIVE_KIND_NODE;
	if (draw(seed, 3) == 0)
		r.use_min_nodes = true;
	else if (draw(seed, 5) == 0)
		r.spread_job = true;
	if (draw(seed, 6) == 0) {
		r.node_counts = ARENA_ARRAY(a, uint32_t, 2);
		r.node_counts[0] = r.nodes_min = 1 + (uint32_t)draw(seed, 2);
		r.node_counts[1] = r.nodes_max = r.nodes_min + 1 + (uint32_t)draw(seed, 3);
		r.n_node_counts = 2;
	}
	if (draw(seed, 6) == 0) {
		r.has_ntasks_per_socket = true;
		r.ntasks_per_socket = 1 + (uint32_t)draw(seed, 2);
	}
	if (draw(seed, 6) == 0) {
		r.has_ntasks_per_core = true;
		r.ntasks_per_core = 1 + (uint32_t)draw(seed, 2);
	}
	if (draw(seed, 6) == 0) {
		r.has_threads_per_core = true;
		r.threads_per_core = 1 + (uint32_t)draw(seed, 2);
	}
	if (draw(seed, 2)) {
		struct gres_request *g = ARENA_NEW(a, struct gres_request);
		*g = (struct gres_request){ .name = arena_strdup(a, "gpu"), .count = 1 + draw(seed, 3) };
		if (draw(seed, 2))
			g->type = arena_strdup(a, draw(seed, 2) ? "a" : "b");
		uint64_t kind = draw(seed, 3);
		if (kind == 0) {
			r.gres_per_node = g;
			r.n_gres_per_node = 1;
		} else if (kind == 1) {
			r.gres_per_task = g;
			r.n_gres_per_task = 1;
		} else {
			r.gres_per_job = g;
			r.n_gres_per_job = 1;
			if (draw(seed, 3) == 0 && !r.has_ntasks_per_node) {
				r.has_ntasks_per_gpu = true;
				r.ntasks_per_gpu = 1 + (uint32_t)draw(seed, 2);
				r.has_ntasks = false;
			}
		}
		if (draw(seed, 4) == 0) {
			r.has_cpus_per_gpu = true;
			r.cpus_per_gpu = 1 + (uint32_t)draw(seed, 3);
		}
		if (draw(seed, 4) == 0 && !r.exclusive) {
			r.has_mem_per_cpu_mib = r.has_mem_per_node_mib = false;
			r.has_mem_per_gpu_mib = true;
			r.mem_per_gpu_mib = 50 * draw(seed, 4);
		}
	}
	return r;
}

static uint64_t free_gpus(const struct node *n, const char *type)
{
	uint64_t total = 0;
	for (uint32_t g = 0; g < n->n_gres; g++)
		if (!type || str_eq(n->gres[g].type, type))
			total += n->gres[g].count - bitset_count(&n->gres[g].used);
	return total;
}

static uint64_t given_gpus(const struct node_alloc *a, const char *type)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < a->n_gres; i++)
		if (!type || str_eq(a->gres[i].type, type))
			total += bitset_count(&a->gres[i].devices);
	return total;
}

/* Threads of a core that tasks may use. */
static uint32_t usable(const struct node *n, const struct demand *d)
{
	uint32_t t = n->conf.threads_per_core;
	return d->threads_per_core && d->threads_per_core < t ? d->threads_per_core : t;
}

static uint32_t cores_on(const struct node *n, const struct bitset *cpus, uint32_t socket, bool in)
{
	uint32_t count = 0, each = n->conf.cores_per_socket;
	for (uint32_t c = socket * each; c < (socket + 1) * each; c++)
		count += bitset_has(cpus, c * n->conf.threads_per_core) == in;
	return count;
}

/* Tasks that so many cores of each socket can take under --ntasks-per-socket. */
static uint32_t socket_room(const struct node *n, const struct demand *d, const struct bitset *cpus, bool in)
{
	uint32_t total = 0;
	for (uint32_t s = 0; s < n->conf.sockets; s++) {
		uint32_t room = cores_on(n, cpus, s, in) * usable(n, d) / d->cpus_per_task;
		total += room < d->ntasks_per_socket ? room : d->ntasks_per_socket;
	}
	return total;
}

static void check_shape(const struct node *n, const struct demand *d, const struct node_alloc *a)
{
	uint32_t cores = bitset_count(&a->cores) / n->conf.threads_per_core;
	assert_true(cores * usable(n, d) >= a->tasks * d->cpus_per_task);
	assert_true(n->conf.threads_per_core >= d->threads_min);
	if (d->ntasks_per_core)
		assert_true(cores * d->ntasks_per_core >= a->tasks);
	if (d->ntasks_per_socket)
		assert_true(socket_room(n, d, &a->cores, true) >= a->tasks);
	if (d->cpus_per_gpu && !d->exclusive)
		assert_true(cores * usable(n, d) >= d->cpus_per_gpu * given_gpus(a, NULL));
	if (d->request->has_mem_per_gpu_mib)
		assert_int_equal(a->mem_mib, d->request->mem_per_gpu_mib * given_gpus(a, NULL));
	if (d->tasks_per_gpu && !d->exclusive)
		assert_int_equal(a->tasks, d->tasks_per_gpu * given_gpus(a, NULL));
}

static void check_node(const struct sched_view *v, const struct demand *d, const struct node_alloc *a)
{
	const struct node *n = v->nodes[a->node];
	const struct resource_request *r = d->request;
	assert_true(node_is_up(n));
	assert_false(bitset_intersects(&n->used_cores, &a->cores));
	uint32_t cpus = bitset_count(&a->cores), t = n->conf.threads_per_core;
	assert_true(cpus >= a->tasks * d->cpus_per_task);
	check_shape(n, d, a);
	for (uint32_t core = 0; core < n->conf.cpus; core += t) /* whole cores */
		for (uint32_t k = 1; k < t; k++)
			assert_int_equal(bitset_has(&a->cores, core), bitset_has(&a->cores, core + k));
	assert_true(a->mem_mib + n->used_mem_mib <= n->conf.real_memory_mib);
	if (r->has_mem_per_cpu_mib)
		assert_int_equal(a->mem_mib, r->mem_per_cpu_mib * cpus);
	if (r->exclusive) {
		assert_int_equal(n->job_count, 0);
		assert_int_equal(cpus, n->conf.cpus);
	}
	for (uint32_t i = 0; i < a->n_gres; i++)
		for (uint32_t g = 0; g < n->n_gres; g++)
			for (uint32_t k = 0; str_eq(n->gres[g].type, a->gres[i].type) && k < n->gres[g].count; k++)
				assert_false(bitset_has(&a->gres[i].devices, n->gres[g].first + k) &&
					     bitset_has(&n->gres[g].used, k));
	if (r->n_gres_per_node && !r->exclusive)
		assert_int_equal(given_gpus(a, r->gres_per_node->type), r->gres_per_node->count);
	if (r->n_gres_per_task && !r->exclusive)
		assert_int_equal(given_gpus(a, r->gres_per_task->type), r->gres_per_task->count * a->tasks);
	if (d->tasks_per_node)
		assert_true(a->tasks <= d->tasks_per_node);
	assert_true(a->tasks >= 1);
}

static bool count_allowed(const struct demand *d, uint32_t nodes)
{
	const struct resource_request *r = d->request;
	bool listed = r->n_node_counts == 0;
	for (uint32_t i = 0; i < r->n_node_counts; i++)
		listed |= r->node_counts[i] == nodes;
	return listed && nodes >= d->nodes_min && nodes <= d->nodes_max;
}

static void check_fit(const struct sched_view *v, const struct demand *d, const struct fit *f)
{
	uint32_t tasks = 0;
	uint64_t gpus = 0;
	assert_true(count_allowed(d, f->count));
	for (uint32_t i = 0; i < f->count; i++) {
		check_node(v, d, &f->alloc[i]);
		tasks += f->alloc[i].tasks;
		if (d->request->n_gres_per_job)
			gpus += given_gpus(&f->alloc[i], d->request->gres_per_job->type);
		assert_true(i == 0 || f->alloc[i].node > f->alloc[i - 1].node);
	}
	assert_int_equal(tasks, f->ntasks);
	if (!d->tasks_follow_nodes)
		assert_int_equal(tasks, d->ntasks);
	if (d->request->n_gres_per_job && !d->request->exclusive)
		assert_int_equal(gpus, d->request->gres_per_job->count);
}

static uint32_t round_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

static uint32_t cores_of(const struct node *n, const struct demand *d, uint32_t tasks)
{
	uint32_t use = usable(n, d), cores = round_up(tasks * d->cpus_per_task, use);
	if (d->ntasks_per_core && round_up(tasks, d->ntasks_per_core) > cores)
		cores = round_up(tasks, d->ntasks_per_core);
	if (d->ntasks_per_core == 1 && tasks * round_up(d->cpus_per_task, use) > cores)
		cores = tasks * round_up(d->cpus_per_task, use);
	return cores;
}

/* One task after the other to the socket that has fewest and may have one more; how many cores? */
static bool even_cores(const struct node *n, const struct demand *d, uint32_t tasks, uint32_t *ret)
{
	uint32_t have[2] = {};
	for (uint32_t i = 0; i < tasks; i++) {
		uint32_t best = UINT32_MAX;
		for (uint32_t s = 0; s < n->conf.sockets; s++)
			if (have[s] < d->ntasks_per_socket && cores_of(n, d, have[s] + 1) <= cores_on(n, &n->used_cores, s, false) &&
			    (best == UINT32_MAX || have[s] < have[best]))
				best = s;
		if (best == UINT32_MAX)
			return false;
		have[best]++;
	}
	*ret = 0;
	for (uint32_t s = 0; s < n->conf.sockets; s++)
		*ret += have[s] ? cores_of(n, d, have[s]) : 0;
	return true;
}

/* Do so many tasks and, of --gpus, so many GPUs fit on the node together? */
static bool holds(const struct node *n, const struct demand *d, uint32_t tasks, uint64_t job_gpus)
{
	const struct resource_request *r = d->request;
	uint32_t t = n->conf.threads_per_core, use = usable(n, d);
	uint64_t gpus = job_gpus + (r->n_gres_per_node ? r->gres_per_node->count : 0) +
			(r->n_gres_per_task ? r->gres_per_task->count * tasks : 0);
	uint32_t cores, even = 0, more = round_up(d->cpus_per_gpu * (uint32_t)gpus, use);
	cores = cores_of(n, d, tasks) > more ? cores_of(n, d, tasks) : more;
	if (d->ntasks_per_socket && !even_cores(n, d, tasks, &even))
		return false;
	cores = even > cores ? even : cores;
	uint32_t cpus = r->exclusive ? n->conf.cpus : cores * t;
	uint64_t mem = r->has_mem_per_cpu_mib ? r->mem_per_cpu_mib * cpus :
		       r->has_mem_per_gpu_mib ? r->mem_per_gpu_mib * gpus :
		       r->mem_per_node_mib    ? r->mem_per_node_mib :
						n->conf.real_memory_mib;
	return cores * t <= cpus && cpus <= n->conf.cpus - bitset_count(&n->used_cores) &&
	       mem <= n->conf.real_memory_mib - n->used_mem_mib && t >= d->threads_min &&
	       (!d->tasks_per_node || tasks <= d->tasks_per_node) &&
	       (!r->n_gres_per_task || r->gres_per_task->count * tasks <= free_gpus(n, r->gres_per_task->type)) &&
	       (!r->n_gres_per_node || r->gres_per_node->count <= free_gpus(n, r->gres_per_node->type)) &&
	       (!job_gpus || free_gpus(n, r->gres_per_job->type) >= job_gpus) &&
	       (!r->exclusive || n->job_count == 0) && node_is_up(n);
}

/* The most tasks one node could take, by trying every number. */
static uint32_t most_tasks(const struct node *n, const struct demand *d, uint32_t want)
{
	uint32_t best = 0;
	for (uint32_t tasks = 1; tasks <= want; tasks++) {
		uint32_t gpus = d->request->n_gres_per_job ? 1 : 0;
		if (d->tasks_per_gpu && tasks % d->tasks_per_gpu)
			continue;
		if (d->tasks_per_gpu)
			gpus = tasks / d->tasks_per_gpu;
		best = holds(n, d, tasks, gpus) ? tasks : best;
	}
	return best;
}

static uint64_t most_gpus(const struct node *n, const struct demand *d)
{
	uint64_t best = 0;
	for (uint64_t gpus = 1; d->request->n_gres_per_job && gpus <= d->request->gres_per_job->count; gpus++)
		best = holds(n, d, 1, gpus) ? gpus : best;
	return best;
}

/* Every subset of nodes: of how many are those that could hold the request and meet constraint `which`?
 * Bit n for n nodes. */
static uint32_t possible_counts(const struct sched_view *v, const struct demand *d, uint32_t which)
{
	uint32_t must = 0, counts = 0;
	if (d->request->node_list)
		must = 1u << (d->request->node_list[1] - '0');
	for (uint32_t set = 1; set < 1u << v->node_count; set++) {
		if ((set & must) != must)
			continue;
		uint32_t nodes = (uint32_t)__builtin_popcount(set), room = 0;
		uint64_t gpus = 0;
		uint32_t masks[8], count = 0;
		bool all = count_allowed(d, nodes);
		uint32_t want = d->ntasks;
		if (d->tasks_follow_nodes)
			want = nodes * (d->tasks_per_node ? d->tasks_per_node : 1);
		for (uint32_t i = 0; all && i < v->node_count; i++) {
			if (!(set >> i & 1))
				continue;
			uint32_t most = most_tasks(v->nodes[i], d, want);
			all = most > 0;
			masks[count++] = feature_mask(v->nodes[i]);
			room += most;
			gpus += most_gpus(v->nodes[i], d);
		}
		if (all && set_matches(which, masks, count) && room >= want && want >= nodes &&
		    (!d->request->n_gres_per_job ||
		     (gpus >= d->request->gres_per_job->count)))
			counts |= 1u << nodes;
	}
	return counts;
}

/* Few nodes when that was asked for, else many. */
static void check_preference(const struct demand *d, uint32_t possible, uint32_t nodes)
{
	const struct resource_request *r = d->request;
	if (r->use_min_nodes && !r->spread_job)
		assert_int_equal(nodes, __builtin_ctz(possible));
	else
		assert_int_equal(nodes, 31 - __builtin_clz(possible));
}

static void fit_agrees_with_brute_force(void **state)
{
	(void)state;
	uint32_t found = 0;
	for (uint64_t round = 1; round <= 100000; round++) {
		uint64_t seed = round * 0x9E3779B97F4A7C15u;
		AUTO_ARENA struct arena *a = arena_new();
		uint32_t count = 1 + (uint32_t)draw(&seed, 5);
		const struct node **nodes = ARENA_ARRAY(a, const struct node *, count);
		for (uint32_t i = 0; i < count; i++)
			nodes[i] = random_node(i, a, &seed);
		struct sched_view v = { .nodes = nodes, .node_count = count };
		struct resource_request r = random_request(a, &seed);
		uint32_t want = draw(&seed, 2) ? 0 : (uint32_t)draw(&seed, ARRAY_COUNT(constraints));
		uint32_t prefer = draw(&seed, 4) ? 0 : (uint32_t)draw(&seed, ARRAY_COUNT(constraints));
		r.constraint = arena_strdup(a, constraints[want]);
		r.prefer = arena_strdup(a, constraints[prefer]);
		uint32_t must = (uint32_t)draw(&seed, 4 * count); /* --nodelist, where there is such a node */
		if (must < count)
			r.node_list = arena_printf(a, "n%u", must);
		struct demand d;
		if (demand_from(&r, &d, NULL) < 0)
			continue;
		struct bitset all;
		bitset_init_in(&all, count, a);
		bitset_fill(&all);
		struct fit_scope scope = { &all, NULL };
		struct pool pool;
		struct fit fit = {};
		pool_init(&pool, &v, false, a);
		bool ok = fit_find(&pool, &d, &scope, a, &fit) == FIT_OK;
		bool preferred = prefer && possible_counts(&v, &d, prefer);
		if (ok) {
			check_fit(&v, &d, &fit);
			assert_true(fit_matches(&v, &fit, preferred ? prefer : want));
		}
		pool_done(&pool);
		uint32_t possible = possible_counts(&v, &d, preferred ? prefer : want);
		if (ok && possible && !prefer && !want) /* alternatives come in their own order */
			check_preference(&d, possible, fit.count);
		if (ok != (possible != 0)) {
			AUTO_BUF struct buf text = {};
			record_print(&resource_request_record, &r, &text);
			fail_msg("round %llu: fit %d: %s", (unsigned long long)round, ok, buf_text(&text));
		}
		found += ok;
	}
	assert_true(found > 15000);
}

static bool fits(const struct sched_view *v, const struct demand *d, bool as_if_idle, struct arena *a)
{
	struct bitset all;
	struct pool pool;
	struct fit fit = {};
	bitset_init_in(&all, v->node_count, a);
	bitset_fill(&all);
	pool_init(&pool, v, as_if_idle, a);
	bool ok = fit_find(&pool, d, &(struct fit_scope){ &all, NULL }, a, &fit) == FIT_OK;
	pool_done(&pool);
	return ok;
}

static void what_could_ever_run_does_not_depend_on_what_runs(void **state)
{
	(void)state;
	uint32_t found = 0;
	for (uint64_t round = 1; round <= 5000; round++) {
		uint64_t seed = round * 0x9E3779B97F4A7C15u;
		AUTO_ARENA struct arena *a = arena_new();
		uint32_t count = 1 + (uint32_t)draw(&seed, 5);
		const struct node **busy = ARENA_ARRAY(a, const struct node *, count);
		const struct node **idle = ARENA_ARRAY(a, const struct node *, count);
		for (uint32_t i = 0; i < count; i++) {
			struct node *n = arena_dup(a, random_node(i, a, &seed), sizeof(*n));
			busy[i] = arena_dup(a, n, sizeof(*n));
			if (n->job_count && draw(&seed, 2))
				((struct node *)busy[i])->exclusive_job = 7;
			n->drain = false;
			n->job_count = 0;
			n->used_mem_mib = 0;
			bitset_init_in(&n->used_cores, n->conf.cpus, a);
			n->gres = arena_dup(a, n->gres, n->n_gres * sizeof(*n->gres));
			for (uint32_t g = 0; g < n->n_gres; g++)
				bitset_init_in(&n->gres[g].used, (uint32_t)n->gres[g].count, a);
			idle[i] = n;
		}
		struct resource_request r = random_request(a, &seed);
		struct demand d;
		if (demand_from(&r, &d, NULL) < 0)
			continue;
		bool ever = fits(&(struct sched_view){ .nodes = busy, .node_count = count }, &d, true, a);
		bool now = fits(&(struct sched_view){ .nodes = idle, .node_count = count }, &d, false, a);
		assert_int_equal(ever, now);
		found += ever;
	}
	assert_true(found > 1000);
}

/* Two sockets of four cores, two GPUs close to each. */
static struct node two_sockets(struct arena *a)
{
	struct node n = { .registered = true, .responding = true, .n_gres = 2 };
	n.conf = (struct node_conf){ .name = arena_strdup(a, "n"), .cpus = 8, .sockets = 2, .cores_per_socket = 4,
				     .threads_per_core = 1, .real_memory_mib = 100 };
	bitset_init_in(&n.used_cores, 8, a);
	n.gres = ARENA_ARRAY(a, struct node_gres, 2);
	for (uint32_t g = 0; g < 2; g++) {
		n.gres[g] = (struct node_gres){ .name = arena_strdup(a, "gpu"), .count = 2, .first = 2 * g };
		bitset_init_in(&n.gres[g].used, 2, a);
		bitset_init_in(&n.gres[g].cores, 8, a);
		bitset_add_range(&n.gres[g].cores, 4 * g, 4);
	}
	return n;
}

static void gpus_per_socket_are_close_to_each(void **state)
{
	(void)state;
	static const struct {
		uint32_t per_socket, used[2]; /* GPUs in use of each socket */
		uint32_t want;		      /* bits of the devices given; 0: does not fit */
	} rows[] = {
		{ 1, { 0, 0 }, 0x5 }, { 2, { 0, 0 }, 0xf }, { 1, { 1, 0 }, 0x6 },
		{ 1, { 2, 0 }, 0 },   { 2, { 1, 0 }, 0 },   { 3, { 0, 0 }, 0 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct node n = two_sockets(a);
		const struct node *nodes[] = { &n };
		for (uint32_t g = 0; g < 2; g++)
			bitset_add_range(&n.gres[g].used, 0, rows[i].used[g]);
		struct gres_request gpu = { .name = arena_strdup(a, "gpu"), .count = rows[i].per_socket };
		struct resource_request r = { .nodes_min = 1, .gres_per_socket = &gpu, .n_gres_per_socket = 1,
					      .has_sockets_per_node = true, .sockets_per_node = 2,
					      .has_mem_per_node_mib = true, .mem_per_node_mib = 1 };
		struct sched_view v = { .nodes = nodes, .node_count = 1 };
		struct bitset all;
		struct fit_scope scope = { .nodes = &all };
		struct demand d;
		struct pool pool;
		struct fit fit = {};
		bitset_init_in(&all, 1, a);
		bitset_fill(&all);
		assert_int_equal(demand_from(&r, &d, NULL), 0);
		pool_init(&pool, &v, false, a);
		uint32_t got = 0;
		if (fit_find(&pool, &d, &scope, a, &fit) == FIT_OK)
			for (uint32_t k = 0; k < fit.alloc[0].n_gres; k++)
				for (uint32_t bit = 0; bit < 4; bit++)
					got |= (uint32_t)bitset_has(&fit.alloc[0].gres[k].devices, bit) << bit;
		pool_done(&pool);
		assert_int_equal(got, rows[i].want);
	}
}

static void tasks_are_spread_evenly(void **state)
{
	(void)state;
	static const struct {
		uint32_t ntasks, room[4], want[4];
	} table[] = {
		{ 5, { 9, 9, 0, 0 }, { 3, 2, 0, 0 } },
		{ 7, { 4, 4, 0, 0 }, { 4, 3, 0, 0 } },
		{ 8, { 2, 8, 8, 1 }, { 2, 3, 2, 1 } },
		{ 3, { 1, 1, 1, 1 }, { 1, 1, 1, 0 } },
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		uint32_t got[4];
		layout_spread(table[i].ntasks, table[i].room, 4, got);
		assert_memory_equal(got, table[i].want, sizeof(got));
	}
}

static void ranks_cover_every_task_once(void **state)
{
	(void)state;
	static char cyclic[] = "cyclic";
	struct node_alloc alloc[] = { { .tasks = 3 }, { .tasks = 1 }, { .tasks = 2 } };
	struct step s = { .alloc = alloc, .n_alloc = 3, .ntasks = 6 };
	static const uint32_t want_block[] = { 0, 1, 2, 3, 4, 5 }, want_cyclic[] = { 0, 3, 5, 1, 2, 4 };
	AUTO_ARENA struct arena *a = arena_new();
	for (int round = 0; round < 2; round++) {
		const uint32_t *want = round ? want_cyclic : want_block;
		s.distribution = round ? cyclic : NULL;
		for (uint32_t pos = 0; pos < 3; pos++) {
			uint32_t count, *ids = layout_tasks(&s, pos, a, &count);
			assert_int_equal(count, alloc[pos].tasks);
			assert_memory_equal(ids, want, count * sizeof(*ids));
			want += count;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit_agrees_with_brute_force),
		cmocka_unit_test(what_could_ever_run_does_not_depend_on_what_runs),
		cmocka_unit_test(gpus_per_socket_are_close_to_each),
		cmocka_unit_test(tasks_are_spread_evenly),
		cmocka_unit_test(ranks_cover_every_task_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
