/* SPDX-License-Identifier: Apache-2.0 */
/* Reading typed values.
 *
 * value_set() picks a reader: by the row's language when it names one, by the kind of the member
 * otherwise.  A reader answers with a code only; the words for a person are put together in one
 * place, from what the row accepts, so that every refusal names the key, the value, what is wrong and
 * what would be right.
 *
 * UNLIMITED and INFINITE are absence for an optional number, and 0 where the language says so;
 * other numbers refuse them. */
#include "conf/value.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "schema/record.h"
#include "text/duration.h"
#include "text/size.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { ONEOF_MAX = 256, WORDS_MAX = 16, QUOTE_MAX = 120 };

/* A member being read. */
struct slot {
	const struct field *f;
	void *obj;
	struct arena *arena;
};

typedef int (*read_fn)(const struct slot *s, const char *text);

struct language {
	const char *name;
	read_fn read;
	const char *wrong, *right; /* right NULL: the range of the row */
};

bool field_says(const struct field *f, const char *name, const char *value)
{
	char text[32];
	return field_attr(f, name, text, sizeof(text)) && strcmp(text, value) == 0;
}

static void *member(const struct slot *s)
{
	return (char *)s->obj + s->f->offset;
}

static void set_present(const struct slot *s, bool present)
{
	if (s->f->flags & FIELD_OPTIONAL)
		*(bool *)((char *)s->obj + s->f->has_offset) = present;
}

static bool is_unlimited(const char *text)
{
	return str_ieq(text, "UNLIMITED") || str_ieq(text, "INFINITE");
}

static uint64_t upper_bound(const struct field *f)
{
	if (f->max)
		return (uint64_t)f->max;
	return f->kind == FIELD_U32 ? UINT32_MAX : UINT64_MAX;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static int store_number(const struct slot *s, uint64_t v)
{
	if (v < (uint64_t)s->f->min || v > upper_bound(s->f))
		return -ERANGE;
	if (s->f->kind == FIELD_U32)
		*(uint32_t *)member(s) = (uint32_t)v;
	else
		*(uint64_t *)member(s) = v;
	set_present(s, true);
	return 0;
}

static int read_number(const struct slot *s, const char *text)
{
	uint64_t v;
	if ((s->f->flags & FIELD_OPTIONAL) && (is_unlimited(text) || str_eq(text, "-1"))) {
		set_present(s, false);
		return 0;
	}
	int r = str_to_u64(text, &v);
	return r < 0 ? r : store_number(s, v);
}

static int read_count(const struct slot *s, const char *text)
{
	return read_number(s, is_unlimited(text) ? "0" : text);
}

static int read_size(const struct slot *s, const char *text)
{
	uint64_t v;
	int r = count_parse(text, &v, NULL);
	return r < 0 ? r : store_number(s, v);
}

/* 0 is how files write "no limit"; an optional member is absent then. */
static int read_memory(const struct slot *s, const char *text)
{
	uint64_t mib = 0;
	if (!is_unlimited(text)) {
		int r = size_parse_mib(text, &mib, NULL);
		if (r < 0)
			return r;
	}
	int r = store_number(s, mib);
	if (r == 0 && mib == 0)
		set_present(s, false);
	return r;
}

static int read_bool(const struct slot *s, const char *text)
{
	static const char *const words[2][4] = { { "no", "false", "0", "down" },
						 { "yes", "true", "1", "up" } };
	for (int value = 0; value < 2; value++) {
		for (size_t i = 0; i < ARRAY_COUNT(words[value]); i++) {
			if (str_ieq(text, words[value][i])) {
				*(bool *)member(s) = value;
				set_present(s, true);
				return 0;
			}
		}
	}
	return -EINVAL;
}

static int read_enum(const struct slot *s, const char *text)
{
	int number;
	if (!enum_parse(s->f->values, text, &number))
		return -EINVAL;
	memcpy(member(s), &number, sizeof(number));
	return 0;
}

/* ---- times ---------------------------------------------------------------------------------------- */

static int read_time(const struct slot *s, const char *text)
{
	usec_t span;
	if (is_unlimited(text) || duration_parse_limit(text, &span, NULL) < 0)
		return -EINVAL;
	*(usec_t *)member(s) = span;
	return 0;
}

static int read_time_limit(const struct slot *s, const char *text)
{
	if (!is_unlimited(text) && !str_ieq(text, "NONE"))
		return read_time(s, text);
	*(usec_t *)member(s) = DURATION_UNLIMITED;
	return 0;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static int store_text(const struct slot *s, const char *text)
{
	if (strlen(text) > (s->f->flags & FIELD_REPEATED ? 4096 : s->f->limit))
		return -EMSGSIZE;
	char *copy = *text ? arena_strdup(s->arena, text) : NULL;
	memcpy(member(s), &copy, sizeof(copy));
	return 0;
}

static int append_text(const struct slot *s, const char *text)
{
	char ***list = member(s);
	uint32_t *count = (uint32_t *)((char *)s->obj + s->f->count_offset);
	if (*count >= s->f->limit || strlen(text) > 4096)
		return -EMSGSIZE;
	char **grown = ARENA_ARRAY(s->arena, char *, *count + 1);
	if (*count)
		memcpy(grown, *list, *count * sizeof(char *));
	grown[(*count)++] = arena_strdup(s->arena, text);
	*list = grown;
	return 0;
}

/* The default stays and what was given is added behind it. */
static int merge_text(const struct slot *s, const char *text)
{
	AUTO_BUF struct buf all = {};
	if (s->f->def && !str_eq(text, s->f->def))
		buf_printf(&all, "%s,", s->f->def);
	buf_puts(&all, text);
	return store_text(s, buf_text(&all));
}

static int read_text(const struct slot *s, const char *text)
{
	if (s->f->flags & FIELD_REPEATED)
		return append_text(s, text);
	return field_says(s->f, "merge", "yes") ? merge_text(s, text) : store_text(s, text);
}

static int read_level(const struct slot *s, const char *text)
{
	enum log_level level;
	if (str_ieq(text, "debug4") || str_ieq(text, "debug5") || str_eq(text, "8") || str_eq(text, "9"))
		level = LOG_DEBUG3;
	else if (log_level_parse(text, &level) < 0)
		return -EINVAL;
	return store_text(s, log_level_name(level));
}

/* NO, EXCLUSIVE, YES[:jobs] or FORCE[:jobs]. */
static int read_oversubscribe(const struct slot *s, const char *text)
{
	uint32_t jobs = 1;
	size_t len = strcspn(text, ":");
	if (text[len] && (str_to_u32(text + len + 1, &jobs) < 0 || jobs == 0))
		return -EINVAL;
	static const char *const words[] = { "NO", "EXCLUSIVE", "YES", "FORCE" };
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (strlen(words[i]) != len || !str_istarts(text, words[i]) || (i < 2 && text[len]))
			continue;
		return store_text(s, arena_printf(s->arena, "%s%s", words[i], text + len));
	}
	return -EINVAL;
}

/* The word of oneof= at *at, and what it is kept as; moves on to the next. */
static bool next_word(char **at, const char **ret_word, const char **ret_kept)
{
	char *p = *at;
	if (!*p)
		return false;
	*at = p + strcspn(p, "|");
	if (**at)
		*(*at)++ = '\0';
	char *colon = strchr(p, ':');
	if (colon)
		*colon = '\0';
	*ret_word = p;
	*ret_kept = colon ? colon + 1 : p;
	return true;
}

static int read_oneof(const struct slot *s, const char *text)
{
	char list[ONEOF_MAX], *at = list;
	const char *word, *kept;
	field_attr(s->f, "oneof", list, sizeof(list));
	while (next_word(&at, &word, &kept))
		if (str_ieq(text, word))
			return store_text(s, kept);
	return -EINVAL;
}

/* ---- the choice, and the words for a refusal ------------------------------------------------------ */

#define TIME_FORMS "minutes, m:s, h:m:s, d-h, d-h:m or d-h:m:s"

static const struct language languages[] = {
	{ "time", read_time, "not a time", TIME_FORMS },
	{ "time_limit", read_time_limit, "not a time", TIME_FORMS ", or UNLIMITED" },
	{ "memory", read_memory, "not a size", "MiB, or a number with K, M, G or T" },
	{ "count", read_count, "not a number", NULL },
	{ "size", read_size, "not a count", "a number, or one with K, M, G or T" },
	{ "level", read_level, "not a log level",
	  "quiet, fatal, error, info, verbose, debug, debug2 or debug3" },
	{ "oversubscribe", read_oversubscribe, "not known", "NO, YES:n, FORCE:n or EXCLUSIVE" },
};

static const struct language by_kind[] = {
	[FIELD_BOOL] = { "", read_bool, "neither yes nor no", "YES or NO" },
	[FIELD_U32] = { "", read_number, "not a number", NULL },
	[FIELD_U64] = { "", read_number, "not a number", NULL },
	[FIELD_I64] = { "", read_time, "not a time", TIME_FORMS },
	[FIELD_STR] = { "", read_text, "too long", NULL },
	[FIELD_ENUM] = { "", read_enum, "not known", NULL },
};

static const struct language *language_of(const struct field *f)
{
	static const struct language oneof = { "oneof", read_oneof, "not known", NULL };
	for (size_t i = 0; f->parse && i < ARRAY_COUNT(languages); i++)
		if (strcmp(languages[i].name, f->parse) == 0)
			return &languages[i];
	assert(!f->parse);
	char list[ONEOF_MAX];
	if (field_attr(f, "oneof", list, sizeof(list)))
		return &oneof;
	assert(f->kind < ARRAY_COUNT(by_kind) && by_kind[f->kind].read);
	return &by_kind[f->kind];
}

static void join_words(const char *const *words, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
}

/* The words of oneof= that are kept as they are, or those of the enum. */
static void accepted_words(const struct field *f, struct buf *out)
{
	char list[ONEOF_MAX], *at = list;
	const char *words[WORDS_MAX], *word, *kept;
	size_t count = 0;
	if (f->kind == FIELD_ENUM) {
		for (size_t i = 0; i < f->values->count && count < WORDS_MAX; i++)
			words[count++] = f->values->values[i].text;
	} else if (field_attr(f, "oneof", list, sizeof(list))) {
		while (count < WORDS_MAX && next_word(&at, &word, &kept))
			if (word == kept)
				words[count++] = word;
	}
	join_words(words, count, out);
}

static void accepted_range(const struct field *f, struct buf *out)
{
	bool spoken = f->unit && (str_eq(f->unit, "sec") || str_eq(f->unit, "min"));
	if (spoken)
		buf_puts(out, str_eq(f->unit, "sec") ? "seconds, " : "minutes, ");
	buf_printf(out, "%lld to %llu", (long long)f->min, (unsigned long long)upper_bound(f));
	if ((f->flags & FIELD_OPTIONAL) || str_eq(f->parse, "count"))
		buf_puts(out, ", or UNLIMITED");
}

static int refuse(const struct field *f, const struct language *l, const char *text, int code,
		  struct error *err)
{
	AUTO_BUF struct buf right = {};
	if (code == -EMSGSIZE)
		return error_set(err, -EINVAL, "%s=%.*s...: longer than %zu", f->key, 40, text, f->limit);
	if (l->right)
		buf_puts(&right, l->right);
	else if (f->kind == FIELD_U32 || f->kind == FIELD_U64)
		accepted_range(f, &right);
	else
		accepted_words(f, &right);
	return error_set(err, -EINVAL, "%s=%.*s: %s: write %s", f->key, QUOTE_MAX, text,
			 code == -ERANGE ? "out of range" : l->wrong, buf_text(&right));
}

int value_set(const struct field *f, void *obj, const char *text, struct arena *a, struct error *err)
{
	const struct language *l = language_of(f);
	struct slot s = { f, obj, a };
	int r = l->read(&s, text);
	return r < 0 ? refuse(f, l, text, r, err) : 0;
}

void value_defaults(const struct record *r, void *obj, bool client_only, struct arena *a)
{
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		if (!f->def || (client_only && !field_says(f, "client", "yes")))
			continue;
		int bad = value_set(f, obj, f->def, a, NULL);
		assert(bad == 0); /* the rows are ours: a test reads all of them */
		(void)bad;
	}
}
