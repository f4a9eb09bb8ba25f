/* SPDX-License-Identifier: Apache-2.0 */
/* stepd.h - one step's part on one node: its tasks, their streams, and the report at the end.
 *
 * The whole program is one `struct stepd`, one poll(2) loop (loop.c) and one table of states and
 * events (machine.c).  Everything that happens outside becomes an event; the table says what is done
 * and what comes next.  Single-threaded; the process's exit frees what it holds. */
#pragma once
#include "base/buf.h"
#include "base/time.h"
#include "client/env.h"
#include "sched/cpubind.h"
#include "schema/messages.h"
#include "slurmstepd/talk.h"

#include <stdbool.h>
#include <stdint.h>
#include <sched.h>
#include <sys/types.h>

struct arena;
struct error;

enum stepd_mode {
	STEPD_WAITING,   /* for the work */
	STEPD_RUNNING,   /* tasks run */
	STEPD_STOPPING,  /* TERM was sent; until `deadline` they may tidy up */
	STEPD_SWEEPING,  /* the tasks are over; what they left behind is killed */
	STEPD_FLUSHING,  /* nothing runs any more; output is still on its way to srun */
	STEPD_REPORTING, /* the end is known, the node daemon has not taken note yet */
	STEPD_DONE,
	STEPD_MODE_COUNT,
};

enum stepd_event {
	ON_LAUNCH,      /* struct frame of the request */
	ON_SIGNAL,      /* struct signal_step */
	ON_TERMINATE,   /* struct terminate_job */
	ON_TASKS_GONE,  /* every task has exited */
	ON_FAMILY_GONE, /* no descendant is left */
	ON_TIMER,
	ON_SRUN_LOST,
	ON_FLUSHED,
	ON_ACKNOWLEDGED,
	ON_SLURMD_LOST,
	STEPD_EVENT_COUNT,
};

/* The standard input of a task: what srun sent and the task has not read yet. */
struct task_input {
	int fd;
	struct buf queue;
	bool eof; /* close when the queue is empty */
};

struct task {
	uint32_t id, local_id;
	pid_t pid;                  /* 0: never started or reaped */
	bool started, exited, told; /* told: srun knows that it exited */
	uint32_t exit_code, exit_signal;
	int out[2]; /* our ends of standard output and error; -1 when they are files or closed */
	struct task_input in;
	int given[3]; /* its own ends, until it is forked */
};

struct stepd {
	const char *spool; /* directory of the node daemon */
	const char
		*cpus; /* the machine's CPUs in the order the controller counts; NULL: never bind */
	char name[48]; /* 7.1.0 or 7.1.b: job, attempt, step; stem of the socket's file name */
	struct arena *arena;
	struct launch launch; /* in the arena */
	enum stepd_mode mode;
	struct talk control; /* to the node daemon */
	struct talk srun;
	bool srun_done; /* it was told that nothing more will come */
	int listen_fd, signal_fd;
	struct task *tasks;
	uint32_t task_count, running;
	struct cpubind_node cpu_node;
	struct cpubind_result bound; /* of affinity.c; empty for a batch script */
	bool tasks_gone_told;
	bool family_gone; /* no descendant is left */
	usec_t deadline;  /* of ON_TIMER on the monotonic clock; 0: none */
	struct step_end end;
	uint64_t report_id;
	int err_fd; /* a batch job's standard error, for what we have to say */
	char *script_path, *script_dir;
	struct env env;                    /* as the user gave it; every task adds its own */
	const char *wanted_dir, *work_dir; /* as asked for; where we really are */
	mode_t umask;
};

/* machine.c */
void stepd_on(struct stepd *s, enum stepd_event e, const void *what);

/* loop.c */
void stepd_loop(struct stepd *s);
usec_t stepd_clock(void);

/* control.c: the node daemon's side */
void control_read(struct stepd *s);
void control_accept(struct stepd *s);
int control_listen(struct stepd *s, struct error *err);
void control_report(struct stepd *s);

/* io.c: srun's side, and the streams of the tasks */
int io_connect(struct stepd *s, struct error *err);
void io_srun_read(struct stepd *s);
void io_output_read(struct stepd *s, struct task *t, int which);
void io_input_write(struct stepd *s, struct task *t);
void io_tell_exits(struct stepd *s);
void io_drain(struct stepd *s, struct task *t); /* what is in the pipes now */
void io_finish(struct stepd *s);
bool io_is_flushed(const struct stepd *s);
bool io_may_read_tasks(const struct stepd *s);
bool io_may_read_srun(const struct stepd *s);
void io_lost(struct stepd *s);
void io_part(struct stepd *s); /* the last thing before leaving */
/* A line of our own into the job's standard error. */
void io_say(struct stepd *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* resolve.c: the address of a host by its name, -EHOSTUNREACH when it has none */
int resolve_name(const char *name, char ret[64]);

/* files.c: everything is opened as the user */
int files_open(struct stepd *s, struct task *t, struct error *err);
int files_write_script(struct stepd *s, struct error *err);
void files_remove_script(struct stepd *s);
int user_enter(const struct launch *l, struct error *err); /* effective ids, for opening files */
void user_leave(void);

/* task.c */
int tasks_start(struct stepd *s, struct error *err);
bool stepd_is_batch(const struct stepd *s);

/* affinity.c */
/* Decides what the tasks are bound to; the step's part here must be laid out. */
void affinity_plan(struct stepd *s);
/* The CPUs of the machine that a task may use; false when it is not to be bound. */
bool affinity_of(const struct stepd *s, const struct task *t, cpu_set_t *ret);
/* In the task: what a verbose --cpu-bind asks for, and bindings that came to nothing. */
void affinity_tell(const struct stepd *s, const struct task *t, bool is_set);

/* family.c */
void family_signal(struct stepd *s, int signo); /* every descendant */
void family_terminate(struct stepd *s);         /* TERM for every descendant; nobody slips through */
void tasks_signal(struct stepd *s, int signo);  /* the tasks' process groups */
void family_reap(struct stepd *s);
