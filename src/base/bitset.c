/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

static size_t bytes_of(const struct bitset *s)
{
	return bitset_words(s->bits) * sizeof(uint64_t);
}

void bitset_init(struct bitset *s, uint32_t bits)
{
	bitset_init_in(s, bits, NULL);
}

void bitset_init_in(struct bitset *s, uint32_t bits, struct arena *a)
{
	s->bits = bits;
	s->words = NULL;
	if (bits)
		s->words = a ? arena_alloc(a, bytes_of(s)) : mem_alloc(bytes_of(s));
}

void bitset_done(struct bitset *s)
{
	free(s->words);
	*s = (struct bitset) {};
}

void bitset_copy(struct bitset *dst, const struct bitset *src)
{
	assert(dst->bits == src->bits);
	if (src->bits)
		memcpy(dst->words, src->words, bytes_of(src));
}

struct bitset bitset_dup(const struct bitset *src, struct arena *a)
{
	struct bitset copy;
	bitset_init_in(&copy, src->bits, a);
	bitset_copy(&copy, src);
	return copy;
}

void bitset_add(struct bitset *s, uint32_t i)
{
	assert(i < s->bits);
	s->words[i / 64] |= 1ull << (i % 64);
}

void bitset_remove(struct bitset *s, uint32_t i)
{
	assert(i < s->bits);
	s->words[i / 64] &= ~(1ull << (i % 64));
}

void bitset_add_range(struct bitset *s, uint32_t first, uint32_t count)
{
	assert(first <= s->bits && count <= s->bits - first);
	for (uint32_t i = first, end = first + count; i < end;) {
		uint32_t take = 64 - i % 64 < end - i ? 64 - i % 64 : end - i;
		s->words[i / 64] |= (~0ull >> (64 - take)) << (i % 64);
		i += take;
	}
}

void bitset_clear(struct bitset *s)
{
	if (s->bits)
		memset(s->words, 0, bytes_of(s));
}

void bitset_fill(struct bitset *s)
{
	if (!s->bits)
		return;
	memset(s->words, 0xff, bytes_of(s));
	if (s->bits % 64)
		s->words[s->bits / 64] &= (1ull << (s->bits % 64)) - 1;
}

void bitset_or(struct bitset *dst, const struct bitset *src)
{
	assert(dst->bits == src->bits);
	for (uint32_t w = 0; w < bitset_words(dst->bits); w++)
		dst->words[w] |= src->words[w];
}

void bitset_and(struct bitset *dst, const struct bitset *src)
{
	assert(dst->bits == src->bits);
	for (uint32_t w = 0; w < bitset_words(dst->bits); w++)
		dst->words[w] &= src->words[w];
}

void bitset_minus(struct bitset *dst, const struct bitset *src)
{
	assert(dst->bits == src->bits);
	for (uint32_t w = 0; w < bitset_words(dst->bits); w++)
		dst->words[w] &= ~src->words[w];
}

uint32_t bitset_count(const struct bitset *s)
{
	uint32_t n = 0;
	for (uint32_t w = 0; w < bitset_words(s->bits); w++)
		n += (uint32_t)__builtin_popcountll(s->words[w]);
	return n;
}

uint32_t bitset_count_and(const struct bitset *a, const struct bitset *b)
{
	uint32_t n = 0, words = bitset_words(a->bits < b->bits ? a->bits : b->bits);
	for (uint32_t w = 0; w < words; w++)
		n += (uint32_t)__builtin_popcountll(a->words[w] & b->words[w]);
	return n;
}

uint32_t bitset_count_range(const struct bitset *s, uint32_t first, uint32_t count)
{
	uint32_t n = 0, end = first + count < s->bits ? first + count : s->bits;
	for (uint32_t w = first / 64; w * 64 < end; w++) {
		uint64_t word = s->words[w];
		if (w == first / 64)
			word &= ~0ull << (first % 64);
		if (end - w * 64 < 64)
			word &= (1ull << (end - w * 64)) - 1;
		n += (uint32_t)__builtin_popcountll(word);
	}
	return n;
}

bool bitset_empty(const struct bitset *s)
{
	for (uint32_t w = 0; w < bitset_words(s->bits); w++)
		if (s->words[w])
			return false;
	return true;
}

bool bitset_equal(const struct bitset *a, const struct bitset *b)
{
	uint32_t wa = bitset_words(a->bits), wb = bitset_words(b->bits);
	for (uint32_t w = 0; w < wa || w < wb; w++)
		if ((w < wa ? a->words[w] : 0) != (w < wb ? b->words[w] : 0))
			return false;
	return true;
}

bool bitset_intersects(const struct bitset *a, const struct bitset *b)
{
	uint32_t words = bitset_words(a->bits < b->bits ? a->bits : b->bits);
	for (uint32_t w = 0; w < words; w++)
		if (a->words[w] & b->words[w])
			return true;
	return false;
}

bool bitset_contains(const struct bitset *big, const struct bitset *small)
{
	uint32_t have = bitset_words(big->bits);
	for (uint32_t w = 0; w < bitset_words(small->bits); w++)
		if (small->words[w] & ~(w < have ? big->words[w] : 0))
			return false;
	return true;
}

uint32_t bitset_next(const struct bitset *s, uint32_t from)
{
	uint32_t words = bitset_words(s->bits);
	for (uint32_t w = from / 64; w < words; w++) {
		uint64_t word = s->words[w];
		if (w == from / 64)
			word &= ~0ull << (from % 64);
		if (word)
			return w * 64 + (uint32_t)__builtin_ctzll(word);
	}
	return BITSET_NONE;
}

void bitset_print(const struct bitset *s, struct buf *out)
{
	const char *comma = "";
	for (uint32_t i = bitset_next(s, 0); i != BITSET_NONE; i = bitset_next(s, i)) {
		uint32_t last = i;
		while (bitset_has(s, last + 1))
			last++;
		buf_printf(out, last > i ? "%s%u-%u" : "%s%u", comma, i, last);
		comma = ",";
		i = last + 1;
	}
}
