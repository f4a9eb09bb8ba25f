/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - one value of one row: from the text in a file to the member of the record.
 *
 * The row says everything: kind, range, words accepted, language (`parse=`).  Nothing here knows a
 * key by name. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>

struct arena;
struct error;
struct field;
struct record;

/* The error reads "Key=value: what is wrong: what would be right"; the member is untouched then. */
NODISCARD int value_set(const struct field *f, void *obj, const char *text, struct arena *a,
			struct error *err);
/* Gives the members that have a default= theirs; only the rows with client=yes when that is asked. */
void value_defaults(const struct record *r, void *obj, bool client_only, struct arena *a);
/* Is this attribute of the row "yes" (or, for use=, "no")? */
bool field_says(const struct field *f, const char *name, const char *value);
