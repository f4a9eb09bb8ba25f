/* SPDX-License-Identifier: Apache-2.0 */
/* bindlist.h - what --cpu-bind and --gpu-bind have in common: words about the output in front, and the
 * lists of map and mask, one entry for each local task.
 *
 * "0,1*2,3": an entry may be repeated, and the list starts again at its end.  Maps are decimal numbers,
 * masks hexadecimal ones of any length, with or without 0x. */
#pragma once
#include "base/bitset.h"

#include <stdbool.h>

struct arena;

bool bindlist_is_valid(const char *list, bool masks);
/* What the entry of a local task names; the set is as large as it needs to be. */
struct bitset bindlist_entry(const char *list, bool masks, uint32_t local, struct arena *a);

/* Skips `quiet,` and `verbose,` (q, v) in front and takes note of the last one. */
const char *bind_read_chatter(const char *text, bool *ret_quiet, bool *ret_verbose);
