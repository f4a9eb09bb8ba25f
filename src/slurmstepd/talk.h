/* SPDX-License-Identifier: Apache-2.0 */
/* talk.h - messages over one nonblocking socket, for the step daemon alone.
 *
 * wire/conn.h does the same for the large daemons on an event loop, with credentials.  A step daemon
 * is started for every step of every job, so it links neither: frames, two buffers and poll(2). */
#pragma once
#include "base/buf.h"
#include "base/cleanup.h"
#include "wire/frame.h"

#include <stdbool.h>
#include <stdint.h>

struct record;

enum { TALK_BODY_MAX = 16 << 20 };

struct talk {
	int fd; /* -1: closed */
	struct buf in, out;
	size_t taken; /* bytes of `in` that were handed out as messages */
	uint64_t last_id;
};

void talk_init(struct talk *c, int fd); /* takes the descriptor over */
void talk_done(struct talk *c);
short talk_wants(const struct talk *c); /* events for poll(2) */
/* Reads what is there; 0, or negative when the other side is gone. */
NODISCARD int talk_read(struct talk *c);
/* 1 and the next complete message, 0 when there is none yet, negative when the bytes make no sense.
 * `ret_body` is valid until the next talk_read. */
NODISCARD int talk_next(struct talk *c, struct frame *ret, const uint8_t **ret_body);
/* Queues; talk_flush writes as much as the socket takes, negative when the other side is gone. */
uint64_t talk_ask(struct talk *c, uint16_t kind, const struct record *r, const void *body);
void talk_tell(struct talk *c, uint16_t kind, const struct record *r, const void *body);
void talk_reply(struct talk *c, const struct frame *to, const struct record *r, const void *body);
void talk_refuse(struct talk *c, const struct frame *to, int code, const char *text);
NODISCARD int talk_flush(struct talk *c);
