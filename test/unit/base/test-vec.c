/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays, against a plain one. */
#include "base/vec.h"

#include "../cm.h"
#include "../draw.h"

#include <string.h>

static void agrees_with_a_plain_array(void **state)
{
	(void)state;
	VEC(uint32_t) v = {};
	uint32_t model[4000];
	size_t count = 0;
	uint64_t seed = 8;
	for (int i = 0; i < 4000; i++) {
		uint32_t value = (uint32_t)draw(&seed);
		uint32_t at = draw_below(&seed, (uint32_t)count + 1);
		switch (draw_below(&seed, 3)) {
		case 0:
			vec_push(&v, value);
			model[count++] = value;
			break;
		case 1:
			vec_insert(&v, at, value);
			memmove(model + at + 1, model + at, (count++ - at) * sizeof(*model));
			model[at] = value;
			break;
		default:
			if (at == count)
				break;
			vec_remove(&v, at);
			count--;
			memmove(model + at, model + at + 1, (count - at) * sizeof(*model));
			break;
		}
		assert_int_equal(v.count, count);
		assert_true(v.cap >= v.count);
		if (count)
			assert_memory_equal(v.at, model, count * sizeof(*model));
	}
	vec_clear(&v);
	assert_int_equal(v.count, 0);
	vec_done(&v);
	assert_null(v.at);
	assert_int_equal(v.cap, 0);
}

static void holds_structs(void **state)
{
	(void)state;
	struct pair {
		int a, b;
	};
	VEC(struct pair) v = {};
	vec_push(&v, (struct pair) { 1, 2 });
	vec_insert(&v, 0, (struct pair) { 3, 4 });
	assert_int_equal(v.at[0].b, 4);
	assert_int_equal(v.at[1].a, 1);
	vec_reserve(&v, 100u);
	assert_true(v.cap >= 100);
	assert_int_equal(v.count, 2);
	vec_done(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_plain_array),
		cmocka_unit_test(holds_structs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
