/* SPDX-License-Identifier: Apache-2.0 */
/* A constraint that was taken is canonical and prints as a text with the same print. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "text/constraint.h"

#include "fuzz.h"

#include <assert.h>

static void check_shape(const struct constraint *c, bool top)
{
	bool joined = c->kind == CONSTRAINT_AND || c->kind == CONSTRAINT_OR;
	assert(joined || c->kind == CONSTRAINT_NAME || top);
	assert((c->kind == CONSTRAINT_NAME) == (c->part_count == 0));
	assert(!joined || c->part_count > 1);
	for (uint32_t i = 0; i < c->part_count; i++) {
		assert(!joined || c->parts[i]->kind != c->kind);
		assert((c->kind == CONSTRAINT_EACH) == (c->parts[i]->count > 0));
		check_shape(c->parts[i], top && c->kind == CONSTRAINT_AND);
	}
}

static int check_name(void *arg, const char *name)
{
	(void)arg;
	assert(*name && !strpbrk(name, "&|*[](), \t\n"));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	AUTO_BUF struct buf first = {}, second = {};
	struct constraint *c, *back;
	struct error err = {};
	if (constraint_parse(text, a, &c, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	if (!c)
		return 0;
	check_shape(c, true);
	constraint_each_name(c, check_name, NULL);
	constraint_print(c, &first);
	int r = constraint_parse(buf_text(&first), a, &back, &err);
	assert(r == 0);
	constraint_print(back, &second);
	assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	return 0;
}
