/* SPDX-License-Identifier: Apache-2.0 */
/* lex.h - the lines of a configuration file as Key=Value pairs.
 *
 * Works in place: pairs point into the text, which the lexer cuts up and which must outlive them.
 * The pairs of a line are valid until the next line is read. */
#pragma once
#include "base/cleanup.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

struct error;

struct lex_pair {
	const char *key, *value;
	uint32_t line; /* in the file, where the key stands */
};

struct lex_line {
	const struct lex_pair *pairs;
	size_t count;
	const char *include; /* the file an Include line names; then there are no pairs */
	uint32_t line;       /* of the first pair, or of the error */
};

struct lex_fold { /* from here on the characters of a joined line stand in this line of the file */
	const char *from;
	uint32_t line;
};

struct lexer {
	char *at, *end;
	uint32_t line;
	VEC(struct lex_pair) pairs;
	VEC(struct lex_fold) folds;
};

/* `text` has `len` bytes and a NUL behind them. */
void lex_init(struct lexer *l, char *text, size_t len);
void lex_done(struct lexer *l);
/* 1 and a line that has something on it, 0 at the end, or -EINVAL for a line that cannot be read;
 * then ret->line says where, and the next call goes on behind it. */
NODISCARD int lex_next(struct lexer *l, struct lex_line *ret, struct error *err);
