/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes read the same after printing; counts are whatever fits 64 bits. */
#include "base/arena.h"
#include "base/error.h"
#include "text/size.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	uint64_t mib, back, count;
	struct error err = {};
	if (size_parse_mib(text, &mib, &err) == 0) {
		char printed[SIZE_TEXT];
		size_print_mib(mib, printed);
		int r = size_parse_mib(printed, &back, &err);
		assert(r == 0 && back == mib);
	} else {
		assert(err.text[0]);
	}
	if (count_parse(text, &count, &err) == 0) {
		char printed[32];
		snprintf(printed, sizeof(printed), "%llu", (unsigned long long)count);
		int r = count_parse(printed, &back, &err);
		assert(r == 0 && back == count);
	}
	return 0;
}
