/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h - a command's connection to its cluster: configuration, then a session.
 *
 * The configuration is read once; the session may be opened again after the controller was gone. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct conf;
struct error;
struct session;

struct connection {
	const char *program;
	struct conf *conf;
	struct session *session; /* NULL while there is none */
};

/* Reads the configuration and opens a session; connect_close also after a failure. */
NODISCARD int connect_open(struct connection *c, const char *program, struct error *err);
NODISCARD int connect_again(struct connection *c, struct error *err);
void connect_hang_up(struct connection *c); /* the session alone; the next call opens another */
void connect_close(struct connection *c);

/* A call that may be made twice without harm: when the connection breaks it is opened again and the
 * request is sent once more. */
NODISCARD int connect_call(struct connection *c, uint16_t kind, const void *body, struct arena *a,
			   void *reply, usec_t timeout, struct error *err);
/* The same for who can wait: as often as it takes, so that a restart of the controller goes by.
 * -E_SOCKET_TIMEOUT when there was no answer within `timeout`. */
NODISCARD int connect_wait(struct connection *c, uint16_t kind, const void *body, struct arena *a,
			   void *reply, usec_t timeout, struct error *err);
/* Did the call fail because the controller is not there (and not because it refused)? */
bool connect_is_lost(int code);
/* Where the nodes can reach this host: our end of the connection to the controller. */
void connect_own_address(const struct connection *c, char *ret, size_t size);

/* The code a command ends with when Muster itself failed: SLURM_EXIT_ERROR, else 1. */
int connect_exit_error(void);
