/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C: the published check values, and the definition bit by bit. */
#include "base/crc.h"

#include "../cm.h"
#include "../draw.h"

#include <string.h>

static uint32_t bit_by_bit(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;
	for (; n > 0; n--, p++) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void known_values(void **state)
{
	(void)state;
	uint8_t zeros[32] = {}, ones[32], up[32];
	memset(ones, 0xff, sizeof(ones));
	for (uint8_t i = 0; i < sizeof(up); i++)
		up[i] = i;
	assert_int_equal(crc32c(0, "", 0), 0);
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa); /* RFC 3720, B.4 */
	assert_int_equal(crc32c(0, ones, 32), 0x62a8ab43);
	assert_int_equal(crc32c(0, up, 32), 0x46dd794e);
}

static void any_length_and_any_cut(void **state)
{
	(void)state;
	uint8_t bytes[300];
	uint64_t seed = 41;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)draw(&seed);
	for (size_t n = 0; n < sizeof(bytes); n++) {
		uint32_t want = bit_by_bit(bytes, n);
		size_t cut = n ? draw_below(&seed, (uint32_t)n) : 0;
		assert_int_equal(crc32c(0, bytes, n), want);
		assert_int_equal(crc32c(crc32c(0, bytes, cut), bytes + cut, n - cut), want);
	}
}

static void every_flipped_bit_shows(void **state)
{
	(void)state;
	uint8_t bytes[64] = "a record of the journal";
	uint32_t want = crc32c(0, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes) * 8; i++) {
		bytes[i / 8] ^= (uint8_t)(1u << (i % 8));
		assert_true(crc32c(0, bytes, sizeof(bytes)) != want);
		bytes[i / 8] ^= (uint8_t)(1u << (i % 8));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(any_length_and_any_cut),
		cmocka_unit_test(every_flipped_bit_shows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
