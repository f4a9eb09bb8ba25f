/* SPDX-License-Identifier: Apache-2.0 */
/* Entries live in an array in insertion order; `slots` is an open-addressed index into it.  Removing
 * leaves a hole in the array (value NULL) that keeps probing chains intact; adding compacts the array
 * when it is full or mostly holes.  Removing never moves anything, so a loop may remove as it goes. */
#include "base/map.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SPARSE_MIN = 32 }; /* below this holes cost nothing */

uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h ^= v;
	h *= 0x9E3779B97F4A7C15u;
	h ^= h >> 32;
	return h;
}

uint64_t hash_bytes(const void *p, size_t n)
{
	const uint8_t *bytes = p;
	uint64_t h = 0xcbf29ce484222325u ^ n;
	for (; n >= 8; n -= 8, bytes += 8) {
		uint64_t word;
		memcpy(&word, bytes, 8);
		h = hash_mix(h, word);
	}
	for (; n > 0; n--)
		h = hash_mix(h, *bytes++);
	return hash_mix(h, h >> 29);
}

void map_done(struct map *m)
{
	for (size_t i = 0; i < m->used; i++)
		free(m->entries[i].text);
	free(m->entries);
	free(m->slots);
	*m = (struct map) {};
}

static size_t slot_of(const struct map *m, uint64_t key)
{
	return (size_t)hash_mix(0x51ed270b, key) & (m->slot_count - 1);
}

static struct map_entry *find(const struct map *m, uint64_t key, const char *text)
{
	if (m->slot_count == 0)
		return NULL;
	for (size_t s = slot_of(m, key); m->slots[s]; s = (s + 1) & (m->slot_count - 1)) {
		struct map_entry *e = &m->entries[m->slots[s] - 1];
		if (e->value && e->key == key && (!text || strcmp(e->text, text) == 0))
			return e;
	}
	return NULL;
}

static void index_entry(struct map *m, size_t i)
{
	size_t s = slot_of(m, m->entries[i].key);
	while (m->slots[s])
		s = (s + 1) & (m->slot_count - 1);
	m->slots[s] = (uint32_t)i + 1;
}

static void rebuild(struct map *m)
{
	size_t live = 0;
	for (size_t i = 0; i < m->used; i++) {
		if (m->entries[i].value)
			m->entries[live++] = m->entries[i];
		else
			free(m->entries[i].text);
	}
	m->used = live;
	size_t want = 16;
	while (want < (live + 1) * 4)
		want *= 2;
	m->entry_cap = want / 2;
	m->entries = mem_grow(m->entries, m->entry_cap, sizeof(*m->entries));
	free(m->slots);
	m->slot_count = want;
	m->slots = mem_alloc(want * sizeof(*m->slots));
	for (size_t i = 0; i < m->used; i++)
		index_entry(m, i);
}

static void *put(struct map *m, uint64_t key, const char *text, void *value)
{
	assert(value);
	struct map_entry *e = find(m, key, text);
	if (e) {
		void *old = e->value;
		e->value = value;
		return old;
	}
	bool is_sparse = m->used > SPARSE_MIN && m->count < m->used / 2;
	if (m->used == m->entry_cap || is_sparse)
		rebuild(m);
	m->entries[m->used] = (struct map_entry) { key, mem_strdup(text), value };
	index_entry(m, m->used++);
	m->count++;
	return NULL;
}

static void *drop(struct map *m, uint64_t key, const char *text)
{
	struct map_entry *e = find(m, key, text);
	if (!e)
		return NULL;
	void *old = e->value;
	e->value = NULL;
	m->count--;
	return old;
}

void *map_get(const struct map *m, uint64_t key)
{
	struct map_entry *e = find(m, key, NULL);
	return e ? e->value : NULL;
}

void *map_put(struct map *m, uint64_t key, void *value)
{
	return put(m, key, NULL, value);
}

void *map_remove(struct map *m, uint64_t key)
{
	return drop(m, key, NULL);
}

void *map_get_str(const struct map *m, const char *key)
{
	struct map_entry *e = find(m, hash_bytes(key, strlen(key)), key);
	return e ? e->value : NULL;
}

void *map_put_str(struct map *m, const char *key, void *value)
{
	return put(m, hash_bytes(key, strlen(key)), key, value);
}

void *map_remove_str(struct map *m, const char *key)
{
	return drop(m, hash_bytes(key, strlen(key)), key);
}

const struct map_entry *map_next_entry(const struct map *m, size_t *pos)
{
	while (*pos < m->used) {
		const struct map_entry *e = &m->entries[(*pos)++];
		if (e->value)
			return e;
	}
	return NULL;
}

void *map_next(const struct map *m, size_t *pos)
{
	const struct map_entry *e = map_next_entry(m, pos);
	return e ? e->value : NULL;
}
