/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - one descriptor-driven runtime for everything that schema/ declares.
 *
 * A record is a C struct plus a table of its fields, both generated from one row per field.  From
 * the table come the wire and journal codec, deep copy, release, comparison and printing; none of
 * them knows any record by name.
 *
 * The encoding is protobuf's: varint keys (tag << 3 | type), varints, 8-byte doubles and
 * length-delimited runs.  Unknown tags are skipped, absent fields keep their zero value, so old and
 * new programs understand each other as long as tags are only ever added.
 *
 * Memory of a decoded or copied record comes from the arena given, or from the heap when that is
 * NULL; then record_done releases it. */
#pragma once
#include "base/bitset.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

struct bytes {
	uint8_t *data;
	size_t len;
};

enum field_kind {
	FIELD_BOOL,
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,
	FIELD_F64,
	FIELD_STR,
	FIELD_BYTES,
	FIELD_BITS,
	FIELD_ENUM,
	FIELD_RECORD,
};

enum field_flags { FIELD_OPTIONAL = 1, FIELD_REPEATED = 2 };

struct enum_value {
	int number;
	const char *text;  /* as users write and read it */
	const char *short_text;
};

struct enum_desc {
	const char *name;
	const struct enum_value *values;
	size_t count;
};

struct record;

struct field {
	uint32_t tag; /* wire number: never reused, never renumbered */
	enum field_kind kind;
	uint32_t flags;
	uint32_t row; /* position among the rows of the .def file: the order in which people read them */
	const char *name;
	size_t offset, has_offset, count_offset;
	size_t limit; /* longest text, or most elements */
	const struct record *sub;
	const struct enum_desc *values;
	const char *key;   /* how files, `scontrol show` and `scontrol update` call it */
	const char *def;   /* default as text, read by the same parser as user input */
	const char *unit;
	const char *parse; /* name of the small language of the value */
	const char *absent; /* what to show when there is no value */
	int64_t min, max;  /* both 0: no range */
	const char *attrs; /* other attributes of the row, "key=value key=value" */
	const char *help;
};

struct record {
	const char *name;
	size_t size;
	const struct field *fields; /* by ascending tag */
	size_t field_count;
};

struct message_desc {
	const char *name;
	const struct record *request;
	const struct record *reply; /* NULL: nothing is answered */
	int access;                 /* enum message_access */
	const char *help;
};

/* A choice of fields by tag, so that a reader is sent only what it prints. */
struct field_mask {
	uint64_t words[4]; /* tags 0..255 */
	uint32_t sub_tag;  /* a nested record of which only some fields are wanted, too; */
	const struct field_mask *sub; /* NULL: all of them */
};
static inline void field_mask_add(struct field_mask *m, uint32_t tag)
{
	m->words[tag / 64 % 4] |= 1ull << (tag % 64);
}
static inline bool field_mask_has(const struct field_mask *m, uint32_t tag)
{
	return m->words[tag / 64 % 4] >> (tag % 64) & 1;
}

void record_encode(const struct record *r, const void *obj, struct buf *out);
/* Only the fields in `mask`; of nested records all but for mask->sub.  NULL means all. */
void record_encode_some(const struct record *r, const void *obj, const struct field_mask *mask,
			struct buf *out);
/* One element of a repeated record field, as record_encode writes it; for lists too long to be built. */
void record_encode_item(uint32_t tag, const struct record *item, const void *obj,
			const struct field_mask *mask, struct buf *out);
/* `obj` must be zeroed.  On failure it holds what was read so far and may be released. */
int record_decode(const struct record *r, void *obj, const uint8_t *data, size_t len,
		  struct arena *a, struct error *err);

void record_copy(const struct record *r, void *dst, const void *src, struct arena *a);
void record_done(const struct record *r, void *obj); /* heap members only; the struct stays */
bool record_equal(const struct record *r, const void *a, const void *b);
/* One line "name=value name={...}" for logs, the simulator's story and failing tests. */
void record_print(const struct record *r, const void *obj, struct buf *out);

const struct field *record_field(const struct record *r, const char *name);
const struct field *record_field_by_key(const struct record *r, const char *key); /* any case */
/* The value of an attribute of the row, copied into `value`; false when it has none. */
bool field_attr(const struct field *f, const char *name, char *value, size_t size);
/* Is the field there?  Always true unless it is optional. */
bool field_present(const struct field *f, const void *obj);

const char *enum_text(const struct enum_desc *e, int number);  /* "?" when unknown */
const char *enum_short(const struct enum_desc *e, int number);
bool enum_parse(const struct enum_desc *e, const char *text, int *ret); /* either text, any case */
