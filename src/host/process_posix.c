/* SPDX-License-Identifier: Apache-2.0 */
/* process_posix.c - starting programs with posix_spawn, and learning how they ended.
 *
 * posix_spawn shares the memory of the daemon until exec, so that starting costs the same however
 * large the daemon is.  The child's descriptors are made in order: sources that lie among the targets
 * are copied out of the way first (in the daemon), then each is put in its place, then everything
 * behind them is closed.
 *
 * SIGCHLD wakes the loop, which asks for each child it started and no other: two loops in a process,
 * or a library with children of its own, do not take each other's.  All that have ended are collected
 * before the first callback runs, because callbacks may start children. */
#include "host/process.h"

#include "base/error.h"
#include "host/loop_uv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct child {
	struct child *next;
	pid_t pid;
	int status;
	exited_fn exited;
	void *arg;
};

struct children {
	uv_signal_t chld;
	struct child *running;
};

/* ---- how they end ------------------------------------------------------------------------------- */

static struct child *collect_exited(struct children *cs)
{
	struct child *ended = NULL, **tail = &ended;
	for (struct child **link = &cs->running; *link;) {
		struct child *c = *link;
		pid_t got = waitpid(c->pid, &c->status, WNOHANG);
		if (got != c->pid && !(got < 0 && errno == ECHILD)) {
			link = &c->next;
			continue;
		}
		if (got < 0)
			c->status =
				0; /* somebody else asked for it: it is gone, how is not known */
		*link = c->next;
		c->next = NULL;
		*tail = c;
		tail = &c->next;
	}
	return ended;
}

static void on_sigchld(uv_signal_t *uv, int signo)
{
	(void)signo;
	struct child *c = collect_exited(uv->data);
	while (c) {
		struct child *next = c->next;
		if (c->exited)
			c->exited(c->arg, c->pid, c->status);
		free(c);
		c = next;
	}
}

static struct children *children_of(struct loop *l)
{
	if (!l->children) {
		struct children *cs = NEW(struct children);
		uv_signal_init(&l->uv, &cs->chld);
		cs->chld.data = cs;
		uv_signal_start(&cs->chld, on_sigchld, SIGCHLD);
		l->children = cs;
	}
	return l->children;
}

static void children_gone(uv_handle_t *h)
{
	free(h->data);
}

void children_done(struct loop *l)
{
	struct children *cs = TAKE_PTR(l->children);
	if (!cs)
		return;
	for (struct child *c = cs->running, *next; c; c = next) {
		next = c->next;
		free(c); /* it goes on without us */
	}
	uv_close((uv_handle_t *)&cs->chld, children_gone);
}

/* ---- how they start ----------------------------------------------------------------------------- */

/* Adds what makes descriptors 0..fd_count-1 of the child and nothing else.  Copies made on the way go
 * into `copies` for the caller to close once the child runs. */
static int plan_descriptors(const struct spawn *s, posix_spawn_file_actions_t *fa, int *copies)
{
	int r = 0;
	for (size_t i = 0; i < s->fd_count && r == 0; i++) {
		if (s->fds[i] < 0)
			continue;
		if ((size_t)s->fds[i] < s->fd_count) {
			copies[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, (int)s->fd_count);
			if (copies[i] < 0)
				return errno;
		}
	}
	for (size_t i = 0; i < s->fd_count && r == 0; i++) {
		int from = copies[i] >= 0 ? copies[i] : s->fds[i];
		if (from < 0)
			r = posix_spawn_file_actions_addopen(fa, (int)i, "/dev/null", O_RDWR, 0);
		else
			r = posix_spawn_file_actions_adddup2(fa, from, (int)i);
	}
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(fa, (int)s->fd_count);
	if (r == 0 && s->cwd)
		r = posix_spawn_file_actions_addchdir_np(fa, s->cwd);
	return r;
}

static int plan_signals(const struct spawn *s, posix_spawnattr_t *attr)
{
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
		    (s->detach ? POSIX_SPAWN_SETSID : 0);
	int r = posix_spawnattr_setsigdefault(attr, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attr, &none);
	if (r == 0)
		r = posix_spawnattr_setflags(attr, (short)flags);
	return r;
}

/* Returns 0 or a positive errno, as posix_spawn does. */
static int spawn_planned(const struct spawn *s, int *copies, pid_t *ret_pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	int r = plan_descriptors(s, &fa, copies);
	if (r == 0)
		r = plan_signals(s, &attr);
	if (r == 0)
		r = posix_spawn(ret_pid, s->path, &fa, &attr, (char *const *)s->argv,
				s->envp ? (char *const *)s->envp : environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	return r;
}

static int say_why(const struct spawn *s, int failed, struct error *err)
{
	struct stat st;
	if (s->cwd && stat(s->cwd, &st) < 0)
		return error_set(err, -failed, "cannot start '%s' in the directory '%s': %s",
				 s->path, s->cwd, strerror(errno));
	return error_set(err, -failed, "cannot start '%s': %s", s->path, strerror(failed));
}

int process_spawn(struct loop *l, const struct spawn *s, exited_fn exited, void *arg,
		  pid_t *ret_pid, struct error *err)
{
	assert(s->argv && s->argv[0]);
	struct children *cs = children_of(
		l); /* SIGCHLD is watched before there is anything to miss */
	AUTO_FREE int *copies = mem_alloc((s->fd_count + 1) * sizeof(*copies));
	for (size_t i = 0; i < s->fd_count; i++)
		copies[i] = -1;
	pid_t pid = 0;
	int failed = spawn_planned(s, copies, &pid);
	for (size_t i = 0; i < s->fd_count; i++)
		if (copies[i] >= 0)
			close(copies[i]);
	if (failed)
		return say_why(s, failed, err);

	struct child *c = NEW(struct child);
	*c = (struct child) { .next = cs->running, .pid = pid, .exited = exited, .arg = arg };
	cs->running = c;
	if (ret_pid)
		*ret_pid = pid;
	return 0;
}

int process_socketpair(int ret[2])
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	ret[0] = fds[0];
	ret[1] = fds[1];
	return 0;
}

int process_signal(pid_t pid, int signo)
{
	return kill(pid, signo) < 0 ? -errno : 0;
}
