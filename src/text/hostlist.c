/* SPDX-License-Identifier: Apache-2.0 */
/* Node names in both directions.
 *
 * A list is a sequence of items divided by commas or blanks.  An item is cut into parts: plain runs
 * of characters and bracket groups, `rack[1-2]n[01-04]` being plain, group, plain, group.  Expanding
 * walks the parts like an odometer whose last group turns fastest.  Everything that could make a
 * short text large is bounded before memory is taken: the number of names, the length of a name, the
 * groups of an item.
 *
 * Compressing is one pass over the names with one fold open at a time:
 *
 *	(prefix) [ranges] (suffix)        n[1-3,7]   x[01-02]y
 *
 * A name joins the fold when its prefix and suffix are those of the fold; it lengthens the last range
 * when counting on from it gives exactly this text, zeros included, and opens a range otherwise.
 * So the result always expands to the very sequence that was given.  Which number of a name may vary
 * is settled by the second name of a fold: the last one for names that end in a digit, as Slurm does
 * it, else the only one in which the two names differ. */
#include "text/hostlist.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { NAME_MAX_LEN = 255, PARTS_MAX = 32, DIGITS_MAX = 18, QUOTE_MAX = 80 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits_at(const char *s)
{
	size_t n = 0;
	while (is_digit(s[n]))
		n++;
	return n;
}

static uint64_t number_of(const char *s, size_t len)
{
	uint64_t v = 0;
	for (size_t i = 0; i < len; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	return v;
}

static size_t number_print(uint64_t v, size_t width, char ret[DIGITS_MAX + 3])
{
	return (size_t)snprintf(ret, DIGITS_MAX + 3, "%0*llu", (int)width, (unsigned long long)v);
}

/* ---- expand --------------------------------------------------------------------------------------- */

struct range {
	uint64_t first, last;
	size_t width; /* digits of the first number: what zeros pad to */
};

struct part {
	const char *text; /* plain part; NULL for a group */
	size_t len;
	size_t range_first, range_count;
};

struct expander {
	const char *list; /* the whole text, for messages */
	struct arena *arena;
	struct error *err;
	struct part parts[PARTS_MAX];
	size_t part_count;
	VEC(struct range) ranges; /* of the groups of the item at hand */
	VEC(char *) names;
	char name[NAME_MAX_LEN + 1];
};

static int refuse(struct expander *x, const char *what, const char *part, size_t len)
{
	return error_set(x->err, -EINVAL, "node list '%.*s': %s '%.*s'", QUOTE_MAX, x->list, what,
			 (int)(len < QUOTE_MAX ? len : QUOTE_MAX), part);
}

static int parse_range(struct expander *x, const char *text, size_t len)
{
	size_t n = digits_at(text), m = 0;
	bool has_end = n > 0 && text[n] == '-';
	if (has_end)
		m = digits_at(text + n + 1);
	size_t used = n + (has_end ? 1 + m : 0);
	if (n == 0 || used != len || (has_end && m == 0))
		return refuse(x, "write numbers and ranges as [1-3,7] instead of", text, len);
	if (n > DIGITS_MAX || m > DIGITS_MAX)
		return refuse(x, "at most 18 digits fit a number, unlike", text, len);
	struct range r = { .first = number_of(text, n), .width = n };
	r.last = has_end ? number_of(text + n + 1, m) : r.first;
	if (r.last < r.first)
		return error_set(x->err, -EINVAL,
				 "node list '%.*s': range '%.*s' counts down, write '%.*s-%.*s'",
				 QUOTE_MAX, x->list, (int)len, text, (int)m, text + n + 1, (int)n,
				 text);
	if (r.last - r.first >= HOSTLIST_MAX)
		return error_set(x->err, -E2BIG,
				 "node list '%.*s': range '%.*s' has more than %d names", QUOTE_MAX,
				 x->list, (int)len, text, HOSTLIST_MAX);
	vec_push(&x->ranges, r);
	return 0;
}

/* `text` is behind the '['; the group ends at its ']'. */
static int parse_group(struct expander *x, const char *text, const char **ret_end)
{
	struct part *p = &x->parts[x->part_count++];
	*p = (struct part) { .range_first = x->ranges.count };
	const char *close = text + strcspn(text, "[]");
	if (*close != ']')
		return refuse(x, "']' is missing after", text - 1, strlen(text - 1));
	for (const char *at = text; at <= close;) {
		size_t len = strcspn(at, ",]");
		int r = parse_range(x, at, len);
		if (r < 0)
			return r;
		at += len + 1;
	}
	p->range_count = x->ranges.count - p->range_first;
	*ret_end = close + 1;
	return 0;
}

static int parse_plain(struct expander *x, const char *text, const char **ret_end)
{
	const char *end = text;
	for (; *end && !strchr("[, \t\n", *end); end++) {
		if (*end == ']')
			return refuse(x, "'[' is missing before", end, strlen(end));
		if (*end == '{' || *end == '}')
			return refuse(x, "names of blocks and switches are not known here:", text,
				      strlen(text));
		if (iscntrl((unsigned char)*end))
			return refuse(x, "a name has no control characters, unlike", text,
				      (size_t)(end - text));
	}
	x->parts[x->part_count++] = (struct part) { .text = text, .len = (size_t)(end - text) };
	*ret_end = end;
	return 0;
}

static int put_names(struct expander *x, size_t part, size_t len);

static int put_numbers(struct expander *x, const struct range *r, size_t part, size_t len)
{
	for (uint64_t v = r->first; v <= r->last; v++) {
		char digits[DIGITS_MAX + 3];
		size_t n = number_print(v, r->width, digits);
		if (len + n > NAME_MAX_LEN)
			return refuse(x, "a name has at most 255 characters, unlike", x->name, len);
		memcpy(x->name + len, digits, n);
		int e = put_names(x, part + 1, len + n);
		if (e < 0)
			return e;
	}
	return 0;
}

/* x->name holds `len` characters made from the parts before `part`. */
static int put_names(struct expander *x, size_t part, size_t len)
{
	if (part == x->part_count) {
		vec_push(&x->names, arena_strndup(x->arena, x->name, len));
		return 0;
	}
	const struct part *p = &x->parts[part];
	if (p->text) {
		if (len + p->len > NAME_MAX_LEN)
			return refuse(x, "a name has at most 255 characters, unlike", p->text,
				      p->len);
		memcpy(x->name + len, p->text, p->len);
		return put_names(x, part + 1, len + p->len);
	}
	for (size_t i = 0; i < p->range_count; i++) {
		int e = put_numbers(x, &x->ranges.at[p->range_first + i], part, len);
		if (e < 0)
			return e;
	}
	return 0;
}

static int check_size(struct expander *x, const char *item, size_t len)
{
	uint64_t total = 1;
	for (size_t i = 0; i < x->part_count; i++) {
		uint64_t group = x->parts[i].text ? 1 : 0;
		for (size_t n = 0; n < x->parts[i].range_count; n++) {
			const struct range *r = &x->ranges.at[x->parts[i].range_first + n];
			group += r->last - r->first + 1;
		}
		total = group > HOSTLIST_MAX ? HOSTLIST_MAX + 1 : total * group;
		if (x->names.count + total > HOSTLIST_MAX)
			return error_set(
				x->err, -E2BIG, "node list '%.*s': '%.*s' makes more than %d names",
				QUOTE_MAX, x->list, (int)(len < QUOTE_MAX ? len : QUOTE_MAX), item,
				HOSTLIST_MAX);
	}
	return 0;
}

static int expand_item(struct expander *x, const char *item, const char **ret_end)
{
	const char *at = item;
	x->part_count = 0;
	vec_clear(&x->ranges);
	while (*at && !strchr(", \t\n", *at)) {
		if (x->part_count == PARTS_MAX)
			return refuse(x, "too many brackets in", item, strlen(item));
		int e = *at == '[' ? parse_group(x, at + 1, &at) : parse_plain(x, at, &at);
		if (e < 0)
			return e;
	}
	*ret_end = at;
	int e = check_size(x, item, (size_t)(at - item));
	return e < 0 ? e : put_names(x, 0, 0);
}

int hostlist_expand(const char *text, struct arena *a, struct hostlist *ret, struct error *err)
{
	struct expander x = { .list = text, .arena = a, .err = err };
	int e = 0;
	for (const char *at = text + strspn(text, ", \t\n"); *at && e == 0;
	     at += strspn(at, ", \t\n"))
		e = expand_item(&x, at, &at);
	if (e == 0)
		*ret = (struct hostlist) {
			arena_dup(a, x.names.at, x.names.count * sizeof(*x.names.at)),
			(uint32_t)x.names.count,
		};
	vec_done(&x.names);
	vec_done(&x.ranges);
	return e;
}

/* ---- compress ------------------------------------------------------------------------------------- */

/* The open fold.  `first` lends prefix and suffix; ranges are written as they close. */
struct fold {
	struct buf *out;
	const char *first;
	size_t prefix, digits; /* of `first`; digits is 0 until a number was chosen to vary */
	const char *suffix;
	uint64_t from, last;
	size_t width;
	bool is_open, has_bracket;
};

static void put_number(struct fold *f, uint64_t v)
{
	char digits[DIGITS_MAX + 3];
	buf_put(f->out, digits, number_print(v, f->width, digits));
}

static void put_range(struct fold *f)
{
	put_number(f, f->from);
	if (f->last > f->from) {
		buf_putc(f->out, '-');
		put_number(f, f->last);
	}
}

static void fold_close(struct fold *f)
{
	if (!f->is_open)
		return;
	if (f->digits == 0) {
		buf_puts(f->out, f->first);
		return;
	}
	if (!f->has_bracket) {
		buf_put(f->out, f->first, f->prefix);
		buf_putc(f->out, '[');
	}
	put_range(f);
	buf_printf(f->out, "]%s", f->suffix);
}

static void fold_open(struct fold *f, const char *name)
{
	if (f->is_open)
		buf_putc(f->out, ',');
	*f = (struct fold) { .out = f->out, .first = name, .is_open = true };
}

/* The last number of `name`: where it begins, or false when there is none. */
static bool last_number(const char *name, size_t *ret_at)
{
	size_t end = strlen(name);
	while (end > 0 && !is_digit(name[end - 1]))
		end--;
	size_t at = end;
	while (at > 0 && is_digit(name[at - 1]))
		at--;
	*ret_at = at;
	return end > 0;
}

/* The one number in which the two names differ (the last one if they are equal). */
static bool differing_number(const char *a, const char *b, size_t *ret_at)
{
	if (strcmp(a, b) == 0)
		return last_number(a, ret_at);
	size_t i = 0;
	while (a[i] && a[i] == b[i])
		i++;
	while (i > 0 && is_digit(a[i - 1]))
		i--;
	size_t n = digits_at(a + i), m = digits_at(b + i);
	*ret_at = i;
	if (n == 0 || m == 0 || strcmp(a + i + n, b + i + m) != 0)
		return false;
	return a[i + n] == '\0' || !is_digit(a[strlen(a) - 1]);
}

/* Chooses the number that varies, now that the second name of the fold is known. */
static bool fold_choose(struct fold *f, const char *name)
{
	size_t at;
	if (!differing_number(f->first, name, &at))
		return false;
	size_t n = digits_at(f->first + at);
	if (n > DIGITS_MAX)
		return false;
	f->prefix = at;
	f->digits = n;
	f->suffix = f->first + at + n;
	f->from = f->last = number_of(f->first + at, n);
	f->width = n;
	return true;
}

static bool fold_add(struct fold *f, const char *name)
{
	if (!f->is_open || (f->digits == 0 && !fold_choose(f, name)))
		return false;
	if (strncmp(f->first, name, f->prefix) != 0)
		return false;
	const char *number = name + f->prefix;
	size_t n = digits_at(number);
	if (n == 0 || n > DIGITS_MAX || strcmp(number + n, f->suffix) != 0) {
		if (!f->has_bracket && f->from == f->last)
			f->digits = 0; /* still a single name: print it plain */
		return false;
	}
	uint64_t v = number_of(number, n);
	char next[DIGITS_MAX + 3];
	size_t next_len = number_print(f->last + 1, f->width, next);
	if (v == f->last + 1 && next_len == n && memcmp(next, number, n) == 0) {
		f->last = v;
		return true;
	}
	if (!f->has_bracket) {
		buf_put(f->out, f->first, f->prefix);
		buf_putc(f->out, '[');
		f->has_bracket = true;
	}
	put_range(f);
	buf_putc(f->out, ',');
	f->from = f->last = v;
	f->width = n;
	return true;
}

void hostlist_compress(char *const *names, uint32_t count, struct buf *out)
{
	struct fold f = { .out = out };
	for (uint32_t i = 0; i < count; i++) {
		if (fold_add(&f, names[i]))
			continue;
		fold_close(&f);
		fold_open(&f, names[i]);
	}
	fold_close(&f);
}

/* ---- order ---------------------------------------------------------------------------------------- */

/* Numbers of any length by value: without their zeros the longer one is larger. */
static int compare_numbers(const char *a, size_t n, const char *b, size_t m)
{
	for (; n > 0 && *a == '0'; n--)
		a++;
	for (; m > 0 && *b == '0'; m--)
		b++;
	if (n != m)
		return n < m ? -1 : 1;
	return memcmp(a, b, n);
}

int hostname_compare(const char *a, const char *b)
{
	const char *x = a, *y = b;
	while (*x && *y) {
		size_t n = digits_at(x), m = digits_at(y);
		if (n && m) {
			int c = compare_numbers(x, n, y, m);
			if (c != 0)
				return c;
			x += n;
			y += m;
		} else if (*x != *y) {
			break;
		} else {
			x++;
			y++;
		}
	}
	if (*x != *y)
		return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
	return strcmp(a, b); /* equal but for zeros */
}

static int compare_entries(const void *a, const void *b)
{
	return hostname_compare(*(char *const *)a, *(char *const *)b);
}

void hostlist_sort(struct hostlist *h)
{
	if (h->count > 1)
		qsort(h->names, h->count, sizeof(*h->names), compare_entries);
}
