/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - parsing formats and putting lines together.
 *
 * A format becomes a list of columns in one pass; after that a line is: for each column, the value into
 * a scratch buffer, cut or padded into the output, then the literal text that follows it.  A hundred
 * thousand lines are printed this way, so the loop calls no printf.
 *
 * Compatibility decides some details: a value that is too long is cut at its right end even when it is
 * set to the right; the header obeys the same widths; `%#P` and `%#N` of sinfo's default formats are at
 * least as wide as the word PARTITION; `%all` stands for every column that has a letter, separated by `|`. */
#include "client/table.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum { NAME_WIDTH = 20, FIT_WIDTH = 9, WIDTH_MAX = 100000 };

static const char *parse_width(const char *p, struct table_column *ret)
{
	if (*p == '.') {
		ret->right = true;
		p++;
	}
	if (*p == '#') {
		ret->fits = true;
		ret->width = FIT_WIDTH;
		return p + 1;
	}
	while (isdigit((unsigned char)*p)) {
		if (ret->width < WIDTH_MAX)
			ret->width = ret->width * 10 + (uint32_t)(*p - '0');
		p++;
	}
	return p;
}

/* Text up to the next column; "%%" stays, because no column has that letter. */
static size_t literal_length(const char *p)
{
	size_t n = 0;
	while (p[n] && (p[n] != '%' || p[n + 1] == '%'))
		n += p[n] == '%' ? 2 : 1;
	return n;
}

static void add_all(struct table *t)
{
	for (size_t i = 0; i < COLUMN_ROW_COUNT; i++)
		if (columns_table[i].of == t->of && columns_table[i].letter)
			vec_push(&t->columns,
				 (struct table_column) { .row = &columns_table[i], .text = "|" });
	t->columns.at[t->columns.count - 1].text = "";
}

void table_parse_letters(struct table *t, enum column_of of, const char *format, struct arena *a,
			 struct buf *complaints)
{
	*t = (struct table) { .of = of, .scratch = ARENA_NEW(a, struct buf) };
	size_t n = literal_length(format);
	t->lead = arena_strndup(a, format, n);
	for (const char *p = format + n; *p;) {
		const char *start = p++;
		if (str_istarts(p, "all") && !isalpha((unsigned char)p[3])) {
			add_all(t);
			p += 3;
			n = literal_length(p);
			t->columns.at[t->columns.count - 1].text = arena_strndup(a, p, n);
			p += n;
			continue;
		}
		struct table_column c = {};
		p = parse_width(p, &c);
		c.row = column_by_letter(of, *p);
		if (!c.row) {
			buf_printf(complaints, "Invalid job format specification: %c\n",
				   *p ? *p : ' ');
			n = literal_length(start + 1) + 1;
			c.width = 0;
			c.text = arena_strndup(a, start, n);
			p = start + n;
		} else {
			p++;
			n = literal_length(p);
			c.text = arena_strndup(a, p, n);
			p += n;
		}
		vec_push(&t->columns, c);
	}
}

static bool is_size(const char *s)
{
	return *s == '.' || isdigit((unsigned char)*s);
}

void table_parse_names(struct table *t, enum column_of of, const char *format, struct arena *a,
		       struct buf *complaints)
{
	*t = (struct table) { .of = of, .lead = "", .scratch = ARENA_NEW(a, struct buf) };
	char *copy = arena_strdup(a, format);
	for (char *field = copy; field;) {
		char *next = strchr(field, ',');
		if (next)
			*next++ = 0;
		char *spec = strchr(field, ':');
		if (spec)
			*spec++ = 0;
		char *name = str_trim(field);
		struct table_column c = { .row = column_by_name(of, name), .text = "" };
		if (spec && is_size(spec))
			c.text = parse_width(spec, &c);
		else if (spec)
			c.text = spec;
		if (!spec || (is_size(spec) && c.width == 0))
			c.width = NAME_WIDTH;
		if (c.row)
			vec_push(&t->columns, c);
		else
			buf_printf(complaints, "Invalid job format specification: %s\n", name);
		field = next;
	}
}

void table_done(struct table *t)
{
	if (t->scratch)
		buf_done(t->scratch);
	vec_done(&t->columns);
}

static void put_padded(const struct table_column *c, const char *s, size_t len, struct buf *out)
{
	if (c->width && len > c->width)
		len = c->width;
	size_t pad = c->width > len ? c->width - len : 0;
	buf_reserve(out, pad + len);
	char *at = (char *)out->data + out->len;
	if (c->right) {
		memset(at, ' ', pad);
		memcpy(at + pad, s, len);
	} else {
		memcpy(at, s, len);
		memset(at + len, ' ', pad);
	}
	out->len += pad + len;
}

/* The value of a column in t->scratch. */
static void compute(const struct table *t, const struct table_column *c, table_value_fn value,
		    const void *ctx, const void *obj)
{
	buf_clear(t->scratch);
	if (c->row->value != COLUMN_VALUE_ABSENT)
		value(ctx, obj, c->row, t->scratch);
	if (t->scratch->len == 0 && c->row->none)
		buf_puts(t->scratch, c->row->none);
}

void table_measure(struct table *t, table_value_fn value, const void *ctx, const void *obj)
{
	for (size_t i = 0; i < t->columns.count; i++) {
		struct table_column *c = &t->columns.at[i];
		if (!c->fits || !c->row)
			continue;
		compute(t, c, value, ctx, obj);
		if (t->scratch->len > c->width)
			c->width = (uint32_t)t->scratch->len;
	}
}

void table_print_header(const struct table *t, struct buf *out)
{
	buf_puts(out, t->lead);
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct table_column *c = &t->columns.at[i];
		if (c->row)
			put_padded(c, c->row->header, strlen(c->row->header), out);
		buf_puts(out, c->text);
	}
	buf_putc(out, '\n');
}

void table_print_row(const struct table *t, table_value_fn value, const void *ctx, const void *obj,
		     struct buf *out)
{
	buf_puts(out, t->lead);
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct table_column *c = &t->columns.at[i];
		if (c->row) {
			compute(t, c, value, ctx, obj);
			put_padded(c, buf_text(t->scratch), t->scratch->len, out);
		}
		buf_puts(out, c->text);
	}
	buf_putc(out, '\n');
}

const struct column_row *column_by_letter(enum column_of of, char letter)
{
	for (size_t i = 0; i < COLUMN_ROW_COUNT; i++)
		if (columns_table[i].of == of && columns_table[i].letter &&
		    columns_table[i].letter[0] == letter)
			return &columns_table[i];
	return NULL;
}

/* Is `name` one of the comma separated `names`? */
static bool is_among(const char *names, const char *name, size_t len)
{
	while (*names) {
		size_t n = strcspn(names, ",");
		if (n == len && strncasecmp(names, name, n) == 0)
			return true;
		names += n + (names[n] == ',');
	}
	return false;
}

const struct column_row *column_by_name(enum column_of of, const char *name)
{
	for (size_t i = 0; i < COLUMN_ROW_COUNT; i++)
		if (columns_table[i].of == of &&
		    is_among(columns_table[i].names, name, strlen(name)))
			return &columns_table[i];
	return NULL;
}

void text_put_u64(struct buf *out, uint64_t v)
{
	char digits[24];
	size_t at = sizeof(digits);
	do
		digits[--at] = (char)('0' + v % 10);
	while (v /= 10);
	buf_put(out, digits + at, sizeof(digits) - at);
}
