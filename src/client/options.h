/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options of sbatch, salloc and srun, from wherever they are given.
 *
 * Reading has two halves.  Scanning turns a command line, #SBATCH lines or the environment into
 * uses of rows of schema/options.def, without looking at the values.  Applying goes through all uses
 * in rising precedence - script, environment, command line - and parses each value into the member
 * of `at` that the row names.  So an option is overridden by being applied again, a bad value is an
 * error even when another overrides it, and every message says where the value came from.
 *
 * Memory is in the caller's arena. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"
#include "base/vec.h"
#include "schema/options.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

enum option_source { OPTION_UNSET, OPTION_SCRIPT, OPTION_ENV, OPTION_ARGS, OPTION_SOURCE_COUNT };

struct option_use {
	const struct option_row *row;
	const char *value; /* NULL when none was given */
	const char *
		where; /* for messages: "--time=banana", "job.sh:3: -tbanana", "SBATCH_TIMELIMIT=banana" */
	enum option_source source;
};

/* What a user sees when an option is wrong: Slurm leaves with 1 for some and with 255 for others. */
enum { OPTION_EXIT_ERROR = 1, OPTION_EXIT_USAGE = 255 };

struct options {
	struct arena *arena;
	const char *program;
	enum option_cmds command;
	usec_t now;         /* what now+1hour counts from */
	bool in_allocation; /* srun as a step: job-only options do not apply */
	VEC(struct option_use) uses;
	VEC(const char *) warnings;
	struct command_options at;           /* the result */
	uint8_t source[OPTION_ROW_COUNT];    /* enum option_source of the winning use */
	const char *value[OPTION_ROW_COUNT]; /* as written */
	enum option_parse asked;             /* help, usage or version; nothing else matters then */
	char *const *rest;                   /* first word that is no option, and what follows */
	int rest_count;
	int exit_code; /* set together with an error */
};

void options_init(struct options *o, enum option_cmds command, usec_t now, struct arena *a);
void options_done(struct options *o);

/* argv[0] is skipped; stops at the first word that is no option, or behind "--". */
NODISCARD int options_scan_args(struct options *o, int argc, char *const *argv, struct error *err);
/* Words of one #SBATCH line; all of them must be options.  `where` is "job.sh:3". */
NODISCARD int options_scan_line(struct options *o, int argc, char *const *argv, const char *where,
				struct error *err);
/* Variables that the rows name; `environ` as in environ(7). */
void options_scan_env(struct options *o, char *const *env);
NODISCARD int options_apply(struct options *o, struct error *err);
/* Options that do not go together, and numbers that follow from others.  Adds to `warnings`. */
NODISCARD int options_check(struct options *o, struct error *err);

/* options_hosts.c: -m arbitrary, which reads the node of each task from SLURM_HOSTFILE; and what of
 * -m the choice of nodes must know. */
NODISCARD int options_read_hosts(struct options *o, struct error *err);

/* Row of this command by long name; NULL when the command has none such. */
const struct option_row *option_find(enum option_cmds command, const char *name);
enum option_source options_source(const struct options *o, const char *name);
const char *options_value(const struct options *o,
			  const char *name);           /* as written; NULL when unset */
bool option_takes_value(const struct option_row *row); /* required or optional */
bool option_needs_value(const struct option_row *row);

void options_help(const struct options *o, struct buf *out);
void options_usage(const struct options *o, struct buf *out);

/* For client/values.c: one use's value into `o->at`.  -EINVAL with the reason alone as text. */
NODISCARD int option_value_parse(struct options *o, const struct option_use *use,
				 struct error *err);
