/* SPDX-License-Identifier: Apache-2.0 */
/* A list of licences reads the same after printing; a refusal has words. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "text/licenses.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	const char *text = fuzz_text(a, data, size);
	struct license_list l, back;
	struct error err = {};
	if (licenses_parse_totals(text, a, &l, &err) < 0)
		assert(err.text[0]);
	err = (struct error){};
	if (licenses_parse(text, a, &l, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	licenses_print(&l, &out);
	for (uint32_t i = 0; i < l.count; i++)
		if (l.at[i].count > INT32_MAX)
			return 0; /* a sum may grow beyond what can be written */
	int r = licenses_parse(buf_text(&out), a, &back, &err);
	assert(r == 0 && back.count == l.count && (back.any == l.any || l.count < 2));
	for (uint32_t i = 0; i < l.count; i++)
		assert(str_eq(l.at[i].name, back.at[i].name) && l.at[i].count == back.at[i].count);
	return 0;
}
