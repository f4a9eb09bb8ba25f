/* SPDX-License-Identifier: Apache-2.0 */
/* constraint.h - the language of --constraint and --prefer.
 *
 *	intel&gpu   intel|amd   rack1*4   [rack1|rack2]   [a*2&b*4]   (a|b)&c
 *
 * Without parentheses it is read strictly from left to right.  One bracket group at most: inside it `|`
 * means that all nodes of the job match the same alternative, and `&` joins terms with counts, each of
 * which must be met by so many nodes.
 *
 * A parsed constraint is canonical: AND and OR have at least two parts and none of their own kind;
 * SAME and EACH stand at the top or as parts of an AND at the top, at most one of each. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

enum constraint_kind {
	CONSTRAINT_NAME, /* a feature */
	CONSTRAINT_AND,
	CONSTRAINT_OR,
	CONSTRAINT_SAME, /* [a|b|c]: every node the same one of the parts */
	CONSTRAINT_EACH, /* [a*2&b*4] and a*4: parts with counts */
};

enum { CONSTRAINT_COUNTS_MAX = 32 }; /* parts of an EACH */

struct constraint {
	enum constraint_kind kind;
	char *name;      /* CONSTRAINT_NAME */
	uint32_t count;  /* of a part of CONSTRAINT_EACH; 0: none was written */
	struct constraint **parts;
	uint32_t part_count;
};

/* NULL in *ret for an empty text.  Errors quote the part that is wrong. */
NODISCARD int constraint_parse(const char *text, struct arena *a, struct constraint **ret,
			       struct error *err);
void constraint_print(const struct constraint *c, struct buf *out); /* parse(print(x)) = x */
/* Calls `fn` for every feature name in it; stops and returns what is negative. */
typedef int (*constraint_name_fn)(void *arg, const char *name);
int constraint_each_name(const struct constraint *c, constraint_name_fn fn, void *arg);
