/* SPDX-License-Identifier: Apache-2.0 */
/* A user who submits jobs, cancels some, and never gives up: a request that was not answered is sent
 * again with the same token until it is. */
#include "base/error.h"
#include "base/mem.h"
#include "host/loop.h"
#include "schema/messages.h"
#include "sim/cast.h"

#include <stdio.h>
#include <string.h>

static void next_later(struct user_player *u, usec_t delay)
{
	timer_start(u->timer, delay + 1, 0);
}

static void drop_conn(struct user_player *u)
{
	conn_close(u->conn);
	u->conn = NULL;
}

static void on_submitted(void *arg, const void *reply, const struct error *err)
{
	struct user_player *u = arg;
	const struct submit_reply *r = reply;
	if (!reply) {
		world_tell("user %u: no answer (%s), asking again", u->uid, err->text);
		next_later(u, 200000);
		return;
	}
	world_tell("user %u: job %u acknowledged", u->uid, r->job_id);
	vec_push(&u->cast->acked, (struct acked){ .job_id = r->job_id });
	u->token = 0;
	u->left--;
	if (world_chance(u->cast->w, 5))
		u->wants_cancel = r->job_id;
	next_later(u, (usec_t)world_draw(u->cast->w, 2000000));
}

/* What is asked for follows from the token, so that a repeated request is the same request. */
static void submit(struct user_player *u)
{
	uint8_t script[] = "#!/bin/sh\n";
	char name[] = "sim", array[32];
	uint64_t x = hash_mix(7, u->token);
	struct submit_request q = { .token = u->token, .script = { script, sizeof(script) - 1 } };
	q.spec = (struct job_spec){ .name = name, .batch = true };
	q.spec.request.nodes_min = q.spec.request.nodes_max = 1 + (uint32_t)(x % (u->cast->node_count < 3 ? u->cast->node_count : 3));
	q.spec.request.has_ntasks_per_node = true;
	q.spec.request.ntasks_per_node = 1 + (uint32_t)(x >> 8) % 3;
	if ((x >> 16) % 6 == 0) {
		snprintf(array, sizeof(array), "0-%u%%2", (unsigned)((x >> 20) % 4));
		q.spec.array = array;
	}
	if ((x >> 30) % 8 == 0) {
		q.spec.has_time_limit = true;
		q.spec.time_limit = USEC_PER_MIN;
	}
	char license[] = "sim:2";
	if ((x >> 36) % 4 == 0)
		q.spec.request.licenses = license;
	conn_call(u->conn, MSG_SUBMIT, &q, 10 * USEC_PER_SEC, on_submitted, u);
}

static void on_cancelled(void *arg, const void *reply, const struct error *err)
{
	struct user_player *u = arg;
	(void)err;
	if (!reply) {
		next_later(u, 200000);
		return;
	}
	for (size_t i = 0; i < u->cast->acked.count; i++)
		if (u->cast->acked.at[i].job_id == u->wants_cancel)
			u->cast->acked.at[i].cancelled = true;
	u->wants_cancel = 0;
	next_later(u, (usec_t)world_draw(u->cast->w, 2000000));
}

static void cancel(struct user_player *u)
{
	struct cancel_request q = { .filter = { .ids = &u->wants_cancel, .n_ids = 1 }, .quiet_done = true };
	conn_call(u->conn, MSG_CANCEL, &q, 10 * USEC_PER_SEC, on_cancelled, u);
}

static void on_ready(void *arg, struct conn *c)
{
	struct user_player *u = arg;
	(void)c;
	if (u->wants_cancel)
		cancel(u);
	else
		submit(u);
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct user_player *u = arg;
	(void)why;
	if (u->conn == c)
		u->conn = NULL;
	next_later(u, 200000 + (usec_t)world_draw(u->cast->w, 500000));
}

static const struct conn_handler handler = { .ready = on_ready, .closed = on_closed };

/* A new connection for every request, as commands have it. */
static void act(void *arg)
{
	struct user_player *u = arg;
	drop_conn(u);
	if (!u->wants_cancel && !u->token) {
		if (!u->left)
			return;
		u->token = 1 + world_draw(u->cast->w, UINT64_MAX >> 12);
	}
	struct conn_options o = { .loop = u->loop, .auth = u->cast->auth, .program = "user", .cluster = "sim" };
	u->conn = conn_connect_tcp("control", 6817, &o, &handler, u);
}

void user_player_start(struct user_player *u)
{
	u->loop = loop_on(&u->machine);
	u->timer = timer_new(u->loop, act, u);
	next_later(u, (usec_t)world_draw(u->cast->w, 1000000));
}

void user_player_stop(struct user_player *u)
{
	loop_kill(u->loop);
	drop_conn(u);
	timer_free(u->timer);
	loop_free(u->loop);
}
