/* SPDX-License-Identifier: Apache-2.0 */
/* billing.h - TRESBillingWeights: what a job costs, from what it has. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct billing_gres {
	const char *name;
	uint64_t count;
};

struct billing_counts {
	uint64_t cpus, mem_mib, nodes;
	const struct billing_gres *gres;
	size_t gres_count;
};

/* CPU=1.0,Mem=0.25G,GRES/gpu=2.0: known names, numbers not below 0, memory per MiB or with a suffix. */
NODISCARD int billing_check(const char *weights, struct error *err);
/* The weighted sum, or with `by_largest` (PriorityFlags=MAX_TRES) the largest part; rounded down.
 * Without weights a CPU costs 1. */
uint64_t billing(const char *weights, bool by_largest, const struct billing_counts *c);
