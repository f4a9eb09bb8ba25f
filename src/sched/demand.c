/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/demand.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/distribution.h"
#include "sched/features.h"
#include "schema/errors.h"
#include "sched/gresrules.h"

#include <string.h>

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

/* sbatch(1) -C: counts take so many nodes, whatever else is left open. */
static int count_featured(const struct resource_request *r, struct demand *d, struct error *err)
{
	struct constraint *c;
	if (str_empty(r->constraint) || !strchr(r->constraint, '*'))
		return 0;
	AUTO_ARENA struct arena *a = arena_new();
	if (constraint_parse(r->constraint, a, &c, err) < 0)
		return error_wrap(err, -E_INVALID_FEATURE, "--constraint");
	uint32_t counted = features_nodes(c), most = d->nodes_max ? d->nodes_max : counted;
	if (r->has_ntasks && r->ntasks < most)
		most = r->ntasks;
	if (counted > most)
		return error_set(err, -E_TOO_MANY_NODES,
				 "--constraint=%.80s counts %u nodes, but the job has at most %u", r->constraint,
				 counted, most);
	if (d->nodes_min < counted)
		d->nodes_min = counted;
	return 0;
}

/* The number of tasks and nodes: sbatch(1) -N, -n and --ntasks-per-node, in that relation. */
static int count_tasks(const struct resource_request *r, struct demand *d, struct error *err)
{
	d->tasks_per_node = r->has_ntasks_per_node ? r->ntasks_per_node : 0;
	d->nodes_min = r->nodes_min ? r->nodes_min : 1;
	d->nodes_max = r->nodes_max ? r->nodes_max : r->nodes_min;
	int e = count_featured(r, d, err);
	if (e < 0)
		return e;
	if (r->has_ntasks) {
		d->ntasks = r->ntasks;
		if (d->ntasks == 0)
			return error_set(err, -E_INVALID_TASKS, "--ntasks must be at least 1");
		if (d->nodes_min > d->ntasks)
			d->nodes_min = d->ntasks; /* a node without a task is of no use */
		if (!d->nodes_max || d->nodes_max > d->ntasks)
			d->nodes_max = d->ntasks;
		if (d->tasks_per_node && d->nodes_min < ceil_div(d->ntasks, d->tasks_per_node))
			d->nodes_min = ceil_div(d->ntasks, d->tasks_per_node);
		if (d->nodes_min > d->nodes_max)
			return error_set(err, -E_TOO_MANY_NODES,
					 "%u tasks at %u a node need %u nodes, but at most %u are asked for",
					 d->ntasks, d->tasks_per_node, d->nodes_min, d->nodes_max);
		return 0;
	}
	if (!d->nodes_max)
		d->nodes_max = d->nodes_min;
	d->tasks_follow_nodes = true;
	d->ntasks = d->nodes_min * (d->tasks_per_node ? d->tasks_per_node : 1);
	return 0;
}

/* sbatch(1) --gpus: every node of the job gets at least one of them. */
static int limit_by_gpus(struct demand *d, struct error *err)
{
	for (uint32_t i = 0; i < d->per_job.count; i++) {
		uint64_t count = d->per_job.at[i].count;
		if (count < d->nodes_min)
			return error_set(err, -E_INVALID_GRES,
					 "%s: %llu %s for %u nodes; every node of the job needs at least one",
					 enum_text(&error_code_enum, E_INVALID_GRES), (unsigned long long)count,
					 d->per_job.at[i].name, d->nodes_min);
		if (count < d->nodes_max)
			d->nodes_max = (uint32_t)count;
	}
	return 0;
}

bool demand_names_gres(const struct resource_request *r)
{
	return r->n_gres_per_node || r->n_gres_per_job || r->n_gres_per_task || r->n_gres_per_socket;
}

static bool one_thread(const struct resource_request *r)
{
	return str_eq(r->hint, "nomultithread") || str_eq(r->hint, "compute_bound") || str_eq(r->hint, "memory_bound");
}

uint32_t demand_threads(const struct resource_request *r)
{
	if (one_thread(r))
		return 1;
	return r->has_threads_per_core ? r->threads_per_core : 0;
}

/* sbatch(1) -B, --hint and their kin. */
static void shape(const struct resource_request *r, struct demand *d)
{
	d->ntasks_per_socket = r->has_ntasks_per_socket ? r->ntasks_per_socket : 0;
	d->ntasks_per_core = r->has_ntasks_per_core ? r->ntasks_per_core : 0;
	d->sockets_min = r->has_sockets_per_node ? r->sockets_per_node : 0;
	d->cores_min = r->has_cores_per_socket ? r->cores_per_socket : 0;
	d->threads_per_core = demand_threads(r);
	d->threads_min = r->has_threads_per_core && !one_thread(r) ? r->threads_per_core : 0;
	if (str_eq(r->hint, "memory_bound")) /* one task for each socket's memory */
		d->ntasks_per_socket = 1;
}

int demand_from(const struct resource_request *r, struct demand *ret, struct error *err)
{
	struct demand d = { .request = r };
	struct resource_request q = *r; /* as written, then as it was meant */
	if (r->nodes_max && r->nodes_min > r->nodes_max)
		return error_set(err, -E_TOO_MANY_NODES, "at least %u and at most %u nodes cannot both be",
				 r->nodes_min, r->nodes_max);
	int e = gres_settle(&q, &d, err);
	if (e < 0 || (e = count_tasks(&q, &d, err)) < 0 || (e = limit_by_gpus(&d, err)) < 0)
		return e;
	d.cpus_per_task = r->has_cpus_per_task && r->cpus_per_task ? r->cpus_per_task : 1;
	d.cpus_min = r->has_mincpus ? r->mincpus : 0;
	d.cpus_per_gpu = r->has_cpus_per_gpu ? r->cpus_per_gpu : 0;
	d.overcommit = r->overcommit;
	d.fill_sockets = distribution_of(r->distribution).sockets == DIST_LEVEL_BLOCK;
	shape(&q, &d);
	d.exclusive = r->exclusive == EXCLUSIVE_KIND_NODE;
	d.exclusive_user = r->exclusive == EXCLUSIVE_KIND_USER;
	d.spares_cores = r->has_core_spec || r->has_thread_spec;
	d.spare_cores = r->has_core_spec ? r->core_spec : 0;
	d.spare_threads = r->has_thread_spec ? r->thread_spec : 0;
	d.whole_memory = (r->has_mem_per_node_mib && r->mem_per_node_mib == 0) ||
			 (!r->has_mem_per_node_mib && !r->has_mem_per_cpu_mib && !r->has_mem_per_gpu_mib);
	d.mem_per_node = r->has_mem_per_node_mib ? r->mem_per_node_mib : 0;
	d.mem_per_cpu = r->has_mem_per_cpu_mib ? r->mem_per_cpu_mib : 0;
	d.mem_per_gpu = r->has_mem_per_gpu_mib ? r->mem_per_gpu_mib : 0;
	*ret = d;
	return 0;
}
