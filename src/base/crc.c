/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc.h"

#include <string.h>

/* Bit-reversed polynomial; the table is a constant that the compiler could compute, written as a
 * half-byte table so that it stays readable. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t crc_portable(uint32_t crc, const uint8_t *p, size_t n)
{
	for (; n > 0; n--, p++) {
		crc ^= *p;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, const uint8_t *p,
							    size_t n)
{
	uint64_t wide = crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; n > 0; n--, p++)
		crc = __builtin_ia32_crc32qi(crc, *p);
	return crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *p, size_t n)
{
	crc = ~crc;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_sse42(crc, p, n);
#endif
	return ~crc_portable(crc, p, n);
}
