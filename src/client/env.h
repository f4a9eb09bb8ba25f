/* SPDX-License-Identifier: Apache-2.0 */
/* env.h - an environment being put together: NAME=value entries, each name once.
 *
 * On the wire and in the journal it is a block of entries, each ended by a zero byte. */
#pragma once
#include "base/cleanup.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

struct buf;

struct env {
	VEC(char *) entries; /* owned "NAME=value" texts */
};

void env_done(struct env *e);
void env_from_block(struct env *e, const uint8_t *block, size_t len);
void env_from_environ(struct env *e, char *const *environ);
void env_to_block(const struct env *e, struct buf *out);
char **env_to_array(const struct env *e); /* NULL-terminated; free the array, not the texts */
void env_set(struct env *e, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
void env_unset(struct env *e, const char *name);
const char *env_get(const struct env *e, const char *name);
