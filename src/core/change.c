/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol update JobId=, hold and release: one row per key, each reading its value and saying who may
 * change what when.  A change is all or nothing: every pair is read before anything is decided. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "schema/errors.h"
#include "text/date.h"
#include "text/duration.h"

#include <errno.h>
#include <string.h>

struct change {
	const struct cluster *c;
	const struct job *job;
	const struct caller *who;
	usec_t now;
	struct job_changed *ev;
	struct arena *arena;
	struct error *err;
};

typedef int (*change_fn)(struct change *ch, const char *key, char *value);

static int denied(struct change *ch, const char *key)
{
	return error_set(ch->err, -E_ACCESS_DENIED, "%s: %s",
			 enum_text(&error_code_enum, E_ACCESS_DENIED), key);
}

static int not_pending(struct change *ch, const char *key)
{
	return error_set(ch->err, -E_NOT_PENDING, "%s: %s can be changed only before the job starts",
			 enum_text(&error_code_enum, E_NOT_PENDING), key);
}

static int change_time_limit(struct change *ch, const char *key, char *value)
{
	usec_t limit, now_limit = ch->job->time_limit;
	bool plus = *value == '+', minus = *value == '-';
	int e = duration_parse_limit(value + (plus || minus), &limit, ch->err);
	if (e < 0)
		return error_wrap(ch->err, -E_INVALID_TIME_LIMIT, "%s=%s", key, value);
	if (plus || minus)
		limit = plus ? now_limit + limit : now_limit - limit;
	if (limit < 0 || ((plus || minus) && !now_limit))
		return error_set(ch->err, -E_INVALID_TIME_LIMIT, "%s=%s: the limit is %lld minutes", key, value,
				 (long long)(now_limit / USEC_PER_MIN));
	if (!ch->who->admin && now_limit && (!limit || limit > now_limit))
		return denied(ch, "only administrators raise a time limit");
	ch->ev->has_time_limit = true;
	ch->ev->time_limit = limit;
	if (ch->job->state == JOB_STATE_RUNNING) {
		ch->ev->has_end_time = true;
		ch->ev->end_time = limit ? ch->job->start_time + limit : 0;
	}
	return 0;
}

static int change_name(struct change *ch, const char *key, char *value)
{
	(void)key;
	ch->ev->has_name = true;
	ch->ev->name = value;
	return 0;
}

static int change_comment(struct change *ch, const char *key, char *value)
{
	(void)key;
	ch->ev->has_comment = true;
	ch->ev->comment = value;
	return 0;
}

static int change_account(struct change *ch, const char *key, char *value)
{
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	ch->ev->has_account = true;
	ch->ev->account = value;
	return 0;
}

static int change_nice(struct change *ch, const char *key, char *value)
{
	int64_t nice;
	if (str_to_i64(value, &nice) < 0 || nice < -2147483645 || nice > 2147483645)
		return error_set(ch->err, -EINVAL, "%s=%s is not a number within +-2147483645", key, value);
	if (nice < ch->job->spec.nice && !ch->who->admin)
		return denied(ch, "only administrators lower Nice");
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	int64_t p = (int64_t)ch->job->priority + ch->job->spec.nice - nice;
	ch->ev->has_nice = ch->ev->has_priority = true;
	ch->ev->nice = nice;
	ch->ev->priority = p < 1 ? 1 : p > UINT32_MAX ? UINT32_MAX : (uint32_t)p;
	return 0;
}

/* Priority=0 is a hold: that is how scontrol hold speaks. */
static int change_priority(struct change *ch, const char *key, char *value)
{
	uint32_t priority;
	if (str_to_u32(value, &priority) < 0)
		return error_set(ch->err, -EINVAL, "%s=%s is not a number", key, value);
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	if (priority == 0) {
		ch->ev->has_hold = true;
		ch->ev->hold = ch->who->admin && ch->who->uid != ch->job->uid ? HOLD_KIND_ADMIN : HOLD_KIND_USER;
		return 0;
	}
	if (priority > ch->job->priority && !ch->who->admin)
		return denied(ch, "only administrators raise a priority");
	ch->ev->has_priority = true;
	ch->ev->priority = priority;
	return 0;
}

static int change_hold(struct change *ch, const char *key, char *value)
{
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	ch->ev->has_hold = true;
	if (str_ieq(value, "user")) {
		ch->ev->hold = HOLD_KIND_USER;
	} else if (str_ieq(value, "yes")) {
		ch->ev->hold = ch->who->admin && ch->who->uid != ch->job->uid ? HOLD_KIND_ADMIN : HOLD_KIND_USER;
	} else if (str_ieq(value, "no")) {
		if (ch->job->hold == HOLD_KIND_ADMIN && !ch->who->admin)
			return denied(ch, "an administrator holds this job");
		ch->ev->hold = HOLD_KIND_NONE;
	} else {
		return error_set(ch->err, -EINVAL, "%s=%s: yes, user or no", key, value);
	}
	return 0;
}

static int change_partition(struct change *ch, const char *key, char *value)
{
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	if (!cluster_partition(ch->c, value))
		return error_set(ch->err, -E_INVALID_PARTITION, "%s: '%s'",
				 enum_text(&error_code_enum, E_INVALID_PARTITION), value);
	ch->ev->has_partition = true;
	ch->ev->partition = value;
	return 0;
}

static int change_start_time(struct change *ch, const char *key, char *value)
{
	usec_t when;
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	int e = date_parse(value, ch->now, &when, ch->err);
	if (e < 0)
		return error_wrap(ch->err, e, "%s", key);
	ch->ev->has_begin_time = true;
	ch->ev->begin_time = when;
	return 0;
}

static int change_array_throttle(struct change *ch, const char *key, char *value)
{
	if (str_to_u32(value, &ch->ev->array_limit) < 0)
		return error_set(ch->err, -EINVAL, "%s=%s is not a number", key, value);
	if (!ch->job->array_job_id)
		return error_set(ch->err, -E_INVALID_ARRAY, "%s: job %u is not an array", key, ch->job->id);
	ch->ev->has_array_limit = true;
	return 0;
}

static int change_requeue(struct change *ch, const char *key, char *value)
{
	if (!str_eq(value, "0") && !str_eq(value, "1"))
		return error_set(ch->err, -EINVAL, "%s=%s: 0 or 1", key, value);
	ch->ev->has_requeue = true;
	ch->ev->requeue = str_eq(value, "1");
	return 0;
}

static int change_num_nodes(struct change *ch, const char *key, char *value)
{
	char *dash = strchr(value, '-');
	uint32_t min, max = 0;
	if (ch->job->state != JOB_STATE_PENDING)
		return not_pending(ch, key);
	char *low = arena_strndup(ch->arena, value, dash ? (size_t)(dash - value) : strlen(value));
	if (str_to_u32(low, &min) < 0 || min == 0 || (dash && (str_to_u32(dash + 1, &max) < 0 || max < min)))
		return error_set(ch->err, -E_TOO_MANY_NODES, "%s=%s: N or MIN-MAX", key, value);
	if (!ch->ev->has_request)
		ch->ev->request = ch->job->spec.request;
	ch->ev->has_request = true;
	ch->ev->request.nodes_min = min;
	ch->ev->request.nodes_max = max ? max : min;
	return 0;
}

static const struct {
	const char *key;
	change_fn fn;
} changes[] = {
	{ "TimeLimit", change_time_limit },
	{ "Name", change_name },
	{ "JobName", change_name },
	{ "Comment", change_comment },
	{ "Account", change_account },
	{ "Nice", change_nice },
	{ "Priority", change_priority },
	{ "Hold", change_hold },
	{ "Partition", change_partition },
	{ "StartTime", change_start_time },
	{ "ArrayTaskThrottle", change_array_throttle },
	{ "Requeue", change_requeue },
	{ "NumNodes", change_num_nodes },
};

static int change_key(struct change *ch, const struct conf_line *pair)
{
	const char *names[ARRAY_COUNT(changes)];
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		names[i] = changes[i].key;
		if (str_ieq(changes[i].key, pair->key))
			return changes[i].fn(ch, pair->key, pair->value ? pair->value : arena_strdup(ch->arena, ""));
	}
	const char *near = str_closest(pair->key, names, ARRAY_COUNT(names));
	return error_set(ch->err, -EINVAL, "Update of this parameter is not supported: %s=%s%s%s%s", pair->key,
			 pair->value ? pair->value : "", near ? " (did you mean " : "", near ? near : "",
			 near ? "?)" : "");
}

struct update {
	const struct cluster *c;
	const struct job_update *u;
	const struct caller *who;
	usec_t now;
	struct decision *out;
	struct error *err;
	int refused;
};

static int update_one(void *arg, const struct job *j, const uint32_t *task)
{
	struct update *u = arg;
	if (j->uid != u->who->uid && !u->who->admin) {
		u->refused = error_set(u->err, -E_ACCESS_DENIED, "%s",
				       enum_text(&error_code_enum, E_ACCESS_DENIED));
		return -1;
	}
	if (job_is_ended(j)) {
		u->refused = error_set(u->err, -E_ALREADY_DONE, "%s",
				       enum_text(&error_code_enum, E_ALREADY_DONE));
		return -1;
	}
	if (task) {
		u->refused = error_set(u->err, -E_NOT_SUPPORTED,
				       "%s: changing one task of a waiting array is not built yet",
				       enum_text(&error_code_enum, E_NOT_SUPPORTED));
		return -1;
	}
	struct job_changed ev = { .job_id = j->id, .time = u->now };
	struct change ch = { u->c, j, u->who, u->now, &ev, u->out->arena, u->err };
	for (uint32_t i = 0; i < u->u->n_keys; i++) {
		u->refused = change_key(&ch, &u->u->keys[i]);
		if (u->refused < 0)
			return -1;
	}
	decision_event(u->out, EVENT_JOB_CHANGED)->job_changed = ev;
	return 0;
}

int decide_job_update(const struct cluster *c, const struct job_update *request, const struct caller *who,
		      usec_t now, struct decision *out, struct cancel_reply *reply, struct error *err)
{
	struct update u = { .c = c, .u = request, .who = who, .now = now, .out = out, .err = err };
	struct prepared_filter filter;
	int e = filter_prepare(c, &request->filter, out->arena, &filter, err);
	if (e < 0)
		return e;
	int found = filter_each(c, &filter, update_one, &u);
	if (u.refused < 0) {
		vec_clear(&out->events);
		return u.refused;
	}
	if (found == 0)
		return error_set(err, -E_INVALID_JOB_ID, "%s", enum_text(&error_code_enum, E_INVALID_JOB_ID));
	reply->matched = (uint32_t)found;
	return 0;
}
