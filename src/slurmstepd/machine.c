/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - the life of a step as one table: what is done about an event, and what comes next.
 *
 *	waiting -> running -> sweeping -> flushing -> reporting -> done
 *	               \-> stopping -^
 *
 * An empty cell means that the event has no meaning in that state and changes nothing: a second
 * terminate, a late timer, srun leaving after the output was flushed.  The step daemon leaves only by
 * an acknowledged report, or when it was never given work; a node daemon that restarts always finds
 * it. */
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "schema/states.h"
#include "slurmstepd/stepd.h"
#include "text/date.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

enum { SWEEP_AGAIN_MSEC = 100, FLUSH_LIMIT_SEC = 5 };

typedef enum stepd_mode (*action_fn)(struct stepd *s, const void *what);

static void deadline_in(struct stepd *s, usec_t delay)
{
	s->deadline = stepd_clock() + delay;
}

/* Nothing was started: say why, as the node daemon and srun need to hear it. */
static enum stepd_mode give_up(struct stepd *s, const struct error *err)
{
	log_error("%s: %s", s->name, err->text);
	s->end.exit_code = 1;
	s->end.launch_error = mem_strdup(err->text);
	if (s->running) {
		family_signal(s, SIGKILL);
		deadline_in(s, SWEEP_AGAIN_MSEC * USEC_PER_MSEC);
		return STEPD_SWEEPING;
	}
	files_remove_script(s);
	return STEPD_FLUSHING;
}

static enum stepd_mode do_launch(struct stepd *s, const void *what)
{
	const struct frame *request = what;
	struct error err = {};
	int r = control_listen(s, &err);

	if (r < 0) {
		talk_refuse(&s->control, request, r, err.text);
		(void)!talk_flush(&s->control);
		return STEPD_DONE;
	}
	talk_reply(&s->control, request, &empty_record, &(struct empty) {});
	(void)!talk_flush(&s->control);
	r = tasks_start(s, &err);
	return r < 0 ? give_up(s, &err) : STEPD_RUNNING;
}

/* Signals go to the tasks and their process groups, to the batch shell alone when only it is meant,
 * and to everything it has started with `full`. */
static enum stepd_mode do_signal(struct stepd *s, const void *what)
{
	const struct signal_step *sig = what;

	if (sig->full || sig->signal == SIGKILL)
		family_signal(s, (int)sig->signal);
	else if (sig->batch_only && s->task_count && s->tasks[0].pid > 0)
		kill(s->tasks[0].pid, (int)sig->signal);
	else
		tasks_signal(s, (int)sig->signal);
	return s->mode;
}

static usec_t wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (usec_t)now.tv_sec * USEC_PER_SEC + now.tv_nsec / 1000;
}

/* Tools look for this line in the output of jobs.  `why` is nothing, or DUE TO and the reason. */
static void say_cancelled(struct stepd *s, const char *why)
{
	const struct launch *l = &s->launch;
	char when[DATE_TEXT], what[64];
	const char *due = str_empty(why) ? "" : " ";

	date_print(wall_clock(), when);
	if (stepd_is_batch(s))
		snprintf(what, sizeof(what), "JOB %u", l->job_id);
	else
		snprintf(what, sizeof(what), "STEP %u.%u", l->job_id, l->step_id);
	io_say(s, "*** %s ON %s CANCELLED AT %s%s%s ***", what, l->node_name, when, due,
	       *due ? why : "");
}

static enum stepd_mode do_terminate(struct stepd *s, const void *what)
{
	const struct terminate_job *t = what;

	say_cancelled(s, t->why);
	family_terminate(s);
	deadline_in(s, (usec_t)t->kill_wait_sec * USEC_PER_SEC);
	return STEPD_STOPPING;
}

/* Nobody can see the output or the exit code any more. */
static enum stepd_mode do_stop_orphan(struct stepd *s, const void *what)
{
	(void)what;
	log_error("%s: srun is gone, the step is ended", s->name);
	family_terminate(s);
	deadline_in(s, (usec_t)s->launch.kill_wait_sec * USEC_PER_SEC);
	return STEPD_STOPPING;
}

static enum stepd_mode do_sweep(struct stepd *s, const void *what)
{
	(void)what;
	family_signal(s, SIGKILL);
	deadline_in(s, SWEEP_AGAIN_MSEC * USEC_PER_MSEC);
	return STEPD_SWEEPING;
}

static enum stepd_mode do_flush(struct stepd *s, const void *what)
{
	(void)what;
	files_remove_script(s);
	s->deadline = 0;
	return STEPD_FLUSHING;
}

/* The job is to end and srun does not read: its output is not worth waiting for. */
static enum stepd_mode do_limit_flush(struct stepd *s, const void *what)
{
	(void)what;
	if (!s->deadline)
		deadline_in(s, FLUSH_LIMIT_SEC * USEC_PER_SEC);
	return STEPD_FLUSHING;
}

static enum stepd_mode do_report(struct stepd *s, const void *what)
{
	(void)what;
	s->deadline = 0;
	if (s->srun.fd >= 0)
		shutdown(s->srun.fd, SHUT_WR);
	control_report(s);
	return STEPD_REPORTING;
}

static enum stepd_mode do_leave(struct stepd *s, const void *what)
{
	(void)s;
	(void)what;
	return STEPD_DONE;
}

static const action_fn actions[STEPD_MODE_COUNT][STEPD_EVENT_COUNT] = {
	[STEPD_WAITING] = {
		[ON_LAUNCH] = do_launch,
		[ON_SLURMD_LOST] = do_leave,
	},
	[STEPD_RUNNING] = {
		[ON_SIGNAL] = do_signal,
		[ON_TERMINATE] = do_terminate,
		[ON_TASKS_GONE] = do_sweep,
		[ON_FAMILY_GONE] = do_flush,
		[ON_SRUN_LOST] = do_stop_orphan,
	},
	[STEPD_STOPPING] = {
		[ON_SIGNAL] = do_signal,
		[ON_FAMILY_GONE] = do_flush,
		[ON_TIMER] = do_sweep,
	},
	[STEPD_SWEEPING] = {
		[ON_FAMILY_GONE] = do_flush,
		[ON_TIMER] = do_sweep,
	},
	[STEPD_FLUSHING] = {
		[ON_TERMINATE] = do_limit_flush,
		[ON_TIMER] = do_report,
		[ON_SRUN_LOST] = do_report,
		[ON_FLUSHED] = do_report,
	},
	[STEPD_REPORTING] = {
		[ON_ACKNOWLEDGED] = do_leave,
	},
};

void stepd_on(struct stepd *s, enum stepd_event e, const void *what)
{
	action_fn action = actions[s->mode][e];

	if (action)
		s->mode = action(s, what);
}
