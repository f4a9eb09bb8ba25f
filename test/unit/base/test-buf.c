/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: text stays terminated through every operation. */
#include "base/buf.h"

#include "../cm.h"
#include "../draw.h"

#include <string.h>

static void grows_and_stays_terminated(void **state)
{
	(void)state;
	AUTO_BUF struct buf b = {};
	assert_string_equal(buf_text(&b), "");
	buf_put(&b, NULL, 0);
	buf_puts(&b, "");
	buf_printf(&b, "%s", "");
	assert_int_equal(b.len, 0);
	buf_puts(&b, "abc");
	buf_putc(&b, 'd');
	buf_printf(&b, "%d", 42);
	assert_string_equal(buf_text(&b), "abcd42");
	buf_drop(&b, 4);
	assert_string_equal(buf_text(&b), "42");
	buf_drop(&b, 0);
	buf_drop(&b, 2);
	assert_string_equal(buf_text(&b), "");
	buf_puts(&b, "again");
	buf_clear(&b);
	assert_string_equal(buf_text(&b), "");
	assert_int_equal(b.len, 0);
}

static void hands_its_memory_over(void **state)
{
	(void)state;
	AUTO_BUF struct buf b = {};
	size_t len = 77;
	AUTO_FREE char *empty = buf_take(&b, &len);
	assert_string_equal(empty, "");
	assert_int_equal(len, 0);
	buf_puts(&b, "text");
	AUTO_FREE char *text = buf_take(&b, NULL);
	assert_string_equal(text, "text");
	assert_null(b.data);
	assert_int_equal(b.len, 0);
}

/* Against an array that is large enough from the start. */
static void agrees_with_a_plain_array(void **state)
{
	(void)state;
	static char model[200000];
	size_t len = 0;
	AUTO_BUF struct buf b = {};
	uint64_t seed = 9;
	for (int i = 0; i < 5000; i++) {
		char piece[64];
		size_t n = draw_below(&seed, sizeof(piece));
		switch (draw_below(&seed, 4)) {
		case 0:
			memset(piece, 'a' + i % 26, n);
			buf_put(&b, piece, n);
			memcpy(model + len, piece, n);
			len += n;
			break;
		case 1:
			buf_printf(&b, "%*d", (int)n, i);
			len += (size_t)snprintf(model + len, sizeof(model) - len, "%*d", (int)n, i);
			break;
		case 2:
			buf_putc(&b, 'z');
			model[len++] = 'z';
			break;
		default:
			n = n < len ? n : len;
			buf_drop(&b, n);
			len -= n;
			memmove(model, model + n, len);
			break;
		}
		assert_int_equal(b.len, len);
		assert_memory_equal(buf_text(&b), model, len);
		assert_int_equal(buf_text(&b)[len], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_stays_terminated),
		cmocka_unit_test(hands_its_memory_over),
		cmocka_unit_test(agrees_with_a_plain_array),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
