/* SPDX-License-Identifier: Apache-2.0 */
/* cmdline.c - rows of schema/query_options.def into getopt_long, and back into words. */
#include "client/cmdline.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_BASE = 1000 };

struct getopt_tables {
	char letters[256];
	struct option options[QUERY_OPTION_ROW_COUNT + 1];
};

static int takes_value(const struct query_option_row *row)
{
	if (!row->value)
		return no_argument;
	return row->value[0] == '[' ? optional_argument : required_argument;
}

static void build_tables(uint32_t cmd, struct getopt_tables *t)
{
	size_t at = 0, n = 0;
	t->letters[at++] = ':'; /* tells a missing value from an unknown option */
	for (int i = 0; i < QUERY_OPTION_ROW_COUNT; i++) {
		const struct query_option_row *row = &query_options_table[i];
		if (!(row->cmds & cmd))
			continue;
		int takes = takes_value(row);
		t->options[n++] = (struct option) { row->name, takes, NULL, LONG_BASE + i };
		if (!row->letter)
			continue;
		t->letters[at++] = row->letter[0];
		for (int colons = takes; colons > 0; colons--)
			t->letters[at++] = ':';
	}
	t->letters[at] = 0;
	t->options[n] = (struct option) {};
}

static const struct query_option_row *row_of(uint32_t cmd, int code)
{
	if (code >= LONG_BASE)
		return &query_options_table[code - LONG_BASE];
	for (int i = 0; i < QUERY_OPTION_ROW_COUNT; i++) {
		const struct query_option_row *row = &query_options_table[i];
		if (row->cmds & cmd && row->letter && row->letter[0] == code)
			return row;
	}
	return NULL;
}

static int unknown_option(uint32_t cmd, const char *word, int letter, struct error *err)
{
	if (letter && (letter >= LONG_BASE || strncmp(word, "--", 2) != 0))
		return letter >= LONG_BASE
			       ? error_set(err, -EINVAL, "option '%s' takes no value", word)
			       : error_set(err, -EINVAL,
					   "unknown option '-%c'; --help lists the options",
					   letter);
	const char *names[QUERY_OPTION_ROW_COUNT];
	size_t count = 0;
	for (int i = 0; i < QUERY_OPTION_ROW_COUNT; i++)
		if (query_options_table[i].cmds & cmd)
			names[count++] = query_options_table[i].name;
	char name[64];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	const char *near = str_closest(name, names, count);
	return near ? error_set(err, -EINVAL,
				"unknown or ambiguous option '--%s'; did you mean '--%s'?", name,
				near)
		    : error_set(err, -EINVAL, "unknown option '--%s'; --help lists the options",
				name);
}

static int apply(const struct cmdline *c, const struct query_option_row *row, const char *value,
		 const char *called, struct error *err)
{
	if (row->sets == QUERY_OPTION_SETS_NONE)
		return error_set(err, -ENOTSUP, "%s is not supported yet (%s)", called, row->help);
	int r = c->set(c->ctx, row, value, err);
	return r < 0 ? error_wrap(err, r, "%s", called) : 0;
}

/* Variables stand for options on a command line that comes before the real one.  A flag's variable
 * counts when it is set to anything. */
static int apply_environment(const struct cmdline *c, struct error *err)
{
	for (int i = 0; i < QUERY_OPTION_ROW_COUNT; i++) {
		const struct query_option_row *row = &query_options_table[i];
		const char *value = row->cmds & c->cmd && row->env ? getenv(row->env) : NULL;
		if (!value || (row->value && !*value))
			continue;
		int r = apply(c, row, row->value ? value : NULL, row->env, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int cmdline_parse(const struct cmdline *c, int argc, char **argv, struct arena *a, int *ret_first,
		  struct error *err)
{
	int r = apply_environment(c, err);
	if (r < 0)
		return r;
	struct getopt_tables *t = ARENA_NEW(a, struct getopt_tables);
	build_tables(c->cmd, t);
	opterr = 0;
	optind = 0; /* a fresh start, also for the second command line of one process */
	for (;;) {
		int before = optind ? optind : 1;
		int code = getopt_long(argc, argv, t->letters, t->options, NULL);
		if (code < 0)
			break;
		const char *word = argv[optind > before ? optind - 1 : before];
		if (code == '?')
			return unknown_option(c->cmd, word, optopt, err);
		const struct query_option_row *row = row_of(c->cmd, code == ':' ? optopt : code);
		if (!row)
			return unknown_option(c->cmd, word, optopt, err);
		char called[64];
		if (code >= LONG_BASE || (code == ':' && optopt >= LONG_BASE))
			snprintf(called, sizeof(called), "--%s", row->name);
		else
			snprintf(called, sizeof(called), "-%s", row->letter);
		if (code == ':')
			return error_set(err, -EINVAL, "%s needs a value: %s", called, row->value);
		r = apply(c, row, optarg, called, err);
		if (r < 0)
			return r;
	}
	*ret_first = optind;
	return 0;
}

void cmdline_help(uint32_t cmd, const char *usage, struct buf *out)
{
	buf_printf(out, "Usage: %s\n", usage);
	for (int i = 0; i < QUERY_OPTION_ROW_COUNT; i++) {
		const struct query_option_row *row = &query_options_table[i];
		if (!(row->cmds & cmd) || row->sets == QUERY_OPTION_SETS_NONE)
			continue;
		char name[64];
		const char *open = !row->value ? "" : row->value[0] == '[' ? "[=" : "=";
		snprintf(name, sizeof(name), "--%s%s%s", row->name, open,
			 !row->value ? "" : row->value + (row->value[0] == '['));
		buf_printf(out, "  %s%s%s %-24s %s\n", row->letter ? "-" : " ",
			   row->letter ? row->letter : " ", row->letter ? "," : " ", name,
			   row->help);
	}
}
