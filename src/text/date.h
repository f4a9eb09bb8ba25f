/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - points in time: --begin, --deadline and what reports print.
 *
 * Local time follows the TZ of the process; `now` is passed in, so the functions are pure but for it. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"

struct error;

enum { DATE_TEXT = 64 };

/* HH:MM[:SS][AM|PM], MMDD[YY], MM/DD[/YY], MM.DD[.YY], YYYY-MM-DD[THH:MM[:SS]], now[+-]N[unit], today,
 * tomorrow, midnight, noon, elevenses, fika, teatime, and a date followed by -time or a blank and time.
 * A time of day that has passed is tomorrow's. */
NODISCARD int date_parse(const char *text, usec_t now, usec_t *ret, struct error *err);
/* 2026-11-15T04:00:55, "Unknown" for 0; SLURM_TIME_FORMAT is applied by `format` ("standard", "relative", strftime). */
void date_print(usec_t when, char ret[DATE_TEXT]);
void date_print_as(usec_t when, usec_t now, const char *format, char ret[DATE_TEXT]);
