/* SPDX-License-Identifier: Apache-2.0 */
/* Generic resources.  An entry is read as Slurm reads it, from behind: the last field is the count if
 * it is a number and the type otherwise, what stands between it and the name is the type.  Slurm then
 * accepts some orders by accident and refuses the others with a word about TRES; here everything but
 * name[:type][:count] is refused, with the request as it was probably meant. */
#include "text/gres.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "text/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { FIELDS_MAX = 8, QUOTE_MAX = 80, ENTRIES_MAX = 1024 };

/* The fields of one entry, `name` at 0. */
struct entry {
	const char *text; /* as written, for messages */
	char *fields[FIELDS_MAX];
	size_t count;
	bool has_equals; /* `=` stood before the last field */
	bool is_counts;  /* the name was not written: --gpus=type:count */
};

typedef VEC(struct gres_spec) spec_vec;

bool gres_is_shared(const char *name)
{
	return str_eq(name, "mps") || str_eq(name, "shard");
}

static bool is_word(const char *s)
{
	if (*s == '\0')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-+", *s))
			return false;
	return true;
}

static bool is_count(const char *s)
{
	uint64_t ignored;
	int e = count_parse(s, &ignored, NULL);
	return e == 0 || e == -ERANGE;
}

static const char *order_of(const struct entry *e)
{
	return e->is_counts ? "type:count" : "name:type:count";
}

/* The entry in the right order: words joined to one type, the first number as the count. */
static char *suggest(const struct entry *e, struct arena *a)
{
	AUTO_BUF struct buf out = {};
	const char *count = NULL;
	const char *joint = e->is_counts ? "" : ":";
	if (!e->is_counts)
		buf_puts(&out, e->fields[0]);
	for (size_t i = 1; i < e->count; i++) {
		if (!count && is_count(e->fields[i])) {
			count = e->fields[i];
		} else {
			buf_printf(&out, "%s%s", joint, e->fields[i]);
			joint = "_";
		}
	}
	if (count)
		buf_printf(&out, ":%s", count);
	return arena_strdup(a, buf_text(&out));
}

static int refuse_order(const struct entry *e, struct arena *a, struct error *err)
{
	return error_set(err, -EINVAL, "gres '%.*s': the order is %s, try '%.*s'", QUOTE_MAX,
			 e->text, order_of(e), QUOTE_MAX, suggest(e, a));
}

static int split(char *text, struct entry *ret, struct error *err)
{
	ret->count = 0;
	for (char *at = text;;) {
		if (ret->count == FIELDS_MAX)
			return error_set(err, -EINVAL, "gres '%.*s': the order is %s", QUOTE_MAX,
					 ret->text, order_of(ret));
		ret->fields[ret->count++] = at;
		at += strcspn(at, ":=");
		if (*at == '\0')
			return 0;
		if (ret->has_equals)
			return error_set(err, -EINVAL, "gres '%.*s': only a count stands after '='",
					 QUOTE_MAX, ret->text);
		ret->has_equals = *at == '=';
		*at++ = '\0';
	}
}

/* What is wrong with the words and numbers of an entry, their places apart. */
static int check_fields(const struct entry *e, struct error *err)
{
	for (size_t i = 0; i < e->count; i++) {
		if (*e->fields[i] == '\0')
			return error_set(err, -EINVAL, "gres '%.*s': %s is missing, want %s",
					 QUOTE_MAX, e->text,
					 i == 0 ? "the name" : "a type or a count",
					 e->is_counts ? "[type:]count" : "name[:type][:count]");
		if (!is_word(e->fields[i]))
			return error_set(err, -EINVAL,
					 "gres '%.*s': '%.*s' is no name, type or count", QUOTE_MAX,
					 e->text, QUOTE_MAX, e->fields[i]);
	}
	return 0;
}

static int parse_entry(struct entry *e, struct arena *a, struct gres_spec *ret, struct error *err)
{
	int r = check_fields(e, err);
	if (r < 0)
		return r;
	if (!e->is_counts && (is_count(e->fields[0]) || str_ieq(e->fields[0], "gres")))
		return error_set(err, -EINVAL,
				 "gres '%.*s': the name is missing, want name[:type][:count]",
				 QUOTE_MAX, e->text);
	size_t left = e->count;
	uint64_t count = 1;
	const char *last = e->fields[left - 1];
	if (left > 1 && (e->has_equals || is_count(last))) {
		r = count_parse(last, &count, err);
		if (r < 0)
			return error_wrap(err, r, "gres '%.*s'", QUOTE_MAX, e->text);
		left--;
	}
	if (left > 2)
		return refuse_order(e, a, err);
	*ret = (struct gres_spec) {
		.name = arena_strdup(a, e->fields[0]),
		.type = left == 2 ? arena_strdup(a, e->fields[1]) : NULL,
		.count = count,
	};
	return 0;
}

/* Every entry of the comma list; `name` is put in front of each when it is not NULL. */
static int parse_list(const char *text, const char *name, struct arena *a, spec_vec *specs,
		      struct error *err)
{
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		char *written = arena_strndup(a, at, len), *entry = written;
		if (name)
			entry = arena_printf(a, "%s:%s", name, written);
		else if (str_istarts(entry, "gres/") || str_istarts(entry, "gres:"))
			entry += 5;
		struct entry e = { .text = written, .is_counts = name != NULL };
		struct gres_spec spec;
		int r = split(arena_strdup(a, entry), &e, err);
		if (r == 0)
			r = parse_entry(&e, a, &spec, err);
		if (r == 0 && name && spec.type && str_ieq(spec.type, name))
			r = error_set(err, -EINVAL, "'%.*s': leave '%s:' away, want [type:]count",
				      QUOTE_MAX, written, spec.type);
		if (r < 0)
			return r;
		if (specs->count == ENTRIES_MAX)
			return error_set(err, -E2BIG, "gres '%.*s...': more than %d entries",
					 QUOTE_MAX, text, ENTRIES_MAX);
		if (spec.count > 0)
			vec_push(specs, spec);
		at += len;
		if (*at == '\0')
			return 0;
	}
}

static int parse(const char *text, const char *name, struct arena *a, struct gres_spec **ret,
		 uint32_t *ret_count, struct error *err)
{
	spec_vec specs = {};
	int r = 0;
	if (*text && !str_ieq(text, "none"))
		r = parse_list(text, name, a, &specs, err);
	if (r == 0) {
		*ret = arena_dup(a, specs.at, specs.count * sizeof(*specs.at));
		*ret_count = (uint32_t)specs.count;
	}
	vec_done(&specs);
	return r;
}

int gres_parse(const char *text, struct arena *a, struct gres_spec **ret, uint32_t *ret_count,
	       struct error *err)
{
	return parse(text, NULL, a, ret, ret_count, err);
}

int gres_parse_counts(const char *text, const char *name, struct arena *a, struct gres_spec **ret,
		      uint32_t *ret_count, struct error *err)
{
	return parse(text, name, a, ret, ret_count, err);
}

void gres_print(const struct gres_spec *g, const char *prefix, struct buf *out)
{
	buf_printf(out, "%s%s", prefix, g->name);
	if (g->type)
		buf_printf(out, ":%s", g->type);
	buf_printf(out, ":%llu", (unsigned long long)g->count);
}
