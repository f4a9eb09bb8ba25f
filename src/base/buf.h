/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a growing run of bytes, always followed by a NUL so that text in it is a C string.
 *
 * Used for building messages, records and output.  A zeroed struct is an empty buffer; buf_done
 * frees.  Sizes that come from outside are bounded by whoever reads them. */
#pragma once
#include "base/cleanup.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data;
	size_t len, cap;
};

void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_reserve(struct buf *b, size_t more);
void buf_put(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
void buf_drop(struct buf *b, size_t n); /* forget the first n bytes */
const char *buf_text(const struct buf *b); /* "" when empty */
char *buf_take(struct buf *b, size_t *ret_len); /* hands the memory over; ret_len may be NULL */

#define AUTO_BUF CLEANUP(buf_done)
