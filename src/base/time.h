/* SPDX-License-Identifier: Apache-2.0 */
/* time.h - the one unit of time inside: microseconds since 1970 UTC, or a span of them. */
#pragma once
#include <stdint.h>

typedef int64_t usec_t;

#define USEC_PER_MSEC ((usec_t)1000)
#define USEC_PER_SEC ((usec_t)1000000)
#define USEC_PER_MIN (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MIN)
#define USEC_PER_DAY (24 * USEC_PER_HOUR)
