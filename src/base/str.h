/* SPDX-License-Identifier: Apache-2.0 */
/* str.h - questions about C strings and strict number parsing.
 *
 * The parsers take the whole string or nothing: no leading blanks, signs or trailing rubbish. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool str_eq(const char *a, const char *b);  /* NULL equals only NULL */
bool str_ieq(const char *a, const char *b); /* ignoring ASCII case */
bool str_starts(const char *s, const char *prefix);
bool str_istarts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
bool str_empty(const char *s); /* NULL or "" */
char *str_trim(char *s);       /* in place; returns the first non-blank */

NODISCARD int str_to_u32(const char *s, uint32_t *ret); /* -EINVAL or -ERANGE */
NODISCARD int str_to_u64(const char *s, uint64_t *ret);
NODISCARD int str_to_i64(const char *s, int64_t *ret);  /* a leading '-' is allowed */

/* Edit distance for "did you mean"; case is ignored, and it stops counting at `limit`. */
unsigned str_distance(const char *a, const char *b, unsigned limit);
/* The closest of `count` candidates, or NULL when none is near enough to be meant. */
const char *str_closest(const char *word, const char *const *candidates, size_t count);
