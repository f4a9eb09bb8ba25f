/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - the life of a connection: bytes in, frames out, and every way it can end.
 *
 * Bytes are cut into frames where they arrive; only the beginning of an incomplete frame is kept.
 * What a frame means depends on the state: before CONN_READY it belongs to handshake.c, afterwards
 * an answer to call.c and anything else to request.c.
 *
 * A header that is not ours ends the connection, because nothing after it can be trusted.  A body
 * that is too large, or cannot be decoded, is refused and skipped: the framing is intact, so the
 * connection and the other requests on it go on.
 *
 * Output is given to the stream frame by frame; the stream sends what a turn wrote with one call.
 * Frames written before the connection is ready wait in `early`.
 *
 * The owner may close the connection inside any callback.  So every function that goes on after a
 * callback counts itself in `busy` and looks at the state again, and the memory is released by the
 * last one.  The other way round, no callback runs inside a call of the owner: what such a call
 * brings about (a queue that overflows) is done by the timer `soon`. */
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "host/stream.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/conn_impl.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>

enum { HELLO_BODY_MAX = 128 << 10, BUFFER_KEEP = 64 << 10, QUEUE_MAX = 64 << 20 };
static const usec_t HELLO_TIMEOUT = 10 * USEC_PER_SEC;

static const struct stream_handler conn_stream_handler;

/* ---- birth -------------------------------------------------------------------------------------- */

static void hello_late(void *arg)
{
	struct conn *c = arg;
	conn_end(c, -ETIMEDOUT, "%s within %lld s",
		 c->state == CONN_EXPECT_HELLO ? "no hello" : "no connection and welcome",
		 (long long)(c->o.hello_timeout / USEC_PER_SEC));
}

static void idle_check(void *arg)
{
	struct conn *c = arg;
	usec_t quiet = loop_clock(c->o.loop) - c->heard;
	if (quiet < c->o.idle_timeout)
		timer_start(c->idle_timer, c->o.idle_timeout - quiet, 0);
	else
		conn_end(c, -ETIMEDOUT, "nothing was heard for %lld s",
			 (long long)(quiet / USEC_PER_SEC));
}

static struct conn *conn_new(const struct conn_options *o, const struct conn_handler *h, void *arg)
{
	struct conn *c = NEW(struct conn);
	c->o = *o;
	c->o.hello_timeout = o->hello_timeout ? o->hello_timeout : HELLO_TIMEOUT;
	c->o.body_max = o->body_max ? o->body_max : FRAME_BODY_MAX;
	c->o.queue_max = o->queue_max ? o->queue_max : QUEUE_MAX;
	c->handler = h;
	c->arg = arg;
	c->peer = (struct identity) { (uid_t)-1, (gid_t)-1 };
	c->heard = loop_clock(o->loop);
	if (o->idle_timeout) {
		c->idle_timer = timer_new(o->loop, idle_check, c);
		timer_start(c->idle_timer, o->idle_timeout, 0);
	}
	return c;
}

/* What the kernel knows of the other end. */
static void meet_peer(struct conn *c)
{
	struct stream_peer p;
	stream_get_peer(c->stream, &p);
	c->local = p.local;
	if (p.local)
		c->peer = (struct identity) { p.uid, p.gid };
	if (!c->addr[0])
		snprintf(c->addr, sizeof(c->addr), "%s", p.addr);
	if (p.local)
		snprintf(c->name, sizeof(c->name), "%s (pid %d)", c->addr, (int)p.pid);
	else
		snprintf(c->name, sizeof(c->name), "%s", c->addr);
}

static void soon_fired(void *arg)
{
	struct conn *c = arg;
	if (c->doom[0])
		conn_end(c, -ECONNABORTED, "%s", c->doom);
	else
		conn_go_on(c);
}

static void do_soon(struct conn *c)
{
	if (!c->soon)
		c->soon = timer_new(c->o.loop, soon_fired, c);
	timer_start(c->soon, 0, 0);
}

static void wait_for_hello(struct conn *c)
{
	c->hello_timer = timer_new(c->o.loop, hello_late, c);
	timer_start(c->hello_timer, c->o.hello_timeout, 0);
}

static struct conn *conn_begin(struct conn *c, struct stream *s)
{
	c->stream = s;
	meet_peer(c);
	if (c->o.skip_hello) {
		c->state = CONN_READY;
		c->announce = true;
		do_soon(c);
	} else {
		c->state = CONN_EXPECT_HELLO;
		wait_for_hello(c);
	}
	return c;
}

struct conn *conn_accept(struct stream *s, const struct conn_options *o,
			 const struct conn_handler *h, void *arg)
{
	struct conn *c = conn_new(o, h, arg);
	stream_set_handler(s, &conn_stream_handler, c);
	return conn_begin(c, s);
}

struct conn *conn_adopt(int fd, const struct conn_options *o, const struct conn_handler *h,
			void *arg)
{
	struct conn *c = conn_new(o, h, arg);
	c->o.skip_hello = true;
	return conn_begin(c, stream_adopt(o->loop, fd, &conn_stream_handler, c));
}

struct conn *conn_connect_tcp(const char *host, uint16_t port, const struct conn_options *o,
			      const struct conn_handler *h, void *arg)
{
	struct conn *c = conn_new(o, h, arg);
	snprintf(c->addr, sizeof(c->addr), "%s:%u", host, port);
	snprintf(c->name, sizeof(c->name), "%s", c->addr);
	c->stream = stream_connect_tcp(o->loop, host, port, &conn_stream_handler, c);
	wait_for_hello(c);
	return c;
}

struct conn *conn_connect_unix(const char *path, const struct conn_options *o,
			       const struct conn_handler *h, void *arg)
{
	struct conn *c = conn_new(o, h, arg);
	snprintf(c->addr, sizeof(c->addr), "%s", path);
	snprintf(c->name, sizeof(c->name), "%s", c->addr);
	c->stream = stream_connect_unix(o->loop, path, &conn_stream_handler, c);
	wait_for_hello(c);
	return c;
}

static void on_opened(void *arg)
{
	struct conn *c = arg;
	conn_enter(c);
	meet_peer(c);
	if (c->o.skip_hello)
		conn_open_up(c);
	else
		handshake_start(c);
	conn_leave(c);
}

/* ---- the end ------------------------------------------------------------------------------------ */

void conn_enter(struct conn *c)
{
	c->busy++;
}

void conn_leave(struct conn *c)
{
	assert(c->busy > 0);
	if (--c->busy > 0 || c->state != CONN_GONE)
		return;
	buf_done(&c->in);
	buf_done(&c->early);
	buf_done(&c->scratch);
	map_done(&c->calls);
	free(c);
}

/* Nothing comes in any more and no timer fires. */
static void conn_detach(struct conn *c)
{
	c->state = CONN_GONE;
	stream_close(TAKE_PTR(c->stream));
	timer_free(TAKE_PTR(c->hello_timer));
	timer_free(TAKE_PTR(c->idle_timer));
	timer_free(TAKE_PTR(c->call_timer));
	timer_free(TAKE_PTR(c->soon));
	handshake_drop(c);
	requests_orphan(c);
}

void conn_end(struct conn *c, int code, const char *fmt, ...)
{
	if (c->state == CONN_GONE)
		return;
	struct error why = { .code = code };
	va_list args;
	va_start(args, fmt);
	vsnprintf(why.text, sizeof(why.text), fmt, args);
	va_end(args);
	log_debug("connection with %s ends: %s", c->name, why.text);
	c->ended = code;
	conn_enter(c);
	conn_detach(c);
	struct error failed = c->refusal;
	if (!failed.code)
		error_set(&failed, code, "connection with %s: %s", c->addr, why.text);
	calls_fail(c, &failed);
	if (!c->silent)
		c->handler->closed(c->arg, c, why.text);
	conn_leave(c);
}

void conn_doom(struct conn *c, const char *fmt, ...)
{
	if (c->state == CONN_GONE || c->doom[0])
		return;
	va_list args;
	va_start(args, fmt);
	vsnprintf(c->doom, sizeof(c->doom), fmt, args);
	va_end(args);
	do_soon(c);
}

void conn_close(struct conn *c)
{
	if (!c)
		return;
	c->silent = true;
	calls_drop(c);
	if (c->state == CONN_GONE)
		return; /* conn_end is on the stack and releases it */
	conn_enter(c);
	conn_detach(c);
	conn_leave(c);
}

void conn_finish(struct conn *c)
{
	if (c && c->state == CONN_READY)
		stream_finish(TAKE_PTR(c->stream));
	conn_close(c);
}

static void on_closed(void *arg, int status)
{
	struct conn *c = arg;
	c->stream = NULL;
	int code = status ? status : -ECONNRESET;
	const char *text = strerrordesc_np(-code);
	if (c->refusal.code)
		conn_end(c, c->refusal.code, "refused: %s", c->refusal.text);
	else if (c->state == CONN_OPENING)
		conn_end(c, code, "cannot connect: %s", text ? text : "unknown error");
	else if (status == 0)
		conn_end(c, code, "closed by the other side");
	else
		conn_end(c, code, "%s", text ? text : "unknown error");
}

/* ---- input -------------------------------------------------------------------------------------- */

static size_t body_max(const struct conn *c)
{
	return c->state == CONN_READY || c->o.body_max < HELLO_BODY_MAX ? c->o.body_max
									: HELLO_BODY_MAX;
}

static void take_frame(struct conn *c, const struct frame *f, const uint8_t *body)
{
	if (c->state != CONN_READY)
		handshake_frame(c, f, body);
	else if (f->flags & FRAME_REPLY)
		call_answer(c, f, body);
	else
		request_receive(c, f, body);
}

static void take_oversized(struct conn *c, const struct frame *f, const struct error *why)
{
	struct error err = {};
	wire_error(&err, -E_PROTOCOL, "%s", why->text);
	c->skip = f->len;
	if (f->flags & FRAME_REPLY)
		call_answer_failed(c, f, &err);
	else
		request_refuse(c, f, &err);
}

/* Takes what is complete and returns how many bytes that was. */
static size_t take_frames(struct conn *c, const uint8_t *data, size_t len)
{
	size_t used = 0;
	while (c->state != CONN_GONE && c->state != CONN_CHECKING && !c->paused && !c->doom[0]) {
		size_t rest = len - used, skip = c->skip < rest ? c->skip : rest;
		c->skip -= skip;
		used += skip;
		if (len - used < FRAME_HEADER)
			break;
		struct frame f;
		struct error err = {};
		int r = frame_header_get(data + used, body_max(c), &f, &err);
		if (r == -EBADMSG || (r < 0 && c->state != CONN_READY)) {
			if (c->state == CONN_READY)
				stream_finish(TAKE_PTR(
					c->stream)); /* what was answered before shall arrive */
			conn_end(c, -E_PROTOCOL, "%s", err.text);
			break;
		}
		if (r == 0 && len - used < FRAME_HEADER + f.len)
			break;
		const uint8_t *body = data + used + FRAME_HEADER;
		used += FRAME_HEADER;
		if (r == 0) {
			used += f.len;
			take_frame(c, &f, body);
		} else {
			take_oversized(c, &f, &err);
		}
	}
	return used;
}

static void take_kept(struct conn *c)
{
	size_t used = take_frames(c, c->in.data, c->in.len);
	buf_drop(&c->in, used);
	if (c->in.len == 0 && c->in.cap > BUFFER_KEEP)
		buf_done(&c->in);
}

static void announce(struct conn *c)
{
	if (!c->announce || c->state == CONN_GONE)
		return;
	c->announce = false;
	if (c->handler->ready)
		c->handler->ready(c->arg, c);
}

static void on_data(void *arg, const uint8_t *data, size_t len)
{
	struct conn *c = arg;
	if (c->idle_timer)
		c->heard = loop_clock(c->o.loop);
	conn_enter(c);
	announce(c);
	if (c->in.len > 0) {
		buf_put(&c->in, data, len);
		take_kept(c);
	} else {
		size_t used = take_frames(c, data, len);
		buf_put(&c->in, data + used, len - used);
	}
	conn_leave(c);
}

void conn_go_on(struct conn *c)
{
	conn_enter(c);
	announce(c);
	if (c->state != CONN_GONE && c->state != CONN_CHECKING && !c->paused) {
		take_kept(c);
		if (c->state != CONN_GONE && c->state != CONN_CHECKING && !c->paused)
			stream_resume(c->stream);
	}
	conn_leave(c);
}

void conn_open_up(struct conn *c)
{
	c->state = CONN_READY;
	timer_free(TAKE_PTR(c->hello_timer));
	stream_write(c->stream, c->early.data, c->early.len);
	buf_done(&c->early);
	c->announce = true;
	announce(c);
}

void conn_pause(struct conn *c)
{
	c->paused = true;
	if (c->stream)
		stream_pause(c->stream);
}

void conn_resume(struct conn *c)
{
	if (!c->paused || c->state == CONN_GONE)
		return;
	c->paused = false;
	do_soon(c);
}

static const struct stream_handler conn_stream_handler = {
	.opened = on_opened,
	.data = on_data,
	.closed = on_closed,
};

/* ---- output ------------------------------------------------------------------------------------- */

size_t conn_queued(const struct conn *c)
{
	return (c->stream ? stream_queued(c->stream) : 0) + c->early.len;
}

static bool may_put(struct conn *c)
{
	if (c->state == CONN_GONE || c->doom[0])
		return false;
	size_t queued = conn_queued(c);
	if (queued <= c->o.queue_max)
		return true;
	conn_doom(c, "the other side does not read: %zu bytes wait to be sent, at most %zu may",
		  queued, c->o.queue_max);
	return false;
}

static void put_bytes(struct conn *c, const void *data, size_t len)
{
	if (c->state == CONN_READY)
		stream_write(c->stream, data, len);
	else
		buf_put(&c->early, data, len);
}

static void put_scratch(struct conn *c)
{
	put_bytes(c, c->scratch.data, c->scratch.len);
	if (c->scratch.cap > BUFFER_KEEP)
		buf_done(&c->scratch);
	buf_clear(&c->scratch);
}

int conn_put(struct conn *c, const struct frame *f, const struct record *r, const void *obj,
	     struct error *err)
{
	if (!may_put(c))
		return 0; /* it ends, and everybody concerned is told then */
	int status = frame_put(&c->scratch, f, r, obj, err);
	put_scratch(c);
	return status;
}

int conn_put_encoded(struct conn *c, const struct frame *f, const struct buf *body,
		     struct error *err)
{
	if (!may_put(c))
		return 0;
	int status = frame_put_header(&c->scratch, f, body->len, err);
	put_scratch(c);
	if (status == 0)
		put_bytes(c, body->data, body->len);
	return status;
}

void conn_put_failure(struct conn *c, const struct frame *f, const struct error *why)
{
	if (!may_put(c))
		return;
	frame_put_failure(&c->scratch, f->kind, f->id, why);
	put_scratch(c);
}

/* ---- questions ---------------------------------------------------------------------------------- */

const struct identity *conn_peer(const struct conn *c)
{
	return &c->peer;
}

bool conn_was_refused(const struct conn *c)
{
	return c->ended == -E_PROTOCOL || c->ended == -E_AUTH;
}

const char *conn_peer_name(const struct conn *c)
{
	return c->name;
}
