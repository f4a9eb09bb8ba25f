/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time, with the clock at Sunday 2026-11-15 04:00:55, in a zone that changes its clocks. */
#include "text/date.h"

#include "base/error.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static usec_t at(int year, int month, int day, int hour, int min, int sec)
{
	struct tm tm = { .tm_year = year - 1900,
			 .tm_mon = month - 1,
			 .tm_mday = day,
			 .tm_hour = hour,
			 .tm_min = min,
			 .tm_sec = sec,
			 .tm_isdst = -1 };
	return (usec_t)mktime(&tm) * USEC_PER_SEC;
}

static usec_t clock_now(void)
{
	return at(2026, 11, 15, 4, 0, 55) + 250000;
}

static void parses(void **state)
{
	(void)state;
	static const struct {
		const char *text, *printed;
	} rows[] = {
		{ "2026-11-15T04:00:55", "2026-11-15T04:00:55" },
		{ "2026-12-24", "2026-12-24T00:00:00" },
		{ "2026-12-24T18:30", "2026-12-24T18:30:00" },
		{ "2026-12-24t18:30", "2026-12-24T18:30:00" },
		{ "2026-12-24 18:30", "2026-12-24T18:30:00" },
		{ "2026-1-5", "2026-01-05T00:00:00" },
		{ "2028-02-29", "2028-02-29T00:00:00" },
		{ "16:00", "2026-11-15T16:00:00" },
		{ "04:00:55", "2026-11-15T04:00:55" }, /* this very second has not passed */
		{ "04:00:54", "2026-11-16T04:00:54" },
		{ "3:00", "2026-11-16T03:00:00" },
		{ "4:30PM", "2026-11-15T16:30:00" },
		{ "4:30:10 pm", "2026-11-15T16:30:10" },
		{ "12:30am", "2026-11-16T00:30:00" },
		{ "12:30PM", "2026-11-15T12:30:00" },
		{ "6PM", "2026-11-15T18:00:00" },
		{ "1224", "2026-12-24T00:00:00" },
		{ "122427", "2027-12-24T00:00:00" },
		{ "0101", "2027-01-01T00:00:00" },
		{ "0101-12:15", "2027-01-01T12:15:00" },
		{ "12/24", "2026-12-24T00:00:00" },
		{ "11/14", "2027-11-14T00:00:00" },
		{ "11/15", "2026-11-15T00:00:00" },
		{ "12/24/27", "2027-12-24T00:00:00" },
		{ "12/24/2027", "2027-12-24T00:00:00" },
		{ "12.24", "2026-12-24T00:00:00" },
		{ "12.24.27-16:00", "2027-12-24T16:00:00" },
		{ "12/24 16:00", "2026-12-24T16:00:00" },
		{ "16:00 12/24", "2026-12-24T16:00:00" },
		{ "today", "2026-11-15T00:00:00" },
		{ "tomorrow", "2026-11-16T00:00:00" },
		{ "Tomorrow 9:00", "2026-11-16T09:00:00" },
		{ "tomorrow noon", "2026-11-16T12:00:00" },
		{ "midnight", "2026-11-16T00:00:00" },
		{ "noon", "2026-11-15T12:00:00" },
		{ "elevenses", "2026-11-15T11:00:00" },
		{ "fika", "2026-11-15T15:00:00" },
		{ "teatime", "2026-11-15T16:00:00" },
		{ " teatime tomorrow ", "2026-11-16T16:00:00" },
		{ "now", "2026-11-15T04:00:55" },
		{ "now+30", "2026-11-15T04:01:25" },
		{ "now+30seconds", "2026-11-15T04:01:25" },
		{ "now+5min", "2026-11-15T04:05:55" },
		{ "now+5m", "2026-11-15T04:05:55" },
		{ "now+1hour", "2026-11-15T05:00:55" },
		{ "now + 2 days", "2026-11-17T04:00:55" },
		{ "now+1week", "2026-11-22T04:00:55" },
		{ "now-1hours", "2026-11-15T03:00:55" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		usec_t when = 0;
		struct error err = {};
		char text[DATE_TEXT];
		if (date_parse(rows[i].text, clock_now(), &when, &err) < 0)
			fail_msg("%s", err.text);
		date_print(when, text);
		if (strcmp(text, rows[i].printed) != 0)
			fail_msg("'%s' became %s instead of %s", rows[i].text, text,
				 rows[i].printed);
	}
}

static void refuses(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"",
		"   ",
		"xyz",
		"1",
		"12345",
		"12:",
		"12:5:x",
		"24:00",
		"12:60",
		"13:00PM",
		"0:30am",
		"13/01",
		"02/30",
		"2027-02-29",
		"2026-13-01",
		"2026-12",
		"12/24/123",
		"12/24 12/25",
		"9:00 10:00",
		"noon 12:00",
		"now+",
		"now+x",
		"now*2",
		"now+1fortnight",
		"now+9999999999",
		"nowhere",
		"tomorrow tomorrow",
		"12/24-",
		"12:00:00:00",
		"2026-11-15T",
		"1969-12-31",
		"12:00 \001",
		"yesterday",
		"12,24",
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		usec_t when = 77;
		struct error err = {};
		if (date_parse(rows[i], clock_now(), &when, &err) != -EINVAL)
			fail_msg("'%s' was taken", rows[i]);
		assert_int_equal(when, 77);
		assert_non_null(strstr(err.text, "time '"));
	}
}

static void far_times_are_refused(void **state)
{
	(void)state;
	static const char *const rows[] = { "now+999999999weeks", "now-121010101w", "now-60weeks" };
	usec_t when = 77;
	struct error err = {};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(date_parse(rows[i], clock_now(), &when, &err), -ERANGE);
		assert_int_equal(when, 77);
	}
	assert_string_equal(err.text, "time 'now-121010101w' is too far away");
	assert_int_equal(date_parse(rows[2], clock_now(), &when, &err), 0);
	assert_int_equal(date_parse(rows[2], USEC_PER_DAY, &when, &err), -ERANGE); /* before 1970 */
}

static void errors_say_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "12:00 xyz",
		  "time '12:00 xyz': cannot read 'xyz', want YYYY-MM-DD[THH:MM[:SS]], MM/DD[/YY], "
		  "HH:MM[:SS], now+1hour, today, tomorrow or the like" },
		{ "02/30", "time '02/30': there is no month 2 with a day 30 at '02/30'" },
		{ "25:00", "time '25:00': a day has no 25:00:00" },
		{ "now+1fortnight",
		  "time 'now+1fortnight': 'fortnight' is no unit, want seconds, minutes, hours, days or weeks" },
		{ "13:00PM", "time '13:00PM': AM and PM follow hours from 1 to 12, unlike 13" },
		{ "noon 12:00", "time 'noon 12:00': a second time of day at '12:00'" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		usec_t when;
		struct error err = {};
		assert_int_equal(date_parse(rows[i].text, clock_now(), &when, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].message);
	}
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	uint64_t seed = 23;
	for (int round = 0; round < 5000; round++) {
		usec_t when = (usec_t)(1 + draw_below(&seed, 4000000000u)) * USEC_PER_SEC, back = 0;
		char text[DATE_TEXT], again[DATE_TEXT];
		date_print(when, text);
		assert_int_equal(date_parse(text, clock_now(), &back, NULL), 0);
		date_print(back, again); /* one hour a year has two times of one name */
		assert_string_equal(text, again);
		assert_true(back == when || back == when + USEC_PER_HOUR ||
			    back == when - USEC_PER_HOUR);
	}
}

static void prints_in_formats(void **state)
{
	(void)state;
	static const struct {
		int month, day, hour;
		const char *format, *text;
	} rows[] = {
		{ 11, 15, 9, NULL, "2026-11-15T09:00:00" },
		{ 11, 15, 9, "", "2026-11-15T09:00:00" },
		{ 11, 15, 9, "standard", "2026-11-15T09:00:00" },
		{ 11, 15, 9, "relative", "09:00:00" },
		{ 11, 16, 9, "relative", "Tomorr 09:00" },
		{ 11, 14, 9, "relative", "Ystday 09:00" },
		{ 11, 18, 9, "relative", "Wed 09:00" },
		{ 11, 24, 9, "relative", "24 Nov 09:00" },
		{ 10, 3, 9, "relative", "3 Oct 09:00" },
		{ 11, 15, 9, "%d.%m.%y", "15.11.26" },
		{ 11, 15, 9,
		  "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%"
		  "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%",
		  "2026-11-15T09:00:00" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		char text[DATE_TEXT];
		date_print_as(at(2026, rows[i].month, rows[i].day, rows[i].hour, 0, 0), clock_now(),
			      rows[i].format, text);
		assert_string_equal(text, rows[i].text);
	}
	char text[DATE_TEXT];
	date_print_as(at(2025, 12, 31, 9, 0, 0), at(2026, 1, 1, 0, 0, 0), "relative", text);
	assert_string_equal(text, "Ystday 09:00");
	date_print_as(at(2024, 12, 31, 9, 0, 0), at(2025, 1, 1, 0, 0, 0), "relative", text);
	assert_string_equal(text, "Ystday 09:00");
	date_print_as(at(2027, 3, 1, 9, 0, 0), clock_now(), "relative", text);
	assert_string_equal(text, "1 Mar 2027");
	date_print(0, text);
	assert_string_equal(text, "Unknown");
	date_print_as(0, clock_now(), "%d", text);
	assert_string_equal(text, "Unknown");
}

int main(void)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	setenv("LC_ALL", "C", 1);
	tzset();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(refuses),
		cmocka_unit_test(far_times_are_refused),
		cmocka_unit_test(errors_say_what_is_wrong),
		cmocka_unit_test(reads_what_it_prints),
		cmocka_unit_test(prints_in_formats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
