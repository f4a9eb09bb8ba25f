/* SPDX-License-Identifier: Apache-2.0 */
/* A date reads the same after printing; any text is a format for dates. */
#include "base/arena.h"
#include "base/error.h"
#include "text/date.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	const usec_t now = 1794715255 * USEC_PER_SEC; /* 2026-11-15T04:00:55 */
	usec_t when, back;
	struct error err = {};
	char printed[DATE_TEXT], again[DATE_TEXT];
	date_print_as(now, now, text, printed);
	if (date_parse(text, now, &when, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	date_print(when, printed);
	if (when >= USEC_PER_DAY) { /* now-N may lie before all calendars that are read here */
		int r = date_parse(printed, now, &back, &err);
		date_print(back, again);
		assert(r == 0 && strcmp(printed, again) == 0);
	}
	return 0;
}
