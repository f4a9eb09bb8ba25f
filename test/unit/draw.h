/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - repeatable random numbers for property tests. */
#pragma once
#include <stdint.h>

static inline uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static inline uint32_t draw_below(uint64_t *seed, uint32_t limit)
{
	return (uint32_t)(draw(seed) >> 11) % limit;
}
