/* SPDX-License-Identifier: Apache-2.0 */
/* Task ids of arrays.  A text is first read into ranges as they come, then sorted and joined, so that
 * what is kept is the shortest list.  A step takes ranges apart into single ids; the number of those
 * is bounded by the ids that can exist, whatever the text repeats. */
#include "text/idset.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { QUOTE_MAX = 80, REPEATS_MAX = 1024 };

struct reader {
	const char *text; /* the whole, for messages */
	uint32_t id_max;
	struct error *err;
	VEC(struct idset_range) ranges;
};

static int refuse(const struct reader *in, const char *part, size_t len)
{
	return error_set(in->err, -EINVAL,
			 "array '%.*s': want ids as in 0-15:4,20%%4 instead of '%.*s'", QUOTE_MAX,
			 in->text, (int)(len < QUOTE_MAX ? len : QUOTE_MAX), part);
}

/* Numbers too large for 32 bits become UINT32_MAX, which no array may use. */
static bool take_u32(const char **at, uint32_t *ret)
{
	const char *s = *at;
	uint64_t v = 0;
	for (; isdigit((unsigned char)*s); s++)
		v = v >= UINT32_MAX ? UINT32_MAX : v * 10 + (uint64_t)(*s - '0');
	bool found = s > *at;
	*at = s;
	*ret = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
	return found;
}

static int add_stepped(struct reader *in, uint32_t first, uint32_t last, uint32_t step)
{
	if (step == 1) {
		vec_push(&in->ranges, (struct idset_range) { first, last });
		return 0;
	}
	for (uint64_t id = first; id <= last; id += step) {
		if (in->ranges.count >= (size_t)in->id_max + REPEATS_MAX)
			return error_set(in->err, -E2BIG,
					 "array '%.*s' names the same ids too often", QUOTE_MAX,
					 in->text);
		vec_push(&in->ranges, (struct idset_range) { (uint32_t)id, (uint32_t)id });
	}
	return 0;
}

/* first[-last[:step]], which ends at `end`. */
static int parse_range(struct reader *in, const char *text, const char *end)
{
	const char *at = text;
	size_t len = (size_t)(end - text);
	uint32_t first, last, step = 1;
	if (!take_u32(&at, &first))
		return refuse(in, text, len);
	last = first;
	if (*at == '-') {
		at++;
		if (!take_u32(&at, &last))
			return refuse(in, text, len);
		if (*at == ':') {
			at++;
			if (!take_u32(&at, &step) || step == 0)
				return refuse(in, text, len);
		}
	}
	if (at != end)
		return refuse(in, text, len);
	if (last < first)
		return error_set(in->err, -EINVAL,
				 "array '%.*s': range '%.*s' counts down, write '%u-%u'", QUOTE_MAX,
				 in->text, (int)(len < QUOTE_MAX ? len : QUOTE_MAX), text, last,
				 first);
	if (last >= in->id_max)
		return error_set(
			in->err, -ERANGE,
			"array '%.*s': ids are below %u (MaxArraySize), unlike those of '%.*s'",
			QUOTE_MAX, in->text, in->id_max, (int)(len < QUOTE_MAX ? len : QUOTE_MAX),
			text);
	return add_stepped(in, first, last, step);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct idset_range *x = a, *y = b;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Joins ranges that overlap or touch. */
static void normalise(struct reader *in)
{
	struct idset_range *r = in->ranges.at;
	size_t kept = 0;
	qsort(r, in->ranges.count, sizeof(*r), compare_ranges);
	for (size_t i = 1; i < in->ranges.count; i++) {
		if (r[i].first > r[kept].last + 1)
			r[++kept] = r[i];
		else if (r[i].last > r[kept].last)
			r[kept].last = r[i].last;
	}
	in->ranges.count = kept + 1;
}

/* The distance that all neighbours have, or 1. */
static uint32_t common_step(const struct idset_range *r, uint32_t count)
{
	if (count < 2)
		return 1;
	uint32_t step = r[1].first - r[0].first;
	for (uint32_t i = 0; i < count; i++)
		if (r[i].first != r[i].last || (i > 0 && r[i].first - r[i - 1].first != step))
			return 1;
	return step;
}

static int parse_limit(const struct reader *in, const char *text, uint32_t *ret)
{
	const char *at = text;
	if (!take_u32(&at, ret) || *at || *ret == UINT32_MAX)
		return error_set(
			in->err, -EINVAL,
			"array '%.*s': want the number of tasks to run at once after '%%' instead of '%.*s'",
			QUOTE_MAX, in->text, QUOTE_MAX, text);
	return 0;
}

int array_parse(const char *text, uint32_t id_max, struct arena *a, struct array_spec *ret,
		struct error *err)
{
	struct reader in = { .text = text, .id_max = id_max, .err = err };
	uint32_t limit = 0;
	const char *at = text, *end;
	int e;
	do {
		end = at + strcspn(at, ",%");
		e = parse_range(&in, at, end);
		at = end + 1;
	} while (e == 0 && *end == ',');
	if (e == 0 && *end == '%')
		e = parse_limit(&in, at, &limit);
	if (e == 0) {
		normalise(&in);
		uint32_t count = (uint32_t)in.ranges.count;
		struct idset_range *ranges = arena_dup(a, in.ranges.at, count * sizeof(*ranges));
		*ret = (struct array_spec) {
			.ids = { ranges, count },
			.total = (uint32_t)idset_total(ranges, count),
			.min = ranges[0].first,
			.max = ranges[count - 1].last,
			.step = common_step(ranges, count),
			.limit = limit,
		};
	}
	vec_done(&in.ranges);
	return e;
}

/* Cuts what was printed from `start` on behind its last whole range that leaves room for ",...". */
static void shorten(struct buf *out, size_t start, uint32_t text_max)
{
	size_t at = text_max < 4 ? 0 : text_max - 4;
	while (at > 0 && out->data[start + at] != ',')
		at--;
	out->len = start + at;
	buf_puts(out, at ? ",..." : "...");
}

void idset_print(const struct idset_range *ranges, uint32_t count, uint32_t text_max,
		 struct buf *out)
{
	size_t start = out->len;
	uint32_t step = count > 2 ? common_step(ranges, count) : 1;
	if (step > 1) {
		buf_printf(out, "%u-%u:%u", ranges[0].first, ranges[count - 1].last, step);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct idset_range *r = &ranges[i];
		buf_printf(out, i ? ",%u" : "%u", r->first);
		if (r->last > r->first)
			buf_printf(out, "-%u", r->last);
		if (text_max && out->len - start > text_max) {
			shorten(out, start, text_max);
			return;
		}
	}
}

uint64_t idset_total(const struct idset_range *ranges, uint32_t count)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		total += (uint64_t)ranges[i].last - ranges[i].first + 1;
	return total;
}

bool idset_has(const struct idset_range *ranges, uint32_t count, uint32_t id)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (ranges[mid].last < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < count && ranges[low].first <= id;
}
