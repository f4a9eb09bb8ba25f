/* SPDX-License-Identifier: Apache-2.0 */
/* A user who submits jobs, cancels or requeues some, takes allocations and runs steps in them, and never
 * gives up: a request that was not answered is sent again with the same token until it is.
 *
 * A user has one wish at a time.  Each wish is one request on a connection of its own, as commands have
 * it; the answer decides the next wish, a refusal gives up on the job it was about. */
#include "base/error.h"
#include "base/mem.h"
#include "host/loop.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "sim/cast.h"

#include <stdio.h>
#include <string.h>

static void next_later(struct user_player *u, usec_t delay)
{
	timer_start(u->timer, delay + 1, 0);
}

static void now_wish(struct user_player *u, enum wish wish, uint64_t within)
{
	u->wish = wish;
	u->token = wish == WISH_STEP ? 1 + world_draw(u->cast->w, UINT64_MAX >> 12) : 0;
	next_later(u, (usec_t)world_draw(u->cast->w, within));
}

/* What is asked for follows from the token, so that a repeated request is the same request. */
static bool is_allocation(uint64_t token)
{
	return (hash_mix(7, token) >> 40) % 5 == 0;
}

static void submitted(struct user_player *u, const struct submit_reply *r)
{
	world_tell("user %u: job %u acknowledged", u->uid, r->job_id);
	vec_push(&u->cast->acked, (struct acked){ .job_id = r->job_id });
	bool allocation = is_allocation(u->token);
	u->left--;
	u->job = r->job_id;
	if (allocation)
		now_wish(u, WISH_WAIT, 1000);
	else if (world_chance(u->cast->w, 5))
		now_wish(u, WISH_CANCEL, 5000000);
	else if (world_chance(u->cast->w, 8))
		now_wish(u, WISH_REQUEUE, 20000000);
	else
		now_wish(u, WISH_SUBMIT, 2000000);
}

/* The wish was granted. */
static void granted(struct user_player *u, const void *reply)
{
	const struct job_wait_reply *w = reply;
	switch (u->wish) {
	case WISH_SUBMIT:
		submitted(u, reply);
		break;
	case WISH_WAIT:
		now_wish(u, w->job.state == JOB_STATE_RUNNING ? WISH_STEP : WISH_SUBMIT, 100000);
		break;
	case WISH_STEP:
		now_wish(u, world_chance(u->cast->w, 2) ? WISH_STEP : WISH_RELEASE, 10000000);
		break;
	case WISH_CANCEL:
	case WISH_RELEASE:
	case WISH_REQUEUE:
		now_wish(u, WISH_SUBMIT, 2000000);
		break;
	}
}

static void on_answer(void *arg, const void *reply, const struct error *err)
{
	struct user_player *u = arg;
	if (reply) {
		granted(u, reply);
		return;
	}
	/* An answer of the controller's is final, silence is not; an allocation is always given back. */
	bool refused = err->code <= -2000 && err->code != -E_SOCKET_TIMEOUT && err->code != -E_SHUTTING_DOWN;
	world_tell("user %u: %s (%s)", u->uid, refused ? "refused" : "no answer, asking again", err->text);
	if (refused && u->wish != WISH_SUBMIT)
		now_wish(u, u->wish == WISH_STEP ? WISH_RELEASE : WISH_SUBMIT, 1000000);
	else
		next_later(u, 200000);
}

static void submit(struct user_player *u)
{
	uint8_t script[] = "#!/bin/sh\n";
	char name[] = "sim", array[32];
	uint64_t x = hash_mix(7, u->token);
	struct submit_request q = { .token = u->token };
	uint32_t nodes_most = u->cast->node_count < 3 ? u->cast->node_count : 3;
	q.spec = (struct job_spec){ .name = name, .batch = !is_allocation(u->token) };
	q.spec.request.nodes_min = q.spec.request.nodes_max = 1 + (uint32_t)(x % nodes_most);
	q.spec.request.has_ntasks_per_node = true;
	q.spec.request.ntasks_per_node = 1 + (uint32_t)(x >> 8) % 3;
	if (q.spec.batch)
		q.script = (struct bytes){ script, sizeof(script) - 1 };
	if (q.spec.batch && (x >> 16) % 6 == 0) {
		snprintf(array, sizeof(array), "0-%u%%2", (unsigned)((x >> 20) % 4));
		q.spec.array = array;
	}
	char gpu[] = "gpu", shard[] = "shard";
	struct gres_request gres = { .name = (x >> 44) % 2 ? gpu : shard, .count = 1 + (x >> 48) % 2 };
	if ((x >> 52) % 3 == 0) {
		q.spec.request.gres_per_node = &gres;
		q.spec.request.n_gres_per_node = 1;
	}
	if ((x >> 30) % 8 == 0) {
		q.spec.has_time_limit = true;
		q.spec.time_limit = USEC_PER_MIN;
	}
	conn_call(u->conn, MSG_SUBMIT, &q, 10 * USEC_PER_SEC, on_answer, u);
}

static void step(struct user_player *u)
{
	uint64_t x = hash_mix(9, u->token);
	struct step_request q = { .job_id = u->job, .token = u->token, .wait = true, .exact = x % 2,
				  .overlap = x % 5 == 0, .has_ntasks = true, .ntasks = 1 + (uint32_t)(x >> 8) % 3 };
	conn_call(u->conn, MSG_STEP_CREATE, &q, 60 * USEC_PER_SEC, on_answer, u);
}

static void ask(struct user_player *u)
{
	struct job_filter filter = { .ids = &u->job, .n_ids = 1 };
	struct cancel_request cancel = { .filter = filter, .quiet_done = true };
	struct job_requeue requeue = { .filter = filter };
	struct job_wait wait = { .job_id = u->job, .for_start = true };
	struct job_release release = { .job_id = u->job };
	switch (u->wish) {
	case WISH_SUBMIT:
		submit(u);
		break;
	case WISH_CANCEL:
		conn_call(u->conn, MSG_CANCEL, &cancel, 10 * USEC_PER_SEC, on_answer, u);
		break;
	case WISH_REQUEUE:
		conn_call(u->conn, MSG_JOB_REQUEUE, &requeue, 10 * USEC_PER_SEC, on_answer, u);
		break;
	case WISH_WAIT:
		conn_call(u->conn, MSG_JOB_WAIT, &wait, 60 * USEC_PER_SEC, on_answer, u);
		break;
	case WISH_STEP:
		step(u);
		break;
	case WISH_RELEASE:
		conn_call(u->conn, MSG_JOB_RELEASE, &release, 10 * USEC_PER_SEC, on_answer, u);
		break;
	}
}

static void on_ready(void *arg, struct conn *c)
{
	(void)c;
	ask(arg);
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

static void drop_conn(struct user_player *u)
{
	conn_close(u->conn);
	u->conn = NULL;
}

static void act(void *arg)
{
	struct user_player *u = arg;
	drop_conn(u);
	if (u->wish == WISH_SUBMIT && !u->token) {
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
