/* SPDX-License-Identifier: Apache-2.0 */
/* A time limit is whole minutes and reads the same after printing in either style. */
#include "base/arena.h"
#include "base/error.h"
#include "text/duration.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	usec_t span, back;
	struct error err = {};
	if (duration_parse_limit(text, &span, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	assert(span >= 0 && span % USEC_PER_MIN == 0);
	char printed[DURATION_TEXT];
	duration_print(span, printed);
	int r = duration_parse_limit(printed, &back, &err);
	assert(r == 0 && back == span);
	duration_print_long(span, printed);
	r = duration_parse_limit(printed, &back, &err);
	assert(r == 0 && back == span);
	return 0;
}
