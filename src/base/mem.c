/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p, size_t size)
{
	if (p || size == 0)
		return p;
	fprintf(stderr, "fatal: out of memory (asked for %zu bytes)\n", size);
	abort();
}

void *mem_alloc(size_t size)
{
	return must(calloc(1, size ? size : 1), size);
}

void *mem_grow(void *p, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		must(NULL, SIZE_MAX);
	size_t bytes = count * size;
	return must(realloc(p, bytes ? bytes : 1), bytes);
}

char *mem_strdup(const char *s)
{
	return s ? mem_dup(s, strlen(s) + 1) : NULL;
}

void *mem_dup(const void *p, size_t size)
{
	void *copy = mem_alloc(size);
	if (size)
		memcpy(copy, p, size);
	return copy;
}
