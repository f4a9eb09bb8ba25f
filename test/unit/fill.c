/* SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

#include "base/arena.h"
#include "schema/record.h"

uint64_t fill_draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void fill(const struct record *r, void *obj, struct arena *a, uint64_t *seed, int depth);

static void fill_element(const struct field *f, void *at, struct arena *a, uint64_t *seed,
			 int depth)
{
	switch (f->kind) {
	case FIELD_BOOL:
		*(bool *)at = fill_draw(seed) & 1;
		break;
	case FIELD_U32:
		*(uint32_t *)at = (uint32_t)(fill_draw(seed) >> (fill_draw(seed) % 64));
		break;
	case FIELD_U64:
	case FIELD_I64:
		*(uint64_t *)at = fill_draw(seed) >> (fill_draw(seed) % 64);
		break;
	case FIELD_F64:
		*(double *)at = (double)(fill_draw(seed) % 1000) / 8;
		break;
	case FIELD_ENUM:
		*(int *)at = f->values->values[fill_draw(seed) % f->values->count].number;
		break;
	case FIELD_STR:
		*(char **)at = arena_printf(a, "%.*s", (int)(fill_draw(seed) % 9), "node[1-3]");
		break;
	case FIELD_BYTES: {
		size_t len = fill_draw(seed) % 300;
		*(struct bytes *)at = (struct bytes) { arena_alloc(a, len + 1), len };
		break;
	}
	case FIELD_BITS:
		bitset_init_in(at, (uint32_t)(1 + fill_draw(seed) % 200), a);
		bitset_add(at, (uint32_t)(fill_draw(seed) % ((struct bitset *)at)->bits));
		break;
	case FIELD_RECORD:
		fill(f->sub, at, a, seed, depth + 1);
		break;
	}
}

static void fill(const struct record *r, void *obj, struct arena *a, uint64_t *seed, int depth)
{
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		if (fill_draw(seed) % 3 == 0)
			continue;
		char *at = (char *)obj + f->offset;
		if (f->flags & FIELD_OPTIONAL)
			*((bool *)obj + f->has_offset) = true;
		if (!(f->flags & FIELD_REPEATED)) {
			fill_element(f, at, a, seed, depth);
			continue;
		}
		uint32_t count = depth > 2 ? 0 : (uint32_t)(fill_draw(seed) % 4);
		size_t size = f->kind == FIELD_RECORD ? f->sub->size : 16; /* at least any scalar */
		if (f->kind == FIELD_STR || f->kind == FIELD_U64)
			size = 8;
		if (f->kind == FIELD_U32)
			size = 4;
		char *list = arena_alloc(a, size * (count + 1));
		for (uint32_t n = 0; n < count; n++)
			fill_element(f, list + n * size, a, seed, depth);
		memcpy(at, &list, sizeof(list));
		memcpy((char *)obj + f->count_offset, &count, sizeof(count));
	}
}

void fill_record(const struct record *r, void *obj, struct arena *a, uint64_t *seed)
{
	fill(r, obj, a, seed, 0);
}
