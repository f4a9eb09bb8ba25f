/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - splitting what was typed. */
#include "client/words.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "schema/messages.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* One word from *line on; -EINVAL when a quote stays open. */
static int take_word(const char **line, struct buf *word)
{
	const char *p = *line;
	char quote = 0;
	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote && *p == quote)
			quote = 0;
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else
			buf_putc(word, *p);
	}
	*line = p;
	return quote ? -EINVAL : 0;
}

int words_split(const char *line, struct arena *a, char ***ret, int *ret_count, struct error *err)
{
	VEC(char *) words = {};
	AUTO_BUF struct buf word = {};
	int r = 0;
	for (const char *p = line; r >= 0;) {
		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			break;
		buf_clear(&word);
		r = take_word(&p, &word);
		vec_push(&words, arena_strdup(a, buf_text(&word)));
	}
	vec_push(&words, NULL);
	*ret_count = (int)words.count - 1;
	*ret = arena_dup(a, words.at, words.count * sizeof(char *));
	vec_done(&words);
	return r < 0 ? error_set(err, r, "a quote is not closed") : 0;
}

int pair_split(const char *word, struct arena *a, struct conf_line *ret, struct error *err)
{
	const char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return error_set(err, -EINVAL, "'%.*s' is not Key=Value", 64, word);
	ret->key = arena_strndup(a, word, (size_t)(equals - word));
	ret->value = arena_strdup(a, equals + 1);
	return 0;
}
