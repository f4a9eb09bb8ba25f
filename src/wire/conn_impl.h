/* SPDX-License-Identifier: Apache-2.0 */
/* conn_impl.h - a connection from inside; for conn.c, handshake.c, call.c and request.c alone. */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "wire/conn.h"
#include "wire/frame.h"

struct check;
struct record;
struct timer;

enum conn_state {
	CONN_OPENING,        /* connecting, or getting the credential for our hello */
	CONN_EXPECT_HELLO,   /* accepted: nothing is believed yet, bodies are small */
	CONN_EXPECT_WELCOME, /* we said hello */
	CONN_CHECKING,       /* a credential is being checked; nothing is read meanwhile */
	CONN_READY,
	CONN_GONE, /* ended; the memory stays while `busy` */
};

struct conn {
	struct conn_options o;
	const struct conn_handler *handler;
	void *arg;
	struct stream *stream; /* NULL once GONE */
	enum conn_state state;
	unsigned busy; /* functions on the stack that will touch it again */
	bool silent;   /* the owner has let go: no more callbacks */
	bool paused;   /* by the owner */
	bool announce; /* `ready` is still to be called */
	bool local;
	struct identity peer;
	char addr[280];       /* host and port, or path */
	char name[360];       /* the same and the peer's program */
	struct error refusal; /* the other side's, of our hello */
	int ended;            /* with GONE: why, as a code */
	uint64_t challenge;   /* of our hello */
	struct check *check;  /* with CHECKING or OPENING: what the pool works on */

	struct buf in;      /* the beginning of a frame that is not complete */
	size_t skip;        /* bytes of a refused body still to come */
	struct buf early;   /* frames that wait until the connection is ready */
	struct buf scratch; /* where frames are built */
	char doom[160];     /* why it ends at the next chance; "" when it does not */
	struct timer *soon; /* brings back what must not happen inside a call of the owner */

	uint64_t last_id;
	struct map calls; /* id -> struct call: our questions without an answer */
	struct timer *call_timer;
	usec_t call_timer_at;     /* when it fires; 0 when it is not set */
	struct request *requests; /* their questions without an answer */
	size_t request_count, request_bytes;

	struct timer *hello_timer, *idle_timer;
	usec_t heard; /* when bytes last came, by loop_clock */
};

/* Around whatever goes on after a callback: the memory stays until the last one has left. */
void conn_enter(struct conn *c);
void conn_leave(struct conn *c);
/* Ends it: calls fail, open requests die, the owner is told. */
void conn_end(struct conn *c, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same soon, for use inside calls of the owner. */
void conn_doom(struct conn *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Queues a frame; beyond the bound of the queue the connection is doomed instead. */
NODISCARD int conn_put(struct conn *c, const struct frame *f, const struct record *r,
		       const void *obj, struct error *err);
NODISCARD int conn_put_encoded(struct conn *c, const struct frame *f, const struct buf *body,
			       struct error *err);
void conn_put_failure(struct conn *c, const struct frame *f, const struct error *why);
/* Now both sides are known. */
void conn_open_up(struct conn *c);
/* Takes up reading again after a pause or a check. */
void conn_go_on(struct conn *c);

void handshake_start(struct conn *c); /* the connecting side's first words */
void handshake_frame(struct conn *c, const struct frame *f, const uint8_t *body);
void handshake_drop(struct conn *c);

void call_answer(struct conn *c, const struct frame *f, const uint8_t *body);
void call_answer_failed(struct conn *c, const struct frame *f, const struct error *err);
void calls_fail(struct conn *c, const struct error *err);
void calls_drop(struct conn *c);

void request_receive(struct conn *c, const struct frame *f, const uint8_t *body);
void requests_orphan(struct conn *c);
/* Refuses a request that never became one. */
void request_refuse(struct conn *c, const struct frame *f, const struct error *why);
