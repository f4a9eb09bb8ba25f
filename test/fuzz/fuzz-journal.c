/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-journal.c - any bytes as the content of a journal file.
 *
 * Read as they are, and again with the checksums of whole records put right, so that the decoder behind
 * the checksum is reached.  A record that was read is written again and must read as the same event. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/crc.h"
#include "base/error.h"
#include "schema/events.h"
#include "schema/record.h"
#include "store/entry.h"

#include "fuzz.h"

#include <assert.h>
#include <string.h>

static void read_all(const uint8_t *data, size_t len)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct error err = {};
	struct entry e, again;
	size_t found;

	(void)entry_search(data, len, 1, &found);
	for (size_t at = 0; entry_get(data + at, len - at, &e); at += e.size) {
		struct event ev = {}, copy = {};
		AUTO_BUF struct buf out = {};
		assert(e.size > 0 && e.size <= len - at);
		(void)entry_end_position(&e);
		if (e.kind == ENTRY_KIND_END || entry_decode(&e, &ev, a, &err) < 0)
			continue;
		entry_put(&out, e.position, &ev);
		bool is_whole = entry_get(out.data, out.len, &again);
		assert(is_whole && again.position == e.position && again.kind == e.kind);
		int r = entry_decode(&again, &copy, a, &err);
		assert(r == 0 &&
		       record_equal(event_records[ev.kind], &ev.counters, &copy.counters));
	}
}

/* The lengths are the input's; each checksum is made to fit. */
static void mend(uint8_t *data, size_t len)
{
	for (size_t at = 0; at + ENTRY_HEAD <= len;) {
		uint32_t size;
		memcpy(&size, data + at, sizeof(size));
		if (size > len - at - 8)
			return;
		uint32_t crc = crc32c(0, data + at + 8, size);
		memcpy(data + at + 4, &crc, sizeof(crc));
		at += 8 + size;
	}
}

/* One record whose event is chosen by the first byte and whose body is the rest. */
static void try_body(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf out = {};
	uint32_t len = (uint32_t)(size - 1 + 10), crc = 0;
	const uint8_t head[10] = { 1, 0, 0, 0, 0, 0, 0, 0, data[0] % EVENT_KIND_COUNT, 0 };

	buf_put(&out, &len, 4);
	buf_put(&out, &crc, 4);
	buf_put(&out, head, sizeof(head));
	buf_put(&out, data + 1, size - 1);
	mend(out.data, out.len);
	read_all(out.data, out.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();

	read_all(data, size);
	uint8_t *copy = arena_dup(a, data, size);
	mend(copy, size);
	read_all(copy, size);
	if (size > 0)
		try_body(data, size);
	return 0;
}
