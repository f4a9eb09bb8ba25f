/* SPDX-License-Identifier: Apache-2.0 */
/* daemons.c - which daemons a site has, which of them run, and how one is started.
 *
 * A daemon runs in the foreground mode (-D) in a session of its own, with the site's log directory
 * behind its stdout and stderr, so that words from before its log is open are kept too.  MUSTER_DIR in
 * its environment marks it, and the step daemons it starts, as this site's. */
#include "cmd/muster/muster.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A daemon that is just starting another program is there twice for a moment, under the same name. */
static bool is_own_child(const struct process *procs, size_t count, const struct process *p)
{
	for (size_t i = 0; i < count; i++)
		if (procs[i].pid == p->parent && procs[i].kind == p->kind)
			return true;
	return false;
}

struct daemon *daemons_list(const struct site *s, const struct conf *c, size_t *ret_count)
{
	struct daemon *list = ARENA_ARRAY(s->arena, struct daemon, c->node_count + 1);
	size_t running;
	const struct process *procs = processes_of(s, s->arena, &running);

	list[0] = (struct daemon){ .program = "slurmctld", .name = "slurmctld" };
	list[0].pid_path = site_path(s, "run/slurmctld.pid");
	list[0].log_path = site_path(s, "log/slurmctld");
	for (size_t i = 0; i < c->node_count; i++) {
		const char *node = arena_strdup(s->arena, c->nodes[i].name);
		list[i + 1] = (struct daemon){ .program = "slurmd", .node = node };
		list[i + 1].name = arena_printf(s->arena, "slurmd of %s", node);
		list[i + 1].pid_path = site_path(s, "run/slurmd-%s.pid", node);
		list[i + 1].log_path = site_path(s, "log/slurmd-%s", node);
	}
	*ret_count = c->node_count + 1;
	for (size_t p = 0; p < running; p++) {
		if (is_own_child(procs, running, &procs[p]))
			continue;
		if (procs[p].kind == PROCESS_CONTROLLER)
			list[0].pid = procs[p].pid;
		for (size_t i = 1; procs[p].kind == PROCESS_NODE && i < *ret_count; i++)
			if (str_eq(list[i].node, procs[p].node))
				list[i].pid = procs[p].pid;
	}
	return list;
}

/* The caller's environment with the site's own names in front; what a job left in it stays out. */
static char **daemon_environment(const struct site *s)
{
	size_t count = 0;

	while (environ[count])
		count++;
	char **env = ARENA_ARRAY(s->arena, char *, count + 3);
	size_t n = 0;
	env[n++] = arena_printf(s->arena, "MUSTER_DIR=%s", s->root);
	env[n++] = arena_printf(s->arena, "SLURM_CONF=%s", s->conf);
	for (size_t i = 0; i < count; i++)
		if (!str_starts(environ[i], "SLURM") && !str_starts(environ[i], "MUSTER_DIR="))
			env[n++] = environ[i];
	return env;
}

static void prepare(const struct site *s, const struct daemon *d, posix_spawn_file_actions_t *files,
		    posix_spawnattr_t *attr)
{
	const char *out = arena_printf(s->arena, "%s.out", d->log_path);
	sigset_t none, all;

	posix_spawn_file_actions_init(files);
	posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(files, 1, out, O_WRONLY | O_CREAT | O_APPEND, 0644);
	posix_spawn_file_actions_adddup2(files, 1, 2);
	posix_spawn_file_actions_addclosefrom_np(files, 3);
	posix_spawn_file_actions_addchdir_np(files, s->root);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(attr);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
					       POSIX_SPAWN_SETSIGDEF);
}

int daemon_start(const struct site *s, struct daemon *d, struct error *err)
{
	const char *path = arena_printf(s->arena, "%s/%s", s->bin, d->program);
	const char *argv[] = { path, "-D", "-f", s->conf, d->node ? "-N" : NULL, d->node, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;

	prepare(s, d, &files, &attr);
	int r = posix_spawn(&d->pid, path, &files, &attr, (char *const *)argv, daemon_environment(s));
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (r != 0) {
		d->pid = 0;
		return error_set(err, -r, "cannot start '%s': %s", path, strerror(r));
	}
	d->is_new = true;
	return 0; /* its pid file is its own work: the lock on it keeps a second one out */
}
