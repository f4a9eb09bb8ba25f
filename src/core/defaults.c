/* SPDX-License-Identifier: Apache-2.0 */
#include "core/defaults.h"

#include "base/arena.h"
#include "base/str.h"
#include "core/cluster.h"
#include "sched/limits.h"

static bool asks_for_gpus(const struct resource_request *r)
{
	const struct {
		const struct gres_request *at;
		uint32_t count;
	} lists[] = { { r->gres_per_job, r->n_gres_per_job },
		      { r->gres_per_node, r->n_gres_per_node },
		      { r->gres_per_socket, r->n_gres_per_socket },
		      { r->gres_per_task, r->n_gres_per_task } };
	for (size_t l = 0; l < ARRAY_COUNT(lists); l++)
		for (uint32_t i = 0; i < lists[l].count; i++)
			if (str_eq(lists[l].at[i].name, "gpu"))
				return true;
	return r->has_ntasks_per_gpu;
}

/* slurm.conf(5) DefMemPerGPU before DefMemPerCPU and DefMemPerNode; the partition's before the
 * cluster's. */
static void fill_memory(const struct settings *set, const struct partition_conf *p, struct resource_request *r)
{
	if (r->has_mem_per_node_mib || r->has_mem_per_cpu_mib || r->has_mem_per_gpu_mib)
		return;
	if (asks_for_gpus(r) && (p->has_def_mem_per_gpu_mib || set->has_def_mem_per_gpu)) {
		r->has_mem_per_gpu_mib = true;
		r->mem_per_gpu_mib = p->has_def_mem_per_gpu_mib ? p->def_mem_per_gpu_mib : set->def_mem_per_gpu;
	} else if (p->has_def_mem_per_cpu_mib || (!p->has_def_mem_per_node_mib && set->has_def_mem_per_cpu)) {
		r->has_mem_per_cpu_mib = true;
		r->mem_per_cpu_mib = p->has_def_mem_per_cpu_mib ? p->def_mem_per_cpu_mib : set->def_mem_per_cpu;
	} else if (p->has_def_mem_per_node_mib || set->has_def_mem_per_node) {
		r->has_mem_per_node_mib = true;
		r->mem_per_node_mib = p->has_def_mem_per_node_mib ? p->def_mem_per_node_mib : set->def_mem_per_node;
	}
}

/* slurm.conf(5) DefCpuPerGPU: unless the job says how many CPUs it wants in some way. */
static void fill_cpus(const struct settings *set, const struct partition_conf *p, struct resource_request *r)
{
	if (r->has_cpus_per_gpu || r->has_cpus_per_task || !asks_for_gpus(r) ||
	    (!p->has_def_cpu_per_gpu && !set->has_def_cpu_per_gpu))
		return;
	r->has_cpus_per_gpu = true;
	r->cpus_per_gpu = p->has_def_cpu_per_gpu ? p->def_cpu_per_gpu : set->def_cpu_per_gpu;
}

/* sbatch(1) --mem-per-cpu: more than a CPU may have is asked for as more CPUs with less each, and
 * --mem as at least so many CPUs on the node. */
static void raise_cpus(uint64_t most, struct resource_request *r)
{
	if (!most)
		return;
	if (r->has_mem_per_cpu_mib && r->mem_per_cpu_mib > most) {
		uint64_t ratio = (r->mem_per_cpu_mib + most - 1) / most;
		uint64_t cpus = (r->has_cpus_per_task && r->cpus_per_task ? r->cpus_per_task : 1) * ratio;
		r->has_cpus_per_task = true;
		r->cpus_per_task = cpus < INT32_MAX ? (uint32_t)cpus : INT32_MAX;
		r->mem_per_cpu_mib = (r->mem_per_cpu_mib + ratio - 1) / ratio;
	}
	uint64_t least = r->has_mem_per_node_mib ? (r->mem_per_node_mib + most - 1) / most : 0;
	if (least > 1 && (!r->has_mincpus || r->mincpus < least)) {
		r->has_mincpus = true;
		r->mincpus = least < INT32_MAX ? (uint32_t)least : INT32_MAX;
	}
}

void defaults_fill(const struct settings *set, const struct sched_view *v, const struct partition *p,
		   struct job_spec *s, struct arena *a)
{
	struct resource_request *r = &s->request;
	fill_memory(set, &p->conf, r);
	fill_cpus(set, &p->conf, r);
	raise_cpus(limits_memory(v, p).per_cpu, r);
	if (r->has_ntasks_per_gpu && str_empty(s->gpu_bind)) /* each GPU serves its own tasks */
		s->gpu_bind = arena_printf(a, "single:%u", r->ntasks_per_gpu);
	if (r->has_core_spec || r->has_thread_spec) /* nobody else may have what is set aside */
		r->exclusive = EXCLUSIVE_KIND_NODE;
	if (r->oversubscribe) /* a permission that no partition makes use of */
		r->oversubscribe = false;
}
