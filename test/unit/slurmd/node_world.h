/* SPDX-License-Identifier: Apache-2.0 */
/* node_world.h - a real slurmd with real step daemons, a controller and an srun played by the test.
 *
 * Everything lives in a directory of its own.  The controller notes what the node says; whether it
 * acknowledges the ends of steps is up to the test. */
#pragma once
#include "base/buf.h"
#include "schema/messages.h"
#include "wire/conn.h"

#include <stdbool.h>
#include <sys/types.h>

enum { NOTES_MAX = 256, NODE_CPUS = 4 };

struct world {
	char dir[64];
	struct arena *arena;
	struct loop *loop;
	struct timer *tick;
	struct auth *auth;
	uid_t uid; /* whose jobs are started */
	gid_t gid;

	struct listener *controller;
	struct conn *link; /* the node's connection; NULL when it is down */
	bool withhold;     /* ends of steps are not answered */
	struct request *withheld[NOTES_MAX];
	uint32_t withheld_count;
	struct node_register reg; /* the latest, in the arena */
	uint32_t registrations, heartbeats;
	struct step_end ends[NOTES_MAX];
	uint32_t end_count;
	struct job_clean clean[NOTES_MAX];
	uint32_t clean_count;
	uint32_t launched; /* launches that were answered */

	struct listener *srun;
	struct conn *step; /* the step daemon's connection to srun */
	struct io_hello hello;
	struct buf out[16], err[16]; /* by task */
	struct io_exit exits[NOTES_MAX];
	uint32_t exit_count;
	bool step_done, step_closed;

	pid_t slurmd; /* 0: not running */
	bool slurmd_gone;

	size_t seen; /* output at the last look, and how often it was the same */
	uint32_t quiet;
};

int world_setup(void **state);
int world_teardown(void **state);

void world_start_slurmd(struct world *w); /* and waits until it is registered */
void world_kill_slurmd(struct world *w, int signo);
/* Runs the loop until the condition holds; fails the test after 20 s, naming `what`. */
typedef bool (*world_fn)(struct world *w);
void world_wait(struct world *w, world_fn is_true, const char *what);

/* A launch with one node and one task, to be filled in further. */
struct launch *world_batch(struct world *w, uint32_t job_id, const char *script);
struct launch *world_step(struct world *w, uint32_t job_id, uint32_t ntasks, const char *shell);
void world_launch(struct world *w, const struct launch *l);
void world_order(struct world *w, uint16_t kind, const void *body);
void world_wait_ends(struct world *w, uint32_t count);
void world_wait_clean(struct world *w, uint32_t count);
void world_wait_registered(struct world *w, uint32_t count);
void world_wait_file(struct world *w, const char *name);
void world_wait_exits(struct world *w, uint32_t tasks);
void world_wait_done(struct world *w);

const char *world_path(struct world *w, const char *name);
char *world_read(struct world *w, const char *name); /* "" when it is not there */
pid_t world_read_pid(struct world *w, const char *name);
void world_touch(struct world *w, const char *name);
bool world_spool_is_empty(struct world *w);
void world_wait_gone(struct world *w, pid_t pid);
void world_wait_spool_empty(struct world *w);
