/* SPDX-License-Identifier: Apache-2.0 */
/* Licences: what is understood, what is refused and in which words, and print after parse. */
#include "text/licenses.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include "../cm.h"

struct row {
	const char *text, *printed;
};

static void check(const struct row *row, bool totals)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	struct license_list l;
	struct error err = {};
	int r = totals ? licenses_parse_totals(row->text, a, &l, &err) : licenses_parse(row->text, a, &l, &err);
	if (r < 0)
		buf_puts(&out, err.text);
	else
		licenses_print(&l, &out);
	assert_string_equal(buf_text(&out), row->printed);
}

static void reads_requests(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "a", "a:1" },
		{ "a:2,b", "a:2,b:1" },
		{ "a,b,a:3", "a:4,b:1" },
		{ "a:2|b", "a:2|b:1" },
		{ "fluent@server.site:4", "fluent@server.site:4" },
		{ "", "" },
		{ "a:2,b|c", "licenses 'a:2,b|c': ',' (all of them) and '|' (one of them) do not mix" },
		{ "a:x", "license 'a': 'x' is no count, want name:count" },
		{ "a:-1", "license 'a': '-1' is no count, want name:count" },
		{ "a:", "license 'a': '' is no count, want name:count" },
		{ "a:0", "license 'a': at least 1 must be asked for" },
		{ "a:1:2", "license 'a': '1:2' is no count, want name:count" },
		{ ":2", "license '' is no name, want name:count" },
		{ "a,", "license '' is no name, want name:count" },
		{ "a b", "license 'a b' is no name, want name:count" },
		{ "a|a", "license 'a' is given twice as an alternative" },
		{ "a:99999999999", "license 'a': '99999999999' is no count, want name:count" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		check(&rows[i], false);
}

static void reads_totals(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "a:10,b", "a:10,b:1" },
		{ "a:0", "a:0" },
		{ "a|b", "licenses 'a|b': '|' is for requests, use ','" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		check(&rows[i], true);
}

static void printed_ones_are_read_again(void **state)
{
	(void)state;
	static const char *const names[] = { "a", "b.c", "d-e", "f@g" };
	for (uint64_t round = 1; round < 2000; round++) {
		uint64_t seed = round * 0x9E3779B97F4A7C15u;
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf first = {};
		AUTO_BUF struct buf second = {};
		struct license_spec at[4];
		struct license_list l = { .at = at, .any = round % 2 }, again;
		for (uint32_t i = 0; i < 1 + round % 4; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			at[l.count++] = (struct license_spec){ (char *)(uintptr_t)names[i], 1 + (seed >> 40) };
		}
		licenses_print(&l, &first);
		assert_int_equal(licenses_parse(buf_text(&first), a, &again, NULL), 0);
		licenses_print(&again, &second);
		assert_string_equal(buf_text(&first), buf_text(&second));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_requests),
		cmocka_unit_test(reads_totals),
		cmocka_unit_test(printed_ones_are_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
