/* SPDX-License-Identifier: Apache-2.0 */
/* What a request means in numbers, row by row: every rule between options, in the words of its refusal,
 * and every number that follows from others.  A row is written as the options would be. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/demand.h"
#include "text/gres.h"

#include "../cm.h"

#include <stdlib.h>
#include <string.h>

#define GRES "Invalid generic resource (gres) specification: "

struct list {
	struct gres_request **at;
	uint32_t *count;
};

static void add_gres(struct list to, const char *text, bool counts, struct arena *a)
{
	struct gres_spec *specs;
	uint32_t count;
	struct error err = {};
	int e = counts ? gres_parse_counts(text, "gpu", a, &specs, &count, &err) :
			 gres_parse(text, a, &specs, &count, &err);
	if (e < 0)
		fail_msg("%s: %s", text, err.text);
	*to.at = ARENA_ARRAY(a, struct gres_request, count + 1);
	for (uint32_t i = 0; i < count; i++)
		(*to.at)[i] = (struct gres_request){ specs[i].name, specs[i].type, specs[i].count };
	*to.count = count;
}

/* -N min[-max] */
static void read_nodes(struct resource_request *r, const char *value)
{
	r->nodes_min = (uint32_t)strtoul(value, NULL, 10);
	r->nodes_max = strchr(value, '-') ? (uint32_t)strtoul(strchr(value, '-') + 1, NULL, 10) : r->nodes_min;
}

static bool read_number(struct resource_request *r, const char *key, const char *value)
{
	uint32_t n = (uint32_t)strtoul(value, NULL, 10);
	const struct {
		const char *key;
		bool *has;
		uint32_t *at;
	} rows[] = {
		{ "n", &r->has_ntasks, &r->ntasks },
		{ "c", &r->has_cpus_per_task, &r->cpus_per_task },
		{ "ntasks-per-node", &r->has_ntasks_per_node, &r->ntasks_per_node },
		{ "ntasks-per-socket", &r->has_ntasks_per_socket, &r->ntasks_per_socket },
		{ "ntasks-per-core", &r->has_ntasks_per_core, &r->ntasks_per_core },
		{ "ntasks-per-gpu", &r->has_ntasks_per_gpu, &r->ntasks_per_gpu },
		{ "cpus-per-gpu", &r->has_cpus_per_gpu, &r->cpus_per_gpu },
		{ "sockets-per-node", &r->has_sockets_per_node, &r->sockets_per_node },
		{ "threads-per-core", &r->has_threads_per_core, &r->threads_per_core },
		{ "mincpus", &r->has_mincpus, &r->mincpus },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (!str_eq(rows[i].key, key))
			continue;
		*rows[i].has = true;
		*rows[i].at = n;
		return true;
	}
	return false;
}

static void read_option(struct resource_request *r, const char *key, const char *value, struct arena *a)
{
	struct list job = { &r->gres_per_job, &r->n_gres_per_job }, node = { &r->gres_per_node, &r->n_gres_per_node };
	struct list task = { &r->gres_per_task, &r->n_gres_per_task };
	struct list socket = { &r->gres_per_socket, &r->n_gres_per_socket };
	if (str_eq(key, "N"))
		read_nodes(r, value);
	else if (str_eq(key, "gpus"))
		add_gres(job, value, true, a);
	else if (str_eq(key, "gpus-per-node"))
		add_gres(node, value, true, a);
	else if (str_eq(key, "gpus-per-task"))
		add_gres(task, value, true, a);
	else if (str_eq(key, "gpus-per-socket"))
		add_gres(socket, value, true, a);
	else if (str_eq(key, "gres"))
		add_gres(node, value, false, a);
	else if (str_eq(key, "tres-per-task"))
		add_gres(task, value, false, a);
	else if (str_eq(key, "gpu-freq"))
		r->gpu_freq = arena_strdup(a, value);
	else if (str_eq(key, "hint"))
		r->hint = arena_strdup(a, value);
	else if (str_eq(key, "mem-per-gpu"))
		r->has_mem_per_gpu_mib = true, r->mem_per_gpu_mib = strtoull(value, NULL, 10);
	else if (str_eq(key, "mem"))
		r->has_mem_per_node_mib = true, r->mem_per_node_mib = strtoull(value, NULL, 10);
	else if (!read_number(r, key, value))
		fail_msg("no such option: %s", key);
}

static struct resource_request read_row(const char *text, struct arena *a)
{
	struct resource_request r = {};
	char *copy = arena_strdup(a, text), *at = copy;
	for (char *word; (word = strsep(&at, " "));) {
		char *equals = strchr(word, '=');
		if (!equals)
			fail_msg("no value: %s", word);
		*equals = '\0';
		read_option(&r, word, equals + 1, a);
	}
	return r;
}

static void print_want(const char *name, const struct gres_want *w, struct buf *out)
{
	for (uint32_t i = 0; i < w->count; i++)
		buf_printf(out, " %s=%s%s%s:%llu", name, w->at[i].name, w->at[i].type ? ":" : "",
			   w->at[i].type ? w->at[i].type : "", (unsigned long long)w->at[i].count);
}

/* Only what is not as in an empty request. */
static void print_demand(const struct demand *d, struct buf *out)
{
	buf_printf(out, "nodes=%u", d->nodes_min);
	if (d->nodes_max != d->nodes_min)
		buf_printf(out, "-%u", d->nodes_max);
	buf_printf(out, " tasks=%u%s", d->ntasks, d->tasks_follow_nodes ? "" : "!");
	const struct {
		const char *name;
		uint32_t value, usual;
	} rows[] = { { "per_node", d->tasks_per_node, 0 },       { "per_socket", d->ntasks_per_socket, 0 },
		     { "per_core", d->ntasks_per_core, 0 },      { "per_gpu", d->tasks_per_gpu, 0 },
		     { "cpus", d->cpus_per_task, 1 },            { "cpus_min", d->cpus_min, 0 },
		     { "cpus_per_gpu", d->cpus_per_gpu, 0 },     { "sockets", d->sockets_min, 0 },
		     { "threads", d->threads_per_core, 0 },      { "threads_min", d->threads_min, 0 } };
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].value != rows[i].usual)
			buf_printf(out, " %s=%u", rows[i].name, rows[i].value);
	print_want("job", &d->per_job, out);
	print_want("node", &d->per_node, out);
	print_want("socket", &d->per_socket, out);
	print_want("task", &d->per_task, out);
}

struct row {
	const char *asked, *want;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {};
		struct resource_request r = read_row(rows[i].asked, a);
		struct demand d;
		struct error err = {};
		if (demand_from(&r, &d, &err) < 0)
			buf_puts(&out, err.text);
		else
			print_demand(&d, &out);
		if (!str_eq(buf_text(&out), rows[i].want))
			fail_msg("%s:\n have %s\n want %s", rows[i].asked, buf_text(&out), rows[i].want);
	}
}

static void nodes_and_tasks(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "N=1", "nodes=1 tasks=1" },
		{ "N=4 ntasks-per-node=8", "nodes=4 tasks=32 per_node=8" },
		{ "N=4 n=4 ntasks-per-node=4", "nodes=4 tasks=4! per_node=4" },
		{ "n=10 ntasks-per-node=4", "nodes=3-10 tasks=10! per_node=4" },
		{ "N=2 n=5", "nodes=2 tasks=5!" },
		{ "N=4 n=2", "nodes=2 tasks=2!" },
		{ "N=2-4 n=8 c=3", "nodes=2-4 tasks=8! cpus=3" },
		{ "N=1 n=8 ntasks-per-node=4",
		  "8 tasks at 4 a node need 2 nodes, but at most 1 are asked for" },
		{ "n=2 hint=nomultithread", "nodes=1-2 tasks=2! threads=1" },
		{ "n=2 threads-per-core=1", "nodes=1-2 tasks=2! threads=1 threads_min=1" },
		{ "n=2 hint=memory_bound", "nodes=1-2 tasks=2! per_socket=1 threads=1" },
		{ "N=1 mincpus=6", "nodes=1 tasks=1 cpus_min=6" },
	};
	check(rows, ARRAY_COUNT(rows));
}

static void gpus_alone(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "N=2 gpus-per-node=4", "nodes=2 tasks=2 node=gpu:4" },
		{ "N=2 gpus=4", "nodes=2 tasks=2 job=gpu:4" },
		{ "n=4 gpus-per-task=1", "nodes=1-4 tasks=4! task=gpu:1" },
		{ "N=2 ntasks-per-node=4 gpus-per-task=1", "nodes=2 tasks=8 per_node=4 task=gpu:1" },
		{ "N=1 gres=gpu:h100:2,shard:0", "nodes=1 tasks=1 node=gpu:h100:2" },
		{ "N=1 gres=gpu:1,gpu:2", "nodes=1 tasks=1 node=gpu:3" },
		{ "N=1 gres=gpu:a:1,gpu:b:2", "nodes=1 tasks=1 node=gpu:a:1 node=gpu:b:2" },
		{ "N=4 gpus=2", GRES "2 gpu for 4 nodes; every node of the job needs at least one" },
		{ "N=1 gpus=2 cpus-per-gpu=8", "nodes=1 tasks=1 cpus_per_gpu=8 job=gpu:2" },
	};
	check(rows, ARRAY_COUNT(rows));
}

/* The twelve of slurm-facts 2.1, by their number. */
static void rules(void **state)
{
	(void)state;
	static const struct row rows[] = {
		/* 1 */
		{ "N=1 gpus=2 gpus-per-node=4",
		  GRES "--gpus=2 is less than --gpus-per-node=4; one node alone would take more than the job" },
		{ "N=1 gpus=2 gpus-per-task=4",
		  GRES "--gpus=2 is less than --gpus-per-task=4; one task alone would take more than the job" },
		{ "N=1 gpus=2 gpus-per-socket=4 sockets-per-node=1",
		  GRES "--gpus=2 is less than --gpus-per-socket=4; one socket alone would take more than the job" },
		{ "N=1 gpus-per-node=2 gpus-per-task=4",
		  GRES "--gpus-per-node=2 is less than --gpus-per-task=4; one task alone would take more than its node" },
		{ "N=1 gpus-per-node=2 gpus-per-socket=4",
		  GRES "--gpus-per-node=2 is less than --gpus-per-socket=4; one socket alone would take more than the "
		       "node" },
		/* 2 */
		{ "N=1 gpus-per-socket=2",
		  GRES "--gpus-per-socket=2 needs --sockets-per-node to tell how many sockets of a node are meant" },
		{ "N=1 gpus-per-socket=2 sockets-per-node=2", "nodes=1 tasks=1 sockets=2 socket=gpu:2" },
		/* 3 */
		{ "gpus=8 gpus-per-node=4", "nodes=2 tasks=2 node=gpu:4" },
		{ "N=1-4 gpus=8 gpus-per-node=4", "nodes=2 tasks=2 node=gpu:4" },
		{ "gpus=9 gpus-per-node=4", GRES "--gpus=9 is not a multiple of --gpus-per-node=4; 8 or 12 would be" },
		{ "N=4 gpus=8 gpus-per-node=4",
		  GRES "--gpus=8 with --gpus-per-node=4 takes 2 nodes, but --nodes=4 allows others" },
		{ "N=3-4 gpus=8 gpus-per-node=4",
		  GRES "--gpus=8 with --gpus-per-node=4 takes 2 nodes, but --nodes=3-4 allows others" },
		/* 4 */
		{ "N=1 gpus-per-node=4 gpus-per-socket=2", "nodes=1 tasks=1 sockets=2 socket=gpu:2" },
		{ "N=1 gpus-per-node=4 gpus-per-socket=3",
		  GRES "--gpus-per-node=4 is not a multiple of --gpus-per-socket=3" },
		{ "N=1 gpus-per-node=4 gpus-per-socket=2 sockets-per-node=4",
		  GRES "--gpus-per-node=4 with --gpus-per-socket=2 takes 2 sockets, but --sockets-per-node=4" },
		{ "gpus=8 gpus-per-socket=2 sockets-per-node=2", "nodes=2 tasks=2 sockets=2 socket=gpu:2" },
		/* 5 */
		{ "n=7 ntasks-per-gpu=2", GRES "--ntasks=7 is not a multiple of --ntasks-per-gpu=2" },
		{ "n=8 ntasks-per-gpu=2", "nodes=1-4 tasks=8! per_gpu=2 job=gpu:4" },
		{ "N=2 gpus=4 ntasks-per-gpu=2", "nodes=2 tasks=8! per_gpu=2 job=gpu:4" },
		{ "N=2 gpus-per-node=4 ntasks-per-gpu=2", "nodes=2 tasks=16 per_node=8 node=gpu:4" },
		{ "n=16 gpus-per-node=4 ntasks-per-gpu=2", "nodes=2-16 tasks=16! per_node=8 node=gpu:4" },
		{ "n=12 gpus-per-node=4 ntasks-per-gpu=2",
		  GRES "--ntasks=12 is not a multiple of the 8 tasks that --gpus-per-node=4 with --ntasks-per-gpu=2 makes "
		       "on each node" },
		{ "n=8 gpus=8 ntasks-per-gpu=2",
		  GRES "--ntasks=8 with --ntasks-per-gpu=2 takes 4 GPUs, but --gpus=8" },
		{ "N=1 ntasks-per-gpu=2", GRES "--ntasks-per-gpu=2 needs --ntasks or a number of GPUs" },
		{ "n=4 ntasks-per-gpu=2 gpus-per-task=1",
		  GRES "--ntasks-per-gpu and --gpus-per-task both say how tasks and GPUs go together; give one" },
		{ "n=4 ntasks-per-gpu=2 ntasks-per-node=2",
		  GRES "--ntasks-per-gpu and --ntasks-per-node both say how tasks and GPUs go together; give one" },
		/* 6 */
		{ "gpus=8 gpus-per-task=2", "nodes=1-4 tasks=4! task=gpu:2" },
		{ "gpus=8 gpus-per-task=3", GRES "--gpus=8 is not a multiple of --gpus-per-task=3" },
		{ "n=3 gpus=8 gpus-per-task=2",
		  GRES "--gpus=8 with --gpus-per-task=2 makes 4 tasks, but --ntasks=3; --gpus=6 would be right" },
		/* 7 */
		{ "N=1-4 gpus-per-task=2",
		  GRES "--gpus-per-task=2 needs --ntasks, --gpus or one number of --nodes to tell how many tasks there are" },
		{ "N=2 gpus-per-task=2", "nodes=2 tasks=2 task=gpu:2" },
		/* 8 */
		{ "N=2 gpus-per-node=4 gpus-per-task=2", "nodes=2 tasks=4 per_node=2 node=gpu:4" },
		{ "N=2 gpus-per-node=4 gpus-per-task=3", GRES "--gpus-per-node=4 is not a multiple of --gpus-per-task=3" },
		{ "N=2 gpus-per-node=4 gpus-per-task=2 ntasks-per-node=4",
		  GRES "--gpus-per-node=4 with --gpus-per-task=2 makes 2 tasks there, but --ntasks-per-node=4" },
		/* 9 */
		{ "N=1 n=4 gpus-per-socket=2 gpus-per-task=1 sockets-per-node=2",
		  "nodes=1 tasks=4! per_node=4 per_socket=2 sockets=2 socket=gpu:2" },
		{ "N=1 n=4 gpus-per-socket=2 gpus-per-task=1 sockets-per-node=2 ntasks-per-socket=1",
		  GRES "--gpus-per-socket=2 with --gpus-per-task=1 makes 2 tasks there, but --ntasks-per-socket=1" },
		/* 10 */
		{ "N=1 gres=gpu:1,shard:2", GRES "gpu and shard in one job; a GPU is given out whole or in shares" },
		{ "N=1 gres=mps:50 gpus=1", GRES "gpu and mps in one job; a GPU is given out whole or in shares" },
		{ "N=1 gres=shard:2 gpu-freq=low",
		  GRES "--gpu-freq and shard; the clock of a GPU that others share cannot be set" },
		{ "N=1 gres=shard:2", "nodes=1 tasks=1 node=shard:2" },
		/* 11 */
		{ "N=1 gres=gpu:1,gpu:h100:1",
		  GRES "gpu is asked for with and without a type; write gpu:h100 everywhere" },
		{ "N=1 gpus=h100:4 gpus-per-node=2",
		  GRES "gpu is asked for with and without a type; write gpu:h100 everywhere" },
		/* 12, and what needs GPUs */
		{ "N=1 cpus-per-gpu=4", GRES "--cpus-per-gpu without GPUs; add --gpus, --gpus-per-node or --gpus-per-task" },
		{ "N=1 mem-per-gpu=4", GRES "--mem-per-gpu without GPUs; add --gpus, --gpus-per-node or --gpus-per-task" },
		{ "n=4 ntasks-per-gpu=2 cpus-per-gpu=4", "nodes=1-2 tasks=4! per_gpu=2 cpus_per_gpu=4 job=gpu:2" },
	};
	check(rows, ARRAY_COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_and_tasks),
		cmocka_unit_test(gpus_alone),
		cmocka_unit_test(rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
