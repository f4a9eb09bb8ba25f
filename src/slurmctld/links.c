/* SPDX-License-Identifier: Apache-2.0 */
/* Node daemons: each holds one connection for as long as it lives.  A node without one gets no work;
 * one that stays away longer than SlurmdTimeout is DOWN and its jobs are lost. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "host/loop.h"
#include "slurmctld/ctld.h"

static struct link *link_of(struct ctld *s, uint32_t node)
{
	while (s->links.count <= node)
		vec_push(&s->links, (struct link){ .node = (uint32_t)s->links.count });
	return &s->links.at[node];
}

struct conn *links_conn(const struct ctld *s, uint32_t node)
{
	return node < s->links.count ? s->links.at[node].conn : NULL;
}

bool links_node_of(const struct ctld *s, const struct conn *c, uint32_t *ret)
{
	for (size_t i = 0; c && i < s->links.count; i++) {
		if (s->links.at[i].conn == c) {
			*ret = (uint32_t)i;
			return true;
		}
	}
	return false;
}

/* How often a node speaks: often enough that silence is noticed well before SlurmdTimeout. */
static usec_t heartbeat_every(const struct ctld *s)
{
	usec_t every = (usec_t)s->conf->main.slurmd_timeout * USEC_PER_SEC / 10;
	if (every < USEC_PER_SEC / 2)
		return USEC_PER_SEC / 2;
	return every > 10 * USEC_PER_SEC ? 10 * USEC_PER_SEC : every;
}

void links_register(struct ctld *s, struct request *r)
{
	const struct node_register *body = r->body;
	struct registration registration = { body, loop_now(s->loop) };
	struct node_register_reply reply = { .heartbeat_usec = heartbeat_every(s) };
	struct error err = {};
	struct decision d;
	decision_init(&d, r->arena);
	if (decide_register(&s->cluster, &registration, &d, &reply.node, &err) < 0) {
		log_error("refused to register '%s' from %s: %s", body->name ? body->name : "",
			  conn_peer_name(r->conn), err.text);
		decision_done(&d);
		request_fail(r, &err);
		return;
	}
	struct link *link = link_of(s, reply.node);
	if (link->conn && link->conn != r->conn) {
		struct conn *old = link->conn;
		link->conn = NULL; /* a daemon that came back before its old connection broke */
		ctld_forget_conn(s, old);
		conn_close(old);
	}
	link->conn = r->conn;
	cluster_set_link(&s->cluster, reply.node, true, registration.now);
	log_info("node %s registered, holding %u steps", body->name, body->n_held);
	ctld_commit(s, &d);
	ctld_reply(s, r, &reply);
	planner_wake(s);
}

void links_heartbeat(struct ctld *s, struct request *r)
{
	const struct node_heartbeat *body = r->body;
	struct empty reply = {};
	struct decision d;
	uint32_t node;
	if (!links_node_of(s, r->conn, &node)) {
		struct error err = {};
		error_set(&err, -1, "heartbeat before node_register");
		request_fail(r, &err);
		return;
	}
	cluster_set_load(&s->cluster, node, body->cpu_load, body->free_mem_mib, loop_now(s->loop));
	decision_init(&d, r->arena);
	decide_heartbeat(&s->cluster, node, body, &d);
	ctld_commit(s, &d);
	ctld_reply(s, r, &reply);
}

void links_closed(struct ctld *s, struct conn *c)
{
	uint32_t node;
	if (!links_node_of(s, c, &node))
		return;
	s->links.at[node].conn = NULL;
	cluster_set_link(&s->cluster, node, false, loop_now(s->loop));
	log_error("node %s: connection lost", cluster_node(&s->cluster, node)->conf.name);
}

static bool is_silent(const struct ctld *s, const struct node *n, usec_t now)
{
	if (n->removed && !cluster_node_has_work(&s->cluster, n->index))
		return false;
	usec_t heard = n->last_response > s->boot_time ? n->last_response : s->boot_time;
	usec_t timeout = (usec_t)s->conf->main.slurmd_timeout * USEC_PER_SEC;
	return timeout && n->registered && !n->down && now - heard > timeout;
}

void links_tick(struct ctld *s, usec_t now)
{
	for (uint32_t i = 0; i < cluster_node_count(&s->cluster); i++) {
		const struct node *n = cluster_node(&s->cluster, i);
		if (!n || !is_silent(s, n, now))
			continue;
		AUTO_ARENA struct arena *turn = arena_new();
		struct decision d;
		log_error("node %s has been silent for more than %u s: DOWN", n->conf.name,
			  s->conf->main.slurmd_timeout);
		decision_init(&d, turn);
		decide_node_lost(&s->cluster, i, now, &d);
		ctld_commit(s, &d);
		struct conn *c = links_conn(s, i);
		if (c) { /* it accepts and never answers: let it come back properly */
			links_closed(s, c);
			ctld_forget_conn(s, c);
			conn_close(c);
		}
	}
}
