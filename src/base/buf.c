/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf) {};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = 0;
}

void buf_reserve(struct buf *b, size_t more)
{
	assert(more < SIZE_MAX / 4 && b->len < SIZE_MAX / 4);
	size_t need = b->len + more + 1;
	if (need <= b->cap)
		return;
	size_t cap = b->cap ? b->cap * 2 : 64;
	while (cap < need)
		cap *= 2;
	b->data = mem_grow(b->data, cap, 1);
	b->cap = cap;
	b->data[b->len] = 0;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	if (n == 0)
		return;
	buf_reserve(b, n);
	memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = 0;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	buf_vprintf(b, fmt, args);
	va_end(args);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, args);
	if (len > 0) {
		buf_reserve(b, (size_t)len);
		vsnprintf((char *)b->data + b->len, (size_t)len + 1, fmt, again);
		b->len += (size_t)len;
	}
	va_end(again);
}

void buf_drop(struct buf *b, size_t n)
{
	assert(n <= b->len);
	if (n == 0)
		return;
	b->len -= n;
	memmove(b->data, b->data + n, b->len + 1);
}

const char *buf_text(const struct buf *b)
{
	return b->data ? (const char *)b->data : "";
}

char *buf_take(struct buf *b, size_t *ret_len)
{
	buf_reserve(b, 0);
	if (ret_len)
		*ret_len = b->len;
	char *data = (char *)b->data;
	*b = (struct buf) {};
	return data;
}
