/* SPDX-License-Identifier: Apache-2.0 */
/* Generic resources: every order that is right, every one that is wrong and what is then suggested. */
#include "text/gres.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>

struct row {
	const char *text, *printed;
};

static void print_all(const struct gres_spec *g, uint32_t count, struct buf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			buf_putc(out, ',');
		gres_print(&g[i], "", out);
	}
}

static void check(const struct row *row, const char *name)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	struct gres_spec *g;
	uint32_t count;
	struct error err = {};
	int r = name ? gres_parse_counts(row->text, name, a, &g, &count, &err)
		     : gres_parse(row->text, a, &g, &count, &err);
	if (r < 0) {
		assert_int_equal(r, err.code);
		assert_string_equal(err.text, row->printed);
		return;
	}
	print_all(g, count, &out);
	assert_string_equal(buf_text(&out), row->printed);
}

static void parses_requests(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "gpu", "gpu:1" },
		{ "gpu:4", "gpu:4" },
		{ "gpu:h100", "gpu:h100:1" },
		{ "gpu:h100:4", "gpu:h100:4" },
		{ "gpu:h100=4", "gpu:h100:4" },
		{ "gpu=4", "gpu:4" },
		{ "gres/gpu:a100=1", "gpu:a100:1" },
		{ "gres:gpu:2", "gpu:2" },
		{ "gpu:2,shard:3", "gpu:2,shard:3" },
		{ "gpu:0", "" },
		{ "gpu:0,shard:1", "shard:1" },
		{ "none", "" },
		{ "", "" },
		{ "craynetwork:2k", "craynetwork:2048" },
		{ "gpu:1g.5gb:7", "gpu:1g.5gb:7" },
		{ "gpu:1g.5gb", "gpu:1g.5gb:1" },
		{ "gpu:4:2", "gpu:4:2" }, /* a type that is a number, as Slurm reads it */
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		check(&rows[i], NULL);
}

static void spells_out_the_order(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "gpu:1:tesla:v100",
		  "gres 'gpu:1:tesla:v100': the order is name:type:count, try 'gpu:tesla_v100:1'" },
		{ "gpu:1:tesla",
		  "gres 'gpu:1:tesla': the order is name:type:count, try 'gpu:tesla:1'" },
		{ "gpu:tesla:v100",
		  "gres 'gpu:tesla:v100': the order is name:type:count, try 'gpu:tesla_v100'" },
		{ "gpu:tesla:v100:2",
		  "gres 'gpu:tesla:v100:2': the order is name:type:count, try 'gpu:tesla_v100:2'" },
		{ "shard:1,gpu:1:a:b",
		  "gres 'gpu:1:a:b': the order is name:type:count, try 'gpu:a_b:1'" },
		{ "gpu:a:b:c:d:e:f:g:h",
		  "gres 'gpu:a:b:c:d:e:f:g:h': the order is name:type:count" },
		{ "gpu:", "gres 'gpu:': a type or a count is missing, want name[:type][:count]" },
		{ "gpu::2",
		  "gres 'gpu::2': a type or a count is missing, want name[:type][:count]" },
		{ ":2", "gres ':2': the name is missing, want name[:type][:count]" },
		{ "4", "gres '4': the name is missing, want name[:type][:count]" },
		{ "gres", "gres 'gres': the name is missing, want name[:type][:count]" },
		{ "gres:4", "gres 'gres:4': the name is missing, want name[:type][:count]" },
		{ "gpu:1,", "gres '': the name is missing, want name[:type][:count]" },
		{ "gpu:-1x y", "gres 'gpu:-1x y': '-1x y' is no name, type or count" },
		{ "gpu=h100",
		  "gres 'gpu=h100': count 'h100': want a whole number, with k, m, g, t or p for powers "
		  "of 1024" },
		{ "gpu=2:h100", "gres 'gpu=2:h100': only a count stands after '='" },
		{ "gpu:99999999999999999999",
		  "gres 'gpu:99999999999999999999': count '99999999999999999999' is too large" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		check(&rows[i], NULL);
}

static void parses_counts(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "4", "gpu:4" },
		{ "h100:4", "gpu:h100:4" },
		{ "h100:4,a100:2", "gpu:h100:4,gpu:a100:2" },
		{ "h100", "gpu:h100:1" },
		{ "0", "" },
		{ "4:h100", "gres '4:h100': the order is type:count, try 'h100:4'" },
		{ "gpu:4", "'gpu:4': leave 'gpu:' away, want [type:]count" },
		{ "h100:", "gres 'h100:': a type or a count is missing, want [type:]count" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		check(&rows[i], "gpu");
}

static void too_many_entries_are_refused(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf text = {};
	struct gres_spec *g;
	uint32_t count;
	for (int i = 0; i < 1025; i++)
		buf_puts(&text, i ? ",gpu" : "gpu");
	assert_int_equal(gres_parse(buf_text(&text), a, &g, &count, NULL), -E2BIG);
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	static const char *const names[] = { "gpu", "shard", "mps", "nic" };
	static const char *const types[] = { NULL, "h100", "a100-sxm4", "3g.20gb", "tesla_v100" };
	uint64_t seed = 5;
	for (int round = 0; round < 500; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf first = {}, second = {};
		struct gres_spec g[5], *back;
		uint32_t count = draw_below(&seed, 6), back_count;
		for (uint32_t i = 0; i < count; i++) {
			g[i].name = arena_strdup(a, names[draw_below(&seed, ARRAY_COUNT(names))]);
			g[i].type = arena_strdup(a, types[draw_below(&seed, ARRAY_COUNT(types))]);
			g[i].count = 1 + (draw(&seed) >> draw_below(&seed, 64)) % (UINT64_MAX - 1);
		}
		print_all(g, count, &first);
		assert_int_equal(gres_parse(buf_text(&first), a, &back, &back_count, NULL), 0);
		print_all(back, back_count, &second);
		assert_string_equal(buf_text(&first), buf_text(&second));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_requests),
		cmocka_unit_test(spells_out_the_order),
		cmocka_unit_test(parses_counts),
		cmocka_unit_test(too_many_entries_are_refused),
		cmocka_unit_test(reads_what_it_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
