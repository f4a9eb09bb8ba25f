/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol.c - keywords of scontrol, from the command line or, without one, from a prompt.
 *
 * A keyword is one row of the table below and may be shortened as long as it stays unique.  Keywords of
 * Slurm's that are not built yet are rows too, and are refused by name. */
#include "cmd/scontrol.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/cmdline.h"
#include "client/words.h"
#include "schema/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void scontrol_fail(struct scontrol *s, const char *fmt, ...)
{
	s->exit_code = 1;
	if (s->quiet)
		return;
	va_list args;
	va_start(args, fmt);
	buf_vprintf(&s->ask->err, fmt, args);
	buf_putc(&s->ask->err, '\n');
	va_end(args);
}

/* ---- small keywords ---------------------------------------------------------------------------- */

static void request(struct scontrol *s, uint16_t kind, const char *name)
{
	struct error err = {};
	struct empty body = {}, reply = {};
	if (s->ask->call(s->ask, kind, &body, &reply, 0, &err) < 0)
		scontrol_fail(s, "%s error: %s", name, err.text);
}

static void reconfigure(struct scontrol *s, int argc, char **argv)
{
	if (argc > 1)
		scontrol_fail(s, "%s takes nothing behind it, not '%s'", argv[0], argv[1]);
	else
		request(s, MSG_RECONFIGURE, "slurm_reconfigure");
}

static void stop(struct scontrol *s, int argc, char **argv)
{
	if (argc > 1)
		scontrol_fail(
			s,
			"shutdown %s is not supported yet; shutdown alone stops the controller and the node daemons",
			argv[1]);
	else
		request(s, MSG_SHUTDOWN, "slurm_shutdown");
}

static void show_version(struct scontrol *s, int argc, char **argv)
{
	(void)argc, (void)argv;
	buf_printf(&s->ask->out, "slurm %s\n", MUSTER_VERSION);
}

static void leave(struct scontrol *s, int argc, char **argv)
{
	(void)argc, (void)argv;
	s->leave = true;
}

static void toggle(struct scontrol *s, int argc, char **argv)
{
	(void)argc;
	if (str_istarts("all", argv[0]))
		s->all = true;
	else if (str_istarts("details", argv[0]))
		s->context.details = true;
	else if (str_istarts("oneliner", argv[0]))
		s->context.one_line = true;
	else if (str_istarts("quiet", argv[0]))
		s->quiet = true;
	else
		s->all = false; /* hide */
}

static void help(struct scontrol *s, int argc, char **argv);

/* ---- the table --------------------------------------------------------------------------------- */

static const struct keyword {
	const char *word;
	scontrol_fn run; /* NULL: not built yet */
	const char *help;
} keywords[] = {
	{ "all", toggle, "Show hidden partitions too." },
	{ "details", toggle, "Show more about each record." },
	{ "exit", leave, "Leave the prompt." },
	{ "help", help, "Show this list." },
	{ "hide", toggle, "Do not show hidden partitions." },
	{ "hold", scontrol_hold, "JOBS: do not start these jobs." },
	{ "oneliner", toggle, "Show each record on one line." },
	{ "ping", scontrol_ping, "Say which controllers answer." },
	{ "quiet", toggle, "Print no messages." },
	{ "quit", leave, "Leave the prompt." },
	{ "reconfigure", reconfigure, "Let the daemons read their configuration again." },
	{ "release", scontrol_hold, "JOBS: let held jobs start." },
	{ "requeue", scontrol_requeue, "JOBS: put running or ended jobs back into the queue." },
	{ "requeuehold", scontrol_requeue, "JOBS: the same, and hold them there." },
	{ "show", scontrol_show,
	  "ENTITY [NAME]: job, node, partition, step, config, hostnames, hostlist, topology, daemons." },
	{ "shutdown", stop, "Stop the controller and the node daemons." },
	{ "uhold", scontrol_hold, "JOBS: hold, so that the owner can release." },
	{ "update", scontrol_update,
	  "JobId=|NodeName=|PartitionName= KEY=VALUE...: change something." },
	{ "version", show_version, "Show the version." },
	{ "wait_job", scontrol_wait_job, "JOB: wait until the job has its nodes." },
	{ "abort", NULL, NULL },
	{ "cancel_reboot", NULL, NULL },
	{ "cluster", NULL, NULL },
	{ "completing", NULL, NULL },
	{ "create", NULL, NULL },
	{ "delete", NULL, NULL },
	{ "errnumstr", NULL, NULL },
	{ "fsdampeningfactor", NULL, NULL },
	{ "getaddrs", NULL, NULL },
	{ "listjobs", NULL, NULL },
	{ "listpids", NULL, NULL },
	{ "liststeps", NULL, NULL },
	{ "notify", NULL, NULL },
	{ "pidinfo", NULL, NULL },
	{ "power", NULL, NULL },
	{ "reboot", NULL, NULL },
	{ "resume", NULL, NULL },
	{ "schedloglevel", NULL, NULL },
	{ "setdebug", NULL, NULL },
	{ "setdebugflags", NULL, NULL },
	{ "suspend", NULL, NULL },
	{ "takeover", NULL, NULL },
	{ "token", NULL, NULL },
	{ "top", NULL, NULL },
	{ "write", NULL, NULL },
};

static void help(struct scontrol *s, int argc, char **argv)
{
	(void)argc, (void)argv;
	cmdline_help(QUERY_OPTION_CMDS_SCONTROL, "scontrol [options] [keyword ...]", &s->ask->out);
	for (size_t i = 0; i < ARRAY_COUNT(keywords); i++)
		if (keywords[i].run)
			buf_printf(&s->ask->out, "  %-12s %s\n", keywords[i].word,
				   keywords[i].help);
}

/* Exactly, or as the beginning of one keyword alone; what works is preferred to what is refused. */
static const struct keyword *find_keyword(const char *word)
{
	const struct keyword *found = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(keywords); i++) {
		const struct keyword *k = &keywords[i];
		if (str_ieq(k->word, word))
			return k;
		if (!str_istarts(k->word, word) || (found && found->run && !k->run))
			continue;
		if (found &&
		    !str_istarts(k->word, found->word)) /* requeue stands before requeuehold */
			return NULL;
		found = found ? found : k;
	}
	return found;
}

static void run_words(struct scontrol *s, int argc, char **argv)
{
	const struct keyword *k = find_keyword(argv[0]);
	if (!k) {
		scontrol_fail(s, "invalid keyword: %s", argv[0]);
		return;
	}
	if (!k->run) {
		scontrol_fail(s, "%s: error: %s is not supported yet", s->ask->program, k->word);
		return;
	}
	AUTO_FREE char **words = mem_dup(argv, sizeof(char *) * ((size_t)argc + 1));
	words[0] = (char *)(uintptr_t)k->word;
	k->run(s, argc, words);
}

/* ---- prompt ------------------------------------------------------------------------------------ */

static void run_prompt(struct scontrol *s)
{
	AUTO_BUF struct buf line = {};
	while (!s->leave && s->ask->read_line(s->ask, "scontrol: ", &line)) {
		struct error err = {};
		char **words;
		int count;
		if (words_split(buf_text(&line), s->ask->arena, &words, &count, &err) < 0)
			scontrol_fail(s, "%s: error: %s", s->ask->program, err.text);
		else if (count > 0)
			run_words(s, count, words);
	}
}

static int set_option(void *ctx, const struct query_option_row *row, const char *value,
		      struct error *err)
{
	struct scontrol *s = ctx;
	(void)value;
	switch ((int)row->sets) {
	case QUERY_OPTION_SETS_ALL:
		s->all = true;
		break;
	case QUERY_OPTION_SETS_DETAILS:
		s->context.details = true;
		break;
	case QUERY_OPTION_SETS_HELP:
		s->help = true;
		break;
	case QUERY_OPTION_SETS_HIDE:
		s->all = false;
		break;
	case QUERY_OPTION_SETS_ONELINER:
		s->context.one_line = true;
		break;
	case QUERY_OPTION_SETS_QUIET:
		s->quiet = true;
		break;
	case QUERY_OPTION_SETS_VERBOSE:
		break; /* records say everything as it is */
	case QUERY_OPTION_SETS_VERSION:
		s->version = true;
		break;
	default:
		return error_set(err, -ENOTSUP, "scontrol does not know what to do with it");
	}
	return 0;
}

int scontrol_run(struct ask *ask, int argc, char **argv)
{
	struct scontrol *s = ARENA_NEW(ask->arena, struct scontrol);
	struct error err = {};
	int first = argc;
	s->ask = ask;
	show_context_init(&s->context);
	s->context.expand = true;
	const struct cmdline line = { QUERY_OPTION_CMDS_SCONTROL, set_option, s };
	if (cmdline_parse(&line, argc, argv, ask->arena, &first, &err) < 0) {
		ask_complain(ask, "%s", err.text);
		return 1;
	}
	if (s->help)
		help(s, 0, NULL);
	else if (s->version)
		show_version(s, 0, NULL);
	else if (first < argc)
		run_words(s, argc - first, argv + first);
	else
		run_prompt(s);
	return s->exit_code;
}
