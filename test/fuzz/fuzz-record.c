/* SPDX-License-Identifier: Apache-2.0 */
/* Every record of the journal and of the wire: the first line of the input names it, the rest is its
 * encoding.  A line that names none still picks one, so that no input is wasted.
 *
 * Whatever decodes must encode to something that decodes to the same, in an arena and on the heap, and
 * must not have taken far more memory than its bytes can justify. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "schema/events.h"
#include "schema/messages.h"

#include "fuzz.h"

#include <assert.h>

enum { MEMORY_BASE = 2 << 20, MEMORY_PER_BYTE = 2048 };

static const struct record *nth_record(size_t n)
{
	for (int i = 0; i < EVENT_KIND_COUNT; i++)
		if (event_records[i] && n-- == 0)
			return event_records[i];
	for (int i = 0; i < MSG_COUNT; i++) {
		if (message_descs[i].request && n-- == 0)
			return message_descs[i].request;
		if (message_descs[i].reply && n-- == 0)
			return message_descs[i].reply;
	}
	return NULL;
}

static const struct record *pick_record(const char *name, size_t len)
{
	const struct record *r;
	size_t count = 0;
	for (; (r = nth_record(count)); count++)
		if (strlen(r->name) == len && memcmp(r->name, name, len) == 0)
			return r;
	return nth_record(hash_bytes(name, len) % count);
}

/* The encoding is padded to the length of the input, because the budget for sets grows with it. */
static void check_heap(const struct record *r, const void *want, struct buf *bytes, size_t len)
{
	static const uint8_t unknown[] = { 0xf8, 0x3e, 0 }; /* a tag that no record has */
	while (bytes->len < len)
		buf_put(bytes, unknown, sizeof(unknown));
	void *heap = mem_alloc(r->size), *copy = mem_alloc(r->size);
	int e = record_decode(r, heap, bytes->data, bytes->len, NULL, NULL);
	assert(e == 0 && record_equal(r, want, heap));
	record_copy(r, copy, heap, NULL);
	assert(record_equal(r, want, copy));
	record_done(r, heap);
	record_done(r, copy);
	free(heap);
	free(copy);
}

static void check_refused(const struct record *r, const uint8_t *data, size_t size)
{
	void *heap = mem_alloc(r->size);
	int e = record_decode(r, heap, data, size, NULL, NULL);
	assert(e < 0);
	record_done(r, heap); /* what was read so far */
	free(heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	if (!line)
		return 0;
	const struct record *r = pick_record((const char *)data, (size_t)(line - data));
	size_t len = size - (size_t)(line + 1 - data);
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf bytes = {}, printed = {};
	struct error err = {};
	void *obj = arena_alloc(a, r->size);
	int e = record_decode(r, obj, line + 1, len, a, &err);
	assert(arena_used(a) <= MEMORY_BASE + len * MEMORY_PER_BYTE);
	if (e < 0) {
		assert(err.text[0]);
		check_refused(r, line + 1, len);
		return 0;
	}
	record_print(r, obj, &printed);
	record_encode(r, obj, &bytes);
	buf_reserve(&bytes, 0);
	check_heap(r, obj, &bytes, len);
	return 0;
}
