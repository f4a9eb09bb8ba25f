/* SPDX-License-Identifier: Apache-2.0 */
/* A resource can be asked for by job, node, socket and task at once, and tasks by GPU.  Every kind (name
 * and type) is looked at alone: its four numbers must be multiples of each other in the right order,
 * and where two are given the quotient says how many nodes, sockets or tasks there are.  Such a quotient
 * fills what was left open; it never replaces what was said.
 *
 * What is given out of a kind is one number in the end: by socket if asked so, else by node, by task, by
 * job.  The others then hold by themselves, because the quotients fix the numbers of nodes and tasks. */
#include "sched/gresrules.h"

#include "base/error.h"
#include "base/str.h"
#include "schema/errors.h"
#include "sched/demand.h"

#include <stdio.h>

/* The numbers of one kind; 0 where it is not asked for in that way. */
struct kind {
	const char *name, *type;
	uint64_t job, node, socket, task;
};

struct settling {
	struct resource_request *q;
	struct demand *d;
	struct error *err;
	struct gres_request implied; /* GPUs that follow from --ntasks-per-gpu */
};

typedef unsigned long long ull;

/* A quotient as a number of nodes or tasks; one beyond all clusters is merely too large. */
static uint32_t number(uint64_t quotient)
{
	return quotient < INT32_MAX ? (uint32_t)quotient : INT32_MAX;
}

static bool is_gpu(const char *name)
{
	return str_eq(name, "gpu");
}

/* The option as the user wrote it: --gpus-per-node=4, or --gres=shard:2 for what is no GPU. */
struct option_text {
	char at[128];
};

static struct option_text option_of(const struct kind *k, const char *per, uint64_t count)
{
	struct option_text t;
	const char *type = k->type ? k->type : "", *colon = k->type ? ":" : "";
	if (is_gpu(k->name))
		snprintf(t.at, sizeof(t.at), "--gpus%s=%s%s%llu", per, type, colon, (ull)count);
	else if (str_eq(per, "-per-node"))
		snprintf(t.at, sizeof(t.at), "--gres=%s:%s%s%llu", k->name, type, colon, (ull)count);
	else
		snprintf(t.at, sizeof(t.at), "%llu %s%s%s%s", (ull)count, k->name, colon, type,
			 str_empty(per) ? " for the job" : str_eq(per, "-per-task") ? " for each task" : " for each socket");
	return t;
}

#define JOB(k) option_of(k, "", (k)->job).at
#define NODE(k) option_of(k, "-per-node", (k)->node).at
#define SOCKET(k) option_of(k, "-per-socket", (k)->socket).at
#define TASK(k) option_of(k, "-per-task", (k)->task).at

/* "Invalid generic resource (gres) specification: ..." */
#define REFUSE(s, fmt, ...)                                                                        \
	error_set((s)->err, -E_INVALID_GRES, "%s: " fmt, enum_text(&error_code_enum, E_INVALID_GRES), \
		  __VA_ARGS__)

/* ---- one kind ---------------------------------------------------------------------------------- */

/* What is asked for a part cannot be more than what is asked for the whole. */
static int check_order(const struct settling *s, const struct kind *k)
{
	if (k->job && k->job < k->node)
		return REFUSE(s, "%s is less than %s; one node alone would take more than the job", JOB(k), NODE(k));
	if (k->job && k->job < k->socket)
		return REFUSE(s, "%s is less than %s; one socket alone would take more than the job", JOB(k), SOCKET(k));
	if (k->job && k->job < k->task)
		return REFUSE(s, "%s is less than %s; one task alone would take more than the job", JOB(k), TASK(k));
	if (k->node && k->node < k->socket)
		return REFUSE(s, "%s is less than %s; one socket alone would take more than the node", NODE(k),
			      SOCKET(k));
	if (k->node && k->node < k->task)
		return REFUSE(s, "%s is less than %s; one task alone would take more than its node", NODE(k), TASK(k));
	if (k->socket && k->socket < k->task)
		return REFUSE(s, "%s is less than %s; one task alone would take more than its socket", SOCKET(k),
			      TASK(k));
	return 0;
}

/* --gpus with --gpus-per-node says how many nodes there are. */
static int settle_nodes(struct settling *s, const struct kind *k)
{
	struct resource_request *q = s->q;
	if (!k->job || !k->node)
		return 0;
	if (k->job % k->node)
		return REFUSE(s, "%s is not a multiple of %s; %llu or %llu would be", JOB(k), NODE(k),
			      (ull)(k->job - k->job % k->node), (ull)(k->job - k->job % k->node + k->node));
	uint64_t nodes = k->job / k->node;
	uint32_t most = q->nodes_max ? q->nodes_max : q->nodes_min;
	if (q->nodes_min && (nodes < q->nodes_min || nodes > most))
		return REFUSE(s, "%s with %s takes %llu nodes, but --nodes=%u%s%.0u allows others", JOB(k), NODE(k),
			      (ull)nodes, q->nodes_min, most == q->nodes_min ? "" : "-",
			      most == q->nodes_min ? 0 : most);
	q->nodes_min = q->nodes_max = number(nodes);
	return 0;
}

/* --gpus-per-socket needs the number of sockets, which --gpus-per-node may tell. */
static int settle_sockets(struct settling *s, struct kind *k)
{
	struct resource_request *q = s->q;
	if (!k->socket)
		return 0;
	if (!k->node && !q->has_sockets_per_node)
		return REFUSE(s, "%s needs --sockets-per-node to tell how many sockets of a node are meant", SOCKET(k));
	if (!k->node) {
		k->node = k->socket * q->sockets_per_node;
		return 0;
	}
	if (k->node % k->socket)
		return REFUSE(s, "%s is not a multiple of %s", NODE(k), SOCKET(k));
	uint64_t sockets = k->node / k->socket;
	if (q->has_sockets_per_node && q->sockets_per_node != sockets)
		return REFUSE(s, "%s with %s takes %llu sockets, but --sockets-per-node=%u", NODE(k), SOCKET(k),
			      (ull)sockets, q->sockets_per_node);
	q->has_sockets_per_node = true;
	q->sockets_per_node = number(sockets);
	return 0;
}

/* --gpus-per-task with a larger whole says how many tasks there are in it. */
static int settle_tasks(const struct settling *s, const struct kind *k)
{
	struct resource_request *q = s->q;
	if (!k->task)
		return 0;
	if (k->job && k->job % k->task)
		return REFUSE(s, "%s is not a multiple of %s", JOB(k), TASK(k));
	if (k->job && q->has_ntasks && q->ntasks != k->job / k->task)
		return REFUSE(s, "%s with %s makes %llu tasks, but --ntasks=%u; --gpus=%llu would be right", JOB(k),
			      TASK(k), (ull)(k->job / k->task), q->ntasks, (ull)(q->ntasks * k->task));
	if (k->job && !q->has_ntasks) {
		q->has_ntasks = true;
		q->ntasks = number(k->job / k->task);
	}
	if (!q->has_ntasks && !k->node && q->nodes_max > q->nodes_min)
		return REFUSE(s, "%s needs --ntasks, --gpus or one number of --nodes to tell how many tasks there are",
			      TASK(k));
	return 0;
}

static int settle_tasks_of(const struct settling *s, const struct kind *k, uint64_t whole, const char *text,
			   bool *has, uint32_t *count, const char *option)
{
	if (!k->task || !whole)
		return 0;
	if (whole % k->task)
		return REFUSE(s, "%s is not a multiple of %s", text, TASK(k));
	if (*has && *count != whole / k->task)
		return REFUSE(s, "%s with %s makes %llu tasks there, but %s=%u", text, TASK(k),
			      (ull)(whole / k->task), option, *count);
	*has = true;
	*count = number(whole / k->task);
	return 0;
}

static int settle_kind(struct settling *s, struct kind *k)
{
	struct resource_request *q = s->q;
	int e;
	if ((e = check_order(s, k)) < 0 || (e = settle_sockets(s, k)) < 0 || (e = settle_nodes(s, k)) < 0 ||
	    (e = settle_tasks(s, k)) < 0)
		return e;
	if ((e = settle_tasks_of(s, k, k->node, NODE(k), &q->has_ntasks_per_node, &q->ntasks_per_node,
				 "--ntasks-per-node")) < 0)
		return e;
	return settle_tasks_of(s, k, k->socket, SOCKET(k), &q->has_ntasks_per_socket, &q->ntasks_per_socket,
			       "--ntasks-per-socket");
}

/* ---- all kinds --------------------------------------------------------------------------------- */

static uint64_t count_in(const struct gres_request *list, uint32_t count, const struct kind *k)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].name, k->name) && str_eq(list[i].type, k->type))
			total += list[i].count;
	return total;
}

struct list {
	const struct gres_request *at;
	uint32_t count;
};

enum { LISTS = 4 };

static void lists_of(const struct resource_request *q, struct list *ret)
{
	ret[0] = (struct list){ q->gres_per_job, q->n_gres_per_job };
	ret[1] = (struct list){ q->gres_per_node, q->n_gres_per_node };
	ret[2] = (struct list){ q->gres_per_socket, q->n_gres_per_socket };
	ret[3] = (struct list){ q->gres_per_task, q->n_gres_per_task };
}

static bool asks_for(const struct resource_request *q, const char *name)
{
	struct list lists[LISTS];
	lists_of(q, lists);
	for (uint32_t l = 0; l < LISTS; l++)
		for (uint32_t i = 0; i < lists[l].count; i++)
			if (str_eq(lists[l].at[i].name, name))
				return true;
	return false;
}

static bool same_kind(const struct gres_request *a, const struct gres_request *b)
{
	return str_eq(a->name, b->name) && str_eq(a->type, b->type);
}

/* Was the kind seen in an earlier place? */
static bool seen_before(const struct list *lists, uint32_t list, uint32_t at)
{
	for (uint32_t l = 0; l <= list; l++)
		for (uint32_t i = 0; i < (l == list ? at : lists[l].count); i++)
			if (same_kind(&lists[l].at[i], &lists[list].at[at]))
				return true;
	return false;
}

static int each_kind(struct settling *s)
{
	struct list lists[LISTS];
	lists_of(s->q, lists);
	for (uint32_t l = 0; l < LISTS; l++) {
		for (uint32_t i = 0; i < lists[l].count; i++) {
			if (seen_before(lists, l, i))
				continue;
			struct kind k = { .name = lists[l].at[i].name, .type = lists[l].at[i].type };
			k.job = count_in(lists[0].at, lists[0].count, &k);
			k.node = count_in(lists[1].at, lists[1].count, &k);
			k.socket = count_in(lists[2].at, lists[2].count, &k);
			k.task = count_in(lists[3].at, lists[3].count, &k);
			int e = settle_kind(s, &k);
			if (e < 0)
				return e;
		}
	}
	return 0;
}

/* gpu:2 and gpu:h100:2 in one request: does the first include the second? */
static int check_types(const struct settling *s)
{
	struct list lists[LISTS];
	lists_of(s->q, lists);
	for (uint32_t l = 0; l < LISTS; l++)
		for (uint32_t i = 0; i < lists[l].count; i++)
			for (uint32_t m = 0; m < LISTS && str_empty(lists[l].at[i].type); m++)
				for (uint32_t k = 0; k < lists[m].count; k++)
					if (str_eq(lists[m].at[k].name, lists[l].at[i].name) &&
					    !str_empty(lists[m].at[k].type))
						return REFUSE(s,
							      "%s is asked for with and without a type; write %s:%s everywhere",
							      lists[m].at[k].name, lists[m].at[k].name,
							      lists[m].at[k].type);
	return 0;
}

/* A GPU is given out whole or in shares, and its clock belongs to one job alone. */
static int check_shared(const struct settling *s)
{
	static const char *const shared[] = { "mps", "shard" };
	for (size_t i = 0; i < ARRAY_COUNT(shared); i++) {
		if (!asks_for(s->q, shared[i]))
			continue;
		if (asks_for(s->q, "gpu"))
			return REFUSE(s, "gpu and %s in one job; a GPU is given out whole or in shares", shared[i]);
		if (!str_empty(s->q->gpu_freq))
			return REFUSE(s, "--gpu-freq and %s; the clock of a GPU that others share cannot be set",
				      shared[i]);
	}
	return 0;
}

static int check_per_gpu(const struct settling *s)
{
	const struct resource_request *q = s->q;
	if ((!q->has_cpus_per_gpu && !q->has_mem_per_gpu_mib) || asks_for(q, "gpu") || q->has_ntasks_per_gpu)
		return 0;
	return REFUSE(s, "%s without GPUs; add --gpus, --gpus-per-node or --gpus-per-task",
		      q->has_cpus_per_gpu ? "--cpus-per-gpu" : "--mem-per-gpu");
}

/* ---- tasks by GPU ------------------------------------------------------------------------------ */

static uint64_t gpus_in(const struct gres_request *list, uint32_t count)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		total += is_gpu(list[i].name) ? list[i].count : 0;
	return total;
}

static int refuse_beside_tasks_per_gpu(const struct settling *s)
{
	const struct resource_request *q = s->q;
	const struct {
		bool given;
		const char *option;
	} rows[] = { { gpus_in(q->gres_per_task, q->n_gres_per_task) > 0, "--gpus-per-task" },
		     { gpus_in(q->gres_per_socket, q->n_gres_per_socket) > 0, "--gpus-per-socket" },
		     { q->has_ntasks_per_node, "--ntasks-per-node" } };
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].given)
			return REFUSE(s, "--ntasks-per-gpu and %s both say how tasks and GPUs go together; give one",
				      rows[i].option);
	if (q->ntasks_per_gpu == 0)
		return REFUSE(s, "--ntasks-per-gpu=%u; at least 1", 0u);
	return 0;
}

/* -n with --ntasks-per-gpu: so many GPUs, of any type. */
static int gpus_from_tasks(struct settling *s, uint64_t job, uint64_t node)
{
	struct resource_request *q = s->q;
	if (q->ntasks % q->ntasks_per_gpu)
		return REFUSE(s, "--ntasks=%u is not a multiple of --ntasks-per-gpu=%u", q->ntasks, q->ntasks_per_gpu);
	uint64_t gpus = q->ntasks / q->ntasks_per_gpu;
	if (job && job != gpus)
		return REFUSE(s, "--ntasks=%u with --ntasks-per-gpu=%u takes %llu GPUs, but --gpus=%llu", q->ntasks,
			      q->ntasks_per_gpu, (ull)gpus, (ull)job);
	if (job || node)
		return 0;
	s->implied = (struct gres_request){ .name = (char *)(uintptr_t) "gpu", .count = gpus };
	q->gres_per_job = &s->implied;
	q->n_gres_per_job = 1;
	return 0;
}

static int settle_tasks_per_gpu(struct settling *s)
{
	struct resource_request *q = s->q;
	if (!q->has_ntasks_per_gpu)
		return 0;
	uint64_t job = gpus_in(q->gres_per_job, q->n_gres_per_job);
	uint64_t node = gpus_in(q->gres_per_node, q->n_gres_per_node);
	int e = refuse_beside_tasks_per_gpu(s);
	if (e < 0)
		return e;
	if (!q->has_ntasks && !job && !node)
		return REFUSE(s, "--ntasks-per-gpu=%u needs --ntasks or a number of GPUs", q->ntasks_per_gpu);
	if (q->has_ntasks && (e = gpus_from_tasks(s, job, node)) < 0)
		return e;
	if (!q->has_ntasks && job) {
		q->has_ntasks = true;
		q->ntasks = number(job * q->ntasks_per_gpu);
	}
	if (node) { /* every node has as many tasks as its GPUs serve */
		q->has_ntasks_per_node = true;
		q->ntasks_per_node = number(node * q->ntasks_per_gpu);
		if (q->has_ntasks && q->ntasks % q->ntasks_per_node)
			return REFUSE(s,
				      "--ntasks=%u is not a multiple of the %u tasks that --gpus-per-node=%llu with "
				      "--ntasks-per-gpu=%u makes on each node",
				      q->ntasks, q->ntasks_per_node, (ull)node, q->ntasks_per_gpu);
	}
	s->d->tasks_per_gpu = node ? 0 : q->ntasks_per_gpu;
	return 0;
}

/* ---- what is given out -------------------------------------------------------------------------- */

static bool has_kind(const struct gres_request *list, uint32_t count, const struct gres_request *g)
{
	for (uint32_t i = 0; i < count; i++)
		if (same_kind(&list[i], g))
			return true;
	return false;
}

/* Does another way of asking for the same already fix it? */
static bool follows(const struct resource_request *q, uint32_t list, const struct gres_request *g)
{
	bool node = has_kind(q->gres_per_node, q->n_gres_per_node, g);
	bool socket = has_kind(q->gres_per_socket, q->n_gres_per_socket, g);
	bool task = has_kind(q->gres_per_task, q->n_gres_per_task, g);
	if (list == 0)
		return node || socket || task;
	return list == 1 ? socket : list == 3 && (node || socket);
}

/* The same kind twice in a list is its sum. */
static int want(const struct settling *s, struct gres_want *w, const struct gres_request *g)
{
	for (uint32_t i = 0; i < w->count; i++) {
		if (!same_kind(&w->at[i], g))
			continue;
		w->at[i].count += g->count;
		return 0;
	}
	if (w->count == GRES_WANT_MAX)
		return REFUSE(s, "more than %d kinds in one list", GRES_WANT_MAX);
	w->at[w->count++] = *g;
	return 0;
}

static int give_out(const struct settling *s)
{
	struct gres_want *wants[LISTS] = { &s->d->per_job, &s->d->per_node, &s->d->per_socket, &s->d->per_task };
	struct list lists[LISTS];
	lists_of(s->q, lists);
	for (uint32_t l = 0; l < LISTS; l++) {
		for (uint32_t i = 0; i < lists[l].count; i++) {
			int e = follows(s->q, l, &lists[l].at[i]) ? 0 : want(s, wants[l], &lists[l].at[i]);
			if (e < 0)
				return e;
		}
	}
	return 0;
}

int gres_settle(struct resource_request *q, struct demand *d, struct error *err)
{
	struct settling s = { .q = q, .d = d, .err = err };
	int e;
	if ((e = check_types(&s)) < 0 || (e = check_shared(&s)) < 0 || (e = check_per_gpu(&s)) < 0 ||
	    (e = settle_tasks_per_gpu(&s)) < 0 || (e = each_kind(&s)) < 0)
		return e;
	d->has_gpus = asks_for(q, "gpu");
	return give_out(&s);
}
