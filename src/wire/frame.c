/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/frame.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/crc.h"
#include "base/error.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t magic[4] = { 'M', 'S', 'T', 'R' };

enum { AT_VERSION = 4, AT_FLAGS = 5, AT_KIND = 6, AT_ID = 8, AT_LEN = 16, AT_CRC = 20 };

void frame_header_put(const struct frame *f, uint8_t ret[FRAME_HEADER])
{
	uint16_t kind = htole16(f->kind);
	uint64_t id = htole64(f->id);
	uint32_t len = htole32(f->len);
	memcpy(ret, magic, sizeof(magic));
	ret[AT_VERSION] = FRAME_VERSION;
	ret[AT_FLAGS] = f->flags;
	memcpy(ret + AT_KIND, &kind, sizeof(kind));
	memcpy(ret + AT_ID, &id, sizeof(id));
	memcpy(ret + AT_LEN, &len, sizeof(len));
	uint32_t crc = htole32(crc32c(0, ret, AT_CRC));
	memcpy(ret + AT_CRC, &crc, sizeof(crc));
}

int frame_header_get(const uint8_t header[FRAME_HEADER], size_t body_max, struct frame *ret,
		     struct error *err)
{
	uint32_t crc, len;
	uint16_t kind;
	uint64_t id;
	memcpy(&crc, header + AT_CRC, sizeof(crc));
	memcpy(&kind, header + AT_KIND, sizeof(kind));
	memcpy(&id, header + AT_ID, sizeof(id));
	memcpy(&len, header + AT_LEN, sizeof(len));

	if (memcmp(header, magic, sizeof(magic)) != 0)
		return error_set(err, -EBADMSG,
				 "the peer does not speak this protocol (it sent %02x %02x "
				 "%02x %02x, a message begins with MSTR)",
				 header[0], header[1], header[2], header[3]);
	if (le32toh(crc) != crc32c(0, header, AT_CRC))
		return error_set(err, -EBADMSG, "a message header with a wrong checksum");
	if (header[AT_VERSION] != FRAME_VERSION)
		return error_set(err, -EBADMSG,
				 "the peer's message format is version %u, this program "
				 "reads version %u",
				 header[AT_VERSION], FRAME_VERSION);
	*ret = (struct frame) { header[AT_FLAGS], le16toh(kind), le64toh(id), le32toh(len) };
	if (ret->len > body_max)
		return error_set(err, -EMSGSIZE,
				 "a message of %u bytes is too large, at most %zu are "
				 "accepted",
				 ret->len, body_max);
	return 0;
}

int frame_put_header(struct buf *out, const struct frame *f, size_t len, struct error *err)
{
	if (len > FRAME_BODY_MAX)
		return error_set(err, -EMSGSIZE,
				 "a message of %zu bytes is too large, at most %d can be sent", len,
				 FRAME_BODY_MAX);
	struct frame full = *f;
	full.len = (uint32_t)len;
	buf_reserve(out, FRAME_HEADER);
	frame_header_put(&full, out->data + out->len);
	out->len += FRAME_HEADER;
	return 0;
}

int frame_put(struct buf *out, const struct frame *f, const struct record *r, const void *obj,
	      struct error *err)
{
	size_t start = out->len;
	uint8_t room[FRAME_HEADER] = {};
	buf_put(out, room, sizeof(room));
	if (r && obj)
		record_encode(r, obj, out);
	size_t end = out->len;
	out->len = start;
	int status = frame_put_header(out, f, end - start - FRAME_HEADER, err);
	if (status == 0)
		out->len = end;
	return status;
}

void frame_put_failure(struct buf *out, uint16_t kind, uint64_t id, const struct error *why)
{
	int code = why->code < 0 ? -why->code : why->code;
	struct failure body = { .code = (uint32_t)code, .text = (char *)why->text };
	struct frame f = { FRAME_REPLY | FRAME_FAILURE, kind, id, 0 };
	(void)!frame_put(out, &f, &failure_record, &body, NULL); /* text is bounded: always fits */
}

int frame_get_failure(const uint8_t *body, size_t len, struct error *ret)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct failure f = {};
	if (record_decode(&failure_record, &f, body, len, a, NULL) < 0 || f.code == 0 ||
	    f.code > INT_MAX)
		return wire_error(ret, -E_PROTOCOL,
				  "the peer refused, but its reason cannot be read");
	return error_set(ret, -(int)f.code, "%s", f.text ? f.text : "refused without a reason");
}

int wire_error(struct error *err, int code, const char *fmt, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	const char *head = enum_text(&error_code_enum, -code);
	if (strcmp(head, "?") == 0)
		return err->code = code;
	return error_wrap(err, code, "%s", head);
}
