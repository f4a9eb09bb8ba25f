/* SPDX-License-Identifier: Apache-2.0 */
/* Array specifications and sets of task ids, against a set kept as one flag per id. */
#include "text/idset.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>
#include <string.h>

static void parses(void **state)
{
	(void)state;
	static const struct {
		const char *text, *printed;
		uint32_t total, min, max, step, limit;
	} rows[] = {
		{ "0", "0", 1, 0, 0, 1, 0 },
		{ "7", "7", 1, 7, 7, 1, 0 },
		{ "0-15", "0-15", 16, 0, 15, 1, 0 },
		{ "0-15:4,20%4", "0,4,8,12,20", 5, 0, 20, 1, 4 },
		{ "0-15:4", "0-12:4", 4, 0, 12, 4, 0 },
		{ "1-7:2", "1-7:2", 4, 1, 7, 2, 0 },
		{ "1,3,5,7", "1-7:2", 4, 1, 7, 2, 0 },
		{ "1,3", "1,3", 2, 1, 3, 2, 0 },
		{ "9,5-6", "5-6,9", 3, 5, 9, 1, 0 },
		{ "5-6,9%2", "5-6,9", 3, 5, 9, 1, 2 },
		{ "3,1,2", "1-3", 3, 1, 3, 1, 0 },
		{ "1-5,3-9,9", "1-9", 9, 1, 9, 1, 0 },
		{ "5-1000%4", "5-1000", 996, 5, 1000, 1, 4 },
		{ "1-3%0", "1-3", 3, 1, 3, 1, 0 },
		{ "0-9:20", "0", 1, 0, 0, 1, 0 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {};
		struct array_spec s;
		struct error err = {};
		if (array_parse(rows[i].text, 1001, a, &s, &err) < 0)
			fail_msg("%s", err.text);
		idset_print(s.ids.ranges, s.ids.count, 0, &out);
		assert_string_equal(buf_text(&out), rows[i].printed);
		assert_int_equal(s.total, rows[i].total);
		assert_int_equal(s.min, rows[i].min);
		assert_int_equal(s.max, rows[i].max);
		assert_int_equal(s.step, rows[i].step);
		assert_int_equal(s.limit, rows[i].limit);
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
		{ "", -EINVAL, "array '': want ids as in 0-15:4,20%4 instead of ''" },
		{ "a", -EINVAL, "array 'a': want ids as in 0-15:4,20%4 instead of 'a'" },
		{ "1,,2", -EINVAL, "array '1,,2': want ids as in 0-15:4,20%4 instead of ''" },
		{ "1-", -EINVAL, "array '1-': want ids as in 0-15:4,20%4 instead of '1-'" },
		{ "1:2", -EINVAL, "array '1:2': want ids as in 0-15:4,20%4 instead of '1:2'" },
		{ "1-4:0", -EINVAL,
		  "array '1-4:0': want ids as in 0-15:4,20%4 instead of '1-4:0'" },
		{ "1-4:", -EINVAL, "array '1-4:': want ids as in 0-15:4,20%4 instead of '1-4:'" },
		{ "-1", -EINVAL, "array '-1': want ids as in 0-15:4,20%4 instead of '-1'" },
		{ "5-1", -EINVAL, "array '5-1': range '5-1' counts down, write '1-5'" },
		{ "3,1001", -ERANGE,
		  "array '3,1001': ids are below 1001 (MaxArraySize), unlike those of '1001'" },
		{ "0-99999999999", -ERANGE,
		  "array '0-99999999999': ids are below 1001 (MaxArraySize), unlike those of '0-99999999999'" },
		{ "1-4%", -EINVAL,
		  "array '1-4%': want the number of tasks to run at once after '%' instead of ''" },
		{ "1-4%x", -EINVAL,
		  "array '1-4%x': want the number of tasks to run at once after '%' instead of 'x'" },
		{ "1-4%2%3", -EINVAL,
		  "array '1-4%2%3': want the number of tasks to run at once after '%' instead of '2%3'" },
		{ "%4", -EINVAL, "array '%4': want ids as in 0-15:4,20%4 instead of ''" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct array_spec s = { .total = 77 };
		struct error err = {};
		assert_int_equal(array_parse(rows[i].text, 1001, a, &s, &err), rows[i].code);
		assert_string_equal(err.text, rows[i].message);
		assert_int_equal(s.total, 77);
	}
}

static void repeated_steps_are_bounded(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf text = {};
	struct array_spec s;
	for (int i = 0; i < 100; i++)
		buf_puts(&text, i ? ",0-3999999:2" : "0-3999999:2");
	assert_int_equal(array_parse(buf_text(&text), 4000001, a, &s, NULL), -E2BIG);
}

static void long_sets_are_cut(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct array_spec s;
	assert_int_equal(array_parse("1,3,6,10,15,21", 100, a, &s, NULL), 0);
	static const struct {
		uint32_t max;
		const char *text;
	} rows[] = {
		{ 0, "1,3,6,10,15,21" },
		{ 14, "1,3,6,10,15,21" },
		{ 13, "1,3,6,10,..." },
		{ 12, "1,3,6,10,..." },
		{ 11, "1,3,6,..." },
		{ 5, "1,..." },
		{ 1, "..." },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_BUF struct buf out = {};
		buf_puts(&out, "36_[");
		idset_print(s.ids.ranges, s.ids.count, rows[i].max, &out);
		assert_string_equal(buf_text(&out) + 4, rows[i].text);
	}
}

enum { ID_MAX = 200 };

static void draw_text(uint64_t *seed, struct buf *text, bool in[ID_MAX])
{
	uint32_t parts = 1 + draw_below(seed, 6);
	for (uint32_t p = 0; p < parts; p++) {
		uint32_t first = draw_below(seed, ID_MAX),
			 last = first + draw_below(seed, ID_MAX - first);
		uint32_t step = 1 + draw_below(seed, 4);
		buf_printf(text, "%s%u-%u:%u", p ? "," : "", first, last, step);
		for (uint32_t id = first; id <= last; id += step)
			in[id] = true;
	}
}

static void agrees_with_a_naive_set(void **state)
{
	(void)state;
	uint64_t seed = 4711;
	for (int round = 0; round < 500; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {}, printed = {};
		bool in[ID_MAX] = {};
		struct array_spec s, back;
		uint32_t total = 0;
		draw_text(&seed, &text, in);
		assert_int_equal(array_parse(buf_text(&text), ID_MAX, a, &s, NULL), 0);
		for (uint32_t id = 0; id < ID_MAX; id++) {
			total += in[id];
			assert_int_equal(idset_has(s.ids.ranges, s.ids.count, id), in[id]);
		}
		assert_int_equal(s.total, total);
		assert_false(idset_has(s.ids.ranges, s.ids.count, UINT32_MAX));
		for (uint32_t i = 0; i < s.ids.count; i++) {
			assert_true(s.ids.ranges[i].first <= s.ids.ranges[i].last);
			assert_true(i == 0 || s.ids.ranges[i].first > s.ids.ranges[i - 1].last + 1);
		}
		idset_print(s.ids.ranges, s.ids.count, 0, &printed);
		assert_int_equal(array_parse(buf_text(&printed), ID_MAX, a, &back, NULL), 0);
		assert_int_equal(back.ids.count, s.ids.count);
		assert_memory_equal(back.ids.ranges, s.ids.ranges,
				    s.ids.count * sizeof(*s.ids.ranges));
	}
}

static void empty_sets(void **state)
{
	(void)state;
	AUTO_BUF struct buf out = {};
	idset_print(NULL, 0, 64, &out);
	assert_string_equal(buf_text(&out), "");
	assert_int_equal(idset_total(NULL, 0), 0);
	assert_false(idset_has(NULL, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(refuses),
		cmocka_unit_test(repeated_steps_are_bounded),
		cmocka_unit_test(long_sets_are_cut),
		cmocka_unit_test(agrees_with_a_naive_set),
		cmocka_unit_test(empty_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
