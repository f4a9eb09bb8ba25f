/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits and spans.  What a bare number means depends on the colons behind it: 90 is minutes,
 * 1:30 is minutes and seconds, 1:30:00 begins with hours, and after days the hours come first. */
#include "text/duration.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { QUOTE_MAX = 80, FIELDS_MAX = 3 };

/* Slurm keeps limits as 32 bits of minutes with the top two values taken. */
#define LIMIT_MAX ((usec_t)(UINT32_MAX - 2) * USEC_PER_MIN)

static int refuse(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "time limit '%.*s': want minutes, minutes:seconds, hours:minutes:seconds, "
			 "days-hours[:minutes[:seconds]] or UNLIMITED",
			 QUOTE_MAX, text);
}

/* At most nine digits, so that sums of fields cannot overflow. */
static bool take_field(const char **at, usec_t *ret)
{
	const char *s = *at;
	usec_t v = 0;
	for (; isdigit((unsigned char)*s) && s - *at < 10; s++)
		v = v * 10 + (*s - '0');
	if (s == *at || s - *at > 9)
		return false;
	*at = s;
	*ret = v;
	return true;
}

static bool take_fields(const char *at, usec_t ret[FIELDS_MAX], int *ret_count)
{
	int count = 0;
	do {
		if (count == FIELDS_MAX || !take_field(&at, &ret[count++]))
			return false;
	} while (*at++ == ':');
	*ret_count = count;
	return at[-1] == '\0';
}

static bool is_unlimited(const char *text)
{
	return str_ieq(text, "unlimited") || str_ieq(text, "infinite") || str_eq(text, "-1");
}

static int parse_seconds(const char *text, usec_t *ret_sec, struct error *err)
{
	const char *at = text;
	usec_t days = 0, f[FIELDS_MAX] = {};
	int count;
	bool has_days = strchr(text, '-') != NULL;
	if (has_days && (!take_field(&at, &days) || *at++ != '-'))
		return refuse(text, err);
	if (!take_fields(at, f, &count))
		return refuse(text, err);
	usec_t sec;
	if (has_days || count == 3)
		sec = f[0] * 3600 + f[1] * 60 + f[2];
	else
		sec = f[0] * 60 + f[1];
	*ret_sec = days * 86400 + sec;
	if ((*ret_sec + 59) / 60 > LIMIT_MAX / USEC_PER_MIN)
		return error_set(err, -ERANGE,
				 "time limit '%.*s' is too long, use UNLIMITED for none", QUOTE_MAX,
				 text);
	return 0;
}

int duration_parse_limit(const char *text, usec_t *ret, struct error *err)
{
	usec_t sec = 0;
	int r = is_unlimited(text) ? 0 : parse_seconds(text, &sec, err);
	if (r < 0)
		return r;
	*ret = is_unlimited(text) ? DURATION_UNLIMITED : (sec + 59) / 60 * USEC_PER_MIN;
	return 0;
}

int duration_parse_wait(const char *text, usec_t *ret, struct error *err)
{
	usec_t sec = 0;
	int r = is_unlimited(text) ? 0 : parse_seconds(text, &sec, err);
	if (r < 0)
		return r;
	*ret = is_unlimited(text) ? DURATION_FOREVER : sec * USEC_PER_SEC;
	return 0;
}

struct clock_fields {
	long long day;
	int hour, min, sec;
};

static struct clock_fields split(usec_t span)
{
	long long sec = span / USEC_PER_SEC;
	return (struct clock_fields) { sec / 86400, (int)(sec / 3600 % 24), (int)(sec / 60 % 60),
				       (int)(sec % 60) };
}

void duration_print(usec_t span, char ret[DURATION_TEXT])
{
	struct clock_fields f = split(span);
	if (span < 0 || f.day)
		duration_print_long(span, ret);
	else if (f.hour)
		snprintf(ret, DURATION_TEXT, "%d:%02d:%02d", f.hour, f.min, f.sec);
	else
		snprintf(ret, DURATION_TEXT, "%d:%02d", f.min, f.sec);
}

void duration_print_long(usec_t span, char ret[DURATION_TEXT])
{
	struct clock_fields f = split(span);
	if (span < 0)
		snprintf(ret, DURATION_TEXT, "INVALID");
	else if (f.day)
		snprintf(ret, DURATION_TEXT, "%lld-%02d:%02d:%02d", f.day, f.hour, f.min, f.sec);
	else
		snprintf(ret, DURATION_TEXT, "%02d:%02d:%02d", f.hour, f.min, f.sec);
}
