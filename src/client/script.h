/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - batch scripts: finding them, refusing what no node could run, reading #SBATCH lines.
 *
 * #SBATCH lines count until the first line that is neither blank nor a comment.  Nothing in them is
 * expanded; quotes group words as in a shell, and a word that starts with # ends the line. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>

struct arena;
struct error;
struct options;

enum { SCRIPT_MAX = 4 << 20 };

struct script {
	const char *name; /* for messages and the default job name; "stdin" for standard input */
	const char *path; /* absolute; NULL when there is no file */
	char *text;
	size_t len;
};

/* Looks in the current directory, then in PATH; a name with a slash is taken as it is. */
NODISCARD int script_load(const char *name, const char *path_var, struct arena *a,
			  struct script *ret, struct error *err);
NODISCARD int script_read_fd(int fd, struct arena *a, struct script *ret, struct error *err);
void script_wrap(const char *command, struct arena *a, struct script *ret);
/* A first line with #!, no DOS line ends, no zero bytes, not empty. */
NODISCARD int script_check(const struct script *s, struct error *err);
/* Adds the uses found in #SBATCH lines. */
NODISCARD int script_scan(const struct script *s, struct options *o, struct error *err);
