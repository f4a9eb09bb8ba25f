/* SPDX-License-Identifier: Apache-2.0 */
/* fill.h - records with random contents, the same for the same seed. */
#pragma once
#include <stdint.h>

struct arena;
struct record;

uint64_t fill_draw(uint64_t *seed); /* the seed is not 0 */
/* `obj` is zeroed; about a third of the fields stay so. */
void fill_record(const struct record *r, void *obj, struct arena *a, uint64_t *seed);
