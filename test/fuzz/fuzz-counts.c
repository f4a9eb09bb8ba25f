/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of numbers read the same after printing. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "text/counts.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	AUTO_BUF struct buf out = {};
	uint32_t *values, *back, count, back_count;
	struct error err = {};
	if (counts_parse(text, a, &values, &count, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	counts_print(values, count, &out);
	int r = counts_parse(buf_text(&out), a, &back, &back_count, &err);
	assert(r == 0 && back_count == count);
	assert(memcmp(values, back, count * sizeof(*values)) == 0);
	return 0;
}
