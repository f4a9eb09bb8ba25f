/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - how messages are cut out of a byte stream.
 *
 * 24 bytes of header, little-endian, then the body:
 *	u32 magic "MSTR" | u8 version (of the frame alone) | u8 flags | u16 message | u64 request id |
 *	u32 body length | u32 crc32c of the 20 bytes before it
 * A request id is chosen by the asking side; its answer carries FRAME_REPLY and the same id.  A
 * refusal carries FRAME_FAILURE too and a `failure` record.  FRAME_ONEWAY wants no answer.  Id 0 is
 * the hello that opens a connection. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct error;
struct record;

enum { FRAME_HEADER = 24, FRAME_VERSION = 1, FRAME_BODY_MAX = 256 << 20 };
enum { WIRE_VERSION = 1 }; /* said in hello and welcome, for people who read a trace */
enum frame_flags { FRAME_REPLY = 1, FRAME_FAILURE = 2, FRAME_ONEWAY = 4 };

struct frame {
	uint8_t flags;
	uint16_t kind; /* enum message_kind */
	uint64_t id;
	uint32_t len; /* of the body */
};

void frame_header_put(const struct frame *f, uint8_t ret[FRAME_HEADER]);
/* -EBADMSG with a reason when these bytes are not one of our headers, -EMSGSIZE beyond `body_max`;
 * with the latter `ret` is filled all the same, so that the body can be skipped and refused. */
NODISCARD int frame_header_get(const uint8_t header[FRAME_HEADER], size_t body_max,
			       struct frame *ret, struct error *err);

/* Appends a whole frame; f->len is taken from the body, which is `obj` encoded (NULL: empty).  On
 * -EMSGSIZE (beyond FRAME_BODY_MAX) nothing is appended. */
NODISCARD int frame_put(struct buf *out, const struct frame *f, const struct record *r,
			const void *obj, struct error *err);
/* Appends the header for a body of `len` bytes that follows; -EMSGSIZE as above. */
NODISCARD int frame_put_header(struct buf *out, const struct frame *f, size_t len,
			       struct error *err);
/* Appends the refusal that answers request `id`. */
void frame_put_failure(struct buf *out, uint16_t kind, uint64_t id, const struct error *why);
/* Reads the body of a refusal into `ret` and returns its negative code. */
int frame_get_failure(const uint8_t *body, size_t len, struct error *ret);

/* Sets "text of errors.def: details", the form in which users and tools expect our own codes, and
 * returns `code` (negative). */
int wire_error(struct error *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
