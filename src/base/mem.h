/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - heap allocation that cannot fail: out of memory ends the program with a message.
 *
 * The journal makes a restart safe, and sizes that come from outside are bounded before they reach
 * these functions, so nobody can cause the abort from a socket. */
#pragma once
#include <stddef.h>

void *mem_alloc(size_t size);                    /* zeroed */
void *mem_grow(void *p, size_t count, size_t size); /* realloc with overflow check */
char *mem_strdup(const char *s);                 /* NULL stays NULL */
void *mem_dup(const void *p, size_t size);

#define NEW(type) ((type *)mem_alloc(sizeof(type)))
