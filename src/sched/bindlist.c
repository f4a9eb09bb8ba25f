/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/bindlist.h"

#include "base/arena.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_MAX = 65536, REPEAT_MAX = 1 << 20 };

/* One entry: where its number stands, how long it is, and how often it counts. */
struct entry {
	const char *digits;
	size_t len;
	uint32_t times;
	const char *next; /* NULL: this was the last one */
};

static bool is_digit(char c, bool masks)
{
	return masks ? isxdigit((unsigned char)c) : isdigit((unsigned char)c);
}

/* False: not an entry. */
static bool read_entry(const char *p, bool masks, struct entry *ret)
{
	if (masks && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	struct entry e = { .digits = p, .times = 1 };
	while (is_digit(*p, masks))
		p++;
	e.len = (size_t)(p - e.digits);
	if (e.len == 0 || (masks && e.len > NUMBER_MAX / 4) ||
	    (!masks && (e.len > 6 || strtoul(e.digits, NULL, 10) >= NUMBER_MAX)))
		return false;
	if (*p == '*') {
		char *end;
		unsigned long times = strtoul(p + 1, &end, 10);
		if (!isdigit((unsigned char)p[1]) || times == 0 || times > REPEAT_MAX)
			return false;
		e.times = (uint32_t)times;
		p = end;
	}
	e.next = *p == ',' ? p + 1 : NULL;
	*ret = e;
	return *p == ',' || *p == '\0';
}

bool bindlist_is_valid(const char *list, bool masks)
{
	struct entry e = { .next = list };
	while (e.next)
		if (!read_entry(e.next, masks, &e))
			return false;
	return true;
}

static struct bitset set_of_mask(const struct entry *e, struct arena *a)
{
	struct bitset set = {};
	bitset_init_in(&set, (uint32_t)e->len * 4, a);
	for (uint32_t i = 0; i < e->len; i++) {
		char c = (char)tolower((unsigned char)e->digits[e->len - 1 - i]);
		uint32_t nibble = (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
		for (uint32_t bit = 0; bit < 4; bit++)
			if (nibble >> bit & 1)
				bitset_add(&set, i * 4 + bit);
	}
	return set;
}

static struct bitset set_of_number(const struct entry *e, struct arena *a)
{
	struct bitset set = {};
	uint32_t n = (uint32_t)strtoul(e->digits, NULL, 10);
	bitset_init_in(&set, n + 1, a);
	bitset_add(&set, n);
	return set;
}

struct bitset bindlist_entry(const char *list, bool masks, uint32_t local, struct arena *a)
{
	uint64_t total = 0, seen = 0;
	struct entry e = { .next = list };
	if (!bindlist_is_valid(list, masks))
		return (struct bitset){};
	while (e.next && read_entry(e.next, masks, &e))
		total += e.times;
	for (e.next = list; e.next && read_entry(e.next, masks, &e);) {
		seen += e.times;
		if (seen > local % total)
			break;
	}
	return masks ? set_of_mask(&e, a) : set_of_number(&e, a);
}

static bool is_word(const char *p, size_t len, const char *word)
{
	return (len == 1 || len == strlen(word)) && len && strncasecmp(p, word, len) == 0;
}

const char *bind_read_chatter(const char *text, bool *ret_quiet, bool *ret_verbose)
{
	for (const char *p = text;;) {
		size_t len = strcspn(p, ",");
		bool quiet = is_word(p, len, "quiet"), verbose = is_word(p, len, "verbose");
		if (!quiet && !verbose)
			return p;
		*ret_quiet = quiet;
		*ret_verbose = verbose;
		p += len + (p[len] == ',');
	}
}
