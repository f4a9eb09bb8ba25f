/* SPDX-License-Identifier: Apache-2.0 */
/* cmdline.h - options of squeue, sinfo, scancel and scontrol, from the rows of
 * schema/query_options.def: variables first, then the command line, each handed to the command in the
 * order given.  An option that is known but not built is refused by name. */
#pragma once
#include "base/cleanup.h"
#include "schema/query_options.h"

#include <stdint.h>

struct arena;
struct buf;
struct error;

/* `value` is NULL when none was given.  Errors are prefixed with the option by the caller of this. */
typedef int (*cmdline_set_fn)(void *ctx, const struct query_option_row *row, const char *value,
			      struct error *err);

struct cmdline {
	uint32_t cmd; /* QUERY_OPTION_CMDS_x */
	cmdline_set_fn set;
	void *ctx;
};

/* The arguments that are no options stay behind, in order, from argv[*ret_first]. */
NODISCARD int cmdline_parse(const struct cmdline *c, int argc, char **argv, struct arena *a,
			    int *ret_first, struct error *err);
void cmdline_help(uint32_t cmd, const char *usage, struct buf *out);
