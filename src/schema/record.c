/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime walks a record's fields; `switch (kind)` stands here and nowhere else.
 *
 * Scalars equal to zero are left out of the encoding unless they are optional and present, as in
 * proto3.  Repeated numbers are written packed and read packed or one by one.  Decoding bounds
 * everything it allocates: texts and element counts by the field's limit, nesting by DEPTH_MAX,
 * the elements of a list by the bytes that could hold them, and sets of bits by a budget for all. */
#include "schema/record.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LEN = 2, WIRE_FIXED32 = 5 };
enum { DEPTH_MAX = 16 };
/* A set says its size in a few bytes and takes much more: so much in all, and for each byte read. */
enum { BITS_BYTES_BASE = 1 << 20, BITS_BYTES_EACH = 256 };

static size_t element_size(const struct field *f)
{
	switch (f->kind) {
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_U32:
		return sizeof(uint32_t);
	case FIELD_U64:
	case FIELD_I64:
		return sizeof(uint64_t);
	case FIELD_F64:
		return sizeof(double);
	case FIELD_STR:
		return sizeof(char *);
	case FIELD_BYTES:
		return sizeof(struct bytes);
	case FIELD_BITS:
		return sizeof(struct bitset);
	case FIELD_ENUM:
		return sizeof(int);
	case FIELD_RECORD:
		return f->sub->size;
	}
	return 0;
}

static bool is_packed(const struct field *f)
{
	return f->kind <= FIELD_I64 || f->kind == FIELD_ENUM;
}

static const void *member(const struct field *f, const void *obj)
{
	return (const char *)obj + f->offset;
}

/* First element and number of elements: 1 for a plain field. */
static uint32_t elements(const struct field *f, const void *obj, const char **ret_first)
{
	if (!(f->flags & FIELD_REPEATED)) {
		*ret_first = member(f, obj);
		return 1;
	}
	memcpy(ret_first, member(f, obj), sizeof(*ret_first));
	uint32_t count;
	memcpy(&count, (const char *)obj + f->count_offset, sizeof(count));
	return count;
}

bool field_present(const struct field *f, const void *obj)
{
	return !(f->flags & FIELD_OPTIONAL) || *((const bool *)obj + f->has_offset);
}

static uint64_t scalar_get(const struct field *f, const void *at)
{
	switch (f->kind) {
	case FIELD_BOOL:
		return *(const bool *)at;
	case FIELD_U32:
		return *(const uint32_t *)at;
	case FIELD_ENUM:
		return (uint64_t)(int64_t) * (const int *)at;
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
		return *(const uint64_t *)at;
	case FIELD_STR:
	case FIELD_BYTES:
	case FIELD_BITS:
	case FIELD_RECORD:
		break;
	}
	return 0;
}

static void scalar_set(const struct field *f, void *at, uint64_t v)
{
	switch (f->kind) {
	case FIELD_BOOL:
		*(bool *)at = v != 0;
		break;
	case FIELD_U32:
		*(uint32_t *)at = (uint32_t)v;
		break;
	case FIELD_ENUM:
		*(int *)at = (int)v;
		break;
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
		*(uint64_t *)at = v;
		break;
	case FIELD_STR:
	case FIELD_BYTES:
	case FIELD_BITS:
	case FIELD_RECORD:
		break;
	}
}

/* ---- encode ------------------------------------------------------------------------------------ */

static void put_varint(struct buf *out, uint64_t v)
{
	uint8_t tmp[10];
	size_t n = 0;
	do {
		tmp[n] = (uint8_t)(v & 0x7f);
		v >>= 7;
		tmp[n++] |= v ? 0x80 : 0;
	} while (v);
	buf_put(out, tmp, n);
}

static size_t varint_size(uint64_t v)
{
	size_t n = 1;
	while (v >>= 7)
		n++;
	return n;
}

static void put_key(struct buf *out, const struct field *f, unsigned type)
{
	put_varint(out, (uint64_t)f->tag << 3 | type);
}

/* Runs `record_encode` for a nested record in place and puts its length before it afterwards: one
 * byte is set aside, and only a body of 128 bytes or more has to be moved. */
static void put_nested(struct buf *out, const struct record *sub, const void *obj,
		       const struct field_mask *mask)
{
	size_t at = out->len;
	buf_putc(out, 0);
	record_encode_some(sub, obj, mask, out);
	size_t len = out->len - at - 1, extra = varint_size(len) - 1;
	if (extra) {
		buf_reserve(out, extra);
		memmove(out->data + at + 1 + extra, out->data + at + 1, len);
		out->len += extra;
		out->data[out->len] = 0;
	}
	for (size_t i = 0; i <= extra; i++, len >>= 7)
		out->data[at + i] = (uint8_t)((len & 0x7f) | (i < extra ? 0x80 : 0));
}

static void put_bits(struct buf *out, const struct bitset *s)
{
	uint32_t words = bitset_words(s->bits);
	while (words && s->words[words - 1] == 0)
		words--; /* trailing zeros are implied by the size */
	put_varint(out, varint_size(s->bits) + words * 8u);
	put_varint(out, s->bits);
	buf_put(out, s->words, words * 8u);
}

static void encode_element(const struct field *f, const void *at, struct buf *out)
{
	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_ENUM:
		put_key(out, f, WIRE_VARINT);
		put_varint(out, scalar_get(f, at));
		break;
	case FIELD_F64:
		put_key(out, f, WIRE_FIXED64);
		buf_put(out, at, 8);
		break;
	case FIELD_STR: {
		const char *s = *(char *const *)at;
		size_t len = s ? strlen(s) : 0;
		put_key(out, f, WIRE_LEN);
		put_varint(out, len);
		buf_put(out, s, len);
		break;
	}
	case FIELD_BYTES: {
		const struct bytes *b = at;
		put_key(out, f, WIRE_LEN);
		put_varint(out, b->len);
		buf_put(out, b->data, b->len);
		break;
	}
	case FIELD_BITS:
		put_key(out, f, WIRE_LEN);
		put_bits(out, at);
		break;
	case FIELD_RECORD:
		put_key(out, f, WIRE_LEN);
		put_nested(out, f->sub, at, NULL);
		break;
	}
}

static bool is_zero(const struct field *f, const void *at)
{
	switch (f->kind) {
	case FIELD_STR:
		return *(char *const *)at == NULL;
	case FIELD_BYTES:
		return ((const struct bytes *)at)->len == 0;
	case FIELD_BITS:
		return ((const struct bitset *)at)->bits == 0;
	case FIELD_RECORD:
		return false;
	case FIELD_BOOL:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
	case FIELD_ENUM:
		break;
	}
	return scalar_get(f, at) == 0;
}

static void encode_packed(const struct field *f, const char *first, uint32_t count, struct buf *out)
{
	size_t size = element_size(f), len = 0;
	for (uint32_t i = 0; i < count; i++)
		len += varint_size(scalar_get(f, first + i * size));
	put_key(out, f, WIRE_LEN);
	put_varint(out, len);
	for (uint32_t i = 0; i < count; i++)
		put_varint(out, scalar_get(f, first + i * size));
}

static void encode_field(const struct field *f, const void *obj, struct buf *out)
{
	const char *first;
	uint32_t count = elements(f, obj, &first);
	if (!field_present(f, obj))
		return;
	if (!(f->flags & FIELD_REPEATED)) {
		if ((f->flags & FIELD_OPTIONAL) || !is_zero(f, first))
			encode_element(f, first, out);
		return;
	}
	if (count && is_packed(f)) {
		encode_packed(f, first, count, out);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		encode_element(f, first + i * element_size(f), out);
}

void record_encode_item(uint32_t tag, const struct record *item, const void *obj,
			const struct field_mask *mask, struct buf *out)
{
	put_varint(out, (uint64_t)tag << 3 | WIRE_LEN);
	put_nested(out, item, obj, mask);
}

void record_encode(const struct record *r, const void *obj, struct buf *out)
{
	record_encode_some(r, obj, NULL, out);
}

void record_encode_some(const struct record *r, const void *obj, const struct field_mask *mask,
			struct buf *out)
{
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		if (mask && !field_mask_has(mask, f->tag))
			continue;
		if (mask && mask->sub && mask->sub_tag == f->tag) {
			put_key(out, f, WIRE_LEN);
			put_nested(out, f->sub, (const char *)obj + f->offset, mask->sub);
		} else {
			encode_field(f, obj, out);
		}
	}
}

/* ---- decode ------------------------------------------------------------------------------------ */

struct reader {
	const uint8_t *at, *end;
	struct arena *arena;
	struct error *err;
	unsigned depth;
	size_t *bits_left; /* bytes that sets of bits may still take, in the whole record */
	const struct field *sized; /* a list whose length was counted ahead, and its room */
	uint32_t room;
};

static int decode_record(const struct record *r, void *obj, struct reader *in);

static int bad(struct reader *in, const struct record *r, const char *what)
{
	return error_set(in->err, -EBADMSG, "malformed %s: %s", r->name, what);
}

static int get_varint(struct reader *in, uint64_t *ret)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (in->at == in->end)
			return -EBADMSG;
		uint8_t byte = *in->at++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return 0;
		}
	}
	return -EBADMSG;
}

static void *take_memory(struct reader *in, size_t size)
{
	return in->arena ? arena_alloc(in->arena, size) : mem_alloc(size);
}

enum { COUNT_AHEAD = 1 << 16 }; /* bytes left from which on counting is cheaper than growing */

/* How many runs of field `f` are still to come; stops at anything malformed, which is found later. */
static uint32_t count_ahead(const struct field *f, const struct reader *in)
{
	struct reader ahead = { .at = in->at, .end = in->end };
	uint64_t key, v, wanted = (uint64_t)f->tag << 3 | WIRE_LEN;
	uint32_t n = 0;
	while (n < f->limit && get_varint(&ahead, &key) >= 0) {
		size_t skip = (key & 7) == WIRE_FIXED64 ? 8 : (key & 7) == WIRE_FIXED32 ? 4 : 0;
		if (((key & 7) == WIRE_VARINT || (key & 7) == WIRE_LEN) && get_varint(&ahead, &v) < 0)
			break;
		if ((key & 7) == WIRE_LEN)
			skip = v;
		if (skip > (size_t)(ahead.end - ahead.at))
			break;
		ahead.at += skip;
		n += key == wanted;
	}
	return n;
}

/* Makes room for one more element and returns it zeroed.  A long list of records is counted ahead;
 * others grow by doubling, and in an arena the outgrown copies stay behind. */
static void *append(const struct field *f, void *obj, struct reader *in)
{
	char **list = (char **)((char *)obj + f->offset);
	uint32_t *count = (uint32_t *)((char *)obj + f->count_offset);
	size_t size = element_size(f);
	if (*count == 0 && f->kind == FIELD_RECORD && in->end - in->at > COUNT_AHEAD) {
		in->sized = f;
		in->room = count_ahead(f, in) + 1;
		*list = take_memory(in, (size_t)in->room * size);
	}
	bool is_full = (*count & (*count - 1)) == 0; /* 0 or a power of two */
	if (is_full && (f != in->sized || *count >= in->room)) {
		size_t cap = *count ? (size_t)*count * 2 : 1;
		char *grown = take_memory(in, cap * size);
		if (*count)
			memcpy(grown, *list, *count * size);
		if (!in->arena)
			free(*list);
		*list = grown;
	}
	return *list + (size_t)(*count)++ * size;
}

static int decode_bits(struct bitset *s, const uint8_t *p, size_t len, struct reader *in, size_t limit)
{
	struct reader run = { .at = p, .end = p + len };
	uint64_t bits;
	if (get_varint(&run, &bits) < 0 || bits > (limit ? limit : 1u << 20))
		return -EBADMSG;
	size_t left = (size_t)(run.end - run.at);
	if (left % 8 || left / 8 > bitset_words((uint32_t)bits))
		return -EBADMSG;
	size_t bytes = bitset_words((uint32_t)bits) * sizeof(uint64_t);
	if (bytes > *in->bits_left)
		return -EMSGSIZE;
	*in->bits_left -= bytes;
	if (!in->arena)
		bitset_done(s);
	bitset_init_in(s, (uint32_t)bits, in->arena);
	if (left)
		memcpy(s->words, run.at, left);
	if (bits % 64 && s->words[bits / 64] >> (bits % 64))
		return -EBADMSG; /* a member beyond the size */
	return 0;
}

/* A length-delimited run of bytes for field `f` at `at`. */
static int decode_run(const struct record *r, const struct field *f, void *at, const uint8_t *p,
		      size_t len, struct reader *in)
{
	size_t limit = f->flags & FIELD_REPEATED ? 65536 : f->limit;
	switch (f->kind) {
	case FIELD_STR: {
		if (len > limit)
			return error_set(in->err, -EMSGSIZE, "%s of %s is longer than %zu bytes", f->name,
					 r->name, limit);
		if (memchr(p, 0, len))
			return bad(in, r, "a text holds a zero byte");
		char *s = take_memory(in, len + 1);
		memcpy(s, p, len);
		if (!in->arena)
			free(*(char **)at);
		*(char **)at = s;
		return 0;
	}
	case FIELD_BYTES: {
		struct bytes *b = at;
		if (len > f->limit)
			return error_set(in->err, -EMSGSIZE, "%s of %s is longer than %zu bytes", f->name,
					 r->name, f->limit);
		if (!in->arena)
			free(b->data);
		b->data = take_memory(in, len ? len : 1);
		memcpy(b->data, p, len);
		b->len = len;
		return 0;
	}
	case FIELD_BITS:
		return decode_bits(at, p, len, in, 0) < 0 ? bad(in, r, f->name) : 0;
	case FIELD_RECORD: {
		if (in->depth >= DEPTH_MAX)
			return bad(in, r, "nested too deep");
		struct reader inner = { p, p + len, in->arena, in->err, in->depth + 1, in->bits_left };
		return decode_record(f->sub, at, &inner);
	}
	case FIELD_BOOL:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
	case FIELD_ENUM:
		break;
	}
	return bad(in, r, f->name);
}

static int decode_scalar(const struct record *r, const struct field *f, void *at, uint64_t v,
			 struct reader *in)
{
	if (f->kind == FIELD_U32 && v > UINT32_MAX)
		return bad(in, r, f->name);
	scalar_set(f, at, v);
	return 0;
}

static void *element_for(const struct record *r, const struct field *f, void *obj, struct reader *in)
{
	if (f->flags & FIELD_OPTIONAL)
		*((bool *)obj + f->has_offset) = true;
	if (!(f->flags & FIELD_REPEATED))
		return (char *)obj + f->offset;
	uint32_t count;
	memcpy(&count, (char *)obj + f->count_offset, sizeof(count));
	if (count >= f->limit) {
		error_set(in->err, -EMSGSIZE, "%s of %s has more than %zu elements", f->name, r->name, f->limit);
		return NULL;
	}
	return append(f, obj, in);
}

static int decode_packed(const struct record *r, const struct field *f, void *obj, const uint8_t *p,
			 size_t len, struct reader *in)
{
	struct reader run = { .at = p, .end = p + len };
	while (run.at < run.end) {
		uint64_t v;
		if (get_varint(&run, &v) < 0)
			return bad(in, r, f->name);
		void *at = element_for(r, f, obj, in);
		if (!at)
			return -EMSGSIZE;
		int e = decode_scalar(r, f, at, v, in);
		if (e < 0)
			return e;
	}
	return 0;
}

static const struct field *field_by_tag(const struct record *r, uint64_t tag, size_t *hint)
{
	/* Fields arrive in ascending order as a rule: look where the last one was found first. */
	for (size_t n = 0; n < r->field_count; n++) {
		size_t i = (*hint + n) % r->field_count;
		if (r->fields[i].tag == tag) {
			*hint = i;
			return &r->fields[i];
		}
	}
	return NULL;
}

static int decode_field(const struct record *r, void *obj, struct reader *in, size_t *hint)
{
	uint64_t key, v = 0;
	const uint8_t *run = NULL;
	if (get_varint(in, &key) < 0)
		return bad(in, r, "cut off");
	unsigned type = key & 7;
	if (type == WIRE_VARINT || type == WIRE_LEN) {
		if (get_varint(in, &v) < 0)
			return bad(in, r, "cut off");
	} else if (type == WIRE_FIXED64 || type == WIRE_FIXED32) {
		size_t n = type == WIRE_FIXED64 ? 8 : 4;
		if ((size_t)(in->end - in->at) < n)
			return bad(in, r, "cut off");
		memcpy(&v, in->at, n);
		in->at += n;
	} else {
		return bad(in, r, "unknown wire type");
	}
	if (type == WIRE_LEN) {
		if (v > (size_t)(in->end - in->at))
			return bad(in, r, "cut off");
		run = in->at;
		in->at += v;
	}
	const struct field *f = field_by_tag(r, key >> 3, hint);
	if (!f)
		return 0; /* written by a newer program */
	if (run && is_packed(f) && (f->flags & FIELD_REPEATED))
		return decode_packed(r, f, obj, run, v, in);
	bool wants_run = f->kind >= FIELD_STR && f->kind != FIELD_ENUM;
	if (wants_run != (run != NULL) || (f->kind == FIELD_F64) != (type == WIRE_FIXED64))
		return bad(in, r, f->name);
	void *at = element_for(r, f, obj, in);
	if (!at)
		return -EMSGSIZE;
	return run ? decode_run(r, f, at, run, v, in) : decode_scalar(r, f, at, v, in);
}

static int decode_record(const struct record *r, void *obj, struct reader *in)
{
	size_t hint = 0;
	while (in->at < in->end) {
		int e = decode_field(r, obj, in, &hint);
		if (e < 0)
			return e;
	}
	return 0;
}

int record_decode(const struct record *r, void *obj, const uint8_t *data, size_t len,
		  struct arena *a, struct error *err)
{
	size_t bits_left = BITS_BYTES_BASE + len * BITS_BYTES_EACH;
	const uint8_t *end = len ? data + len : data; /* nothing may be NULL */
	struct reader in = { data, end, a, err, 0, &bits_left };
	return decode_record(r, obj, &in);
}

/* ---- copy, release, compare --------------------------------------------------------------------- */

static void copy_element(const struct field *f, void *dst, const void *src, struct arena *a)
{
	switch (f->kind) {
	case FIELD_STR: {
		const char *s = *(char *const *)src;
		*(char **)dst = a ? arena_strdup(a, s) : mem_strdup(s);
		break;
	}
	case FIELD_BYTES: {
		const struct bytes *from = src;
		struct bytes *to = dst;
		to->data = a ? arena_dup(a, from->data, from->len) : mem_dup(from->data, from->len);
		to->len = from->len;
		break;
	}
	case FIELD_BITS:
		*(struct bitset *)dst = bitset_dup(src, a);
		break;
	case FIELD_RECORD:
		record_copy(f->sub, dst, src, a);
		break;
	case FIELD_BOOL:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
	case FIELD_ENUM:
		memcpy(dst, src, element_size(f));
		break;
	}
}

void record_copy(const struct record *r, void *dst, const void *src, struct arena *a)
{
	memcpy(dst, src, r->size); /* counts, flags and scalars; pointers are replaced below */
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		const char *first;
		uint32_t count = elements(f, src, &first);
		char *to = (char *)dst + f->offset;
		if (f->flags & FIELD_REPEATED) {
			size_t bytes = count * element_size(f);
			char *list = NULL;
			if (count)
				list = a ? arena_alloc(a, bytes) : mem_alloc(bytes);
			memcpy(to, &list, sizeof(list));
			to = list;
		}
		for (uint32_t n = 0; n < count; n++)
			copy_element(f, to + n * element_size(f), first + n * element_size(f), a);
	}
}

static void done_element(const struct field *f, void *at)
{
	switch (f->kind) {
	case FIELD_STR:
		free(*(char **)at);
		*(char **)at = NULL;
		break;
	case FIELD_BYTES:
		free(((struct bytes *)at)->data);
		*(struct bytes *)at = (struct bytes){};
		break;
	case FIELD_BITS:
		bitset_done(at);
		break;
	case FIELD_RECORD:
		record_done(f->sub, at);
		break;
	case FIELD_BOOL:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
	case FIELD_ENUM:
		break;
	}
}

void record_done(const struct record *r, void *obj)
{
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		const char *first;
		uint32_t count = elements(f, obj, &first);
		for (uint32_t n = 0; n < count; n++)
			done_element(f, (char *)(uintptr_t)first + n * element_size(f));
		if (f->flags & FIELD_REPEATED) {
			free(*(void **)((char *)obj + f->offset));
			*(void **)((char *)obj + f->offset) = NULL;
			*(uint32_t *)((char *)obj + f->count_offset) = 0;
		}
	}
}

static bool equal_element(const struct field *f, const void *a, const void *b)
{
	switch (f->kind) {
	case FIELD_STR:
		return str_eq(*(char *const *)a, *(char *const *)b);
	case FIELD_BYTES: {
		const struct bytes *x = a, *y = b;
		return x->len == y->len && (x->len == 0 || memcmp(x->data, y->data, x->len) == 0);
	}
	case FIELD_BITS:
		return ((const struct bitset *)a)->bits == ((const struct bitset *)b)->bits &&
		       bitset_equal(a, b);
	case FIELD_RECORD:
		return record_equal(f->sub, a, b);
	case FIELD_BOOL:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
	case FIELD_ENUM:
		break;
	}
	return scalar_get(f, a) == scalar_get(f, b);
}

bool record_equal(const struct record *r, const void *a, const void *b)
{
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		const char *x, *y;
		uint32_t n = elements(f, a, &x), m = elements(f, b, &y);
		if (n != m || field_present(f, a) != field_present(f, b))
			return false;
		if (!field_present(f, a))
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (!equal_element(f, x + k * element_size(f), y + k * element_size(f)))
				return false;
	}
	return true;
}

/* ---- print and look up ------------------------------------------------------------------------- */

static void print_element(const struct field *f, const void *at, struct buf *out)
{
	switch (f->kind) {
	case FIELD_BOOL:
		buf_puts(out, *(const bool *)at ? "yes" : "no");
		break;
	case FIELD_U32:
	case FIELD_U64:
		buf_printf(out, "%llu", (unsigned long long)scalar_get(f, at));
		break;
	case FIELD_I64:
		buf_printf(out, "%lld", (long long)scalar_get(f, at));
		break;
	case FIELD_F64:
		buf_printf(out, "%g", *(const double *)at);
		break;
	case FIELD_STR:
		buf_printf(out, "'%s'", *(char *const *)at ? *(char *const *)at : "");
		break;
	case FIELD_BYTES:
		buf_printf(out, "<%zu bytes>", ((const struct bytes *)at)->len);
		break;
	case FIELD_BITS:
		buf_putc(out, '[');
		bitset_print(at, out);
		buf_putc(out, ']');
		break;
	case FIELD_ENUM:
		buf_puts(out, enum_text(f->values, *(const int *)at));
		break;
	case FIELD_RECORD:
		buf_putc(out, '{');
		record_print(f->sub, at, out);
		buf_putc(out, '}');
		break;
	}
}

void record_print(const struct record *r, const void *obj, struct buf *out)
{
	const char *space = "";
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		const char *first;
		uint32_t count = elements(f, obj, &first);
		bool plain = !(f->flags & FIELD_REPEATED);
		if (!field_present(f, obj) || (plain && !(f->flags & FIELD_OPTIONAL) && is_zero(f, first)))
			continue;
		for (uint32_t n = 0; n < count; n++) {
			buf_printf(out, "%s%s=", space, f->name);
			print_element(f, first + n * element_size(f), out);
			space = " ";
		}
	}
}

const struct field *record_field(const struct record *r, const char *name)
{
	for (size_t i = 0; i < r->field_count; i++)
		if (strcmp(r->fields[i].name, name) == 0)
			return &r->fields[i];
	return NULL;
}

const struct field *record_field_by_key(const struct record *r, const char *key)
{
	for (size_t i = 0; i < r->field_count; i++)
		if (r->fields[i].key && str_ieq(r->fields[i].key, key))
			return &r->fields[i];
	return NULL;
}

bool field_attr(const struct field *f, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);
	for (const char *p = f->attrs; p && *p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL) {
		if (strncmp(p, name, len) != 0 || p[len] != '=')
			continue;
		snprintf(value, size, "%.*s", (int)strcspn(p + len + 1, " "), p + len + 1);
		return true;
	}
	return false;
}

static const struct enum_value *enum_find(const struct enum_desc *e, int number)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->values[i].number == number)
			return &e->values[i];
	return NULL;
}

const char *enum_text(const struct enum_desc *e, int number)
{
	const struct enum_value *v = enum_find(e, number);
	return v ? v->text : "?";
}

const char *enum_short(const struct enum_desc *e, int number)
{
	const struct enum_value *v = enum_find(e, number);
	return v ? v->short_text : "?";
}

bool enum_parse(const struct enum_desc *e, const char *text, int *ret)
{
	for (size_t i = 0; i < e->count; i++) {
		if (str_ieq(e->values[i].text, text) || str_ieq(e->values[i].short_text, text)) {
			*ret = e->values[i].number;
			return true;
		}
	}
	return false;
}
