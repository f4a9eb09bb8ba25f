/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: zeroed, aligned, never overlapping, and reusable after a clear. */
#include "base/arena.h"

#include "../cm.h"
#include "../draw.h"

#include <string.h>

static void memory_is_zeroed_and_aligned(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	uint64_t seed = 1;
	for (int i = 0; i < 2000; i++) {
		size_t size = draw_below(&seed, i % 100 == 0 ? 20000 : 100);
		unsigned char *p = arena_alloc(a, size);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t n = 0; n < size; n++)
			assert_int_equal(p[n], 0);
		memset(p, 0xa5, size);
	}
}

static void allocations_do_not_overlap(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	enum { COUNT = 500 };
	unsigned char *at[COUNT];
	size_t size[COUNT];
	uint64_t seed = 2;
	for (int i = 0; i < COUNT; i++) {
		size[i] = 1 + draw_below(&seed, 3000);
		at[i] = arena_alloc(a, size[i]);
		memset(at[i], i % 251, size[i]);
	}
	for (int i = 0; i < COUNT; i++)
		for (size_t n = 0; n < size[i]; n++)
			assert_int_equal(at[i][n], i % 251);
}

static void clearing_gives_clean_memory_again(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	arena_clear(a); /* nothing there yet */
	for (int round = 0; round < 50; round++) {
		char *p = arena_alloc(a, 5000);
		assert_int_equal(p[0] | p[4999], 0);
		memset(p, 'x', 5000);
		assert_true(arena_used(a) >= 5000);
		arena_clear(a);
		assert_int_equal(arena_used(a), 0);
	}
}

static void copies_text(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	assert_null(arena_strdup(a, NULL));
	assert_string_equal(arena_strdup(a, "abc"), "abc");
	assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(a, NULL, 0), "");
	assert_string_equal(arena_printf(a, "%s-%03d", "n", 7), "n-007");
	assert_memory_equal(arena_dup(a, "\0\1\2", 3), "\0\1\2", 3);
	assert_non_null(arena_alloc(a, 0));
	assert_non_null(arena_dup(a, NULL, 0));
	char *large = arena_printf(a, "%*s", 100000, "end");
	assert_int_equal(strlen(large), 100000);
	arena_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned),
		cmocka_unit_test(allocations_do_not_overlap),
		cmocka_unit_test(clearing_gives_clean_memory_again),
		cmocka_unit_test(copies_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
