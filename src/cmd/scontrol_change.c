/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol_change.c - hold, release, requeue, wait_job and update.
 *
 * The controller knows what a key means and who may set it; here words are only split into Key=Value, and
 * the one that says what is changed (JobId, NodeName, PartitionName) is taken out. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/jobref.h"
#include "client/words.h"
#include "cmd/scontrol.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include <errno.h>
#include <string.h>

/* ---- jobs by id or name ------------------------------------------------------------------------ */

static bool take_jobs(struct scontrol *s, int argc, char **argv, struct job_filter *f)
{
	struct jobrefs refs = {};
	struct error err = {};
	int r = argc > 1 ? 0 : error_set(&err, -EINVAL, "%s needs job ids", argv[0]);
	for (int i = 1; r >= 0 && i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		bool is_name = equals &&
			       (str_istarts(argv[i], "name=") || str_istarts(argv[i], "jobname="));
		bool is_id = equals &&
			     (str_istarts(argv[i], "jobid=") || str_istarts(argv[i], "job="));
		if (is_name) {
			f->names = ARENA_NEW(s->ask->arena, char *);
			f->names[0] = arena_strdup(s->ask->arena, equals + 1);
			f->n_names = 1;
		} else if (equals && !is_id) {
			r = error_set(&err, -ENOTSUP, "%s %s is not supported", argv[0], argv[i]);
		} else {
			r = jobrefs_parse(is_id ? equals + 1 : argv[i], s->ask->arena, &refs, &err);
		}
	}
	if (r < 0)
		scontrol_fail(s, "%s: error: %s", s->ask->program, err.text);
	else
		jobrefs_to_filter(&refs, s->ask->arena, f);
	vec_done(&refs.at);
	return r >= 0;
}

/* Refusals name the job behind the reason, as scripts expect. */
static void report(struct scontrol *s, const struct job_filter *f, int r, const struct error *err,
		   const struct cancel_reply *reply)
{
	if (r < 0 && err->code == -E_INVALID_JOB_ID && f->n_ids == 1) {
		scontrol_fail(s, "%s for job %u", err->text, f->ids[0]);
	} else if (r < 0) {
		scontrol_fail(s, "%s: error: %s", s->ask->program, err->text);
	}
	for (uint32_t i = 0; r >= 0 && i < reply->n_failures; i++) {
		const char *colon = strstr(reply->failures[i], ": ");
		if (colon)
			scontrol_fail(s, "%s for job %.*s", colon + 2,
				      (int)(colon - reply->failures[i]), reply->failures[i]);
		else
			scontrol_fail(s, "%s", reply->failures[i]);
	}
}

void scontrol_hold(struct scontrol *s, int argc, char **argv)
{
	bool release = str_eq(argv[0], "release"), user = str_eq(argv[0], "uhold");
	char key[] = "Hold", yes[] = "yes", no[] = "no", by_user[] = "user";
	struct conf_line pair = { key, release ? no : user ? by_user : yes };
	struct job_update u = { .keys = &pair, .n_keys = 1 };
	struct cancel_reply reply = {};
	struct error err = {};
	if (!take_jobs(s, argc, argv, &u.filter))
		return;
	int r = s->ask->call(s->ask, MSG_JOB_UPDATE, &u, &reply, 0, &err);
	report(s, &u.filter, r, &err, &reply);
	if (r < 0 && err.code == -E_INVALID_JOB_ID)
		scontrol_fail(s, "slurm_suspend error:%s", err.text);
}

void scontrol_requeue(struct scontrol *s, int argc, char **argv)
{
	struct job_requeue q = { .hold = str_eq(argv[0], "requeuehold") };
	struct cancel_reply reply = {};
	struct error err = {};
	if (argc > 1 && str_ieq(argv[1], "incomplete")) {
		scontrol_fail(s, "%s: error: %s Incomplete is not supported yet", s->ask->program,
			      argv[0]);
		return;
	}
	if (!take_jobs(s, argc, argv, &q.filter))
		return;
	int r = s->ask->call(s->ask, MSG_JOB_REQUEUE, &q, &reply, 0, &err);
	report(s, &q.filter, r, &err, &reply);
}

void scontrol_wait_job(struct scontrol *s, int argc, char **argv)
{
	struct job_wait w = { .for_start = true, .for_end = true };
	struct job_wait_reply reply = {};
	struct error err = {};
	if (argc != 2 || str_to_u32(argv[1], &w.job_id) < 0) {
		scontrol_fail(s, "%s: error: wait_job needs one job id", s->ask->program);
		return;
	}
	if (s->ask->call(s->ask, MSG_JOB_WAIT, &w, &reply, -1, &err) < 0)
		scontrol_fail(s, "%s for job %u", err.text, w.job_id);
	else if (job_is_ended(&reply.job))
		scontrol_fail(s, "job %u has ended: %s", w.job_id,
			      job_state_word(&reply.job, false));
}

/* ---- update ------------------------------------------------------------------------------------ */

enum target { TARGET_NONE, TARGET_JOB, TARGET_NODE, TARGET_PARTITION, TARGET_OTHER };

/* In order of precedence: `partition` is a key of jobs too. */
static const struct {
	const char *key;
	enum target target;
} target_keys[] = {
	{ "JobId", TARGET_JOB },
	{ "Job", TARGET_JOB },
	{ "StepId", TARGET_OTHER },
	{ "Step", TARGET_OTHER },
	{ "NodeName", TARGET_NODE },
	{ "Node", TARGET_NODE },
	{ "PartitionName", TARGET_PARTITION },
	{ "Partition", TARGET_PARTITION },
	{ "ReservationName", TARGET_OTHER },
	{ "Reservation", TARGET_OTHER },
	{ "SuspendExcNodes", TARGET_OTHER },
	{ "SuspendExcParts", TARGET_OTHER },
	{ "SuspendExcStates", TARGET_OTHER },
};

struct change {
	enum target target;
	const char *key, *name; /* NodeName, n[1-3] */
	struct conf_line *pairs;
	uint32_t count;
};

static bool is_target_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_COUNT(target_keys); i++)
		if (str_ieq(word, target_keys[i].key))
			return true;
	return false;
}

/* `update job 7 TimeLimit=5` is also written: the word and the one behind it make a pair. */
static int split_pairs(struct scontrol *s, int argc, char **argv, struct change *c,
		       struct error *err)
{
	c->pairs = ARENA_ARRAY(s->ask->arena, struct conf_line, argc + 1);
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (!strchr(word, '=') && is_target_word(word) && i + 1 < argc)
			word = arena_printf(s->ask->arena, "%s=%s", word, argv[++i]);
		int r = pair_split(word, s->ask->arena, &c->pairs[c->count], err);
		if (r < 0)
			return r;
		c->count++;
	}
	return 0;
}

static void take_target(struct change *c)
{
	for (size_t t = 0; t < ARRAY_COUNT(target_keys); t++) {
		for (uint32_t i = 0; i < c->count; i++) {
			if (!str_ieq(c->pairs[i].key, target_keys[t].key))
				continue;
			c->target = target_keys[t].target;
			c->key = c->pairs[i].key;
			c->name = c->pairs[i].value;
			memmove(&c->pairs[i], &c->pairs[i + 1],
				(c->count - i - 1) * sizeof(c->pairs[0]));
			c->count--;
			return;
		}
	}
}

static void update_jobs(struct scontrol *s, struct change *c)
{
	struct job_update u = { .keys = c->pairs, .n_keys = c->count };
	struct cancel_reply reply = {};
	struct jobrefs refs = {};
	struct error err = {};
	if (jobrefs_parse(c->name, s->ask->arena, &refs, &err) < 0 || !refs.at.count) {
		scontrol_fail(s, "%s: error: %s=%s: %s", s->ask->program, c->key, c->name,
			      *err.text ? err.text : "no job is named");
	} else {
		jobrefs_to_filter(&refs, s->ask->arena, &u.filter);
		int r = s->ask->call(s->ask, MSG_JOB_UPDATE, &u, &reply, 0, &err);
		report(s, &u.filter, r, &err, &reply);
	}
	vec_done(&refs.at);
}

static void update_nodes(struct scontrol *s, struct change *c)
{
	struct node_update u = { .names = arena_strdup(s->ask->arena, c->name),
				 .keys = c->pairs,
				 .n_keys = c->count };
	struct empty reply = {};
	struct error err = {};
	if (s->ask->call(s->ask, MSG_NODE_UPDATE, &u, &reply, 0, &err) < 0)
		scontrol_fail(s, "slurm_update error: %s", err.text);
}

static void update_partition(struct scontrol *s, struct change *c)
{
	struct partition_update u = { .name = arena_strdup(s->ask->arena, c->name),
				      .keys = c->pairs,
				      .n_keys = c->count };
	struct empty reply = {};
	struct error err = {};
	if (s->ask->call(s->ask, MSG_PARTITION_UPDATE, &u, &reply, 0, &err) < 0)
		scontrol_fail(s, "slurm_update error: %s", err.text);
}

void scontrol_update(struct scontrol *s, int argc, char **argv)
{
	struct change c = {};
	struct error err = {};
	if (split_pairs(s, argc, argv, &c, &err) < 0) {
		scontrol_fail(s, "%s: error: update: %s", s->ask->program, err.text);
		return;
	}
	take_target(&c);
	if (c.target == TARGET_NONE)
		scontrol_fail(
			s,
			"%s: error: update: say what is changed: JobId=, NodeName= or PartitionName=",
			s->ask->program);
	else if (c.target == TARGET_OTHER)
		scontrol_fail(s, "%s: error: update %s= is not supported yet", s->ask->program,
			      c.key);
	else if (!c.count)
		scontrol_fail(s, "%s: error: update: nothing to change is given for %s=%s",
			      s->ask->program, c.key, c.name);
	else if (c.target == TARGET_JOB)
		update_jobs(s, &c);
	else if (c.target == TARGET_NODE)
		update_nodes(s, &c);
	else
		update_partition(s, &c);
}
