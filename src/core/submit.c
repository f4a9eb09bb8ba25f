/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a job in the queue: everything that can be wrong is found here, before anything is
 * written down, and each refusal names the option and what would be right.  What was left open is
 * filled in: partition, time limit, memory. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "core/defaults.h"
#include "core/internal.h"
#include "schema/errors.h"
#include "sched/demand.h"
#include "sched/limits.h"
#include "sched/features.h"
#include "sched/plan.h"
#include "text/hostlist.h"
#include "text/idset.h"
#include "text/licenses.h"

#include <inttypes.h>
#include <string.h>

/* Slurm's priority/basic counts down from here: first come, first served. */
enum { PRIORITY_FIRST = 4294901760u };

struct accept {
	const struct cluster *c;
	const struct submission *s;
	struct decision *out;
	struct submit_reply *reply;
	struct error *err;
	struct job job;
	struct sched_view view;
	bool will_wait; /* a partition limit keeps it from starting for now */
};

/* ---- what this version cannot do yet ------------------------------------------------------------ */

static int refuse_missing(struct accept *a)
{
	const struct job_spec *s = &a->s->request->spec;
	const struct resource_request *r = &s->request;
	const struct {
		bool asked;
		const char *option;
	} missing[] = {
		{ !str_empty(s->dependency), "--dependency" },
		{ !str_empty(s->reservation), "--reservation" },
		{ s->has_deadline, "--deadline" },
		{ s->has_time_min, "--time-min" },
		{ !str_empty(s->mail_type), "--mail-type" },
		{ !str_empty(s->wckey), "--wckey" },
		{ s->no_kill, "--no-kill" },
		{ r->gres_flags && strstr(r->gres_flags, "allow-task-sharing"), "--gres-flags=allow-task-sharing" },
		{ !str_empty(r->gpu_freq), "--gpu-freq" },
		{ r->exclusive == EXCLUSIVE_KIND_MCS, "--exclusive=mcs (there are no security labels)" },
		{ r->exclusive == EXCLUSIVE_KIND_TOPO, "--exclusive=topo" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(missing); i++)
		if (missing[i].asked)
			return error_set(a->err, -E_NOT_SUPPORTED, "%s: %s is not built yet",
					 enum_text(&error_code_enum, E_NOT_SUPPORTED), missing[i].option);
	return 0;
}

/* ---- partition --------------------------------------------------------------------------------- */

static void list_partitions(const struct cluster *c, struct buf *out)
{
	for (size_t i = 0; i < c->partitions.count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", c->partitions.at[i]->partition.conf.name);
}

static bool in_groups(const struct submission *s, const char *allowed)
{
	for (const char *p = allowed; *p;) {
		size_t len = strcspn(p, ",");
		for (uint32_t i = 0; i < s->group_name_count; i++)
			if (strlen(s->group_names[i]) == len && strncmp(s->group_names[i], p, len) == 0)
				return true;
		p += len + (p[len] == ',');
	}
	return false;
}

/* AllocNodes= of the partition. */
static bool from_host(const char *allowed, const char *host, struct arena *a)
{
	struct hostlist names;
	if (str_empty(allowed) || str_ieq(allowed, "ALL"))
		return true;
	if (hostlist_expand(allowed, a, &names, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < names.count; i++)
		if (host && str_ieq(names.names[i], host))
			return true;
	return false;
}

static int may_use(struct accept *a, const struct partition *p)
{
	const struct partition_conf *conf = &p->conf;
	const struct caller *who = &a->s->caller;
	if (conf->state == PARTITION_STATE_DRAIN || conf->state == PARTITION_STATE_INACTIVE)
		return error_set(a->err, -E_PART_CONFIG, "%s: partition %s takes no jobs at present (State=%s)",
				 enum_text(&error_code_enum, E_PART_CONFIG), conf->name,
				 enum_text(&partition_state_enum, conf->state));
	if (who->uid != 0 && conf->root_only)
		return error_set(a->err, -E_ACCESS_DENIED, "%s: partition %s is for root alone",
				 enum_text(&error_code_enum, E_ACCESS_DENIED), conf->name);
	if (who->uid == 0 && (conf->disable_root_jobs || a->c->settings.disable_root_jobs))
		return error_set(a->err, -E_ACCESS_DENIED, "%s: partition %s takes no jobs of root",
				 enum_text(&error_code_enum, E_ACCESS_DENIED), conf->name);
	if (who->uid != 0 && !str_empty(conf->allow_groups) && !str_ieq(conf->allow_groups, "ALL") &&
	    !in_groups(a->s, conf->allow_groups))
		return error_set(a->err, -E_ACCESS_DENIED, "%s: partition %s is for the groups %s",
				 enum_text(&error_code_enum, E_ACCESS_DENIED), conf->name, conf->allow_groups);
	if (conf->req_resv && str_empty(a->s->request->spec.reservation))
		return error_set(a->err, -E_ACCESS_DENIED, "%s: partition %s is for jobs with --reservation",
				 enum_text(&error_code_enum, E_ACCESS_DENIED), conf->name);
	if (!from_host(conf->alloc_nodes, a->s->request->spec.submit_host, a->out->arena))
		return error_set(a->err, -E_ACCESS_DENIED, "%s: partition %s takes jobs from %s, not from %s",
				 enum_text(&error_code_enum, E_ACCESS_DENIED), conf->name, conf->alloc_nodes,
				 a->s->request->spec.submit_host ? a->s->request->spec.submit_host : "elsewhere");
	return 0;
}

/* The first partition of the list; every one of them must exist and be allowed. */
static int choose_partition(struct accept *a, const struct partition **ret)
{
	const char *list = a->s->request->spec.partition;
	if (str_empty(list)) {
		*ret = cluster_default_partition(a->c);
		if (!*ret)
			return error_set(a->err, -E_DEFAULT_PARTITION, "%s",
					 enum_text(&error_code_enum, E_DEFAULT_PARTITION));
		return may_use(a, *ret);
	}
	*ret = NULL;
	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");
		const char *name = arena_strndup(a->out->arena, p, len);
		const struct partition *found = cluster_partition(a->c, name);
		if (!found) {
			AUTO_BUF struct buf have = {};
			list_partitions(a->c, &have);
			return error_set(a->err, -E_INVALID_PARTITION, "%s: '%s' (there are: %s)",
					 enum_text(&error_code_enum, E_INVALID_PARTITION), name, buf_text(&have));
		}
		int e = may_use(a, found);
		if (e < 0)
			return e;
		if (!*ret)
			*ret = found;
		p += len + (p[len] == ',');
	}
	return 0;
}

/* ---- the request itself ------------------------------------------------------------------------ */

static int check_names(struct accept *a, const char *list, const char *option)
{
	struct hostlist names;
	if (str_empty(list))
		return 0;
	int e = hostlist_expand(list, a->out->arena, &names, a->err);
	if (e < 0)
		return error_wrap(a->err, -E_INVALID_NODE_NAME, "%s: %s=%s",
				  enum_text(&error_code_enum, E_INVALID_NODE_NAME), option, list);
	for (uint32_t i = 0; i < names.count; i++) {
		const struct node *n = cluster_node_named(a->c, names.names[i]);
		if (!n || n->removed)
			return error_set(a->err, -E_INVALID_NODE_NAME, "%s: %s: there is no node '%s'",
					 enum_text(&error_code_enum, E_INVALID_NODE_NAME), option, names.names[i]);
	}
	return 0;
}

static bool gres_known(const struct cluster *c, const char *name)
{
	const char *list = c->settings.gres_types;
	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");
		if (strlen(name) == len && strncmp(p, name, len) == 0)
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

static int check_gres(struct accept *a, const struct gres_request *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!gres_known(a->c, list[i].name))
			return error_set(a->err, -E_INVALID_GRES, "%s: '%s' is not among GresTypes (%s)",
					 enum_text(&error_code_enum, E_INVALID_GRES), list[i].name,
					 a->c->settings.gres_types[0] ? a->c->settings.gres_types : "none");
	return 0;
}

static int check_feature(void *arg, const char *name)
{
	struct accept *a = arg;
	for (uint32_t i = 0; i < a->view.node_count; i++)
		if (a->view.nodes[i] && node_has_feature(a->view.nodes[i], name))
			return 0;
	return error_set(a->err, -E_INVALID_FEATURE, "no node has '%s'", name);
}

static int check_features(struct accept *a, const char *text, const char *option)
{
	struct constraint *c;
	if (str_empty(text))
		return 0;
	int e = constraint_parse(text, a->out->arena, &c, a->err);
	if (e == 0)
		e = constraint_each_name(c, check_feature, a);
	if (e < 0)
		return error_wrap(a->err, -E_INVALID_FEATURE, "%s: %s",
				  enum_text(&error_code_enum, E_INVALID_FEATURE), option);
	return 0;
}

/* Those asked for exist, and so many of them: all, or of alternatives at least one. */
static int check_licenses(struct accept *a, const char *wanted)
{
	struct license_list l;
	bool possible = false;
	if (str_empty(wanted))
		return 0;
	if (licenses_parse(wanted, a->out->arena, &l, a->err) < 0)
		return error_wrap(a->err, -E_INVALID_LICENSES, "%s",
				  enum_text(&error_code_enum, E_INVALID_LICENSES));
	for (uint32_t i = 0; i < l.count; i++) {
		const struct license *have = cluster_license(a->c, l.at[i].name);
		if (!have)
			return error_set(a->err, -E_INVALID_LICENSES, "%s: there is no license '%s'",
					 enum_text(&error_code_enum, E_INVALID_LICENSES), l.at[i].name);
		possible |= l.at[i].count <= have->total;
		if (l.at[i].count > have->total && (!l.any || (i + 1 == l.count && !possible)))
			return error_set(a->err, -E_INVALID_LICENSES, "%s: %llu of license '%s' asked for, there are %llu",
					 enum_text(&error_code_enum, E_INVALID_LICENSES),
					 (unsigned long long)l.at[i].count, l.at[i].name,
					 (unsigned long long)have->total);
	}
	return 0;
}

static bool has_memory(const struct resource_request *r)
{
	return r->has_mem_per_node_mib || r->has_mem_per_cpu_mib || r->has_mem_per_gpu_mib;
}

static int check_request(struct accept *a)
{
	const struct resource_request *r = &a->job.spec.request;
	struct demand d;
	int e = check_features(a, r->constraint, "--constraint");
	if (e < 0 || (e = check_features(a, r->prefer, "--prefer")) < 0 || (e = demand_from(r, &d, a->err)) < 0)
		return e;
	if ((e = check_names(a, r->node_list, "--nodelist")) < 0 || (e = check_names(a, r->exclude, "--exclude")) < 0)
		return e;
	if ((e = check_gres(a, r->gres_per_node, r->n_gres_per_node)) < 0 ||
	    (e = check_gres(a, r->gres_per_job, r->n_gres_per_job)) < 0 ||
	    (e = check_gres(a, r->gres_per_socket, r->n_gres_per_socket)) < 0 ||
	    (e = check_gres(a, r->gres_per_task, r->n_gres_per_task)) < 0)
		return e;
	if ((r->has_core_spec || r->has_thread_spec) && !a->c->settings.allow_spec)
		return error_set(a->err, -E_NOT_SUPPORTED, "%s: %s needs AllowSpecResourcesUsage=YES",
				 enum_text(&error_code_enum, E_NOT_SUPPORTED),
				 r->has_core_spec ? "--core-spec" : "--thread-spec");
	return check_licenses(a, r->licenses);
}

static int code_of(enum job_reason reason)
{
	return reason == JOB_REASON_PART_TIME_LIMIT     ? E_INVALID_TIME_LIMIT :
	       reason == JOB_REASON_PART_NODE_LIMIT     ? E_TOO_MANY_NODES :
	       reason == JOB_REASON_MAX_MEM_PER_LIMIT   ? E_INVALID_TASK_MEMORY :
	       reason == JOB_REASON_ACCOUNT_NOT_ALLOWED ? E_INVALID_ACCOUNT :
	       reason == JOB_REASON_QOS_NOT_ALLOWED     ? E_INVALID_QOS :
							  E_PART_CONFIG;
}

/* What a partition does not allow makes the job wait and say so (sbatch(1)), unless the site wants such
 * jobs refused: when one of their partitions refuses, or when all of them do. */
static int check_limits(struct accept *a, const struct partition *first)
{
	const char *list = str_empty(a->job.spec.partition) ? first->conf.name : a->job.spec.partition;
	AUTO_BUF struct buf why = {};
	enum job_reason reason = JOB_REASON_NONE;
	uint32_t refused = 0, asked = 0;
	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");
		AUTO_BUF struct buf text = {};
		const struct partition *one = cluster_partition(a->c, arena_strndup(a->out->arena, p, len));
		enum job_reason r = limits_refuse(&a->view, one, &a->job, &text);
		p += len + (p[len] == ',');
		asked++;
		refused += r != JOB_REASON_NONE;
		if (r == JOB_REASON_NONE || reason != JOB_REASON_NONE)
			continue;
		reason = r;
		buf_puts(&why, buf_text(&text));
	}
	a->will_wait = refused == asked;
	bool enforced = a->c->settings.enforce_part_limits == ENFORCE_ALL ||
			(a->c->settings.enforce_part_limits == ENFORCE_ANY && a->will_wait);
	if (!refused || !enforced)
		return 0;
	int code = code_of(reason);
	return error_set(a->err, -code, "%s: %s", enum_text(&error_code_enum, code), buf_text(&why));
}

/* Can any of the job's partitions ever hold it? */
static int check_possible(struct accept *a, const struct partition *first)
{
	/* What was accepted once is possible: looking at every node again would cost each submission. */
	if (a->will_wait || cluster_knows_request(a->c, a->job.eval_signature, a->job.spec.partition))
		return 0;
	AUTO_BUF struct buf why = {};
	if (plan_possible(&a->view, &a->job.spec.request, first, &why))
		return 0;
	const char *list = a->job.spec.partition ? a->job.spec.partition : "";
	for (const char *p = strchr(list, ','); p; p = strchr(p + 1, ',')) {
		const char *name = arena_strndup(a->out->arena, p + 1, strcspn(p + 1, ","));
		const struct partition *other = cluster_partition(a->c, name);
		if (other && plan_possible(&a->view, &a->job.spec.request, other, NULL))
			return 0;
	}
	return error_set(a->err, -E_NODE_CONFIG, "%s: in partition %s %s",
			 enum_text(&error_code_enum, E_NODE_CONFIG), first->conf.name, buf_text(&why));
}

static int read_array(struct accept *a)
{
	struct array_spec spec;
	if (str_empty(a->job.spec.array))
		return 0;
	int e = array_parse(a->job.spec.array, a->c->settings.max_array_size, a->out->arena, &spec, a->err);
	if (e < 0)
		return error_wrap(a->err, -E_INVALID_ARRAY, "%s", enum_text(&error_code_enum, E_INVALID_ARRAY));
	struct job *j = &a->job;
	j->array_job_id = j->id;
	j->n_array_tasks = spec.ids.count;
	j->array_tasks = ARENA_ARRAY(a->out->arena, struct id_range, spec.ids.count);
	for (uint32_t i = 0; i < spec.ids.count; i++)
		j->array_tasks[i] = (struct id_range){ spec.ids.ranges[i].first, spec.ids.ranges[i].last };
	j->array_limit = spec.limit;
	j->array_count = spec.total;
	j->array_min = spec.min;
	j->array_max = spec.max;
	j->array_step = spec.step;
	return 0;
}

/* ---- the job ----------------------------------------------------------------------------------- */

static uint64_t signature(const struct job *j)
{
	AUTO_BUF struct buf bytes = {};
	record_encode(&resource_request_record, &j->spec.request, &bytes);
	uint64_t h = hash_bytes(bytes.data, bytes.len);
	return h ? h : 1;
}

static void describe(struct accept *a, const struct partition *p)
{
	const struct submission *s = a->s;
	struct job *j = &a->job;
	j->spec = s->request->spec;
	j->uid = s->caller.uid;
	j->gid = s->caller.gid;
	j->user = (char *)(uintptr_t)s->user;
	j->group = (char *)(uintptr_t)s->group;
	j->groups = (uint32_t *)(uintptr_t)s->groups;
	j->n_groups = s->group_count;
	j->partition = p->conf.name;
	j->billing_weights = p->conf.tres_billing_weights;
	j->billing_max = a->c->settings.bills_largest;
	j->attempt = 1;
	j->submit_time = s->now;
	j->eligible_time = j->spec.has_begin_time && j->spec.begin_time > s->now ? j->spec.begin_time : s->now;
	j->submit_token = s->request->token;
	j->requeue = j->spec.has_requeue ? j->spec.requeue : a->c->settings.job_requeue;
	j->hold = j->spec.hold ? HOLD_KIND_USER : HOLD_KIND_NONE;
	if (j->hold)
		j->reason = JOB_REASON_HELD_USER;
	else if (j->eligible_time > s->now)
		j->reason = JOB_REASON_BEGIN_TIME;
	j->time_limit = j->spec.has_time_limit ? j->spec.time_limit : p->conf.default_time;
	if (!j->spec.has_time_limit && !p->conf.default_time)
		j->time_limit = p->conf.max_time;
	defaults_fill(&a->c->settings, &a->view, p, &j->spec, a->out->arena);
}

static int set_priority(struct accept *a)
{
	struct job *j = &a->job;
	const struct job_spec *s = &j->spec;
	if ((s->has_priority || s->nice < 0) && !a->s->caller.admin)
		return error_set(a->err, -E_ACCESS_DENIED, "%s: %s is for administrators",
				 enum_text(&error_code_enum, E_ACCESS_DENIED),
				 s->has_priority ? "--priority" : "a negative --nice");
	int64_t p = s->has_priority ? s->priority : (int64_t)PRIORITY_FIRST - j->id;
	p -= s->nice;
	j->priority = p < 1 ? 1 : p > UINT32_MAX ? UINT32_MAX : (uint32_t)p;
	return 0;
}

static int check_room(struct accept *a)
{
	if (a->c->jobs.count >= a->c->settings.max_job_count)
		return error_set(a->err, -E_TOO_MANY_JOBS, "%s: %zu jobs are known, MaxJobCount allows %u",
				 enum_text(&error_code_enum, E_TOO_MANY_JOBS), a->c->jobs.count,
				 a->c->settings.max_job_count);
	if (a->job.spec.batch && a->s->request->script.len == 0 && !a->s->request->test_only)
		return error_set(a->err, -E_PROTOCOL, "a batch job without a script");
	return 0;
}

static void test_only(struct accept *a)
{
	if (a->will_wait) {
		a->reply->job_id = a->job.id;
		a->reply->why = arena_strdup(a->out->arena, "a limit of its partition keeps it waiting");
		return;
	}
	expect_job(a->c, &a->view, &a->job, a->out->arena, a->reply);
}

int decide_submit(const struct cluster *c, const struct submission *s, struct decision *out,
		  struct submit_reply *reply, struct error *err)
{
	const struct job *known = cluster_job_by_token(c, s->request->token);
	if (known && known->uid == s->caller.uid) { /* a repeated request is the same job */
		reply->job_id = known->id;
		return 0;
	}
	struct accept a = { .c = c, .s = s, .out = out, .reply = reply, .err = err };
	const struct partition *p;
	int e;
	cluster_look(c, s->now, out->arena, &a.view);
	a.job.id = c->next_job_id;
	if ((e = refuse_missing(&a)) < 0 || (e = choose_partition(&a, &p)) < 0)
		return e;
	describe(&a, p);
	a.job.eval_signature = signature(&a.job);
	if ((e = check_room(&a)) < 0 || (e = set_priority(&a)) < 0 || (e = read_array(&a)) < 0 ||
	    (e = check_request(&a)) < 0 || (e = check_limits(&a, p)) < 0 || (e = check_possible(&a, p)) < 0)
		return e;
	reply->default_memory = has_memory(&a.job.spec.request) && !has_memory(&s->request->spec.request);
	if (s->request->test_only) {
		test_only(&a);
		return 0;
	}
	a.job.script_blob = decide_blob(c, &s->request->script, out);
	a.job.env_blob = decide_blob(c, &s->request->env, out);
	decision_event(out, EVENT_JOB_SUBMITTED)->job_submitted.job = a.job;
	reply->job_id = a.job.id;
	return 0;
}
