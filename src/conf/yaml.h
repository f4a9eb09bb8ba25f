/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.h - a YAML text as a tree that knows its lines; libyaml is used in yaml.c and nowhere else.
 *
 * One document.  Anchors, aliases and keys that are not plain words are refused, as is what nests too deep
 * or has too many parts, so that a small file cannot become a large tree.  Memory is the arena's. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum yaml_kind { YAML_WORD, YAML_LIST, YAML_MAP };

struct yaml {
	enum yaml_kind kind;
	uint32_t line;
	const char *text;          /* of a word */
	const char *key;           /* where it is a member of a map */
	struct yaml *first, *next; /* members of a list or a map; the next of these */
};

/* `ret` is NULL for an empty document.  On error `ret_line` says where. */
NODISCARD int yaml_read(const char *text, size_t len, struct arena *a, struct yaml **ret,
			uint32_t *ret_line, struct error *err);
