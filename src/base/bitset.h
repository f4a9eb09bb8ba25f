/* SPDX-License-Identifier: Apache-2.0 */
/* bitset.h - sets of small integers: cores of a node, GPUs of a node, nodes of a cluster.
 *
 * A bitset is a pointer to words and a size in bits; bits beyond the size are always zero.  A zeroed
 * struct is the empty set of size 0.  The memory comes from the heap (bitset_init, bitset_done) or
 * from an arena (bitset_init_in, never freed by itself).  Operations on two sets want equal sizes,
 * except bitset_equal and bitset_intersects, which treat missing bits as zero. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct bitset {
	uint64_t *words;
	uint32_t bits;
};

#define BITSET_NONE UINT32_MAX

void bitset_init(struct bitset *s, uint32_t bits);
void bitset_init_in(struct bitset *s, uint32_t bits, struct arena *a);
void bitset_done(struct bitset *s);
void bitset_copy(struct bitset *dst, const struct bitset *src); /* dst is initialised, same size */
struct bitset bitset_dup(const struct bitset *src, struct arena *a); /* heap when a is NULL */

static inline uint32_t bitset_words(uint32_t bits)
{
	return (bits + 63) / 64;
}

static inline bool bitset_has(const struct bitset *s, uint32_t i)
{
	return i < s->bits && (s->words[i / 64] >> (i % 64) & 1);
}

void bitset_add(struct bitset *s, uint32_t i);
void bitset_remove(struct bitset *s, uint32_t i);
void bitset_add_range(struct bitset *s, uint32_t first, uint32_t count);
void bitset_clear(struct bitset *s);
void bitset_fill(struct bitset *s);

void bitset_or(struct bitset *dst, const struct bitset *src);
void bitset_and(struct bitset *dst, const struct bitset *src);
void bitset_minus(struct bitset *dst, const struct bitset *src);

uint32_t bitset_count(const struct bitset *s);
uint32_t bitset_count_and(const struct bitset *a, const struct bitset *b);
uint32_t bitset_count_range(const struct bitset *s, uint32_t first, uint32_t count); /* members there */
bool bitset_empty(const struct bitset *s);
bool bitset_equal(const struct bitset *a, const struct bitset *b);
bool bitset_intersects(const struct bitset *a, const struct bitset *b);
bool bitset_contains(const struct bitset *big, const struct bitset *small);

/* Smallest member >= from, or BITSET_NONE.
 *	for (uint32_t i = bitset_next(&s, 0); i != BITSET_NONE; i = bitset_next(&s, i + 1)) */
uint32_t bitset_next(const struct bitset *s, uint32_t from);

struct buf;
/* "0-3,7": how users write sets of ids; nothing for the empty set. */
void bitset_print(const struct bitset *s, struct buf *out);
