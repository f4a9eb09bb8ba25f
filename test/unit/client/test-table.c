/* SPDX-License-Identifier: Apache-2.0 */
/* Formats, widths and the rows of schema/formats.def. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "client/columns_job.h"
#include "client/columns_node.h"
#include "client/sorting.h"
#include "client/table.h"
#include "schema/messages.h"

#include "../cm.h"

/* Every value is the text behind ctx. */
static void same(const void *ctx, const void *obj, const struct column_row *row, struct buf *out)
{
	(void)obj, (void)row;
	buf_puts(out, ctx);
}

static const struct {
	const char *format, *value, *header, *line, *complaints;
	bool names;
} formats[] = {
	{ "%i", "7", "JOBID\n", "7\n", "" },
	{ "%.8i|", "7", "   JOBID|\n", "       7|\n", "" },
	{ "%8i|", "7", "JOBID   |\n", "7       |\n", "" },
	{ "%3i|", "12345", "JOB|\n", "123|\n", "" },
	{ "%.3i|", "12345", "JOB|\n", "123|\n", "" },
	{ "a%i b %t c", "x", "aJOBID b ST c\n", "ax b x c\n", "" },
	{ "no columns", "x", "no columns\n", "no columns\n", "" },
	{ "100%% %i", "x", "100%% JOBID\n", "100%% x\n", "" },
	{ "%1 %i", "x", "%1 JOBID\n", "%1 x\n", "Invalid job format specification:  \n" },
	{ "%", "x", "%\n", "%\n", "Invalid job format specification:  \n" },
	{ "%\\x1f%i", "x", "%\\x1fJOBID\n", "%\\x1fx\n", "Invalid job format specification: \\\n" },
	{ "%k", "", "COMMENT\n", "(null)\n", "" },
	{ "%n|", "", "REQ_NODES|\n", "|\n", "" },
	{ "%#i|", "1234567890123", "JOBID        |\n", "1234567890123|\n", "" },
	{ "jobid", "7", "JOBID               \n", "7                   \n", "", true },
	{ "JobID:5,STATE:.6", "7", "JOBID STATE\n", "7         7\n", "", true },
	{ "jobid:|,state:3/", "12345", "JOBID|STA/\n", "12345|123/\n", "", true },
	{ "cpus-per-task:5,CPUsPerTask:5", "7", "CPUS_CPUS_\n", "7    7    \n", "", true },
	{ "nosuch,jobid:2", "7", "JO\n", "7 \n", "Invalid job format specification: nosuch\n",
	  true },
	{ "jobid:###turm###,name:x", "7", "JOBID###turm###NAMEx\n", "7###turm###7x\n", "", true },
};

static void formats_are_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf header = {}, line = {}, complaints = {};
		struct table t;
		(formats[i].names ? table_parse_names : table_parse_letters)(
			&t, COLUMN_OF_JOB, formats[i].format, a, &complaints);
		table_measure(&t, same, formats[i].value, NULL);
		table_print_header(&t, &header);
		table_print_row(&t, same, formats[i].value, NULL, &line);
		assert_string_equal(buf_text(&header), formats[i].header);
		assert_string_equal(buf_text(&line), formats[i].line);
		assert_string_equal(buf_text(&complaints), formats[i].complaints);
		table_done(&t);
	}
}

/* Each row is computed by somebody, asks for fields that exist, and has a letter of its own. */
static void rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < COLUMN_ROW_COUNT; i++) {
		const struct column_row *row = &columns_table[i];
		bool known = row->of == COLUMN_OF_JOB    ? job_column_is_known(row)
			     : row->of == COLUMN_OF_STEP ? step_column_is_known(row)
							 : node_column_is_known(row);
		if (!known)
			fail_msg("nobody computes %s", row->names);
		struct job_fields f = {};
		job_fields_add(&f, row->fields);
		if ((f.job | f.spec) & 1) /* tag 0: no such field */
			fail_msg("%s asks for a field that does not exist: %s", row->names,
				 row->fields);
		assert_true(!row->letter || column_by_letter(row->of, row->letter[0]) == row);
		if (row->of == COLUMN_OF_NODE)
			assert_int_not_equal(row->merge, COLUMN_MERGE_NONE);
	}
}

struct thing {
	int64_t number;
	const char *text;
};

static struct sort_value value_of(const void *ctx, const void *obj, const struct column_row *row,
				  bool configured, struct arena *a)
{
	const struct thing *t = obj;
	(void)ctx, (void)a, (void)configured;
	return row->letter[0] == 'i' ? (struct sort_value) { .number = t->number }
				     : (struct sort_value) { .text = t->text };
}

static void lines_are_sorted(void **state)
{
	(void)state;
	static const struct thing things[] = { { 2, "b" }, { 10, "a" }, { 9, "b" }, { 2, "a" } };
	static const struct {
		const char *sort;
		int order[4];
	} cases[] = {
		{ "i", { 0, 3, 2, 1 } },   { "-i", { 1, 2, 0, 3 } },    { "j", { 1, 3, 0, 2 } },
		{ "j,i", { 3, 1, 0, 2 } }, { "-j,-i", { 2, 0, 1, 3 } }, { "+j", { 1, 3, 0, 2 } },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct sorting s;
		const void *objs[] = { &things[0], &things[1], &things[2], &things[3] };
		assert_int_equal(sorting_parse(&s, COLUMN_OF_JOB, cases[i].sort, NULL), 0);
		sorting_apply(&s, value_of, NULL, objs, 4, a);
		for (int k = 0; k < 4; k++)
			assert_ptr_equal(objs[k], &things[cases[i].order[k]]);
	}
	struct sorting s;
	struct error err = {};
	assert_true(sorting_parse(&s, COLUMN_OF_JOB, "i,!", &err) < 0);
	assert_true(sorting_parse(&s, COLUMN_OF_JOB, "-", &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_parsed),
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(lines_are_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
