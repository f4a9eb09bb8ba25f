/* SPDX-License-Identifier: Apache-2.0 */
/* Folding an expanded list gives back the very same names, and sorting them an order. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "text/hostlist.h"

#include "fuzz.h"

#include <assert.h>

enum { COUNT_MAX = 10000 }; /* longer lists show nothing new and take long */

static void check_order(struct hostlist *h)
{
	hostlist_sort(h);
	for (uint32_t i = 1; i < h->count; i++) {
		assert(hostname_compare(h->names[i - 1], h->names[i]) <= 0);
		assert(hostname_compare(h->names[i], h->names[i - 1]) >= 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	AUTO_BUF struct buf out = {};
	struct error err = {};
	struct hostlist h, back;
	if (hostlist_expand(text, a, &h, &err) < 0) {
		assert(err.code < 0 && err.text[0]);
		return 0;
	}
	assert(h.count <= HOSTLIST_MAX);
	if (h.count > COUNT_MAX)
		return 0;
	hostlist_compress(h.names, h.count, &out);
	int r = hostlist_expand(buf_text(&out), a, &back, &err);
	assert(r == 0 && back.count == h.count);
	for (uint32_t i = 0; i < h.count; i++)
		assert(strcmp(h.names[i], back.names[i]) == 0);
	check_order(&h);
	return 0;
}
