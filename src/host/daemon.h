/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - what a program does to become a daemon: detach, write its pid, tell systemd. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>

struct error;

/* Goes on in a child with a session of its own; the caller's process ends with 0.  Descriptors 0 to 2
 * become /dev/null. */
NODISCARD int daemon_detach(struct error *err);
/* Refuses when the file names another process that is alive and holds it. */
NODISCARD int pid_file_write(const char *path, struct error *err);
void pid_file_remove(const char *path);
/* READY=1 to systemd's socket, when `systemd` and there is one. */
void daemon_ready(bool systemd);
