/* SPDX-License-Identifier: Apache-2.0 */
/* A step's share of its job: which of the job's nodes, and on each which CPUs and devices.
 *
 * By default a step takes every CPU that the job has on the step's nodes, with --exact only what its
 * tasks need; steps do not share unless --overlap says so.  When the share is merely taken at the
 * moment the refusal is -E_STEP_BUSY, so that the asker may wait; when the job is too small for it, it
 * is final.  The batch script's own step takes nothing from the others. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "sched/demand.h"
#include "sched/distribution.h"
#include "sched/layout.h"
#include "schema/errors.h"
#include "text/gres.h"
#include "text/hostlist.h"

struct share {
	const struct cluster *c;
	const struct job *j;
	const struct step_request *r;
	struct decision *out;
	struct error *err;
	uint32_t *nodes;  /* positions in the job's alloc */
	uint32_t count;
	uint32_t ntasks, cpus_per_task;
	uint32_t *room;      /* tasks that fit now */
	uint32_t *room_idle; /* tasks that would fit if no other step ran */
	uint32_t *tasks;
	uint32_t *task_nodes; /* -m arbitrary: the position of each task's node */
};

static const char *text_of(int code)
{
	return enum_text(&error_code_enum, code);
}

static bool counts_against_others(const struct step *s)
{
	return s->id < STEP_INTERACTIVE && !s->overlap;
}

/* CPUs of the job's node that other steps have not taken. */
static struct bitset free_cpus(const struct share *s, uint32_t pos)
{
	const struct node_alloc *a = &s->j->alloc[pos];
	struct bitset free = bitset_dup(&a->cores, s->out->arena);
	for (uint32_t i = 0; i < s->j->n_steps && !s->r->overlap; i++) {
		const struct step *other = &s->j->steps[i];
		int at = alloc_position(other->alloc, other->n_alloc, a->node);
		if (at >= 0 && counts_against_others(other) && !bitset_has(&other->ended, (uint32_t)at))
			bitset_minus(&free, &other->alloc[at].cores);
	}
	return free;
}

static bool name_in(const struct hostlist *h, const char *name)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (str_eq(h->names[i], name))
			return true;
	return false;
}

/* The job's nodes that the step may use, in the job's order. */
static int find_nodes(struct share *s)
{
	struct hostlist wanted = {}, excluded = {};
	struct arena *a = s->out->arena;
	int e;
	if (!str_empty(s->r->node_list) && (e = hostlist_expand(s->r->node_list, a, &wanted, s->err)) < 0)
		return error_wrap(s->err, e, "--nodelist");
	if (!str_empty(s->r->exclude) && (e = hostlist_expand(s->r->exclude, a, &excluded, s->err)) < 0)
		return error_wrap(s->err, e, "--exclude");
	s->nodes = ARENA_ARRAY(a, uint32_t, s->j->n_alloc + 1);
	uint32_t first = s->r->has_relative ? s->r->relative : 0;
	for (uint32_t i = first; i < s->j->n_alloc; i++) {
		const char *name = cluster_node(s->c, s->j->alloc[i].node)->conf.name;
		if (!name_in(&excluded, name) && (!wanted.count || name_in(&wanted, name)))
			s->nodes[s->count++] = i;
	}
	if (wanted.count > s->count)
		return error_set(s->err, -E_STEP_LIMIT, "%s: not every node of --nodelist=%s belongs to job %u (%s)",
				 text_of(E_STEP_LIMIT), s->r->node_list, s->j->id, s->j->node_list);
	return 0;
}

/* How many nodes and tasks: srun(1) -N and -n, the job's own where nothing is said. */
static int count_tasks(struct share *s)
{
	const struct step_request *r = s->r;
	uint32_t nodes = r->has_nodes_min && r->nodes_min ? r->nodes_min : s->count;
	if (r->has_nodes_max && r->nodes_max && nodes > r->nodes_max)
		nodes = r->nodes_max;
	if (nodes > s->count)
		return error_set(s->err, -E_STEP_LIMIT, "%s: %u nodes are asked for, %u can be used",
				 text_of(E_STEP_LIMIT), nodes, s->count);
	s->cpus_per_task = r->has_cpus_per_task && r->cpus_per_task ? r->cpus_per_task : 1;
	if (r->has_ntasks && r->ntasks)
		s->ntasks = r->ntasks;
	else
		s->ntasks = nodes * (r->has_ntasks_per_node ? r->ntasks_per_node : 1);
	if (s->ntasks < nodes)
		nodes = s->ntasks;
	s->count = nodes;
	return nodes ? 0 : error_set(s->err, -E_STEP_LIMIT, "%s: no node is left for the step", text_of(E_STEP_LIMIT));
}

static uint32_t room_in(const struct share *s, uint32_t cpus)
{
	uint32_t room = cpus / s->cpus_per_task;
	if (s->j->spec.request.overcommit && cpus)
		room = s->ntasks;
	if (s->r->has_ntasks_per_node && !s->r->has_ntasks && room > s->r->ntasks_per_node)
		room = s->r->ntasks_per_node;
	return room;
}

static uint64_t sum(const uint32_t *list, uint32_t count)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		total += list[i];
	return total;
}

static char **node_names(const struct share *s)
{
	char **names = ARENA_ARRAY(s->out->arena, char *, s->count + 1);
	for (uint32_t i = 0; i < s->count; i++)
		names[i] = cluster_node(s->c, s->j->alloc[s->nodes[i]].node)->conf.name;
	return names;
}

/* -m arbitrary: the list of hosts says how many tasks each node gets. */
static int deal_hosts(struct share *s)
{
	uint32_t count = 0;
	s->task_nodes = layout_hosts(s->r->task_hosts, node_names(s), s->count, s->out->arena, &count);
	if (!s->task_nodes || count != s->ntasks)
		return error_set(s->err, -E_STEP_LIMIT,
				 "%s: the nodes of SLURM_HOSTFILE are not those of the step (%u tasks)",
				 text_of(E_STEP_LIMIT), s->ntasks);
	for (uint32_t t = 0; t < count; t++)
		s->tasks[s->task_nodes[t]]++;
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->tasks[i] > s->room_idle[i])
			return error_set(s->err, -E_STEP_LIMIT,
					 "%s: SLURM_HOSTFILE puts %u tasks on %s, the job has room for %u there",
					 text_of(E_STEP_LIMIT), s->tasks[i], node_names(s)[i], s->room_idle[i]);
		if (s->tasks[i] > s->room[i])
			return error_set(s->err, -E_STEP_BUSY, "%s", text_of(E_STEP_BUSY));
	}
	return 0;
}

/* A step of all the job's tasks is laid out as the job was, as --test-only has said. */
static bool deal_as_job(const struct share *s, const struct distribution *d)
{
	bool own_way = d->pack || d->nodes == DIST_NODES_PLANE;
	if (s->count != s->j->n_alloc || s->ntasks != s->j->ntasks ||
	    (own_way && !str_eq(s->r->distribution, s->j->spec.distribution)))
		return false;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->nodes[i] != i || s->j->alloc[i].tasks > s->room[i] || !s->j->alloc[i].tasks)
			return false;
	for (uint32_t i = 0; i < s->count; i++)
		s->tasks[i] = s->j->alloc[i].tasks;
	return sum(s->tasks, s->count) == s->ntasks;
}

static int deal_tasks(struct share *s)
{
	struct distribution d = distribution_of(s->r->distribution);
	if (!str_empty(s->r->task_hosts))
		return deal_hosts(s);
	if (!deal_as_job(s, &d))
		layout_deal(&d, s->ntasks, s->room, s->count, s->tasks);
	return 0;
}

static int lay_out(struct share *s)
{
	struct arena *a = s->out->arena;
	s->room = ARENA_ARRAY(a, uint32_t, s->count);
	s->room_idle = ARENA_ARRAY(a, uint32_t, s->count);
	s->tasks = ARENA_ARRAY(a, uint32_t, s->count);
	bool busy = false;
	for (uint32_t i = 0; i < s->count; i++) {
		struct bitset free = free_cpus(s, s->nodes[i]);
		uint32_t have = bitset_count(&s->j->alloc[s->nodes[i]].cores), idle = bitset_count(&free);
		s->room_idle[i] = room_in(s, have);
		s->room[i] = s->r->exact || s->r->overlap || idle == have ? room_in(s, idle) : 0;
		busy |= s->room[i] == 0;
	}
	if (sum(s->room_idle, s->count) < s->ntasks)
		return error_set(s->err, -E_STEP_LIMIT,
				 "%s: %u tasks of %u CPUs are asked for, the job's %u nodes hold %llu",
				 text_of(E_STEP_LIMIT), s->ntasks, s->cpus_per_task, s->count,
				 (unsigned long long)sum(s->room_idle, s->count));
	if (busy || sum(s->room, s->count) < s->ntasks)
		return error_set(s->err, -E_STEP_BUSY, "%s", text_of(E_STEP_BUSY));
	return deal_tasks(s);
}

static void take_cpus(const struct share *s, uint32_t i, struct node_alloc *to)
{
	const struct node_alloc *from = &s->j->alloc[s->nodes[i]];
	struct bitset free = free_cpus(s, s->nodes[i]);
	if (!s->r->exact) {
		to->cores = free;
		return;
	}
	uint32_t want = s->tasks[i] * s->cpus_per_task;
	bitset_init_in(&to->cores, from->cores.bits, s->out->arena);
	for (uint32_t cpu = bitset_next(&free, 0); cpu != BITSET_NONE && want; cpu = bitset_next(&free, cpu + 1)) {
		bitset_add(&to->cores, cpu);
		want--;
	}
}

/* ---- devices ----------------------------------------------------------------------------------- */

/* Less of `g` is there when somebody has `used` of it. */
static void drop(struct gres_alloc *g, const struct gres_alloc *used)
{
	if (!str_eq(used->name, g->name) || !str_eq(used->type, g->type) || used->devices.bits != g->devices.bits)
		return;
	if (g->devices.bits && !gres_is_shared(g->name))
		bitset_minus(&g->devices, &used->devices);
	else if (!g->devices.bits || bitset_intersects(&g->devices, &used->devices))
		g->count -= used->count < g->count ? used->count : g->count;
}

/* What other steps have, and what an earlier part of the same request has taken already. */
static void drop_used(const struct share *s, const struct node_alloc *to, struct gres_alloc *g)
{
	for (uint32_t k = 0; k < to->n_gres; k++)
		drop(g, &to->gres[k]);
	for (uint32_t i = 0; i < s->j->n_steps && !s->r->overlap; i++) {
		const struct step *other = &s->j->steps[i];
		int at = alloc_position(other->alloc, other->n_alloc, to->node);
		if (at < 0 || !counts_against_others(other) || bitset_has(&other->ended, (uint32_t)at))
			continue;
		for (uint32_t k = 0; k < other->alloc[at].n_gres; k++)
			drop(g, &other->alloc[at].gres[k]);
	}
}

/* Up to `want` of one part of the job; of parts of a GPU so many parts of it. */
static uint64_t take_from(const struct share *s, const struct gres_alloc *have, uint64_t want,
			  struct node_alloc *to)
{
	struct gres_alloc got = *have;
	bool by_device = have->devices.bits && !gres_is_shared(have->name);
	got.devices = bitset_dup(&have->devices, s->out->arena);
	drop_used(s, to, &got);
	uint64_t keep = want;
	for (uint32_t d = bitset_next(&got.devices, 0); by_device && d != BITSET_NONE;
	     d = bitset_next(&got.devices, d + 1)) {
		if (keep)
			keep--;
		else
			bitset_remove(&got.devices, d);
	}
	got.count = by_device ? bitset_count(&got.devices) : got.count < want ? got.count : want;
	if (got.count)
		to->gres[to->n_gres++] = got;
	return got.count;
}

/* Takes `want` of the request from what the job has on the node; returns how many were missing, and
 * whether the job has enough in principle. */
static uint64_t take_gres(const struct share *s, const struct node_alloc *from, const struct gres_request *g,
			  uint64_t want, struct node_alloc *to, uint64_t *ret_have)
{
	*ret_have = 0;
	for (uint32_t i = 0; i < from->n_gres; i++) {
		const struct gres_alloc *have = &from->gres[i];
		if (!str_eq(have->name, g->name) || (!str_empty(g->type) && !str_eq(g->type, have->type)))
			continue;
		*ret_have += have->count;
		want -= want ? take_from(s, have, want, to) : 0;
	}
	return want;
}

static int gres_missing(const struct share *s, const struct gres_request *g, uint64_t have, uint64_t want)
{
	if (have >= want)
		return error_set(s->err, -E_STEP_BUSY, "%s", text_of(E_STEP_BUSY));
	return error_set(s->err, -E_INVALID_GRES,
			 "%s: the step asks for %llu %s on a node, the job has %llu there", text_of(E_INVALID_GRES),
			 (unsigned long long)want, g->name, (unsigned long long)have);
}

/* srun(1): a step that names no generic resource gets what the job asked for; what the job has only
 * through --exclusive is not passed on. */
static int inherit_gres(const struct share *s, const struct node_alloc *from, struct node_alloc *to)
{
	for (uint32_t i = 0; demand_names_gres(&s->j->spec.request) && i < from->n_gres; i++) {
		struct gres_request all = { from->gres[i].name, from->gres[i].type, from->gres[i].count };
		if (take_from(s, &from->gres[i], all.count, to) < all.count)
			return gres_missing(s, &all, all.count, all.count);
	}
	return 0;
}

static int share_gres(const struct share *s, uint32_t i, struct node_alloc *to)
{
	const struct step_request *r = s->r;
	const struct node_alloc *from = &s->j->alloc[s->nodes[i]];
	if (r->no_gres || !from->n_gres)
		return r->n_gres_per_node || r->n_gres_per_task ?
			       gres_missing(s, r->n_gres_per_node ? r->gres_per_node : r->gres_per_task, 0, 1) :
			       0;
	uint32_t most = from->n_gres * (from->n_gres + r->n_gres_per_node + r->n_gres_per_task);
	to->gres = ARENA_ARRAY(s->out->arena, struct gres_alloc, most);
	if (!r->n_gres_per_node && !r->n_gres_per_task)
		return inherit_gres(s, from, to);
	for (uint32_t k = 0; k < r->n_gres_per_node + r->n_gres_per_task; k++) {
		bool per_task = k >= r->n_gres_per_node;
		const struct gres_request *g = per_task ? &r->gres_per_task[k - r->n_gres_per_node] :
							  &r->gres_per_node[k];
		uint64_t want = g->count * (per_task ? s->tasks[i] : 1), have;
		if (take_gres(s, from, g, want, to, &have))
			return gres_missing(s, g, have, want);
	}
	return 0;
}

/* ---- the step ---------------------------------------------------------------------------------- */

static void describe(const struct share *s, const struct step_command *cmd, struct step *st)
{
	const struct step_request *r = s->r;
	AUTO_BUF struct buf text = {};
	char **names = ARENA_ARRAY(s->out->arena, char *, s->count);
	for (uint32_t i = 0; i < s->count; i++)
		names[i] = cluster_node(s->c, st->alloc[i].node)->conf.name;
	hostlist_compress(names, s->count, &text);
	st->id = s->j->next_step;
	st->name = r->name;
	st->ntasks = s->ntasks;
	st->cpus_per_task = s->cpus_per_task;
	st->start_time = cmd->now;
	st->srun_host = r->srun_host;
	st->srun_port = r->srun_port;
	st->srun_pid = r->srun_pid;
	st->cookie = cmd->cookie;
	bitset_init_in(&st->ended, s->count, s->out->arena);
	st->node_list = arena_strdup(s->out->arena, buf_text(&text));
	st->overlap = r->overlap;
	st->distribution = r->distribution;
	st->task_nodes = s->task_nodes;
	st->n_task_nodes = s->task_nodes ? s->ntasks : 0;
	st->threads_per_core = demand_threads(&s->j->spec.request);
	st->label = r->label;
	st->argv = r->argv;
	st->n_argv = r->n_argv;
	st->work_dir = r->work_dir;
	st->gpu_bind = r->gpu_bind;
	st->gres_per_task = r->gres_per_task;
	st->n_gres_per_task = r->n_gres_per_task;
	st->cpu_bind = r->cpu_bind;
	st->uses_pty = r->uses_pty;
	st->kill_on_bad_exit = r->kill_on_bad_exit;
	st->token = r->token;
	st->std_in = r->std_in;
	st->std_out = r->std_out;
	st->std_err = r->std_err;
	st->open_append = r->open_append;
	st->env_blob = decide_blob(s->c, &r->env, s->out);
}

static int find_job(struct share *s, const struct caller *who)
{
	s->j = cluster_job(s->c, s->r->job_id);
	if (!s->j)
		return error_set(s->err, -E_INVALID_JOB_ID, "%s", text_of(E_INVALID_JOB_ID));
	if (s->j->uid != who->uid && !who->admin)
		return error_set(s->err, -E_ACCESS_DENIED, "%s", text_of(E_ACCESS_DENIED));
	if (s->j->state != JOB_STATE_RUNNING)
		return error_set(s->err, -E_ALREADY_DONE,
				 s->j->state == JOB_STATE_PENDING ? "job %u has not started yet" :
								    "Job/step already completing or completed: job %u",
				 s->j->id);
	return 0;
}

int decide_step_create(const struct cluster *c, const struct step_command *cmd, struct decision *out,
		       struct error *err)
{
	struct share s = { .c = c, .r = cmd->request, .out = out, .err = err };
	int e;
	if ((e = find_job(&s, &cmd->caller)) < 0)
		return e;
	for (uint32_t i = 0; i < s.j->n_steps; i++)
		if (s.r->token && s.j->steps[i].token == s.r->token)
			return 0; /* a repeated request is the same step */
	if ((e = find_nodes(&s)) < 0 || (e = count_tasks(&s)) < 0 || (e = lay_out(&s)) < 0)
		return e;
	struct step st = { .alloc = ARENA_ARRAY(out->arena, struct node_alloc, s.count), .n_alloc = s.count };
	for (uint32_t i = 0; i < s.count; i++) {
		struct node_alloc *to = &st.alloc[i];
		to->node = s.j->alloc[s.nodes[i]].node;
		to->mem_mib = s.j->alloc[s.nodes[i]].mem_mib;
		to->tasks = s.tasks[i];
		take_cpus(&s, i, to);
		if ((e = share_gres(&s, i, to)) < 0)
			return e;
	}
	describe(&s, cmd, &st);
	struct step_created *ev = &decision_event(out, EVENT_STEP_CREATED)->step_created;
	ev->job_id = s.j->id;
	ev->attempt = s.j->attempt;
	ev->step = st;
	decision_effect(out, (struct effect){ .kind = EFFECT_LAUNCH,
					      .job_id = s.j->id,
					      .attempt = s.j->attempt,
					      .has_step = true,
					      .step_id = st.id,
					      .node = NODE_EACH });
	return 0;
}
