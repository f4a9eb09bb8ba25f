/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - columns of text as squeue -o, squeue -O and sinfo print them.
 *
 * A table is a parsed format: columns of one kind (job, step or node) chosen from schema/formats.def,
 * each with a width, and the literal text between them.  What a column shows is computed by a function
 * that the caller gives; the table cuts, pads and puts the lines together in one buffer.
 *
 *	%[[.]size]letter[text]	-o: `.` sets to the right, size 0 is as wide as the value, `#` as wide as
 *				the widest value, which table_measure must have seen
 *	name[:[.]size[text]]	-O: 20 wide unless said otherwise; text without a size: as wide as the value
 *
 * Memory is in the arena of the command. */
#pragma once
#include "base/cleanup.h"
#include "base/vec.h"
#include "schema/formats.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

struct table_column {
	const struct column_row *row; /* NULL: only the text */
	uint32_t width;               /* 0: as wide as the value */
	bool right, fits;             /* `fits`: the width grows with the values */
	const char *text;             /* what follows the value */
};

struct table {
	enum column_of of;
	const char *lead; /* text before the first column */
	VEC(struct table_column) columns;
	struct buf *scratch;
};

/* Writes what column `row` shows for `obj`; nothing written means row->none. */
typedef void (*table_value_fn)(const void *ctx, const void *obj, const struct column_row *row,
			       struct buf *out);

/* Both put a line for each unknown column into `complaints` and go on, as squeue(1) does: an unknown
 * letter is printed as it stands, an unknown name is left out. */
void table_parse_letters(struct table *t, enum column_of of, const char *format, struct arena *a,
			 struct buf *complaints);
void table_parse_names(struct table *t, enum column_of of, const char *format, struct arena *a,
		       struct buf *complaints);
void table_done(struct table *t);

void table_measure(struct table *t, table_value_fn value, const void *ctx, const void *obj);
void table_print_header(const struct table *t, struct buf *out);
void table_print_row(const struct table *t, table_value_fn value, const void *ctx, const void *obj,
		     struct buf *out);

const struct column_row *column_by_letter(enum column_of of, char letter);
const struct column_row *column_by_name(enum column_of of, const char *name);

void text_put_u64(struct buf *out, uint64_t v); /* like "%llu", but quick */
