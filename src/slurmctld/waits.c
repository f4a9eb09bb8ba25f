/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are answered later: those who wait for a job to start or end, and steps whose share of
 * the job is taken at the moment. */
#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "host/loop.h"
#include "schema/errors.h"
#include "slurmctld/ctld.h"

/* ---- jobs -------------------------------------------------------------------------------------- */

static bool is_answered(const struct wait *w, const struct job *j)
{
	if (w->for_start && j->state != JOB_STATE_PENDING && !j->requeue_when_clean)
		return true;
	return w->for_end && job_is_ended(j) && !j->completing && !j->requeue_when_clean;
}

static void answer_wait(struct ctld *s, const struct wait *w, const struct job *j)
{
	struct job_wait_reply reply = { .job = *j };
	reply.addrs = ARENA_ARRAY(w->request->arena, char *, j->n_alloc + 1);
	reply.n_addrs = j->n_alloc;
	for (uint32_t i = 0; i < j->n_alloc; i++) {
		const struct node *n = cluster_node(&s->cluster, j->alloc[i].node);
		reply.addrs[i] = n->conf.addr ? n->conf.addr : n->conf.name;
	}
	ctld_reply(s, w->request, &reply);
}

static void refuse(struct request *r, int code)
{
	struct error err = {};
	error_set(&err, -code, "%s", enum_text(&error_code_enum, code));
	request_fail(r, &err);
}

void waits_add(struct ctld *s, struct request *r)
{
	const struct job_wait *body = r->body;
	struct wait w = { r, body->job_id, body->for_start, body->for_end };
	const struct job *j = cluster_job(&s->cluster, body->job_id);
	struct caller who = ctld_caller(s, r);
	if (!j)
		refuse(r, E_INVALID_JOB_ID);
	else if (j->uid != who.uid && !who.admin)
		refuse(r, E_ACCESS_DENIED);
	else if (is_answered(&w, j))
		answer_wait(s, &w, j);
	else
		vec_push(&s->waits, w);
}

static void check_waits(struct ctld *s, uint32_t job_id)
{
	const struct job *j = cluster_job(&s->cluster, job_id);
	size_t keep = 0;
	for (size_t i = 0; i < s->waits.count; i++) {
		struct wait w = s->waits.at[i];
		if (request_is_dead(w.request)) {
			request_fail(w.request, &(struct error){ .code = -1 });
		} else if (w.job_id == job_id && !j) {
			refuse(w.request, E_INVALID_JOB_ID);
		} else if (w.job_id == job_id && is_answered(&w, j)) {
			answer_wait(s, &w, j);
		} else {
			s->waits.at[keep++] = w;
		}
	}
	s->waits.count = keep;
}

/* ---- steps ------------------------------------------------------------------------------------- */

static const struct step *step_of_token(const struct job *j, const struct step_request *body)
{
	for (uint32_t i = 0; i < j->n_steps; i++)
		if (j->steps[i].token == body->token)
			return &j->steps[i];
	return NULL;
}

/* Returns false when the request has to wait on. */
static bool try_step(struct ctld *s, struct request *r)
{
	const struct step_request *body = r->body;
	struct step_command cmd = { .request = body, .caller = ctld_caller(s, r), .now = loop_now(s->loop) };
	struct error err = {};
	struct decision d;
	loop_random(s->loop, &cmd.cookie, sizeof(cmd.cookie));
	decision_init(&d, r->arena);
	int e = decide_step_create(&s->cluster, &cmd, &d, &err);
	if (e < 0) {
		decision_done(&d);
		if (e == -E_STEP_BUSY && body->wait)
			return false;
		request_fail(r, &err);
		return true;
	}
	ctld_commit(s, &d);
	const struct job *j = cluster_job(&s->cluster, body->job_id);
	const struct step *st = step_of_token(j, body);
	struct step_reply reply = { .job = *j };
	reply.job.steps = NULL;
	reply.job.n_steps = 0;
	if (st)
		reply.step = *st;
	ctld_reply(s, r, &reply);
	return true;
}

void waits_step(struct ctld *s, struct request *r)
{
	if (!try_step(s, r))
		vec_push(&s->step_waits, r);
}

static void check_steps(struct ctld *s, uint32_t job_id)
{
	for (size_t i = 0; i < s->step_waits.count;) {
		struct request *r = s->step_waits.at[i];
		const struct step_request *body = r->body;
		if (!request_is_dead(r) && body->job_id != job_id) {
			i++;
			continue;
		}
		vec_remove(&s->step_waits, i);
		if (request_is_dead(r)) {
			request_fail(r, &(struct error){ .code = -1 });
		} else if (!try_step(s, r)) {
			vec_insert(&s->step_waits, i, r);
			i++;
		}
	}
}

void waits_job_changed(struct ctld *s, uint32_t job_id)
{
	if (s->waits.count)
		check_waits(s, job_id);
	if (s->step_waits.count)
		check_steps(s, job_id);
}

void waits_drop(struct ctld *s)
{
	for (size_t i = 0; i < s->waits.count; i++)
		refuse(s->waits.at[i].request, E_SHUTTING_DOWN);
	for (size_t i = 0; i < s->step_waits.count; i++)
		refuse(s->step_waits.at[i], E_SHUTTING_DOWN);
	vec_done(&s->waits);
	vec_done(&s->step_waits);
}
