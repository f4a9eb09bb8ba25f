/* SPDX-License-Identifier: Apache-2.0 */
/* salloc - get an allocation, run a command on this host while holding it, give it back.
 *
 * The command is a child in a process group of its own, in the foreground of the terminal when there
 * is one, so that Ctrl-C and Ctrl-Z are its business.  Meanwhile salloc waits for the child and for
 * word of the job's end, whichever comes first. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/allocate.h"
#include "client/command.h"
#include "client/connect.h"
#include "client/env.h"
#include "client/jobenv.h"
#include "client/options.h"
#include "client/submit.h"
#include "conf/conf.h"
#include "host/user.h"
#include "schema/errors.h"
#include "text/hostlist.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct salloc {
	struct options o;
	struct connection c;
	struct allocation al;
	char **argv, **envp;
	pid_t child;
	pid_t own_group;   /* ours, to give the terminal back to */
	bool has_terminal; /* the command is in the foreground of one */
	bool is_shell;     /* nobody named a command */
	bool revoked;
};

/* ---- the command ------------------------------------------------------------------------------- */

static void choose_command(struct salloc *s)
{
	struct user_info user;
	const char *shell = getenv("SHELL");
	if (s->o.rest_count) {
		s->argv = ARENA_ARRAY(s->o.arena, char *, s->o.rest_count + 1);
		for (int i = 0; i < s->o.rest_count; i++)
			s->argv[i] = s->o.rest[i];
		return;
	}
	s->is_shell = true;
	if (str_empty(shell))
		shell = user_lookup(getuid(), &user) == 0 && user.shell[0] ? user.shell : "/bin/sh";
	s->argv = ARENA_ARRAY(s->o.arena, char *, 2);
	s->argv[0] = arena_strdup(s->o.arena, shell);
}

static int prepare_env(struct salloc *s, struct error *err)
{
	struct env env = {};
	struct hostlist nodes = {};
	struct job *job = &s->al.job;
	int r = hostlist_expand(job->node_list ? job->node_list : "", s->o.arena, &nodes, err);
	if (r < 0)
		return r;
	env_from_environ(&env, environ);
	env_set(&env, "SLURM_SUBMIT_DIR", "%s", submit_current_directory(s->o.arena));
	jobenv_add(JOBENV_ALLOC,
		   &(struct jobenv) { .job = job,
				      .cluster = s->c.conf->main.cluster_name,
				      .conf_path = s->c.conf->path,
				      .node_names = (const char *const *)nodes.names,
				      .node_count = nodes.count },
		   &env);
	s->envp = env_to_array(&env); /* both live until exec or exit */
	return 0;
}

static void become_command(struct salloc *s)
{
	setpgid(0, 0);
	if (s->has_terminal) {
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
	}
	alloc_unblock_signals();
	if (s->o.at.spec.work_dir && chdir(s->o.at.spec.work_dir) < 0)
		log_error("cannot change to '%s': %s", s->o.at.spec.work_dir, strerror(errno));
	environ = s->envp;
	execvp(s->argv[0], s->argv);
	log_error("cannot run '%s': %s", s->argv[0], strerror(errno));
	_exit(1);
}

static int start_command(struct salloc *s, struct error *err)
{
	s->own_group = getpgrp();
	s->has_terminal = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == s->own_group;
	s->child = fork();
	if (s->child < 0)
		return error_set(err, -errno, "cannot start '%s': %s", s->argv[0], strerror(errno));
	if (s->child == 0)
		become_command(s);
	setpgid(s->child, s->child);
	return 0;
}

/* A stopped command stops us too, so that the shell above gets its prompt back. */
static void follow_stop(struct salloc *s)
{
	if (!s->has_terminal)
		return;
	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(STDIN_FILENO, s->own_group);
	kill(0, SIGSTOP);
	tcsetpgrp(STDIN_FILENO, s->child);
	signal(SIGTTOU, SIG_DFL);
	kill(-s->child, SIGCONT);
}

/* Returns true with the status once the command has ended. */
static bool reap(struct salloc *s, int *ret_status)
{
	int status;
	pid_t pid = waitpid(s->child, &status, WNOHANG | WUNTRACED);
	if (pid != s->child)
		return false;
	if (WIFSTOPPED(status)) {
		follow_stop(s);
		return false;
	}
	*ret_status = status;
	return true;
}

static int exit_code_of(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	switch (WTERMSIG(status)) {
	case SIGHUP:
	case SIGINT:
	case SIGKILL:
	case SIGQUIT:
		return 0; /* ended on purpose */
	default:
		log_verbose("the command was ended by signal %d", WTERMSIG(status));
		return 1;
	}
}

/* ---- while it runs ----------------------------------------------------------------------------- */

static void on_revoked(struct salloc *s)
{
	uint32_t signo = s->o.at.has_kill_command ? s->o.at.kill_command
			 : s->is_shell            ? SIGHUP
						  : SIGTERM;
	s->revoked = true;
	log_info("Job allocation %u has been revoked.", s->al.job_id);
	kill(-s->child, (int)signo);
}

/* Ctrl-C reaches us only when the command is not in the foreground; then it is for the command. */
static void on_signal(struct salloc *s, int signo)
{
	if (signo != SIGCHLD)
		kill(-s->child, signo);
}

static int hold(struct salloc *s)
{
	struct job_wait ask = { .job_id = s->al.job_id, .for_end = true };
	bool asked = false;
	int status = 0;
	while (!reap(s, &status)) {
		struct job_wait_reply reply = {};
		struct error err = {};
		int signo = 0;
		if (!asked && !s->revoked)
			asked = alloc_ask(&s->al, MSG_JOB_WAIT, &ask, &err) == 0;
		/* Without an answer on its way only signals can come; then try again after a while. */
		switch (alloc_wait(&s->al, MSG_JOB_WAIT, &reply, asked ? -1 : 5 * USEC_PER_SEC,
				   &signo, &err)) {
		case ALLOC_ANSWER:
			asked = false;
			on_revoked(s);
			break;
		case ALLOC_SIGNAL:
			on_signal(s, signo);
			break;
		case ALLOC_LOST:
			asked = false;
			connect_hang_up(&s->c);
			if (err.code == -E_INVALID_JOB_ID && !s->revoked)
				on_revoked(s);
			break;
		case ALLOC_TIMEOUT:
			break;
		}
	}
	if (s->has_terminal) {
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, s->own_group);
	}
	return exit_code_of(status);
}

static void ring(const struct salloc *s)
{
	bool long_wait = s->al.waited > 10 * USEC_PER_SEC;
	if (s->o.at.has_bell ? s->o.at.bell : long_wait && isatty(STDOUT_FILENO))
		fputc('\a', stderr);
}

static int run(struct salloc *s, const struct submit_request *q)
{
	struct error err = {};
	int code = 0, r = connect_open(&s->c, s->o.program, &err);
	if (r < 0) {
		log_error("Unable to allocate resources: %s", err.text);
		return connect_exit_error();
	}
	s->al = (struct allocation) { .c = &s->c, .arena = s->o.arena, .program = s->o.program };
	s->al.signal_fd = alloc_block_signals();
	if (alloc_get(&s->al, &s->o, q, &code) < 0)
		return code;
	log_info("Granted job allocation %u", s->al.job_id);
	ring(s);
	log_info("Nodes %s are ready for job", s->al.job.node_list ? s->al.job.node_list : "");
	if (s->o.at.no_shell)
		return 0;
	choose_command(s);
	r = prepare_env(s, &err);
	if (r == 0)
		r = start_command(s, &err);
	if (r < 0)
		log_error("%s", err.text);
	code = r < 0 ? 1 : hold(s);
	if (!s->revoked) {
		log_info("Relinquishing job allocation %u", s->al.job_id);
		alloc_release(&s->al, code);
	}
	return code;
}

int main(int argc, char **argv)
{
	struct salloc s = {};
	struct submit_request request;
	struct error err = {};
	int code = 0;
	if (command_start(&s.o, OPTION_CMDS_SALLOC, argc, argv, &code))
		return code;
	if (submit_read_options(&s.o, environ, NULL, &err) < 0)
		return command_fail(&s.o, &err, s.o.exit_code);
	command_talk(&s.o);
	if (submit_fill(&s.o, NULL, argc, argv, environ, &request, &err) < 0)
		return command_fail(&s.o, &err, connect_exit_error());
	code = run(&s, &request);
	connect_close(&s.c);
	return code;
}
