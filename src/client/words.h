/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - a line into words, as scontrol's prompt reads them, and words into Key=Value pairs. */
#pragma once
#include "base/cleanup.h"

#include <stdint.h>

struct arena;
struct conf_line;
struct error;

/* Blanks separate, quotes of either kind keep them: reason="bad dimm" is one word, without its quotes.
 * The array ends with NULL, as an argv does. */
NODISCARD int words_split(const char *line, struct arena *a, char ***ret, int *ret_count,
			  struct error *err);

/* jobid=7 comment="a b": the key ends at the first `=`, the value is all the rest. */
NODISCARD int pair_split(const char *word, struct arena *a, struct conf_line *ret,
			 struct error *err);
