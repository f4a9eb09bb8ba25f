/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to srun, and the end of a step before its time.
 *
 * Ctrl-C once shows how things stand, twice within a second interrupts the tasks and begins to end the
 * step; TERM, HUP and QUIT end it at once; USR1, USR2 and CONT are the tasks' own.  Ending a step
 * goes in stages, each begun by a timer or by another signal: the signal asked for, KILL after
 * KillWait, and leaving without the tasks when even that did not help. */
#include "base/buf.h"
#include "base/log.h"
#include "client/allocate.h"
#include "cmd/srun.h"
#include "conf/conf.h"
#include "host/loop.h"
#include "text/idset.h"

#include <signal.h>

static const usec_t AGAIN = USEC_PER_SEC;
static const usec_t GIVE_UP = 2 * USEC_PER_SEC;

/* ---- the end ----------------------------------------------------------------------------------- */

static void abort_go_on(void *arg)
{
	struct srun *s = arg;
	if (++s->kill_stage == 1) {
		log_verbose("killing what is left of StepId=%u.%u", s->al.job_id, s->step.id);
		io_signal(s, SIGKILL);
		timer_start(s->kill_timer, GIVE_UP, 0);
		return;
	}
	log_error("StepId=%u.%u does not end; leaving without it", s->al.job_id, s->step.id);
	s->exit_code = s->exit_code ? s->exit_code : 1;
	loop_stop(s->loop);
}

void step_abort(struct srun *s, int signo)
{
	if (s->aborting) {
		if (s->kill_stage == 0)
			abort_go_on(s);
		return;
	}
	s->aborting = true;
	s->abort_signo = signo;
	s->reader_gone = signo == SIGPIPE;
	if (!s->reader_gone)
		log_info("Job step aborted: Waiting up to %d seconds for job step to finish.",
			 (int)s->kill_wait_sec + (int)(GIVE_UP / USEC_PER_SEC));
	io_signal(s, signo);
	s->kill_timer = timer_new(s->loop, abort_go_on, s);
	timer_start(s->kill_timer, s->kill_wait_sec * USEC_PER_SEC, 0);
}

/* ---- signals ----------------------------------------------------------------------------------- */

/* "StepId=7.0 tasks 0-3: running" and "... task 4: exited" */
static void show_status(const struct srun *s)
{
	for (int ended = 0; ended < 2; ended++) {
		VEC(struct idset_range) ranges = {};
		AUTO_BUF struct buf ids = {};
		uint32_t total = 0;
		for (uint32_t i = 0; i < s->step.ntasks; i++) {
			if (s->tasks[i].ended != (ended == 1))
				continue;
			total++;
			if (ranges.count && ranges.at[ranges.count - 1].last + 1 == i)
				ranges.at[ranges.count - 1].last = i;
			else
				vec_push(&ranges, (struct idset_range) { i, i });
		}
		idset_print(ranges.at, (uint32_t)ranges.count, 0, &ids);
		if (total)
			log_info("StepId=%u.%u task%s %s: %s", s->al.job_id, s->step.id,
				 total > 1 ? "s" : "", buf_text(&ids),
				 ended ? "exited" : "running");
		vec_done(&ranges);
	}
}

static void on_interrupt(void *arg)
{
	struct srun *s = arg;
	usec_t now = loop_clock(s->loop);
	bool again = s->last_interrupt && now - s->last_interrupt < AGAIN;
	s->last_interrupt = now;
	if (s->o.at.disable_status && !again) {
		io_signal(s, SIGINT);
	} else if (s->o.at.quit_on_interrupt || again) {
		step_abort(s, SIGINT);
	} else {
		log_info("interrupt (one more within 1 sec to abort)");
		show_status(s);
	}
}

static void on_terminate(void *arg)
{
	step_abort(arg, SIGTERM);
}

static void on_usr1(void *arg)
{
	io_signal(arg, SIGUSR1);
}

static void on_usr2(void *arg)
{
	io_signal(arg, SIGUSR2);
}

static void on_cont(void *arg)
{
	io_signal(arg, SIGCONT);
}

static void on_winch(void *arg)
{
	io_send_winsize(arg);
}

void signals_watch(struct srun *s)
{
	loop_on_signal(s->loop, SIGINT, on_interrupt, s);
	loop_on_signal(s->loop, SIGTERM, on_terminate, s);
	loop_on_signal(s->loop, SIGHUP, on_terminate, s);
	loop_on_signal(s->loop, SIGQUIT, on_terminate, s);
	loop_on_signal(s->loop, SIGUSR1, on_usr1, s);
	loop_on_signal(s->loop, SIGUSR2, on_usr2, s);
	loop_on_signal(s->loop, SIGCONT, on_cont, s);
	if (s->o.at.pty)
		loop_on_signal(s->loop, SIGWINCH, on_winch, s);
	signal(SIGTTIN, SIG_IGN);
	alloc_unblock_signals(); /* what came meanwhile arrives now */
}
