/* SPDX-License-Identifier: Apache-2.0 */
/* allocate.h - getting an allocation, holding it and giving it back; for salloc and srun.
 *
 * A job without a script is queued, the command waits for its start while it watches for signals,
 * and the job lives until the command gives it back.  Signals are taken from a signalfd: whoever
 * allocates must have blocked them (alloc_block_signals) before. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"
#include "schema/messages.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct connection;
struct error;
struct options;

struct allocation {
	struct connection *c;
	struct arena *arena;
	const char *program;
	int signal_fd;
	uint32_t job_id;
	struct job job; /* as of its start */
	usec_t waited;  /* how long it was pending */
	bool wait_sent; /* a question about its end is on its way */
};

enum alloc_event {
	ALLOC_ANSWER, /* the controller answered */
	ALLOC_SIGNAL, /* ret_signo came */
	ALLOC_TIMEOUT,
	ALLOC_LOST, /* the connection is gone, or the controller refused; the error says which */
};

/* Blocks INT, TERM, HUP, QUIT and CHLD and gives a descriptor that tells of them. */
int alloc_block_signals(void);
void alloc_unblock_signals(void); /* in a child before exec */

/* Sends a question and waits for its answer or for something else; `timeout` negative is for ever.
 * ALLOC_TIMEOUT and ALLOC_SIGNAL leave the question open: call alloc_wait again. */
NODISCARD int alloc_ask(struct allocation *al, uint16_t kind, const void *body, struct error *err);
enum alloc_event alloc_wait(struct allocation *al, uint16_t kind, void *reply, usec_t timeout,
			    int *ret_signo, struct error *err);

/* Submits and waits for the start.  Messages go to the log as users know them.  On failure the job
 * is gone and `ret_code` is what the command ends with; the reason was printed. */
NODISCARD int alloc_get(struct allocation *al, const struct options *o,
			const struct submit_request *q, int *ret_code);
void alloc_release(struct allocation *al, int exit_code);
