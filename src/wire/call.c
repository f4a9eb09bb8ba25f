/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - our questions to the other side.
 *
 * A call is in the map from conn_call until its callback ran, which takes it out first: so whatever
 * the callback does, it runs once.  One timer serves all calls of a connection; it is set to the
 * earliest deadline, and a call that was answered meanwhile only makes it fire for nothing. */
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "host/loop.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/conn_impl.h"

#include <assert.h>

struct call {
	uint64_t id;
	uint16_t kind;
	usec_t deadline; /* by loop_clock; 0: none */
	usec_t timeout;
	reply_fn fn;
	void *arg;
	struct error err; /* could not even be sent */
};

static void call_timer_fired(void *arg);

static void call_fail(struct call *k, const struct error *err)
{
	k->fn(k->arg, NULL, err);
	free(k);
}

/* ---- asking ------------------------------------------------------------------------------------- */

static void set_deadline(struct conn *c, usec_t at, usec_t now)
{
	if (c->state == CONN_GONE || (c->call_timer_at && c->call_timer_at <= at))
		return;
	if (!c->call_timer)
		c->call_timer = timer_new(c->o.loop, call_timer_fired, c);
	timer_start(c->call_timer, at > now ? at - now : 0, 0);
	c->call_timer_at = at;
}

void conn_call(struct conn *c, uint16_t kind, const void *body, usec_t timeout, reply_fn fn,
	       void *arg)
{
	assert(kind < MSG_COUNT && message_descs[kind].name);
	struct call *k = NEW(struct call);
	*k = (struct call) {
		.id = ++c->last_id, .kind = kind, .timeout = timeout, .fn = fn, .arg = arg
	};
	map_put(&c->calls, k->id, k);
	struct frame f = { .kind = kind, .id = k->id };
	if (conn_put(c, &f, message_descs[kind].request, body, &k->err) < 0)
		k->deadline = 1; /* long past: the timer tells the caller */
	else if (timeout)
		k->deadline = loop_clock(c->o.loop) + timeout;
	if (k->deadline)
		set_deadline(c, k->deadline, loop_clock(c->o.loop));
}

void conn_send(struct conn *c, uint16_t kind, const void *body)
{
	assert(kind < MSG_COUNT && message_descs[kind].name);
	struct frame f = { .flags = FRAME_ONEWAY, .kind = kind, .id = ++c->last_id };
	struct error err = {};
	if (conn_put(c, &f, message_descs[kind].request, body, &err) < 0)
		conn_doom(c, "%s", err.text); /* nobody waits for an answer that could say it */
}

/* ---- the end of a call -------------------------------------------------------------------------- */

static void call_timer_fired(void *arg)
{
	struct conn *c = arg;
	VEC(struct call *) late = {};
	usec_t now = loop_clock(c->o.loop), next = 0;
	struct call *k;
	for (size_t i = 0; (k = map_next(&c->calls, &i));) {
		if (k->deadline && k->deadline <= now)
			vec_push(&late, k);
		else if (k->deadline && (!next || k->deadline < next))
			next = k->deadline;
	}
	for (size_t i = 0; i < late.count; i++)
		map_remove(&c->calls, late.at[i]->id);
	c->call_timer_at = 0;
	if (next)
		set_deadline(c, next, now);
	conn_enter(c);
	for (size_t i = 0; i < late.count; i++) {
		k = late.at[i];
		if (!k->err.code)
			wire_error(&k->err, -E_SOCKET_TIMEOUT,
				   "%s was not answered by %s within %lld ms",
				   message_descs[k->kind].name, c->addr,
				   (long long)(k->timeout / USEC_PER_MSEC));
		if (c->silent)
			free(k); /* closed in one of these callbacks */
		else
			call_fail(k, &k->err);
	}
	conn_leave(c);
	vec_done(&late);
}

void call_answer_failed(struct conn *c, const struct frame *f, const struct error *err)
{
	struct call *k = map_remove(&c->calls, f->id);
	if (k)
		call_fail(k, err);
}

void call_answer(struct conn *c, const struct frame *f, const uint8_t *body)
{
	struct call *k = map_get(&c->calls, f->id);
	struct error err = {}, why = {};
	if (!k) {
		log_debug("%s answers request %llu, which nobody waits for", c->name,
			  (unsigned long long)f->id);
		return;
	}
	if (f->flags & FRAME_FAILURE) {
		frame_get_failure(body, f->len, &err);
		call_answer_failed(c, f, &err);
		return;
	}
	const struct record *r = message_descs[k->kind].reply ? message_descs[k->kind].reply
							      : &empty_record;
	AUTO_ARENA struct arena *a = arena_new();
	void *reply = arena_alloc(a, r->size);
	if (record_decode(r, reply, body, f->len, a, &why) < 0) {
		log_debug("%s answers %s with bytes that cannot be read: %s", c->name,
			  message_descs[k->kind].name, why.text);
		wire_error(&err, -E_PROTOCOL, "the answer to %s cannot be read: %s",
			   message_descs[k->kind].name, why.text);
		call_answer_failed(c, f, &err);
		return;
	}
	map_remove(&c->calls, k->id);
	k->fn(k->arg, reply, NULL);
	free(k);
}

/* The connection has ended.  A callback that asks again on it is answered the same way; one that does
 * so for ever is a bug of its owner. */
void calls_fail(struct conn *c, const struct error *err)
{
	for (int round = 0; c->calls.count > 0; round++) {
		assert(round < 100);
		struct map calls = c->calls;
		c->calls = (struct map) {};
		struct call *k;
		for (size_t i = 0; (k = map_next(&calls, &i));) {
			if (c->silent)
				free(k); /* closed in one of these callbacks */
			else
				call_fail(k, err);
		}
		map_done(&calls);
	}
}

void calls_drop(struct conn *c)
{
	struct call *k;
	for (size_t i = 0; (k = map_next(&c->calls, &i));)
		free(k);
	map_done(&c->calls);
}
