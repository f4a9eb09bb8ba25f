/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "base/error.h"
#include "sched/layout.h"
#include "text/licenses.h"

#include <stdio.h>

uint64_t world_draw(struct world *w, uint64_t below)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed % below;
}

struct decision world_decision(struct world *w)
{
	struct decision d;
	decision_init(&d, w->turn);
	return d;
}

void world_commit(struct world *w, struct decision *d)
{
	for (size_t i = 0; i < d->events.count; i++) {
		apply(&w->c, &d->events.at[i]);
		if (w->check)
			cluster_check(&w->c);
	}
	decision_done(d);
	arena_clear(w->turn);
}

static void configure(struct world *w, uint32_t nodes, uint32_t cpus, uint32_t gpus)
{
	struct configured_node *list = ARENA_ARRAY(w->turn, struct configured_node, nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		struct node_conf *conf = ARENA_NEW(w->turn, struct node_conf);
		*conf = (struct node_conf){ .name = arena_printf(w->turn, "n%u", i + 1),
					    .cpus = cpus,
					    .sockets = 2,
					    .cores_per_socket = cpus / 2,
					    .threads_per_core = 1,
					    .real_memory_mib = 1000 * cpus,
					    .weight = 1,
					    .features = arena_strdup(w->turn, i % 2 ? "odd" : "even,fast") };
		struct node_gres *gres = ARENA_ARRAY(w->turn, struct node_gres, 2);
		*gres = (struct node_gres){ .name = arena_strdup(w->turn, "gpu"),
					    .type = arena_strdup(w->turn, "h100"),
					    .count = gpus };
		bitset_init_in(&gres->used, gpus, w->turn);
		gres[1] = (struct node_gres){ .name = arena_strdup(w->turn, "shard"),
					      .type = arena_strdup(w->turn, "h100"),
					      .count = gpus * WORLD_SHARDS,
					      .n_each = gpus,
					      .each = ARENA_ARRAY(w->turn, uint32_t, gpus + 1) };
		for (uint32_t g = 0; g < gpus; g++)
			gres[1].each[g] = WORLD_SHARDS;
		list[i] = (struct configured_node){ conf, gres, gpus ? 2 : 0 };
	}
	struct partition_conf parts[] = {
		{ .name = arena_strdup(w->turn, "main"), .nodes = arena_printf(w->turn, "n[1-%u]", nodes),
		  .is_default = true, .priority_tier = 1 },
		{ .name = arena_strdup(w->turn, "half"), .nodes = arena_printf(w->turn, "n[1-%u]", (nodes + 1) / 2),
		  .priority_tier = 2, .max_time = USEC_PER_HOUR },
	};
	struct configuration conf = { list, nodes, parts, 2 };
	struct decision d = world_decision(w);
	struct error err = {};
	if (decide_configure(&w->c, &conf, w->now, &d, &err) < 0)
		fprintf(stderr, "configure: %s\n", err.text);
	world_commit(w, &d);
}

void world_register(struct world *w, uint32_t node, const char *boot_id)
{
	struct node_register request = { .name = w->c.nodes.at[node]->node.conf.name,
					 .facts = { .boot_id = arena_strdup(w->turn, boot_id) } };
	struct registration r = { &request, w->now };
	struct decision d = world_decision(w);
	uint32_t index;
	if (decide_register(&w->c, &r, &d, &index, NULL) == 0)
		cluster_set_link(&w->c, index, true, w->now);
	world_commit(w, &d);
}

void world_init(struct world *w, uint32_t nodes, uint32_t cpus, uint32_t gpus)
{
	*w = (struct world){ .now = 1000 * USEC_PER_SEC, .seed = 88172645463325252u, .check = true };
	w->turn = arena_new();
	cluster_init(&w->c);
	w->c.settings.max_array_size = 100000;
	w->c.settings.return_to_service = 2;
	snprintf(w->c.settings.gres_types, sizeof(w->c.settings.gres_types), "gpu,shard");
	w->c.settings.has_def_mem_per_cpu = true;
	w->c.settings.def_mem_per_cpu = 100;
	configure(w, nodes, cpus, gpus);
	for (uint32_t i = 0; i < nodes; i++)
		world_register(w, i, "boot-1");
}

void world_partition(struct world *w, const char *name, struct partition_conf conf)
{
	const struct partition *now = cluster_partition(&w->c, name);
	struct decision d = world_decision(w);
	struct partition_configured *ev = &decision_event(&d, EVENT_PARTITION_CONFIGURED)->partition_configured;
	ev->nodes = bitset_dup(&now->nodes, w->turn);
	ev->conf = conf;
	ev->conf.name = arena_strdup(w->turn, name);
	ev->conf.nodes = arena_strdup(w->turn, now->conf.nodes);
	ev->conf.is_default = now->conf.is_default;
	world_commit(w, &d);
}

void world_licenses(struct world *w, const char *totals)
{
	struct license_list l = {};
	struct error err = {};
	if (licenses_parse_totals(totals, w->turn, &l, &err) < 0)
		fprintf(stderr, "licenses: %s\n", err.text);
	cluster_set_licenses(&w->c, &l);
	cluster_check(&w->c);
}

void world_done(struct world *w)
{
	cluster_done(&w->c);
	arena_free(w->turn);
}

struct job_spec world_spec(uint32_t nodes, uint32_t tasks_per_node, uint32_t gpus_per_node)
{
	static struct gres_request gpus;
	static char name[] = "gpu", job[] = "job";
	gpus = (struct gres_request){ .name = name, .count = gpus_per_node };
	struct job_spec s = { .name = job, .batch = true };
	s.request.nodes_min = s.request.nodes_max = nodes;
	s.request.has_ntasks_per_node = true;
	s.request.ntasks_per_node = tasks_per_node;
	if (gpus_per_node) {
		s.request.gres_per_node = &gpus;
		s.request.n_gres_per_node = 1;
	}
	return s;
}

uint32_t world_submit(struct world *w, const struct job_spec *spec, struct error *err)
{
	static uint8_t script[] = "#!/bin/sh\ntrue\n";
	struct submit_request request = { .spec = *spec, .script = { script, sizeof(script) - 1 },
					  .token = 1 + world_draw(w, UINT64_MAX - 1) };
	struct submission s = { .request = &request, .caller = { w->uid ? w->uid : 1000, 1000, false }, .user = "ann",
				.group = "ann", .now = w->now };
	struct submit_reply reply = {};
	struct decision d = world_decision(w);
	if (decide_submit(&w->c, &s, &d, &reply, err) < 0)
		reply.job_id = 0;
	world_commit(w, &d);
	return reply.job_id;
}

uint32_t world_plan(struct world *w)
{
	struct arena *pass = arena_new();
	struct view *v = cluster_view(&w->c, VIEW_PENDING, w->now);
	struct plan plan = {};
	uint32_t started = 0;
	plan_make(&v->sched, 100000, pass, &plan);
	for (uint32_t i = 0; i < plan.start_count; i++) {
		struct decision d = world_decision(w);
		started += decide_start(&w->c, &plan.starts[i], i + 1, w->now, &d) == 0;
		world_commit(w, &d);
	}
	for (uint32_t i = 0; i < plan.verdict_count; i++)
		cluster_set_reason(&w->c, plan.verdicts[i].job_id, plan.verdicts[i].reason);
	cluster_view_release(&w->c, v);
	arena_free(pass);
	return started;
}

void world_end_batch(struct world *w, uint32_t job_id, uint32_t exit_code, bool clean)
{
	const struct job *j = cluster_job(&w->c, job_id);
	struct step_end end = { .job_id = job_id, .attempt = j->attempt, .step_id = STEP_BATCH,
				.exit_code = exit_code, .job_clean = clean };
	struct decision d = world_decision(w);
	decide_step_end(&w->c, j->alloc[0].node, &end, w->now, &d);
	world_commit(w, &d);
}
