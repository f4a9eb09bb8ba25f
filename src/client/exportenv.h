/* SPDX-License-Identifier: Apache-2.0 */
/* exportenv.h - --export: which of the caller's variables go along. */
#pragma once
#include "base/cleanup.h"

struct env;
struct error;

/* `spec` NULL or ALL takes everything, NONE only SLURM_* and SPANK_* and what every login has, NIL
 * nothing but SLURM_*, a list these and its NAMEs and NAME=values; ALL in a list takes everything
 * besides.  Commas in a value are kept by quotes. */
NODISCARD int export_env(const char *spec, char *const *from, struct env *ret, struct error *err);
