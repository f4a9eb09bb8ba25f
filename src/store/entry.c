/* SPDX-License-Identifier: Apache-2.0 */
#include "store/entry.h"

#include "base/buf.h"
#include "base/crc.h"
#include "base/error.h"
#include "schema/events.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define AFTER_CRC  ((size_t)8) /* where `length` begins to count */
#define LENGTH_MIN (ENTRY_HEAD - AFTER_CRC)

static void put_number(uint8_t *at, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_number(const uint8_t *at, size_t bytes)
{
	uint64_t v = 0;
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

/* Every event has its record at the same place: the members of the union start together. */
static const void *event_body(const struct event *ev)
{
	return &ev->counters;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static size_t head_begin(struct buf *out)
{
	size_t start = out->len;
	static const uint8_t empty[ENTRY_HEAD];
	buf_put(out, empty, sizeof(empty));
	return start;
}

static void head_end(struct buf *out, size_t start, uint64_t position, uint32_t kind)
{
	uint8_t *head = out->data + start;
	size_t length = out->len - start - AFTER_CRC;
	assert(length <= ENTRY_MAX);
	put_number(head + 8, position, 8);
	put_number(head + 16, kind, 2);
	put_number(head, length, 4);
	put_number(head + 4, crc32c(0, head + AFTER_CRC, length), 4);
}

void entry_put(struct buf *out, uint64_t position, const struct event *ev)
{
	assert(ev->kind < EVENT_KIND_COUNT && event_records[ev->kind]);
	size_t start = head_begin(out);
	record_encode(event_records[ev->kind], event_body(ev), out);
	head_end(out, start, position, ev->kind);
}

void entry_put_end(struct buf *out, uint64_t position, uint64_t snapshot_position)
{
	size_t start = head_begin(out);
	uint8_t body[8];
	put_number(body, snapshot_position, 8);
	buf_put(out, body, sizeof(body));
	head_end(out, start, position, ENTRY_KIND_END);
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Fills `ret` when the lengths fit, without looking at the checksum. */
static bool head_fits(const uint8_t *data, size_t len, struct entry *ret)
{
	if (len < ENTRY_HEAD)
		return false;
	size_t length = (size_t)get_number(data, 4);
	if (length < LENGTH_MIN || length > ENTRY_MAX || length > len - AFTER_CRC)
		return false;
	ret->position = get_number(data + 8, 8);
	ret->kind = (uint32_t)get_number(data + 16, 2);
	ret->body = data + ENTRY_HEAD;
	ret->body_len = length - LENGTH_MIN;
	ret->size = length + AFTER_CRC;
	return true;
}

static bool crc_fits(const uint8_t *data, const struct entry *e)
{
	return get_number(data + 4, 4) == crc32c(0, data + AFTER_CRC, e->size - AFTER_CRC);
}

bool entry_get(const uint8_t *data, size_t len, struct entry *ret)
{
	return head_fits(data, len, ret) && crc_fits(data, ret);
}

bool entry_search(const uint8_t *data, size_t len, uint64_t position, size_t *ret_offset)
{
	/* Positions count up by one, so only a few are possible in what is left: that rules out nearly
	 * every offset before a checksum has to be computed. */
	uint64_t last = position + len / ENTRY_HEAD;
	struct entry e;
	for (size_t at = 0; at + ENTRY_HEAD <= len; at++) {
		if (head_fits(data + at, len - at, &e) && e.position >= position &&
		    e.position <= last && crc_fits(data + at, &e)) {
			*ret_offset = at;
			return true;
		}
	}
	return false;
}

int entry_decode(const struct entry *e, struct event *ev, struct arena *a, struct error *err)
{
	if (e->kind >= EVENT_KIND_COUNT || !event_records[e->kind])
		return error_set(
			err, -EPROTONOSUPPORT,
			"event number %u is unknown here: a newer version wrote it, use that one",
			e->kind);
	ev->kind = (enum event_kind)e->kind;
	return record_decode(event_records[e->kind], &ev->counters, e->body, e->body_len, a, err);
}

uint64_t entry_end_position(const struct entry *e)
{
	return e->body_len == 8 ? get_number(e->body, 8) : 0;
}
