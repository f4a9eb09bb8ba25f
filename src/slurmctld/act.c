/* SPDX-License-Identifier: Apache-2.0 */
/* Telling the nodes.  An effect is carried out against the present state: what is no longer true when
 * its turn comes is not sent.  A node that is not connected misses nothing: when it registers, core/
 * compares what it holds with what it should hold and asks for the effects again. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "sched/layout.h"
#include "sched/topo.h"
#include "schema/errors.h"
#include "slurmctld/ctld.h"

/* A node that refuses a launch has not started anything: the step is over there. */
static void launch_refused(const struct told *t, const char *why)
{
	AUTO_ARENA struct arena *turn = arena_new();
	struct decision d;
	struct step_end end = { .job_id = t->job_id,
				.attempt = t->attempt,
				.step_id = t->step_id,
				.exit_code = 1,
				.launch_error = arena_strdup(turn, why) };
	log_error("job %u: launch refused: %s", t->job_id, why);
	decision_init(&d, turn);
	decide_step_end(&t->s->cluster, t->node, &end, loop_now(t->s->loop), &d);
	ctld_commit(t->s, &d);
}

static void forget(struct told *t)
{
	*t->prev = t->next;
	if (t->next)
		t->next->prev = t->prev;
	free(t);
}

void act_done(struct ctld *s)
{
	while (s->told)
		forget(s->told);
}

static void on_told(void *arg, const void *reply, const struct error *err)
{
	struct told *t = arg;
	/* Silence is no refusal: the node may have heard us, and says what it holds when it speaks again. */
	bool refused = !reply && err->code <= -2000 && err->code != -E_SOCKET_TIMEOUT && !t->s->stopping;
	if (refused && t->is_launch)
		launch_refused(t, err->text);
	else if (!reply)
		log_debug("job %u: a node did not answer: %s", t->job_id, err->text);
	forget(t);
}

static void tell(struct ctld *s, uint32_t node, uint16_t kind, const void *body, uint32_t job_id,
		 uint32_t attempt, uint32_t step_id)
{
	struct conn *c = links_conn(s, node);
	if (!c)
		return;
	struct told *t = NEW(struct told);
	*t = (struct told){ s, node, job_id, attempt, step_id, kind == MSG_LAUNCH, s->told, &s->told };
	if (t->next)
		t->next->prev = &t->next;
	s->told = t;
	usec_t timeout = (usec_t)s->conf->main.message_timeout * USEC_PER_SEC;
	conn_call(c, kind, body, timeout, on_told, t);
}

/* ---- launch ------------------------------------------------------------------------------------ */

static void fill_launch(struct ctld *s, const struct job *j, const struct step *st, struct arena *a,
			struct launch *l)
{
	l->job_id = j->id;
	l->attempt = j->attempt;
	l->step_id = st->id;
	l->uid = j->uid;
	l->gid = j->gid;
	l->groups = j->groups;
	l->n_groups = j->n_groups;
	l->user = j->user;
	l->job = *j;
	l->job.steps = NULL;
	l->job.n_steps = 0;
	l->step = *st;
	l->cluster = s->conf->main.cluster_name;
	l->conf_path = (char *)(uintptr_t)s->conf->path;
	l->kill_wait_sec = s->cluster.settings.kill_wait_sec;
	l->node_names = ARENA_ARRAY(a, char *, st->n_alloc);
	l->n_node_names = st->n_alloc;
	for (uint32_t i = 0; i < st->n_alloc; i++)
		l->node_names[i] = cluster_node(&s->cluster, st->alloc[i].node)->conf.name;
	bool batch = st->id == STEP_BATCH;
	const struct blob *env = cluster_blob(&s->cluster, batch ? j->env_blob : st->env_blob);
	const struct blob *script = batch ? cluster_blob(&s->cluster, j->script_blob) : NULL;
	if (env)
		l->env = env->data;
	if (script)
		l->script = script->data;
	l->std_in = batch ? j->spec.std_in : st->std_in;
	l->std_out = batch ? j->spec.std_out : st->std_out;
	l->std_err = batch ? j->spec.std_err : st->std_err;
	l->open_append = batch ? (j->spec.has_open_append ? j->spec.open_append : s->conf->main.job_file_append) :
				 st->open_append;
}

static void fill_address(struct ctld *s, const struct job *j, const struct node *n, struct arena *a,
			 struct launch *l)
{
	AUTO_BUF struct buf addr = {}, pattern = {};
	topology_address(cluster_topology(&s->cluster, j->partition), n->index, n->conf.name, &addr, &pattern);
	l->topology_addr = arena_strdup(a, buf_text(&addr));
	l->topology_pattern = arena_strdup(a, buf_text(&pattern));
}

static void launch(struct ctld *s, const struct effect *e)
{
	const struct job *j = cluster_job(&s->cluster, e->job_id);
	if (!j || j->attempt != e->attempt || j->state != JOB_STATE_RUNNING)
		return;
	const struct step *st = job_step(j, e->step_id);
	if (!st)
		return;
	AUTO_ARENA struct arena *turn = arena_new();
	struct launch l = {};
	fill_launch(s, j, st, turn, &l);
	for (uint32_t i = 0; i < st->n_alloc; i++) {
		uint32_t node = st->alloc[i].node;
		if ((e->node != NODE_EACH && e->node != node) || bitset_has(&st->ended, i))
			continue;
		const struct node *n = cluster_node(&s->cluster, node);
		l.node_pos = i;
		l.node_name = n->conf.name;
		l.gres = n->gres;
		l.n_gres = n->n_gres;
		fill_address(s, j, n, turn, &l);
		struct geometry g = node_geometry(n);
		l.sockets = g.sockets;
		l.cores_per_socket = g.cores;
		l.threads_per_core = g.threads;
		tell(s, node, MSG_LAUNCH, &l, j->id, j->attempt, st->id);
	}
}

/* ---- signal and terminate ----------------------------------------------------------------------- */

static void signal_job(struct ctld *s, const struct effect *e)
{
	const struct job *j = cluster_job(&s->cluster, e->job_id);
	if (!j || j->attempt != e->attempt)
		return;
	struct signal_step body = { .job_id = j->id,
				    .attempt = j->attempt,
				    .has_step_id = e->has_step,
				    .step_id = e->step_id,
				    .signal = e->signal,
				    .batch_only = e->batch_only,
				    .full = e->full,
				    .skip_batch = !e->batch_only && !e->full && !e->has_step };
	const struct step *st = e->has_step ? job_step(j, e->step_id) : NULL;
	for (uint32_t i = 0; i < j->n_alloc; i++) {
		uint32_t node = j->alloc[i].node;
		if (j->alloc[i].clean || (st && alloc_position(st->alloc, st->n_alloc, node) < 0))
			continue;
		tell(s, node, MSG_SIGNAL_STEP, &body, j->id, j->attempt, e->step_id);
	}
}

static const char *why_ended(enum job_state state)
{
	switch (state) {
	case JOB_STATE_TIMEOUT:
		return "DUE TO TIME LIMIT";
	case JOB_STATE_NODE_FAIL:
		return "DUE TO NODE FAILURE";
	case JOB_STATE_PREEMPTED:
		return "DUE TO PREEMPTION";
	case JOB_STATE_PENDING:
	case JOB_STATE_RUNNING:
	case JOB_STATE_SUSPENDED:
	case JOB_STATE_COMPLETED:
	case JOB_STATE_CANCELLED:
	case JOB_STATE_FAILED:
	case JOB_STATE_BOOT_FAIL:
	case JOB_STATE_DEADLINE:
	case JOB_STATE_OUT_OF_MEMORY:
	case JOB_STATE_COUNT:
		break;
	}
	return NULL;
}

static void terminate(struct ctld *s, const struct effect *e)
{
	const struct job *j = cluster_job(&s->cluster, e->job_id);
	bool current = j && j->attempt == e->attempt;
	struct terminate_job body = { .job_id = e->job_id,
				      .attempt = e->attempt,
				      .uid = j ? j->uid : 0,
				      .kill_wait_sec = s->cluster.settings.kill_wait_sec,
				      .has_step_id = e->has_step,
				      .step_id = e->step_id };
	if (current) {
		body.state = j->state;
		body.why = (char *)(uintptr_t)(j->requeue_when_clean ? "DUE TO JOB REQUEUE" : why_ended(j->state));
	}
	if (e->node != NODE_EACH) {
		int at = current ? alloc_position(j->alloc, j->n_alloc, e->node) : -1;
		if (!current || at < 0 || !j->alloc[at].clean)
			tell(s, e->node, MSG_TERMINATE_JOB, &body, e->job_id, e->attempt, e->step_id);
		return;
	}
	for (uint32_t i = 0; current && i < j->n_alloc; i++)
		if (!j->alloc[i].clean)
			tell(s, j->alloc[i].node, MSG_TERMINATE_JOB, &body, j->id, j->attempt, e->step_id);
}

void ctld_act(struct ctld *s, const struct effect *e)
{
	switch (e->kind) {
	case EFFECT_LAUNCH:
		launch(s, e);
		break;
	case EFFECT_SIGNAL:
		signal_job(s, e);
		break;
	case EFFECT_TERMINATE:
		terminate(s, e);
		break;
	}
}
