/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - a growing array of any type, as a struct of its own.
 *
 *	VEC(uint32_t) ids = {};
 *	vec_push(&ids, 7u);
 *	for (size_t i = 0; i < ids.count; i++) use(ids.at[i]);
 *	vec_done(&ids);
 *
 * A zeroed struct is empty.  Elements move when it grows: keep no pointers into it. */
#pragma once
#include "base/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t count, cap;                                                                 \
	}

#define vec_reserve(v, want)                                                                       \
	do {                                                                                       \
		if ((v)->cap < (want)) {                                                           \
			(v)->cap = (v)->cap * 2 > (want) ? (v)->cap * 2 : (want);                  \
			(v)->cap = (v)->cap < 8 ? 8 : (v)->cap;                                    \
			(v)->at = mem_grow((v)->at, (v)->cap, sizeof(*(v)->at));                   \
		}                                                                                  \
	} while (0)

#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		vec_reserve((v), (v)->count + 1);                                                  \
		(v)->at[(v)->count++] = (__VA_ARGS__);                                             \
	} while (0)

#define vec_insert(v, index, ...)                                                                  \
	do {                                                                                       \
		size_t at_ = (index);                                                              \
		vec_reserve((v), (v)->count + 1);                                                  \
		memmove((v)->at + at_ + 1, (v)->at + at_, ((v)->count - at_) * sizeof(*(v)->at));  \
		(v)->at[at_] = (__VA_ARGS__);                                                      \
		(v)->count++;                                                                      \
	} while (0)

#define vec_remove(v, index)                                                                       \
	do {                                                                                       \
		size_t at_ = (index);                                                              \
		(v)->count--;                                                                      \
		memmove((v)->at + at_, (v)->at + at_ + 1, ((v)->count - at_) * sizeof(*(v)->at));  \
	} while (0)

#define vec_clear(v) ((void)((v)->count = 0))

#define vec_done(v)                                                                                \
	do {                                                                                       \
		free((v)->at);                                                                     \
		(v)->at = NULL;                                                                    \
		(v)->count = (v)->cap = 0;                                                         \
	} while (0)
