/* SPDX-License-Identifier: Apache-2.0 */
/* Memory sizes and counts. */
#include "text/size.h"

#include "base/error.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>

static void parses_sizes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t mib;
	} rows[] = {
		{ "0", 0 },           { "100", 100 },      { "100M", 100 },  { "4G", 4096 },
		{ "4g", 4096 },       { "4GB", 4096 },     { "4GiB", 4096 }, { "1T", 1048576 },
		{ "1P", 1073741824 }, { "0K", 0 },         { "1K", 1 },      { "1024K", 1 },
		{ "1025K", 2 },       { "62.50G", 64000 }, { "1.5G", 1536 }, { "0.001G", 2 },
		{ "0.5K", 1 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		uint64_t mib = 77;
		assert_int_equal(size_parse_mib(rows[i].text, &mib, NULL), 0);
		assert_int_equal(mib, rows[i].mib);
	}
}

static void refuses_sizes(void **state)
{
	(void)state;
	static const char *const rows[] = { "",    "G",    "-1", "4X",  "4GBs", "4 G", "1.G",
					    "1.5", "0x10", " 4", "4G4", "1e3",  "4Gi", "0.0001G" };
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct error err = {};
		uint64_t mib = 77;
		assert_int_equal(size_parse_mib(rows[i], &mib, &err), -EINVAL);
		assert_int_equal(mib, 77);
		char want[200];
		snprintf(want, sizeof(want),
			 "size '%s': want a number with K, M, G, T or P, or none for MiB, as in 4G",
			 rows[i]);
		assert_string_equal(err.text, want);
	}
	struct error err = {};
	uint64_t mib;
	assert_int_equal(size_parse_mib("99999999999999999999K", &mib, NULL), -ERANGE);
	assert_int_equal(size_parse_mib("18444000007660924714k", &mib, NULL), -ERANGE);
	assert_int_equal(size_parse_mib("9007199254740991.5M", &mib, NULL), -ERANGE);
	assert_int_equal(size_parse_mib("9007199254740991", &mib, NULL), 0);
	assert_int_equal(size_parse_mib("9000000000P", &mib, &err), -ERANGE);
	assert_string_equal(err.text, "size '9000000000P' is too large");
}

static void parses_counts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int code;
		uint64_t count;
	} rows[] = {
		{ "0", 0, 0 },
		{ "7", 0, 7 },
		{ "2k", 0, 2048 },
		{ "1K", 0, 1024 },
		{ "1m", 0, 1048576 },
		{ "1g", 0, 1ull << 30 },
		{ "1t", 0, 1ull << 40 },
		{ "1p", 0, 1ull << 50 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551615k", -ERANGE, 77 },
		{ "18446744073709551616", -ERANGE, 77 },
		{ "1e", -EINVAL, 77 },
		{ "2kb", -EINVAL, 77 },
		{ "1.5k", -EINVAL, 77 },
		{ "4.0", -EINVAL, 77 },
		{ "-1", -EINVAL, 77 },
		{ "", -EINVAL, 77 },
		{ "k", -EINVAL, 77 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		uint64_t count = 77;
		if (count_parse(rows[i].text, &count, NULL) != rows[i].code)
			fail_msg("%s", rows[i].text);
		assert_int_equal(count, rows[i].count);
	}
}

static void prints_as_slurm_does(void **state)
{
	(void)state;
	static const struct {
		uint64_t mib;
		const char *text;
	} rows[] = {
		{ 0, "0" },           { 1, "1M" },          { 100, "100M" },
		{ 512, "512M" },      { 1000, "1000M" },    { 1024, "1G" },
		{ 1536, "1.50G" },    { 2000, "2000M" },    { 32000, "32000M" },
		{ 64000, "62.50G" },  { 8000, "8000M" },    { 1048576, "1T" },
		{ 2060288, "2012G" }, { 1572864, "1.50T" }, { 1049088, "1024.50G" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		char text[SIZE_TEXT];
		size_print_mib(rows[i].mib, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	uint64_t seed = 3;
	for (int round = 0; round < 20000; round++) {
		uint64_t mib = (draw(&seed) >> (11 + draw_below(&seed, 52)))
			       << draw_below(&seed, 20);
		mib &= (1ull << 52) - 1;
		uint64_t back = 1;
		char text[SIZE_TEXT];
		size_print_mib(mib, text);
		if (size_parse_mib(text, &back, NULL) != 0 || back != mib)
			fail_msg("%llu is printed %s", (unsigned long long)mib, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_sizes),         cmocka_unit_test(refuses_sizes),
		cmocka_unit_test(parses_counts),        cmocka_unit_test(prints_as_slurm_does),
		cmocka_unit_test(reads_what_it_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
