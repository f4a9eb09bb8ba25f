/* SPDX-License-Identifier: Apache-2.0 */
/* sorting.c - ordering lines by computed keys. */
#include "client/sorting.h"

#include "base/arena.h"
#include "base/error.h"
#include "text/hostlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sorting_parse(struct sorting *s, enum column_of of, const char *text, struct error *err)
{
	*s = (struct sorting) {};
	for (const char *p = text; *p; p++) {
		if (*p == ',')
			continue;
		bool descending = false, configured = false;
		for (; *p == '-' || *p == '+' || *p == '#'; p++) {
			descending = descending || *p == '-';
			configured = configured || *p == '#';
		}
		const struct column_row *row = *p ? column_by_letter(of, *p) : NULL;
		if (!row)
			return error_set(
				err, -EINVAL,
				"cannot sort by '%s': write letters of the format, as in 'P,-t'",
				text);
		if (s->count == SORT_KEYS_MAX)
			return error_set(err, -EINVAL, "'%s' has more than %d letters", text,
					 SORT_KEYS_MAX);
		s->keys[s->count].row = row;
		s->keys[s->count].descending = descending;
		s->keys[s->count++].configured = configured;
	}
	return 0;
}

struct line {
	const void *obj;
	struct sort_value values[SORT_KEYS_MAX];
	size_t position;
};

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct sorting *s = arg;
	const struct line *a = pa, *b = pb;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct sort_value *x = &a->values[i], *y = &b->values[i];
		int order;
		if (x->text && y->text)
			order = s->keys[i].row->value == COLUMN_VALUE_NODE_LIST
					? hostname_compare(x->text, y->text)
					: strcmp(x->text, y->text);
		else
			order = (x->number > y->number) - (x->number < y->number);
		if (order)
			return s->keys[i].descending ? -order : order;
	}
	return (a->position > b->position) - (a->position < b->position);
}

void sorting_apply(const struct sorting *s, sort_value_fn value, const void *ctx, const void **objs,
		   size_t count, struct arena *a)
{
	if (count < 2 || !s->count)
		return;
	struct line *lines = ARENA_ARRAY(a, struct line, count);
	for (size_t i = 0; i < count; i++) {
		lines[i].obj = objs[i];
		lines[i].position = i;
		for (uint32_t k = 0; k < s->count; k++)
			lines[i].values[k] = value(ctx, objs[i], s->keys[k].row,
						   s->keys[k].configured, a);
	}
	qsort_r(lines, count, sizeof(*lines), compare, (void *)(uintptr_t)s);
	for (size_t i = 0; i < count; i++)
		objs[i] = lines[i].obj;
}
