/* SPDX-License-Identifier: Apache-2.0 */
/* impl.h - the node daemon's state, for its own files.
 *
 * A `struct held` is one step's part on this node, from the launch until the controller has
 * acknowledged its end.  It is known by its name (job.attempt.step), which is also the stem of the
 * socket file of its step daemon: so the spool directory is the record of what runs here, and
 * survives this process without a write of ours. */
#pragma once
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "schema/messages.h"
#include "slurmd/slurmd.h"

enum { HELD_NAME_MAX = 40, SOCKET_PATH_MAX = 107 };

enum held_state {
	HELD_STARTING, /* the step daemon has not taken the work yet */
	HELD_RUNNING,
	HELD_ENDED,        /* `end` is known, the controller has not acknowledged it */
	HELD_ACKNOWLEDGED, /* the step daemon must still hear that it may go */
};

struct held {
	struct slurmd *d;
	char name[HELD_NAME_MAX];
	uint32_t job_id, attempt, step_id;
	enum held_state state;
	struct conn *conn; /* to the step daemon; NULL: it is gone */
	/* Requests that are answered later; also when their connection is gone, which frees them. */
	struct request *launch; /* of the controller, answered when the step daemon took the work */
	struct request *report; /* of the step daemon, answered when the controller acknowledged */
	struct step_end end;    /* heap members */
	bool sent;              /* `end` is on its way on the present connection */
	bool adopting;          /* found in the spool; its state is not known yet */
	bool clear;             /* throw it away when nobody answers */
};

/* A job of which nothing is left here, to be told to the controller. */
struct clean {
	struct slurmd *d;
	uint32_t job_id, attempt;
	bool sent;
};

struct slurmd {
	struct slurmd_options o;
	struct loop *loop;
	struct conf *conf;
	struct arena *arena; /* lives as long as conf */
	const struct node_conf *node;
	struct node_facts facts; /* what is reported; in the arena */
	struct disk *spool;
	struct auth *auth;
	struct map held; /* by name */
	VEC(struct clean *) clean;
	uint32_t adopting; /* step daemons that have not answered yet */

	struct conn *link; /* to the controller */
	bool registered;
	uint32_t host; /* which controller is tried */
	usec_t backoff;
	char trouble[256];        /* why there is no link, as it was last said; "" once there is one */
	struct timer *retry, *heartbeat, *resend;

	struct authd *authd; /* where users of this host get credentials */
};

/* held.c */
struct held *held_new(struct slurmd *d, uint32_t job_id, uint32_t attempt, uint32_t step_id);
struct held *held_find(const struct slurmd *d, uint32_t job_id, uint32_t attempt, uint32_t step_id);
void held_answer(struct request **r);         /* once, if it is there */
void held_free(struct held *h);               /* takes it out of the map */
void held_forget_request(struct request **r); /* the connection it came over is gone */
void held_name(uint32_t job_id, uint32_t attempt, uint32_t step_id, char ret[HELD_NAME_MAX]);
bool held_name_parse(const char *name, uint32_t *ret_job, uint32_t *ret_attempt,
		     uint32_t *ret_step);
/* Nothing of the job is here beside `but`, or only what the controller was told already. */
bool held_is_last(const struct slurmd *d, const struct held *but);
void held_list(const struct slurmd *d, struct arena *a, struct node_held **ret,
	       uint32_t *ret_count);

/* stepd.c: the step daemons */
void stepd_launch(struct held *h, struct launch *l);
void stepd_connect(struct held *h); /* to one that is found in the spool */
void stepd_signal(struct held *h, const struct signal_step *sig);
void stepd_terminate(struct held *h, const struct terminate_job *t);
/* The step's part is over; `end` is copied. */
void stepd_ended(struct held *h, const struct step_end *end);
void stepd_release(struct held *h); /* the controller knows: let it go and forget it */

/* adopt.c */
NODISCARD int adopt_start(struct slurmd *d, struct error *err);
void adopt_done_one(struct slurmd *d); /* links up after the last one */

/* orders.c: what the controller asks for */
void orders_handle(void *arg, struct request *r);

/* link.c */
void link_open(struct slurmd *d);
void link_close(struct slurmd *d);
void link_send_end(struct held *h);
void link_send_clean(struct slurmd *d, uint32_t job_id, uint32_t attempt);
