/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - from options to a request for the controller, shared by sbatch, salloc and srun. */
#pragma once
#include "base/cleanup.h"
#include "schema/messages.h"

struct arena;
struct connection;
struct error;
struct options;
struct script;

/* Reads options from the environment and the command line (and from `script`, when there is one),
 * applies and checks them.  The reason of a failure is in `err`, the exit code in o->exit_code. */
NODISCARD int submit_read_options(struct options *o, char *const *vars, const struct script *script,
				  struct error *err);
/* Fills what the options leave open: name, directory, where from, environment, a random token.
 * `script` is NULL for salloc and srun; `words` is what follows the options. */
NODISCARD int submit_fill(struct options *o, const struct script *script, int argc,
			  char *const *argv, char *const *vars, struct submit_request *ret,
			  struct error *err);
/* Asks the controller, once more with the same token when the connection breaks. */
NODISCARD int submit_send(struct connection *c, const struct submit_request *q, struct arena *a,
			  struct submit_reply *ret, struct error *err);
/* "sbatch: Job 7 to start at 2026-11-15T04:00:55 using 4 processors on nodes n[1-2] in partition debug";
 * with -v the map of its tasks follows. */
void submit_print_test(struct connection *c, const struct options *o, const struct submit_reply *reply);

uint64_t submit_token(void); /* random */
/* The environment as it travels: --export applied, where from and umask added. */
NODISCARD int submit_environment(const struct options *o, char *const *vars, struct bytes *ret,
				 struct error *err);
char *submit_current_directory(struct arena *a);
const char *submit_base_name(const char *path);
