/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - memory sizes (100, 4G, 1T; MiB without a suffix) and counts (2k = 2048). */
#pragma once
#include "base/cleanup.h"

#include <stdint.h>

struct error;

enum { SIZE_TEXT = 32 };

NODISCARD int size_parse_mib(const char *text, uint64_t *ret_mib, struct error *err); /* K rounds up */
NODISCARD int count_parse(const char *text, uint64_t *ret, struct error *err); /* k m g t p: 1024^n */
/* As Slurm prints memory: exact in the largest unit with at most two decimals: 1000M, 62.50G, 4G. */
void size_print_mib(uint64_t mib, char ret[SIZE_TEXT]);
