/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - hash maps from a number or a string to a pointer.
 *
 * Iteration order is the order of insertion (a replaced value keeps its place) and never depends on
 * addresses, so that a run can be repeated exactly.  A zeroed struct is an empty map.  String keys
 * are copied.  Values belong to the caller. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key;  /* the number, or the hash of the string */
	char *text;    /* string key, owned; NULL in a number map */
	void *value;   /* NULL marks a removed entry */
};

struct map {
	struct map_entry *entries; /* in insertion order */
	uint32_t *slots;           /* open addressing: index into entries + 1 */
	size_t used;               /* entries in use or removed */
	size_t count;              /* live entries */
	size_t entry_cap, slot_count;
};

void map_done(struct map *m);
void *map_get(const struct map *m, uint64_t key);
void *map_put(struct map *m, uint64_t key, void *value); /* returns the previous value or NULL */
void *map_remove(struct map *m, uint64_t key);           /* returns what was there */

void *map_get_str(const struct map *m, const char *key);
void *map_put_str(struct map *m, const char *key, void *value);
void *map_remove_str(struct map *m, const char *key);

/* for (size_t i = 0; (v = map_next(&m, &i));) ...  The loop may remove entries and replace values; it
 * must not add keys. */
void *map_next(const struct map *m, size_t *pos);
const struct map_entry *map_next_entry(const struct map *m, size_t *pos);

uint64_t hash_bytes(const void *p, size_t n); /* stable across runs and machines */
uint64_t hash_mix(uint64_t h, uint64_t v);
