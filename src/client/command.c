/* SPDX-License-Identifier: Apache-2.0 */
/* The common beginning of the submission commands. */
#include "client/command.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/connect.h"
#include "schema/messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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

static bool asks_for_gres_help(const struct options *o)
{
	for (size_t i = 0; i < o->uses.count; i++)
		if (o->uses.at[i].row->parse == OPTION_PARSE_GRES && str_ieq(o->uses.at[i].value, "help"))
			return true;
	return false;
}

/* --gres=help: what the controller knows, not what a file here says. */
static int list_gres(struct options *o)
{
	struct connection c = {};
	struct error err = {};
	struct empty body = {};
	struct conf_reply reply = {};
	int r = connect_open(&c, o->program, &err);
	if (r == 0)
		r = connect_call(&c, MSG_CONF_QUERY, &body, o->arena, &reply, 0, &err);
	connect_close(&c);
	if (r < 0)
		return command_fail(o, &err, connect_exit_error());
	puts("Valid gres options are:");
	for (uint32_t i = 0; i < reply.n_lines; i++) {
		if (!str_eq(reply.lines[i].key, "GresTypes") || str_empty(reply.lines[i].value) ||
		    str_eq(reply.lines[i].value, "(null)"))
			continue;
		char *rest = arena_strdup(o->arena, reply.lines[i].value), *word;
		while ((word = strsep(&rest, ",")))
			printf("%s[[:type]:count]\n", word);
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
	if (!o->asked && asks_for_gres_help(o)) {
		*ret_code = list_gres(o);
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
