/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a blocking connection for commands: open, ask, done.
 *
 * Getting a credential, connecting, asking and waiting all obey one time-out (MessageTimeout).  The
 * commands link nothing but libc through this: no event loop, no crypto. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"

#include <stdint.h>

struct arena;
struct error;
struct session;

struct session_options {
	const char *const *hosts; /* controllers in order: "name", "address" or "name(address)" */
	uint32_t host_count;
	uint16_t port;
	const char *auth_type; /* "auth/slurm", "auth/munge" */
	const char *
		auth_socket; /* where the local daemon vouches for us, or munged's (NULL: its default) */
	const char *cluster;
	const char *program;
	usec_t timeout; /* for connecting and for each call; 0: 10 s */
};

/* Fails with -E_CONTROLLER_CONNECT after having tried every host, -E_SOCKET_TIMEOUT or -E_AUTH (no
 * credential to be had).  The hello travels with the first request, so a refused credential is the
 * answer to that one. */
NODISCARD int session_open(const struct session_options *o, struct session **ret,
			   struct error *err);
void session_close(struct session *s);
/* `reply` is zeroed by the callee and decoded into `a`.  A refusal by the other side is its code and
 * its text in `err`.  `timeout` 0 uses the session's, negative waits for ever. */
NODISCARD int session_call(struct session *s, uint16_t kind, const void *body, struct arena *a,
			   void *reply, usec_t timeout, struct error *err);
/* The two halves of a call, for whoever must watch something else meanwhile (signals): send, then
 * whenever session_fd is readable try to receive with a short time-out; -E_SOCKET_TIMEOUT means that
 * the answer is not complete yet.  Only the last request sent can be received. */
NODISCARD int session_send(struct session *s, uint16_t kind, const void *body, struct error *err);
NODISCARD int session_receive(struct session *s, uint16_t kind, struct arena *a, void *reply,
			      usec_t timeout, struct error *err);
int session_fd(const struct session *s); /* to wait for it together with something else */
