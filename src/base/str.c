/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

bool str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_ieq(const char *a, const char *b)
{
	return a == b || (a && b && strcasecmp(a, b) == 0);
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_istarts(const char *s, const char *prefix)
{
	return strncasecmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && strcmp(s + n - m, suffix) == 0;
}

bool str_empty(const char *s)
{
	return !s || !*s;
}

char *str_trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	char *end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

int str_to_u64(const char *s, uint64_t *ret)
{
	if (!s || !isdigit((unsigned char)*s))
		return -EINVAL;
	uint64_t v = 0;
	for (; *s; s++) {
		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		uint64_t digit = (uint64_t)(*s - '0');
		if (v > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		v = v * 10 + digit;
	}
	*ret = v;
	return 0;
}

int str_to_u32(const char *s, uint32_t *ret)
{
	uint64_t v;
	int r = str_to_u64(s, &v);
	if (r < 0)
		return r;
	if (v > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)v;
	return 0;
}

int str_to_i64(const char *s, int64_t *ret)
{
	bool negative = s && *s == '-';
	uint64_t v;
	int r = str_to_u64(negative ? s + 1 : s, &v);
	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX)
		return -ERANGE;
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

unsigned str_distance(const char *a, const char *b, unsigned limit)
{
	enum { WORD_MAX = 64 };
	size_t n = strlen(a), m = strlen(b);
	if (n >= WORD_MAX || m >= WORD_MAX)
		return limit;
	unsigned row[WORD_MAX];
	for (unsigned j = 0; j <= m; j++)
		row[j] = j;
	for (unsigned i = 1; i <= n; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= m; j++) {
			unsigned swap = diagonal + (tolower((unsigned char)a[i - 1]) !=
						    tolower((unsigned char)b[j - 1]));
			unsigned edit = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			diagonal = row[j];
			row[j] = swap < edit ? swap : edit;
		}
	}
	return row[m] < limit ? row[m] : limit;
}

const char *str_closest(const char *word, const char *const *candidates, size_t count)
{
	unsigned best = (unsigned)(strlen(word) / 3 + 2); /* farther than this is another word */
	const char *found = NULL;
	for (size_t i = 0; i < count; i++) {
		unsigned d = str_distance(word, candidates[i], best);
		if (d < best) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}
