/* SPDX-License-Identifier: Apache-2.0 */
#include "text/licenses.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { QUOTE_MAX = 80, LICENSES_MAX = 256 };

static bool is_name(const char *s)
{
	if (*s == '\0')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-+@/", *s))
			return false;
	return true;
}

/* name[:count] in place. */
static int parse_entry(char *entry, bool totals, struct license_spec *ret, struct error *err)
{
	const char *written = entry;
	char *colon = strchr(entry, ':');
	*ret = (struct license_spec){ .name = entry, .count = 1 };
	if (colon) {
		*colon = '\0';
		int e = str_to_u64(colon + 1, &ret->count);
		if (e < 0 || ret->count > INT32_MAX)
			return error_set(err, -EINVAL, "license '%.*s': '%.*s' is no count, want name:count",
					 QUOTE_MAX, written, QUOTE_MAX, colon + 1);
	}
	if (!is_name(entry))
		return error_set(err, -EINVAL, "license '%.*s' is no name, want name:count", QUOTE_MAX, written);
	if (ret->count == 0 && !totals)
		return error_set(err, -EINVAL, "license '%.*s': at least 1 must be asked for", QUOTE_MAX, written);
	return 0;
}

/* A name that is given twice counts once with both counts. */
static int add(struct license_list *l, const struct license_spec *s, struct error *err)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (!str_eq(l->at[i].name, s->name))
			continue;
		if (l->any)
			return error_set(err, -EINVAL, "license '%.*s' is given twice as an alternative",
					 QUOTE_MAX, s->name);
		l->at[i].count += s->count;
		return 0;
	}
	if (l->count == LICENSES_MAX)
		return error_set(err, -E2BIG, "more than %d licenses", LICENSES_MAX);
	l->at[l->count++] = *s;
	return 0;
}

static int parse(const char *text, bool totals, struct arena *a, struct license_list *ret, struct error *err)
{
	struct license_list l = { .any = strchr(text, '|') != NULL };
	if (l.any && (totals || strchr(text, ',')))
		return error_set(err, -EINVAL,
				 totals ? "licenses '%.*s': '|' is for requests, use ','" :
					  "licenses '%.*s': ',' (all of them) and '|' (one of them) do not mix",
				 QUOTE_MAX, text);
	const char *ends = l.any ? "|" : ",";
	l.at = ARENA_ARRAY(a, struct license_spec, LICENSES_MAX);
	for (const char *p = text; *text;) {
		struct license_spec s;
		size_t len = strcspn(p, ends);
		int e = parse_entry(arena_strndup(a, p, len), totals, &s, err);
		if (e < 0 || (e = add(&l, &s, err)) < 0)
			return e;
		if (p[len] == '\0')
			break;
		p += len + 1;
	}
	*ret = l;
	return 0;
}

int licenses_parse(const char *text, struct arena *a, struct license_list *ret, struct error *err)
{
	return parse(text, false, a, ret, err);
}

int licenses_parse_totals(const char *text, struct arena *a, struct license_list *ret, struct error *err)
{
	return parse(text, true, a, ret, err);
}

void licenses_print(const struct license_list *l, struct buf *out)
{
	for (uint32_t i = 0; i < l->count; i++)
		buf_printf(out, "%s%s:%llu", i == 0 ? "" : l->any ? "|" : ",", l->at[i].name,
			   (unsigned long long)l->at[i].count);
}
