/* SPDX-License-Identifier: Apache-2.0 */
/* sinfo.c - partitions and nodes.
 *
 * Nodes and partitions are asked for whole; nodes that look the same in the columns chosen share a line
 * (client/node_groups.c).  The widths of the default formats follow the longest name, so lines are measured
 * before they are printed. */
#include "cmd/ask.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/cmdline.h"
#include "client/columns_node.h"
#include "client/connect.h"
#include "client/job_text.h"
#include "client/sorting.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

#define FORMAT_DEFAULT      "%#P %.5a %.10l %.6D %.6t %N"
#define FORMAT_LONG         "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N"
#define FORMAT_SUMMARY      "%#P %.5a %.10l %.16F %N"
#define FORMAT_NODES        "%#N %.6D %.#P %6t"
#define FORMAT_NODES_LONG   "%#N %.6D %.#P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
#define FORMAT_REASONS      "%20E %9u %19H %N"
#define FORMAT_REASONS_LONG "%20E %12U %19H %6t %N"

struct sinfo {
	struct ask *ask;
	const char *format, *long_format, *sort;
	bool noheader, is_long, summarize, help, version;
	uint32_t iterate;
	struct node_filter filter;
	struct show_context context;
	struct table table;
	struct sorting sorting;
};

static int set_nodes(struct sinfo *s, const char *value, struct error *err)
{
	struct hostlist h;
	int r = hostlist_expand(value, s->ask->arena, &h, err);
	if (r < 0)
		return r;
	s->filter.names = h.names;
	s->filter.name_count = h.count;
	return 0;
}

static int set_option(void *ctx, const struct query_option_row *row, const char *value,
		      struct error *err)
{
	struct sinfo *s = ctx;
	switch ((int)row->sets) {
	case QUERY_OPTION_SETS_ALL:
		s->filter.hidden = true;
		break;
	case QUERY_OPTION_SETS_DEAD:
		s->filter.dead = true;
		break;
	case QUERY_OPTION_SETS_EXACT:
		s->filter.exact = true;
		break;
	case QUERY_OPTION_SETS_FORMAT:
		s->format = value;
		s->long_format = NULL;
		break;
	case QUERY_OPTION_SETS_LONG_FORMAT:
		s->long_format = value;
		s->format = NULL;
		break;
	case QUERY_OPTION_SETS_HELP:
		s->help = true;
		break;
	case QUERY_OPTION_SETS_HIDE:
		s->filter.hidden = false;
		break;
	case QUERY_OPTION_SETS_ITERATE:
		if (str_to_u32(value, &s->iterate) < 0 || !s->iterate)
			return error_set(err, -EINVAL, "'%s' is no number of seconds", value);
		break;
	case QUERY_OPTION_SETS_REASONS:
		s->filter.with_reason = true;
		break;
	case QUERY_OPTION_SETS_LONG:
		s->is_long = true;
		break;
	case QUERY_OPTION_SETS_NOCONVERT:
		s->context.noconvert = true;
		break;
	case QUERY_OPTION_SETS_NODE:
		s->filter.per_node = true;
		break;
	case QUERY_OPTION_SETS_NODELIST:
		return set_nodes(s, value, err);
	case QUERY_OPTION_SETS_NOHEADER:
		s->noheader = true;
		break;
	case QUERY_OPTION_SETS_PARTITION:
		s->filter.partitions = ask_split(s->ask, value, &s->filter.partition_count);
		break;
	case QUERY_OPTION_SETS_RESPONDING:
		s->filter.responding = true;
		break;
	case QUERY_OPTION_SETS_SORT:
		s->sort = value;
		break;
	case QUERY_OPTION_SETS_STATES:
		s->filter.states = value;
		return node_states_check(value, err);
	case QUERY_OPTION_SETS_SUMMARIZE:
		s->summarize = true;
		break;
	case QUERY_OPTION_SETS_VERBOSE:
		break; /* there is nothing more to say about a list */
	case QUERY_OPTION_SETS_VERSION:
		s->version = true;
		break;
	default:
		return error_set(err, -ENOTSUP, "sinfo does not know what to do with it");
	}
	return 0;
}

static int choose_format(struct sinfo *s, struct error *err)
{
	AUTO_BUF struct buf complaints = {};
	const struct node_filter *f = &s->filter;
	const char *format = s->format        ? s->format
			     : f->with_reason ? (s->is_long ? FORMAT_REASONS_LONG : FORMAT_REASONS)
			     : s->summarize   ? FORMAT_SUMMARY
			     : f->per_node    ? (s->is_long ? FORMAT_NODES_LONG : FORMAT_NODES)
					      : (s->is_long ? FORMAT_LONG : FORMAT_DEFAULT);
	if (s->long_format)
		table_parse_names(&s->table, COLUMN_OF_NODE, s->long_format, s->ask->arena,
				  &complaints);
	else
		table_parse_letters(&s->table, COLUMN_OF_NODE, format, s->ask->arena, &complaints);
	for (char *line = (char *)complaints.data, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		buf_printf(&s->ask->err, "%s: error: %.*s\n", s->ask->program, (int)(end - line),
			   line);
	}
	const char *sort = s->sort          ? s->sort
			   : f->per_node    ? "N"
			   : f->with_reason ? "E,-H"
					    : "#P,-t";
	int r = sorting_parse(&s->sorting, COLUMN_OF_NODE, sort, err);
	return r < 0 ? error_wrap(err, r, "--sort") : 0;
}

static struct sort_value sort_value(const void *ctx, const void *obj, const struct column_row *row,
				    bool configured, struct arena *a)
{
	const struct sinfo *s = ctx;
	const struct node_group *g = obj;
	struct sort_value v = {};
	if (configured &&
	    (row->value == COLUMN_VALUE_PARTITION || row->value == COLUMN_VALUE_PARTITION_NAME)) {
		v.number = g->partition_pos;
		return v;
	}
	if (node_column_number(g, row, &v.number))
		return v;
	if (row->value ==
	    COLUMN_VALUE_NODE_LIST) { /* the list is not made before the first name is known */
		v.text = g->count ? g->nodes[0]->conf.name : "";
		return v;
	}
	AUTO_BUF struct buf text = {};
	node_column(&s->context, g, row, &text);
	v.text = arena_strdup(a, buf_text(&text));
	return v;
}

static void print(struct sinfo *s, const struct node_list *nodes,
		  const struct partition_list *parts)
{
	struct node_groups groups = {};
	s->context.now = nodes->time;
	node_groups_make(&groups, &s->table, &s->filter, &s->context, nodes, parts, s->ask->arena);
	sorting_apply(&s->sorting, sort_value, s, (const void **)groups.at.at, groups.at.count,
		      s->ask->arena);
	for (size_t i = 0; i < groups.at.count; i++)
		table_measure(&s->table, node_column, &s->context, groups.at.at[i]);
	if (s->is_long || s->iterate)
		ask_put_date(s->ask, nodes->time);
	if (s->table.columns.count && !s->noheader)
		table_print_header(&s->table, &s->ask->out);
	for (size_t i = 0; i < groups.at.count && s->table.columns.count; i++)
		table_print_row(&s->table, node_column, &s->context, groups.at.at[i], &s->ask->out);
	vec_done(&groups.at);
}

static int show(struct sinfo *s)
{
	struct error err = {};
	struct node_query every_node = {};
	struct partition_query every_partition = {};
	struct node_list nodes = {};
	struct partition_list parts = {};
	int r = s->ask->call(s->ask, MSG_PARTITION_QUERY, &every_partition, &parts, 0, &err);
	if (r >= 0)
		r = s->ask->call(s->ask, MSG_NODE_QUERY, &every_node, &nodes, 0, &err);
	if (r < 0) {
		if (r <= -E_INVALID_PARTITION)
			buf_printf(&s->ask->err, "slurm_load_partitions: %s\n", err.text);
		else
			ask_complain(s->ask, "%s", err.text);
		return connect_exit_error();
	}
	print(s, &nodes, &parts);
	return 0;
}

int sinfo_run(struct ask *ask, int argc, char **argv)
{
	struct sinfo *s = ARENA_NEW(ask->arena, struct sinfo);
	struct error err = {};
	int first = argc;
	s->ask = ask;
	show_context_init(&s->context);
	const struct cmdline line = { QUERY_OPTION_CMDS_SINFO, set_option, s };
	int r = cmdline_parse(&line, argc, argv, ask->arena, &first, &err);
	if (r >= 0 && s->help) {
		cmdline_help(QUERY_OPTION_CMDS_SINFO, "sinfo [options]", &ask->out);
		return 0;
	}
	if (r >= 0 && s->version) {
		buf_printf(&ask->out, "slurm %s\n", MUSTER_VERSION);
		return 0;
	}
	if (r >= 0 && first < argc)
		r = error_set(&err, -EINVAL,
			      "'%s' stands alone; nodes are named with -n, partitions with -p",
			      argv[first]);
	if (r >= 0)
		r = choose_format(s, &err);
	if (r < 0) {
		ask_complain(ask, "%s", err.text);
		return 1;
	}
	if (!s->iterate)
		return show(s);
	for (AUTO_ARENA struct arena *turn = ask->arena = arena_new();; arena_clear(turn)) {
		show(s);
		buf_putc(&ask->out, '\n');
		ask->pause(ask, s->iterate);
	}
}
