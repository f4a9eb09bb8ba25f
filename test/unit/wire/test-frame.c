/* SPDX-License-Identifier: Apache-2.0 */
/* Headers round-trip, and every bent one is refused with its reason. */
#include "base/buf.h"
#include "base/crc.h"
#include "base/error.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/frame.h"

#include "../cm.h"

#include <errno.h>

static void the_layout_is_as_written_down(void **state)
{
	(void)state;
	const uint8_t expected[20] = { 'M', 'S', 'T', 'R', 1, FRAME_REPLY, 11,   0,    8,    7,
				       6,   5,   4,   3,   2, 1,           0x44, 0x33, 0x22, 0x01 };
	struct frame f = { FRAME_REPLY, 11, 0x0102030405060708, 0x01223344 };
	uint8_t header[FRAME_HEADER];
	frame_header_put(&f, header);
	assert_memory_equal(header, expected, sizeof(expected));
	uint32_t crc = crc32c(0, expected, sizeof(expected));
	const uint8_t tail[4] = { (uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
				  (uint8_t)(crc >> 24) };
	assert_memory_equal(header + 20, tail, 4);
}

static void headers_round_trip(void **state)
{
	(void)state;
	uint64_t x = 88172645463325252u;
	for (int i = 0; i < 10000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		struct frame f = { (uint8_t)x, (uint16_t)(x >> 8), x * 31, (uint32_t)(x >> 40) },
			     back = {};
		uint8_t header[FRAME_HEADER];
		frame_header_put(&f, header);
		assert_int_equal(frame_header_get(header, FRAME_BODY_MAX, &back, NULL), 0);
		assert_true(f.flags == back.flags && f.kind == back.kind && f.id == back.id &&
			    f.len == back.len);
		header[x % FRAME_HEADER] ^= (uint8_t)(1u << (x >> 32) % 8); /* any one bit */
		assert_int_equal(frame_header_get(header, SIZE_MAX, &back, NULL), -EBADMSG);
	}
}

static void reseal(uint8_t *header)
{
	uint32_t crc = crc32c(0, header, 20);
	for (int i = 0; i < 4; i++)
		header[20 + i] = (uint8_t)(crc >> (8 * i));
}

static void bent_headers_are_refused(void **state)
{
	(void)state;
	const struct {
		int at;
		uint8_t value;
		bool sealed;
		int code;
		const char *text;
	} cases[] = {
		{ 0, 'X', true, -EBADMSG,
		  "the peer does not speak this protocol (it sent 58 53 54 52, "
		  "a message begins with MSTR)" },
		{ 9, 1, false, -EBADMSG, "a message header with a wrong checksum" },
		{ 4, 2, true, -EBADMSG,
		  "the peer's message format is version 2, this program reads "
		  "version 1" },
		{ 19, 1, true, -EMSGSIZE,
		  "a message of 16777317 bytes is too large, at most 1000 are "
		  "accepted" },
		{ 16, 5, true, 0, "" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct frame f = { 0, MSG_PING, 7, 101 }, back = {};
		uint8_t header[FRAME_HEADER];
		struct error err = {};
		frame_header_put(&f, header);
		header[cases[i].at] = cases[i].value;
		if (cases[i].sealed)
			reseal(header);
		assert_int_equal(frame_header_get(header, 1000, &back, &err), cases[i].code);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(back.id, cases[i].code == -EBADMSG
						  ? 0
						  : 7); /* what can be answered is told */
	}
}

static void failures_travel_with_code_and_text(void **state)
{
	(void)state;
	AUTO_BUF struct buf out = {};
	struct error said = {}, heard = {};
	assert_int_equal(wire_error(&said, -E_AUTH, "no %s", "token"), -E_AUTH);
	assert_string_equal(said.text, "Protocol authentication error: no token");
	frame_put_failure(&out, MSG_SUBMIT, 9, &said);
	struct frame f;
	assert_int_equal(frame_header_get(out.data, 1000, &f, NULL), 0);
	assert_int_equal(f.flags, FRAME_REPLY | FRAME_FAILURE);
	assert_int_equal(f.id, 9);
	assert_int_equal(out.len, FRAME_HEADER + f.len);
	assert_int_equal(frame_get_failure(out.data + FRAME_HEADER, f.len, &heard), -E_AUTH);
	assert_int_equal(heard.code, -E_AUTH);
	assert_string_equal(heard.text, said.text);

	assert_int_equal(frame_get_failure((const uint8_t *)"\x08\x00", 2, &heard), -E_PROTOCOL);
	assert_int_equal(frame_get_failure((const uint8_t *)"\xff", 1, &heard), -E_PROTOCOL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layout_is_as_written_down),
		cmocka_unit_test(headers_round_trip),
		cmocka_unit_test(bent_headers_are_refused),
		cmocka_unit_test(failures_travel_with_code_and_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
