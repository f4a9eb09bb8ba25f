/* SPDX-License-Identifier: Apache-2.0 */
/* srun - run a program as a step: on the nodes of the job we are in, or of one made for it.
 *
 * Read with srun.h.  The way through: options, allocation (unless inside one), listener, step, then
 * the loop until the step is over, then the allocation is given back and the highest exit code of
 * the tasks is ours. */
#include "cmd/srun.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/command.h"
#include "client/options_step.h"
#include "client/submit.h"
#include "client/task_text.h"
#include "conf/conf.h"
#include "host/loop.h"
#include "sched/gpubind.h"
#include "sched/taskmap.h"
#include "text/hostlist.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool names_a_job(const struct options *o)
{
	for (size_t i = 0; i < o->uses.count; i++)
		if (o->uses.at[i].row->parse == OPTION_PARSE_JOBID)
			return true;
	return false;
}

static int read_options(struct srun *s, struct error *err)
{
	options_scan_env(&s->o, environ);
	if (names_a_job(&s->o))
		options_enter_step(&s->o);
	int r = options_apply(&s->o, err);
	return r < 0 ? r : options_check(&s->o, err);
}

static void list_mpi(void)
{
	fputs("MPI plugin types are...\n\tnone\n", stdout);
}

/* Options that shape an allocation have no use inside one; those who wonder can see it with -v. */
static void tell_unused(const struct srun *s)
{
	for (size_t i = 0; i < s->o.uses.count; i++) {
		const struct option_use *use = &s->o.uses.at[i];
		if (use->source == OPTION_ARGS && use->row->scope == OPTION_SCOPE_JOB)
			log_verbose("%s is about allocations; this step runs in job %u", use->where,
				    s->o.at.job_id);
	}
}

static int get_job(struct srun *s, int argc, char **argv, int *ret_code)
{
	struct submit_request request;
	struct error err = {};
	s->al = (struct allocation) { .c = &s->c, .arena = s->o.arena, .program = s->o.program };
	s->al.signal_fd = alloc_block_signals();
	if (s->o.in_allocation) {
		s->al.job_id = s->o.at.job_id;
		tell_unused(s);
		return 0;
	}
	int r = submit_fill(&s->o, NULL, argc, argv, environ, &request, &err);
	if (r < 0) {
		*ret_code = command_fail(&s->o, &err, connect_exit_error());
		return r;
	}
	r = alloc_get(&s->al, &s->o, &request, ret_code);
	s->own_job = r == 0;
	return r;
}

static int prepare_peers(struct srun *s, struct error *err)
{
	struct hostlist nodes = {};
	int r = hostlist_expand(s->step.node_list ? s->step.node_list : "", s->o.arena, &nodes,
				err);
	if (r < 0)
		return r;
	s->peer_count = s->step.n_alloc;
	s->peers = ARENA_ARRAY(s->o.arena, struct peer, s->peer_count + 1);
	for (uint32_t i = 0; i < s->peer_count; i++) {
		const char *name = i < nodes.count ? nodes.names[i] : "?";
		s->peers[i] = (struct peer) { .srun = s, .name = name, .node_pos = i };
	}
	s->tasks = ARENA_ARRAY(s->o.arena, struct task, s->step.ntasks + 1);
	for (uint32_t last = s->step.ntasks ? s->step.ntasks - 1 : 0; last > 9; last /= 10)
		s->label_width++;
	s->label_width++;
	return 0;
}

/* --time of a step: the job's limit is the controller's business, this one is ours. */
static void limit_reached(void *arg)
{
	struct srun *s = arg;
	log_error("*** STEP %u.%u CANCELLED DUE TO TIME LIMIT ***", s->al.job_id, s->step.id);
	step_abort(s, SIGTERM);
}

static void limit_start(struct srun *s)
{
	if (!s->o.in_allocation || !s->o.at.spec.has_time_limit || !s->o.at.spec.time_limit)
		return;
	s->limit_timer = timer_new(s->loop, limit_reached, s);
	timer_start(s->limit_timer, s->o.at.spec.time_limit, 0);
}

/* What the site has set for steps that say nothing themselves. */
static void take_settings(struct srun *s)
{
	const struct slurm_conf *conf = &s->c.conf->main;
	struct command_options *at = &s->o.at;
	s->kill_wait_sec = conf->kill_wait;
	if (!at->has_kill_on_bad_exit && conf->kill_on_bad_exit)
		at->has_kill_on_bad_exit = at->kill_on_bad_exit = true;
	if (!at->has_wait_sec && conf->wait_time) {
		at->has_wait_sec = true;
		at->wait_sec = conf->wait_time;
	}
}

/* --gpu-bind=verbose: the map as the nodes will make it. */
static void tell_binding(struct srun *s)
{
	AUTO_BUF struct buf text = {};
	struct taskmap map = { .step = &s->step, .job = &s->al.job };
	struct gpubind how;
	struct error err = {};
	if (gpubind_parse(s->step.gpu_bind, &how, &err) < 0 || !how.verbose)
		return;
	if (task_text_ask(&s->c, s->step.node_list, s->o.arena, &map, &err) < 0) {
		log_error("cannot show the binding: %s", err.text);
		return;
	}
	task_text_lines(&map, s->o.arena, &text);
	for (char *save = NULL, *line = strtok_r((char *)(uintptr_t)buf_text(&text), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		log_info("%s", line);
}

static int run_step(struct srun *s)
{
	struct error err = {};
	int code = connect_exit_error();
	take_settings(s);
	s->loop = loop_new();
	if (io_listen(s, &err) < 0 || step_fill(s, &err) < 0)
		return command_fail(&s->o, &err, code);
	if (step_create(s, &code) < 0)
		return code;
	if (prepare_peers(s, &err) < 0 || output_open(s, &err) < 0) {
		s->aborting = true;
		return command_fail(&s->o, &err, connect_exit_error());
	}
	tell_binding(s);
	connect_hang_up(&s->c); /* the controller need not keep a line open while the step runs */
	signals_watch(s);
	pty_enter(s);
	limit_start(s);
	watch_start(s);
	loop_run(s->loop);
	exit_report(s);
	pty_leave(s);
	watch_stop(s);
	return s->exit_code;
}

int main(int argc, char **argv)
{
	struct srun s = { .input_fd = -1 };
	struct error err = {};
	int code = 0;
	if (command_start(&s.o, OPTION_CMDS_SRUN, argc, argv, &code))
		return code;
	if (read_options(&s, &err) < 0)
		return command_fail(&s.o, &err, s.o.exit_code);
	command_talk(&s.o);
	if (str_eq(s.o.at.mpi, "list")) {
		list_mpi();
		return 0;
	}
	if (s.o.rest_count == 0) {
		error_set(&err, -EINVAL, "no program is named: srun [options] program [arguments]");
		return command_fail(&s.o, &err, connect_exit_error());
	}
	if (connect_open(&s.c, s.o.program, &err) < 0) {
		log_error("Unable to allocate resources: %s", err.text);
		return connect_exit_error();
	}
	if (get_job(&s, argc, argv, &code) < 0)
		return code;
	code = run_step(&s);
	if (s.own_job)
		alloc_release(&s.al, code);
	fflush(stdout);
	_exit(code); /* a thread may still wait for the controller; nothing is left to be tidied up */
}
