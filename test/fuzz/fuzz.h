/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the targets share.
 *
 * A target is one file fuzz-NAME.c with LLVMFuzzerTestOneInput, which must survive any bytes, and
 * asserts the laws of its decoder beyond that: what was read and printed reads the same again. */
#pragma once
#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_TEXT_MAX = 4096 };

/* The input as a C string in `a`, which under ASan shows every step beyond its end. */
static inline char *fuzz_text(struct arena *a, const uint8_t *data, size_t size)
{
	return arena_strndup(a, (const char *)data, size < FUZZ_TEXT_MAX ? size : FUZZ_TEXT_MAX);
}
