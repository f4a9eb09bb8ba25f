/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - byte streams over TCP and local sockets, event-driven.
 *
 * A stream reports what happens through its handler: `opened` once a connect succeeded (never for
 * accepted or adopted ones), `data` for bytes read, `drained` when everything written has left,
 * `closed` exactly once at the end with 0 for a normal end or a negative errno; after `closed` the
 * stream is gone and must not be touched.  stream_close from outside does not call the handler.
 * Implemented by host/stream_uv.c and by sim/. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct loop;
struct stream;
struct listener;

struct stream_handler {
	void (*opened)(void *arg);
	void (*data)(void *arg, const uint8_t *data, size_t len);
	void (*drained)(void *arg); /* may be NULL */
	void (*closed)(void *arg, int status);
};

/* These never fail at once: a name that cannot be resolved or a refused connection arrives as
 * `closed`.  `host` is a name or an address. */
struct stream *stream_connect_tcp(struct loop *l, const char *host, uint16_t port,
				  const struct stream_handler *h, void *arg);
struct stream *stream_connect_unix(struct loop *l, const char *path, const struct stream_handler *h,
				   void *arg);
/* Takes over a connected socket, pipe end, terminal or file that the process already has open.  It is
 * read from as far as its mode allows: pause what is only to be written, a terminal say. */
struct stream *stream_adopt(struct loop *l, int fd, const struct stream_handler *h, void *arg);

void stream_set_handler(struct stream *s, const struct stream_handler *h, void *arg);
void stream_write(struct stream *s, const void *data, size_t len); /* copies; never blocks */
size_t stream_queued(const struct stream *s);                      /* bytes not yet written */
void stream_pause(struct stream *s); /* stop reading: back-pressure */
void stream_resume(struct stream *s);
void stream_finish(struct stream *s); /* close after what was written has left; handler silent */
void stream_close(struct stream *s);  /* at once; NULL is fine */

struct stream_peer {
	bool local;   /* a local socket: uid, gid and pid are the kernel's word */
	uid_t uid;
	gid_t gid;
	pid_t pid;
	char addr[64]; /* "127.0.0.1:4242" or the path */
};
void stream_get_peer(const struct stream *s, struct stream_peer *ret);

/* `accepted` gets a stream without handler and must set one or close it. */
typedef void (*accept_fn)(void *arg, struct stream *s);

/* Port 0 asks for any free one.  `host` NULL listens on all addresses. */
NODISCARD int listener_tcp(struct loop *l, const char *host, uint16_t port, accept_fn accepted,
			   void *arg, struct listener **ret, struct error *err);
/* A stale socket file that nobody listens on is replaced; a live one is an error. */
NODISCARD int listener_unix(struct loop *l, const char *path, mode_t mode, accept_fn accepted,
			    void *arg, struct listener **ret, struct error *err);
uint16_t listener_port(const struct listener *l);
void listener_free(struct listener *l); /* NULL is fine; removes the socket file */
