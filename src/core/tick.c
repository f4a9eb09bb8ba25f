/* SPDX-License-Identifier: Apache-2.0 */
/* What time alone brings about. */
#include "core/decide.h"

static usec_t over_limit(const struct job *j)
{
	return j->state == JOB_STATE_RUNNING ? j->end_time : 0;
}

void decide_tick(const struct cluster *c, usec_t now, struct decision *out)
{
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		usec_t limit = over_limit(&e->job);
		if (!limit || limit > now)
			continue;
		struct ending ending = { .state = JOB_STATE_TIMEOUT, .reason = JOB_REASON_TIME_LIMIT };
		decide_ending(&e->job, &ending, now, out);
	}
	for (size_t i = c->ended_head; i < c->ended.count && c->ended.at[i].time + c->settings.min_job_age <= now; i++)
		decision_event(out, EVENT_JOB_PURGED)->job_purged.job_id = c->ended.at[i].id;
}

static void earlier(usec_t *next, usec_t when)
{
	if (when && (!*next || when < *next))
		*next = when;
}

usec_t cluster_next_time(const struct cluster *c)
{
	usec_t next = 0;
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));)
		earlier(&next, over_limit(&e->job));
	if (c->ended_head < c->ended.count)
		earlier(&next, c->ended.at[c->ended_head].time + c->settings.min_job_age);
	return next;
}
