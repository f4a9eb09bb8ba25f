/* SPDX-License-Identifier: Apache-2.0 */
/* --help and --usage, written from the rows. */
#include "base/buf.h"
#include "base/str.h"
#include "client/options.h"

#include <string.h>

enum { HELP_COLUMN = 32, HELP_WIDTH = 80 };

static const char *synopsis(enum option_cmds command)
{
	return command == OPTION_CMDS_SBATCH   ? "sbatch [options] script [arguments]"
	       : command == OPTION_CMDS_SALLOC ? "salloc [options] [command [arguments]]"
					       : "srun [options] program [arguments]";
}

/* " --time=limit", " --nice[=n]" */
static void put_value(const struct option_row *row, struct buf *out)
{
	if (!row->value)
		return;
	if (option_needs_value(row))
		buf_printf(out, "=%s", row->value);
	else
		buf_printf(out, "[=%s", row->value + 1);
}

static void put_wrapped(const char *text, struct buf *out)
{
	size_t column = HELP_COLUMN;
	while (*text) {
		size_t len = strcspn(text, " ");
		if (column > HELP_COLUMN && column + len + 1 > HELP_WIDTH) {
			buf_printf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			buf_putc(out, ' ');
			column++;
		}
		buf_put(out, text, len);
		column += len;
		text += len + strspn(text + len, " ");
	}
	buf_putc(out, '\n');
}

void options_help(const struct options *o, struct buf *out)
{
	buf_printf(out, "Usage: %s\n\nOptions:\n", synopsis(o->command));
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++) {
		const struct option_row *row = &options_table[i];
		if (!(row->cmds & o->command) || row->parse == OPTION_PARSE_NONE)
			continue;
		size_t start = out->len;
		if (row->letter)
			buf_printf(out, "  -%s, --%s", row->letter, row->long_name);
		else
			buf_printf(out, "      --%s", row->long_name);
		put_value(row, out);
		size_t used = out->len - start;
		if (used + 1 >= HELP_COLUMN)
			buf_printf(out, "\n%*s", HELP_COLUMN, "");
		else
			buf_printf(out, "%*s", (int)(HELP_COLUMN - used), "");
		put_wrapped(row->help, out);
	}
	buf_printf(out, "\nKnown, but refused by this version of Muster:\n%*s", HELP_COLUMN, "");
	AUTO_BUF struct buf names = {};
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++)
		if ((options_table[i].cmds & o->command) &&
		    options_table[i].parse == OPTION_PARSE_NONE)
			buf_printf(&names, "--%s ", options_table[i].long_name);
	put_wrapped(buf_text(&names), out);
}

void options_usage(const struct options *o, struct buf *out)
{
	buf_printf(out, "Usage: %s\n", synopsis(o->command));
	AUTO_BUF struct buf words = {};
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++) {
		const struct option_row *row = &options_table[i];
		if (!(row->cmds & o->command) || row->parse == OPTION_PARSE_NONE)
			continue;
		buf_printf(&words, "[--%s", row->long_name);
		put_value(row, &words);
		buf_puts(&words, "] ");
	}
	buf_printf(out, "%*s", HELP_COLUMN, "");
	put_wrapped(buf_text(&words), out);
}
