/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of equal numbers.  The parser bounds what a short text can grow to. */
#include "text/counts.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { TOTAL_MAX = 1 << 20, QUOTE_MAX = 80 };

void counts_print(const uint32_t *values, uint32_t count, struct buf *out)
{
	for (uint32_t i = 0; i < count;) {
		uint32_t n = 1;
		while (i + n < count && values[i + n] == values[i])
			n++;
		buf_printf(out, i ? ",%u" : "%u", values[i]);
		if (n > 1)
			buf_printf(out, "(x%u)", n);
		i += n;
	}
}

static bool take_u32(const char **at, uint32_t *ret)
{
	uint64_t v = 0;
	const char *s = *at;
	for (; isdigit((unsigned char)*s); s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT32_MAX)
			return false;
	}
	bool found = s > *at;
	*at = s;
	*ret = (uint32_t)v;
	return found;
}

/* One `value` or `value(xtimes)`, up to a comma or the end. */
static bool take_run(const char **at, uint32_t *ret_value, uint32_t *ret_times)
{
	*ret_times = 1;
	if (!take_u32(at, ret_value))
		return false;
	if (**at == '(') {
		(*at)++;
		if (**at != 'x')
			return false;
		(*at)++;
		if (!take_u32(at, ret_times) || *ret_times == 0 || **at != ')')
			return false;
		(*at)++;
	}
	return **at == ',' || **at == '\0';
}

int counts_parse(const char *text, struct arena *a, uint32_t **ret, uint32_t *ret_count,
		 struct error *err)
{
	VEC(uint32_t) values = {};
	int e = 0;
	for (const char *at = text; *text && e == 0;) {
		uint32_t value, times;
		const char *run = at;
		if (!take_run(&at, &value, &times))
			e = error_set(
				err, -EINVAL,
				"counts '%.*s': want numbers as in 72(x2),36 instead of '%.*s'",
				QUOTE_MAX, text, (int)strcspn(run, ","), run);
		else if (times > TOTAL_MAX - values.count)
			e = error_set(err, -E2BIG, "counts '%.*s' stand for more than %d numbers",
				      QUOTE_MAX, text, TOTAL_MAX);
		else
			for (uint32_t i = 0; i < times; i++)
				vec_push(&values, value);
		if (e == 0 && *at++ == '\0')
			break;
	}
	if (e == 0) {
		*ret = arena_dup(a, values.at, values.count * sizeof(*values.at));
		*ret_count = (uint32_t)values.count;
	}
	vec_done(&values);
	return e;
}
