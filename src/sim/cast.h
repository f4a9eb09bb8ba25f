/* SPDX-License-Identifier: Apache-2.0 */
/* cast.h - who plays in the story: one controller, nodes with their step daemons, users.
 *
 * Controller and node daemons are the real ones.  Step daemons and users are models that speak the real
 * messages: a model runs "work" that lasts some virtual time and ends with an exit code that follows
 * from the job's id, so that every answer can be checked. */
#pragma once
#include "sim/world.h"
#include "wire/conn.h"

#include <stdint.h>

struct auth;
struct cluster;
struct conf;
struct ctld;
struct slurmd;

struct cast;

/* What the world has seen of a step's part on a node; kept for ever. */
struct run {
	uint32_t job_id, attempt, step_id, node;
	unsigned starts; /* must never exceed one */
	bool ended, killed;
};

struct node_player {
	struct cast *cast;
	uint32_t index;
	struct machine machine;
	struct loop *loop; /* of slurmd; NULL while it is down */
	struct slurmd *slurmd;
	unsigned boots;
};

/* What a user wants next. */
enum wish {
	WISH_SUBMIT,
	WISH_CANCEL,
	WISH_WAIT,    /* an allocation to start */
	WISH_STEP,    /* a step in it */
	WISH_RELEASE, /* to give it back */
	WISH_REQUEUE,
};

struct user_player {
	struct cast *cast;
	uint32_t uid;
	struct machine machine;
	struct loop *loop;
	struct conn *conn;
	struct timer *timer;
	enum wish wish;
	uint64_t token; /* of the submission or step under way; 0: none */
	uint32_t job;   /* that the wish is about */
	unsigned left;  /* jobs still to submit */
};

struct acked {
	uint32_t job_id;
	bool cancelled, array;
	uint32_t tasks;
};

struct cast {
	struct world *w;
	struct auth *auth; /* of users and the controller */
	char key_path[64];
	char conf_text[2048];
	struct machine control;
	struct loop *ctld_loop;
	struct ctld *ctld;
	struct disk *ctld_disk;
	struct node_player *nodes;
	uint32_t node_count;
	struct user_player *users;
	uint32_t user_count;
	VEC(struct acked) acked;
	struct map runs;      /* job, attempt, step, node -> struct run */
	struct map stepds;    /* key -> step daemons alive */
	bool quiet;           /* faults are over: everything must come to its end */
	unsigned crashes, node_crashes, boots, step_kills;
	bool grind;           /* cluster_check after every event */
};

void ctld_player_start(struct cast *c);
void ctld_player_crash(struct cast *c); /* power is cut */

void node_player_start(struct node_player *n);
void node_player_crash(struct node_player *n);  /* slurmd dies, steps go on */
void node_player_reboot(struct node_player *n); /* everything on the machine dies */

int stepd_player_spawn(void *arg, struct loop *parent, const struct spawn *s);
void stepd_players_kill(struct cast *c, const struct machine *m, unsigned one_in); /* 1: all */
unsigned stepd_players_alive(const struct cast *c);
void stepd_players_free(struct cast *c);
/* The exit code of a batch script: known beforehand, so that it can be checked afterwards. */
uint32_t expected_exit(uint32_t job_id);

void user_player_start(struct user_player *u);
void user_player_stop(struct user_player *u);

struct conf *cast_conf(struct cast *c);
int cast_load_conf(void *arg, struct conf **ret, struct error *err);
