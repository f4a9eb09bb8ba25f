/* SPDX-License-Identifier: Apache-2.0 */
/* From text to Key=Value pairs, in two steps and without copying.
 *
 * unfold() makes one logical line: it cuts comments off, joins a line that ends in a backslash with
 * the one below it, and closes the gaps by moving the characters towards the front; what is written
 * is never ahead of what is read.  Where a new line of the file begins inside the joined one is kept
 * in `folds`, so that an error names the line that a person sees.
 *
 * cut() then finds the pairs.  As in Slurm, keys have letters, digits, `_` and `.`, blanks around `=`
 * are fine, and a value with blanks is quoted.  A `#` begins a comment anywhere but inside quotes;
 * `\#` is a plain `#`. */
#include "conf/lex.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_key(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

void lex_init(struct lexer *l, char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors put it first */
	size_t skip = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
	*l = (struct lexer){ .at = text + skip, .end = text + len };
}

void lex_done(struct lexer *l)
{
	vec_done(&l->pairs);
	vec_done(&l->folds);
}

/* ---- one logical line ----------------------------------------------------------------------------- */

/* Does a backslash at `p` join this line with the next?  Blanks behind it are forgiven. */
static bool joins(const char *p, const char *end)
{
	for (p++; p < end && is_blank(*p); p++)
		;
	return p < end && *p == '\n';
}

/* Is a quote at `out` the first character of a value? */
static bool opens_value(const char *start, const char *out)
{
	while (out > start && is_blank(out[-1]))
		out--;
	return out > start && out[-1] == '=';
}

static char *skip_line(char *p, const char *end)
{
	while (p < end && *p != '\n')
		p++;
	return p;
}

/* Returns the start of the line, which is ended by a NUL; l->at is behind it. */
static char *unfold(struct lexer *l)
{
	char *start = l->at, *out = start, *p = start;
	bool quoted = false;
	vec_clear(&l->folds);
	vec_push(&l->folds, (struct lex_fold){ start, ++l->line });
	while (p < l->end && *p != '\n') {
		if (*p == '\\' && joins(p, l->end)) {
			p = skip_line(p, l->end) + 1;
			vec_push(&l->folds, (struct lex_fold){ out, ++l->line });
			continue;
		}
		if (*p == '\\' && p + 1 < l->end && p[1] == '#') {
			p++;
		} else if (*p == '#' && !quoted) {
			p = skip_line(p, l->end);
			continue;
		} else if (*p == '"') {
			quoted = !quoted && opens_value(start, out);
		}
		*out++ = *p++;
	}
	l->at = p < l->end ? p + 1 : l->end;
	*out = '\0';
	return start;
}

static uint32_t line_of(const struct lexer *l, const char *p)
{
	size_t i = l->folds.count;
	while (i > 1 && l->folds.at[i - 1].from > p)
		i--;
	return l->folds.at[i - 1].line;
}

/* ---- its pairs ------------------------------------------------------------------------------------ */

static char *skip_blanks(char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* The value at `p`; *next is where the search for the next pair begins. */
static int cut_value(const char *key, char *p, char **ret_value, char **next, struct error *err)
{
	char *stop;
	if (*p == '"') {
		*ret_value = ++p;
		stop = strchr(p, '"');
		if (!stop)
			return error_set(err, -EINVAL, "%s=\"%.80s: the closing quote is missing", key, p);
		if (stop[1] && !is_blank(stop[1]))
			return error_set(err, -EINVAL, "%s=\"%.80s: a blank must follow the closing quote",
					 key, p);
	} else {
		*ret_value = p;
		for (stop = p; *stop && !is_blank(*stop); stop++)
			;
		if (stop == p)
			return error_set(err, -EINVAL, "%s= has no value", key);
	}
	*next = *stop ? stop + 1 : stop;
	*stop = '\0';
	return 0;
}

static int word_len(const char *p)
{
	size_t len = strcspn(p, " \t\r");
	return len < 80 ? (int)len : 80;
}

static int cut_pair(struct lexer *l, char **at, struct lex_line *ret, struct error *err)
{
	char *key = *at, *p = key, *value = NULL;
	ret->line = line_of(l, key);
	while (is_key(*p))
		p++;
	char *key_end = p;
	p = skip_blanks(p);
	if (key_end == key || *p != '=')
		return error_set(err, -EINVAL, "'%.*s' is not Key=Value", word_len(key), key);
	*key_end = '\0';
	int r = cut_value(key, skip_blanks(p + 1), &value, at, err);
	if (r < 0)
		return r;
	vec_push(&l->pairs, (struct lex_pair){ key, value, ret->line });
	*at = skip_blanks(*at);
	return 0;
}

/* "Include file": the one kind of line that is not made of pairs. */
static bool cut_include(char *text, struct lex_line *ret)
{
	static const char word[] = "include";
	char *p = text + strlen(word);
	if (!str_istarts(text, word) || !is_blank(*p))
		return false;
	p = skip_blanks(p);
	if (*p == '=')
		return false;
	ret->include = str_trim(p);
	return true;
}

int lex_next(struct lexer *l, struct lex_line *ret, struct error *err)
{
	while (l->at < l->end) {
		char *p = skip_blanks(unfold(l));
		if (!*p)
			continue;
		*ret = (struct lex_line){ .line = line_of(l, p) };
		if (cut_include(p, ret))
			return 1;
		vec_clear(&l->pairs);
		while (*p) {
			int r = cut_pair(l, &p, ret, err);
			if (r < 0)
				return r;
		}
		ret->pairs = l->pairs.at;
		ret->count = l->pairs.count;
		ret->line = l->pairs.at[0].line;
		return 1;
	}
	return 0;
}
