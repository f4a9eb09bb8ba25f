/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h - one record of a journal or snapshot file: how it is written, read and recognised.
 *
 *	u32 length | u32 crc32c | u64 position | u16 kind | bytes
 *
 * Numbers are little-endian.  `length` counts what follows the checksum, which covers the same bytes.
 * Kind 0 is no event: it ends a snapshot.  Private to store/. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;
struct event;

#define ENTRY_HEAD     ((size_t)18)        /* up to and with the kind */
#define ENTRY_MAX      ((size_t)128 << 20) /* largest `length`; the largest field is half of it */
#define ENTRY_KIND_END 0                   /* body: u64 position of the snapshot */

struct entry {
	uint64_t position;
	uint32_t kind;
	const uint8_t *body;
	size_t body_len;
	size_t size; /* in the file */
};

void entry_put(struct buf *out, uint64_t position, const struct event *ev);
void entry_put_end(struct buf *out, uint64_t position, uint64_t snapshot_position);

/* False when no whole record with the right checksum starts at `data`. */
bool entry_get(const uint8_t *data, size_t len, struct entry *ret);
/* Does a whole record at or behind `position` start at any byte of `data`?  Then what is before it is
 * damage in the middle and no torn tail. */
bool entry_search(const uint8_t *data, size_t len, uint64_t position, size_t *ret_offset);
/* `ev` must be zeroed.  -EPROTONOSUPPORT for an event of a newer program, else as record_decode. */
NODISCARD int entry_decode(const struct entry *e, struct event *ev, struct arena *a,
			   struct error *err);
uint64_t entry_end_position(const struct entry *e); /* of ENTRY_KIND_END; 0 when malformed */
