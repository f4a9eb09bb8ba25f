/* SPDX-License-Identifier: Apache-2.0 */
/* ask.h - what squeue, sinfo, scancel and scontrol have in common: ask the controller, print, leave.
 *
 * A command is a function of its arguments that writes into two buffers and asks through a function
 * pointer.  The program fills in the real controller; the golden tests a canned one.  One arena for the
 * whole run; the connection is opened by the first question, so that a command that needs no controller
 * works without one. */
#pragma once
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct conf;
struct error;

struct ask {
	const char *program;
	struct arena *arena;
	struct buf out, err;
	uid_t uid;
	int (*call)(struct ask *ask, uint16_t kind, const void *body, void *reply, usec_t timeout,
		    struct error *err);
	int (*user_uid)(const char *name_or_number, uid_t *ret);
	/* The configuration of this host; NULL with `err` filled when there is none. */
	const struct conf *(*conf)(struct ask *ask, struct error *err);
	/* Pings controller number `which`; -ENOENT when there are fewer. */
	int (*ping)(struct ask *ask, uint32_t which, const char **ret_name, struct error *err);
	bool (*read_line)(struct ask *ask, const char *prompt, struct buf *line);
	void (*flush)(struct ask *ask); /* writes both buffers out */
	void (*pause)(struct ask *ask, uint32_t seconds);
	void *world;
};

/* "PROGRAM: error: text" on stderr. */
void ask_complain(struct ask *ask, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The name of the user's list entry, as squeue -u, scancel -u take them. */
char **ask_split(struct ask *ask, const char *list, uint32_t *ret_count);
void ask_put_date(struct ask *ask, usec_t when); /* "Sun Nov 15 04:00:55 2026" */

typedef int (*ask_run_fn)(struct ask *ask, int argc, char **argv);
/* main(): the real world around a command. */
int ask_main(const char *program, ask_run_fn run, int argc, char **argv);

int squeue_run(struct ask *ask, int argc, char **argv);
int sinfo_run(struct ask *ask, int argc, char **argv);
int scancel_run(struct ask *ask, int argc, char **argv);
int scontrol_run(struct ask *ask, int argc, char **argv);
