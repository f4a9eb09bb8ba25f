/* SPDX-License-Identifier: Apache-2.0 */
/* srun.h - what the parts of srun share.
 *
 * srun listens on a port, asks the controller for a step, and then one step daemon for each of the
 * step's nodes calls in (a peer).  Peers bring output and exits and take input and signals.  Once
 * every peer has said that it is done, or is known to be lost, the step is over.  One loop, one
 * thread; the exit of the program frees everything. */
#pragma once
#include "base/buf.h"
#include "base/vec.h"
#include "client/allocate.h"
#include "client/connect.h"
#include "client/options.h"
#include "schema/messages.h"

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct conn;
struct listener;
struct loop;
struct stream;
struct timer;

enum { IO_IN, IO_OUT, IO_ERR };
#define ALL_TASKS UINT32_MAX

struct task {
	uint32_t peer; /* position of its node */
	bool known;    /* its step daemon has called */
	bool ended;
	bool reported; /* its end was printed, or needs no words */
	uint32_t exit_code, exit_signal;
	bool out_of_memory;
	struct buf line[2]; /* with --label: what has no line end yet */
};

struct peer {
	struct srun *srun;
	struct conn *conn; /* NULL before it has called and after it has gone */
	const char *name;  /* of the node */
	bool called, done; /* done: nothing more will come */
	uint32_t node_pos;
};

/* Where one of the two output streams goes. */
struct sink {
	int fd;        /* -1: nowhere */
	bool only_one; /* output of `task` alone */
	uint32_t task;
	bool at_node; /* the step daemons write it */
};

struct srun {
	struct options o;
	struct connection c;
	struct allocation al;
	bool own_job; /* allocated by us, to be given back */
	struct loop *loop;
	struct listener *listener;
	struct step_request request;
	struct step step;
	const char **node_names;
	struct task *tasks;
	struct peer *peers;
	uint32_t peer_count, called, done;
	uint32_t strangers; /* connections that have not shown the cookie yet */

	struct sink sinks[3]; /* by IO_OUT, IO_ERR */
	int label_width;

	struct stream *input;
	int input_fd; /* -1: none to forward */
	bool input_started, input_ended;
	uint32_t input_task; /* ALL_TASKS */
	struct timer *input_timer;

	struct timer *report_timer; /* gathers exits that belong together */
	struct timer *first_exit_timer, *kill_timer, *limit_timer, *watch_timer;
	bool first_exit_seen;
	int exit_code; /* highest so far */
	bool aborting;
	int abort_signo;
	bool reader_gone; /* our output's reader has left; nothing to complain about */
	unsigned kill_stage;
	uint32_t kill_wait_sec;
	usec_t last_interrupt;

	bool watching; /* a question is on its way in a thread */
	struct connection watch_conn;
	struct arena *watch_arena;
	struct job_list watch_list;
	int watch_result;
	unsigned watch_count, missing_count;

	bool has_saved_tty;
	struct termios saved_tty;
};

/* srun_step.c: what is asked for */
NODISCARD int step_fill(struct srun *s, struct error *err);
NODISCARD int step_create(struct srun *s, int *ret_code);
/* srun_io.c: peers and standard input */
NODISCARD int io_listen(struct srun *s, struct error *err);
void io_signal(struct srun *s, int signo);
void io_start_input(struct srun *s);
void io_peer_lost(struct srun *s, struct peer *p, const char *why);
void io_check_end(struct srun *s);
void io_send_winsize(struct srun *s);
/* srun_output.c */
NODISCARD int output_open(struct srun *s, struct error *err);
void output_write(struct srun *s, uint32_t task, int stream, const uint8_t *data, size_t len);
void output_end(struct srun *s, uint32_t task, int stream);
/* srun_exit.c */
void exit_note(struct srun *s, const struct peer *p, const struct io_exit *e);
void exit_note_lost(struct srun *s, const struct peer *p);
void exit_report(void *arg);
/* srun_signal.c */
void signals_watch(struct srun *s);
void step_abort(struct srun *s, int signo);
/* srun_watch.c: asks the controller from time to time whether the step is still there */
void watch_start(struct srun *s);
void watch_stop(struct srun *s);
/* srun_pty.c */
void pty_enter(struct srun *s);
void pty_leave(struct srun *s);
