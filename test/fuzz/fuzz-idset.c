/* SPDX-License-Identifier: Apache-2.0 */
/* An array's ids are ascending ranges that read the same after printing. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "text/idset.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { ID_MAX = 100001 };
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	AUTO_BUF struct buf out = {}, cut = {};
	struct array_spec s, back;
	struct error err = {};
	if (array_parse(text, ID_MAX, a, &s, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	assert(s.ids.count > 0 && s.max < ID_MAX && s.total <= ID_MAX && s.step > 0);
	for (uint32_t i = 0; i < s.ids.count; i++) {
		assert(s.ids.ranges[i].first <= s.ids.ranges[i].last);
		assert(i == 0 || s.ids.ranges[i].first > s.ids.ranges[i - 1].last + 1);
		assert(idset_has(s.ids.ranges, s.ids.count, s.ids.ranges[i].last));
	}
	idset_print(s.ids.ranges, s.ids.count, 64, &cut);
	assert(cut.len <= 64);
	idset_print(s.ids.ranges, s.ids.count, 0, &out);
	int r = array_parse(buf_text(&out), ID_MAX, a, &back, &err);
	assert(r == 0 && back.ids.count == s.ids.count && back.total == s.total);
	assert(memcmp(back.ids.ranges, s.ids.ranges, s.ids.count * sizeof(*s.ids.ranges)) == 0);
	return 0;
}
