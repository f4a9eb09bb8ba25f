/* SPDX-License-Identifier: Apache-2.0 */
/* hints.h - what a job most likely does not mean: one line for each well-known mistake that shows in
 * the request or in the script.
 *
 * Jobs are submitted as asked whatever is said here.  The rule for a new hint: a script that works must
 * never cause it, so that a line on the screen is worth reading. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct job_spec;

enum { HINTS_MOST = 3 };

struct hint_input {
	const struct job_spec *spec; /* checked (options_check) */
	const char *script;
	size_t script_len;
	bool by_gres;        /* GPUs were asked for by --gres */
	bool default_memory; /* no memory was asked for, and the site's default holds */
};

/* Returns how many lines were put into `ret`, which has room for HINTS_MOST. */
uint32_t hints_find(const struct hint_input *in, struct arena *a, const char **ret);
