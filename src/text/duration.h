/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h - time limits and spans: 30, 1:30:00, 2-12, UNLIMITED. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>

struct error;

#define DURATION_UNLIMITED ((usec_t)0)
#define DURATION_FOREVER INT64_MAX
enum { DURATION_TEXT = 32 };

/* A time limit as sbatch -t takes it: m, m:s, h:m:s, d-h, d-h:m, d-h:m:s, UNLIMITED or INFINITE.
 * Seconds round up to minutes.  0 means no limit. */
NODISCARD int duration_parse_limit(const char *text, usec_t *ret, struct error *err);
/* How long to wait, in the same language but to the second; UNLIMITED is DURATION_FOREVER and 0 is none. */
NODISCARD int duration_parse_wait(const char *text, usec_t *ret, struct error *err);
/* How squeue prints spans: 0:22, 30:00, 1:02:03, 2-00:00:00.  Cut to whole seconds. */
void duration_print(usec_t span, char ret[DURATION_TEXT]);
/* How scontrol prints them: 00:00:22, 2-00:00:00. */
void duration_print_long(usec_t span, char ret[DURATION_TEXT]);
