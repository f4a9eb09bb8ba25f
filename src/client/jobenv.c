/* SPDX-License-Identifier: Apache-2.0 */
/* jobenv.c - see jobenv.h.
 *
 * One short function for each kind of schema/environment.def.  It writes the value of its variable
 * and returns true, or returns false when there is nothing to say; then the variable is removed, so
 * that a job submitted from within another one does not find that one's GPUs or array index.
 *
 * GPUs: devices are numbered as the node counts them (devices are not confined yet, so a program sees
 * all of them and the global index is the right one).  Which of the step's GPUs a task uses is
 * sched/gpubind.c's affair. */
#include "client/jobenv.h"

#include "base/arena.h"
#include "base/bitset.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/env.h"
#include "sched/cpubind.h"
#include "sched/distribution.h"
#include "sched/devices.h"
#include "sched/gpubind.h"
#include "sched/layout.h"
#include "schema/environment.h"
#include "schema/job.h"
#include "schema/node.h"
#include "text/counts.h"

#include <assert.h>

static_assert(
	(int)VARIABLE_SCOPES_BATCH == (int)JOBENV_BATCH &&
		(int)VARIABLE_SCOPES_TASK == (int)JOBENV_TASK &&
		(int)VARIABLE_SCOPES_ALLOC == (int)JOBENV_ALLOC,
	"the first row of environment.def names the scopes in the order of enum jobenv_scope");

struct source {
	const struct jobenv *j;
	enum jobenv_scope scope;
	const struct variable_row *row;
	const struct resource_request *request;
	const struct node_alloc
		*here; /* what the step (the job in an allocation's shell) has on this node */
	const struct env *env;
	struct arena *arena;
};

typedef bool (*value_fn)(const struct source *s, struct buf *out);

static const struct node_alloc *alloc_here(const struct jobenv *j)
{
	if (j->step)
		return j->node_pos < j->step->n_alloc ? &j->step->alloc[j->node_pos] : NULL;
	return j->node_pos < j->job->n_alloc ? &j->job->alloc[j->node_pos] : NULL;
}

static bool put_text(struct buf *out, const char *text)
{
	if (str_empty(text))
		return false;
	buf_puts(out, text);
	return true;
}

static bool put_number(struct buf *out, uint64_t n)
{
	buf_printf(out, "%llu", (unsigned long long)n);
	return true;
}

static bool put_optional(struct buf *out, bool has, uint64_t n)
{
	return has && put_number(out, n);
}

/* Identity of the job. */

static bool value_job_id(const struct source *s, struct buf *out)
{
	return put_number(out, s->j->job->id);
}

static bool value_job_name(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.name);
}

static bool value_user(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->user);
}

static bool value_uid(const struct source *s, struct buf *out)
{
	return put_number(out, s->j->job->uid);
}

static bool value_gid(const struct source *s, struct buf *out)
{
	return put_number(out, s->j->job->gid);
}

static bool value_group(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->group);
}

static bool value_account(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.account);
}

static bool value_qos(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.qos);
}

static bool value_partition(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->partition);
}

static bool value_reservation(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.reservation);
}

static bool value_dependency(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.dependency);
}

static bool value_licenses(const struct source *s, struct buf *out)
{
	const char *given = s->j->job->licenses_alloc; /* of alternatives the one it got */
	return put_text(out, str_empty(given) ? s->request->licenses : given);
}

static bool value_wckey(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.wckey);
}

static bool value_start_time(const struct source *s, struct buf *out)
{
	return put_number(out, (uint64_t)(s->j->job->start_time / USEC_PER_SEC));
}

static bool value_end_time(const struct source *s, struct buf *out)
{
	usec_t end = s->j->job->end_time;

	return put_optional(out, end != 0, (uint64_t)(end / USEC_PER_SEC));
}

static bool value_exclusive(const struct source *s, struct buf *out)
{
	return put_text(out, enum_text(&exclusive_kind_enum, (int)s->request->exclusive));
}

static bool value_oversubscribe(const struct source *s, struct buf *out)
{
	return put_text(out, s->request->oversubscribe ? "YES" : "NO");
}

static bool value_overcommit(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->overcommit, 1);
}

static bool value_cluster(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->cluster);
}

static bool value_conf_path(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->conf_path);
}

/* The submitting command knows better than -D, and says so in the environment it hands over. */
static bool value_submit_dir(const struct source *s, struct buf *out)
{
	const char *given = env_get(s->env, s->row->name);

	return put_text(out, given ? given : s->j->job->spec.work_dir);
}

static bool value_submit_host(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.submit_host);
}

static bool value_restart_count(const struct source *s, struct buf *out)
{
	uint32_t attempt = s->j->job->attempt;

	return put_optional(out, attempt > 1, attempt - 1);
}

/* Nodes and CPUs. */

static bool value_node_list(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->node_list);
}

static bool value_node_count(const struct source *s, struct buf *out)
{
	return put_number(out, s->j->job->n_alloc);
}

static bool value_cpus_per_node(const struct source *s, struct buf *out)
{
	const struct job *job = s->j->job;
	uint32_t *cpus = ARENA_ARRAY(s->arena, uint32_t, job->n_alloc + 1);

	for (uint32_t i = 0; i < job->n_alloc; i++)
		cpus[i] = bitset_count(&job->alloc[i].cores);
	counts_print(cpus, job->n_alloc, out);
	return job->n_alloc > 0;
}

/* A task asks about its step, everybody else about the job. */
static bool value_tasks_per_node(const struct source *s, struct buf *out)
{
	bool of_step = s->scope == JOBENV_TASK;
	const struct node_alloc *alloc = of_step ? s->j->step->alloc : s->j->job->alloc;
	uint32_t count = of_step ? s->j->step->n_alloc : s->j->job->n_alloc;
	uint32_t *tasks = ARENA_ARRAY(s->arena, uint32_t, count + 1);

	for (uint32_t i = 0; i < count; i++)
		tasks[i] = alloc[i].tasks;
	counts_print(tasks, count, out);
	return count > 0;
}

static bool value_segment_size(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_segment, s->request->segment);
}

static bool value_topology_addr(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->topology_addr);
}

static bool value_topology_pattern(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->topology_pattern);
}

static bool value_node_name(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->node_name);
}

static bool value_node_id(const struct source *s, struct buf *out)
{
	return put_number(out, s->j->node_pos);
}

static bool value_cpus_on_node(const struct source *s, struct buf *out)
{
	return s->here && put_number(out, bitset_count(&s->here->cores));
}

/* What was asked for. */

/* sbatch(1): SLURM_NTASKS is set when --ntasks or one of --ntasks-per-* was given. */
static bool value_ntasks(const struct source *s, struct buf *out)
{
	const struct resource_request *r = s->request;

	if (s->scope == JOBENV_TASK)
		return put_number(out, s->j->step->ntasks);
	return put_optional(out, r->has_ntasks || r->has_ntasks_per_node || r->has_ntasks_per_gpu,
			    s->j->job->ntasks);
}

static bool value_ntasks_per_node(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_ntasks_per_node, s->request->ntasks_per_node);
}

static bool value_ntasks_per_gpu(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_ntasks_per_gpu, s->request->ntasks_per_gpu);
}

static bool value_ntasks_per_core(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_ntasks_per_core, s->request->ntasks_per_core);
}

static bool value_ntasks_per_socket(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_ntasks_per_socket, s->request->ntasks_per_socket);
}

static bool value_cpus_per_task(const struct source *s, struct buf *out)
{
	const struct resource_request *r = s->request;

	if (s->scope == JOBENV_TASK)
		return put_optional(out, r->has_cpus_per_task || s->j->step->cpus_per_task > 1,
				    s->j->step->cpus_per_task);
	return put_optional(out, r->has_cpus_per_task, r->cpus_per_task);
}

static bool value_cpus_per_gpu(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_cpus_per_gpu, s->request->cpus_per_gpu);
}

static bool value_threads_per_core(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_threads_per_core, s->request->threads_per_core);
}

static bool value_mem_per_node(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_mem_per_node_mib, s->request->mem_per_node_mib);
}

static bool value_mem_per_cpu(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_mem_per_cpu_mib, s->request->mem_per_cpu_mib);
}

static bool value_mem_per_gpu(const struct source *s, struct buf *out)
{
	return put_optional(out, s->request->has_mem_per_gpu_mib, s->request->mem_per_gpu_mib);
}

/* The GPU entries of a request as the option was written: h100:4,a100:2 or 4. */
static bool put_gpus(struct buf *out, const struct gres_request *g, uint32_t count)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		if (!str_eq(g[i].name, "gpu"))
			continue;
		buf_puts(out, any ? "," : "");
		if (!str_empty(g[i].type))
			buf_printf(out, "%s:", g[i].type);
		put_number(out, g[i].count);
		any = true;
	}
	return any;
}

static bool value_gpus(const struct source *s, struct buf *out)
{
	return put_gpus(out, s->request->gres_per_job, s->request->n_gres_per_job);
}

static bool value_gpus_per_node(const struct source *s, struct buf *out)
{
	return put_gpus(out, s->request->gres_per_node, s->request->n_gres_per_node);
}

static bool value_gpus_per_socket(const struct source *s, struct buf *out)
{
	return put_gpus(out, s->request->gres_per_socket, s->request->n_gres_per_socket);
}

static bool value_gpu_bind(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->job->spec.gpu_bind);
}

/* What each task was promised for itself: by the step's own options, or by the job's. */
static const struct gres_request *per_task(const struct source *s, uint32_t *ret_count)
{
	bool of_step = s->scope == JOBENV_TASK && s->j->step->n_gres_per_task;

	*ret_count = of_step ? s->j->step->n_gres_per_task : s->request->n_gres_per_task;
	return of_step ? s->j->step->gres_per_task : s->request->gres_per_task;
}

static bool value_tres_per_task(const struct source *s, struct buf *out)
{
	const struct resource_request *r = s->request;
	uint32_t count;
	const struct gres_request *g = per_task(s, &count);

	if (r->has_cpus_per_task)
		buf_printf(out, "cpu=%u", r->cpus_per_task);
	for (uint32_t i = 0; i < count; i++, g++)
		buf_printf(out, "%sgres/%s%s%s=%llu", out->len ? "," : "", g->name,
			   str_empty(g->type) ? "" : ":", str_empty(g->type) ? "" : g->type,
			   (unsigned long long)g->count);
	return out->len > 0;
}

/* 0 when tasks share. */
static uint64_t gpus_per_task(const struct source *s)
{
	static const struct step none = {};

	return gpubind_per_task(s->scope == JOBENV_TASK ? s->j->step : &none, s->request);
}

static bool value_tres_bind(const struct source *s, struct buf *out)
{
	const char *given = s->scope == JOBENV_TASK ? s->j->step->gpu_bind : s->j->job->spec.gpu_bind;
	uint64_t each = gpus_per_task(s);

	if (!str_empty(given))
		buf_printf(out, "gres/gpu:%s", given);
	else if (each)
		buf_printf(out, "gres/gpu:per_task:%llu", (unsigned long long)each);
	return out->len > 0;
}

static bool value_distribution(const struct source *s, struct buf *out)
{
	const struct job *j = s->j->job;

	if (s->scope == JOBENV_TASK)
		distribution_print(s->j->step->distribution, s->j->step->ntasks,
				   s->j->step->n_alloc, out);
	else if (!str_empty(j->spec.distribution))
		distribution_print(j->spec.distribution, j->ntasks, j->n_alloc, out);
	return out->len > 0;
}

static bool value_plane_size(const struct source *s, struct buf *out)
{
	struct distribution d = distribution_of(s->scope == JOBENV_TASK
							? s->j->step->distribution
							: s->j->job->spec.distribution);

	return put_optional(out, d.nodes == DIST_NODES_PLANE, d.plane);
}

/* The task and its step. */

static bool value_task_id(const struct source *s, struct buf *out)
{
	return put_number(out, s->scope == JOBENV_TASK ? s->j->task_id : 0);
}

static bool value_local_id(const struct source *s, struct buf *out)
{
	return put_number(out, s->scope == JOBENV_TASK ? s->j->local_id : 0);
}

static bool value_task_ids(const struct source *s, struct buf *out)
{
	uint32_t count = 0;
	uint32_t *ids;

	if (s->scope != JOBENV_TASK)
		return put_number(out, 0);
	ids = layout_tasks(s->j->step, s->j->node_pos, s->arena, &count);
	for (uint32_t i = 0; i < count; i++)
		buf_printf(out, "%s%u", i ? "," : "", ids[i]);
	return count > 0;
}

static bool value_pid(const struct source *s, struct buf *out)
{
	return put_optional(out, s->j->pid != 0, s->j->pid);
}

/* Special steps show as the negative numbers that they have in Slurm: -5 is the batch script. */
static bool value_step_id(const struct source *s, struct buf *out)
{
	buf_printf(out, "%d", (int32_t)s->j->step->id);
	return true;
}

static bool value_step_node_list(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->step->node_list);
}

static bool value_step_node_count(const struct source *s, struct buf *out)
{
	return put_number(out, s->j->step->n_alloc);
}

static bool value_srun_addr(const struct source *s, struct buf *out)
{
	return put_text(out, s->j->srun_addr);
}

static bool value_srun_port(const struct source *s, struct buf *out)
{
	return put_optional(out, s->j->step->srun_port != 0, s->j->step->srun_port);
}

static bool value_fixed(const struct source *s, struct buf *out)
{
	return put_text(out, s->row->value);
}

static bool value_preset(const struct source *s, struct buf *out)
{
	const char *given = env_get(s->env, s->row->name);

	return put_text(out, given ? given : s->row->value);
}

/* Arrays. */

static bool is_array_task(const struct source *s)
{
	return s->j->job->array_job_id != 0 && s->j->job->has_array_task_id;
}

static bool value_array_job_id(const struct source *s, struct buf *out)
{
	return put_optional(out, is_array_task(s), s->j->job->array_job_id);
}

static bool value_array_task_id(const struct source *s, struct buf *out)
{
	return put_optional(out, is_array_task(s), s->j->job->array_task_id);
}

static bool value_array_count(const struct source *s, struct buf *out)
{
	return put_optional(out, is_array_task(s), s->j->job->array_count);
}

static bool value_array_min(const struct source *s, struct buf *out)
{
	return put_optional(out, is_array_task(s), s->j->job->array_min);
}

static bool value_array_max(const struct source *s, struct buf *out)
{
	return put_optional(out, is_array_task(s), s->j->job->array_max);
}

static bool value_array_step(const struct source *s, struct buf *out)
{
	return put_optional(out, is_array_task(s), s->j->job->array_step);
}

/* Devices. */

static bool put_list(const struct bitset *set, struct buf *out)
{
	for (uint32_t i = bitset_next(set, 0); i != BITSET_NONE; i = bitset_next(set, i + 1))
		buf_printf(out, "%s%u", out->len ? "," : "", i);
	return out->len > 0;
}

static bool value_node_gpus(const struct source *s, struct buf *out)
{
	struct bitset gpus = {};

	if (s->here)
		gpus = gpubind_all(s->here, s->arena);
	return put_list(&gpus, out);
}

static bool value_task_gpus(const struct source *s, struct buf *out)
{
	const struct cpubind_result *bound = s->j->bound;
	struct gpubind_node how;
	struct bitset *sets;

	if (s->scope != JOBENV_TASK || !s->here || !bound || s->j->local_id >= bound->count)
		return value_node_gpus(s, out);
	how = gpubind_at(s->j->step, s->j->node_pos, s->request, bound->tasks);
	how.gres = s->j->gres;
	how.gres_count = s->j->gres_count;
	sets = gpubind_tasks(&how, s->arena, NULL);
	return put_list(&sets[s->j->local_id], out);
}

static const struct gres_alloc *alloc_of(const struct source *s, const char *name)
{
	for (uint32_t i = 0; s->here && i < s->here->n_gres; i++)
		if (str_eq(s->here->gres[i].name, name))
			return &s->here->gres[i];
	return NULL;
}

/* A program below an MPS server counts the GPUs that the server has, not those of the node. */
static bool value_visible_gpus(const struct source *s, struct buf *out)
{
	const struct gres_alloc *mps = alloc_of(s, "mps");

	if (!mps)
		return value_task_gpus(s, out);
	for (uint32_t i = 0; i < bitset_count(&mps->devices); i++)
		buf_printf(out, "%s%u", i ? "," : "", i);
	return out->len > 0;
}

/* The job's share of its GPU. */
static bool value_mps_percentage(const struct source *s, struct buf *out)
{
	const struct gres_alloc *mps = alloc_of(s, "mps");
	uint32_t gpu = mps ? bitset_next(&mps->devices, 0) : BITSET_NONE;

	for (uint32_t i = 0; gpu != BITSET_NONE && i < s->j->gres_count; i++) {
		const struct node_gres *g = &s->j->gres[i];
		if (str_eq(g->name, "mps") && gpu >= g->first && gpu - g->first < g->n_each)
			return put_number(out, mps->count * 100 / g->each[gpu - g->first]);
	}
	return false;
}

/* CPUs.  Nothing is said where nothing was asked for and the machine has not the node's CPUs. */

static bool tells_cpu_bind(const struct source *s)
{
	const struct cpubind_result *bound = s->j->bound;

	return bound && (s->j->really_bound || bound->how.kind != CPUBIND_AUTO);
}

static bool value_cpu_bind_verbose(const struct source *s, struct buf *out)
{
	return tells_cpu_bind(s) && put_text(out, s->j->bound->how.verbose ? "verbose" : "quiet");
}

static bool value_cpu_bind_type(const struct source *s, struct buf *out)
{
	if (!tells_cpu_bind(s))
		return false;
	return put_text(out, s->j->bound->kind == CPUBIND_NONE ? "none" : "mask_cpu:");
}

static bool value_cpu_bind_list(const struct source *s, struct buf *out)
{
	if (!tells_cpu_bind(s) || s->j->bound->kind == CPUBIND_NONE)
		return false;
	for (uint32_t t = 0; t < s->j->bound->count; t++) {
		buf_puts(out, t ? "," : "");
		cpubind_print_mask(s->j->cpu_node, &s->j->bound->tasks[t], out);
	}
	return true;
}

static bool value_cpu_bind(const struct source *s, struct buf *out)
{
	if (!value_cpu_bind_verbose(s, out))
		return false;
	buf_putc(out, ',');
	value_cpu_bind_type(s, out);
	value_cpu_bind_list(s, out);
	return true;
}

static uint64_t count_on_node(const struct source *s, const char *name)
{
	uint64_t total = 0;

	for (uint32_t i = 0; s->here && i < s->here->n_gres; i++) {
		const struct gres_alloc *g = &s->here->gres[i];
		if (str_eq(g->name, name))
			total += gres_alloc_count(g);
	}
	return total;
}

static bool value_gpus_on_node(const struct source *s, struct buf *out)
{
	uint64_t n = count_on_node(s, "gpu");

	return put_optional(out, n > 0, n);
}

static bool value_shards_on_node(const struct source *s, struct buf *out)
{
	uint64_t n = count_on_node(s, "shard");

	return put_optional(out, n > 0, n);
}

static const value_fn values[] = {
	[VARIABLE_KIND_JOB_ID] = value_job_id,
	[VARIABLE_KIND_JOB_NAME] = value_job_name,
	[VARIABLE_KIND_USER] = value_user,
	[VARIABLE_KIND_UID] = value_uid,
	[VARIABLE_KIND_GID] = value_gid,
	[VARIABLE_KIND_GROUP] = value_group,
	[VARIABLE_KIND_ACCOUNT] = value_account,
	[VARIABLE_KIND_QOS] = value_qos,
	[VARIABLE_KIND_PARTITION] = value_partition,
	[VARIABLE_KIND_RESERVATION] = value_reservation,
	[VARIABLE_KIND_DEPENDENCY] = value_dependency,
	[VARIABLE_KIND_LICENSES] = value_licenses,
	[VARIABLE_KIND_WCKEY] = value_wckey,
	[VARIABLE_KIND_START_TIME] = value_start_time,
	[VARIABLE_KIND_END_TIME] = value_end_time,
	[VARIABLE_KIND_EXCLUSIVE] = value_exclusive,
	[VARIABLE_KIND_OVERSUBSCRIBE] = value_oversubscribe,
	[VARIABLE_KIND_OVERCOMMIT] = value_overcommit,
	[VARIABLE_KIND_CLUSTER] = value_cluster,
	[VARIABLE_KIND_CONF_PATH] = value_conf_path,
	[VARIABLE_KIND_SUBMIT_DIR] = value_submit_dir,
	[VARIABLE_KIND_SUBMIT_HOST] = value_submit_host,
	[VARIABLE_KIND_RESTART_COUNT] = value_restart_count,
	[VARIABLE_KIND_NODE_LIST] = value_node_list,
	[VARIABLE_KIND_NODE_COUNT] = value_node_count,
	[VARIABLE_KIND_CPUS_PER_NODE] = value_cpus_per_node,
	[VARIABLE_KIND_TASKS_PER_NODE] = value_tasks_per_node,
	[VARIABLE_KIND_NODE_NAME] = value_node_name,
	[VARIABLE_KIND_SEGMENT_SIZE] = value_segment_size,
	[VARIABLE_KIND_TOPOLOGY_ADDR] = value_topology_addr,
	[VARIABLE_KIND_TOPOLOGY_PATTERN] = value_topology_pattern,
	[VARIABLE_KIND_NODE_ID] = value_node_id,
	[VARIABLE_KIND_CPUS_ON_NODE] = value_cpus_on_node,
	[VARIABLE_KIND_NTASKS] = value_ntasks,
	[VARIABLE_KIND_NTASKS_PER_NODE] = value_ntasks_per_node,
	[VARIABLE_KIND_NTASKS_PER_GPU] = value_ntasks_per_gpu,
	[VARIABLE_KIND_NTASKS_PER_CORE] = value_ntasks_per_core,
	[VARIABLE_KIND_NTASKS_PER_SOCKET] = value_ntasks_per_socket,
	[VARIABLE_KIND_CPUS_PER_TASK] = value_cpus_per_task,
	[VARIABLE_KIND_CPUS_PER_GPU] = value_cpus_per_gpu,
	[VARIABLE_KIND_THREADS_PER_CORE] = value_threads_per_core,
	[VARIABLE_KIND_MEM_PER_NODE] = value_mem_per_node,
	[VARIABLE_KIND_MEM_PER_CPU] = value_mem_per_cpu,
	[VARIABLE_KIND_MEM_PER_GPU] = value_mem_per_gpu,
	[VARIABLE_KIND_GPUS] = value_gpus,
	[VARIABLE_KIND_GPUS_PER_NODE] = value_gpus_per_node,
	[VARIABLE_KIND_GPUS_PER_SOCKET] = value_gpus_per_socket,
	[VARIABLE_KIND_GPU_BIND] = value_gpu_bind,
	[VARIABLE_KIND_TRES_PER_TASK] = value_tres_per_task,
	[VARIABLE_KIND_TRES_BIND] = value_tres_bind,
	[VARIABLE_KIND_DISTRIBUTION] = value_distribution,
	[VARIABLE_KIND_PLANE_SIZE] = value_plane_size,
	[VARIABLE_KIND_CPU_BIND] = value_cpu_bind,
	[VARIABLE_KIND_CPU_BIND_LIST] = value_cpu_bind_list,
	[VARIABLE_KIND_CPU_BIND_TYPE] = value_cpu_bind_type,
	[VARIABLE_KIND_CPU_BIND_VERBOSE] = value_cpu_bind_verbose,
	[VARIABLE_KIND_TASK_ID] = value_task_id,
	[VARIABLE_KIND_LOCAL_ID] = value_local_id,
	[VARIABLE_KIND_TASK_IDS] = value_task_ids,
	[VARIABLE_KIND_PID] = value_pid,
	[VARIABLE_KIND_STEP_ID] = value_step_id,
	[VARIABLE_KIND_STEP_NODE_LIST] = value_step_node_list,
	[VARIABLE_KIND_STEP_NODE_COUNT] = value_step_node_count,
	[VARIABLE_KIND_SRUN_ADDR] = value_srun_addr,
	[VARIABLE_KIND_SRUN_PORT] = value_srun_port,
	[VARIABLE_KIND_FIXED] = value_fixed,
	[VARIABLE_KIND_PRESET] = value_preset,
	[VARIABLE_KIND_ARRAY_JOB_ID] = value_array_job_id,
	[VARIABLE_KIND_ARRAY_TASK_ID] = value_array_task_id,
	[VARIABLE_KIND_ARRAY_COUNT] = value_array_count,
	[VARIABLE_KIND_ARRAY_MIN] = value_array_min,
	[VARIABLE_KIND_ARRAY_MAX] = value_array_max,
	[VARIABLE_KIND_ARRAY_STEP] = value_array_step,
	[VARIABLE_KIND_TASK_GPUS] = value_task_gpus,
	[VARIABLE_KIND_VISIBLE_GPUS] = value_visible_gpus,
	[VARIABLE_KIND_MPS_PERCENTAGE] = value_mps_percentage,
	[VARIABLE_KIND_NODE_GPUS] = value_node_gpus,
	[VARIABLE_KIND_GPUS_ON_NODE] = value_gpus_on_node,
	[VARIABLE_KIND_SHARDS_ON_NODE] = value_shards_on_node,
};

void jobenv_add(enum jobenv_scope scope, const struct jobenv *j, struct env *env)
{
	AUTO_ARENA struct arena *arena = arena_new();
	AUTO_BUF struct buf value = {};
	struct source s = {
		.j = j,
		.scope = scope,
		.request = &j->job->spec.request,
		.here = alloc_here(j),
		.env = env,
		.arena = arena,
	};

	for (size_t i = 0; i < VARIABLE_ROW_COUNT; i++) {
		s.row = &variables_table[i];
		if (!(s.row->scopes & scope))
			continue;
		buf_clear(&value);
		if (values[s.row->kind](&s, &value))
			env_set(env, s.row->name, "%s", buf_text(&value));
		else
			env_unset(env, s.row->name);
	}
}
