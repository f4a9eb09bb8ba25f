/* SPDX-License-Identifier: Apache-2.0 */
/* licenses.h - licences as users and administrators write them: matlab:2,ansys or matlab|octave. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

struct license_spec {
	char *name;
	uint64_t count;
};

struct license_list {
	struct license_spec *at; /* no name twice */
	uint32_t count;
	bool any; /* one of them is enough: they were joined by `|` */
};

/* name[:count], joined by `,` (all of them) or by `|` (one of them), never both.  The count defaults to
 * 1.  sbatch(1) --licenses. */
NODISCARD int licenses_parse(const char *text, struct arena *a, struct license_list *ret, struct error *err);
/* slurm.conf(5) Licenses: how many there are; 0 is allowed, `|` is not. */
NODISCARD int licenses_parse_totals(const char *text, struct arena *a, struct license_list *ret,
				    struct error *err);
void licenses_print(const struct license_list *l, struct buf *out); /* matlab:2,ansys:1 */
