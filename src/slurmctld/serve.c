/* SPDX-License-Identifier: Apache-2.0 */
/* One row per message: who may send it is in schema/messages.def, what it does is here. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "host/stream.h"
#include "host/user.h"
#include "schema/errors.h"
#include "slurmctld/ctld.h"

typedef void (*serve_fn)(struct ctld *s, struct request *r);

struct caller ctld_caller(const struct ctld *s, const struct request *r)
{
	return (struct caller){ .uid = r->from.uid,
				.gid = r->from.gid,
				.admin = r->from.uid == 0 || r->from.uid == s->slurm_uid };
}

/* ---- jobs -------------------------------------------------------------------------------------- */

struct user_facts {
	char user[256], group[256];
	uint32_t *groups;
	uint32_t group_count;
	const char **group_names;
};

static void look_up_user(const struct request *r, struct user_facts *ret)
{
	struct arena *a = r->arena;
	user_name(r->from.uid, ret->user, sizeof(ret->user));
	group_name(r->from.gid, ret->group, sizeof(ret->group));
	AUTO_FREE uint32_t *groups = NULL;
	ret->group_count = 0;
	if (user_groups(ret->user, r->from.gid, &groups, &ret->group_count) < 0)
		ret->group_count = 0;
	ret->groups = arena_dup(a, groups, ret->group_count * sizeof(*groups));
	ret->group_names = ARENA_ARRAY(a, const char *, ret->group_count + 1);
	for (uint32_t i = 0; i < ret->group_count; i++) {
		char name[256];
		group_name(ret->groups[i], name, sizeof(name));
		ret->group_names[i] = arena_strdup(a, name);
	}
}

static void serve_submit(struct ctld *s, struct request *r)
{
	struct user_facts user = {};
	struct submit_reply reply = {};
	struct error err = {};
	struct decision d;
	look_up_user(r, &user);
	struct submission submission = { .request = r->body,
					 .caller = ctld_caller(s, r),
					 .user = user.user,
					 .group = user.group,
					 .groups = user.groups,
					 .group_count = user.group_count,
					 .group_names = user.group_names,
					 .group_name_count = user.group_count,
					 .now = loop_now(s->loop) };
	decision_init(&d, r->arena);
	if (decide_submit(&s->cluster, &submission, &d, &reply, &err) < 0) {
		log_verbose("refused a submission of uid %u: %s", r->from.uid, err.text);
		decision_done(&d);
		request_fail(r, &err);
		return;
	}
	ctld_commit(s, &d);
	ctld_reply(s, r, &reply);
}

/* A request while it is being decided. */
struct asked {
	struct ctld *s;
	struct request *r;
	struct caller who;
	usec_t now;
	struct decision decision;
	struct error err;
};

static struct asked ask(struct ctld *s, struct request *r)
{
	struct asked a = { .s = s, .r = r, .who = ctld_caller(s, r), .now = loop_now(s->loop) };
	decision_init(&a.decision, r->arena);
	return a;
}

/* `e` is what the decision returned: negative refuses, everything else becomes true. */
static void answer(struct asked *a, int e, const void *reply)
{
	if (e < 0) {
		decision_done(&a->decision);
		request_fail(a->r, &a->err);
		return;
	}
	ctld_commit(a->s, &a->decision);
	ctld_reply(a->s, a->r, reply);
}

static void serve_cancel(struct ctld *s, struct request *r)
{
	struct asked a = ask(s, r);
	struct cancel_reply reply = {};
	answer(&a, decide_cancel(&s->cluster, r->body, &a.who, a.now, &a.decision, &reply, &a.err), &reply);
}

static void serve_requeue(struct ctld *s, struct request *r)
{
	struct asked a = ask(s, r);
	struct cancel_reply reply = {};
	answer(&a, decide_requeue(&s->cluster, r->body, &a.who, a.now, &a.decision, &reply, &a.err), &reply);
}

static void serve_job_update(struct ctld *s, struct request *r)
{
	struct asked a = ask(s, r);
	struct cancel_reply reply = {};
	answer(&a, decide_job_update(&s->cluster, r->body, &a.who, a.now, &a.decision, &reply, &a.err), &reply);
}

static void serve_job_release(struct ctld *s, struct request *r)
{
	struct asked a = ask(s, r);
	answer(&a, decide_release(&s->cluster, r->body, &a.who, a.now, &a.decision, &a.err), &(struct empty){});
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static void serve_node_update(struct ctld *s, struct request *r)
{
	struct asked a = ask(s, r);
	answer(&a, decide_node_update(&s->cluster, r->body, &a.who, a.now, &a.decision, &a.err), &(struct empty){});
}

static void not_registered(struct request *r)
{
	struct error err = {};
	error_set(&err, -E_PROTOCOL, "%s before node_register", message_descs[r->kind].name);
	request_fail(r, &err);
}

static void serve_step_end(struct ctld *s, struct request *r)
{
	const struct step_end *end = r->body;
	struct empty reply = {};
	struct decision d;
	uint32_t node;
	if (!links_node_of(s, r->conn, &node)) {
		not_registered(r);
		return;
	}
	if (end->launch_error)
		log_error("job %u step %u on %s: %s", end->job_id, end->step_id,
			  cluster_node(&s->cluster, node)->conf.name, end->launch_error);
	decision_init(&d, r->arena);
	decide_step_end(&s->cluster, node, end, loop_now(s->loop), &d);
	ctld_commit(s, &d);
	ctld_reply(s, r, &reply);
}

static void serve_job_clean(struct ctld *s, struct request *r)
{
	struct empty reply = {};
	struct decision d;
	uint32_t node;
	if (!links_node_of(s, r->conn, &node)) {
		not_registered(r);
		return;
	}
	decision_init(&d, r->arena);
	decide_job_clean(&s->cluster, node, r->body, loop_now(s->loop), &d);
	ctld_commit(s, &d);
	ctld_reply(s, r, &reply);
}

/* ---- the controller itself ---------------------------------------------------------------------- */

static void serve_ping(struct ctld *s, struct request *r)
{
	struct empty reply = {};
	(void)s;
	request_reply(r, &reply);
}

static void serve_reconfigure(struct ctld *s, struct request *r)
{
	struct empty reply = {};
	struct error err = {};
	if (ctld_reconfigure(s, &err) < 0)
		request_fail(r, &err);
	else
		ctld_reply(s, r, &reply);
}

static void serve_shutdown(struct ctld *s, struct request *r)
{
	struct empty reply = {};
	log_info("shutdown asked for by uid %u", r->from.uid);
	for (size_t i = 0; i < s->links.count; i++)
		if (s->links.at[i].conn)
			conn_send(s->links.at[i].conn, MSG_NODE_SHUTDOWN, &reply);
	request_reply(r, &reply);
	if (s->on_stop)
		s->on_stop(s->on_stop_arg);
}

static void serve_partition_update(struct ctld *s, struct request *r)
{
	struct error err = {};
	(void)s;
	error_set(&err, -E_NOT_SUPPORTED,
		  "%s: changing a partition is not built yet; edit slurm.conf and run scontrol reconfigure",
		  enum_text(&error_code_enum, E_NOT_SUPPORTED));
	request_fail(r, &err);
}

static const serve_fn handlers[MSG_COUNT] = {
	[MSG_PING] = serve_ping,
	[MSG_SUBMIT] = serve_submit,
	[MSG_JOB_QUERY] = read_jobs,
	[MSG_NODE_QUERY] = read_nodes,
	[MSG_PARTITION_QUERY] = read_partitions,
	[MSG_LICENSE_QUERY] = read_licenses,
	[MSG_CONF_QUERY] = read_conf,
	[MSG_TOPO_QUERY] = read_topology,
	[MSG_CANCEL] = serve_cancel,
	[MSG_JOB_UPDATE] = serve_job_update,
	[MSG_JOB_REQUEUE] = serve_requeue,
	[MSG_JOB_WAIT] = waits_add,
	[MSG_JOB_RELEASE] = serve_job_release,
	[MSG_STEP_CREATE] = waits_step,
	[MSG_NODE_UPDATE] = serve_node_update,
	[MSG_PARTITION_UPDATE] = serve_partition_update,
	[MSG_RECONFIGURE] = serve_reconfigure,
	[MSG_SHUTDOWN] = serve_shutdown,
	[MSG_NODE_REGISTER] = links_register,
	[MSG_NODE_HEARTBEAT] = links_heartbeat,
	[MSG_STEP_END] = serve_step_end,
	[MSG_JOB_CLEAN] = serve_job_clean,
};

static bool may_send(const struct ctld *s, const struct request *r)
{
	struct caller who = ctld_caller(s, r);
	switch ((enum message_access)message_descs[r->kind].access) {
	case ACCESS_ANYONE:
		return true;
	case ACCESS_ADMIN:
	case ACCESS_NODE:
		return who.admin;
	case ACCESS_LOCAL:
	case ACCESS_STEP:
		break;
	}
	return false;
}

static void on_request(void *arg, struct request *r)
{
	struct ctld *s = arg;
	struct error err = {};
	serve_fn fn = r->kind < MSG_COUNT ? handlers[r->kind] : NULL;
	if (s->stopping)
		error_set(&err, -E_SHUTTING_DOWN, "%s", enum_text(&error_code_enum, E_SHUTTING_DOWN));
	else if (!fn)
		error_set(&err, -E_PROTOCOL, "%s: the controller does not take message %u",
			  enum_text(&error_code_enum, E_PROTOCOL), r->kind);
	else if (!may_send(s, r))
		error_set(&err, -E_ACCESS_DENIED, "%s", enum_text(&error_code_enum, E_ACCESS_DENIED));
	if (err.code) {
		log_verbose("refused %s from uid %u: %s",
			    r->kind < MSG_COUNT && message_descs[r->kind].name ? message_descs[r->kind].name : "a message",
			    r->from.uid, err.text);
		request_fail(r, &err);
		return;
	}
	fn(s, r);
}

static void on_ready(void *arg, struct conn *c)
{
	(void)arg;
	(void)c;
}

void ctld_forget_conn(struct ctld *s, const struct conn *c)
{
	for (size_t i = 0; i < s->conns.count; i++) {
		if (s->conns.at[i] == c) {
			s->conns.at[i] = s->conns.at[--s->conns.count];
			return;
		}
	}
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct ctld *s = arg;
	if (conn_was_refused(c))
		log_info("connection of %s: %s", conn_peer_name(c), why);
	else
		log_debug("connection of %s closed: %s", conn_peer_name(c), why);
	links_closed(s, c);
	ctld_forget_conn(s, c);
}

static const struct conn_handler handler = { on_ready, on_request, on_closed };

void ctld_accept(void *arg, struct stream *stream)
{
	struct ctld *s = arg;
	struct conn *c = conn_accept(stream, &s->conn_options, &handler, s);
	if (c)
		vec_push(&s->conns, c);
}
