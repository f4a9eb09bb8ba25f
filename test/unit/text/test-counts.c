/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of equal numbers. */
#include "text/counts.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>

static void prints_and_parses(void **state)
{
	(void)state;
	static const struct {
		uint32_t values[5], count;
		const char *text;
	} rows[] = {
		{ { 72, 72, 36 }, 3, "72(x2),36" },
		{ { 8 }, 1, "8" },
		{ { 8, 8, 8, 8 }, 4, "8(x4)" },
		{ { 1, 2, 1 }, 3, "1,2,1" },
		{ { 0, 0 }, 2, "0(x2)" },
		{ { UINT32_MAX }, 1, "4294967295" },
		{ {}, 0, "" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {};
		counts_print(rows[i].values, rows[i].count, &out);
		assert_string_equal(buf_text(&out), rows[i].text);
		uint32_t *values, count;
		assert_int_equal(counts_parse(rows[i].text, a, &values, &count, NULL), 0);
		assert_int_equal(count, rows[i].count);
		assert_memory_equal(values, rows[i].values, count * sizeof(*values));
	}
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int code;
		const char *message;
	} rows[] = {
		{ "a", -EINVAL, "counts 'a': want numbers as in 72(x2),36 instead of 'a'" },
		{ "1,", -EINVAL, "counts '1,': want numbers as in 72(x2),36 instead of ''" },
		{ "1,2(3),4", -EINVAL,
		  "counts '1,2(3),4': want numbers as in 72(x2),36 instead of '2(3)'" },
		{ "2(x3", -EINVAL,
		  "counts '2(x3': want numbers as in 72(x2),36 instead of '2(x3'" },
		{ "2(x0)", -EINVAL,
		  "counts '2(x0)': want numbers as in 72(x2),36 instead of '2(x0)'" },
		{ "2(x3)4", -EINVAL,
		  "counts '2(x3)4': want numbers as in 72(x2),36 instead of '2(x3)4'" },
		{ "4294967296", -EINVAL,
		  "counts '4294967296': want numbers as in 72(x2),36 instead of '4294967296'" },
		{ "1(x4000000000)", -E2BIG,
		  "counts '1(x4000000000)' stand for more than 1048576 numbers" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		uint32_t *values, count = 77;
		struct error err = {};
		assert_int_equal(counts_parse(rows[i].text, a, &values, &count, &err),
				 rows[i].code);
		assert_string_equal(err.text, rows[i].message);
		assert_int_equal(count, 77);
	}
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	uint64_t seed = 17;
	for (int round = 0; round < 500; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {};
		uint32_t values[100], count = draw_below(&seed, 100), *back, back_count;
		for (uint32_t i = 0; i < count; i++)
			values[i] = i && draw_below(&seed, 3) ? values[i - 1]
							      : (uint32_t)draw(&seed);
		counts_print(values, count, &out);
		assert_int_equal(counts_parse(buf_text(&out), a, &back, &back_count, NULL), 0);
		assert_int_equal(back_count, count);
		assert_memory_equal(back, values, count * sizeof(*back));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_and_parses),
		cmocka_unit_test(refuses),
		cmocka_unit_test(reads_what_it_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
