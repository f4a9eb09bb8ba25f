/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - what a program does to become a daemon: detach, write its pid, tell systemd. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <sys/types.h>

struct error;

/* Goes on in a child with a session of its own.  The caller's process waits for it: it ends with 0 once
 * the child calls daemon_ready with what it got in `ret_waiting`, and with 1 when the child ends before.
 * Until then the child can still say on standard error what is wrong. */
NODISCARD int daemon_detach(int *ret_waiting, struct error *err);
/* Refuses when the file names another process that is alive and holds it.  The file is given to
 * `owner`, so that a daemon that changes its identity can still write it. */
NODISCARD int pid_file_write(const char *path, uid_t owner, struct error *err);
void pid_file_remove(const char *path);
/* All is well: READY=1 to systemd's socket, when `systemd` and there is one.  `waiting` is what
 * daemon_detach gave, then descriptors 0 to 2 become /dev/null; -1 in the foreground. */
void daemon_ready(bool systemd, int waiting);
