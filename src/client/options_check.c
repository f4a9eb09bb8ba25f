/* SPDX-License-Identifier: Apache-2.0 */
/* What single values cannot tell: options that exclude one another, and numbers that follow.
 *
 * The controller checks again what it must rely on; here the user gets an answer that names the
 * options.  Numbers are filled in only where they follow from what was asked: tasks from GPUs, the
 * range of nodes from tasks. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/options.h"
#include "schema/errors.h"
#include "sched/features.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

static int refuse(struct options *o, struct error *err, const char *text)
{
	o->exit_code = OPTION_EXIT_ERROR;
	return error_set(err, -EINVAL, "%s", text);
}

static int refuse_gres(struct options *o, struct error *err, const char *text)
{
	o->exit_code = OPTION_EXIT_ERROR;
	return error_set(err, -E_INVALID_GRES, "%s: %s",
			 enum_text(&error_code_enum, E_INVALID_GRES), text);
}

/* Two options of the same source; of different sources the higher one has won already.  A job's
 * variables tell its binding in two ways, which agree. */
static bool both_given(const struct options *o, const char *a, const char *b)
{
	enum option_source at = options_source(o, a);
	if (at == OPTION_ENV && str_eq(b, "tres-bind"))
		return false;
	return at != OPTION_UNSET && at == options_source(o, b);
}

static bool has_untyped_gpu(const struct gres_request *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].name, "gpu") && !list[i].type)
			return true;
	return false;
}

static bool has_typed_gpu(const struct gres_request *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].name, "gpu") && list[i].type)
			return true;
	return false;
}

static uint64_t count_gpus(const struct gres_request *list, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].name, "gpu"))
			sum += list[i].count;
	return sum;
}

/* Is one of name:type:count,... a GPU? */
static bool names_gpu(const char *list)
{
	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (str_starts(p, "gres/") || str_starts(p, "gres:"))
			p += 5;
		if (str_starts(p, "gpu") && strchr(":=,", p[3])) /* strchr finds the end, too */
			return true;
	}
	return false;
}

static int check_conflicts(struct options *o, struct error *err)
{
	static const struct {
		const char *a, *b;
	} pairs[] = { { "mem", "mem-per-cpu" },         { "mem", "mem-per-gpu" },
		      { "mem-per-cpu", "mem-per-gpu" }, { "cpus-per-task", "cpus-per-gpu" },
		      { "exclusive", "oversubscribe" }, { "gpu-bind", "tres-bind" },
		      { "nodelist", "nodefile" },       { "core-spec", "thread-spec" },
		      { "hint", "ntasks-per-core" },    { "hint", "threads-per-core" },
		      { "hint", "extra-node-info" },    { "ntasks-per-gpu", "gpus-per-task" },
		      { "ntasks-per-gpu", "gpus-per-socket" },
		      { "ntasks-per-gpu", "ntasks-per-node" },
		      { "ntasks-per-gpu", "tres-per-task" },
		      { "spread-segments", "consolidate-segments" } };
	for (size_t i = 0; i < ARRAY_COUNT(pairs); i++)
		if (both_given(o, pairs[i].a, pairs[i].b))
			return refuse(o, err,
				      arena_printf(o->arena, "--%s and --%s exclude each other",
						   pairs[i].a, pairs[i].b));
	struct job_spec *spec = &o->at.spec;
	if (spec->has_time_min && spec->has_time_limit && spec->time_limit &&
	    spec->time_min > spec->time_limit)
		return refuse(o, err, "--time-min is longer than --time");
	return 0;
}

/* Only whole segments make a job. */
static int check_segments(struct options *o, struct error *err)
{
	const struct resource_request *q = &o->at.spec.request;
	if (!q->has_segment && (q->spread_segments || q->consolidate_segments))
		return refuse(o, err, arena_printf(o->arena, "--%s-segments needs --segment",
						   q->spread_segments ? "spread" : "consolidate"));
	if (q->has_segment && q->nodes_min && q->nodes_min == q->nodes_max && q->nodes_min % q->segment)
		return refuse(o, err, arena_printf(o->arena, "--nodes=%u is not a multiple of --segment=%u", q->nodes_min,
						   q->segment));
	return 0;
}

static int check_types(struct options *o, struct error *err)
{
	const struct resource_request *q = &o->at.spec.request;
	const struct {
		const struct gres_request *list;
		uint32_t count;
	} lists[] = { { q->gres_per_job, q->n_gres_per_job },
		      { q->gres_per_node, q->n_gres_per_node },
		      { q->gres_per_task, q->n_gres_per_task },
		      { q->gres_per_socket, q->n_gres_per_socket } };
	for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
		if (has_untyped_gpu(lists[i].list, lists[i].count) &&
		    has_typed_gpu(lists[i].list, lists[i].count))
			return refuse_gres(o, err,
					   "GPUs are asked for both with and without a type");
	return 0;
}

/* --gpus with --gpus-per-node fixes the number of nodes. */
static int settle_nodes_by_gpus(struct options *o, uint64_t job, uint64_t node, struct error *err)
{
	struct resource_request *q = &o->at.spec.request;
	if (job % node)
		return refuse_gres(o, err, "--gpus is not a multiple of the GPUs per node");
	uint64_t nodes = job / node;
	bool listed = q->n_node_counts == 0;
	for (uint32_t i = 0; i < q->n_node_counts; i++)
		listed |= q->node_counts[i] == nodes;
	if (options_source(o, "nodes") != OPTION_UNSET &&
	    (nodes < q->nodes_min || nodes > q->nodes_max || !listed))
		return refuse_gres(
			o, err,
			arena_printf(o->arena,
				     "so many GPUs, with so many on each node, take %llu "
				     "nodes, and --nodes does not allow that",
				     (unsigned long long)nodes));
	q->nodes_min = q->nodes_max = (uint32_t)nodes;
	return 0;
}

/* --gpus-per-task needs to know how many tasks there are, or tells it. */
static int settle_tasks_by_gpus(struct options *o, uint64_t job, uint64_t task, struct error *err)
{
	struct resource_request *q = &o->at.spec.request;
	if (job) {
		if (job % task)
			return refuse_gres(o, err, "--gpus is not a multiple of --gpus-per-task");
		if (q->has_ntasks && q->ntasks != job / task)
			return refuse_gres(
				o, err,
				arena_printf(o->arena,
					     "--gpus and --gpus-per-task make %llu tasks, but "
					     "--ntasks is %u",
					     (unsigned long long)(job / task), q->ntasks));
		q->has_ntasks = true;
		q->ntasks = (uint32_t)(job / task);
	} else if (!q->has_ntasks) {
		bool fixed = options_source(o, "nodes") != OPTION_UNSET &&
			     q->nodes_min == q->nodes_max;
		if (!fixed)
			return refuse_gres(
				o, err,
				"--gpus-per-task needs --ntasks, --gpus or a fixed --nodes to tell how "
				"many tasks there are");
		q->has_ntasks = true;
		q->ntasks = q->nodes_min * (q->has_ntasks_per_node ? q->ntasks_per_node : 1);
	}
	return 0;
}

/* --ntasks-per-gpu with GPUs tells the tasks, with --ntasks the GPUs; unless said otherwise each task
 * uses one of the GPUs. */
static int settle_tasks_per_gpu(struct options *o, struct error *err)
{
	struct resource_request *q = &o->at.spec.request;
	uint64_t job = count_gpus(q->gres_per_job, q->n_gres_per_job);
	uint64_t node = count_gpus(q->gres_per_node, q->n_gres_per_node);
	uint64_t gpus = job ? job : node * q->nodes_min;
	if (!job && node && (!q->nodes_min || q->nodes_min != q->nodes_max))
		return refuse_gres(o, err,
				   "--ntasks-per-gpu with GPUs for each node needs a fixed --nodes");
	if (!gpus && !q->has_ntasks)
		return refuse_gres(o, err, "--ntasks-per-gpu needs a request for GPUs or --ntasks");
	if (!gpus && q->ntasks % q->ntasks_per_gpu)
		return refuse_gres(o, err, "--ntasks is not a multiple of --ntasks-per-gpu");
	if (!gpus) {
		q->gres_per_job = ARENA_NEW(o->arena, struct gres_request);
		q->gres_per_job[0].name = arena_strdup(o->arena, "gpu");
		q->gres_per_job[0].count = gpus = q->ntasks / q->ntasks_per_gpu;
		q->n_gres_per_job = 1;
	}
	if (gpus * q->ntasks_per_gpu > UINT32_MAX ||
	    (q->has_ntasks && q->ntasks != gpus * q->ntasks_per_gpu))
		return refuse_gres(o, err,
				   arena_printf(o->arena,
						"%llu GPUs and --ntasks-per-gpu make %llu tasks, "
						"but --ntasks is %u",
						(unsigned long long)gpus,
						(unsigned long long)gpus * q->ntasks_per_gpu,
						q->ntasks));
	q->has_ntasks = true;
	q->ntasks = (uint32_t)gpus * q->ntasks_per_gpu;
	if (!o->at.spec.gpu_bind)
		o->at.spec.gpu_bind = arena_printf(o->arena, "single:%u", q->ntasks_per_gpu);
	return 0;
}

static int check_gpus(struct options *o, struct error *err)
{
	struct resource_request *q = &o->at.spec.request;
	if (q->n_gres_per_socket && !q->has_sockets_per_node)
		return refuse_gres(o, err, "--gpus-per-socket needs --sockets-per-node");
	uint64_t job = count_gpus(q->gres_per_job, q->n_gres_per_job);
	uint64_t node = count_gpus(q->gres_per_node, q->n_gres_per_node);
	uint64_t task = count_gpus(q->gres_per_task, q->n_gres_per_task);
	if (both_given(o, "gres", "gpus-per-node") && names_gpu(options_value(o, "gres")))
		return refuse(
			o, err,
			"--gres=gpu and --gpus-per-node say the same thing; give one of them");
	if (job && job < node)
		return refuse_gres(o, err, "--gpus is less than the GPUs of one node");
	if (job && job < task)
		return refuse_gres(o, err, "--gpus is less than --gpus-per-task");
	if (node && node < task)
		return refuse_gres(o, err, "the GPUs of one node are fewer than --gpus-per-task");
	int r = job && node ? settle_nodes_by_gpus(o, job, node, err) : 0;
	if (r < 0 || !task)
		return r;
	if (node && node % task)
		return refuse_gres(o, err,
				   "the GPUs of one node are not a multiple of --gpus-per-task");
	if (node && q->has_ntasks_per_node && q->ntasks_per_node != node / task)
		return refuse_gres(o, err,
				   arena_printf(o->arena,
						"--gpus-per-task makes %llu tasks on a node, but "
						"--ntasks-per-node is %u",
						(unsigned long long)(node / task),
						q->ntasks_per_node));
	return settle_tasks_by_gpus(o, job, task, err);
}

/* The nodes that the counts of --constraint take; the controller says what is wrong with it. */
static uint32_t counted_nodes(struct options *o)
{
	struct constraint *c;
	const char *text = o->at.spec.request.constraint;
	if (str_empty(text) || constraint_parse(text, o->arena, &c, NULL) < 0)
		return 0;
	return features_nodes(c);
}

/* Without --nodes a job's number may be anything up to one task or GPU on each. */
static void default_nodes(struct options *o)
{
	struct resource_request *q = &o->at.spec.request;
	uint64_t most = count_gpus(q->gres_per_job, q->n_gres_per_job);
	q->nodes_min = 1;
	if (q->has_ntasks && q->has_ntasks_per_node)
		q->nodes_min = (q->ntasks + q->ntasks_per_node - 1) / q->ntasks_per_node;
	if (q->has_ntasks && q->ntasks > most)
		most = q->ntasks;
	if (q->nodes_min < counted_nodes(o))
		q->nodes_min = counted_nodes(o);
	q->nodes_max = most > q->nodes_min ? (uint32_t)most : q->nodes_min;
	if (q->nodes_max > q->nodes_min && !q->spread_job)
		q->use_min_nodes = true; /* nobody asked for more nodes than it takes */
}

/* A step takes the nodes it names; else 0 leaves the number to the controller. */
static void default_step_nodes(struct options *o)
{
	struct resource_request *q = &o->at.spec.request;
	struct hostlist list;
	if (q->node_list && hostlist_expand(q->node_list, o->arena, &list, NULL) == 0)
		q->nodes_min = q->nodes_max = list.count;
}

static void settle_nodes(struct options *o)
{
	struct resource_request *q = &o->at.spec.request;
	if (options_source(o, "nodes") == OPTION_UNSET && q->nodes_min == 0) {
		if (o->in_allocation)
			default_step_nodes(o);
		else
			default_nodes(o);
		return;
	}
	if (!q->has_ntasks || q->ntasks >= q->nodes_min || q->ntasks == 0)
		return;
	if (options_source(o, "nodes") != OPTION_ENV)
		vec_push(&o->warnings,
			 arena_printf(o->arena,
				      "warning: -n %u is less than the %u nodes of -N, using %u",
				      q->ntasks, q->nodes_min, q->ntasks));
	q->nodes_min = q->ntasks;
	q->n_node_counts = 0;
	if (q->nodes_max > q->ntasks)
		q->nodes_max = q->ntasks;
}

/* Cores can be set aside only where nobody else is. */
static void settle_specialized(struct resource_request *q)
{
	if ((q->has_core_spec || q->has_thread_spec) && q->exclusive == EXCLUSIVE_KIND_NO)
		q->exclusive = EXCLUSIVE_KIND_NODE;
}

int options_check(struct options *o, struct error *err)
{
	int r = check_conflicts(o, err);
	if (r < 0)
		return r;
	r = check_types(o, err);
	if (r < 0)
		return r;
	r = o->in_allocation ? 0 : check_gpus(o, err);
	if (r < 0)
		return r;
	r = o->at.spec.request.has_ntasks_per_gpu ? settle_tasks_per_gpu(o, err) : 0;
	if (r < 0)
		return r;
	settle_nodes(o);
	settle_specialized(&o->at.spec.request);
	r = options_read_hosts(o, err);
	return r < 0 || o->in_allocation ? r : check_segments(o, err);
}
