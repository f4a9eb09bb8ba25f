/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory with one lifetime, freed all at once.
 *
 * Arenas are named after the lifetime they carry (request, turn, plan, cmd) and passed explicitly.
 * Memory is zeroed and aligned for any type.  Not thread-safe; one owner. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is fine */
void arena_clear(struct arena *a); /* forget everything, keep the first block */
void *arena_alloc(struct arena *a, size_t size);
void *arena_dup(struct arena *a, const void *p, size_t size);
char *arena_strdup(struct arena *a, const char *s); /* NULL stays NULL */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
size_t arena_used(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))
#define AUTO_ARENA CLEANUP(cleanup_arena)

static inline void cleanup_arena(struct arena **a)
{
	arena_free(*a);
}
