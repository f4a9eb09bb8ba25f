/* SPDX-License-Identifier: Apache-2.0 */
/* The common beginning of the submission commands. */
#include "client/command.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static usec_t wall_clock(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

static void answer(const struct options *o)
{
	AUTO_BUF struct buf text = {};
	if (o->asked == OPTION_PARSE_HELP)
		options_help(o, &text);
	else if (o->asked == OPTION_PARSE_USAGE)
		options_usage(o, &text);
	else
		buf_puts(&text, "slurm " MUSTER_VERSION "\n");
	fputs(buf_text(&text), stdout);
}

/* `sbatch a : b` and `srun a : b` are heterogeneous jobs. */
static int check_rest(struct options *o, struct error *err)
{
	for (int i = 0; i < o->rest_count; i++) {
		if (str_eq(o->rest[i], ":") && (i == 0 || o->command != OPTION_CMDS_SBATCH)) {
			o->exit_code = OPTION_EXIT_USAGE;
			return error_set(
				err, -ENOTSUP,
				"':' separates the components of a heterogeneous job, which is not "
				"supported by this version of Muster");
		}
	}
	return 0;
}

bool command_start(struct options *o, enum option_cmds command, int argc, char **argv,
		   int *ret_code)
{
	struct error err = {};
	options_init(o, command, wall_clock(), arena_new());
	log_start(o->program, LOG_INFO);
	int r = options_scan_args(o, argc, argv, &err);
	if (r == 0 && !o->asked)
		r = check_rest(o, &err);
	if (r < 0) {
		*ret_code = command_fail(o, &err, o->exit_code);
		return true;
	}
	if (!o->asked)
		return false;
	answer(o);
	*ret_code = 0;
	return true;
}

void command_talk(const struct options *o)
{
	int level = (int)LOG_INFO + (int)o->at.verbose - (int)o->at.quiet;
	if (o->at.quiet)
		level = LOG_ERROR;
	log_set_level(level > LOG_DEBUG3 ? LOG_DEBUG3 : (enum log_level)level);
	for (size_t i = 0; i < o->warnings.count; i++)
		log_info("%s", o->warnings.at[i]);
}

int command_fail(const struct options *o, const struct error *err, int code)
{
	(void)o;
	log_error("%s", err->text);
	return code;
}
