/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h - runs of equal numbers: 72(x2),36 of SLURM_JOB_CPUS_PER_NODE and its kin. */
#pragma once
#include "base/cleanup.h"

#include <stdint.h>

struct arena;
struct buf;
struct error;

void counts_print(const uint32_t *values, uint32_t count, struct buf *out);
NODISCARD int counts_parse(const char *text, struct arena *a, uint32_t **ret, uint32_t *ret_count,
			   struct error *err);
