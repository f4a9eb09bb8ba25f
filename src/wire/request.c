/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - the other side's questions, from the frame to the answer.
 *
 * A request lives in its own arena and belongs to whoever handles it.  The connection keeps a list
 * of the open ones: when it ends they become dead (`conn` is NULL) but stay with their handler, and
 * answering one then only frees it. */
#include "base/arena.h"
#include "base/log.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/conn_impl.h"

#include <assert.h>
#include <errno.h>

enum { OPEN_MAX = 16384 }; /* requests without an answer on one connection */

/* ---- arrival ------------------------------------------------------------------------------------ */

void request_refuse(struct conn *c, const struct frame *f, const struct error *why)
{
	log_debug("%s: message %u refused: %s", c->name, f->kind, why->text);
	if (!(f->flags & FRAME_ONEWAY))
		conn_put_failure(c, f, why);
}

static void link_request(struct conn *c, struct request *r)
{
	r->next = c->requests;
	r->prev = &c->requests;
	if (r->next)
		r->next->prev = &r->next;
	c->requests = r;
	c->request_count++;
	c->request_bytes += r->size;
}

static void unlink_request(struct request *r)
{
	struct conn *c = r->conn;
	*r->prev = r->next;
	if (r->next)
		r->next->prev = r->prev;
	c->request_count--;
	c->request_bytes -= r->size;
	r->conn = NULL;
}

/* What can be known before the body is looked at. */
static int judge(const struct conn *c, const struct frame *f, struct error *err)
{
	if (f->kind >= MSG_COUNT || !message_descs[f->kind].name)
		return wire_error(err, -E_PROTOCOL, "message number %u is not known here", f->kind);
	if (f->kind == MSG_HELLO)
		return wire_error(err, -E_PROTOCOL, "hello was said before");
	if (!c->handler->request)
		return wire_error(err, -E_NOT_SUPPORTED,
				  "%s: nothing is answered on this connection",
				  message_descs[f->kind].name);
	bool too_much = c->request_bytes > 0 && c->request_bytes + f->len > c->o.body_max;
	if (c->request_count >= OPEN_MAX || too_much)
		return wire_error(err, -EBUSY,
				  "%zu requests of %zu bytes wait on this connection already, wait "
				  "for their answers",
				  c->request_count, c->request_bytes);
	return 0;
}

void request_receive(struct conn *c, const struct frame *f, const uint8_t *body)
{
	struct error err = {}, why = {};
	if (judge(c, f, &err) < 0) {
		request_refuse(c, f, &err);
		return;
	}
	const struct message_desc *desc = &message_descs[f->kind];
	struct arena *a = arena_new();
	struct request *r = ARENA_NEW(a, struct request);
	*r = (struct request) { .conn = c,
				.kind = f->kind,
				.id = f->id,
				.from = c->peer,
				.local = c->local,
				.arena = a,
				.oneway = f->flags & FRAME_ONEWAY,
				.size = f->len,
				.body = arena_alloc(a, desc->request->size) };
	if (record_decode(desc->request, r->body, body, f->len, a, &why) < 0) {
		wire_error(&err, -E_PROTOCOL, "%s cannot be read: %s", desc->name, why.text);
		request_refuse(c, f, &err);
		arena_free(a);
		return;
	}
	link_request(c, r);
	c->handler->request(c->arg, r);
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void request_done(struct request *r)
{
	if (r->conn)
		unlink_request(r);
	arena_free(r->arena); /* `r` itself lives there */
}

static bool wants_answer(const struct request *r)
{
	return r->conn && !r->oneway;
}

static struct frame answer_frame(const struct request *r)
{
	return (struct frame) { .flags = FRAME_REPLY, .kind = r->kind, .id = r->id };
}

void request_reply(struct request *r, const void *reply)
{
	if (wants_answer(r)) {
		struct frame f = answer_frame(r);
		struct error err = {};
		if (conn_put(r->conn, &f, message_descs[r->kind].reply, reply, &err) < 0)
			conn_put_failure(r->conn, &f, &err);
	}
	request_done(r);
}

void request_reply_encoded(struct request *r, const struct buf *body)
{
	if (wants_answer(r)) {
		struct frame f = answer_frame(r);
		struct error err = {};
		if (conn_put_encoded(r->conn, &f, body, &err) < 0)
			conn_put_failure(r->conn, &f, &err);
	}
	request_done(r);
}

void request_fail(struct request *r, const struct error *err)
{
	assert(err->code);
	if (wants_answer(r)) {
		struct frame f = answer_frame(r);
		conn_put_failure(r->conn, &f, err);
	}
	request_done(r);
}

void requests_orphan(struct conn *c)
{
	while (c->requests)
		unlink_request(c->requests);
}
