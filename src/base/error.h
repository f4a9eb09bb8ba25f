/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - what went wrong, in words for the person who will read it.
 *
 * Functions that can fail return 0 or a negative code (an errno, or a number of schema/errors.def,
 * which start at 2000).  Where a human will read the reason they take a `struct error *` last; it is
 * written once, where the reason is known, and wrapped with context on the way up.  `err` may be
 * NULL when the caller only wants the code. */
#pragma once
#include "base/cleanup.h"

#define ERROR_TEXT_MAX 512

struct error {
	int code; /* 0, or the negative code that was returned */
	char text[ERROR_TEXT_MAX];
};

/* Both return `code`, so that `return error_set(err, -ENOENT, "...")` reads as one line. */
int error_set(struct error *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts "context: " before the text that is there. */
int error_wrap(struct error *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
