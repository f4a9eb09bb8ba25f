/* SPDX-License-Identifier: Apache-2.0 */
/* Maps, against an array of pairs that is searched from the front. */
#include "base/map.h"

#include "../cm.h"
#include "../draw.h"

#include <stdio.h>
#include <string.h>

enum { KEYS = 400 };

static int values[KEYS * 2];

/* The model: keys in the order in which they came. */
struct model {
	uint64_t keys[KEYS];
	void *values[KEYS];
	size_t count;
};

static size_t model_find(const struct model *m, uint64_t key)
{
	size_t i = 0;
	while (i < m->count && m->keys[i] != key)
		i++;
	return i;
}

static void check_order(const struct map *m, const struct model *model)
{
	size_t seen = 0;
	const struct map_entry *e;
	for (size_t i = 0; (e = map_next_entry(m, &i)); seen++) {
		assert_true(seen < model->count);
		assert_int_equal(e->key, model->keys[seen]);
		assert_ptr_equal(e->value, model->values[seen]);
	}
	assert_int_equal(seen, model->count);
}

static void agrees_with_a_list_of_pairs(void **state)
{
	(void)state;
	struct map m = {};
	struct model model = {};
	uint64_t seed = 31;
	for (int round = 0; round < 20000; round++) {
		uint64_t key = draw_below(&seed, KEYS) * 0x100000001ull;
		void *value = &values[draw_below(&seed, KEYS * 2)];
		size_t at = model_find(&model, key);
		void *old = at < model.count ? model.values[at] : NULL;
		bool is_growing = round / 2000 % 2 == 0; /* phases of growth and of decline */
		assert_ptr_equal(map_get(&m, key), old);
		if (draw_below(&seed, 4) < (is_growing ? 3u : 1u)) {
			assert_ptr_equal(map_put(&m, key, value), old);
			model.keys[at] = key;
			model.values[at] = value;
			model.count += at == model.count;
		} else {
			assert_ptr_equal(map_remove(&m, key), old);
			if (old) {
				model.count--;
				memmove(model.keys + at, model.keys + at + 1,
					(model.count - at) * sizeof(key));
				memmove(model.values + at, model.values + at + 1,
					(model.count - at) * sizeof(void *));
			}
		}
		assert_int_equal(m.count, model.count);
		if (round % 100 == 0)
			check_order(&m, &model);
	}
	map_done(&m);
	assert_null(map_get(&m, 1));
}

static void string_keys_are_copied(void **state)
{
	(void)state;
	struct map m = {};
	char key[32];
	for (int i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "node%d", i);
		assert_null(map_put_str(&m, key, &values[i]));
	}
	memset(key, 'x', sizeof(key) - 1);
	for (int i = 0; i < 300; i += 2) {
		snprintf(key, sizeof(key), "node%d", i);
		assert_ptr_equal(map_remove_str(&m, key), &values[i]);
		assert_null(map_remove_str(&m, key));
	}
	for (int i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "node%d", i);
		assert_ptr_equal(map_get_str(&m, key), i % 2 ? &values[i] : NULL);
	}
	assert_ptr_equal(map_put_str(&m, "node1", &values[0]), &values[1]);
	assert_null(map_get_str(&m, ""));
	assert_null(map_put_str(&m, "", &values[3]));
	assert_ptr_equal(map_get_str(&m, ""), &values[3]);
	assert_int_equal(m.count, 151);
	map_done(&m);
}

static void a_loop_may_remove_as_it_goes(void **state)
{
	(void)state;
	struct map m = {};
	for (uint64_t key = 0; key < KEYS; key++)
		map_put(&m, key, &values[key]);
	size_t visited = 0;
	const struct map_entry *e;
	for (size_t i = 0; (e = map_next_entry(&m, &i)); visited++) {
		assert_int_equal(e->key, visited);
		if (e->key % 10 != 0)
			map_remove(&m, e->key);
	}
	assert_int_equal(visited, KEYS);
	assert_int_equal(m.count, KEYS / 10);
	map_put(&m, 1, &values[1]); /* adding closes the holes */
	assert_true(m.used < KEYS / 2);
	map_done(&m);
}

static void hashes_are_fixed(void **state)
{
	(void)state;
	assert_true(hash_bytes("node1", 5) != hash_bytes("node2", 5));
	assert_true(hash_bytes("", 0) != hash_bytes("\0", 1));
	assert_true(hash_bytes("abcdefgh\0", 9) != hash_bytes("abcdefgh", 8));
	uint64_t all = 0;
	for (size_t n = 0; n <= 64;
	     n++) { /* the same on every run: journals and simulations rely on it */
		const char *text =
			"The quick brown fox jumps over the lazy dog, 64 characters long!";
		all = hash_mix(all, hash_bytes(text, n));
	}
	assert_int_equal(all, 0x0d6384b4df98bfca);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_list_of_pairs),
		cmocka_unit_test(string_keys_are_copied),
		cmocka_unit_test(a_loop_may_remove_as_it_goes),
		cmocka_unit_test(hashes_are_fixed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
