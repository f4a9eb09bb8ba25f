/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time as people write them.
 *
 * A text is `now` with a distance, or at most one date and one time of day in either order.  The
 * reader takes one token after the other: words by a table, numbers by what stands behind them (12:
 * begins a time, 12/ and 12. a date of the month, 2026-1 an ISO date, 1224 and 122426 a bare month and
 * day).  What is missing is filled in at the end: a date without a time is its midnight, a time
 * without a date is the next one from `now`, a month and day that are over are next year's.
 *
 * All arithmetic on days goes through mktime, which knows the length of months and the days on which
 * clocks change. */
#include "text/date.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { QUOTE_MAX = 80, YEAR_MIN = 1970, YEAR_MAX = 9999 };

#define WHEN_MAX (253402300799 * USEC_PER_SEC) /* the end of that year */

struct reader {
	const char *text, *at;
	struct error *err;
	struct tm now;
	bool has_date, has_time, has_year;
	int year, month, day;
	int hour, min, sec;
};

static int refuse(const struct reader *in, const char *part)
{
	return error_set(
		in->err, -EINVAL,
		"time '%.*s': cannot read '%.*s', want YYYY-MM-DD[THH:MM[:SS]], MM/DD[/YY], "
		"HH:MM[:SS], now+1hour, today, tomorrow or the like",
		QUOTE_MAX, in->text, QUOTE_MAX, part);
}

/* Up to `digits` digits; false when there is none, or one more. */
static bool take_int(const char **at, int digits, int *ret)
{
	const char *s = *at;
	int v = 0;
	while (isdigit((unsigned char)*s) && s - *at < digits)
		v = v * 10 + (*s++ - '0');
	if (s == *at || isdigit((unsigned char)*s))
		return false;
	*at = s;
	*ret = v;
	return true;
}

static size_t span_of(const char *s, int (*is)(int))
{
	size_t n = 0;
	while (s[n] && is((unsigned char)s[n]))
		n++;
	return n;
}

/* ---- now and a distance ----------------------------------------------------------------------------- */

static int parse_unit(const char *s, usec_t *ret)
{
	static const struct {
		const char *name;
		usec_t span;
	} units[] = {
		{ "seconds", USEC_PER_SEC },   { "minutes", USEC_PER_MIN },
		{ "hours", USEC_PER_HOUR },    { "days", USEC_PER_DAY },
		{ "weeks", 7 * USEC_PER_DAY },
	};
	*ret = USEC_PER_SEC;
	if (*s == '\0')
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
		if (strncasecmp(s, units[i].name, strlen(s)) == 0) {
			*ret = units[i].span;
			return 0;
		}
	}
	return -EINVAL;
}

/* Behind "now": nothing, or a sign, a number and a unit of which any beginning will do. */
static int parse_now(struct reader *in, usec_t now, usec_t *ret)
{
	const char *s = in->at + strspn(in->at, " \t");
	int number;
	usec_t unit;
	if (*s == '\0') {
		*ret = now;
		return 0;
	}
	bool is_before = *s == '-';
	if (*s != '+' && *s != '-')
		return refuse(in, s);
	const char *n = s + 1 + strspn(s + 1, " \t");
	if (!take_int(&n, 9, &number))
		return refuse(in, s);
	n += strspn(n, " \t");
	if (parse_unit(n, &unit) < 0)
		return error_set(
			in->err, -EINVAL,
			"time '%.*s': '%.*s' is no unit, want seconds, minutes, hours, days or weeks",
			QUOTE_MAX, in->text, QUOTE_MAX, n);
	usec_t distance, when;
	if (__builtin_mul_overflow(number, unit, &distance) ||
	    __builtin_add_overflow(now, is_before ? -distance : distance, &when) || when < 0 ||
	    when > WHEN_MAX)
		return error_set(in->err, -ERANGE, "time '%.*s' is too far away", QUOTE_MAX,
				 in->text);
	*ret = when;
	return 0;
}

/* ---- dates and times of day ------------------------------------------------------------------------- */

static int set_date(struct reader *in, const char *token, int year, int month, int day)
{
	static const int longest[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	if (in->has_date)
		return error_set(in->err, -EINVAL, "time '%.*s': a second date at '%.*s'",
				 QUOTE_MAX, in->text, QUOTE_MAX, token);
	bool is_leap = year < 0 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
	if (month < 1 || month > 12 || day < 1 || day > longest[month - 1] ||
	    (month == 2 && day == 29 && !is_leap))
		return error_set(in->err, -EINVAL,
				 "time '%.*s': there is no month %d with a day %d at '%.*s'",
				 QUOTE_MAX, in->text, month, day, QUOTE_MAX, token);
	if (year >= 0 && (year < YEAR_MIN || year > YEAR_MAX))
		return refuse(in, token);
	in->has_date = true;
	in->has_year = year >= 0;
	in->year = year;
	in->month = month;
	in->day = day;
	return 0;
}

static int set_time(struct reader *in, const char *token, int hour, int min, int sec)
{
	if (in->has_time)
		return error_set(in->err, -EINVAL, "time '%.*s': a second time of day at '%.*s'",
				 QUOTE_MAX, in->text, QUOTE_MAX, token);
	if (hour > 23 || min > 59 || sec > 59)
		return error_set(in->err, -EINVAL, "time '%.*s': a day has no %02d:%02d:%02d",
				 QUOTE_MAX, in->text, hour, min, sec);
	in->has_time = true;
	in->hour = hour;
	in->min = min;
	in->sec = sec;
	return 0;
}

/* AM or PM at `s` behind blanks: the hour it makes of `hour`.  Nothing there leaves it alone. */
static int apply_half(struct reader *in, int *hour)
{
	const char *s = in->at + strspn(in->at, " \t");
	bool is_am = str_istarts(s, "am"), is_pm = str_istarts(s, "pm");
	if (!is_am && !is_pm)
		return 0;
	if (*hour < 1 || *hour > 12)
		return error_set(in->err, -EINVAL,
				 "time '%.*s': AM and PM follow hours from 1 to 12, unlike %d",
				 QUOTE_MAX, in->text, *hour);
	*hour = *hour % 12 + (is_pm ? 12 : 0);
	in->at = s + 2;
	return 1;
}

static int parse_time(struct reader *in)
{
	const char *token = in->at;
	int hour, min, sec = 0;
	if (!take_int(&in->at, 2, &hour) || *in->at++ != ':' || !take_int(&in->at, 2, &min))
		return refuse(in, token);
	if (*in->at == ':') {
		in->at++;
		if (!take_int(&in->at, 2, &sec))
			return refuse(in, token);
	}
	int r = apply_half(in, &hour);
	return r < 0 ? r : set_time(in, token, hour, min, sec);
}

/* MM/DD[/YY] with either mark; the year may have four digits too. */
static int parse_marked_date(struct reader *in, char mark)
{
	const char *token = in->at;
	int month, day, year = -1;
	if (!take_int(&in->at, 2, &month) || *in->at++ != mark || !take_int(&in->at, 2, &day))
		return refuse(in, token);
	if (*in->at == mark) {
		const char *start = ++in->at;
		if (!take_int(&in->at, 4, &year) || (in->at - start != 2 && in->at - start != 4))
			return refuse(in, token);
		if (in->at - start == 2)
			year += 2000;
	}
	return set_date(in, token, year, month, day);
}

static int parse_iso_date(struct reader *in)
{
	const char *token = in->at;
	int year, month, day;
	if (!take_int(&in->at, 4, &year) || *in->at++ != '-' || !take_int(&in->at, 2, &month) ||
	    *in->at++ != '-' || !take_int(&in->at, 2, &day))
		return refuse(in, token);
	return set_date(in, token, year, month, day);
}

/* MMDD or MMDDYY. */
static int parse_bare_date(struct reader *in, size_t digits)
{
	const char *token = in->at;
	int v;
	if (!take_int(&in->at, 6, &v))
		return refuse(in, token);
	if (digits == 6)
		return set_date(in, token, 2000 + v % 100, v / 10000, v / 100 % 100);
	return set_date(in, token, -1, v / 100, v % 100);
}

/* 4PM */
static int parse_hour(struct reader *in)
{
	const char *token = in->at;
	int hour;
	if (!take_int(&in->at, 2, &hour))
		return refuse(in, token);
	int r = apply_half(in, &hour);
	if (r == 0)
		return refuse(in, token);
	return r < 0 ? r : set_time(in, token, hour, 0, 0);
}

static bool is_iso_date(const char *s)
{
	size_t month = span_of(s, isdigit) + 1;
	return month == 5 && s[4] == '-' && isdigit((unsigned char)s[5]) &&
	       s[5 + span_of(s + 5, isdigit)] == '-' &&
	       isdigit((unsigned char)s[6 + span_of(s + 5, isdigit)]);
}

static int parse_number(struct reader *in)
{
	size_t digits = span_of(in->at, isdigit);
	char behind = in->at[digits];
	if (behind == ':')
		return parse_time(in);
	if (behind == '/' || behind == '.')
		return parse_marked_date(in, behind);
	if (is_iso_date(in->at))
		return parse_iso_date(in);
	if (digits == 4 || digits == 6)
		return parse_bare_date(in, digits);
	return parse_hour(in);
}

/* Today with `days` added, as a date. */
static int set_day(struct reader *in, const char *token, int days)
{
	struct tm tm = in->now;
	tm.tm_mday += days;
	tm.tm_hour = 12; /* away from the hours at which clocks change */
	tm.tm_isdst = -1;
	mktime(&tm);
	return set_date(in, token, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static int parse_word(struct reader *in)
{
	static const struct {
		const char *name;
		int hour;
	} hours[] = { { "midnight", 0 },
		      { "noon", 12 },
		      { "elevenses", 11 },
		      { "fika", 15 },
		      { "teatime", 16 } };
	const char *token = in->at;
	size_t len = span_of(token, isalpha);
	in->at += len;
	if (len == strlen("today") && strncasecmp(token, "today", len) == 0)
		return set_day(in, token, 0);
	if (len == strlen("tomorrow") && strncasecmp(token, "tomorrow", len) == 0)
		return set_day(in, token, 1);
	for (size_t i = 0; i < ARRAY_COUNT(hours); i++)
		if (len == strlen(hours[i].name) && strncasecmp(token, hours[i].name, len) == 0)
			return set_time(in, token, hours[i].hour, 0, 0);
	return refuse(in, token);
}

static int parse_tokens(struct reader *in)
{
	bool is_first = true;
	for (in->at += strspn(in->at, " \t"); *in->at; in->at += strspn(in->at, " \t")) {
		if (!is_first && (*in->at == '-' || ((*in->at == 'T' || *in->at == 't') &&
						     isdigit((unsigned char)in->at[1]))))
			in->at++;
		is_first = false;
		int r;
		if (isdigit((unsigned char)*in->at))
			r = parse_number(in);
		else if (isalpha((unsigned char)*in->at))
			r = parse_word(in);
		else
			r = refuse(in, in->at);
		if (r < 0)
			return r;
	}
	return is_first ? refuse(in, in->at) : 0;
}

/* Fills in what was not said. */
static void complete(struct reader *in)
{
	const struct tm *now = &in->now;
	int today = (now->tm_mon + 1) * 100 + now->tm_mday;
	if (in->has_date && !in->has_year)
		in->year = now->tm_year + 1900 + (in->month * 100 + in->day < today);
	if (in->has_date)
		return;
	int clock_now = now->tm_hour * 3600 + now->tm_min * 60 + now->tm_sec;
	bool has_passed = in->hour * 3600 + in->min * 60 + in->sec < clock_now;
	in->year = now->tm_year + 1900;
	in->month = now->tm_mon + 1;
	in->day = now->tm_mday + has_passed; /* mktime carries it over the end of the month */
}

static struct tm local_time(usec_t when)
{
	usec_t sec = when / USEC_PER_SEC - (when % USEC_PER_SEC < 0);
	time_t t = (time_t)sec;
	struct tm tm = {};
	localtime_r(&t, &tm);
	return tm;
}

int date_parse(const char *text, usec_t now, usec_t *ret, struct error *err)
{
	struct reader in = {
		.text = text, .at = text + strspn(text, " \t"), .err = err, .now = local_time(now)
	};
	if (str_istarts(in.at, "now") && !isalpha((unsigned char)in.at[3])) {
		in.at += 3;
		return parse_now(&in, now, ret);
	}
	int r = parse_tokens(&in);
	if (r < 0)
		return r;
	complete(&in);
	struct tm tm = {
		.tm_year = in.year - 1900,
		.tm_mon = in.month - 1,
		.tm_mday = in.day,
		.tm_hour = in.hour,
		.tm_min = in.min,
		.tm_sec = in.sec,
		.tm_isdst = -1,
	};
	*ret = (usec_t)mktime(&tm) * USEC_PER_SEC;
	return 0;
}

/* ---- print ------------------------------------------------------------------------------------------ */

void date_print(usec_t when, char ret[DATE_TEXT])
{
	struct tm tm = local_time(when);
	if (when == 0)
		snprintf(ret, DATE_TEXT, "Unknown");
	else
		strftime(ret, DATE_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
}

/* A number that grows by one from day to day; only differences of near days are meant. */
static int day_number(const struct tm *tm)
{
	int years = tm->tm_year - 1; /* whole years before this one */
	return tm->tm_year * 365 + years / 4 + tm->tm_yday;
}

/* The shortest that tells near times apart; wide columns are what it is meant to spare. */
static const char *relative_format(const struct tm *when, const struct tm *now)
{
	int days = day_number(when) - day_number(now);
	if (days == 0)
		return "%H:%M:%S";
	if (days == 1)
		return "Tomorr %H:%M";
	if (days == -1)
		return "Ystday %H:%M";
	if (days > 0 && days < 7)
		return "%a %H:%M";
	return when->tm_year == now->tm_year ? "%-d %b %H:%M" : "%-d %b %Y";
}

void date_print_as(usec_t when, usec_t now, const char *format, char ret[DATE_TEXT])
{
	if (when == 0 || str_empty(format) || str_ieq(format, "standard")) {
		date_print(when, ret);
		return;
	}
	struct tm tm = local_time(when), today = local_time(now);
	if (str_ieq(format, "relative"))
		format = relative_format(&tm, &today);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (strftime(ret, DATE_TEXT, format, &tm) == 0) /* too long, or nothing at all */
		date_print(when, ret);
#pragma GCC diagnostic pop
}
