/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what a fuzz target offers: the entry point that libFuzzer and AFL know.
 *
 * A target must survive any bytes, and asserts what must hold for those that are accepted, such as that
 * printing and parsing again gives the same.  Without libFuzzer it is linked with driver.c. */
#pragma once
#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a C string in `a`, up to its first zero byte. */
static inline char *fuzz_text(struct arena *a, const uint8_t *data, size_t size)
{
	return arena_strndup(a, (const char *)data, size);
}
