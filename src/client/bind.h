/* SPDX-License-Identifier: Apache-2.0 */
/* bind.h - the words of --distribution, --cpu-bind and --gpu-bind, checked before they travel.
 *
 * The step daemon acts on them; a typing mistake is refused here, where its author can read it. */
#pragma once
#include "base/cleanup.h"

struct arena;
struct error;

/* `ret`: with the size of a plane, which may come from SLURM_DIST_PLANESIZE. */
NODISCARD int distribution_check(const char *text, struct arena *a, const char **ret, struct error *err);
/* `ret`: [verbose,|quiet,]kind[:list] without other spellings. */
NODISCARD int cpu_bind_check(const char *text, struct arena *a, const char **ret, struct error *err);
NODISCARD int gpu_bind_check(const char *text, struct error *err);
