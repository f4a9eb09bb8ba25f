/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - how sbatch, salloc and srun begin and how they fail. */
#pragma once
#include "client/options.h"

#include <stdbool.h>

struct error;

/* Scans the command line into `o`, whose arena lives as long as the program.  True when the program
 * is over with `ret_code`: help was asked for, or the line is wrong. */
bool command_start(struct options *o, enum option_cmds command, int argc, char **argv,
		   int *ret_code);
/* After the options were applied: -v and -Q take effect, warnings are shown. */
void command_talk(const struct options *o);
/* Prints the error and gives back the exit code. */
int command_fail(const struct options *o, const struct error *err, int code);
