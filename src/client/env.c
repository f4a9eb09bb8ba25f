/* SPDX-License-Identifier: Apache-2.0 */
/* env.c - see env.h.  Lookup walks the list: an environment has a hundred entries, and is built once. */
#include "client/env.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

void env_done(struct env *e)
{
	for (size_t i = 0; i < e->entries.count; i++)
		free(e->entries.at[i]);
	vec_done(&e->entries);
}

static size_t name_len(const char *entry)
{
	return strcspn(entry, "=");
}

/* The place of the entry with this name, or the count when there is none. */
static size_t env_find(const struct env *e, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < e->entries.count; i++) {
		const char *entry = e->entries.at[i];
		if (strncmp(entry, name, len) == 0 && entry[len] == '=')
			break;
	}
	return i;
}

/* Takes the text over; a later entry of the same name replaces the earlier one. */
static void env_put(struct env *e, char *entry)
{
	size_t i = env_find(e, entry, name_len(entry));

	if (i == e->entries.count) {
		vec_push(&e->entries, entry);
		return;
	}
	free(e->entries.at[i]);
	e->entries.at[i] = entry;
}

/* Entries without a '=' or without a name cannot be passed on and are left out. */
static bool entry_is_valid(const char *entry, size_t len)
{
	const char *eq = memchr(entry, '=', len);

	return eq && eq != entry;
}

void env_from_block(struct env *e, const uint8_t *block, size_t len)
{
	size_t pos = 0;

	while (pos < len) {
		const char *entry = (const char *)block + pos;
		size_t n = strnlen(entry, len - pos);
		if (entry_is_valid(entry, n)) {
			char *copy = mem_alloc(n + 1);
			memcpy(copy, entry, n);
			env_put(e, copy);
		}
		pos += n + 1;
	}
}

void env_from_environ(struct env *e, char *const *environ_list)
{
	for (; *environ_list; environ_list++)
		if (entry_is_valid(*environ_list, strlen(*environ_list)))
			env_put(e, mem_strdup(*environ_list));
}

void env_to_block(const struct env *e, struct buf *out)
{
	for (size_t i = 0; i < e->entries.count; i++)
		buf_put(out, e->entries.at[i], strlen(e->entries.at[i]) + 1);
}

char **env_to_array(const struct env *e)
{
	char **array = mem_alloc((e->entries.count + 1) * sizeof(*array));

	if (e->entries.count)
		memcpy(array, e->entries.at, e->entries.count * sizeof(*array));
	return array;
}

void env_set(struct env *e, const char *name, const char *fmt, ...)
{
	struct buf b = {};
	va_list args;

	buf_puts(&b, name);
	buf_putc(&b, '=');
	va_start(args, fmt);
	buf_vprintf(&b, fmt, args);
	va_end(args);
	env_put(e, buf_take(&b, NULL));
}

void env_unset(struct env *e, const char *name)
{
	size_t i = env_find(e, name, strlen(name));

	if (i == e->entries.count)
		return;
	free(e->entries.at[i]);
	vec_remove(&e->entries, i);
}

const char *env_get(const struct env *e, const char *name)
{
	size_t len = strlen(name), i = env_find(e, name, len);

	return i < e->entries.count ? e->entries.at[i] + len + 1 : NULL;
}
