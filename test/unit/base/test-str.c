/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: strict numbers, comparison, and the words people meant. */
#include "base/str.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>
#include <string.h>

static void compares(void **state)
{
	(void)state;
	assert_true(str_eq("a", "a"));
	assert_false(str_eq("a", "A"));
	assert_true(str_eq(NULL, NULL));
	assert_false(str_eq(NULL, ""));
	assert_true(str_ieq("aB", "Ab"));
	assert_false(str_ieq("a", NULL));
	assert_true(str_starts("prefix", "pre"));
	assert_false(str_starts("pre", "prefix"));
	assert_true(str_istarts("PREfix", "pre"));
	assert_true(str_ends("name.conf", ".conf"));
	assert_false(str_ends("conf", ".conf"));
	assert_true(str_empty(NULL) && str_empty("") && !str_empty(" "));
}

static void trims(void **state)
{
	(void)state;
	char a[] = " \t a b \r\n", b[] = "   ", c[] = "x";
	assert_string_equal(str_trim(a), "a b");
	assert_string_equal(str_trim(b), "");
	assert_string_equal(str_trim(c), "x");
}

static void parses_numbers(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int u32, u64, i64; /* codes */
	} rows[] = {
		{ "0", 0, 0, 0 },
		{ "007", 0, 0, 0 },
		{ "4294967295", 0, 0, 0 },
		{ "4294967296", -ERANGE, 0, 0 },
		{ "9223372036854775807", -ERANGE, 0, 0 },
		{ "9223372036854775808", -ERANGE, 0, -ERANGE },
		{ "18446744073709551615", -ERANGE, 0, -ERANGE },
		{ "18446744073709551616", -ERANGE, -ERANGE, -ERANGE },
		{ "99999999999999999999999", -ERANGE, -ERANGE, -ERANGE },
		{ "-1", -EINVAL, -EINVAL, 0 },
		{ "--1", -EINVAL, -EINVAL, -EINVAL },
		{ "+1", -EINVAL, -EINVAL, -EINVAL },
		{ "", -EINVAL, -EINVAL, -EINVAL },
		{ "-", -EINVAL, -EINVAL, -EINVAL },
		{ " 1", -EINVAL, -EINVAL, -EINVAL },
		{ "1 ", -EINVAL, -EINVAL, -EINVAL },
		{ "1x", -EINVAL, -EINVAL, -EINVAL },
		{ "0x1", -EINVAL, -EINVAL, -EINVAL },
		{ NULL, -EINVAL, -EINVAL, -EINVAL },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		uint32_t u32 = 77;
		uint64_t u64 = 77;
		int64_t i64 = 77;
		assert_int_equal(str_to_u32(rows[i].text, &u32), rows[i].u32);
		assert_int_equal(str_to_u64(rows[i].text, &u64), rows[i].u64);
		assert_int_equal(str_to_i64(rows[i].text, &i64), rows[i].i64);
		if (rows[i].u32 < 0)
			assert_int_equal(u32, 77);
		if (rows[i].u64 < 0)
			assert_int_equal(u64, 77);
		if (rows[i].i64 < 0)
			assert_int_equal(i64, 77);
	}
}

static void reads_numbers_it_printed(void **state)
{
	(void)state;
	uint64_t seed = 6;
	for (int i = 0; i < 5000; i++) {
		uint64_t v = draw(&seed) >> draw_below(&seed, 64), back = 1;
		int64_t s = (int64_t)v / (i % 2 ? 1 : -1), s_back = 1;
		char text[32];
		snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
		assert_int_equal(str_to_u64(text, &back), 0);
		assert_true(back == v);
		snprintf(text, sizeof(text), "%lld", (long long)s);
		assert_int_equal(str_to_i64(text, &s_back), s == INT64_MIN ? -ERANGE : 0);
		assert_true(s_back == s || s == INT64_MIN);
	}
}

/* The textbook recursion, affordable for short words only. */
static unsigned slow_distance(const char *a, const char *b)
{
	if (!*a || !*b)
		return (unsigned)(strlen(a) + strlen(b));
	unsigned change = slow_distance(a + 1, b + 1) + (*a != *b);
	unsigned drop = slow_distance(a + 1, b) + 1, add = slow_distance(a, b + 1) + 1;
	drop = drop < add ? drop : add;
	return change < drop ? change : drop;
}

static void measures_distance(void **state)
{
	(void)state;
	uint64_t seed = 12;
	for (int i = 0; i < 300; i++) {
		char a[6] = "", b[6] = "";
		for (uint32_t n = draw_below(&seed, 6), k = 0; k < n; k++)
			a[k] = (char)('a' + draw_below(&seed, 3));
		for (uint32_t n = draw_below(&seed, 6), k = 0; k < n; k++)
			b[k] = (char)('a' + draw_below(&seed, 3));
		assert_int_equal(str_distance(a, b, 100), slow_distance(a, b));
	}
	assert_int_equal(str_distance("abc", "ABC", 9), 0);
	assert_int_equal(str_distance("abc", "xyz", 2), 2);
	char longer[100];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[99] = '\0';
	assert_int_equal(str_distance(longer, "x", 5), 5);
}

static void finds_the_word_that_was_meant(void **state)
{
	(void)state;
	static const char *const words[] = { "--partition", "--nodes", "--ntasks", "--time",
					     "--gres" };
	assert_string_equal(str_closest("--patition", words, 5), "--partition");
	assert_string_equal(str_closest("--node", words, 5), "--nodes");
	assert_string_equal(str_closest("--GRES", words, 5), "--gres");
	assert_null(str_closest("--something-else", words, 5));
	assert_null(str_closest("x", words, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares),
		cmocka_unit_test(trims),
		cmocka_unit_test(parses_numbers),
		cmocka_unit_test(reads_numbers_it_printed),
		cmocka_unit_test(measures_distance),
		cmocka_unit_test(finds_the_word_that_was_meant),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
