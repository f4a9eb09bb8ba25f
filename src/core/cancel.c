/* SPDX-License-Identifier: Apache-2.0 */
/* scancel and scontrol requeue: signals, ends and second chances. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "schema/errors.h"

#include <errno.h>

struct walk {
	const struct cluster *c;
	const struct caller *who;
	const struct cancel_request *cancel;
	const struct job_requeue *requeue;
	usec_t now;
	struct decision *out;
	struct cancel_reply *reply;
	uint32_t next_id; /* for tasks that become jobs of their own in this decision */
	VEC(char *) failures;
};

static const char *text_of(int code)
{
	return enum_text(&error_code_enum, code);
}

static void failed(struct walk *w, const struct job *j, int code)
{
	vec_push(&w->failures, arena_printf(w->out->arena, "%u: %s", j->id, text_of(code)));
}

static bool may_touch(struct walk *w, const struct job *j)
{
	if (j->uid == w->who->uid || w->who->admin)
		return true;
	failed(w, j, E_ACCESS_DENIED);
	return false;
}

static bool is_single_task(const struct job *j)
{
	return j->n_array_tasks == 1 && j->array_tasks[0].first == j->array_tasks[0].last;
}

/* One task of a waiting array is cancelled: it becomes a job of its own first, so that it can be
 * shown as what it is. */
static void cancel_task(struct walk *w, const struct job *array, uint32_t task, const struct ending *e)
{
	uint32_t id = is_single_task(array) ? array->id : w->next_id++;
	struct job_split *split = &decision_event(w->out, EVENT_JOB_SPLIT)->job_split;
	*split = (struct job_split){ .job_id = array->id, .task_id = task, .new_job_id = id };
	struct job as_task = *array;
	as_task.id = id;
	decide_ending(&as_task, e, w->now, w->out);
}

static void signal_job(struct walk *w, const struct job *j)
{
	const struct cancel_request *r = w->cancel;
	if (r->has_step_id && !job_step(j, r->step_id)) {
		if (!r->quiet_done)
			failed(w, j, E_ALREADY_DONE);
		return;
	}
	if (j->state != JOB_STATE_RUNNING && j->state != JOB_STATE_SUSPENDED) {
		failed(w, j, job_is_ended(j) ? E_ALREADY_DONE : E_NOT_SUPPORTED);
		return;
	}
	bool end_step = r->has_step_id && r->signal == 0;
	decision_effect(w->out, (struct effect){ .kind = end_step ? EFFECT_TERMINATE : EFFECT_SIGNAL,
						 .job_id = j->id,
						 .attempt = j->attempt,
						 .has_step = r->has_step_id,
						 .step_id = r->step_id,
						 .node = NODE_EACH,
						 .signal = r->signal,
						 .batch_only = r->batch_only,
						 .full = r->full });
}

static int cancel_one(void *arg, const struct job *j, const uint32_t *task)
{
	struct walk *w = arg;
	w->reply->matched++;
	if (!may_touch(w, j))
		return 0;
	if (w->cancel->signal || w->cancel->has_step_id) {
		signal_job(w, j);
		return 0;
	}
	if (job_is_ended(j)) {
		if (!w->cancel->quiet_done && !j->completing)
			failed(w, j, E_ALREADY_DONE);
		return 0;
	}
	struct ending e = { .state = JOB_STATE_CANCELLED, .has_by_uid = true, .by_uid = w->who->uid };
	if (task)
		cancel_task(w, j, *task, &e);
	else
		decide_ending(j, &e, w->now, w->out);
	return 0;
}

static void hand_over(struct walk *w)
{
	w->reply->failures = arena_dup(w->out->arena, w->failures.at, w->failures.count * sizeof(char *));
	w->reply->n_failures = (uint32_t)w->failures.count;
	vec_done(&w->failures);
}

static int no_such_job(const struct job_filter *f, struct error *err)
{
	return error_set(err, -E_INVALID_JOB_ID, f->n_ids == 1 ? "%s" : "%s: none of those named is known",
			 text_of(E_INVALID_JOB_ID));
}

int decide_cancel(const struct cluster *c, const struct cancel_request *r, const struct caller *who,
		  usec_t now, struct decision *out, struct cancel_reply *reply, struct error *err)
{
	struct walk w = { .c = c, .who = who, .cancel = r, .now = now, .out = out, .reply = reply,
			  .next_id = c->next_job_id };
	struct prepared_filter filter;
	int e = filter_prepare(c, &r->filter, out->arena, &filter, err);
	if (e < 0)
		return e;
	int found = filter_each(c, &filter, cancel_one, &w);
	hand_over(&w);
	if (found == 0 && r->filter.n_ids)
		return no_such_job(&r->filter, err);
	return 0;
}

static int requeue_one(void *arg, const struct job *j, const uint32_t *task)
{
	struct walk *w = arg;
	(void)task;
	w->reply->matched++;
	if (!may_touch(w, j))
		return 0;
	enum hold_kind hold = w->requeue->hold ? (w->who->admin && w->who->uid != j->uid ? HOLD_KIND_ADMIN :
											   HOLD_KIND_USER) :
						 HOLD_KIND_NONE;
	if (j->state == JOB_STATE_PENDING) {
		failed(w, j, E_NOT_SUPPORTED);
	} else if (!j->spec.batch) {
		failed(w, j, E_DISABLED);
	} else if (!job_is_ended(j)) {
		struct ending e = { .state = JOB_STATE_CANCELLED, .requeue = true, .requeue_hold = hold };
		decide_ending(j, &e, w->now, w->out);
	} else if (j->completing) {
		failed(w, j, E_ALREADY_DONE);
	} else {
		struct job_requeued *ev = &decision_event(w->out, EVENT_JOB_REQUEUED)->job_requeued;
		*ev = (struct job_requeued){ .job_id = j->id, .attempt = j->attempt + 1, .time = w->now, .hold = hold };
	}
	return 0;
}

int decide_requeue(const struct cluster *c, const struct job_requeue *r, const struct caller *who,
		   usec_t now, struct decision *out, struct cancel_reply *reply, struct error *err)
{
	struct walk w = { .c = c, .who = who, .requeue = r, .now = now, .out = out, .reply = reply };
	struct prepared_filter filter;
	int e = filter_prepare(c, &r->filter, out->arena, &filter, err);
	if (e < 0)
		return e;
	int found = filter_each(c, &filter, requeue_one, &w);
	hand_over(&w);
	if (found == 0)
		return no_such_job(&r->filter, err);
	return 0;
}
