/* SPDX-License-Identifier: Apache-2.0 */
/* Any format makes a table: headers and lines are one line each unless the format itself breaks them, and
 * what is too long is cut. */
#include "base/arena.h"
#include "base/buf.h"
#include "client/table.h"

#include "fuzz.h"

#include <assert.h>

static void value(const void *ctx, const void *obj, const struct column_row *row, struct buf *out)
{
	(void)ctx, (void)obj;
	buf_puts(out, row->header);
}

/* Memory follows widths; a fuzzer that finds large ones learns nothing more. */
static bool is_wide(const struct table_column *c)
{
	return c->width > 4096;
}

static bool is_absent(const struct table_column *c)
{
	return c->row && c->row->value == COLUMN_VALUE_ABSENT;
}

static bool any(const struct table *t, bool (*is_so)(const struct table_column *))
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (is_so(&t->columns.at[i]))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum column_of kinds[] = { COLUMN_OF_JOB, COLUMN_OF_STEP, COLUMN_OF_NODE };
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	for (size_t i = 0; i < 2 * ARRAY_COUNT(kinds); i++) {
		AUTO_BUF struct buf header = {}, line = {}, complaints = {};
		struct table t;
		(i % 2 ? table_parse_names : table_parse_letters)(&t, kinds[i / 2], text, a,
								  &complaints);
		if (!any(&t, is_wide)) {
			table_measure(&t, value, NULL, NULL);
			table_print_header(&t, &header);
			table_print_row(&t, value, NULL, NULL, &line);
			assert(any(&t, is_absent) ||
			       strcmp(buf_text(&header), buf_text(&line)) == 0);
		}
		table_done(&t);
	}
	return 0;
}
