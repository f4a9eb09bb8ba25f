/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-wire.c - frame headers and the bodies of every message.
 *
 * The first byte chooses: 0 is a frame header, anything else a message whose request and reply records
 * are decoded from the rest.  Random bytes seldom get deep into a record, so a second use of the same
 * bytes takes them as choices while writing a body that is right field by field; decoding that must
 * work, and encoding what was decoded and decoding it again must give the same. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/crc.h"
#include "base/error.h"
#include "schema/events.h"
#include "schema/messages.h"
#include "schema/record.h"
#include "wire/frame.h"

#include "fuzz.h"

#include <assert.h>
#include <string.h>

enum { DEPTH = 4, BODY_MAX = 1 << 16 };

struct choices {
	const uint8_t *data;
	size_t len, pos;
};

static uint8_t choose(struct choices *c)
{
	return c->pos < c->len ? c->data[c->pos++] : 0;
}

static void put_varint(uint64_t v, struct buf *out)
{
	for (; v > 127; v >>= 7)
		buf_putc(out, (char)(v | 128));
	buf_putc(out, (char)v);
}

static void put_record(const struct record *r, struct choices *c, int depth, struct buf *out);

static void put_field(const struct field *f, struct choices *c, int depth, struct buf *out)
{
	AUTO_BUF struct buf inner = {};
	bool is_number = f->kind == FIELD_BOOL || f->kind == FIELD_U32 || f->kind == FIELD_U64 ||
			 f->kind == FIELD_I64 || f->kind == FIELD_ENUM;

	if (is_number) {
		put_varint((uint64_t)f->tag << 3, out);
		put_varint(f->kind == FIELD_BOOL ? choose(c) & 1 : choose(c), out);
		return;
	}
	if (f->kind == FIELD_F64) {
		put_varint((uint64_t)f->tag << 3 | 1, out);
		for (int i = 0; i < 8; i++)
			buf_putc(out, (char)choose(c));
		return;
	}
	if (f->kind == FIELD_RECORD)
		put_record(f->sub, c, depth + 1, &inner);
	else
		for (uint8_t n = choose(c) % 16; n > 0; n--)
			buf_putc(&inner,
				 (char)(f->kind == FIELD_STR ? 'a' + choose(c) % 26 : choose(c)));
	put_varint((uint64_t)f->tag << 3 | 2, out);
	put_varint(inner.len, out);
	buf_put(out, inner.data, inner.len);
}

static void put_record(const struct record *r, struct choices *c, int depth, struct buf *out)
{
	for (uint8_t n = choose(c) % 8;
	     n > 0 && depth < DEPTH && out->len < BODY_MAX && r->field_count; n--)
		put_field(&r->fields[choose(c) % r->field_count], c, depth, out);
}

static int decode(const struct record *r, const uint8_t *data, size_t len, struct arena *a,
		  void **ret)
{
	struct error err = {};

	*ret = arena_alloc(a, r->size);
	return record_decode(r, *ret, data, len, a, &err);
}

static void try_record(const struct record *r, const uint8_t *data, size_t len)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {}, again = {};
	void *one, *two;

	if (!r || decode(r, data, len, a, &one) < 0)
		return;
	record_encode(r, one, &out);
	int result = decode(r, out.data, out.len, a, &two);
	assert(result == 0);
	record_encode(r, two, &again);
	assert(out.len == again.len &&
	       (out.len == 0 || memcmp(out.data, again.data, out.len) == 0));
	buf_clear(&again);
	record_print(r, one, &again);
}

static void try_both(const struct record *r, const uint8_t *data, size_t len)
{
	struct choices c = { data, len, 0 };
	AUTO_BUF struct buf body = {};

	try_record(r, data, len);
	if (!r)
		return;
	put_record(r, &c, 0, &body);
	try_record(r, body.data, body.len);
}

/* A header as it came, then with its checksum put right; one that is taken is written the same. */
static void try_header(const uint8_t *data, size_t size)
{
	uint8_t header[FRAME_HEADER] = {}, again[FRAME_HEADER];
	struct error err = {};
	struct frame f;

	memcpy(header, data, size < sizeof(header) ? size : sizeof(header));
	(void)!frame_header_get(header, FRAME_BODY_MAX, &f, &err);
	uint32_t crc = crc32c(0, header, sizeof(header) - sizeof(crc));
	memcpy(header + sizeof(header) - sizeof(crc), &crc, sizeof(crc));
	if (frame_header_get(header, FRAME_BODY_MAX, &f, &err) < 0) {
		assert(err.text[0]);
		return;
	}
	assert(f.len <= FRAME_BODY_MAX);
	frame_header_put(&f, again);
	assert(memcmp(header, again, sizeof(header)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] == 0) {
		try_header(data + 1, size - 1);
		return 0;
	}
	const struct message_desc *m = &message_descs[data[0] % MSG_COUNT];
	try_both(m->request, data + 1, size - 1);
	try_both(m->reply, data + 1, size - 1);
	try_both(event_records[data[1] % EVENT_KIND_COUNT], data + 2, size - 2);
	return 0;
}
