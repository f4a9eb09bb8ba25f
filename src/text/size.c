/* SPDX-License-Identifier: Apache-2.0 */
/* Memory sizes and counts: a decimal number and a letter that stands for a power of 1024.
 *
 * Sizes print as Slurm prints them: the unit grows while the value stays a whole number of halves of
 * it, so 64000 MiB is 62.50G but 32000 MiB stays 32000M.  Such a text is exact, and because reports
 * are pasted back into requests the parser takes the fraction too. */
#include "text/size.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { QUOTE_MAX = 80 };

#define MIB_LIMIT (1ull << 53) /* far beyond any memory, and sums of sizes do not overflow */

static const char unit_letters[] = "KMGTPE";

/* A decimal number at *at, with up to three digits of fraction as thousandths. */
static int take_number(const char **at, uint64_t *ret_whole, uint64_t *ret_thousandths)
{
	const char *s = *at;
	uint64_t whole = 0, part = 0;
	bool is_large = false;
	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (; isdigit((unsigned char)*s); s++)
		is_large |= __builtin_mul_overflow(whole, 10, &whole) ||
			    __builtin_add_overflow(whole, (uint64_t)(*s - '0'), &whole);
	if (*s == '.') {
		const char *point = s++;
		for (uint64_t weight = 100; isdigit((unsigned char)*s); s++, weight /= 10)
			part += weight * (uint64_t)(*s - '0');
		if (s - point < 2 || s - point > 4)
			return -EINVAL;
	}
	*at = s;
	*ret_whole = whole;
	*ret_thousandths = part;
	return is_large ? -ERANGE : 0;
}

/* 1 for K, 2 for M, ...; 0 for none at all; -1 for anything else.  "G", "GB" and "GiB" are one. */
static int unit_power(const char *s)
{
	if (*s == '\0')
		return 0;
	const char *letter = strchr(unit_letters, toupper((unsigned char)*s));
	if (!letter)
		return -1;
	s++;
	if (*s && strcasecmp(s, "b") != 0 && strcasecmp(s, "ib") != 0)
		return -1;
	return (int)(letter - unit_letters) + 1;
}

static int refuse_size(const char *text, int code, struct error *err)
{
	if (code == -ERANGE)
		return error_set(err, code, "size '%.*s' is too large", QUOTE_MAX, text);
	return error_set(
		err, code,
		"size '%.*s': want a number with K, M, G, T or P, or none for MiB, as in 4G",
		QUOTE_MAX, text);
}

int size_parse_mib(const char *text, uint64_t *ret_mib, struct error *err)
{
	const char *at = text;
	uint64_t whole, part;
	int r = take_number(&at, &whole, &part);
	int power = r == -EINVAL ? -1 : unit_power(at);
	if (power < 0 || (power == 0 && strchr(text, '.')))
		return refuse_size(text, -EINVAL, err);
	if (r < 0)
		return refuse_size(text, r, err);
	if (power == 0)
		power = 2;
	uint64_t mib;
	if (power == 1) {
		mib = whole / 1024 + (whole % 1024 > 0 || part > 0);
	} else {
		unsigned shift = 10 * (unsigned)(power - 2);
		if (whole >= MIB_LIMIT >> shift)
			return refuse_size(text, -ERANGE, err);
		mib = (whole << shift) + ((part << shift) + 999) / 1000;
	}
	if (mib >= MIB_LIMIT)
		return refuse_size(text, -ERANGE, err);
	*ret_mib = mib;
	return 0;
}

int count_parse(const char *text, uint64_t *ret, struct error *err)
{
	const char *at = text;
	uint64_t whole, part;
	int r = take_number(&at, &whole, &part);
	int power = r == -EINVAL ? -1 : unit_power(at);
	if (power < 0 || power > 5 || strchr(text, '.') || (power > 0 && at[1]))
		return error_set(
			err, -EINVAL,
			"count '%.*s': want a whole number, with k, m, g, t or p for powers of 1024",
			QUOTE_MAX, text);
	unsigned shift = 10 * (unsigned)power;
	if (r < 0 || (shift > 0 && whole >> (64 - shift)))
		return error_set(err, -ERANGE, "count '%.*s' is too large", QUOTE_MAX, text);
	*ret = whole << shift;
	return 0;
}

void size_print_mib(uint64_t mib, char ret[SIZE_TEXT])
{
	if (mib == 0) {
		snprintf(ret, SIZE_TEXT, "0");
		return;
	}
	const char *unit = "MGTPE";
	bool has_half = false;
	while (!has_half && unit[1] && mib >= 1024 && mib % 512 == 0) {
		has_half = mib % 1024 != 0;
		mib /= 1024;
		unit++;
	}
	snprintf(ret, SIZE_TEXT, "%llu%s%c", (unsigned long long)mib, has_half ? ".50" : "", *unit);
}
