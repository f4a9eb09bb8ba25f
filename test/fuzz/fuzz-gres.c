/* SPDX-License-Identifier: Apache-2.0 */
/* A list of generic resources reads the same after printing, in both of its languages. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "text/gres.h"

#include "fuzz.h"

#include <assert.h>

static void check(const struct gres_spec *g, uint32_t count, struct arena *a)
{
	AUTO_BUF struct buf out = {};
	struct gres_spec *back;
	uint32_t back_count;
	struct error err = {};
	for (uint32_t i = 0; i < count; i++) {
		assert(g[i].count > 0);
		if (i)
			buf_putc(&out, ',');
		gres_print(&g[i], i % 2 ? "gres/" : "", &out);
	}
	int r = gres_parse(buf_text(&out), a, &back, &back_count, &err);
	assert(r == 0 && back_count == count);
	for (uint32_t i = 0; i < count; i++) {
		assert(str_eq(g[i].name, back[i].name) && str_eq(g[i].type, back[i].type));
		assert(g[i].count == back[i].count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	struct gres_spec *g;
	uint32_t count;
	struct error err = {};
	if (gres_parse(text, a, &g, &count, &err) == 0)
		check(g, count, a);
	else
		assert(err.text[0]);
	if (gres_parse_counts(text, "gpu", a, &g, &count, &err) == 0)
		check(g, count, a);
	return 0;
}
