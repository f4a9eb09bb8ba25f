/* SPDX-License-Identifier: Apache-2.0 */
/* Bitsets, against one flag per member; sizes around word borders. */
#include "base/bitset.h"

#include "base/arena.h"
#include "base/buf.h"

#include "../cm.h"
#include "../draw.h"

#include <string.h>

enum { BITS_MAX = 200 };

static const uint32_t sizes[] = { 0, 1, 63, 64, 65, 127, 128, 129, 200 };

static void draw_set(struct bitset *s, bool flags[BITS_MAX], uint64_t *seed)
{
	uint32_t weight = draw_below(seed, 5);
	memset(flags, 0, BITS_MAX);
	for (uint32_t i = 0; i < s->bits; i++) {
		if (draw_below(seed, 4) >= weight)
			continue;
		bitset_add(s, i);
		flags[i] = true;
	}
}

static void check(const struct bitset *s, const bool flags[BITS_MAX])
{
	uint32_t count = 0, next = bitset_next(s, 0);
	for (uint32_t i = 0; i < s->bits; i++) {
		assert_int_equal(bitset_has(s, i), flags[i]);
		if (!flags[i])
			continue;
		count++;
		assert_int_equal(next, i);
		next = bitset_next(s, i + 1);
	}
	assert_int_equal(next, BITSET_NONE);
	assert_int_equal(bitset_count(s), count);
	assert_int_equal(bitset_empty(s), count == 0);
	assert_false(bitset_has(s, s->bits));
	if (s->bits % 64) /* nothing beyond the size */
		assert_int_equal(s->words[s->bits / 64] >> (s->bits % 64), 0);
}

static void check_pair(const struct bitset *a, const bool fa[BITS_MAX], const struct bitset *b,
		       const bool fb[BITS_MAX])
{
	uint32_t both = 0;
	bool is_equal = true, is_contained = true;
	for (uint32_t i = 0; i < BITS_MAX; i++) {
		both += fa[i] && fb[i];
		is_equal &= fa[i] == fb[i];
		is_contained &= fa[i] || !fb[i];
	}
	assert_int_equal(bitset_count_and(a, b), both);
	assert_int_equal(bitset_intersects(a, b), both > 0);
	assert_int_equal(bitset_equal(a, b), is_equal);
	assert_int_equal(bitset_contains(a, b), is_contained);
}

static void set_laws(void **state)
{
	(void)state;
	uint64_t seed = 77;
	for (size_t n = 0; n < ARRAY_COUNT(sizes) * 20; n++) {
		AUTO_ARENA struct arena *arena = arena_new();
		struct bitset a, b, c, other;
		bool fa[BITS_MAX], fb[BITS_MAX], fo[BITS_MAX], fc[BITS_MAX];
		bitset_init(&a, sizes[n % ARRAY_COUNT(sizes)]);
		bitset_init_in(&b, a.bits, arena);
		bitset_init_in(&other, sizes[draw_below(&seed, ARRAY_COUNT(sizes))], arena);
		draw_set(&a, fa, &seed);
		draw_set(&b, fb, &seed);
		draw_set(&other, fo, &seed);
		check(&a, fa);
		check_pair(&a, fa, &b, fb);
		check_pair(&a, fa, &other, fo); /* sizes may differ here */
		check_pair(&a, fa, &a, fa);

		c = bitset_dup(&a, arena);
		bitset_or(&c, &b);
		for (uint32_t i = 0; i < BITS_MAX; i++)
			fc[i] = fa[i] || fb[i];
		check(&c, fc);
		bitset_copy(&c, &a);
		bitset_and(&c, &b);
		for (uint32_t i = 0; i < BITS_MAX; i++)
			fc[i] = fa[i] && fb[i];
		check(&c, fc);
		bitset_copy(&c, &a);
		bitset_minus(&c, &b);
		for (uint32_t i = 0; i < BITS_MAX; i++)
			fc[i] = fa[i] && !fb[i];
		check(&c, fc);
		bitset_done(&a);
		assert_int_equal(a.bits, 0);
	}
}

static void ranges_fill_and_clear(void **state)
{
	(void)state;
	uint64_t seed = 5;
	for (size_t n = 0; n < ARRAY_COUNT(sizes) * 40; n++) {
		struct bitset s;
		bool flags[BITS_MAX];
		bitset_init(&s, sizes[n % ARRAY_COUNT(sizes)]);
		draw_set(&s, flags, &seed);
		uint32_t first = draw_below(&seed, s.bits + 1),
			 count = draw_below(&seed, s.bits - first + 1);
		bitset_add_range(&s, first, count);
		memset(flags + first, true, count);
		check(&s, flags);
		if (s.bits) {
			uint32_t gone = draw_below(&seed, s.bits);
			bitset_remove(&s, gone);
			flags[gone] = false;
			check(&s, flags);
		}
		bitset_fill(&s);
		memset(flags, true, s.bits);
		check(&s, flags);
		bitset_clear(&s);
		memset(flags, false, BITS_MAX);
		check(&s, flags);
		bitset_done(&s);
	}
}

static void prints_ranges(void **state)
{
	(void)state;
	static const struct {
		const char *members, *text; /* one character per bit */
	} rows[] = {
		{ "", "" },        { "....", "" },  { "x", "0" }, { "xxxx...x", "0-3,7" },
		{ ".x.x", "1,3" }, { "xx", "0-1" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_BUF struct buf out = {};
		struct bitset s;
		bitset_init(&s, (uint32_t)strlen(rows[i].members));
		for (uint32_t n = 0; n < s.bits; n++)
			if (rows[i].members[n] == 'x')
				bitset_add(&s, n);
		bitset_print(&s, &out);
		assert_string_equal(buf_text(&out), rows[i].text);
		bitset_done(&s);
	}
	AUTO_BUF struct buf out = {};
	struct bitset s;
	bitset_init(&s, 130);
	bitset_add_range(&s, 62, 68);
	bitset_print(&s, &out);
	assert_string_equal(buf_text(&out), "62-129");
	bitset_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_laws),
		cmocka_unit_test(ranges_fill_and_clear),
		cmocka_unit_test(prints_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
