/* SPDX-License-Identifier: Apache-2.0 */
/* How work ends.  Nodes report what is over on them; a report about an attempt that is not the current
 * one, or that was heard before, changes nothing.  The job ends with its batch script or when somebody
 * ends it; it is over when every node has said that nothing of it is left. */
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "sched/layout.h"
#include "schema/errors.h"

static const struct job *current(const struct cluster *c, uint32_t job_id, uint32_t attempt)
{
	const struct job *j = cluster_job(c, job_id);
	return j && j->attempt == attempt && job_is_active(j) ? j : NULL;
}

void decide_ending(const struct job *j, const struct ending *e, usec_t now, struct decision *out)
{
	struct job_ending *ev = &decision_event(out, EVENT_JOB_ENDING)->job_ending;
	*ev = (struct job_ending){ .job_id = j->id,
				   .attempt = j->attempt,
				   .time = now,
				   .state = e->state,
				   .reason = e->reason,
				   .exit_code = e->exit_code,
				   .exit_signal = e->exit_signal,
				   .has_by_uid = e->has_by_uid,
				   .by_uid = e->by_uid,
				   .requeue = e->requeue,
				   .requeue_hold = e->requeue_hold };
	if (j->n_alloc)
		decision_effect(out, (struct effect){ .kind = EFFECT_TERMINATE,
						      .job_id = j->id,
						      .attempt = j->attempt,
						      .node = NODE_EACH });
}

/* The ending that is decided for the job, here or before. */
static bool will_requeue(const struct job *j, const struct decision *out, enum hold_kind *ret_hold)
{
	for (size_t i = 0; i < out->events.count; i++) {
		const struct event *ev = &out->events.at[i];
		if (ev->kind == EVENT_JOB_ENDING && ev->job_ending.job_id == j->id) {
			*ret_hold = ev->job_ending.requeue_hold;
			return ev->job_ending.requeue;
		}
	}
	*ret_hold = j->requeue_hold;
	return j->requeue_when_clean;
}

static bool cleaned_here(const struct decision *out, uint32_t job_id, uint32_t node)
{
	for (size_t i = 0; i < out->events.count; i++) {
		const struct event *ev = &out->events.at[i];
		if (ev->kind == EVENT_JOB_NODE_CLEAN && ev->job_node_clean.job_id == job_id &&
		    ev->job_node_clean.node == node)
			return true;
	}
	return false;
}

void decide_clean(const struct job *j, uint32_t node, usec_t now, struct decision *out)
{
	int at = alloc_position(j->alloc, j->n_alloc, node);
	if (at < 0 || j->alloc[at].clean || cleaned_here(out, j->id, node))
		return;
	struct job_node_clean *ev = &decision_event(out, EVENT_JOB_NODE_CLEAN)->job_node_clean;
	*ev = (struct job_node_clean){ .job_id = j->id, .attempt = j->attempt, .node = node, .time = now };
	for (uint32_t i = 0; i < j->n_alloc; i++)
		if (!j->alloc[i].clean && !cleaned_here(out, j->id, j->alloc[i].node))
			return;
	enum hold_kind hold;
	if (!will_requeue(j, out, &hold))
		return;
	struct job_requeued *again = &decision_event(out, EVENT_JOB_REQUEUED)->job_requeued;
	*again = (struct job_requeued){ .job_id = j->id, .attempt = j->attempt + 1, .time = now, .hold = hold };
}

static struct ending ending_of_batch(const struct step_end *end)
{
	struct ending e = { .state = JOB_STATE_COMPLETED,
			    .exit_code = end->exit_code,
			    .exit_signal = end->exit_signal };
	if (!str_empty(end->launch_error)) {
		e.state = JOB_STATE_FAILED;
		e.reason = JOB_REASON_LAUNCH_FAILED;
	} else if (end->out_of_memory) {
		e.state = JOB_STATE_OUT_OF_MEMORY;
		e.reason = JOB_REASON_OUT_OF_MEMORY;
	} else if (end->exit_signal) {
		e.state = JOB_STATE_FAILED;
		e.reason = JOB_REASON_SIGNAL;
	} else if (end->exit_code) {
		e.state = JOB_STATE_FAILED;
		e.reason = JOB_REASON_EXIT_CODE;
	}
	return e;
}

static void end_step(const struct job *j, const struct step *s, uint32_t node, const struct step_end *end,
		     usec_t now, struct decision *out)
{
	int at = s ? alloc_position(s->alloc, s->n_alloc, node) : -1;
	if (at < 0 || bitset_has(&s->ended, (uint32_t)at))
		return;
	struct step_node_ended *ev = &decision_event(out, EVENT_STEP_NODE_ENDED)->step_node_ended;
	*ev = (struct step_node_ended){ .job_id = j->id,
					.attempt = j->attempt,
					.step_id = s->id,
					.node = node,
					.time = now,
					.exit_code = end->exit_code,
					.exit_signal = end->exit_signal,
					.out_of_memory = end->out_of_memory };
}

void decide_step_end(const struct cluster *c, uint32_t node, const struct step_end *end, usec_t now,
		     struct decision *out)
{
	const struct job *j = current(c, end->job_id, end->attempt);
	if (!j)
		return;
	const struct step *s = job_step(j, end->step_id);
	end_step(j, s, node, end, now, out);
	bool ends_job = s && s->id == STEP_BATCH && j->state == JOB_STATE_RUNNING;
	if (ends_job) {
		struct ending e = ending_of_batch(end);
		decide_ending(j, &e, now, out);
	}
	if (end->job_clean && (ends_job || j->completing))
		decide_clean(j, node, now, out);
}

void decide_job_clean(const struct cluster *c, uint32_t node, const struct job_clean *clean, usec_t now,
		      struct decision *out)
{
	const struct job *j = current(c, clean->job_id, clean->attempt);
	if (j && j->completing)
		decide_clean(j, node, now, out);
}

int decide_release(const struct cluster *c, const struct job_release *r, const struct caller *who,
		   usec_t now, struct decision *out, struct error *err)
{
	const struct job *j = cluster_job(c, r->job_id);
	if (!j)
		return error_set(err, -E_INVALID_JOB_ID, "%s", enum_text(&error_code_enum, E_INVALID_JOB_ID));
	if (j->uid != who->uid && !who->admin)
		return error_set(err, -E_ACCESS_DENIED, "%s", enum_text(&error_code_enum, E_ACCESS_DENIED));
	if (job_is_ended(j))
		return 0;
	struct ending e = { .state = r->exit_code ? JOB_STATE_FAILED : JOB_STATE_COMPLETED,
			    .reason = r->exit_code ? JOB_REASON_EXIT_CODE : JOB_REASON_NONE,
			    .exit_code = r->exit_code };
	if (j->state == JOB_STATE_PENDING)
		e = (struct ending){ .state = JOB_STATE_CANCELLED, .has_by_uid = true, .by_uid = who->uid };
	decide_ending(j, &e, now, out);
	return 0;
}
