/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - the simple commands of a shell script, for those who want to know what it will start.
 *
 * Nothing is expanded and nothing is refused: comments, redirections and the bodies of here-documents
 * fall away, lines that end in a backslash are joined, quotes are taken off, and every `;`, `&`, `|`,
 * parenthesis or line end begins another command.  What stands in $(...) or behind a quote stays part
 * of its word.  Keywords (if, do, {) and assignments in front of a command are not part of it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;

struct shell_command {
	char **words; /* NULL behind the last */
	uint32_t count;
};

struct shell_script {
	struct shell_command *commands;
	uint32_t count;
	char **assigned; /* NAME=value, wherever one is made in front of a command or for itself */
	uint32_t assigned_count;
};

void shell_read(const char *text, size_t len, struct arena *a, struct shell_script *ret);
