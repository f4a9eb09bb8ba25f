/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a job gets on one node: close to its cores, well connected, low indexes; parts of GPUs
 * from one GPU, never beside a whole one.  Small machines with known answers, then random ones. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/demand.h"
#include "sched/fit.h"
#include "sched/pool.h"
#include "sched/view.h"

#include "../cm.h"

#include <stdio.h>
#include <string.h>

struct box {
	struct arena *arena;
	struct node node;
	const struct node *nodes[1];
	struct partition partition;
	struct bitset members;
	struct sched_view view;
	struct pool pool;
};

/* ---- machines ---------------------------------------------------------------------------------- */

static void box_begin(struct box *b, uint32_t sockets, uint32_t cores)
{
	*b = (struct box){ .arena = arena_new() };
	b->node = (struct node){ .registered = true, .responding = true, .shape = 1 };
	b->node.conf = (struct node_conf){ .name = arena_strdup(b->arena, "n"), .cpus = sockets * cores,
					   .sockets = sockets, .cores_per_socket = cores, .threads_per_core = 1,
					   .real_memory_mib = 1000, .weight = 1 };
	bitset_init_in(&b->node.used_cores, sockets * cores, b->arena);
	b->node.gres = ARENA_ARRAY(b->arena, struct node_gres, 16);
}

static void box_end(struct box *b)
{
	b->nodes[0] = &b->node;
	bitset_init_in(&b->members, 1, b->arena);
	bitset_add(&b->members, 0);
	b->view = (struct sched_view){ .nodes = b->nodes, .node_count = 1 };
	pool_init(&b->pool, &b->view, false, b->arena);
}

static void box_done(struct box *b)
{
	pool_done(&b->pool);
	arena_free(b->arena);
}

/* GPUs first to first + count - 1; `socket` -1: close to all. */
static struct node_gres *add_gpus(struct box *b, const char *type, uint32_t first, uint32_t count, int socket)
{
	struct node_gres *g = &b->node.gres[b->node.n_gres++];
	*g = (struct node_gres){ .name = arena_strdup(b->arena, "gpu"), .type = arena_strdup(b->arena, type),
				 .first = first, .count = count };
	bitset_init_in(&g->used, count, b->arena);
	uint32_t cores = b->node.conf.cores_per_socket;
	if (socket >= 0) {
		bitset_init_in(&g->cores, b->node.conf.cpus, b->arena);
		bitset_add_range(&g->cores, (uint32_t)socket * cores, cores);
	}
	return g;
}

static struct node_gres *add_parts(struct box *b, const char *name, const char *type, uint32_t first, uint32_t gpus,
				   uint32_t each)
{
	struct node_gres *g = &b->node.gres[b->node.n_gres++];
	*g = (struct node_gres){ .name = arena_strdup(b->arena, name), .type = arena_strdup(b->arena, type),
				 .first = first, .count = gpus * each };
	g->n_each = g->n_each_used = gpus;
	g->each = ARENA_ARRAY(b->arena, uint32_t, gpus);
	g->each_used = ARENA_ARRAY(b->arena, uint32_t, gpus);
	for (uint32_t i = 0; i < gpus; i++)
		g->each[i] = each;
	return g;
}

/* Links between devices whose numbers say so by `linked`; a row for each device of the entry. */
static void add_links(struct box *b, struct node_gres *g, uint32_t total,
		      uint32_t (*linked)(uint32_t a, uint32_t b))
{
	g->n_links_to = (uint32_t)g->count * total;
	g->links_to = ARENA_ARRAY(b->arena, uint32_t, g->n_links_to);
	for (uint32_t d = 0; d < g->count; d++)
		for (uint32_t k = 0; k < total; k++)
			g->links_to[d * total + k] = g->first + d == k ? 0 : linked(g->first + d, k);
}

static uint32_t all_to_all(uint32_t a, uint32_t b)
{
	return a == b ? 0 : 18;
}

static uint32_t in_pairs(uint32_t a, uint32_t b)
{
	return a / 2 == b / 2 ? 4 : 0;
}

/* 0-2 and 1-3 are connected: neighbours by number are not. */
static uint32_t crossed(uint32_t a, uint32_t b)
{
	return a % 2 == b % 2 && a / 4 == b / 4 ? 4 : 1;
}

/* ---- requests ---------------------------------------------------------------------------------- */

struct ask {
	const char *gres;  /* name[:type]:count of a node, several with a comma */
	const char *per_task, *per_socket, *flags;
	uint32_t tasks, cpus, sockets;
	bool exclusive;
};

static struct gres_request *read_gres(struct box *b, const char *text, uint32_t *ret_count)
{
	struct gres_request *list = ARENA_ARRAY(b->arena, struct gres_request, 8);
	*ret_count = 0;
	char *rest = text ? arena_strdup(b->arena, text) : NULL, *word;
	while (rest && (word = strsep(&rest, ","))) {
		char *name = strsep(&word, ":"), *middle = strsep(&word, ":");
		struct gres_request *g = &list[(*ret_count)++];
		*g = (struct gres_request){ .name = name, .type = word ? middle : NULL };
		assert_int_equal(str_to_u64(word ? word : middle, &g->count), 0);
	}
	return list;
}

static bool place(struct box *b, const struct ask *ask, struct fit *ret)
{
	struct resource_request *r = ARENA_NEW(b->arena, struct resource_request);
	struct demand d;
	struct error err = {};
	r->nodes_min = r->nodes_max = 1;
	r->has_ntasks = true;
	r->ntasks = ask->tasks ? ask->tasks : 1;
	r->has_cpus_per_task = true;
	r->cpus_per_task = ask->cpus ? ask->cpus : 1;
	r->has_mem_per_node_mib = true;
	r->mem_per_node_mib = 1;
	r->has_sockets_per_node = ask->sockets != 0;
	r->sockets_per_node = ask->sockets;
	r->exclusive = ask->exclusive ? EXCLUSIVE_KIND_NODE : 0;
	r->gres_flags = arena_strdup(b->arena, ask->flags);
	r->gres_per_node = read_gres(b, ask->gres, &r->n_gres_per_node);
	r->gres_per_task = read_gres(b, ask->per_task, &r->n_gres_per_task);
	r->gres_per_socket = read_gres(b, ask->per_socket, &r->n_gres_per_socket);
	if (demand_from(r, &d, &err) < 0)
		fail_msg("%s", err.text);
	struct fit_scope scope = { .nodes = &b->members };
	*ret = (struct fit){};
	if (fit_find(&b->pool, &d, &scope, b->arena, ret) != FIT_OK)
		return false;
	pool_take(&b->pool, &ret->alloc[0]);
	return true;
}

/* "gpu:h100=0,1 shard=4@2 cpus=0-3", or "no". */
static const char *placed(struct box *b, const struct ask *ask)
{
	AUTO_BUF struct buf out = {};
	struct fit fit;
	if (!place(b, ask, &fit))
		return "no";
	for (uint32_t i = 0; i < fit.alloc[0].n_gres; i++) {
		const struct gres_alloc *g = &fit.alloc[0].gres[i];
		buf_printf(&out, "%s%s%s=", g->name, g->type ? ":" : "", g->type ? g->type : "");
		if (!g->devices.bits || str_eq(g->name, "shard") || str_eq(g->name, "mps"))
			buf_printf(&out, "%llu%s", (unsigned long long)g->count, g->devices.bits ? "@" : "");
		bitset_print(&g->devices, &out);
		buf_putc(&out, ' ');
	}
	buf_puts(&out, "cpus=");
	bitset_print(&fit.alloc[0].cores, &out);
	return arena_strdup(b->arena, buf_text(&out));
}

#define EXPECT(b, want, ...) assert_string_equal(placed(b, &(struct ask){ __VA_ARGS__ }), want)

/* ---- devices ----------------------------------------------------------------------------------- */

/* Eight GPUs behind switches that connect all alike, four at each of two sockets. */
static void dgx(struct box *b)
{
	box_begin(b, 2, 8);
	add_links(b, add_gpus(b, "h100", 0, 4, 0), 8, all_to_all);
	add_links(b, add_gpus(b, "h100", 4, 4, 1), 8, all_to_all);
}

static void test_dgx(void **state)
{
	(void)state;
	struct box b;
	dgx(&b);
	box_end(&b);
	EXPECT(&b, "gpu:h100=0-1 cpus=0-1", .gres = "gpu:2", .tasks = 2);
	EXPECT(&b, "gpu:h100=4-7 cpus=8-11", .gres = "gpu:h100:4", .tasks = 4); /* one socket rather than two */
	EXPECT(&b, "gpu:h100=2 cpus=2-4", .gres = "gpu:1", .cpus = 3);
	EXPECT(&b, "no", .gres = "gpu:2");
	EXPECT(&b, "gpu:h100=3 cpus=5", .gres = "gpu:1");
	EXPECT(&b, "no", .gres = "gpu:1");
	EXPECT(&b, "no", .gres = "gpu:a100:1");
	box_done(&b);
}

static void test_far_cores(void **state)
{
	(void)state;
	struct box b;
	dgx(&b);
	bitset_add_range(&b.node.used_cores, 0, 7);
	b.node.job_count = 1;
	box_end(&b);
	EXPECT(&b, "gpu:h100=4-5 cpus=8-11", .gres = "gpu:2", .cpus = 4); /* one core beside 0-3 is too few */
	EXPECT(&b, "gpu:h100=6-7 cpus=12", .gres = "gpu:2");
	EXPECT(&b, "gpu:h100=0-1 cpus=7", .gres = "gpu:2");
	EXPECT(&b, "gpu:h100=2-3 cpus=13", .gres = "gpu:2"); /* far, but better than waiting */
	box_done(&b);
}

/* PCIe cards with bridges between 0-1, 2-3, ...; whoever wants two wants a bridge. */
static void test_pairs(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 16);
	for (uint32_t i = 0; i < 8; i++) /* a line for each device, as Links needs */
		add_links(&b, add_gpus(&b, NULL, i, 1, -1), 8, in_pairs);
	bitset_add(&b.node.gres[0].used, 0);
	box_end(&b);
	EXPECT(&b, "gpu=2-3 cpus=0", .gres = "gpu:2");
	EXPECT(&b, "gpu=1 cpus=1", .gres = "gpu:1");
	EXPECT(&b, "gpu=4 cpus=2", .gres = "gpu:1");
	EXPECT(&b, "gpu=6-7 cpus=3", .gres = "gpu:2");
	EXPECT(&b, "gpu=5 cpus=4", .gres = "gpu:1");
	box_done(&b);

	box_begin(&b, 1, 16);
	add_links(&b, add_gpus(&b, NULL, 0, 8, -1), 8, crossed);
	box_end(&b);
	EXPECT(&b, "gpu=0,2 cpus=0", .gres = "gpu:2");
	EXPECT(&b, "gpu=1,3 cpus=1", .gres = "gpu:2");
	EXPECT(&b, "gpu=4-6 cpus=2", .gres = "gpu:3"); /* 4-6, 4-5, 5-6: as good as any, and lowest */
	EXPECT(&b, "gpu=7 cpus=3", .gres = "gpu:1");
	box_done(&b);
}

static void test_many_devices(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 64);
	add_links(&b, add_gpus(&b, NULL, 0, 32, -1), 32, in_pairs);
	bitset_add(&b.node.gres[0].used, 0);
	box_end(&b);
	EXPECT(&b, "gpu=2-17 cpus=0", .gres = "gpu:16"); /* too many sets to try them all */
	box_done(&b);
}

/* GPUs of even number at socket 0: the order of numbers is not that of sockets. */
static void test_interleaved(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 2, 4);
	for (uint32_t i = 0; i < 4; i++)
		add_gpus(&b, "a", i, 1, (int)(i % 2));
	box_end(&b);
	EXPECT(&b, "gpu:a=0,2 cpus=0-1", .gres = "gpu:2", .tasks = 2);
	EXPECT(&b, "gpu:a=1,3 cpus=4", .gres = "gpu:a:2");
	box_done(&b);
}

static void test_bindings(void **state)
{
	(void)state;
	struct box b;
	dgx(&b);
	for (uint32_t i = 0; i < 3; i++) {
		bitset_add(&b.node.gres[0].used, i);
		bitset_add(&b.node.gres[1].used, i);
	}
	b.node.job_count = 1;
	box_end(&b);
	/* A GPU is left at each socket: one core cannot be close to both. */
	EXPECT(&b, "no", .gres = "gpu:2", .flags = "enforce-binding");
	EXPECT(&b, "gpu:h100=3 cpus=0-7", .gres = "gpu:1", .cpus = 8, .flags = "enforce-binding");
	EXPECT(&b, "no", .gres = "gpu:1", .tasks = 9, .flags = "enforce-binding");
	EXPECT(&b, "gpu:h100=7 cpus=8-9", .gres = "gpu:1", .cpus = 2, .flags = "enforce-binding");
	box_done(&b);

	dgx(&b);
	bitset_add_range(&b.node.used_cores, 0, 7);
	b.node.job_count = 1;
	box_end(&b);
	EXPECT(&b, "gpu:h100=0-1 cpus=7-8", .gres = "gpu:2", .tasks = 2, .flags = "disable-binding");
	EXPECT(&b, "gpu:h100=2-6 cpus=9-10", .gres = "gpu:5", .tasks = 2, .flags = "disable-binding");
	box_done(&b);

	dgx(&b);
	box_end(&b);
	EXPECT(&b, "gpu:h100=0-7 cpus=0-1,8", .gres = "gpu:8", .tasks = 3, .flags = "enforce-binding");
	box_done(&b);
}

static void test_per_socket(void **state)
{
	(void)state;
	struct box b;
	dgx(&b);
	box_end(&b);
	EXPECT(&b, "gpu:h100=0-1,4-5 cpus=0,8", .per_socket = "gpu:2", .sockets = 2, .tasks = 2);
	EXPECT(&b, "no", .per_socket = "gpu:3", .sockets = 2);
	EXPECT(&b, "gpu:h100=2,6 cpus=1-2,9", .per_socket = "gpu:1", .sockets = 2, .cpus = 3);
	EXPECT(&b, "gpu:h100=3 cpus=3", .per_socket = "gpu:1", .sockets = 1);
	EXPECT(&b, "gpu:h100=7 cpus=10", .per_socket = "gpu:1", .sockets = 1);
	box_done(&b);
}

/* ---- parts of GPUs ------------------------------------------------------------------------------ */

static void test_shards(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 2, 8);
	add_gpus(&b, "h100", 0, 2, 0);
	add_gpus(&b, "h100", 2, 2, 1);
	add_parts(&b, "shard", "h100", 0, 2, 8);
	add_parts(&b, "shard", "h100", 2, 2, 8);
	box_end(&b);
	EXPECT(&b, "shard:h100=3@0 cpus=0", .gres = "shard:3");
	EXPECT(&b, "no", .gres = "shard:9"); /* a GPU has eight */
	EXPECT(&b, "shard:h100=4@0 cpus=1", .gres = "shard:h100:4"); /* beside the first */
	EXPECT(&b, "shard:h100=2@1 cpus=2", .gres = "shard:2");
	EXPECT(&b, "shard:h100=1@0 cpus=3", .gres = "shard:1"); /* the tightest */
	EXPECT(&b, "gpu:h100=2-3 cpus=8", .gres = "gpu:2"); /* and these are whole */
	EXPECT(&b, "no", .gres = "gpu:1");
	EXPECT(&b, "no", .gres = "shard:7");
	EXPECT(&b, "shard:h100=6@1 cpus=4", .gres = "shard:6");
	EXPECT(&b, "no", .gres = "shard:1");
	EXPECT(&b, "no", .gres = "shard:a100:1");
	box_done(&b);
}

static void test_shards_or_mps(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 8);
	add_gpus(&b, NULL, 0, 3, -1);
	add_parts(&b, "shard", NULL, 0, 3, 4);
	add_parts(&b, "mps", NULL, 0, 3, 100)->one_sharing = true;
	box_end(&b);
	EXPECT(&b, "mps=50@0 cpus=0", .gres = "mps:50");
	EXPECT(&b, "shard=1@1 cpus=1", .gres = "shard:1");
	EXPECT(&b, "no", .gres = "mps:60"); /* only one GPU of the node at a time */
	EXPECT(&b, "mps=40@0 cpus=2", .gres = "mps:40");
	EXPECT(&b, "shard=3@1 cpus=3", .gres = "shard:3");
	EXPECT(&b, "shard=1@2 cpus=4", .gres = "shard:1");
	EXPECT(&b, "no", .gres = "gpu:1");
	box_done(&b);
}

static void test_several_gpus(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 8);
	add_gpus(&b, NULL, 0, 3, -1);
	add_parts(&b, "shard", NULL, 0, 3, 4)->several = true;
	box_end(&b);
	EXPECT(&b, "shard=3@0 cpus=0", .gres = "shard:3");
	EXPECT(&b, "shard=4@1 shard=2@2 cpus=1", .gres = "shard:6");
	EXPECT(&b, "no", .gres = "shard:4");
	EXPECT(&b, "shard=2@2 shard=1@0 cpus=2", .gres = "shard:3");
	box_done(&b);

	box_begin(&b, 1, 8);
	add_gpus(&b, NULL, 0, 2, -1);
	add_parts(&b, "shard", NULL, 0, 2, 4)->spread = true;
	box_end(&b);
	EXPECT(&b, "shard=1@0 cpus=0", .gres = "shard:1");
	EXPECT(&b, "shard=1@1 cpus=1", .gres = "shard:1");
	EXPECT(&b, "shard=2@0 cpus=2", .gres = "shard:2");
	EXPECT(&b, "shard=1@1 cpus=3", .gres = "shard:1");
	box_done(&b);
}

static void test_tasks_and_parts(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 8);
	add_gpus(&b, NULL, 0, 3, -1);
	add_parts(&b, "shard", NULL, 0, 3, 4);
	box_end(&b);
	EXPECT(&b, "no", .per_task = "shard:2", .tasks = 3);
	EXPECT(&b, "shard=4@0 cpus=0-1", .per_task = "shard:2", .tasks = 2);
	EXPECT(&b, "shard=1@1 shard=1@2 cpus=2-3", .per_task = "shard:1", .tasks = 2, .flags = "one-task-per-sharing");
	EXPECT(&b, "no", .per_task = "shard:1", .tasks = 3, .flags = "one-task-per-sharing");
	box_done(&b);

	box_begin(&b, 1, 8);
	add_gpus(&b, NULL, 0, 3, -1);
	add_parts(&b, "mps", NULL, 0, 3, 100)->one_sharing = true;
	box_end(&b);
	EXPECT(&b, "no", .per_task = "mps:10", .tasks = 2, .flags = "one-task-per-sharing"); /* one GPU at a time */
	EXPECT(&b, "mps=20@0 cpus=0-1", .per_task = "mps:10", .tasks = 2);
	box_done(&b);
}

static void test_exclusive(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 2);
	add_gpus(&b, NULL, 0, 2, -1);
	add_parts(&b, "shard", NULL, 0, 2, 4);
	struct node_gres *nic = add_gpus(&b, NULL, 0, 1, -1);
	nic->name = arena_strdup(b.arena, "nic");
	nic->is_explicit = true;
	box_end(&b);
	struct box again = b;
	EXPECT(&b, "gpu=0-1 cpus=0-1", .exclusive = true); /* GPUs, and no parts of them */
	pool_done(&b.pool);
	pool_init(&again.pool, &again.view, false, again.arena);
	EXPECT(&again, "shard=2@0 cpus=0-1", .exclusive = true, .gres = "shard:2");
	pool_done(&again.pool);
	pool_init(&again.pool, &again.view, false, again.arena);
	EXPECT(&again, "nic=0 gpu=0-1 cpus=0-1", .exclusive = true, .gres = "nic:1");
	box_done(&again);
}

/* ---- counts ------------------------------------------------------------------------------------ */

static void test_counts(void **state)
{
	(void)state;
	struct box b;
	box_begin(&b, 1, 8);
	struct node_gres rows[] = { { .name = (char[]){ "nic" }, .type = (char[]){ "slow" }, .count = 2 },
				    { .name = (char[]){ "nic" }, .type = (char[]){ "fast" }, .count = 2 },
				    { .name = (char[]){ "bandwidth" }, .count = 4ull << 30, .no_consume = true } };
	memcpy(b.node.gres, rows, sizeof(rows));
	b.node.n_gres = 3;
	box_end(&b);
	EXPECT(&b, "nic:slow=2 nic:fast=1 cpus=0", .gres = "nic:3");
	EXPECT(&b, "no", .gres = "nic:2");
	EXPECT(&b, "nic:fast=1 bandwidth=4294967296 cpus=1", .gres = "nic:fast:1,bandwidth:4294967296");
	EXPECT(&b, "bandwidth=4294967296 cpus=2", .gres = "bandwidth:4294967296");
	EXPECT(&b, "no", .gres = "bandwidth:4294967297");
	EXPECT(&b, "no", .gres = "nic:1");
	box_done(&b);
}

/* ---- random ------------------------------------------------------------------------------------ */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

enum { GPUS = 6, KINDS = 3 }; /* whole, shard, mps */

struct ledger {
	uint64_t given[KINDS][GPUS];
};

static uint32_t kind_of(const char *name)
{
	return str_eq(name, "gpu") ? 0 : str_eq(name, "shard") ? 1 : 2;
}

static void enter(struct ledger *l, const struct gres_alloc *g, const uint64_t *each)
{
	uint32_t k = kind_of(g->name);
	for (uint32_t d = 0; d < GPUS; d++) {
		if (!bitset_has(&g->devices, d))
			continue;
		l->given[k][d] += k ? g->count : 1;
		assert_true(l->given[k][d] <= (k ? each[k] : 1));
		for (uint32_t other = 0; other < KINDS; other++)
			assert_true(other == k || l->given[other][d] == 0);
	}
}

/* What is denied could not be given: an obvious look at the ledger. */
static bool could_be_given(const struct ledger *l, uint32_t kind, uint64_t count, const uint64_t *each, bool several)
{
	uint64_t total = 0, most = 0;
	for (uint32_t d = 0; d < GPUS; d++) {
		bool is_other = false;
		for (uint32_t k = 0; k < KINDS; k++)
			is_other |= k != kind && l->given[k][d];
		uint64_t free = is_other ? 0 : (kind ? each[kind] : 1) - l->given[kind][d];
		total += free;
		most = free > most ? free : most;
	}
	return count <= (kind == 0 || several ? total : most);
}

static void test_random(void **state)
{
	(void)state;
	uint64_t seed = 4711;
	for (int round = 0; round < 3000; round++) {
		struct box b;
		struct ledger l = {};
		uint64_t each[KINDS] = { 1, 1 + draw(&seed, 8), 1 + draw(&seed, 4) };
		bool several = draw(&seed, 3) == 0, spread = draw(&seed, 3) == 0;
		uint32_t cut = (uint32_t)draw(&seed, GPUS + 1);
		box_begin(&b, 2, 20);
		for (uint32_t part = 0; part < 2; part++) {
			uint32_t first = part ? cut : 0, count = part ? GPUS - cut : cut;
			if (!count)
				continue;
			add_gpus(&b, part ? "b" : "a", first, count, draw(&seed, 2) ? (int)part : -1);
			for (uint32_t k = 1; k < KINDS; k++) {
				struct node_gres *g = add_parts(&b, k == 1 ? "shard" : "mps", part ? "b" : "a", first,
								count, (uint32_t)each[k]);
				g->several = several;
				g->spread = spread;
			}
		}
		box_end(&b);
		for (int job = 0; job < 12; job++) {
			uint32_t kind = (uint32_t)draw(&seed, KINDS);
			uint64_t count = 1 + draw(&seed, kind ? each[kind] + 2 : 3);
			static const char *const names[] = { "gpu", "shard", "mps" };
			char text[32];
			snprintf(text, sizeof(text), "%s:%llu", names[kind], (unsigned long long)count);
			struct ask ask = { .gres = text };
			struct fit fit;
			if (!place(&b, &ask, &fit)) {
				assert_false(could_be_given(&l, kind, count, each, several));
				continue;
			}
			uint64_t got = 0;
			for (uint32_t i = 0; i < fit.alloc[0].n_gres; i++) {
				const struct gres_alloc *g = &fit.alloc[0].gres[i];
				assert_string_equal(g->name, names[kind]);
				enter(&l, g, each);
				got += g->count;
			}
			assert_int_equal(got, count);
			if (kind && !several)
				assert_int_equal(fit.alloc[0].n_gres, 1);
		}
		box_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dgx),	      cmocka_unit_test(test_far_cores),
		cmocka_unit_test(test_pairs),	      cmocka_unit_test(test_many_devices),
		cmocka_unit_test(test_interleaved),   cmocka_unit_test(test_bindings),
		cmocka_unit_test(test_per_socket),    cmocka_unit_test(test_shards),
		cmocka_unit_test(test_shards_or_mps), cmocka_unit_test(test_several_gpus),
		cmocka_unit_test(test_tasks_and_parts), cmocka_unit_test(test_exclusive),
		cmocka_unit_test(test_counts),	      cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
