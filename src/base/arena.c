/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of blocks, newest first.  Small requests are cut from the newest block; a request that
 * does not fit opens a block of its own size, so nothing is ever moved.  Under ASan the unused rest
 * of a block is poisoned: reading past an allocation is reported as for the heap. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20, ALIGN = 16 };

struct block {
	struct block *next;
	size_t size, used;
	bool is_dirty; /* was used before it was cleared */
	_Alignas(ALIGN) unsigned char data[];
};

struct arena {
	struct block *top;
	size_t next_size, used;
};

static struct block *block_new(size_t size, struct block *next)
{
	/* Large blocks come zeroed from the system, which need not touch them for it. */
	struct block *b = size > BLOCK_MAX ? mem_alloc(sizeof(*b) + size) : mem_grow(NULL, 1, sizeof(*b) + size);
	b->next = next;
	b->size = size;
	b->used = 0;
	b->is_dirty = false;
	POISON(b->data, size);
	return b;
}

/* Is the rest of the block still as the system gave it? */
static bool is_zeroed(const struct block *b)
{
	return b->size > BLOCK_MAX && !b->is_dirty;
}

static void block_free(struct block *b)
{
	UNPOISON(b->data, b->size);
	free(b);
}

struct arena *arena_new(void)
{
	struct arena *a = NEW(struct arena);
	a->next_size = BLOCK_MIN;
	return a;
}

static void free_blocks(struct block *b)
{
	while (b) {
		struct block *next = b->next;
		block_free(b);
		b = next;
	}
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	free_blocks(a->top);
	free(a);
}

void arena_clear(struct arena *a)
{
	a->used = 0;
	if (!a->top)
		return;
	free_blocks(a->top->next);
	a->top->next = NULL;
	a->top->used = 0;
	a->top->is_dirty = true;
	POISON(a->top->data, a->top->size);
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		return mem_grow(NULL, SIZE_MAX, 2); /* aborts */
	size_t take = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!a->top || a->top->size - a->top->used < take) {
		size_t block = a->next_size > take ? a->next_size : take;
		a->top = block_new(block, a->top);
		if (a->next_size < BLOCK_MAX)
			a->next_size *= 2;
	}
	unsigned char *p = a->top->data + a->top->used;
	UNPOISON(p, size);
	if (!is_zeroed(a->top))
		memset(p, 0, size);
	a->top->used += take;
	a->used += take;
	return p;
}

void *arena_dup(struct arena *a, const void *p, size_t size)
{
	void *copy = arena_alloc(a, size);
	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_dup(a, s, strlen(s) + 1) : NULL;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *copy = arena_alloc(a, len + 1);
	if (len)
		memcpy(copy, s, len);
	return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	char *text = arena_alloc(a, (size_t)(len < 0 ? 0 : len) + 1);
	vsnprintf(text, (size_t)(len < 0 ? 0 : len) + 1, fmt, again);
	va_end(again);
	return text;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
