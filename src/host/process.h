/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - starting programs from a daemon.
 *
 * The child gets exactly the descriptors listed, a fresh signal state and, with `detach`, a session
 * of its own so that it outlives the daemon.  Implemented by host/process_posix.c (vfork-like, so
 * that starting costs the same however large the daemon is) and by sim/. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;
struct loop;

struct spawn {
	const char *path;         /* program file */
	const char *const *argv;  /* NULL-terminated */
	const char *const *envp;  /* NULL: the daemon's own */
	const char *cwd;          /* NULL: the daemon's own */
	const int *fds;           /* descriptor i of the child is fds[i]; -1 means /dev/null */
	size_t fd_count;
	bool detach;
};

/* `status` is as of waitpid(2).  Called once, on the loop. */
typedef void (*exited_fn)(void *arg, pid_t pid, int status);

NODISCARD int process_spawn(struct loop *l, const struct spawn *s, exited_fn exited, void *arg,
			    pid_t *ret_pid, struct error *err);
/* A connected pair of local sockets, both close-on-exec: one end for the child. */
NODISCARD int process_socketpair(int ret[2]);
NODISCARD int process_signal(pid_t pid, int signo); /* negative pid: the group */
/* Signals every process whose environment has all of these NAME=value entries (NULL-terminated): what a
 * killed step daemon left behind.  Returns how many there were. */
size_t process_signal_marked(const char *const *marks, int signo);
