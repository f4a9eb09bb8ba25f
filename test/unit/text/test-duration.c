/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits and spans. */
#include "text/duration.h"

#include "base/error.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>

static void parses_limits(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		usec_t min;
	} rows[] = {
		{ "0", 0 },
		{ "30", 30 },
		{ "0:30", 1 },
		{ "1:30", 2 },
		{ "90:00", 90 },
		{ "1:30:00", 90 },
		{ "1:00:01", 61 },
		{ "1-0", 1440 },
		{ "2-12", 3600 },
		{ "2-12:30", 3630 },
		{ "2-12:30:01", 3631 },
		{ "0-0:0:1", 1 },
		{ "00:10:00", 10 },
		{ "UNLIMITED", 0 },
		{ "infinite", 0 },
		{ "-1", 0 },
		{ "0:00", 0 },
		{ "365-00:00:00", 525600 },
		{ "999999999", 999999999 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		usec_t span = 77;
		struct error err = {};
		if (duration_parse_limit(rows[i].text, &span, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(span, rows[i].min * USEC_PER_MIN);
	}
}

static void refuses_limits(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"",          "a",     "1:",  ":1",          "1:2:3:4",  "1-",           "-",
		"-2",        "1-2-3", "1.5", "1h",          " 1",       "1 ",           "1-:2",
		"1-1:1:1:1", "--1",   "+1",  "12345678901", "unlimite", "1-12345678901"
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		usec_t span = 77;
		struct error err = {};
		if (duration_parse_limit(rows[i], &span, &err) != -EINVAL)
			fail_msg("'%s' was taken", rows[i]);
		assert_int_equal(span, 77);
		char want[256];
		snprintf(want, sizeof(want),
			 "time limit '%s': want minutes, minutes:seconds, hours:minutes:seconds, "
			 "days-hours[:minutes[:seconds]] or UNLIMITED",
			 rows[i]);
		assert_string_equal(err.text, want);
	}
	usec_t span;
	struct error err = {};
	assert_int_equal(duration_parse_wait("1:30", &span, &err), 0);
	assert_int_equal(span, 90 * USEC_PER_SEC);
	assert_int_equal(duration_parse_wait("0", &span, &err), 0);
	assert_int_equal(span, 0);
	assert_int_equal(duration_parse_wait("UNLIMITED", &span, &err), 0);
	assert_true(span == DURATION_FOREVER);
	assert_int_equal(duration_parse_wait("soon", &span, &err), -EINVAL);
	assert_int_equal(duration_parse_limit("99999999-0", &span, &err), -ERANGE);
	assert_string_equal(err.text,
			    "time limit '99999999-0' is too long, use UNLIMITED for none");
}

static void prints_spans(void **state)
{
	(void)state;
	static const struct {
		usec_t sec;
		const char *text, *long_text;
	} rows[] = {
		{ 0, "0:00", "00:00:00" },
		{ 22, "0:22", "00:00:22" },
		{ 1800, "30:00", "00:30:00" },
		{ 3723, "1:02:03", "01:02:03" },
		{ 36000, "10:00:00", "10:00:00" },
		{ 172800, "2-00:00:00", "2-00:00:00" },
		{ 31536000, "365-00:00:00", "365-00:00:00" },
		{ -1, "INVALID", "INVALID" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		char text[DURATION_TEXT];
		duration_print(rows[i].sec * USEC_PER_SEC, text);
		assert_string_equal(text, rows[i].text);
		duration_print_long(rows[i].sec * USEC_PER_SEC, text);
		assert_string_equal(text, rows[i].long_text);
	}
	char text[DURATION_TEXT];
	duration_print(22 * USEC_PER_SEC + 999999, text);
	assert_string_equal(text, "0:22");
	duration_print(INT64_MAX, text);
	assert_string_equal(text, "106751991-04:00:54");
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	uint64_t seed = 11;
	for (int round = 0; round < 20000; round++) {
		usec_t span = (usec_t)((draw(&seed) & UINT32_MAX) >> draw_below(&seed, 32)) *
			      USEC_PER_MIN;
		usec_t back = 1;
		char text[DURATION_TEXT];
		if (span > (usec_t)(UINT32_MAX - 2) * USEC_PER_MIN)
			continue;
		duration_print(span, text);
		assert_int_equal(duration_parse_limit(text, &back, NULL), 0);
		assert_int_equal(back, span);
		duration_print_long(span, text);
		assert_int_equal(duration_parse_limit(text, &back, NULL), 0);
		assert_int_equal(back, span);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_limits),
		cmocka_unit_test(refuses_limits),
		cmocka_unit_test(prints_spans),
		cmocka_unit_test(reads_what_it_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
